"""Which GPUs a container is started with: the one reader of whatever asks for them.

A format hands in what it found, each with the place it was written at: device requests, device
nodes, the runtime, the environment. The rules are those of moby (daemon/devices_*.go) and the vendors'
container toolkits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from shmlint.docker.accelerators import ACCELERATORS, AMD, NVIDIA, Accelerator, of_cdi, of_device
from shmlint.model.launch import NOTHING, GpuEvidence, GpuRequest, Unknown, Value
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span

Count = int | Literal["all"] | None
"""A number of GPUs; None where GPUs are asked for and the number is not known."""

# What formats hand in ----------------------------------------------------------------------------


ALL = -1
"""``number`` of a request for all GPUs."""


class DeviceRequest(NamedTuple):
    """A device request of the engine's API: a value of ``--gpus``, a reservation, ``DeviceRequests``.

    ``number`` is negative for all, 0 for none or where ``device_ids`` names them, None where it is not
    known. ``text`` is what the file says; without it ``verb`` and the GPUs are the evidence.
    """

    key: str
    span: Span
    text: str = ""
    verb: str = ""
    driver: str = ""
    capabilities: tuple[str, ...] = ()
    device_ids: tuple[str, ...] = ()
    number: int | None = 0
    ids_known: bool = True


class GenericResource(NamedTuple):
    """A generic resource of Swarm, whose kind is a name that the cluster's owner chose."""

    key: str
    span: Span
    kind: str
    amount: int | None


class ExtendedResource(NamedTuple):
    """A resource that a container of a pod asks for, by the name its device plugin gave it.

    ``amount`` is None where it is not known.
    """

    key: str
    span: Span
    name: str
    amount: int | None


class DeviceNode(NamedTuple):
    """A device that is passed in: a path on the host, or a CDI name."""

    key: str
    span: Span
    text: str
    device: str


class Runtime(NamedTuple):
    """The runtime that starts the container, and what names its devices.

    ``devices`` is what the caller's environment names (``NV_GPU``); without it the container's own
    variable counts. ``recorded`` says that the engine wrote it down: the environment is then the
    container's whole one, and the runtime may be only the daemon's default.
    """

    key: str
    span: Span
    text: str
    name: str
    devices: Value[str] | None = None
    recorded: bool = False


class HostRequirement(NamedTuple):
    """What a dev container wants of its host: the editor adds ``--gpus all``.

    ``text`` is what is written: ``optional`` means that a host without a GPU will do. ``unknown`` says why
    the value is not known.
    """

    key: str
    span: Span
    text: str
    unknown: str = ""


Request = DeviceRequest | GenericResource | ExtendedResource | DeviceNode | Runtime


# What they ask for -------------------------------------------------------------------------------


class _Found(NamedTuple):
    accelerator: Accelerator
    number: Count
    evidence: GpuEvidence


def read(
    requests: Sequence[Request], environment: Mapping[str, Value[str]] = NOTHING, unknown: Unknown | None = None
) -> GpuRequest:
    """What all requests of one launch ask for together, evidence in their order.

    ``unknown`` is why a request may be missing. Of several numbers the largest counts, and "all" beats
    numbers.
    """
    found: dict[int, _Found] = {}
    devices: list[str] = []
    for i, request in enumerate(requests):
        if isinstance(request, DeviceNode):
            if request.device in devices:
                continue
            devices.append(request.device)
        answer = _read_request(request)
        if answer is not None:
            found[i] = answer
    numbers = [answer.number for answer in found.values()] + _numbers_together(devices)
    runtimes = {i: request for i, request in enumerate(requests) if isinstance(request, Runtime)}
    recorded = any(runtime.recorded for runtime in runtimes.values())
    # A device request names the devices to the runtime too, where its number is not known as well.
    counted = any(isinstance(requests[i], DeviceRequest) for i in found)
    for i, runtime in runtimes.items():
        given = None if recorded and found else _read_runtime(runtime, environment)
        if isinstance(given, Unknown):
            unknown = unknown or given
        elif given is not None:
            found[i] = given
            if not counted and all(number is None for number in numbers):
                numbers.append(given.number)
    if not found:
        unknown = unknown or (None if recorded else _default_runtime(environment))
        return GpuRequest(False if unknown is None else None, unknown=unknown)
    ordered = [found[i] for i in sorted(found)]
    count: Count = "all" if "all" in numbers else max((n for n in numbers if isinstance(n, int)), default=None)
    first = ordered[0].accelerator
    evidence = tuple(each.evidence for each in ordered)
    return GpuRequest(True, first.vendor, count, evidence, unknown, accelerator=first.label)


def with_host_requirement(gpu: GpuRequest, wanted: HostRequirement | None) -> GpuRequest:
    """A request with what a dev container wants of its host: all GPUs, where nothing else asks for any."""
    if wanted is None:
        return gpu
    if wanted.unknown:
        unknown = Unknown("variable", wanted.unknown, wanted.text)
        return gpu if gpu.requested else gpu._replace(requested=None, unknown=unknown)
    evidence = GpuEvidence(wanted.key, "the editor adds --gpus all", wanted.span)
    if gpu.requested:
        return gpu._replace(evidence=(*gpu.evidence, evidence))
    optional = wanted.text == "optional"
    return gpu._replace(requested=True, vendor="nvidia", number="all", evidence=(evidence,), optional=optional)


def _read_request(request: Request) -> _Found | None:
    if isinstance(request, DeviceRequest):
        return _read_device_request(request)
    if isinstance(request, GenericResource):
        kind = request.kind.lower()
        if "gpu" not in kind:
            return None
        text = f"reserves {request.amount or 'a'} {request.kind}"
        return _Found(AMD if "amd" in kind else NVIDIA, request.amount, GpuEvidence(request.key, text, request.span))
    if isinstance(request, ExtendedResource):
        plugin = next((row for row in ACCELERATORS if row.resource and re.fullmatch(row.resource, request.name)), None)
        if plugin is None or request.amount == 0:
            return None
        text = f"{request.name}: {'' if request.amount is None else request.amount}".rstrip(": ")
        return _Found(plugin, request.amount, GpuEvidence(request.key, text, request.span))
    accelerator = of_device(request.device) if isinstance(request, DeviceNode) else None
    if accelerator is None:
        return None
    number: Count = "all" if accelerator.shared else None  # the others are counted together
    return _Found(accelerator, number, GpuEvidence(request.key, request.text, request.span))


def _read_device_request(request: DeviceRequest) -> _Found | None:
    accelerator = _of_device_request(request.driver, request.capabilities, request.device_ids)
    if accelerator is None:
        return None
    if request.device_ids:
        number = count_ids(request.device_ids) if request.ids_known else None
    elif request.number == 0:
        return None
    else:
        number = "all" if request.number is not None and request.number < 0 else request.number
    text = request.text or f"{request.verb} {_spelt(number, accelerator.label)}"
    return _Found(accelerator, number, GpuEvidence(request.key, text, request.span))


def _of_device_request(driver: str, capabilities: Iterable[str], ids: Iterable[str]) -> Accelerator | None:
    """What a device request gets; None where it is not for a GPU.

    With a driver the capabilities are ignored (moby daemon/devices.go).
    """
    wanted = frozenset(capabilities)
    named = next((found for found in map(of_cdi, ids) if found is not None), None)
    if driver and driver != "cdi":
        own = next((row for row in ACCELERATORS if row.driver and driver.startswith(row.driver)), None)
        return own or (NVIDIA if "gpu" in wanted else None)
    if driver or not wanted:
        return named
    fitting = next((row for row in ACCELERATORS if wanted <= row.capabilities), None)
    return fitting or (NVIDIA if "gpu" in wanted else None)


def _read_runtime(runtime: Runtime, environment: Mapping[str, Value[str]]) -> _Found | Unknown | None:
    """What a runtime hands in."""
    accelerator = next((row for row in ACCELERATORS if _runs(row, runtime)), None)
    if accelerator is None:
        return None
    variable = environment.get(accelerator.variable)
    number: Count = "all"
    if variable is not None:
        number = visible_devices(variable.known) if variable.known is not None else None
    elif runtime.recorded:
        if accelerator is not NVIDIA:
            name = accelerator.variable
            because = f"the devices that the {accelerator.runtime} runtime adds without {name} are unknown"
            return Unknown("runtime", because, name)
        # nvidia-container-toolkit internal/config/image: only CUDA images of old get GPUs unasked (IsLegacy).
        old = "CUDA_VERSION" in environment and not any(name.startswith("NVIDIA_REQUIRE_") for name in environment)
        number = "all" if old else 0
    if number == 0:
        return None
    if runtime.devices is not None:
        number = count_ids([runtime.devices.known]) if runtime.devices.known is not None else None
    return _Found(accelerator, number, GpuEvidence(runtime.key, runtime.text, runtime.span))


def _runs(accelerator: Accelerator, runtime: Runtime) -> bool:
    if runtime.recorded:  # an engine may record the program: /usr/bin/nvidia-container-runtime
        name = runtime.name.rpartition("/")[2]
        return bool(accelerator.runtime) and name.startswith(accelerator.runtime)
    return bool(runtime.name) and runtime.name == accelerator.runtime


def _default_runtime(environment: Mapping[str, Value[str]]) -> Unknown | None:
    """Why GPUs may be handed in although no runtime is named."""
    for accelerator in ACCELERATORS:
        variable = environment.get(accelerator.variable) if accelerator.variable else None
        if variable is not None and variable.known is not None and visible_devices(variable.known) != 0:
            because = (
                f"{accelerator.variable} asks for GPUs only where the daemon's default runtime is "
                f"{accelerator.runtime}"
            )
            return Unknown("runtime", because, accelerator.variable)
    return None


# How many -----------------------------------------------------------------------------------------


def _numbers_together(devices: Collection[str]) -> list[Count]:
    """How many GPUs device nodes and CDI names hand in together.

    ``/dev/kfd`` gives access to all of AMD's; the render nodes next to it say which may be used.
    """
    single = {
        device.partition("=")[2] or device
        for device in devices
        if of_cdi(device) is not None or any(row.device and re.fullmatch(row.device, device) for row in ACCELERATORS)
    }
    numbers: list[Count] = [count_ids(single)] if single else []
    if "/dev/kfd" in devices:
        numbers.append(len({device for device in devices if device.startswith("/dev/dri/renderD")}) or "all")
    return numbers


def count_ids(ids: Iterable[str]) -> Count:
    """How many GPUs device ids name; an id may itself be "all", a comma list or a range.

    >>> count_ids(["0,3"]), count_ids(["0-3"])
    (2, 4)
    """
    single = {part.strip() for given in ids for part in given.split(",") if part.strip()}
    if any(part == "all" or part.endswith("=all") for part in single):
        return "all"
    return sum(_length(part) for part in single)


def _length(part: str) -> int:
    """The number of devices that ``0-3`` names (Ascend's runtime); anything else names one."""
    match = re.fullmatch(r"([0-9]{1,4})-([0-9]{1,4})", part, re.ASCII)
    return max(int(match[2]) - int(match[1]), 0) + 1 if match is not None else 1


def visible_devices(value: str) -> Count:
    """What NVIDIA_VISIBLE_DEVICES and its kind ask for: "all", a number of ids, 0 for none, void or nothing.

    nvidia-container-toolkit internal/config/image/devices.go.
    """
    value = value.strip()
    return 0 if value in ("", "none", "void") else count_ids([value])


def _spelt(number: Count, label: str) -> str:
    amount = "" if number is None else f"{number} "
    return f"{amount}{label} GPU{'' if number == 1 else 's'}"
