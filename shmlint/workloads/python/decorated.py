"""Decorators of the repository: whether they call what they decorate with just what its callers pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shmlint.syntax.python import dotted

_MOST_NODES = 1_000
"""Parts of a decorator that are looked at."""
_MOST_CALLS = 8
"""Calls of what it decorates."""


def passes_on(decorator: ast.AST) -> bool:
    """Whether a decorator was read, and its wrapper hands its own arguments on as they are, and only reads of them.

    One with options of its own, ``@retried(3)``, is a function around that.
    """
    if not isinstance(decorator, ast.FunctionDef):
        return False
    nodes = [node for _, node in zip(range(_MOST_NODES), ast.walk(decorator), strict=False)]
    if len(nodes) == _MOST_NODES:
        return False
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    makers = [node for node in functions if isinstance(node, ast.FunctionDef) and _parameters(node)]
    for maker in makers:
        name = _parameters(maker)[0]
        calls = [node for node in nodes if isinstance(node, ast.Call) and dotted(node.func) == name]
        if calls:
            return len(calls) <= _MOST_CALLS and all(_is_handed(call, functions) for call in calls)
    return all(isinstance(node.value, ast.Name) for node in nodes if isinstance(node, ast.Return)) and len(makers) == 1


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    given = function.args
    named = [part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return named + [part.arg for part in (given.vararg, given.kwarg) if part is not None]


def _is_handed(call: ast.Call, functions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]) -> bool:
    """Whether a call passes parameters of the wrapper around it, of which this only reads."""
    around = [function for function in functions if any(node is call for node in ast.walk(function))]
    names = set(_parameters(around[-1])) if around else set()
    passed = [*call.args, *(keyword.value for keyword in call.keywords)]
    given = [part.value if isinstance(part, ast.Starred) else part for part in passed]
    if not all(isinstance(part, ast.Name) and part.id in names for part in given):
        return False
    allowed = {id(part) for part in given} | set(_read(around[-1]))
    named = (node for node in ast.walk(around[-1]) if isinstance(node, ast.Name) and node.id in names)
    return all(id(node) in allowed for node in named)


def _read(function: ast.AST) -> Iterator[int]:
    """The names of which a function only asks for a plain attribute or item: ``cfg.paths.output``, ``args[0]``."""
    called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    parts = (node for node in ast.walk(function) if isinstance(node, ast.Attribute | ast.Subscript))
    for node in parts:
        if isinstance(node.ctx, ast.Load) and id(node) not in called:
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            yield id(inner)
