"""The inventory for a person: a table of every launch, and a summary."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from shmlint.docker.sizes import human
from shmlint.model.finding import cut
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.reports import escape, one
from shmlint.reports.terminal import WIDTH, columns, padded, shortened, usable, wrapped
from shmlint.run import Run

Sort = Literal["place", "need", "size", "image"]


class Row(NamedTuple):
    """A launch in words. ``files`` are those that start it so, where others start it in another way."""

    where: str
    launch: str
    image: str
    gpu: str
    shm: str
    need: str
    files: str = ""


HEAD = Row("WHERE", "LAUNCH", "IMAGE", "GPU", "/DEV/SHM", "NEED", "FILES")
_VERDICTS = ("needed", "likely", "unknown", "not-needed")


def rows(run: Run, sort: Sort = "place") -> list[Row]:
    """The launches of a run in words, in an order: as in the files, the greatest need or the least size first,
    or by image. One that several combinations of files start in the same way has one row."""
    keyed = [(_key(run, launch, sort), row) for launch, row in _distinct(run)]
    return [row for _, row in sorted(keyed, key=lambda pair: pair[0])] if sort != "place" else [r for _, r in keyed]


def _distinct(run: Run) -> Iterator[tuple[Launch, Row]]:
    """The launches with their rows. Rows of one launch that differ name the files that they are about."""
    by_launch: dict[object, dict[Row, Launch]] = {}
    for launch in run.launches:
        by_launch.setdefault(one(launch), {}).setdefault(_row(run, launch), launch)
    for several in by_launch.values():
        for row, launch in several.items():
            files = launch.combination.label if launch.combination is not None and len(several) > 1 else ""
            yield launch, row._replace(files=escape(files))


def _key(run: Run, launch: Launch, sort: Sort) -> tuple[float | str, ...]:
    if sort == "need":
        if not launch.gpu.requested:
            return (len(_VERDICTS), 0)
        need = run.need(launch)
        return (_VERDICTS.index(need.verdict), -(need.minimum or need.recommended or 0))
    if sort == "size":
        size = run.effective(launch).bytes
        return (float("inf") if size is None else size,)
    return ((launch.image.shown or "") if launch.image is not None else "",)


def _row(run: Run, launch: Launch) -> Row:
    effective = run.effective(launch)
    shm = human(effective.shown) if effective.shown is not None else "?"
    gpu = {True: str(launch.gpu.number or "yes"), False: "no", None: "?"}[launch.gpu.requested]
    need = run.need(launch) if launch.gpu.requested else None
    name = f" ({need.workload.name})" if need and need.workload else ""
    image = (launch.image.shown or "?") if launch.image else "-"
    cells = (
        f"{launch.span.path}:{launch.span.line}", launch.name or launch.kind, image, gpu,
        f"{shm} ({effective.decided_by})", f"{need.verdict}{name}" if need else "-",
    )  # fmt: skip
    return Row(*(escape(cut(cell)) for cell in cells))


def table(run: Run, sort: Sort = "place", width: int = WIDTH) -> Iterator[str]:
    """A table that fits the width, and a summary. Places are never cut: in a narrow table they have their own lines."""
    if found := rows(run, sort):
        cells = [_cells(row) for row in (HEAD._replace(files=""), *found)]
        widths = _widths(cells, usable(width), _ENOUGH)
        if _total(widths) <= usable(width):
            yield from (_line(row, widths) for row in cells)
        else:
            yield from _by_file(found, usable(width))
        yield ""
    if run.not_read:
        for text in not_read(run):
            first, *rest = wrapped(text, usable(width) - 2)
            yield from (first, *(f"  {line}" for line in rest))
        yield ""
    yield from (part for line in summary(run) for part in wrapped(line, usable(width)))


def _cells(row: Row) -> tuple[str, ...]:
    return (f"{row.where} ({row.files})" if row.files else row.where, *row[1:-1])


def _by_file(found: Sequence[Row], width: int) -> Iterator[str]:
    """A table in which each file is named above its launches, which begin with their lines."""
    places = [row.where.rpartition(":") for row in found]
    cells = [("LINE", *HEAD[1:-1]), *((line, *row[1:-1]) for (_, _, line), row in zip(places, found, strict=True))]
    widths = _widths(cells, width - 2, _LEAST)
    yield f"  {_line(cells[0], widths)}"
    before = ""
    for (path, _, _), row, own in zip(places, found, cells[1:], strict=True):
        place = f"{path} ({row.files})" if row.files else path
        if place != before:
            yield place
        before = place
        yield f"  {_line(own, widths)}"


def not_read(run: Run) -> Iterator[str]:
    """What was seen and not read, each with its place and the reason."""
    for place in run.not_read:
        yield escape(f"{place.span.path}:{place.span.line}: not read: {cut(place.because)}")


_FLEXIBLE = (1, 2, 5)
"""The columns that are cut where the table is too wide: launch, image, need."""
_ENOUGH = 24
_LEAST = 6


def _widths(cells: Sequence[Sequence[str]], width: int, least: int) -> list[int]:
    """As wide as the cells where that fits; else the widest columns are cut, to ``least`` at most."""
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    while _total(widths) > width:
        widest = max(_FLEXIBLE, key=lambda i: widths[i])
        if widths[widest] <= least:
            break
        widths[widest] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(padded(shortened(cell, room), room) for cell, room in zip(cells, widths, strict=True)).rstrip()


class Totals(NamedTuple):
    """Launches counted. Each is in one class: without a GPU, with an unknown request, or one of those with a GPU.

    ``lacking``: /dev/shm is smaller than needed. ``sized``: something sets it, or it is known to be enough.
    ``not_needed``: the default is enough. ``unknown``: what is needed, or what /dev/shm becomes, is not known.
    """

    launches: int
    with_gpu: int
    without_gpu: int
    gpu_unknown: int
    lacking: int
    sized: int
    not_needed: int
    unknown: int

    @property
    def text(self) -> str:
        """The counts in one line, without those that are 0."""
        needs = "needs" if self.not_needed == 1 else "need"
        kinds = {
            "lacking": self.lacking, "sized": self.sized, f"{needs} none": self.not_needed, "unknown": self.unknown
        }  # fmt: skip
        inner = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        parts = [
            f"{self.with_gpu} with a GPU{f' ({inner})' if inner else ''}",
            f"{self.without_gpu} without" if self.without_gpu else "",
            f"{self.gpu_unknown} with an unknown GPU request" if self.gpu_unknown else "",
        ]
        one = f"{self.launches} launch{'' if self.launches == 1 else 'es'}"
        return f"{one}: {', '.join(part for part in parts if part)}" if self.launches else one


_Class = Literal["lacking", "unknown", "sized", "not_needed", "gpu_unknown", "without_gpu"]
_CLASSES: tuple[_Class, ...] = ("lacking", "unknown", "sized", "not_needed", "gpu_unknown", "without_gpu")
"""The first counts for a launch that several combinations of files start in different ways."""


def _class(run: Run, launch: Launch) -> _Class:
    if not launch.gpu.requested:
        return "without_gpu" if launch.gpu.requested is False else "gpu_unknown"
    effective, need = run.effective(launch), run.need(launch)
    if launch.undecided or effective.decided_by == "unknown":
        return "unknown"
    wanted = need.verdict in ("needed", "likely")
    if wanted and effective.bytes is not None and effective.bytes < need.floor:
        return "lacking"
    if wanted or effective.decided_by != "default":
        return "sized"
    return "unknown" if need.verdict == "unknown" else "not_needed"


def totals(run: Run, launches: Iterable[Launch]) -> Totals:
    """The counts of some launches. One that several combinations of files start is one."""
    classes: dict[object, _Class] = {}
    for launch in launches:
        own = _class(run, launch)
        classes[one(launch)] = min(own, classes.get(one(launch), own), key=_CLASSES.index)
    counts = Counter(classes.values())
    without, unknown = counts["without_gpu"], counts["gpu_unknown"]
    return Totals(
        launches=len(classes), with_gpu=len(classes) - without - unknown, without_gpu=without, gpu_unknown=unknown,
        lacking=counts["lacking"], sized=counts["sized"], not_needed=counts["not_needed"], unknown=counts["unknown"],
    )  # fmt: skip


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
    return f"'{cell}" if cell[:1] in ("=", "+", "@") or (cell[:1] == "-" and len(cell) > 1) else cell


def markdown(run: Run, sort: Sort = "place") -> str:
    """``--format markdown``."""
    head = (_markdown_row(HEAD), "|" + "---|" * len(HEAD))
    return "\n".join([*head, *map(_markdown_row, rows(run, sort)), "", *summary(run)]) + "\n"


def _markdown_row(row: Row) -> str:
    return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row) + " |"
