"""``NamedTuple`` as in ``typing``, defined in a third of the time.

That of ``typing`` compiles the annotation of every field. Nothing here evaluates annotations, and
with a hundred such classes to define this took a tenth of every start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Definition(type):
        """Makes a named tuple of a class statement. Type parameters mean nothing when the program runs."""

        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.get("__annotations__", {})
            defaults = [namespace[field] for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])
            made.__class_getitem__ = classmethod(lambda made, _: made)
            for key, value in namespace.items():
                if key not in fields and key != "__module__":
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Definition):
        """The base of a named tuple."""
