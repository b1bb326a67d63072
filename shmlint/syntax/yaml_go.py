"""The YAML that Go programs read, where it differs from that of ruamel.yaml: its scanner and parser, changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.parser import Parser, ParserError
from ruamel.yaml.scanner import Scanner, ScannerError

_ANCHOR_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_BEHIND_ANCHOR = frozenset("\0 \t\r\n\x85\u2028\u2029?:,]}%@`")


Kind = Literal[
    "no-key", "colon", "item", "question-mark", "directive", "name", "tag", "header", "blank-line", "open-quote",
    "escape", "flow-colon", "mapping", "list", "open-mapping", "open-list", "behind-end", "no-value", "character",
]  # fmt: skip
"""What a text that is not YAML is refused for. ``character``: one that nothing begins with, a tab for example."""


class Refused(MarkedYAMLError):
    """A text is not YAML: what it is refused for, where that is noticed, and where the part with it starts."""

    def __init__(self, kind: Kind, at: int, start: int | None = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.at = at
        self.start = at if start is None else start


def _refuses(base: type, name: str, kind: Kind) -> Callable[..., Any]:
    """A method of ruamel.yaml whose errors are all of one kind, but for those of the methods that it calls."""
    method = getattr(base, name)

    def call(*args: Any, **named: Any) -> Any:
        try:
            return method(*args, **named)
        except Refused:
            raise
        except MarkedYAMLError as error:
            raise refused(kind, error) from None

    return call


def refused(kind: Kind, error: MarkedYAMLError) -> Refused:
    """An error of ruamel.yaml with its kind."""
    mark, opening = error.problem_mark, error.context_mark
    at = mark.index if mark is not None else opening.index if opening is not None else 0
    return Refused(kind, at, opening.index if opening is not None else None)


class GoScanner(Scanner):
    """A scanner that differs from go-yaml's no more than is known.

    Tabs are blanks anywhere but in an indentation; the name of an anchor ends before a colon, so
    that ``*name: value`` has an alias as its key; a comment may touch the header of a block scalar;
    a single quote may be escaped.
    """

    ESCAPE_REPLACEMENTS = Scanner.ESCAPE_REPLACEMENTS | {"'": "'"}

    def stale_possible_simple_keys(self) -> None:
        try:
            super().stale_possible_simple_keys()
        except ScannerError as error:
            raise Refused("no-key", error.context_mark.index) from None

    def remove_possible_simple_key(self) -> None:
        try:
            super().remove_possible_simple_key()
        except ScannerError as error:
            raise Refused("no-key", error.context_mark.index) from None

    def scan_to_next_token(self) -> Any:
        super().scan_to_next_token()
        while self.reader.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
            self.reader.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: Any, start_mark: Any) -> Any:
        length = 0
        while self.reader.peek(length) in (" ", "\t"):
            length += 1
        blanks = self.reader.prefix(length)
        if "\t" not in blanks:
            return super().scan_plain_spaces(indent, start_mark)
        self.reader.forward(length)
        if self.reader.peek() in "\0\r\n":
            return super().scan_plain_spaces(indent, start_mark)
        return [blanks]

    def scan_anchor(self, token: Any) -> Any:
        start = self.reader.get_mark()
        self.reader.forward()
        length = 0
        while self.reader.peek(length) in _ANCHOR_NAME:
            length += 1
        name = self.reader.prefix(length)
        self.reader.forward(length)
        if not name or self.reader.peek() not in _BEHIND_ANCHOR:
            raise Refused("name", start.index)
        return token(name, start, self.reader.get_mark())

    def scan_block_scalar_indicators(self, start_mark: Any) -> Any:
        length = 0
        while self.reader.peek(length) in "+-0123456789":
            length += 1
        if self.reader.peek(length) != "#":
            return super().scan_block_scalar_indicators(start_mark)
        header = self.reader.prefix(length)
        signs, digits = header.strip("0123456789"), header.strip("+-")
        if len(signs) > 1 or len(digits) > 1 or digits == "0":
            raise Refused("header", self.reader.get_mark().index)
        self.reader.forward(length)
        return {"": None, "+": True, "-": False}[signs], int(digits) if digits else None


    fetch_more_tokens = _refuses(Scanner, "fetch_more_tokens", "character")
    fetch_value = _refuses(Scanner, "fetch_value", "colon")
    fetch_block_entry = _refuses(Scanner, "fetch_block_entry", "item")
    fetch_key = _refuses(Scanner, "fetch_key", "question-mark")
    scan_directive = _refuses(Scanner, "scan_directive", "directive")
    scan_tag = _refuses(Scanner, "scan_tag", "tag")
    scan_block_scalar = _refuses(Scanner, "scan_block_scalar", "header")
    scan_block_scalar_indentation = _refuses(Scanner, "scan_block_scalar_indentation", "blank-line")
    scan_flow_scalar_spaces = _refuses(Scanner, "scan_flow_scalar_spaces", "open-quote")
    scan_flow_scalar_breaks = _refuses(Scanner, "scan_flow_scalar_breaks", "open-quote")
    scan_flow_scalar_non_spaces = _refuses(Scanner, "scan_flow_scalar_non_spaces", "escape")
    scan_plain = _refuses(Scanner, "scan_plain", "flow-colon")


class GoParser(Parser):
    """A parser that takes any number of ``...`` after a document, and then wants a ``---`` as go-yaml does."""

    def parse_document_end(self) -> Any:
        try:
            event = super().parse_document_end()
        except ParserError as error:
            raise refused("behind-end", error) from None
        self.state = self.parse_document_start
        return event

    parse_document_start = _refuses(Parser, "parse_document_start", "behind-end")
    process_directives = _refuses(Parser, "process_directives", "directive")
    parse_node = _refuses(Parser, "parse_node", "no-value")
    parse_block_mapping_key = _refuses(Parser, "parse_block_mapping_key", "mapping")
    parse_block_sequence_entry = _refuses(Parser, "parse_block_sequence_entry", "list")
    parse_flow_mapping_key = _refuses(Parser, "parse_flow_mapping_key", "open-mapping")
    parse_flow_sequence_entry = _refuses(Parser, "parse_flow_sequence_entry", "open-list")
