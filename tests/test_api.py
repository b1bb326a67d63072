"""The Python API: what lint and fix return, where relative paths count from, and many calls at once."""

from __future__ import annotations

import doctest
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import shmlint
from shmlint import api
from tests.cli.test_check import FIXED, TRAINER
from tests.fixing.test_fix import lie_about
from tests.project import write

ROOT = Path(__file__).parents[1]
CLUSTER = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
PAGE = ROOT / "docs" / "python-api.md"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    files = {
        "deploy/compose.yaml": TRAINER,
        "run.sh": "docker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3 bash scripts/train.sh\n",
        "scripts/train.sh": "torchrun --nproc_per_node=8 train.py\n",
        ".shmlint.yaml": "exclude: [old/]\n",
        "old/compose.yaml": TRAINER,
    }
    write(tmp_path / "checkout", files)
    return tmp_path / "checkout"


def test_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert doctest.testmod(api).attempted > 5
    assert doctest.testmod(api).failed == 0
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_paths_are_relative_to_the_root(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the process is, the report is that of a run in the root."""
    monkeypatch.chdir(checkout)
    inside = shmlint.lint()
    monkeypatch.chdir(checkout.parent)
    outside = shmlint.lint(root="checkout")
    assert outside == inside == shmlint.lint(root=checkout)
    assert outside.files == ("deploy/compose.yaml", "run.sh")
    assert {finding.location.path for finding in outside.findings} == {"deploy/compose.yaml", "run.sh"}
    assert str(checkout) not in repr(outside._replace(root=""))
    (one,) = shmlint.lint(["deploy"], root=checkout).findings
    assert one in inside.findings and os.getcwd() == str(checkout.parent)
    assert shmlint.lint([checkout / "deploy"], root=checkout).findings == (one,)


def test_the_values(checkout: Path) -> None:
    report = shmlint.lint(["deploy/compose.yaml"], root=checkout)
    (finding,), (launch,) = report.findings, report.launches
    assert finding.launch == launch and pickle.loads(pickle.dumps(report)) == report
    assert (finding.rule, finding.name, finding.severity, finding.help) == ("SHM101", "missing-shm-size", "error", None)
    assert finding.location == shmlint.Location("deploy/compose.yaml", shmlint.Position(2, 3), shmlint.Position(2, 10))
    assert launch.shm == shmlint.Shm(None, None, None, "default", 64 * 2**20)
    assert launch.gpu == shmlint.Gpu(True, "nvidia", "all")
    assert launch.need.verdict == "needed" and launch.need.recommended == 8 * 2**30
    assert finding.fix is not None and [edit.text for edit in finding.fix.edits] == ["    shm_size: 8gb\n"]


def test_settings(checkout: Path) -> None:
    settings = shmlint.load_settings(root=checkout)
    assert (settings.path, settings.exclude) == (".shmlint.yaml", ("old/",))
    assert shmlint.lint(root=checkout, settings=settings._replace(ignore=("SHM",))).findings == ()
    assert len(shmlint.lint(root=checkout, settings=shmlint.Settings()).files) == 3


def test_fix(checkout: Path) -> None:
    before = shmlint.lint(root=checkout)
    planned = shmlint.fix(root=checkout, write=False)
    assert shmlint.lint(root=checkout) == before
    done = shmlint.fix(root=checkout)
    assert done == planned and (checkout / "deploy" / "compose.yaml").read_text() == FIXED
    assert {name: (checkout / name).read_text() for name, _ in done.texts} == dict(done.texts)
    assert sorted(fixed.path for fixed in done.fixed) == ["deploy/compose.yaml", "run.sh"]
    again = shmlint.fix(root=checkout)
    assert (again.fixed, again.texts) == ((), ()) and again.findings == done.findings


def test_a_finding_whose_fix_is_not_proved_remains(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lie_about(monkeypatch)
    (left,) = shmlint.fix(["deploy"], root=checkout).findings
    assert (left.rule, left.fix) == ("SHM101", None) and "could not be proved" in (left.advice or "")


def test_the_advice_is_that_of_the_reports(tmp_path: Path) -> None:
    """Where no edit can bring about what the rule intends, it is said what to do by hand."""
    text = "services:\n  a:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    gpus: all\n    shm_size: 8gb\n"
    reset = "services:\n  a:\n    shm_size: !reset null\n"
    write(tmp_path, {"compose.yaml": text, "compose.override.yaml": reset})
    (finding,) = (finding for finding in shmlint.lint(root=tmp_path).findings if finding.rule == "SHM101")
    assert finding.fix is None
    assert finding.advice == "set shm_size to 8gb by hand: there is no place for a safe edit"


def test_files_that_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "x\n", "compose.yaml": TRAINER, "old/compose.yaml": TRAINER})
    write(tmp_path, {".shmlint.yaml": "exclude: [old/]\n"})
    report = shmlint.lint(["train.py", "."], root=tmp_path)
    assert report.files == ("compose.yaml",)
    assert [(place.path, place.because) for place in report.not_read] == [
        ("old/compose.yaml", "the settings exclude it"),
        ("train.py", "a program starts no container; name the file that starts it; the program is then read too"),
    ]
    alone = shmlint.lint(["train.py"], root=tmp_path)
    assert (alone.files, [place.path for place in alone.not_read]) == ((), ["train.py"])


def test_errors(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(shmlint.PathError, match=r"^nowhere: no such file or directory$"):
        shmlint.lint(["nowhere"], root=checkout)
    for work in (shmlint.lint, shmlint.fix):
        with pytest.raises(TypeError, match="not a single one"):
            work(".", root=checkout)
    write(checkout, {"bad/.shmlint.yaml": "x:\nselekt: []\n", "bad/compose.yaml": TRAINER})
    with pytest.raises(shmlint.SettingsError, match=r"^bad/\.shmlint\.yaml:\d:\d: unknown key"):
        shmlint.lint(["bad"], root=checkout)
    (checkout / "bad" / ".shmlint.yaml").unlink()

    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refuse)
        with pytest.raises(shmlint.WriteError, match=r"deploy/compose\.yaml: cannot be written"):
            shmlint.fix(["deploy"], root=checkout)
    monkeypatch.setattr("shmlint.api.lint_files", lambda *_: 1 / 0)
    with pytest.raises(shmlint.InternalError, match="ZeroDivisionError") as caught:
        shmlint.lint(root=checkout)
    assert isinstance(caught.value, shmlint.Error) and isinstance(caught.value.__cause__, ZeroDivisionError)
    error = pickle.loads(pickle.dumps(shmlint.WriteError("x", ("a",))))
    assert (str(error), error.written) == ("x", ("a",))


def test_a_file_that_cannot_be_read_is_a_finding(checkout: Path) -> None:
    (checkout / "deploy" / "compose.yaml").write_bytes(b"services:\n  x: \xff\n")
    (finding,) = shmlint.lint(["deploy"], root=checkout).findings
    assert (finding.rule, finding.location.path) == ("SHM001", "deploy/compose.yaml")


def test_nothing_is_printed(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shmlint.lint(root=checkout)
    shmlint.fix(root=checkout)
    assert capfd.readouterr() == ("", "")


def test_many_threads(checkout: Path) -> None:
    roots = []
    for number in range(12):
        write(checkout / str(number), {f"{number}.sh": "docker run --gpus all nvcr.io/nvidia/nemo\n" * (number + 1)})
        roots.append(checkout / str(number))
    alone = [shmlint.lint(root=root) for root in roots]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda root: shmlint.lint(root=root, jobs=2), roots)) == alone


def daemonic(root: str, queue: multiprocessing.Queue[int]) -> None:
    from shmlint import formats

    formats.MUCH, formats.PORTION = 0, 1
    queue.put(len(shmlint.lint(root=root, jobs=2).findings))


def test_a_daemonic_process(checkout: Path) -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=daemonic, args=(str(checkout), queue), daemon=True)
    process.start()
    assert queue.get(timeout=60) == len(shmlint.lint(root=checkout).findings)
    process.join()
    assert process.exitcode == 0


def test_importing_it_costs_nothing() -> None:
    code = "import sys, shmlint; print(*[name for name in sys.modules if name.startswith('shmlint')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["shmlint.version", "shmlint"]
    assert set(shmlint.__all__) <= set(dir(shmlint))
    assert {name for name in shmlint.__all__ if not hasattr(shmlint, name)} == set()


@pytest.mark.slow
def test_the_example_with_many_repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own code, in processes; a checkout that is not there and one with broken settings stop nothing."""
    (code,) = re.findall(r"```python\n(import shmlint\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    write(tmp_path, {"many.py": code})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    import many  # type: ignore[import-not-found]

    write(tmp_path, {"a/compose.yaml": TRAINER, "b/x.sh": "true\n", "c/.shmlint.yaml": "selekt: []\n"})
    rows = many.table([str(tmp_path / name) for name in "abcd"], **CLUSTER)
    assert [(row.get("launches"), row.get("errors")) for row in rows] == [(1, 1), (0, 0), (None, None), (None, None)]
    assert "unknown key" in rows[2]["error"] and "error" in rows[3]
