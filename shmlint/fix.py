"""Fixes: pick the edits, prove them, write the files.

A fix is written only when the files, read again with the edits in them, hold the same launches
as before but for the intended sizes, and the findings are gone.
"""

from __future__ import annotations

import difflib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shmlint.finding import Finding
from shmlint.launch import Change, Launch, Unknown, Value
from shmlint.lint import Run, lint
from shmlint.source import Edit, OverlappingEdits, apply_edits

Key = tuple[str, str | None, tuple[str, ...], str, int]
"""Which launch, however far it has moved: kind, name, files, path, and its number among equals."""

_ROUNDS = 20
"""Fixes that uncover further findings are followed this often at the most."""


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


def fix(run: Run) -> Outcome:
    """Apply every safe fix that proves itself, in memory."""
    outcome = Outcome(run)
    rejected: set[tuple[str, Key | None]] = set()
    for _ in range(_ROUNDS):
        keys = _keys(outcome.run.launches)
        todo = [
            f for f in outcome.run.findings
            if f.fix is not None and f.fix.safe and _identity(f, keys) not in rejected
        ]  # fmt: skip
        if not todo:
            break
        taken = _compatible(todo)
        proved = _attempt(outcome, taken, keys)
        if proved is not None:
            _accept(outcome, proved, [f for f, _ in taken])
            continue
        for finding in todo:
            if _fix_one(outcome, finding, keys):
                break
            rejected.add(_identity(finding, keys))
            outcome.unproved.append(finding)
    return outcome


def _identity(finding: Finding, keys: Mapping[int, Key]) -> tuple[str, Key | None]:
    return finding.rule, keys.get(id(finding.launch)) if finding.launch is not None else None


def _compatible(findings: Sequence[Finding]) -> list[tuple[Finding, Change]]:
    """The first change of each finding, as far as they do not touch one another."""
    taken: list[tuple[Finding, Change]] = []
    edits: dict[str, set[Edit]] = {}
    for finding in findings:
        assert finding.fix is not None
        change = finding.fix.changes[0]
        if all(_free(edit, edits.get(edit.path, set())) for edit in change.edits):
            taken.append((finding, change))
            for edit in change.edits:
                edits.setdefault(edit.path, set()).add(edit)
    return taken


def _free(edit: Edit, taken: set[Edit]) -> bool:
    if edit in taken:
        return True
    return all(other.end < edit.start or edit.end < other.start for other in taken)


def _fix_one(outcome: Outcome, finding: Finding, keys: Mapping[int, Key]) -> bool:
    assert finding.fix is not None
    for change in finding.fix.changes:
        proved = _attempt(outcome, [(finding, change)], keys)
        if proved is not None:
            _accept(outcome, proved, [finding])
            return True
    return False


def _accept(outcome: Outcome, proved: tuple[Run, dict[str, str]], findings: Sequence[Finding]) -> None:
    outcome.run, texts = proved
    outcome.texts.update(texts)
    outcome.fixed += findings


def _attempt(
    outcome: Outcome, changes: Sequence[tuple[Finding, Change]], keys: Mapping[int, Key]
) -> tuple[Run, dict[str, str]] | None:
    """The run after some changes, and the new texts; None where they do not prove themselves."""
    run = outcome.run
    by_path: dict[str, list[Edit]] = {}
    for _, change in changes:
        for edit in change.edits:
            by_path.setdefault(edit.path, []).append(edit)
    try:
        texts = {path: apply_edits(run.workspace.source(path).text, edits) for path, edits in by_path.items()}
    except OverlappingEdits:
        return None
    after = lint(run.files, run.settings, run.workspace.over(texts))
    targets = {keys[id(f.launch)] for f, _ in changes if f.launch is not None}
    if not _same_but_for(run.launches, after.launches, targets, keys):
        return None
    keys_after = _keys(after.launches)
    left = {_identity(f, keys_after) for f in after.findings}
    if any(_identity(f, keys) in left for f, _ in changes):
        return None
    return after, texts


def _keys(launches: Sequence[Launch]) -> dict[int, Key]:
    seen: Counter[tuple[str, str | None, tuple[str, ...], str]] = Counter()
    keys: dict[int, Key] = {}
    for launch in launches:
        base = (launch.kind, launch.name, launch.files, launch.span.path)
        keys[id(launch)] = (*base, seen[base])
        seen[base] += 1
    return keys


def _same_but_for(
    before: Sequence[Launch], after: Sequence[Launch], targets: set[Key], keys: Mapping[int, Key]
) -> bool:
    """Whether two readings hold the same launches, sizes of the targets aside.

    A launch that is not judged by itself (a template others extend) may change with its users.
    The same service read in another combination of files changes with the target too.
    """
    if len(before) != len(after):
        return False
    places = {(key[1], key[3]) for key in targets}
    keys_after = _keys(after)
    for old, new in zip(before, after, strict=True):
        key = keys[id(old)]
        if key != keys_after[id(new)]:
            return False
        may_change = key in targets or (key[1], key[3]) in places or bool(old.undecided)
        if meaning(old, with_size=not may_change) != meaning(new, with_size=not may_change):
            return False
    return True


def meaning(launch: Launch, *, with_size: bool) -> tuple[object, ...]:
    """What a launch says, wherever it stands in the file."""
    return (
        launch.kind, launch.name, launch.files, _plain(launch.image), _plain(launch.command),
        _plain(launch.entrypoint), launch.gpu.requested, launch.gpu.vendor, launch.gpu.count,
        tuple(e.path for e in launch.gpu.evidence), _plain(launch.ipc),
        tuple((m.type, m.target, m.size, m.source) for m in launch.mounts), _plain(launch.build_shm),
        _plain(launch.memory_limit), tuple((k, _plain(v)) for k, v in sorted(launch.environment.items())),
        tuple((k, _plain(v)) for k, v in sorted(launch.ulimits.items())), launch.cap_add, launch.privileged,
        launch.undecided, _plain(launch.shm) if with_size else None,
    )  # fmt: skip


def _plain(value: Value[object] | None) -> object:
    if value is None:
        return None
    return value.value.because if isinstance(value.value, Unknown) else value.value


def diff(run: Run, texts: Mapping[str, str]) -> Iterator[str]:
    """The lines of a unified diff from what is on disk to the new texts."""
    for path in sorted(texts):
        old = run.workspace.source(path).text.splitlines(keepends=True)
        new = texts[path].splitlines(keepends=True)
        for line in difflib.unified_diff(old, new, path, path):
            if line.endswith("\n"):
                yield line
            else:
                yield line + "\n\\ No newline at end of file\n"


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
        mode = os.stat(target).st_mode & 0o7777
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".shmlint-")
        with os.fdopen(handle, "wb") as file:
            file.write(new.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
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
