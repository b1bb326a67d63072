"""The values of an object, each with the places it is written at.

YAML nodes know their offsets and not their file. An object of a kustomization is made of several
files, so the values here know theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.goyaml import NULLS
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax import yaml


class Leaf(NamedTuple):
    """A scalar; ``plain`` where it is written without quotes."""

    span: Span
    text: str
    plain: bool

    @property
    def null(self) -> bool:
        """Whether it stands for nothing."""
        return self.plain and self.text in NULLS


class Field(NamedTuple):
    """A key of a mapping and its value."""

    key: Span
    value: Tree


class Written(NamedTuple):
    """A node of a file that may be edited. ``shared``: it is in something that has an anchor."""

    source: Source
    node: yaml.Node
    shared: bool = False


class Map(NamedTuple):
    """A mapping. ``written`` holds the nodes that make it up, one a file."""

    span: Span
    fields: dict[str, Field]
    written: tuple[Written, ...] = ()

    def in_file(self, source: Source) -> Written | None:
        """The mapping as a file writes it."""
        return next((place for place in self.written if place.source is source), None)

    def get(self, *path: str) -> Tree | None:
        """The value under a path of keys; None where there is none, or it is null."""
        here: Tree = self
        for key in path:
            found = here.fields.get(key) if isinstance(here, Map) else None
            if found is None:
                return None
            here = found.value
        return None if isinstance(here, Leaf) and here.null else here

    def map(self, *path: str) -> Map | None:
        """The mapping under a path of keys."""
        found = self.get(*path)
        return found if isinstance(found, Map) else None

    def maps(self, *path: str) -> tuple[Map, ...]:
        """The mappings of the list under a path of keys."""
        found = self.get(*path)
        return tuple(item for item in found.items if isinstance(item, Map)) if isinstance(found, List) else ()

    def texts(self, *path: str) -> tuple[str, ...]:
        """The texts of the list under a path of keys."""
        found = self.get(*path)
        return tuple(i.text for i in found.items if isinstance(i, Leaf)) if isinstance(found, List) else ()

    def leaf(self, *path: str) -> Leaf | None:
        """The scalar under a path of keys."""
        found = self.get(*path)
        return found if isinstance(found, Leaf) else None

    def text(self, *path: str) -> str:
        """The text of the scalar under a path of keys; empty where there is none."""
        found = self.leaf(*path)
        return found.text if found is not None else ""


class List(NamedTuple):
    """A sequence. ``written`` holds the nodes that make it up, one a file."""

    span: Span
    items: tuple[Tree, ...]
    written: tuple[Written, ...] = ()


Tree = Map | List | Leaf


def build(node: yaml.Node, source: Source, *, fixed: bool = False, shared: bool = False) -> Tree:
    """The value that a node stands for.

    ``fixed``: what is in it may not be edited. ``shared``: an edit may change other places too.
    """
    shared = shared or isinstance(node, yaml.Alias) or node.anchor is not None
    node = node.resolved
    span = Span(source, node.start, max(node.start, node.end))
    written = () if fixed else (Written(source, node, shared),)
    if isinstance(node, yaml.MappingNode):
        return Map(span, dict(_fields(node, source, fixed=fixed, shared=shared)), written)
    if isinstance(node, yaml.SequenceNode):
        items = tuple(build(item, source, fixed=fixed, shared=shared) for item in node.items)
        return List(span, items, written)
    assert isinstance(node, yaml.Scalar)
    return Leaf(span, node.value, not node.style and node.tag is None)


def _fields(node: yaml.MappingNode, source: Source, *, fixed: bool, shared: bool) -> Iterator[tuple[str, Field]]:
    """The fields of a mapping, those that merge keys bring first."""
    for key, value in node.pairs:
        if isinstance(key, yaml.Scalar) and key.value == "<<" and not key.style:
            merged = value.resolved
            for item in reversed(merged.items) if isinstance(merged, yaml.SequenceNode) else (merged,):
                if isinstance(item.resolved, yaml.MappingNode):
                    yield from _fields(item.resolved, source, fixed=fixed, shared=True)
    for key, value in node.pairs:
        name = key.resolved
        if isinstance(name, yaml.Scalar) and (name.value != "<<" or name.style):
            tree = build(value, source, fixed=fixed, shared=shared)
            yield name.value, Field(Span(source, key.start, key.end), tree)


def plain(tree: Tree) -> object:
    """What a value says, without its places."""
    if isinstance(tree, Map):
        return {name: plain(field.value) for name, field in tree.fields.items()}
    if isinstance(tree, List):
        return [plain(item) for item in tree.items]
    return None if tree.null else (tree.text, tree.plain)
