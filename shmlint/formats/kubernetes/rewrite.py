"""Edits that give a container of a pod a memory volume on /dev/shm, and touch nothing else.

A volume and its mount are in two places, and are one change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count

from shmlint.docker.mounts import clean
from shmlint.docker.sizes import spell_quantity
from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.containers import SHM, Volume, read_volumes
from shmlint.formats.kubernetes.insert import Entry, added_item, edited, own_item
from shmlint.formats.kubernetes.manifests import read_file
from shmlint.formats.kubernetes.pods import Container, Pod
from shmlint.formats.kubernetes.removal import renamed_variable, without_host_ipc, without_variable
from shmlint.formats.kubernetes.tree import build, plain
from shmlint.formats.kubernetes.volume import made_memory, resized
from shmlint.model.launch import Change, ReadOnly
from shmlint.model.source import Edit, Source


class PodRewriter(ReadOnly):
    """Rewrites one container of a pod."""

    __slots__ = ("part", "pod", "pods", "volumes")

    def __init__(self, pod: Pod, part: Container, volumes: Mapping[str, Volume], pods: Sequence[Pod]) -> None:
        self.pod = pod
        self.part = part
        self.volumes = volumes
        self.pods = pods
        """The pods of the object: an anchor may make a container one of several."""

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to mount a memory volume of so many bytes on the container's /dev/shm."""
        mount = next(
            (m for m in self.part.body.maps("volumeMounts") if clean(m.text("mountPath")) == SHM), None
        )
        if mount is None:
            return list(self._added(size))
        volume = self.volumes.get(mount.text("name"))
        if volume is None or volume.body is None:
            return ()
        return list(self._changed(volume, size))

    def _changed(self, volume: Volume, size: int) -> Iterator[Change]:
        """Another size for a memory volume; one on disk becomes one in memory if it is mounted nowhere else."""
        if volume.kind == "memory":
            yield from resized(volume, size)
        elif volume.kind == "disk" and self._only_on_shm(volume.name):
            yield from made_memory(volume, size)

    def mount_volume(self, name: str) -> Sequence[Change]:
        """Ways to mount a volume that the pod has on the container's /dev/shm."""
        return list(self._mounted(name))

    def drop_variable(self, name: str) -> Sequence[Change]:
        """A way to take a variable out of the container's ``env``."""
        return list(without_variable(self.part.body, name))

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """A way to give a variable of the container's ``env`` another name."""
        return list(renamed_variable(self.part.body, name, new))

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """A way to leave the node's IPC namespace; a pod has no other modes."""
        return list(without_host_ipc(self.pod.spec)) if not mode else ()

    def _mounted(self, name: str) -> Iterator[Change]:
        mount = _mount(name)
        for source in self._sources():
            mounted = added_item(self.part.body, source, "volumeMounts", mount)
            own = own_item(self.part.body, source, "volumeMounts", mount)
            ways = [(mounted,) if mounted is not None else (), own]
            title = f"mount the volume `{name}` on {SHM} in {self._place(source)}"
            yield from (Change(edits, title) for edits in dict.fromkeys(ways) if edits)

    def _place(self, source: Source) -> str:
        written = self.part.body.in_file(source)
        start = written.node.start if written is not None else 0
        return f"the container in line {source.position(start).line}"

    def _added(self, size: int) -> Iterator[Change]:
        """The mount, and the volume where no other container has one of this size there."""
        name = self._shared(size)
        if name:
            yield from self._mounted(name)
        text = spell_quantity(size)
        for source in self._sources():
            pods = self._sharing(source)
            mount = _mount(_free_name(pods))
            mounted = added_item(self.part.body, source, "volumeMounts", mount)
            volume = (mount[0], Entry("emptyDir", (Entry("medium", "Memory"), Entry("sizeLimit", text))))
            added = [added_item(pod.spec, source, "volumes", volume) for pod in pods]
            edits = [edit for edit in (mounted, *dict.fromkeys(added)) if edit is not None]
            title = f"add a memory volume of {text}, and mount it on {SHM} in {self._place(source)}"
            if mounted is not None and None not in added:
                yield Change(_joined(edits), title)
            own_mount = own_item(self.part.body, source, "volumeMounts", mount)
            own_volume = own_item(self.pod.spec, source, "volumes", volume)
            own = (*own_mount, *own_volume)
            if own_mount and own_volume and set(own) != set(edits):
                yield Change(_joined(own), f"{title}, in a copy of the list at the anchor")

    def _sharing(self, source: Source) -> list[Pod]:
        """The pods whose containers get a mount when this one gets it in a file: this one, and those of its anchor."""
        mine = edited(self.part.body, source, "volumeMounts")
        if mine is None or not mine.shared:
            return [self.pod]
        return [
            pod for pod in self.pods
            if any(edited(part.body, source, "volumeMounts") == mine for part in pod.parts)
        ]  # fmt: skip

    def _sources(self) -> list[Source]:
        """The files that write the container, the one that requests the GPU first."""
        written = [place.source for place in self.part.body.written]
        asks = self.part.body.get("resources", "limits") or self.part.body.get("resources", "requests")
        if asks is not None and asks.span.source in written:
            written.remove(asks.span.source)
            written.insert(0, asks.span.source)
        return written

    def _shared(self, size: int) -> str:
        """A memory volume of this size that other containers have on their /dev/shm."""
        for volume in self.volumes.values():
            if volume.kind == "memory" and volume.size == size and self._only_on_shm(volume.name):
                return volume.name
        return ""

    def _only_on_shm(self, name: str) -> bool:
        """Whether a volume is mounted, and on /dev/shm alone."""
        mounts = (mount for part in self.pod.parts for mount in part.body.maps("volumeMounts"))
        paths = {clean(mount.text("mountPath")) for mount in mounts if mount.text("name") == name}
        return paths == {SHM}


def _mount(name: str) -> tuple[Entry, ...]:
    return (Entry("name", name), Entry("mountPath", SHM))


def _free_name(pods: Iterable[Pod]) -> str:
    """``dshm``, as everybody calls it, or another name where that is taken."""
    names = chain(("dshm", "shm", "shared-memory"), (f"dshm-{number}" for number in count(2)))
    taken = {name for pod in pods for name in read_volumes(pod)}
    return next(name for name in names if name not in taken)


def _joined(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits; those that insert at the same offset as one, the deeper one first."""
    found: dict[tuple[str, int, int], Edit] = {}
    for edit in edits:
        place = (edit.path, edit.start, edit.end)
        before = found.get(place)
        found[place] = edit if before is None else before._replace(text=before.text + edit.text)
    return tuple(sorted(found.values()))


# Proofs ------------------------------------------------------------------------------------------


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the objects of a file are the same but for memory volumes and what is mounted on /dev/shm.

    Without ``sizes_only``, plain variables and ``hostIPC`` may differ too: the launches say what they are.
    """
    old, new = read_file(path, before), read_file(path, after)
    if old.problem is not None or new.problem is not None or old.unread != new.unread:
        return False
    if len(old.documents) != len(new.documents):
        return False
    pairs = zip(old.documents, new.documents, strict=True)
    both = ((plain(build(a.root, a.source)), plain(build(b.root, b.source))) for a, b in pairs)
    return all(
        _stripped(a, sizes_only=sizes_only) == _stripped(b, sizes_only=sizes_only)
        and not Counter(_unmounted(b)) - Counter(_unmounted(a))
        for a, b in both
    )


def _unmounted(value: object) -> Iterator[str]:
    """The memory volumes that nothing mounts on /dev/shm: a shared list may bring one to other pods."""
    if isinstance(value, list):
        for item in value:
            yield from _unmounted(item)
    elif isinstance(value, dict):
        volumes = value.get("volumes")
        names = [_text(item, "name") for item in volumes if _is_empty_dir(item)] if isinstance(volumes, list) else []
        mounted = set(_mounted(value)) if names else set()
        yield from (name for name in names if name not in mounted)
        for inner in value.values():
            yield from _unmounted(inner)


def _mounted(value: object) -> Iterator[str]:
    """The volumes that are mounted on /dev/shm anywhere in a value."""
    if isinstance(value, list):
        for item in value:
            yield from _mounted(item)
    elif isinstance(value, dict):
        if _is_mount(value):
            yield _text(value, "name")
        for inner in value.values():
            yield from _mounted(inner)


def _stripped(value: object, *, sizes_only: bool) -> object:
    """A value without memory volumes, mounts on /dev/shm, and what its launches say of it."""
    if isinstance(value, list):
        return [_stripped(item, sizes_only=sizes_only) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        left = inner
        if key in ("volumes", "volumeMounts") and isinstance(inner, list):
            left = [item for item in inner if not _about_shm(item)]
        elif not sizes_only and key == "env" and isinstance(inner, list):
            left = [item for item in inner if not _is_variable(item)]
        if left or key not in ("volumes", "volumeMounts", "env"):
            found[key] = _stripped(left, sizes_only=sizes_only)
    if not sizes_only:
        found.pop("hostIPC", None)
    return found


def _is_variable(item: object) -> bool:
    return isinstance(item, dict) and set(item) <= {"name", "value"}


def _about_shm(item: object) -> bool:
    return isinstance(item, dict) and (_is_mount(item) or _is_empty_dir(item))


def _is_mount(item: dict[object, object]) -> bool:
    return _text(item, "mountPath") == SHM


def _text(item: dict[object, object], key: str) -> str:
    """The text under a key of what ``plain`` gives."""
    value = item.get(key)
    return str(value[0]) if isinstance(value, tuple) else ""


def _is_empty_dir(item: object) -> bool:
    return isinstance(item, dict) and set(item) == {"name", "emptyDir"}
