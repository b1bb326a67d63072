"""The YAML that Go programs read, where it differs from that of ruamel.yaml: its scanner and parser, changed."""

from __future__ import annotations

from typing import Any

from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.parser import Parser
from ruamel.yaml.scanner import Scanner, ScannerError

_ANCHOR_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_BEHIND_ANCHOR = frozenset("\0 \t\r\n\x85\u2028\u2029?:,]}%@`")


class NoKey(ScannerError):
    """A line that is neither a key nor the text of one; it is noticed at a later one."""


class GoScanner(Scanner):
    """A scanner that differs from go-yaml's no more than is known.

    Tabs are blanks anywhere but in an indentation; the name of an anchor ends before a colon, so
    that ``*name: value`` has an alias as its key; a comment may touch the header of a block scalar.
    """

    def stale_possible_simple_keys(self) -> None:
        try:
            super().stale_possible_simple_keys()
        except ScannerError as error:
            raise NoKey(error.context, error.context_mark, error.problem, error.context_mark) from None

    def remove_possible_simple_key(self) -> None:
        try:
            super().remove_possible_simple_key()
        except ScannerError as error:
            raise NoKey(error.context, error.context_mark, error.problem, error.context_mark) from None

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
            problem = f"expected alphabetic or numeric character, but found {self.reader.peek()!r}"
            raise ScannerError("while scanning an anchor or alias", start, problem, self.reader.get_mark())
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
            problem = f"expected chomping or indentation indicators, but found {header!r}"
            raise MarkedYAMLError("while scanning a block scalar", start_mark, problem, self.reader.get_mark())
        self.reader.forward(length)
        return {"": None, "+": True, "-": False}[signs], int(digits) if digits else None


class GoParser(Parser):
    """A parser that takes any number of ``...`` after a document, and then wants a ``---`` as go-yaml does."""

    def parse_document_end(self) -> Any:
        event = super().parse_document_end()
        self.state = self.parse_document_start
        return event
