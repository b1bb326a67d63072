"""JSON with comments and trailing commas, with a place for everything.

tree-sitter-json is used because it keeps the position of every node, comments included, and reads
on behind a slip, as editors do; the parsers that allow comments (json5, pyjson5, commentjson)
give values without places.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shmlint.source import Problem, Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


class Json:
    """A value and its place. ``kind`` is ``object``, ``array``, ``string``, ``number``, ``true``,
    ``false`` or ``null``. ``offsets`` has the place of each character of a string's ``text``."""

    __slots__ = ("end", "entries", "items", "kind", "offsets", "source", "start", "text")

    def __init__(self, source: Source, kind: str, start: int, end: int) -> None:
        self.source = source
        self.kind = kind
        self.start = start
        self.end = end
        self.text = ""
        self.offsets: list[int] = []
        self.entries: dict[str, tuple[Json, Json]] = {}
        self.items: list[Json] = []

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
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_json

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_json.language()))


def character_offsets(text: str) -> list[int] | None:
    """For each byte of a text's UTF-8 form the character it belongs to; None where they are the same."""
    if text.isascii():
        return None
    offsets: list[int] = []
    for i, char in enumerate(text):
        code = ord(char)
        offsets += [i] * (1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4)
    offsets.append(len(text))
    return offsets


def parse(source: Source) -> tuple[Json | None, list[Problem]]:
    """The value of a text, None where there is none, and what is wrong with its syntax."""
    text = source.text
    data = text.encode("utf-8", "surrogatepass")
    offsets = character_offsets(text)
    root = _parser().parse(data).root_node

    def char(byte: int) -> int:
        return byte if offsets is None else offsets[byte]

    problems = []
    for node in _errors(root):
        written = text[char(node.start_byte) : char(node.end_byte)].strip("\ufeff \t\r\n")
        if written not in ("", ","):  # a trailing comma is allowed
            place = Span(source, char(node.start_byte), char(node.end_byte))
            problems.append(Problem(place, "not valid JSON here"))
            break
    values = [child for child in root.named_children if child.type not in ("comment", "ERROR") and not child.is_missing]
    if not values:
        if not problems:
            problems.append(Problem(Span(source, 0, 0), "not JSON: it is empty"))
        return None, problems
    return _value(values[0], source, char), problems


def _errors(root: Node) -> Iterator[Node]:
    if not root.has_error:
        return
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error:
            yield node
        stack += [child for child in reversed(node.children) if child.has_error or child.is_error]


def _value(root: Node, source: Source, char: object) -> Json:
    """The value of a node, without recursion."""
    place = char if callable(char) else int

    def make(node: Node) -> Json:
        return Json(source, node.type, place(node.start_byte), place(node.end_byte))

    top = make(root)
    stack = [(root, top)]
    while stack:
        node, value = stack.pop()
        if node.type == "string":
            _decode(value)
        elif node.type == "array":
            for child in node.named_children:
                if child.type not in ("comment", "ERROR") and not child.is_missing:
                    item = make(child)
                    value.items.append(item)
                    stack.append((child, item))
        elif node.type == "object":
            for pair in node.named_children:
                key, held = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                if pair.type == "pair" and key is not None and held is not None:
                    name, item = make(key), make(held)
                    _decode(name)
                    value.entries[name.text] = (name, item)
                    stack.append((held, item))
    return top


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _decode(value: Json) -> None:
    """The text of a string, and the place of each of its characters."""
    raw = value.source.text[value.start + 1 : value.end - 1]
    chars = []
    at = 0
    while at < len(raw):
        place = value.start + 1 + at
        if raw[at] != "\\" or at + 1 >= len(raw):
            chars.append(raw[at])
            at += 1
        elif raw[at + 1] == "u":
            try:
                chars.append(chr(int(raw[at + 2 : at + 6], 16)))
            except ValueError:
                chars.append("\ufffd")
            at += 6
        else:
            chars.append(_ESCAPES.get(raw[at + 1], raw[at + 1]))
            at += 2
        value.offsets.append(place)
    value.text = "".join(chars)
