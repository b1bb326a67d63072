"""Suppression comments of compose files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.comments import HASH, at_end, line_suppressions
from shmlint.model.launch import Launch
from shmlint.model.source import Edit, Source
from shmlint.model.suppression import Suppression
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The comments; what is in a quoted or block scalar is not one."""
    texts = list(_texts(source, workspace)) if HASH.search(source.text) else []
    return line_suppressions(
        source, HASH, "#", lambda at: not any(start <= at < end for start, end in texts)
    )


def _texts(source: Source, workspace: Workspace) -> Iterator[tuple[int, int]]:
    """Where the quoted and block scalars of a YAML file are."""
    try:
        stack: list[Node] = [document.root for document in read_documents(source.path, workspace)]
    except Unreadable:
        return
    while stack:
        node = stack.pop()
        if isinstance(node, Scalar) and node.style:
            yield node.start, node.end
        elif isinstance(node, SequenceNode):
            stack += node.items
        elif isinstance(node, MappingNode):
            stack += (part for pair in node.pairs for part in pair)


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment after the service's key; JSON has none."""
    if launch.span.path.lower().endswith(".json"):
        return None
    return at_end(launch.span.source, launch.span.line, f"# {text}")
