"""One run: files to launches, launches to findings, findings to those that are reported."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from shmlint.checks import findings as check_launches
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats import ALONE, read_all
from shmlint.model.finding import SEVERITIES, Evidence, Finding, readable
from shmlint.model.launch import Build, Combination, Effective, Launch
from shmlint.model.need import Need
from shmlint.model.reading import NOTHING, NotRead, Reading, joined
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Accepted, Settings
from shmlint.model.source import Source, Span
from shmlint.rules import Context, ProgramSources, all_rules, configured, selected
from shmlint.rules.shm001_unreadable_file import RULE as UNREADABLE
from shmlint.rules.shm001_unreadable_file import report
from shmlint.workloads.knowledge import Workload, users
from shmlint.workloads.repository import Shared

Files = Mapping[str, Sequence[str]]
"""Paths by kind."""


class Unchecked(NamedTuple):
    """Files that were read, their launches not yet checked."""

    files: Files
    settings: Settings
    workspace: Workspace
    reading: Reading
    before: Reading = NOTHING


class Run(NamedTuple):
    """All that a run found out."""

    files: Files
    """The files that were read."""
    settings: Settings
    workspace: Workspace
    reading: Reading
    context: Context
    findings: list[Finding]
    """What is to be reported."""
    repeated: Sequence[Finding] = ()
    """What says the same as another finding, of another launch."""
    suppressed: Sequence[Finding] = ()
    """What comments suppress."""
    accepted: Sequence[Finding] = ()
    """What the baseline accepts."""
    dead_baseline: Sequence[Accepted] = ()
    """The entries of the baseline that accept nothing any more."""
    before: Reading = NOTHING
    """What was known before the files were read: paths that cannot be read, and files that are left out."""

    @property
    def launches(self) -> tuple[Launch, ...]:
        return self.reading.launches

    @property
    def builds(self) -> tuple[Build, ...]:
        """The images that the files build."""
        return self.reading.builds

    @property
    def not_read(self) -> tuple[NotRead, ...]:
        """Files and launches that were seen and not read."""
        return self.reading.not_read

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.files.values() for path in paths]

    @property
    def read(self) -> list[str]:
        """The files of which something was read."""
        whole = {place.span.path for place in self.not_read if place.whole}
        return [path for path in self.paths if path not in whole]

    def effective(self, launch: Launch) -> Effective:
        """What /dev/shm becomes for a launch, by the settings of its file."""
        return launch.effective_shm(self.settings.of(launch.first_file).default_shm_size)

    def need(self, launch: Launch) -> Need:
        """How much /dev/shm a launch needs; assessed on first use."""
        return self.context.need(launch)


def lint(
    files: Files,
    settings: Settings,
    workspace: Workspace | None = None,
    before: Reading = NOTHING,
    jobs: int = 1,
    checked: Callable[[int], None] | None = None,
) -> Run:
    """Read files (by kind) and check their launches. ``before`` is what is known before they are read.

    Where there is much to do, up to ``jobs`` processes do it. ``checked`` is told how many files are done.
    """
    return check(read(files, settings, workspace, before, jobs), jobs, checked)


def read(
    files: Files, settings: Settings, workspace: Workspace | None = None, before: Reading = NOTHING, jobs: int = 1
) -> Unchecked:
    """Read files (by kind), with the arguments of ``lint``."""
    workspace = workspace or Workspace(follow_outside=settings.follow_outside)
    return _unchecked(files, settings, workspace, joined([before, *read_all(files, workspace, settings, jobs)]), before)


def check(unchecked: Unchecked, jobs: int = 1, checked: Callable[[int], None] | None = None) -> Run:
    """Check the launches of files that were read, with the arguments of ``lint``."""
    return _run(unchecked, jobs=jobs, checked=checked)


def judge(launches: Sequence[Launch], settings: Settings, workspace: Workspace) -> Run:
    """Check launches that were read from no file. The workspace has the texts that they point into."""
    return _run(_unchecked({}, settings, workspace, Reading(tuple(launches))), followed=False)


def _unchecked(
    files: Files, settings: Settings, workspace: Workspace, reading: Reading, before: Reading = NOTHING
) -> Unchecked:
    own = users(settings.workloads)
    launches = tuple(_with_render_nodes(launch, own) for launch in reading.launches)
    return Unchecked(files, settings, workspace, reading._replace(launches=launches), before)


def _run(
    unchecked: Unchecked, *, followed: bool = True, jobs: int = 1, checked: Callable[[int], None] | None = None
) -> Run:
    """``followed`` is whether what launches run may be looked for in files."""
    files, settings, workspace, reading, before = unchecked
    own = users(settings.workloads)
    read = frozenset(path for kind in (*ALONE, "compose") for path in files.get(kind, ()))
    repository = ProgramSources(workspace, reading.builds, Shared(read)) if followed else None
    context = Context(settings, own, reading.launches, repository)
    told = _counted(files, reading.launches, checked) if checked is not None else None
    every = [*_problems(reading, settings), *check_launches(context, jobs, told)]
    found = _without_ignored(every, settings)
    run = Run(files, settings, workspace, reading, context, list(found), before=before)
    return _compared(_merged(_suppressed(run)))


def _with_render_nodes(launch: Launch, own: Sequence[Workload]) -> Launch:
    """A launch with the GPUs that nothing but its program tells of."""
    if not launch.devices or launch.gpu.requested is not False:
        return launch
    from shmlint.workloads.by_knowledge import with_render_nodes

    return with_render_nodes(launch, own)


def _problems(reading: Reading, settings: Settings) -> Iterator[Finding]:
    """The findings about what cannot be read."""
    return (report(one) for one in reading.problems if selected(UNREADABLE, settings.of(one.span.path)))


def _counted(files: Files, launches: Sequence[Launch], checked: Callable[[int], None]) -> Callable[[int], None]:
    """Tells how many files are done, of how many with launches are."""
    others = sum(map(len, files.values())) - len({launch.span.path for launch in launches})
    return lambda done: checked(max(others + done, 0))


def _without_ignored(findings: Iterable[Finding], settings: Settings) -> Iterable[Finding]:
    """The findings of rules that the settings do not take from the file."""
    if not any(some.per_file_ignores for some in settings.every):
        return findings
    from shmlint.suppression.per_file import Ignored

    ignored = Ignored(settings)
    return (finding for finding in findings if not ignored(finding.span.path, all_rules()[finding.rule][0]))


def _suppressed(run: Run) -> Run:
    """The run without what comments suppress, and with findings about comments that suppress nothing."""
    commented = sorted(_commented(run))
    if not commented:
        return run
    from shmlint.suppression.comments import find, suppress

    comments = find(commented, run.files, run.launches, run.workspace)
    # A file that could not be read may hold what its comments are for.
    complete = set(run.paths) - {problem.span.path for problem in run.reading.problems}
    left, suppressed = suppress(run.findings, comments, run.settings, complete)
    return run._replace(findings=left, suppressed=suppressed)


def _commented(run: Run) -> Iterator[str]:
    """The files of the run, and those that findings are about, in which there may be a suppression comment."""
    launches = {finding.launch.span.path for finding in run.findings if finding.launch is not None}
    for path in {*run.paths, *(finding.span.path for finding in run.findings), *launches}:
        try:
            if "shmlint:" in run.workspace.source(path).text:
                yield path
        except Unreadable:
            pass


def _merged(run: Run) -> Run:
    """The run with its findings as they are reported: severities of the settings, each thing said once, in order."""
    every = _combined([_finished(finding, run) for finding in run.findings], run.launches)
    least = SEVERITIES.index(run.settings.min_severity)
    if least:
        every = [finding for finding in every if SEVERITIES.index(finding.severity) >= least]
    distinct = _distinct(every)
    reported = set(map(id, distinct))
    repeated = [finding for finding in every if id(finding) not in reported]
    return run._replace(findings=_ordered(distinct), repeated=repeated)


def _compared(run: Run) -> Run:
    """The run without what the baseline accepts."""
    if not run.settings.baseline:
        return run
    from shmlint.suppression.baseline import compare

    paths = set(run.paths)
    rules = {rule.id: rule for rule, _ in all_rules().values()}

    def judged(entry: Accepted) -> bool:
        rule = rules.get(entry.rule)
        here = entry.path in paths or not os.path.lexists(entry.path)
        return here and rule is not None and selected(rule, run.settings.of(entry.path))

    findings, accepted, dead = compare(run.findings, run.settings.baseline, judged)
    return run._replace(findings=findings, accepted=accepted, dead_baseline=dead)


def _finished(finding: Finding, run: Run) -> Finding:
    """A finding with the severity that the settings give its rule.

    A fix in a file that says it is generated is not safe: it is lost when the file is written again.
    """
    finding = readable(finding)
    settings = governing(finding, run.settings)
    place = _generated(finding.span.source) if finding.fix is not None and finding.fix.safe else None
    if place is not None and finding.fix is not None:
        told = Evidence("a program writes this file", place)
        finding = finding._replace(fix=finding.fix._replace(safe=False), evidence=(*finding.evidence, told))
    level = configured(all_rules()[finding.rule][0], settings) if settings.severity else None
    return finding if level is None or level == "off" else finding._replace(severity=level)


_GENERATED = re.compile(r"(?i)\bdo not edit\b|\b(?:auto-?|automatically |code |file (?:is|was) )generated\b")


def _generated(source: Source) -> Span | None:
    """Where a file says in its first lines that a program writes it."""
    found = _GENERATED.search(source.text[:1000])
    return Span(source, found.start(), found.end()) if found is not None else None


def fails(finding: Finding, settings: Settings) -> bool:
    """Whether a finding makes the exit status 1."""
    return SEVERITIES.index(finding.severity) >= SEVERITIES.index(governing(finding, settings).fail_on)


def governing(finding: Finding, settings: Settings) -> Settings:
    """The settings that hold for a finding: those of the file of its launch."""
    return settings.of(finding.launch.first_file if finding.launch is not None else finding.span.path)


def _combined(findings: list[Finding], launches: Sequence[Launch]) -> list[Finding]:
    """The findings with the combination of files, where the combinations of a launch disagree."""
    if not any(launch.combination for launch in launches):
        return findings
    read: dict[tuple[str, Span], set[Combination | None]] = {}
    for launch in launches:
        read.setdefault((launch.kind, launch.home), set()).add(launch.combination)
    said: dict[object, set[Combination | None]] = {}
    for finding in findings:
        if finding.launch is not None:
            said.setdefault(_said(finding), set()).add(finding.launch.combination)

    def named(finding: Finding) -> Finding:
        launch = finding.launch
        if launch is None or launch.combination is None or all_rules()[finding.rule][0].as_written:
            return finding
        every, these = read[launch.kind, launch.home], said[_said(finding)]
        if None in these or (len(every) > 1 and these == every):
            return finding
        return finding._replace(combination=launch.combination)

    return [named(finding) for finding in findings]


def _said(finding: Finding) -> object:
    """What a finding says, whichever combination of files it was found in."""
    launch, intention = finding.launch, finding.fix.intention if finding.fix is not None else None
    return finding.rule, finding.span, launch and (launch.kind, launch.home), finding.subject, finding.facts, intention


def _distinct(findings: list[Finding]) -> list[Finding]:
    """Findings that say the same of the same place once, the most severe first.

    What a service has, a dev container that starts it has too.
    """
    best: dict[object, Finding] = {}
    for finding in findings:
        place = (finding.span.path, finding.span.start, finding.span.end)
        key = (finding.rule, place, finding.about, finding.subject, finding.facts, finding.combination)
        known = best.get(key)
        if known is None or SEVERITIES.index(finding.severity) > SEVERITIES.index(known.severity):
            best[key] = finding
    services: dict[tuple[str, Span], int] = {}
    for finding in best.values():
        if finding.launch is not None and finding.launch.kind == "compose-service":
            at = (finding.rule, finding.span)
            services[at] = max(services.get(at, 0), SEVERITIES.index(finding.severity))
    return [
        f for f in best.values()
        if f.launch is None or f.launch.kind != "devcontainer"
        or services.get((f.rule, f.span), -1) < SEVERITIES.index(f.severity)
    ]  # fmt: skip


def _ordered(findings: list[Finding]) -> list[Finding]:
    """The findings by place, rule and launch; what differs in nothing of these is in the order it was found in."""
    return sorted(findings, key=lambda f: (f.span.path, f.span.start, f.rule, f.about))
