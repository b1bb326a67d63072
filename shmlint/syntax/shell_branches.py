"""Which ``if`` and ``case`` statements set a variable in each of their branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import END, Settled

if TYPE_CHECKING:
    from tree_sitter import Node

_STATEMENTS = frozenset({"if_statement", "case_statement"})
_BETWEEN = frozenset({"elif_clause", "else_clause", "case_item", "declaration_command", "variable_assignments"})
"""What may be between such a statement and an assignment in it."""
_LEAVING = frozenset({"exit", "return"})


class Branches:
    """The statements of a tree whose branches set variables."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._known: dict[tuple[int, str], bool] = {}
        self._first: dict[tuple[int, str], int] = {}

    def settled(self, node: Node, name: str) -> Settled | None:
        """Where a variable is sure to have been set by the statement around an assignment, the outermost such one."""
        found: Node | None = None
        for outer in self.tree.around(node):
            if outer.type in _STATEMENTS and self._sets(outer, name):
                found = outer
            elif outer.type not in _BETWEEN:
                break
        if found is None:
            return None
        start = self.tree.end_of(found)
        branch = self.tree.branch_of(found)
        first = self._first.setdefault((found.id, name), node.id) == node.id
        return Settled(start, END if branch is None else branch[1], first)

    def _sets(self, statement: Node, name: str) -> bool:
        """Whether each branch of a statement sets a variable or leaves, and one of them is taken in any case."""
        key = statement.id, name
        if key not in self._known:
            branches = list(self._branches(statement))
            self._known[key] = bool(branches) and all(self._is_set(branch, name) for branch in branches)
        return self._known[key]

    def _branches(self, statement: Node) -> Iterator[Sequence[Node]]:
        """The branches of a statement; none where it may take none of them."""
        parts = statement.named_children
        if statement.type == "case_statement":
            items = [part for part in parts if part.type == "case_item"]
            if items and self.tree.raw(items[-1]).lstrip("( \t").startswith("*)"):
                yield from (item.named_children for item in items)
        elif any(part.type == "else_clause" for part in parts):
            others = [part for part in parts if part.type in ("elif_clause", "else_clause")]
            yield [part for part in parts if part not in others]
            yield from (part.named_children for part in others)

    def _is_set(self, nodes: Sequence[Node], name: str) -> bool:
        for node in nodes:
            if node.type == "variable_assignment":
                if self.tree.raw(node).startswith(f"{name}="):
                    return True
            elif node.type in _STATEMENTS:
                if self._sets(node, name):
                    return True
            elif node.type in ("declaration_command", "variable_assignments"):
                if self._is_set(node.named_children, name):
                    return True
            elif node.type == "command" and self.tree.first_word(node) in _LEAVING:
                return True
        return False
