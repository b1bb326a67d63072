"""Code that a program finds by names or makes of text, where all that it may be is written down."""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterator, Sequence, Set

from shmlint.files.read import normal
from shmlint.syntax.python import Module, dotted, parse
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.named_modules import ANY, NamedModules
from shmlint.workloads.python.started import starts
from shmlint.workloads.python.values import NOTHING, Scope

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_FINDS = frozenset({"getattr", "vars", "open"})
"""Functions that lead from a text to what is in no name."""


def calls_of_own(name: str, tree: ast.Module) -> frozenset[int]:
    """The calls, by their ids, of a function that the code around them defines by a name: ``def eval(model): …``."""
    for node in ast.walk(tree):
        other = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        if other or (isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*")):
            return frozenset()
    around = (n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef))
    defining = (n for n in around if any(isinstance(p, ast.FunctionDef) and p.name == name for p in n.body))
    return frozenset(id(inner) for outer in defining for inner in ast.walk(outer) if isinstance(inner, ast.Call))


def holds_only_values(function: ast.AST) -> bool:
    """Whether a function defines and imports nothing that it may find by its name in ``locals()``."""
    return not any(isinstance(node, _DEFINES) for node in ast.walk(function) if node is not function)


def names_of_code(text: str, module: Module, matters: Set[str]) -> tuple[str, ...] | None:
    """The names in a text that a module runs as code; None where it may do more than to call its own functions.

    ``matters`` are the last names of calls that are looked for.
    """
    code = parse(text) if ANY not in text else None
    if code is None or any(isinstance(node, _DEFINES) for node in ast.walk(code.tree)):
        return None
    names = {dotted(node) for node in ast.walk(code.tree) if isinstance(node, ast.Name | ast.Attribute)}
    for name in names:
        head, last = name.partition(".")[0], name.rpartition(".")[2]
        if not head or head.startswith("__") or head in module.imports or last in matters | _FINDS or starts(name):
            return None
    return None if module.stars else tuple(sorted(names))


# Files that `exec` runs ------------------------------------------------------------------------

_DEPTH = 6
_OPENERS = frozenset({"open", "io.open", "codecs.open", "pathlib.Path", "Path"})
"""Calls whose first argument is the file that they open."""


class Executed:
    """Finds the files of the repository that ``exec(open(path).read())`` runs."""

    def __init__(self, words: Sequence[str], evaluator: Evaluator, names: NamedModules) -> None:
        self._words = words
        self._options = evaluator.options
        self._evaluator = evaluator
        self._names = names

    def files(self, code: ast.expr, scope: Scope) -> tuple[str, ...] | None:
        """The paths of the files in the repository; None where the code is no file, or not all files are known.

        A file that the words of the command name is there only where they do.
        """
        path = _read(code, scope, 0)
        if path is None:
            return None
        words = _words(path, scope, self._words)
        if words is not None:
            named = [word for word in words if not word.startswith("-") and "=" not in word]
            unsure = self._evaluator.changes.words or any("$" in word or "`" in word for word in words)
            return None if unsure else self._found(named, "")
        here, written = _beside(path)
        texts = self._names.written(written, scope)
        value = self._evaluator.value(written, scope) if not texts else NOTHING
        texts = (value.value,) if isinstance(value.value, str) and value.certain else texts
        return self._found(texts, os.path.dirname(scope.path) or "." if here else "") if texts else None

    @staticmethod
    def is_file(code: ast.expr, scope: Scope) -> bool:
        """Whether the code is what a file has in it."""
        return _read(code, scope, 0) is not None

    def _found(self, names: Sequence[str], folder: str) -> tuple[str, ...] | None:
        found = []
        for name in names:
            beside = normal(os.path.join(folder, name)) if folder else ""
            place = self._options.files.find(name) if not beside and ANY not in name else None
            path = place.path if place is not None else beside
            if not path or ANY in path or not self._options.files.repository.is_file(path):
                return None
            found.append(path)
        return tuple(found)


def uses_names_of(own: Module, other: Module) -> bool:
    """Whether code names functions, classes or modules that only another module has, in whose names it runs."""
    names = {node.id for node in ast.walk(own.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names -= own.definitions.keys() | own.imports.keys() | own.constants.keys()
    theirs = other.definitions.keys() | (other.imports.keys() - own.imports.keys())
    return not names.isdisjoint(theirs) or bool(other.stars and names - set(dir(builtins)))


def given_names(module: Module) -> frozenset[str]:
    """The names that the top level of a module gives values."""
    names = [node for node in ast.walk(module.tree) if isinstance(node, ast.Name)]
    return module.changed.union(node.id for node in names if isinstance(node.ctx, ast.Store))


def _assigned(name: str, scope: Scope) -> Iterator[tuple[ast.expr, bool]]:
    """The values that a function or a module gives a name, and whether it goes through them in a loop.

    ``Assignments.of_name`` leaves out what ``with`` and loops give: for its users a value is what the name itself is.
    """
    for node in ast.walk(scope.function or scope.module.tree):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            yield node.value, False
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                    yield item.context_expr, False
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
            yield node.iter, True


def _only(name: ast.expr, scope: Scope) -> ast.expr | None:
    """The one value of a name that code gives it."""
    values = list(_assigned(name.id, scope)) if isinstance(name, ast.Name) else []
    return values[0][0] if len(values) == 1 and not values[0][1] else None


def _read(code: ast.expr, scope: Scope, depth: int) -> ast.expr | None:
    """The path of the file whose text is the code."""
    if depth > _DEPTH:
        return None
    if isinstance(code, ast.Name):
        value = _only(code, scope)
        return _read(value, scope, depth + 1) if value is not None else None
    if not isinstance(code, ast.Call):
        return None
    if dotted(code.func) == "compile" and code.args:
        return _read(code.args[0], scope, depth + 1)
    if not isinstance(code.func, ast.Attribute):
        return None
    if code.func.attr in ("read", "read_text", "read_bytes"):
        return _opened(code.func.value, scope, code.func.attr)
    return _read(code.func.value, scope, depth + 1) if code.func.attr in ("decode", "strip") else None


def _opened(file: ast.expr, scope: Scope, how: str) -> ast.expr | None:
    """The path of a file that is read."""
    value = _only(file, scope) or file
    if isinstance(value, ast.Call) and scope.full_name(value.func) in _OPENERS and value.args:
        return value.args[0]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "open":
        return value.func.value
    return None if how == "read" else value


def _words(path: ast.expr, scope: Scope, words: Sequence[str]) -> tuple[str, ...] | None:
    """The words of the command that a path may be; None where it is something else."""
    found: list[str] = []
    names: set[str] = set()
    asked = False
    pending = [path]
    for part in pending:  # grows while it is walked
        if isinstance(part, ast.Name):
            values = [value for value, _ in _assigned(part.id, scope)] if part.id not in names else []
            if not values and part.id not in names:
                return None
            names.add(part.id)
            pending += values
        elif isinstance(part, ast.Subscript) and scope.full_name(part.value) == "sys.argv":
            asked, index = True, part.slice
            at = index.value if isinstance(index, ast.Constant) else None
            if isinstance(index, ast.Slice):
                found += words
            elif isinstance(at, int) and at > 0:
                found += words[at - 1 : at]
            else:
                return None
        else:
            return None
    return tuple(found) if asked else None


def _beside(path: ast.expr) -> tuple[bool, ast.expr]:
    """Whether a path is in the directory of its module, and what it is below that."""
    if isinstance(path, ast.Call) and dotted(path.func).rpartition(".")[2] == "join" and len(path.args) == 2:
        folder, name = path.args
    elif isinstance(path, ast.BinOp) and isinstance(path.op, ast.Div):
        folder, name = path.left, path.right
    else:
        return False, path
    beside = any(isinstance(node, ast.Name) and node.id == "__file__" for node in ast.walk(folder))
    return beside, name if beside else path
