"""Dev containers that are services of a Compose project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.devcontainer.containers import GIB, HERE, launch
from tests.project import findings, fixed
from tests.table import table

COMPOSE = """\
services:
  app:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: sleep infinity
  db:
    image: postgres
"""


STARTS = '{"dockerComposeFile": "../compose.yaml", "service": "app", "hostRequirements": {"gpu": true}}'


def test_the_service_that_is_started_gets_the_gpu() -> None:
    found = launch(STARTS, **{"compose.yaml": COMPOSE})
    assert found.kind == "devcontainer" and found.files == (HERE, "compose.yaml")
    assert found.gpu.requested and found.gpu.number == "all" and not found.undecided
    assert found.home.text == "true" and found.words.launch == "dev container (service `app`)"


def test_a_request_that_may_be_missing_stays_noted() -> None:
    found = launch(STARTS, **{"compose.yaml": COMPOSE.replace("app:\n", "app:\n    runtime: ${R}\n")})
    assert (found.gpu.requested, found.gpu.number, found.undecided) == (True, "all", None)
    assert found.gpu.unknown is not None and "R" in found.gpu.unknown.because


def test_several_compose_files_are_merged() -> None:
    more = "services:\n  app:\n    shm_size: 8gb\n    gpus: all\n"
    text = '{"dockerComposeFile": ["../compose.yaml", "more.yaml"], "service": "app"}'
    found = launch(text, **{"compose.yaml": COMPOSE, ".devcontainer__more.yaml": more})
    assert found.gpu.requested and found.effective_shm().bytes == 8 * GIB


@pytest.mark.parametrize(
    ("old", "new", "because"),
    [
        ("../compose.yaml", "../other.yaml", "other.yaml, which does not exist"),
        ("../compose.yaml", "${localEnv:FILE}", "`${localEnv:FILE}` is not set here"),
        ("../compose.yaml", "/etc/compose.yaml", "outside the repository"),
        ('"../compose.yaml"', "[]", "Compose files that it starts are unknown"),
        ('"service": "app"', '"service": "web"', "no service web"),
        ('"service": "app", ', "", "service that it starts is unknown"),
    ],
)
def test_what_is_not_here_is_not_known(old: str, new: str, because: str) -> None:
    found = launch(STARTS.replace(old, new), **{"compose.yaml": COMPOSE})
    assert found.undecided is not None and because in found.undecided.because
    assert found.effective_shm().decided_by == "unknown"
    assert found.gpu.requested is True
    without = launch(STARTS.replace(old, new).replace("true", "false"), **{"compose.yaml": COMPOSE})
    assert without.gpu.requested is None and without.gpu.unknown == without.undecided == found.undecided


@table(
    ("properties", "lines", "decided_by"),
    [
        ('"mounts": ["source=/dev/shm,target=/dev/shm,type=bind"]', "", "bind"),
        ('"mounts": ["source=/dev/shm,dst=/dev/shm"]', "", "bind"),
        ('"mounts": [{"source": "/dev/shm", "target": "/dev/shm", "type": "bind"}]', "", "bind"),
        ('"mounts": ["type=bind,src=${localEnv:D},target=/dev/shm"]', "", "bind"),
        ('"mounts": ["type=volume,source=shm,target=/dev/shm"]', "shm_size: 16g", "volume"),
        # Of a tmpfs nothing but the target goes into the short form of a volume.
        ('"mounts": ["type=tmpfs,target=/dev/shm,tmpfs-size=16g"]', "", "volume"),
        ('"mounts": ["type=volume,source=shm,target=/dev/shm"]', "volumes: ['/dev/shm:/dev/shm']", "volume"),
        ('"mounts": ["source=/dev/shm,target=/dev/shm", "source=s,target=/dev/shm,type=volume"]', "", "volume"),
        ('"mounts": ["source=/data,target=/data,type=bind", 1, {}, "x"]', "shm_size: 16g", "shm_size"),
        ('"mounts": []', "", "default"),
    ],
)
def test_mounts_are_put_on_the_service(properties: str, lines: str, decided_by: str) -> None:
    text = STARTS.replace("}}", f"}}, {properties}}}")
    compose = COMPOSE.replace("    command", f"    {lines}\n    command") if lines else COMPOSE
    assert launch(text, **{"compose.yaml": compose}).effective_shm().decided_by == decided_by


@table(
    ("properties", "lines", "requested"),
    [
        ('"containerEnv": {"NVIDIA_VISIBLE_DEVICES": "void"}', "runtime: nvidia", False),
        ('"containerEnv": {"NVIDIA_VISIBLE_DEVICES": "0"}', "runtime: nvidia", True),
        ('"containerEnv": {"NVIDIA_VISIBLE_DEVICES": "all"}', "environment: [NVIDIA_VISIBLE_DEVICES=void]", False),
        ('"containerEnv": {"NVIDIA_VISIBLE_DEVICES": "all"}',
         "runtime: nvidia\n    environment: [NVIDIA_VISIBLE_DEVICES=void]", True),
    ],
)  # fmt: skip
def test_variables_are_put_on_the_service(properties: str, lines: str, requested: bool) -> None:
    text = STARTS.replace("true", "false").replace("}}", f"}}, {properties}}}")
    found = launch(text, **{"compose.yaml": COMPOSE.replace("    command", f"    {lines}\n    command")})
    assert bool(found.gpu.requested) == requested


def test_capabilities_and_variables_are_put_on_the_service() -> None:
    text = STARTS.replace("}}", '}, "capAdd": ["IPC_LOCK"], "privileged": true, "containerEnv": {"A": "$x", "B": 1}}')
    found = launch(text, **{"compose.yaml": COMPOSE.replace("    command", "    cap_add: [SYS_PTRACE]\n    command")})
    assert (found.cap_add, found.privileged) == (("SYS_PTRACE", "IPC_LOCK"), True)
    assert {name: value.known for name, value in found.environment.items()} == {"A": "$x", "B": "1"}
    unknown = launch(text.replace("$x", "${localEnv:X}"), **{"compose.yaml": COMPOSE}).environment["A"]
    assert unknown.known is None and unknown.because


VARIABLES = STARTS.replace("}}", '}, "containerEnv": {"NCCL_SHM_DISABLE": "1", "NCCL_P2P_DISABLE": "1"}}')


@pytest.mark.parametrize("lines", ["shm_size: 16g", "shm_size: 16g\n    environment: {NCCL_SHM_DISABLE: 1, A: b}"])
def test_a_debugging_variable_is_removed_wherever_it_is_given(tmp_path: Path, lines: str) -> None:
    files = {HERE: VARIABLES, "compose.yaml": COMPOSE.replace("    command", f"    {lines}\n    command")}
    found = [f for f in findings(tmp_path, files) if f.launch and f.launch.kind == "devcontainer"]
    assert [(f.rule, f.span.path, f.span.text) for f in found] == [("NCCL501", HERE, "1")] * 2
    changed = fixed(tmp_path, files, unsafe=True)
    assert changed[HERE] == STARTS and "NCCL" not in changed.get("compose.yaml", "")
    assert findings(tmp_path, {**files, **changed}) == []


@table(
    ("properties", "decided"),
    [
        ('"mounts": ["source=/dev/shm,target=/dev/shm,type=bind"]', False),
        ('"containerEnv": {"NVIDIA_VISIBLE_DEVICES": "void"}', False),
        ('"containerEnv": {"NVIDIA_VISIBLE_DEVICES": "all"}, "mounts": ["source=/a,target=/a"]', True),
        ('"privileged": false', True),
    ],
)
def test_a_service_beside_is_not_judged_without_what_is_added_to_it(
    tmp_path: Path, properties: str, decided: bool
) -> None:
    compose = COMPOSE.replace("    command", "    runtime: nvidia\n    command")
    text = STARTS.replace("../", "").replace("}}", f"}}, {properties}}}").replace("true", "false")
    found = findings(tmp_path, {HERE: text, ".devcontainer/compose.yaml": compose})
    assert [f.rule for f in found] == ["SHM101"] * decided


@pytest.mark.parametrize(
    ("properties", "rules"), [('"capAdd": ["IPC_LOCK"]', []), ('"privileged": true', []), ('"init": true', ["NCCL504"])]
)
def test_a_service_beside_may_lock_memory_as_its_dev_container(
    tmp_path: Path, properties: str, rules: list[str]
) -> None:
    lines = "    gpus: all\n    shm_size: 16g\n    devices: [/dev/infiniband]\n"
    compose = COMPOSE.replace("    command", f"{lines}    command")
    text = STARTS.replace("../", "").replace("}}", f"}}, {properties}}}")
    files = {HERE: text, ".devcontainer/compose.yaml": compose}
    assert [f.rule for f in findings(tmp_path, files)] == rules


def test_the_fix_goes_into_the_compose_file(tmp_path: Path) -> None:
    files = {HERE: STARTS, "compose.yaml": COMPOSE}
    assert [(f.rule, f.span.path) for f in findings(tmp_path, files)] == [("SHM101", HERE)]
    (name, text), = fixed(tmp_path, files).items()
    assert name == "compose.yaml"
    assert [line for line in text.splitlines() if line not in COMPOSE.splitlines()] == ["    shm_size: 8gb"]
    assert findings(tmp_path, {**files, name: text}) == []


def test_the_fix_goes_into_the_compose_file_once(tmp_path: Path) -> None:
    """The service itself is judged too, and two dev containers start it: one finding, of the service."""
    compose = COMPOSE.replace("    command", "    gpus: all\n    command")
    other = {".devcontainer/b/devcontainer.json": STARTS.replace("../", "../../")}
    files = {HERE: STARTS, **other, "compose.yaml": compose}
    assert [f.launch.kind for f in findings(tmp_path, files) if f.launch] == ["compose-service"]
    changed = fixed(tmp_path, files)
    assert list(changed) == ["compose.yaml"] and changed["compose.yaml"].count("shm_size: 8gb") == 1
    assert findings(tmp_path, {**files, **changed}) == []


def test_a_size_that_is_also_used_without_the_gpu_stays(tmp_path: Path) -> None:
    """The dev container adds a file that requests the GPU: the other file alone starts the service without it."""
    files = {
        HERE: STARTS.replace('"../compose.yaml"', '["../compose.yaml", "more.yaml"]').replace("true", "false"),
        "compose.yaml": COMPOSE.replace("    command", "    shm_size: 96m\n    command"),
        ".devcontainer/more.yaml": "services:\n  app:\n    gpus: all\n",
    }
    changed = fixed(tmp_path, files)
    assert changed == {".devcontainer/more.yaml": "services:\n  app:\n    gpus: all\n    shm_size: 8gb\n"}


def test_what_only_the_dev_container_has_is_its_own(tmp_path: Path) -> None:
    """A size of the service is the service's, a GPU that only the dev container asks for is not."""
    invalid = COMPOSE.replace("    command", "    shm_size: 8x\n    command")
    found = findings(tmp_path, {HERE: STARTS, "compose.yaml": invalid})
    assert [(f.rule, f.launch.kind) for f in found if f.launch] == [("SHM201", "compose-service")]
    found = findings(tmp_path, {HERE: STARTS, "compose.yaml": COMPOSE})
    assert [(f.rule, f.launch.kind) for f in found if f.launch] == [("SHM101", "devcontainer")]


@table(
    ("given", "dead"),
    [
        ('["--shm-size=8g"]', ["--shm-size=8g"]),
        ('["--shm-size", "8g", "--ipc", "host"]', ["--shm-size", "--ipc"]),
        ('["--tmpfs=/dev/shm", "--init"]', ["--tmpfs=/dev/shm"]),
        ('["--name", "--shm-size=8g", "-v", "/data:/data"]', []),
    ],
)
@table("gpu", ["true", "false"])
def test_run_arguments_with_compose_are_dead(tmp_path: Path, given: str, dead: list[str], gpu: str) -> None:
    text = STARTS.replace("true", gpu).replace("}}", f'}}, "runArgs": {given}}}')
    for files in ({HERE: text, "compose.yaml": COMPOSE}, {HERE: text.replace("../compose", "../missing")}):
        found = findings(tmp_path, files, select=("SHM210",))
        assert [f.span.text for f in found] == dead and all(f.severity == "error" for f in found)
