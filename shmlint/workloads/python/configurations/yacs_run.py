"""What code does with configurations of yacs, statement by statement: nothing is run, values are looked up.

A configuration is an object that functions hand on and change: ``cfg = get_cfg()``, ``add_own_config(cfg)``,
``cfg.merge_from_file(path)``. What is done with it in ways that are not followed makes it unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Protocol

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import dotted
from shmlint.workloads.python.assignments import Function, parameters_of
from shmlint.workloads.python.changes import PLAIN_DECORATORS, name_of_decorator
from shmlint.workloads.python.configurations.yacs_tree import (
    Tree,
    doubted,
    either,
    get,
    over,
    pairs,
    put,
    size,
    unknown,
)
from shmlint.workloads.python.values import COPIES, NOTHING, POSITIVE, UNKNOWN, Found, Scope, member_key, text_of

_DEPTH = 12
"""Functions that call one another."""
_LARGEST = 5_000
"""Values of a configuration."""
_ASKS = frozenset(
    {"freeze", "is_frozen", "dump", "get", "keys", "items", "values", "set_new_allowed", "is_new_allowed", "defrost",
     "register_deprecated_key", "register_renamed_key", "__contains__"}
)  # fmt: skip
"""Methods of a configuration that leave its values as they are."""
_LEAVES = frozenset(
    {"print", "str", "repr", "len", "isinstance", "hasattr", "getattr", "type", "id", "dict", "list", "sorted", "vars",
     "bool", "zip", "range", "enumerate", "min", "max", "int", "float", "any", "all", "iter", "pprint", "pprint.pprint",
     "pformat", "pprint.pformat", "json.dumps", "yaml.dump", "wandb.init"}
)  # fmt: skip
"""Functions that leave what they are given as it is."""
_BUILDS = frozenset(
    {"build_model", "build_optimizer", "build_lr_scheduler", "build_evaluator", "build_train_loader",
     "build_test_loader", "build_hooks", "test", "auto_scale_workers"}
)  # fmt: skip
"""Methods of detectron2's trainers that are called of their class, which do so, too."""
_TELLS = frozenset({"info", "debug", "warning", "error", "critical", "log", "write", "format"})
"""Methods that do so, whatever they are of."""
_LIBRARIES = ("detectron2.", "fvcore.", "torch.", "numpy.", "os.")
"""Libraries whose functions leave the loaders of a configuration as they are.

Of those of detectron2 0.6 only ``auto_scale_workers`` sets one of its keys, in a configuration of its own.
"""


class Place(NamedTuple):
    """A node of a configuration: the number of the object, and the keys inside of each other."""

    number: int
    keys: tuple[str, ...] = ()


class Asked(Protocol):
    """Answers what is asked on the way."""

    def value(self, node: ast.expr, scope: Scope) -> Found:
        """What an expression is."""

    def functions(self, called: ast.expr, scope: Scope) -> Sequence[tuple[Function, Scope]]:
        """The functions of the repository that may be called."""

    def made(self, node: ast.Call, scope: Scope) -> Tree | None:
        """The configuration that a call of a library makes; None for any other call."""

    def home(self, name: str, scope: Scope) -> tuple[str, str] | None:
        """The module that has what a name stands for, by its path, and the name there; None where it has none."""

    def first(self, home: tuple[str, str], scope: Scope) -> tuple[Tree, tuple[str, ...]] | None:
        """The configuration that a module has by a name where some code begins, and the keys of the part of it."""

    def given(self, name: str, scope: Scope) -> Tree | None:
        """What the calls of a function pass for a parameter; None where that is no configuration."""

    def file(self, node: ast.expr, scope: Scope) -> Tree | None:
        """What a file says that an expression names; None where that is not known."""

    def words(self, node: ast.expr, scope: Scope) -> list[str] | None:
        """The words of the command that an expression is; None where they are not known."""

    def is_main(self, test: ast.expr, scope: Scope) -> bool | None:
        """Whether ``__name__ == "__main__"`` holds; None for any other condition."""

    def count(self) -> None:
        """Count a step; raises an exception where there are too many of them."""

    def see(self, node: ast.AST) -> None:
        """Note a place of the code that was followed."""


class _Frame(NamedTuple):
    """The names of a function or a module that is being followed."""

    scope: Scope
    names: dict[str, Place | None]
    returned: list[tuple[Place | None, dict[int, Tree]]]
    """What it returned, and how all configurations were then."""
    depth: int


class Run:
    """Follows the code of a function or a module, and those that it calls."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._trees: dict[int, Tree] = {}
        self._shared: dict[tuple[str, str], Place | None] = {}
        """The configurations of modules, by the path and the name."""
        self._first: dict[int, Tree] = {}
        """What these are at first."""
        self._begin: Scope | None = None
        self._next = 0

    def tree_at(self, node: ast.expr, scope: Scope) -> Tree | Found | None:
        """What an expression is where it stands, as far as it is a part of a configuration; None for any other."""
        place = self._expression(node, self._follow(scope, node))
        return get(self._trees[place.number], place.keys) if place is not None else None

    def names_of(self, scope: Scope) -> dict[str, tuple[Tree, tuple[str, ...]]]:
        """The configurations that a module has by its names, and the keys of the parts of them."""
        names = self._follow(scope, None).names
        return {name: (self._trees[place.number], place.keys) for name, place in names.items() if place is not None}

    def shared_at(self, node: ast.expr, scope: Scope, home: tuple[str, str]) -> tuple[Tree, tuple[str, ...]] | None:
        """A configuration of a module where an expression stands, and the keys of the part of it."""
        frame = self._follow(scope, node)
        place = self._shared_by(home, frame)
        return (self._trees[place.number], place.keys) if place is not None else None

    def _follow(self, scope: Scope, until: ast.expr | None) -> _Frame:
        """Follow the code around an expression up to it."""
        self._begin = scope
        frame = _Frame(scope, {}, [], 0)
        for name in parameters_of(scope.function) if scope.function is not None else ():
            self._named(name, frame)
        self._block(scope.function.body if scope.function is not None else scope.module.tree.body, frame, until)
        return frame

    # Statements ---------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt], frame: _Frame, until: ast.expr | None) -> bool:
        """Follow statements, up to the one with an expression; whether nothing after them is reached."""
        return any(self._statement(statement, frame, until) for statement in body)

    def _statement(self, statement: ast.stmt, frame: _Frame, until: ast.expr | None) -> bool:
        self._asked.count()
        if until is not None and not _holds(statement, until):
            until = None
        if until is not None and _is_head(statement, until):
            return True
        if isinstance(statement, ast.If):
            return self._branch(statement, frame, until)
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            return self._loop(statement, frame, until)
        if isinstance(statement, ast.Try | ast.TryStar):
            return self._try(statement, frame, until)
        if isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                self._expression(item.context_expr, frame)
            return self._block(statement.body, frame, until)
        return self._simple(statement, frame)

    def _simple(self, statement: ast.stmt, frame: _Frame) -> bool:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            frame.names[statement.name] = None
        elif isinstance(statement, ast.Return):
            place = self._expression(statement.value, frame) if statement.value is not None else None
            frame.returned.append((place, dict(self._trees)))
            return True
        elif isinstance(statement, ast.Raise):
            return True
        elif isinstance(statement, ast.Assign):
            place = self._expression(statement.value, frame)
            for target in statement.targets:
                self._assign(target, statement.value, place, frame)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, statement.value, self._expression(statement.value, frame), frame)
        else:
            for inner in ast.iter_child_nodes(statement):
                if isinstance(inner, ast.expr):
                    self._expression(inner, frame)
            changed = statement.targets if isinstance(statement, ast.Delete) else []
            for target in [statement.target] if isinstance(statement, ast.AugAssign) else changed:
                self._assign(target, None, None, frame)
        return False  # also where a loop is left: what is after it, is only reached in another turn

    def _branch(self, statement: ast.If, frame: _Frame, until: ast.expr | None) -> bool:
        self._expression(statement.test, frame)
        if until is not None:
            there = any(_holds(inner, until) for inner in statement.body)
            return self._block(statement.body if there else statement.orelse, frame, until)
        taken = self._taken(statement.test, frame)
        if taken is not None:
            self._skip(statement.orelse if taken else statement.body)
            return self._block(statement.body if taken else statement.orelse, frame, None)
        before = self._kept(frame)
        ended = self._block(statement.body, frame, None)
        after = self._kept(frame)
        self._restore(frame, before)
        other = self._block(statement.orelse, frame, None)
        if other:
            self._restore(frame, after)
        elif not ended:
            self._join(frame, after)
        return ended and other

    def _skip(self, body: Sequence[ast.stmt]) -> None:
        """Note that what some statements change is known: they are not reached."""
        for part in (part for statement in body for part in ast.walk(statement)):
            if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
                self._asked.see(part.value)
            elif isinstance(part, ast.Call):
                for one in (part.func, *part.args[:1]):
                    self._asked.see(one.value if isinstance(one, ast.Attribute) and one is part.func else one)

    def _taken(self, test: ast.expr, frame: _Frame) -> bool | None:
        main = self._asked.is_main(test, frame.scope)
        if main is not None:
            return main
        found = self._value(test, frame)
        if found.value is UNKNOWN or found.value is POSITIVE or not found.certain:
            return None
        return bool(found.value)

    def _loop(self, loop: ast.For | ast.AsyncFor | ast.While, frame: _Frame, until: ast.expr | None) -> bool:
        self._expression(loop.test if isinstance(loop, ast.While) else loop.iter, frame)
        before = self._kept(frame)
        if isinstance(loop, ast.For | ast.AsyncFor):
            self._assign(loop.target, None, None, frame)
        self._block(loop.body, frame, None)
        self._join(frame, before)
        if until is not None and any(_holds(inner, until) for inner in loop.body):
            return self._block(loop.body, frame, until)
        return self._block(loop.orelse, frame, until) and until is not None

    def _try(self, statement: ast.Try | ast.TryStar, frame: _Frame, until: ast.expr | None) -> bool:
        if until is not None and any(_holds(inner, until) for inner in statement.body):
            return self._block(statement.body, frame, until)
        before = self._kept(frame)
        ended = self._block(statement.body, frame, None)
        after = self._kept(frame)
        for handler in statement.handlers:
            self._restore(frame, after)
            self._join(frame, before)
            if until is not None and _holds(handler, until):
                return self._block(handler.body, frame, until)
            if not self._block(handler.body, frame, None):
                ended, after = False, self._joined(frame, after)
        self._restore(frame, after)
        ended = self._block(statement.orelse, frame, until) or ended
        return self._block(statement.finalbody, frame, until) or ended

    # Branches -----------------------------------------------------------------------------------

    def _kept(self, frame: _Frame) -> tuple[dict[int, Tree], dict[str, Place | None]]:
        return dict(self._trees), dict(frame.names)

    def _restore(self, frame: _Frame, kept: tuple[dict[int, Tree], dict[str, Place | None]]) -> None:
        self._trees = {**self._first, **kept[0]}
        frame.names.clear()
        frame.names.update(kept[1])

    def _join(self, frame: _Frame, other: tuple[dict[int, Tree], dict[str, Place | None]]) -> None:
        """Go on with what is known whether this way was taken or another one."""
        for number, tree in other[0].items():
            mine = self._trees.get(number, tree)
            if mine is not tree:
                self._asked.count()
            self._trees[number] = either(mine, tree)
        for name, place in other[1].items():
            known = frame.names.get(name, place)
            frame.names[name] = self._one_of([known, place]) if known != place else place

    def _joined(
        self, frame: _Frame, other: tuple[dict[int, Tree], dict[str, Place | None]]
    ) -> tuple[dict[int, Tree], dict[str, Place | None]]:
        self._join(frame, other)
        return self._kept(frame)

    def _one_of(self, places: Sequence[Place | None]) -> Place | None:
        """One of several configurations: what is done with it later may change any of them."""
        known = [place for place in dict.fromkeys(places) if place is not None]
        if not known or (len(known) == 1 and None not in places):
            return known[0] if known else None
        found = doubted(self._node(known[0])) if None in places else self._node(known[0])
        for place in known:
            found = either(found, self._node(place))
            self._set(place, doubted(self._node(place)))
        return Place(self._object(found))

    # What they change ---------------------------------------------------------------------------

    def _object(self, tree: Tree) -> int:
        self._next += 1
        self._trees[self._next] = tree
        return self._next

    def _node(self, place: Place) -> Tree:
        found = get(self._trees[place.number], place.keys)
        return found if isinstance(found, dict) else unknown()

    def _set(self, place: Place, value: Tree | Found) -> None:
        tree = put(self._trees[place.number], place.keys, value)
        self._trees[place.number] = tree if size(tree) <= _LARGEST else unknown()

    def _assign(self, target: ast.expr, value: ast.expr | None, place: Place | None, frame: _Frame) -> None:
        """Give a name or a key another value; without one it is not known."""
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for at, inner in enumerate(target.elts):
                given = values[at] if len(values) == len(target.elts) else None
                self._assign(inner, given, self._place(given, frame) if given is not None else None, frame)
        elif isinstance(target, ast.Name):
            frame.names[target.id] = place
            if frame.scope.function is None or _is_global(target.id, frame.scope.function):
                self._shared[frame.scope.path, target.id] = place
        elif isinstance(target, ast.Attribute | ast.Subscript):
            holder = self._place(target.value, frame)
            if holder is None:
                return
            self._asked.see(target.value)
            key = member_key(target)
            if key is None:
                self._set(holder, doubted(self._node(holder)))
                return
            whole = self._node(place) if place is not None else None
            self._set(holder._replace(keys=(*holder.keys, key)), whole or self._given(value, frame))
            if isinstance(value, ast.Name) and place is not None:  # both are the same object from now on
                frame.names[value.id] = holder._replace(keys=(*holder.keys, key))

    def _given(self, value: ast.expr | None, frame: _Frame) -> Tree | Found:
        if value is None:
            return NOTHING
        found = self._value(value, frame)
        return found._replace(spans=found.spans or (frame.scope.span(value),))

    def _spoil(self, node: ast.expr, frame: _Frame) -> None:
        """What is not followed may do anything with the configurations that it is given."""
        left: list[ast.AST] = [node]
        for inner in left:  # grows while it is looked at
            place = self._place(inner, frame) if isinstance(inner, ast.Name | ast.Attribute | ast.Subscript) else None
            if isinstance(inner, ast.Call) and frame.scope.full_name(inner.func).startswith(_LIBRARIES):
                continue  # what these make, is something else
            if place is None:
                left += ast.iter_child_nodes(inner)
            elif isinstance(get(self._trees[place.number], place.keys), dict):
                self._set(place, doubted(self._node(place)))

    # Expressions --------------------------------------------------------------------------------

    def _value(self, node: ast.expr, frame: _Frame) -> Found:
        """What an expression is, also where it asks a configuration."""
        place = self._place(node, frame)
        if place is not None:
            found = get(self._trees[place.number], place.keys)
            return found if isinstance(found, Found) else NOTHING
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._value(node.operand, frame)
            return NOTHING if inner.value in (UNKNOWN, POSITIVE) else inner._replace(value=not inner.value)
        parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        if any(self._place(part, frame) is not None for part in parts):
            return NOTHING
        return self._asked.value(node, frame.scope)

    def _place(self, named: ast.AST | None, frame: _Frame) -> Place | None:
        """The part of a configuration that an expression names."""
        node = named
        keys: list[str] = []
        while isinstance(node, ast.Attribute | ast.Subscript):
            key = member_key(node)
            if key is None:
                return None
            keys.append(key)
            node = node.value
        name = node.id if isinstance(node, ast.Name) else ""
        place = self._named(name, frame) if name else None
        if place is None and name and keys and name in frame.scope.module.imports:
            home = self._asked.home(f"{name}.{keys[-1]}", frame.scope)  # ``config.cfg`` of another module
            place = self._shared_by(home, frame) if home is not None else None
            keys = keys[:-1] if place is not None else keys
        return place._replace(keys=(*place.keys, *reversed(keys))) if place is not None else None

    def _named(self, name: str, frame: _Frame) -> Place | None:
        if name in frame.names:
            return frame.names[name]
        function = frame.scope.function
        if function is not None and name in parameters_of(function):
            tree = self._asked.given(name, frame.scope) if name not in ("self", "cls") else None
            frame.names[name] = Place(self._object(tree)) if tree is not None else None
            return frame.names[name]
        home = self._asked.home(name, frame.scope)
        return self._shared_by(home, frame) if home is not None else None

    def _shared_by(self, home: tuple[str, str], frame: _Frame) -> Place | None:
        """The configuration that a module has by a name."""
        if home not in self._shared:
            found = self._asked.first(home, self._begin or frame.scope)
            number = self._object(found[0]) if found is not None else 0
            if found is not None:
                self._first[number] = found[0]
            self._shared[home] = Place(number, found[1]) if found is not None else None
        return self._shared[home]

    def _expression(self, node: ast.expr, frame: _Frame) -> Place | None:
        """Follow the calls in an expression, the inner ones first; the configuration that it is."""
        if isinstance(node, ast.Call):
            for inner in (*node.args, *(keyword.value for keyword in node.keywords)):
                if not isinstance(inner, ast.Name | ast.Attribute | ast.Constant):
                    self._expression(inner, frame)
            if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name | ast.Attribute):
                self._expression(node.func.value, frame)
            return self._call(node, frame)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._place(node, frame)
        if isinstance(node, ast.Lambda):
            return None
        if isinstance(node, ast.NamedExpr):
            place = self._expression(node.value, frame)
            self._assign(node.target, node.value, place, frame)
            return place
        if isinstance(node, ast.IfExp):
            return self._one_of([self._expression(node.body, frame), self._expression(node.orelse, frame)])
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self._expression(part, frame)
        return None

    def _call(self, node: ast.Call, frame: _Frame) -> Place | None:
        name = frame.scope.full_name(node.func)
        holder = self._place(node.func.value, frame) if isinstance(node.func, ast.Attribute) else None
        if holder is not None and isinstance(node.func, ast.Attribute):
            return self._method(node, node.func.attr, holder, frame)
        made = self._asked.made(node, frame.scope)
        if made is not None:
            return Place(self._object(made))
        if name in COPIES and len(node.args) == 1:
            place = self._place(node.args[0], frame)
            return Place(self._object(self._node(place))) if place is not None else None
        if name.endswith("Trainer.auto_scale_workers") and node.args:
            return self._scaled(node.args[0], frame)
        functions = self._asked.functions(node.func, frame.scope)
        if len(functions) == 1 and frame.depth < _DEPTH and not _is_other(*functions[0]):
            return self._enter(node, *functions[0], frame)
        leaves = name in _LEAVES or name.startswith(_LIBRARIES) or name.rpartition(".")[2] in _TELLS | _BUILDS
        for given in _given_nodes(node) if (functions or not leaves) and not _is_class(node.func) else ():
            self._spoil(given, frame)
        if name in ("setattr", "delattr", "operator.setitem") and node.args:
            self._set_by_call(node, frame)
        return None

    def _scaled(self, node: ast.expr, frame: _Frame) -> Place | None:
        """What detectron2's ``auto_scale_workers`` makes: other batches, if the configuration is for so many ranks.

        https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/engine/defaults.py#L605
        """
        place = self._place(node, frame)
        if place is None:
            return None
        for_ranks = get(self._node(place), ("SOLVER", "REFERENCE_WORLD_SIZE"))
        if isinstance(for_ranks, Found) and for_ranks.certain and for_ranks.value == 0:
            return place
        made = Place(self._object(self._node(place)), ("SOLVER",))
        self._set(made, doubted(self._node(made)))
        return made._replace(keys=())

    def _set_by_call(self, node: ast.Call, frame: _Frame) -> None:
        place = self._place(node.args[0], frame)
        if place is not None:
            self._asked.see(node.args[0])
            self._set(place, doubted(self._node(place)))

    def _method(self, node: ast.Call, method: str, holder: Place, frame: _Frame) -> Place | None:
        """``cfg.merge_from_file(path)``; what a method does that nobody knows is unknown."""
        assert isinstance(node.func, ast.Attribute)
        self._asked.see(node.func.value)
        if method in ("clone", "copy"):
            return Place(self._object(self._node(holder)))
        if method in _ASKS:
            key = node.args[0] if method == "get" and node.args else None
            inner = ast.Subscript(node.func.value, key, ast.Load()) if isinstance(key, ast.Constant) else None
            return self._place(inner, frame) if inner is not None else None
        given = node.args[0] if node.args else next((keyword.value for keyword in node.keywords), None)
        before = self._node(holder)
        after: Tree | None = None
        if method == "merge_from_file" and given is not None:
            above = self._asked.file(given, frame.scope)
            after = over(above, before) if above is not None else None
        elif method == "merge_from_list" and given is not None:
            after = self._with_words(before, given, frame)
        elif method == "merge_from_other_cfg" and given is not None:
            place = self._expression(given, frame)
            after = over(self._node(place), before) if place is not None else None
        self._set(holder, after if after is not None else doubted(before))
        return None

    def _with_words(self, tree: Tree, node: ast.expr, frame: _Frame) -> Tree | None:
        """A configuration with the values of the words of the command, or of a list that is written there."""
        if isinstance(node, ast.List | ast.Tuple):
            if len(node.elts) % 2 or any(not isinstance(one, ast.Constant) for one in node.elts[::2]):
                return None
            for key, value in zip(node.elts[::2], node.elts[1::2], strict=True):
                assert isinstance(key, ast.Constant)
                tree = put(tree, text_of(key.value).split("."), self._given(value, frame))
            return tree
        words = self._asked.words(node, frame.scope)
        if words is None or len(words) % 2 or any("$" in word or "`" in word for word in words[::2]):
            return None
        for keys, found in pairs(words, ()):
            tree = put(tree, keys, found)
        return tree

    def _enter(self, node: ast.Call, function: Function, scope: Scope, frame: _Frame) -> Place | None:
        """Follow a function of the repository that is called."""
        names: dict[str, Place | None] = dict.fromkeys(parameters_of(function))
        every = [name for name in names if name not in ("self", "cls")]
        for at, given in enumerate(node.args):
            if isinstance(given, ast.Starred):
                self._spoil(given, frame)
            elif at < len(every):
                names[every[at]] = self._expression(given, frame)
        for keyword in node.keywords:
            if keyword.arg in names:
                names[keyword.arg] = self._expression(keyword.value, frame)
            else:
                self._spoil(keyword.value, frame)
        inner = _Frame(scope, names, [], frame.depth + 1)
        if not self._block(function.body, inner, None):
            inner.returned.append((None, dict(self._trees)))
        if not inner.returned:
            return None
        self._trees = dict(inner.returned[0][1])
        for _, trees in inner.returned[1:]:
            self._join(inner, (trees, {}))
        return self._one_of([place for place, _ in inner.returned])


def _given_nodes(node: ast.Call) -> Iterator[ast.expr]:
    yield from node.args
    yield from (keyword.value for keyword in node.keywords)


def _is_other(function: Function, scope: Scope) -> bool:
    """Whether something else may be called by the name of a function: it is decorated, or defined several times."""
    decorators = {name_of_decorator(decorator) for decorator in function.decorator_list}
    return not decorators <= PLAIN_DECORATORS or function.name in scope.module.other_definitions


def _is_global(name: str, function: Function) -> bool:
    """Whether a function says that a name is one of the module: ``global cfg``."""
    return any(name in node.names for node in function.body if isinstance(node, ast.Global))


def _is_class(called: ast.expr) -> bool:
    """Whether a call makes an object, which keeps what it is given: what it changes later is found by itself."""
    return dotted(called).rpartition(".")[2][:1].isupper()


def _holds(node: ast.AST, inner: ast.expr) -> bool:
    """Whether an expression stands in a statement, by their places."""
    begin = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    end = getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
    return begin <= (inner.lineno, inner.col_offset) <= end


def _is_head(statement: ast.stmt, inner: ast.expr) -> bool:
    """Whether an expression of a statement is in none of those inside of it."""
    parts = (part for name in ("body", "orelse", "handlers", "finalbody") for part in getattr(statement, name, ()))
    return isinstance(statement, ast.ClassDef | Function) or not any(_holds(part, inner) for part in parts)
