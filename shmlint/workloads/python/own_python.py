"""What a Python file or a notebook says, imports, and whether it trains or loads data: by its syntax tree."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import repeat

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import EMPTY, Module, dotted, parse, switches_mode


class Looked(NamedTuple):
    """What a file imports and calls, and whether it trains or loads data."""

    packages: frozenset[str]
    called: frozenset[str]
    """The dotted names of what it calls, imports followed; without trainers on one device."""
    works: bool
    steps: bool
    """Whether it has loaders of PyTorch, or trains step by step, by itself or with the trainer of transformers."""
    filled: bool
    """Whether a loader gets workers by position, without a word of it."""
    mapped: bool
    """Whether a loader is given a mapping, which may be out of a file of JSON."""
    reads: bool
    """Whether it reads JSON."""
    functions: frozenset[str]
    """The names of its functions that are written with several words."""
    given: frozenset[str]
    """The names by which its calls are given something."""
    uses: bool
    """Whether it loads or asks a model."""
    trains: bool
    """Whether it calls what is named training."""
    loads: bool
    """Whether it calls a loader that is not a class of its own."""
    length: int
    """Characters of its code, in a notebook without what that shows."""


@lru_cache(maxsize=256)  # for what the code of a container says, in several ways
def look(path: str, text: str) -> Looked | None:
    """What a file imports and does; None where it is no Python."""
    module = module_of(path, text)
    if module is None:
        return None if path.endswith(".ipynb") else _unparsed(text)
    targets = (*module.imports.values(), *module.stars)
    packages = {target.partition(".")[0] for target in targets if re.fullmatch(_PREDICTS, target) is None}
    if any(target.startswith("detectron2.") for target in targets):
        packages.add("torch")  # it brings it
    packages.discard("")  # modules next to the file
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    called = frozenset(_full_name(node.func, module) for node in calls if not _has_one_device(node))
    reads = not called.isdisjoint({"json.load", "json.loads"})
    loaders = [node for node in calls if _is_loader(node, module)]
    steps = bool(loaders) or any(map(_has_steps, calls, repeat(module)))
    mapped = any(keyword.arg is None for node in loaders for keyword in node.keywords)
    filled = any(map(_is_filled, loaders))
    defined = (node.name for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    functions = frozenset(name.lower() for name in defined if "_" in name.strip("_"))
    given = frozenset(keyword.arg.lower() for node in calls for keyword in node.keywords if keyword.arg)
    works = any(map(_works, module.nodes))
    uses, trains = any(_uses_model(node, module) for node in calls), any(map(_calls_training, calls))
    loads = any(_loads(node, module) for node in calls)
    return Looked(
        frozenset(packages), called, works, steps, filled, mapped, reads, functions, given, uses, trains, loads,
        module.starts[-1],
    )  # fmt: skip


_PREDICTS = (
    r"detectron2(?:\.(?:model_zoo|config|structures|utils\.(?:visualizer|video_visualizer|logger)|data\.catalog)(?:\..*)?"
    r"|\.data\.(?:MetadataCatalog|DatasetCatalog)|\.engine(?:\.defaults)?\.DefaultPredictor)?"
)
"""What a package that trains gives to those who only ask a model: "a simple end-to-end predictor … that runs on single
device for a single input image" (https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/engine/defaults.py).
"""


def _has_steps(node: ast.Call, module: Module) -> bool:
    name = _full_name(node.func, module)
    return name.endswith(".backward") or (name.startswith("transformers.") and name.endswith("Trainer"))


def _uses_model(node: ast.Call, module: Module) -> bool:
    name = _full_name(node.func, module)
    return name in _LOADS_MODEL or re.fullmatch(_USES_MODEL, name.rpartition(".")[2]) is not None


_LOADS_MODEL = frozenset(
    {
        "clip.load", "easyocr.Reader", "faster_whisper.WhisperModel", "insightface.app.FaceAnalysis",
        "onnxruntime.InferenceSession", "open_clip.create_model_and_transforms", "sentence_transformers.CrossEncoder",
        "sentence_transformers.SentenceTransformer", "spacy.load", "torch.hub.load", "torch.jit.load", "torch.load",
        "transformers.pipeline", "transformers.pipelines.pipeline",
    }
)  # fmt: skip
"""What loads a model of a library, by its full name."""
_USES_MODEL = r"(?:from_pretrained|load_(?:model|checkpoint|state_dict)|eval|no_grad|inference_mode|predict|infer)\w*"
"""The names that everybody gives to what loads a model, readies it for use, and asks it."""


def _calls_training(node: ast.Call) -> bool:
    """Whether something is called training."""
    name = dotted(node.func).rpartition(".")[2].lower()
    return re.search(r"train(?!ed)|fine_?tune", name) is not None and not switches_mode(node)


def _unparsed(text: str) -> Looked | None:
    """What a file for an older Python says: ``print 1``. None where it has a word of loaders, queues or processes."""
    if re.search(_PASSES_DATA, text) is not None:
        return None
    packages = re.findall(r"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", text)
    none: frozenset[str] = frozenset()
    return Looked(
        frozenset(packages), none, False, False, False, False, "json" in text, none, none, False, True,
        False, len(text),
    )  # fmt: skip


_PASSES_DATA = r"DataLoader|Trainer|Queue|\bPool\b|\bProcess\b"
"""Names of what may pass data through shared memory; how, only a syntax tree tells."""


def _has_one_device(node: ast.Call) -> bool:
    """Whether a trainer gets one GPU of one host: ``Trainer(devices=1)``, ``Trainer(gpus=[0])``."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    devices, hosts = given.get("devices", given.get("gpus")), given.get("num_nodes", ast.Constant(1))
    if isinstance(devices, ast.List) and len(devices.elts) == 1:
        one = isinstance(devices.elts[0], ast.Constant)
    else:
        one = isinstance(devices, ast.Constant) and devices.value in (0, 1, "1")
    return one and isinstance(hosts, ast.Constant) and hosts.value == 1


def _is_loader(node: ast.Call, module: Module) -> bool:
    return _full_name(node.func, module).endswith("DataLoader")


def _loads(node: ast.Call, module: Module) -> bool:
    last = dotted(node.func).rpartition(".")[2]
    return last.endswith(("DataLoader", "DataModule")) and last not in module.definitions


def workers_line(text: str) -> int | None:
    """The line in which a file gives a loader of PyTorch workers; None where it does not for sure."""
    module = parse(text)
    for node in module.nodes if module is not None else ():
        if isinstance(node, ast.Call) and _full_name(node.func, module or EMPTY) in _LOADERS:
            counts = [keyword.value for keyword in node.keywords if keyword.arg == "num_workers"]
            if any(not (isinstance(count, ast.Constant) and not count.value) for count in counts):
                return counts[0].lineno
    return None


_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})


def ray_line(text: str) -> int | None:
    """The line in which a file starts Ray; None where it does not, or joins a cluster that something else starts."""
    module = parse(text) or EMPTY
    for node in (node for node in module.nodes if isinstance(node, ast.Call)):
        name, imported = _full_name(node.func, module), dotted(node.func).partition(".")[0] in module.imports
        if imported and name in _RAY_CALLS and not (name == "ray.init" and _joins(node)):
            return node.lineno
    return None


def _joins(node: ast.Call) -> bool:
    """Whether ``ray.init`` is given an address; none and "local" start a cluster.

    https://github.com/ray-project/ray/blob/ray-2.7.1/doc/source/ray-core/starting-ray.rst
    """
    given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "address")]
    return any(not (isinstance(one, ast.Constant) and one.value in (None, "local")) for one in given)


_RAY_CALLS = frozenset({"ray.init", "ray.tune.run", "ray.tune.Tuner", "ray.tune.tuner.Tuner"})


def _is_filled(node: ast.Call) -> bool:
    """Whether a loader is given its workers by position: the sixth."""
    sixth = node.args[5] if len(node.args) > 5 else ast.Constant(0)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    return starred or not (isinstance(sixth, ast.Constant) and sixth.value == 0)


def _full_name(node: ast.expr, module: Module) -> str:
    head, dot, rest = dotted(node).partition(".")
    return f"{module.imports.get(head, head)}{dot}{rest}"


def spoken(path: str, text: str) -> str:
    """What a file does: without its comments and docstrings, what it tells people, and what it does with threads.

    A notebook is without its output. It is as it is where that is not known.
    """
    if path.endswith(".ipynb"):
        cells = cells_of(text)
        text = "\n".join(cells) if cells is not None else text
    lines = text.split("\n")
    module = parse(text) if path.endswith((".py", ".ipynb")) else None
    if module is not None:
        lines = _without(lines, module)
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _without(lines: list[str], module: Module) -> list[str]:
    """The lines of a module with spaces where it has docstrings, texts for people, and threads."""
    encoded = [line.encode("utf-8", "surrogateescape") for line in lines]  # as the parser counts its columns
    passes_on = any("vars(" in line or "__dict__" in line for line in lines)
    counts_only = _counts_only(module)
    for searched in _searches(module):
        _blank(encoded, searched)
    for node in ast.walk(module.tree):
        for part in _said(node, module, passes_on=passes_on, counts_only=counts_only):
            _blank(encoded, part)
    return [line.decode("utf-8", "surrogateescape") for line in encoded]


def _blank(lines: list[bytes], node: ast.AST) -> None:
    """Put spaces where a node is."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
    for number in range(first, min(last, len(lines)) + 1):
        line = lines[number - 1]
        start = getattr(node, "col_offset", 0) if number == first else 0
        end = getattr(node, "end_col_offset", len(line)) if number == last else len(line)
        lines[number - 1] = line[:start] + b" " * (end - start) + line[end:]


def _said(node: ast.AST, module: Module, *, passes_on: bool, counts_only: bool) -> Iterator[ast.AST]:
    """The parts of a statement or a call that start neither workers nor processes."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        yield node.value
    elif isinstance(node, ast.ImportFrom):
        threads = node.module == "multiprocessing.pool" and all(name.name == "ThreadPool" for name in node.names)
        # Of joblib and of what only counts CPUs, the calls tell.
        if threads or node.module in ("joblib", "multiprocessing.dummy") or (counts_only and _is_processes(node)):
            yield node
    elif isinstance(node, ast.Import) and counts_only and all(name.name == "multiprocessing" for name in node.names):
        yield node
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield from filter(_is_text, node.exc.args)
    elif isinstance(node, ast.Call):
        name = dotted(node.func).rpartition(".")[2]
        full = _full_name(node.func, module)
        counts = full == "multiprocessing.cpu_count" and counts_only
        stands_elsewhere = name == "add_argument" and not passes_on  # what is done with the argument
        threaded = full in _IN_THREADS or name in _THREADS or (name == "Parallel" and _is_threaded(node))
        if counts or stands_elsewhere or threaded:
            yield node
        elif name in _TELLS:
            yield from filter(_is_text, node.args)
        yield from (keyword.value for keyword in node.keywords if keyword.arg in ("help", "description", "desc"))


def _is_processes(node: ast.ImportFrom) -> bool:
    return node.module == "multiprocessing" and all(name.name == "cpu_count" for name in node.names)


def _counts_only(module: Module) -> bool:
    """Whether a module uses Python's package for processes to count CPUs only."""
    ours = {name for name, target in module.imports.items() if target.partition(".")[0] == "multiprocessing"}
    ours -= {name for name, target in module.imports.items() if target == "multiprocessing.cpu_count"}
    nodes = list(ast.walk(module.tree))
    used = {id(node) for node in nodes if isinstance(node, ast.Name) and node.id in ours}
    return used <= {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "cpu_count"}


def _searches(module: Module) -> Iterator[ast.Call]:
    """The calls that ask a tree of SciPy for neighbours, which threads look for: ``index.query(at, workers=-1)``.

    https://docs.scipy.org/doc/scipy/reference/generated/scipy.spatial.KDTree.query.html
    """
    trees: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = dotted(node.value.func).endswith("KDTree")
            trees.update(name for target in node.targets if made and (name := dotted(target)))
    for node in module.nodes if trees else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            holder, method = dotted(node.func.value), node.func.attr
            yield from (node,) if holder in trees and method.startswith("query") else ()


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_threaded(node: ast.Call) -> bool:
    """Whether joblib's ``Parallel`` runs its jobs in threads."""
    given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in node.keywords}
    return any(given.get(name) == value for name, value in _THREADED)


_THREADED = (("backend", "threading"), ("prefer", "threads"), ("require", "sharedmem"))
_THREADS = frozenset({"ThreadPoolExecutor", "ThreadPool", "thread_map", "snapshot_download"})
"""What works in threads of one process, by the ends of its names."""
_IN_THREADS = frozenset({"numba.njit", "numba.jit", "numba.vectorize", "numba.guvectorize", "uvicorn.run"})
"""Calls that start threads for ``parallel=True``, or processes of a web server, which share nothing."""
_TELLS = frozenset({"print", "warn", "debug", "info", "warning", "error", "critical", "exception"})
"""Functions and methods whose texts are for people."""


def module_of(path: str, text: str) -> Module | None:
    """The module that a file is, or a notebook's cells are; None where that is no Python."""
    return _notebook(text) if path.endswith(".ipynb") else parse(text)


def _notebook(text: str) -> Module | None:
    """The code in the cells of a notebook, without the lines that are for IPython and the cells that are not Python.

    What is no notebook has none: nobody can run it.
    """
    cells = cells_of(text)
    if cells is None:
        return parse("")
    codes = [re.sub(r"(?m)^([ \t]*)[!%].*$", r"\1pass", cell) for cell in cells]
    return parse("\n".join(codes)) or parse("\n".join(code for code in codes if parse(code) is not None))


def cells_of(text: str) -> list[str] | None:
    """The code in the cells of a notebook; None for what is none."""
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _works(node: ast.AST) -> bool:
    """Whether something is the call of a loader, of a trainer, of a model's ``fit``, or of a loss's ``backward``."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    method = name in ("backward", "fit", "train_on_batch") and isinstance(called, ast.Attribute)
    return method or name.endswith(("DataLoader", "Trainer", "GradientTape"))
