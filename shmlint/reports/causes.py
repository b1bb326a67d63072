"""Findings that are told together: those of one cause, with all their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.fixing.plan import planned
from shmlint.model.finding import Evidence, Finding
from shmlint.reports import escape

Place = tuple[Finding, ...]
"""What is found in one place: one finding, or several of a launch that have the same reasons and kind of remedy."""


def causes(findings: Sequence[Finding]) -> list[list[Place]]:
    """The places of each cause, whichever file they are in; those that are fixed safely first."""
    groups: dict[object, list[Place]] = {}
    for place in _places(findings):
        finding = place[0]
        cause = (finding.rule, finding.severity, *map(_remedy, place), finding.why, _elsewhere(finding))
        groups.setdefault(cause if finding.why else id(finding), []).append(place)
    return [sorted(group, key=lambda place: _is_unsafe(place[0])) for group in groups.values()]


def _places(findings: Sequence[Finding]) -> list[Place]:
    places: dict[object, Place] = {}
    for finding in findings:
        key: object = id(finding)
        if finding.why and finding.subject and finding.launch is not None:  # a rule finds several of them in a launch
            launch, fix = finding.launch, finding.fix
            remedy = (type(fix.intention), fix.safe, planned(finding) is None) if fix is not None else finding.advice
            key = (finding.rule, finding.severity, finding.why, remedy, finding.combination, launch.span, launch.words)
        places[key] = (*places.get(key, ()), finding)
    return list(places.values())


def _remedy(finding: Finding) -> object:
    fix = finding.fix
    return finding.subject, fix.intention if fix is not None and planned(finding) is not None else finding.advice


def _elsewhere(finding: Finding) -> tuple[Evidence, ...]:
    """What other files than the finding's own show of it."""
    own = {finding.span.path, finding.launch.span.path if finding.launch is not None else finding.span.path}
    return tuple(e for e in finding.evidence if e.span is not None and e.span.path not in own)


def _is_unsafe(finding: Finding) -> bool:
    return finding.fix is not None and not finding.fix.safe


def alike(findings: Sequence[Finding]) -> list[list[Place]]:
    """Findings that say the same of whatever launch, together."""
    groups: dict[object, list[Place]] = {}
    for finding in findings:
        key = (finding.rule, finding.severity, finding.facts, finding.why)
        groups.setdefault(key, []).append((finding,))
    return list(groups.values())


def others(group: Sequence[Place]) -> Iterator[str]:
    """All places of a cause but the first; those of one file that say the same are together.

    What several launches share, as by an alias of YAML, is one place.
    """
    shown, places = group[0], dict[tuple[str, str], dict[str, None]]()
    told = {finding.span for finding in shown}
    for other in group[1:]:
        positions = places.setdefault((other[0].span.path, _differing(other[0], shown[0])), {})
        positions.update({position(finding): None for finding in other if finding.span not in told})
    for (path, text), positions in places.items():
        if positions:
            yield f"{escape(path)}:{', '.join(positions)}{f': {text}' if text else ''}"
        elif text:
            yield text


def _differing(finding: Finding, shown: Finding) -> str:
    """What one of several findings says that the first one does not: the launch, the files, or all of it."""
    text = finding.message
    same = (finding.subject, finding.facts) == (shown.subject, shown.facts)
    if same and finding.combination == shown.combination:
        text = "" if finding.about == shown.about or finding.launch is None else finding.launch.words.launch
    elif finding.combination is not None and same and finding.about == shown.about:
        text = finding.combination.text
    if _is_unsafe(finding) and not _is_unsafe(shown):
        text += f"{', ' if text else ''}with --unsafe-fixes"
    return text


def position(finding: Finding) -> str:
    """The line and the column of a finding."""
    begin = finding.span.begin
    return f"{begin.line}:{begin.column}"
