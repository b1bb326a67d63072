"""``docker inspect`` and ``podman inspect``: containers that are there already.

A list of objects, several such lists, or an object a line, as ``--format '{{json .}}'`` prints them.

The engine writes down what it made of every option, so little is unknown here: ``ShmSize`` is always
there, also where nobody asked for one, and ``Env`` holds the image's variables too. Nothing can be
rewritten; what is found says how to start the container anew. Networks, volumes and images among the
objects are passed over.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from shmlint.docker import gpus as gpu_requests
from shmlint.docker import mounts
from shmlint.docker.gpus import DeviceNode, DeviceRequest, Request, Runtime
from shmlint.docker.mounts import MountRequest
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.model.launch import GpuRequest, Launch, Mount, ReadOnly, Size, Unknown, Value, Words
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Problem, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.json import Json, parse_all


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers of inspect output."""
    return read_each(paths, workspace, lambda source: _read(source, settings.of(source.path)))


def _read(source: Source, settings: Settings) -> Reading:
    source.marked_only = True  # next to what is marked there may be passwords, all in one line
    values, faults = parse_all(source)  # several where each was asked for, or `{{json .}}`
    if faults:
        # Of an output that was cut off nothing is to be concluded.
        return Reading(problems=(_broken(source) or faults[0],))
    objects = [item for value in values for item in (value.items if value.kind == "array" else [value])]
    strange = next((item for item in objects if item.kind != "object"), None)
    if strange is not None:
        message = f"not what inspect prints: expected an object, found {strange.kind}"
        return Reading(problems=(Problem(Span(source, strange.start, strange.start), message, "wrong-file"),))
    containers = [item for item in objects if _object(item, "HostConfig") is not None]
    return Reading(tuple(_joined(containers, [_launch(item, settings) for item in containers])))


def _broken(source: Source) -> Problem | None:
    """Where strict JSON ends and why, without a word of the text."""
    text = source.text.removeprefix("\ufeff")
    begin = len(text) - len(text.lstrip())
    try:
        while True:
            _, end = json.JSONDecoder().raw_decode(text, begin)
            following = re.compile(r"\S").search(text, end)
            if following is None:
                break
            begin = following.start()
    except json.JSONDecodeError as error:
        at = error.pos + len(source.text) - len(text)
        why = error.msg[:1].lower() + error.msg[1:]
        cut = "; it seems to be cut off" if not text[error.pos :].strip() else ""
        return Problem(Span(source, at, at), f"not valid JSON: {why}{cut}", "syntax")
    except (RecursionError, ValueError):
        return Problem(Span(source, 0, 0), "not valid JSON", "syntax")
    return None


# Values ------------------------------------------------------------------------------------------


def _object(value: Json | None, *path: str) -> Json | None:
    """The object under a path of keys; None where there is something else, or nothing."""
    found = value.get(*path) if value is not None else None
    return found if found is not None and found.kind == "object" else None


def _items(value: Json | None, *path: str) -> list[Json]:
    found = value.get(*path) if value is not None else None
    return found.items if found is not None else []


def _strings(value: Json | None, *path: str) -> list[str]:
    """The texts of a list; the words of a text, as older Podman writes an entrypoint."""
    found = value.get(*path) if value is not None else None
    if found is None:
        return []
    if found.kind == "string":
        return found.text.split()
    return [item.text for item in found.items if item.kind == "string"]


def _text(value: Json | None, *path: str) -> str:
    found = value.string(*path) if value is not None else None
    return found.text if found is not None else ""


def _number(value: Json | None, *path: str) -> int | None:
    found = value.get(*path) if value is not None else None
    if found is None or found.kind != "number":
        return None
    written = found.source.text[found.start : min(found.end, found.start + 24)]
    return int(written) if re.fullmatch(r"-?[0-9]{1,20}", written, re.ASCII) else None


def _place(value: Json, key: str) -> Span:
    """A key with its value; for a long value what its line shows of it."""
    name, held = value.entries[key]
    return Span(value.source, name.start, held.end)


# A container -------------------------------------------------------------------------------------


def _launch(container: Json, settings: Settings) -> Launch:
    host = _object(container, "HostConfig")
    config = _object(container, "Config")
    assert host is not None
    named = "Name" if container.string("Name") is not None else "Id"
    span = _place(container, named) if named in container.entries else Span(
        container.source, container.start, container.start + 1
    )  # fmt: skip
    name = _text(container, "Name").removeprefix("/") or _text(container, "Id")[:12] or None
    service = next(
        (text for label in _SERVICES if (text := _text(config, "Labels", label))), ""
    )  # fmt: skip
    environment = _environment(config)
    return Launch(
        kind="docker-run",
        name=name,
        span=span,
        home=span,
        words=Words(f"container `{name}`" if name else "container", "--shm-size", _by_hand(container, config)),
        rewriter=ReadOnly(),
        files=(container.source.path,),
        image=_image(container, config),
        names=tuple(filter(None, (name, service))),
        entrypoint=_entrypoint(config),
        command=_command(container, config),
        gpu=_gpu(host, config, environment),
        shm=_size(host, settings),
        ipc=_value(host, "IpcMode"),
        mounts=tuple(_mounts(container, host)),
        memory_limit=_memory(host),
        environment=environment,
        ulimits=_ulimits(host),
        cap_add=tuple(text.upper().removeprefix("CAP_") for text in _strings(host, "CapAdd")),
        privileged=(flag := host.get("Privileged")) is not None and flag.kind == "true",
        devices=tuple(_devices(host)),
        network=_value(host, "NetworkMode"),
    )


_SERVICES = ("com.docker.compose.service", "com.docker.swarm.service.name")


def _by_hand(container: Json, config: Json | None) -> str:
    """What to do, as nothing changes the size of a container that is there."""
    swarm = _text(config, "Labels", "com.docker.swarm.service.name")
    if swarm:
        mount = "type=tmpfs,dst=/dev/shm,tmpfs-size={size}"
        return f"mount a larger one: docker service update --mount-add {mount} {swarm}"
    service = _text(config, "Labels", "com.docker.compose.service")
    if service:
        files = _text(config, "Labels", "com.docker.compose.project.config_files")
        where = f" in {files}" if files else ""
        return f"set `shm_size: {{size}}` for service `{service}`{where}, then docker compose up -d {service}"
    engine = "podman" if _by_podman(container) else "docker"
    return f"remove the container and start it again: {engine} run --shm-size={{size}} …"


def _by_podman(container: Json) -> bool:
    return container.get("OCIRuntime") is not None or container.get("ImageName") is not None


def _value(value: Json, key: str) -> Value[str] | None:
    found = value.string(key)
    if found is None or not found.text:
        return None
    return Value(found.text, _place(value, key), found.text)


def _image(container: Json, config: Json | None) -> Value[str] | None:
    for holder, key in ((config, "Image"), (container, "ImageName")):
        found = _value(holder, key) if holder is not None else None
        if found is not None and not found.text.startswith("sha256:"):
            return found
    if config is None or config.string("Image") is None:
        return None
    unknown = Unknown("image", "only the digest of the image is known")
    return Value(unknown, _place(config, "Image"), _text(config, "Image"))


def _entrypoint(config: Json | None) -> Value[tuple[str, ...]] | None:
    words = tuple(_strings(config, "Entrypoint"))
    # A script that only prepares what follows it says nothing of what is run.
    if config is None or not words or "entrypoint" in words[0].rpartition("/")[2]:
        return None
    return Value(words, _place(config, "Entrypoint"), " ".join(words))


def _command(container: Json, config: Json | None) -> Value[tuple[str, ...]] | None:
    words = tuple(_strings(config, "Cmd"))
    if config is not None and words:
        return Value(words, _place(config, "Cmd"), " ".join(words))
    if config is None and container.string("Path") is not None:
        words = (_text(container, "Path"), *_strings(container, "Args"))
        return Value(words, _place(container, "Path"), " ".join(words))
    return None


def _environment(config: Json | None) -> dict[str, Value[str]]:
    """The container's variables, the image's among them. None of them is printed."""
    found = {}
    for item in _items(config, "Env"):
        name, equals, value = item.text.partition("=")
        if item.kind == "string" and equals:
            found[name] = Value(value, item.span, item.text, private=True)
    return found


def _size(host: Json, settings: Settings) -> Value[Size] | None:
    """The size, where it is not the one that everything gets that asks for none."""
    size = _number(host, "ShmSize")
    if size is None or size <= 0 or size == settings.default_shm_size:
        return None
    return Value(Size(size), _place(host, "ShmSize"), str(size))


def _memory(host: Json) -> Value[int] | None:
    limit = _number(host, "Memory")
    return Value(limit, _place(host, "Memory"), str(limit)) if limit is not None and limit > 0 else None


_UNLIMITED = 2**63 - 1


def _ulimits(host: Json) -> dict[str, Value[str]]:
    found = {}
    for item in _items(host, "Ulimits"):
        name = _text(item, "Name").lower().removeprefix("rlimit_")  # as Podman writes it
        soft, hard = _number(item, "Soft"), _number(item, "Hard")
        if not name or soft is None or hard is None:
            continue
        soft, hard = (-1 if limit >= _UNLIMITED else limit for limit in (soft, hard))
        text = str(soft) if soft == hard else f"{soft}:{hard}"
        found[name] = Value(text, _place(item, "Soft"), text)
    return found


def _devices(host: Json) -> Iterator[Value[str]]:
    for item in _items(host, "Devices"):
        path = item.string("PathOnHost")
        if path is not None and path.text:
            yield Value(path.text, _place(item, "PathOnHost"), path.text)
    for request in _items(host, "DeviceRequests"):
        if _text(request, "Driver") == "cdi":
            for item in _items(request, "DeviceIDs"):
                yield Value(item.text, item.span, item.text)


# What is mounted over /dev/shm -------------------------------------------------------------------


def _mounts(container: Json, host: Json) -> Iterator[Mount]:
    """Mounts on /dev/shm and /dev, each once; the request takes precedence over the result."""
    seen = set()
    for mount in map(mounts.read, _mount_requests(container, host)):
        if mount is not None and mount.target not in seen:
            seen.add(mount.target)
            yield mount


def _mount_requests(container: Json, host: Json) -> Iterator[MountRequest]:
    tmpfs = _object(host, "Tmpfs")
    for target, (key, options) in (tmpfs.entries if tmpfs is not None else {}).items():
        span = Span(key.source, key.start, options.end)
        yield MountRequest(target, span, "tmpfs", options=Value(options.text, options.span, options.text))
    for item in _items(host, "Mounts"):
        place, size = _first(item), _number(item, "TmpfsOptions", "SizeBytes")
        given = Value(Size(size), place, str(size)) if size is not None else None
        yield MountRequest(_text(item, "Target"), place, _text(item, "Type"), _text(item, "Source"), size=given)
    for item in _items(host, "Binds"):
        volume = mounts.parse_volume(item.text)
        yield MountRequest(volume.target, item.span, volume.type, volume.source)
    for item in _items(container, "Mounts"):
        yield MountRequest(_text(item, "Destination"), _first(item), _text(item, "Type"), _text(item, "Source"))


def _first(item: Json) -> Span:
    """The place of a mount: its target, or else where it begins."""
    key = next((key for key in ("Target", "Destination") if key in item.entries), None)
    return _place(item, key) if key is not None else Span(item.source, item.start, item.start + 1)


# GPUs --------------------------------------------------------------------------------------------


def _gpu(host: Json, config: Json | None, environment: Mapping[str, Value[str]]) -> GpuRequest:
    """Everything that hands in GPUs: device requests, device nodes, the runtime."""
    requests: list[Request] = []
    for i, item in enumerate(_items(host, "DeviceRequests")):
        wanted = [text for some in _items(item, "Capabilities")[:1] for text in _strings(some)]
        requests.append(
            DeviceRequest(
                f"HostConfig.DeviceRequests[{i}]",
                _place(host, "DeviceRequests"),
                verb="requests",
                driver=_text(item, "Driver"),
                capabilities=tuple(wanted),
                device_ids=tuple(_strings(item, "DeviceIDs")),
                number=_number(item, "Count") or 0,
            )
        )
    for i, item in enumerate(_items(host, "Devices")):
        path = _text(item, "PathOnHost")
        if path:
            place = _place(item, "PathOnHost")
            requests.append(DeviceNode(f"HostConfig.Devices[{i}]", place, f"has {path}", path))
    runtime = _text(host, "Runtime")
    if runtime:
        text = f"its runtime is {runtime}"
        requests.append(Runtime("HostConfig.Runtime", _place(host, "Runtime"), text, runtime, recorded=True))
    request = gpu_requests.read(requests, environment if runtime else {})
    if not request.requested and config is not None:
        created = _created(config)
        if created.requested:
            return created
    return request


def _created(config: Json) -> GpuRequest:
    """What Podman was told: of CDI devices its HostConfig says nothing."""
    items = _items(config, "CreateCommand")
    if not items:
        return GpuRequest()
    from shmlint.docker.engines import find_docker
    from shmlint.docker.run_options import read_run
    from shmlint.formats.shell.gpus import read_gpu
    from shmlint.syntax.word import Word

    words = [Word(item.text, item.span) for item in items if item.kind == "string"]
    docker = find_docker(words)
    if docker is None:
        return GpuRequest()
    request = read_gpu(read_run(words[docker.start :], docker.engine, docker.verb), docker, words[docker.binary])
    return request._replace(device_lists=(), unknown=None)


# Containers that join another's IPC namespace ----------------------------------------------------


def _joined(containers: Sequence[Json], launches: Sequence[Launch]) -> list[Launch]:
    """The launches with their donors, where those are among them.

    A donor has a /dev/shm of its own or the host's: the engine does not let one join what was joined.
    """
    if not any(launch.ipc is not None and launch.ipc.text.startswith("container:") for launch in launches):
        return list(launches)
    by_name = {}
    ids = []
    for container, launch in zip(containers, launches, strict=True):
        identity = _text(container, "Id")
        by_name[_text(container, "Name").removeprefix("/")] = launch
        by_name[identity] = launch
        ids.append(identity)
    ids.sort()

    def donor(launch: Launch) -> Launch | None:
        joins, _, wanted = (launch.ipc.text if launch.ipc is not None else "").partition(":")
        if joins != "container" or not wanted:
            return None
        known = by_name.get(wanted)
        if known is None:  # the beginning of an id is enough, if it is one's alone
            at = bisect_left(ids, wanted)
            fitting = [identity for identity in ids[at : at + 2] if identity.startswith(wanted)]
            known = by_name[fitting[0]] if len(fitting) == 1 else None
        return known if known is not launch else None

    return [
        launch._replace(donor=_sharing(container, given)) if (given := donor(launch)) is not None else launch
        for container, launch in zip(containers, launches, strict=True)
    ]


def _sharing(container: Json, donor: Launch) -> Launch:
    """A donor as its joiner saw it: one that runs was let in, and Podman lets in whom it calls private to."""
    running = container.get("State", "Running")
    if donor.ipc is None or donor.ipc.text != "private":
        return donor
    if _by_podman(container) or (running is not None and running.kind == "true"):
        return donor._replace(ipc=donor.ipc._replace(value="shareable"))
    return donor


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """None: strict JSON has no comments."""
    return iter(())


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """None: strict JSON has no comments."""
    return None
