"""The containers of a pod, read into launches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from shmlint.docker.gpus import ExtendedResource, Request, Runtime
from shmlint.docker.gpus import read as read_gpus
from shmlint.docker.mounts import clean
from shmlint.docker.sizes import InvalidSize, parse_quantity
from shmlint.formats.kubernetes.config_maps import NO_MAPS, ConfigMaps, mounted
from shmlint.formats.kubernetes.pods import Container, Pod
from shmlint.formats.kubernetes.tree import Leaf, List, Map
from shmlint.model.launch import (
    Bind,
    GpuRequest,
    Launch,
    Mount,
    ReadOnly,
    Rewriter,
    SpareVolume,
    Unknown,
    Value,
    Words,
)
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span

SHM = "/dev/shm"

WORDS = "a memory volume on /dev/shm"

BY_HAND = "add an `emptyDir` with `medium: Memory` and `sizeLimit: {size}`, and mount it on /dev/shm"


class Volume(NamedTuple):
    """A volume of a pod. ``other`` is one of which nobody knows whether it is on disk."""

    name: str
    kind: Literal["memory", "disk", "host", "other"]
    body: Map | None
    span: Span
    size: int | Unknown | None = None
    """Bytes of an ``emptyDir``; None where it has no limit of its own."""
    path: str = ""
    """The directory of the host."""


class Owner(NamedTuple):
    """The object that a pod belongs to: ``label`` is how it is called, ``files`` those that make it up."""

    label: str
    name: str
    files: tuple[str, ...]
    claims: frozenset[str] = frozenset()
    """The volumes that a StatefulSet claims for each of its pods."""
    unknown: str = ""
    config_maps: ConfigMaps = NO_MAPS
    """The ConfigMaps whose contents are known."""


MakeRewriter = Callable[[Pod, Container, Mapping[str, Volume]], Rewriter]


def read_pod(pod: Pod, owner: Owner, make_rewriter: MakeRewriter) -> Iterator[Launch]:
    """A launch for every container of a pod."""
    volumes = read_volumes(pod)
    limit = _pod_limit(pod)
    for number, part in enumerate(pod.parts):
        launch = _launch(pod, part, owner, volumes, limit)
        if number == 0 and pod.provided and not any(mount.target == SHM for mount in launch.mounts):
            launch = launch._replace(mounts=(*launch.mounts, _provided(pod, launch, limit)))
        if launch.gpu.requested:
            launch = launch._replace(spare_volume=_spare(pod, part, volumes, limit))
        yield launch._replace(rewriter=make_rewriter(pod, part, volumes))


def _launch(pod: Pod, part: Container, owner: Owner, volumes: Mapping[str, Volume], limit: int | None) -> Launch:
    body = part.body
    named = body.leaf("name")
    name = (named.text if named is not None else "") or part.name or part.role
    image = _image(body)
    first = named or (image if isinstance(image, Leaf) else None)
    span = first.span if first is not None else Span(body.span.source, body.span.start, body.span.start + 1)
    environment = _environment(body)
    entrypoint, command = _words(body, "command", environment), _words(body, "args", environment)
    security = body.map("securityContext")
    gpu = _gpu(pod, body, environment)
    asks = gpu.evidence[0].span if gpu.evidence else span
    files = mounted(body, {v.name: v.body for v in volumes.values() if v.body is not None}, owner.config_maps)
    words = Words(f"{part.role} `{name}` of {owner.label}", WORDS, BY_HAND)
    return Launch(
        kind="kubernetes-container",
        name=name,
        span=span,
        home=span if asks.source is span.source else asks,  # a patch may ask for the GPU
        words=words,
        rewriter=ReadOnly(),
        files=owner.files,
        image=_image_value(image),
        names=tuple(dict.fromkeys((name, owner.name))),
        binds=(*_binds(body, volumes), *files.binds),
        texts=files.texts,
        workdir=_value(body.leaf("workingDir")),
        entrypoint=entrypoint,
        command=command,
        gpu=gpu,
        ipc=_switch(pod.spec.leaf("hostIPC")),
        mounts=tuple(_mounts(body, owner, volumes, limit)),
        memory_limit=_memory(pod, body, "limits"),
        memory_request=_memory(pod, body, "requests"),
        environment=environment,
        env_files=body.get("envFrom") is not None,
        cap_add=tuple(_texts(security, "capabilities", "add")),
        privileged=security is not None and security.text("privileged") == "true",
        network=_switch(pod.spec.leaf("hostNetwork")) or _own_network(span),
        undecided=_undecided(pod, part, owner, image),
    )


def _undecided(pod: Pod, part: Container, owner: Owner, image: Leaf | Map | None) -> Unknown | None:
    because = pod.unknown or owner.unknown
    if not because and image is None and not pod.provided:
        because = "it has no image: it seems to be a patch of another object"
    if because:
        return Unknown("extended", because)
    if any(clean(mount.text("mountPath")) == "/dev" for mount in part.body.maps("volumeMounts")):
        return Unknown("engine", "the size of /dev/shm under a mount on /dev depends on the container runtime")
    return None


# What a container says ---------------------------------------------------------------------------


def _image(body: Map) -> Leaf | Map | None:
    found = body.get("image")
    return found if isinstance(found, Leaf | Map) else None


def _image_value(image: Leaf | Map | None) -> Value[str] | None:
    """The image; the operator of NVIDIA's NIM takes its repository and its tag apart."""
    if isinstance(image, Leaf):
        return Value(image.text, image.span, image.text, _variable(image.text))
    if image is None or not image.text("repository"):
        return None
    tag = image.text("tag")
    text = image.text("repository") + (f":{tag}" if tag else "")
    return Value(text, image.span, text)


def _variable(text: str) -> str:
    """Why a text is not fully known: a placeholder that another tool replaces."""
    for opening, closing in (("{{", "}}"), ("${", "}"), ("$(", ")"), ("<", ">")):
        start = text.find(opening)
        if start >= 0 and closing in text[start:]:
            return f"`{text}` is replaced by another tool"
    return ""


def _value(leaf: Leaf | None) -> Value[str] | None:
    return Value(leaf.text, leaf.span, leaf.text) if leaf is not None else None


def _texts(body: Map | None, *path: str) -> Iterator[str]:
    found = body.get(*path) if body is not None else None
    if isinstance(found, List):
        yield from (item.text for item in found.items if isinstance(item, Leaf))


def _words(body: Map, key: str, environment: Mapping[str, Value[str]]) -> Value[tuple[str, ...]] | None:
    """A list of words, ``$(NAME)`` replaced as the kubelet does where the variable is known."""
    found = body.get(key)
    if isinstance(found, Leaf):  # Argo's `source` and the like are texts; a pod's are lists
        return None
    if not isinstance(found, List):
        return None
    words = tuple(_expanded(item.text, environment) for item in found.items if isinstance(item, Leaf))
    return Value(words, found.span, " ".join(words))


def _expanded(text: str, environment: Mapping[str, Value[str]]) -> str:
    def known(match: re.Match[str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        value = environment.get(match[1])
        return value.known if value is not None and value.known is not None else match[0]

    return re.sub(r"\$?\$\(([A-Za-z_.-][\w.-]*)\)", known, text) if "$(" in text else text


def _environment(body: Map) -> dict[str, Value[str]]:
    found: dict[str, Value[str]] = {}
    for item in body.maps("env"):
        name, value = item.leaf("name"), item.leaf("value")
        if name is None:
            continue
        source = item.get("valueFrom")
        if source is not None:
            because = Unknown("file", f"{name.text} comes from another object of the cluster", name.text)
            found[name.text] = Value(because, name.span, "")
        elif value is not None:
            text = _expanded(value.text, found)
            unknown = Unknown("variable", _variable(text), text) if _variable(text) else text
            found[name.text] = Value(unknown, value.span, value.text)
        else:
            found[name.text] = Value("", name.span, "")
    return found


def _switch(leaf: Leaf | None) -> Value[str] | None:
    """``host``, where a pod uses a namespace of the node."""
    if leaf is None or not leaf.plain or leaf.text.lower() not in ("true", "yes", "on"):
        return None
    return Value("host", leaf.span, leaf.text)


def _own_network(span: Span) -> Value[str]:
    """The network of a pod: plugins may give it more interfaces, of any name."""
    return Value(Unknown("host", "the network interfaces of a pod are unknown"), span, "")


_RESOURCES = ("resources", "computeResources", "resourcesPerNode")
"""Where resources stand: in a pod, in a Tekton step, in a TrainJob."""


def _quantity(pod: Pod, body: Map, kind: str, name: str) -> Leaf | None:
    for holder in (body, pod.spec):
        for key in _RESOURCES:
            found = holder.leaf(key, kind, name)
            if found is not None:
                return found
    return None


def _memory(pod: Pod, body: Map, kind: str) -> Value[int] | None:
    found = _quantity(pod, body, kind, "memory")
    if found is None:
        return None
    size = bytes_of(found)
    return Value(size, found.span, found.text) if size is not None else None


def bytes_of(leaf: Leaf) -> int | Unknown | None:
    """What a quantity means; None where Kubernetes would refuse it."""
    because = _variable(leaf.text)
    if because:
        return Unknown("variable", because, leaf.text)
    try:
        return parse_quantity(leaf.text)
    except InvalidSize:
        return None


def _gpu(pod: Pod, body: Map, environment: Mapping[str, Value[str]]) -> GpuRequest:
    """The GPUs by the names of their resources; a limit alone is the usual way, and is the request too."""
    requests: dict[str, Request] = {}
    unknown: Unknown | None = None
    for kind in ("limits", "requests"):
        for key in _RESOURCES:
            given = body.map(key, kind)
            for name, field in given.fields.items() if given is not None else ():
                if "/" not in name or name in requests or not isinstance(field.value, Leaf):
                    continue
                amount = bytes_of(field.value)
                span = Span(field.key.source, field.key.start, max(field.key.end, field.value.span.end))
                known = amount if isinstance(amount, int) else None
                requests[name] = ExtendedResource(f"{key}.{kind}[{name}]", span, name, known)
    runtime = pod.spec.leaf("runtimeClassName")
    if runtime is not None and "NVIDIA_VISIBLE_DEVICES" in environment:
        shown = f"runtimeClassName: {runtime.text}"
        requests["runtime"] = Runtime("runtimeClassName", runtime.span, shown, runtime.text)
    if any(body.maps(key, "claims") for key in _RESOURCES):
        unknown = Unknown("host", "the devices of its resource claims are unknown")
    return read_gpus(list(requests.values()), environment, unknown)


# Volumes and mounts ------------------------------------------------------------------------------


def read_volumes(pod: Pod) -> dict[str, Volume]:
    """The volumes of a pod by their names."""
    found: dict[str, Volume] = {}
    for holder in (*pod.inherited, pod.spec):
        for item in holder.maps("volumes"):
            volume = _volume(item)
            found[volume.name] = volume
    return found


_DISKS = ("persistentVolumeClaim", "ephemeral", "nfs", "gcePersistentDisk", "awsElasticBlockStore", "azureDisk")


def _volume(item: Map) -> Volume:
    name = item.text("name")
    label = item.leaf("name")
    span = label.span if label is not None else item.span
    if "emptyDir" in item.fields:
        body = item.map("emptyDir")
        medium = body.text("medium") if body is not None else ""
        limit = body.leaf("sizeLimit") if body is not None else None
        size = bytes_of(limit) if limit is not None else None
        if medium == "Memory":
            return Volume(name, "memory", body, limit.span if limit is not None else span, size or None)
        if medium == "":
            return Volume(name, "disk", item, span, size)
        return Volume(name, "other", body, span)
    if "hostPath" in item.fields:
        return Volume(name, "host", item, span, path=clean(item.text("hostPath", "path")))
    return Volume(name, "disk" if any(key in item.fields for key in _DISKS) else "other", item, span)


def _pod_limit(pod: Pod) -> int | None:
    """The memory that all containers of a pod may use together; None where one of them has no limit.

    A memory volume is never larger (kubernetes pkg/volume/emptydir, calculateEmptyDirMemorySize).
    """
    total = 0
    for part in pod.parts:
        limit = _memory(pod, part.body, "limits")
        if limit is None or limit.known is None or not limit.known:
            return None
        own = part.body.get("resources", "limits", "memory")
        if own is None:
            return limit.known  # of the pod
        total = total + limit.known if part.role == "container" else max(total, limit.known)
    return total or None


def _mounts(body: Map, owner: Owner, volumes: Mapping[str, Volume], limit: int | None) -> Iterator[Mount]:
    """What is mounted on /dev/shm."""
    for item in body.maps("volumeMounts"):
        if clean(item.text("mountPath")) != SHM:
            continue
        name = item.leaf("name")
        span = name.span if name is not None else item.span
        volume = volumes.get(name.text if name is not None else "")
        if volume is None and name is not None and name.text in owner.claims:
            yield Mount("volume", SHM, None, span, name.text)
        elif volume is None:
            because = Unknown("extended", f"the volume `{name.text if name is not None else ''}` is not in the pod")
            yield Mount("volume", SHM, because, span)
        elif volume.kind == "memory":
            asked = volume.size if isinstance(volume.size, int) else None
            yield Mount("emptydir", SHM, _given(volume, limit), volume.span, asked=asked)
        elif volume.kind == "host":
            yield Mount("bind", SHM, None, span, volume.path)
        elif volume.kind == "disk":
            limit_of_disk = volume.size if isinstance(volume.size, int) else None
            yield Mount("volume", SHM, None, span, volume.name, asked=limit_of_disk)
        else:
            yield Mount("volume", SHM, Unknown("host", f"the storage of the volume `{volume.name}` is unknown"), span)


def _given(volume: Volume, limit: int | None) -> int | Unknown | None:
    """The bytes of a memory volume: its own limit, or the pod's where that is lower; None where nothing limits it."""
    if isinstance(volume.size, Unknown):
        return volume.size
    return min((size for size in (volume.size, limit) if size), default=None)


def _provided(pod: Pod, launch: Launch, limit: int | None) -> Mount:
    """The memory volume that an operator mounts by itself."""
    given = pod.spec.leaf("storage", "sharedMemorySizeLimit")
    if given is not None:
        return Mount("emptydir", SHM, bytes_of(given), given.span)
    return Mount("emptydir", SHM, limit, launch.span)


def _spare(pod: Pod, part: Container, volumes: Mapping[str, Volume], limit: int | None) -> SpareVolume | None:
    """The memory volume meant for a container's /dev/shm: nobody mounts it, or only some without a GPU there."""
    if any(clean(mount.text("mountPath")) == SHM for mount in part.body.maps("volumeMounts")):
        return None
    for volume in volumes.values():
        if volume.kind != "memory" or _mounts_volume(part, volume.name):
            continue
        users = [other for other in pod.parts if _mounts_volume(other, volume.name)]
        there = [other for other in users if _mounts_volume(other, volume.name, SHM)]
        if (users and not there) or any(_gpu(pod, other.body, {}).requested for other in there):
            continue
        size = _given(volume, limit)
        if isinstance(size, Unknown):
            continue
        names = tuple(other.body.text("name") or other.name for other in there)
        return SpareVolume(volume.name, size, volume.span, names)
    return None


def _mounts_volume(part: Container, name: str, target: str = "") -> bool:
    return any(
        item.text("name") == name and target in ("", clean(item.text("mountPath")))
        for item in part.body.maps("volumeMounts")
    )


def _binds(body: Map, volumes: Mapping[str, Volume]) -> Iterator[Bind]:
    """The directories of the node that a container sees."""
    for item in body.maps("volumeMounts"):
        volume = volumes.get(item.text("name"))
        if volume is not None and volume.kind == "host" and volume.path:
            yield Bind(volume.path, item.text("mountPath"), item.span)
