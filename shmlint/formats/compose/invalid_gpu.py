"""Device requests that Compose refuses, and how they are put right.

Sources: compose-go schema/compose-spec.json, validation/validation.go, types/device.go; the tests
compare with Compose 2.40.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.docker.placeholders import is_placeholder
from shmlint.formats.compose.places import requests_among_devices, starts_with_all, stray_requests
from shmlint.formats.compose.splice import end_of, indentation_of, line_edit, quoted_like
from shmlint.formats.compose.tree import Branch, Leaf, Listing, Removed, Tree, items_of
from shmlint.model.launch import Change, GpuFault, GpuFaultKind
from shmlint.model.number import whole_number
from shmlint.model.source import Edit, Span
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode

DEVICES = "reservations.devices"
_KEYS = ("capabilities", "count", "device_ids", "driver", "options")
_RIGHT = "`gpus: all`, or `gpus: [{count: 2}]` for two of them"


def find(service: Branch) -> Iterator[GpuFault]:
    """What is refused in ``deploy.resources.reservations.devices`` and in ``gpus``."""
    advice = "a device request belongs under `deploy.resources.reservations.devices`"
    for entry, place in stray_requests(service):
        message = f"`{place}` is an unknown key; Compose refuses the file"
        yield GpuFault(entry.layer.span(entry.key), "unknown-key", place, message, (), advice, "")
    for i, request in requests_among_devices(service):
        message = f"`devices[{i}]` is a request for GPUs, and `devices` lists devices of the host"
        yield _fault(request.span, "type", f"devices[{i}]", message, advice=advice)
    reservations = service.get("deploy", "resources", "reservations")
    devices = reservations.get("devices") if isinstance(reservations, Branch) else None
    gpus = service.get("gpus")
    if isinstance(devices, Leaf) and devices.kind == "null" and isinstance(reservations, Branch):
        marked = _place(devices, reservations, "devices")
        yield _fault(marked, "no-value", DEVICES, f"`{DEVICES}` has no value", advice="delete the key")
    elif isinstance(devices, Branch | Leaf):
        message, advice = f"`{DEVICES}` must be a list", "add `- ` before each request"
        yield _fault(devices.span, "type", DEVICES, message, advice=advice)
    for i, item in enumerate(items_of(devices)):
        yield from _request(item, f"{DEVICES}[{i}]", deploy=True)
    if isinstance(gpus, Leaf):
        yield from _text(gpus, service)
    elif isinstance(gpus, Branch):
        message, advice = "`gpus` must be `all` or a list of requests", "add `- ` before its first key"
        yield _fault(gpus.span, "type", "gpus", message, advice=advice)
        yield from _request(gpus, "gpus", deploy=False)
    else:
        yield from _requests(gpus)


def _requests(gpus: Tree | None) -> Iterator[GpuFault]:
    """What is refused in the list of a service, to which files and bases add."""
    alone = isinstance(gpus, Listing) and len(gpus.items) == 1
    for i, item in enumerate(items_of(gpus)):
        if not i and isinstance(gpus, Listing) and starts_with_all(gpus):
            continue
        if i and isinstance(item, Leaf) and isinstance(gpus, Listing) and item.node is gpus.node:
            message = f"`gpus: {item.written}` cannot override the `gpus` that the service has already"
            yield _fault(item.span, "type", "gpus", message, advice="delete one of them")
        elif isinstance(item, Leaf) and alone and item.text.lower() in ("all", "-1"):
            changes = _replaced(gpus, "all", f"`gpus: {item.text}`") if isinstance(gpus, Listing) else ()
            yield _fault(item.span, "type", "gpus", f"`gpus: [{item.written}]` is not a list of requests", changes)
        else:
            yield from _request(item, f"gpus[{i}]", deploy=False)


def _fault(
    span: Span, kind: GpuFaultKind, at: str, why: str, changes: tuple[Change, ...] = (), advice: str = ""
) -> GpuFault:
    """A refused request; the message starts with what is refused."""
    return GpuFault(span, kind, at, f"{why}; Compose refuses the file", changes, advice, "")


def _place(value: Tree, mapping: Branch, key: str) -> Span:
    """What is marked of a value: its key where there is none."""
    assert not isinstance(value, Removed)
    if value.span.start < value.span.end:
        return value.span
    entry = mapping.entries[key]
    return entry.layer.span(entry.key)


def _text(gpus: Leaf, service: Branch) -> Iterator[GpuFault]:
    if gpus.text == "all" or gpus.interpolated.unset or is_placeholder(gpus.text):
        return
    shown = "`gpus` has no value" if gpus.kind == "null" else f"`gpus: {gpus.written}` is neither `all` nor a list"
    changes: tuple[Change, ...] = ()
    if gpus.text.lower() in ("all", "-1"):
        changes = _replaced(gpus, "all", "`gpus: all`")
    elif number := whole_number(gpus.text):
        request = f"[{{{_key(gpus, 'count')}: {number}}}]"
        changes = _replaced(gpus, request, f"`gpus: {request}`")
    if not gpus.span.text.strip():
        changes = ()
    kind: GpuFaultKind = "no-value" if gpus.kind == "null" else "type"
    yield _fault(_place(gpus, service, "gpus"), kind, "gpus", shown, changes, f"write {_RIGHT}")


def _key(neighbour: Leaf, name: str) -> str:
    """A new key, in quotes where the line of its neighbour shows that everything is (JSON)."""
    text = neighbour.layer.source.text
    line = text[text.rfind("\n", 0, neighbour.node.start) + 1 : neighbour.node.start]
    return f'"{name}"' if line.rstrip().endswith('":') else name


def _replaced(tree: Leaf | Listing, text: str, shown: str) -> tuple[Change, ...]:
    """Another text instead of a value that is written at this place."""
    node = tree.node
    if node.anchor or node.tag or (isinstance(tree, Leaf) and tree.interpolated.used):
        return ()
    if isinstance(node, SequenceNode) and not node.flow:
        return ()
    span = tree.span
    end = span.start + len(span.text.rstrip())
    return (Change((Edit(span.path, span.start, end, text),), f"write {shown} in line {span.line}"),)


def _request(item: Tree, at: str, *, deploy: bool) -> Iterator[GpuFault]:
    """What is refused in one device request."""
    if not isinstance(item, Branch):
        if isinstance(item, Leaf | Listing):
            advice = "write `- capabilities: [gpu]`" if deploy else f"write {_RIGHT}"
            yield _fault(item.span, "type", at, f"`{at}` must be a mapping", advice=advice)
        return
    yield from _capabilities(item, at, deploy=deploy)
    yield from _ids(item, at)
    count, ids = item.get("count"), item.get("device_ids")
    if count is not None and ids is not None:
        advice = "delete `count` to request these devices, or `device_ids` to request any devices"
        message = f"`{at}` has both `count` and `device_ids`, which exclude each other"
        yield _fault(_place(count, item, "count"), "both", at, message, advice=advice)
    elif count is not None and not _is_count(count):
        shown = f"`{at}.count: {count.written}`" if isinstance(count, Leaf) and count.written else f"`{at}.count`"
        message, advice = f"{shown} is neither `all` nor a whole number", "write `count: all` or a number"
        yield _fault(_place(count, item, "count"), "count", f"{at}.count", message, advice=advice)
    driver = item.get("driver")
    if driver is not None and not (isinstance(driver, Leaf) and driver.kind == "str"):
        message = f"`{at}.driver` must be a string"
        place = _place(driver, item, "driver")
        yield _fault(place, "type", f"{at}.driver", message, advice="write `driver: nvidia`")
    for name, entry in item.entries.items() if deploy else ():
        if name not in _KEYS and not name.startswith("x-") and "shm" not in name.lower():
            span = entry.layer.span(entry.key)
            message = f"`{name}` is not a key of `{at}`; Compose refuses the file"
            yield GpuFault(span, "unknown-key", f"{at}.{name}", message, (), f"known are {', '.join(_KEYS)}", "")


def _is_count(tree: Tree) -> bool:
    """Whether a ``count`` is one that Compose takes (Go's Atoi), or depends on something unknown."""
    if not isinstance(tree, Leaf):
        return isinstance(tree, Branch | Listing) and is_placeholder(tree.span.text)
    if tree.kind == "int" or tree.interpolated.unset or is_placeholder(tree.text):
        return True
    return tree.kind == "str" and (tree.text.lower() == "all" or re.fullmatch("[+-]?[0-9]+", tree.text) is not None)


def _capabilities(item: Branch, at: str, *, deploy: bool) -> Iterator[GpuFault]:
    given = item.get("capabilities")
    key = f"{at}.capabilities"
    where, advice = f"`{key}`", "write `capabilities: [gpu]`"
    if given is None:
        if deploy:
            changes, advice = tuple(_with_capabilities(item)), "add `capabilities: [gpu]`"
            yield _fault(item.span, "no-capabilities", at, f"`{at}` has no `capabilities`", changes, advice)
    elif isinstance(given, Leaf):
        text = given.written.strip()
        changes = _replaced(given, f"[{_spelled(given)}]", f"`capabilities: [{text}]`") if given.kind == "str" else ()
        message = f"{where} must be a list, like `[gpu]`"
        yield _fault(_place(given, item, "capabilities"), "type", key, message, changes, advice)
    elif isinstance(given, Listing):
        leaves = [leaf for leaf in given.items if isinstance(leaf, Leaf) and leaf.kind == "str"]
        if len(leaves) < len(given.items):
            changes = _flat(given)
            yield _fault(given.span, "type", key, f"{where} must be a list of strings", changes, advice)
        elif len({leaf.text for leaf in leaves}) < len(leaves):
            yield _fault(given.span, "repeated", key, f"{where} contains the same value twice", advice=advice)
    elif isinstance(given, Branch):
        yield _fault(given.span, "type", key, f"{where} must be a list, like `[gpu]`", advice=advice)


def _spelled(leaf: Leaf) -> str:
    """A scalar as it is written, quotes included."""
    return leaf.span.text.strip()


def _flat(given: Listing) -> tuple[Change, ...]:
    """``[[gpu]]``, as the API has it, with one pair of brackets."""
    items = given.items
    inner = items[0] if len(items) == 1 else None
    if not isinstance(inner, Listing) or not isinstance(inner.node, SequenceNode) or not inner.node.flow:
        return ()
    if not all(isinstance(leaf, Leaf) and leaf.kind == "str" for leaf in inner.items):
        return ()
    text = inner.span.text
    return _replaced(given, text, f"`capabilities: {text}`")


def _with_capabilities(item: Branch) -> Iterator[Change]:
    """The key that is missing, after the others of the request."""
    node = item.node
    if not isinstance(node, MappingNode) or not node.pairs:
        return
    source = item.layer.source
    key, value = node.pairs[-1]
    q = quoted_like(node, "capabilities"), quoted_like(node, "gpu")
    pair = f"{q[0]}: [{q[1]}]"
    if node.flow:
        end = end_of(source.text, key, value)
        edit = Edit(source.path, end, end, f", {pair}")
    else:
        indentation = indentation_of(source.text, node.pairs[0][0].start)
        edit = line_edit(source, end_of(source.text, key, value, len(indentation)), indentation + pair)
    yield Change((edit,), f"add `capabilities: [gpu]` after line {source.position(max(key.end - 1, 0)).line}")


def _ids(item: Branch, at: str) -> Iterator[GpuFault]:
    given = item.get("device_ids")
    key, advice = f"{at}.device_ids", """write `device_ids: ["0"]`"""
    where = f"`{key}`"
    if isinstance(given, Leaf) and is_placeholder(given.text):
        return
    if isinstance(given, Leaf):
        ids = list(dict.fromkeys(part.strip() for part in given.text.split(",")))
        changes: tuple[Change, ...] = ()
        if given.kind in ("int", "str") and all(ids):
            listed = ", ".join(f'"{part}"' for part in ids)
            changes = _replaced(given, f"[{listed}]", f"`device_ids: [{listed}]`")
        yield _fault(_place(given, item, "device_ids"), "type", key, f"{where} must be a list", changes, advice)
    elif isinstance(given, Branch):
        yield _fault(given.span, "type", key, f"{where} must be a list", advice=advice)
    elif isinstance(given, Listing):
        wrong = [leaf for leaf in given.items if not isinstance(leaf, Leaf) or leaf.kind != "str"]
        written = (leaf for leaf in given.items if isinstance(leaf, Leaf) and not leaf.interpolated.unset)
        known = [leaf.text for leaf in written if not is_placeholder(leaf.text)]
        if len(set(known)) < len(known):
            message = f"{where} contains the same value twice"
            yield _fault(given.span, "repeated", key, message, advice="name each device once")
        elif wrong:
            numbers = [leaf for leaf in wrong if isinstance(leaf, Leaf) and leaf.kind == "int" and _plain(leaf.node)]
            changes = _in_quotes(numbers) if len(numbers) == len(wrong) else ()
            kind: GpuFaultKind = "numbers" if len(numbers) == len(wrong) else "type"
            shown = f"{where} has numbers" if kind == "numbers" else f"{where} must be a list of strings"
            shown, advice = f"{shown}, and needs strings" if changes else shown, """write `device_ids: ["0", "1"]`"""
            yield _fault(_start(wrong[0]), kind, key, shown, changes, advice)


def _start(tree: Tree) -> Span:
    assert not isinstance(tree, Removed)
    return tree.span


def _plain(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.anchor and not node.tag and not node.style


def _in_quotes(leaves: list[Leaf]) -> tuple[Change, ...]:
    """Numbers as texts."""
    spans = [Span(leaf.layer.source, leaf.node.start, leaf.node.start + len(leaf.written)) for leaf in leaves]
    edits = tuple(Edit(span.path, span.start, span.end, f'"{span.text}"') for span in spans)
    return (Change(edits, f"put quotation marks around the numbers in line {spans[0].line}"),)
