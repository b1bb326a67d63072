"""Where people write sizes and requests for GPUs in a service, rightly or not."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.formats.compose.tree import Branch, Entry, Leaf, Listing, Removed, Tree, items_of

DEVICES = ("deploy", "resources", "reservations", "devices")
GENERIC = ("deploy", "resources", "reservations", "generic_resources")


def means_size(name: str) -> bool:
    """Whether a key is ``shm_size``, or was meant as it: ``shm-size``, ``shmSize``, ``shm``."""
    return name.replace("-", "").replace("_", "").lower() in ("shmsize", "shm")


def placed_mappings(service: Branch) -> Iterator[tuple[Branch, str]]:
    """The mappings of a service that people put a size into, with their place below the service."""
    yield service, ""
    for path in _PARTS:
        part = service.get(*path)
        if isinstance(part, Branch):
            yield part, ".".join(path)
    for name, devices in ((".".join(DEVICES), service.get(*DEVICES)), ("gpus", service.get("gpus"))):
        for i, item in enumerate(items_of(devices)):
            if isinstance(item, Branch):
                yield item, f"{name}[{i}]"


_PARTS: tuple[tuple[str, ...], ...] = (
    ("deploy",), ("deploy", "resources"), ("deploy", "resources", "limits"), ("deploy", "resources", "reservations"),
)  # fmt: skip


_STRAYS = (
    (("deploy",), ("devices", "reservations")),
    (("deploy", "resources"), ("devices",)),
    (("deploy", "resources", "limits"), ("devices", "gpus", "gpu")),
    (("deploy", "resources", "reservations"), ("gpus", "gpu")),
    ((), ("device_requests", "reservations", "resources", "gpu")),
)
"""Wrong places where people request devices: part of the path left out, the API's own name, nearly the right key."""


def stray_requests(tree: Branch) -> Iterator[tuple[Entry, str]]:
    """Keys that hold a request for devices and that Compose does not know there, with their place."""
    for path, names in _STRAYS:
        place = tree.get(*path) if path else tree
        if not isinstance(place, Branch):
            continue
        for name in names:
            entry = place.entries.get(name)
            if entry is None:
                continue
            held: Tree | None = entry.tree
            if name == "resources":
                held = held.get("reservations") if isinstance(held, Branch) else held
            if name in ("resources", "reservations"):
                held = held.get("devices") if isinstance(held, Branch) else None
            if held is not None and not isinstance(held, Removed):
                yield entry, ".".join((*path, name))


def requests_among_devices(service: Branch) -> Iterator[tuple[int, Branch]]:
    """Requests for GPUs in the list that names devices of the host, with their numbers in it."""
    for i, item in enumerate(items_of(service.get("devices"))):
        if isinstance(item, Branch) and "source" not in item.entries and not _OF_REQUEST.isdisjoint(item.entries):
            yield i, item


_OF_REQUEST = frozenset({"capabilities", "count", "device_ids", "driver"})


def starts_with_all(gpus: Listing) -> bool:
    """Whether the first file says ``gpus: all`` and a later one adds a list, which Compose takes in this order only."""
    first: Tree = gpus
    while isinstance(first, Listing) and first.parts:
        first = first.parts[0]
    return isinstance(first, Leaf) and first.text == "all"
