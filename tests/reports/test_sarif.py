"""SARIF: valid by the OASIS schema, and what code scanning makes use of."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from shmlint.files.installed import directory
from shmlint.fixing import fix
from shmlint.model import project
from shmlint.reports.sarif import render
from shmlint.run import Run
from shmlint.suppression.fingerprint import fingerprints
from tests.project import run
from tests.reports.hostile import NAMES, Change, apply, hostile, parsed
from tests.reports.test_text import CASES, MANY, TRAINER
from tests.table import table

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def log(started: Run) -> Any:
    found = parsed(render(started, started.findings))
    VALIDATOR.validate(found)
    assert len(found["runs"]) == 1
    return found["runs"][0]


@table("files", [files for files, _ in CASES.values()], ids=CASES)
def test_valid(tmp_path: Path, files: Mapping[str, str] | str) -> None:
    started = run(tmp_path, files)
    shown = log(started)
    assert len(shown["results"]) == len(started.findings)
    for result, finding in zip(shown["results"], started.findings, strict=True):
        rule = shown["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"] == finding.rule and result["level"] == finding.severity
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region == {
            "startLine": finding.span.begin.line, "startColumn": finding.span.begin.column,
            "endLine": finding.span.finish.line, "endColumn": finding.span.finish.column,
        }  # fmt: skip


def test_the_validator_refuses_what_is_wrong(tmp_path: Path) -> None:
    found = json.loads(render(run(tmp_path, TRAINER), []))
    found["runs"][0]["tool"]["driver"]["name"] = 1
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(found)


@pytest.mark.report_readers
def test_a_validator_that_others_wrote_accepts_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Microsoft's validator, with the rules of code scanning: the npm package @microsoft/sarif-multitool."""
    monkeypatch.setenv("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")  # it needs no libicu
    monkeypatch.setattr(project, "ADDRESS", "https://example.org/shmlint")
    started = run(tmp_path, {"compose.yaml": MANY, "b/compose.yaml": TRAINER, "run.sh": "docker run --gpus all x y\n"})
    good = render(started, started.findings)
    wrong = good.replace('"startLine": ', '"startLine": -', 1)
    assert wrong != good

    def told(text: str) -> list[str]:
        report, result = tmp_path / "r.sarif", tmp_path / "result.sarif"
        report.write_text(text, encoding="utf-8")
        command = ["sarif-multitool", "validate", str(report), "--output", str(result), "--log", "ForceOverwrite"]
        subprocess.run([*command, "--rule-kind", "'Sarif;Ghas'"], capture_output=True, timeout=100, check=False)
        found = json.loads(result.read_text(encoding="utf-8-sig"))
        return [f"{r['ruleId']} {r['message']}" for r in found["runs"][0].get("results", ())]

    assert told(good) == [] and told(wrong) != []


def test_rules_carry_their_pages(tmp_path: Path) -> None:
    rules = log(run(tmp_path, MANY))["tool"]["driver"]["rules"]
    assert len(rules) >= 5 and [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})
    for rule in rules:
        (page,) = Path(directory()).glob(f"{rule['id']}-*.md")
        body = page.read_text(encoding="utf-8").partition("\n---\n")[2].strip()
        heading = body.splitlines()[0]
        assert rule["help"]["markdown"].startswith(f"{heading}\n")
        assert rule["help"]["text"].startswith(f"{heading.removeprefix('# ')}\n")
        links = [found[1] for found in re.finditer(r"\]\(([^)]+)\)", rule["help"]["markdown"])]
        assert all("://" in link for link in links), "nothing relative"
        assert "```" not in rule["help"]["text"] and "](" not in rule["help"]["text"]
        assert "helpUri" not in rule
        assert rule["shortDescription"]["text"].endswith(".")


def test_links_lead_to_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it has no address, nothing links to one."""
    started = run(tmp_path, MANY)
    assert "informationUri" not in log(started)["tool"]["driver"]
    monkeypatch.setattr(project, "ADDRESS", "https://example.org/shmlint")
    driver = log(started)["tool"]["driver"]
    assert driver["informationUri"] == "https://example.org/shmlint"
    assert driver["rules"][0]["helpUri"].startswith("https://example.org/shmlint/blob/main/rules/SHM")


def test_the_way_through_files(tmp_path: Path) -> None:
    """What decides in another file is a step of the way there; how sure a finding is ranks it."""
    script = "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader([], num_workers=8)\n"
    text = TRAINER.replace("torchrun --nproc_per_node=8 train.py", "python train.py")
    for files, paths in (({"compose.yaml": TRAINER}, None), ({"compose.yaml": text, "train.py": script}, {"train.py"})):
        result = log(run(tmp_path, files))["results"][0]
        steps = [
            step["location"]["physicalLocation"]["artifactLocation"]["uri"]
            for flow in result.get("codeFlows", ()) for thread in flow["threadFlows"] for step in thread["locations"]
        ]  # fmt: skip
        assert (set(steps) == {"compose.yaml", *paths}) if paths else not steps
    ranks = {(result["level"], result["rank"]) for result in log(run(tmp_path, MANY))["results"]}
    assert {("error", 90.0), ("warning", 60.0)} <= ranks and min(rank for _, rank in ranks) <= 30


def test_fingerprints_are_unique(tmp_path: Path) -> None:
    findings = run(tmp_path, MANY).findings
    twice = [*findings, *findings]
    assert len(set(fingerprints(twice))) == len(twice)
    results = log(run(tmp_path, MANY))["results"]
    assert [r["partialFingerprints"]["shmlint/v1"] for r in results] == fingerprints(findings)


def test_fingerprints_stay_when_lines_move(tmp_path: Path) -> None:
    before = fingerprints(run(tmp_path, MANY).findings)
    assert fingerprints(run(tmp_path, "# a\n\n" + MANY.replace("  llm:", "\n  # b\n  llm:")).findings) == before
    assert fingerprints(run(tmp_path, MANY.replace("\n", "\r\n")).findings) == before
    other = fingerprints(run(tmp_path, MANY.replace("  llm:", "  chat-model:")).findings)
    assert len(set(before) - set(other)) == 1, "another service is another finding, and the rest stay"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_replacements_give_what_fix_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, mark: str
) -> None:
    wide = '  "訓🚀": {image: nvcr.io/nvidia/nemo, gpus: all}\n  float:'
    text = mark + f"# 訓練 🚀\n{MANY}".replace("  float:", wide).replace("\n", ending)
    started = run(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    wanted = fix.fix(started).texts["compose.yaml"]
    mine = apply(text.removeprefix("\ufeff").encode(), replacements(log(started)), points)
    assert mine.decode() == wanted.removeprefix("\ufeff"), "a byte order mark takes no column"


def replacements(shown: Any) -> list[Change]:
    return [
        Change((region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"]),
               replacement["insertedContent"]["text"])
        for result in shown["results"] for one in result.get("fixes", ())
        for change in one["artifactChanges"] for replacement in change["replacements"]
        for region in [replacement["deletedRegion"]]
    ]  # fmt: skip


def points(line: bytes, column: int) -> int:
    """``columnKind`` says code points."""
    return len(line.decode()[: column - 1].encode())


def test_a_fix_in_another_file(tmp_path: Path) -> None:
    base = "services:\n  base:\n    image: nvcr.io/nvidia/nemo\n    shm_size: 64mb\n"
    text = "services:\n  x:\n    extends: {file: base.yml, service: base}\n    gpus: all\n"
    result = log(run(tmp_path, {"compose.yaml": text, "base.yml": base}))["results"][0]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] in ("base.yml", "compose.yaml")
    uris = {place["physicalLocation"]["artifactLocation"]["uri"] for place in result["relatedLocations"]}
    assert "base.yml" in uris


@pytest.mark.parametrize(("path", "uri"), [
    ("a/compose.yaml", "a/compose.yaml"), ("a b/c#d?.yaml", "a%20b/c%23d%3F.yaml"), ("100%.yaml", "100%25.yaml"),
    ("a:b.yaml", "a%3Ab.yaml"), ("訓.yaml", "%E8%A8%93.yaml"), ("../x.yaml", "../x.yaml"), ("a\\b.yaml", "a%5Cb.yaml"),
])  # fmt: skip
def test_uris_are_relative(tmp_path: Path, path: str, uri: str) -> None:
    started = run(tmp_path, TRAINER)
    started = started._replace(findings=[hostile(started.findings[0], path)])
    shown = log(started)
    place = shown["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": uri, "uriBaseId": "%SRCROOT%"} and unquote(uri) == path
    assert set(shown["originalUriBaseIds"]) == {"%SRCROOT%"}


def test_absolute_paths_have_no_base(tmp_path: Path) -> None:
    started = run(tmp_path, TRAINER)
    path = (tmp_path / "a b.yaml").as_posix()
    started = started._replace(findings=[hostile(started.findings[0], path)])
    place = log(started)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"].startswith("file:///") and place["uri"].endswith("/a%20b.yaml") and "uriBaseId" not in place


@table("name", NAMES)
def test_any_name_is_valid(tmp_path: Path, name: str) -> None:
    started = run(tmp_path, TRAINER)
    started = started._replace(findings=[hostile(started.findings[0], name)])
    text = log(started)["results"][0]["message"]["text"]
    assert "](" not in text.replace("\\](", ""), "no link of SARIF's own"
