"""Programs run before and after `--fix` with recording stand-ins: only the launches that were meant have changed.

    SHMLINT_PROGRAMS=10000 SHMLINT_SEED=7 pytest -m slow tests/fixing/test_programs.py

The stand-ins start nothing. With ``docker_client`` the real client says what the words mean.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing.fix import fix
from shmlint.model.settings import Settings
from shmlint.run import lint
from tests.needs import need
from tests.oracles.docker_client import docker_create
from tests.oracles.judged import MEANT, shm, wrong
from tests.oracles.programs import OTHER_FILES, Chooser, files, one_text
from tests.oracles.recording import recorded, sandbox
from tests.oracles.started_programs import KINDS, READ_AS, many

SHARES = {
    "shell": 24, "makefile": 8, "workflow": 8, "called": 8, "pipeline": 8, "document": 8, "batch": 4, "unit": 8,
    "taskfile": 6,
}  # fmt: skip
"""Programs of each kind that run by default."""


pytestmark = pytest.mark.usefixtures("elsewhere")


def fixed(kind: str, text: str) -> str:
    path, _ = KINDS[kind]
    texts = files(path, text)
    outcome = fix(lint({READ_AS.get(kind, kind): [*texts]}, Settings(), Workspace({**texts, **OTHER_FILES})))
    return one_text({name: outcome.run.workspace.source(name).text for name in texts})


def disagreements(kind: str, count: int, seed: str, home: Path) -> tuple[int, list[str]]:
    """How many programs `--fix` changed, and those of which another launch has changed."""
    if kind == "unit":
        need("systemd_library")
    _, make = KINDS[kind]
    texts = (make(Chooser(f"{seed}/{number}")) for number in range(count))
    changed = [(text, new) for text in texts if (new := fixed(kind, text)) != text]
    programs = sandbox(home)
    runs = recorded(kind, [text for pair in changed for text in pair], home, programs, OTHER_FILES)
    found = []
    for (text, new), before, after in zip(changed, runs[::2], runs[1::2], strict=True):
        lines = wrong(before, after)
        if lines:
            found.append("\n".join((text, "---", new, *lines)))
        elif fixed(kind, new) != new:
            found.append(f"{new}\n--- is not left by a second fix")
    optional = [text for pair in changed if "${GIVEN:+" in pair[0] for text in pair]
    runs = recorded(kind, optional, home, programs, OTHER_FILES, given="")
    for text, before, after in zip(optional[::2], runs[::2], runs[1::2], strict=True):
        lines = wrong(before, after, gpu=True)
        found += ["\n".join((text, "--- without the variable", *lines))] if lines else []
    return len(changed), found


@pytest.mark.parametrize("kind", KINDS)
def test_other_launches_stay(tmp_path: Path, kind: str) -> None:
    changed, found = disagreements(kind, SHARES[kind], "some", tmp_path)
    assert changed and not found, "\n\n".join(found[:3])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_other_launches_stay_in_many(tmp_path: Path, kind: str) -> None:
    count, seed = many(kind)
    changed, found = disagreements(kind, count, seed, tmp_path)
    print(f"{kind}: {count} tried, {changed} changed, {len(found)} disagreements")
    assert not found, "\n\n".join(found[:3])


@pytest.mark.docker_client
@pytest.mark.parametrize("kind", KINDS)
def test_the_client_reads_the_size_and_the_devices(tmp_path: Path, kind: str) -> None:
    if kind == "unit":
        need("systemd_library")
    _, make = KINDS[kind]
    texts = [fixed(kind, make(Chooser(f"client/{number}"))) for number in range(20)]
    calls = [words for calls in recorded(kind, texts, tmp_path, sandbox(tmp_path), OTHER_FILES) for words in calls]
    lists = {right: right.split('"')[1].removeprefix("device=").split(",") for right in MEANT.values()}
    for words in calls:
        if words[0] != "docker":
            continue
        start = words.index("create" if "create" in words[:3] else "run") + 1
        _, body, error = docker_create(["create", *words[start:]])
        value = next((w.removeprefix("--gpus=") for w in words if w.removeprefix("--gpus=") in lists), None)
        if body is not None:
            options = words[: words.index(body["Image"], start)]  # what follows belongs to the container's command
            sized = any(word.startswith("--shm-size") for word in options)
            assert body["HostConfig"]["ShmSize"] == (shm(options) if sized else 0), words
            requests = body["HostConfig"]["DeviceRequests"] or ()
            ids = [request["DeviceIDs"] for request in requests if request["DeviceIDs"]]
            assert value is None or lists[value] in ids, (words, error)
