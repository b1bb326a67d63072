"""One run: paths to files, files to launches, launches to findings."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.checks import Context, all_rules, selected
from shmlint.finding import SEVERITIES, Finding
from shmlint.formats import read
from shmlint.launch import Launch
from shmlint.settings import Settings
from shmlint.source import Problem
from shmlint.workloads import Need, users
from shmlint.workspace import Workspace


class Run:
    """Everything a run found out. ``files`` are those that were read, by kind."""

    __slots__ = ("context", "files", "findings", "launches", "settings", "workspace")

    def __init__(self, files: dict[str, list[str]], settings: Settings, workspace: Workspace) -> None:
        self.files = files
        self.settings = settings
        self.workspace = workspace
        self.context = Context(settings, users(settings.workloads))
        self.launches: list[Launch] = []
        self.findings: list[Finding] = []

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
) -> Run:
    """Read files (by kind) and check their launches. ``problems`` are those found before reading."""
    workspace = workspace or Workspace()
    run = Run(files, settings, workspace)
    all_problems = list(problems)
    for kind, paths in files.items():
        reading = read(kind, paths, workspace, settings)
        run.launches += reading.launches
        all_problems += reading.problems
    run.findings = list(_findings(run, all_problems))
    return run


def _findings(run: Run, problems: Sequence[Problem]) -> list[Finding]:
    from shmlint.checks.shm001_unreadable_file import report

    rules = [(rule, check) for rule, check in all_rules().values() if selected(rule, run.settings)]
    found: list[Finding] = []
    if any(rule.id == "SHM001" for rule, _ in rules):
        found += [report(problem) for problem in problems]
    for launch in run.launches:
        if launch.gpu.requested is False and launch.shm is None:
            continue  # nothing of its own to say, and most services are like this
        for _, check in rules:
            found += check(launch, run.context)
    return _ordered(_distinct(found))


def _distinct(findings: list[Finding]) -> list[Finding]:
    """Findings that say the same of the same place once, the most severe first.

    A service that several combinations of files start is one thing to a reader unless the
    combinations disagree, and then the message names the combination.
    """
    best: dict[tuple[str, str, int, int, str], Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.span.path, finding.span.start, finding.span.end, finding.message)
        known = best.get(key)
        if known is None or SEVERITIES.index(finding.severity) > SEVERITIES.index(known.severity):
            best[key] = finding
    return list(best.values())


def _ordered(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (f.span.path, f.span.start, f.rule, f.message))
