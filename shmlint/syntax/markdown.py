"""Markdown and reStructuredText into the blocks of code and the headings in them, with positions."""

from __future__ import annotations

import re
from _thread import get_ident
from collections.abc import Generator, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from shmlint.files.cache import Key
from shmlint.files.workspace import Workspace
from shmlint.model.record import NamedTuple
from shmlint.model.source import BOM, Source
from shmlint.syntax.shell_text import ENGINE

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NESTING = 3
"""Fences inside other blocks (MkDocs tabs, MyST directives) are looked for this deep."""


class Block(NamedTuple):
    """Code in a document: its language, and the start and end offset of each of its lines,
    the indentation of the block left out, line endings too."""

    language: str
    lines: tuple[tuple[int, int], ...]
    inline: bool = False
    """A code span: its lines are one."""


Line = tuple[int, int]
"""The start and end offset of a line of a file, or of the part of it that counts."""


class Heading(NamedTuple):
    """The title of a section of a document: where its line is, without what is under it, and its level from 1."""

    start: int
    end: int
    level: int


class _Parts(NamedTuple):
    """What was found in a document."""

    source: Source
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...]


BLOCKS: Key[_Parts] = Key("blocks and headings of a document")
"""What ``blocks_of`` and ``headings_of`` keep of a document."""


def blocks_of(source: Source, workspace: Workspace) -> tuple[Block, ...]:
    """The code of a document of a run, found once."""
    return _parts_of(source, workspace).blocks


def headings_of(source: Source, workspace: Workspace) -> tuple[Heading, ...]:
    """The headings of a document of a run, found once."""
    return _parts_of(source, workspace).headings


def _parts_of(source: Source, workspace: Workspace) -> _Parts:
    def make(files: Workspace) -> _Parts:
        files.exists(source.path)  # on which the result depends
        return _parts(source)

    found = workspace.once(BLOCKS, source.path, make)
    return found if found.source is source else _parts(source)  # another text that is read in place of this file


def blocks(source: Source) -> tuple[Block, ...]:
    """The code of a document, in the language its name says it is written in."""
    return _parts(source).blocks


def headings(source: Source) -> tuple[Heading, ...]:
    """The headings of a document."""
    return _parts(source).headings


def _parts(source: Source) -> _Parts:
    found = tuple(_read(source))
    inside = tuple(part for part in found if isinstance(part, Block))
    return _Parts(source, inside, tuple(part for part in found if isinstance(part, Heading)))


def _read(source: Source) -> Iterator[Block | Heading]:
    lines = source.line_spans()
    if source.text.startswith(BOM):
        lines[0] = (len(BOM), lines[0][1])
    name = source.path.lower()
    if name.endswith(".rst"):
        return _rst_blocks(source, lines)
    return _blocks(source, _without_comments(source, lines), 0, mdx=name.endswith(".mdx"))


_COMMENT = re.compile(r"^ {0,3}<!--", re.M)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """The comments of more than one line."""
    if "<!--" not in text:
        return
    at = 0
    while (opening := _COMMENT.search(text, at)) is not None:
        closing = text.find("-->", opening.end())
        if closing < 0:
            return
        at = closing + len("-->")
        if "\n" in text[opening.start() : at]:
            yield opening.start(), at


def _without_comments(source: Source, lines: list[Line]) -> list[Line]:
    """The lines of a text, those of its front matter and of comments empty."""
    text = source.text
    stretches = list(_comments(text))
    if lines and text[slice(*lines[0])].rstrip() == "---":
        closing = next((line for line in lines[1:] if text[slice(*line)].rstrip() in ("---", "...")), None)
        if closing is not None:
            stretches.append((0, closing[1]))
    if not stretches:
        return lines
    kept = []
    remaining = iter(sorted(stretches))
    stretch = next(remaining, None)
    for start, end in lines:
        while stretch is not None and stretch[1] < end:
            stretch = next(remaining, None)
        hidden = stretch is not None and stretch[0] <= start
        kept.append((start, start if hidden else end))
    return kept


_DEEP_FENCE = re.compile(r"[ \t]{4,}(`{3,}|~{3,})[ \t]*([^`\n]*)$")


_RESTARTS = 50
"""So many fences that CommonMark does not see are looked for in one text."""


@cache
def _parser(thread: int, mdx: bool) -> MarkdownIt:
    """A parser of the thread's own, which leaves what is inside of paragraphs: few of them have a command there."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).disable(["inline", "html_block"])
    # MDX has no indented code: the children of its elements may be indented
    return parser.disable("code") if mdx else parser


def _blocks(source: Source, lines: Sequence[Line], depth: int, *, mdx: bool = False) -> Iterator[Block | Heading]:
    """Code blocks and headings of a Markdown text given as lines of the file."""
    parser = _parser(get_ident(), mdx)
    for restart in range(_RESTARTS + 1):
        # A carriage return alone ends a line to the parser, and here it does not.
        texts = [source.text[start:end].replace("\r", " ") for start, end in lines]
        references: dict[str, Any] = {}
        for token in parser.parse("\n".join(texts), references):
            if token.map is None:
                continue
            if token.type in ("fence", "code_block"):
                first = token.map[0] + (1 if token.type == "fence" else 0)
                content = token.content.split("\n")
                if content and content[-1] == "":
                    content.pop()
                if first + len(content) > len(lines):
                    continue
                spans = tuple(_tail(source, lines[first + i], text) for i, text in enumerate(content))
                if spans:
                    yield from _code(source, spans, token.info if token.type == "fence" else None, depth)
            elif token.type == "heading_open" and depth == 0:
                last = token.map[1] - (2 if token.markup in ("=", "-") else 1)
                yield Heading(lines[token.map[0]][0], lines[last][1], int(token.tag[1:]))
            elif token.type == "inline" and token.content:
                # Python-Markdown takes a fence indented under its paragraph (`!!! note`) for one.
                deep = next((n for n in range(*token.map) if _DEEP_FENCE.match(texts[n])), None)
                if deep is not None and depth < _NESTING and restart < _RESTARTS:
                    end = yield from _deep_fence(source, lines, texts, deep, depth)
                    lines = lines[end:]
                    break
                if "`" in token.content and _ENGINE.search(token.content):
                    children: list[Token] = []
                    parser.inline.parse(token.content, parser, references, children)
                    yield from _inline(source, lines, token.map, children)
        else:
            return


def _deep_fence(
    source: Source, lines: Sequence[Line], texts: Sequence[str], number: int, depth: int
) -> Generator[Block | Heading, None, int]:
    """The block of a fence that starts at a line; returns the number of the line after it."""
    fence = _DEEP_FENCE.match(texts[number])
    assert fence is not None
    end = next((n for n in range(number + 1, len(texts)) if texts[n].strip() == fence[1]), len(texts))
    spans = tuple(_dedented(source, lines[number + 1 : end], fence.start(1)))
    if spans:
        yield from _code(source, spans, fence[2], depth)
    return end + 1


_DIRECTIVE_INFO = re.compile(r"\{([\w:-]+)\}")
_CODE_DIRECTIVES = frozenset({"code-block", "code", "code-cell", "sourcecode", "prompt", "parsed-literal"})


def _code(source: Source, lines: tuple[Line, ...], info: str | None, depth: int) -> Iterator[Block | Heading]:
    """A block of code, or what is in it where it is a place for other blocks.

    ``info`` is what is after the fence, None for an indented block.
    """
    directive = _DIRECTIVE_INFO.match(info.strip()) if info else None
    if directive is not None and directive[1] == "eval-rst":
        yield from (part for part in _rst_blocks(source, lines) if isinstance(part, Block))
        return
    nests = info is None or (directive is not None and directive[1] not in _CODE_DIRECTIVES)
    inner = "\n".join(source.text[start:end] for start, end in lines)
    if nests and depth < _NESTING and re.search(r"^[ \t]*(```|~~~)", inner, re.M):
        yield from _blocks(source, lines, depth + 1)  # MkDocs tabs, admonitions, MyST directives
    else:
        yield Block(_language(info or ""), lines)


def _language(info: str) -> str:
    """The language of a fence: ``bash``, ``{.bash .annotate}``, ``bash title="x"``, ``{code-block} sh``, ``[bash]``."""
    words = re.split(r"[][\s{},]+", info.strip().lower().lstrip("{["))
    if words and words[0] in _CODE_DIRECTIVES:
        words = words[1:]
    return words[0].lstrip(".") if words else ""


def _tail(source: Source, line: Line, text: str) -> Line:
    """The part of a line of the file that a line of a block is: what is left of it is indentation."""
    start, end = line
    if source.text[start:end].endswith(text):
        return end - len(text), end
    stripped = text.strip()
    at = source.text.find(stripped, start, end) if stripped else end
    return (at, end) if at >= 0 else (start, end)


_ENGINE = re.compile(ENGINE)
_WHOLE_COMMAND = re.compile(rf"(?:\$ )?(?:\w+=\S+ )*(?:sudo )?{ENGINE} \S")
_SPAN_BREAK = r"(?: |[ \t]*\r?\n[ \t>]*)"
"""A blank of a code span as it may be in the file."""


def _inline(source: Source, lines: Sequence[Line], where: list[int], children: Sequence[object]) -> Iterator[Block]:
    """Code spans that are a whole command."""
    contents = [str(getattr(c, "content", "")) for c in children if getattr(c, "type", "") == "code_inline"]
    last = max((i for i, content in enumerate(contents) if _WHOLE_COMMAND.match(content)), default=-1)
    at, end = lines[where[0]][0], lines[min(where[1], len(lines)) - 1][1]
    for content in contents[: last + 1]:  # those before it may say the same
        found = _found(content, source.text, at, end)
        if found is None:
            continue
        at = found[1]
        if _WHOLE_COMMAND.match(content):
            yield Block("bash", tuple(_span_lines(source, *found)), inline=True)


def _found(content: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the content of a code span is in a stretch of a file."""
    if " " not in content or text.find("\n", start, end) < 0:  # that is most, and a pattern is used for one span only
        at = text.find(content, start, end)
        return (at, at + len(content)) if at >= 0 else None
    found = re.compile(_SPAN_BREAK.join(map(re.escape, content.split(" ")))).search(text, start, end)
    return found.span() if found is not None else None


def _span_lines(source: Source, start: int, end: int) -> Iterator[Line]:
    """The lines of a code span, without what starts and ends them."""
    for match in re.finditer(r"(?:(?<=\n)[ \t>]*)?(?P<line>[^\n]*?)[ \t]*(?:\r?\n|\Z)", source.text[start:end]):
        if match["line"]:
            yield start + match.start("line"), start + match.end("line")


# reStructuredText ----------------------------------------------------------------------------

_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code-block|code|sourcecode|prompt|parsed-literal)::\s*(\S*)")


def _rst_blocks(source: Source, lines: Sequence[Line]) -> Iterator[Block | Heading]:
    """Code directives and literal blocks, which are the indented lines below them; and headings."""
    number = 0
    styles: list[str] = []
    while number < len(lines):
        text = source.text[lines[number][0] : lines[number][1]]
        style = _rst_style(source, lines, number)
        if style:
            styles += [style] if style not in styles else []
            yield Heading(*lines[number], styles.index(style) + 1)
        directive = _DIRECTIVE.match(text)
        literal = text.rstrip().endswith("::") and not text.lstrip().startswith("..")
        if "``" in text:
            yield from _rst_inline(source, lines, number)
        number += 1
        if directive is None and not literal:
            continue
        outer = len(text) - len(text.lstrip())
        body: list[Line] = []
        while number < len(lines):
            start, end = lines[number]
            line = source.text[start:end]
            if line.strip() and len(line) - len(line.lstrip()) <= outer:
                break
            body.append((start, end))
            number += 1
        while body and not source.text[body[0][0] : body[0][1]].strip():
            body.pop(0)
        # Options of the directive (`:linenos:`) are before the code.
        while body and directive is not None and re.match(r"\s*:[\w-]+:", source.text[body[0][0] : body[0][1]]):
            body.pop(0)
        if body:
            language = directive[2].lower() if directive is not None else ""
            yield Block(language, tuple(_dedented(source, body)))


def _rst_style(source: Source, lines: Sequence[Line], number: int) -> str:
    """How a line is marked as a heading: the character of the lines under and perhaps over it; empty where it is none.

    What is deeper is told by the order in which these marks are first used.
    """
    around = (lines[at] if 0 <= at < len(lines) else (0, 0) for at in (number - 1, number, number + 1))
    before, text, under = (source.text[start:end].rstrip() for start, end in around)
    if not text or _RST_LINE.fullmatch(text) or not _RST_LINE.fullmatch(under) or len(under) < min(len(text), 4):
        return ""
    over = before == under
    return "" if (before and not over) or (text[0].isspace() and not over) else under[0] * (2 if over else 1)


_RST_LINE = re.compile(r"([!-/:-@\[-`{-~])\1*")
"""A line that underlines a heading of reStructuredText."""


def _rst_inline(source: Source, lines: Sequence[Line], number: int) -> Iterator[Block]:
    """The literals that start on a line and are a whole command; they may end on the next one."""
    start, end = lines[number]
    following = lines[number + 1][1] if number + 1 < len(lines) else end
    for match in re.compile(r"``(?=\S)([^`]+)(?<=\S)``").finditer(source.text, start, following):
        if match.start() < end and _WHOLE_COMMAND.match(match[1]):
            yield Block("bash", tuple(_span_lines(source, *match.span(1))), inline=True)


def _dedented(source: Source, body: Sequence[Line], most: int | None = None) -> Iterator[Line]:
    """The lines without the indentation they have in common, of which ``most`` characters are taken."""
    texts = [source.text[start:end] for start, end in body]
    indentation = min((len(t) - len(t.lstrip()) for t in texts if t.strip()), default=0)
    if most is not None:
        indentation = min(indentation, most)
    for start, end in body:
        yield min(start + indentation, end), end
