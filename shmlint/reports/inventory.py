"""The inventory for a person: a table of every launch, and a summary."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from shmlint.docker.sizes import human
from shmlint.model.finding import cut
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.reports import escape, one
from shmlint.reports.terminal import WIDTH, columns, padded, shortened, usable
from shmlint.run import Run

Sort = Literal["place", "need", "size", "image"]
SORTS: tuple[Sort, ...] = ("place", "need", "size", "image")


class Row(NamedTuple):
    """A launch in words."""

    where: str
    launch: str
    image: str
    gpu: str
    shm: str
    need: str


HEAD = Row("WHERE", "LAUNCH", "IMAGE", "GPU", "/DEV/SHM", "NEED")
_VERDICTS = ("needed", "likely", "unknown", "not-needed")


def rows(run: Run, sort: Sort = "place") -> list[Row]:
    """The launches of a run in words, in an order: as in the files, the greatest need or the least size first,
    or by image."""
    keyed = [(_key(run, launch, sort), _row(run, launch)) for launch in run.launches]
    return [row for _, row in sorted(keyed, key=lambda pair: pair[0])] if sort != "place" else [r for _, r in keyed]


def _key(run: Run, launch: Launch, sort: Sort) -> tuple[float | str, ...]:
    if sort == "need":
        if not launch.gpu.requested:
            return (len(_VERDICTS), 0)
        need = run.need(launch)
        return (_VERDICTS.index(need.verdict), -(need.minimum or need.recommended or 0))
    if sort == "size":
        size = run.effective(launch).bytes
        return (float("inf") if size is None else size,)
    return ((launch.image.known or "") if launch.image is not None else "",)


def _row(run: Run, launch: Launch) -> Row:
    effective = run.effective(launch)
    shm = human(effective.bytes) if effective.bytes is not None else "?"
    gpu = {True: str(launch.gpu.number or "yes"), False: "no", None: "?"}[launch.gpu.requested]
    need = run.need(launch) if launch.gpu.requested else None
    name = f" ({need.workload.name})" if need and need.workload else ""
    image = (launch.image.known or "?") if launch.image else "-"
    cells = (
        f"{launch.span.path}:{launch.span.line}", launch.name or launch.kind, image, gpu,
        f"{shm} ({effective.decided_by})", f"{need.verdict}{name}" if need else "-",
    )  # fmt: skip
    return Row(*(escape(cut(cell)) for cell in cells))


def table(run: Run, sort: Sort = "place", width: int = WIDTH) -> Iterator[str]:
    """A table that fits the width, and a summary."""
    found = [HEAD, *rows(run, sort)]
    widths = _widths(found, usable(width))
    for row in found:
        cells = (padded(_cell(cell, room, i), room) for i, (cell, room) in enumerate(zip(row, widths, strict=True)))
        yield "  ".join(cells).rstrip()
    yield ""
    if run.not_read:
        yield from (shortened(line, usable(width)) for line in not_read(run))
        yield ""
    yield from summary(run)


def not_read(run: Run) -> Iterator[str]:
    """What was seen and not read, each with its place and the reason."""
    for place in run.not_read:
        yield escape(f"{place.span.path}:{place.span.line}: not read: {cut(place.because)}")


_FLEXIBLE = (2, 5, 1, 0)
"""The columns that are cut where the table is too wide, in this order: image, need, launch, place."""
_LEAST = 12


def _widths(found: Sequence[Row], width: int) -> list[int]:
    """As wide as the cells where that fits; else the widest columns are cut."""
    widths = [max(columns(row[i]) for row in found) for i in range(len(HEAD))]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    for least in (24, _LEAST):
        for i in _FLEXIBLE:
            taken = min(over, max(widths[i] - least, 0))
            if taken > 0:
                widths[i] -= taken
                over -= taken
    return widths


def _cell(text: str, room: int, column: int) -> str:
    """A cell that fits: of a place the end counts, of everything else the beginning."""
    if column or columns(text) <= room:
        return shortened(text, room)
    return "…" + shortened(text[::-1], room - 1)[::-1].lstrip("…") if room > 1 else "…"


class Totals(NamedTuple):
    """Launches counted: how many there are, with a GPU, those of a set size, those that lack, and of unknown need."""

    launches: int
    with_gpu: int
    sized: int
    lacking: int
    unknown: int

    @property
    def text(self) -> str:
        """The counts in one line."""
        one = f"{self.launches} launch{'' if self.launches == 1 else 'es'}"
        return f"{one}: {self.with_gpu} with a GPU, {self.sized} sized, {self.lacking} lacking, {self.unknown} unknown"


def totals(run: Run, launches: Iterable[Launch]) -> Totals:
    """The counts of some launches. One that several combinations of files start is one."""
    distinct = {one(launch): launch for launch in launches}
    gpu = [launch for launch in distinct.values() if launch.gpu.requested]
    sized = lacking = unknown = 0
    for launch in gpu:
        effective, need = run.effective(launch), run.need(launch)
        sized += effective.decided_by not in ("default", "unknown")
        lacking += need.verdict in ("needed", "likely") and effective.bytes is not None and effective.bytes < need.floor
        unknown += need.verdict == "unknown"
    return Totals(len(distinct), len(gpu), sized, lacking, unknown)


def repositories(run: Run) -> dict[str, Totals]:
    """The counts of each repository by its directory, which is ``.`` where that is the current one or above it,
    and where there is no repository."""
    by_place: dict[str, list[Launch]] = {}
    for launch in run.launches:
        root = run.workspace.root(launch.span.path)
        shown = "." if root is None else os.path.relpath(root, os.path.realpath(".")).replace(os.sep, "/")
        by_place.setdefault("." if shown.split("/")[-1] == ".." else shown, []).append(launch)
    return {place: totals(run, launches) for place, launches in sorted(by_place.items())}


def summary(run: Run) -> Iterator[str]:
    """The counts of all launches, and those of each repository where there are several."""
    every = repositories(run)
    if len(every) > 1:
        for place, counts in every.items():
            yield f"{escape(place)}: {counts.text}"
    yield totals(run, run.launches).text


def csv(run: Run, sort: Sort = "place") -> str:
    """``--format csv``."""
    from csv import writer

    out = io.StringIO()
    table = writer(out, lineterminator="\n")
    table.writerow(name.lower().strip("/").replace("/", "_") for name in HEAD)
    table.writerows(tuple(_inert(cell) for cell in row) for row in rows(run, sort))
    return out.getvalue()


def _inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in "=+@" or (cell[:1] == "-" and len(cell) > 1) else cell


def markdown(run: Run, sort: Sort = "place") -> str:
    """``--format markdown``."""
    lines = [_cells(HEAD), "|" + "---|" * len(HEAD), *(_cells(row) for row in rows(run, sort)), "", *summary(run)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> str:
    return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row) + " |"
