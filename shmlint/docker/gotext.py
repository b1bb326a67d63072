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
    lines = _lines(text)
    at = 0
    while at < len(lines) and lines[at] == "\n":
        at += 1
    if at == len(lines):
        raise CSVError("EOF")
    fields: list[str] = []
    line, column = lines[at], 1
    while True:
        if not line.startswith('"'):
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
            continue
        line, column = line[1:], column + 1
        field = ""
        while True:
            inside, quote, rest = line.partition('"')
            field += inside
            if not quote:
                at += 1
                if at == len(lines):
                    where = column + len(line)
                    raise CSVError(
                        f'parse error on line {at}, column {where}: extraneous or missing " in quoted-field'
                    )
                line, column = lines[at], 1
                continue
            column += len(inside) + 1
            line = rest
            if line.startswith('"'):
                field += '"'
                line, column = line[1:], column + 1
                continue
            fields.append(field)
            if line.startswith(","):
                line, column = line[1:], column + 1
                break
            if line in ("", "\n"):
                return fields
            raise CSVError(
                f'parse error on line {at + 1}, column {column - 1}: extraneous or missing " in quoted-field'
            )


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
