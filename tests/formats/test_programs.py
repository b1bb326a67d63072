"""Generated programs are read as the docker client reads what they give it, or as not known.

    SHMLINT_PROGRAMS=10000 SHMLINT_SEED=7 pytest -m slow -s tests/formats/test_programs.py
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.needs import need
from tests.oracles.programs import OTHER_FILES, Chooser, files
from tests.oracles.recording import recorded, sandbox
from tests.oracles.started_programs import KINDS, READ_AS, many, share
from tests.oracles.understood import differences, numbered

pytestmark = pytest.mark.usefixtures("elsewhere")


def judged(kind: str, count: int, seed: str, home: Path) -> list[str]:
    """The programs that are read otherwise than they run, with what differs."""
    if kind == "unit":
        need("systemd_library")
    path, make = KINDS[kind]
    texts = [numbered(make(Chooser(f"{seed}/{number}"))) for number in range(count)]
    counts: Counter[str] = Counter()
    found = []
    for text, calls in zip(texts, recorded(kind, texts, home, sandbox(home), OTHER_FILES), strict=True):
        lines = differences(READ_AS.get(kind, kind), path, {**files(path, text), **OTHER_FILES}, calls, counts)
        if lines:
            found.append("\n".join((text, *lines)))
    assert counts["calls"], "nothing ran"
    print(f"{kind}: {count} tried, {len(found)} differ; {dict(counts)}")
    return found


@pytest.mark.docker_client
@pytest.mark.parametrize("kind", KINDS)
def test_they_are_read_as_they_run(tmp_path: Path, kind: str) -> None:
    found = judged(kind, share(kind, 200), "some", tmp_path)
    assert not found, "\n\n".join(found[:3])


@pytest.mark.slow
@pytest.mark.docker_client
@pytest.mark.parametrize("kind", KINDS)
def test_many_are_read_as_they_run(tmp_path: Path, kind: str) -> None:
    count, seed = many(kind)
    found = judged(kind, count // 2, seed, tmp_path)  # as many again are read, and fixed, in tests/fixing
    assert not found, "\n\n".join(found[:3])
