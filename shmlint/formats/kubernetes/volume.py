"""Edits of a volume that a pod has: another size, and a directory on disk that becomes one in memory."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import spell_quantity
from shmlint.formats.compose.splice import end_of, indentation_of, line_edit, newline_of
from shmlint.formats.kubernetes.containers import Volume
from shmlint.formats.kubernetes.insert import Entry, added_pair, flow, has_quoted_keys
from shmlint.formats.kubernetes.tree import Map, Written
from shmlint.model.launch import Change, Unknown
from shmlint.model.source import Edit, Source
from shmlint.syntax import yaml


def resized(volume: Volume, size: int) -> Iterator[Change]:
    """The change that replaces the limit of a memory volume, or adds one where there is none."""
    edit = _limit(volume.body, size) if volume.body is not None else None
    if edit is None or volume.body is None:
        return
    text = spell_quantity(size)
    holder = _holder(volume.body, "sizeLimit")
    if holder is None:
        yield Change((edit,), f"add `sizeLimit: {text}` to the volume `{volume.name}`")
    else:
        yield Change((edit,), f"change `sizeLimit` to {text} in line {holder.source.position(edit.start).line}")


def made_memory(volume: Volume, size: int) -> Iterator[Change]:
    """The change that makes an ``emptyDir`` on disk one in memory; a limit of this size stays."""
    item = volume.body
    holder = _holder(item, "emptyDir") if item is not None else None
    node = _value(holder, "emptyDir")
    if item is None or holder is None or node is None or node.anchor is not None:
        return
    edits = _filled(holder, node, size)
    body = item.map("emptyDir")
    if isinstance(node, yaml.MappingNode) and node.pairs and body is not None:
        medium = _medium(holder.source, node)
        limit = _limit(body, size) if volume.size != size else None
        if medium is None or isinstance(volume.size, Unknown) or (limit is None and volume.size != size):
            return
        edits = (medium, limit) if limit is not None else (medium,)
    if edits:
        line = holder.source.position(edits[0].start).line
        yield Change(tuple(sorted(edits)), f"make the volume `{volume.name}` one in memory in line {line}")


def _filled(holder: Written, node: yaml.Node, size: int) -> tuple[Edit, ...]:
    """The edit that writes a medium and a limit where there is nothing yet."""
    entries = (Entry("medium", "Memory"), Entry("sizeLimit", spell_quantity(size)))
    source = holder.source
    if node.start < node.end:
        text = flow(entries, quoted=has_quoted_keys(holder.node))
        return (Edit(source.path, node.start, node.end, text),)
    assert isinstance(holder.node, yaml.MappingNode)
    key = next(key for key, value in holder.node.pairs if value is node)
    margin = indentation_of(source.text, key.start) + "  "
    end = end_of(source.text, key, node)
    lines = newline_of(source, end).join(f"{margin}{entry.key}: {entry.value}" for entry in entries)
    return (line_edit(source, end, lines),) if not holder.node.flow else ()


def _medium(source: Source, node: yaml.MappingNode) -> Edit | None:
    """The edit that sets the medium of an ``emptyDir``, in front of what it says already."""
    there = next(((k, v) for k, v in node.pairs if isinstance(k, yaml.Scalar) and k.value == "medium"), None)
    if there is None:
        first = node.pairs[0][0].start
        pair = '"medium": "Memory"' if has_quoted_keys(node) else "medium: Memory"
        line = source.text.rfind("\n", 0, first) + 1
        own = not source.text[line:first].strip()
        between = newline_of(source, first) + source.text[line:first] if own else " "
        return Edit(source.path, first, first, f"{pair}{',' if node.flow else ''}{between}")
    key, value = there
    if not isinstance(value, yaml.Scalar) or value.anchor is not None or value.style in ("|", ">"):
        return None
    if value.start == value.end:
        end = end_of(source.text, key, value)
        return Edit(source.path, end, end, " Memory")
    return Edit(source.path, value.start, value.end, f"{value.style}Memory{value.style}")


def _limit(body: Map, size: int) -> Edit | None:
    """The edit that sets the limit of an ``emptyDir``."""
    text = spell_quantity(size)
    if "sizeLimit" not in body.fields:
        return added_pair(body.written[0], Entry("sizeLimit", text)) if body.written else None
    holder = _holder(body, "sizeLimit")
    node = _value(holder, "sizeLimit")
    if holder is None or not isinstance(node, yaml.Scalar) or node.anchor is not None or node.style in ("|", ">"):
        return None
    return Edit(holder.source.path, node.start, node.end, f"{node.style}{text}{node.style}")


def _holder(tree: Map, key: str) -> Written | None:
    """The mapping as the file writes it that has a key."""
    field = tree.fields.get(key)
    return next((place for place in tree.written if field is not None and place.source is field.key.source), None)


def _value(holder: Written | None, key: str) -> yaml.Node | None:
    return holder.node.get(key) if holder is not None and isinstance(holder.node, yaml.MappingNode) else None
