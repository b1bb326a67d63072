"""What code may do with what ``eval`` or ``globals`` finds by a name: call it, or only take its value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from shmlint.syntax.python import Module, dotted, parents_of
from shmlint.workloads.packages.libraries import COLLECTIVE, COUNTS, NOT_FOLLOWED, ROWS
from shmlint.workloads.python.modules import Modules
from shmlint.workloads.python.screen import is_known
from shmlint.workloads.python.values import Scope


def may_be_called(found: Sequence[ast.Call], module: Module) -> bool:
    """Whether something that is found so may be called, with arguments that nobody sees.

    Not where it becomes a number, is kept under a name that the module never calls, or is what an object has.
    """
    found = [node for node in found if not _is_of_object(node, module)]
    above = parents_of(module.tree)
    calls = (node.func for node in module.nodes if isinstance(node, ast.Call))
    called = {dotted(part).rpartition(".")[2] for func in calls for part in _named(func)}
    return any(_may_be_called(node, above, called) for node in found)


def may_fill(name: str, call: ast.Call, scope: Scope, imported: Set[str], modules: Modules) -> bool:
    """Whether a call that is only looked through may put something into /dev/shm, by its last word.

    ``range(3)`` and ``torch.from_numpy(a)`` have that of calls of Ray. They are others where Ray is not imported,
    or where the name tells another package.
    """
    packages = _FILLED_BY.get(name.rpartition(".")[2], set())
    if "" in packages or any(keyword.arg in COUNTS for keyword in call.keywords):
        return True
    head, dot, _ = name.partition(".")
    other = bool(dot) and head not in packages and is_known(head) and head in imported_by(scope.module)
    other = other and modules.resolve(name, scope.path) is None
    return not other and not packages.isdisjoint(imported)


def imported_by(module: Module) -> frozenset[str]:
    """The packages that a module imports."""
    others = (target for targets in module.other_imports.values() for target in targets)
    return frozenset(target.partition(".")[0] for target in (*module.imports.values(), *module.stars, *others))


def _named(func: ast.expr) -> Iterator[ast.expr]:
    """What is called, and what that is an item of: ``kinds[name](data)``."""
    yield func
    while isinstance(func, ast.Subscript):
        func = func.value
        yield func


def _is_of_object(node: ast.Call, module: Module) -> bool:
    """Whether it is what an object has by a name, ``getattr(self, name)``, and not a module."""
    owner = dotted(node.args[0]).partition(".")[0] if dotted(node.func) == "getattr" and node.args else ""
    return owner.isidentifier() and owner not in module.imports


def _may_be_called(node: ast.AST, above: dict[int, ast.AST], called: set[str]) -> bool:
    outer = above.get(id(node))
    while isinstance(outer, ast.Subscript | ast.IfExp | ast.BoolOp):  # ``globals()[name]``
        node, outer = outer, above.get(id(outer))
    if isinstance(outer, ast.Assign | ast.AnnAssign):
        targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
        names = {dotted(target).rpartition(".")[2] for target in targets}
        return "" in names or not names.isdisjoint(called)
    if isinstance(outer, ast.Call):
        return outer.func is node or dotted(outer.func) not in _TAKE_VALUES
    return not isinstance(outer, _TAKE)


_TAKE = (ast.Expr, ast.Compare, ast.BinOp, ast.UnaryOp, ast.For, ast.If, ast.FormattedValue)
_TAKE_VALUES = frozenset(
    {"abs", "bool", "dict", "float", "int", "isinstance", "len", "list", "max", "min", "print", "round", "set", "str",
     "sum", "tuple", "type"}
)  # fmt: skip
"""What takes a value and does not call it."""
_FILLED_BY: dict[str, set[str]] = {}
"""The packages of the calls that put something into /dev/shm, or may, by their last names.

An empty one stands where the last name alone tells.
"""
for _name in (*(row.call for row in ROWS), *COLLECTIVE, *NOT_FOLLOWED):
    _FILLED_BY.setdefault(_name.rpartition(".")[2], set()).add(_name.partition(".")[0] if "." in _name else "")
for _name in ("Queue", "SimpleQueue", "JoinableQueue", "Pool", "get_context", "put"):
    _FILLED_BY[_name].add("multiprocessing")  # what is put into Python's own queues may be tensors
