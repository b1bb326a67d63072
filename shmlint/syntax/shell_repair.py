"""Container starts whose lines a shell does not join, read as a person would read them.

A comment or a blank after a backslash, a comment between continued lines and a missing backslash end
a command for the shell. What is after them is read as a part of it, and the place is noted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal

from shmlint.model.launch import ENGINES
from shmlint.model.record import NamedTuple
from shmlint.syntax.shell_text import BLANK, CLOSE, ENGINE, OPEN, ShellText

_START = re.compile(rf"[^#\n]*\b{ENGINE}\b[^#\n]*\b(?:run|create)\b")
_ENDED = re.compile(r"(?!(?<=\S)\\ #\S)\\(?P<blanks>[ \t]+(?:#.*)?)\r?")
"""Such an end of a line; ``A=b\\ #c`` is a word with a blank in it."""
_COMMENT = re.compile(r"[ \t]*#.*?(?P<mark>\\)?[ \t]*\r?")
_OPTION = re.compile(r"(?:[ \t]+--?|--)[A-Za-z][\w-]*(?:[= \t]|\\|\r?$)")
_PLACEHOLDER = re.compile(r"(?:^|(?<=[\s=/:\"]))<([A-Za-z](?:[\w ./:-]*\w)?|(?<==<))>(?=[\s/:\"\\]|$)")
"""``<NAME>``, and ``=<>`` for a value to be filled in."""
_TO_FILL_IN = re.compile(r"(?:[ \t]*(?:export|local|readonly)[ \t])?[ \t]*[A-Za-z_]\w*=<[A-Za-z][^<>|;&]*>[^<>|;&]*\r?")
"""A line that gives a variable such a value. A shell refuses it, and with it all that comes after."""


EndKind = Literal["empty line", "comment between", "no backslash", "comment after", "blank after"]

_ENDS: Mapping[EndKind, str] = {
    "empty line": "the empty line ends the command",
    "comment between": "a comment between its lines ends the command",
    "no backslash": "the backslash at the end of the line is missing",
    "comment after": "the comment after the backslash ends the command",
    "blank after": "the blank after the backslash ends the command",
}


class EarlyEnd(NamedTuple):
    """Where a shell would end a command that goes on for its reader, and by what. ``at`` is a place in the file."""

    at: int
    kind: EndKind

    @property
    def because(self) -> str:
        """The kind for people."""
        return _ENDS[self.kind]


def repaired(text: ShellText) -> tuple[ShellText, tuple[EarlyEnd, ...]]:
    """A text whose container starts go on to where they are meant to end; each character keeps its place."""
    starts = sorted(_starting(text.text))
    if not starts:
        return text, ()
    lines = text.text.split("\n")
    found: list[tuple[int, EndKind]] = []
    after = 0
    for start in starts:
        if start >= after:
            after = _repair(start, lines, found)
    if "=<" in text.text:
        lines = [_filled_in(line) if _TO_FILL_IN.fullmatch(line) is not None else line for line in lines]
    together = "\n".join(lines)
    if not found and OPEN not in together:
        return text, ()
    before = [0, *accumulate(len(line) + 1 for line in text.text.split("\n"))]
    ends = tuple(EarlyEnd(text.offset(before[number]), kind) for number, kind in found)
    return text._replace(text=together.replace(f"{_JOIN}\n", " ")), ends


def _repair(start: int, lines: list[str], found: list[tuple[int, EndKind]]) -> int:
    """Repair the lines of the command that starts in one; the number of the line after it."""
    for i in range(start, len(lines)):
        line = lines[i]
        after = lines[i + 1] if i + 1 < len(lines) else None
        if i > start and not line.strip() and after is not None and _OPTION.match(after) is not None:
            found.append((i, "empty line"))
            lines[i] = f"{' ' * len(line)}{_JOIN}"
            continue
        if i > start and (new := _comment(line, i, lines)) is not None:
            found.append((i, "comment between"))
        else:
            new, kind = repaired_end(line)
            if kind is not None:
                found.append((i, kind))
        new = lines[i] = _filled_in(new)
        if new.rstrip("\r").endswith("\\"):
            continue
        if after is None or not _misses_backslash(new, after):
            return i + 1
        found.append((i, "no backslash"))
        lines[i] = f"{new}{_JOIN}"
    return len(lines)


def _filled_in(line: str) -> str:
    """A line whose placeholders are values that are not known."""
    return _PLACEHOLDER.sub(lambda match: f"{OPEN}{match[1].replace(' ', BLANK)}{CLOSE}", line)


@lru_cache(4)  # a text is asked for again when what was repaired is told
def _starting(text: str) -> frozenset[int]:
    """The numbers of the lines that start a container, from 0 on."""
    found: set[int] = set()
    for name in ENGINES:
        number = before = 0
        at = text.find(name)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            line = text[start : end if end >= 0 else len(text)]
            if ("run" in line or "create" in line) and _START.match(line):
                number += text.count("\n", before, start)
                found.add(number)
                before = start
            at = text.find(name, end) if end >= 0 else -1
    return frozenset(found)


_JOIN = "\ue005"
"""Stands at the end of a line to which the next one is joined by a blank."""


_GOES_ON = r"[ \t]+(?:--[a-z][\w-]*|-[A-Za-z])(?:[= \t]|\\|\r?$)"
"""An option in a recipe of make, in which a dash before a command means something else."""


def goes_on(text: str, after: str) -> bool:
    """Whether a recipe's line starts a container and is meant to go on in the one after it."""
    if _START.match(text) is None:
        return False
    last = text.rpartition("\n")[2]
    return _ENDED.search(last) is not None or re.match(_GOES_ON, after) is not None


def _comment(line: str, number: int, lines: list[str]) -> str | None:
    """A comment between two lines of a command as blanks; None where the line is something else."""
    found = _COMMENT.fullmatch(line)
    if found is None:
        return None
    after = lines[number + 1] if number + 1 < len(lines) else ""
    if found["mark"] is None and _OPTION.match(after) is None:
        return None
    end = "\r" if line.endswith("\r") else ""
    return f"{' ' * (len(line) - 1 - len(end))}\\{end}"


def repaired_end(line: str) -> tuple[str, EndKind | None]:
    """A line whose last backslash is followed by blanks or a comment, with the backslash at its end."""
    at, behind, comment = line.rfind("\\"), len(line), line.rfind("#")
    marks = {mark: line.count(mark) for mark in "\"'"}
    while at >= 0:
        marks = {mark: count - line.count(mark, at, behind) for mark, count in marks.items()}
        quoted = any(count % 2 for count in marks.values())
        found = _ENDED.fullmatch(line, at) if not quoted else None
        if found is not None:
            end = "\r" if line.endswith("\r") else ""
            blanks = " " * (len(line) - at - 1 - len(end))
            return f"{line[:at]}{blanks}\\{end}", "comment after" if "#" in found["blanks"] else "blank after"
        behind = at
        at = line.rfind("\\", 0, at) if comment > at or at == len(line) - 1 else -1
    return line, None


_HEREDOC = r"(?<![<(])\d*<<(?P<dash>-?)[ \t]*(?P<mark>['\"\\]?)(?P<word>[A-Za-z_]\w*)['\"]?"


def one_heredoc(text: ShellText) -> ShellText:
    """A text with one here-document for each command, which the grammar knows: of several a command reads the last."""
    if text.text.count("<<") < 2:
        return text
    lines = text.text.split("\n")
    found = False
    for i, line in enumerate(lines):
        if line.count("<<") < 2:
            continue
        starts = list(re.finditer(_HEREDOC, line))
        behind = i + 1
        for start, after in pairwise(starts):
            if _last_sign(line, start.end(), after.start()) is not None:
                break  # the others are those of another command
            ends = (j for j in range(behind, len(lines)) if _ends(lines[j], start))
            end = next(ends, None)
            if end is None:
                break
            lines[behind : end + 1] = [" " * len(body) for body in lines[behind : end + 1]]
            lines[i] = f"{lines[i][: start.start()]}{' ' * len(start[0])}{lines[i][start.end() :]}"
            behind, found = end + 1, True
    return text._replace(text="\n".join(lines)) if found else text


_QUOTED = r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()]*\)"""
_FIRST_SEMICOLON = re.compile(rf"(?s)(?:{_QUOTED}|[^\n\\'\";#]|(?<=\S)#)*+(?P<sign>(?=;;)|;)")
"""Of ``;;``, which ends a case, nothing is the sign."""
_FIRST_SIGN = re.compile(rf"(?:{_QUOTED}|[<>]&|&>|[^\n\\'\";#|&]|(?<=\S)#)*+(?P<sign>(?=;;)|&&|\|[|&]?|[;&])")
"""What ends a command behind which another is in the same line."""
_UP_TO_LINE_END = re.compile(rf"(?s)(?:{_QUOTED}|[^\n\\'\"])*+(?=\n)")


_MOST_ENDLESS = 20
"""Here-documents without an end after which no other is looked for."""


def commands_behind_documents(text: ShellText) -> ShellText:
    """A text in which what follows a here-document's command in its line, ``cat <<EOF; exit``, is behind the document.

    The grammar takes the ``;`` for a part of the mark, and what follows for arguments. Of a command that has a
    document of its own it does so behind other signs, too: ``bash <<A && bash <<B``.
    """
    for _ in range(_MOST_IN_A_LINE if "<<" in text.text else 0):
        moved = _moved_behind(text)
        if moved is text:
            break
        text = moved
    return text


_MOST_IN_A_LINE = 10
"""Commands of a line that have here-documents; those after them are not read."""


def _moved_behind(text: ShellText) -> ShellText:
    """A text in which what follows the first here-document of every line is behind the document."""
    order: list[int] = []
    endless: set[str] = set()
    at = failed = 0
    for start in re.finditer(_HEREDOC, text.text):
        if start.start() < at or start["word"] in endless:
            continue  # it is in a document, or has none
        cut, line = _sign_behind(text.text, start), _UP_TO_LINE_END.match(text.text, start.end())
        end = _end_of_document(text.text, line.end() + 1, start) if line is not None else None
        if line is None or end is None:
            failed += 1
            if failed > _MOST_ENDLESS:
                break  # each of them is looked for in all of the text
            endless |= {start["word"]} if line is not None else set()
            continue
        if cut is not None and cut[0] < line.end():
            # A line end stands for the sign.
            order += [*range(at, cut[0]), *range(line.end(), end), line.end(), *range(cut[1], line.end())]
        else:
            order += range(at, end)
        at = end
    order += range(at, len(text.text))
    if order == list(range(len(text.text))):
        return text
    used_at = [text.used_at[i] for i in order] if text.used_at else ()
    return text._replace(
        text="".join(text.text[i] for i in order), offsets=[text.offsets[i] for i in order], used_at=used_at
    )


def _sign_behind(text: str, start: re.Match[str]) -> tuple[int, int] | None:
    """Where the sign is between a command with a here-document and what follows in its line.

    That is the last sign before another here-document of the line, else the first ``;``.
    """
    line = _UP_TO_LINE_END.match(text, start.end())
    following = re.search(_HEREDOC, line[0]) if line is not None else None
    if following is not None:
        return _last_sign(text, start.end(), start.end() + following.start())
    first = _FIRST_SEMICOLON.match(text, start.end())
    return first.span("sign") if first is not None else None


def _last_sign(text: str, at: int, most: int) -> tuple[int, int] | None:
    """Where the last sign is that ends a command in a part of a text."""
    found = None
    while (command := _FIRST_SIGN.match(text, at)) is not None and command.start("sign") < most:
        found = command.span("sign")
        at = max(found[1], found[0] + 1)
    return found


def _end_of_document(text: str, at: int, start: re.Match[str]) -> int | None:
    """Where the last line of a here-document ends whose text begins at a place; None where it has no last line."""
    while at <= len(text):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        if _ends(text[at:end], start):
            return end
        at = end + 1
    return None


def _ends(line: str, start: re.Match[str]) -> bool:
    return (line.lstrip("\t") if start["dash"] else line).rstrip("\r") == start["word"]


def _is_quoted(before: str) -> bool:
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1


def _misses_backslash(line: str, after: str) -> bool:
    """Whether a line that ends a command is followed by one that only goes on with its options."""
    if not line.strip() or line.rstrip().endswith((";", "&", "|", "(", "{", "`", "^")) or _is_quoted(line):
        return False
    return _OPTION.match(after) is not None
