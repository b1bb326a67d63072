"""Which classes of the repository extend which: what an object of them has of each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from shmlint.syntax.python import Definition, dotted
from shmlint.workloads.values import Scope

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

    def _bases(self, node: ast.ClassDef, scope: Scope) -> Iterator[Owned]:
        for base in node.bases:
            name = dotted(base)
            own = name in scope.module.definitions
            found = self._definition(name if own else scope.full_name(base), scope)
            if found is not None and isinstance(found[0], ast.ClassDef) and found[0] is not node:
                yield found[0], found[1]._replace(owner=found[0])
