"""The pages of rules, and Markdown, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from shmlint.files.installed import front_matter, page
from shmlint.model.rule import Rule
from shmlint.rules import all_rules

WIDTH = 80
"""Columns of all that is explained."""


def rule_page(rule: Rule) -> Iterator[str]:
    """The page of a rule."""
    return terminal(page(rule).partition("\n---\n")[2].strip())


def rule_lines(ids: Sequence[str]) -> Iterator[str]:
    known = all_rules()
    yield "Rules (`shmlint explain ID` shows the page):"
    for rule_id in ids:
        if rule_id in known:
            rule, _ = known[rule_id]
            summary = front_matter(page(rule)).get("summary", "")
            yield f"  {rule.id}  {rule.name}: {summary}"


def terminal(markdown: str, width: int = WIDTH) -> Iterator[str]:
    """Markdown for a terminal: headings underlined, paragraphs and list items wrapped, tables in columns.

    Links become their text; one out of the page keeps its address after it. A fence that names a
    file has the name above it.
    """
    fence = False
    paragraph: list[str] = []
    table: list[list[str]] = []

    def flush() -> Iterator[str]:
        if paragraph:
            yield from _wrapped(_unlinked(" ".join(paragraph)), width)
            paragraph.clear()
        if table:
            yield from _columns(table, width)
            table.clear()

    for line in markdown.splitlines():
        if line.startswith("```"):
            yield from flush()
            fence = not fence
            _, *named = line[3:].split() or [""]
            if fence and named:
                yield f"  {named[0]}{' as --fix leaves it' if 'fixed' in named else ''}:"
        elif fence:
            yield f"    {line}".rstrip()
        elif not line.strip():
            yield from flush()
            yield ""
        elif line.startswith("#"):
            yield from flush()
            title = _unlinked(line.lstrip("#").strip())
            yield title
            yield ("=" if line.startswith("# ") else "-") * len(title)
        elif line.startswith("|"):
            cells = [_unlinked(cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not all(set(cell) <= set("-: ") for cell in cells):
                table.append(cells)
        else:
            if _ITEM.match(line):
                yield from flush()
            paragraph.append(line.strip())
    yield from flush()


_ITEM = re.compile(r"(?:-|\d+\.) ")


def _wrapped(text: str, width: int) -> list[str]:
    item = _ITEM.match(text)
    indent = " " * len(item[0]) if item else ""
    return wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _columns(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """A table: columns as wide as their cells, the last one wrapped."""
    most = max(len(row) for row in rows)
    widths = [max(len(row[i]) if i < len(row) else 0 for row in rows) for i in range(most - 1)]
    room = max(width - sum(widths) - 2 * len(widths) - 2, 20)
    for row in rows:
        head = "  " + "".join(f"{cell.ljust(size)}  " for cell, size in zip(row, widths, strict=False))
        for part in wrap(row[-1], room, break_long_words=False) or [""]:
            yield f"{head}{part}".rstrip()
            head = " " * len(head)


def _unlinked(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return f"{found[1]} ({found[2]})" if found[2].startswith("http") else found[1]

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", plain, text).replace("**", "")
