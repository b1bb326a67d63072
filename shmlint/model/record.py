"""``NamedTuple`` as in ``typing``, defined in a fifth of the time.

That of ``typing`` compiles the annotation of every field, which nothing here evaluates, and
``collections.namedtuple`` compiles a constructor for every class. A run over one compose file
defines about eighty such classes; this took a fifth of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    class _Record(tuple):
        """What all named tuples have."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)

        def __class_getitem__(cls, parameters):
            return cls  # they are for the type checker

    @cache
    def _constructor_of(number):
        """The code of a ``__new__`` with so many fields."""
        names = "".join(f"field{i}, " for i in range(number))
        return eval(f"lambda cls, {names}: new(cls, ({names}))").__code__

    class _Definition(type):
        """Makes a named tuple of a class statement."""

        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            code = _constructor_of(len(fields)).replace(co_name="__new__", co_varnames=("cls", *fields))
            getters = {field: _tuplegetter(i, "") for i, field in enumerate(fields)}
            return type(name, (_Record,), {
                **namespace, **getters, "__slots__": (), "_fields": fields, "_field_defaults": defaults,
                "__match_args__": fields,
                "__new__": FunctionType(code, {"new": tuple.__new__}, "__new__", tuple(defaults.values())),
            })  # fmt: skip

    class NamedTuple(metaclass=_Definition):
        """The base of a named tuple."""
