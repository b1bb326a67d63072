"""What a program lets its configuration choose: the classes that it makes, and with what."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import (
    COMMAND_LINES,
    FROM_FILE,
    INSTANTIATE,
    LOADERS,
    RUNNERS,
    TRAINERS,
    YACS_MADE,
)
from shmlint.workloads.program import Entry
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.modules import Modules
from shmlint.workloads.python.passing import DISPATCHERS
from shmlint.workloads.python.values import DictValue, Found, Scope, text_of

if TYPE_CHECKING:
    from shmlint.workloads.python.configurations.instantiated import Instantiated
    from shmlint.workloads.python.configurations.lightning_cli import Made
    from shmlint.workloads.python.configurations.openmmlab import MmConfigs
    from shmlint.workloads.python.configurations.settings_files import Part
    from shmlint.workloads.python.configurations.yacs_configs import YacsConfigs

_CHANGES = frozenset({"update", "merge_with", "setdefault", "pop", "popitem", "clear", "__setitem__", "__setattr__"})
"""Calls that change what they are called of."""
_MERGES = frozenset({"merge_from_file", "merge_from_list", "merge_from_other_cfg"})
"""Methods that configurations of yacs have."""
_SETTERS = frozenset({"setattr", "delattr", "setitem", "delitem", "__setattr__", "__setitem__", "__delitem__"})
"""Calls that change what they are given by a key: ``setattr(cfg, "resume", True)``, ``operator.setitem``."""
_MOST_CALLS = 40
"""Calls of a command line, each of which lays all of its configuration files over each other."""


class Answer(NamedTuple):
    """What a call makes: modules that make it, and methods that are called of it; not where it is not ``known``."""

    name: str
    node: ast.Call
    scope: Scope
    certain: bool
    known: bool
    modules: tuple[Loaded, ...] = ()
    methods: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    """The modules that the configuration imports."""


class Configured:
    """Keeps the calls that make what a configuration names, until all is known that they are given."""

    def __init__(self, entry: Entry, evaluator: Evaluator, modules: Modules) -> None:
        self._entry = entry
        self._evaluator = evaluator
        self._modules = modules
        self._noted: list[tuple[str, ast.Call, Scope, bool]] = []
        self._changed: list[tuple[ast.expr, str, Scope]] = []
        """What code changes: parts of the configuration, or anything else; and the key, where it is written."""
        self._places: list[Span] = []
        """Where it reads the words of the command."""
        self._parts: Instantiated | None = None
        self._runners: MmConfigs | None = None
        self._of_yacs: YacsConfigs | None = None
        self.settled: set[int] = set()
        """The calls of runners, by their ids, of which all loaders are known."""
        self._made: dict[int, tuple[Loaded, ...]] = {}
        """The modules of each call, by its id: a call that is reached again makes the same."""
        self._extended: dict[int, tuple[str, Span]] = {}
        """The classes of the repository that extend a command line, by their ids."""
        self._followed: set[int] = set()
        """Those of them of which a call was followed."""
        self._unfollowed: set[int] = set()
        """Those of which a call was not."""

    def note(self, name: str, node: ast.Call, scope: Scope, *, certain: bool) -> bool:
        """Keep a call that may make what a configuration names; whether it surely does."""
        surely = name in COMMAND_LINES or name in INSTANTIATE or name in RUNNERS or name in TRAINERS
        if name in FROM_FILE or name in YACS_MADE or name.rpartition(".")[2] in _MERGES:
            self._evaluator.configurations = self
            self._read_by(name)
        if name.rpartition(".")[2] in _CHANGES and isinstance(node.func, ast.Attribute):
            given = (keyword.value for keyword in node.keywords if keyword.arg == "cfg")
            holder = next(iter(node.args), next(given, None)) if "OmegaConf" in name else node.func.value
            self._changed.append((holder or node.func.value, "", scope))
        if name.rpartition(".")[2] in _SETTERS and len(node.args) > 1:
            given_key = node.args[1]
            key = text_of(given_key.value) if isinstance(given_key, ast.Constant) else ""
            self._changed.append((node.args[0], key, scope))
        if surely or (name.endswith("CLI") and name not in DISPATCHERS):
            self._noted.append((name, node, scope, certain))
        return surely

    def _read_by(self, name: str) -> None:
        """Note a call that reads a configuration of one kind or the other."""
        if name in FROM_FILE:
            self._of_runners()
        elif self._of_yacs is None:
            from shmlint.workloads.python.configurations.yacs_configs import YacsConfigs

            self._of_yacs = YacsConfigs(self._entry, self._evaluator, self._modules, self._changed)

    def found(self, holder: ast.expr, key: str, scope: Scope) -> Found | None:
        """What a configuration has by a key; see ``Configurations``."""
        found = self._runners.found(holder, key, scope) if self._runners is not None else None
        return self._of_yacs.found(holder, key, scope) if found is None and self._of_yacs is not None else found

    def mapping(self, node: ast.expr, scope: Scope) -> DictValue | None:
        """What a part of a configuration holds; see ``Configurations``."""
        found = self._runners.mapping(node, scope) if self._runners is not None else None
        return self._of_yacs.mapping(node, scope) if found is None and self._of_yacs is not None else found

    def note_statement(self, statement: ast.stmt, scope: Scope) -> None:
        """Keep what a statement changes, which may be a part of the configuration."""
        given = statement.targets if isinstance(statement, ast.Assign | ast.Delete) else ()
        given = [statement.target] if isinstance(statement, ast.AugAssign | ast.AnnAssign) else given
        for one in given:
            if isinstance(one, ast.Attribute):
                self._changed.append((one.value, one.attr, scope))
            elif isinstance(one, ast.Subscript):
                key = text_of(one.slice.value) if isinstance(one.slice, ast.Constant) else ""
                self._changed.append((one.value, key, scope))

    def note_extended(self, node: ast.ClassDef, name: str, place: Span) -> None:
        """Remember a class of the repository that extends a command line."""
        self._extended[id(node)] = name, place

    def left(self) -> Iterator[Span]:
        """The places of the classes that extend a command line in ways that are not followed."""
        followed = self._followed - self._unfollowed
        return (place for node, (_, place) in self._extended.items() if node not in followed)

    def take(self) -> Iterator[Answer]:
        """What the calls make that were kept until now."""
        noted, self._noted = self._noted, []
        for name, node, scope, certain in noted:
            if name in INSTANTIATE:
                yield self._instantiated(name, node, scope, certain)
                continue
            if name in RUNNERS or name in TRAINERS:
                yield self._run(name, node, scope, certain)
                continue
            owner = self._owner(node, scope)
            base = name if owner is None else self._extended[id(owner[0])][0]
            if base not in COMMAND_LINES:  # it is only called so
                yield Answer(name, node, scope, certain, False)
                continue
            self._places.append(scope.span(node))
            few = len(self._places) <= _MOST_CALLS
            found = self._command_line(COMMAND_LINES[base], node, scope, owner) if few else None
            modules = self._modules_of(node, found.calls) if found is not None else None
            if found is None or modules is None:
                self._unfollowed.add(id(owner[0]) if owner is not None else 0)
                yield Answer(name, node, scope, certain, False, methods=LOADERS["fit"])
                continue
            self._followed.add(id(owner[0]) if owner is not None else 0)
            yield Answer(name, node, scope, certain, True, modules, found.methods)

    def _instantiated(self, name: str, node: ast.Call, scope: Scope, certain: bool) -> Answer:
        """What ``instantiate(cfg.data)`` makes of a part of the configuration."""
        from shmlint.workloads.python.configurations.instantiated import Instantiated

        if self._parts is None:
            loaded = (one for one in self._modules.loaded.values() if one is not None)
            stores = any("ConfigStore" in one.source.text for one in loaded)
            self._parts = Instantiated(self._entry, self._evaluator, stores=stores)
        self._places.append(scope.span(node))
        calls = self._parts.made(node, scope)
        modules = self._modules_of(node, calls) if calls is not None else None
        return Answer(name, node, scope, certain, modules is not None, modules or ())

    def _run(self, name: str, node: ast.Call, scope: Scope, certain: bool) -> Answer:
        """The loaders that a runner of mmengine makes of its configuration."""
        self._places.append(scope.span(node))
        found = self._of_runners().loaders(name, node, scope) if len(self._places) <= _MOST_CALLS else None
        modules = self._modules_of(node, found.calls) if found is not None else None
        if found is None or modules is None:
            return Answer(name, node, scope, certain, False)
        self.settled.add(id(node))
        return Answer(name, node, scope, certain, True, modules, imports=found.imports)

    def _of_runners(self) -> MmConfigs:
        """The configurations of OpenMMLab's libraries that the program reads."""
        from shmlint.workloads.python.configurations.openmmlab import MmConfigs

        self._runners = self._runners or MmConfigs(self._evaluator, self._changed)
        return self._runners

    def changed(self) -> Iterator[Span]:
        """Where code changes the words of the command, its configuration, or numbers called like some of it."""
        if self._evaluator.changes.argv:
            yield from self._places
        runners = self._runners
        if runners is not None:
            runners.forget()
            change = runners.change() if self.settled else None
            yield from (scope.span(part) for part, scope in ((change,) if change is not None else ()))
        if self._parts is None:
            return
        changed = (one for one in self._changed if self._parts.is_changed(*one))
        yield from (scope.span(part) for part, _, scope in changed)
        for loaded in (loaded for modules in self._made.values() for loaded in modules):
            scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
            calls = (call for call in loaded.module.nodes if isinstance(call, ast.Call))
            given = [(call, keyword) for call in calls for keyword in call.keywords if _is_number(keyword.value)]
            changes = self._evaluator.changes
            yield from (scope.span(call) for call, keyword in given if changes.is_given(keyword.arg or ""))

    def _owner(self, node: ast.Call, scope: Scope) -> tuple[ast.ClassDef, Scope] | None:
        """The class of the repository that extends a command line, and that a call makes an object of."""
        if not isinstance(node.func, ast.Name | ast.Attribute):
            return None
        name = dotted(node.func)
        full = name if name in scope.module.definitions else scope.full_name(node.func)
        found = self._evaluator.definition(full, scope)
        if found is None or not isinstance(found[0], ast.ClassDef) or id(found[0]) not in self._extended:
            return None
        return found[0], found[1]

    def _command_line(
        self, trainer: str, node: ast.Call, scope: Scope, owner: tuple[ast.ClassDef, Scope] | None
    ) -> Made | None:
        from shmlint.workloads.python.configurations.lightning_cli import LightningCli

        cli = LightningCli(trainer, scope, self._evaluator, self._entry)
        return cli.made(node, owner[0] if owner is not None else None)

    def _modules_of(self, node: ast.Call, made: Sequence[tuple[ast.expr, Part]]) -> tuple[Loaded, ...] | None:
        """The modules that make what a configuration names; None where one of the classes is not found."""
        from shmlint.workloads.python.configurations.settings_files import module_of_calls

        if id(node) not in self._made:
            number, here = len(self._made), self._entry.path
            found = module_of_calls(made, here, number, lambda name: self._modules.file_of(name, here))
            self._made[id(node)] = tuple(found)
        modules = self._made[id(node)]
        return modules if all(map(self._is_found, modules)) else None

    def _is_found(self, loaded: Loaded) -> bool:
        """Whether all that is called is a class or a function of the repository, or of another package."""
        scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
        for call in (node for node in loaded.module.nodes if isinstance(node, ast.Call)):
            name = dotted(call.func)
            found = self._modules.resolve(name, loaded.path)
            if found is None or self._evaluator.definition(name, scope) is not None:
                continue
            if self._modules.resolve(self._modules.outside(name, loaded), loaded.path) is not None:
                method = self._evaluator.definition(name.rpartition(".")[0], scope)
                if method is None or not isinstance(method[0], ast.ClassDef):
                    return False
        return True


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
