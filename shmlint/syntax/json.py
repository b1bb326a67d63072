"""JSON with comments and trailing commas, with a place for everything.

tree-sitter-json is used because it keeps the position of every node, comments included, and reads
on after a slip, as editors do; the parsers that allow comments (json5, pyjson5, commentjson)
give values without places.
"""

from __future__ import annotations

import re
from _thread import get_ident
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from shmlint.model.source import Problem, Source, Span, character_offsets
from shmlint.syntax.grammar import new_parser

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


class Json:
    """A value and its place. ``kind`` is ``object``, ``array``, ``string``, ``number``, ``true``,
    ``false`` or ``null``.

    What is in it is read when it is asked for: most of a file is about other things than the container.
    """

    __slots__ = ("_characters", "_entries", "_items", "_node", "_string", "end", "kind", "source", "start")

    def __init__(self, source: Source, node: Node, characters: Sequence[int] | None) -> None:
        start, end = node.start_byte, node.end_byte
        self.source = source
        self.kind = node.type
        self.start = start if characters is None else characters[start]
        self.end = end if characters is None else characters[end]
        self._node = node
        self._characters = characters
        self._string: tuple[str, Sequence[int]] | None = None
        self._entries: dict[str, tuple[Json, Json]] | None = None
        self._items: list[Json] | None = None

    @property
    def text(self) -> str:
        """The text of a string or key; empty for all else."""
        return self._decoded()[0]

    @property
    def offsets(self) -> Sequence[int]:
        """The place of each character of the text."""
        return self._decoded()[1]

    def _decoded(self) -> tuple[str, Sequence[int]]:
        if self._string is None:
            is_string = self.kind == "string"
            self._string = _decode(self.source.text, self.start + 1, self.end - 1) if is_string else ("", ())
        return self._string

    @property
    def items(self) -> list[Json]:
        """The values of an array; none of all else."""
        if self._items is None:
            nodes = self._node.named_children if self.kind == "array" else ()
            values = (node for node in nodes if node.type not in ("comment", "ERROR") and not node.is_missing)
            self._items = [Json(self.source, node, self._characters) for node in values]
        return self._items

    @property
    def entries(self) -> dict[str, tuple[Json, Json]]:
        """The keys and values of an object, by the text of the key; none of all else."""
        if self._entries is None:
            self._entries = {}
            for pair in self._node.named_children if self.kind == "object" else ():
                if pair.type != "pair":
                    continue
                key, held = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                if key is not None and held is not None and not held.is_missing:
                    name = Json(self.source, key, self._characters)
                    name._string = _decode(self.source.text, name.start + 1, name.end - 1)
                    self._entries[name.text] = name, Json(self.source, held, self._characters)
        return self._entries

    @property
    def span(self) -> Span:
        return Span(self.source, self.start, self.end)

    @property
    def inside(self) -> Span:
        """A string's place without its quotation marks."""
        return Span(self.source, self.start + 1, self.end - 1)

    def get(self, *path: str) -> Json | None:
        """The value under a path of keys; None where there is none, or null."""
        here: Json = self
        for key in path:
            found = here.entries.get(key)
            if found is None:
                return None
            here = found[1]
        return None if here.kind == "null" else here

    def string(self, *path: str) -> Json | None:
        """The text under a path of keys; None where there is none."""
        found = self.get(*path)
        return found if found is not None and found.kind == "string" else None


@cache
def _parser(thread: int) -> Parser:
    """A parser of the thread's own."""
    return new_parser("tree_sitter_json")


def parse(source: Source) -> tuple[Json | None, list[Problem]]:
    """The value of a text, None where there is none, and what is wrong with its syntax."""
    values, problems = parse_all(source)
    if len(values) > 1 and not problems:
        problems = [Problem(values[1].span, "not valid JSON here", "syntax")]
    return values[0] if values else None, problems


def parse_all(source: Source) -> tuple[list[Json], list[Problem]]:
    """The values of a text, one after the other, and what is wrong with its syntax; none without that."""
    text = source.text
    data = text.encode("utf-8", "surrogatepass")
    offsets = character_offsets(text)
    root = _parser(get_ident()).parse(data).root_node

    def char(byte: int) -> int:
        return byte if offsets is None else offsets[byte]

    problems = []
    values = [child for child in root.named_children if child.type not in ("comment", "ERROR") and not child.is_missing]
    wrong = _first_error(root, text, char)
    if wrong is not None:
        problems.append(_problem(source, wrong, char))
    if not values and not problems:
        problems.append(Problem(Span(source, 0, 0), "not JSON: it is empty", "syntax"))
    return [Json(source, value, offsets) for value in values], problems


def _problem(source: Source, wrong: Node, char: Callable[[int], int]) -> Problem:
    """What is wrong, and where: the parser skips what is before a missing comma, and that is right."""
    said = "not valid JSON here"
    if wrong.is_missing and not wrong.is_named:
        said = f"not valid JSON: `{wrong.type}` is missing here"
    _, after = _neighbours(wrong)
    if after is not None and _ends_with_item(wrong, after):
        wrong, said = after, "not valid JSON: `,` is missing before this"
    return Problem(Span(source, char(wrong.start_byte), char(wrong.end_byte)), said, "syntax")


def _ends_with_item(skipped: Node, after: Node) -> bool:
    """Whether the end of what was skipped and what is after it are two items of one object or array."""
    last, parent = skipped.children[-1] if skipped.children else None, skipped.parent
    if last is None or parent is None or last.has_error or after.has_error:
        return False
    if parent.type == "object":
        return last.type == after.type == "pair"
    return parent.type == "array" and last.is_named and after.is_named


def _first_error(root: Node, text: str, char: Callable[[int], int]) -> Node | None:
    """The first place where the syntax is wrong; a trailing comma and a byte order mark are allowed."""
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        empty = node.start_byte == node.end_byte
        if empty and node.is_named and _behind_comma(node):
            continue  # a value that is not there: one way to see a trailing comma
        if node.is_missing:
            return node
        if node.is_error:
            written = text[char(node.start_byte) : char(node.end_byte)].strip("\ufeff \t\r\n")
            if written and not (written == "," and _trails(node)):
                return node
            continue
        stack += [child for child in reversed(node.children) if child.has_error or child.is_error or child.is_missing]
    return None


def _behind_comma(node: Node) -> bool:
    """Whether a node is after a trailing comma."""
    before, after = _neighbours(node)
    if before is None or before.type != "," or after is None or after.type not in "]}":
        return False
    value, _ = _neighbours(before)
    return value is not None and value.is_named and not value.is_error


def _trails(comma: Node) -> bool:
    """Whether a comma is after a value and before the closing bracket."""
    before, after = _neighbours(comma)
    return before is not None and before.is_named and not before.is_error and after is not None and after.type in "]}"


def _neighbours(node: Node) -> tuple[Node | None, Node | None]:
    """What is before a node and after it, comments left out."""
    before, after = node.prev_sibling, node.next_sibling
    while before is not None and before.type == "comment":
        before = before.prev_sibling
    while after is not None and after.type == "comment":
        after = after.next_sibling
    return before, after


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.S)
_LONE = "\ufffd"
"""Stands for half of a surrogate pair, which is not a character."""


def _decode(text: str, start: int, end: int) -> tuple[str, Sequence[int]]:
    """What is written between two quotation marks, and the place of each of its characters."""
    raw = text[start:end]
    if "\\" not in raw:
        return raw, range(start, end)
    chars: list[str] = []
    offsets: list[int] = []
    at = 0
    while at < len(raw):
        escape = _ESCAPE.match(raw, at) if raw[at] == "\\" else None
        offsets.append(start + at)
        if escape is None:
            chars.append(raw[at])
            at += 1
            continue
        at = escape.end()
        if escape[1] is None:
            chars.append(_ESCAPES.get(escape[2], escape[2]))
            continue
        code = int(escape[1], 16)
        if 0xD800 <= code < 0xDC00:
            second = _ESCAPE.match(raw, at)
            low = int(second[1], 16) if second is not None and second[1] else 0
            if second is not None and 0xDC00 <= low < 0xE000:
                at = second.end()
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        chars.append(_LONE if 0xD800 <= code < 0xE000 else chr(code))
    return "".join(chars), offsets
