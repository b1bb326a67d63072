"""Edits that give a Compose service a shared-memory size, and touch nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.composefile.tree import Entry, Leaf
from shmlint.launch import Change, ReadOnly
from shmlint.size import InvalidSize, parse_docker, spell_compose
from shmlint.source import Edit, Source, Span
from shmlint.yamlnodes import Alias, Document, Mapping, Node, Scalar
from shmlint.yamlnodes import Sequence as SequenceNode

if TYPE_CHECKING:
    from shmlint.composefile.project import Body, Service

_NEIGHBOURS = ("runtime", "gpus", "image", "build", "extends", "container_name", "<<")
"""The keys a new ``shm_size`` is put behind, the best first."""

KEY = "shm_size"

_NULLS = ("", "~", "null", "Null", "NULL")


class ServiceRewriter(ReadOnly):
    """Rewrites one service. ``gpu`` is where it asks for a GPU: what it needs belongs beside that."""

    __slots__ = ("gpu", "service")

    def __init__(self, service: Service, gpu: Span | None) -> None:
        self.service = service
        self.gpu = gpu

    @property
    def home(self) -> Body:
        """The place the service is written at that asks for the GPU; else its last own one."""
        own = [body for body in self.service.bodies if body.own]
        for body in own:
            if self.gpu is not None and _holds(body, self.gpu):
                return body
        return own[-1] if own else self.service.bodies[0]

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to make the service's ``shm_size`` so many bytes, the best first."""
        return list(self._changes(size))

    def _changes(self, size: int) -> Iterator[Change]:
        here = self.home.layer.source
        entry = self.service.tree.entries.get(KEY)
        if entry is not None and isinstance(entry.tree, Leaf):
            yield from _replace(entry, entry.tree, size, here)
            if entry.tree.interpolated.private:
                return
        for body in self._bodies():
            if not isinstance(body.node, Mapping) or body.node.get(KEY) is None:
                yield from _insert(body, spell_compose(size), here)

    def _bodies(self) -> Iterator[Body]:
        """The places a new line could go, the one that asks for the GPU first.

        What the service extends is one of them where it stands in the same file. A file of templates
        may have other users, and they are not known here.
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


def _change(verb: str, source: Source, at: int, here: Source, *edits: Edit) -> Change:
    place = "" if source is here else f" of {source.path}"
    return Change(edits, f"{verb} line {source.position(at).line}{place}")


def _replace(entry: Entry, leaf: Leaf, size: int, here: Source) -> Iterator[Change]:
    """Another value in the place of the one that is there."""
    source = leaf.layer.source
    node = leaf.node
    text = spell_compose(size)
    verb = f"change `{KEY}` to {text} in"
    if leaf.interpolated.used:
        edit = _other_default(leaf, size)
        if edit is not None:
            yield _change(verb, source, edit.start, here, edit)
    elif node.start >= node.end:  # `shm_size:` with nothing behind it
        at = _end(source.text, entry.key, node)
        yield _change(verb, source, at, here, Edit(source.path, at, at, f" {text}"))
    else:
        quote = node.style if node.style in ("'", '"') else ""
        end = node.start + len(source.text[node.start : node.end].rstrip())
        edit = Edit(source.path, node.start, end, f"{quote}{text}{quote}")
        yield _change(verb, source, node.start, here, edit)
    if isinstance(entry.node, Alias):  # the anchor's other users may have to keep their size
        alias, source = entry.node, entry.layer.source
        edit = Edit(source.path, alias.start, alias.end, text)
        yield _change(verb, source, alias.start, here, edit)


def _other_default(leaf: Leaf, size: int) -> Edit | None:
    """Another default for the variable that a size comes from: ``${SHM:-1g}``, ``${SHM:-1}g``."""
    if leaf.interpolated.private or not leaf.interpolated.defaults:
        return None
    start, end = leaf.interpolated.defaults[-1]
    span = leaf.within(start, end)
    if span is None or "$" in leaf.written[start:end]:
        return None
    text = spell_compose(size)
    behind = leaf.written[end:].lstrip("}")
    if behind:
        try:
            unit = parse_docker("1" + behind)
        except InvalidSize:
            return None
        if size % unit:
            return None
        text = str(size // unit)
    return Edit(span.path, span.start, span.end, text)


def _insert(body: Body, text: str, here: Source) -> Iterator[Change]:
    """A new key and value in a place the service is written at."""
    node = body.node
    if isinstance(node, Mapping):
        yield from _insert_flow(body, node, text, here) if node.flow else _insert_block(body, node, text, here)
    elif isinstance(node, Alias) or (isinstance(node, Scalar) and node.value in _NULLS and not node.style):
        yield _unfold(body, node, text, here)


def _insert_block(body: Body, node: Mapping, text: str, here: Source) -> Iterator[Change]:
    """A line behind the best neighbour; where that cannot be, a line above the first key."""
    source = body.layer.source
    pair = f"{_quoted(node, KEY)}: {_quoted(node, text)}"
    key, value = _neighbour(node)
    indentation = _indentation(source.text, key.start)
    end = _end(source.text, key, value, len(indentation))
    yield _change(f"add `{KEY}: {text}` after", source, max(end - 1, 0), here, _line(source, end, indentation + pair))
    first = node.pairs[0][0].start
    line = f"{pair}{_newline(source, first)}{_indentation(source.text, first)}"
    yield _change(f"add `{KEY}: {text}` in", source, first, here, Edit(source.path, first, first, line))


def _neighbour(node: Mapping) -> tuple[Node, Node]:
    by_name = {key.value: (key, value) for key, value in node.pairs if isinstance(key, Scalar)}
    return next((by_name[name] for name in _NEIGHBOURS if name in by_name), node.pairs[0])


def _indentation(text: str, at: int) -> str:
    """What stands before a key on its line, as white space."""
    before = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    return before if before.isspace() else " " * len(before)


def _end(text: str, key: Node, value: Node, indentation: int = 0) -> int:
    """The offset behind the last character of a value. ``indentation`` is that of the key."""
    while not isinstance(value, Alias | Scalar) and not getattr(value, "flow", True):
        if isinstance(value, Mapping) and value.pairs:
            key, value = value.pairs[-1]
        elif isinstance(value, SequenceNode) and value.items:
            key = value = value.items[-1]
        else:
            break
    if value.start >= value.end and value.anchor is None and value.tag is None:
        # The parser puts an empty value where the next thing starts.
        at = key.end
        while text[at : at + 1] in (" ", "\t"):
            at += 1
        return at + 1 if text[at : at + 1] == ":" else key.end
    end = value.end
    if isinstance(value, Scalar) and value.style in ("|", ">") and "+" not in _header(text, value):
        # Empty lines behind a block scalar are no part of it; deeper white space may be.
        while True:
            above = text.rfind("\n", 0, end) + 1
            blank = text[above:end]
            if blank.strip(" \r\n") or len(blank) > indentation or above <= value.start:
                return end
            end = above - 1
            if text[end - 1] == "\r":
                end -= 1
    return end


def _header(text: str, scalar: Scalar) -> str:
    return text[scalar.start : text.find("\n", scalar.start)].partition("#")[0]


def _line(source: Source, end: int, line: str) -> Edit:
    """A line of its own behind the line that ``end`` stands on."""
    text = source.text
    if end and text[end - 1] == "\n":  # a block scalar that keeps the empty lines behind it
        at = end
    else:
        newline = text.find("\n", end)
        if newline < 0:
            return Edit(source.path, len(text), len(text), f"{source.newline}{line}")
        at = newline + 1
    return Edit(source.path, at, at, f"{line}{_newline(source, at - 1)}")


def _newline(source: Source, at: int) -> str:
    """The line ending of the line an offset stands on; the file's own where that has none."""
    end = source.text.find("\n", at)
    if end < 0:
        return source.newline
    return "\r\n" if source.text[max(end - 1, 0)] == "\r" else "\n"


def _quoted(node: Mapping, text: str) -> str:
    """A text in double quotes where every key of the mapping has them (JSON style)."""
    return f'"{text}"' if all(isinstance(key, Scalar) and key.style == '"' for key, _ in node.pairs) else text


def _insert_flow(body: Body, node: Mapping, text: str, here: Source) -> Iterator[Change]:
    source = body.layer.source
    if not node.pairs:
        at = node.start + 1
        yield _change(f"add `{KEY}: {text}` in", source, at, here, Edit(source.path, at, at, f"{KEY}: {text}"))
        return
    key, value = _neighbour(node)
    pair = f"{_quoted(node, KEY)}: {_quoted(node, text)}"
    end = _end(source.text, key, value)
    indentation = _indentation(source.text, key.start)
    if source.text[: key.start].endswith("\n" + indentation):
        # A key that starts a line: the new one gets a line too.
        behind = source.text[end : source.text.find("\n", end)].lstrip(" \t")
        rest = behind[1:].strip()
        if behind.startswith(",") and (not rest or rest.startswith("#")):
            yield _change(f"add `{KEY}: {text}` after", source, end, here, _line(source, end, f"{indentation}{pair},"))
        else:
            line = f"{pair},{_newline(source, key.start)}{indentation}"
            edit = Edit(source.path, key.start, key.start, line)
            yield _change(f"add `{KEY}: {text}` in", source, key.start, here, edit)
    else:
        yield _change(f"add `{KEY}: {text}` in", source, end, here, Edit(source.path, end, end, f", {pair}"))


def _unfold(body: Body, node: Alias | Scalar, text: str, here: Source) -> Change:
    """A service that is an alias or nothing becomes a mapping: ``b: *a`` one that merges ``*a``."""
    source = body.layer.source
    alias = source.text[node.start : node.end] if isinstance(node, Alias) else ""
    end = _end(source.text, body.key, node)
    start = end if node.start >= node.end else node.start
    verb = f"add `{KEY}: {text}`"
    if source.text[_skip(source.text, end) :][:1] in (",", "}"):
        merge = f"<<: {alias}, " if alias else ""
        blank = "" if source.text[start - 1].isspace() else " "
        edit = Edit(source.path, start, end, f"{blank}{{{merge}{KEY}: {text}}}")
        return _change(f"{verb} in", source, start, here, edit)
    outer = _indentation(source.text, body.key.start)
    # The services stand one step in from `services:`, which stands at the margin.
    inner = outer + (outer if 0 < len(outer) <= 8 else "  ")
    edits = [_line(source, end, f"{inner}{KEY}: {text}")]
    if start < end:
        while source.text[start - 1] in " \t":
            start -= 1
        merge = f"{_newline(source, start)}{inner}<<: {alias}" if alias else ""
        edits.insert(0, Edit(source.path, start, end, merge))
    return _change(f"{verb} after", source, start, here, *edits)


def _skip(text: str, at: int) -> int:
    """The offset of the next character that is neither white space nor in a comment."""
    while at < len(text):
        if text[at] == "#" and text[at - 1].isspace():
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
        elif not text[at].isspace():
            break
        at += 1
    return at


def same_but_for_size(before: Sequence[Document], after: Sequence[Document]) -> bool:
    """Whether documents say the same everywhere but under the key ``shm_size``.

    What is compared is what is written, anchors, aliases and quotes included. A service that was
    an alias or nothing may have become a mapping that adds the key to it, and an anchored value
    of an ``x-`` extension may be another where only ``shm_size`` refers to it.
    """
    return len(before) == len(after) and all(
        _same(old.root, new.root) for old, new in zip(before, after, strict=True)
    )


def _same(old_root: Node, new_root: Node) -> bool:
    counterparts: dict[int, Node] = {}
    changed: set[int] = set()
    aliases: list[tuple[Alias, Alias]] = []
    todo: list[tuple[Node, Node, bool]] = [(old_root, new_root, False)]
    while todo:
        old, new, in_extension = todo.pop()
        counterparts[id(old)] = new
        if isinstance(old, Alias) and isinstance(new, Mapping):
            left = _without_size(new)
            if len(left) != 1 or not isinstance(left[0][0], Scalar) or left[0][0].value != "<<":
                return False
            new = left[0][1]
        elif isinstance(old, Scalar) and isinstance(new, Mapping):
            if old.value not in _NULLS or old.style or _without_size(new):
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
            pairs, others = _without_size(old), _without_size(new)
            if old.flow != new.flow or len(pairs) != len(others):
                return False
            for (key, value), (other_key, other_value) in zip(pairs, others, strict=True):
                extends = old is old_root and isinstance(key, Scalar) and key.value.startswith("x-")
                todo.append((key, other_key, False))
                todo.append((value, other_value, in_extension or extends))
            size, other_size = old.get(KEY), new.get(KEY)
            if size is not None:
                if other_size is None:
                    return False
                counterparts[id(size)] = other_size
                if isinstance(size, Scalar) and isinstance(other_size, Scalar) and size.value != other_size.value:
                    changed.add(id(size))
    return all(
        id(old.target) not in changed and counterparts.get(id(old.target)) is new.target for old, new in aliases
    )


def _without_size(node: Mapping) -> list[tuple[Node, Node]]:
    return [pair for pair in node.pairs if not isinstance(pair[0], Scalar) or pair[0].value != KEY]
