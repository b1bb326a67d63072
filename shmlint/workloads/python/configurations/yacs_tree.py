"""Configurations of yacs as trees of values, each with its place, and what may be one of several trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from shmlint.model.source import Span
from shmlint.workloads.python.configurations.settings_files import OPEN, Part
from shmlint.workloads.python.values import NOTHING, UNKNOWN, Found, changed, one_of, text_of, written

Tree = dict[str, "Tree | Found"]
"""A node of a configuration. One with the key OPEN may have other keys, and other values: see ``get``."""
BASES = "_BASE_"
"""The key of the files that one goes on from.

https://github.com/facebookresearch/fvcore/blob/v0.1.5.post20221221/fvcore/common/config.py#L15
"""
_LONGEST = 2_000
"""Characters of a value of the command that is read."""


def unknown() -> Tree:
    """A configuration of which nothing is known."""
    return {OPEN: NOTHING}


def get(tree: Tree | Found, keys: Sequence[str]) -> Tree | Found:
    """What a configuration has by some keys inside of each other; unknown where that is not written."""
    found: Tree | Found = tree
    for key in keys:
        found = found.get(key, NOTHING) if isinstance(found, dict) else NOTHING
    return found


def put(tree: Tree, keys: Sequence[str], value: Tree | Found) -> Tree:
    """A configuration with another value by some keys inside of each other."""
    if not keys:
        return value if isinstance(value, dict) else unknown()
    inner = tree.get(keys[0])
    below = inner if isinstance(inner, dict) else unknown()
    return {**tree, keys[0]: put(below, keys[1:], value) if keys[1:] else value}


def over(above: Tree, below: Tree) -> Tree:
    """A configuration with the values of another one in place of its own: what is a node in both is merged."""
    if OPEN in above:  # it may say anything else
        below = doubted(below)
    merged = dict(below)
    for key, value in above.items():
        other = merged.get(key)
        merged[key] = over(value, other) if isinstance(value, dict) and isinstance(other, dict) else value
    return merged


def doubted(tree: Tree) -> Tree:
    """A configuration any value of which may be another one."""
    return {**{key: _doubted(value) for key, value in tree.items()}, OPEN: NOTHING}


def _doubted(value: Tree | Found) -> Tree | Found:
    return doubted(value) if isinstance(value, dict) else changed(value)


def either(one: Tree, other: Tree) -> Tree:
    """One of two configurations, nobody knows which: what only one of them has, is only asked of that one."""
    if one is other:
        return one
    found: Tree = {}
    for key in {**one, **other}:
        known, value = one.get(key), other.get(key)
        if known is None or value is None:
            alone = known if known is not None else value
            assert alone is not None
            missing = OPEN in (one if known is None else other)  # there it may be anything
            found[key] = _doubted(alone) if missing else alone
        elif known is value:
            found[key] = value
        elif isinstance(known, dict) and isinstance(value, dict):
            found[key] = either(known, value)
        elif isinstance(known, Found) and isinstance(value, Found):
            both = one_of([known, value])
            found[key] = changed(both) if UNKNOWN in (known.value, value.value) else both
        else:
            found[key] = NOTHING
    return found


def size(tree: Tree) -> int:
    """How many values a configuration has."""
    left: list[Tree | Found] = [tree]
    for one in left:  # grows while it is counted
        left += one.values() if isinstance(one, dict) else ()
    return len(left)


def of_part(part: Part) -> Tree | Found:
    """What a file says: yacs reads its texts as Python, ``"(640, 672)"``."""
    if isinstance(part.value, dict):
        return {key: of_part(inner) for key, inner in part.entries.items()}
    place = (Span(part.source, part.start, part.start + len(part.text or text_of(part.value)[:80])),)
    if isinstance(part.value, tuple):
        values = [one.value for one in map(of_part, part.value) if isinstance(one, Found)]
        known = len(values) == len(part.value) and UNKNOWN not in values
        return Found(tuple(values), True, place) if known else NOTHING
    if isinstance(part.value, str):
        return of_word(part.value, place)
    return Found(part.value, part.value is not UNKNOWN, place)


def of_word(text: str, places: tuple[Span, ...]) -> Found:
    """What a text stands for: a number, a tuple, or itself.

    https://github.com/rbgirshick/yacs/blob/32d5e4ac300eca6cd3b839097dde39c4017a1070/yacs/config.py#L410
    """
    found = written(text, places)
    if found.value is UNKNOWN or len(text) > _LONGEST:
        return found._replace(value=UNKNOWN, certain=False)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return found
    value = tuple(value) if isinstance(value, list) else value
    return found._replace(value=value) if _is_plain(value) else NOTHING


def _is_plain(value: object) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return all(one is None or isinstance(one, int | float | str) for one in items)


def pairs(words: Sequence[str], places: tuple[Span, ...]) -> Iterator[tuple[list[str], Found]]:
    """The keys and values of ``DATALOADER.NUM_WORKERS 8 MODEL.DEPTH 50``."""
    for name, text in zip(words[::2], words[1::2], strict=False):
        yield name.split("."), of_word(text, places)


