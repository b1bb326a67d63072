"""The inventory for a person: a table of every launch, and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from shmlint.docker.sizes import human
from shmlint.model.finding import cut
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.reports import escape
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
    """The launches of a run in words, in an order: as they stand, the greatest need or the least size first,
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
        size = launch.effective_shm(run.settings.default_shm_size).bytes
        return (float("inf") if size is None else size,)
    return ((launch.image.known or "") if launch.image is not None else "",)


def _row(run: Run, launch: Launch) -> Row:
    effective = launch.effective_shm(run.settings.default_shm_size)
    shm = human(effective.bytes) if effective.bytes is not None else "?"
    gpu = {True: str(launch.gpu.count or "yes"), False: "no", None: "?"}[launch.gpu.requested]
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
    yield totals(run)


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


def totals(run: Run) -> str:
    """How many launches there are, with a GPU, sized, lacking and unknown, in one line."""
    launches = {(launch.kind, launch.name, launch.span): launch for launch in run.launches}
    gpu = [launch for launch in launches.values() if launch.gpu.requested]
    decided = [launch.effective_shm(run.settings.default_shm_size) for launch in gpu]
    sized = sum(effective.decided_by not in ("default", "unknown") for effective in decided)
    lacking = unknown = 0
    for launch, effective in zip(gpu, decided, strict=True):
        need = run.need(launch)
        lacking += need.verdict in ("needed", "likely") and effective.bytes is not None and effective.bytes < need.floor
        unknown += need.verdict == "unknown"
    return (
        f"{len(launches)} launch{'' if len(launches) == 1 else 'es'}: {len(gpu)} with a GPU, {sized} sized, "
        f"{lacking} lacking, {unknown} unknown"
    )


def csv(run: Run, sort: Sort = "place") -> str:
    """``--format csv``."""
    import io
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
    lines = [_cells(HEAD), "|" + "---|" * len(HEAD), *(_cells(row) for row in rows(run, sort)), "", totals(run)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> str:
    return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row) + " |"
