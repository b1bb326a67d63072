"""A file of Python that was read, and what its expressions name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source
from shmlint.syntax.python import Module, dotted
from shmlint.workloads.packages.libraries import SETTINGS, WATCHED
from shmlint.workloads.python.declarations import Declaration
from shmlint.workloads.python.passing import DISPATCHERS, passed_call
from shmlint.workloads.python.values import Scope, text_of

Use = Literal["called", "passed", "named", "part"]
"""A name is called; called for the caller, with what is written there; handed on, kept or returned; or part of a longer
name, of a type or of a test for a type."""
Conditions = tuple[tuple[ast.expr | ast.comprehension | None, bool], ...]
"""What must hold, or must not, for a part of an expression to be worked out; None for what nobody can work out."""
Named = tuple[ast.Call | None, str, Use, Conditions]
"""What an expression names: the call where it is one, the dotted name, how it is used, and on what that depends."""


class Loaded(NamedTuple):
    """A file of Python. ``names`` caches what its expressions name, by their ids; ``packages`` are those it imports.

    ``bound`` are the calls of ``partial`` by the names that are only called.
    """

    path: str
    source: Source
    module: Module
    options: tuple[Declaration, ...]
    packages: frozenset[str]
    names: dict[int, tuple[Named, ...]]
    bound: Mapping[str, ast.Call] = {}

    def named(self, expression: ast.AST) -> tuple[Named, ...]:
        """The calls and the names in an expression of this file, found once."""
        known = self.names.get(id(expression))
        if known is None:
            known = self.names[id(expression)] = tuple(_named(expression, self))
        return known


def _named(expression: ast.AST, loaded: Loaded) -> Iterable[Named]:
    scope = Scope("", _NO_TEXT, loaded.module, None, None)
    bound = {id(call) for call in loaded.bound.values()}
    uses: dict[int, Use] = {}
    conditions: dict[int, Conditions] = {}
    pending = [expression]
    for node in pending:  # grows while it is walked, in the order of ``ast.walk``
        here = conditions.get(id(node), ()) if conditions else ()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                yield None, node.id, uses.get(id(node), "named"), here
            continue
        before = len(pending)
        if isinstance(node, ast.Attribute):
            uses[id(node.value)] = "part"
            pending.append(node.value)
            yield None, dotted(node), uses.get(id(node), "named"), here
        else:
            pending += _inner(node)
        if here:
            conditions.update((id(inner), here) for inner in pending[before:])
        if type(node) in _CONDITIONAL:
            conditions.update((id(part), (*here, *wanted)) for part, wanted in _conditions(node))
        for part in _parts(node, uses.get(id(node)) == "part"):
            uses[id(part)] = "part"
        if isinstance(node, ast.Call):
            uses[id(node.func)] = "called"
            name = scope.full_name(node.func)
            uses.update((id(part), "passed") for part in _called_for(name, node))
            uses.update((id(part), "part") for part in node.args[:1] if id(node) in bound)
            yield node, name, "called", here
        elif isinstance(node, ast.Dict):
            yield from ((*setting, "called", here) for setting in _settings(node))


def _called_for(name: str, node: ast.Call) -> Iterable[ast.expr]:
    """What a call calls for its caller with arguments that are written there, or with the words of the command."""
    if name in DISPATCHERS:
        return node.args
    if name.endswith("CLI"):  # of Lightning, which makes objects of the classes that it is given
        return (*node.args[:2], *(k.value for k in node.keywords if (k.arg or "").endswith("_class")))
    passed = passed_call(name, node)
    return (passed.call.func,) if passed is not None and passed.written else ()


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that may name something."""
    for field in node._fields:
        value = getattr(node, field, None)
        if type(value) is list:
            yield from (item for item in value if isinstance(item, ast.AST) and type(item) is not ast.Constant)
        elif isinstance(value, _EXPRESSIONS):
            yield value


_EXPRESSIONS = (ast.expr, ast.arguments, ast.arg)
"""Not their union, which would be made anew for each of many nodes."""


def _settings(node: ast.Dict) -> Iterator[tuple[ast.Call, str]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in SETTINGS:
            name = text_of(key.value)
            setting = ast.Call(ast.Name(name, ast.Load()), [], [ast.keyword(name, value)])
            yield ast.copy_location(setting, value), name


_CONDITIONAL = frozenset(
    {ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp}
)


def _conditions(node: ast.AST) -> Iterator[tuple[ast.AST, Conditions]]:
    """The parts of an expression that are worked out on a condition only."""
    if isinstance(node, ast.IfExp):
        yield node.body, ((node.test, True),)
        yield node.orelse, ((node.test, False),)
    elif isinstance(node, ast.BoolOp):
        wanted = isinstance(node.op, ast.And)
        for at, value in enumerate(node.values[1:], 1):
            yield value, tuple((test, wanted) for test in node.values[: min(at, _MOST_TESTS)])
    elif isinstance(node, ast.Lambda):
        yield node.body, ((None, True),)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        turns = tuple((loop, True) for loop in node.generators[:_MOST_TESTS])
        for value in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield value, turns


_MOST_TESTS = 5
"""Tests of ``a and b and c`` that are asked for one of its parts."""


_TYPED = frozenset({"isinstance", "issubclass", "cast", "super", "hasattr", "HfArgumentParser"})
"""Calls that only ask what a class is; the last takes classes whose fields are options."""


def _parts(node: ast.AST, inside: bool) -> Iterable[ast.AST]:
    """What of a node is only part of a type; ``inside`` where the node is itself."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
        return (node.value, node.slice)
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _TYPED:
        return node.args
    return ast.iter_child_nodes(node) if inside and isinstance(node, ast.Tuple | ast.List | ast.BinOp) else ()


def extending(modules: Iterable[Loaded | None]) -> frozenset[str]:
    """The names of classes in some modules that extend others, a library's too, of which calls matter."""
    classes = [
        (node.name, [dotted(base).rpartition(".")[2] for base in node.bases])
        for loaded in modules if loaded is not None
        for node in loaded.module.definitions.values() if isinstance(node, ast.ClassDef) and node.bases
    ]  # fmt: skip
    found: set[str] = set()
    for _ in range(MOST_BASES):
        found |= {name for name, bases in classes if any(base in _WATCHED or base in found for base in bases)}
    return frozenset(found)


MOST_BASES = 5
"""Classes that extend each other are followed this deep."""
_WATCHED = frozenset(name.rpartition(".")[2] for name in WATCHED)
_NO_TEXT = Source("", "")
