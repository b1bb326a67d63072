"""Python that is parsed, and Python that is not."""

from __future__ import annotations

import ast

from shmlint.syntax.python import parse
from tests.table import table


@table(
    "text, places",
    [
        ("def f[T](x: T) -> list[T]:\n    return g(x)\n", [(2, 11)]),
        ("class A[**P, T: dict[str, int]](B, g(1)):\n    async def f[T](self):\n        g(1)\n", [(1, 35), (3, 8)]),
        ("type Device = g('cpu')\ntype Two[T] = list[T]\nx = {'type': g(1)}\n", [(1, 14), (3, 13)]),
        ("""f"a {n["b"]} {{c}} {x['d']} {n["e"]}", g("c")\n""", [(1, 39)]),
        ("""h("x", F"{x["a"]}" "b", g("c"))\n""", [(1, 24)]),
    ],
)
def test_python_of_later_versions_is_read(text: str, places: list[tuple[int, int]]) -> None:
    """By all versions that run this, and what it calls stays in its place."""
    module = parse(text)
    assert module is not None
    calls = [node for node in module.nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "g"]
    assert [(node.lineno, node.col_offset) for node in calls] == places


def test_python_that_cannot_be_read_is_no_module() -> None:
    assert parse("def f(:\n") is None and parse("x = 1\n") is not None
