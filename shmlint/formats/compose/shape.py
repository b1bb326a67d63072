"""Is this the shape of a compose file, in the parts that are read here?

A quick look at each file decides whether anything is odd; only then is jsonschema imported to
say what, because a start that finds nothing should not pay for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.places import means_size
from shmlint.formats.compose.refused import refused
from shmlint.formats.compose.tree import Branch, Layer, Leaf, Listing, Removed, Tree
from shmlint.model.source import Problem, Span
from shmlint.syntax.yaml import Document, MappingNode, Node, Scalar, SequenceNode

_READ = (
    "image", "build", "command", "entrypoint", "deploy", "gpus", "runtime", "devices", "environment",
    "ipc", "volumes", "tmpfs", "ulimits", "cap_add", "extends", "container_name", "env_file",
)  # fmt: skip
"""The keys of a service that are checked. ``shm_size`` has rules of its own."""

_MOST = 20_000
"""Parts of a file that are checked at the most: aliases can unfold to more than anyone wrote."""

_TEXT = ("image", "runtime", "ipc", "container_name")
_LISTS = ("devices", "volumes", "cap_add")


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
        if _odd(root):
            yield from _validate(root, layer)


_TOP = frozenset({"version", "name", "include", "services", "models", "networks", "volumes", "secrets", "configs"})


def unknown_keys(documents: Sequence[Document], *, named: bool) -> Iterator[Problem]:
    """Keys at the top that Compose refuses in a file that it starts; one that is only extended may have them.

    ``named``: Compose finds the file by its name. Another program may read one that it does not find, so there
    only keys that hold anchors count.
    """
    for document in documents:
        layer = Layer(document.source, {}, "")
        root = layer.tree(document.root)
        if not isinstance(root, Branch) or not ("services" in root.entries or "include" in root.entries):
            continue
        for name, entry in root.entries.items():
            key, value = layer.tree(entry.key), entry.node
            if name in _TOP or name.startswith("x-") or not isinstance(key, Leaf) or key.kind != "str":
                continue
            if means_size(name):
                continue  # reported as misplaced
            if named or value.anchor is not None or "&" in document.source.text[value.start : value.end]:
                message = f"additional properties `{name}` not allowed: Compose refuses the file"
                message += "; a key for anchors starts with `x-`"
                yield Problem(layer.span(entry.key), message, facts=("unknown", name))


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


def _odd(root: Branch) -> bool:
    services = root.entries.get("services")
    if services is None:
        return False
    tree = services.tree
    if isinstance(tree, Leaf) and tree.kind == "null":
        return False
    if not isinstance(tree, Branch):
        return True
    return any(_odd_service(entry.tree) for entry in tree.entries.values())


def _odd_service(service: Tree) -> bool:
    if isinstance(service, Removed) or (isinstance(service, Leaf) and service.kind == "null"):
        return False
    if not isinstance(service, Branch):
        return True
    for name in _READ:
        entry = service.entries.get(name)
        if entry is None:
            continue
        value = entry.tree
        if isinstance(value, Removed) or (isinstance(value, Leaf) and value.kind == "null"):
            continue
        if _odd_value(name, value):
            return True
    return False


def _odd_value(name: str, value: Tree) -> bool:
    if name in _TEXT:
        return not isinstance(value, Leaf) or value.kind != "str"
    if name in _LISTS:
        return not isinstance(value, Listing)
    if name in ("deploy", "ulimits"):
        return not isinstance(value, Branch)
    if name == "environment":
        return isinstance(value, Leaf)
    if name in ("command", "entrypoint", "tmpfs", "env_file"):
        return isinstance(value, Branch) or (isinstance(value, Leaf) and value.kind != "str")
    return False


def _validate(root: Branch, layer: Layer) -> Iterator[Problem]:
    import json
    from importlib.resources import files

    from jsonschema import Draft202012Validator

    schema = json.loads(files("shmlint.formats.compose").joinpath("compose.schema.json").read_text("utf-8"))
    data, places = {}, {}
    services = root.entries["services"]
    places["services",] = services.node.resolved
    data["services"] = _plain(services.tree, ("services",), places, depth=0)
    for error in sorted(Draft202012Validator(schema).iter_errors(data), key=lambda e: list(map(str, e.path))):
        at = tuple(error.absolute_path)
        while at and at not in places:
            at = at[:-1]
        node = places.get(at, root.node)
        where = ".".join(str(part) for part in error.absolute_path)
        expected = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
        message = f"`{where}` must be {expected}" if expected else f"`{where}`: {error.message[:120]}"
        rule = error.absolute_schema_path
        yield Problem(layer.span(node), message, facts=(where, *map(str, list(rule)[:-1] if expected else rule)))


def _plain(tree: Tree, at: tuple[Any, ...], places: dict[tuple[Any, ...], Node], depth: int) -> Any:
    """Plain data of what the schema describes, and the node each part came from."""
    if depth > 8 or len(places) > _MOST or isinstance(tree, Removed):
        return None
    places[at] = tree.node
    if isinstance(tree, Leaf):
        return tree.plain_value
    if isinstance(tree, Listing):
        return [_plain(item, (*at, i), places, depth + 1) for i, item in enumerate(tree.items)]
    keep = set(_READ) if depth == 1 else None
    return {
        name: _plain(entry.tree, (*at, name), places, depth + 1)
        for name, entry in tree.entries.items()
        if keep is None or name in keep
    }
