"""What Compose refuses in a service as a whole: limits that contradict each other, invalid sizes of memory,
names that nothing defines.

Compose looks at the merged service (compose-go loader/validate.go, ``checkConsistency``), so this does too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeGuard

from shmlint.docker.mounts import parse_volume
from shmlint.docker.sizes import InvalidSize, parse_compose
from shmlint.formats.compose.invalid_keys import service_keys
from shmlint.formats.compose.project import Project, Service
from shmlint.formats.compose.tree import Branch, Leaf, Listing, Tree, items_of
from shmlint.formats.compose.values import read_size, unset
from shmlint.formats.compose.words import split_words
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Span
from shmlint.syntax.yaml import MappingNode

_RESOURCES = ("deploy", "resources")


class _Pair(NamedTuple):
    """Two keys for one thing. ``group`` is the mapping whose presence makes a missing second key a zero."""

    key: str
    group: tuple[str, ...]
    name: str
    parse: Callable[[Leaf], float | None]


def _number(leaf: Leaf) -> float | None:
    try:
        return float(leaf.go_text)
    except ValueError:
        return None


def _bytes(leaf: Leaf) -> float | None:
    try:
        return parse_compose(leaf.plain_value if isinstance(leaf.plain_value, int) else leaf.text)
    except InvalidSize:
        return None


_PAIRS = (
    _Pair("cpus", (*_RESOURCES, "limits"), "cpus", _number),
    _Pair("mem_limit", (*_RESOURCES, "limits"), "memory", _bytes),
    _Pair("mem_reservation", (*_RESOURCES, "reservations"), "memory", _bytes),
    _Pair("pids_limit", (*_RESOURCES, "limits"), "pids", _number),
)
_MEMORY = (
    ("mem_limit",),
    ("mem_reservation",),
    ("memswap_limit",),
    ("build", "shm_size"),
    (*_RESOURCES, "limits", "memory"),
    (*_RESOURCES, "reservations", "memory"),
)


def service_faults(
    project: Project, *, complete: bool, elsewhere: Collection[str] = (), extended: Collection[str] = (),
    is_given_beside: Callable[[str], bool],
) -> Iterator[Problem]:
    """What Compose refuses in the services of a project, each with its reason.

    ``complete``: people start these files by themselves, so what they do not define is not there, unless it is
    one of the names ``elsewhere``, which other files define that may be put to these. Other files extend the services
    in ``extended``; without ``complete`` they are not started from here. A service that ``is_given_beside`` may get
    its image from a file that is not named like a Compose file.
    """
    for name, service in project.services.items():
        tree = service.tree
        if name in extended and not complete:
            continue
        alone = complete and not project.unknown and not service.unknown
        known = alone and name not in elsewhere and name not in extended
        wrong = [*service_keys(name, tree, complete=known)]
        yield from wrong
        if wrong:
            continue  # Compose goes no further
        if known and "profiles" not in tree.entries and _has_no_image(service) and not is_given_beside(name):
            yield _without_image(service)
        yield from _unreadable(name, tree)
        yield from _without_source(name, tree)
        yield from _built_twice(name, tree)
        yield from _mounted_twice(name, tree)
        yield from _sizes(name, tree)
        yield from _distinct(name, tree)
        yield from _scaled(name, tree)
        if complete and not project.unknown and "profiles" not in tree.entries:
            yield from _undefined(service, project, elsewhere)
        mode, networks = tree.leaf("network_mode"), tree.get("networks")
        if mode is not None and mode.text and not unset(mode) and any(items_of(networks)):
            reason = "declares mutually exclusive `network_mode` and `networks`"
            yield Problem(mode.span, f"service `{name}` {reason}; Compose refuses the file", facts=(name, "networks"))
    if complete:
        yield from project.clashes
    yield from _named_alike(project, complete=complete, extended=extended)
    if complete and not project.unknown:
        yield from _circular(project)


def _has_no_image(service: Service) -> bool:
    """Whether a service says neither what it runs nor how that is built; what one extends may be wrong otherwise."""
    image = service.tree.leaf("image")
    named = image is not None and (image.text or image.interpolated.used)
    nodes = (body.node.resolved for body in service.bodies)
    extends = any(isinstance(node, MappingNode) and node.get("extends") is not None for node in nodes)
    return not named and not extends and service.tree.entries.keys().isdisjoint(("build", "provider"))


def _without_image(service: Service) -> Problem:
    key = service.bodies[0]
    message = f"service `{service.name}` has neither an image nor a build context; Compose refuses the file"
    return Problem(key.layer.span(key.key), message, facts=(service.name, "image"))


def _unreadable(name: str, tree: Branch) -> Iterator[Problem]:
    """Commands and volumes in a text that Compose cannot read, and a health check of no kind that it knows."""
    for key in ("command", "entrypoint"):
        leaf = tree.leaf(key)
        if _is_fixed(leaf) and split_words(leaf.text) is None:
            message = f"service `{name}`: `{key}` is an invalid command line, a quote or bracket in it is not closed"
            yield Problem(leaf.span, f"{message}; Compose refuses the file", facts=(name, key, "line"))
    for at, item in enumerate(items_of(tree.get("volumes"))):
        if isinstance(item, Leaf) and _is_fixed(item) and (error := parse_volume(item.text).error):
            message = f"service `{name}`: `volumes[{at}]` is refused by Compose: {error}"
            yield Problem(item.span, message, facts=(name, "volumes", str(at), "invalid"))
    test = tree.get("healthcheck", "test")
    while isinstance(test, Listing) and test.parts:
        test = test.parts[-1]  # a list of a later file takes the place of an earlier one
    first = test.items[0] if isinstance(test, Listing) and test.items else None
    if "profiles" in tree.entries or not isinstance(first, Leaf) or not _is_fixed(first):
        return
    if first.text not in ("CMD", "CMD-SHELL", "NONE"):
        reason = "`healthcheck.test` must start with `CMD`, `CMD-SHELL` or `NONE`"
        yield Problem(first.span, f"service `{name}`: {reason}; Compose refuses the file", facts=(name, "healthcheck"))


def _is_fixed(leaf: Leaf | None) -> TypeGuard[Leaf]:
    """Whether a value is a text without variables."""
    return leaf is not None and leaf.kind == "str" and not leaf.interpolated.used and not leaf.interpolated.unset


def _named_alike(project: Project, *, complete: bool, extended: Collection[str]) -> Iterator[Problem]:
    """Containers with the name of another one; those of several files only where people start these together."""
    first: dict[str, tuple[str, Leaf]] = {}
    for name, service in project.services.items():
        leaf = service.tree.leaf("container_name")
        if not _is_fixed(leaf) or "profiles" in service.tree.entries or service.unknown:
            continue
        other, before = first.setdefault(leaf.text, (name, leaf))
        together = complete or (leaf.span.path == before.span.path and not {name, other} & {*extended})
        if other != name and together:
            message = f"service `{name}`: the container name `{leaf.text}` is already that of service `{other}`"
            yield Problem(leaf.span, f"{message}; Compose refuses the file", facts=(name, "container_name", leaf.text))


def _without_source(name: str, tree: Branch) -> Iterator[Problem]:
    """Bind mounts in the long form that name nothing of the host."""
    for at, item in enumerate(items_of(tree.get("volumes"))):
        kind = item.leaf("type") if isinstance(item, Branch) else None
        if isinstance(item, Branch) and kind is not None and kind.text == "bind" and "source" not in item.entries:
            message = f"service `{name}`: `volumes[{at}]` is a bind mount without `source`; Compose refuses the file"
            yield Problem(kind.span, message, facts=(name, "source", str(at)))


def _built_twice(name: str, tree: Branch) -> Iterator[Problem]:
    """A build with a Dockerfile of its own and one in the file."""
    inline = tree.leaf("build", "dockerfile_inline")
    if inline is not None and tree.leaf("build", "dockerfile") is not None:
        reason = "declares mutually exclusive `dockerfile` and `dockerfile_inline`"
        yield Problem(inline.span, f"service `{name}` {reason}; Compose refuses the file", facts=(name, "inline"))


def _mounted_twice(name: str, tree: Branch) -> Iterator[Problem]:
    """A target that a tmpfs and a volume are mounted on, or two tmpfs. Of two volumes the last one is taken."""
    mounted: dict[str, Span] = {}
    for target, span in (*_tmpfs_targets(tree), *_volume_targets(tree)):
        first = mounted.setdefault(target, span)
        if first is not span:
            where = f"line {first.line}" if first.path == span.path else f"{first.path}, line {first.line}"
            message = f"service `{name}`: target {target} is already mounted in {where}; Compose refuses the file"
            yield Problem(span, message, facts=(name, "mounted", target))


def _tmpfs_targets(tree: Branch) -> Iterator[tuple[str, Span]]:
    leaves = (item for item in items_of(tree.get("tmpfs")) if isinstance(item, Leaf) and not unset(item))
    # Merging takes those for the same that have the same text before the first `=`.
    for leaf in {leaf.text.partition("=")[0]: leaf for leaf in leaves}.values():
        yield leaf.text.partition(":")[0], leaf.span


def _volume_targets(tree: Branch) -> Iterator[tuple[str, Span]]:
    found: dict[str, Span] = {}
    for item in items_of(tree.get("volumes")):
        leaf = item.leaf("target") if isinstance(item, Branch) else item
        if isinstance(leaf, Leaf) and not unset(leaf):
            found[leaf.text if isinstance(item, Branch) else parse_volume(leaf.text).target] = leaf.span
    yield from found.items()


# What is not defined -------------------------------------------------------------------------------------


class _Reference(NamedTuple):
    """What a service names elsewhere in the project."""

    name: str
    span: Span
    private: bool = False
    """Whether the name comes from a file whose values are not shown."""


def _references(tree: Tree | None) -> Iterator[_Reference]:
    """The names in a list, whose items may be mappings with a ``source``, or the keys of a mapping."""
    if isinstance(tree, Branch):
        yield from (_Reference(name, entry.layer.span(entry.key)) for name, entry in tree.entries.items())
        return
    for item in items_of(tree):
        leaf = item.leaf("source") if isinstance(item, Branch) else item
        if isinstance(leaf, Leaf) and leaf.text and not unset(leaf):
            yield _Reference(leaf.text, leaf.span, leaf.interpolated.private)


def _volumes(tree: Tree | None) -> Iterator[_Reference]:
    """The named volumes that a service mounts; of several on one target the last."""
    found: dict[str, _Reference | None] = {}
    for item in items_of(tree):
        if isinstance(item, Leaf) and not unset(item):
            mount = parse_volume(item.text)
            named = mount.type == "volume" and mount.source and not mount.error
            found[mount.target] = _Reference(mount.source, item.span, item.interpolated.private) if named else None
        elif isinstance(item, Branch):
            kind, source, target = item.leaf("type"), item.leaf("source"), item.leaf("target")
            if target is not None:
                named = kind is not None and kind.text == "volume" and source is not None and not unset(source)
                of = _Reference(source.text, source.span, source.interpolated.private) if named and source else None
                found[target.text] = of if of is not None and of.name else None
    yield from filter(None, found.values())


def _services(tree: Branch) -> Iterator[_Reference]:
    """The services that one needs: Compose starts them before it."""
    yield from _references(tree.get("depends_on"))
    for key in ("ipc", "network_mode", "pid"):
        leaf = tree.leaf(key)
        if leaf is not None and not unset(leaf) and leaf.text.startswith("service:"):
            yield _Reference(leaf.text.removeprefix("service:"), leaf.span, leaf.interpolated.private)
    for key in ("links", "volumes_from"):
        for found in _references(tree.get(key)):
            name, _, rest = found.name.partition(":")
            if name != "container" or key == "links" or not rest:
                yield found._replace(name=name)


def _undefined(service: Service, project: Project, elsewhere: Collection[str]) -> Iterator[Problem]:
    """What a service names and no file of the project defines."""
    tree = service.tree
    defined = project.defined
    groups: list[tuple[str, Iterator[_Reference], Collection[str]]] = [
        ("service", _services(tree), project.services),
        ("network", _references(tree.get("networks")), {"default", *defined["networks"]}),
        ("volume", _volumes(tree.get("volumes")), defined["volumes"]),
        ("secret", _references(tree.get("secrets")), defined["secrets"]),
        ("config", _references(tree.get("configs")), defined["configs"]),
        ("build secret", _references(tree.get("build", "secrets")), defined["secrets"]),
    ]
    for what, references, names in groups:
        reason = f"{'depends on' if what == 'service' else 'refers to'} undefined {what}"
        for reference in references:
            if reference.name not in names and reference.name not in elsewhere:
                of = "" if reference.private else f" `{reference.name}`"
                message = f"service `{service.name}` {reason}{of}; Compose refuses the file"
                yield Problem(reference.span, message, facts=(service.name, what, reference.name))


def _circular(project: Project) -> Iterator[Problem]:
    """The first services that each need the next one to be started, and the last one the first."""
    active = {name: service for name, service in project.services.items() if "profiles" not in service.tree.entries}
    needs = {name: {found.name: found for found in _services(service.tree)} for name, service in active.items()}
    done: set[str] = set()
    for first in active:
        trail = [first]
        left = [iter(needs[first])]
        while trail:
            name = next(left[-1], None)
            if name is None:
                done.add(trail.pop())
                left.pop()
            elif name in trail:
                circle = [*trail[trail.index(name) :], name]
                shown = " → ".join(f"`{one}`" for one in circle)
                message = f"services depend on each other: {shown}; Compose refuses the file"
                yield Problem(needs[circle[0]][circle[1]].span, message, facts=tuple(circle))
                return
            elif name in active and name not in done:
                trail.append(name)
                left.append(iter(needs[name]))


# Sizes and numbers ---------------------------------------------------------------------------------------


def _sizes(name: str, tree: Branch) -> Iterator[Problem]:
    leaves = [(".".join(path), tree.leaf(*path)) for path in _MEMORY if path[0] in tree.entries]
    leaves += [
        (f"volumes[{at}].tmpfs.size", volume.leaf("tmpfs", "size"))
        for at, volume in enumerate(items_of(tree.get("volumes")))
        if isinstance(volume, Branch)
    ]
    for where, leaf in leaves:
        if leaf is None or unset(leaf):
            continue
        if where.startswith("deploy") and leaf.kind != "str":
            reason = "must be a string; put it in quotes"
        elif leaf.kind == "str":
            size = read_size(leaf).known
            reason = size.error if size is not None and _bytes(leaf) is None else ""
        else:
            continue
        if reason:
            message = f"service `{name}`: `{where}: {leaf.written}` is refused by Compose: {reason}"
            yield Problem(leaf.span, message, facts=(name, where, leaf.text))


def _distinct(name: str, tree: Branch) -> Iterator[Problem]:
    """A limit of the service and one of ``deploy`` that differ. One that is missing there counts as 0."""
    for pair in _PAIRS:
        first = tree.leaf(pair.key)
        group = tree.get(*pair.group) if first is not None else None
        if first is None or not isinstance(group, Branch):
            continue
        second, where = group.leaf(pair.name), ".".join((*pair.group, pair.name))
        given = pair.parse(first)
        other = pair.parse(second) if second is not None else 0
        leaves = [leaf for leaf in (first, second) if leaf is not None]
        if any(unset(leaf) or (leaf.kind == "float" and pair.parse is _bytes) for leaf in leaves):
            continue
        if given and other is not None and given != other:
            shown = second.written if second is not None else "missing, which counts as 0"
            message = f"can't set distinct values on `{pair.key}` ({first.written}) and `{where}` ({shown})"
            message = f"service `{name}`: {message}; Compose refuses the file"
            yield Problem(first.span, message, facts=(name, where, *(leaf.text for leaf in leaves)))


def _scaled(name: str, tree: Branch) -> Iterator[Problem]:
    """More containers than one name is enough for, and two numbers of them."""
    scale, replicas, named = tree.leaf("scale"), tree.leaf("deploy", "replicas"), tree.leaf("container_name")
    counts = [(leaf, _number(leaf)) for leaf in (scale, replicas) if leaf is not None and not unset(leaf)]
    if len(counts) == 2 and None not in (counts[0][1], counts[1][1]) and counts[0][1] != counts[1][1]:
        message = "can't set distinct values on `scale` and `deploy.replicas`"
        message = f"service `{name}`: {message}; Compose refuses the file"
        yield Problem(counts[0][0].span, message, facts=(name, "replicas"))
    elif named is not None and counts and (counts[0][1] or 0) > 1:
        message = f"can't set `container_name` for {counts[0][0].written} containers: a container name must be unique"
        message = f"service `{name}`: {message}; Compose refuses the file"
        yield Problem(named.span, message, facts=(name, "container_name", counts[0][0].text))
