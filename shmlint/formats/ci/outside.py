"""The variables that files which a CI file names may set for its scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.ci.variables import given, handed_on
from shmlint.syntax.yaml import Document, MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents

_MOST_FILES = 20
"""Files that one CI file names and that are looked at."""


def set_outside(documents: Sequence[Document], workspace: Workspace, top: str) -> frozenset[str]:
    """The variables that other files may set. ``top`` is that of the repository."""
    found: set[str] = set()
    for document in documents:
        found.update(_by_steps(document.root, workspace, top))
        include = document.root.get("include") if isinstance(document.root, MappingNode) else None
        if include is not None and isinstance(document.root, MappingNode):
            found |= _by_includes(document.root, include, workspace, top)
    return frozenset(found)


def _by_steps(root: Node, workspace: Workspace, top: str) -> Iterator[str]:
    """What actions and scripts of the repository hand to later steps by GitHub's file of variables."""
    for path in list(dict.fromkeys(_named(root)))[:_MOST_FILES]:
        source = workspace.peek(os.path.join(top, path))
        yield from handed_on(source.text, ("GITHUB_ENV",)) if source is not None else ()


def _named(root: Node) -> Iterator[str]:
    """The files that steps name: of a local action, and scripts."""
    stack: list[tuple[str, Node]] = [("", root)]
    while stack:
        key, node = stack.pop()
        if isinstance(node, MappingNode):
            stack += [(name.value, value) for name, value in node.pairs if isinstance(name, Scalar)]
        elif isinstance(node, SequenceNode):
            stack += [(key, item) for item in node.items]
        elif isinstance(node, Scalar) and key == "uses" and node.value.startswith("./"):
            yield from (f"{node.value}/action.yml", f"{node.value}/action.yaml")
        elif isinstance(node, Scalar) and key == "run":
            yield from re.findall(r"[\w./-]+\.(?:sh|py)(?![\w.-])", node.value)


def _by_includes(root: MappingNode, include: Node, workspace: Workspace, top: str) -> set[str]:
    """The variables of GitLab's file that a job of an included one may set.

    Those of a job itself win. What is included from elsewhere may set any of those that are for all jobs.
    """
    every = {name for name, _ in given(root)}
    found: set[str] = set()
    for item in include.items if isinstance(include, SequenceNode) else (include,):
        local = item.get("local") if isinstance(item, MappingNode) else item
        path = local.value.lstrip("/") if isinstance(local, Scalar) else ""
        try:
            documents = read_documents(os.path.join(top, path), workspace) if path and "://" not in path else []
        except Unreadable:
            documents = []
        if not documents:
            return every
        for document in documents:
            found |= {name for node in _mappings(document.root) for name, _ in given(node)}
    return found & every


def _mappings(root: Node) -> Iterator[MappingNode]:
    """The jobs of a file, and the file itself."""
    if isinstance(root, MappingNode):
        yield root
        yield from (node.resolved for _, node in root.pairs if isinstance(node.resolved, MappingNode))
