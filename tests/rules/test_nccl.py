"""The rules about NCCL's environment: what they find, and in what they stay silent."""

from __future__ import annotations

import re
from pathlib import Path

from shmlint.model.finding import Finding
from shmlint.rules import nccl
from shmlint.rules.nccl501_debug_variable_left_in import DEFAULTS, VARIABLES
from shmlint.rules.nccl505_renamed_variable import RENAMED
from tests.project import findings, fixed
from tests.table import table

NGC = "nvcr.io/nvidia/pytorch:24.01-py3"


def service(*lines: str, gpu: str = "gpus: all", image: str = NGC) -> str:
    body = [f"image: {image}", *([gpu] if gpu else []), *lines]
    return "services:\n  x:\n" + "".join(f"    {line}\n" for line in body)


def env(*variables: str, more: tuple[str, ...] = ("shm_size: 8gb",), gpu: str = "gpus: all") -> str:
    return service("environment:", *(f"  - {variable}" for variable in variables), *more, gpu=gpu)


def told(found: list[Finding]) -> list[tuple[str, str]]:
    return [(f.rule, f.subject) for f in found]


SIZED = ("shm_size: 8gb",)
IB = (*SIZED, "devices: [/dev/infiniband]", "ulimits: {memlock: -1}")
P2P = [("NCCL501", "NCCL_P2P_DISABLE")]
SHM = [("NCCL502", "NCCL_SHM_DISABLE")]
LOUD = [("NCCL506", "NCCL_DEBUG")]
HOST = [("NCCL507", "")]

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    # NCCL501
    "p2p": (env("NCCL_P2P_DISABLE=1"), P2P),
    "p2p without a gpu": (env("NCCL_P2P_DISABLE=1", gpu=""), P2P),
    "p2p, octal and hexadecimal": (env("NCCL_P2P_DISABLE=0x1"), P2P),
    "p2p off": (env("NCCL_P2P_DISABLE=0"), []),
    "a word is 0": (env("NCCL_P2P_DISABLE=true"), []),
    "empty is not set": (env("NCCL_P2P_DISABLE="), []),
    "the host's": (env("NCCL_P2P_DISABLE"), []),
    "the host's, by a variable": (env("NCCL_P2P_DISABLE=${NCCL_P2P_DISABLE}"), []),
    "a default": (env("NCCL_P2P_DISABLE=${P2P:-1}"), P2P),
    "a default that is off": (env("NCCL_P2P_DISABLE=${P2P:-0}"), []),
    "two of them": (env("NCCL_ALGO=Ring", "NCCL_PROTO=Simple"),
                    [("NCCL501", "NCCL_ALGO"), ("NCCL501", "NCCL_PROTO")]),
    "its own default": (env("NCCL_BUFFSIZE=4194304", "NCCL_LAUNCH_MODE=parallel", "NCCL_NVLS_ENABLE=2"), []),
    "cumem off": (env("NCCL_CUMEM_ENABLE=0"), [("NCCL501", "NCCL_CUMEM_ENABLE")]),
    "cumem on": (env("NCCL_CUMEM_ENABLE=1"), []),
    "nvls off": (env("NCCL_NVLS_ENABLE=0"), [("NCCL501", "NCCL_NVLS_ENABLE")]),
    "system configuration": (env("NCCL_SOCKET_IFNAME=eth0", "NCCL_IB_HCA=mlx5", "NCCL_IB_GID_INDEX=3",
                                 "NCCL_NET=Socket", "NCCL_TOPO_FILE=/t.xml", "NCCL_DEBUG=WARN"), []),
    "several jobs on a node": (env("NCCL_RAS_ADDR=localhost:12345"), []),
    "not nccl's": (env("MY_NCCL_P2P_DISABLE=1", "TORCH_NCCL_BLOCKING_WAIT=1"), []),
    # NCCL502, and NCCL501 where that has nothing to say
    "shm off, default size": (env("NCCL_SHM_DISABLE=1", more=()), SHM),
    "shm off, small": (env("NCCL_SHM_DISABLE=1", more=("shm_size: 128m",)), SHM),
    "shm off, no /dev/shm": (env("NCCL_SHM_DISABLE=1", more=("ipc: none",)), SHM),
    "shm off, sized": (env("NCCL_SHM_DISABLE=1"), [("NCCL501", "NCCL_SHM_DISABLE")]),
    "shm off, the host's": (env("NCCL_SHM_DISABLE=1", more=("ipc: host",)), [("NCCL501", "NCCL_SHM_DISABLE")]),
    "shm off, size unknown": (env("NCCL_SHM_DISABLE=1", more=("shm_size: ${S}",)),
                              [("NCCL501", "NCCL_SHM_DISABLE")]),
    "shm off, without a gpu": (env("NCCL_SHM_DISABLE=1", more=(), gpu=""), SHM),
    "shm not off": (env("NCCL_SHM_DISABLE=0", more=()), []),
    # NCCL503, and NCCL501 where there are no devices
    "ib off": (env("NCCL_IB_DISABLE=1"), [("NCCL501", "NCCL_IB_DISABLE")]),
    "ib off, passed": (env("NCCL_IB_DISABLE=1", more=IB), [("NCCL503", "NCCL_IB_DISABLE")]),
    "ib off, one passed": (env("NCCL_IB_DISABLE=1", more=(*SIZED, "privileged: true",
                               "devices: ['/dev/infiniband/uverbs0:/dev/infiniband/uverbs0']")),
                           [("NCCL503", "NCCL_IB_DISABLE")]),
    "ib off, privileged": (env("NCCL_IB_DISABLE=1", more=(*SIZED, "privileged: true")),
                           [("NCCL501", "NCCL_IB_DISABLE")]),
    "ib on, passed": (env("NCCL_IB_DISABLE=0", more=IB), []),
    "ib the host's, passed": (env("NCCL_IB_DISABLE", more=IB), []),
    "another device": (env("NCCL_IB_DISABLE=1", more=(*SIZED, "devices: [/dev/infiniband2]")),
                       [("NCCL501", "NCCL_IB_DISABLE")]),
    # NCCL504
    "rdma": (service("devices: [/dev/infiniband]", *SIZED), [("NCCL504", "")]),
    "rdma, one device": (service("devices: [/dev/infiniband/uverbs0]", *SIZED), [("NCCL504", "")]),
    "rdma, unlimited": (service(*IB), []),
    "rdma, soft and hard": (service(*IB[:2], "ulimits: {memlock: {soft: -1, hard: -1}}"), []),
    "rdma, low": (service(*IB[:2], "ulimits: {memlock: 67108864}"), [("NCCL504", "")]),
    "rdma, large": (service(*IB[:2], "ulimits: {memlock: 68719476736}"), []),
    "rdma, unknown": (service(*IB[:2], "ulimits: {memlock: '${LIMIT}'}"), []),
    "rdma, another limit": (service(*IB[:2], "ulimits: {stack: 67108864}"), [("NCCL504", "")]),
    "rdma, capability": (service(*IB[:2], "cap_add: [IPC_LOCK]"), []),
    "rdma, long capability": (service(*IB[:2], "cap_add: [CAP_IPC_LOCK]"), []),
    "rdma, all capabilities": (service(*IB[:2], "cap_add: [ALL]"), []),
    "rdma, another capability": (service(*IB[:2], "cap_add: [SYS_PTRACE]"), [("NCCL504", "")]),
    "rdma, a capability unknown": (service(*IB[:2], "cap_add: ['${CAP:-IPC_LOCK}']"), []),
    "rdma, privileged": (service(*IB[:2], "privileged: true"), []),
    "rdma, perhaps privileged": (service(*IB[:2], "privileged: '${PRIVILEGED}'"), []),
    "rdma, not privileged": (service(*IB[:2], "privileged: '${PRIVILEGED:-false}'"), [("NCCL504", "")]),
    "rdma, storage": (service(*IB[:2], gpu=""), []),
    "rdma, nccl says it": (env("NCCL_IB_HCA=mlx5", more=IB[:2], gpu=""), [("NCCL504", "")]),
    # NCCL505
    "renamed": (env("NCCL_ASYNC_ERROR_HANDLING=1", "NCCL_BLOCKING_WAIT=1"),
                [("NCCL505", "NCCL_ASYNC_ERROR_HANDLING"), ("NCCL505", "NCCL_BLOCKING_WAIT")]),
    "renamed, value unknown": (env("NCCL_BLOCKING_WAIT=${WAIT}"), [("NCCL505", "NCCL_BLOCKING_WAIT")]),
    "renamed, the host's": (env("NCCL_BLOCKING_WAIT"), []),
    "new name": (env("TORCH_NCCL_ASYNC_ERROR_HANDLING=1"), []),
    # NCCL506
    "info": (env("NCCL_DEBUG=INFO"), LOUD),
    "info, small": (env("NCCL_DEBUG=info", "NCCL_DEBUG_SUBSYS=ALL"), LOUD),
    "trace": (env("NCCL_DEBUG=TRACE"), LOUD),
    "warn": (env("NCCL_DEBUG=WARN"), []),
    "version": (env("NCCL_DEBUG=VERSION"), []),
    "level of the host": (env("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS=NET"), []),
    "subsystems alone": (env("NCCL_DEBUG_SUBSYS=NET"), [("NCCL506", "NCCL_DEBUG_SUBSYS")]),
    "subsystems of warnings": (env("NCCL_DEBUG=WARN", "NCCL_DEBUG_SUBSYS=NET"), [("NCCL506", "NCCL_DEBUG_SUBSYS")]),
    "subsystems, an env file": (env("NCCL_DEBUG_SUBSYS=NET", more=(*SIZED, "env_file: e.env")), []),
    # NCCL507
    "a card": (env("NCCL_SOCKET_IFNAME=enp5s0"), HOST),
    "exactly": (env("NCCL_SOCKET_IFNAME==ens3f0,bond0"), HOST),
    "a beginning": (env("NCCL_SOCKET_IFNAME=ib"), HOST),
    "docker0": (env("NCCL_SOCKET_IFNAME=docker0"), HOST),
    "a network": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "networks: [training]")), HOST),
    "bridge": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "network_mode: bridge")), HOST),
    "none": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "network_mode: none")), HOST),
    "the container's": (env("NCCL_SOCKET_IFNAME=eth0"), []),
    "one of them is there": (env("NCCL_SOCKET_IFNAME=en,eth,em,bond"), []),
    "lo": (env("NCCL_SOCKET_IFNAME=lo"), []),
    "e is eth0": (env("NCCL_SOCKET_IFNAME=e"), []),
    "those not to use": (env("NCCL_SOCKET_IFNAME=^docker0,lo"), []),
    "not one exactly": (env("NCCL_SOCKET_IFNAME=^=ib0"), []),
    "any other name": (env("NCCL_SOCKET_IFNAME=net1"), []),
    "host": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "network_mode: host")), []),
    "another's": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "network_mode: 'service:y'")), []),
    "network unknown": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "network_mode: '${NET}'")), []),
    "network by default": (env("NCCL_SOCKET_IFNAME=eno1", more=(*SIZED, "network_mode: '${NET:-host}'")), []),
    "interface of the host's choice": (env("NCCL_SOCKET_IFNAME=${IFACE}"), []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert told(findings(tmp_path, text, select=("NCCL",))) == expected


COMMANDS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "p2p": ("--gpus all -e NCCL_P2P_DISABLE=1", P2P),
    "the last counts": ("--gpus all -e NCCL_P2P_DISABLE=1 -e NCCL_P2P_DISABLE=0", []),
    "the host's": ("--gpus all -e NCCL_P2P_DISABLE", []),
    "a variable": ('--gpus all -e NCCL_P2P_DISABLE="$P2P"', []),
    "rdma": ("--gpus all --device=/dev/infiniband", [("NCCL504", "")]),
    "rdma, unlimited": ("--gpus all --device=/dev/infiniband --ulimit memlock=-1:-1", []),
    "rdma, unlimited, again": ("--gpus all --device /dev/infiniband --ulimit=memlock=-1", []),
    "rdma, low": ("--gpus all --device=/dev/infiniband --ulimit memlock=65536:65536", [("NCCL504", "")]),
    "rdma, low at first": ("--gpus all --device=/dev/infiniband --ulimit memlock=65536:-1", [("NCCL504", "")]),
    "rdma, unknown": ("--gpus all --device=/dev/infiniband --ulimit memlock=$LIMIT", []),
    "rdma, options unknown": ('--gpus all --device=/dev/infiniband "${ARGS[@]}"', []),
    "rdma, capability": ("--gpus all --device=/dev/infiniband --cap-add=IPC_LOCK", []),
    "rdma, privileged": ("--gpus all --device=/dev/infiniband --privileged", []),
    "rdma, perhaps privileged": ("--gpus all --device=/dev/infiniband --privileged=$PRIVILEGED", []),
    "rdma, not privileged": ("--gpus all --device=/dev/infiniband --privileged=false", [("NCCL504", "")]),
    "rdma, a limit unknown": ('--gpus all --device=/dev/infiniband --ulimit "$LIMIT"', []),
    "rdma, storage": ("--device=/dev/infiniband", []),
    "interface": ("--gpus all -e NCCL_SOCKET_IFNAME=enp5s0", HOST),
    "interface, host": ("--gpus all --net=host -e NCCL_SOCKET_IFNAME=enp5s0", []),
    "interface, another's": ("--gpus all --network container:x -e NCCL_SOCKET_IFNAME=enp5s0", []),
    "interface, network unknown": ("--gpus all --network $NET -e NCCL_SOCKET_IFNAME=enp5s0", []),
    "interface, options unknown": ('--gpus all -e NCCL_SOCKET_IFNAME=enp5s0 "${ARGS[@]}"', []),
}  # fmt: skip


@table(("options", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_what_is_found_in_a_command(tmp_path: Path, options: str, expected: list[tuple[str, str]]) -> None:
    text = f"docker run {options} --shm-size=8g {NGC} train\n"
    assert told(findings(tmp_path, {"run.sh": text}, select=("NCCL",))) == expected


def test_podman_may_have_the_hosts_interfaces(tmp_path: Path) -> None:
    text = f"podman run --gpus all -e NCCL_SOCKET_IFNAME=eno1 --shm-size=8g {NGC}\n"
    assert findings(tmp_path, {"run.sh": text}, select=("NCCL",)) == []
    assert findings(tmp_path, env("NCCL_SOCKET_IFNAME=eno1"), select=("NCCL",), engine="podman") == []


MESSAGES: dict[str, tuple[str, str]] = {
    "p2p": (env("NCCL_P2P_DISABLE=1"),
            "service `x` sets NCCL_P2P_DISABLE, which is for debugging: "
            "GPUs exchange data through /dev/shm, not through NVLink or PCIe"),
    "any": (env("NCCL_ALGO=Ring"),
            "service `x` sets NCCL_ALGO, which is for debugging: NCCL no longer chooses by itself"),
    "shm": (env("NCCL_SHM_DISABLE=1", more=()),
            "service `x` sets NCCL_SHM_DISABLE where /dev/shm is 64 MiB: "
            "NCCL's pools stay there, and its data takes the network"),
    "ib": (env("NCCL_IB_DISABLE=1", more=IB),
           "service `x` passes /dev/infiniband and sets NCCL_IB_DISABLE: NCCL uses TCP sockets all the same"),
    "rdma": (service(*IB[:2]),
             "service `x` passes /dev/infiniband without `ulimit memlock=-1`: NCCL cannot register its buffers"),
    "low": (service(*IB[:2], "ulimits: {memlock: 67108864}"),
            "service `x` passes /dev/infiniband with memlock at 64 MiB: NCCL cannot register its buffers"),
    "renamed": (env("NCCL_BLOCKING_WAIT=1"),
                "service `x` sets NCCL_BLOCKING_WAIT, which PyTorch calls TORCH_NCCL_BLOCKING_WAIT since 2.2"),
    "info": (env("NCCL_DEBUG=info"), "service `x` sets NCCL_DEBUG to INFO: every rank logs how it connects"),
    "subsystems": (env("NCCL_DEBUG_SUBSYS=NET"),
                   "service `x` sets NCCL_DEBUG_SUBSYS, which does nothing without NCCL_DEBUG=INFO"),
    "interface": (env("NCCL_SOCKET_IFNAME=eno1"),
                  "service `x` sets NCCL_SOCKET_IFNAME to eno1, an interface of the host, "
                  "and has a network of its own: eth0 and lo are there"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=("NCCL",))] == [message]


def test_a_rule_that_is_switched_off_leaves_the_variable_to_the_other(tmp_path: Path) -> None:
    text = env("NCCL_SHM_DISABLE=1", more=())
    assert told(findings(tmp_path, text, select=("NCCL",), ignore=("NCCL502",))) == [("NCCL501", "NCCL_SHM_DISABLE")]
    text = env("NCCL_IB_DISABLE=1", more=IB)
    assert told(findings(tmp_path, text, select=("NCCL501",))) == [("NCCL501", "NCCL_IB_DISABLE")]


def test_what_an_env_file_sets_is_the_hosts(tmp_path: Path) -> None:
    text = env(
        "NCCL_P2P_DISABLE=${P2P}", "NCCL_DEBUG=${LEVEL}", "NCCL_SOCKET_IFNAME=${IF}", "NCCL_BLOCKING_WAIT=${P2P}",
    )  # fmt: skip
    files = {"compose.yaml": text, ".env": "P2P=1\nLEVEL=INFO\nIF=eno1\n"}
    assert findings(tmp_path, files, select=("NCCL",)) == []


def test_the_size_is_set_first_and_the_variable_removed_where_that_is_wanted(tmp_path: Path) -> None:
    text = env("NCCL_SHM_DISABLE=1", "A=1", more=())
    sized = text.replace("gpus: all\n", "gpus: all\n    shm_size: 8gb\n")
    assert fixed(tmp_path, text) == {"compose.yaml": sized}
    removed = sized.replace("      - NCCL_SHM_DISABLE=1\n", "")
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": removed}


def test_only_the_limit_is_set_without_being_asked(tmp_path: Path) -> None:
    text = env("NCCL_P2P_DISABLE=1", "NCCL_DEBUG=INFO", "NCCL_BLOCKING_WAIT=1", more=IB[:2])
    after = text.replace("gpus: all\n", "gpus: all\n    ulimits:\n      memlock: -1\n")
    assert fixed(tmp_path, text) == {"compose.yaml": after}


def test_a_renamed_variable_that_is_set_twice_loses_the_old_name(tmp_path: Path) -> None:
    text = env("NCCL_BLOCKING_WAIT=1", "TORCH_NCCL_BLOCKING_WAIT=0")
    after = text.replace("      - NCCL_BLOCKING_WAIT=1\n", "")
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": after}


def test_everything_at_once(tmp_path: Path) -> None:
    text = env(
        "NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=NET", "NCCL_IB_DISABLE=1", "NCCL_BLOCKING_WAIT=1", "NCCL_ALGO=Ring",
        more=IB[:2],
    )  # fmt: skip
    after = service(
        "ulimits:", "  memlock: -1", "environment:", "  - TORCH_NCCL_BLOCKING_WAIT=1", *IB[:2],
    )  # fmt: skip
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": after}


# Knowledge -------------------------------------------------------------------------------------


@table(
    ("text", "value"),
    [("0", 0), ("1", 1), ("-2", -2), (" 1", 1), ("1 ", 1), ("1x", 1), ("0x10", 16), ("010", 8), ("08", 0),
     ("true", 0), ("", 0), ("yes", 0), ("+3", 3)],
)  # fmt: skip
def test_numbers_are_read_as_strtoll_reads_them(text: str, value: int) -> None:
    assert nccl.number(text) == value


def test_the_variables_are_nccls() -> None:
    assert all(re.fullmatch(r"NCCL_[A-Z0-9_]+", name) for name in VARIABLES)
    kept = {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_DEBUG", "NCCL_NET", "NCCL_TOPO_FILE", "NCCL_SOCKET_NTHREADS"}
    assert not VARIABLES & (kept | RENAMED)
    assert all(value == value.upper() for value in DEFAULTS.values())
