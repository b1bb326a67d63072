"""Shell scripts as files: which are read, and what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.model.settings import Settings
from shmlint.run import lint
from tests.project import fixed, run, write

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
