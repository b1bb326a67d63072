"""Sizes in a compose file that are where nothing reads them, and how they get to the right place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shmlint.formats.compose.places import means_size, placed_mappings
from shmlint.formats.compose.project import Project, Service
from shmlint.formats.compose.rewrite import ServiceRewriter
from shmlint.formats.compose.splice import KEY, end_of, newline_of
from shmlint.formats.compose.tree import Entry, Tree
from shmlint.formats.compose.values import read_size
from shmlint.model.launch import Change, Misplaced, Size, Value
from shmlint.model.source import Edit, Source
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode

VARIABLES = ("shm_size", "shm-size")
"""Variables that were meant as the option. ``SHM_SIZE`` is not among them: programs and scripts do read it."""


def find(
    service: Service, project: Project, rewriter: ServiceRewriter, environment: Mapping[str, Value[str]]
) -> Iterator[Misplaced]:
    """The sizes of one service that Compose refuses or passes over."""
    declared = service.tree.get(KEY) is not None
    for name, entry in service.tree.entries.items():
        if name != KEY and means_size(name):
            message = f"`{name}` is not a key of a service, and Compose refuses the file; the key is `{KEY}`"
            renaming = () if declared else tuple(_rename(entry))
            declared = declared or bool(renaming)
            yield _misplaced(entry, name, message, renaming, read_size(entry.tree))
    for mapping, at in placed_mappings(service.tree):
        for name, entry in mapping.entries.items() if at else ():
            if means_size(name):
                how = "is not read" if at.startswith("gpus") else "is refused by Compose"
                message = f"`{name}` under `{at}` {how}: it is a key of the service"
                moving = () if declared else tuple(_move(entry, service, rewriter))
                declared = declared or bool(moving)
                yield _misplaced(entry, f"{at}.{name}", message, moving, _moved(entry.tree))
    if service is next(iter(project.services.values())):
        for name, entry in project.strays:
            message = f"`{name}` at the top level is refused by Compose: it is a key of a service"
            alone = len(project.services) == 1 and not declared
            moving = tuple(_move(entry, service, rewriter)) if alone else ()
            yield _misplaced(entry, name, message, moving, _moved(entry.tree))
    if not declared:
        for name in VARIABLES:
            if name in environment:
                message = f"`{name}` in `environment` is a variable for the program, and does not set the size"
                yield Misplaced(environment[name].span, message, at=f"environment.{name}")


def _misplaced(
    entry: Entry, at: str, message: str, changes: tuple[Change, ...], size: Value[Size] | None
) -> Misplaced:
    span = entry.layer.span(entry.key)
    return Misplaced(span, message, changes, size, at=at)


def _rename(entry: Entry) -> Iterator[Change]:
    """The key in its right spelling, where its value is a size."""
    size = read_size(entry.tree).known
    key = entry.key
    if size is not None and (size.error or size.dropped_float):
        return
    if isinstance(key, Scalar) and key.style in ("", "'", '"') and not key.anchor and not key.tag:
        source = entry.layer.source
        edit = Edit(source.path, key.start, key.end, f"{key.style}{KEY}{key.style}")
        yield Change((edit,), f"rename `{key.value}` to `{KEY}` in line {source.position(key.start).line}")


def _moved(tree: Tree) -> Value[Size] | None:
    """A size as it is read after it was written anew at the service."""
    size = read_size(tree)
    known = size.known
    if known is None or not known.bytes or known.error or size.private:
        return None
    return size._replace(value=Size(known.bytes))


def _move(entry: Entry, service: Service, rewriter: ServiceRewriter) -> Iterator[Change]:
    """The size written at the service, and taken away where it is."""
    size = _moved(entry.tree)
    known = size.known if size is not None else None
    if known is None or not known.bytes or entry.tree is not entry.layer.tree(entry.node):
        return
    source = entry.layer.source
    deletion = _deletion(source, _chain(service, entry), entry)
    if deletion is None:
        return
    line = source.position(entry.key.start).line
    for change in rewriter.set_shm_size(known.bytes):
        yield Change((*change.edits, deletion), f"{change.title}, and delete it in line {line}")


Chain = list[tuple[MappingNode, Node, Node]]


def _chain(service: Service, entry: Entry) -> Chain:
    """The mappings from the service down to an entry, each with the pair that leads on."""
    for body in service.bodies:
        if body.own and isinstance(body.node, MappingNode):
            found = _path(body.node, entry.key)
            if found:
                return found
    return []


def _path(mapping: MappingNode, wanted: Node) -> Chain:
    for key, value in mapping.pairs:
        if key is wanted:
            return [(mapping, key, value)]
        inner = [value, *value.items] if isinstance(value, SequenceNode) else [value]
        for node in inner:
            if isinstance(node, MappingNode) and node.start <= wanted.start < node.end:
                found = _path(node, wanted)
                if found:
                    return [(mapping, key, value), *found]
    return []


def _deletion(source: Source, chain: Chain, entry: Entry) -> Edit | None:
    """Takes an entry away, with the mappings that hold nothing else."""
    if not chain:  # next to `services`
        return _delete_lines(source, entry.key, entry.node)
    while len(chain) > 1 and len(chain[-1][0].pairs) == 1:
        if chain[-2][2] is not chain[-1][0]:
            return None  # the only key of a list's item
        chain = chain[:-1]
    mapping, key, value = chain[-1]
    if not mapping.flow:
        return _delete_lines(source, key, value)
    at = next(i for i, pair in enumerate(mapping.pairs) if pair[0] is key)
    end = end_of(source.text, key, value)
    if at + 1 < len(mapping.pairs):
        return Edit(source.path, key.start, mapping.pairs[at + 1][0].start, "")
    if not at:
        return None
    before = mapping.pairs[at - 1]
    return Edit(source.path, end_of(source.text, *before), end, "")


def _delete_lines(source: Source, key: Node, value: Node) -> Edit | None:
    text = source.text
    start = text.rfind("\n", 0, key.start) + 1
    if text[start : key.start].strip(" \ufeff") or text[start : key.start].startswith("\ufeff"):
        return None
    end = end_of(text, key, value, key.start - start)
    newline = text.find("\n", max(end - 1, 0))
    if newline < 0:
        return None
    comment = text[end:newline].strip()
    left = f"{text[start : key.start]}{comment}{newline_of(source, end)}"
    return Edit(source.path, start, newline + 1, left if comment else "")
