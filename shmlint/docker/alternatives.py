"""A container start that a variable holds in several ways, one in each branch, as words of its command."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.docker.engines import find_docker, skip_to_engine
from shmlint.docker.run_options import read_run
from shmlint.syntax.word import Word


def opened(words: Sequence[Word]) -> Sequence[Word]:
    """The words of a command that begins with a variable, or an output, which is one container start or another.

    ``$RUN image`` with ``docker run --rm`` or ``sudo docker run --rm``: what all of them hold is put in its place.
    """
    at = _first_of_several(words)
    held = _held_start(words[at]) if at is not None else ()
    return [*words[:at], *held, *words[at + 1 :]] if at is not None and held else words


def starts_in_some_cases(words: Sequence[Word]) -> bool:
    """Whether a command begins with a variable that holds a container start in some cases."""
    at = _first_of_several(words)
    values = words[at].values if at is not None else ()
    return any(find_docker([*map(Word, value.split())]) is not None for value in values)


def _first_of_several(words: Sequence[Word]) -> int | None:
    """The first word that is one text or another, and may be several words."""
    held = (at for at, word in enumerate(words) if word.values and word.maybe_many)
    return next(held, None)


def _held_start(word: Word) -> Sequence[Word]:
    """The words of the container start that a variable holds; none where one of its values is something else."""
    engines: list[str] = []
    starts: list[list[str]] = []
    for value in map(str.split, word.values):
        at = skip_to_engine([*map(Word, value)])
        if not value:
            continue  # then no container is started
        if at is None:
            return ()
        engines.append(value[at])
        starts.append(value[at + 1 :])
    verbs = [next((i for i, text in enumerate(start) if text in ("run", "create")), None) for start in starts]
    known = {tuple(start[: verb + 1]) for start, verb in zip(starts, verbs, strict=True) if verb is not None}
    if len(known) != 1 or None in verbs:
        return ()
    (before,) = known
    here = word.used or word.span
    ends = [start[len(before) :] for start in starts]
    if len(set(map(tuple, ends))) > 1 and any(map(_holds_image, ends)):
        return ()
    rest = _joined(ends, word)
    placed = [Word(text, used=here) for text in before]
    if not rest:
        placed[-1] = placed[-1]._replace(span=here)  # options may be put behind it
    return [word.as_one_of(engines), *placed, *rest]


def _holds_image(words: Sequence[str]) -> bool:
    """Whether the words after ``run`` go on behind its options."""
    run = read_run([*map(Word, words)], "docker", "run")
    return run.image is not None or run.unknown is not None


def _joined(ends: Sequence[Sequence[str]], word: Word) -> Sequence[Word]:
    """The options that follow in every case, and a word for those that differ."""
    first = _shared(ends)
    last = _shared([end[len(first) :][::-1] for end in ends], from_end=True)[::-1]
    middles: list[str] = [" ".join(end[len(first) : len(end) - len(last)]) for end in ends]
    here = word.used or word.span
    found = [Word(text, used=here) for text in first]
    if any(middles):
        options = all(middle.startswith("-") for middle in middles if middle)
        found.append(word.as_one_of(dict.fromkeys(middles))._replace(harmless=False, options=options))
    return [*found, *(Word(text, used=here) for text in last)]


def _shared(ends: Sequence[Sequence[str]], *, from_end: bool = False) -> Sequence[str]:
    """The words that all begin with; behind them, or with the last of them from the end, an option begins."""
    count = 0
    for i in range(1, min(map(len, ends)) + 1):
        if len({tuple(end[:i]) for end in ends}) > 1:
            break
        option = [end[i - 1] if from_end else next(iter(end[i:]), "-") for end in ends]
        count = i if all(text.startswith("-") for text in option) else count
    return ends[0][:count]
