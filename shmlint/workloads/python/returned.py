"""What functions of Python return, where a condition that is known decides which of their branches is taken."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from shmlint.syntax.python import inner, walk

_MOST = 20
"""Values that a function may return before nothing is said of it."""
_DEEPEST = 50
"""Conditions in one another, or in a row of ``elif``, that are followed."""


def results(function: ast.FunctionDef, holds: Callable[[ast.expr], bool | None]) -> list[ast.expr]:
    """The values that a function may return; none where it is a generator, or returns too many.

    ``holds`` says of a condition whether it is met; None where that is not known.
    """
    if _is_generator(function):
        return []
    found: list[ast.expr] = []
    if not _follow(function.body, holds, found, 0):
        found.append(ast.Constant(None))
    return found if len(found) <= _MOST else []


@lru_cache(1024)
def _is_generator(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in walk(function))


def _follow(
    body: Sequence[ast.stmt], holds: Callable[[ast.expr], bool | None], found: list[ast.expr], depth: int
) -> bool:
    """Note what statements may return; whether nothing comes after them."""
    for statement in body:
        if isinstance(statement, ast.Return):
            found.append(statement.value if statement.value is not None else ast.Constant(None))
            return True
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.If) and depth < _DEEPEST:
            met = holds(statement.test)
            branches = [statement.body] * (met is not False) + [statement.orelse] * (met is not True)
            ends = [_follow(branch, holds, found, depth + 1) for branch in branches]  # each of them is followed
            if all(ends):
                return True
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found += (node.value or ast.Constant(None) for node in _within(statement) if isinstance(node, ast.Return))
    return False


def _within(statement: ast.stmt) -> Iterator[ast.AST]:
    """What is in a statement, without the functions in it."""
    pending: list[ast.AST] = [statement]
    for node in pending:  # grows while it is walked
        yield node
        pending += (child for child in inner(node) if type(child) not in _FUNCTIONS)


_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
