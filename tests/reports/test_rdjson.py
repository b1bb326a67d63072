"""reviewdog's format: its suggestions, applied by bytes, give what --fix gives.

The fields and their types are those of proto/rdf/reviewdog.proto at 08614ef of https://github.com/reviewdog/reviewdog.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shmlint.fixing import fix
from shmlint.model import project
from shmlint.model.launch import Change as Edits
from shmlint.model.source import Edit
from shmlint.reports import escape, rdjson
from shmlint.reports.rdjson import render
from shmlint.run import Run
from tests.project import run
from tests.reports.hostile import NAMES, Change, apply, hostile, parsed, place
from tests.reports.test_json import NUMBER, TEXT, closed
from tests.reports.test_text import CASES, MANY, TRAINER
from tests.table import table

POSITION = closed(line=NUMBER, column=NUMBER)
RANGE = closed(start=POSITION, end=POSITION)
SUGGESTIONS = {"type": "array", "minItems": 1, "maxItems": 1, "items": closed(range=RANGE, text={"type": "string"})}
DIAGNOSTIC = closed(
    message=TEXT,
    location=closed(path=TEXT, range=RANGE),
    severity={"enum": ["ERROR", "WARNING", "INFO"]},
    code=closed(value=TEXT),
)
DIAGNOSTIC["properties"]["suggestions"] = SUGGESTIONS
SHAPE = closed(source=closed(name={"const": "shmlint"}), diagnostics={"type": "array", "items": DIAGNOSTIC})

INLINE = 'services: {"訓練🚀": {image: nvcr.io/nvidia/nemo, gpus: all}, é: {image: nvcr.io/nvidia/nemo, gpus: all}}\n'
LAST = "services:\n  é:\n    image: nvcr.io/nvidia/nemo\n    gpus: all\n"
COMMENTED = "services:\n  # 訓練\n  a:\n    image: nvcr.io/nvidia/nemo  # é\n    gpus: all\n    shm_size: 64mb # 🚀\n"
TEXTS = {
    "trainer": TRAINER, "many": MANY, "inline": INLINE, "last": LAST, "unfinished": LAST.rstrip("\n"),
    "suppression": "# shmlint: ignore[SHM101] not needed\n" + TRAINER, "commented": COMMENTED,
    "both": MANY + COMMENTED.partition("\n")[2],
}  # fmt: skip


def test_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SHAPE)


def data(started: Run) -> list[Any]:
    found = parsed(render(started, started.findings))
    jsonschema.Draft202012Validator(SHAPE).validate(found)
    return found["diagnostics"]  # type: ignore[no-any-return]


@pytest.mark.report_readers
def test_a_validator_that_others_wrote_accepts_the_report(tmp_path: Path) -> None:
    """The npm package @umbrelladocs/rdformat-validator."""
    started = run(tmp_path, {f"{name}/compose.yaml": text for name, text in TEXTS.items()})
    assert len(started.findings) > 20
    good, wrong = tmp_path / "good.json", tmp_path / "wrong.json"
    good.write_text(render(started, started.findings), encoding="utf-8")
    text = good.read_text(encoding="utf-8").replace('"message": "', '"message": 1, "was": "', 1)
    wrong.write_text(text, encoding="utf-8")
    for file, status in ((good, 0), (wrong, 1)):
        command = ["rdformat-validator", "--strict", "--no-extra-fields", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, done.stdout + done.stderr


def suggestions(diagnostics: list[Any]) -> list[Change]:
    return [
        Change(place(s["range"]["start"]), place(s["range"]["end"]), s["text"])
        for d in diagnostics for s in d.get("suggestions", ())
    ]  # fmt: skip


def in_bytes(line: bytes, column: int) -> int:
    return column - 1


@pytest.mark.usefixtures("elsewhere")
@table("files", [files for files, _ in CASES.values()], ids=CASES)
def test_the_shape(tmp_path: Path, files: Mapping[str, str] | str) -> None:
    started = run(tmp_path, files)
    assert len(data(started)) == len(started.findings)


@table("mark", ["", "\ufeff"])
@table("ending", ["\n", "\r\n"])
@table("text", TEXTS.values(), ids=TEXTS)
def test_suggestions_give_what_fix_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, ending: str, mark: str
) -> None:
    text = mark + text.replace("\n", ending)
    started = run(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    changes = suggestions(data(started))
    assert changes
    assert apply(text.encode(), changes, in_bytes) == fix.fix(started).texts["compose.yaml"].encode()
    lines = text.removesuffix(ending).count("\n") + 1
    assert all(change.end[0] <= lines for change in changes), "only lines that are there can be commented on"


def test_links_lead_to_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it has no address, the command that explains the rule is named instead."""
    started = run(tmp_path, TRAINER)
    assert data(started)[0]["message"].endswith("\nhelp: shmlint explain SHM101")
    monkeypatch.setattr(project, "ADDRESS", "https://example.org/shmlint")
    found = parsed(render(started, started.findings))
    assert found["source"]["url"] == "https://example.org/shmlint"
    (diagnostic,) = found["diagnostics"]
    assert diagnostic["code"]["url"].endswith("/rules/SHM101-missing-shm-size.md")
    assert "help:" not in diagnostic["message"]


def test_columns_count_bytes(tmp_path: Path) -> None:
    found = data(run(tmp_path, INLINE, select=("SHM101",)))
    line = INLINE.encode()
    for diagnostic, name in zip(found, ('"訓練🚀"', "é"), strict=True):
        span = diagnostic["location"]["range"]
        assert line[span["start"]["column"] - 1 : span["end"]["column"] - 1].decode() == name


def test_other_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "run.sh": "# é\ndocker run --name é --gpus all nvcr.io/nvidia/pytorch:24.01-py3 torchrun train.py\n",
        "README.md": "é\n\n```sh\ndocker run --gpus all nvcr.io/nvidia/nemo\n```\n",
    }
    started = run(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    found = data(started)
    wanted = fix.fix(started).texts
    assert set(wanted) == set(files)
    for path, text in files.items():
        mine = suggestions([d for d in found if d["location"]["path"] == path])
        assert apply(text.encode(), mine, in_bytes).decode() == wanted[path]


def offer(monkeypatch: pytest.MonkeyPatch, started: Run, *edits: Edit) -> list[Any]:
    """The diagnostics where the change of the only finding is made of these edits."""
    (finding,) = started.findings
    monkeypatch.setattr(rdjson, "suggestions", lambda run: {id(finding): Edits(edits, "x")})
    return data(started)


def test_several_edits_are_one_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = TRAINER.index("all")
    edits = (Edit("compose.yaml", at, at + 3, "é"), Edit("compose.yaml", 0, 8, "SERVICES"))
    (change,) = suggestions(offer(monkeypatch, run(tmp_path, TRAINER), *edits))
    wanted = TRAINER.replace("services", "SERVICES", 1).replace("all", "é", 1)
    assert apply(TRAINER.encode(), [change], in_bytes).decode() == wanted


def test_a_fix_in_another_file_is_no_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = run(tmp_path, TRAINER)
    here, other = Edit("compose.yaml", 0, 0, "# x\n"), Edit("other.yaml", 0, 0, "x")
    assert "suggestions" in offer(monkeypatch, started, here)[0]
    assert "suggestions" not in offer(monkeypatch, started, other)[0]
    assert "suggestions" not in offer(monkeypatch, started, here, other)[0]


def test_what_is_offered_has_been_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another size at an anchor would be that of redis too; one change for two services is offered once."""
    train = "image: nvcr.io/nvidia/pytorch:24.01-py3\n    command: torchrun --nproc_per_node=8 t.py\n    gpus: all\n"
    text = f"services:\n  a:\n    {train}    shm_size: &s 64m\n  r:\n    image: redis\n    shm_size: *s\n"
    monkeypatch.chdir(tmp_path)
    assert "suggestions" not in data(run(tmp_path, text))[0]
    common = f"services:\n  a: &a\n    {train}  b: *a\n"
    offered = suggestions(data(run(tmp_path, common)))
    assert apply(common.encode(), offered, in_bytes).decode() == fix.fix(run(tmp_path, common)).texts["compose.yaml"]


@table("name", NAMES)
def test_any_name(tmp_path: Path, name: str) -> None:
    started = run(tmp_path, TRAINER)
    started = started._replace(findings=[hostile(started.findings[0], name)._replace(evidence=())])
    (found,) = data(started)
    assert found["location"]["path"] == name
    said = escape(name)
    assert found["message"] == f"service `{name}` {name}\nwhy: {said}\ndo: {said}\nhelp: shmlint explain SHM101"
