"""Where reports go: formats, several at once, GitHub's by itself, and what a terminal shows meanwhile."""

from __future__ import annotations

import json
import ntpath
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from shmlint.files import read
from tests.cli.test_check import FINE, TRAINER, Run, program, run
from tests.project import write
from tests.table import table

FORMATS = ("text", "json", "github", "sarif", "gitlab", "rdjson", "junit", "checkstyle")
BEGINNINGS = {
    "text": "compose.yaml:2:3: error", "json": '{\n  "version": 2',
    "github": "::error title=SHM101 missing-shm-size,file=compose.yaml,",
    "sarif": '{\n  "$schema"', "gitlab": '[\n  {\n    "type"', "rdjson": '{\n  "source"',
    "junit": '<?xml version="1.0" encoding="utf-8"?>\n<testsuites',
    "checkstyle": '<?xml version="1.0" encoding="utf-8"?>\n<checkstyle',
}  # fmt: skip
__all__ = ["run"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(run: Run, form: str) -> None:
    result = run("--format", form, compose=TRAINER)
    assert result.exit_code == 1 and result.stdout.startswith(BEGINNINGS[form])
    run("--format", form, "--output", "one")
    run("--quiet", "--output-file", f"{form}:two")
    assert Path("one").read_bytes() == result.stdout_bytes
    assert Path("two").read_text().startswith(BEGINNINGS[form])
    assert run("--format", form, compose=FINE).exit_code == 0


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "rdjson"])
def test_after_fixing(run: Run, form: str) -> None:
    result = run("--fix", "--format", form, compose=TRAINER)
    found = json.loads(result.stdout)
    fixed = found.pop("fixed", None) if isinstance(found, dict) else None
    assert result.exit_code == 0 and "SHM101" not in json.dumps(found)
    if form == "json":
        assert fixed == [
            {"path": "compose.yaml", "line": 5, "rule": "SHM101", "title": "add `shm_size: 8gb` after line 4",
             "before": "", "after": "    shm_size: 8gb\n", "proved": True},
        ]  # fmt: skip


def test_several_outputs(run: Run) -> None:
    name = "b.txt" if sys.platform == "win32" else "a:b.txt"
    result = run(
        "--format", "github", "--output-file", "sarif:out.sarif", "--output-file", f"text:{name}",
        "--output-file", "junit:out.xml", compose=TRAINER,
    )  # fmt: skip
    assert result.exit_code == 1 and result.stdout.startswith("::error ")
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"
    assert Path(name).read_text() == run().stdout, "only the first colon divides"
    assert ElementTree.parse("out.xml").getroot().get("failures") == "1"


def test_several_outputs_and_a_file(run: Run) -> None:
    result = run("--output", "out.txt", "--output-file", "json:out.json", compose=TRAINER)
    assert (result.exit_code, result.stdout) == (1, "")
    assert Path("out.txt").read_text().startswith("compose.yaml:2:3") and json.loads(Path("out.json").read_text())


def test_a_fixed_standard_input_and_its_reports(run: Run) -> None:
    result = run("-", "--fix", "--format", "json", "--output-file", "sarif:out.sarif", stdin=TRAINER)
    assert result.stdout == TRAINER + "    shm_size: 8gb\n"
    assert json.loads(result.stderr)["summary"]["fixed"] == 1
    assert json.loads(Path("out.sarif").read_text())["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output-file", "sarif"], "--output-file sarif: expected FORMAT:PATH"),
        (["--output-file", "sarif:"], "expected FORMAT:PATH"),
        (["--output-file", "sarf:x"], "unknown format `sarf`; did you mean `sarif`?"),
        (["--output-file", "json:no/such/x"], "no/such/x"),
        (["--output-file", "json:x", "--diff"], "--output-file cannot be used with"),
    ],
)
def test_wrong_usage(run: Run, arguments: list[str], message: str) -> None:
    result = run("--fix", *arguments, compose=TRAINER)
    assert (result.exit_code, result.stdout) == (2, "") and message in result.stderr
    assert Path("compose.yaml").read_text() == TRAINER and not Path("x").exists()


# GitHub Actions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "arguments", "chosen"),
    [
        ("true", [], True), ("", [], False), ("false", [], False), ("true", ["--format", "text"], False),
        ("true", ["--format", "json"], False), ("true", ["inventory"], False), ("true", ["--diff"], False),
        ("true", ["--fix"], False),
    ],
)  # fmt: skip
def test_github_by_itself(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str, arguments: list[str], chosen: bool
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", value)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "page.md")
    assert run(*arguments, compose=TRAINER).stdout.startswith("::error title=SHM101 ") == chosen
    assert Path("page.md").exists() == chosen


def test_a_file_gets_what_is_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    run("--output", "out.txt", compose=TRAINER)
    assert Path("out.txt").read_text().startswith("compose.yaml:2:3: error")


def test_the_summary_page_is_written_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "page.md")
    run("--format", "github", "--output-file", "github:out.txt", compose=TRAINER)
    assert Path("page.md").read_text().count("### shmlint") == 1
    assert Path("out.txt").read_text().startswith("::error")


@pytest.mark.needs("posix")
def test_not_on_a_terminal(tmp_path: Path) -> None:
    import pty

    write(tmp_path, {"compose.yaml": TRAINER})
    master, slave = pty.openpty()
    env = {**os.environ, "GITHUB_ACTIONS": "true", "NO_COLOR": "1"}
    subprocess.run([sys.executable, "-m", "shmlint"], cwd=tmp_path, stdout=slave, env=env, check=False)
    os.close(slave)
    assert os.read(master, 100_000).startswith(b"compose.yaml:2:3: error")
    os.close(master)


# Encodings and separators ----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS[1:])
def test_programs_get_utf_8(tmp_path: Path, form: str) -> None:
    """Whatever the encoding of standard output: JSON has no other, and the XML says so."""
    write(tmp_path, {"compose.yaml": TRAINER.replace("trainer", "訓🚀é")})
    done = program("--format", form, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "cp1252"})
    assert (done.returncode, done.stderr) == (1, b"")
    assert "訓🚀é" in done.stdout.decode("utf-8") and b"\r" not in done.stdout


def test_backslashes_are_printed_as_slashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "os", SimpleNamespace(path=ntpath, sep="\\"))
    assert read.normal(".\\deploy\\..\\a\\compose.yaml") == "a/compose.yaml"
    monkeypatch.undo()
    if os.sep == "/":
        assert read.normal("a\\b.yaml") == "a\\b.yaml", "there it is a part of a name"


# Progress --------------------------------------------------------------------------------------


CLOCK = """
import itertools, threading, time, shmlint.cli
class Timer:
    def __init__(self, seconds, call, arguments):
        self.seconds, self.call, self.arguments = seconds, call, arguments
    def start(self):
        if self.seconds < {seconds}:
            self.call(*self.arguments)
    def cancel(self):
        pass
    join = cancel
threading.Timer, time.monotonic = Timer, itertools.count(1).__next__
"""
"""A clock that does not depend on the machine: so many seconds pass at the start of a run, and one at each look."""


@pytest.mark.needs("posix")
@table(
    ("code", "said"),
    [
        (CLOCK.format(seconds=0.9), []),
        (CLOCK.format(seconds=1.1), ["checking 2 files ...", "checking 0 of 2 files ...", "checking 1 of 2 files ..."]),
    ],
)
def test_progress(tmp_path: Path, code: str, said: list[str]) -> None:
    import pty

    write(tmp_path, {"compose.yaml": TRAINER, "b/compose.yaml": FINE})
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nshmlint.cli.main()\n", "--jobs", "1"], cwd=tmp_path, check=False,
        stdout=subprocess.PIPE, stderr=slave,
    )  # fmt: skip
    os.write(slave, b".")
    os.close(slave)
    shown = b""
    while not shown.endswith(b"\r." if said else b"."):
        shown += os.read(master, 10_000)
    os.close(master)
    assert done.returncode == 1 and done.stdout.startswith(b"compose.yaml:2:3")
    lines = [line.rstrip() for line in shown.decode().removesuffix(".").split("\r") if line.strip()]
    assert lines == said


def test_no_progress_in_a_pipe(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    assert program(cwd=tmp_path).stderr == b""
