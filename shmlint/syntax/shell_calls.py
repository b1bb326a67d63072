"""Commands that may call a function without naming one of the text: by a variable, or one of a file that is sourced."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.model.record import NamedTuple
from shmlint.syntax.shell_grammar import parsed, walk
from shmlint.syntax.shell_programs import may_be_function
from shmlint.syntax.shell_text import ShellText, mentions_engine
from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import ANY, END, Range
from shmlint.syntax.shell_words import WordReader
from shmlint.syntax.word import is_expansion

if TYPE_CHECKING:
    from tree_sitter import Node

SOURCES = frozenset({".", "source"})
_BEFORE = frozenset({"time", "eval"})
"""Commands behind which a function may be called."""
_PROGRAMS_ONLY = frozenset({"command", "builtin", "exec"})
_ARGUMENT = re.compile(r"\"?\$\{?[@*1-9]")
_VARIABLE = re.compile(r"\\\$(?:\\\{.*?\\\}|\w+)")
_WORD = re.compile(r"[\w.:-]+")
_NAME = re.compile(r"[\w./][\w./-]*")
_MAY_SOURCE = re.compile(r"\bsource\s|(?:^|[\s;&|({])\.\s", re.M)
_AT_THE_END = frozenset({"EXIT", "SIGEXIT", "0"})
"""After these traps nothing of the text runs."""


class Changed(NamedTuple):
    """A variable that a command may set; ``ANY``: whichever."""

    name: str
    node: Node
    later: bool = False
    """It may do so at any time from there on: a trap."""


def sourced(text: ShellText) -> list[str]:
    """The files that a text sources, as they are written."""
    if _MAY_SOURCE.search(text.text) is None:
        return []
    tree = Tree(text)
    every = (_parts(node)[:2] for node in tree.nodes if node.type == "command")
    return [tree.raw(parts[1]) for parts in every if len(parts) == 2 and tree.raw(parts[0]) in SOURCES]


def sets_nothing(name: str) -> bool:
    """Whether a file that is sourced is that of a Python environment, which sets nothing but its own."""
    return name.rstrip("\"'").endswith("/activate")


_KNOWN_FILE = re.compile(r".*/(?:activate|etc/os-release|lsb-release|profile\.d/conda\.sh)[\"']?")
"""Files that define no functions but their own."""


class OtherCalls:
    """Looks for the commands of a text that may call other functions than they name, and for what these may set.

    What their words are is known once all assignments are noted, so that is asked for at the end.
    """

    def __init__(self, words: WordReader) -> None:
        self.words = words
        self.tree = words.tree
        self.variables = words.variables
        self.since = self._first_source()
        """The character from which on a command may be a function of another file; that of functions is anywhere."""
        self.computed: list[tuple[Node, list[Node]]] = []
        """Commands that are computed, with their words."""
        self.texts: list[tuple[Node, str]] = []
        """Commands that evaluate texts, or may when they are known."""
        self.traps: list[tuple[Node, str]] = []
        self.found: dict[tuple[Range | None, frozenset[Range]], set[str]] = {}
        """What functions set that are called from a function, or from outside of all."""

    def _first_source(self) -> int:
        if self.variables.sourced:
            return 0
        text = self.tree.text.text
        if _MAY_SOURCE.search(text) is not None:
            for node in self.tree.nodes:
                parts = _parts(node) if node.type == "command" else ()
                named = [self.tree.raw(part) for part in parts[:2]]
                if len(named) > 1 and named[0] in SOURCES and _KNOWN_FILE.fullmatch(named[1]) is None:
                    self.variables.sourced = True
                    return self.tree.char(node.start_byte)
        return END

    @property
    def is_needed(self) -> bool:
        """Whether any command may call a function without naming it."""
        return self.since < END or bool(self.variables.functions)

    def calls_another(self, node: Node) -> bool:
        """Whether a command may be a function of a file that is sourced before it. Those in variables are kept."""
        parts = _parts(node)
        while parts and self.tree.raw(parts[0]) in _BEFORE:
            parts = parts[1:]
        if not parts or self.tree.raw(parts[0]) in _PROGRAMS_ONLY:
            return False
        name = self._plain(parts[0])
        if "$" in name or "`" in name:
            self.computed.append((node, parts))
            return False
        return self.is_sourced(node) and name not in self.variables.functions and may_be_function(name)

    def _plain(self, part: Node) -> str:
        raw = self.tree.raw(part)
        return raw.replace("\\", "").strip("\"'") if raw[:1] in "\"'\\" else raw

    def is_sourced(self, node: Node) -> bool:
        """Whether another file may have defined functions where a node is run."""
        if self.since == END:
            return False
        loop = self.tree.loop_of(node)
        behind = loop[1] if loop is not None else -1
        at = self.tree.char(node.start_byte)
        return at > self.since or self.tree.function_of(node) is not None or behind > self.tree.text.offset(self.since)

    def note_trap(self, node: Node, rest: Sequence[Node]) -> None:
        """A text that runs at any time from a command on."""
        words = [self.tree.raw(part).strip("\"'") for part in rest if self.tree.raw(part) != "--"]
        if len(words) > 1 and not words[0].startswith("-") and not _AT_THE_END.issuperset(words[1:]):
            self.traps.append((node, words[0]))

    def changes(self) -> Iterator[Changed]:
        """What the commands may set. All is looked at before the first is noted, for that changes what is known."""
        found: dict[tuple[str, int], Changed] = {}
        for node, parts in self.computed:
            for name in self._set_by_computed(node, parts):
                found.setdefault((name, node.id), Changed(name, node))
        for node, text in self.texts:
            for name in self._set_by_text(node, text):
                found.setdefault((name, node.id), Changed(name, node))
        for node, text in self.traps:
            for name in self._set_by_trap(node, text):
                found[name, node.id] = Changed(name, node, later=True)
        yield from found.values()

    # What a word may be ------------------------------------------------------------------------

    def _set_by_computed(self, node: Node, parts: Sequence[Node]) -> Iterable[str]:
        """What a command sets whose name is computed."""
        names, functions = self._names(node, parts), self._functions()
        if names is None and (mentions_engine(self.tree.raw(node)) or self._is_before_program(parts)):
            names = ()
        if self.is_sourced(node) and (names is None or any(map(may_be_function, set(names) - functions))):
            return (ANY,)
        if names is not None and functions.isdisjoint({*names, *map(self._plain, parts[1:2])}):
            return ()
        called = functions if names is None else functions.intersection(names)
        name = self._plain(parts[0])
        pattern = _VARIABLE.sub(".*", re.escape(name))
        whole = pattern == ".*" or _ARGUMENT.match(name) is not None or "$(" in name or "`" in name
        if names is None and not whole:
            called = {function for function in functions if re.fullmatch(pattern, function)}
        before = self._plain(parts[1]) if len(parts) > 1 else ""
        return self._set_by(called | (functions & {before}), node)

    def _functions(self) -> set[str]:
        return set(self.variables.functions)

    def _is_before_program(self, parts: Sequence[Node]) -> bool:
        """Whether a variable is before a program, which it runs if it is anything: ``$SUDO apt-get``."""
        behind = (name for name in map(self._plain, parts[1:]) if name[:1] != "-")
        name = next(behind, "")
        return _NAME.fullmatch(name) is not None and not may_be_function(name)

    def _names(self, node: Node, parts: Sequence[Node]) -> Collection[str] | None:
        """What the first word of a command may be; None where that is not known."""
        function = self.tree.function_of(node)
        if _ARGUMENT.match(self.tree.raw(parts[0])) is not None and function is not None:
            return self._given(function)
        words = self.words.read(parts[0])
        if not words:
            return [self._plain(parts[1])] if len(parts) > 1 else ()
        if words[0].unknown is None:
            return (words[0].text,)
        values = words[0].values if is_expansion(words[0].text) else ()
        return [first for value in values for first in value.split()[:1]] or None

    def _given(self, function: Range) -> Collection[str]:
        """The words that the calls of a function give it, among which is what it runs."""
        found: set[str] = set()
        for call in self.variables.calls_of(function):
            given = call.arguments() or ()
            for i, word in enumerate(given):
                texts = word.values if word.unknown is not None else (word.text,)
                found.update(texts if i == 0 else self._functions().intersection(texts))
        return found

    def _set_by_text(self, node: Node, text: str) -> Iterable[str]:
        """What the functions set that a text calls."""
        words = _WORD.findall(text)
        if self.is_sourced(node) and any(map(may_be_function, self._first_words(text))):
            return (ANY,)
        return self._set_by(self._functions() & set(words), node)

    def _first_words(self, text: str) -> Iterator[str]:
        raw = text.encode("utf-8", "surrogatepass")
        for node in walk(parsed(text)):
            if node.type == "command_name":
                name = raw[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")
                if name not in self.variables.functions:
                    yield name

    def _set_by_trap(self, node: Node, text: str) -> Iterable[str]:
        """What the text of a trap sets."""
        raw = text.encode("utf-8", "surrogatepass")
        found = {
            raw[child.start_byte : child.end_byte].decode("utf-8", "surrogatepass")
            for around in walk(parsed(text)) if around.type == "variable_assignment"
            for child in around.named_children[:1]
        }  # fmt: skip
        return found | set(self._set_by_text(node, text))

    def _set_by(self, names: Collection[str], node: Node) -> set[str]:
        """The variables that functions set for what runs after them, but for those that the node is in."""
        variables = self.variables
        own = self.tree.function_of(node)
        called = frozenset(place for name in names for place in variables.functions.get(name, ()))
        if (own, called) not in self.found:
            reached = variables.reached_from(called - variables.leading_to(own) if own is not None else called)
            self.found[own, called] = {
                name for name, made in variables.made.items()
                if any(one.function in reached and not one.local for one in made)
            }  # fmt: skip
        return self.found[own, called]


def _parts(node: Node) -> list[Node]:
    """The words of a command behind its assignments."""
    parts = [part for part in node.named_children if part.type != "variable_assignment"]
    return [inner for part in parts for inner in (part.named_children if part.type == "command_name" else (part,))]
