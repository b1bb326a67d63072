"""Proofs: what a change of texts makes of every launch and every finding.

The files are read again with the edits in them. Launches are told apart by their places: their
file and their offset, which is followed through the edits. Nothing here knows a syntax; each format
says what else of a file must have stayed the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal

from shmlint.files.cache import Key
from shmlint.fixing.plan import becomes
from shmlint.formats import kind_by_path, same_rest
from shmlint.model.finding import SEVERITIES, DropSize, Finding, Intention, QuoteDevices
from shmlint.model.launch import Change, Launch, Unknown, Value
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, OverlappingEdits, Span, apply_edits
from shmlint.run import Run, check, read


class Place(NamedTuple):
    """The place of a launch. ``number`` tells readings of one place in the same files apart."""

    kind: str
    files: tuple[str, ...]
    path: str
    start: int
    number: int = 0


class Identity(NamedTuple):
    """Which finding: the rule, the place, and what of it."""

    rule: str
    place: Place
    subject: str


class Repair(NamedTuple):
    """A change that is to do away with a finding, and the place of the launch that it changes."""

    finding: Finding
    identity: Identity
    intention: Intention
    change: Change
    target: Place
    sizes_only: bool
    """Whether nothing but a key that holds a size is meant to be another."""
    ways: int = 1
    """How many changes there are of which any would do."""


class Refusal(NamedTuple):
    """Why a change is not made. ``files`` are those in which something is wrong; None where any may be."""

    why: Literal["overlap", "launch-gone", "other-launch", "own-launch", "text", "stays", "new-finding", "users"]
    files: frozenset[str] | None = None
    launch: Launch | None = None
    """The launch that would be another."""
    finding: Finding | None = None
    """The finding that would stay, or be new."""


class Proof(NamedTuple):
    """The run over the edited texts, and these texts by path."""

    run: Run
    texts: dict[str, str]
    moved: Mapping[Place, Place]
    """The place of each launch afterwards, by its place before."""
    left: Collection[Identity]
    """The findings about launches that are there afterwards."""
    uncovered: tuple[Finding, ...] = ()
    """Findings of the repaired launches that were not there before, but for notes in place of something more severe."""


Edits = Mapping[str, Sequence[Edit]]


# Places


class Shift:
    """Says where an offset of a text is after edits, which do not overlap; within an edited text, where that starts."""

    __slots__ = ("_edits", "_ends", "_totals")

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = sorted(edits)
        self._ends = [edit.end for edit in self._edits]
        grown = (len(edit.text) - (edit.end - edit.start) for edit in self._edits)
        self._totals = list(accumulate(grown, initial=0))
        """How much longer the text before each edit has become, and before its end."""

    def __call__(self, offset: int) -> int:
        before = bisect_right(self._ends, offset)
        if before < len(self._edits):
            offset = min(offset, self._edits[before].start)
        return offset + self._totals[before]


Shifts = Mapping[str, Shift]
"""How edits move the texts, by path."""

UNMOVED: Shifts = {}


def places(launches: Iterable[Launch], shifts: Shifts = UNMOVED) -> dict[int, Place]:
    """The places of launches, by their ``id``, after some edits."""
    seen: dict[Place, int] = defaultdict(int)
    found = {}
    for launch in launches:
        path, start = launch.span.path, launch.span.start
        place = Place(launch.kind, launch.files, path, shifts[path](start) if path in shifts else start)
        found[id(launch)] = place._replace(number=seen[place])
        seen[place] += 1
    return found


# Proofs


class Again:
    """The files of a run read again over other texts, and checked where somebody asks for the findings.

    Most proofs fail before that.
    """

    __slots__ = ("_changed", "_checked", "_parts", "read", "texts")

    def __init__(self, run: Run, texts: dict[str, str]) -> None:
        self.texts = texts
        """The edited texts by path."""
        self.read = read(run.files, run.settings, run.workspace.over(texts), run.before)
        self._checked: Run | None = None
        self._changed: dict[tuple[tuple[str, bool], ...], list[str]] = {}
        self._parts: dict[tuple[int, bool], tuple[object, ...]] = {}

    def parts(self, launch: Launch, *, quoted: bool) -> tuple[object, ...]:
        """What a launch of this reading, or of the run before it, says part by part."""
        key = id(launch), quoted
        if key not in self._parts:
            self._parts[key] = parts(launch, self.read.settings.default_shm_size, quoted=quoted)
        return self._parts[key]

    @property
    def launches(self) -> tuple[Launch, ...]:
        return self.read.reading.launches

    @property
    def run(self) -> Run:
        """The run over these texts."""
        if self._checked is None:
            self._checked = check(self.read)
        return self._checked

    def otherwise_changed(self, run: Run, sizes_only: Mapping[str, bool]) -> list[str]:
        """The files of which more has changed than their format allows."""
        key = tuple(sizes_only.items())
        if key not in self._changed:
            kinds = kind_by_path(run.files, run.launches)
            self._changed[key] = [
                path for path, only in key
                if not same_rest(kinds.get(path), path, run.workspace, self.read.workspace, sizes_only=only)
            ]  # fmt: skip
        return self._changed[key]


_LAST = Key[list[Again]]("read again over other texts")


def _again(run: Run, texts: dict[str, str]) -> Again:
    """The files read again over other texts.

    Launches that share a text are repaired by one edit of it. All of them, each half and each alone make the same
    texts, so the last ones are kept.
    """
    last = run.context.once(_LAST, lambda _: [])
    if not last or last[0].texts != texts:
        last[:] = [Again(run, texts)]
    return last[0]


class Attempt(NamedTuple):
    """Some repairs, the files read again with them, and what the findings of each launch intend."""

    run: Run
    after: Again
    shifts: Shifts
    repairs: Sequence[Repair]
    intended: Mapping[Place, Sequence[Intention]]


def prove(
    run: Run, repairs: Sequence[Repair], intended: Mapping[Place, Sequence[Intention]]
) -> Proof | Refusal:
    """The proof that some repairs do what is intended and nothing else, or why they do not.

    ``intended`` is what the findings of every launch intend: those that intend the same may share the edited text.
    """
    attempt = _as_intended(run, repairs, intended)
    if isinstance(attempt, Refusal):
        return attempt
    return _findings(attempt)


def objection(
    run: Run, repairs: Sequence[Repair], intended: Mapping[Place, Sequence[Intention]]
) -> Refusal | None:
    """Why some repairs do something else than is intended; it is not looked at what findings there are afterwards."""
    attempt = _as_intended(run, repairs, intended)
    return attempt if isinstance(attempt, Refusal) else None


def _as_intended(
    run: Run, repairs: Sequence[Repair], intended: Mapping[Place, Sequence[Intention]]
) -> Attempt | Refusal:
    """The files read again with some repairs, if nothing in them becomes what it is not meant to be."""
    attempt = _attempted(run, repairs, intended)
    if isinstance(attempt, Refusal):
        return attempt
    sizes_only = dict.fromkeys(attempt.after.texts, True)
    for repair in repairs:
        for edit in repair.change.edits:
            sizes_only[edit.path] &= repair.sizes_only
    wrong = attempt.after.otherwise_changed(run, sizes_only)
    return Refusal("text", frozenset(wrong)) if wrong else attempt


def _attempted(
    run: Run, repairs: Sequence[Repair], intended: Mapping[Place, Sequence[Intention]], edits: Sequence[Edit] = ()
) -> Attempt | Refusal:
    """The files read again with some repairs and other edits, if no launch becomes what it is not meant to be."""
    by_path = _by_path((*edits, *(edit for repair in repairs for edit in repair.change.edits)))
    texts = _edited(run, by_path)
    if texts is None:
        return Refusal("overlap")
    attempt = Attempt(run, _again(run, texts), _shifts(by_path), repairs, intended)
    return _launches(attempt) or attempt


def right_elsewhere(
    run: Run, repairs: Sequence[Repair], intended: Mapping[Place, Sequence[Intention]]
) -> Refusal | None:
    """Why some repairs do harm in files that nobody named; None where they do none.

    ``run`` is over these files. Their launches stay what they are, or become what their own findings intend.
    """
    attempt = _attempted(run, repairs, intended)
    if isinstance(attempt, Refusal):
        return attempt
    known = {_mark(finding, attempt.shifts) for finding in run.findings}
    worst = max(SEVERITIES.index(repair.finding.severity) for repair in repairs)
    new = (f for f in attempt.after.run.findings if _mark(f, UNMOVED) not in known)
    found = next((f for f in new if SEVERITIES.index(f.severity) >= worst), None)
    return Refusal("new-finding", frozenset((found.span.path,)), finding=found) if found is not None else None


def unchanged(run: Run, edits: Sequence[Edit]) -> tuple[Run, dict[str, str]] | None:
    """The run after edits that change no launch, and the new texts; None where they do change one."""
    attempt = _attempted(run, (), {}, edits)
    if isinstance(attempt, Refusal):
        return None
    after = attempt.after
    return None if after.otherwise_changed(run, dict.fromkeys(after.texts, True)) else (after.run, after.texts)


def _by_path(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        found.setdefault(edit.path, []).append(edit)
    return found


def _shifts(edits: Edits) -> Shifts:
    return {path: Shift(some) for path, some in edits.items()}


def _edited(run: Run, edits: Edits) -> dict[str, str] | None:
    """The new texts of the files that edits touch; None where the edits touch one another."""
    try:
        return {path: apply_edits(run.workspace.source(path).text, some) for path, some in edits.items()}
    except OverlappingEdits:
        return None


# Launches


def _launches(attempt: Attempt) -> Refusal | None:
    """Why the launches are not what they are to be; None where they are.

    A launch that is not repaired is what it was. Part by part it may also be what its own finding
    intends, where the same is done, and what is made of another reading of the same service.
    """
    run = attempt.run
    where, moved = places(run.launches), places(run.launches, attempt.shifts)
    now_at = places(attempt.after.launches)
    after = {now_at[id(launch)]: launch for launch in attempt.after.launches}
    if len(run.launches) != len(after) or set(moved.values()) != after.keys():
        return Refusal("launch-gone")
    made: dict[Place, list[Intention]] = {}
    for repair in attempt.repairs:
        made.setdefault(repair.target, []).append(repair.intention)
    targets = [(launch, made[where[id(launch)]]) for launch in run.launches if where[id(launch)] in made]
    shared = _by_service(targets)
    done = {repair.intention for repair in attempt.repairs}
    default = run.settings.default_shm_size
    wrong = []
    for launch in run.launches:
        place, new = where[id(launch)], after[moved[id(launch)]]
        mine = made.get(place, [])
        also = [i for i in attempt.intended.get(place, ()) if i in done]
        more = (other for service in _services(launch) for other in shared.get(service, ()))
        also += (other.intention for other in more if not _is_kept_from(launch, other, default))
        if not _right(launch, new, (mine, also), targets, attempt.after):
            wrong.append((launch, bool(mine)))
    if not wrong:
        return None
    files = frozenset(path for launch, _ in wrong for path in (launch.span.path, *launch.files))
    other = next((launch for launch, repaired in wrong if not repaired), None)
    return Refusal("own-launch" if other is None else "other-launch", files, other)


class Shared(NamedTuple):
    """What is made of a reading of a service."""

    intention: Intention
    without_gpu: bool
    """Whether it is meant for the service without its GPU, too: no Compose file requests that."""


def _is_kept_from(launch: Launch, shared: Shared, default: int) -> bool:
    """Whether a launch takes no part in what is made of another reading of its service.

    An override may set another IPC mode, with which the size counts, or a larger size. Without the file that requests
    the GPU, the service is another container.
    """
    before, after = launch.effective_shm(default), becomes(launch, shared.intention).effective_shm(default)
    if isinstance(shared.intention, DropSize) or (launch.gpu.requested is False and not shared.without_gpu):
        return before != after
    return before.bytes is not None and after.bytes is not None and after.bytes < before.bytes


Targets = Sequence[tuple[Launch, Sequence[Intention]]]


def _right(
    old: Launch, new: Launch, wanted: tuple[Sequence[Intention], Sequence[Intention]], targets: Targets, after: Again
) -> bool:
    """Whether a launch is what it is to be: ``wanted`` is what is made of it, and what may be made of it too."""
    mine, also = wanted
    default = after.read.settings.default_shm_size
    quoted = any(isinstance(intention, QuoteDevices) for intention in (*mine, *also))
    now = after.parts(new, quoted=quoted)
    with_donor = old._replace(donor=_repaired(old.donor, targets)) if old.donor is not None else old
    if with_donor is old and not mine:
        intended = after.parts(old, quoted=quoted)
    else:
        intended = _parts(with_donor, mine, default, quoted=quoted)
    if now == intended:
        return True
    if not also:
        return False
    together = _parts(with_donor, [*mine, *also], default, quoted=quoted)
    return all(a in (b, c) for a, b, c in zip(now, intended, together, strict=True))


def _repaired(donor: Launch, targets: Targets) -> Launch:
    """A donor as it is after the repairs."""
    for target, intentions in targets:
        if (target.kind, target.files, target.span) == (donor.kind, donor.files, donor.span):
            for intention in intentions:
                donor = becomes(donor, intention)
    return donor


def _parts(
    launch: Launch, intentions: Sequence[Intention], default: int, *, quoted: bool
) -> tuple[object, ...]:
    for intention in intentions:
        launch = becomes(launch, intention)
    return parts(launch, default, quoted=quoted)


Service = tuple[str, str] | None
"""A service by its name and a file that writes it; None: whichever a template is used for."""


def _services(launch: Launch) -> list[Service]:
    """The services that a launch is a reading of: alone, with other files, in a dev container.

    A service that requests a GPU and is only a template of others is judged where they are.
    """
    if launch.kind == "devcontainer":
        return [(name, path) for name in launch.names[:1] for path in launch.files[1:]]
    if launch.kind != "compose-service":
        return []
    written = [(launch.name or "", path) for path in dict.fromkeys((launch.span.path, *launch.files))]
    return [*written, None] if launch.undecided and launch.gpu.requested is not False else [*written]


def _by_service(targets: Targets) -> dict[Service, list[Shared]]:
    """What is made of the services that launches are readings of."""
    found: dict[Service, list[Shared]] = {}
    for launch, intentions in targets:
        # The file of a dev container has no place for the size of a service.
        beside = launch.kind == "devcontainer" and all(e.span.path == launch.span.path for e in launch.gpu.evidence)
        made = [Shared(intention, beside) for intention in intentions]
        for service in dict.fromkeys((*_services(launch), None)):
            known = found.setdefault(service, [])
            known += [one for one in made if one not in known]
    return found


def parts(launch: Launch, default: int, *, quoted: bool = False) -> tuple[object, ...]:
    """What a launch says, part by part, without its place.

    ``quoted``: of its GPU requests the values of ``--gpus`` are compared, not what they come to.
    """
    gpu = launch.gpu
    effective = launch.effective_shm(default)
    return (
        launch.name, launch.names, _plain(launch.image), tuple(_plain(image) for image in launch.base_images),
        _plain(launch.command), _plain(launch.entrypoint), (gpu.requested, gpu.vendor),
        tuple(e.text for e in gpu.evidence) if quoted else (gpu.number, tuple(e.path for e in gpu.evidence)),
        tuple((m.type, m.target, m.size, m.source) for m in launch.mounts), _plain(launch.ipc),
        _size(launch), (effective.decided_by, effective.bytes), _plain(launch.build_shm),
        _plain(launch.memory_limit), tuple((k, _plain(v)) for k, v in sorted(launch.environment.items())),
        launch.env_files, tuple((k, _plain(v)) for k, v in sorted(launch.ulimits.items())), launch.cap_add,
        launch.privileged, tuple(map(_plain, launch.devices)), _plain(launch.network), launch.swarm, launch.undecided,
        _plain(launch.workdir), launch.interactive, launch.engine, _plain(launch.memory_request), launch.built_from,
        tuple(map(_plain, launch.volumes_from)), launch.other_options,
    )  # fmt: skip


def _plain(value: Value[object] | None) -> object:
    return value.value if value is not None else None


def _size(launch: Launch) -> object:
    """A size without how it is written."""
    value = launch.shm.value if launch.shm is not None else None
    return value if value is None or isinstance(value, Unknown) else (value.bytes, value.error, value.dropped_float)


# Findings


def _findings(attempt: Attempt) -> Proof | Refusal:
    """The proof, unless a finding stays that was to go, or there is one that was not there before.

    A repaired launch may have a less severe finding instead of the one that is gone.
    """
    moved, now_at = places(attempt.run.launches, attempt.shifts), places(attempt.after.launches)
    before = places(attempt.run.launches)
    becoming = {before[id(launch)]: moved[id(launch)] for launch in attempt.run.launches}
    after = attempt.after.run
    left = identities(after.findings, now_at)
    for repair in attempt.repairs:
        stays = left.get(repair.identity._replace(place=becoming[repair.identity.place]))
        if stays is not None:
            return Refusal("stays", frozenset(edit.path for edit in repair.change.edits), finding=stays)
    known = {_mark(finding, attempt.shifts) for finding in attempt.run.findings}
    levels = _levels(attempt, becoming)
    # A variable that is reported for the size that is gone may be reported for itself.
    same = {(becoming[r.identity.place], r.identity.subject) for r in attempt.repairs if r.identity.subject}
    uncovered = []
    for finding in after.findings:
        if _mark(finding, UNMOVED) in known:
            continue
        if finding.launch is not None and (now_at[id(finding.launch)], finding.subject) in same:
            continue
        level = levels.get(now_at[id(finding.launch)]) if finding.launch is not None else None
        if level is None:
            return Refusal("new-finding", frozenset((finding.span.path,)), finding=finding)
        if finding.severity != "note" or SEVERITIES.index("note") >= level:
            uncovered.append(finding)
    return Proof(after, attempt.after.texts, becoming, left.keys(), tuple(uncovered))


def _levels(attempt: Attempt, becoming: Mapping[Place, Place]) -> dict[Place, int]:
    """How severe the repaired findings are, by the places of the launches that they are about."""
    where = places(attempt.run.launches)
    launches = {where[id(launch)]: launch for launch in attempt.run.launches}
    levels: dict[Place, int] = {}
    services: dict[Service, int] = {}
    for repair in attempt.repairs:
        level = SEVERITIES.index(repair.finding.severity)
        for place in (repair.target, repair.identity.place):
            levels[becoming[place]] = max(level, levels.get(becoming[place], 0))
        for service in (*_services(launches[repair.target]), None):
            services[service] = max(level, services.get(service, 0))
    for place, launch in launches.items():
        for service in _services(launch):
            if service in services:
                levels[becoming[place]] = max(services[service], levels.get(becoming[place], 0))
    return levels


def identities(findings: Iterable[Finding], where: Mapping[int, Place]) -> dict[Identity, Finding]:
    """The findings about launches, by what they are."""
    return {Identity(f.rule, where[id(f.launch)], f.subject): f for f in findings if f.launch is not None}


def _mark(finding: Finding, shifts: Shifts) -> tuple[str, str, int, str]:
    """What a finding is, whichever combination of files it was found in."""
    span: Span = finding.launch.span if finding.launch is not None else finding.span
    start = shifts[span.path](span.start) if span.path in shifts else span.start
    return finding.rule, span.path, start, finding.subject
