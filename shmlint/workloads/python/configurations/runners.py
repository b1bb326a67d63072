"""The loaders that a runner of mmengine makes of what it is given: ``Runner(train_dataloader=dict(num_workers=4))``.

https://github.com/open-mmlab/mmengine/blob/v0.10.7/mmengine/runner/runner.py#L1344
"""

from __future__ import annotations

import ast

from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.values import Scope

_LOADERS = {"train_dataloader": "train", "val_dataloader": "", "test_dataloader": ""}
"""What a runner is given, and the method that surely makes a loader of it."""
_BEFORE = 2
"""Arguments before these: the model and a directory."""


def loaders_of(site: Site, evaluator: Evaluator) -> list[Site] | None:
    """The calls of PyTorch's loader that a runner makes; None where they are not all known.

    A loader that is given as an object is one where it is made.
    """
    given = {keyword.arg: keyword.value for keyword in site.node.keywords}
    if len(site.node.args) > _BEFORE or None in given or "cfg" in given:
        return None
    found: list[Site] = []
    for name, method in _LOADERS.items():
        value = given.get(name, ast.Constant(None))
        if isinstance(value, ast.Constant) and value.value is None:
            continue
        mapping = evaluator.mapping(value, site.scope)
        if not mapping.complete and "num_workers" not in mapping.entries:
            if not _is_loader(value, site.scope, evaluator):
                return None
            continue
        func = ast.copy_location(ast.Name("DataLoader", ast.Load()), value)
        call = ast.copy_location(ast.Call(func, [], [ast.keyword(None, value)]), value)
        sure = site.certain and mapping.certain and method in evaluator.calls
        found.append(Site("torch.utils.data.DataLoader", call, site.scope, sure))
    return found


def _is_loader(node: ast.expr, scope: Scope, evaluator: Evaluator) -> bool:
    """Whether an expression is a loader of PyTorch that is made there, or where a name is given its value."""
    given = evaluator.given_to(node, scope) if isinstance(node, ast.Name | ast.Attribute) else [(node, scope)]
    called = [where.full_name(one.func) for one, where in given if isinstance(one, ast.Call)]
    return bool(called) and called == ["torch.utils.data.DataLoader"] * len(given)
