"""No modules import each other; imports inside functions count, and so do those for the type checker alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported(node: ast.AST) -> Iterator[str]:
    """What code imports: modules, and the names of them, of which some are modules too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.module:
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        else:
            yield from imported(child)


def test_there_is_no_cycle() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "shmlint").rglob("*.py")
    }
    graph = {}
    for module, path in modules.items():
        names = imported(ast.parse(path.read_text(encoding="utf-8")))
        graph[module] = {name if name in modules else name.rpartition(".")[0] for name in names} & modules.keys()
        graph[module].discard(module)
    assert sum(map(len, graph.values())) > 500
    TopologicalSorter(graph).prepare()  # raises CycleError, which names them
