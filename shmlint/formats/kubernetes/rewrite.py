"""Edits that give a container of a pod a memory volume on /dev/shm, and touch nothing else.

A volume and its mount stand in two places, and are one change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from shmlint.docker.mounts import clean
from shmlint.docker.sizes import spell_quantity
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.splice import end_of, indentation_of, line_edit, newline_of
from shmlint.formats.kubernetes.containers import SHM, Volume
from shmlint.formats.kubernetes.pods import Part, Pod
from shmlint.formats.kubernetes.removal import renamed_variable, without_host_ipc, without_variable
from shmlint.formats.kubernetes.tree import Map, Written, build, plain
from shmlint.model.launch import Change, ReadOnly
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, Source
from shmlint.syntax import yaml
from shmlint.syntax.yaml_read import read_documents


class Entry(NamedTuple):
    """A key with its value: a text, or more entries."""

    key: str
    value: str | tuple[Entry, ...]


class PodRewriter(ReadOnly):
    """Rewrites one container of a pod."""

    __slots__ = ("part", "pod", "volumes")

    def __init__(self, pod: Pod, part: Part, volumes: Mapping[str, Volume]) -> None:
        self.pod = pod
        self.part = part
        self.volumes = volumes

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
        return list(_resized(volume, size) if volume.kind == "memory" else _made_memory(volume, size))

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
        mount = (Entry("name", name), Entry("mountPath", SHM))
        for source in self._sources():
            mounted = _added_item(_in(self.part.body, source), "volumeMounts", mount)
            if mounted is not None:
                yield Change((mounted,), f"mount the volume `{name}` on {SHM} in {self._place(source)}")

    def _place(self, source: Source) -> str:
        written = _in(self.part.body, source)
        start = written.node.start if written is not None else 0
        return f"the container in line {source.position(start).line}"

    def _added(self, size: int) -> Iterator[Change]:
        """The mount, and the volume where no other container has one of this size there."""
        name = self._shared(size)
        if name:
            yield from self._mounted(name)
        mount = (Entry("name", self._free_name()), Entry("mountPath", SHM))
        for source in self._sources():
            mounted = _added_item(_in(self.part.body, source), "volumeMounts", mount)
            if mounted is None:
                continue
            empty = (Entry("medium", "Memory"), Entry("sizeLimit", spell_quantity(size)))
            volume = (mount[0], Entry("emptyDir", empty))
            added = _added_item(_in(self.pod.spec, source), "volumes", volume)
            if added is not None:
                text = spell_quantity(size)
                title = f"add a memory volume of {text}, and mount it on {SHM} in {self._place(source)}"
                yield Change(_joined(mounted, added), title)

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
            paths = [
                clean(mount.text("mountPath"))
                for part in self.pod.parts
                for mount in part.body.maps("volumeMounts")
                if mount.text("name") == volume.name
            ]
            if volume.kind == "memory" and volume.size == size and paths and all(path == SHM for path in paths):
                return volume.name
        return ""

    def _free_name(self) -> str:
        """``dshm``, as everybody calls it, or another name where that is taken."""
        names = ("dshm", "shm", "shared-memory", *(f"dshm-{number}" for number in range(2, 99)))
        return next(name for name in names if name not in self.volumes)


def _in(tree: Map, source: Source) -> Written | None:
    """The mapping as a file writes it."""
    return next((place for place in tree.written if place.source is source), None)


# Another size ------------------------------------------------------------------------------------


def _resized(volume: Volume, size: int) -> Iterator[Change]:
    """Replace the limit, or add one where there is none."""
    body = volume.body
    if body is None:
        return
    text = spell_quantity(size)
    limit = body.fields.get("sizeLimit")
    if limit is None:
        edit = _added_pair(body.written[0], Entry("sizeLimit", text)) if body.written else None
        if edit is not None:
            yield Change((edit,), f"add `sizeLimit: {text}` to the volume `{volume.name}`")
        return
    holder = next((place for place in body.written if place.source is limit.key.source), None)
    node = _value(holder, "sizeLimit")
    if holder is None or not isinstance(node, yaml.Scalar) or node.anchor is not None or node.style in ("|", ">"):
        return
    quote = node.style
    edit = Edit(holder.source.path, node.start, node.end, f"{quote}{text}{quote}")
    yield Change((edit,), f"change `sizeLimit` to {text} in line {holder.source.position(node.start).line}")


def _made_memory(volume: Volume, size: int) -> Iterator[Change]:
    """An ``emptyDir`` on disk becomes one in memory; its limit stays."""
    item = volume.body
    if volume.kind != "disk" or item is None or "emptyDir" not in item.fields or not item.written:
        return
    body = item.map("emptyDir")
    if body is None or body.fields:
        return  # a limit that is there was meant for a disk
    holder = item.written[0]
    node = _value(holder, "emptyDir")
    if not isinstance(node, yaml.Mapping) or not node.flow or node.anchor is not None:
        return
    pairs = _flow((Entry("medium", "Memory"), Entry("sizeLimit", spell_quantity(size))), quoted=_quoted(holder.node))
    edit = Edit(holder.source.path, node.start, node.end, pairs)
    line = holder.source.position(node.start).line
    yield Change((edit,), f"make the volume `{volume.name}` one in memory in line {line}")


def _value(holder: Written | None, key: str) -> yaml.Node | None:
    return holder.node.get(key) if holder is not None and isinstance(holder.node, yaml.Mapping) else None


# Adding ------------------------------------------------------------------------------------------


def _joined(first: Edit, second: Edit) -> tuple[Edit, ...]:
    """Two edits; one where both insert at the same offset: what stands deeper comes first."""
    if (first.path, first.start, first.end) != (second.path, second.start, second.end):
        return tuple(sorted((first, second)))
    return (first._replace(text=first.text + second.text),)


def _added_item(holder: Written | None, key: str, item: tuple[Entry, ...]) -> Edit | None:
    """An item more in the list under a key of a mapping, which may not be there yet."""
    if holder is None or not isinstance(holder.node, yaml.Mapping) or not holder.node.pairs:
        return None
    node, source = holder.node, holder.source
    there = next(((k, v) for k, v in node.pairs if isinstance(k, yaml.Scalar) and k.value == key), None)
    if there is None:
        return _added_list(source, node, key, item)
    name, value = there
    if isinstance(value, yaml.Sequence) and value.anchor is None:
        return _added_to(source, value, item, quoted=_quoted(node))
    if isinstance(value, yaml.Scalar) and value.anchor is None and not node.flow and not value.value:
        # `volumes:` with nothing after it.
        end = end_of(source.text, name, value)
        lines = _item_lines(source, node, indentation_of(source.text, name.start), item, end)
        return line_edit(source, end, lines)
    return None


def _added_list(source: Source, node: yaml.Mapping, key: str, item: tuple[Entry, ...]) -> Edit | None:
    if node.flow:
        quoted = _quoted(node)
        return _behind_last(source, node, f"{_name(key, quoted=quoted)}: [{_flow(item, quoted=quoted)}]")
    for name, value in reversed(node.pairs):
        indentation = indentation_of(source.text, name.start)
        end = end_of(source.text, name, value, len(indentation))
        if end < len(source.text) or not _ends_in_block(value):
            break
    else:
        return None
    lines = _item_lines(source, node, indentation, item, end)
    newline = newline_of(source, max(end - 1, 0))
    return line_edit(source, end, f"{indentation}{_name(key, quoted=_quoted(node))}:{newline}{lines}")


def _ends_in_block(value: yaml.Node) -> bool:
    """Whether the last thing in a value is a block of text: a line end after it would be a part of it."""
    while isinstance(value, yaml.Mapping | yaml.Sequence):
        parts = [inner for _, inner in value.pairs] if isinstance(value, yaml.Mapping) else value.items
        if value.flow or not parts:
            return False
        value = parts[-1]
    return isinstance(value, yaml.Scalar) and value.style in ("|", ">")


def _added_to(source: Source, value: yaml.Sequence, item: tuple[Entry, ...], *, quoted: bool) -> Edit | None:
    """An item after the last one of a list."""
    if value.flow:
        if not value.items:
            at = value.start + 1
            return Edit(source.path, at, at, _flow(item, quoted=quoted))
        last = value.items[-1]
        return _separated(source, last.start, end_of(source.text, last, last), _flow(item, quoted=quoted))
    if not value.items:
        return None
    last = value.items[-1]
    dash = source.text.rfind("-", 0, value.items[0].start)
    indentation = source.text[source.text.rfind("\n", 0, dash) + 1 : dash]
    if indentation.strip(" \t"):
        return None  # a list in a list
    end = end_of(source.text, last, last, len(indentation) + 2)
    return line_edit(source, end, _lines(item, indentation, newline_of(source, max(end - 1, 0)), 2))


def _behind_last(source: Source, node: yaml.Mapping, text: str) -> Edit:
    """A pair after the last one of a mapping in flow style."""
    key, value = node.pairs[-1]
    return _separated(source, key.start, end_of(source.text, key, value), text)


def _separated(source: Source, start: int, end: int, text: str) -> Edit:
    """A text after a comma, on a line of its own where what stands before it has one."""
    line = source.text.rfind("\n", 0, start) + 1
    if line and not source.text[line:start].strip():
        return Edit(source.path, end, end, f",{newline_of(source, start)}{source.text[line:start]}{text}")
    return Edit(source.path, end, end, f", {text}")


def _added_pair(holder: Written, entry: Entry) -> Edit | None:
    """A pair more in a mapping."""
    node, source = holder.node, holder.source
    if not isinstance(node, yaml.Mapping) or not node.pairs:
        return None
    quoted = _quoted(node)
    if node.flow:
        return _behind_last(source, node, _pair(entry, quoted=quoted))
    key, value = node.pairs[-1]
    indentation = indentation_of(source.text, key.start)
    return line_edit(source, end_of(source.text, key, value, len(indentation)), f"{indentation}{_pair(entry)}")


def _item_lines(source: Source, node: yaml.Mapping, indentation: str, item: tuple[Entry, ...], end: int) -> str:
    """The lines of a list's only item, its dash set in as those of other lists of the file are."""
    margin = _margin(source, node)
    return _lines(item, indentation + " " * margin, newline_of(source, max(end - 1, 0)), 2)


def _margin(source: Source, node: yaml.Mapping) -> int:
    """How far the dashes of lists are set in against their key: as in this mapping, or in the list it is in."""
    for _, value in node.pairs:
        found = _margin_of(source, node, value)
        if found is not None:
            return found
    # A list of the file that stands above: the one whose item this mapping is in.
    before = source.text[: node.start]
    for line in reversed(before.split("\n")):
        stripped = line.lstrip(" ")
        if stripped.startswith("- "):
            dash = len(line) - len(stripped)
            key = _key_above(before, dash)
            if key is not None:
                return dash - key
    return 0


def _key_above(text: str, dash: int) -> int | None:
    """The column of the key whose list has its dashes in a column."""
    for line in reversed(text.split("\n")[:-1]):
        stripped = line.lstrip(" ")
        column = len(line) - len(stripped)
        if stripped.rstrip().endswith(":") and not stripped.startswith(("- ", "#")) and column <= dash:
            return column if dash - column <= 4 else None
    return None


def _margin_of(source: Source, node: yaml.Mapping, value: yaml.Node) -> int | None:
    if not isinstance(value, yaml.Sequence) or value.flow or not value.items or node.flow:
        return None
    dash = source.text.rfind("-", 0, value.items[0].start)
    column = len(indentation_of(source.text, node.pairs[0][0].start))
    given = dash - (source.text.rfind("\n", 0, dash) + 1) - column
    return given if 0 <= given <= 4 else None


def _lines(item: tuple[Entry, ...], indentation: str, newline: str, step: int) -> str:
    """An item of a list as lines."""
    lines = [line for entry in item for line in _block(entry, step)]
    first, *rest = lines
    return newline.join([f"{indentation}- {first}", *(f"{indentation}  {line}" for line in rest)])


def _block(entry: Entry, step: int) -> Iterator[str]:
    if isinstance(entry.value, str):
        yield f"{entry.key}: {entry.value}"
        return
    yield f"{entry.key}:"
    for inner in entry.value:
        yield from (" " * step + line for line in _block(inner, step))


def _flow(entries: tuple[Entry, ...], *, quoted: bool) -> str:
    return "{" + ", ".join(_pair(entry, quoted=quoted) for entry in entries) + "}"


def _pair(entry: Entry, *, quoted: bool = False) -> str:
    value = _flow(entry.value, quoted=quoted) if isinstance(entry.value, tuple) else _name(entry.value, quoted=quoted)
    return f"{_name(entry.key, quoted=quoted)}: {value}"


def _name(text: str, *, quoted: bool) -> str:
    return f'"{text}"' if quoted else text


def _quoted(node: yaml.Node) -> bool:
    """Whether every key of a mapping has double quotes, as in JSON."""
    return isinstance(node, yaml.Mapping) and bool(node.pairs) and all(
        isinstance(key, yaml.Scalar) and key.style == '"' for key, _ in node.pairs
    )


# Proofs ------------------------------------------------------------------------------------------


def same_beside(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the objects of a file are the same but for memory volumes and what is mounted on /dev/shm.

    Without ``sizes_only``, plain variables and ``hostIPC`` may differ too: the launches say what they are.
    """
    try:
        old, new = read_documents(path, before), read_documents(path, after)
        sources = before.source(path), after.source(path)
    except Unreadable:
        return False
    if len(old) != len(new):
        return False
    both = ((plain(build(a.root, sources[0])), plain(build(b.root, sources[1]))) for a, b in zip(old, new, strict=True))
    return all(_stripped(a, sizes_only=sizes_only) == _stripped(b, sizes_only=sizes_only) for a, b in both)


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
    if not isinstance(item, dict):
        return False
    return item.get("mountPath", ("",))[:1] == (SHM,) or set(item) == {"name", "emptyDir"}
