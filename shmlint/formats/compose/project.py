"""The services that a set of compose files makes up together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from shmlint.files.boundary import OUTSIDE
from shmlint.files.cache import Key
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.tree import (
    Branch,
    Entry,
    Layer,
    Leaf,
    Tree,
    Variables,
    conflict,
    items_of,
    merge_service,
    untagged,
    with_context,
)
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Span
from shmlint.syntax.yaml import Document, Node, Scalar, read_documents

DEFAULT_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
OVERRIDE_FILES = (
    "compose.override.yml", "compose.override.yaml",
    "docker-compose.override.yml", "docker-compose.override.yaml",
)  # fmt: skip
"""Compose takes the first of each that is there (compose-go cli/options.go)."""


_MAX_CHAIN = 100
"""Services that extend one another, counted; more is nothing that anyone wrote by hand."""


class Body(NamedTuple):
    """A place a service is written at: its key and what stands under it."""

    key: Scalar
    node: Node
    layer: Layer
    own: bool
    """Under the service's own name, in a file of the project; else in what it extends."""


class Service:
    """A service after everything is merged. ``bodies`` come first file first, bases last.

    ``unknown`` says why parts of it are not known: a base that is not there.
    """

    __slots__ = ("bodies", "name", "tree", "unknown")

    def __init__(self, name: str, tree: Branch, bodies: list[Body], unknown: str = "") -> None:
        self.name = name
        self.tree = tree
        self.bodies = bodies
        self.unknown = unknown


class Project:
    """What a set of files makes up together; ``files`` as they were named, in order.

    ``unknown`` says why services may lack parts: an included file that cannot be read.
    """

    __slots__ = ("directory", "extended", "files", "included", "name", "problems", "services", "strays", "unknown")

    def __init__(self, files: tuple[str, ...], directory: str) -> None:
        self.files = files
        self.directory = directory
        self.included: set[str] = set()
        """The files that others of it include."""
        self.extended: dict[str, set[str]] = {}
        """The services that are extended from other files, by file."""
        self.name = ""
        self.unknown = ""
        self.services: dict[str, Service] = {}
        self.problems: list[Problem] = []
        self.strays: list[Entry] = []
        """Keys beside `services` that look like a service's size."""


def read_variables(
    paths: Iterable[str], workspace: Workspace, before: Variables, problems: list[str]
) -> dict[str, str | None]:
    """The variables of a project: those of ``before``, then of its env files, later files over earlier ones.

    A file that is not there gives none. What Compose refuses in one is added to ``problems``.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        _read_env_file(path, workspace, before, found, problems)
    return {**found, **before}


def read_env_file(path: str, workspace: Workspace, before: Variables) -> dict[str, str | None]:
    """The variables that an env file gives to a container, substituted from ``before``."""
    found: dict[str, str | None] = {}
    _read_env_file(path, workspace, before, found, [])
    return found


def _read_env_file(
    path: str, workspace: Workspace, before: Variables, found: dict[str, str | None], problems: list[str]
) -> None:
    try:
        text = workspace.source(path).text if workspace.exists(path) else ""
    except Unreadable:
        return
    if not text:
        return
    from shmlint.formats.compose.dotenv import InvalidEnvFile, parse

    try:
        parse(text, before, found)
    except InvalidEnvFile as error:
        problems.append(f"Compose cannot read {normal(path)}, line {error.line}: {error.message}")


def load_project(
    files: Sequence[str], workspace: Workspace, *, directory: str | None = None, started_in: str | None = None
) -> Project:
    """Read files as ``docker compose -f A -f B`` does.

    ``directory`` is the project directory, that of the first file where none is given. The `.env`
    file of the directory that Compose is started in, if there is another, comes before its own.
    Raises Unreadable where one of the files cannot be read.
    """
    if directory is None:
        directory = os.path.dirname(normal(files[0]))
    project = Project(tuple(normal(f) for f in files), directory)
    # Every shell sets PWD. Its value depends on the machine; relative to the project it is always this.
    variables: Variables = {"PWD": "."}
    refused: list[str] = []
    for place in dict.fromkeys([directory if started_in is None else started_in, directory]):
        variables = read_variables([os.path.join(place, ".env")], workspace, variables, refused)
    project.problems += (Problem(Span(workspace.source(project.files[0]), 0, 0), message) for message in refused)
    _read_files(project, variables, variables, workspace, ())
    return project


def _read_files(
    project: Project, variables: Variables, outer: Variables, workspace: Workspace, trail: tuple[str, ...]
) -> None:
    for path in project.files:
        for document in read_documents(path, workspace):
            layer = Layer(document.source, variables, project.directory, outer)
            root = layer.tree(document.root)
            if isinstance(root, Branch):
                services = _written_in(project, root, layer, workspace)
                if root.get("include") is not None:
                    _include(project, services, root, layer, workspace, (*trail, path))
                _put(project, root, services)


def read_document(project: Project, document: Document, layer: Layer, workspace: Workspace) -> None:
    """Merge the services of one document into a project; what it includes is left out."""
    root = layer.tree(document.root)
    if isinstance(root, Branch):
        _put(project, root, _written_in(project, root, layer, workspace))


def _written_in(project: Project, root: Branch, layer: Layer, workspace: Workspace) -> dict[str, Service]:
    """The services of one document, with what they extend."""
    local = _Local(layer.source.path, [(layer, root)], layer.directory, project, workspace)
    found = ((name, local.service(name, ())) for name in local.names())
    return {name: service for name, service in found if service is not None}


def _put(project: Project, root: Branch, services: dict[str, Service]) -> None:
    """Merge the services of a document onto those of the documents and files before it."""
    named = root.leaf("name")
    project.name = named.text if named is not None else project.name
    project.strays += (e for n, e in root.entries.items() if "shm" in n.lower() and not n.startswith("x-"))
    written = root.get("services")
    if "services" in root.resets | root.overrides:
        project.services.clear()
    for name in written.resets | written.overrides if isinstance(written, Branch) else ():
        project.services.pop(name, None)
    for service in services.values():
        _add(project, service)


def _add(project: Project, service: Service) -> None:
    before = project.services.get(service.name)
    project.services[service.name] = service if before is None else _merged(before, service)


def _untagged(service: Service) -> Branch:
    """What stands under another service's path, or comes from an included file: its tags have been applied."""
    return untagged(service.tree) if any(body.layer.tagged for body in service.bodies) else service.tree


def _merged(before: Service, service: Service) -> Service:
    """A service with another of the same name put over it."""
    return Service(
        service.name,
        merge_service(before.tree, service.tree),
        [*(b for b in before.bodies if b.own), *service.bodies, *(b for b in before.bodies if not b.own)],
        before.unknown or service.unknown,
    )


class _Local:
    """The services of one document, or of all documents of an extended file, with ``extends`` followed.

    ``directory`` is what the files it extends are named from: the project's for a file of the
    project, wherever that lies; the file's own for one that is extended.
    """

    def __init__(
        self,
        path: str,
        roots: Sequence[tuple[Layer, Branch]],
        directory: str,
        project: Project,
        workspace: Workspace,
    ) -> None:
        self.path = path
        self.layer = roots[0][0]
        self.directory = directory
        self.project = project
        self.workspace = workspace
        self.services = [s for _, root in roots if isinstance(s := root.get("services"), Branch)]
        self._done: dict[str, Service | None] = {}
        self._others: dict[str, _Local | str] = {}

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for services in self.services for name in services.entries))

    def _written(self, name: str) -> Service | None:
        """A service as its documents write it; None where there is no such mapping."""
        service = None
        for services in self.services:
            entry = services.entries.get(name)
            if entry is None or not isinstance(entry.key.resolved, Scalar):
                continue
            tree = entry.tree
            if isinstance(tree, Leaf) and tree.kind == "null":
                tree = Branch(entry.node, entry.layer, {})
            if not isinstance(tree, Branch):
                return None
            body = Body(entry.key.resolved, entry.node, entry.layer, own=True)
            if service is not None and name not in services.overrides:
                service = Service(name, merge_service(service.tree, tree), [*service.bodies, body])
            else:
                service = Service(name, tree, [body])
        return service

    def service(self, name: str, trail: tuple[tuple[str, str], ...]) -> Service | None:
        """A service with everything it extends; None where there is no such mapping."""
        if name in self._done:
            return self._done[name]
        service = self._written(name)
        if service is None:
            return None
        tree = service.tree
        extends = tree.get("extends")
        if extends is not None:
            service = self._extended(service, extends, (*trail, (self.path, name)))
        self._done[name] = service
        return service

    def _extended(self, service: Service, extends: Tree, trail: tuple[tuple[str, str], ...]) -> Service:
        if isinstance(extends, Branch):
            named, file = extends.leaf("service"), extends.leaf("file")
        else:
            named, file = extends if isinstance(extends, Leaf) else None, None
        if named is None:
            return service
        where: _Local = self
        if file is not None:
            if file.interpolated.unset:
                service.unknown = "it extends a file that a variable names"
                return service
            found = self._others.get(file.text)
            if found is None:
                found = self._others[file.text] = self._other(file)
            if isinstance(found, str):
                service.unknown = found
                return service
            where = found
            self.project.extended.setdefault(where.path, set()).add(named.text)
        if (where.path, named.text) in trail:
            names = [name for _, name in (*trail, (where.path, named.text))]
            chain = " → ".join(names if len(names) < 8 else [*names[:4], "…", *names[-3:]])
            self.project.problems.append(Problem(named.span, f"`extends` is circular: {chain}"))
            return service
        base = where.service(named.text, trail) if len(trail) < _MAX_CHAIN else None
        # A base that was read before brings its own chain along.
        if len(trail) >= _MAX_CHAIN or (base is not None and len(base.bodies) >= _MAX_CHAIN):
            message = f"`extends` goes through more than {_MAX_CHAIN} services"
            if not any(problem.kind == "limit" for problem in self.project.problems):
                self.project.problems.append(Problem(named.span, message, "limit"))
            service.unknown = message
            return service
        if base is None:
            if named.text not in where.names():
                self.project.problems.append(
                    Problem(named.span, f"`extends` names `{named.text}`, which is not a service of {where.path}")
                )
            return service
        return Service(
            service.name,
            merge_service(_untagged(base), service.tree, same_file=where is self),
            [*service.bodies, *(Body(b.key, b.node, b.layer, own=False) for b in base.bodies)],
            base.unknown,
        )

    def _other(self, file: Leaf) -> _Local | str:
        """The file that ``extends`` names, or why it cannot be had."""
        if file.text.startswith(("http://", "https://", "git@", "github.com/", "oci://")):
            return "it extends a file from the network, which is not fetched"
        path = normal(os.path.join(self.directory, file.text))
        if not self.workspace.inside(path, self.path):
            return f"it extends {path}, which lies {OUTSIDE}"
        if not self.workspace.exists(path):
            return f"it extends {path}, which does not exist"
        try:
            documents = read_documents(path, self.workspace)
        except Unreadable as error:
            return f"it extends {path}, which cannot be read: {error.message}"
        if not documents:
            return f"it extends {path}, which is empty"
        directory = os.path.dirname(path)
        layers = [Layer(document.source, self.layer.variables, directory, self.layer.outer) for document in documents]
        trees = [(layer, layer.tree(document.root)) for layer, document in zip(layers, documents, strict=True)]
        roots = [(layer, tree) for layer, tree in trees if isinstance(tree, Branch)]
        if not roots:
            return f"it extends {path}, which is not a compose file"
        return _Local(path, roots, directory, self.project, self.workspace)


class _Inclusion(NamedTuple):
    """An entry of ``include``."""

    span: Span
    files: tuple[str, ...]
    directory: str
    env_files: tuple[str, ...]


def _include(
    project: Project,
    services: dict[str, Service],
    root: Branch,
    layer: Layer,
    workspace: Workspace,
    trail: tuple[str, ...],
) -> None:
    """Add what a document includes to the services it writes itself. Both go over the files before it."""
    for item in items_of(root.get("include")):
        inclusion = _inclusion(project, item, layer, workspace)
        if inclusion is None:
            continue
        if inclusion.files[0] in trail:
            project.problems.append(Problem(inclusion.span, f"`include` is circular: {inclusion.files[0]}"))
            continue
        refused: list[str] = []
        variables = read_variables(inclusion.env_files, workspace, layer.variables, refused)
        project.problems += (Problem(inclusion.span, message) for message in refused)
        included = Project(inclusion.files, inclusion.directory)
        try:
            _read_files(included, variables, layer.outer, workspace, trail)
        except Unreadable as error:
            project.unknown = f"{layer.source.path} includes {error.path}, which cannot be read"
            continue
        project.unknown = project.unknown or included.unknown
        project.problems += included.problems
        project.included |= included.included.union(inclusion.files)
        for file, names in included.extended.items():
            project.extended.setdefault(file, set()).update(names)
        for name, service in included.services.items():
            _import(project, services, name, service, inclusion.span)


def _import(project: Project, services: dict[str, Service], name: str, service: Service, span: Span) -> None:
    """Add an included service. Compose before 5.0 refuses one that is there and differs; later ones merge them."""
    home = next(body.layer for body in service.bodies if body.own)
    imported = Service(name, with_context(_untagged(service), home), service.bodies, service.unknown)
    own = services.get(name)
    if own is None:
        services[name] = imported
        return
    if conflict(imported.tree, own.tree):
        message = f"`services.{name}` conflicts with the service of this name in {service.bodies[0].layer.source.path}"
        project.problems.append(Problem(own.bodies[0].layer.span(own.bodies[0].key), message))
    services[name] = _merged(imported, own)


def _inclusion(project: Project, item: Tree, layer: Layer, workspace: Workspace) -> _Inclusion | None:
    """An entry of ``include``; None where what it names cannot be had, which is noted on the project."""
    path = layer.source.path

    def leaves(tree: Tree | None) -> list[Leaf]:
        return [leaf for leaf in items_of(tree) if isinstance(leaf, Leaf)]

    named = leaves(item.get("path") if isinstance(item, Branch) else item)
    beside = leaves(item.get("project_directory")) if isinstance(item, Branch) else []
    env = leaves(item.get("env_file")) if isinstance(item, Branch) else []
    if not named:
        return None
    if any(leaf.interpolated.unset for leaf in (*named, *beside, *env)):
        project.unknown = f"{path} includes a file that a variable names"
        return None
    if any(leaf.text.startswith(("http://", "https://", "git@", "oci://")) for leaf in named):
        project.unknown = f"{path} includes a file from the network, which is not fetched"
        return None

    def place(leaf: Leaf) -> str:
        return normal(os.path.join(layer.directory, leaf.text))

    for leaf in named:
        file = place(leaf)
        if not workspace.inside(file, path):
            project.unknown = f"{path} includes {file}, which lies {OUTSIDE}"
            return None
        if not workspace.exists(file):
            project.unknown = f"{path} includes {file}, which does not exist"
            project.problems.append(Problem(leaf.span, f"`include` names {file}, and there is no such file", "missing"))
            return None
    files = tuple(map(place, named))
    directory = place(beside[0]) if beside else os.path.dirname(files[0])
    env_files = tuple(map(place, env)) or (os.path.join(directory, ".env"),)
    return _Inclusion(named[0].span, files, directory, tuple(f for f in env_files if workspace.inside(f, path)))


def default_files(directory: str, workspace: Workspace) -> tuple[str, ...]:
    """What ``docker compose`` reads in a directory when no file is named; empty where it finds nothing.

    ``COMPOSE_FILE`` in ``.env`` counts.
    """
    env = os.path.join(directory, ".env")
    if workspace.exists(env):
        try:
            has_setting = "COMPOSE_FILE" in workspace.source(env).text
        except Unreadable:
            has_setting = False
        if has_setting:
            variables = read_env_file(env, workspace, {})
            named = variables.get("COMPOSE_FILE")
            if named:
                separator = variables.get("COMPOSE_PATH_SEPARATOR") or ":"
                files = tuple(normal(os.path.join(directory, f)) for f in named.split(separator) if f)
                if files and all(workspace.exists(f) for f in files):
                    return files
    base = next((f for f in DEFAULT_FILES if workspace.exists(os.path.join(directory, f))), None)
    if base is None:
        return ()
    files_ = [base]
    override = next((f for f in OVERRIDE_FILES if workspace.exists(os.path.join(directory, f))), None)
    if override is not None:
        files_.append(override)
    return tuple(normal(os.path.join(directory, f)) for f in files_)


_SERVICES: Key[list[tuple[str, Tree]]] = Key("compose services")


def _written(path: str, workspace: Workspace) -> list[tuple[str, Tree]]:
    """The services that a file itself writes, extends not followed. Raises Unreadable."""
    # Every overlay asks this of every file beside it.
    return workspace.once(_SERVICES, path, lambda files: list(_services(path, files)))


def _services(path: str, workspace: Workspace) -> Iterator[tuple[str, Tree]]:
    for document in read_documents(path, workspace):
        root = Layer(document.source, {}, "").tree(document.root)
        found = root.get("services") if isinstance(root, Branch) else None
        if isinstance(found, Branch):
            yield from ((name, entry.tree) for name, entry in found.entries.items())


def incomplete(path: str, workspace: Workspace) -> list[str]:
    """The services of a file that need another file before they can start. Raises Unreadable."""
    names: dict[str, bool] = {}
    for name, tree in _written(path, workspace):
        whole = isinstance(tree, Branch) and any(
            key in tree.entries for key in ("image", "build", "extends", "provider")
        )
        names[name] = names.get(name, False) or whole
    return [name for name, whole in names.items() if not whole]


def service_names(path: str, workspace: Workspace) -> set[str]:
    """The names of the services a file itself writes. Raises Unreadable."""
    return {name for name, _ in _written(path, workspace)}
