"""What suppression comments take out of a report, and which of them suppress nothing.

A finding is suppressed by a comment that speaks of its line or of the line its launch starts in.
How comments are written, and of which lines they speak, is the formats' matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from shmlint.config.rules import nearest_rule
from shmlint.files.workspace import Workspace
from shmlint.formats import REFERRED, kind_by_path, suppressions
from shmlint.model.finding import EditComment, Finding, Fix
from shmlint.model.launch import Change, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.rule import Rule
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Edit, Span
from shmlint.model.suppression import Suppression
from shmlint.rules import all_rules, meant, selected
from shmlint.rules.shm002_unused_suppression import RULE
from shmlint.suppression.per_file import Ignored

_MANY_LINES = 100
"""A comment that speaks of more lines than this is looked at for every finding of its file."""


class Suppressed(NamedTuple):
    """The findings that remain, among them those about unused comments, and those that are suppressed."""

    findings: list[Finding]
    suppressed: list[Finding]


def find(
    paths: Iterable[str], files: Mapping[str, Sequence[str]], launches: Iterable[Launch], workspace: Workspace
) -> list[Suppression]:
    """The suppression comments of some files that can be read; ``files`` are those of the run, by kind."""
    kinds = kind_by_path(files)
    started: dict[str, list[Launch]] = {path: [] for path in paths}
    for launch in launches:
        if launch.span.path in started:
            started[launch.span.path].append(launch)
    return [
        comment
        for path, some in started.items()
        for comment in suppressions(kinds.get(path, REFERRED), workspace.source(path), workspace, some)
    ]


def suppress(
    findings: Iterable[Finding], comments: Sequence[Suppression], settings: Settings, complete: Collection[str]
) -> Suppressed:
    """Take out what comments suppress, and report the comments that suppress nothing.

    Only in ``complete`` files can a comment be called unused: all that is in them was read.
    """
    places = _places(comments)
    used: dict[int, set[int]] = {}
    rules = {rule.id: rule for rule, _ in all_rules().values()}
    left: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        # Every comment is looked at, so that of two that say the same neither is called unused.
        hits = {i: _hits(comments[i], finding, rules[finding.rule]) for i in _near(finding, places)}
        for i, names in hits.items():
            used.setdefault(i, set()).update(names)
        (suppressed if any(hits.values()) else left).append(finding)
    ignored = Ignored(settings)
    for i, comment in enumerate(comments):
        path = comment.span.path
        if comment.certain and path in complete and selected(RULE, settings.of(path)) and not ignored(path, RULE):
            left += _unused(comment, used.get(i, set()), settings.of(path), ignored)
    return Suppressed(left, suppressed)


def _hits(comment: Suppression, finding: Finding, rule: Rule) -> set[int]:
    """The numbers of the names by which a comment suppresses a finding; 0 where it names none."""
    if not _covers(comment, finding):
        return set()
    if comment.names is None:
        return {0}
    return {i for i, name in enumerate(comment.names) if meant(rule, name.text)}


def _covers(comment: Suppression, finding: Finding) -> bool:
    """Whether a comment speaks of a place of the finding."""
    path = comment.span.path
    if comment.whole_file:  # one that a text only shows is written for another file
        return comment.certain and any(span.path == path for span in _spans(finding, evidence=False))
    spans = _spans(finding, evidence=comment.names is not None)
    return any(span.path == path and comment.first <= span.line <= comment.last for span in spans)


def _spans(finding: Finding, *, evidence: bool) -> list[Span]:
    """Where a comment about a finding may be; one that names its rules also at its ``evidence``."""
    launch = finding.launch
    spans = [finding.span] if launch is None else [finding.span, launch.span, *launch.also_at]
    return [*spans, *(e.span for e in finding.evidence if e.span is not None)] if evidence else spans


_Places = dict[tuple[str, int], list[int]]
"""The numbers of comments by path and line; under line 0 those that speak of many lines."""


def _places(comments: Iterable[Suppression]) -> _Places:
    places: _Places = {}
    for i, comment in enumerate(comments):
        many = comment.whole_file or comment.last - comment.first > _MANY_LINES
        for line in [0] if many else range(comment.first, comment.last + 1):
            places.setdefault((comment.span.path, line), []).append(i)
    return places


def _near(finding: Finding, places: _Places) -> set[int]:
    """The numbers of the comments that may speak of a finding."""
    spans = _spans(finding, evidence=True)
    return {i for span in spans for line in (0, span.line) for i in places.get((span.path, line), ())}


# Comments that suppress nothing -------------------------------------------------------------------


def _unused(comment: Suppression, used: Collection[int], settings: Settings, ignored: Ignored) -> Iterator[Finding]:
    """The finding about a comment of which not all is used."""
    rules = [rule for rule, _ in all_rules().values()]
    if comment.names is None:
        if not used and not settings.select:
            yield _finding(comment, "there is no finding here", [])
        return
    reasons = []
    useful = []
    for i, name in enumerate(comment.names):
        these = [rule for rule in rules if meant(rule, name.text)]
        if not these:
            close = nearest_rule(name.text)
            reasons.append(f"unknown rule `{name.text}`" + (f" (did you mean `{close}`?)" if close else ""))
        elif i not in used and all(
            rule is not RULE and selected(rule, settings) and not ignored(comment.span.path, rule) for rule in these
        ):
            reasons.append(f"{name.text} has no finding here")
        else:
            useful.append(name.text)
    if reasons or not comment.names:
        yield _finding(comment, "; ".join(reasons) or "it names no rule", useful)


def _finding(comment: Suppression, reason: str, useful: Sequence[str]) -> Finding:
    span = comment.span
    if useful and comment.names:
        edit = Edit(span.path, comment.names[0].start, comment.names[-1].end, ", ".join(useful))
        title = f"keep {', '.join(useful)} in the comment in line {span.line}"
    else:
        edit = _removal(comment)
        title = f"remove the comment in line {span.line}"
    change = Change((edit,), title)
    return Finding(RULE.id, RULE.severity, span, f"unused suppression: {reason}", fix=Fix(EditComment(change)))


def _removal(comment: Suppression) -> Edit:
    """Removes the comment, with its line if nothing else is on it."""
    source, text = comment.span.source, comment.span.source.text
    line = comment.span.line
    start, end = source.line_span(line)
    if start == 0 and text.startswith(BOM):
        start = len(BOM)
    if comment.own_line:
        next_line = source.line_starts[line] if line < len(source.line_starts) else end
        return Edit(source.path, start, next_line, "")
    after = text[comment.span.end : end]
    if after.strip():
        return Edit(source.path, comment.span.start, comment.span.end + len(after) - len(after.lstrip()), "")
    return Edit(source.path, start + len(text[start : comment.span.start].rstrip()), end, "")
