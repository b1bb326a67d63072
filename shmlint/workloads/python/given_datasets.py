"""The datasets that a loader of PyTorch is given, by the calls that make them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from shmlint.syntax.python import dotted
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.values import Scope

_PARTS_OF = frozenset({
    f"torch.utils.data.{module}{name}"
    for module in ("", "dataset.") for name in ("random_split", "Subset", "ConcatDataset", "ChainDataset")
})  # fmt: skip
"""Calls that take some of the items of a dataset, or all those of several."""
_MOST_PARTS = 100


def dataset_argument(site: Site) -> ast.expr | None:
    """What a loader is given for its dataset."""
    named = next((keyword.value for keyword in site.node.keywords if keyword.arg == "dataset"), None)
    return named if named is not None else next(iter(site.node.args), None)


def calls_that_make(node: ast.expr | None, scope: Scope, evaluator: Evaluator) -> list[tuple[ast.Call, Scope]]:
    """The calls that make the datasets which an expression is or holds; none where one of them is not known."""
    if node is None:
        return []
    pending, found, seen = [(node, scope)], [], set()
    for one, where in pending:  # grows while it is walked
        if (id(one), id(where.function)) in seen:
            continue
        seen.add((id(one), id(where.function)))
        parts: Sequence[tuple[ast.expr, Scope]] = [(part, where) for part in _held(one)]
        if isinstance(one, ast.Call):
            if not one.args or full_name(one, where) not in _PARTS_OF:
                found.append((one, where))
                continue
            parts = [(one.args[0], where)]
        elif isinstance(one, ast.Name | ast.Attribute):
            parts = evaluator.given_to(one, where)
            whole = evaluator.unpacked(dotted(one), where) if not parts else []  # ``a, b = random_split(data, sizes)``
            parts = parts or [(value, where) for value in whole if isinstance(value, ast.Call) and len(whole) == 1]
        if not parts or len(pending) > _MOST_PARTS:
            return []
        pending += parts
    return found


def full_name(call: ast.Call, scope: Scope) -> str:
    """What a call calls: a name of its module, or the whole name of what is imported."""
    name = dotted(call.func)
    return name if name in scope.module.definitions else scope.full_name(call.func)


def _held(node: ast.expr) -> list[ast.expr]:
    """What a list or a mapping holds, or an expression is in either case."""
    if isinstance(node, ast.Subscript | ast.DictComp):
        return [node.value]
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [node.left, node.right]
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
