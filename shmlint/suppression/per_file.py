"""``per-file-ignores``: the rules that settings take from files."""

from __future__ import annotations

from shmlint.files.patterns import exclusion, relative_to
from shmlint.model.rule import Rule
from shmlint.model.settings import Settings
from shmlint.rules import meant


class Ignored:
    """Says of a path and a rule whether ``per-file-ignores`` take the rule from the file."""

    __slots__ = ("_names", "_patterns", "_settings")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._patterns = {
            id(one): [(exclusion([pattern]), names) for pattern, names in one.per_file_ignores]
            for one in settings.every
        }
        self._names: dict[str, list[str]] = {}

    def __call__(self, path: str, rule: Rule) -> bool:
        return any(meant(rule, name) for name in self._of(path))

    def _of(self, path: str) -> list[str]:
        names = self._names.get(path)
        if names is None:
            settings = self._settings.of(path)
            relative = relative_to(path, settings.directory("per-file-ignores"))
            patterns = self._patterns[id(settings)] if relative is not None else ()
            names = [name for matches, some in patterns if matches(relative or "") for name in some]
            self._names[path] = names
        return names
