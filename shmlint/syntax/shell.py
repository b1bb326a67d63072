"""The commands of a shell text: their words, with variables that the text itself sets followed.

tree-sitter-bash reads the syntax. A variable that is assigned once is followed; what hangs on a
branch, on an argument or on another program stays unknown.
"""

from __future__ import annotations

import re
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Literal

from shmlint.model.record import NamedTuple
from shmlint.model.source import Span, character_offsets
from shmlint.syntax.shell_text import ShellText, has_placeholder, not_set, place, restore
from shmlint.syntax.word import Word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

NESTING = 4
"""Commands inside quoted commands are followed this deep."""

_EXPANSIONS = 50
"""Expansions inside expansions are followed this deep: ``${A:-${B:-…}}``."""

_ASSIGNMENTS = 100
"""A variable that is set more often than this is not followed."""

_TALKERS = frozenset(
    {
        "echo", "printf", "cat", "grep", "egrep", "fgrep", "sed", "awk", "log", "info", "warn", "warning",
        "error", "die", "fail", "usage", "print", "git", "test", "[", "[[", "msg", "say", "fatal", "abort",
        "notice", "debug", "success", "note", "read", "alias", "trap", "export", "type", "which", "gum",
    }
)  # fmt: skip
"""Commands whose arguments are talk, not commands: what they print starts nothing."""

_RUNNERS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ssh", "su", "sudo", "tee", "srun", "pdsh"})
"""Commands that run the here-document they are given."""

_READERS = frozenset({"eval", "ssh", "bash", "sh", "zsh", "dash", "ksh"})
"""Commands that read a variable's text as a command line."""

_JOINING = frozenset({"eval", "ssh", "watch", "parallel"})
"""Commands that join their arguments to a text, which a shell reads again."""

_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts"})

_BRANCHES = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_item", "while_statement", "for_statement",
     "c_style_for_statement", "subshell", "pipeline", "list", "command_substitution"}
)  # fmt: skip


When = Literal["always", "perhaps", "never", "value"]
"""Whether a command runs: ``never`` where a ``case`` is known to go elsewhere, ``value`` where it only gives a
value that another command uses."""


class Command(NamedTuple):
    """One simple command: its words, assignments in front included. ``span`` is all of it."""

    words: tuple[Word, ...]
    span: Span
    nested: bool = False
    when: When = "always"


@cache
def _parser(thread: int) -> Parser:
    """A parser of the thread's own: two threads must not share one."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Buffer:
    """Characters of a word under way, each with its place in the file (-1: none) and whether it
    may split the word; and the stretches that are not known."""

    __slots__ = ("chars", "harmless", "offsets", "options", "quoted", "splits", "unknown")

    def __init__(self) -> None:
        self.chars: list[str] = []
        self.offsets: list[int] = []
        self.splits: list[bool] = []
        self.unknown: list[tuple[int, int, str, bool]] = []
        self.quoted = False
        self.harmless = False
        """Its unknown stretches hold nothing that matters."""
        self.options = False
        """Its unknown stretches hold options."""

    def add(self, text: str, offsets: Sequence[int] = (), splits: bool = False) -> None:
        self.chars += text
        self.offsets += offsets or [-1] * len(text)
        self.splits += [splits] * len(text)

    def add_unknown(self, text: str, offsets: Sequence[int], because: str, many: bool) -> None:
        start = len(self.chars)
        self.add(text, offsets)
        self.unknown.append((start, len(self.chars), because, many))

    def extend(self, other: _Buffer, splits: bool) -> None:
        start = len(self.chars)
        self.chars += other.chars
        self.offsets += other.offsets
        flags = [splits] * len(other.chars)
        for a, b, _, _ in other.unknown:  # `$(a b)` is one piece, whatever stands in it
            flags[a:b] = [False] * (b - a)
        self.splits += flags
        self.harmless = other.harmless and (self.harmless or not self.unknown)
        self.options = self.options or other.options
        self.unknown += [(a + start, b + start, why, many and splits) for a, b, why, many in other.unknown]


class _Assignment(NamedTuple):
    at: int
    append: bool
    value: _Buffer | list[Word] | None
    """A text, an array, or None where what is assigned is not known."""
    branch: tuple[int, int] | None
    """The range of the branch it is made in; None where it is always made."""
    lengthens: bool = False
    """The new value holds the old one: ``ARGS="$ARGS --rm"``."""


class Variables:
    """What a text assigns, by name, in order."""

    def __init__(self, unset: Callable[[str], str] = not_set) -> None:
        self.made: dict[str, list[_Assignment]] = {}
        self.unset = unset

    def note(self, name: str, assignment: _Assignment) -> None:
        self.made.setdefault(name, []).append(assignment)

    def _has_role(self, name: str) -> bool:
        """Whether a variable is for devices, volumes and the like by its name, and one of its
        values, known and harmless, bears that out."""
        if not any(role in name.lower() for role in _ROLES):
            return False
        return any(
            isinstance(made.value, _Buffer) and made.value.chars and not made.value.unknown and _harmless(made.value)
            for made in self.made[name]
        )

    def value(self, name: str, at: int, in_function: bool) -> _Buffer | list[Word] | str:
        """What a variable holds where it is used; a text says why that is not known."""
        state: _Buffer | list[Word] | str = self.unset(name)
        if len(self.made.get(name, ())) > _ASSIGNMENTS:
            return f"variable {name} is set in many ways"
        for made in self.made.get(name, ()):
            if made.at >= at and not in_function:
                break
            if made.branch is not None and not made.branch[0] <= at < made.branch[1]:
                state = _perhaps(name, state, made, self._has_role(name))
            elif made.value is None:
                state = f"variable {name} is set from elsewhere"
            elif not made.append or isinstance(state, str):
                state = made.value if not made.append else state
                if made.append and name in self.made and self.made[name][0] is made:
                    state = made.value
            elif isinstance(state, list) and isinstance(made.value, list):
                state = state + made.value
            elif isinstance(state, _Buffer) and isinstance(made.value, _Buffer):
                joined = _Buffer()
                joined.extend(state, False)
                joined.extend(made.value, False)
                state = joined
            else:
                state = f"variable {name} is set in several ways"
        return state


def _perhaps(
    name: str, state: _Buffer | list[Word] | str, made: _Assignment, has_role: bool
) -> _Buffer | list[Word] | str:
    """What a variable holds behind an assignment that may not have been made."""
    unsure = f"variable {name} is set in one branch only"
    lengthens = made.append or made.lengthens
    harmless = has_role or (_harmless(made.value) and (lengthens or isinstance(state, str) or _harmless(state)))
    glued = lengthens and isinstance(state, _Buffer) and _is_glued(state, made)
    options = has_role or (not glued and _are_options(made.value)) or _are_options(state)
    word = Word(f"${{{name}}}", None, unsure, True, harmless, options)
    if isinstance(state, list):
        return [*state, word] if lengthens else [word]
    if isinstance(state, str) and isinstance(made.value, list):
        return [word]
    longer = _Buffer()
    if lengthens and isinstance(state, _Buffer) and not glued:
        longer.extend(state, False)
        longer.add(" ")
    longer.add_unknown(word.text, (), unsure, True)
    kept = isinstance(state, _Buffer) and lengthens and bool(state.unknown) and not state.harmless
    longer.harmless = harmless and not kept
    longer.options = options
    return longer


def _is_glued(state: _Buffer, made: _Assignment) -> bool:
    """Whether what is added goes on where the last word ended: ``IMAGE+=-gpu``."""
    if not isinstance(made.value, _Buffer) or not state.chars or state.chars[-1].isspace():
        return False
    chars = made.value.chars if made.append else made.value.chars[len(state.chars) :]
    return bool(chars) and not chars[0].isspace()


def _are_options(value: _Buffer | list[Word] | str | None) -> bool:
    """Whether a value begins with an option."""
    if isinstance(value, _Buffer):
        return "".join(value.chars[:200]).lstrip().startswith("-") or value.options
    return isinstance(value, list) and any(word.text.startswith("-") or word.options for word in value)


_ROLES = ("device", "volume", "mount", "port", "user", "label", "hostname")

_TELLING = (
    "shm", "ipc", "gpu", "/dev/shm", "/dev:", "/dev ", "/dev/nvidia", "/dev/kfd", "runtime", "nvidia", "amd.com",
    "privileged", "mount", "tmpfs",
)  # fmt: skip
"""What an option must contain to matter here."""


def _harmless(value: _Buffer | list[Word] | str | None) -> bool:
    """Whether a value holds nothing that decides GPUs or /dev/shm, whatever its variables are."""
    if value is None or isinstance(value, str):
        return False
    if isinstance(value, list):
        if any(word.maybe_many and not word.harmless for word in value):
            return False
        text = " ".join(word.text for word in value)
    else:
        text = "".join(value.chars)
        for start, end, _, _ in value.unknown:
            before, after = text[start - 1 : start], text[end : end + 1]
            alone = (not before or before in " \t") and (not after or after in " \t")
            # A whole word of its own could be any option, unless it follows one that takes a value.
            if not value.harmless and alone and not text[:start].rstrip().rpartition(" ")[2].startswith("-"):
                return False
    lowered = text.lower().replace("--mount type=bind", "").replace("--mount=type=bind", "")
    return not any(word in lowered for word in _TELLING)


def commands(text: ShellText, given: Variables | None = None) -> Iterator[Command]:
    """Every simple command of a shell text, those in substitutions and quoted commands too.

    ``given`` are variables that something around the text sets (a Makefile's).
    """
    yield from _Reader(_with_backslashes(_without_comments(text)), given or Variables(), 0).read()


def given(values: Mapping[str, str]) -> Variables:
    """Variables that are set before a text runs: its environment, and its arguments by their numbers."""
    variables = Variables()
    for name, value in values.items():
        buffer = _Buffer()
        buffer.add(value, (), True)
        variables.note(name, _Assignment(-1, False, buffer, None))
    return variables


def exports(text: ShellText, before: Variables | None = None) -> Iterator[tuple[str, Word]]:
    """What a text exports to the programs it starts, in its order."""
    reader = _Reader(_with_backslashes(_without_comments(text)), before or Variables(), 0)
    for node in _walk(reader.root):
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
    """Blanks in the place of `` `# comments` ``, whose last backtick the grammar takes for a part of the comment."""
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
        if not inside and _CONTINUED.fullmatch(line) and (continued or re.search("docker|podman", line)):
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
        self.root = _root(text.text)
        self.chars = character_offsets(text.text)
        self.variables = Variables(text.unset)
        self.variables.made = {name: list(made) for name, made in variables.made.items()}

    def char(self, byte: int) -> int:
        return byte if self.chars is None else self.chars[byte]

    def raw(self, node: Node) -> str:
        return self.text.text[self.char(node.start_byte) : self.char(node.end_byte)]

    def at(self, node: Node) -> int:
        """Where a node starts in the file."""
        return self.text.offset(self.char(node.start_byte))

    def offsets(self, start: int, end: int) -> Sequence[int]:
        return self.text.offsets[start:end]

    def read(self) -> Iterator[Command]:
        nodes = list(_walk(self.root))
        for node in nodes:
            if node.type == "variable_assignment":
                self._note(node)
            elif node.type in ("for_statement", "c_style_for_statement"):
                name = next((c for c in node.children if c.type == "variable_name"), None)
                if name is not None:
                    self._unknown(self.raw(name), node)
            elif node.type == "unset_command":
                for child in node.named_children:
                    if child.type == "variable_name":
                        self._unknown(self.raw(child), node)
            elif node.type == "command":
                self._note_setter(node)
        for node in nodes:
            if node.type == "command":
                yield from self._command(node)
            elif node.type == "heredoc_body":
                yield from self._heredoc(node)

    def _unknown(self, name: str, node: Node) -> None:
        self.variables.note(name, _Assignment(self.at(node), False, None, None))

    def _note_setter(self, node: Node) -> None:
        children = node.named_children
        if not children or self.raw(children[0]) not in _SETTERS:
            return
        for child in children[1:]:
            if child.type == "word" and not self.raw(child).startswith("-"):
                self._unknown(self.raw(child), node)

    def _note(self, node: Node) -> None:
        """An assignment, unless it is one in front of a command, which only that command sees."""
        parent = node.parent
        if parent is not None and parent.type == "command":
            return
        name = node.child_by_field_name("name")
        if name is None:
            return
        if name.type == "subscript":  # A[0]=…: the array is no longer what its literal says
            inner = name.named_children[0] if name.named_children else name
            self._unknown(self.raw(inner), node)
            return
        append = any(child.type == "+=" for child in node.children)
        value = node.child_by_field_name("value")
        branch = self._branch(node)
        text = self.raw(name)
        if value is None:
            self.variables.note(text, _Assignment(self.at(node), append, _Buffer(), branch))
        elif value.type == "array":
            place = self._span(value)
            words = [
                word if word.array is not None or word.used is not None else replace(word, array=place)
                for word in self._arguments([item for item in value.named_children if item.type != "comment"])
            ]
            self.variables.note(text, _Assignment(self.at(node), append, words, branch))
        else:
            buffer = _Buffer()
            self._add(buffer, value, quoted=True)
            # Where the variable is used without quotation marks, they may still become many words.
            buffer.unknown = [(start, end, why, True) for start, end, why, _ in buffer.unknown]
            raw = self.raw(value)
            lengthens = f"${text}" in raw or f"${{{text}}}" in raw
            self.variables.note(text, _Assignment(self.at(node), append, buffer, branch, lengthens))

    def _branch(self, node: Node) -> tuple[int, int] | None:
        """The range in which an assignment is sure to have been made; None: everywhere behind it."""
        here: Node | None = node
        while here is not None and here.parent is not None:
            parent = here.parent
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

    def _when(self, node: Node) -> When:
        """Whether the branches around a command are taken."""
        perhaps = False
        here = node.parent
        while here is not None:
            if here.type == "case_item" and here.parent is not None:
                taken = self._is_taken(here, here.parent)
                if taken is False:
                    return "never"
                perhaps = perhaps or taken is None
            elif here.type in ("command_substitution", "process_substitution"):
                return "value"
            elif here.type in ("if_statement", "while_statement"):
                perhaps = True
            here = here.parent
        return "perhaps" if perhaps else "always"

    def _is_taken(self, item: Node, case: Node) -> bool | None:
        """Whether a branch of a ``case`` is the one that is taken; None where the value is not known."""
        subject = case.child_by_field_name("value")
        found = self.words(subject) if subject is not None else []
        if len(found) != 1 or found[0].unknown:
            return None
        for other in case.named_children:
            if other.type != "case_item":
                continue
            patterns = [self.raw(value).strip("\"'") for value in other.children_by_field_name("value")]
            if any(fnmatchcase(found[0].text, pattern) for pattern in patterns):
                return other == item
        return False

    def _in_function(self, node: Node) -> bool:
        here: Node | None = node
        while here is not None:
            if here.type == "function_definition":
                return True
            here = here.parent
        return False

    def _command(self, node: Node) -> Iterator[Command]:
        words: list[Word] = []
        parts: list[Node] = []
        for child in node.children:
            if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect", "comment"):
                continue
            if child.type == "variable_assignment":
                words.append(self._assignment_word(child))
            elif child.type == "command_name":
                parts += child.named_children
            elif child.is_named or child.type in ("=", "==", "=~", "!="):
                parts.append(child)
        words += self._arguments(parts)
        if not words:
            return
        span = self._span(node) or self.text.home
        if not self.joined and self.depth < NESTING and _is_read_again(words):
            yield from self._again(words, span)
            return
        yield Command(tuple(words), span, self.depth > 0, self._when(node))
        yield from self._quoted(node, words)

    def _again(self, words: Sequence[Word], span: Span) -> Iterator[Command]:
        """The commands of words that are joined and read once more."""
        offsets: list[int] = []
        for word in words:
            offsets += [*(word.offsets if len(word.offsets) == len(word.text) else [-1] * len(word.text)), -1]
        joined = " ".join(word.text for word in words)
        text = ShellText(self.text.source, joined, offsets[:-1], span, unset=self.text.unset)
        reader = _Reader(text, self.variables, self.depth + 1)
        reader.joined = True
        yield from (command._replace(span=span) for command in reader.read())

    def _assignment_word(self, node: Node) -> Word:
        buffer = _Buffer()
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        buffer.add(f"{self.raw(name) if name is not None else ''}=")
        if value is not None and value.type != "array":
            self._add(buffer, value, quoted=True)
        return self._word(buffer, 0, len(buffer.chars), self._span(node))

    def _quoted(self, node: Node, words: Sequence[Word]) -> Iterator[Command]:
        """Commands in the quoted arguments of a command that runs them: ``bash -c``, ssh, tmux, …"""
        name = next((w.text.rpartition("/")[2] for w in words if "=" not in w.text), "")
        if self.depth >= NESTING or name in _TALKERS or name.startswith(("log", "print")):
            return
        for child in node.named_children:
            if name in _READERS and child.type in ("string", "simple_expansion", "expansion"):
                yield from self._held(child)
            if child.type not in ("string", "raw_string"):
                continue
            inside = self.raw(child)[1:-1]
            if ("docker" not in inside and "podman" not in inside) or " " not in inside:
                continue
            start = self.char(child.start_byte) + 1
            escapes = '$`"\\' if child.type == "string" else ""
            yield from self._nested(start, start + len(inside), escapes=escapes)

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
        buffer = _Buffer()
        self._add(buffer, inner, quoted=True)
        text = "".join(buffer.chars)
        home = place(self.text.source, buffer.offsets) or self._span(node) or self.text.home
        if " " not in text or not re.search("docker|podman", text) or buffer.unknown:
            return
        held = ShellText(self.text.source, text, buffer.offsets, home, unset=self.text.unset)
        yield from _Reader(held, self.variables, self.depth + 1).read()

    def _nested(self, start: int, end: int, *, escapes: str = "") -> Iterator[Command]:
        """Commands in a part of the text, in which a backslash hides the characters ``escapes``."""
        text, offsets, stands = self.text.text[start:end], self.offsets(start, end), self.text.stands[start:end]
        if escapes and "\\" in text:
            kept = list(_unescaped(text, escapes))
            text, offsets = "".join(text[i] for i in kept), [offsets[i] for i in kept]
            stands = [stands[i] for i in kept] if stands else ()
        home = self.text.span(start, end) or self.text.home
        nested = ShellText(self.text.source, text, offsets, home, stands, self.text.unset)
        yield from _Reader(nested, self.variables, self.depth + 1).read()

    def _heredoc(self, node: Node) -> Iterator[Command]:
        """A here-document that a shell is given is a script of its own."""
        inside = self.raw(node)
        if self.depth >= NESTING or ("docker" not in inside and "podman" not in inside):
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
        yield from self._nested(self.char(node.start_byte), self.char(node.end_byte), escapes=escapes)

    # Words -------------------------------------------------------------------------------

    def _arguments(self, nodes: Sequence[Node]) -> list[Word]:
        """The words of nodes; the parser cuts `"a"\\b` in two, so those that touch are one."""
        found: list[Word] = []
        start = 0
        for i, node in enumerate(nodes):
            if i + 1 == len(nodes) or nodes[i + 1].start_byte > node.end_byte:
                found += self.words(*nodes[start : i + 1])
                start = i + 1
            if len(found) > _MOST_WORDS:
                return [*found, Word("", None, f"it has more than {_MOST_WORDS} words", True)]
        return found

    def words(self, *nodes: Node) -> list[Word]:
        """The words an argument becomes: one, none, or as many as a variable holds."""
        array = self._array(nodes[0]) if len(nodes) == 1 else None
        if array is not None:
            return array
        buffer = _Buffer()
        for node in nodes:
            self._add(buffer, node, quoted=False)
        return self._split(buffer, self._span(nodes[0], nodes[-1]))

    def _array(self, node: Node) -> list[Word] | None:
        """The words of ``"${NAME[@]}"``; None where the node is something else."""
        inner = node
        if node.type == "string":
            if len(node.named_children) != 1:
                return None
            inner = node.named_children[0]
        if inner.type != "expansion" or not inner.named_children or inner.named_children[0].type != "subscript":
            return None
        subscript = inner.named_children[0]
        index = self.raw(subscript)
        if not index.endswith(("[@]", "[*]")):
            return None
        name = index.partition("[")[0]
        value = self.variables.value(name, self.at(node), self._in_function(node))
        if isinstance(value, list):
            return value
        if isinstance(value, _Buffer) and not len(inner.named_children) > 1:
            return self._split(value, self._span(node))
        because = value if isinstance(value, str) else "its elements are not known"
        return [Word(self.raw(node), self._span(node), because, True)]

    def _span(self, node: Node, last: Node | None = None) -> Span | None:
        return self.text.span(self.char(node.start_byte), self.char((last or node).end_byte))

    def _split(self, buffer: _Buffer, written: Span | None) -> list[Word]:
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

    def _word(self, buffer: _Buffer, start: int, end: int, written: Span | None) -> Word:
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

    def _add(self, buffer: _Buffer, node: Node, quoted: bool) -> None:
        if self.level > _EXPANSIONS:
            buffer.add_unknown(self.raw(node), self._at(node), "it is nested too deep", not quoted)
            return
        self.level += 1
        self._add_part(buffer, node, quoted)
        self.level -= 1

    def _add_part(self, buffer: _Buffer, node: Node, quoted: bool) -> None:
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
            buffer.add_unknown(self.raw(node), self._at(node), "a command gives it", not quoted)
        elif kind in ("brace_expression", "extglob_pattern"):
            buffer.add(self.raw(node), self._at(node))
        else:
            text = self.raw(node)
            if node.named_child_count:
                buffer.add_unknown(text, self._at(node), "it is worked out when it runs", not quoted)
            else:
                self._literal(buffer, self.char(node.start_byte), self.char(node.end_byte))

    def _parts(self, buffer: _Buffer, node: Node, quoted: bool) -> None:
        end = node.start_byte
        for child in node.children:
            if child.start_byte > end:
                a, b = self.char(end), self.char(child.start_byte)
                buffer.add(self.text.text[a:b], self.offsets(a, b))
            self._add(buffer, child, quoted)
            end = child.end_byte

    def _string(self, buffer: _Buffer, node: Node) -> None:
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

    def _quoted_literal(self, buffer: _Buffer, start: int, end: int) -> None:
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

    def _literal(self, buffer: _Buffer, start: int, end: int) -> None:
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

    def _ansi(self, buffer: _Buffer, start: int, end: int) -> None:
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

    def _variable(self, buffer: _Buffer, node: Node, name: str, quoted: bool) -> None:
        value = self.variables.value(name, self.at(node), self._in_function(node))
        if isinstance(value, list):
            value = f"variable {name} is an array"
        if isinstance(value, str):
            many = not quoted or name in ("@", "*")
            buffer.add_unknown(self.raw(node), self._at(node), value, many)
        else:
            buffer.extend(value, splits=not quoted)

    def _expansion(self, buffer: _Buffer, node: Node, quoted: bool) -> None:
        names = [c for c in node.children if c.type in ("variable_name", "special_variable_name", "subscript")]
        operators = [c for c in node.children if not c.is_named and c.type not in ("${", "}")]
        if len(names) == 1 and names[0].type == "variable_name" and not operators:
            self._variable(buffer, node, self.raw(names[0]), quoted)
            return
        raw = self.raw(node)
        first = raw[2:].lstrip("#!")
        name = ""
        while first[len(name) : len(name) + 1].isalnum() or first[len(name) : len(name) + 1] == "_":
            name += first[len(name)]
        operator = next((self.raw(o) for o in operators), "")
        if name and operator in (":-", "-", ":=", "=") and raw[2:].startswith(name):
            value = self.variables.value(name, self.at(node), self._in_function(node))
            if isinstance(value, _Buffer) and (value.chars or value.unknown):
                buffer.extend(value, splits=not quoted)
                return
            if name in self.variables.made and isinstance(value, str):
                buffer.add_unknown(raw, self._at(node), value, not quoted)
                return
            behind = [c for c in node.named_children if c.start_byte > operators[0].start_byte]
            fallback = _Buffer()
            for child in behind:
                self._add(fallback, child, quoted=True)
            buffer.extend(fallback, splits=not quoted)
            buffer.quoted = buffer.quoted or quoted
            return
        buffer.add_unknown(raw, self._at(node), self.text.unset(name or raw), not quoted)


def _is_read_again(words: Sequence[Word]) -> bool:
    """Whether a shell reads the words once more, and finds quotation marks in them."""
    names = {word.text.rpartition("/")[2] for word in words}
    return (
        not _JOINING.isdisjoint(names)
        and not names.isdisjoint({"docker", "podman", "nerdctl"})
        and any(mark in word.text for word in words for mark in "'\"\\")
        and not any(word.unknown for word in words if "'" in word.text or '"' in word.text)
    )


def _walk(root: Node) -> Iterator[Node]:
    """All nodes in the order of the text, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def comments(text: str) -> set[int]:
    """Where the comments of a shell script start."""
    offsets = character_offsets(text)
    starts = (node.start_byte for node in _walk(_root(text)) if node.type == "comment")
    return {start if offsets is None else offsets[start] for start in starts}


def _root(text: str) -> Node:
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
