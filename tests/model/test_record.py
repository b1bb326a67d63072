"""Named tuples do what those of ``typing`` do."""

from __future__ import annotations

import copy
import pickle
from typing import Generic, TypeVar, get_type_hints

from shmlint.model.record import NamedTuple

T = TypeVar("T")


class Plain(NamedTuple):
    """A start and a length."""

    start: int
    length: int = 1
    """In characters."""

    @property
    def end(self) -> int:
        return self.start + self.length


class Held(NamedTuple, Generic[T]):
    value: T


def test_fields_defaults_and_methods_are_those_of_a_named_tuple() -> None:
    made = Plain(3, length=4)
    assert made == (3, 4) and made.end == 7
    assert Plain(3) == made._replace(length=1)
    assert Plain._fields == ("start", "length") and Plain._field_defaults == {"length": 1}
    assert Plain.__doc__ == "A start and a length."
    assert get_type_hints(Plain) == {"start": int, "length": int}
    assert repr(made) == "Plain(start=3, length=4)"


def test_values_are_copied_between_processes() -> None:
    made = Plain(3)
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert again == made and type(again) is Plain


def test_type_parameters_are_for_the_type_checker() -> None:
    assert Held[str]("x") == Held("x") == ("x",)
