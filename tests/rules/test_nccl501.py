"""NCCL501 debug-variable-left-in."""

from __future__ import annotations

import re
from pathlib import Path

from shmlint.rules.nccl501_debug_variable_left_in import DEFAULTS, VARIABLES
from shmlint.rules.nccl505_renamed_variable import RENAMED
from tests.project import findings
from tests.rules.cases import NGC, env, messages_test, subjects, subjects_test
from tests.table import table

P2P = [("NCCL501", "NCCL_P2P_DISABLE")]

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
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
}  # fmt: skip


test_what_is_found = subjects_test(CASES, ("NCCL",))


COMMANDS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "p2p": ("--gpus all -e NCCL_P2P_DISABLE=1", P2P),
    "the last counts": ("--gpus all -e NCCL_P2P_DISABLE=1 -e NCCL_P2P_DISABLE=0", []),
    "the host's": ("--gpus all -e NCCL_P2P_DISABLE", []),
    "a variable": ('--gpus all -e NCCL_P2P_DISABLE="$P2P"', []),
}  # fmt: skip


@table(("options", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_what_is_found_in_a_command(tmp_path: Path, options: str, expected: list[tuple[str, str]]) -> None:
    text = f"docker run {options} --shm-size=8g {NGC} train\n"
    assert subjects(findings(tmp_path, {"run.sh": text}, select=("NCCL",))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "p2p": (env("NCCL_P2P_DISABLE=1"),
            "service `x` sets NCCL_P2P_DISABLE, a debugging variable: "
            "GPUs exchange data through /dev/shm instead of NVLink or PCIe"),
    "any": (env("NCCL_ALGO=Ring"),
            "service `x` sets NCCL_ALGO, a debugging variable: it overrides NCCL's own choice"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))


def test_the_variables_are_nccls() -> None:
    assert all(re.fullmatch(r"NCCL_[A-Z0-9_]+", name) for name in VARIABLES)
    kept = {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_DEBUG", "NCCL_NET", "NCCL_TOPO_FILE", "NCCL_SOCKET_NTHREADS"}
    assert not VARIABLES & (kept | RENAMED)
    assert all(value == value.upper() for value in DEFAULTS.values())
