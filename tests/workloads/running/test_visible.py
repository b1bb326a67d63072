"""The GPUs that a launch's program sees."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import PYTORCH, need

EACH = "torchrun --nproc_per_node=gpu fit.py"
JOINED = "import torch\ntorch.distributed.init_process_group('nccl')\n"
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"


def of_script(tmp_path: Path, script: str, options: str = "--gpus 4", image: str = PYTORCH, code: str = JOINED) -> str:
    launch = f"docker run {options} -v $PWD:/w -w /w {image} bash go.sh\n"
    return need(tmp_path, {"run.sh": launch, "go.sh": script + "\n", "fit.py": code}).verdict


@table(
    "script, verdict",
    [
        (EACH, "needed"),
        (f"CUDA_VISIBLE_DEVICES=0 {EACH}", "not-needed"),
        (f"CUDA_VISIBLE_DEVICES=0,1 {EACH}", "needed"),
        (f"env CUDA_VISIBLE_DEVICES=2 {EACH}", "not-needed"),
        (f"export CUDA_VISIBLE_DEVICES=0\n{EACH}", "not-needed"),
        (f"CUDA_VISIBLE_DEVICES=0\nexport CUDA_VISIBLE_DEVICES\n{EACH}", "not-needed"),
        (f"CUDA_VISIBLE_DEVICES=0 bash -c '{EACH}'", "not-needed"),
        (f"fit() {{\n  {EACH}\n}}\nCUDA_VISIBLE_DEVICES=0 fit", "not-needed"),
        ("CUDA_VISIBLE_DEVICES=0 python fit.py trainer.devices=-1", "not-needed"),
        # Others may run in the same container, and what one rank is left of the GPUs is not what all see.
        (f"CUDA_VISIBLE_DEVICES=0 python -c 'print(1)'\n{EACH}", "needed"),
        ("CUDA_VISIBLE_DEVICES=0 vllm serve m -tp 2 &\nCUDA_VISIBLE_DEVICES=1 vllm serve m -tp 2", "needed"),
    ],
)
def test_what_a_script_leaves_its_programs_of_the_gpus(tmp_path: Path, script: str, verdict: str) -> None:
    assert of_script(tmp_path, script) == verdict


TRAINS = "import lightning as L\nL.Trainer(accelerator='gpu').fit(m)\n"
LIMITS = "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"


@table(
    "code, verdict",
    [
        (TRAINS, "needed"),
        (LIMITS + TRAINS, "not-needed"),
        ("'What it does.'\nimport torch\nSEED = 1\n" + LIMITS + TRAINS, "not-needed"),
        (LIMITS.replace("'0'", "'0,1'") + TRAINS, "needed"),
        # Perhaps too late, or not at all.
        (TRAINS + LIMITS, "likely"),
        ("import os, sys\nif sys.argv[1:]:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n" + TRAINS, "likely"),
        (LIMITS.replace("'0'", "os.getenv('ONE')") + TRAINS, "likely"),
        (LIMITS + "os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'\n" + TRAINS, "likely"),
        (LIMITS + "os.environ.update(settings())\n" + TRAINS, "likely"),
    ],
)
def test_what_a_program_leaves_itself_of_the_gpus(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_script(tmp_path, "python fit.py", code=code) == verdict


@table(
    "script",
    [
        f"CUDA_VISIBLE_DEVICES=$(pick) {EACH}",
        f"export CUDA_VISIBLE_DEVICES=$(pick)\n{EACH}",
        f'if [ "$ONE" = 1 ]; then\n  export CUDA_VISIBLE_DEVICES=0\nfi\n{EACH}',
    ],
)
def test_what_is_left_of_the_gpus_may_be_unknown(tmp_path: Path, script: str) -> None:
    assert of_script(tmp_path, script) not in ("needed", "not-needed")


@table(
    "command, verdict",
    [
        (f"bash -c 'CUDA_VISIBLE_DEVICES=0 {EACH}'", "not-needed"),
        (f"env CUDA_VISIBLE_DEVICES=0 {EACH}", "not-needed"),
        (f"bash -c 'export CUDA_VISIBLE_DEVICES=0; {EACH}'", "not-needed"),
        (EACH, "needed"),
    ],
)
def test_what_a_command_leaves_of_the_gpus(tmp_path: Path, command: str, verdict: str) -> None:
    launch = f"docker run --gpus '\"device=0,1\"' -v $PWD:/w -w /w {NGC} {command}\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": JOINED}).verdict == verdict


@table(
    "options, command",
    [
        ("--gpus all", EACH),
        ("--gpus 4", f"bash -c 'CUDA_VISIBLE_DEVICES=$(pick) {EACH}'"),
        ("--gpus all", "bash -c 'torchrun --nproc_per_node=$(nvidia-smi -L | wc -l) fit.py'"),
    ],
)
def test_ranks_that_are_joined_are_not_called_none_where_their_number_is_unknown(
    tmp_path: Path, options: str, command: str
) -> None:
    launch = f"docker run {options} -v $PWD:/w -w /w {NGC} {command}\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": JOINED}).verdict == "likely"
