"""Compose files that are templates, though their names do not say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.template import whole
from shmlint.model.reading import NotRead
from shmlint.syntax.template import PLACEHOLDER, statements
from shmlint.syntax.yaml import Document, MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents


def as_template(path: str, workspace: Workspace) -> NotRead | None:
    """A file that only a template engine makes a Compose file of; None where it is one.

    Placeholders in quotation marks are values that are not known. Raises Unreadable where the file cannot be read.
    """
    source = workspace.source(path)
    if "{{" not in source.text and "{%" not in source.text:
        return None
    found = [*statements(source.text), *(match.start() for match in PLACEHOLDER.finditer(source.text))]
    try:
        documents = read_documents(path, workspace) if found else []
    except Unreadable:
        return whole(source, min(found))
    at = next(_outside(documents, statements(source.text)), None)
    return whole(source, at) if at is not None else None


def _outside(documents: Sequence[Document], places: Iterator[int]) -> Iterator[int]:
    """The statements that stand in no text, and ``shm_size: {{ size }}``, a mapping as the key of a mapping."""
    yield from (key.start for document in documents for key in document.odd_keys if isinstance(key, MappingNode))
    for at in places:
        if not any(_in_text(document.root, at) for document in documents):
            yield at


def _in_text(root: Node, at: int) -> bool:
    """Whether an offset is in a scalar: a file's content, the template of a model's chat."""
    pending = [root]
    for node in pending:  # grows while it is walked
        if isinstance(node, Scalar) and node.start <= at < node.end:
            return True
        if isinstance(node, MappingNode):
            pending += (part for pair in node.pairs for part in pair)
        elif isinstance(node, SequenceNode):
            pending += node.items
    return False
