"""Compose files: which of them belong together, and the launches they make up."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from shmlint.docker.accelerators import OF_RUNTIMES
from shmlint.docker.gpus import visible_devices
from shmlint.files.cache import Key
from shmlint.files.kinds import kind_of
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import (
    DEFAULT_FILES,
    OVERRIDE_FILES,
    default_files,
    defined_names,
    incomplete,
    is_variant,
    named_files,
    service_names,
)
from shmlint.formats.compose.interpolate import PROJECT_NAME, NotKnown
from shmlint.formats.compose.invalid_keys import service_keys
from shmlint.formats.compose.invalid_service import service_faults
from shmlint.formats.compose.lists import Start, lists_with
from shmlint.formats.compose.load import load_project, read_document
from shmlint.formats.compose.project import Project
from shmlint.formats.compose.service import built_images, read_project
from shmlint.formats.compose.shape import check, of_version_1, unknown_keys
from shmlint.formats.compose.templates import as_template
from shmlint.formats.compose.tree import Branch, Layer, Tree
from shmlint.formats.yaml_text import SERVICE_GPU
from shmlint.model.launch import Build, Combination, Launch, Unknown
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Source, Span
from shmlint.syntax.yaml import YamlError
from shmlint.syntax.yaml_read import parse_part, read_documents

if TYPE_CHECKING:
    from shmlint.syntax.json import Json

_PART = "the file it comes from must set its image and may set shm_size"

_MANY_BASES = 4
"""An overlay that fits more bases than this is read with the first ones only."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """Every service of the projects that the given compose files take part in."""
    launches: list[Launch] = []
    builds: list[Build] = []
    wanted = [normal(path) for path in paths]
    readable, problems, not_read = _readable(wanted, workspace)

    seen_problems = {problem.key for problem in problems}
    combinations = list(_combinations(readable, workspace, settings))
    taken = _taken(readable, combinations, settings, workspace)
    for path in readable:
        named = os.path.basename(path) in (*DEFAULT_FILES, *OVERRIDE_FILES)
        if named or path not in taken.extended:
            problems += unknown_keys(read_documents(path, workspace), named=named)
    for combination in (*combinations, *taken.starters):
        try:
            project = taken.projects.get(combination.name) or _loaded(combination, workspace)
            if project is None:
                project = combination.load(workspace)  # which says why
        except Unreadable as error:
            if error.path not in wanted:
                problems.append(error.problem)
            continue
        swarm = _swarm(project, workspace, settings.of(project.files[0]))
        alone = combination.of_settings or not taken.included.issuperset(combination.files)
        refused = _swarm_faults(project) if swarm else _faults(combination, project, taken, workspace, alone=alone)
        for problem in (*project.problems, *refused):
            if problem.key not in seen_problems and (
                combination not in taken.starters or problem.span.path in wanted
            ):
                seen_problems.add(problem.key)
                problems.append(problem)
        if not alone:
            continue  # whoever includes them starts their services, with its own variables and overrides
        own = [
            _placed(launch, combination, taken, project, workspace)
            for launch in (
                read_project(project, workspace, swarm) if swarm else _launches(combination, project, workspace)
            )
            if combination not in taken.starters or launch.span.path in wanted
        ]
        launches += own
        builds += (build for launch in own for build in built_images(launch, project, workspace))
    return Reading(tuple(launches), tuple(problems), tuple(builds), tuple(not_read))


def _readable(wanted: Sequence[str], workspace: Workspace) -> tuple[list[str], list[Problem], list[NotRead]]:
    """The files that hold a Compose file, what is wrong with the others and with them, and those that are not read."""
    readable: list[str] = []
    problems: list[Problem] = []
    not_read: list[NotRead] = []
    for path in wanted:
        try:
            if (template := as_template(path, workspace)) is not None:
                not_read.append(template)
                continue
            documents = read_documents(path, workspace)
        except Unreadable as error:
            problems.append(error.problem)
            continue
        faults = list(check(path, documents, workspace))
        problems += faults
        if (asks := of_version_1(documents)) is not None:
            because = "it is a Compose file of version 1, without `services`, which Compose v2 refuses"
            not_read.append(NotRead(asks, because, "unsupported", whole=True))
        elif documents and not any(fault.kind == "wrong-file" for fault in faults):
            readable.append(path)
    return readable, problems, not_read


def _faults(
    combination: _Combination, project: Project, taken: _Taken, workspace: Workspace, *, alone: bool
) -> Iterator[Problem]:
    """What Compose refuses in the services of a project; ``alone``: no other file includes it."""
    complete = alone and (combination.started_in is not None or combination.of_settings)
    complete = complete and not any(_is_part_of_dev_container(path, workspace) for path in project.files)
    extended = {name for file in project.files for name in taken.extended.get(file, ())}
    elsewhere = _defined_elsewhere(project, workspace) if complete and not combination.of_settings else ()
    is_given = partial(_is_given_beside, project=project, workspace=workspace)
    yield from service_faults(
        project, complete=complete, elsewhere=elsewhere, extended=extended, is_given_beside=is_given
    )


def _dev_container(path: str, workspace: Workspace) -> Json | None:
    """The dev container beside a file that starts it, maybe with others; None where there is none."""
    directory, name = os.path.split(path)
    beside = normal(os.path.join(directory, "devcontainer.json"))
    if not workspace.exists(beside):
        return None
    from shmlint.formats.devcontainer.properties import compose_files
    from shmlint.syntax.json import parse

    try:
        root, _ = parse(workspace.source(beside))
    except Unreadable:
        return None
    files = [os.path.normpath(item.text) for item in compose_files(root)] if root is not None else []
    return root if name in files else None


def _is_part_of_dev_container(path: str, workspace: Workspace) -> bool:
    """Whether a dev container beside a file is started with it and others: it may only add to them."""
    root = _dev_container(path, workspace)
    if root is None:
        return False
    from shmlint.formats.devcontainer.properties import compose_files

    return len(compose_files(root)) > 1


def _in_dev_container(launch: Launch, workspace: Workspace) -> Launch:
    """A service with what the dev container beside it lets it do; nobody starts it without.

    It is not decided where the dev container gives it another /dev/shm, or takes its GPUs away.
    """
    root = _dev_container(launch.span.path, workspace)
    started = root.string("service") if root is not None else None
    if root is None or started is None or started.text != launch.name:
        return launch
    from shmlint.formats.devcontainer.properties import capabilities, container_environment, is_privileged, mounts_of

    if any(mount.target in ("/dev/shm", "/dev") for mount in mounts_of(root)) or any(
        name.text in OF_RUNTIMES and not visible_devices(text) for name, _, text in container_environment(root)
    ):
        return launch._replace(undecided=Unknown("file", "its dev container adds to it; it is checked there"))
    added = tuple(item.text for item in capabilities(root))
    privileged = True if is_privileged(root) else launch.privileged
    return launch._replace(cap_add=(*launch.cap_add, *added), privileged=privileged)


def _is_given_beside(service: str, project: Project, workspace: Workspace) -> bool:
    """Whether a file that is not named like a Compose file writes a service: it may give it an image."""
    directories = set(map(os.path.dirname, project.files))
    found = (workspace.once(_OTHER_WRITERS, d, partial(_other_writers, d)).get(service, ()) for d in directories)
    return any(path not in project.files for paths in found for path in paths)


def _swarm_faults(project: Project) -> Iterator[Problem]:
    """What the docker client refuses in the files of a stack: it knows no key and no type that Compose does not."""
    for name, service in project.services.items():
        yield from service_keys(name, service.tree, complete=False)


def _only_in_swarm(deploy: Tree | None) -> bool:
    """Whether a quick look finds what means something to a swarm only."""
    return isinstance(deploy, Branch) and (
        "placement" in deploy.entries
        or "endpoint_mode" in deploy.entries
        or "mode" in deploy.entries
        or deploy.get("resources", "reservations", "generic_resources") is not None
    )


def _swarm(project: Project, workspace: Workspace, settings: Settings) -> str:
    """Why the files are taken to be started by ``docker stack deploy``; empty where they are not."""
    names = " ".join(map(os.path.basename, project.files)).lower()
    if not (
        settings.engine == "swarm"
        or "stack" in names
        or "swarm" in names
        or any(_only_in_swarm(service.tree.get("deploy")) for service in project.services.values())
    ):
        return ""
    from shmlint.formats.compose.stack import why

    return why(project, workspace, settings)


def read_embedded(source: Source, start: int, end: int, workspace: Workspace) -> Reading:
    """The services of a compose file that is part of another text: characters ``start`` to ``end``.

    A text that is not one gives none: documents show parts of files too. Where it asks for a GPU, it is not read.
    """
    try:
        documents = parse_part(source, start, end)
    except YamlError as error:
        asks = SERVICE_GPU.search(source.text, start, end)
        because = f"the Compose file around it is not valid YAML in line {source.position(error.offset).line}: "
        span = Span(source, *source.line_span(source.position(asks.end()).line)) if asks is not None else None
        return Reading(not_read=(NotRead(span, because + error.message, "syntax"),) if span is not None else ())
    project = Project((source.path,), os.path.dirname(source.path))
    for document in documents:
        layer = Layer(source, {PROJECT_NAME: NotKnown()}, os.path.dirname(source.path))
        read_document(project, document, layer, workspace)
    launches = read_project(project, workspace)
    return Reading(tuple(
        launch._replace(undecided=Unknown("file", _PART))
        if launch.image is None and project.services[launch.name or ""].tree.get("build") is None
        else launch
        for launch in launches
    ))  # fmt: skip


class _Combination(NamedTuple):
    """Files that are read together, and what that reading leaves open."""

    files: tuple[str, ...]
    needs_base: tuple[str, ...] = ()
    """Services that cannot start from these files: another file must give them an image."""
    named: bool = False
    """Other combinations exist for the same file: a finding names this one."""
    rival: tuple[str, ...] = ()
    """Another way to read the same file, together with these."""
    started_in: str | None = None
    """The directory that Compose finds these files from by itself."""
    of_settings: bool = False
    directory: str | None = None
    """The project directory, where it is not that of the first file."""

    @property
    def name(self) -> str:
        """Tells what is loaded from all else that is."""
        return "\n".join((str(self.started_in), str(self.directory), *self.files))

    def load(self, workspace: Workspace) -> Project:
        """The project of the files. Raises Unreadable."""
        return load_project(self.files, workspace, started_in=self.started_in, directory=self.directory)


_LOADED: Key[Project | None] = Key("compose project")
_LAUNCHES: Key[tuple[Project, Sequence[Launch]]] = Key("launches of a compose project")


def _loaded(combination: _Combination, workspace: Workspace) -> Project | None:
    """The project of some files, loaded once for a run; None where one of them cannot be read."""

    def load(files: Workspace) -> Project | None:
        try:
            return combination.load(files)
        except Unreadable:
            return None

    return workspace.once(_LOADED, combination.name, load)


def _launches(combination: _Combination, project: Project, workspace: Workspace) -> Sequence[Launch]:
    """The launches of a project that no swarm starts, read once for a run."""
    of, launches = workspace.once(
        _LAUNCHES, combination.name, lambda files: (project, read_project(project, files))
    )
    return launches if of is project else read_project(project, workspace)


def _combinations(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Iterator[_Combination]:
    """The sets of files people start together, each that has one of ``paths`` in it."""
    wanted = set(paths)
    covered: set[str] = set()
    done: set[tuple[tuple[str, ...], str | None]] = set()

    def once(combination: _Combination) -> Iterator[_Combination]:
        of = (combination.files, combination.directory)
        if of not in done:
            done.add(of)
            yield combination

    for named in dict.fromkeys(named for some in settings.every for named in some.projects):
        files = tuple(normal(f) for f in named)
        if wanted & set(files):
            covered |= set(files)
            if all(workspace.exists(f) for f in files):
                yield from once(_Combination(files, of_settings=True))
    for path in paths:
        for combination in _with(path, workspace) if path not in covered else ():
            yield from once(combination)


def _with(path: str, workspace: Workspace) -> Iterator[_Combination]:
    """The sets of files that have a file in them, apart from those of the settings."""
    started_in, default = _found_by(path, workspace)
    starts = [*dict.fromkeys(lists_with(path, workspace.upwards(path), workspace))]
    directories = [start.directory for start in starts if start.files == default]
    if path in default and (not directories or None in directories):
        yield _Combination(default, started_in=started_in)
    other = [start for start in starts if len(start.files) > 1 or start.directory is not None]
    for start in other:
        yield _of_list(start, named=path in default or len(starts) > 1, workspace=workspace)
    if path in default or (starts and starts == other):
        return
    missing = _incomplete(path, workspace)
    if default and os.path.basename(path) in (*DEFAULT_FILES, *OVERRIDE_FILES):
        # Compose takes another one of the directory instead; nobody puts both together.
        yield _Combination((path,), needs_base=tuple(missing))
    elif missing:
        yield from _on_bases(path, missing, default, workspace)
    elif (rival := _rival(path, default, workspace)) and _is_variant(path, rival[:-1], workspace):
        yield _Combination(rival)
    else:
        yield _Combination((path,), rival=rival)


def _on_bases(
    path: str, missing: Sequence[str], default: Sequence[str], workspace: Workspace
) -> Iterator[_Combination]:
    """A file that lacks what its services need on each of those that may give it to them."""
    bases = _bases(path, missing, default, workspace)
    if not bases:
        yield _Combination((path,), needs_base=tuple(missing))
    for base in bases:
        given = _names_of(base, workspace)
        left = tuple(name for name in missing if name not in given)
        elsewhere = os.path.dirname(base[0]) != os.path.dirname(path)
        yield _Combination((*base, path), needs_base=left, named=elsewhere or len(bases) > 1)


def _of_list(start: Start, *, named: bool, workspace: Workspace) -> _Combination:
    """Files that a command of the repository names."""
    files = start.files
    whole = {name for file in files for name in _names(file, workspace) if name not in _incomplete(file, workspace)}
    left = tuple(name for name in sorted(_names_of(files, workspace)) if name not in whole)
    return _Combination(files, needs_base=left, named=named, directory=start.directory)


_DEFAULT: Key[tuple[str, ...]] = Key("compose files found by themselves")
_NAMED: Key[tuple[str, ...]] = Key("compose files named by an env file")
"""By the directory in which Compose is started."""


def _found_by(path: str, workspace: Workspace) -> tuple[str, tuple[str, ...]]:
    """The directory from which Compose reads a file by itself, and what it reads there.

    That is the file's own, or one above whose `.env` names the file in ``COMPOSE_FILE``. Where there
    is none, what Compose reads in the file's directory.
    """

    own, *above = workspace.upwards(path)
    default = workspace.once(_DEFAULT, own, partial(default_files, own))
    for directory in above if path not in default else ():
        named = workspace.once(_NAMED, directory, partial(named_files, directory))
        if path in named:
            return directory, named
    return own, default


def _base_part(default: Sequence[str]) -> tuple[str, ...]:
    """The files before an automatic override: what people combine overlays with."""
    return tuple(f for f in default if os.path.basename(f) not in OVERRIDE_FILES)


def _bases(
    path: str, missing: Sequence[str], default: Sequence[str], workspace: Workspace
) -> Sequence[tuple[str, ...]]:
    """The files an overlay is put on: the default ones, else those beside it that have what it lacks."""
    base = _base_part(default)
    if base and set(missing) & _names_of(base, workspace):
        return [base]
    directory = os.path.dirname(path)
    for writers, key in ((_writers, _WRITERS), (_other_writers, _OTHER_WRITERS)):
        beside = workspace.once(key, directory, partial(writers, directory))
        first, *more = (dict.fromkeys(beside.get(name, ())) for name in missing)
        taken = (path, *base)
        writing = [other for other in first if other not in taken and all(other in one for one in more)]
        found = [(other,) for other in writing if set(missing).isdisjoint(_incomplete(other, workspace))]
        if found:
            return list(islice(_nearest(path, found), _MANY_BASES))
    return _base_above(path, missing, workspace)


def _base_above(path: str, missing: Sequence[str], workspace: Workspace) -> Sequence[tuple[str, ...]]:
    """The default files of the directory above, where they have all that an overlay lacks: docker/gpu.yml."""
    if os.path.basename(path) in OVERRIDE_FILES:
        return []  # it belongs to what is beside it
    for directory in workspace.upwards(path)[1:2]:
        default = workspace.once(_DEFAULT, directory, partial(default_files, directory))
        base = _base_part(default)
        whole = {name for file in base for name in _names(file, workspace) if name not in _incomplete(file, workspace)}
        if whole.issuperset(missing):
            return [base]
    return []


_WRITERS: Key[dict[str, list[str]]] = Key("compose files of a directory by the names of their services")


def _writers(directory: str, workspace: Workspace) -> dict[str, list[str]]:
    """The files of a directory that write a service of some name, by the name."""
    found: dict[str, list[str]] = {}
    for path, _ in _beside(directory, workspace):
        for name in _names(path, workspace):
            found.setdefault(name, []).append(path)
    return found


_OTHER_WRITERS: Key[dict[str, list[str]]] = Key("files of a directory that are not named like Compose files")


def _other_writers(directory: str, workspace: Workspace) -> dict[str, list[str]]:
    """The same for the files that only their content tells: `docker compose -f app.yml -f gpu.yml`."""
    found: dict[str, list[str]] = {}
    for name in sorted(workspace.names_in(directory)):
        path = normal(os.path.join(directory, name))
        if name.endswith((".yml", ".yaml")) and "compose" not in name.lower() and _is_compose(path, workspace):
            for service in _names(path, workspace):
                found.setdefault(service, []).append(path)
    return found


def _is_compose(path: str, workspace: Workspace) -> bool:
    try:
        source = workspace.source(path)
    except Unreadable:
        return False
    return kind_of(source, workspace.top) == "compose"


def _rival(path: str, default: Sequence[str], workspace: Workspace) -> tuple[str, ...]:
    """The files that a file which can be started alone may also be put on, and the file; empty where there are none."""
    names = _names(path, workspace)
    base = _base_part(default)
    if base and path not in base and names & _names_of(base, workspace):
        return (*base, path)
    directory, own = os.path.dirname(path), _name_words(path)
    by_word = workspace.once(_BY_WORD, directory, partial(_by_word, directory))
    beside = sorted(other for word in own for other in by_word.get(word, ()))
    related = [(other,) for _, other, words in beside if words < own and names & _names(other, workspace)]
    return (*next(_nearest(path, related)), path) if related else ()


_BY_WORD: Key[dict[str, list[tuple[int, str, frozenset[str]]]]] = Key("compose files of a directory by a word")


def _by_word(directory: str, workspace: Workspace) -> dict[str, list[tuple[int, str, frozenset[str]]]]:
    """The files of a directory, numbered in their order, by the word of their names that the fewest have."""
    found: dict[str, list[tuple[int, str, frozenset[str]]]] = {}
    beside = _beside(directory, workspace)
    times = Counter(word for _, words in beside for word in words)
    for number, (path, words) in enumerate(beside):
        rarest = min(words, key=lambda word: (times[word], word), default="")
        found.setdefault(rarest, []).append((number, path, words))
    return found


def _nearest(path: str, bases: Sequence[tuple[str]]) -> Iterator[tuple[str]]:
    """Those of the files that could be under an overlay whose names say so; else all but variants of each other.

    docker-compose.dev.gpu.yml belongs to docker-compose.dev.yml before any other, and nobody puts an overlay for
    one kind of GPU on one for another.
    """
    own = _name_words(path)
    words = {base: _name_words(base[0]) for base in bases}
    related = [base for base in bases if words[base] <= own]
    most = max((len(words[base]) for base in related), default=0)
    if related:
        return (base for base in related if len(words[base]) == most)
    return (base for base in bases if not any(other < words[base] for other in words.values()))


def _name_words(path: str) -> frozenset[str]:
    """The words that a file's name consists of, without its ending: ``docker``, ``compose``, ``gpu``."""
    stem = os.path.basename(path).lower().rpartition(".")[0]
    return frozenset(re.findall(r"[a-z0-9]+", stem)) - {"docker"}


_BESIDE: Key[tuple[tuple[str, frozenset[str]], ...]] = Key("compose files of a directory")


def _beside(directory: str, workspace: Workspace) -> tuple[tuple[str, frozenset[str]], ...]:
    """The files of a directory that are named like Compose files, with the words of their names."""

    def listed(files: Workspace) -> tuple[tuple[str, frozenset[str]], ...]:
        names = {n for n in files.names_in(directory) if n.endswith((".yml", ".yaml")) and "compose" in n.lower()}
        return tuple((normal(os.path.join(directory, name)), _name_words(name)) for name in sorted(names))

    return workspace.once(_BESIDE, directory, listed)


def _defined_elsewhere(project: Project, workspace: Workspace) -> set[str]:
    """The names that other Compose files of the directories define: people may put such a file to these."""
    found: set[str] = set()
    for directory in dict.fromkeys(map(os.path.dirname, project.files)):
        for path, _ in _beside(directory, workspace):
            if path not in project.files:
                try:
                    found |= defined_names(path, workspace)
                except Unreadable:
                    pass
    return found


def _incomplete(path: str, workspace: Workspace) -> list[str]:
    try:
        return incomplete(path, workspace)
    except Unreadable:
        return []


def _is_variant(path: str, base: Sequence[str], workspace: Workspace) -> bool:
    try:
        return is_variant(path, base, workspace)
    except Unreadable:
        return False


def _is_started(path: str, workspace: Workspace) -> bool:
    """Whether Compose finds a file by its name, or a command names it alone."""
    named = os.path.basename(path) in DEFAULT_FILES
    return named or any(start.files == (path,) for start in lists_with(path, workspace.upwards(path), workspace))


def _names(path: str, workspace: Workspace) -> frozenset[str]:
    try:
        return service_names(path, workspace)
    except Unreadable:
        return frozenset()


def _names_of(files: Iterable[str], workspace: Workspace) -> set[str]:
    return {name for file in files for name in _names(file, workspace)}


class _Taken(NamedTuple):
    """What files take from others, and the projects that were loaded to see it."""

    included: set[str]
    extended: dict[str, set[str]]
    """Services by the file that they are written in."""
    projects: dict[str, Project]
    """By the names of their combinations."""
    starters: list[_Combination]
    """Projects that include one of the files that are read, and have no such file of their own."""


_TAKING: Key[tuple[tuple[str, _Combination], ...]] = Key("compose files that take from others")
"""By their directory, with what Compose reads together with them."""


def _taken(
    paths: Sequence[str], combinations: Sequence[_Combination], settings: Settings, workspace: Workspace
) -> _Taken:
    """What the projects take from other files: those that are read, and those of the files beside and above."""
    taken = _Taken(set(), {}, {}, [])
    read = {file for combination in combinations for file in combination.files}
    for combination in combinations:
        if _takes(combination, workspace):
            _note(taken, combination, _loaded(combination, workspace))
    others: dict[_Combination, None] = {}
    for directory in dict.fromkeys(d for path in paths for d in workspace.upwards(path)):
        for path, combination in workspace.once(_TAKING, directory, partial(_taking, directory)):
            if path not in read:
                others[combination] = None
    for combination in others:
        _start(taken, combination, paths, workspace)
    _look_elsewhere(taken, paths, combinations, settings, workspace)
    return taken


_ENOUGH = 8 << 30
"""Bytes of /dev/shm that few services need more than."""


def _look_elsewhere(
    taken: _Taken, paths: Sequence[str], combinations: Sequence[_Combination], settings: Settings, workspace: Workspace
) -> None:
    """Add what files elsewhere in the repository take from those with a service that may have too little.

    Few files have one, and to find the others costs a look at each YAML file of the repository.
    """
    small = [one for one in combinations if _may_have_too_little(one, taken, settings, workspace)]
    if not small:
        return
    from shmlint.formats.compose.users import MOST_USERS, takers

    files = dict.fromkeys(file for combination in small for file in combination.files)
    known = {file for combination in (*combinations, *taken.starters) for file in combination.files}
    others = islice((other for other in takers(files, workspace) if other not in known), MOST_USERS)
    for combination in dict.fromkeys(one for other in others for one in _with(other, workspace)):
        _start(taken, combination, paths, workspace)


def _may_have_too_little(
    combination: _Combination, taken: _Taken, settings: Settings, workspace: Workspace
) -> bool:
    """Whether a project that is judged has a GPU service that does not have much shared memory for certain."""
    if combination.of_settings or taken.included.issuperset(combination.files):
        return False
    project = taken.projects.get(combination.name) or _loaded(combination, workspace)
    default = settings.of(combination.files[0]).default_shm_size
    for launch in _launches(combination, project, workspace) if project is not None else ():
        if launch.gpu.requested is False or launch.undecided or launch.name in combination.needs_base:
            continue
        shm = launch.effective_shm(default)
        if shm.decided_by in ("default", "shm_size") and (shm.bytes or 0) < _ENOUGH:
            return True
    return False


def _start(taken: _Taken, combination: _Combination, paths: Sequence[str], workspace: Workspace) -> None:
    """Add what a project takes that has none of the given files, and the project if it includes one of them."""
    project = _loaded(combination, workspace)
    _note(taken, combination, project)
    if project is not None and not project.included.isdisjoint(paths):
        taken.starters.append(combination)




def _taking(directory: str, workspace: Workspace) -> tuple[tuple[str, _Combination], ...]:
    """The files of a directory that take something from others, or are read together with one that does."""
    found = []
    for path, _ in _beside(directory, workspace):
        started_in, default = _found_by(path, workspace)
        combination = _Combination(default if path in default else (path,), started_in=started_in)
        if _takes(combination, workspace):
            found.append((path, combination))
    return tuple(found)


def _takes(combination: _Combination, workspace: Workspace) -> bool:
    """Whether a quick look finds that one of the files may include or extend others."""
    for path in combination.files:
        try:
            text = workspace.source(path).text
        except Unreadable:
            continue
        if "extends" in text or "include" in text:
            return True
    return False


def _note(taken: _Taken, combination: _Combination, project: Project | None) -> None:
    """Add what a project takes."""
    if project is None:
        return
    taken.projects[combination.name] = project
    taken.included.update(project.included)
    for file, names in project.extended.items():
        taken.extended.setdefault(file, set()).update(names)


def _placed(
    launch: Launch,
    combination: _Combination,
    taken: _Taken,
    project: Project,
    workspace: Workspace,
) -> Launch:
    """The launch with what its combination leaves open written on it."""
    name = launch.name or ""
    if name in combination.needs_base and launch.image is None and not launch.undecided:
        service = project.services[name]
        if service.tree.get("build") is None:
            because = "another Compose file must set its image and may set shm_size"
            return launch._replace(undecided=Unknown("file", because))
    path = launch.span.path
    if combination.files == (path,) and name in taken.extended.get(path, ()) and not _is_started(path, workspace):
        return launch._replace(undecided=Unknown("extended", "other files extend it; it is checked there"))
    if launch.gpu.requested is not False and not launch.undecided:
        launch = _in_dev_container(launch, workspace)
    if combination.named:
        return launch._replace(combination=Combination(combination.files))
    if combination.rival and launch.gpu.requested:
        both = _Combination(combination.rival)
        together = _loaded(both, workspace)
        if together is None:
            return launch
        merged = next((m for m in _launches(both, together, workspace) if m.name == name), None)
        if merged is not None:
            alone, other = launch.effective_shm(), merged.effective_shm()
            if (alone.decided_by, alone.bytes) != (other.decided_by, other.bytes):
                return launch._replace(combination=Combination((path,), "alone"))
    return launch
