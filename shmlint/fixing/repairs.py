"""The repairs that the findings of a run ask for, and which of them can be made at once."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from shmlint.fixing.plan import alternatives
from shmlint.fixing.prove import Identity, Place, Repair, places
from shmlint.model.finding import Finding, Intention, SetSize
from shmlint.model.launch import Change, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, Span
from shmlint.run import Run

T = TypeVar("T")


class Offer(NamedTuple):
    """A repair with the best of the changes that would do, and all of these."""

    repair: Repair
    changes: Sequence[Change]

    def after(self, refused: Mapping[Identity, int]) -> Repair:
        """The repair with the first change that was not refused, or the last."""
        number = refused.get(self.repair.identity, 0)
        return self.repair._replace(change=self.changes[min(number, len(self.changes) - 1)]) if number else self.repair


def offers(run: Run, *, unsafe: bool) -> Iterator[Offer]:
    """A repair for each finding that has one."""
    where = places(run.launches)
    for finding, intention, target in _intended(run, run.findings, unsafe=unsafe):
        changes = alternatives(finding)
        if changes and finding.fix is not None and finding.launch is not None:
            identity = Identity(finding.rule, where[id(finding.launch)], finding.subject)
            sizes_only = isinstance(intention, SetSize) and not (finding.fix.of or finding.launch).swarm
            repair = Repair(finding, identity, intention, changes[0], target, sizes_only, len(changes))
            yield Offer(repair, changes)


def _intended(run: Run, findings: Iterable[Finding], *, unsafe: bool) -> Iterator[tuple[Finding, Intention, Place]]:
    """What findings intend, and the place of the launch that is to be changed."""
    where = places(run.launches)
    origins: dict[tuple[str, tuple[str, ...], Span], Place] = {}
    for finding in findings:
        if finding.fix is None or not (finding.fix.safe or unsafe) or finding.launch is None:
            continue
        launch = finding.fix.of or finding.launch
        target = where.get(id(launch))
        if target is None:  # a copy, as the donor in another launch is
            origins = origins or {_origin(other): where[id(other)] for other in reversed(run.launches)}
            target = origins.get(_origin(launch))
        if target is not None:
            yield finding, finding.fix.intention, target


def intentions(run: Run, *, unsafe: bool) -> dict[Place, list[Intention]]:
    """What the findings of each launch intend, those included that say what another says."""
    found: dict[Place, list[Intention]] = {}
    for _, intention, target in _intended(run, (*run.findings, *run.repeated), unsafe=unsafe):
        found.setdefault(target, []).append(intention)
    return found


def _origin(launch: Launch) -> tuple[str, tuple[str, ...], Span]:
    """What a launch has in common with the copies that are made of it."""
    return launch.kind, launch.files, launch.span


def compatible(repairs: Sequence[Repair]) -> list[Repair]:
    """The repairs in their order, as far as they do not touch one another."""
    return list(apart(repairs, lambda repair: repair.change.edits))


def apart(these: Iterable[T], edits_of: Callable[[T], Iterable[Edit]]) -> Iterator[T]:
    """Those whose edits do not touch the edits of one before."""
    taken: dict[str, list[Edit]] = {}
    for this in these:
        edits = edits_of(this)
        if all(_free(edit, taken.get(edit.path, ())) for edit in edits):
            for edit in edits:
                known = taken.setdefault(edit.path, [])
                if edit not in known[(at := bisect_left(known, edit)) : at + 1]:
                    insort(known, edit)
            yield this


def _free(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Whether an edit touches none of others, sorted and apart from each other, or is one of them."""
    at = bisect_left(taken, edit)
    if edit in taken[at : at + 1]:
        return True
    return all(other.end < edit.start or edit.end < other.start for other in taken[max(at - 1, 0) : at + 1])


def one_a_request(repairs: Sequence[Repair], held: Collection[Identity]) -> list[Repair]:
    """The first repair for each place that requests a GPU, and those that have waited once."""
    places: set[object] = set()
    chosen = []
    for repair in repairs:
        assert repair.finding.launch is not None
        evidence = repair.finding.launch.gpu.evidence[:1]
        place = [(e.span.path, e.span.start) for e in evidence]
        if repair.identity in held or not place or place[0] not in places:
            chosen.append(repair)
        places.update(place)
    return chosen
