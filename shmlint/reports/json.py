"""Findings and inventory as JSON, in the shapes other programs rely on (``version`` 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from shmlint.fixing.plan import advice, planned
from shmlint.model.finding import Evidence, Finding, Reason
from shmlint.model.launch import Change, Launch
from shmlint.model.need import Mechanism
from shmlint.model.reading import NotRead
from shmlint.model.source import Edit, Position, Source
from shmlint.reports import VERSION, dumps, summary
from shmlint.rules import all_rules
from shmlint.run import Run

if TYPE_CHECKING:
    from shmlint.fixing.fix import Fixed

NOTHING_PROVED: Mapping[int, Change] = MappingProxyType({})


def render(
    run: Run, findings: Sequence[Finding], *, fixed: int = 0, changes: Sequence[Fixed] = (),
    proved: Mapping[int, Change] = NOTHING_PROVED,
) -> str:  # fmt: skip
    """``--format json``. ``changes`` are what ``--fix`` changed, ``proved`` what it would, by the finding's ``id``."""
    body = {
        "version": VERSION,
        "findings": [_finding(run, finding, proved.get(id(finding))) for finding in findings],
        "fixed": [_fixed(change) for change in changes],
        "not_read": [_not_read(place) for place in run.not_read],
        "dead_baseline": [{"path": entry.path, "rule": entry.rule} for entry in run.dead_baseline],
        "summary": {**summary(run, list(findings), fixed), **_unreported(run)},
    }
    return dumps(body)


def _fixed(change: Fixed) -> dict[str, Any]:
    return {
        "path": change.path,
        "line": change.line,
        "rule": change.rule,
        "title": change.title,
        "before": change.before,
        "after": change.after,
        "proved": True,  # else nothing is changed
    }


def _unreported(run: Run) -> dict[str, int]:
    """Counts of what no finding speaks of: places that were not read, findings that a comment suppresses or
    the baseline accepts, GPU launches of unknown need."""
    gpu = {launch.span: launch for launch in run.launches if launch.gpu.requested}
    unknown = sum(run.need(launch).verdict == "unknown" for launch in gpu.values())
    return {
        "not_read": len(run.not_read),
        "suppressed": len(run.suppressed),
        "baseline": len(run.accepted),
        "unknown": unknown,
    }


def _not_read(place: NotRead) -> dict[str, Any]:
    return {"path": place.span.path, "line": place.span.line, "because": place.because, "kind": place.kind}


def inventory(run: Run) -> str:
    """``shmlint inventory --format json``."""
    from shmlint.reports.inventory import repositories, totals

    body = {
        "version": VERSION,
        "launches": [_launch(run, launch) for launch in run.launches],
        "not_read": [_not_read(place) for place in run.not_read],
        "summary": totals(run, run.launches)._asdict(),
        "repositories": [{"path": path, **counts._asdict()} for path, counts in repositories(run).items()],
    }
    return dumps(body)


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}


def _finding(run: Run, finding: Finding, proved: Change | None) -> dict[str, Any]:
    rule = all_rules()[finding.rule][0]
    return {
        "rule": finding.rule,
        "name": rule.name,
        "severity": finding.severity,
        "path": finding.span.path,
        "start": _position(finding.span.begin),
        "end": _position(finding.span.finish),
        "message": finding.message,
        "launch": _reference(finding.launch),
        "evidence": [_evidence(e) for e in finding.evidence],
        "why": [_reason(reason) for reason in finding.why],
        "needs": finding.needs or None,
        "source": finding.source or None,
        "fix": _fix(run, finding, proved),
        "advice": advice(finding) or None,
        "help": rule.address,
    }


def _reference(launch: Launch | None) -> dict[str, Any] | None:
    if launch is None:
        return None
    return {"kind": launch.kind, "name": launch.name, "path": launch.span.path, "line": launch.span.line}


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "label": reason.label or None,
        "text": reason.text,
        "basis": reason.basis,
        "source": reason.source or None,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "text": evidence.text,
        "path": evidence.span.path if evidence.span else None,
        "line": evidence.span.line if evidence.span else None,
        "source": evidence.source or None,
    }


def _fix(run: Run, finding: Finding, proved: Change | None) -> dict[str, Any] | None:
    change = proved or planned(finding)
    if finding.fix is None or change is None:
        return None
    return {
        "title": change.title,
        "safe": finding.fix.safe,
        "proved": proved is not None,
        "edits": [_edit(edit, run.workspace.source(edit.path)) for edit in change.edits],
    }


def _edit(edit: Edit, source: Source) -> dict[str, Any]:
    return {
        "path": edit.path,
        "start": _position(source.position(edit.start)),
        "end": _position(source.position(edit.end)),
        "text": edit.text,
    }


def _launch(run: Run, launch: Launch) -> dict[str, Any]:
    effective = run.effective(launch)
    hidden = launch.shm is not None and launch.shm.private
    size = launch.shm.known if launch.shm else None
    need = run.need(launch)
    command = launch.command.known if launch.command else None
    unknown = launch.undecided or launch.gpu.unknown
    if launch.command is not None and launch.command.private:
        command = tuple(launch.command.text.split())  # as it is written: what an env file says is not printed
    return {
        **(_reference(launch) or {}),
        "files": list(launch.files),
        "image": (launch.image.shown or None) if launch.image else None,
        "command": list(command) if command is not None else None,
        "gpu": {
            "requested": launch.gpu.requested,
            "vendor": launch.gpu.vendor,
            "count": launch.gpu.number,
            "evidence": [e.path for e in launch.gpu.evidence],
        },
        "shm": {
            "declared": launch.shm.text if launch.shm else None,
            "declared_bytes": size.bytes if size is not None and size.bytes and not hidden else None,
            "ipc": launch.ipc.shown if launch.ipc else None,
            "decided_by": effective.decided_by,
            "effective_bytes": effective.shown,
        },
        "workload": need.workload.name if need.workload else None,
        "need": {
            "verdict": need.verdict,
            "minimum_bytes": need.minimum,
            "recommended_bytes": need.recommended,
            "mechanisms": [_mechanism(mechanism) for mechanism in need.mechanisms],
        },
        "unknown": unknown.because if unknown is not None else effective.because or None,
    }


def _mechanism(mechanism: Mechanism) -> dict[str, Any]:
    return {
        "id": mechanism.id,
        "bytes": mechanism.bytes,
        "basis": mechanism.basis,
        "because": mechanism.because,
        "evidence": [_evidence(evidence) for evidence in mechanism.evidence],
        "source": mechanism.source or None,
    }
