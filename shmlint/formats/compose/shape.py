"""Is this the shape of a compose file: a mapping at the top, known keys there, services that are mappings?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.invalid_keys import top_keys
from shmlint.formats.compose.places import means_size
from shmlint.formats.compose.refused import refused
from shmlint.formats.compose.tree import Branch, Layer, Leaf, Listing, Removed, Tree
from shmlint.formats.yaml_text import SERVICE_GPU
from shmlint.model.source import Problem, Span
from shmlint.syntax.yaml import Document, MappingNode, Node, Scalar, SequenceNode


def check(path: str, documents: Sequence[Document], workspace: Workspace) -> Iterator[Problem]:
    """What Compose would refuse in the shape of a file."""
    named = "compose" in os.path.basename(path).lower()
    if not documents:
        if named:
            yield Problem(Span(workspace.source(path), 0, 0), "not a compose file: it is empty", "wrong-file")
        return
    for document in documents:
        layer = Layer(document.source, {}, "")
        root = layer.tree(document.root)
        if isinstance(root, Leaf) and root.kind == "null" and len(documents) > 1:
            if named:
                message = "top-level object must be a mapping: this document is empty"
                yield Problem(layer.span(document.root), message, facts=("empty",))
            continue
        if not isinstance(root, Branch):
            if named:
                message = f"not a compose file: expected a mapping at the top, found {_what(root)}"
                yield Problem(layer.span(document.root), message, "wrong-file")
            continue
        for key in document.duplicates:
            line = _first_line(document, key)
            yield Problem(layer.span(key), f"key `{key.value}` is already set in line {line}", facts=("duplicate",))
        yield from refused(document, layer)
        yield from _services(root)


_TOP = frozenset({"version", "name", "include", "services", "models", "networks", "volumes", "secrets", "configs"})


def unknown_keys(documents: Sequence[Document], *, named: bool) -> Iterator[Problem]:
    """Keys at the top that Compose refuses in a file that it starts; one that is only extended may have them.

    ``named``: Compose finds the file by its name. Another program may read one that it does not find, so there
    only keys that hold anchors count.
    """
    for document in documents:
        layer = Layer(document.source, {}, "")
        root = layer.tree(document.root)
        if not isinstance(root, Branch) or not (_STARTS.intersection(root.entries) or (named and _misspelt(root))):
            continue
        yield from top_keys(root)
        for name, entry in root.entries.items():
            key, value = layer.tree(entry.key), entry.node
            if name in _TOP or name.startswith("x-") or not isinstance(key, Leaf) or key.kind != "str":
                continue
            if means_size(name):
                continue  # reported as misplaced
            if named or value.anchor is not None or "&" in document.source.text[value.start : value.end]:
                message = f"additional properties `{name}` not allowed: Compose refuses the file"
                is_near = _is_near_services(name)
                message += "; did you mean `services`?" if is_near else "; a key for anchors starts with `x-`"
                yield Problem(layer.span(entry.key), message, facts=("unknown", name))


_STARTS = frozenset({"services", "include"})
"""What a file has that starts something."""


def _misspelt(root: Branch) -> bool:
    """Whether a file that starts nothing has a key that is meant to be ``services``."""
    return any(map(_is_near_services, root.entries))


def _is_near_services(key: str) -> bool:
    return bool(get_close_matches(key.lower(), ["services"], cutoff=0.8))


def of_version_1(documents: Sequence[Document]) -> Span | None:
    """Where a file of services without ``services`` around them asks for a GPU; None where it is no such file."""
    for document in documents:
        layer = Layer(document.source, {}, "")
        root = layer.tree(document.root)
        if not isinstance(root, Branch) or not _TOP.isdisjoint(root.entries):
            return None
        for entry in root.entries.values():
            service = entry.tree
            if not isinstance(service, Branch) or service.entries.keys().isdisjoint(("image", "build")):
                continue
            asks = SERVICE_GPU.search(document.source.text, entry.node.start, entry.node.end)
            if asks is not None:
                start = asks.start() + len(asks[0]) - len(asks[0].lstrip())
                return Span(document.source, start, asks.end())
    return None


def _what(tree: Tree) -> str:
    if isinstance(tree, Listing):
        return "a list"
    if isinstance(tree, Leaf):
        return {"null": "nothing", "str": "a string", "bool": "true or false"}.get(tree.kind, "a number")
    return "a mapping"


def _first_line(document: Document, key: Scalar) -> int:
    """The line of the first key of the same name in the mapping that has it twice."""
    stack: list[Node] = [document.root]
    while stack:
        node = stack.pop()
        if isinstance(node, MappingNode):
            if any(name is key for name, _ in node.pairs):
                first = next(n for n, _ in node.pairs if isinstance(n, Scalar) and n.value == key.value)
                return document.source.position(first.start).line
            stack += [part for pair in node.pairs for part in pair]
        elif isinstance(node, SequenceNode):
            stack += node.items
    return document.source.position(key.start).line


def _services(root: Branch) -> Iterator[Problem]:
    """Whether what is under `services` are services."""
    entry = root.entries.get("services")
    services = entry.tree if entry is not None else None
    if entry is None or services is None or isinstance(services, Removed) or _is_null(services):
        return
    if not isinstance(services, Branch):
        yield Problem(services.span, "`services` must be a mapping of services", facts=("services",))
        return
    for name, service in services.entries.items():
        tree = service.tree
        if not isinstance(tree, Branch | Removed) and not _is_null(tree):
            yield Problem(tree.span, f"`services.{name}` must be a mapping", facts=("services", name))


def _is_null(tree: Tree) -> bool:
    return isinstance(tree, Leaf) and tree.kind == "null"
