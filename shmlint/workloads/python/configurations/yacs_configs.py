"""The configurations of yacs, detectron2 and fvcore that a program reads, and what expressions have of them.

https://github.com/rbgirshick/yacs/blob/32d5e4ac300eca6cd3b839097dde39c4017a1070/yacs/config.py
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from shmlint.files.read import normal
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import YACS, YACS_DEFAULTS
from shmlint.workloads.program import Entry
from shmlint.workloads.python.assignments import Function, parameters_of
from shmlint.workloads.python.configurations.settings_files import OPEN
from shmlint.workloads.python.configurations.yacs_run import Run
from shmlint.workloads.python.configurations.yacs_tree import BASES, Tree, doubted, either, of_part, over, unknown
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.module_paths import ModulePaths
from shmlint.workloads.python.modules import Modules
from shmlint.workloads.python.values import NOTHING, UNKNOWN, DictValue, Found, Scope, changed, text_of

_T = TypeVar("_T")
_DEPTH = 12
"""Callers of one another, modules that hand a name on, and files that go on from others."""
_MOST_STEPS = 5_000
"""Statements that are followed for one question."""
_MOST_STEPS_IN_ALL = 60_000
_FEW_CALLS = 20
"""Calls that may be noted before the answers are worked out again, where that is more than a fiftieth of all."""
_MOST_CALLERS = 8
_MOST_CHANGES = 2_000
"""Statements and calls of a program of which it is asked whether they change a configuration."""
_FILES = (".yaml", ".yml", ".json")
_MERGES = ("merge_from_file", "merge_from_list", "merge_from_other_cfg", "merge_with", "load_from_base")
_OWN_WAYS = frozenset(
    {"merge_from_file", "merge_from_list", "merge_from_other_cfg", "load_yaml_with_base", "load_cfg", "clone",
     "__init__", "__setattr__", "__getattr__", "__getattribute__", "__setitem__", "__getitem__", "_decode_cfg_value"}
)  # fmt: skip
"""Methods with which a class of the repository has its values in ways of its own."""
_ZOO_FILES = ("detectron2.model_zoo.get_config_file", "detectron2.model_zoo.model_zoo.get_config_file")
_ZOO = ("detectron2.model_zoo.get_config", "detectron2.model_zoo.model_zoo.get_config")
_OF_ZOO: Tree = {name: unknown() for name in ("MODEL", "INPUT", "SOLVER", "DATASETS", "TEST")}
"""What the files of the model zoo say, but for a few with workers of their own.

https://github.com/facebookresearch/detectron2/tree/v0.6/configs
"""
_WITH_WORKERS = ("quick_schedules/", "COCO-Detection/fast_rcnn_R_50_FPN_1x.yaml")
_HOOKS = frozenset(
    {"build_train_loader", "build_test_loader", "build_evaluator", "build_model", "build_optimizer",
     "build_lr_scheduler", "from_config"}
)  # fmt: skip
"""Methods that a class of a library calls with the configuration which its object is made with.

https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/engine/defaults.py#L367
"""


class _TooMany(Exception):
    """More statements than are followed."""


class YacsConfigs:
    """Finds what parts of configurations hold where expressions stand."""

    def __init__(
        self, entry: Entry, evaluator: Evaluator, modules: Modules, changes: Sequence[tuple[ast.expr, str, Scope]]
    ) -> None:
        self._main = normal(entry.path)
        self._evaluator = evaluator
        self._modules = modules
        self._changes = changes
        """What code changes: what it is, and the key, where it is written. Grows while code is walked."""
        self._known: dict[tuple[object, ...], tuple[object, frozenset[int]]] = {}
        """Answers, each with the places of the code that were followed for it."""
        self._of = -1, -1
        """How many calls were noted then, and how often everything was forgotten."""
        self._seen: set[int] = set()
        self._busy: set[tuple[object, ...]] = set()
        self._asking = False
        self._has_own_ways = False
        """Whether a class of the repository reads files, or changes values, in a way of its own."""
        self._left = 0
        self._left_in_all = _MOST_STEPS_IN_ALL

    # What it is asked ---------------------------------------------------------------------------

    def found(self, holder: ast.expr, key: str, scope: Scope) -> Found | None:
        """What a configuration has by a key; see ``Configurations``."""
        tree = self._at(holder, scope)
        if not isinstance(tree, dict):
            return None if tree is None or tree.value is not UNKNOWN else NOTHING
        found = tree.get(key, NOTHING)
        if isinstance(found, dict):
            return NOTHING
        return changed(found) if self._has_own_ways or self._is_changed((*_keys(holder), key)) else found

    def mapping(self, node: ast.expr, scope: Scope) -> DictValue | None:
        """The entries of a node of a configuration; see ``Configurations``."""
        tree = self._at(node, scope)
        if not isinstance(tree, dict):
            return None
        plain = {key: one for key, one in tree.items() if isinstance(one, Found) and key != OPEN}
        if self._has_own_ways or self._is_changed(_keys(node)) or any(not one.certain for one in plain.values()):
            return DictValue({}, False)
        known: dict[str, tuple[ast.expr, Scope]] = {key: (_constant(one.value), scope) for key, one in plain.items()}
        return DictValue(known, len(plain) == len(tree))

    def _at(self, node: ast.expr, scope: Scope) -> Tree | Found | None:
        """What an expression is where it stands."""
        if self._asking or not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return None  # asked for what it asks for itself
        self._renew()
        self._asking, self._left, self._seen = True, min(_MOST_STEPS, self._left_in_all), set()
        before = self._left
        try:
            return self._tree(node, scope)
        except _TooMany:
            return unknown()
        finally:
            self._left_in_all -= before - self._left
            self._asking = False
            self._busy.clear()

    def _renew(self) -> None:
        """Forget the answers where many more calls are known, or everything is worked out again.

        With each call code would be followed once more for each of its conditions. What few calls change is asked again
        when all of them are known.
        """
        noted, forgotten = self._evaluator.noted, self._evaluator.forgotten
        if forgotten != self._of[1] or noted - self._of[0] > max(_FEW_CALLS, noted // 50):
            self._known.clear()
            self._of = noted, forgotten

    def _tree(self, node: ast.expr, scope: Scope) -> Tree | Found | None:
        """What an expression is where it stands, also where an object keeps it: ``self.cfg``."""
        name = dotted(node)
        place = (id(scope.function or scope.module.tree), node.lineno, node.col_offset, name)
        if name.startswith("self."):
            return self._once(("kept", *place), lambda: self._kept(node, scope), None)
        return self._once(("at", *place), lambda: Run(self).tree_at(node, scope), None)

    def _kept(self, node: ast.expr, scope: Scope) -> Tree | Found | None:
        """What an object keeps, by what its attribute is given anywhere."""
        kept = node
        while isinstance(kept, ast.Attribute | ast.Subscript) and dotted(kept.value) != "self":
            kept = kept.value
        given = self._evaluator.given_to(kept, scope) if isinstance(kept, ast.Attribute) else []
        found = [self._tree(value, where) for value, where in given[:_MOST_CALLERS]]
        whole = _any_of([one if isinstance(one, dict) else None for one in found])
        rest = _keys(node)[1:] if whole is not None else ()
        inner: Tree | Found | None = whole
        for key in rest:
            inner = inner.get(key, NOTHING) if isinstance(inner, dict) else NOTHING
        return inner

    def _once(self, key: tuple[object, ...], ask: Callable[[], _T], otherwise: _T) -> _T:
        """An answer that is worked out once; ``otherwise`` where it rests on itself."""
        if key in self._known:
            known, seen = self._known[key]
            self._seen |= seen
            return cast("_T", known)
        if key in self._busy or len(self._busy) > _DEPTH:
            return otherwise
        self._busy.add(key)
        outer, self._seen = self._seen, set()
        found = ask()
        self._known[key] = found, frozenset(self._seen)
        self._seen |= outer
        self._busy.discard(key)
        return found

    def _is_changed(self, keys: tuple[str, ...]) -> bool:
        """Whether code that was not followed may change a value by these keys."""
        for name in _MERGES:
            calls = self._evaluator.calls.get(name, ())
            held = (call.func.value for call, _ in calls if isinstance(call.func, ast.Attribute))
            if self._evaluator.is_often(name) or any(id(one) not in self._seen for one in held):
                return True
        if len(self._changes) > _MOST_CHANGES:
            return True
        return any(id(node) not in self._seen and _changes(node, key, keys) for node, key, _ in self._changes)

    # What is asked on the way -------------------------------------------------------------------

    def count(self) -> None:
        """Count a step."""
        self._left -= 1
        if self._left < 0:
            raise _TooMany

    def see(self, node: ast.AST) -> None:
        """Note a place of the code that was followed."""
        self._seen.add(id(node))

    def value(self, node: ast.expr, scope: Scope) -> Found:
        """What an expression is."""
        return self._evaluator.value(node, scope)

    def functions(self, called: ast.expr, scope: Scope) -> Sequence[tuple[Function, Scope]]:
        """The functions of the repository that may be called."""
        return self._evaluator.functions(called, scope)

    def is_main(self, test: ast.expr, scope: Scope) -> bool | None:
        """Whether ``__name__ == "__main__"`` holds."""
        if not isinstance(test, ast.Compare) or dotted(test.left) != "__name__" or not isinstance(test.ops[0], ast.Eq):
            return None
        return normal(scope.path) == self._main

    def made(self, node: ast.Call, scope: Scope) -> Tree | None:
        """The configuration that a call of a library makes, or of a class that extends one of it."""
        name = self._outside(dotted(node.func), scope)
        if name in YACS_DEFAULTS:
            return _DEFAULTS
        if name in _ZOO:
            of_zoo = self._of_zoo(node, scope)
            return over(of_zoo if of_zoo is not None else unknown(), _DEFAULTS)
        if name not in YACS and not self._extends(node.func, scope):
            return None
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "init_dict"), None)
        given = node.args[0] if node.args else given
        return {} if given is None else self._of_dict(given, scope)

    def _of_dict(self, node: ast.expr, scope: Scope) -> Tree:
        if isinstance(node, ast.Call) and dotted(node.func) == "dict" and not node.args:
            entries = [(keyword.arg, keyword.value) for keyword in node.keywords]
        elif isinstance(node, ast.Dict):
            names = [text_of(key.value) if isinstance(key, ast.Constant) else None for key in node.keys]
            entries = [*zip(names, node.values, strict=True)]
        else:
            return unknown()
        self.count()
        found: Tree = {}
        for key, value in entries:
            inner = isinstance(value, ast.Dict) or (isinstance(value, ast.Call) and dotted(value.func) == "dict")
            if key is None:
                found = {**found, **unknown()}
            else:
                found[key] = self._of_dict(value, scope) if inner else self.value(value, scope)
        return found

    def _extends(self, called: ast.expr, scope: Scope) -> bool:
        """Whether a class of the repository is a configuration of yacs."""
        name = dotted(called)
        if not name.rpartition(".")[2][:1].isupper():
            return False
        own = name in scope.module.definitions
        found = self._evaluator.definition(name if own else scope.full_name(called), scope)
        if found is None or not isinstance(found[0], ast.ClassDef):
            return False
        methods = {part.name for part in found[0].body if isinstance(part, Function)}
        bases = {self._outside(dotted(base), found[1]) for base in found[0].bases}
        if bases.isdisjoint(YACS):
            return False
        self._has_own_ways = self._has_own_ways or not methods.isdisjoint(_OWN_WAYS)
        return True

    def _outside(self, name: str, scope: Scope) -> str:
        loaded = self._modules.load(scope.path)
        return self._modules.outside(name, loaded) if loaded is not None else name

    def home(self, name: str, scope: Scope) -> tuple[str, str] | None:
        """The module that has what a name stands for, also where others pass it on."""
        for _ in range(_DEPTH):
            head = name.partition(".")[0]
            if name in scope.module.constants:
                return scope.path, name
            if head not in scope.module.imports and not scope.module.stars:
                return None
            full = f"{scope.module.imports.get(head, head)}{name[len(head) :]}"
            if full.endswith("._C") and full.startswith("detectron2.config."):
                return "", full
            targets = [full] if head in scope.module.imports else [f"{star}.{name}" for star in scope.module.stars]
            found = next((one for target in targets if (one := self._modules.whole(target, scope.path))), None)
            if found is None or not found[1] or (found[0].path == scope.path and found[1] == name):
                return None
            loaded, name = found
            scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
        return None

    def first(self, home: tuple[str, str], scope: Scope) -> tuple[Tree, tuple[str, ...]] | None:
        """A configuration of a module where a function begins: as its callers leave it, else as the module does."""
        function = scope.function
        calls = self._evaluator.calls_of(function, scope) if function is not None else []
        found = [self._before(home, call, where) for call, where in calls[:_MOST_CALLERS]]
        if len(calls) > _MOST_CALLERS:
            return unknown(), ()
        known = [one for one in found if one is not None]
        if len(known) == 1 and len(found) == 1:
            return known[0]
        if len(known) > 1 and len(known) == len(found) and len({keys for _, keys in known}) == 1:
            whole = _any_of([tree for tree, _ in known])
            return (whole, known[0][1]) if whole is not None else None
        return self._of_module(home)

    def _before(
        self, home: tuple[str, str], call: ast.Call, scope: Scope
    ) -> tuple[Tree, tuple[str, ...]] | None:
        place = (id(scope.function or scope.module.tree), call.lineno, call.col_offset)
        return self._once(("before", home, *place), lambda: Run(self).shared_at(call, scope, home), None)

    def _of_module(self, home: tuple[str, str]) -> tuple[Tree, tuple[str, ...]] | None:
        path, name = home
        if not path:
            return _DEFAULTS, ()
        loaded = self._modules.load_whole(path)
        if loaded is None:
            return None
        scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
        nothing: dict[str, tuple[Tree, tuple[str, ...]]] = {}
        return self._once(("module", path), lambda: Run(self).names_of(scope), nothing).get(name)

    def given(self, name: str, scope: Scope) -> Tree | None:
        """What the calls of a function pass for a parameter."""
        function = scope.function
        if function is None:
            return None
        calls = self._evaluator.calls_of(function, scope)
        names = list(parameters_of(function))
        own = names[:1] in (["self"], ["cls"])
        at = names.index(name) - own
        if own and function.name in _HOOKS and at == 0 and scope.owner is not None:
            owners = [scope.owner, *(owner for owner, _ in self._evaluator.lineage.below(scope))]
            calls = [*calls, *(call for owner in owners for call in self._evaluator.calls.get(owner.name, ()))]
        found: list[Tree | None] = []
        for call, where in calls[:_MOST_CALLERS]:
            value = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
            value = call.args[at] if value is None and 0 <= at < len(call.args) else value
            tree = self._tree(value, where) if value is not None else None
            found.append(tree if isinstance(tree, dict) else None)
        more = len(calls) > _MOST_CALLERS or (function.name != "__init__" and self._evaluator.is_open(function, scope))
        return _any_of([*found, None] if more else found)

    def file(self, node: ast.expr, scope: Scope) -> Tree | None:
        """What a configuration file says that an expression names."""
        if isinstance(node, ast.Call) and self._outside(dotted(node.func), scope) in _ZOO_FILES:
            return self._of_zoo(node, scope)
        found = self._evaluator.value(node, scope)
        if not found.certain and isinstance(node, ast.Attribute) and not self._is_set(node.attr):
            found = self._evaluator.options.get(node.attr, self._evaluator.value, 0)
        word = found.value if found.certain else None
        if not isinstance(word, str) and isinstance(node, ast.Attribute):
            word = self._evaluator.options.positional(node.attr)
        if isinstance(word, str) and ("$" in word or not word.endswith(_FILES)):
            return None
        path = self._evaluator.options.file(word) if isinstance(word, str) else self._beside(node, scope)
        return self._read(path, 0) if path is not None else None

    def _beside(self, node: ast.expr, scope: Scope) -> str | None:
        """The file that an expression, or the default of an option, names from the directory of its module."""
        options = self._evaluator.options
        paths = ModulePaths(self._evaluator, options.files.repository.root)

        def named(part: ast.expr, where: Scope, _: int = 0) -> Found:
            found = paths.files(part, where)
            return Found(found[0], True, ()) if len(found) == 1 else NOTHING

        found = named(node, scope)
        if found is NOTHING and isinstance(node, ast.Attribute) and not self._is_set(node.attr):
            found = options.get(node.attr, named, 0) if not options.is_given(node.attr) else NOTHING
        return found.value if isinstance(found.value, str) and found.value.endswith(_FILES) else None

    def _of_zoo(self, node: ast.Call, scope: Scope) -> Tree | None:
        name = self._evaluator.value(node.args[0], scope).value if node.args else None
        plain = isinstance(name, str) and name.endswith(".yaml") and not name.startswith(_WITH_WORKERS)
        return _OF_ZOO if plain else None

    def _read(self, path: str, depth: int) -> Tree | None:
        """The values of a file over those of the files that it goes on from."""
        self.count()
        options = self._evaluator.options
        part = options.settings(path) if depth <= _DEPTH else None
        if part is None:
            return None
        own = of_part(part._replace(value={key: one for key, one in part.entries.items() if key != BASES}))
        found: Tree = {}
        bases = part.entries.get(BASES)
        listed = bases.value if bases is not None and isinstance(bases.value, tuple) else (bases,) if bases else ()
        for base in listed:
            inner = normal(os.path.join(os.path.dirname(path), base.text)) if not base.text.startswith("/") else None
            there = options.files.repository.is_file(inner) if inner is not None else False
            place = inner if there else options.file(base.text) if base.text.startswith("/") else None
            below = self._read(place, depth + 1) if place is not None else None
            found = over(below if below is not None else unknown(), found)
        return over(own, found) if isinstance(own, dict) else None

    def words(self, node: ast.expr, scope: Scope) -> list[str] | None:
        """The words of the command that an expression is: ``args.opts``."""
        if isinstance(node, ast.BoolOp):
            node = node.values[0]
        if isinstance(node, ast.Name):
            given = self._evaluator.given_to(node, scope)
            return self.words(*given[0]) if len(given) == 1 and not isinstance(given[0][0], ast.Name) else None
        if not isinstance(node, ast.Attribute) or self._is_set(node.attr):
            return None
        return self._evaluator.options.rest(node.attr)

    def _is_set(self, name: str) -> bool:
        """Whether code gives an option another value by its name: one that is computed is hardly that of a file."""
        changes = self._evaluator.changes
        return changes.argv or changes.words or name in changes.attributes or name in changes.settings


def _default(**values: object) -> Tree:
    return {**{key: Found(value, True, ()) for key, value in values.items()}, **unknown()}


_DEFAULTS: Tree = {
    "DATALOADER": _default(NUM_WORKERS=4, ASPECT_RATIO_GROUPING=True),
    "SOLVER": _default(IMS_PER_BATCH=16, REFERENCE_WORLD_SIZE=0),
    "INPUT": _default(MIN_SIZE_TRAIN=(800,), MAX_SIZE_TRAIN=1333, MIN_SIZE_TRAIN_SAMPLING="choice"),
    "MODEL": _default(DEVICE="cuda"),
    **unknown(),
}
"""What detectron2 begins with: https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/config/defaults.py"""


def _constant(value: object) -> ast.expr:
    """A value as Python has it."""
    if value is None or isinstance(value, int | str):
        return ast.Constant(value)
    return ast.Starred(ast.Constant(None), ast.Load())


def _any_of(trees: Sequence[Tree | None]) -> Tree | None:
    """What any of some configurations is; None where none is known."""
    known = [tree for tree in trees if tree is not None]
    if not known:
        return None
    found = known[0] if len(known) == len(trees) else doubted(known[0])
    for tree in known[1:]:
        found = either(found, tree)
    return found


def _keys(node: ast.expr) -> tuple[str, ...]:
    """The keys in an expression, without the name that they are of."""
    keys: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        part = node.slice if isinstance(node, ast.Subscript) else None
        keys.append(text_of(part.value) if isinstance(part, ast.Constant) else getattr(node, "attr", ""))
        node = node.value
    return tuple(reversed(keys))


def _changes(node: ast.expr, key: str, keys: Sequence[str]) -> bool:
    """Whether giving an expression another value by a key may change the one by some keys inside of each other."""
    name = dotted(node)
    last = name.rpartition(".")[2]
    if name in ("self", "cls", "args") or (key and key not in keys):
        return False
    if not key:
        return any(word in _CALLED_SO or word in keys for word in name.lower().split(".")) or last in keys
    above = keys[: keys.index(key)]
    return not isinstance(node, ast.Attribute) or last in above[-1:] or (not above and not last.isupper())


_CALLED_SO = frozenset({"cfg", "config", "conf", "_c", "c", "cn", "node", "default_cfg", "cfgs", "new_cfg"})
"""What everybody calls a configuration."""
