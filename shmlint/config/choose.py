"""The files for the paths of a run, without those that settings exclude."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from shmlint.config import nested
from shmlint.files.discover import Found, LeftOut, discover
from shmlint.files.kinds import hint
from shmlint.files.read import PathProblem
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Source, Span


class Chosen(NamedTuple):
    """The files to read by kind, and the settings with those of the files' directories."""

    files: dict[str, list[str]]
    settings: Settings
    before: Reading
    """What is known before the files are read: paths that cannot be read, and files that are left out."""
    named: frozenset[str] = frozenset()
    """The files that are named, and not found in a directory."""

    @property
    def unsupported(self) -> tuple[NotRead, ...]:
        """The named files that no format reads."""
        return tuple(place for place in self.before.not_read if place.kind == "unsupported")


def choose(
    paths: Sequence[str], settings: Settings, *, kinds: Collection[str], jobs: int = 1, top: str = "",
    force: bool = False,
) -> Chosen:  # fmt: skip
    """The files for paths that no settings exclude; those that are named too, unless ``force`` excludes them.

    With ``force`` a program names files, as a hook does: those that no format reads are left out as in a scan.
    The patterns of ``settings`` hold for everything that is scanned, those of other settings files for the
    files that follow these. Raises InvalidSettings, and ValueError for an invalid pattern.
    """
    scanned = () if settings.directory("exclude") else settings.exclude  # which count from `top`
    every = list(discover(paths, exclude=scanned, kinds=kinds, jobs=jobs, top=top))
    settings = nested(settings, [item.path for item in every if isinstance(item, Found)], top)
    excluded = _excluded(settings) if any(some.exclude for some in settings.every) else lambda path: False
    named = set(paths)
    files: dict[str, list[str]] = {}
    problems: list[Problem] = []
    not_read: list[NotRead] = []
    for item in every:
        span = Span(Source(item.path, ""), 0, 0)
        is_named = item.explicit if isinstance(item, Found) else item.path in named
        if not isinstance(item, LeftOut) and excluded(item.path) and (force or not is_named):
            if isinstance(item, PathProblem):
                continue
            item = LeftOut(item.path)
        if isinstance(item, LeftOut):
            not_read.append(NotRead(span, item.because, item.kind))
        elif isinstance(item, PathProblem):
            problems.append(Problem(span, item.message))
        elif item.kind in kinds:
            files.setdefault(item.kind, []).append(item.path)
        elif not force:  # only a named file is found whatever its kind
            not_read.append(NotRead(span, hint(item.path), "unsupported"))
    explicit = frozenset(item.path for item in every if isinstance(item, Found) and item.explicit)
    return Chosen(files, settings, Reading(problems=tuple(problems), not_read=tuple(not_read)), explicit)


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
