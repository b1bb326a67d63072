"""Edits that take a variable or the node's IPC namespace away from a pod, or rename a variable.

Only what is on lines of its own, in one file, is taken away.
"""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.formats.compose.splice import end_of
from shmlint.formats.kubernetes.tree import List, Map, Written
from shmlint.model.launch import Change
from shmlint.model.source import Edit, Source
from shmlint.syntax import yaml


def without_variable(body: Map, name: str) -> Iterator[Change]:
    """The change that takes a variable out of a container's ``env``."""
    item, listed = _variable(body, name)
    if item is None or listed is None:
        return
    edit = _without_key(body, "env") if len(listed.node.items) == 1 else _without_item(listed, item)
    if edit is not None:
        line = item.source.position(item.node.start).line
        yield Change((edit,), f"remove {name} from `env` in line {line}")


def renamed_variable(body: Map, name: str, new: str) -> Iterator[Change]:
    """The change that gives a variable of a container's ``env`` another name."""
    item, _ = _variable(body, name)
    node = item.node.get("name") if item is not None and isinstance(item.node, yaml.MappingNode) else None
    if item is None or not isinstance(node, yaml.Scalar) or _items(body, new):
        return
    start = node.start + len(node.style if node.style in ("'", '"') else "")
    if item.source.text[start : start + len(name)] != name:
        return
    edit = Edit(item.source.path, start, start + len(name), new)
    yield Change((edit,), f"rename {name} to {new} in line {item.source.position(start).line}")


def without_host_ipc(spec: Map) -> Iterator[Change]:
    """The change that gives a pod an IPC namespace of its own."""
    edit = _without_key(spec, "hostIPC")
    if edit is not None:
        yield Change((edit,), "remove `hostIPC`")


class _Listed:
    """The list that a file writes variables in."""

    def __init__(self, source: Source, node: yaml.SequenceNode) -> None:
        self.source = source
        self.node = node


def _items(body: Map, name: str) -> list[Map]:
    return [item for item in body.maps("env") if item.text("name") == name]


def _variable(body: Map, name: str) -> tuple[Written | None, _Listed | None]:
    """The only place that sets a variable, and the list it is in."""
    listed, items = body.get("env"), _items(body, name)
    if not isinstance(listed, List) or len(items) != 1:
        return None, None
    if len(listed.written) != 1 or len(items[0].written) != 1 or items[0].written[0].shared:
        return None, None
    node = listed.written[0].node
    if not isinstance(node, yaml.SequenceNode):
        return None, None
    return items[0].written[0], _Listed(listed.written[0].source, node)


def _without_item(listed: _Listed, item: Written) -> Edit | None:
    nodes, source = listed.node.items, listed.source
    at = next((number for number, node in enumerate(nodes) if node is item.node), None)
    if at is None:
        return None
    if listed.node.flow:
        if at + 1 < len(nodes):
            return Edit(source.path, nodes[at].start, nodes[at + 1].start, "")
        return Edit(source.path, nodes[at - 1].end, nodes[at].end, "")
    return _lines(source, source.text.rfind("-", 0, item.node.start), item.node, item.node)


def _without_key(holder: Map, key: str) -> Edit | None:
    """An edit that takes a key and its value out of a mapping in block style, which keeps other keys."""
    field = holder.fields.get(key)
    written = [place for place in holder.written if field is not None and place.source is field.key.source]
    if len(written) != 1 or written[0].shared:
        return None
    node, source = written[0].node, written[0].source
    if not isinstance(node, yaml.MappingNode) or node.flow or len(node.pairs) < 2:
        return None
    pair = next(((k, v) for k, v in node.pairs if isinstance(k, yaml.Scalar) and k.value == key), None)
    return _lines(source, pair[0].start, *pair) if pair is not None else None


def _lines(source: Source, start: int, key: yaml.Node, value: yaml.Node) -> Edit | None:
    """An edit that removes the lines of a key or an item; None where something else is on them."""
    text = source.text
    first = text.rfind("\n", 0, start) + 1
    if text[first:start].strip(" ") or value.anchor is not None:
        return None
    end = end_of(text, key, value)
    newline = text.find("\n", end)
    if newline < 0:
        return Edit(source.path, max(first - 1, 0), len(text), "")
    return Edit(source.path, first, newline + 1, "")
