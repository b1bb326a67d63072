"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from shmlint.files import installed as rules
from shmlint.fixing.plan import planned
from shmlint.model import project
from shmlint.model.finding import Evidence, Finding
from shmlint.model.launch import Change
from shmlint.model.source import Edit, Span
from shmlint.reports import dumps
from shmlint.rules import all_rules
from shmlint.run import Run
from shmlint.suppression.fingerprint import fingerprints
from shmlint.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format sarif``."""
    ids = sorted({finding.rule for finding in findings})
    numbers = {rule: number for number, rule in enumerate(ids)}
    prints = fingerprints(findings)
    body = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "shmlint",
                        "version": __version__,
                        **({"informationUri": project.ADDRESS} if project.ADDRESS else {}),
                        "rules": [_rule(rule) for rule in ids],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The directory the run started in"}}},
                "results": [
                    _result(run, finding, numbers[finding.rule], fingerprint)
                    for finding, fingerprint in zip(findings, prints, strict=True)
                ],
            }
        ],
    }
    return dumps(body)


def _rule(rule_id: str) -> dict[str, Any]:
    rule = all_rules()[rule_id][0]
    page = rules.page(rule)
    about = rules.front_matter(page)
    text = page.partition("\n---\n")[2].strip()
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": about.get("summary", rule.name)},
        "fullDescription": {"text": about.get("summary", rule.name)},
        "help": {"text": text, "markdown": text},
        **({"helpUri": rule.address} if rule.address else {}),
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(run: Run, finding: Finding, number: int, fingerprint: str) -> dict[str, Any]:
    text = finding.message + (f"\nNeeds {finding.needs}" if finding.needs else "")
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": finding.severity,
        "message": {"text": _plain(text)},
        "locations": [{"physicalLocation": _location(finding.span)}],
        "partialFingerprints": {"shmlint/v1": fingerprint},
    }
    related = [_related(i, e) for i, e in enumerate(finding.evidence, 1) if e.span is not None]
    if related:
        result["relatedLocations"] = related
    change = planned(finding)
    if finding.fix is not None and finding.fix.safe and change is not None:
        result["fixes"] = [_fix(run, change)]
    return result


def _plain(text: str) -> str:
    """A text in which no reader finds a link of SARIF's own: ``[text](target)``."""
    return text.replace("](", "\\](")


def _uri(path: str) -> dict[str, str]:
    try:
        uri = quote(os.fsencode(path))  # a path may be no text
    except UnicodeEncodeError:  # nor bytes: a name that a file gives
        uri = quote(path.encode("utf-8", "surrogatepass"))
    if os.path.isabs(path):
        return {"uri": "file://" + uri if uri.startswith("/") else "file:///" + uri}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _location(span: Span) -> dict[str, Any]:
    begin, finish = span.begin, span.finish
    region = {
        "startLine": begin.line,
        "startColumn": begin.column,
        "endLine": finish.line,
        "endColumn": finish.column,
    }
    return {"artifactLocation": _uri(span.path), "region": region}


def _related(number: int, evidence: Evidence) -> dict[str, Any]:
    assert evidence.span is not None
    return {"id": number, "message": {"text": _plain(evidence.text)}, "physicalLocation": _location(evidence.span)}


def _fix(run: Run, change: Change) -> dict[str, Any]:
    by_path: dict[str, list[Edit]] = {}
    for edit in change.edits:
        by_path.setdefault(edit.path, []).append(edit)
    changed = []
    for path, edits in by_path.items():
        source = run.workspace.source(path)
        replacements = [
            {
                "deletedRegion": _location(Span(source, edit.start, edit.end))["region"],
                "insertedContent": {"text": edit.text},
            }
            for edit in edits
        ]
        changed.append({"artifactLocation": _uri(path), "replacements": replacements})
    return {"description": {"text": change.title}, "artifactChanges": changed}
