"""Which devices are GPUs: how each kind of accelerator is named to Docker and to Kubernetes.

The names are those of moby (daemon/devices_*.go), the vendors' container toolkits, their device plugins
and the Container Device Interface. Accelerators that are no GPUs in the strict sense, such as Gaudi and
Ascend, count as GPUs here: their programs use /dev/shm the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shmlint.model.launch import Vendor
from shmlint.model.record import NamedTuple


class Accelerator(NamedTuple):
    """How a kind of GPU or accelerator is handed to a container."""

    label: str
    vendor: Vendor | None
    """None for those that the machine-readable reports have no name for."""
    runtime: str = ""
    variable: str = ""
    """Which devices the runtime hands in; without the runtime it does nothing."""
    narrowed_by: tuple[str, ...] = ()
    """The variables by which a program sees fewer of the devices that the container has; each of them counts."""
    driver: str = ""
    """The drivers of a device request start with it."""
    capabilities: frozenset[str] = frozenset()
    """A device request without a driver gets these GPUs if its capabilities are among them."""
    cdi: str = ""
    """The vendor and the classes of its CDI names, as a pattern."""
    device: str = ""
    """The nodes that stand for one device each, as a pattern."""
    node: str = ""
    """The other nodes that only its users need, as a pattern."""
    shared: bool = False
    """Whether one node gives access to all devices."""
    resource: str = ""
    """The names of its extended resources in Kubernetes, as a pattern."""


NVIDIA = Accelerator(
    "NVIDIA", "nvidia", "nvidia", "NVIDIA_VISIBLE_DEVICES", ("CUDA_VISIBLE_DEVICES",), "nvidia",
    frozenset({"gpu", "nvidia", "compute", "compat32", "graphics", "utility", "video", "display"}),
    cdi=r"nvidia\.com/(?:gpu|mig|gpu-all)", device=r"/dev/nvidia[0-9]+", node=r"/dev/(?:nvidia.*|dxg)",
    resource=r"nvidia\.com/(?:gpu(?:[.-][\w.-]+)?|mig-[\w.-]+)",
)  # fmt: skip
"""moby daemon/devices_nvidia_linux.go; /dev/dxg is the node of the Windows Subsystem for Linux."""
AMD = Accelerator(
    "AMD", "amd", "amd", "AMD_VISIBLE_DEVICES",
    ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"), "amd", frozenset({"gpu", "amd"}),
    cdi=r"amd\.com/gpu", node="/dev/kfd", resource=r"amd\.com/gpu(?:[.-][\w.-]+)?",
)  # fmt: skip
"""moby daemon/devices_amd_linux.go; rocm.docs.amd.com, "Running ROCm Docker containers"."""
METAX = Accelerator("MetaX", None, node="/dev/mxcd", shared=True)
ACCELERATORS = (
    NVIDIA,
    AMD,
    # /dev/dri alone is display and transcoding hardware, not a GPU workload.
    Accelerator("Intel", "intel", cdi=r"intel\.com/(?:gpu|xpu)", resource=r"gpu\.intel\.com/(?:i915|xe)"),
    # docs.habana.ai, "Docker Installation". /dev/accel/accel0 may as well be an NPU of a notebook.
    Accelerator(
        "Gaudi", None, "habana", "HABANA_VISIBLE_DEVICES", driver="habana", cdi=r"habana\.ai/gaudi",
        device=r"/dev/hl[0-9]+", node=r"/dev/(?:hl|accel/accel)_controlD[0-9]+",
        resource=r"habana\.ai/gaudi",
    ),
    # hiascend.com, "Ascend Docker Runtime", and "Use in Containers" for the nodes.
    Accelerator(
        "Ascend", None, "ascend", "ASCEND_VISIBLE_DEVICES", driver="ascend",
        device=r"/dev/v?davinci[0-9]+", node=r"/dev/davinci_manager", resource=r"huawei\.com/Ascend[\w.-]+",
    ),
    Accelerator("Moore Threads", None, "mthreads", "MTHREADS_VISIBLE_DEVICES", driver="mthreads"),
    METAX,
)  # fmt: skip
OF_RUNTIMES = tuple(row.variable for row in ACCELERATORS if row.variable)
"""The variables by which runtimes hand in devices."""
OF_PROGRAMS = tuple(dict.fromkeys(name for row in ACCELERATORS for name in row.narrowed_by))
"""The variables by which programs see fewer of them."""
_FOR_ALL = {"/dev/dxg": NVIDIA, "/dev/kfd": AMD, "/dev/mxcd": METAX}
"""Nodes that give access to all GPUs of a machine."""


def is_gpu_runtime(name: str) -> bool:
    """Whether a runtime of this name hands in GPUs."""
    return bool(name) and any(row.runtime == name for row in ACCELERATORS)


def is_gpu(device: str) -> bool:
    """Whether a device node or CDI name hands in a GPU.

    >>> is_gpu("/dev/nvidia0"), is_gpu("nvidia.com/gpu=all"), is_gpu("/dev/dri")
    (True, True, False)
    """
    return of_device(device) is not None


def of_device(device: str) -> Accelerator | None:
    if not device.startswith("/"):
        return of_cdi(device)
    for row in ACCELERATORS:
        if any(pattern and re.fullmatch(pattern, device) for pattern in (row.device, row.node)):
            return row
    return None


def of_cdi(name: str) -> Accelerator | None:
    """What a CDI name stands for (``nvidia.com/gpu=all``)."""
    kind, equals, _ = name.partition("=")
    if not equals:
        return None
    return next((row for row in ACCELERATORS if row.cdi and re.fullmatch(row.cdi, kind)), None)


class Present(NamedTuple):
    """The GPUs of a machine; ``number`` is None where its nodes do not show it."""

    accelerator: Accelerator
    number: int | None
    nodes: tuple[str, ...]


def present(devices: Sequence[str]) -> Present | None:
    """The GPUs of a machine that has these device nodes. Nodes that only manage GPUs do not count."""
    for row in ACCELERATORS:
        own = tuple(device for device in devices if row.device and re.fullmatch(row.device, device))
        if own:
            return Present(row, len(own), own)
    node = next((device for device in _FOR_ALL if device in devices), None)
    if node is None:
        return None
    if node != "/dev/kfd":
        return Present(_FOR_ALL[node], None, (node,))
    render = tuple(device for device in devices if device.startswith("/dev/dri/renderD"))
    return Present(AMD, len(render) or None, (node, *render))
