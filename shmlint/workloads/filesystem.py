"""Container paths back to files of the repository: bind mounts, COPY and ADD, the working directory."""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING

from shmlint.docker.images import DOCKERFILES
from shmlint.files.read import LONGEST_PATH, normal
from shmlint.model.launch import Bind, Build, Launch, Value
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source
from shmlint.syntax.shell_text import lines_with
from shmlint.workloads.knowledge import workdir_of
from shmlint.workloads.repository import Repository

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage


_MOST_PATHS = 10
"""Directories of a container in which modules are looked for."""


class Place(NamedTuple):
    """A file or directory of the repository; ``guessed`` where only its name leads there."""

    path: str
    guessed: bool = False


class _Shown(NamedTuple):
    """A path of the container and the places of the repository that may be seen there, the likeliest first."""

    target: str
    sources: tuple[str, ...]
    certain: bool
    host: tuple[str, ...] = ()
    """The path on the host, in parts, where the repository may have a directory that only its end names."""


_OF_ANY = (
    r"(?:app|main|run|start|train|test|demo|serve|server|setup|init|install|build|launch|infer(?:ence)?|predict)\.\w+"
    r"|\w*entry\w*\.sh"
)
"""Names of files that tell nothing of whose they are."""


class Files:
    """What a container sees of the repository."""

    __slots__ = (
        "_beside",
        "_context",
        "_copies",
        "_mounts",
        "_python_path",
        "_written",
        "covered",
        "env_files",
        "environment",
        "near",
        "repository",
        "unsure",
        "workdir",
    )  # fmt: skip

    def __init__(
        self, launch: Launch, image: BuiltImage | None, build: Build | None, repository: Repository,
        environment: dict[str, Value[str]] | None = None,
    ) -> None:  # fmt: skip
        self.repository = repository
        self.environment = dict(launch.environment) if environment is None else environment
        """The variables of the container, with those that its image and its scripts set."""
        self.env_files = launch.env_files
        """Whether files that are not read set more of them."""
        self.covered = bool(launch.volumes_from)
        """Whether volumes of other containers, at paths that are not known, may be over any of it."""
        self.unsure: set[str] = set()
        """Files that were found where the container may have another one of their name instead."""
        self._written: dict[str, Place] = {}
        """The files that scripts of the container write themselves, by their paths there."""
        self.near: list[str] = []
        """The directories of the scripts that were followed."""
        gone_to = _gone_to(launch, repository) if launch.binds else _NOWHERE
        self._mounts = tuple(
            sorted((_mounted(bind, gone_to, repository, launch) for bind in launch.binds), key=lambda m: -len(m.target))
        )
        self._copies = image.copies if image is not None else ()
        self._python_path = image.environment.get("PYTHONPATH", "") if image is not None else ""
        self._context = context_of(build, repository) if build is not None else ""
        dockerfile = dockerfile_of(build, repository) if build is not None and build.inline is None else None
        self._beside = os.path.dirname(dockerfile) if dockerfile is not None else ""
        given = launch.workdir.known if launch.workdir is not None else None
        own = launch.image.known if launch.image is not None and image is None and build is None else None
        # Without one of its own an image has its base's. Where that is unknown, ``COPY . .`` puts files there too.
        of_image = image.workdir if image is not None else workdir_of(own) if own else ""
        self.workdir = given or of_image or ("/" if self._copies else "")

    def settle(self, words: Sequence[str]) -> None:
        """Find out in which directory a command works, where its image does not say.

        It works in that of the only mount that holds both its program and another relative path that it is given:
        elsewhere the command could not run.
        """
        if self.workdir or self._context:
            return
        paths = [path for word in words for path in _relative(word)]
        module, program = _program_of(words, paths)
        holding = [shown for shown in self._mounts if program is not None and self._holds(shown, program)]
        if program is None or len(holding) != 1 or not holding[0].certain or not holding[0].target.startswith("/"):
            return
        others = (path for path in paths if path not in (program, module))
        if any(self._holds(holding[0], path) for path in others):
            self.workdir = holding[0].target

    def _holds(self, shown: _Shown, path: str) -> bool:
        """Whether a mount has a file or directory at a relative path."""
        places = (normal(os.path.join(source, path)) for source in shown.sources)
        return any(self.repository.is_file(place) or self.repository.is_dir(place) for place in places)

    def typed_in(self, words: Sequence[str], page: str) -> str:
        """The directory of the container in which a command of a page is typed that is not where the container works.

        It is that of the page, where a mount surely shows it and it has the program; empty otherwise.
        """
        _, program = _program_of(words, [path for word in words for path in _relative(word)])
        if program is None or (self.workdir and self.shown(posixpath.join(self.workdir, program)) is not None):
            return ""
        folder = normal(os.path.dirname(page) or ".")
        for shown in self._mounts:
            if not shown.sources or not shown.certain or self.covered or not shown.target.startswith("/"):
                continue
            source = shown.sources[0]
            below = folder if source == "." else _below_of(folder, source)
            if below is not None:
                place = posixpath.normpath(posixpath.join(shown.target, below))
                return place if self.shown(posixpath.join(place, program)) is not None else ""
        return ""

    def find(self, path: str, directory: str = "", *, folder: bool = False) -> Place | None:
        """The file (or ``folder``) that a container path names, from a directory of the container."""
        there = self.repository.is_dir if folder else self.repository.is_file
        if not path or "\0" in path or len(path) > 1000:
            return None
        place = posixpath.join(directory or self.workdir, path)
        if len(place) > LONGEST_PATH:
            return None
        if self._written and not folder and (written := self._written.get(posixpath.normpath(place))) is not None:
            return written
        found = self._absolute(place, there) if place.startswith("/") or directory or self.workdir else None
        return found or self._guess(place if path.startswith("/") else posixpath.normpath(place), path, there)

    def write(self, path: str, directory: str, source: Source, line: int, *, certain: bool) -> None:
        """Note the text of a file that a script writes at a container path, and the line of the script's own file."""
        place = normal(f"{source.path}:{line}/{posixpath.basename(path)}")  # beside nothing that it could import
        self.repository.add(place, source)
        self._written[posixpath.normpath(posixpath.join(directory or self.workdir, path))] = Place(place, not certain)

    def folder_beside(self, file: str, folder: str, *, guess: bool = False) -> str | None:
        """The folder that a path is for the code of a file; None where that is not known, without a ``guess``."""
        if folder.startswith("/"):
            place = self.find(folder, folder=True)
            return place.path if place is not None and (guess or not place.guessed) else None
        return normal(os.path.join(os.path.dirname(file), folder))

    def shown(self, path: str, *, folder: bool = False) -> str | None:
        """The file (or ``folder``) that the container surely has at an absolute path."""
        place = self._absolute(path, self.repository.is_dir if folder else self.repository.is_file)
        return place.path if place is not None and not place.guessed else None

    def _absolute(self, path: str, there: Callable[[str], bool]) -> Place | None:
        path = posixpath.normpath(path)
        for shown in self._mounts:
            rest = _below_of(path, shown.target)
            if rest is not None:
                paths = (normal(os.path.join(source, rest)) if rest else source for source in shown.sources)
                found = list(dict.fromkeys(path for path in paths if there(path)))
                self.unsure.update(found[:1] if len(found) > 1 and not shown.certain else ())
                return Place(found[0], self.covered or not shown.certain) if found else None
        for copied in _copied(path, self._copies, 0):
            for candidate in self._expanded(copied):
                if there(candidate):
                    return Place(candidate, self.covered)
        return None

    def _expanded(self, relative: str) -> Iterator[str]:
        """The files of the context that a source of COPY may mean."""
        full = normal(os.path.join(self._context, relative.lstrip("/")))
        folder, name = os.path.split(full)
        if "*" in name or "?" in name:
            yield from (normal(os.path.join(folder, n)) for n in self.repository.names(folder) if fnmatchcase(n, name))
        else:
            yield full

    def _guess(self, place: str, path: str, there: Callable[[str], bool]) -> Place | None:
        """A place of the repository that has the name: nothing says that the container sees it there.

        ``place`` is the whole path in the container, ``path`` what of it is written.
        """
        written = _parts(path)
        parts = _parts(place) if "$" not in place and "`" not in place else written
        if not written or "$" in "".join(written) or "`" in path:
            return None
        shortest = 1 if path.startswith("/") else len(written)
        places = [source for shown in self._mounts for source in shown.sources]
        places += [folder for folder in (self._context, self._beside) if folder]
        places += [folder for near in self.near for folder in (near, os.path.dirname(near))]
        places += self.repository.above()
        for start in range(len(parts) - shortest + 1):
            for folder in dict.fromkeys(places):
                candidate = normal(os.path.join(folder, *parts[start:]))
                if there(candidate):
                    return Place(candidate, guessed=True)
        repeated = len(written) > 1 and parts[-len(written) - 1 : -len(written)] == written[:1]
        for folder in dict.fromkeys(places) if repeated else ():  # `./tool/train.py`, typed above `tool`
            candidate = normal(os.path.join(folder, *written[1:]))
            if there(candidate):
                return Place(candidate, guessed=True)
        if "$" in path:
            return None
        open_start = not path.startswith("/") and self.workdir in ("", "/")
        ends = self._by_end_of_mount(written, there) if open_start else None
        found = ends or self._below(self.repository.home, written, there) or self._by_ending(place, written, there)
        foreign = path.startswith("/") and not self._context and not self._copies
        return found or (self._called(written[-1], there) if foreign else None)

    def _called(self, name: str, there: Callable[[str], bool]) -> Place | None:
        """The only file of that name in a directory at the top, for an image of which it is not known what it holds.

        Not of a name that every repository has, and images as well.
        """
        return self._below(self.repository.root, (name,), there) if re.fullmatch(_OF_ANY, name) is None else None

    def _by_end_of_mount(self, written: Sequence[str], there: Callable[[str], bool]) -> Place | None:
        """``tool/train.py`` from a directory that only the image knows, where a mount is called ``/…/tool``."""
        for shown in self._mounts:
            if _parts(shown.target)[-1:] == written[:1]:
                for source in shown.sources:
                    candidate = normal(os.path.join(source, *written[1:]))
                    if there(candidate):
                        return Place(candidate, guessed=True)
        return None

    def _below(self, folder: str, written: Sequence[str], there: Callable[[str], bool]) -> Place | None:
        """The only file of that name in the directories of a directory."""
        if not written or not written[-1].endswith((".py", ".sh")):
            return None
        folders = self.repository.folders_in(normal(folder))
        found = [path for folder in folders if there(path := normal(os.path.join(folder, *written)))]
        return Place(found[0], guessed=True) if len(found) == 1 else None

    def _by_ending(self, place: str, written: Sequence[str], there: Callable[[str], bool]) -> Place | None:
        """The only file of the repository whose path ends like the one that is meant, its directory included.

        In a mount the directory is the one of the repository that has the end of the host's path.
        """
        relative = not place.startswith("/")
        for shown in self._mounts if written else ():
            below = "/".join(written) if relative else _below_of(place, shown.target)
            rest = _parts(below or "")
            if not shown.host or not rest:
                continue
            folder = self._only(shown.host, 1, self.repository.is_dir)
            if folder is not None:
                direct = normal(os.path.join(folder, *rest))
                found = Place(direct, guessed=True) if there(direct) else self._below(folder, rest, there)
                if found is not None:
                    return found
            path = self._only((*shown.host, *rest), len(rest) + 1, there)
            if path is not None:
                return Place(path, guessed=True)
        path = self._only(written, 2, there) if relative else None
        return Place(path, guessed=True) if path is not None else None

    def _only(self, parts: Sequence[str], least: int, there: Callable[[str], bool]) -> str | None:
        """The only path of the repository that ends with as many of some parts as any does, ``least`` at least."""
        for start in range(len(parts) - least + 1):
            *folders, last = parts[start:]
            if folders:
                holders = [f for f in self.repository.folders_named(folders[-1]) if _ends_with(f, folders)]
                found = [path for folder in holders if there(path := normal(os.path.join(folder, last)))]
            else:
                found = self.repository.folders_named(last)
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def folders(self) -> tuple[str, ...]:
        """The directories of the repository that the container sees, the likeliest first."""
        found = [source for shown in self._mounts for source in shown.sources[:1] if self.repository.is_dir(source)]
        for copy in self._copies:
            if copy.origin is None and not copy.elsewhere:
                found += [c for s in copy.sources for c in self._expanded(s) if self.repository.is_dir(c)]
        return tuple(dict.fromkeys(found))

    def python_path(self) -> tuple[str, ...]:
        """The directories of the container from which Python imports: where it works, and PYTHONPATH."""
        given = self.environment.get("PYTHONPATH")
        text = (given.known or "" if not given.private else "") if given is not None else self._python_path
        paths = (path for path in (self.workdir, *text.split(":")) if path.startswith("/") and "$" not in path)
        return tuple(dict.fromkeys(paths))[:_MOST_PATHS]

    def layout(self) -> tuple[object, ...]:
        """What decides where the container has files of the repository."""
        mounts = tuple((shown.target, shown.sources) for shown in self._mounts if shown.sources)
        copies = tuple((copy.target, copy.sources, copy.elsewhere) for copy in self._copies)
        return mounts, copies, self._context, self.folders(), self.python_path(), self.covered

    def seen(self) -> tuple[str, ...]:
        """All directories of the repository that the container may see, where it is not sure which of some it is."""
        mounted = (source for shown in self._mounts for source in shown.sources if self.repository.is_dir(source))
        return tuple(sorted({*mounted, *self.folders()}))


def _program_of(words: Sequence[str], paths: Sequence[str]) -> tuple[str | None, str | None]:
    """The module that a command runs, and the relative path of its file or of its script."""
    module = next((after for word, after in pairwise(words) if word == "-m"), None)
    of_module = f"{module.replace('.', '/')}.py" if module is not None else None
    return module, of_module or next((path for path in paths if path.endswith((".py", ".sh"))), None)


def _relative(word: str) -> Iterator[str]:
    """The relative path that a word is, or that it gives to an option; a plain name may be anything."""
    text = posixpath.normpath(word.partition("=")[2] if word.startswith("-") else word)
    if re.fullmatch(r"[\w@+-][\w./@+-]*", text) is not None and re.search(r"/|\.[A-Za-z]\w*$", text) is not None:
        yield text


def _ends_with(path: str, parts: Sequence[str]) -> bool:
    return path.split("/")[-len(parts) :] == list(parts)


def _below_of(path: str, folder: str) -> str | None:
    """What of a path is below a directory; None where it is elsewhere."""
    start = folder.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else "" if path == folder else None


def _parts(path: str) -> list[str]:
    after = re.sub(_VARIABLE, "", path) if path.startswith("$") else path
    return [part for part in after.split("/") if part not in ("", ".", "..")]


def context_of(build: Build, repository: Repository) -> str:
    """The directory of a build context."""
    if build.inline is not None:
        return normal(os.path.join(build.directory, build.context))
    if _is_elsewhere(build):
        return normal(os.path.join(build.directory, "$", build.context))  # no directory is called so
    found = _existing(build, repository)
    if found is not None:
        return found
    # `$HERE/..` is not the directory of the script, whatever the variable holds.
    unknown = re.search(_UNKNOWN, build.context) is not None and ".." in build.context
    return normal(os.path.join(build.directory, build.context.replace("..", "") if unknown else build.context))


def dockerfile_of(build: Build, repository: Repository) -> str | None:
    """The Dockerfile of a build; None where it is not in the repository."""
    context = context_of(build, repository)
    file = _without_variable((build.dockerfile or "").replace("\\", "/"))
    if build.dockerfile is None:
        candidates = [os.path.join(context, name) for name in DOCKERFILES]
    elif build.in_context or _is_elsewhere(build):
        candidates = [os.path.join(context, file)]
    else:
        places = (*_changed_to(build, repository), build.directory, repository.root, context)
        candidates = [os.path.join(place, file) for place in places]
    return next((normal(path) for path in candidates if repository.is_file(path)), None)


def _without_variable(path: str) -> str:
    """A path without the variable or command at its start that gives the directory of a script or of the repository."""
    return re.sub(f"{_HERE}|{_TOP.removeprefix('(?i)')}", "", path, count=1, flags=re.IGNORECASE)


def _existing(build: Build, repository: Repository) -> str | None:
    """The directory that a build names; scripts and pages often mean it from the top of the repository."""
    path = re.sub(_HERE, "", build.context)
    if re.search(_UNKNOWN, path):
        return _beside_script(build, repository)
    around = (*_changed_to(build, repository), *repository.above(build.directory))
    places = [normal(os.path.join(place, path or ".")) for place in around]
    files = DOCKERFILES if build.dockerfile is None else (build.dockerfile,)
    for candidate in places:
        if any(repository.is_file(os.path.join(candidate, file)) for file in files):
            return candidate
    return next(filter(repository.is_dir, places), None)


def _beside_script(build: Build, repository: Repository) -> str | None:
    """The directory of a build that its script finds from its own one."""
    from shmlint.workloads.script_directory import beside, from_directory, has_moved  # few runs need it

    own = from_directory(build.context, build.span)
    if own is None and not has_moved(build.span.source.text, build.span.start):
        own = beside(build.context)
    path = normal(os.path.join(os.path.dirname(build.span.path), own)) if own is not None else ""
    return path if path and repository.is_dir(path) else None


def _is_elsewhere(build: Build) -> bool:
    """Whether the commands before a build change to a directory that only a variable tells: ``cd docker/$name``."""
    if build.elsewhere:
        return True
    before = build.span.source.text[max(0, build.span.start - _BEFORE) : build.span.start]
    if "$" not in before or ("cd" not in before and "pushd" not in before):
        return False
    left = re.sub(r"(?<!\$)\([^()]*\)", "", before.rpartition("```")[2])  # commands in parentheses are over
    changes = [match[1] for match in _ANY_CHANGE.finditer(left)]
    last = _without_variable(changes[-1].strip("\"'")) if changes else ""
    return "$" in last


_ANY_CHANGE = re.compile(
    r"""(?m)(?:^|[;&({]|\b(?:if|then|else|do)[ \t])[ \t]*(?:cd|pushd)[ \t]+"""
    r"""("(?:\$\([^()\n]*\)|[^"\n])*"|(?:\$\([^()\n]*\)|[^\s;&()])+)"""
)


def _changed_to(build: Build, repository: Repository) -> list[str]:
    """The directories that the commands before a build may change to: ``cd mine/docker``, ``docker build .``.

    People begin where they have cloned the repository, so what comes first may be its name.
    """
    before = build.span.source.text[max(0, build.span.start - _BEFORE) : build.span.start]
    if "cd" not in before and "pushd" not in before:
        return []
    path = ""
    for match in re.finditer(_CHANGES, re.sub(r"\([^()]*\)", "", before.rpartition("```")[2])):
        to = match[1] or "-"
        path = posixpath.normpath(posixpath.join(path, to)) if to != "-" else ""
    parts = path.removeprefix("~/").split("/")
    ends = ("/".join(parts[first:]) for first in range(min(len(parts), _MOST_PARTS)))
    starts = repository.above(build.directory)
    places = (normal(os.path.join(start, end)) for end in ends if end not in ("", ".") for start in starts)
    return [place for place in dict.fromkeys(places) if repository.is_dir(place)]


_CHANGES = (
    r"""(?m)(?:^|[;&({"']|\b(?:if|then|else|do)[ \t])[ \t]*(?:\$[ \t]+)?"""
    r"""(?:(?:cd|pushd)[ \t]+["']?(?:\$[^/\s]*/)?([\w./~-]+)["']?[ \t]*(?=$|[;&#>])|popd\b)"""
)
"""A change of directory, from the script's own one or the last one on; commands in parentheses are over."""
_BEFORE = 600
"""Characters in which a change of directory is looked for."""
_MOST_PARTS = 3
"""Names of directories before a path that may be those of people's own."""

_HERE = (
    r"""^["']?(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`|\$\{?localWorkspaceFolder\}?|\$\{workspaceFolder\}|%cd%|%CD%|\$\{?CURDIR\}?|\$\(CURDIR\)"""
    r"""|\$\{\{ *github\.workspace *\}\}|\$\{__github_workspace__\}|\$GITHUB_WORKSPACE|\$\{GITHUB_WORKSPACE\}"""
    r"""|\$CI_PROJECT_DIR"""
    r"""|\$\((?:realpath|readlink -f)[ ]\.\)|`(?:realpath|readlink -f)[ ]\.`)["']?/?"""
)
"""The directory that a command is run in."""
_TOP = (
    r"""(?i)^["']?\$(?:\{?(?:\w*(?:ROOT|REPO|PROJECT|WORKSPACE|SCRIPT|HERE|BASE|SRC|SOURCE|CODE|HOST|LOCAL|TOPLEVEL|MAKEFILE_LIST)\w*|DIR)\}?"""
    r"""|\((?=[^\n]*?(?:rev-parse|dirname|realpath|readlink))(?:[^()]|\([^()]*\))*\))["']?/?"""
)
"""A variable or command that gives the directory of a script or of the repository."""
_VARIABLE = r"^(?:\$\w+|\$\{\w+\}|\$\((?:[^()]|\([^()]*\))*\))/"
"""A directory before a path that only a variable or a command gives."""
_UNKNOWN = r"[$`%<>{}]"


_CD = re.compile(r"[ \t]*(?:\$ )?(?:cd|pushd)[ \t]+([^\n;&|]+)")
_GOES = re.compile(r"cd[ \t]"), re.compile(r"pushd[ \t]")


class _Gone(NamedTuple):
    """Where a script or a page may have gone before it starts a container, and whether it surely has.

    A script surely goes to a directory that it gives from its own.
    """

    folders: tuple[str, ...] = ()
    surely: bool = True
    missing: tuple[str, ...] = ()
    """The parts of the path where the repository has no such directory."""


_NOWHERE = _Gone()


def _gone_to(launch: Launch, repository: Repository) -> _Gone:
    moves = _moves(launch.span.path, repository) if launch.kind == "docker-run" else ()
    before = bisect_left(moves, (launch.span.start, ""))
    if not before:
        return _NOWHERE
    target = moves[before - 1][1].strip("\"'")
    path = _without_variable(target)
    if re.search(_UNKNOWN, path) or path.startswith(("/", "~", "-")):
        return _NOWHERE
    places = [normal(os.path.join(place, path)) for place in repository.above()]
    surely = re.search(_OF_SCRIPT, target) is not None
    found = tuple(dict.fromkeys(p for p in places[: 1 if surely else None] if repository.is_dir(p)))
    return _Gone(found, surely, () if found else tuple(_parts(path)))


def _moves(path: str, repository: Repository) -> tuple[tuple[int, str], ...]:
    """Where a script or a page goes, by the offsets at which it does."""
    known = repository.shared.moves
    if path not in known:
        source = repository.peek(path)
        text = source.text if source is not None else ""
        found = (_CD.match(text, start) for start in lines_with(_GOES, text))
        known[path] = tuple((match.start(), match[1].strip()) for match in found if match is not None)
    return known[path]


_OF_SCRIPT = r"dirname|BASH_SOURCE|(?i:SCRIPT|\bHERE\b)"


def _mounted(bind: Bind, gone_to: _Gone, repository: Repository, launch: Launch) -> _Shown:
    if bind.resolved:
        return _Shown(bind.target, (normal(bind.source),), True)
    text = bind.source
    own = _own_directory(text, launch, repository) if "$(" in text and launch.kind == "docker-run" else None
    if own is not None:
        return _Shown(bind.target, (own,), True)
    here = top = None
    if re.search(_UNKNOWN, text):
        here, top = re.match(_HERE, text), re.match(_TOP, text)
        if here is None and top is None:
            return _Shown(bind.target, (), False)
    elif text.startswith(("/", "~")):
        return _Shown(bind.target, (), False, tuple(_parts(text)))
    rest = text[here.end() :] if here is not None else text[top.end() :] if top is not None else text
    if re.search(_UNKNOWN, rest):
        return _Shown(bind.target, (), False)
    relative = here is not None or top is None
    moved, surely, missing = gone_to if relative else _NOWHERE
    around = (repository.root,) if _is_of_pipeline(launch) else repository.above()
    places = [normal(os.path.join(place, rest.lstrip("/"))) for place in (*moved, *around)]
    host = (*missing, *_parts(rest)) if missing else ()
    return _Shown(bind.target, tuple(dict.fromkeys(places)), relative and (surely or not moved), host)


def _is_of_pipeline(launch: Launch) -> bool:
    """Whether the file of a launch is a pipeline's by its name: its jobs start at the top of the repository."""
    from shmlint.files.kinds import classify

    return classify(launch.span.path.replace(os.sep, "/"), lambda: b"") == "ci"


def _own_directory(text: str, launch: Launch, repository: Repository) -> str | None:
    """The directory that a script surely means: from its own one, or from the top of the repository."""
    from shmlint.workloads.script_directory import from_directory, has_moved  # few runs need it

    top = re.match(r"\"?\$\(git rev-parse --show-toplevel(?: 2> ?/dev/null)?\)\"?((?:/[\w.@+-]+)*)/?\"?$", text)
    if top is not None:
        known = any(there(os.path.join(repository.root, ".git")) for there in (repository.is_dir, repository.is_file))
        known = known and not has_moved(launch.span.source.text, launch.span.start)
        return normal(os.path.join(repository.root, top[1].lstrip("/"))) if known else None
    own = from_directory(text, launch.span)
    return normal(os.path.join(repository.home, own)) if own is not None else None


def _copied(path: str, copies: Sequence[object], depth: int) -> Iterator[str]:
    """The sources, below the build context, from which a path may have been copied; the last COPY counts."""
    from shmlint.syntax.dockerfile import Copy

    if depth > 8:
        return
    for copy in reversed(copies):
        assert isinstance(copy, Copy)
        target = posixpath.normpath(copy.target)
        below = path == target or path.startswith(target.rstrip("/") + "/")
        if not below or copy.elsewhere:
            continue
        rest = path[len(target.rstrip("/")) + 1 :]
        for source in copy.sources:
            name = posixpath.basename(source.rstrip("/"))
            candidates = [posixpath.join(source, rest)] if rest else [source]
            if rest == name or (rest and fnmatchcase(rest, name) and "*" in name):
                candidates.append(posixpath.join(posixpath.dirname(source), rest))
            for candidate in candidates:
                if copy.origin is None:
                    yield candidate
                else:
                    inner = posixpath.join("/", candidate)
                    yield from _copied(posixpath.normpath(inner), copy.origin.copies, depth + 1)
