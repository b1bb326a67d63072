"""Edits that give a Compose service a shared-memory size, and touch nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.composefile.project import Body, Service
from shmlint.composefile.tree import Leaf
from shmlint.launch import Change
from shmlint.size import spell_compose
from shmlint.source import Edit, Span
from shmlint.yamlnodes import Alias, Mapping, Node, Scalar

_NEIGHBOURS = ("runtime", "gpus", "image", "build", "extends", "container_name", "<<")
"""The keys a new ``shm_size`` is put behind, the best first."""

KEY = "shm_size"


class ServiceRewriter:
    """Rewrites one service. ``gpu`` is where it asks for a GPU: what it needs belongs beside that."""

    __slots__ = ("gpu", "service")

    def __init__(self, service: Service, gpu: Span | None) -> None:
        self.service = service
        self.gpu = gpu

    @property
    def home(self) -> Body:
        """The place the service is written at that asks for the GPU; else its last own one."""
        own = [body for body in self.service.bodies if body.own]
        for body in self.service.bodies:
            if self.gpu is not None and body.own and _holds(body, self.gpu):
                return body
        return own[-1] if own else self.service.bodies[0]

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to make the service's ``shm_size`` so many bytes, the best first."""
        return list(self._changes(spell_compose(size)))

    def _changes(self, text: str) -> Iterator[Change]:
        given = self.service.tree.get(KEY)
        if isinstance(given, Leaf):
            yield from _replace(given, text)
            if given.interpolated.private:
                return
        for body in self._bodies():
            if _own_value(body.node) is None:
                change = _insert(body, text)
                if change is not None:
                    yield change

    def _bodies(self) -> Iterator[Body]:
        """The places a new line could go, the one that asks for the GPU first."""
        bodies = self.service.bodies
        asking = [b for b in bodies if self.gpu is not None and _holds(b, self.gpu)]
        yield from asking
        for body in reversed([b for b in bodies if b.own]):
            if body not in asking:
                yield body


def _holds(body: Body, span: Span) -> bool:
    node = body.node
    return body.layer.source is span.source and node.start <= span.start and span.end <= max(node.end, node.start)


def _own_value(node: Node) -> Node | None:
    return node.get(KEY) if isinstance(node, Mapping) else None


def _replace(leaf: Leaf, text: str) -> Iterator[Change]:
    source = leaf.layer.source
    line = source.position(leaf.node.start).line
    title = f"change `{KEY}` to {text} in line {line}"
    if leaf.interpolated.used:
        if leaf.interpolated.defaults and not leaf.interpolated.private:
            start, end = leaf.interpolated.defaults[-1]
            span = leaf.within(start, end)
            if span is not None and "$" not in leaf.written[start:end]:
                yield Change((Edit(source.path, span.start, span.end, text),), title)
        return
    node = leaf.node
    if node.style in ("|", ">") or "\n" in source.text[node.start : node.end]:
        return
    if node.start == node.end:  # `shm_size:` with nothing behind it
        yield Change((Edit(source.path, node.start, node.end, f" {text}"),), title)
        return
    quote = node.style
    yield Change((Edit(source.path, node.start, node.end, f"{quote}{text}{quote}"),), title)


def _insert(body: Body, text: str) -> Change | None:
    node = body.node
    if isinstance(node, Alias):
        return _unfold(body, node, text)
    if isinstance(node, Scalar):
        return _fill(body, node, text)
    if isinstance(node, Mapping):
        return _insert_flow(body, node, text) if node.flow else _insert_block(body, node, text)
    return None


def _insert_block(body: Body, node: Mapping, text: str) -> Change | None:
    source = body.layer.source
    key, value = _neighbour(node)
    if key is None or value is None:
        return None
    indentation = _indentation(source.text, key.start)
    at = _line_end(source.text, value)
    line = f"{indentation}{_quoted(node, KEY)}: {_quoted(node, text)}"
    number = source.position(max(at - 1, 0)).line
    title = f"add `{KEY}: {text}` after line {number}"
    if at == len(source.text) and not source.text.endswith("\n"):
        return Change((Edit(source.path, at, at, f"{source.newline}{line}"),), title)
    return Change((Edit(source.path, at, at, f"{line}{_newline(source.text, at)}"),), title)


def _neighbour(node: Mapping) -> tuple[Node | None, Node | None]:
    by_name = {key.value: (key, value) for key, value in node.pairs if isinstance(key, Scalar)}
    for name in _NEIGHBOURS:
        if name in by_name:
            return by_name[name]
    return node.pairs[0] if node.pairs else (None, None)


def _indentation(text: str, at: int) -> str:
    """What stands before a key on its line, as white space."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at]
    return before if before.isspace() or not before else " " * len(before.removeprefix("\ufeff"))


def _line_end(text: str, value: Node) -> int:
    """The offset behind the line that the value's last character stands on."""
    end = value.end
    literal = value.resolved if not isinstance(value, Alias) else None
    if isinstance(literal, Mapping) or not isinstance(literal, Scalar):
        last = _last_scalar(value)
    else:
        last = literal
    if last is not None and last.style in ("|", ">"):
        header = text[last.start : text.find("\n", last.start)]
        if "+" not in header.split("#")[0]:
            while end > last.start and text[end - 1] in " \t\r\n":
                end -= 1
        elif end and text[end - 1] == "\n":
            return end
    newline = text.find("\n", end)
    return len(text) if newline < 0 else newline + 1


def _last_scalar(node: Node) -> Scalar | None:
    while not isinstance(node, Scalar):
        if isinstance(node, Mapping) and not node.flow and node.pairs:
            node = node.pairs[-1][1]
        elif not isinstance(node, Mapping | Alias) and not getattr(node, "flow", True) and getattr(node, "items", None):
            node = node.items[-1]  # type: ignore[attr-defined]
        else:
            return None
    return node


def _newline(text: str, at: int) -> str:
    """The line ending of the line that ends at an offset."""
    return "\r\n" if text[max(at - 2, 0) : at] == "\r\n" else "\n"


def _quoted(node: Mapping, text: str) -> str:
    """A text in double quotes where every key of the mapping has them (JSON style)."""
    keys = [key for key, _ in node.pairs if isinstance(key, Scalar)]
    return f'"{text}"' if keys and all(key.style == '"' for key in keys) else text


def _insert_flow(body: Body, node: Mapping, text: str) -> Change | None:
    source = body.layer.source
    pair = f"{_quoted(node, KEY)}: {_quoted(node, text)}"
    number = source.position(node.start).line
    title = f"add `{KEY}: {text}` in line {number}"
    if not node.pairs:
        opening = node.start + 1
        return Change((Edit(source.path, opening, opening, pair),), title)
    _, value = _neighbour(node)
    if value is None:
        return None
    at = value.end
    number = source.position(at).line
    title = f"add `{KEY}: {text}` in line {number}"
    return Change((Edit(source.path, at, at, f", {pair}"),), title)


def _step(body: Body) -> str:
    """One step of indentation as the file's services use it."""
    key_column = len(_indentation(body.layer.source.text, body.key.start))
    root = body.layer.source.text
    # The service keys stand one step in from `services:`, which stands at the margin.
    return " " * (key_column if 0 < key_column <= 8 and root else 2)


def _unfold(body: Body, node: Alias, text: str) -> Change:
    """``b: *a`` becomes a mapping of its own that merges ``*a``."""
    source = body.layer.source
    outer = _indentation(source.text, body.key.start)
    inner = outer + _step(body)
    newline = source.newline
    alias = source.text[node.start : node.end]
    start = node.start
    while source.text[start - 1] in " \t":
        start -= 1
    new = f"{newline}{inner}<<: {alias}{newline}{inner}{KEY}: {text}"
    number = source.position(node.start).line
    return Change((Edit(source.path, start, node.end, new),), f"add `{KEY}: {text}` after line {number}")


def _fill(body: Body, node: Scalar, text: str) -> Change | None:
    """A service without a body gets one."""
    if node.value not in ("", "~", "null", "Null", "NULL") or node.style:
        return None
    source = body.layer.source
    inner = _indentation(source.text, body.key.start) + _step(body)
    number = source.position(body.key.start).line
    title = f"add `{KEY}: {text}` after line {number}"
    if node.start != node.end:
        start = node.start
        while source.text[start - 1] in " \t":
            start -= 1
        return Change((Edit(source.path, start, node.end, f"{source.newline}{inner}{KEY}: {text}"),), title)
    newline = source.text.find("\n", body.key.end)
    if newline < 0:
        at = len(source.text)
        return Change((Edit(source.path, at, at, f"{source.newline}{inner}{KEY}: {text}"),), title)
    at = newline + 1
    return Change(
        (Edit(source.path, at, at, f"{inner}{KEY}: {text}{_newline(source.text, at)}"),), title
    )
