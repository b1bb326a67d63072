"""The recipes of justfiles."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from shmlint.formats.makefile.make import Line, lines_of, put_unknown
from shmlint.formats.makefile.written import JUST_CALL, Expressions
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.shell_text import BARE_START, Builder, ShellText

_SHELL = re.compile(r"\b(?:ba|da|k|z|a)?sh\b")
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w-]*)\s*:=\s*")
_OPERAND = re.compile(
    rf"\s*(?:(?P<quote>['\"])(?!(?P=quote){{2}})(?P<text>(?:(?!(?P=quote)).)*)(?P=quote)|(?P<call>{JUST_CALL})"
    r"|(?P<name>[A-Za-z_][\w-]*))\s*",
    re.S,
)
_DEPTH = 8
"""Variables inside variables are followed this deep."""


class Operand(NamedTuple):
    """What `+` and `/` join: a string, a variable or the call of a function, which is not known."""

    kind: str
    start: int
    end: int
    slash: bool = False
    """Whether a slash is put before it."""


Joined = Sequence[Operand] | None
"""What an expression joins; None where it is another one: a condition, a command, a function."""


def just_variables(source: Source) -> Iterator[tuple[str, Line, Joined]]:
    """The variables of a justfile, where each is set, and what its value is made of."""
    for line in lines_of(source):
        found = _ASSIGNMENT.match(source.text, line.start, line.end)
        if found is not None:
            yield found[1], line, _joined(source, found.end(), line.end)


def _joined(source: Source, start: int, end: int) -> Joined:
    """What an expression joins, up to a comment."""
    found: list[Operand] = []
    text, slash = source.text, False
    while (operand := _OPERAND.match(text, start, end)) is not None:
        kind = operand.lastgroup if operand["quote"] is None else "text"
        found.append(Operand(kind or "", *operand.span(kind or 0), slash))
        start = operand.end()
        if start == end or text[start] == "#":
            return None if len(found) == 1 and found[0].kind == "call" else found
        if text[start] not in "+/":
            return None
        slash = text[start] == "/"
        start += 1
    return None


def _put_joined(
    builder: Builder, source: Source, joined: Sequence[Operand], variables: Mapping[str, Joined], depth: int = 0
) -> None:
    """Put in what an expression joins, and a variable of the shell for what is not known of it."""
    for operand in joined:
        builder.put("/" if operand.slash else "")
        name = source.text[operand.start : operand.end]
        inner = variables.get(name) if operand.kind == "name" and depth < _DEPTH else None
        if operand.kind == "text":
            builder.take(operand.start, operand.end)
        elif inner is not None:
            _put_joined(builder, source, inner, variables, depth + 1)
        else:
            put_unknown(builder, name)


def just_starts(source: Source) -> Iterator[tuple[str, Span]]:
    """The variables that begin a container start, each with its value; other justfiles may import them."""
    variables = _known(source)
    for name, line, joined in just_variables(source):
        if joined:
            builder = Builder(source)
            _put_joined(builder, source, joined, variables)
            if _BEGINS.match("".join(builder.parts)) is not None:
                yield name, Span(source, joined[0].start, line.end)


_BEGINS = re.compile(rf"\s*(?:sudo\s+)?{BARE_START}(?:\s*\Z|\s+[-$])")


def _known(source: Source) -> dict[str, Joined]:
    """The variables of a justfile; None for one that is set twice, or whose value is not known."""
    found: dict[str, Joined] = {}
    for name, _, joined in just_variables(source):
        found[name] = None if name in found else joined
    return found


_PARAMETER = re.compile(r"(?<=\s)[*+]?\$?([A-Za-z_][\w-]*)(?=[\s=:])")


def just_recipes(source: Source) -> Iterator[ShellText]:
    """Recipes of a justfile: the indented lines below a header; one text a recipe."""
    variables = _known(source)
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
    if body:
        bodies.append((header, body))
    expressions = Expressions(source, just=True)
    for header, lines in bodies:
        first = source.text[lines[0].start : lines[0].end].strip()
        if first.startswith("#!") and not _SHELL.search(first):
            continue
        named = re.sub(r"(['\"]).*?\1", "", header).partition(":")[0]
        parameters = set(_PARAMETER.findall(f"{named}:"))
        builder = Builder(source)
        for line in lines:
            start = line.start
            while start < line.end and source.text[start] in " \t@-":
                start += 1
            _expand_just(builder, source, (start, line.end), variables, parameters)
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
    builder: Builder, source: Source, within: tuple[int, int], variables: Mapping[str, Joined], parameters: set[str]
) -> None:
    """Put in a line of a recipe, with the values of its expressions; its parameters are not known."""
    at, end = within
    while at < end:
        opening = source.text.find("{{", at, end)
        closing = source.text.find("}}", opening, end) if opening >= 0 else -1
        if closing < 0:
            builder.take(at, end)
            return
        builder.take(at, opening)
        name = source.text[opening + 2 : closing].strip()
        joined = variables.get(name) if name not in parameters else None
        since = len(builder.offsets)
        if joined is not None:
            _put_joined(builder, source, joined, variables)
        else:
            put_unknown(builder, name)
        at = closing + 2
        builder.used(since, opening, at)
