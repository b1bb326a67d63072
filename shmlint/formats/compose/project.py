"""A project: services that are made up of what several files and documents say of them."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.formats.compose.places import means_size
from shmlint.formats.compose.tree import (
    Branch,
    Entry,
    Layer,
    Leaf,
    Listing,
    Removed,
    Tree,
    merge_entry,
    merge_service,
    untagged,
)
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem
from shmlint.syntax.yaml import Node, Scalar


class Body(NamedTuple):
    """A place a service is written at: its key and what is under it."""

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


DEFINING = ("volumes", "networks", "secrets", "configs")
"""Keys of a file that define what services refer to."""


class Project:
    """What a set of files makes up together; ``files`` as they were named, in order.

    ``unknown`` says why services may lack parts: an included file that cannot be read.
    """

    __slots__ = (
        "circular", "clashes", "defined", "directory", "extended", "extensions", "files", "height", "included", "name",
        "problems", "services", "strays", "unknown",
    )  # fmt: skip

    def __init__(self, files: tuple[str, ...], directory: str) -> None:
        self.files = files
        self.directory = directory
        self.included: set[str] = set()
        """The files that others of it include."""
        self.height = 1
        """How many files include one another, from its own on."""
        self.circular = False
        """Whether a file that it includes leads back to one that led to it."""
        self.extended: dict[str, set[str]] = {}
        """The services that are extended from other files, by file."""
        self.name = ""
        self.unknown = ""
        self.services: dict[str, Service] = {}
        self.defined: dict[str, dict[str, Entry]] = {key: {} for key in DEFINING}
        """What defines volumes, networks and the like, by the key that they are defined under and by name."""
        self.extensions: dict[str, Entry] = {}
        """What is under the keys at the top that start with `x-`."""
        self.problems: list[Problem] = []
        self.clashes: list[Problem] = []
        """What of these keys a later file cannot put over an earlier one, if people put these files together."""
        self.strays: list[tuple[str, Entry]] = []
        """Keys at the top, with their names, that mean a service's size."""


def put(project: Project, root: Branch, services: dict[str, Service]) -> None:
    """Merge the services of a document onto those of the documents and files before it."""
    named = root.leaf("name")
    project.name = named.text if named is not None else project.name
    project.strays += (item for item in root.entries.items() if means_size(item[0]))
    for key, defined in project.defined.items():
        _define(key, defined, root)
    _extend(project, root)
    written = root.get("services")
    if "services" in root.resets | root.overrides:
        project.services.clear()
    for name in written.resets | written.overrides if isinstance(written, Branch) else ():
        project.services.pop(name, None)
    for service in services.values():
        _add(project, service)


def _extend(project: Project, root: Branch) -> None:
    """Merge the keys of a document that start with `x-` onto those before it."""
    for name in root.resets | root.overrides:
        project.extensions.pop(name, None)
    for name, entry in root.entries.items():
        if name.startswith("x-"):
            before = project.extensions.get(name)
            if before is not None:
                project.clashes += _clashes(before.tree, entry, name)
            project.extensions[name] = entry if before is None else merge_entry(before, entry, (name,))


def _clashes(base: Tree, entry: Entry, path: str) -> Iterator[Problem]:
    """Mappings and lists that something else is put over (compose-go override/merge.go, ``mergeYaml``)."""
    over = entry.tree
    if isinstance(over, Removed) or (isinstance(over, Leaf) and (over.kind == "null" or over.interpolated.unset)):
        return
    if isinstance(base, Branch) and isinstance(over, Branch):
        for name, inner in over.entries.items():
            under = base.entries.get(name)
            if under is not None and name not in over.overrides | over.resets:
                yield from _clashes(under.tree, inner, f"{path}.{name}")
    elif isinstance(base, Branch | Listing) and type(base) is not type(over):
        kind = "mapping" if isinstance(base, Branch) else "list"
        message = f"cannot override `{path}`, a {kind} in {base.layer.source.path}; Compose refuses the file"
        yield Problem(entry.layer.span(entry.key), message, facts=("override", path))


def _define(key: str, defined: dict[str, Entry], root: Branch) -> None:
    """Merge what a document defines under a key onto what the documents and files before it do."""
    if key in root.resets | root.overrides:
        defined.clear()
    group = root.get(key)
    if not isinstance(group, Branch):
        return
    for name in group.resets | group.overrides:
        defined.pop(name, None)
    for name, entry in group.entries.items():
        before = defined.get(name)
        defined[name] = entry if before is None else merge_entry(before, entry, (key, name))


def _add(project: Project, service: Service) -> None:
    before = project.services.get(service.name)
    project.services[service.name] = service if before is None else merged(before, service)


def without_tags(service: Service) -> Branch:
    """What is under another service's path, or comes from an included file: its tags have been applied."""
    return untagged(service.tree) if any(body.layer.tagged for body in service.bodies) else service.tree


def merged(before: Service, service: Service) -> Service:
    """A service with another of the same name put over it."""
    return Service(
        service.name,
        merge_service(before.tree, service.tree),
        [*(b for b in before.bodies if b.own), *service.bodies, *(b for b in before.bodies if not b.own)],
        before.unknown or service.unknown,
    )
