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
                 "GPU service `x` gets 64 MiB of /dev/shm and needs about 102 MiB"),
    "likely": (service(image="pytorch/pytorch"),
               "GPU service `x` gets 64 MiB of /dev/shm and probably needs more"),
    "unknown": (service(image="a/b"), "GPU service `x` gets 64 MiB of /dev/shm; what it runs is unknown"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
TWO = "gpus: [{count: 2}]"
POD = """apiVersion: v1
kind: Pod
metadata: {{name: x}}
spec:
  containers: [{{name: x, image: "{image}", resources: {{limits: {{nvidia.com/gpu: 2}}}}{more}}}]
"""
WORKFLOW = """on: push
jobs: {x: {runs-on: x, container: {image: "%s", options: --gpus 2}, steps: []}}
"""
ONLY_FILES = "FROM {image}\nENV A=1\nCOPY . /app\n"
ADDS = "FROM {image}\nRUN pip install flask\n"


def ways(command: str = "", *, image: str = IMAGE) -> dict[str, dict[str, str]]:
    """The ways to write a container that runs this command, or the image's own."""
    more = (f"command: {command}",) if command else ()
    words = str(command.split()).replace("'", '"')
    built = ONLY_FILES.format(image=image)
    starts = f"{built}CMD {words}\n" if command else built
    run = f"docker run --gpus 2 {image} {command}\n"
    found = {
        "service": {"compose.yaml": service(*more, image=image, gpu=TWO)},
        "service that is built": {"compose.yaml": service("build: .", *more, image="", gpu=TWO), "Dockerfile": built},
        "image's command": {"compose.yaml": service("build: .", image="", gpu=TWO), "Dockerfile": starts},
        "docker run": {"run.sh": run},
        "image that is built": {
            "run.sh": f"docker build -t own .\ndocker run --gpus 2 own {command}\n", "Dockerfile": built,
        },
        "page": {"README.md": f"```bash\n{run}```\n"},
        "recipe": {"Makefile": f"x:\n\t{run}"},
        "pod": {"pod.yaml": POD.format(image=image, more=f", args: {words}" if command else "")},
    }  # fmt: skip
    return found if command else found | {"job": {".github/workflows/x.yaml": WORKFLOW % image}}


def shells(*, image: str = IMAGE) -> dict[str, dict[str, str]]:
    """The ways to get a shell in a container."""
    built = ONLY_FILES.format(image=image)
    folder = ".devcontainer"
    return {
        "terminal": {"run.sh": f"docker run --gpus 2 -it {image}\n"},
        "shell": {"run.sh": f"docker run --gpus 2 -it {image} bash\n"},
        "service with a terminal": {"compose.yaml": service("tty: true", image=image, gpu=TWO)},
        "service that waits": {"compose.yaml": service("command: sleep infinity", image=image, gpu=TWO)},
        "dev container": {f"{folder}/devcontainer.json": f'{{"image": "{image}", "runArgs": ["--gpus", "2"]}}'},
        "dev container that is built": {
            f"{folder}/devcontainer.json": '{"build": {"dockerfile": "Dockerfile"}, "runArgs": ["--gpus", "2"]}',
            f"{folder}/Dockerfile": built,
        },
    }  # fmt: skip


def built(command: str) -> dict[str, dict[str, str]]:
    """An image with more programs than its base, run with a command."""
    return {name: {**files, "Dockerfile": ADDS.format(image=IMAGE)} for name, files in ways(command).items()
            if name in ("service that is built", "image that is built")}  # fmt: skip


@table(
    "containers, severity, advised",
    [
        (ways(), "error", 8),
        (ways("torchrun --nproc_per_node=8 train.py"), "error", 8),
        (ways("python train.py --num_workers 8"), "error", 8),
        (ways(image="vllm/vllm-openai"), "error", 8),
        (ways("--model m -tp 4", image="vllm/vllm-openai"), "error", 8),
        (ways(image="axolotlai/axolotl"), "error", 10),
        (shells(), "warning", 8),
        (shells(image="axolotlai/axolotl"), "warning", 10),
        # What else is installed may be what the image is for.
        (built(""), "warning", 8),
        (built("torchrun --nproc_per_node=8 train.py"), "error", 8),
    ],
)
def test_the_same_launch_gets_the_same_answer_however_it_is_written(
    tmp_path: Path, containers: dict[str, dict[str, str]], severity: str, advised: int
) -> None:
    answers = set()
    for name, files in containers.items():
        (found,) = [f for f in findings(tmp_path / name, files, select=SIZE_RULES) if f.rule == "SHM101"]
        assert found.fix is not None
        assert found.severity == severity, name
        answers.add((found.fix.intention, found.needs))
    assert len(answers) == 1 and f"{advised << 30}" in str(answers), answers


def test_a_launch_is_called_what_its_format_calls_it(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, {"run.sh": "podman run --gpus all a/b\n"})
    assert found.message == "`podman run` of a/b gets 64 MiB of /dev/shm; what it runs is unknown"


@table(
    "image, severity, safe",
    [("$IMG", "warning", False), ("nvcr.io/nvidia/pytorch:24.01-py3", "warning", True)],
)
def test_an_image_that_a_branch_chooses_with_the_gpu(tmp_path: Path, image: str, severity: str, safe: bool) -> None:
    text = (
        'if [ "$1" = gpu ]; then\n  O="--gpus all"; IMG=nvcr.io/nvidia/pytorch:24.01-py3\nelse\n'
        f'  O="--memory 128m"; IMG=redis\nfi\ndocker run $O {image} torchrun --nproc_per_node=8 train.py\n'
    )
    (found,) = findings(tmp_path, {"run.sh": text})
    assert found.fix is not None and (found.severity, found.fix.safe) == (severity, safe)


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


@table(
    "command, levels",
    [
        (f'docker run --gpus all "$@" {NGC} {TRAINS}', ["note"]),
        (f'A=("$@")\ndocker run --gpus all "${{A[@]}}" {NGC} {TRAINS}', ["note"]),
        (f'docker run --gpus all --shm-size=8g "$@" {NGC} {TRAINS}', []),
        ('docker run --gpus all "$@" own/app', []),
        (f'docker run "$@" {NGC} {TRAINS}', []),
    ],
)
def test_arguments_that_may_give_a_size_that_is_certainly_needed(
    tmp_path: Path, command: str, levels: list[str]
) -> None:
    found = findings(tmp_path, {"run.sh": f"{command}\n"}, select=("SHM101",))
    assert [finding.severity for finding in found] == levels
    assert all(finding.fix is None and "may hold --shm-size" in finding.message for finding in found)


def test_it_is_said_once_that_arguments_may_give_a_size(tmp_path: Path) -> None:
    files = {"run.sh": f'docker run --gpus all "$@" {NGC} {TRAINS}\n'}
    assert [finding.rule for finding in findings(tmp_path, files, select=("SHM",))] == ["SHM104"]


@table(("image", "told"), [("kasmweb/chrome", True), ("linuxserver/firefox", True), ("a/b", False)])
def test_what_a_browser_may_need_is_not_told_of_ranks(tmp_path: Path, image: str, told: bool) -> None:
    (found,) = findings(tmp_path, service(image=image))
    assert ("between processes" in found.needs or "between their processes" in found.needs) is told
    assert ("NCCL" in found.needs) is not told
