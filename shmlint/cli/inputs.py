"""From the paths and options of a command to files, settings and a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from shmlint.cli.names import COMMANDS
from shmlint.cli.output import STDIN, Progress, error, fail, nearest
from shmlint.config import nested
from shmlint.config.choose import choose
from shmlint.files.kinds import UNSUPPORTED, classify_named, is_inspect, is_shell, unnamed
from shmlint.files.parallel import processors
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats import KINDS
from shmlint.model.reading import NOTHING, NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import InvalidSettings, Settings
from shmlint.run import Run, lint


class Inputs(NamedTuple):
    """What a run reads: files by kind, texts that are not on disk, and what is known before they are read."""

    files: dict[str, list[str]]
    texts: dict[str, str]
    settings: Settings
    """The settings of the run, with those of the files' directories."""
    before: Reading = NOTHING
    """Paths that cannot be read, and files that are left out."""
    unread: tuple[NotRead, ...] = ()
    """Files that a person named and no format reads."""
    named: frozenset[str] = frozenset()
    """The other files that a person named, and standard input."""


def find_inputs(
    paths: Sequence[str], settings: Settings, *, stdin_filename: str | None = None, jobs: int | None = None,
    force_exclude: bool = False,
) -> Inputs:  # fmt: skip
    """The files to read, found in the paths, or standard input where the path is ``-``.

    ``force_exclude`` also leaves out named files that the settings exclude, and those that no format reads.
    """
    if stdin_filename is not None and STDIN not in paths:
        fail("--stdin-filename needs the path -")
    if STDIN in paths:
        if len(paths) > 1:
            fail("standard input (-) cannot be read together with other paths")
        return _standard_input(stdin_filename, settings)
    for path in paths:
        if not os.path.lexists(path):
            meant = nearest(path, [*COMMANDS]) if path.isalpha() and path not in COMMANDS else ""
            fail(f"{path}: no such file or directory{meant}")
    try:
        chosen = choose(paths or ["."], settings, kinds=KINDS, jobs=jobs_of(jobs), force=force_exclude)
    except InvalidSettings as wrong:
        fail(str(wrong))
    unread = chosen.unsupported
    if unread and not chosen.files and not chosen.before.problems:
        fail("; ".join(f"{place.span.path} is not read: {place.because}" for place in unread))
    named = frozenset() if force_exclude else chosen.named
    return Inputs(chosen.files, {}, chosen.settings, chosen.before, unread, named)


def _standard_input(filename: str | None, settings: Settings) -> Inputs:
    name = normal(filename or "compose.yaml")
    data = sys.stdin.buffer.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        fail(f"{name}: standard input is not UTF-8 (byte {wrong.start})")
    if filename is None and is_inspect(data):
        name = "inspect.json"
    elif filename is None and data.strip():
        kind = "shell" if is_shell(data) else unnamed("", data)
        name = _STDIN_NAMES.get(kind, name)
        if kind == UNSUPPORTED:
            fail("the format of standard input is not recognised; set it with --stdin-filename NAME")
    kind = classify_named(os.path.abspath(name).replace(os.sep, "/"), lambda: data) or unnamed(name, data)
    if is_inspect(data):
        kind = "inspect"
    try:
        settings = nested(settings, [name])
    except InvalidSettings as wrong:
        fail(str(wrong))
    return Inputs({kind if kind in KINDS else "compose": [name]}, {name: text}, settings, named=frozenset((name,)))


_STDIN_NAMES = {"shell": "script.sh", "kubernetes": "manifest.yaml"}
"""What standard input is called where its content says what it is."""


def jobs_of(jobs: int | None) -> int:
    """How many processes a run may use."""
    return jobs or processors()


def started(inputs: Inputs, settings: Settings, jobs: int | None) -> Run:
    """The run over the inputs."""
    workspace = Workspace(inputs.texts, follow_outside=settings.follow_outside)
    with Progress("checking", sum(map(len, inputs.files.values()))) as progress:
        run = lint(inputs.files, settings, workspace, inputs.before, jobs_of(jobs), progress.done)
    unread = [*inputs.unread, *(place for place in run.not_read if place.whole and place.span.path in inputs.named)]
    said = [f"{place.span.path} is not read: {place.because}" for place in unread]
    if said and not run.read and not run.reading.problems and set(run.paths) <= inputs.named:
        fail("; ".join(said))
    for message in said:
        error(message)
    return run
