"""Commands that only look, in images for training."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import findings, fixed
from tests.table import table
from tests.workloads.cases import DOCKERFILE, GPUS, HALF, JOINS, LOADER, NGC, compose, need

CHECK = 'python -c "import torch; print(torch.cuda.device_count())"'


@pytest.mark.parametrize("option", ["", "--shm-size=8g "])
def test_a_look_in_a_training_image(tmp_path: Path, option: str) -> None:
    text = f"docker run --gpus all -it --rm {option}{NGC} {CHECK}\n"
    found = findings(tmp_path, {"run.sh": text})
    assert [(f.rule, f.severity) for f in found] == ([] if option else [("SHM101", "note")])
    sized = f"docker run --gpus all -it --rm --shm-size=8g {NGC} {CHECK}\n"
    changed = fixed(tmp_path, {"run.sh": text}, unsafe=True)
    assert [sorted(new.split()) for new in changed.values()] == ([] if option else [sorted(sized.split())])
    assert fixed(tmp_path, {"run.sh": text}) == {}


@table(
    "command, severity",
    [
        ("python3 -c 'import torch; print(torch.cuda.is_available())'", "note"),
        ("nvidia-smi", "note"),
        ("sh -c \"python -c 'import torch; print(torch.cuda.device_count())'\"", "note"),
        ("bash -c \"nvidia-smi && python -c 'import torch; print(torch.__version__)'\"", "note"),
        ("python -m torch.utils.collect_env", "note"),
        ("env", "note"),
        ("ls -l /workspace", "note"),
        ("sh -c 'echo $NVIDIA_VISIBLE_DEVICES && id'", "note"),
        ("python -c 'import train; train.main()'", "error"),
    ],
)
def test_other_looks_in_other_images(tmp_path: Path, command: str, severity: str) -> None:
    images = ("nvcr.io/nvidia/pytorch:24.12-py3", "nvcr.io/nvidia/pytorch:25.01-py3-igpu", "nvcr.io/nvidia/nemo:24.12")
    for image in images:
        found = findings(tmp_path, {"run.sh": f"docker run --gpus all --rm {image} {command}\n"})
        assert [(f.rule, f.severity) for f in found] == [("SHM101", severity)]


def test_a_command_that_prepares_is_no_look(tmp_path: Path) -> None:
    for command in ("true", "mkdir -p /data/out", "sh -c 'ls /data && chmod -R a+r /data'"):
        assert not findings(tmp_path, {"run.sh": f"docker run --gpus all nvcr.io/nvidia/pytorch:24.12-py3 {command}\n"})


@table(
    "gpus, ranks, severity",
    [
        ("${SERVER_GPUS:-1}", "${RANKS:-4}", "warning"),
        ("${SERVER_GPUS:-1}", "2", "warning"),
        ("${SERVER_GPUS:-0,1}", "2", "error"),
        ("${SERVER_GPUS:-1}", "1", None),
        ("${SERVER_GPUS:-1}", "${RANKS:-1}", None),
        ("1", "2", None),  # it does not start
    ],
)
def test_a_default_of_one_gpu_beside_several_ranks(
    tmp_path: Path, gpus: str, ranks: str, severity: str | None
) -> None:
    """Who gives it several GPUs sets both."""
    command = f"    command: --model m --tensor-parallel-size {ranks}\n"
    text = f"services:\n  app:\n    image: vllm/vllm-openai:v0.9.0\n{command}    {GPUS}\n"
    text += f"    environment: [\"NVIDIA_VISIBLE_DEVICES={gpus}\"]\n"
    assert [f.severity for f in findings(tmp_path, text)] == ([] if severity is None else [severity])


def test_a_service_that_has_its_size(tmp_path: Path) -> None:
    text = f"services:\n  app:\n    image: {NGC}\n    shm_size: '8g'\n    {GPUS}\n"
    assert findings(tmp_path, text) == []


@table(
    "command, verdict",
    [
        ("python -m torch.distributed.launch --nproc_per_node=1 test.py", "unknown"),
        ("torchrun --nproc_per_node=1 tools/eval_rcnn.py --workers $W", "unknown"),
        ("torchrun --nproc_per_node=1 -m tools.demo", "unknown"),
        ("accelerate launch --num_processes 1 infer.py", "unknown"),
        ("torchrun --nproc_per_node=1 train.py", "likely"),
        ("torchrun --nproc_per_node=1 train_and_test.py", "likely"),
        ("torchrun --nproc_per_node=1 attest.py", "likely"),
        ("torchrun --nproc_per_node=1 test.py --workers 4", "likely"),
        ("torchrun --nproc_per_node=1 train.py --workers 4", "needed"),
        ("torchrun --nproc_per_node=2 test.py", "needed"),
        ("sh -c 'torchrun --nproc_per_node=1 train.py && torchrun --nproc_per_node=1 test.py'", "likely"),
    ],
)
def test_one_process_of_a_program_that_uses_models(tmp_path: Path, command: str, verdict: str) -> None:
    assert need(tmp_path, {"run.sh": f"docker run --gpus all me/tool {command}\n"}).verdict == verdict


@table(
    "options, number, verdict",
    [
        ("", "1", "likely"),
        ("", "${N:-1}", "likely"),
        ("-e N=1", "$N", "likely"),
        ("-e N=2", "$N", "needed"),
        ("", "2", "needed"),
    ],
)
def test_one_process_whose_number_a_variable_holds(tmp_path: Path, options: str, number: str, verdict: str) -> None:
    run = f"docker run --gpus all {options} {NGC} sh -c 'torchrun --nproc_per_node={number} train.py'\n"
    assert need(tmp_path, {"run.sh": run}).verdict == verdict


@table(
    "options, count, verdict",
    [
        ("--nproc-per-node gpu", 1, "not-needed"),
        ("--nproc-per-node=gpu", 1, "not-needed"),
        ("--nproc-per-node 1", 1, "not-needed"),
        ("--nproc-per-node gpu", 2, "needed"),
        ("--nproc-per-node gpu --nnodes 2", 1, "likely"),
    ],
)
def test_a_rank_for_each_gpu(tmp_path: Path, options: str, count: int, verdict: str) -> None:
    started = compose(f"torchrun {options} train.py").replace("{capabilities", f"{{count: {count}, capabilities")
    assert need(tmp_path, {"compose.yaml": started, "Dockerfile": DOCKERFILE, "train.py": JOINS}).verdict == verdict


@table(
    "workers, told",
    [
        (1, "1 DataLoader worker keeps up to 4 batches in shared memory"),
        (8, "8 DataLoader workers keep up to 18 batches in shared memory"),
    ],
)
def test_what_workers_keep(tmp_path: Path, workers: int, told: str) -> None:
    found = need(tmp_path, {"run.sh": f"docker run --gpus all example.org/a python train.py --num_workers {workers}\n"})
    assert found.why == told


@table(
    "command, verdict",
    [
        ("--model ${MODEL} --dtype half", "not-needed"), ("['--model', '${MODEL}', '--dtype', 'half']", "not-needed"),
        ("--model ${MODEL} ${ARGS}", "likely"), ("--model a/b --config ${CONFIG}", "likely"),
        ("--model a/b --tensor-parallel-size ${RANKS}", "likely"), ("--model a/b -tp ${RANKS}", "likely"),
        ("['--model', 'a/b', '--tensor-parallel-size', '${RANKS}', '--port', '8000']", "likely"),
        ("--model ${MODEL} --tensor-parallel-size 2", "needed"),
    ],
)
def test_a_variable_that_is_not_set_is_the_value_of_one_option(tmp_path: Path, command: str, verdict: str) -> None:
    """Compose puts in nothing for it."""
    text = compose(command).replace("build: .", "image: vllm/vllm-openai:v0.6.0")
    assert need(tmp_path, {"compose.yaml": text}).verdict == verdict


@table(
    "words, by_command, joined, unjoined",
    [
        ("torchrun --nproc_per_node=8 train.py", 1, 8, 8),
        ("torchrun --nproc_per_node=8 train.py --workers 0", 1, 1, None),
        ("torchrun --nproc_per_node=8 train.py --workers 8", 8, 8, 8), ("python train.py --workers 8", 8, 8, 8),
        ("torchrun --nproc_per_node=3 train.py --workers 1", 4, 8, 4),
    ],
)  # fmt: skip
def test_each_rank_has_workers_of_its_own(
    tmp_path: Path, words: str, by_command: int, joined: int, unjoined: int | None
) -> None:
    """Of whose batches nothing is known, so they are not in the sum; also of ranks that do not join."""
    start = f"docker run --gpus all -v $PWD:/app -w /app example.org/a {words}\n"
    assert need(tmp_path / "alone", {"run.sh": start}).recommended == by_command << 30
    assert need(tmp_path / "code", {"run.sh": start, "train.py": JOINS + HALF}).recommended == joined << 30
    alone = need(tmp_path / "plain", {"run.sh": start, "train.py": HALF}).recommended
    assert alone == (unjoined << 30 if unjoined is not None else None)


def test_what_each_rank_keeps_is_our_choice(tmp_path: Path) -> None:
    start = "docker run --gpus all example.org/a torchrun --nproc_per_node=8 train.py --num_workers 8\n"
    (found,) = findings(tmp_path, {"run.sh": start})
    reasons = {reason.label: reason for reason in found.why}
    assert reasons["advised"].text == "8 GiB: 1 GiB for the batches of each rank"
    assert reasons["advised"].basis == "chosen"
    assert reasons["NCCL"].text == "8 ranks, about 536.7 MiB for one communicator"


GENERATES = "import csv, random\nwith open('a.csv', 'w') as f:\n    csv.writer(f).writerow([random.random()])\n"
ASKS = "import requests\nprint(requests.post('http://host:8000/v1/completions', json={'prompt': 'a'}).json())\n"


@table(
    "name, code, verdict",
    [
        ("generate_data.py", GENERATES, "not-needed"), ("client.py", ASKS, "not-needed"),
        ("work.py", ASKS + LOADER, "needed"),
    ],
)  # fmt: skip
def test_a_program_of_an_image_for_training_may_do_something_else(
    tmp_path: Path, name: str, code: str, verdict: str
) -> None:
    start = f"docker run --gpus all -v $PWD:/app -w /app {NGC} python {name}\n"
    assert need(tmp_path, {"run.sh": start, name: code}).verdict == verdict
