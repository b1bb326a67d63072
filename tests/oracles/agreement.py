"""Where a launch says something else of a service than Compose does."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from shmlint.docker.sizes import InvalidSize, parse_tmpfs_option
from shmlint.model.launch import Launch, Unknown, Value

_NVIDIA = {"gpu", "nvidia", "compute", "compat32", "graphics", "utility", "video", "display"}
_HIDING = ("/dev/shm", "/dev")


def disagreements(service: dict[str, Any], launch: Launch) -> list[str]:
    """One line for each thing that ``docker compose config`` says of a service and its launch does not."""
    found = []
    for what, theirs, ours in _pairs(service, launch):
        if theirs != ours:
            found.append(f"{launch.name}: {what} is {theirs!r}, we read {ours!r}")
    return found


def _pairs(service: dict[str, Any], launch: Launch) -> Iterator[tuple[str, Any, Any]]:
    build = service.get("build") or {}
    yield "image", service.get("image") or None, _known(launch.image) or None
    yield "shm_size", int(service.get("shm_size", 0)), _bytes(launch.shm)
    yield "build.shm_size", int(build.get("shm_size", 0)), _bytes(launch.build_shm)
    yield "ipc", *_ipc(service.get("ipc") or None, _known(launch.ipc) or None)
    if not build:  # where there is one, the launch may know more: the Dockerfile's
        for what, ours in (("command", launch.command), ("entrypoint", launch.entrypoint)):
            yield what, service.get(what) or None, list(_known(ours) or ()) or None
    yield "device requests", *_requests(service, launch)
    yield "mounts", _their_mounts(service), _our_mounts(launch)
    deployed = ((service.get("deploy") or {}).get("resources") or {}).get("limits") or {}
    memory = deployed.get("memory", service.get("mem_limit", 0))
    yield "memory limit", int(memory) or None, _known(launch.memory_limit)
    ulimits = {
        name: str(limit["soft"] if isinstance(limit, dict) else limit)
        for name, limit in (service.get("ulimits") or {}).items()
    }
    yield "ulimits", ulimits, {name: _known(limit) for name, limit in launch.ulimits.items()}
    yield "cap_add", sorted(set(service.get("cap_add") or ())), sorted(set(launch.cap_add))
    yield "privileged", service.get("privileged", False), launch.privileged
    if not launch.env_files:
        theirs = service.get("environment") or {}
        yield "environment's names", sorted(theirs), sorted(launch.environment)
        for name, value in launch.environment.items():
            # Without a value it is the shell's, which is not known here.
            if not isinstance(value.value, Unknown) and name in theirs:
                yield f"environment's {name}", theirs[name] or "", value.value


def _known(value: Value[Any] | None) -> Any:
    return value.known if value is not None else None


def _ipc(theirs: str | None, ours: str | None) -> tuple[str | None, str | None]:
    """A container that a variable names is not known to a launch: then the mode is compared up to the name."""
    if theirs is None or ours is None or "$" not in ours:
        return theirs, ours
    known = ours.partition("$")[0]
    return theirs[: len(known)], known


def _bytes(value: Value[Any] | None) -> int:
    size = _known(value)
    return size.bytes or 0 if size is not None else 0


def _requests(service: dict[str, Any], launch: Launch) -> tuple[object, object]:
    """How many device requests are for GPUs, and how many GPUs the largest is for."""
    reserved = ((service.get("deploy") or {}).get("resources") or {}).get("reservations") or {}
    given = [request for request in reserved.get("devices") or () if _for_gpu(request)]
    given += service.get("gpus") or ()
    counts = [c for c in map(_count, given) if c != 0]
    theirs = (len(counts), "all" if "all" in counts else max(counts, default=None))  # type: ignore[type-var]
    places = ("deploy.resources.reservations.devices", "gpus")
    paths = [e.path for e in launch.gpu.evidence if e.path.startswith(places)]
    if len(paths) != len(launch.gpu.evidence):  # something else asks too, and has a part in the count
        return theirs[0], len(paths)
    return theirs, (len(paths), launch.gpu.number)


def _for_gpu(request: dict[str, Any]) -> bool:
    wanted = set(request.get("capabilities") or ())
    return str(request.get("driver") or "").startswith(("nvidia", "amd")) or bool(
        wanted and (wanted <= _NVIDIA or "gpu" in wanted)
    )


def _count(request: dict[str, Any]) -> object:
    ids = request.get("device_ids") or ()
    if ids:
        single = {part.strip().rpartition("=")[2] for given in ids for part in given.split(",") if part.strip()}
        return "all" if "all" in single else len(single)
    count = request.get("count")
    return "all" if count in (None, -1, "all") else count


def _their_mounts(service: dict[str, Any]) -> list[tuple[str, str, object]]:
    found: list[tuple[str, str, object]] = []
    for text in service.get("tmpfs") or ():
        target, _, options = text.partition(":")
        if posixpath.normpath(target) in _HIDING:
            sizes = [option[5:] for option in options.split(",") if option.startswith("size=")]
            found.append(("tmpfs", posixpath.normpath(target), _kernel_size(sizes[-1]) if sizes else None))
    for volume in service.get("volumes") or ():
        if posixpath.normpath(volume["target"]) in _HIDING:
            kind = volume["type"] if volume["type"] in ("tmpfs", "bind") else "volume"
            size = int((volume.get("tmpfs") or {}).get("size", 0)) or None
            found.append((kind, posixpath.normpath(volume["target"]), size if kind == "tmpfs" else None))
    return sorted(found, key=str)


def _kernel_size(text: str) -> object:
    try:
        return parse_tmpfs_option(text)
    except InvalidSize:
        return "invalid"


def _our_mounts(launch: Launch) -> list[tuple[str, str, object]]:
    found = [(m.type, m.target, "invalid" if m.size_error else m.size) for m in launch.mounts]
    return sorted(found, key=str)
