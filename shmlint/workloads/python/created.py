"""The size of the items that a dataset makes as arrays of a written shape: ``return torch.zeros(3, 512, 512)``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.syntax.python import dotted
from shmlint.workloads.python.assignments import Function
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.given_datasets import dataset_argument
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.values import Scope

_BYTES = {
    "bool": 1, "bool_": 1, "uint8": 1, "int8": 1, "byte": 1, "int16": 2, "uint16": 2, "short": 2, "float16": 2,
    "half": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4, "single": 4, "int64": 8, "uint64": 8, "long": 8,
    "int_": 8, "float64": 8, "double": 8, "complex64": 8, "cfloat": 8, "complex128": 16, "cdouble": 16,
}  # fmt: skip
"""Bytes of a number, by the names of its type in torch and numpy."""
_OF_TORCH = {"int": 4, "float": 4}
"""``torch.int`` is one of 4 bytes, as Python's own types are not."""
_OF_PYTHON = {"int": 8, "float": 8, "bool": 1}


class _Maker(NamedTuple):
    """A function that makes an array: the positions of its shape and of its type, and the bytes of a number."""

    default: int
    shape: int = 0
    dtype: int | None = None
    spread: bool = False
    """Whether each side is an argument of its own."""


_MAKERS = {
    **{f"torch.{name}": _Maker(4, spread=True) for name in ("zeros", "ones", "rand", "randn", "empty")},
    **{f"numpy.{name}": _Maker(8, dtype=1) for name in ("zeros", "ones", "empty")},
    **{f"numpy.random.{name}": _Maker(8, spread=True) for name in ("rand", "randn")},
    **{f"numpy.random.{name}": _Maker(8) for name in ("random", "random_sample")},
}
"""torch makes numbers of 4 bytes, numpy of 8, where no other type is given.

https://docs.pytorch.org/docs/stable/generated/torch.zeros.html
https://numpy.org/doc/stable/reference/generated/numpy.zeros.html
"""
_KEEPS = frozenset({"torch.from_numpy", "torch.as_tensor", "torch.tensor"})
"""What makes a tensor of an array, of the same shape and type."""
_KEYWORDS = frozenset({"size", "shape", "dtype", "requires_grad", "pin_memory", "generator"})
_DEFAULTS = frozenset({"torch.set_default_dtype", "torch.set_default_tensor_type"})
_ALTERS = r"(?i)resize|crop|patch|slice|half|squeeze_|set_|\bdata\b"
"""Names of what may give an array fewer numbers, or smaller ones, in place."""
_MAKES = (
    rf"\b(?:{'|'.join(sorted({name.rpartition('.')[2] for name in _MAKERS}))}|randint|arange|randperm)\("
)
TENSOR_DATASETS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
"""Datasets whose items are rows of tensors."""
_MOST_SIDES = 6
_LARGEST = 4_000_000_000
"""Bytes of an item; a larger one stands for something else. A tensor of all items is as large as memory."""
_MOST_PARTS = 50


class Item(NamedTuple):
    """The bytes of a number and the sides of the largest array of an item, or the bytes of all of its arrays.

    ``whole`` where it has no other."""

    shape: tuple[int, ...]
    span: Span
    whole: bool


def may_create_items(module: Loaded) -> bool:
    """Whether a module may have such a dataset, by its text: no other is parsed for it."""
    text = module.source.text
    return "TensorDataset" in text or ("__getitem__" in text and re.search(_MAKES, text) is not None)


def default_may_differ(sites: Collection[Site]) -> bool:
    """Whether a program sets the type of the numbers that torch makes."""
    return any(site.name in _DEFAULTS for site in sites)


def item_of_class(owner: ast.ClassDef, scope: Scope, evaluator: Evaluator) -> Item | None:
    """The least that an item has which the method ``__getitem__`` of a dataset makes; None where one is not known."""
    method = next((m for m in owner.body if isinstance(m, ast.FunctionDef) and m.name == "__getitem__"), None)
    if method is None or method.decorator_list:
        return None
    nodes = list(ast.walk(method))
    names = (dotted(node).rpartition(".")[2] for node in nodes if isinstance(node, ast.Name | ast.Attribute))
    inner = any(isinstance(node, ast.FunctionDef | ast.Lambda | ast.Yield) for node in nodes[1:])
    if inner or any(re.search(_ALTERS, name) for name in names):
        return None
    inside = scope._replace(function=method, owner=owner)
    found = [_item(node.value, inside, evaluator) for node in nodes if isinstance(node, ast.Return)]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    least = min(known, key=lambda one: _bytes(one.shape))
    return least._replace(whole=len(known) == 1 and least.whole)


def item_of_tensors(node: ast.expr, scope: Scope, evaluator: Evaluator) -> Item | None:
    """The item of ``TensorDataset(torch.zeros(1000, 3, 224, 224))``: a row of each of its tensors."""
    made = _followed(node, scope, evaluator)
    call, where = made or (node, scope)
    if not isinstance(call, ast.Call):
        return None
    if where.full_name(call.func) not in TENSOR_DATASETS:
        return None
    found = [_array(tensor, where, evaluator) for tensor in call.args]
    return _together([one and _row_of(one) for one in found])


def most_items(site: Site, evaluator: Evaluator) -> int:
    """The items that the dataset of a loader has at most, where that is written there; 0 where it is not known.

    ``Subset(data, range(8))``, ``TensorDataset(torch.zeros(8, 3, 224, 224))``. A sampler may take one more than once.
    """
    given = dataset_argument(site)
    sampled = any("sampler" in (keyword.arg or "sampler") for keyword in site.node.keywords)
    if given is None or sampled or len(site.node.args) > _BEFORE_SAMPLERS:
        return 0
    call, scope = _followed(given, site.scope, evaluator) or (given, site.scope)
    name = scope.full_name(call.func) if isinstance(call, ast.Call) and call.args else ""
    if not isinstance(call, ast.Call) or not name:
        return 0
    if name in TENSOR_DATASETS:
        first = _array(call.args[0], scope, evaluator)
        return first.shape[1] if first is not None and len(first.shape) > 1 else 0
    indices = call.args[1] if name in _SUBSETS and len(call.args) > 1 else None
    while isinstance(indices, ast.Call) and dotted(indices.func) in ("list", "range") and len(indices.args) == 1:
        if dotted(indices.func) == "range":
            found = evaluator.value(indices.args[0], scope)
            return max(found.number or 0, 0) if found.certain else 0
        indices = indices.args[0]
    return len(indices.elts) if isinstance(indices, ast.List | ast.Tuple) else 0


_SUBSETS = frozenset({"torch.utils.data.Subset", "torch.utils.data.dataset.Subset"})
_BEFORE_SAMPLERS = 3
"""Arguments of a loader before its samplers."""


def _row_of(array: Item) -> Item:
    """A row of an array."""
    return array._replace(shape=(array.shape[0], *array.shape[2:]))


def _together(arrays: Sequence[Item | None]) -> Item | None:
    """The item of some arrays: all of them where each is known, else the largest."""
    known = [one for one in arrays if one is not None and _bytes(one.shape) < _LARGEST]
    if not known:
        return None
    largest = max(known, key=lambda one: _bytes(one.shape))
    if len(known) < len(arrays) or len(known) == 1:
        return largest._replace(whole=len(known) == len(arrays))
    return Item((sum(_bytes(one.shape) for one in known),), largest.span, True)


def _item(node: ast.expr | None, scope: Scope, evaluator: Evaluator) -> Item | None:
    """The largest array of what a method returns."""
    if node is None:
        return None
    parts = list(_parts(node))
    found = [_array(part, scope, evaluator) for part in parts[:_MOST_PARTS]]
    read = zip(parts, found, strict=False)
    arrays = [one for part, one in read if one is not None or not isinstance(part, ast.Constant)]
    return _together(arrays if len(parts) <= _MOST_PARTS else [*arrays, None])


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of a tuple, a list or a mapping, each of which becomes a part of the batch."""
    if isinstance(node, ast.Tuple | ast.List | ast.Dict):
        for part in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _parts(part)
    else:
        yield node


def _followed(node: ast.expr, scope: Scope, evaluator: Evaluator) -> tuple[ast.expr, Scope] | None:
    for _ in range(_MOST_SIDES):
        if not isinstance(node, ast.Name | ast.Attribute):
            return node, scope
        given = evaluator.only_given(node, scope) or _given_last(node, scope, evaluator)
        if given is None:
            return None
        node, scope = given
    return None


def _given_last(node: ast.expr, scope: Scope, evaluator: Evaluator) -> tuple[ast.expr, Scope] | None:
    """The last value before its use of a name that only plain statements around it give one: ``a = D(); a = S(a)``."""
    if not isinstance(node, ast.Name) or evaluator.changes.is_set(node.id):
        return None
    values = _given_plainly(scope.function or scope.module.tree).get(node.id, ())
    before = [value for value in values if value.lineno < node.lineno]
    return (before[-1], scope) if before else None


@lru_cache(maxsize=64)  # for the loaders of some code, which may be many
def _given_plainly(code: ast.Module | Function) -> dict[str, list[ast.expr]]:
    """What statements of some code give the names that nothing in a branch, in a loop or in a function gives any."""
    names = (part for part in ast.walk(code) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
    times = Counter(part.id for part in names)
    found: dict[str, list[ast.expr]] = {}
    for one in code.body:
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            found.setdefault(one.targets[0].id, []).append(one.value)
    return {name: values for name, values in found.items() if len(values) == times[name]}


def _array(node: ast.expr, scope: Scope, evaluator: Evaluator) -> Item | None:
    """The array that an expression makes, where its shape and the type of its numbers are known for sure."""
    made = _followed(node, scope, evaluator)
    call, where = made or (node, scope)
    if isinstance(call, ast.Subscript):
        whole = _array(call.value, where, evaluator) if isinstance(call.slice, ast.Name | ast.Constant) else None
        return _row_of(whole) if whole is not None else None
    if not isinstance(call, ast.Call):
        return None
    name = where.full_name(call.func)
    if name in _KEEPS and len(call.args) == 1 and not call.keywords:
        return _array(call.args[0], where, evaluator)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "float" and not call.args and not call.keywords:
        inner = _array(call.func.value, where, evaluator)
        return inner._replace(shape=(4, *inner.shape[1:])) if inner is not None else None
    if name in _OF_NUMBERS:
        return _numbers(call, where, evaluator)
    maker = _MAKERS.get(name)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if maker is None or not given.keys() <= _KEYWORDS or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    named = given.get("size", given.get("shape"))
    sides = _sides(call.args[:1] if not maker.spread else call.args, where, evaluator)
    sides = _sides([named], where, evaluator) if named is not None else sides
    typed = given.get("dtype")
    if typed is None and maker.dtype is not None and len(call.args) > maker.dtype:
        typed = call.args[maker.dtype]
    size = maker.default if typed is None else _size_of_type(typed, where)
    if size is None or not sides or (len(call.args) > 1 and not maker.spread and maker.dtype is None):
        return None
    return Item((size, *sides), where.span(call), True)


_OF_NUMBERS = {"torch.randint": 2, "torch.randperm": 0, "torch.arange": 0, "numpy.random.randint": 2, "numpy.arange": 0}
"""What makes whole numbers of 8 bytes, and the position of its shape where all before it are given."""


def _numbers(call: ast.Call, scope: Scope, evaluator: Evaluator) -> Item | None:
    """The array of whole numbers that a call makes: ``torch.randint(0, 10, (512,))``."""
    name = scope.full_name(call.func)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if not given.keys() <= {"size", "low", "high"}:
        return None
    shape = given.get("size", call.args[-1] if len(call.args) > 1 or not _OF_NUMBERS[name] else None)
    if shape is None or (not _OF_NUMBERS[name] and len(call.args) != 1):
        return None
    sides = _sides([shape], scope, evaluator)
    return Item((8, *sides), scope.span(call), True) if sides else None


def _sides(nodes: list[ast.expr], scope: Scope, evaluator: Evaluator) -> tuple[int, ...]:
    """The sides of a shape; none where one is not known."""
    values = [evaluator.value(node, scope) for node in nodes[:_MOST_SIDES]]
    if len(values) == 1 and isinstance(values[0].value, tuple):
        sides, sure = values[0].value, values[0].certain
    else:
        sides, sure = tuple(value.value for value in values), all(value.certain for value in values)
    known = tuple(side for side in sides if isinstance(side, int) and not isinstance(side, bool) and side > 0)
    return known if sure and len(known) == len(sides) == max(len(nodes), len(sides)) else ()


def _size_of_type(node: ast.expr, scope: Scope) -> int | None:
    if isinstance(node, ast.Constant):
        return _BYTES.get(str(node.value))
    name = scope.full_name(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    package, _, last = name.rpartition(".")
    if not package:
        return _OF_PYTHON.get(last)
    known = _BYTES | _OF_TORCH if package == "torch" else _BYTES
    return known.get(last) if package in ("torch", "numpy") else None


def _bytes(shape: tuple[int, ...]) -> int:
    total = 1
    for side in shape:
        total *= side
    return total
