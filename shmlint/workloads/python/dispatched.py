"""Parameters of functions that click, typer and Fire call with the words of the command: what gives them a value."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shmlint.syntax.python import dotted, walk
from shmlint.workloads.python.assignments import Function, parameters_of
from shmlint.workloads.python.values import Scope, key_of

BY_NAME = "fire.Fire by name"
"""Fire, which is given several functions, and calls the one that the first word names."""
TAKE_OPTIONS = frozenset({"fire.Fire", BY_NAME, "typer.run"})
"""Calls that make an option of each parameter of the function which they are given."""
BY_POSITION = {"fire.Fire": 0, BY_NAME: 1}
"""Those of them for which a word alone may be any parameter, after so many words, and letters are short for one."""
_COMMANDS = frozenset({"click.command"})
_DECLARES = frozenset({"click.option", "click.argument"})
_BESIDE = frozenset({"click.version_option", "click.help_option", "click.pass_context"})
_PLAIN = frozenset({"default", "type", "help", "show_default", "required", "metavar", "hidden"})
"""Keywords of an option that neither call anything nor look for its value elsewhere, in a variable for instance."""
_TYPES = frozenset({"int", "float", "str", "click.INT", "click.FLOAT", "click.STRING"})
_OF_COMMAND = frozenset({"name", "help", "short_help", "epilog", "no_args_is_help"})
_OF_CALL = frozenset({"standalone_mode", "prog_name"})
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


def takes_plainly(name: str, function: Function) -> bool:
    """Whether a parameter is an option of its own name, of a plain type."""
    given = function.args
    found = next((one for one in (*given.args, *given.kwonlyargs) if one.arg == name), None)
    return found is not None and (found.annotation is None or dotted(found.annotation) in _TYPES)


def names_only_parameters(words: tuple[str, ...], function: Function) -> bool:
    """Whether all options among the words of a command are parameters of a function, written in full."""
    names = parameters_of(function)
    options = (word.partition("=")[0] for word in words if word.startswith("-"))
    return all(option.startswith("--") and key_of(option) in names for option in options)


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
    return given is None or scope.full_name(given) in _TYPES


def _named(decorator: ast.Call) -> list[str]:
    """The name of the parameter that an option or an argument of click is for; none where it is not written."""
    texts = [a.value for a in decorator.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if len(texts) != len(decorator.args) or any("/" in text for text in texts):
        return []
    own = [text for text in texts if text.isidentifier()]
    longest = [text for text in texts if text.startswith("--")] or texts
    return [key_of((own or longest)[0])] if texts else []
