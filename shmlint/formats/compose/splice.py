"""Edits that put a key and a value into a service, or replace a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shmlint.docker.goyaml import NULLS
from shmlint.docker.sizes import InvalidSize, parse_docker, spell_compose
from shmlint.formats.compose.tree import Entry, Leaf
from shmlint.model.launch import Change
from shmlint.model.source import Edit, Source
from shmlint.syntax.yaml import Alias, MappingNode, Node, Scalar, SequenceNode

if TYPE_CHECKING:
    from shmlint.formats.compose.project import Body

_NEIGHBOURS = ("runtime", "gpus", "image", "build", "extends", "container_name", "<<")
"""The keys a new ``shm_size`` is put after, the best first."""

KEY = "shm_size"

Pair = tuple[str, str, str]
"""A key and its value, as text; the third is the key that the value is under within the first, or empty."""

"""How an empty value is written."""


def change_at(verb: str, source: Source, at: int, here: Source, *edits: Edit) -> Change:
    place = "" if source is here else f" of {source.path}"
    return Change(edits, f"{verb} line {source.position(at).line}{place}")


def change(verb: str, source: Source, edit: Edit, here: Source) -> Change:
    """An edit of a source, and in words in which line of it; its path where that is not ``here``."""
    return change_at(verb, source, edit.start, here, edit)


def replace(entry: Entry, leaf: Leaf, key: str, text: str, here: Source) -> Iterator[Change]:
    """Replace the value that is there."""
    source = leaf.layer.source
    node = leaf.node
    verb = f"change `{key}` to {text} in"
    if leaf.interpolated.used:
        pass  # it would no longer depend on the variable
    elif node.start >= node.end:  # `shm_size:` with nothing after it
        at = end_of(source.text, entry.key, node)
        yield change_at(verb, source, at, here, Edit(source.path, at, at, f" {text}"))
    else:
        quote = node.style if node.style in ("'", '"') else ""
        end = node.start + len(source.text[node.start : node.end].rstrip())
        edit = Edit(source.path, node.start, end, f"{quote}{text}{quote}")
        yield change_at(verb, source, node.start, here, edit)
    if isinstance(entry.node, Alias):  # the anchor's other users may have to keep their value
        alias, source = entry.node, entry.layer.source
        edit = Edit(source.path, alias.start, alias.end, text)
        yield change_at(verb, source, alias.start, here, edit)


def other_default(leaf: Leaf, size: int) -> Edit | None:
    """Another default for the variable that a size comes from: ``${SHM:-1g}``, ``${SHM:-1}g``."""
    found = _default_of(leaf, size)
    if found is None:
        return None
    start, end, text = found
    span = leaf.within(start, end)
    return Edit(span.path, span.start, span.end, text) if span is not None else None


def with_other_default(leaf: Leaf, size: int) -> str:
    """A size that comes from the same variable, with another default; empty where that cannot be written."""
    found = _default_of(leaf, size)
    if found is None or re.fullmatch(_VARIABLE, leaf.written) is None:
        return ""
    start, end, text = found
    return f'"{leaf.written[:start]}{text}{leaf.written[end:]}"'


_VARIABLE = r"\$\{\w+:?-[\w.]+\}\w*"
"""One variable with a default, which means the same between quotation marks."""


def _default_of(leaf: Leaf, size: int) -> tuple[int, int, str] | None:
    """Where a text has the default that a size comes from, and what to write there for another size."""
    if leaf.interpolated.private or not leaf.interpolated.defaults:
        return None
    start, end = leaf.interpolated.defaults[-1]
    if "$" in leaf.written[start:end]:
        return None
    text = spell_compose(size)
    behind = leaf.written[end:].lstrip("}")
    if behind:
        try:
            unit = parse_docker("1" + behind)
        except InvalidSize:
            return None
        if size % unit:
            return None
        text = str(size // unit)
    return start, end, text


def insert(body: Body, pair: Pair, here: Source) -> Iterator[Change]:
    """A new key and value in a place the service is written at."""
    node = body.node
    if isinstance(node, MappingNode):
        yield from _insert_flow(body, node, pair, here) if node.flow else _insert_block(body, node, pair, here)
    elif isinstance(node, Alias) or (isinstance(node, Scalar) and node.value in NULLS and not node.style):
        yield _unfold(body, node, pair, here)


def _insert_block(body: Body, node: MappingNode, pair: Pair, here: Source) -> Iterator[Change]:
    """A line after the best neighbour; where that cannot be, a line above the first key."""
    source = body.layer.source
    key, value = neighbour_of(node)
    indentation = indentation_of(source.text, key.start)
    end = end_of(source.text, key, value, len(indentation))
    line = indentation + _lines(body, node, pair, end - 1)
    verb = f"add `{_shown(pair)}`"
    yield change_at(f"{verb} after", source, max(end - 1, 0), here, line_edit(source, end, line))
    first = node.pairs[0][0].start
    line = f"{_lines(body, node, pair, first)}{newline_of(source, first)}{indentation_of(source.text, first)}"
    yield change_at(f"{verb} in", source, first, here, Edit(source.path, first, first, line))


def _lines(body: Body, node: MappingNode, pair: Pair, at: int) -> str:
    """A key and its value as lines of a block, the first not indented; as those at an offset end."""
    key, text, within = pair
    if not within:
        return _flow(node, pair)
    source = body.layer.source
    indentation = indentation_of(source.text, node.pairs[0][0].start)
    step = indentation.removeprefix(indentation_of(source.text, body.key.start))
    # A service that starts on the line of its key, or above it, shows no step.
    inner = indentation + (step if 0 < len(step) <= 8 else "  ")
    return f"{quoted_like(node, key)}:{newline_of(source, max(at, 0))}{inner}{_flow(node, (within, text, ''))}"


def _flow(node: MappingNode | None, pair: Pair) -> str:
    """A key and its value on one line."""
    key, text, within = pair
    if within:
        return f"{quoted_like(node, key)}: {{{_flow(node, (within, text, ''))}}}"
    number = text.removeprefix("-").isdigit()
    whole = number or text.startswith('"')
    return f"{quoted_like(node, key)}: {text if whole else quoted_like(node, text)}"


def _shown(pair: Pair) -> str:
    return _flow(None, pair)


def neighbour_of(node: MappingNode) -> tuple[Node, Node]:
    by_name = {key.value: (key, value) for key, value in node.pairs if isinstance(key, Scalar)}
    return next((by_name[name] for name in _NEIGHBOURS if name in by_name), node.pairs[0])


def indentation_of(text: str, at: int) -> str:
    """What is before a key on its line, as white space."""
    before = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    return before if before.isspace() else " " * len(before)


def end_of(text: str, key: Node, value: Node, indentation: int = 0) -> int:
    """The offset after the last character of a value. ``indentation`` is that of the key."""
    while not isinstance(value, Alias | Scalar) and not getattr(value, "flow", True):
        if isinstance(value, MappingNode) and value.pairs:
            key, value = value.pairs[-1]
        elif isinstance(value, SequenceNode) and value.items:
            key = value = value.items[-1]
        else:
            break
    if value.start >= value.end and value.anchor is None and value.tag is None:
        # The parser puts an empty value where the next thing starts.
        at = key.end
        while text[at : at + 1] in (" ", "\t"):
            at += 1
        return at + 1 if text[at : at + 1] == ":" else key.end
    end = value.end
    if isinstance(value, Scalar) and value.style in ("|", ">") and "+" not in _header(text, value):
        # Empty lines after a block scalar are no part of it; deeper white space may be.
        while True:
            above = text.rfind("\n", 0, end) + 1
            blank = text[above:end]
            if blank.strip(" \r\n") or len(blank) > indentation or above <= value.start:
                return end
            end = above - 1
            if text[end - 1] == "\r":
                end -= 1
    return end


def _header(text: str, scalar: Scalar) -> str:
    return text[scalar.start : text.find("\n", scalar.start)].partition("#")[0]


def line_edit(source: Source, end: int, line: str) -> Edit:
    """A line of its own after the line that ``end`` is on."""
    text = source.text
    if end and text[end - 1] == "\n":  # a block scalar that keeps the empty lines after it
        at = end
    else:
        newline = text.find("\n", end)
        if newline < 0:
            return Edit(source.path, len(text), len(text), f"{source.newline}{line}")
        at = newline + 1
    return Edit(source.path, at, at, f"{line}{newline_of(source, at - 1)}")


def newline_of(source: Source, at: int) -> str:
    """The line ending of the line an offset is on; the file's own where that has none."""
    end = source.text.find("\n", at)
    if end < 0:
        return source.newline
    return "\r\n" if source.text[max(end - 1, 0)] == "\r" else "\n"


def quoted_like(node: MappingNode | None, text: str) -> str:
    """A text in the quotation marks of the keys of a mapping, where every key has some (JSON style)."""
    mark = quotation_mark(node)
    return f"{mark}{text}{mark}"


def quotation_mark(node: MappingNode | None) -> str:
    """What is around every key of a mapping, that of most of them where they differ; empty where a key has none."""
    styles = [key.style if isinstance(key, Scalar) else None for key, _ in node.pairs] if node is not None else []
    quoted = [style for style in styles if style in ("'", '"')]
    return max(("\"", "'"), key=quoted.count) if quoted and len(quoted) == len(styles) else ""


def _insert_flow(body: Body, node: MappingNode, pair: Pair, here: Source) -> Iterator[Change]:
    source = body.layer.source
    verb = f"add `{_shown(pair)}`"
    new = _flow(node, pair)
    if not node.pairs:
        at = node.start + 1
        yield change_at(f"{verb} in", source, at, here, Edit(source.path, at, at, new))
        return
    key, value = neighbour_of(node)
    end = end_of(source.text, key, value)
    indentation = indentation_of(source.text, key.start)
    if source.text[: key.start].endswith("\n" + indentation):
        # A key that starts a line: the new one gets a line too.
        behind = source.text[end : source.text.find("\n", end)].lstrip(" \t")
        rest = behind[1:].strip()
        if behind.startswith(",") and (not rest or rest.startswith("#")):
            yield change_at(f"{verb} after", source, end, here, line_edit(source, end, f"{indentation}{new},"))
        else:
            line = f"{new},{newline_of(source, key.start)}{indentation}"
            edit = Edit(source.path, key.start, key.start, line)
            yield change_at(f"{verb} in", source, key.start, here, edit)
    else:
        yield change_at(f"{verb} in", source, end, here, Edit(source.path, end, end, f", {new}"))


def _unfold(body: Body, node: Alias | Scalar, pair: Pair, here: Source) -> Change:
    """A service that is an alias or nothing becomes a mapping: ``b: *a`` one that merges ``*a``."""
    source = body.layer.source
    alias = source.text[node.start : node.end] if isinstance(node, Alias) else ""
    end = end_of(source.text, body.key, node)
    start = end if node.start >= node.end else node.start
    new = _flow(None, pair)
    verb = f"add `{new}`"
    if source.text[skip_blanks(source.text, end) :][:1] in (",", "}"):
        merge = f"<<: {alias}, " if alias else ""
        blank = "" if source.text[start - 1].isspace() else " "
        edit = Edit(source.path, start, end, f"{blank}{{{merge}{new}}}")
        return change_at(f"{verb} in", source, start, here, edit)
    outer = indentation_of(source.text, body.key.start)
    # The services are indented by one step from `services:`, which is at the margin.
    inner = outer + (outer if 0 < len(outer) <= 8 else "  ")
    edits = [line_edit(source, end, f"{inner}{new}")]
    if start < end:
        while source.text[start - 1] in " \t":
            start -= 1
        merge = f"{newline_of(source, start)}{inner}<<: {alias}" if alias else ""
        edits.insert(0, Edit(source.path, start, end, merge))
    return change_at(f"{verb} after", source, start, here, *edits)


def skip_blanks(text: str, at: int) -> int:
    """The offset of the next character that is neither white space nor in a comment."""
    while at < len(text):
        if text[at] == "#" and text[at - 1].isspace():
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
        elif not text[at].isspace():
            break
        at += 1
    return at
