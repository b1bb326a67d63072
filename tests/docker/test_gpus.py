"""What requests for GPUs ask for together, whatever they are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from shmlint.docker.gpus import (
    ALL,
    Count,
    DeviceNode,
    DeviceRequest,
    GenericResource,
    Request,
    Runtime,
    count_ids,
    read,
    visible_devices,
)
from shmlint.model.launch import Unknown, Value
from shmlint.model.source import Source, Span

HERE = Span(Source("x", "x"), 0, 1)
GPU = ("gpu",)


def devices(*paths: str) -> list[Request]:
    return [DeviceNode("devices", HERE, path, path) for path in paths]


def ask(driver: str = "", capabilities: Sequence[str] = GPU, ids: Sequence[str] = (), count: int | None = 0) -> Request:
    return DeviceRequest("gpus", HERE, "", "reserves", driver, tuple(capabilities), tuple(ids), count)


def runtime(name: str, *, recorded: bool = False) -> Request:
    return Runtime("runtime", HERE, name, name, recorded=recorded)


def env(**variables: str) -> Mapping[str, Value[str]]:
    return {name: Value(text, HERE, text) for name, text in variables.items()}


CASES: list[tuple[list[Request], Mapping[str, Value[str]], bool | None, Count, str | None]] = [
    ([], {}, False, None, None),
    # device requests
    ([ask(count=ALL)], {}, True, "all", "nvidia"),
    ([ask(count=0)], {}, False, None, None),
    ([ask(count=None)], {}, True, None, "nvidia"),
    ([ask(count=1), ask(count=3)], {}, True, 3, "nvidia"),
    ([ask(ids=["0,3"])], {}, True, 2, "nvidia"),
    ([ask(capabilities=["compute", "utility"], count=1)], {}, True, 1, "nvidia"),
    ([ask(capabilities=["amd"], count=1)], {}, True, 1, "amd"),
    ([ask(capabilities=["tpu"], count=1)], {}, False, None, None),
    ([ask("nvidia", [], count=1)], {}, True, 1, "nvidia"),
    ([ask("habana", ["gpu"], count=2)], {}, True, 2, None),
    ([ask("cdi", [], ["nvidia.com/gpu=all"])], {}, True, "all", "nvidia"),
    ([ask("cdi", [], ["amd.com/gpu=0", "amd.com/gpu=1"])], {}, True, 2, "amd"),
    ([ask("cdi", ["gpu"], ["vendor.com/nic=0"])], {}, False, None, None),
    # generic resources
    ([GenericResource("generic", HERE, "NVIDIA-GPU", 2)], {}, True, 2, "nvidia"),
    ([GenericResource("generic", HERE, "AMD-GPU", None)], {}, True, None, "amd"),
    ([GenericResource("generic", HERE, "SSD", 2)], {}, False, None, None),
    # device nodes
    (devices("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia0"), {}, True, 2, "nvidia"),
    (devices("/dev/nvidiactl"), {}, True, None, "nvidia"),
    (devices("nvidia.com/gpu=0", "nvidia.com/gpu=1"), {}, True, 2, "nvidia"),
    (devices("/dev/kfd", "/dev/dri/renderD128"), {}, True, 1, "amd"),
    (devices("/dev/kfd", "/dev/dri"), {}, True, "all", "amd"),
    (devices("/dev/dri"), {}, False, None, None),
    (devices("/dev/snd", "/dev/nvme0"), {}, False, None, None),
    (devices("/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager", "/dev/hisi_hdc"), {}, True, 2, None),
    (devices("/dev/davinci_manager"), {}, True, None, None),
    (devices("/dev/hl0", "/dev/hl_controlD0"), {}, True, 1, None),
    (devices("/dev/accel/accel0"), {}, False, None, None),  # may be an NPU of a notebook
    (devices("/dev/mxcd"), {}, True, "all", None),
    # runtimes
    ([runtime("nvidia")], {}, True, "all", "nvidia"),
    ([runtime("nvidia")], env(NVIDIA_VISIBLE_DEVICES="0,1"), True, 2, "nvidia"),
    ([runtime("nvidia")], env(NVIDIA_VISIBLE_DEVICES="void"), False, None, None),
    ([runtime("nvidia")], {"NVIDIA_VISIBLE_DEVICES": Value(Unknown("variable", "not set"), HERE, "")}, True, None,
     "nvidia"),
    ([runtime("nvidia"), ask(count=2)], {}, True, 2, "nvidia"),
    ([runtime("nvidia"), ask(count=None)], {}, True, None, "nvidia"),
    ([runtime("nvidia"), *devices("/dev/nvidiactl")], {}, True, "all", "nvidia"),
    ([runtime("amd")], env(AMD_VISIBLE_DEVICES="0"), True, 1, "amd"),
    ([runtime("habana")], env(HABANA_VISIBLE_DEVICES="0,1,2,3"), True, 4, None),
    ([runtime("ascend")], env(ASCEND_VISIBLE_DEVICES="0-2,4"), True, 4, None),
    ([runtime("runc")], {}, False, None, None),
    ([runtime("/usr/bin/nvidia-container-runtime", recorded=True)], env(NVIDIA_VISIBLE_DEVICES="all"), True, "all",
     "nvidia"),
    ([runtime("nvidia", recorded=True)], {}, False, None, None),
    ([runtime("amd", recorded=True)], {}, None, None, None),
    # the variable alone: the daemon's default runtime decides
    ([], env(NVIDIA_VISIBLE_DEVICES="all"), None, None, None),
    ([], env(HABANA_VISIBLE_DEVICES="all"), None, None, None),
    ([], env(NVIDIA_VISIBLE_DEVICES="none"), False, None, None),
    (devices("/dev/nvidia0"), env(NVIDIA_VISIBLE_DEVICES="all"), True, 1, "nvidia"),
]  # fmt: skip


def test_requests_together() -> None:
    for requests, environment, requested, count, vendor in CASES:
        found = read(requests, environment)
        answer = (found.requested, found.number, found.vendor)
        assert answer == (requested, count, vendor), (requests, environment)
        assert bool(found.evidence) is bool(requested), requests
        assert bool(found.unknown) is (requested is None), requests


def test_a_request_that_may_be_missing() -> None:
    assert read([], {}, Unknown("arguments", "`$X` is not known")).requested is None
    assert read([ask(count=1)], {}, Unknown("arguments", "`$X` is not known")).requested


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (ask(count=ALL), "reserves all NVIDIA GPUs"),
        (ask(count=1), "reserves 1 NVIDIA GPU"),
        (ask(count=None), "reserves NVIDIA GPUs"),
        (ask("habana", [], count=8), "reserves 8 Gaudi GPUs"),
        (GenericResource("generic", HERE, "gpu", 2), "reserves 2 gpu"),
    ],
)
def test_evidence(request_: Request, text: str) -> None:
    (evidence,) = read([request_]).evidence
    assert (evidence.text, evidence.span) == (text, HERE)


def test_evidence_in_the_order_of_the_requests() -> None:
    found = read([runtime("nvidia"), *devices("/dev/nvidia0"), ask(count=1)])
    assert [evidence.path for evidence in found.evidence] == ["runtime", "devices", "gpus"]


def test_ids() -> None:
    cases: dict[str, Count] = {"0": 1, "0,1": 2, "all": "all", "GPU-a,GPU-b": 2, "0:0,0:1": 2, "0-3,7": 5, "": 0}
    assert {text: count_ids([text]) for text in cases} == cases
    assert [visible_devices(text) for text in ("none", "void", " ", "0")] == [0, 0, 0, 1]
