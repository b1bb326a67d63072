"""The files for the paths of a run, without those that settings exclude."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from shmlint.config import nested
from shmlint.files.discover import Excluded, Found, discover
from shmlint.files.read import PathProblem
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings


class Chosen(NamedTuple):
    """The files to read, what could not be read, and the settings with those of the files' directories."""

    found: list[Found | PathProblem]
    settings: Settings
    excluded: tuple[str, ...] = ()
    """The files that are not read because settings exclude them."""


def choose(
    paths: Sequence[str], settings: Settings, *, kinds: Collection[str], jobs: int = 1, top: str = "",
    force: bool = False,
) -> Chosen:  # fmt: skip
    """The files for paths that no settings exclude; those that are named too, unless ``force`` excludes them.

    The patterns of ``settings`` hold for everything that is scanned, those of other settings files for the
    files that follow these. Raises InvalidSettings, and ValueError for an invalid pattern.
    """
    scanned = () if settings.directory("exclude") else settings.exclude  # which count from `top`
    found: list[Found | PathProblem] = []
    left_out: list[str] = []
    for item in discover(paths, exclude=scanned, kinds=kinds, jobs=jobs, top=top):
        if isinstance(item, Excluded):
            left_out.append(item.path)
        else:
            found.append(item)
    settings = nested(settings, [item.path for item in found if isinstance(item, Found)], top)
    if any(some.exclude for some in settings.every):
        excluded = _excluded(settings)
        named = set(paths)
        kept = [
            item for item in found
            if not excluded(item.path)
            or (not force and (item.explicit if isinstance(item, Found) else item.path in named))
        ]  # fmt: skip
        left_out += {item.path for item in found if isinstance(item, Found)} - {item.path for item in kept}
        found = kept
    return Chosen(found, settings, tuple(sorted(left_out)))


def _excluded(settings: Settings) -> Callable[[str], bool]:
    """Says whether the settings of a run exclude a path, or those that the file at the path follows."""
    from shmlint.files.patterns import exclusion, relative_to

    patterns = {id(some): (exclusion(some.exclude), some.directory("exclude")) for some in settings.every}

    def excluded(path: str) -> bool:
        for some in {id(settings), id(settings.of(path))}:
            matches, directory = patterns[some]
            relative = relative_to(path, directory)
            if relative is not None and matches(relative):
                return True
        return False

    return excluded
