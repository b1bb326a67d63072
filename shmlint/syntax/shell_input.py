"""Commands that read the program they run from their standard input."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shmlint.syntax.word import Word

_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k|a)?sh")
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*")
_TAKE_WORD = frozenset({"-o", "+o", "-O", "+O", "-W", "-X", "--rcfile", "--init-file"})
"""Options of shells and Python that another word belongs to."""


def with_input(words: Sequence[Word], given: Word) -> tuple[Word, ...]:
    """The words of a command that is given a text: ``bash -s a <<EOF`` runs what ``bash -c TEXT bash a`` runs.

    Those of a command that has its program from elsewhere stay as they are.
    """
    if [word.text for word in words[:2] if word.text != "sudo"][:1] == ["su"]:  # the user's shell gets it
        has_own = any(word.text in ("-c", "--command") or word.unknown for word in words)
        return tuple(words) if has_own else (*words, Word("-c", given.span), given)
    at = next((at for at, word in enumerate(words) if _runs_input(word)), None)
    if at is None:
        return tuple(words)
    end = at + 1
    reads = False
    while end < len(words) and words[end].text[:1] in ("-", "+") and not reads:
        option = words[end].text
        if option[:2] != "--" and ("c" in option or (option == "-m" and _PYTHON.fullmatch(words[at].text))):
            return tuple(words)
        reads = option in ("-", "-s")
        end += 2 if option in _TAKE_WORD else 1
    if (end < len(words) and not reads) or any(word.unknown for word in words[:end]):
        return tuple(words)  # it runs a file, or may do so
    options = [word for word in words[at + 1 : end] if word.text not in ("-", "-s")]
    arguments = words[end:]
    if _PYTHON.fullmatch(words[at].text) is None:
        arguments = (words[at], *(arguments[1:] if arguments and arguments[0].text == "--" else arguments))
    return (*words[: at + 1], *options, Word("-c", given.span), given, *arguments)


def _runs_input(word: Word) -> bool:
    return _SHELL.fullmatch(word.text) is not None or _PYTHON.fullmatch(word.text) is not None
