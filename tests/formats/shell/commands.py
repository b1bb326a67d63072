"""Reads command lines for the tests of this folder."""

from __future__ import annotations

from typing import Any

from shmlint.formats.shell.run import launches
from shmlint.model.launch import Launch, Value
from shmlint.model.source import Source
from shmlint.syntax.shell import engine_commands
from shmlint.syntax.shell_text import whole

MIB = 1 << 20
GIB = 1 << 30
DEFAULT = 64 * MIB


def read(text: str) -> list[Launch]:
    return launches(list(engine_commands(whole(Source("x.sh", text), 0, len(text)))))


def one(text: str) -> Launch:
    (launch,) = read(text)
    return launch


def known(value: Value[Any] | None) -> Any:
    """What a value is, None where there is none or it is not known."""
    return value.known if value is not None else None


NEEDY = "nvcr.io/nvidia/pytorch:24.01-py3"
