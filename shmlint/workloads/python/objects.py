"""Objects that code makes to hold settings and fills by assignments: ``c = EasyDict(); c.workers = 8``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import dotted
from shmlint.workloads.python.declarations import SETTINGS_CLASSES
from shmlint.workloads.python.values import Scope

if TYPE_CHECKING:
    from shmlint.syntax.python import Definition
    from shmlint.workloads.python.assignments import Function
    from shmlint.workloads.python.changes import Changes

_DEEPEST = 8
"""Names that are followed to what makes an object, and objects inside of objects."""
_MOST_FILLS = 200
_COPIES = frozenset({"copy", "deepcopy", "clone"})
_MAKERS = frozenset(SETTINGS_CLASSES) - {"dict"} | {"Box"}
_MADE = (ast.Constant, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.DictComp, ast.ListComp, ast.SetComp, ast.JoinedStr)
"""Expressions that make an object of their own."""

Made = tuple[ast.expr, Scope]
"""The expression that makes an object, and where it is."""


class Given(NamedTuple):
    """The value that the only statement gives an attribute; ``alone`` where nothing else may fill the object."""

    value: ast.expr
    scope: Scope
    alone: bool


class Filled(NamedTuple):
    """An object, and what statements give its attributes."""

    made: Made
    given: dict[str, Given]
    open: frozenset[str]
    """Attributes that it may have, with values that are not known."""
    whole: bool
    """Whether nothing else may fill it."""


class _Evaluator(Protocol):
    @property
    def changes(self) -> Changes: ...
    def only_given(self, node: ast.Name | ast.Attribute, scope: Scope) -> Made | None: ...
    def functions(self, called: ast.expr, scope: Scope) -> list[tuple[Function, Scope]]: ...
    def definition(self, name: str, scope: Scope) -> tuple[Definition, Scope] | None: ...


class Objects:
    """What makes the objects that names stand for, and what statements give their attributes."""

    def __init__(self, evaluator: _Evaluator) -> None:
        self._evaluator = evaluator

    def given(self, node: ast.Attribute, scope: Scope, depth: int = 0) -> Given | None:
        """What the only statement that sets an attribute of the same object surely gives it."""
        statements = self._evaluator.changes.set_by(node.attr)
        made = self.made(node.value, scope, depth) if statements else None
        if made is None or not self._holds_settings(*made):
            return None
        places = [(one, self.made(one.holder, one.scope, depth)) for one in statements]
        same = [one for one, where in places if where is None or where[0] is made[0]]
        only = same[0] if len(same) == 1 and all(where is not None for _, where in places) else None
        if only is None or only.value is None:
            return None
        return Given(only.value, only.scope, not self._may_be_filled(made, depth))

    def attributes(self, node: ast.expr, scope: Scope) -> Filled | None:
        """The attributes that statements give an object that holds settings; None where none may be given."""
        changes = self._evaluator.changes
        names = changes.names_set()
        made = self.made(node, scope) if names else None
        if made is None or not self._holds_settings(*made):
            return None
        given: dict[str, Given] = {}
        unknown: set[str] = set()
        for name in names:
            one = self.given(ast.Attribute(node, name, ast.Load()), scope)
            holders = [self.made(each.holder, each.scope) for each in changes.set_by(name)]
            if one is not None:
                given[name] = one
            elif not holders or any(holder is None or holder[0] is made[0] for holder in holders):
                unknown.add(name)
        if not given and not unknown:
            return None
        return Filled(made, given, frozenset(unknown), not self._may_be_filled(made, 0))

    def made(self, node: ast.expr, scope: Scope, depth: int = 0) -> Made | None:
        """The only expression that makes what another one stands for; None where that is not known."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.Call):
            return (node, scope) if self._is_of_its_own(node, scope, depth) else None
        if isinstance(node, _MADE):
            return node, scope
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        given = self._evaluator.only_given(node, scope)
        if given is not None:
            return self.made(*given, depth + 1)
        inner = self.given(node, scope, depth + 1) if isinstance(node, ast.Attribute) else None
        return self.made(inner.value, inner.scope, depth + 1) if inner is not None and inner.alone else None

    def _is_of_its_own(self, call: ast.Call, scope: Scope, depth: int) -> bool:
        """Whether a call gives an object of its own, and none of settings that it is given."""
        if self._evaluator.functions(call.func, scope):
            return False
        if self._holds_settings(call, scope) or dotted(call.func).rpartition(".")[2] in _COPIES:
            return True
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        given += [call.func.value] if isinstance(call.func, ast.Attribute) else []
        return not any(self._may_hold_settings(part, scope, depth) for part in given)

    def _may_hold_settings(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether a name stands for settings that code fills, as far as that is known."""
        if not isinstance(node, ast.Name | ast.Attribute) or dotted(node).partition(".")[0] in scope.module.imports:
            return isinstance(node, ast.Starred)
        made = self.made(node, scope, depth + 1)
        return made is not None and self._holds_settings(*made)

    def _may_be_filled(self, made: Made, depth: int) -> bool:
        """Whether code may put anything into an object by names that are not written there."""
        changes = self._evaluator.changes
        if changes.fills_given or changes.fills_own or len(changes.fills) > _MOST_FILLS:
            return True
        others = (self.made(holder, scope, depth + 1) for holder, scope in changes.fills)
        return any(other is None or other[0] is made[0] for other in others)

    def _holds_settings(self, made: ast.expr, scope: Scope) -> bool:
        """Whether an expression makes an object that has what statements give it, and nothing works out otherwise."""
        if not isinstance(made, ast.Call):
            return False
        own = dotted(made.func) in scope.module.definitions
        found = self._evaluator.definition(dotted(made.func) if own else scope.full_name(made.func), scope)
        if found is not None:
            return isinstance(found[0], ast.ClassDef) and _is_plain(found[0])
        last = scope.full_name(made.func).rpartition(".")[2]
        parsed = last == "parse_args" and isinstance(made.func, ast.Attribute) and not made.args and not made.keywords
        return parsed or last in _MAKERS


def _is_plain(node: ast.ClassDef) -> bool:
    """Whether a class only has fields, or is a mapping whose attributes are its keys."""
    bases = {dotted(base).rpartition(".")[2] for base in node.bases}
    names = {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
    if node.keywords or node.decorator_list or not bases <= (_MAKERS | {"dict", "object"}):
        return False
    return not names or ("dict" in bases and names <= {"__getattr__", "__setattr__", "__delattr__"})
