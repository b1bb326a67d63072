"""Edits of a service's environment and ulimits, and edits that take a key away.

A variable may be given in several places: by a base and its override, by what a service extends,
by an anchor that others use too. All of them in the project's own files are edited at once;
whether the other launches stay what they are is for the proof to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from shmlint.formats.compose.splice import Pair, change, end_of, indentation_of, insert, replace, skip_blanks
from shmlint.formats.compose.tree import Branch, Entry, Layer, Leaf, Listing, Tree
from shmlint.model.launch import Change
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, Source
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode

if TYPE_CHECKING:
    from shmlint.formats.compose.project import Body, Service


class Rewriter(Protocol):
    """What the edits ask of the one who rewrites a service."""

    @property
    def service(self) -> Service: ...

    @property
    def home(self) -> Body:
        """The place the service is written at that new lines belong to."""

    def inserted(self, pair: Pair) -> Iterator[Change]:
        """Ways to write a new key and value."""

    def bodies(self) -> Iterator[Body]:
        """The places a new line could go, the best first."""


class _Member(NamedTuple):
    """An entry of a mapping or an item of a list: where it is, and in what."""

    layer: Layer
    holder: MappingNode | SequenceNode
    at: int
    """Its number in the holder."""

    @property
    def source(self) -> Source:
        return self.layer.source

    @property
    def first(self) -> Node:
        """The node it starts with: the key, the item."""
        holder = self.holder
        return holder.pairs[self.at][0] if isinstance(holder, MappingNode) else holder.items[self.at]

    @property
    def last(self) -> Node:
        """The node it ends with: the value, the item."""
        holder = self.holder
        return holder.pairs[self.at][1] if isinstance(holder, MappingNode) else holder.items[self.at]

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.holder.pairs if isinstance(self.holder, MappingNode) else self.holder.items)


# Environment


def drop_variable(rewriter: Rewriter, name: str) -> Iterator[Change]:
    """The change that takes a variable away in all places that give it."""
    members = _given(rewriter, name)
    if not members:
        return
    edits: list[Edit] = []
    for member in members:
        edits_here = _without(rewriter, member)
        if edits_here is None:
            return
        edits += edits_here
    yield _said(rewriter, f"remove {name} from", members[0], edits)


def rename_variable(rewriter: Rewriter, name: str, new: str) -> Iterator[Change]:
    """The change that renames a variable in all places that give it.

    None where the host's value is passed on (the host knows it under the old name), and where the new name is taken.
    """
    members = _given(rewriter, name)
    if not members or _given(rewriter, new):
        return
    edits: list[Edit] = []
    for member in members:
        node = member.first.resolved
        if not isinstance(node, Scalar) or node is not member.first:
            return
        if isinstance(member.holder, MappingNode):
            leaf = member.layer.tree(member.last)
            passed_on = isinstance(leaf, Leaf) and leaf.kind == "null"
        else:
            passed_on = "=" not in node.value
        start = node.start + (1 if node.style in ("'", '"') and node.style else 0)
        if passed_on or member.source.text[start : start + len(name)] != name:
            return
        edits.append(Edit(member.source.path, start, start + len(name), new))
    yield _said(rewriter, f"rename {name} to {new} in", members[0], edits)


def _said(rewriter: Rewriter, verb: str, member: _Member, edits: list[Edit]) -> Change:
    here = rewriter.home.layer.source
    line = change(verb, member.source, Edit(member.source.path, member.first.start, 0, ""), here)
    return Change(tuple(dict.fromkeys(edits)), line.title)


def _given(rewriter: Rewriter, name: str) -> list[_Member]:
    """The places that give a variable; none where one of them is not in the project's own files."""
    tree = rewriter.service.tree.get("environment")
    members = list(_members(tree, name)) if tree is not None else []
    # A file of templates may have other users, which are unknown here.
    own = {id(body.layer.source) for body in rewriter.service.bodies if body.own}
    return members if all(id(member.source) in own for member in members) else []


def _members(tree: Tree, name: str) -> Iterator[_Member]:
    """The entries and items of an environment that give a variable."""
    stack = [tree]
    while stack:
        here = stack.pop()
        if isinstance(here, Listing) and here.parts:
            stack += here.parts
        elif isinstance(here, Listing) and isinstance(here.node, SequenceNode):
            for i, item in enumerate(here.node.items):
                node = item.resolved
                if isinstance(node, Scalar) and node.value.partition("=")[0] == name:
                    yield _Member(here.layer, here.node, i)
        elif isinstance(here, Branch):
            entry = here.entries.get(name)
            member = _entry_member(here.node, entry) if entry is not None else None
            if member is not None:
                yield member


def _entry_member(node: Node, entry: Entry) -> _Member | None:
    """Where an entry is: in a mapping, or in one of those that it merges."""
    seen: set[int] = set()
    stack = [node.resolved]
    while stack:
        here = stack.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, SequenceNode):
            stack += [item.resolved for item in here.items]
        elif isinstance(here, MappingNode):
            for i, (key, value) in enumerate(here.pairs):
                if key is entry.key:
                    return _Member(entry.layer, here, i)
                if isinstance(key, Scalar) and key.value == "<<":
                    stack.append(value.resolved)
    return None


def _without(rewriter: Rewriter, member: _Member) -> list[Edit] | None:
    """The edits that take a member away, with the key that holds it where it is the only one."""
    if member.size > 1:
        return _removed(member)
    key = _key_above(rewriter, member)
    if key is None or key.size == 1 or member.holder.anchor is not None:
        return _emptied(member)
    if member.holder.flow:
        return _removed(key)
    above, here = _key_line(key), _removed(member)
    if above is None or here is None:
        return None
    if here[0].start <= above[0].end:
        return [_line_edit(member.source, above[0].start, here[0].end)]
    return [*above, *_moved_out(member.source, above[0].end, here[0].start, key), *here]


def _moved_out(source: Source, start: int, end: int, key: _Member) -> Iterator[Edit]:
    """The edits that indent comments like a key which was around them."""
    indentation = indentation_of(source.text, key.first.start)
    while start < end:
        line = source.text[start : _end_of_line(source.text, start)]
        blank = len(line) - len(line.lstrip(" \t"))
        if line.strip() and blank > len(indentation):
            yield Edit(source.path, start, start + blank, indentation)
        start += len(line)


def _key_above(rewriter: Rewriter, member: _Member) -> _Member | None:
    """The key of the service that a member is under; None where that is an anchor's."""
    for body in rewriter.service.bodies:
        if body.layer.source is member.source and isinstance(body.node, MappingNode):
            for i, (_, value) in enumerate(body.node.pairs):
                if value is member.holder:
                    return _Member(member.layer, body.node, i)
    return None


def _emptied(member: _Member) -> list[Edit] | None:
    """The edits that leave ``{}`` or ``[]`` of a mapping or list of a single member."""
    holder, text = member.holder, member.source.text
    nothing = "{}" if isinstance(holder, MappingNode) else "[]"
    if holder.flow:
        start = text.rfind(nothing[0], 0, member.first.start)
        return [Edit(member.source.path, start, holder.end, nothing)] if start >= 0 else None
    lines = _removed(member)
    if lines is None:
        return None
    # Behind the key or anchor that is on the line above goes what is left.
    start = _above_comments(text, lines[0].start)
    line = text.rfind("\n", 0, max(start - 1, 0)) + 1
    above = re.split(r"[ \t]#", text[line:start])[0].rstrip()
    behind = above.rpartition(":")[2].strip()
    if behind and not behind.startswith("&"):
        return None
    at = line + len(above)
    return [Edit(member.source.path, at, at, f" {nothing}"), *lines]


def _above_comments(text: str, start: int) -> int:
    """The start of a line, or of the first of the comments and empty lines directly above it."""
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        line = text[above:start].strip()
        if line and not line.startswith("#"):
            break
        start = above
    return start


def _key_line(member: _Member) -> list[Edit] | None:
    """The edit that takes away the line of a key whose value starts on the next; its comment too."""
    start = _start_of_line(member)
    text = member.source.text
    if start is None or not _ends_line(text, text.find(":", member.first.end) + 1):
        return None
    return [_line_edit(member.source, start, _end_of_line(text, member.first.end))]


def _start_of_line(member: _Member) -> int | None:
    """Where the line of a member of a block starts; None where something else is before it."""
    text = member.source.text
    start = text.rfind("\n", 0, member.first.start) + 1
    before = text[start : member.first.start].removeprefix("\ufeff")
    if isinstance(member.holder, SequenceNode):
        before = before.lstrip(" ")
        if not before.startswith("-"):
            return None
        before = before[1:]
    return None if before.strip(" \t") else start


def _removed(member: _Member) -> list[Edit] | None:
    """The edits that take a member out of its mapping or list; None where that would move anything else."""
    if member.holder.flow:
        return _removed_from_flow(member)
    source, start = member.source, _start_of_line(member)
    if start is None:
        return None
    end = end_of(source.text, member.first, member.last, member.first.start - start)
    if source.text[end - 1] == "\n":  # a block scalar that keeps the empty lines after it
        return [_line_edit(source, start, end)]
    if not _ends_line(source.text, end):
        return None
    return [_line_edit(source, start, _end_of_line(source.text, end))]


def _ends_line(text: str, at: int) -> bool:
    """Whether nothing but a comment is after an offset on its line."""
    newline = text.find("\n", at)
    rest = text[at : newline if newline >= 0 else len(text)].strip(" \t\r")
    return not rest or (rest.startswith("#") and text[at : at + 1].isspace())


def _end_of_line(text: str, at: int) -> int:
    """The offset after the ending of the line an offset is on."""
    newline = text.find("\n", at)
    return len(text) if newline < 0 else newline + 1


def _line_edit(source: Source, start: int, end: int) -> Edit:
    """Take whole lines away; the last line of a file without a final newline still has none."""
    text = source.text
    if end == len(text) and not text.endswith("\n"):
        start = len(text[:start].rstrip("\r\n"))  # with the empty lines before it
    return Edit(source.path, start, end, "")


def _removed_from_flow(member: _Member) -> list[Edit] | None:
    source, text = member.source, member.source.text
    start, end = member.first.start, member.last.end
    if member.last.start >= member.last.end:  # a key without a value
        end = end_of(text, member.first, member.last)
    comma = skip_blanks(text, end)
    followed = text[comma : comma + 1] == ","
    line = text.rfind("\n", 0, start) + 1
    own = line > member.holder.start and not text[line:start].strip()
    behind = comma + 1 if followed else end
    if own and _ends_line(text, behind):
        edits = [_line_edit(source, line, _end_of_line(text, behind))]
        if not followed and member.at:
            before = _comma_before(member)
            if before is None:
                return None
            edits.insert(0, Edit(source.path, before, before + 1, ""))
        return edits
    if followed:
        while text[behind : behind + 1] in (" ", "\t"):
            behind += 1
        if member.at + 1 < member.size:
            return [Edit(source.path, start, behind, "")]
        return [Edit(source.path, start, comma + 1, "")]
    if member.at:
        before = _comma_before(member)
        return None if before is None or text[before:start].strip(" \t,") else [Edit(source.path, before, end, "")]
    return [Edit(source.path, start, end, "")]


def _comma_before(member: _Member) -> int | None:
    """The offset of the comma before a member in brackets or braces."""
    holder = member.holder
    previous = holder.pairs[member.at - 1] if isinstance(holder, MappingNode) else (holder.items[member.at - 1],) * 2
    text = member.source.text
    end = previous[1].end
    if previous[1].start >= previous[1].end:
        end = end_of(text, *previous)
    at = skip_blanks(text, end)
    return at if text[at : at + 1] == "," else None


# Keys of the service


def drop_key(rewriter: Rewriter, key: str) -> Iterator[Change]:
    """The change that takes a key away in all places that write the service."""
    service = rewriter.service
    entry = service.tree.entries.get(key)
    if entry is None:
        return
    own = {id(body.layer.source) for body in service.bodies if body.own}
    members: list[_Member] = []
    for body in service.bodies:
        if not isinstance(body.node.resolved, MappingNode):
            continue
        tree = body.layer.tree(body.node)
        given = tree.entries.get(key) if isinstance(tree, Branch) else None
        member = _entry_member(body.node, given) if given is not None else None
        if given is None:
            continue
        if member is None or id(member.source) not in own:
            return
        members.append(member)
    edits: list[Edit] = []
    for member in members:
        removed = _removed(member) if member.size > 1 else _emptied(member)
        if removed is None:
            return
        edits += removed
    if members:
        yield _said(rewriter, f"remove `{key}` from", members[0], edits)


def set_ulimit(rewriter: Rewriter, name: str, value: str) -> Iterator[Change]:
    """Ways to set a ulimit, soft and hard: another value, a line among the others, a block of its own."""
    service = rewriter.service
    own = {id(body.layer.source) for body in service.bodies if body.own}
    here = rewriter.home.layer.source
    limits = service.tree.get("ulimits")
    if not isinstance(limits, Branch) or not limits.entries:
        yield from rewriter.inserted(("ulimits", value, name))
        return
    entry = limits.entries.get(name)
    if entry is not None:
        limit = entry.tree
        if id(entry.layer.source) not in own:
            return
        if isinstance(limit, Leaf):
            yield from replace(entry, limit, name, value, here)
        elif isinstance(limit, Branch):
            yield from _both_limits(rewriter, limit, name, value)
        return
    for body in rewriter.bodies():
        node = body.node.get("ulimits") if isinstance(body.node, MappingNode) else None
        mapping = node.resolved if node is not None else None
        if isinstance(mapping, MappingNode) and mapping.pairs:
            pair: Pair = (name, value, "")
            yield from insert(body._replace(node=mapping), pair, here)


def _both_limits(rewriter: Rewriter, limit: Branch, name: str, value: str) -> Iterator[Change]:
    """Another value for both the soft and the hard limit, where they are written."""
    edits: list[Edit] = []
    for which in ("soft", "hard"):
        entry = limit.entries.get(which)
        leaf = entry.tree if entry is not None else None
        if entry is None or not isinstance(leaf, Leaf):
            return
        made = next(iter(replace(entry, leaf, which, value, rewriter.home.layer.source)), None)
        if made is None:
            return
        edits += made.edits
    yield change(f"change `{name}` to {value} in", limit.layer.source, edits[0], rewriter.home.layer.source)._replace(
        edits=tuple(dict.fromkeys(edits))
    )
