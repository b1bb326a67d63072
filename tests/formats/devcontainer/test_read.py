"""devcontainer.json: what is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.devcontainer.containers import GIB, HERE, NGC, arguments, launch
from tests.project import findings, run
from tests.table import table

# What asks for a GPU -------------------------------------------------------------------------


@table(
    ("wanted", "requested", "optional"),
    [
        ("true", True, False),
        ('"optional"', True, True),
        ('{"cores": 1000, "memory": "8gb"}', True, False),
        ("{}", True, False),
        ("false", False, False),
        ("null", False, False),
        ('""', False, False),
        ('"${templateOption:gpu}"', None, False),
    ],
)
def test_host_requirements(wanted: str, requested: bool | None, optional: bool) -> None:
    gpu = launch(f'{{{NGC}, "hostRequirements": {{"cpus": 4, "gpu": {wanted}}}}}').gpu
    assert (gpu.requested, gpu.optional) == (requested, optional)
    assert gpu.number == ("all" if requested else None)


@table(
    ("given", "requested", "count"),
    [
        (["--gpus=all"], True, "all"),
        (["--gpus", "all"], True, "all"),
        (["--gpus", "2"], True, 2),
        (["--gpus", '"device=0,3"'], True, 2),
        (['--gpus="device=0,3"'], True, 2),
        (["--gpus", "device=1"], True, 1),
        (["--runtime=nvidia"], True, "all"),
        (["--runtime", "nvidia", "-e", "NVIDIA_VISIBLE_DEVICES=0"], True, 1),
        (["--device=nvidia.com/gpu=all"], True, "all"),
        (["--device", "/dev/nvidia0", "--device", "/dev/nvidia1"], True, 2),
        (["--device=/dev/kfd", "--device=/dev/dri"], True, "all"),
        (["--device=/dev/dri"], False, None),
        (["--gpus", "0"], False, None),
        (["--network=host"], False, None),
        (["--gpus", "${localEnv:GPUS}"], True, None),
        (["${localEnv:MORE}"], None, None),
        (["${localEnv:MORE:--init}", "--gpus=all"], True, "all"),
        (["--name", "${localEnv:USER}-dev"], False, None),
        (["--env-file", "${localWorkspaceFolder}/.env", "--gpus=all"], True, "all"),
        (["--gpus all"], True, "all"),
    ],
)
def test_run_arguments(given: list[str], requested: bool | None, count: int | str | None) -> None:
    gpu = arguments(*given).gpu
    assert (gpu.requested, gpu.number) == (requested, count)


def test_an_explicit_gpu_is_not_optional() -> None:
    gpu = launch(f'{{{NGC}, "hostRequirements": {{"gpu": "optional"}}, "runArgs": ["--gpus=all"]}}').gpu
    assert gpu.requested and not gpu.optional
    assert [e.path for e in gpu.evidence] == ["--gpus", "hostRequirements.gpu"]


def test_container_env_goes_with_the_runtime() -> None:
    text = f'{{{NGC}, "runArgs": ["--runtime=nvidia"], "containerEnv": {{"NVIDIA_VISIBLE_DEVICES": "0,1"}}}}'
    assert launch(text).gpu.number == 2
    assert launch(text.replace("0,1", "none")).gpu.requested is False
    assert launch(text.replace("0,1", "${localEnv:GPUS}")).gpu.number is None


def test_added_capabilities_lift_the_limit_of_locked_memory(tmp_path: Path) -> None:
    given = '"runArgs": ["--gpus=all", "--shm-size=16g", "--device=/dev/infiniband"]'
    for added, rules in ((", \"capAdd\": [\"IPC_LOCK\"]", []), ("", ["NCCL504"])):
        assert [f.rule for f in findings(tmp_path, {HERE: f"{{{NGC}, {given}{added}}}"})] == rules


# What decides /dev/shm -----------------------------------------------------------------------


@table(
    ("more", "decider", "size"),
    [
        ('"runArgs": ["--shm-size=8g"]', "shm_size", 8 * GIB),
        ('"runArgs": ["--shm-size", "8g"]', "shm_size", 8 * GIB),
        ('"runArgs": ["--shm-size=1g", "--shm-size=8g"]', "shm_size", 8 * GIB),
        ('"runArgs": ["--shm-size=${localEnv:SHM:8g}"]', "unknown", None),
        ('"runArgs": ["--ipc=host"]', "host", None),
        ('"runArgs": ["--ipc", "host", "--shm-size=1g"]', "host", None),
        ('"runArgs": ["--tmpfs", "/dev/shm:size=2g"]', "tmpfs", 2 * GIB),
        ('"runArgs": ["-v", "/dev/shm:/dev/shm"]', "bind", None),
        ('"runArgs": ["${localEnv:MORE}"]', "unknown", None),
        ('"mounts": ["type=tmpfs,target=/dev/shm,tmpfs-size=2g"]', "tmpfs", 2 * GIB),
        # Of an object the CLI passes on no size.
        ('"mounts": [{"type": "tmpfs", "target": "/dev/shm", "tmpfs-size": "16m"}]', "tmpfs", None),
        ('"mounts": ["source=/dev/shm,target=/dev/shm,type=bind"]', "bind", None),
        ('"mounts": [{"type": "bind", "source": "/dev", "target": "/dev"}]', "bind", None),
        ('"mounts": [{"type": "volume", "source": "${devcontainerId}", "target": "/data"}]', "default", 64 << 20),
        ('"runArgs": null', "default", 64 << 20),
        ('"runArgs": "--shm-size=8g"', "default", 64 << 20),
        ('// "runArgs": ["--shm-size=8g"]\n"forwardPorts": [80]', "default", 64 << 20),
    ],
)
def test_dev_shm(more: str, decider: str, size: int | None) -> None:
    effective = launch(f"{{{NGC}, {more}}}").effective_shm()
    assert (effective.decided_by, effective.bytes) == (decider, size)


# What runs -----------------------------------------------------------------------------------


def test_an_image_with_a_variable_is_known_in_part() -> None:
    image = launch('{"image": "pytorch/pytorch:${templateOption:tag}"}').image
    assert image is not None and image.value == "pytorch/pytorch:${templateOption:tag}"
    assert "templateOption:tag" in image.because


@pytest.mark.parametrize(
    ("build", "base"),
    [
        ('"build": {"dockerfile": "Dockerfile"}', "ubuntu:24.04"),
        ('"build": {"dockerfile": "Dockerfile", "context": ".."}', "ubuntu:24.04"),
        ('"build": {"dockerfile": "Dockerfile", "target": "dev"}', "nvcr.io/nvidia/pytorch:24.01-py3"),
        (
            '"build": {"dockerfile": "Dockerfile", "target": "dev", "args": {"TAG": "25.01-py3"}}',
            "nvcr.io/nvidia/pytorch:25.01-py3",
        ),
        (
            '"build": {"dockerfile": "Dockerfile", "target": "dev", "args": {"TAG": "${localEnv:TAG}"}}',
            "nvcr.io/nvidia/pytorch:${localEnv:TAG}",
        ),
        ('"dockerFile": "Dockerfile", "context": ".."', "ubuntu:24.04"),
        ('"build": {"dockerfile": "missing"}', None),
    ],
)
def test_the_base_of_what_is_built(build: str, base: str | None) -> None:
    dockerfile = "ARG TAG=24.01-py3\nFROM nvcr.io/nvidia/pytorch:${TAG} AS dev\nRUN true\nFROM ubuntu:24.04\n"
    found = launch(f"{{{build}}}", **{".devcontainer__Dockerfile": dockerfile})
    assert [image.value for image in found.base_images][:1] == ([base] if base else [])


@pytest.mark.parametrize(
    ("feature", "known"),
    [
        ("ghcr.io/devcontainers/features/nvidia-cuda:1", True),
        ("ghcr.io/rapidsai/devcontainers/features/cuda:26.10", True),
        ("./features/src/cuda", True),
        ("ghcr.io/devcontainers/features/cuda@sha256:0", True),
        ("ghcr.io/devcontainers/features/node:1", False),
        ("ghcr.io/devcontainers/features/barracuda:1", False),
    ],
)
def test_a_feature_says_what_the_container_is_for_and_asks_for_no_gpu(feature: str, known: bool) -> None:
    found = launch(f'{{"image": "own:1", "features": {{"{feature}": {{}}}}}}')
    assert found.gpu.requested is False
    assert [image.text for image in found.base_images] == ([feature] if known else [])
    assert all(image.span.text == feature for image in found.base_images)


# What is said --------------------------------------------------------------------------------


def test_optional_lowers_the_severity(tmp_path: Path) -> None:
    def severity(gpu: str) -> str:
        (found,) = findings(tmp_path, {HERE: f'{{{NGC}, "hostRequirements": {{"gpu": {gpu}}}}}'}, select=("SHM101",))
        return found.severity

    order = ["note", "warning", "error"]
    assert order.index(severity("true")) == order.index(severity('"optional"')) + 1


def test_broken_json_is_said_once(tmp_path: Path) -> None:
    found = findings(tmp_path, {HERE: '{\n  "image": "x",\n  "runArgs": [ "a" "b"\n}\n', "b/devcontainer.json": "[]"})
    assert [(f.rule, f.span.path) for f in found] == [("SHM001", HERE), ("SHM001", "b/devcontainer.json")]


@pytest.mark.parametrize("name", [HERE, ".devcontainer.json", ".devcontainer/gpu/devcontainer.json"])
def test_its_places(tmp_path: Path, name: str) -> None:
    assert [found.span.path for found in run(tmp_path, {name: f'{{{NGC}}}'}).launches] == [name]
