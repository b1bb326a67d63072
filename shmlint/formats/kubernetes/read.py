"""Manifests: the objects of a file, their pods, and the containers of these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.files.cache import Key
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.containers import Owner, read_pod
from shmlint.formats.kubernetes.pods import find
from shmlint.formats.kubernetes.rewrite import PodRewriter
from shmlint.formats.kubernetes.tree import List, Map, build
from shmlint.model.launch import Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Source, Span
from shmlint.syntax.yaml import Mapping, Node, Scalar, read_documents

_TEMPLATE = re.compile(
    r"\{\{-|-\}\}|\{%|\{\{\s*(?:\$?\.(?:Values|Release|Chart|Files|Capabilities|Template)\b"
    r"|(?:include|template|if|range|with|end|toYaml|tpl|define)\b)"
)
"""What only a template of Helm, or of Jinja, holds. Argo has ``{{inputs.parameters.x}}`` in its texts."""


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
    if template is not None:
        because = "it is a template; shmlint reads what it renders: `helm template … | shmlint -`"
        return File(not_read=NotRead(Span(source, template.start(), template.end()), because, "dynamic"))
    try:
        documents = read_documents(path, workspace)
    except Unreadable as error:
        if "{{" in source.text:
            return File(not_read=NotRead(error.problem.span, "it is no YAML, and seems to be a template", "dynamic"))
        return File(problem=error.problem)
    return File(tuple(m for document in documents for m in _objects(document.root, source, path)))


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


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers of all pods that the files describe."""
    found: list[Launch] = []
    problems: list[Problem] = []
    not_read: list[NotRead] = []
    for path in paths:
        file = read_file(path, workspace)
        problems += (file.problem,) if file.problem is not None else ()
        not_read += (file.not_read,) if file.not_read is not None else ()
        for manifest in file.manifests:
            found += launches(manifest, (path,))
    return Reading(tuple(found), tuple(problems), not_read=tuple(not_read))


def launches(manifest: Manifest, files: tuple[str, ...], unknown: str = "") -> Iterator[Launch]:
    """The containers of an object's pods. ``unknown`` is why more may be said of it than is known."""
    root = manifest.root
    claims = {text for claim in root.maps("spec", "volumeClaimTemplates") if (text := claim.text("metadata", "name"))}
    name = manifest.name
    label = f"{manifest.kind} `{name}`" if name else f"a {manifest.kind}"
    owner = Owner(label, name, files, frozenset(claims), unknown)
    for pod in find(root):
        yield from read_pod(pod, owner, PodRewriter)
