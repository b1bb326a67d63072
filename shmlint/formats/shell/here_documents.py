"""Compose files in the here-documents of scripts: ``cat > compose.yaml <<EOF``, ``docker compose -f - up <<EOF``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read_embedded
from shmlint.model.launch import Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.source import Source, Span
from shmlint.syntax.shell import here_documents
from shmlint.syntax.shell_text import ShellText

_SERVICES = re.compile(r"^[ \t]*services:[ \t]*(?:#.*)?$", re.M)
_SERVICES_GPU = re.compile(
    r"^[ \t]*(?:-[ \t]*)?(?:gpus:[ \t]*\S|runtime:[ \t]*[\"']?nvidia|.*capabilities:\s*[-\[][-\[ \t\"']*gpu\b)", re.M
)
_MANIFEST = re.compile(r"^[ \t]*apiVersion:[ \t]*\S", re.M)
_MANIFEST_GPU = re.compile(r"[\w-]+\.(?:com|ai)/(?:gpu|mig-|gaudi)[\w.-]*[\"']?[ \t]*:")


def services(text: ShellText, workspace: Workspace) -> list[Launch]:
    """The services of the Compose files that a script writes, but for those whose text the shell changes."""
    found: list[Launch] = []
    for start, end, literal in here_documents(text):
        written = text.source.text[start:end]
        if _SERVICES.search(written) is not None and (literal or not _is_changed(written)):
            found += read_embedded(text.source, start, end, workspace)
    return found


def _is_changed(written: str) -> bool:
    """Whether the shell puts values into a text, where its end is not quoted."""
    return any(sign in written for sign in "$`\\")


_BODY = re.compile(
    r"(?<!<)<<(?P<tabs>-?)[ \t]*(?P<quote>[\"'\\]?)(?P<end>\w+)[\"']?(?!<)[^\n]*\n"
    r"(?P<text>(?:(?![ \t]*(?P=end)[ \t]*$)[^\n]*\n)+)",
    re.M,
)
"""A here-document in any language that holds shell, however it is indented there."""


def not_read(source: Source, reading: Reading) -> Iterator[NotRead]:
    """The manifests and services with a GPU in the here-documents of a file of which nothing was read."""
    known = {launch.span.line for launch in reading.launches if launch.kind == "compose-service"}
    known |= {place.span.line for place in reading.not_read}
    for body in _BODY.finditer(source.text) if "<<" in source.text else ():
        text, start = body["text"], body.start("text")
        if _MANIFEST.search(text) is not None:
            asks, because, kind = _MANIFEST_GPU.search(text), "Kubernetes manifests in here-documents are not read", ""
        elif _SERVICES.search(text) is not None:
            asks = _SERVICES_GPU.search(text)
            kind = "dynamic" if not body["quote"] and _is_changed(text) else ""
            because = "Compose files in here-documents are not read in such a file"
            because = "the shell puts values into this Compose file" if kind else because
        else:
            continue
        lines = range(source.position(start).line, source.position(body.end("text")).line)
        if asks is not None and known.isdisjoint(lines):
            span = Span(source, start + asks.start(), start + asks.end())
            yield NotRead(span, because, "dynamic" if kind else "unsupported", whole=False)
