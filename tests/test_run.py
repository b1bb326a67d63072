"""A run: what is reported, suppressed and accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Source, Span
from shmlint.run import Run, judge, lint
from shmlint.suppression.baseline import read, render

LACKS = """\
services:
  a:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: torchrun --nproc_per_node=8 t.py
    gpus: all
"""
DEFAULT = Settings()


def run(texts: dict[str, str], settings: Settings = DEFAULT, problems: tuple[Problem, ...] = ()) -> Run:
    kinds = {"yaml": "compose", "sh": "shell"}
    files: dict[str, list[str]] = {}
    for path in texts:
        files.setdefault(kinds[path.rpartition(".")[2]], []).append(path)
    return lint(files, settings, Workspace(texts), Reading(problems=tuple(problems)))


def rules(found: Run) -> list[str]:
    return [finding.rule for finding in found.findings]


def test_a_run_counts_what_comments_suppress() -> None:
    cases = [
        ("", ["SHM101"], 0),
        ("# shmlint: ignore[SHM101] known\n", ["SHM002", "SHM101"], 0),
        ("# shmlint: ignore-file[SHM101] known\n", [], 1),
        ("# shmlint: ignore-file known\n", [], 1),
        ("# shmlint: ignore-file[SHM1, NCCL] known\n", ["SHM002"], 1),
    ]
    for comment, reported, suppressed in cases:
        found = run({"compose.yaml": comment + LACKS})
        assert (rules(found), len(found.suppressed)) == (reported, suppressed), comment


def test_a_rule_that_a_file_loses_is_not_counted_as_suppressed() -> None:
    found = run({"compose.yaml": LACKS}, Settings(per_file_ignores=(("*.yaml", ("SHM101",)),)))
    assert (rules(found), list(found.suppressed)) == ([], [])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
def test_a_run_knows_what_the_baseline_accepts_and_which_entries_are_dead() -> None:
    both = {"a/compose.yaml": LACKS, "b/compose.yaml": LACKS}
    for path in both:
        Path(path).parent.mkdir()
        Path(path).write_text(LACKS)
    Path("baseline.json").write_text(render(run(both).findings))
    settings = Settings(baseline=read("baseline.json"))
    repaired = LACKS + "    shm_size: 16gb\n"
    cases: list[tuple[dict[str, str], Settings, list[str], int, list[str]]] = [
        (both, settings, [], 2, []),
        ({"a/compose.yaml": repaired, "b/compose.yaml": LACKS}, settings, [], 1, ["a/compose.yaml"]),
        ({"a/compose.yaml": LACKS}, settings, [], 1, []),  # the other file was not looked at
        ({"a/compose.yaml": repaired}, settings._replace(ignore=("SHM101",)), [], 0, []),  # nor was the rule
        ({"a/compose.yaml": LACKS + LACKS[10:].replace("  a:", "  n:", 1)}, settings, ["SHM101"], 1, []),
    ]
    for row, (texts, chosen, reported, accepted, dead) in enumerate(cases):
        found = run(texts, chosen)
        assert (rules(found), len(found.accepted)) == (reported, accepted), row
        assert [entry.path for entry in found.dead_baseline] == dead, row
    Path("b/compose.yaml").unlink()
    assert [entry.path for entry in run({"a/compose.yaml": LACKS}, settings).dead_baseline] == ["b/compose.yaml"]
    assert json.loads(Path("baseline.json").read_text())["findings"][0]["rule"] == settings.baseline[0].rule == "SHM101"


def test_problems_come_before_what_is_read() -> None:
    problem = Problem(Span(Source("gone.yaml", ""), 0, 0), "no such file or directory")
    found = run({"compose.yaml": "services: []\n"}, problems=(problem,))
    assert [p.span.path for p in found.reading.problems] == ["gone.yaml", "compose.yaml"]
    assert [(f.rule, f.span.path) for f in found.findings] == [("SHM001", "compose.yaml"), ("SHM001", "gone.yaml")]


def test_a_severity_of_the_settings_counts() -> None:
    found = run({"compose.yaml": LACKS}, Settings(severity=(("SHM101", "note"),)))
    assert [finding.severity for finding in found.findings] == ["note"]


def test_launches_without_files_are_judged() -> None:
    (launch,) = run({"compose.yaml": LACKS}).launches
    assert isinstance(launch, Launch)
    assert rules(judge([launch], Settings(), Workspace({"compose.yaml": LACKS}))) == ["SHM101"]
