"""The launches of a file that are given shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shmlint.model.launch import Launch

Same = tuple[str, object]
"""What launches of the same container have in common."""


class Given:
    """The launches of a file that are given shared memory, by what launches of the same container have in common.

    Files may have many launches, and each of them asks for those of its container. The sizes are in bytes.
    """

    __slots__ = ("_by",)

    def __init__(self, launches: Iterable[tuple[Launch, float, Iterable[Same]]]) -> None:
        self._by: dict[Same, list[tuple[int, Launch, float]]] = {}
        for number, (launch, size, keys) in enumerate(launches):
            for key in keys:
                self._by.setdefault(key, []).append((number, launch, size))

    def more_than(self, has: int, keys: Iterable[Same]) -> Iterator[Launch]:
        """Those that have one of some things in common and more memory than that, in their order."""
        found = {number: launch for key in keys for number, launch, size in self._by.get(key, ()) if size > has}
        return (found[number] for number in sorted(found))
