"""Error messages: the symptoms of ``rules/README.md``, and which of them a text is about.

The symptoms are in that page and nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from shmlint.cli.explain.pages import rule_lines, terminal
from shmlint.files.installed import directory
from shmlint.model.record import NamedTuple

_LONGEST = 200_000
"""Characters of a pasted text that are looked at: its end, where the errors are."""


class Symptom(NamedTuple):
    """A section of the page: the texts people see, in the words of programs, and what to make of them."""

    title: str
    texts: tuple[str, ...]
    body: str


class Match(NamedTuple):
    """A symptom, the text of it that fits, and how well; more is better."""

    symptom: Symptom
    text: str
    score: float


def symptoms(text: str | None = None) -> tuple[Symptom, ...]:
    """The sections of ``rules/README.md`` below *Symptoms*, or those of a page's text.

    A section is a heading of the third level, a fence of texts, and what follows. Raises OSError
    for a broken installation.
    """
    if text is None:
        with open(os.path.join(directory(), "README.md"), encoding="utf-8") as file:
            text = file.read()
    _, _, rest = text.partition("\n## Symptoms\n")
    rest = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    found = []
    for section in re.split(r"^### ", rest, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        _, fence, after = body.partition("```text\n")
        texts, _, after = after.partition("```\n")
        if fence:
            found.append(Symptom(title.strip(), tuple(filter(None, texts.splitlines())), after.strip()))
    return tuple(found)


def find(asked: str, among: Iterable[Symptom]) -> list[Match]:
    """The symptoms whose texts are in what was pasted, or that hold what was typed; the best first.

    Letter case, quotation marks and line breaks make no difference. On the page ``N`` stands for any
    number, an ellipsis for anything, and names of NCCL's and PyTorch's files for any others.
    """
    pasted = _plain(asked[-_LONGEST:])
    if len(pasted) < 5 or not any(len(word) > 2 for word in pasted.split()):
        return []
    found = []
    for symptom in among:
        best: Match | None = None
        for text in symptom.texts:
            score = _score(pasted, [part for part in map(_page_text, text.split("…")) if part])
            if score and (best is None or score > best.score):
                best = Match(symptom, text, score)
        if best is not None:
            found.append(best)
    return sorted(found, key=lambda match: -match.score)


def _score(pasted: str, parts: list[str]) -> float:
    """How many characters of a text of the page are in what was pasted: all its parts in their order.
    Or how many were typed, if what was typed is in the text; a little less the longer the text is.
    0 where neither does."""
    at = 0
    for part in parts:
        found = _whole_words(re.escape(part).replace(r"\#", r"[0-9a-fx.#]+"), part).search(pasted, at)
        if found is None:
            break
        at = found.end()
    else:
        return sum(map(len, parts))
    whole = " ".join(parts)
    if len(pasted) <= len(whole) and (" " in pasted or len(pasted) > 7):
        typed = re.sub(r"[0-9]+", lambda number: f"(?:{number[0]}|#)", re.escape(pasted))
        if _whole_words(typed, pasted).search(whole):
            return len(pasted) - len(whole) / 10_000
    return 0


def _whole_words(pattern: str, text: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if text[0].isalnum() else ""
    after = r"(?![a-z0-9])" if text[-1].isalnum() else ""
    return re.compile(before + pattern + after)


_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_RANDOM = re.compile(r"(nccl-)[a-z0-9_-]+|(torch_)[0-9][a-z0-9_-]*")


def _plain(text: str) -> str:
    """A text as it is compared: lower case, single spaces, no quotation marks, ``#`` for random names."""
    text = re.sub(r"[\"'`‘’“”\\]", "", _ANSI.sub("", text).lower())
    return " ".join(_RANDOM.sub(r"\1\2#", text).split()).strip(" .:")


def _page_text(text: str) -> str:
    """The same for a text of the page, where ``N`` is a number."""
    return _plain(re.sub(r"(?<![A-Za-z])N(?![A-Za-z])", "#", text))


def near(asked: str, among: Iterable[Symptom], most: int = 3) -> list[Match]:
    """The symptoms that share the most words with a text, rare words counting more; the best first."""
    everything = list(among)
    vocabulary = [set(_words(" ".join(symptom.texts))) for symptom in everything]
    mine = set(_words(asked[-_LONGEST:]))
    found = []
    for symptom, words in zip(everything, vocabulary, strict=True):
        shared = mine & words
        score = sum(1 / sum(word in other for other in vocabulary) for word in shared)
        if len(shared) > 1 or score >= 1:
            found.append(Match(symptom, "", score))
    return sorted(found, key=lambda match: -match.score)[:most]


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z_/-]{4,}", _plain(text)) if word not in _COMMON]


_COMMON = frozenset({"error", "from", "with", "that", "this", "have", "been", "failed", "file", "used", "when", "than"})


def similar(asked: str) -> list[Match]:
    """The symptoms that a text could be about, with its slips corrected: each word as the symptoms have it."""
    every = symptoms()
    vocabulary = sorted({word for symptom in every for word in _SPELLED.findall(_plain(" ".join(symptom.texts)))})
    words = _SPELLED.findall(_plain(asked[-_LONGEST:].replace("_", " ")))
    if len(words) <= _MISSPELT:
        asked = " ".join(next(iter(get_close_matches(word, vocabulary, 1, 0.75)), word) for word in words)
    return find(asked, every)[:3] or near(asked, every)


_SPELLED = re.compile(r"[a-z]{3,}")
_MISSPELT = 50
"""Words of a text that are looked at for slips."""


def about(found: Sequence[Match]) -> Iterator[str]:
    best = found[0].symptom
    yield best.title
    yield "=" * len(best.title)
    yield ""
    for text in best.texts:
        yield f"  {text}"
    yield ""
    yield from terminal(best.body)
    linked = list(dict.fromkeys(re.findall(r"\(([A-Z]+[0-9]+)-[a-z0-9-]+\.md\)", best.body)))
    if linked:
        yield ""
        yield from rule_lines(linked)
    others = [match.symptom.title for match in found[1:4]]
    if others:
        yield ""
        yield f"It could also be: {'; '.join(others)}."
