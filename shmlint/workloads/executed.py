"""Code that a program finds by names or makes of text, where all that it may be is written down."""

from __future__ import annotations

import ast
from collections.abc import Set

from shmlint.syntax.python import Module, dotted, parse
from shmlint.workloads.named_modules import ANY
from shmlint.workloads.started import starts

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_FINDS = frozenset({"getattr", "vars", "open"})
"""Functions that lead from a text to what is in no name."""


def holds_only_values(function: ast.AST) -> bool:
    """Whether a function defines and imports nothing that it may find by its name in ``locals()``."""
    return not any(isinstance(node, _DEFINES) for node in ast.walk(function) if node is not function)


def names_of_code(text: str, module: Module, matters: Set[str]) -> tuple[str, ...] | None:
    """The names in a text that a module runs as code; None where it may do more than to call its own functions.

    ``matters`` are the last names of calls that are looked for.
    """
    code = parse(text) if ANY not in text else None
    if code is None or any(isinstance(node, _DEFINES) for node in ast.walk(code.tree)):
        return None
    names = {dotted(node) for node in ast.walk(code.tree) if isinstance(node, ast.Name | ast.Attribute)}
    for name in names:
        head, last = name.partition(".")[0], name.rpartition(".")[2]
        if not head or head.startswith("__") or head in module.imports or last in matters | _FINDS or starts(name):
            return None
    return None if module.stars else tuple(sorted(names))
