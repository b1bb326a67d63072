"""The texts of a program and of the modules that it imports, found without parsing them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from shmlint.files.read import normal
from shmlint.workloads.repository import MOST_FILES, Repository

_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)((?:\w[\w.]*)?)[ \t]+import[ \t]+([\w, \t]*)|import[ \t]+([\w.]+))", re.MULTILINE
)
_MOST_NAMES = 50
"""Names of one import that may be modules."""


def imported_texts(paths: Iterable[str], repository: Repository) -> Iterator[str]:
    """The texts of Python files, and of those of the repository that they import, at most 200.

    It costs little, so it can tell whether a program is worth reading: what is imported in another way is missed.
    """
    pending = list(paths)
    seen = set(pending)
    for path in pending:  # grows while it is walked
        source = repository.peek(path)
        if source is None or not path.endswith(".py"):
            continue
        yield source.text
        known, key = repository.shared.names, (repository.root, path, "imports")
        if key not in known:
            known[key] = tuple(_imported(source.text, path, repository))
        found = [one for one in known[key] if one not in seen]
        found = found[: MOST_FILES - len(seen)]
        seen.update(found)
        pending += found


def _imported(text: str, path: str, repository: Repository) -> list[str]:
    """The files of the repository that a module's text imports."""
    home = os.path.dirname(path)
    found: dict[str, None] = {}
    for dots, module, names, plain in _IMPORTS.findall(text):
        module = module or plain
        if not dots and module.partition(".")[0] in sys.stdlib_module_names:
            continue
        parts = module.split(".") if module else []
        folders = [normal(os.path.join(home, *[".."] * (len(dots) - 1)))] if dots else repository.above(home)
        for folder in folders:
            if parts and parts[0] not in (held := repository.names(folder)) and f"{parts[0]}.py" not in held:
                continue
            inner = os.path.join(folder, *parts)
            names_in = [os.path.join(inner, name.strip()) for name in names.split(",")[:_MOST_NAMES] if name.strip()]
            for one in (inner, *names_in):
                found.update(dict.fromkeys(_file(one, repository)))
            break
    return list(found)


def _file(module: str, repository: Repository) -> list[str]:
    return [path for path in (normal(f"{module}.py"), normal(f"{module}/__init__.py")) if repository.is_file(path)]
