"""One run: paths to files, files to launches, launches to findings."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats import read_all
from shmlint.model.finding import SEVERITIES, Finding, readable
from shmlint.model.launch import Build, Launch
from shmlint.model.need import Need
from shmlint.model.reading import NotRead, joined
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Span
from shmlint.rules import Context, all_rules, configured, selected
from shmlint.workloads.knowledge import users


class Run:
    """Everything a run found out. ``files`` are those that were read, by kind."""

    __slots__ = (
        "builds", "context", "files", "findings", "launches", "not_read", "problems", "repeated", "settings",
        "workspace",
    )  # fmt: skip

    def __init__(self, files: dict[str, list[str]], settings: Settings, workspace: Workspace) -> None:
        self.files = files
        self.settings = settings
        self.workspace = workspace
        self.context = Context(settings, users(settings.workloads))
        self.launches: list[Launch] = []
        self.findings: list[Finding] = []
        self.repeated: list[Finding] = []
        """Findings that say the same as another one, of another launch."""
        self.problems: list[Problem] = []
        """What files are refused for."""
        self.builds: tuple[Build, ...] = ()
        """The images that the files build."""
        self.not_read: tuple[NotRead, ...] = ()
        """Files and launches that were seen and not read."""

    def need(self, launch: Launch) -> Need:
        return self.context.need(launch)

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.files.values() for path in paths]


def lint(
    files: dict[str, list[str]],
    settings: Settings,
    workspace: Workspace | None = None,
    problems: Sequence[Problem] = (),
    jobs: int = 1,
) -> Run:
    """Read files (by kind) and check their launches. ``problems`` are those found before reading.

    Where there is much to read, up to ``jobs`` processes do it.
    """
    workspace = workspace or Workspace(follow_outside=settings.follow_outside)
    run = Run(files, settings, workspace)
    run.problems += problems
    reading = joined(read_all(files, workspace, settings, jobs))
    run.launches += reading.launches
    run.problems += reading.problems
    run.builds = reading.builds
    run.not_read = reading.not_read
    run.context.launches = run.launches
    run.findings = list(_findings(run))
    return run


def judge(launches: Sequence[Launch], settings: Settings, workspace: Workspace) -> Run:
    """Check launches that were read from no file. The workspace has the texts that they point into."""
    run = Run({}, settings, workspace)
    run.launches = run.context.launches = list(launches)
    run.findings = list(_findings(run))
    return run


def _findings(run: Run) -> list[Finding]:
    from shmlint.rules.shm001_unreadable_file import report

    rules = [(rule, check) for rule, check in all_rules().values() if selected(rule, run.settings)]
    found: list[Finding] = []
    if any(rule.id == "SHM001" for rule, _ in rules):
        found += [report(problem) for problem in run.problems]
    for launch in run.launches:
        if _plain(launch):
            continue
        for _, check in rules:
            found += check(launch, run.context)
    settings = run.settings
    if settings.per_file_ignores:
        from shmlint.suppression.comments import per_file

        loses = per_file(settings)
        found = [f for f in found if not loses(f.span.path, all_rules()[f.rule][0])]
    paths = {*run.paths, *(f.span.path for f in found), *(f.launch.span.path for f in found if f.launch)}
    marked = [path for path in sorted(paths) if "shmlint:" in _text(run.workspace, path)]
    if marked:
        from shmlint.suppression.comments import suppress

        found = suppress(run, found, marked, {problem.span.path for problem in run.problems})
    if settings.severity:
        found = [_with_severity(finding, settings) for finding in found]
    every = list(map(readable, found))
    distinct = _distinct(every)
    kept = set(map(id, distinct))
    run.repeated = [finding for finding in every if id(finding) not in kept]
    found = _ordered(distinct)
    if settings.baseline:
        from shmlint.suppression.fingerprint import fingerprints

        found = [f for f, name in zip(found, fingerprints(found), strict=True) if name not in settings.baseline]
    return found


def _plain(launch: Launch) -> bool:
    """Whether no rule has anything to say: most services are like this."""
    return (
        launch.gpu.requested is False
        and launch.shm is None
        and launch.ipc is None
        and not launch.misplaced
        and not launch.gpu.invalid
        and not any(mount.size_error for mount in launch.mounts)
        and not any("NCCL_" in name for name in launch.environment)
    )


def _text(workspace: Workspace, path: str) -> str:
    try:
        return workspace.source(path).text
    except Unreadable:
        return ""


def _with_severity(finding: Finding, settings: Settings) -> Finding:
    level = configured(all_rules()[finding.rule][0], settings)
    return finding if level is None or level == "off" else finding._replace(severity=level)


def _distinct(findings: list[Finding]) -> list[Finding]:
    """Findings that say the same of the same place once, the most severe first.

    A service that several combinations of files start is one thing to a reader unless the
    combinations disagree, and then the message names the combination. What a service has, a
    dev container that starts it has too.
    """
    best: dict[tuple[str, str, int, int, str], Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.span.path, finding.span.start, finding.span.end, finding.message)
        known = best.get(key)
        if known is None or SEVERITIES.index(finding.severity) > SEVERITIES.index(known.severity):
            best[key] = finding
    services: dict[tuple[str, Span], int] = {}
    for finding in best.values():
        if finding.launch is not None and finding.launch.kind == "compose-service":
            place = (finding.rule, finding.span)
            services[place] = max(services.get(place, 0), SEVERITIES.index(finding.severity))
    return [
        f for f in best.values()
        if f.launch is None or f.launch.kind != "devcontainer"
        or services.get((f.rule, f.span), -1) < SEVERITIES.index(f.severity)
    ]  # fmt: skip


def _ordered(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (f.span.path, f.span.start, f.rule, f.message))
