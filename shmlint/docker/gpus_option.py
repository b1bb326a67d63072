"""The value of ``docker run --gpus``, read as the docker client reads it.

Source: docker/cli opts/gpus.go; what the engine refuses later, moby daemon/devices.go.
"""

from __future__ import annotations

import re
from typing import Literal

from shmlint.docker import placeholders
from shmlint.docker.gotext import CSVError, read_record
from shmlint.docker.gpus import ALL
from shmlint.model.record import NamedTuple

_BOTH = "cannot set both Count and DeviceIDs on device request"


class GpuDevices(NamedTuple):
    """One device request.

    ``number`` is the number of GPUs, ALL, or 0 where ``device_ids`` names them (or where none is
    asked for). ``error`` is why the client refuses the value, ``daemon_error`` why the engine
    refuses what the client makes of it.
    """

    driver: str = ""
    number: int = 0
    device_ids: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    error: str = ""
    daemon_error: str = ""


def parse_gpus(value: str) -> GpuDevices:
    """Read one ``--gpus`` value, which is one CSV record.

    >>> parse_gpus("all").number
    -1
    >>> parse_gpus('"device=0,1"').device_ids
    ('0', '1')
    >>> parse_gpus("device=0,1").daemon_error  # the comma ends the field: device 0, count 1
    'cannot set both Count and DeviceIDs on device request'
    """
    try:
        fields = read_record(value)
        return _request(fields)
    except CSVError as error:
        return GpuDevices(error=str(error))


def parse_podman_gpus(value: str) -> GpuDevices:
    """Read a ``podman run --gpus`` value: ``all`` or GPU ids, separated by commas.

    Source: podman docs/source/markdown/options/gpus.md; each becomes ``nvidia.com/gpu=<id>``.
    """
    try:
        ids = tuple(read_record(value))
    except CSVError as error:
        return GpuDevices(error=str(error))
    if "all" in ids:
        return GpuDevices(number=ALL, capabilities=("gpu",))
    return GpuDevices(device_ids=ids, capabilities=("gpu",))


def is_placeholder(value: str) -> bool:
    """Whether a value is a number of GPUs that its reader or another tool puts there: ``N``, ``count=<number>``."""
    return placeholders.is_placeholder(value.removeprefix("count="))


def starts_count(value: str, request: GpuDevices) -> bool:
    """Whether a bare field follows the device: ``device=0,1``, ``device=GPU-a,GPU-b``, whose count is no number."""
    if request.error:
        return quoted_devices(value) is not None
    if not request.device_ids or not request.number:
        return False
    after = value.partition("device=")[2].split(",")[1:]
    return any("=" not in field for field in after)


class Misread(NamedTuple):
    """Why a value that looks like a list of devices is not read as one.

    ``applies`` is the last of several counts, and empty where the client or the engine refuses the value.
    """

    kind: Literal["device-list", "counts"]
    message: str
    applies: str = ""


def requests_none(value: str, request: GpuDevices) -> bool:
    """Whether a value is the number 0 and may have been meant as the GPU with that index."""
    return value == "0" and not request.error


def misread(value: str, request: GpuDevices) -> Misread | None:
    """Whether a value looks like a list of devices and is something else: ``device=0,1``, ``0,1``."""
    if starts_count(value, request):
        message = f"`--gpus {value}` is refused: the comma ends the device list and starts a count"
        return Misread("device-list", message)
    if "," in value and value.replace(",", "").isdigit():
        last = value.rpartition(",")[2]
        number = f"{last} GPU{'' if last == '1' else 's'}"
        message = f"`--gpus {value}` asks for {number}: of several counts, the last one applies"
        return Misread("counts", message, last)
    return None


_ID = r"[0-9]+(?::[0-9]+)?|(?:GPU|MIG)-[\w/-]+"


def quoted_devices(value: str) -> str | None:
    """A value with its list of devices quoted, so that the client reads it as one.

    None where there is no such list, or where the text after a comma may be something else.

    >>> quoted_devices("device=0,1,capabilities=gpu"), quoted_devices("device=0,all")
    ('"device=0,1",capabilities=gpu', None)
    """
    if '"' in value or "\n" in value:
        return None
    fields: list[str] = []
    inside = False
    for field in value.split(","):
        key, equals, _ = field.partition("=")
        if not equals:
            if not inside or not re.fullmatch(_ID, field):
                return None
            fields[-1] += f",{field}"
            continue
        inside = key == "device"
        if inside and not re.fullmatch(_ID, field.partition("=")[2]):
            return None
        fields.append(field)
    quoted = ",".join(f'"{field}"' if "," in field else field for field in fields)
    meant = parse_gpus(quoted)
    return quoted if quoted != value and not meant.error and not meant.daemon_error else None


def _request(fields: list[str]) -> GpuDevices:
    driver = ""
    count: int | None = None
    device_ids: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ("gpu",)
    options: dict[str, str] = {}
    seen: set[str] = set()
    for item in fields:
        key, equals, val = item.partition("=")
        if key in seen:
            raise CSVError(f"gpu request key '{key}' can be specified only once")
        seen.add(key)
        if not equals:
            seen.add("count")
            count = _count(key)
        elif key == "count":
            count = _count(val)
        elif key == "driver":
            driver = val
        elif key == "device":
            device_ids = tuple(val.split(","))
        elif key == "capabilities":
            capabilities = (*val.split(","), "gpu")
        elif key == "options":
            try:
                pairs = read_record(val)
            except CSVError as error:
                raise CSVError(f"failed to read gpu options: {error}") from None
            options = {name: text for name, _, text in (pair.partition("=") for pair in pairs)}
        else:
            raise CSVError(f"unexpected key '{key}' in '{item}'")
    if count is None:
        count = 0 if device_ids else 1
    return GpuDevices(
        driver,
        count,
        device_ids,
        capabilities,
        tuple(sorted(options.items())),
        daemon_error=_BOTH if count and device_ids else "",
    )


def _count(text: str) -> int:
    if text == "all":
        return ALL
    written = re.fullmatch(r"([+-]?)0*([0-9]+)", text)
    number = int(written[1] + written[2][:20]) if written is not None else 0
    why = "" if written is not None else "invalid syntax"
    if not -(2**63) <= number < 2**63:
        why = "value out of range"
    if why:
        raise CSVError(f'invalid count ({text}): value must be either "all" or an integer: {why}')
    return number
