"""Compose files in the here-documents of scripts: ``cat > compose.yaml <<EOF``, ``docker compose -f - up <<EOF``."""

from __future__ import annotations

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read_embedded
from shmlint.formats.here_documents import is_changed
from shmlint.formats.yaml_text import SERVICES
from shmlint.model.reading import Reading, joined
from shmlint.syntax.shell import here_documents
from shmlint.syntax.shell_text import ShellText


def services(text: ShellText, workspace: Workspace) -> Reading:
    """The services of the Compose files that a script writes, but for those whose text the shell changes."""
    found: list[Reading] = []
    for start, end, literal in here_documents(text):
        written = text.source.text[start:end]
        if SERVICES.search(written) is not None and (literal or not is_changed(written)):
            found.append(read_embedded(text.source, start, end, workspace))
    return joined(found)
