"""Fixes that may not prove themselves, and what becomes of them: a report promises none that ``--fix`` does not make.

Most edits are in the text of their launch alone. Those of a text that other launches may share are proved for the
report, unless that takes long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from shmlint.fixing.plan import planned
from shmlint.formats import ALONE
from shmlint.model.finding import Finding, QuoteDevices
from shmlint.model.launch import Launch
from shmlint.model.source import Edit
from shmlint.run import Run

if TYPE_CHECKING:
    from shmlint.fixing.fix import ChosenWay

MOST = 100_000
"""Characters of files that are read again for a report."""

_SHARED_IN_YAML = r"(?<![\w&])&\w|<<:|\bextends\b|\binclude\b|\$\{"
_MADE = ("$(foreach", "$(shell", "$(call", "$(eval", "define ")
"""What makes commands in a makefile."""


def as_proved(run: Run, findings: Sequence[Finding]) -> list[Finding]:
    """Findings with the way of their fix that proves itself; those for which none does say why."""
    beside: dict[str, list[Launch]] = {}
    for launch in run.launches if findings else ():
        beside.setdefault(launch.span.path, []).append(launch)
    doubtful = [finding for finding in findings if _is_doubtful(finding, beside)]
    if not doubtful or _characters({finding.span.path for finding in doubtful}, run) > MOST:
        return list(findings)
    from shmlint.fixing.fix import chosen_ways

    ids = set(map(id, doubtful))
    paths = {finding.launch.span.path for finding in doubtful if finding.launch is not None}
    found = {key: chosen for part in _parts(run, paths, beside) for key, chosen in chosen_ways(part, ids).items()}
    return [_with_way(finding, found[id(finding)]) if id(finding) in found else finding for finding in findings]


def _with_way(finding: Finding, chosen: ChosenWay) -> Finding:
    """A finding with the way that proves itself, or with why none does."""
    if chosen.way is not None:
        return finding._replace(fix=finding.fix._replace(way=chosen.way)) if finding.fix is not None else finding
    change = planned(finding)
    title = change.title if change is not None else ""
    if finding.fix is not None and isinstance(finding.fix.intention, QuoteDevices):
        # None of the forms was right, so that none is to be written by hand either.
        title = f"write the quotation marks for each shell that reads line {finding.span.line}"
    return finding._replace(fix=None, advice=f"{title} by hand: --fix cannot prove it safe: {chosen.why}")


def _parts(run: Run, paths: Set[str], beside: Mapping[str, Sequence[Launch]]) -> Iterator[Run]:
    """The parts of a run that hold some files, with those that may depend on them; nothing is read again for it."""
    for kind in sorted(ALONE & run.files.keys()):
        yield from (_part(run, {kind: [path]}, beside) for path in run.files[kind] if path in paths)
    others = {kind: some for kind, some in run.files.items() if kind not in ALONE}
    every = [path for some in others.values() for path in some]
    if not paths.isdisjoint(every) and _characters(every, run) <= MOST:
        yield _part(run, others, beside)


def _part(run: Run, files: Mapping[str, Sequence[str]], beside: Mapping[str, Sequence[Launch]]) -> Run:
    alone = {path for kind in ALONE for path in run.files.get(kind, ())}
    own = {path for some in files.values() for path in some}
    if own.isdisjoint(alone):
        own = beside.keys() - alone  # what others include or extend is in no list of files
    launches = tuple(launch for launch in run.launches if launch.span.path in own)
    findings = [finding for finding in run.findings if finding.launch is None or finding.launch.span.path in own]
    repeated = [finding for finding in run.repeated if finding.launch is None or finding.launch.span.path in own]
    reading = run.reading._replace(launches=launches)
    return run._replace(files=files, reading=reading, findings=findings, repeated=repeated)


def _characters(paths: Iterable[str], run: Run) -> int:
    return sum(len(source.text) for source in map(run.workspace.peek, paths) if source is not None)


def _is_doubtful(finding: Finding, beside: Mapping[str, Sequence[Launch]]) -> bool:
    """Whether a fix changes a text of which more may be made than its launch."""
    launch, change = finding.launch, planned(finding) if finding.fix is not None and finding.fix.safe else None
    if launch is None or change is None:
        return False
    if launch.donor is not None or any(edit.path != launch.span.path for edit in change.edits):
        return True
    text = launch.span.source.text
    if launch.kind != "docker-run":
        several = len(launch.files) > 1 or launch.combination is not None
        return several or re.search(_SHARED_IN_YAML, text) is not None
    others = [one for one in beside[launch.span.path] if one is not launch]
    return any(made in text for made in _MADE) or not _is_own(launch, change.edits, others)


def _is_own(launch: Launch, edits: Iterable[Edit], others: Iterable[Launch]) -> bool:
    """Whether a command is written in one piece, with what is edited, and nothing in it stands for something else."""
    image, start = launch.image, launch.span.start
    if image is None or image.span.source is not launch.span.source or image.span.start < start:
        return False
    text, end = launch.span.source.text, image.span.end
    if "$" in re.sub(_OF_ITS_START, "", text[text.rfind("\n", 0, start) + 1 : end]):
        return False
    if not all(start <= edit.start and edit.end <= end for edit in edits):
        return False
    return not any(one.span.start <= start < _end(one) or start <= one.span.start < _end(launch) for one in others)


_OF_ITS_START = r"\$(?:PWD|HOME|USER|UID)\b|\$\{(?:PWD|HOME|USER|UID)\}|\$\((?:PWD|CURDIR|HOME|pwd|id -[ug]|whoami)\)"
"""What says where and by whom a command is started, and holds no options."""


def _end(launch: Launch) -> int:
    """Where the last that is known of a launch ends."""
    last = launch.command or launch.image
    return max(last.span.end, launch.span.end) if last is not None else launch.span.end
