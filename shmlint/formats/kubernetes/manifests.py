"""The objects that a file holds."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from shmlint.files.cache import Key
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.tree import List, Map, build
from shmlint.formats.template import RENDERED, whole
from shmlint.model.reading import NotRead
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Source
from shmlint.syntax.yaml import Document, MappingNode, Node, Scalar, YamlError
from shmlint.syntax.yaml_read import parse_part, read_documents

_TEMPLATE = re.compile(
    r"\{\{-|-\}\}|\{%|\{\{\s*(?:\$?\.(?:Values|Release|Chart|Files|Capabilities|Template)\b"
    r"|(?:include|template|if|range|with|end|toYaml|tpl|define)\b)"
)
"""What only a template of Helm, or of Jinja, holds. Argo has ``{{inputs.parameters.x}}`` in its texts."""

_PLACEHOLDER = re.compile(r"\{\{|<%|%\{|\$\[\[")
"""What begins a placeholder of other tools; in a text that is not YAML it shows a template."""

_GPU = re.compile(r"(?i)gpu|nvidia|cuda|amd\.com|habana|gaudi|ascend|/dev/shm")
"""Without one of these words, a broken manifest holds nothing that could be reported."""

_HELM = re.compile(r"\{\{[^{}]*(?:\.(?:Values|Release|Chart|Files|Capabilities|Template)|\b(?:include|toYaml|tpl))\b")
"""What only Helm knows; the templates of a controller have the same syntax, and other values."""


_STATEMENT = re.compile(
    r"\{\{-?\s*(?:/\*|(?:if|else|range|with|block|define|end)\b)|\{%|\{#|<%|%\{|^%", re.MULTILINE
)
"""What may take documents away, or repeat them, beyond the one that it is written in."""

_BOUNDARY = re.compile(r"^---(?=\s|$)", re.MULTILINE)


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
    """What a file holds: objects, what is wrong with its syntax, or why it is not read.

    ``documents`` are those that are read, ``unread`` the texts of the others.
    """

    manifests: tuple[Manifest, ...] = ()
    problem: Problem | None = None
    not_read: tuple[NotRead, ...] = ()
    documents: tuple[Document, ...] = ()
    unread: tuple[str, ...] = ()


_FILE: Key[File] = Key("kubernetes manifests")


def read_file(path: str, workspace: Workspace) -> File:
    """The objects of a file, parsed once."""
    return workspace.once(_FILE, path, lambda files: _parsed(path, files))


def _parsed(path: str, workspace: Workspace) -> File:
    try:
        source = workspace.source(path)
    except Unreadable as error:
        return File(problem=error.problem)
    file = _read(source, 0, lambda: read_documents(path, workspace))
    starts = [found.start() for found in _BOUNDARY.finditer(source.text)]
    if not file.not_read or file.not_read[0].kind != "template" or not starts or _STATEMENT.search(source.text):
        return file
    parts = zip((0, *starts), (*starts, len(source.text)), strict=True)
    files = [_read_part(source, start, end) for start, end in parts]
    return _joined(files) if any(part.manifests for part in files) else file


def _read_part(source: Source, start: int, end: int) -> File:
    """One document of a file of which others are templates."""

    def parsed() -> list[Document]:
        try:
            return parse_part(source, start, end)
        except YamlError as error:
            raise Unreadable(source.path, error.message, error.offset, source) from None

    file = _read(source, start, parsed, end)
    return file._replace(not_read=tuple(place._replace(whole=False) for place in file.not_read))


def _joined(files: Sequence[File]) -> File:
    return File(
        tuple(manifest for file in files for manifest in file.manifests),
        next((file.problem for file in files if file.problem is not None), None),
        tuple(place for file in files for place in file.not_read),
        tuple(document for file in files for document in file.documents),
        tuple(text for file in files for text in file.unread),
    )


def _read(source: Source, start: int, parsed: Callable[[], list[Document]], end: int | None = None) -> File:
    """What a text holds, or part of one. ``parsed`` gives its documents; it raises Unreadable."""
    end = len(source.text) if end is None else end
    text = source.text[start:end]
    template = _TEMPLATE.search(source.text, start, end)
    try:
        documents = parsed()
    except Unreadable as error:
        found = template or _PLACEHOLDER.search(source.text, start, end)
        if found is not None:
            return _a_template(source, found.start(), text)
        if _GPU.search(source.text, start, end) is None:
            because = f"its syntax is broken, and it mentions no GPU: {error.problem.message}"
            return File(not_read=(NotRead(error.problem.span, because, "syntax", whole=True),), unread=(text,))
        return File(problem=error.problem)
    if template is not None:
        files = [span for document in documents for span in _data(document.root)]
        for found in _TEMPLATE.finditer(source.text, start, end):
            at = bisect_right(files, (found.start(), end))
            if not at or found.start() >= files[at - 1][1]:
                return _a_template(source, found.start(), text)
    unquoted = next((key for document in documents for key in document.odd_keys if isinstance(key, MappingNode)), None)
    if unquoted is not None:  # `name: {{ name }}`: a mapping as the key of a mapping
        return _a_template(source, unquoted.start, text)
    manifests = tuple(m for document in documents for m in _objects(document.root, source, source.path))
    return File(manifests, documents=tuple(documents))


def _a_template(source: Source, at: int, text: str) -> File:
    subject = "it" if len(text) == len(source.text) else "this document"
    hint = "shmlint reads the output of `helm template … | shmlint -`" if _HELM.search(source.text) else RENDERED
    return File(not_read=(whole(source, at, f"{subject} is a template; {hint}"),), unread=(text,))


def _data(root: Node) -> Iterator[tuple[int, int]]:
    """Where a ConfigMap or a Secret holds the contents of files, which may be templates of other programs."""
    node = root.resolved
    if not isinstance(node, MappingNode):
        return
    kind = node.get("kind")
    if isinstance(kind, Scalar) and kind.value in ("ConfigMap", "Secret"):
        for key in ("data", "stringData"):
            value = node.get(key)
            if isinstance(value, MappingNode):
                yield from ((v.start, v.end) for _, v in value.pairs if isinstance(v, Scalar) and v.style in ("|", ">"))


def _objects(root: Node, source: Source, path: str) -> Iterator[Manifest]:
    """The objects of a document, those of lists one by one."""
    node = root.resolved
    if not isinstance(node, MappingNode) or not all(_is_text(node.get(key)) for key in ("apiVersion", "kind")):
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
