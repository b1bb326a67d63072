"""What a Python file or a notebook says, imports, and whether it trains or loads data: by its syntax tree."""

from __future__ import annotations

import ast
import json
import re
from itertools import repeat

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import Module, dotted, parse


class Looked(NamedTuple):
    """What a file imports and calls, and whether it trains or loads data."""

    packages: frozenset[str]
    called: frozenset[str]
    """The dotted names of what it calls, imports followed; without trainers on one device."""
    works: bool
    steps: bool
    """Whether it has loaders of PyTorch, or trains step by step, by itself or with the trainer of transformers."""
    filled: bool
    """Whether a loader gets workers by position, without a word of it."""
    mapped: bool
    """Whether a loader is given a mapping, which may be out of a file of JSON."""
    reads: bool
    """Whether it reads JSON."""


def look(path: str, text: str) -> Looked | None:
    """What a file imports and does; None where it is no Python."""
    module = _notebook(text) if path.endswith(".ipynb") else parse(text)
    if module is None:
        return None if path.endswith(".ipynb") else _unparsed(text)
    packages = {target.partition(".")[0] for target in (*module.imports.values(), *module.stars)}
    packages.discard("")  # modules next to the file
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    called = frozenset(_full_name(node.func, module) for node in calls if not _has_one_device(node))
    reads = not called.isdisjoint({"json.load", "json.loads"})
    loaders = [node for node in calls if _is_loader(node, module)]
    steps = bool(loaders) or any(map(_has_steps, calls, repeat(module)))
    mapped = any(keyword.arg is None for node in loaders for keyword in node.keywords)
    filled = any(map(_is_filled, loaders))
    return Looked(frozenset(packages), called, any(map(_works, module.nodes)), steps, filled, mapped, reads)


def _has_steps(node: ast.Call, module: Module) -> bool:
    name = _full_name(node.func, module)
    return name.endswith(".backward") or (name.startswith("transformers.") and name.endswith("Trainer"))


def _unparsed(text: str) -> Looked | None:
    """What a file for an older Python says: ``print 1``. None where it has a word of loaders, queues or processes."""
    if re.search(_PASSES_DATA, text) is not None:
        return None
    packages = re.findall(r"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", text)
    return Looked(frozenset(packages), frozenset(), False, False, False, False, "json" in text)


_PASSES_DATA = r"DataLoader|Trainer|Queue|\bPool\b|\bProcess\b"
"""Names of what may pass data through shared memory; how, only a syntax tree tells."""


def _has_one_device(node: ast.Call) -> bool:
    """Whether a trainer gets one GPU of one host: ``Trainer(devices=1)``, ``Trainer(gpus=[0])``."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    devices, hosts = given.get("devices", given.get("gpus")), given.get("num_nodes", ast.Constant(1))
    if isinstance(devices, ast.List) and len(devices.elts) == 1:
        one = isinstance(devices.elts[0], ast.Constant)
    else:
        one = isinstance(devices, ast.Constant) and devices.value in (0, 1, "1")
    return one and isinstance(hosts, ast.Constant) and hosts.value == 1


def _is_loader(node: ast.Call, module: Module) -> bool:
    return _full_name(node.func, module).endswith("DataLoader")


def _is_filled(node: ast.Call) -> bool:
    """Whether a loader is given its workers by position: the sixth."""
    sixth = node.args[5] if len(node.args) > 5 else ast.Constant(0)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    return starred or not (isinstance(sixth, ast.Constant) and sixth.value == 0)


def _full_name(node: ast.expr, module: Module) -> str:
    head, dot, rest = dotted(node).partition(".")
    return f"{module.imports.get(head, head)}{dot}{rest}"


def spoken(path: str, text: str) -> str:
    """A file without its comments and docstrings, a notebook without its output; as it is where that is not known."""
    if path.endswith(".ipynb"):
        cells = _cells(text)
        text = "\n".join(cells) if cells is not None else text
    lines = text.split("\n")
    module = parse(text) if path.endswith(".py") else None
    for node in ast.walk(module.tree) if module is not None else ():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _notebook(text: str) -> Module | None:
    """The code in the cells of a notebook, without the lines that are for IPython and the cells that are not Python.

    What is no notebook has none: nobody can run it.
    """
    cells = _cells(text)
    if cells is None:
        return parse("")
    codes = [re.sub(r"(?m)^([ \t]*)[!%].*$", r"\1pass", cell) for cell in cells]
    return parse("\n".join(codes)) or parse("\n".join(code for code in codes if parse(code) is not None))


def _cells(text: str) -> list[str] | None:
    """The code in the cells of a notebook; None for what is none."""
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _works(node: ast.AST) -> bool:
    """Whether something is the call of a loader, of a trainer, of a model's ``fit``, or of a loss's ``backward``."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    method = name in ("backward", "fit", "train_on_batch") and isinstance(called, ast.Attribute)
    return method or name.endswith(("DataLoader", "Trainer", "GradientTape"))
