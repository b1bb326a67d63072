"""A function that is longer than a screen is hard to read, so none has more than 60 lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "shmlint"
MOST = 60


def functions() -> Iterator[tuple[str, int]]:
    """The functions and methods of the package, and how many lines each has from its first decorator on."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield f"{module}.{node.name}", (node.end_lineno or first) - first + 1


def test_no_function_is_longer_than_a_screen() -> None:
    assert {name: lines for name, lines in functions() if lines > MOST} == {}
