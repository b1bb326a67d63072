"""The services that a set of compose files makes up together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shmlint.files.boundary import OUTSIDE
from shmlint.files.cache import Key
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.interpolate import interpolate
from shmlint.formats.compose.tree import (
    Branch,
    Entry,
    Layer,
    Leaf,
    Tree,
    Variables,
    items_of,
    merge_service,
)
from shmlint.model.source import Problem
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

    __slots__ = ("files", "name", "problems", "services", "strays", "unknown")

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        self.name = ""
        self.unknown = ""
        self.services: dict[str, Service] = {}
        self.problems: list[Problem] = []
        self.strays: list[Entry] = []
        """Keys beside `services` that look like a service's size."""


def read_variables(path: str, workspace: Workspace, before: Variables | None = None) -> dict[str, str | None]:
    """The variables of an env file, later ones substituted from earlier ones; empty where there is none."""
    variables: dict[str, str | None] = dict(before or {})
    if not workspace.exists(path):
        return variables
    import io

    from dotenv.parser import parse_stream

    try:
        text = workspace.source(path).text
    except Unreadable:
        return variables
    for binding in parse_stream(io.StringIO(text)):
        name, value = binding.key, binding.value
        if name is None or name in (before or {}):
            continue
        literal = binding.original.string.partition("=")[2].lstrip(" \t").startswith("'")
        if value is not None and "$" in value and not literal:
            try:
                value = interpolate(value, variables).text
            except ValueError:
                value = None
        variables[name] = value
    return variables


def load_project(
    files: Sequence[str], workspace: Workspace, *, directory: str | None = None, before: Variables | None = None,
    env_files: Sequence[str] | None = None, trail: tuple[str, ...] = (),
) -> Project:  # fmt: skip
    """Read files as ``docker compose -f A -f B`` does.

    Raises Unreadable where one of them cannot be read.
    """
    project = Project(tuple(normal(f) for f in files))
    directory = directory if directory is not None else os.path.dirname(project.files[0])
    # Every shell sets PWD. Its value hangs on the machine; relative to the project it is always this.
    variables: Variables = before if before is not None else {"PWD": "."}
    for env_file in env_files if env_files is not None else [os.path.join(directory, ".env")]:
        variables = read_variables(env_file, workspace, variables)
    for path in project.files:
        _read_file(project, path, variables, workspace, directory, trail)
    return project


def _read_file(
    project: Project,
    path: str,
    variables: Variables,
    workspace: Workspace,
    directory: str,
    trail: tuple[str, ...],
) -> None:
    for document in read_documents(path, workspace):
        layer = Layer(document.source, variables, directory)
        root = read_document(project, document, path, layer, workspace)
        if root is not None and root.get("include") is not None:
            _include(project, root, _Includer(path, layer, directory, (*trail, path)), workspace)


def read_document(
    project: Project, document: Document, path: str, layer: Layer, workspace: Workspace
) -> Branch | None:
    """Merge the services of one document into a project; its root, None where that is no mapping."""
    root = layer.tree(document.root)
    if not isinstance(root, Branch):
        return None
    named = root.leaf("name")
    project.name = named.text if named is not None else project.name
    project.strays += (e for n, e in root.entries.items() if "shm" in n.lower() and not n.startswith("x-"))
    services = root.get("services")
    if "services" in root.resets | root.overrides:
        project.services.clear()
    for name in services.resets | services.overrides if isinstance(services, Branch) else ():
        project.services.pop(name, None)
    local = _Local(path, [(layer, root)], workspace, project.problems)
    for name in local.names():
        service = local.service(name, ())
        if service is not None:
            _add(project, service)
    return root


def _add(project: Project, service: Service) -> None:
    before = project.services.get(service.name)
    if before is None:
        project.services[service.name] = service
        return
    project.services[service.name] = Service(
        service.name,
        merge_service(before.tree, service.tree),
        [*(b for b in before.bodies if b.own), *service.bodies, *(b for b in before.bodies if not b.own)],
        before.unknown or service.unknown,
    )


class _Local:
    """The services of one document, or of all documents of an extended file, with ``extends`` followed."""

    def __init__(
        self, path: str, roots: Sequence[tuple[Layer, Branch]], workspace: Workspace, problems: list[Problem]
    ) -> None:
        self.path = path
        self.layer = roots[0][0]
        self.workspace = workspace
        self.problems = problems
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
        if (where.path, named.text) in trail:
            names = [name for _, name in (*trail, (where.path, named.text))]
            chain = " → ".join(names if len(names) < 8 else [*names[:4], "…", *names[-3:]])
            self.problems.append(Problem(named.span, f"`extends` goes in a circle: {chain}"))
            return service
        base = where.service(named.text, trail) if len(trail) < _MAX_CHAIN else None
        # A base that was read before brings its own chain along.
        if len(trail) >= _MAX_CHAIN or (base is not None and len(base.bodies) >= _MAX_CHAIN):
            message = f"`extends` goes through more than {_MAX_CHAIN} services"
            if not any(problem.kind == "limit" for problem in self.problems):
                self.problems.append(Problem(named.span, message, "limit"))
            service.unknown = message
            return service
        if base is None:
            if named.text not in where.names():
                self.problems.append(
                    Problem(named.span, f"`extends` names `{named.text}`, and {where.path} has no such service")
                )
            return service
        return Service(
            service.name,
            merge_service(base.tree, service.tree, same_file=where is self),
            [*service.bodies, *(Body(b.key, b.node, b.layer, own=False) for b in base.bodies)],
            base.unknown,
        )

    def _other(self, file: Leaf) -> _Local | str:
        """The file that ``extends`` names, or why it cannot be had."""
        if file.text.startswith(("http://", "https://", "git@", "github.com/", "oci://")):
            return "it extends a file from the network, which is not fetched"
        path = normal(os.path.join(os.path.dirname(self.path), file.text))
        if not self.workspace.inside(path, self.path):
            return f"it extends {path}, which lies {OUTSIDE}"
        if not self.workspace.exists(path):
            return f"it extends {path}, which is not here"
        try:
            documents = read_documents(path, self.workspace)
        except Unreadable as error:
            return f"it extends {path}, which cannot be read: {error.message}"
        if not documents:
            return f"it extends {path}, which is empty"
        layers = [Layer(document.source, self.layer.variables, self.layer.directory) for document in documents]
        trees = [(layer, layer.tree(document.root)) for layer, document in zip(layers, documents, strict=True)]
        roots = [(layer, tree) for layer, tree in trees if isinstance(tree, Branch)]
        if not roots:
            return f"it extends {path}, which is not a compose file"
        return _Local(path, roots, self.workspace, self.problems)


class _Includer(NamedTuple):
    """A file that includes others; paths are relative to ``directory``. ``trail`` are the files that led to it."""

    path: str
    layer: Layer
    directory: str
    trail: tuple[str, ...]


def _include(project: Project, root: Branch, includer: _Includer, workspace: Workspace) -> None:
    for item in items_of(root.get("include")):
        given = item.get("path") if isinstance(item, Branch) else item
        leaves = [leaf for leaf in items_of(given) if isinstance(leaf, Leaf)]
        if not leaves:
            continue
        paths = [normal(os.path.join(includer.directory, leaf.text)) for leaf in leaves]
        because = _not_included(leaves, paths, includer, workspace)
        if because:
            project.unknown = f"{includer.path} includes {because}"
            continue
        if paths[0] in includer.trail:
            project.problems.append(Problem(leaves[0].span, f"`include` goes in a circle: {paths[0]}"))
            continue
        directory, env_files = _include_options(item, paths[0], includer, workspace)
        try:
            included = load_project(
                paths, workspace, directory=directory, before=includer.layer.variables, env_files=env_files,
                trail=includer.trail,
            )  # fmt: skip
        except Unreadable as error:
            project.unknown = f"{includer.path} includes {error.path}, which cannot be read"
            continue
        _merge_included(project, included)


def _not_included(
    leaves: Sequence[Leaf], paths: Sequence[str], includer: _Includer, workspace: Workspace
) -> str:
    """Why files are not read, or nothing."""
    if any(leaf.interpolated.unset for leaf in leaves):
        return "a file that a variable names"
    if any(leaf.text.startswith(("http://", "https://", "git@", "oci://")) for leaf in leaves):
        return "a file from the network, which is not fetched"
    outside = next((path for path in paths if not workspace.inside(path, includer.path)), None)
    if outside is not None:
        return f"{outside}, which lies {OUTSIDE}"
    missing = next((path for path in paths if not workspace.exists(path)), None)
    if missing is not None and paths[0] not in includer.trail:
        return f"{missing}, which is not here"
    return ""


def _include_options(
    item: Tree, path: str, includer: _Includer, workspace: Workspace
) -> tuple[str, list[str] | None]:
    """The project directory and the env files of an ``include``."""
    named = item.leaf("project_directory") if isinstance(item, Branch) else None
    if named is not None:
        directory = normal(os.path.join(includer.directory, named.text))
    else:
        directory = os.path.dirname(path)
    files = items_of(item.get("env_file")) if isinstance(item, Branch) else ()
    given = [normal(os.path.join(includer.directory, leaf.text)) for leaf in files if isinstance(leaf, Leaf)]
    return directory, [file for file in given if workspace.inside(file, includer.path)] if given else None


def _merge_included(project: Project, included: Project) -> None:
    project.unknown = project.unknown or included.unknown
    project.problems += included.problems
    for name, service in included.services.items():
        before = project.services.get(name)
        if before is None:
            project.services[name] = service
        else:  # the including file wins
            project.services[name] = Service(
                name,
                merge_service(service.tree, before.tree),
                [*before.bodies, *service.bodies],
                before.unknown or service.unknown,
            )


def default_files(directory: str, workspace: Workspace) -> tuple[str, ...]:
    """What ``docker compose`` reads in a directory when it is told nothing; empty where it finds nothing.

    ``COMPOSE_FILE`` in ``.env`` counts.
    """
    env = os.path.join(directory, ".env")
    if workspace.exists(env):
        try:
            has_setting = "COMPOSE_FILE" in workspace.source(env).text
        except Unreadable:
            has_setting = False
        if has_setting:
            variables = read_variables(env, workspace)
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


def extended_files(path: str, workspace: Workspace) -> dict[str, set[str]]:
    """The files a file extends from, with the names of the services it takes. Raises Unreadable."""
    found: dict[str, set[str]] = {}
    for _, tree in _written(path, workspace):
        extends = tree.get("extends") if isinstance(tree, Branch) else None
        if isinstance(extends, Branch):
            file, named = extends.leaf("file"), extends.leaf("service")
            if file is not None and named is not None:
                target = normal(os.path.join(os.path.dirname(path), file.text))
                found.setdefault(target, set()).add(named.text)
    return found
