"""Shell scripts as files: which are read, and what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.model.settings import Settings
from shmlint.run import lint
from tests.project import fixed, run, write
from tests.table import table

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
COMMAND = f"docker run --gpus all {IMAGE}\n"


@pytest.mark.parametrize("name", ["x.sh", "x.bash", "deep/er/x.zsh", "run", "bin/start"])
def test_scripts_are_found(tmp_path: Path, name: str) -> None:
    found = run(tmp_path, {name: f"#!/usr/bin/env bash\n{COMMAND}"})
    assert [(launch.span.path, launch.span.line) for launch in found.launches] == [(name, 2)]


@pytest.mark.parametrize("name", ["x.txt", "x.py", "run", "x.md.bak"])
def test_other_files_are_not_read(tmp_path: Path, name: str) -> None:
    assert not run(tmp_path, {name: COMMAND}).launches


def test_a_script_without_an_engine_is_not_read(tmp_path: Path) -> None:
    assert not run(tmp_path, {"x.sh": "echo hello\n"}).launches


def test_a_script_that_is_named_is_read_for_what_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"x.sh": "echo hello\n", "y.sh": COMMAND.replace("docker", "podman"), "z.sh": COMMAND})
    monkeypatch.chdir(tmp_path)
    assert [launch.span.path for launch in lint({"shell": ["x.sh", "y.sh", "z.sh"]}, Settings()).launches] == [
        "y.sh", "z.sh",
    ]  # fmt: skip


def test_bytes_that_are_not_utf_8_are_reported(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_bytes(b"#!/bin/sh\ndocker run --gpus all a \xff\n")
    found = run(tmp_path, {})
    assert [(f.rule, f.span.path) for f in found.findings] == [("SHM001", "x.sh")]


@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff#!/bin/sh\r\n", "#!/bin/sh\n# \u6f22\U0001f389\n\n"])
def test_launches_and_their_places(tmp_path: Path, start: str) -> None:
    text = f"{start}  {COMMAND}x && nvidia-docker run {IMAGE}"
    found = run(tmp_path, {"x.sh": text})
    lines = start.count("\n")
    assert [(launch.span.begin, launch.span.text) for launch in found.launches] == [
        ((lines + 1, 3), "docker"), ((lines + 2, 6), "nvidia-docker"),
    ]  # fmt: skip
    assert [f.rule for f in found.findings] == ["SHM101", "SHM101"]


def test_the_file_is_fixed_and_nothing_else(tmp_path: Path) -> None:
    text = f"\ufeff#!/bin/sh\r\n{COMMAND.rstrip()}\r\necho '\u6f22'"
    assert fixed(tmp_path, {"x.sh": text, "y.sh": "docker run a\n"}) == {
        "x.sh": text.replace("--gpus all ", "--gpus all --shm-size=8g ")
    }
    write(tmp_path, {"x.sh": text.replace("--gpus all ", "--gpus all --shm-size=8g ")})
    assert run(tmp_path, {}).findings == []


DEAD = {
    "condition": "it never runs: the condition before it is always false",
    "exit": "it never runs: the shell ends before it",
    "return": "it never runs: its function or the round of its loop ends before it",
}


@table(
    ("text", "why"),
    [
        ("if false; then\n  echo old\n  RUN\nfi", "condition"),
        ("if ! true; then RUN; fi", "condition"),
        ("if true; then\n  ls\nelse\n  RUN\nfi", "condition"),
        ("if :; then ls; elif true; then RUN; fi", "condition"),
        ("while false; do RUN; done", "condition"),
        ("until true; do RUN; done", "condition"),
        ("if [ 1 -eq 2 ]; then RUN; fi", "condition"),
        ("if (( 0 )); then RUN; fi", "condition"),
        ("[[ 1 == 0 ]] && RUN", "condition"),
        ("true || RUN", "condition"),
        ("if false; then\n  for i in a b; do RUN; done\nfi", "condition"),
        ("if false; then\n  ssh host 'RUN'\nfi", "condition"),
        ("if false; then\n  ssh host <<EOF\nRUN\nEOF\nfi", "condition"),
        ("if false; then X=$(RUN); fi", "condition"),
        ("exit\nRUN", "exit"),
        ("ls; exit 1; RUN", "exit"),
        ("{ ls; exit 2; }\nif x; then RUN; fi", "exit"),
        ("exec ./new.sh \"$@\"\nRUN", "exit"),
        ("bash -c 'exit 0; RUN'", "exit"),
        ("exit 0\nf() {\n  RUN\n}\nf", "exit"),
        ("f() {\n  ls\n  return 0\n  RUN\n}\nf", "return"),
        ("f() {\n  if x; then return; if y; then RUN; fi; fi\n}\nf", "return"),
        ("for i in a b; do\n  continue\n  RUN\ndone", "return"),
        ("while x; do { break; RUN; } done", "return"),
    ],
)  # fmt: skip
def test_a_start_that_never_runs_is_told_as_not_read(tmp_path: Path, text: str, why: str) -> None:
    found = run(tmp_path, {"x.sh": f"{text.replace('RUN', COMMAND.strip())}\n"})
    assert not found.launches
    assert [place.because for place in found.not_read] == [DEAD[why]]


@table(
    "text",
    [
        "DEV=0\nif [ $DEV = 1 ]; then RUN; fi",
        "if ${DEV:-false}; then RUN; fi",
        "if [ <gpu> = yes ]; then RUN; fi",
        "if [ '{{ gpu }}' = yes ]; then RUN; fi",
        "if true; then RUN; else ls; fi",
        "if (( 1 )); then RUN; fi",
        "if [ 0 ]; then RUN; fi",
        "if [ -f x ]; then RUN; fi",
        "if ls; then RUN; fi",
        "if ! { false; }; then RUN; fi",
        "if ! { true; }; then ls; else RUN; fi",
        "while true; do RUN; done",
        "false || RUN",
        "false; RUN",
        "if false; then ls; fi\nRUN",
        "if false; then ls; else RUN; fi",
        "RUN\nexit",
        "./x || exit 1\nRUN",
        "./x && exit\nRUN",
        "if x; then exit; fi\nRUN",
        "case $1 in a) exit;; esac\nRUN",
        "for i in $(ls); do exit; done\nRUN",
        "(ls; exit 1)\nRUN",
        "ls | exit\nRUN",
        "f() { exit 1; }\nRUN",
        "f() {\n  RUN\n}\nf\nexit",
        "exec 2>&1\nRUN",
        "exec 3<x\nRUN",
        'exec "$@"\nRUN',
        "exit() { ls; }\nexit\nRUN",
        "trap 'exit 1' INT\nRUN",
        "exit-hook\nRUN",
        "cat <<EOF\nexit\nEOF\nRUN",
        "f() {\n  x && return\n  if y; then return 1; fi\n  RUN\n}\nf",
        "for i in a b; do\n  if x; then continue; fi\n  RUN\ndone",
        "f() { return; }\nf\nRUN",
        "if x; then\n  return 1\nelse\n  RUN\nfi",
        "f() {\n  if x; then\n    return 1\n  elif y; then\n    RUN\n  fi\n}\nf",
        "f() {\n  if x; then\n    return 1\n  else\n    RUN\n  fi\n}\nf",
        "case $1 in\n a) break ;;\n b) RUN ;;\nesac",
        "X=$(exit 1)\nRUN",
        "ssh host exit\nRUN",
    ],
)
def test_a_start_that_may_run_is_read(tmp_path: Path, text: str) -> None:
    found = run(tmp_path, {"x.sh": f"{text.replace('RUN', COMMAND.strip())}\n"})
    assert len(found.launches) == 1


@table(
    ("name", "text", "launches"),
    [
        ("Makefile", "GPU = 0\na:\n\t[ $(GPU) = 1 ] && RUN\n", 1),
        ("Makefile", "a:\n\tfalse && RUN\n", 0),
        ("Makefile", "a:\n\texit 1\n\tRUN\n", 1),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n    - run: |\n        exit 0\n        RUN\n", 0),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n    - run: exit 0\n    - run: RUN\n", 1),
        ("README.md", "```sh\ndocker exec -it x bash\nexit\nRUN\n```\n", 1),
        ("README.md", "```sh\nif false; then RUN; fi\n```\n", 0),
    ],
)
def test_starts_that_never_run_in_other_files(tmp_path: Path, name: str, text: str, launches: int) -> None:
    found = run(tmp_path, {name: text.replace("RUN", COMMAND.strip())})
    assert len(found.launches) == launches
