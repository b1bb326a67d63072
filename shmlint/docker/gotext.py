"""Texts as Go's standard library reads them: a CSV record, a truth value.

The docker client reads the values of ``--gpus`` and ``--mount`` as CSV (docker/cli opts/gpus.go,
opts/mount.go). Python's own reader accepts what Go refuses, such
as a quotation mark in the middle of a field.
"""

from __future__ import annotations


class CSVError(ValueError):
    """The record is not CSV; the message is Go's."""


def read_record(text: str) -> list[str]:
    """The fields of the first record of a text.

    Raises CSVError with Go's message; that of an empty text is ``EOF``.
    """
    if text and '"' not in text and "\n" not in text and "\r" not in text:
        return text.split(",")
    lines = _lines(text)
    at = next((number for number, line in enumerate(lines) if line != "\n"), len(lines))
    if at == len(lines):
        raise CSVError("EOF")
    fields: list[str] = []
    line, column = lines[at], 1
    while True:
        if line.startswith('"'):
            field, line, at, column = _quoted(lines, line[1:], at, column + 1)
            fields.append(field)
            if line in ("", "\n"):
                return fields
            line, column = line[1:], column + 1
            continue
        field, comma, rest = line.partition(",")
        if not comma:
            field = field.removesuffix("\n")
        if '"' in field:
            where = column + field.index('"')
            raise CSVError(f'parse error on line {at + 1}, column {where}: bare " in non-quoted-field')
        fields.append(field)
        if not comma:
            return fields
        line, column = rest, column + len(field) + 1


def _quoted(lines: list[str], line: str, at: int, column: int) -> tuple[str, str, int, int]:
    """A quoted field, and where reading goes on: the rest of the line, its number, the column."""
    wrong = 'extraneous or missing " in quoted-field'
    field = ""
    while True:
        inside, quote, rest = line.partition('"')
        field += inside
        if not quote:
            at += 1
            if at == len(lines):
                raise CSVError(f"parse error on line {at}, column {column + len(line)}: {wrong}")
            line, column = lines[at], 1
            continue
        column += len(inside) + 1
        line = rest
        if line.startswith('"'):
            field += '"'
            line, column = line[1:], column + 1
            continue
        if line.startswith(",") or line in ("", "\n"):
            return field, line, at, column
        raise CSVError(f"parse error on line {at + 1}, column {column - 1}: {wrong}")


def _lines(text: str) -> list[str]:
    """Lines with their end, carriage returns before it dropped as Go drops them."""
    lines = [line.removesuffix("\r") + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    if last:
        lines.append(last)
    return lines


_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))


def go_bool(text: str) -> bool | None:
    """Go's ``strconv.ParseBool``; None where it refuses the text."""
    return True if text in _TRUE else False if text in _FALSE else None
