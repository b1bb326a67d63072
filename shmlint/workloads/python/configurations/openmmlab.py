"""The configurations of OpenMMLab's libraries that a program reads, and what expressions have of them.

``Config.fromfile`` reads a file, ``--cfg-options`` changes it, and mmengine's ``Runner.from_cfg`` makes the loaders of
it. https://github.com/open-mmlab/mmengine/blob/v0.10.7/mmengine/runner/runner.py#L451
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import FROM_FILE, TRAINERS
from shmlint.workloads.python.configurations.python_files import IMPORTED, inside, read_python, words_over
from shmlint.workloads.python.configurations.settings_files import OPEN, Part, call_of, read_value
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.values import NOTHING, UNKNOWN, DictValue, Found, Scope, changed, one_of, text_of

_DEPTH = 12
_MOST_STEPS = 200
_MOST = 8
"""Places of configurations that one expression may stand for."""
_MOST_LOADERS = 40
_MOST_CHANGES = 2_000
"""Statements and calls of a program of which it is asked whether they change a configuration."""
_MOST_LOOKED_AT = 20_000
"""Parts of a configuration that are looked at for the classes that it names."""
_SAME = frozenset({"copy.deepcopy", "copy.copy", "mmdet.utils.replace_cfg_vals", "mmdet.utils.compat_cfg",
                   "mmdet.utils.update_data_root"})  # fmt: skip
"""Calls that give what they are given with the same numbers of workers, as far as these are in it.

https://github.com/open-mmlab/mmdetection/blob/v2.28.2/mmdet/utils
"""
_LOADERS = {
    "train": ("train_dataloader", "val_dataloader"), "val": ("val_dataloader",), "test": ("test_dataloader",),
}  # fmt: skip
"""The loaders that each method of a runner makes: training validates in between."""
_EVERY = ("train_dataloader", "val_dataloader", "test_dataloader")
_HOLDERS = frozenset({*_EVERY, "data"})
_COUNTS = frozenset({"num_workers", "workers_per_gpu", "persistent_workers", "prefetch_factor"})
_SIZES = frozenset({"batch_size", "samples_per_gpu", "imgs_per_gpu", "videos_per_gpu"})
_BATCHES = ("samples_per_gpu", "imgs_per_gpu", "videos_per_gpu")
_NOWHERE = Source("", "")
_DECIDING = _HOLDERS | _COUNTS | _SIZES


class _Place(NamedTuple):
    """A part of a configuration: the file, and the keys inside of each other."""

    file: str
    keys: tuple[str, ...] = ()


class Loaders(NamedTuple):
    """The calls that make the loaders of a configuration, each with its place, and the modules that it imports."""

    calls: tuple[tuple[ast.expr, Part], ...]
    imports: tuple[str, ...]


class MmConfigs:
    """Finds the parts of configurations that expressions stand for."""

    def __init__(self, evaluator: Evaluator, changes: Sequence[tuple[ast.expr, str, Scope]]) -> None:
        self._changes = changes
        """What code changes: what it is, and the key, where it is written. Grows while code is walked."""
        self._looked_at = 0
        """How many of them were looked at."""
        self._deciding: tuple[ast.expr, Scope] | None = None
        self._evaluator = evaluator
        self._options = evaluator.options
        self._files: dict[str, Part | None] = {}
        self._left = 0
        self._busy: set[int] = set()
        """Expressions that are just being looked at: ``cfg = changed(cfg)`` names itself."""

    def loaders(self, name: str, node: ast.Call, scope: Scope) -> Loaders | None:
        """What ``Runner.from_cfg(cfg)``, or a function that trains, makes; None where that is not all written down."""
        at = 2 if name in TRAINERS else 0
        given = node.args[at] if len(node.args) > at else next((k.value for k in node.keywords if k.arg == "cfg"), None)
        roots = self._roots(given, scope) if given is not None else None
        found: list[tuple[ast.expr, Part]] = []
        for root in roots or ():
            wanted = self._wanted(node) if name not in TRAINERS else []
            loaders = _in_section(root, TRAINERS[name]) if name in TRAINERS else _loaders_of(root, wanted)
            if loaders is None or (name not in TRAINERS and _may_make_more(root)):
                return None
            found += ((call_of("torch.utils.data.DataLoader", said, part, _nothing), part) for part, said in loaders)
        imports = [_imports(root) for root in roots or ()]
        if roots is None or None in imports or len(found) > _MOST_LOADERS:
            return None
        return Loaders(tuple(found), tuple(name for names in imports for name in names or ()))

    def found(self, holder: ast.expr, key: str, scope: Scope) -> Found | None:
        """What a configuration has by a key that counts workers or items; see ``Configurations``."""
        places = self._of(holder, scope) if key in _COUNTS or key in _SIZES else None
        if not places:
            return None
        values = [_value_of(self._part(place._replace(keys=(*place.keys, key)))) for place in places]
        value = one_of(values) if NOTHING not in values else NOTHING
        return changed(value) if self.change() is not None else value

    def mapping(self, node: ast.expr, scope: Scope) -> DictValue | None:
        """The entries of a section that is given as keywords; see ``Configurations``."""
        if not isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            return None
        places = self._of(node, scope)
        if not places:
            return None
        part = self._part(places[0]) if len(places) == 1 else None
        if len(places) > 1 or self.change() is not None or (part is not None and part.value is UNKNOWN):
            return DictValue({}, False)
        entries = part.entries if part is not None else {}
        if places[0].keys[-1:] and places[0].keys[-1] in _EVERY:
            names = [*_COUNTS, *_SIZES]
            said = ((name, self._part(places[0]._replace(keys=(*places[0].keys, name)))) for name in names)
            entries = {**entries, **{name: one for name, one in said if one is not None}}
        known = {key: (_expression(one), scope) for key, one in entries.items() if key != OPEN}
        return DictValue(known, OPEN not in entries)

    def _part(self, place: _Place) -> Part | None:
        """The part at a place; None where there is none.

        What the section of all data says of workers, it says of each loader: mmdet.utils.compat_cfg, and
        mmseg.apis.train_segmentor, do so.
        """
        root = self._root(place.file)
        if root is None:
            return Part(UNKNOWN, _NOWHERE)
        found = _get(root, place.keys)
        *above, last = place.keys or ("",)
        if found is None and above[:1] == ["data"] and above[1:] and above[-1] in _EVERY and last in _COUNTS:
            return _get(root, ("data", last))
        return found

    def forget(self) -> None:
        """Look at what code changes again: more calls are known that say of what."""
        self._looked_at, self._deciding = 0, None

    def change(self) -> tuple[ast.expr, Scope] | None:
        """A place at which code that was walked may change how many workers there are; None without one."""
        for part, key, scope in self._changes[self._looked_at :]:
            self._looked_at += 1
            if self._deciding is None and (self._looked_at > _MOST_CHANGES or self._is_changed(part, key, scope)):
                self._deciding = part, scope
        return self._deciding

    def _is_changed(self, node: ast.expr, key: str, scope: Scope) -> bool:
        """Whether code that gives an expression another value by a key may change how many workers there are."""
        if key and key not in _DECIDING:
            return False
        places = self._of(node, scope)
        if places is None:
            return dotted(node) != "self" and key in (*_COUNTS, *_EVERY)
        return any(_decides(place.keys, key) for place in places)

    def _of(self, node: ast.expr, scope: Scope) -> list[_Place] | None:
        if self._left > 0:
            return None  # asked for what it asks for itself: the path of a file
        self._left, self._busy = _MOST_STEPS, set()
        found = self._places(node, scope, 0)
        self._left = 0
        return found

    def _roots(self, node: ast.expr, scope: Scope) -> list[Part] | None:
        places = self._of(node, scope)
        if not places or any(place.keys for place in places):
            return None
        roots = [self._root(place.file) for place in places]
        return [root for root in roots if root is not None] if None not in roots else None

    def _wanted(self, node: ast.Call) -> list[str]:
        """The loaders that are made by what is called of a runner: of this one, else of any, else all."""
        called = {
            method: [
                (call.func.value, where) for call, where in self._evaluator.calls.get(method, ())
                if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords
            ]
            for method in _LOADERS
        }  # fmt: skip
        of_this = [method for method, held in called.items() if any(self._is_made(node, *one) for one in held)]
        methods = of_this or [method for method, held in called.items() if held]
        return [*dict.fromkeys(name for method in methods for name in _LOADERS[method])] or [*_EVERY]

    def _is_made(self, made: ast.Call, node: ast.expr, scope: Scope) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute):
            return node is made
        return any(value is made for value, _ in self._evaluator.given_to(node, scope))

    # Which part an expression is ----------------------------------------------------------------

    def _places(self, node: ast.expr, scope: Scope, depth: int) -> list[_Place] | None:
        self._left -= 1
        if depth > _DEPTH or self._left <= 0:
            return None
        if isinstance(node, ast.Attribute) and dotted(node.value) == "self":
            return self._all(self._evaluator.given_to(node, scope), depth)
        if isinstance(node, ast.Name):
            if self._evaluator.is_handed_on(node, scope):
                return None
            return self._all(self._evaluator.given_to(node, scope), depth)
        if isinstance(node, ast.Attribute):
            return self._inside(node.value, node.attr, scope, depth)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return self._inside(node.value, text_of(node.slice.value), scope, depth)
        return self._made(node, scope, depth) if isinstance(node, ast.Call) else None

    def _made(self, node: ast.Call, scope: Scope, depth: int) -> list[_Place] | None:
        name = scope.full_name(node.func)
        if name in FROM_FILE and node.args:
            path = self._path(node.args[0], scope)
            return [_Place(path)] if path is not None else None
        if name in _SAME and len(node.args) == 1:
            return self._places(node.args[0], scope, depth + 1)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "copy", "deepcopy"):
            key = node.args[0] if node.args else None
            if isinstance(key, ast.Constant):
                return self._inside(node.func.value, text_of(key.value), scope, depth)
            return self._places(node.func.value, scope, depth + 1) if key is None else None
        return None

    def _all(self, given: Sequence[tuple[ast.expr, Scope]], depth: int) -> list[_Place] | None:
        """The parts that any of several expressions is; one that names what it replaces is of the others."""
        others = [(value, where) for value, where in given if id(value) not in self._busy]
        self._busy.update(id(value) for value, _ in others)
        found = [self._places(value, where, depth + 1) for value, where in others[:_MOST]]
        self._busy.difference_update(id(value) for value, _ in others)
        every = [*dict.fromkeys(place for places in found for place in places or ())]
        return every if given and None not in found and len(given) <= _MOST and len(every) <= _MOST else None

    def _inside(self, node: ast.expr, key: str, scope: Scope, depth: int) -> list[_Place] | None:
        places = self._places(node, scope, depth + 1)
        return [place._replace(keys=(*place.keys, key)) for place in places] if places is not None else None

    # The configuration --------------------------------------------------------------------------

    def _path(self, node: ast.expr, scope: Scope) -> str | None:
        """The file of the repository that an expression names: a text, an option or a positional argument."""
        found = self._evaluator.value(node, scope)
        word = found.value if found.certain else None
        if not isinstance(word, str) and isinstance(node, ast.Attribute):
            word = self._options.positional(node.attr)
        return self._options.file(word) if isinstance(word, str) and "$" not in word else None

    def _root(self, path: str) -> Part | None:
        """The mapping in a file, with what the command changes in it; None where that is not known."""
        if path not in self._files:
            repository = self._options.files.repository
            own = path.endswith(".py")
            self._files[path] = read_python(path, repository.source) if own else self._options.settings(path)
        root = self._files[path]
        merging = self._evaluator.calls.get("merge_from_dict", ())
        plain = all(len(call.args) == 1 and isinstance(call.args[0], ast.Attribute) for call, _ in merging)
        words = self._options.pairs() if merging else []
        if root is None or words is None or not plain or (merging and self._options.has_open_words()):
            return None
        source = root.source
        return words_over(root, ((name, read_value(text, source)) for name, text in words))


def _decides(keys: tuple[str, ...], key: str) -> bool:
    """Whether another value of a key decides how many workers or how large batches there are."""
    above = not keys or keys[-1] in _HOLDERS
    if not key:
        return above
    return (above and key in (*_HOLDERS, *_COUNTS, *_SIZES)) or key in _COUNTS


def _get(root: Part, keys: Sequence[str]) -> Part | None:
    found: Part | None = root
    for key in keys:
        found = inside(found, key) if found is not None else None
    return found


_Said = tuple[Part, dict[str, Part]]
"""A loader, and the arguments of PyTorch's loader that count; what others may set is not known."""


def _loaders_of(root: Part, names: Sequence[str]) -> list[_Said] | None:
    """The loaders that a configuration says of by some keys, one or several each; None where they are not known."""
    found: list[_Said] = []
    for name in reversed(names):  # what is walked last stands first
        part = inside(root, name)
        loaders = () if part is None or part.value is None else part.value if _is_list(part) else (part,)
        for one in loaders if isinstance(loaders, tuple) else ():
            if not isinstance(one.value, dict):
                return None
            said = ((key, inside(one, key)) for key in ("num_workers", "batch_size", "prefetch_factor"))
            found.append((one, {key: inner for key, inner in said if inner is not None}))
    return found


def _may_make_more(root: Part) -> bool:
    """Whether a class that the runner makes of a section is given workers: a loop or a hook with a loader of its own.

    https://github.com/open-mmlab/mmengine/blob/v0.10.7/mmengine/runner/base_loop.py#L25
    """
    sections = (inside(root, name) for name in ("train_cfg", "val_cfg", "test_cfg", "custom_hooks", "default_hooks"))
    left, looked = [part for part in sections if part is not None], 0
    while left and looked <= _MOST_LOOKED_AT:
        part = left.pop()
        looked += 1
        left += part.value if isinstance(part.value, tuple) else part.entries.values()
        counts = [one for key, one in part.entries.items() if key in ("num_workers", "workers_per_gpu")]
        if any(one.value != 0 for one in counts):
            return True
    return bool(left)


def _is_list(part: Part) -> bool:
    return isinstance(part.value, tuple)


def _in_section(root: Part, workers: int | None) -> list[_Said] | None:
    """The loaders that are made of the section ``data``, to train and to validate."""
    data = inside(root, "data")
    if data is None or not isinstance(data.value, dict):
        return None
    found: list[_Said] = []
    for name in reversed(_LOADERS["train"]):
        part = inside(data, name) or data._replace(value={})
        counted = inside(part, "workers_per_gpu") or inside(data, "workers_per_gpu")
        counted = counted or data._replace(value=UNKNOWN if workers is None else workers)
        given = [inside(part, key) or (inside(data, key) if name == _EVERY[0] else None) for key in _BATCHES]
        size = next((one for one in given if one is not None), data._replace(value=1))
        found.append((counted, {"num_workers": counted, "batch_size": size}))
    return found


def _value_of(part: Part | None) -> Found:
    """A plain value with its place; None for what is not there."""
    if part is None:
        return Found(None, True, ())
    if part.value is not None and not isinstance(part.value, int | str):
        return NOTHING
    place = Span(part.source, part.start, part.start + len(text_of(part.value)))
    return Found(part.value, True, (place,) if part.source.text else ())


def _expression(part: Part) -> ast.expr:
    """A plain value as Python has it, and what nobody knows for any other."""
    found = _value_of(part)
    if found.value is None or isinstance(found.value, int | str):
        return ast.Constant(found.value)
    return ast.Starred(ast.Constant(None), ast.Load())


def _imports(root: Part) -> tuple[str, ...] | None:
    """The modules that a configuration imports, and those of the classes it names; None where they are not known."""
    own = root.entries.get(IMPORTED)
    found = [item.text for item in own.value] if own is not None and isinstance(own.value, tuple) else []
    typed = _typed(root)
    if typed is None or any(name.startswith(".") for name in found):
        return None
    found += typed
    part = inside(root, "custom_imports")
    if part is None or part.value is None:
        return tuple(dict.fromkeys(found))
    names = inside(part, "imports") if isinstance(part.value, dict) and OPEN not in part.entries else None
    listed = names.value if names is not None else None
    items = (names,) if names is not None and isinstance(listed, str) else listed
    if not isinstance(items, tuple) or any(not isinstance(item.value, str) for item in items):
        return None
    return tuple(dict.fromkeys((*found, *(item.text for item in items))))


def _typed(root: Part) -> list[str] | None:
    """The names of ``type='own.data.Fields'``, whose modules a registry imports where no class is registered so.

    https://github.com/open-mmlab/mmengine/blob/v0.10.7/mmengine/registry/registry.py#L396
    """
    found: dict[str, None] = {}
    left, looked = [root], 0
    while left:
        part = left.pop()
        looked += 1
        if looked > _MOST_LOOKED_AT:
            return None
        left += part.value if isinstance(part.value, tuple) else part.entries.values()
        kind = part.entries.get("type")
        name = kind.text if kind is not None else ""
        if "." in name and all(one.isidentifier() for one in name.split(".")):
            found[name] = None
    return [*found]


def _nothing(_part: Part) -> None:
    """Loaders are made of numbers: nothing in their arguments is an object of its own."""
