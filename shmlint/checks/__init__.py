"""The rules over the launches of a run: by several processes where that takes long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import cast

from shmlint.checks.found import Checked
from shmlint.files.parallel import FORKS, share
from shmlint.files.workspace import Workspace
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.rules import Context, all_rules, selected

ALONE = 0.03
"""Seconds of the processor in which one process checks launches before others may help it.

Most modules of what launches run are imported in them; others that begin sooner would import them all too.
"""

WORTH = 0.35
"""Seconds that the rest has to take at this pace. Another process copies the memory that it uses and its results
are sent back, so all of them together take longer for less than this, and it is done little sooner."""

_PORTIONS = 32
"""For each process: those that one process is given ahead are few of them."""


def findings(context: Context, jobs: int = 1, checked: Callable[[int], None] | None = None) -> list[Finding]:
    """The findings of the rules about the launches of a run, in their order.

    Up to ``jobs`` processes look for them, where processes can be forked: the others inherit all that was read.
    ``checked`` is told how many files with launches are done.
    """
    found: list[Finding] = []
    check = _Check(context, checked)
    repository = context.repository
    several = jobs > 1 and FORKS
    start, count = time.process_time(), len(context.launches)
    files = [list(group) for _, group in groupby(range(count), lambda n: context.launches[n].span.path)]
    for i, numbers in enumerate(files):
        past = time.process_time() - start if several else 0.0
        if repository is not None and past > ALONE and past * (count - numbers[0]) > WORTH * max(numbers[0], 1):
            return found + _shared(check, repository.workspace, _portions(files[i:], jobs * _PORTIONS), jobs)
        found += check(numbers).findings
    return found


def _portions(files: list[list[int]], count: int) -> list[list[int]]:
    """The launches of some files in about so many portions; those of a file are in one."""
    least = sum(map(len, files)) / count
    portions: list[list[int]] = [[]]
    for numbers in files:
        if len(portions[-1]) >= least:
            portions.append([])
        portions[-1] += numbers
    return portions


class _Check:
    """Checks launches, by their numbers."""

    def __init__(self, context: Context, checked: Callable[[int], None] | None = None) -> None:
        self.context = context
        self._checked = checked
        self._done: set[str] = set()
        every = all_rules().values()
        self._rules = {
            id(settings): [check for rule, check in every if selected(rule, settings)]
            for settings in context.settings.every
        }

    def __call__(self, numbers: Sequence[int]) -> Checked:
        launches = [self.context.launches[number] for number in numbers]
        if self._checked is not None:
            self._checked(len(self._done))
            self._done.update(launch.span.path for launch in launches)
        return Checked([finding for launch in launches for finding in self._of(launch)])

    def _of(self, launch: Launch) -> Iterator[Finding]:
        """Each rule looks first at whether a launch has what it is about."""
        at = self.context.of(launch)
        for check in self._rules[id(at.settings)]:
            yield from check(launch, at)


# Several processes ----------------------------------------------------------------------------


def _shared(check: _Check, workspace: Workspace, portions: list[list[int]], jobs: int) -> list[Finding]:
    from shmlint.files.pickled import pickled, unpickled

    context = check.context
    silent = _Check(context)

    def elsewhere(numbers: list[int]) -> bytes | Checked:
        """What another process, which was forked, finds out about launches, as bytes."""
        found = silent(numbers)._replace(needs=context.assessed(numbers))
        return pickled(found, workspace, context.launches)

    found: list[Finding] = []
    for result in share(elsewhere, portions, jobs, here=check):
        if isinstance(result, bytes):
            result = cast("Checked", unpickled(result, workspace, context.launches))
            context.adopt(result.needs)
        found += result.findings
    return found
