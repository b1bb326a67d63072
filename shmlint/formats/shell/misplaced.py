"""Sizes in a command line that Docker does not take for its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from shmlint.docker.run_options import RunCommand, is_one_word, takes_value
from shmlint.docker.sizes import docker_size
from shmlint.formats.shell.rewrite import OPTION, join_by_sign
from shmlint.model.launch import Change, Misplaced, Size, Value
from shmlint.model.source import Edit, Span
from shmlint.syntax.word import Word


def misspelt(run: RunCommand) -> Iterator[Misplaced]:
    """``--shm_size``, ``--shm-size:8g``, ``--shm-siz``, ``-shm-size``, ``--shm``, ``-ipc=host``, ``--shm-size 8 g``.

    The client refuses them, and ``"--ipc host"`` as a single word.
    """
    word = run.unknown_option
    for option in filter(None, (run.shm_size(), run.ipc())):
        given = option.word
        if is_one_word(option) and given.span is not None:
            message = f"`{given.text}` is a single word, which is refused as an unknown flag"
            sized = option.name == OPTION
            changes, size = (tuple(join_by_sign(option)), _value((given,))) if sized else ((), None)
            advice = "write the option and its value as two words"
            yield Misplaced(given.span, message, changes, size, (), given.text, advice)
    name = word.text.partition("=")[0] if word is not None else ""
    if word is not None and word.span is not None and name == OPTION:
        because = run.unknown.because if run.unknown is not None else ""
        message = f"`{name}` is not read by Docker: {because}"
        yield Misplaced(word.span, message, at=name, advice=f"write `{OPTION}=SIZE`, like {OPTION}=8g, behind `run`")
    elif word is not None and word.span is not None and _is_meant(name):
        message = f"`{name}` is an unknown flag, and Docker refuses the command; the option is `{OPTION}`"
        yield Misplaced(word.span, message, at=name, advice=f"write {OPTION}")
    elif word is not None and word.span is not None and name == "-ipc":
        because = run.unknown.because if run.unknown is not None else ""
        message = f"{because}; the option is `--ipc`"
        yield Misplaced(word.span, message, at=name, advice="write --ipc=MODE, like --ipc=host")


def _is_meant(name: str) -> bool:
    """Whether an unknown option is meant for the size."""
    from difflib import SequenceMatcher

    bare = re.sub("[-_]", "", name.partition(":")[0])
    return bare == "shm" or SequenceMatcher(None, bare, "shmsize").ratio() > _ALIKE


_ALIKE = 0.8
"""Of ``--shm-sise`` 0.86 is the same, of ``--shmop`` 0.5, of Podman's ``--shm-size-systemd`` 0.67."""


def behind_image(run: RunCommand) -> Iterator[Misplaced]:
    """``--shm-size`` among the first words after the image: an argument of the container's command."""
    at = 0
    while at < len(run.command) and run.command[at].text.startswith("-"):
        word = run.command[at]
        name, joined, _ = word.text.partition("=")
        stands = word.span or word.used
        if name == OPTION and stands is not None and not run.unknown:
            words: Sequence[Word] = run.command[at : at + (1 if joined else 2)]
            size, given = _value(words), tuple(word.text for word in words)
            message = f"`{OPTION}` after the image is an argument of the program, not an option of Docker"
            following = run.command[at + len(words) : at + len(words) + 1]
            alone = not at and not any(_is_option(run, word) for word in following)
            # Without it the first of the others would still be the program; what they mean is for people to move.
            changes = tuple(_moved(run, words)) if alone else ()
            advice = f"write {OPTION}{'' if alone else ' and the other options beside it'} before the image"
            yield Misplaced(stands, message, changes, size, given, f"{OPTION} after the image", advice, alone)
            return
        with_next = False if joined else takes_value(run.engine, word.text)
        if with_next is None:
            return  # whether the next word is its value is unknown
        at += 2 if with_next else 1


def _is_option(run: RunCommand, word: Word) -> bool:
    """Whether a word is an option of the client, or begins with one: ``-v/a:/b``."""
    name = word.text.partition("=")[0] if word.text.startswith("--") else word.text[:2]
    return name.startswith("-") and takes_value(run.engine, name) is not None


def _size(words: Sequence[Word]) -> tuple[str, Size] | None:
    """The size as it is written, and as it is read before the image."""
    joined = re.split("[= ]+", words[0].text, maxsplit=1)[1:]
    text = joined[0] if joined else words[1].text if len(words) > 1 else ""
    size = docker_size(text)
    return (text, size) if size.bytes else None


def _value(words: Sequence[Word]) -> Value[Size] | None:
    found, span = _size(words), words[0].span or words[0].used
    if found is None or span is None:
        return None
    return Value(found[1], span, found[0])


def _moved(run: RunCommand, words: Sequence[Word]) -> Iterator[Change]:
    """The option before the image that it is right behind."""
    image, found = run.image, _size(words)
    if image is None or found is None or run.shm_size() is not None:
        return
    spans = [word.span for word in (image, *words)]
    if any(word.unknown or word.used is not None for word in (image, *words)):
        return
    known = [span for span in spans if span is not None and span.source is spans[0].source] if spans[0] else []
    if len(known) < len(spans):
        return
    source, start, behind, last = known[0].source, known[0].start, known[0].end, known[-1].end
    between = [Span(source, a.end, b.start).text for a, b in pairwise(known)]
    if any(text.strip(" \t\\\r\n") or not text for text in between):
        return
    given = f"{OPTION}={found[0]}"
    edits = (Edit(source.path, start, start, f"{given} "), Edit(source.path, behind, last, ""))
    yield Change(edits, f"move `{given}` before the image in line {known[0].line}")
