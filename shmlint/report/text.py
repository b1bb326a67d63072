"""Findings for a person: a line that stands alone, the place in the file, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from shmlint.finding import Evidence, Finding
from shmlint.launch import Launch
from shmlint.lint import Run
from shmlint.report import escape, summary
from shmlint.source import Span

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
        yield from _spared(run)
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
    if finding.fix is not None:
        yield f"   {paint('fix', 'good')}    {escape(finding.fix.title)}: shmlint --fix"
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
    shown = 0
    for span, text in marks:
        line = span.line
        if line != shown:
            yield from _line(span, width, paint)
            shown = line
        yield _mark(span, text, width, paint, main=span is finding.span)
    for evidence in elsewhere:
        place = f" ({escape(evidence.span.path)}:{evidence.span.line})" if evidence.span is not None else ""
        yield f"{' ' * width} = {escape(evidence.text)}{place}"


def _window(span: Span) -> tuple[int, int, int]:
    """The part of the span's first line that is shown, as offsets, and how much was cut before it."""
    start, end = span.source.line_span(span.line)
    if span.source.text.startswith("\ufeff") and start == 0:
        start = 1
    cut = 0
    if end - start > _WIDTH:
        if span.start - start > _WIDTH // 2:
            cut = span.start - start - _WIDTH // 4
        end = min(end, start + cut + _WIDTH)
    return start + cut, end, cut


def _line(span: Span, width: int, paint: Paint) -> Iterator[str]:
    start, end, cut = _window(span)
    text = escape(span.source.text[start:end].replace("\t", " "))
    yield f"{str(span.line).rjust(width)} {paint('|', 'dim')} {'…' if cut else ''}{text}".rstrip()


def _mark(span: Span, text: str, width: int, paint: Paint, *, main: bool) -> str:
    start, end, cut = _window(span)
    length = max(min(span.end, end) - span.start, 1)
    pad = " " * (max(span.start - start, 0) + (1 if cut else 0))
    line = ("^" if main else "-") * length
    words = f" {escape(text)}" if text else ""
    return f"{' ' * width} {paint('|', 'dim')} {pad}{paint(line + words, 'bold' if main else 'dim')}".rstrip()


def _spared(run: Run) -> Iterator[str]:
    """What is known about GPU launches that no finding speaks of."""
    for launch in run.launches:
        if launch.gpu.requested is None:
            yield f"{_place(launch)}: GPU request unknown: {escape(launch.gpu.because)}"
        elif launch.gpu.requested and launch.undecided:
            yield f"{_place(launch)}: not judged: {escape(launch.undecided)}"
        elif launch.gpu.requested:
            need = run.need(launch)
            effective = launch.effective_shm(run.settings.default_shm_size)
            if need.verdict == "not-needed" and effective.decided_by == "default":
                name = need.workload.name if need.workload else "its workload"
                yield f"{_place(launch)}: no larger /dev/shm needed: {escape(name)}: {escape(need.why)}"
            elif effective.decided_by == "unknown":
                yield f"{_place(launch)}: /dev/shm unknown: {escape(effective.because)}"


def _place(launch: Launch) -> str:
    begin = launch.span.begin
    return f"{escape(launch.span.path)}:{begin.line}:{begin.column}: {escape(launch.words.launch)}"


def _summary(counts: dict[str, int], paint: Paint) -> str:
    parts = [_plural(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
    found = ", ".join(parts) if parts else "nothing found"
    launches = f"{_plural(counts['launches'], 'launch', 'launches')}, {counts['gpu_launches']} with a GPU"
    line = f"{found} in {_plural(counts['files'], 'file')} ({launches})"
    if counts["fixed"]:
        line += f"; {counts['fixed']} fixed"
    if counts["fixable"]:
        line += f"; {counts['fixable']} can be fixed with --fix"
    worst = next((level for level in ("error", "warning", "note") if counts[level]), "good")
    return paint(line, worst)


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def inventory(run: Run) -> Iterator[str]:
    """Every launch with what was understood of it, as a table."""
    from shmlint.size import human

    rows = [("WHERE", "LAUNCH", "IMAGE", "GPU", "/DEV/SHM", "NEED")]
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
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(escape(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
