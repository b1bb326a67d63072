"""Fixes: plan the edits, prove them, in memory.

A fix is kept only where the files, read again with the edits in them, hold the same launches as
before but for what was intended, the finding is gone and no other one is there.
"""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from shmlint.files.read import normal
from shmlint.fixing.plan import alternatives
from shmlint.fixing.prove import (
    Identity,
    Place,
    Proof,
    Refusal,
    Repair,
    parts,
    places,
    prove,
    right_elsewhere,
    unchanged,
)
from shmlint.formats import ALONE, kind_by_path, users
from shmlint.model.finding import Finding, Intention, SetSize
from shmlint.model.launch import Change, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, Span, apply_edits
from shmlint.run import Run, lint

T = TypeVar("T")

MOST_READ_AGAIN = 4_000_000
"""Characters; see ``_tries``."""

MOST_IN_VAIN = 20
"""The number of proofs in a round that may fail before the first one succeeds.

With halving, fewer find a repair that can be proved, unless nearly all cannot.
"""

UNCOVERED = 3
"""So many findings in a row that come to light one after the other are followed."""


class Fixed(NamedTuple):
    """A finding that was fixed, and what was changed for it: whole lines of the text before that step."""

    finding: Finding
    title: str
    path: str
    line: int
    before: str
    after: str
    paths: frozenset[str]
    """The files that were changed."""

    @property
    def rule(self) -> str:
        """The id of the rule."""
        return self.finding.rule


@dataclass(slots=True)
class Outcome:
    """The result of fixing. ``texts`` are the new texts of changed files by path."""

    run: Run
    """The run over the texts as they are after fixing."""
    texts: dict[str, str] = field(default_factory=dict)
    fixed: list[Fixed] = field(default_factory=list)
    unproved: list[Finding] = field(default_factory=list)
    """Findings that nothing was changed for; their advice says why."""


def fix(run: Run, *, unsafe: bool = False) -> Outcome:
    """Apply every safe fix that proves itself, in memory; the ``unsafe`` ones too where they are wanted.

    Most often one proof holds for all of them. Where it does not, files that nothing but themselves
    decides are repaired one by one, so that a proof reads again no more than it is about.
    """
    outcome = _fixed(run, iter((1,)), unsafe=unsafe)
    if not outcome.unproved:
        return outcome
    parts_of_run = list(_parts(run))
    if len(parts_of_run) < 2:
        return _fixed(run, _tries(run), unsafe=unsafe)
    outcome = Outcome(run)
    expected = _meanings(run)
    for files in parts_of_run:
        before = lint(files, run.settings, run.workspace)
        part = _fixed(before, _tries(before), unsafe=unsafe)
        expected.subtract(_meanings(before))
        expected.update(_meanings(part.run))
        outcome.texts.update(part.texts)
        outcome.fixed += part.fixed
        outcome.unproved += part.unproved
    if not outcome.texts:
        return outcome
    outcome.run = lint(run.files, run.settings, run.workspace.over(outcome.texts), run.before)
    # What is repaired in one part was not to be seen in another.
    seen = _meanings(outcome.run)
    return outcome if +expected == seen and not -expected else _fixed(run, _tries(run), unsafe=unsafe)


def _meanings(run: Run) -> Counter[object]:
    default = run.settings.default_shm_size
    return Counter((launch.kind, launch.files, parts(launch, default)) for launch in run.launches)


def _fixed(run: Run, tries: Iterator[int], *, unsafe: bool) -> Outcome:
    """Apply the fixes of a run that prove themselves together. The files are read again as often as ``tries`` says."""
    outcome = _repaired(run, tries, unsafe=unsafe)
    _tidy(outcome, tries)
    return outcome


def _parts(run: Run) -> Iterator[dict[str, list[str]]]:
    """The files that have something to repair, by kind, together where they hang together."""
    fixable = {finding.span.path for finding in run.findings if finding.fix is not None}
    fixable |= {e.path for f in run.findings if f.fix is not None for c in alternatives(f) for e in c.edits}
    for kind, paths in run.files.items():
        if kind in ALONE:
            yield from ({kind: [path]} for path in paths if path in fixable)
    for files in _related(run):
        if not fixable.isdisjoint(path for paths in files.values() for path in paths):
            yield files


def _related(run: Run) -> Iterator[dict[str, list[str]]]:
    """The files that can say things of each other, by kind: those of a directory, and of others that they ask for."""
    by_directory: dict[str, dict[str, list[str]]] = {}
    for kind, paths in run.files.items():
        for path in paths if kind not in ALONE else ():
            by_directory.setdefault(os.path.dirname(path), {}).setdefault(kind, []).append(path)
    if len(by_directory) < 2:
        yield from by_directory.values()
        return
    home = {normal(path): d for d, files in by_directory.items() for paths in files.values() for path in paths}
    first = {directory: directory for directory in by_directory}

    def leader(directory: str) -> str:
        while first[directory] != directory:
            first[directory] = first[first[directory]]
            directory = first[directory]
        return directory

    for directory, files in by_directory.items():
        workspace = run.workspace.over({})
        lint(files, run.settings, workspace)
        for path in sorted(workspace.asked & home.keys()):
            first[leader(home[path])] = leader(directory)
    together: dict[str, dict[str, list[str]]] = {}
    for kind, paths in run.files.items():
        for path in paths if kind not in ALONE else ():
            together.setdefault(leader(os.path.dirname(path)), {}).setdefault(kind, []).append(path)
    yield from together.values()


def _tries(run: Run) -> Iterator[int]:
    """How often the files may be read again to find the changes that do not prove themselves.

    Few of them are found by halving. Where there are many in much text, those not found in time are left alone.
    """
    characters = sum(len(run.workspace.source(path).text) for path in {f.span.path for f in run.findings if f.fix})
    return iter(range(max(100, MOST_READ_AGAIN // max(1, characters))))


def _repaired(run: Run, tries: Iterator[int], *, unsafe: bool) -> Outcome:
    """The fixes of findings about launches."""
    outcome = Outcome(run)
    refused: Counter[Identity] = Counter()  # how many of a finding's changes did not prove themselves
    reasons: dict[Identity, Refusal] = {}
    held: set[Identity] = set()
    while True:
        every = list(_repairs(outcome.run, refused, unsafe=unsafe))
        open_ = [r for r in every if refused[r.identity] < len(alternatives(r.finding))]
        if not open_:
            outcome.unproved = [_left_alone(r.finding, reasons.get(r.identity)) for r in every]
            return outcome
        taken = _compatible(open_)
        # What was written once for several launches is repaired once: the others wait for a round.
        first = _one_a_request(taken, held)
        at_once = set(map(id, first))
        held.update(r.identity for r in taken if id(r) not in at_once)
        attempt = _Round(outcome.run, tries, unsafe=unsafe)
        bad = attempt.extend(first)
        proof = attempt.proof
        if proof is not None:
            gone = [r for r in every if _is_gone(r, proof)]
            outcome.fixed += _fixed_by(gone, attempt.accepted, outcome.run)
            outcome.run = proof.run
            outcome.texts.update(proof.texts)
            held = {identity._replace(place=proof.moved[identity.place]) for identity in held}
            refused.clear()  # what was in another's way may not be any more
            reasons.clear()
        elif len(first) == len(taken):
            refused.update(r.identity for r, _ in bad)  # each was tried alone
            for repair, refusal in bad:
                if refusal is not None:
                    reasons.setdefault(repair.identity, refusal)


def _is_gone(repair: Repair, proof: Proof | None) -> bool:
    """Whether the finding that a repair is for is not there after what was proved."""
    if proof is None:
        return False
    return repair.identity._replace(place=proof.moved[repair.identity.place]) not in proof.left


def _fixed_by(gone: Iterable[Repair], accepted: Sequence[Repair], run: Run) -> Iterator[Fixed]:
    """What was done about findings: their own change, or that of another finding that intends the same."""
    own = {repair.identity: repair.change for repair in reversed(accepted)}
    same = {repair.intention: repair.change for repair in reversed(accepted)}
    for repair in gone:
        change = own.get(repair.identity) or same.get(repair.intention) or accepted[0].change
        yield _entry(repair.finding, change, run)


def _entry(finding: Finding, change: Change, run: Run) -> Fixed:
    """A fixed finding with the lines that its change made others, before and after."""
    path = change.edits[0].path
    edits = sorted({edit for edit in change.edits if edit.path == path})
    source = run.workspace.source(path)
    start = source.line_span(source.position(edits[0].start).line)[0]
    last = edits[-1]
    end = last.end
    if not (last.text.endswith("\n") and end in source.line_starts):
        newline = source.text.find("\n", end)
        end = len(source.text) if newline < 0 else newline + 1
    before = source.text[start:end]
    after = apply_edits(before, [e._replace(start=e.start - start, end=e.end - start) for e in edits])
    paths = frozenset(edit.path for edit in change.edits)
    return Fixed(finding, change.title, path, source.position(start).line, before, after, paths)


_WHY = {
    "overlap": "its edits overlap",
    "launch-gone": "the launches in the files would change",
    "own-launch": "another part of the launch would change",
    "text": "another part of the file would change",
    "stays": "the finding would remain",
    "users": "there are too many directories to find what else uses these files",
}


def _why(refusal: Refusal | None) -> str:
    """Why a change was not made, for people."""
    if refusal is None:
        return "too many changes to these files failed"
    if refusal.why == "other-launch" and refusal.launch is not None:
        span = refusal.launch.span
        return f"{refusal.launch.words.launch} in {span.path}:{span.line} would also change"
    if refusal.why == "new-finding" and refusal.finding is not None:
        span = refusal.finding.span
        return f"it would cause {refusal.finding.rule} in {span.path}:{span.line}"
    return _WHY[refusal.why]


def _left_alone(finding: Finding, refusal: Refusal | None) -> Finding:
    """A finding whose fix was not made, with the reason instead of the offer."""
    advice = f"the fix was not applied, because it could not be proved safe: {_why(refusal)}"
    return finding._replace(fix=None, advice=advice)


def suggestions(run: Run) -> dict[int, Change]:
    """The safe changes that prove themselves in the files as they are, by the ``id`` of the finding.

    A change that does away with several findings is given to the first of them.
    """
    attempt = _Round(run, _tries(run), unsafe=False, follow=0)
    refused: Counter[Identity] = Counter()
    waited: set[Identity] = set()
    while True:
        accepted = attempt.accepted
        every = [r for r in _repairs(run, refused, unsafe=False) if not _is_gone(r, attempt.proof)]
        open_ = [r for r in every if refused[r.identity] < len(alternatives(r.finding))]
        fits = _compatible([*accepted, *open_])[len(accepted) :]
        if not fits:
            break
        refused.update(repair.identity for repair, _ in attempt.extend(_one_a_request(fits, waited)))
        waited.update(repair.identity for repair in fits)
    found = {id(repair.finding): repair.change for repair in attempt.accepted}
    comments = [f for f in run.findings if f.launch is None and f.fix is not None and f.fix.safe and alternatives(f)]
    if comments and _tidied(Outcome(run), comments):
        found |= {id(finding): alternatives(finding)[0] for finding in comments}
    return found


def _tidy(outcome: Outcome, tries: Iterator[int]) -> None:
    """Apply the fixes of findings about no launch: they change none."""
    refused: set[tuple[str, str, str]] = set()
    most = len(outcome.run.findings)  # so many at once: half as many after each failure
    while True:
        open_ = [
            f for f in outcome.run.findings
            if f.launch is None and f.fix is not None and f.fix.safe and alternatives(f) and _about(f) not in refused
        ]  # fmt: skip
        if not open_ or next(tries, None) is None:
            outcome.unproved += (_left_alone(f, None) for f in open_)
            return
        some = list(_apart(open_, lambda f: alternatives(f)[0].edits))[:most]
        if _tidied(outcome, some):
            most *= 2
        elif len(some) > 1:
            most = len(some) // 2
        else:
            refused.add(_about(some[0]))
            outcome.unproved += (_left_alone(f, None) for f in some)
            most = len(open_)


def _about(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.span.path, finding.span.text


def _tidied(outcome: Outcome, findings: Sequence[Finding]) -> bool:
    """Apply some fixes that change no launch together; False where they do not prove themselves."""
    run = outcome.run
    after = unchanged(run, [edit for f in findings for edit in alternatives(f)[0].edits])
    if after is None or len(after[0].findings) != len(run.findings) - len(findings):
        return False
    outcome.run = after[0]
    outcome.texts.update(after[1])
    outcome.fixed += (_entry(f, alternatives(f)[0], run) for f in findings)
    return True


def _repairs(run: Run, refused: Mapping[Identity, int], *, unsafe: bool) -> Iterator[Repair]:
    """A repair for each finding that has one: with the first change that was not refused, or the last."""
    where = places(run.launches)
    for finding, intention, target in _intended(run, run.findings, unsafe=unsafe):
        changes = alternatives(finding)
        if changes and finding.fix is not None and finding.launch is not None:
            identity = Identity(finding.rule, where[id(finding.launch)], finding.subject)
            change = changes[min(refused[identity], len(changes) - 1)]
            sizes_only = isinstance(intention, SetSize) and not (finding.fix.of or finding.launch).swarm
            yield Repair(finding, identity, intention, change, target, sizes_only)


def _intended(
    run: Run, findings: Iterable[Finding], *, unsafe: bool
) -> Iterator[tuple[Finding, Intention, Place]]:
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


def _by_place(run: Run, *, unsafe: bool) -> dict[Place, list[Intention]]:
    """What the findings of each launch intend, those included that say what another says."""
    found: dict[Place, list[Intention]] = {}
    for _, intention, target in _intended(run, (*run.findings, *run.repeated), unsafe=unsafe):
        found.setdefault(target, []).append(intention)
    return found


def _origin(launch: Launch) -> tuple[str, tuple[str, ...], Span]:
    """What a launch has in common with the copies that are made of it."""
    return launch.kind, launch.files, launch.span


def _compatible(repairs: Sequence[Repair]) -> list[Repair]:
    """The repairs in their order, as far as they do not touch one another."""
    return list(_apart(repairs, lambda repair: repair.change.edits))


def _apart(these: Iterable[T], edits_of: Callable[[T], Iterable[Edit]]) -> Iterator[T]:
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


def _one_a_request(repairs: Sequence[Repair], held: Collection[Identity]) -> list[Repair]:
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


class _Round:
    """Repairs of one run that prove themselves together.

    Of many, a few bad ones are found by halving, so that the files are read again seldom.
    """

    def __init__(self, run: Run, tries: Iterator[int], *, unsafe: bool, follow: int = UNCOVERED) -> None:
        self.run = run
        self.intended = _by_place(run, unsafe=unsafe)
        self.tries = tries
        self.follow = follow
        self.accepted: list[Repair] = []
        self.failed = 0
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
            elif len(group) > 1:
                first = _first(group, found)
                chosen = set(map(id, first))
                groups += [[repair for repair in group if id(repair) not in chosen], first]
            else:
                refused.append((group[0], found))
                groups.sort(key=len)
        return refused

    def _prove(self, repairs: Sequence[Repair]) -> Proof | Refusal | None:
        """The proof of some repairs, or why there is none; None where the files were read often enough."""
        if (self.failed >= MOST_IN_VAIN and not self.accepted) or next(self.tries, None) is None:
            return None
        found = prove(self.run, repairs, self.intended)
        if isinstance(found, Proof):
            found = self._elsewhere(repairs) or found
        self.failed += not isinstance(found, Proof)
        return self._followed(found, self.follow) if isinstance(found, Proof) and found.uncovered else found

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
        every = _repairs(proof.run, Counter(), unsafe=False)
        repairs = [repair for repair in every if id(repair.finding) in uncovered]
        if len(repairs) < len(uncovered) or not most:
            found = proof.uncovered[0]
            return Refusal("new-finding", frozenset((found.span.path,)), finding=found)
        if next(self.tries, None) is None:
            return None
        then = prove(proof.run, repairs, _by_place(proof.run, unsafe=False))
        if not isinstance(then, Proof):
            return then
        moved = {place: then.moved[other] for place, other in proof.moved.items()}
        both = then._replace(texts={**proof.texts, **then.texts}, moved=moved)
        return self._followed(both, most - 1) if both.uncovered else both


class Others(NamedTuple):
    """A run over the named files and those that are built with them, and what the findings of its launches intend."""

    run: Run
    intended: Mapping[Place, Sequence[Intention]]


Elsewhere = Others | Refusal | None


def elsewhere(run: Run, paths: Collection[str], *, unsafe: bool) -> Elsewhere:
    """What nobody named and is built with some files; a refusal if that cannot be found, None if there is nothing."""
    kinds = kind_by_path(run.files, run.launches)
    files = {}
    for kind in sorted({kind for path in paths if (kind := kinds.get(path)) is not None}):
        named = run.files.get(kind, ())
        mine = [normal(path) for path in paths if kinds.get(path) == kind]
        found = users(kind, mine, {normal(path) for path in named}, run.workspace)
        if found is None:
            return Refusal("users", frozenset(paths))
        if found:
            files[kind] = [*named, *found]
    if not files:
        return None
    wide = lint(files, run.settings, run.workspace)
    return Others(wide, _by_place(wide, unsafe=unsafe))


def _first(repairs: Sequence[Repair], refusal: Refusal | None) -> list[Repair]:
    """The repairs to prove first after a refusal: those of other files than it is about, else the first half."""
    files = (refusal.files if refusal is not None else None) or frozenset()
    others = [repair for repair in repairs if not any(edit.path in files for edit in repair.change.edits)]
    return others if 0 < len(others) < len(repairs) else list(repairs[: len(repairs) // 2])


def remaining(outcome: Outcome) -> list[Finding]:
    """The findings left after fixing; those whose fix failed its proof say why instead of offering it."""
    failed = {(f.rule, f.span.path, f.message): f.advice for f in outcome.unproved}
    keys = [(f.rule, f.span.path, f.message) for f in outcome.run.findings]
    return [
        f._replace(fix=None, advice=failed[key]) if key in failed else f
        for f, key in zip(outcome.run.findings, keys, strict=True)
    ]
