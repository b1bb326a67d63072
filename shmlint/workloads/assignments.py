"""What the names and attributes of Python code are given: found once for each function and class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shmlint.syntax.python import dotted
from shmlint.workloads.values import text_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
Given = tuple[ast.expr, ...]
"""The values that something is given, in their order."""


_FILLING = frozenset({"update", "setdefault"})
_FILLED = "[]"
"""Stands behind the name of a mapping among what is changed."""


class Assignments:
    """The values that functions give their names, and methods the attributes of their object."""

    def __init__(self) -> None:
        self._locals: dict[int, dict[str, list[ast.expr]]] = {}
        self._items: dict[int, dict[str, list[tuple[str, ast.expr]]]] = {}
        self._changed: dict[int, set[str]] = {}
        self._added: dict[int, dict[str, list[ast.expr]]] = {}
        self._attributes: dict[int, dict[str, list[tuple[ast.expr, Function | None]]]] = {}
        self._sets_any: dict[int, bool] = {}

    def of_name(self, name: str, function: Function | None) -> Given:
        """The values that a function gives a local name."""
        if function is None:
            return ()
        self._look(function)
        return tuple(self._locals[id(function)].get(name, ()))

    def is_changed(self, name: str, function: Function | None) -> bool:
        """Whether a function changes a name in place: ``name //= 2``, or takes it in a loop."""
        if function is None:
            return False
        self._look(function)
        return name in self._changed[id(function)]

    def items_of(self, name: str, code: Function | ast.Module) -> list[tuple[str, ast.expr]]:
        """What a function or a module puts into a mapping: ``name["key"] = value``, ``name.update(key=value)``."""
        self._look(code)
        return self._items[id(code)].get(name, [])

    def is_filled(self, name: str, code: Function | ast.Module) -> bool:
        """Whether a function or a module puts into a mapping what is not written there: ``name.update(others)``."""
        self._look(code)
        return f"{name}{_FILLED}" in self._changed[id(code)]

    def added_to(self, name: str, function: Function) -> Given:
        """What a function appends to a list or a text; the items of a list that is added as a starred expression."""
        if id(function) not in self._added:
            found = self._added[id(function)] = {}
            added = [pair for node in ast.walk(function) for pair in _appended(node)]
            for target, value in sorted(added, key=lambda pair: (pair[1].lineno, pair[1].col_offset)):
                found.setdefault(target, []).append(value)
        return tuple(self._added[id(function)].get(name, ()))

    def _look(self, function: Function | ast.Module) -> None:
        if id(function) in self._locals:
            return
        names = self._locals[id(function)] = {}
        items = self._items[id(function)] = {}
        changed = self._changed[id(function)] = set()
        for node in ast.walk(function):
            for target, value in _assigned(node):
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, []).append(value)
                elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                    items.setdefault(dotted(target.value), []).append((text_of(target.slice.value), value))
            if isinstance(node, ast.AugAssign | ast.For) and isinstance(node.target, ast.Name):
                changed.add(node.target.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
                name = dotted(node.func.value)
                items.setdefault(name, []).extend((k.arg, k.value) for k in node.keywords if k.arg is not None)
                written = _written(node.args)
                items[name].extend(written or ())
                if written is None or any(keyword.arg is None for keyword in node.keywords):
                    changed.add(f"{name}{_FILLED}")

    def of_self(self, name: str, owner: ast.ClassDef) -> list[tuple[ast.expr, Function | None]]:
        """The values that the methods of a class, and the class itself (no function), give an attribute."""
        known = self._attributes.get(id(owner))
        if known is None:
            known = self._attributes[id(owner)] = {}
            for method in owner.body:
                if isinstance(method, Function):
                    for part in ast.walk(method):
                        for target, value in _assigned(part):
                            if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                                known.setdefault(target.attr, []).append((value, method))
            for attribute, value in of_class(owner):
                known.setdefault(attribute, []).append((value, None))
        return known.get(name, [])

    def sets_any(self, owner: ast.ClassDef) -> bool:
        """Whether a class sets attributes by names that it does not write: ``self.__dict__.update(others)``."""
        known = self._sets_any.get(id(owner))
        if known is None:
            known = self._sets_any[id(owner)] = any(map(_sets_any, ast.walk(owner)))
        return known


def _written(arguments: list[ast.expr]) -> list[tuple[str, ast.expr]] | None:
    """What the mapping holds that ``update`` is given; None where not all of it is written there."""
    given = arguments[0] if len(arguments) == 1 else ast.Dict([], [])
    if len(arguments) > 1 or not isinstance(given, ast.Dict):
        return None
    pairs = [(k.value, v) for k, v in zip(given.keys, given.values, strict=True) if isinstance(k, ast.Constant)]
    found = [(text_of(key), value) for key, value in pairs]
    return found if len(found) == len(given.keys) else None


def _sets_any(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if dotted(node.func) in ("setattr", "object.__setattr__", "super().__setattr__"):
        return len(node.args) == 3 and not isinstance(node.args[1], ast.Constant)
    called = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "update" else None
    return dotted(called.func) == "vars" if isinstance(called, ast.Call) else dotted(called or node) == "self.__dict__"


def of_class(owner: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that the body of a class gives."""
    for statement in owner.body:
        for target, value in _assigned(statement):
            if isinstance(target, ast.Name):
                yield target.id, value


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Tuple | ast.List):
                yield target, node.value
            elif isinstance(node.value, ast.Tuple | ast.List) and len(node.value.elts) == len(target.elts):
                yield from zip(target.elts, node.value.elts, strict=True)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def _appended(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """``words.append(word)``, ``words.extend(more)``, ``words += more``, ``text += more``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        listed = isinstance(node.value, ast.List | ast.Tuple)
        yield dotted(node.target), _starred(node.value) if listed else node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        if node.func.attr == "append":
            yield dotted(node.func.value), node.args[0]
        elif node.func.attr == "extend":
            yield dotted(node.func.value), _starred(node.args[0])


def _starred(node: ast.expr) -> ast.Starred:
    return ast.copy_location(ast.Starred(node, ast.Load()), node)


def parameters_of(function: Function) -> dict[str, ast.expr | None]:
    """The parameters of a function with their defaults, in their order."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    defaults += function.args.defaults
    found = {argument.arg: default for argument, default in zip(positional, defaults, strict=True)}
    found |= {a.arg: d for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)}
    return found
