"""What a makefile above another one gives to the make that it starts there: ``$(MAKE) -C sub SIZE=8g``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.makefile.exported import EXPORTS_ALL, names_exported
from shmlint.model.source import Source
from shmlint.syntax.shell_variables import ANY

_NAMES = ("GNUmakefile", "makefile", "Makefile")
_LEVELS = 2
_STARTS = re.compile(r"(?:\$[({]MAKE[)}]|\bmake\b)([^\n]*-C[^\n]*)")
_GIVEN = re.compile(r"(?<=\s)([\w.-]+)=")


def given_above(source: Source, workspace: Workspace) -> Iterator[str]:
    """The variables that makefiles above a makefile export or give to it, where it has defaults; ``ANY``: all."""
    if "?=" not in source.text:
        return
    directory = os.path.dirname(source.path)
    inside = os.path.basename(directory or workspace.top)
    for above in workspace.upwards(source.path)[1 : _LEVELS + 1]:
        for path in (normal(os.path.join(above, name)) for name in _NAMES):
            text = found.text if (found := workspace.peek(path)) else ""
            calls = [call for call in _STARTS.findall(text) if inside and inside in call]
            if calls:
                yield from ((ANY,) if re.search(EXPORTS_ALL, text) else names_exported(text))
                yield from (name for call in calls for name in _GIVEN.findall(call))
