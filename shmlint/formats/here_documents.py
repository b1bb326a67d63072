"""What files with shell in them write by here-documents, and is not read: manifests and Compose files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.formats.yaml_text import MANIFEST, MANIFEST_GPU, SERVICE_GPU, SERVICES
from shmlint.model.reading import NotRead, Reading
from shmlint.model.source import Source, Span


def is_changed(written: str) -> bool:
    """Whether the shell puts values into a text, where its end is not quoted."""
    return any(sign in written for sign in "$`\\")


HERE_DOCUMENT = re.compile(
    r"(?<!<)<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<end>\w+)[\"']?(?!<)[^\n]*\n"
    r"(?P<text>(?:(?![ \t]*(?P=end)[ \t]*$)[^\n]*\n)+)",
    re.M,
)
"""A here-document in any language that holds shell, however it is indented there."""


def not_read(source: Source, reading: Reading) -> Iterator[NotRead]:
    """The manifests and services with a GPU in the here-documents of a file of which nothing was read."""
    known = {launch.span.line for launch in reading.launches if launch.kind == "compose-service"}
    known |= {place.span.line for place in reading.not_read}
    for body in HERE_DOCUMENT.finditer(source.text):
        start, end = body.span("text")
        if known.isdisjoint(range(source.position(start).line, source.position(end).line)):
            yield from _asking(source, body)


def _asking(source: Source, body: re.Match[str]) -> Iterator[NotRead]:
    """Where a here-document asks for a GPU, if it is a manifest or a Compose file."""
    text, start = body["text"], body.start("text")
    if MANIFEST.search(text) is not None:
        asks, because = MANIFEST_GPU.search(text), "Kubernetes manifests in here-documents are not read"
    else:
        asks = SERVICE_GPU.search(text) if SERVICES.search(text) is not None else None
        because = "Compose files in here-documents are only read in scripts and documents"
    if asks is None:
        return
    span = Span(source, start + asks.start(), start + asks.end())
    if not body["quote"] and is_changed(text) and asks.re is SERVICE_GPU:
        yield NotRead(span, "the shell puts values into this Compose file", "dynamic")
    else:
        yield NotRead(span, because, "unsupported")
