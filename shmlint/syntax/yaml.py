"""YAML documents: nodes that know where they are, with their aliases."""

from __future__ import annotations

from shmlint.model.source import Source


class YamlError(Exception):
    """A text is not YAML: what is wrong, and the character offset it was noticed at."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Node:
    """Part of a YAML document. ``start``/``end`` are character offsets, ``end`` exclusive.

    ``depth`` counts the collections from this node down, itself and what aliases stand for included;
    ``weight`` its parts, with those that merge keys bring: what copying it would cost.
    """

    __slots__ = ("anchor", "depth", "end", "start", "tag", "weight")

    def __init__(self, start: int, end: int, tag: str | None, anchor: str | None) -> None:
        self.start = start
        self.end = end
        self.tag = tag
        self.anchor = anchor
        self.depth = 0
        self.weight = 1

    @property
    def resolved(self) -> Node:
        """The node itself; what it stands for, where it is an alias."""
        return self


class Scalar(Node):
    """A scalar; ``style`` is ``'`` or ``"`` or ``|`` or ``>``, empty for a plain one."""

    __slots__ = ("style", "value")

    def __init__(
        self, start: int, end: int, tag: str | None, anchor: str | None, value: str, style: str
    ) -> None:
        # Not by super(): most nodes of a document are scalars, and that takes as long as all else here.
        self.start = start
        self.end = end
        self.tag = tag
        self.anchor = anchor
        self.depth = 0
        self.weight = 1
        self.value = value
        self.style = style


class MappingNode(Node):
    """A mapping; ``pairs`` in the order of the text, merge keys (``<<``) among them."""

    __slots__ = ("flow", "pairs")

    def __init__(self, start: int, tag: str | None, anchor: str | None, flow: bool) -> None:
        super().__init__(start, start, tag, anchor)
        self.flow = flow
        self.pairs: list[tuple[Node, Node]] = []

    def get(self, key: str) -> Node | None:
        """The value of a key written in this mapping itself, aliases not followed."""
        for name, value in self.pairs:
            if isinstance(name, Scalar) and name.value == key:
                return value
        return None


class SequenceNode(Node):
    __slots__ = ("flow", "items")

    def __init__(self, start: int, tag: str | None, anchor: str | None, flow: bool) -> None:
        super().__init__(start, start, tag, anchor)
        self.flow = flow
        self.items: list[Node] = []


class Alias(Node):
    """``*name``: stands for the node that carries the anchor."""

    __slots__ = ("target",)

    def __init__(self, start: int, end: int, target: Node) -> None:
        super().__init__(start, end, None, None)
        self.target = target
        self.depth = target.depth
        self.weight = target.weight

    @property
    def resolved(self) -> Node:
        return self.target


def text_at(node: Node | None, *path: str) -> str:
    """The text under a path of keys; empty where there is none."""
    for key in path:
        node = node.get(key) if isinstance(node, MappingNode) else None
    return node.value if isinstance(node, Scalar) else ""


class Document:
    """One document of a file: its root, keys that occur twice in one mapping, and keys that may be no text."""

    __slots__ = ("duplicates", "odd_keys", "root", "source")

    def __init__(self, source: Source, root: Node) -> None:
        self.source = source
        self.root = root
        self.duplicates: list[Scalar] = []
        self.odd_keys: list[Node] = []
