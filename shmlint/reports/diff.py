"""A unified diff, as ``diff -u`` writes it and ``patch`` and ``git apply`` read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Literal

from shmlint.run import Run

_Tag = Literal["replace", "delete", "insert", "equal"]
_Opcode = tuple[_Tag, int, int, int, int]

_FAR = 40
"""Lines within which the texts come together again after a change."""

_SURE = 2
"""So many equal lines are not by chance; where lines were replaced by as many others, one is not."""


def render(run: Run, texts: Mapping[str, str]) -> Iterator[str]:
    """The lines of the diff from what is on disk to the new texts."""
    for path in sorted(texts):
        old, new = _lines(run.workspace.source(path).text), _lines(texts[path])
        yield f"--- {_name(path)}\n"
        yield f"+++ {_name(path)}\n"
        for group in _Near(old, new).get_grouped_opcodes():
            _, old_start, _, new_start, _ = group[0]
            _, _, old_end, _, new_end = group[-1]
            yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"
            for tag, i, j, k, m in group:
                if tag == "equal":
                    yield from (_line(" ", line) for line in old[i:j])
                else:
                    yield from (_line("-", line) for line in old[i:j])
                    yield from (_line("+", line) for line in new[k:m])


def _name(path: str) -> str:
    """A path as ``patch`` and ``git apply`` read it: a space needs a tab at the end, others quotes."""
    if path.isprintable() and not set(path) & set('"\\'):
        return f"{path}\t" if " " in path else path
    octets = path.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:03o}" for c in octets) + '"'


def _lines(text: str) -> list[str]:
    """Lines with their endings, as ``diff`` and ``patch`` see them: a form feed ends none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    """As POSIX has it: one line has no count, and no lines come after the previous line."""
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"


class _Near(SequenceMatcher[str]):
    """Finds the small changes between texts of many equal lines, in time that follows their length."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, (), ())
        self.texts = old, new

    def get_opcodes(self) -> list[_Opcode]:
        """What turns the old text into the new one, in order."""
        return list(_opcodes(*self.texts))


def _opcodes(old: list[str], new: list[str]) -> Iterator[_Opcode]:
    i = j = 0
    while i < len(old) or j < len(new):
        start = i, j
        while i < len(old) and j < len(new) and old[i] == new[j]:
            i += 1
            j += 1
        if i > start[0]:
            yield "equal", start[0], i, start[1], j
        if i == len(old) and j == len(new):
            return
        past = _past(old, new, i, j)
        if past is None:
            for tag, a, b, c, d in SequenceMatcher(None, old[i:], new[j:]).get_opcodes():
                yield tag, a + i, b + i, c + j, d + j
            return
        kind: _Tag = "insert" if past[0] == i else "delete" if past[1] == j else "replace"
        yield kind, i, past[0], j, past[1]
        i, j = past


def _past(old: list[str], new: list[str], i: int, j: int) -> tuple[int, int] | None:
    """Where the texts are equal again; None where that is far away."""
    for far in range(1, _FAR):
        for taken in range(far + 1):
            a, b = i + taken, j + far - taken
            sure = 1 if 2 * taken == far else _SURE
            if a <= len(old) and b <= len(new) and old[a : a + sure] == new[b : b + sure]:
                return a, b
    return None
