"""The Python API: ``shmlint.lint`` and ``shmlint.fix``, and the values they return.

All values are immutable and can be pickled. Sizes are bytes. Lines and columns start at 1, columns count
characters, an end is exclusive. Paths have ``/`` and are relative to ``root``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from shmlint.config import common, load
from shmlint.config.choose import choose
from shmlint.files.workspace import Workspace
from shmlint.fixing.plan import advice, planned
from shmlint.formats import KINDS
from shmlint.model.finding import Basis, Severity
from shmlint.model.launch import Decider
from shmlint.model.need import Verdict
from shmlint.model.record import NamedTuple
from shmlint.model.settings import InvalidSettings, Settings
from shmlint.model.source import Edit as TextEdit
from shmlint.model.source import Position, Span
from shmlint.rules import all_rules
from shmlint.run import Run
from shmlint.run import lint as lint_files

if TYPE_CHECKING:
    from shmlint.fixing import fix as fixing
    from shmlint.model import finding as model
    from shmlint.model.launch import Launch as ReadLaunch

__all__ = [
    "Edit", "Error", "Evidence", "Finding", "Fix", "Fixed", "Gpu", "InternalError", "Launch", "Location", "Mechanism",
    "Need", "NotRead", "PathError", "Position", "Report", "Settings", "SettingsError", "Shm", "WriteError", "fix",
    "lint", "load_settings",
]  # fmt: skip

Path = str | os.PathLike[str]


class Error(Exception):
    """What `lint` and `fix` raise: a path, the settings, or a file that cannot be written."""


class PathError(Error):
    """There is no such file or directory."""


class SettingsError(Error):
    """A settings file cannot be used; the message has its place."""


class WriteError(Error):
    """A repaired file could not be written; it is as it was.

    ``written`` are the paths that were written before it.
    """

    def __init__(self, message: str, written: tuple[str, ...] = ()) -> None:
        super().__init__(message, written)
        self.message = message
        self.written = written

    def __str__(self) -> str:
        return self.message


class InternalError(Error):
    """A defect of shmlint. The cause is the exception that was not expected."""


class Location(NamedTuple):
    """A part of a file: from ``start`` up to ``end``, which is exclusive."""

    path: str
    start: Position
    end: Position


class Evidence(NamedTuple):
    """What a claim rests on: a text, its location, and the address of its source."""

    text: str
    location: Location | None
    source: str | None


class Mechanism(NamedTuple):
    """One thing that fills /dev/shm. ``bytes`` is None where the amount is not known."""

    id: str
    bytes: int | None
    basis: Basis
    because: str
    evidence: tuple[Evidence, ...]


class Need(NamedTuple):
    """What a launch needs of /dev/shm; ``minimum`` and ``recommended`` are bytes, None where not known."""

    verdict: Verdict
    minimum: int | None
    recommended: int | None
    mechanisms: tuple[Mechanism, ...]
    workload: str | None
    because: str


class Gpu(NamedTuple):
    """The GPUs that a launch requests. ``requested`` and ``number`` are None if they are unknown."""

    requested: bool | None
    vendor: str | None
    number: int | Literal["all"] | None


class Shm(NamedTuple):
    """What a launch's /dev/shm becomes.

    ``declared`` is the size as it is written, ``declared_bytes`` what Docker reads in it.
    ``effective_bytes`` is None where the host or something unknown decides. ``emptydir`` is a memory volume of a pod.
    """

    declared: str | None
    declared_bytes: int | None
    ipc: str | None
    decided_by: Decider
    effective_bytes: int | None


class Launch(NamedTuple):
    """One container start, whatever it is written in. Values that are not known are None."""

    kind: str
    name: str | None
    location: Location
    files: tuple[str, ...]
    image: str | None
    command: tuple[str, ...] | None
    gpu: Gpu
    shm: Shm
    need: Need


class Edit(NamedTuple):
    """Replace the text at a location by another."""

    location: Location
    text: str


class Fix(NamedTuple):
    """A planned repair. `fix` proves it before anything is written.

    ``safe`` is false where it may alter what the container does besides.
    """

    title: str
    safe: bool
    edits: tuple[Edit, ...]


class Finding(NamedTuple):
    """One thing that is wrong. ``help`` is the address of the rule's page, None while there is none."""

    rule: str
    name: str
    severity: Severity
    location: Location
    message: str
    launch: Launch | None
    evidence: tuple[Evidence, ...]
    fix: Fix | None
    advice: str | None
    help: str | None


class Fixed(NamedTuple):
    """What `fix` changed for one finding: whole lines before and after, and the number of the first."""

    path: str
    line: int
    rule: str
    title: str
    before: str
    after: str


class NotRead(NamedTuple):
    """A file or a launch that was seen and not read."""

    path: str
    line: int
    because: str


class Report(NamedTuple):
    """What a run found.

    ``files`` are those that were read. After `fix`, ``fixed`` is what was changed, ``texts`` are the new
    texts of the changed files by path, and ``findings`` are those that remain.
    """

    root: str
    files: tuple[str, ...]
    launches: tuple[Launch, ...]
    findings: tuple[Finding, ...]
    not_read: tuple[NotRead, ...]
    fixed: tuple[Fixed, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def lint(
    paths: Sequence[Path] = (".",), *, root: Path = ".", settings: Settings | None = None, jobs: int = 1
) -> Report:
    """Check files and directories. Prints nothing and changes nothing.

    ``paths`` count from ``root``, and all paths in the result are relative to it. Each file follows the
    nearest settings file above it; ``settings`` replace them all. Up to ``jobs`` processes read where there
    is much to read; in a thread other than the main one, and in a daemonic process, it is one.

    Raises PathError, SettingsError, InternalError; all are Error. A file that cannot be read is a finding
    of SHM001; one that no format reads, or that the settings exclude, is in ``not_read``.

    >>> import shmlint
    >>> report = shmlint.lint(["compose.yaml"], root="fixtures/quickstart")
    >>> [(finding.rule, finding.location.start.line) for finding in report.findings]
    [('SHM101', 2)]
    >>> launch = report.findings[0].launch
    >>> launch.name, launch.shm.effective_bytes, launch.need.verdict
    ('trainer', 67108864, 'needed')
    >>> [edit.text for edit in report.findings[0].fix.edits]
    ['    shm_size: 8gb\\n']
    """
    _check(paths)
    return _guarded(lambda: _report(_run(paths, root, settings, jobs), root))


def fix(
    paths: Sequence[Path] = (".",), *, root: Path = ".", settings: Settings | None = None, jobs: int = 1,
    unsafe: bool = False, write: bool = True,
) -> Report:  # fmt: skip
    """Repair files as ``shmlint --fix`` does: every repair is proved before it is written. Prints nothing.

    With ``write=False`` the files stay as they are and ``texts`` of the result has what they would become.
    ``unsafe`` lets it also make changes that may alter what a container does. The rest is as in `lint`.

    Raises WriteError where a file cannot be written or changed since it was read, and what `lint` raises.

    >>> import shmlint
    >>> report = shmlint.fix(["compose.yaml"], root="fixtures/quickstart", write=False)
    >>> report.fixed[0].rule, report.fixed[0].after
    ('SHM101', '    shm_size: 8gb\\n')
    >>> [path for path, text in report.texts], report.findings
    (['compose.yaml'], ())
    """
    _check(paths)
    return _guarded(lambda: _repaired(_run(paths, root, settings, jobs), root, unsafe=unsafe, write=write))


def load_settings(path: Path = ".", *, root: Path = ".", file: Path | None = None) -> Settings:
    """The settings for a path: those of the nearest settings file, or those of ``file``.

    Raises SettingsError.

    >>> import shmlint
    >>> shmlint.load_settings(root="fixtures/quickstart")._replace(ignore=("SHM101",)).ignore
    ('SHM101',)
    """
    try:
        return load(os.fspath(file) if file is not None else None, os.fspath(path), os.path.abspath(root))
    except InvalidSettings as error:
        raise SettingsError(str(error)) from None


# Runs ------------------------------------------------------------------------------------------


def _check(paths: Sequence[Path]) -> None:
    if isinstance(paths, str | os.PathLike):
        raise TypeError("paths is a sequence of paths, not a single one")


def _guarded(work: Callable[[], Report]) -> Report:
    """A report, or an exception of ours."""
    try:
        return work()
    except Error:
        raise
    except Exception as error:
        raise InternalError(f"{type(error).__name__}: {error}") from error


def _run(paths: Sequence[Path], root: Path, settings: Settings | None, jobs: int) -> Run:
    """The run over the files of the paths. Nothing of the process is changed, its directory least of all."""
    top = os.path.abspath(root)
    names = [os.fspath(path) for path in paths]
    for name in names:
        if not os.path.lexists(os.path.join(top, name)):
            raise PathError(f"{name}: no such file or directory")
    if settings is not None:
        settings = settings._replace(for_all=True)
    else:
        settings = load_settings(common([os.path.join(top, name) for name in names] or [top]), root=top)
    try:
        chosen = choose(names or ["."], settings, kinds=KINDS, jobs=jobs, top=top)
    except (InvalidSettings, ValueError) as error:  # a settings file, or a pattern in `exclude`
        raise SettingsError(str(error)) from None
    workspace = Workspace(follow_outside=settings.follow_outside, top=top)
    return lint_files(chosen.files, chosen.settings, workspace, chosen.before, jobs)


def _repaired(run: Run, root: Path, *, unsafe: bool, write: bool) -> Report:
    from shmlint.fixing import fix as fixing

    outcome = fixing.fix(run, unsafe=unsafe)
    if write:
        _write(run, outcome)
    report = _report(outcome.run._replace(findings=fixing.remaining(outcome)), root)
    return report._replace(
        fixed=tuple(map(_fixed, outcome.fixed)), texts=tuple(sorted(outcome.texts.items()))
    )


def _fixed(done: fixing.Fixed) -> Fixed:
    return Fixed(done.path, done.line, done.rule, done.title, done.before, done.after)


def _write(run: Run, outcome: fixing.Outcome) -> None:
    from shmlint.fixing.write import NotWritten, together, write

    written: list[str] = []
    try:
        for texts in together(outcome.texts, (fixed.paths for fixed in outcome.fixed)):
            written += write(run, texts)
    except NotWritten as error:
        raise WriteError(f"{error.path}: {error.message}", tuple(written)) from None


# Values ----------------------------------------------------------------------------------------


def _report(run: Run, root: Path) -> Report:
    launches = {id(launch): _launch(run, launch) for launch in run.launches}
    return Report(
        root=os.path.abspath(root),
        files=tuple(sorted(run.read)),
        launches=tuple(launches.values()),
        findings=tuple(_finding(run, finding, launches) for finding in run.findings),
        not_read=tuple(NotRead(place.span.path, place.span.line, place.because) for place in run.not_read),
    )


def _location(span: Span) -> Location:
    return Location(span.path, span.begin, span.finish)


def _evidence(evidence: model.Evidence) -> Evidence:
    location = _location(evidence.span) if evidence.span is not None else None
    return Evidence(evidence.text, location, evidence.source or None)


def _finding(run: Run, finding: model.Finding, launches: Mapping[int, Launch]) -> Finding:
    rule = all_rules()[finding.rule][0]
    launch = finding.launch
    return Finding(
        rule=finding.rule,
        name=rule.name,
        severity=finding.severity,
        location=_location(finding.span),
        message=finding.message,
        launch=None if launch is None else launches.get(id(launch)) or _launch(run, launch),
        evidence=tuple(map(_evidence, finding.evidence)),
        fix=_fix(run, finding),
        advice=advice(finding) or None,
        help=rule.address,
    )


def _fix(run: Run, finding: model.Finding) -> Fix | None:
    change = planned(finding)
    if finding.fix is None or change is None:
        return None
    return Fix(change.title, finding.fix.safe, tuple(_edit(run, edit) for edit in change.edits))


def _edit(run: Run, edit: TextEdit) -> Edit:
    source = run.workspace.source(edit.path)
    return Edit(Location(edit.path, source.position(edit.start), source.position(edit.end)), edit.text)


def _launch(run: Run, launch: ReadLaunch) -> Launch:
    effective = run.effective(launch)
    hidden = launch.shm is not None and launch.shm.private
    size = launch.shm.known if launch.shm is not None else None
    command = launch.command.known if launch.command is not None else None
    if launch.command is not None and launch.command.private:
        command = tuple(launch.command.text.split())  # as it is written: what an env file says stays there
    return Launch(
        kind=launch.kind,
        name=launch.name,
        location=_location(launch.span),
        files=tuple(launch.files),
        image=(launch.image.shown or None) if launch.image is not None else None,
        command=command,
        gpu=Gpu(launch.gpu.requested, launch.gpu.vendor, launch.gpu.number),
        shm=Shm(
            declared=launch.shm.text if launch.shm is not None else None,
            declared_bytes=size.bytes if size is not None and size.bytes and not hidden else None,
            ipc=launch.ipc.shown if launch.ipc is not None else None,
            decided_by=effective.decided_by,
            effective_bytes=effective.shown,
        ),
        need=_need(run, launch),
    )


def _need(run: Run, launch: ReadLaunch) -> Need:
    need = run.need(launch)
    mechanisms = (
        Mechanism(m.id, m.bytes, m.basis, m.because, tuple(map(_evidence, m.evidence))) for m in need.mechanisms
    )  # fmt: skip
    return Need(
        need.verdict, need.minimum, need.recommended, tuple(mechanisms),
        need.workload.name if need.workload is not None else None, need.because,
    )  # fmt: skip
