"""The modules that Python code loads by a name which it puts together: as far as the name is written down."""

from __future__ import annotations

import ast
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from shmlint.syntax.python import dotted
from shmlint.workloads.python.assignments import given_otherwise, parameters_of
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.values import Scope

ANY = "*"
"""A part of a name that is not written down."""
_MOST = 100
"""Names that one expression may stand for."""
_DEPTH = 10
_BUILDS = ("cpp_extension.load", "cpp_extension.load_inline")
_PATHS = frozenset({"os.path.join", "pathlib.Path", "str", "os.fspath"})
"""Calls that put a path together of the parts that they are given."""
_VARIABLES = frozenset({"os.getenv", "os.environ.get"})
_PERCENT = r"%(?:\([^()]*\))?[-+ #0-9.]*[a-z]"
_BRACES = r"\{[^{}]*\}"

Names = tuple[str, ...]
"""Names of modules with ``*`` for what is not known; none where nothing is."""


class NamedModules:
    """Puts the names of modules together. Where one of several values is not known, nothing is."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._left = 0
        self._loops: dict[int, dict[str, list[ast.expr]]] = {}
        """What the loops of a function or a module go through, by the names that they give."""

    def names(self, call: ast.Call, scope: Scope) -> Names:
        """All names that ``import_module(name, package)`` may load; none where it may also be another one."""
        self._left = 400
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        name = call.args[0] if call.args else given.get("name")
        package = call.args[1] if len(call.args) > 1 else given.get("package")
        if name is None:
            return ()
        found = self.texts(name, scope, 0)
        if package is not None and any(name.startswith(".") for name in found):
            found = tuple(inner + name for inner in self.texts(package, scope, 0) for name in found)
        return found if len(found) <= _MOST and all(not name.startswith(ANY) for name in found) else ()

    def written(self, node: ast.expr, scope: Scope) -> Names:
        """All texts that an expression may be, with ``*`` for what is not known."""
        self._left = 400
        return self.texts(node, scope, 0)

    def perhaps(self, name: ast.Name, scope: Scope) -> Names:
        """Texts that a name may stand for, as well as others that are not known."""
        values = self._evaluator.any_given(name, scope)
        found = [text for value, where in values[:_MOST] for text in self.written(value, where) if ANY not in text]
        return tuple(dict.fromkeys(found))

    def texts(self, node: ast.expr, scope: Scope, depth: int) -> Names:
        """The texts that an expression may be."""
        self._left -= 1
        if depth > _DEPTH or self._left <= 0:
            return ()
        if isinstance(node, ast.Constant):
            return (node.value,) if isinstance(node.value, str) else ()
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, scope, depth)
        if isinstance(node, ast.FormattedValue):
            return self.texts(node.value, scope, depth + 1)
        if isinstance(node, ast.BinOp):
            return self._of_operation(node, scope, depth)
        if isinstance(node, ast.IfExp):
            return self._all([(node.body, scope), (node.orelse, scope)], depth)
        if isinstance(node, ast.Subscript):
            return self._of_mapping(node.value, scope, depth)
        if isinstance(node, ast.Call):
            return self._of_call(node, scope, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._of_name(node, scope, depth) or self._of_option(node, scope)
        return ()

    def _of_operation(self, node: ast.BinOp, scope: Scope, depth: int) -> Names:
        if isinstance(node.op, ast.Add):
            return self._joined((node.left, node.right), scope, depth)
        if isinstance(node.op, ast.Mod):
            return tuple(re.sub(_PERCENT, ANY, text) for text in self.texts(node.left, scope, depth + 1))
        return self._path((node.left, node.right), scope, depth) if isinstance(node.op, ast.Div) else ()

    def _of_call(self, node: ast.Call, scope: Scope, depth: int) -> Names:
        if node.args and scope.full_name(node.func) in _PATHS:
            return self._path(node.args, scope, depth)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return tuple(re.sub(_BRACES, ANY, text) for text in self.texts(node.func.value, scope, depth + 1))
        if scope.full_name(node.func) in _VARIABLES:
            found = self._evaluator.value(node, scope)
            return (found.value,) if found.certain and isinstance(found.value, str) else ()
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and not node.keywords:
            return self._of_mapping(node.func.value, scope, depth, node.args[1:])
        return ()

    def _of_option(self, node: ast.Name | ast.Attribute, scope: Scope) -> Names:
        """The value of an option, ``args.model``, as the command gives it or else by its default."""
        if isinstance(node, ast.Name) or not self._is_parsed(node.value, scope, 0):
            return ()
        found = self._evaluator.value(node, scope)
        return (found.value,) if found.certain and isinstance(found.value, str) else ()

    def _is_parsed(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether something is surely what argparse makes of the command: ``parse_args()``, also of a function."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Name | ast.Attribute):
            given = self._given(node, scope)
            return bool(given) and all(self._is_parsed(value, where, depth + 1) for value, where in given or ())
        if not isinstance(node, ast.Call) or node.args or node.keywords:
            return False
        made = scope.module.definitions.get(dotted(node.func))
        if not isinstance(made, ast.FunctionDef) or made.decorator_list:
            return dotted(node.func).endswith(".parse_args")
        inside = scope._replace(function=made)
        returned = [part.value for part in ast.walk(made) if isinstance(part, ast.Return)]
        return bool(returned) and all(one is not None and self._is_parsed(one, inside, depth + 1) for one in returned)

    def _all(self, values: Sequence[tuple[ast.expr, Scope]], depth: int) -> Names:
        """What several expressions may be; none where one is not known."""
        found = [self.texts(value, where, depth + 1) for value, where in values] if len(values) <= _MOST else []
        return tuple(dict.fromkeys(name for names in found for name in names)) if all(found) else ()

    def _joined(self, parts: Sequence[ast.expr], scope: Scope, depth: int) -> Names:
        found: Names = ("",)
        for part in parts:
            texts = self.texts(part, scope, depth + 1) or (ANY,)
            found = tuple(before + text for before in found for text in texts)[: _MOST + 1]
        return found

    def _path(self, parts: Sequence[ast.expr], scope: Scope, depth: int) -> Names:
        """The path that is put together of some parts; none where one is not known."""
        found = [self.texts(part, scope, depth + 1) for part in parts]
        paths = [os.path.join(*names) for names in itertools.islice(itertools.product(*found), _MOST + 1)]
        return tuple(dict.fromkeys(paths))

    def _of_name(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Names:
        if isinstance(node, ast.Name) and node.id in ("__name__", "__package__"):
            return ("",)  # a name that begins with a dot is one of the package
        given = self._given(node, scope)
        if given is None:
            return ()
        items = self._looped(node.id, scope) if isinstance(node, ast.Name) else []
        if items:
            listed = [pair for item in items for pair in self._items(item, scope)]
            return self._all([*given, *listed], depth) if all(self._items(item, scope) for item in items) else ()
        return self._all(given, depth)

    def _items(self, node: ast.expr, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """The items of a list that is written down, also under a name."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [(item, scope) for item in node.elts]
        if isinstance(node, ast.Name | ast.Attribute):
            given = self._given(node, scope) or []
            if len(given) == 1 and isinstance(given[0][0], ast.List | ast.Tuple | ast.Set):
                return self._items(*given[0])
        return []

    def _of_mapping(self, node: ast.expr, scope: Scope, depth: int, more: Sequence[ast.expr] = ()) -> Names:
        """The values of a mapping that is written down, and ``more``; of pairs, ``("module", "Class")``, the first."""
        if isinstance(node, ast.Subscript):
            return self._of_mapping(node.value, scope, depth + 1, more) if depth < _DEPTH else ()
        given = self._given(node, scope) if isinstance(node, ast.Name | ast.Attribute) else [(node, scope)]
        mappings = [(value, where) for value, where in given or () if isinstance(value, ast.Dict)]
        if len(mappings) != 1:
            return ()
        mapping, where = mappings[0]
        assert isinstance(mapping, ast.Dict)
        values = (value.elts[0] if isinstance(value, ast.Tuple | ast.List) and value.elts else value
                  for value in mapping.values)  # fmt: skip
        return self._all([*((value, where) for value in values), *((value, scope) for value in more)], depth)

    def _given(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]] | None:
        """The values that a name may have; None where it may have others, too."""
        given = self._evaluator.given_to(node, scope)
        name, function = dotted(node), scope.function
        inside: list[ast.AST] = [scope.module.tree, *(where.module.tree for _, where in given)]
        if function is not None and isinstance(node, ast.Name):
            if name in parameters_of(function) and not self._knows_calls(scope):
                return None
            if name in parameters_of(function) or any(where.function is function for _, where in given):
                inside = [function]
        last = name.rpartition(".")[2]
        names = {name, f".{last}"} if name.startswith("self.") else {name, last}
        return None if any(not names.isdisjoint(given_otherwise(place)) for place in inside) else given

    def _knows_calls(self, scope: Scope) -> bool:
        """Whether all calls of the function are seen: nothing else gets it, to call it."""
        function, tree = scope.function, scope.module.tree
        assert function is not None
        decorators = {dotted(decorator).rpartition(".")[2] for decorator in function.decorator_list}
        passed = function.name in _named_without_call(tree) or not decorators <= _PLAIN
        return not passed and self._evaluator.knows_calls(function, scope)

    def _looped(self, name: str, scope: Scope) -> list[ast.expr]:
        inside = scope.function or scope.module.tree
        if id(inside) not in self._loops:
            found = self._loops[id(inside)] = {}
            for target, values in loops(inside):
                found.setdefault(target, []).append(values)
        return self._loops[id(inside)].get(name, [])


@lru_cache(1024)  # several programs of a run have the same code
def _named_without_call(tree: ast.Module) -> frozenset[str]:
    """What a module names without calling it, by the last words."""
    called: set[int] = set()
    found: set[str] = set()
    for node in ast.walk(tree):  # a call comes before what it calls
        if isinstance(node, ast.Call):
            called.add(id(node.func))
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in called:
            found.add(dotted(node).rpartition(".")[2])
    return frozenset(found)


def is_compiled(call: ast.Call, scope: Scope) -> bool:
    """Whether the module is an extension of C++ that the same function builds: ``cpp_extension.load(name=name)``."""
    name = dotted(call.args[0]) if call.args else ""
    for node in ast.walk(scope.function) if scope.function is not None and name else ():
        if isinstance(node, ast.Call) and dotted(node.func).endswith(_BUILDS):
            given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "name")]
            if any(dotted(value) == name for value in given):
                return True
    return False


def loops(inside: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that loops give, and what they go through."""
    for node in ast.walk(inside):
        if isinstance(node, ast.For | ast.comprehension):
            targets = node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else [node.target]
            yield from ((target.id, node.iter) for target in targets if isinstance(target, ast.Name))


_PLAIN = frozenset({"staticmethod", "classmethod", "cache", "lru_cache"})
"""Decorators that leave the calls of a function as they are."""
