"""Compose files in the here-documents of scripts: ``cat > compose.yaml <<EOF``, ``docker compose -f - up <<EOF``."""

from __future__ import annotations

import re

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read_embedded
from shmlint.model.reading import NotRead, Reading
from shmlint.model.source import Span
from shmlint.syntax.shell import here_documents
from shmlint.syntax.shell_text import ShellText

_SERVICES = re.compile(r"^services:[ \t]*(?:#.*)?$", re.M)
_GPU = re.compile(
    r"^[ \t]*(?:-[ \t]*)?(?:gpus:[ \t]*\S|runtime:[ \t]*[\"']?nvidia|capabilities:\s*[-\[][-\[ \t\"']*gpu\b)", re.M
)


def services(text: ShellText, workspace: Workspace) -> Reading:
    """The services of the Compose files that a script writes; those whose text the shell changes are not read."""
    launches, not_read = [], []
    source = text.source
    for start, end, literal in here_documents(text):
        written = source.text[start:end]
        if _SERVICES.search(written) is None:
            continue
        if literal or not any(sign in written for sign in "$`\\"):
            launches += read_embedded(source, start, end, workspace)
        elif (asks := _GPU.search(written)) is not None:
            span = Span(source, start + asks.start(), start + asks.end())
            because = "the shell puts values into this Compose file"
            not_read.append(NotRead(span, because, "dynamic"))
    return Reading(tuple(launches), not_read=tuple(not_read))
