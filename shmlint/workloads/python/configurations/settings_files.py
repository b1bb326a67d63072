"""Configuration files as trees of values, each with its place, and what these make: classes with their arguments.

A part of a configuration that names a class is a call of it: ``class_path: data.Digits`` with ``init_args`` for
jsonargparse, ``_target_: data.Digits`` for Hydra. So it becomes a module of such calls, which is walked like any other.
"""

from __future__ import annotations

import ast
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.python import module_of
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode, YamlError
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.values import ORIGIN, UNKNOWN, literal

_LONGEST = 200_000
"""Characters of a configuration that is read."""
_MOST = 20_000
"""Parts of a configuration that is read, with all that its aliases stand for."""


class _TooMany(Exception):
    """A configuration has more parts than are read."""


class Part(NamedTuple):
    """A value of a configuration: a mapping of parts, a tuple of them, a plain value, or UNKNOWN; and its place."""

    value: object
    source: Source
    start: int = 0

    @property
    def entries(self) -> dict[str, Part]:
        """What a mapping holds; nothing where it is none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def text(self) -> str:
        """The value where it is a text."""
        return self.value if isinstance(self.value, str) else ""

    def get(self, path: Sequence[str]) -> Part | None:
        """The part at some keys inside of each other."""
        found: Part | None = self
        for key in path:
            found = found.entries.get(key) if found is not None else None
        return found

    def put(self, path: Sequence[str], part: Part) -> Part:
        """This one with a part at some keys inside of each other."""
        if not path:
            return part
        inner = self.entries.get(path[0], Part({}, part.source, part.start))
        return self._replace(value={**self.entries, path[0]: inner.put(path[1:], part)})

    def over(self, other: Part) -> Part:
        """This one laid over another one: mappings are merged, anything else is replaced."""
        if not isinstance(self.value, dict) or not isinstance(other.value, dict):
            return self
        merged = dict(other.entries)
        for key, part in self.entries.items():
            merged[key] = part.over(merged[key]) if key in merged else part
        return self._replace(value=merged)


def read_settings(source: Source) -> Part | None:
    """The values of a configuration file in YAML or JSON; None for what is not one document of it."""
    from shmlint.syntax.yaml_read import parse

    if len(source.text) > _LONGEST:
        return None
    try:
        documents = parse(source)
    except YamlError:
        return None
    if not documents:
        return Part({}, source)
    if len(documents) > 1:
        return None
    try:
        found = _Parts(source).of(documents[0].root)
    except _TooMany:
        return None
    return found if isinstance(found.value, dict) else Part({}, source) if found.value is None else None


def read_value(text: str, source: Source) -> Part:
    """A word of a command as the value that it stands for: a number, a list or a mapping."""
    if text[:1] not in ("[", "{"):
        return Part(literal(text, ()).value, source)
    if re.search(r":(?!\s)", text):  # for Hydra ``{a:1}`` is a mapping, in YAML it is none
        return Part(UNKNOWN, source)
    found = read_settings(Source("", f"value: {text}"))
    part = found.entries.get("value") if found is not None else None
    return Part(UNKNOWN, source) if part is None else _moved(part, source)


def _moved(part: Part, source: Source) -> Part:
    value = part.value
    if isinstance(value, dict):
        value = {key: _moved(inner, source) for key, inner in value.items()}
    elif isinstance(value, tuple):
        value = tuple(_moved(inner, source) for inner in value)
    return Part(value, source)


class _Parts:
    """The values of one file. Each alias has those of its target again, so they are counted."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = _MOST

    def of(self, node: Node) -> Part:
        """The value of a node and all that is in it."""
        node, source = node.resolved, self._source
        self._count(1)
        if isinstance(node, Scalar):
            return _plain(node, source)
        if isinstance(node, SequenceNode):
            return Part(tuple(self.of(item) for item in node.items), source, node.start)
        found: dict[str, Part] = {}
        pairs = node.pairs if isinstance(node, MappingNode) else []
        for key, value in pairs:
            name = key.resolved.value if isinstance(key.resolved, Scalar) else ""
            part = self.of(value)
            if name == "<<":
                for one in part.value if isinstance(part.value, tuple) else (part,):
                    self._count(len(found))
                    found = {**one.entries, **found}
            else:
                found[name] = part
        return Part(found, source, node.start)

    def _count(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise _TooMany


def _plain(node: Scalar, source: Source) -> Part:
    if node.tag is not None and node.tag != "!":
        return Part(UNKNOWN, source, node.start)
    plain = literal(node.value, ()).value if not node.style else UNKNOWN if "$" in node.value else node.value
    if (plain is UNKNOWN and is_reference(node.value)) or node.value.lower() == "none":  # a word, in YAML
        plain = node.value
    return Part(None if not node.style and not node.value else plain, source, node.start)


def is_reference(text: str) -> bool:
    """Whether a value is another one of the configuration: ``${data.size}``."""
    return text.startswith("${") and text.endswith("}")


# What a configuration makes ---------------------------------------------------------------------

Made = Callable[[Part], tuple[str, Mapping[str, Part]] | None]
"""Tells what a part of a configuration makes: the dotted name of a class, and its arguments; None for a mapping."""
OPEN = "**"
"""The argument that stands for others which are not known."""


def call_of(target: str, arguments: Mapping[str, Part], place: Part, made: Made) -> ast.Call:
    """The call that makes an object of a class with arguments out of a configuration."""
    keywords = [
        ast.keyword(name, expression(part, place, made)) if name != OPEN
        else ast.keyword(None, ast.Starred(ast.Constant(None), ast.Load()))
        for name, part in arguments.items()
    ]  # fmt: skip
    call = ast.Call(_named(target), [], keywords)
    _at(call, place, place)
    return call


def expression(part: Part, place: Part, made: Made) -> ast.expr:
    """A value of a configuration as Python has it; what is in another file has the place of what is made with it."""
    value, found = part.value, made(part)
    if found is not None:
        return call_of(*found, part if part.source is place.source else place, made)
    if isinstance(value, dict):
        keys: list[ast.expr | None] = [ast.Constant(key) for key in value]
        return _at(ast.Dict(keys, [expression(inner, place, made) for inner in value.values()]), part, place)
    if isinstance(value, tuple):
        return _at(ast.List([expression(inner, place, made) for inner in value], ast.Load()), part, place)
    if value is None or (isinstance(value, str | int | float) and not (isinstance(value, str) and is_reference(value))):
        return _at(ast.Constant(value), part, place)
    return _at(ast.Starred(ast.Constant(None), ast.Load()), part, place)


def _named(target: str) -> ast.expr:
    head, *rest = target.split(".")
    found: ast.expr = ast.Name(head, ast.Load())
    for name in rest:
        found = ast.Attribute(found, name, ast.Load())
    return found


def _at(node: ast.expr, part: Part, place: Part) -> ast.expr:
    """A node at the place of a part; of one in another file it has that of what is made, and its own to be shown."""
    start = part.start if part.source is place.source else place.start
    if part.source is not place.source and part.source.path:
        vars(node)[ORIGIN] = Span(part.source, part.start, part.start)
    starts = _lines(place.source.text)
    line = bisect_right(starts, start)
    column = len(place.source.text[starts[line - 1] : start].encode("utf-8", "replace"))
    pending: list[ast.AST] = [node]
    for one in pending:  # what has its place has those inside of it placed
        if isinstance(one, ast.expr | ast.keyword):
            one.lineno = one.end_lineno = line
            one.col_offset, one.end_col_offset = column, column
        pending += (inner for inner in ast.iter_child_nodes(one) if not hasattr(inner, "lineno"))
    return node


@lru_cache(maxsize=4)
def _lines(text: str) -> list[int]:
    """Where the lines of a text begin."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def module_of_calls(
    calls: Sequence[tuple[ast.expr, Part]], importer: str, number: int, file_of: Callable[[str], str | None]
) -> Iterator[Loaded]:
    """The modules that make what configuration files name: one for each call, beside the program that makes it."""
    for at, (call, place) in enumerate(calls):
        targets = [inner.func for inner in ast.walk(call) if isinstance(inner, ast.Call)]
        names = dict.fromkeys(_module_in(ast.unparse(target), file_of) for target in targets)
        imports: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in names]
        tree = ast.Module([*imports, ast.Expr(call)], [])
        for statement in tree.body:
            ast.copy_location(statement, call)
        path = os.path.join(os.path.dirname(importer), f"<{number}.{at}>")
        packages = frozenset(name.partition(".")[0] for name in names)
        yield Loaded(path, place.source, module_of(tree, place.source.text), (), packages, {})


def _module_in(target: str, file_of: Callable[[str], str | None]) -> str:
    """The module of the repository in which a dotted name is; of another one the package."""
    parts = target.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in names if file_of(name) is not None), parts[0])
