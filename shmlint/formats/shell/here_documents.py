"""Compose files in the here-documents of scripts: ``cat > compose.yaml <<EOF``, ``docker compose -f - up <<EOF``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read_embedded
from shmlint.model.reading import NotRead, Reading
from shmlint.model.source import Source, Span

_START = re.compile(r"<<(?P<tabs>-?)[ \t]*(?P<quote>\\|['\"]?)(?P<word>[A-Za-z_]\w*)['\"]?[^\n]*\n")
_SERVICES = re.compile(r"^services:[ \t]*(?:#.*)?$", re.M)
_GPU = re.compile(
    r"^[ \t]*(?:-[ \t]*)?(?:gpus:[ \t]*\S|runtime:[ \t]*[\"']?nvidia|capabilities:\s*[-\[][-\[ \t\"']*gpu\b)", re.M
)


def services(source: Source, workspace: Workspace) -> Reading:
    """The services of the Compose files that a script writes; those whose text the shell changes are not read."""
    launches, not_read = [], []
    for start, end, literal in _documents(source.text):
        text = source.text[start:end]
        if _SERVICES.search(text) is None:
            continue
        if literal or ("$" not in text and "`" not in text and "\\" not in text):
            launches += read_embedded(source, start, end, workspace)
        elif (asks := _GPU.search(text)) is not None:
            span = Span(source, start + asks.start(), start + asks.end())
            because = "the shell puts values into this Compose file"
            not_read.append(NotRead(span, because, "dynamic"))
    return Reading(tuple(launches), not_read=tuple(not_read))


def _documents(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where the texts of here-documents start and end, and whether nothing in them is expanded."""
    at = 0
    while (found := _START.search(text, at)) is not None:
        blank = r"\t*" if found["tabs"] else ""
        end = re.compile(rf"^{blank}{found['word']}[ \t]*$", re.M).search(text, found.end())
        if end is None:
            return
        if not found["tabs"]:  # tabs at the start of lines are no YAML
            yield found.end(), end.start(), bool(found["quote"])
        at = end.end()
