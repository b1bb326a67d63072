"""The commands of a shell text: their words, with variables that the text itself sets followed.

tree-sitter-bash reads the syntax. A variable that is assigned once is followed; what hangs on a
branch, on an argument or on another program stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from shmlint.shell.text import ShellText, has_placeholder, place, restore
from shmlint.source import Span
from shmlint.word import Word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

NESTING = 4
"""Commands inside quoted commands are followed this deep."""

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

_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts", "unset"})

_BRANCHES = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_item", "while_statement", "for_statement",
     "c_style_for_statement", "subshell", "pipeline", "list", "command_substitution"}
)  # fmt: skip


class Command(NamedTuple):
    """One simple command: its words, assignments in front included. ``span`` is all of it."""

    words: tuple[Word, ...]
    span: Span
    nested: bool = False


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Buffer:
    """Characters of a word under way, each with its place in the file (-1: none) and whether it
    may split the word; and the stretches that are not known."""

    __slots__ = ("chars", "harmless", "offsets", "quoted", "splits", "unknown")

    def __init__(self) -> None:
        self.chars: list[str] = []
        self.offsets: list[int] = []
        self.splits: list[bool] = []
        self.unknown: list[tuple[int, int, str, bool]] = []
        self.quoted = False
        self.harmless = False
        """Its unknown stretches hold nothing that matters."""

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

    def __init__(self) -> None:
        self.made: dict[str, list[_Assignment]] = {}

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
        state: _Buffer | list[Word] | str = f"variable {name} is not set here"
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
    word = Word(f"${{{name}}}", None, unsure, True, harmless)
    if isinstance(state, list):
        return [*state, word] if lengthens else [word]
    if isinstance(state, str) and isinstance(made.value, list):
        return [word]
    longer = _Buffer()
    if lengthens and isinstance(state, _Buffer):
        longer.extend(state, False)
        longer.add(" ")
    longer.add_unknown(word.text, (), unsure, True)
    kept = isinstance(state, _Buffer) and lengthens and bool(state.unknown) and not state.harmless
    longer.harmless = harmless and not kept
    return longer


_ROLES = ("device", "volume", "mount", "port", "user", "label", "hostname")

_TELLING = ("shm", "ipc", "gpu", "/dev/shm", "/dev:", "/dev ", "/dev/nvidia", "/dev/kfd", "runtime", "nvidia", "amd.com", "privileged", "mount", "tmpfs")
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
            if not value.harmless and (not before or before in " \t") and (not after or after in " \t"):
                # A whole word of its own could be any option, unless it follows one that takes a value.
                if not text[:start].rstrip().rpartition(" ")[2].startswith("-"):
                    return False
    lowered = text.lower().replace("--mount type=bind", "").replace("--mount=type=bind", "")
    return not any(word in lowered for word in _TELLING)


def commands(text: ShellText, given: Variables | None = None) -> Iterator[Command]:
    """Every simple command of a shell text, those in substitutions and quoted commands too.

    ``given`` are variables that something around the text sets (a Makefile's).
    """
    yield from _Reader(text, given or Variables(), 0).read()


class _Reader:
    def __init__(self, text: ShellText, variables: Variables, depth: int) -> None:
        self.text = text
        self.depth = depth
        data = text.text.encode("utf-8", "surrogatepass")
        self.root = _parser().parse(data).root_node
        self.chars = None if text.text.isascii() else _character_offsets(text.text, len(data))
        self.variables = Variables()
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
            words = [word for item in value.named_children for word in self.words(item)]
            self.variables.note(text, _Assignment(self.at(node), append, words, branch))
        else:
            buffer = _Buffer()
            self._add(buffer, value, quoted=True)
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

    def _in_function(self, node: Node) -> bool:
        here: Node | None = node
        while here is not None:
            if here.type == "function_definition":
                return True
            here = here.parent
        return False

    def _command(self, node: Node) -> Iterator[Command]:
        words: list[Word] = []
        for child in node.children:
            if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect", "comment"):
                continue
            if child.type == "variable_assignment":
                words.append(self._assignment_word(child))
            elif child.type == "command_name":
                for part in child.named_children:
                    words += self.words(part)
            elif child.is_named or child.type in ("=", "==", "=~", "!="):
                words += self.words(child)
        if not words:
            return
        span = self._span(node) or self.text.home
        yield Command(tuple(words), span, self.depth > 0)
        yield from self._quoted(node, words)

    def _assignment_word(self, node: Node) -> Word:
        buffer = _Buffer()
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        buffer.add(f"{self.raw(name) if name is not None else ''}=")
        if value is not None and value.type != "array":
            self._add(buffer, value, quoted=True)
        return self._word(buffer, 0, len(buffer.chars), node)

    def _quoted(self, node: Node, words: Sequence[Word]) -> Iterator[Command]:
        """Commands in the quoted arguments of a command that runs them: ``bash -c``, ssh, tmux, …"""
        name = next((w.text.rpartition("/")[2] for w in words if "=" not in w.text), "")
        if self.depth >= NESTING or name in _TALKERS or name.startswith(("log", "print")):
            return
        for child in node.named_children:
            if child.type not in ("string", "raw_string"):
                continue
            inside = self.raw(child)[1:-1]
            if ("docker" not in inside and "podman" not in inside) or " " not in inside:
                continue
            start = self.char(child.start_byte) + 1
            yield from self._nested(start, start + len(inside), escaped=child.type == "string")

    def _nested(self, start: int, end: int, *, escaped: bool) -> Iterator[Command]:
        text, offsets = self.text.text[start:end], self.offsets(start, end)
        if escaped and "\\" in text:
            text, offsets = _unescaped(text, offsets)
        nested = ShellText(self.text.source, text, offsets, self.text.span(start, end) or self.text.home)
        yield from _Reader(nested, self.variables, self.depth + 1).read()

    def _heredoc(self, node: Node) -> Iterator[Command]:
        """A here-document that a shell is given is a script of its own."""
        inside = self.raw(node)
        if self.depth >= NESTING or ("docker" not in inside and "podman" not in inside):
            return
        statement = node.parent.parent if node.parent is not None else None
        command = next((c for c in statement.children if c.type == "command"), None) if statement else None
        if command is None:
            return
        names = [self.raw(c).rpartition("/")[2] for c in command.named_children]
        if not any(name in _RUNNERS for name in names[:3]):
            return
        yield from self._nested(self.char(node.start_byte), self.char(node.end_byte), escaped=False)

    # Words -------------------------------------------------------------------------------

    def words(self, node: Node) -> list[Word]:
        """The words an argument becomes: one, none, or as many as a variable holds."""
        array = self._array(node)
        if array is not None:
            return array
        buffer = _Buffer()
        self._add(buffer, node, quoted=False)
        return self._split(buffer, node)

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
            return self._split(value, node)
        because = value if isinstance(value, str) else "its elements are not known"
        return [Word(self.raw(node), self._span(node), because, True)]

    def _span(self, node: Node) -> Span | None:
        return self.text.span(self.char(node.start_byte), self.char(node.end_byte))

    def _split(self, buffer: _Buffer, node: Node) -> list[Word]:
        found: list[Word] = []
        start = 0
        for i, char in enumerate(buffer.chars):
            if buffer.splits[i] and char in " \t\n":
                if i > start:
                    found.append(self._word(buffer, start, i, node))
                start = i + 1
        if start < len(buffer.chars) or (not found and buffer.quoted):
            found.append(self._word(buffer, start, len(buffer.chars), node))
        return found

    def _word(self, buffer: _Buffer, start: int, end: int, node: Node) -> Word:
        text = restore("".join(buffer.chars[start:end]))
        because, many = "", False
        for a, b, why, splits in buffer.unknown:
            if a < end and b > start or (a == b and start <= a <= end):
                because = because or why
                many = many or (splits and a == start and b == end)
        whole = start == 0 and end == len(buffer.chars)
        inner = place(self.text.source, buffer.offsets[start:end])
        span = self._span(node) if whole else inner
        # A word that is all one variable's value stands where that was assigned.
        if span is None or (inner is not None and not (span.start <= inner.start and inner.end <= span.end)):
            span = inner
        if not because and has_placeholder("".join(buffer.chars[start:end])):
            because = "a placeholder"
        return Word(text, span, because, many, buffer.harmless and bool(because))

    def _add(self, buffer: _Buffer, node: Node, quoted: bool) -> None:
        kind = node.type
        if kind in ("word", "number", "variable_name", "special_variable_name", "test_operator", "regex"):
            self._literal(buffer, self.char(node.start_byte), self.char(node.end_byte))
        elif kind == "raw_string":
            buffer.quoted = True
            start, end = self.char(node.start_byte) + 1, self.char(node.end_byte) - 1
            buffer.add(self.text.text[start:end], self.offsets(start, end))
        elif kind == "ansi_c_string":
            buffer.quoted = True
            self._literal(buffer, self.char(node.start_byte) + 2, self.char(node.end_byte) - 1)
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
        buffer.add_unknown(raw, self._at(node), f"variable {name or raw} is not set here", not quoted)


def _walk(root: Node) -> Iterator[Node]:
    """All nodes in the order of the text, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def _character_offsets(text: str, size: int) -> list[int]:
    """For each byte of a text's UTF-8 form, the character it belongs to."""
    offsets: list[int] = []
    for i, char in enumerate(text):
        code = ord(char)
        offsets += [i] * (1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4)
    offsets.append(len(text))
    assert len(offsets) == size + 1
    return offsets


def _unescaped(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    """The inside of a double-quoted text as the inner shell gets it, and where it stands."""
    found, places = [], []
    i = 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text) and text[i + 1] in '$`"\\':
            i += 1
        found.append(text[i])
        places.append(offsets[i])
        i += 1
    return "".join(found), places
