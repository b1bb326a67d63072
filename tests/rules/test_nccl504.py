"""NCCL504 rdma-without-memlock."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.rules.cases import IB, NGC, SIZED, env, messages_test, service, subjects, subjects_test
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
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
}  # fmt: skip


test_what_is_found = subjects_test(CASES, ("NCCL",))


COMMANDS: dict[str, tuple[str, list[tuple[str, str]]]] = {
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
}  # fmt: skip


@table(("options", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_what_is_found_in_a_command(tmp_path: Path, options: str, expected: list[tuple[str, str]]) -> None:
    text = f"docker run {options} --shm-size=8g {NGC} train\n"
    assert subjects(findings(tmp_path, {"run.sh": text}, select=("NCCL",))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "rdma": (service(*IB[:2]),
             "service `x` passes /dev/infiniband without `ulimit memlock=-1`: NCCL cannot register its buffers"),
    "low": (service(*IB[:2], "ulimits: {memlock: 67108864}"),
            "service `x` passes /dev/infiniband with memlock at 64 MiB: NCCL cannot register its buffers"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))


def test_only_the_limit_is_set_without_being_asked(tmp_path: Path) -> None:
    text = env("NCCL_P2P_DISABLE=1", "NCCL_DEBUG=INFO", "NCCL_BLOCKING_WAIT=1", more=IB[:2])
    after = text.replace("gpus: all\n", "gpus: all\n    ulimits:\n      memlock: -1\n")
    assert fixed(tmp_path, text) == {"compose.yaml": after}
