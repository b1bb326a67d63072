"""What the volumes that a file defines are: by default a directory on disk, with options anything that can be mounted.

The `local` driver hands `type`, `device` and `o` to mount(2) (moby daemon/volume/local/local_unix.go); others do what
they like.
"""

from __future__ import annotations

from collections.abc import Mapping

from shmlint.docker.mounts import MountRequest
from shmlint.formats.compose.tree import Branch, Leaf, Tree
from shmlint.formats.compose.values import is_true, unset
from shmlint.model.launch import Unknown, Value
from shmlint.model.source import Span

Volumes = Mapping[str, Tree]
"""What defines each volume of a project, by its name there."""

NO_VOLUMES: Volumes = {}


def defined(request: MountRequest, volumes: Volumes) -> MountRequest:
    """A mount of a volume as what its definition makes of it."""
    volume = volumes.get(request.source) if request.type in ("", "volume") else None
    if not isinstance(volume, Branch):
        return request
    name, options = request.source, volume.get("driver_opts")
    unknown = _unknown(name, volume)
    if unknown is not None:
        return request._replace(unknown=unknown)
    if not isinstance(options, Branch) or not options.entries:
        return request
    given = {key: entry.tree for key, entry in options.entries.items()}
    leaves = {key: leaf for key, leaf in given.items() if isinstance(leaf, Leaf)}
    kind, device, flags = leaves.get("type"), leaves.get("device"), leaves.get("o")
    if kind is None or device is None or "size" in given or unset(kind) or unset(device):
        return request._replace(unknown=Unknown("engine", f"what the engine makes of the options of volume `{name}`"))
    words = flags.text.split(",") if flags is not None else []
    if kind.text == "tmpfs":
        return request._replace(type="tmpfs", options=_options(flags, request.span), size_span=_size_span(flags))
    if "bind" in words or "rbind" in words:
        return request._replace(type="bind", source=device.text)
    return request


def _unknown(name: str, volume: Branch) -> Unknown | None:
    """Why nothing is known of a volume: something else makes it, or another driver."""
    driver = volume.leaf("driver")
    if isinstance(volume.get("external"), Branch) or is_true(volume.leaf("external")) is not False:
        return Unknown("engine", f"volume `{name}` is external: whoever creates it sets its size", name)
    if driver is not None and driver.text != "local":
        made = f"driver `{driver.written}`" if not driver.interpolated.unset else "a driver that a variable names"
        return Unknown("engine", f"{made} makes volume `{name}`", name)
    return None


def _options(flags: Leaf | None, span: Span) -> Value[str]:
    """The options of a tmpfs, which the kernel reads."""
    if flags is None:
        return Value("", span, "")
    value: str | Unknown = Unknown("variable", unset(flags), flags.written) if unset(flags) else flags.text
    return Value(value, flags.span, flags.written, private=flags.interpolated.private)


def _size_span(flags: Leaf | None) -> Span | None:
    """Where the size is written among the options of a tmpfs."""
    at = flags.written.rfind("size=") if flags is not None else -1
    if flags is None or at < 0 or flags.interpolated.used:
        return None
    return flags.within(at + 5, at + 5 + len(flags.written[at + 5 :].partition(",")[0]))
