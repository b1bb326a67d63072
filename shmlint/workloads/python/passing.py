"""Calls that call a function for their caller: in a process, in a thread, in a pool, or with the words of a command."""

from __future__ import annotations

import ast

from shmlint.model.record import NamedTuple
from shmlint.workloads.python.values import text_of

_PASSING = {
    "submit": 0, "apply": 0, "apply_async": 0, "partial": 0, "partialmethod": 0, "spawn": 0, "to_thread": 0,
    "run_in_executor": 1, "Timer": 1,
}  # fmt: skip
"""Calls that call a function for their caller, and which of their arguments it is."""
_IN_A_LIST = frozenset({"apply", "apply_async", "spawn", "Timer"})
"""Those that take the arguments of the function in a list, and its keywords in a mapping."""
_LAUNCHES = frozenset({"detectron2.engine.launch", "detectron2.engine.launch.launch"})
"""Calls that call a function in each rank, with the arguments in the list ``args``, the sixth.

https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/engine/launch.py#L27
"""
DISPATCHERS = frozenset(
    {"fire.Fire", "coleo.auto_cli", "coleo.run_cli", "tyro.cli", "typer.run", "jsonargparse.CLI",
     "jsonargparse.auto_cli", "defopt.run", "absl.app.run", "anyio.run", "trio.run"}
)  # fmt: skip
"""Calls that call a function or the methods of a class."""


class Passed(NamedTuple):
    """The call that is made; ``written`` where all that it passes is written there."""

    call: ast.Call
    written: bool


def passed_call(name: str, node: ast.Call) -> Passed | None:
    """The call that ``Process(target=f, args=(1,))``, ``pool.submit(f, 1)`` or ``spawn(f, args=(1,))`` makes."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    last = name.rpartition(".")[2]
    listed: list[ast.expr | None]
    if "target" in keywords:
        function, left = keywords["target"], []
    elif name in _LAUNCHES and node.args:
        function, left = node.args[0], node.args[5:6]
    elif "." in name and last in _PASSING and len(node.args) > _PASSING[last]:  # else it is the module's own
        function, left = node.args[_PASSING[last]], node.args[_PASSING[last] + 1 :]
    else:
        return None
    if not isinstance(function, ast.Name | ast.Attribute):
        return None
    starred = any(keyword.arg is None for keyword in node.keywords) or any(isinstance(a, ast.Starred) for a in left)
    if "target" in keywords or name in _LAUNCHES or last in _IN_A_LIST or "args" in keywords:
        listed = [keywords.get("args"), keywords.get("kwargs") or keywords.get("kwds")]
        for at, given in enumerate(left[:2]):
            listed[at] = listed[at] or given
        arguments, given_names, written = _listed(*listed)
    else:
        arguments, given_names, written = left, node.keywords, True
    if name.endswith("multiprocessing.spawn"):
        arguments = [ast.Name("rank", ast.Load()), *arguments]  # each process is given its number first
    call = ast.copy_location(ast.Call(function, arguments, given_names), node)
    return Passed(call, written and not starred and not last.startswith("partial"))


def _listed(given: ast.expr | None, named: ast.expr | None) -> tuple[list[ast.expr], list[ast.keyword], bool]:
    """The arguments and the keywords out of a list and a mapping, and whether both are written there."""
    arguments = given.elts if isinstance(given, ast.Tuple | ast.List) else []
    pairs = zip(named.keys, named.values, strict=True) if isinstance(named, ast.Dict) else ()
    keywords = [ast.keyword(text_of(key.value), value) for key, value in pairs if isinstance(key, ast.Constant)]
    written = given is None or isinstance(given, ast.Tuple | ast.List)
    all_named = named is None or (isinstance(named, ast.Dict) and len(keywords) == len(named.keys))
    return arguments, keywords, written and all_named
