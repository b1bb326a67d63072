"""Scripts that other files of the repository start with arguments or variables."""

from __future__ import annotations

from pathlib import Path
from time import process_time

from shmlint.files.workspace import Workspace
from shmlint.formats.shell.callers import is_read_by_another
from tests.formats.shell.commands import DEFAULT
from tests.project import fixed, run, write
from tests.table import table

IMAGE = "vllm/vllm-openai"
SCRIPT = f'docker run --gpus all ${{1:-{IMAGE}}} --port 8000\n'
WORKFLOW = ".github/workflows/x.yml"


def images(tmp_path: Path, files: dict[str, str]) -> list[str | None]:
    """The images that the script is sure to start."""
    launches = [launch for launch in run(tmp_path, files).launches if launch.span.path.endswith("launch.sh")]
    found = [launch.image for launch in launches if launch.image is not None]
    return [None if image.because else image.known for image in found]


@table(
    "files",
    [
        {"Makefile": "up:\n\t@./launch.sh redis\n"},
        {"Makefile": "up:\n\tcd x && bash -x ./launch.sh $(IMAGE)\n"},
        {"all.sh": 'for i in a b; do "$DIR/launch.sh" "$i"; done\n'},
        {"all.sh": '. launch.sh "$@"\n'},
        {WORKFLOW: "jobs:\n  a:\n    steps:\n      - run: sudo ./launch.sh redis\n"},
        {"x.service": "[Service]\nExecStart=/opt/launch.sh redis\n"},
        {"tools/all.sh": "nohup ../launch.sh redis &\n"},
    ],
)
def test_a_default_is_not_certain_where_a_caller_gives_the_argument(tmp_path: Path, files: dict[str, str]) -> None:
    assert images(tmp_path, {"launch.sh": SCRIPT, **files}) == [None]


@table(
    "files",
    [
        {},
        {"Makefile": "up:\n\t./launch.sh # redis\n"},
        {"Makefile": "up:\n\tchmod +x launch.sh run.sh\n\tcp launch.sh /opt\n"},
        {"all.sh": "# ./launch.sh redis\necho './launch.sh redis'\n./launch.sh; ./relaunch.sh redis\n"},
        {"all.sh": "./launch.sh > log 2>&1\nX=1 ./launch.sh\n"},
        {"README.md": "```sh\n./launch.sh redis\n```\n"},
        {"all.sh": "./launch.sh.bak redis\n"},
    ],
)
def test_a_default_holds_where_no_caller_gives_the_argument(tmp_path: Path, files: dict[str, str]) -> None:
    assert images(tmp_path, {"launch.sh": SCRIPT, **files}) == [IMAGE]


@table("script", ["start.sh", "start it.sh", "start.v2.sh", "start-gpu.bash", "démarrer.sh", "(x).sh"])
def test_a_caller_is_found_by_every_name_of_a_script(tmp_path: Path, script: str) -> None:
    write(tmp_path, {"all.sh": f"echo ✓\nif ! './{script}' redis; then exit 1; fi\n"})
    [launch] = run(tmp_path, {script: SCRIPT}).launches
    assert launch.image is not None
    assert launch.image.because is not None


@table(
    "files, image",
    [
        ({"all.sh": "IMAGE=redis ./launch.sh\n"}, None),
        ({"all.sh": "export IMAGE=redis\n./launch.sh\n"}, None),
        ({"Makefile": "export IMAGE ?= redis\nup:\n\t./launch.sh\n"}, None),
        ({WORKFLOW: "env:\n  IMAGE: redis\njobs:\n  a:\n    steps:\n      - run: ./launch.sh\n"}, None),
        ({"all.sh": "set -a\nIMAGE=redis\n./launch.sh\n"}, None),
        ({"all.sh": "declare -x IMAGE=redis; ./launch.sh\n"}, None),
        ({"Makefile": "up:\n\texport IMAGE=redis; ./launch.sh\n"}, None),
        ({"justfile": "export IMAGE := 'redis'\nup:\n  ./launch.sh\n"}, None),
        ({WORKFLOW: "jobs:\n  a:\n    steps:\n      - run: export IMAGE=redis && ./launch.sh\n"}, None),
        ({"Jenkinsfile": "environment { IMAGE = 'redis' }\nsteps { sh './launch.sh' }\n"}, None),
        ({"x.service": "[Service]\nEnvironment=IMAGE=redis\nExecStart=/opt/launch.sh\n"}, None),
        ({"Taskfile.yml": "version: 3\nenv: {IMAGE: redis}\ntasks: {up: {cmds: [./launch.sh]}}\n"}, None),
        ({WORKFLOW: "jobs: [\n- run: ./launch.sh\n"}, None),
        ({".envrc": "export IMAGE=redis\n"}, None),
        ({".envrc": "IMAGE=redis\n"}, IMAGE),
        ({"tool.yml": "do: ./launch.sh\n"}, None),
        ({WORKFLOW: "jobs:\n  IMAGE: {name: redis}\n  a:\n    steps:\n      - run: ./launch.sh\n"}, IMAGE),
        ({WORKFLOW: "jobs:\n  b: {env: {IMAGE: redis}}\n  a:\n    steps:\n      - run: ./launch.sh\n"}, IMAGE),
        ({"x.service": "[Service]\nExecStart=/opt/launch.sh\n"}, IMAGE),
        ({"Jenkinsfile": "steps { sh './launch.sh' }\n"}, IMAGE),
        ({"all.sh": "IMAGE=redis\n./launch.sh\n"}, IMAGE),
        ({"all.sh": "export IMAGE=redis\n"}, IMAGE),
        ({"all.sh": "IMAGE=redis ls; ./launch.sh\n"}, IMAGE),
    ],
)
def test_variables_of_the_environment(tmp_path: Path, files: dict[str, str], image: str | None) -> None:
    script = f"docker run --gpus all ${{IMAGE:-{IMAGE}}} --port 8000\n"
    assert images(tmp_path, {"launch.sh": script, **files}) == [image]


@table(
    "files, size",
    [
        ({"all.sh": "export OPTS=--shm-size=64g\n./launch.sh\n"}, None),
        ({"all.sh": "OPTS=--shm-size=64g\n. launch.sh\n"}, None),
        ({"all.sh": "OPTS=--shm-size=64g ./launch.sh\n"}, None),
        ({"all.sh": "OPTS=--shm-size=64g\n./launch.sh\n"}, DEFAULT),
        ({}, DEFAULT),
    ],
)
def test_what_a_script_adds_to_a_caller_may_have_set(tmp_path: Path, files: dict[str, str], size: int | None) -> None:
    script = "OPTS+=' --gpus all'\ndocker run $OPTS img\n"
    [launch] = run(tmp_path, {"launch.sh": script, **files}).launches
    assert launch.effective_shm().bytes == size


@table("line", ["a/" * 50_000, "=" * 100_000, "'./" * 30_000, " " * 100_000])
def test_a_long_line_of_a_caller_does_not_take_long(tmp_path: Path, line: str) -> None:
    files = {"launch.sh": SCRIPT, "all.sh": f"X={line}\n{line} {line} ./launch.sh redis\n./launch.sh redis\n"}
    begin = process_time()
    assert images(tmp_path, files) == [None]
    assert process_time() - begin < 10


@table("line", [". " * 30_000, "source a\t" * 10_000, "opts.sh" * 10_000, ". " * 30_000 + "my-opts.sh"])
def test_a_long_line_that_may_source_a_script_does_not_take_long(line: str) -> None:
    workspace = Workspace({"opts.sh": "O=1\n", "all.sh": f"{line}\necho opts.sh\n"})
    begin = process_time()
    assert not is_read_by_another(workspace.source("opts.sh"), workspace)
    assert process_time() - begin < 1


@table(
    "text, read",
    [
        (". ./opts.sh", True), ("cd x; source $HERE/opts.sh || exit", True), ("set -a && . opts.sh", True),
        (". a; cat opts.sh", False), ("opts.sh . x", False), (". ./my-opts.sh", False), (". x\ncat opts.sh", False),
        (". opts.sh # as opts.sh", True), ("ls x.source opts.sh", False),
    ],
)  # fmt: skip
def test_what_reads_a_script(text: str, read: bool) -> None:
    workspace = Workspace({"opts.sh": "O=1\n", "all.sh": text})
    assert is_read_by_another(workspace.source("opts.sh"), workspace) is read


@table(
    "line, files, image",
    [
        ("#SBATCH --export=ALL,IMAGE=redis", {}, None),
        ("#SBATCH --export NIL,X=1,IMAGE", {}, None),
        ("#PBS -l nodes=1 -v X,IMAGE=redis", {}, None),
        ("#$ -cwd -v IMAGE=redis", {}, None),
        ('#BSUB -env "all, IMAGE=redis"', {}, None),
        ("#SBATCH --export=ALL,IMAGES=redis --gres=gpu:1", {}, IMAGE),
        ("#SBATCH --job-name=IMAGE", {}, IMAGE),
        ("# --export=IMAGE=redis", {}, IMAGE),
        ("#SBATCH --gres=gpu:1", {"all.sh": "sbatch --export=ALL,IMAGE=redis launch.sh\n"}, None),
        ("#SBATCH --gres=gpu:1", {"all.sh": "export IMAGE=redis\nsbatch launch.sh\n"}, None),
        ("#PBS -l nodes=1", {"all.pbs": "qsub -v IMAGE=redis launch.sh\n"}, None),
    ],
)
def test_what_a_batch_system_sets_is_not_certain(
    tmp_path: Path, line: str, files: dict[str, str], image: str | None
) -> None:
    script = f"#!/bin/bash\n{line}\ndocker run --gpus all ${{IMAGE:-{IMAGE}}} --port 8000\n"
    assert images(tmp_path, {"launch.sh": script, **files}) == [image]


def test_the_arguments_behind_those_of_the_callers_keep_their_defaults(tmp_path: Path) -> None:
    script = f"docker run --gpus all --shm-size=${{1:-1g}} ${{2:-{IMAGE}}}\n"
    assert images(tmp_path, {"launch.sh": script, "all.sh": "./launch.sh 64g\n"}) == [IMAGE]


@table(
    "script",
    [
        f"docker run --gpus all --shm-size=${{1:-64m}} {IMAGE} -tp 8\n",
        f'SIZE=${{1:-64m}}\ndocker run --gpus all --shm-size="$SIZE" {IMAGE} -tp 8\n',
        f'docker run --gpus all "$@" {IMAGE} -tp 8\n',
    ],
)
def test_a_fix_leaves_what_a_caller_gives(tmp_path: Path, script: str) -> None:
    assert fixed(tmp_path, {"launch.sh": script, "all.sh": "./launch.sh --shm-size=64g\n"}) == {}


@table(
    "user, line",
    [
        ({}, "S=8g"),
        ({"b.sh": "bash lib.sh\n"}, "S=8g"),
        ({"b.sh": ". ./lib.sh\ndocker run --shm-size=$S redis\n"}, "S=64m"),
        ({"b.sh": 'source "$DIR/lib.sh"\n'}, "S=64m"),
    ],
)
def test_a_variable_that_another_script_sources_stays(tmp_path: Path, user: dict[str, str], line: str) -> None:
    script = f"S=64m\ndocker run --gpus all --shm-size=$S {IMAGE} -tp 8\n"
    new = fixed(tmp_path, {"lib.sh": script, **user}).get("lib.sh", script)
    assert new.startswith(f"{line}\n")
    assert "--shm-size=8g" in new or line == "S=8g"


@table("user, line", [({}, "S = 8g"), ({"Makefile": "-include ./x.mk\nall:\n\techo $(S)\n"}, "S = 64m")])
def test_a_variable_that_another_makefile_includes_stays(tmp_path: Path, user: dict[str, str], line: str) -> None:
    makefile = f"S = 64m\nup:\n\tdocker run --gpus all --shm-size=$(S) {IMAGE} -tp 8\n"
    assert fixed(tmp_path, {"x.mk": makefile, **user})["x.mk"].startswith(f"{line}\n")


TRAIN = "torchrun --nproc_per_node=8 train.py"
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
OWN = f'if [ "$0" = "${{BASH_SOURCE[0]}}" ]; then start {NGC} {TRAIN}; fi\n'
"""A library that also runs by itself."""


@table(
    "script, user, old, new",
    [
        (
            'start() { docker run --gpus all "$@"; }\n' + OWN, "start --memory 128m redis",
            "start nv", "start --shm-size=8g nv",
        ),
        (
            'start() { podman run --device nvidia.com/gpu=all "$@"; }\n' + OWN, f"start --ipc=host {NGC} {TRAIN}",
            "start nv", "start --shm-size=8g nv",
        ),
        ('start() { docker run --gpus all --shm-size=${SHM:-64m} "$@"; }\n' + OWN, "start redis", "", ""),
        (f"start() {{ docker run --gpus all ${{OPTS:-}} {NGC} {TRAIN}; }}\nstart\n", "OPTS=--ipc=host\nstart", "", ""),
        (f"IMAGE={NGC}\nstart() {{ docker run --gpus all $IMAGE {TRAIN}; }}\nstart\n", "IMAGE=redis\nstart", "", ""),
        (f'start() {{ bash -c "docker run --gpus all $1 {TRAIN}"; }}\nstart {NGC}\n', "start redis", "", ""),
        (
            f'start() {{ docker run --gpus all -v "$PWD:/w" {NGC} {TRAIN}; }}\n', "start",
            "--gpus all", "--gpus all --shm-size=8g",
        ),
        (
            f'start() {{ docker run --gpus all "$@"; }}\ntrain() {{ start {NGC} {TRAIN}; }}\ntrain\n',
            "start redis\ntrain", "start nv", "start --shm-size=8g nv",
        ),
        (
            f"start() {{ local image={NGC}; docker run --gpus all $image {TRAIN}; }}\nstart\n", "image=redis\nstart",
            "--gpus all", "--gpus all --shm-size=8g",
        ),
    ],
)  # fmt: skip
def test_a_function_that_others_may_call_stays(tmp_path: Path, script: str, user: str, old: str, new: str) -> None:
    found = fixed(tmp_path, {"lib.sh": script, "user.sh": f". ./lib.sh\n{user}\n"})
    assert found.get("lib.sh", script) == script.replace(old, new, 1 if old else 0)
    alone = fixed(tmp_path / "alone", {"lib.sh": script})["lib.sh"]
    assert "8g" in alone.split("}\n")[0]


@table(
    "user, image",
    [
        ("IMAGE=redis\n. ./launch.sh\n", None),
        ("read -r IMAGE\nsource launch.sh\n", None),
        ("X=redis\n. ./launch.sh\n", IMAGE),
        ("IMAGE=redis\n./launch.sh\n. x\n", IMAGE),
    ],
)
def test_a_script_that_is_sourced_sees_all_variables(tmp_path: Path, user: str, image: str | None) -> None:
    script = f"docker run --gpus all ${{IMAGE:-{IMAGE}}} --port 8000\n"
    assert images(tmp_path, {"launch.sh": script, "all.sh": user}) == [image]


@table(
    "user, is_found",
    [
        ("ops/db/redis/up.sh", True),
        ("bin/redis", True),
        ("docs/guide/README.md", True),
        (".bashrc", True),
        ("ops/db/up.py", False),
    ],
)
def test_who_sources_a_script_is_looked_for_in_the_repository(tmp_path: Path, user: str, is_found: bool) -> None:
    (tmp_path / ".git").mkdir()
    script = 'start() { docker run --gpus all "$@"; }\n' + OWN
    files = {"scripts/lib/common.sh": script, user: ". scripts/lib/common.sh\nstart redis\n"}
    new = fixed(tmp_path, files)["scripts/lib/common.sh"]
    assert new.startswith(script.partition("\n")[0]) is is_found
    assert "8g" in new
