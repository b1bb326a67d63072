"""Pools of `torch.multiprocessing`: whether their processes surely exchange no tensors."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from shmlint.model.source import Span
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import POOLS
from shmlint.workloads.python.assignments import Function, parameters_of
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.tensors import MAPS
from shmlint.workloads.python.values import Scope

_OF_POOL = MAPS | {"close", "join", "terminate"}
_SETTINGS = frozenset({"processes", "maxtasksperchild", "chunksize"})
_MAKES_PLAIN = frozenset({"float", "int", "str", "bool", "len", "repr", "round", "hash"})
"""Functions whose result is a plain value, whatever they are given; methods of tensors that are so."""
_METHODS = frozenset({"item", "tolist"})
_KEEPS_PLAIN = frozenset(
    {"list", "tuple", "sorted", "set", "range", "zip", "enumerate", "min", "max", "sum", "abs", "dict", "reversed",
     "os.path.join", "os.path.basename", "os.path.dirname", "os.path.abspath", "os.listdir", "os.getcwd",
     "os.cpu_count", "glob.glob", "pathlib.Path", "itertools.product", "time.time"}
)  # fmt: skip
"""Functions that make plain values of plain values."""
_DEEPEST = 12


def tensors_may_cross(sites: Collection[Site], evaluator: Evaluator) -> Iterator[Span]:
    """The pools of PyTorch whose processes may exchange tensors, as far as it is not plain that they do not."""
    sites = list(sites)
    for pool in (site for site in sites if site.name in POOLS):
        if not _exchanges_values(pool, sites, evaluator):
            yield pool.span


def _exchanges_values(pool: Site, sites: Collection[Site], evaluator: Evaluator) -> bool:
    settings = {keyword.arg for keyword in pool.node.keywords}
    name = _name_of(pool)
    if not name or not settings <= _SETTINGS or len(pool.node.args) > 1:
        return False
    nodes = list(ast.walk(pool.scope.module.tree))
    methods = list(_methods_of_pools(nodes))
    called = {id(method.value) for _, method in methods}
    if any(isinstance(n, ast.Name) and n.id == name and _is_read(n) and id(n) not in called for n in nodes):
        return False  # who has the pool may hand anything to it
    jobs = [
        site for site in sites
        if site.scope.module is pool.scope.module and isinstance(site.node.func, ast.Attribute)
        and dotted(site.node.func.value) == name and site.node.func.attr in MAPS
    ]  # fmt: skip
    written = sum(_named(call, name) for call, _ in methods)
    return len(jobs) == written > 0 and all(_is_plain_job(job, evaluator) for job in jobs)


def _name_of(pool: Site) -> str:
    """The name that a pool has, where it is a plain one."""
    for node in ast.walk(pool.scope.module.tree):
        if isinstance(node, ast.withitem) and node.context_expr is pool.node:
            return node.optional_vars.id if isinstance(node.optional_vars, ast.Name) else ""
        if isinstance(node, ast.Assign) and node.value is pool.node:
            return node.targets[0].id if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) else ""
    return ""


def _methods_of_pools(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """The calls of methods that are called like those of pools, and what they call."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_POOL:
            yield node, node.func


def _named(node: ast.Call, name: str) -> bool:
    return dotted(node.func).rpartition(".")[0] == name and dotted(node.func).rpartition(".")[2] in MAPS


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_plain_job(job: Site, evaluator: Evaluator) -> bool:
    """Whether a function in a pool is given and gives back plain values."""
    given = [*job.node.args, *(k.value for k in job.node.keywords if k.arg not in ("callback", "error_callback"))]
    if not given or any(isinstance(value, ast.Starred) for value in given):
        return False
    called, passed = given[0], given[1:]
    if isinstance(called, ast.Call) and job.scope.full_name(called.func) == "functools.partial" and called.args:
        passed += [*called.args[1:], *(keyword.value for keyword in called.keywords)]
        called = called.args[0]
    if not isinstance(called, ast.Name | ast.Attribute):
        return False
    own = dotted(called) in job.scope.module.definitions
    found = evaluator.definition(dotted(called) if own else job.scope.full_name(called), job.scope)
    if found is None or not isinstance(found[0], ast.FunctionDef) or found[0].decorator_list:
        return False
    plain = _Plain(evaluator)
    if not all(plain.holds(value, job.scope, 0) for value in passed):
        return False
    function, inside = found[0], found[1]._replace(function=found[0])
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    if any(isinstance(node, Function | ast.Lambda | ast.Yield | ast.YieldFrom) for node in nodes):
        return False
    plain.given = frozenset(parameters_of(function)) - {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    returned = (node.value for node in nodes if isinstance(node, ast.Return))
    return all(value is None or plain.holds(value, inside, 0) for value in returned)


class _Plain:
    """Whether expressions are numbers, texts and paths, or lists and mappings of them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.given: frozenset[str] = frozenset()
        """Names that are known to be."""

    def holds(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        if isinstance(node, ast.Constant | ast.JoinedStr):
            return True
        if isinstance(node, ast.Name) and node.id in self.given:
            return True
        if isinstance(node, ast.Name):
            known = self._evaluator.only_given(node, scope)
            return known is not None and self.holds(*known, depth + 1)
        if isinstance(node, ast.Call):
            return self._of_call(node, scope, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return self._of_comprehension(node, scope, depth)
        return isinstance(node, _HOLDS) and all(self.holds(part, scope, depth + 1) for part in _parts(node))

    def _of_call(self, node: ast.Call, scope: Scope, depth: int) -> bool:
        name = scope.full_name(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return True
        if name in _MAKES_PLAIN and name not in scope.module.definitions:
            return True
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        own = name in scope.module.definitions
        return name in _KEEPS_PLAIN and not own and all(self.holds(part, scope, depth + 1) for part in given)

    def _of_comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope, depth: int) -> bool:
        before = self.given
        for loop in node.generators:
            if not self.holds(loop.iter, scope, depth + 1):
                break
            self.given |= {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        else:
            found = self.holds(node.elt, scope, depth + 1)
            self.given = before
            return found
        self.given = before
        return False


_HOLDS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Starred)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
        return
    yield from (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
