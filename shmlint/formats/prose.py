"""What the sentences around the code of a document say of shared memory that the code lacks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from shmlint.model.launch import Launch
from shmlint.model.source import Source, Span
from shmlint.syntax.markdown import Block
from shmlint.syntax.shell_text import mentions_engine

_REMEDY = re.compile(
    r"--ipc[= ]host\b|\bipc: *host\b|--shm-size(?:[= ]\d[\w.]*)?|\bshm_size\b(?:: *\d[\w.]*)?|(?i:\bbus error\b)"
    r"|(?i:\bno space left on device\b)|(?i:/dev/shm is too small)"
    r"|(?im:^[^\w\n]*+(?:wrong|incorrect|bad)(?=[^\w\n]*+$))"
)
_FAILS = re.compile(
    r"(?i)\b(?:without|fails?|failed|failing|crash\w*|hangs?|dies?|lacks?|lacking|misses|missing|happens?|ends? with"
    r"|(?:bus )?errors?|too (?:small|little|low)|runs? out|do not run|don't run|does not work|doesn't work|instead"
    r"|no space left|wrong|incorrect|bad|no --shm-size|no shm_size|not needed|is enough)\b"
)
"""What tells that a command is one that fails. Advice alone, "increase the shared memory for training", does not."""
_HEADING = re.compile(r" {0,3}#{1,6}\s|([=~^#*+-])\1{3,}\s*$")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]|[ \t>]*\|")
"""The start of an item of a list, or of a row of a table."""
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_FRAME = re.compile(r"[ \t>]*(?:`{3,}|~{3,}|\.\. [\w-]+::|:[\w-]+:|::[ \t]*$)")
"""The line of a fence, or of a directive and its options."""
_OUTPUT = re.compile(r"(?i)\bbus error\b|\bno space left on device\b|\binsufficient shared memory\b|\bcore dumped\b")
"""What a command printed that lacked shared memory."""
_PROMPT = re.compile(r"[ \t>]*(?:[$#%]|>>>|PS .*>)[ \t]")
_MOST = 20
"""So many lines of a paragraph are looked at."""


def with_remedies(launches: Iterable[Launch], source: Source, blocks: Sequence[Block]) -> Iterator[Launch]:
    """Launches with what the sentences around them name: what gives more shared memory, or the error without it."""
    if _REMEDY.search(source.text) is None and _OUTPUT.search(source.text) is None:
        yield from launches
        return
    code = sorted((block.lines[0][0], block.lines[-1][1], block.inline) for block in blocks)
    starts = [start for start, _, _ in code]
    lines = _without_code(source, code).split("\n")
    for launch in launches:
        place = bisect_right(starts, launch.span.start) - 1
        if place < 0 or launch.span.start > code[place][1]:
            yield launch
            continue
        start, end, inline = code[place]
        first, last = source.position(start).line - 1, source.position(end).line - 1
        around = _item(lines, first, last) if inline else _beside(lines, first, last)
        text = "\n".join((*around, *_comments_above(source, launch.span.line, first + 1)))
        fails = launch.shm is not None or _FAILS.search(text) is not None
        named = [found[0].strip() for found in _REMEDY.finditer(text)] if fails else []
        named += _printed(source, launch.span, end) if not inline else ()
        yield launch._replace(remedies=tuple(dict.fromkeys(named)))


def _printed(source: Source, span: Span, end: int) -> Iterator[str]:
    """The errors of too little shared memory that stand behind a command in its block, before the next command."""
    at = source.text.find("\n", span.end, end)
    while at >= 0:
        start, at = at + 1, source.text.find("\n", at + 1, end)
        line = source.text[start : at if at >= 0 else end]
        if _PROMPT.match(line) is not None or mentions_engine(line):
            return
        yield from (found[0] for found in _OUTPUT.finditer(line))


def _without_code(source: Source, code: Sequence[tuple[int, int, bool]]) -> str:
    """The text of a document, its code overwritten with blanks."""
    parts: list[str] = []
    at = 0
    for start, end, _ in code:
        parts += (source.text[at:start], re.sub(r"[^\n]", " ", source.text[max(start, at) : end]))
        at = max(at, end)
    return "".join((*parts, source.text[at:]))


def _item(lines: Sequence[str], first: int, last: int) -> Iterator[str]:
    """The paragraph, the item of a list or the row of a table that some lines are in."""
    if not _ITEM.match(lines[first]):
        yield from _paragraph(lines, first - 1, -1)
    yield from lines[first : last + 1]
    yield from _paragraph(lines, last + 1, 1)


def _beside(lines: Sequence[str], first: int, last: int) -> Iterator[str]:
    """The paragraphs before and behind a block of code."""
    for start, step in ((first - 1, -1), (last + 1, 1)):
        fences = 0
        while 0 <= start < len(lines) and (not lines[start].strip() or _FRAME.match(lines[start])) and fences < 2:
            fences += _FENCE.match(lines[start]) is not None
            start += step
        if fences < 2:  # else another block follows
            yield from _paragraph(lines, start, step, beside=True)


def _paragraph(lines: Sequence[str], start: int, step: int, *, beside: bool = False) -> Iterator[str]:
    """The lines of a paragraph from one on, up or down, as far as they are of one item.

    The paragraph ``beside`` some code may be a heading above it, or an item behind it.
    """
    for at in range(start, start + step * _MOST, step):
        if not 0 <= at < len(lines) or not lines[at].strip() or _FRAME.match(lines[at]):
            return
        item, title = _ITEM.match(lines[at]) is not None, _HEADING.match(lines[at]) is not None
        first = beside and at == start
        if (title and not (first and step < 0)) or (item and step > 0 and not first):
            return
        yield lines[at]
        if title or (item and step < 0):
            return


def _comments_above(source: Source, line: int, first: int) -> Iterator[str]:
    """The comments of a block of code right above one of its lines."""
    for above in range(line - 1, first - 1, -1):
        text = source.line_text(above)
        if not text.lstrip(" \t>").startswith("#"):
            return
        yield text
