"""pre-commit may hand a base and its override to separate calls: each sees the project whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from shmlint.cli.program import program

BASE = """\
services:
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: torchrun --nproc_per_node=8 t.py
"""
OVERRIDE = "services:\n  trainer:\n    gpus: all\n"


@pytest.mark.parametrize("name", ["compose.yaml", "compose.override.yaml"])
@pytest.mark.parametrize(("size", "status"), [("", 1), ("    shm_size: 8gb\n", 0)])
def test_each_part_of_a_project_gives_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: str, status: int
) -> None:
    (tmp_path / "compose.yaml").write_text(BASE + size, encoding="utf-8")
    (tmp_path / "compose.override.yaml").write_text(OVERRIDE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(program, [name]).exit_code == status


def test_both_calls_repair_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "compose.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "compose.override.yaml").write_text(OVERRIDE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("compose.yaml", "compose.override.yaml"):
        CliRunner().invoke(program, ["--fix", name])
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("compose.yaml", "compose.override.yaml")]
    assert sum(text.count("shm_size: 8gb") for text in texts) == 1
