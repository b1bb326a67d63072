"""Which part of its configuration a program hands to ``hydra.utils.instantiate``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shmlint.syntax.python import dotted
from shmlint.workloads.program import Entry
from shmlint.workloads.python.assignments import parameters_of
from shmlint.workloads.python.configurations.hydra_config import (
    Composed,
    References,
    class_of,
    is_understood,
    main_of,
    referred,
    with_keywords,
)
from shmlint.workloads.python.configurations.settings_files import Part, expression
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.values import UNKNOWN, Scope, text_of

_DEPTH = 12
_MOST_STEPS = 400
_MOST = 40
"""Parts of a configuration that one call makes."""
Parts = list[tuple[Part, Part]]
"""Parts, each with the whole configuration that it is of."""


class Instantiated:
    """Finds the parts of a configuration that expressions stand for."""

    def __init__(self, entry: Entry, evaluator: Evaluator, *, stores: bool) -> None:
        self._stores = stores
        """Whether code may keep files of a configuration itself."""
        self._entry = entry
        self._evaluator = evaluator
        self._roots: dict[tuple[str, str], Part | None] = {}
        self._mappings: set[str] = set()
        """What the configurations have inside of others."""
        self._looped: dict[int, list[tuple[str, ast.expr]]] = {}
        """What the loops of functions and modules go through, by the names that they give."""
        self._left, self._references = 0, References()

    def made(self, node: ast.Call, scope: Scope) -> list[tuple[ast.expr, Part]] | None:
        """What a call of ``instantiate`` makes; None where that is not written down."""
        self._left, self._references = _MOST_STEPS, References()
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "config"), None)
        found = self._parts(given, scope, 0) if given is not None else None
        if found is None or len(found) > _MOST:
            return None
        whole = [self._references.resolved(part, root) for part, root in found if part.value is not None]
        parts = [with_keywords(part, node) for part in whole]
        if self._references.exceeded or not all(map(is_understood, parts)):
            return None
        return [(expression(part, part, class_of), part) for part in parts]

    def is_changed(self, node: ast.expr, key: str, scope: Scope) -> bool:
        """Whether code that gives an expression another value by a key may change the configuration."""
        self._left, self._references = _MOST_STEPS, References()
        found = self._parts(node, scope, 0)
        if found is not None or dotted(node) == "self":
            return bool(found)
        return key in self._mappings

    def _parts(self, node: ast.expr, scope: Scope, depth: int) -> Parts | None:
        self._left -= 1
        if depth > _DEPTH or self._left <= 0:
            return None
        if isinstance(node, ast.Constant) and node.value is None:
            return []
        if isinstance(node, ast.Name):
            return self._of_name(node, scope, depth)
        if isinstance(node, ast.Attribute):
            given = self._evaluator.given_to(node, scope) if dotted(node.value) == "self" else []
            return self._all(given, depth) if given else self._inside(node.value, node.attr, scope, depth)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return self._inside(node.value, text_of(node.slice.value), scope, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            key = node.args[0] if node.args else None
            plain = len(node.args) == 1 or (isinstance(node.args[-1], ast.Constant) and node.args[-1].value is None)
            if isinstance(key, ast.Constant) and plain and not node.keywords:
                return self._inside(node.func.value, text_of(key.value), scope, depth)
        return None

    def _of_name(self, node: ast.Name, scope: Scope, depth: int) -> Parts | None:
        looped = [items for name, items in self._loops(scope) if name == node.id]
        given = self._evaluator.given_to(node, scope)
        if looped:
            found = [self._children(items, scope, depth) for items in looped]
            every = [part for parts in found for part in parts or ()]
            return every if not given and None not in found else None
        function = scope.function
        if function is not None and node.id == next(iter(parameters_of(function)), ""):
            mains = [main_of(d, _full_name(d, scope)) for d in function.decorator_list]
            named = [main for main in mains if main is not None]
            if named and self._is_decorated(function, scope):
                return None
            if named:
                root = self._root(scope.path, *named[0])
                return [(root, root)] if root is not None and not given else None
        return self._all(given, depth) if given else None

    def _is_decorated(self, function: ast.AST, scope: Scope) -> bool:
        """Whether code of the repository may call a function with another configuration."""
        decorators = function.decorator_list if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else []
        called = [one.func if isinstance(one, ast.Call) else one for one in decorators]
        return any(self._evaluator.definition(scope.full_name(one), scope) is not None for one in called)

    def _all(self, given: list[tuple[ast.expr, Scope]], depth: int) -> Parts | None:
        found = [self._parts(value, where, depth + 1) for value, where in given[:_DEPTH]]
        every = {id(part): (part, root) for parts in found for part, root in parts or ()}
        return [*every.values()] if None not in found and len(given) <= _DEPTH else None

    def _inside(self, node: ast.expr, key: str, scope: Scope, depth: int) -> Parts | None:
        """What a part has by a key; nothing where it has none."""
        found = self._parts(node, scope, depth + 1)
        if found is None:
            return None
        inner = [(referred(part, root).entries.get(key), root) for part, root in found]
        known = [(part, root) for part, root in inner if part is not None]
        odd = any(part.value is UNKNOWN or "$" in referred(part, root).text for part, root in known)
        return None if odd else known

    def _children(self, items: ast.expr, scope: Scope, depth: int) -> Parts | None:
        """The values of a mapping, or the items of a list, that a loop goes through."""
        if isinstance(items, ast.Call):
            holder = items.func if isinstance(items.func, ast.Attribute) else None
            if holder is None or holder.attr not in ("items", "values") or items.args:
                return None
            items = holder.value
        found = self._parts(items, scope, depth + 1)
        if found is None:
            return None
        inner = [(referred(part, root), root) for part, root in found]
        every = [
            (referred(one, root), root) for part, root in inner
            for one in (part.value if isinstance(part.value, tuple) else part.entries.values())
        ]  # fmt: skip
        odd = any(one.value is UNKNOWN or "$" in one.text for one, _ in every)
        return [(one, root) for one, root in every if one.entries] if not odd else None

    def _loops(self, scope: Scope) -> list[tuple[str, ast.expr]]:
        inside = scope.function or scope.module.tree
        if id(inside) not in self._looped:
            self._looped[id(inside)] = list(_loops(inside))
        return self._looped[id(inside)]

    def _root(self, path: str, folder: str, name: str) -> Part | None:
        """The whole configuration of the program."""
        files = self._evaluator.options.files
        where = files.folder_beside(path, folder, guess=self._entry.guessed)
        if where is None:
            return None
        if (where, name) not in self._roots:
            words, stores = self._entry.arguments, self._stores
            composed = Composed(files.repository, where, name, words, stores=stores)
            self._roots[where, name] = root = composed.root()
            self._mappings.update(_mappings_in(root) if root is not None else ())
        return self._roots[where, name]


def _mappings_in(root: Part) -> Iterator[str]:
    """The names of what a configuration has inside of others: whoever holds one of them may be a part of it."""
    for name, part in root.entries.items():
        if part.entries:
            yield name
            yield from _mappings_in(part)


def _full_name(decorator: ast.expr, scope: Scope) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return scope.full_name(called)


def _loops(inside: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that loops give, of a pair that of its value, and what they go through."""
    for node in ast.walk(inside):
        if isinstance(node, ast.For | ast.comprehension):
            target = node.target.elts[-1] if isinstance(node.target, ast.Tuple) else node.target
            if isinstance(target, ast.Name):
                yield target.id, node.iter
