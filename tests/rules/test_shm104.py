"""SHM104 undeterminable-shm-size."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import NGC, OWN, compose, entry, said
from tests.table import table

UNKNOWN: dict[str, tuple[dict[str, str] | str, str, str]] = {
    "a variable": (
        compose(entry("shm_size: ${SHM}")), "the size of its /dev/shm is", "variable SHM is not set here"),
    "a mode": (compose(entry("ipc: ${IPC}")), "the size of its /dev/shm is", "variable IPC is not set here"),
    "a container elsewhere": (
        compose(entry("ipc: container:other")), "the size of its /dev/shm is",
        "`container:other` is not in these files"),
    "a donor with a variable": (
        compose(entry("ipc: service:d"), entry("ipc: shareable", "shm_size: ${D}", name="d", gpu="")),
        "the size of its /dev/shm is", "variable D is not set here"),
    "a tmpfs": (
        compose(entry("tmpfs: ['/dev/shm:size=${T}']")), "the size of its /dev/shm is", "variable T is not set here"),
    "a GPU": (
        compose(entry("environment: {NVIDIA_VISIBLE_DEVICES: all}", gpu="")), "whether it asks for a GPU is",
        "NVIDIA_VISIBLE_DEVICES asks for GPUs only where the daemon's default runtime is nvidia"),
    "an argument": (
        {"run.sh": f'docker run --gpus all --shm-size="$1" {NGC}\n'},
        "the size of its /dev/shm is", "variable 1 is not set here"),
    "arguments": (
        {"run.sh": f'docker run --gpus all "$@" {NGC}\n'}, "the size of its /dev/shm is", "it may hold --shm-size"),
    "arguments, of something that needs it": (
        {"run.sh": f'docker run "$@" {NGC}\n'}, "its GPU request and the size of its /dev/shm are",
        "it may hold --shm-size"),
    "arguments that are called so": (
        {"run.sh": f'docker run $GPU_FLAGS {OWN}\n'}, "its GPU request and the size of its /dev/shm are",
        "variable GPU_FLAGS is not set here"),
}  # fmt: skip


@table(("files", "what", "because"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_messages(tmp_path: Path, files: dict[str, str] | str, what: str, because: str) -> None:
    (message,) = said(tmp_path, files, "SHM104")
    assert f": {what} unknown: " in message
    assert because in message


KNOWN: dict[str, dict[str, str] | str] = {
    "arguments of anything": {"run.sh": 'docker run "$@" example/build\n'},
    "a part of other services": {
        "base.compose.yml": compose(entry("build: .", name="b")),
        "compose.yml": "services:\n  x:\n    extends: {file: base.compose.yml, service: b}\n    shm_size: 8g\n",
    },
    "a default": compose(entry("shm_size: ${SHM:-8gb}")),
    "nothing": compose(entry()),
    "the host's": compose(entry("ipc: host")),
    "the host's /dev/shm": compose(entry("volumes: [/dev/shm:/dev/shm]")),
    "half of the memory": compose(entry("tmpfs: /dev/shm")),
    "refused": compose(entry("shm_size: 8Gi")),
    "a tmpfs that is refused": compose(entry("tmpfs: ['/dev/shm:size=8gb']")),
    "needs nothing": compose(entry("shm_size: ${SHM}", image="ollama/ollama")),
    "no GPU": compose(entry("shm_size: ${SHM}", gpu="")),
    "perhaps a GPU, and enough": compose(entry("shm_size: 8g", "environment: {NVIDIA_VISIBLE_DEVICES: all}", gpu="")),
    "the number of GPUs": compose(entry("shm_size: 8g", gpu="gpus: [{count: '${N}'}]")),
}


@table("text", KNOWN.values(), ids=KNOWN)
def test_what_is_known_is_not(tmp_path: Path, text: dict[str, str] | str) -> None:
    assert said(tmp_path, text, "SHM104") == []


def test_a_default_of_a_dev_container_is_no_advice(tmp_path: Path) -> None:
    """Each machine may set the variable, whatever the file's default is."""
    text = '{"image": "pytorch/pytorch", "runArgs": ["--gpus=all", "--shm-size=${localEnv:SHM:64m}"]}'
    (found,) = findings(tmp_path, {".devcontainer/devcontainer.json": text}, select=("SHM104",))
    assert found.severity == "note" and found.advice == "write a size instead of `${localEnv:SHM:64m}`"
    assert findings(tmp_path, {".devcontainer/devcontainer.json": text}) == []
