"""What in a Python file or a notebook is a sign of shared memory, by its syntax: workers, ranks, processes.

A sign says that something may need it; that nothing does takes more than its absence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from shmlint.model.record import NamedTuple
from shmlint.syntax.python import EMPTY, dotted
from shmlint.workloads.filesystem import Files
from shmlint.workloads.own_code import (
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
from shmlint.workloads.own_python import Looked, module_of
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
    if any(one.workers for one in found) and (mapped or any(one.loads for one in looked)):
        return False
    starting = unknown & starters()
    if (unknown and trains and not steps) or (starting and (trains or any(one.validates for one in found))):
        return False  # a package may be what trains
    works = steps or any(one.uses or one.works for one in looked)
    return works and starting <= _ASKED and not FRAMEWORKS.union(_ASKED).isdisjoint(imported)


_ASKED = frozenset({"ultralytics", "pyannote"})
"""Packages that start workers where they train, validate or tune, and whose models work in one process else."""


class Signs(NamedTuple):
    """What a file shows."""

    looked: Looked
    certain: bool
    """It gives something workers, joins ranks, or starts processes that share data."""
    workers: bool
    """It names a number of workers, which a loader elsewhere may get."""
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
        return Signs(looked, certain or names_workers(said), False, False)
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    certain = certain or any(map(_gives_workers, calls))
    validates = not lasts.isdisjoint(_VALIDATES)
    return Signs(looked, certain, names_workers(said), validates)


_VALIDATES = frozenset({"val", "tune", "benchmark"})
_STARTS = frozenset(
    {
        "DistributedDataParallel", "FullyShardedDataParallel", "DataParallel", "DistributedSampler",
        "init_process_group", "init_distributed", "share_memory", "share_memory_", "SharedMemory", "ShareableList",
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
    if re.search(r"(?i)(?<!joblib\.)\b(?:data_?|model_?)?parallel$", name) is not None:
        return not any(keyword.arg == "n_jobs" for keyword in node.keywords)
    if name.rpartition(".")[2].startswith(("add_argument", "query", "ThreadPool")) or name.endswith("uvicorn.run"):
        return False
    given = (keyword.value for keyword in node.keywords if keyword.arg and re.fullmatch(_WORKERS, keyword.arg))
    return any(not (isinstance(value, ast.Constant) and not value.value) for value in given)


_WORKERS = r"(?!max_)(?:\w+_)?workers|(?:\w+_)?distributed|(?:data|model|tensor|pipeline)_parallel\w*"
