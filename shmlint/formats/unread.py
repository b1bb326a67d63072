"""Files in which containers are started in languages that are not read: each start is seen, and reported."""

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
from shmlint.syntax.shell_text import ENGINE

_IN_SCRIPT = (
    rf"(?im)^(?![ \t]*(?:#|::|rem\b|echo\b|write-))(?>[^\n#]*?\b(?P<engine>{'|'.join(ENGINES)})(?:\.exe)?[ \t])"
    r"(?>[^\n#]*?(?<![\w-])(?:run|create)[ \t])"
)
_IN_DOCUMENT = rf"(?<![\w./-])(?P<engine>{ENGINE})[ \t]+(?:container[ \t]+)?(?:run|create)[ \t]+[-\\]"
_OTHER = re.compile(r"(?i)\b(?:compose|network|volume|context|exec|buildx)\b")

_LANGUAGES = {
    ".ps1": ("scripts of PowerShell are", _IN_SCRIPT),
    ".psm1": ("scripts of PowerShell are", _IN_SCRIPT),
    ".bat": ("scripts of the Windows command line are", _IN_SCRIPT),
    ".cmd": ("scripts of the Windows command line are", _IN_SCRIPT),
    ".adoc": ("AsciiDoc is", _IN_DOCUMENT),
    ".asciidoc": ("AsciiDoc is", _IN_DOCUMENT),
    ".ipynb": ("the commands of notebooks are", _IN_DOCUMENT),
}
"""What is not read, and how a container is started there, by the ending of a file."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """No launches; where containers are started."""
    return read_each(paths, workspace, lambda source: Reading(not_read=tuple(_starts(source))))


def _starts(source: Source) -> Iterator[NotRead]:
    what, pattern = _LANGUAGES[f".{source.path.lower().rpartition('.')[2]}"]
    starts = [found for found in re.finditer(pattern, source.text) if _OTHER.search(found[0]) is None]
    for found in starts:
        span = Span(source, found.start("engine"), found.end("engine"))
        yield NotRead(span, f"{what} not read", "unsupported", whole=found is starts[0])


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """None: nothing is found there."""
    return iter(())


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """None: nothing is found there."""
    return None
