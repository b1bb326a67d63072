"""Reads Compose files into a project, with what they include."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from shmlint.files.boundary import OUTSIDE
from shmlint.files.cache import Key
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.extends import Local
from shmlint.formats.compose.files import RefusedEnvFile, read_variables
from shmlint.formats.compose.interpolate import PROJECT_NAME, NotKnown
from shmlint.formats.compose.project import Body, Project, Service, merged, put, without_tags
from shmlint.formats.compose.tree import (
    Branch,
    Entry,
    Layer,
    Leaf,
    Listing,
    Removed,
    Tree,
    Variables,
    conflict,
    differ,
    has_short_form,
    items_of,
    same,
    with_context,
)
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Span
from shmlint.syntax.yaml import Document
from shmlint.syntax.yaml_read import read_documents


def load_project(
    files: Sequence[str], workspace: Workspace, *, started_in: str | None = None, directory: str | None = None
) -> Project:
    """Read files as ``docker compose -f A -f B`` does.

    The project directory is that of the first file, or the one that ``--project-directory`` names. The `.env` file of
    the directory that Compose is started in, if there is another, comes before its own. Raises Unreadable where one of
    the files cannot be read.
    """
    if directory is None:
        directory = os.path.dirname(normal(files[0]))
    project = Project(tuple(normal(f) for f in files), directory)
    # Every shell sets PWD. Its value depends on the machine; relative to the project it is always this.
    variables: Variables = {"PWD": "."}
    refused: list[RefusedEnvFile] = []
    for place in dict.fromkeys([directory if started_in is None else started_in, directory]):
        variables = read_variables([os.path.join(place, ".env")], workspace, variables, refused)
    # The shell of whoever starts it may name the project, and so may the file, the directory or an option.
    variables = {**variables, PROJECT_NAME: variables.get(PROJECT_NAME) or NotKnown()}
    start = Span(workspace.source(project.files[0]), 0, 0)
    project.problems += (fault.problem(start) for fault in refused)
    _read_files(project, variables, variables, _Way(workspace, ()))
    return project


_MAX_DEPTH = 100
"""Files that include one another, counted; more is nothing that anyone wrote by hand."""


class _Way(NamedTuple):
    """The files that lead to the one that is read."""

    workspace: Workspace
    trail: tuple[str, ...]


def _read_files(project: Project, variables: Variables, outer: Variables, way: _Way) -> None:
    workspace = way.workspace
    for path in project.files:
        for document in read_documents(path, workspace):
            layer = Layer(document.source, variables, project.directory, outer)
            root = layer.tree(document.root)
            if isinstance(root, Branch):
                services = _written_in(project, root, layer, workspace)
                if root.get("include") is not None:
                    _include(project, services, root, layer, way._replace(trail=(*way.trail, path)))
                put(project, root, services)


def read_document(project: Project, document: Document, layer: Layer, workspace: Workspace) -> None:
    """Merge the services of one document into a project; what it includes is left out."""
    root = layer.tree(document.root)
    if isinstance(root, Branch):
        put(project, root, _written_in(project, root, layer, workspace))


def _written_in(project: Project, root: Branch, layer: Layer, workspace: Workspace) -> dict[str, Service]:
    """The services of one document, with what they extend."""
    local = Local(layer.source.path, [(layer, root)], layer.directory, project, workspace)
    found = ((name, local.service(name, ())) for name in local.names())
    return {name: service for name, service in found if service is not None}


class _Inclusion(NamedTuple):
    """An entry of ``include``."""

    span: Span
    files: tuple[str, ...]
    directory: str
    env_files: tuple[str, ...]


def _include(project: Project, services: dict[str, Service], root: Branch, layer: Layer, way: _Way) -> None:
    """Add what a document includes to the services it writes itself. Both go over the files before it."""
    taken: set[int] = set()
    written = frozenset(services)
    defined: _Defined = {}
    for key in _COMPARED:
        group = root.get(key)
        defined[key] = dict(group.entries) if isinstance(group, Branch) else {}
    empty = root.entries.keys() <= {"include", "version"} and len(project.files) == 1
    project.problems += _wrong_includes(root, empty=empty)
    for item in items_of(root.get("include")):
        inclusion = _inclusion(project, item, layer, way.workspace, empty=empty)
        if inclusion is None:
            continue
        if inclusion.files[0] in way.trail:
            message = f"`include` is circular: {inclusion.files[0]}"
            project.circular = True
            project.problems.append(Problem(inclusion.span, message, facts=("circular",)))
            continue
        refused: list[RefusedEnvFile] = []
        variables = read_variables(inclusion.env_files, way.workspace, layer.variables, refused)
        project.problems += (fault.problem(inclusion.span) for fault in refused)
        try:
            included = _included(inclusion, variables, layer.outer, way) if len(way.trail) < _MAX_DEPTH else None
        except Unreadable as error:
            project.unknown = f"{layer.source.path} includes {error.path}, which cannot be read"
            continue
        if included is None or included.height >= _MAX_DEPTH:
            project.unknown = f"`include` goes through more than {_MAX_DEPTH} files"
            project.problems.append(Problem(inclusion.span, project.unknown, "limit"))
        elif id(included) not in taken:
            taken.add(id(included))
            project.problems += _redefined(defined, included, layer)
            _take(project, included, inclusion)
            for name, service in included.services.items():
                _import(project, services, name, service, written=name in written)
    unique: dict[object, Problem] = {}
    for problem in project.problems:
        unique.setdefault(problem.key, problem)
    project.problems = list(unique.values())


_COMPARED = ("volumes", "networks", "secrets", "configs")
"""What is defined by values of which Compose changes none but the path of a ``file``."""

_Defined = dict[str, dict[str, Entry]]


def _redefined(defined: _Defined, included: Project, layer: Layer) -> Iterator[Problem]:
    """What an included project defines otherwise than the file that includes it, or what that includes before."""
    for key in _COMPARED:
        for name, entry in included.defined[key].items():
            own = defined[key].setdefault(name, entry)
            if own is not entry and _defines_otherwise(own, entry, layer):
                other = entry.layer.source.path
                message = f"`{key}.{name}` conflicts with the definition of this name in {other}"
                yield Problem(own.layer.span(own.key), message, facts=("conflict", key, name, other))


def _defines_otherwise(own: Entry, included: Entry, layer: Layer) -> bool:
    """Whether two definitions of a name differ for certain, in a file that includes one of them or both.

    Compose has the paths of what is included from the directory of the file that includes it, and compares them with
    the text of that file: ``./a/key`` is not ``a/key`` (compose-go loader/include.go).
    """
    trees = [tree for tree in (own.tree, included.tree) if isinstance(tree, Branch) and "file" in tree.entries]
    if len(trees) < 2:
        return differ(own.tree, included.tree)
    one, other = (_path_from(layer, tree.entries["file"]) for tree in trees)
    rest = (Branch(t.node, t.layer, {k: e for k, e in t.entries.items() if k != "file"}) for t in trees)
    return differ(*rest) or (one is not None and other is not None and one != other)


def _path_from(layer: Layer, file: Entry) -> str | None:
    """The path that Compose compares; None where it depends on a variable or the machine, or is none."""
    tree = file.tree
    if not isinstance(tree, Leaf) or tree.kind != "str" or tree.interpolated.unset or tree.text.startswith(("/", "~")):
        return None
    if file.layer is layer:
        return tree.text
    return os.path.relpath(os.path.join(file.layer.directory, tree.text), layer.directory)


def _take(project: Project, included: Project, inclusion: _Inclusion) -> None:
    """Note on a project what is known of one that it includes, but for its services."""
    project.height = max(project.height, included.height + 1)
    project.circular = project.circular or included.circular
    project.unknown = project.unknown or included.unknown
    project.problems += included.problems
    project.included |= included.included.union(inclusion.files)
    for file, names in included.extended.items():
        project.extended.setdefault(file, set()).update(names)
    for key, defined in included.defined.items():
        project.defined[key] = {**defined, **project.defined[key]}


_INCLUDED: Key[Project] = Key("included compose files")


class _InCircle(Exception):
    """What was read leads back to a file that led to it: read from elsewhere it is another project."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project


def _included(inclusion: _Inclusion, variables: Variables, outer: Variables, way: _Way) -> Project:
    """The project of an entry of ``include``.

    It is read once for a run: two files may be included in each file, and double with each, and each file of a chain
    is also read by itself. What lies too deep below the file that it is first read for is unknown for the others too.
    """

    def load(files: Workspace) -> Project:
        included = Project(inclusion.files, inclusion.directory)
        _read_files(included, variables, outer, way._replace(workspace=files))
        if included.circular:
            raise _InCircle(included)
        return included

    key = repr((inclusion.files, inclusion.directory, sorted(variables.items()), sorted(outer.items())))
    try:
        # In letters, because a path would be made normal.
        return way.workspace.once(_INCLUDED, key.encode("utf-8", "surrogatepass").hex(), load)
    except _InCircle as circle:
        return circle.project


def _import(project: Project, services: dict[str, Service], name: str, service: Service, *, written: bool) -> None:
    """Add an included service. Compose before 5.0 refuses one that is there and differs; later ones merge them.

    ``written``: the file that includes it writes one of this name, which is compared before its short forms are made
    long (compose-go loader/include.go).
    """
    home = next(body.layer for body in service.bodies if body.own)
    imported = Service(name, with_context(without_tags(service), home), service.bodies, service.unknown)
    own = services.get(name)
    if own is None:
        services[name] = imported
    elif conflict(imported.tree, own.tree) or (written and any(map(_has_short_form, own.bodies))):
        other = service.bodies[0].layer.source.path
        message = f"`services.{name}` conflicts with the service of this name in {other}"
        project.problems.append(
            Problem(own.bodies[0].layer.span(own.bodies[0].key), message, facts=("conflict", other))
        )
        services[name] = Service(name, own.tree, own.bodies, own.unknown or f"{other} has a service of this name")
    elif not _is_written_by(own, imported) and not same(own.tree, imported.tree):
        services[name] = merged(imported, own)


def _has_short_form(body: Body) -> bool:
    tree = body.layer.tree(body.node) if body.own else None
    return isinstance(tree, Branch) and has_short_form(tree)


def _is_written_by(service: Service, other: Service) -> bool:
    """Whether a service has all that another one is written by, however often that is included."""
    nodes = {id(body.node) for body in service.bodies}
    return all(id(body.node) in nodes for body in other.bodies)


def _wrong_includes(root: Branch, *, empty: bool) -> Iterator[Problem]:
    """What Compose refuses in the form of ``include``. It passes over a mapping without ``path``.

    ``empty``: there is nothing else in the file, and then it refuses that, too.
    """
    include = root.get("include")
    if isinstance(include, Branch) or (isinstance(include, Leaf) and include.kind != "null"):
        yield Problem(include.span, "`include` must be a list; Compose refuses the file", facts=("include", "list"))
        return
    items = list(items_of(include))
    for at, item in enumerate(items):
        where, fault = f"`include[{at}]`", ""
        if isinstance(item, Listing) or (isinstance(item, Leaf) and item.kind not in ("str", "null")):
            fault = f"{where} must be a path, or a mapping with `path`"
        elif isinstance(item, Branch) and isinstance(item.get("path"), Branch):
            fault = f"{where}: `path` must be a path or a list of paths"
        elif isinstance(item, Branch) and empty and len(items) == 1 and "path" not in item.entries:
            fault = f"{where} has no `path`, so the Compose file is empty"
        if fault and not isinstance(item, Removed):
            yield Problem(item.span, f"{fault}; Compose refuses the file", facts=("include", str(at)))


def _inclusion(
    project: Project, item: Tree, layer: Layer, workspace: Workspace, *, empty: bool
) -> _Inclusion | None:
    """An entry of ``include``; None where what it names cannot be read, which is noted on the project.

    In a file that is ``empty`` else, ``file`` can only be meant to be ``path``.
    """
    path = layer.source.path
    key = "file" if empty and isinstance(item, Branch) and "path" not in item.entries else "path"

    def leaves(tree: Tree | None) -> list[Leaf]:
        return [leaf for leaf in items_of(tree) if isinstance(leaf, Leaf) and leaf.kind == "str"]

    named = leaves(item.get(key) if isinstance(item, Branch) else item)
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
        return workspace.direct(os.path.join(layer.directory, leaf.text))

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
