"""What the code of a program changes from elsewhere, and what it hands on so that others may call it.

A value that is written down says little where other code may replace it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shmlint.syntax.python import dotted
from shmlint.workloads.assignments import Function
from shmlint.workloads.declarations import SETTINGS_OBJECTS
from shmlint.workloads.values import Scope, text_of

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
_CHANGES_LISTS = frozenset({"append", "extend", "insert"})


class Changes:
    """What the statements and calls that were reached change of other objects and modules, by name."""

    def __init__(self) -> None:
        self.attributes: set[str] = set()
        """Attributes of other objects than the code's own: ``loader.workers = 8``, ``setattr(cls, "workers", 8)``."""
        self.settings: set[str] = set()
        """Those of them that are not declared as an option by the very statement: ``cfg.WORKERS = 8`` is."""
        self._keys: dict[str, set[str]] = {}
        """Keys of mappings, ``settings["workers"] = 8``, with the names of these."""
        self.variables: set[str] = set()
        """Variables of the environment: ``os.environ["WORKERS"] = "8"``."""
        self.words = False
        """Whether code puts options into ``sys.argv``, or parses others."""
        self.parsed: list[tuple[ast.expr, Scope]] = []
        """The words that code parses instead of those of the command."""
        self.handed: set[str] = set()
        """Variables that it gives the programs which it starts."""
        self.made: dict[str, list[tuple[str, Scope]]] = {}
        """The classes of which objects are made, by the keywords that they are given; by none for other arguments."""
        self._kept: set[str] = set()
        """Functions, classes and (with a dot) methods that code keeps or hands on."""
        self._remade: set[str] = set()
        """Classes that ``type`` extends."""

    def note_statement(self, statement: ast.stmt) -> None:
        """Remember what a statement sets of other objects."""
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
            targets = [statement.target]
        else:
            return
        if isinstance(statement, ast.AugAssign) and dotted(statement.target).endswith("environ"):
            self.variables.add(ANY)
        for node in (node for target in targets for node in ast.walk(target)):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if dotted(node) == "sys.argv":
                    self.note_words(statement)
                elif dotted(node.value) != "self":
                    self.attributes.add(node.attr)
                    if not _declares(statement, node):
                        self.settings.add(node.attr)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if dotted(node.value) == "sys.argv":
                    self.note_words(statement)
                self._note_item(node)

    def _note_item(self, node: ast.Subscript) -> None:
        key = text_of(node.slice.value) if isinstance(node.slice, ast.Constant) else ANY
        holder = node.value
        if dotted(holder).endswith("environ"):
            self.variables.add(key)
        elif _is_namespace(holder):
            self._note_attribute(key)
        elif key:
            self._keys.setdefault(key, set()).add(dotted(holder))

    def _note_attribute(self, name: str) -> None:
        self.attributes.add(name)
        self.settings.add(name)

    def note_given(self, name: str) -> None:
        """Remember what code that is made of text gives a value: a name of a module, an attribute or a key."""
        self._note_attribute(name)
        self._keys.setdefault(name, set()).add(ANY)

    def note_call(self, name: str, node: ast.Call, scope: Scope) -> None:
        """Remember what a call changes: ``setattr``, ``vars(module).update``, ``os.environ.update``, ``type``."""
        last = name.rpartition(".")[2]
        if last[:1].isupper() and isinstance(node.func, ast.Name):
            given = [ANY] if node.args else []
            for key in (*given, *(keyword.arg or ANY for keyword in node.keywords)):
                self.made.setdefault(key, []).append((node.func.id, scope))
        if name in ("setattr", "object.__setattr__") and len(node.args) == 3 and dotted(node.args[0]) != "self":
            self._note_attribute(_text(node.args[1]))
        elif name in ("getattr", "operator.attrgetter", "operator.methodcaller"):
            found = node.args[1:2] if name == "getattr" else node.args[:1]
            self._kept.update(f".{_text(part)}" for part in found if _text(part))
        elif name in _ENVIRONMENT or last == "load_dotenv":
            written = last in ("setdefault", "putenv") and node.args
            self.variables.add(_text(node.args[0]) if written else ANY)
        elif last in ("update", "setdefault") and isinstance(node.func, ast.Attribute):
            self._note_put(last, node, node.func.value)
        elif last in ("parse_args", "parse_known_args"):
            parsed = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "args")]
            self.parsed += ((words, scope) for words in parsed)
        elif last in _CHANGES_LISTS and name.startswith("sys.argv."):
            for argument in node.args:
                self.note_words(argument)
        elif name in ("type", "types.new_class") and len(node.args) > 1 and isinstance(node.args[1], ast.Tuple):
            self._remade.update(dotted(base).rpartition(".")[2] for base in node.args[1].elts)

    def _note_put(self, method: str, node: ast.Call, holder: ast.expr) -> None:
        if _is_namespace(holder):
            self._note_attribute(ANY)
        for key in _put(method, node):
            self._keys.setdefault(key, set()).add(dotted(holder))

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

    def keep_method(self, name: str) -> None:
        """Remember a method that may be called by another name."""
        self._kept.add(f".{name}")

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
        return self.words or not self.settings.isdisjoint((name, ANY)) or name in self._keys

    def is_put(self, key: str, mapping: str) -> bool:
        """Whether a key is put into a mapping of another name, which may be the same one."""
        return bool(self._keys.get(key, set()) - {mapping})

    def is_open(self, name: str, function: Function, owner: ast.ClassDef | None) -> bool:
        """Whether a function may have calls that are not seen: it is kept, decorated, or called by an operator."""
        if name in self._kept or f".{name}" in self._kept or name.startswith("__") or name == "forward":
            return True
        decorated = (function, owner) if owner is not None else (function,)
        names = {name_of_decorator(d) for definition in decorated for d in definition.decorator_list}
        return not names <= (PLAIN_DECORATORS | _COMMANDS)

    def is_remade(self, owner: ast.ClassDef) -> bool:
        """Whether a class may have other attributes than its body says: by a metaclass, ``type``, or its own access."""
        own = any(isinstance(part, Function) and part.name == "__getattribute__" for part in owner.body)
        return own or owner.name in self._remade or metaclass(owner) is not None


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


def _is_namespace(node: ast.expr) -> bool:
    """``vars(module)`` or ``module.__dict__``, but of the object around the code."""
    if isinstance(node, ast.Call):
        return dotted(node.func) in ("vars", "globals") and [dotted(part) for part in node.args] != ["self"]
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and dotted(node.value) != "self"


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ANY
