"""Formats: a module or a folder each. They read files into launches and write edits back.

What is a format's own (its grammar, its positions) stays behind its answers:

    read(paths, workspace, settings) -> Reading                        what the files start
    suppressions(source, workspace, launches) -> Iterator[Suppression] which suppression comments there are
    ignore_comment(launch, text) -> Edit | None                        where such a comment can stand, and how it is
                                                                       written
    same_rest(path, before, after, sizes_only) -> bool                 whether all that launches do not say is the same
    users(paths, named, workspace) -> list of paths or None            which other files are built with some
    scripts(source, workspace, word) -> Iterator[Part]                 the shell of a file, as far as it holds a word
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from shmlint.files.cache import Key
from shmlint.files.kinds import kind_of
from shmlint.files.parallel import share
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading, joined
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source

if TYPE_CHECKING:
    from shmlint.formats.shell.part import Part
    from shmlint.model.suppression import Suppression


class Format(NamedTuple):
    """The modules that answer for a format; they are imported when a file asks for them."""

    reader: str
    """Has ``read``."""
    comments: str
    """Has ``suppressions`` and ``ignore_comment``."""
    alone: bool = False
    """Each file is read by itself; files of the other formats say things of each other."""
    rest: str = ""
    """Has ``same_rest``, where the files hold more than their launches say of them."""
    users: str = ""
    """Has ``users``, where other files may be built with one."""
    scripts: str = ""
    """Has ``scripts``, where the files hold shell that may start other scripts."""
    starts: bool = False
    """The files start or build containers that other files may start or build as well."""


FORMATS = {
    "compose": Format(
        "shmlint.formats.compose.read", "shmlint.formats.compose.comments", rest="shmlint.formats.compose.rewrite",
        users="shmlint.formats.compose.users", starts=True,
    ),
    "shell": Format(
        "shmlint.formats.shell.read", "shmlint.formats.shell.comments", alone=True,
        rest="shmlint.formats.shell.rest", scripts="shmlint.formats.shell.read", starts=True,
    ),
    "makefile": Format(
        "shmlint.formats.makefile.read", "shmlint.formats.makefile.comments", alone=True,
        rest="shmlint.formats.makefile.rest", scripts="shmlint.formats.makefile.read", starts=True,
    ),
    "systemd": Format(
        "shmlint.formats.systemd.read", "shmlint.formats.systemd.read", alone=True,
        rest="shmlint.formats.systemd.read", scripts="shmlint.formats.systemd.read", starts=True,
    ),
    "taskfile": Format(
        "shmlint.formats.taskfile", "shmlint.formats.taskfile", alone=True, rest="shmlint.formats.taskfile",
        scripts="shmlint.formats.taskfile", starts=True,
    ),
    "jenkinsfile": Format(
        "shmlint.formats.jenkinsfile", "shmlint.formats.jenkinsfile", alone=True, rest="shmlint.formats.jenkinsfile",
        scripts="shmlint.formats.jenkinsfile", starts=True,
    ),
    "fish": Format(
        "shmlint.formats.fish", "shmlint.formats.fish", alone=True, rest="shmlint.formats.fish", starts=True,
    ),
    "unread": Format("shmlint.formats.unread", "shmlint.formats.unread", alone=True),
    "template": Format("shmlint.formats.template", "shmlint.formats.template", alone=True),
    "markdown": Format(
        "shmlint.formats.markdown", "shmlint.formats.markdown", alone=True, rest="shmlint.formats.markdown",
        scripts="shmlint.formats.markdown", starts=True,
    ),
    "ci": Format(
        "shmlint.formats.ci.read", "shmlint.formats.ci.comments", alone=True, rest="shmlint.formats.ci.rest",
        scripts="shmlint.formats.ci.read", starts=True,
    ),
    "devcontainer": Format(
        "shmlint.formats.devcontainer.read", "shmlint.formats.devcontainer.comments",
        rest="shmlint.formats.devcontainer.rest",
    ),
    "inspect": Format("shmlint.formats.inspect", "shmlint.formats.inspect"),
    "kubernetes": Format(
        "shmlint.formats.kubernetes.read", "shmlint.formats.kubernetes.comments",
        rest="shmlint.formats.kubernetes.rewrite", users="shmlint.formats.kubernetes.kustomize",
    ),
}

KINDS = frozenset(FORMATS)
"""The kinds of files that are read."""

ALONE = frozenset(kind for kind, form in FORMATS.items() if form.alone)
"""The kinds whose files are each read by themselves."""

STARTERS = frozenset(kind for kind, form in FORMATS.items() if form.starts)
"""The kinds of files in which the same container may be started or built once more."""

_READINGS = {kind: Key[Reading](f"{kind} reading") for kind in ALONE}
_BY_THEMSELVES = {kind: Key[Reading](f"{kind} reading of one file") for kind in KINDS - ALONE}

MUCH = 150_000
"""Bytes in such files that another process has to take off this one: what it costs is 0.03 to 0.08 s of the processor.
"""

PORTION = 16 * 1024
"""Bytes that one of them takes at a time, or one larger file."""


_Portion = tuple[str, list[str]]
"""Files of one kind."""


def read_each(paths: Sequence[str], workspace: Workspace, read_file: Callable[[Source], Reading]) -> Reading:
    """What ``read_file`` makes of each file; of one that is Unreadable, the problem."""
    found: list[Reading] = []
    for path in paths:
        try:
            found.append(read_file(workspace.source(path)))
        except Unreadable as error:
            found.append(Reading(problems=(error.problem,)))
    return joined(found)


def read_one(kind: str, path: str, workspace: Workspace) -> Reading:
    """What one file says by itself, which may have been read for the run."""
    if kind in ALONE:
        return read_alone(kind, path, workspace, Settings())
    return workspace.once(_BY_THEMSELVES[kind], path, lambda files: read(kind, [path], files, Settings()))


def read(kind: str, paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """Read files of one kind. Formats are imported when a file asks for them."""
    if kind not in KINDS:
        raise ValueError(f"no format reads {kind}")
    found: Reading = import_module(FORMATS[kind].reader).read(paths, workspace, settings)
    return found


def same_rest(kind: str | None, path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether what launches do not say of a file has stayed the same when it was edited.

    ``sizes_only``: nothing but sizes was meant to change. ``kind`` is None for a file that is not of the run.
    """
    module = FORMATS[kind or REFERRED].rest
    return not module or bool(import_module(module).same_rest(path, before, after, sizes_only=sizes_only))


def users(
    kind: str, paths: Collection[str], named: Collection[str], workspace: Workspace
) -> Sequence[str] | None:
    """The files of the repository, not ``named``, that are built with some files; None if not all can be found."""
    module = FORMATS[kind].users
    found: Sequence[str] | None = import_module(module).users(paths, named, workspace) if module else ()
    return found


def scripts(source: Source, workspace: Workspace, word: str) -> list[Part] | None:
    """The shell of a file that holds a word, with what is set around it; None where that is not known."""
    kind = kind_of(source, workspace.top)
    module = FORMATS[kind].scripts if kind is not None else ""
    if not module:
        return None
    try:
        found: Iterable[Part] = import_module(module).scripts(source, workspace, word)
        return [part for part in found if word in part.text.text]
    except Unreadable:
        return None


class _Comments(Protocol):
    """What the module for comments answers."""

    def suppressions(
        self, source: Source, workspace: Workspace, launches: Sequence[Launch]
    ) -> Iterator[Suppression]: ...

    def ignore_comment(self, launch: Launch, text: str) -> Edit | None: ...


def _comments(kind: str) -> _Comments:
    return cast("_Comments", import_module(FORMATS[kind].comments))


def suppressions(
    kind: str, source: Source, workspace: Workspace, launches: Sequence[Launch]
) -> Iterator[Suppression]:
    """The suppression comments of a file; ``launches`` are those that start in it."""
    return _comments(kind).suppressions(source, workspace, launches)


def ignore_comment(kind: str, launch: Launch, text: str) -> Edit | None:
    """An edit that puts a comment with a text where it speaks of a launch; None where there is no place for one."""
    return _comments(kind).ignore_comment(launch, text)


REFERRED = "compose"
"""The kind of a file that is not among those of a run: compose files and dev containers refer to such files."""


def kind_by_path(files: Mapping[str, Sequence[str]], launches: Iterable[Launch] = ()) -> dict[str, str]:
    """The kind of each file of a run, and of the manifests outside it of which its launches are made."""
    pods = (launch for launch in launches if launch.kind == "kubernetes-container")
    found = {path: "kubernetes" for pod in pods for path in pod.files}
    return found | {path: kind for kind, paths in files.items() for path in paths}


def read_all(
    files: Mapping[str, Sequence[str]], workspace: Workspace, settings: Settings, jobs: int = 1
) -> Iterator[Reading]:
    """Read the files of all kinds, in their order; up to ``jobs`` processes do it where there is much to read."""
    portions = list(_portions(files, workspace)) if jobs > 1 and workspace.untouched else []
    related: dict[str, Reading] = {}

    def read_related() -> None:
        for kind, paths in files.items():
            if kind not in ALONE:
                related[kind] = read(kind, paths, workspace, settings)

    if portions:
        _share_reading(portions, workspace, settings, jobs, read_related)
    else:
        read_related()
    for kind, paths in files.items():
        if kind in ALONE:
            yield from (read_alone(kind, path, workspace, settings) for path in paths)
        else:
            yield related[kind]


def read_alone(kind: str, path: str, workspace: Workspace, settings: Settings) -> Reading:
    """A file of a kind in ``ALONE``, read again only where a file that it depends on has changed."""
    return workspace.once(_READINGS[kind], path, lambda files: _read_alone(kind, path, files, settings))


def _read_alone(kind: str, path: str, workspace: Workspace, settings: Settings) -> Reading:
    reading = read(kind, [path], workspace, settings)
    if kind not in _WITH_HERE_DOCUMENTS or reading.problems or "<<" not in workspace.source(path).text:
        return reading
    from shmlint.formats.here_documents import not_read

    untold = tuple(not_read(workspace.source(path), reading))
    return reading._replace(not_read=(*reading.not_read, *untold)) if untold else reading


_WITH_HERE_DOCUMENTS = frozenset({"shell", "makefile", "taskfile", "jenkinsfile", "markdown", "ci"})


def _portions(files: Mapping[str, Sequence[str]], workspace: Workspace) -> Iterator[_Portion]:
    """The files that stand alone, each kind in several portions; nothing where it is not worth the while to share them.

    Two processes share all that is read in halves, but that the other files are all for this one.
    """
    sizes = {path: _size(workspace.on_disk(path)) for paths in files.values() for path in paths}
    alone = sum(sizes[path] for kind in ALONE for path in files.get(kind, ()))
    if min(alone, sum(sizes.values()) // 2) < MUCH:
        return
    for kind, paths in files.items():
        some: list[str] = []
        size, enough = 0, 0  # the first file of each kind is a portion, which is read before there are others to help
        for path in paths if kind in ALONE else ():
            some.append(path)
            size += sizes[path]
            if size >= enough:
                yield kind, some
                some, size, enough = [], 0, PORTION
        if some:
            yield kind, some


def _size(path: str) -> int:
    """Bytes; 0 for what cannot be read."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _share_reading(
    portions: list[_Portion], workspace: Workspace, settings: Settings, jobs: int, meanwhile: Callable[[], None]
) -> None:
    """Read portions of the files by several processes, of which this one reads into the workspace."""
    from shmlint.files.pickled import unpickled

    def here(portion: _Portion) -> bytes:
        kind, paths = portion
        for path in paths:
            read_alone(kind, path, workspace, settings)
        return b""

    # The first of each kind are read before the others begin, which so have what it takes to read them.
    firsts = dict(reversed(portions))
    for first in firsts.items():
        here(first)
    rest = [portion for portion in portions if portion[1] is not firsts[portion[0]]]
    for results in share(partial(_read_elsewhere, settings, workspace.top), rest, jobs, meanwhile, here):
        if results:
            workspace.adopt(unpickled(results, workspace))


_elsewhere: Workspace | None = None
"""What a process reads into that others have started to read."""


def _read_elsewhere(settings: Settings, top: str, portion: _Portion) -> bytes:
    """What is made of files of one kind that stand alone."""
    from shmlint.files.pickled import pickled

    global _elsewhere
    if _elsewhere is None:
        _elsewhere = Workspace(follow_outside=settings.follow_outside, top=top)
    kind, paths = portion
    for path in paths:
        read_alone(kind, path, _elsewhere, settings)
    keys: list[Key[Any]] = [_READINGS[kind]]
    if kind == "markdown":
        from shmlint.syntax.markdown import BLOCKS  # for the documentation of what launches run

        keys.append(BLOCKS)
    return pickled(_elsewhere.results(keys, paths), _elsewhere)
