"""How large a dataset of the repository makes its images at least, where its own methods resize them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from shmlint.syntax.python import dotted
from shmlint.workloads.assignments import Function
from shmlint.workloads.evaluator import Evaluator
from shmlint.workloads.loaded import Loaded
from shmlint.workloads.python_reading import Call
from shmlint.workloads.reach import Site
from shmlint.workloads.values import Scope

_FLOAT = 4
"""Bytes of a number in a batch."""
_RESIZES = {
    "cv2.resize": ("dsize", 1), "torchvision.transforms.functional.resize": ("size", 1),
    "skimage.transform.resize": ("output_shape", 1),
}  # fmt: skip
"""Functions that give an image a size, and the argument that is the size. PIL's is a method of the image."""
_OF_PIL = ("size", 0)
_CUTS = re.compile(r"(?i)crop|patch|slice|pyrdown|thumbnail|interpolate|zoom|rescale")
"""Names of what makes an image smaller."""
_MAKES_FLOAT = re.compile(r"(?i)(?:^|\.)(?:to_?tensor|normalize|float|float32|floattensor)$")
_TRANSFORMS = re.compile(r"(?:^|\.)(?:ToTensor|Normalize)$")
"""Names of what makes numbers of 4 bytes of an image, and of transforms that do."""
_SMALL = re.compile(r"(?i)half|float16|uint8|to_?tensor_?v2|pil_?to_?tensor|grayscale|gray")
"""Names of what leaves numbers of fewer bytes, or of fewer colours."""


def with_own_items(
    calls: Sequence[Call], loaders: Mapping[int, Site], sites: Collection[Site], loaded: Sequence[Loaded],
    evaluator: Evaluator,
) -> list[Call]:  # fmt: skip
    """Calls with the least bytes that an item of their datasets has, where the code tells them for sure.

    ``loaders`` are those that make loaders, by their places among the calls; ``loaded`` are the program's modules.
    """
    found = list(calls)
    if not any("resize" in module.source.text for module in loaded):
        return found  # and no module is parsed for its dataset
    for at, site in loaders.items() if not any(_CUTS.search(one.name) for one in sites) else ():
        row = found[at].row
        owned = _dataset(site, evaluator) if not row.item and row.call.startswith("torch.utils.data.") else None
        shape = _shape(*owned, sites, evaluator) if owned is not None else ()
        if shape:
            found[at] = found[at]._replace(row=row._replace(item=(_FLOAT, *shape), least=True))
    return found


def _dataset(site: Site, evaluator: Evaluator) -> tuple[ast.ClassDef, Scope] | None:
    """The class of the dataset that a loader is given, where the repository has it."""
    given = next(iter(site.node.args), None)
    given = next((keyword.value for keyword in site.node.keywords if keyword.arg == "dataset"), given)
    owned = _classes(given, site.scope, evaluator, 0) if given is not None else None
    return owned[0] if owned and len({id(owner) for owner, _ in owned}) == 1 else None


def _classes(node: ast.expr, scope: Scope, evaluator: Evaluator, depth: int) -> list[tuple[ast.ClassDef, Scope]] | None:
    """The classes of the datasets that an expression may be or hold; None where one of them is not known."""
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        name = name if name in scope.module.definitions else scope.full_name(node.func)
        found = evaluator.definition(name, scope)
        if found is not None and isinstance(found[0], ast.ClassDef):
            return [(found[0], found[1])]
        inner = node.args[:1] if found is None and name in _PARTS_OF else []
        parts = [(part, scope) for part in inner]
    elif isinstance(node, ast.Name | ast.Attribute):
        parts = evaluator.given_to(node, scope) or _unpacked(node, scope)
    else:
        parts = [(part, scope) for part in _held(node)]
    known = [_classes(part, where, evaluator, depth + 1) for part, where in parts] if depth < _DEEPEST else []
    if not known or any(classes is None for classes in known):
        return None
    return [owned for classes in known for owned in classes or ()]


_DEEPEST = 8
_PARTS_OF = frozenset({"torch.utils.data.random_split", "torch.utils.data.Subset", "torch.utils.data.dataset.Subset"})
"""Calls that take some of the items of a dataset."""


def _unpacked(node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]]:
    """What a name is one part of, where it gets its value there alone: ``train, test = random_split(data, sizes)``."""
    code = scope.function or scope.module.tree
    assigned = (one for one in ast.walk(code) if isinstance(one, ast.Assign))
    names = [(target, one.value) for one in assigned for target in one.targets if isinstance(target, ast.Tuple)]
    values = [value for target, value in names if dotted(node) in map(dotted, target.elts)]
    return [(value, scope) for value in values if isinstance(value, ast.Call) and len(values) == 1]


def _held(node: ast.expr) -> list[ast.expr]:
    """What a list or a mapping holds, or an expression is in either case."""
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.DictComp):
        return [node.value]
    if isinstance(node, ast.Dict):
        return node.values
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else []


def _shape(
    owner: ast.ClassDef, scope: Scope, sites: Collection[Site], evaluator: Evaluator
) -> tuple[int, ...]:
    """The colours, height and width of the smallest image that the methods of a dataset surely make of 4 bytes each."""
    methods = list(_making(owner))
    nodes = [node for method in methods for node in ast.walk(method)]
    names = [dotted(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute)]
    names += [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    if any(_CUTS.search(name) or _SMALL.search(name) for name in names) or any(map(_is_cut, nodes)):
        return ()
    transforms = any("transform" in name.lower() for name in names)
    by_transform = transforms and any(_TRANSFORMS.search(site.name) for site in sites)
    if not by_transform and not any(_MAKES_FLOAT.search(name) for name in names) and not any(map(_divides, nodes)):
        return ()
    shapes = [
        _size(node, scope._replace(function=method, owner=owner), evaluator)
        for method in methods for node in _surely_called(method.body) if _resizes(node)
    ]  # fmt: skip
    if not all(shapes) or len(shapes) < sum(map(_resizes, nodes)):
        return ()  # another one may come after those that are known
    smallest = min(shapes, key=_area, default=())
    return (3 if _has_colours(nodes) else 1, *smallest) if smallest else ()


def _area(sides: tuple[int, ...]) -> int:
    return sides[0] * sides[1]


def _making(owner: ast.ClassDef) -> Iterator[Function]:
    """The method that makes an item, and those of the class that it surely calls."""
    methods = {node.name: node for node in owner.body if isinstance(node, Function)}
    pending = ["__getitem__"] if "__getitem__" in methods else []
    for name in pending:  # grows while it is walked
        yield methods[name]
        called = (dotted(node.func).removeprefix("self.") for node in _surely_called(methods[name].body))
        pending += sorted({other for other in called if other in methods}.difference(pending))


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


def _divides(node: ast.AST) -> bool:
    """Whether the colours of an image become fractions: ``image / 255``."""
    by = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else None
    return isinstance(by, ast.Constant) and by.value in (255, 127.5)


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
