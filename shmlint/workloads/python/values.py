"""Values of Python expressions, as far as they are written down, and what operators make of them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.python import Module, dotted
from shmlint.workloads.commands import MISSING


class _Sentinel:
    """A value that is not known, or only known to be more than nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN = _Sentinel("UNKNOWN")
POSITIVE = _Sentinel("POSITIVE")
"""A number above 0 that depends on the machine."""
_LARGEST = 10**12


class Found(NamedTuple):
    """A value, whether it is surely this one, and the places that say so."""

    value: object
    certain: bool
    spans: tuple[Span, ...]

    @property
    def number(self) -> int | None:
        """The value as a whole number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return int(number) if math.isfinite(number) and abs(number) < _LARGEST else None


NOTHING = Found(UNKNOWN, False, ())


ORIGIN = "origin"
"""The attribute of a node that is made of a configuration file, where that is another one: its place there."""


class Scope(NamedTuple):
    """Where an expression is."""

    path: str
    source: Source
    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    owner: ast.ClassDef | None

    def span(self, node: ast.AST) -> Span:
        """The place of a node; of a large one its first line, of one that a configuration makes its place there."""
        if isinstance(origin := getattr(node, ORIGIN, None), Span):
            return origin
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        starts = self.module.starts
        start = starts[min(line, len(starts)) - 1]
        text = self.source.text[start : starts[min(line, len(starts) - 1)]]
        begin = start + len(text.encode("utf-8", "replace")[:column].decode("utf-8", "replace"))
        end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", 0)
        if end_line == line:
            end = start + len(text.encode("utf-8", "replace")[:end_column].decode("utf-8", "replace"))
        else:
            end = start + len(text.rstrip())
        return Span(self.source, begin, max(end, begin))

    def full_name(self, node: ast.expr) -> str:
        """The dotted name of what an expression names, imports followed."""
        name = dotted(node)
        head, dot, rest = name.partition(".")
        target = self.module.imports.get(head)
        return f"{target}{dot}{rest}" if target is not None else name

    def full_names(self, node: ast.expr) -> list[str]:
        """What an expression may name: its module may import several things by one name, in ``if`` or ``try``."""
        head, dot, rest = dotted(node).partition(".")
        others = self.module.other_imports.get(head, ())
        return [self.full_name(node), *(f"{target}{dot}{rest}" for target in others)]


class DictValue(NamedTuple):
    """A mapping that is written down; ``complete`` where it has no other keys, ``certain`` where it is surely this.

    ``doubted`` are the keys whose values another mapping may replace that is not known.
    """

    entries: dict[str, tuple[ast.expr, Scope]]
    complete: bool
    certain: bool = True
    doubted: frozenset[str] = frozenset()

    def over(self, other: DictValue) -> DictValue:
        """This mapping with the entries of another one in place of its own."""
        complete, certain = self.complete and other.complete, self.certain and other.certain
        kept = self.entries.keys() if not other.complete else self.doubted
        doubted = (kept - other.entries.keys()) | other.doubted
        return DictValue({**self.entries, **other.entries}, complete, certain, frozenset(doubted))

    def with_entry(
        self, key: ast.expr | None, value: ast.expr, scope: Scope, inner: Callable[[ast.expr], DictValue]
    ) -> DictValue:
        """This mapping with one more key; without one the value is a mapping of its own."""
        if key is None:
            return self.over(inner(value))
        if not isinstance(key, ast.Constant):
            return self._replace(complete=False)
        name = text_of(key.value)
        return self._replace(entries={**self.entries, name: (value, scope)}, doubted=self.doubted - {name})


def either(one: DictValue, other: DictValue) -> DictValue:
    """What one of two mappings holds, nobody knows which: the keys of both, and of two values the one that is not 0."""
    entries = dict(other.entries)
    for key, (value, scope) in one.entries.items():
        if key not in entries or not isinstance(value, ast.Constant) or value.value:
            entries[key] = value, scope
    shared = one.entries.keys() & other.entries.keys()
    other_values = {key for key in shared if one.entries[key][0] is not other.entries[key][0]}
    return DictValue(entries, one.complete and other.complete, False, one.doubted | other.doubted | other_values)


def text_of(value: object) -> str:
    """A value as a word of a command or as a variable; Python refuses to write numbers of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return MISSING


def one_of(values: list[Found]) -> Found:
    """One of several values: sure where they agree, else the largest."""
    first = values[0]
    if all(value.value == first.value for value in values):
        return first
    numbers = [value for value in values if value.number is not None]
    if numbers:
        largest = max(numbers, key=lambda value: value.number or 0)
        others = [value for value in values if value.value in (POSITIVE, UNKNOWN)]
        if (largest.number or 0) <= 0 and others:
            return next((value for value in others if value.value is POSITIVE), NOTHING)._replace(certain=False)
        return largest._replace(certain=False)
    return next((value for value in values if value.value is POSITIVE), first)._replace(certain=False)


def changed(found: Found) -> Found:
    """A value that may also be another one: nobody knows what replaces nothing, and the others are not certain."""
    nothing = found.value is None or (found.number is not None and found.number <= 0)
    return NOTHING if nothing else found._replace(certain=False)


def key_of(name: str) -> str:
    return name.lstrip("-+").replace("-", "_")


def member_key(node: ast.Attribute | ast.Subscript) -> str | None:
    """The key by which something inside of another thing is named, where it is written there."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return text_of(node.slice.value) if isinstance(node.slice, ast.Constant) else None


COPIES = frozenset({"copy.deepcopy", "copy.copy", "deepcopy"})
"""Functions that copy a configuration."""


def written(text: str, spans: tuple[Span, ...]) -> Found:
    """A text as it is written, unless it stands for another one."""
    is_written = "$" not in text and not text.startswith("<")
    return Found(text, True, spans) if is_written else Found(UNKNOWN, False, spans)


def literal(text: str, spans: tuple[Span, ...]) -> Found:
    """A word of a command or of a configuration file, as the value it stands for."""
    lowered = text.strip().lower()
    if (found := written(text, spans)).value is UNKNOWN:
        return found
    for word, value in (("true", True), ("false", False), ("null", None), ("none", None), ("~", None)):
        if lowered == word:
            return Found(value, True, spans)
    if re.fullmatch(r"[+-]?[0-9]{1,15}", text.strip()):
        return Found(int(text), True, spans)
    return Found(text, True, spans)


def arithmetic(operator: ast.operator, left: Found, right: Found) -> Found:
    spans = (*left.spans, *right.spans)
    certain = left.certain and right.certain
    if isinstance(operator, ast.Mult) and any(one.number == 0 and one.certain for one in (left, right)):
        return Found(0, True, spans)
    if POSITIVE in (left.value, right.value):
        return Found(POSITIVE, False, spans)
    a, b = left.number, right.number
    if a is None or b is None:
        return Found(UNKNOWN, False, spans)
    if isinstance(operator, ast.Add):
        return Found(a + b, certain, spans)
    if isinstance(operator, ast.Sub):
        return Found(a - b, certain, spans)
    if isinstance(operator, ast.Mult):
        return Found(a * b, certain, spans)
    if isinstance(operator, ast.Pow) and abs(a) <= 2**16 and 0 <= b <= 64:
        return Found(a**b, certain, spans)
    if isinstance(operator, ast.FloorDiv | ast.Div) and b:
        return Found(a // b, certain, spans)
    return Found(UNKNOWN, False, spans)


def logic(both: bool, parts: list[Found]) -> Found:
    for part in parts:
        if part.value is UNKNOWN:
            later = [p for p in parts if p.value is not UNKNOWN]
            if both and any(p.value is not POSITIVE and not p.value and p.certain for p in later):
                return Found(False, True, ())
            return changed(later[-1]) if later and not both else NOTHING
        truth = part.value is POSITIVE or bool(part.value)
        if truth is not both:
            return part
    return parts[-1]


def extreme(name: str, values: list[Found]) -> Found:
    known = [value for value in values if value.number is not None]
    spans = tuple(span for value in values for span in value.spans)
    if len(known) == len(values):
        chosen = (min if name == "min" else max)(known, key=lambda value: value.number or 0)
        return chosen._replace(spans=spans)
    if any(value.value is POSITIVE for value in values):
        told = [value for value in known if value.certain or value.number]  # 0 in one branch of some is no limit
        if name == "min" and told:  # as many as the machine has, but no more than these
            least = min(told, key=lambda value: value.number or 0)
            sure = least.certain and len(told) == len(known) and all(v.value is not UNKNOWN for v in values)
            return Found(POSITIVE, sure, spans) if (least.number or 0) > 0 else least._replace(spans=spans)
        return Found(POSITIVE, name == "max" or all(value.value is POSITIVE for value in values), spans)
    return known[0]._replace(certain=False, spans=spans) if known else NOTHING


def _same(one: object, other: object) -> bool | None:
    """Whether two values are equal; None where one is a text and the other what it stands for: ``"true"``, ``"8"``.

    A word of a command or of a configuration may be either.
    """
    if isinstance(one, _Sentinel) or isinstance(other, _Sentinel):
        return None
    if isinstance(one, str) is not isinstance(other, str) and str(one).lower() == str(other).lower():
        return None
    return one == other


def _among(value: object, values: object) -> bool | None:
    """Whether a value is one of several, or a text in another one; None where nobody knows."""
    if isinstance(values, str):
        return value in values if isinstance(value, str) else None
    if not isinstance(values, tuple):
        return None
    answers = [_same(value, one) for one in values]
    return True if True in answers else None if None in answers else False


TEXT_METHODS = frozenset({"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "startswith", "endswith"})
"""Methods of texts that are worked out."""


def of_text(method: str, text: Found, arguments: list[Found]) -> Found:
    """What a method of a text gives."""
    words = [argument.value for argument in arguments]
    if not isinstance(text.value, str) or len(words) > 1 or not all(isinstance(word, str) for word in words):
        return NOTHING
    if (method in ("startswith", "endswith")) is not bool(words) and not method.endswith("strip"):
        return NOTHING
    certain = text.certain and all(argument.certain for argument in arguments)
    return text._replace(value=getattr(text.value, method)(*words), certain=certain)


def compared(operator: ast.cmpop, left: Found, right: Found) -> Found:
    if UNKNOWN in (left.value, right.value) or POSITIVE in (left.value, right.value):
        return NOTHING
    certain = left.certain and right.certain
    if isinstance(operator, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        same = _same(left.value, right.value)
        return NOTHING if same is None else Found(same is isinstance(operator, ast.Eq | ast.Is), certain, ())
    if isinstance(operator, ast.In | ast.NotIn):
        among = _among(left.value, right.value)
        return NOTHING if among is None else Found(among is isinstance(operator, ast.In), certain, ())
    a, b = left.number, right.number
    if a is None or b is None:
        return NOTHING
    answers = {ast.Gt: a > b, ast.GtE: a >= b, ast.Lt: a < b, ast.LtE: a <= b}
    found = answers.get(type(operator))
    return NOTHING if found is None else Found(found, certain, ())
