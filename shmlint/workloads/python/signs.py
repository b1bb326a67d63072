"""What in a Python file or a notebook is a sign of shared memory, by its syntax: workers, ranks, processes.

A sign says that something may need it; that nothing does takes more than its absence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import EMPTY, dotted
from shmlint.workloads.filesystem import Files
from shmlint.workloads.python.own_code import (
    FRAMEWORKS,
    asks_for_ranks,
    calls_loud,
    files_in,
    has_word,
    lacks_code,
    looked_at,
    names_workers,
    runs_trainer,
    said_by,
    starters,
    unknown_packages,
)
from shmlint.workloads.python.own_python import Looked, module_of
from shmlint.workloads.repository import MOST_BYTES, MOST_FILES, Repository


def shows_no_sign(files: Files) -> bool:
    """Whether all code that the container sees uses models and shows no sign of shared memory, by its syntax.

    That it needs none takes more: here words alone are no sign, and packages may be unknown.
    """
    folders, repository = files.seen(), files.repository
    known, key = repository.shared.found, ("a sign", *folders)
    if folders and key not in known:
        known[key] = _first_sign(folders, repository)
    return bool(folders) and known[key] is None


def _first_sign(folders: tuple[str, ...], repository: Repository) -> str | None:
    """A file that shows a sign, or that is not read; the first directory where all files together leave it open."""
    names: set[str] = set()
    found = []
    characters = 0
    for number, path in enumerate(files_in(folders, repository, names)):
        source = repository.peek(path)
        if source is None or number >= MOST_FILES or runs_trainer(path, source.text):
            return path
        if not path.endswith((".py", ".ipynb")):
            characters += len(source.text)
            if has_word(source.text) and has_word(said_by(path, source.text)):
                return path
        else:
            one = signs(path, repository)
            if one is None or one.certain:
                return path
            characters += one.looked.length
            found.append(one)
        if characters > MOST_BYTES // 2:
            return path
    return None if _is_silent(found, names, repository) else folders[0]


def _is_silent(found: Sequence[Signs], names: set[str], repository: Repository) -> bool:
    """Whether files that show no sign each show none together, and use models."""
    imported = frozenset().union(*(one.looked.packages for one in found))
    unknown = unknown_packages(imported, names)
    looked = [one.looked for one in found]
    steps, trains = any(one.steps for one in looked), any(one.trains or one.works for one in looked)
    mapped = any(one.mapped for one in looked)
    if (mapped and any(one.reads for one in looked)) or lacks_code(unknown, repository):
        return False
    if _may_have_workers(found) and (mapped or any(one.loads for one in looked)):
        return False
    starting = unknown & starters()
    if (unknown and trains and not steps) or (starting and (trains or any(one.validates for one in found))):
        return False  # a package may be what trains
    works = steps or any(one.uses or one.works for one in looked)
    return works and starting <= _ASKED and not FRAMEWORKS.union(_ASKED).isdisjoint(imported)


def _may_have_workers(found: Sequence[Signs]) -> bool:
    """Whether the numbers of workers that files give each other are not all 0, or come from elsewhere."""
    given = frozenset().union(*(one.workers for one in found))
    return "some" in given or ("passed" in given and "none" not in given)


_ASKED = frozenset({"ultralytics", "pyannote"})
"""Packages that start workers where they train, validate or tune, and whose models work in one process else."""


Workers = Literal["none", "some", "passed"]
"""A number of workers that is written there, 0 or another one or not known, or that comes from elsewhere."""


class Signs(NamedTuple):
    """What a file shows."""

    looked: Looked
    certain: bool
    """It gives something workers, joins ranks, or starts processes that share data."""
    workers: frozenset[Workers]
    """The numbers of workers that it names, which a loader elsewhere may get."""
    validates: bool
    """It calls what may validate or tune a model."""


def signs(path: str, repository: Repository) -> Signs | None:
    """The signs of a file; None where it is not known."""
    looked, source = looked_at(path, repository), repository.peek(path)
    if looked is None or source is None:
        return None
    said = said_by(path, source.text) if has_word(source.text) else ""
    certain = looked.filled or calls_loud(looked) or asks_for_ranks(said)
    lasts = {name.rpartition(".")[2] for name in looked.called}
    certain = certain or not lasts.isdisjoint(_STARTS) or any(map(_is_process, looked.called))
    module = module_of(path, source.text) if said else EMPTY
    if module is None:  # its words alone tell
        return Signs(looked, certain or names_workers(said), frozenset(), False)
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    certain = certain or any(map(_gives_workers, calls))
    validates = not lasts.isdisjoint(_VALIDATES)
    if not names_workers(source.text):
        return Signs(looked, certain, frozenset(), validates)
    workers = frozenset(_named_workers(module.tree)) if module.tree.body else _SOME
    return Signs(looked, certain, workers, validates)


_SOME: frozenset[Workers] = frozenset({"some"})
_VALIDATES = frozenset({"val", "tune", "benchmark"})
_STARTS = frozenset(
    {
        "DistributedDataParallel", "FullyShardedDataParallel", "DistributedSampler", "init_process_group",
        "init_distributed", "share_memory", "share_memory_", "SharedMemory", "ShareableList",
        "ProcessPoolExecutor", "AsyncVectorEnv", "ShmemVecEnv", "start_multi_process_pool", "LightningCLI",
    }
)  # fmt: skip
"""What joins ranks or shares memory, by the ends of its names."""


def _is_process(name: str) -> bool:
    """Whether something joins ranks, starts processes or passes data between them, by its whole name."""
    package, dot, last = name.rpartition(".")
    if package == "torch.distributed" and last not in ("is_available", "is_initialized"):
        return True
    return last in _PROCESSES and ("multiprocess" in package or (not dot and last != "Queue"))


_PROCESSES = frozenset(
    {"Process", "Pool", "Queue", "SimpleQueue", "JoinableQueue", "Manager", "Array", "RawArray", "spawn",
     "start_processes", "get_context"}
)  # fmt: skip


def _gives_workers(node: ast.Call) -> bool:
    """Whether a call is given workers, which are not threads, or made to work in several processes."""
    name = dotted(node.func)
    if re.search(r"(?i)(?<!joblib\.)\b(?:data_|model_)?parallel$", name) is not None:
        return not any(keyword.arg == "n_jobs" for keyword in node.keywords)
    if name.rpartition(".")[2].startswith(("add_argument", "query", "ThreadPool")) or name.endswith("uvicorn.run"):
        return False
    given = (keyword.value for keyword in node.keywords if keyword.arg and re.fullmatch(_WORKERS, keyword.arg))
    told = (value for value in given if not isinstance(value, ast.Constant) or value.value)
    return any(_workers_in(value) == "some" for value in told)


def _named_workers(tree: ast.Module) -> Iterator[Workers]:
    """The numbers of workers that a module gives names, options, keys and calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if dotted(node.func).rpartition(".")[2] in ("add_argument", "add_option", "option"):
                option = any(_is_named_so(name) for name in node.args)
                given = [keyword.value for keyword in node.keywords if keyword.arg == "default"]
                if option:
                    yield _workers_in(given[0]) if given else "some"
            else:
                yield from (_workers_in(k.value) for k in node.keywords if k.arg and _NAME.fullmatch(k.arg))
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (_workers_in(value) for key, value in pairs if key is not None and _is_named_so(key))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (_workers_in(node.value) for target in targets if _is_named_so(target))
        elif isinstance(node, ast.arguments):
            names = [*node.posonlyargs, *node.args]
            named = [*zip(reversed(names), reversed(node.defaults), strict=False)]
            named += ((name, value) for name, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value)
            yield from (_workers_in(value) for name, value in named if _NAME.fullmatch(name.arg))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _IN_TEXT.search(node.value):
            yield "some"


def _workers_in(value: ast.expr) -> Workers:
    if isinstance(value, ast.Constant):
        return "none" if value.value == 0 else "some"
    return "passed" if _is_named_so(value) else "some"


def _is_named_so(node: ast.expr) -> bool:
    """Whether a name, an attribute, an item or an option is called workers."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    name = node.value if isinstance(node, ast.Constant) else dotted(node).rpartition(".")[2]
    return isinstance(name, str) and _NAME.fullmatch(name.lstrip("-").replace("-", "_")) is not None


_IN_TEXT = re.compile(r"workers[ =\"':]{1,5}[1-9$]")
"""Workers in a command, or in a text of settings."""
_NAME = re.compile(r"(?!max_)(?:\w+_)?workers", re.IGNORECASE)
_WORKERS = r"(?!max_)(?:\w+_)?workers|(?:\w+_)?distributed|(?:data|model|tensor|pipeline)_parallel\w*"
