"""Reads shell texts for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterable

from shmlint.model.source import Source
from shmlint.syntax.shell import Command, commands, engine_commands
from shmlint.syntax.shell_text import whole
from shmlint.syntax.word import Word


def read(text: str) -> list[Command]:
    return list(commands(whole(Source("x.sh", text), 0, len(text))))


def words(text: str) -> list[list[str]]:
    """The words of every command; those not known with ``?``, with ``*`` where they may be many."""
    return _words(read(text))


def _words(found: Iterable[Command]) -> list[list[str]]:
    return [[_shown(word) for word in command.words] for command in found]


def _shown(word: Word) -> str:
    marks = "?" if word.unknown else ""
    marks += "*" if word.maybe_many else ""
    marks += "~" if word.harmless else ""
    return word.text + marks


def dockers(text: str) -> list[str]:
    """The docker commands, their words with single blanks between, whether the other commands are read too or not."""
    every = words(text)
    few = _words(engine_commands(whole(Source("x.sh", text), 0, len(text))))
    found, again = ([" ".join(one) for one in some if one[0] in _ENGINES] for some in (every, few))
    assert found == again
    return found


_ENGINES = ("docker", "podman", "nvidia-docker")
