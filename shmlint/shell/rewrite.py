"""Edits that give a ``docker run`` command a shared-memory size, in the command's own style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.argv import Option, RunCommand
from shmlint.launch import Change
from shmlint.size import spell_docker
from shmlint.source import Edit, Span
from shmlint.word import Word

OPTION = "--shm-size"


class RunRewriter:
    """Rewrites one command. ``verb`` is the word ``run``, ``words`` all behind it."""

    __slots__ = ("run", "span", "verb", "words")

    def __init__(self, run: RunCommand, verb: Word, span: Span, words: Sequence[Word]) -> None:
        self.run = run
        self.verb = verb
        self.span = span
        self.words = words

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to give the command a ``--shm-size`` of so many bytes, the best first."""
        return list(self._changes(spell_docker(size)))

    def _changes(self, text: str) -> Iterator[Change]:
        given = self.run.shm_size()
        if given is not None:
            if given.value_span is not None:
                place = given.value_span
                title = f"change `{OPTION}` to {text} in line {place.line}"
                yield Change((Edit(place.path, place.start, place.end, text),), title)
            return
        gpu = self._gpu()
        if gpu is not None:
            yield _beside(gpu, text)
        first = next((option for option in self.run.options if self._here(option.word)), None)
        if first is not None and gpu is None:
            yield _before(first, text)
        if self.verb.span is not None:
            at = self.verb.span.end
            yield _insertion(self.verb.span, at, f" {OPTION}={text}", text)

    def _here(self, word: Word) -> bool:
        """Whether a word stands in the command itself, not in a variable it uses."""
        span = word.span
        return span is not None and span.source is self.span.source and (
            self.span.start <= span.start and span.end <= self.span.end
        )

    def _gpu(self) -> Option | None:
        for option in self.run.options:
            last = option.value_word or option.word
            if option.name == "--gpus" and self._here(option.word) and self._here(last):
                return option
        return None


def _insertion(beside: Span, at: int, new: str, size: str) -> Change:
    line = beside.source.position(at).line
    return Change((Edit(beside.path, at, at, new),), f"add `{OPTION}={size}` in line {line}")


def _own_line(option: Option) -> tuple[int, str] | None:
    """Where the line of an option starts and how it is indented, where no other word stands on it."""
    span = option.word.span
    last = (option.value_word or option.word).span
    if span is None or last is None:
        return None
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    indentation = text[start : span.start]
    end = text.find("\n", last.end)
    rest = text[last.end : end if end >= 0 else len(text)].strip()
    if indentation.strip(" \t") or start == 0 or rest != "\\":
        return None
    before = text[:start].rstrip("\r\n")
    return (start, indentation) if before.endswith("\\") else None


def _beside(option: Option, text: str) -> Change:
    """Behind an option: on a line of its own where the options stand one to a line."""
    own = _own_line(option)
    last = (option.value_word or option.word).span
    assert last is not None
    if own is not None:
        source = last.source
        start, indentation = own
        newline = source.text.find("\n", last.end)
        at = newline + 1
        ending = "\r\n" if source.text[newline - 1] == "\r" else "\n"
        del start
        new = f"{indentation}{OPTION}={text} \\{ending}"
        line = source.position(newline).line
        return Change((Edit(last.path, at, at, new),), f"add `{OPTION}={text}` after line {line}")
    return _insertion(last, last.end, f" {OPTION}={text}", text)


def _before(option: Option, text: str) -> Change:
    """In front of an option, on a line of its own where the options stand one to a line."""
    own = _own_line(option)
    span = option.word.span
    assert span is not None
    if own is not None:
        start, indentation = own
        newline = span.source.text.find("\n", span.end)
        ending = "\r\n" if span.source.text[newline - 1] == "\r" else "\n"
        new = f"{indentation}{OPTION}={text} \\{ending}"
        line = span.source.position(start).line
        return Change((Edit(span.path, start, start, new),), f"add `{OPTION}={text}` before line {line}")
    return _insertion(span, span.start, f"{OPTION}={text} ", text)


def quote_devices(option: Option) -> Iterator[Change]:
    """Put the quotation marks around a list of devices that Docker wants to see itself."""
    word = option.value_word or option.word
    if word.span is None:
        return
    place = option.value_span if option.joined else word.span
    if place is None or place.text.strip("\"'") != option.value:
        return
    new = f"""'"{option.value}"'"""
    yield Change((Edit(place.path, place.start, place.end, new),), f"write --gpus {new} in line {place.line}")
