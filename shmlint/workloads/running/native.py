"""Programs that the build of an image compiles from sources of the repository: C, C++, CUDA, Rust and Go.

They have no DataLoader. What puts something into /dev/shm is a word in their sources: NCCL, a library of shared memory,
a framework with such workers. Sources that the repository does not hold tell nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shmlint.files.read import normal
from shmlint.workloads.filesystem import Files
from shmlint.workloads.python.own_code import files_in
from shmlint.workloads.repository import Repository

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage

_MOST_FILES = 1_000
_MOST_CHARACTERS = 8_000_000
"""Sources that are looked through; of more than these nothing is known."""
_CODE = r"\.(?:c|cc|cpp|cxx|cu|rs|go)$"
_BESIDE = r"\.(?:cuh|h|hh|hpp|hxx|inl|cmake|mk|mod)$|^Cargo\.toml$|^CMakeLists\.txt$|^[Mm]akefile"
_SOURCES = rf"{_CODE}|{_BESIDE}"
_COMPILES = r"(?<![\w./-])(?:cmake|make|ninja|meson|nvcc|gcc|g\+\+|clang\+?\+?|cargo|go)(?![\w.-])"
_FETCHES = r"\bgit\s+(?:clone|submodule)\b|\bgo\s+install\s+\S+@|\bcargo\s+install\s+(?!--path)[a-z]"
_SHARES = (
    r"nccl|rccl|nvshmem|openshmem|shm_open|shmsink|/dev/shm|interprocess|shared_memory(?:_object|\s*=|::)|iceoryx"
    r"|ucp_|ucx|torch|tensorflow|paddle|mxnet|mindspore|\btch\b|\bcandle|ggml|llama|dataloader|webengine|\bcef_"
    r"|chrom(?:e|ium)|ipc[-_]channel|\bray\b|fetchcontent|externalproject|cpmaddpackage|\bgit\s+clone\b|\bwget\s"
)
"""Words of what uses shared memory, and of what fetches further sources to compile."""
_STARTS = (
    r"py_initialize|pybind11/embed|popen|(?<![\w.>])system\s{0,9}\(|\bexec[lv]p?e?\s{0,9}\(|posix_spawn|command::new"
    r"|exec\.command|qprocess"
)
"""Words of what starts other programs."""
_OF_MPI = re.compile(r"\bmpi_(?:init|comm|send|recv)\w*\s{0,9}\(")
"""Calls in sources of a program that ``mpirun`` starts: without it they start nothing."""


def is_built(name: str, image: BuiltImage, files: Files) -> bool:
    """Whether an image's build compiles a program from sources of the repository, none of which shares memory."""
    if re.fullmatch(r"[\w.+-]+", name) is None or not _compiles(image):
        return False
    repository = files.repository
    found, known = repository.shared.found, ("a program", name, repository.root)
    if known not in found:
        built = is_quiet(repository) and has_sources(repository)
        found[known] = _target(name, repository) if built else None
    return found[known] is not None


def _compiles(image: BuiltImage, depth: int = 0) -> bool:
    """Whether a stage, or one from which it copies, compiles what it has of the context, and fetches nothing for it."""
    text = "\n".join(text for text, _ in image.runs)
    own = any(copy.origin is None and not copy.elsewhere for copy in image.copies)
    if own and re.search(_COMPILES, text) is not None:
        return re.search(_FETCHES, text) is None
    inner = [copy.origin for copy in image.copies if copy.origin is not None]
    return depth < _MOST_STAGES and any(_compiles(origin, depth + 1) for origin in inner)


_MOST_STAGES = 4


def has_sources(repository: Repository) -> bool:
    """Whether there is code to compile."""
    return any(re.search(_CODE, path) for path in _sources(repository))


def is_quiet(repository: Repository) -> bool:
    """Whether no source that is compiled names what uses shared memory, and none is in another repository."""
    found, known = repository.shared.found, ("sources that share memory", repository.root)
    if known not in found:
        found[known] = _loud(repository)
    return found[known] is None


def _loud(repository: Repository) -> str | None:
    """The first file that says so, or with which it is too much to read."""
    modules = normal(os.path.join(repository.root, ".gitmodules"))
    if repository.is_file(modules):
        return modules
    number = characters = 0
    for path in _sources(repository):
        source = repository.peek(path)
        number, characters = number + 1, characters + (len(source.text) if source is not None else 0)
        if source is None or number > _MOST_FILES or characters > _MOST_CHARACTERS:
            return path
        text = source.text.lower()
        starts = re.search(_STARTS, text) is not None and _OF_MPI.search(text) is None
        if starts or re.search(_SHARES, text) is not None:
            return path
    return None


def _sources(repository: Repository) -> Iterator[str]:
    """The sources of a repository, and what tells how they are compiled; the last is empty where there are more."""
    return files_in((repository.root,), repository, set(), _SOURCES, _MOST_FILES)


def _target(name: str, repository: Repository) -> str | None:
    """The file that says how a program of a name is compiled."""
    patterns = _targets(re.escape(name))
    for path in _sources(repository):
        base = posixpath.basename(path)
        kind = "makefile" if base.lower().startswith("makefile") else base.removesuffix(".toml").rpartition(".")[2]
        source = repository.peek(path) if kind in patterns else None
        if source is not None and re.search(patterns[kind], source.text) is not None:
            return path
        if base == "main.go" and posixpath.basename(posixpath.dirname(path)) == name:
            return path
    return None


def _targets(name: str) -> dict[str, str]:
    """What a file of each kind says of a program that it compiles."""
    cmake = rf"(?i:add_executable)\s*\(\s*{name}(?![\w.-])"
    variable = rf"\w+[ \t]*:?=[ \t]*{name}[ \t]*$"
    output = rf"-o[ \t]+(?:[^\s/]*/){{0,9}}{name}(?![\w.-])"
    make = rf"(?m)^[ \t]*(?:{name}[ \t]*:(?!=)|{variable})|{output}"
    return {"txt": cmake, "cmake": cmake, "makefile": make, "mk": make, "Cargo": rf'(?m)^name\s*=\s*"{name}"'}
