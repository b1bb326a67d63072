"""Walks the code of a Python program that can be reached, and collects what it calls, sets and starts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator, Set
from fnmatch import fnmatchcase

from shmlint.files.read import normal
from shmlint.model.need import Step
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.syntax.python import EMPTY, Definition, Module, dotted, imported_modules, parse, walk
from shmlint.workloads.commands import MISSING, NO_NAME, is_python
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.libraries import (
    COLLECTIVE,
    COMMAND_LINES,
    LOADERS,
    NOT_FOLLOWED,
    OWNERS,
    POOLS,
    ROWS,
    RUNNERS,
    TRAINERS,
    WATCHED,
)
from shmlint.workloads.packages.parts import KNOWN, PARTLY
from shmlint.workloads.program import Entry
from shmlint.workloads.python.assignments import Assignments
from shmlint.workloads.python.bound import whole_call
from shmlint.workloads.python.changes import IMPORT, PLAIN_DECORATORS, name_of_decorator, replaced_by
from shmlint.workloads.python.configurations.configured import Answer, Configured
from shmlint.workloads.python.declarations import parser_of_detectron
from shmlint.workloads.python.dispatched import (
    BY_NAME,
    TOLD_MORE,
    functions_by_name,
    is_started_plainly,
    is_table,
    names_of_command,
)
from shmlint.workloads.python.evaluated import imported_by, may_be_called, may_fill
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.executed import (
    Executed,
    calls_of_own,
    given_names,
    holds_only_values,
    names_of_code,
    uses_names_of,
)
from shmlint.workloads.python.flow import After, after, after_loop, after_with, in_turn, is_broken, one_of
from shmlint.workloads.python.frameworks import DJANGO, DJANGO_SETTINGS, loaded_by, names_in
from shmlint.workloads.python.lineage import plain
from shmlint.workloads.python.loaded import Conditions, Loaded, extending
from shmlint.workloads.python.module_paths import ModulePaths
from shmlint.workloads.python.modules import Modules, unparsed
from shmlint.workloads.python.named_modules import ANY, NamedModules, is_compiled
from shmlint.workloads.python.options import Options
from shmlint.workloads.python.parsed import note_parsed
from shmlint.workloads.python.passing import DISPATCHERS, passed_call
from shmlint.workloads.python.screen import is_known, stored
from shmlint.workloads.python.started import commands_of, starts
from shmlint.workloads.python.values import POSITIVE, UNKNOWN, Scope, changed, text_of
from shmlint.workloads.repository import Shared

_MOST_TURNS = 4
"""How often code is walked again whose conditions other code changes."""
MOST_STEPS = 2000
"""Functions, classes and modules that are walked for one program."""
_MOST_STOPS = 50
"""Places at which reading a program stops; all but the first one only say that there are more."""
_MOST_FILES = 10
"""Configuration files that one call may open."""
_MOST_NAMED = 50
"""Calls that load a module by a name which the code puts together."""
_MAINS = frozenset({"main", "hydra_main", "wrap", "group"})
"""Decorators of what its module calls itself."""
_OF_COMMANDS = _MAINS | {"option", "argument", "pass_context", "pass_obj", "version_option", "help_option"}
"""Those beside the decorator that makes a function a command."""
_EXTENDS_COMMAND_LINE = "what `LightningCLI` starts through its own class is not followed"
_LOADED_BY_NAME = "it loads code by a name that is computed at run time"


class Site(NamedTuple):
    """A call that can be reached; ``name`` with imports followed, ``certain`` where no unknown branch decides."""

    name: str
    node: ast.Call
    scope: Scope
    certain: bool

    @property
    def span(self) -> Span:
        """The place of the call."""
        return self.scope.span(self.node)


class Unit(NamedTuple):
    """Something whose body is walked: a module, a function, or a class."""

    loaded: Loaded
    node: Definition | ast.Module
    owner: ast.ClassDef | None
    certain: bool


class _Command(NamedTuple):
    """A function that runs where the words of the command name it, by its name in ``scope`` if that is passed on."""

    names: frozenset[str]
    unit: Unit
    name: str
    scope: Scope
    caller: str
    """The last name of the call that runs it."""


class Walker:
    """Walks the reachable code, and collects what it calls."""

    def __init__(self, entry: Entry, files: Files, parsed: Collection[str] = ()) -> None:
        self.entry = entry
        self.stops: list[Step] = []
        self.sites: list[Site] = []
        self.kept: set[str] = set()
        """Classes whose methods are rows, where they are not called by their own name: ``kind = YOLO``."""
        self.environment: list[tuple[str, str, Span]] = []
        self.commands: list[tuple[tuple[str, ...], Span, bool]] = []
        self._starts: list[tuple[str, ast.Call, Scope, bool]] = []
        self._moves = False
        """Whether it changes its directory."""
        self._partly = False
        """Whether a package is imported of which some names are loud."""
        self._named: list[tuple[ast.Call, Scope, Unit]] = []
        """Calls that load a module by a name that they put together."""
        self._own_calls: dict[tuple[str, int], frozenset[int]] = {}
        """The calls of functions of its own that are called ``eval`` or ``exec``, by the name and the module."""
        self._opened: list[tuple[ast.expr, Scope]] = []
        """The files that it opens by names which it puts together."""
        self._bound: dict[int, ast.Call] = {}
        """The calls of what ``partial`` gave a name, with all their arguments, by their ids."""
        self._executed: list[tuple[ast.Call, Scope, Unit]] = []
        """Calls of ``exec`` with more than values."""
        self._evaluated: list[tuple[ast.Call, Scope, Unit]] = []
        """Calls of ``eval``, and what finds functions by their names."""
        self._found: list[tuple[ast.expr, Scope]] = []
        """Names that code puts together, of methods and attributes."""
        self._extended = False
        """Whether code asks a class for those that extend it."""
        self._decided: list[tuple[ast.expr, Scope, Unit, bool]] = []
        """The conditions of which one branch was left out, and what they were."""
        self._commands: list[_Command] = []
        """Functions that click, typer or a parser calls where the command names them."""
        self._steps = 0
        self.options = Options(entry, files)
        self.modules = Modules(entry.path, files, self.stop, self.options.declare, parsed)
        self.evaluator = Evaluator(self.options, self.modules, _assignments(files.repository.shared))
        self._names_of_modules = NamedModules(self.evaluator)
        self._configured = Configured(entry, self.evaluator, self.modules)
        self._repository = files.repository
        self._pending: list[Unit] = []
        self._walked: dict[tuple[str, int], bool] = {}
        self._classes: set[int] = set()
        self._methods: dict[str, list[tuple[Unit, bool]]] = {}
        """The methods of the classes that were reached, by name."""
        self._inner: dict[str, list[tuple[Loaded, ast.ClassDef]]] = {}
        """The classes inside of those that were reached, by name."""
        self._attributes: dict[str, bool] = {}
        self._optional = 0
        """How many ``try`` statements around the code go on without a package that is not there."""
        self._names: dict[tuple[str, str], bool] = {}

    def stop(self, text: str, span: Span | None, *, package: bool = False) -> None:
        """Note what keeps the program from being read to its end."""
        step, few = Step(text, span, package), len(self.stops) < _MOST_STOPS
        if step not in self.stops and (few or (not package and all(other.package for other in self.stops))):
            self.stops.append(step)

    def walk(self) -> None:
        """Walk all that can be reached from the entry."""
        first = self.modules.load(self.entry.path)
        if first is None:
            self.stop(unparsed(self.entry.path, self._repository.source(self.entry.path)), self.entry.span)
            return
        self._push_module(first, self.entry.certain)
        for package in self.modules.packages_around(self.entry.path) if self.entry.imported else ():
            self._module(package, self.entry.certain)
        if self.entry.function:
            self._reach(first, self.entry.function, certain=True)
        for path in self.entry.more:
            self._whole(path)
            self._imported_tests(path)
            for package in self.modules.packages_around(path):
                self._module(package, False)
        self._walk_all()
        self._walk_commands()
        self._execute()
        self._decide_again()
        if self._evaluated:
            self._evaluate()
        self._load_named(last=True)
        self._find_bound()
        for place in self._configured.left():
            self.stop(_EXTENDS_COMMAND_LINE, place)
        places = list(self._configured.changed())
        for place in places:
            self.stop("how the code changes its configuration is not followed", place)
        if places:  # any number may be another one
            self.sites = [site._replace(certain=False) for site in self.sites]
        self._find_in_owners()
        self._started()
        if self._repository.full:
            self.stop("it has too many files", None)

    def _walk_all(self) -> None:
        while self._pending:
            self._steps += 1
            if self._steps > MOST_STEPS:
                self.stop("it has too much code", None)
                break
            self._walk(self._pending.pop())
            if not self._pending:
                self._load_named()
                self._find_named()
                self._make_configured()
                self._name_files()

    def _name_files(self) -> None:
        """The configuration files whose names code puts together, once the calls are known that say of what."""
        paths = ModulePaths(self.evaluator, self._repository.root)
        for path, scope in self._opened:
            names = self._names_of_modules.written(path, scope)
            for name in names if len(names) <= _MOST_FILES and not any(ANY in one for one in names) else ():
                self.options.name_file(name)
            beside = paths.files(path, scope) if not names or any(ANY in one for one in names) else ()
            for file in beside if len(beside) <= _MOST_FILES else ():
                self.options.name_file(file, beside=True)
            if not names and not beside and isinstance(path, ast.Name):
                for name in self._names_of_modules.perhaps(path, scope)[:_MOST_FILES]:
                    self.options.name_file(name, perhaps=True)

    def _make_configured(self) -> None:
        """What the configuration of the program names: the calls that make it, and what is called of it then."""
        for one in self._configured.take():
            for loaded in one.modules:
                self._push(Unit(loaded, loaded.module.tree, None, one.certain))
            for method in one.methods:
                self._method(method, one.certain)
            if one.name in RUNNERS or (one.known and one.name in TRAINERS):
                self._runs_configured(one)
            if not one.known and (one.name in NOT_FOLLOWED or one.name in TRAINERS):
                self._not_followed(one.name, one.node, one.scope, one.certain)
            for given in _arguments(one.node) if not one.known else ():
                self.evaluator.changes.note_kept(dotted(given), one.scope)

    def _runs_configured(self, one: Answer) -> None:
        """A runner of a configuration joins ranks, and imports what its classes are in."""
        self.sites.append(Site(one.name, one.node, one.scope, one.certain))
        loaded = self.modules.load(one.scope.path)
        for name in one.imports if loaded is not None else ():
            assert loaded is not None
            found = self.modules.resolve(name, loaded.path)
            module = name.removesuffix(f".{found[1]}") if found is not None and found[1] else name
            self._import(module, one.node, one.scope, Unit(loaded, loaded.module.tree, None, False), False)
            if found is not None and found[1]:  # a class that it names
                self._reach(found[0], found[1], certain=False)

    def _find_named(self) -> None:
        """The methods whose names code puts together as far as they are written down, and classes extending others."""
        for name, scope in self._found:
            patterns = [one for one in self._names_of_modules.written(name, scope) if one.strip(ANY)]
            for method in [method for method in self._methods if any(fnmatchcase(method, one) for one in patterns)]:
                self.evaluator.changes.keep_method(method)
                self._method(method, False)
        loaded = (one for one in [*self.modules.loaded.values()] if self._extended and one is not None)
        for module, node in [(one, node) for one in loaded for node in one.module.definitions.values()]:
            if isinstance(node, ast.ClassDef) and node.bases and id(node) not in self._classes:
                self._name(node.name, module, False)
                self.evaluator.changes.keep(node.name)

    def _find_bound(self) -> None:
        """What ``partial`` gives a name that other modules may call, too."""
        modules = [loaded for loaded in self.modules.loaded.values() if loaded is not None]
        pairs = [(one, name, call) for one in modules for name, call in one.bound.items()]
        if not pairs:
            return
        imported = {target.rpartition(".")[2] for one in modules for target in one.module.imports.values()}
        parts = [part for one in modules for part in ast.walk(one.module.tree)]  # `other.make()`
        imported.update(part.attr for part in parts if isinstance(part, ast.Attribute))
        imported.update(text_of(part.value) for part in parts if isinstance(part, ast.Constant))
        for loaded, name, call in pairs:
            stars = any(loaded in self.modules.stars(one) for one in modules if one.module.stars)
            if stars or name in imported or self._found or self._evaluated:
                scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
                self.evaluator.changes.note_kept(dotted(call.args[0]), scope)
                full = self.modules.outside(dotted(call.args[0]), loaded)
                if full in WATCHED or starts(full):
                    self.stop(f"what is done with `{full}` is not followed", scope.span(call))

    def _find_in_owners(self) -> None:
        """The methods of packages that matter, where code puts their names together: ``getattr(model, mode)()``."""
        made = OWNERS.intersection(site.name for site in self.sites) if self._found else ()
        rows = sorted(row.call for row in ROWS if row.call.rpartition(".")[0] in made) if made else ()
        for name, scope in self._found if rows else ():
            patterns = self._names_of_modules.written(name, scope) or [ANY]
            for full in (full for full in rows if any(fnmatchcase(full.rpartition(".")[2], one) for one in patterns)):
                self.stop(f"what is done with `{full}` is not followed", scope.span(name))

    def _decide_again(self) -> None:
        """Walk again what rests on a condition that code changes which was walked later."""
        for _ in range(_MOST_TURNS):
            self.evaluator.forget()
            note_parsed(self.evaluator)
            decided, self._decided = self._decided, []
            other = {}
            for test, scope, unit, taken in decided:
                if self._taken(test, scope, unit) is taken:
                    self._decided.append((test, scope, unit, taken))
                else:
                    other[id(unit.node)] = unit
            if not other:
                return
            self._decided = [one for one in self._decided if id(one[2].node) not in other]
            inside = {id(node) for unit in other.values() for node in ast.walk(unit.node)}
            self.sites = [s._replace(certain=s.certain and id(s.node) not in inside) for s in self.sites]
            self._starts = [(n, node, s, c and id(node) not in inside) for n, node, s, c in self._starts]
            self._pending += (unit._replace(certain=False) for unit in other.values())
            self._walk_all()
        self.stop("it has too many conditions that its code changes", None)

    def _walk_commands(self) -> None:
        """The functions of commands that the words of the program name, or all where these name none."""
        while self._commands:
            commands, self._commands = self._commands, []
            words = self._words()
            named = [command for command in commands if not words.isdisjoint(command.names)]
            only = len(named) == 1 and self._is_run(named[0])
            for command in named or commands:
                self._push(command.unit._replace(certain=only))
                if isinstance(command.unit.node, ast.FunctionDef) and only and not command.name:
                    self.evaluator.dispatched[command.unit.node] = _RUNS.get(command.caller, "typer.run")
                elif command.name:
                    self.evaluator.changes.note_kept(command.name, command.scope)
            self._walk_all()

    def _is_run(self, command: _Command) -> bool:
        """Whether the first word names a command, and code surely runs what it names."""
        first = self.entry.arguments[0].replace("-", "_") if self.entry.arguments else ""
        if first not in command.names:
            return False
        calls = [s for s in self.sites if s.certain and s.name.rpartition(".")[2] == command.caller]
        takes = command.name or command.caller in _RUNS
        return self.entry.function == command.caller or any(takes or is_started_plainly(s.node) for s in calls)

    def _words(self) -> set[str]:
        """The words of the command, as names of functions are spelt."""
        return {word.replace("-", "_") for word in self.entry.arguments}

    def _execute(self) -> None:
        """What ``exec`` runs where all that it may be given is written down: ``exec(f"y = model.{name}(x)")``."""
        files = Executed(self.entry.arguments, self.evaluator, self._names_of_modules)
        for node, scope, unit in self._executed:  # grows while it is walked
            paths = files.files(node.args[0], scope) if node.args else None
            if paths is not None:
                for path in paths:
                    self._run_here(path, node, scope, unit)
                self._walk_all()
                continue
            texts = self._names_of_modules.written(node.args[0], scope) if node.args else ()
            names = [names_of_code(text, unit.loaded.module, _FILLS | _OWNERS | _DYNAMIC) for text in texts]
            if not names or None in names:
                file = bool(node.args) and files.is_file(node.args[0], scope)
                what = "a file with `exec`, and which one is not known" if file else "code with `exec`"
                self.stop(f"it runs {what}", scope.span(node))
            for name in (name for found in names for name in found or ()):
                self._name(name, unit.loaded, False)
                self.evaluator.changes.note_kept(name, scope)
                self.evaluator.changes.note_given(name.rpartition(".")[2])
            self._walk_all()

    def _run_here(self, path: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """A file that ``exec`` runs in the names of a module: it gives them values, and each may use the other's."""
        loaded = self.modules.load_whole(path)
        if loaded is None:
            return  # which is a stop of its own
        self._whole(path)
        for name in given_names(loaded.module):
            self.evaluator.changes.note_given(name)
        if uses_names_of(loaded.module, unit.loaded.module) or uses_names_of(unit.loaded.module, loaded.module):
            self.stop(f"what it shares with {path}, which it runs with `exec`, is not followed", scope.span(node))
        if "globals" in loaded.source.text:
            self._evaluated.append((node, scope, unit))

    def _evaluate(self) -> None:
        """What ``eval`` may call: anything that its module has a name for.

        Mostly it makes a number of a text, or a class of the module. So all of these are only looked through: where
        one of them matters, what the program does is not known.
        """
        sites, starts, variables = len(self.sites), len(self._starts), len(self.environment)
        looked_through: set[str] = set()
        reached = frozenset(self._classes)
        if any(_finds_in_parameter(node, scope) for node, scope, _ in self._evaluated):
            self._evaluated += [
                (*self._evaluated[0][:2], Unit(loaded, loaded.module.tree, None, False)) for loaded in self._handed_on()
            ]
        for _, _, unit in self._evaluated:  # grows while it is walked
            if unit.loaded.path not in looked_through:
                looked_through.add(unit.loaded.path)
                self._all_in_scope(unit.loaded)
                for method in [*self._methods]:
                    self._method(method, False)
                self._walk_all()
        self._note_found(looked_through)
        modules = [loaded.module for loaded in self.modules.loaded.values() if loaded is not None]
        imported = frozenset[str]().union(*map(imported_by, modules))
        matters = any(may_fill(site.name, site.node, site.scope, imported, self.modules) for site in self.sites[sites:])
        if matters or self._has_loader(self._classes - reached) or len(self._starts) > starts or self._pending:
            for node, scope, _ in self._evaluated:
                how = "with" if dotted(node.func) == "eval" else "that it finds by"
                self.stop(f"it runs code {how} `{dotted(node.func)}`", scope.span(node))
        del self.sites[sites:]
        del self._starts[starts:]
        del self.environment[variables:]

    def _note_found(self, paths: Set[str]) -> None:
        """Note that what some modules have may be called with anything, where what is found in them may be called."""
        sites: dict[str, tuple[Module, list[ast.Call]]] = {}
        for node, scope, _ in self._evaluated:
            sites.setdefault(scope.path, (scope.module, []))[1].append(node)
        if not any(may_be_called(nodes, module) for module, nodes in sites.values()):
            return
        for loaded in filter(None, map(self.modules.load, sorted(paths))):
            scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
            for name in (*loaded.module.definitions, *loaded.module.imports):
                self.evaluator.changes.note_kept(name, scope)

    def _has_loader(self, classes: Set[int]) -> bool:
        """Whether some classes, by their ids, extend one of which calls matter."""
        modules = [loaded for loaded in self.modules.loaded.values() if loaded is not None]
        names = extending(modules) if classes else ()
        nodes = (node for loaded in modules for node in loaded.module.definitions.values())
        return any(id(node) in classes and isinstance(node, ast.ClassDef) and node.name in names for node in nodes)

    def _handed_on(self) -> list[Loaded]:
        """The modules of the repository that code hands to calls: ``make(models, name)``."""
        found: dict[str, Loaded] = {}
        for loaded in [one for one in self.modules.loaded.values() if one is not None]:
            calls = (node for node in loaded.module.nodes if isinstance(node, ast.Call))
            names = {part.id for call in calls for part in _arguments(call) if isinstance(part, ast.Name)}
            for target in (loaded.module.imports[name] for name in sorted(names) if name in loaded.module.imports):
                module = self.modules.resolve(target, loaded.path)
                if module is not None and not module[1]:
                    found[module[0].path] = module[0]
        return [*found.values()]

    def _all_in_scope(self, loaded: Loaded) -> None:
        """Reach all that a module has a name for: its own, and what it imports from the repository.

        What it has by ``import *`` are also the names that those modules have so, or by other imports.
        """
        for one in (loaded, *(star for star in self.modules.stars(loaded) if not isinstance(star, str))):
            self._whole(one.path)
            for found in (self.modules.resolve(target, one.path) for target in one.module.imports.values()):
                if found is not None and found[1]:
                    self._reach(found[0], found[1], certain=False)
                elif found is not None:
                    self._whole(found[0].path)

    def _push(self, unit: Unit) -> None:
        key = (unit.loaded.path, id(unit.node))
        known = self._walked.get(key)
        if known is None or (unit.certain and not known):
            self._walked[key] = unit.certain
            self._pending.append(unit)

    def is_reached(self, path: str, node: ast.AST) -> bool:
        """Whether a function or a class of a file was reached."""
        return (path, id(node)) in self._walked

    def _import(self, name: str, node: ast.stmt | ast.expr, scope: Scope, unit: Unit, certain: bool) -> None:
        """Run a module of the repository, or note a package that is not known."""
        if not name.strip("."):
            return
        for package in self.modules.packages_of(name, unit.loaded.path):
            self._module(package, certain)
        path = self.modules.file_of(name, unit.loaded.path)
        if path is not None:
            if self.modules.others(name, unit.loaded.path):
                self.stop(f"which `{name.partition('.')[0]}` it imports depends on `sys.path`", scope.span(node))
            self._module(path, certain)
            return
        top = name.split(".")[0]
        self._partly = self._partly or top in PARTLY
        if name.startswith(".") or self._optional or is_known(top) or top in KNOWN:
            return
        if not self.modules.is_package(name, unit.loaded.path) and not self.modules.is_extension(top, unit.loaded.path):
            self.stop(f"it imports the unknown package `{top}`", scope.span(node), package=True)

    def _module(self, path: str, certain: bool) -> None:
        """Run a module of the repository, once."""
        loaded = self.modules.load(path)
        if loaded is not None and loaded.module is not EMPTY:
            self._partly = self._partly or not loaded.packages.isdisjoint(PARTLY)
            self._push_module(loaded, certain)
        elif loaded is not None:
            self.evaluator.changes.note_attributes(stored(loaded.source.text))

    def _push_module(self, loaded: Loaded, certain: bool) -> None:
        """Walk a module, and parse those of the classes that its own extend, and of their decorators."""
        if (loaded.path, id(loaded.module.tree)) not in self._walked:
            for name in _used_by_definitions(loaded):
                other = self.modules.parse(name, loaded.path)
                if other is not None:
                    self._push_module(other, certain)
        self._push(Unit(loaded, loaded.module.tree, None, certain))

    def calling(self) -> frozenset[str]:
        """The modules that are not parsed and may call methods which nothing else does, by their names."""
        methods = {name for name in self._methods if name not in self._attributes and not _is_lifecycle(name)}
        some = self.modules.unparsed() if methods else ()
        return frozenset(one.path for one in some if not methods.isdisjoint(re.findall(_NAMED, one.source.text)))

    def _reach(self, loaded: Loaded, name: str, *, certain: bool, depth: int = 0) -> None:
        """Reach what a name of a module stands for."""
        head, _, rest = name.partition(".")
        module = loaded.module
        if head in module.definitions:
            node = module.definitions[head]
            others = module.other_definitions.get(head, ())
            for one in (node, *others):
                sure = certain and not others
                if isinstance(one, ast.ClassDef):
                    self._reach_class(loaded, one, sure)
                    if rest:
                        self._method(rest.split(".")[0], sure)
                else:
                    self._push(Unit(loaded, one, None, sure))
        elif head in module.imports and depth < 10:
            target = module.imports[head] + (f".{rest}" if rest else "")
            found = self.modules.resolve(target, loaded.path)
            if found is not None and found[1]:
                self._reach(found[0], found[1], certain=certain, depth=depth + 1)
        elif depth < 10:
            for inner in self.modules.starred(loaded):
                if head in inner.module.definitions or head in inner.module.imports:
                    self._reach(inner, name, certain=certain, depth=depth + 1)

    def _reach_class(self, loaded: Loaded, node: ast.ClassDef, certain: bool) -> None:
        self._push(Unit(loaded, node, None, certain))
        if id(node) not in self._classes:
            self._classes.add(id(node))
            self.evaluator.lineage.note(node, Scope(loaded.path, loaded.source, loaded.module, None, node))
            self._members(loaded, node, certain)
            for base in node.bases:
                name = dotted(plain(base))
                self._name(name, loaded, certain)
                full = self.modules.outside(name, loaded)
                if self._is_unread(full, loaded) or starts(full) or self.modules.is_loud(full, loaded.path):
                    place = Scope(loaded.path, loaded.source, loaded.module, None, None).span(base)
                    if full in COMMAND_LINES:
                        self._configured.note_extended(node, full, place)
                        continue
                    self.stop(f"what `{full}` starts is not followed", place)
            if self._is_called_by_base(loaded, node):
                for method in _methods(node):
                    self._method(method.name, False)

    def _members(self, loaded: Loaded, node: ast.ClassDef, certain: bool) -> None:
        """Note the methods of a class and the classes inside of it, and reach those that are called."""
        for method in _methods(node):
            self._methods.setdefault(method.name, []).append((Unit(loaded, method, node, certain), certain))
            of_test = bool(self.entry.more) and re.match(_OF_TESTS, method.name) is not None
            lifecycle = of_test or _is_lifecycle(method.name)
            if lifecycle or method.name in self._attributes:
                self._push(Unit(loaded, method, node, certain and self._attributes.get(method.name, lifecycle)))
        for inner in (part for part in node.body if isinstance(part, ast.ClassDef)):
            self._inner.setdefault(inner.name, []).append((loaded, inner))
            if inner.name in self._attributes:
                self._reach_class(loaded, inner, certain and self._attributes[inner.name])

    def _is_called_by_base(self, loaded: Loaded, node: ast.ClassDef) -> bool:
        """Whether a class of another package is extended that may call any method: a server, a visitor, a trainer."""
        names = [self.modules.outside(dotted(plain(base)), loaded) for base in node.bases]
        heads = {name.partition(".")[0] for name in names if "." in name and name.rpartition(".")[2] not in _CALLS_FEW}
        return any(self.modules.file_of(head, loaded.path) is None for head in heads)

    def _method(self, name: str, certain: bool) -> None:
        """Reach the methods of that name in the classes that were reached."""
        known = self._attributes.get(name)
        if known is not None and (known or not certain):
            return
        self._attributes[name] = certain
        if name == "start":
            self._method("run", certain)  # of a thread or a process
        for method in LOADERS["fit"] if name in _FITS else ():
            self._method(method, certain)
        for unit, sure in self._methods.get(name, ()):
            self._push(unit._replace(certain=certain and sure))
        for loaded, inner in self._inner.get(name, ()):
            self._reach_class(loaded, inner, certain)

    def _name(self, name: str, loaded: Loaded, certain: bool) -> None:
        """Reach what a dotted name in a module's code leads to."""
        known = self._names.get((loaded.path, name))
        if known is not None and (known or not certain):
            return
        self._names[loaded.path, name] = certain
        head, _, rest = name.partition(".")
        module = loaded.module
        if head in _FITS:
            self._method(head, certain)
        if head in module.definitions or (head not in module.imports and module.stars):
            self._reach(loaded, name, certain=certain)
        elif head in module.imports:
            others = module.other_imports.get(head, ())
            for one in (module.imports[head], *others):
                found = self.modules.resolve(one + (f".{rest}" if rest else ""), loaded.path)
                if found is not None:
                    self._push(Unit(found[0], found[0].module.tree, None, certain and not others))
                    if found[1]:
                        self._reach(found[0], found[1], certain=certain and not others)
                        self._reach(found[0], "__getattr__", certain=False)  # of a module that loads its parts late
        if rest:
            for part in rest.split("."):
                self._method(part, certain)

    def _walk(self, unit: Unit) -> None:
        text = unit.loaded.source.text if isinstance(unit.node, ast.Module) else ""
        if "shm" in text and (written := _in_shm(text)) is not None:
            self.stop("it uses files in /dev/shm", Span(unit.loaded.source, *written))
        function = unit.node if isinstance(unit.node, ast.FunctionDef | ast.AsyncFunctionDef) else None
        owner = unit.node if isinstance(unit.node, ast.ClassDef) else unit.owner
        scope = Scope(unit.loaded.path, unit.loaded.source, unit.loaded.module, function, owner)
        if function is not None:
            for default in (*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)):
                self._expression(default, scope, unit)
        self._statements(unit.node.body, scope, unit, unit.certain)

    def _statements(self, body: list[ast.stmt], scope: Scope, unit: Unit, certain: bool) -> After:
        """Walk statements one after the other, as far as they can be reached."""
        reached = After.NEXT
        for statement in body:
            reached = in_turn(reached, self._statement(statement, scope, unit, certain and reached is After.NEXT))
            if reached.ends:
                break
        return reached

    def _statement(self, statement: ast.stmt, scope: Scope, unit: Unit, certain: bool) -> After:
        if isinstance(statement, Definition):
            self._definition(statement, scope, unit, certain)
            return After.NEXT
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for name in _modules_of(statement, unit.loaded.path, self.modules):
                self._import(name, statement, scope, unit, certain)
                if isinstance(unit.node, ast.ClassDef) and name.partition(".")[0] in _ROOTS:  # ``Kind.DataLoader()``
                    self.stop(f"what its classes do with `{name}` is not followed", scope.span(statement))
            return After.NEXT
        if isinstance(statement, ast.If):
            return self._branch(statement, scope, unit, certain)
        if isinstance(statement, ast.Try | ast.TryStar):
            return self._try(statement, scope, unit, certain)
        self._changes(statement, scope, surely=certain and unit.certain, perhaps=unit.certain and not certain)
        here = unit if unit.certain == certain else unit._replace(certain=certain)
        of_type = statement.annotation if isinstance(statement, ast.AnnAssign) else None
        for expression in () if self._is_table(statement, unit) else _expressions(statement):
            self._expression(expression, scope, here, typed=expression is of_type)
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            turns = certain and not self._may_not_turn(statement, scope)
            left = after_loop(statement, self._statements(statement.body, scope, unit, turns))
            if left.ends:
                return left
            broken = is_broken(statement)
            every = in_turn(left, self._statements(statement.orelse, scope, unit, certain and not broken))
            return one_of([left, every]) if broken else every
        if isinstance(statement, ast.With | ast.AsyncWith):
            return after_with(self._statements(statement.body, scope, unit, certain))
        if isinstance(statement, ast.Match):
            return self._match(statement, scope, unit, certain)
        return after(statement, scope)

    def _changes(self, statement: ast.stmt, scope: Scope, *, surely: bool, perhaps: bool) -> None:
        """Note what a statement changes."""
        self.options.note_reached(statement)
        self.evaluator.changes.note_statement(statement, scope, surely=surely, perhaps=perhaps)
        self._configured.note_statement(statement, scope)
        for name in replaced_by(statement):
            if name == IMPORT or self.modules.file_of(name, scope.path) is not None:
                self.stop(f"it replaces `{name}`", scope.span(statement))

    def _match(self, statement: ast.Match, scope: Scope, unit: Unit, certain: bool) -> After:
        """Walk the cases that a value may be, up to the first that it surely is."""
        ways: list[After] = []
        for case in statement.cases:
            test = _test_of(case.pattern, statement.subject)
            taken = test if isinstance(test, bool | None) else self._decide(test, scope, unit)
            if taken is False:
                continue
            if case.guard is not None:
                self._expression(case.guard, scope, unit._replace(certain=False))
                taken = None
            ways.append(self._statements(case.body, scope, unit, certain and taken is True and not ways))
            if taken is True:
                return one_of(ways)
        return one_of([*ways, After.NEXT])

    def _try(self, statement: ast.Try | ast.TryStar, scope: Scope, unit: Unit, certain: bool) -> After:
        optional = any(_catches_import(handler) for handler in statement.handlers)
        self._optional += optional
        tried = self._statements(statement.body, scope, unit, certain)
        self._optional -= optional
        handled = [self._statements(handler.body, scope, unit, False) for handler in statement.handlers]
        if not tried.ends:
            tried = in_turn(tried, self._statements(statement.orelse, scope, unit, certain and tried is After.NEXT))
        last = self._statements(statement.finalbody, scope, unit, certain)
        if last.ends:
            return last
        return one_of([tried, *handled]) if tried.ends else tried

    def _may_not_turn(self, loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> bool:
        """Whether a loop may have no turn, as far as that is written."""
        if isinstance(loop, ast.While):
            test = self.evaluator.value(loop.test, scope, parameters=False)
            return test.value not in (UNKNOWN, POSITIVE) and not test.value
        return self._may_have_no_turn(loop.iter, scope)

    def _may_have_no_turn(self, items: ast.expr, scope: Scope) -> bool:
        """Whether a loop over items may have none: there are no items, or none of the command's words."""
        if isinstance(items, ast.Call) and dotted(items.func) == "range" and items.args:
            bounds = items.args[:2] if len(items.args) > 1 else [ast.Constant(0), items.args[0]]
            low, high = (self.evaluator.value(bound, scope) for bound in bounds)
            if low.number is None or high.number is None:
                return high.value is not POSITIVE
            return high.number <= low.number
        if isinstance(items, ast.List | ast.Tuple):
            return not items.elts
        words = next((n for n in ast.walk(items) if isinstance(n, ast.Attribute) and dotted(n) == "sys.argv"), None)
        first = items.slice.lower if isinstance(items, ast.Subscript) and isinstance(items.slice, ast.Slice) else None
        least = first.value if isinstance(first, ast.Constant) and isinstance(first.value, int) else 0
        return words is not None and len(self.entry.arguments) < max(least, 0)

    def _definition(self, node: Definition, scope: Scope, unit: Unit, certain: bool) -> None:
        """A definition runs when it is called; what is registered by a decorator may be called by anybody."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for written in _worked_out(node):
                if written not in node.decorator_list and any(isinstance(part, ast.Call) for part in walk(written)):
                    self._expression(written, scope, unit)
        if isinstance(node, ast.ClassDef):
            for part in (*(base for base in node.bases if isinstance(base, ast.Call)), *node.keywords):
                self._expression(part.value if isinstance(part, ast.keyword) else part, scope, unit)
            self.evaluator.changes.note_extended(node.bases, scope)
            if _has_calls(node):
                self._push(Unit(unit.loaded, node, None, certain))
            above = self.evaluator.lineage.above(scope._replace(function=None, owner=node)) if node.bases else []
            if any(m.name == "__init_subclass__" for owner, _ in above for m in _methods(owner)):
                self._reach_class(unit.loaded, node, False)
        self._decorators(node, scope, unit)

    def _decorators(self, node: Definition, scope: Scope, unit: Unit) -> None:
        is_command = any(name_of_decorator(decorator) == "command" for decorator in node.decorator_list)
        for decorator in node.decorator_list:
            self._expression(decorator, scope, unit)
            name = name_of_decorator(decorator)
            own = self._is_own_name(decorator, scope)
            if own:
                self.evaluator.changes.note_decorated(node)
            if (own or name not in PLAIN_DECORATORS) and not isinstance(unit.node, ast.ClassDef):
                if isinstance(node, ast.ClassDef):
                    self._reach_class(unit.loaded, node, False)
                    for method in _methods(node) if name.startswith("register") and not own else ():
                        self._method(method.name, False)  # who finds the class by its name may call any of it
                elif name == "command" and not own:
                    names = frozenset({node.name, *names_of_command(decorator)})
                    called = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).split(".")[-2:]
                    inner = Unit(unit.loaded, node, None, False)
                    self._commands.append(_Command(names, inner, "", scope, called[0]))
                elif own or name not in (_OF_COMMANDS if is_command else _MAINS):
                    self._push(Unit(unit.loaded, node, None, False))

    def _is_own_name(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a name, or what a call calls, is a function or a class of the repository."""
        called = node.func if isinstance(node, ast.Call) else node
        if not isinstance(called, ast.Name | ast.Attribute):
            return False
        name = dotted(called)
        if isinstance(scope.module.definitions.get(name.rpartition(".")[0]), ast.FunctionDef | ast.AsyncFunctionDef):
            return False  # what a decorator made of a function: ``@group.command()``
        own = name in scope.module.definitions
        return self.evaluator.definition(name if own else scope.full_name(called), scope) is not None

    def _branch(self, statement: ast.If, scope: Scope, unit: Unit, certain: bool) -> After:
        self._expression(statement.test, scope, unit._replace(certain=certain))
        taken = self._decide(statement.test, scope, unit)
        self.evaluator.leave_out(statement, statement.orelse if taken else statement.body if taken is False else [])
        asks = isinstance(statement.test, ast.Call) and re.fullmatch(_HAS_PACKAGE, dotted(statement.test.func))
        ways: list[After] = []
        if taken is not False:
            self._optional += bool(asks)
            ways.append(self._statements(statement.body, scope, unit, certain and taken is True))
            self._optional -= bool(asks)
        if taken is not True:
            ways.append(self._statements(statement.orelse, scope, unit, certain and taken is False))
        return one_of(ways) if len(ways) > 1 else ways[0]

    def _taken(self, test: ast.expr, scope: Scope, unit: Unit) -> bool | None:
        if (
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Name)
            and test.left.id == "__name__"
            and len(test.ops) == 1
            and isinstance(test.ops[0], ast.Eq | ast.NotEq)
            and isinstance(test.comparators[0], ast.Constant)
            and test.comparators[0].value == "__main__"
        ):
            return (unit.loaded.path == normal(self.entry.path) and not self.entry.function) is isinstance(
                test.ops[0], ast.Eq
            )
        if isinstance(test, ast.Name | ast.Attribute) and scope.full_name(test) in _TYPE_CHECKING:
            return None if "TYPE_CHECKING" in scope.module.constants else False
        found = self.evaluator.value(test, scope, parameters=False)
        if found.value is UNKNOWN or found.value is POSITIVE or not found.certain:
            return None
        return bool(found.value)

    def _expression(self, expression: ast.AST, scope: Scope, unit: Unit, *, typed: bool = False) -> None:
        """Reach what an expression names, and note what it calls; ``typed`` where it is a type."""
        of_parser = self._given_to_parser(expression, scope, unit)
        for call, name, use, conditions in unit.loaded.named(expression):
            runs = self._runs(conditions, scope, unit) if conditions else True
            if runs is False or (call is None and use != "called" and name in of_parser):
                continue
            sure = unit.certain and runs is True
            if call is not None:
                self._call(name, call, scope, unit if sure == unit.certain else unit._replace(certain=sure))
                continue
            self._name(name, unit.loaded, sure and use == "called")
            if use == "named" and not typed:
                self.evaluator.changes.note_kept(name, scope)
            if use in ("named", "passed") and not typed:
                if isinstance(unit.node, ast.ClassDef) and any(name == own.name for own in _methods(unit.node)):
                    self.evaluator.changes.keep_method(name)  # ``large = partialmethod(load, workers=8)``
                    self._method(name, False)
                full = self.modules.outside(name, unit.loaded).partition(".__")[0]
                if full in OWNERS:
                    self.kept.add(full)
                loud = "." in full and self.modules.is_loud(full, unit.loaded.path)
                if full in WATCHED or starts(full) or loud:
                    self.stop(f"what is done with `{full}` is not followed", scope.span(expression))

    def _is_table(self, statement: ast.stmt, unit: Unit) -> bool:
        """Whether a statement of the program's file only names functions that it calls by words."""
        if not isinstance(statement, ast.Assign) or not isinstance(unit.node, ast.Module):
            return False
        target, own = statement.targets[0], unit.loaded.path == normal(self.entry.path)
        return own and isinstance(target, ast.Name) and is_table(target.id, statement.value, unit.loaded.module)

    def _given_to_parser(self, expression: ast.AST, scope: Scope, unit: Unit) -> Collection[str]:
        """The functions that are kept for the words of the command: ``train.set_defaults(run=main)``, those of Fire."""
        call = expression.value if isinstance(expression, ast.Expr) else expression
        if not isinstance(call, ast.Call):
            return ()
        if isinstance(call.func, ast.Subscript) and isinstance(call.func.value, ast.Dict):
            return self._found_in_dict(call, call.func.value, call.func.slice, scope, unit)
        if isinstance(call.func, ast.Subscript) and unit.loaded.path == normal(self.entry.path):
            name, module = dotted(call.func.value), unit.loaded.module
            given = module.constants.get(name, ())
            table = given[0] if len(given) == 1 and is_table(name, given[0], module) else None
            if isinstance(table, ast.Dict) and not self._found_in_dict(call, table, call.func.slice, scope, unit):
                self._expression(table, scope._replace(function=None), unit)
        pairs = functions_by_name(call, scope)
        definitions = unit.loaded.module.definitions
        own = [(names, key, value) for names, key, value in pairs
               if isinstance(definitions.get(value), ast.FunctionDef | ast.AsyncFunctionDef)]  # fmt: skip
        for names, key, value in own:
            inner = Unit(unit.loaded, definitions[value], None, False)
            self._commands.append(_Command(names, inner, "" if key in _RUNS else value, scope, key))
        return [value for _, _, value in own]

    def _found_in_dict(
        self, call: ast.Call, functions: ast.Dict, key: ast.expr, scope: Scope, unit: Unit
    ) -> Collection[str]:
        """``{"train": main, "serve": serve}[args.command](args)``: only the one that is found there is called."""
        found = self.evaluator.value(key, scope)
        pairs = zip(functions.keys, functions.values, strict=True)
        named = {getattr(one, "value", None): value for one, value in pairs}
        value = named.get(found.value) if isinstance(found.value, str) and found.certain else None
        if isinstance(value, ast.Lambda) and not call.args and not call.keywords:
            self._expression(value.body, scope._replace(function=None), unit)
            return [dotted(one) for one in named.values()]
        if not isinstance(value, ast.Name) or not all(isinstance(one, ast.Name) for one in named.values()):
            return ()
        self._name(value.id, unit.loaded, unit.certain)
        made = ast.copy_location(ast.Call(value, call.args, call.keywords), call)
        self.evaluator.note_call(value.id, self._bound.setdefault(id(call), made), scope)
        return [dotted(one) for one in named.values()]

    def _runs(self, conditions: Conditions, scope: Scope, unit: Unit) -> bool | None:
        """Whether a part of an expression is worked out: ``run() if a else b``, ``a and run()``; None: not known."""
        answers = [self._holds(test, scope, unit) for test, _ in conditions]
        wanted = [want for _, want in conditions]
        if any(answer is not None and answer is not want for answer, want in zip(answers, wanted, strict=True)):
            return False
        return None if None in answers else True

    def _holds(self, test: ast.expr | ast.comprehension | None, scope: Scope, unit: Unit) -> bool | None:
        """Whether a condition holds, or a loop in an expression has a turn; None: not known."""
        if isinstance(test, ast.comprehension):
            return None if test.ifs or self._may_have_no_turn(test.iter, scope) else True
        return self._decide(test, scope, unit) if test is not None else None

    def _decide(self, test: ast.expr, scope: Scope, unit: Unit) -> bool | None:
        """Whether a condition holds, as far as the code was read: what is read later may make it another one."""
        taken = self._taken(test, scope, unit)
        if taken is not None and len(self._decided) < MOST_STEPS and not isinstance(test, ast.Constant):
            self._decided.append((test, scope, unit, taken))
        return taken

    def _call(self, name: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        bound = unit.loaded.bound.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if bound is not None:
            node = self._bound[id(node)] = self._bound.get(id(node)) or whole_call(bound, node)
            name = scope.full_name(node.func)
            self._name(dotted(node.func), unit.loaded, unit.certain)
        self.evaluator.note_call(name, node, scope)
        last = name.rpartition(".")[2]
        if last in _FILLS or last in _OWNERS or self._partly:
            name, only = self._outside(node, unit.loaded)
            unit = unit if only else unit._replace(certain=False)
        self._looks_up(name, node, scope, unit)
        self._reads(name, node, scope)
        if name.rpartition(".")[2] in _FILLS_CLASSES and "HfArgumentParser" in scope.source.text:
            self._fills_classes(name.rpartition(".")[2], node, scope, certain=unit.certain)
        if name in _PUTS_VARIABLES:
            self._put_variables(last, node, scope)
        self._moves = self._moves or name in _CHANGES_DIRECTORY
        if starts(name):
            self._starts.append((name, node, scope, unit.certain))
            self.evaluator.changes.note_start(name, node)
        self._loads_by_name(name, node, scope, unit)
        self._passes(name, node, scope, unit)
        if name in _RUN_MODULES:
            self._whole(unit.loaded.path)
        if name in DISPATCHERS:
            told = name.startswith("jsonargparse.") and node.keywords
            for argument in node.args:
                self._dispatches(argument, TOLD_MORE if told else name, unit)
        if self._configured.note(name, node, scope, certain=unit.certain):
            return
        if self._is_unread(name, unit.loaded) or (name not in WATCHED and self.modules.is_loud(name, unit.loaded.path)):
            self._not_followed(name, node, scope, unit.certain)
        else:
            self.sites.append(Site(name, node, scope, unit.certain))

    def _loads_by_name(self, name: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """What a framework loads by names that a call hands it."""
        if name in DJANGO and ("", DJANGO_SETTINGS) not in self._names:
            self._names["", DJANGO_SETTINGS] = unit.certain
            self._load_settings(node, scope, unit)
        if name == "streamlit.Page" and node.args and isinstance(node.args[0], ast.Constant):
            self._whole(normal(os.path.join(os.path.dirname(self.entry.path), text_of(node.args[0].value))))
        found = loaded_by(name, node, scope)
        if found is None:
            self.stop(f"which modules `{name}` loads is not known", scope.span(node))
        at_once = name in _IMPORTING
        for one in found or ():
            path = self.modules.file_of(one.module, unit.loaded.path)
            if path is None and not at_once:
                continue  # a text that only looks like a name
            self._import(one.module, node, scope, unit, unit.certain and at_once)
            loaded = self.modules.load(path) if path is not None else None
            if path is not None and one.name == "*":
                self._whole(path)
            elif loaded is not None:
                self._reach(loaded, one.name, certain=unit.certain and at_once)

    def _load_settings(self, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """What Django loads by its settings: what their texts name, the models of its apps, and their commands."""
        names = self._settings_of_django()
        files = [self.modules.file_of(name, unit.loaded.path) for name in names]
        if not names or None in files:
            self.stop("what Django loads by its settings is not known", scope.span(node))
        for path in filter(None, files):
            self._whole(path)
            loaded = self.modules.load_whole(path)
            stars = [star.path for star in self.modules.stars(loaded) if isinstance(star, Loaded)] if loaded else []
            every = filter(None, (loaded, *map(self.modules.load_whole, stars)))
            told = list(dict.fromkeys(name for one in every for name in names_in(one.module)))
            if len(told) > _MOST_OF_DJANGO:
                self.stop("the settings of Django name too much", scope.span(node))
            for name in told[:_MOST_OF_DJANGO]:
                self._app_of_django(name, unit.loaded.path)

    def _app_of_django(self, name: str, importer: str) -> None:
        """A module that the settings name; of an app, its configuration, its models and the command that is run."""
        more = (f"management.commands.{word}" for word in self.entry.arguments[:1] if word.isidentifier())
        for inner in (name, *(f"{name}.{part}" for part in ("apps", "models", *more))):
            path = self.modules.file_of(inner, importer)
            if path is not None:
                self._whole(path)

    def _settings_of_django(self) -> list[str]:
        """The settings modules that the container or the code names."""
        given = self.options.environment.get(DJANGO_SETTINGS)
        if given is not None:
            return [given.known] if given.known and not given.private else []
        texts = [one.source.text for one in self.modules.loaded.values() if one is not None]
        return list(dict.fromkeys(name for text in texts for name in re.findall(_SETTINGS_OF_DJANGO, text)))

    def _is_unread(self, name: str, loaded: Loaded) -> bool:
        """Whether a name stands for what starts workers in ways that are not followed.

        In the repository of such a package, or with a copy of it, its code is there and tells more.
        """
        return name in NOT_FOLLOWED and self.modules.resolve(name, loaded.path) is None

    def _reads(self, name: str, node: ast.Call, scope: Scope) -> None:
        """The configuration files that a call reads."""
        last = name.rpartition(".")[2]
        if last in _OPENS and node.args and isinstance(node.args[0], ast.Constant):
            self.options.name_file(text_of(node.args[0].value))
        elif last in _OPENS and node.args and len(self._opened) < _MOST_NAMED:
            self._opened.append((node.args[0], scope))
        if last in ("get", "getenv") and node.args and isinstance(node.args[0], ast.Constant):
            self._named_by_variable(text_of(node.args[0].value))
        if name in _PARSERS_OF_DETECTRON and "opts" not in self.options.declared:
            self.options.declare(parser_of_detectron())
        if name == "hydra.main":
            self._composed(node, scope)

    def _fills_classes(self, last: str, node: ast.Call, scope: Scope, *, certain: bool) -> None:
        """The file or the mapping from which ``HfArgumentParser`` takes the fields of classes, and not the command."""
        given = next(iter((*node.args, *(k.value for k in node.keywords if k.arg in _FILLS_CLASSES[last]))), None)
        if given is None or any(dotted(n) == "sys.argv" for n in ast.walk(given) if isinstance(n, ast.Attribute)):
            return  # the command names the file
        path = self.evaluator.value(given, scope).value if last != "parse_dict" else None
        if isinstance(path, str) and self.options.file(path) is not None:
            self.options.name_file(path, perhaps=not certain)
            return
        mapping = self.evaluator.mapping(given, scope) if last == "parse_dict" else None
        for key, (value, where) in mapping.entries.items() if mapping is not None else ():
            found = self.evaluator.value(value, where)
            self.options.configure(key, found if certain else changed(found))
        if mapping is None or not mapping.complete:
            self.evaluator.changes.defaults = True

    def _not_followed(self, name: str, node: ast.Call, scope: Scope, certain: bool) -> None:
        self.sites.append(Site(name, node, scope, certain))
        if name in POOLS:
            return  # what crosses is looked at once all calls are known
        does = f"what is put into `{name}`" if name.endswith("Queue") else f"what `{name}` starts"
        self.stop(f"{does} is not followed", scope.span(node))

    def _outside(self, node: ast.Call, loaded: Loaded) -> tuple[str, bool]:
        """The name outside of the repository that is called, and whether its module imports no other one by it."""
        name = self.modules.outside(dotted(node.func), loaded)
        head, dot, rest = dotted(node.func).partition(".")
        others = [one + dot + rest for one in loaded.module.other_imports.get(head, ())]
        only = not others and not (head in loaded.module.definitions and head in loaded.module.imports)
        return next((one for one in (name, *others) if one in WATCHED or one in COLLECTIVE), name), only

    def _looks_up(self, name: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """What finds or loads code by a name."""
        name = name.removeprefix("builtins.")
        self._extended = self._extended or name.endswith("__subclasses__")
        if isinstance(node.func, ast.Call) and dotted(node.func.func) == "getattr" and len(node.func.args) > 1:
            self._calls_found(node.func, scope, unit)
        if name == "getattr" and len(node.args) > 1:
            self._finds(node, scope, unit)
        elif name in ("operator.methodcaller", "operator.attrgetter"):
            self._found += ((argument, scope) for argument in node.args)
        elif name == "vars" and node.args and dotted(node.args[0]) in scope.module.imports:
            self._finds_any(node.args[0], node, scope, unit)
        elif name in _DYNAMIC and not self._is_of_own(name, node, scope):
            self._loads(name, node, scope, unit)

    def _is_of_own(self, name: str, node: ast.Call, scope: Scope) -> bool:
        """Whether a call of ``eval`` or ``exec`` is one of a function of the program that is called so."""
        if not isinstance(node.func, ast.Name) or node.func.id != name:
            return False
        key = name, id(scope.module.tree)
        if key not in self._own_calls:
            self._own_calls[key] = calls_of_own(name, scope.module.tree)
        return id(node) in self._own_calls[key]

    def is_settled(self, site: Site) -> bool:
        """Whether what a call makes of its configuration is known, and was walked."""
        return id(site.node) in self._configured.settled

    def is_own(self, site: Site) -> bool:
        """Whether a call may be one of a function, class or method that was read."""
        name = dotted(site.node.func)
        last, head = name.rpartition(".")[2], name.partition(".")[0]
        if last in self._methods or head in site.scope.module.definitions:
            return True
        return self.modules.resolve(site.name, site.scope.path) is not None

    def _named_by_variable(self, name: str) -> None:
        """The configuration file that a variable of the container names."""
        value = self.options.environment.get(name)
        if value is not None and value.known is not None and not value.private:
            self.options.name_file(value.known)

    def _dispatches(self, argument: ast.expr, dispatcher: str, unit: Unit) -> None:
        """A function that is called with the words of the command, or a class of which a method is."""
        name = dotted(argument) if isinstance(argument, ast.Name | ast.Attribute) else ""
        target = unit.loaded.module.imports.get(name)
        found = self.modules.resolve(target, unit.loaded.path) if target is not None else (unit.loaded, name)
        definition = found[0].module.definitions.get(found[1]) if found is not None else None
        if isinstance(definition, ast.ClassDef):
            methods = {method.name: method for method in _methods(definition)}
            named = [name for name in methods if name in self._words()]
            first = self.entry.arguments[0].replace("-", "_") if self.entry.arguments else ""
            only = named == [first] and dispatcher == "fire.Fire"
            if only:
                self.evaluator.dispatched[methods[first]] = BY_NAME
            for method in named or methods:
                self._method(method, only and unit.certain)
        elif definition is not None:
            self.evaluator.dispatched[definition] = dispatcher
            self._name(name, unit.loaded, unit.certain)

    def _composed(self, node: ast.Call, scope: Scope) -> None:
        """The configuration of a program that ``@hydra.main`` starts."""
        given = dict(zip(("config_path", "config_name"), node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        folder = self._folder(given["config_path"], scope) if "config_path" in given else None
        name = self.evaluator.value(given["config_name"], scope).value if "config_name" in given else None
        self.options.compose(folder or ".", name if isinstance(name, str) else "config", scope.path)

    def _folder(self, node: ast.expr, scope: Scope) -> str | None:
        """The directory that an expression is, from that of its file; None where it is not known.

        The working directory is the only one of those around the program that has the rest of the path.
        """
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        paths = ModulePaths(self.evaluator, self._repository.root)
        found = paths.files(node, scope)
        below = paths.below_working(node, scope) if not found else None
        if below is not None:
            around = self._repository.above(os.path.dirname(self.entry.path) or ".")
            places = (normal(os.path.join(folder, below)) for folder in around)
            found = tuple(filter(self._repository.is_dir, places))
        return os.path.relpath(found[0], os.path.dirname(scope.path) or ".") if len(found) == 1 else None

    def _loads(self, name: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """Code that is loaded by a name: an import like any other where the name is written there."""
        named = node.args[0] if len(node.args) == 1 else None
        if name == "exec":
            given = _only_assigned(node.args[0]) if node.args else None
            if given is None:
                self._executed.append((node, scope, unit))
            for one in given or ():
                self.evaluator.changes.note_given(one)
        elif name == "locals" and scope.function is not None and holds_only_values(scope.function):
            pass  # whatever the names of a function stand for is reached where it gets them
        elif name in ("eval", "globals", "locals"):
            self._evaluates(name, node, scope, unit)
        elif name in _BY_PATH:
            path = self.evaluator.value(node.args[1], scope).value if len(node.args) > 1 else None
            place = self.options.files.find(path) if isinstance(path, str) else None
            if place is not None and place.path.endswith(".py"):
                self._whole(place.path)
            else:
                self.stop(_LOADED_BY_NAME, scope.span(node))
        elif isinstance(named, ast.Constant) and isinstance(named.value, str):
            self._import(named.value, node, scope, unit, unit.certain)
            path = self.modules.file_of(named.value, unit.loaded.path)
            if path is not None:
                self._whole(path)
        elif len(self._named) < _MOST_NAMED:
            self._named.append((node, scope, unit))
        else:
            self.stop(_LOADED_BY_NAME, scope.span(node))

    def _evaluates(self, name: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        if name == "eval" and _has_no_names(node):
            return
        if not _FILLS.isdisjoint(_words_of(node.args)):
            self.stop(f"it runs code with `{name}`", scope.span(node))
        self._evaluated.append((node, scope, unit))

    def _finds(self, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """``getattr(module, name)``: what a module has by a name that is written there, or any of it."""
        module, name = node.args[0], node.args[1]
        if isinstance(name, ast.Constant):
            full = f"{scope.full_name(module)}.{text_of(name.value)}"
            if full in WATCHED or self.modules.is_loud(full, unit.loaded.path):
                self.stop(f"what is done with `{full}` is not followed", scope.span(node))
            self._name(f"{dotted(module)}.{text_of(name.value)}", unit.loaded, False)
        elif scope.full_name(module) == "?" and dotted(getattr(module, "value", module)) == "sys.modules":
            self._evaluated.append((node, scope, unit))
        elif dotted(module).partition(".")[0] not in scope.module.imports:
            self._found.append((name, scope))
        elif dotted(module) in scope.module.imports:
            self._finds_any(module, node, scope, unit)

    def _finds_any(self, module: ast.expr, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """Anything that a module of the repository has."""
        found = self.modules.resolve(scope.full_name(module), unit.loaded.path)
        if found is not None and not found[1]:
            self._evaluated.append((node, scope, unit._replace(loaded=found[0])))

    def _calls_found(self, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """``getattr(thing, name)()``: any method, where the name is not known at all."""
        known = isinstance(node.args[1], ast.Constant) or dotted(node.args[0]).partition(".")[0] in scope.module.imports
        if not known and not any(one.strip(ANY) for one in self._names_of_modules.written(node.args[1], scope)):
            self._evaluated.append((node, scope, unit))

    def _load_named(self, *, last: bool = False) -> None:
        """The modules whose names code puts together, once the calls are known that say with what: all of each."""
        for node, scope, unit in self._named:
            names = self._names_of_modules.names(node, scope)
            found = [self.modules.matching(name, unit.loaded.path) for name in names]
            for path in (path for files in found for path in files):
                self._whole(path)
                for package in self.modules.packages_around(path):
                    self._module(package, False)
            unknown = [name for name, files in zip(names, found, strict=True) if not files and not _is_harmless(name)]
            if last and (unknown or not names) and not is_compiled(node, scope):
                self.stop(_LOADED_BY_NAME, scope.span(node))

    def _whole(self, path: str) -> None:
        """Reach all that a module has."""
        loaded = self.modules.load(path)
        if loaded is not None and loaded.module is not EMPTY:
            self._push(Unit(loaded, loaded.module.tree, None, False))
            for name in loaded.module.definitions:
                self._reach(loaded, name, certain=False)

    def _imported_tests(self, path: str) -> None:
        """Reach the tests that a file of tests has from others."""
        loaded = self.modules.load(path)
        if loaded is None:
            return
        others = [star for star in self.modules.stars(loaded) if isinstance(star, Loaded)]
        named = [(star, name) for star in others for name in star.module.definitions]
        for module, name in (*named, *((loaded, name) for name in loaded.module.imports)):
            if re.match(_OF_TESTS, name) is not None:
                self._reach(module, name, certain=False)

    def _put_variables(self, last: str, node: ast.Call, scope: Scope) -> None:
        """Note what a call puts into the environment: ``os.environ.setdefault(name, text)``, ``os.environ.update``."""
        pairs: list[tuple[ast.expr | None, ast.expr]] = [(node.args[0], node.args[1])] if len(node.args) == 2 else []
        if last == "update":
            first = node.args[0] if node.args else None
            pairs = list(zip(first.keys, first.values, strict=True)) if isinstance(first, ast.Dict) else []
            pairs += [(ast.Constant(keyword.arg), keyword.value) for keyword in node.keywords if keyword.arg]
        for key, value in pairs:
            name = self.evaluator.value(key, scope).value if key is not None else None
            text = self.evaluator.value(value, scope).value
            if isinstance(name, str) and isinstance(text, str):
                self.environment.append((name, text, scope.span(value if last == "update" else node)))

    def _started(self) -> None:
        """The programs that are started, once all calls are known that say with what."""
        for name, node, scope, certain in self._starts:
            found, every = commands_of(name, node, scope, self.evaluator)
            only = len(found) == 1 and every and MISSING not in " ".join(found[0])
            self.commands += ((words, scope.span(node), certain and only) for words in found)
            if not found:
                self.stop(NO_NAME, scope.span(node))
            elif any(is_python(words[0].rpartition("/")[2]) and words[1:] in ((), ("-",)) for words in found):
                self.stop("the code that Python reads from its input is not followed", scope.span(node))
            elif not every:
                self.stop("it changes the command that it starts in ways that are not followed", scope.span(node))
            elif self._moves and (other := next((w for words in found for w in words if self._is_any(w)), None)):
                self.stop(f"which `{other}` it starts depends on the directory that it changes to", scope.span(node))

    def _is_any(self, word: str) -> bool:
        """Whether several directories of the repository have the file that a relative path names."""
        if not word.endswith((".py", ".sh")) or word.startswith("/") or " " in word:
            return False
        repository = self._repository
        starts = (repository.home, repository.root, os.path.dirname(self.entry.path))
        folders = {normal(folder or ".") for one in starts for folder in (one, *repository.folders_in(one or "."))}
        return sum(repository.is_file(normal(os.path.join(folder, word))) for folder in sorted(folders)) > 1

    def _passes(self, name: str, node: ast.Call, scope: Scope, unit: Unit) -> None:
        """A call that calls a function for its caller: in a process, in a thread, or in a pool."""
        passed = passed_call(name, node)
        if passed is not None and node not in unit.loaded.bound.values():
            called = scope.full_name(passed.call.func)
            self.evaluator.note_call(called, passed.call, scope)
            self._name(dotted(passed.call.func), unit.loaded, unit.certain and "partial" not in name)


def _assignments(shared: Shared) -> Assignments:
    """What code gives names, which all programs of a run have in common."""
    shared.assignments = shared.assignments or Assignments()
    return shared.assignments


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _finds_in_parameter(node: ast.Call, scope: Scope) -> bool:
    """Whether a call finds something by its name in what its function is given, which may be a module."""
    given = getattr(scope.function, "args", None)
    if dotted(node.func) != "getattr" or not isinstance(node.args[0], ast.Name) or given is None:
        return False
    names = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    return any(one.arg == node.args[0].id for one in names if one.arg not in ("self", "cls"))


_LIFECYCLE = frozenset({"forward", "setup", "prepare_data", "configure_optimizers", "training_step", "build"})
_CALLS_FEW = frozenset(
    {"Module", "Dataset", "IterableDataset", "LightningModule", "LightningDataModule", "ABC", "Enum", "IntEnum",
     "StrEnum", "NamedTuple", "TypedDict", "Protocol", "Generic", "BaseModel", "Function", "Sampler", "Optimizer",
     "UserDict", "dict", "list"}
)  # fmt: skip
"""Classes of other packages that call none of the methods of their heirs, or those only that are followed."""
_FITS = frozenset({"fit"})
"""What lets a trainer ask a model for its data; one that is made to predict is never asked."""
_OPENS = frozenset({"open", "Path", "load", "fromfile", "merge_from_file", "read_text", "safe_load"})
"""Calls that read a configuration file: ``open``, OmegaConf, mmengine's Config, yacs."""
_RUNS = {"Fire": BY_NAME}
"""Calls that run one of several functions which they are given, by their last names."""
_FILLS_CLASSES = {"parse_json_file": ("json_file",), "parse_yaml_file": ("yaml_file",), "parse_dict": ("args",)}
"""Methods of ``HfArgumentParser`` that read other things than words, and the keyword for these."""
_PARSERS_OF_DETECTRON = tuple(f"detectron2.engine.{module}default_argument_parser" for module in ("", "defaults."))
_RUN_MODULES = frozenset(
    {"unittest.main", "doctest.testmod", "absl.testing.absltest.main", "cProfile.run", "profile.run"}
)
"""Calls that run the tests, or any code, of the module around them."""
_PUTS_VARIABLES = frozenset({"os.environ.setdefault", "os.environ.update", "os.putenv"})
_CHANGES_DIRECTORY = frozenset({"os.chdir", "os.fchdir", "contextlib.chdir"})
_IMPORTING = frozenset({"uvicorn.run"})
"""Calls that import the module which they are given by its name, and call what they find there."""
_MOST_OF_DJANGO = 1000
"""Names in the settings of Django that are looked for."""
_SETTINGS_OF_DJANGO = rf"{DJANGO_SETTINGS}[\"'][\])\s,=]+[\"']([\w.]+)[\"']"
_FILLS = frozenset(name.rpartition(".")[2] for name in (*(row.call for row in ROWS), *COLLECTIVE, *NOT_FOLLOWED))
"""The last names of the calls that put something into /dev/shm, or may."""
_OWNERS = frozenset(name.rpartition(".")[2] for name in OWNERS)
_ROOTS = frozenset(name.partition(".")[0] for name in WATCHED)
"""The packages of the calls that matter."""
_BY_PATH = frozenset(
    {"importlib.util.spec_from_file_location", "importlib.machinery.SourceFileLoader", "imp.load_source"}
)  # fmt: skip
"""Calls that load the module in a file, which is their second argument."""
_DYNAMIC = frozenset(
    {"importlib.import_module", "import_module", "__import__", "exec", "eval", "globals", "locals", *_BY_PATH}
)
_TYPE_CHECKING = ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING", "TYPE_CHECKING")
_OF_TESTS = r"(?i)test|async_?setup|async_?teardown|setup|teardown|pytest_|runTest|load_tests"
"""What pytest and unittest call by its name."""
_NAMED = r"\.\s*+([A-Za-z_]\w*+)"
"""What a text may call, or ask, of objects."""
_IN_SHM = r"""["']/dev(?:/|["']\s*\)?\s*[,/]\s*["'])shm(?![\w-])"""


def _in_shm(text: str) -> tuple[int, int] | None:
    """Where code names a file in /dev/shm; lines that are comments are no code."""
    for found in re.finditer(_IN_SHM, text):
        if not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].lstrip().startswith("#"):
            return found.span()
    return None


_HAS_PACKAGE = r"(?:\w+\.)*_?(?:is|has|have)_\w+_(?:available|enabled|installed)"
"""Functions that tell whether a package is there, by the names that everybody gives them."""
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


def _modules_of(statement: ast.Import | ast.ImportFrom, importer: str, modules: Modules) -> Iterator[str]:
    """The modules that an import loads; what else it names are names of a module."""
    if isinstance(statement, ast.Import):
        yield from imported_modules(statement)
        return
    base = "." * statement.level + (statement.module or "")
    yield base
    own = modules.file_of(base, importer)
    if own is None or os.path.basename(own) == "__init__.py":  # what a plain module holds is no module
        yield from (n for n in imported_modules(statement) if n != base and modules.file_of(n, importer) is not None)


def _has_no_names(node: ast.Call) -> bool:
    """Whether what ``eval`` reads may name nothing, not even a builtin: ``eval(text, {"__builtins__": {}})``."""
    if node.keywords or not 2 <= len(node.args) <= 3:
        return False
    names, *more = node.args[1:]
    if not isinstance(names, ast.Dict) or len(names.keys) != 1 or not all(map(_is_empty, more)):
        return False
    key = names.keys[0]
    return isinstance(key, ast.Constant) and key.value == "__builtins__" and _is_empty(names.values[0])


def _is_empty(node: ast.expr) -> bool:
    return (isinstance(node, ast.Dict) and not node.keys) or (isinstance(node, ast.Constant) and node.value is None)


def _only_assigned(code: ast.expr) -> frozenset[str] | None:
    """What ``exec(f"model.layer{i + 1}=value")`` gives values; None where its code may do more than that.

    What is put into it may only be a number, which is a sum or a difference with one.
    """
    text = ""
    for part in code.values if isinstance(code, ast.JoinedStr) else (code,):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            text += part.value
        elif isinstance(part, ast.FormattedValue) and _is_number(part.value):
            text += "1"
        else:
            return None
    module = parse(text)
    if module is None or module.imports or module.stars or module.definitions:
        return None
    nodes = tuple(ast.walk(module.tree))
    names = {dotted(node).rpartition(".")[2] for node in nodes if isinstance(node, ast.Name | ast.Attribute)}
    if any(isinstance(node, ast.Call) for node in nodes) or not _FILLS.isdisjoint(names):
        return None
    return frozenset(names)


def _words_of(nodes: list[ast.expr]) -> list[str]:
    """The words in the texts that are written in some expressions."""
    parts = (part.value for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant))
    return [word for part in parts if isinstance(part, str) for word in re.findall(r"\w+", part)]


def _is_number(node: ast.expr) -> bool:
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) else ()
    return any(isinstance(side, ast.Constant) and isinstance(side.value, int) for side in sides)


def _is_harmless(name: str) -> bool:
    return not name.startswith(".") and is_known(name.partition(".")[0])


def _is_lifecycle(method: str) -> bool:
    return method.startswith("__") or method in _LIFECYCLE


def _used_by_definitions(loaded: Loaded) -> Iterator[str]:
    """The full names of what the classes of a module extend, and of what decorates its classes and functions."""
    module = loaded.module
    for node in (*module.definitions.values(), *(one for some in module.other_definitions.values() for one in some)):
        bases = [plain(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
        called = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
        for name in filter(None, map(dotted, (*bases, *called))):
            head, dot, rest = name.partition(".")
            if head in module.imports:
                yield f"{module.imports[head]}{dot}{rest}"
            elif head not in module.definitions:
                yield from module.stars


def _catches_import(handler: ast.ExceptHandler) -> bool:
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(name is None or dotted(name) in _IMPORT_ERRORS for name in names)


def _has_calls(node: ast.ClassDef) -> bool:
    """Whether the body of a class calls anything when it is defined."""
    own = (part for item in node.body for part in (_worked_out(item) if isinstance(item, Definition) else (item,)))
    return any(isinstance(inner, ast.Call) for part in own for inner in walk(part))


def _worked_out(node: Definition) -> Iterator[ast.expr]:
    """What Python works out where a function or class is defined: decorators, defaults, types, what it extends."""
    yield from (decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call))
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *(keyword.value for keyword in node.keywords))
    else:
        given = node.args
        taken = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        types = (argument.annotation for argument in taken if argument is not None)
        yield from filter(None, (*given.defaults, *given.kw_defaults, *types, node.returns))


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))


def _test_of(pattern: ast.pattern, subject: ast.expr) -> ast.expr | bool | None:
    """The comparison that a pattern of values stands for; True for one that any value fits, None for another."""
    patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    values = [one.value for one in patterns if isinstance(one, ast.MatchValue)]
    if len(values) == len(patterns):
        tests: list[ast.expr] = [ast.Compare(subject, [ast.Eq()], [value]) for value in values]
        test = ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else tests[0]
        return ast.fix_missing_locations(ast.copy_location(test, pattern))
    return True if isinstance(pattern, ast.MatchAs) and pattern.pattern is None else None


def _expressions(statement: ast.stmt) -> Iterator[ast.expr | ast.withitem]:
    """The expressions of a statement, not those of the statements inside of it."""
    for name in statement._fields:
        value = getattr(statement, name, None)
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, ast.expr | ast.withitem):
                yield part
