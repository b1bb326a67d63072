"""A function of Python as one of its calls runs it: with the constants that this call passes."""

from __future__ import annotations

import ast
import copy

from shmlint.syntax.python import walk
from shmlint.workloads.python.assignments import parameters_of

_LARGEST = 300
"""Nodes of a function that is copied."""


def with_arguments(function: ast.FunctionDef, call: ast.Call) -> ast.FunctionDef:
    """The function with constants for its parameters; itself where the call passes none that it uses as they are."""
    bound = _bound(function, call)
    if not bound or len(walk(function)) > _LARGEST:
        return function
    bound = {name: value for name, value in bound.items() if name not in _given_names(function)}
    body = [_replaced(statement, bound) for statement in function.body] if bound else function.body
    if all(new is old for new, old in zip(body, function.body, strict=True)):
        return function
    made = copy.copy(function)
    made.body = [statement for statement in body if isinstance(statement, ast.stmt)]
    return made


def _bound(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.Constant]:
    """The parameters for which a call passes a constant, or leaves one that is their default."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        return {}
    parameters = parameters_of(function)
    names = list(parameters)
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    given = {**parameters, **dict(zip(names, call.args, strict=False))}
    given.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    passed = ((name, given[name]) for name in names)
    return {name: value for name, value in passed if isinstance(value, ast.Constant)}


def _given_names(function: ast.FunctionDef) -> set[str]:
    """The names that a function gives other values, or that functions inside of it have for parameters."""
    found: set[str] = set()
    for node in (part for statement in function.body for part in ast.walk(statement)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
            found.add(node.name)
    return found


def _replaced(node: ast.AST, bound: dict[str, ast.Constant]) -> ast.AST:
    """A part of a function with constants for names; what has none of them is shared with the function."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Constant(bound[node.id].value), node) if node.id in bound else node
    changed: dict[str, object] = {}
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            parts = [_replaced(part, bound) if isinstance(part, ast.AST) else part for part in value]
            if any(new is not old for new, old in zip(parts, value, strict=True)):
                changed[field] = parts
        elif isinstance(value, ast.AST) and (part := _replaced(value, bound)) is not value:
            changed[field] = part
    if not changed:
        return node
    made = copy.copy(node)
    for field, value in changed.items():
        setattr(made, field, value)
    return made
