"""NCCL507 interface-not-in-container."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import NGC, SIZED, env, messages_test, subjects, subjects_test
from tests.table import table

HOST = [("NCCL507", "NCCL_SOCKET_IFNAME")]

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a card": (env("NCCL_SOCKET_IFNAME=enp5s0"), HOST),
    "Gloo's": (env("GLOO_SOCKET_IFNAME=enp5s0"), [("NCCL507", "GLOO_SOCKET_IFNAME")]),
    "both": (env("GLOO_SOCKET_IFNAME=enp5s0", "NCCL_SOCKET_IFNAME=enp5s0"),
             [("NCCL507", "GLOO_SOCKET_IFNAME"), *HOST]),
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


test_what_is_found = subjects_test(CASES, ("NCCL",))


COMMANDS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "interface": ("--gpus all -e NCCL_SOCKET_IFNAME=enp5s0", HOST),
    "interface, host": ("--gpus all --net=host -e NCCL_SOCKET_IFNAME=enp5s0", []),
    "interface, another's": ("--gpus all --network container:x -e NCCL_SOCKET_IFNAME=enp5s0", []),
    "interface, network unknown": ("--gpus all --network $NET -e NCCL_SOCKET_IFNAME=enp5s0", []),
    "interface, options unknown": ('--gpus all -e NCCL_SOCKET_IFNAME=enp5s0 "${ARGS[@]}"', []),
}  # fmt: skip


@table(("options", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_what_is_found_in_a_command(tmp_path: Path, options: str, expected: list[tuple[str, str]]) -> None:
    text = f"docker run {options} --shm-size=8g {NGC} train\n"
    assert subjects(findings(tmp_path, {"run.sh": text}, select=("NCCL",))) == expected


def test_podman_may_have_the_hosts_interfaces(tmp_path: Path) -> None:
    text = f"podman run --gpus all -e NCCL_SOCKET_IFNAME=eno1 --shm-size=8g {NGC}\n"
    assert findings(tmp_path, {"run.sh": text}, select=("NCCL",)) == []
    assert findings(tmp_path, env("NCCL_SOCKET_IFNAME=eno1"), select=("NCCL",), engine="podman") == []


MESSAGES: dict[str, tuple[str, str]] = {
    "interface": (env("NCCL_SOCKET_IFNAME=eno1"),
                  "service `x` sets NCCL_SOCKET_IFNAME to eno1, a network interface of the host, "
                  "but its own network has only eth0 and lo"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))
