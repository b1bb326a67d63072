"""Mappings that code reads from files of YAML and JSON: ``yaml.safe_load(open("fit.yaml"))``."""

from __future__ import annotations

import ast

from shmlint.syntax.python import dotted, module_of
from shmlint.workloads.python.configurations.settings_files import Part, expression
from shmlint.workloads.python.values import DictValue, Scope

_LOADS = frozenset(
    {"yaml.safe_load", "yaml.full_load", "yaml.unsafe_load", "yaml.load", "json.load", "json.loads", "OmegaConf.load"}
)
_OPENS = frozenset({"open", "Path", "open_text"})


def path_read(call: ast.Call, scope: Scope) -> ast.expr | None:
    """The path of the file that a call reads as a mapping; None for any other call."""
    if ".".join(scope.full_name(call.func).split(".")[-2:]) not in _LOADS or not call.args:
        return None
    given = call.args[0]
    if isinstance(given, ast.Name):
        given = _opened_as(given.id, scope) or given
    while isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and not given.args:
        given = given.func.value  # `Path(path).open()`, `open(path).read()`
    if isinstance(given, ast.Call):
        opens = dotted(given.func).rpartition(".")[2] in _OPENS and given.args
        return given.args[0] if opens else None
    return given if scope.full_name(call.func).endswith("OmegaConf.load") else None


def _opened_as(name: str, scope: Scope) -> ast.expr | None:
    """The only call that a file has its name of: ``with open(path) as file``."""
    code = scope.function or scope.module.tree
    items = (item for node in ast.walk(code) if isinstance(node, ast.With | ast.AsyncWith) for item in node.items)
    opened = [one.context_expr for one in items if isinstance(one.optional_vars, ast.Name)
              and one.optional_vars.id == name]  # fmt: skip
    return opened[0] if len(opened) == 1 else None


def mapping_of(path: str, part: Part) -> DictValue:
    """What a file holds, as the code would write it."""
    scope = Scope(path, part.source, module_of(ast.Module([], []), part.source.text), None, None)
    return DictValue({key: (expression(one, part, lambda _: None), scope) for key, one in part.entries.items()}, True)
