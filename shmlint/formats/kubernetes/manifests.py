"""The objects that a file holds."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from shmlint.files.cache import Key
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.tree import List, Map, build
from shmlint.model.reading import NotRead
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Source, Span
from shmlint.syntax.yaml import Mapping, Node, Scalar
from shmlint.syntax.yaml_read import read_documents

_TEMPLATE = re.compile(
    r"\{\{-|-\}\}|\{%|\{\{\s*(?:\$?\.(?:Values|Release|Chart|Files|Capabilities|Template)\b"
    r"|(?:include|template|if|range|with|end|toYaml|tpl|define)\b)"
)
"""What only a template of Helm, or of Jinja, holds. Argo has ``{{inputs.parameters.x}}`` in its texts."""

_HELM = re.compile(r"\{\{[^{}]*(?:\.(?:Values|Release|Chart|Files|Capabilities|Template)|\b(?:include|toYaml|tpl))\b")
"""What only Helm knows; the templates of a controller have the same syntax, and other values."""


class Manifest(NamedTuple):
    """An object of a file."""

    path: str
    root: Map

    @property
    def kind(self) -> str:
        return self.root.text("kind")

    @property
    def name(self) -> str:
        """The object's name, or what it is generated from."""
        return self.root.text("metadata", "name") or self.root.text("metadata", "generateName")


class File(NamedTuple):
    """What a file holds: objects, what is wrong with its syntax, or why it is not read."""

    manifests: tuple[Manifest, ...] = ()
    problem: Problem | None = None
    not_read: NotRead | None = None


_FILE: Key[File] = Key("kubernetes manifests")


def read_file(path: str, workspace: Workspace) -> File:
    """The objects of a file, parsed once."""
    return workspace.once(_FILE, path, lambda files: _parsed(path, files))


def _parsed(path: str, workspace: Workspace) -> File:
    try:
        source = workspace.source(path)
    except Unreadable as error:
        return File(problem=error.problem)
    template = _TEMPLATE.search(source.text)
    try:
        documents = read_documents(path, workspace)
    except Unreadable as error:
        if template is not None:
            return _a_template(source, template)
        if "{{" in source.text:
            return File(not_read=NotRead(error.problem.span, "it is not YAML, and seems to be a template", "dynamic"))
        return File(problem=error.problem)
    if template is not None:
        files = [span for document in documents for span in _data(document.root)]
        for found in _TEMPLATE.finditer(source.text):
            at = bisect_right(files, (found.start(), len(source.text)))
            if not at or found.start() >= files[at - 1][1]:
                return _a_template(source, found)
    return File(tuple(m for document in documents for m in _objects(document.root, source, path)))


def _a_template(source: Source, found: re.Match[str]) -> File:
    because = "it is a template, and what it is filled with is unknown"
    if _HELM.search(source.text):
        because = "it is a template; shmlint reads what it renders: `helm template … | shmlint -`"
    return File(not_read=NotRead(Span(source, found.start(), found.end()), because, "dynamic"))


def _data(root: Node) -> Iterator[tuple[int, int]]:
    """Where a ConfigMap or a Secret holds the contents of files, which may be templates of other programs."""
    node = root.resolved
    if not isinstance(node, Mapping):
        return
    kind = node.get("kind")
    if isinstance(kind, Scalar) and kind.value in ("ConfigMap", "Secret"):
        for key in ("data", "stringData"):
            value = node.get(key)
            if isinstance(value, Mapping):
                yield from ((v.start, v.end) for _, v in value.pairs if isinstance(v, Scalar) and v.style in ("|", ">"))


def _objects(root: Node, source: Source, path: str) -> Iterator[Manifest]:
    """The objects of a document, those of lists one by one."""
    node = root.resolved
    if not isinstance(node, Mapping) or not all(_is_text(node.get(key)) for key in ("apiVersion", "kind")):
        return
    tree = build(root, source)
    assert isinstance(tree, Map)
    items = tree.get("items")
    if tree.text("kind").endswith("List") and isinstance(items, List):
        yield from (Manifest(path, item) for item in items.items if isinstance(item, Map) and item.text("kind"))
    else:
        yield Manifest(path, tree)


def _is_text(node: Node | None) -> bool:
    return node is not None and isinstance(node.resolved, Scalar)
