"""Reads shell texts for the tests of this folder."""

from __future__ import annotations

from shmlint.model.source import Source
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_text import whole
from shmlint.syntax.word import Word


def read(text: str) -> list[Command]:
    return list(commands(whole(Source("x.sh", text), 0, len(text))))


def words(text: str) -> list[list[str]]:
    """The words of every command; those not known with ``?``, with ``*`` where they may be many."""
    return [[_shown(word) for word in command.words] for command in read(text)]


def _shown(word: Word) -> str:
    marks = "?" if word.unknown else ""
    marks += "*" if word.maybe_many else ""
    marks += "~" if word.harmless else ""
    return word.text + marks


def dockers(text: str) -> list[str]:
    """The docker commands, their words with single blanks between."""
    return [" ".join(found) for found in words(text) if found[0] in ("docker", "podman", "nvidia-docker")]
