"""What the names and attributes of Python code are given: found once for each function and class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from shmlint.syntax.python import dotted, inner, walk
from shmlint.workloads.python.values import text_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
Given = tuple[ast.expr, ...]
"""The values that something is given, in their order."""


_FILLING = frozenset({"update", "setdefault"})
_FILLED = "[]"
"""Stands behind the name of a mapping among what is changed."""


class Assignments:
    """The values that functions give their names, and methods the attributes of their object."""

    def __init__(self) -> None:
        self._locals: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._items: dict[ast.AST, dict[str, list[tuple[str, ast.expr]]]] = {}
        self._merged: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._changed: dict[ast.AST, set[str]] = {}
        self._replaced: dict[ast.AST, frozenset[str]] = {}
        self._added: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._attributes: dict[ast.AST, dict[str, list[tuple[ast.expr, Function | None]]]] = {}
        self._unpacked: dict[Function | ast.Module, dict[str, list[ast.expr]]] = {}
        self._handed: dict[ast.AST, dict[str, list[tuple[ast.expr, int | str]]]] = {}
        self._altered: dict[ast.AST, frozenset[str]] = {}
        self._sets_any: dict[ast.AST, bool] = {}
        self._otherwise: dict[ast.AST, frozenset[str]] = {}
        self._in_loops: dict[ast.AST, frozenset[ast.AST]] = {}
        self._outer: dict[ast.AST, dict[ast.AST, tuple[Function, ...]]] = {}
        """The functions around those of a module that are inside of others, the nearest first."""

    def of_name(self, name: str, function: Function | None) -> Given:
        """The values that a function gives a local name."""
        return self.given(name, function) if function is not None else ()

    def given(self, name: str, code: Function | ast.Module) -> Given:
        """The values that a function, or a module with all of its functions, gives a name."""
        self._look(code)
        return tuple(self._locals[code].get(name, ()))

    def is_changed(self, name: str, code: Function | ast.Module | None) -> bool:
        """Whether a function or a module changes a name in place, ``name //= 2``, or gives it a value otherwise."""
        if code is None:
            return False
        self._look(code)
        return name in self._changed[code]

    def is_replaced(self, name: str, code: Function | ast.Module | None) -> bool:
        """Whether a function or a module gives a name another object, in ways that are not followed."""
        if code is None:
            return False
        if code not in self._replaced:
            self._replaced[code] = given_otherwise(code, filled=False) | frozenset(_looped(code))
        return name in self._replaced[code]

    def outer(self, name: str, function: Function, module: ast.Module) -> Function | None:
        """The function around another one whose name it uses: it gives it a value, and the inner one does not."""
        if module not in self._outer:
            self._outer[module] = dict(_nested(module, ()))
        around = self._outer[module].get(function, ())
        every = (function, *around) if around else ()
        found = next((one for one in every if self._binds(name, one)), None)
        return None if found is function else found

    def _binds(self, name: str, function: Function) -> bool:
        known = name in parameters_of(function) or bool(self.of_name(name, function))
        return known or self.is_changed(name, function)

    def items_of(self, name: str, code: Function | ast.Module) -> list[tuple[str, ast.expr]]:
        """What a function or a module puts into a mapping: ``name["key"] = value``, ``name.update(key=value)``."""
        self._look(code)
        return self._items[code].get(name, [])

    def merged_into(self, name: str, code: Function | ast.Module) -> list[ast.expr]:
        """The mappings whose entries a function or a module puts into another one: ``name.update(others)``."""
        self._look(code)
        return self._merged[code].get(name, [])

    def is_surely_merged(self, name: str, other: ast.expr, code: Function | ast.Module) -> bool:
        """Whether code surely puts a mapping into another one, after all that gives this one its name."""
        given = False
        for statement in code.body:
            called = statement.value if isinstance(statement, ast.Expr) else None
            value = _merged(called) if isinstance(called, ast.Call) else None
            if value is other or (isinstance(statement, ast.AugAssign) and statement.value is other):
                return given and len(self.given(name, code)) == 1
            given = given or any(dotted(target) == name for target, _ in _assigned(statement))
        return False

    def is_filled(self, name: str, code: Function | ast.Module, *, merged: bool = True) -> bool:
        """Whether a function or a module puts into a mapping what is not written there: ``name[key] = value``.

        ``merged`` says whether ``name.update(others)`` counts as well.
        """
        self._look(code)
        return f"{name}{_FILLED}" in self._changed[code] or (merged and name in self._merged[code])

    def added_to(self, name: str, code: Function | ast.Module) -> Given:
        """What a function or a module appends to a list or a text; of a list that is added, its items, as starred."""
        if code not in self._added:
            found = self._added[code] = {}
            nodes = _own(code) if isinstance(code, ast.Module) else walk(code)
            added = [pair for node in nodes for pair in _appended(node)]
            for target, value in sorted(added, key=lambda pair: (pair[1].lineno, pair[1].col_offset)):
                found.setdefault(target, []).append(value)
        return tuple(self._added[code].get(name, ()))

    def is_altered(self, name: str, function: Function | None, module: ast.Module) -> bool:
        """Whether a list is changed otherwise than at its end by the code around: ``words[1] = word``, ``more(words)``.

        What other functions add to a list of the module or of the object around them is not followed either.
        """
        code = function or module
        if name in self._altered_by(code) or name in self._altered_by(module, own=True):
            return True
        if function is not None and "." not in name:
            return False
        others = (node for node in walk(module) if isinstance(node, Function) and node is not function)
        return any(
            (name in self._altered_by(other) or self.added_to(name, other)) and not self.of_name(name, other)
            for other in others
        )

    def unpacked(self, name: str, code: Function | ast.Module) -> list[ast.expr]:
        """The values of which some code gives a name a part: ``name, other = value``."""
        if code not in self._unpacked:
            found = self._unpacked[code] = {}
            assigned = (node for node in _own(code) if isinstance(node, ast.Assign))
            for target, value in ((target, node.value) for node in assigned for target in node.targets):
                for part in set(map(dotted, target.elts)) if isinstance(target, ast.Tuple | ast.List) else ():
                    found.setdefault(part, []).append(value)
        return self._unpacked[code].get(name, [])

    def handed(self, name: str, code: Function | ast.Module) -> list[tuple[ast.expr, int | str]]:
        """The functions that some code calls with a name alone, and at which position or by which keyword."""
        if code not in self._handed:
            found = self._handed[code] = {}
            for node in _own(code):
                if not isinstance(node, ast.Call):
                    continue
                given: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
                given += ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None)
                for at, argument in given:
                    if isinstance(argument, ast.Name | ast.Attribute):
                        found.setdefault(dotted(argument), []).append((node.func, at))
        return self._handed[code].get(name, [])

    def is_in_loop(self, node: ast.AST, code: Function | ast.Module) -> bool:
        """Whether some code has a node in a loop or a comprehension."""
        if code not in self._in_loops:
            loops = (loop for loop in _own(code) if isinstance(loop, _LOOPS))
            self._in_loops[code] = frozenset(inner for loop in loops for inner in ast.walk(loop))
        return node in self._in_loops[code]

    def other_names(self, name: str, code: Function | ast.Module) -> list[str]:
        """The names that some code gives to what has a name already: ``other = name``."""
        self._look(code)
        every = self._locals[code].items()
        return [other for other, values in every if other != name and any(dotted(value) == name for value in values)]

    def _altered_by(self, code: Function | ast.Module, *, own: bool = False) -> frozenset[str]:
        if code not in self._altered:
            nodes = _own(code) if own or isinstance(code, ast.Module) else walk(code)
            self._altered[code] = frozenset(name for node in nodes for name in _altered(node))
        return self._altered[code]

    def _look(self, function: Function | ast.Module) -> None:
        if function in self._locals:
            return
        names = self._locals[function] = {}
        items = self._items[function] = {}
        merged = self._merged[function] = {}
        changed = self._changed[function] = {*given_otherwise(function), *_looped(function)}
        # What the functions of a module put into its mappings counts where they are called.
        own = frozenset(map(id, _own(function))) if isinstance(function, ast.Module) else None
        for node in walk(function):
            here = own is None or id(node) in own
            for target, value in _assigned(node):
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, []).append(value)
                elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                    items.setdefault(dotted(target.value), []).extend([(text_of(target.slice.value), value)] * here)
                elif isinstance(target, ast.Subscript):
                    changed.add(f"{dotted(target.value)}{_FILLED}")
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
                merged.setdefault(dotted(node.target), []).extend([node.value] * here)
            changed.update(_set_by_call(node))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
                name, written = dotted(node.func.value), _written(node.args)
                other = _merged(node) if here else None
                if here:
                    given = [(k.arg, k.value) for k in node.keywords if k.arg is not None]
                    items.setdefault(name, []).extend([*given, *(written or ())])
                if other is not None:
                    merged.setdefault(name, []).append(other)
                elif written is None or any(keyword.arg is None for keyword in node.keywords):
                    changed.add(f"{name}{_FILLED}")

    def of_self(self, name: str, owner: ast.ClassDef) -> list[tuple[ast.expr, Function | None]]:
        """The values that the methods of a class, and the class itself (no function), give an attribute."""
        known = self._attributes.get(owner)
        if known is None:
            known = self._attributes[owner] = {}
            for method in owner.body:
                if isinstance(method, Function):
                    for part in walk(method):
                        for target, value in _assigned(part):
                            if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                                known.setdefault(target.attr, []).append((value, method))
            for attribute, value in of_class(owner):
                known.setdefault(attribute, []).append((value, None))
        return known.get(name, [])

    def gives_otherwise(self, name: str, owner: ast.ClassDef) -> bool:
        """Whether a class gives an attribute of its objects a value in a way that is not followed: ``self.n += 1``."""
        if owner not in self._otherwise:
            targets = (part for node in walk(owner) for target in _targets(node) for part in ast.walk(target))
            found = {dotted(part) for part in targets if isinstance(part, ast.Attribute)}
            named = (_named_by_call(node) for node in walk(owner))
            found.update(f"self.{text_of(n.value)}" for n in named if isinstance(n, ast.Constant))
            self._otherwise[owner] = frozenset(found)
        return f"self.{name}" in self._otherwise[owner]

    def sets_any(self, owner: ast.ClassDef) -> bool:
        """Whether a class sets attributes by names that it does not write: ``self.__dict__.update(others)``."""
        known = self._sets_any.get(owner)
        if known is None:
            known = self._sets_any[owner] = any(map(_sets_any, walk(owner)))
        return known


def _set_by_call(node: ast.AST) -> Iterator[str]:
    """The mapping that ``name.__setitem__("key", 8)``, ``setitem(name, "key", 8)`` or ``dict.update(name)`` fills."""
    if isinstance(node, ast.Call) and node.args:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__setitem__":
            yield f"{dotted(node.func.value)}{_FILLED}"
        elif dotted(node.func).rpartition(".")[2] == "setitem" or dotted(node.func) == "dict.update":
            yield f"{dotted(node.args[0])}{_FILLED}"


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement gives a value in ways that are not followed."""
    yield from _other_targets(node)
    if isinstance(node, ast.For):
        yield node.target


def _written(arguments: list[ast.expr]) -> list[tuple[str, ast.expr]] | None:
    """What the mapping holds that ``update`` is given; None where not all of it is written there."""
    given = arguments[0] if len(arguments) == 1 else ast.Dict([], [])
    if len(arguments) > 1 or not isinstance(given, ast.Dict):
        return None
    pairs = [(k.value, v) for k, v in zip(given.keys, given.values, strict=True) if isinstance(k, ast.Constant)]
    found = [(text_of(key), value) for key, value in pairs]
    return found if len(found) == len(given.keys) else None


def _merged(node: ast.Call) -> ast.expr | None:
    """The mapping that ``update`` is given, and nothing else; not one that is written there."""
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    given = node.keywords[0].value if not node.args and [k.arg for k in node.keywords] == [None] else given
    update = isinstance(node.func, ast.Attribute) and node.func.attr == "update"
    return given if update and not isinstance(given, ast.Dict) else None


def _sets_any(node: ast.AST) -> bool:
    """Whether code sets attributes of an object by names that it does not write, or as items of all of them."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_is_all(target.value if isinstance(target, ast.Subscript) else target) for target in targets)
    if not isinstance(node, ast.Call):
        return False
    named = _named_by_call(node)
    if named is not None:
        return not isinstance(named, ast.Constant)
    method = node.func if isinstance(node.func, ast.Attribute) else None
    return method is not None and method.attr in ("update", "__setitem__", "setdefault") and _is_all(method.value)


def _named_by_call(node: ast.AST) -> ast.expr | None:
    """The name of the attribute that ``setattr(self, "name", 8)`` or ``super().__setattr__("name", 8)`` sets."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    return node.args[-2] if dotted(node.func).rpartition(".")[2] in ("setattr", "__setattr__") else None


def _is_all(node: ast.expr) -> bool:
    """All attributes of an object: ``self.__dict__``, ``vars(self)``."""
    if isinstance(node, ast.Call):
        return dotted(node.func) == "vars"
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def of_class(owner: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that the body of a class gives."""
    statements = [node for node in _own(owner) if isinstance(node, ast.Assign | ast.AnnAssign)]
    for statement in sorted(statements, key=lambda statement: statement.lineno):
        for target, value in _assigned(statement):
            if isinstance(target, ast.Name):
                yield target.id, value


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Tuple | ast.List):
                yield target, node.value
            elif isinstance(node.value, ast.Tuple | ast.List) and len(node.value.elts) == len(target.elts):
                yield from zip(target.elts, node.value.elts, strict=True)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def _appended(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """``words.append(word)``, ``words.extend(more)``, ``words += more``, ``text += more``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        listed = isinstance(node.value, ast.List | ast.Tuple)
        yield dotted(node.target), _starred(node.value) if listed else node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        if node.func.attr == "append":
            yield dotted(node.func.value), node.args[0]
        elif node.func.attr == "extend":
            yield dotted(node.func.value), _starred(node.args[0])


def _altered(node: ast.AST) -> Iterator[str]:
    """The lists that a node changes without adding to their ends."""
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else ()
    targets = [node.target] if isinstance(node, ast.AugAssign) else targets
    yield from (dotted(target.value) for target in targets if isinstance(target, ast.Subscript))
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr in ("insert", "remove", "pop", "clear", "reverse", "sort"):
        yield dotted(called.value)


def _starred(node: ast.expr) -> ast.Starred:
    return ast.copy_location(ast.Starred(node, ast.Load()), node)


def parameters_of(function: Function) -> dict[str, ast.expr | None]:
    """The parameters of a function with their defaults, in their order."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    defaults += function.args.defaults
    found = {argument.arg: default for argument, default in zip(positional, defaults, strict=True)}
    found |= {a.arg: d for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)}
    return found


_ADDS = frozenset({"update", "setdefault", "append", "extend", "insert", "add"})
_GIVES = frozenset(
    {ast.AugAssign, ast.NamedExpr, ast.AsyncFor, ast.withitem, ast.For, ast.comprehension, ast.Assign, ast.Global,
     ast.Nonlocal, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.Subscript, ast.Attribute}
)  # fmt: skip
"""Nodes that may give something a value."""


@lru_cache(4096)  # several programs of a run have the same code
def given_otherwise(inside: ast.AST, *, filled: bool = True) -> frozenset[str]:
    """What gets values in ways that are not followed: ``name += more``, ``with f() as name``, ``table.update(more)``.

    Attributes of other objects than ``self`` are given with a dot alone, ``.name``. Without ``filled`` only what may
    be another object then.
    """
    return frozenset(_given_otherwise(inside, filled))


def _given_otherwise(inside: ast.AST, filled: bool) -> Iterator[str]:
    pending = [(node, True) for node in inner(inside)]
    while pending:
        node, own = pending.pop()
        inside_own = own and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
        pending += [(part, inside_own) for part in inner(node)]
        if type(node) not in _GIVES:
            continue
        for target in _other_targets(node):
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute) or (isinstance(part, ast.Name) and own):
                    yield dotted(part)
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None and own:
            yield node.name
        elif (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)) or (
            isinstance(node, ast.Attribute) and node.attr in _ADDS
        ):
            yield from (dotted(node.value),) if filled else ()
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and dotted(node.value) != "self":
            yield f".{node.attr}"


def _other_targets(node: ast.AST) -> Iterator[ast.expr]:
    """The targets of a node whose values are not followed."""
    if isinstance(node, ast.AugAssign | ast.NamedExpr | ast.AsyncFor):
        yield node.target
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars
    elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Tuple | ast.List):
        yield from (target for target in node.target.elts if not isinstance(target, ast.Name))
    elif isinstance(node, ast.Assign):
        values = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else []
        several = (target for target in node.targets if isinstance(target, ast.Tuple | ast.List))
        yield from (target for target in several if len(target.elts) != len(values))


def _looped(code: Function | ast.Module) -> Iterator[str]:
    """The names that loops and lambdas give."""
    for node in _own(code):
        if isinstance(node, ast.For | ast.comprehension):
            targets = node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.Lambda):
            yield from (argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg))


_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _own(code: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or a module that are not of functions and classes inside of it."""
    pending = inner(code)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending += inner(node)


def _nested(code: ast.AST, around: tuple[Function, ...]) -> Iterator[tuple[ast.AST, tuple[Function, ...]]]:
    """The functions inside of others, each with those around it, the nearest first."""
    for node in inner(code):
        inside = around
        if isinstance(node, Function):
            if around:
                yield node, around
            inside = (node, *around)
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _nested(node, inside)
