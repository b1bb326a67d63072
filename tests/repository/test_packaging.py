"""What is installed, however it was: from a wheel that was built from the sdist, or from a checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import shmlint
from shmlint.cli.explain.pages import terminal

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "fixtures" / "quickstart" / "compose.yaml"
PAGES = sorted(path.name for path in (ROOT / "rules").glob("[A-Z]*-*.md"))
SCRIPTS = "Scripts" if os.name == "nt" else "bin"

# One worker builds and installs for all of them.
pytestmark = [pytest.mark.packaging, pytest.mark.xdist_group("packaging")]

WAYS = ("wheel", "editable")
"""The wheel is the one that is built from the sdist, which is what pip does with an sdist too."""


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """Standard output of a program that knows nothing of this checkout."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SHMLINT", "GITHUB"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8"
    )  # fmt: skip
    assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with an sdist, and the wheel that was built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="module")
def sdist(built: Path) -> Path:
    (found,) = built.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


class Installation:
    """A virtual environment of its own, with shmlint in it, and a directory outside the checkout."""

    def __init__(self, folder: Path, arguments: Sequence[str], like: Installation | None = None) -> None:
        """Install with what pip finds for the dependencies, or with what it found for another installation."""
        self.python = folder / "venv" / SCRIPTS / "python"
        self.outside = folder / "outside"
        self.outside.mkdir()
        venv.create(folder / "venv", symlinks=os.name != "nt")
        if like is not None:
            others = shutil.ignore_patterns("shmlint*", "_shmlint*")
            shutil.copytree(like.packages(), self.packages(), ignore=others, dirs_exist_ok=True)
        self.pip("install", "-q", *(["--no-deps"] if like is not None else []), *arguments)
        self.pip("check")

    def pip(self, *arguments: str) -> None:
        run(sys.executable, "-m", "pip", "--python", self.python, *arguments, cwd=self.outside)

    def packages(self) -> Path:
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        return Path(run(self.python, "-c", code, cwd=self.outside).strip())

    def shmlint(self, *arguments: str | Path, status: int = 0) -> str:
        return run(self.python.with_name("shmlint"), *arguments, cwd=self.outside, status=status)


@pytest.fixture(scope="module")
def installations() -> dict[str, Installation]:
    """Those made so far: tests may come in an order in which a fixture with parameters is made twice."""
    return {}


@pytest.fixture(params=WAYS)
def installed(
    request: pytest.FixtureRequest, installations: dict[str, Installation], tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    for way in dict.fromkeys(("wheel", request.param)):
        if way not in installations:
            arguments = ["-e", str(ROOT)] if way == "editable" else [str(request.getfixturevalue(way))]
            installations[way] = Installation(tmp_path_factory.mktemp(way), arguments, installations.get("wheel"))
    return installations[request.param]


def test_says_its_version(installed: Installation) -> None:
    assert installed.shmlint("--version").split()[-1] == shmlint.__version__
    metadata = "from importlib.metadata import version; print(version('shmlint'))"
    assert run(installed.python, "-c", metadata, cwd=installed.outside).strip() == shmlint.__version__


EXPLAINED = """
import json, sys
from click.testing import CliRunner
from shmlint.cli.explain import command
print(json.dumps({rule: CliRunner().invoke(command, [rule]).stdout for rule in sys.argv[1:]}))
"""


def test_finds_the_rule_pages(installed: Installation) -> None:
    lines = installed.shmlint("rules").splitlines()
    listed = [line.split()[:2] for line in lines if not line.startswith(" ")]  # an indented line continues a summary
    assert [f"{rule}-{name}.md" for rule, name in listed] == PAGES
    said = json.loads(run(installed.python, "-c", EXPLAINED, *(rule for rule, _ in listed), cwd=installed.outside))
    for page in PAGES:
        text = (ROOT / "rules" / page).read_text(encoding="utf-8")
        shown = list(terminal(text.partition("\n---\n")[2].strip()))
        assert said[page.partition("-")[0]].splitlines() == shown
    assert "SHM101  missing-shm-size" in installed.shmlint("explain", "Bus error")


def test_lints_and_repairs(installed: Installation) -> None:
    file = installed.outside / "compose.yaml"
    file.write_bytes(FIXTURE.read_bytes())
    report = json.loads(installed.shmlint("--format", "json", file.name, status=1))
    assert [finding["rule"] for finding in report["findings"]] == ["SHM101"]
    assert "1 fixed" in installed.shmlint("--fix", file.name)
    assert "nothing found" in installed.shmlint(file.name)


def test_checks_settings(installed: Installation) -> None:
    """The schemas are there."""
    settings = installed.outside / "other.yaml"
    settings.write_text("workloads:\n  - id: mine\n    needs: maybe\n", encoding="utf-8")
    installed.shmlint("--config", settings.name, ".", status=2)
    settings.write_text("shm-size: 4gb\n", encoding="utf-8")
    installed.shmlint("files", "--config", settings.name)


def test_reads_more_than_compose_files(installed: Installation) -> None:
    """What a format imports is installed with it."""
    script = installed.outside / "run.sh"
    line = "docker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py\n"
    script.write_text(line, encoding="utf-8")
    readme = installed.outside / "README.md"
    readme.write_text(f"```sh\n{script.read_text(encoding='utf-8')}```\n", encoding="utf-8")
    report = json.loads(installed.shmlint("--format", "json", script.name, readme.name, status=1))
    assert {finding["rule"] for finding in report["findings"]} == {"SHM101"}
    assert report["summary"]["launches"] == 2


def test_runs_as_a_module(installed: Installation) -> None:
    assert shmlint.__version__ in run(installed.python, "-m", "shmlint", "--version", cwd=installed.outside)


def test_wheel_holds_one_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {"shmlint", f"shmlint-{shmlint.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_wheel_holds_everything_that_is_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"shmlint-{shmlint.__version__}.dist-info/METADATA").decode()
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "shmlint").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    rules = {f"shmlint/pages/{path.name}" for path in (ROOT / "rules").iterdir()}
    assert package | rules <= names
    assert {"shmlint/py.typed", "shmlint/config/settings.schema.json", "shmlint/pages/workloads.json"} <= names
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata


def test_sdist_holds_what_tests_need(sdist: Path) -> None:
    top = f"shmlint-{shmlint.__version__}"
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{top}/") for name in archive.getnames()}
    caches = ("__pycache__", ".venv/", ".git/", ".hypothesis/", ".mypy_cache/", ".ruff_cache/")
    assert not [name for name in names if any(cache in f"{name}/" for cache in caches)]
    for name in (
        "pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE",
        ".pre-commit-hooks.yaml", ".shmlint.yaml",
        ".ci/run", ".github/workflows/ci.yml", "action.yml", "tests/reports/data/sarif-schema-2.1.0.json",
        "rules/workloads.json", "fixtures/quickstart/compose.yaml", "tests/conftest.py",
        "benchmarks/cold_start.py",
    ):  # fmt: skip
        assert name in names
    assert {f"rules/{page}" for page in PAGES} <= names
