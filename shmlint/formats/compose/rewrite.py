"""Edits that give a Compose service another size, IPC mode, ulimit or environment, and touch nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.docker.goyaml import NULLS
from shmlint.docker.sizes import spell_compose
from shmlint.files.read import Unreadable
from shmlint.formats.compose.splice import KEY, Pair, change, insert, other_default, replace, with_other_default
from shmlint.formats.compose.tree import Leaf
from shmlint.model.launch import Change, ReadOnly
from shmlint.model.source import Span
from shmlint.syntax.yaml import Alias, Document, MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents

if TYPE_CHECKING:
    from shmlint.files.workspace import Workspace
    from shmlint.formats.compose.project import Body, Service

TOUCHED = (
    "environment", "ulimits", "ipc", "volumes", "tmpfs", "deploy", "gpus",
    "shm-size", "shmSize", "shmsize", "shm", "ShmSize", "shm_Size", "SHM_SIZE",
)  # fmt: skip
"""The keys besides ``shm_size`` that a change can be about: nothing else of a file may become another."""



class ServiceRewriter(ReadOnly):
    """Rewrites one service. ``gpu`` is where it asks for a GPU: what it needs belongs next to that."""

    __slots__ = ("gpu", "service")

    def __init__(self, service: Service, gpu: Span | None) -> None:
        self.service = service
        self.gpu = gpu

    @property
    def home(self) -> Body:
        """The place the service is written at that requests the GPU; else its last own one."""
        own = [body for body in self.service.bodies if body.own]
        for body in own:
            if self.gpu is not None and _holds(body, self.gpu):
                return body
        return own[-1] if own else self.service.bodies[0]

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to make the service's ``shm_size`` so many bytes, the best first."""
        return list(self._changes(size))

    def drop_shm_size(self) -> Sequence[Change]:
        """A way to take the service's ``shm_size`` away, wherever it is given."""
        from shmlint.formats.compose.entries import drop_key

        return list(drop_key(self, KEY))

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """Ways to give the service an IPC mode, the best first; an empty one takes it away."""
        if not mode:
            from shmlint.formats.compose.entries import drop_key

            return list(drop_key(self, "ipc"))
        return list(self._set_ipc(mode))

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """Ways to set a ulimit, soft and hard, the best first."""
        from shmlint.formats.compose.entries import set_ulimit

        return list(set_ulimit(self, name, value))

    def drop_variable(self, name: str) -> Sequence[Change]:
        """A way to take a variable out of the service's environment, wherever it is given."""
        from shmlint.formats.compose.entries import drop_variable

        return list(drop_variable(self, name))

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """A way to give a variable of the service's environment another name, wherever it is given."""
        from shmlint.formats.compose.entries import rename_variable

        return list(rename_variable(self, name, new))

    def _changes(self, size: int) -> Iterator[Change]:
        here = self.home.layer.source
        entry = self.service.tree.entries.get(KEY)
        if entry is not None and isinstance(entry.tree, Leaf):
            # A file that is put on another one for the GPU: what else is put on that one keeps its size.
            overlay = self.gpu is not None and here is self.gpu.source and here is not entry.tree.layer.source
            if entry.tree.interpolated.used:
                if overlay:
                    yield from self._from_same_variable(entry.tree, size)
                edit = other_default(entry.tree, size)
                if edit is not None:
                    yield change(f"change `{KEY}` to {spell_compose(size)} in", entry.tree.layer.source, edit, here)
                if not overlay:
                    yield from self._from_same_variable(entry.tree, size)
            elif overlay:
                yield from self.inserted((KEY, spell_compose(size), ""))
            yield from replace(entry, entry.tree, KEY, spell_compose(size), here)
            if entry.tree.interpolated.private:
                return
        yield from self.inserted((KEY, spell_compose(size), ""))

    def _from_same_variable(self, leaf: Leaf, size: int) -> Iterator[Change]:
        """A size of its own for one of the service's places: whoever sets the variable decides it as before."""
        text = with_other_default(leaf, size)
        if text and all(body.layer.variables == leaf.layer.variables for body in self.bodies()):
            yield from self.inserted((KEY, text, ""))

    def _set_ipc(self, mode: str) -> Iterator[Change]:
        entry = self.service.tree.entries.get("ipc")
        if entry is not None and isinstance(entry.tree, Leaf):
            yield from replace(entry, entry.tree, "ipc", mode, self.home.layer.source)
            if entry.tree.interpolated.private:
                return
        yield from self.inserted(("ipc", mode, ""))

    def inserted(self, pair: Pair) -> Iterator[Change]:
        """Ways to write a new key and value at one of the service's places that has no such key."""
        here = self.home.layer.source
        for body in self.bodies():
            if not isinstance(body.node, MappingNode) or body.node.get(pair[0]) is None:
                yield from insert(body, pair, here)

    def bodies(self) -> Iterator[Body]:
        """The places a new line could go, the one that requests the GPU first.

        What the service extends is one of them where it is in the same file. A file of templates
        may have other users, which are unknown here.
        """
        own = [body for body in self.service.bodies if body.own]
        sources = {id(body.layer.source) for body in own}
        asking = [
            body for body in self.service.bodies
            if self.gpu is not None and _holds(body, self.gpu) and id(body.layer.source) in sources
        ]  # fmt: skip
        yield from asking
        for body in reversed(own):
            if body not in asking:
                yield body


def _holds(body: Body, span: Span) -> bool:
    return body.layer.source is span.source and body.node.start <= span.start and span.end <= body.node.end


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether a file says the same but for sizes, or but for all that a change can be about."""
    try:
        documents, others = read_documents(path, before), read_documents(path, after)
    except Unreadable:
        return False
    return same_but_for_size(documents, others, () if sizes_only else TOUCHED)


def same_but_for_size(
    before: Sequence[Document], after: Sequence[Document], also: Collection[str] = ()
) -> bool:
    """Whether documents say the same everywhere but under the key ``shm_size``.

    What is compared is what is written, anchors, aliases and quotes included. A service that was
    an alias or nothing may have become a mapping that adds the key to it, and an anchored value
    of an ``x-`` extension may be another where only ``shm_size`` refers to it.

    Where a change is about keys ``also``, these may be there or not and hold anything, and what an
    ``x-`` extension holds is left to what is made of it.
    """
    keys = frozenset((KEY, *also))
    return len(before) == len(after) and all(
        _same(old.root, new.root, keys) for old, new in zip(before, after, strict=True)
    )


def _same(old_root: Node, new_root: Node, keys: frozenset[str]) -> bool:
    compared = _Compared(old_root, keys)
    todo: list[_Pair] = [(old_root, new_root, False)]
    while todo:
        old, new, in_extension = todo.pop()
        compared.counterparts[id(old)] = new
        if in_extension and compared.loose:
            continue
        pairs = compared.pairs(old, new, in_extension=in_extension)
        if pairs is None:
            return False
        todo += pairs
    return compared.aliases_agree()


_Pair = tuple[Node, Node, bool]
"""A node, what is in its place, and whether it is a value of an ``x-`` extension."""


class _Compared:
    """Two documents of which one should be the other but for some keys, node for node."""

    def __init__(self, root: Node, keys: frozenset[str]) -> None:
        self.root = root
        self.keys = keys
        self.loose = len(keys) > 1
        self.counterparts: dict[int, Node] = {}
        self.changed: set[int] = set()
        """The scalars whose values are others now, by ``id``."""
        self.aliases: list[tuple[Alias, Alias]] = []

    def pairs(self, old: Node, new: Node, *, in_extension: bool) -> list[_Pair] | None:
        """What is left to compare in two nodes; None where they are not the same."""
        if isinstance(old, Scalar) and isinstance(new, MappingNode):
            return None if old.value not in NULLS or old.style or _without(new, self.keys) else []
        if isinstance(old, Alias) and isinstance(new, MappingNode):
            merged = _merged(new, self.keys)
            if merged is None:
                return None
            new = merged
        if type(old) is not type(new) or (old.tag, old.anchor) != (new.tag, new.anchor):
            return None
        if isinstance(old, Alias) and isinstance(new, Alias):
            self.aliases.append((old, new))
        elif isinstance(old, Scalar) and isinstance(new, Scalar):
            return [] if self._same_scalar(old, new, in_extension=in_extension) else None
        elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
            if old.flow != new.flow or len(old.items) != len(new.items):
                return None
            return [(a, b, in_extension) for a, b in zip(old.items, new.items, strict=True)]
        elif isinstance(old, MappingNode) and isinstance(new, MappingNode):
            return self._pairs_of_mapping(old, new, in_extension=in_extension)
        return []

    def _same_scalar(self, old: Scalar, new: Scalar, *, in_extension: bool) -> bool:
        if old.value == new.value or old.style != new.style:
            return old.style == new.style
        self.changed.add(id(old))
        return in_extension and old.anchor is not None

    def _pairs_of_mapping(self, old: MappingNode, new: MappingNode, *, in_extension: bool) -> list[_Pair] | None:
        mine, others = _without(old, self.keys), _without(new, self.keys)
        emptied = not mine and not new.pairs  # a block that held nothing else is `{}` now
        if (old.flow != new.flow and not emptied) or len(mine) != len(others) or not self._same_size(old, new):
            return None
        pairs: list[_Pair] = []
        for (key, value), (other_key, other_value) in zip(mine, others, strict=True):
            extends = old is self.root and isinstance(key, Scalar) and key.value.startswith("x-")
            pairs += [(key, other_key, False), (value, other_value, in_extension or extends)]
        for name in self.keys - {KEY}:
            part, other = old.get(name), new.get(name)
            if part is not None and other is not None:
                self.counterparts[id(part)] = other
        return pairs

    def _same_size(self, old: MappingNode, new: MappingNode) -> bool:
        """Whether a size is where one was; it may be another."""
        size, other = old.get(KEY), new.get(KEY)
        if size is None:
            return True
        if other is None:
            return self.loose
        self.counterparts[id(size)] = other
        if isinstance(size, Scalar) and isinstance(other, Scalar) and size.value != other.value:
            self.changed.add(id(size))
        return True

    def aliases_agree(self) -> bool:
        """Whether each alias means what it meant."""
        return all(
            id(old.target) not in self.changed
            and self.counterparts.get(id(old.target), new.target if self.loose else None) is new.target
            for old, new in self.aliases
        )


def _merged(node: MappingNode, keys: frozenset[str]) -> Node | None:
    """What a mapping merges (``<<``) that has nothing else but some keys."""
    left = _without(node, keys)
    is_merge = len(left) == 1 and isinstance(left[0][0], Scalar) and left[0][0].value == "<<"
    return left[0][1] if is_merge else None


def _without(node: MappingNode, keys: frozenset[str]) -> list[tuple[Node, Node]]:
    return [pair for pair in node.pairs if not isinstance(pair[0], Scalar) or pair[0].value not in keys]
