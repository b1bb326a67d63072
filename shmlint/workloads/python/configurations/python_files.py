"""Configuration files that are Python, as OpenMMLab's libraries read them: by their syntax, never run.

A file goes on from those in ``_base_``, or imports them in ``with read_base():``. What it does beyond giving names
plain values, lists and mappings is UNKNOWN; what others may add to a mapping stands in it as ``OPEN``.

https://github.com/open-mmlab/mmengine/blob/v0.10.7/mmengine/config/config.py#L825
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeGuard

from shmlint.files.read import normal
from shmlint.model.source import Source
from shmlint.syntax.python import Module, dotted, parse
from shmlint.workloads.python.configurations.settings_files import OPEN, Part
from shmlint.workloads.python.values import COPIES, UNKNOWN, Found, Scope, arithmetic, member_key, text_of

_LONGEST = 200_000
"""Characters of a file that is read."""
_MOST_FILES = 40
_DEEPEST = 8
"""Files that go on from each other."""
_MOST_PARTS = 20_000
"""Parts of the values of one configuration, each as often as it is copied or looked through."""
_DELETE = "_delete_"
"""The key of a mapping which replaces the one that it would be merged with."""
_BASE = "_base_"
IMPORTED = "import "
"""The key of the modules that the files import, in the whole of a configuration: no name has a space."""
_OPENERS = frozenset({"globals", "locals", "vars", "exec", "eval", "__import__"})
"""Functions by which code may change names that it does not write down."""
_QUIET = frozenset({"len", "int", "float", "str", "bool", "abs", "round", "range", "isinstance", "repr"})
"""Functions that neither change what they are given nor return some of it."""
_MAPPINGS = frozenset({"dict", "ConfigDict", "mmengine.ConfigDict", "mmengine.config.ConfigDict", "mmcv.ConfigDict"})
_READERS = frozenset({"mmengine", "mmengine.config", "mmengine.config.config", "mmcv"})


class _TooMany(Exception):
    """A configuration has more files or parts than are read."""


def read_python(path: str, source_of: Callable[[str], Source | None]) -> Part | None:
    """The mapping that a file and those that it goes on from make; None where it is not Python, or too large."""
    try:
        files = _Files(source_of)
        found = files.read(path, 0)
        names = tuple(Part(name, found.source) for name in sorted(files.imported)) if found is not None else ()
        return found and found._replace(value={**found.entries, IMPORTED: found._replace(value=names)})
    except (_TooMany, RecursionError):
        return None


def inside(part: Part, key: str) -> Part | None:
    """What a mapping has by a key: None where it surely has nothing, UNKNOWN where others may have put it there."""
    found = part.entries.get(key)
    if found is not None or (isinstance(part.value, dict) and OPEN not in part.entries):
        return found
    return part._replace(value=UNKNOWN)


def merged(own: Part, below: Part) -> Part:
    """What a file says laid over what those say that it goes on from."""
    if not isinstance(own.value, dict):
        return own
    delete = own.entries.get(_DELETE)
    if delete is not None and delete.value is True:
        return own._replace(value={key: part for key, part in own.entries.items() if key != _DELETE})
    if delete is not None or below.value is UNKNOWN:
        return _opened(own)
    if not isinstance(below.value, dict):
        return own
    found = dict(below.entries) if OPEN not in own.entries else _overwritten(below.entries)
    for key, part in own.entries.items():
        before = inside(below, key)
        found[key] = merged(part, before) if before is not None else part
    return own._replace(value=found)


def _opened(part: Part) -> Part:
    """A mapping to which others may add, here and in the mappings inside of it."""
    if not isinstance(part.value, dict):
        return part
    inner = {key: _opened(one) for key, one in part.entries.items() if key != _DELETE}
    return part._replace(value={**inner, OPEN: part._replace(value=UNKNOWN)})


def _overwritten(entries: Mapping[str, Part]) -> dict[str, Part]:
    """Values of which any may be replaced by another one."""
    return {key: part._replace(value=UNKNOWN) for key, part in entries.items()}


class _Files:
    """The files of one configuration."""

    def __init__(self, source_of: Callable[[str], Source | None]) -> None:
        self._source_of = source_of
        self._left = _MOST_PARTS
        self._known: dict[str, Part | None] = {}
        self.imported: set[str] = set()
        """The modules that they import, other than each other."""

    def count(self, parts: int) -> None:
        """Note that some parts are made or looked at."""
        self._left -= parts
        if self._left < 0:
            raise _TooMany

    def read(self, path: str, depth: int) -> Part | None:
        """The mapping that a file makes."""
        if path in self._known:
            return self._known[path]
        source = self._source_of(path) if depth < _DEEPEST else None
        if source is None or len(self._known) >= _MOST_FILES or not path.endswith(".py"):
            return None
        self._known[path] = None  # as long as it is read: files that go on from each other are refused
        module = parse(source.text) if len(source.text) <= _LONGEST else None
        if module is not None:
            self._known[path] = _File(self, path, source, module, depth).whole()
        return self._known[path]


class _File:
    """The names that one file gives values, in the order of its statements."""

    def __init__(self, files: _Files, path: str, source: Source, module: Module, depth: int) -> None:
        self._files = files
        self._path = path
        self._module = module
        self._depth = depth
        self._scope = Scope(path, source, module, None, None)
        self._names: dict[str, Part] = {}
        self._base = Part({}, source)

    def whole(self) -> Part:
        """All names with their values, over those of the files that it goes on from."""
        for statement in self._module.tree.body:
            self._statement(statement)
        self._files.imported.update(self._imports())
        inner = self._in_functions()
        self._spoil([self._names[name] for name in sorted(inner & self._names.keys())])
        if _BASE in inner:
            self._base = self._unknown()
        own = {name: part for name, part in self._names.items() if not name.startswith("__")}
        own.update((name, self._unknown()) for name in inner & own.keys())
        if any(isinstance(node, ast.Name) and node.id in _OPENERS for node in ast.walk(self._module.tree)):
            own = {**_overwritten(own), OPEN: self._unknown()}
        return merged(self._base._replace(value=own), self._base)

    def _in_functions(self) -> set[str]:
        """The names that functions and the bodies of classes may change."""
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        found: set[str] = set()
        left: list[tuple[ast.AST, bool]] = [(self._module.tree, False)]
        while left:
            node, within = left.pop()
            within = within or isinstance(node, kinds)
            found.update(_named_in(node) if within else ())
            left += ((child, within) for child in ast.iter_child_nodes(node))
        return found

    def _imports(self) -> Iterator[str]:
        """The modules that the file imports, wherever in it, and what it names in them, but of mmengine's own."""
        named = (dotted(node) for node in ast.walk(self._module.tree) if isinstance(node, ast.Attribute))
        for head, dot, rest in (name.partition(".") for name in named):
            full = self._module.imports.get(head, "")
            yield from (full + dot + rest,) if full and _is_other(full) else ()
        bases = {id(inner) for node in self._module.tree.body if _is_base(node) for inner in node.body}
        for node in self._module.nodes:
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names if _is_other(one.name))
            elif isinstance(node, ast.ImportFrom) and id(node) not in bases:
                module = "." * node.level + (node.module or "")
                if _is_other(module):
                    yield module
                    yield from (f"{module}.{one.name}" for one in node.names if one.name != "*")

    def _unknown(self, node: ast.AST | None = None) -> Part:
        return self._part(UNKNOWN, node)

    def _part(self, value: object, node: ast.AST | None) -> Part:
        self._files.count(1)
        return Part(value, self._scope.source, self._scope.span(node).start if node is not None else 0)

    # Statements ---------------------------------------------------------------------------------

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._assign(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._spoil([self._value(node.target), self._value(node.value)])  # ``a |= b`` changes what ``a`` is
            self._put(node.target, self._unknown(node))
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._delete(target)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found = {name: self._unknown(node) for name in _imported(node)}
            self._names = {**(self._names if OPEN not in found else _overwritten(self._names)), **found}
        elif _is_base(node):
            for inner in node.body:
                self._import_base(inner)
        elif isinstance(node, ast.Expr):
            self._called_alone(node.value)
        elif not isinstance(node, ast.Pass):
            self._any_of(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and target.id == _BASE:
            self._go_on_from(value)
        else:
            self._put(target, self._value(value))

    def _go_on_from(self, named: ast.expr) -> None:
        """Read the files in ``_base_``; one that is elsewhere may say anything."""
        items = named.elts if isinstance(named, ast.List | ast.Tuple) else [named]
        found: dict[str, Part] = {}
        for item in items:
            name = item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else "::"
            path = normal(os.path.join(os.path.dirname(self._path), name))
            part = self._files.read(path, self._depth + 1) if "::" not in name and "{{" not in name else None
            found.update(part.entries if part is not None else {OPEN: self._unknown(item)})
        self._base = self._part(found, named)

    def _import_base(self, node: ast.stmt) -> None:
        """``from .._base_.data import *``: the names of another file are those of this one."""
        if not isinstance(node, ast.ImportFrom):
            self._names[OPEN] = self._unknown(node)
            return
        folder = os.path.dirname(self._path)
        for _ in range(node.level - 1):
            folder = os.path.join(folder, "..")
        path = normal(os.path.join(folder, f"{(node.module or '').replace('.', '/')}.py"))
        part = self._files.read(path, self._depth + 1) if node.level and node.module else None
        for alias in node.names:
            if alias.name == "*" and (part is None or OPEN in part.entries):
                self._names = {**_overwritten(self._names), OPEN: self._unknown(node)}
            if alias.name == "*":
                self._names.update(part.entries if part is not None else {})
            else:
                found = inside(part, alias.name) if part is not None else None
                self._names[alias.asname or alias.name] = found if found is not None else self._unknown(node)

    def _called_alone(self, node: ast.expr) -> None:
        """``loader.update(num_workers=0)``; any other call may change what it is given."""
        if isinstance(node, ast.Constant):
            return
        if not isinstance(node, ast.Call):
            self._any_of(node)
            return
        holder = node.func.value if isinstance(node.func, ast.Attribute) else None
        before = self._value(holder) if holder is not None else None
        if holder is None or before is None or dotted(node.func) == "print":
            self._any_of(node)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "update" and isinstance(before.value, dict):
            more = self._mapping([holder, *node.args], node.keywords, node)
            self._replace_everywhere(before, before._replace(value=more.value))
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "pop" and node.args:
            self._delete(ast.Subscript(holder, node.args[0], ast.Del()))
        else:
            self._any_of(node)

    def _any_of(self, node: ast.AST) -> None:
        """A statement that is not followed may give any name in it another value."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._names[node.name] = self._unknown(node)
            return
        names = sorted({name for inner in ast.walk(node) for name in _named_in(inner)})
        held = [self._names[name] for name in names if name in self._names]
        self._change({**self._all_in(held), **{id(part): part for part in held}})
        self._names.update((name, self._unknown(node)) for name in names if name != _BASE)
        if _BASE in names:
            self._spoil([self._base])

    def _lose(self, node: ast.AST) -> None:
        """What an expression that is not followed holds: it may change it, or give it another name."""
        left = [node]
        held: list[Part] = []
        while left:
            inner = left.pop()
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self._names[inner.id] = self._unknown(inner)
                continue
            if isinstance(inner, ast.Name | ast.Attribute | ast.Subscript):
                held.append(self._value(inner))
                if held[-1].value is not UNKNOWN:
                    continue
            left += ast.iter_child_nodes(inner)
        self._spoil(held)

    def _spoil(self, parts: Iterable[Part]) -> None:
        """Forget what mappings and lists hold, under all of their names, and those inside of them."""
        self._change(self._all_in(parts))

    def _all_in(self, parts: Iterable[Part]) -> dict[int, Part]:
        """The mappings and lists among some parts and inside of them, by their ids."""
        found: dict[int, Part] = {}
        left = [*parts]
        while left:
            part = left.pop()
            inner = part.value if isinstance(part.value, tuple) else tuple(part.entries.values())
            if isinstance(part.value, dict | tuple) and id(part) not in found:
                self._files.count(1 + len(inner))
                found[id(part)] = part
                left += inner
        return found

    def _change(self, parts: Mapping[int, Part]) -> None:
        if parts:
            self._replace({one: part._replace(value=UNKNOWN) for one, part in parts.items()})

    # What they change ---------------------------------------------------------------------------

    def _put(self, target: ast.expr, part: Part) -> None:
        """Give a name, or a key of what it stands for, another value."""
        if isinstance(target, ast.Tuple | ast.List | ast.Starred):
            self._spoil([part])
            for inner in target.elts if not isinstance(target, ast.Starred) else [target.value]:
                self._put(inner, self._unknown(target))
        elif isinstance(target, ast.Name):
            self._names[target.id] = part
        elif isinstance(target, ast.Attribute | ast.Subscript):
            before, key = self._value(target.value), member_key(target)
            after = self._unknown(target)
            if isinstance(before.value, dict) and key is not None:
                after = before._replace(value={**before.entries, key: part})
            self._replace_everywhere(before, after)
            if isinstance(target.value, ast.Name) and target.value.id != _BASE:
                self._names[target.value.id] = after
            elif before.value is UNKNOWN:
                self._put(target.value, after)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._names.pop(target.id, None)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            before, key = self._value(target.value), member_key(target)
            after = self._unknown(target)
            if isinstance(before.value, dict) and key is not None:
                after = before._replace(value={one: part for one, part in before.entries.items() if one != key})
            self._replace_everywhere(before, after)

    def _replace_everywhere(self, before: Part, after: Part) -> None:
        """Two names may stand for one mapping, ``test_dataloader = val_dataloader``: both have what changes in it."""
        self._replace({id(before): after})

    def _replace(self, others: Mapping[int, Part]) -> None:
        """Put other parts in the place of some, by their ids."""
        self._names = {name: self._replaced(part, others) for name, part in self._names.items()}
        self._base = self._replaced(self._base, others)

    def _replaced(self, part: Part, others: Mapping[int, Part]) -> Part:
        self._files.count(1)
        if id(part) in others:
            return others[id(part)]
        if isinstance(part.value, dict):
            entries = {key: self._replaced(inner, others) for key, inner in part.value.items()}
            same = all(one is other for one, other in zip(entries.values(), part.value.values(), strict=True))
            return part if same else part._replace(value=entries)
        if isinstance(part.value, tuple):
            items = tuple(self._replaced(inner, others) for inner in part.value)
            same = all(one is other for one, other in zip(items, part.value, strict=True))
            return part if same else part._replace(value=items)
        return part

    # Expressions --------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Part:
        if isinstance(node, ast.Constant):
            text = node.value if isinstance(node.value, str) else ""
            return self._part(UNKNOWN if "{{" in text else node.value, node)
        if isinstance(node, ast.Name):
            found = self._base if node.id == _BASE else self._names.get(node.id)
            return found if found is not None else self._unknown(node)
        if isinstance(node, ast.Attribute | ast.Subscript):
            return self._inside(node)
        if isinstance(node, ast.List | ast.Tuple):
            if any(isinstance(item, ast.Starred) for item in node.elts):
                self._lose(node)
                return self._unknown(node)
            return self._part(tuple(self._value(item) for item in node.elts), node)
        if isinstance(node, ast.Dict):
            return self._dict(node)
        if isinstance(node, ast.Set):  # ``{{_base_.workers}}``
            only = node.elts[0] if len(node.elts) == 1 else None
            only = only.elts[0] if isinstance(only, ast.Set) and len(only.elts) == 1 else None
            return self._value(only) if only is not None and dotted(only).startswith(_BASE) else self._unknown(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._operation(node)

    def _inside(self, node: ast.Attribute | ast.Subscript) -> Part:
        before, key = self._value(node.value), member_key(node)
        found = inside(before, key) if isinstance(before.value, dict) and key is not None else None
        if isinstance(before.value, tuple) and key is not None:
            with suppress(ValueError, IndexError):
                found = before.value[int(key)]
        if found is None:  # a method of it, or any of its parts
            self._spoil([before])
        return found if found is not None else self._unknown(node)

    def _dict(self, node: ast.Dict) -> Part:
        found: dict[str, Part] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                found[text_of(key.value)] = self._value(value)
            elif key is None:
                found = self._laid(self._value(value), found)
            else:
                self._lose(key)
                self._lose(value)
                found[OPEN] = self._unknown(value)
        return self._part(found, node)

    def _laid(self, part: Part, below: dict[str, Part]) -> dict[str, Part]:
        """The entries of a mapping with those of another one in their place."""
        self._files.count(len(part.entries) + len(below))
        if isinstance(part.value, dict) and OPEN not in part.entries:
            return {**below, **part.entries}
        return {**_overwritten(below), OPEN: part._replace(value=UNKNOWN), **part.entries}

    def _mapping(self, arguments: Sequence[ast.expr], keywords: Iterable[ast.keyword], node: ast.AST) -> Part:
        found: dict[str, Part] = {}
        for argument in arguments:
            found = self._laid(self._value(argument), found)
        for keyword in keywords:
            value = self._value(keyword.value)
            found = {**found, keyword.arg: value} if keyword.arg is not None else self._laid(value, found)
        return self._part(found, node)

    def _call(self, node: ast.Call) -> Part:
        name = self._scope.full_name(node.func)
        if name in _MAPPINGS and "dict" not in self._names:
            return self._mapping(node.args, node.keywords, node)
        if name in COPIES and len(node.args) == 1:
            held = self._value(node.args[0])
            return self._copied(held) if name.endswith("deepcopy") else held._replace(value=held.value)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            held = self._value(node.func.value)
            return held._replace(value=held.value)
        if name not in _QUIET or name in self._names:
            self._lose(node)
        else:
            for argument in node.args:
                self._value(argument)
        return self._unknown(node)

    def _copied(self, part: Part) -> Part:
        """The same values in mappings and lists of their own."""
        self._files.count(1)
        if isinstance(part.value, dict):
            return part._replace(value={key: self._copied(inner) for key, inner in part.value.items()})
        if isinstance(part.value, tuple):
            return part._replace(value=tuple(self._copied(inner) for inner in part.value))
        return part._replace(value=part.value)

    def _operation(self, node: ast.expr) -> Part:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = _number(self._value(node.operand)).number
            return self._part(-number, node) if number is not None else self._unknown(node)
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left), self._value(node.right)
            if isinstance(left.value, tuple) and isinstance(right.value, tuple) and isinstance(node.op, ast.Add):
                self._files.count(len(left.value) + len(right.value))
                return self._part(left.value + right.value, node)
            found = self._part(arithmetic(node.op, _number(left), _number(right)).value, node)
            self._spoil([left, right])  # ``[loader] * 2`` is of the same
            return found
        self._lose(node)
        return self._unknown(node)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [OPEN if one.name == "*" else (one.asname or one.name).partition(".")[0] for one in node.names]


def _named_in(node: ast.AST) -> list[str]:
    """The names of a module that a node is or gives values."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _imported(node)
    return [node.id] if isinstance(node, ast.Name) else node.names if isinstance(node, ast.Global) else []


def _number(part: Part) -> Found:
    return Found(part.value, True, ()) if isinstance(part.value, int) else Found(UNKNOWN, False, ())


def _is_base(node: ast.stmt) -> TypeGuard[ast.With]:
    return isinstance(node, ast.With) and [_called(item.context_expr) for item in node.items] == ["read_base"]


def _is_other(name: str) -> bool:
    """Whether a module may do something when it is imported."""
    return name.partition(".")[0] not in sys.stdlib_module_names and name not in _READERS


def _called(node: ast.expr) -> str:
    return dotted(node.func) if isinstance(node, ast.Call) else ""


def words_over(root: Part, words: Iterator[tuple[str, Part]]) -> Part:
    """A configuration with what ``--cfg-options a.b=1`` gives it: keys with dots, items of lists by their number."""
    for name, part in words:
        root = _set(root, name.split("."), part)
    return root


def _set(part: Part, path: Sequence[str], given: Part) -> Part:
    if not path:
        return given
    if isinstance(part.value, tuple):
        items = list(part.value)
        with suppress(ValueError, IndexError):
            items[int(path[0])] = _set(items[int(path[0])], path[1:], given)
        return part._replace(value=tuple(items))
    if part.value is UNKNOWN:
        part = part._replace(value={OPEN: part})
    below = inside(part, path[0]) or part._replace(value={})
    return part._replace(value={**part.entries, path[0]: _set(below, path[1:], given)})
