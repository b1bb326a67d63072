"""Fixes, in memory: round after round of repairs that are planned and proved.

A fix is kept only where the files, read again with the edits in them, hold the same launches as
before but for what was intended, the finding is gone and no other one is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from shmlint.fixing.groups import repairable
from shmlint.fixing.plan import alternatives
from shmlint.fixing.prove import Identity, Proof, Refusal, Repair, objection, parts, unchanged
from shmlint.fixing.repairs import apart, compatible, intentions, offers, one_a_request
from shmlint.fixing.rounds import MOST_IN_VAIN, Round
from shmlint.model.finding import Finding
from shmlint.model.launch import Change
from shmlint.model.record import NamedTuple
from shmlint.model.source import apply_edits
from shmlint.run import Run, lint

MOST_READ_AGAIN = 4_000_000
"""Characters; see ``_tries``."""

READ_IN_VAIN = 400_000
"""Characters that are read again for proofs which fail in a row, or what 20 proofs read.

Repairs at one place are in each other's way: each is then a round of its own.
"""

IN_THE_WAY = 500
"""So many repairs that wait for one which fails make its proof count once more: each is a finding to read again."""


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


MOST_ROUNDS = 50
"""And two for each finding: each round repairs some, or finds some that cannot be repaired."""


class Outcome:
    """The result of fixing. ``texts`` are the new texts of changed files by path."""

    __slots__ = ("fixed", "run", "texts", "unproved", "whys")

    def __init__(self, run: Run) -> None:
        self.run = run
        """The run over the texts as they are after fixing."""
        self.texts: dict[str, str] = {}
        self.fixed: list[Fixed] = []
        self.unproved: list[Finding] = []
        """Findings that nothing was changed for; their advice says why."""
        self.whys: dict[object, str] = {}
        """The same advice by what ``_marks`` says of these findings."""

    def leave(self, left: Iterable[tuple[Finding, Refusal | None]]) -> None:
        """Note findings of the run that nothing was changed for."""
        marks = _marks(self.run)
        for finding, refusal in left:
            unproved = _left_alone(finding, refusal)
            self.unproved.append(unproved)
            self.whys[marks[id(finding)]] = unproved.advice


def fix(run: Run, *, unsafe: bool = False) -> Outcome:
    """Apply every safe fix that proves itself, in memory; the ``unsafe`` ones too where they are wanted.

    Most often one proof holds for all of them. Where it does not, files that nothing but themselves
    decides are repaired one by one, so that a proof reads again no more than it is about.
    """
    outcome = _fixed(run, iter((1,)), unsafe=unsafe)
    if not outcome.unproved:
        return outcome
    parts_of_run = list(repairable(run))
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
        outcome.whys |= part.whys
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


def _tries(run: Run) -> Iterator[int]:
    """How often the files may be read again to find the changes that do not prove themselves.

    Few of them are found by halving. Where there are many in much text, those not found in time are left alone.
    """
    return iter(range(max(100, MOST_READ_AGAIN // _characters(run))))


def _characters(run: Run) -> int:
    """The length of the files that have something to repair."""
    return sum(len(run.workspace.source(path).text) for path in {f.span.path for f in run.findings if f.fix}) or 1


def _repaired(run: Run, tries: Iterator[int], *, unsafe: bool) -> Outcome:
    """The fixes of findings about launches."""
    outcome = Outcome(run)
    refused: Counter[Identity] = Counter()  # how many of a finding's changes did not prove themselves
    reasons: dict[Identity, Refusal] = {}
    held: set[Identity] = set()
    in_vain, most_in_vain = 0, max(MOST_IN_VAIN, READ_IN_VAIN // _characters(run))
    offered = list(offers(run, unsafe=unsafe))
    rounds = iter(range(MOST_ROUNDS + 2 * len(run.findings)))
    while True:
        every = [offer.after(refused) for offer in offered]
        open_ = [r for r in every if refused[r.identity] < r.ways]
        if not open_ or in_vain >= most_in_vain or next(rounds, None) is None:
            outcome.leave((r.finding, reasons.get(r.identity)) for r in every)
            return outcome
        taken = compatible(open_)
        # What was written once for several launches is repaired once: the others wait for a round.
        first = one_a_request(taken, held)
        at_once = set(map(id, first))
        held.update(r.identity for r in taken if id(r) not in at_once)
        attempt = Round(outcome.run, tries, unsafe=unsafe)
        bad = attempt.extend(first)
        proof = attempt.proof
        weight = max(1, len(open_) // (IN_THE_WAY * len(first)))
        in_vain = 0 if proof is not None else in_vain + max(1, attempt.failed) * weight
        if proof is not None:
            gone = [r for r in every if _is_gone(r, proof)]
            outcome.fixed += _fixed_by(gone, attempt.accepted, outcome.run)
            outcome.run = proof.run
            offered = list(offers(proof.run, unsafe=unsafe))
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
    "users": "what else uses these files is not known",
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


class ChosenWay(NamedTuple):
    """What becomes of a fix: the way of it that is not refused; where each is, None and why the first one is."""

    way: int | None
    why: str = ""


def chosen_ways(run: Run, doubtful: Collection[int]) -> dict[int, ChosenWay]:
    """What becomes of the fixes of some findings of a run, by the ``id`` of the finding; empty where all can be made.

    A report waits for it, so nothing is checked anew and not much is read: what is not found out is left out.
    """
    offered = [offer for offer in offers(run, unsafe=False) if id(offer.repair.finding) in doubtful]
    intended = intentions(run, unsafe=False)
    together = compatible([offer.repair for offer in offered])
    if len(together) == len(offered) and objection(run, together, intended) is None:
        return {}
    found: dict[int, ChosenWay] = {}
    left = _FOR_REPORT
    for offer in offered:
        repairs = [offer.repair._replace(change=change) for change in offer.changes]
        left -= len(repairs)
        if left < 0:
            break
        found[id(offer.repair.finding)] = _chosen(objection(run, [repair], intended) for repair in repairs)
    return found


def _chosen(refusals: Iterable[Refusal | None]) -> ChosenWay:
    """What becomes of a fix whose ways are refused, or are not; after the first that is not, none is asked for."""
    first: Refusal | None = None
    for way, refusal in enumerate(refusals):
        if refusal is None:
            return ChosenWay(way)
        first = first or refusal
    return ChosenWay(None, _why(first))


_FOR_REPORT = 40
"""So often files are read again."""


def suggestions(run: Run) -> dict[int, Change]:
    """The safe changes that prove themselves in the files as they are, by the ``id`` of the finding.

    A change that does away with several findings is given to the first of them.
    """
    attempt = Round(run, _tries(run), unsafe=False, follow=0)
    refused: Counter[Identity] = Counter()
    waited: set[Identity] = set()
    offered = list(offers(run, unsafe=False))
    while True:
        accepted = attempt.accepted
        every = [r for offer in offered if not _is_gone(r := offer.after(refused), attempt.proof)]
        open_ = [r for r in every if refused[r.identity] < r.ways]
        fits = compatible([*accepted, *open_])[len(accepted) :]
        if not fits or attempt.spent:
            break
        refused.update(repair.identity for repair, _ in attempt.extend(one_a_request(fits, waited)))
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
            outcome.leave((f, None) for f in open_)
            return
        some = list(apart(open_, lambda f: alternatives(f)[0].edits))[:most]
        if _tidied(outcome, some):
            most *= 2
        elif len(some) > 1:
            most = len(some) // 2
        else:
            refused.add(_about(some[0]))
            outcome.leave((f, None) for f in some)
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


def remaining(outcome: Outcome) -> list[Finding]:
    """The findings left after fixing; those whose fix failed its proof say why instead of offering it."""
    marks = _marks(outcome.run)
    advice = {id(f): outcome.whys.get(marks[id(f)]) for f in outcome.run.findings}
    return [
        f if (why := advice[id(f)]) is None else f._replace(fix=None, advice=why) for f in outcome.run.findings
    ]


def _marks(run: Run) -> dict[int, object]:
    """What the findings of a run are, by their ``id``: the same while no launch changes, wherever lines move to."""
    numbers: dict[int, object] = {}
    seen: Counter[object] = Counter()
    for launch in run.launches:
        files = (launch.kind, launch.files, launch.span.path)
        numbers[id(launch)] = files, seen[files]
        seen[files] += 1
    return {
        id(f): (f.rule, f.subject, f.facts, numbers[id(f.launch)]) if f.launch is not None else _about(f)
        for f in run.findings
    }
