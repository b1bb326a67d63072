"""What pages run in a container, and what that makes of its need."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from time import process_time

from shmlint.model.source import Source
from shmlint.workloads.documentation import _targets_at
from tests.project import run
from tests.table import table
from tests.workloads.cases import (
    ALONE,
    CONTAINER,
    DOCKERFILE,
    GPUS,
    HALF,
    HELPER,
    LOADER,
    NGC,
    PAINTS,
    PYTORCH,
    RANKS_SH,
    SERVE,
    SHELL,
    WITH_LOADER,
    compose,
    need,
)


@table(
    "shown, more, verdict",
    [
        ("python speak.py --text hello", "", "unknown"),
        ("python speak.py\npython missing.py", "", "likely"),
        ("python speak.py\npython train.py", "", "likely"),
        ("python speak.py", "tools/train_voice.py", "likely"),
        ("python speak.py", "tools/tune.sh", "likely"),
        ("python speak.py", "models/loader.py", "unknown"),
        ("ls", "", "likely"),
        # Packages that are not known do what the program asks them for.
        ("python paint.py", "", "unknown"),
        ("python learn.py", "", "likely"),
        ("python open.py", "", "likely"),
        ("python paint.py", "tools/tune.sh", "likely"),
        ("bash tools/tune.sh", "tools/tune.sh", "unknown"),
        ("bash tools/train.sh", "tools/train.sh", "likely"),
    ],
)
def test_a_page_that_only_uses_a_model_in_a_shell(tmp_path: Path, shown: str, more: str, verdict: str) -> None:
    start = "docker build -t voices .\ndocker run --gpus all -it voices\n"
    page = f"# Voices\n\n```bash\n{start}```\n\n```bash\n{shown}\n```\n"
    files = {"README.md": page, "Dockerfile": DOCKERFILE + "RUN pip install torch\n"}
    files |= {"speak.py": SERVE, "helper.py": HELPER}
    files |= {"paint.py": PAINTS, "learn.py": PAINTS + "model.train(epochs=3)\n", "open.py": "import unheard_of\n"}
    files |= {more: "import torch.distributed\n" if more.endswith(".py") else "python paint.py\n"} if more else {}
    for old in (tmp_path / "tools", tmp_path / "models"):
        shutil.rmtree(old, ignore_errors=True)
    assert need(tmp_path, files).verdict == verdict


@table(
    "told, verdict",
    [
        ("Start the container with `./run.sh`.", "unknown"),
        ("1. `bash run.sh`", "unknown"),
        ("The container is started by `run.sh`.", "likely"),
        ("## Inference\n\n`./run.sh`", "likely"),
    ],
)
def test_a_page_that_calls_the_script_in_its_text(tmp_path: Path, told: str, verdict: str) -> None:
    start = "docker build . -t voices\ndocker run --gpus all -it -v $PWD:/demo voices bash\n"
    files = {"demo/run.sh": start, "demo/Dockerfile": f"{DOCKERFILE}RUN pip install torch\nWORKDIR /demo\n"}
    files |= {"demo/README.md": f"# Voices\n\n{told}\n\n```bash\npython speak.py --text it\n```\n"}
    files |= {"demo/speak.py": SERVE, "demo/helper.py": HELPER}
    assert need(tmp_path, files, ("demo/run.sh",)).verdict == verdict


@table("command, verdict", [("bash", "unknown"), ("jupyter lab --ip=0.0.0.0", "likely")])
def test_a_page_runs_a_program_beside_a_notebook(tmp_path: Path, command: str, verdict: str) -> None:
    page = "```\ndocker build -t voices .\ndocker run --gpus all -it voices COMMAND\npython speak.py --text it\n```\n"
    files = {"README.md": page.replace("COMMAND", command), "Dockerfile": DOCKERFILE + "RUN pip install torch\n"}
    assert need(tmp_path, {**files, "speak.py": SERVE, "helper.py": HELPER}).verdict == verdict


@table(
    "base, start, after, verdict",
    [
        ("ubuntu:22.04", "own bash", "torchrun --nproc_per_node=4 train.py", "needed"),
        ("ubuntu:22.04", "own jupyter lab", "torchrun --nproc_per_node=4 train.py", "likely"),
        # The image's own command starts the notebook.
        ("quay.io/jupyter/minimal-notebook", "own", "torchrun --nproc_per_node=4 train.py", "likely"),
        ("quay.io/jupyter/minimal-notebook", "own bash", "torchrun --nproc_per_node=4 train.py", "needed"),
        ("ubuntu:22.04", "own", "torchrun --nproc_per_node=4 train.py", "needed"),
        # This surely runs in the container.
        ("ubuntu:22.04", "--name it own jupyter lab", "docker exec it torchrun --nproc_per_node=4 train.py", "needed"),
    ],
)
def test_a_page_trains_after_it_starts_a_notebook(
    tmp_path: Path, base: str, start: str, after: str, verdict: str
) -> None:
    start = f"docker build -t own .\ndocker run --gpus all -it {start}\n"
    page = f"# Birds\n\n```bash\n{start}```\n\n## Training\n\n```bash\n{after}\n```\n"
    files = {"README.md": page, "Dockerfile": f"FROM {base}\nRUN pip install torch\nCOPY . /app\nWORKDIR /app\n"}
    assert need(tmp_path, {**files, "train.py": "import unheard_of\n"}).verdict == verdict


@table(
    "line, verdict",
    [
        ("train_two.py is the one we use now. It needs less.", "unknown"),
        ("train_two.py - what we use", "unknown"),
        ("train_two.py small", "likely"),
        ("train_two.py --rate 0.1", "likely"),
        ("train_two.py configs/small.yaml", "likely"),
        ("train_two.py 8 small", "likely"),
        ("./train_two.py small model", "likely"),
    ],
)
def test_what_a_page_says_of_a_file_is_no_command(tmp_path: Path, line: str, verdict: str) -> None:
    start = "    nvidia-docker run -it -v $PWD:/app own/box bash\n"
    page = f"# Cells\n\nStart it:\n\n{start}\n## Files\n\n    {line}\n"
    assert need(tmp_path, {"README.md": page, "train_two.py": "import torch, unheard_of\n"}).verdict == verdict


@table("place, verdict", [("docker", "needed"), ("projects/fast", "likely")])
def test_a_guide_at_the_top_is_not_about_a_project_below(tmp_path: Path, place: str, verdict: str) -> None:
    files = {"START.md": "```\ntorchrun --nproc_per_node=4 train.py\n```\n", "train.py": "print(1)\n"}
    files |= {f"{place}/run.sh": "docker build -t own .\ndocker run --gpus all -it own bash\n"}
    files |= {f"{place}/Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "first, verdict",
    [
        ("python speak.py --text it", "unknown"),  # the same image is started again for the training
        ("", "needed"),  # nothing else is shown of it
        ("pip install a", "needed"),
    ],
)
def test_a_page_that_starts_an_image_again_for_another_program(tmp_path: Path, first: str, verdict: str) -> None:
    start = "docker run --gpus all -it voices bash"
    then = f"```\n{start}\ntorchrun --nproc_per_node=4 train.py\n```\n"
    page = f"```\ndocker build -t voices .\n{start}\n{first}\n```\n\n{then}"
    files = {"README.md": page, "Dockerfile": DOCKERFILE, "train.py": "print(1)\n"}
    assert need(tmp_path, {**files, "speak.py": SERVE, "helper.py": HELPER}).verdict == verdict


@table(
    "place, shown, counts",
    [
        ("examples/draw", "python speak.py --text it", False), ("examples/draw", "", True),
        ("docker", "python speak.py --text it", True), ("docs/draw", "python speak.py --text it", True),
    ],
)  # fmt: skip
def test_guides_are_not_about_a_part_whose_page_shows_what_it_runs(
    tmp_path: Path, place: str, shown: str, counts: bool
) -> None:
    page = f"```\ndocker run --gpus all -it -v $PWD:/app {PYTORCH} bash\n{shown}\n```\n"
    files = {f"{place}/README.md": page, "README.md": "```\npython fill.py\n```\n"}
    files |= {"fill.py": LOADER, f"{place}/speak.py": SERVE, f"{place}/helper.py": HELPER}
    assert bool(need(tmp_path, files).mechanisms) is counts


SERVES = "```bash\nvllm serve m --tensor-parallel-size 8\n```\n"


def test_what_documentation_starts_in_a_shell_counts(tmp_path: Path) -> None:
    page = f"```bash\ndocker run -it --gpus all own/server bash\n```\n\n{SERVES}"
    assert need(tmp_path, {"README.md": page}).verdict == "needed"


@table(
    "command, verdict",
    [("-- bash", "needed"), ("-- /bin/bash -l", "needed"), ("-- server", "unknown"), ("--", "unknown")],
)
def test_a_shell_behind_dashes_for_the_entrypoint(tmp_path: Path, command: str, verdict: str) -> None:
    page = f"```bash\ndocker run -it --gpus all own/server {command}\n```\n\n{SERVES}"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


@table("place, verdict", [("docker", "likely"), ("examples/a", "likely"), ("examples/a/b", "unknown")])
def test_a_readme_far_above_is_about_much_else(tmp_path: Path, place: str, verdict: str) -> None:
    files = {f"{place}/run.sh": "docker run -it --gpus all own/server bash\n", "README.md": SERVES}
    assert need(tmp_path, files).verdict == verdict


@table(
    "start, verdict",
    [
        ('Xvfb :1 -screen 0 640x480x24 &\nexport DISPLAY=:1\nexec "$@"', "likely"),
        ("Xvfb :1 &\nexec bash", "likely"),
        ("Xvfb :1 &\nexec serve-scenes", "unknown"),
        ("Xvfb :1 &\nexec python look.py", "not-needed"),
    ],
)
def test_a_display_beside_what_is_run_tells_nothing_of_it(tmp_path: Path, start: str, verdict: str) -> None:
    docker = "FROM python:3.12\nRUN pip install torch\nCOPY . /app\nENTRYPOINT [\"/app/start.sh\"]\n"
    files = {"Dockerfile": docker, "start.sh": f"#!/bin/sh\n{start}\n", "look.py": "print(1)\n"}
    assert need(tmp_path, {**files, "compose.yaml": compose("bash", "    tty: true\n")}).verdict == verdict


TRAINER = "from lightning import Trainer\nTrainer(devices=-1).fit(net)\n"


@table(
    "image, code, verdict",
    [
        ("nvcr.io/nvidia/nemo:24.07", TRAINER, "likely"),
        ("nvcr.io/nvidia/nemo:24.07", "print(1)\n", "unknown"),
        ("tensorflow/tensorflow:2.15.0-gpu", TRAINER, "unknown"),
        # Who runs it in an image has what it uses there.
        ("own/nets", TRAINER, "likely"),
        ("own/nets", "print(1)\n", "unknown"),
    ],
)  # fmt: skip
def test_a_page_about_a_server_shows_its_ranks(tmp_path: Path, image: str, code: str, verdict: str) -> None:
    run_it = f"```bash\ndocker run --gpus all -it -v $PWD:/work -w /work {image} bash\n```\n"
    page = f"# Deploy a net\n\n## Running the server\n\n{run_it}\nIn it:\n\n```bash\n./serve.py --verbose\n```\n"
    assert need(tmp_path, {"README.md": page, "serve.py": code}).verdict == verdict


@table(
    "gpus, command, verdict",
    [
        ("all", "mpiexec --allow-run-as-root -np <gpus> python fit.py --horovod", "likely"),
        ("all", "mpirun -np $GPUS -x HOROVOD_CYCLE_TIME=1 python fit.py", "likely"),
        ("1", "mpiexec -np <gpus> python fit.py --horovod", "not-needed"),
        ("all", "mpiexec -np 1 python fit.py --horovod", "unknown"),
        ("all", "mpiexec -np <hosts> -H <hosts> python fit.py --horovod", "unknown"),
        ("all", "mpiexec -np <gpus> --hostfile hosts python fit.py --horovod", "unknown"),
        ("all", "mpiexec -np <gpus> python fit.py", "unknown"),
        ("all", "python fit.py --horovod", "unknown"),
    ],
)
def test_a_page_that_starts_ranks_of_horovod(tmp_path: Path, gpus: str, command: str, verdict: str) -> None:
    start = f"docker run --gpus {gpus} -it --rm nvcr.io/nvidia/tensorflow:19.05-py3\n"
    page = f"# Net\n\n```bash\n{start}```\n\n## Fitting\n\n```bash\n{command}\n```\n"
    assert need(tmp_path, {"README.md": page, "fit.py": "from nets import fit\n"}).verdict == verdict


def test_what_documentation_runs_behind_the_script_of_a_shell_counts(tmp_path: Path) -> None:
    page = "```bash\n./shell.sh\n```\n\n```bash\npython train.py\n```\n"
    script = "docker run -it --gpus all -v $PWD:/app -w /app pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime bash\n"
    assert need(tmp_path, {"README.md": page, "shell.sh": script, "train.py": LOADER}).verdict == "needed"


def test_the_line_of_a_command_in_a_block_with_placeholders_is_told(tmp_path: Path) -> None:
    start = "docker build -t me/tool .\ndocker run --gpus all -it me/tool bash\n"
    page = f"```\n{start}```\n\n```\n# inside\ncd /app\npython prepare.py ...\npython train.py ...\n```\n"
    files = {"README.md": page, "Dockerfile": f"FROM {PYTORCH}\nCOPY . /app\n", "train.py": "import unheard_of\n"}
    told = [one.span.line for one in need(tmp_path, files).evidence if one.text == "trains" and one.span is not None]
    assert told == [10]


def test_the_line_of_a_page_that_runs_a_program_is_told(tmp_path: Path) -> None:
    page = f"```bash\n{SHELL} bash\n```\n\n```bash\npython train.py\n```\n"
    mechanism = need(tmp_path, {"README.md": page, "train.py": LOADER}).mechanisms[0]
    told = [(e.text, e.span.path, e.span.line) for e in mechanism.evidence if e.span]
    assert told[-1] == ("runs train.py", "README.md", 6)


ENTERED = "horovodrun -np 4 python fit.py --config small.json"


@table(
    "path, page, verdict",
    [
        ("shell.sh", "```\nsource shell.sh $DATA \\\n  $OUT\n```\nThen\n```\n{run}\n```\n", "needed"),
        ("shell.sh", "```\n. ./shell.sh\n```\n\n```\n{run}\n```\n", "needed"),
        ("shell.sh", "```\nbash shell.sh 8\n```\n\n```\n# in the container\n{run}\n```\n", "needed"),
        ("docker/shell.sh", "```\n./docker/shell.sh /data\n{run}\n```\n", "needed"),
        ("docker/shell.sh", "```\ncd docker\nsh shell.sh\n{run}\n```\n", "needed"),
        ("docker/shell.sh", "```\ncd app\ndocker/shell.sh\n{run}\n```\n", "needed"),
        # Before the start, outside the container, in another one.
        ("shell.sh", "```\n{run}\n```\n\n```\nsource shell.sh $DATA\n```\n", "likely"),
        ("shell.sh", "```\nsource shell.sh $DATA\n```\n\n```\n# outside of it\n# (CPU)\n{run}\n```\n", "unknown"),
        ("shell.sh", "```\nsource shell.sh\ndocker run -it other\n{run}\n```\n", "likely"),
        ("docker/a/shell.sh", "```\ncd docker/b\n./shell.sh\n{run}\n```\n", "likely"),
        ("docker/a/shell.sh", "```\ndocker/b/shell.sh\n{run}\n```\n", "likely"),
        ("docker/shell.sh", "```\n./shell.sh\n{run}\n```\n", "likely"),
        # It is started for something else, or no ranks are written down.
        ("shell.sh", "## Demo\n```\nsource shell.sh\n```\n## Training\n```\n{run}\n```\n", "likely"),
        ("shell.sh", "```\nsource shell.sh\n```\n\n```\nhorovodrun -np $N python fit.py\n```\n", "likely"),
    ],
)
def test_a_page_that_starts_a_script_goes_on_in_its_container(
    tmp_path: Path, path: str, page: str, verdict: str
) -> None:
    files = {path: "docker run -it --gpus all me/own\n", "README.md": page.replace("{run}", ENTERED)}
    assert need(tmp_path, files).verdict == verdict


@table(
    "script, given, verdict",
    [
        ('{run} "$@"', "python train.py", "needed"),
        ('GPU=$1; shift\n{run} "$@"', "0 python train.py", "needed"),
        ("{run} ${@:3}", "0 box python train.py", "needed"),
        ("{run} ${@:2}", "0 python train.py --workers 0", "unknown"),
        # A page that gives it a program shows no shell; what is left open is one.
        ("{run} ${@:2}", "0 python unread.py", "unknown"),
        ("{run} ${@:2}", "0", "likely"),
    ],
)
def test_what_a_page_gives_a_script_that_keeps_words_for_itself(
    tmp_path: Path, script: str, given: str, verdict: str
) -> None:
    text = script.replace("{run}", "docker build -t own .\ndocker run -t --gpus $1 -v $PWD:/app -w /app own")
    (tmp_path / "Dockerfile").write_text("FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install torch\n")
    files = {"run.sh": f"{text}\n", "README.md": f"```\n./run.sh {given}\n```\n", "unread.py": "import unheard_of\n"}
    program = LOADER if "train.py" in given else ""
    assert need(tmp_path, {**files, "train.py": program}).verdict == verdict


@table(
    "page, text, verdict",
    [
        ("docker/use.md", "./shell.sh\ncd app\ndocker/ranks.sh 8", "needed"),
        ("docker/use.rst", "./shell.sh\ndocker/ranks.sh 8", "needed"),
        # It starts one rank, or it starts them before the container, on another page, in another directory.
        ("docker/use.md", "./shell.sh\ncd app\ndocker/ranks.sh 1", "unknown"),
        ("docker/use.md", "docker/ranks.sh 8\n./shell.sh", "unknown"),
        ("docker/use.md", "docker/ranks.sh 8 > shell.sh.txt", "unknown"),
        ("use.md", "docker/shell.sh\ndocker/ranks.sh 8", "unknown"),
    ],
)
def test_a_page_beside_a_script_that_starts_it(tmp_path: Path, page: str, text: str, verdict: str) -> None:
    shown = "::\n\n  " + text.replace("\n", "\n  ") + "\n" if page.endswith("rst") else f"```\n{text}\n```\n"
    files = {"docker/shell.sh": "docker run -it --gpus all me/own\n", page: shown}
    files["docker/ranks.sh"] = "N=${1:-1}\nmpirun -np $N -x NCCL_DEBUG=INFO python3 /app/fit.py\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "gpus, verdict",
    [("1", "likely"), ("4", "needed"), ("""'"'device=$GPUS'"'""", "needed"), ("""'"device=0"'""", "likely")],
)
def test_ranks_of_a_page_on_the_gpus_of_its_container(tmp_path: Path, gpus: str, verdict: str) -> None:
    page = f"```\nsource shell.sh\n{ENTERED}\n```\n"
    script = f"if [ -z $GPUS ]; then\n  GPUS='all'\nfi\ndocker run -it --gpus {gpus} me/own\n"
    files = {"shell.sh": script, "README.md": page}
    assert need(tmp_path, files).verdict == verdict


@table(
    ("command", "verdict"),
    [("bash", "likely"), ("python unread.py", "unknown"), ('python unread.py "$@"', "unknown")],
)
def test_the_documentation_of_other_programs_says_nothing_of_this_one(
    tmp_path: Path, command: str, verdict: str
) -> None:
    page = "```bash\nbash examples/other/train.sh\n```\n"
    files = {"README.md": page, "run.sh": f"docker run --gpus all -it own {command}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    ("text", "verdict"),
    [
        ('TOLD="$@"\ndocker run --gpus all own bash -c "cd /x && $TOLD"', "unknown"),
        ('docker run --gpus all own bash -c "cd /x; $*"', "unknown"),
        ('docker run --gpus all own bash -lc "${@}"', "unknown"),
        ('docker run --gpus all own "cd /x && $@"', "unknown"),
        ('docker run --gpus all own bash -c "ls $@; nvidia-smi"', "not-needed"),
    ],
)
def test_a_text_with_the_words_of_its_script_may_run_anything(tmp_path: Path, text: str, verdict: str) -> None:
    assert need(tmp_path, {"run.sh": f"#!/bin/bash\n{text}\n"}).verdict == verdict


@table(
    "page, verdict",
    [
        ("```\n./start.sh\n```\n\nThen:\n```\nbash ranks.sh\n```\n", "needed"),
        ("```\nbash work/start.sh\n```\n\nThen:\n```\nbash ranks.sh\n```\n", "needed"),
        ("```\n./start.sh\n```\n", "likely"),
        ("```\nbash ranks.sh\n```\n\nThen:\n```\n./start.sh\n```\n", "likely"),
        ("```\n./restart.sh\n```\n\n```\nbash ranks.sh\n```\n", "likely"),
    ],
)
def test_a_page_beside_a_script_tells_what_its_container_is_for(tmp_path: Path, page: str, verdict: str) -> None:
    files = {"work/start.sh": f"{SHELL} bash\n", "work/starting.md": page, "ranks.sh": RANKS_SH.replace("${GPUS}", "4")}
    assert need(tmp_path, files).verdict == verdict
    top = {"start.sh": files["work/start.sh"], "starting.md": page.replace("work/", ""), "ranks.sh": files["ranks.sh"]}
    (tmp_path / "top").mkdir()
    assert need(tmp_path / "top", top).verdict == verdict


def test_a_page_tells_more_than_scripts_that_only_test(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("bash"), "Dockerfile": f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"}
    files |= {"train.py": LOADER, "Makefile": "test:\n\tdocker compose run app pytest\n"}
    assert need(tmp_path, files).verdict == "likely"
    files["README.md"] = "```\ndocker compose run app python train.py\n```\n"
    assert need(tmp_path, files).verdict == "needed"


@table(
    "page, program, verdict",
    [
        ("README.md", ALONE.replace("=4", "=4, num_workers=0"), "unknown"),
        ("readme.md", ALONE, "unknown"),
        ("other.md", ALONE, "unknown"),  # no page about it, but all code that the container sees loads so
        ("README.md", "import torch\n", "likely"),
        ("README.md", ALONE.replace("=4", "=4, num_workers=n"), "likely"),
        ("README.md", ALONE + "DataLoader(data(), num_workers=2)\n", "likely"),
        ("README.md", ALONE + "torch.multiprocessing.Queue()\n", "unknown"),  # what is put into it decides
        ("README.md", ALONE + "weights().share_memory_()\n", "likely"),
    ],
)
def test_documented_programs_that_load_without_workers(
    tmp_path: Path, page: str, program: str, verdict: str
) -> None:
    """They say more than that PyTorch is there, also where they import what is not known."""
    files = {".devcontainer/devcontainer.json": CONTAINER, page: "```\npython fit.py\n```\n"}
    assert need(tmp_path, {**files, "fit.py": f"import unheard_of\n{program}"}).verdict == verdict


@table(
    "program, verdict",
    [
        ("from sagemaker.pytorch import PyTorch\nPyTorch(entry_point='fit.py').fit()\n", "not-needed"),
        ("import unheard_of\nunheard_of.train()\n", "unknown"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, num_workers=4)\n", "likely"),
    ],
)
def test_the_code_of_a_documented_command_says_more_than_its_name(tmp_path: Path, program: str, verdict: str) -> None:
    files = {
        "compose.yaml": "services:\n  dev:\n    build: .\n    gpus: all\n    volumes: [.:/w]\n    working_dir: /w\n",
        "Dockerfile": "FROM nvidia/cuda:12.8.0-base-ubuntu22.04\nRUN pip install torch\nCMD [\"bash\"]\n",
        "README.md": "```\ndocker compose run --rm dev python -m scripts.local_train\n```\n",
        "scripts/local_train.py": program,
        "fit.py": ALONE,
    }
    assert need(tmp_path, files).verdict == verdict


@table(
    "install, starts, verdict",
    [
        ("pip install torch", "./train.sh", "likely"),
        ("pip install torch", "./train_voice.bat", "likely"),
        ("pip install torch", "./convert.sh", "unknown"),
        ("pip install flask", "./train.sh", "unknown"),
        ("pip install torch", "./train_here.sh", "not-needed"),
        ("pip install torch", "./train_alone.sh", "unknown"),
    ],
)
def test_a_page_of_the_web_that_starts_training(tmp_path: Path, install: str, starts: str, verdict: str) -> None:
    page = f"import subprocess\nsubprocess.Popen(['{starts}', 'voice.yaml'])\n"
    files = {"compose.yaml": compose("python app.py"), "app.py": page, "small.py": "import json\n"}
    files |= {"Dockerfile": f"FROM python:3.12\nRUN {install}\nWORKDIR /app\nCOPY . .\n"}
    files |= {"train.sh": "python -m unread.loop $1\n", "convert.sh": "python -m unread.loop $1\n"}
    files |= {"train_here.sh": "python small.py $1\n", "train_alone.sh": "python alone.py $1\n"}
    files["alone.py"] = "import unheard_of\nfrom torch.utils.data import DataLoader\nDataLoader(x, num_workers=0)\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "hosts, waits, verdict",
    [
        ("one:4,two:4", "/usr/sbin/sshd -p 12345; ", "needed"),
        ("one:4", "/usr/sbin/sshd -p 12345; ", "likely"),
        ("one:4,two:4", "", "unknown"),
    ],
)
def test_a_host_of_ranks_that_another_container_of_the_page_starts(
    tmp_path: Path, hosts: str, waits: str, verdict: str
) -> None:
    first = f"host1$ docker run -it --gpus all own/mpi\nroot@1f2e:/w# mpirun -np 8 -H {hosts} python train.py\n"
    host = f"host2$ docker run -it --gpus all --name two own/mpi bash -c '{waits}sleep infinity'\n"
    started = run(tmp_path, {"README.md": f"```bash\n{first}```\n\n```bash\n{host}```\n"})
    with contextlib.chdir(tmp_path):
        needs = [started.context.need(launch).verdict for launch in started.launches]
    assert needs == ["needed", verdict]


@table(
    "shown, installed, verdict",
    [
        ("python ask.py", "tensorflow", "unknown"),
        ("python ask.py", "torch", "likely"),
        ("python ask.py\npython fit.py\npython train.py", "jax", "likely"),
        ("python ask.py\npython fit.py\npython train.py", "tensorflow", "unknown"),
        ("ls", "jax", "likely"),
        ("ls", "tensorflow", "unknown"),
    ],
)
def test_a_page_shows_another_use_than_the_training_of_another_page(
    tmp_path: Path, shown: str, installed: str, verdict: str
) -> None:
    start = "docker build -t own .\ndocker run --gpus all -it own bash\n"
    files = {"docs/start.md": f"```bash\n{start}```\n\n```bash\n{shown}\n```\n"}
    files |= {"Dockerfile": f"{DOCKERFILE}RUN pip install {installed}\n", "ask.py": "import unheard_of\n"}
    files |= {"docs/train_it.md": "```\npython train.py\n```\n", "train.py": "import unheard_of\n"}
    assert need(tmp_path, files, ("docs/start.md",)).verdict == verdict


@table(
    "title, verdict",
    [
        ("Set up", "needed"), ("Inference", "unknown"), ("Export to ONNX", "unknown"), ("Run the service", "unknown"),
        ("Gradio app", "unknown"), ("Observe it", "needed"), ("Mapping", "needed"), ("Train the service", "needed"),
    ],
)  # fmt: skip
def test_a_shell_under_a_heading_about_something_else(tmp_path: Path, title: str, verdict: str) -> None:
    page = f"## {title}\n```bash\ndocker run --gpus all -it own bash\n```\n"
    files = {"docs/start.md": page, "README.md": "```\ntorchrun --nproc_per_node=4 train.py\n```\n"}
    files |= {"Dockerfile": "FROM ubuntu\nRUN pip install torch\n", "build.sh": "docker build -t own .\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "place, guide, verdict",
    [
        ("docs/en/start.md", "docs/en/guides/train_it.md", "needed"),
        ("docs/en/start.md", "docs/en/usage.md", "needed"),
        ("docs/start.md", "docs/guides/train_it.md", "needed"),
        ("README.md", "docs/guides/train_it.md", "likely"),
        # What a page about other programs runs, or one of another language, says nothing of this container.
        ("docs/en/start.md", "docs/en/notes/benchmark.md", "likely"),
        ("docs/en/start.md", "docs/zh/guides/train_it.md", "likely"),
        ("notes/en/start.md", "notes/en/train_it.md", "likely"),
    ],
)
def test_guides_in_directories_of_the_documentation(tmp_path: Path, place: str, guide: str, verdict: str) -> None:
    page = "```bash\ndocker build -t own docker/\ndocker run --gpus all -it own\n```\n"
    files = {place: page, guide: "```\ntools/several.sh a.py 4\n```\n\n```\npython tools/train.py a.py\n```\n"}
    files |= {"docker/Dockerfile": "FROM ubuntu\nRUN pip install torch\n", "tools/train.py": HALF}
    files["tools/several.sh"] = 'torchrun --nproc_per_node=$2 $(dirname "$0")/train.py $1\n'
    assert need(tmp_path, files).verdict == verdict


@table(
    "link, verdict",
    [
        ("See the [guide](guides/more.md).", "needed"), ("See the [guide](./guides/more.md#start).", "needed"),
        ("See the guide.", "likely"), ("See [it](https://example.org/guides/more.md).", "likely"),
        ("![it](guides/more.md)", "likely"), ("See the [other part](guides/README.md).", "likely"),
    ],
)
def test_guides_that_the_page_of_a_launch_links_to(tmp_path: Path, link: str, verdict: str) -> None:
    page = f"```bash\ndocker build -t own .\ndocker run --gpus all -it own bash\n```\n\n{link}\n"
    run = "```bash\ntorchrun --nproc_per_node=4 train.py\n```\n"
    files = {"README.md": page, "guides/more.md": run, "guides/README.md": run, "train.py": HALF}
    assert need(tmp_path, {**files, "Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}).verdict == verdict


@table(
    "title, more, verdict",
    [
        ("Develop", "", "likely"),
        ("Run the demo", "", "unknown"),
        ("Train and evaluate it", "", "likely"),
        ("Evaluate trained models", "", "unknown"),
        ("Deploy", "```bash\npython train.py\n```\n", "needed"),
    ],
)
def test_a_heading_outweighs_what_is_installed(tmp_path: Path, title: str, more: str, verdict: str) -> None:
    """What the page itself runs in the container says more than its headings."""
    page = f"## {title}\n```bash\n{SHELL} bash\n```\n{more}"
    assert need(tmp_path, {"README.md": page, "train.py": LOADER}).verdict == verdict


@table(
    "first, second, verdict",
    [
        ("## Run the demo\n{run}python show.py\n", "## Training\n", "unknown"),
        ("## Run the demo\n{run}```\n```bash\npython show.py\n", "## Training\n", "unknown"),
        ("## Run the demo\n{run}python show.py\n", "", "needed"),
        ("## Run the demo\n{run}", "## Training\n", "needed"),
        ("## Run it\n{run}python show.py\n", "## Training\n", "needed"),
    ],
)
def test_a_page_goes_on_elsewhere_after_what_a_container_is_used_for(
    tmp_path: Path, first: str, second: str, verdict: str
) -> None:
    page = first.replace("{run}", "```bash\ndocker run --gpus all -it own/app\n")
    page = f"# App\n\n{page}```\n\n{second}```bash\nmpirun -n 2 python fit.py\n```\n"
    assert need(tmp_path, {"README.md": page, "show.py": "import x\n"}).verdict == verdict


@table(
    "title, more, verdict",
    [
        ("# Deploying it", "```bash\npython export.py\n```\n", "unknown"),
        ("# Deploying it\n## Servers", "```bash\npython export.py\n```\n", "unknown"),
        ("# Inference with it", "```bash\ntorchserve --start\n```\n", "unknown"),
        ("# Training and inference", "```bash\ntorchserve --start\n```\n", "likely"),
        ("# It", "```bash\ntorchserve --start\n```\n", "likely"),
        ("# Training and deploying", "```bash\npython export.py\n```\n", "likely"),
        ("# Deploying it\n# Develop", "```bash\npython export.py\n```\n", "likely"),
        ("# Deploying it", "```bash\npython train.py\n```\n", "needed"),
        ("# Deploying it", "```bash\ntorchrun --nproc_per_node=4 export.py\n```\n", "needed"),
        ("# Deploying it", "", "likely"),
    ],
)
def test_the_title_of_a_page_tells_with_what_it_runs(tmp_path: Path, title: str, more: str, verdict: str) -> None:
    page = f"{title}\n\n### Enter the container\n```bash\n{SHELL} bash\n```\n{more}"
    files = {"README.md": "```\npython fit.py\n```\n", "fit.py": "import x\n", "train.py": LOADER, "export.py": SERVE}
    assert need(tmp_path, {**files, "helper.py": HELPER, "deploy.md": page}, ("deploy.md",)).verdict == verdict


@table(
    "shown, verdict",
    [
        ("## Inference\n```bash\npython ask.py\n```\n", "unknown"),
        ("## Analysis\n### Of boxes\n```bash\npython ask.py\n```\n", "likely"),
        ("## Prediction\n```bash\npython ask.py\n```\n## Visualization\n```bash\npython ask.py a\n```\n", "unknown"),
        ("## Inference\n```bash\npython ask.py\n```\n## Data\n```bash\npython ask.py a\n```\n", "likely"),
        ("## Inference\n```bash\npython ask.py\n```\n## Train it\nSee the guide.\n", "likely"),
        ("## Inference\nSee the guide.\n", "likely"),
    ],
)
def test_the_headings_over_all_that_a_page_runs_tell_what_a_shell_is_for(
    tmp_path: Path, shown: str, verdict: str
) -> None:
    page = f"# Net\n## Set up\n```bash\n{SHELL} bash\n```\n{shown}"
    files = {"nets/README.md": page, "ask.py": "import unheard_of\n", "train.py": LOADER}
    assert need(tmp_path, files, ("nets/README.md",)).verdict == verdict


@table(
    "before, installs, shown, verdict",
    [
        ("", "torch", "## Inference\n```\npython ask.py\n```\n", "unknown"),
        ("## How it was trained\nFor long.\n![loss](a.png)\n", "torch", "## Inference\n```\npython ask.py\n```\n",
         "unknown"),
        ("", "torch", "## 离线推理\n```\npython ask.py\n```\n", "unknown"),
        ("", "torch", "## 推論\n```\npython ask.py\n```\n## 学習\n", "likely"),
        ("## Training\n```\npython lost.py\n```\n", "torch", "## Inference\n```\npython ask.py\n```\n", "likely"),
        ("## Training\n[Here](a.md)\n", "torch", "## Inference\n```\npython ask.py\n```\n", "likely"),
        ("", "torch", "## Use\n```\npython ask.py\n```\n", "likely"),
        # A server that the image has not is for the other one of the page.
        ("", "torch", "## Inference\n```\nvllm serve a -tp 4\n```\n", "likely"),
        ("", "torch", "## Inference\n```\npython ask.py\npython -m vllm.entrypoints.openai.api_server -tp 4\n```\n",
         "unknown"),
        ("", "torch", "## Inference\n```\npython ask.py\npip install vllm\nvllm serve a -tp 4\n```\n", "needed"),
        ("", "torch vllm", "## Inference\n```\npython ask.py\nvllm serve a -tp 4\n```\n", "needed"),
    ],
)  # fmt: skip
def test_a_page_with_two_images_that_only_uses_models(
    tmp_path: Path, before: str, installs: str, shown: str, verdict: str
) -> None:
    start = "docker build -t {0} {1}.\ndocker run --gpus all -it -v /my/code:/app {0} bash\n"
    starts = start.format("one", "") + start.format("other", "-f Dockerfile.other ")
    files = {"README.md": f"# Net\n{before}## Set up\n```\n{starts}```\n{shown}", "ask.py": "import unheard_of\n"}
    base = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install "
    files |= {"Dockerfile": f"{base}{installs}\n", "Dockerfile.other": f"{base}vllm\n"}
    assert need(tmp_path, files).verdict == verdict


def test_a_server_that_a_page_starts_tells_more_than_its_heading(tmp_path: Path) -> None:
    start = "docker build -t one .\ndocker run --gpus all -it one bash\n"
    page = f"# Net\n## Set up\n```\n{start}```\n## Inference\n```\nvllm serve a -tp $n\n```\n"
    files = {"README.md": page, "Dockerfile": "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install vllm\n"}
    assert need(tmp_path, files).verdict == "likely"


@table(
    "page, verdict",
    [
        ("# App\n## Run training\n```bash\n{run}\n```\n", "likely"),
        ("# Fine-tuning #\n\nText.\n```bash\n# Start it\n{run}\n```\n", "likely"),
        ("# Training\n## Inference\n```bash\n{run}\n```\n", "unknown"),
        ("# App\n```bash\n# Train\n{run}\n```\n## Training\n", "unknown"),
        ("# Constraints\n```bash\n{run}\n```\n", "unknown"),
        ("# Training\n```bash\n{run} ./serve\n```\n", "unknown"),
        ("# Train with TensorFlow\n```bash\n{run}\n```\n", "unknown"),
        ("# Train it\n```bash\n{run}-keras\n```\n", "unknown"),
        ("# Train with TensorFlow or PyTorch\n```bash\n{run}\n```\n", "likely"),
        ("# Train it\n```bash\n{run}-tfold\n```\n", "likely"),
    ],
)
def test_a_heading_says_what_a_container_is_for(tmp_path: Path, page: str, verdict: str) -> None:
    run = "docker run --gpus all -it own/app"
    assert need(tmp_path, {"README.md": page.replace("{run}", run)}).verdict == verdict


@table(
    "name, page",
    [
        ("README.md", "# App\n\n## {about}\n\n```sh\n{run}\n```\n"),
        ("README.markdown", "# App\n\n## {about}\n\n```sh\n{run}\n```\n"),
        ("README.md", "App\n===\n\n{about}\n---------\n\n```sh\n{run}\n```\n"),
        ("README.rst", "App\n===\n\n{about}\n---------\n\n.. code-block:: sh\n\n   {run}\n"),
        ("README.rst", "=========\n{about}\n=========\n\nStart::\n\n    {run}\n"),
    ],
)
def test_a_heading_says_the_same_however_it_is_written(tmp_path: Path, name: str, page: str) -> None:
    for about, verdict in (("Inference", "unknown"), ("Training", "likely")):
        files = {name: page.format(about=about, run="docker run --gpus all -it own/app")}
        assert need(tmp_path, files).verdict == verdict


def test_documentation_does_not_change_what_an_image_of_its_own_is(tmp_path: Path) -> None:
    files = {"compose.yaml": f"services:\n  app:\n    image: ollama/ollama\n    {GPUS}\n", "train.py": LOADER}
    for page in ("python train.py", "torchrun --nproc_per_node=8 train.py", "tool check samples/training"):
        assert need(tmp_path, {**files, "README.md": f"```\n{page}\n```\n"}).verdict == "not-needed"


@table(
    "image, readme, verdict",
    [
        ("ubuntu", "```\npython train.py\n```", "unknown"),
        ("docker.io/library/perl:5", "```\npython train.py\n```", "unknown"),
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", "```\npython train.py\n```", "unknown"),
        ("-v $PWD:/w ubuntu", "```\npython train.py\n```", "likely"),
        ("me/ubuntu", "```\npython train.py\n```", "likely"),
        ("ubuntu", "```\nsh run.sh\npython train.py\n```", "unknown"),
        ("perl", "```\ntorchrun --nproc_per_node=4 train.py\n```", "unknown"),
        ("-v $PWD:/w perl", "```\ntorchrun --nproc_per_node=4 train.py\n```", "likely"),
        ("me/image", "```\ntorchrun --nproc_per_node=4 train.py\n```", "likely"),
        ("me/image", "Keras\n```\npython acoustic.py train\n```", "unknown"),
        ("me/image", "TensorFlow with `tf.distribute`\n```\npython acoustic.py train\n```", "likely"),
        ("me/image", "Keras and Horovod\n```\npython acoustic.py train\n```", "likely"),
        ("me/image", "Kaldi\n```\npython acoustic.py train\n```", "unknown"),
        ("me/image", "Kaldi, words.json\n```\npython acoustic.py train\n```", "unknown"),
        ("me/image", "Kaldi, config.json\n```\npython acoustic.py train\n```", "likely"),
        ("me/image", "Kaldi, requirements.txt\n```\npython acoustic.py train\n```", "likely"),
        ("me/image", "Kaldi\n```\npython lost.py train\n```", "likely"),
        ("me/image", "PyTorch\n```\npython acoustic.py train\n```", "likely"),
    ],
)
def test_training_of_a_page_needs_its_code_and_a_framework(
    tmp_path: Path, image: str, readme: str, verdict: str
) -> None:
    files = {"ci/run.sh": f"docker run --gpus all -it {image} bash\n", "README.md": f"{readme}\n"}
    files["acoustic.py"] = "import acoustics\nacoustics.main()\n"
    for name in ("words.json", "config.json", "requirements.txt"):
        (tmp_path / name).unlink(missing_ok=True)
        files |= {name: "accelerate\nlightning\n"} if name in readme else {}
    if "train.py" in readme:
        files["train.py"] = "from torch.utils.data import DataLoader\nDataLoader(d, num_workers=4)\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "page, shown, verdict",
    [
        ("fast/README.md", "make -j8\n./detector show a.cfg", "unknown"),
        ("fast/README.md", "make -j8\n./detector train a.cfg", "likely"),
        ("fast/README.md", "make -j8", "likely"),
        ("fast/README.md", "./configure", "likely"),
        ("fast/README.md", "./detector show a.cfg\npython train.py", "needed"),
        ("docker/README.md", "make -j8\n./detector show a.cfg", "needed"),
        ("README.md", "./detector show a.cfg\npython train.py", "needed"),
    ],
)
def test_the_page_of_a_part_tells_what_its_container_is_for(
    tmp_path: Path, page: str, shown: str, verdict: str
) -> None:
    files = {"README.md": "# Birds\n\n```\npython train.py\n```\n", "train.py": "import unheard_of\n"}
    start = f"nvidia-docker run -it -v your_code/:/code {NGC}"
    files[page] = f"# Fast\n\n```\ngit clone https://example.org/fast\n{start}\n{shown}\n```\n"
    for old in ("fast", "docker"):
        shutil.rmtree(tmp_path / old, ignore_errors=True)
    assert need(tmp_path, files, (page,)).verdict == verdict


@table(
    "place, shown, verdict",
    [
        ("slow", "python train.py", "unknown"),
        ("slow", "python paint.py", "likely"),  # what trains is told further up
        (".", "python train.py", "likely"),
    ],
)
def test_the_page_of_a_part_that_trains_tells_all_of_it(
    tmp_path: Path, place: str, shown: str, verdict: str
) -> None:
    files = {"README.md": "# All\n\n```\npython train_more.py --workers 8\n```\n"}
    files["train_more.py"] = (
        "import sys\nfrom torch.utils.data import DataLoader\nfrom torchvision.transforms import RandomCrop\n"
        "DataLoader(d(RandomCrop(512)), batch_size=64, num_workers=8)\n"
    )
    files |= {"slow/README.md": f"# Slow\n\n```\n{shown}\n```\n", "slow/paint.py": "print(1)\n"}
    files["slow/train.py"] = "import torch\ntorch.rand(3).sum().backward()\n"
    path = f"{place}/start.sh" if place != "." else "start.sh"
    files[path] = "docker build -t birds .\ndocker run --gpus all -it -v $PWD:/w -w /w birds bash\n"
    files[f"{place}/Dockerfile"] = "FROM nvidia/cuda:12.2.0-base-ubuntu22.04\nRUN pip install torch torchvision\n"
    for old in ("start.sh", "Dockerfile", "slow/start.sh", "slow/Dockerfile"):
        (tmp_path / old).unlink(missing_ok=True)
    assert need(tmp_path, files, (path,)).verdict == verdict


SMALL = """import argparse, yaml
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
parser = argparse.ArgumentParser()
parser.add_argument("--config"{})
settings = yaml.safe_load(open(parser.parse_args().config))
DataLoader(datasets.MNIST("d", transform=transforms.ToTensor()), batch_size=settings["batch"], num_workers=4)
"""


@table(
    "declared, verdict",
    [("", "unknown"), (", required=True", "unknown"), (", default='large.yaml'", "likely")],
)
def test_a_documented_program_with_a_file_of_settings(tmp_path: Path, declared: str, verdict: str) -> None:
    """Where it has none of its own, what is documented is how it is run."""
    shown = "docker build -t own .\ndocker run --gpus all -itd -v $PWD:/w -w /w own\ndocker exec -it own bash\n"
    page = f"# Digits\n\n```\n{shown}```\n\n```\npython train.py --config small.yaml\n```\n"
    files = {"README.md": page, "train.py": SMALL.format(declared), "Dockerfile": "FROM pytorch/pytorch\n"}
    files |= {"small.yaml": "batch: 8\n", "large.yaml": "batch: 80000\n"}
    assert need(tmp_path, files).verdict == verdict


@table("first, verdict", [("", "needed"), ("#!/bin/bash\n#SBATCH --nodes=2\n", "likely")])
def test_a_batch_script_in_a_page_runs_in_no_container(tmp_path: Path, first: str, verdict: str) -> None:
    page = f"```bash\n{SHELL} bash\n```\n\n```bash\n{first}torchrun --nproc_per_node=4 train.py\n```\n"
    assert need(tmp_path, {"README.md": page, "train.py": "import torch\n"}).verdict == verdict


@table(
    "shown, verdict",
    [
        ("# Train it\ntorchrun --nproc_per_node=4 train.py", "needed"),
        ("CUDA_VISIBLE_DEVICES=0,1 python -m torch.distributed.run --nproc_per_node=2 train.py", "needed"),
        ("$ accelerate launch --num_processes 2 train.py", "needed"),
        ("import torchrun\ntorchrun --nproc_per_node=4 train.py", "likely"),
        ("python = 3\ntorchrun --nproc_per_node=4 train.py", "likely"),
        ("sh.run('a')\ntorchrun --nproc_per_node=4 train.py", "likely"),
    ],
)
def test_commands_in_a_block_that_is_called_python(tmp_path: Path, shown: str, verdict: str) -> None:
    page = f"```bash\n{SHELL} bash\n```\n\n```python\n{shown}\n```\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


def test_a_workload_of_the_documentation_is_shown_where_it_stands(tmp_path: Path) -> None:
    run = f"{SHELL.replace(PYTORCH, 'own/app')} bash"
    page = f"```bash\n{run}\n./setup.sh\n```\n"
    found = need(tmp_path, {"README.md": page, "setup.sh": "pip install vllm\nvllm serve $MODEL\n"})
    assert [(e.text, e.span.path, e.span.line) for e in found.evidence if e.span] == [("vLLM", "setup.sh", 2)]


@table(
    "workdir, shown, verdict",
    [
        ("/app/tool", "python ./tool/pkg/fit.py", "unknown"),
        ("/app/tool", "python tool/pkg/load.py", "likely"),
        ("/app/tool", "./tool/pkg/train.py", "unknown"),
        ("/app/tool", "./other/pkg/train.py", "likely"),
        ("/app", "./tool/pkg/train.py", "likely"),
    ],
)
def test_a_page_runs_programs_from_the_directory_above(tmp_path: Path, workdir: str, shown: str, verdict: str) -> None:
    start = "docker build -t tool .\ndocker run --gpus all -it tool bash\n"
    files = {"README.md": f"# Tool\n\n```bash\n{start}```\n\n```bash\n{shown}\n```\n"}
    files["Dockerfile"] = f"FROM ubuntu\nWORKDIR {workdir}\nCOPY . .\nRUN pip install torch\n"
    alone = f"{WITH_LOADER}DataLoader(d, batch_size=4)\n"
    files |= {"pkg/fit.py": alone, "pkg/train.py": alone, "pkg/load.py": alone.replace(")", ", num_workers=4)")}
    assert need(tmp_path, files).verdict == verdict


BOX = "```\nnvidia-docker run -it -v $PWD:/app own/box bash\n```\n\n```\npython3 train.py <config>\n```\n"


@table(
    "code, more, verdict",
    [
        ("from keras.models import Model\n", {}, "unknown"),
        ("import tensorflow as tf\n", {"NOTES.md": "The images of LINEMOD, as PyTorch has them.\n"}, "unknown"),
        # A page may train with the program of another repository as well.
        ("import keras\n", {"README.md": f"{BOX}```\nkeras_boxes/bin/train.py csv\n```\n"}, "unknown"),
        ("import keras\n", {"README.md": f"{BOX}```\nboxes/bin/train.py csv\n```\n"}, "likely"),
        # Another program, or a launcher, may use more.
        ("import tensorflow as tf\n", {"other.py": "import torch\n"}, "likely"),
        ("import tensorflow as tf\nscope = tf.distribute.MirroredStrategy().scope()\n", {}, "likely"),
        ("import tensorflow as tf\n", {"run.sh": "horovodrun -np 2 python train.py\n"}, "likely"),
        ("import unheard_of\n", {}, "likely"),
    ],
)
def test_a_page_that_trains_with_tensorflow(tmp_path: Path, code: str, more: dict[str, str], verdict: str) -> None:
    docker = "FROM nvcr.io/nvidia/tensorflow:20.10-tf1-py3\nRUN pip install nvidia-tensorflow[horovod]\n"
    files = {"README.md": BOX, "docker/Dockerfile": docker, "train.py": code + "import unheard_of\n"}
    for old in ("NOTES.md", "other.py", "run.sh"):
        (tmp_path / old).unlink(missing_ok=True)
    assert need(tmp_path, {**files, **more}).verdict == verdict


@table(
    "page, verdict",
    [
        ("1. Train:\n`python train.py`\n", "needed"),
        ("- `N=1 python train.py --epochs 3`  \n", "needed"),
        ("## Train\n`bash go.sh now`", "needed"),
        ("```\ncd part\n```\nthen\n```\npython fit.py\n```\n", "needed"),
        ("```\ncd /app/part\npython fit.py\n```\n", "needed"),
        ("```\ncd other\npython fit.py\n```\n", "likely"),
        # in a sentence it may say something else, and so may code in which it stands
        ("The script `python train.py` is for later.\n", "likely"),
        ("All we need is to run `python train.py` to start.\n", "needed"),
        ("Never forget to run `make`. `python train.py` is for later.\n", "likely"),
        ("Enter it, then `bash go.sh`.\n", "needed"),
        ("To begin, execute `torchrun --nproc_per_node=4 train.py`.\n", "needed"),
        ("Start `accelerate launch train.py` and wait.\n", "needed"),
        ("You can run `torchrun`, or `deepspeed`.\n", "likely"),
        ("See `torchrun --nproc_per_node=4 train.py` for more.\n", "likely"),
        ("\n\npython train.py --epochs 3\n\nThen wait.\n", "needed"),
        ("\n\npython3 -m train\n", "needed"),
        ("\n\npython train.py is for later.\n", "likely"),
        ("\n\nIt starts:\npython train.py\n", "likely"),
        ("```yaml\n`python train.py`\n```\n", "likely"),
        ("`train.py`\n", "likely"),
    ],
)
def test_commands_of_a_page_outside_of_blocks_and_in_directories(tmp_path: Path, page: str, verdict: str) -> None:
    start = f"```\ndocker run -it --gpus all -v .:/app -w /app {PYTORCH} bash\n```\n"
    files = {"README.md": start + page, "train.py": LOADER, "part/fit.py": LOADER, "go.sh": "python train.py\n"}
    files |= {"other/fit.py": "print(1)\n", "last/fit.py": "print(1)\n"}
    assert need(tmp_path, files).verdict == verdict


MAKEFILE = """build:
\tdocker build -t app .

shell: build
\tdocker run -it --gpus all -v .:/app app bash
"""


@table(
    "path, recipes, page, verdict",
    [
        ("Makefile", MAKEFILE, "make build\nmake shell GPU=0\npython train.py", "needed"),
        ("docker/Makefile", MAKEFILE, "make -C docker shell\npython train.py", "needed"),
        ("docker/Makefile", MAKEFILE, "cd docker\nmake shell\npython train.py", "needed"),
        ("justfile", MAKEFILE.replace("shell:", "@shell gpus='all':").replace("\t", "    "),
         "just shell\npython train.py", "needed"),
        # Another target or Makefile; what comes before it, or after one that is detached, may be for the host.
        ("Makefile", MAKEFILE, "make build\npython train.py", "likely"),
        ("docker/Makefile", MAKEFILE, "make shell\npython train.py", "likely"),
        ("Makefile", MAKEFILE, "python train.py\nmake shell", "likely"),
        ("Makefile", MAKEFILE.replace("-it ", "-itd "), "make shell\npython train.py", "likely"),
    ],
)
def test_a_page_that_makes_a_shell(tmp_path: Path, path: str, recipes: str, page: str, verdict: str) -> None:
    build = f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"
    recipes = recipes.replace(" .\n", " ..\n" if "/" in path else " .\n")
    files = {path: recipes, "Dockerfile": build, "train.py": LOADER, "README.md": f"```\n{page}\n```\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "header, targets",
    [
        ("shell:", ("shell",)), ("a shell: build | data", ("a", "shell")), ("shell *args:", ("shell",)),
        ("@shell:", ("shell",)), ("SHELL := bash", ()), ("all", ()), ("a b" * 20_000, ()), ("a " * 20_000 + ":=", ()),
    ],
)  # fmt: skip
def test_the_targets_of_a_recipe(header: str, targets: tuple[str, ...]) -> None:
    text = f"{header}\n\tdocker run a\n"
    begin = process_time()
    assert _targets_at(Source("Makefile", text), text.index("docker")) == frozenset(targets)
    assert process_time() - begin < 1


@table(
    "title, verdict",
    [
        ("Training", "needed"), ("Without Docker Compose", "needed"), ("Without docker", "likely"),
        ("Outside of the container", "likely"), ("Install\n### Without Docker", "likely"),
        ("Without Docker\n### Training", "likely"), ("Without Docker\n```\nsudo a\n```\n## Training", "needed"),
    ],
)
def test_a_section_that_is_not_for_the_container(tmp_path: Path, title: str, verdict: str) -> None:
    page = f"# App\n## Docker\n```\ndocker run -it --gpus all -v .:/app app bash\n```\n## {title}\n"
    build = f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"
    files = {"Dockerfile": build, "train.py": LOADER, "README.md": f"{page}```\npython train.py\n```\n"}
    assert need(tmp_path, {**files, "build.sh": "docker build -t app .\n"}).verdict == verdict


@table(
    "command, verdicts",
    [
        ("docker compose exec a {run}", ["needed", "likely"]),
        ("docker compose --progress plain exec -itu root a {run}", ["needed", "likely"]),
        ("winpty docker-compose exec b {run}", ["likely", "needed"]),
        ("sudo -E podman compose run --pull always b {run}", ["likely", "needed"]),
        ("docker compose exec other {run}", ["likely", "likely"]),
    ],
)
def test_a_page_names_the_service_in_which_it_runs_something(
    tmp_path: Path, command: str, verdicts: list[str]
) -> None:
    service = f"image: {PYTORCH}\n    command: sleep infinity\n    {GPUS}\n"
    page = f"```sh\n{command.format(run='torchrun --nproc_per_node=8 train.py')}\n```\n"
    files = {"compose.yaml": f"services:\n  a:\n    {service}  b:\n    {service}", "README.md": page}
    result = run(tmp_path, files)
    assert [result.need(launch).verdict for launch in result.launches] == verdicts


@table("name", ["README.md", "readme.markdown", "README.rst", "Readme.mdx", "README.qmd", "readme.Rmd"])
def test_a_page_says_the_same_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    shown = "docker compose exec app torchrun --nproc_per_node=8 train.py"
    page = f".. code-block:: sh\n\n   {shown}\n" if name.endswith("rst") else f"```sh\n{shown}\n```\n"
    assert need(tmp_path, {"compose.yaml": compose("bash", "    tty: true\n"), name: page}).verdict == "needed"


@table(
    "inside, verdict",
    [
        # What a script runs in its container may only prepare it.
        ("", "needed"), ("sh docker/set_up.sh", "needed"), ("python serve.py", "needed"),
        ("python train_small.py", "likely"),
    ],
)
def test_a_page_trains_in_a_container_that_a_script_starts_and_prepares(
    tmp_path: Path, inside: str, verdict: str
) -> None:
    start = f"docker run -dit --gpus all -v $PWD:/app -w /app --name box {NGC}\n"
    files = {"docker/start.sh": start + (f"docker exec -d box {inside}\n" if inside else "")}
    files |= {"docker/set_up.sh": "other-daemon\n", "serve.py": "print(1)\n", "train_small.py": "print(1)\n"}
    shown = "sh docker/start.sh\ndocker attach box\npython train.py"
    files |= {"README.md": f"# Fit\n\n```sh\n{shown}\n```\n", "train.py": LOADER}
    assert need(tmp_path, files, ("docker/start.sh",)).verdict == verdict
