"""What the code of a program changes from elsewhere, and what it hands on so that others may call it.

A value that is written down says little where other code may replace it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import dotted
from shmlint.workloads.python.assignments import Function, parameters_of
from shmlint.workloads.python.configurations.loaded_files import path_read
from shmlint.workloads.python.declarations import SETTINGS_CLASSES, SETTINGS_OBJECTS
from shmlint.workloads.python.lineage import is_own_class
from shmlint.workloads.python.values import Scope, text_of

ANY = ""
"""Stands for all names, where one is not written there."""
PLAIN_DECORATORS = frozenset(
    {
        "property", "staticmethod", "classmethod", "setter", "lru_cache", "cache", "no_grad", "inference_mode", "wraps",
        "contextmanager", "asynccontextmanager", "dataclass", "abstractmethod", "jit", "njit", "script", "override",
        "cached_property", "overload", "total_ordering", "unused", "ignore", "compile", "autocast", "custom_fwd",
    }
)  # fmt: skip
"""Decorators that leave the calls of what they decorate as they are."""
_COMMANDS = frozenset({"command", "main", "hydra_main", "group", "option", "argument", "callback", "record"})
"""Decorators of what is called with the words of the command, or without arguments."""
_PLAIN_TYPES = frozenset({"ABCMeta", "EnumMeta", "EnumType", "type"})
_ENVIRONMENT = frozenset({"os.environ.update", "os.environ.setdefault", "os.putenv"})
_WITH_VARIABLES = frozenset(
    {"os.execle", "os.execlpe", "os.execve", "os.execvpe", "os.spawnle", "os.spawnlpe", "os.spawnve", "os.spawnvpe",
     "os.posix_spawn", "os.posix_spawnp"}
)  # fmt: skip
"""Calls that start a program with variables of its own."""
PARSES = frozenset(
    {"parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args",
     "parse_args_into_dataclasses"}
)  # fmt: skip
"""Calls that parse the words of the command, or those that they are given."""
_PATCHES = frozenset({"setenv", "patch"})
_OF_OPTIONS = PARSES | {"set_defaults", "ArgumentParser"}
_PUTS = frozenset({"update", "setdefault", "__setitem__", "setitem"})
"""Calls that put something into a mapping."""
_OF_FUNCTIONS = frozenset({"__defaults__", "__kwdefaults__", "__code__"})
"""Attributes of functions that decide what they do, and with what."""
IMPORT = "__import__"
_CHANGES_LISTS = frozenset({"append", "extend", "insert"})
_SHORTENS_LISTS = frozenset({"clear", "pop", "remove"})


class _Put(NamedTuple):
    """Where a key is put into a mapping."""

    mapping: str
    function: Function | None
    module: ast.Module | None

    def is_of(self, mapping: str, code: ast.AST | None) -> bool:
        """Whether it is put into the mapping of that name of some code, by this very code."""
        own = code in (None, self.function) or (self.function is None and code is self.module)
        return self.mapping == mapping and "?" not in mapping and own


class Assigned(NamedTuple):
    """What a statement gives an attribute of another object than the code's own."""

    holder: ast.expr
    value: ast.expr | None
    """None where the statement gives it in another way than ``holder.name = value``, or may not run."""
    scope: Scope


class Changes:
    """What the statements and calls that were reached change of other objects and modules, by name."""

    fills_from_file = False
    """Whether code fills an object with a file of settings: ``vars(args).update(json.load(open(args.config)))``."""

    def __init__(
        self, given: Callable[[ast.Name, Scope], list[tuple[ast.expr, Scope]]],
        changed: Callable[[str, Function | None], bool],
    ) -> None:  # fmt: skip
        self._given = given  # tells the values that a name is given
        self._changed = changed  # tells whether a function gives a name other values, in ways that are not followed
        self.attributes: set[str] = set()
        """Attributes of other objects than the code's own: ``loader.workers = 8``, ``setattr(cls, "workers", 8)``."""
        self.computed = False
        """Whether code sets attributes of objects, other than settings, by names that are not written there."""
        self.fills_own = False
        """Whether a class fills objects that it makes of itself by names that are not written there."""
        self.fills_self = False
        """Whether a method fills its own object by names that are not written there: ``setattr(self, name, value)``."""
        self.fills_given = False
        """Whether a parser of options fills an object that it is given: ``parse_args(namespace=settings)``."""
        self.settings: set[str] = set()
        """Those of them that are not declared as an option by the very statement: ``cfg.WORKERS = 8`` is."""
        self.emptied: set[str] = set()
        """Those of the attributes that code surely sets to 0."""
        self._worked_out: dict[str, dict[int, Assigned | None]] = {}
        """By attribute and statement (0 for none): what sets it, None for others."""
        self.fills: list[tuple[ast.expr, Scope]] = []
        """What code puts into by names that are not written there: ``settings[key] = value``."""
        self._keys: dict[str, set[_Put]] = {}
        """Keys of mappings, ``settings["workers"] = 8``, with the names of these and the code that puts them there."""
        self._filled: dict[str, set[ast.Module]] = {}
        """Mappings of other modules that code fills with what is not written there, and the modules of that code."""
        self.nested = False
        """Whether code fills a mapping so that is in another one: ``settings["data"].update(more)``."""
        self.variables: set[str] = set()
        """Variables of the environment: ``os.environ["WORKERS"] = "8"``."""
        self.words = False
        """Whether code puts options into ``sys.argv``, or parses others."""
        self.argv = False
        """Whether code changes ``sys.argv`` at all."""
        self.defaults = False
        """Whether code sets the defaults of options by names that are not written there."""
        self.prefixes = "@"
        """The characters with which a word of the command begins that is no option, and sets some."""
        self.parsed: list[tuple[ast.expr, Scope]] = []
        """The words that code parses instead of those of the command."""
        self.handed: set[str] = set()
        """Variables that it gives the programs which it starts."""
        self.made: dict[str, list[tuple[str, Scope]]] = {}
        """The classes of which objects are made, by the keywords that they are given; by none for other arguments."""
        self._kept: set[str] = set()
        """Functions, classes and (with a dot) methods that code keeps or hands on."""
        self._decorated: set[ast.AST] = set()
        """Functions and classes with decorators of the repository, which may do anything with them."""
        self._extends_any = False
        """Whether functions extend classes that they are given."""
        self._remade: set[str] = set()
        """Classes that ``type`` extends."""

    def note_statement(self, statement: ast.stmt, scope: Scope, *, surely: bool, perhaps: bool) -> None:
        """Remember what a statement sets of other objects: where it ``surely`` runs, or ``perhaps``, in a branch."""
        targets = _set_by(statement)
        if isinstance(statement, ast.AugAssign):
            self._note_augmented(statement, scope)
        for node in (node for target in targets for node in ast.walk(target)):
            holder = node.value if isinstance(node, ast.Subscript) else node
            if isinstance(holder, ast.Attribute) and holder.attr in _OF_FUNCTIONS:
                self.note_kept(dotted(holder.value), scope)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if dotted(node) == "sys.argv":
                    self._note_argv(statement, scope)
                elif node.attr == "__dict__" and dotted(node.value) != "self":
                    self._note_attribute(ANY)
                elif node.attr == "__dict__":
                    self.fills_self = True
                elif dotted(node.value) != "self":
                    self.attributes.add(node.attr)
                    self._note_worked_out(statement, node, scope, surely=surely)
                    if perhaps or not _declares(statement, node):
                        self.settings.add(node.attr)
                        self.emptied.update({node.attr} if surely and _gives_nothing(statement) else ())
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if dotted(node.value) == "sys.argv":
                    self._note_argv(statement, scope)
                self._note_item(node.value, node.slice, scope)

    def _note_worked_out(self, statement: ast.stmt, node: ast.Attribute, scope: Scope, *, surely: bool) -> None:
        """Remember what a setting is worked out of: ``args.distributed = args.world_size > 1``."""
        plain = surely and isinstance(statement, ast.Assign) and statement.targets == [node]
        value = statement.value if plain and isinstance(statement, ast.Assign) else None
        self._worked_out.setdefault(node.attr, {})[id(statement)] = Assigned(node.value, value, scope)

    def worked_out(self, node: ast.Attribute) -> tuple[ast.expr, Scope] | None:
        """What the only statement that sets a setting surely gives it; None where others may set it, too."""
        known = self.set_by(node.attr)
        only = known[0] if len(known) == 1 and not self.words and "default" not in self.attributes else None
        if only is None or only.value is None or dotted(only.holder) not in SETTINGS_OBJECTS:
            return None
        return (only.value, only.scope) if dotted(only.holder) == dotted(node.value) else None

    def set_by(self, attribute: str) -> list[Assigned]:
        """All statements that set an attribute of other objects; none where something else may set it, too."""
        known = self._worked_out.get(attribute, {})
        other = attribute in self._keys or ANY in self._worked_out or None in known.values()
        return [one for one in known.values() if one is not None] if not other else []

    def objects_with(self, attribute: str) -> list[ast.expr]:
        """What makes the objects that get an attribute later, where a name holds them: ``loader.num_workers = 0``."""
        known = [one for one in self._worked_out.get(attribute, {}).values() if one is not None]
        held = [(one.holder, one.scope) for one in known if isinstance(one.holder, ast.Name)]
        return [value for holder, scope in held for value, _ in self._given(holder, scope)]

    def names_set(self) -> list[str]:
        """The attributes of other objects that statements set."""
        return [name for name, known in self._worked_out.items() if any(one is not None for one in known.values())]

    def _note_method_of_argv(self, last: str, node: ast.Call, scope: Scope) -> None:
        self.argv = self.argv or last in _CHANGES_LISTS or last in _SHORTENS_LISTS
        for argument in node.args if last in _CHANGES_LISTS else ():
            self.note_words(argument)
            self.parsed += ((argument, scope),) if last == "extend" else ()

    def _note_argv(self, statement: ast.stmt, scope: Scope) -> None:
        self.argv = True
        self.note_words(statement)
        if isinstance(statement, ast.Assign | ast.AugAssign):
            self.parsed.append((statement.value, scope))

    def _note_augmented(self, statement: ast.AugAssign, scope: Scope) -> None:
        if dotted(statement.target).endswith("environ"):
            self.variables.add(ANY)
        elif isinstance(statement.op, ast.BitOr):
            self._note_update(ast.Call(statement.target, [statement.value], []), "update", statement.target, scope)

    def _note_item(self, holder: ast.expr, item: ast.expr, scope: Scope) -> None:
        key = text_of(item.value) if isinstance(item, ast.Constant) else ANY
        if dotted(holder).endswith("environ"):
            self.variables.add(key)
        elif self._is_namespace(holder, scope):
            self._note_namespace(key, holder, scope)
        elif _is_of_self(holder):
            self.fills_self = self.fills_self or not key
        elif key:
            self._note_key(key, holder, scope)
        else:
            self.fills.append((holder, scope))
            self._note_filled(holder, scope)

    def _note_key(self, key: str, holder: ast.expr, scope: Scope) -> None:
        self._keys.setdefault(key, set()).add(_Put(dotted(holder), scope.function, scope.module.tree))

    def _note_filled(self, holder: ast.expr, scope: Scope) -> None:
        if dotted(holder).partition(".")[0] in scope.module.imports:
            self._filled.setdefault(dotted(holder).rpartition(".")[2], set()).add(scope.module.tree)

    def _is_namespace(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is the attributes of another object than the code's own: ``vars(module)``."""
        if isinstance(node, ast.Name):
            return any(_is_namespace(value) for value, _ in self._given(node, scope))
        return _is_namespace(node)

    def _is_loaded(self, node: ast.Call, scope: Scope) -> bool:
        """Whether a mapping is filled with what a file of settings has, and with nothing else."""
        given = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(given, ast.Name):
            return isinstance(given, ast.Call) and path_read(given, scope) is not None
        values = list(self._given(given, scope))
        return bool(values) and all(
            isinstance(value, ast.Call) and path_read(value, where) is not None for value, where in values
        )

    def _note_namespace(self, name: str, holder: ast.expr, scope: Scope) -> None:
        """Remember what is put into the attributes of an object: its class may have made it of itself."""
        inner = holder.args[:1] if isinstance(holder, ast.Call) else []
        if isinstance(holder, ast.Attribute):
            inner = [holder.value]
        if inner and self._is_own_object(inner[0], scope):
            self.attributes.add(name)
            self.fills_own = True
        else:
            self._note_attribute(name)

    def _is_own_object(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a class that extends no other one has just made an object of itself: ``config = cls()``."""
        owner, function = scope.owner, scope.function
        if owner is None or function is None or not isinstance(node, ast.Name) or self._changed(node.id, function):
            return False
        if node.id in parameters_of(function) or any(dotted(base) != "object" for base in owner.bases):
            return False
        if owner.keywords or owner.decorator_list or any(map(_is_shared, ast.walk(owner))):
            return False
        values = [value for value, _ in self._given(node, scope)]
        made = (value for value in values if isinstance(value, ast.Call) and isinstance(value.func, ast.Name))
        return bool(values) and [dotted(call.func) in ("cls", owner.name) for call in made] == [True] * len(values)

    def _note_attribute(self, name: str) -> None:
        self.note_attributes((name,))

    def note_attributes(self, names: Iterable[str]) -> None:
        """Remember attributes that code gives values."""
        for name in names:
            self.attributes.add(name)
            self.settings.add(name)
            self._worked_out.setdefault(name, {})[0] = None

    def note_given(self, name: str) -> None:
        """Remember what code that is made of text gives a value: a name of a module, an attribute or a key."""
        self._note_attribute(name)
        self._keys.setdefault(name, set()).add(_Put(ANY, None, None))

    def note_call(self, name: str, node: ast.Call, scope: Scope) -> None:
        """Remember what a call changes: ``setattr``, ``vars(module).update``, ``os.environ.update``, ``type``."""
        last = name.rpartition(".")[2]
        made = node.func.id if last[:1].isupper() and isinstance(node.func, ast.Name) else ""
        if scope.owner is not None and is_own_class(node.func):
            made = scope.owner.name
        given = [ANY] if node.args else []
        for key in (*given, *(keyword.arg or ANY for keyword in node.keywords)) if made else ():
            self.made.setdefault(key, []).append((made, scope))
        if dotted(node.func) in scope.module.definitions and any(map(_is_environment, node.args)):
            self.variables.add(ANY)
        self.fills_self = self.fills_self or (last in ("setattr", "__setattr__") and _sets_any_of_self(node))
        if name in ("setattr", "object.__setattr__") and len(node.args) == 3 and dotted(node.args[0]) != "self":
            self._note_namespace(_text(node.args[1]), ast.Attribute(node.args[0], "__dict__", ast.Load()), scope)
            self.fills += [] if _text(node.args[1]) else [(node.args[0], scope)]
            of_settings = dotted(node.args[0]).rpartition(".")[2] in SETTINGS_OBJECTS
            self.computed = self.computed or not (_text(node.args[1]) or of_settings)
        elif name in ("getattr", "operator.attrgetter", "operator.methodcaller"):
            found = node.args[1:2] if name == "getattr" else node.args[:1]
            self._kept.update(f".{_text(part)}" for part in found if _text(part))
        elif name in _ENVIRONMENT or last == "load_dotenv":
            written = last in ("setdefault", "putenv") and node.args
            self.variables.add(_text(node.args[0]) if written else ANY)
        elif last in _PATCHES or ("patch" in name and last not in _PUTS):
            self._note_patch(name, node)
        elif last in _PUTS and isinstance(node.func, ast.Attribute):
            self._note_put(name, node, node.func.value, scope)
        elif last in _OF_OPTIONS:
            self._note_options(last, node, scope)
        elif name.startswith("sys.argv."):
            self._note_method_of_argv(last, node, scope)
        elif name in ("type", "types.new_class") and len(node.args) > 1 and isinstance(node.args[1], ast.Tuple):
            self._remade.update(dotted(base).rpartition(".")[2] for base in node.args[1].elts)
            self.note_extended(node.args[1].elts, scope)

    def _note_patch(self, name: str, node: ast.Call) -> None:
        """Remember what a test replaces: ``patch("module.name", 8)``, ``monkeypatch.setenv("WORKERS", "8")``."""
        last, texts = name.rpartition(".")[2], [text for argument in node.args if (text := _text(argument))]
        if last in ("setenv", "dict"):
            self.variables.add(texts[0] if texts and last == "setenv" else ANY)
        elif last in ("patch", "object", "setattr") and texts:
            self._note_attribute(texts[0].rpartition(".")[2])

    def _note_put(self, name: str, node: ast.Call, holder: ast.expr, scope: Scope) -> None:
        last = name.rpartition(".")[2]
        arguments = node.args
        if arguments and (name.startswith("dict.") or last == "setitem"):
            holder, arguments = arguments[0], arguments[1:]
        if last in ("update", "setdefault"):
            self._note_update(ast.Call(node.func, arguments, node.keywords), last, holder, scope)
        elif arguments:
            self._note_item(holder, arguments[0], scope)

    def _note_options(self, called: str, node: ast.Call, scope: Scope) -> None:
        """Remember what a parser of options is told besides them."""
        if called in PARSES:
            self._note_parsed(node, scope)
        elif called == "set_defaults":
            self.defaults = self.defaults or any(keyword.arg is None for keyword in node.keywords)
        else:
            characters = (k.value for k in node.keywords if k.arg in ("prefix_chars", "fromfile_prefix_chars"))
            self.prefixes += "".join(map(_text, characters)).replace("-", "")

    def _note_parsed(self, node: ast.Call, scope: Scope) -> None:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        words = [*node.args[:1], *([given["args"]] if "args" in given else [])]
        self.parsed += ((words, scope) for words in words)
        filled = node.args[1] if len(node.args) > 1 else given.get("namespace")
        made = isinstance(filled, ast.Call) and dotted(filled.func).rpartition(".")[2] in SETTINGS_CLASSES
        self.defaults = self.defaults or (isinstance(filled, ast.Call) and not made)
        self.fills_given = self.fills_given or not (filled is None or made or isinstance(filled, ast.Constant))

    def _note_update(self, node: ast.Call, method: str, holder: ast.expr, scope: Scope) -> None:
        if method == "update" and self._is_namespace(holder, scope) and self._is_loaded(node, scope):
            self.fills_from_file = True
            self.attributes.add(ANY)
        elif self._is_namespace(holder, scope):
            self._note_namespace(ANY, holder, scope)
        self.fills_self = self.fills_self or (_is_of_self(holder) and not _is_written(node))
        for key in _put(method, node):
            self._note_key(key, holder, scope)
        if method == "update" and not _is_written(node):
            self.fills.append((holder, scope))
            self._note_filled(holder, scope)
            self.nested = self.nested or "?" in dotted(holder)

    def note_start(self, name: str, node: ast.Call) -> None:
        """Remember the variables that a call gives the program which it starts."""
        self.handed.update(key for given in node.keywords if given.arg == "env" for key in _variables(given.value))
        self.handed.update({ANY} if name in _WITH_VARIABLES else ())

    def note_words(self, value: ast.AST) -> None:
        """Remember whether words that the code parses have options among them."""
        texts = (word for part in ast.walk(value) if isinstance(part, ast.expr) for word in _text(part).split())
        self.words = self.words or any(text.startswith("-") for text in texts)

    def keep(self, name: str) -> None:
        """Remember a function or class that may be called by another name."""
        self._kept.add(name)

    @property
    def decorates(self) -> bool:
        """Whether the repository decorates anything itself."""
        return bool(self._decorated)

    def note_decorated(self, definition: ast.AST) -> None:
        """Remember a function or class that code of the repository decorates."""
        self._decorated.add(definition)

    def keep_method(self, name: str) -> None:
        """Remember a method that may be called by another name."""
        self._kept.add(f".{name}")

    def note_extended(self, bases: Sequence[ast.expr], scope: Scope) -> None:
        """Remember whether a class extends what a function is given, which may be any class."""
        module, function = scope.module, scope.function
        given = parameters_of(function) if function is not None else {}
        local = {name for base in bases if (name := dotted(base)) and name not in module.definitions}
        self._extends_any = self._extends_any or any(name in given for name in local)

    def note_kept(self, name: str, scope: Scope) -> None:
        """Remember a name that is not called where it stands, but kept, handed on or returned."""
        head, _, rest = name.partition(".")
        method = "." if rest and head not in scope.module.imports else ""
        full = scope.module.imports.get(head, head) + (f".{rest}" if rest else "")
        self._kept.update(method + one.rpartition(".")[2] for one in (name, full))

    def is_set(self, attribute: str) -> bool:
        """Whether an attribute may be set by other code, as far as its name tells."""
        return not self.attributes.isdisjoint((attribute, ANY))

    def is_setting(self, name: str) -> bool:
        """Whether an option or a setting may be changed by other code."""
        other = self.words or "default" in self.attributes  # of what ``add_argument`` returns
        return other or not self.settings.isdisjoint((name, ANY)) or name in self._keys

    def is_given(self, name: str) -> bool:
        """Whether code gives an attribute or a key of that name a value, whatever it is of."""
        return self.is_set(name) or name in self._keys

    def is_put(self, key: str, mapping: str, code: ast.AST | None) -> bool:
        """Whether a key is put into a mapping of another name, or elsewhere, which may be the same one.

        ``code`` is the function or the module that has the mapping, without which a name says all.
        """
        return any(not put.is_of(mapping, code) for put in self._keys.get(key, ()))

    def is_filled(self, mapping: str, module: ast.Module) -> bool:
        """Whether another module puts into a mapping of a module what is not written there."""
        return bool(self._filled.get(mapping, set()) - {module})

    def is_open(self, name: str, function: Function, owner: ast.ClassDef | None) -> bool:
        """Whether a function may have calls that are not seen: it is kept, decorated, or called by an operator."""
        if name in self._kept or f".{name}" in self._kept or name.startswith("__") or name == "forward":
            return True
        decorated = (function, owner) if owner is not None else (function,)
        if not self._decorated.isdisjoint(decorated):
            return True
        names = {name_of_decorator(d) for definition in decorated for d in definition.decorator_list}
        return not names <= (PLAIN_DECORATORS | _COMMANDS)

    def is_remade(self, owner: ast.ClassDef) -> bool:
        """Whether a class may have other attributes than its body says: by a metaclass, ``type``, or its own access."""
        own = any(isinstance(part, Function) and part.name == "__getattribute__" for part in owner.body)
        own = own or (self._extends_any and (owner in self._decorated or owner.name in self._kept))
        return own or owner.name in self._remade or metaclass(owner) is not None


def _is_written(node: ast.Call) -> bool:
    """Whether all is written there that ``update`` puts into a mapping."""
    return all(isinstance(a, ast.Dict) and None not in a.keys for a in node.args) and None not in (
        keyword.arg for keyword in node.keywords
    )


def _set_by(statement: ast.stmt) -> list[ast.expr]:
    """What a statement gives values."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        return [statement.target]
    items = statement.items if isinstance(statement, ast.With | ast.AsyncWith) else ()
    return [item.optional_vars for item in items if item.optional_vars is not None]


def replaced_by(statement: ast.stmt) -> Iterator[str]:
    """The modules that a statement replaces, ``sys.modules["name"] = f``, or IMPORT: ``builtins.__import__ = f``."""
    for target in _set_by(statement):
        if isinstance(target, ast.Subscript) and dotted(target.value) == "sys.modules" and _text(target.slice):
            yield _text(target.slice)
        elif dotted(target) == f"builtins.{IMPORT}":
            yield IMPORT


def _put(method: str, node: ast.Call) -> Iterator[str]:
    """The keys that are written in ``mapping.update({"key": 8}, other=8)`` and ``mapping.setdefault("key", 8)``."""
    first = node.args[0] if node.args else None
    if method == "setdefault":
        keys = [first]
    else:
        yield from (keyword.arg for keyword in node.keywords if keyword.arg is not None)
        keys = first.keys if isinstance(first, ast.Dict) else []
    yield from (text for key in keys if key is not None and (text := _text(key)))


def _variables(node: ast.expr) -> Iterator[str]:
    """The variables of ``{**os.environ, "WORKERS": "8"}`` or ``dict(os.environ, WORKERS="8")``; ANY for others too."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield from [_text(key)] if key is not None else _variables(value)
    elif isinstance(node, ast.Call) and dotted(node.func) == "dict":
        for argument in node.args:
            yield from _variables(argument)
        for keyword in node.keywords:
            yield from [keyword.arg] if keyword.arg is not None else _variables(keyword.value)
    elif not isinstance(node, ast.Constant) and dotted(node) != "os.environ":
        yield ANY


def metaclass(owner: ast.ClassDef) -> ast.expr | None:
    """The metaclass of a class, where it may do anything."""
    given = next((keyword.value for keyword in owner.keywords if keyword.arg == "metaclass"), None)
    return None if given is None or dotted(given).rpartition(".")[2] in _PLAIN_TYPES else given


def name_of_decorator(decorator: ast.expr) -> str:
    """The last name of a decorator, called or not."""
    return dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]


def _declares(statement: ast.stmt, node: ast.Attribute) -> bool:
    """Whether a statement is read as the declaration of an option: ``cfg.DATALOADER.NUM_WORKERS = 4``."""
    constant = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
    return constant and dotted(node).partition(".")[0] in SETTINGS_OBJECTS


def _gives_nothing(statement: ast.stmt) -> bool:
    """``loader.workers = 0``."""
    given = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(given, ast.Constant) and given.value is not None and given.value == 0


def _is_namespace(node: ast.expr) -> bool:
    """``vars(module)`` or ``module.__dict__``, but of the object around the code."""
    if isinstance(node, ast.Call):
        return dotted(node.func) in ("vars", "globals") and [dotted(part) for part in node.args] != ["self"]
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and dotted(node.value) != "self"


def _sets_any_of_self(node: ast.Call) -> bool:
    """``setattr(self, name, value)``, where the name is not written there."""
    return len(node.args) == 3 and dotted(node.args[0]) == "self" and not _text(node.args[1])


def _is_of_self(node: ast.expr) -> bool:
    """``vars(self)`` or ``self.__dict__``."""
    if isinstance(node, ast.Call):
        return dotted(node.func) == "vars" and [dotted(part) for part in node.args] == ["self"]
    return dotted(node) == "self.__dict__"


def _is_shared(node: ast.AST) -> bool:
    """What may give the objects of a class the attributes of others, or others instead of them."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == "__new__"
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and isinstance(node.ctx, ast.Store)


def _is_environment(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and dotted(node).endswith("environ")


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ANY
