"""Fixes: pick the edits, prove them, write the files.

A fix is written only when the files, read again with the edits in them, hold the same launches
as before but for the intended sizes, and the findings are gone.
"""

from __future__ import annotations

import os
import tempfile
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.fixing.plan import alternatives, becomes
from shmlint.formats import ALONE
from shmlint.formats.compose.rewrite import TOUCHED, same_but_for_size
from shmlint.model.finding import Finding, QuoteDevices, SetSize
from shmlint.model.launch import Change, Launch, Unknown, Value
from shmlint.model.source import Edit, OverlappingEdits, Problem, Span, apply_edits
from shmlint.run import Run, lint
from shmlint.syntax.yaml import read_documents

Key = tuple[str, str | None, tuple[str, ...], str, int]
"""Which launch, however far it has moved: kind, name, files, path, and its number among equals."""

Identity = tuple[str, Key, str]
"""Which finding: the rule, the launch, and what of it."""

T = TypeVar("T")

MOST_READ_AGAIN = 4_000_000
"""Characters; see ``_tries``."""

Becoming = Callable[[Launch], Launch]
"""What is to become of a launch."""


class NotWritten(Exception):
    """A fixed file could not be written; it is as it was."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


@dataclass(slots=True)
class Outcome:
    """What fixing came to. ``texts`` are the new texts of changed files by path."""

    run: Run
    """The run over the texts as they are after fixing."""
    texts: dict[str, str] = field(default_factory=dict)
    fixed: list[Finding] = field(default_factory=list)
    unproved: list[Finding] = field(default_factory=list)
    """Findings whose fix did not prove itself: nothing was changed for them."""


@dataclass(frozen=True, slots=True)
class _Repair:
    """One of several ways to do away with a finding: a change, and the size in bytes the launch is to have."""

    finding: Finding
    identity: Identity
    change: Change
    changes: int
    size: int
    target: Key
    """Which launch is changed."""

    after: Becoming | None
    """What is to become of the launch, where that is not only another size."""
    alters: str
    """What of the launch may be another after it: ``shm`` or ``gpu``."""


def fix(run: Run, *, unsafe: bool = False) -> Outcome:
    """Apply every safe fix that proves itself, in memory; the ``unsafe`` ones too where they are wanted.

    Files that nothing but themselves decides are repaired one by one, so that a proof reads again no
    more than it is about.
    """
    parts = list(_parts(run))
    if len(parts) < 2:
        return _fixed(run, unsafe=unsafe)
    outcome = Outcome(run)
    expected = _all_meanings(run)
    for files in parts:
        before = lint(files, run.settings, run.workspace)
        part = _fixed(before, unsafe=unsafe)
        expected.subtract(_all_meanings(before))
        expected.update(_all_meanings(part.run))
        outcome.texts.update(part.texts)
        outcome.fixed += part.fixed
        outcome.unproved += part.unproved
    if not outcome.texts:
        return outcome
    outcome.run = lint(run.files, run.settings, run.workspace.over(outcome.texts), _not_found(run))
    # What is repaired in one part was not to be seen in another.
    seen = _all_meanings(outcome.run)
    return outcome if +expected == seen and not -expected else _fixed(run, unsafe=unsafe)


def _all_meanings(run: Run) -> Counter[object]:
    return Counter((meaning(launch), _plain(launch.shm)) for launch in run.launches)


def _fixed(run: Run, *, unsafe: bool) -> Outcome:
    """Apply the fixes of a run that prove themselves together."""
    tries = _tries(run)
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
    held: set[Identity] = set()
    gone: set[Identity] = set()
    while True:
        every = [r for r in _repairs(outcome.run, refused, unsafe=unsafe) if r.identity not in gone]
        open_ = [r for r in every if refused[r.identity] < r.changes]
        if not open_:
            outcome.unproved = [r.finding for r in every]
            return outcome
        taken = _compatible(open_)
        # What was written once for several launches is repaired once: the others wait for a round.
        first = _one_a_request(taken, held)
        at_once = set(map(id, first))
        held.update(r.identity for r in taken if id(r) not in at_once)
        attempt = _Attempt(outcome.run, every, tries)
        bad = attempt.extend(first)
        if attempt.proved is not None:
            outcome.run, texts = attempt.proved
            outcome.texts.update(texts)
            left = _identities(outcome.run)
            now_gone = [r for r in every if r.identity not in left]
            outcome.fixed += (r.finding for r in now_gone)
            gone.update(r.identity for r in now_gone)
            refused.clear()  # what stood in another's way may not do so any more
        elif len(first) == len(taken):
            refused.update(r.identity for r in bad)  # each was tried alone


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
            outcome.unproved += open_
            return
        some = list(_apart(open_, lambda f: alternatives(f)[0].edits))[:most]
        if _tidied(outcome, some):
            most *= 2
        elif len(some) > 1:
            most = len(some) // 2
        else:
            refused.add(_about(some[0]))
            outcome.unproved += some
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
    outcome.fixed += findings
    return True


def unchanged(run: Run, edits: Sequence[Edit]) -> tuple[Run, dict[str, str]] | None:
    """The run after edits that change no launch, and the new texts; None where they do change one."""
    texts = _edited(run, edits)
    if texts is None:
        return None
    workspace = run.workspace.over(texts)
    after = lint(run.files, run.settings, workspace, _not_found(run))
    if _Attempt(run, (), iter(())).changed(after, {}, {}) != set():
        return None
    compose = set(run.files.get("compose", ()))
    if not all(_same_documents(path, run.workspace, workspace) for path in texts if path in compose):
        return None
    return after, texts


def _repairs(run: Run, refused: Mapping[Identity, int], *, unsafe: bool) -> Iterator[_Repair]:
    """A repair for each finding that has one: with the first change that was not refused, or the last."""
    keys = _keys(run.launches)
    origins: dict[_Origin, Key] = {}
    for finding in run.findings:
        if finding.fix is None or not (finding.fix.safe or unsafe) or finding.launch is None:
            continue
        identity = (finding.rule, keys[id(finding.launch)], finding.subject)
        wanted = finding.fix.of or finding.launch
        intention = finding.fix.intention
        changes = alternatives(finding)
        if not changes:
            continue
        change = changes[min(refused[identity], len(changes) - 1)]
        sized = isinstance(intention, SetSize) and not wanted.swarm
        size = intention.bytes if isinstance(intention, SetSize) and sized else 0
        quoted = isinstance(intention, QuoteDevices)
        after = None if sized or quoted else partial(becomes, wanted=intention)
        target = keys.get(id(wanted))
        if target is None:
            if not origins:
                origins = {_origin(launch): keys[id(launch)] for launch in reversed(run.launches)}
            target = origins.get(_origin(wanted))
        if target is not None:
            yield _Repair(finding, identity, change, len(changes), size, target, after, "gpu" if quoted else "shm")


_Origin = tuple[str, str | None, tuple[str, ...], Span]


def _origin(launch: Launch) -> _Origin:
    """What a launch has in common with the copies that are made of it."""
    return launch.kind, launch.name, launch.files, launch.span


def _compatible(repairs: Sequence[_Repair]) -> list[_Repair]:
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


def _one_a_request(repairs: Sequence[_Repair], held: Collection[Identity]) -> list[_Repair]:
    """The first repair for each place that asks for a GPU, and those that have waited once."""
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


NO_CHANGE: Mapping[Key, Sequence[Becoming]] = {}


class _Attempt:
    """Repairs of one run that prove themselves together.

    Of many, a few bad ones are found by halving, so that the files are read again seldom.
    """

    def __init__(self, run: Run, every: Sequence[_Repair], tries: Iterator[int]) -> None:
        self.run = run
        self.tries = tries
        self.keys = _keys(run.launches)
        self.accepted: list[_Repair] = []
        self.suspects: set[str] = set()
        """Files in which something became wrong when repairs last failed their proof, where that is known."""
        self.proved: tuple[Run, dict[str, str]] | None = None
        # A change may repair other findings on its way, by the size they ask for themselves.
        self.sizes: dict[Key, set[int]] = {}
        self.asked: dict[Key, list[Becoming]] = {}
        for repair in every:
            if repair.size:
                self.sizes.setdefault(repair.target, set()).add(repair.size)
            if repair.after is not None:
                self.asked.setdefault(repair.target, []).append(repair.after)

    def extend(self, repairs: Sequence[_Repair]) -> list[_Repair]:
        """Accept the repairs that prove themselves beside those accepted before; gives back the others."""
        proved = self._prove([*self.accepted, *repairs])
        if proved is not None:
            self.accepted += repairs
            self.proved = proved
            return []
        if len(repairs) == 1:
            return list(repairs)
        suspected = {id(r) for r in repairs if any(edit.path in self.suspects for edit in r.change.edits)}
        first = [r for r in repairs if id(r) not in suspected]
        if not first or not suspected:
            first = list(repairs[: len(repairs) // 2])
        chosen = set(map(id, first))
        return self.extend(first) + self.extend([r for r in repairs if id(r) not in chosen])

    def _prove(self, repairs: Sequence[_Repair]) -> tuple[Run, dict[str, str]] | None:
        """The run after some repairs, and the new texts; None where they do not prove themselves."""
        run = self.run
        self.suspects = set()
        texts = _edited(run, [edit for repair in repairs for edit in repair.change.edits])
        if texts is None or next(self.tries, None) is None:
            return None
        workspace = run.workspace.over(texts)
        after = lint(run.files, run.settings, workspace, _not_found(run))
        targets = {r.target: r.size for r in repairs if r.size}
        altered = {r.target: r.alters for r in repairs if r.alters != "shm"}
        becoming: dict[Key, list[Becoming]] = {}
        for repair in repairs:
            if repair.after is not None:
                becoming.setdefault(repair.target, []).append(repair.after)
        wrong = self.changed(after, targets, altered, becoming)
        if wrong is None:
            return None
        others = {path for kind, paths in run.files.items() if kind != "compose" for path in paths}
        loose: dict[str, bool] = {}  # the compose files by whether more than sizes is meant to change
        for repair in repairs:
            for path in {e.path for e in repair.change.edits} - others:  # a page holds more than YAML
                loose[path] = loose.get(path, False) or not repair.size
        left = _identities(after)
        wrong |= {path for path, more in loose.items() if not _same_documents(path, run.workspace, workspace, more)}
        wrong |= {e.path for repair in repairs if repair.identity in left for e in repair.change.edits}
        self.suspects = wrong
        return None if wrong else (after, texts)

    def changed(
        self,
        after: Run,
        targets: Mapping[Key, int],
        altered: Mapping[Key, str],
        becoming: Mapping[Key, Sequence[Becoming]] = NO_CHANGE,
    ) -> set[str] | None:
        """The files of launches that another reading makes something else of; None where it has others.

        The targets are to have their sizes, ``altered`` ones to be the same but for the part a fix is
        about, and those ``becoming`` another to be what they become.

        Another size than before is also right for a launch with a finding of its own that asks for
        it, for the same service in another combination of files or started by a dev container,
        and for a launch that is not judged by itself (a template others extend).
        """
        wrong: set[str] = set()
        if len(self.run.launches) != len(after.launches):
            return None
        keys_after = _keys(after.launches)
        sizes = set(targets.values())
        places: dict[tuple[str | None, str], set[int]] = {}
        for launch in self.run.launches:
            key = self.keys[id(launch)]
            for place in _places(launch) if key in targets else ():
                places.setdefault(place, set()).add(targets[key])
        also: dict[tuple[str | None, str], list[Becoming]] = {}
        for launch in self.run.launches if becoming else ():
            for place in _places(launch):
                also.setdefault(place, []).extend(becoming.get(self.keys[id(launch)], ()))
        for before, new in zip(self.run.launches, after.launches, strict=True):
            key = self.keys[id(before)]
            but = altered.get(key, "")
            if key != keys_after[id(new)]:
                return None
            old = _become(before, becoming.get(key, ()))
            if meaning(old, but) != meaning(new, but) or (key in becoming and _plain(old.shm) != _plain(new.shm)):
                # What one text says for several launches changes for all of them.
                shared = [*self.asked.get(key, ()), *(b for place in _places(before) for b in also.get(place, ()))]
                old = _become(old, shared)
                if not becoming or meaning(old, but) != meaning(new, but):
                    wrong |= {before.span.path, *before.files}
            given = new.shm.known.bytes if new.shm is not None and new.shm.known is not None else None
            if key in targets:
                if given != targets[key]:
                    wrong |= {before.span.path, *before.files}
            elif _plain(old.shm) != _plain(new.shm):
                right = self.sizes.get(key, set()).union(*(places.get(place, ()) for place in _places(old)))
                if given not in (sizes if old.undecided else right):
                    wrong |= {before.span.path, *before.files}
        return wrong


def _become(launch: Launch, changes: Iterable[Becoming]) -> Launch:
    for change in changes:
        launch = change(launch)
    return launch


def _places(launch: Launch) -> Iterator[tuple[str | None, str]]:
    """Under which names, and in which files, a launch gets its size: also as the service that it starts."""
    yield launch.name, launch.span.path
    if launch.kind == "devcontainer" and launch.names:
        for path in launch.files[1:]:
            yield launch.names[0], path


def _edited(run: Run, edits: Iterable[Edit]) -> dict[str, str] | None:
    """The new texts of the files that edits touch; None where the edits touch one another."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    try:
        return {path: apply_edits(run.workspace.source(path).text, some) for path, some in by_path.items()}
    except OverlappingEdits:
        return None


def _not_found(run: Run) -> list[Problem]:
    """What was wrong before anything was read: paths that are not there have no text."""
    return [Problem(f.span, f.message) for f in run.findings if f.launch is None and not f.span.source.text]


def _same_documents(path: str, before: Workspace, after: Workspace, more: bool = False) -> bool:
    """Whether YAML says the same but for sizes, or but for all that a repair can be about (``more``)."""
    try:
        return same_but_for_size(read_documents(path, before), read_documents(path, after), TOUCHED if more else ())
    except Unreadable:
        return False


def _identities(run: Run) -> set[Identity]:
    keys = _keys(run.launches)
    return {(f.rule, keys[id(f.launch)], f.subject) for f in run.findings if f.launch is not None}


def _keys(launches: Sequence[Launch]) -> dict[int, Key]:
    seen: Counter[tuple[str, str | None, tuple[str, ...], str]] = Counter()
    keys: dict[int, Key] = {}
    for launch in launches:
        base = (launch.kind, launch.name, launch.files, launch.span.path)
        keys[id(launch)] = (*base, seen[base])
        seen[base] += 1
    return keys


def meaning(launch: Launch, but: str = "") -> tuple[object, ...]:
    """What a launch says, its size left out, wherever it stands in the file.

    ``but`` leaves out another part too: ``gpu`` or ``mounts``.
    """
    gpu = launch.gpu
    return (
        launch.kind, launch.name, launch.files, launch.names, _plain(launch.image),
        tuple(_plain(image) for image in launch.base_images), _plain(launch.command),
        _plain(launch.entrypoint),
        () if but == "gpu" else (gpu.requested, gpu.vendor, gpu.count, tuple(e.path for e in gpu.evidence)),
        tuple((m.type, m.target, "" if but == "mounts" else m.size, m.source) for m in launch.mounts),
        _plain(launch.ipc), _plain(launch.build_shm),
        _plain(launch.memory_limit), tuple((k, _plain(v)) for k, v in sorted(launch.environment.items())),
        launch.env_files, tuple((k, _plain(v)) for k, v in sorted(launch.ulimits.items())), launch.cap_add,
        launch.privileged, tuple(map(_plain, launch.devices)), _plain(launch.network), launch.swarm, launch.undecided,
    )  # fmt: skip


def _plain(value: Value[object] | None) -> object:
    if value is None:
        return None
    return value.value.because if isinstance(value.value, Unknown) else value.value


def write(run: Run, texts: Mapping[str, str]) -> Iterator[str]:
    """Write the new texts, each file whole or not at all; yields the paths as they are written.

    Raises NotWritten for a file that cannot be written or changed since it was read.
    """
    for path, text in texts.items():
        _write(path, run.workspace.source(path).text, text)
        yield path


def _write(path: str, old: str, new: str) -> None:
    target = os.path.realpath(path)
    temporary = ""
    try:
        with open(target, "rb") as file:
            if file.read() != old.encode("utf-8"):
                raise NotWritten(path, "it changed while it was being read; run shmlint again")
        before = os.stat(target)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".shmlint-")
        with os.fdopen(handle, "wb") as file:
            file.write(new.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown"):  # a run as root in a container leaves the file to its owner
            try:
                os.chown(temporary, before.st_uid, before.st_gid)
            except OSError:
                pass
        os.chmod(temporary, before.st_mode & 0o7777)
        os.replace(temporary, target)
        temporary = ""
    except OSError as error:
        raise NotWritten(path, f"cannot be written: {error.strerror or error}") from None
    finally:
        if temporary:
            try:
                os.unlink(temporary)
            except OSError:
                pass


def remaining(outcome: Outcome) -> list[Finding]:
    """The findings left after fixing; those whose fix failed its proof say so instead of offering it."""
    failed = {(f.rule, f.span.path, f.message) for f in outcome.unproved}
    advice = "the change could not be proved to touch nothing else, so the file was left as it is"
    return [
        f._replace(fix=None, advice=advice) if (f.rule, f.span.path, f.message) in failed else f
        for f in outcome.run.findings
    ]
