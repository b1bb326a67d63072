"""What loaders of detectron2 have: the numbers that their configuration says, and the least that is in their items.

https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/data/build.py
"""

from __future__ import annotations

import ast

from shmlint.workloads.packages.libraries import Row
from shmlint.workloads.python.assignments import Function
from shmlint.workloads.python.evaluator import Evaluator
from shmlint.workloads.python.reach import Site
from shmlint.workloads.python.reading import Call
from shmlint.workloads.python.values import NOTHING, UNKNOWN, Found, changed

_KEYS = {"NUM_WORKERS": ("DATALOADER", "num_workers"), "IMS_PER_BATCH": ("SOLVER", "total_batch_size")}
"""Where the configuration has what counts workers and items, and the keyword that comes before it."""
_TRAINER = "DefaultTrainer"
_LOADER = "build_detection_train_loader"


def is_counted(row: Row, name: str) -> bool:
    """Whether the number of that name is one of detectron2's configuration."""
    return row.call.startswith("detectron2.") and row.configured and name in _KEYS


def counted(row: Row, name: str, site: Site, evaluator: Evaluator) -> Found:
    """What the configuration says that a call of detectron2 is given; a guess by the name where it is not known."""
    section, keyword = _KEYS[name]
    if any(given.arg == keyword for given in site.node.keywords):
        return evaluator.argument(site.node, keyword, -1, None, site.scope)
    found = _of(section, name, site, evaluator)
    if found is not None and found.value is not UNKNOWN:
        return found._replace(spans=found.spans or (site.span,))
    default = row.default if name == row.argument else row.batch_default
    default = default if found is None else None  # else it was given another value
    return changed(evaluator.configured(name, default, site.span))


def _of(section: str, key: str, site: Site, evaluator: Evaluator) -> Found | None:
    """What the configuration has that a call is given; None where it is not followed."""
    cfg = next((given.value for given in site.node.keywords if given.arg == "cfg"), None)
    cfg = site.node.args[0] if site.node.args else cfg
    if cfg is None or evaluator.configurations is None:
        return None
    node = ast.copy_location(ast.Attribute(cfg, section, ast.Load()), cfg)
    return evaluator.configurations.found(node, key, site.scope)


def sized(call: Call, site: Site, evaluator: Evaluator) -> Call:
    """A loader to train, with its batches, and the least that is in an image of it.

    The loader hands over single images where these are grouped by their shapes, which is the default; those of the
    batch that is made of them stay there. The number of them in all ranks is what the configuration says. Images are
    bytes that are made so large that their shorter side is one of ``MIN_SIZE_TRAIN``. Where the longer one would exceed
    ``MAX_SIZE_TRAIN`` they are smaller, but not less than a square of the shorter one in all: for sides up to 25:9.
    """
    last = call.row.call.rpartition(".")[2]
    if not call.row.call.startswith("detectron2.") or last not in (_TRAINER, _LOADER):
        return call
    grouped = _of("DATALOADER", "ASPECT_RATIO_GROUPING", site, evaluator) or NOTHING
    images, call = call.batch, call._replace(row=call.row._replace(least=True))
    if not grouped.certain or not images.certain or not images.number or _has_own_mapper(last, site, evaluator):
        return call
    sides = _of("INPUT", "MIN_SIZE_TRAIN", site, evaluator) or NOTHING
    longest = _of("INPUT", "MAX_SIZE_TRAIN", site, evaluator) or NOTHING
    values = sides.value if isinstance(sides.value, tuple) else (sides.value,)
    numbers = [one for one in values if isinstance(one, int) and 0 < one < 100_000]
    if sides.certain and longest.certain and len(numbers) == len(values) and max(numbers) <= (longest.number or 0):
        call = call._replace(row=call.row._replace(item=(3, min(numbers), min(numbers))))
    if not grouped.value:
        return call
    return call._replace(batch=images._replace(value=1), kept=images.number)


def _has_own_mapper(last: str, site: Site, evaluator: Evaluator) -> bool:
    """Whether the images may be made by other code than detectron2's."""
    if last == _LOADER:
        return len(site.node.args) > 1 or any(given.arg in (None, "mapper", "dataset") for given in site.node.keywords)
    found = evaluator.definition(site.name, site.scope)
    if found is None or not isinstance(found[0], ast.ClassDef):
        return False
    owners = evaluator.lineage.above(found[1]._replace(owner=found[0]))
    methods = {part.name for owner, _ in owners for part in owner.body if isinstance(part, Function)}
    return not methods.isdisjoint({"build_train_loader", "__init__"})
