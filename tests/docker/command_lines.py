"""Command lines as words, for the tests of this folder."""

from __future__ import annotations

import re
import shlex

from shmlint.syntax.word import Cause, Word


def words(line: str) -> list[Word]:
    """Words as a shell makes them; ``$X`` and ``<x>`` are not known, unquoted ``$X`` may be many."""
    return [
        Word(text, None, Cause("placeholder"), text.startswith("$"))
        if re.search(r"[$<>{}]|\.\.\.", text)
        else Word(text)
        for text in shlex.split(line)
    ]
