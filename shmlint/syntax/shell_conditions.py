"""Whether a command of a shell text runs: the conditions around it, decided where their values are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Literal

from shmlint.model.number import whole_number
from shmlint.syntax.shell_tree import Tree, is_open
from shmlint.syntax.shell_variables import END
from shmlint.syntax.shell_words import WordReader

if TYPE_CHECKING:
    from tree_sitter import Node

When = Literal["always", "perhaps", "never", "value"]
"""Whether a command runs: ``never`` where a condition is known to be false, ``value`` where it only gives a
value that another command uses."""


class Conditions:
    """The conditions of a text, and what was found of them."""

    def __init__(self, words: WordReader) -> None:
        self.words = words
        self.tree = words.tree
        self.decided: dict[int, bool | int | None] = {}
        """What conditions say, and the branch that a ``case`` takes, by the id of the node."""

        self._left: dict[int, float] = {}

    def left_in(self, sequence: Node) -> float:
        """The byte at which the commands of a function, a loop or a branch are left in any case; inf where never."""
        known = self._left.get(sequence.id)
        if known is None:
            ends = (node.start_byte for node in sequence.children if _leaves_all(node, sequence, self.tree))
            known = self._left[sequence.id] = next(ends, inf) if sequence.type in _SEQUENCES else inf
        return known

    @cached_property
    def end(self) -> int:
        """The byte at which the text's shell ends in any case."""
        return _end(self.tree, self)

    @cached_property
    def shifted(self) -> int | None:
        """The byte behind which arguments are moved."""
        return _first_shift(self.tree.text.text)


def when(node: Node, known: Conditions) -> When:
    """Whether the branches around a command are taken.

    A command behind ``&&`` counts as one that runs, unless a test is before it: the other one is
    meant to succeed.
    """
    perhaps = False
    child = node
    for _ in range(_DEPTH):
        parent = known.tree.parents.get(child.id)
        if parent is None:
            return "perhaps" if perhaps else "always"
        if parent.type in ("command_substitution", "process_substitution"):
            return "value"
        decide = _DECIDE.get(parent.type)
        taken = decide(parent, child, known) if decide is not None else True
        if taken is False:
            return "never"
        perhaps = perhaps or taken is None
        child = parent
    return "perhaps"


def is_made(assignment: Node, known: Conditions) -> bool | None:
    """Whether an assignment outside of all functions is made; None where that is not known.

    What follows another command by ``&&`` depends on that, and a shell of its own keeps what it sets. What a
    statement without an end holds is not known.
    """
    child = assignment
    for _ in range(_DEPTH):
        parent = known.tree.parents.get(child.id)
        if parent is None:
            return True
        if parent.type in _SHELLS or is_open(parent):
            return None
        decide = _after_another if parent.type == "list" else _DECIDE.get(parent.type)
        taken = decide(parent, child, known) if decide is not None else True
        if taken is not True:
            return taken
        child = parent
    return None


Held = Literal["argument", "letter", "other"]
"""What sets a variable: one of the arguments, a letter of an option as getopts reads it, or something else."""


def is_asked_for(
    assignment: Node, tree: Tree, arguments: Sequence[str], held: Mapping[str, Collection[Held]]
) -> bool | None:
    """Whether the arguments ask for an assignment in a loop over them: False where none fits its branch of a ``case``.

    ``while [ $# -gt 0 ]; do case $1 in --workers) WORKERS=$2;; esac; shift; done``
    ``held`` is what variables are set to.
    """
    item: Node | None = assignment
    for _ in range(_DEPTH):
        item = tree.parents.get(item.id) if item is not None else None
        case = tree.parents.get(item.id) if item is not None and item.type == "case_item" else None
        if item is None:
            return None
        subject = case.child_by_field_name("value") if case is not None else None
        if case is None or subject is None or ";&" in tree.raw(case):  # one branch may go on in the next
            continue
        possible = _asked(tree.raw(subject), arguments, held)
        patterns = [tree.raw(value) for value in item.children_by_field_name("value")]
        plain = not any(re.search(r"[$`\\(]", pattern) for pattern in patterns)
        # Quotation marks and `shopt -s nocasematch` make no difference that would let it fit less.
        bare = [pattern.translate(_WITHOUT_QUOTES).lower() for pattern in patterns]
        fits = (fnmatchcase(text.lower(), pattern) for text in possible or () for pattern in bare)
        if possible is not None and plain and not any(fits):
            return False
    return None


_WITHOUT_QUOTES = str.maketrans("", "", "\"'")


def _asked(subject: str, arguments: Sequence[str], held: Mapping[str, Collection[Held]]) -> set[str] | None:
    """All that the word of a ``case`` may be in a loop over arguments; None where it is something else."""
    name = re.fullmatch(r"\"?\$(?:(\w+)|\{(\w+)\})\"?", subject)
    if name is None:
        return None
    kinds = {"argument"} if (name[1] or name[2]) == "1" else set(held.get(name[1] or name[2], ("other",)))
    if "other" in kinds:
        return None
    letters = {"?", ":", *"".join(arguments)} if "letter" in kinds else set()
    return letters | {"", *(arguments if "argument" in kinds else ())}


Dead = Literal["", "condition", "exit", "return"]
"""Why a command is sure never to run: a condition that nothing changes, or the end of the shell before it, or of the
function or the round of a loop."""


def dead(node: Node, known: Conditions) -> Dead:
    """Why a command never runs, whatever its text is given; empty where it may run.

    A condition with a variable is none: whoever uses the text sets that to what he wants.
    """
    if known.end < node.start_byte:
        return "exit"
    child = node
    for _ in range(_DEPTH):
        parent = known.tree.parents.get(child.id)
        if parent is None:
            break
        decide, conditions = _DECIDE.get(parent.type), _before(parent, child)
        constant = decide is not None and conditions and all(_is_constant(one, known.tree) for one in conditions)
        if constant and decide is not None and decide(parent, child, known) is False:
            return "condition"
        if child.type not in _OTHER_BRANCHES and known.left_in(parent) < child.start_byte:
            return "return"
        child = parent
    return ""


def _before(parent: Node, child: Node) -> list[Node]:
    """The conditions that decide about a part of a statement."""
    if parent.type == "list":
        return [part for part in parent.children[:1] if part.id != child.id]
    if parent.type not in ("if_statement", "elif_clause", "while_statement"):
        return []
    others = [part for part in parent.children if part.type == "elif_clause" and part.id != child.id]
    return [node for one in (parent, *others) for node in _condition(one)]


def _is_constant(condition: Node, tree: Tree) -> bool:
    """Whether a condition is written without anything that another value may be put in for."""
    span = tree.span(condition)
    return span is not None and re.search(r"[$`<{%@]", span.text) is None


def _end(tree: Tree, known: Conditions) -> int:
    """The byte at which the shell of a text ends in any case; END where conditions decide about that."""
    text = tree.text.text
    if ("exit" not in text and "exec" not in text) or re.search(r"\b(?:exit|exec)[ \t]*\(\)", text) is not None:
        return END
    for node in tree.nodes:
        if (
            node.type == "command"
            and re.match(_ENDS, tree.raw(node)) is not None
            and all(around.type in _PLAIN_AROUND for around in tree.around(node))
            and leaves(node, tree)
            and is_made(node, known)
        ):
            return node.start_byte
    return END


_SEQUENCES = frozenset({"compound_statement", "do_group", "if_statement", "elif_clause", "else_clause", "case_item"})


_OTHER_BRANCHES = frozenset({"elif_clause", "else_clause"})
"""Parts of a statement that run where what is before them in it does not."""


def _leaves_all(node: Node, sequence: Node, tree: Tree) -> bool:
    """Whether a command of a sequence ends the function or the round of the loop around it: ``return 1``."""
    found = re.match(r"(return|continue|break)(?![\w.=(/-])", tree.raw(node)) if node.type == "command" else None
    if found is None:
        return False
    return tree.function_of(sequence) is not None if found[1] == "return" else tree.loop_of(node) is not None


_ENDS = r"exit(?![\w.=-])|exec[ \t]+[\w./]"
_PLAIN_AROUND = frozenset({"program", "list", "compound_statement", "redirected_statement"})


def only_waits(node: Node, tree: Tree) -> bool:
    """Whether a command is in a loop that waits for ever, and does nothing else: ``while sleep 60; do :; done``."""
    loop = next((around for around in tree.around(node) if around.type == "while_statement"), None)
    return loop is not None and re.fullmatch(_WAITING, tree.raw(loop)) is not None


_WAITING = (
    r"(?:while\s++(?:true|:|sleep\s++[^\s;&|]++|\[ 1 \]|\(\( ?1 ?\)\))|until\s++false)[ \t]*+[;\n]\s*+do\s++"
    r"(?:(?:sleep\s++[^\s;&|]++|:|true|(?:echo|date)\b[^;&|\n]*+)[ \t\r]*+[;\n]\s*+)++done"
)


def goes_on_beside(node: Node, tree: Tree) -> Literal["", "once", "in a loop"]:
    """Whether ``&`` lets a command go on beside those behind it, and whether a loop starts it again and again."""
    child, beside = node, tree.is_let_go(node)
    for _ in range(_DEPTH):
        parent = tree.parents.get(child.id)
        if parent is None or parent.type == "function_definition":
            break
        if beside and parent.type in _LOOPS:
            return "in a loop"
        beside = beside or tree.is_let_go(parent)
        child = parent
    return "once" if beside else ""


_LOOPS = frozenset({"for_statement", "c_style_for_statement", "while_statement"})


def leaves(node: Node, tree: Tree) -> bool:
    """Whether ``exec`` or ``exit`` ends the text's own shell, and not one that is started for a part of it."""
    child = node
    for _ in range(_DEPTH):
        parent = tree.parents.get(child.id)
        if parent is None:
            return True
        if parent.type in _SHELLS or tree.is_let_go(child):
            return False
        child = parent
    return False


_DEPTH = 100
"""Conditions around a command that are looked at."""
_INNER = 30
"""Conditions inside each other that are looked at; each of them may ask for variables, which others set."""
_MOST_BRANCHES = 100
_SHELLS = frozenset({"subshell", "pipeline", "function_definition", "command_substitution", "process_substitution"})


# What decides ---------------------------------------------------------------------------------


def _if(parent: Node, child: Node, known: Conditions) -> bool | None:
    """``if`` and ``elif``: the condition, the commands behind ``then``, the other branches."""
    condition = _condition(parent)
    if any(part.id == child.id for part in condition):
        return True
    value = _evaluate(condition[-1], known) if condition else None
    if child.type not in ("elif_clause", "else_clause"):
        return value
    values = [value]
    branches = [part for part in parent.children if part.type in ("elif_clause", "else_clause")]
    if len(branches) > _MOST_BRANCHES:
        return None
    for other in branches:
        if other.id == child.id:
            break
        tested = _condition(other)
        values.append(_evaluate(tested[-1], known) if tested else None)
    if True in values:
        return False
    return None if None in values else True


def _condition(node: Node) -> list[Node]:
    """The commands between ``if`` and ``then``, or between ``while`` and ``do``."""
    found: list[Node] = []
    for child in node.children:
        if child.type in ("then", "do_group"):
            break
        if child.is_named and child.type != "comment":
            found.append(child)
    return found


def _while(parent: Node, child: Node, known: Conditions) -> bool | None:
    condition = _condition(parent)
    if child.type != "do_group" or not condition:
        return True
    value = _evaluate(condition[-1], known)
    return _not(value) if parent.children[0].type == "until" else value


def _for(parent: Node, child: Node, known: Conditions) -> bool | None:
    """A loop over words that are there runs; one over what may be nothing perhaps."""
    if child.type != "do_group":
        return True
    values = parent.children_by_field_name("value")
    return True if values and not re.search(r"[$`*?\[]", known.tree.raw(values[0])) else None


def _case(parent: Node, child: Node, known: Conditions) -> bool | None:
    """Whether a branch of a ``case`` is the one that is taken; None where the value is not known."""
    if any(value.id == child.id for value in parent.children_by_field_name("value")):
        return None
    case = known.tree.parents[parent.id]
    if case.id not in known.decided:
        known.decided[case.id] = _branch(case, known)
    taken = known.decided[case.id]
    return None if taken is None else taken == parent.id


def _branch(case: Node, known: Conditions) -> int | None:
    """The id of the branch that a ``case`` takes, 0 for none; None where that is not known."""
    subject = case.child_by_field_name("value")
    text = _value(subject, known) if subject is not None else None
    if text is None:
        return None
    for item in case.named_children:
        patterns = [known.tree.raw(value).strip("\"'") for value in item.children_by_field_name("value")]
        if item.type == "case_item" and any(fnmatchcase(text, pattern) for pattern in patterns):
            return item.id
    return 0


def _list(parent: Node, child: Node, known: Conditions) -> bool | None:
    """``A && B`` and ``A || B``."""
    if len(parent.children) != 3:
        return None  # the text is no shell
    first, operator = parent.children[0], parent.children[1].type
    if child.id == first.id:
        return True
    value = _evaluate(first, known)
    if operator == "||":
        return _not(value)
    return value if value is not None or _tests(first, known) else True


def _after_another(parent: Node, child: Node, known: Conditions) -> bool | None:
    """``A && B`` and ``A || B``, where it is known what A says."""
    if len(parent.children) != 3 or child.id == parent.children[0].id:
        return True if len(parent.children) == 3 else None
    value = _evaluate(parent.children[0], known)
    return _not(value) if parent.children[1].type == "||" else value


def _tests(node: Node, known: Conditions) -> bool:
    """Whether a command only asks for something; the first one of several decides."""
    for _ in range(_DEPTH):
        if node.type != "list" or not node.named_children:
            break
        if _tests(node.named_children[-1], known):
            return True
        node = node.named_children[0]
    if node.type == "command":
        return known.tree.raw(node).partition(" ")[0] in _ASKING
    return node.type in ("test_command", "negated_command") or known.tree.raw(node).startswith("((")


_ASKING = frozenset({"test", "grep", "egrep", "command", "which", "type", "hash", "pgrep", "cmp", "diff"})
_DECIDE: Mapping[str, Callable[[Node, Node, Conditions], bool | None]] = {
    "if_statement": _if, "elif_clause": _if, "while_statement": _while, "for_statement": _for, "case_item": _case,
    "list": _list,
}  # fmt: skip


# What conditions say --------------------------------------------------------------------------


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _evaluate(node: Node, known: Conditions, depth: int = 0) -> bool | None:
    """Whether a condition is true; None where that is not known."""
    if node.id not in known.decided:
        known.decided[node.id] = _worked_out(node, known, depth) if depth < _INNER else None
    found = known.decided[node.id]
    return None if found is None else bool(found)


def _worked_out(node: Node, known: Conditions, depth: int) -> bool | None:
    inner = node.named_children
    if node.type == "negated_command" and inner:
        return _not(_evaluate(inner[-1], known, depth + 1))
    if node.type == "test_command" or (node.type == "compound_statement" and known.tree.raw(node).startswith("((")):
        if node.type == "compound_statement" and len(inner) == 1 and inner[0].type == "number":
            return known.tree.raw(inner[0]) != "0"
        return _test(inner[0], known) if len(inner) == 1 else None
    if node.type == "list" and len(node.children) == len(inner) + 1 == 3:
        return _joined(node.children[1].type, [_evaluate(part, known, depth + 1) for part in (inner[0], inner[-1])])
    if node.type != "command":
        return None
    if known.tree.raw(node) in ("true", ":", "false"):
        return known.tree.raw(node) != "false"
    parts = inner[1:]
    if not inner or known.tree.raw(inner[0]) != "test" or not parts:
        return None
    if known.tree.raw(parts[0]) == "!":
        return _not(_compared(parts[1:], known))
    return _compared(parts, known)


def _joined(operator: str, values: Sequence[bool | None]) -> bool | None:
    """``&&`` and ``||`` of values of which some may be unknown."""
    decisive = operator in ("||", "-o")
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _test(node: Node, known: Conditions, depth: int = 0) -> bool | None:
    """The inside of ``[ … ]``, ``[[ … ]]`` and ``(( … ))``."""
    children = node.children
    if depth > _INNER or (node.type == "unary_expression" and not children):
        return None
    if node.type == "parenthesized_expression" and len(node.named_children) == 1:
        return _test(node.named_children[0], known, depth + 1)
    if node.type == "unary_expression" and known.tree.raw(children[0]) == "!":
        return _not(_test(children[1], known, depth + 1))
    if node.type == "unary_expression" and len(children) == 1:
        return _test(children[0], known, depth + 1)
    if node.type == "binary_expression" and len(children) == 3:
        operator = known.tree.raw(children[1])
        if operator in ("&&", "||", "-a", "-o"):
            return _joined(operator, [_test(side, known, depth + 1) for side in (children[0], children[2])])
        if children[0].type == "unary_expression" and known.tree.raw(children[0]).startswith("!"):
            return _not(_compared([children[0].children[-1], *children[1:]], known))
    return _compared(children if node.type in ("unary_expression", "binary_expression") else [node], known)


def _compared(parts: Sequence[Node], known: Conditions) -> bool | None:
    """``-z A``, ``A = B``, ``A -gt B``, and ``A`` alone."""
    if len(parts) == 3:
        operator = known.tree.raw(parts[1])
        left, right = _value(parts[0], known), _value(parts[2], known)
        if left is None or right is None:
            return None
        if operator in ("=", "==", "!=") and not re.search(r"[*?\[]", known.tree.raw(parts[2])):
            return (left == right) == (operator != "!=")
        compare = _NUMBERS.get(operator)
        one, other = whole_number(left), whole_number(right)
        return compare(one, other) if compare and one is not None and other is not None else None
    operator = known.tree.raw(parts[0]) if len(parts) == 2 else "-n"
    if operator not in ("-z", "-n") or not 1 <= len(parts) <= 2:
        return None
    if known.tree.raw(parts[-1]).strip('"') in ("$@", "$*", "${@}", "${*}"):
        count = _value_of("#", parts[-1], known)
        if count is None or (count not in ("0", "1") and "@" in known.tree.raw(parts[-1])):
            return None  # several words are no test
        return (count != "0") == (operator == "-n")
    text = _value(parts[-1], known)
    return None if text is None else (text != "") == (operator == "-n")


_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-gt": int.__gt__, "-ge": int.__ge__, "-lt": int.__lt__, "-le": int.__le__, "-eq": int.__eq__, "-ne": int.__ne__,
    ">": int.__gt__, ">=": int.__ge__, "<": int.__lt__, "<=": int.__le__,
}  # fmt: skip
_VALUES = frozenset({"word", "number", "string", "raw_string", "simple_expansion", "expansion", "concatenation"})
ARGUMENT = re.compile(r"\$\{?[#@*0-9]")
"""A use of arguments, or of their number."""


def _value(node: Node, known: Conditions) -> str | None:
    """The text of a word of a condition; None where it is not known."""
    if node.type not in _VALUES:
        return None
    raw = known.tree.raw(node)
    if raw.strip('"') in ("$#", "${#}"):
        return _value_of("#", node, known)
    if ARGUMENT.search(raw) and _is_shifted(node, known):
        return None
    found = known.words.read(node)
    if any(word.unknown for word in found) or len(found) > 1:
        return None
    return found[0].text if found else ""


def _value_of(name: str, node: Node, known: Conditions) -> str | None:
    """The value of a special variable."""
    if _is_shifted(node, known):
        return None
    return known.words.special(name, node)


def _is_shifted(node: Node, known: Conditions) -> bool:
    """Whether the arguments at a node may be others than those of the text: of a function, or moved by ``shift``."""
    end = node.start_byte
    here: Node | None = node
    while here is not None:
        if here.type == "function_definition":
            return True
        if here.type in ("while_statement", "for_statement", "c_style_for_statement", "select_statement"):
            end = here.end_byte
        here = known.tree.parents.get(here.id)
    return known.shifted is not None and known.shifted < end


def _first_shift(text: str) -> int | None:
    """The byte at which a text moves or sets its arguments."""
    found = re.search(r"\b(?:shift|getopts|set[ \t]+(?:--|[^-+\s]))", text)
    return len(text[: found.start()].encode(errors="replace")) if found is not None else None
