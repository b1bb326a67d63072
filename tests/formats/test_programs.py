"""Generated programs are read as the docker client reads what they give it, or as not known.

    SHMLINT_PROGRAMS=10000 SHMLINT_SEED=7 pytest -m slow -s tests/formats/test_programs.py
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.needs import need
from tests.oracles import programs
from tests.oracles.programs import OTHER_FILES, Chooser
from tests.oracles.recording import recorded, sandbox
from tests.oracles.started_programs import STARTED
from tests.oracles.understood import differences, numbered

KINDS = {**programs.KINDS, **STARTED}
READ_AS = {"workflow": "ci", "pipeline": "ci", "document": "markdown", "batch": "shell", "unit": "systemd"}
MANY = {
    "shell": 0.3, "makefile": 0.2, "workflow": 0.1, "pipeline": 0.1, "document": 0.1, "batch": 0.05, "unit": 0.1,
    "taskfile": 0.05,
}  # fmt: skip
"""The parts of all programs that are of each kind."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of this repository starts the programs."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


def judged(kind: str, count: int, seed: str, home: Path) -> list[str]:
    """The programs that are read otherwise than they run, with what differs."""
    if kind == "unit":
        need("systemd_library")
    path, make = KINDS[kind]
    texts = [numbered(make(Chooser(f"{seed}/{number}"))) for number in range(count)]
    counts: Counter[str] = Counter()
    found = []
    for text, calls in zip(texts, recorded(kind, texts, home, sandbox(home), OTHER_FILES), strict=True):
        lines = differences(READ_AS.get(kind, kind), path, {path: text, **OTHER_FILES}, calls, counts)
        if lines:
            found.append("\n".join((text, *lines)))
    assert counts["calls"], "nothing ran"
    print(f"{kind}: {count} tried, {len(found)} differ; {dict(counts)}")
    return found


@pytest.mark.docker_client
@pytest.mark.parametrize("kind", KINDS)
def test_they_are_read_as_they_run(tmp_path: Path, kind: str) -> None:
    found = judged(kind, round(200 * MANY[kind]), "some", tmp_path)
    assert not found, "\n\n".join(found[:3])


@pytest.mark.slow
@pytest.mark.docker_client
@pytest.mark.parametrize("kind", KINDS)
def test_many_are_read_as_they_run(tmp_path: Path, kind: str) -> None:
    count = round(int(os.environ.get("SHMLINT_PROGRAMS", "3000")) * MANY[kind])
    found = judged(kind, count, os.environ.get("SHMLINT_SEED", "many"), tmp_path)
    assert not found, "\n\n".join(found[:3])
