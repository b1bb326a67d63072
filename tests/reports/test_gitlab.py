"""GitLab Code Quality reports.

GitLab requires texts for the description, the fingerprint, the severity and the path, and an integer for the line
(app/validators/json_schemas/codeclimate.json of gitlab-foss at 33827e3). It ignores an entry that is not valid and all
entries after it (lib/gitlab/ci/parsers/codequality/code_climate.rb).
"""

from __future__ import annotations

import html
import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shmlint.reports.gitlab import render
from shmlint.run import Run
from tests.project import run
from tests.reports.hostile import NAMES, TWO, hostile, parsed
from tests.reports.test_json import NUMBER, PATH, TEXT, closed
from tests.reports.test_text import CASES, MANY, TRAINER
from tests.table import table

ENTRY = closed(
    type={"const": "issue"},
    categories={"type": "array", "items": TEXT, "minItems": 1},
    description=TEXT,
    content=closed(body=TEXT),
    check_name={"type": "string", "pattern": r"^[A-Z]{3}\d{3}$"},
    fingerprint={"type": "string", "pattern": "^[0-9a-f]{64}$"},
    severity={"enum": ["info", "minor", "major", "critical", "blocker"]},
    location=closed(path=PATH, lines=closed(begin=NUMBER)),
)


def test_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(ENTRY)


def data(started: Run) -> list[Any]:
    found = parsed(render(started, started.findings))
    jsonschema.Draft202012Validator({"type": "array", "items": ENTRY}).validate(found)
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
    assert " · NCCL: 8 ranks" in description and "why:" not in description
    assert description.endswith(" · fix: add `shm_size: 8gb` after line 3 (shmlint --fix)")
    assert "\nsource: https://docs.nvidia.com/" in content["body"]
    assert entry == {
        "type": "issue", "categories": ["Bug Risk"],
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


class PullRequest(BaseHTTPRequestHandler):
    """As much of GitHub's API as takes comments on a pull request without files: what is posted is kept."""

    posted: list[str]

    def do_GET(self) -> None:
        self._answer([{"sha": "0"}] if "/commits" in self.path else [])

    def do_POST(self) -> None:
        self.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])
        self._answer({})

    def _answer(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def comment(report: Path) -> str:
    """The comment that another program makes on a pull request of a report of Code Climate's; empty if of none."""
    handler = type("Handler", (PullRequest,), {"posted": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            subprocess.run(
                [
                    "violation-comments-to-github-command-line",
                    *("-github-url", f"http://127.0.0.1:{server.server_port}/", "-oauth2-token", "none"),
                    *("-repository-owner", "o", "-repository-name", "n", "-pull-request-id", "1"),
                    *("-comment-only-changed-files", "false", "-comment-only-changed-content", "false"),
                    *("-create-single-file-comments", "false", "-create-comment-with-all-single-file-comments", "true"),
                    *("-v", "CODECLIMATE", str(report.parent), rf".*{report.name}$", "shmlint"),
                ],
                capture_output=True, timeout=100, check=True,
            )  # fmt: skip
        finally:
            server.shutdown()
            thread.join()
    return html.unescape("".join(handler.posted))


SEVERITIES = {"major": "ERROR", "minor": "WARN", "info": "INFO"}

BROKEN: dict[str, Callable[[Any], object]] = {
    "no description": lambda entry: entry.pop("description"),
    "no categories": lambda entry: entry.pop("categories"),
    "no place": lambda entry: entry.pop("location"),
    "no such severity": lambda entry: entry.update(severity="error"),
}


@pytest.mark.report_readers
def test_another_program_makes_a_comment_of_it(tmp_path: Path) -> None:
    started = run(tmp_path, {"a/many.compose.yaml": MANY, "b/trainer.compose.yaml": TRAINER})
    report = tmp_path / "report.json"
    entries = data(started)
    report.write_text(json.dumps(entries), encoding="utf-8")
    made = comment(report)
    for entry in entries:
        place = f"**File**: {entry['location']['path']} L{entry['location']['lines']['begin']}"
        head = f"**Rule**: {entry['check_name']}\n**Severity**: {SEVERITIES[entry['severity']]}\n{place}"
        assert f"{head}\n\n{entry['description']}\n" in made


@pytest.mark.report_readers
@table("spoil", BROKEN.values(), ids=BROKEN)
def test_the_other_program_refuses_what_is_wrong(tmp_path: Path, spoil: Callable[[Any], object]) -> None:
    (entry,) = data(run(tmp_path, TRAINER))
    spoil(entry)
    report = tmp_path / "report.json"
    report.write_text(json.dumps([entry]), encoding="utf-8")
    assert not comment(report)
