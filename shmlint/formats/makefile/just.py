"""The recipes of justfiles."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from shmlint.formats.makefile.make import Line, Variable, lines_of, put_unknown
from shmlint.formats.makefile.written import Expressions
from shmlint.model.source import Source, Span
from shmlint.syntax.shell_text import Builder, ShellText

_SHELL = re.compile(r"\b(?:ba|da|k|z|a)?sh\b")
JUST_VARIABLE = re.compile(r"([A-Za-z_][\w-]*)\s*:=\s*(['\"])((?:(?!\2).)*)\2\s*(?:#.*)?$")
"""One string; what `+`, `/` or a function makes of several is not known."""
_PARAMETER = re.compile(r"(?<=\s)[*+]?\$?([A-Za-z_][\w-]*)(?=[\s=:])")


def just_recipes(source: Source) -> Iterator[ShellText]:
    """Recipes of a justfile: the indented lines below a header; one text a recipe."""
    variables: dict[str, Variable] = {}
    body: list[Line] = []
    bodies: list[tuple[str, list[Line]]] = []
    header = ""
    for line in lines_of(source):
        text = source.text[line.start : line.end]
        if text[:1] in (" ", "\t"):
            if text.strip():
                body.append(line)
            continue
        if not text.strip():
            continue
        if body:
            bodies.append((header, body))
            body = []
        header = text
        match = JUST_VARIABLE.match(text)
        if match is not None:
            start = line.start + match.start(3)
            variables[match[1]] = Variable(((start, start + len(match[3])),), match[1] not in variables)
    if body:
        bodies.append((header, body))
    expressions = Expressions(source, just=True)
    for header, lines in bodies:
        first = source.text[lines[0].start : lines[0].end].strip()
        if first.startswith("#!") and not _SHELL.search(first):
            continue
        named = re.sub(r"(['\"]).*?\1", "", header).partition(":")[0]
        parameters = set(_PARAMETER.findall(f"{named}:"))
        known = {name: variable for name, variable in variables.items() if name not in parameters}
        builder = Builder(source)
        for line in lines:
            start = line.start
            while start < line.end and source.text[start] in " \t@-":
                start += 1
            _expand_just(builder, source, start, line.end, known)
            builder.put("\n")
        yield builder.build(Span(source, lines[0].start, lines[-1].end))._replace(unset=expressions.because)


_SETTING = re.compile(r"(?m)^set[ \t]+working-directory[ \t]*:=[ \t]*(.*)$")
_ATTRIBUTE = re.compile(r"\[[^\n]*?\bworking-directory[ \t]*[:(][ \t]*(['\"][^'\"\n]*['\"]|[^\n\])]*)")


_NEAR = 2000
"""Characters above a recipe in which its attributes are."""


def just_directory(source: Source, start: int) -> str | None:
    """Where the recipe whose lines begin at an offset runs, from the justfile's directory; None where that is computed.

    https://just.systems/man/en/working-directory.html
    """
    text = source.text
    setting = _SETTING.search(text) if "working-directory" in text else None
    path = _quoted(setting[1]) if setting is not None else ""
    lines = text[max(0, start - _NEAR) : start].splitlines()
    for line in reversed(lines[:-1]):  # above the header
        if not line.startswith(("[", "#")):
            break
        if line.startswith("[") and (found := _ATTRIBUTE.search(line)) is not None:
            own = _quoted(found[1])
            return None if path is None or own is None else posixpath.join(path, own)
    return path


def _quoted(text: str) -> str | None:
    """A string that is written out; None for an expression."""
    found = re.match(r"(['\"])([^'\"\n]*)\1[ \t]*(?:#.*)?$", text.strip())
    return found[2] if found is not None else None


def _expand_just(
    builder: Builder, source: Source, start: int, end: int, variables: dict[str, Variable]
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
        since = len(builder.offsets)
        if variable is not None and variable.sure:
            for value in variable.values:
                builder.take(*value)
        else:
            put_unknown(builder, name)
        at = closing + 2
        builder.used(since, opening, at)
