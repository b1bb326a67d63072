"""Python by its syntax tree, never run: what a module imports, defines and calls.

The text may be anybody's: whatever does not parse, for its syntax, its size or its depth, gives None.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any

from shmlint.model.record import NamedTuple

_LONGEST = 512 * 1024
"""Characters; a larger file was not written by a person."""
_DEEPEST = 80
"""Brackets inside brackets; deeper ones are refused before the parser sees them."""
_LONGEST_CHAIN = 2000
"""Operators after each other without a comma or a line between; a tree of more is too deep to walk."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Module(NamedTuple):
    """A module: ``imports`` are the dotted targets by the local name, those inside of functions too."""

    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    """The calls, definitions, imports, assignments and changes of the tree, the outer ones first."""
    imports: dict[str, str]
    stars: tuple[str, ...]
    definitions: dict[str, Definition]
    """Functions and classes at the top level, and functions inside of functions."""
    constants: dict[str, tuple[ast.expr, ...]]
    """The values of names that are assigned at the top level, in their order."""
    other_imports: dict[str, tuple[str, ...]]
    """Further targets of names that are imported several times."""
    other_definitions: dict[str, tuple[Definition, ...]]
    """Further functions and classes of names that are defined several times."""
    changed: frozenset[str]
    """The names that are changed in place, or by a function: ``name += 1``, ``global name``."""
    starts: tuple[int, ...]
    """The offset, in characters, of each line."""


EMPTY = Module(ast.Module([], []), (), {}, (), {}, {}, {}, {}, frozenset(), (0,))
"""A module without anything in it."""


@lru_cache(maxsize=16)
def parse(text: str) -> Module | None:
    """The module that a text is; None for what is not Python, or too large or too deep to be looked at."""
    if len(text) > _LONGEST or "\0" in text or _too_deep(text):
        return None
    tree = _tree(text.removeprefix("\ufeff"))
    if tree is None and sys.version_info < (3, 12):
        tree = _tree(_for_older(text.removeprefix("\ufeff")))
    return module_of(tree, text) if tree is not None else None


def is_refused(text: str) -> bool:
    """Whether a text is not parsed at all, for its size or its depth."""
    return len(text) > _LONGEST or _too_deep(text)


def module_of(tree: ast.Module, text: str) -> Module:
    """The module that a tree is, whose nodes have their places in a text."""
    nodes = tuple(node for node in walk(tree) if type(node) in _LOOKED_AT)
    imports, other_imports, stars = _imports(nodes)
    definitions, other_definitions, constants = _names(tree, nodes)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    changed = frozenset(_changed(nodes))
    return Module(
        tree, nodes, imports, stars, definitions, constants, other_imports, other_definitions, changed, tuple(starts)
    )


def _tree(text: str) -> ast.Module | None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_GENERIC = r"(?m)^([ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+)(\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])"
"""The type parameters of a function or a class."""
_TYPE = r"(?m)^([ \t]*)type[ \t]+(\w+)((?:\[[^\[\]\n]*\])?[ \t]*=)"
"""A name for a type, by its statement."""
_FORMATTED = r"(?i)\b(?:f|fr|rf)\"(?:[^\"{}\\\n]|\\.|\{\{|\}\}|\{[^{}\n]*\})*\""
"""A formatted text on one line, with its own quotes inside of braces."""


def _for_older(text: str) -> str:
    """A text of Python 3.12 as Python 3.11 parses it, where that is easily done; all else stays in its place."""
    text = re.sub(_GENERIC, lambda m: m[1] + " " * len(m[2]), text)
    text = re.sub(_TYPE, lambda m: m[1] + m[2] + " " * (len(m[0]) - len(m[1]) - len(m[2]) - 1) + "=", text)
    return re.sub(_FORMATTED, lambda m: re.sub(r"\{[^{}]*\}", _other_quotes, m[0]), text)


def _other_quotes(braces: re.Match[str]) -> str:
    return braces[0] if "'" in braces[0] else braces[0].replace('"', "'")


_LOOKED_AT = frozenset(
    {ast.Call, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom, ast.Assign,
     ast.AugAssign, ast.Global}
)
_LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Pass, ast.alias})
"""Nodes without parts that anybody looks at, and of which there are many."""


_NO_PARTS = _LEAVES | {int, str, type(None)}
"""What else nodes have: their places, names, and parts that are not there."""


def inner(node: ast.AST) -> list[ast.AST]:
    """The parts of a node, without leaves."""
    found: list[ast.AST] = []
    for value in (_VALUES.get(type(node)) or _getter(type(node)))(node):
        kind = type(value)
        if kind is list:
            if value:  # most are empty
                found += [item for item in value if type(item) not in _NO_PARTS]
        elif kind not in _NO_PARTS and isinstance(value, ast.AST):
            found.append(value)
    return found


_VALUES: dict[type, Callable[[ast.AST], tuple[Any, ...]]] = {}


def _getter(kind: type[ast.AST]) -> Callable[[ast.AST], tuple[Any, ...]]:
    """Gets the fields of a node of some kind: without its places, which are as many."""
    fields = [field for field in kind._fields if field not in _NAMES]
    found = attrgetter(*fields) if len(fields) > 1 else lambda node: tuple(getattr(node, one) for one in fields)
    return _VALUES.setdefault(kind, found)


_NAMES = frozenset({"id", "attr", "arg", "name", "names", "ctx", "kind", "type_comment", "level", "module", "asname"})
"""Fields that hold no nodes but leaves."""


def parents_of(tree: ast.AST) -> dict[int, ast.AST]:
    """What each node of a tree is a part of, by the ``id`` of the node; all of them, leaves too."""
    return {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def walk(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a tree in the order of ``ast.walk``, without leaves."""
    nodes = [tree]
    for node in nodes:  # grows while it is walked
        nodes += inner(node)
    return nodes


def _changed(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in nodes:
        if type(node) is ast.Global:
            yield from node.names
        elif type(node) is ast.AugAssign and isinstance(node.target, ast.Name):
            yield node.target.id


def _imports(nodes: tuple[ast.AST, ...]) -> tuple[dict[str, str], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The dotted targets by local name, further ones of the same, and the modules of which everything is imported."""
    found: dict[str, list[str]] = {}
    stars: list[str] = []
    for node in nodes:
        if type(node) is ast.Import:
            for name in node.names:
                top = name.name.partition(".")[0]
                found.setdefault(name.asname or top, []).append(name.name if name.asname else top)
        elif type(node) is ast.ImportFrom:
            base = "." * node.level + (node.module or "")
            for name in node.names:
                if name.name == "*":
                    stars.append(base)
                else:
                    target = f"{base}{'' if base.endswith('.') else '.'}{name.name}"
                    found.setdefault(name.asname or name.name, []).append(target)
    others = {name: tuple(dict.fromkeys(t for t in targets if t != targets[-1])) for name, targets in found.items()}
    imports = {name: targets[-1] for name, targets in found.items()}
    return imports, {name: targets for name, targets in others.items() if targets}, tuple(stars)


_Definitions = dict[str, Definition]


def _names(
    tree: ast.Module, nodes: tuple[ast.AST, ...]
) -> tuple[_Definitions, dict[str, tuple[Definition, ...]], dict[str, tuple[ast.expr, ...]]]:
    """What a module defines, further definitions of the same names, and the values it gives its names."""
    inside: _Definitions = {}
    for node in nodes:
        if type(node) is ast.FunctionDef or type(node) is ast.AsyncFunctionDef:
            for inner in _top(node.body):
                if isinstance(inner, Definition):
                    inside.setdefault(inner.name, inner)
    definitions = dict(inside)
    others: dict[str, tuple[Definition, ...]] = {}
    constants: dict[str, tuple[ast.expr, ...]] = {}
    for statement in _top(tree.body):
        if isinstance(statement, Definition):
            former = definitions.get(statement.name)
            if former is not None and former is not inside.get(statement.name):
                others[statement.name] = (*others.get(statement.name, ()), former)
            definitions[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            pairs = [(target, statement.value) for target in statement.targets]
            for target, value in pairs:  # grows while it is walked
                if isinstance(target, ast.Name):
                    constants[target.id] = (*constants.get(target.id, ()), value)
                elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
                    pairs += zip(target.elts, value.elts, strict=False) if len(target.elts) == len(value.elts) else ()
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            name = statement.target.id
            constants[name] = (*constants.get(name, ()), statement.value)
    return definitions, others, constants


_BLOCKS = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match}
)
"""Statements with others inside, which run where they stand."""


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those in its branches too."""
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        yield statement
        if type(statement) not in _BLOCKS:
            continue
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            for inner in reversed(getattr(statement, name, ())):
                pending += [inner] if isinstance(inner, ast.stmt) else reversed(inner.body)


def _too_deep(text: str) -> bool:
    """Whether brackets or operators nest deeper than a person writes. Strings count too, which does no harm."""
    depth = chain = 0
    for char in re.sub(r"[^(\[{}\])\n+*/%|&^~.<>=,-]+", "", text):
        if char in "([{":
            depth += 1
            if depth > _DEEPEST:
                return True
        elif char in ")]}":
            depth = max(depth - 1, 0)
        elif char == "\n":
            chain = 0
            if depth > 60:
                depth = 0
        elif char == ",":
            chain = 0
        else:
            chain += 1
            if chain > _LONGEST_CHAIN:
                return True
    return False


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of an expression; what is before a call or a subscript is left out (``?.c``)."""
    if isinstance(node, ast.Name):
        return node.id
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "?")
    return ".".join(reversed(parts))


def switches_mode(node: ast.Call) -> bool:
    """Whether a call has the form that only switches the mode of a PyTorch model: ``model.train(False)``."""
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    switches = all(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in values)
    return switches and dotted(node.func).rpartition(".")[2] == "train"


def imported_modules(statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules that an import statement may load, those that are really names of a module too."""
    if isinstance(statement, ast.Import):
        yield from (name.name for name in statement.names)
    else:
        base = "." * statement.level + (statement.module or "")
        yield base
        for name in statement.names:
            if name.name != "*":
                yield f"{base}{'' if base.endswith('.') else '.'}{name.name}"
