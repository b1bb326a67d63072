"""Which files have to be repaired and proved together: those that can say things of each other."""

from __future__ import annotations

import os
from collections.abc import Iterator

from shmlint.files.read import normal
from shmlint.fixing.plan import alternatives
from shmlint.formats import ALONE
from shmlint.run import Run, lint


def repairable(run: Run) -> Iterator[dict[str, list[str]]]:
    """The files that have something to repair, by kind, together where they depend on each other."""
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
