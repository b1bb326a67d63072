"""The words of a shell text: what its nodes come to, with variables followed that the text itself sets."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING

from shmlint.model.source import Span
from shmlint.syntax.shell_output import PRINTERS, plainly_printed, printed
from shmlint.syntax.shell_text import has_placeholder, place, restore
from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import (
    BLANKS,
    SEPARATORS,
    Buffer,
    State,
    Value,
    Variables,
    are_options,
    is_argument,
    is_harmless,
)
from shmlint.syntax.word import Cause, Word

if TYPE_CHECKING:
    from tree_sitter import Node

_EXPANSIONS = 50
"""Expansions inside expansions are followed this deep: ``${A:-${B:-…}}``."""

_MOST_WORDS = 5_000
"""Words of one command that are looked at; nobody writes as many."""

_LONGEST = 30_000
"""Characters of a text, after which nothing is put in: a variable may hold another one twice, and that another."""

_EXPANSION = re.compile(r"\$\{(\w+)(:?[-=+?])")
"""The start of ``${NAME:-…}`` and its like."""
_IF_ELEMENTS = re.compile(r"\$\{(\w+)\[[@*]\]:?\+")
"""That of ``${NAME[@]:+--rm}``."""

_OPERATION = re.compile(r"\$\(\(\s*+(\$?\w++|\$\{\w++\})\s*+([-+*/%])\s*+(\$?\w++|\$\{\w++\})\s*+\)\)")
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip
_INDIRECT = re.compile(r"\$\{!(\w+)\}")
"""``${!NAME}``, the variable whose name another holds."""

_WHOLE_ARRAY = re.compile(r'\$\{(\w+)\[([@*])\]\}|\$\{(\w+)\[@\]:?\+"\$\{\3\[(@)\]\}"\}')
"""``${NAME[@]}``, and ``${NAME[@]+"${NAME[@]}"}``, which is the same where unset variables are errors."""

_ALL_ARGUMENTS = frozenset({"$@", "$*", "${@}", "${*}"})

_SOME_ELEMENTS = re.compile(
    r"\$\{(\w+)\[(?:(?P<one>\w{1,30})\]"
    r"|@\]:(?:[ \t]*(?P<first>\d{1,6})|[ \t]+-(?P<last>\d{1,6}))(?::[ \t]*(?P<count>\d{1,6}))?)\}"
)
"""``${NAME[0]}``, ``${NAME[key]}``, ``${NAME[@]:1}``, ``${NAME[@]:0:2}`` and ``${NAME[@]: -1}``."""

_ELEMENT = re.compile(r"\[([^]]*)\]\+?=")
"""What is before an element that is set by its place or name: ``([0]=a [key]=b)``."""
_PLACE = re.compile(r"\[(0|[1-9]\d{0,3})\]=")
_DECLARES_BY_NAME = re.compile(r"\b(?:declare|local|typeset|readonly)[ \t]+(?:-\w+[ \t]+)*-\w*A")

_PREFIXED = re.compile(r"\$\{(\w+)\[@\]/#/([\w=:./-]+)\}")
"""``${NAME[@]/#/--env=}``, with something before each of them."""

_SOME_ARGUMENTS = re.compile(r"\$\{[@*]:[ \t]*([1-9]\d{0,5})(?::[ \t]*(\d{1,6}))?\}")
"""``${@:2}``, the arguments from the second on, and ``${@:2:1}``, so many of them."""

_KEPT_SEPARATORS = ("$IFS", "${IFS}")
"""What they are again where they were kept in a variable and are put back."""
_ANY_CHARACTER = ""

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
"""A variable alone, which a longer text held."""
_MARKS = ("'", '"')
_QUOTED = frozenset({"string", "raw_string", "ansi_c_string", "translated_string"})
_SIMPLE = frozenset({"word", "number", "raw_string", "string"})
"""The nodes that may say what they stand for."""

_ESCAPE = re.compile(r"\\(?:(?P<end>\r?\n|\r)|.)", re.S)
QUOTED_MARK = re.compile(r"['\"\\]")
"""What the end mark of a here-document has whose text is not expanded."""
_QUOTED_ESCAPE = re.compile(r'\\(?:(?P<end>\n)|[$`"\\])')
_DOCUMENT_ESCAPE = re.compile(r"\\(?:(?P<end>\n)|[$`\\])")

_ANSI = r"\\(?:[xuU]([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))"

_LETTERS = re.compile(r"[A-Za-z]\.\.[A-Za-z](?:\.\.-?\d+)?")
"""All letters from one to another, between braces."""

_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class WordReader:
    """Reads the words of a tree; ``variables`` are those that it sets and those that are set around it."""

    def __init__(self, tree: Tree, variables: Variables) -> None:
        self.tree = tree
        self.variables = variables
        self.level = 0
        self.busy: set[int] = set()

    def assigned(self, node: Node | None) -> Value:
        """What an assignment assigns."""
        if node is None:
            return Buffer()
        if node.id in self.busy:
            return None
        self.busy.add(node.id)
        try:
            if node.type == "array":
                place = self.tree.span(node)
                words = self.arguments([item for item in node.named_children if item.type != "comment"])
                return [
                    word if word.array is not None or word.used is not None else word._replace(array=place)
                    for word in (words if self._is_by_name(node) else _in_order(words))
                ]
            if node.type == "heredoc_redirect":
                return self._lines(node)
            buffer = Buffer()
            self.add(buffer, node, quoted=True)
            # Where the variable is used without quotation marks, they may still become many words.
            buffer.unknown = [(start, end, why, True) for start, end, why, _ in buffer.unknown]
            return buffer
        finally:
            self.busy.discard(node.id)

    def _is_by_name(self, array: Node) -> bool:
        """Whether an array may be one by names (``declare -A``), or is added to one: its elements have other places."""
        around = self.tree.parents.get(array.id)
        adds = around is not None and around.type == "variable_assignment" and "+=(" in self.tree.raw(around)
        return adds or _DECLARES_BY_NAME.search(self.tree.text.text) is not None

    def _held(self, name: str, node: Node) -> State:
        """What a variable holds where a node uses it."""
        return self.variables.value(name, self.tree.at(node), self.tree.function_of(node))

    def _may_be_set(self, name: str, node: Node) -> bool:
        return self.variables.may_be_set(name, self.tree.at(node), self.tree.function_of(node))

    def special(self, name: str, node: Node) -> str | None:
        """The value of ``$#``, where the arguments are known."""
        value = self._held(name, node)
        return "".join(value.chars) if isinstance(value, Buffer) and not value.unknown else None

    def assignment(self, node: Node) -> Word:
        buffer = Buffer()
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        buffer.add(f"{self.tree.raw(name) if name is not None else ''}=")
        if value is not None and value.type != "array":
            self.add(buffer, value, quoted=True)
        return self._word(buffer, 0, len(buffer.chars), self.tree.span(node))

    def arguments(self, nodes: Sequence[Node]) -> list[Word]:
        """The words of nodes; the parser cuts `"a"\\b` in two, so those that touch are one."""
        found: list[Word] = []
        start = 0
        for i, node in enumerate(nodes):
            if i + 1 == len(nodes) or not self.tree.touch(node, nodes[i + 1]):
                found += self.read(*nodes[start : i + 1])
                start = i + 1
            if len(found) > _MOST_WORDS:
                return [*found, Word("", None, Cause("too many", str(_MOST_WORDS)), True)]
        return found

    def read(self, *nodes: Node) -> list[Word]:
        """The words an argument becomes: one, none, or as many as a variable holds."""
        if len(nodes) == 1:
            found = self._plain(nodes[0]) or self._array(nodes[0])
            if found is not None:
                return found
        buffer = Buffer()
        for node in nodes:
            self.add(buffer, node, quoted=False)
        return self._split(buffer, self.tree.span(nodes[0], nodes[-1]))

    def _plain(self, node: Node) -> list[Word] | None:
        """The word of a node that says what it stands for; None where it holds escapes, variables or placeholders."""
        kind = node.type
        if kind not in _SIMPLE:
            return None
        text = self.tree.text
        first, last = self.tree.extent(node)
        start, end, raw = first, last, text.text[first:last]
        if "\\" in raw or not raw.isascii():
            return None
        if kind in ("word", "number"):
            if raw.startswith("$"):
                return None
        elif kind == "raw_string" or ("$" not in raw and "`" not in raw):
            if len(raw) < 2 or raw[0] != raw[-1]:
                return None
            start, end, raw = start + 1, end - 1, raw[1:-1]
        else:
            return None
        offsets, written = text.offsets[start:end], text.span(first, last)
        if written is None or text.used_at:
            return [self._placed(raw, offsets, written)]
        return [Word(raw, written, offsets=offsets)]  # it stands where it is used

    def _array(self, node: Node) -> list[Word] | None:
        """The words of ``"${NAME[@]}"``; None where the node is something else."""
        quoted = node.type == "string"
        raw = self.tree.raw(node)[1:-1] if quoted else self.tree.raw(node)
        if not raw.startswith("$"):
            return None
        if raw in _ALL_ARGUMENTS and not (quoted and "*" in raw):
            return self._all_arguments(node, quoted)
        some = _SOME_ARGUMENTS.fullmatch(raw)
        if some is not None and not (quoted and "*" in raw):
            words = self._all_arguments(node, quoted)
            first, count = int(some[1]) - 1, int(some[2]) if some[2] else None
            return some_words(words, first, count) if words is not None else None
        part = _SOME_ELEMENTS.fullmatch(raw)
        if part is not None and (not quoted or len(node.named_children) == 1):
            return self._elements(node, part, quoted)
        if self.variables.splitting != "blanks" and not quoted and (named := _VARIABLE.fullmatch(raw)) is not None:
            return self._zsh_array(node, named[1])
        prefixed = _PREFIXED.fullmatch(raw)
        if prefixed is not None and quoted:
            return self._prefixed(node, prefixed[1], prefixed[2])
        found = _WHOLE_ARRAY.fullmatch(raw)
        if found is None or (quoted and len(node.named_children) != 1):
            return None
        if quoted and found[2] != "@":  # "${NAME[*]}" is one word
            return None
        name = found[1] or found[3]
        value = self._held(name, node)
        if isinstance(value, list) and any(_ELEMENT.match(word.text) for word in value):
            span, options = self.tree.span(node), are_options(value)
            return [Word(self.tree.raw(node), span, Cause("array", name), True, is_harmless(value), options)]
        if isinstance(value, list):
            kept = quoted or found[3]  # there are quotation marks inside: ${NAME[@]+"${NAME[@]}"}
            return value if kept else self._parts_in(node, value)
        if isinstance(value, Buffer):
            if not quoted and (self._separators(node) is not None or self.variables.splitting == "none"):
                return None
            return self._split(value, self.tree.span(node))
        return [Word(self.tree.raw(node), self.tree.span(node), value, True)]

    def _zsh_array(self, node: Node, name: str) -> list[Word] | None:
        """The words of ``$NAME``, which is all of an array in zsh; None where the variable is none."""
        value = self._held(name, node)
        if not isinstance(value, list) or is_argument(name):
            return None
        if self.variables.splitting == "options" and len(value) > 1:
            raw = self.tree.raw(node)
            return [Word(raw, self.tree.span(node), self._unsure(raw), True, options=are_options(value))]
        return self._parts_in(node, value)

    def _elements(self, node: Node, part: re.Match[str], quoted: bool) -> list[Word] | None:
        """Some of the words of an array; None where they are not known. None of them is where it can be edited."""
        value = self._held(part[1], node)
        if not isinstance(value, list) or any(word.maybe_many for word in value):
            return None
        if self.variables.splitting != "blanks":  # zsh counts from 1, if its options do not say otherwise
            return None
        if any(_ELEMENT.match(word.text) for word in value):
            if not part["one"] or not all(_ELEMENT.match(word.text) for word in value):
                return None
            value = [word for word in value if word.text.startswith(f"[{part['one']}]=")][-1:]
            value = [word._replace(text=word.text.partition("=")[2]) for word in value]
            first, count = 0, 1
        elif part["one"]:
            if not part["one"].isdecimal():
                return None
            first, count = int(part["one"]), 1
        else:
            first = int(part["first"]) if part["first"] else len(value) - int(part["last"])
            count = int(part["count"]) if part["count"] else len(value)
        if first < 0:
            return []
        used = self.tree.span(node)
        some = [word._replace(span=None, offsets=(), array=None, used=used) for word in value[first : first + count]]
        if not some and part["one"] and quoted:
            return [Word("", used)]
        return some if quoted else self._parts_in(node, some)

    def _prefixed(self, node: Node, name: str, prefix: str) -> list[Word] | None:
        """The words of an array with a text before each of them; None where they are not known."""
        value, used = self._held(name, node), self.tree.span(node)
        if not isinstance(value, list) or any(word.maybe_many for word in value):
            return None
        return [
            word._replace(text=prefix + word.text, span=None, offsets=(), array=None, used=used, options=False)
            for word in value
        ]

    def _all_arguments(self, node: Node, quoted: bool) -> list[Word] | None:
        """The words of ``"$@"`` in a function; None where they are not known."""
        value = self._held("@", node)
        if not isinstance(value, list):
            return None
        return value if quoted else self._parts_in(node, value)

    def _split(self, buffer: Buffer, written: Span | None) -> list[Word]:
        if True not in buffer.splits:
            return [self._word(buffer, 0, len(buffer.chars), written)] if buffer.chars or buffer.quoted else []
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
        text = "".join(buffer.chars[start:end])
        because: Cause | None = None
        many = False
        for a, b, why, splits in buffer.unknown:
            if (a < end and b > start) or (a == b and start <= a <= end):
                because = because or why
                many = many or (splits and a == start and b == end)
        if because is None and has_placeholder(text):
            because = Cause("placeholder")
        whole = start == 0 and end == len(buffer.chars)
        word = self._placed(restore(text), buffer.offsets[start:end], written, whole=whole)
        word = self._with_marks(word, buffer, start, end) if buffer.kept else word
        if because is None:
            return word
        named = _VARIABLE.fullmatch(text)
        options = buffer.options or (named is not None and self.variables.holds_options(named[1]))
        return word._replace(unknown=because, maybe_many=many, harmless=buffer.harmless, options=options)

    def _with_marks(self, word: Word, buffer: Buffer, start: int, end: int) -> Word:
        """A word with the quotation marks in its place that are around its first or last characters."""
        span = word.span
        if span is None or not any(start <= a and b <= end for a, b in buffer.kept):
            return word
        text, first, last = span.source.text, span.start, span.end
        first -= any(a == start for a, _ in buffer.kept) and text[first - 1 : first] in _MARKS
        last += any(b == end for _, b in buffer.kept) and text[last : last + 1] in _MARKS
        return word._replace(span=Span(span.source, first, last))

    def _placed(self, text: str, offsets: Sequence[int], written: Span | None, *, whole: bool = True) -> Word:
        """A word of a stretch that is ``written`` somewhere, or all of it (``whole``)."""
        inner = place(self.tree.text.source, offsets)
        span = written if whole else inner
        # A word that is all one variable's value stands where that was assigned.
        if span is None or (inner is not None and not (span.start <= inner.start and inner.end <= span.end)):
            span = inner
        inside = written is None or (span is not None and written.start <= span.start and span.end <= written.end)
        return Word(text, span, offsets=offsets, used=None if inside else written)

    def add(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        if self.level > _EXPANSIONS:
            buffer.add_unknown(self.tree.raw(node), self.tree.places(node), Cause("nested"), not quoted)
            return
        if len(buffer.chars) > _LONGEST:
            buffer.add_unknown(self.tree.raw(node), self.tree.places(node), Cause("too long"), not quoted)
            return
        self.level += 1
        self._add_part(buffer, node, quoted)
        self.level -= 1

    def _add_part(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        kind = node.type
        if kind in ("word", "number", "variable_name", "special_variable_name", "test_operator", "regex"):
            self._literal(buffer, self.tree.char(node.start_byte), self.tree.char(node.end_byte))
        elif kind == "raw_string":
            buffer.quoted = True
            start, end = self.tree.char(node.start_byte) + 1, self.tree.char(node.end_byte) - 1
            buffer.add(self.tree.text.text[start:end], self.tree.offsets(start, end))
        elif kind == "ansi_c_string":
            buffer.quoted = True
            self._ansi(buffer, self.tree.char(node.start_byte) + 2, self.tree.char(node.end_byte) - 1)
        elif kind in ("string", "translated_string"):
            self._string(buffer, node)
        elif kind == "concatenation":
            self._parts(buffer, node, quoted)
        elif kind in ("simple_expansion", "expansion"):
            self._expanded(buffer, node, quoted)
        elif kind == "command_substitution":
            self._output(buffer, node, quoted)
        elif kind == "arithmetic_expansion" and (number := self._number(node)) is not None:
            buffer.add(str(number))
        elif kind == "extglob_pattern" or (kind == "brace_expression" and quoted):
            buffer.add(self.tree.raw(node), self.tree.places(node))
        else:
            text = self.tree.raw(node)
            if node.named_child_count:
                because = Cause("braces" if kind == "brace_expression" else "run time")
                buffer.add_unknown(text, self.tree.places(node), because, not quoted)
            else:
                self._literal(buffer, self.tree.char(node.start_byte), self.tree.char(node.end_byte))

    def _number(self, node: Node) -> int | None:
        """What ``$((GPUS / 4))`` is: one operation, of numbers that are known."""
        match = _OPERATION.fullmatch(self.tree.raw(node))
        if match is None:
            return None
        left, right = (self._operand(match[at], node) for at in (1, 3))
        if left is None or right is None or (match[2] in "/%" and not right):
            return None
        return _OPERATIONS[match[2]](left, right)

    def _operand(self, text: str, node: Node) -> int | None:
        name = text.strip("${}")
        if text.startswith("$") or not name.isdecimal():
            held = self._held(name, node)
            one = _in_one(held) if isinstance(held, list) and is_argument(name) else held
            known = "".join(one.chars) if isinstance(one, Buffer) and not one.unknown else ""
        else:
            known = name
        return int(known) if re.fullmatch(r"0|[1-9][0-9]{0,8}", known) else None  # another zero makes it octal

    def _expanded(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        """``$NAME`` or ``${NAME…}``."""
        since = len(buffer.chars)
        if node.type == "expansion":
            self._expansion(buffer, node, quoted)
        else:
            self._variable(buffer, node, self.tree.raw(node)[1:], quoted)
        if not quoted and (SEPARATORS in self.variables.made or self.variables.splitting == "options"):
            self._with_separators(buffer, node, since)

    def _separators(self, node: Node) -> str | None:
        """The characters that may be between the words of what is not quoted; None where they are the usual ones.

        Any character may be one where none is known.
        """
        if self.variables.splitting != "blanks":
            return BLANKS if self.variables.splitting == "options" else None
        held = self._held(SEPARATORS, node) if SEPARATORS in self.variables.made else None
        if held is None or (isinstance(held, Cause) and held.kind == "unset"):
            return None
        text = "".join(held.chars) if isinstance(held, Buffer) else ""
        unknown = held.unknown if isinstance(held, Buffer) else ()
        if text in _KEPT_SEPARATORS and unknown and unknown[0][2].kind != "one branch":
            return None
        if unknown or not isinstance(held, Buffer):
            return _ANY_CHARACTER
        return None if set(text) == set(BLANKS) else text + BLANKS

    def _with_separators(self, buffer: Buffer, node: Node, since: int) -> None:
        """Take back what an expansion gave, where it is not known which words that is."""
        separators = self._separators(node)
        given = buffer.chars[since:]
        if separators is None or not _holds(given, separators):
            return
        if any((start, end) == (since, len(buffer.chars)) for start, end, *_ in buffer.unknown):
            return  # nothing of it is known
        options = "".join(given).lstrip().startswith("-")
        del buffer.chars[since:], buffer.offsets[since:], buffer.splits[since:]
        buffer.unknown = [stretch for stretch in buffer.unknown if stretch[1] <= since]
        raw = self.tree.raw(node)
        buffer.options = buffer.options or (options and not buffer.chars)
        buffer.add_unknown(raw, self.tree.places(node), self._unsure(raw), True)

    def _unsure(self, raw: str) -> Cause:
        """Why it is not known what words an expansion becomes."""
        return Cause("separators" if self.variables.splitting == "blanks" else "shell options", raw)

    def _parts_in(self, node: Node, words: Sequence[Word]) -> list[Word]:
        """What the shell makes of words that are not quoted where a node has them."""
        separators = self._separators(node)
        if separators is not None and any(not word.unknown and _holds(word.text, separators) for word in words):
            raw = self.tree.raw(node)
            return [Word(raw, self.tree.span(node), self._unsure(raw), True, options=are_options(list(words)))]
        if self.variables.splitting == "none":
            return [word for word in words if word.text or word.unknown]
        return [part for word in words for part in _parts_of(word)]

    def _output(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        """What a command prints, which is known of a here-document alone."""
        body = self._printed(node, quoted)
        if body is not None:
            self._document(buffer, *body)
            return
        short = len(node.named_children) == 1 and node.end_byte - node.start_byte <= _LONGEST_TEST
        values = printed(self.tree, node.named_children[0], self.arguments) if short else ()
        whole = not buffer.chars
        buffer.options = buffer.options or (whole and (self._prints_options(node) or _are_options(values)))
        buffer.add_unknown(self.tree.raw(node), self.tree.places(node), Cause("output", values=values), not quoted)
        if whole and values:
            buffer.harmless = all(map(_is_harmless, values))

    def _prints_options(self, node: Node) -> bool:
        """Whether what ``$(echo …)`` gives begins with an option."""
        command = node.named_children[0] if len(node.named_children) == 1 else None
        if command is None or command.type != "command" or self.tree.raw(command.named_children[0]) not in PRINTERS:
            return False
        return are_options(list(plainly_printed(self.arguments(command.named_children))[:1]))

    def _parts(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        if not quoted and self._is_several(node):
            buffer.add_unknown(self.tree.raw(node), self.tree.places(node), Cause("braces"), True)
            return
        end = node.start_byte
        for child in node.children:
            if child.start_byte > end:
                a, b = self.tree.char(end), self.tree.char(child.start_byte)
                buffer.add(self.tree.text.text[a:b], self.tree.offsets(a, b))
            self.add(buffer, child, quoted)
            end = child.end_byte

    def _is_several(self, node: Node) -> bool:
        """Whether the shell makes several words of one: ``--volume={/a,/b}:/c``."""
        if any(child.type == "brace_expression" for child in node.children):
            return True
        raw = [self.tree.raw(child) if child.type == "word" else "" for child in node.children]
        start = raw.index("{") if "{" in raw else len(raw)
        inside = raw[start : raw.index("}", start)] if "}" in raw[start:] else []
        return any("," in part or _LETTERS.fullmatch(part) is not None for part in inside)

    def _string(self, buffer: Buffer, node: Node) -> None:
        """A double-quoted text. Blanks next to expansions belong to no node, so what lies between
        the nodes is taken from the text itself."""
        buffer.quoted = True
        raw = self.tree.raw(node)
        opening = raw.find('"') + 1
        at = self.tree.char(node.start_byte) + opening
        end = self.tree.char(node.end_byte) - (1 if raw.endswith('"') and len(raw) > opening else 0)
        self._between(buffer, node, at, end, _QUOTED_ESCAPE)

    def _between(self, buffer: Buffer, node: Node, at: int, end: int, escape: re.Pattern[str]) -> None:
        """The text from ``at`` to ``end`` of a node, with its expansions."""
        for child in node.named_children:
            if child.type in ("string_content", "heredoc_content"):
                continue
            start = self.tree.begin(child)
            self._without(escape, buffer, at, start)
            self.add(buffer, child, quoted=True)
            at = self.tree.char(child.end_byte)
        self._without(escape, buffer, at, end)

    def document(self, redirect: Node) -> Word | None:
        """The text of a here-document as its command gets it; None where it has none."""
        body = self._body(redirect)
        if body is None:
            return None
        buffer = Buffer()
        self._document(buffer, *body)
        return self._word(buffer, 0, len(buffer.chars), self.tree.span(body[0]))

    def _body(self, redirect: Node) -> tuple[Node, bool] | None:
        """The text of a here-document, and whether nothing in it is expanded."""
        found = next((child for child in redirect.children if child.type == "heredoc_body"), None)
        mark = next((self.tree.raw(child) for child in redirect.children if child.type == "heredoc_start"), "")
        return (found, QUOTED_MARK.search(mark) is not None) if found is not None else None

    def _document(self, buffer: Buffer, node: Node, literal: bool, end: int | None = None) -> None:
        buffer.quoted = True
        at, end = self.tree.char(node.start_byte), self.tree.char(node.end_byte) if end is None else end
        if literal:
            buffer.add(self.tree.text.text[at:end], self.tree.offsets(at, end))
        else:
            self._between(buffer, node, at, end, _DOCUMENT_ESCAPE)

    def _lines(self, redirect: Node) -> Value:
        """The text of a here-document without blanks around it, as ``read`` takes it; None where that is not known."""
        body = self._body(redirect)
        text = self.tree.raw(body[0]) if body is not None else ""
        tabs = self.tree.raw(redirect).startswith("<<-") and re.search(r"(?m)^\t", text) is not None
        if body is None or tabs or text[:1].isspace():
            return None
        buffer = Buffer()
        self._document(buffer, *body, self.tree.char(body[0].end_byte) - (len(text) - len(text.rstrip())))
        buffer.unknown = [(start, end, why, True) for start, end, why, _ in buffer.unknown]
        return buffer

    def _printed(self, node: Node, quoted: bool) -> tuple[Node, bool, int] | None:
        """The here-document that ``$(cat <<EOF …)`` gives as one text, and where it ends: without its last lines' ends.

        None for another command, or where the shell makes words of the text.
        """
        around = self.tree.parents.get(node.id)
        whole = quoted or (around is not None and around.type == "variable_assignment")
        statement = node.named_children[0] if len(node.named_children) == 1 else None
        if not whole or statement is None or statement.type != "redirected_statement":
            return None
        command, *redirects = statement.named_children
        plain = self.tree.raw(command) == "cat" and len(redirects) == 1 and redirects[0].type == "heredoc_redirect"
        only = plain and all(child.type.startswith("heredoc_") for child in redirects[0].named_children)
        body = self._body(redirects[0]) if only else None
        text = self.tree.raw(body[0]) if body is not None else ""
        if body is None or (self.tree.raw(redirects[0]).startswith("<<-") and re.search(r"(?m)^\t", text) is not None):
            return None  # tabs that the shell takes away
        return *body, self.tree.char(body[0].end_byte) - (len(text) - len(text.rstrip("\n")))

    def _literal(self, buffer: Buffer, start: int, end: int) -> None:
        self._without(_ESCAPE, buffer, start, end)

    def _without(self, escape: re.Pattern[str], buffer: Buffer, start: int, end: int) -> None:
        """A text without the backslashes that hide a character, and without the line ends that they hide."""
        text = self.tree.text.text[start:end]
        at = 0
        for found in escape.finditer(text) if "\\" in text else ():
            buffer.add(text[at : found.start()], self.tree.offsets(start + at, start + found.start()))
            at = found.end() if found["end"] else found.start() + 1
        buffer.add(text[at:], self.tree.offsets(start + at, end))

    def _ansi(self, buffer: Buffer, start: int, end: int) -> None:
        """The inside of ``$'…'``."""
        at = start
        for escape in re.finditer(_ANSI, self.tree.text.text[start:end], re.S):
            a, b = start + escape.start(), start + escape.end()
            buffer.add(self.tree.text.text[at:a], self.tree.offsets(at, a))
            hexadecimal, octal, letter = escape.groups()
            if letter:
                char = _ANSI_LETTERS.get(letter, letter)
            else:
                code = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
                char = chr(code) if code < 0x110000 else ""
            buffer.add(char, [self.tree.text.offsets[b - 1]] * len(char))
            at = b
        buffer.add(self.tree.text.text[at:end], self.tree.offsets(at, end))

    def _variable(self, buffer: Buffer, node: Node, name: str, quoted: bool) -> None:
        value = self._held(name, node)
        if isinstance(value, list) and is_argument(name):
            joined = _in_one(value) if self._separators(node) is None else None
            value = joined or Cause("contained argument")
        if self.variables.splitting != "blanks":
            value = self._in_zsh(node, name, value)
        if isinstance(value, list):  # the first element
            if not value or value[0].maybe_many or value[0].unknown or len(value[0].offsets) != len(value[0].text):
                value = Cause("array", name)
            else:
                buffer.add(value[0].text, value[0].offsets, splits=not quoted)
                return
        if isinstance(value, Cause):
            many = not quoted or name in ("@", "*")
            whole = not buffer.chars
            buffer.add_unknown(self.tree.raw(node), self.tree.places(node), value, many)
            buffer.options = buffer.options or (whole and self.variables.holds_options(name))
        else:
            buffer.extend(self._as_written(name, value), splits=self.splits(quoted=quoted))

    def _as_written(self, name: str, value: Buffer) -> Buffer:
        """What a condition decides about, with what the file has there: ``$(if $(N),--name $(N))`` of make."""
        if not any((because.kind, because.name) == ("one branch", name) for _, _, because, _ in value.unknown):
            return value
        written = self.tree.text.unset(name)
        if written.kind != "named placeholder":
            return value
        shown = copy(value)
        shown.unknown = [
            (start, end, because._replace(kind=written.kind, name=written.name, what=written.what), many)
            for start, end, because, many in value.unknown
        ]
        return shown

    def _in_zsh(self, node: Node, name: str, value: State) -> State:
        """What zsh puts in for a variable in a text: all of an array, and a part of it for ``$NAME[1]``."""
        end = self.tree.char(node.end_byte)
        if node.type == "simple_expansion" and self.tree.text.text[end : end + 1] == "[":
            return Cause("index", f"{self.tree.raw(node)}[")
        if not isinstance(value, list):
            return value
        return (_in_one(value) if self.variables.splitting == "none" else None) or Cause("array", name)

    def splits(self, *, quoted: bool) -> bool:
        """Whether the blanks of a value are between words."""
        return not quoted and self.variables.splitting != "none"

    def _expansion(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        raw = self.tree.raw(node)
        if re.fullmatch(r"\$\{\w+\}", raw):
            self._variable(buffer, node, raw[2:-1], quoted)
            return
        indirect = _INDIRECT.fullmatch(raw)
        held = self._held(indirect[1], node) if indirect is not None else None
        if isinstance(held, Buffer) and not held.unknown and re.fullmatch(r"[A-Za-z_]\w*", "".join(held.chars)):
            self._variable(buffer, node, "".join(held.chars), quoted)
            return
        part = _SOME_ELEMENTS.fullmatch(raw)
        element = self._elements(node, part, True) if part is not None and part["one"] else None
        if element and not element[0].unknown:
            buffer.add(element[0].text, splits=self.splits(quoted=quoted))
            return
        start = _EXPANSION.match(raw)
        if start is None:
            self._of_elements(buffer, node, quoted)
            return
        name, operator = start[1], start[2]
        after = node.children[0].end_byte + len(start[0].encode()) - len("${")
        behind = [c for c in node.named_children if c.start_byte >= after]
        value = self._held(name, node)
        if operator in ("?", ":?") and not (isinstance(value, Buffer) and value.chars):
            buffer.add_unknown(raw, self.tree.places(node), self._because(name, raw), not quoted)
        elif operator in ("+", ":+"):
            self._alternative(buffer, node, (value, behind), quoted)
        elif isinstance(value, Buffer) and (value.chars or value.unknown):
            buffer.extend(value, splits=self.splits(quoted=quoted))
        elif isinstance(value, list):
            buffer.add_unknown(raw, self.tree.places(node), Cause("array", name), not quoted)
        elif isinstance(value, Cause) and self._may_be_set(name, node):
            options = self.variables.holds_options(name) or are_options(self._joined(behind))
            buffer.options = buffer.options or (options and not buffer.chars)
            buffer.add_unknown(raw, self.tree.places(node), self._because(name, raw), not quoted)
        else:
            buffer.extend(self._joined(behind), splits=self.splits(quoted=quoted))
            buffer.quoted = buffer.quoted or quoted

    def _of_elements(self, buffer: Buffer, node: Node, quoted: bool) -> None:
        """``${NAME[@]…}``, ``${!NAME}`` and other expansions of which the value is not known."""
        raw = self.tree.raw(node)
        tested = _IF_ELEMENTS.match(raw)
        if tested is not None:
            behind = [c for c in node.named_children if c.start_byte >= node.children[0].start_byte + tested.end()]
            self._alternative(buffer, node, (self._held(tested[1], node), behind), False)
            return
        whole = not buffer.chars
        # "${A[@]:1}" and "${@:2}" may be any number of words even where they are quoted.
        many = not quoted or "[@]" in raw or "[*]" in raw or raw.startswith("${@") or raw.endswith("@}")
        named = re.match(r"\$\{[#!]?(\w*)", raw)
        because = self._because(named[1] if named is not None else "", raw)
        buffer.add_unknown(raw, self.tree.places(node), because, many)
        if whole and named is not None and "[" in raw:
            array = self._held(named[1], node)
            buffer.options = are_options(array) or self.variables.holds_options(named[1])
            buffer.harmless = is_harmless(array)
        elif whole and named is not None:
            buffer.options = self.variables.holds_options(named[1])

    def _joined(self, nodes: Sequence[Node]) -> Buffer:
        """The text behind the sign of an expansion; what is between quotation marks in it stays one word."""
        buffer = Buffer()
        end = nodes[0].start_byte if nodes else 0
        parts = [part for whole in nodes for part in (whole.children if whole.type == "concatenation" else [whole])]
        for node in parts:
            if node.start_byte > end:
                a, b = self.tree.char(end), self.tree.char(node.start_byte)
                buffer.add(self.tree.text.text[a:b], self.tree.offsets(a, b))
            start, end = len(buffer.chars), node.end_byte
            self.add(buffer, node, quoted=True)
            if node.type in _QUOTED:
                buffer.kept.append((start, len(buffer.chars)))
        # Where the expansion is without quotation marks, they may still become many words.
        buffer.unknown = [(start, end, why, True) for start, end, why, _ in buffer.unknown]
        return buffer

    def _alternative(
        self, buffer: Buffer, node: Node, held: tuple[State, Sequence[Node]], quoted: bool
    ) -> None:
        """``${NAME:+--name "$NAME"}``: the words after the sign where the variable holds something, else none."""
        value, behind = held
        then = self._joined(behind)
        if isinstance(value, Buffer) and not value.unknown:
            if value.chars:
                buffer.extend(then, splits=self.splits(quoted=quoted))
            return
        whole = not buffer.chars
        values = ("".join(then.chars), "") if not then.unknown else ()
        buffer.add_unknown(self.tree.raw(node), self.tree.places(node), Cause("tested", values=values), not quoted)
        if whole:
            buffer.options, buffer.harmless = are_options(then), is_harmless(then)

    def _because(self, name: str, raw: str) -> Cause:
        """Why what is in an expansion is not known."""
        if name in self.variables.made or is_argument(name):
            return Cause("contained", name)
        return self.tree.text.unset(name or raw)


def _in_order(words: list[Word]) -> list[Word]:
    """The elements of an array that are all set by their places, in that order; as they are where some are not."""
    places = [_PLACE.match(word.text) for word in words]
    if not all(places) or any(word.maybe_many for word in words):
        return words
    found: dict[int, Word] = {}
    for word, before in zip(words, places, strict=True):
        if before is not None:
            text, offsets = word.text[before.end() :], word.offsets[before.end() :]
            found[int(before[1])] = word._replace(text=text, span=word.part_span(text), offsets=offsets)
    return [found[i] for i in range(len(found))] if sorted(found) == [*range(len(found))] else words


def _holds(chars: Iterable[str], separators: str) -> bool:
    """Whether there may be several words; any character may be between them where no separator is known."""
    return any(char in separators for char in chars) if separators else any(True for _ in chars)


def _are_options(values: Sequence[str]) -> bool:
    """Whether texts, one of which is put in, are options where they are anything."""
    return any(values) and all(value.startswith("-") for value in values if value)


def _is_harmless(value: str) -> bool:
    buffer = Buffer()
    buffer.add(value)
    return is_harmless(buffer)


_LONGEST_TEST = 500
"""Bytes of a command whose outputs are told apart; what a test decides about is short."""
_COMPUTED = re.compile(r"\$[({]|`")
"""What may hold blanks that are no ends of words: ``$(a b)``."""


def _parts_of(word: Word) -> Iterator[Word]:
    """What the shell makes of an element that is used without quotation marks: it takes it apart at its blanks."""
    if word.maybe_many or (word.text and not re.search(r"[ \t\n]", word.text)):
        yield word
        return
    if word.unknown and _COMPUTED.search(word.text):
        yield word._replace(maybe_many=True)
        return
    placed = len(word.offsets) == len(word.text)
    home = word.span or word.used
    for found in re.finditer(r"[^ \t\n]+", word.text):
        offsets = word.offsets[found.start() : found.end()] if placed else ()
        span = place(home.source, offsets) if home is not None and placed else None
        unknown = word.unknown if "$" in found[0] or has_placeholder(found[0]) else None
        yield word._replace(text=found[0], span=span, offsets=offsets, unknown=unknown)


def some_words(words: Sequence[Word], first: int, count: int | None) -> list[Word] | None:
    """``count`` of the words, or all, from the first on; None where one before may be several."""
    end = None if count is None else first + count
    unsure = any(word.maybe_many for word in words[: first if end is None else end])
    return None if unsure else list(words[first:end])


def _in_one(words: Sequence[Word]) -> Buffer | None:
    """Arguments joined to one text; None where one is not known."""
    buffer = Buffer()
    for word in words:
        if word.unknown:
            return None
        buffer.add(" " if buffer.chars else "")
        buffer.add(word.text, word.offsets if len(word.offsets) == len(word.text) else ())
    return buffer
