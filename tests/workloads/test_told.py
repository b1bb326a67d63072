"""What the repository says of /dev/shm elsewhere."""

from __future__ import annotations

from pathlib import Path
from time import process_time

from shmlint.model.source import Source
from shmlint.workloads.repository import Repository
from shmlint.workloads.told import shows_training
from tests.table import table
from tests.workloads.cases import GPUS, HALF, NGC, PYTORCH, SHELL, compose, need

SIZED = f"docker run -it --gpus all --shm-size=16g -v $PWD:/app -w /app {PYTORCH} bash\n"
PAGE = f"```bash\n{SHELL} bash\n```\n\n```bash\npython train.py\n```\n"
NGC_NOTE = """
Note: "if you use Torch multiprocessing for multi-threaded data loaders, the default shared memory
segment may not be enough. Therefore, you should increase the size by issuing ..." `--shm-size=`.
"""
HAS_SOME = PAGE.replace("--gpus", "--shm-size=256m --gpus")
SERVICE = f"```yaml\nservices:\n  app:\n    image: {PYTORCH}\n    command: bash\n    {GPUS}\n```\n"
UNREAD = PAGE.replace("train.py", "tune.py")
OF_HOST = SIZED.replace("--shm-size=16g", "--ipc=host")


@table(
    "files, verdict",
    [
        ({"README.md": PAGE, "start.sh": SIZED}, "needed"),
        # The host's is a habit, where batches may be small; a size is chosen.
        ({"README.md": PAGE, "start.sh": OF_HOST}, "likely"),
        ({"README.md": PAGE, "start.sh": SIZED.replace("16g", "64m")}, "likely"),
        # Of a shell only its environment tells: a size elsewhere is for something else, perhaps.
        ({"README.md": UNREAD, "start.sh": SIZED}, "likely"),
        ({"README.md": UNREAD, "start.sh": OF_HOST}, "likely"),
        ({"README.md": UNREAD.replace(".py", ".py --num_workers 0"), "start.sh": OF_HOST}, "likely"),
        ({"README.md": UNREAD.replace(".py", ".py --num_workers 0"), "start.sh": SIZED}, "likely"),
        ({"README.md": UNREAD.replace("tune.py", "tune.py --num_workers=0\npython train.py --num_workers=4"),
          "start.sh": OF_HOST}, "needed"),
        ({"README.md": UNREAD.replace("tune.py", "tune.py --num_workers=0\ntorchrun --nproc_per_node=4 train.py"),
          "start.sh": OF_HOST}, "needed"),
        # A look at the image is another use of it.
        ({"README.md": PAGE.replace("-v $PWD:/app -w /app ", ""), "start.sh": SIZED}, "likely"),
        # What has as much itself is told nothing by it.
        ({"README.md": HAS_SOME, "start.sh": SIZED.replace("16g", "256m")}, "likely"),
        ({"README.md": HAS_SOME, "start.sh": SIZED}, "needed"),
        # Where a page starts it mostly without, a size is an example.
        ({"README.md": PAGE, "NOTES.md": f"{PAGE}{PAGE}```bash\n{SIZED}```\n"}, "likely"),
        ({"README.md": PAGE, "NOTES.md": f"{PAGE}```bash\n{SIZED}```\n"}, "needed"),
        ({"README.md": f"{PAGE}{PAGE}```bash\n{SIZED}```\n"}, "likely"),
        ({"README.md": f"{PAGE}{PAGE}", "start.sh": SIZED}, "needed"),
        # A page shows one service in several ways.
        ({"README.md": SERVICE + SERVICE.replace("    deploy:", "    shm_size: 16g\n    deploy:")}, "needed"),
        ({"README.md": SERVICE + SERVICE.replace("  app:", "  other:\n    shm_size: 16g")}, "likely"),
        ({"README.md": PAGE, "start.sh": SIZED.replace(PYTORCH, "other/image")}, "likely"),
        # Docker Hub and a mirror of it have the same image.
        ({"README.md": PAGE.replace(PYTORCH, f"index.docker.io/{PYTORCH}"), "start.sh": SIZED}, "needed"),
        ({"README.md": PAGE, "start.sh": SIZED.replace(PYTORCH, f"mirror.gcr.io/{PYTORCH}")}, "needed"),
        ({"README.md": PAGE, "start.sh": SIZED.replace(" bash\n", " python serve.py\n")}, "likely"),
        ({"README.md": f"{PAGE}Training needs more memory in the container: set `--shm-size`.\n"}, "needed"),
        ({"README.markdown": f"{PAGE}Training needs more memory in the container: set `--shm-size`.\n"}, "needed"),
        ({"README.md": PAGE, "NOTES.markdown": f"{PAGE}```bash\n{SIZED}```\n"}, "needed"),
        ({"README.md": f"{PAGE}If workers crash you may need to increase `--shm-size`.\n"}, "likely"),
        ({"README.md": f"{PAGE}You do not need `--shm-size`, which must be set elsewhere: it isn't used.\n"}, "likely"),
        ({"README.md": f"{PAGE}The kernel needs shared memory of the GPU.\n"}, "likely"),
        # A sentence may have several lines, and what stands before it may be its condition.
        ({"README.md": f"{PAGE}To train, the memory that is shared must be\nincreased with `--shm-size`.\n"}, "needed"),
        ({"README.md": f"{PAGE}Workers may crash. Then increase `--shm-size`.\n"}, "likely"),
        ({"README.md": f"{PAGE}Workers may crash.\n\n- Increase `--shm-size`.\n"}, "needed"),
        ({"README.md": f"{PAGE}训练需要增大 `--shm-size`。\n"}, "needed"),
        ({"README.md": f"{PAGE}如果出错，可以增大 `--shm-size`。\n"}, "likely"),
        # The note of NVIDIA and PyTorch: the programs here have DataLoader workers.
        ({"README.md": PAGE + NGC_NOTE}, "needed"),
        ({"README.md": PAGE + NGC_NOTE, "train.py": HALF.replace("=args.workers", "=0")}, "not-needed"),
        ({"README.md": PAGE + NGC_NOTE.replace("increase", "perhaps, as it may help, increase")}, "likely"),
    ],
)
def test_what_the_repository_says_elsewhere(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    assert need(tmp_path, {"train.py": HALF, **files}).verdict == verdict


@table(
    "command, verdict",
    [
        ("bash -ic 'cd /w; pip install -e .; jupyter notebook'", "likely"),
        ("bash -c 'cd /w && python prepare.py; bash'", "unknown"),
        ("python serve.py", "unknown"),
    ],
)
def test_a_notebook_that_is_prepared_is_the_same_container_as_a_shell(
    tmp_path: Path, command: str, verdict: str
) -> None:
    files = {"run.sh": "docker run -it --gpus all own/app bash\n"}
    assert need(tmp_path, {**files, "other.sh": f"docker run --shm-size=8g own/app {command}\n"}).verdict == verdict


@table(
    "size, workers, verdict",
    [
        ("--shm-size=16g", 0, "likely"), ("--ipc=host", 0, "likely"), ("--shm-size=16g", 4, "needed"),
        ("--ipc=host", 4, "likely"),
    ],
)  # fmt: skip
def test_what_is_given_elsewhere_says_less_than_code_without_workers(
    tmp_path: Path, size: str, workers: int, verdict: str
) -> None:
    code = "import argparse, json, torch, unheard_of\nfrom torch.utils.data import DataLoader\n"
    code += "parser = argparse.ArgumentParser()\nparser.add_argument('--config', default='many.json')\n"
    code += "with open(parser.parse_args().config) as file:\n    config = json.load(file)\n"
    code += "DataLoader(d, num_workers=config['num_workers'])\n"
    run = "docker run -it --gpus all {} -v $PWD:/app -w /app radar\n"
    page = f"# Radar\n\n```bash\ndocker build -t radar docker\n{run.format('')}python train.py --config few.json\n```\n"
    files = {"README.md": page, "train.py": code, "start.sh": run.format(size)}
    files |= {"many.json": '{"num_workers": 8}', "few.json": f'{{"num_workers": {workers}}}'}
    files["docker/Dockerfile"] = "FROM nvidia/cuda:12.2.0-base-ubuntu22.04\nRUN pip install torch\n"
    assert need(tmp_path, files, ("README.md",)).verdict == verdict


BUILT = {"Dockerfile": "FROM own/base\nRUN pip install torch\n", "serve/Dockerfile": "FROM own/base\nCMD serve\n"}
RUN = "docker run -it --gpus all own/app bash\n"


@table(
    "files, given",
    [
        ({"run.sh": f"docker build -t own/app .\n{RUN}", "serve.sh": "docker build -t own/app serve\n"}, False),
        ({"run.sh": f"docker build -t own/app .\n{RUN}", "serve.sh": "docker build -t own/app .\n"}, True),
        ({"run.sh": f"docker build -t own/app .\n{RUN}", "serve.sh": "docker build -t $TAG -t own/app .\n"}, True),
        ({"compose.yaml": f"services:\n  dev:\n    build: .\n    command: bash\n    {GPUS}\n"}, False),
        (
            {
                "compose.yaml": f"services:\n  dev:\n    build: .\n    command: bash\n    {GPUS}\n",
                "serve.sh": "docker build -t own/app serve\ndocker build -t own/app .\n",
            },
            True,
        ),
    ],
)
def test_the_same_container_is_built_from_the_same_file(
    tmp_path: Path, files: dict[str, str], given: bool
) -> None:
    sized = {"serve.sh": files.get("serve.sh", "") + RUN.replace("--gpus", "--shm-size=8g --gpus")}
    assert need(tmp_path, {**BUILT, **files, **sized}).given == given


@table("size, advised", [("512m", 8), ("1g", 1), ("2g", 2), ("16g", 16)])
def test_what_the_repository_gives_says_more_for_batches_of_unknown_size(
    tmp_path: Path, size: str, advised: int
) -> None:
    code = "from torch.utils.data import DataLoader\nDataLoader(data(), batch_size=8, num_workers=4)\n"
    start = "docker build -t own/app .\ndocker run --gpus all {} own/app python fit.py\n"
    files = {"Dockerfile": "FROM own/base\nCOPY fit.py .\n", "fit.py": code, "run.sh": start.format("--rm")}
    files["other.sh"] = start.format(f"--shm-size={size}")
    found = need(tmp_path, files, ("run.sh",))
    assert (found.recommended, found.given) == (advised << 30, size != "512m")


@table("size, advised", [("512m", 8), ("2g", 2), ("16g", 16)])
def test_what_the_repository_gives_says_more_than_our_choice(tmp_path: Path, size: str, advised: int) -> None:
    files = {**BUILT, "run.sh": f"docker build -t own/app .\n{RUN}", "start.sh": "docker build -t own/app .\n"}
    files["start.sh"] += RUN.replace("--gpus", f"--shm-size={size} --gpus")
    assert need(tmp_path, files, ("run.sh",)).recommended == advised << 30


@table(
    "dockerfile, command, given",
    [
        ("Dockerfile", "bash", True),
        ("prepare/Dockerfile", "bash", False),
        ("prepare/Dockerfile", "", False),
        # What it runs is written in the files, and not in the image.
        ("prepare/Dockerfile", "python work.py", True),
    ],
)
def test_services_of_one_name_that_are_built_from_two_files(
    tmp_path: Path, dockerfile: str, command: str, given: bool
) -> None:
    more = f"    command: {command}\n" * bool(command) + f"    tty: true\n    stdin_open: true\n    {GPUS}\n"
    service = "services:\n  lab:\n    build: {context: ., dockerfile: DOCKERFILE}\n" + more
    files = {
        "compose.prepare.yaml": service.replace("DOCKERFILE", dockerfile),
        "compose.yaml": service.replace("DOCKERFILE", "Dockerfile") + "    shm_size: 16gb\n",
        "Dockerfile": f"FROM {PYTORCH}\nRUN pip install timm\n",
        "prepare/Dockerfile": f"FROM {PYTORCH}\nRUN pip install chainer\n",
    }
    assert need(tmp_path, files, ("compose.prepare.yaml",)).given == given


def test_a_page_means_the_directories_above_itself(tmp_path: Path) -> None:
    """Not those above the launch whose container is looked for: the page builds another image."""
    files = {
        "serve/run.sh": "docker build -t own/server docker\ndocker run -it --gpus all own/server bash\n",
        "serve/docker/Dockerfile": "FROM own/base\nRUN pip install torch\n",
        "docker/Dockerfile": "FROM own/base\nRUN pip install torch torchvision\n",
        "docs/start.md": "```\ndocker build -t app ./docker\ndocker run -it --gpus all --shm-size=8g app bash\n```\n",
    }
    assert not need(tmp_path, files, ("serve/run.sh",)).given
    files["docs/start.md"] = files["docs/start.md"].replace("./docker", "serve/docker")
    assert need(tmp_path, files, ("serve/run.sh",)).given


@table("given, verdict", [("--ipc=host", "likely"), ("--shm-size=16g", "needed"), ("--rm", "likely")])
def test_a_program_that_is_not_understood_and_what_it_is_given_elsewhere(
    tmp_path: Path, given: str, verdict: str
) -> None:
    """A size was chosen for it; the host's /dev/shm is often given out of habit."""
    files = {
        "compose.yaml": compose("python work.py").replace("build: .", "image: own/app"),
        "Dockerfile": f"FROM {NGC}\nCOPY . .\n",
        "work.py": "import torch\nfrom torch.utils.data import DataLoader\nDataLoader(d)\nexec(t)\n",
        "run.sh": f"docker build -t own/app .\ndocker run {given} --gpus all own/app python work.py\n",
    }
    assert need(tmp_path, files, paths=("compose.yaml",)).verdict == verdict


@table(
    "image, given, verdict",
    [
        ("dlandon/zoneminder", "--shm-size=8g", "needed"),
        ("dlandon/zoneminder", "--ipc=host", "likely"),
        ("dlandon/zoneminder", "--rm", "likely"),
        # Nothing runs in it by itself, and the size may be for another use.
        (PYTORCH, "--shm-size=8g", "likely"),
        ("own/app", "--shm-size=8g", "likely"),
    ],
)
def test_an_image_with_a_program_of_its_own_and_what_it_is_given_elsewhere(
    tmp_path: Path, image: str, given: str, verdict: str
) -> None:
    files = {"compose.yaml": f"services:\n  app:\n    image: {image}\n    {GPUS}\n"}
    assert need(tmp_path, {**files, "run.sh": f"docker run -d {given} {image}\n"}).verdict == verdict


@table(
    "gpus, line, verdict",
    [
        ("all", "If you use multiple GPUs, you may need to increase the --shm-size parameter.", "likely"),
        ("2", "With more than one GPU, `--shm-size` must be larger.", "likely"),
        ("1", "If you use multiple GPUs, you may need to increase the --shm-size parameter.", "unknown"),
        ("all", "If you use multiple GPUs, you do not need to increase the --shm-size parameter.", "unknown"),
        ("all", "If requests fail, you may need to increase the --shm-size parameter.", "unknown"),
        ("all", "如果你使用多卡，你也许需要提高上面的 --shm-size 的参数设置。", "likely"),
        ("1", "如果你使用多卡，你也许需要提高上面的 --shm-size 的参数设置。", "unknown"),
        ("all", "If you use multiple GPUs, say so. The size given by `--shm-size` is shown.", "unknown"),
    ],
)
def test_a_page_that_asks_for_it_with_several_gpus(tmp_path: Path, gpus: str, line: str, verdict: str) -> None:
    page = f"```bash\ndocker run -it --gpus {gpus} own/server bash\n```\n\n{line}\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


@table(
    "ranks, line, verdict",
    [
        ("--tp 1", "If you use multiple GPUs, you may need to increase `--shm-size`.", "unknown"),
        ("", "If you use multiple GPUs, you may need to increase `--shm-size`.", "likely"),
        ("--tp 2", "If you use multiple GPUs, you may need to increase `--shm-size`.", "needed"),
        ("--tp 1", "It may need a larger `--shm-size`.", "likely"),
    ],
)
def test_a_page_that_asks_for_it_with_several_gpus_and_runs_one_process(
    tmp_path: Path, ranks: str, line: str, verdict: str
) -> None:
    start = "```bash\ndocker run -it --gpus all ghcr.io/modeltc/lightllm:main bash\n```\n"
    page = f"{start}\n{line}\n\n```bash\npython -m lightllm.server.api_server --model_dir m {ranks}\n```\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


WORKER = "docker run --gpus all own/worker:2 token=X worker.id=Y"
BUS_ERROR = "Bus error\n===\n\nThe docker runtime has not\nenough shared memory. See ``--shm-size``.\n\n"


@table(
    "files, verdict",
    [
        ({"doc/known.rst": f"{BUS_ERROR}.. code-block:: console\n\n    {WORKER}\n"}, "likely"),
        ({"doc/known.rst": f"{BUS_ERROR}.. code-block:: console\n\n    docker run other/worker\n"}, "unknown"),
        ({"doc/known.rst": f"{BUS_ERROR}.. code-block:: console\n\n    docker run own/worker:2-cpu\n"}, "unknown"),
        ({"doc/known.rst": f"{BUS_ERROR}.. code-block:: console\n\n    docker run own/worker:2.\n"}, "likely"),
        ({"doc/known.rst": f"{BUS_ERROR}.. code-block:: console\n\n    docker run docker.io/own/worker:2\n"}, "likely"),
        ({"doc/known.rst": f"{BUS_ERROR}.. code-block:: console\n\n    docker run ghcr.io/own/worker:2\n"}, "unknown"),
        ({"doc/known.rst": f"Nothing.\n\n.. code-block:: console\n\n    {WORKER} --shm-size=1g\n"}, "unknown"),
        ({"doc/known.rst": f"If it has not enough, increase ``--shm-size``.\n\n::\n\n    {WORKER}\n"}, "unknown"),
    ],
)
def test_another_page_about_the_same_image(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    page = {"doc/use/a.rst": f"Start it:\n\n.. code-block:: console\n\n    {WORKER}\n"}
    assert need(tmp_path, {**page, **files}, ("doc/use",)).verdict == verdict


ASKS = "# Train\n\n```\ndocker run {} python fit.py\n```\n\n`--ipc=host` is needed to train with PyTorch.\n"


@table(
    "page, script, verdict",
    [
        (ASKS.format("own/app"), 'docker run --gpus all own/app bash -c "cd /w && $@"', "likely"),
        (ASKS.format("own/app"), "docker run --gpus all own/app", "likely"),
        (ASKS.format("own/other"), "docker run --gpus all own/app", "unknown"),
        (ASKS.format("own/app").replace("is needed", "is not needed"), "docker run --gpus all own/app", "unknown"),
        (ASKS.format("own/app"), "docker run --gpus all own/app nvidia-smi", "not-needed"),
    ],
)
def test_a_page_about_the_image_that_a_script_starts(tmp_path: Path, page: str, script: str, verdict: str) -> None:
    assert need(tmp_path, {"README.md": page, "run.sh": f"{script}\n"}, ("run.sh",)).verdict == verdict


def test_what_may_be_needed_with_several_gpus_makes_no_error(tmp_path: Path) -> None:
    page = f"{PAGE}If you use multiple GPUs, you may need to increase `--shm-size`.\n"
    assert need(tmp_path, {"train.py": HALF, "README.md": page}).verdict == "likely"


def test_the_maintainers_and_the_code_make_sure_together(tmp_path: Path) -> None:
    code = "from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=a.nbytes)\n"
    for image, verdict in (("roboflow/roboflow-inference-server-gpu-parallel", "needed"), ("own/server", "likely")):
        service = f"image: {image}\n    command: python /app/share.py\n    volumes: [.:/app]\n    {GPUS}\n"
        files = {"compose.yaml": f"services:\n  app:\n    {service}", "share.py": code}
        assert need(tmp_path, files).verdict == verdict


@table(
    "page, verdict",
    [
        ("", "likely"),
        ("```bash\npython /w/convert.py --model a.pt\n```\n", "unknown"),
        ("```bash\npython /w/train.py --num_workers 8\n```\n", "needed"),
    ],
)
def test_what_a_page_runs_says_more_than_the_limits_of_a_container(tmp_path: Path, page: str, verdict: str) -> None:
    start = "docker run --gpus all -it --ulimit memlock=-1 --ulimit stack=67108864 own/app"
    assert need(tmp_path, {"README.md": f"```bash\n{start}\n```\n{page}"}).verdict == verdict


@table(
    "image, verdict",
    [("me/caffe-ssd:2", "unknown"), ("me/tensorflow_pytorch", "likely"), ("me/caffeine", "likely"),
     ("tensorflow/tensorflow:2.9.1-gpu", "unknown")],
)  # fmt: skip
def test_the_limits_of_a_container_for_another_framework(tmp_path: Path, image: str, verdict: str) -> None:
    start = f"docker run --gpus all -it --ulimit memlock=-1 --ulimit stack=67108864 {image}"
    assert need(tmp_path, {"README.md": f"```bash\n{start}\n```\n"}).verdict == verdict


@table(
    "code, verdict",
    [
        ("import keras\nkeras.Sequential().fit(x)\n", "unknown"),
        ("import torch\ntorch.load('a').eval()\n", "unknown"),
        ("import keras\nkeras.Sequential().fit(x, workers=4, use_multiprocessing=True)\n", "likely"),
        ("import keras, unheard_of\nkeras.Sequential().fit(x)\n", "likely"),
    ],
)
def test_the_limits_of_a_container_for_code_that_works_in_one_process(tmp_path: Path, code: str, verdict: str) -> None:
    start = 'docker run --gpus all -it --ulimit memlock=-1 --ulimit stack=67108864 own/app "$@"\n'
    assert need(tmp_path, {"run.sh": start, "fit.py": code}).verdict == verdict


@table(
    "code, verdict",
    [
        ("import torch\nprint(torch.load('a'))\n", "unknown"),
        ("import unheard_of\nunheard_of.run()\n", "likely"),
        (HALF, "likely"),
    ],
)
def test_limits_and_the_host_elsewhere_make_no_error_of_a_guess(tmp_path: Path, code: str, verdict: str) -> None:
    limits = "--ulimit memlock=-1 --ulimit stack=67108864"
    start = f'RUN="python tool/infer.py"\n. ./local.env\ndocker run --gpus all {limits} own/app bash -c "$RUN $X"\n'
    other = start.replace("infer", "fit").replace("--gpus", "--ipc=host --gpus")
    assert need(tmp_path, {"a.sh": start, "b.sh": other, "tool/infer.py": code, "tool/fit.py": HALF}).verdict == verdict


@table(
    "build, verdict",
    [
        ("docker build -t detect:$TAG .\n", "needed"),
        # Only its place leads to the Dockerfile, whose packages have PyTorch.
        ("", "likely"),
    ],
)
def test_a_size_elsewhere_makes_no_error_of_a_guess(tmp_path: Path, build: str, verdict: str) -> None:
    run = "docker run -it --gpus all detect:$TAG --config_path cfg/train_it.json --save_dir models\n"
    dockerfile = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nCOPY requirements.txt .\n"
    files = {
        "README.md": f"```\n{build}{run}{run.replace('--gpus', '--shm-size=16g --gpus')}```\n",
        "requirements.txt": "torch\n", "Dockerfile": f"{dockerfile}RUN pip install -r requirements.txt\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_a_size_elsewhere_does_not_make_an_error_of_something_unknown(tmp_path: Path) -> None:
    text = "docker run --gpus all --shm-size=16g own/app\n"
    files = {"a.sh": text.replace(" --shm-size=16g", ""), "b.sh": text}
    assert need(tmp_path, files).verdict == "likely"
    assert need(tmp_path, {**files, "b.sh": text.replace("own/app", "own/app serve")}).verdict == "unknown"
    mounted = {name: line.replace("own/app", "-v $PWD:/w own/app python /w/fit.py") for name, line in files.items()}
    assert need(tmp_path, {**mounted, "fit.py": HALF}).verdict == "needed"
    assert need(tmp_path, {**mounted, "fit.py": HALF, "b.sh": text}).verdict == "likely"
    guessed = {name: line.replace("-v $PWD:/w own/app python /w/", "own/app python ") for name, line in mounted.items()}
    assert need(tmp_path, guessed).verdict == "likely"
    (tmp_path / "fit.py").unlink()
    files = {name: text.replace("own/app", "own/app serve") for name, text in files.items()}
    found = need(tmp_path, files)
    assert (found.verdict, found.recommended) == ("likely", 16 << 30)


@table(
    "section, training",
    [
        ("We had 8 GPUs.", False), ("Run `a`.", True), ("See [it](a.md).", True), ("![it](a.png)", False),
        ("[" * 50_000, False),
    ],
)  # fmt: skip
def test_a_section_about_training(section: str, training: bool) -> None:
    page = f"# Training\n{section}\n# Demo\n"
    repository = Repository(None, "README.md", texts={"README.md": Source("README.md", page)})
    begin = process_time()
    assert shows_training("README.md", len(page), repository) == training
    assert process_time() - begin < 1


@table(
    "path, text",
    [
        ("other.sh", "{start}\n"),
        ("other.zsh", "{start}\n"),
        ("start", "#!/bin/sh\n{start}\n"),
        ("Makefile", "run:\n\t{start}\n"),
        ("justfile", "run:\n    {start}\n"),
        ("Taskfile.yml", "version: '3'\ntasks:\n  run:\n    cmds:\n    - {start}\n"),
        ("start.fish", "{start}\n"),
        ("train.service", "[Service]\nExecStart=/usr/bin/{start}\n"),
        ("a.container", "[Container]\nImage=me/tool:1\nExec=python train.py\nAddDevice=nvidia.com/gpu=all\n{size}\n"),
        ("Jenkinsfile", "node {{\n  sh '{start}'\n}}\n"),
        (".gitlab-ci.yml", "train:\n  script:\n  - {start}\n"),
        (".github/workflows/a.yml", "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: {start}\n"),
        ("docs/use.markdown", "    {start}\n"),
        ("use.rst", "::\n\n    {start}\n"),
    ],
)
def test_a_size_elsewhere_counts_in_every_file_that_starts_containers(tmp_path: Path, path: str, text: str) -> None:
    start = "docker run --gpus all {}me/tool:1 python train.py"
    for option, size, verdict in (("--shm-size=16g ", "ShmSize=16g", "likely"), ("", "", "unknown")):
        files = {"run.sh": start.format(""), path: text.format(start=start.format(option), size=size)}
        assert need(tmp_path, files, ("run.sh",)).verdict == verdict


@table("path, verdict", [("Taskfile.yml", "likely"), ("compose.gpu.yml", "unknown")])
def test_a_size_elsewhere_counts_for_a_service_that_a_task_starts(tmp_path: Path, path: str, verdict: str) -> None:
    service = "services:\n  app:\n    image: me/tool:1\n    command: python train.py\n    gpus: all\n"
    start = "docker run --gpus all --shm-size=16g me/tool:1 python train.py"
    task = f"version: '3'\ntasks:\n  run:\n    cmds:\n    - {start}\n"
    other = service.replace("app:", "other:").replace("gpus", "shm_size: 16g\n    gpus")
    files = {"compose.yaml": service, path: task if path == "Taskfile.yml" else other}
    assert need(tmp_path, files, ("compose.yaml",)).verdict == verdict
