"""What a service mounts: on /dev/shm, and of the host."""

from __future__ import annotations

import os
from collections.abc import Iterator

from shmlint.docker import mounts
from shmlint.docker.mounts import MountRequest
from shmlint.formats.compose.tree import Branch, Leaf, Tree, items_of
from shmlint.formats.compose.values import read_size, unset
from shmlint.formats.compose.volumes import NO_VOLUMES, Volumes, defined
from shmlint.model.launch import Bind, Mount, Unknown, Value


def read_mounts(tree: Branch, volumes: Volumes = NO_VOLUMES) -> Iterator[Mount]:
    """What is mounted on /dev/shm or /dev by ``tmpfs`` and ``volumes``; one a target, the last wins.

    ``volumes`` are those that the project defines.
    """
    found: dict[tuple[str, str], Mount] = {}
    for item in items_of(tree.get("tmpfs")):
        mount = mounts.read(_short_tmpfs(item)) if isinstance(item, Leaf) else None
        if mount is not None and isinstance(item, Leaf):
            found["tmpfs", item.text.partition("=")[0]] = mount
    for item in items_of(tree.get("volumes")):
        request = _short_volume(item) if isinstance(item, Leaf) else _long_volume(item)
        mount = mounts.read(defined(request, volumes)) if request is not None else None
        if mount is not None:
            found["volume", mount.target] = mount
    yield from found.values()


def read_binds(tree: Branch) -> Iterator[Bind]:
    """What ``volumes`` shows of the host, by paths from the directory of the file."""
    for item in items_of(tree.get("volumes")):
        leaf = item.leaf("source") if isinstance(item, Branch) else item
        if not isinstance(leaf, Leaf):
            continue
        if isinstance(item, Branch):
            at = item.leaf("target")
            source, target = leaf.named, at.named if at is not None else ""
        else:
            volume = mounts.parse_volume(leaf.named)
            source, target = volume.source, volume.target
        if source and target:
            relative = source.startswith(".") and not leaf.interpolated.unset
            yield Bind(os.path.join(leaf.layer.directory, source) if relative else source, target, leaf.span, relative)


def _short_tmpfs(leaf: Leaf) -> MountRequest:
    target, _, options = leaf.text.partition(":")
    value = Unknown("variable", unset(leaf)) if leaf.interpolated.unset else options
    size_span = None
    at = leaf.written.rfind("size=")
    if at >= 0 and not leaf.interpolated.used:
        written = leaf.written[at + 5 :].partition(",")[0]
        size_span = leaf.within(at + 5, at + 5 + len(written))
    given = Value(value, leaf.span, leaf.written, private=leaf.interpolated.private)
    return MountRequest(target, leaf.span, "tmpfs", options=given, size_span=size_span)


def _short_volume(leaf: Leaf) -> MountRequest:
    volume = mounts.parse_volume(leaf.named)
    return MountRequest(volume.target, leaf.span, volume.type, volume.source)


def _long_volume(tree: Tree) -> MountRequest | None:
    target = tree.leaf("target") if isinstance(tree, Branch) else None
    if target is None or not isinstance(tree, Branch):
        return None
    source, kind, written = tree.leaf("source"), tree.leaf("type"), tree.get("tmpfs", "size")
    name, given = source.text if source else "", kind.text if kind else ""
    size = read_size(written) if written is not None and given == "tmpfs" else None
    return MountRequest(
        target.text, target.span, given, name, size=size, size_span=size.span if size is not None else None
    )
