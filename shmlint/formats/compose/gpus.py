"""The requests for GPUs of a service."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker import gpus as gpu_requests
from shmlint.docker.gpus import ALL, DeviceNode, DeviceRequest, GenericResource, Request, Runtime
from shmlint.docker.placeholders import is_placeholder
from shmlint.formats.compose.places import DEVICES, GENERIC, requests_among_devices, starts_with_all, stray_requests
from shmlint.formats.compose.tree import Branch, Leaf, Listing, Removed, Tree, items_of
from shmlint.formats.compose.values import unset
from shmlint.model.launch import GpuRequest, Unknown, Value
from shmlint.model.number import whole_number


def read_gpu(tree: Branch, environment: dict[str, Value[str]]) -> GpuRequest:
    """Everything in a service that asks for GPUs (reservations, gpus, runtime, devices, …)."""
    requests: list[Request] = [*_device_requests(tree), *_generic_resources(tree)]
    requests += (
        DeviceNode(f"devices[{i}]", leaf.span, f"device {path}", path)
        for i, (path, leaf) in enumerate(device_paths(tree))
        if path or not leaf.interpolated.unset
    )
    gpus, runtime = tree.get("gpus"), tree.leaf("runtime")
    without = next((item for item in items_of(gpus) if isinstance(item, Leaf) and item.interpolated.unset), None)
    if runtime is not None and runtime.interpolated.unset and not runtime.text:
        without = without or runtime
    elif runtime is not None:
        requests.append(Runtime("runtime", runtime.span, f"runtime: {runtime.text}", runtime.text))
    request = gpu_requests.read(
        requests, environment, Unknown("variable", unset(without), without.written) if without else None
    )
    if (
        _as_compose_wants(tree.get(*DEVICES), deploy=True)
        and (gpus is None or _as_compose_wants(gpus, deploy=False))
        and next(stray_requests(tree), None) is None
        and next(requests_among_devices(tree), None) is None
    ):
        return request
    from shmlint.formats.compose.invalid_gpu import find

    return request._replace(invalid=tuple(find(tree)))


def _device_requests(tree: Branch) -> Iterator[DeviceRequest]:
    """``deploy.resources.reservations.devices`` and ``gpus``."""
    for i, item in enumerate(items_of(tree.get(*DEVICES))):
        if isinstance(item, Branch):
            yield _device_request(item, f"{'.'.join(DEVICES)}[{i}]", gpu_implied=False)
    gpus = tree.get("gpus")
    for i, item in enumerate(items_of(gpus)):
        if isinstance(item, Branch):
            yield _device_request(item, f"gpus[{i}]", gpu_implied=True)
        elif isinstance(item, Leaf) and not item.interpolated.unset:
            count = None if is_placeholder(item.text) else _count_of(item, alone=gpus is item)
            key = "gpus" if count is None or count < 0 else f"gpus[{i}]"
            yield DeviceRequest(key, item.span, f"gpus: {item.written}", capabilities=("gpu",), number=count)


def _generic_resources(tree: Branch) -> Iterator[GenericResource]:
    for i, item in enumerate(items_of(tree.get(*GENERIC))):
        spec = item.get("discrete_resource_spec") if isinstance(item, Branch) else None
        kind = spec.leaf("kind") if isinstance(spec, Branch) else None
        if isinstance(spec, Branch) and kind is not None:
            value = spec.leaf("value")
            amount = whole_number(value.text) if value is not None else None
            yield GenericResource(f"{'.'.join(GENERIC)}[{i}]", kind.span, kind.text, amount)


def _count_of(item: Leaf, *, alone: bool) -> int:
    """How many GPUs a text asks for where Compose wants `all` or a mapping; 0 where that is not clear."""
    text = item.text.lower()
    if text in ("all", "-1"):
        return ALL
    number = whole_number(text)
    if number is None:
        return 0
    return number if alone else 1  # a number in a list names a device


def _as_compose_wants(given: Tree | None, *, deploy: bool) -> bool:
    """A quick look: whether device requests are surely of the form that Compose takes."""
    if given is None or isinstance(given, Removed):
        return True
    if isinstance(given, Leaf):
        return not deploy and (given.text == "all" or bool(given.interpolated.unset))
    if not isinstance(given, Listing):
        return False
    items = [*items_of(given)][not deploy and starts_with_all(given) :]
    return all(isinstance(item, Branch) and _is_request(item, deploy=deploy) for item in items)


def _is_request(item: Branch, *, deploy: bool) -> bool:
    capabilities, ids, count = item.get("capabilities"), item.get("device_ids"), item.get("count")
    if (capabilities is None and deploy) or (ids is not None and count is not None):
        return False
    for part in (capabilities, ids):
        if part is None:
            continue
        if not isinstance(part, Listing):
            return False
        texts = [leaf.text for leaf in part.items if isinstance(leaf, Leaf) and leaf.kind == "str"]
        if len(set(texts)) < len(part.items):
            return False
    if deploy and not _REQUEST_KEYS.issuperset(item.entries):
        return False
    driver = item.get("driver")
    if driver is not None and not (isinstance(driver, Leaf) and driver.kind == "str"):
        return False
    return count is None or (isinstance(count, Leaf) and (count.kind == "int" or count.text == "all"))


_REQUEST_KEYS = frozenset({"capabilities", "count", "device_ids", "driver", "options"})


def _device_request(item: Branch, key: str, *, gpu_implied: bool) -> DeviceRequest:
    # What Compose refuses is read as it was meant: [[gpu]], and no capabilities at all.
    named = [leaf for part in items_of(item.get("capabilities")) for leaf in items_of(part) if isinstance(leaf, Leaf)]
    implied = ("gpu",) if gpu_implied or item.get("capabilities") is None else ()
    ids = [leaf for leaf in items_of(item.get("device_ids")) if isinstance(leaf, Leaf)]
    driver = item.leaf("driver")
    parts = (item.get(name) for name in ("capabilities", "count", "device_ids", "driver"))
    return DeviceRequest(
        key,
        next((part.span for part in parts if isinstance(part, Leaf | Listing)), item.span),
        verb="reserves",
        driver=driver.text if driver else "",
        capabilities=(*(leaf.text for leaf in named), *implied),
        device_ids=tuple(leaf.text for leaf in ids),
        number=_reserved(item.get("count")),
        ids_known=not any(leaf.interpolated.unset for leaf in ids),
    )


def _reserved(count: Tree | None) -> int | None:
    """The ``count`` of a request; without one it is for all (compose-go transform/devices.go)."""
    if count is None or (isinstance(count, Leaf) and count.kind == "null"):
        return ALL
    if not isinstance(count, Leaf):
        return None
    text = count.text.strip().lower()
    if count.interpolated.unset:
        return None
    if text == "all":
        return ALL
    number = whole_number(text[1:] if text[:1] in ("+", "-") else text)
    return -number if number is not None and text[:1] == "-" else number


def device_paths(tree: Branch) -> Iterator[tuple[str, Leaf]]:
    """``devices`` entries, a later one for the same target replacing an earlier one."""
    by_target: dict[str, tuple[str, Leaf]] = {}
    for item in items_of(tree.get("devices")):
        if isinstance(item, Leaf):
            parts = item.text.split(":")
            target = parts[1] if len(parts) > 1 else parts[0]
            by_target[target] = (parts[0], item)
        elif isinstance(item, Branch):
            source = item.leaf("source")
            if source is not None:
                target_leaf = item.leaf("target")
                by_target[target_leaf.text if target_leaf else source.text] = (source.text, source)
    yield from by_target.values()
