"""What the commands of a shell text share: which variables are set to what, and where they are used.

This is what is written, not what it comes to: a use may be one whose value nobody can know.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from shmlint.model.record import NamedTuple
from shmlint.syntax.shell_text import ShellText, mentions_engine
from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import ARGUMENTS

if TYPE_CHECKING:
    from tree_sitter import Node

Place = Literal["command", "here-document", "elsewhere"]
"""Where a variable is used: in the words of a command, in a here-document, in anything else."""

_SETTERS = frozenset({"read", "mapfile", "readarray"})
_MAY_SET = _SETTERS | {"set", "shift", "printf"}
"""Commands that set variables or the arguments to what their words say; ``printf`` does with ``-v``."""
_REFERENCE = re.compile(r"\$\{?[#!]?(\w+|[@*])")
_APART = frozenset({"file_redirect", "pipeline", "command_substitution", "process_substitution"})
"""What hands on what a command prints."""


class Use(NamedTuple):
    """A use of variables outside of assignments. ``start`` and ``end`` are those of the command or here-document."""

    names: frozenset[str]
    place: Place
    start: int
    end: int
    command: str = ""
    """The first word of the command, as it is written."""
    handed_on: bool = False
    """Whether what the command prints goes to a file or to another command."""


class Sharing(NamedTuple):
    """What a text says of its variables."""

    assigned: dict[str, tuple[str, ...]]
    """What each is set to, in the order of the text."""
    uses: tuple[Use, ...]
    exported: frozenset[str]
    functions: frozenset[str]
    commands: tuple[tuple[str, int, int], ...]
    """The first words of all commands, and where these start and end."""
    indirect: bool
    """Whether a variable is used by a name that another holds."""


_SIZE = r" ?--shm-size(?:=| )[^ ]+"


def without_sizes(command: str) -> str:
    """A command on one line, without what sets the size of its /dev/shm."""
    return re.sub(_SIZE, "", " ".join(command.replace("\\\n", " ").split()))


def statements(text: ShellText) -> list[tuple[str, str]]:
    """What runs or sets something, as it is written, without the sizes of the commands that name an engine.

    A command that sets variables keeps its sizes: any other command may use what it sets.
    """
    tree = Tree(text)
    return [(node.type, _statement(node, tree)) for node in tree.nodes]


def _statement(node: Node, tree: Tree) -> str:
    if node.type in ("function_definition", "for_statement"):  # what is in them are nodes of their own
        parts = (node.child_by_field_name("name"), *node.named_children[:-1])
        return " ".join(tree.raw(part) for part in parts if part is not None)
    raw = tree.raw(node)
    if node.type != "command" or not mentions_engine(raw):
        return raw
    name = node.child_by_field_name("name")
    return raw if name is not None and tree.raw(name) in _MAY_SET else without_sizes(raw)


def references(raw: str) -> frozenset[str]:
    """The variables that a text refers to."""
    names = _REFERENCE.findall(raw)
    return frozenset(ARGUMENTS if name in "@*" or (name.isdigit() and name != "0") else name for name in names)


def sharing(text: ShellText) -> Sharing:
    """What a shell text says of its variables."""
    return _SharingReader(text).read()


_ASSIGNING = re.compile(r"\$\{(\w+):?=")
"""A default that an expansion also gives to its variable."""


class _SharingReader:
    def __init__(self, text: ShellText) -> None:
        self.tree = Tree(text)
        self.assigned: dict[str, list[str]] = {}
        self.uses: list[Use] = []
        self.exported = set(self.tree.exported())
        self.functions: set[str] = set()
        self.commands: list[tuple[str, int, int]] = []
        self.indirect = False
        self.programs: dict[int, str] = {}

    def span(self, node: Node) -> tuple[int, int]:
        """The characters of a node in the text."""
        return self.tree.char(node.start_byte), self.tree.char(node.end_byte)

    def read(self) -> Sharing:
        for node in self.tree.nodes:
            kind = node.type
            if kind == "variable_assignment":
                name = self.tree.raw(node.children[0]).partition("[")[0]
                self._assign(name, node, self.tree.raw(node))
            elif kind == "for_statement":
                self._loop(node)
            elif kind == "function_definition":
                name_node = node.child_by_field_name("name")
                self.functions |= {self.tree.raw(name_node)} if name_node is not None else set()
            elif kind == "declaration_command":
                self._declared(node)
            elif kind == "command":
                self._command(node)
            elif kind in ("simple_expansion", "expansion"):
                self._use(node)
        return Sharing(
            {name: tuple(raws) for name, raws in self.assigned.items()}, tuple(self.uses),
            frozenset(self.exported), frozenset(self.functions), tuple(self.commands), self.indirect,
        )  # fmt: skip

    def _assign(self, name: str, node: Node, raw: str) -> None:
        """Note what a node sets a variable to."""
        self.assigned.setdefault(name, []).append(raw)
        if self.tree.exports_all(self.tree.at(node)):
            self.exported.add(name)

    def _loop(self, node: Node) -> None:
        name = next((c for c in node.children if c.type == "variable_name"), None)
        if name is not None:
            values = " ".join(self.tree.raw(value) for value in node.children_by_field_name("value"))
            self._assign(self.tree.raw(name), node, values)

    def _declared(self, node: Node) -> None:
        words = [self.tree.raw(child) for child in node.children]
        options = "".join(word for word in words[1:] if word.startswith("-"))
        self.indirect = self.indirect or ("n" in options and words[0] != "export")

    def _command(self, node: Node) -> None:
        words = [c for c in node.children if c.type not in ("variable_assignment", "file_redirect")]
        if not words:
            return
        name = self.tree.raw(words[0])
        self.commands.append((name, *self.span(node)))
        raw = self.tree.raw(node)
        if name in ("set", "shift"):
            self._assign(ARGUMENTS, node, raw)
        elif name == "printf" and len(words) > 2 and self.tree.raw(words[1]) == "-v":
            self._assign(self.tree.raw(words[2]), node, raw)
        elif name in _SETTERS:
            parent = self.tree.parents.get(node.id)
            whole = self.tree.raw(parent) if parent is not None and parent.type == "redirected_statement" else raw
            for word in words[1:]:
                self._assign(self.tree.raw(word), node, whole)

    def _use(self, node: Node) -> None:
        raw = self.tree.raw(node)
        self.indirect = self.indirect or re.match(r"\$\{!\w+\}", raw) is not None
        names = references(raw)
        default = _ASSIGNING.match(raw)
        if default is not None:
            self._assign(default[1], node, raw)
        for around in self.tree.around(node):
            kind = around.type
            if kind == "variable_assignment" or (kind == "for_statement" and _is_value(node, around, self.tree)):
                return
            if kind == "command":
                handed_on = any(_hands_on(outer) for outer in self.tree.around(around))
                self.uses.append(Use(names, "command", *self.span(around), self._program(around), handed_on))
                return
            if kind == "heredoc_body":
                self.uses.append(Use(names, "here-document", *self.span(around)))
                return
            if kind == "herestring_redirect":
                statement = self.tree.parents.get(around.id)
                if statement is not None and any(self.tree.raw(statement).startswith(name) for name in _SETTERS):
                    return
                break
            if kind == "file_redirect":
                break
        self.uses.append(Use(names, "elsewhere", *self.span(node)))

    def _program(self, command: Node) -> str:
        """The first word of a command, which every variable in the command asks for."""
        found = self.programs.get(command.id)
        if found is None:
            first = next((c for c in command.children if c.type not in ("variable_assignment", "file_redirect")), None)
            found = self.programs[command.id] = self.tree.raw(first) if first is not None else ""
        return found


def _is_value(node: Node, loop: Node, tree: Tree) -> bool:
    """Whether a node is in the values of a loop, not in its body."""
    inside = {node.id, *(around.id for around in tree.around(node))}
    return any(value.id in inside for value in loop.children_by_field_name("value"))


def _hands_on(node: Node) -> bool:
    """Whether what is printed in a node goes to a file or to another command."""
    if node.type == "redirected_statement":
        return any(child.type == "file_redirect" for child in node.children)
    return node.type in _APART
