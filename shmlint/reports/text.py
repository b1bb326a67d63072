"""Findings for a person: a line that stands alone, the place in the file, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from shmlint.fixing.plan import planned
from shmlint.model.finding import Evidence, Finding, cut
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.reports import escape, summary
from shmlint.run import Run

_COLOURS = {"error": "31;1", "warning": "33;1", "note": "36;1", "dim": "2", "bold": "1", "good": "32"}
_WIDTH = 160
"""Characters of a line that are shown at the most."""
_EVIDENCE = 4

Paint = Callable[[str, str], str]


def _plain(text: str, style: str) -> str:
    return text


def _ansi(text: str, style: str) -> str:
    return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m"


def render(
    run: Run, findings: Sequence[Finding], *, colour: bool = False, fixed: int = 0, verbose: bool = False,
    quiet: bool = False,
) -> Iterator[str]:  # fmt: skip
    """The lines of the report."""
    paint = _ansi if colour else _plain
    for finding in findings:
        yield from _finding(finding, paint)
        yield ""
    if verbose:
        spared = list(_spared(run))
        yield from spared
        if spared:
            yield ""
    if not quiet:
        yield _summary(summary(run, list(findings), fixed), paint)


def _finding(finding: Finding, paint: Paint) -> Iterator[str]:
    begin = finding.span.begin
    where = paint(f"{escape(finding.span.path)}:{begin.line}:{begin.column}:", "bold")
    level = paint(finding.severity, finding.severity)
    yield f"{where} {level} {finding.rule} {escape(finding.message)}"
    yield from _frame(finding, paint)
    if finding.needs:
        yield f"   {paint('needs', 'dim')}  {escape(finding.needs)}"
        if finding.source:
            yield f"          {paint(escape(finding.source), 'dim')}"
    change = planned(finding)
    if finding.fix is not None and change is not None:
        yield f"   {paint('fix', 'good')}    {escape(change.title)}: {finding.fix.command}"
    elif finding.advice:
        yield f"   {paint('do', 'good')}     {escape(finding.advice)}"


def _frame(finding: Finding, paint: Paint) -> Iterator[str]:
    """The marked lines of the file, the finding's own and those of its evidence."""
    marks: list[tuple[Span, str]] = []
    if finding.span.source.text:
        marks.append((finding.span, ""))
    elsewhere: list[Evidence] = []
    for evidence in finding.evidence[:_EVIDENCE]:
        if evidence.span is None:
            elsewhere.append(evidence)
        elif evidence.span.path == finding.span.path:
            same = next((i for i, (span, _) in enumerate(marks) if span == evidence.span), None)
            if same is None:
                marks.append((evidence.span, evidence.text))
            else:
                text = marks[same][1]
                marks[same] = (evidence.span, f"{text}; {evidence.text}" if text else evidence.text)
        else:
            elsewhere.append(evidence)
    marks.sort(key=lambda mark: mark[0].start)
    width = max((len(str(span.line)) for span, _ in marks), default=1) + 3
    shown, window = 0, Window(0, 0, False)
    for span, text in marks:
        if span.line != shown or span.source.marked_only:
            shown = span.line
            whole = not span.source.marked_only
            own = next((s for s, _ in marks if whole and s.line == shown and s == finding.span), span)
            window = _window(own)
            yield from _line(span, window, width, paint)
        yield _mark(span, window, text, width, paint, main=span == finding.span)
    for evidence in elsewhere:
        place = f" ({escape(evidence.span.path)}:{evidence.span.line})" if evidence.span is not None else ""
        yield f"{' ' * width} = {escape(evidence.text)}{place}"


class Window(NamedTuple):
    """The part of a line that is shown, as offsets, and whether something was cut before it."""

    start: int
    end: int
    cut: bool


def _window(span: Span) -> Window:
    """The part of the span's first line that is shown: the whole line, if it is not very long."""
    start, end = span.source.line_span(span.line)
    if span.source.text.startswith("\ufeff") and start == 0:
        start = 1
    if span.source.marked_only:
        return Window(span.start, min(end, span.end, span.start + _WIDTH), False)
    cut = 0
    if end - start > _WIDTH:
        if span.start - start > _WIDTH // 2:
            cut = span.start - start - _WIDTH // 4
        end = min(end, start + cut + _WIDTH)
    return Window(start + cut, end, cut > 0)


def _line(span: Span, window: Window, width: int, paint: Paint) -> Iterator[str]:
    text = _shown(span, window.start, window.end)
    yield f"{str(span.line).rjust(width)} {paint('|', 'dim')} {'…' if window.cut else ''}{text}".rstrip()


def _shown(span: Span, start: int, end: int) -> str:
    return escape(span.source.text[start:end].replace("\t", " "))


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _mark(span: Span, window: Window, text: str, width: int, paint: Paint, *, main: bool) -> str:
    start, end = max(span.start, window.start), min(span.end, window.end)
    words = f" {escape(text)}" if text else ""
    if span.start >= window.end or span.end < window.start:  # in the part of the line that is not shown
        return f"{' ' * width} {paint('|', 'dim')} {paint(f'…{words}', 'dim')}"
    pad = " " * (_columns(_shown(span, window.start, start)) + (1 if window.cut else 0))
    line = ("^" if main else "-") * max(_columns(_shown(span, start, end)), 1)
    return f"{' ' * width} {paint('|', 'dim')} {pad}{paint(line + words, 'bold' if main else 'dim')}".rstrip()


def _spared(run: Run) -> Iterator[str]:
    """What is known about GPU launches that no finding speaks of."""
    for launch in run.launches:
        if launch.gpu.requested is None:
            because = launch.gpu.unknown.because if launch.gpu.unknown is not None else ""
            yield cut(f"{_place(launch)}: GPU request unknown: {escape(because)}")
        elif launch.gpu.requested and launch.undecided:
            yield cut(f"{_place(launch)}: not judged: {escape(launch.undecided.because)}")
        elif launch.gpu.requested:
            need = run.need(launch)
            effective = launch.effective_shm(run.settings.default_shm_size)
            if need.verdict == "not-needed" and effective.decided_by == "default":
                name = need.workload.name if need.workload else "its workload"
                yield cut(f"{_place(launch)}: no larger /dev/shm needed: {escape(name)}: {escape(need.why)}")
            elif effective.decided_by == "unknown":
                yield cut(f"{_place(launch)}: /dev/shm unknown: {escape(effective.because)}")


def _place(launch: Launch) -> str:
    begin = launch.span.begin
    return f"{escape(launch.span.path)}:{begin.line}:{begin.column}: {escape(launch.words.launch)}"


def _summary(counts: dict[str, int], paint: Paint) -> str:
    worst = next((level for level in ("error", "warning", "note") if counts[level]), "good")
    return paint(summary_line(counts), worst)


def summary_line(counts: dict[str, int]) -> str:
    """How many of what were found, in one line."""
    parts = [_plural(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
    found = ", ".join(parts) if parts else "nothing found"
    launches = f"{_plural(counts['launches'], 'launch', 'launches')}, {counts['gpu_launches']} with a GPU"
    line = f"{found} in {_plural(counts['files'], 'file')} ({launches})"
    if not counts["files"] and not parts:
        line = "no file to check"
    if counts["fixed"]:
        line += f"; {counts['fixed']} fixed"
    if counts["fixable"]:
        line += f"; {counts['fixable']} can be fixed with --fix"
    return line


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def inventory(run: Run) -> Iterator[str]:
    """Every launch with what was understood of it, as a table."""
    from shmlint.docker.sizes import human

    rows: list[tuple[str, ...]] = [("WHERE", "LAUNCH", "IMAGE", "GPU", "/DEV/SHM", "NEED")]
    for launch in run.launches:
        effective = launch.effective_shm(run.settings.default_shm_size)
        shm = human(effective.bytes) if effective.bytes is not None else "?"
        gpu = {True: str(launch.gpu.count or "yes"), False: "no", None: "?"}[launch.gpu.requested]
        need = run.need(launch) if launch.gpu.requested else None
        name = f" ({need.workload.name})" if need and need.workload else ""
        rows.append(
            (
                f"{launch.span.path}:{launch.span.line}",
                launch.name or launch.kind,
                (launch.image.known or "?") if launch.image else "-",
                gpu,
                f"{shm} ({effective.decided_by})",
                f"{need.verdict}{name}" if need else "-",
            )
        )
    rows = [tuple(escape(cut(cell)) for cell in row) for row in rows]
    widths = [max(_columns(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
