"""Edits that put an item into a list of a manifest, or a pair into a mapping, in the style of the file."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

from shmlint.formats.compose.splice import end_of, indentation_of, line_edit, newline_of
from shmlint.formats.kubernetes.tree import List, Map, Written
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, Source
from shmlint.syntax import yaml


class Entry(NamedTuple):
    """A key with its value: a text, or more entries."""

    key: str
    value: str | tuple[Entry, ...]


def added_item(tree: Map, source: Source, key: str, item: tuple[Entry, ...]) -> Edit | None:
    """An item more in the list under a key of a mapping, as a file writes it; the key may not be there yet."""
    place = edited(tree, source, key)
    holder = tree.in_file(source)
    if place is None or holder is None or not isinstance(holder.node, yaml.MappingNode) or not holder.node.pairs:
        return None
    node = holder.node
    if isinstance(place.node, yaml.SequenceNode):
        return _added_to(source, place.node, item, quoted=has_quoted_keys(node))
    there = next(((k, v) for k, v in node.pairs if isinstance(k, yaml.Scalar) and k.value == key), None)
    if there is None:
        return _added_list(source, node, key, item)
    name, value = there
    if isinstance(value, yaml.Scalar) and value.anchor is None and not node.flow and not value.value:
        # `volumes:` with nothing after it.
        end = end_of(source.text, name, value)
        lines = _item_lines(source, node, indentation_of(source.text, name.start), item, end)
        return line_edit(source, end, lines)
    return None


def own_item(tree: Map, source: Source, key: str, item: tuple[Entry, ...]) -> tuple[Edit, ...]:
    """An item more in the list under a key of one mapping: a list of an anchor is written out there first."""
    field, holder = tree.fields.get(key), tree.in_file(source)
    listed = field.value if field is not None else None
    places = [place for place in listed.written if place.source is source] if isinstance(listed, List) else []
    if holder is None or holder.shared or not places or not places[0].shared:
        edit = added_item(tree, source, key, item) if holder is not None and not holder.shared else None
        return (edit,) if edit is not None else ()
    node, value = holder.node, places[0].node
    if not isinstance(node, yaml.MappingNode) or not isinstance(value, yaml.SequenceNode) or not value.items:
        return ()
    if any(inner.anchor is not None for each in value.items for inner in _within(each)):
        return ()
    alias = node.get(key)
    if alias is None:
        return _own_list(source, node, value, key, item)
    if not isinstance(alias, yaml.Alias):
        return ()  # the others stand for this one
    if value.flow:
        return (Edit(source.path, alias.start, alias.end, _copied_flow(source, value, item)),)
    lines = _copied(source, node, value, item, newline_of(source, alias.end)) if not node.flow else None
    if lines is None:
        return ()
    start = alias.start
    while source.text[start - 1] in " \t":
        start -= 1
    return (Edit(source.path, start, alias.end, ""), line_edit(source, alias.end, lines))


def _own_list(
    source: Source, node: yaml.MappingNode, value: yaml.SequenceNode, key: str, item: tuple[Entry, ...]
) -> tuple[Edit, ...]:
    """The edit that writes a list which a merge key brings into the mapping itself, with an item more."""
    if node.flow:
        return (_behind_last(source, node, f"{key}: {_copied_flow(source, value, item)}"),) if value.flow else ()
    name, last = node.pairs[-1]
    indentation = indentation_of(source.text, name.start)
    end = end_of(source.text, name, last, len(indentation))
    newline = newline_of(source, max(end - 1, 0))
    if value.flow:
        return (line_edit(source, end, f"{indentation}{key}: {_copied_flow(source, value, item)}"),)
    lines = _copied(source, node, value, item, newline)
    return (line_edit(source, end, f"{indentation}{key}:{newline}{lines}"),) if lines is not None else ()


def _copied_flow(source: Source, value: yaml.SequenceNode, item: tuple[Entry, ...]) -> str:
    """A list in flow style as it is written, with an item more."""
    first, last = value.items[0], value.items[-1]
    return f"[{source.text[first.start : end_of(source.text, last, last)]}, {flow(item, quoted=False)}]"


def _copied(
    source: Source, node: yaml.MappingNode, value: yaml.SequenceNode, item: tuple[Entry, ...], newline: str
) -> str | None:
    """The lines of a list in block style, set in for a key of a mapping, with an item more."""
    text, last = source.text, value.items[-1]
    dash = text.rfind("-", 0, value.items[0].start)
    line = text.rfind("\n", 0, dash) + 1
    if text[line:dash].strip(" "):
        return None
    indentation = indentation_of(text, node.pairs[0][0].start) + " " * _margin(source, node)
    lines = []
    for each in text[line : end_of(text, last, last, dash - line + 2)].split("\n"):
        if each[: dash - line].strip(" \r"):
            return None  # a comment at the margin
        own = each[dash - line :].removesuffix("\r")
        lines.append(f"{indentation}{own}" if own else "")
    return newline.join([*lines, _lines(item, indentation, newline, 2)])


def _within(node: yaml.Node) -> Iterator[yaml.Node]:
    """A node and all in it, but what aliases stand for."""
    yield node
    inner = node.items if isinstance(node, yaml.SequenceNode) else ()
    pairs = node.pairs if isinstance(node, yaml.MappingNode) else ()
    for each in (*inner, *(part for pair in pairs for part in pair)):
        yield from _within(each)


def edited(tree: Map, source: Source, key: str) -> Written | None:
    """What an item more under a key is added to in a file: the list, also one at an anchor, or the mapping."""
    field = tree.fields.get(key)
    listed = field.value if field is not None and isinstance(field.value, List) else tree
    return next((place for place in listed.written if place.source is source), tree.in_file(source))


def _added_list(source: Source, node: yaml.MappingNode, key: str, item: tuple[Entry, ...]) -> Edit | None:
    if node.flow:
        quoted = has_quoted_keys(node)
        return _behind_last(source, node, f"{_name(key, quoted=quoted)}: [{flow(item, quoted=quoted)}]")
    for name, value in reversed(node.pairs):
        indentation = indentation_of(source.text, name.start)
        end = end_of(source.text, name, value, len(indentation))
        if end < len(source.text) or not _ends_in_block(value):
            break
    else:
        return None
    lines = _item_lines(source, node, indentation, item, end)
    newline = newline_of(source, max(end - 1, 0))
    return line_edit(source, end, f"{indentation}{_name(key, quoted=has_quoted_keys(node))}:{newline}{lines}")


def _ends_in_block(value: yaml.Node) -> bool:
    """Whether the last thing in a value is a block of text: a line end after it would be a part of it."""
    while isinstance(value, yaml.MappingNode | yaml.SequenceNode):
        parts = [inner for _, inner in value.pairs] if isinstance(value, yaml.MappingNode) else value.items
        if value.flow or not parts:
            return False
        value = parts[-1]
    return isinstance(value, yaml.Scalar) and value.style in ("|", ">")


def _added_to(source: Source, value: yaml.SequenceNode, item: tuple[Entry, ...], *, quoted: bool) -> Edit | None:
    """An item after the last one of a list."""
    if value.flow:
        if not value.items:
            at = value.start + 1
            return Edit(source.path, at, at, flow(item, quoted=quoted))
        last = value.items[-1]
        return _separated(source, last.start, end_of(source.text, last, last), flow(item, quoted=quoted))
    if not value.items:
        return None
    last = value.items[-1]
    dash = source.text.rfind("-", 0, value.items[0].start)
    indentation = source.text[source.text.rfind("\n", 0, dash) + 1 : dash]
    if indentation.strip(" \t"):
        return None  # a list in a list
    end = end_of(source.text, last, last, len(indentation) + 2)
    return line_edit(source, end, _lines(item, indentation, newline_of(source, max(end - 1, 0)), 2))


def _behind_last(source: Source, node: yaml.MappingNode, text: str) -> Edit:
    """A pair after the last one of a mapping in flow style."""
    key, value = node.pairs[-1]
    return _separated(source, key.start, end_of(source.text, key, value), text)


def _separated(source: Source, start: int, end: int, text: str) -> Edit:
    """A text after a comma, on a line of its own if the item before it has one."""
    line = source.text.rfind("\n", 0, start) + 1
    if line and not source.text[line:start].strip():
        return Edit(source.path, end, end, f",{newline_of(source, start)}{source.text[line:start]}{text}")
    return Edit(source.path, end, end, f", {text}")


def added_pair(holder: Written, entry: Entry) -> Edit | None:
    """A pair more in a mapping."""
    node, source = holder.node, holder.source
    if not isinstance(node, yaml.MappingNode) or not node.pairs:
        return None
    quoted = has_quoted_keys(node)
    if node.flow:
        return _behind_last(source, node, _pair(entry, quoted=quoted))
    key, value = node.pairs[-1]
    indentation = indentation_of(source.text, key.start)
    return line_edit(source, end_of(source.text, key, value, len(indentation)), f"{indentation}{_pair(entry)}")


def _item_lines(source: Source, node: yaml.MappingNode, indentation: str, item: tuple[Entry, ...], end: int) -> str:
    """The lines of a list's only item, its dash set in as those of other lists of the file are."""
    margin = _margin(source, node)
    return _lines(item, indentation + " " * margin, newline_of(source, max(end - 1, 0)), 2)


def _margin(source: Source, node: yaml.MappingNode) -> int:
    """How far the dashes of lists are set in against their key: as in this mapping, or in the list it is in."""
    for _, value in node.pairs:
        found = _margin_of(source, node, value)
        if found is not None:
            return found
    # A list above: the one whose item this mapping is in.
    return _margins(source.text)[source.position(node.start).line - 1]


@lru_cache(maxsize=4)
def _margins(text: str) -> list[int]:
    """For each line, how far the dashes of the list that is nearest above it, or in it, are set in."""
    found: list[int] = []
    margin = 0
    keys: list[int] = []
    """The columns of the keys above: of those that stand further to the right than a later one, no list is."""
    for line in text.split("\n"):
        stripped = line.lstrip(" ")
        column = len(line) - len(stripped)
        if stripped.startswith("- "):
            at = bisect_right(keys, column) - 1
            if at >= 0 and column - keys[at] <= 4:
                margin = column - keys[at]
        elif stripped.rstrip().endswith(":") and not stripped.startswith("#"):
            del keys[bisect_left(keys, column) :]
            keys.append(column)
        found.append(margin)
    return found


def _margin_of(source: Source, node: yaml.MappingNode, value: yaml.Node) -> int | None:
    if not isinstance(value, yaml.SequenceNode) or value.flow or not value.items or node.flow:
        return None
    dash = source.text.rfind("-", 0, value.items[0].start)
    column = len(indentation_of(source.text, node.pairs[0][0].start))
    given = dash - (source.text.rfind("\n", 0, dash) + 1) - column
    return given if 0 <= given <= 4 else None


def _lines(item: tuple[Entry, ...], indentation: str, newline: str, step: int) -> str:
    """An item of a list as lines."""
    lines = [line for entry in item for line in _block(entry, step)]
    first, *rest = lines
    return newline.join([f"{indentation}- {first}", *(f"{indentation}  {line}" for line in rest)])


def _block(entry: Entry, step: int) -> Iterator[str]:
    if isinstance(entry.value, str):
        yield f"{entry.key}: {entry.value}"
        return
    yield f"{entry.key}:"
    for inner in entry.value:
        yield from (" " * step + line for line in _block(inner, step))


def flow(entries: tuple[Entry, ...], *, quoted: bool) -> str:
    return "{" + ", ".join(_pair(entry, quoted=quoted) for entry in entries) + "}"


def _pair(entry: Entry, *, quoted: bool = False) -> str:
    value = flow(entry.value, quoted=quoted) if isinstance(entry.value, tuple) else _name(entry.value, quoted=quoted)
    return f"{_name(entry.key, quoted=quoted)}: {value}"


def _name(text: str, *, quoted: bool) -> str:
    return f'"{text}"' if quoted else text


def has_quoted_keys(node: yaml.Node) -> bool:
    """Whether every key of a mapping has double quotes, as in JSON."""
    return isinstance(node, yaml.MappingNode) and bool(node.pairs) and all(
        isinstance(key, yaml.Scalar) and key.style == '"' for key, _ in node.pairs
    )


