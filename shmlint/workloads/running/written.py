"""Files that the build of an image writes itself: ``RUN echo '…' > /start.sh``, ``COPY <<EOF /start.sh``."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source
from shmlint.syntax.dockerfile import BuiltImage

_LONGEST = 20_000
"""Characters of a step that is looked through."""
_MOST = 20
"""Here-documents of a Dockerfile that are read."""
_FROM = re.compile(r"(?mi)^[ \t]*FROM[ \t]")
_HERE = re.compile(
    r"(?mi)^[ \t]*(?:(?:COPY|ADD)[ \t]+(?:--\S+[ \t]+)*<<-?[\"']?(?P<a>\w+)[\"']?[ \t]+(?P<to_a>\S+)"
    r"|RUN[ \t]+cat[ \t]+(?:<<-?[\"']?(?P<b>\w+)[\"']?[ \t]*>[ \t]*(?P<to_b>[^\s&|;]+)"
    r"|>[ \t]*(?P<to_c>[^\s&|;]+)[ \t]*<<-?[\"']?(?P<c>\w+)[\"']?))[^\n]*$"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "", "\\": "\\", '"': '"', "'": "'", "$": "$", "`": "`"}


class Written(NamedTuple):
    """A file of an image: its path, its text, and the line of the Dockerfile that writes it."""

    path: str
    text: str
    line: int


def written_by(image: BuiltImage, dockerfile: Source) -> Iterator[Written]:
    """The files with a text that the steps of a build write, as they are at its end."""
    found: dict[str, Written] = {}
    for step, line in image.runs:
        for words, sign, target in _redirected(step):
            path = posixpath.join(image.workdir or "/", target)
            before = found[path].text if sign == ">>" and path in found else ""
            said = _said(words)
            if said is not None:
                found[path] = Written(path, before + said, line)
    for target, text, line in _here_documents(dockerfile.text):
        path = posixpath.join(image.workdir or "/", target)
        found[path] = Written(path, text, line)
    yield from found.values()


def _here_documents(dockerfile: str) -> Iterator[tuple[str, str, int]]:
    """The files that here-documents of the last stage are written to, their texts and lines."""
    last = max((match.start() for match in _FROM.finditer(dockerfile)), default=0)
    for match in islice(_HERE.finditer(dockerfile, last), _MOST):
        name, target = next((match[key], match[f"to_{key}"]) for key in "abc" if match[key])
        end = re.compile(rf"(?m)^[ \t]*{name}[ \t\r]*$").search(dockerfile, match.end())
        if end is not None:
            yield target, dockerfile[match.end() + 1 : end.start()], dockerfile.count("\n", 0, match.start()) + 1


def _redirected(step: str) -> tuple[tuple[list[str], str, str], ...]:
    """The words of ``echo`` and ``printf`` in a step, with the sign and the file behind them."""
    prints = "echo" in step or "printf" in step
    return _split(step) if ">" in step and prints and len(step) <= _LONGEST else ()


@lru_cache(256)  # many launches have the same image
def _split(step: str) -> tuple[tuple[list[str], str, str], ...]:
    reader = shlex.shlex(step, posix=True, punctuation_chars="();<>|&")
    reader.whitespace_split, reader.commenters = True, ""
    try:
        words = list(reader)
    except ValueError:
        return ()
    found = []
    command: list[str] = []
    for at, word in enumerate(words):
        if word in (">", ">>") and command[:1] in (["echo"], ["printf"]) and at + 1 < len(words):
            found.append((command, word, words[at + 1]))
        command = [] if word in _BETWEEN else [*command[:_MOST_WORDS], word]
    return tuple(found)


_BETWEEN = frozenset({";", "&&", "||", "|", "&", "(", ")", ">", ">>", "<", "{"})
_MOST_WORDS = 200


def _said(words: Sequence[str]) -> str | None:
    """What ``echo`` or ``printf`` prints; None for what is not understood.

    The ``echo`` of the shell that runs the steps of most images reads ``\\n``, with and without ``-e``.
    """
    program, *given = words
    if program == "echo":
        options = [word for word in given[:2] if re.fullmatch("-[neE]+", word)]
        return _plain(" ".join(given[len(options) :])) + ("" if any("n" in option for option in options) else "\n")
    form, *rest = given or [""]
    if "%" not in form:
        return _plain(form)
    end = re.fullmatch(r"%[sb]((?:\\n)?)", form)
    return "".join(word + _plain(end[1]) for word in rest) if end is not None else None


def _plain(text: str) -> str:
    """A text with its escapes carried out."""
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text)
