"""Whether an edit of a script leaves alone what others start with it, who source it and call its functions.

These set its variables and give its functions arguments, so a launch that is edited must be the same whatever they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_part
from shmlint.model.launch import Launch, Unknown
from shmlint.syntax.shell_text import ShellText
from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import ANY, ARGUMENTS, given

if TYPE_CHECKING:
    from tree_sitter import Node

_FROM_OTHERS = dict.fromkeys((ANY, ARGUMENTS, "*", "#", *map(str, range(1, 10))))


def same_for_others(before: Sequence[Part], after: Sequence[Part]) -> bool:
    """Whether whoever sources a file starts what they did with it, but for what is edited in whole launches."""
    if len(before) != len(after):
        return False
    return all(
        old.text.text == new.text.text or _same_part(old.text, new.text)
        for old, new in zip(before, after, strict=True)
    )


def _same_part(before: ShellText, after: ShellText) -> bool:
    old, new = Tree(before), Tree(after)
    one, other = list(_commands(old)), list(_commands(new))
    if len(one) != len(other):
        return False
    edited = [node for node, then in zip(one, other, strict=True) if old.raw(node) != new.raw(then)]
    open_ = [node for node in edited if any(mark in old.raw(node) for mark in "$`")]
    around: dict[tuple[int, int], list[Node]] = {}
    for node in open_:
        around.setdefault(_around(node, old), []).append(node)
    return all(_are_whole(nodes, place, old) for place, nodes in around.items())


def _commands(tree: Tree) -> Iterator[Node]:
    """What starts containers: commands and the texts that they are given."""
    return (node for node in tree.nodes if node.type in ("command", "heredoc_body"))


def _around(node: Node, tree: Tree) -> tuple[int, int]:
    """Where the outermost function around a command is, or the text."""
    around = [outer for outer in tree.around(node) if outer.type == "function_definition"]
    body = around[-1].child_by_field_name("body") if around else None
    return tree.extent(body) if body is not None else (0, len(tree.text.text))


def _are_whole(nodes: Sequence[Node], place: tuple[int, int], tree: Tree) -> bool:
    """Whether the launches of commands at a place are the same whatever variables and arguments others give."""
    start, end = place
    text = tree.text._replace(
        text=tree.text.text[start:end], offsets=tree.text.offsets[start:end], used_at=tree.text.used_at[start:end]
    )
    launches = sorted(read_part(Part(text, given(_FROM_OTHERS)), "").launches, key=lambda one: one.span.start)
    starts = [one.span.start for one in launches]
    for node in nodes:
        span = tree.text.span(*tree.extent(node))
        first, last = (bisect_left(starts, at) for at in (span.start, span.end)) if span is not None else (0, 0)
        if first == last or not all(map(_is_known, launches[first:last])):
            return False
    return True


def _is_known(launch: Launch) -> bool:
    """Whether all is known of a launch that decides about its /dev/shm and what it needs."""
    values = (launch.image, launch.entrypoint, launch.command, launch.shm, launch.ipc, launch.memory_limit)
    if launch.undecided or launch.gpu.unknown or launch.image is None:
        return False
    mounted = any(isinstance(mount.size, Unknown) for mount in launch.mounts)
    return not mounted and not any(value is not None and value.because for value in values)
