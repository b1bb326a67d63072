"""What a Python program of the repository does that fills /dev/shm: read by its syntax tree, never run.

From the entry file the code that can be reached is followed: functions and classes by their names, imports
that stay in the repository. Numbers are looked up where they are written: literals, constants, parameters,
options with their defaults, configuration files that the command names.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator

from shmlint.files.read import normal
from shmlint.model.need import Step
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.python import Definition, Module, dotted, imported_modules, parse
from shmlint.workloads.filesystem import Files
from shmlint.workloads.libraries import (
    COLLECTIVE,
    IMAGE_PACKAGES,
    IMAGE_SIZE_CALLS,
    IMAGE_SIZE_OPTIONS,
    KNOWN_ITEMS,
    ROWS,
    VOLUME_SIZE_CALLS,
    Row,
    harmless,
)
from shmlint.workloads.program import Entry
from shmlint.workloads.repository import Shared
from shmlint.workloads.values import POSITIVE, UNKNOWN, Declaration, Evaluator, Found, Options, Scope, declarations

MOST_STEPS = 2000
"""Functions, classes and modules that are walked for one program."""
_MOST_HELD = 4 * 1024 * 1024
"""Characters of Python whose trees are held at once; a tree takes many times its text."""


class Call(NamedTuple):
    """A call that fills /dev/shm, in code that can be reached; ``certain`` where no unknown branch decides."""

    row: Row
    processes: Found
    batch: Found
    prefetch: Found
    span: Span
    certain: bool


class Reading(NamedTuple):
    """What a Python program does."""

    calls: tuple[Call, ...]
    collective: Span | None
    """Where ranks are joined."""
    items: tuple[tuple[tuple[int, ...], Span], ...]
    """The shapes of items that transforms and datasets tell."""
    environment: tuple[tuple[str, str, Span], ...]
    stops: tuple[Step, ...]
    """What kept it from being read to its end."""
    commands: tuple[tuple[tuple[str, ...], Span], ...]
    """Programs that it starts."""


def read_program(entry: Entry, files: Files) -> Reading:
    """Read one program, once for all launches that run it alike. What cannot be followed is a stop with its reason."""
    variables = tuple(sorted((name, value.known or "") for name, value in files.environment.items()))
    key = entry.path, entry.arguments, entry.function, entry.certain, entry.guessed, files.folders(), variables
    known = files.repository.shared.programs
    if key not in known:
        known[key] = _read_program(entry, files)
    found = known[key]
    assert isinstance(found, Reading)
    return found


def _read_program(entry: Entry, files: Files) -> Reading:
    reader = _Reader(entry, files)
    try:
        reader.read()
    except RecursionError:
        reader.stop("its code is nested too deep to be read", None)
    return reader.result()


class _Loaded(NamedTuple):
    path: str
    source: Source
    module: Module
    options: tuple[Declaration, ...]


def _module(path: str, source: Source, shared: Shared) -> _Loaded | None:
    """A Python file, parsed once for the programs that load it; the length of those that are held is bounded."""
    known = shared.modules
    held = known.get(path)
    if isinstance(held, _Loaded) and held.source is source:
        return held
    module = parse(source.text)
    if module is None:
        return None
    if shared.held > _MOST_HELD:
        known.clear()
        shared.held = 0
    shared.held += len(source.text)
    scope = Scope(path, source, module, None, None)
    found = known[path] = _Loaded(path, source, module, tuple(declarations(scope)))
    return found


class _Unit(NamedTuple):
    """Something whose body is walked: a module, a function, or a class."""

    loaded: _Loaded
    node: Definition | ast.Module
    owner: ast.ClassDef | None
    certain: bool


class _Reader:
    """Walks the reachable code, and collects what it calls."""

    def __init__(self, entry: Entry, files: Files) -> None:
        self.entry = entry
        self.files = files
        self.repository = files.repository
        self.loaded: dict[str, _Loaded | None] = {}
        self.pending: list[_Unit] = []
        self.walked: dict[tuple[str, int], bool] = {}
        self.classes: set[int] = set()
        self.methods: dict[str, list[tuple[_Unit, bool]]] = {}
        """The methods of the classes that were reached, by name."""
        self.attributes: dict[str, bool] = {}
        self.stops: list[Step] = []
        self.sites: list[tuple[str, ast.Call, Scope, bool]] = []
        self.environment: list[tuple[str, str, Span]] = []
        self.commands: list[tuple[tuple[str, ...], Span]] = []
        self.options = Options(entry, files)
        self.evaluator = Evaluator(self.options)
        self.steps = 0
        self.optional = 0
        """How many ``try`` statements around the code go on without a package that is not there."""
        self.folders = files.folders()
        self._searched: dict[str, tuple[str, ...]] = {}
        self._names: dict[tuple[str, str], bool] = {}

    def stop(self, text: str, span: Span | None) -> None:
        if all(step.text != text for step in self.stops) and len(self.stops) < 50:
            self.stops.append(Step(text, span))

    def read(self) -> None:
        first = self._load(self.entry.path)
        if first is None:
            self.stop(f"{self.entry.path} is not Python that can be read", self.entry.span)
            return
        self.pending.append(_Unit(first, first.module.tree, None, self.entry.certain))
        if self.entry.function and self.entry.function in first.module.definitions:
            self._reach(first, self.entry.function, certain=True)
        while self.pending:
            self.steps += 1
            if self.steps > MOST_STEPS:
                self.stop("it has more code than is read", None)
                return
            self._walk(self.pending.pop())
        if self.repository.full:
            self.stop("it has more files than are read for one launch", None)

    # Modules ------------------------------------------------------------------------------

    def _load(self, path: str) -> _Loaded | None:
        path = normal(path)
        if path not in self.loaded:
            source = self.repository.source(path)
            found = _module(path, source, self.repository.shared) if source is not None else None
            if source is not None and found is None:
                self.stop(f"{path} is not Python that can be read", None)
            self.loaded[path] = found
            if found is not None:
                self.options.declare(found.options)
        return self.loaded[path]

    def _file_of(self, name: str, importer: str) -> str | None:
        """The repository's file of a dotted name as one file imports it."""
        here = os.path.dirname(importer)
        key = (name, here) if name.startswith(".") else (name, self._roots(here))
        known = self.repository.shared.found
        if key not in known:
            known[key] = self._search(name, here)
        return known[key]

    def _search(self, name: str, here: str) -> str | None:
        if name.startswith("."):
            folder = here
            for _ in range(len(name) - len(name.lstrip(".")) - 1):
                folder = os.path.dirname(folder)
            return self._module_in(folder, name.lstrip("."))
        for folder in self._roots(here):
            found = self._module_in(folder, name)
            if found is not None:
                return found
        return None

    def _roots(self, here: str) -> tuple[str, ...]:
        """The directories in which a file of a directory finds modules."""
        if here not in self._searched:
            self._searched[here] = self._search_path(here)
        return self._searched[here]

    def _search_path(self, here: str) -> tuple[str, ...]:
        start = os.path.dirname(self.entry.path)
        found = [start, *self.folders]
        folder = here
        while self.repository.is_file(os.path.join(folder, "__init__.py")) and folder not in ("", ".", "/"):
            folder = os.path.dirname(folder)
        found.append(folder)
        above = start
        while above not in ("", ".", "/", self.repository.root) and len(found) < 12:
            above = os.path.dirname(above)
            found += [above, os.path.join(above, "src")]
        return tuple(dict.fromkeys(normal(f or ".") for f in (*found, self.repository.root)))

    def _module_in(self, folder: str, name: str) -> str | None:
        path = os.path.join(folder or ".", *name.split(".")) if name else folder
        for candidate in ((f"{path}.py",) if name else ()) + (os.path.join(path, "__init__.py"),):
            if self.repository.is_file(candidate):
                return normal(candidate)
        return None

    def _resolve(self, name: str, importer: str) -> tuple[_Loaded, str] | None:
        """The module of the repository that a dotted name leads into, and what is left of the name."""
        level = name[: len(name) - len(name.lstrip("."))]
        parts = name.lstrip(".").split(".") if name.lstrip(".") else []
        for end in range(len(parts), -1 if level else 0, -1):
            path = self._file_of(level + ".".join(parts[:end]), importer)
            if path is not None:
                loaded = self._load(path)
                return (loaded, ".".join(parts[end:])) if loaded is not None else None
        return None

    # Reaching -----------------------------------------------------------------------------

    def _push(self, unit: _Unit) -> None:
        key = (unit.loaded.path, id(unit.node))
        known = self.walked.get(key)
        if known is None or (unit.certain and not known):
            self.walked[key] = unit.certain
            self.pending.append(unit)

    def _import(self, name: str, importer: _Loaded, certain: bool, span: Span) -> None:
        """Run a module of the repository, or note a package that is not known."""
        if not name.strip("."):
            return
        path = self._file_of(name, importer.path)
        if path is not None:
            loaded = self._load(path)
            if loaded is not None:
                self._push(_Unit(loaded, loaded.module.tree, None, certain))
            return
        top = name.split(".")[0]
        if name.startswith("."):
            return
        if self.optional or top in harmless() or top in sys.stdlib_module_names or top in _ROW_PACKAGES:
            return
        if self._file_of(top, importer.path) is None and not self._folder_of(top, importer.path):
            self.stop(f"it imports `{top}`, of which nothing is known", span)

    def _folder_of(self, top: str, importer: str) -> bool:
        """A namespace package of the repository."""
        roots = self._roots(os.path.dirname(importer))
        return any(self.repository.is_dir(os.path.join(folder, top)) for folder in roots)

    def _reach(self, loaded: _Loaded, name: str, *, certain: bool, depth: int = 0) -> None:
        """Reach what a name of a module stands for."""
        head, _, rest = name.partition(".")
        module = loaded.module
        if head in module.definitions:
            node = module.definitions[head]
            if isinstance(node, ast.ClassDef):
                self._reach_class(loaded, node, certain)
                if rest:
                    self._method(rest.split(".")[0], certain)
            else:
                self._push(_Unit(loaded, node, None, certain))
        elif head in module.imports and depth < 10:
            target = module.imports[head] + (f".{rest}" if rest else "")
            found = self._resolve(target, loaded.path)
            if found is not None and found[1]:
                self._reach(found[0], found[1], certain=certain, depth=depth + 1)
        elif depth < 10:
            for star in module.stars:
                found = self._resolve(star, loaded.path)
                if found is not None:
                    self._reach(found[0], name, certain=certain, depth=depth + 1)

    def _reach_class(self, loaded: _Loaded, node: ast.ClassDef, certain: bool) -> None:
        self._push(_Unit(loaded, node, None, certain))
        if id(node) not in self.classes:
            self.classes.add(id(node))
            for method in _methods(node):
                self.methods.setdefault(method.name, []).append((_Unit(loaded, method, node, certain), certain))
                lifecycle = method.name.startswith("__") or method.name in _LIFECYCLE
                if lifecycle or method.name in self.attributes:
                    self._push(_Unit(loaded, method, node, certain and self.attributes.get(method.name, lifecycle)))
            for base in node.bases:
                self._name(dotted(base), loaded, certain)

    def _method(self, name: str, certain: bool) -> None:
        """Reach the methods of that name in the classes that were reached."""
        known = self.attributes.get(name)
        if known is not None and (known or not certain):
            return
        self.attributes[name] = certain
        for unit, sure in self.methods.get(name, ()):
            self._push(unit._replace(certain=certain and sure))

    def _name(self, name: str, loaded: _Loaded, certain: bool) -> None:
        """Reach what a dotted name in a module's code leads to."""
        known = self._names.get((loaded.path, name))
        if known is not None and (known or not certain):
            return
        self._names[loaded.path, name] = certain
        head, _, rest = name.partition(".")
        module = loaded.module
        if head in module.definitions or (head not in module.imports and module.stars):
            self._reach(loaded, name, certain=certain)
        elif head in module.imports:
            target = module.imports[head] + (f".{rest}" if rest else "")
            found = self._resolve(target, loaded.path)
            if found is not None:
                self._push(_Unit(found[0], found[0].module.tree, None, certain))
                if found[1]:
                    self._reach(found[0], found[1], certain=certain)
        if rest:
            for part in rest.split("."):
                self._method(part, certain)

    # Walking ------------------------------------------------------------------------------

    def _walk(self, unit: _Unit) -> None:
        function = unit.node if isinstance(unit.node, ast.FunctionDef | ast.AsyncFunctionDef) else None
        owner = unit.node if isinstance(unit.node, ast.ClassDef) else unit.owner
        scope = Scope(unit.loaded.path, unit.loaded.source, unit.loaded.module, function, owner)
        if function is not None:
            for default in (*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)):
                self._expression(default, scope, unit)
        self._statements(unit.node.body, scope, unit, unit.certain)

    def _statements(self, body: list[ast.stmt], scope: Scope, unit: _Unit, certain: bool) -> None:
        for statement in body:
            if isinstance(statement, Definition):
                self._definition(statement, scope, unit, certain)
                continue
            if isinstance(statement, ast.Import | ast.ImportFrom):
                span = _span(scope, statement)
                for name in imported_modules(statement):
                    self._import_name(name, statement, unit, certain, span)
                continue
            if isinstance(statement, ast.If):
                self._branch(statement, scope, unit, certain)
            elif isinstance(statement, ast.Try):
                optional = any(_catches_import(handler) for handler in statement.handlers)
                self.optional += optional
                self._statements(statement.body, scope, unit, certain)
                self.optional -= optional
                for handler in statement.handlers:
                    self._statements(handler.body, scope, unit, False)
                self._statements([*statement.orelse, *statement.finalbody], scope, unit, certain)
            else:
                here = unit._replace(certain=certain)
                for expression in _expressions(statement):
                    self._expression(expression, scope, here)
                for name in ("body", "orelse"):
                    self._statements(getattr(statement, name, []), scope, unit, certain)
                if isinstance(statement, ast.Match):
                    for case in statement.cases:
                        self._statements(case.body, scope, unit, False)

    def _import_name(
        self, name: str, statement: ast.Import | ast.ImportFrom, unit: _Unit, certain: bool, span: Span
    ) -> None:
        if isinstance(statement, ast.ImportFrom):
            base = "." * statement.level + (statement.module or "")
            if name != base and self._file_of(name, unit.loaded.path) is None:
                return  # a name of the module, not a module
        self._import(name, unit.loaded, certain, span)

    def _definition(self, node: Definition, scope: Scope, unit: _Unit, certain: bool) -> None:
        """A definition runs when it is called; what is registered by a decorator may be called by anybody."""
        for decorator in node.decorator_list:
            self._expression(decorator, scope, unit)
            name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]
            if name not in _PLAIN_DECORATORS and not isinstance(unit.node, ast.ClassDef):
                main = name in ("main", "command", "hydra_main", "wrap", "group")
                if isinstance(node, ast.ClassDef):
                    self._reach_class(unit.loaded, node, False)
                elif not main:
                    self._push(_Unit(unit.loaded, node, None, False))

    def _branch(self, statement: ast.If, scope: Scope, unit: _Unit, certain: bool) -> None:
        self._expression(statement.test, scope, unit._replace(certain=certain))
        taken = self._taken(statement.test, scope, unit)
        if taken is not False:
            self._statements(statement.body, scope, unit, certain and taken is True)
        if taken is not True:
            self._statements(statement.orelse, scope, unit, certain and taken is False)

    def _taken(self, test: ast.expr, scope: Scope, unit: _Unit) -> bool | None:
        if (
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Name)
            and test.left.id == "__name__"
            and len(test.ops) == 1
        ):
            return (unit.loaded.path == normal(self.entry.path) and not self.entry.function) is isinstance(
                test.ops[0], ast.Eq
            )
        if isinstance(test, ast.Name | ast.Attribute) and dotted(test).rpartition(".")[2] == "TYPE_CHECKING":
            return False
        found = self.evaluator.value(test, scope, parameters=False)
        if found.value is UNKNOWN or found.value is POSITIVE or not found.certain:
            return None
        return bool(found.value)

    def _expression(self, expression: ast.AST, scope: Scope, unit: _Unit) -> None:
        """Reach what an expression names, and note what it calls."""
        inner: set[int] = set()
        for node in ast.walk(expression):
            if isinstance(node, ast.Call):
                self._call(node, scope, unit)
                inner.add(id(node.func))
            if isinstance(node, ast.Attribute):
                self._name(dotted(node), unit.loaded, unit.certain and id(node) in inner)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._name(node.id, unit.loaded, unit.certain and id(node) in inner)

    def _call(self, node: ast.Call, scope: Scope, unit: _Unit) -> None:
        name = scope.full_name(node.func)
        self.evaluator.note_call(name, node, scope)
        last = name.rpartition(".")[2]
        if last in ("import_module", "__import__", "exec", "eval") and name in _DYNAMIC:
            self.stop("it loads code by a name that is made when it runs", _span(scope, node))
        if name in ("os.environ.setdefault", "os.putenv") and len(node.args) == 2:
            self._set_environment(node.args[0], node.args[1], scope, node)
        if name.startswith(("subprocess.", "os.system", "os.popen")) and node.args:
            self._starts(node, scope)
        self.sites.append((name, node, scope, unit.certain))

    def _set_environment(self, key: ast.expr, value: ast.expr, scope: Scope, node: ast.AST) -> None:
        name, text = self.evaluator.value(key, scope).value, self.evaluator.value(value, scope).value
        if isinstance(name, str) and isinstance(text, str):
            self.environment.append((name, text, _span(scope, node)))

    def _starts(self, node: ast.Call, scope: Scope) -> None:
        """A program that is started with words that are written there."""
        import shlex

        argument = node.args[0]
        words: list[str] = []
        if isinstance(argument, ast.List | ast.Tuple):
            for item in argument.elts:
                found = self.evaluator.value(item, scope).value
                words.append(str(found) if isinstance(found, str | int) else "$UNKNOWN")
                if dotted(item) == "sys.executable":
                    words[-1] = "python"
        else:
            found = self.evaluator.value(argument, scope).value
            text = found if isinstance(found, str) else self.evaluator.template(argument, scope)
            try:
                words = shlex.split(text)
            except ValueError:
                words = []
            if words and words[0] in ("$UNKNOWN", "%s") and any(word.endswith(".py") for word in words[1:3]):
                words[0] = "python"
        if words:
            self.commands.append((tuple(words), _span(scope, node)))
        else:
            self.stop("it starts an unknown program", _span(scope, node))

    # Results ------------------------------------------------------------------------------

    def result(self) -> Reading:
        calls: list[Call] = []
        collective: Span | None = None
        items: list[tuple[tuple[int, ...], Span]] = []
        for name, node, scope, certain in self.sites:
            last = name.rpartition(".")[2]
            row = _row_of(name, last, scope, self.sites)
            if row is not None:
                calls.append(self._filled(row, node, scope, certain))
            elif name in COLLECTIVE:
                collective = collective or _span(scope, node)
            elif last in IMAGE_SIZE_CALLS or last in VOLUME_SIZE_CALLS or last in KNOWN_ITEMS:
                shape = self._shape(last, node, scope)
                if shape:
                    items.append((shape, _span(scope, node)))
        if not items:
            items = self._items_of_options()
        for loaded in self.loaded.values():
            if loaded is not None:
                self.environment += _environment(loaded)
        return Reading(
            tuple(calls), collective, tuple(items), tuple(self.environment), tuple(self.stops), tuple(self.commands)
        )

    def _items_of_options(self) -> list[tuple[tuple[int, ...], Span]]:
        """Shapes that options tell, ``--img-size 640``, of a program that works with images."""
        if not any(_imports_images(loaded.module) for loaded in self.loaded.values() if loaded is not None):
            return []
        items = []
        for name in IMAGE_SIZE_OPTIONS:
            found = self.options.get(name, self.evaluator, 0)
            shape = _of_image(found.value)
            if shape and found.certain and found.spans:
                items.append((shape, found.spans[0]))
        return items

    def _filled(self, row: Row, node: ast.Call, scope: Scope, certain: bool) -> Call:
        def argument(name: str, position: int, default: object) -> Found:
            return self.evaluator.argument(node, name, position, default, scope)

        none = Found(UNKNOWN, False, ())
        count = argument(row.argument, row.position, row.default) if row.argument else none
        loads = row.use == "dataloader"
        batch = argument(row.batch, row.batch_position, row.batch_default) if loads else none
        prefetch = argument("prefetch_factor", -1, 2) if loads else none
        return Call(row, count, batch, prefetch, _span(scope, node), certain)

    def _shape(self, last: str, node: ast.Call, scope: Scope) -> tuple[int, ...]:
        if last in KNOWN_ITEMS:
            return KNOWN_ITEMS[last]
        if last in VOLUME_SIZE_CALLS:
            return _of_volume(self.evaluator.argument(node, VOLUME_SIZE_CALLS[last], 1, None, scope).value)
        found = self.evaluator.argument(node, "size", 0, None, scope)
        if found.value is UNKNOWN:
            found = self.evaluator.argument(node, "height", 0, None, scope)
        return _of_image(found.value)


def _of_image(value: object) -> tuple[int, ...]:
    """The shape of an image of this size; nothing where it is no size."""
    sides = value if isinstance(value, tuple) else (value, value)
    if len(sides) == 2 and all(isinstance(side, int) and 0 < side < 100_000 for side in sides):
        return (3, *(int(str(side)) for side in sides))
    return ()


def _of_volume(value: object) -> tuple[int, ...]:
    """The shape of a volume with one channel; nothing where it is no size."""
    sides = value if isinstance(value, tuple) else ()
    if len(sides) == 3 and all(isinstance(side, int) and 0 < side < 10_000 for side in sides):
        return (1, *(int(str(side)) for side in sides))
    return ()


def _imports_images(module: Module) -> bool:
    return any(target.partition(".")[0] in IMAGE_PACKAGES for target in module.imports.values())


_LIFECYCLE = frozenset(
    {"forward", "setup", "prepare_data", "configure_optimizers", "training_step", "build", "train_dataloader"}
)
_PLAIN_DECORATORS = frozenset(
    {
        "property", "staticmethod", "classmethod", "setter", "lru_cache", "cache", "no_grad", "inference_mode", "wraps",
        "contextmanager", "asynccontextmanager", "dataclass", "abstractmethod", "jit", "njit", "script", "override",
        "cached_property", "overload", "total_ordering", "unused", "ignore", "compile", "autocast", "custom_fwd",
    }
)  # fmt: skip
_DYNAMIC = frozenset({"importlib.import_module", "import_module", "__import__", "exec", "eval"})
_ROW_PACKAGES = frozenset(name.partition(".")[0] for name in (*(row.call for row in ROWS), *COLLECTIVE))


def _row_of(name: str, last: str, scope: Scope, sites: list[tuple[str, ast.Call, Scope, bool]]) -> Row | None:
    """The row of a call: the whole dotted name, or a method of an object that the library made."""
    for row in ROWS:
        ending = row.call.rpartition(".")[2]
        if ending != last:
            continue
        if name == row.call or (row.call[0].isupper() and name.endswith(row.call)):
            return row
        if row.call == "ultralytics.YOLO.train" and any(site[0] == "ultralytics.YOLO" for site in sites):
            return row
    return None


def _catches_import(handler: ast.ExceptHandler) -> bool:
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(name is None or dotted(name) in _IMPORT_ERRORS for name in names)


_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))


def _expressions(statement: ast.stmt) -> Iterator[ast.expr | ast.withitem]:
    """The expressions of a statement, not those of the statements inside of it."""
    for field in ast.iter_child_nodes(statement):
        if isinstance(field, ast.expr | ast.withitem):
            yield field


def _environment(loaded: _Loaded) -> Iterator[tuple[str, str, Span]]:
    """``os.environ["NAME"] = "value"`` anywhere in a module."""
    if "environ" not in loaded.source.text:
        return
    for node in loaded.module.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        for target in node.targets:
            if (
                isinstance(target, ast.Subscript)
                and dotted(target.value).endswith("environ")
                and isinstance(target.slice, ast.Constant)
                and isinstance(target.slice.value, str)
                and isinstance(node.value.value, str | int)
            ):
                scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
                yield target.slice.value, str(node.value.value), _span(scope, node)


def _span(scope: Scope, node: ast.AST) -> Span:
    return scope.span(node)
