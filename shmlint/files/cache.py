"""What was made of files, with the files that each result depends on."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from shmlint.model.record import NamedTuple

T = TypeVar("T")


class Key(NamedTuple, Generic[T]):
    """Names one kind of result; the type parameter is the type of the result."""

    name: str


class Made(NamedTuple, Generic[T]):
    """A result, and the paths of the files that were asked for in making it."""

    value: T
    asked: frozenset[str]


class Cache:
    """Results by key and path. A key only ever names results of its own type."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[tuple[Key[Any], str], Made[Any]] = {}

    def get(self, key: Key[T], path: str) -> Made[T] | None:
        return cast("Made[T] | None", self._made.get((key, path)))

    def put(self, key: Key[T], path: str, made: Made[T]) -> None:
        self._made[key, path] = made
