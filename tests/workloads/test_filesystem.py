"""Container paths followed back to files of the repository."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import shmlint
from tests.project import run
from tests.table import table
from tests.workloads.cases import ALONE, DOCKERFILE, GPUS, HELPER, LOADER, PYTORCH, SERVE, compose, need


@table(
    "mount, program, verdict",
    [
        (".:/x", "train.py", "needed"),
        (".:/x", "/x/train.py", "needed"),
        ("$PWD:/x", "train.py", "needed"),
        (".:/y", "train.py", "likely"),
    ],
)  # fmt: skip
def test_a_mount_says_which_program_runs(tmp_path: Path, mount: str, program: str, verdict: str) -> None:
    """An import of which nothing is known may add to what the code does, but takes nothing away."""
    words = f"-v {mount.replace('.:', './:')} -w /x other/image python {program}"
    files = {"train.py": "import unheard_of\n" + LOADER, "run.sh": f"docker run --gpus all {words}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "mount, image, verdict",
    [
        ("/workspace", PYTORCH, "needed"),
        ("/workspace", "nvcr.io/nvidia/pytorch:24.01-py3", "needed"),
        ("/app", "anibali/pytorch:2.0.1-cuda11.8", "needed"),
        ("/home/jovyan", "quay.io/jupyter/pytorch-notebook:cuda12-latest", "needed"),
        ("/app", PYTORCH, "likely"),
        ("/workspace", "somebody/pytorch", "likely"),
        # What is built on it works there, too, unless it says otherwise.
        ("/workspace", f"FROM {PYTORCH}", "needed"),
        ("/workspace/app", f"FROM {PYTORCH}\\nWORKDIR app", "needed"),
        ("/workspace", f"FROM {PYTORCH}\\nWORKDIR /app", "likely"),
        ("/other", f"FROM {PYTORCH}\\nCOPY . .", "needed"),
        ("/workspace", f"FROM {PYTORCH} AS a\\nFROM a\\nCOPY requirements.txt /tmp/", "needed"),
        ("/workspace", f"FROM {PYTORCH} AS a\\nFROM somebody/pytorch\\nCOPY --from=a /x /x", "likely"),
    ],
)
def test_a_command_runs_where_the_image_works(tmp_path: Path, mount: str, image: str, verdict: str) -> None:
    files = {"train.py": LOADER, "requirements.txt": "torch\n"}
    if image.startswith("FROM "):
        files["Dockerfile"], image = image.replace("\\n", "\n") + "\n", "mine"
        files["build.sh"] = "docker build -t mine .\n"
    text = f"docker run --gpus all -v $PWD:{mount} {image} python train.py\n"
    assert need(tmp_path, {**files, "run.sh": text}).verdict == verdict


@table(
    "name, text",
    [
        ("script.sh", "docker build -t mine .\ndocker run --gpus all mine\n"),
        ("README.md", "```bash\ndocker build -t mine .\n```\n\n```bash\ndocker run --gpus all mine\n```\n"),
        ("Makefile", "run:\n\tdocker buildx build --tag mine -f Dockerfile .\n\tdocker run --gpus all mine\n"),
        ("run.sh", "docker run --gpus all -v $PWD:/app -w /app python:3.12 python train.py\n"),
        ("tools/run.sh", 'docker run --gpus all -v "$(pwd)/..":/app other:1 python /app/train.py\n'),
    ],
)
def test_an_image_leads_to_its_dockerfile_and_a_mount_to_its_files(tmp_path: Path, name: str, text: str) -> None:
    files = {name: text, "Dockerfile": DOCKERFILE + 'CMD ["python", "train.py"]\n', "train.py": LOADER}
    assert need(tmp_path, files).verdict in ("needed", "likely")


@table(
    "command, verdict",
    [
        ("python train_$1.py", "likely"),
        ("python /app/train_${TASK}.py", "likely"),
        ("for k in a b; do for m in one two; do python tasks/$k/$m.py; done; done", "likely"),
        ("python train_$1.py --mode infer", "unknown"),
        ("python train_$1.py --mode=predict", "unknown"),
        ("python train_$1.py --mode train", "likely"),
        ("python tasks/$KIND/small.py", "unknown"),
        ("python test_$1.py", "unknown"),
        ("python $1.py", "unknown"),
        ("python $A/$B.py", "unknown"),
    ],
)
def test_a_program_whose_path_is_known_in_parts(tmp_path: Path, command: str, verdict: str) -> None:
    start = f"docker run --gpus all -v $PWD:/app -w /app python:3.12 bash -c '{command}'\n"
    files = {"run.sh": start, "train_big.py": LOADER, "tasks/a/one.py": LOADER, "tasks/a/__init__.py": ""}
    assert need(tmp_path, {**files, "tasks/b/small.py": SERVE, "helper.py": HELPER}).verdict == verdict


@table(
    "here, verdict",
    [("$PWD", "needed"), ("`realpath .`", "needed"), ("$(readlink -f .)", "needed"), ("`realpath $1`", "likely")],
)
def test_a_mount_of_the_directory_that_a_command_tells(tmp_path: Path, here: str, verdict: str) -> None:
    script = f"docker run --gpus all -v {here}:/app own python /app/train.py\n"
    assert need(tmp_path, {"run.sh": script, "train.py": LOADER}).verdict == verdict


@pytest.mark.parametrize("start", ["training", "."])
def test_where_a_repository_is_says_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    page = "```\ndocker build -t voices .\ndocker run --gpus all -it voices\npython speak.py\n```\n"
    files = {"README.md": page, "Dockerfile": DOCKERFILE + "RUN pip install torch\n", "speak.py": SERVE}
    folder = tmp_path / "training"
    (folder / ".git").mkdir(parents=True)
    for path, text in {**files, "helper.py": HELPER}.items():
        (folder / path).write_text(text)
    monkeypatch.chdir(folder.parent if start == "training" else folder)
    assert [found.severity for found in shmlint.lint([Path(start)]).findings] == ["note"]


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(LOADER, encoding="utf-8")
    inside = tmp_path / "repository"
    inside.mkdir()
    (inside / "train.py").symlink_to(outside)
    found = need(inside, {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE})
    assert (found.verdict, found.stopped) == ("unknown", "`train.py` is not in the repository")


@table(
    "name, mount, verdict",
    [
        ("Makefile", "$(CURDIR)", "not-needed"), ("Makefile", "$(shell pwd)", "not-needed"),
        ("Makefile", "${shell pwd -P}/", "not-needed"), ("Makefile", "$(abspath .)", "not-needed"),
        ("Makefile", "$(realpath ./)", "not-needed"), ("Makefile", "$(HERE)", "not-needed"),
        ("Makefile", "$(shell git rev-parse --show-toplevel)", "not-needed"),
        ("Makefile", "$(dir $(abspath $(lastword $(MAKEFILE_LIST))))", "not-needed"),
        ("Makefile", "$(shell pwd)/data", "likely"), ("Makefile", "$(shell date)", "unknown"),
        ("Makefile", "$(abspath $(X))", "unknown"), ("Makefile", "$(shell cd /a && pwd)", "unknown"),
        ("justfile", "{{justfile_directory()}}", "not-needed"), ("justfile", "{{ data_directory() }}", "unknown"),
    ],
)  # fmt: skip
def test_what_a_makefile_mounts_of_the_directory_that_it_is_in(
    tmp_path: Path, name: str, mount: str, verdict: str
) -> None:
    start = f"docker run --gpus all -it -v {mount}:/app -w /app {PYTORCH} bash\n"
    text = f"run:\n\t{start}" if name == "justfile" else f"HERE := $(shell pwd)\n\nrun:\n\t{start}"
    assert need(tmp_path, {name: text, "fit.py": ALONE, "data/d": ""}, (name,)).verdict == verdict


@table(
    "lines, command, verdict",
    [
        ("COPY . .", "python fit.py", "needed"),
        ("COPY . ./", "bash ./fit.sh", "needed"),
        ("COPY src work", "python work/fit.py", "needed"),
        ("COPY src work", "python fit.py", "likely"),
        ("WORKDIR /w\nCOPY . /x", "python fit.py", "likely"),
    ],
)
def test_an_image_without_a_working_directory_of_its_own(
    tmp_path: Path, lines: str, command: str, verdict: str
) -> None:
    files = {"fit.py": LOADER, "src/fit.py": LOADER, "fit.sh": "python fit.py\n", "compose.yaml": compose(command)}
    assert need(tmp_path, {**files, "Dockerfile": f"FROM own/base\n{lines}\n"}).verdict == verdict


@table(
    "dockerfile, verdict",
    [
        ("COPY tools/jobs /app/jobs", "needed"),
        ("COPY tools/jobs /app/torch", "unknown"),
        ("ENV PYTHONPATH=/lib:${PYTHONPATH}:/opt/tools\nCOPY tools/jobs /opt/tools/jobs", "needed"),
        ("COPY tools/jobs /opt/tools/jobs", "unknown"),
    ],
)
def test_modules_are_found_where_the_container_has_them(tmp_path: Path, dockerfile: str, verdict: str) -> None:
    files = {
        "compose.yaml": f"services:\n  app:\n    build: .\n    {GPUS}\n",
        "Dockerfile": f"FROM python:3.12\nWORKDIR /app\nCOPY web /app/web\n{dockerfile}\nCMD python web/serve.py\n",
        "web/serve.py": "import torch\nfrom jobs.load import main\nmain()\n", "tools/jobs/load.py": LOADER,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_a_program_is_read_again_where_a_container_has_its_modules_elsewhere(tmp_path: Path) -> None:
    service = f"    image: python:3.12\n    command: python /code/fit.py\n    {GPUS}\n"
    service += "    environment: {PYTHONPATH: /one/lib}\n    volumes: ['./code:/code', './a:/%s', './b:/%s']\n"
    files = {
        "compose.yaml": "services:\n  x:\n" + service % ("one", "two") + "  y:\n" + service % ("two", "one"),
        "code/fit.py": "import jobs\n", "a/lib/jobs.py": "import json\n",
        "b/lib/jobs.py": "import torch\nfrom torch.utils.data import DataLoader\nDataLoader(d, num_workers=8)\n",
    }  # fmt: skip
    (tmp_path / ".git").mkdir()
    started = run(tmp_path, files)
    with contextlib.chdir(tmp_path):
        verdicts = [started.context.need(launch).verdict for launch in started.launches]
    assert verdicts == ["not-needed", "likely"]


@table(
    "words, read",
    [
        ("bash -c 'cd /src/tools && python fit.py'", ["tools/fit.py (guessed)"]),
        ("bash -c 'git clone https://x/me/app && cd app/tools && python fit.py'", ["tools/fit.py (guessed)"]),
        ("bash -c 'cd /src && python fit.py'", ["tools/fit.py (guessed)"]),
        ("python own.py", ["a/own.py (guessed)"]),
        ("python two.py", []),
        ("python a/../gone.py", []),
        ("python /opt/thing/own.py", ["a/own.py (guessed)"]),
        ("python /opt/thing/two.py", []),
        ("bash /opt/start.sh", []),
        ("bash -c 'torchrun --node_rank <RANK> --master_addr <ADDR> train.py'", ["train.py (guessed)"]),
        ("bash -c 'python serve.py < list > log'", ["serve.py (guessed)"]),
    ],
)
def test_programs_of_which_only_the_place_is_guessed(tmp_path: Path, words: str, read: list[str]) -> None:
    text = f'docker run --gpus all other/image {words.replace(chr(39), chr(34))}\n'
    files = {"run.sh": text, "tools/fit.py": LOADER, "train.py": LOADER, "serve.py": "print(1)\n"}
    files |= {"a/own.py": LOADER, "a/two.py": LOADER, "b/two.py": LOADER, "b/start.sh": "python train.py\n"}
    assert [step.text for step in need(tmp_path, files).trail] == read


@table(
    "script, more, verdict",
    [
        ("", {}, "not-needed"),
        ("cd ..\n", {}, "not-needed"),
        ("", {"fit.py": LOADER}, "not-needed"),
        ("cd ..\n", {"fit.py": LOADER}, "unknown"),
    ],
)
def test_a_file_that_may_be_another_one_clears_nothing(
    tmp_path: Path, script: str, more: dict[str, str], verdict: str
) -> None:
    mounted = f'{script}D="$(cd "$(dirname "$0")" && pwd)"\n'
    text = f"#!/bin/bash\n{mounted}docker run --gpus all -v $D:/w -w /w python:3.12 python fit.py\n"
    assert need(tmp_path, {"tools/run.sh": text, "tools/fit.py": "print(1)\n", **more}).verdict == verdict


@table(
    "before, mount, read",
    [
        ("", "$PWD:/w", "tools/fit.py"),
        ('cd "$(dirname "$0")/../other"', "$(pwd):/w", "other/fit.py"),
        ('cd "$(dirname "$0")" || exit 1', "$(pwd):/w", "tools/fit.py"),
        ('cd "$SCRIPT_DIR"/../other', "$(pwd):/w", "other/fit.py"),
        ("ROOT=$PWD/..\ncd $ROOT/other && true", ".:/w", "other/fit.py (guessed)"),
        ("cd other\ncd ../other", "$PWD:/w", "other/fit.py (guessed)"),
        ("cd /elsewhere", "$PWD:/w", "tools/fit.py"),
        ("cd gone", "$PWD:/w", "tools/fit.py"),
        ("cd $X", "$PWD:/w", "tools/fit.py"),
        ("cd ../other", "$REPO_ROOT/tools:/w", "tools/fit.py (guessed)"),
    ],
)
def test_a_directory_that_a_script_goes_to_before_it_mounts_it(
    tmp_path: Path, before: str, mount: str, read: str
) -> None:
    text = f"{before}\ndocker run --gpus all -v {mount} -w /w other/image python fit.py\n"
    files = {"tools/run.sh": text, "tools/fit.py": LOADER, "other/fit.py": LOADER}
    assert [step.text for step in need(tmp_path, files).trail] == [read]


@table(
    "mount, words, read",
    [
        ("/home/me/app/deep/two:/src", "python /src/fit.py", ["deep/two/fit.py (guessed)"]),
        ("~/app/two:/src", "python /src/fit.py", ["deep/two/fit.py (guessed)"]),
        ("/data/two:/src", "python /src/one/fit.py", []),
        ("/home/me/one:/src", "python /src/fit.py", ["a/one/old/fit.py (guessed)"]),
        ("/home/me/one:/src", "python /src/same.py", []),
        ("/home/me/twice:/src", "python /src/fit.py", []),
        ("/home/me/twice:/src", "python /src/only.py", ["b/twice/only.py (guessed)"]),
        ("/home/me/gone:/src", "python /src/fit.py", []),
        ("/home/me/two:/data", "python /src/fit.py", []),
        ("data:/src", "python gone/two/fit.py", ["deep/two/fit.py (guessed)"]),
        ("data:/src", "python -m gone.two.fit", ["deep/two/fit.py (guessed)"]),
        ("data:/src", "python twice/fit.py", []),
        (".:/w", "python only.py", []),
    ],
)
def test_a_program_that_only_the_end_of_its_path_tells(tmp_path: Path, mount: str, words: str, read: list[str]) -> None:
    """The end with a directory in it that a single file of the repository has; it never makes an error."""
    files = {
        "run/run.sh": f"docker run --gpus all -v {mount} other/image {words}\n",
        "run/d": "",
        "b/twice/only.py": "",
    }
    loaders = ("deep/two/fit.py", "a/one/old/fit.py", "a/one/x/same.py", "a/one/y/same.py", "a/twice/fit.py",
               "b/twice/fit.py")  # fmt: skip
    files |= dict.fromkeys(loaders, LOADER)
    found = need(tmp_path, files)
    assert [step.text for step in found.trail] == read
    assert found.verdict == ("unknown" if not read else "not-needed" if "only" in read[0] else "likely")


def test_a_directory_that_is_gone_is_known_by_its_name(tmp_path: Path) -> None:
    text = 'cd "$ROOT/old/place/two"\ndocker run --gpus all -v "$(pwd):/w" other/image python fit.py\n'
    found = need(tmp_path, {"run/run.sh": text, "deep/two/fit.py": LOADER})
    assert [step.text for step in found.trail] == ["deep/two/fit.py (guessed)"]
    assert found.verdict == "likely"
    assert need(tmp_path, {"other/two/fit.py": LOADER}, ("run/run.sh",)).trail == ()


@table(
    "dockerfile, words, read",
    [
        (
            "FROM own/base\nCOPY list /opt/list\n",
            "python ./tool/serve.py",
            ["image built from Dockerfile", "serve.py (guessed)"],
        ),
        ("FROM own/base\n", "python tool/serve.py", ["image built from Dockerfile", "serve.py (guessed)"]),
        ("FROM own/base\n", "python other/serve.py", ["image built from Dockerfile"]),
        ("FROM own/base\nWORKDIR /elsewhere\n", "python tool/serve.py", ["image built from Dockerfile"]),
    ],
)
def test_a_path_that_begins_with_the_end_of_a_mount(
    tmp_path: Path, dockerfile: str, words: str, read: list[str]
) -> None:
    text = f"docker build -t me/tool .\ndocker run --gpus all -v $PWD:/srv/tool me/tool {words}\n"
    files = {"run.sh": text, "Dockerfile": dockerfile, "serve.py": "print(1)\n", "list": ""}
    assert [step.text for step in need(tmp_path, files).trail] == read


@table(
    "options, command, verdict",
    [
        ("-v $PWD:/root/", "python fill/run.py ./conf/small.yaml", "needed"),
        ("-v $PWD:/root/ -v /data:/data", "python -m fill.run --config=conf/small.yaml", "needed"),
        ("-v $PWD:/root/", "python fill/run.py conf", "likely"),
        ("-v $PWD:/root/", "python fill/run.py", "likely"),
        ("-v $PWD:/root/", "python fill/run.py --out runs/new.yaml", "likely"),
        ("-v $PWD:/root/ -v $PWD:/other", "python fill/run.py conf/small.yaml", "likely"),
        ("-v $HERE/x:/root/", "python fill/run.py conf/small.yaml", "likely"),
    ],
)
def test_the_directory_that_holds_all_that_a_command_is_given(
    tmp_path: Path, options: str, command: str, verdict: str
) -> None:
    files = {"run.sh": f"docker run --gpus all {options} own/fill {command}\n", "fill/run.py": LOADER}
    assert need(tmp_path, {**files, "fill/__init__.py": "", "conf/small.yaml": "a: 1\n"}).verdict == verdict
