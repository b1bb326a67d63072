"""Makefiles and justfiles: their recipes are shell, their variables are text put into it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shmlint.formats import Reading
from shmlint.formats.shell import mentions_engine
from shmlint.settings import Settings
from shmlint.shell.commands import commands
from shmlint.shell.run import launches
from shmlint.shell.text import Builder, ShellText
from shmlint.source import Problem, Source, Span
from shmlint.workspace import Unreadable, Workspace

_DEPTH = 8
"""Variables inside variables are followed this deep."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of recipes."""
    reading = Reading()
    for path in paths:
        try:
            source = workspace.source(path)
        except Unreadable as error:
            reading.problems.append(Problem(Span(error.source, error.offset, error.offset), error.message))
            continue
        if not mentions_engine(source.text):
            continue
        just = os.path.basename(path).lower().lstrip(".") == "justfile" or path.endswith(".just")
        for text in _just(source) if just else _make(source):
            if mentions_engine(text.text):
                reading.launches += launches(list(commands(text)))
    return reading


class _Variable(NamedTuple):
    """A make variable: where its value stands; ``sure`` where it is set once, outside of conditions."""

    start: int
    end: int
    sure: bool


class _Line(NamedTuple):
    """A logical line: physical ones joined by backslashes. Offsets without the last line ending."""

    start: int
    end: int


def _lines(source: Source) -> Iterator[_Line]:
    starts = source.line_starts
    start: int | None = None
    for number in range(1, len(starts) + 1):
        begin, end = source.line_span(number)
        if start is None:
            start = begin
        if end > begin and source.text[end - 1] == "\\" and number < len(starts):
            continue
        yield _Line(start, end)
        start = None


_ASSIGNMENT = re.compile(r"(?:override\s+|export\s+)*([\w.-]+)\s*(\?=|:{1,3}=|\+=|!=|=)[ \t]*")
_CONDITION = re.compile(r"\s*(ifeq|ifneq|ifdef|ifndef|else|endif)\b")


def _make(source: Source) -> Iterator[ShellText]:
    variables: dict[str, _Variable] = {}
    recipes: list[_Line] = []
    depth = 0
    defining = False
    for line in _lines(source):
        text = source.text[line.start : line.end]
        if defining:
            defining = not text.strip().startswith("endef")
            continue
        condition = _CONDITION.match(text)
        if condition is not None:
            depth += {"else": 0, "endif": -1}.get(condition[1], 1)
            continue
        if text.startswith("\t"):
            recipes.append(line)
            continue
        if text.startswith("define "):
            defining = True
            continue
        match = _ASSIGNMENT.match(text.lstrip())
        if match is not None:
            shift = len(text) - len(text.lstrip())
            name, operator = match[1], match[2]
            sure = depth == 0 and operator in ("=", ":=", "::=", "?=") and name not in variables
            comment = text.find(" #", shift + match.end())
            end = line.end if comment < 0 else line.start + comment
            variables[name] = _Variable(line.start + shift + match.end(), end, sure)
        elif ";" in text and ":" in text.partition(";")[0]:  # target: ; command
            recipes.append(_Line(line.start + text.index(";") + 1, line.end))
    for line in recipes:
        builder = Builder(source)
        start = line.start
        while start < line.end and source.text[start] in "\t @-+":
            start += 1
        _expand(builder, source, start, line.end, variables, 0)
        yield builder.build(Span(source, start, line.end))


def _expand(
    builder: Builder, source: Source, start: int, end: int, variables: dict[str, _Variable], depth: int
) -> None:
    """Put text of a recipe or a value into a shell text, make's variables replaced by their values."""
    text = source.text
    at = start
    while at < end:
        dollar = text.find("$", at, end)
        if dollar < 0 or dollar + 1 >= end:
            builder.take(at, end)
            return
        builder.take(at, dollar)
        following = text[dollar + 1]
        if following == "$":
            builder.take(dollar, dollar + 1)
            at = dollar + 2
        elif following in "({":
            close = _closing(text, dollar + 1, end)
            name = text[dollar + 2 : close]
            variable = variables.get(name)
            if variable is not None and variable.sure and depth < _DEPTH:
                _expand(builder, source, variable.start, variable.end, variables, depth + 1)
            else:
                # `${NAME}`: a variable no shell text sets, or the result of one of make's functions
                plain = re.sub(r"\W", "_", name) or "_"
                builder.put(f"${{{plain if not plain[0].isdigit() else '_' + plain}}}")
            at = close + 1
        else:  # $@ $< $^ …: make's own
            builder.put("${_target}")
            at = dollar + 2


def _closing(text: str, opening: int, end: int) -> int:
    """The offset of the bracket that closes the one at ``opening``; the end where none does."""
    pairs = {"(": ")", "{": "}"}
    open_, close = text[opening], pairs[text[opening]]
    depth = 0
    for at in range(opening, end):
        if text[at] == open_:
            depth += 1
        elif text[at] == close:
            depth -= 1
            if depth == 0:
                return at
    return end


_JUST_VARIABLE = re.compile(r"([A-Za-z_][\w-]*)\s*:=\s*(['\"])(.*?)\2\s*(?:#.*)?$")


def _just(source: Source) -> Iterator[ShellText]:
    """Recipes of a justfile: the indented lines below a header; one text a recipe."""
    variables: dict[str, _Variable] = {}
    body: list[_Line] = []
    bodies: list[list[_Line]] = []
    for line in _lines(source):
        text = source.text[line.start : line.end]
        if text[:1] in (" ", "\t"):
            if text.strip():
                body.append(line)
            continue
        if not text.strip():
            continue
        if body:
            bodies.append(body)
            body = []
        match = _JUST_VARIABLE.match(text)
        if match is not None:
            start = line.start + match.start(3)
            variables[match[1]] = _Variable(start, start + len(match[3]), match[1] not in variables)
    if body:
        bodies.append(body)
    for lines in bodies:
        builder = Builder(source)
        for line in lines:
            start = line.start
            while start < line.end and source.text[start] in " \t@-":
                start += 1
            _expand_just(builder, source, start, line.end, variables)
            builder.put("\n")
        yield builder.build(Span(source, lines[0].start, lines[-1].end))


def _expand_just(
    builder: Builder, source: Source, start: int, end: int, variables: dict[str, _Variable]
) -> None:
    at = start
    while at < end:
        opening = source.text.find("{{", at, end)
        closing = source.text.find("}}", opening, end) if opening >= 0 else -1
        if closing < 0:
            builder.take(at, end)
            return
        builder.take(at, opening)
        name = source.text[opening + 2 : closing].strip()
        variable = variables.get(name)
        if variable is not None and variable.sure:
            builder.take(variable.start, variable.end)
        else:
            builder.put("${" + (re.sub(r"\W", "_", name).lstrip("0123456789") or "_") + "}")
        at = closing + 2
