"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import os
import re
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
from shmlint.reports.details import details
from shmlint.rules import all_rules
from shmlint.run import Run
from shmlint.suppression.fingerprint import fingerprints
from shmlint.version import __version__

_RANK = {"error": 90.0, "warning": 60.0, "note": 30.0}
_UNKNOWN_RANK = 10.0
"""Of a finding about a launch of which nothing is known."""
_PRECISION = {"error": "high", "warning": "medium", "note": "low"}

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
        "help": {"text": _without_marks(text), "markdown": _linked(text)},
        **({"helpUri": rule.address} if rule.address else {}),
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"precision": _PRECISION[rule.severity]},
    }


def _result(run: Run, finding: Finding, number: int, fingerprint: str) -> dict[str, Any]:
    text = "\n".join((finding.message, *details(finding)))
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": finding.severity,
        "message": {"text": _plain(text)},
        "locations": [{"physicalLocation": _location(finding.span)}],
        "rank": _UNKNOWN_RANK if finding.unknown_workload else _RANK[finding.severity],
        "partialFingerprints": {"shmlint/v1": fingerprint},
    }
    related = [_related(i, e) for i, e in enumerate(finding.evidence, 1) if e.span is not None]
    if related:
        result["relatedLocations"] = related
    if flow := _flow(run, finding):
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    change = planned(finding)
    if finding.fix is not None and finding.fix.safe and change is not None:
        result["fixes"] = [_fix(run, change)]
    return result


def _flow(run: Run, finding: Finding) -> list[dict[str, Any]]:
    """The way from the launch through other files to what decides; nothing if everything is in one file."""
    trail = run.need(finding.launch).trail if finding.launch is not None and finding.why else ()
    steps = [("", finding.span), *((s.text, s.span) for s in trail), *((e.text, e.span) for e in finding.evidence)]
    places = [(text or finding.message, span) for text, span in steps if span is not None]
    if len({span.path for _, span in places}) < 2:
        return []
    return [
        {"location": {"message": {"text": _plain(text)}, "physicalLocation": _location(span)}} for text, span in places
    ]


_LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")


def _linked(page: str) -> str:
    """A page whose links lead somewhere from everywhere: relative ones become absolute, or plain text."""

    def absolute(found: re.Match[str]) -> str:
        if "://" in found[2]:
            return found[0]
        address = project.page(os.path.normpath(os.path.join("rules", found[2])))
        return f"[{found[1]}]({address})" if address else found[1]

    return _LINK.sub(absolute, page)


def _without_marks(page: str) -> str:
    """A page as plain text."""
    page = _LINK.sub(lambda found: f"{found[1]} ({found[2]})" if "://" in found[2] else found[1], page)
    lines = (line for line in page.split("\n") if not line.startswith("```"))
    return re.sub(r"^#+ |\*\*|`", "", "\n".join(lines), flags=re.MULTILINE)


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
