"""How large a dataset of the repository makes its images at least, where its own methods resize them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from shmlint.model.source import Span
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import IMAGE_SIZE_CALLS
from shmlint.workloads.python.assignments import Function
from shmlint.workloads.python.created import (
    TENSOR_DATASETS,
    default_may_differ,
    item_of_class,
    item_of_tensors,
    may_create_items,
)
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.given_datasets import calls_that_make, dataset_argument, full_name
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.reading import Call
from shmlint.workloads.python.tensors import methods_of
from shmlint.workloads.python.values import POSITIVE, UNKNOWN, Scope

_FLOAT = 4
"""Bytes of a number in a batch."""
_RESIZES = {
    "cv2.resize": ("dsize", 1), "torchvision.transforms.functional.resize": ("size", 1),
    "skimage.transform.resize": ("output_shape", 1),
}  # fmt: skip
"""Functions that give an image a size, and the argument that is the size. PIL's is a method of the image."""
_OF_PIL = ("size", 0)
_CUTS = r"(?i)crop|patch|slice|pyrdown|thumbnail|interpolate|zoom|rescale"
"""Names of what makes an image smaller."""
_MAKES_FLOAT = frozenset({"to_tensor", "totensor", "normalize", "float", "float32", "floattensor"})
_KEEPS = _MAKES_FLOAT | {
    "array", "as_tensor", "asarray", "ascontiguousarray", "astype", "clamp", "clip", "clone", "contiguous", "convert",
    "copy", "cvtcolor", "div", "expand_dims", "flip", "fliplr", "flipud", "from_numpy", "fromarray", "hflip",
    "moveaxis", "mul", "permute", "rollaxis", "rot90", "sub", "swapaxes", "tensor", "transpose", "unsqueeze", "vflip",
}  # fmt: skip
"""Functions and methods that leave all numbers of an image, in small letters; those that make them 4 bytes long."""
_TRANSFORMS = re.compile(r"(?:^|\.)(?:ToTensor|Normalize)$")
"""Names of transforms that make numbers of 4 bytes of an image."""
_SMALL = r"(?i)half|float16|uint8|to_?tensor_?v2|pil_?to_?tensor|grayscale|gray"
"""Names of what leaves numbers of fewer bytes, or of fewer colours."""


def with_own_items(
    calls: Sequence[Call], loaders: Mapping[int, Site], sites: Collection[Site], loaded: Sequence[Loaded],
    evaluator: Evaluator,
) -> list[Call]:  # fmt: skip
    """Calls with the least bytes that an item of their datasets has, where the code tells them for sure.

    ``loaders`` are those that make loaders, by their places among the calls; ``loaded`` are the program's modules.
    """
    made = any(map(may_create_items, loaded))
    found = _with_created_items(calls, loaders, sites, evaluator) if made else list(calls)
    if not any("resize" in module.source.text for module in loaded):
        return found  # and no module is parsed for its dataset
    shapes: dict[int, tuple[tuple[int, ...], Span] | None] = {}
    for at, site in loaders.items() if not any(map(_may_shrink, sites)) else ():
        row = found[at].row
        owned = _dataset(site, evaluator) if not row.item and row.call.startswith("torch.utils.data.") else None
        if owned is not None and id(owned[0]) not in shapes:
            shapes[id(owned[0])] = _shape(*owned, sites, evaluator)
        known = shapes[id(owned[0])] if owned is not None else None
        if known is not None:
            found[at] = found[at]._replace(row=row._replace(item=(_FLOAT, *known[0]), least=True), resized=known[1])
    return found


def _with_created_items(
    calls: Sequence[Call], loaders: Mapping[int, Site], sites: Collection[Site], evaluator: Evaluator
) -> list[Call]:
    """Calls with the items that their datasets make of a shape which is written there."""
    found = list(calls)
    for at, site in loaders.items() if not default_may_differ(sites) else ():
        row = found[at].row
        given = _given(site, evaluator) if not row.item and row.call.startswith("torch.utils.data.") else None
        owned = _dataset(site, evaluator) if given is not None else None
        if given is not None:
            made = item_of_class(*owned, evaluator) if owned is not None else None
            made = made or (item_of_tensors(given, site.scope, evaluator) if owned is None else None)
            if made is not None:
                row = row._replace(item=made.shape, least=not made.whole)
                found[at] = found[at]._replace(row=row, resized=made.span)
    return found


def gives_what_it_holds(site: Site, evaluator: Evaluator) -> bool:
    """Whether the dataset of a loader only picks its items out of a list, names of files, say, or out of tensors.

    A size that images get elsewhere in the program is not that of its items.
    """
    made = calls_that_make(dataset_argument(site), site.scope, evaluator)
    if made and all(where.full_name(call.func) in TENSOR_DATASETS for call, where in made):
        return True
    owned = _dataset(site, evaluator)
    if owned is not None and _reduces(owned[0]):
        return True
    if owned is None or any(_resizes(node) or _is_sizing(node) for node in ast.walk(owned[0])):
        return False
    methods = list(methods_of(owned[0], ("__getitem__",), ast.walk))
    own = {method.name for method in methods}
    calls = [node for method in methods for node in ast.walk(method) if isinstance(node, ast.Call)]
    return bool(methods) and all(_picks(dotted(call.func), own) for call in calls)


def _reduces(owner: ast.ClassDef) -> bool:
    """Whether all that a dataset gives is made of its images by what leaves a few numbers: ``image.mean(dim=(1, 2))``.
    """
    method = next((m for m in owner.body if isinstance(m, ast.FunctionDef) and m.name == "__getitem__"), None)
    given = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)] if method is not None else []
    parts = [part for value in given for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    called = [part.func.attr for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)]
    return bool(called) and len(called) == len(parts) and _FEW.issuperset(called)


_FEW = frozenset({"argmax", "item", "max", "mean", "min", "std", "sum", "var"})


def _is_sizing(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in IMAGE_SIZE_CALLS


def _picks(name: str, own: Collection[str]) -> bool:
    """Whether a call makes nothing larger than a text or a number."""
    return name in _PICKS or name.startswith("os.path.") or name.removeprefix("self.") in own


_PICKS = frozenset(
    {"int", "float", "str", "len", "isinstance", "print", "min", "max", "random.choice", "random.randint"}
)


def _may_shrink(site: Site) -> bool:
    """Whether a call may make an image smaller, or make something that does: a transform after the dataset's own."""
    return re.search(_CUTS, site.name) is not None or site.name.rpartition(".")[2] in IMAGE_SIZE_CALLS


def _dataset(site: Site, evaluator: Evaluator) -> tuple[ast.ClassDef, Scope] | None:
    """The class of the dataset that a loader is given, where the repository has it, and nothing else makes batches."""
    given = _given(site, evaluator)
    owned = _classes(given, site.scope, evaluator) if given is not None else []
    return owned[0] if len({id(owner) for owner, _ in owned}) == 1 else None


def _given(site: Site, evaluator: Evaluator) -> ast.expr | None:
    """What a loader is given for its dataset, where nothing else makes batches of it."""
    names = {keyword.arg for keyword in site.node.keywords}
    if "collate_fn" in names or len(site.node.args) > _BEFORE:
        return None
    if None in names and evaluator.is_mentioned("collate_fn"):  # a mapping may give it
        return None
    return dataset_argument(site)


_BEFORE = 6
"""Arguments of a loader before the function that makes batches of items."""


def _classes(node: ast.expr, scope: Scope, evaluator: Evaluator) -> list[tuple[ast.ClassDef, Scope]]:
    """The classes of the datasets that an expression may be or hold; none where one of them is not known."""
    made = calls_that_make(node, scope, evaluator)
    found = [evaluator.definition(full_name(call, where), where) for call, where in made]
    owned = [(one[0], one[1]) for one in found if one is not None and isinstance(one[0], ast.ClassDef)]
    return owned if len(owned) == len(made) else []


def _shape(
    owner: ast.ClassDef, scope: Scope, sites: Collection[Site], evaluator: Evaluator
) -> tuple[tuple[int, ...], Span] | None:
    """The colours, height and width of the smallest image that the methods of a dataset surely make of 4 bytes each.

    And where they do so.
    """
    owner, written = _as_made(owner, scope, evaluator)
    methods = list(methods_of(owner, ("__getitem__",), lambda method: _surely_called(method.body)))
    nodes = [node for method in methods for node in ast.walk(method)]
    names = [dotted(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute)]
    names += [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    if any(re.search(_CUTS, name) or re.search(_SMALL, name) for name in names) or any(map(_is_cut, nodes)):
        return None
    by_transform = any(_TRANSFORMS.search(site.name) for site in sites)
    flow, own = _Flow(owner, by_transform), set(map(id, nodes))
    if not flow.returned("__getitem__", {}):
        return None
    if flow.transforms and any(_resizes(site.node) and id(site.node) not in own for site in sites):
        return None  # the transform may do so
    shapes = [
        (_size(node, written[method.name], evaluator), scope.span(node))
        for method in methods for node in _surely_called(method.body) if _resizes(node)
    ]  # fmt: skip
    if not shapes or not all(sides for sides, _ in shapes) or len(shapes) < sum(map(_resizes, nodes)):
        return None  # another one may come after those that are known
    smallest, place = min(shapes, key=lambda shape: shape[0][0] * shape[0][1])
    return (3 if _has_colours(nodes) else 1, *smallest), place


def _as_made(owner: ast.ClassDef, scope: Scope, evaluator: Evaluator) -> tuple[ast.ClassDef, dict[str, Scope]]:
    """A class whose methods have the branches that its objects surely take as plain statements: ``if self.size:``.

    And the scopes of its methods as they are written, by their names.
    """
    body: list[ast.stmt] = []
    written: dict[str, Scope] = {}
    for part in owner.body:
        if isinstance(part, ast.FunctionDef):
            inside = written[part.name] = scope._replace(function=part, owner=owner)
            plain = list(_without_branches(part.body, inside, evaluator))
            part = ast.copy_location(ast.FunctionDef(part.name, part.args, plain, part.decorator_list), part)
        body.append(part)
    return ast.copy_location(ast.ClassDef(owner.name, owner.bases, owner.keywords, body, []), owner), written


def _without_branches(body: Sequence[ast.stmt], scope: Scope, evaluator: Evaluator) -> Iterator[ast.stmt]:
    for statement in body:
        if not isinstance(statement, ast.If):
            yield statement
            continue
        found = evaluator.value(statement.test, scope)
        if found.certain and found.value not in (UNKNOWN, POSITIVE):
            yield from _without_branches(statement.body if found.value else statement.orelse, scope, evaluator)
        else:
            yield statement


def _surely_called(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """The calls of a function that no branch and no loop decides about."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _surely_called(statement.body)
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return):
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    yield node


def _resizes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).endswith("resize")


def _size(call: ast.Call, scope: Scope, evaluator: Evaluator) -> tuple[int, ...]:
    """The two sides that a call gives an image, in any order; nothing where they are not known."""
    name = scope.full_name(call.func)
    argument, position = _RESIZES.get(name, _OF_PIL)
    size = evaluator.argument(call, argument, position, None, scope)
    sides = size.value if isinstance(size.value, tuple) else (size.value, size.value)
    if not size.certain or len(sides) not in (2, 3) or name.startswith("numpy."):
        return ()
    known = tuple(side for side in sides[:2] if isinstance(side, int) and 0 < side < _LARGEST)
    return known if len(known) == 2 else ()


_LARGEST = 100_000


_MOST_METHODS = 100
_Kind = bool | None
"""Whether the numbers of a resized image surely have 4 bytes; None of what is no such image."""


class _Flow:
    """What becomes of a resized image in the methods of a dataset: only one that is returned is in a batch."""

    def __init__(self, owner: ast.ClassDef, by_transform: bool) -> None:
        self.methods = {node.name: node for node in owner.body if isinstance(node, Function)}
        self.by_transform = by_transform
        self.transforms = False
        """Whether an image goes through what is called a transform."""
        self.known: dict[tuple[str, tuple[tuple[str, bool], ...]], _Kind] = {}

    def returned(self, name: str, held: dict[str, bool]) -> _Kind:
        """What a method gives back whose names hold images."""
        key = name, tuple(sorted(held.items()))
        if key not in self.known and name in self.methods and len(self.known) < _MOST_METHODS:
            self.known[key] = None  # while it is looked at
            found: list[_Kind] = []
            self._read(self.methods[name].body, held, found, sure=True)
            self.known[key] = all(found) if found and None not in found else None
        return self.known.get(key)

    def _read(self, body: Sequence[ast.stmt], held: dict[str, bool], found: list[_Kind], *, sure: bool) -> None:
        for statement in body:
            if isinstance(statement, ast.Return):
                if sure or not _is_skipped(statement.value):
                    found.append(self._kind(statement.value, held) if statement.value is not None else None)
            elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and statement.value is not None:
                self._assign(statement, held, sure=sure)
            elif not isinstance(statement, Function | ast.ClassDef):
                if isinstance(statement, ast.For):
                    held.pop(dotted(statement.target), None)
                for part in ("body", "orelse", "finalbody"):
                    self._read(getattr(statement, part, ()), held, found, sure=sure and isinstance(statement, ast.With))
                for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                    self._read(inner.body, held, found, sure=False)

    def _assign(
        self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, held: dict[str, bool], *, sure: bool
    ) -> None:
        kind = self._kind(statement.value, held) if statement.value is not None else None
        if isinstance(statement, ast.AugAssign):
            before = held.get(dotted(statement.target))
            keeps = isinstance(statement.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
            kind = before or isinstance(statement.op, ast.Div) if keeps and before is not None else None
        for target in statement.targets if isinstance(statement, ast.Assign) else (statement.target,):
            if isinstance(target, ast.Subscript):  # a key of a mapping, or some numbers of an image
                name = dotted(target.value)
                if _is_image(target) and kind is None:
                    held.pop(name, None)
                elif kind is not None and sure:
                    held[name] = kind
                continue
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            for name in map(dotted, parts):
                if kind is None or len(parts) > 1:
                    held.pop(name, None)
                elif sure or name in held:
                    held[name] = kind and (sure or held[name])

    def _kind(self, node: ast.expr, held: Mapping[str, bool]) -> _Kind:
        if isinstance(node, ast.Name | ast.Attribute):
            return held.get(dotted(node))
        if isinstance(node, ast.Tuple | ast.List):
            return _best(self._kind(part, held) for part in node.elts)
        if isinstance(node, ast.Dict):
            return _best(self._kind(part, held) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            kind = _best((self._kind(node.left, held), self._kind(node.right, held)))
            return True if kind is not None and isinstance(node.op, ast.Div) else kind
        if isinstance(node, ast.Subscript):  # cuts are looked for elsewhere
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            whole = _is_image(node) or all(isinstance(p, ast.Slice) or _is_open(p) for p in parts)
            return self._kind(node.value, held) if whole else None
        return self._of_call(node, held) if isinstance(node, ast.Call) else None

    def _of_call(self, call: ast.Call, held: Mapping[str, bool]) -> _Kind:
        func = call.func.func if isinstance(call.func, ast.Call) else call.func  # ``ToTensor()(image)``
        last = (func.attr if isinstance(func, ast.Attribute) else dotted(func)).lower()
        given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg in ("image", "img"))]
        given += [func.value] if isinstance(func, ast.Attribute) else []
        kind = _best(self._kind(part, held) for part in given)
        if _resizes(call):
            return bool(kind)
        own = dotted(func).removeprefix("self.")
        if own in self.methods and dotted(func) != own:
            named = [parameter.arg for parameter in self.methods[own].args.args[1:]]
            passed = zip(named, call.args, strict=False)
            known = {name: kind for name, part in passed if (kind := self._kind(part, held)) is not None}
            return self.returned(own, known)
        if kind is None or not (last in _KEEPS or "transform" in last):
            return None
        self.transforms = self.transforms or "transform" in last
        types = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "dtype")]
        typed = any("float" in (str(t.value) if isinstance(t, ast.Constant) else dotted(t)) for t in types)
        return kind or last in _MAKES_FLOAT or typed or ("transform" in last and self.by_transform)


def _is_skipped(node: ast.expr | None) -> bool:
    """Whether a method gives back nothing, or another item: ``return self[at + 1]``."""
    again = isinstance(node, ast.Subscript) and dotted(node.value) == "self"
    again = again or (isinstance(node, ast.Call) and dotted(node.func) == "self.__getitem__")
    return again or node is None or isinstance(node, ast.Constant)


def _best(kinds: Iterable[_Kind]) -> _Kind:
    known = [kind for kind in kinds if kind is not None]
    return any(known) if known else None


def _is_image(node: ast.Subscript) -> bool:
    """Whether the key of a mapping is called after an image."""
    return isinstance(node.slice, ast.Constant) and node.slice.value in ("image", "img", "pixel_values")


def _is_open(node: ast.expr) -> bool:
    """``None`` or ``...`` in an index, which leave all there is."""
    return isinstance(node, ast.Constant) and node.value in (None, ...)


def _is_cut(node: ast.AST) -> bool:
    """Whether a part of an image is taken: ``image[top:bottom, left:right]``, ``image[::2]``; not ``image[::-1]``."""
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    return any(part.lower or part.upper or isinstance(part.step, ast.Constant | ast.Name) for part in slices)


def _has_colours(nodes: list[ast.AST]) -> bool:
    """Whether an image is read that surely has three colours; another one beside it only adds to it."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    read = any(dotted(call.func) == "cv2.imread" and len(call.args) == 1 and not call.keywords for call in calls)
    converted = (call.args[0] for call in calls if dotted(call.func).endswith("convert") and call.args)
    return read or any(isinstance(mode, ast.Constant) and mode.value == "RGB" for mode in converted)
