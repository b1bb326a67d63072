"""Edits that give a Compose service another size, IPC mode, ulimit or environment, and touch nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.docker.sizes import spell_compose
from shmlint.files.read import Unreadable
from shmlint.formats.compose.splice import KEY, NULLS, Pair, change, insert, other_default, replace
from shmlint.formats.compose.tree import Leaf
from shmlint.model.launch import Change, ReadOnly
from shmlint.model.source import Span
from shmlint.syntax.yaml import Alias, Document, Mapping, Node, Scalar, read_documents
from shmlint.syntax.yaml import Sequence as SequenceNode

if TYPE_CHECKING:
    from shmlint.files.workspace import Workspace
    from shmlint.formats.compose.project import Body, Service

TOUCHED = (
    "environment", "ulimits", "ipc", "volumes", "tmpfs", "deploy", "gpus",
    "shm-size", "shmSize", "shmsize", "shm", "ShmSize", "shm_Size", "SHM_SIZE",
)  # fmt: skip
"""The keys beside ``shm_size`` that a change can be about: nothing else of a file may become another."""



class ServiceRewriter(ReadOnly):
    """Rewrites one service. ``gpu`` is where it asks for a GPU: what it needs belongs beside that."""

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
            if entry.tree.interpolated.used:
                edit = other_default(entry.tree, size)
                if edit is not None:
                    yield change(f"change `{KEY}` to {spell_compose(size)} in", entry.tree.layer.source, edit, here)
            yield from replace(entry, entry.tree, KEY, spell_compose(size), here)
            if entry.tree.interpolated.private:
                return
        yield from self.inserted((KEY, spell_compose(size), ""))

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
            if not isinstance(body.node, Mapping) or body.node.get(pair[0]) is None:
                yield from insert(body, pair, here)

    def bodies(self) -> Iterator[Body]:
        """The places a new line could go, the one that requests the GPU first.

        What the service extends is one of them where it stands in the same file. A file of templates
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


def same_beside(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
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
    loose = len(keys) > 1
    counterparts: dict[int, Node] = {}
    changed: set[int] = set()
    aliases: list[tuple[Alias, Alias]] = []
    todo: list[tuple[Node, Node, bool]] = [(old_root, new_root, False)]
    while todo:
        old, new, in_extension = todo.pop()
        counterparts[id(old)] = new
        if in_extension and loose:
            continue
        if isinstance(old, Alias) and isinstance(new, Mapping):
            left = _without(new, keys)
            if len(left) != 1 or not isinstance(left[0][0], Scalar) or left[0][0].value != "<<":
                return False
            new = left[0][1]
        elif isinstance(old, Scalar) and isinstance(new, Mapping):
            if old.value not in NULLS or old.style or _without(new, keys):
                return False
            continue
        if type(old) is not type(new) or (old.tag, old.anchor) != (new.tag, new.anchor):
            return False
        if isinstance(old, Alias) and isinstance(new, Alias):
            aliases.append((old, new))
        elif isinstance(old, Scalar) and isinstance(new, Scalar):
            if old.style != new.style:
                return False
            if old.value != new.value:
                if not in_extension or old.anchor is None:
                    return False
                changed.add(id(old))
        elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
            if old.flow != new.flow or len(old.items) != len(new.items):
                return False
            todo += [(a, b, in_extension) for a, b in zip(old.items, new.items, strict=True)]
        elif isinstance(old, Mapping) and isinstance(new, Mapping):
            pairs, others = _without(old, keys), _without(new, keys)
            if old.flow != new.flow or len(pairs) != len(others):
                return False
            for (key, value), (other_key, other_value) in zip(pairs, others, strict=True):
                extends = old is old_root and isinstance(key, Scalar) and key.value.startswith("x-")
                todo.append((key, other_key, False))
                todo.append((value, other_value, in_extension or extends))
            for name in keys - {KEY}:
                part, other_part = old.get(name), new.get(name)
                if part is not None and other_part is not None:
                    counterparts[id(part)] = other_part
            size, other_size = old.get(KEY), new.get(KEY)
            if size is not None and not (loose and other_size is None):
                if other_size is None:
                    return False
                counterparts[id(size)] = other_size
                if isinstance(size, Scalar) and isinstance(other_size, Scalar) and size.value != other_size.value:
                    changed.add(id(size))
    return all(
        id(old.target) not in changed
        and counterparts.get(id(old.target), new.target if loose else None) is new.target
        for old, new in aliases
    )


def _without(node: Mapping, keys: frozenset[str]) -> list[tuple[Node, Node]]:
    return [pair for pair in node.pairs if not isinstance(pair[0], Scalar) or pair[0].value not in keys]
