"""What `shmlint explain` says of error messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from shmlint.cli import explain
from shmlint.cli import program as cli
from shmlint.cli.explain.symptoms import find, near, symptoms
from shmlint.cli.output import Failed
from shmlint.files import installed as rules
from shmlint.rules import all_rules
from tests.table import table

PAGE = Path(rules.directory(), "README.md")
SYMPTOMS = symptoms()
TITLES = {symptom.title for symptom in SYMPTOMS}
PASTED = [
    ("Bus error", "Bus error"),
    ("bus ERROR", "Bus error"),
    ("./train.sh: line 3:    17 Bus error               (core dumped) python train.py", "Bus error"),
    ("trainer-1 exited with code 135", "Bus error"),
    ("traceback : Signal 7 (SIGBUS) received by PID 4711", "Bus error"),
    ("subprocess.CalledProcessError: Command '['python']' died with <Signals.SIGBUS: 7>.", "Bus error"),
    ("RuntimeError: DataLoader worker (pid 87) is killed by signal: Bus error. It is possible that dataloader's "
     "workers are out of shared memory. Please try to raise your shared memory limit.",
     "A DataLoader worker dies of a bus error"),
    ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
     "A DataLoader worker dies of a bus error"),
    ("  File \"x.py\", line 2\nRuntimeError: DataLoader worker (pid(s) 12, 13) exited unexpectedly",
     "A DataLoader worker dies of a bus error"),
    ("killed by signal: Bus error", "A DataLoader worker dies of a bus error"),
    ("unable to write to file </torch_42_1804289383>", "PyTorch cannot write to its shared memory"),
    ("RuntimeError: unable to allocate shared memory(shm) for file </torch_6_3_0>: Success (0)",
     "PyTorch cannot write to its shared memory"),
    ("unable to open shared memory object", "PyTorch cannot open a shared memory object"),
    ("RuntimeError: unable to open shared memory object </torch_29919_1396182366> in read-write mode at "
     "/pytorch/torch/lib/TH/THAllocator.c:230", "PyTorch cannot open a shared memory object"),
    ("OSError: [Errno 24] Too many open files: '/data/a.jpg'", "PyTorch cannot open a shared memory object"),
    ("failed to extend /dev/shm/nccl-", "NCCL cannot extend its file in /dev/shm"),
    ("2026-01-01 12:00:01 node3 [rank1]: a1b2:168:168 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend "
     "/dev/shm/nccl-UbzKZ9 to 9637892 bytes", "NCCL cannot extend its file in /dev/shm"),
    ("NCCL WARN Error: failed to extend /dev/shm/nccl-q9_A to 33030532 bytes, error: No space left on device (28)",
     "NCCL cannot extend its file in /dev/shm"),
    ("NCCL WARN Call to posix_fallocate failed : No space left on device", "NCCL cannot extend its file in /dev/shm"),
    ("Error while creating shared memory segment nccl-shm-recv-5b1c-0-1-0 (size 9637888)",
     "NCCL cannot extend its file in /dev/shm"),
    ("RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:784, unhandled system error, NCCL version "
     "2.7.8", "NCCL reports an unhandled system error"),
    ("unhandled system error", "NCCL reports an unhandled system error"),
    ("CUDA: NCCL operation failed: unhandled system error", "NCCL reports an unhandled system error"),
    ("NCCL: could not allocate memory", "NCCL could not allocate memory"),
    ("NCCL timeout", "NCCL times out"),
    ("[rank1]:[E ProcessGroupNCCL.cpp:563] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=680, "
     "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.",
     "NCCL times out"),
    ("RuntimeError: NCCL communicator was aborted on rank 3.", "NCCL times out"),
    *((variable, "Variables that guides to NCCL set") for variable in (
        "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_IB_DISABLE",
        "NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_BLOCKING_WAIT", "TORCH_DISTRIBUTED_DEBUG", "export NCCL_DEBUG=INFO",
    )),
    ("ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
     "NCCL reports an unhandled system error"),
    ("NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be\n   insufficient for PyTorch.  "
     "NVIDIA recommends the use of the following flags:", "NVIDIA's container reports a limit of 64MB"),
    ("SHMEM allocation limit", "NVIDIA's container reports a limit of 64MB"),
    ("[WARNING] /dev/shm size might be too small, if running in docker increase to at least --shm-size='1gb'",
     "DeepSpeed warns that /dev/shm is too small"),
    ("2024-12-02 05:29:02,844 WARNING services.py:1996 -- WARNING: The object store is using /tmp instead of /dev/shm "
     "because /dev/shm has only 67104768 bytes available.", "Ray uses /tmp instead of /dev/shm"),
    ("ValueError: The configured object store size (21.47483648 GB) exceeds /dev/shm size (10.73741824 GB). This will "
     "harm performance.", "Ray uses /tmp instead of /dev/shm"),
    ("Failed to increase the shared memory pool size for key 'triton_python_backend_shm_region_6' to 67108864 bytes",
     "Triton's Python backend cannot allocate shared memory"),
    ("Unable to initialize shared memory key 'triton_python_backend_shm_region_2' to requested size (67108864 bytes)",
     "Triton's Python backend cannot allocate shared memory"),
    ("RuntimeError: Insufficient space in /dev/shm: 160 MiB required, 64 MiB free. Increase /dev/shm (e.g. --shm-size "
     "or --ipc=host).", "vLLM finds too little space in /dev/shm"),
    ("selenium.common.exceptions.WebDriverException: Message: unknown error: session deleted because of page crash\n"
     "from tab crashed", "A browser's tab crashes"),
    ("[7:7:0101/1.2:ERROR:platform_shared_memory_region_posix.cc(217)] Creating shared memory in "
     "/dev/shm/.org.chromium.Chromium.x failed: No space left on device (28)", "A browser's tab crashes"),
    ("It appears as if there is not enough space for /dev/shm/vader_segment.vm.0.1 (the shared-memory backing\nfile). "
     "It is likely that your MPI job will now either abort or experience\nperformance degradation.",
     "MPI has no space for its shared memory"),
    ("[1:0] mm_posix.c:230 UCX  ERROR Not enough memory to write total of 4292720 bytes. Please check that /dev/shm or "
     "the directory you specified has more available memory.", "MPI has no space for its shared memory"),
    ("The current SHM size of 64.0MB is too small, recommend increasing it to at least 178MB.",
     "Frigate warns that /dev/shm is too small"),
    ("Filesystem      Size  Used Avail Use% Mounted on\nshm              64M   64M     0 100% /dev/shm",
     "df shows 64M although a size is set"),
    ("OSError: [Errno 28] No space left on device", "No space left on device"),
    ("trainer exited with code 137", "The container is killed"),
    ("DataLoader worker (pid 12) is killed by signal: Killed.", "The container is killed"),
    ("docker: Error response from daemon: cannot set both Count and DeviceIDs on device request.",
     "Docker refuses a device list"),
    ('services.trainer.deploy.resources.reservations.devices.[]: "count" and "device_ids" attributes are exclusive',
     "Docker refuses a device list"),
    ("validating /srv/compose.yaml: services.trainer.gpus must be a string", "Compose refuses a GPU request"),
    ("services.a.deploy.resources.reservations.devices.0.device_ids.3 must be a string",
     "Compose refuses a GPU request"),
    ('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
     "Docker has no driver for GPUs"),
    ("'services[trainer].shm_size' invalid suffix: 'gi'", "Docker refuses a size"),
    ("invalid suffix: 'mi'", "Docker refuses a size"),
    ("'services[trainer].shm_size' invalid size: ''", "Docker refuses a size"),
    ("services.trainer additional properties 'shm-size' not allowed", "A key is not allowed"),
    ("Error response from daemon: cannot join IPC of a non running container: 4f66ad9b5a2e",
     "The IPC namespace of another container cannot be joined"),
    ("Error response from daemon: invalid IPC mode: hosts", "The IPC mode is invalid"),
    ("non-shareable IPC", "The IPC namespace of another container cannot be joined"),
    ("Error: cannot set shmsize when running in the host IPC Namespace", "Podman refuses a size together with ipc"),
    (r'runc create failed: error during container init: error mounting \"tmpfs\" to rootfs at \"/dev/shm\": mount '
     r'tmpfs:/dev/shm (via /proc/self/fd/6), flags: 0xe, data: size=8gb: invalid argument: unknown',
     "The tmpfs on /dev/shm cannot be mounted"),
    ("tmpfs: Bad value for 'size'", "The tmpfs on /dev/shm cannot be mounted"),
    ("services.a.volumes[0]: target /dev/shm already mounted as services.a.tmpfs[0]",
     "The tmpfs on /dev/shm cannot be mounted"),
    ("Ignoring unsupported options: ipc, shm_size", "Swarm ignores options"),
    ("misc/ibvwrap.cc:153 NCCL WARN Call to ibv_reg_mr failed with error Bad address",
     "InfiniBand memory cannot be registered"),
    ("\x1b[31mBus error\x1b[0m", "Bus error"),
]  # fmt: skip


@table(("pasted", "title"), PASTED)
def test_a_pasted_line_finds_its_symptom(pasted: str, title: str) -> None:
    found = find(pasted, SYMPTOMS)
    assert found[0].symptom.title == title, [(match.symptom.title, match.text, match.score) for match in found]


@table(
    "pasted",
    [
        "", "  ", "a", "error", "exited with code 1", "exited with code 13", "nothing", "of a", "28", "torch",
        "RuntimeError: CUDA out of memory", "docker: command not found", "bus errors", "abus error",
        "#" * 50, "…", "performance", "(28)", "1234",
    ],
)  # fmt: skip
def test_other_texts_find_nothing_that_they_are_not(pasted: str) -> None:
    assert find(pasted, SYMPTOMS) == []


def test_every_symptom_is_found_by_each_of_its_texts() -> None:
    for symptom in SYMPTOMS:
        for text in symptom.texts:
            pasted = re.sub(r"(?<![A-Za-z])N(?![A-Za-z])", "90210", text).replace("…", " something ")
            titles = [match.symptom.title for match in find(f"x | {pasted} |", SYMPTOMS)]
            assert symptom.title in titles, (pasted, titles)


def test_sections_tell_what_to_type_and_where_from() -> None:
    assert len(SYMPTOMS) >= 20 and len(TITLES) == len(SYMPTOMS)
    for symptom in SYMPTOMS:
        assert symptom.texts, symptom.title
        assert re.search(r"^Type [^`\n]*`", symptom.body, re.MULTILINE), symptom.title
        assert re.search(r"^- Sources?: \[", symptom.body, re.MULTILINE), symptom.title
        assert re.search(r"^- (\[[A-Z]+\d+\]|No rule)", symptom.body, re.MULTILINE), symptom.title


def test_rules_that_are_linked_have_their_page_and_name() -> None:
    for linked, target in re.findall(r"\[([A-Z]+\d+)\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")):
        rule, _ = all_rules()[linked]
        assert target == f"{rule.id}-{rule.name}.md"


def test_commands_on_the_page_are_ones_that_work() -> None:
    typed = re.findall(r"`shmlint ((?:size|explain \w|rules)[^`…]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(typed) >= 5
    for line in typed:
        result = CliRunner().invoke(cli.program, line.split())
        assert result.exit_code == 0, line


def test_a_symptom_in_the_terminal() -> None:
    lines = list(explain.explain("Ignoring unsupported options: ipc, shm_size"))
    assert "\n".join(lines[:16]) == """\
Swarm ignores options
=====================

  Ignoring unsupported options: ipc, shm_size
  Ignoring unsupported options: shm_size

`docker stack deploy` ignores `shm_size` and `ipc`. The containers get the
daemon's default of 64 MiB.

Type a tmpfs, which Swarm supports: under `volumes`, `{type: tmpfs, target:
/dev/shm, tmpfs: {size: 8589934592}}`. Or set `"default-shm-size": "8g"` in the
hosts' `daemon.json`.

- SHM206
- Source: docker/cli: what a stack does not support
  (https://github.com/docker/cli/blob/28f7560/cli/compose/types/types.go#L17-L34)"""
    assert "Rules (`shmlint explain ID` shows the page):" in lines


def test_a_log_from_standard_input() -> None:
    log = b"epoch 1\xff\nIgnoring unsupported options: ipc, shm_size\nepoch 2\n"
    result = CliRunner().invoke(cli.program, ["explain", "-"], input=log)
    assert result.stdout.startswith("Swarm ignores options\n")


def test_other_symptoms_that_fit_are_named() -> None:
    *_, last = explain.explain("bus error")
    assert last == "It could also be: A DataLoader worker dies of a bus error."


@given(st.text(max_size=200))
def test_any_text_is_answered(pasted: str) -> None:
    try:
        lines = list(explain.explain(pasted))
    except Failed as error:
        assert str(error)
    else:
        assert lines


def test_a_long_log_is_read_at_its_end() -> None:
    log = "step 1: loss 0.1\n" * 100_000
    assert find(log + "Bus error (core dumped)", SYMPTOMS)[0].symptom.title == "Bus error"
    assert find("a" * 500_000, SYMPTOMS) == []


def test_what_comes_near_is_suggested() -> None:
    assert near("cannot select a device driver for capabilities gpu", SYMPTOMS)[0].symptom.title == (
        "Docker has no driver for GPUs"
    )
    with pytest.raises(Failed, match="similar are: Docker has no driver for GPUs"):
        explain.explain("cannot select a device driver for capabilities gpu")
    with pytest.raises(Failed, match=r"no known error message .*`qqq www`$"):
        explain.explain("qqq www")
