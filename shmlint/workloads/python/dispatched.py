"""Parameters of functions that click, typer and Fire call with the words of the command: what gives them a value."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from shmlint.syntax.python import Module, dotted, parents_of, walk
from shmlint.workloads.python.assignments import Function, parameters_of
from shmlint.workloads.python.declarations import of_variable
from shmlint.workloads.python.values import Scope, key_of

BY_NAME = "fire.Fire by name"
"""Fire, which is given several functions, and calls the one that the first word names."""
TAKE_OPTIONS = frozenset({"fire.Fire", BY_NAME, "typer.run", "jsonargparse.CLI", "jsonargparse.auto_cli", "tyro.cli"})
"""Calls that make an option of each parameter of the function which they are given, and of nothing else."""
TOLD_MORE = "jsonargparse told more"
"""jsonargparse, which is told of files, variables or defaults besides the words of the command."""
BY_POSITION = {"fire.Fire": 0, BY_NAME: 1}
"""Those of them for which a word alone may be any parameter, after so many words, and letters are short for one."""
_COMMANDS = frozenset({"click.command"})
_DECLARES = frozenset({"click.option", "click.argument"})
_BESIDE = frozenset({"click.version_option", "click.help_option", "click.pass_context"})
_PLAIN = frozenset(
    {
        "default", "envvar", "type", "help", "show_default", "show_envvar", "required", "metavar", "hidden", "min",
        "max", "is_flag",
    }
)  # fmt: skip
"""Keywords of an option that neither call anything nor look for its value elsewhere than in a variable."""
_TYPES = frozenset({"int", "float", "str", "click.INT", "click.FLOAT", "click.STRING"})
_RANGES = frozenset({"click.IntRange", "click.FloatRange"})
_OF_COMMAND = frozenset({"name", "help", "short_help", "epilog", "no_args_is_help"})
_OF_CALL = frozenset({"auto_envvar_prefix", "standalone_mode", "prog_name"})
CALL_AGAIN = ("callback", "invoke", "forward")
"""Methods that call the function of a command with what they are given."""


def of_click(function: Function, scope: Scope, *, grouped: bool = False) -> frozenset[str]:
    """The parameters of a command of click that only the words of the command give their values.

    ``grouped`` is whether it is one of several, each of which a group calls: ``@group.command()``.
    """
    found: set[str] = set()
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = scope.full_name(called)
        keywords = {keyword.arg for keyword in decorator.keywords} if isinstance(decorator, ast.Call) else set()
        if name in _DECLARES and isinstance(decorator, ast.Call):
            if keywords <= _PLAIN and _has_plain_type(decorator, scope):
                found.update(_named(decorator))
        elif name not in _BESIDE and not (_is_command(name, grouped) and keywords <= _OF_COMMAND):
            return frozenset()
    return frozenset(found)


def _is_command(name: str, grouped: bool) -> bool:
    return name in _COMMANDS or (grouped and name.endswith(".command"))


def is_of_group(function: Function) -> bool:
    """Whether nothing decorates a function but what makes it a command of typer: ``@app.command()``."""
    calls = (d.func for d in function.decorator_list if isinstance(d, ast.Call))
    return [dotted(called).rpartition(".")[2] for called in calls] == ["command"] * len(function.decorator_list)


def declared_by_click(function: Function, scope: Scope) -> bool:
    """Whether a function is a command of click, whose own defaults its parameters never have."""
    names = (scope.full_name(d.func) for d in function.decorator_list if isinstance(d, ast.Call))
    return any(name in _DECLARES for name in names)


def is_started_plainly(call: ast.Call) -> bool:
    """Whether a call of a command passes no words, and no settings of click: ``main()``."""
    return not call.args and all(keyword.arg in _OF_CALL for keyword in call.keywords)


def passes_words(call: ast.Call) -> bool:
    """Whether a call of a command passes words in place of those of the command."""
    return bool(call.args) or any(keyword.arg in ("args", None) for keyword in call.keywords)


def prefix_of(call: ast.Call) -> ast.expr | None:
    """The beginning of the variables that are options of a command of click: ``main(auto_envvar_prefix="FIT")``."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == "auto_envvar_prefix"), None)


def takes_plainly(name: str, function: Function) -> bool:
    """Whether a parameter is an option of its own name, of a plain type."""
    given = function.args
    found = next((one for one in (*given.args, *given.kwonlyargs) if one.arg == name), None)
    if found is None:
        return False
    described, annotation = _described(found.annotation, parameters_of(function)[name])
    plain = described is None or {keyword.arg for keyword in described.keywords} <= _PLAIN
    other = described is not None and not _is_spelt(name, described.args[described is parameters_of(function)[name] :])
    return plain and not other and (annotation is None or dotted(annotation) in _TYPES)


def default_of(name: str, function: Function) -> ast.expr | None:
    """The default of a parameter, which may be in a description of typer, and in a variable of the environment."""
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    default = parameters_of(function)[name]
    described, _ = _described(next(one.annotation for one in given if one.arg == name), default)
    if described is None:
        return default
    if not _is_spelt(name, described.args[described is default :]):
        return None
    keywords = {keyword.arg: keyword.value for keyword in described.keywords}
    if described is default:
        default = keywords.get("default", next(iter(described.args), None))
    return of_variable(keywords["envvar"], default) if "envvar" in keywords else default


def _described(annotation: ast.expr | None, default: ast.expr | None) -> tuple[ast.Call | None, ast.expr | None]:
    """What ``Annotated[int, typer.Option(…)]``, or ``int = typer.Option(8)``, says of a parameter, and its type."""
    if _is_description(default) and isinstance(default, ast.Call):
        return default, annotation
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
        return None, annotation
    found = [one for one in annotation.slice.elts[1:] if isinstance(one, ast.Call) and _is_description(one)]
    return (found[0], annotation.slice.elts[0]) if found else (None, annotation)


def _is_spelt(name: str, spellings: list[ast.expr]) -> bool:
    """Whether typer takes an option by the name of its parameter, and perhaps by letters, too."""
    texts = [one.value for one in spellings if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if len(texts) < len(spellings) or any("/" in text for text in texts):
        return False
    return not texts or next((text for text in texts if text.startswith("--")), "") in (
        f"--{name}", f"--{name.replace('_', '-')}"
    )  # fmt: skip


def _is_description(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) in ("typer.Option", "typer.Argument", "Option", "Argument")


def names_only_parameters(words: tuple[str, ...], function: Function) -> bool:
    """Whether all options among the words of a command are parameters of a function, written in full."""
    names = parameters_of(function)
    options = (word.partition("=")[0] for word in words if word.startswith("-"))
    return all(option.startswith("--") and key_of(option) in names for option in options)


def is_table(name: str, table: ast.expr, module: Module) -> bool:
    """Whether a module does nothing with a mapping from words to functions but to call what it finds there.

    ``COMMANDS = {"train": train, "serve": serve}`` with ``COMMANDS[sys.argv[1]]()``.
    """
    if not isinstance(table, ast.Dict) or not table.keys or len(_texts(filter(None, table.keys))) < len(table.keys):
        return False
    if not all(isinstance(value, ast.Name | ast.Lambda) for value in table.values):
        return False
    parents, names = _names_in(module.tree)
    uses = names.get(name, ())
    places = [parents[id(node)] for node in uses if not isinstance(node.ctx, ast.Load)]
    set_once = len(places) == 1 and isinstance(places[0], ast.Assign)
    return set_once and all(_only_finds(node, parents) for node in uses if isinstance(node.ctx, ast.Load))


@lru_cache(64)  # a module may have very many tables
def _names_in(tree: ast.Module) -> tuple[Mapping[int, ast.AST], Mapping[str, Sequence[ast.Name]]]:
    """What each node of a module is part of, and the nodes that are names."""
    names: dict[str, list[ast.Name]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, []).append(node)
    return parents_of(tree), names


def _only_finds(node: ast.Name, parents: Mapping[int, ast.AST]) -> bool:
    """Whether a mapping is asked for its keys, or a statement calls what is found in it."""
    parent = parents[id(node)]
    if isinstance(parent, ast.Compare) or (isinstance(parent, ast.Attribute) and parent.attr == "keys"):
        return True
    if isinstance(parent, ast.Call):
        return parent.func is not node and dotted(parent.func).rpartition(".")[2] in _OF_KEYS
    call = parents[id(parent)] if isinstance(parent, ast.Subscript) and parent.value is node else None
    return isinstance(call, ast.Call) and call.func is parent and isinstance(parents[id(call)], ast.Expr)


_OF_KEYS = frozenset({"join", "len", "list", "print", "set", "sorted", "tuple"})
"""Functions that only look at the keys of a mapping."""


def names_of_command(decorator: ast.expr) -> frozenset[str]:
    """The name that a decorator gives a command: ``@cli.command("train-all")``, ``@app.command(name="train")``."""
    if not isinstance(decorator, ast.Call):
        return frozenset()
    given = [keyword.value for keyword in decorator.keywords if keyword.arg == "name"]
    return frozenset(_texts([*decorator.args[:1], *given]))


def functions_by_name(call: ast.Call, scope: Scope) -> list[tuple[frozenset[str], str, str]]:
    """The functions that a call keeps for words of the command: these words, what calls the function, and its name."""
    if scope.full_name(call.func) == "fire.Fire":
        given = next(iter(call.args), None)
        pairs = zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ()
        named = [(frozenset(_texts([key] if key is not None else [])), dotted(value)) for key, value in pairs]
        return [(names, "Fire", value) for names, value in named] if all(names for names, _ in named) else []
    if not dotted(call.func).endswith(".set_defaults"):
        return []
    names = _names_of_parser(call, scope)
    functions = ((k.arg or "", k.value.id) for k in call.keywords if isinstance(k.value, ast.Name))
    return [(names, key, value) for key, value in functions] if names else []


def _names_of_parser(call: ast.Call, scope: Scope) -> frozenset[str]:
    """The names of the subcommand whose parser a method is called of; none where it is not written what it is."""
    parser = call.func.value if isinstance(call.func, ast.Attribute) else None
    around = walk(scope.function or scope.module.tree)
    if isinstance(parser, ast.Name):
        made = [
            node.value for node in around
            if isinstance(node, ast.Assign) and (node.lineno, node.col_offset) < (call.lineno, call.col_offset)
            and any(isinstance(target, ast.Name) and target.id == parser.id for target in node.targets)
        ]  # fmt: skip
        parser = max(made, key=lambda value: (value.lineno, value.col_offset)) if made else None
    if not isinstance(parser, ast.Call) or not dotted(parser.func).endswith(".add_parser"):
        return frozenset()
    aliases = (keyword.value for keyword in parser.keywords if keyword.arg == "aliases")
    others = [item for value in aliases if isinstance(value, ast.List | ast.Tuple) for item in value.elts]
    first = _texts(parser.args[:1])
    return frozenset((*first, *_texts(others))) if first else frozenset()


def _texts(nodes: Iterable[ast.expr]) -> list[str]:
    """The constant texts among expressions, as names of functions are spelt."""
    given = (node.value for node in nodes if isinstance(node, ast.Constant))
    return [text.replace("-", "_") for text in given if isinstance(text, str)]


def _has_plain_type(decorator: ast.Call, scope: Scope) -> bool:
    given = next((keyword.value for keyword in decorator.keywords if keyword.arg == "type"), None)
    if isinstance(given, ast.Call):  # a word out of its range is refused, unless it is to be clamped
        return scope.full_name(given.func) in _RANGES and all(keyword.arg != "clamp" for keyword in given.keywords)
    return given is None or scope.full_name(given) in _TYPES


def _named(decorator: ast.Call) -> list[str]:
    """The name of the parameter that an option or an argument of click is for; none where it is not written."""
    texts = [a.value for a in decorator.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if len(texts) != len(decorator.args) or any("/" in text for text in texts):
        return []
    own = [text for text in texts if text.isidentifier()]
    longest = [text for text in texts if text.startswith("--")] or texts
    return [key_of((own or longest)[0])] if texts else []
