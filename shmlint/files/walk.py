"""The names under a directory without git, and the directories that are skipped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shmlint.files.patterns import compiled, compiles
from shmlint.files.read import PathProblem, read_regular, reason

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_SKIPPED = frozenset((".git", "node_modules", "__pycache__"))
"""Directories that are never scanned, whatever git knows of them."""

_TOOLS = _SKIPPED | {
    ".bzr", ".direnv", ".eggs", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pixi", ".pyenv", ".pytest_cache",
    ".ruff_cache", ".svn", ".terraform", ".tox", ".venv", "__pypackages__", "bower_components", "site-packages", "venv",
}  # fmt: skip
"""Directories of installed packages, caches and version control. A project has these names in its
``.gitignore``; where there is no git, nothing else says that they are not its own."""


def without_skipped(real: str, names: bytes) -> Iterator[str]:
    """The NUL-separated names of files under ``real``, without those in directories that are skipped."""
    every = filter(None, os.fsdecode(names).split("\0"))
    if not any(word in names for word in (b".git/", b"node_modules/", b"__pycache__/", b"venv/")):
        return every
    suspect = re.compile(r"(?:^|/)(?:\.git|node_modules|__pycache__|\.?venv)/")
    return (name for name in every if suspect.search(name) is None or not _in_skipped(real, name.split("/")[:-1]))


def _in_skipped(real: str, folders: list[str]) -> bool:
    return any(
        folder in _SKIPPED or (folder in (".venv", "venv") and _is_environment(os.path.join(real, *folders[:depth])))
        for depth, folder in enumerate(folders, 1)
    )


def _is_environment(folder: str) -> bool:
    """Whether Python made this directory: a virtual environment."""
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))


# The patterns of one .gitignore, and how much of a name lies above it.
_Rules = tuple[tuple[int, "GitIgnoreSpec"], ...]

_STARS = re.compile(r"\*+")
_MOST_STARS = 3
"""pathspec matches by regular expressions, and each star of a pattern costs another power of the
name's length. A stranger's pattern with more is left out, so that more files are read, not fewer."""


def walk(real: str, top: str | None) -> Iterator[str | PathProblem]:
    """Files under a directory, ``.gitignore`` honoured, also those above it in its work tree.

    Not honoured, as git would: ``.git/info/exclude`` and the user's own list of patterns.
    """
    base = top or real
    start = os.path.relpath(real, base).replace(os.sep, "/") + "/" if real != base else ""
    pending: list[tuple[str, _Rules]] = [(start, _rules_above(base, start))]
    while pending:
        folder, rules = pending.pop()
        here = os.path.join(base, folder)
        rules += _rules_in(here, len(folder))
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    name = folder + entry.name
                    if not entry.is_dir(follow_symlinks=False):
                        if not _ignored(name, rules):
                            yield name[len(start) :]
                    elif not (
                        entry.name in _TOOLS
                        or _is_environment(entry.path)
                        or (top and os.path.exists(os.path.join(entry.path, ".git")))
                        or _ignored(name + "/", rules)
                    ):
                        pending.append((name + "/", rules))
        except OSError as error:
            yield PathProblem(folder[len(start) :].rstrip("/"), reason(error))


def _rules_above(base: str, start: str) -> _Rules:
    """What the work tree says about a directory in it; nothing where it ignores the directory."""
    rules: _Rules = ()
    folder = ""
    for part in start.split("/")[:-1]:
        rules += _rules_in(os.path.join(base, folder), len(folder))
        folder += part + "/"
        if _ignored(folder, rules):
            return ()
    return rules


def _rules_in(folder: str, above: int) -> _Rules:
    """The ``.gitignore`` of a directory, if it has one that can be read."""
    try:
        content = read_regular(os.path.join(folder, ".gitignore"), 256 * 1024)
    except OSError:
        return ()
    patterns = [
        line
        for line in map(os.fsdecode, content.replace(b"\r\n", b"\n").split(b"\n"))
        if line and len(_STARS.findall(line)) <= _MOST_STARS and compiles(line)
    ]
    return ((above, compiled(patterns)),) if patterns else ()


def _ignored(name: str, rules: _Rules) -> bool:
    """Whether the deepest ``.gitignore`` that says anything about a name ignores it."""
    for above, spec in reversed(rules):
        verdict = spec.check_file(name[above:]).include
        if verdict is not None:
            return verdict
    return False
