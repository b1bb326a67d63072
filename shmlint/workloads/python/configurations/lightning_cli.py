"""What Lightning's own command line makes: the trainer, the model and the data, as its configuration says.

https://lightning.ai/docs/pytorch/stable/cli/lightning_cli_advanced.html
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import LOADERS
from shmlint.workloads.program import Entry
from shmlint.workloads.python.configurations.settings_files import OPEN, Part, call_of, read_value
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.values import UNKNOWN, Scope

_PARAMETERS = ("model_class", "datamodule_class", "save_config_callback", "save_config_kwargs", "trainer_class")
"""Those that may be given by position, as far as these matter."""
_UNDERSTOOD = frozenset(
    {*_PARAMETERS, "trainer_defaults", "seed_everything_default", "parser_kwargs", "subclass_mode_model",
     "subclass_mode_data", "args", "run", "auto_configure_optimizers"}
)  # fmt: skip
_MOST = 40
"""Objects that one call makes, as far as they stand for themselves."""
_MOST_WORDS = 200
_GROUPS = ("model", "data", "trainer")
_PLAIN_OPTIONS = frozenset({"parser_mode", "description", "prog", "epilog", "exit_on_error", "error_handler"})
"""Options of its parser that change no value."""
_OF_CLASS = ("class_path", "init_args", "dict_kwargs")
_DECLARES = frozenset(
    {"link_arguments", "add_argument", "add_optimizer_args", "add_lr_scheduler_args", "add_lightning_class_args",
     "add_class_arguments", "add_subclass_arguments", "add_function_arguments", "super", "add_arguments_to_parser"}
)  # fmt: skip
"""What a class that extends the command line may call to declare more; only the first changes what there is."""


_HOOKS = ("add_arguments_to_parser", "before_instantiate_classes", "instantiate_classes")
"""Methods that code may replace."""

_Given = Mapping[str | None, ast.expr]
_Call = tuple[ast.Call, Part]


class Made(NamedTuple):
    """The calls that a configuration stands for, each with its place, and what is called of what it makes."""

    calls: tuple[tuple[ast.Call, Part], ...]
    methods: tuple[str, ...]


class LightningCli:
    """Reads a command with its configuration files; ``trainer`` is what it makes unless the call names another."""

    def __init__(self, trainer: str, scope: Scope, evaluator: Evaluator, entry: Entry) -> None:
        self._trainer = trainer
        self._scope = scope
        self._evaluator = evaluator
        self._options = evaluator.options
        self._words = entry.arguments
        self._entry = entry.path
        self._nowhere = Part({}, scope.source)
        self._links: tuple[str, ...] = ()

    def made(self, node: ast.Call, owner: ast.ClassDef | None) -> Made | None:
        """What a call makes, through a class of the repository or not; None where that is not all written down."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        given.update(zip(_PARAMETERS, node.args, strict=False))
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred or not _UNDERSTOOD.issuperset(name or OPEN for name in given) or len(node.args) > len(_PARAMETERS):
            return None
        hooked = owner is not None and any(map(self._evaluator.changes.is_given, _HOOKS))
        links = () if owner is None else None if hooked else _links(owner)
        words, runs = self._given_words(given.get("args")), self._constant(given.get("run"), default=True)
        below = self._defaults(given)
        if links is None or words is None or below is None or not isinstance(runs, bool):
            return None
        self._links = links
        parsed = self._parse(words, below, runs=runs, files=_default_files(given.get("parser_kwargs")))
        if parsed is None or parsed[0] not in LOADERS:
            return None
        command, root = parsed
        if not self._is_understood(root):
            return None
        calls = [self._group(name, root, given) for name in _GROUPS]
        more = [(key, part) for key, part in root.entries.items() if key not in _GROUPS and self._class(part)]
        calls += [self._call(self._class(part), part) for _, part in more]
        if None in calls or len(calls) > _MOST:
            return None
        return Made(tuple(call for call in calls if call), LOADERS[command])

    def _given_words(self, args: ast.expr | None) -> Sequence[str] | None:
        if args is None or self._constant(args, default=None) is None:
            return self._words
        items = args.elts if isinstance(args, ast.List) else ()
        words = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return words if items and len(words) == len(items) else None

    def _constant(self, node: ast.expr | None, *, default: object) -> object:
        if node is None:
            return default
        found = self._evaluator.value(node, self._scope)
        return found.value if found.certain else UNKNOWN

    def _defaults(self, given: _Given) -> Part | None:
        """What the call says of the trainer, which any configuration beats."""
        node = given.get("trainer_defaults")
        if isinstance(node, ast.Name):
            found = self._evaluator.given_to(node, self._scope)
            node = found[0][0] if len(found) == 1 else node
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return self._nowhere
        if not isinstance(node, ast.Dict):
            return None
        found_in = self._nowhere
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant):
                return None
            known = value.value if isinstance(value, ast.Constant) else UNKNOWN
            found_in = found_in.put(("trainer", str(key.value)), Part(known, self._scope.source))
        return found_in

    # The command --------------------------------------------------------------------------------

    def _parse(
        self, words: Sequence[str], below: Part, *, runs: bool, files: Sequence[tuple[str, str]] | None
    ) -> tuple[str, Part] | None:
        """The command and its configuration; None where a word or a file is not understood."""
        command = next((word for word in words if word in LOADERS), "")
        if files is None or bool(command) is not runs or len(words) > _MOST_WORDS:
            return None
        for where, path in files:
            part = self._file(path) if self._options.file(path) is not None else self._nowhere
            if part is None:
                return None
            part = part if where else _of_command(part, command)
            below = part.over(below) if where in ("", command) else below
        root, begun, at = below, not runs, 0
        while at < len(words):
            word = words[at]
            name, equals, value = word.partition("=")
            at += 1
            if word == command and not begun:
                begun = True
                continue
            if not equals:
                value, at = (words[at] if at < len(words) else "$"), at + 1
            laid = self._option(name, value, root, command="" if begun else command)
            if laid is None:
                return None
            root = laid
        return (command, root) if begun else None

    def _option(self, name: str, value: str, root: Part, *, command: str) -> Part | None:
        """A configuration with an option of the command; before the command itself with those of all."""
        if name in ("-c", "--config"):
            part = self._file(value)
            return (_of_command(part, command) if command else part).over(root) if part is not None else None
        odd = not name.startswith("--") or name.endswith("+") or name in ("--help", "--print_config")
        if command or odd or value.startswith("--"):
            return None
        path = name[2:].split(".")
        if len(path) == 1 and path[0] in _GROUPS:
            if value.endswith((".yaml", ".yml", ".json")):
                part = self._file(value)
                return root.put(path, part.over(root.entries.get(path[0], self._nowhere))) if part is not None else None
            return root.put([*path, "class_path"], Part(value, self._scope.source)) if "$" not in value else None
        group = root.entries.get(path[0], self._nowhere)
        if "class_path" in group.entries and len(path) > 1 and path[1] not in _OF_CLASS:
            path.insert(1, "init_args")
        inside = [root.get(path[:end]) for end in range(1, len(path))]
        if any(part is not None and not isinstance(part.value, dict | None.__class__) for part in inside):
            return root if not _COUNTS.intersection(path) else None  # of one that is in a list
        return root.put(path, read_value(value, self._scope.source))

    def _file(self, path: str) -> Part | None:
        found = self._options.file(path)
        return self._options.settings(found) if found is not None else None

    # What it makes ------------------------------------------------------------------------------

    def _is_understood(self, part: Part) -> bool:
        """Whether each class in a part is named in full, by its key, and each key is one."""
        if isinstance(part.value, tuple):
            return all(map(self._is_understood, part.value))
        if "class_path" in part.entries and self._class(part) is None:
            return False
        if "." in part.text and all(word.isidentifier() for word in part.text.split(".")):
            return not isinstance((self._evaluator.definition(part.text, self._scope) or [None])[0], ast.ClassDef)
        inner = ((key, one) for key, one in part.entries.items() if key != "class_path")
        return all("." not in key and self._is_understood(one) for key, one in inner)

    def _group(self, name: str, root: Part, given: _Given) -> _Call | tuple[()] | None:
        """The call that makes the model, the data or the trainer; nothing where there is none."""
        part = root.entries.get(name, self._nowhere)
        own = given.get({"data": "datamodule_class"}.get(name, f"{name}_class"))
        own = None if isinstance(own, ast.Constant) and own.value is None else own
        if part.value is not None and not isinstance(part.value, dict):
            return None
        linked = {link.rpartition(".")[2]: Part(UNKNOWN, part.source) for link in self._links if link.startswith(name)}
        if "class_path" in part.entries:
            found = self._class(part)
            return self._call((found[0], {**found[1], **linked}), part) if found is not None else None
        target = self._name_of(own) if own is not None else self._trainer if name == "trainer" else ""
        if target is None or (own is not None and self._constant(given.get(f"subclass_mode_{name}"), default=False)):
            return None
        return self._call((target, {**part.entries, **linked}), part) if target else None if part.entries else ()

    def _call(self, found: tuple[str, Mapping[str, Part]] | None, part: Part) -> _Call | None:
        return (call_of(*found, part, self._class), part) if found is not None else None

    def _class(self, part: Part) -> tuple[str, Mapping[str, Part]] | None:
        """The class that a part of the configuration names, and its arguments."""
        name = part.entries["class_path"].text if "class_path" in part.entries else ""
        name = self._in_full(name)
        if not all(word.isidentifier() for word in name.split(".")):
            return None
        arguments: dict[str, Part] = {}
        for key in ("init_args", "dict_kwargs"):
            inner = part.entries.get(key)
            if inner is not None and isinstance(inner.value, dict):
                arguments.update(inner.value)
            elif inner is not None and inner.value is not None:
                arguments[OPEN] = inner
        return name, arguments

    def _in_full(self, name: str) -> str:
        """A name of a class as Python imports it: a short one is that of a class which the program has or imports."""
        head, dot, rest = name.partition(".")
        if head == "__main__":
            return f"{os.path.basename(self._entry).removesuffix('.py')}{dot}{rest}"
        return name if dot else self._name_of(ast.Name(name, ast.Load())) or "" if self._is_own(name) else ""

    def _is_own(self, name: str) -> bool:
        return name in self._scope.module.definitions or name in self._scope.module.imports

    def _name_of(self, node: ast.expr) -> str | None:
        """The dotted name by which the program imports a class; None where it can not."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        name = dotted(node)
        own = name in self._scope.module.definitions
        found = self._evaluator.definition(name if own else self._scope.full_name(node), self._scope)
        if found is None:
            full = self._scope.full_name(node)
            return full if full != name and not full.startswith(".") else None
        path = os.path.relpath(found[1].path, os.path.dirname(self._entry) or ".").removesuffix(".py")
        module = path.replace(os.sep, ".").removesuffix(".__init__")
        return f"{module}.{found[0].name}" if not path.startswith("..") else None


_PATTERN = frozenset("*?[~$")
"""Characters of a path that stands for others."""
_COUNTS = frozenset({"num_workers", "batch_size", "devices", "strategy", "accelerator", "class_path"})


def _of_command(root: Part, command: str) -> Part:
    """What a file says of one command that has a section for each of them."""
    found = root.entries.get(command)
    return found if found is not None and isinstance(found.value, dict) else root._replace(value={})


def _links(owner: ast.ClassDef) -> tuple[str, ...] | None:
    """The arguments that a class which extends the command line takes from others; None where it changes more."""
    links: list[str] = []
    if len(owner.bases) > 1 or owner.keywords or owner.decorator_list:
        return None
    for part in owner.body:
        if isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)):
            continue
        if not isinstance(part, ast.FunctionDef) or part.decorator_list:
            return None
        if part.name == "add_arguments_to_parser":
            calls = [inner for inner in ast.walk(part) if isinstance(inner, ast.Call)]
            if any(isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) for inner in ast.walk(part)):
                return None
            if not all(dotted(call.func).rpartition(".")[2] in _DECLARES for call in calls):
                return None
            links += _linked(calls)
        elif not part.name.startswith(("before_", "after_")) or part.name == "before_instantiate_classes":
            return None
    return tuple(links) if OPEN not in links else None


def _linked(calls: Sequence[ast.Call]) -> Iterator[str]:
    for call in calls:
        if dotted(call.func).endswith("link_arguments"):
            given = [*call.args[:1], *call.args[1:2]] if any(map(_is_starred, call.args)) else call.args[1:2]
            given += (keyword.value for keyword in call.keywords if keyword.arg in ("target", None))
            yield from (text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else OPEN
                        for text in given)  # fmt: skip


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _default_files(node: ast.expr | None) -> list[tuple[str, str]] | None:
    """The configuration files that are there without being given, each with its command, if any; None: not known."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return []
    found: list[tuple[str, str]] = []
    pending = [("", node)]
    for command, inner in pending:
        if not isinstance(inner, ast.Dict):
            return None
        for key, value in zip(inner.keys, inner.values, strict=True):
            name = key.value if isinstance(key, ast.Constant) else None
            if name == "default_config_files" and isinstance(value, ast.List):
                texts = [item.value if isinstance(item, ast.Constant) else None for item in value.elts]
                if not all(isinstance(text, str) and not _PATTERN.intersection(text) for text in texts):
                    return None
                found += [(command, str(text)) for text in texts]
            elif name in LOADERS and not command:
                pending.append((str(name), value))
            elif name not in _PLAIN_OPTIONS:
                return None
    return found
