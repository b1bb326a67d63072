"""The JSON that other programs rely on: its shape, its positions, its edits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shmlint.fixing import fix
from shmlint.model.settings import Settings
from shmlint.reports import dumps
from shmlint.reports.inventory import summary
from shmlint.reports.json import inventory, render
from shmlint.run import lint
from shmlint.workloads.by_knowledge import NCCL_SOURCE
from tests.project import run, write
from tests.reports.test_text import CASES, MANY, TRAINER
from tests.table import table


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


NULL = {"type": "null"}
TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "integer", "minimum": 1}
COUNT = {"type": "integer", "minimum": 0}
POSITION = closed(line=NUMBER, column=NUMBER)
PATH = {"type": "string", "pattern": r"^[^/\\][^\\]*$"}
KIND = {"enum": ["compose-service", "docker-run", "devcontainer", "ci-container", "kubernetes-container"]}
REFERENCE = closed(kind=KIND, name={"type": ["string", "null"]}, path=PATH, line=NUMBER)
EVIDENCE = closed(
    text=TEXT,
    path={"anyOf": [PATH, NULL]},
    line={"anyOf": [NUMBER, NULL]},
    source={"anyOf": [{"type": "string", "pattern": "^https://"}, NULL]},
)
BASIS = {"enum": ["documented", "measured", "computed", "estimated", "chosen"]}
REASON = closed(
    label={"type": ["string", "null"]}, text=TEXT, basis={"anyOf": [BASIS, NULL]}, source={"type": ["string", "null"]}
)
EDIT = closed(path=PATH, start=POSITION, end=POSITION, text={"type": "string"})
FIX = closed(
    title=TEXT, safe={"type": "boolean"}, proved={"type": "boolean"},
    edits={"type": "array", "minItems": 1, "items": EDIT},
)  # fmt: skip
FINDING = closed(
    rule={"type": "string", "pattern": r"^[A-Z]{3,4}\d{3}$"},
    name={"type": "string", "pattern": r"^[a-z]+(-[a-z0-9]+)*$"},
    severity={"enum": ["error", "warning", "note"]},
    path=PATH,
    start=POSITION,
    end=POSITION,
    message=TEXT,
    launch={"anyOf": [REFERENCE, NULL]},
    evidence={"type": "array", "items": EVIDENCE},
    why={"type": "array", "items": REASON},
    fix={"anyOf": [FIX, NULL]},
    advice={"type": ["string", "null"]},
    help={"type": ["string", "null"], "pattern": r"^https://.*/rules/[A-Z]{3,4}\d{3}-[a-z0-9-]+\.md$"},
)
FIXED = closed(path=PATH, line=NUMBER, rule=TEXT, title=TEXT, before={"type": "string"}, after={"type": "string"},
               proved={"const": True})  # fmt: skip
NOT_READ = closed(path=PATH, line=NUMBER, because=TEXT)
FINDINGS = closed(
    version={"const": 2},
    findings={"type": "array", "items": FINDING},
    fixed={"type": "array", "items": FIXED},
    not_read={"type": "array", "items": NOT_READ},
    dead_baseline={"type": "array", "items": closed(path=PATH, rule=TEXT)},
    summary=closed(
        files=COUNT, launches=COUNT, gpu_launches=COUNT,
        error=COUNT, warning=COUNT, note=COUNT, fixable=COUNT, fixed=COUNT, not_read=COUNT,
        suppressed=COUNT, baseline=COUNT, unknown=COUNT, gpu_unknown=COUNT, not_judged=COUNT,
    ),
)
MAYBE_TEXT = {"type": ["string", "null"]}
MAYBE_COUNT = {"anyOf": [COUNT, NULL]}
MECHANISM = closed(
    id=TEXT,
    bytes=MAYBE_COUNT,
    basis=BASIS,
    because=TEXT,
    evidence={"type": "array", "items": EVIDENCE},
)
LAUNCH = closed(
    kind=KIND,
    name=MAYBE_TEXT,
    path=PATH,
    line=NUMBER,
    files={"type": "array", "items": PATH, "minItems": 1},
    image=MAYBE_TEXT,
    command={"anyOf": [{"type": "array", "items": {"type": "string"}}, NULL]},
    gpu=closed(
        requested={"type": ["boolean", "null"]},
        vendor={"enum": ["nvidia", "amd", "intel", None]},
        count={"anyOf": [COUNT, {"const": "all"}, NULL]},
        evidence={"type": "array", "items": TEXT},
    ),
    shm=closed(
        declared=MAYBE_TEXT,
        declared_bytes=MAYBE_COUNT,
        ipc=MAYBE_TEXT,
        decided_by={
            "enum": [
                "default", "shm_size", "tmpfs", "bind", "volume", "host", "donor", "none", "unknown", "emptydir",
            ],
        },
        effective_bytes=MAYBE_COUNT,
    ),
    workload=MAYBE_TEXT,
    need=closed(
        verdict={"enum": ["needed", "likely", "unknown", "not-needed"]},
        minimum_bytes=MAYBE_COUNT, recommended_bytes=MAYBE_COUNT, mechanisms={"type": "array", "items": MECHANISM},
    ),
)
TOTALS = dict.fromkeys(
    ("launches", "with_gpu", "without_gpu", "gpu_unknown", "lacking", "sized", "not_needed", "unknown"), COUNT
)
INVENTORY = closed(
    version={"const": 2}, launches={"type": "array", "items": LAUNCH},
    summary=closed(**TOTALS), repositories={"type": "array", "items": closed(path=PATH, **TOTALS)},
)  # fmt: skip


def data(directory: Path, files: Mapping[str, str] | str) -> dict[str, Any]:
    started = run(directory, files)
    return json.loads(render(started, started.findings))  # type: ignore[no-any-return]


@table("schema", [FINDINGS, INVENTORY], ids=["findings", "inventory"])
def test_the_schemas(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)


@table("files", [files for files, _ in CASES.values()], ids=CASES)
def test_the_shape(tmp_path: Path, files: Mapping[str, str] | str) -> None:
    started = run(tmp_path, files)
    found = json.loads(render(started, started.findings))
    jsonschema.Draft202012Validator(FINDINGS).validate(found)
    jsonschema.Draft202012Validator(INVENTORY).validate(json.loads(inventory(started)))
    levels = [f["severity"] for f in found["findings"]]
    assert {level: levels.count(level) for level in ("error", "warning", "note")} == {
        level: found["summary"][level] for level in ("error", "warning", "note")
    }
    assert found["summary"]["fixable"] == sum(f["fix"] is not None and f["fix"]["safe"] for f in found["findings"])


def test_one_finding_in_full(tmp_path: Path) -> None:
    found = data(tmp_path, TRAINER)
    finding = found["findings"][0]
    assert {key: finding[key] for key in ("rule", "name", "severity", "path", "start", "end", "launch")} == {
        "rule": "SHM101", "name": "missing-shm-size", "severity": "error", "path": "compose.yaml",
        "start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 10},
        "launch": {"kind": "compose-service", "name": "trainer", "path": "compose.yaml", "line": 2},
    }  # fmt: skip
    assert finding["evidence"][1].pop("source").startswith("https://")
    assert finding["evidence"][1] == {"text": "NVIDIA NGC framework containers", "path": "compose.yaml", "line": 3}
    assert finding["fix"] == {
        "title": "add `shm_size: 8gb` after line 3",
        "safe": True,
        "proved": False,
        "edits": [
            {"path": "compose.yaml", "start": {"line": 4, "column": 1}, "end": {"line": 4, "column": 1},
             "text": "    shm_size: 8gb\n"},
        ],
    }  # fmt: skip
    assert found["summary"] == {
        "files": 1, "launches": 1, "gpu_launches": 1, "error": 1, "warning": 0, "note": 0, "fixable": 1, "fixed": 0,
        "not_read": 0, "suppressed": 0, "baseline": 0, "unknown": 0, "gpu_unknown": 0, "not_judged": 0,
    }  # fmt: skip


def test_one_launch_in_full(tmp_path: Path) -> None:
    assert json.loads(inventory(run(tmp_path, TRAINER)))["launches"] == [
        {
            "kind": "compose-service", "name": "trainer", "path": "compose.yaml", "line": 2, "files": ["compose.yaml"],
            "image": "nvcr.io/nvidia/pytorch:24.01-py3",
            "command": ["torchrun", "--nproc_per_node=8", "train.py"],
            "gpu": {"requested": True, "vendor": "nvidia", "count": "all",
                    "evidence": ["deploy.resources.reservations.devices[0]"]},
            "shm": {"declared": None, "declared_bytes": None, "ipc": None, "decided_by": "default",
                    "effective_bytes": 67108864},
            "workload": "NVIDIA NGC framework containers",
            "need": {"verdict": "needed", "minimum_bytes": None, "recommended_bytes": 8589934592,
                     "mechanisms": [{
                         "id": "nccl", "bytes": 562818048, "basis": "estimated", "because": "8 ranks",
                         "evidence": [{"text": "8 ranks, NCCL between them", "path": "compose.yaml",
                                       "line": 11, "source": NCCL_SOURCE}],
                         "source": NCCL_SOURCE,
                     }]},
            "unknown": None,
        }
    ]  # fmt: skip


def test_the_inventory_is_summed_up_for_each_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "a/.git/HEAD": "", "a/compose.yaml": MANY, "b/c/.git/HEAD": "", "b/c/x/compose.yaml": TRAINER,
        "compose.yaml": "services:\n  x:\n    image: redis\n",
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    write(tmp_path, files)
    started = lint({"compose": [name for name in files if name.endswith("yaml")]}, Settings())
    found = json.loads(inventory(started))
    assert found["summary"] == {
        "launches": 12, "with_gpu": 9, "without_gpu": 3, "gpu_unknown": 0,
        "lacking": 4, "sized": 3, "not_needed": 1, "unknown": 1,
    }  # fmt: skip
    assert [place.pop("path") for place in found["repositories"]] == [".", "a", "b/c"]
    assert {key: sum(place[key] for place in found["repositories"]) for key in found["summary"]} == found["summary"]
    assert list(summary(started)) == [
        ".: 1 launch: 0 with a GPU, 1 without",
        "a: 10 launches: 8 with a GPU (3 lacking, 3 sized, 1 needs none, 1 unknown), 2 without",
        "b/c: 1 launch: 1 with a GPU (1 lacking)",
        "12 launches: 9 with a GPU (4 lacking, 3 sized, 1 needs none, 1 unknown), 3 without",
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_edits_give_what_fix_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, mark: str) -> None:
    text = mark + "# 訓練 🚀\n".replace("\n", ending) + MANY.replace("\n", ending)
    started = run(tmp_path, text)
    found = json.loads(render(started, started.findings))["findings"]
    fixes = [f["fix"] for f in found if f["fix"] and f["fix"]["safe"]]
    edits = {json.dumps(edit): edit for offered in fixes for edit in offered["edits"]}
    monkeypatch.chdir(tmp_path)
    wanted = fix.fix(run(tmp_path, text)).texts["compose.yaml"]
    assert apply(text, list(edits.values())) == wanted


def apply(text: str, edits: list[dict[str, Any]]) -> str:
    """Edits on a text as a stranger would apply them who has read the contract and no more."""
    body = text.removeprefix("\ufeff")
    starts = [0]
    for i, c in enumerate(body):
        if c == "\n":
            starts.append(i + 1)

    def offset(position: dict[str, int]) -> int:
        return starts[position["line"] - 1] + position["column"] - 1

    for edit in sorted(edits, key=lambda e: offset(e["start"]), reverse=True):
        body = body[: offset(edit["start"])] + edit["text"] + body[offset(edit["end"]) :]
    return text[: len(text) - len(text.removeprefix("\ufeff"))] + body


def test_ends_are_exclusive_and_columns_count_characters(tmp_path: Path) -> None:
    text = 'services: {"訓🚀": {image: nvcr.io/nvidia/nemo, gpus: all}}\n'
    finding = data(tmp_path, text)["findings"][0]
    line = text.splitlines()[finding["start"]["line"] - 1]
    assert line[finding["start"]["column"] - 1 : finding["end"]["column"] - 1] == '"訓🚀"'


def test_any_name_gives_valid_json(tmp_path: Path) -> None:
    text = 'services:\n  "a\\"\\u0007\\u202e\\\\":\n    image: nvcr.io/nvidia/nemo\n    gpus: all\n'
    refused, found = data(tmp_path, text)["findings"]
    assert refused["launch"] is None and found["launch"]["name"] == 'a"\x07\u202e\\'


def test_a_service_in_two_combinations_is_listed_twice_and_counted_once(tmp_path: Path) -> None:
    base = "services:\n  x:\n    image: nvcr.io/nvidia/nemo\n    gpus: all\n"
    files = {
        "docker-compose.a.yml": base,
        "docker-compose.b.yml": base,
        "docker-compose.over.yml": "services:\n  x:\n    environment: {A: b}\n",
    }
    started = run(tmp_path, files)
    launches = json.loads(inventory(started))["launches"]
    assert ["docker-compose.a.yml", "docker-compose.over.yml"] in [launch["files"] for launch in launches]
    assert data(tmp_path, files)["summary"]["launches"] == 2


def test_control_characters_are_escaped_and_come_back() -> None:
    body = {"a": "\x1b[31m\x7f\x9b\u2028\U000e0001\ud800 \u00e9\u732b\U0001f600\n"}
    shown = dumps(body)
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert json.loads(shown) == body
    assert "\u00e9\u732b\U0001f600" in shown


def test_what_is_suppressed_is_counted(tmp_path: Path) -> None:
    text = TRAINER.replace("trainer:", "trainer:  # shmlint: ignore[SHM101] a smoke test")
    summary = data(tmp_path, text)["summary"]
    assert (summary["suppressed"], summary["baseline"], summary["error"]) == (1, 0, 0)
