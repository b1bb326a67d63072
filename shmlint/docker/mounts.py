"""What ``--mount``, ``--volume`` and ``--tmpfs`` mount, read as the docker client reads them.

Sources: docker/cli opts/mount.go, cli/compose/loader/volume.go (ParseVolume), and
cli/command/container/opts.go, which leaves the options of ``--tmpfs`` to the kernel. Compared
with the 28.2 client.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Literal

from shmlint.docker import placeholders
from shmlint.docker.gotext import CSVError, go_bool, read_record
from shmlint.docker.sizes import SECRET_SIZE, InvalidSize, parse_docker, parse_tmpfs_option
from shmlint.model.launch import Mount, Size, Unknown, Value
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span

TYPES = ("bind", "volume", "tmpfs", "image", "npipe", "cluster")
"""The types of mounts that the engine knows; the client passes on any other (moby api/types/mount/mount.go)."""
_KEYS_BY_TYPE = ("volume", "bind", "tmpfs", "image")


class MountOption(NamedTuple):
    """One mount: ``type`` is ``bind``, ``volume``, ``tmpfs`` or what ``--mount type=`` says.

    ``source`` is empty for an anonymous volume. ``size`` is in bytes where Docker reads the
    size (``--mount …,tmpfs-size=``); ``size_text`` is what is written, and where ``--tmpfs``
    hands it to the kernel it is all there is. ``size_at`` is the offset of ``size_text`` inside
    the option's value, where it is written there letter by letter. ``error`` is why the client
    refuses the value.
    """

    type: str = "volume"
    source: str = ""
    target: str = ""
    size: int | None = None
    size_text: str = ""
    size_at: int | None = None
    error: str = ""

    @property
    def path(self) -> str:
        """The target as the engine cleans it: ``/dev/shm/`` is ``/dev/shm``."""
        return clean(self.target)


def clean(path: str) -> str:
    """Go's ``filepath.Clean``.

    >>> clean("//dev//shm/")
    '/dev/shm'
    """
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path)


class _Refused(ValueError):
    """The client refuses a ``--mount`` value; the message says why."""


_FLAGS = ("readonly", "ro", "bind-nonrecursive", "volume-nocopy")
_RECURSIVE = ("enabled", "disabled", "writable", "readonly")
_NAMES = {"src": "source", "dst": "target", "destination": "target", "ro": "readonly"}
_KNOWN = frozenset(
    {"type", "source", "target", *_FLAGS, "bind-recursive", "bind-propagation", "tmpfs-size", "tmpfs-mode",
     "consistency", "volume-subpath", "volume-label", "volume-driver", "volume-opt", "image-subpath"}
)  # fmt: skip


def parse_mount(value: str) -> MountOption:
    """Read a ``--mount`` value: CSV of ``key=value``; the type is ``volume`` where none is given."""
    try:
        given = dict(map(_mount_field, read_record(value)))
        _check_mount(given)
    except _BadSize as error:
        return _without_size(value, error)
    except (CSVError, _Refused) as error:
        return _refused(value, str(error))
    size_text = given.get("tmpfs-size", "")
    at = re.search(r"(?i)(?:^|,)\"?tmpfs-size=" + re.escape(size_text) + r"(?=[\",]|$)", value)
    return MountOption(
        given.get("type", "volume"),
        given.get("source", ""),
        given.get("target", ""),
        parse_docker(size_text) if size_text else None,
        size_text,
        at.end() - len(size_text) if size_text and at else None,
    )


class _BadSize(_Refused):
    """The size of a tmpfs is invalid."""


def _without_size(value: str, error: _BadSize) -> MountOption:
    """A mount whose size is refused, with what else is read of it."""
    found = re.search(r"(?i),tmpfs-size=([^,\"]*)", value)
    if found is None:
        return _refused(value, str(error))
    rest = parse_mount(value[: found.start()] + value[found.end() :])
    return rest._replace(error=rest.error or str(error), size_text=found[1], size_at=found.start(1))


def _refused(value: str, error: str) -> MountOption:
    """A mount that the client refuses, with what tells where it would be."""
    fields = (item.strip('" ').partition("=") for item in value.split(","))
    given = {_NAMES.get(key.lower(), key.lower()): text for key, _, text in fields}
    kind = given.get("type", "volume").lower()
    return MountOption(kind, given.get("source", ""), given.get("target", ""), error=error)


def _mount_field(item: str) -> tuple[str, str]:
    """One field, its key spelt in one way. Raises _Refused."""
    key, equals, value = item.partition("=")
    key = key.lower()
    if not equals and key not in _FLAGS:
        raise _Refused(f"invalid field '{item}' must be a key=value pair")
    if not equals:
        value = "true"
    invalid = f"invalid value for {key}: {value}"
    if key in _FLAGS:
        if go_bool(value) is None:
            raise _Refused(invalid)
    elif key == "bind-recursive":
        if value not in _RECURSIVE:
            raise _Refused(f'{invalid} (must be "enabled", "disabled", "writable", or "readonly")')
    elif key == "tmpfs-size":
        try:
            parse_docker(value)
        except InvalidSize:
            raise _BadSize(invalid) from None
    elif key == "tmpfs-mode" and (not re.fullmatch(r"[0-7]+", value) or int(value, 8) >= 2**32):
        raise _Refused(invalid)
    key = _NAMES.get(key, key)
    if key not in _KNOWN:
        raise _Refused(f"unexpected key '{key}' in '{item}'")
    return key, value.lower() if key in ("type", "bind-propagation") else value


def _check_mount(given: Mapping[str, str]) -> None:
    """What is refused of the fields together. Raises _Refused."""
    kind = given.get("type", "volume")
    prefixes = {key.partition("-")[0] for key in given if "-" in key}
    groups = [name for name in _KEYS_BY_TYPE if name in prefixes]
    recursive = given.get("bind-recursive")
    if not kind:
        raise _Refused("type is required")
    if not given.get("target"):
        raise _Refused("target is required")
    mixed = next((name for name in groups if name != kind), "")
    if mixed:
        raise _Refused(f"cannot mix '{mixed}-*' options with mount type '{kind}'")
    together = f"option 'bind-recursive={recursive}' requires"
    if recursive in ("writable", "readonly") and not go_bool(given.get("readonly", "false")):
        raise _Refused(f"{together} 'readonly' to be specified in conjunction")
    if recursive == "readonly" and given.get("bind-propagation") != "rprivate":
        raise _Refused(f"{together} 'bind-propagation=rprivate' to be specified in conjunction")


def parse_volume(value: str) -> MountOption:
    """Read a ``--volume`` value. One path alone is an anonymous volume, also ``/dev/shm``."""
    if not value:
        return MountOption(error="invalid empty volume spec")
    if len(value.encode()) <= 2:
        return MountOption(target=value)
    source = target = ""
    sections = _sections(value)
    for number, section in enumerate(sections):
        last = number == len(sections) - 1
        if not section:
            return MountOption(error=f"invalid spec: {value}: empty section between colons")
        if not source and last:
            target = section
        elif not source:
            source = section
        elif not target:
            target = section
        elif not last:  # what is behind the target are options
            return MountOption(error=f"invalid spec: {value}: too many colons")
    return MountOption("bind" if source and _is_path(source) else "volume", source, target)


def parse_tmpfs(value: str) -> MountOption:
    """Read a ``--tmpfs`` value: a target, and options the client does not look at.

    ``size_text`` is the last ``size=`` among them, in the kernel's grammar.
    """
    target, colon, options = value.partition(":")
    size_text, size_at = "", None
    at = len(target) + len(colon)
    for option in options.split(","):
        name, equals, text = option.partition("=")
        if name == "size":
            size_text, size_at = text, at + len(name) + len(equals)
        at += len(option) + 1
    return MountOption("tmpfs", "", target, None, size_text, size_at)


def _sections(value: str) -> list[str]:
    """Split at colons, but for the colon after a single letter: a Windows drive."""
    sections = [""]
    for char in value:
        if char == ":" and not (len(sections[-1]) == 1 and sections[-1].isalpha()):
            sections.append("")
        else:
            sections[-1] += char
    return sections


def _is_path(source: str) -> bool:
    if source[0] in "./~":
        return True
    return source.startswith("\\\\") or (len(source) > 1 and source[0].isalpha() and source[1] == ":")


# Mounts that decide /dev/shm ----------------------------------------------------------------------

SHM_TARGETS = ("/dev/shm", "/dev")
"""A mount on /dev hides /dev/shm, too."""


class MountRequest(NamedTuple):
    """A mount as a format found it, whatever it is written in.

    ``options`` are those of a tmpfs that the kernel reads, where it is the kernel: ``--tmpfs``, Compose's
    short ``tmpfs``. ``size`` is one that Docker or Compose reads.
    """

    target: str
    span: Span
    type: str = ""
    source: str = ""
    options: Value[str] | None = None
    size: Value[Size] | None = None
    size_span: Span | None = None
    unknown: Unknown | None = None
    """Why it is not known what is mounted."""


def read(request: MountRequest) -> Mount | None:
    """What a request mounts on /dev/shm or over it; None where it is mounted elsewhere."""
    target = clean(request.target)
    if target not in SHM_TARGETS:
        return None
    kind: Literal["tmpfs", "bind", "volume"] = "volume"
    if request.type in ("tmpfs", "bind"):
        kind = "tmpfs" if request.type == "tmpfs" else "bind"
    elif request.source.startswith("$") and "/" in request.source:
        kind = "bind"  # `$DIRECTORY/shm`: no volume has a name with a slash
    size: int | Unknown | None = None
    error = ""
    if request.options is not None:
        size, error = _kernel_size(request.options)
    elif request.size is not None:
        given = request.size.value
        # 0 and no size at all are no size option: half of the host's memory.
        size, error = (given, "") if isinstance(given, Unknown) else (given.bytes or None, given.error)
    size = request.unknown or size
    kernel = request.options is not None
    private = any(given is not None and given.private for given in (request.options, request.size))
    return Mount(
        kind, target, size, request.span, request.source, error, request.size_span, kernel, private=private
    )


def _kernel_size(options: Value[str]) -> tuple[int | Unknown | None, str]:
    """The size among the options of a tmpfs, and why it is refused; of several the last one counts."""
    if isinstance(options.value, Unknown):
        return options.value, ""
    sizes = [text for name, _, text in (option.partition("=") for option in options.value.split(",")) if name == "size"]
    if not sizes:
        return None, ""
    try:
        return parse_tmpfs_option(sizes[-1]), ""
    except InvalidSize as invalid:
        unknown = placeholders.unknown(sizes[-1], private=options.private)
        error = SECRET_SIZE if options.private else str(invalid)
        return unknown, "" if unknown is not None else error
