"""Classes of the repository that extend a loader or a trainer of a library: what a call of one of them starts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import COUNTS, ROWS, Row
from shmlint.workloads.python.loaded import MOST_BASES
from shmlint.workloads.python.reach import Site, Walker
from shmlint.workloads.python.values import Scope

_Rows = Callable[[str], Row | None]


def row_of_class(site: Site, walker: Walker, rows: _Rows, names: Collection[str]) -> Row | None:
    """The row of the loader or trainer that a call makes through a class of the repository, or one of several names.

    Either the class hands the keywords of its call on, or it passes workers of its own to ``super().__init__``.
    ``names`` are those of the classes that may extend one.
    """
    last = site.name.rpartition(".")[2]
    if last not in names and last != "__init__" and not any(k.arg in COUNTS for k in site.node.keywords):
        return None
    called = site.node.func
    counted = any(keyword.arg in COUNTS for keyword in site.node.keywords)
    if isinstance(called, ast.Attribute) and called.attr == "__init__":
        owner = site.scope.owner
        more = len(site.node.args) > 1 or any(keyword.arg is None for keyword in site.node.keywords)
        if owner is None or not (counted or owner.name in names):
            return None
        is_super = isinstance(called.value, ast.Call) and dotted(called.value.func) == "super"
        by_name = dotted(called.value) in {dotted(base) for base in owner.bases}
        row = _inherited(owner, site.scope, walker, rows) if is_super or by_name else None
        return row if counted or more or (row is not None and row.use == "ranks") else None
    for name, scope in _names(called, site.scope, walker) if counted else [(site.name, site.scope)]:
        found = _class(name, scope, walker)
        row = rows(name) if found is None else None
        if found is not None and _hands_on(found[0]):
            row = _inherited(*found, walker, rows)
        if row is not None and row.use in ("dataloader", "ranks"):
            return row
    return None


def row_of_method(site: Site, walker: Walker, rows: _Rows) -> Row | None:
    """The row of a method that a class of the repository has of the library's class that it extends."""
    called = site.node.func
    if not isinstance(called, ast.Attribute) or called.attr not in _METHODS:
        return None
    owner = site.scope.owner
    if dotted(called.value) in ("self", "cls") or isinstance(called.value, ast.Call):
        found = (owner, site.scope) if owner is not None else None
    else:
        found = _class(site.scope.full_name(called.value), site.scope, walker)
    above = walker.evaluator.lineage.above(found[1]._replace(owner=found[0])) if found is not None else []
    for node, scope in above:
        own = any(isinstance(part, ast.FunctionDef) and part.name == called.attr for part in node.body)
        if own and not isinstance(called.value, ast.Call):
            return None  # which is walked itself
        found_rows = (rows(f"{scope.full_name(base)}.{called.attr}") for base in node.bases)
        if row := next(filter(None, found_rows), None):
            return row
    return None


_METHODS = frozenset(
    row.call.rpartition(".")[2] for row in ROWS if row.call.rpartition(".")[0].endswith(".DefaultTrainer")
)
"""Methods of classes that make loaders without an object."""


def _names(called: ast.expr, scope: Scope, walker: Walker) -> Iterator[tuple[str, Scope]]:
    """The dotted names that what is called stands for: its own, or those that it is given."""
    given = walker.evaluator.given_to(called, scope) if isinstance(called, ast.Name) else []
    pending = given or [(called, scope)]
    for node, where in pending:
        parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
        for part in parts:
            if isinstance(part, ast.Name | ast.Attribute):
                yield where.full_name(part), where


def _class(name: str, scope: Scope, walker: Walker) -> tuple[ast.ClassDef, Scope] | None:
    """The class of the repository that a name stands for."""
    found = walker.evaluator.definition(name, scope)
    return (found[0], found[1]) if found is not None and isinstance(found[0], ast.ClassDef) else None


def _hands_on(node: ast.ClassDef) -> bool:
    """Whether a class takes the keywords of the class that it extends."""
    own = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__")
    return all(function.args.kwarg is not None for function in own)


def _inherited(node: ast.ClassDef, scope: Scope, walker: Walker, rows: _Rows) -> Row | None:
    """The row of the library's class that a class extends, perhaps through others of the repository."""
    for _ in range(MOST_BASES):
        names = [scope.full_name(base) for base in node.bases]
        row = next((row for name in names if (row := rows(name)) is not None and "." in row.call), None)
        if row is not None:
            return row
        found = next((found for name in names if (found := _class(name, scope, walker)) is not None), None)
        if found is None:
            return None
        node, scope = found
    return None
