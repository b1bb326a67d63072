"""Edits that give a ``docker run`` command a shared-memory size, in the command's own style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.argv import Option, RunCommand
from shmlint.gpu import node_of
from shmlint.launch import Change, ReadOnly
from shmlint.size import spell_docker
from shmlint.source import Edit, Span
from shmlint.word import Word

OPTION = "--shm-size"


class RunRewriter(ReadOnly):
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
        else:
            first = self._first()
            if first is not None:
                yield _before(first, text)
        if self.verb.span is not None:
            at = self.verb.span.end
            yield _insertion(self.verb.span, at, f" {OPTION}={text}", text)

    def _here(self, word: Word) -> bool:
        """Whether a word stands in the command itself, not in a variable it uses."""
        span = word.span
        return span is not None and word.used is None and span.source is self.span.source and (
            self.span.start <= span.start and span.end <= self.span.end
        )

    def _first(self) -> Option | None:
        """The option to put another in front of: one whose value is elsewhere and asks for GPUs, or the first."""
        here = [option for option in self.run.options if self._here(option.word)]
        asking = [option for option in here if _asks_for_gpus(option) and option.value_word is not None]
        return next(iter([*asking, *here]), None)

    def _gpu(self) -> Option | None:
        """An option that asks for GPUs and stands in one piece, in the command or in an array.

        The last ``--gpus`` or, without one, the last of the others.
        """
        found = None
        for option in self.run.options:
            last = option.value_word or option.word
            here = self._here(option.word) and self._here(last)
            in_array = option.word.array is not None and option.word.array == last.array
            if not (here or in_array) or not _asks_for_gpus(option):
                continue
            if found is None or option.name == "--gpus" or found.name != "--gpus":
                found = option
        return found


def _asks_for_gpus(option: Option) -> bool:
    value = option.value or ""
    if option.name == "--device":
        return node_of(value.partition(":")[0]) is not None
    return option.name == "--gpus" or (option.name == "--runtime" and value in ("nvidia", "amd"))


def _insertion(beside: Span, at: int, new: str, size: str) -> Change:
    line = beside.source.position(at).line
    return Change((Edit(beside.path, at, at, new),), f"add `{OPTION}={size}` in line {line}")


def _own_line(option: Option) -> tuple[int, str, int] | None:
    """Where the first line of an option starts, how it is indented and where its last line ends.

    None where another word stands on these lines, or where they are not lines of their own.
    """
    span = option.word.span
    word = option.value_word or option.word
    last = word.used or word.span
    if span is None or last is None or last.end < span.start:
        return None
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    indentation = text[start : span.start]
    end = text.find("\n", last.end)
    if indentation.strip(" \t") or start == 0 or end < 0:
        return None
    rest = text[last.end : end].strip()
    if option.word.array is not None and (not rest or rest.startswith("#")):
        return start, indentation, end + 1
    before = text[:start].rstrip("\r\n")
    return (start, indentation, end + 1) if rest == "\\" and before.endswith("\\") else None


def _line(span: Span, indentation: str, end: int, text: str) -> str:
    """A line for the new option, as the one that ends at ``end`` is."""
    ending = "\r\n" if span.source.text[end - 2 : end - 1] == "\r" else "\n"
    mark = " \\" if span.source.text[:end].rstrip("\r\n").endswith("\\") else ""
    return f"{indentation}{OPTION}={text}{mark}{ending}"


def _beside(option: Option, text: str) -> Change:
    """Behind an option: on a line of its own where the options stand one to a line."""
    own = _own_line(option)
    last = (option.value_word or option.word).span
    assert last is not None
    if own is not None:
        _, indentation, end = own
        new = _line(last, indentation, end, text)
        line = last.source.position(end - 1).line
        return Change((Edit(last.path, end, end, new),), f"add `{OPTION}={text}` after line {line}")
    return _insertion(last, last.end, f" {OPTION}={text}", text)


def _before(option: Option, text: str) -> Change:
    """In front of an option, on a line of its own where the options stand one to a line."""
    own = _own_line(option)
    span = option.word.span
    assert span is not None
    if own is not None:
        start, indentation, end = own
        new = _line(span, indentation, end, text)
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
