"""What the nodes of a shell text do to its variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from shmlint.model.number import whole_number
from shmlint.syntax.shell_branches import Branches
from shmlint.syntax.shell_calls import SOURCES, OtherCalls, sets_nothing
from shmlint.syntax.shell_conditions import ARGUMENT, Conditions, Held, is_asked_for, is_made
from shmlint.syntax.shell_text import mentions_engine
from shmlint.syntax.shell_variables import (
    ANY,
    ARGUMENTS,
    END,
    SEPARATORS,
    Assignment,
    Buffer,
    Call,
    Moved,
    Range,
    Value,
    are_options,
    nothing,
    usual_separators,
)
from shmlint.syntax.shell_words import WordReader, some_words
from shmlint.syntax.word import Cause, Word

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLERS = frozenset({"trap", "eval", "time", "complete"})
"""Commands of the shell that call functions by their names."""

_BEFORE_CALL = frozenset({"time", "eval"})
"""Those that are before the call."""

_SETS_ARGUMENTS = re.compile(r"set[ \t]+(?:--|[^-+\s])")

_COMPUTED = frozenset(
    {"command_substitution", "simple_expansion", "expansion", "string", "raw_string", "concatenation"}
)
"""Words of a declaration that the grammar takes for no assignment."""

_SETTERS = {"read": "dinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc", "getopts": "", "wait": ""}
"""Commands that set the variables that they name, and their options that take a word which is no such name."""

_NAME = re.compile(r"[\"']?([A-Za-z_]\w*)(?:\[[^]]*\])?[\"']?\Z")
_NAMED_VALUE = re.compile(r"[\"']?([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
"""A variable that is named, and one with its value."""

_ARITHMETIC = re.compile(
    r"(\$\{?\w++\}?|(?<!\w)[A-Za-z_]\w*+)(?:\[[^]]{0,80}\])?[ \t]*+(?:(?:<<|>>|[-+*/%&|^])?=(?!=)|\+\+|--)"
    r"|(?:\+\+|--)[ \t]*+(\$\{?\w++\}?|[A-Za-z_]\w*+)"
)
"""What an arithmetic expression sets: ``((N = 8, N *= 2, N++))``."""

_PLAIN_NUMBER = re.compile(r"[\"']?(?:0|[1-9]\d*)[\"']?|\$\(\([^()]*\)\)")
"""A value that is a number as it is; another zero makes it octal."""

_SETTING = frozenset({*_SETTERS, "command", "builtin", ".", "source", "eval", "let", "printf", "set", "shift", "trap"})
"""Commands that may set variables, or run one that does."""

_CONDITIONS = 2
"""Branches that are looked at to decide about another one."""

_ALL_LINES = re.compile(r"(?:-r -d|-rd) ''|-d '' -r")
"""Options with which `read` reads up to the end; without `-r` it takes backslashes away."""

_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")
"""A command whose output is put in: what is named inside is not added to."""
_SETS = re.compile(r"(?:^[\"']?|[;&|\n]\s*|\bexport\s+)[A-Za-z_]\w*\+?=")
"""An assignment in a text that is evaluated."""


_SETS_BY_NAME = re.compile(r"(?:^[\"']?|[;&|\n]\s*|\bexport\s+)\w*\$(?:\w+|\{[^{}\s]*\})[\"']?\w*\+?=")
"""An assignment there to a variable whose name another one holds: ``eval "$name=8g"``."""


class AssignmentReader:
    """Notes on the variables of ``words`` what nodes do to them."""

    def __init__(self, words: WordReader, conditions: Conditions | None = None) -> None:
        self.words = words
        self.conditions = conditions
        """What decides about the branches of a text that is followed; None where all of them are looked at."""
        self.deciding: set[int] = set()
        self.tree = words.tree
        self.variables = words.variables
        self.others = OtherCalls(words)
        self.branches = Branches(words.tree)
        self.anything: object = None
        """After which notes anything may have been set last."""
        self.readonly: dict[str, int] = {}
        """Variables that can be set no more, and from where on."""
        self.references: set[str] = set()
        """Variables that stand for others, whose names are not known."""
        self.integers: set[str] = set()
        """Variables for which the shell computes what is assigned."""
        self.held: dict[str, set[Held]] = {}
        """What kinds of values variables are set to."""

    def note(self, node: Node) -> None:
        """What a node does to variables."""
        kind = node.type
        if kind == "variable_assignment":
            self._assignment(node)
        elif kind == "expansion":
            self._default(node)
        elif kind in ("for_statement", "c_style_for_statement", "select_statement"):
            name = next((c for c in node.children if c.type == "variable_name"), None)
            if name is not None:
                over = [*map(self.tree.raw, node.children_by_field_name("value"))] if kind == "for_statement" else ["1"]
                self._unknown(self.tree.raw(name), node, held="argument" if over in ([], ['"$@"']) else "other")
                self._note_options(self.tree.raw(name), over)
            for each in node.children_by_field_name("update"):
                self._arithmetic(self.tree.raw(each), each)
        elif kind == "unset_command":
            for child in node.named_children:
                self._unset(child, node)
        elif kind == "arithmetic_expansion" or (kind == "compound_statement" and self.tree.is_arithmetic(node)):
            self._arithmetic(self.tree.raw(node), node)
        elif kind == "declaration_command":
            self._declaration(node)
        elif kind == "command":
            self._command(node)

    def _note_options(self, name: str, values: Iterable[str]) -> None:
        """Note a variable of whose values, as they are written, one is an option."""
        if any(value.lstrip("\"'").startswith("-") for value in values):
            self.variables.for_options.add(name)

    def _unknown(self, name: str, node: Node, because: Cause | None = None, held: Held = "other") -> None:
        function = self.tree.function_of(node)
        self.held.setdefault(name, set()).add(held if function is None else "other")
        made = Assignment(
            self.tree.at(node), nothing, function=function, because=because, shell=self.tree.shell_of(node)
        )
        self.variables.note(name, made)

    def _anything(self, node: Node) -> None:
        """A command after which any variable may have another value; one of several in a row says so for all."""
        known = self.variables.noted, len(self.variables.calls), self.tree.function_of(node)
        if known != self.anything:
            self._unknown(ANY, node, self._by(node))
            self.anything = self.variables.noted, *known[1:]

    def _by(self, node: Node) -> Cause:
        """A command as the reason why something is not known."""
        raw = " ".join(self.tree.raw(node).split())
        return Cause("command", raw if len(raw) <= 40 else f"{raw[:39]}…")

    def finish(self) -> None:
        """Note what commands may do that could not be told before all others were noted."""
        for name, node, later in list(self.others.changes()):
            if not later:
                self._unknown(name, node, self._by(node))
                continue
            for function in (None, *self.variables.names):
                since = 0 if function is not None else self.tree.at(node)
                made = Assignment(END - 1, nothing, function=function, because=self._by(node), loop=(since, END))
                self.variables.note(name, made)

    def _unset(self, word: Node, node: Node) -> None:
        """A variable that is set no more. The separators of words are the usual ones then."""
        if self.tree.raw(word) != SEPARATORS:
            self._named(word, node)
            return
        function, branch = self.tree.function_of(node), self.tree.branch_of(node)
        shell = self.tree.shell_of(node)
        made = Assignment(self.tree.end_of(node), usual_separators, branch=branch, function=function, shell=shell)
        self.variables.note(SEPARATORS, made)

    def _named(self, word: Node, node: Node) -> None:
        """A variable that a word of a command names; any may be, where the name is not known."""
        raw = self.tree.raw(word)
        found = _NAME.match(raw) or _NAMED_VALUE.match(raw)
        if found is not None:
            self._unknown(found[1], node)
        elif "$" in raw or "`" in raw:
            self._anything(node)

    def _arithmetic(self, raw: str, node: Node) -> None:
        """The variables that an arithmetic expression sets."""
        for found in _ARITHMETIC.finditer(raw):
            name = found[1] or found[2]
            if name.startswith("$"):
                self._anything(node)
            else:
                self._unknown(name, node)

    def _declaration(self, node: Node) -> None:
        """``export $(…)`` sets what is not known; ``local X`` makes a variable of the function's own."""
        words = (self.tree.raw(c) for c in node.named_children if c.type == "word")
        options = "".join(word for word in words if word[:1] == "-")
        if "i" in options:
            named = (child.child_by_field_name("name") or child for child in node.named_children)
            self.integers.update(self.tree.raw(name) for name in named if name.type == "variable_name")
        for child in node.named_children:
            if child.type == "variable_assignment":
                name = child.child_by_field_name("name")
                if "n" in options and name is not None:
                    self.references.add(self.tree.raw(name))
                if name is not None and ("r" in options or self.tree.raw(node.children[0]) == "readonly"):
                    self.readonly[self.tree.raw(name)] = self.tree.end_of(node)
            elif child.type == "variable_name":
                if "f" in options:
                    self.variables.unread_calls.add(self.tree.raw(child))
                elif "n" in options:
                    self.references.add(self.tree.raw(child))
                elif self.tree.is_local(child):
                    function = self.tree.function_of(node)
                    self.variables.note(
                        self.tree.raw(child), Assignment(self.tree.end_of(child), Buffer, function=function, local=True)
                    )
            elif child.type in _COMPUTED:
                self._named(child, node)

    def _command(self, node: Node) -> None:
        """The variables that a command sets: ``read``, ``.``, ``eval``; the function that it calls."""
        first = next((c for c in node.named_children if c.type != "variable_assignment"), None)
        if first is None or not (self.others.is_needed or self.tree.raw(first) in _SETTING):
            return
        if self.others.is_needed and self.others.calls_another(node):
            self._anything(node)
        parts = [c for c in node.named_children if c.type != "variable_assignment"]
        while parts and self.tree.raw(parts[0]) in ("command", "builtin"):
            parts = parts[1:]
        if not parts:
            return
        name, rest = self.tree.raw(parts[0]), parts[1:]
        if self.variables.functions and (self.tree.raw(first) == name or name not in self.variables.functions):
            self._calls(name, node, rest)  # `command name` starts the program of that name
        self._sets(name, node, rest)

    def _sets(self, name: str, node: Node, rest: Sequence[Node]) -> None:
        """What a command of the shell itself sets."""
        if name in SOURCES:
            if not rest or not sets_nothing(self.tree.raw(rest[0])):
                self._sourced(node, rest)
        elif name == "trap":
            self.others.note_trap(node, rest)
        elif name == "eval":
            self._evaluation(node, rest)
        elif name == "printf":
            self._printf(node, rest)
        elif name == "set" and _SETS_ARGUMENTS.match(self.tree.raw(node)):
            self.variables.sets_arguments = True
            if are_options(self.words.arguments(rest)[1:2]):
                self.variables.for_options.update("123456789")
            words = rest[1:] if self.tree.raw(rest[0]) == "--" else rest
            self._arguments(node, partial(self._set_to, node, words), words)
        elif name == "shift":
            number = whole_number(self.tree.raw(rest[0])) if rest else 1
            self._arguments(node, partial(self._shifted, node, number), ())
        elif name == "let":
            for part in rest:
                self._arithmetic(self.tree.raw(part), node)
        elif name in _SETTERS:
            self._setter(name, node, rest)

    def _sourced(self, node: Node, rest: Sequence[Node]) -> None:
        """What a file sets that the shell reads: any variable, unless the file is known. Its name is put in before."""
        names, function = frozenset({ANY}), self.tree.function_of(node)
        if self.variables.set_by_file is not None and function is None and self.tree.loop_of(node) is None:
            word = next(iter(self.words.arguments(rest[:1])), None)
            names = self.variables.set_by_file(word.text) if word is not None and not word.unknown else names
        at, shell = self.tree.end_of(node), self.tree.shell_of(node)
        for name in sorted(names):
            made = Assignment(at, nothing, function=function, because=self._by(node), shell=shell)
            self.variables.note(name, made)

    def _arguments(self, node: Node, made: Callable[[], Value], words: Sequence[Node]) -> None:
        """``set -- …``, with its words, and ``shift`` outside of functions. Those in them are noted with the calls.

        What is put before ``"$@"`` may stand before an image that was among the arguments: only what is behind it
        lengthens them.
        """
        if self.tree.function_of(node) is not None:
            return
        loop = self.tree.loop_of(node)
        lengthens = bool(words) and self.tree.raw(words[0]) in ('"$@"', '"${@}"')
        again = loop is not None and not lengthens and ARGUMENT.search(self.tree.raw(node)) is not None
        value, branch = nothing if again else self._computed_once(made), self.tree.branch_of(node)
        self.variables.note(ARGUMENTS, Assignment(self.tree.end_of(node), value, False, branch, lengthens, loop=loop))

    def _set_to(self, node: Node, words: Sequence[Node]) -> list[Word] | None:
        """The arguments after ``set -- …``; None where they depend on themselves."""
        if node.id in self.deciding:
            return None
        self.deciding.add(node.id)
        try:
            return self._given(node, words)
        finally:
            self.deciding.discard(node.id)

    def _shifted(self, node: Node, number: int | None) -> list[Word] | None:
        """The arguments after ``shift``; None where it is in a loop, or one that it takes away may be several."""
        if number is None or self.tree.loop_of(node) is not None:
            return None
        before = self.variables.value(ARGUMENTS, self.tree.at(node), None)
        return some_words(before, number, None) if isinstance(before, list) else None

    def _setter(self, name: str, node: Node, rest: Sequence[Node]) -> None:
        """``read`` and its like, which set the variables that they name."""
        words = [child for child in rest if child.type != "herestring_redirect"]
        given = (self._given_line(node, words) or self._given_document(node, words)) if name == "read" else None
        if given is not None:
            self._assign(self.tree.raw(words[-1]), node, given, self.tree.branch_of(node))
            return
        lines = [self.tree.raw(child.named_children[-1]) for child in rest if child.type == "herestring_redirect"]
        for child in self._names(name, words):
            self._note_options(self.tree.raw(child), lines)
            if name == "getopts" and len(words) == 2 and child.type == "word":
                self._unknown(self.tree.raw(child), node, held="letter")
            else:
                self._named(child, node)
        if name in ("mapfile", "readarray") and any(self.tree.raw(word).startswith("-C") for word in words):
            self.others.texts.append((node, self.tree.raw(node)))  # a function that it calls

    def _names(self, name: str, words: Sequence[Node]) -> Iterator[Node]:
        """The words of a command that name variables, by what its options are."""
        if name == "getopts":
            yield from words[1:2]
            return
        before = ""
        for child in words:
            raw = self.tree.raw(child)
            is_option = raw.startswith("-")
            valued = before.startswith("-") and before[-1] in _SETTERS[name]
            if not is_option and not valued and (name != "wait" or before == "-p"):
                yield child
            before = "" if valued else raw

    def _given_line(self, node: Node, words: Sequence[Node]) -> Node | None:
        """The text of ``read -r NAME <<< text``; None where the command is another one, or reads more or less of it."""
        given = next((child for child in node.children if child.type == "herestring_redirect"), None)
        if given is None or not given.named_children or [*map(self.tree.raw, words[:-1])] not in ([], ["-r"]):
            return None
        text, plain = given.named_children[-1], words and words[-1].type == "word"
        raw = self.tree.raw(text)
        return text if plain and text.type in ("string", "raw_string") and "\n" not in raw and "\\" not in raw else None

    def _given_document(self, node: Node, words: Sequence[Node]) -> Node | None:
        """The here-document of ``read -r -d '' NAME <<EOF``, of which the variable gets all lines; else None."""
        around = self.tree.parents.get(node.id)
        redirects = around.named_children[1:] if around is not None and around.type == "redirected_statement" else ()
        options = " ".join(map(self.tree.raw, words[:-1])).replace('"', "'")
        whole = _ALL_LINES.fullmatch(options) is not None and words[-1].type == "word"
        return redirects[0] if whole and len(redirects) == 1 and redirects[0].type == "heredoc_redirect" else None

    # Functions -------------------------------------------------------------------------------

    def _calls(self, name: str, node: Node, rest: Sequence[Node]) -> None:
        """The functions that a command calls, or may call by a name that it is given or that is computed."""
        tree, known = self.tree, self.variables.functions
        if name in _BEFORE_CALL:
            behind = [part for part in rest if tree.raw(part) != "-p"]
            if behind and tree.raw(behind[0]) in known:
                name, rest = tree.raw(behind[0]), behind[1:]
        if name in known:
            given = partial(self._given, node, rest)
            sets = tuple((name, self._once(value)) for name, value in tree.set_for(node))
            place = tree.branch_of(node), tree.function_of(node)
            call = Call(tree.at(node), name, *place, given, sets, tree.shell_of(node))
            self.variables.call(call)
            self.variables.set_for_calls.update(name for name, _ in sets)
        elif name == "shift" or (name == "set" and _SETS_ARGUMENTS.match(tree.raw(node))):
            number = tree.raw(rest[0]) if rest else "1"
            count = whole_number(number) if name == "shift" else None
            moved = Moved(tree.at(node), count, tree.branch_of(node), tree.function_of(node), tree.loop_of(node))
            self.variables.moved.append(moved)
        if name.strip("\"'") in ("$@", "${@}", "$1", "${1}", "$*"):
            self.variables.unread_calls.add(ANY)
        elif "$" in name:
            pattern = re.sub(r"\\\$(?:\\\{.*?\\\}|\w+)", ".*", re.escape(name.strip("\"'")))
            if pattern != ".*":
                self.variables.unread_calls |= {function for function in known if re.fullmatch(pattern, function)}
        elif known and (name in known or name in _CALLERS):
            words = {word for child in rest for word in re.findall(r"[\w.:-]+", tree.raw(child))}
            words -= {"run", "create"} if mentions_engine(tree.raw(node)) else set()  # `run docker run`
            self.variables.unread_calls |= words & known.keys()

    def _given(self, node: Node, rest: Sequence[Node]) -> list[Word]:
        """The arguments of a call."""
        place = self.tree.span(node)
        return [
            word._replace(array=place) if word.array is None and word.used is None else word
            for word in self.words.arguments(rest)
        ]

    def _held_functions(self, value: Node) -> None:
        """A function whose name is put into a variable may be called by that."""
        if not self.variables.functions:
            return
        items = value.named_children if value.type == "array" else [value]
        names = (re.match(r"[\"']*(?:\$\{\w+:?[-=])?([\w.:-]+)", self.tree.raw(item)) for item in items)
        self.variables.unread_calls |= {name[1] for name in names if name} & self.variables.functions.keys()

    # Assignments ----------------------------------------------------------------------------------

    def _evaluation(self, node: Node, parts: Sequence[Node]) -> None:
        """``eval`` sets what its text assigns; where that is not known, anything."""
        raw = " ".join(map(self.tree.raw, parts))
        if _SETS_BY_NAME.search(raw) is not None:
            self._anything(node)
            return
        first = re.match(r"\"?\$\{?(\w+)\}?(?![\w}])", raw)
        if first is not None and first[1] in self.variables.made and _SETS.search(raw) is None:
            values = [made.value() for made in self.variables.made[first[1]]]
            texts = [_text_of(value) for value in values if value is not None]
            if len(texts) == len(values) and not any(_SETS.search(text) for text in texts):
                self.others.texts += ((node, text) for text in texts)
                return
        elif mentions_engine(raw) and _SETS.search(raw) is None:
            self.others.texts.append((node, raw.strip("\"'")))
            return
        words = raw.strip("\"'").split() if re.search(r"[;&|\n]", raw) is None else ()
        named = [_NAMED_VALUE.match(word) for word in words]
        # `eval "NAME=\\$$1"`; behind the first name any other word may be a command, if it is not known.
        if named and named[0] is not None and not any(re.match(r"[\\\"']*[$`]", word) for word in words):
            for found in filter(None, named):
                self._unknown(found[1], node)
        else:
            self._anything(node)

    def _printf(self, node: Node, parts: Sequence[Node]) -> None:
        """``printf -v NAME '%s' VALUE`` assigns one word; a value that may be several words is not known."""
        if not parts or not self.tree.raw(parts[0]).startswith("-v"):
            return
        if len(parts) < 2 or self.tree.raw(parts[0]) != "-v":
            self._anything(node)  # -v"$1"
            return
        found = _NAME.match(self.tree.raw(parts[1]))
        if found is None:
            self._named(parts[1], node)
            return
        name = found[1]
        one_word = len(parts) == 4 and parts[3].type in ("string", "raw_string", "word", "number")
        if one_word and self.tree.raw(parts[2]).strip("'\"") == "%s":
            self._assign(name, node, parts[3], self.tree.branch_of(node))
        else:
            self._unknown(name, node)

    def _default(self, node: Node) -> None:
        """``${NAME:=value}`` sets a variable that is not set."""
        name = node.named_children[0] if node.named_children else None
        operator = next((c.type for c in node.children if c.type in (":=", "=")), "")
        if name is not None and name.type == "variable_name" and operator:
            self._assign(self.tree.raw(name), node, node, self.tree.branch_of(node))

    def _assignment(self, node: Node) -> None:
        """An assignment, unless it is one before a command, which only that command sees."""
        parent = self.tree.parents.get(node.id)
        if parent is not None and parent.type == "command" and not self.tree.is_separate(node, parent):
            return
        name = node.child_by_field_name("name")
        if name is None:
            return
        if name.type == "subscript":  # A[0]=…: the array is no longer what its literal says
            inner = name.named_children[0] if name.named_children else name
            self._unknown(self.tree.raw(inner), node)
            return
        text = self.tree.raw(name)
        if text in self.references:
            self._anything(node)
            return
        value = node.child_by_field_name("value")
        if value is not None and self.variables.functions:
            self._held_functions(value)
        self._assign(text, node, value, self.tree.branch_of(node))

    def _assign(self, name: str, node: Node, value: Node | None, branch: Range | None) -> None:
        if self.readonly.get(name, END) < self.tree.at(node):  # the shell refuses it
            self._unknown(name, node)
            return
        append = any(child.type == "+=" for child in node.children)
        raw = self.tree.raw(value) if value is not None else ""
        if name in self.integers and (append or _PLAIN_NUMBER.fullmatch(raw) is None):
            self._unknown(name, node)
            return
        beside = _SUBSTITUTION.sub("", raw) if "(" in raw or "`" in raw else raw
        lengthens = f"${name}" in beside or f"${{{name}" in beside
        loop, function = self.tree.loop_of(node), self.tree.function_of(node)
        first = function is None and not append and raw.strip('"') in ("$1", "${1}")
        self.held.setdefault(name, set()).add("argument" if first else "other")
        decided = self.conditions is not None and branch is not None and function is None
        made = Assignment(
            self.tree.end_of(node), self._once(value), append, branch, lengthens, function, self.tree.is_local(node),
            loop, is_made=partial(self._is_made, node) if decided else nothing, shell=self.tree.shell_of(node),
            settled=partial(self.branches.settled, node, name) if branch is not None else nothing,
        )  # fmt: skip
        self.variables.note(name, made)

    def _is_made(self, node: Node) -> bool | None:
        """Whether the branches around an assignment are taken; None where that is not known."""
        if self.conditions is None or node.id in self.deciding or len(self.deciding) >= _CONDITIONS:
            return None
        self.deciding.add(node.id)
        try:
            if self.tree.loop_of(node) is not None:
                arguments = self.variables.all_arguments()
                return is_asked_for(node, self.tree, arguments, self.held) if arguments is not None else None
            return is_made(node, self.conditions)
        finally:
            self.deciding.discard(node.id)

    def _once(self, node: Node | None) -> Callable[[], Value]:
        """What an assignment assigns, computed once for each call that is looked at."""
        return self._computed_once(partial(self.words.assigned, node))

    def _computed_once(self, compute: Callable[[], Value]) -> Callable[[], Value]:
        known: dict[object, Value] = {}

        def value() -> Value:
            variables = self.variables  # while the text is noted, what is not known yet may be later
            key = variables.looked_at(), variables.noted, len(variables.calls)
            if key not in known:
                known[key] = compute()
            return known[key]

        return value


def _text_of(value: Buffer | list[Word]) -> str:
    """A text, or the words of an array."""
    return " ".join(word.text for word in value) if isinstance(value, list) else "".join(value.chars)
