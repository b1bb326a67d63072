"""Whether the code that a container sees of the repository uses shared memory at all: its words, imports and calls.

For a container that gives a shell or a notebook. What runs in it is not known, but mostly it is this code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from shmlint.files.read import normal
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.libraries import COLLECTIVE, METHODS, ROWS, harmless, is_generated
from shmlint.workloads.packages.parts import is_loud
from shmlint.workloads.repository import MOST_BYTES, MOST_FILES, Repository

if TYPE_CHECKING:
    from shmlint.workloads.python.own_python import Looked

_READ = r"\.(?:py|ipynb|sh|ya?ml|toml|cfg)$"
"""Files that are code or configuration."""


class OwnCode(NamedTuple):
    """What the code that a container sees says of shared memory."""

    quiet: bool
    """It trains or loads data, in one process and without workers. False where there is too much of it."""
    known: bool
    """Of every package that it imports it is known what it does."""
    asks: bool
    """It loads or asks models, in one process, and neither trains nor loads data."""
    alone: bool
    """It starts neither workers nor processes nor ranks, of every package it is known what it does, and it is not for
    PyTorch."""
    learns: bool
    """It is alone, and trains with packages that do so without PyTorch."""


def own_code(files: Files, *, every: bool = False) -> OwnCode:
    """What the code that the container sees says; nothing where it has no models, so that it is not what runs.

    With ``every`` it is all code of the repository where nothing shows what the container sees.
    """
    folders = files.seen() or ((files.repository.root,) if every else ())
    return _said_of(folders, files.repository)


def all_code(repository: Repository) -> OwnCode:
    """What all code of the repository says, whatever a container sees of it."""
    return _said_of((repository.root,), repository)


def _said_of(folders: tuple[str, ...], repository: Repository) -> OwnCode:
    known = repository.shared.quiet
    if folders not in known:
        known[folders] = _looked_at(folders, repository) if folders else _LOUD
    return OwnCode(*known[folders])


def loads_with_workers(files: Files, folders: tuple[str, ...]) -> Span | None:
    """Where the code in directories gives a loader of PyTorch workers; None where none was found."""

    def line_in(text: str) -> int | None:
        from shmlint.workloads.python.own_python import workers_line

        return workers_line(text)

    return _first(files, folders, ("num_workers", "DataLoader"), line_in)


def starts_ray(files: Files) -> Span | None:
    """Where the code that a container surely sees starts Ray; None where none was found."""

    def line_in(text: str) -> int | None:
        from shmlint.workloads.python.own_python import ray_line

        return ray_line(text)

    return _first(files, files.folders(), ("ray",), line_in)


def _first(
    files: Files, folders: tuple[str, ...], words: Sequence[str], line_in: Callable[[str], int | None]
) -> Span | None:
    """The first line that a function finds in code with some words, of the code in directories."""
    repository, characters = files.repository, 0
    for number, path in enumerate(files_in(folders, repository, set())):
        source = repository.peek(path) if path.endswith(".py") else None
        characters += len(source.text) if source is not None else 0
        if number >= MOST_FILES or characters > MOST_BYTES:
            return None
        if source is not None and all(word in source.text for word in words):
            line = line_in(source.text)
            if line is not None:
                return Span(source, *source.line_span(line))
    return None


_LOUD = OwnCode(False, False, False, False, False)


def names_trainer(files: Files, read: Collection[str] = ()) -> bool:
    """Whether a file of the code is called training, without those ``read``; also where there is too much of it.

    Of the code that the container sees; of all where nothing shows what it sees.
    """
    root = files.repository.root
    for number, path in enumerate(files_in(files.seen() or (root,), files.repository, set())):
        # What is above the repository does not belong to it.
        named = path not in read and re.search(_TRAINER, os.path.relpath(path or ".", root)) is not None
        if number >= MOST_FILES or not path or named:
            return True
    return False


def names_framework(repository: Repository, *, code: bool = False) -> bool:
    """Whether a file of the repository names a framework whose training may use shared memory; with ``code`` its code.

    Kaldi, darknet and other programs train without one. Also where there is too much to read.
    """
    known, key = repository.shared.found, ("a framework in code" if code else "a framework", repository.root)
    if key not in known:
        known[key] = _naming_framework(repository, _READ if code else _TELLING)
    return known[key] is not None


def _naming_framework(repository: Repository, files: str) -> str | None:
    characters = 0
    for number, path in enumerate(files_in((repository.root,), repository, set(), files)):
        source = repository.peek(path)
        characters += len(source.text) if source is not None else 0
        if source is None or number >= MOST_FILES or characters > MOST_BYTES:
            return path
        if re.search(_TRAINING_FRAMEWORKS, source.text.lower()) is not None:
            return path
    return None


_TELLING = (
    r"\.(?:py|ipynb|sh|bash|ya?ml|toml|cfg|ini|md|rst|lock)$|(?i:dockerfile|makefile)(?!s)"
    r"|(?i:conf|requ|param|setting|option|arg|constraint|freeze|depend|env|package|container|deepspeed|ds_|train"
    r"|install|readme|pip|hyper|model|launch|task)[^/]*\.(?:json|txt)$"
)
"""Files that may name what trains: of text and JSON not those that are called after data, which has words like any."""
_TRAINING_FRAMEWORKS = (
    r"torch|jax|flax|paddle|mxnet|mindspore|chainer|lightning|transformers|vllm|sglang|deepspeed"
    r"|megatron|(?<![a-z])nemo|mmcv|mmengine|mmdet|mmseg|openmm|detectron|ultralytics|yolo|fairseq|horovod|nccl|\bray\b"
    r"|accelerate|dataloader|num_workers|nproc_per|monai|espnet|speechbrain|fastai|timm\b|diffusers|axolotl|llama|unsloth"
    r"|hugectr|merlin|\bdgl\b|nnunet|rapids|dask|xgboost|lightgbm|mpirun|\bcaffe|nvcr\.io|hugging|gpt|lora\b|ms-swift"
    r"|mirrored|tf\.distribute|tensorflow[./]python[./]distribute|tensorflow\.distribute|multi_gpu_model"
)
"""TensorFlow and Keras alone are not among them: their data is loaded by threads, and they train in one process on one
GPU unless they are told to use several."""


def uses_tensorflow(path: str, repository: Repository) -> bool:
    """Whether a program of Python imports TensorFlow or Keras."""
    found = looked_at(path, repository)
    return found is not None and not {"tensorflow", "keras"}.isdisjoint(found.packages)


def uses_jax(path: str, repository: Repository) -> bool:
    """Whether a program of Python imports JAX, and not PyTorch: its batches are of one process."""
    found = looked_at(path, repository)
    return found is not None and not {"jax", "flax"}.isdisjoint(found.packages) and "torch" not in found.packages


def uses_model(path: str, repository: Repository) -> bool:
    """Whether a program of Python loads or asks a model, and neither trains nor loads data."""
    found = looked_at(path, repository)
    return found is not None and found.uses and not found.works and not found.trains


def takes_steps(path: str, repository: Repository) -> bool:
    """Whether a program of Python trains step by step by itself."""
    found = looked_at(path, repository)
    return found is not None and found.steps


def has_steps(folder: str, repository: Repository) -> bool:
    """Whether code in a directory of the repository, or below it, trains step by step by itself."""
    for number, path in enumerate(files_in((folder or ".",), repository, set())):
        if number >= MOST_FILES or not path:
            return False
        if path.endswith(".py") and takes_steps(path, repository):
            return True
    return False


def looked_at(path: str, repository: Repository) -> Looked | None:
    """What a Python file or a notebook imports and does; None where that is not known."""
    from shmlint.workloads.python.own_python import look  # it parses, which few runs need

    source = repository.peek(path)
    return look(path, source.text) if source is not None else None


_TRAINER = r"(?i)train|tun(?:e|ing)(?![a-z])|distill"


def _looked_at(folders: tuple[str, ...], repository: Repository) -> OwnCode:
    names: set[str] = set()
    imported: set[str] = set()
    functions: set[str] = set()
    given: set[str] = set()
    suspects: list[str] = []
    characters = 0
    works = steps = mapped = reads = uses = trains = ranks = False
    for number, path in enumerate(files_in(folders, repository, names)):
        source = repository.peek(path)
        characters += len(source.text) if source is not None else 0
        if source is None or number >= MOST_FILES or characters > MOST_BYTES or runs_trainer(path, source.text):
            return _LOUD
        python = path.endswith((".py", ".ipynb"))
        ranks = ranks or re.search(_SEVERAL_GPUS, source.text.lower()) is not None
        ranks = ranks or (path.endswith(".ipynb") and re.search(_STARTS_MORE, source.text) is not None)
        if has_word(source.text) and has_word(said := said_by(path, source.text)):
            if not python:
                return _LOUD
            suspects.append(said)  # perhaps only for the name of a function, which another file has
        if python:
            found = looked_at(path, repository)
            if found is None or found.filled or calls_loud(found):
                return _LOUD
            imported |= found.packages
            functions |= found.functions
            given |= found.given
            works, steps = works or found.works, steps or found.steps
            mapped, reads = mapped or found.mapped, reads or found.reads
            uses, trains = uses or found.uses, trains or found.trains
            if mapped and reads:
                return _LOUD  # the workers may be in the JSON, which is not read
    if _any_uses(suspects, functions - given):
        return _LOUD
    framed = not FRAMEWORKS.isdisjoint(imported)
    modelled = framed or not _HOLD_MODELS.isdisjoint(imported)
    unknown = unknown_packages(imported, names)
    # A package may be what trains; code with loaders or steps of its own does so without it. A submodule is code too.
    plain = modelled and unknown.isdisjoint(starters()) and not lacks_code(unknown, repository)
    quiet = works and framed and (not unknown or (steps and plain))
    alone = not unknown and not ranks and _NOT_ALONE.isdisjoint(imported)
    learns = alone and not _LEARNS.isdisjoint(imported) and _ON_TORCH.isdisjoint(imported)
    return OwnCode(quiet, modelled and not unknown, uses and plain and not works and not trains, alone, learns)


def runs_trainer(path: str, text: str) -> bool:
    """Whether a script or a notebook runs an installed program that is called training."""
    if "train" not in text and "tune" not in text:
        return False
    pattern = _TRAINS if path.endswith(".sh") else _TRAINS_IN_CELL if path.endswith(".ipynb") else None
    return pattern is not None and pattern.search(text) is not None


_TRAINED = (
    r"(?!(?:make|just|echo|cd|mkdir|function|export|python\d?|docker|poetry|uv|if|elif|while)\b)[A-Za-z]\w*(?:-\w+)*"
    r"(?:(?<=_)|-|[ \t]+)(?:train|fine-?tune)(?![\w./=:(-])"
)
"""A program as its package installs it, ``lerobot-train``, or its command, ``llamafactory-cli train``."""
_TRAINS = re.compile(rf"(?m)^[ \t]*(?:[A-Z_]+=\S*[ \t]+){{0,9}}{_TRAINED}")
_TRAINS_IN_CELL = re.compile(rf'"\s{{0,9}}!\s{{0,9}}{_TRAINED}')


def unknown_packages(imported: Collection[str], names: Collection[str]) -> set[str]:
    """The packages of which nothing is known, among those imported; ``names`` are the repository's own."""
    return {name for name in imported if name not in names and name not in quiet_packages() and not is_generated(name)}


def lacks_code(names: Collection[str], repository: Repository) -> bool:
    """Whether the repository has a directory for a package, and no code in it: that of a submodule is elsewhere.

    Python code would be known; sources that are compiled have no loader.
    """
    folders = (folder for name in names for folder in repository.folders_named(name))
    return any(not any(re.search(_COMPILED, name) for name in repository.names(folder)) for folder in folders)


_COMPILED = r"\.(?:c|cc|cpp|cxx|cu)$|^CMakeLists\.txt$"
_SEVERAL_GPUS = r"mirroredstrategy|multiworker|(?<![a-z])(?:pmap|shard_map|xmap)(?![a-z])|jax\.sharding|namedsharding"
"""What works on several GPUs in one process, which may exchange data through shared memory."""
_STARTS_MORE = (
    r'"\s{0,9}(?:%{1,2}(?:run|bash|sh|script|sx|system)\b'
    r"|!\s{0,9}(?!pip|apt|ls\b|cd\b|mkdir|wget|curl|nvidia-smi)[\w./])"
)
"""The start of a cell's line that runs a program."""
_NOT_ALONE = frozenset({"torch", "torchvision", "torchaudio", "mpi4py", "dask", "distributed", "pyspark"})
"""Packages of which more may be done than the code shows, or whose ranks something else starts."""
_HOLD_MODELS = frozenset(
    {"clip", "diffusers", "easyocr", "faster_whisper", "insightface", "onnxruntime", "open_clip",
     "sentence_transformers", "spacy", "transformers", "whisper"}
)  # fmt: skip
"""Packages with models that are asked without a word about a framework."""
_LEARNS = frozenset({"sklearn", "lightgbm", "xgboost", "catboost", "statsmodels"})
"""Packages that train in one process, by threads or through files that joblib writes."""
_ON_TORCH = frozenset(
    {"diffusers", "kornia", "pytorch_tabnet", "sentence_transformers", "skorch", "timm", "transformers"}
)
"""Packages that load PyTorch themselves."""


def said_by(path: str, text: str) -> str:
    """What a file does: a licence that is distributed starts no processes, and neither does the name of a package."""
    from shmlint.workloads.python.own_python import spoken

    text = spoken(path, text)
    if path.endswith((".py", ".ipynb")) and _loads_by_threads(text):
        return re.sub(r"(?<![\w.])workers\s{0,9}=\s{0,9}\w+", "", text)
    if path.rpartition("/")[2] == "pyproject.toml":
        return "\n".join(_outside_dependencies(text.split("\n")))
    if path.endswith((".yml", ".yaml")):  # conda's list of packages
        return re.sub(r"(?m)^dependencies:[^\n]*(?:\n(?:[ \t-][^\n]*)?)*", "", text)
    return text


def _loads_by_threads(text: str) -> bool:
    """Whether the workers of a file's loaders are Keras', which are threads unless it is told to use processes.

    https://github.com/keras-team/keras/blob/v2.12.0/keras/engine/training.py: `use_multiprocessing=False`
    """
    keras = "keras" in text or "tensorflow" in text
    return keras and "workers" in text and "use_multiprocessing" not in text and "torch" not in text


def _outside_dependencies(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a project's file without those that list packages."""
    table = ""
    for line in lines:
        table = line if line.startswith("[") else table
        lists = re.search(r"dependenc|\bsources\b", table) is not None or re.match(_LIST, line) is not None
        if not lists and re.fullmatch(rf"\s*[\"']{_REQUIREMENT}", line) is None:
            yield line


_LIST = r"\s*[\w-]*(?:dependencies|requires)\s*="
_REQUIREMENT = r"[\"']?[A-Za-z][\w.-]*(?:\[[\w,. -]*\])?[\"']?[ \t]*(?:[<>=!~;@,#][^\n]*)?"
"""A package as pip has it in its lists, with versions and more behind it."""


def _any_uses(texts: Sequence[str], functions: set[str]) -> bool:
    """Whether a text has such a word that is more than the name of a function of the repository: that is read too."""
    ours = [re.escape(name) for name in functions if has_word(name)]
    pattern = rf"\b(?:{'|'.join(ours)})\b" if ours else r"(?!)"
    return any(has_word(re.sub(pattern, "", text.lower())) for text in texts)


def has_word(text: str) -> bool:
    """Whether a text has a word without which code starts neither workers nor several processes."""
    lowered = _meant(text)
    if "world_size" in lowered or re.search(_WORKERS, lowered) is not None:
        return True
    if any(word in lowered and re.search(pattern, lowered) is not None for word, pattern in _BEGINS.items()):
        return True
    return _starts_more(lowered)


def asks_for_ranks(text: str) -> bool:
    """Whether a text has a word that itself starts ranks or shares memory, and is not only about it."""
    lowered = _meant(text)
    return re.search(_BEGINS["nproc"], lowered) is not None or _starts_more(lowered)


def names_workers(text: str) -> bool:
    """Whether a text has a word of workers, but for none."""
    return "workers" in text.lower() and re.search(_WORKERS, _meant(text)) is not None


def _meant(text: str) -> str:
    """A text in small letters, without words that only look like those of workers and ranks."""
    lowered = text.lower()
    return re.sub(_OTHER_WORDS, "", lowered) if any(word in lowered for word in _OTHERWISE) else lowered


def _starts_more(lowered: str) -> bool:
    if any(word in lowered for word in _USES) or ("ray" in lowered and re.search(_RAY, lowered) is not None):
        return True
    if "_target_" in lowered and re.search(_TARGET, lowered) is not None:
        return True
    return "yolo" in lowered and any(map(_trains, lowered.split("\n")))


def _trains(line: str) -> bool:
    """Whether a line has the command ``yolo … train``."""
    found = re.search(r"\byolo\b", line)
    return found is not None and re.search(r"\b(?:train|val)\b", line[found.end() :]) is not None


def files_in(
    folders: tuple[str, ...], repository: Repository, names: set[str], read: str = _READ, most: int = MOST_FILES
) -> Iterator[str]:
    """The files of some directories whose names ``read`` describes; ``names`` gets those of modules and packages.

    A directory without code is none: that of a submodule may be empty here. After ``most`` directories the last path is
    empty: there is more.
    """
    pending = list(folders)
    seen: set[str] = set()
    while pending:
        folder = normal(pending.pop())
        if folder in seen or len(seen) > most:
            continue
        seen.add(folder)
        for name in repository.names(folder):
            path = name if folder == "." else f"{folder}/{name}"
            if re.search(read, name) is not None:
                names.update(path.removesuffix(".py").split("/") if name.endswith(".py") else ())
                yield path
            elif re.search(_ENDING, name) is None and repository.is_dir(path):
                pending.append(path)
    if len(seen) > most:
        yield ""


@cache
def loud_calls() -> frozenset[str]:
    """What uses shared memory where it is called without a word about workers or ranks."""
    loud = (row for row in ROWS if row.use != "dataloader" or row.default not in (0, None))
    return COLLECTIVE.union(row.call for row in loud if row not in METHODS)


def calls_loud(found: Looked) -> bool:
    """Whether one of the calls of a file may start workers or ranks without a word about them."""
    named = (name for name in found.called if name.partition(".")[0] in found.packages)
    if not loud_calls().isdisjoint(found.called) or any(map(is_loud, named)):
        return True
    methods = {row.call for row in METHODS if row.imported in found.packages}
    return any(name.rpartition(".")[2] in methods for name in found.called)


@cache
def starters() -> frozenset[str]:
    """Packages whose objects start workers or processes: the calls of such an object are not told apart by name."""
    return frozenset(row.call.partition(".")[0] for row in ROWS if row.call in loud_calls() and row.use != "ranks")


@cache
def quiet_packages() -> frozenset[str]:
    """Packages that use no shared memory unless they are told to."""
    called = {row.call.partition(".")[0] for row in ROWS if "." in row.call}
    loud = {name.partition(".")[0] for name in loud_calls()}
    return harmless() | sys.stdlib_module_names | (called - loud) | {"torch"}


FRAMEWORKS = frozenset({"torch", "tensorflow", "keras", "theano"})
_ENDING = r"\.[A-Za-z]\w*$"
"""Of a file, or of a hidden directory; `net-1.5` may be a directory."""
# Each word alone is looked for ten times as fast as all of them are as one pattern.
_USES = (
    "torchrun", "share_memory", "shared_memory", "nccl", "deepspeed", "accelerate launch", "num_shard", "processpool",
)  # fmt: skip
_BEGINS = {
    "multiprocess": r"multiprocess(?!ors?(?![a-z]))",
    "distributed": r"distributed(?<![a-z]distributed)",
    "nproc": r"nproc(?<![a-z]nproc)",
    "spawn": r"spawn_?(?:proc|work|rank|train|multi)|(?:[\"'=]|: |p\.)spawn(?!\w)|(?<![\w.])(?<!def )spawn\(",
    "parallel": r"(?:data|tensor|model|pipeline|sequence|context|expert|nn|torch|env|hybrid)s?[-_.]?parallel"
    r"|parallel(?:[-_.]?(?:size|env|load|train|apply|group|mode|worker)|\((?<![\w.]parallel\()(?!\s{0,40}n_jobs))",
}
"""What counts only as a word, or at the start of one: not in ``AttnProcessor``, ``TimeDistributed``, ``respawn`` and
the multiprocessors of a GPU; and what is parallel or spawned in processes that share data. Much else is: lines, calls
of tools, actors of a game."""
_TARGET = r"_target_[\"']?\s{0,9}[:=]\s{0,9}\S{0,200}(?:trainer|datamodule)"
"""What a configuration names that starts ranks or workers."""
_WORKERS = r"workers(?!\w{0,40}[\"']?\s{0,40}[=:,]\s{0,40}[\"']?0[\"']?\s{0,40}(?:[,;)\]}#\n]|$))"
_CPUS = r"[\"']?(?:\$\(\s*nproc\b[^()\n]*\)|`\s*nproc\b[^`\n]*`)"
_OTHER_WORDS = (
    rf"worker_info(?:\(\))?\.num_workers|shared_memory_per_(?:block|multiprocessor|sm)"
    rf"|(?<![\w-])(?:-j|--jobs|max_jobs)[ =]*{_CPUS}"
    rf"|cmake\s[^\n;&|]{{0,200}}--parallel\b[ =]*(?:{_CPUS})?|max_?workers"
    r"|(?<!\w)workers\s*=\s*true\b|torch\.distributed\.is_(?:available|initialized)\(\)"
    r"|torchrun(?=[a-z_])|tensor[-_]parallel[-_]size[=\s]{1,3}1\b"
    r"|(?:uvicorn|gunicorn|hypercorn)\b[^\n;&|]{0,200}?\bworkers\b"
    r"|tree\w{0,20}\.query\w{0,20}\([^()\n]{0,200}\bworkers\s*=\s*-?\d+|\\nprocess"
)
"""What a loader's copy reads of its workers, a GPU's own shared memory, how much a build does at once, pools that pass
what they are given through pipes, questions whether there are ranks, threads of a search for neighbours, processes of a
web server, and a word at the start of a line in a text.

joblib is not looked for. It writes large arrays to /dev/shm only where 2 GB of it are free:
https://github.com/joblib/joblib/blob/1.4.2/joblib/_memmapping_reducer.py
"""
_OTHERWISE = ("worker", "shared_memory_per", "nproc", "parallel", "distributed", "torchrun")
"""Words that these have."""
_RAY = (
    r"\b(?:import|from)\s+ray\b|[:=]\s*[\"']ray[\"']|\bray\s+(?:start|job|up|serve|submit)\b"
    r"|(?<![\w.])ray\.(?:init|remote|get|put|wait|tune|train|data|serve|air|util|rllib)\b"
)
"""The library of that name; in many programs a ray is of light."""
