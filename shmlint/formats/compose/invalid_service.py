"""What Compose refuses in a service as a whole: limits that contradict each other, sizes of memory that are none.

Compose looks at the merged service (compose-go loader/validate.go, ``checkConsistency``), so this does too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shmlint.docker.sizes import InvalidSize, parse_compose
from shmlint.formats.compose.project import Project
from shmlint.formats.compose.tree import Branch, Leaf, items_of
from shmlint.formats.compose.values import read_size, unset
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem

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


def service_faults(project: Project, *, complete: bool) -> Iterator[Problem]:
    """What Compose refuses in the services of a project, each with its reason.

    ``complete``: no other file is put to these, so a service that they do not define is not there.
    """
    for name, service in project.services.items():
        tree = service.tree
        yield from _sizes(name, tree)
        yield from _distinct(name, tree)
        yield from _scaled(name, tree)
        if complete and not project.unknown:
            yield from _undefined(name, tree, project)
        mode, networks = tree.leaf("network_mode"), tree.get("networks")
        if mode is not None and mode.text and not unset(mode) and any(items_of(networks)):
            reason = "declares mutually exclusive `network_mode` and `networks`"
            yield Problem(mode.span, f"service `{name}` {reason}; Compose refuses the file")


def _undefined(name: str, tree: Branch, project: Project) -> Iterator[Problem]:
    """Namespaces of services that there are not."""
    for key in ("ipc", "network_mode", "pid"):
        leaf = tree.leaf(key)
        of = leaf.text.partition("service:")[2] if leaf is not None and leaf.text.startswith("service:") else ""
        if leaf is not None and of and not unset(leaf) and of not in project.services:
            reason = f"service `{name}` depends on undefined service `{of}`"
            yield Problem(leaf.span, f"{reason}; Compose refuses the file")


def _sizes(name: str, tree: Branch) -> Iterator[Problem]:
    leaves = [(".".join(path), tree.leaf(*path)) for path in _MEMORY]
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
            yield Problem(leaf.span, message)


def _distinct(name: str, tree: Branch) -> Iterator[Problem]:
    """A limit of the service and one of ``deploy`` that differ. One that is missing there counts as 0."""
    for pair in _PAIRS:
        first, group = tree.leaf(pair.key), tree.get(*pair.group)
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
            yield Problem(first.span, f"service `{name}`: {message}; Compose refuses the file")


def _scaled(name: str, tree: Branch) -> Iterator[Problem]:
    """More containers than one name is enough for, and two numbers of them."""
    scale, replicas, named = tree.leaf("scale"), tree.leaf("deploy", "replicas"), tree.leaf("container_name")
    counts = [(leaf, _number(leaf)) for leaf in (scale, replicas) if leaf is not None and not unset(leaf)]
    if len(counts) == 2 and None not in (counts[0][1], counts[1][1]) and counts[0][1] != counts[1][1]:
        message = "can't set distinct values on `scale` and `deploy.replicas`"
        yield Problem(counts[0][0].span, f"service `{name}`: {message}; Compose refuses the file")
    elif named is not None and counts and (counts[0][1] or 0) > 1:
        message = f"can't set `container_name` for {counts[0][0].written} containers: a container name must be unique"
        yield Problem(named.span, f"service `{name}`: {message}; Compose refuses the file")
