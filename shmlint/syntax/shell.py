"""The commands of a shell text: their words, with variables that the text itself sets followed.

tree-sitter-bash reads the syntax. A variable that is assigned once is followed; what depends on a
branch, on an argument or on another program stays unknown.
"""

from __future__ import annotations

import re
from _thread import get_ident
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from shmlint.model.record import NamedTuple
from shmlint.model.source import Span, character_offsets
from shmlint.syntax.shell_conditions import When, first_shift, leaves, when
from shmlint.syntax.shell_repair import one_heredoc, repaired
from shmlint.syntax.shell_text import ShellText, has_placeholder, mentions_engine, place, restore
from shmlint.syntax.shell_variables import (
    ANY,
    Assignment,
    Buffer,
    Call,
    Range,
    Value,
    Variables,
    are_options,
    is_harmless,
    nothing,
)
from shmlint.syntax.word import TALKERS, Word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

NESTING = 4
"""Commands inside quoted commands are followed this deep."""

_EXPANSIONS = 50
"""Expansions inside expansions are followed this deep: ``${A:-${B:-…}}``."""

_RUNNERS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ssh", "su", "sudo", "tee", "srun", "pdsh"})
"""Commands that run the here-document they are given."""

_READERS = frozenset({"eval", "ssh", "bash", "sh", "zsh", "dash", "ksh"})
"""Commands that read a variable's text as a command line."""

_JOINING = frozenset({"eval", "ssh", "watch", "parallel"})
"""Commands that join their arguments to a text, which a shell reads again."""

_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts"})

_SETS = re.compile(r"(?:^[\"']?|[;&|\n]\s*|\bexport\s+)[A-Za-z_]\w*\+?=")
"""An assignment in a text that is evaluated."""

_BRANCHES = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_item", "while_statement", "for_statement",
     "c_style_for_statement", "subshell", "pipeline", "list", "command_substitution"}
)  # fmt: skip


_DECIDING = frozenset(
    {"if_statement", "case_item", "while_statement", "for_statement", "c_style_for_statement",
     "command_substitution", "process_substitution", "function_definition"}
)  # fmt: skip

class Command(NamedTuple):
    """One simple command: its words, assignments in front included. ``span`` is all of it."""

    words: tuple[Word, ...]
    span: Span
    nested: bool = False
    when: When = "always"
    leaves: bool = False
    """The text's own shell ends with it: ``exec`` and ``exit``, where they stand in no other shell."""


@cache
def _parser(thread: int) -> Parser:
    """A parser of the thread's own: two threads must not share one."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def commands(text: ShellText, given: Variables | None = None) -> Iterator[Command]:
    """Every simple command of a shell text, those in substitutions and quoted commands too.

    ``given`` are variables that something around the text sets (a Makefile's).
    """
    plain = one_heredoc(_with_backslashes(_without_comments(text)))
    yield from _Reader(repaired(plain)[0], given or Variables(), 0).read()


def given(values: Mapping[str, str]) -> Variables:
    """Variables that are set before a text runs: its environment, and its arguments by their numbers."""
    variables = Variables()
    for name, value in values.items():
        buffer = Buffer()
        buffer.add(value, (), True)
        variables.note(name, Assignment(-1, partial(_same, buffer)))
    return variables


def _same(value: Buffer) -> Value:
    return value


def exports(text: ShellText, before: Variables | None = None) -> Iterator[tuple[str, Word]]:
    """What a text exports to the programs it starts, in its order."""
    reader = _Reader(_with_backslashes(_without_comments(text)), before or Variables(), 0)
    for node in reader.nodes:
        if node.type != "declaration_command" or not reader.raw(node).startswith("export"):
            continue
        for child in node.named_children:
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if child.type == "variable_assignment" and name is not None and value is not None:
                found = reader.words(value)
                yield reader.raw(name), replace(found[0], span=reader._span(child)) if found else Word("")


_MOST_WORDS = 5_000
"""Words of one command that are looked at; nobody writes as many."""

_CONTINUED = re.compile(r"[^`\n]*\S[ \t]+`\r?")


def _without_comments(text: ShellText) -> ShellText:
    """Blanks instead of `` `# comments` ``, whose last backtick the grammar reads as part of the comment."""
    if "`" not in text.text or "#" not in text.text:
        return text
    return text._replace(text=re.sub(r"`[ \t]*#[^`\n]*`", lambda found: " " * len(found[0]), text.text))


def _with_backslashes(text: ShellText) -> ShellText:
    """PowerShell's continuations, a backtick at the end of a line, as the shell's."""
    if "`" not in text.text:
        return text
    lines = text.text.split("\n")
    inside = continued = False
    for i, line in enumerate(lines):
        if not inside and _CONTINUED.fullmatch(line) and (continued or mentions_engine(line)):
            at = line.index("`")
            lines[i] = f"{line[:at]}\\{line[at + 1 :]}"
            continued = True
            continue
        continued = False
        inside ^= line.count("`") % 2 == 1
    return text._replace(text="\n".join(lines))


class _Reader:
    def __init__(self, text: ShellText, variables: Variables, depth: int) -> None:
        self.text = text
        self.depth = depth
        self.joined = False
        """Whether the text is of words that have been read before."""
        self.level = 0
        self.root = parsed(text.text)
        self.nodes = list(walk(self.root))
        self.parents: dict[int, Node] = {}
        """By id: the grammar's own look-up goes down from the root each time."""
        self.deciding: dict[int, Node] = {}
        """The innermost node around each that decides whether it runs, by id."""
        for node in self.nodes:
            around = node if node.type in _DECIDING else self.deciding.get(node.id)
            for child in node.children:
                self.parents[child.id] = node
                if around is not None:
                    self.deciding[child.id] = around
        self.chars = character_offsets(text.text)
        self.variables = variables.inside(text.unset)
        self.place: tuple[int, Range | None] | None = None
        """Where all of the text is used, and in which function, where that is not where it is written."""
        self.function: Range | None = None
        """The function that the text as a whole stands in."""
        self.bodies: dict[str, Node] = {}
        """The functions that the text defines, by name."""
        self.busy: set[int] = set()
        self.decided: dict[int, bool | int | None] = {}
        self.shifted = first_shift(text.text)
        self.references: set[str] = set()
        """Variables that stand for others, whose names are not known."""

    def char(self, byte: int) -> int:
        return byte if self.chars is None else self.chars[byte]

    def raw(self, node: Node) -> str:
        return self.text.text[self.char(node.start_byte) : self.char(node.end_byte)]

    def at(self, node: Node) -> int:
        """Where a node is used in the file."""
        return self.place[0] if self.place is not None else self.text.offset(self.char(node.start_byte))

    def behind(self, node: Node) -> int:
        """Where a node ends in the file."""
        return self.text.offset(max(self.char(node.end_byte) - 1, self.char(node.start_byte)))

    def offsets(self, start: int, end: int) -> Sequence[int]:
        return self.text.offsets[start:end]

    def read(self) -> Iterator[Command]:
        nodes = self.nodes
        for node in nodes:
            if node.type == "function_definition":
                name = node.child_by_field_name("name")
                if name is not None:
                    self.variables.functions.setdefault(self.raw(name), []).append(self._range(node))
                    self.bodies[self.raw(name)] = node
        for node in nodes:
            self._note(node)
        for node in nodes:
            if node.type == "command":
                yield from self._command(node)
            elif node.type == "heredoc_body":
                yield from self._heredoc(node)

    # Variables -------------------------------------------------------------------------------

    def _note(self, node: Node) -> None:
        """What a node does to variables."""
        kind = node.type
        if kind == "variable_assignment":
            self._note_assignment(node)
        elif kind == "expansion":
            self._note_default(node)
        elif kind in ("for_statement", "c_style_for_statement", "select_statement"):
            name = next((c for c in node.children if c.type == "variable_name"), None)
            if name is not None:
                self._unknown(self.raw(name), node)
        elif kind == "unset_command":
            for child in node.named_children:
                if child.type == "variable_name":
                    self._unknown(self.raw(child), node)
        elif kind == "declaration_command":
            self._note_declaration(node)
        elif kind == "command":
            self._note_command(node)

    def _unknown(self, name: str, node: Node, because: str = "") -> None:
        function = self._function(node)
        self.variables.note(name, Assignment(self.at(node), nothing, function=function, because=because))

    def _anything(self, node: Node) -> None:
        """A command after which any variable may have another value."""
        raw = " ".join(self.raw(node).split())
        shown = raw if len(raw) <= 40 else f"{raw[:39]}…"
        self._unknown(ANY, node, f"`{shown}` may set it")

    def _note_declaration(self, node: Node) -> None:
        """``export $(…)`` sets what is not known; ``local X`` makes a variable of the function's own."""
        options = "".join(self.raw(c) for c in node.named_children if c.type == "word" and self.raw(c)[:1] == "-")
        for child in node.named_children:
            if child.type == "variable_assignment":
                name = child.child_by_field_name("name")
                if "n" in options and name is not None:
                    self.references.add(self.raw(name))
            elif child.type == "variable_name":
                if "n" in options:
                    self.references.add(self.raw(child))
                elif self._is_local(child):
                    function = self._function(node)
                    self.variables.note(
                        self.raw(child), Assignment(self.behind(child), Buffer, function=function, local=True)
                    )
            elif child.type in ("command_substitution", "simple_expansion", "expansion", "string", "concatenation"):
                self._anything(node)

    def _note_command(self, node: Node) -> None:
        """The variables that a command sets: ``read``, ``.``, ``eval``; the function that it calls."""
        parts = [c for c in node.named_children if c.type != "variable_assignment"]
        while parts and self.raw(parts[0]) in ("command", "builtin"):
            parts = parts[1:]
        if not parts:
            return
        name, rest = self.raw(parts[0]), parts[1:]
        if name in self.variables.functions:
            self.variables.calls.append(Call(self.at(node), name, self._branch(node), self._function(node)))
        elif name in (".", "source"):
            if not rest or not self.raw(rest[0]).rstrip("\"'").endswith("/activate"):
                self._anything(node)
        elif name == "eval":
            self._note_evaluation(node, rest)
        elif name == "printf":
            if len(rest) > 1 and self.raw(rest[0]) == "-v":
                self._unknown(self.raw(rest[1]), node)
        elif name in _SETTERS:
            for child in rest:
                if child.type == "word" and not self.raw(child).startswith("-"):
                    self._unknown(self.raw(child), node)
                elif child.type in ("string", "simple_expansion", "expansion") and name == "read":
                    self._anything(node)

    def _note_evaluation(self, node: Node, parts: Sequence[Node]) -> None:
        """``eval`` sets what its text assigns; where that is not known, anything."""
        raw = " ".join(map(self.raw, parts))
        held = re.fullmatch(r"\"?\$\{?(\w+)\}?\"?", raw)
        if held is not None and held[1] in self.variables.made:
            values = [made.value() for made in self.variables.made[held[1]]]
            texts = ["".join(value.chars) for value in values if isinstance(value, Buffer)]
            if len(texts) == len(values) and not any(_SETS.search(text) for text in texts):
                return
        elif mentions_engine(raw) and _SETS.search(raw) is None:
            return
        self._anything(node)

    def _note_default(self, node: Node) -> None:
        """``${NAME:=value}`` sets a variable that is not set."""
        name = node.named_children[0] if node.named_children else None
        operator = next((c.type for c in node.children if c.type in (":=", "=")), "")
        if name is not None and name.type == "variable_name" and operator:
            self._assign(self.raw(name), node, node, self._branch(node))

    def _note_assignment(self, node: Node) -> None:
        """An assignment, unless it is one before a command, which only that command sees."""
        parent = self.parents.get(node.id)
        if parent is not None and parent.type == "command" and not self._stands_alone(node, parent):
            return
        name = node.child_by_field_name("name")
        if name is None:
            return
        if name.type == "subscript":  # A[0]=…: the array is no longer what its literal says
            inner = name.named_children[0] if name.named_children else name
            self._unknown(self.raw(inner), node)
            return
        text = self.raw(name)
        if text in self.references:
            self._anything(node)
            return
        self._assign(text, node, node.child_by_field_name("value"), self._branch(node))

    def _stands_alone(self, node: Node, command: Node) -> bool:
        """Whether an assignment is none of a command, which the grammar takes for one with it.

        It reads ``A=x B=y`` and the command of the next line as one.
        """
        name = command.child_by_field_name("name")
        if name is None:
            return True
        between = self.text.text[self.char(node.end_byte) : self.char(name.start_byte)]
        return re.search(r"(?<!\\)\r?\n", between) is not None

    def _is_local(self, node: Node) -> bool:
        """Whether a declaration makes a variable of the function's own."""
        parent = self.parents.get(node.id)
        declared = parent is not None and parent.type == "declaration_command"
        keyword = self.raw(parent.children[0]) if declared and parent is not None else ""
        return keyword in ("local", "declare", "typeset") and self._function(node) is not None

    def _assign(self, name: str, node: Node, value: Node | None, branch: Range | None) -> None:
        append = any(child.type == "+=" for child in node.children)
        raw = self.raw(value) if value is not None else ""
        lengthens = f"${name}" in raw or f"${{{name}" in raw
        loop, function = self._loop(node), self._function(node)
        made = Assignment(
            self.behind(node), cache(partial(self._value, value)), append, branch, lengthens, function,
            self._is_local(node), loop,
        )  # fmt: skip
        self.variables.note(name, made)

    def _value(self, node: Node | None) -> Value:
        """What an assignment assigns."""
        if node is None:
            return Buffer()
        if node.id in self.busy:
            return None
        self.busy.add(node.id)
        try:
            if node.type == "array":
                place = self._span(node)
                return [
                    word if word.array is not None or word.used is not None else replace(word, array=place)
                    for word in self._arguments([item for item in node.named_children if item.type != "comment"])
                ]
            buffer = Buffer()
            self._add(buffer, node, quoted=True)
            # Where the variable is used without quotation marks, they may still become many words.
            buffer.unknown = [(start, end, why, True) for start, end, why, _ in buffer.unknown]
            return buffer
        finally:
            self.busy.discard(node.id)

    def _range(self, node: Node) -> Range:
        return self.text.offset(self.char(node.start_byte)), self.behind(node) + 1

    def _loop(self, node: Node) -> Range | None:
        """The outermost loop around a node, in its function."""
        found = None
        here = self.deciding.get(node.id)
        while here is not None and here.type != "function_definition":
            if here.type in ("for_statement", "c_style_for_statement", "while_statement"):
                found = here
            here = self.deciding.get(here.id)
        return self._range(found) if found is not None else None

    def _branch(self, node: Node) -> tuple[int, int] | None:
        """The range in which an assignment is sure to have been made; None: everywhere after it."""
        here: Node | None = node
        while here is not None and here.id in self.parents:
            parent = self.parents[here.id]
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

    def special(self, name: str, node: Node) -> str | None:
        """The value of ``$#``, where the arguments are known."""
        value = self.variables.value(name, self.at(node), self._function(node))
        return "".join(value.chars) if isinstance(value, Buffer) and not value.unknown else None

    def _function(self, node: Node) -> Range | None:
        """The innermost function that a node stands in."""
        if self.place is not None:
            return self.place[1]
        here: Node | None = node
        while here is not None:
            if here.type == "function_definition":
                return self._range(here)
            here = self.deciding.get(here.id)
        return self.function

    def _command(self, node: Node) -> Iterator[Command]:
        words: list[Word] = []
        parts: list[Node] = []
        for child in node.children:
            if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect", "comment"):
                continue
            if child.type == "variable_assignment":
                if not self._stands_alone(child, node):
                    words.append(self._assignment_word(child))
            elif child.type == "command_name":
                parts += child.named_children
            elif child.is_named or child.type in ("=", "==", "=~", "!="):
                parts.append(child)
        words += self._arguments(parts)
        if not words:
            return
        first = next(c for c in node.children if c.type != "variable_assignment" or not self._stands_alone(c, node))
        span = self._span(first, node) or self.text.home
        if not self.joined and self.depth < NESTING and _is_read_again(words):
            yield from self._again(node, words, span)
            return
        leaving = words[0].text in ("exec", "exit") and leaves(node, self)
        yield Command(self._called(words, node), span, self.depth > 0, when(node, self), leaving)
        yield from self._quoted(node, words)

    def _called(self, words: Sequence[Word], node: Node) -> tuple[Word, ...]:
        """The words of a command; where it calls a function that runs its arguments, those of what that runs.

        The name of a function that does something else with them is marked, because it is not a program's name.
        """
        at = next((i for i, word in enumerate(words) if not _ASSIGNED.match(word.text)), len(words))
        body = self.bodies.get(words[at].text) if at < len(words) and not words[at].unknown else None
        function = self._function(node)
        if body is None or (function is None and self.at(node) < self.at(body)) or function == self._range(body):
            return tuple(words)
        for command in walk(body):
            parts = [c for c in command.named_children if c.type != "variable_assignment"]
            place = next((i for i, part in enumerate(parts) if self.raw(part) in _ARGUMENTS), None)
            if command.type != "command" or place is None:
                continue
            before = self._arguments([c for part in parts[:place] for c in (part.named_children or [part])])
            named = {word.text for word in before}
            if named.isdisjoint({"run", "create"}) and named.isdisjoint(TALKERS - {"eval"}):
                return (*words[:at], *before, *words[at + 1 :])
        return (*words[:at], replace(words[at], text=f"{words[at].text}()"), *words[at + 1 :])

    def _again(self, node: Node, words: Sequence[Word], span: Span) -> Iterator[Command]:
        """The commands of words that are joined and read once more."""
        offsets: list[int] = []
        for word in words:
            offsets += [*(word.offsets if len(word.offsets) == len(word.text) else [-1] * len(word.text)), -1]
        joined = " ".join(word.text for word in words)
        text = ShellText(self.text.source, joined, offsets[:-1], span, unset=self.text.unset)
        reader = self._inner(text)
        reader.joined, reader.place = True, (span.start, self._function(node))
        yield from (command._replace(span=span) for command in reader.read())

    def _assignment_word(self, node: Node) -> Word:
        buffer = Buffer()
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        buffer.add(f"{self.raw(name) if name is not None else ''}=")
        if value is not None and value.type != "array":
            self._add(buffer, value, quoted=True)
        return self._word(buffer, 0, len(buffer.chars), self._span(node))

    def _quoted(self, node: Node, words: Sequence[Word]) -> Iterator[Command]:
        """Commands in the quoted arguments of a command that runs them: ``bash -c``, ssh, tmux, …"""
        name = next((w.text.rpartition("/")[2] for w in words if "=" not in w.text), "")
        if self.depth >= NESTING or name in TALKERS or name.startswith(("log", "print")):
            return
        for child in node.named_children:
            if name in _READERS and child.type in ("string", "simple_expansion", "expansion"):
                yield from self._held(child)
            if child.type not in ("string", "raw_string"):
                continue
            inside = self.raw(child)[1:-1]
            if not mentions_engine(inside) or " " not in inside:
                continue
            start = self.char(child.start_byte) + 1
            escapes = '$`"\\' if child.type == "string" else ""
            yield from self._nested(child, start, start + len(inside), escapes=escapes)

    def _held(self, node: Node) -> Iterator[Command]:
        """The commands in a variable's text, where all of an argument is one: ``eval "$CMD"``."""
        inner = node
        if node.type == "string":
            if len(node.named_children) != 1 or self.raw(node)[1:-1] != self.raw(node.named_children[0]):
                return
            inner = node.named_children[0]
        elif self.raw(node.parent).startswith("eval") if node.parent is not None else True:
            return  # eval's unquoted words are its own
        if inner.type not in ("simple_expansion", "expansion"):
            return
        buffer = Buffer()
        self._add(buffer, inner, quoted=True)
        text = "".join(buffer.chars)
        home = place(self.text.source, buffer.offsets) or self._span(node) or self.text.home
        if " " not in text or not mentions_engine(text) or buffer.unknown:
            return
        held = ShellText(self.text.source, text, buffer.offsets, home, unset=self.text.unset)
        reader = self._inner(held)
        reader.place = self.at(node), self._function(node)
        yield from reader.read()

    def _inner(self, text: ShellText) -> _Reader:
        """A reader of a text inside this one."""
        return _Reader(text, self.variables, self.depth + 1)

    def _nested(self, node: Node, start: int, end: int, *, escapes: str = "") -> Iterator[Command]:
        """Commands in a part of the text, in which a backslash hides the characters ``escapes``."""
        text, offsets, stands = self.text.text[start:end], self.offsets(start, end), self.text.stands[start:end]
        if escapes and "\\" in text:
            kept = list(_unescaped(text, escapes))
            text, offsets = "".join(text[i] for i in kept), [offsets[i] for i in kept]
            stands = [stands[i] for i in kept] if stands else ()
        home = self.text.span(start, end) or self.text.home
        nested = ShellText(self.text.source, text, offsets, home, stands, self.text.unset)
        reader = self._inner(nested)
        reader.place, reader.function = self.place, self._function(node)
        yield from reader.read()

    def _heredoc(self, node: Node) -> Iterator[Command]:
        """A here-document that a shell is given is a script of its own."""
        inside = self.raw(node)
        if self.depth >= NESTING or not mentions_engine(inside):
            return
        redirect = node.parent
        statement = redirect.parent if redirect is not None else None
        if redirect is None or statement is None:
            return
        # `cat <<EOF | bash`: the pipe stands inside the redirection
        readers = [c for c in statement.children if c.type == "command"]
        for pipe in (c for c in redirect.children if c.type == "pipeline"):
            readers += [c for c in pipe.children if c.type == "command"]
        if not any(
            self.raw(part).rpartition("/")[2] in _RUNNERS for c in readers for part in c.named_children[:3]
        ):
            return
        opening = next((self.raw(c) for c in redirect.children if c.type == "heredoc_start"), "")
        escapes = "" if re.search(r"['\"\\]", opening) else "$`\\"
        yield from self._nested(node, self.char(node.start_byte), self.char(node.end_byte), escapes=escapes)

    # Words -------------------------------------------------------------------------------

    def _arguments(self, nodes: Sequence[Node]) -> list[Word]:
        """The words of nodes; the parser cuts `"a"\\b` in two, so those that touch are one."""
        found: list[Word] = []
        start = 0
        for i, node in enumerate(nodes):
            if i + 1 == len(nodes) or not self._touch(node, nodes[i + 1]):
                found += self.words(*nodes[start : i + 1])
                start = i + 1
            if len(found) > _MOST_WORDS:
                return [*found, Word("", None, f"it has more than {_MOST_WORDS} words", True)]
        return found

    def _touch(self, node: Node, after: Node) -> bool:
        """Whether nothing stands between two nodes, or only a backslash and the line end that it hides."""
        between = self.text.text[self.char(node.end_byte) : self.char(after.start_byte)]
        return between in ("", "\\\n", "\\\r\n")

    def words(self, *nodes: Node) -> list[Word]:
        """The words an argument becomes: one, none, or as many as a variable holds."""
        array = self._array(nodes[0]) if len(nodes) == 1 else None
        if array is not None:
            return array
        buffer = Buffer()
        for node in nodes:
            self._add(buffer, node, quoted=False)
        return self._split(buffer, self._span(nodes[0], nodes[-1]))

    def _array(self, node: Node) -> list[Word] | None:
        """The words of ``"${NAME[@]}"``; None where the node is something else."""
        quoted = node.type == "string"
        raw = self.raw(node)[1:-1] if quoted else self.raw(node)
        found = _WHOLE_ARRAY.fullmatch(raw)
        if found is None or (quoted and len(node.named_children) != 1):
            return None
        if quoted and found[2] != "@":  # "${NAME[*]}" is one word
            return None
        name = found[1] or found[3]
        value = self.variables.value(name, self.at(node), self._function(node))
        if isinstance(value, list):
            return value
        if isinstance(value, Buffer):
            return self._split(value, self._span(node))
        return [Word(self.raw(node), self._span(node), value, True)]

    def _span(self, node: Node, last: Node | None = None) -> Span | None:
        return self.text.span(self.char(node.start_byte), self.char((last or node).end_byte))

    def _split(self, buffer: Buffer, written: Span | None) -> list[Word]:
        found: list[Word] = []
        start = 0
        for i, char in enumerate(buffer.chars):
            if buffer.splits[i] and char in " \t\n":
                if i > start:
                    found.append(self._word(buffer, start, i, written))
                start = i + 1
        if start < len(buffer.chars) or (not found and buffer.quoted):
            found.append(self._word(buffer, start, len(buffer.chars), written))
        return found

    def _word(self, buffer: Buffer, start: int, end: int, written: Span | None) -> Word:
        text = restore("".join(buffer.chars[start:end]))
        because, many = "", False
        for a, b, why, splits in buffer.unknown:
            if (a < end and b > start) or (a == b and start <= a <= end):
                because = because or why
                many = many or (splits and a == start and b == end)
        whole = start == 0 and end == len(buffer.chars)
        inner = place(self.text.source, buffer.offsets[start:end])
        span = written if whole else inner
        # A word that is all one variable's value stands where that was assigned.
        if span is None or (inner is not None and not (span.start <= inner.start and inner.end <= span.end)):
            span = inner
        if not because and has_placeholder("".join(buffer.chars[start:end])):
            because = "a placeholder"
        inside = written is None or (span is not None and written.start <= span.start and span.end <= written.end)
        used = None if inside else written
        offsets = buffer.offsets[start:end]
        harmless, options = buffer.harmless and bool(because), buffer.options and bool(because)
        return Word(text, span, because, many, harmless, options, offsets, used)

    def _add(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        if self.level > _EXPANSIONS:
            buffer.add_unknown(self.raw(node), self._at(node), "it is nested too deep", not quoted)
            return
        self.level += 1
        self._add_part(buffer, node, quoted)
        self.level -= 1

    def _add_part(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        kind = node.type
        if kind in ("word", "number", "variable_name", "special_variable_name", "test_operator", "regex"):
            self._literal(buffer, self.char(node.start_byte), self.char(node.end_byte))
        elif kind == "raw_string":
            buffer.quoted = True
            start, end = self.char(node.start_byte) + 1, self.char(node.end_byte) - 1
            buffer.add(self.text.text[start:end], self.offsets(start, end))
        elif kind == "ansi_c_string":
            buffer.quoted = True
            self._ansi(buffer, self.char(node.start_byte) + 2, self.char(node.end_byte) - 1)
        elif kind in ("string", "translated_string"):
            self._string(buffer, node)
        elif kind == "concatenation":
            self._parts(buffer, node, quoted)
        elif kind == "simple_expansion":
            self._variable(buffer, node, self.raw(node)[1:], quoted)
        elif kind == "expansion":
            self._expansion(buffer, node, quoted)
        elif kind == "command_substitution":
            buffer.add_unknown(self.raw(node), self._at(node), "it is the output of a command", not quoted)
        elif kind in ("brace_expression", "extglob_pattern"):
            buffer.add(self.raw(node), self._at(node))
        else:
            text = self.raw(node)
            if node.named_child_count:
                buffer.add_unknown(text, self._at(node), "it is computed at run time", not quoted)
            else:
                self._literal(buffer, self.char(node.start_byte), self.char(node.end_byte))

    def _parts(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        end = node.start_byte
        for child in node.children:
            if child.start_byte > end:
                a, b = self.char(end), self.char(child.start_byte)
                buffer.add(self.text.text[a:b], self.offsets(a, b))
            self._add(buffer, child, quoted)
            end = child.end_byte

    def _string(self, buffer: Buffer, node: Node) -> None:
        """A double-quoted text. Blanks beside expansions belong to no node, so what lies between
        the nodes is taken from the text itself."""
        buffer.quoted = True
        raw = self.raw(node)
        opening = raw.find('"') + 1
        at = self.char(node.start_byte) + opening
        end = self.char(node.end_byte) - (1 if raw.endswith('"') and len(raw) > opening else 0)
        for child in node.named_children:
            if child.type == "string_content":
                continue
            start = self.char(child.start_byte)
            self._quoted_literal(buffer, at, start)
            self._add(buffer, child, quoted=True)
            at = self.char(child.end_byte)
        self._quoted_literal(buffer, at, end)

    def _quoted_literal(self, buffer: Buffer, start: int, end: int) -> None:
        text = self.text.text[start:end]
        i = 0
        while i < len(text):
            if text[i] == "\\" and i + 1 < len(text) and text[i + 1] in '$`"\\\n':
                if text[i + 1] != "\n":
                    buffer.add(text[i + 1], self.offsets(start + i + 1, start + i + 2))
                i += 2
            else:
                buffer.add(text[i], self.offsets(start + i, start + i + 1))
                i += 1

    def _literal(self, buffer: Buffer, start: int, end: int) -> None:
        text = self.text.text[start:end]
        if "\\" not in text:
            buffer.add(text, self.offsets(start, end))
            return
        i = 0
        while i < len(text):
            if text[i] == "\\" and i + 1 < len(text):
                if text[i + 1] not in "\r\n":
                    buffer.add(text[i + 1], self.offsets(start + i + 1, start + i + 2))
                i += 3 if text[i + 1 : i + 3] == "\r\n" else 2
            else:
                buffer.add(text[i], self.offsets(start + i, start + i + 1))
                i += 1

    def _ansi(self, buffer: Buffer, start: int, end: int) -> None:
        """The inside of ``$'…'``."""
        at = start
        for escape in re.finditer(_ANSI, self.text.text[start:end], re.S):
            a, b = start + escape.start(), start + escape.end()
            buffer.add(self.text.text[at:a], self.offsets(at, a))
            hexadecimal, octal, letter = escape.groups()
            if letter:
                char = _ANSI_LETTERS.get(letter, letter)
            else:
                code = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
                char = chr(code) if code < 0x110000 else ""
            buffer.add(char, [self.text.offsets[b - 1]] * len(char))
            at = b
        buffer.add(self.text.text[at:end], self.offsets(at, end))

    def _at(self, node: Node) -> Sequence[int]:
        return self.offsets(self.char(node.start_byte), self.char(node.end_byte))

    def _variable(self, buffer: Buffer, node: Node, name: str, quoted: bool) -> None:
        value = self.variables.value(name, self.at(node), self._function(node))
        if isinstance(value, list):  # the first element
            if not value or value[0].maybe_many or value[0].unknown or len(value[0].offsets) != len(value[0].text):
                value = f"variable {name} is an array"
            else:
                buffer.add(value[0].text, value[0].offsets, splits=not quoted)
                return
        if isinstance(value, str):
            many = not quoted or name in ("@", "*")
            buffer.add_unknown(self.raw(node), self._at(node), value, many)
        else:
            buffer.extend(value, splits=not quoted)

    def _expansion(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        raw = self.raw(node)
        if re.fullmatch(r"\$\{\w+\}", raw):
            self._variable(buffer, node, raw[2:-1], quoted)
            return
        start = _EXPANSION.match(raw)
        if start is None:
            whole = not buffer.chars
            # "${A[@]:1}" may be any number of words even where it is quoted.
            many = not quoted or "[@]" in raw or "[*]" in raw or raw.endswith("@}")
            named = re.match(r"\$\{[#!]?(\w*)", raw)
            because = self._because(named[1] if named is not None else "", raw)
            buffer.add_unknown(raw, self._at(node), because, many)
            if whole and named is not None and "[" in raw:
                array = self.variables.value(named[1], self.at(node), self._function(node))
                buffer.options, buffer.harmless = are_options(array), is_harmless(array)
            return
        name, operator = start[1], start[2]
        behind = [c for c in node.named_children if c.start_byte >= node.start_byte + len(start[0].encode())]
        value = self.variables.value(name, self.at(node), self._function(node))
        if operator in ("+", ":+"):
            self._alternative(buffer, node, (value, behind), quoted)
            return
        if isinstance(value, Buffer) and (value.chars or value.unknown):
            buffer.extend(value, splits=not quoted)
        elif isinstance(value, list):
            buffer.add_unknown(raw, self._at(node), f"variable {name} is an array", not quoted)
        elif isinstance(value, str) and self.variables.may_be_set(name, self.at(node), self._function(node)):
            buffer.add_unknown(raw, self._at(node), self._because(name, raw), not quoted)
        else:
            buffer.extend(self._joined(behind), splits=not quoted)
            buffer.quoted = buffer.quoted or quoted

    def _joined(self, nodes: Sequence[Node]) -> Buffer:
        buffer = Buffer()
        for node in nodes:
            self._add(buffer, node, quoted=True)
        return buffer

    def _alternative(
        self, buffer: Buffer, node: Node, held: tuple[Buffer | list[Word] | str, Sequence[Node]], quoted: bool
    ) -> None:
        """``${NAME:+--name "$NAME"}``: the words after the sign where the variable holds something, else none."""
        value, behind = held
        then = self._joined(behind)
        if isinstance(value, Buffer) and not value.unknown:
            if value.chars:
                buffer.extend(then, splits=not quoted)
            return
        whole = not buffer.chars
        buffer.add_unknown(self.raw(node), self._at(node), "it depends on a variable", not quoted)
        if whole:
            buffer.options, buffer.harmless = are_options(then), is_harmless(then)

    def _because(self, name: str, raw: str) -> str:
        """Why what stands in an expansion is not known."""
        if name in self.variables.made:
            return f"it contains variable {name}"
        return self.text.unset(name or raw)


_ARGUMENTS = frozenset({'"$@"', "$@", "$*", '"${@}"', '"$*"'})
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")

_EXPANSION = re.compile(r"\$\{(\w+)(:?[-=+])")
"""The start of ``${NAME:-…}`` and its like."""


def _is_read_again(words: Sequence[Word]) -> bool:
    """Whether a shell reads the words once more, and finds quotation marks in them."""
    names = {word.text.rpartition("/")[2] for word in words}
    return (
        not _JOINING.isdisjoint(names)
        and not names.isdisjoint({"docker", "podman", "nerdctl"})
        and any(mark in word.text for word in words for mark in "'\"\\")
        and not any(word.unknown for word in words if "'" in word.text or '"' in word.text)
    )


_WHOLE_ARRAY = re.compile(r'\$\{(\w+)\[([@*])\]\}|\$\{(\w+)\[@\]:?\+"\$\{\3\[(@)\]\}"\}')
"""``${NAME[@]}``, and ``${NAME[@]+"${NAME[@]}"}``, which is the same where unset variables are errors."""


def walk(root: Node) -> Iterator[Node]:
    """All nodes in the order of the text, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def comments(text: str) -> set[int]:
    """Where the comments of a shell script start."""
    offsets = character_offsets(text)
    starts = (node.start_byte for node in walk(parsed(text)) if node.type == "comment")
    return {start if offsets is None else offsets[start] for start in starts}


def parsed(text: str) -> Node:
    """The root of a shell text's tree; its places are bytes of UTF-8."""
    return _parser(get_ident()).parse(text.encode("utf-8", "surrogatepass")).root_node


_ANSI = r"\\(?:[xuU]([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))"
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescaped(text: str, escapes: str) -> Iterator[int]:
    """The characters of a double-quoted text that the inner shell gets."""
    i = 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text) and text[i + 1] in escapes:
            i += 1
        yield i
        i += 1
