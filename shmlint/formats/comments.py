"""What the formats have in common about comments: their spellings, and where they are.

    # shmlint: ignore[SHM101, dropped-float] reason     the findings of these rules here
    # shmlint: ignore reason                            all findings here
    # shmlint: ignore-file[SHM101] reason               in the whole file

*Here* is the line of the comment, or the next one where nothing else is on its line; lines
that backslashes join are one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from shmlint.formats.here_documents import HERE_DOCUMENT
from shmlint.model.launch import Launch
from shmlint.model.source import BOM, Edit, Source, Span
from shmlint.model.suppression import Suppression

_WHAT = r"[ \t]*shmlint:[ \t]*(?P<verb>ignore-file|ignore)(?![\w-])(?:\[(?P<names>[^\]\r\n]*)\])?"
HASH = re.compile(rf"(?<![^\s@{BOM}])#{_WHAT}(?:(?!\s#\s)[^\r\n])*")
"""Another tool's comment may be after it: `# shmlint: ignore[SHM101] reason # yamllint disable-line`."""
SLASHES = re.compile(rf"//{_WHAT}(?:(?!\s//\s)[^\r\n])*")
HTML = re.compile(rf"<!--{_WHAT}(?:(?!-->)[^\r\n])*-->")

_OWN_LINE = f" \t@>{BOM}"
"""May be before a comment that has its line for itself (`@` in a make recipe, `>` in a quotation)."""


# What a comment says and speaks of ---------------------------------------------------------------


def suppression(source: Source, match: re.Match[str]) -> Suppression:
    """The suppression that a match of one of the patterns is; it speaks of its own line."""
    start, end = match.start(), match.start() + len(match[0].rstrip())
    names = None
    if match["names"] is not None:
        at = match.start("names")
        names = tuple(
            Span(source, at + name.start(), at + name.end())
            for name in re.finditer(r"[^\s,][^,]*?(?=\s*(?:,|$))", match["names"])
        )
    line = source.position(start).line
    line_start, line_end = source.line_span(line)
    own_line = not source.text[line_start:start].strip(_OWN_LINE) and not source.text[end:line_end].strip()
    return Suppression(Span(source, start, end), names, match["verb"] == "ignore-file", line, line, own_line)


def line_suppressions(
    source: Source, pattern: re.Pattern[str], marker: str, certain: Callable[[int], bool]
) -> Iterator[Suppression]:
    """The comments of a pattern that starts with ``marker``, each with the lines it speaks of.

    ``certain`` says of the offset of a match whether a comment starts there.
    """
    following: dict[int, int] = {}
    for match in pattern.finditer(source.text):
        yield _placed(suppression(source, match)._replace(certain=certain(match.start())), marker, following)


def _placed(comment: Suppression, marker: str, following: dict[int, int]) -> Suppression:
    """A comment with the lines it speaks of. ``following`` caches which line follows lines of comments."""
    source = comment.span.source
    count = len(source.line_starts)
    if comment.own_line:
        line = comment.first + 1
        while line not in following and line <= count and source.line_text(line).lstrip().startswith(marker):
            line += 1
        end = following.get(line, line)
        following.update(dict.fromkeys(range(comment.first + 1, line), end))
        first = last = min(end, count)
    else:
        first, last = first_line(source, comment.first), comment.first
    while last < count and source.line_text(last).endswith("\\"):
        last += 1
    return comment._replace(first=first, last=last)


def first_line(source: Source, line: int) -> int:
    """The first of the lines that backslashes join with a line."""
    while line > 1 and source.line_text(line - 1).endswith("\\"):
        line -= 1
    return line


def before(source: Source, offset: int) -> str:
    """What is before an offset on its line."""
    return source.text[source.line_span(source.position(offset).line)[0] : offset]


def outside_texts(source: Source) -> Callable[[int], bool]:
    """Says of an offset whether the quotes before it on its line are closed, and it is in no here-document.

    That is a guess for files of any syntax.
    """
    outside_documents = outside_here_documents(source)

    def outside(offset: int) -> bool:
        text = before(source, offset)
        return text.count('"') % 2 == 0 and text.count("'") % 2 == 0 and outside_documents(offset)

    return outside


def outside_here_documents(source: Source) -> Callable[[int], bool]:
    """Says of an offset whether it is in no here-document."""
    bodies = [found.span("text") for found in HERE_DOCUMENT.finditer(source.text)] if "<<" in source.text else []
    return lambda offset: not any(start <= offset < end for start, end in bodies)


# Writing a comment -------------------------------------------------------------------------------


def at_end(source: Source, line: int, comment: str) -> Edit:
    """A comment at the end of a line."""
    end = source.line_span(line)[1]
    blank = "" if source.text[end - 1 : end].isspace() else "  " if comment.startswith("#") else " "
    return Edit(source.path, end, end, f"{blank}{comment}")


def above(source: Source, line: int, comment: str, *, code: int | None = None, margin: bool = False) -> Edit:
    """A line with a comment above another one, indented like it, or at the ``margin``.

    ``code`` is where the code of the line starts in a document; what is before it is
    before the comment too.
    """
    text = source.text
    line_start = source.line_span(line)[0]
    start = line_start if code is None else code
    if line_start == 0 and text.startswith(BOM):
        line_start, start = len(BOM), max(start, len(BOM))
    end = text.find("\n", start)
    rest = text[start : end if end >= 0 else len(text)]
    indentation = "" if margin else text[line_start:start] + rest[: len(rest) - len(rest.lstrip())]
    return Edit(source.path, line_start, line_start, f"{indentation}{comment}{source.newline}")


def above_command(launch: Launch, text: str) -> Edit | None:
    """A line with a comment above the first line of the launch's command or setting."""
    source = launch.span.source
    return above(source, first_line(source, launch.span.line), f"# {text}")
