"""SHM101 missing-shm-size."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import SIZE_RULES, levels, service
from tests.table import table

ONE = "runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: '0'}"

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "known workload": (service(), [("SHM101", "error")]),
    "unknown workload": (service(image="pytorch/pytorch"), [("SHM101", "warning")]),
    "needs nothing": (service(image="ollama/ollama"), []),
    "no gpu": (service(gpu=None), []),
    "no gpu, count 0": (service(gpu="gpus: [{count: 0}]"), []),
    "host": (service("ipc: host"), []),
    "private is the default": (service("ipc: private"), [("SHM101", "error")]),
    "shareable": (service("ipc: shareable"), [("SHM101", "error")]),
    "tmpfs": (service("tmpfs: [/dev/shm]"), []),
    "host's /dev/shm": (service("volumes: [/dev/shm:/dev/shm]"), []),
    "host's /dev": (service("volumes: [/dev:/dev]"), []),
    "another mount": (service("volumes: [./data:/data]"), [("SHM101", "error")]),
    "zero is the default": (service("shm_size: 0"), [("SHM101", "error")]),
    "enough": (service("shm_size: 8gb"), []),
    "variable without a default": (service("shm_size: ${SHM}"), []),
    "server with one GPU": (service(image="vllm/vllm-openai", gpu=ONE), []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(levels(findings(tmp_path, text, select=SIZE_RULES))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "all": (service(), "service `x` asks for all NVIDIA GPUs on Docker's 64 MiB /dev/shm"),
    "one": (service(gpu="gpus: [{count: 1}]"), "service `x` asks for one NVIDIA GPU on Docker's 64 MiB /dev/shm"),
    "two": (service(gpu="gpus: [{count: 2}]"), "service `x` asks for 2 NVIDIA GPUs on Docker's 64 MiB /dev/shm"),
    "amd": (service(image="rocm/pytorch", gpu="devices: [/dev/kfd, /dev/dri]"),
            "service `x` asks for all AMD GPUs on Docker's 64 MiB /dev/shm"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=SIZE_RULES)] == [message]


def test_whose_default_it_is(tmp_path: Path) -> None:
    text = "podman run --gpus all x\ndocker run --gpus all x\n"
    messages = [found.message for found in findings(tmp_path, {"run.sh": text})]
    assert ["Podman's 64 MiB" in message for message in messages] == [True, False]
    assert ["Docker's 64 MiB" in message for message in messages] == [False, True]
