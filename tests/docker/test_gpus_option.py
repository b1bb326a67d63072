"""``--gpus`` values; what is expected was said by the client's own code (docker/cli opts/gpus.go)."""

from __future__ import annotations

from shmlint.docker.gpus import ALL
from shmlint.docker.gpus_option import GpuDevices, parse_gpus, parse_podman_gpus
from tests.table import table

BOTH = "cannot set both Count and DeviceIDs on device request"


@table(
    ("value", "expected"),
    [
        ("all", GpuDevices(number=ALL)),
        ("-1", GpuDevices(number=ALL)),
        ("2", GpuDevices(number=2)),
        ("+2", GpuDevices(number=2)),
        ("0", GpuDevices(number=0)),
        ("device=0", GpuDevices(device_ids=("0",))),
        ("device=", GpuDevices(device_ids=("",))),
        ("device=all", GpuDevices(device_ids=("all",))),
        ("device=nvidia.com/gpu=0", GpuDevices(device_ids=("nvidia.com/gpu=0",))),
        ('"device=0,1"', GpuDevices(device_ids=("0", "1"))),
        ('"device=0:0,0:1"', GpuDevices(device_ids=("0:0", "0:1"))),
        ('"device=GPU-a,GPU-b"', GpuDevices(device_ids=("GPU-a", "GPU-b"))),
        ("device=0,1", GpuDevices(number=1, device_ids=("0",), daemon_error=BOTH)),
        ("count=1,device=0", GpuDevices(number=1, device_ids=("0",), daemon_error=BOTH)),
        ("device=0,count=0", GpuDevices(device_ids=("0",))),
        ("1,2", GpuDevices(number=2)),
        ("0,1", GpuDevices(number=1)),
        ("driver=nvidia", GpuDevices("nvidia", 1)),
        ("driver=nvidia,count=2", GpuDevices("nvidia", 2)),
        ("count=all,driver=nvidia", GpuDevices("nvidia", ALL)),
        ("all,capabilities=utility", GpuDevices(number=ALL, capabilities=("utility", "gpu"))),
        ('"capabilities=compute,utility"', GpuDevices(number=1, capabilities=("compute", "utility", "gpu"))),
        ('"device=0,1",capabilities=gpu', GpuDevices(device_ids=("0", "1"), capabilities=("gpu", "gpu"))),
        ("all,options=a=b", GpuDevices(number=ALL, options=(("a", "b"),))),
    ],
)
def test_requests(value: str, expected: GpuDevices) -> None:
    if not expected.capabilities:
        expected = GpuDevices(
            expected.driver,
            expected.number,
            expected.device_ids,
            ("gpu",),
            expected.options,
            daemon_error=expected.daemon_error,
        )
    assert parse_gpus(value) == expected


NOT_A_COUNT = 'invalid count ({}): value must be either "all" or an integer: invalid syntax'


@table(
    ("value", "error"),
    [
        ("", "EOF"),
        ("none", NOT_A_COUNT.format("none")),
        ("ALL", NOT_A_COUNT.format("ALL")),
        (" all", NOT_A_COUNT.format(" all")),
        ("nvidia/cuda", NOT_A_COUNT.format("nvidia/cuda")),
        ("capabilities=compute,utility", NOT_A_COUNT.format("utility")),
        ("device=0,device=1", "gpu request key 'device' can be specified only once"),
        ("count=1,1,count=1", "gpu request key 'count' can be specified only once"),
        ("'\"device=0,1\"'", 'parse error on line 1, column 2: bare " in non-quoted-field'),
        ("'device=0,1'", "unexpected key ''device' in ''device=0'"),
        ("'all'", NOT_A_COUNT.format("'all'")),
        ("gpu=1", "unexpected key 'gpu' in 'gpu=1'"),
        ('"device=0', 'parse error on line 1, column 10: extraneous or missing " in quoted-field'),
        (
            "9223372036854775808",
            NOT_A_COUNT.format("9223372036854775808").replace("invalid syntax", "value out of range"),
        ),
    ],
)
def test_refused(value: str, error: str) -> None:
    assert parse_gpus(value) == GpuDevices(error=error)


def test_podman_reads_ids() -> None:
    assert parse_podman_gpus("all").number == ALL
    assert parse_podman_gpus("0,1").device_ids == ("0", "1")
