"""Which loaders of a program are iterated: workers start when the first batch is asked for, and not before.

https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from shmlint.syntax.python import dotted, parents_of
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.reach import Site

_MOST_LOADERS = 50
"""Loaders of a program whose uses are looked for; of more all count."""
_MOST_CALLERS = 20
_MOST_DEPTH = 3
"""Functions that give a loader to each other."""
_LOOKED_UP = frozenset({"batch_size", "dataset", "num_workers", "sampler"})
"""What code reads of a loader without a batch of it."""
_BY_NAME = frozenset({"eval", "exec", "globals", "locals", "vars"})

_BY_OTHER_NAMES = re.compile(r"\bvars\(|__dict__|\bgetattr\((?!\s*[\w.]+,\s*[\"'])")
"""What finds an attribute without its name."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = ast.Name | ast.Attribute


def without_unused(
    sites: dict[int, Site], loaded: Collection[Loaded], is_reached: Callable[[str, ast.AST], bool]
) -> dict[int, Site]:
    """Calls without those that make a loader which nothing iterates, in a program that iterates another one.

    A program without any that is iterated is not known as a whole: it is not sure of those that it only counts.
    ``is_reached`` is whether a function of a file is.
    """
    loaders = {at: site for at, site in sites.items() if site.name in _LOADERS}
    if len(loaders) > _MOST_LOADERS:
        return sites
    if len(loaders) < 2 and not any("len(" in site.scope.source.text for site in loaders.values()):
        return sites  # and no module is walked for its uses
    uses = _Uses(loaded, is_reached)
    unused = {at for at, site in loaders.items() if not uses.may_iterate(site.node, site.scope.path)}
    if len(unused) < len(loaders):
        return {at: site for at, site in sites.items() if at not in unused}
    counted = {at for at in unused if uses.has_some(loaders[at].node, loaders[at].scope.path)}
    return {at: site._replace(certain=site.certain and at not in counted) for at, site in sites.items()}


def together(loaders: Mapping[int, Site], loaded: Collection[Loaded]) -> tuple[tuple[int, ...], ...]:
    """The loaders that are iterated together, so that the batches of all are there at once, by their keys."""
    if not 2 <= len(loaders) <= _MOST_LOADERS:
        return ()
    uses = _Uses(loaded)
    groups: dict[int, set[int]] = {}
    for key, site in loaders.items():
        for place in uses.beside(site.node, site.scope.path):
            groups.setdefault(place, set()).add(key)
    return tuple(dict.fromkeys(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


_TOGETHER = frozenset({"zip", "zip_longest"})
_KEEPS = (ast.Assign, ast.Tuple)
"""What an iterator is in that goes on while others are used."""
_PASS_ON = frozenset({"cycle", "enumerate", "tqdm", "iter"})
"""Calls that give out the batches of what they are given."""
_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})


class _Uses:
    """What becomes of values in the code that was read."""

    def __init__(
        self, loaded: Collection[Loaded], is_reached: Callable[[str, ast.AST], bool] = lambda path, node: True
    ) -> None:
        self._loaded = {one.path: one for one in loaded}
        self._is_reached = is_reached
        self._parents: dict[str, dict[int, ast.AST]] = {}

    def may_iterate(self, call: ast.Call, path: str) -> bool:
        """Whether something may iterate what a call gives; not where it is only counted or never used."""
        return any(name is None or self._iterates(name, where) for name, where in self._uses(call, path, 0))

    def has_some(self, call: ast.Call, path: str) -> bool:
        """Whether code uses what a call gives."""
        return any(True for _ in self._uses(call, path, 0))

    def beside(self, call: ast.Call, path: str) -> Iterator[int]:
        """What may iterate a loader together with others, by its id: ``zip``, or a function that keeps its iterator."""
        for name, where in ((call, path), *self._uses(call, path, 0)):
            parents = self._parents_in(where)
            around: ast.AST | None = name
            for _ in range(_MOST_DEPTH):
                around = parents.get(id(around))
                called = dotted(around.func).rpartition(".")[2] if isinstance(around, ast.Call) else ""
                if called in _TOGETHER:
                    yield id(around)
                elif called == "iter" and around is not None and isinstance(parents.get(id(around)), _KEEPS):
                    yield id(self._function_of(around, where) or self._loaded[where].module.tree)
                if called not in _PASS_ON:
                    break

    def _uses(self, value: ast.expr, path: str, depth: int) -> Iterator[tuple[_Named | None, str]]:
        """Where a value is used by a name or an attribute; None for a use that is not followed."""
        parent = self._parents_in(path).get(id(value))
        if isinstance(parent, ast.Tuple):
            above = self._parents_in(path).get(id(parent))
            if isinstance(above, ast.Return):
                yield from self._returned(above, parent.elts.index(value), len(parent.elts), path, depth)
                return
            names = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
            if isinstance(names, ast.Tuple) and len(names.elts) == len(parent.elts):
                yield from self._named(names.elts[parent.elts.index(value)], path, depth)
                return
        if isinstance(parent, ast.Return):
            yield from self._returned(parent, None, 1, path, depth)
        elif isinstance(parent, ast.Assign) and parent.value is value and len(parent.targets) == 1:
            yield from self._named(parent.targets[0], path, depth)
        else:
            yield (value if isinstance(value, _Named) else None), path

    def _named(self, target: ast.expr, path: str, depth: int) -> Iterator[tuple[_Named | None, str]]:
        """The uses of what has a name in a function, or in a module whose name no other one has."""
        if isinstance(target, ast.Attribute) and dotted(target.value) == "self" and depth < _MOST_DEPTH:
            yield from self._of_attribute(target.attr, depth + 1)
            return
        function = self._function_of(target, path)
        if not isinstance(target, ast.Name) or (function is None and not self._is_of_module(target, path)):
            yield None, path
            return
        nodes = list(ast.walk(function or self._loaded[path].module.tree))
        names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        given = any(isinstance(node, ast.Global | ast.Nonlocal) and target.id in node.names for node in nodes)
        if given or any(node.id in _BY_NAME for node in names):
            yield None, path
            return
        for node in names:
            if node.id == target.id:
                yield from self._uses(node, path, depth)

    def _of_attribute(self, name: str, depth: int) -> Iterator[tuple[_Named | None, str]]:
        """The uses of an attribute of an object, of whatever class, in the functions that are reached.

        Where nothing of what was read uses it, something else may.
        """
        seen = False
        for one in self._loaded.values():
            hidden = _BY_OTHER_NAMES.search(one.source.text) is not None
            if hidden or (name in one.source.text and not one.module.nodes):
                yield None, one.path
            for node in ast.walk(one.module.tree) if name in one.source.text else ():
                if isinstance(node, ast.Constant) and node.value == name:
                    yield None, one.path
                elif isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
                    seen = True
                    yield from self._uses(node, one.path, depth) if self._may_run(node, one.path) else ()
        if not seen:
            yield None, ""

    def _may_run(self, node: ast.AST, path: str) -> bool:
        """Whether a node is reached; what Python or a class of another library calls of one may be as well."""
        function = self._function_of(node, path)
        owner = self._parents_in(path).get(id(function))
        if function is None or function.decorator_list or function.name.startswith("__"):
            return True
        if self._is_reached(path, function):
            return True
        return not isinstance(owner, ast.ClassDef) or bool(owner.bases or owner.keywords or owner.decorator_list)

    def _is_of_module(self, target: ast.Name, path: str) -> bool:
        """Whether a name is one of a module, at its top level, and no other module has it."""
        node: ast.AST | None = target
        parents = self._parents_in(path)
        while node is not None and not isinstance(node, ast.Module):
            if isinstance(node, ast.ClassDef | ast.Lambda):
                return False
            node = parents.get(id(node))
        word = re.compile(rf"\b{re.escape(target.id)}\b")
        others = (one for one in self._loaded.values() if one.path != path)
        return node is not None and not any(word.search(one.source.text) for one in others)

    def _iterates(self, name: _Named, path: str) -> bool:
        """Whether a use of a name may iterate its value."""
        parent = self._parents_in(path).get(id(name))
        if isinstance(parent, ast.Call):
            return dotted(parent.func) != "len"
        return not (isinstance(parent, ast.Attribute) and parent.attr in _LOOKED_UP)

    def _returned(
        self, statement: ast.Return, position: int | None, count: int, path: str, depth: int
    ) -> Iterator[tuple[_Named | None, str]]:
        """The uses of what a function returns: as a whole, or one of ``count`` values."""
        function = self._function_of(statement, path)
        callers = self._callers(function, path) if function is not None and depth < _MOST_DEPTH else None
        for call, where in callers if callers is not None else ():
            parent = self._parents_in(where).get(id(call))
            target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
            if position is None:
                yield from self._uses(call, where, depth + 1)
            elif isinstance(target, ast.Tuple) and len(target.elts) == count:
                yield from self._named(target.elts[position], where, depth + 1)
            else:
                yield None, where
        if callers is None:
            yield None, path

    def _callers(self, function: _Function, path: str) -> list[tuple[ast.Call, str]] | None:
        """The calls of a function of a module; None where others may call it."""
        name = function.name
        if function.decorator_list or not isinstance(self._parents_in(path).get(id(function)), ast.Module):
            return None
        used = re.compile(rf"\b{re.escape(name)}\b(?!\s*\()")
        found: list[tuple[ast.Call, str]] = []
        for one in self._loaded.values():
            if name not in one.source.text:
                continue
            lines = one.source.text.splitlines()
            others = [line for line in lines if not line.lstrip().startswith(("from ", "import "))]
            renamed = any(target.rpartition(".")[2] == name != own for own, target in one.module.imports.items())
            if renamed or not one.module.nodes or used.search("\n".join(others)):
                return None
            calls = (node for node in one.module.nodes if isinstance(node, ast.Call))
            found += ((node, one.path) for node in calls if dotted(node.func).rpartition(".")[2] == name)
        return found if 0 < len(found) <= _MOST_CALLERS else None

    def _function_of(self, node: ast.AST, path: str) -> _Function | None:
        """The function that a node is in; None in a module or a class."""
        parents = self._parents_in(path)
        while True:
            above = parents.get(id(node))
            if above is None or isinstance(above, ast.ClassDef | ast.Lambda):
                return None
            if isinstance(above, _Function):
                return above
            node = above

    def _parents_in(self, path: str) -> dict[int, ast.AST]:
        """What each node of a module is part of."""
        if path not in self._parents:
            one = self._loaded.get(path)
            self._parents[path] = parents_of(one.module.tree) if one is not None else {}
        return self._parents[path]
