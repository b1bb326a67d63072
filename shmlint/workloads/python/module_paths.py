"""The files that Python code opens beside its own modules: paths that it puts together of ``__file__``."""

from __future__ import annotations

import ast
import os
import re

from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.named_modules import ANY, NamedModules, Names
from shmlint.workloads.python.values import Scope

_ROOT = "/<repository>/"
"""Stands for the repository in a path; nothing above it is known."""
_WORKING = "/<working directory>/"
"""Stands for the directory in which the program is started."""
_SAME = frozenset(
    {"abspath", "realpath", "normpath", "Path", "PurePath", "str", "fspath", "resolve", "absolute", "as_posix"}
)
"""Functions and methods that give the same path in another form."""
_MOST_LEVELS = 10
_FIELD = r"%s|\{0?\}"


class ModulePaths(NamedModules):
    """Puts paths together that begin with the directory of a module."""

    def __init__(self, evaluator: Evaluator, root: str) -> None:
        super().__init__(evaluator)
        self._root = root

    def files(self, node: ast.expr, scope: Scope) -> Names:
        """The paths of the repository that an expression may be; none where one is not known, or is no such path."""
        found = [os.path.normpath(path) for path in self.written(node, scope)]
        if any(ANY in path or not path.startswith(_ROOT) for path in found):
            return ()
        return tuple(os.path.join(self._root, path.removeprefix(_ROOT)) for path in found)

    def below_working(self, node: ast.expr, scope: Scope) -> str | None:
        """The path that an expression is, from the working directory; None where it is another one, or several."""
        found = [os.path.normpath(path) for path in self.written(node, scope)]
        inside = len(found) == 1 and ANY not in found[0] and found[0].startswith(_WORKING)
        return found[0].removeprefix(_WORKING) if inside else None

    def texts(self, node: ast.expr, scope: Scope, depth: int) -> Names:
        """The texts that an expression may be; ``.parents[1]`` is a directory two levels above a path."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            at = node.slice.value if isinstance(node.slice, ast.Constant) else None
            levels = at + 1 if isinstance(at, int) and 0 <= at < _MOST_LEVELS else 0
            return self._up(node.value.value, levels, scope, depth) if levels else ()
        return super().texts(node, scope, depth)

    def _of_call(self, node: ast.Call, scope: Scope, depth: int) -> Names:
        name = scope.full_name(node.func)
        if name in ("os.getcwd", "pathlib.Path.cwd"):
            return (_WORKING,)
        last = name.rpartition(".")[2]
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if last == "dirname" and len(node.args) == 1:
            return self._up(node.args[0], 1, scope, depth)
        if last in _SAME and len(node.args) == 1:
            return self.texts(node.args[0], scope, depth + 1)
        if last in _SAME and method is not None and not node.args:
            return self.texts(method.value, scope, depth + 1)
        if last == "joinpath" and method is not None:
            return self._path((method.value, *node.args), scope, depth)
        if last == "format" and method is not None and len(node.args) == 1 and not node.keywords:
            return self._filled(method.value, node.args[0], scope, depth)
        return super()._of_call(node, scope, depth)

    def _of_operation(self, node: ast.BinOp, scope: Scope, depth: int) -> Names:
        if isinstance(node.op, ast.Mod):
            return self._filled(node.left, node.right, scope, depth)
        return super()._of_operation(node, scope, depth)

    def _of_name(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Names:
        if isinstance(node, ast.Name) and node.id == "__file__":
            return (_ROOT + os.path.relpath(scope.path, self._root).replace(os.sep, "/"),)
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            return self._up(node.value, 1, scope, depth)
        return super()._of_name(node, scope, depth)

    def _up(self, node: ast.expr, levels: int, scope: Scope, depth: int) -> Names:
        """The directories some levels above paths."""
        found = self.texts(node, scope, depth + 1)
        for _ in range(levels):
            found = tuple(os.path.dirname(os.path.normpath(path)) for path in found)
        return found

    def _filled(self, pattern: ast.expr, given: ast.expr, scope: Scope, depth: int) -> Names:
        """A pattern with one value: ``"{}/a.yml".format(folder)``."""
        patterns, values = self.texts(pattern, scope, depth + 1), self.texts(given, scope, depth + 1)
        around = [re.split(_FIELD, text) for text in patterns]
        if any(len(parts) != len(("before", "behind")) for parts in around):
            return ()
        return tuple(value.join(parts) for parts in around for value in values)
