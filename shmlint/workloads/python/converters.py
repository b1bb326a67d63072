"""What ``type=`` of an option makes of the word that it is given."""

from __future__ import annotations

import ast
from collections.abc import Callable

from shmlint.syntax.python import Definition, dotted
from shmlint.workloads.python.values import NOTHING, Found, Scope, changed

Defined = Callable[[str, Scope], tuple[Definition, Scope] | None]
"""Finds the function or class of the repository that a name stands for."""

_KEEP = frozenset(
    {"int", "float", "str", "Path", "PurePath", "literal_eval", "eval", "loads", "safe_load", "abspath", "expanduser",
     "realpath", "normpath", "Choice", "IntRange", "FloatRange", "File", "FileType", "Decimal"}
)  # fmt: skip
"""Functions and types that read a word as it is read here."""
_SAME = frozenset({"lower", "strip", "rstrip", "lstrip"})
_TRUE = frozenset({"true", "yes", "t", "y", "on", "1"})
_FALSE = frozenset({"false", "no", "f", "n", "off", "0", "none"})


def converted(found: Found, converter: ast.expr, scope: Scope, definition: Defined) -> Found:
    """The value of an option whose word a function converts; nobody knows it where the function is not understood."""
    if dotted(converter) == "bool":  # of any text, but for the empty one
        return found._replace(value=found.value != "")
    function = _function(converter, scope, definition)
    if _is_of_words(converter, function):
        return _truth(found)
    return found if _keeps(converter, function) else changed(found)


def _function(converter: ast.expr, scope: Scope, definition: Defined) -> ast.AST | None:
    """The function or class of the repository that converts."""
    if isinstance(converter, ast.Lambda):
        return converter
    if not isinstance(converter, ast.Name | ast.Attribute):
        return None
    name = dotted(converter)
    found = definition(name if name in scope.module.definitions else scope.full_name(converter), scope)
    return None if found is None else found[0]


def _truth(found: Found) -> Found:
    """The truth value that a text names."""
    word = str(found.value).lower() if isinstance(found.value, str | int | bool) else ""
    return found._replace(value=word in _TRUE) if word in _TRUE | _FALSE else NOTHING


def _is_of_words(converter: ast.expr, function: ast.AST | None) -> bool:
    """Whether a function makes True or False of ``yes``, ``no`` and their like."""
    if function is None:
        return dotted(converter).rpartition(".")[2] == "strtobool"
    returned = _returned(function)
    texts = {n.value.lower() for n in ast.walk(function) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    calls = (dotted(n.func).rpartition(".")[2] for n in ast.walk(function) if isinstance(n, ast.Call))
    told = not texts.isdisjoint(_TRUE - {"1"}) or "strtobool" in calls
    names = _parameters(function)
    return told and bool(returned) and all(_is_truth(node, names) for node in returned)


def _is_truth(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    called = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Compare) or called in ("bool", "strtobool") or _is_named(node, names)


def _keeps(converter: ast.expr, function: ast.AST | None) -> bool:
    """Whether a function gives the value that the word stands for, or fails."""
    if function is None:
        called = converter.func if isinstance(converter, ast.Call) else converter
        return isinstance(converter, ast.Constant) or dotted(called).rpartition(".")[2] in _KEEP
    if isinstance(function, ast.ClassDef):
        return any(dotted(base).rpartition(".")[2].endswith("Enum") for base in function.bases)
    kept = _parameters(function)
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign | ast.For | ast.Global | ast.NamedExpr | ast.Yield):
            return False
        if isinstance(node, ast.Assign):
            if not _is_kept(node.value, kept):
                return False
            kept |= {dotted(target) for target in node.targets}
    returned = _returned(function)
    return bool(returned) and all(_is_kept(node, kept) for node in returned)


def _is_kept(node: ast.expr, kept: set[str]) -> bool:
    """Whether an expression is the word, read as a value: ``int(word)``, ``word.strip()``, or nothing."""
    if isinstance(node, ast.IfExp):
        return _is_kept(node.body, kept) and _is_kept(node.orelse, kept)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
        return _is_kept(node.func.value, kept)
    if isinstance(node, ast.Call) and node.args:
        return dotted(node.func).rpartition(".")[2] in _KEEP and _is_kept(node.args[0], kept)
    return _is_named(node, kept) or (isinstance(node, ast.Constant) and node.value is None)


def _is_named(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _parameters(function: ast.AST) -> set[str]:
    """The one parameter of a function; none where it has more, which a caller may give."""
    arguments = getattr(function, "args", None)
    every = [*arguments.posonlyargs, *arguments.args] if isinstance(arguments, ast.arguments) else []
    return {argument.arg for argument in every} if len(every) == 1 else set()


def _returned(function: ast.AST) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
