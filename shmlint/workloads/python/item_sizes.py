"""What transforms leave of an image: the last step of a chain, and the share of its bytes that it may have at least."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from shmlint.model.source import Span
from shmlint.syntax.python import dotted
from shmlint.workloads.packages.libraries import IMAGE_SIZE_CALLS, KNOWN_ITEMS, VOLUME_SIZE_CALLS
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.given_datasets import calls_that_make, dataset_argument
from shmlint.workloads.python.loaded import Loaded
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.values import Scope

Shapes = Mapping[int, tuple[tuple[int, ...], Span]]
"""What calls tell of the shape of an item, and where, by their ids."""
_CHAINS = frozenset({"Compose", "Sequential", "ImageSequential", "AugmentationSequential"})
"""Calls that apply transforms one after the other."""
_SIZING = frozenset({*IMAGE_SIZE_CALLS, *VOLUME_SIZE_CALLS})
_ONE_COLOUR = re.compile(r"Grayscale|to_gray|IMREAD_GRAYSCALE|COLOR_\w+2GRAY|\.convert\(\s*[\"'](?:L|1)[\"']\s*\)")
"""What leaves an image one colour of three."""
_SMALL_NUMBERS = re.compile(
    r"PILToTensor|pil_to_tensor|(?:ConvertImageDtype|ToDtype)\(\s*torch\.(?:float16|half|uint8)"
)
"""What leaves the numbers of an image one or two bytes."""
_READS_BYTES = re.compile(r"\b(?:read_image|decode_(?:image|jpeg|png|webp|gif))\b")
"""What of torchvision.io reads an image as numbers of one byte, which its transforms keep.

https://docs.pytorch.org/vision/stable/generated/torchvision.io.decode_image.html
"""
_MAKES_FLOATS = re.compile(
    r"\b(?:ToTensor|to_tensor|Normalize|normalize|[Cc]onvert_?[Ii]mage_?[Dd]type|ToDtype|to_dtype)\b"
)
_TRANSFORMS = "torchvision.transforms."


def early_steps(loaded: Sequence[Loaded]) -> frozenset[int]:
    """The calls, by their ids, whose size a later step of their chain changes: the first one of
    ``Compose([Resize(256), CenterCrop(224)])``."""
    return frozenset(id(step) for one in loaded for step in _early(one))


_GROW = frozenset({"Pad", "PadIfNeeded", "RandomZoomOut", "ScaleJitter", "Lambda", "LambdaD", "Lambdad"})
"""Transforms that may make an image larger than the step before them does, or run code that does."""
_LEAVE = _SIZING | {
    "AutoAugment", "ColorJitter", "ConvertImageDtype", "GaussianBlur", "Grayscale", "Normalize", "PILToTensor",
    "RandAugment", "RandomAffine", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomRotation",
    "RandomVerticalFlip", "ToDtype", "ToImage", "ToPILImage", "ToTensor", "TrivialAugmentWide",
}  # fmt: skip
"""Transforms of torchvision that leave the size of an image or give it one, where their module is not known."""
_GROWS = re.compile(r"(?i)resiz|interpol|pad|zoom|upsample|repeat|tile|expand")
"""Names in a transform of the repository's own that may make an image larger."""
_PUT_LATER = re.compile(r"\.transform(?<!self\.transform)s?\s*=(?!=)")  # a literal start is found much sooner


def grown_later(loaded: Sequence[Loaded]) -> frozenset[int]:
    """The calls, by their ids, behind whose size a step of their chain may make an image larger again."""
    return frozenset(id(step) for one in loaded for node in one.module.nodes for step in _grown(node))


def _grown(node: ast.AST) -> Iterator[ast.Call]:
    calls = [step for step in _steps(node) or () if isinstance(step, ast.Call)]
    for at, step in enumerate(calls):
        later = (dotted(other.func).rpartition(".")[2] for other in calls[at + 1 :])
        if _sizes(step) and not _GROW.isdisjoint(later):
            yield step


def gets_other_transforms(loaded: Sequence[Loaded]) -> bool:
    """Whether a program gives a dataset another transform after it was made: ``data.transform = T.Resize(224)``."""
    return any(_PUT_LATER.search(one.source.text) for one in loaded)


def leave_size(site: Site, evaluator: Evaluator) -> bool:
    """Whether the transforms of a dataset of torchvision, whose items have a known size, surely make none larger.

    A step that gives a size is looked at by itself.
    """
    given = [keyword.value for keyword in site.node.keywords if keyword.arg in ("transform", "transforms")]
    given += [part for part in site.node.args[2:3] if not isinstance(part, ast.Constant)]
    return all(_leaves_size(part, site.scope, evaluator) for part in given)


def _leaves_size(node: ast.expr, scope: Scope, evaluator: Evaluator) -> bool:
    if isinstance(node, ast.IfExp):
        return all(_leaves_size(part, scope, evaluator) for part in (node.body, node.orelse))
    steps = _chain(node, scope, evaluator)
    if steps is not None:
        return all(_keeps(step, scope, evaluator) for step in steps)
    return _keeps(node, scope, evaluator)


def _keeps(step: ast.expr, scope: Scope, evaluator: Evaluator) -> bool:
    """Whether a step is one of torchvision that leaves the size or gives one, or code of the repository that has none.
    """
    called = step.func if isinstance(step, ast.Call) else step
    if isinstance(step, ast.Constant):
        return step.value is None
    last = dotted(called).rpartition(".")[2]
    if scope.full_name(called).startswith(_TRANSFORMS):
        return last not in _GROW
    if last in _LEAVE:
        return True
    own = evaluator.definition(scope.full_name(called), scope)
    names = (dotted(n) for n in ast.walk(own[0]) if isinstance(n, ast.Name | ast.Attribute)) if own is not None else ()
    return own is not None and not any(_GROWS.search(name) for name in names)


def _early(one: Loaded) -> Iterator[ast.Call]:
    for node in one.module.nodes:
        steps = _steps(node)
        yield from [step for step in steps or () if isinstance(step, ast.Call) and _sizes(step)][:-1]


def _steps(node: ast.AST) -> list[ast.expr] | None:
    """The steps of a chain of transforms; None of anything else."""
    if not isinstance(node, ast.Call) or dotted(node.func).rpartition(".")[2] not in _CHAINS:
        return None
    first = node.args[0] if len(node.args) == 1 else None
    return first.elts if isinstance(first, ast.List | ast.Tuple) else node.args


def _sizes(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] in _SIZING


def least_share(loaded: Sequence[Loaded]) -> float:
    """The share of the bytes of three colours in floats that an image of a program has at least."""
    texts = [one.source.text for one in loaded]
    # albumentations' ToTensorV2 leaves the numbers of a picture as they are; its Normalize makes floats.
    whole = any("ToTensorV2" in text and "Normalize" not in text for text in texts)
    small = whole or any(_SMALL_NUMBERS.search(text) for text in texts)
    read = any(_READS_BYTES.search(text) for text in texts)
    small = small or (read and not any(_MAKES_FLOATS.search(text) for text in texts))
    gray = any(_ONE_COLOUR.search(text) for text in texts)
    return (1 / 4 if small else 1) * (1 / 3 if gray else 1)


def items_of_loader(site: Site, shapes: Shapes, evaluator: Evaluator) -> tuple[tuple[tuple[int, ...], Span], ...]:
    """The shapes of the items that a loader's datasets of torchvision have, each by its own transform.

    None of them where one is not known.
    """
    made = calls_that_make(dataset_argument(site), site.scope, evaluator)
    found = [_of_dataset(call, scope, shapes, evaluator) for call, scope in made]
    known = [item for item in found if item is not None]
    return tuple(known) if len(known) == len(found) else ()


def _of_dataset(
    call: ast.Call, scope: Scope, shapes: Shapes, evaluator: Evaluator
) -> tuple[tuple[int, ...], Span] | None:
    """The shape of an item of a dataset of torchvision: that of its transform's last step with a size, else its own."""
    if not scope.full_name(call.func).startswith("torchvision.datasets."):
        return None
    given = [keyword.value for keyword in call.keywords if keyword.arg in ("transform", "transforms")]
    positional = [chain for part in call.args if (chain := _chain(part, scope, evaluator)) is not None]
    chains = positional + [_chain(part, scope, evaluator) for part in given]
    if len(chains) > 1 or any(keyword.arg is None for keyword in call.keywords):
        return None
    own = KNOWN_ITEMS.get(dotted(call.func).rpartition(".")[2])
    if not chains:
        return (own, scope.span(call)) if own is not None and len(call.args) <= 1 else None
    steps = chains[0]
    if steps is None or not all(isinstance(step, ast.Call) for step in steps):
        return None
    sizing = [step for step in steps if isinstance(step, ast.Call) and _sizes(step)]
    if sizing:
        found = shapes.get(id(sizing[-1]))
        gray = found is not None and own is not None and own[0] == 1
        return ((1, *found[0][1:]), found[1]) if gray and found is not None else found
    return (own, scope.span(call)) if own is not None else None


def _chain(node: ast.expr, scope: Scope, evaluator: Evaluator) -> list[ast.expr] | None:
    """The steps of the only chain that an expression stands for; a transform alone is one, too."""
    if isinstance(node, ast.Name | ast.Attribute):
        given = evaluator.given_to(node, scope)
        node, scope = given[0] if len(given) == 1 else (node, scope)
    steps = _steps(node)
    alone = steps is None and isinstance(node, ast.Call) and scope.full_name(node.func).startswith(_TRANSFORMS)
    return [node] if alone else steps
