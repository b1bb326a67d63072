"""Settings files: ``.shmlint.yaml``, or ``[tool.shmlint]`` in ``pyproject.toml``, nearest upwards.

Each file follows the nearest one above it, up to the root of its repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from shmlint.model.settings import Settings

FILE = ".shmlint.yaml"


def load(explicit: str | None, start: str, top: str = "") -> Settings:
    """The settings for a path, or those of a file that is named. Raises InvalidSettings.

    Relative paths count from ``top``, or else from the working directory.
    """
    if explicit is not None:
        return _loaded(explicit, top, directory="", anywhere=True)._replace(for_all=True)
    here = os.path.abspath(os.path.join(top, start))
    path = _find(here if os.path.isdir(here) else os.path.dirname(here), {}, top)
    return Settings() if path is None else _loaded(path, top, directory=os.path.dirname(path))


def common(paths: Sequence[str]) -> str:
    """The directory that all paths lie in, or the only path: the order of the paths makes no difference."""
    try:
        return os.path.commonpath(map(os.path.abspath, paths))
    except ValueError:  # on several drives
        return "."


def nested(settings: Settings, files: Iterable[str], top: str = "") -> Settings:
    """The settings of a run with those of the directories of its files. Raises InvalidSettings."""
    if settings.for_all:
        return settings
    known: dict[str, str | None] = {}
    loaded: dict[str | None, Settings | None] = {None: Settings()}
    loaded[settings.path] = None
    found: dict[str, Settings | None] = {}
    for directory in sorted({os.path.dirname(path) for path in files}):
        path = _find(os.path.abspath(os.path.join(top, directory)), known, top)
        if path not in loaded:
            loaded[path] = _loaded(path or "", top, directory=os.path.dirname(path or ""))
        found[directory] = loaded[path]
    return settings._replace(nested=found) if any(found.values()) else settings


def _find(directory: str, known: dict[str, str | None], top: str) -> str | None:
    """The settings file of a directory or of the nearest one above it; ``known`` is what was found before."""
    if directory not in known:
        inside = os.path.join(directory, "")
        own = _settings_file_in(inside)
        parent = os.path.dirname(directory)
        if own is not None:
            known[directory] = os.path.relpath(own, top or None).replace(os.sep, "/")
        elif parent == directory or os.path.exists(f"{inside}.git"):
            known[directory] = None
        else:
            known[directory] = _find(parent, known, top)
    return known[directory]


def _loaded(path: str, top: str, *, directory: str, anywhere: bool = False) -> Settings:
    from shmlint.config.merge import loaded

    return loaded(path, top, directory=directory, anywhere=anywhere)


def _settings_file_in(inside: str) -> str | None:
    """The settings file in a directory; ``inside`` is its path with a slash."""
    own = inside + FILE
    if os.path.isfile(own):
        return own
    project = f"{inside}pyproject.toml"
    if os.path.isfile(project):
        try:
            with open(project, "rb") as file:
                return project if b"tool.shmlint" in file.read() else None
        except OSError:
            pass
    return None
