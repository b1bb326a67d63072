"""SHM101 missing-shm-size."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import SIZE_RULES, levels_test, messages_test, service
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


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "needed": (service(), "GPU service `x` gets 64 MiB of /dev/shm and needs more"),
    "estimated": (service("command: torchrun --nproc_per_node=2 x", image="a/b"),
                 "GPU service `x` gets 64 MiB of /dev/shm and needs about 102 MiB or more"),
    "likely": (service(image="pytorch/pytorch"),
               "GPU service `x` gets 64 MiB of /dev/shm and probably needs more"),
    "unknown": (service(image="a/b"), "GPU service `x` gets 64 MiB of /dev/shm; what it runs is unknown"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
WAYS: dict[str, dict[str, str]] = {
    "service": {"compose.yaml": service()},
    "service that is built": {"compose.yaml": service("build: .", image=""), "Dockerfile": f"FROM {IMAGE}\n"},
    "docker run": {"run.sh": f"docker run --gpus all {IMAGE}\n"},
    "image that is built": {
        "run.sh": "docker build -t own .\ndocker run --gpus all own\n", "Dockerfile": f"FROM {IMAGE}\n",
    },
    "page": {"README.md": f"```bash\ndocker run --gpus all {IMAGE}\n```\n"},
    "job": {".github/workflows/x.yaml": f"on: push\njobs:\n  x:\n    runs-on: x\n    container:\n"
                                         f"      image: {IMAGE}\n      options: --gpus all\n    steps: []\n"},
    "recipe": {"Makefile": f"x:\n\tdocker run --gpus all {IMAGE}\n"},
}  # fmt: skip


def test_the_same_launch_gets_the_same_answer_however_it_is_written(tmp_path: Path) -> None:
    """An image that is built may be for something else: that is a warning, of the same size for the same reason."""
    answers = {}
    for name, files in WAYS.items():
        (found,) = findings(tmp_path / name, files, select=SIZE_RULES)
        assert found.fix is not None
        answers[name] = found.fix.intention, found.needs
        assert found.severity == ("warning" if name.endswith("is built") else "error"), name
    assert len(set(answers.values())) == 1, answers


def test_a_launch_is_called_what_its_format_calls_it(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, {"run.sh": "podman run --gpus all a/b\n"})
    assert found.message == "`podman run` of a/b gets 64 MiB of /dev/shm; what it runs is unknown"


def test_a_size_for_an_unknown_workload_has_to_be_asked_for(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, service(image="a/b"))
    assert found.unknown_workload and found.fix is not None and not found.fix.safe
    (found,) = findings(tmp_path, service(image="a/b"), unknown_workload="warn")
    assert found.fix is not None and found.fix.safe, "the settings make it a warning"


NGC, TRAINS = "nvcr.io/nvidia/pytorch:24.01-py3", "torchrun --nproc_per_node=8 t.py"
BUILD = {"Dockerfile": f"FROM {NGC}\n"}


def written(*keys: str) -> dict[str, str]:
    return {"compose.yaml": "\n    ".join(["services:\n  a:", *keys, "gpus: all"]) + "\n"}


def dev_container(key: str) -> dict[str, str]:
    return {".devcontainer.json": f'{{{key}, "runArgs": ["--gpus=all"]}}'}


SAME: dict[str, list[dict[str, str]]] = {
    "a command": [
        written(f"image: {NGC}", f"command: {TRAINS}"),
        written("build: .", f"command: {TRAINS}") | BUILD,
        written(f"build: {{dockerfile_inline: FROM {NGC}}}", f"command: {TRAINS}"),
        written("build: .") | {"Dockerfile": f"FROM {NGC}\nCMD {TRAINS}\n"},
        {"run.sh": f"docker run --gpus all {NGC} {TRAINS}\n"},
        {"run.sh": f"docker build -t x .\ndocker run --gpus all x {TRAINS}\n"} | BUILD,
        {"Makefile": f"run:\n\tdocker run --gpus all {NGC} {TRAINS}\n"},
        {"README.md": f"```sh\ndocker run --gpus all {NGC} {TRAINS}\n```\n"},
    ],
    "a shell": [
        dev_container(f'"image": "{NGC}"'),
        dev_container('"build": {"dockerfile": "Dockerfile"}') | BUILD,
    ],
}


@table("ways", SAME.values(), ids=SAME)
def test_the_same_container_needs_the_same_however_it_is_written(tmp_path: Path, ways: list[dict[str, str]]) -> None:
    found = {
        (finding.severity, finding.needs, finding.fix and finding.fix.intention)
        for number, files in enumerate(ways) for finding in findings(tmp_path / str(number), files, select=("SHM101",))
    }  # fmt: skip
    assert len(found) == 1 and all(findings(tmp_path / str(i), files) for i, files in enumerate(ways))
