"""Edits that put members into JSON, or take them out; comments, commas and indentation stay."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.model.launch import Change
from shmlint.model.source import Edit, Source
from shmlint.syntax.json import Json


def put_before(item: Json, new: str, shown: str = "", gap: str = " ") -> Change:
    """Put something before an element: on a line of its own where the element starts one."""
    source = item.source
    start = source.text.rfind("\n", 0, item.start) + 1
    indentation = source.text[start : item.start]
    line = source.position(item.start).line
    if start and not indentation.strip():
        newline = "\r\n" if source.text[start - 2 : start] == "\r\n" else "\n"
        edit = Edit(source.path, start, start, f"{indentation}{new},{newline}")
    else:
        edit = Edit(source.path, item.start, item.start, f"{new},{gap}")
    return Change((edit,), f"add {shown or new} in line {line}")


def members_of(holder: Json) -> list[tuple[int, int]]:
    """Where the properties of an object, or the items of an array, start and end."""
    if holder.entries:
        return [(key.start, value.end) for key, value in holder.entries.values()]
    return [(item.start, item.end) for item in holder.items]


def removal(source: Source, members: Sequence[tuple[int, int]], chosen: Sequence[tuple[int, int]]) -> list[Edit]:
    """The edits that take members, by their places, out of an object or array that keeps others.

    Comments on other lines stay, and so does every comma between two members that stay.
    """
    text = source.text
    kept = [member for member in members if member not in chosen]
    runs: list[tuple[int, int]] = []
    for start, end in chosen:
        before = members.index((start, end)) - 1
        if runs and runs[-1][1] == members[before][1] and "\n" not in text[runs[-1][1] : start]:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    edits = []
    for start, end in runs:
        comma = _next_comma(text, end)
        line = text.rfind("\n", 0, start) + 1
        behind = end if comma is None else comma + 1
        newline = text.find("\n", behind)
        rest = text[behind:newline].strip() if newline >= 0 else "x"
        if line and not text[line:start].strip() and (not rest or rest.startswith("//")):
            edits.append(Edit(source.path, line, newline + 1, ""))  # a line of its own
            continue
        while text[behind : behind + 1] in (" ", "\t"):
            behind += 1
        if comma is not None and text[behind : behind + 1] not in ("]", "}", "\r", "\n"):
            edits.append(Edit(source.path, start, behind, ""))
            continue
        while text[start - 1] in " \t" and text[line:start].strip():
            start -= 1
        edits.append(Edit(source.path, start, end if comma is None else comma + 1, ""))
    last = kept[-1]
    if last != members[-1] and _next_comma(text, members[-1][1]) is None:
        # The last one goes, and the comma that was between it and what is left.
        at = _next_comma(text, last[1])
        if at is not None and not any(e.start <= at < e.end for e in edits):
            edits.append(Edit(source.path, at, at + 1, ""))
    return edits


def _next_comma(text: str, at: int) -> int | None:
    """The offset of the comma after a value, comments passed over; None where there is none."""
    while at < len(text):
        if text.startswith("//", at):
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
        elif text.startswith("/*", at):
            close = text.find("*/", at)
            at = len(text) if close < 0 else close + 2
        elif text[at].isspace():
            at += 1
        else:
            return at if text[at] == "," else None
    return None
