"""Findings for a person: where, what is wrong, the places that show it, why, and what to type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.docker.sizes import human
from shmlint.fixing.plan import advice, planned
from shmlint.model.finding import Basis, Finding, Reason, cut
from shmlint.model.launch import Launch
from shmlint.model.reading import NotReadKind
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.reports import escape, judged, one, summary
from shmlint.reports.causes import Place, alike, causes, others, position
from shmlint.reports.terminal import WIDTH, Paint, columns, labelled, painter, shortened, usable, wrapped
from shmlint.rules import all_rules
from shmlint.run import Run

if TYPE_CHECKING:
    from shmlint.fixing.fix import Fixed

_INDENT = "  "
_MARGIN = 5
"""Columns of ``why`` and ``fix`` with the spaces after them."""
BASES: dict[Basis, str] = {
    "documented": "documented", "measured": "measured", "computed": "computed", "estimated": "estimated",
    "chosen": "our choice",
}  # fmt: skip


class Style(NamedTuple):
    """How much is reported, and how it looks: ``width`` in columns."""

    colour: bool = False
    width: int = WIDTH
    verbose: bool = False
    quiet: bool = False


PLAIN = Style()


def render(
    run: Run, findings: Sequence[Finding], style: Style = PLAIN, fixed: Sequence[Fixed] = ()
) -> Iterator[str]:
    """The lines of the report, within the style's width but for paths and addresses."""
    paint, width = painter(colour=style.colour), usable(style.width)
    whole = [finding for finding in findings if not finding.unknown_workload]
    for group in causes(whole):
        yield from _cause(group, paint, width)
        yield ""
    brief = [finding for finding in findings if finding.unknown_workload]
    for group in alike(brief):
        yield from _brief(group, paint, width)
    if brief:
        yield from wrapped("`shmlint explain PATH:LINE` shows what was read, and what would settle it", width)
        yield ""
    if fixed:
        for changes in _same_change(fixed):
            yield from _fixed(changes, paint, width)
        yield ""
    unreported = list(_spared(run) if style.verbose else _refused(run))
    for text in unreported:
        yield from _hanging(text, width)
    left = list(_not_read(run, width)) if style.verbose else []
    yield from left
    if unreported or left:
        yield ""
    if not style.quiet:
        yield from _summary(run, findings, fixed, paint, width, listed=style.verbose)


# Findings --------------------------------------------------------------------------------------


def _cause(group: Sequence[Place], paint: Paint, width: int) -> Iterator[str]:
    from shmlint.reports.frame import frames

    first = group[0]
    finding = first[0]
    name = all_rules()[finding.rule][0].name
    level = paint(finding.severity, finding.severity)
    place, title = f"{_place(finding)}:", f"{finding.rule} {name}"
    fits = columns(f"{place} {finding.severity} {title}") <= width
    yield f"{paint(place, 'bold')}{f' {level} {title}' if fits else ''}"
    if not fits:
        yield f"{_INDENT}{level} {title}"
    for line in wrapped(escape(finding.message), width - len(_INDENT)):
        yield _INDENT + paint(line, "bold")
    yield from frames(first, paint, width)
    yield from _block("also", list(others(group)), paint, width)
    yield from _why(finding, paint, width)
    yield from _remedy(first, paint, width, several=len(group) > 1)


def _place(finding: Finding) -> str:
    return f"{escape(finding.span.path)}:{position(finding)}"


def _brief(group: Sequence[Place], paint: Paint, width: int) -> Iterator[str]:
    """Launches of which nothing is known: a line with what stopped the reading, and where the same is so."""
    finding = group[0][0]
    stopped = finding.why[0].text if finding.why else ""
    text = f"{_place(finding)}: {finding.severity} {finding.rule} {finding.message}{f': {stopped}' if stopped else ''}"
    first, *rest = wrapped(escape(text), width - len(_INDENT))
    words = first.split(" ", 2)
    if len(words) == 3 and words[1] == finding.severity:
        first = f"{paint(words[0], 'bold')} {paint(words[1], words[1])} {words[2]}"
    yield first
    yield from (_INDENT + line for line in rest)
    yield from _block("also", list(others(group)), paint, width)


def _why(finding: Finding, paint: Paint, width: int) -> Iterator[str]:
    """Each reason with its basis, and the address that says so where it is another than the line before's."""
    reasons = [*finding.why, *(Reason(e.text, source=e.source) for e in finding.evidence if e.span is None)]
    margin = max((columns(reason.label) for reason in reasons), default=0)
    margin += 2 if margin else 0
    lead, shown = "why", ""
    for reason in reasons:
        basis = f" ({BASES[reason.basis]})" if reason.basis is not None else ""
        lines = labelled(escape(reason.label), escape(reason.text) + basis, width - len(_INDENT) - _MARGIN, margin)
        if reason.source and reason.source != shown:
            lines.append(" " * margin + paint(escape(reason.source), "dim"))
            shown = reason.source
        for line in lines:
            yield f"{_INDENT}{paint(lead, 'dim') if lead else ''}{' ' * (_MARGIN - len(lead))}{line}".rstrip()
            lead = ""


def _remedy(place: Place, paint: Paint, width: int, *, several: bool) -> Iterator[str]:
    finding = place[0]
    changes = [change.title for change in map(planned, place) if change is not None]
    if finding.fix is not None and changes:
        titles = "; ".join(dict.fromkeys(changes))
        others = ", the same for the others" if several else ""
        yield from _block("fix", [f"{titles}{others} · {finding.fix.command}"], paint, width)
    elif said := advice(finding):
        yield from _block("do", [said], paint, width)


def _block(label: str, texts: Sequence[str], paint: Paint, width: int) -> Iterator[str]:
    """Texts after a label, each on lines of its own; of several, what goes on is indented."""
    lead, hang = label, _INDENT if len(texts) > 1 else ""
    for text in texts:
        first, *rest = wrapped(escape(text), width - len(_INDENT) - _MARGIN - len(hang))
        for line in (first, *(hang + line for line in rest)):
            yield f"{_INDENT}{paint(lead, 'good') if lead else ''}{' ' * (_MARGIN - len(lead))}{line}"
            lead = ""


# What was fixed --------------------------------------------------------------------------------


def _same_change(fixed: Sequence[Fixed]) -> list[list[Fixed]]:
    """What was fixed; several findings that one edit settled are together."""
    groups: dict[object, list[Fixed]] = {}
    for change in fixed:
        groups.setdefault((change.path, change.line, change.before, change.after), []).append(change)
    return list(groups.values())


def _fixed(changes: Sequence[Fixed], paint: Paint, width: int) -> Iterator[str]:
    """What was fixed, where, from what to what."""
    change, rules = changes[0], ", ".join(sorted({change.rule for change in changes}))
    place = f"{escape(change.path)}:{change.line}:"
    old, new = _difference(change.before, change.after)
    if change.after.count("\n") > change.before.count("\n") + 1:
        done = f"as planned: {change.title}"  # the text of several lines cannot be read on one
    elif not old:
        done = f"added `{new}`"
    elif not new:
        done = f"removed `{old}`"
    else:
        done = f"`{old}` is now `{new}`"
    guess = ", a size of our choice" if change.finding.unknown_workload else ""
    first, *rest = wrapped(f"{place} fixed {rules} {shortened(escape(done), 2 * width)}{guess}", width - len(_INDENT))
    yield paint(place, "bold") + first.removeprefix(place)
    yield from (_INDENT + line for line in rest)


def _difference(before: str, after: str) -> tuple[str, str]:
    """The words of two texts that are not the same at their beginning and end."""
    old, new = before.split(), after.split()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return " ".join(old[start : len(old) - end]), " ".join(new[start : len(new) - end])


# What is not reported --------------------------------------------------------------------------


def _refused(run: Run) -> Iterator[str]:
    """GPU launches that are not checked because of a mistake in them."""
    return _spared(run, _is_refused)


def _is_refused(launch: Launch) -> bool:
    """Whether it has an option that Docker does not know."""
    return launch.undecided is not None and launch.undecided.kind == "option"


def _spared(run: Run, is_shown: Callable[[Launch], bool] = lambda launch: True) -> Iterator[str]:
    """Why GPU launches are not reported."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    taken_out = _taken_out(run)
    for launch in filter(is_shown, _unreported(run)):
        begin = launch.span.begin
        said = f"{launch.words.launch}: {taken_out.get(launch.span) or _spared_by(run, launch)}"
        places.setdefault((launch.span.path, said), {})[f"{begin.line}:{begin.column}"] = None
    for (path, said), positions in places.items():
        yield f"{path}:{', '.join(positions)}: {said}"


def _taken_out(run: Run) -> dict[Span, str]:
    """The findings about each launch that comments suppress or the baseline accepts."""
    found: dict[Span, dict[str, None]] = {}
    for told, findings in (("suppressed", run.suppressed), ("in the baseline", run.accepted)):
        for finding in findings:
            if finding.launch is not None:
                found.setdefault(finding.launch.span, {})[f"{finding.rule} is {told}"] = None
    return {span: ", ".join(rules) for span, rules in found.items()}


def _unreported(run: Run) -> Iterator[Launch]:
    """The launches of which no finding speaks and that may request a GPU."""
    told = (*run.findings, *run.repeated)
    reported = {finding.launch.span for finding in told if finding.launch is not None}
    return (each for each in run.launches if each.span not in reported and each.gpu.requested is not False)


def _has_more(run: Run) -> bool:
    """Whether ``--verbose`` says why something was not read or not checked, and the report does not."""
    unchecked = (each for each in _unreported(run) if each.gpu.requested and not judged(each, run))
    return bool(run.not_read) or not all(map(_is_refused, unchecked))


def _spared_by(run: Run, launch: Launch) -> str:
    if launch.gpu.requested is None:
        return f"GPU request unknown: {launch.gpu.unknown.because if launch.gpu.unknown is not None else ''}"
    return _verdict(run, launch)


def _verdict(run: Run, launch: Launch) -> str:
    if launch.undecided:
        return f"not checked: {launch.undecided.because}"
    effective = run.effective(launch)
    need = run.need(launch)
    if effective.decided_by == "unknown" or (effective.bytes is None and effective.because):
        return f"/dev/shm unknown: {effective.because}"
    if need.verdict == "not-needed" and effective.decided_by == "default":
        name = f"{need.workload.name}: " if need.workload else ""
        return f"no larger /dev/shm needed: {name}{need.because}"
    given = "the size of the host's"
    if effective.private:
        given = "given a size by an env file"
    elif effective.bytes is not None:
        given = human(effective.bytes)
    elif effective.decided_by == "emptydir":
        given = "limited by memory alone"
    return f"large enough: /dev/shm is {given} ({effective.decided_by})"


def _not_read(run: Run, width: int) -> Iterator[str]:
    """What was not read, by the reason; the places of a file are together."""
    reasons: dict[str, dict[str, list[int]]] = {}
    for place in run.not_read:
        reasons.setdefault(place.because, {}).setdefault(place.span.path, []).append(place.span.line)
    for because, files in reasons.items():
        places = [f"{path}:{', '.join(map(str, dict.fromkeys(lines)))}" for path, lines in files.items()]
        if len(places) == 1:
            yield from _hanging(f"{places[0]}: not read: {because}", width)
            continue
        yield from _hanging(f"not read: {because}", width)
        for text in places:
            yield from (_INDENT + line for line in _hanging(text, width - len(_INDENT)))


def _hanging(text: str, width: int) -> list[str]:
    first, *rest = wrapped(escape(cut(text)), width - len(_INDENT))
    return [first, *(_INDENT + line for line in rest)]


# The summary -----------------------------------------------------------------------------------

_KINDS = {
    "compose": "Compose file", "shell": "script", "makefile": "Makefile", "markdown": "document",
    "systemd": "unit", "taskfile": "Taskfile", "jenkinsfile": "Jenkinsfile", "fish": "script",
    "unread": "other file",
    "ci": "CI file", "kubernetes": "manifest", "devcontainer": "dev container", "inspect": "inspect file",
}  # fmt: skip
"""What files of a kind are called."""


def _summary(
    run: Run, findings: Sequence[Finding], fixed: Sequence[Fixed], paint: Paint, width: int, *, listed: bool
) -> Iterator[str]:
    counts = summary(run, list(findings), len(fixed))
    worst = next((level for level in ("error", "warning", "note") if counts[level]), "good")
    found, read = summary_line(counts), read_line(run, findings, counts, more=not listed and _has_more(run))
    unsafe = sum(f.fix is not None and not f.fix.safe and planned(f) is not None for f in findings)
    if unsafe:
        found += f"; {unsafe} {'more ' if counts['fixable'] else 'can be fixed '}with --fix --unsafe-fixes"
    if findings or fixed:
        yield from (paint(line, worst) for line in wrapped(found, width))
        yield from wrapped(read, width) if read else ()
    else:
        yield from (paint(line, worst) for line in wrapped(f"{found}; {read}" if read else found, width))
    for entry in run.dead_baseline:
        yield from _hanging(f"{entry.path}: {entry.rule} is in the baseline but no longer found", width)


def summary_line(counts: dict[str, int]) -> str:
    """How many findings there are, in one line."""
    parts = [plural(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
    line = ", ".join(parts)
    if not parts:
        line = "nothing left to report" if counts["fixed"] else "nothing found"
        if not counts["files"]:
            line = "no file to check"
        elif not counts["gpu_launches"]:
            line = "no container requests a GPU"
    if counts["fixed"]:
        line += f"; {counts['fixed']} fixed"
    if counts["fixable"]:
        line += f"; {counts['fixable']} can be fixed with --fix"
    return line


_SKIPPED: dict[NotReadKind, str] = {
    "unsupported": "unsupported", "excluded": "excluded", "unreadable": "unreadable",
    "outside": "outside of the repository", "syntax": "with broken syntax", "template": "template",
    "dynamic": "built when it runs",
}  # fmt: skip
"""Why something was not read, in a few words."""


def read_line(run: Run, findings: Sequence[Finding], counts: dict[str, int], *, more: bool) -> str:
    """What was read and judged, and what was not; empty if there is nothing of either.

    ``more``: the text report with ``--verbose`` says why.
    """
    reasons = Counter(place.kind for place in run.not_read)
    why = ", ".join(_skipped(kind, count) for kind, count in reasons.items())
    skipped = f"not read ({why})"
    parts = {"suppressed": run.suppressed, "in the baseline": run.accepted, skipped: run.not_read}
    read = [_read(run, findings, counts)] if counts["files"] else []
    hint = ["see --verbose"] if more else []
    return "; ".join([*read, *(f"{len(some)} {what}" for what, some in parts.items() if some), *hint])


def _skipped(kind: NotReadKind, count: int) -> str:
    return plural(count, _SKIPPED[kind]) if kind == "template" else f"{count} {_SKIPPED[kind]}"


def _read(run: Run, findings: Sequence[Finding], counts: dict[str, int]) -> str:
    read = set(run.read)
    kinds: Counter[str] = Counter()
    for kind, paths in run.files.items():
        kinds[_KINDS.get(kind, f"{kind} file")] += len(read.intersection(paths))
    files = ", ".join(plural(number, kind) for kind, number in kinds.items() if number)
    line = f"read {files}: {plural(counts['launches'], 'launch', 'launches')}, {counts['gpu_launches']} with a GPU"
    unknown = len({one(f.launch) for f in findings if f.unknown_workload and f.launch is not None})
    some = [plural(unknown, "unknown workload")] if unknown else []
    some += [f"{counts['not_judged']} not checked"] if counts["not_judged"] else []
    line += f" ({', '.join(some)})" if some else ""
    return line + (f", {plural(counts['gpu_unknown'], 'unknown GPU request')}" if counts["gpu_unknown"] else "")


def plural(count: int, single: str, many: str = "") -> str:
    """A count and its noun: ``2 files``."""
    return f"{count} {single if count == 1 else many or single + 's'}"
