"""What a Python file or a notebook imports, and whether it trains or loads data: by its syntax tree."""

from __future__ import annotations

import ast
import json
import re

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import Module, parse


class Looked(NamedTuple):
    """``packages`` are those that a file imports, ``works`` whether it trains or loads data."""

    packages: frozenset[str]
    works: bool


def look(path: str, text: str) -> Looked | None:
    """What a file imports and does; None where it is no Python."""
    module = _notebook(text) if path.endswith(".ipynb") else parse(text)
    if module is None:
        return None
    packages = {target.partition(".")[0] for target in (*module.imports.values(), *module.stars)}
    packages.discard("")  # modules next to the file
    return Looked(frozenset(packages), any(map(_works, module.nodes)))


def _notebook(text: str) -> Module | None:
    """The code in the cells of a notebook, without the lines that are for IPython and the cells that are not Python.

    What is no notebook has none: nobody can run it.
    """
    try:
        cells = json.loads(text)["cells"]
        texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        codes = [re.sub(r"(?m)^([ \t]*)[!%].*$", r"\1pass", cell) for cell in texts]
    except (ValueError, KeyError, TypeError, RecursionError):
        return parse("")
    return parse("\n".join(codes)) or parse("\n".join(code for code in codes if parse(code) is not None))


def _works(node: ast.AST) -> bool:
    """Whether something is the call of a loader, of a trainer, or of a loss's ``backward``."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name.endswith(("DataLoader", "Trainer")) or (name == "backward" and isinstance(called, ast.Attribute))
