"""Calls some arguments of which are bound first: ``make = partial(DataLoader, num_workers=4)``, then ``make(data)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shmlint.syntax.python import Module, dotted
from shmlint.workloads.python.values import Scope

_BINDS = "functools.partial"
_MOST = 100
"""Names of one module; where there are more, none is."""


def bound_calls(module: Module, scope: Scope) -> dict[str, ast.Call]:
    """The calls of ``partial`` by the names that they are given, where code only calls these.

    A name that the module gives another value anywhere, or that it hands on, is none.
    """
    found: dict[str, ast.Call] = {}
    for node in module.nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and is_bound(node.value, scope):
            assert isinstance(node.value, ast.Call)
            found[target.id] = node.value
    if not found:
        return {}
    called = {id(node.func) for node in module.nodes if isinstance(node, ast.Call)}
    given: set[str] = set()
    others = {*module.definitions, *module.imports, *module.changed}
    for part in ast.walk(module.tree):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            others.update(() if id(part) in called else (part.id,))
        elif isinstance(part, ast.Name):
            others.update((part.id,) if part.id in given else ())
            given.add(part.id)
        elif isinstance(part, ast.arg):
            others.add(part.arg)
        elif isinstance(part, ast.Nonlocal):
            others.update(part.names)
        elif isinstance(part, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            others.add(part.name or "")
        elif isinstance(part, ast.ClassDef):
            others.update(_attributes(part))
    return {name: call for name, call in found.items() if name not in others} if len(found) <= _MOST else {}


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """The names that the body of a class gives: they are attributes of its objects, which call them otherwise."""
    for statement in node.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (inner for inner in ast.walk(statement) if isinstance(inner, ast.Name))
            yield from (name.id for name in names if isinstance(name.ctx, ast.Store))


def is_bound(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a call of ``partial`` with what it calls."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return False
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    named = bool(node.args) and isinstance(node.args[0], ast.Name | ast.Attribute) and dotted(node.args[0])[:1] != "?"
    return scope.full_name(node.func) == _BINDS and named and not starred


def whole_call(bound: ast.Call, call: ast.Call) -> ast.Call:
    """The call that is made with what was bound before; what it gives itself wins."""
    own = {keyword.arg for keyword in call.keywords}
    unknown = ast.copy_location(ast.Starred(ast.Constant(None), ast.Load()), call)
    before = [
        ast.keyword(keyword.arg, unknown) if None in own and keyword.arg is not None else keyword
        for keyword in bound.keywords if keyword.arg is None or keyword.arg not in own
    ]  # fmt: skip
    arguments = [*bound.args[1:], *call.args]
    return ast.copy_location(ast.Call(bound.args[0], arguments, [*call.keywords, *before]), call)
