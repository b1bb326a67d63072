"""The rules over launches: by one process or by several, with the same result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shmlint import checks
from shmlint.files.parallel import share
from shmlint.model.settings import Settings
from shmlint.run import Run, lint
from tests import project
from tests.table import table

# Newer Pythons warn where the runner of these tests has threads.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.needs("linux"),
]

LOADER = "import torch\nloader = torch.utils.data.DataLoader([], num_workers=2)\n"
DOCKERFILE = "FROM pytorch/pytorch\nCOPY train.py .\nCMD python train.py\n"
SCRIPTS = {f"{name}/run.sh": f"docker build -t {name} .\ndocker run --gpus all {name}\n" for name in "abcde"}
PROGRAMS = {f"{name}/train.py": LOADER for name in "abcde"}
DOCKERFILES = {f"{name}/Dockerfile": DOCKERFILE for name in "abcde"}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    project.write(tmp_path, {**SCRIPTS, **PROGRAMS, **DOCKERFILES})
    monkeypatch.chdir(tmp_path)
    return {"shell": sorted(SCRIPTS)}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches are shared from the first one on."""
    monkeypatch.setattr(checks, "ALONE", -1.0)
    monkeypatch.setattr(checks, "WORTH", 0.0)


def shown(run: Run) -> list[object]:
    return [(f.rule, f.severity, f.span.path, f.span.line, f.message, f.facts) for f in run.findings]


@pytest.mark.usefixtures("at_once")
def test_what_other_processes_find_is_about_the_launches_and_texts_of_this_one(files: dict[str, list[str]]) -> None:
    run = lint(files, Settings(), jobs=3)
    assert shown(run) == shown(lint(files, Settings()))
    assert [finding.rule for finding in run.findings] == ["SHM101"] * 5
    launches = list(map(id, run.launches))
    for finding in run.findings:
        assert id(finding.launch) in launches
        assert finding.span.source is run.workspace.source(finding.span.path)


@pytest.mark.usefixtures("at_once")
def test_what_other_processes_find_launches_to_need_is_not_asked_again(
    files: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(
        work: Callable[[list[int]], bytes], portions: list[list[int]], jobs: int, here: object
    ) -> list[bytes]:
        return [work(portion) for portion in portions]

    monkeypatch.setattr(checks, "share", elsewhere)
    run = lint(files, Settings(), jobs=3)
    monkeypatch.setattr("shmlint.workloads.assess.decide", None)
    needs = [run.need(launch) for launch in run.launches]
    assert [need.verdict for need in needs] == ["likely"] * 5
    steps = [step.span for need in needs for step in need.trail if step.span is not None]
    assert steps and all(span.source is run.workspace.source(span.path) for span in steps)


@table("jobs, worth, shares", [(1, 0.0, 0), (2, 0.0, 1), (2, 1000.0, 0)])
def test_little_is_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, worth: float, shares: int
) -> None:
    project.write(tmp_path, SCRIPTS)
    monkeypatch.chdir(tmp_path)
    asked: list[object] = []

    def counted(work: object, portions: object, jobs: int, here: object) -> object:
        asked.append(portions)
        return share(work, portions, jobs, here=here)  # type: ignore[arg-type]

    monkeypatch.setattr(checks, "ALONE", -1.0)
    monkeypatch.setattr(checks, "WORTH", worth)
    monkeypatch.setattr(checks, "share", counted)
    lint({"shell": sorted(SCRIPTS)}, Settings(), jobs=jobs)
    assert len(asked) == shares


@pytest.mark.usefixtures("at_once")
def test_how_many_files_are_done_is_told(files: dict[str, list[str]]) -> None:
    told: list[int] = []
    lint(files, Settings(), checked=told.append)
    assert told == [0, 1, 2, 3, 4]
