"""Whether the code that a container sees of the repository uses shared memory at all: its words, imports and calls.

For a container that gives a shell or a notebook. What runs in it is not known, but mostly it is this code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache

from shmlint.files.read import normal
from shmlint.workloads.filesystem import Files
from shmlint.workloads.libraries import COLLECTIVE, ROWS, harmless
from shmlint.workloads.repository import MOST_BYTES, MOST_FILES, Repository


def needs_none(files: Files) -> bool:
    """Whether the code that the container sees trains or loads data, in one process and without workers.

    False where it does neither, so that it is not what runs; where there is too much of it, and where it imports a
    package of which nothing is known.
    """
    folders = files.seen()
    known = files.repository.shared.quiet
    if folders not in known:
        known[folders] = bool(folders) and _looked_at(folders, files.repository)
    return known[folders]


def _looked_at(folders: tuple[str, ...], repository: Repository) -> bool:
    names: set[str] = set()
    imported: set[str] = set()
    characters = 0
    works = mapped = reads = False
    for number, path in enumerate(_files(folders, repository, names)):
        source = repository.peek(path)
        characters += len(source.text) if source is not None else 0
        if source is None or number >= MOST_FILES or characters > MOST_BYTES:
            return False
        if re.search(_USES, source.text) is not None and _says_so(path, source.text):
            return False
        if path.endswith((".py", ".ipynb")):
            from shmlint.workloads.own_python import look  # it parses, which few runs need

            found = look(path, source.text)
            if found is None or found.filled or not found.called.isdisjoint(_loud()):
                return False
            imported |= found.packages
            works = works or found.works
            mapped, reads = mapped or found.mapped, reads or found.reads
            if mapped and reads:
                return False  # the workers may be in the JSON, which is not read
    works = works and not _FRAMEWORKS.isdisjoint(imported)
    return works and all(name in names or name in _quiet() for name in imported)


def _says_so(path: str, text: str) -> bool:
    """Whether it is the code that has such a word: a licence that is distributed starts no processes."""
    from shmlint.workloads.own_python import spoken

    return re.search(_USES, spoken(path, text)) is not None


def _files(folders: tuple[str, ...], repository: Repository, names: set[str]) -> Iterator[str]:
    """The files of some directories that are code or configuration; ``names`` gets those of modules and packages.

    A directory without code is none: that of a submodule may be empty here.
    """
    pending = list(folders)
    seen: set[str] = set()
    while pending:
        folder = normal(pending.pop())
        if folder in seen or len(seen) > MOST_FILES:
            continue
        seen.add(folder)
        for name in repository.names(folder):
            path = name if folder == "." else f"{folder}/{name}"
            if name.endswith(_READ):
                names.update(path.removesuffix(".py").split("/") if name.endswith(".py") else ())
                yield path
            elif re.search(_ENDING, name) is None and repository.is_dir(path):
                pending.append(path)
    if len(seen) > MOST_FILES:
        yield ""  # there is more than is read


@cache
def _loud() -> frozenset[str]:
    """What uses shared memory where it is called without a word about workers or ranks."""
    return COLLECTIVE.union(row.call for row in ROWS if row.use != "dataloader" or row.default not in (0, None))


@cache
def _quiet() -> frozenset[str]:
    """Packages that use no shared memory unless they are told to."""
    called = {row.call.partition(".")[0] for row in ROWS if "." in row.call}
    loud = {name.partition(".")[0] for name in _loud()}
    return harmless() | sys.stdlib_module_names | (called - loud) | {"torch"}


_FRAMEWORKS = frozenset({"torch", "tensorflow", "keras", "theano"})
_ENDING = r"\.[A-Za-z]\w*$"
"""Of a file, or of a hidden directory; `net-1.5` may be a directory."""
_READ = (".py", ".ipynb", ".sh", ".yaml", ".yml", ".toml", ".cfg")
_USES = (
    r"(?i)workers(?!\w*[\"']?\s*[=:,]\s*[\"']?0[\"']?\s*(?:[,;)\]}#\n]|$))|distributed|parallel|torchrun|nproc|spawn|multiprocess|shared?_memory"
    r"|nccl|deepspeed|world_size|accelerate launch|num_shard|\bray\b|\byolo\b[^\n]*\b(?:train|val)\b"
)
"""Words without which code starts neither workers nor several processes."""
