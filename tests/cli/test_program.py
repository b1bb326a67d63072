"""Which command counts, the help of each, and what a shell completes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from shmlint.cli import FLAGS, checking
from shmlint.cli import _without_click as without_click
from shmlint.cli import program as cli
from tests.cli.test_check import DIFF, TRAINER, Run, run
from tests.project import uncovered, write
from tests.table import table

__all__ = ["run"]


def test_only_the_first_argument_names_a_command(run: Run) -> None:
    write(Path(), {"size/compose.yaml": TRAINER, "compose.yaml": TRAINER})
    for arguments in (["./size"], ["check", "size"], ["--", "size"], ["-q", "size"]):
        result = run(*arguments)
        assert result.exit_code == 1 and result.stdout.startswith("size/compose.yaml:2:3: error SHM101"), arguments
    assert run("size", "size").stdout.startswith("unknown workload")
    assert run("check", "--diff", "compose.yaml").stdout == run("--diff", "compose.yaml").stdout == DIFF
    assert run("--fix", "files").stderr == "shmlint: files: no such file or directory\n"


@pytest.mark.parametrize("name", ["", *cli.COMMANDS])
def test_help_is_short_and_breaks_no_word(run: Run, name: str) -> None:
    shown = run(*name.split(), "--help").stdout
    assert shown == run(*name.split(), "-h").stdout
    assert shown.startswith(f"Usage: shmlint {name}".rstrip())
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) <= 75
    command = cli.program.get_command(None, name) if name else cli.program  # type: ignore[arg-type]
    assert command is not None
    for option in (option for parameter in command.params for option in parameter.opts if option.startswith("--")):
        assert option in shown.split() or f"{option}," in shown.split(), option


def test_each_command_has_its_own_options(run: Run) -> None:
    for arguments in (["--camera", "1x1"], ["--gpus", "2"], ["rules", "--fix"], ["inventory", "--fix"],
                      ["files", "--diff"], ["settings", "--format", "json"]):  # fmt: skip
        result = run(*arguments, compose=TRAINER)
        assert result.exit_code == 2 and result.stderr.count("\n") == 1, arguments
        assert result.stderr.startswith("shmlint: No such option"), arguments


@pytest.mark.parametrize(
    ("words", "expected", "absent"),
    [
        (["shmlint", ""], {"check", "inventory", "settings"}, {"--fix"}),
        (["shmlint", "in"], {"inventory"}, {"check"}),
        (["shmlint", "--f"], {"--fix", "--format", "--fail-on"}, {"--diff"}),
        (["shmlint", "--select", "shm20"], {"SHM201", "SHM204"}, {"SHM101"}),
        (["shmlint", "--fix", "--ignore", "SHM101,missing"], {"SHM101,missing-shm-size"}, set()),
        (["shmlint", "check", "--format", "js"], {"json"}, {"text"}),
        (["shmlint", "--output-file", "sar"], {"sarif:"}, {"text:"}),
        (["shmlint", "explain", "vll"], {"vllm"}, {"ray"}),
        (["shmlint", "explain", "workload:vll"], {"workload:vllm"}, {"vllm"}),
        (["shmlint", "size", "fri"], {"frigate"}, {"vllm"}),
    ],
)  # fmt: skip
def test_completion(words: list[str], expected: set[str], absent: set[str]) -> None:
    environment = {
        "_SHMLINT_COMPLETE": "zsh_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    completed = CliRunner().invoke(cli.program, env=environment, prog_name="shmlint").stdout.splitlines()[1::3]
    assert expected <= set(completed) and not absent & set(completed)


def test_a_command_imports_no_other() -> None:
    code = (
        "import sys; from shmlint.cli.program import program; program.main([{!r}], standalone_mode=False); "
        "print(*[n for n in sys.modules if n.startswith(('shmlint.', 'ruamel', 'tree_sitter', 'json'))])"
    )
    cases = {"--version": {"shmlint.cli.check", "json", "shmlint.run"}, "rules": {"shmlint.cli.check"}}
    for first, others in cases.items():
        done = subprocess.run(
            [sys.executable, "-c", code.format(first)], capture_output=True, text=True, check=True,
            env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        assert not others & set(done.stdout.splitlines()[-1].split())


PROGRAM = f"{sys.executable} -m shmlint"


@pytest.mark.slow
@pytest.mark.needs("full_device")
@pytest.mark.parametrize("given", ["compose.yaml", "compose.yaml --format json", "--version", "--help", "rules"])
def test_output_that_cannot_be_written(tmp_path: Path, given: str) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    code = f"{PROGRAM} {given} >/dev/full; echo $?; {PROGRAM} {given} >&-; echo $?; {PROGRAM} {given} >&- 2>&-; echo $?"
    done = subprocess.run(
        ["sh", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    found = "1" if given.startswith("compose") else "0"
    assert done.stdout.split() == ["2", found, found]
    assert done.stderr == "shmlint: the output cannot be written: No space left on device\n"


@pytest.mark.needs("full_device")
@pytest.mark.parametrize("given", ["nowhere.yaml", "--no-such-option", "compose.yaml >/dev/full"])
def test_what_went_wrong_cannot_be_told(tmp_path: Path, given: str) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    done = subprocess.run(
        ["sh", "-c", f"{PROGRAM} {given} 2>/dev/full"], cwd=tmp_path, capture_output=True,
        env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")


def test_completion_ends_well(tmp_path: Path) -> None:
    environment = {"_SHMLINT_COMPLETE": "bash_complete", "COMP_WORDS": "shmlint inv", "COMP_CWORD": "1"}
    done = subprocess.run(
        PROGRAM.split(), cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
    )  # fmt: skip
    assert "plain,inventory\n" in done.stdout


WORDS = [
    *FLAGS, "a.yaml", "b c/*", "", "-", "--", "--format", "json", "concise", "xml", "size", "check", "--jobs", "2",
    "-qv", "--no-such", "--help", "-h", "--select", "SHM101", "--format=json",
]


@given(st.lists(st.sampled_from(WORDS), max_size=5))
@example(["check", "--force-exclude", "--", "a.yaml", "--fix", "-"])
@example(["check", "--force-exclude", "--fix", "--", "size"])
@example(["--format", "json", "size"])
@example(["--fix", "--fix", "--format", "json", "--format", "text", "a.yaml"])
def test_flags_and_paths_mean_what_the_parser_makes_of_them(words: list[str]) -> None:
    meant: list[checking.Options] = []

    def note(options: checking.Options) -> int:
        meant.append(options)
        return 0

    options = without_click(words)
    if options is not None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checking, "check", note)
            CliRunner().invoke(cli.program, words)
        assert meant == [options]


@table(
    "words, options",
    [
        ([], checking.Options()),
        (["a.yaml", "b c/*", "é"], checking.Options(("a.yaml", "b c/*", "é"))),
        (["-q", "a.yaml", "--fix"], checking.Options(("a.yaml",), quiet=True, fix=True)),
        (["--format", "concise", "a.yaml"], checking.Options(("a.yaml",), format="concise")),
        (["check", "--force-exclude", "--", "-"], checking.Options(("-",), force_exclude=True)),
        (["size"], None), (["-q", "size"], None), (["-"], None), (["--format", "xml"], None), (["--format"], None),
        (["--help"], None), (["--jobs", "2"], None), (["-qv"], None),
    ],
)  # fmt: skip
def test_flags_and_paths_need_no_parser(words: list[str], options: checking.Options | None) -> None:
    assert without_click(words) == options


def at_end(printed: str) -> str:
    """Code that runs the program and prints something when it ends, which it does without what Python does then."""
    return (
        "import os, sys; from shmlint import cli; end = os._exit; "
        f"os._exit = lambda status: (print({printed}, flush=True), end(status)); cli.main()"
    )


@pytest.mark.slow
def test_paths_alone_start_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    monkeypatch.chdir(tmp_path)
    code = at_end("'click' in sys.modules")
    for arguments, is_parsed in (
        ([], False), (["compose.yaml"], False), (["gone.yaml"], False), (["-V"], False), (["files"], True),
        (["check", "--force-exclude", "--", "compose.yaml"], False), (["--format", "json", "compose.yaml"], False),
        (["--format", "json", "files"], True), (["--format", "json", "-q"], False), (["-q", "--jobs", "1"], True),
        (["--format", "xml"], True),
        (["--format"], True),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
            env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        parsed = CliRunner().invoke(cli.program, arguments)
        assert done.stdout == f"{parsed.stdout}{is_parsed}\n", arguments
        assert (done.stderr, done.returncode) == (parsed.stderr, parsed.exit_code), arguments


def test_the_hook_that_repairs_loads_little(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    code = at_end("*sys.modules")
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "--force-exclude", "--fix", "--", "compose.yaml"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert {"shmlint.fixing.fix", "click", "inspect"} & set(done.stdout.split()) == {"shmlint.fixing.fix"}


def test_what_decides_nothing_is_not_loaded(tmp_path: Path) -> None:
    write(tmp_path, {
        "none.yaml": "services:\n  a:\n    image: nginx\n",
        "sized.yaml": "services:\n  a:\n    image: x\n    command: python -V\n    gpus: all\n    shm_size: 16gb\n",
    })  # fmt: skip
    code = at_end("*sys.modules")
    assess, mechanisms = "shmlint.workloads.assess", "shmlint.workloads.mechanisms"
    expected: dict[str, set[str]] = {"none": set(), "sized": {assess}}
    for name, loaded in expected.items():
        done = subprocess.run(
            [sys.executable, "-c", code, f"{name}.yaml"], capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        modules = set(done.stdout.splitlines()[-1].split())
        assert {assess, mechanisms, "ast", "tree_sitter", "jsonschema", "subprocess"} & modules == loaded, name
