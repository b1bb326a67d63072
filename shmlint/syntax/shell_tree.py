"""The syntax tree of a shell text: its nodes, where they are in the file, and what is around them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from shmlint.model.source import Span, character_offsets
from shmlint.syntax.grammar import language
from shmlint.syntax.shell_grammar import GRAMMAR, parsed, readable, walk
from shmlint.syntax.shell_text import ShellText
from shmlint.syntax.shell_variables import END, Range

if TYPE_CHECKING:
    from tree_sitter import Node

_BRANCHES = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_item", "while_statement", "for_statement",
     "c_style_for_statement", "subshell", "pipeline", "list", "command_substitution"}
)  # fmt: skip

_DECIDING = frozenset(
    {"if_statement", "case_item", "while_statement", "for_statement", "c_style_for_statement",
     "command_substitution", "process_substitution", "function_definition"}
)  # fmt: skip

_SHELLS = frozenset({"subshell", "command_substitution", "process_substitution"})
"""What a shell of its own runs."""

_BACKGROUND = re.compile(r"[ \t]*&(?![&>])")
"""What is behind a command or list that the shell does not wait for: another shell runs it."""

_EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})

_NOTED = frozenset(
    {"command", "function_definition", "heredoc_body", "herestring_redirect", "variable_assignment",
     "declaration_command", "unset_command", "for_statement", "c_style_for_statement", "select_statement",
     "expansion", "simple_expansion", "arithmetic_expansion", "compound_statement"}
)  # fmt: skip

_COMMAND = frozenset({"command"})


_GLOBAL = re.compile(r"\w+\s+(?:-\w+\s+)*-\w*g")
"""``declare -g``, which sets a variable of the text in a function."""
_MOST_OPTIONS = 80
"""Characters of a declaration in which its options are; it may have very many names."""


@cache
def _ids(kinds: frozenset[str]) -> frozenset[int]:
    """The grammar's numbers of some kinds of nodes, which it tells faster than their names."""
    grammar = language(GRAMMAR)
    return frozenset(i for i in range(grammar.node_kind_count) if grammar.node_kind_for_id(i) in kinds)


def _is_broken(node: Node) -> bool:
    """Whether the grammar does not understand a node, or does not find its end."""
    return node.has_error and (node.is_error or any(child.is_missing for child in node.children))


def comments(text: str) -> set[int]:
    """Where the comments of a shell script start."""
    offsets = character_offsets(text)
    starts = (node.start_byte for node in walk(parsed(text)) if node.type == "comment")
    return {start if offsets is None else offsets[start] for start in starts}


_LAST_BRANCHES = frozenset({"elif_clause", "else_clause", "case_item"})
"""What ends, as the last of its kind, where the statement around it ends."""
_OPENING = frozenset({"if", "then", "elif", "else", "case", "for", "while", "until", "do", "{"})


def is_open(statement: Node) -> bool:
    """Whether a statement has no end in the text, ``fi`` for example. A shell refuses it."""
    if not statement.has_error or not statement.children:
        return False
    return statement.children[-1].is_missing or (
        statement.is_error and any(child.type in _OPENING for child in statement.children)
    )


_LAST_OF = frozenset({"pipeline", "list", "negated_command"})
"""What a redirection is behind as a whole, though it is one of the last command in it."""
_WORDS = frozenset(
    {"word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "expansion",
     "simple_expansion", "command_substitution", "arithmetic_expansion", "brace_expression", "process_substitution"}
)  # fmt: skip
"""What a word of a command may be."""


def _words_behind(redirect: Node) -> tuple[list[Node], bool]:
    """The words behind the file or the mark of a redirection, and whether it holds nothing but these."""
    found: list[Node] = []
    to_come = redirect.type == "file_redirect"
    for child in redirect.named_children:
        if child.type == "ERROR":
            return found, False
        if child.type == "file_redirect":
            words, whole = _words_behind(child)
            found += words
            if not whole:
                return found, False
        elif child.type in _WORDS and to_come:
            to_come = False
        elif child.type in _WORDS and redirect.type != "herestring_redirect":
            found.append(child)
    return found, True


_ALL_EXPORTED = r"\s([-+])(?:\w*a\w*|\w*o\s+allexport)(?=\s|$)"


def _turns_export(command: str) -> bool | None:
    """Whether a command exports what is assigned from there on (``set -a``), or ends that; None where neither."""
    sets = command.startswith("set") and command[3:4].isspace()
    found = re.search(_ALL_EXPORTED, command.partition(" --")[0]) if sets else None
    return found[1] == "-" if found is not None else None


_EXPORTS = re.compile(r"export\s(?!\s*-\w*n)|(?:declare|typeset)\s+-\w*x")


class Tree:
    """A shell text as nodes.

    ``place`` is where all of the text is used, and in which function, where that is not where it is written;
    ``function`` is the function that the text as a whole is in.
    """

    def __init__(
        self, text: ShellText, place: tuple[int, Range | None] | None = None, function: Range | None = None
    ) -> None:
        self.text = text
        self.place = place
        self.function = function
        self.nodes: list[Node] = []
        """The nodes that run or set something, in the order of the text."""
        self.parents: dict[int, Node] = {}
        """By id: the grammar's own look-up goes down from the root each time."""
        self.deciding: dict[int, Node] = {}
        """The innermost node around each that decides whether it runs, by id."""
        self.loops: dict[int, Node | None] = {}
        """The outermost loop that each of them is or is in, as far as it was asked for."""
        self.shells: dict[int, Range | None] = {}
        """The innermost shell of its own that each node is or is in, as far as it was asked for."""
        self.let_go: dict[int, bool] = {}
        """Whether the shell does not wait for each of them, as far as it was asked for."""
        self.innermost: dict[int, Range | None] = {}
        """The innermost function that each of them is or is in, as far as it was asked for."""
        self.broken: list[tuple[int, int]] = []
        """The characters of what the grammar does not understand, or does not find the end of."""
        self.chars = character_offsets(text.text)
        self._look_at(text.text)
        self._exporting: list[Range] | None = None
        self._commands: dict[str, list[Node]] | None = None

    def _look_at(self, text: str) -> None:
        """Note the nodes of a text.

        After ``a | b | c`` the grammar reads the first command of the next line as words of the last one, if ``||`` or
        ``&&`` is behind it. Such line ends are read as the ``;`` that they mean.
        """
        text, root = readable(text)
        self._note(root)
        self.broken = [self.extent(node) for node in walk(root) if _is_broken(node)] if root.has_error else []
        commands = _ids(_COMMAND)
        lines = (node for node in self.nodes if node.kind_id in commands and node.start_point[0] != node.end_point[0])
        ends = [end for command in lines for end in self._line_ends(command.named_children)]
        if ends:
            self.nodes, self.parents, self.deciding = [], {}, {}
            chars = list(text)
            for end in ends:
                chars[end] = ";"
            self._note(parsed("".join(chars)))

    def _note(self, root: Node) -> None:
        """Note a node and those in it, in one pass: a long text has hundreds of thousands.

        A cursor makes each node once, and does not keep the signs and keywords among them.
        """
        nodes, parents, deciding = self.nodes, self.parents, self.deciding
        noted, decides = _ids(_NOTED), _ids(_DECIDING)
        cursor = root.walk()
        down, on, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        around: list[tuple[Node, Node | None]] = [(root, None)]
        moved = down()
        while moved:
            node = cursor.node
            if node is not None and node.is_named:
                parent, decider = around[-1]
                number, kind = node.id, node.kind_id
                parents[number] = parent
                if decider is not None:
                    deciding[number] = decider
                if kind in noted:
                    nodes.append(node)
                if down():
                    around.append((node, node if kind in decides else decider))
                    continue
            while not (moved := on()) and up():
                around.pop()

    def _line_ends(self, children: Sequence[Node]) -> Iterator[int]:
        """The line ends between the words of a command, which no backslash hides."""
        for before, after in pairwise(children):
            if before.end_point[0] != after.start_point[0] and before.type not in ("variable_assignment", "comment"):
                start = self.char(before.end_byte)
                end = re.match(r"[ \t]*\r?\n\s*", self.text.text[start : self.char(after.start_byte)])
                if end is not None and start + end.end() == self.char(after.start_byte):
                    yield start + end[0].index("\n")

    def char(self, byte: int) -> int:
        """The character of the text that starts at a byte."""
        return byte if self.chars is None else self.chars[byte]

    def extent(self, node: Node) -> tuple[int, int]:
        """The characters of a node."""
        start, end = node.start_byte, node.end_byte
        return (start, end) if self.chars is None else (self.chars[start], self.chars[end])

    def begin(self, node: Node) -> int:
        """The character at which a node starts; the grammar adds the blanks between two expansions to the second."""
        start = self.char(node.start_byte)
        if node.type in _EXPANSIONS:
            end = self.char(node.end_byte)
            start = end - len(self.text.text[start:end].lstrip())
        return start

    def raw(self, node: Node) -> str:
        """A node's text."""
        start, end, chars = node.start_byte, node.end_byte, self.chars
        found = self.text.text[start:end] if chars is None else self.text.text[chars[start] : chars[end]]
        return found.lstrip() if found[:1].isspace() and node.type in _EXPANSIONS else found

    def first_word(self, node: Node) -> str:
        """The first word of a command as it is written; empty where the grammar puts a command of no words."""
        return next(iter(self.raw(node).split(None, 1)), "")

    def at(self, node: Node) -> int:
        """Where a node is used in the file."""
        return self.place[0] if self.place is not None else self.text.offset(self.char(node.start_byte))

    def end_of(self, node: Node) -> int:
        """Where a node ends in the file."""
        return self.text.offset(max(self.char(node.end_byte) - 1, self.char(node.start_byte)))

    def around(self, node: Node) -> Iterator[Node]:
        """What a node is in, from the innermost on."""
        here = self.parents.get(node.id)
        while here is not None:
            yield here
            here = self.parents.get(here.id)

    def offsets(self, start: int, end: int) -> Sequence[int]:
        return self.text.offsets[start:end]

    def commands_of(self, name: str) -> Sequence[Node]:
        """The commands that begin with a name."""
        if self._commands is None:
            self._commands = {}
            for node in self.nodes:
                if node.type == "command":
                    self._commands.setdefault(self.first_word(node), []).append(node)
        return self._commands.get(name, ())

    def behind(self, command: Node) -> list[Node]:
        """The words of a command that stand behind its redirections, which the grammar takes for parts of those."""
        node, around = command, self.parents.get(command.id)
        while around is not None and around.type in _LAST_OF and around.named_children[-1].id == node.id:
            node, around = around, self.parents.get(around.id)
        if around is None or around.type != "redirected_statement" or around.named_children[0].id != node.id:
            return []
        found: list[Node] = []
        for redirect in around.named_children[1:]:
            words, whole = _words_behind(redirect)
            found += words
            if not whole:
                break
        return found

    def is_separate(self, node: Node, command: Node) -> bool:
        """Whether an assignment is none of a command, which the grammar takes for one with it.

        It reads ``A=x B=y`` and the command of the next line as one.
        """
        name = command.child_by_field_name("name")
        if name is None:
            return True
        between = self.text.text[self.char(node.end_byte) : self.char(name.start_byte)]
        return re.search(r"(?<!\\)\r?\n", between) is not None

    def set_for(self, command: Node) -> Iterator[tuple[str, Node | None]]:
        """The variables that only a command sees: ``A=x command``."""
        for child in command.children:
            name = child.child_by_field_name("name") if child.type == "variable_assignment" else None
            if name is not None and not self.is_separate(child, command):
                yield self.raw(name), child.child_by_field_name("value")

    def is_local(self, node: Node) -> bool:
        """Whether a declaration makes a variable of the function's own."""
        parent = self.parents.get(node.id)
        declared = parent is not None and parent.type == "declaration_command"
        keyword = self.raw(parent.children[0]) if declared and parent is not None else ""
        own = keyword in ("local", "declare", "typeset") and self.function_of(node) is not None
        if not own or parent is None:
            return False
        start = self.char(parent.start_byte)
        return _GLOBAL.match(self.text.text, start, start + _MOST_OPTIONS) is None

    def is_arithmetic(self, node: Node) -> bool:
        """Whether a compound statement is ``(( … ))``."""
        return bool(node.children) and node.children[0].type == "(("

    def is_for_command(self, node: Node) -> bool:
        """Whether an assignment is one that only a command sees: ``A=x command``."""
        parent = self.parents.get(node.id)
        return parent is not None and parent.type == "command" and not self.is_separate(node, parent)

    def exports(self, node: Node) -> bool:
        """Whether a command exports the variables that it names: ``export A``, ``declare -x A=b``."""
        return node.type in ("command", "declaration_command") and _EXPORTS.match(self.raw(node)) is not None

    def exported(self) -> dict[str, int]:
        """The variables that the text may export, and from where on; what a function does may be done anywhere."""
        found: dict[str, int] = {}
        for node in self.nodes:
            named = node.named_children if self.exports(node) else ()
            if node.type == "variable_assignment" and self.exports_all(self.at(node)):
                named = [node]
            at = self.at(node) if named and self.function_of(node) is None else -1
            for part in named:
                name = self.raw(part.child_by_field_name("name") or part)
                found[name] = min(at, found.get(name, END))
        return found

    def exports_all(self, at: int) -> bool:
        """Whether what is assigned at a place is exported: between a ``set -a`` and its ``set +a``."""
        if self._exporting is None:
            self._exporting = sorted(self._where_all_exported())
        before = bisect_right(self._exporting, at, key=lambda one: one[0])
        return before > 0 and at < self._exporting[before - 1][1]

    def _where_all_exported(self) -> list[Range]:
        """From each ``set -a`` to a ``set +a`` that runs if the first did."""
        found: list[Range] = []
        since = -1
        for node in self.nodes:
            turned = _turns_export(self.raw(node)) if node.type == "command" else None
            if turned and since < 0:
                since = self.at(node)
            elif turned is False and since >= 0:
                branch = self.branch_of(node)
                if branch is None or branch[0] <= since:
                    found.append((since, self.at(node)))
                    since = -1
        return [*found, (since, END)] if since >= 0 else found

    def range_of(self, node: Node) -> Range:
        return self.text.offset(self.char(node.start_byte)), self.end_of(node) + 1

    def loop_of(self, node: Node) -> Range | None:
        """The outermost loop around a node, in its function."""
        found = None
        way: list[Node] = []
        here = self.deciding.get(node.id)
        while here is not None and here.type != "function_definition":
            if here.id in self.loops:
                found = self.loops[here.id]
                break
            way.append(here)
            here = self.deciding.get(here.id)
        for here in reversed(way):
            if found is None and here.type in ("for_statement", "c_style_for_statement", "while_statement"):
                found = here
            self.loops[here.id] = found
        return self.range_of(found) if found is not None else None

    def branch_of(self, node: Node) -> tuple[int, int] | None:
        """The range in which an assignment is sure to have been made; None: everywhere after it.

        What a statement without an end holds of the text after it is not known: the range is the command's own.
        """
        here: Node | None = node
        while here is not None and here.id in self.parents:
            parent = self.parents[here.id]
            around = self.parents.get(parent.id) if parent.type in _LAST_BRANCHES else parent
            if around is not None and is_open(around):
                return self.range_of(here)
            if parent.type == "function_definition":
                return None
            if parent.type in _BRANCHES:
                start, end = parent.start_byte, parent.end_byte
                if parent.type == "list":
                    if parent.children and parent.children[0] == here:
                        here = parent
                        continue
                    start = here.start_byte
                elif parent.type == "if_statement":
                    other = next(
                        (c for c in parent.children if c.type in ("else_clause", "elif_clause")), None
                    )
                    if other is not None:
                        end = other.start_byte
                return self.text.offset(self.char(start)), self.text.offset(self.char(end))
            here = parent
        return None

    def shell_of(self, node: Node) -> Range | None:
        """The innermost shell of its own that a node is or is in, in its function."""
        here: Node | None = node
        way: list[int] = []
        found: Range | None = None
        while here is not None and here.type != "function_definition":
            if here.id in self.shells:
                found = self.shells[here.id]
                break
            way.append(here.id)
            if here.type in _SHELLS or _BACKGROUND.match(self.text.text, self.char(here.end_byte)):
                found = self.range_of(here)
                break
            here = self.parents.get(here.id)
        self.shells.update(dict.fromkeys(way, found))
        return found

    def is_let_go(self, node: Node) -> bool:
        """Whether the shell goes on without waiting for a node: it is in front of a ``&``."""
        found = self.let_go.get(node.id)
        if found is None:
            behind = node.next_sibling  # the grammar goes down from the root to find it
            found = self.let_go[node.id] = behind is not None and behind.type == "&"
        return found

    def function_of(self, node: Node) -> Range | None:
        """The innermost function that a node is in."""
        if self.place is not None:
            return self.place[1]
        here = node if node.type == "function_definition" else self.deciding.get(node.id)
        way: list[int] = []
        found = self.function
        while here is not None:
            if here.id in self.innermost:
                found = self.innermost[here.id]
                break
            way.append(here.id)
            if here.type == "function_definition":
                found = self.range_of(here)
                break
            here = self.deciding.get(here.id)
        for inner in way:
            self.innermost[inner] = found
        return found

    def touch(self, node: Node, after: Node) -> bool:
        """Whether nothing is between two nodes, or only a backslash and the line end that it hides."""
        end, start = node.end_byte, after.start_byte
        return end == start or self.text.text[self.char(end) : self.char(start)] in ("", "\\\n", "\\\r\n")

    def span(self, node: Node, last: Node | None = None) -> Span | None:
        return self.text.span(self.char(node.start_byte), self.char((last or node).end_byte))

    def places(self, node: Node) -> Sequence[int]:
        return self.offsets(self.begin(node), self.char(node.end_byte))
