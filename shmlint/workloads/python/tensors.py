"""Tensors that code hands to other processes, or collects in one item of a dataset: both take more than one of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from shmlint.model.source import Span
from shmlint.syntax.python import Module, dotted
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.values import Scope

_QUEUES = frozenset({"Queue", "SimpleQueue", "JoinableQueue", "Pipe"})
_POOLS = frozenset({"Pool", "ProcessPoolExecutor"})
_PUTS = frozenset({"put", "put_nowait", "send"})
MAPS = frozenset({
    "map", "imap", "imap_unordered", "starmap", "map_async", "starmap_async", "apply", "apply_async", "submit",
})  # fmt: skip
_TORCH = frozenset({"torch", "torchvision", "torchaudio", "kornia"})
_NO_TENSOR = frozenset(
    {"numpy", "tolist", "item", "shape", "dtype", "device", "size", "dim", "numel", "cuda", "distributed", "save"}
)
"""What is made of a tensor, or by PyTorch, and is none."""
_MOST_PARTS = 500
"""Parts of an expression, and values of its names, in which a tensor is looked for."""


def passed_tensors(sites: Iterable[Site], evaluator: Evaluator) -> Iterator[Span]:
    """The places where a tensor is put into a queue of Python's processes, or is what a function in a pool returns.

    ``import torch`` teaches Python's own queues to pass tensors through shared memory.
    """
    sites = list(sites)
    queues = any(_is_of_processes(site, _QUEUES) for site in sites)
    pools = {id(site.scope.module) for site in sites if _is_of_processes(site, _POOLS)}
    for site in sites if queues or pools else ():
        last = site.name.rpartition(".")[2]
        if queues and last in _PUTS and site.node.args and _is_tensor(site.node.args[0], site.scope, evaluator):
            yield site.span
        elif last in MAPS and id(site.scope.module) in pools and site.node.args:
            found = evaluator.definition(site.scope.full_name(site.node.args[0]), site.scope)
            if found is not None and isinstance(found[0], ast.FunctionDef):
                yield from _returned_tensors(found[0], found[1], evaluator)


def _is_of_processes(site: Site, names: frozenset[str]) -> bool:
    """Whether a call makes a queue or a pool of processes: of the module, or of a context that it made."""
    head, _, last = site.name.rpartition(".")
    if last not in names or head.endswith(("dummy", "multiprocessing.pool")) or "torch" in head:
        return False
    root = site.name.partition(".")[0]
    packages = {target.partition(".")[0] for target in site.scope.module.imports.values()}
    return root in ("multiprocessing", "concurrent") or (root not in packages and "multiprocessing" in packages)


def _returned_tensors(function: ast.FunctionDef, scope: Scope, evaluator: Evaluator) -> Iterator[Span]:
    inside = scope._replace(function=function)
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None and _is_tensor(node.value, inside, evaluator):
            yield inside.span(node)


def _is_tensor(node: ast.expr, scope: Scope, evaluator: Evaluator) -> bool:
    """Whether an expression surely has a tensor, as far as that is written. Each part is looked at once."""
    seen = {id(node)}
    pending = [(node, scope)]
    for part, where in pending:  # grows while it is walked
        if isinstance(part, ast.Call) and _is_of_torch(part, where):
            if _NO_TENSOR.isdisjoint(where.full_name(part.func).split(".")):
                return True
            continue
        for inner in _parts(part, where, evaluator):
            if id(inner[0]) not in seen and len(seen) < _MOST_PARTS:
                seen.add(id(inner[0]))
                pending.append(inner)
    return False


def _is_of_torch(call: ast.Call, scope: Scope) -> bool:
    named = isinstance(call.func, ast.Name | ast.Attribute)
    return named and scope.full_name(call.func).partition(".")[0] in _TORCH


def _parts(node: ast.expr, scope: Scope, evaluator: Evaluator) -> Sequence[tuple[ast.expr, Scope]]:
    """What an expression has, is made from, or stands for."""
    if isinstance(node, ast.Name):
        return evaluator.given_to(node, scope) or [(value, scope) for value in _first_of(node.id, scope)]
    parts: Sequence[ast.expr] = ()
    if isinstance(node, ast.Tuple | ast.List):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.values
    elif isinstance(node, ast.BinOp):
        parts = (node.left, node.right)
    elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr not in _NO_TENSOR):
        parts = (node.value,)
    elif isinstance(node, ast.Call):
        parts = (node.func,)
    return [(part, scope) for part in parts]


def _first_of(name: str, scope: Scope) -> Iterator[ast.expr]:
    """The values whose first part a function gives a name: ``wave, rate = torchaudio.load(path)``."""
    for node in ast.walk(scope.function) if scope.function is not None else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        first = target.elts[0] if isinstance(target, ast.Tuple | ast.List) and target.elts else None
        if isinstance(node, ast.Assign) and isinstance(first, ast.Name) and first.id == name:
            yield node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value


def collects_images(module: Module) -> bool:
    """Whether items of a dataset may have several images: frames of a video, crops, views; not all are written down."""
    if not _VIDEO.isdisjoint(target.partition(".")[0] for target in module.imports.values()):
        return True
    if any(dotted(node.func).rpartition(".")[2] in _SEVERAL for node in module.nodes if isinstance(node, ast.Call)):
        return True
    return any(_collects(node) for function in _making(module) for node in ast.walk(function))


def reads_items(module: Module) -> bool:
    """Whether a dataset of a module reads its items from files."""
    calls = (node for function in _making(module) for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(_OPENS.search(dotted(call.func)) for call in calls)


def makes_arrays(function: ast.FunctionDef) -> bool:
    """Whether a function that makes batches puts arrays of NumPy together, and makes no tensors of them."""
    names = {dotted(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    return not names.isdisjoint(_STACKS) and _MAKES_TENSORS.isdisjoint(name.rpartition(".")[2] for name in names)


_STACKS = frozenset(f"{package}.{name}" for package in ("np", "numpy") for name in ("stack", "concatenate", "array"))
_MAKES_TENSORS = frozenset(
    {"from_numpy", "tensor", "as_tensor", "Tensor", "FloatTensor", "LongTensor", "IntTensor", "ByteTensor",
     "BoolTensor", "default_collate", "collate", "pad_sequence", "to_tensor", "ToTensor", "map_structure", "tree_map"}
)  # fmt: skip


def classes_of_datasets(module: Module) -> list[ast.ClassDef]:
    """The classes of a module that make items."""
    owners = (node for node in module.nodes if isinstance(node, ast.ClassDef))
    return [owner for owner in owners if any(getattr(part, "name", "") == "__getitem__" for part in owner.body)]


def _making(module: Module) -> Iterator[ast.FunctionDef]:
    """The methods that make the items of datasets, or change them, and those that they call."""
    for owner in (node for node in module.nodes if isinstance(node, ast.ClassDef)):
        yield from methods_of(owner, _MAKES_ITEMS, ast.walk)


def methods_of(
    owner: ast.ClassDef, first: Sequence[str], parts: Callable[[ast.FunctionDef], Iterable[ast.AST]]
) -> Iterator[ast.FunctionDef]:
    """Some methods of a class, and those of it that they call among the ``parts`` of each that count."""
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
    pending = [name for name in first if name in methods]
    for name in pending:  # grows while it is walked
        yield methods[name]
        called = (dotted(part.func) for part in parts(methods[name]) if isinstance(part, ast.Call))
        names = (other.removeprefix("self.") for other in called)
        pending += sorted({other for other in names if other in methods}.difference(pending))


def adds_to_tokens(module: Module) -> bool:
    """Whether what makes items or batches of a module may put more into them than a few numbers for each token.

    That are images and other arrays, several texts, or a number for each pair of tokens or each word.
    """
    batches = (node for node in module.nodes if isinstance(node, ast.FunctionDef) and "collate" in node.name.lower())
    return any(_is_more(node) for function in (*_making(module), *batches) for node in ast.walk(function))


def _is_more(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        sides = [ast.dump(side) for side in node.args[:4]] if name.endswith((".ones", ".zeros", ".full")) else []
        return len(set(sides)) < len(sides) or name in ("np.load", "numpy.load", "torch.load", "pickle.load")
    names = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.Constant: "value"}
    return re.search(_BESIDE_TOKENS, str(getattr(node, names.get(type(node), ""), ""))) is not None


_BESIDE_TOKENS = (
    r"(?i)image|pixel|video|audio|waveform|spectrogram|(?:^|_)mels?(?:_|$)|feature|embedding|logit|tri[lu]$|one_hot"
    r"|negatives|passages|candidates|choices"
)
_VIDEO = frozenset({"decord", "av", "pytorchvideo"})
"""Packages that read videos; their import names."""
_SEVERAL = frozenset(
    {"TenCrop", "FiveCrop", "Kinetics", "UCF101", "HMDB51", "MovingMNIST", "read_video", "VideoReader"}
)
"""Transforms, datasets and readers of torchvision that give several images at once."""
_MAKES_ITEMS = ("__getitem__", "__iter__", "__call__")
_READS = r"(?i)open|imread|image|frame|transform|resize|crop|augment|totensor|to_tensor|self\.\w$"
"""Names of what makes images, and those with one letter, which are often transforms."""
_OPENS = re.compile(r"(?i)open|imread|load|\bread|File$")


def _collects(node: ast.AST) -> bool:
    """Whether code makes a list or a mapping of images, by a comprehension or one after the other, or masks of classes.
    """
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _makes_image(node.elt)
    if isinstance(node, ast.DictComp):
        return _makes_image(node.value)
    if isinstance(node, ast.Call):
        return dotted(node.func).endswith(("VideoCapture", "one_hot"))
    if not isinstance(node, ast.For):
        return False
    added: list[ast.expr] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "append":
            added += inner.args
        elif isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Subscript):
            added.append(inner.value)
    return any(map(_makes_image, added))


def _makes_image(node: ast.expr) -> bool:
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(re.search(_READS, dotted(call.func)) for call in calls)
