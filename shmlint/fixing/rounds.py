"""Rounds of proofs: the repairs of one run that can be proved together, and why the others cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from shmlint.files.read import normal
from shmlint.fixing.prove import Place, Proof, Refusal, Repair, prove, right_elsewhere
from shmlint.fixing.repairs import intentions, offers
from shmlint.formats import REFERRED, kind_by_path, users
from shmlint.model.finding import Intention
from shmlint.model.record import NamedTuple
from shmlint.run import Run, lint

MOST_IN_VAIN = 20
"""The number of proofs in a round that may fail before the first one succeeds.

With halving, fewer find a repair that can be proved, unless nearly all cannot.
"""

UNCOVERED = 3
"""So many findings in a row that come to light one after the other are followed."""


class Round:
    """Repairs of one run that prove themselves together.

    Of many, a few bad ones are found by halving, so that the files are read again seldom.
    """

    def __init__(self, run: Run, tries: Iterator[int], *, unsafe: bool, follow: int = UNCOVERED) -> None:
        self.run = run
        self.intended = intentions(run, unsafe=unsafe)
        self.tries = tries
        self.follow = follow
        self.accepted: list[Repair] = []
        self.failed = 0
        self.spent = False
        """Whether no more proofs are tried."""
        self.proof: Proof | None = None
        """The proof of all that are accepted."""
        self.unsafe = unsafe
        self.others: tuple[frozenset[str], Elsewhere] = (frozenset(), None)
        """What else is built with some files, and these files."""

    def extend(self, repairs: Sequence[Repair]) -> list[tuple[Repair, Refusal | None]]:
        """Accept the repairs that can be proved together with the accepted ones; return the others with the reasons.

        Bad repairs are often next to each other: after one was found, the largest group is tried next.
        """
        refused = []
        groups = [list(repairs)]
        while groups:
            group = groups.pop()
            found = self._prove([*self.accepted, *group])
            if isinstance(found, Proof):
                self.accepted += group
                self.proof = found
            elif len({repair.change.edits for repair in group}) > 1:
                first = _first(group, found)
                chosen = set(map(id, first))
                groups += [[repair for repair in group if id(repair) not in chosen], first]
            else:  # of repairs that are one and the same edit none can be proved without the others
                refused += [(repair, found) for repair in group]
                groups.sort(key=len)
        return refused

    def _prove(self, repairs: Sequence[Repair]) -> Proof | Refusal | None:
        """The proof of some repairs, or why there is none; None where the files were read often enough."""
        self.spent = (self.failed >= MOST_IN_VAIN and not self.accepted) or next(self.tries, None) is None
        if self.spent:
            return None
        found = prove(self.run, repairs, self.intended)
        if isinstance(found, Proof):
            found = self._elsewhere(repairs) or found
        self.failed += not isinstance(found, Proof)
        if not isinstance(found, Proof) or not found.uncovered:
            return found
        whole = self._followed(found, self.follow)
        return _coming_back(repairs, whole) or whole if isinstance(whole, Proof) else whole

    def _elsewhere(self, repairs: Sequence[Repair]) -> Refusal | None:
        """Why repairs do harm where files that nobody named are built with those that they change."""
        paths = frozenset(edit.path for repair in repairs for edit in repair.change.edits)
        if not paths <= self.others[0]:
            self.others = (paths, elsewhere(self.run, paths, unsafe=self.unsafe))
        others = self.others[1]
        if isinstance(others, Refusal):
            return others
        return right_elsewhere(others.run, repairs, others.intended) if others is not None else None

    def _followed(self, proof: Proof, most: int) -> Proof | Refusal | None:
        """The proof with what the repairs bring to light repaired too."""
        uncovered = set(map(id, proof.uncovered))
        every = offers(proof.run, unsafe=False)
        repairs = [offer.repair for offer in every if id(offer.repair.finding) in uncovered]
        if len(repairs) < len(uncovered) or not most:
            found = proof.uncovered[0]
            return Refusal("new-finding", frozenset((found.span.path,)), finding=found)
        if next(self.tries, None) is None:
            return None
        then = prove(proof.run, repairs, intentions(proof.run, unsafe=False))
        if not isinstance(then, Proof):
            return then
        moved = {place: then.moved[other] for place, other in proof.moved.items()}
        both = then._replace(texts={**proof.texts, **then.texts}, moved=moved)
        return self._followed(both, most - 1) if both.uncovered else both


def _coming_back(repairs: Sequence[Repair], proof: Proof) -> Refusal | None:
    """Why repairs are in vain: what is repaired because of them brings a finding back that they are for."""
    gone = (repair.identity._replace(place=proof.moved[repair.identity.place]) for repair in repairs)
    back = next((repair for repair, identity in zip(repairs, gone, strict=True) if identity in proof.left), None)
    return Refusal("stays", frozenset(edit.path for edit in back.change.edits)) if back is not None else None


class Others(NamedTuple):
    """A run over the named files and those that are built with them, and what the findings of its launches intend."""

    run: Run
    intended: Mapping[Place, Sequence[Intention]]


Elsewhere = Others | Refusal | None


def elsewhere(run: Run, paths: Collection[str], *, unsafe: bool) -> Elsewhere:
    """What nobody named and is built with some files; a refusal if that cannot be found, None if there is nothing."""
    kinds = kind_by_path(run.files, run.launches)
    files = {}
    for kind in sorted({kinds.get(path, REFERRED) for path in paths}):
        named = run.files.get(kind, ())
        mine = [normal(path) for path in paths if kinds.get(path, REFERRED) == kind]
        found = users(kind, mine, {normal(path) for path in named}, run.workspace)
        if found is None:
            return Refusal("users", frozenset(paths))
        if found:
            files[kind] = [*named, *found]
    if not files:
        return None
    wide = lint(files, run.settings, run.workspace)
    return Others(wide, intentions(wide, unsafe=unsafe))


def _first(repairs: Sequence[Repair], refusal: Refusal | None) -> list[Repair]:
    """The repairs to prove first after a refusal: those of other files than it is about, else the first half."""
    files = (refusal.files if refusal is not None else None) or frozenset()
    others = [repair for repair in repairs if not any(edit.path in files for edit in repair.change.edits)]
    return others if 0 < len(others) < len(repairs) else list(repairs[: len(repairs) // 2])
