"""Fixes: pick the edits, prove them, write the files.

A fix is written only when the files, read again with the edits in them, hold the same launches
as before but for the intended sizes, and the findings are gone.
"""

from __future__ import annotations

import difflib
import os
import tempfile
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shmlint.checks import all_rules
from shmlint.composefile.rewrite import same_but_for_size
from shmlint.finding import Finding
from shmlint.launch import Change, Launch, ReadOnly, Rewriter, Unknown, Value
from shmlint.lint import Run, lint
from shmlint.source import Edit, OverlappingEdits, Problem, apply_edits
from shmlint.workspace import Unreadable, Workspace

Key = tuple[str, str | None, tuple[str, ...], str, int]
"""Which launch, however far it has moved: kind, name, files, path, and its number among equals."""

Identity = tuple[str, Key, str]
"""Which finding: the rule, the launch, and what of it."""

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

    @property
    def after(self) -> Becoming | None:
        """What is to become of the launch, where that is said."""
        return self.finding.fix.after if self.finding.fix is not None else None

    @property
    def alters(self) -> str:
        """What of the launch is to be another: ``shm``, ``gpu`` or ``mounts``."""
        return self.finding.fix.alters if self.finding.fix is not None else "shm"


def fix(run: Run, *, unsafe: bool = False) -> Outcome:
    """Apply every safe fix that proves itself, in memory; the ``unsafe`` ones too where they are wanted."""
    outcome = _repaired(run, unsafe=unsafe)
    _tidy(outcome)
    return outcome


def _repaired(run: Run, *, unsafe: bool) -> Outcome:
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
        held.update(r.identity for r in taken if r not in first)
        attempt = _Attempt(outcome.run, every)
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


def _tidy(outcome: Outcome) -> None:
    """Apply the fixes of findings about no launch: they change none."""
    refused: set[tuple[str, str, str]] = set()
    while True:
        open_ = [
            f for f in outcome.run.findings
            if f.launch is None and f.fix is not None and f.fix.safe and _about(f) not in refused
        ]  # fmt: skip
        if not open_:
            return
        if not _tidied(outcome, open_):
            for finding in open_:
                if _tidied(outcome, [finding]):
                    break  # the others stand elsewhere now
                refused.add(_about(finding))
                outcome.unproved.append(finding)


def _about(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.span.path, finding.span.text


def _tidied(outcome: Outcome, findings: Sequence[Finding]) -> bool:
    """Apply some fixes that change no launch together; False where they do not prove themselves."""
    run = outcome.run
    after = unchanged(run, [edit for f in findings if f.fix is not None for edit in f.fix.changes[0].edits])
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
    if not _Attempt(run, ())._same_launches(after, {}, {}):
        return None
    compose = set(run.files.get("compose", ()))
    if not all(_same_documents(path, run.workspace, workspace) for path in texts if path in compose):
        return None
    return after, texts


def _repairs(run: Run, refused: Mapping[Identity, int], *, unsafe: bool) -> Iterator[_Repair]:
    """A repair for each finding that has one: with the first change that was not refused, or the last."""
    keys = _keys(run.launches)
    for finding in run.findings:
        if finding.fix is None or not (finding.fix.safe or unsafe) or finding.launch is None:
            continue
        identity = (finding.rule, keys[id(finding.launch)], finding.subject)
        changes = finding.fix.changes
        change = changes[min(refused[identity], len(changes) - 1)]
        size = _intended(finding, run) if finding.fix.alters == "shm" and finding.fix.after is None else 0
        target = _key_of(finding.fix.of or finding.launch, run, keys)
        if target is not None:
            yield _Repair(finding, identity, change, len(changes), size, target)


def _key_of(wanted: Launch, run: Run, keys: Mapping[int, Key]) -> Key | None:
    """The key of a launch, or of the one of the run that a copy was made of."""
    known = keys.get(id(wanted))
    if known is None:
        base = (wanted.kind, wanted.name, wanted.files, wanted.span)
        like = (launch for launch in run.launches if (launch.kind, launch.name, launch.files, launch.span) == base)
        known = next((keys[id(launch)] for launch in like), None)
    return known


class _Asked(ReadOnly):
    """In the place of a launch's rewriter: notes the size a rule asks for."""

    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter
        self.size = 0

    def set_shm_size(self, size: int) -> Sequence[Change]:
        self.size = size
        return self.rewriter.set_shm_size(size)


def _intended(finding: Finding, run: Run) -> int:
    """The size a finding's rule asked the rewriter for, heard from the rule and not from the edits."""
    assert finding.launch is not None
    asked = _Asked(finding.launch.rewriter)
    _, check = all_rules()[finding.rule]
    for _ in check(finding.launch._replace(rewriter=asked), run.context):
        pass
    return asked.size


def _compatible(repairs: Sequence[_Repair]) -> list[_Repair]:
    """The repairs in their order, as far as they do not touch one another."""
    taken: list[_Repair] = []
    edits: dict[str, list[Edit]] = {}
    for repair in repairs:
        if all(_free(edit, edits.get(edit.path, ())) for edit in repair.change.edits):
            taken.append(repair)
            for edit in repair.change.edits:
                known = edits.setdefault(edit.path, [])
                if edit not in known[bisect_left(known, edit) :][:1]:
                    insort(known, edit)
    return taken


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

    def __init__(self, run: Run, every: Sequence[_Repair]) -> None:
        self.run = run
        self.keys = _keys(run.launches)
        self.accepted: list[_Repair] = []
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
        half = len(repairs) // 2
        return self.extend(repairs[:half]) + self.extend(repairs[half:])

    def _prove(self, repairs: Sequence[_Repair]) -> tuple[Run, dict[str, str]] | None:
        """The run after some repairs, and the new texts; None where they do not prove themselves."""
        run = self.run
        texts = _edited(run, [edit for repair in repairs for edit in repair.change.edits])
        if texts is None:
            return None
        workspace = run.workspace.over(texts)
        after = lint(run.files, run.settings, workspace, _not_found(run))
        targets = {r.target: r.size for r in repairs if r.size}
        altered = {r.target: r.alters for r in repairs if r.alters != "shm"}
        becoming: dict[Key, list[Becoming]] = {}
        for repair in repairs:
            if repair.after is not None:
                becoming.setdefault(repair.target, []).append(repair.after)
        if not self._same_launches(after, targets, altered, becoming):
            return None
        sizes = [r for r in repairs if r.size and r.target[0] == "compose-service"]
        others = {path for kind, paths in run.files.items() if kind != "compose" for path in paths}
        compose = {e.path for r in sizes for e in r.change.edits} - others  # a document holds more than YAML
        if not all(_same_documents(path, run.workspace, workspace) for path in compose):
            return None
        left = _identities(after)
        return None if any(repair.identity in left for repair in repairs) else (after, texts)

    def _same_launches(
        self,
        after: Run,
        targets: Mapping[Key, int],
        altered: Mapping[Key, str],
        becoming: Mapping[Key, Sequence[Becoming]] = NO_CHANGE,
    ) -> bool:
        """Whether a reading holds the same launches, the targets with the sizes they are to have,
        ``altered`` ones but for the part a fix is about, and those ``becoming`` another as they are to.

        Another size than before is also right for a launch with a finding of its own that asks for
        it, for the same service in another combination of files or started by a dev container,
        and for a launch that is not judged by itself (a template others extend).
        """
        if len(self.run.launches) != len(after.launches):
            return False
        keys_after = _keys(after.launches)
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
                return False
            old = _become(before, becoming.get(key, ()))
            if meaning(old, but) != meaning(new, but) or (key in becoming and _plain(old.shm) != _plain(new.shm)):
                # What one text says for several launches changes for all of them.
                shared = [*self.asked.get(key, ()), *(b for place in _places(before) for b in also.get(place, ()))]
                old = _become(old, shared)
                if not becoming or meaning(old, but) != meaning(new, but):
                    return False
            given = new.shm.known.bytes if new.shm is not None and new.shm.known is not None else None
            if key in targets:
                if given != targets[key]:
                    return False
            elif _plain(old.shm) != _plain(new.shm):
                right = self.sizes.get(key, set()).union(*(places.get(place, ()) for place in _places(old)))
                if given not in (targets.values() if old.undecided else right):
                    return False
        return True


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


def _same_documents(path: str, before: Workspace, after: Workspace) -> bool:
    try:
        return same_but_for_size(before.documents(path), after.documents(path))
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


def diff(run: Run, texts: Mapping[str, str]) -> Iterator[str]:
    """The lines of a unified diff from what is on disk to the new texts."""
    for path in sorted(texts):
        old, new = _lines(run.workspace.source(path).text), _lines(texts[path])
        for line in difflib.unified_diff(old, new, path, path):
            yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Lines with their endings, as ``diff`` and ``patch`` see them: a form feed ends none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


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
