"""GitLab Code Quality reports.

GitLab requires texts for the description, the fingerprint, the severity and the path, and an integer for the line
(app/validators/json_schemas/codeclimate.json of gitlab-foss at 33827e3). It ignores an entry that is not valid and all
entries after it (lib/gitlab/ci/parsers/codequality/code_climate.rb).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from shmlint.reports.gitlab import render
from shmlint.run import Run
from tests.project import run
from tests.reports.hostile import NAMES, TWO, hostile, parsed
from tests.reports.test_json import NUMBER, PATH, TEXT, closed
from tests.reports.test_text import CASES, MANY, TRAINER
from tests.table import table

ENTRY = closed(
    description=TEXT,
    content=closed(body=TEXT),
    check_name={"type": "string", "pattern": r"^[A-Z]{3}\d{3}$"},
    fingerprint={"type": "string", "pattern": "^[0-9a-f]{64}$"},
    severity={"enum": ["info", "minor", "major", "critical", "blocker"]},
    location=closed(path=PATH, lines=closed(begin=NUMBER)),
)


def data(started: Run) -> list[Any]:
    found = parsed(render(started, started.findings))
    jsonschema.validate(found, {"type": "array", "items": ENTRY}, jsonschema.Draft202012Validator)
    return found  # type: ignore[no-any-return]


@table("files", [files for files, _ in CASES.values()], ids=CASES)
def test_the_shape(tmp_path: Path, files: Mapping[str, str] | str) -> None:
    started = run(tmp_path, files)
    assert len(data(started)) == len(started.findings)


def test_one_entry_in_full(tmp_path: Path) -> None:
    (entry,) = data(run(tmp_path, TRAINER))
    del entry["fingerprint"]
    description, content = entry.pop("description"), entry.pop("content")
    assert description.startswith("GPU service `trainer` gets 64 MiB of /dev/shm and needs ")
    assert " · why: NCCL: 8 ranks" in description
    assert description.endswith(" · fix: add `shm_size: 8gb` after line 3 (shmlint --fix)")
    assert "\nsource: https://docs.nvidia.com/" in content["body"]
    assert entry == {
        "check_name": "SHM101", "severity": "major", "location": {"path": "compose.yaml", "lines": {"begin": 2}},
    }  # fmt: skip


def test_severities(tmp_path: Path) -> None:
    assert {entry["severity"] for entry in data(run(tmp_path, MANY))} == {"major", "minor", "info"}


def test_fingerprints(tmp_path: Path) -> None:
    def prints(files: Mapping[str, str] | str) -> list[str]:
        return [entry["fingerprint"] for entry in data(run(tmp_path, files))]

    before = prints(MANY)
    assert len(set(before)) == len(before)
    assert prints("# moved\n\n" + MANY) == before
    two = prints({"compose.yaml": TWO, "b/compose.yaml": TWO})
    assert len(two) == len(set(two)) == 4, "each service of each file is a finding of its own"


@table("name", NAMES)
def test_any_name(tmp_path: Path, name: str) -> None:
    started = run(tmp_path, TRAINER)
    found = parsed(render(started, [hostile(started.findings[0], name)]))
    assert found[0]["location"]["path"] == name and len(found[0]["fingerprint"]) == 64
