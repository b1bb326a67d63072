"""What ``--mount``, ``--volume`` and ``--tmpfs`` mount, read as the docker client reads them.

Sources: docker/cli opts/mount.go, cli/compose/loader/volume.go (ParseVolume), and
cli/command/container/opts.go, which leaves the options of ``--tmpfs`` to the kernel. Compared
with the 28.2 client.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from shmlint.docker.gotext import CSVError, go_bool, read_record
from shmlint.docker.sizes import InvalidSize, parse_docker

_KEYS_BY_TYPE = ("volume", "bind", "tmpfs", "image")


@dataclass(frozen=True, slots=True)
class MountOption:
    """One mount: ``type`` is ``bind``, ``volume``, ``tmpfs`` or what ``--mount type=`` says.

    ``source`` is empty for an anonymous volume. ``size`` is in bytes where Docker reads the
    size (``--mount …,tmpfs-size=``); ``size_text`` is what is written, and where ``--tmpfs``
    hands it to the kernel it is all there is. ``size_at`` is the offset of ``size_text`` inside
    the option's value, where it stands there letter by letter. ``error`` is why the client
    refuses the value.
    """

    type: str = "volume"
    source: str = ""
    target: str = ""
    read_only: bool = False
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


def parse_mount(value: str) -> MountOption:
    """Read a ``--mount`` value: CSV of ``key=value``; the type is ``volume`` where none is given."""
    try:
        fields = read_record(value)
    except CSVError as error:
        return MountOption(error=str(error))
    kind, source, target, read_only = "volume", "", "", False
    size: int | None = None
    size_text = ""
    recursive = propagation = ""
    groups: set[str] = set()
    for item in fields:
        key, equals, val = item.partition("=")
        key = key.lower()
        groups.update(name for name in _KEYS_BY_TYPE if key.startswith(f"{name}-"))
        if not equals:
            if key in ("readonly", "ro"):
                read_only = True
            elif key not in ("volume-nocopy", "bind-nonrecursive"):
                return MountOption(error=f"invalid field '{item}' must be a key=value pair")
        elif key == "type":
            kind = val.lower()
        elif key in ("source", "src"):
            source = val
        elif key in ("target", "dst", "destination"):
            target = val
        elif key in ("readonly", "ro", "bind-nonrecursive", "volume-nocopy"):
            flag = go_bool(val)
            if flag is None:
                return MountOption(error=f"invalid value for {key}: {val}")
            if key in ("readonly", "ro"):
                read_only = flag
        elif key == "bind-recursive":
            if val not in ("enabled", "disabled", "writable", "readonly"):
                return MountOption(
                    error=f'invalid value for {key}: {val} (must be "enabled", "disabled", '
                    '"writable", or "readonly")'
                )
            recursive = val
        elif key == "bind-propagation":
            propagation = val.lower()
        elif key == "tmpfs-size":
            try:
                size = parse_docker(val)
            except InvalidSize:
                return MountOption(error=f"invalid value for {key}: {val}")
            size_text = val
        elif key == "tmpfs-mode":
            if not re.fullmatch(r"[0-7]+", val) or int(val, 8) >= 2**32:
                return MountOption(error=f"invalid value for {key}: {val}")
        elif key not in (
            "consistency",
            "volume-subpath",
            "volume-label",
            "volume-driver",
            "volume-opt",
            "image-subpath",
        ):
            return MountOption(error=f"unexpected key '{key}' in '{item}'")
    why = ""
    if not kind:
        why = "type is required"
    elif not target:
        why = "target is required"
    elif mixed := next((name for name in _KEYS_BY_TYPE if name in groups and name != kind), ""):
        why = f"cannot mix '{mixed}-*' options with mount type '{kind}'"
    elif recursive in ("writable", "readonly") and not read_only:
        why = f"option 'bind-recursive={recursive}' requires 'readonly' to be specified in conjunction"
    elif recursive == "readonly" and propagation != "rprivate":
        why = (
            "option 'bind-recursive=readonly' requires 'bind-propagation=rprivate' to be specified "
            "in conjunction"
        )
    if why:
        return MountOption(error=why)
    at = re.search(r"(?i)(?:^|,)\"?tmpfs-size=" + re.escape(size_text) + r"(?=[\",]|$)", value)
    return MountOption(
        kind,
        source,
        target,
        read_only,
        size,
        size_text,
        at.end() - len(size_text) if size_text and at else None,
    )


def parse_volume(value: str) -> MountOption:
    """Read a ``--volume`` value. One path alone is an anonymous volume, also ``/dev/shm``."""
    if not value:
        return MountOption(error="invalid empty volume spec")
    if len(value.encode()) <= 2:
        return MountOption(target=value)
    source = target = options = ""
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
        elif not last:
            return MountOption(error=f"invalid spec: {value}: too many colons")
        else:
            options = section
    modes = [option for option in options.split(",") if option in ("ro", "rw")]
    return MountOption(
        "bind" if source and _is_path(source) else "volume",
        source,
        target,
        read_only=modes[-1:] == ["ro"],
    )


def parse_tmpfs(value: str) -> MountOption:
    """Read a ``--tmpfs`` value: a target, and options the client does not look at.

    ``size_text`` is the last ``size=`` among them, in the kernel's grammar.
    """
    target, colon, options = value.partition(":")
    size_text, size_at = "", None
    read_only = False
    at = len(target) + len(colon)
    for option in options.split(","):
        name, equals, text = option.partition("=")
        if name == "size":
            size_text, size_at = text, at + len(name) + len(equals)
        elif option in ("ro", "rw"):
            read_only = option == "ro"
        at += len(option) + 1
    return MountOption("tmpfs", "", target, read_only, None, size_text, size_at)


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
