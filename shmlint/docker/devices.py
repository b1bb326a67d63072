"""What asks a container engine for a GPU, in whatever syntax it is written.

The names and rules are those of moby (daemon/devices_*.go), the NVIDIA container toolkit and
the Container Device Interface.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from shmlint.model.launch import GpuEvidence, GpuRequest, Vendor

Count = int | Literal["all"] | None

NVIDIA_CAPABILITIES = frozenset(
    {"gpu", "nvidia", "compute", "compat32", "graphics", "utility", "video", "display"}
)
"""moby daemon/devices_nvidia_linux.go: a request whose capabilities are among these gets NVIDIA GPUs."""
AMD_CAPABILITIES = frozenset({"gpu", "amd"})

_NVIDIA_NODES = ("/dev/nvidia", "/dev/dxg")
_CDI_VENDORS: dict[str, Vendor] = {"nvidia.com": "nvidia", "amd.com": "amd", "intel.com": "intel"}


def request_vendor(driver: str, capabilities: Iterable[str], device_ids: Iterable[str]) -> Vendor | None:
    """Whose GPUs a device request gets; None where it is not for a GPU.

    With a driver the capabilities are ignored (moby daemon/devices.go).
    """
    ids = list(device_ids)
    if driver:
        if driver.startswith("nvidia"):
            return "nvidia"
        if driver.startswith("amd"):
            return "amd"
        if driver == "cdi":
            return next((v for v in map(cdi_vendor, ids) if v), None)
        return "nvidia" if "gpu" in set(capabilities) else None
    wanted = set(capabilities)
    if wanted and wanted <= NVIDIA_CAPABILITIES:
        return "nvidia"
    if wanted and wanted <= AMD_CAPABILITIES:
        return "amd"
    if "gpu" in wanted:
        return "nvidia"
    return next((v for v in map(cdi_vendor, ids) if v), None) if not wanted else None


def cdi_vendor(name: str) -> Vendor | None:
    """The vendor of a CDI device name (``nvidia.com/gpu=all``); None for what names no GPU."""
    vendor, slash, rest = name.partition("/")
    if not slash or "=" not in rest:
        return None
    device_class = rest.partition("=")[0]
    return _CDI_VENDORS.get(vendor) if device_class in ("gpu", "mig", "xpu", "gpu-all") else None


def count_ids(ids: Iterable[str]) -> Count:
    """How many GPUs device ids name; an id may itself be "all" or a comma list (facts: moby joins them)."""
    single = {part.strip() for given in ids for part in given.split(",") if part.strip()}
    if any(part == "all" or part.endswith("=all") for part in single):
        return "all"
    return len(single)


def visible_devices(value: str) -> Count:
    """What NVIDIA_VISIBLE_DEVICES asks for: "all", a number of ids, 0 for none/void/empty.

    nvidia-container-toolkit internal/config/image/devices.go.
    """
    value = value.strip()
    if value in ("", "none", "void"):
        return 0
    return count_ids([value])


def node_of(path: str) -> tuple[Vendor | None, Count] | None:
    """Vendor and number of GPUs that a device node or CDI name hands in; None for any other.

    ``/dev/dri`` alone is display and transcoding hardware, not a GPU workload.
    """
    vendor = cdi_vendor(path)
    if vendor is not None:
        return vendor, count_ids([path.partition("=")[2]])
    if path.startswith(_NVIDIA_NODES):
        tail = path.removeprefix("/dev/nvidia")
        return ("nvidia", 1 if tail.isdigit() else None)
    if path == "/dev/kfd":
        return "amd", None
    if path == "/dev/mxcd":  # MetaX: one node for all of its GPUs
        return None, "all"
    return None


def together(paths: Collection[str]) -> Iterator[Count]:
    """How many GPUs device nodes and CDI names hand in together, where one alone does not tell.

    ``/dev/kfd`` is the way to all of AMD's; the render nodes beside it say which may be used
    (rocm.docs.amd.com, "Running ROCm Docker containers").
    """
    numbered = {
        path.partition("=")[2] or path
        for path in paths if path.removeprefix("/dev/nvidia").isdigit() or cdi_vendor(path) is not None
    }  # fmt: skip
    if numbered:
        yield count_ids(numbered)
    if "/dev/kfd" in paths:
        yield len({path for path in paths if path.startswith("/dev/dri/renderD")}) or "all"


def combine(
    evidence: list[GpuEvidence], vendors: Sequence[Vendor | None], counts: list[Count], because: str = ""
) -> GpuRequest:
    """One request out of all that asks for GPUs. "all" beats numbers, numbers beat not knowing."""
    if not evidence:
        return GpuRequest(None if because else False, because=because)
    count: Count = None
    if "all" in counts:
        count = "all"
    else:
        numbers = [c for c in counts if isinstance(c, int)]
        count = max(numbers) if numbers else None
    return GpuRequest(True, vendors[0] if vendors else None, count, tuple(evidence), because)
