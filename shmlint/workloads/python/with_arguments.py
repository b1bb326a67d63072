"""A function of Python as one of its calls runs it: with what this call passes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from shmlint.syntax.python import walk
from shmlint.workloads.python.assignments import parameters_of

_LARGEST = 300
"""Nodes of a function that is copied."""


UNKNOWN_NAME = ast.Name("", ast.Load())
"""An expression of which nothing is known: no name is empty."""


def with_arguments(function: ast.FunctionDef, passed: Mapping[str, ast.expr]) -> ast.FunctionDef:
    """The function with what is passed for its parameters; itself where it uses none of these as they are."""
    if not passed or len(walk(function)) > _LARGEST:
        return function
    given = _given_names(function)
    bound = {name: value for name, value in passed.items() if name not in given}
    body = [_replaced(statement, bound) for statement in function.body] if bound else function.body
    if all(new is old for new, old in zip(body, function.body, strict=True)):
        return function
    made = copy.copy(function)
    made.body = [statement for statement in body if isinstance(statement, ast.stmt)]
    return made


def passed_by(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """What a call passes for the parameters of a function, and the constants that are the defaults of others."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        return {}
    parameters = parameters_of(function)
    names = list(parameters)
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    passed = dict(zip(names, call.args, strict=False))
    passed.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg in names)
    defaults = ((name, parameters[name]) for name in names if name not in passed)
    return passed | {name: default for name, default in defaults if isinstance(default, ast.Constant)}


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


def _replaced(node: ast.AST, bound: dict[str, ast.expr]) -> ast.AST:
    """A part of a function with constants for names; what has none of them is shared with the function."""
    if isinstance(node, ast.Name):
        return ast.copy_location(copy.copy(bound[node.id]), node) if node.id in bound else node
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
