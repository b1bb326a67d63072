"""The sample repositories of fixtures/: one for each kind of file, before and after repair, and what is reported.

    python -m tests.examples.samples        writes the reports and the repaired forms anew
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
KINDS = (
    "compose", "shell", "makefile", "systemd", "taskfile", "jenkinsfile", "markdown", "ci", "devcontainer",
    "kubernetes", "inspect", "fish", "unread", "template", "build",
)
NAMED = {"inspect": ["inspect.json"], "unread": ["--verbose", "."], "template": ["--verbose", "."]}
"""The arguments, where they are not the directory alone."""
NOT_READ = frozenset({"unread", "template"})
"""Kinds whose launches are counted and not read."""


def shmlint(directory: Path, *arguments: str) -> tuple[int, str]:
    """Exit status and output of the program, started in a directory."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "SHMLINT_"))}
    done = subprocess.run(
        [sys.executable, "-m", "shmlint", *arguments],
        cwd=directory, env={**environment, "COLUMNS": "80"}, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def texts(directory: Path) -> dict[str, bytes]:
    """The files below a directory, by their paths in it."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def copied(kind: str, form: str, to: Path) -> Path:
    """A copy of a sample outside of this repository, where no settings are."""
    directory = to / kind
    shutil.copytree(FIXTURES / kind / form, directory)
    return directory


def main() -> None:
    """The command."""
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as work:
            sample = copied(kind, "before", Path(work))
            _, report = shmlint(sample, *NAMED.get(kind, ["."]))
            (FIXTURES / kind / "report.txt").write_text(report, encoding="utf-8", newline="")
            if kind != "inspect":  # a container is not repaired, it is started again
                shmlint(sample, "--fix", ".")
                shutil.rmtree(FIXTURES / kind / "after", ignore_errors=True)
                shutil.copytree(sample, FIXTURES / kind / "after")


if __name__ == "__main__":
    main()
