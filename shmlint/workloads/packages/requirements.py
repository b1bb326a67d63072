"""Lists of Python packages: files of requirements, environments of conda, projects. Each is read in two ways.

``named_in`` and ``named_by`` tell what may be installed and where that is written, ``all_of`` and ``all_of_project``
all that is installed, with a mark where a list may name more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from shmlint.files.read import normal
from shmlint.model.finding import Evidence
from shmlint.model.source import Source, Span
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.declared import declared, table_of, toml

UNKNOWN = "?"
"""The name of what is not known by any."""


def normalised(name: str) -> str:
    """A package's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named_at(word: str) -> str | None:
    """The package of an address of Git or of a wheel, by its name there; None where a word is something else."""
    address, _, more = word.partition("#")
    egg = re.match(r"egg=([A-Za-z][\w.-]*)", more)
    if address.startswith("git+"):
        last = address.rstrip("/").rpartition("/")[2].partition("@")[0].removesuffix(".git")
        name = egg or re.fullmatch(r"([A-Za-z][\w.-]*)", last)
    else:
        name = re.match(r"([A-Za-z][\w.]*)[-*]", address.rpartition("/")[2]) if address.endswith(".whl") else None
    return normalised(name[1]) if name is not None else None


def named_in_file(path: str, files: Files) -> Iterator[tuple[str, Evidence]]:
    """The packages that a file names, by its path in the image or the repository."""
    place = files.find(path)
    if place is not None:
        yield from named_in(place.path, files)


_LISTS = ("requirements.txt", "pyproject.toml", "environment.yml", "environment.yaml", "setup.py", "setup.cfg")


def named_by(folder: str, files: Files, *, every: bool) -> Iterator[tuple[str, Evidence]]:
    """What the lists of a directory name; without ``every`` not what is only for examples, tests and other extras."""
    for name in files.repository.names(folder):
        listed = name in _LISTS or (name.startswith("requirements") and name.endswith((".txt", ".in")))
        if listed and (every or re.search(_FOR_EXTRAS, name) is None):
            yield from named_in(normal(os.path.join(folder, name)), files, every=every)
    inner = normal(os.path.join(folder, "requirements"))
    for name in files.repository.names(inner):
        if name.endswith((".txt", ".in")) and (every or re.search(_FOR_EXTRAS, name) is None):
            yield from named_in(normal(os.path.join(inner, name)), files, every=every)


_FOR_EXTRAS = r"(?i)(?:^|[_.-])(?:dev\w*|docs?|tests?|testing|examples?|lint|optional|extras?|bench\w*|ci)(?:[_.-])"
"""Lists of requirements that a build names where it installs them."""


def named_in(path: str, files: Files, *, every: bool = True) -> Iterator[tuple[str, Evidence]]:
    """The packages that a file names: a project, an environment of conda, or a list for pip.

    Without ``every`` they are those that come without an extra or a group.
    """
    source = files.repository.source(path)
    if source is None:
        return
    for text, span in _entries(source, every=every):
        words = text.split()
        named = next(filter(None, map(named_at, words)), None)
        first = re.match(_ITEM, text)
        if named is not None:
            yield named, Evidence(f"needs {named}", span)
        elif first is not None:
            yield normalised(first[1]), Evidence(f"needs {first[1]}", span)


_ITEM = r"""\s*(?:[\w-]+::)?([A-Za-z][A-Za-z0-9._-]*)"""
"""A requirement; conda's may begin with a channel."""
_MOST_LINES = 2000


_MARK = "\ufeff"
"""Of a text in UTF-8 that an editor for Windows wrote."""
_DECLARING = (".toml", ".yml", ".yaml", ".cfg", ".py")
"""Names of files that are no lists for pip end so."""


def _entries(source: Source, *, every: bool) -> Iterator[tuple[str, Span]]:
    if source.path.endswith(_DECLARING):
        for one in declared(source) or ():
            if every or not one.extra:
                yield one.text, one.span
        return
    for number in range(1, min(len(source.line_starts), _MOST_LINES) + 1):
        text = source.line_text(number).lstrip(_MARK)
        yield re.sub(r"(?:^|\s)#.*", "", text), Span(source, *source.line_span(number))


# All that a list installs ---------------------------------------------------------------------


def all_of(path: str, files: Files) -> Iterator[str]:
    """The packages that a file lists; a question mark where it may list more."""
    source = files.repository.source(path)
    if source is None or path.endswith((".py", ".cfg")):
        yield UNKNOWN
    elif path.endswith((".toml", ".yml", ".yaml")):
        yield from _all_declared(source)
    else:
        for line in source.text.lstrip(_MARK).split("\n"):
            word = re.sub(r"(?:^|\s)#.*", "", line).strip()
            name = re.match(_PLAIN, word)
            if word and not word.startswith(("--index-url", "--extra-index-url", "-i ", "--find-links")):
                yield name[1] if name is not None else UNKNOWN


_PLAIN = r"(?:[\w-]+::)?([A-Za-z0-9][\w.-]*)(?!\S*[:/])"
"""A name and perhaps versions, and no address or path."""


def _all_declared(source: Source) -> Iterator[str]:
    known = declared(source)
    tables = toml(source.text) if source.path.endswith(".toml") else {}
    if known is None or (tables and not table_of(tables, "project") and not table_of(tables, "tool", "poetry")):
        yield UNKNOWN
    for one in known or ():
        name = re.match(_PLAIN, one.text)
        if one.text != "pip":
            yield name[1] if name is not None and one.plain else UNKNOWN


def all_of_project(files: Files) -> Iterator[str]:
    """What the project in the working directory needs; a question mark where it may need more."""
    place = files.find("pyproject.toml", files.workdir) or files.find("setup.py", files.workdir)
    yield from all_of(place.path, files) if place is not None else (UNKNOWN,)
