"""Scripts of PowerShell and of the Windows command line: what they start is seen, and reported as not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.model.launch import ENGINES, Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source, Span
from shmlint.model.suppression import Suppression

_START = re.compile(
    rf"(?im)^(?![ \t]*(?:#|::|rem\b|echo\b|write-))(?>[^\n#]*?\b(?P<engine>{'|'.join(ENGINES)})(?:\.exe)?[ \t])"
    r"(?>[^\n#]*?(?<![\w-])(?:run|create)[ \t])"
)
_OTHER = re.compile(r"(?i)\b(?:compose|network|volume|context|exec|buildx)\b")


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """No launches; where containers are started."""
    return read_each(paths, workspace, lambda source: Reading(not_read=tuple(_starts(source))))


def _starts(source: Source) -> Iterator[NotRead]:
    language = "PowerShell" if source.path.lower().endswith((".ps1", ".psm1")) else "the Windows command line"
    for found in _START.finditer(source.text):
        span = Span(source, found.start("engine"), found.end("engine"))
        if _OTHER.search(found[0]) is None:
            yield NotRead(span, f"scripts of {language} are not read", "unsupported")


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """None: nothing is found there."""
    return iter(())


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """None: nothing is found there."""
    return None
