"""Which classes of the repository extend which: what an object of them has of each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from shmlint.syntax.python import Definition, dotted
from shmlint.workloads.python.values import Scope

_DEEPEST = 5
"""Classes that extend each other are followed this far."""
_MOST = 20
"""Classes that extend one."""

Owned = tuple[ast.ClassDef, Scope]
"""A class, and the scope of its body."""


class Lineage:
    """The classes that a program reaches, and those that they extend."""

    def __init__(self, definition: Callable[[str, Scope], tuple[Definition, Scope] | None]) -> None:
        self._definition = definition
        self._extending: dict[int, list[Owned]] = {}

    def note(self, node: ast.ClassDef, scope: Scope) -> None:
        """Remember a class that is reached."""
        for base, _ in self._bases(node, scope):
            known = self._extending.setdefault(id(base), [])
            if len(known) < _MOST and all(node is not other for other, _ in known):
                known.append((node, scope._replace(function=None, owner=node)))

    def above(self, scope: Scope) -> list[Owned]:
        """The class around some code and those that it extends, the nearest first."""
        found: list[Owned] = [] if scope.owner is None else [(scope.owner, scope._replace(function=None))]
        for node, where in found:  # grows while it is walked
            if len(found) > _DEEPEST:
                break
            found += [base for base in self._bases(node, where) if all(base[0] is not known for known, _ in found)]
        return found

    def below(self, scope: Scope) -> list[Owned]:
        """The classes that extend the one around some code, as far as they were reached."""
        found: list[Owned] = [] if scope.owner is None else [(scope.owner, scope)]
        for node, _ in found:  # grows while it is walked
            if len(found) > _MOST:
                break
            more = self._extending.get(id(node), ())
            found += [heir for heir in more if all(heir[0] is not known for known, _ in found)]
        return found[1:]

    def others(self, scope: Scope) -> list[Owned]:
        """The other classes that an object of the one around some code may have: those below it and all their bases."""
        found = above = self.above(scope)
        for node, there in self.below(scope):
            owned = self.above(there._replace(owner=node))
            found = [*found, *(one for one in owned if all(one[0] is not known for known, _ in found))]
        return found[len(above) :]

    def has_more(self, scope: Scope) -> bool:
        """Whether there are more of these classes than are followed."""
        owners = [] if scope.owner is None else [scope.owner, *(owner for owner, _ in self.below(scope))]
        return len(owners) > _MOST or any(len(self._extending.get(id(owner), ())) >= _MOST for owner in owners)

    def _bases(self, node: ast.ClassDef, scope: Scope) -> Iterator[Owned]:
        for base in map(plain, node.bases):
            name = dotted(base)
            own = name in scope.module.definitions
            found = self._definition(name if own else scope.full_name(base), scope)
            if found is not None and isinstance(found[0], ast.ClassDef) and found[0] is not node:
                yield found[0], found[1]._replace(owner=found[0])


def is_own_class(called: ast.expr) -> bool:
    """Whether this is the class of the object or class around some code: ``cls``, ``self.__class__``, ``type(self)``.
    """
    if isinstance(called, ast.Call):
        return dotted(called.func) == "type" and [dotted(one) for one in called.args] == ["self"]
    return dotted(called) in ("cls", "self.__class__")


def plain(base: ast.expr) -> ast.expr:
    """A class that another one extends, without its types: ``Base[int]``."""
    return base.value if isinstance(base, ast.Subscript) else base
