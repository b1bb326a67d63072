"""The text of a YAML scalar, each character with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shmlint.model.source import Source, Span
from shmlint.syntax.shell_text import Builder, ShellText
from shmlint.syntax.yaml import Scalar


def scalar_text(node: Scalar, source: Source) -> ShellText:
    """The text of a YAML scalar, each character with its place in the file."""
    builder = Builder(source)
    if node.style in ("|", ">"):
        _block(builder, node, source)
    elif node.style == '"':
        _double_quoted(builder, source, node.start + 1, node.end - 1)
    elif node.style == "'":
        _single_quoted(builder, source, node.start + 1, node.end - 1)
    else:
        _plain(builder, source, node.start, node.end)
    return builder.build(Span(source, node.start, node.end))


def _block(builder: Builder, node: Scalar, source: Source) -> None:
    """A literal or folded block, its indentation left out; folding joins lines by a blank."""
    text = source.text
    header_end = text.find("\n", node.start, node.end)
    if header_end < 0:
        return
    lines: list[tuple[int, int]] = []
    at = header_end + 1
    while at < node.end:
        newline = text.find("\n", at, node.end)
        end = newline if newline >= 0 else node.end
        lines.append((at, end - 1 if end > at and text[end - 1] == "\r" else end))
        at = end + 1
    first = next((text[start:end] for start, end in lines if text[start:end].strip()), None)
    if first is None:
        return
    # An indentation indicator leaves some of the blanks before the first line to the text.
    value = next((line for line in node.value.split("\n") if line.strip()), "")
    indentation = (len(first) - len(first.lstrip(" "))) - (len(value) - len(value.lstrip(" ")))
    breaks: list[int] = []  # the line ends since the last line with anything on it
    before = ""
    for start, end in lines:
        begin = min(start + indentation, end)
        here = text[begin:end]
        if here:
            _break(builder, breaks, node.style == ">" and bool(before), before[:1], here[0])
            builder.take(begin, end)
            before, breaks = here, []
        if end < node.end:
            breaks.append(end)
    _break(builder, breaks, False, "", "")


def _break(builder: Builder, breaks: Sequence[int], folds: bool, before: str, behind: str) -> None:
    """The line ends between two lines that start with certain characters."""
    if folds and before not in (" ", "\t") and behind not in (" ", "\t"):
        if len(breaks) == 1:
            builder.put(" ", breaks[0])
            return
        breaks = breaks[1:]
    for at in breaks:
        builder.put("\n", at)


_FOLD = r"(?:(?<![ \t])|(?<=\\[ \t]))[ \t]*+(?:\r?\n[ \t]*+)++"
"""A line break in a flow scalar, with the blanks around it: from the first of them on, or from an escaped one."""


def _fold(builder: Builder, found: str, at: int) -> None:
    """One line break is a blank; of several, each but the first is one."""
    count = found.count("\n")
    builder.put(" " if count == 1 else "\n" * (count - 1), at)


def _plain(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(_FOLD, source.text[start:end]):
        builder.take(at, start + match.start())
        _fold(builder, match[0], start + match.start())
        at = start + match.end()
    builder.take(at, end)


def _single_quoted(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(rf"''|{_FOLD}", source.text[start:end]):
        builder.take(at, start + match.start())
        if match[0] == "''":
            builder.put("'", start + match.start() + 1)
        else:
            _fold(builder, match[0], start + match.start())
        at = start + match.end()
    builder.take(at, end)


_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip

_ESCAPE = r"\\(?:\r?\n[ \t]*(?:\r?\n[ \t]*)*|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)"


def _double_quoted(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(f"{_ESCAPE}|{_FOLD}", source.text[start:end]):
        found, place = match[0], start + match.start()
        builder.take(at, place)
        if not found.startswith("\\"):
            _fold(builder, found, place)
        elif found[1] in "\r\n":
            builder.put("\n" * (found.count("\n") - 1), place + 1)
        elif len(found) > 2:
            builder.put(chr(int(found[2:], 16)), place + 1)
        else:
            builder.put(_ESCAPES.get(found[1], found[1]), place + 1)
        at = start + match.end()
    builder.take(at, end)
