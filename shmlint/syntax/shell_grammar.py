"""Shell texts as the grammar of tree-sitter reads them, and what it reads otherwise than a shell.

For such a part of a text another one of the same length stands in what is parsed, so that all nodes keep their places.
What the nodes say is read from the text as it is written.
"""

from __future__ import annotations

import re
from _thread import get_ident
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING

from shmlint.syntax.grammar import language, new_parser

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

GRAMMAR = "tree_sitter_bash"


@cache
def _parser(thread: int) -> Parser:
    """A parser of the thread's own."""
    return new_parser(GRAMMAR)


def parsed(text: str) -> Node:
    """The root of a shell text's tree; its places are bytes of UTF-8.

    From some words on the grammar looks ahead to the end of the text, from the ``==`` of ``echo == a``, say: many such
    take half a minute in 200 kB. Such a text is read as one quotation without an end.
    """
    data, parser = text.encode("utf-8", "surrogatepass"), _parser(get_ident())
    if len(data) <= _SHORT:
        return parser.parse(data).root_node
    looked_at = 0

    def part(start: int, _: object) -> bytes:
        nonlocal looked_at
        found = data[start : start + _PART]
        looked_at += len(found)
        return found

    try:
        return parser.parse(part, progress_callback=lambda *_: looked_at > _MOST_LOOKS * len(data)).root_node
    except ValueError:  # it was stopped
        parser.reset()
        return parser.parse(b"'" + b" " * (len(data) - 1)).root_node


_SHORT = 4_096
"""Bytes of a text that takes no more than a hundredth of a second, whatever is in it."""
_PART = 16_384
"""Bytes that the grammar is given at once."""
_MOST_LOOKS = 200
"""How often the grammar may look at each byte on average: in 154 public scripts 26 times at most, mostly twice."""


def walk(root: Node) -> Iterator[Node]:
    """All nodes in the order of the text, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


@cache
def _query(source: str) -> Query:
    from tree_sitter import Query

    return Query(language(GRAMMAR), source)


def _matches(root: Node, source: str) -> Iterator[Node]:
    """The nodes that a query of the grammar names."""
    from tree_sitter import QueryCursor

    return chain.from_iterable(QueryCursor(_query(source)).captures(root).values())


def readable(text: str) -> tuple[str, Node]:
    """A text that the grammar reads as a shell reads the given one, and its tree."""
    text = _without_odd_patterns(_without_odd_tests(text))
    if ">&-" in text or "<&-" in text:  # the grammar ends a command behind one that is closed
        text = _CLOSED.sub(r"\1&1", text)
    text = _FIRST_INPUT.sub(" ", text) if "0<<" in text else text
    text = _BEFORE_GROUP.sub(lambda found: found[1] + " " * len(found[2]), text)
    text, root = _without_redirections_of_assignments(*_without_comparisons(*_ending_tests(text)))
    return _ending_before_backslashes(text, root) if "\n\\" in text else (text, root)


_CLOSED = re.compile(r"([<>])&-(?=[ \t]+[^\s|&;()<>])")
_FIRST_INPUT = re.compile(r"(?<=\s)0(?=<<)")
"""The number that ``0<<EOF`` gives to the input; the grammar knows no number there."""

_BEFORE_GROUP = re.compile(
    r"(?m)((?:^|[;&|({]|\b(?:if|elif|while|until|then|else|do)\b)[ \t]*)"
    r"(!|time(?:[ \t]+-p)?|coproc(?:[ \t]+[A-Za-z_]\w*)?)(?=[ \t]+\{\s)"
)
"""A word in front of ``{ …; }``, for which the grammar takes the brace for a word, too."""


def _changed(text: str, places: Iterable[tuple[int, int]], fill: str) -> tuple[str, Node]:
    """A text with one character instead of those of ASCII at some places, which are bytes, and its tree."""
    changed = bytearray(text.encode("utf-8", "surrogatepass"))
    for start, end in places:
        changed[start:end] = re.sub(rb"[\x00-\x7f]", fill.encode(), changed[start:end])
    text = changed.decode("utf-8", "surrogatepass")
    return text, parsed(text)


# Tests.

_OPEN_TEST = r"(?m)^([ \t]*)\[(?=[ \t][^\]\\'\"`$&|;()\n]*$)"


def _ending_tests(text: str) -> tuple[str, Node]:
    """A text and its tree, in which a ``[`` without a ``]`` in its line takes no more than the line.

    The grammar looks for the ``]`` in the lines after it, up to the end of the text; to a shell it is a command that
    fails. Another command of the same length stands for it, if the grammar reads all of the text then.
    """
    root = parsed(text)
    if root.has_error and (ended := re.sub(_OPEN_TEST, r"\1:", text)) != text:
        other = parsed(ended)
        if not other.has_error:
            return ended, other
    return text, root


_ESCAPED_TEST = re.compile(r"(?m)(?:^|(?<=[\s;&|({!@`-]))\[(?=[ \t](?:[^\n\\\]]|\\.){0,300}?\\[()<>])")
"""A test with an operator that is escaped, ``[ \\( A \\) -o B ]``."""
_ROOT = re.compile(r"(?<=[ \t]-[a-z][ \t])/(?=[ \t]+\]|[ \t]+-[ao][ \t])")
"""The root as what a test asks about, ``[ -w / ]``, which the grammar takes for the start of a pattern."""
_QUOTED_BEHIND = re.compile(r"""(=~[ \t]+(?:[^\s"'\\]|\\.)+)("[^"\n]*"|'[^'\n]*')""")
"""What is quoted in a pattern, ``=~ ^"a b"``, at whose blanks the grammar ends it."""


def _without_odd_tests(text: str) -> str:
    """A text without what the grammar does not know in tests. It takes what comes after for a part of them."""
    if "[ " not in text:
        return text
    if "\\" in text:
        text = _ESCAPED_TEST.sub(":", text)
    text = _ROOT.sub("_", text)
    return _QUOTED_BEHIND.sub(lambda found: found[1] + re.sub(r"\s", "_", found[2]), text) if "=~" in text else text


_COMPARISON = '(command ["==" "=~"] @operator) (ERROR ["==" "=~"] @operator)'
_IN_TEST = re.compile(rb"(?<![^\s;&|(!])\[\[?\s[^\]]*$")
_MOST_PASSES = 4
"""How often a text is changed and read again, for what is only seen then."""


def _without_comparisons(text: str, root: Node) -> tuple[str, Node]:
    """A text and its tree, in which ``==`` is a word of any command but a test: ``echo == A ==``.

    The grammar knows it as an operator there, and takes the first word of the next line for what is compared. A test
    in a line that has been taken so is one only after that.
    """
    for _ in range(_MOST_PASSES if " ==" in text or " =~" in text else 0):
        written = text.encode("utf-8", "surrogatepass")
        found = [node for node in _matches(root, _COMPARISON) if not _is_in_test(written, node.start_byte)]
        if not found:
            break
        text, root = _changed(text, [(node.start_byte, node.end_byte) for node in found], "_")
    return text, root


def _is_in_test(text: bytes, at: int) -> bool:
    """Whether a test begins in front of a place in its line."""
    return _IN_TEST.search(text, max(text.rfind(b"\n", 0, at) + 1, at - _MOST_OF_TEST), at) is not None


_MOST_OF_TEST = 400


# Expansions.

_PATTERN = re.compile(
    r"""\$\{\w+(?:\[[^]\n]*\])?(?:\#|%|/|\^|,)(?=[^}\n]{0,200}['\[\]()])"""
    r"""(?P<pattern>(?:\\.|'[^'\n]*'|"(?:\\.|[^"\\\n])*"|[^}'"\\\n]){0,200}+)\}"""
)
_WITH_QUOTE = re.compile(r"""\\.|'[^']*'|"[^"]*'[^"]*\"""")
_BRACKETS = re.compile(r"\\?[\[\]()]")


def _without_odd_patterns(text: str) -> str:
    """A text in which no pattern of an expansion is quoted, ``${NAME//'/'/_}``, or has half of a pair of brackets.

    The grammar does not know quotation marks there, and takes all that follows for a text; so it does behind
    ``${NAME#[}``. The values of such an expansion are not known in any case. Neither does it know where a pattern like
    ``!(data)`` ends: at the last bracket before the next ``$``, lines behind it.
    """
    if "${" in text:
        text = _PATTERN.sub(_plain_pattern, text)
        text = _OR.sub(lambda found: found[0].replace("|", "_"), text)
    if any(sign in text for sign in _EXTENDED_SIGNS):
        return _EXTENDED.sub(lambda found: _blanked(found) if found["pattern"] else found[0], text)
    return text


_OR = re.compile(r"\$\{\w+:?[-+?=](?:(?!\$\()[^{}|`\n]){0,200}\|(?:(?!\$\()[^{}`\n]){0,200}\}")
"""An expansion with a ``|`` in what stands for its value, ``${1:?start|stop}``; the grammar may end it there."""
_EXTENDED = re.compile(
    r"""\$\{[^{}\n]*\}|\(\([^\n]{0,200}?\)\)|(?<![\\$"'`<>{:])(?P<pattern>[?*+@!]"""
    r"""\([^()\s"'`$;&<>\\]*\))"""
)
"""A pattern of more than one text, ``!(a|b)``; or an expansion or arithmetic, which may have what looks like one."""
_EXTENDED_SIGNS = ("?(", "*(", "+(", "@(", "!(")


def _plain_pattern(found: re.Match[str]) -> str:
    pattern = found["pattern"]
    plain = _WITH_QUOTE.sub(_blanked, pattern) if "'" in pattern else pattern
    if any(pattern.count(left) != pattern.count(right) for left, right in ("[]", "()")):
        plain = _BRACKETS.sub(_blanked, plain)
    before = found.start("pattern") - found.start()
    return f"{found[0][:before]}{plain}}}"


def _blanked(found: re.Match[str]) -> str:
    """As many characters, and as many bytes."""
    return re.sub(r"[\x00-\x7f]", "_", found[0])


# Assignments.


def _without_redirections_of_assignments(text: str, root: Node) -> tuple[str, Node]:
    """A text and its tree, in which an assignment ends where a redirection behind it does: ``N=$(f) 2>/dev/null``.

    The grammar takes the next command, be it in another line or behind a ``;``, for what the assignment is made for.
    Blanks stand for such a redirection, which sets nothing. One in what was taken so is seen after that.
    """
    for _ in range(_MOST_PASSES if "=" in text and ("<" in text or ">" in text) else 0):
        written = text.encode("utf-8", "surrogatepass")
        found = [span for node in _matches(root, _ASSIGNING) for span in _redirections_before(node, written)]
        if not found:
            break
        text, root = _changed(text, found, " ")
    return text, root


_ASSIGNING = "(command . (variable_assignment)) @command"
_ENDS_ASSIGNMENT = re.compile(rb"(?:[ \t]|\\\r?\n)*(?:[;\n&|)}#]|\r\n|\Z)")
_REDIRECTIONS = ("file_redirect", "herestring_redirect")


def _redirections_before(command: Node, text: bytes) -> Iterator[tuple[int, int]]:
    """The redirections between the assignments of a command and its name, where that is of another one."""
    assigned = False
    for kind, group in groupby(command.children, lambda child: child.type):
        children = list(group)
        if kind in _REDIRECTIONS and assigned:
            places = [(child.start_byte, _end_of_file(child)) for child in children]
            ends = (at for at, (_, end) in enumerate(places, 1) if _ENDS_ASSIGNMENT.match(text, end) is not None)
            yield from places[: next(ends, 0)]
        elif kind != "comment" and kind != "ERROR":
            assigned = kind == "variable_assignment"
            if kind == "command_name":
                return


def _end_of_file(redirect: Node) -> int:
    """Where the word of a redirection ends, behind which the grammar may take more for parts of it."""
    found = redirect.children_by_field_name("destination") or redirect.named_children[-1:]
    end = redirect.end_byte
    for word in found[:1]:
        end = word.end_byte
        for before, child in pairwise(word.children):
            if child.is_error:
                return before.end_byte
    return end


# Commands.


def _ending_before_backslashes(text: str, root: Node) -> tuple[str, Node]:
    """A text and its tree, in which a command ends before a line that begins with ``\\docker``.

    The grammar takes that word, with the line end before it, for one more word of the command. The backslash only keeps
    the shell from reading the name as an alias; a blank stands for it.
    """
    written = text.encode("utf-8", "surrogatepass")
    words = (node for node in walk(root) if node.type == "word" and node.end_byte - node.start_byte > len("\n\\"))
    starts = [node.start_byte for node in words if _NO_ALIAS.match(written, node.start_byte)]
    return _changed(text, [(start + 1, start + 2) for start in starts], " ") if starts else (text, root)


_NO_ALIAS = re.compile(rb"(?<!\\)\n\\(?=[\w./])")
