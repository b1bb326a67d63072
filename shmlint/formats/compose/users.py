"""What else is made of a compose file that nobody named: services extend a template, and files include another."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from functools import partial
from itertools import islice

from shmlint.files.cache import Key
from shmlint.files.kinds import classify
from shmlint.files.read import Unreadable, normal, read_regular
from shmlint.files.under import names_under
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.load import load_project
from shmlint.model.record import NamedTuple

MOST_NAMES = 100_000
MOST_USERS = 200
"""So many names are looked at for files that use another, and so many of these are read again."""


def users(paths: Collection[str], named: Collection[str], workspace: Workspace) -> list[str] | None:
    """The files beside those named that extend or include some files; None if they may be anywhere.

    They are looked for in the repository of these files; outside of one under their directories, or only beside them
    where these hold too much. Whoever keeps a file that is not named in another directory shares it between projects.
    """
    folders = {os.path.dirname(path) for path in named}
    if any(path not in named and os.path.dirname(path) not in folders for path in paths):
        return None
    candidates = _yaml_files(paths, workspace)
    if candidates is None:
        return None
    wanted = set(paths)
    uses = {one: _uses(one, wanted, workspace) for one in sorted(candidates - {*paths, *named})}
    found = [one for one, is_user in uses.items() if is_user]
    return None if None in uses.values() or len(found) > MOST_USERS else found


def _yaml_files(paths: Collection[str], workspace: Workspace) -> set[str] | None:
    """The YAML files beside some files and in their repositories; None where these hold too many files."""
    found: set[str] = set()
    roots: dict[str, tuple[str, bool]] = {}
    for folder in sorted({os.path.dirname(path) for path in paths}):
        found.update(normal(os.path.join(folder, name)) for name in workspace.names_in(folder or ".") if _is_yaml(name))
        root = workspace.root(os.path.join(folder, "compose.yaml"))
        real = os.path.realpath(workspace.on_disk(folder or "."))
        roots.setdefault(root or real, (folder, root is not None))
    for root, (folder, is_repository) in roots.items():
        names = [*islice(names_under(root), MOST_NAMES + 1)]
        way = os.path.relpath(root, os.path.realpath(workspace.on_disk(folder or ".")))
        if len(names) <= MOST_NAMES:
            found.update(workspace.direct(os.path.join(folder, way, name)) for name in names if _is_yaml(name))
        elif is_repository:
            return None
    return found


def _is_yaml(name: str) -> bool:
    return name.endswith((".yml", ".yaml"))


def _uses(path: str, wanted: Collection[str], workspace: Workspace) -> bool | None:
    """Whether a file extends or includes one of some files, or one that does; None where it may."""
    try:
        text = workspace.source(path).text
        if "extends" not in text and "include" not in text:
            return False
        project = load_project([path], workspace)
    except Unreadable:
        return False
    if not project.included.union(project.extended).isdisjoint(wanted):
        return True
    unknown = project.unknown or any(service.unknown for service in project.services.values())
    return None if unknown and any(os.path.basename(one) in text for one in wanted) else False


class _Other(NamedTuple):
    """A YAML file that may take something from others, and the names of YAML files in it."""

    path: str
    names: frozenset[str]
    is_compose: bool
    """Else it may be part of one that includes it."""


_OTHERS: Key[tuple[_Other, ...]] = Key("YAML files of a repository that may take from others")
_MOST_READ = 2_000
_MOST_BYTES = 256 * 1024
_MOST_NAMES_OUTSIDE = 5_000
"""So many YAML files are read for this, and so much of each; none where outside of a repository there are more files.
"""
_NAME = r"[\w.][\w.-]*\.ya?ml\b"


def takers(paths: Collection[str], workspace: Workspace) -> list[str]:
    """The Compose files in the repositories of some files that may include or extend one, or a file that does.

    Outside of any repository they are looked for in the working directory. They are read from the disk: which files
    the run depends on is known only once one of them is seen to take something.
    """
    found: dict[str, bool] = {}
    tops: dict[str, list[str]] = {}
    for path in paths:
        kept = f"{'absolute' if os.path.isabs(path) else 'relative'}\n{workspace.upwards(path)[-1]}"
        tops.setdefault(kept, []).append(path)
    for kept, some in tops.items():
        others = workspace.once(_OTHERS, kept, partial(_others, some[0]))
        wanted = set(map(os.path.basename, some))
        left = list(others)
        while taking := [other for other in left if not wanted.isdisjoint(other.names)]:
            found |= {other.path: other.is_compose for other in taking}
            left = [other for other in left if other.path not in found]
            wanted = {os.path.basename(other.path) for other in taking}
    return [other for other, is_compose in found.items() if is_compose and other not in paths]


def _others(path: str, workspace: Workspace) -> tuple[_Other, ...]:
    top, most = workspace.upwards(path)[-1], MOST_NAMES if workspace.root(path) else _MOST_NAMES_OUTSIDE
    names = [*islice(names_under(os.path.realpath(workspace.on_disk(top or "."))), most + 1)]
    yaml = sorted(filter(_is_yaml, names), key=lambda name: "compose" not in os.path.basename(name).lower())
    found = []
    for name in yaml[:_MOST_READ] if len(names) <= most else ():
        other = workspace.direct(os.path.join(top, name))
        try:
            content = read_regular(workspace.on_disk(other), _MOST_BYTES)
        except (OSError, ValueError):
            continue
        if b"include" in content or b"extends" in content:
            absolute = os.path.abspath(workspace.on_disk(other)).replace(os.sep, "/")
            named = frozenset(re.findall(_NAME, content.decode(errors="replace")))
            found.append(_Other(other, named, classify(absolute, partial(bytes, content)) == "compose"))
    return tuple(found)
