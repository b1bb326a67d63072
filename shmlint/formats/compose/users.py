"""What else is made of a compose file that nobody named: services extend a template, and files include another."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
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
    """A YAML file that may take something from others."""

    path: str
    content: bytes
    is_compose: bool
    """Else it may be part of one that includes it."""


_OTHERS: Key[tuple[_Other, ...]] = Key("YAML files of a repository that may take from others")
_MOST_READ = 2_000
_MOST_BYTES = 256 * 1024
_MOST_NAMES_OUTSIDE = 5_000
"""So many YAML files are read for this, and so much of each; none where outside of a repository there are more files.
"""


def takers(path: str, workspace: Workspace) -> list[str]:
    """The Compose files of a file's repository that may include or extend it, or one that does.

    Outside of any repository they are looked for in the working directory. They are read from the disk: which files
    the run depends on is known only once one of them is seen to take something.
    """
    kept = f"{'absolute' if os.path.isabs(path) else 'relative'}\n{workspace.upwards(path)[-1]}"
    others = workspace.once(_OTHERS, kept, lambda files: tuple(_others(path, files)))
    found = {path: False}
    left = [path]
    while left and len(found) < MOST_USERS:
        name = os.path.basename(left.pop()).encode("utf-8", "surrogateescape")
        more = {other.path: other.is_compose for other in others if name in other.content and other.path not in found}
        found |= more
        left += more
    return [other for other, is_compose in found.items() if is_compose]


def _others(path: str, workspace: Workspace) -> Iterator[_Other]:
    top, most = workspace.upwards(path)[-1], MOST_NAMES if workspace.root(path) else _MOST_NAMES_OUTSIDE
    names = [*islice(names_under(os.path.realpath(workspace.on_disk(top or "."))), most + 1)]
    yaml = sorted(filter(_is_yaml, names), key=lambda name: "compose" not in os.path.basename(name).lower())
    for name in yaml[:_MOST_READ] if len(names) <= most else ():
        other = workspace.direct(os.path.join(top, name))
        try:
            content = read_regular(workspace.on_disk(other), _MOST_BYTES)
        except (OSError, ValueError):
            continue
        if b"include" in content or b"extends" in content:
            absolute = os.path.abspath(workspace.on_disk(other)).replace(os.sep, "/")
            yield _Other(other, content, classify(absolute, partial(bytes, content)) == "compose")
