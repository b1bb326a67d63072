"""Lists of Python packages: files of requirements, environments of conda, projects. Each is read in two ways.

``named_in`` and ``named_by`` tell what may be installed and where that is written, ``all_of`` and ``all_of_project``
all that is installed, with a mark where a list may name more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from shmlint.files.read import normal
from shmlint.model.finding import Evidence
from shmlint.model.source import Span
from shmlint.workloads.filesystem import Files

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
_EXTRAS = r"optional-dependenc|dependency-groups|dev-dependenc|extras_require|^\[tool\.poetry\.group\."
_NO_EXTRAS = r"^dependencies\b|install_requires|^\[tool\.poetry\.dependencies\]"


def named_in(path: str, files: Files, *, every: bool = True) -> Iterator[tuple[str, Evidence]]:
    """The packages that a file of requirements names, line by line: the same words in each of its formats.

    Without ``every`` they are those that come without an extra or a group.
    """
    source = files.repository.source(path)
    if source is None:
        return
    in_dependencies, extra = not path.endswith((".toml", ".py", ".cfg")), False
    for number in range(1, min(len(source.line_starts), 2000) + 1):
        line = source.line_text(number).split("#")[0].strip()
        if path.endswith((".toml", ".py", ".cfg")):
            if re.search(r"dependenc|install_requires|extras_require", line):
                in_dependencies = True
            elif line.startswith("[") and "]" in line and not line.startswith(("['", '["')):
                in_dependencies = "dependenc" in line
            begins = re.search(_EXTRAS, line) is not None
            extra = begins or (extra and re.search(_NO_EXTRAS, line) is None)
        if not in_dependencies or (extra and not every):
            continue
        addresses = re.split(r"[\s\"',\[\]]+", line) if "git+" in line or ".whl" in line else ()
        for named in filter(None, map(named_at, addresses)):
            yield named, Evidence(f"needs {named}", Span(source, *source.line_span(number)))
        for match in re.finditer(_ITEM, line):
            yield normalised(match[1]), Evidence(f"needs {match[1]}", Span(source, *source.line_span(number)))


_ITEM = r"""(?:^|["'\[,]|^-\s*|::)\s*-?\s*([A-Za-z][A-Za-z0-9._-]*)"""


# All that a list installs ---------------------------------------------------------------------


def all_of(path: str, files: Files) -> Iterator[str]:
    """The packages that a file lists; a question mark where it may list more."""
    source = files.repository.source(path)
    lines = source.text.split("\n") if source is not None else ["?"]
    if source is not None and path.endswith(".toml"):
        yield from _of_pyproject(source.text)
        return
    if path.endswith((".py", ".cfg")):
        yield UNKNOWN
        return
    for line in lines:
        word = re.sub(r"(?:^|\s)#.*", "", line).strip().removeprefix("- ").strip().strip("'\"")
        listed = path.endswith((".yml", ".yaml"))
        name = re.match(r"(?:[\w-]+::)?([A-Za-z0-9][\w.-]*)(?!\S*[:/])", word)
        if listed and (not line.lstrip().startswith("- ") or word in ("pip", "pip:") or _is_channel(word)):
            continue
        if word and not word.startswith(("--index-url", "--extra-index-url", "-i ", "--find-links")):
            yield name[1] if name is not None else UNKNOWN


def _is_channel(word: str) -> bool:
    return word in ("conda-forge", "defaults", "nvidia", "nodefaults", "anaconda", "robostack-staging", "bioconda")


def _of_pyproject(text: str) -> Iterator[str]:
    data = toml(text)
    project, poetry = table_of(data, "project"), table_of(data, "tool", "poetry")
    if not project and not poetry:
        yield UNKNOWN
    groups = (*table_of(project, "optional-dependencies").values(), *table_of(data, "dependency-groups").values())
    for entry in (entry for some in (project.get("dependencies"), *groups) if isinstance(some, list) for entry in some):
        if isinstance(entry, str):
            yield UNKNOWN if "@" in entry else re.split(r"[\s\[<>=!~;(]", entry)[0]
    more = (table_of(table_of(poetry, "group"), name, "dependencies") for name in table_of(poetry, "group"))
    for listed in (table_of(poetry, "dependencies"), table_of(poetry, "dev-dependencies"), *more):
        yield from (name if isinstance(value, str) else UNKNOWN for name, value in listed.items())


def all_of_project(files: Files) -> Iterator[str]:
    """What the project in the working directory needs; a question mark where it may need more."""
    place = files.find("pyproject.toml", files.workdir) or files.find("setup.py", files.workdir)
    yield from all_of(place.path, files) if place is not None else (UNKNOWN,)


# Documents in TOML ----------------------------------------------------------------------------


def toml(text: str) -> Mapping[str, Any]:
    """A TOML document; empty where it is none."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return {}


def table_of(data: object, *keys: str) -> dict[str, Any]:
    """A table in a document; empty where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}
