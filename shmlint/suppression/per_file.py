"""``per-file-ignores``: the rules that settings take from files."""

from __future__ import annotations

import os

from shmlint.files.patterns import exclusion
from shmlint.model.rule import Rule
from shmlint.model.settings import Settings
from shmlint.rules import meant


class Ignored:
    """Says of a path and a rule whether ``per-file-ignores`` take the rule from the file."""

    __slots__ = ("_directory", "_names", "_patterns")

    def __init__(self, settings: Settings) -> None:
        self._directory = os.path.dirname(settings.path or "") or "."
        self._patterns = [(exclusion([pattern]), names) for pattern, names in settings.per_file_ignores]
        self._names: dict[str, list[str]] = {}

    def __call__(self, path: str, rule: Rule) -> bool:
        return bool(self._patterns) and any(meant(rule, name) for name in self._of(path))

    def _of(self, path: str) -> list[str]:
        names = self._names.get(path)
        if names is None:
            relative = os.path.relpath(path, self._directory).replace(os.sep, "/")
            outside = relative.startswith("../")
            names = [n for matches, some in self._patterns if not outside and matches(relative) for n in some]
            self._names[path] = names
        return names
