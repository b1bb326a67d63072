"""The options that a file of Python declares."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.python import dotted, parse
from shmlint.workloads.python.values import Scope, key_of


class Declaration(NamedTuple):
    """An option that a program declares, with its default and the spellings that set it."""

    key: str
    default: ast.expr | None
    scope: Scope
    place: Span
    flags: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    """Those of them that switch it off: ``--no-load``."""
    converter: ast.expr | None = None
    """What makes its value of a word: ``type=int``."""
    constant: ast.expr | None = None
    """What it is where it is given without a word: ``action="store_true"``, ``nargs="?", const=8``."""
    alone: bool = False
    """Whether it takes no word."""
    positional: bool = False
    """Whether it is a word without a spelling of its own."""
    several: bool = False
    """Whether it takes all words that are left, or any number of them."""
    rest: bool = False
    """Whether it takes all words that are left, also those that look like options."""
    commands: bool = False
    """Whether it is the word that names a command of the program: ``add_subparsers(dest="command")``."""
    statement: ast.Assign | None = None
    """The assignment that it is, which may also change what is declared elsewhere: ``args.workers = 0``."""
    owner: ast.ClassDef | None = None
    """The class whose field it is."""


SETTINGS_CLASSES = (
    "dict", "AttrDict", "ConfigDict", "DictConfig", "DotDict", "EasyDict", "edict", "Munch", "Namespace",
    "SimpleNamespace",
)  # fmt: skip
"""What programs keep their settings in, made with keywords."""
SETTINGS_OBJECTS = frozenset({"cfg", "config", "conf", "opt", "opts", "args", "FLAGS", "hparams", "params", "_C", "C"})
"""What everybody calls the object that holds the settings: ``cfg.DATALOADER.NUM_WORKERS = 4``."""


def declarations(scope: Scope) -> Iterator[Declaration]:
    """The options that a module declares: argparse, click, absl, and fields of classes."""
    for node in scope.module.nodes:
        if isinstance(node, ast.Call):
            name = dotted(node.func).rpartition(".")[2]
            of_click = name == "argument" and scope.full_name(node.func) == "click.argument"
            if name in ("add_argument", "option", "add_option", "Option") or name.startswith("DEFINE_") or of_click:
                yield from _option(node, name, scope)
            elif name == "add_subparsers":
                dest = next((k.value for k in node.keywords if k.arg == "dest"), None)
                key = key_of(dest.value) if isinstance(dest, ast.Constant) and isinstance(dest.value, str) else ""
                yield Declaration(key, None, scope, scope.span(node), commands=True)
            elif name in SETTINGS_CLASSES or name == "set_defaults":
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        yield Declaration(key_of(keyword.arg), keyword.value, scope, scope.span(keyword.value))
        elif isinstance(node, ast.Assign) and (isinstance(node.value, ast.Constant) or _counts_cpus(node.value)):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and dotted(target).partition(".")[0] in SETTINGS_OBJECTS:
                    yield Declaration(key_of(target.attr), node.value, scope, scope.span(node), statement=node)
        elif isinstance(node, ast.ClassDef):
            yield from _fields(node, scope)


def _fields(owner: ast.ClassDef, scope: Scope) -> Iterator[Declaration]:
    """The fields of a class that have defaults."""
    for item in owner.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
            default = _default_of_field(item.value)
            yield Declaration(key_of(item.target.id), default, scope, scope.span(item), owner=owner)


def _counts_cpus(node: ast.expr) -> bool:
    """Whether a value is the number of CPUs, or may be: ``os.cpu_count() // 2``, ``os.cpu_count() if a else b``."""
    if isinstance(node, ast.IfExp):
        return _counts_cpus(node.body) or _counts_cpus(node.orelse)
    operand = node.left if isinstance(node, ast.BinOp) else node
    return isinstance(operand, ast.Call) and dotted(operand.func).rpartition(".")[2] == "cpu_count"


@cache
def parser_of_detectron() -> tuple[Declaration, ...]:
    """The options of ``detectron2.engine.default_argument_parser``.

    https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/engine/defaults.py#L78
    """
    module = parse(_PARSER_OF_DETECTRON)
    assert module is not None
    return tuple(declarations(Scope("", Source("", _PARSER_OF_DETECTRON), module, None, None)))


_PARSER_OF_DETECTRON = """
parser.add_argument("--config-file", default="")
parser.add_argument("--resume", action="store_true")
parser.add_argument("--eval-only", action="store_true")
parser.add_argument("--num-gpus", type=int, default=1)
parser.add_argument("--num-machines", type=int, default=1)
parser.add_argument("--machine-rank", type=int, default=0)
parser.add_argument("--dist-url", default="tcp://")
parser.add_argument("opts", default=None, nargs=argparse.REMAINDER)
"""


def _option(node: ast.Call, called: str, scope: Scope) -> Iterator[Declaration]:
    """What a call of argparse, click or absl declares."""
    names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if called.startswith("DEFINE_"):
        if names and len(node.args) > 1:
            yield Declaration(key_of(names[0]), node.args[1], scope, scope.span(node))
        return
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    flags = [name for name in names if name.startswith("-")]
    longest = next((name for name in flags if name.startswith("--")), flags[0] if flags else "")
    named = keywords.get("dest")
    dest = named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else ""
    dest = dest or next((name for name in names if not name.startswith("-")), "") or longest.lstrip("-")
    default = keywords.get("default")
    action = keywords.get("action")
    name = action.value if isinstance(action, ast.Constant) else dotted(action).rpartition(".")[2] if action else ""
    is_flag = keywords.get("is_flag")
    slashed = called == "option" and any("/" in flag for flag in flags)
    if slashed or (isinstance(is_flag, ast.Constant) and is_flag.value is True and "flag_value" not in keywords):
        name = "store_true"  # of click
    if default is None and name in _SWITCHES:
        default = ast.Constant(not _SWITCHES[name])
    if "envvar" in keywords and called == "option":
        default = of_variable(keywords["envvar"], default)
    constant = ast.Constant(_SWITCHES[name]) if name in _SWITCHES else keywords.get("const")
    on, off = _spellings(flags, negated=name == "BooleanOptionalAction")
    yield Declaration(
        key_of(dest), default, scope, scope.span(node), (*on, *off), off, keywords.get("type"), constant,
        alone=name in _ALONE, positional=called in ("add_argument", "argument") and not flags,
        several=_is_several(keywords.get("nargs")), rest=_is_rest(keywords.get("nargs")),
    )  # fmt: skip


def of_variable(name: ast.expr, default: ast.expr | None) -> ast.expr:
    """``os.environ.get(name, default)``: what a library reads from the environment of the container."""
    environ = ast.Attribute(ast.Name("os", ast.Load()), "environ", ast.Load())
    made = ast.Call(ast.Attribute(environ, "get", ast.Load()), [name, *([default] if default is not None else [])], [])
    return ast.fix_missing_locations(ast.copy_location(made, default or name))


def _is_several(node: ast.expr | None) -> bool:
    """Whether an argument may take more than one word: ``nargs="+"``, but not ``nargs="?"``."""
    return node is not None and getattr(node, "value", None) != "?"


def _is_rest(node: ast.expr | None) -> bool:
    """``nargs=argparse.REMAINDER``."""
    return isinstance(node, ast.Constant | ast.Attribute | ast.Name) and (
        dotted(node).rpartition(".")[2] == "REMAINDER" or getattr(node, "value", None) == "..."
    )


_SWITCHES = {"store_true": True, "store_false": False}
_ALONE = frozenset({*_SWITCHES, "store_const", "append_const", "count", "BooleanOptionalAction"})
"""Actions of options that take no word."""


def _spellings(flags: list[str], *, negated: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What sets an option, and what switches it off: ``--load/--no-load`` of click, and what argparse negates."""
    on = tuple(key_of(flag.partition("/")[0]) for flag in flags)
    off = tuple(key_of(flag.partition("/")[2]) for flag in flags if "/" in flag)
    return on, off + tuple(f"no_{flag}" for flag in on if negated)


def _default_of_field(value: ast.expr) -> ast.expr | None:
    """The default in ``field(default=…)``, ``Field(…)``, or the value itself."""
    makers = ("field", "Field", "Option", "Argument")
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in makers:
        named = next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
        made = next((keyword.value for keyword in value.keywords if keyword.arg == "default_factory"), None)
        named = made.body if named is None and isinstance(made, ast.Lambda) else named
        return named if named is not None else value.args[0] if value.args else None
    return value
