"""The report of a machine, on trees that are used as ``/``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from shmlint.cli import doctor
from shmlint.cli import program as cli
from shmlint.cli.doctor import Examination, examine, render_json, render_text
from shmlint.formats.live.machine import Blocks, Machine
from shmlint.model.settings import Settings
from tests.machine import DEV, DISK, GIB, MIB, NVIDIA, OWN, ROOT, TMPFS, UNLIMITED, V2, machine
from tests.table import table


def found(examination: Examination) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in examination.run.findings]


def report(examination: Examination) -> str:
    return "\n".join(render_text(examination))


TORCHRUN = ["torchrun", "--nproc_per_node=8", "train.py"]


# What the rules say ------------------------------------------------------------------------------


@table(
    ("size", "nodes", "command", "verdicts"),
    [
        (64 * MIB, NVIDIA, TORCHRUN, [("SHM101", "error")]),
        (64 * MIB, (), TORCHRUN, [("SHM101", "error")]),  # before the GPUs are there
        (64 * MIB, NVIDIA, [], [("SHM101", "note")]),
        (64 * MIB, NVIDIA, ["ollama", "serve"], []),
        (64 * MIB, (), ["python", "-m", "http.server"], []),
        (64 * MIB, (), [], []),
        (96 * MIB, NVIDIA, TORCHRUN, [("SHM102", "warning")]),  # two GPUs: no more than two ranks
        (511 * MIB, NVIDIA, [], [("SHM102", "note")]),
        (512 * MIB, NVIDIA, [], []),
        (16 * GIB, NVIDIA, TORCHRUN, []),
    ],
)  # fmt: skip
def test_verdicts_are_those_of_a_launch(
    tmp_path: Path, size: int, nodes: Sequence[str], command: list[str], verdicts: list[tuple[str, str]]
) -> None:
    assert found(examine(machine(tmp_path, nodes=nodes, size=size), Settings(), command)) == verdicts


@pytest.mark.parametrize(
    ("mounts", "size", "verdicts"),
    [
        ((ROOT, DEV, TMPFS), 128 * MIB, [("SHM102", "warning")]),
        ((ROOT, DEV, TMPFS), 16 * GIB, []),
        ((ROOT, DEV, TMPFS), 0, []),  # a tmpfs without a limit
        ((ROOT, DEV, DISK), 128 * MIB, []),
        ((ROOT, DEV), 0, [("SHM102", "error")]),
        ((), 64 * MIB, []),
    ],
)
def test_verdicts_on_what_is_mounted(
    tmp_path: Path, mounts: Sequence[str], size: int, verdicts: list[tuple[str, str]]
) -> None:
    assert found(examine(machine(tmp_path, mounts=mounts, size=size), Settings(), TORCHRUN)) == verdicts


def test_a_size_that_the_memory_limit_does_not_allow(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}
    here = machine(tmp_path, files, mounts=(ROOT, DEV, V2, OWN), nodes=NVIDIA, size=GIB)
    (finding,) = examine(here, Settings(), TORCHRUN).run.findings
    assert finding.rule == "SHM209" and "memory limit of 512 MiB" in finding.message
    assert finding.evidence[-1].span is not None and finding.evidence[-1].span.path == "/sys/fs/cgroup/memory.max"


def test_what_to_do_in_a_pod(tmp_path: Path) -> None:
    here = machine(tmp_path, {"var/run/secrets/kubernetes.io/x": ""}, nodes=NVIDIA)
    assert "emptyDir" in examine(here, Settings()).run.findings[0].advice


def test_gpus_that_are_to_be_there(tmp_path: Path) -> None:
    here = machine(tmp_path, size=64 * MIB)
    assert found(examine(here, Settings(), ["vllm", "serve", "m", "--tensor-parallel-size", "2"], 2)) != []
    assert found(examine(here, Settings(), (), 4)) == [("SHM101", "note")]
    assert found(examine(here, Settings(), TORCHRUN, 0)) == []


def test_one_visible_gpu_is_one_gpu(tmp_path: Path) -> None:
    environment = {"CUDA_VISIBLE_DEVICES": "0"}
    examination = examine(machine(tmp_path, nodes=NVIDIA, environment=environment), Settings())
    assert examination.launch.gpu.number == 1
    assert examination.launch.environment["CUDA_VISIBLE_DEVICES"].private


def test_settings_count(tmp_path: Path) -> None:
    here = machine(tmp_path, nodes=NVIDIA)
    assert found(examine(here, Settings(ignore=("SHM101",)), TORCHRUN)) == []
    # A daemon that gives 1 GiB by default gave 64 MiB because somebody set it.
    assert found(examine(here, Settings(default_shm_size=GIB), TORCHRUN)) == [("SHM102", "error")]


def test_workloads_of_the_settings_count(tmp_path: Path) -> None:
    ours = {"id": "ours", "name": "ours", "images": [], "commands": ["our-trainer"], "needs": "yes", "minimum": "2gb",
            "recommended": "2gb"}  # fmt: skip
    examination = examine(machine(tmp_path), Settings(workloads=(ours,)), ["our-trainer"])
    assert found(examination) == [("SHM101", "error")]


def test_limits_and_devices_reach_the_rules(tmp_path: Path) -> None:
    files = {"proc/self/limits": UNLIMITED, "proc/self/status": "Name:\tx\nCapEff:\t0000000000804000\n"}
    here = machine(tmp_path, files, nodes=("/dev/infiniband/uverbs0",), environment={"NCCL_IB_DISABLE": "1"})
    launch = examine(here, Settings()).launch
    assert launch.ulimits["memlock"].known == "-1"
    assert launch.ulimits["nofile"].known == "1024:1048576"
    assert launch.cap_add == ("IPC_LOCK", "SYS_NICE")
    assert [device.known for device in launch.devices] == ["/dev/infiniband"]
    variable = launch.environment["NCCL_IB_DISABLE"]
    assert variable.known == "1" and variable.span.text == "NCCL_IB_DISABLE=1"


# Reports -----------------------------------------------------------------------------------------

EXPECTED = """\
container       docker
/dev/shm        64 MiB, 1 MiB used; set by the engine (--shm-size, or its default)
memory limit    none
locked memory   64 KiB
open files      1024, can be raised to 1048576
GPUs            2 NVIDIA, 1 visible to programs
InfiniBand      no
NCCL variables  NCCL_DEBUG=WARN
                TORCH_NCCL_BLOCKING_WAIT=\\x1b[0m

/proc/self/mountinfo:3:1: note SHM101 missing-shm-size
  this container gets 64 MiB of /dev/shm; what it runs is unknown
"""


def test_text(tmp_path: Path) -> None:
    environment = {
        "TORCH_NCCL_BLOCKING_WAIT": "\x1b[0m", "NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "1", "TOKEN": "secret",
    }  # fmt: skip
    here = machine(tmp_path, nodes=NVIDIA, used=MIB, environment=environment)
    settings = Settings(select=("SHM1",))
    text = report(examine(here, settings))
    assert text.startswith(EXPECTED)
    assert "start the container with --shm-size=1g" in text and text.endswith("\n1 note")
    assert "secret" not in text and "TOKEN" not in text and "CUDA_VISIBLE_DEVICES" not in text


def test_json(tmp_path: Path) -> None:
    environment = {"NCCL_DEBUG": "INFO", "NCCLX": "no", "TOKEN": "secret"}
    here = machine(tmp_path, nodes=NVIDIA, used=MIB, environment=environment)
    text = render_json(examine(here, Settings(select=("SHM1",)), TORCHRUN))
    body = json.loads(text)
    assert body["version"] == 2
    assert body["machine"] == {
        "container": "docker",
        "shm": {
            "mounted": True, "mounted_by": "engine", "filesystem": "tmpfs", "size_bytes": 64 * MIB, "used_bytes": MIB,
        },
        "memory_limit_bytes": None,
        "limits": {
            "stack": {"soft": 8 * MIB, "hard": -1}, "nofile": {"soft": 1024, "hard": 1048576},
            "memlock": {"soft": 65536, "hard": 65536},
        },
        "gpus": {"count": 2, "visible": 2, "vendor": "nvidia", "nodes": ["/dev/nvidia0", "/dev/nvidia1"]},
        "infiniband": False,
        "nccl": {"NCCL_DEBUG": "INFO"},
    }  # fmt: skip
    assert body["command"] == TORCHRUN and body["judged"] is True
    assert body["need"]["verdict"] == "needed" and body["need"]["minimum_bytes"] is None
    assert [finding["rule"] for finding in body["findings"]] == ["SHM101"]
    assert "secret" not in text


def test_without_a_gpu_nothing_is_judged(tmp_path: Path) -> None:
    examination = examine(machine(tmp_path), Settings())
    body = json.loads(render_json(examination))
    assert body["judged"] is False and body["need"] is None and body["findings"] == []
    assert len(body["notes"]) == 2 and "64 MiB is often too little" in body["notes"][0]
    assert "no verdict" in report(examination) and "nothing found" not in report(examination)


def test_a_shm_whose_size_cannot_be_read(tmp_path: Path) -> None:
    def refuse(path: str) -> Blocks:
        raise PermissionError

    assert "cannot be read" in report(examine(machine(tmp_path)._replace(statvfs=refuse), Settings(), TORCHRUN))


def test_no_container(tmp_path: Path) -> None:
    here = machine(tmp_path, nodes=NVIDIA, size=GIB)
    (tmp_path / ".dockerenv").unlink()
    assert "does not look like a container" in report(examine(here, Settings()))


# On the command line -----------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, here: Machine, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(doctor, "Machine", lambda: here)
    result = CliRunner().invoke(cli.program, ["doctor", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = machine(tmp_path, nodes=NVIDIA)
    assert run(monkeypatch, here)[0] == 0  # a note
    assert run(monkeypatch, here, "--fail-on", "note")[0] == 1
    assert run(monkeypatch, here, "--fail-on", "note", "--exit-zero")[0] == 0
    assert run(monkeypatch, here, "--", *TORCHRUN)[0] == 1
    assert run(monkeypatch, here, "--gpus", "0", "--", *TORCHRUN)[0] == 0


def test_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = machine(tmp_path, nodes=NVIDIA)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    status, output = run(monkeypatch, here, "--format", "json", "--", *TORCHRUN)
    assert status == 1 and json.loads(output)["command"] == TORCHRUN
    assert run(monkeypatch, here)[1].startswith("container ")
    for arguments in (["--format", "sarif"], ["--fix"], ["--output-file", "json:x"]):
        status, output = run(monkeypatch, here, *arguments)
        assert status == 2 and output.count("\n") == 1 and arguments[0] in output, output


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    here = machine(tmp_path)._replace(platform=platform)
    status, output = run(monkeypatch, here)
    assert status == 2 and "Linux" in output and output.count("\n") == 1
