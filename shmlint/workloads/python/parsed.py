"""The words that code parses instead of those of the command: ``parser.parse_args(words)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shmlint.syntax.python import dotted
from shmlint.workloads.python.assignments import parameters_of
from shmlint.workloads.python.changes import PARSES
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.values import Scope

_DEPTH = 8
_OF_WORDS = frozenset({"split", "list", "tuple", "copy", "strip", "join", "str"})
"""Calls that make words of the words or the text that they are given."""


def note_parsed(evaluator: Evaluator) -> None:
    """Note the options among the words that code parses, once the calls are known that say which these are."""
    changes = evaluator.changes
    calls = sum(len(evaluator.calls.get(name, ())) for name in PARSES)
    only = _texts(_only_given(*changes.parsed[0], evaluator)) if calls == len(changes.parsed) == 1 else None
    if only is not None and not evaluator.options.arguments:
        evaluator.options.take_instead(only)
        changes.parsed = []
    for words, scope in evaluator.changes.parsed:
        given = [words]
        if isinstance(words, ast.Name | ast.Attribute):
            given = [value for value, _ in evaluator.given_to(words, scope)]
            given += evaluator.additions(words, scope)
        for value in given:
            evaluator.changes.note_words(value)
        evaluator.changes.words = evaluator.changes.words or not _are_known(words, scope, evaluator, 0)


def _only_given(words: ast.expr, scope: Scope, evaluator: Evaluator) -> ast.expr:
    """What the only call of a function passes for the words that it parses: ``main(["--workers", "8"])``."""
    function = scope.function
    if not isinstance(words, ast.Name) or function is None or words.id not in parameters_of(function):
        return words
    given = evaluator.given_to(words, scope)
    known = evaluator.knows_calls(function, scope) and not evaluator.is_open(function, scope)
    return given[0][0] if known and len(given) == 1 else words


def _texts(node: ast.expr) -> tuple[str, ...] | None:
    """The words of ``["--workers", "0"]`` or ``"--workers 0".split()``; None where they are not written so."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        text = getattr(node.func.value, "value", None) if node.func.attr == "split" else None
        return tuple(text.split()) if isinstance(text, str) else None
    if not isinstance(node, ast.List):
        return None
    texts = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return tuple(texts) if len(texts) == len(node.elts) else None


def _are_known(node: ast.expr, scope: Scope, evaluator: Evaluator, depth: int) -> bool:
    """Whether words are written in the code, or those of the command."""
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Name | ast.Attribute) and dotted(node) != "sys.argv":
        return _is_known_name(node, scope, evaluator, depth)
    parts = _parts(node)
    return parts is not None and all(_are_known(part, scope, evaluator, depth + 1) for part in parts)


def _parts(node: ast.expr) -> Iterable[ast.expr] | None:
    """The expressions that give the words of another one; None where that is not known."""
    if isinstance(node, ast.Constant | ast.Attribute):
        return ()
    if isinstance(node, ast.List | ast.Tuple):  # a word that is put together is the value of an option
        return [item.value for item in node.elts if isinstance(item, ast.Starred)]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.ListComp):
        return [node.generators[0].iter]
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _OF_WORDS:
        holder = node.func.value if isinstance(node.func, ast.Attribute) else None
        return [*node.args, *([holder] if holder is not None and dotted(holder) != "shlex" else [])]
    return None


def _is_known_name(node: ast.Name | ast.Attribute, scope: Scope, evaluator: Evaluator, depth: int) -> bool:
    # `parser.parse_args(words)` looks like a call of the function `parse_args(words=None)` that it stands in.
    known = evaluator.given_to(node, scope)
    given = [(value, where) for value, where in known if not _is_itself(value, where, node, scope)]
    if given:
        return all(_are_known(value, where, evaluator, depth + 1) for value, where in given)
    if isinstance(node, ast.Attribute):
        return evaluator.options.holds_words(node.attr)
    if scope.function is not None and node.id in parameters_of(scope.function):
        return True  # nothing calls the function but the command
    parts = evaluator.unpacked(node.id, scope)
    return bool(parts) and all(isinstance(p, ast.Call) and dotted(p.func).endswith(_REST) for p in parts)


def _is_itself(value: ast.expr, where: Scope, node: ast.expr, scope: Scope) -> bool:
    """Whether a name is given its own value, which says nothing."""
    return dotted(value) == dotted(node) != "" and where.function is not None and where.function is scope.function


_REST = ("parse_known_args", "parse_known_intermixed_args")
"""Calls that return the words which they do not know, too."""
