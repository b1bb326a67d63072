"""What a launch runs, followed through small repositories, and what that makes of its need."""

from __future__ import annotations

import ast
import contextlib
import json
import shutil
import time
from pathlib import Path

import pytest

import shmlint
from shmlint.model.need import Need
from shmlint.syntax.python import parse
from tests.project import findings, fixed, run
from tests.table import table

GPUS = "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}"
LOADER = """
from torch.utils.data import DataLoader
import argparse

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    crop = RandomResizedCrop(224)
    loader = DataLoader(data(crop), batch_size=args.batch_size, num_workers=args.workers)

if __name__ == "__main__":
    main()
"""
SERVE = "import json\nfrom helper import answer\nprint(answer(json.loads('1')))\n"
HELPER = "import torch\n\ndef answer(x):\n    return torch.tensor(x)\n"
DOCKERFILE = "FROM python:3.12\nWORKDIR /app\nCOPY . .\n"


def need(directory: Path, files: dict[str, str], paths: tuple[str, ...] = (".",)) -> Need:
    """What the first launch with a GPU needs, in the files that are named."""
    (directory / ".git").mkdir(exist_ok=True)
    started = run(directory, files, paths=paths)
    with contextlib.chdir(directory):
        launch = next(launch for launch in started.launches if launch.gpu.requested)
        return started.context.need(launch)


def compose(command: str, more: str = "") -> str:
    return f"services:\n  app:\n    build: .\n    command: {command}\n    {GPUS}\n{more}"


STARTER = """
import subprocess
from multiprocessing import Process

def run(command):
    subprocess.run(command, shell=True)

if __name__ == "__main__":
    Process(target=run, args=(f"COMMAND",)).start()
"""


@table(
    "command, verdict",
    [
        ("python work/big.py", "needed"),
        ("python -m work.{kind} --n {n}", "likely"),
        ("python work/b{kind}.py", "likely"),
        ("python work/s{kind}.py", "unknown"),
        ("python {kind}/small.py", "unknown"),
        ("{program} {n}", "unknown"),
        ("python work/big.py --workers 0", "not-needed"),
        ("ffmpeg -i {n} out.mp4", "not-needed"),
        ("transcode -i {n} out.mp4", "unknown"),
        ("cd work && python big.py --workers 0; python big.py | tee log", "needed"),
        ("torchrun --nproc_per_node=4 work/small.py", "not-needed"),
        ("torchrun --nproc_per_node=4 work/joined.py", "needed"),
    ],
)
def test_programs_that_a_program_starts(tmp_path: Path, command: str, verdict: str) -> None:
    joined = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    files = {
        "compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE,
        "start.py": STARTER.replace("COMMAND", command), "work/big.py": LOADER, "work/small.py": "print(1)\n",
        "work/joined.py": joined,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "command, count, verdict",
    [
        ("vllm serve org/model --port {n}", "1", "not-needed"),
        ("vllm serve org/model --port {n}", "all", "unknown"),
        ("vllm serve org/model --tensor-parallel-size 4", "all", "needed"),
        ("vllm serve org/model --tensor-parallel-size 4", "1", "not-needed"),
        ("python -m vllm.entrypoints.openai.api_server --model org/model -tp 2", "4", "needed"),
        ("vllm serve org/model && transcode -i {n} out.mp4", "1", "unknown"),
    ],
)
def test_servers_that_a_program_starts(tmp_path: Path, command: str, count: str, verdict: str) -> None:
    """What is known of a command is the same whoever starts it."""
    services = compose("python start.py").replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    files = {"compose.yaml": services, "start.py": STARTER.replace("COMMAND", command), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


PYTEST = {
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\n"
    "def model():\n    import torch\n    return torch.nn.Linear(2, 2)\n",
    "tests/test_small.py": "def test_small(model):\n    assert model is not None\n",
    "tests/deep/test_deep.py": "from work import total\n\n"
    "class TestTotal:\n    def test_it(self):\n        assert total()\n",
    "work.py": "import torch\n\ndef total():\n    return torch.ones(2).sum()\n",
    "loads/test_loads.py": "from torch.utils.data import DataLoader\n\n"
    "def test_loads():\n    assert DataLoader(data(), batch_size=64, num_workers=8)\n",
    "plug/conftest.py": "pytest_plugins = ['work.fixtures']\n", "plug/test_plug.py": "def test_it():\n    pass\n",
    "strange/test_strange.py": "import nobody_knows_it\n",
    "set/pytest.ini": "[pytest]\npython_files = check_*.py\n", "set/test_set.py": "def test_it():\n    pass\n",
    "web/test_web.py": "def test_web(page):\n    page.goto('x')\n",
    "web/test_used.py": "import pytest\n\n@pytest.mark.usefixtures('page')\ndef test_used():\n    pass\n",
    "given/test_given.py": "import pytest\nfrom unittest.mock import patch\n\n"
    "@pytest.fixture(name='one')\ndef make(tmp_path):\n    return 1\n\n"
    "@pytest.mark.parametrize('a, b', [(1, 2)])\ndef test_given(a, b, one, monkeypatch):\n    pass\n\n"
    "@patch('work.total')\ndef test_patched(total):\n    pass\n",
}  # fmt: skip


@table(
    "command, verdict",
    [
        ("pytest tests/", "not-needed"),
        ("pytest -q -k small tests/test_small.py::test_small", "not-needed"),
        ("python -m pytest tests", "not-needed"),
        ("coverage run -m pytest tests/deep", "not-needed"),
        ("pytest tests loads", "likely"),
        ("pytest strange", "unknown"),
        ("pytest set", "unknown"),
        ("pytest web/test_web.py", "unknown"),
        ("pytest web/test_used.py", "unknown"),
        ("pytest given", "not-needed"),
        ("pytest tests missing", "unknown"),
        ("pytest plug", "unknown"),
        ("pytest", "likely"),
        ("pytest --doctest-modules tests", "unknown"),
        ("pytest nothing/here", "unknown"),
    ],
)
def test_what_pytest_collects(tmp_path: Path, command: str, verdict: str) -> None:
    """All functions of the files of tests may run."""
    files = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, **PYTEST}
    assert need(tmp_path, files).verdict == verdict


@table("folders, verdict", [(100, "not-needed"), (300, "unknown")])
def test_tests_in_more_directories_than_are_read(tmp_path: Path, folders: int, verdict: str) -> None:
    data = {f"tests/{number:03}/data.txt": "" for number in range(folders)}
    test = {"tests/test_it.py": "def test_it():\n    pass\n"}
    files = {"compose.yaml": compose("pytest tests"), "Dockerfile": DOCKERFILE, **data, **test}
    assert need(tmp_path, files).verdict == verdict


@table("command, verdict", [("python fill.py", "needed"), ("[]", "not-needed")])
def test_an_entrypoint_that_the_build_writes_to_run_its_arguments(
    tmp_path: Path, command: str, verdict: str
) -> None:
    build = """FROM python:3.12
WORKDIR /app
COPY . /app
RUN printf '#!/bin/sh\\nexec "$@"\\n' > /entry.sh && chmod a+x /entry.sh
ENTRYPOINT ["/entry.sh"]
"""
    files = {"compose.yaml": compose(command), "Dockerfile": build, "fill.py": LOADER}
    assert need(tmp_path, files).verdict == verdict


@table(
    "build, command, verdict",
    [
        ("COPY tool/serve /usr/local/bin/serve", "serve", "not-needed"),
        ("COPY . /app\nRUN chmod +x tool/serve && \\\n    ln -sf /app/tool/serve /usr/local/bin/serve", "serve",
         "not-needed"),
        ("COPY . /app\nRUN ln -s /app/tool/serve.sh /usr/bin/serve", "serve", "not-needed"),
        ("COPY tool/serve.sh /usr/local/bin/serve", "serve", "not-needed"),
        ("COPY . /app\nRUN ln -s /app/tool/fill /usr/bin/fill", "fill", "needed"),
        ("COPY . /app\nRUN ln -s /opt/other/serve /usr/bin/serve", "serve", "unknown"),
        ("COPY . /app\nRUN ln -s /app/tool/serve /opt/serve", "serve", "unknown"),
        ("COPY . /app", "uwsgi --ini conf/app.ini", "not-needed"),
        ("COPY . /app", "uwsgi conf/fill.ini", "needed"),
        ("COPY . /app", "uwsgi --ini conf/none.ini", "unknown"),
        ("COPY . /app", "uwsgi --ini conf/more.ini", "unknown"),
    ],
)  # fmt: skip
def test_programs_that_the_build_or_a_configuration_names(
    tmp_path: Path, build: str, command: str, verdict: str
) -> None:
    python = "#!/usr/bin/env python3\nimport json\nprint(json.loads('1'))\n"
    files = {
        "compose.yaml": compose(command), "Dockerfile": f"FROM python:3.12\nWORKDIR /app\n{build}\n",
        "tool/serve": python, "tool/fill": f"#!/usr/bin/env python3\n{LOADER}", "work.py": python, "fill.py": LOADER,
        "tool/serve.sh": "#!/bin/sh\nffmpeg -i x.mp4 out.mp4\n", "conf/app.ini": "[uwsgi]\nmodule = work:make()\n",
        "conf/fill.ini": "[uwsgi]\nmaster = true\nwsgi-file = fill.py\n", "conf/none.ini": "[uwsgi]\nmaster = true\n",
        "conf/more.ini": "[uwsgi]\nmodule = work\nattach-daemon = python fill.py\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


RANKS = "torchrun --nproc_per_node=8"


@table(
    "script, gpus, verdict",
    [
        (f'if [ "$MODE" = many ]; then RUN="{RANKS}"; else RUN=python; fi\n$RUN work.py', "", "likely"),
        (f'if [ "$MODE" = many ]; then RUN="{RANKS}"; else RUN=python; fi\n$RUN work.py', "count: 1, ", "unknown"),
        (f'case $1 in a) RUN="{RANKS}";; *) RUN=python;; esac\neval "$RUN work.py"', "", "likely"),
        (f'RUN=({RANKS})\n[ -f x ] && RUN=(python)\n"${{RUN[@]}}" work.py', "", "likely"),
        ('RUN=python\n[ -f x ] && RUN="python -u"\n$RUN train.py', "", "likely"),
        ('RUN=python\n[ -f x ] && RUN="python -u"\n$RUN work.py', "", "unknown"),
        (f'P=python; [ -f x ] && P="{RANKS}"; C="$P work.py"; C="$C | tee log"; eval $C', "", "likely"),
        ('A=$B; [ -f x ] && A=$B; B=$A; [ -f x ] && B=$A\n$A work.py', "", "unknown"),
        ("$RUN work.py", "", "unknown"),
        ("S=work.py; [ -f x ] && S=train.py\npython -u $S --fast", "", "likely"),
        ("S=work; [ -f x ] && S=train\npython3 -m $S", "", "likely"),
        ("S=work.py; [ -f x ] && S=work.py\npython $S", "", "unknown"),
    ],
)
def test_a_variable_with_a_program_for_each_branch(tmp_path: Path, script: str, gpus: str, verdict: str) -> None:
    """One of the programs runs, and nothing says which: what any of them needs is likely."""
    services = compose("bash go.sh").replace("{capabilities", "{" + gpus + "capabilities")
    files = {"compose.yaml": services, "go.sh": script + "\n", "train.py": LOADER, "work.py": "print(1)\n"}
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == verdict


@table(
    "script, verdict",
    [
        (f'if [ "$MODE" = many ]; then {RANKS} work.py; else python work.py; fi', "likely"),
        (f'if [ "$MODE" = many ]; then {RANKS} work.py; else {RANKS} train.py; fi', "needed"),
        (f'python work.py\nif [ "$MODE" = many ]; then {RANKS} work.py; else {RANKS} train.py; fi', "needed"),
        (f'[ -f x ] || python work.py\n{RANKS} work.py', "needed"),
        (f'[ "$MODE" = many ] && {RANKS} work.py', "needed"),
    ],
)
def test_ranks_in_some_branches(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": script + "\n", "train.py": LOADER, "work.py": "print(1)\n"}
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == verdict


def test_many_variables_with_many_programs_end(tmp_path: Path) -> None:
    names = [f"V{i}" for i in range(40)]
    lines = [f'if [ -f x ]; then {a}="${b} 1"; else {a}="${b} 2"; fi' for a in names for b in names]
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": "\n".join([*lines, "$V0 work.py", ""])}
    begun = time.process_time()
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == "unknown"
    assert time.process_time() - begun < 20


@table(
    "imports, verdict",
    [
        ("import grpc\nimport answer_pb2\nimport answer_pb2_grpc\n", "not-needed"),
        ("from answer_pb2 import Answer\n", "not-needed"),
        ("import grpc\nimport answer_pb\n", "unknown"),
    ],
)
def test_modules_that_protoc_generates(tmp_path: Path, imports: str, verdict: str) -> None:
    """They are seldom in the repository, and hold messages and stubs alone."""
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": imports + SERVE}
    assert need(tmp_path, files | {"helper.py": HELPER}).verdict == verdict


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
    "script, command, verdict",
    [
        ('if [ $# -gt 0 ]; then exec "$@"; fi\nexec python train.py', "python serve.py", "not-needed"),
        ('if [ $# -gt 0 ]; then exec "$@"; fi\nexec python train.py', "", "needed"),
        ('if [ $# -gt 0 ]; then exec "$@"; fi\nexec python train.py', "${COMMAND}", "likely"),
        ('if [ -f x ]; then exec "$@"; fi\nexec python train.py', "python serve.py", "likely"),
        ('[ -f x ] && exec "$@"\npython train.py', "python serve.py", "likely"),
        ('[ -f x ] || exit 1\npython train.py', "", "needed"),
        ('[ -f x ] && exit 0\npython train.py', "", "likely"),
        ('exec "$@"\npython train.py', "python serve.py", "not-needed"),
        ('(exec "$@")\npython train.py', "python serve.py", "needed"),
        ('exec > log 2>&1\npython train.py', "", "needed"),
        ('[ "$@" ] && exec "$@"; python train.py', "python serve.py", "likely"),
        ('if [ -n "$*" ]; then exec "$@"; else python train.py; fi', "python serve.py", "not-needed"),
        ('if test -z "$1"; then python train.py; else exec "$@"; fi', "", "needed"),
        ('if [ "$1" = train ]; then python train.py; else python serve.py; fi', "serve", "not-needed"),
        ('if [[ ! "$1" == train ]]; then python serve.py; else python train.py; fi', "train", "needed"),
        ('if [ "$1" = a ]; then python serve.py; elif (( $# > 1 )); then python train.py; fi', "a b", "not-needed"),
        ('case "$1" in train) shift; python train.py;; *) exec "$@";; esac', "train", "needed"),
        ('case "$1" in train) python train.py;; *) exec "$@";; esac', "python serve.py", "not-needed"),
        ('case "$1" in train) python train.py;; *) echo no; exit 1;; esac', "serve", "unknown"),
        ('case "$1" in train) python train.py;; "") echo none; exit 0;; esac', "", "not-needed"),
        ('python serve.py\nexit 1', "", "not-needed"),
        ('shift\nif [ "$1" = train ]; then python train.py; fi', "x train", "likely"),
        ('f() { if [ $# -gt 0 ]; then python train.py; fi; }\nf 1', "", "likely"),
        ('f() { python train.py; }\npython serve.py', "", "not-needed"),
        ('f() { python train.py; }\nf', "", "needed"),
        ('function f {\n  python train.py\n}\ng() { f; }\ng', "", "needed"),
        ('f() { python train.py; }\nif [ -f x ]; then f; fi', "", "likely"),
        ('f() { python train.py; }\ntrap f EXIT\npython serve.py', "", "likely"),
        ('f() { python train.py; }\n"$RUN"\npython serve.py', "", "likely"),
        ('f() { python train.py --workers $1; }\nf 0', "9", "not-needed"),
        ('f() { python train.py "$@"; }\nf --workers 0', "", "not-needed"),
        ('. ./functions.sh\ntrain', "", "needed"),
        ('. ./functions.sh\npython serve.py', "", "not-needed"),
        ('getent passwd me || adduser me\ngroups | xxd\nexec python serve.py', "", "not-needed"),
        ('exec setpriv --reuid="$ID" --regid 1000 --init-groups "$@"', "python serve.py", "not-needed"),
        ('exec setpriv --reuid=1000 --clear-groups -- "$@"', "python train.py", "needed"),
        ('exec runuser -u me -- "$@"', "python train.py", "needed"),
        ('exec s6-setuidgid me "$@"', "python serve.py", "not-needed"),
        ('exec chroot --userspec=me / "$@"', "python train.py", "needed"),
        ('_log() { echo "$1"; }\n_log "starts"\nexec python serve.py', "", "not-needed"),
        ('f() { f a$1; f b$1; f c$1; }\nf x', "", "unknown"),
        ('while [ $# -gt 0 ]; do python train.py; shift; done', "x", "likely"),
        ('while true; do python train.py; done', "", "needed"),
        ('for i in 1 2; do python train.py; done', "", "needed"),
        ('for i in $RUNS; do python train.py; done', "", "likely"),
        ('[ -f x ] || python train.py', "", "likely"),
        ('pip list && python train.py', "", "needed"),
        ('bash -c "cd . && $@"', "python train.py", "needed"),
        ('bash -c "cd . && $*"', "python serve.py", "not-needed"),
        ("bash -c 'exec \"$@\"' -- python train.py", "python serve.py", "needed"),
        ('yes | pip uninstall one; yes no | python serve.py', "", "not-needed"),
        # A shell evaluates what sets itself up; what others print may be any program.
        ('eval "$(conda shell.bash hook)"\nexec python serve.py', "", "not-needed"),
        ("s=\"$('/opt/conda/bin/conda' 'shell.bash' 'hook' 2> /dev/null)\"\neval \"$s\"\npython serve.py", "",
         "not-needed"),
        ('eval "$(micromamba shell hook --shell bash)"\neval "$(pyenv init -)"\npython serve.py', "", "not-needed"),
        ('eval `ssh-agent -s`\neval "$(direnv hook bash)"\npython serve.py', "", "not-needed"),
        ('eval "$(conda shell.bash hook)"\npython train.py', "", "needed"),
        ('eval "$(conda run python commands.py)"\npython serve.py', "", "unknown"),
        ('eval "$(my-conda shell)"\npython serve.py', "", "unknown"),
        ('eval "$(./hook.sh)"\npython serve.py', "", "unknown"),
        ('conda-lock -f environment.yml', "", "not-needed"),
        # Python reads a program from its input.
        ("python - <<'PY'\nDataLoader(d, num_workers=8)\nPY\npython serve.py", "", "unknown"),
        ("python <<PY\nDataLoader(d, num_workers=8)\nPY\npython serve.py", "", "unknown"),
        ("cat train.py | python\npython serve.py", "", "unknown"),
    ],
)  # fmt: skip
def test_conditions_of_scripts(tmp_path: Path, script: str, command: str, verdict: str) -> None:
    files = {
        "Dockerfile": DOCKERFILE + 'ENTRYPOINT ["./entry.sh"]\n', "entry.sh": f"#!/bin/bash\n{script}\n",
        "train.py": LOADER, "serve.py": "print(1)\n", "compose.yaml": compose(command or "[]"),
        "functions.sh": "train() {\n  python train.py\n}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_an_entrypoint_of_the_repository_is_read(tmp_path: Path) -> None:
    """A script of that name in an image starts the rest of its words, one of the repository may do more."""
    dockerfile = f'{DOCKERFILE}ENTRYPOINT ["./docker-entrypoint.sh"]\n'
    files = {"compose.yaml": compose("[]"), "Dockerfile": dockerfile, "train.py": LOADER}
    assert need(tmp_path, {**files, "docker-entrypoint.sh": "#!/bin/bash\npython train.py\n"}).verdict == "needed"


@table(
    "command, verdict",
    [
        ("python train.py", "needed"),
        ("python train.py --workers 0", "not-needed"),
        ("python train.py --workers=2 --batch-size 8", "not-needed"),
        ("bash run.sh", "needed"),
        ("bash run.sh --workers 0", "not-needed"),
        ("sh -c 'cd /app && exec ./run.sh'", "needed"),
        ("torchrun --nproc_per_node=2 train.py", "needed"),
        ("torchrun --nproc_per_node=1 train.py --workers 0", "not-needed"),
        ("torchrun train.py --workers 0", "not-needed"),
        ("torchrun --nproc_per_node=1 missing.py", "likely"),
        ("torchrun --nproc_per_node=1 --nnodes=2 train.py --workers 0", "likely"),
        ("torchrun --nproc_per_node=auto train.py --workers 0", "likely"),
        ("accelerate launch train.py --workers 0", "likely"),
        ("python -m package.serve", "unknown"),
        ("python serve.py", "not-needed"),
        ("python missing.py", "unknown"),
        ("nvidia-smi", "not-needed"),
        ("ffprobe in.mp4", "not-needed"),
        ("bash -c 'groupmod -g 1 users && userdel me; python serve.py'", "not-needed"),
        ("bash -c 'sudo nvpmodel -m 0 && jetson_clocks; sycl-ls; python serve.py'", "not-needed"),
        ("bash -lc -- 'python serve.py'", "not-needed"),
        ("bash -c -e 'torchrun --nproc_per_node=8 train.py'", "needed"),
        ("python train.py --help", "not-needed"),
        ("make build", "not-needed"),
        ("make train", "needed"),
        ("uv run python train.py --workers 0", "not-needed"),
        ("app-train", "needed"),
        ("python -m uvicorn train:app --port 80", "needed"),
        ("python -O -m uvicorn serve:app", "not-needed"),
        ("uvicorn --app-dir work big:app", "needed"),
        ("uvicorn work:app", "needed"),
        ("celery -A work worker", "needed"),
        ("celery --app=serve worker", "not-needed"),
        ("uvicorn gone:app", "unknown"),
        ("flask run --host=0.0.0.0", "needed"),
        ("python -m flask --app serve run", "not-needed"),
        ("gunicorn -c serve.conf", "unknown"),
        ("streamlit run train.py", "needed"),
        ("python -m cProfile -o out serve.py", "not-needed"),
        ("coverage run -m train", "needed"),
        ("kernprof -l train.py --workers 0", "not-needed"),
        ("python serve.py -m cProfile train.py", "not-needed"),
        ("composer --nproc 1 train.py --workers 0", "not-needed"),
        ("colossalai run --nproc_per_node 1 train.py", "needed"),
        ("python -m paddle.distributed.launch --log_dir x train.py", "needed"),
        ("lightning run model --devices 1 train.py", "needed"),
        # What runs on another host, or in another container, puts nothing into this one's /dev/shm.
        ("ssh -p 22 host torchrun --nproc_per_node=8 train.py", "unknown"),
        ("pdsh -w a,b torchrun --nproc_per_node=8 train.py", "unknown"),
        ("kubectl exec pod -- torchrun --nproc_per_node=8 train.py", "unknown"),
        ("docker exec other torchrun --nproc_per_node=8 train.py", "unknown"),
        ("python -c \"import os; os.system('ssh host torchrun --nproc_per_node=8 train.py')\"", "unknown"),
    ],
)
def test_a_command_is_followed_to_its_code(tmp_path: Path, command: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "train.py": LOADER, "serve.py": SERVE,
        "helper.py": HELPER, "run.sh": '#!/bin/bash\nset -e\npython train.py "$@"\n',
        "Makefile": "train: prepare\n\tpython train.py\n\nprepare:\n\ttrue\n",
        "pyproject.toml": '[project]\nname = "app"\n[project.scripts]\napp-train = "train:main"\n',
        "work/__init__.py": "import train\ntrain.main()\n", "work/big.py": "import train\ntrain.main()\n",
        "app.py": "import train\ntrain.main()\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "variable, verdict", [("FLASK_APP=serve.py", "not-needed"), ("FLASK_APP=train", "needed"), ("A=1", "unknown")]
)
def test_what_flask_serves_by_a_variable(tmp_path: Path, variable: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("flask run", f"    environment: [{variable}]\n"), "Dockerfile": DOCKERFILE,
        "train.py": LOADER.replace("if __name__ == \"__main__\":\n    main()", "main()"), "serve.py": SERVE,
        "helper.py": HELPER,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_the_sum_and_its_places_are_given(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": LOADER}
    found = need(tmp_path, files)
    (mechanism,) = found.mechanisms
    batch = 64 * 3 * 224 * 224 * 4
    assert (mechanism.id, mechanism.basis, mechanism.bytes) == ("dataloader", "computed", (8 * 2 + 2) * batch)
    assert mechanism.because == "(8 × 2 + 2) batches × 36.8 MiB"
    assert {e.span.path for e in mechanism.evidence if e.span} == {"train.py"}
    assert (found.minimum, found.recommended) == (mechanism.bytes, 2**30)
    assert "train.py" in [step.text for step in found.trail]


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
    "path, text, verdict",
    [
        ("docs/start.md", "cd gpu\ndocker build -t mine .", "needed"),
        ("docs/start.md", "git clone https://github.com/me/app.git\ncd app/gpu && docker build -t mine .", "needed"),
        ("docs/start.md", "cd ~/app/gpu  # there\ndocker build -t mine -f Dockerfile ..", "needed"),
        ("tools/build.sh", "cd ..\ncd gpu\ndocker build -t mine .", "needed"),
        # It is changed back, in a shell of its own, or elsewhere on the page.
        ("tools/build.sh", "cd gpu; make; cd ..\ndocker build -t mine .", "unknown"),
        ("tools/build.sh", "(cd gpu && make)\ndocker build -t mine .", "unknown"),
        ("docs/start.md", "cd gpu\n```\n\n```\ndocker build -t mine .", "unknown"),
        ("docs/start.md", "cd gpu/$KIND\ndocker build -t mine .", "unknown"),
    ],
)
def test_a_build_in_a_directory_that_is_changed_to(tmp_path: Path, path: str, text: str, verdict: str) -> None:
    text = f"{text}\ndocker run --gpus all mine\n"
    files = {path: f"```\n{text}```\n" if path.endswith("md") else text, "gpu/train.py": LOADER}
    files["gpu/Dockerfile"] = DOCKERFILE + 'COPY train.py gpu/train.py .\nCMD ["python", "train.py"]\n'
    assert need(tmp_path, files).verdict == verdict


@table(
    "path, comment, image, verdict",
    [
        ("Dockerfile", "# docker build -t me/trainer .", "me/trainer", "needed"),
        ("Dockerfile", "#   $ sudo docker build --pull \\\n#     -t me/trainer:2 .", "me/trainer:2", "needed"),
        ("docker/Dockerfile", "# docker build -t me/trainer -f docker/Dockerfile .", "me/trainer", "needed"),
        ("docker/Dockerfile", "# docker build -t me/trainer docker/", "me/trainer", "needed"),
        ("docker/Dockerfile.gpu", "# podman build -f Dockerfile.gpu -t me/trainer .", "me/trainer", "needed"),
        ("Dockerfile", "# Build (with GPUs):  docker build -t me/trainer .", "me/trainer", "needed"),
        # Another owner leads to it by a guess.
        ("Dockerfile", "# docker build -t trainer .", "me/trainer", "likely"),
        # Another Dockerfile's comment, another image, and no comment on a build.
        ("Dockerfile.gpu", "# docker build -t me/trainer .", "me/trainer", "unknown"),
        ("docker/Dockerfile", "# docker build -t me/trainer -f cpu/Dockerfile .", "me/trainer", "unknown"),
        ("Dockerfile", "# docker build -t you/other .", "me/trainer", "unknown"),
        ("Dockerfile", "# docker push me/trainer", "me/trainer", "unknown"),
        ("Dockerfile", "RUN echo docker build -t me/trainer .", "me/trainer", "unknown"),
    ],
)
def test_a_comment_says_how_its_dockerfile_is_built(
    tmp_path: Path, path: str, comment: str, image: str, verdict: str
) -> None:
    build = f"{DOCKERFILE}{comment}\nRUN pip install torch\n"
    files = {"run.sh": f"docker run --gpus all {image}\n", "train.py": LOADER, "docker/train.py": LOADER}
    files[path] = build + 'COPY train.py /app/train.py\nCMD ["python", "/app/train.py"]\n'
    assert need(tmp_path, files, ("run.sh",)).verdict == verdict


@table(
    "tag, image, verdict",
    [
        ("docker tag mine:latest a.io/mine:2", "a.io/mine:2", "needed"),
        ("docker image tag mine other:1", "other:1", "needed"),
        ("docker tag mine a.io/you/mine && docker tag a.io/you/mine other:1", "other:1", "needed"),
        ("docker tag yours:1 a.io/other:2", "a.io/other:2", "likely"),
    ],
)
def test_another_name_for_an_image_that_is_built(tmp_path: Path, tag: str, image: str, verdict: str) -> None:
    text = f"docker build -t mine -f work/Dockerfile .\n{tag}\ndocker run --gpus all {image} python train.py\n"
    files = {"run.sh": text, "work/Dockerfile": DOCKERFILE + "RUN pip install torch\n", "train.py": LOADER}
    assert need(tmp_path, files).verdict == verdict


PUSHES = """
on: push
jobs:
  push:
    runs-on: ubuntu-latest
    steps:
      - uses: docker/metadata-action@v5
        id: meta
        with: {images: "ghcr.io/${{ github.repository }}"}
      - uses: docker/build-push-action@v6
        with: {context: ., file: work/Dockerfile, tags: "${{ steps.meta.outputs.tags }}"}
"""


@table(
    "image, links, verdict",
    [
        ("ghcr.io/me/tool:main", "https://github.com/Me/Tool/issues", "likely"),
        ("ghcr.io/me/tool", "git@github.com:me/tool.git", "likely"),
        ("ghcr.io/me/other", "https://github.com/me/tool", "unknown"),
        ("quay.io/me/tool", "https://github.com/me/tool", "unknown"),
        ("ghcr.io/you/lib", "github.com/me/tool, github.com/me/tool/wiki, github.com/you/lib", "unknown"),
        ("ghcr.io/me/tool", "", "unknown"),
    ],
)
def test_a_workflow_names_its_image_after_the_repository(
    tmp_path: Path, image: str, links: str, verdict: str
) -> None:
    page = f"# Tool\n\n{links}\n\n```bash\ndocker run --gpus all -it {image} bash\n```\n"
    build = DOCKERFILE + "RUN pip install torch\n"
    files = {"README.md": page, ".github/workflows/push.yml": PUSHES, "work/Dockerfile": build}
    assert need(tmp_path, files, ("README.md",)).verdict == verdict


@table(
    "image, more, verdict",
    [
        ("me/tool", (), "not-needed"), ("docker.io/me/tool:gpu", (), "not-needed"),
        ("ghcr.io/Me/Tool:1.2", (), "not-needed"),
        ("you/tool", (), "not-needed"), ("me/tool-server", (), "unknown"), ("me/tool", ("Dockerfile.cpu",), "unknown"),
        ("me/tool", ("dockerfile.cpu",), "unknown"), ("me/tool", ("cpu.dockerfile",), "unknown"),
        ("me/tool", ("Dockerfile.dockerignore",), "not-needed"), ("me/tool", ("dockerfile_parser.py",), "not-needed"),
        ("me/tool", ("Dockerfiles/cpu",), "not-needed"),
    ],
)  # fmt: skip
def test_an_image_with_the_name_of_the_repository_is_built_from_its_only_dockerfile(
    tmp_path: Path, image: str, more: tuple[str, ...], verdict: str
) -> None:
    page = f"# Tool\n\nFrom https://github.com/me/tool\n\n```bash\ndocker run --gpus all {image} --port 80\n```\n"
    build = DOCKERFILE + 'ENTRYPOINT ["python", "serve.py"]\n'
    files = {"README.md": page, "Dockerfile": build, "serve.py": SERVE, "helper.py": HELPER}
    assert need(tmp_path, files | dict.fromkeys(more, build), ("README.md",)).verdict == verdict


@table(
    "path, image, links, dockerfiles, verdict",
    [
        ("README.md", "you/ro-bot", "github.com/me/Robot", ("Dockerfile",), "likely"),
        ("README.md", "you/ro_bot:1", "github.com/me/robot", ("docker/Dockerfile", "docker/Dockerfile.bak"), "likely"),
        ("docker/run.sh", "you/robot", "github.com/me/a, github.com/me/a, github.com/me/robot",
         ("docker/Dockerfile", "Dockerfile.cpu"), "likely"),
        ("README.md", "you/arms", "github.com/me/robot", ("docker/Dockerfile",), "likely"),  # the package at the top
        ("README.md", "you/my-robot:1.2-gpu", "", ("docker/Dockerfile-robot-1.2-gpu", "docker/Dockerfile"), "likely"),
        # Another name, several Dockerfiles, one that is not beside it, and a tag alone.
        ("README.md", "you/robots", "github.com/me/robot", ("Dockerfile",), "unknown"),
        ("README.md", "you/robot", "github.com/me/robot", ("Dockerfile", "Dockerfile.cpu"), "unknown"),
        ("README.md", "you/robot", "github.com/me/robot", ("docker/dockerfile",), "likely"),
        ("README.md", "you/robot", "github.com/me/robot", ("gpu.dockerfile",), "likely"),
        ("README.md", "you/robot", "github.com/me/a, github.com/me/a, github.com/me/robot", ("Dockerfile.cpu",),
         "likely"),
        ("docs/run.sh", "you/robot", "github.com/me/a, github.com/me/a, github.com/me/robot", ("Dockerfile",),
         "unknown"),
        ("README.md", "you/robot:1.2", "", ("docker/Dockerfile-1.2", "docker/Dockerfile"), "unknown"),
        ("README.md", "you/robot", "", ("docker/Dockerfile-robot", "docker/Dockerfile"), "unknown"),
        ("README.md", "you/gpu", "github.com/me/gpu", ("Dockerfile",), "unknown"),
    ],
)  # fmt: skip
def test_an_image_of_somebody_else_that_is_called_like_the_repository(
    tmp_path: Path, path: str, image: str, links: str, dockerfiles: tuple[str, ...], verdict: str
) -> None:
    for old in ("Dockerfile*", "*.dockerfile", "docker/*", "docs/*"):
        for file in tmp_path.glob(old):
            file.unlink()
    start = f"docker run --gpus all -it {image} bash\n"
    build = DOCKERFILE + "RUN pip install torch\n"
    page = f"# Robot\n\nSee {links}\n"
    files = {"README.md": page, "arms/__init__.py": "", **dict.fromkeys(dockerfiles, build)}
    files[path] = f"{page}\n```bash\n{start}```\n" if path.endswith("md") else start
    assert need(tmp_path, files, (path,)).verdict == verdict
    # It stays a guess, also where the same container is started elsewhere with more.
    files[f"{path.rpartition('.')[0]}_too.sh"] = start.replace("-it", "--shm-size=8g -it")
    assert need(tmp_path, files, (path,)).verdict == "likely"


@table(
    "command, verdict",
    [
        ("$LAUNCH python train.py", "likely"),
        ("cd /app && ${LAUNCH} ${MORE} python3 -u train.py --workers 4", "likely"),
        ("${LAUNCH} python train.py --workers 0", "unknown"),
        # It may also be what runs something else, and what is not needed by itself may be started several times.
        ("$LAUNCH python serve.py", "unknown"),
        ("$LAUNCH train.py", "unknown"),
        ("${LAUNCH}x python train.py", "unknown"),
    ],
)
def test_python_behind_a_variable_that_is_unknown(tmp_path: Path, command: str, verdict: str) -> None:
    start = f"docker run --gpus all -v $PWD:/app -w /app python:3.12 bash -c '{command}'\n"
    files = {"run.sh": start, "train.py": LOADER, "serve.py": SERVE, "helper.py": HELPER}
    assert need(tmp_path, files).verdict == verdict


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
    "image, path, verdict",
    [
        ("worker", "worker/Dockerfile", "likely"),
        ("worker:2", "Dockerfile.worker", "likely"),
        ("me/worker", "worker/Dockerfile", "unknown"),
        ("worker", "other/Dockerfile", "unknown"),
    ],
)
def test_an_image_without_an_owner_is_what_is_built_under_its_name(
    tmp_path: Path, image: str, path: str, verdict: str
) -> None:
    for old in ("worker/Dockerfile", "Dockerfile.worker"):
        (tmp_path / old).unlink(missing_ok=True)
    files = {"start.sh": f"docker run --gpus all -it {image}\n", "cpu/Dockerfile": "FROM ubuntu\n"}
    assert need(tmp_path, {**files, path: "FROM ubuntu\nRUN pip install torch\n"}, ("start.sh",)).verdict == verdict


RAY, TORCH = "FROM rayproject/ray:2.9.0-gpu\nRUN pip install gym", "FROM ubuntu\nRUN pip install torch"


@table(
    "folder, image, dockerfile, verdict",
    [
        # Who keeps the Dockerfile and the start in a directory of the image's name has built it.
        ("traffic", "me/traffic:beta5 bash", RAY, "likely"),
        ("traffic", "me/traffic", TORCH, "likely"),
        ("images/traffic", "docker.io/me/traffic bash", TORCH, "likely"),
        ("traffic", "me/traffic python work.py", TORCH, "unknown"),
        # It is another directory, a name that everybody has, or the image of somebody else that they build upon.
        ("traffic/start", "me/traffic bash", RAY, "unknown"),
        ("cars", "me/traffic bash", RAY, "unknown"),
        ("ros", "me/ros bash", RAY, "unknown"),
        ("traffic", "me/traffic bash", "FROM you/traffic\nRUN pip install torch", "unknown"),
        ("traffic", "me/traffic bash", "FROM me/traffic AS old\nRUN true\nFROM old\nRUN pip install torch", "unknown"),
        # It is a guess: of the base image alone nothing is an error, and nothing cleared.
        ("traffic", "me/traffic", "FROM vllm/vllm-openai:v0.5.0", "likely"),
        ("traffic", "traffic", "FROM vllm/vllm-openai:v0.5.0", "likely"),
        ("traffic", "traffic python train.py", "FROM nvcr.io/nvidia/pytorch:24.01-py3", "likely"),
        ("traffic", "me/traffic", "FROM ollama/ollama", "unknown"),
        ("traffic", "traffic bash", "FROM ollama/ollama", "unknown"),
        ("traffic", "traffic ollama serve", "FROM ollama/ollama", "not-needed"),
    ],
)
def test_an_image_of_an_owner_is_what_is_built_in_the_directory_of_its_name(
    tmp_path: Path, folder: str, image: str, dockerfile: str, verdict: str
) -> None:
    files = {f"{folder}/start.sh": f"docker run --gpus 4 -it {image}\n", "cpu/Dockerfile": "FROM ubuntu\n"}
    path = "traffic" if folder.startswith("traffic/") else folder
    files[f"{path}/Dockerfile"] = f"{dockerfile}\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "build, run, verdict",
    [
        ("$IMAGE_NAME", "$IMAGE_NAME", "needed"),
        ("${IMAGE_NAME}", "${IMAGE_NAME}", "needed"),
        ("$OTHER_NAME", "$IMAGE_NAME", "likely"),
        ("$1", "$1", "likely"),
    ],
)
def test_scripts_that_have_the_name_of_an_image_in_a_variable(
    tmp_path: Path, build: str, run: str, verdict: str
) -> None:
    files = {"docker/Dockerfile": DOCKERFILE + 'CMD ["python", "train.py"]\n', "train.py": LOADER}
    files["docker/build.sh"] = f". docker/env.sh\ndocker build -f docker/Dockerfile -t {build} .\n"
    files["docker/run.sh"] = f". docker/env.sh\ndocker run --gpus all {run}\n"
    assert need(tmp_path, files, ("docker/run.sh",)).verdict == verdict


PREDICTOR = """
from detectron2 import model_zoo
from detectron2.config import get_cfg
from detectron2.engine import {}
import cv2

predictor = DefaultPredictor(get_cfg())
predictor(cv2.imread("a.png"))
"""
PAINTS = "import unheard_of\nmodel = unheard_of.Model.from_pretrained('a')\nmodel.train(False)\nmodel.paint('tree')\n"


@table(
    "name, text, verdict",
    [
        ("ask.py", PAINTS, "likely"),  # nothing says that it is PyTorch
        ("ask.py", f"import torch\n{PAINTS}", "unknown"),
        ("ask.py", "import torch\nprint(torch.cuda.is_available())\n", "likely"),
        ("ask.py", f"import torch\n{PAINTS}model.train(epochs=3)\n", "likely"),
        ("ask.py", f"import torch\n{PAINTS}loss.backward(); run(workers=4)\n", "likely"),
        ("tools/train_it.py", f"import torch\n{PAINTS}", "likely"),
        ("ask.py", f"import torch, pytorch_lightning\n{PAINTS}", "unknown"),
        ("ask.sh", "python -m unheard_of --workers 4\n", "likely"),
        # detectron2's predictor is for single pictures, its trainer loads with workers.
        ("ask.py", PREDICTOR.format("DefaultPredictor"), "unknown"),
        ("ask.py", PREDICTOR.format("DefaultPredictor") + "from detectron2.data import build_x\n", "likely"),
        ("ask.py", PREDICTOR.format("DefaultTrainer"), "likely"),
        ("ask.py", PREDICTOR.format("DefaultPredictor, DefaultTrainer"), "likely"),
        ("ask.py", PREDICTOR.format("DefaultPredictor") + "from detectron2.engine import *\n", "likely"),
    ],
)
def test_a_shell_for_code_that_only_uses_models(tmp_path: Path, name: str, text: str, verdict: str) -> None:
    files = {"run.sh": "docker build -t own .\ndocker run --gpus all -v /data:/data -it own bash\n", name: text}
    files |= {"Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}
    shutil.rmtree(tmp_path / "tools", ignore_errors=True)
    for old in tmp_path.glob("ask.*"):
        old.unlink()
    assert need(tmp_path, files).verdict == verdict


WITH_LOADER = "from torch.utils.data import DataLoader\n"
BACKWARD = "import torch\nimport unheard_of\nloss = unheard_of.render()\nloss.backward()\n"


@table(
    "installs, shown, more, verdict",
    [
        ("torch", "python train.py", "", "unknown"),
        ("flask", "python train.py", "", "unknown"),
        ("torch", "python train.py --workers 4", "", "likely"),
        ("torch", "python train.py", f"{WITH_LOADER}DataLoader([], num_workers=4)\n", "likely"),
        ("torch", "python train.py", "exec(input())\n", "likely"),
        ("torch", "python train.py\npython train_other.py", "", "likely"),
        ("torch", "python train_elsewhere.py", "", "likely"),
    ],
)
def test_a_shell_for_training_that_takes_its_steps_itself(
    tmp_path: Path, installs: str, shown: str, more: str, verdict: str
) -> None:
    start = "docker build -t scenes .\ndocker run --gpus all -it scenes bash\n"
    files = {"README.md": f"# Scenes\n\n```bash\n{start}```\n\n```bash\n{shown}\n```\n", "train.py": BACKWARD + more}
    files |= {"Dockerfile": f"{DOCKERFILE}RUN pip install {installs}\n", "train_other.py": "import unheard_of\n"}
    files["parts/loading.py"] = f"{WITH_LOADER}DataLoader([], num_workers=4)\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "chosen, verdict",
    [
        ("if a; then S=/app/work.py; else S=/app/train.py; fi", "likely"),
        ("case $1 in a) S=/app/work.py;; b) S=/app/none.py;; esac", "unknown"),
        ("S=$2; T=/app/train.py", "unknown"),
    ],
)
def test_a_script_that_chooses_what_its_container_runs(tmp_path: Path, chosen: str, verdict: str) -> None:
    run = f"{chosen}\ndocker run --gpus all -v $PWD:/app own/image python $S\n"
    assert need(tmp_path, {"run.sh": run, "train.py": LOADER, "work.py": "print(1)\n"}).verdict == verdict


@table(
    "name, option, verdict",
    [
        ("Dockerfile", "", "needed"),
        ("dockerfile", "", "needed"),
        ("dockerfile", "-f Dockerfile ", "unknown"),
        ("dockerfile.gpu", "", "unknown"),
    ],
)
def test_a_build_that_names_no_dockerfile(tmp_path: Path, name: str, option: str, verdict: str) -> None:
    """In small letters the client takes it where there is no other."""
    for old in (tmp_path / "image").glob("*"):
        old.unlink()
    files = {"run.sh": f"docker build {option}-t own image\ndocker run --gpus all own\n"}
    files |= {f"image/{name}": 'FROM ubuntu\nCMD ["torchrun", "--nproc_per_node=8", "-m", "elsewhere"]\n'}
    assert need(tmp_path, files).verdict == verdict


LOADS = "import torch, transformers\nmodel = transformers.AutoModel.from_pretrained('a')\nmodel.eval()\n"


@table(
    "text, requirements, verdict",
    [
        (LOADS, "transformers", "not-needed"),
        (LOADS, "transformers\nunheard-of", "not-needed"),
        (LOADS, "transformers\ntrl", "unknown"),
        (LOADS, "torch\njupyterlab", "unknown"),
        (LOADS.replace("torch,", "torch, unheard_of,"), "torch", "unknown"),
        (LOADS.replace("torch,", ""), "transformers", "unknown"),
        (LOADS + "loader = torch.utils.data.DataLoader([], num_workers=4)\n", "torch", "likely"),
        (LOADS + "trainer.train(model)\n", "transformers", "unknown"),
        ("import torch\nprint(torch.cuda.is_available())\n", "transformers", "unknown"),
    ],
)
def test_a_dev_container_for_code_that_only_uses_models(
    tmp_path: Path, text: str, requirements: str, verdict: str
) -> None:
    container = '{"image": "mcr.microsoft.com/devcontainers/python", "runArgs": ["--gpus=all"]}\n'
    files = {".devcontainer/devcontainer.json": container, "ask.py": text, "requirements.txt": requirements}
    assert need(tmp_path, files, (".devcontainer/devcontainer.json",)).verdict == verdict


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
    "command, verdict",
    [
        ("./install_tools.sh", "unknown"),
        ("bash -c 'cp -r /scripts/* . && ./run_prepare.sh all'", "unknown"),
        ("python tools/coco_download.py", "unknown"),
        ("./prepare_and_train.sh", "needed"),
        ("bash -c './prepare_data.sh && ./run.sh'", "likely"),
        ("./run_benchmark.sh", "likely"),
        ("./setup_and_run.sh", "likely"),
        ("./prepared.sh", "likely"),
    ],
)
def test_a_script_that_is_called_after_preparing(tmp_path: Path, command: str, verdict: str) -> None:
    text = f"docker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3 {command}\n"
    assert need(tmp_path, {"run.sh": text}).verdict == verdict


def test_a_service_that_prepares_serves_as_well(tmp_path: Path) -> None:
    text = f"services:\n  app:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    command: bash prepare.sh\n    {GPUS}\n"
    assert need(tmp_path, {"compose.yaml": text}).verdict == "likely"


@table(
    "code, setup, verdict",
    [
        ("import kernels", "setup(ext_modules=[CUDAExtension('kernels', ['a.cu'])])", "not-needed"),
        ("import kernels._C", "setup(ext_modules=[CppExtension(name='kernels._C', sources=s)])", "not-needed"),
        ("import kernels", "setup(ext_modules=[CUDAExtension('others', ['a.cu'])])", "unknown"),
        ("import kernels", "setup(install_requires=['kernels'])", "unknown"),
        ("from torch.utils.cpp_extension import load\nload(name='kernels')\nimport kernels", "", "not-needed"),
        ("from torch.utils.cpp_extension import load\nload(name='others')\nimport kernels", "", "unknown"),
    ],
)
def test_modules_that_are_compiled(tmp_path: Path, code: str, setup: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": f"{code}\n"}
    assert need(tmp_path, {**files, "ops/setup.py": setup}).verdict == verdict


@table("run, guessed", [("run.sh", False), ("other.sh", True)])
def test_a_word_that_another_script_is_given_makes_no_error(tmp_path: Path, run: str, guessed: bool) -> None:
    files = {"run.sh": "docker build -t $1 .\n", "Dockerfile": DOCKERFILE + 'CMD ["python", "train.py"]\n'}
    files[run] = files.get(run, "") + "docker run --gpus all $1\n"
    assert need(tmp_path, {**files, "train.py": LOADER}).verdict == ("likely" if guessed else "needed")


GIT = "https://example.org/me"


@table(
    "image, packages, verdict",
    [
        ("python:3.12", "RUN pip install torch\n", "likely"),
        ("python:3.12", "COPY requirements.txt .\nRUN pip install -r requirements.txt\n", "likely"),
        ("python:3.12", "RUN pip install flask\n", "unknown"),
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "", "likely"),
        # Packages by their addresses and files
        ("python:3.12", f"RUN pip install 'git+{GIT}/detectron2.git@v0.6'\n", "likely"),
        ("python:3.12", f"RUN pip3 install -e git+{GIT}/fork.git#egg=fairseq\n", "likely"),
        ("python:3.12", "RUN pip install git+ssh://git@example.org/me/kornia\n", "likely"),
        ("python:3.12", f"RUN pip install git+{GIT}/tool.git\n", "unknown"),
        ("python:3.12", "RUN pip install https://example.org/torch-1.10.0%2Bcu111-cp39-cp39-linux.whl\n", "likely"),
        ("python:3.12", "COPY torch-1.10.0-cp39.whl /tmp\nRUN pip install /tmp/torch-1.10.0-cp39.whl\n", "likely"),
        ("python:3.12", "RUN pip install ./torch-*.whl\n", "likely"),
        ("python:3.12", "RUN pip install tool-1.10.0-cp39.whl torchless-1.0.whl\n", "unknown"),
        ("python:3.12", "COPY wheels.txt .\nRUN pip install -r wheels.txt\n", "likely"),
        ("python:3.12", "COPY git.txt .\nRUN pip install -r git.txt\n", "likely"),
    ],
)
def test_packages_decide_what_a_shell_may_need(tmp_path: Path, image: str, packages: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("bash"), "requirements.txt": "torch==2.5\n",
        "Dockerfile": f"FROM {image}\n{packages}",
    }  # fmt: skip
    files |= {"wheels.txt": "https://example.org/whl/torch-2.0.0-cp39.whl\n", "git.txt": f"-e git+{GIT}/trl.git@1\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "lines, verdict",
    [
        (f"RUN git clone --depth 1 {GIT}/fairseq && cd fairseq && pip install -q --editable .\n",
         "likely"),
        (f"RUN git clone -b main {GIT}/fairseq.git /opt/fs\nRUN apt-get update && cd /opt/fs && \\\n"
         "# all of it\n  pip install .[all]\n", "likely"),
        ("RUN git clone git@example.org:me/vllm.git && pip install -e ./vllm\n", "likely"),
        (f"RUN git clone --recursive {GIT}/pytorch && cd pytorch; python setup.py install\n", "likely"),
        (f"RUN git clone {GIT}/fairseq\n", "unknown"),
        (f"RUN git clone {GIT}/fairseq && git clone {GIT}/a && cd a && make install\n", "unknown"),
        (f"RUN git clone {GIT}/fairseq && apt-get install -y ./tool.deb\n", "unknown"),
        (f"RUN git clone {GIT}/tool && cd tool && python setup.py install\n", "unknown"),
        ("RUN git clone && cd && pip install\n", "unknown"),
        (f"RUN git clone {GIT}/fairseq\nRUN pip install -e ./fairseq\n", "likely"),
        (f"RUN git clone {GIT}/fairseq /opt/a && git clone {GIT}/tool && pip install -e /opt/tool\n", "unknown"),
        (f"RUN pip install -e ./fairseq && git clone {GIT}/fairseq\n", "unknown"),
    ],
)
def test_a_clone_that_the_build_installs(tmp_path: Path, lines: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash"), "Dockerfile": f"FROM python:3.12\n{lines}"}
    assert need(tmp_path, files).verdict == verdict


@table("place, verdict", [("docker", "needed"), ("projects/fast", "likely")])
def test_a_guide_at_the_top_is_not_about_a_project_below(tmp_path: Path, place: str, verdict: str) -> None:
    files = {"START.md": "```\ntorchrun --nproc_per_node=4 train.py\n```\n", "train.py": "print(1)\n"}
    files |= {f"{place}/run.sh": "docker build -t own .\ndocker run --gpus all -it own bash\n"}
    files |= {f"{place}/Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}
    assert need(tmp_path, files).verdict == verdict


SERVES = "```bash\nvllm serve m --tensor-parallel-size 8\n```\n"


def test_what_documentation_starts_in_a_shell_counts(tmp_path: Path) -> None:
    page = f"```bash\ndocker run -it --gpus all own/server bash\n```\n\n{SERVES}"
    assert need(tmp_path, {"README.md": page}).verdict == "needed"


@table("place, verdict", [("docker", "likely"), ("examples/a", "likely"), ("examples/a/b", "unknown")])
def test_a_readme_far_above_is_about_much_else(tmp_path: Path, place: str, verdict: str) -> None:
    files = {f"{place}/run.sh": "docker run -it --gpus all own/server bash\n", "README.md": SERVES}
    assert need(tmp_path, files).verdict == verdict


@table(
    "text",
    [
        "(" * 100_000, "-" * 100_000 + "1", "x = '\0'", "a" + ".b" * 50_000, "not " * 50_000 + "x",
        "from .train import *\nfrom train import *\nimport train\n",
        "if a:\n pass\n" + "elif a:\n pass\n" * 20_000, "x = [" * 1_000, "f(" * 79 + ")" * 79, "0x" + "f" * 100_000,
        "def f(n=" + "1 if a else " * 150 + "2): return f(n)\nf()\n",
        "\n".join(f"v{i} = v{i + 1} + v{i + 1}" for i in range(300)) + "\nDataLoader(d, num_workers=v0)\n",
    ],
)  # fmt: skip
def test_hostile_code_ends_the_trail(tmp_path: Path, text: str) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    assert need(tmp_path, files).verdict in ("unknown", "not-needed")


@table(
    "packages, command, verdict",
    [
        ("ray[serve]", "serve run app:graph", "likely"),
        ("ray[serve]", "serve --help", "not-needed"),
        ("flask", "serve run web:app", "unknown"),
        ("flask", "serve -s build", "unknown"),
    ],
)
def test_ray_serve_is_told_from_others_by_the_package(
    tmp_path: Path, packages: str, command: str, verdict: str
) -> None:
    files = {"compose.yaml": compose(command), "Dockerfile": f"FROM python:3.12\nRUN pip install {packages}\n"}
    assert need(tmp_path, files).verdict == verdict


AS_ROOT = "```bash\ndocker compose exec app bash\n```\n\n```console\n# python own.py\n\n# python own.py -v\n```\n"
ACTORS = "import ray\n\n\ndef start():\n    ray.init(%s)\n"


@table(
    "installed, code, more, verdict",
    [
        ("ray[tune]", ACTORS % "num_cpus=4", {}, "likely"),
        ("ray[tune]", "from ray import tune\ntune.run(steps)\n", {}, "likely"),
        ("ray", ACTORS % "", {"README.md": AS_ROOT}, "unknown"),
        ("ray", "import ray\nray.init()\n", {"README.md": AS_ROOT}, "needed"),
        # Another cluster, nothing that starts it, another package.
        ("ray", ACTORS % "'ray://head:10001'", {}, "unknown"),
        ("ray", ACTORS % "address='auto'", {}, "unknown"),
        ("ray", "import ray\n\n@ray.remote\ndef step():\n    pass\n", {}, "unknown"),
        ("ray", "ray.init()\n", {}, "unknown"),
        ("flask", ACTORS % "", {}, "unknown"),
    ],
)  # fmt: skip
def test_a_shell_for_code_that_starts_ray(
    tmp_path: Path, installed: str, code: str, more: dict[str, str], verdict: str
) -> None:
    files = {
        "compose.yaml": compose("bash", "    tty: true\n    volumes: [.:/app]\n"), "own.py": code, **more,
        "Dockerfile": f"FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install {installed}\nWORKDIR /app\n",
    }  # fmt: skip
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


@table(
    "image, code, verdict",
    [
        ("nvcr.io/nvidia/nemo:24.07", "from lightning import Trainer\nTrainer(devices=-1).fit(net)\n", "likely"),
        ("nvcr.io/nvidia/nemo:24.07", "print(1)\n", "unknown"),
        ("tensorflow/tensorflow:2.15.0", "from lightning import Trainer\nTrainer(devices=-1).fit(net)\n", "unknown"),
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


BLOCK = """services:
  app:
    build:
      context: .KEY
      dockerfile_inline: |
        FROM python:3.12

        RUN pip install torch
        ENV NCCL_P2P_DISABLE=1
        WORKDIR /app
        COPY . .
        CMD python train.py
    GPUS
""".replace("GPUS", GPUS)
LINE = """services:
  app:
    build: {dockerfile_inline: "FROM x\\nENV NCCL_P2P_DISABLE=1\\nWORKDIR /app\\nCOPY . .\\nCMD python train.py"KEY}
    GPUS
""".replace("GPUS", GPUS)


@table(
    "text, key, place, verdict",
    [
        (BLOCK, "", 9, "needed"),
        (BLOCK, "/work", 9, "likely"),
        (LINE, "", 3, "needed"),
        (LINE, ", context: ./work", 3, "likely"),
    ],
)
def test_a_dockerfile_in_a_compose_file_is_read_like_any_other(
    tmp_path: Path, text: str, key: str, place: int, verdict: str
) -> None:
    files = {"compose.yaml": text.replace("KEY", key), "train.py": LOADER, "work/Dockerfile": "FROM scratch\n"}
    assert need(tmp_path, files).verdict == verdict
    (variable,) = findings(tmp_path, files, select=("NCCL501",))
    assert (variable.span.path, variable.span.line) == ("compose.yaml", place)


@table("text", ["|", "|\n", "''", "${X}", ">\n        FROM x\n        ENV A=1\n", "|2\n        FROM x\n"])
def test_a_dockerfile_in_a_compose_file_may_be_empty_or_folded(tmp_path: Path, text: str) -> None:
    written = f"services:\n  app:\n    {GPUS}\n    build:\n      dockerfile_inline: {text}"
    assert need(tmp_path, {"compose.yaml": written}).verdict == "unknown"


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(LOADER, encoding="utf-8")
    inside = tmp_path / "repository"
    inside.mkdir()
    (inside / "train.py").symlink_to(outside)
    found = need(inside, {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE})
    assert (found.verdict, found.stopped) == ("unknown", "`train.py` is not in the repository")


@table(
    "command, serve, stopped",
    [
        ("python serve.py", "import json\nimport nobodys\n", "it imports the unknown package `nobodys` (serve.py:2)"),
        ("python serve.py", "import os\nos.system(x)\n",
         "it starts a program whose name is computed at run time (serve.py:2)"),
        ("python gone.py", "", "`gone.py` is not in the repository"),
        ("python -c 'import nobodys as n; n.run()'", "", "the code after `python -c` is not followed"),
        ("bash serve.sh", "", "`gone` is a program of the image, and what it does is unknown (serve.sh:1)"),
        ("bash -c 'eval \"gone --fast\"'", "", "`gone` is a program of the image, and what it does is unknown"),
        ("ros2 launch a b", "", "`ros2` is a program of the image, and what it does is unknown"),
        ("10s", "", "the image's own program, which gets `10s`, is unknown"),
        ("--model m", "", "the image's own program, which gets `--model`, is unknown"),
    ],
)  # fmt: skip
def test_where_reading_stopped_is_told(tmp_path: Path, command: str, serve: str, stopped: str) -> None:
    files = {
        "compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "serve.py": serve, "serve.sh": "gone --fast\n",
    }  # fmt: skip
    assert need(tmp_path, files).stopped == stopped


@table(
    ("words", "stopped"),
    [
        ('bash -c "$@"', "it runs what its script or function is given (`$@`)"),
        ("$1 --fast", "it runs what its script or function is given (`$1`)"),
        ('"$@"', "it runs what its script or function is given (`$@`)"),
        ("$*", "it runs what its script or function is given (`$*`)"),
        ('""', "the name of its program is empty"),
        ('"${@:2}"', "it runs what its script or function is given (`${@:2}`)"),
        ("$CMD", "the value of `$CMD` is unknown, and it is the program"),
        ('"$(cat cmd)" x', "the value of `$(cat cmd)` is unknown, and it is the program"),
    ],
)
def test_why_a_program_has_no_name_is_told(tmp_path: Path, words: str, stopped: str) -> None:
    found = need(tmp_path, {"run.sh": f"docker run --gpus all other/image {words}\n"})
    assert found.stopped == stopped


@table(
    ("image", "stopped"),
    [
        ("${NAME}:${TAG}", "the image's name is not in the files"),
        ("own:${TAG}", "the image's own command is unknown"),
        ("${NAME:-own}", "the image's own command is unknown"),
    ],
)
def test_an_image_without_a_name_is_told(tmp_path: Path, image: str, stopped: str) -> None:
    found = need(tmp_path, {"compose.yaml": f"services:\n  a:\n    image: {image}\n    gpus: all\n"})
    assert found.stopped == stopped


def test_a_word_for_an_image_that_is_not_built_here(tmp_path: Path) -> None:
    found = need(tmp_path, {"run.sh": "docker run --gpus all other/image ros2 launch\n"})
    assert found.stopped == "`ros2` is a program of the image, and the repository does not build it"


@table(
    "text, places",
    [
        ("def f[T](x: T) -> list[T]:\n    return g(x)\n", [(2, 11)]),
        ("class A[**P, T: dict[str, int]](B, g(1)):\n    async def f[T](self):\n        g(1)\n", [(1, 35), (3, 8)]),
        ("type Device = g('cpu')\ntype Two[T] = list[T]\nx = {'type': g(1)}\n", [(1, 14), (3, 13)]),
        ("""f"a {n["b"]} {{c}} {x['d']} {n["e"]}", g("c")\n""", [(1, 39)]),
        ("""h("x", F"{x["a"]}" "b", g("c"))\n""", [(1, 24)]),
    ],
)
def test_python_of_later_versions_is_read(text: str, places: list[tuple[int, int]]) -> None:
    """By all versions that run this, and what it calls stays in its place."""
    module = parse(text)
    assert module is not None
    calls = [node for node in module.nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "g"]
    assert [(node.lineno, node.col_offset) for node in calls] == places


def test_python_that_cannot_be_read_is_no_module() -> None:
    assert parse("def f(:\n") is None and parse("x = 1\n") is not None


CHECK = 'python -c "import torch; print(torch.cuda.device_count())"'
NGC = "nvcr.io/nvidia/pytorch:21.03-py3"


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
        ("python -c 'import train; train.main()'", "error"),
    ],
)
def test_other_looks_in_other_images(tmp_path: Path, command: str, severity: str) -> None:
    images = ("nvcr.io/nvidia/pytorch:24.12-py3", "nvcr.io/nvidia/pytorch:25.01-py3-igpu", "nvcr.io/nvidia/nemo:24.12")
    for image in images:
        found = findings(tmp_path, {"run.sh": f"docker run --gpus all --rm {image} {command}\n"})
        assert [(f.rule, f.severity) for f in found] == [("SHM101", severity)]


def test_a_service_that_has_its_size(tmp_path: Path) -> None:
    text = f"services:\n  app:\n    image: {NGC}\n    shm_size: '8g'\n    {GPUS}\n"
    assert findings(tmp_path, text) == []


@table(
    "setting, line",
    [
        ({"train.sh": "export NCCL_P2P_DISABLE=1\npython train.py\n"}, ("train.sh", 1)),
        ({"Dockerfile": f"{DOCKERFILE}ENV NCCL_P2P_DISABLE=1\n", "train.sh": "python train.py\n"}, ("Dockerfile", 4)),
    ],
)
def test_variables_of_scripts_and_images_are_checked(
    tmp_path: Path, setting: dict[str, str], line: tuple[str, int]
) -> None:
    files = {"compose.yaml": compose("bash train.sh", "    shm_size: 16g\n"), "Dockerfile": DOCKERFILE, **setting}
    (found,) = findings(tmp_path, files, select=("NCCL501",))
    assert (found.span.path, found.span.line) == line


@table(
    "code, limit, verdict, parts",
    [
        ("import ray\nray.init(object_store_memory=10**10)", "", "needed", {"ray": 10**10}),
        ("import ray\nray.init()", "mem_limit: 10g", "needed", {"ray": int(10 * 2**30 * 0.3)}),
        ("import ray\nray.init()", "", "needed", {"ray": None}),
        ("import ray\nray.init('ray://head:10001')", "", "not-needed", {}),
        ("import ray\nray.init(address='auto')", "", "needed", {"ray": None}),
        ("import ray\nray.init()", "environment: {RAY_ADDRESS: 'ray://head:10001'}", "not-needed", {}),
        ("import ray\nray.init()", "mem_limit: 100m", "not-needed", {}),
        ("from ray import serve\nserve.run(app)", "", "needed", {"ray": None}),
        ("from ray import serve\nserve.start(http_options={'port': 8100})", "", "needed", {"ray": None}),
        ("from ray import serve\n@serve.deployment(num_replicas=2)\nclass App: pass", "", "likely", {"ray": None}),
        ("def tune():\n    import ray\n    ray.init()\n", "", "not-needed", {}),
        ("from web import serve\nserve.run(app)", "", "unknown", {}),
        ("from vllm import LLM\nLLM('m', tensor_parallel_size=2)", "", "needed",
         {"nccl": 106971904, "vllm": 664 * 2**20}),
        ("from vllm import LLM\nLLM('m')", "", "not-needed", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=2**30)", "", "needed",
         {"python-shm": 2**30}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=2**20)", "", "not-needed",
         {}),
        # Segments that fit only alone, or nobody knows how many.
        ("from multiprocessing import shared_memory as s\na, b = (s.SharedMemory(create=True, size=40 * 2**20),\n"
         "        s.SharedMemory(create=True, size=40 * 2**20))", "", "likely", {"python-shm": 80 * 2**20}),
        ("from multiprocessing import shared_memory as s\na = [s.SharedMemory(create=True, size=2**20) for i in x]", "",
         "unknown", {}),
        ("from multiprocessing import shared_memory as s\ndef make(): s.SharedMemory(create=True, size=2**20)\n"
         "def more(): make()\nfor i in x: more()", "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\nfor i in x: s.SharedMemory(create=True, size=8)", "",
         "not-needed", {}),
        ("from multiprocessing import shared_memory as s\ndef make(): s.SharedMemory(create=True, size=2**20)\nmake()",
         "", "not-needed", {}),
        # A segment that fits says nothing of what else such a program does.
        ("from multiprocessing import shared_memory as s\nimport unheard_of\ns.SharedMemory(create=True, size=2**20)",
         "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=a.nbytes)", "", "likely",
         {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\nimport sys\nn = len(sys.stdin.read())\n"
         "s.SharedMemory(create=True, size=int(max(4096, n)))", "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\nimport sys\nn = len(sys.stdin.read())\n"
         "s.SharedMemory(create=True, size=4096 if n else 2**33)", "", "unknown", {}),
        # What attaches to a segment makes none.
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=128)\n"
         "s.SharedMemory(name=a.name)", "", "not-needed", {}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=2**30)\n"
         "s.SharedMemory(a.name, False)", "", "needed", {"python-shm": 2**30}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=b.nbytes)\n"
         "s.SharedMemory(name=a.name)", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=128)\n"
         "s.SharedMemory(name='b', create=c)", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory('a', True, 128)\n"
         "s.SharedMemory(name='frames')", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory('a', True, 128)\ns.SharedMemory('a')", "",
         "not-needed", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(name='frames')", "", "likely",
         {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=1024 * 1024 * 100)", "",
         "needed", {"python-shm": 100 * 2**20}),
        ("import tritonclient.utils.shared_memory as shm\nshm.create_shared_memory_region('a', '/a', 2**30)", "",
         "needed", {"python-shm": 2**30}),
        ("import tritonclient.http as t\nt.InferenceServerClient(url='triton:8000')", "", "not-needed", {}),
        ("from diff_gaussian_rasterization import GaussianRasterizer as R\nR(settings)", "", "not-needed", {}),
        ("from selenium import webdriver\nwebdriver.Chrome()", "", "likely", {"browser": None}),
        ("from selenium import webdriver\no = webdriver.ChromeOptions()\no.add_argument('--headless')\n"
         "webdriver.Chrome(options=o)", "", "likely", {"browser": None}),
        ("from selenium import webdriver\no = webdriver.ChromeOptions()\no.add_argument('--disable-dev-shm-usage')\n"
         "webdriver.Chrome(options=o)", "", "not-needed", {}),
        ("from selenium import webdriver\no = webdriver.ChromeOptions()\nfor a in ['-v', '--disable-dev-shm-usage']:\n"
         "    o.add_argument(a)\nwebdriver.Chrome(options=o)", "", "not-needed", {}),
        ("from selenium import webdriver\n# webdriver.Chrome(['--disable-dev-shm-usage'])\nwebdriver.Chrome()", "",
         "likely", {"browser": None}),
        ("from playwright.sync_api import sync_playwright\nsync_playwright()", "", "not-needed", {}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster()", "", "not-needed", {}),
        ("from dask_cuda import LocalCUDACluster\np = 'tcp'\nLocalCUDACluster(protocol=p)", "", "not-needed", {}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster(protocol='ucx')", "", "likely", {"ucx": None}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster(protocol=p)", "", "likely", {"ucx": None}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster(enable_nvlink=True)", "", "likely", {"ucx": None}),
    ],
)
def test_the_sums_of_programs(
    tmp_path: Path, code: str, limit: str, verdict: str, parts: dict[str, int | None]
) -> None:
    files = {
        "compose.yaml": compose("python train.py", f"    {limit}\n"), "Dockerfile": DOCKERFILE, "train.py": f"{code}\n"
    }  # fmt: skip
    found = need(tmp_path, files)
    assert (found.verdict, {m.id: m.bytes for m in found.mechanisms}) == (verdict, parts)


BATCHES = """
import os
from torch.utils.data import DataLoader
import torchvision
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--img-size", type=int, default=640)
args = parser.parse_args()
loader = DataLoader(data(), batch_size=SIZE, num_workers=int(os.environ.get("WORKERS", 8)))
"""


@table(
    "imported, call, verdict",
    [
        ("from rising.loading import DataLoader", "DataLoader(data, num_workers=4)", "likely"),
        ("import somewhere.loading as l", "l.DataLoader(data, batch_size=8, num_workers=4)", "likely"),
        ("from mxnet.gluon.data import DataLoader", "DataLoader(data, num_workers=4)", "likely"),
        ("from rising.loading import DataLoader\nfrom torchvision.transforms import Resize\nResize(512)",
         "DataLoader(data, batch_size=64, num_workers=4)", "likely"),
        ("from rising.loading import DataLoader", "DataLoader(data, num_workers=0)", "unknown"),
        ("from rising.loading import DataLoader", "DataLoader(data)", "unknown"),
        ("from dgl.dataloading import DataLoader", "DataLoader(g, ids, sampler, num_workers=4)", "likely"),
        ("from dgl.dataloading import GraphDataLoader", "GraphDataLoader(d)", "not-needed"),
        ("import dgl", "dgl.graph(([0], [1]))", "not-needed"),
        ("import dgl", "dgl.graph(([0], [1])).shared_memory('name')", "likely"),
        ("import shared_memory", "shared_memory.other()", "unknown"),
        ("import dgl", "dgl.distributed.initialize('hosts')", "unknown"),
        ("from pcdet.datasets import build_dataloader", "build_dataloader(cfg, names, 4, False)", "likely"),
        ("from pcdet.datasets import build_dataloader", "build_dataloader(cfg, names, 4, False, workers=0)",
         "not-needed"),
        ("from lerobot.scripts.train import train", "train(cfg)", "likely"),
        ("from denoising_diffusion_pytorch import Trainer", "Trainer(model, 'images', train_batch_size=32)", "likely"),
        ("from denoising_diffusion_pytorch import Unet", "Unet(64)", "not-needed"),
        ("from pytorch_metric_learning import testers", "testers.GlobalEmbeddingSpaceTester()", "likely"),
        ("from pytorch_metric_learning import testers",
         "testers.GlobalEmbeddingSpaceTester(dataloader_num_workers=0)", "not-needed"),
        ("from pytorch_metric_learning.trainers import MetricLossOnly", "MetricLossOnly(m, o, 32, l, d)", "likely"),
        ("from pytorch_metric_learning import losses", "losses.TripletMarginLoss()", "not-needed"),
        ("from pyannote.audio.tasks import SpeakerDiarization", "SpeakerDiarization(protocol)", "likely"),
        ("from pyannote.audio import Pipeline", "Pipeline.from_pretrained('x')", "not-needed"),
        ("from modelscope.trainers import build_trainer", "build_trainer(name='x')", "unknown"),
        ("from sentence_transformers import SentenceTransformer",
         "SentenceTransformer('x').start_multi_process_pool()", "likely"),
        ("from sentence_transformers import SentenceTransformer", "SentenceTransformer('x')", "not-needed"),
        ("from cleanfid import fid", "fid.compute_fid('a', 'b')", "likely"),
        ("from cleanfid import fid", "fid.compute_fid('a', 'b', num_workers=0)", "not-needed"),
        ("from pytorch_fid.fid_score import calculate_fid_given_paths as fid", "fid(['a', 'b'], 50, 'cuda', 2048)",
         "likely"),
        ("from pytorch_fid.fid_score import calculate_fid_given_paths as fid", "fid(['a', 'b'], 50, 'cuda', 2048, 0)",
         "not-needed"),
        ("from pytorch_fid.inception import InceptionV3", "InceptionV3([3])", "not-needed"),
        ("import torch_fidelity", "torch_fidelity.calculate_metrics(input1='a', input2='b', fid=True)", "likely"),
        ("import face_alignment", "face_alignment.FaceAlignment('2D').get_landmarks_from_directory('d')", "likely"),
        ("import face_alignment", "face_alignment.FaceAlignment('2D').get_landmarks('a.jpg')", "not-needed"),
        ("import easyocr", "easyocr.Reader(['en']).readtext('a.jpg', workers=8)", "likely"),
        ("import easyocr", "easyocr.Reader(['en']).readtext('a.jpg')", "not-needed"),
        ("from basicsr.train import train_pipeline", "train_pipeline('.')", "unknown"),
        ("from basicsr.archs.rrdbnet_arch import RRDBNet", "RRDBNet(3, 3)", "not-needed"),
        ("import open3d.ml.torch as ml3d", "ml3d.pipelines.SemanticSegmentation(m, d).run_train()", "unknown"),
        ("import open3d as o3d", "o3d.io.read_point_cloud('a.ply')", "not-needed"),
        ("from yolox.core import launch", "launch(main, 1)", "unknown"),
        ("from yolox.utils import postprocess", "postprocess(x, 80)", "not-needed"),
        ("import pyiqa", "pyiqa.create_metric('fid')('a', 'b')", "unknown"),
        ("from haystack.nodes import FARMReader", "FARMReader('m')", "unknown"),
        ("import ffmpegcv", "ffmpegcv.noblock(ffmpegcv.VideoCapture, 'a.mp4')", "unknown"),
        ("import ffmpegcv", "ffmpegcv.VideoCapture('a.mp4')", "not-needed"),
        ("from own.loading import DataLoader", "DataLoader(data, num_workers=4)", "not-needed"),
        ("from .loading import DataLoader", "DataLoader(data, num_workers=4)", "not-needed"),
    ],
)  # fmt: skip
def test_loaders_of_other_libraries(tmp_path: Path, imported: str, call: str, verdict: str) -> None:
    files = {"train.py": f"{imported}\nloader = {call}\n", "own/loading.py": "class DataLoader: pass\n"}
    files |= {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


@table(
    "made, call, verdict",
    [
        ("def made(n):\n    words = [sys.executable, 'work/big.py']\n    words.append('--x')\n    return words",
         "made(1)", "needed"),
        ("def made(n):\n    if n:\n        return ['python', 'work/small.py']\n    return ['python', 'work/big.py']",
         "made(1)", "likely"),
        ("def made():\n    return ['python', 'work/small.py']", "made()", "not-needed"),
        ("class A:\n    def go(self): subprocess.run(self.made())\n"
         "    def made(self): return ['python', 'work/big.py']\nA().go()", "['true']", "needed"),
        ("from work.names import made", "made()", "needed"),
        ("import work.names as names", "names.made()", "needed"),
        ("from work import made", "made()", "needed"),
        ("from work import other", "other()", "unknown"),
        ("def made(): return made()", "made()", "unknown"),
        ("def made(): return [sys.executable, choose()]", "made()", "unknown"),
        ("def made(): return", "made()", "unknown"),
        ("def made(n): return f'python work/small.py --n {n}'", "made(1), shell=True", "not-needed"),
        ("def made(n):\n    text = 'python work/big.py'\n    text += f' --n {n}'\n    return text",
         "made(1), shell=True", "needed"),
        ("def made(): return ' '.join(['python', 'work/big.py'])", "made(), shell=True", "needed"),
        ("def made(n):\n    if n:\n        return 'python work/small.py'\n    return choose()", "made(1), shell=True",
         "unknown"),
        ("def made(n):\n    words = ['python', 'work/big.py', n]\n    return [str(w) for w in words]", "made(1)",
         "needed"),
        ("def made(n): return [w for w in ['python', 'work/small.py'] if w]", "made(1)", "unknown"),
        ("def made(n): return list(map(str, ['python', 'work/big.py', n]))", "made(1)", "needed"),
        ("async def made(): return ['python', 'work/big.py']\nasync def main(): subprocess.run(await made())\nmain()",
         "['true']", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/big.py']\na = A()", "a.made()", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/small.py']\na = A() if x else choose()", "a.made()",
         "unknown"),
        ("class A:\n    def made(self): return ['python', 'work/big.py']\nclass B:\n    def __init__(self):\n"
         "        self.a = A()\n    def go(self): subprocess.run(self.a.made())\nB().go()", "['true']", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/big.py']\n"
         "class B(A):\n    def go(self): subprocess.run(self.made())\nB().go()", "['true']", "needed"),
        ("class A:\n    def made(self): raise NotImplementedError\n    def go(self): subprocess.run(self.made())\n"
         "class B(A):\n    def made(self): return ['python', 'work/big.py']\nB().go()", "['true']", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/small.py']\n"
         "    def go(self): subprocess.run(self.made())\n"
         "class B(A):\n    def made(self): return ['python', 'work/big.py']\nB().go()", "['true']", "likely"),
        ("def made(n):\n    if n:\n        return ['python', 'work/small.py']\n    return choose()",
         "made(1)", "unknown"),
        ("def made(n):\n    if n:\n        return ['python', 'work/small.py']\n    return None",
         "made(1)", "not-needed"),
        ("class A:\n    def go(self): subprocess.run(self.other.made())\n"
         "    def made(self): return ['python', 'work/small.py']\nA().go()", "['true']", "unknown"),
        ("if x:\n    words = ['python', 'work/small.py']\nelse:\n    words = choose()", "words", "unknown"),
        ("", "['python', 'work/small.py'] if x else choose()", "unknown"),
        ("", "'python work/small.py' if x else choose(), shell=True", "unknown"),
        ("", "'python work/small.py' if x else None, shell=True", "not-needed"),
        ("text = 'python work/small.py'\nif x: text = choose()", "text, shell=True", "unknown"),
        ("path = 'work/small.py'\nif x: path = choose()", "['python', path]", "unknown"),
    ],
)  # fmt: skip
def test_commands_that_a_function_returns(tmp_path: Path, made: str, call: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "work/big.py": LOADER,
        "start.py": f"import subprocess, sys\n{made}\nsubprocess.run({call})\n", "work/small.py": "print(1)\n",
        "work/names.py": "def made():\n    return ('python', 'work/big.py')\n",
        "work/__init__.py": "from work.names import made\nfrom work.names import lost as other\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_a_program_that_code_chooses_is_told_in_words(tmp_path: Path) -> None:
    code = "import subprocess\nsubprocess.run([choose(), 'x'])\n"
    files = {"compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "start.py": code}
    assert need(tmp_path, files).stopped.startswith("it starts a program whose name is computed at run time")


@table(
    "own, call, verdict",
    [
        ("class Loader(DataLoader): pass", "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(DataLoader): pass", "Loader(d, batch_size=64, num_workers=0)", "not-needed"),
        ("class Loader(DataLoader): pass", "Loader(d, batch_size=64)", "not-needed"),
        ("class Loader(object): pass", "Loader(d, batch_size=64, num_workers=4)", "not-needed"),
        ("class Other: pass\nclass Base(Other, DataLoader): pass\nclass Loader(Base): pass",
         "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(DataLoader):\n    def __init__(self, *args, **kwargs):\n"
         "        super(Loader, self).__init__(*args, **kwargs)",
         "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(DataLoader):\n    def __init__(self, data):\n"
         "        super().__init__(data, batch_size=64, num_workers=4)", "Loader(d)", "needed"),
        ("class Loader(DataLoader):\n    def __init__(self, data, num_workers):\n"
         "        super().__init__(data, batch_size=64)", "Loader(d, num_workers=4)", "not-needed"),
        ("class Endless(DataLoader): pass\nLoader = DataLoader if weights else Endless",
         "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(Loader): pass", "Loader(d, batch_size=64, num_workers=4)", "not-needed"),
    ],
)  # fmt: skip
def test_loaders_of_the_repository_that_extend_one(tmp_path: Path, own: str, call: str, verdict: str) -> None:
    files = {
        "own/__init__.py": "from .loading import Loader\n",
        "own/loading.py": f"from torch.utils.data import DataLoader\n{own}\n",
        "train.py": f"from torchvision.transforms import Resize\nfrom own import Loader\nResize(512)\nl = {call}\n",
    }
    files |= {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


def test_sizes_that_a_configuration_of_python_gives_as_a_tuple(tmp_path: Path) -> None:
    code = "import cv2\nfrom torch.utils.data import DataLoader\nimport sys\n"
    code += "c = load(sys.argv[1])\nloader = DataLoader(c.data, batch_size=c.batch_size, num_workers=c.workers)\n"
    files = {"compose.yaml": compose("python train.py conf.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    for side, verdict in ((336, "needed"), (16, "not-needed")):
        files["conf.py"] = f"batch_size = 16\nworkers = 4\nimgsize = ({side}, {side})\n"
        assert need(tmp_path, files).verdict == verdict


NAMED = """
import argparse
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

parser = argparse.ArgumentParser()
OPTION
args = parser.parse_args()
loader = DataLoader(DATA, batch_size=64, num_workers=3)
"""


@table(
    "option, data, verdict",
    [
        ('parser.add_argument("--dataset", default="CIFAR10")', "getattr(datasets, args.dataset)()", "not-needed"),
        ('parser.add_argument("--dataset", default="ImageNet")', "getattr(datasets, args.dataset)()", "likely"),
        ('parser.add_argument("--dataset", default="cifar100")', "make(transforms.Resize(224))", "needed"),
        ("", "datasets.MNIST(transform=transforms.ToTensor())", "not-needed"),
        ("", "datasets.CIFAR10(transform=transforms.RandomCrop(32, padding=4))", "not-needed"),
        ("", "make_dataset(folder, resolution=32)", "not-needed"),
        ("", "make_dataset(folder, resolution=512)", "needed"),
        ("", "make_dataset(folder, length=32)", "likely"),
        ("", "make(transforms.Resize(64))", "not-needed"),
        # 54 MiB of images, and there may be a mask beside each.
        ("", "make(transforms.Resize(96))", "likely"),
        ("", "draw(folder, resolution=512)", "likely"),
    ],
)
def test_the_size_of_the_items_decides(tmp_path: Path, option: str, data: str, verdict: str) -> None:
    code = NAMED.replace("OPTION", option).replace("DATA", data)
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    assert need(tmp_path, files).verdict == verdict


def test_validation_has_a_loader_of_its_own(tmp_path: Path) -> None:
    code = "from ultralytics import YOLO\nYOLO('n.pt').train(data='x', workers=WORKERS, batch=4)\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE}
    found = need(tmp_path, {**files, "train.py": code.replace("WORKERS", "4")})
    assert found.verdict == "needed"
    assert "(4 × 2 + 2) batches × 4.7 MiB, and of validation (8 × 2 + 2) × 9.4 MiB" in found.because
    assert need(tmp_path, {**files, "train.py": code.replace("WORKERS", "0")}).verdict == "not-needed"


def test_a_size_in_a_module_that_says_nothing_else_counts(tmp_path: Path) -> None:
    code = "import torchvision\nfrom items import make\nfrom torch.utils.data import DataLoader\n"
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE,
        "train.py": f"{code}DataLoader(make(), num_workers=8, batch_size=64)\n",
        "items.py": "import torch\ndef make():\n    return torch.images(resolution=512)\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "needed"


@table(
    "script, verdict",
    [
        ("python train.py", "not-needed"),
        ("export OTHER=$(date)\npython train.py", "not-needed"),
        ("export WORKERS=${WORKERS:-0}\npython train.py", "not-needed"),
        ("export WORKERS=$(cat workers.txt)\npython train.py", "unknown"),
        ("WORKERS=`nproc`\nexport WORKERS\npython train.py", "unknown"),
        ("export $(grep -v '^#' .env | xargs)\npython train.py", "unknown"),
        ("if [ -f .env ]; then export `cat .env`; fi\npython train.py", "unknown"),
        ("while read line; do export \"$line\"; done < .env\npython train.py", "unknown"),
        ("for WORKERS in 8; do export WORKERS; python train.py; done", "unknown"),
        ("read WORKERS < workers.txt\nexport WORKERS\npython train.py", "unknown"),
        ("OTHER=1\nexport OTHER\npython train.py", "not-needed"),
    ],
)
def test_a_script_exports_what_is_not_written_down(tmp_path: Path, script: str, verdict: str) -> None:
    """Such a variable may give the loader workers that its default does not."""
    code = f"import os\n{WITH_LOADER}DataLoader(d, num_workers=int(os.getenv('WORKERS', '0')))\n"
    files = {"compose.yaml": compose("bash run.sh"), "Dockerfile": DOCKERFILE, "run.sh": script, "train.py": code}
    assert need(tmp_path, files).verdict == verdict


@table(
    "size, environment, verdict",
    [
        ("16", "", "needed"),
        ("16", "environment: {WORKERS: 0}", "not-needed"),
        ("16", "environment: {WORKERS: '${WORKERS}'}", "likely"),
        ("make()", "", "needed"),
    ],
)
def test_sizes_of_options_and_defaults_of_variables(tmp_path: Path, size: str, environment: str, verdict: str) -> None:
    code = BATCHES.replace("SIZE", size)
    files = {
        "compose.yaml": compose("python train.py", f"    {environment}\n"), "Dockerfile": DOCKERFILE, "train.py": code
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "script",
    [
        "shopt -s nullglob\ndeclare -a names\nmapfile -t names < list\npushd /app\numask 0\npython serve.py\n",
        'set -e\ntrap "kill 0" EXIT\nulimit -n 4096\nreadonly A=1\nexec "$@"\n',
    ],
)
def test_builtins_of_shells_do_not_end_the_trail(tmp_path: Path, script: str) -> None:
    files = {
        "compose.yaml": compose("python serve.py", "    entrypoint: ./run.sh\n"), "Dockerfile": DOCKERFILE,
        "run.sh": f"#!/bin/bash\n{script}", "serve.py": SERVE, "helper.py": HELPER,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "not-needed"


@table(
    "command, verdict",
    [
        ("xterm", "likely"), ("xfce4-terminal --title=Work", "likely"), ("gnome-terminal", "likely"),
        ("terminator -e top", "unknown"), ("xterm -e ./run", "unknown"), ("konsole --command=./run", "unknown"),
    ],
)  # fmt: skip
def test_a_window_with_a_terminal_is_a_shell(tmp_path: Path, command: str, verdict: str) -> None:
    script = f"docker run --gpus all -e DISPLAY owner/pytorch:1 {command}\n"
    assert need(tmp_path, {"run.sh": script}).verdict == verdict


def test_what_documentation_runs_behind_the_script_of_a_shell_counts(tmp_path: Path) -> None:
    page = "```bash\n./shell.sh\n```\n\n```bash\npython train.py\n```\n"
    script = "docker run -it --gpus all -v $PWD:/app -w /app pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime bash\n"
    assert need(tmp_path, {"README.md": page, "shell.sh": script, "train.py": LOADER}).verdict == "needed"


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


SHELL = "docker run -it --gpus all -v $PWD:/app -w /app --name box pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime"
RANKS = "#!/bin/bash\ntorchrun --nproc_per_node=${GPUS} other.py\n"


@table(
    "name, text",
    [
        ("README.md", f"```bash\n{SHELL} bash\n```\n\n```bash\nsource config.sh\n./ranks.sh\n```\n"),
        ("README.md", f"```bash\n{SHELL} bash\n```\n\n```bash\nGPUS=8 ./ranks.sh\n```\n"),
        ("README.md", f"```bash\n{SHELL} sleep infinity\n```\n\n```bash\ndocker exec -it box python train.py\n```\n"),
        ("start.sh", f"{SHELL} sleep infinity\ndocker exec -w /app box python train.py\n"),
    ],
)
def test_what_runs_later_in_a_shell_counts(tmp_path: Path, name: str, text: str) -> None:
    files = {name: text, "train.py": LOADER, "config.sh": "export GPUS=4\n", "ranks.sh": RANKS}
    assert need(tmp_path, files).verdict == "needed"


@table(
    "words, verdict",
    [
        ("pytest -v tests/distributed/test_step.py", "likely"),
        ("python -m pytest tests/test_multi_gpu.py::test_step", "likely"),
        ("pytest -x tests/nccl", "likely"),
        ("pytest tests/test_step.py", "unknown"),
        ("pytest --ignore tests/distributed tests/test_step.py", "unknown"),
        ("pytest --ignore=tests/distributed tests", "unknown"),
        ("check tests/distributed", "unknown"),
    ],
)
def test_tests_of_several_ranks(tmp_path: Path, words: str, verdict: str) -> None:
    started = f"docker run --gpus all -w /app {SHELL.split()[-1]} {words}\n"
    assert need(tmp_path, {"start.sh": started}).verdict == verdict
    if verdict == "likely":
        assert need(tmp_path, {"start.sh": started.replace("all", "1")}).verdict == "unknown"


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
    files = {"work/start.sh": f"{SHELL} bash\n", "work/starting.md": page, "ranks.sh": RANKS.replace("${GPUS}", "4")}
    assert need(tmp_path, files).verdict == verdict
    top = {"start.sh": files["work/start.sh"], "starting.md": page.replace("work/", ""), "ranks.sh": files["ranks.sh"]}
    (tmp_path / "top").mkdir()
    assert need(tmp_path / "top", top).verdict == verdict


WAITS = "name=box\n" + SHELL.replace("-it", "-dit").replace("box", '"$name"') + " bash\n"
OUTSIDE = f"docker run -dit --name box {SHELL.split()[-1]}\ndocker exec box python prepare.py\n"
STEPS = f"jobs:\n  a:\n    steps:\n      - run: {SHELL} bash\n      - run: docker exec -w /app box python serve.py\n"


@table(
    "files, verdict",
    [
        ({"start.sh": WAITS + 'docker exec -d "$name" sh -c "export A=1 && python serve.py"\n'}, "not-needed"),
        ({"start.sh": WAITS + 'docker exec -d "$name" python train.py --workers 0\n'}, "not-needed"),
        ({"start.sh": WAITS + "docker container exec -d box python train.py\n"}, "needed"),
        ({"start.sh": WAITS + "docker exec -eA=1 --workdir work box python big.py --workers 0\n"}, "not-needed"),
        ({".github/workflows/a.yml": STEPS}, "not-needed"),
        # Only the script enters the container.
        ({"start.sh": WAITS + "docker exec box python serve.py\ndocker exec -it box bash\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "in.sh": "docker exec -it box bash\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "README.md": "`docker attach box`\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "other.sh": OUTSIDE}, "not-needed"),
        ({"start.sh": WAITS + "docker exec other python serve.py\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec $OTHER python serve.py\n"}, "likely"),
        # What prepares a container does not say what it is for.
        ({"start.sh": WAITS + "docker exec box bash prepare.sh\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box pip install -e .\n"}, "likely"),
        # What it is given may say otherwise.
        ({"start.sh": WAITS + "docker exec $MORE box python serve.py\n"}, "unknown"),
        ({"start.sh": WAITS + "docker exec --env-file env box python serve.py\n"}, "unknown"),
    ],
)
def test_what_only_a_script_runs_in_its_container(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    code = {"train.py": LOADER, "serve.py": SERVE, "helper.py": HELPER, "work/big.py": LOADER}
    assert need(tmp_path, code | files).verdict == verdict


PYTORCH = "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime"
CONTAINER = '{"image": "' + PYTORCH + '", "workspaceFolder": "/app", "runArgs": ["--gpus", "all"]}'
RECIPES = "train check:\n\tpython train.py\n"
CPUS = LOADER.replace("num_workers=args.workers", "num_workers=min(args.batch_size, os.cpu_count())")


@table(
    "files, verdict",
    [
        # A page further away counts where the README tells of no program.
        ({"docs/training.md": "    python train.py\n", "train.py": LOADER}, "needed"),
        ({"docs/training.md": "    python train.py --workers 0\n", "train.py": LOADER}, "likely"),
        ({"GETTING_STARTED.md": "    python train.py\n", "train.py": LOADER}, "needed"),
        ({"CHANGES.md": "    python train.py\n", "train.py": LOADER}, "likely"),
        ({"README.md": "```\n./train.py --workers 4\n```\n", "train.py": LOADER}, "needed"),
        # A name alone is one in a list of files: no shell finds it.
        ({"README.md": "```\ntrain.py\nrun.sh\n```\n", "docs/start.md": "    python train.py\n", "train.py": LOADER},
         "needed"),
        ({"README.md": "```\nmake train\n```\n", "Makefile": RECIPES, "train.py": LOADER}, "needed"),
        ({"README.md": "```\nmake check\n```\n", "Makefile": RECIPES, "train.py": LOADER}, "likely"),
        ({"README.md": "```\npython train.py\n```\n", "train.py": LOADER}, "needed"),
        ({"README.md": "```\npython train.py --batch-size 1\n```\n", "train.py": LOADER}, "likely"),
        ({"README.md": "```\napp-train\n```\n", "train.py": LOADER}, "needed"),
        # One worker is enough, however many CPUs there are.
        ({"README.md": "```\npython train.py\n```\n", "train.py": CPUS}, "needed"),
        ({"README.md": "```\npython train.py --batch-size 4\n```\n", "train.py": CPUS}, "likely"),
        # Nothing says that it is run here.
        ({"train.py": LOADER}, "likely"),
    ],
)
def test_what_a_dev_container_is_for(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    project = '[project]\nname = "app"\n[project.scripts]\napp-train = "train:main"\n'
    files = {".devcontainer/devcontainer.json": CONTAINER, "pyproject.toml": project, **files}
    assert need(tmp_path, files).verdict == verdict


@table(
    "path, line, verdict",
    [
        ("Makefile", "train:\n\tdocker compose run --rm app python train.py", "needed"),
        ("Makefile", "UP = docker compose -f compose.yaml\ntrain:\n\t$(UP) run --rm -e A=1 app python train.py",
         "needed"),
        ("justfile", "train:\n    docker compose exec -T app python train.py", "needed"),
        ("scripts/train.sh", "docker-compose --profile gpu run --name it app python train.py", "needed"),
        ("train.sh", "docker compose run app python train.py --workers 0", "likely"),
        ("train.sh", "docker compose up -d app", "likely"),
        # Another service, file or program, or without a GPU.
        ("train.sh", "docker compose run other python train.py", "likely"),
        ("train.sh", "docker compose -f other.yaml run app python train.py", "likely"),
        ("train.sh", "docker compose run --entrypoint sh app python train.py", "likely"),
        ("train.sh", "docker compose run -e NVIDIA_VISIBLE_DEVICES= app python train.py", "likely"),
        ("train.sh", "echo 'docker compose run app python train.py'", "likely"),
    ],
)
def test_what_scripts_run_in_a_service(tmp_path: Path, path: str, line: str, verdict: str) -> None:
    build = f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"
    files = {"compose.yaml": compose("sleep infinity"), "Dockerfile": build, "train.py": LOADER}
    assert need(tmp_path, {**files, path: f"{line}\n"}).verdict == verdict


def test_a_page_tells_more_than_scripts_that_only_test(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("bash"), "Dockerfile": f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"}
    files |= {"train.py": LOADER, "Makefile": "test:\n\tdocker compose run app pytest\n"}
    assert need(tmp_path, files).verdict == "likely"
    files["README.md"] = "```\ndocker compose run app python train.py\n```\n"
    assert need(tmp_path, files).verdict == "needed"


OTHER = '{"image": "example.org/team/tools:1", "workspaceFolder": "/app", "runArgs": ["--gpus", "all"]}'
WITH_WORKERS = "from torch.utils.data import DataLoader\nDataLoader(data(), num_workers=%s)\n"


@table(
    "container, files, verdict",
    [
        (OTHER, {"src/fit.py": WITH_WORKERS % "n"}, "likely"),
        (OTHER, {"src/fit.py": WITH_WORKERS % "0"}, "not-needed"),
        (OTHER, {"src/fit.py": WITH_WORKERS.replace("torch.utils.data", "own.loading") % "n"}, "unknown"),
        (OTHER, {"requirements/dev.txt": "torch==2.5\n"}, "likely"),
        (OTHER, {"requirements/prod.in": "torch\n"}, "likely"),
        (OTHER, {"requirements.in": "torch\n"}, "likely"),
        (OTHER, {"requirements/notes.md": "- torch\n"}, "unknown"),
    ],
)
def test_a_dev_container_of_unknown_packages(
    tmp_path: Path, container: str, files: dict[str, str], verdict: str
) -> None:
    assert need(tmp_path, {".devcontainer/devcontainer.json": container, **files}).verdict == verdict


ALONE = "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader(data(), batch_size=4)\n"
CELLS = '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "import %s\\n", "loss.backward()"]}]}'
MARKDOWN = '{"cell_type": "markdown", "source": ["distributed"]}'
TRAINER = "from transformers import Trainer\nTrainer(model, train_dataset=data).train()\n"
ONE_IMAGE = LOADER.replace("default=64", "default=1")


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
    "name, text, verdict",
    [
        ("data.py", "count = get_worker_info().num_workers\n", "not-needed"),
        ("data.py", "count = worker_info.num_workers\nloader(num_workers=count)\n", "likely"),
        ("data.py", "near = tree.query(points, k=1, workers=-1)\n", "not-needed"),
        ("data.py", "near = service.query(points, workers=4)\n", "likely"),
        ("data.py", "index = scipy.spatial.cKDTree(a)\nnear, _ = index.query(a, workers=-1)\n", "not-needed"),
        ("data.py", "index = scipy.spatial.cKDTree(a)\nnear = other.query(a, workers=4)\n", "likely"),
        ("data.py", r"print('\nProcessed all')" + "\n", "not-needed"),
        ("data.py", "nprocess = 4\n", "likely"),
        ("data.py", "from joblib import Parallel\nParallel(n_jobs=4)(f(x) for x in y)\n", "not-needed"),
        ("data.py", "import joblib\njoblib.Parallel(4)(x)\n", "not-needed"),
        ("data.py", "model = Parallel(model)\n", "likely"),
        # Threads, what is told to people, an argument by itself, names of the repository's own functions.
        ("get.py", "from concurrent.futures import ThreadPoolExecutor\n"
         "with ThreadPoolExecutor(\n    max_workers=8) as p: p.map(get, x)\n", "not-needed"),
        ("get.py", "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor(max_workers=8)\n",
         "likely"),
        ("get.py", "from multiprocessing.pool import ThreadPool\nThreadPool(8).map(get, x)\n", "not-needed"),
        ("get.py", "from multiprocessing.pool import Pool\nPool(8).map(get, x)\n", "likely"),
        ("get.py", "import multiprocessing as mp\nn = mp.cpu_count()\n", "not-needed"),
        ("get.py", "from multiprocessing import cpu_count\nn = cpu_count()\n", "not-needed"),
        ("get.py", "import multiprocessing as mp\nn = mp.cpu_count()\nmp.Pool(n)\n", "likely"),
        ("get.py", "from joblib import Parallel, delayed\nParallel(n_jobs=4, backend='threading')(x)\n", "not-needed"),
        ("get.py", "import numba\n@numba.njit(parallel=True)\ndef sum_up(x): return x\n", "not-needed"),
        ("get.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers', default=4)\n",
         "not-needed"),
        ("get.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers', default=4)\n"
         "run(**vars(p.parse_args()))\n", "likely"),
        ("get.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers')\n"
         "load(p.parse_args().workers)\n", "likely"),
        ("get.py", "print(f'{n} workers in parallel')\nraise ValueError('not distributed')\n", "not-needed"),
        ("get.py", "import os\nos.system('torchrun fit.py')\n", "likely"),
        ("get.py", "import os\nos.environ['TOKENIZERS_PARALLELISM'] = 'false'\n", "not-needed"),
        ("step.py", "def step_parallel(x): return x\nstep_parallel(1)\n", "not-needed"),
        ("step.py", "def step_parallel(x): return nn.DataParallel(x)\nstep_parallel(1)\n", "likely"),
        ("step.py", "step_parallel(1)\nparallel_lines(2, max_workers=8)\n", "not-needed"),
        ("step.py", "data_parallel(net, 1)\n", "likely"),
        ("step.py", "def num_workers(x): return 4\nload(num_workers=num_workers(1))\n", "likely"),
        ("net.py", "net.processor = LoRAAttnProcessor()\n", "not-needed"),
        ("net.py", "world.respawn(car)\n", "not-needed"),
        ("net.py", "go(undistributed=1)\n", "not-needed"),
        ("net.py", "go(use_distributed=1)\n", "likely"),
        ("net.py", "start(nprocs=2)\n", "likely"),
        ("net.py", "seed_everything(1, workers=True)\n", "not-needed"),
        ("net.py", "load(1, persistent_workers=True)\n", "likely"),
        ("net.py", "import torch\nalone = not torch.distributed.is_initialized()\n", "not-needed"),
        ("net.py", "import torch\ntorch.distributed.is_available() and torch.distributed.barrier()\n", "likely"),
        ("net.py", "class TorchRunType: pass\n", "not-needed"),
        ("net.py", "from keras.layers import TimeDistributed\nTimeDistributed(net)\n", "not-needed"),
        ("net.py", "data.map(read, num_parallel_calls=8)\n", "not-needed"),
        ("net.py", "data.map(read, num_parallel=8)\n", "not-needed"),
        ("serve.sh", "app serve --tensor-parallel-size 1\n", "not-needed"),
        ("serve.sh", "app serve --tensor-parallel-size 16\n", "likely"),
        ("light.py", "ray = a - b\nself.ray.normalize(); ray.dot(n)\n", "not-needed"),
        ("light.py", "import ray\nray.init()\n", "likely"),
        ("start.sh", "ray start --head\n", "likely"),
        ("world.py", "world.spawn_actor(car, min_spawn_distance=3)\n", "not-needed"),
        ("world.py", "spawn(train)\n", "likely"),
        ("world.py", "class Car:\n    def spawn(self): return 1\nspawn = Car().spawn()\n", "not-needed"),
        ("world.yaml", "start_method: spawn\n", "likely"),
        ("gpu.py", "limit = kMaxBlocksPerMultiProcessor\nget_shared_memory_per_block(1)\n", "not-needed"),
        ("gpu.py", "runner = MultiProcessorPool()\n", "unknown"),
        ("environment.yml", "name: a\ndependencies:\n- python\n- nccl=2.1\n- pip:\n  - flask\n", "not-needed"),
        ("environment.yml", "name: a\ndependencies:\n- python\nworkers: 4\n", "likely"),
        ("serve.py", "import uvicorn\nuvicorn.run(app,\n    workers=4)\n", "not-needed"),
        ("serve.sh", "uvicorn app:app --workers 4\n", "not-needed"),
        ("é.py", "é = 'é'; print('é', 'é workers'); load(workers=4)\n", "likely"),
        ("build.sh", "make -j$(nproc)\nmake -j \"`nproc --all`\" install\n", "not-needed"),
        ("build.sh", "MAX_JOBS=$(nproc) pip install .\ncmake --build . --parallel $(nproc)\n", "not-needed"),
        ("build.sh", "mpirun -np $(nproc) python fit.py\n", "likely"),
        ("build.sh", "cmake .. && parallel python fit.py\n", "not-needed"),
        ("all.sh", "run_train() {\n  make train\n  python fit.py train\n  ./all.sh train\n}\n", "not-needed"),
        ("all.sh", "unheard_train 4\n", "likely"),
        ("all.sh", "A=1 unheard-cli train --data a\n", "likely"),
        ("build.sh", "python fit.py -j $(nproc) --workers 4\n", "likely"),
    ],
)
def test_words_that_say_nothing_of_loaders_or_ranks(tmp_path: Path, name: str, text: str, verdict: str) -> None:
    files = {".devcontainer/devcontainer.json": CONTAINER, "fit.py": ALONE, name: text}
    assert need(tmp_path, files).verdict == verdict


@table(
    "name, text, verdict",
    [
        ("ask.py", "", "unknown"),
        ("ask.py", "def ready(num_workers: int = 4): return model.load(threads=num_workers)\n", "unknown"),
        ("ask.py", "from multiprocessing import Pool\nimport torch.distributed as dist\n", "unknown"),
        ("ask.py", "import ultralytics\nultralytics.YOLO('n.pt').track('a.mp4')\n", "unknown"),
        ("net.py", "import unheard_of\nbatch(workers=0).backward()\nworld_size = 1\n", "unknown"),
        ("size.yaml", "size: 4\n", "unknown"),
        # Signs: workers, ranks, processes, and what may train with workers of its own.
        ("ask.py", "load(num_workers=4)\n", "likely"),
        ("ask.py", "from torch.utils.data import DataLoader\nNUM_WORKERS = 4\nDataLoader(d)\n", "likely"),
        ("ask.py", "from torch.utils.data import DataLoader\nDataLoader(d, 4, False, None, None, 8)\n", "likely"),
        ("ask.py", "from multiprocessing import Pool\nPool(4)\n", "likely"),
        ("ask.py", "import torch.distributed as dist\ndist.barrier()\n", "likely"),
        ("ask.py", "import subprocess\nsubprocess.run(['torchrun', 'fit.py'])\n", "likely"),
        ("ask.py", "import ultralytics\nultralytics.YOLO('n.pt').train(data='a')\n", "likely"),
        ("ask.py", "import ultralytics\nmodel = ultralytics.YOLO('n.pt')\nmodel.val()\n", "likely"),
        ("ask.py", "import unheard_of\nunheard_of.fine_tune(data)\n", "likely"),
        ("ask.sh", "torchrun ask.py\n", "likely"),
        ("ask.sh", "python ask.py --train data\npython train/ask.py\n", "unknown"),
        ("ask.sh", "unheard-train --data a\n", "likely"),
        ("ask.sh", "unheard train --data a\n", "likely"),
        ("ask.ipynb", CELLS % "unheard_of\\n\", \"!unheard-train a", "likely"),
        ("ask.ipynb", CELLS % "unheard_of\\n\", \"!python ask.py", "unknown"),
        ("fit.yaml", "_target_: lightning.pytorch.Trainer\n", "likely"),
        ("ask.ipynb", CELLS % "unheard_of\\n!torchrun ask.py", "likely"),
    ],
)
def test_a_shell_for_code_without_a_sign_of_shared_memory(tmp_path: Path, name: str, text: str, verdict: str) -> None:
    """A word alone is no sign, and what else runs is unknown; code that is not there says nothing."""
    asks = "import torch, unheard_of\nmodel = unheard_of.Model.from_pretrained('a')\ndef world_size(): return 1\n"
    files = {".devcontainer/devcontainer.json": CONTAINER, "ask.py": asks}
    text = f"{asks}{text}" if name == "ask.py" else text
    assert need(tmp_path, files | {name: text}).verdict == verdict


@table(
    "name, mount, verdict",
    [
        ("Makefile", "$(CURDIR)", "not-needed"), ("Makefile", "$(shell pwd)", "not-needed"),
        ("Makefile", "${shell pwd -P}/", "not-needed"), ("Makefile", "$(abspath .)", "not-needed"),
        ("Makefile", "$(realpath ./)", "not-needed"), ("Makefile", "$(HERE)", "not-needed"),
        ("Makefile", "$(shell git rev-parse --show-toplevel)", "not-needed"),
        ("Makefile", "$(dir $(abspath $(lastword $(MAKEFILE_LIST))))", "not-needed"),
        ("Makefile", "$(shell pwd)/data", "likely"), ("Makefile", "$(shell date)", "likely"),
        ("Makefile", "$(abspath $(X))", "likely"), ("Makefile", "$(shell cd /a && pwd)", "likely"),
        ("justfile", "{{justfile_directory()}}", "not-needed"), ("justfile", "{{ data_directory() }}", "likely"),
    ],
)  # fmt: skip
def test_what_a_makefile_mounts_of_the_directory_that_it_is_in(
    tmp_path: Path, name: str, mount: str, verdict: str
) -> None:
    start = f"docker run --gpus all -it -v {mount}:/app -w /app {PYTORCH} bash\n"
    text = f"run:\n\t{start}" if name == "justfile" else f"HERE := $(shell pwd)\n\nrun:\n\t{start}"
    assert need(tmp_path, {name: text, "fit.py": ALONE, "data/d": ""}, (name,)).verdict == verdict


@table(
    "packages, verdict",
    [('"torch>=2",\n    "flask"', "not-needed"), ('"torch>=2",\n    "deepspeed>=0.16"', "unknown")],
)
def test_a_list_of_packages_starts_nothing(tmp_path: Path, packages: str, verdict: str) -> None:
    """What is installed and not used may be started by hand."""
    project = f'[project]\nname = "own"\ndependencies = [\n    {packages},\n]\n'
    files = {".devcontainer/devcontainer.json": CONTAINER, "fit.py": ALONE, "pyproject.toml": project}
    assert need(tmp_path, files).verdict == verdict
    task = '[tool.poe.tasks]\nfit = "torchrun fit.py"\n'
    assert need(tmp_path, files | {"pyproject.toml": f"{project}{task}"}).verdict == "likely"


@table(
    "base, program, verdict",
    [
        (NGC, ALONE, "unknown"),
        (NGC, ALONE.replace("=4", "=4, num_workers=n"), "likely"),
        (NGC, ALONE + "DataLoader(data(), num_workers=2)\n", "likely"),
        (NGC, ALONE + "import importlib, sys\nimportlib.import_module(sys.argv[1])\n", "likely"),
        ("python:3.12", ALONE, "unknown"),
    ],
)
def test_programs_that_load_without_workers_say_more_than_their_image(
    tmp_path: Path, base: str, program: str, verdict: str
) -> None:
    build = f"FROM {base}\nWORKDIR /app\nCOPY . .\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": build}
    assert need(tmp_path, {**files, "train.py": f"import unheard_of\n{program}"}).verdict == verdict


@table(
    "line, verdict",
    [
        ('sys.path.append("lib")', "needed"),
        ("if True:\n    sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))", "needed"),
        ('sys.path.append("other")', "unknown"),
        ("# sys.path.append('lib')", "unknown"),
        ("sys.path.append('../../..')", "unknown"),
    ],
)
def test_directories_that_a_program_adds_to_its_path(tmp_path: Path, line: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python run.py"), "Dockerfile": DOCKERFILE, "lib/fit_it.py": LOADER}
    files["run.py"] = f"import os, sys\n{line}\nimport fit_it\nfit_it.main()\n"
    assert need(tmp_path, files).verdict == verdict


FITTED = """
import torch, lightning
from torch.utils.data import DataLoader

class Net(lightning.LightningModule):
    def train_dataloader(self):
        return DataLoader(data(), batch_size=64, num_workers=8)

"""


@table(
    "use, verdict",
    [
        ("Net.load_from_checkpoint('net.ckpt')(picture())", "not-needed"),
        ("lightning.Trainer(devices=1).fit(Net())", "likely"),
        ("from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)", "likely"),
        ("Net().train_dataloader()", "likely"),
    ],
)
def test_a_model_is_asked_for_its_data_where_it_is_fitted(tmp_path: Path, use: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python app.py"), "Dockerfile": DOCKERFILE, "app.py": f"{FITTED}{use}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "lines, verdict",
    [
        ("RUN pip install torch", "likely"),
        ("RUN pip install torch && apt-get install -y ros-humble-desktop", "unknown"),
        ("RUN pip install torch && apt install -y rosbridge", "likely"),
        (f"FROM {NGC}\nRUN apt-get install -y ros-noetic-perception", "likely"),
        # Images of ROS are called so, also those that have PyTorch besides.
        ("FROM someone/ros:jazzy-pytorch\nRUN pip install torch", "unknown"),
        ("FROM someone/rosetta:pytorch\nRUN pip install torch", "likely"),
    ],
)
def test_a_shell_in_an_environment_for_robots(tmp_path: Path, lines: str, verdict: str) -> None:
    files = {"Dockerfile": f"FROM own/base\n{lines}\n", "compose.yaml": compose("bash")}
    assert need(tmp_path, files).verdict == verdict


_DRIVES = "The arm: `./shell.sh`.\n```\npython drive.py\n```\n"
_TRAINS = "```\npython train.py\n```\n"


@table(
    "base, pages, verdict",
    [
        # Pages train, and none shows that they do it in the container of the robot.
        ("ros:humble", {"README.md": _TRAINS}, "unknown"),
        ("ros:humble", {"README.md": "# Arm\n", "TRAINING.md": _TRAINS}, "unknown"),
        ("ros:humble", {"README.md": "```\ntorchrun --nproc_per_node=4 train.py\n```\n"}, "unknown"),
        ("ros:humble", {"ARM.md": _DRIVES, "TRAINING.md": _TRAINS}, "unknown"),
        ("ros:humble", {"ARM.md": _DRIVES + _TRAINS}, "needed"),
        ("ros:humble", {"ARM.md": _DRIVES.replace("drive", "loop")}, "needed"),
        ("ros:humble", {"ARM.md": _DRIVES.replace("drive", "loop"), "TRAINING.md": _TRAINS}, "needed"),
        ("ros:humble", {"ARM.md": _DRIVES.replace("drive.py", "loop.py --num_workers 4")}, "needed"),
        ("ros:humble", {"README.md": f"```\n./shell.sh\n```\nThen\n{_TRAINS}"}, "needed"),
        ("ros:humble", {"README.md": f"Start `./shell.sh` and there\n{_TRAINS}"}, "needed"),
        ("ubuntu", {"README.md": _TRAINS}, "likely"),
        (NGC, {"README.md": _TRAINS}, "likely"),
    ],
)
def test_a_shell_for_robots_in_a_repository_that_trains(
    tmp_path: Path, base: str, pages: dict[str, str], verdict: str
) -> None:
    more = "RUN apt-get install -y ros-humble-desktop\n" if base == NGC else ""
    files = {"shell.sh": "docker run --gpus all -it --network host own bash\n", **pages}
    files |= {"Dockerfile": f"FROM {base}\n{more}RUN pip install torch\nWORKDIR /ws\nCOPY . .\n"}
    files |= {"drive.py": "import rclpy\n", "train.py": LOADER, "loop.py": LOADER}
    files |= {"build.sh": "docker build -t own .\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "files, verdict",
    [
        ({"fit.py": ALONE}, "not-needed"),
        ({"fit.py": ALONE, "model/net.py": "import torch\n", "run.sh": "python fit.py\n"}, "not-needed"),
        ({"fit.py": ALONE.replace("=4", "=4, num_workers=0")}, "not-needed"),
        ({"a.ipynb": CELLS % "numpy"}, "not-needed"),
        ({"a.ipynb": CELLS % "numpy\\n%matplotlib inline"}, "not-needed"),
        ({"fit.py": ALONE + '"""\nimport unheard_of\n"""\n'}, "not-needed"),
        ({"fit.py": "import tensorflow as tf\nmodel().fit(data, epochs=3)\n"}, "not-needed"),
        ({"fit.py": "import lasagne, theano\nmodel().fit(theano.function(data))\n"}, "not-needed"),
        # Nobody can run what is no notebook, nor a cell that is no Python.
        ({"fit.py": ALONE, "broken.ipynb": "{"}, "not-needed"),
        ({"fit.py": ALONE, "list.ipynb": "[]"}, "not-needed"),
        ({"a.ipynb": CELLS % 'numpy"]}, {"cell_type": "code", "source": ["so: what'}, "not-needed"),
        # Comments, docstrings, and the text and the output of notebooks start nothing.
        ({"fit.py": f'"""It is\ndistributed as is."""\n# parallel\n{ALONE}'}, "not-needed"),
        ({"fit.py": ALONE + 'def f():\n    """For 8 workers."""\n    return 1\n'}, "not-needed"),
        ({"fit.py": ALONE, "run.sh": "#!/bin/sh\n# torchrun fit.py\npython fit.py\n"}, "not-needed"),
        ({"fit.py": ALONE, "conf/data.yaml": "# workers: 4\nsize: 2\n"}, "not-needed"),
        ({"a.ipynb": CELLS % 'numpy"], "outputs": ["8 workers"]}, {"cell_type": "code", "source": ["1'}, "not-needed"),
        ({"a.ipynb": CELLS % f'numpy"]}}, {MARKDOWN}, {{"cell_type": "code", "source": ["1'}, "not-needed"),
        ({"fit.py": ALONE, "unheard_of/net.py": "import unheard_of\n"}, "not-needed"),
        ({"fit.py": ALONE, "net.py": "import unheard_of\n", "conf/unheard_of.yaml": "size: 2\n"}, "unknown"),
        ({"fit.py": ALONE, "net.py": "import unheard_of\n", "unheard_of/NOTE": "a submodule\n"}, "likely"),
        ({"fit.py": ALONE, "net.py": "import unheard_of\n", "unheard_of/CMakeLists.txt": "project(a)\n"}, "unknown"),
        ({"fit.py": ALONE, "net-1.5/fit.py": LOADER}, "likely"),
        ({"fit.py": ALONE.replace("=4", "=4, num_workers=0 if debug else 8")}, "likely"),
        ({"fit.py": ALONE, "tf.py": "import tensorflow as tf\ntf.distribute.MirroredStrategy()\n"}, "likely"),
        ({"fit.py": ALONE, "page.py": "from selenium import webdriver as w\nw.Chrome()\n"}, "likely"),
        ({"a.ipynb": CELLS % "numpy\\n!torchrun fit.py"}, "likely"),
        ({"fit.py": ALONE + 'run("""\ntorchrun other.py\n""")\n'}, "likely"),
        ({"fit.py": ALONE + "print(1)  # no comment\nspawn()\n"}, "likely"),
        # What may use it: workers, ranks, a package that starts some, an unknown package, no work.
        ({"fit.py": ALONE.replace("=4", "=4, num_workers=2")}, "likely"),
        ({"fit.py": ALONE, "run.sh": "torchrun --nproc_per_node=2 fit.py\n"}, "likely"),
        ({"fit.py": ALONE, "conf/data.yaml": "workers: 4\n"}, "likely"),
        # By position, out of a file, by a command.
        ({"fit.py": ALONE + "DataLoader(d, 4, False, None, None, 8)\n"}, "likely"),
        ({"fit.py": ALONE + "DataLoader(d, 4, False, None, None, 0)\n"}, "not-needed"),
        ({"fit.py": ALONE + "DataLoader(*given)\n"}, "likely"),
        ({"fit.py": ALONE + "import json\nDataLoader(d, **json.load(open('fit.json')))\n"}, "likely"),
        ({"fit.py": ALONE + "from conf import settings\nDataLoader(d, **settings('fit.json'))\n",
          "conf.py": "import json\ndef settings(path):\n    return json.load(open(path))\n"}, "likely"),
        ({"fit.py": ALONE + "from torch.utils.data import DataLoader as L\nL(d, 4, True, None, None, 8)\n"}, "likely"),
        ({"fit.py": ALONE + "DataLoader(d, **{'batch_size': 4})\n"}, "not-needed"),
        ({"fit.py": ALONE, "run.sh": "yolo detect train data=x\n"}, "likely"),
        ({"fit.py": ALONE, "run.sh": "yolo predict data=x\n"}, "not-needed"),
        ({"fit.py": ALONE, "a.ipynb": CELLS % "numpy\\n!yolo train data=x"}, "likely"),
        ({"fit.py": ALONE + "import fastai\n"}, "likely"),
        # A name of a package of which some start ranks, workers or servers
        ({"fit.py": ALONE + "import dgl\ndgl.graph(([0], [1]))\n"}, "not-needed"),
        ({"fit.py": ALONE + "import dgl\ndgl.distributed.DistGraph('a')\n"}, "likely"),
        # Of a package that its own loaders do without nothing is known.
        ({"fit.py": ALONE + "import unheard_of\n"}, "unknown"),
        ({"fit.py": "import torch, unheard_of\nunheard_of.Trainer().train()\n"}, "likely"),
        ({"fit.py": f"import torch, unheard_of\n{TRAINER}"}, "unknown"),
        ({"train.py": f"import torch, unheard_of\n{TRAINER}", "README.md": "```\npython train.py\n```\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=1, accelerator='gpu')\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=[0])\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=[0, 1])\n"}, "likely"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=-1)\n"}, "likely"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=1, num_nodes=2)\n"}, "likely"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=n)\n"}, "likely"),
        ({"a.ipynb": CELLS % "fastai"}, "likely"),
        ({"serve.py": "import torch\nprint(1)\n"}, "likely"),
        ({"serve.py": "import torch\nprint(1)  # no DataLoader(x)\n"}, "likely"),
        ({"fit.py": ALONE, "broken.ipynb": "{num_workers=4"}, "likely"),
        ({"fit.py": ALONE, "a.ipynb": CELLS % 'numpy"]}, {"cell_type": "code", "source": ["import fastai'}, "likely"),
        ({"fit.py": ALONE + "print 1\n"}, "likely"),
        # What no Python reads any more: its words and its imports count.
        ({"fit.py": ALONE, "show.py": "import numpy\nprint 1\n"}, "not-needed"),
        ({"fit.py": ALONE, "show.py": "import unheard_of\nprint 1\n"}, "unknown"),
        ({"fit.py": ALONE, "show.py": "from fastai import x\nprint 1\n"}, "likely"),
        ({"fit.py": ALONE, "show.py": "print 1\nq = Queue()\n"}, "likely"),
        ({}, "likely"),
        # What the documentation runs fits, also with the program's own defaults.
        ({"README.md": f"```bash\n{SHELL} bash\n```\n```\npython train.py\n```\n", "train.py": ONE_IMAGE}, "unknown"),
    ],
)
def test_a_shell_for_code_that_needs_nothing(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    assert need(tmp_path, {"shell.sh": f"{SHELL} bash\n", **files}).verdict == verdict
    if "README.md" not in files:
        service = f"image: {PYTORCH}\n    command: jupyter lab\n    volumes: [.:/app]\n    {GPUS}\n"
        (tmp_path / "shell.sh").unlink()
        notebook = need(tmp_path, {"compose.yaml": f"services:\n  app:\n    {service}", **files}).verdict
        assert notebook == ("unknown" if verdict == "not-needed" else verdict)


@table(
    "command, verdict",
    [
        ("docker run --gpus all -it registry.example.org/team/our-net:${1} bash", "likely"),
        ("docker run --gpus all -it --name our_net app:1 bash", "likely"),
        ("docker run --gpus all -it registry.example.org/team/net:${1} bash", "unknown"),
        ("docker run --gpus all -it registry.example.org/team/other:${1} bash", "unknown"),
    ],
)
def test_an_image_with_the_name_of_the_repositorys_package(tmp_path: Path, command: str, verdict: str) -> None:
    """Nothing else says what is in it, but it is made for this code, which has a program for training."""
    files = {"our_net/__init__.py": "", "net/layers.py": "", "train.py": LOADER, "run.sh": f"{command}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "fetch, command, verdict",
    [
        ("git clone --depth=1 https://github.com/comfyanonymous/ComfyUI.git .", "python main.py -l", "not-needed"),
        ("git clone https://github.com/someone/ComfyUI", "python ComfyUI/main.py", "not-needed"),
        ("wget https://raw.githubusercontent.com/a/stable-diffusion-webui/master/webui.sh", "./webui.sh", "not-needed"),
        ("cd /x && git clone 'https://github.com/a/stable-diffusion-webui'", "bash webui.sh", "not-needed"),
        # Another program of it, one of its extensions, another repository, and training in it.
        ("git clone https://github.com/comfyanonymous/ComfyUI.git .", "python other.py", "unknown"),
        ("git clone https://github.com/a/ComfyUI-nodes.git .", "python main.py", "unknown"),
        ("git clone https://github.com/a/unheard-of.git .", "python main.py", "unknown"),
        ("echo https://github.com/comfyanonymous/ComfyUI", "python main.py", "unknown"),
        ("git clone https://github.com/a/stable-diffusion-webui", "accelerate launch launch.py", "likely"),
    ],
)
def test_programs_that_a_build_fetches(tmp_path: Path, fetch: str, command: str, verdict: str) -> None:
    docker = f"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nWORKDIR /app\nRUN {fetch}\nCMD {command}\n"
    service = f"services:\n  app:\n    build: .\n    {GPUS}\n"
    assert need(tmp_path, {"Dockerfile": docker, "compose.yaml": service}).verdict == verdict


def test_a_build_that_fetches_much_does_not_take_long(tmp_path: Path) -> None:
    docker = f"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN {'curl ' * 20_000}\nCMD python main.py\n"
    service = f"services:\n  app:\n    build: .\n    {GPUS}\n"
    begin = time.process_time()
    assert need(tmp_path, {"Dockerfile": docker, "compose.yaml": service}).verdict == "unknown"
    assert time.process_time() - begin < 5


@table(
    "command, verdict",
    [("...", "likely"), ("…", "likely"), ("[COMMAND]", "likely"), ("<command>", "likely"), ("$CMD", "likely"),
     ('"$@"', "likely"), ("bash", "likely"), ("", "needed")],
)  # fmt: skip
def test_a_command_that_is_left_open_is_no_error(tmp_path: Path, command: str, verdict: str) -> None:
    page = f"```sh\ndocker run --gpus all nvcr.io/nvidia/pytorch:24.05-py3 {command}\n```\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


@table("image", [PYTORCH, "nvcr.io/nvidia/pytorch:24.05-py3", "rapidsai/base:24.06-cuda12.2-py3.11"])
def test_a_notebook_is_advised_the_size_of_a_shell(tmp_path: Path, image: str) -> None:
    page = f"```sh\ndocker run --gpus all -it {image} %s\n```\n"
    found = [need(tmp_path, {"README.md": page % command}) for command in ("bash", "jupyter lab")]
    assert [(n.verdict, n.recommended, n.workload) for n in found[:1]] == [
        (n.verdict, n.recommended, n.workload) for n in found[1:]
    ]


LEGACY = "import torch, importlib, sys\nnet = importlib.import_module(sys.argv[1]).Net()\n"


@table(
    "program, code, verdict",
    [
        ("generate.py", LEGACY, "unknown"),
        ("train.py", LEGACY, "likely"),
        ("generate.py", LEGACY + ALONE, "likely"),
        ("generate.py", LEGACY + "torch.distributed.init_process_group()\n", "likely"),
        ("missing.py", LEGACY, "likely"),
    ],
)
def test_an_image_says_less_than_code_that_loads_no_data(
    tmp_path: Path, program: str, code: str, verdict: str
) -> None:
    """The end of the code is not reached, but in its reach is nothing that the image is made for."""
    files = {"compose.yaml": compose(f"python {program}"), "generate.py": code, "train.py": code}
    assert need(tmp_path, {**files, "Dockerfile": f"FROM {NGC}\nWORKDIR /app\nCOPY . .\n"}).verdict == verdict


SIZED = f"docker run -it --gpus all --shm-size=16g -v $PWD:/app -w /app {PYTORCH} bash\n"
PAGE = f"```bash\n{SHELL} bash\n```\n\n```bash\npython train.py\n```\n"
@table(
    "count, code, verdict",
    [
        ("all", "import pytorch_lightning as pl\npl.Trainer(gpus=4)", "needed"),
        ("all", "import pytorch_lightning as pl\npl.Trainer(gpus=1)", "not-needed"),
        ("2", "import pytorch_lightning as pl\npl.Trainer(gpus=-1)", "needed"),
        ("all", "import pytorch_lightning as pl\npl.Trainer(gpus=4, strategy='dp')", "not-needed"),
        ("all", "from paddle.io import DataLoader\nDataLoader(d, num_workers=4)", "likely"),
        ("all", "from paddle.io import DataLoader as D\nD(d, num_workers=4, use_shared_memory=False)", "not-needed"),
        ("all", "from torch_geometric.loader import NeighborLoader\nNeighborLoader(d, [9], num_workers=4)", "likely"),
        ("all", "from timm.data import create_loader\ncreate_loader(d, (3, 224, 224), 64, num_workers=4)", "needed"),
        ("all", "from timm.data import create_loader\ncreate_loader(d, (3, 8, 8), 64, num_workers=4)", "not-needed"),
    ],
)
def test_calls_of_libraries_with_their_options(tmp_path: Path, count: str, code: str, verdict: str) -> None:
    services = compose("python fit.py").replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    files = {"compose.yaml": services, "Dockerfile": DOCKERFILE, "fit.py": f"{code}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "condition, verdict",
    [
        ("if torch.cuda.is_available():\n    ", "needed"),
        ("if ready():\n    ", "likely"),
        ("done = ready() and ", "likely"),
        ("done = None if ready() else ", "likely"),
        ("later = lambda: ", "likely"),
        ("def later():\n    ", "not-needed"),
        ("def later():\n    pass\nif later:\n    later()\n", "needed"),
    ],
)
def test_a_program_is_sure_to_start_another(tmp_path: Path, condition: str, verdict: str) -> None:
    start = f"import os, torch\n{condition}os.system('torchrun --nproc_per_node=4 fit.py')\n"
    joined = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    files = {"compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "start.py": start, "fit.py": joined}
    assert need(tmp_path, files).verdict == verdict


@table(
    "count, options, verdict",
    [
        ("4", "--nproc_per_node=gpu", "needed"),
        ("4", "--nproc-per-node auto", "needed"),
        ("4", "--nproc_per_node=gpu --nnodes=2", "likely"),
        ("all", "--nproc_per_node=gpu", "likely"),
    ],
)
def test_one_rank_for_each_gpu(tmp_path: Path, count: str, options: str, verdict: str) -> None:
    services = compose(f"torchrun {options} fit.py")
    services = services.replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    joined = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    files = {"compose.yaml": services, "Dockerfile": DOCKERFILE, "fit.py": joined}
    assert need(tmp_path, files).verdict == verdict


@table(
    "options, verdict",
    [
        ("-e TP=2", "likely"),
        ("-e NPROC_PER_NODE=8", "likely"),
        ("-e TP=1", "unknown"),
        ("-e TP=4096", "unknown"),
        ("-e TP=$N", "unknown"),
        ("-e TP=2 -e CUDA_VISIBLE_DEVICES=0", "unknown"),
        ("-e STEPS=2", "unknown"),
    ],
)
def test_ranks_that_variables_ask_for(tmp_path: Path, options: str, verdict: str) -> None:
    assert need(tmp_path, {"run.sh": f"docker run --gpus all {options} own/server\n"}).verdict == verdict


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


ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 4\n"
LAUNCHED = "from accelerate import Accelerator\naccelerator = Accelerator()\n"


@table(
    "options, settings, verdict",
    [
        ("--config_file gpus.yaml", ACCELERATE, "needed"),
        ("--config_file=gpus.yaml --debug", ACCELERATE.replace("MULTI_GPU", "DEEPSPEED"), "needed"),
        ("--config_file gpus.yaml --num_processes 1", ACCELERATE, "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("es: 4", "es: 1"), "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("machines: 1", "machines: 4"), "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("machines: 1", "machines: 0"), "likely"),
        ("--config_file gpus.yaml", ACCELERATE.replace("MULTI_GPU", "MULTI_CPU"), "likely"),
        ("--config_file gpus.yaml", "num_processes: many\ndistributed_type: MULTI_GPU\n", "likely"),
        ("--config_file other.yaml", ACCELERATE, "likely"),
    ],
)
def test_processes_that_a_configuration_of_accelerate_sets(
    tmp_path: Path, options: str, settings: str, verdict: str
) -> None:
    started = compose(f"accelerate launch {options} fit.py")
    files = {"compose.yaml": started, "Dockerfile": DOCKERFILE, "fit.py": LAUNCHED, "gpus.yaml": settings}
    assert need(tmp_path, files).verdict == verdict


NGC_NOTE = """
Note: "if you use Torch multiprocessing for multi-threaded data loaders, the default shared memory
segment may not be enough. Therefore, you should increase the size by issuing ..." `--shm-size=`.
"""
HAS_SOME = PAGE.replace("--gpus", "--shm-size=256m --gpus")
SERVICE = f"```yaml\nservices:\n  app:\n    image: {PYTORCH}\n    command: bash\n    {GPUS}\n```\n"
UNREAD = PAGE.replace("train.py", "tune.py")
OF_HOST = SIZED.replace("--shm-size=16g", "--ipc=host")
HALF = LOADER.replace("RandomResizedCrop(224)", "crop()").replace("args.batch_size,", "batch(),")


@table(
    "files, verdict",
    [
        ({"README.md": PAGE, "start.sh": SIZED}, "needed"),
        ({"README.md": PAGE, "start.sh": SIZED.replace("--shm-size=16g", "--ipc=host")}, "needed"),
        ({"README.md": PAGE, "start.sh": SIZED.replace("16g", "64m")}, "likely"),
        # The host's is a habit where the programs are given no workers; a size is chosen.
        ({"README.md": UNREAD, "start.sh": OF_HOST}, "needed"),
        ({"README.md": UNREAD.replace(".py", ".py --num_workers 0"), "start.sh": OF_HOST}, "likely"),
        ({"README.md": UNREAD.replace(".py", ".py --num_workers 0"), "start.sh": SIZED}, "needed"),
        ({"README.md": UNREAD.replace("tune.py", "tune.py --num_workers=0\npython eval.py --num_workers=4"),
          "start.sh": OF_HOST}, "needed"),
        ({"README.md": UNREAD.replace("tune.py", "tune.py --num_workers=0\ntorchrun --nproc_per_node=4 train.py"),
          "start.sh": OF_HOST}, "needed"),
        # A look at the image is another use of it.
        ({"README.md": PAGE.replace("-v $PWD:/app -w /app ", ""), "start.sh": SIZED}, "likely"),
        # What has as much itself is told nothing by it.
        ({"README.md": HAS_SOME, "start.sh": SIZED.replace("16g", "256m")}, "likely"),
        ({"README.md": HAS_SOME, "start.sh": SIZED}, "needed"),
        # A page shows one service in several ways.
        ({"README.md": SERVICE + SERVICE.replace("    deploy:", "    shm_size: 16g\n    deploy:")}, "needed"),
        ({"README.md": SERVICE + SERVICE.replace("  app:", "  other:\n    shm_size: 16g")}, "likely"),
        ({"README.md": PAGE, "start.sh": SIZED.replace(PYTORCH, "other/image")}, "likely"),
        ({"README.md": PAGE, "start.sh": SIZED.replace(" bash\n", " python serve.py\n")}, "likely"),
        ({"README.md": f"{PAGE}Training needs more memory in the container: set `--shm-size`.\n"}, "needed"),
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


BUILT = {"Dockerfile": "FROM own/base\nRUN pip install torch\n", "serve/Dockerfile": "FROM own/base\nCMD serve\n"}
RUN = "docker run -it --gpus all own/app bash\n"


@table(
    "files, verdict",
    [
        ({"run.sh": f"docker build -t own/app .\n{RUN}", "serve.sh": "docker build -t own/app serve\n"}, "likely"),
        ({"run.sh": f"docker build -t own/app .\n{RUN}", "serve.sh": "docker build -t own/app .\n"}, "needed"),
        ({"run.sh": f"docker build -t own/app .\n{RUN}", "serve.sh": "docker build -t $TAG -t own/app .\n"}, "needed"),
        ({"compose.yaml": f"services:\n  dev:\n    build: .\n    command: bash\n    {GPUS}\n"}, "likely"),
        (
            {
                "compose.yaml": f"services:\n  dev:\n    build: .\n    command: bash\n    {GPUS}\n",
                "serve.sh": "docker build -t own/app serve\ndocker build -t own/app .\n",
            },
            "needed",
        ),
    ],
)
def test_the_same_container_is_built_from_the_same_file(
    tmp_path: Path, files: dict[str, str], verdict: str
) -> None:
    sized = {"serve.sh": files.get("serve.sh", "") + RUN.replace("--gpus", "--ipc=host --gpus")}
    assert need(tmp_path, {**BUILT, **files, **sized}).verdict == verdict


@table(
    "dockerfile, command, verdict",
    [
        ("Dockerfile", "bash", "needed"),
        ("prepare/Dockerfile", "bash", "likely"),
        ("prepare/Dockerfile", "", "likely"),
        # What it runs is written in the files, and not in the image.
        ("prepare/Dockerfile", "python work.py", "likely"),
    ],
)
def test_services_of_one_name_that_are_built_from_two_files(
    tmp_path: Path, dockerfile: str, command: str, verdict: str
) -> None:
    given = f"    command: {command}\n" * bool(command) + f"    tty: true\n    stdin_open: true\n    {GPUS}\n"
    service = "services:\n  lab:\n    build: {context: ., dockerfile: DOCKERFILE}\n" + given
    files = {
        "compose.prepare.yaml": service.replace("DOCKERFILE", dockerfile),
        "compose.yaml": service.replace("DOCKERFILE", "Dockerfile") + "    shm_size: 8gb\n",
        "Dockerfile": f"FROM {PYTORCH}\nRUN pip install timm\n",
        "prepare/Dockerfile": f"FROM {PYTORCH}\nRUN pip install chainer\n",
    }
    assert need(tmp_path, files, ("compose.prepare.yaml",)).verdict == verdict


def test_a_page_means_the_directories_above_itself(tmp_path: Path) -> None:
    """Not those above the launch whose container is looked for: the page builds another image."""
    files = {
        "serve/run.sh": "docker build -t own/server docker\ndocker run -it --gpus all own/server bash\n",
        "serve/docker/Dockerfile": "FROM own/base\nRUN pip install torch\n",
        "docker/Dockerfile": "FROM own/base\nRUN pip install torch torchvision\n",
        "docs/start.md": "```\ndocker build -t app ./docker\ndocker run -it --gpus all --ipc=host app bash\n```\n",
    }
    assert need(tmp_path, files, ("serve/run.sh",)).verdict == "likely"
    files["docs/start.md"] = files["docs/start.md"].replace("./docker", "serve/docker")
    assert need(tmp_path, files, ("serve/run.sh",)).verdict == "needed"


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
        ({"doc/known.rst": f"Nothing.\n\n.. code-block:: console\n\n    {WORKER} --shm-size=1g\n"}, "unknown"),
        ({"doc/known.rst": f"If it has not enough, increase ``--shm-size``.\n\n::\n\n    {WORKER}\n"}, "unknown"),
    ],
)
def test_another_page_about_the_same_image(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    page = {"doc/use/a.rst": f"Start it:\n\n.. code-block:: console\n\n    {WORKER}\n"}
    assert need(tmp_path, {**page, **files}, ("doc/use",)).verdict == verdict


def test_what_may_be_needed_with_several_gpus_makes_no_error(tmp_path: Path) -> None:
    page = f"{PAGE}If you use multiple GPUs, you may need to increase `--shm-size`.\n"
    assert need(tmp_path, {"train.py": HALF, "README.md": page}).verdict == "likely"


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
    "cell, place, install, verdict",
    [
        ("!horovodrun -np 8 python3 fit.py\\n", "work/deep/a.ipynb", "horovod", "likely"),
        ("! torchrun --nproc_per_node=4 fit.py", "work/a.ipynb", "torch", "needed"),
        ("!python3 fit.py", "work/a.ipynb", "flask", "unknown"),
        ("!horovodrun -np 8 python3 fit.py", "elsewhere/a.ipynb", "horovod", "unknown"),
    ],
)
def test_notebooks_that_start_ranks(tmp_path: Path, cell: str, place: str, install: str, verdict: str) -> None:
    files = {place: '{"cells": [{"cell_type": "code", "source": ["' + cell + '"]}]}'}
    files["Dockerfile"] = f"FROM python:3.12\nRUN pip install {install}\nCOPY work /w\nWORKDIR /w\n"
    assert need(tmp_path, {"compose.yaml": compose("jupyter lab --ip 0.0.0.0"), **files}).verdict == verdict


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


_THREADS = """import argparse
import threading
{more}
p = argparse.ArgumentParser()
p.add_argument("--num-workers", type=int, default=4)
a = p.parse_args()
all = [threading.Thread(target=print) for _ in range(a.num_workers)]
"""


@table(
    "command, more, verdict",
    [
        ("python ppo.py --num-workers 4", "", "not-needed"),
        ("python ppo.py --num-workers 4", "from torch.utils.data import DataLoader", "not-needed"),
        ("python ppo.py --num-workers 4", "from torch.utils.data import DataLoader; DataLoader([])", "not-needed"),
        ("python ppo.py --num-workers 4", "import unheard_of", "likely"),
        ("python ppo.py --num-workers 4", "import unheard_of, pytorch_lightning", "needed"),
        ("python ppo.py --num-workers 4", "import unheard_of\nfrom torch.utils.data import DataLoader", "needed"),
        ("python other.py --num-workers 4", "", "needed"),
        ('sh -c "python ppo.py --num-workers 4 && python other.py --num-workers 4"', "", "needed"),
        ('sh -c "python ppo.py --num-workers 4 && python ppo.py --num-workers 8"', "", "not-needed"),
        ("bash", "", "likely"),
    ],
)
def test_workers_of_the_command_that_its_code_uses_for_something_else(
    tmp_path: Path, command: str, more: str, verdict: str
) -> None:
    dockerfile = f"{DOCKERFILE}RUN pip install torch\n"
    files = {"ppo.py": _THREADS.format(more=more), "Dockerfile": dockerfile, "compose.yaml": compose(command)}
    files["README.md"] = "```\npython ppo.py --num-workers 4\n```\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "shell, page, dockerfile, verdict",
    [
        ("own", "torchrun --nproc_per_node=4 train.py", "RUN pip install torch", "needed"),
        ("own", "python -m torch.distributed.launch --nproc_per_node 4 /w/fit.py", "RUN pip install torch", "needed"),
        ("own", "python fit.py --num_workers 8", "RUN pip install torch", "needed"),
        ("own", "torchrun --nproc_per_node=4 train.py", "RUN pip install flask", "likely"),
        ("own", "torchrun --nproc_per_node=1 train.py", "RUN pip install torch", "likely"),
        ("own", "python fit.py", "RUN pip install torch", "likely"),
        # It is neither built here nor does it see the repository.
        ("pytorch/pytorch", "torchrun --nproc_per_node=4 train.py", "", "likely"),
        ("-v $PWD:/w pytorch/pytorch", "torchrun --nproc_per_node=4 train.py", "", "needed"),
        # That the image is built here is only guessed, and a notebook is not made for the commands of a page.
        ("me/own", "torchrun --nproc_per_node=4 train.py", "RUN pip install torch", "likely"),
        ("own jupyter lab", "torchrun --nproc_per_node=4 train.py", "RUN pip install torch", "likely"),
        # The maintainers of the image ask for shared memory for training.
        ("leogao2/gpt-neox", "python train.py small.yml", "", "needed"),
        ("leogao2/gpt-neox", "python export.py", "", "likely"),
    ],
)
def test_a_shell_in_which_the_repository_trains(
    tmp_path: Path, shell: str, page: str, dockerfile: str, verdict: str
) -> None:
    files = {"shell.sh": f"docker run --gpus all -it {shell} bash\n", "README.md": f"```\n{page}\n```\n"}
    if dockerfile:
        files |= {"Dockerfile": f"FROM ubuntu\n{dockerfile}\n", "build.sh": "docker build -t own .\n"}
    assert need(tmp_path, files).verdict == verdict


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


def test_training_on_one_gpu_of_which_no_amount_is_known(tmp_path: Path) -> None:
    files = {"shell.sh": "docker run --gpus 1 -it leogao2/gpt-neox bash\n"}
    files["README.md"] = "```\npython train.py small.yml\n```\n"
    assert need(tmp_path, files).verdict == "likely"


@table("title, verdict", [("Set up", "needed"), ("Inference", "unknown"), ("Export to ONNX", "unknown")])
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
    "folder, verdict",
    [
        (".devcontainer/cpp-inference", "unknown"),
        (".devcontainer/export", "unknown"),
        (".devcontainer/gpu", "likely"),
        (".devcontainer/train-and-export", "likely"),
        ("inference/.devcontainer", "likely"),
    ],
)
def test_a_dev_container_whose_directory_is_called_after_its_use(tmp_path: Path, folder: str, verdict: str) -> None:
    for old in tmp_path.glob("*"):
        shutil.rmtree(old)
    files = {f"{folder}/devcontainer.json": '{"image": "' + PYTORCH + '", "runArgs": ["--gpus", "all"]}'}
    found = need(tmp_path, files, (f"{folder}/devcontainer.json",))
    assert (found.verdict, "called after" in found.stopped) == (verdict, verdict == "unknown")


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
    "given, command, verdict",
    [
        ('CMD=("$@")', '"${CMD[@]}"', "likely"),
        ("CMD=(${@:2})", '"${CMD[@]}"', "likely"),
        ('CMD="$*"', "$CMD", "likely"),
        ("CMD=(serve)", '"${CMD[@]}"', "unknown"),
        ('NAMES=("$@")', '"${CMD[@]}"', "unknown"),
        ('CMD=(serve "$@")', '"${CMD[@]}"', "unknown"),
    ],
)
def test_a_variable_that_holds_what_a_script_is_given(tmp_path: Path, given: str, command: str, verdict: str) -> None:
    script = f"CMD=(serve --all)\nif a; then\n  {given}\nfi\ndocker run --gpus all --rm -it own {command}\n"
    files = {"run.sh": f"docker build -t own .\n{script}", "Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}
    assert need(tmp_path, files).verdict == verdict


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


def test_the_maintainers_and_the_code_make_sure_together(tmp_path: Path) -> None:
    code = "from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=a.nbytes)\n"
    for image, verdict in (("roboflow/roboflow-inference-server-gpu-parallel", "needed"), ("own/server", "likely")):
        service = f"image: {image}\n    command: python /app/share.py\n    volumes: [.:/app]\n    {GPUS}\n"
        files = {"compose.yaml": f"services:\n  app:\n    {service}", "share.py": code}
        assert need(tmp_path, files).verdict == verdict


@table(
    "page, verdict",
    [
        ("# App\n## Run training\n```bash\n{run}\n```\n", "likely"),
        ("# Fine-tuning #\n\nText.\n```bash\n# Start it\n{run}\n```\n", "likely"),
        ("# Training\n## Inference\n```bash\n{run}\n```\n", "unknown"),
        ("# App\n```bash\n# Train\n{run}\n```\n## Training\n", "unknown"),
        ("# Constraints\n```bash\n{run}\n```\n", "unknown"),
        ("# Training\n```bash\n{run} ./serve\n```\n", "unknown"),
    ],
)
def test_a_heading_says_what_a_container_is_for(tmp_path: Path, page: str, verdict: str) -> None:
    run = "docker run --gpus all -it own/app"
    assert need(tmp_path, {"README.md": page.replace("{run}", run)}).verdict == verdict


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


@table("image, verdict", [("own/builder", "unknown"), ("own/detectron2:v1", "likely")])
def test_the_programs_of_a_repository_run_where_their_packages_are(tmp_path: Path, image: str, verdict: str) -> None:
    files = {"README.md": f"```bash\ndocker run -it --gpus all {image}\n```\n", "tools/train_net.py": "import x\n"}
    assert need(tmp_path, files).verdict == verdict


def test_documentation_does_not_change_what_an_image_of_its_own_is(tmp_path: Path) -> None:
    files = {"compose.yaml": f"services:\n  app:\n    image: ollama/ollama\n    {GPUS}\n", "train.py": LOADER}
    for page in ("python train.py", "torchrun --nproc_per_node=8 train.py", "tool check samples/training"):
        assert need(tmp_path, {**files, "README.md": f"```\n{page}\n```\n"}).verdict == "not-needed"


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
    "line, verdict",
    [
        ("__import__('datetime').now()", "not-needed"),
        ("__import__(input())", "unknown"),
        ("__import__('nobodys')", "unknown"),
        ("if is_nobodys_available():\n    import nobodys", "not-needed"),
        ("if wants():\n    import nobodys", "unknown"),
    ],
)
def test_imports_by_name_and_of_packages_that_may_be_there(tmp_path: Path, line: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": f"{line}\n"}
    assert need(tmp_path, files).verdict == verdict


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
    "code, ranks",
    [
        ("import lightning as L\nL.Trainer(devices=[0, 1])", 2),
        ("import lightning as L\nL.Trainer(devices=[3])", None),
        ("import lightning as L\nL.Trainer(devices='0,1,2')", 3),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=[[0, 1, 2, 3], [0, 1, 2, 3]])", 4),
        ("import hugectr\ngpus = [[0, 1]]\nhugectr.CreateSolver(vvgpu=gpus)", 2),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=['0,1'])", 2),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=[[0]])", None),
        ("import hugectr\nhugectr.solver_parser_helper(vvgpu=[[0, 1]])", 2),
        ("import hugectr\nhugectr.CreateSolver(max_eval_batches=3)", None),
    ],
)
def test_ranks_of_a_list_of_gpus(tmp_path: Path, code: str, ranks: int | None) -> None:
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "fit.py": code})
    assert found.verdict == ("not-needed" if ranks is None else "needed")
    assert [mechanism.because for mechanism in found.mechanisms] == ([] if ranks is None else [f"{ranks} ranks"])


@table(
    "code, counted",
    [
        ("import lightning as L\nL.Trainer(devices=UNKNOWN)", "processes of `lightning.Trainer`"),
        ("import lightning as L\nL.Trainer(**UNKNOWN)", "processes of `lightning.Trainer`"),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=[UNKNOWN])", "processes of `hugectr.CreateSolver`"),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=['a'])", "processes of `hugectr.CreateSolver`"),
        ("import torch.multiprocessing as mp\nmp.spawn(f, nprocs=UNKNOWN)",
         "processes of `torch.multiprocessing.spawn`"),
        ("from vllm import LLM\nLLM('m', tensor_parallel_size=UNKNOWN)", "processes of `vllm.LLM`"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, num_workers=UNKNOWN)",
         "workers of `torch.utils.data.DataLoader`"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, **UNKNOWN)",
         "workers of `torch.utils.data.DataLoader`"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, batch_size=UNKNOWN)", None),
    ],
)  # fmt: skip
def test_an_unknown_number_of_processes_is_not_none(tmp_path: Path, code: str, counted: str | None) -> None:
    code = "import json\n" + code.replace("UNKNOWN", "json.load(open('x'))")
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "fit.py": code})
    because = f"the number of {counted} is not known (fit.py:3)" if counted else ""
    assert (found.verdict, found.stopped) == ("unknown" if counted else "not-needed", because)


@table(
    "given, options, verdict",
    [
        ("'nccl'", "--gpus all", "likely"),
        ("'gloo'", "--gpus all", "unknown"),
        ("'nccl'", "--gpus device=0", "not-needed"),
        ("'nccl'", "--device /dev/kfd --device /dev/dri", "likely"),
        ("'nccl'", "--device /dev/davinci0 --device /dev/davinci1", "unknown"),
        (None, "--gpus all", "unknown"),
    ],
)
def test_processes_that_are_joined_are_several(
    tmp_path: Path, given: str | None, options: str, verdict: str
) -> None:
    """How many is in a file that is not read; with one GPU there is one."""
    joins = f"torch.distributed.init_process_group({given})" if given is not None else "pass"
    code = f"import json, torch\nimport torch.multiprocessing as mp\ndef f(rank):\n    {joins}\n"
    code += "mp.spawn(f, nprocs=json.load(open('x')))\n"
    launch = f"docker run {options} -v $PWD:/w -w /w python:3.12 python fit.py\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": code}).verdict == verdict


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
    "given, test, verdict",
    [
        ("-e LOAD=true", "os.getenv('LOAD') == 'true'", "likely"),
        ("-e LOAD=1", "os.getenv('LOAD', '0') == '1'", "likely"),
        ("-e LOAD=True", "os.environ['LOAD'].lower() in ('1', 'true')", "likely"),
        ("-e LOAD=none", "os.environ['LOAD']", "likely"),
        ("-e LOAD=0", "int(os.environ['LOAD'])", "not-needed"),
        ("-e LOAD=01", "os.getenv('LOAD') == '1'", "not-needed"),
        ("", "os.getenv('LOAD', 'false').lower() == 'true'", "not-needed"),
        ("", "flag.load == 'true'", "likely"),
    ],
)
def test_a_variable_is_a_text(tmp_path: Path, given: str, test: str, verdict: str) -> None:
    options = "import argparse, os\np = argparse.ArgumentParser()\np.add_argument('--load')\nflag = p.parse_args()\n"
    loads = "    DataLoader(d, num_workers=8)\n"
    code = f"{options}from torch.utils.data import DataLoader\nif {test}:\n{loads}"
    launch = f"docker run --gpus all {given} -v $PWD:/w -w /w python:3.12 python fit.py --load true\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": code}).verdict == verdict


@table("first, verdict", [("", "needed"), ("#!/bin/bash\n#SBATCH --nodes=2\n", "likely")])
def test_a_batch_script_in_a_page_runs_in_no_container(tmp_path: Path, first: str, verdict: str) -> None:
    page = f"```bash\n{SHELL} bash\n```\n\n```bash\n{first}torchrun --nproc_per_node=4 train.py\n```\n"
    assert need(tmp_path, {"README.md": page, "train.py": "import torch\n"}).verdict == verdict


@table(
    "devices, command, verdict, told",
    [
        ("--gpus all", "vllm serve m -tp 2", "needed", "2 ranks, NCCL between them"),
        ("--device /dev/kfd --device /dev/dri", "vllm serve m -tp 2", "needed", "2 ranks, RCCL between them"),
        ("--runtime=habana -e HABANA_VISIBLE_DEVICES=all", "vllm serve m -tp 2", "likely", "2 ranks"),
        ("--device /dev/davinci0 --device /dev/davinci1", "vllm serve m -tp 2", "likely", "2 ranks"),
        ("--runtime=habana -e HABANA_VISIBLE_DEVICES=all", "python fit.py", "unknown", ""),
    ],
)
def test_ranks_of_each_accelerator(tmp_path: Path, devices: str, command: str, verdict: str, told: str) -> None:
    """NVIDIA's sum is one of NCCL, and of its version for AMD."""
    code = "import torch\ntorch.multiprocessing.spawn(f, nprocs=2)\n"
    launch = f"docker run {devices} -v $PWD:/w -w /w python:3.12 {command}\n"
    found = need(tmp_path, {"run.sh": launch, "fit.py": code})
    assert found.verdict == verdict
    assert [e.text for e in found.evidence if "ranks" in e.text] == ([told] if told else [])
    assert any(mechanism.id == "nccl" for mechanism in found.mechanisms) == ("CCL" in told)


def test_one_gpu_has_no_ranks_to_count(tmp_path: Path) -> None:
    one = compose("python fit.py").replace("capabilities: [gpu]", "capabilities: [gpu], count: 1")
    for number, code in enumerate((
        "import json, vllm\nvllm.LLM('m', tensor_parallel_size=json.load(open('x')))",
        "import tensorflow as tf\nwith tf.distribute.MirroredStrategy().scope(): pass",
        "import jax\njax.pmap(f)(x)",
        "import jax\nmesh = jax.make_mesh((2,), ('x',))",
        "import jax\nfrom jax.sharding import Mesh\nMesh(jax.devices(), ('x',))",
        "from jax.experimental import mesh_utils\nmesh_utils.create_device_mesh((2,))",
    )):  # fmt: skip
        for text, verdict in ((one, "not-needed"), (compose("python fit.py"), "unknown")):
            files = {"compose.yaml": text, "Dockerfile": DOCKERFILE, "fit.py": code}
            (tmp_path / f"{number}{verdict}").mkdir()
            assert need(tmp_path / f"{number}{verdict}", files).verdict == verdict, code


@table(
    "words, verdict",
    [
        ("python fit.py ici_fsdp_parallelism=8", "needed"),
        ("python fit.py ici_fsdp_parallelism=1", "unknown"),
        ("python fit.py trainer.n_gpus_per_node=8 trainer.nnodes=1", "needed"),
        ("python fit.py model.devices=8", "unknown"),
        ("torchpack dist-run -np 8 python fit.py", "needed"),
        ("torchpack dist-run -np 1 python fit.py", "unknown"),
    ],
)
def test_ranks_of_keys_and_launchers(tmp_path: Path, words: str, verdict: str) -> None:
    page = f"```bash\n{SHELL.replace(PYTORCH, 'own/app')} bash\n```\n\n```bash\n{words}\n```\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


def test_the_first_command_that_tells_ranks_is_shown_where_it_stands(tmp_path: Path) -> None:
    shell = SHELL.replace(PYTORCH, "own/app")
    page = f"```bash\n{shell} bash\npython x.py\nmpirun -np 4 python a.py\n```\n\n```\nmpirun -np 16 python b.py\n```\n"
    found = need(tmp_path, {"README.md": page})
    assert found.mechanisms[0].because == "4 ranks"
    (span,) = [evidence.span for evidence in found.evidence if "4 ranks" in evidence.text]
    assert span is not None and (span.path, span.line) == ("README.md", 4)


def test_a_workload_of_the_documentation_is_shown_where_it_stands(tmp_path: Path) -> None:
    run = f"{SHELL.replace(PYTORCH, 'own/app')} bash"
    page = f"```bash\n{run}\n./setup.sh\n```\n"
    found = need(tmp_path, {"README.md": page, "setup.sh": "pip install vllm\nvllm serve $MODEL\n"})
    assert [(e.text, e.span.path, e.span.line) for e in found.evidence if e.span] == [("vLLM", "setup.sh", 2)]


def test_the_ranks_of_another_program_are_not_its_own(tmp_path: Path) -> None:
    command = "bash -c 'python train.py --batch-size 4; torchrun --nproc_per_node=8 other.py'"
    files = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "train.py": LOADER, "other.py": "import os\n"}
    assert "8 ranks × (8" not in need(tmp_path, files).why


@table(
    "code",
    [
        'import os\nos.environ["NCCL_P2P_DISABLE"] = "1"\n',
        'import os\nos.environ.setdefault("NCCL_P2P_DISABLE", "1")\n',
    ],
)
def test_variables_that_a_program_sets_are_checked(tmp_path: Path, code: str) -> None:
    files = {"compose.yaml": compose("python train.py", "    shm_size: 16g\n"), "Dockerfile": DOCKERFILE}
    (found,) = findings(tmp_path, {**files, "train.py": code}, select=("NCCL501",))
    assert (found.span.path, found.span.line) == ("train.py", 2)


@table(
    "line, rule",
    [
        ("export GLOO_SOCKET_IFNAME=ens5", "NCCL507"),
        ("export TORCH_DISTRIBUTED_DEBUG=DETAIL", "NCCL506"),
        ("NCCL_P2P_DISABLE=1 python train.py", "NCCL501"),
        ("exec env NCCL_P2P_DISABLE=1 python train.py", "NCCL501"),
        ("mpirun -np 2 -x NCCL_P2P_DISABLE=1 python train.py", "NCCL501"),
        ("python train.py -x NCCL_P2P_DISABLE=1", None),
        ('NCCL_P2P_DISABLE="$1" python train.py', None),
        ("NCCL_P2P_DISABLE=1 echo", None),
        ("NCCL_P2P_DISABLE=1; export NCCL_P2P_DISABLE", "NCCL501"),
        ("declare -x NCCL_P2P_DISABLE=1", "NCCL501"),
        ("set -a; NCCL_P2P_DISABLE=1; set +a", "NCCL501"),
        ("set -a; set +a; NCCL_P2P_DISABLE=1", None),
        ("NCCL_P2P_DISABLE=1 true; export NCCL_P2P_DISABLE", None),
        ("NCCL_P2P_DISABLE=1; NCCL_P2P_DISABLE=0; export NCCL_P2P_DISABLE", None),
    ],
)
def test_variables_that_a_script_sets_are_checked(tmp_path: Path, line: str, rule: str | None) -> None:
    files = {"compose.yaml": compose("bash run.sh", "    shm_size: 16g\n"), "Dockerfile": DOCKERFILE, "train.py": SERVE}
    found = findings(tmp_path, {**files, "helper.py": HELPER, "run.sh": f"cd /app\n{line}\n"}, select=("NCCL",))
    assert [(f.span.path, f.span.line, f.rule) for f in found] == ([("run.sh", 2, rule)] if rule else [])


WORKFLOW = """
on: push
jobs:
  image:
    runs-on: ubuntu-latest
    steps:
      - run: docker build -t me/tool -f extra.Dockerfile .
"""
VARIANTS = """
on: push
jobs:
  image:
    strategy:
      matrix:
        include: [{tag: cpu, file: Dockerfile}, {tag: gpu, file: extra.Dockerfile}]
    steps:
      - uses: docker/build-push-action@v6
        with: {file: "${{ matrix.file }}", tags: "tool:${{ matrix.tag }}"}
"""


@table(
    "image, files, built",
    [
        ("me/tool:1.2", {"build.sh": "docker build -t tool .\n"}, "Dockerfile (guessed)"),
        ("tool", {"build.sh": "docker build -t me/tool:$TAG .\n"}, "Dockerfile (guessed)"),
        ("me/tool", {"docker/build": "#!/bin/bash\ndocker build -t tool .\n"}, "Dockerfile (guessed)"),
        ("me/tool", {"src/build.sh": "docker build -t me/tool .\n", "src/Dockerfile": ""}, "src/Dockerfile"),
        ("me/tool", {"run/src/docker_build": "#!/bin/sh\ndocker build -t tool .\n", "run/src/Dockerfile": ""},
         "run/src/Dockerfile (guessed)"),
        ("me/tool", {".github/workflows/image.yml": WORKFLOW}, "extra.Dockerfile"),
        ("me/tool:gpu", {".github/workflows/image.yml": VARIANTS}, "extra.Dockerfile (guessed)"),
        ("me/tool:1.2", {".github/workflows/image.yml": VARIANTS}, ""),
        ("me/tool:1.2", {".github/workflows/image.yml": VARIANTS.replace("extra.", "")}, "Dockerfile (guessed)"),
        ("me/tool", {"tool/Dockerfile": ""}, "tool/Dockerfile (guessed)"),
        ("me/tool", {"docker/Dockerfile.tool": "", "docker/Dockerfile.other": ""}, "docker/Dockerfile.tool (guessed)"),
        ("me/tool", {"docker/Dockerfile.other": ""}, ""),
        ("me/tool", {"docker/tool.dockerfile": ""}, "docker/tool.dockerfile (guessed)"),
        ("me/tool", {"tool/dockerfile": "", "tool/dockerfile.cpu": ""}, "tool/dockerfile (guessed)"),
        ("me/tool", {"docker/gpu/build.sh": "cd docker/gpu\ndocker build -t me/tool .\n", "docker/gpu/Dockerfile": ""},
         "docker/gpu/Dockerfile"),
        ("me/apps:noetic-lidar", {"lidar/Dockerfile": ""}, ""),  # it is not the launch's own directory
        ("you/tool", {"build.sh": "docker build -t me/tool .\n"}, ""),
        ("pytorch/pytorch", {"build.sh": "docker build -t pytorch .\n"}, ""),
        ("python:3.12", {"python/Dockerfile": ""}, ""),
        ("tool", {"build.sh": "docker build -t tool -f '.\\docker\\Dockerfile.dev' .\n", "docker/Dockerfile.dev": ""},
         "docker/Dockerfile.dev"),
        ("tool", {"build.sh": 'docker build -t tool -f "$SCRIPT_DIR/Dockerfile.dev" .\n', "Dockerfile.dev": ""},
         "Dockerfile.dev"),
        ("tool", {"build.sh": 'D="$(cd "$(dirname "$0")" && pwd)"\ndocker build -t tool -f "$D/Dockerfile.dev" .\n',
                  "Dockerfile.dev": ""}, "Dockerfile.dev"),
    ],
)  # fmt: skip
def test_builds_of_the_repository(tmp_path: Path, image: str, files: dict[str, str], built: str) -> None:
    """The build of an image that is called so but for its owner is a guess, and makes no error."""
    text = f"services:\n  app:\n    image: {image}\n    {GPUS}\n"
    own = {name: content or f"{DOCKERFILE}CMD python train.py\n" for name, content in files.items()}
    plain = f"{DOCKERFILE}CMD python train.py\n"
    files = {"run/compose.yaml": text, "Dockerfile": plain, "extra.Dockerfile": plain, "train.py": LOADER, **own}
    for paths in ((".",), ("run/compose.yaml",)):
        steps = [step.text for step in need(tmp_path, files, paths).trail]
        told = [step.removeprefix("image built from ") for step in steps if step.startswith("image built")]
        assert told == ([built] if built else []), paths


@table(
    "folder, image, verdict",
    [
        ("lidar", "me/apps:noetic-lidar", "not-needed"),
        ("robot-lidar", "me/apps:robot-lidar", "not-needed"),
        ("lidar", "me/apps:lidar", "not-needed"),
        ("lidar", "me/apps:noetic-camera", "unknown"),
        ("lidar", "me/apps:nolidar", "unknown"),
        ("lidar", "me/lidar-apps:1.0", "unknown"),
        ("gpu", "me/apps:1.0-gpu", "unknown"),
        ("lidar", "pytorch/pytorch:2-lidar", "likely"),
    ],
)
def test_the_dockerfile_beside_a_launch_is_that_of_its_tag(
    tmp_path: Path, folder: str, image: str, verdict: str
) -> None:
    own = "FROM other/base\nCMD roslaunch driver driver.launch\n"
    files = {f"a/{folder}/Dockerfile": own, f"a/{folder}/run.sh": f"docker run --gpus all -d {image}\n"}
    assert need(tmp_path, files).verdict == verdict


@pytest.mark.parametrize("git", [True, False])
def test_the_name_of_a_checkout_says_nothing_of_its_dockerfile(tmp_path: Path, git: bool) -> None:
    own = "FROM other/base\nCMD roslaunch driver driver.launch\n"
    files = {"Dockerfile": own, "run.sh": "docker run --gpus all -d me/apps:noetic-lidar\n"}
    folder = tmp_path / "lidar"
    (folder / ".git").mkdir(parents=True) if git else folder.mkdir()
    assert need(folder, files).verdict == "unknown"
    assert need(folder, {"lidar/" + name: text for name, text in files.items()}, ("lidar",)).verdict == "not-needed"


@table(
    "image, command, verdict",
    [
        ("tool", "CMD python train.py", "needed"), ("you/tool", "CMD python train.py", "likely"),
        ("tool", "CMD bash", "likely"), ("you/tool", "CMD bash", "unknown"),
    ],
)  # fmt: skip
def test_a_guessed_build_makes_no_error(tmp_path: Path, image: str, command: str, verdict: str) -> None:
    files = {
        "compose.yaml": f"services:\n  app:\n    image: {image}\n    {GPUS}\n", "train.py": LOADER,
        "build.sh": "docker build -t tool .\n", "Dockerfile": f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n{command}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "words, read",
    [
        ("bash -c 'cd /src/tools && python fit.py'", ["tools/fit.py (guessed)"]),
        ("bash -c 'git clone https://x/me/app && cd app/tools && python fit.py'", ["tools/fit.py (guessed)"]),
        ("bash -c 'cd /src && python fit.py'", ["tools/fit.py (guessed)"]),
        ("python own.py", ["a/own.py (guessed)"]),
        ("python two.py", []),
        ("python a/../gone.py", []),
        ("bash -c 'torchrun --node_rank <RANK> --master_addr <ADDR> train.py'", ["train.py (guessed)"]),
        ("bash -c 'python serve.py < list > log'", ["serve.py (guessed)"]),
    ],
)
def test_programs_of_which_only_the_place_is_guessed(tmp_path: Path, words: str, read: list[str]) -> None:
    text = f'docker run --gpus all other/image {words.replace(chr(39), chr(34))}\n'
    files = {"run.sh": text, "tools/fit.py": LOADER, "train.py": LOADER, "serve.py": "print(1)\n"}
    files |= {"a/own.py": LOADER, "a/two.py": LOADER, "b/two.py": LOADER}
    assert [step.text for step in need(tmp_path, files).trail] == read


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
    "before, mount, read",
    [
        ('D="$( cd "$( dirname "${BASH_SOURCE[0]}" )" &> /dev/null && pwd )"', "$D", "tools/fit.py"),
        ('D="$(cd -- "$(dirname -- "$0")" >/dev/null 2>&1 ; pwd -P)"', "$D/../other", "other/fit.py"),
        ('D="$(cd "$(dirname "$0")/../other" && pwd)"', '"$D"', "other/fit.py"),
        ("D=$(cd `dirname $0`; pwd)", "$D/", "tools/fit.py"),
        ("D=$(dirname $(readlink -f $0))", "$D/../other", "other/fit.py"),
        ('ROOT_DIR="$(realpath "$(dirname "$0")"/..)"', "${ROOT_DIR}/other", "other/fit.py"),
        ('D="$(cd "$(dirname "$0")" && pwd)"\nROOT="$(dirname "$D")"', "$ROOT/other", "other/fit.py"),
        ("D=$(dirname $0)\nROOT=$(cd $D/.. && pwd)", "$ROOT/other", "other/fit.py"),
        ("", "$(dirname $(dirname $(realpath $0)))/other", "other/fit.py"),
        ("", "$(git rev-parse --show-toplevel)/other", "other/fit.py"),
        # What the reader does not know is at most a guess
        ("D=$(dirname $(dirname $0))", "$D/other", "other/fit.py (guessed)"),
        ("D=$(dirname $0)", "$D", "tools/fit.py (guessed)"),
        ("D=$(cd $(dirname $0)/$1 && pwd)", "$D", "tools/fit.py (guessed)"),
        ('D="$(cd "$(dirname "$0")" && ls)"', "$D", "tools/fit.py (guessed)"),
        ("D=$(realpath --relative-to=/x $0)", "$D", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\nif x; then D=/x; fi\nR=$(realpath $D)", "$R", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\nfor D in a b; do :; done\nR=$(realpath $D)", "$R", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\n. env.sh\nR=$(realpath $D)", "$R", "tools/fit.py (guessed)"),
        ("D=$(realpath $D)", "$D", "tools/fit.py (guessed)"),
        ("D=$(git rev-parse --show-toplevel | tail -1)", "$D/tools", "tools/fit.py (guessed)"),
    ],
)
def test_a_directory_that_a_script_finds_from_its_own(tmp_path: Path, before: str, mount: str, read: str) -> None:
    text = f"#!/bin/bash\n{before}\ndocker run --gpus all -v {mount}:/w -w /w me/image python fit.py\n"
    files = {"tools/run.sh": text, "tools/fit.py": LOADER, "other/fit.py": LOADER}
    assert [step.text for step in need(tmp_path, files).trail] == [read]


@table(
    "name, first, read",
    [
        ("run.sh", "#!/bin/sh\n", "fit.py"), ("start", "#!/usr/bin/env bash\n", "fit.py"),
        ("lib.sh", "", "fit.py (guessed)"), ("Makefile", "x:\n\t", "fit.py (guessed)"),
    ],
)  # fmt: skip
def test_only_a_script_that_is_started_has_its_own_name(tmp_path: Path, name: str, first: str, read: str) -> None:
    mount = "$$(dirname $$(realpath $$0))" if name == "Makefile" else "$(dirname $(realpath $0))"
    text = f"{first}docker run --gpus all -v {mount}:/w -w /w me/image python fit.py\n"
    assert [step.text for step in need(tmp_path, {name: text, "fit.py": LOADER}).trail] == [read]


@table(
    "start, read",
    [
        ("cat > /opt/start.sh <<'END'\nRUN\nEND\n", "fit.py (guessed)"),
        ("ssh host <<END\nRUN\nEND\n", "fit.py (guessed)"),
        ("bash -c 'RUN'\n", "fit.py (guessed)"),
        ("bash -lc '\n  echo\n  RUN'\n", "fit.py (guessed)"),
        ("ssh host 'RUN'\n", "fit.py (guessed)"),
        ("cat <<END\ntext\nEND\nRUN\n", "fit.py"),
        ("cat <<< END\nRUN\n", "fit.py"),
        ("echo 'done'\nX='a'\nRUN\n", "fit.py"),
        ('bash -c "RUN"\n', "fit.py"),
    ],
)
def test_a_command_for_another_shell_has_not_the_script_s_name(tmp_path: Path, start: str, read: str) -> None:
    text = start.replace("RUN", "docker run --gpus all -v $(dirname $(realpath $0)):/w -w /w me/image python fit.py")
    found = need(tmp_path, {"run.sh": f"#!/bin/bash\n{text}", "fit.py": LOADER})
    assert [step.text for step in found.trail] == [read]


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
    "text",
    [
        "cd a" + " " * 100_000 + "b\n", "cd " * 50_000 + "\n", "cat <<'E'\ncd $(" + "(" * 50_000 + "\nE\n",
        "f() { f; }\n" * 300,
        "".join(f"f{i}() {{ f{i + 1} a$1; f{i + 1} b$1; }}\n" for i in range(60)) + "f0 x\n", "f(){ :; };" * 500,
    ],
)  # fmt: skip
def test_hostile_scripts_end_the_trail(tmp_path: Path, text: str) -> None:
    run_it = "docker run --gpus all -v $PWD:/w -w /w other/image bash inner.sh\n"
    begin = time.process_time()
    found = need(tmp_path, {"run.sh": f"{text}{run_it}", "inner.sh": text}, ("run.sh",))
    assert found.verdict in ("unknown", "not-needed", "likely")
    assert time.process_time() - begin < 5


SUPERVISED = """
[supervisord]
nodaemon=true

[program:serve]
command = python serve.py  ; the page
directory = /app

[program:train]
command=python %(ENV_WHERE)strain.py
  --workers {workers}
{more}

[include]
files = parts/*.conf
"""


@table(
    "configuration, part, verdict",
    [
        (SUPERVISED.format(workers=8, more=""), "", "needed"),
        (SUPERVISED.format(workers=0, more=""), "", "not-needed"),
        (SUPERVISED.format(workers=8, more="autostart=false"), "", "not-needed"),
        (SUPERVISED.format(workers=0, more=""), "[program:x]\ncommand=python train.py\n", "needed"),
        (SUPERVISED.format(workers=0, more=""), "[program:x]\ncommand=gone\n", "unknown"),
        (SUPERVISED.format(workers=0, more=""), "[include]\nfiles = *.conf\n", "not-needed"),
        ("[program:a]\ncommand='\n" + "[" * 5000 + "\n" + "[a]\n" * 5000, "", "unknown"),
    ],
)
def test_programs_of_supervisord(tmp_path: Path, configuration: str, part: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("supervisord -n -c etc/supervisord.conf", "    environment: {WHERE: ./}\n"),
        "Dockerfile": DOCKERFILE, "etc/supervisord.conf": configuration, "train.py": LOADER, "serve.py": "print(1)\n",
        "etc/parts/x.conf": part,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_a_script_that_is_read_as_one_word_is_left(tmp_path: Path) -> None:
    """With a quotation mark that is not closed, the line that a shell is given is the same line again."""
    found = need(tmp_path, {"compose.yaml": compose("bash run.sh"), "run.sh": "a`b c && d\n"})
    assert found.verdict != "not-needed"


COMMANDS = """
from torch.utils.data import DataLoader
def check():
    print(1)
def train():
    DataLoader([1], num_workers=8)
"""


@table(
    "first, second",
    [
        ("pytest tests/test_a.py", "pytest tests/test_b.py"),
        ("app-check", "app-train"),
        ("python a.py", "env WORKERS=8 python a.py"),
    ],
)
def test_programs_with_the_same_first_file_are_told_apart(tmp_path: Path, first: str, second: str) -> None:
    files = {
        "pyproject.toml": '[project.scripts]\napp-check = "app:check"\napp-train = "app:train"\n',
        "app/__init__.py": COMMANDS,
        "a.py": "import os\n" + LOADER.replace("default=8", "default=os.environ.get('WORKERS', 0)"),
        "tests/conftest.py": "import os\n",
        "tests/test_a.py": "def test_a():\n    pass\n",
        "tests/test_b.py": "from app import train\ndef test_b():\n    train()\n",
        "Dockerfile": DOCKERFILE,
    }
    services = compose(first, f"  other:\n    build: .\n    command: {second}\n    {GPUS}\n")
    (tmp_path / ".git").mkdir()
    started = run(tmp_path, {**files, "compose.yaml": services}, paths=(".",))
    with contextlib.chdir(tmp_path):
        verdicts = [started.context.need(launch).verdict for launch in started.launches]
    assert verdicts[0] == "not-needed"
    assert verdicts[1] != "not-needed"
    assert need(tmp_path, {**files, "compose.yaml": compose(f'sh -c "{first}; {second}"')}).verdict != "not-needed"


@table(
    "command, program",
    [
        ("bash", "import torch\nloss.backward()\n# " + "yolo " * 40_000 + "\n"),
        (
            "python a.py " + " ".join(f"--op{i} 1" for i in range(300)),
            "".join(f"p.add_argument('--opt{i}', default=0)\n" for i in range(1500)) + "if a.opt: pass\n" * 1500,
        ),
    ],
    ids=lambda text: text[:6],
)
def test_many_words_and_options_are_read_in_time(tmp_path: Path, command: str, program: str) -> None:
    started = time.process_time()
    need(tmp_path, {"a.py": program, "Dockerfile": DOCKERFILE, "compose.yaml": compose(command)})
    assert time.process_time() - started < 8


NATIVE = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nWORKDIR /src\nCOPY . .\nRUN BUILD\n"
SOLVER = "#include <cuda_runtime.h>\n#include <omp.h>\nint main() { return solve(); }\n"
MADE = {"Makefile": "solver: main.cu\n\tnvcc main.cu -o $@\n", "main.cu": SOLVER}
CMAKE = "project(solver CUDA CXX)\nadd_executable(solver main.cu)\n"


@table(
    "build, files, verdict",
    [
        ("cmake -B build && cmake --build build", {"CMakeLists.txt": CMAKE, "main.cu": SOLVER}, "not-needed"),
        ("make -j4", MADE, "not-needed"),
        ("make", {"Makefile": "EXECUTABLE := solver\n", "src/main.cu": SOLVER}, "not-needed"),
        ("cargo build", {"Cargo.toml": '[package]\nname = "solver"\n', "src/main.rs": "fn main() {}"}, "not-needed"),
        ("go build -o /bin ./...", {"go.mod": "module a", "cmd/solver/main.go": "package main\n"}, "not-needed"),
        # Sources that may share memory or start others, that are elsewhere, and programs that nothing compiles.
        ("make", MADE | {"main.cu": f"#include <nccl.h>\n{SOLVER}"}, "unknown"),
        ("make", MADE | {"main.cu": SOLVER + "int f() { return shm_open(a, 0); }"}, "unknown"),
        ("make", MADE | {"lib-1.2/a.h": "#include <torch/torch.h>"}, "unknown"),
        ("make", MADE | {"main.cu": SOLVER + 'int f() { return system("x"); }'}, "unknown"),
        ("make", MADE | {"Makefile": "other: main.cu\n"}, "unknown"),
        ("make", MADE | {".gitmodules": "[submodule]"}, "unknown"),
        ("git clone https://a.b/c && make", MADE, "unknown"),
        ("cmake -B build", {"CMakeLists.txt": f"{CMAKE}FetchContent_Declare(x)\n", "main.cu": SOLVER}, "unknown"),
        ("apt-get install -y solver", MADE, "unknown"),
        ("make", {"Makefile": "solver: main.cu\n"}, "unknown"),
    ],
)
def test_a_program_that_the_build_compiles_is_read_by_its_words(
    tmp_path: Path, build: str, files: dict[str, str], verdict: str
) -> None:
    written = {"compose.yaml": compose("solver --steps 10"), "Dockerfile": NATIVE.replace("BUILD", build)}
    assert need(tmp_path, written | files).verdict == verdict


def test_a_program_that_an_earlier_stage_compiles(tmp_path: Path) -> None:
    stages = NATIVE.replace("BUILD", "make") + "FROM nvidia/cuda:12.4.1-runtime\nCOPY --from=0 /src/solver /\n"
    files = MADE | {"Dockerfile": stages}
    found = need(tmp_path, {"compose.yaml": compose("/solver"), **files})
    assert (found.verdict, found.evidence[0].text) == (
        "not-needed", "`solver` is compiled from sources of the repository"
    )  # fmt: skip
    assert need(tmp_path, {"compose.yaml": compose("mpirun -n 4 /solver"), **files}).verdict != "not-needed"


@table(
    "options, size, found",
    [
        ("--shm-size=32m", 40, "SHM102 error"),
        ("--shm-size=48m", 40, ""),
        ("--shm-size=32m", 20, ""),
        ("", 40, ""),
        ("--shm-size=128m", 100, "SHM103 note"),
        # Bytes that were meant as megabytes are reported as such.
        ("--shm-size=32", 40, "SHM203 error"),
    ],
)
def test_what_is_known_is_compared_with_a_size_below_the_default(
    tmp_path: Path, options: str, size: int, found: str
) -> None:
    code = f"from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size={size} * 2**20)\n"
    launch = f"docker run --gpus all {options} -v $PWD:/w -w /w python:3.12 python hold.py\n"
    (tmp_path / ".git").mkdir()
    told = findings(tmp_path, {"run.sh": launch, "hold.py": code})
    assert [f"{finding.rule} {finding.severity}" for finding in told] == found.split(", ") * bool(found)


PROJECT = """
[project]
name = "tool"
dependencies = ["unheard-of"]

[project.optional-dependencies]
train = [
    "torch",
]
"""
SETUP = "from setuptools import setup\nsetup(\n    MORE,\n    install_requires=['LIST'],\n)\n"


@table(
    "runs, files, verdict",
    [
        ("pip install .", {"pyproject.toml": PROJECT}, "unknown"),
        ("pip install '.[train]'", {"pyproject.toml": PROJECT}, "likely"),
        ("uv sync --extra train", {"pyproject.toml": PROJECT}, "likely"),
        ("pip install .", {"pyproject.toml": PROJECT.replace("unheard-of", "torch")}, "likely"),
        ("pip install .", {"setup.py": SETUP.replace("MORE", "extras_require={'a': ['torch']}")}, "unknown"),
        ("pip install .", {"setup.py": SETUP.replace("LIST", "torch")}, "likely"),
        ("pip install numpy", {"requirements-examples.txt": "torch\n"}, "unknown"),
        ("pip install -r requirements-examples.txt", {"requirements-examples.txt": "torch\n"}, "likely"),
        ("pip install numpy", {"requirements.txt": "torch\n"}, "likely"),
        # Nothing shows what is installed.
        ("", {"requirements-examples.txt": "torch\n"}, "likely"),
    ],
)
def test_packages_for_extras_are_there_where_the_build_asks_for_them(
    tmp_path: Path, runs: str, files: dict[str, str], verdict: str
) -> None:
    """A shell where PyTorch is installed probably needs more; an extra that nobody asks for installs none."""
    image = "me/tool"
    if runs:
        image, files = "tool", {**files, "Dockerfile": f"FROM ubuntu\nWORKDIR /app\nCOPY . .\nRUN {runs}\n"}
        files["build.sh"] = "docker build -t tool .\n"
    code = {"tool.py": "import unheard_of\n", "run.sh": f"docker run --gpus all -it -v $PWD:/app {image} bash\n"}
    assert need(tmp_path, {**files, **code}).verdict == verdict


NETS = "import jax\nimport numpy\nfrom flax import linen\n\ndef step(state):\n    return jax.jit(linen.relu)(state)\n"
MADE_FOR_IT = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip vim\n"


@table(
    "build, files, verdict",
    [
        ("RUN pip install -U 'jax[cuda12]' flax==0.8 jupyterlab", {}, "not-needed"),
        ("COPY requirements.txt .\nRUN pip install -r requirements.txt",
         {"requirements.txt": "# nets\njax[cuda12]>=0.4\nflax\n"}, "not-needed"),
        ("COPY . .\nRUN pip install -e .", {"pyproject.toml": '[project]\nname = "a"\ndependencies = ["jax>=0.4"]\n'},
         "not-needed"),
        ("RUN curl -LsSf https://astral.sh/uv/install.sh | sh", {}, "not-needed"),
        ("RUN bash -c 'apt-get install -y ros-${ROS_DISTRO}-desktop && colcon build'", {}, "not-needed"),
        ("RUN conda install -y -c conda-forge zlib libgcc-ng mkl-fft cuda-nvcc libcublas-dev scipy", {}, "not-needed"),
        ("RUN pip install typing grpcio rpds-py jupyterlab-server decimer-image-transformer", {}, "not-needed"),
        ("RUN cat <<EOF > /etc/motd\nhello\nEOF\nRUN chsh -s /bin/zsh me && passwd -d me", {}, "not-needed"),
        ("RUN curl -Lo /tmp/cuda-keyring_1.1-1_all.deb https://a.b/c && dpkg -i /tmp/cuda-keyring_1.1-1_all.deb", {},
         "not-needed"),
        ("RUN wget https://a.b/ros2-apt-source.deb && apt-get install -y ./ros2-apt-source.deb && dpkg -l", {},
         "not-needed"),
        # What is not known, what may share memory, and code from elsewhere.
        ("RUN <<EOF\npip install unheard-of\nEOF", {}, "unknown"),
        ("RUN --mount=type=cache,target=/root/.cache <<-'EOF' bash\npip install unheard-of\nEOF", {}, "unknown"),
        ("RUN cat <<EOF | bash\npip install unheard-of\nEOF", {}, "unknown"),
        ("RUN dpkg -i /tmp/tool.deb", {}, "unknown"),
        ("RUN apt-get install -y ./tool.deb", {}, "unknown"),
        ("RUN pip install jax unheard-of", {}, "unknown"),
        ("RUN pip install ray", {}, "unknown"),
        ("RUN conda install zlib libgcc-ng nccl", {}, "unknown"),
        ("RUN pip install multiprocess", {}, "unknown"),
        ("RUN pip install git+https://github.com/a/jax", {}, "unknown"),
        ("RUN pip install -r gone.txt", {}, "unknown"),
        ("RUN apt-get install -y libnccl2", {}, "unknown"),
        ("RUN bash -c 'git clone https://a.b/c && make'", {}, "unknown"),
        ("RUN curl https://a.b/install.sh | sh", {}, "unknown"),
        ("RUN ./install.sh", {}, "unknown"),
        ("COPY --from=someone/tools /opt/tools /opt/tools", {}, "unknown"),
        ("RUN pip install jax", {"more.py": "import unheard_of\n"}, "unknown"),
        ("RUN pip install jax", {"more.py": "import jax\njax.pmap(f)\n"}, "unknown"),
        ("RUN pip install jax", {"more.py": "from multiprocessing import Process\n"}, "unknown"),
        ("RUN pip install jax", {"src/main.cu": "#include <nccl.h>\n"}, "unknown"),
        ("RUN pip install jax", {"requirements.txt": "torch\n"}, "likely"),
        ("RUN pip install -e .", {"pyproject.toml": "project = 1\n"}, "unknown"),
    ],
)
def test_a_shell_whose_packages_and_code_are_all_known(
    tmp_path: Path, build: str, files: dict[str, str], verdict: str
) -> None:
    script = "docker build -t mine .\ndocker run -it --gpus all -v $PWD:/work -v /data:/data mine bash\n"
    written = {"run.sh": script, "Dockerfile": f"{MADE_FOR_IT}{build}\n", "net.py": NETS}
    assert need(tmp_path, written | files).verdict == verdict


@table(
    "options, base, verdict",
    [
        ("-it -v $PWD:/work", "nvidia/cuda:12.4.1-base-ubuntu22.04", "not-needed"),
        ("-it -v $PWD:/work", "tensorflow/tensorflow:2.15.0-gpu-jupyter", "not-needed"),
        ("-it -v $PWD:/work -v /tmp/.X11-unix:/tmp/.X11-unix -v ~/.ssh:/root/.ssh", "osrf/ros:humble", "not-needed"),
        ("-it -v $PWD:/work -v $HOME/catkin_ws:/root/catkin_ws", "osrf/ros:humble-desktop", "unknown"),
        ("-it", "nvidia/cuda:12.4.1-base-ubuntu22.04", "unknown"),
        ("-it -v $PWD:/work", "someone/tools:1", "unknown"),
        ("-it -v $PWD:/work", "nvcr.io/nvidia/tensorflow:24.01-tf2-py3", "unknown"),
    ],
)
def test_a_shell_in_an_image_of_a_plain_base(tmp_path: Path, options: str, base: str, verdict: str) -> None:
    script = f"docker build -t mine .\ndocker run --gpus all {options} mine bash\n"
    files = {"run.sh": script, "Dockerfile": f"FROM {base}\nRUN pip install jax flax\n", "net.py": NETS}
    assert need(tmp_path, files).verdict == verdict


@table(
    "options, build, files, verdict",
    [
        ("", "FROM ros:humble", {}, "not-needed"),
        ("-v /tmp/.X11-unix:/tmp/.X11-unix -v ./ws:/ws", "FROM osrf/ros:noetic-desktop-full", {}, "not-needed"),
        ("", "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get install -y ros-humble-desktop gazebo", {},
         "not-needed"),
        ("", "FROM ros:humble", {"README.md": "```\nros2 launch arm rviz.launch.py\n```\n"}, "not-needed"),
        ("", "FROM ros:humble", {"README.md": "```\npip install docker\n./run.sh\n```\n"}, "not-needed"),
        ("", "FROM ros:humble", {"README.md": "```\n./run.sh\npip install torch\n```\n"}, "unknown"),
        ("", "FROM ros:humble", {"README.md": "```\ndocker exec -it robot bash\ngit clone https://a.b/arm\n```\n"},
         "unknown"),
        ("-v $HOME/ws:/ws", "FROM ros:humble", {}, "unknown"),
        ("", "FROM someone/ros:1\nRUN apt-get install -y ros-humble-desktop", {}, "unknown"),
        ("", "FROM ros:humble\nRUN git clone https://a.b/arm /ws/src/arm", {}, "unknown"),
        ("", "FROM ros:humble\nCOPY --from=someone/tools /opt /opt", {}, "unknown"),
        ("", "FROM ros:humble", {"see.py": "import torch\n"}, "unknown"),
        ("", "FROM ros:humble", {"see.py": "import unheard_of\n"}, "unknown"),
        ("", "FROM ros:humble", {"see.py": "from multiprocessing import shared_memory\n"}, "unknown"),
        ("", "FROM ros:humble", {"src/share.cpp": "int f = shm_open(name, O_RDWR, 0600);\n"}, "unknown"),
        ("", "FROM ros:humble", {".gitmodules": "[submodule \"arm\"]\n"}, "unknown"),
        ("", "FROM ros:humble\nRUN echo torch | xargs pip install", {}, "unknown"),
        ("", "FROM ros:humble\nADD https://a.b/arm.tar.gz /opt/", {}, "unknown"),
        ("", "FROM ros:humble\nENV FASTRTPS_DEFAULT_PROFILES_FILE=/shm.xml", {"shm.xml": "<dds/>"}, "unknown"),
        ("", "FROM ubuntu:22.04\nRUN apt-get install -y vim", {}, "unknown"),
    ],
)
def test_a_shell_for_a_robot_that_sees_no_code(
    tmp_path: Path, options: str, build: str, files: dict[str, str], verdict: str
) -> None:
    """All that is in an image for ROS is known; of what another image without code is for, nothing is."""
    script = f"docker build -t mine .\ndocker run -it --gpus all {options} mine bash\n"
    assert need(tmp_path, {"run.sh": script, "Dockerfile": f"{build}\n"} | files).verdict == verdict


@table(
    "more, verdict",
    [
        ("", "not-needed"), (', "postCreateCommand": "pip install optax"', "not-needed"),
        (', "postCreateCommand": "pip install unheard-of"', "unknown"),
        (', "postCreateCommand": ["./setup.sh"]', "unknown"),
        (', "features": {"ghcr.io/devcontainers/features/git:1": {}}', "not-needed"),
        (', "features": {"ghcr.io/someone/features/tools:1": {}}', "unknown"),
    ],
)  # fmt: skip
def test_a_dev_container_whose_packages_and_code_are_all_known(tmp_path: Path, more: str, verdict: str) -> None:
    text = f'{{"build": {{"dockerfile": "Dockerfile"}}, "runArgs": ["--gpus", "all"]{more}}}'
    build = f"{MADE_FOR_IT}RUN pip install jax flax\n"
    files = {".devcontainer/devcontainer.json": text, ".devcontainer/Dockerfile": build, "net.py": NETS}
    assert need(tmp_path, files).verdict == verdict


BAKE = """
variable "TAG" { default = "1.0" }
// target "old" { tags = ["me/old"] }
target "base" {
  context = "services"
  args = {
    BASE = "python:3.12"
    VERSION = "${TAG}"
  }
}
target "app" {
  inherits   = ["base"]
  dockerfile = "app.Dockerfile"
  tags = [
    "registry.me/app:${TAG}", "registry.me/app:${MORE}"
  ]
}
"""


@table(
    "image, hcl, verdict",
    [
        ("registry.me/app:1.0", BAKE, "not-needed"),
        ("registry.me/app:1.0", BAKE.replace("registry.me/app", "registry.me/other"), "unknown"),
        ("me/old", BAKE, "unknown"),
        ("registry.me/app:1.0", BAKE.replace('["base"]', '["gone"]'), "unknown"),
        ("registry.me/app:1.0", 'target "app" {', "unknown"),
    ],
)
def test_what_bake_builds(tmp_path: Path, image: str, hcl: str, verdict: str) -> None:
    build = "ARG BASE\nFROM ${BASE}\nWORKDIR /app\nCOPY . .\nCMD python serve.py\n"
    files = {"compose.yaml": f"services:\n  app:\n    image: {image}\n    {GPUS}\n", "docker-bake.hcl": hcl}
    files |= {"services/app.Dockerfile": build, "services/serve.py": SERVE, "services/helper.py": HELPER}


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


@table(
    "command, build, verdict",
    [
        ("ros2 launch robot start.launch.py", "RUN . /opt/ros/humble/setup.sh && colcon build", "not-needed"),
        ("roslaunch robot start.launch", "RUN apt-get install -y ros-humble-nav2-bringup", "not-needed"),
        ("mpirun -n 4 solve", "RUN colcon build", "unknown"),
        ("/opt/tools/run", "RUN colcon build", "unknown"),
        ("gone", "RUN colcon build", "unknown"),
        ("start.sh", "RUN colcon build", "unknown"),
        ("ros2 launch robot start.launch.py", "RUN git clone https://a.b/robot && colcon build", "unknown"),
        ("ros2 launch robot start.launch.py", "RUN pip install unheard-of", "unknown"),
        ("ros2 launch robot start.launch.py", "RUN pip install torch", "unknown"),
    ],
)
def test_what_ros_starts_in_an_image_in_which_all_is_known(
    tmp_path: Path, command: str, build: str, verdict: str
) -> None:
    files = {
        "compose.yaml": compose(command), "src/node.py": "import rclpy\nrclpy.spin(node)\n",
        "Dockerfile": f"FROM ros:humble\nWORKDIR /ws\nCOPY src src\n{build}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "image, command, more, verdict",
    [
        ("me/robot:humble", "ros2 launch robot start.launch.py", "", "not-needed"),
        ("ghcr.io/me/robot", "ros2 launch robot start.launch.py", "", "not-needed"),
        ("me/robot", "roslaunch robot start.launch", "", "not-needed"),
        ("me/robot", "ros2 launch robot start.launch.py", "RUN pip install torch\n", "unknown"),
        ("me/robot", "/opt/tools/run", "", "unknown"),
        ("you/robot", "ros2 launch robot start.launch.py", "", "unknown"),
        ("me/robot-arm", "ros2 launch robot start.launch.py", "", "unknown"),
    ],
)
def test_what_ros_starts_in_the_image_that_the_repository_publishes(
    tmp_path: Path, image: str, command: str, more: str, verdict: str
) -> None:
    page = f"# Robot\n\nFrom https://github.com/me/robot\n\n```bash\ndocker run --gpus all {image} {command}\n```\n"
    build = f"FROM ros:humble\nWORKDIR /ws\nCOPY src src\n{more}RUN colcon build\n"
    files = {"README.md": page, "Dockerfile": build, "src/node.py": "import rclpy\nrclpy.spin(node)\n"}
    assert need(tmp_path, files, ("README.md",)).verdict == verdict


@table(
    "words, verdict",
    [
        ("-hwaccel cuda -i a.mp4 -c:v h264_nvenc b.mp4", "not-needed"),
        ("-i a.mp4 -c:v hevc_nvenc b.mp4", "not-needed"),
        ("-i a.mp4 -o b.mp4", "unknown"), ("-y --input a", "unknown"),
    ],
)  # fmt: skip
def test_options_that_only_ffmpeg_has(tmp_path: Path, words: str, verdict: str) -> None:
    assert need(tmp_path, {"run.sh": f"docker run --gpus all me/video:1 {words}\n"}).verdict == verdict


TASKS = {
    "package.json": '{"scripts": {"start": "npm run serve -- --fast", "serve": "python serve.py", "go": "npm run go"}}',
    "pyproject.toml": '[tool.poe.tasks]\nserve = {cmd = "python serve.py"}\ntrain = "python train.py"\nnone = 1\n'
    '[tool.pdm.scripts]\nserve = "python serve.py"\n[tool.pixi.tasks]\ntrain = "python train.py"\n',
    "Procfile": "web: python serve.py\nwork: python train.py\n",
}


@table(
    "command, verdict",
    [
        ("npm start", "not-needed"), ("yarn run serve", "not-needed"), ("pdm run serve", "not-needed"),
        ("poe serve", "not-needed"), ("poe train --workers 8", "needed"), ("pixi run train", "needed"),
        ("honcho start web", "not-needed"), ("foreman start", "needed"), ("pdm run python train.py", "needed"),
        # Names that nobody wrote down, and what calls itself.
        ("npm run gone", "unknown"), ("poe none", "unknown"), ("pixi run serve", "unknown"),
        ("honcho start gone", "unknown"), ("npm run go", "unknown"), ("npm install", "not-needed"),
    ],
)  # fmt: skip
def test_what_a_file_calls_by_a_name_is_followed(tmp_path: Path, command: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "serve.py": SERVE, "helper.py": HELPER,
        "train.py": LOADER, **TASKS,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "command, verdict",
    [
        ("./wait-for-it.sh db:5432 -t 30 -- python train.py", "needed"),
        ("wait-for db:1 -- python serve.py", "not-needed"),
        ("dockerize -wait tcp://db:1 -timeout 9s python train.py", "needed"), ("vglrun python serve.py", "not-needed"),
        ('su - me -c "cd /app && python train.py"', "needed"), ('runuser -l me -c "python serve.py"', "not-needed"),
        ("watchmedo auto-restart -d . -- python train.py", "needed"), ("ddtrace-run python serve.py", "not-needed"),
        ("bokeh serve serve.py", "not-needed"), ("panel serve train.py", "needed"), ("bokeh gone serve.py", "unknown"),
        ('sh -c "redis-server & Xvfb :1 & alembic upgrade head && python serve.py"', "not-needed"),
        ('sh -c "postgres & python serve.py"', "unknown"),
        ("su - me ./gone.sh", "unknown"), ("watchmedo shell-command .", "unknown"), ("doppler run -- gone", "unknown"),
    ],
)  # fmt: skip
def test_programs_that_wait_trace_or_become_somebody_run_the_rest(tmp_path: Path, command: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "serve.py": SERVE, "helper.py": HELPER,
        "train.py": LOADER, "wait-for-it.sh": '#!/bin/bash\nCLI=("${@:2}")\nwait_for\nexec "${CLI[@]}"\n',
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "image, build, code, verdict, stopped",
    [
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "", "int main() { return 0; }", "not-needed", ""),
        ("ros:humble", "", "int main() { return 0; }", "not-needed", ""),
        ("example/robot:deps", "", "int main() { return 0; }", "unknown",
         "the repository's code uses no shared memory; what else is in its image is unknown"),
        ("", "FROM example/robot:deps", "int main() { return 0; }", "unknown",
         "the repository's code uses no shared memory; what else is in its base image is unknown"),
        ("", "FROM example/robot:deps", "#include <nccl.h>", "unknown",
         "it gives a shell, and nothing is known of what is in its base image"),
        ("", "FROM ros:humble\nRUN git clone https://example.org/slam && make -C slam", "#include <nccl.h>", "unknown",
         "it gives a shell, and nothing is known of what is in its image"),
        ("", "FROM ros:humble\nRUN apt-get install -y libpcl-dev", "int main() { return 0; }", "not-needed", ""),
    ],
)  # fmt: skip
def test_a_dev_container_for_compiled_code(
    tmp_path: Path, image: str, build: str, code: str, verdict: str, stopped: str
) -> None:
    said = {"image": image} if image else {"build": {"dockerfile": "Dockerfile"}}
    files = {".devcontainer/devcontainer.json": json.dumps({**said, "runArgs": ["--gpus=all"]}), "src/main.cpp": code}
    found = need(tmp_path, {**files, **({".devcontainer/Dockerfile": f"{build}\n"} if build else {})})
    assert (found.verdict, found.stopped) == (verdict, stopped)


@table("name", ["", "me/trainer-pytorch:2", "own"])
@table("command", ["", "bash", "jupyter lab", "python train.py"])
def test_the_name_of_a_build_says_nothing_of_its_packages(tmp_path: Path, name: str, command: str) -> None:
    image = f"    image: {name}\n" if name else ""
    service = f"services:\n  app:\n    build: .\n{image}    command: {command}\n    {GPUS}\n"
    plain = {"compose.yaml": service.replace(image, "") if image else service, "Dockerfile": "FROM ubuntu:24.04\n"}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = need(tmp_path / "a", {**plain, "compose.yaml": service}), need(tmp_path / "b", plain)
    assert (one.verdict, one.recommended) == (other.verdict, other.recommended)


@table(
    "code, verdict",
    [
        ("from gsplat import rasterization\nrasterization(a)", "not-needed"),
        ("from groundingdino.util.inference import load_model\nload_model(a)", "not-needed"),
        ("from demucs.apply import apply_model\napply_model(a, b)", "not-needed"),
        ("import audiotools\naudiotools.AudioSignal('a.wav')", "not-needed"),
        ("from kaolin.ops.mesh import sample_points\nsample_points(a)", "not-needed"),
        ("from llava.model.builder import load_pretrained_model\nload_pretrained_model(a)", "not-needed"),
        ("from nougat import NougatModel\nNougatModel.from_pretrained('a')", "not-needed"),
        ("from dgllife.utils import smiles_to_bigraph\nsmiles_to_bigraph(a)", "not-needed"),
        ("from r3m import load_r3m\nload_r3m('resnet50')", "not-needed"),
        ("from mmcv.ops import nms\nnms(a, b)", "not-needed"),
        ("from taming.models.vqgan import VQModel\nVQModel(a)", "not-needed"),
        ("from chronos import Chronos2Pipeline\nChronos2Pipeline.from_pretrained('a').predict(b)", "not-needed"),
        # The same packages, where they load with workers or start ranks.
        ("from gsplat.distributed import cli\ncli(a, b)", "unknown"),
        ("import gsplat\ngsplat.distributed.cli(a, b)", "unknown"),
        ("from groundingdino.util.misc import init_distributed_mode\ninit_distributed_mode(a)", "unknown"),
        ("from demucs.train import main\nmain()", "unknown"),
        ("from audiotools import ml\nml.Accelerator().prepare_dataloader(a, num_workers=8)", "unknown"),
        ("from kaolin.io.dataset import CachedDataset\nCachedDataset(a, num_workers=8)", "unknown"),
        ("from llava.train.train import train\ntrain()", "unknown"),
        ("from nougat.dataset.pdffigures import call_pdffigures\ncall_pdffigures(a)", "unknown"),
        ("from dgllife.data import USPTOCenter\nUSPTOCenter('train')", "unknown"),
        ("from r3m.train_representation import Workspace\nWorkspace(a)", "unknown"),
    ],
)
def test_functions_of_packages_that_load_with_workers_elsewhere(tmp_path: Path, code: str, verdict: str) -> None:
    files = {"main.py": f"{code}\n", "Dockerfile": "FROM python:3.12\nWORKDIR /app\nCOPY . .\nCMD python main.py\n"}
    files["run.sh"] = "docker build -t mine . && docker run --gpus all mine\n"
    assert need(tmp_path, files).verdict == verdict
