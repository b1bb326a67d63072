"""Commands followed to what runs: scripts, their conditions and functions, entrypoints, named programs."""

from __future__ import annotations

import time
from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, GPUS, HELPER, JOINS, LOADER, RANKS, SERVE, WITH_LOADER, compose, need


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
    "script, verdict",
    [
        ("ray start --head --block", "needed"),
        ('if [ "$ROLE" = head ]; then ray start --head --block; else exec "$@"; fi', "likely"),
        ('if [ "$ROLE" = head ]; then ray start --head; else ray start --address=$HEAD; fi', "needed"),
        ('[ -z "$HEAD" ] || ray start --address=$HEAD --block\nexec "$@"', "likely"),
        ('ray start --head\nif [ -n "$WAIT" ]; then exec "$@"; fi', "needed"),
    ],
)
def test_a_server_that_an_entrypoint_may_start(tmp_path: Path, script: str, verdict: str) -> None:
    build = 'FROM python:3.12\nCOPY . /app\nWORKDIR /app\nENTRYPOINT ["/app/entry.sh"]\n'
    files = {"compose.yaml": compose("python work.py"), "Dockerfile": build, "work.py": "print(1)\n"}
    assert need(tmp_path, {**files, "entry.sh": f"#!/bin/sh\n{script}\n"}).verdict == verdict


@table(
    "build, command, verdict",
    [
        ("COPY tool/serve /usr/local/bin/serve", "serve", "not-needed"),
        ("COPY . /app\nRUN chmod +x tool/serve && \\\n    ln -sf /app/tool/serve /usr/local/bin/serve", "serve",
         "not-needed"),
        ("COPY . /app\nRUN ln -s /app/tool/serve.sh /usr/bin/serve", "serve", "not-needed"),
        ("COPY tool/serve.sh /usr/local/bin/serve", "serve", "not-needed"),
        ("COPY . /app\nRUN ln -s /app/tool/fill /usr/bin/fill", "fill", "needed"),
        ('ENV PATH="/opt/tools:${PATH}"\nADD tool/serve /opt/tools/', "serve", "not-needed"),
        ("ARG WHO=user\nENV PATH=$PATH:/home/$WHO/bin\nCOPY tool/fill /home/$WHO/bin/fill", "fill", "needed"),
        ("ENV PATH=/opt/tools/$OTHER:$PATH\nCOPY tool/serve /opt/tools/serve", "serve", "unknown"),
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
        "tool/serve": python, "tool/fill": f"#!/usr/bin/env python3\n{LOADER}", "work.py": python,
        "fill.py": LOADER.partition("if __name__")[0] + "main()\n",
        "tool/serve.sh": "#!/bin/sh\nffmpeg -i x.mp4 out.mp4\n", "conf/app.ini": "[uwsgi]\nmodule = work:make()\n",
        "conf/fill.ini": "[uwsgi]\nmaster = true\nwsgi-file = fill.py\n", "conf/none.ini": "[uwsgi]\nmaster = true\n",
        "conf/more.ini": "[uwsgi]\nmodule = work\nattach-daemon = python fill.py\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "script",
    [
        "\n".join(f'if [[ {"( " * 80}"$A{n - 1}" = x{" )" * 80} ]]; then A{n}=x; fi' for n in range(60)) + "\n$A59 x",
        "\n".join(f'if [ "$A{n - 1}" = x ]{" || false" * 29}; then A{n}=x; fi' for n in range(60)) + "\npython $A59.py",
        "while true; do\n" + (":\n" + "\n" * 30) * 500 + "x\ndone\nsleep 1\n",
    ],
)
def test_conditions_that_go_on_and_on_are_not_known(tmp_path: Path, script: str) -> None:
    """They end neither in too deep a recursion nor in a search that starts over."""
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": script + "\n", "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == "unknown"


@table(
    "script, verdict",
    [
        ('here=$(dirname "$0")\npython $here/fit.py', "needed"),
        ('python "$(dirname "${BASH_SOURCE[0]}")"/fit.py', "needed"),
        ('DIR="$(cd "$(dirname "$0")" >/dev/null 2>&1 && pwd)"\nPYTHONPATH=$DIR/.. python "$DIR/fit.py"', "needed"),
        ('here=$(dirname "$0")\nbash $here/../part/more.sh', "needed"),
        ('python "$(dirname "$0")/other.py"', "unknown"),
    ],
)
def test_a_script_that_finds_its_own_directory(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash part/go.sh"), "part/go.sh": script + "\n", "part/fit.py": LOADER}
    files |= {"fit.py": "print(1)\n", "part/more.sh": "python $(dirname $0)/fit.py\n", "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


@table(
    "script, verdict",
    [
        ("python work.py", "not-needed"),
        ("python work.py && sleep 365d", "unknown"),
        ("/etc/init.d/ssh start; python work.py; tail -f /dev/null", "unknown"),
        ("/etc/init.d/ssh start; exec python work.py", "not-needed"),
    ],
)
def test_a_container_that_waits_after_its_program_is_there_for_others(
    tmp_path: Path, script: str, verdict: str
) -> None:
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": script + "\n", "work.py": "print(1)\n"}
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == verdict


@table(
    "script, verdict",
    [
        (f'N=${{1:-8}}; if [ $N -gt 1 ]; then RUN="{RANKS}"; else RUN=python; fi\n$RUN work.py', "needed"),
        (f'N=${{1:-1}}; if [ $N -gt 1 ]; then RUN="{RANKS}"; else RUN=python; fi\n$RUN work.py', "not-needed"),
        (f'N=8; P=; [ $N -gt 1 ] && P="{RANKS}"; $P work.py', "needed"),
        (f'N=8; P=python; [ $N = 1 ] || P="{RANKS}"; $P work.py', "needed"),
        (f'P=python; true && P="{RANKS}"; $P work.py', "needed"),
        (f'case $1 in a) P=python;; *) P="{RANKS}";; esac; $P work.py', "needed"),
        ('C="work.py"; if [ -z "$1" ]; then C="torchrun --nproc_per_node=8 $C"; fi\n$C', "needed"),
        ('N=8; C=work.py; [ $N = 8 ] && C+=" --fast"\ntorchrun --nproc_per_node=$N $C', "needed"),
        # what a command before it does, a loop and a function are not known; a shell of its own keeps it to itself
        (f'P=python; mkdir x && P="{RANKS}"; $P work.py', "likely"),
        (f'P=python; for i in 1 2; do P="{RANKS}"; done; $P work.py', "likely"),
        (f'P=python; (true; P="{RANKS}"); $P work.py', "not-needed"),
        (f'P=python; f() {{ if true; then P="{RANKS}"; fi; }}; f; $P work.py', "likely"),
        (f'P=python; if [ "$P" = x ] && [ -n "$2" ]; then P="{RANKS}"; fi; $P work.py', "not-needed"),
    ],
)
def test_a_branch_that_is_known_to_be_taken_sets_the_program(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": script + "\n", "work.py": JOINS}
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == verdict


@table(
    "script, gpus, verdict",
    [
        (f'if [ "$MODE" = many ]; then RUN="{RANKS}"; else RUN=python; fi\n$RUN work.py', "", "likely"),
        (f'if [ "$MODE" = many ]; then RUN="{RANKS}"; else RUN=python; fi\n$RUN work.py', "count: 1, ", "unknown"),
        (f'case $MODE in a) RUN="{RANKS}";; *) RUN=python;; esac\neval "$RUN work.py"', "", "likely"),
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


def test_many_variables_with_many_programs_end(tmp_path: Path) -> None:
    names = [f"V{i}" for i in range(40)]
    lines = [f'if [ -f x ]; then {a}="${b} 1"; else {a}="${b} 2"; fi' for a in names for b in names]
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": "\n".join([*lines, "$V0 work.py", ""])}
    begun = time.process_time()
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == "unknown"
    assert time.process_time() - begun < 20


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
        ('/bin/sh -c "$*"', "python serve.py", "not-needed"),
        ('/bin/sh -c "$*"', "python train.py", "needed"),
        ('bash -c "$@"', "python train.py", "unknown"),  # that is the text `python` alone
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
        (f"python - <<'PY'\n{WITH_LOADER}DataLoader(d, num_workers=8)\nPY\npython serve.py", "", "likely"),
        (f"python <<PY\n{WITH_LOADER}DataLoader(d, num_workers=8)\nPY\npython serve.py", "", "likely"),
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
        ("python -m uvicorn work:app --port 80", "needed"),
        ("python -m uvicorn train:app --port 80", "not-needed"),
        ("python -O -m uvicorn serve:app", "not-needed"),
        ("uvicorn --app-dir work big:app", "needed"),
        ("uvicorn work:app", "needed"),
        ("celery -A work worker", "needed"),
        ("celery --app=serve worker", "not-needed"),
        ("uvicorn gone:app", "unknown"),
        ("flask run --host=0.0.0.0", "needed"),
        ("python -m flask --app serve run", "not-needed"),
        ("flask --app work/big.py run", "needed"),
        ("gunicorn -c serve.conf", "unknown"),
        ("gunicorn --bind 0.0.0.0:80 work", "needed"),
        ("gunicorn -b :80 -w 2 serve", "not-needed"),
        ("gunicorn serve:app --log-level train", "not-needed"),
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
    "command, verdict",
    [
        ("./install_tools.sh", "unknown"),
        ("bash -c 'cp -r /scripts/* . && ./run_prepare.sh all'", "unknown"),
        ("python tools/coco_download.py", "unknown"),
        ("python tools/convert.py --checkpoint last --bf16", "unknown"),
        ("python export.py --weights best.pt --include onnx", "unknown"),
        ("bash scripts/lora_merge.sh out", "unknown"),
        ("./export_and_serve.sh", "likely"),
        ("accelerate launch export.py", "likely"),  # in several processes
        ("torchrun --nproc_per_node gpu tools/convert.py", "likely"),
        ("python converge.py", "likely"),
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


@table("run, guessed", [("run.sh", False), ("other.sh", True)])
def test_a_word_that_another_script_is_given_makes_no_error(tmp_path: Path, run: str, guessed: bool) -> None:
    files = {"run.sh": "docker build -t $1 .\n", "Dockerfile": DOCKERFILE + 'CMD ["python", "train.py"]\n'}
    files[run] = files.get(run, "") + "docker run --gpus all $1\n"
    assert need(tmp_path, {**files, "train.py": LOADER}).verdict == ("likely" if guessed else "needed")


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


@table(
    "command, serve, stopped",
    [
        ("python serve.py", "import json\nimport nobodys\n", "it imports the unknown package `nobodys` (serve.py:2)"),
        ("python serve.py", "import os\nos.system(x)\n",
         "it starts a program whose name is computed at run time (serve.py:2)"),
        ("python gone.py", "", "`gone.py` is not in the repository"),
        ("python -c 'import nobodys as n; n.run()'", "", "it imports the unknown package `nobodys`"),
        ("python -c 'run(\"$WHAT\")'", "", "the code after `python -c` is not followed"),
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
        ("bash -c '${{ matrix.cmd }}'", "its program is `${{ matrix.cmd }}`, whose value is unknown"),
        ("bash -c 'ls && << matrix.cmd >>'", "its program is `<< matrix.cmd >>`, whose value is unknown"),
        ("bash -c '${params.CMD} && echo'", "its program is `${params.CMD}`, whose value is unknown"),
        ("sh -c '$[[ inputs.cmd ]]'", "its program is `$[[ inputs.cmd ]]`, whose value is unknown"),
        ("bash -c '{{.CLI_ARGS}}'", "its program is `{{.CLI_ARGS}}`, whose value is unknown"),
        ("bash -c '<your command>'", "its program is `<your command>`, whose value is unknown"),
        ("bash -c ''", "`bash` is given an empty text"),
        ("$CMD", "its program is `$CMD`, whose value is unknown"),
        ('"$(cat cmd)" x', "its program is `$(cat cmd)`, whose value is unknown"),
        (
            '"$(cat /etc/a/list/of/commands/that/is /and/one/that/is/longer)"',
            "its program is `$(cat /etc/a/list/of/commands/that/is /and/one/that/is/long…`, whose value is unknown",
        ),
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
    "entrypoint, verdict",
    [
        ('["bash", "-c", "exec python serve.py \\"$@\\"", "--"]', "not-needed"),
        ('["bash", "-c", "exec python train.py --workers 0 \\"$@\\"", "--"]', "not-needed"),
        ('["bash", "-c", "exec python train.py \\"$@\\"", "--"]', "needed"),
    ],
)
def test_a_text_with_a_name_for_itself_has_no_other_arguments(tmp_path: Path, entrypoint: str, verdict: str) -> None:
    dockerfile = f"{DOCKERFILE}ENTRYPOINT {entrypoint}\n"
    files = {"run.sh": "docker build -t own .\ndocker run --gpus all own\n", "Dockerfile": dockerfile}
    assert need(tmp_path, {**files, "serve.py": SERVE, "helper.py": HELPER, "train.py": LOADER}).verdict == verdict


@table(
    "script",
    [
        'source "$HOME/.poetry/env"\nsource $HOME/.local/bin/env && python serve.py\n',
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


@table(
    "command, verdict",
    [("...", "likely"), ("…", "likely"), ("[COMMAND]", "likely"), ("<command>", "likely"), ("$CMD", "likely"),
     ('"$@"', "likely"), ("bash", "likely"), ("", "needed")],
)  # fmt: skip
def test_a_command_that_is_left_open_is_no_error(tmp_path: Path, command: str, verdict: str) -> None:
    page = f"```sh\ndocker run --gpus all nvcr.io/nvidia/pytorch:24.05-py3 {command}\n```\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


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


@table(
    "text",
    [
        "cd a" + " " * 100_000 + "b\n", "cd " * 50_000 + "\n", "cat <<'E'\ncd $(" + "(" * 50_000 + "\nE\n",
        "f() { f; }\n" * 300, "cat > a.py <<'E'\nx\nE\n" * 5_000,
        "".join(f"f{i}() {{ f{i + 1} a$1; f{i + 1} b$1; }}\n" for i in range(60)) + "f0 x\n", "f(){ :; };" * 500,
    ],
)  # fmt: skip
def test_hostile_scripts_end_the_trail(tmp_path: Path, text: str) -> None:
    run_it = "docker run --gpus all -v $PWD:/w -w /w other/image bash inner.sh\n"
    begin = time.process_time()
    found = need(tmp_path, {"run.sh": f"{text}{run_it}", "inner.sh": text}, ("run.sh",))
    assert found.verdict in ("unknown", "not-needed", "likely")
    assert time.process_time() - begin < 5


def test_a_script_that_is_read_as_one_word_is_left(tmp_path: Path) -> None:
    """With a quotation mark that is not closed, the line that a shell is given is the same line again."""
    found = need(tmp_path, {"compose.yaml": compose("bash run.sh"), "run.sh": "a`b c && d\n"})
    assert found.verdict != "not-needed"


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
    "library, start, verdict",
    [
        ("log() { echo $1; }", 'D=/app\nsource "$D/lib.sh"\npython3 "$D/fill.py"', "needed"),
        ("log() { X=1; }", 'F=fill.py\n. /app/lib.sh\npython3 /app/$F', "needed"),
        ("set -euo pipefail\nX=1", 'F=fill.py\n. /app/lib.sh\npython3 /app/$F', "needed"),
        # It may name another program.
        ("F=work.py", "F=fill.py\n. /app/lib.sh\npython3 /app/$F", "likely"),
        ("log() { F=work.py; }", "F=fill.py\n. /app/lib.sh\npython3 /app/$F", "likely"),
        (". ./more.sh", "F=fill.py\n. /app/lib.sh\npython3 /app/$F", "likely"),
        ("unset F", "F=fill.py\n. /app/lib.sh\npython3 /app/$F", "likely"),
        ("X=1", "F=fill.py\n. /opt/lib.sh\npython3 /app/$F", "likely"),
    ],
)
def test_what_a_file_may_set_that_a_script_reads(tmp_path: Path, library: str, start: str, verdict: str) -> None:
    build = "FROM pytorch/pytorch\nCOPY . /app\nWORKDIR /app\nCMD bash start.sh\n"
    files = {
        "compose.yaml": "services:\n  a:\n    build: .\n    gpus: all\n", "Dockerfile": build, "fill.py": LOADER,
        "work.py": "print(1)\n", "start.sh": f"{start}\n", "lib.sh": f"{library}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


LOOP = "while [ $# -gt 0 ]; do\n  case {} in\n    {}\n    *) shift;;\n  esac\ndone"


@table(
    "loop, arguments, verdict",
    [
        (LOOP.format("$1", "-p|--program) F=$2; shift 2;;"), "", "needed"),
        (LOOP.format('"${1}"', "-p|--program) F=$2; shift 2;;"), "--batch 2", "needed"),
        ('for a in "$@"; do case $a in --program=*) F=${a#*=};; esac; done', "--batch=2", "needed"),
        ("while getopts p:b: o; do case $o in p) F=$OPTARG;; esac; done", "-b 2", "needed"),
        ("while [ $# -gt 0 ]; do key=$1; shift; case $key in --program) F=$1;; esac; done", "--batch 2", "needed"),
        # One of the arguments asks for it, or may.
        (LOOP.format("$1", "-p|--program) F=$2; shift 2;;"), "--program work.py", "likely"),
        (LOOP.format("$1", '"--"*) F=$2; shift 2;;'), "--program work.py", "likely"),
        (LOOP.format("$1", "--batch) ;&\n    --program) F=$2; shift 2;;"), "--batch work.py", "likely"),
        (LOOP.format("$1", "$X) F=$2; shift 2;;"), "--program work.py", "likely"),
        (LOOP.format("$1", "--program) F=$2; shift 2;;"), "$MORE", "likely"),
        ("while getopts p:b: o; do case $o in p) F=$OPTARG;; esac; done", "-bp work.py", "likely"),
        ("while x; do key=$1; shift; x && key=$2; case $key in --program) F=$1;; esac; done", "--batch 2", "likely"),
        (f"set -- --program work.py\n{LOOP.format('$1', '--program) F=$2; shift 2;;')}", "--batch 2", "likely"),
    ],
)
def test_assignments_in_loops_over_options_that_are_not_given(
    tmp_path: Path, loop: str, arguments: str, verdict: str
) -> None:
    build = "FROM pytorch/pytorch\nCOPY . /app\nWORKDIR /app\nENTRYPOINT [\"bash\", \"start.sh\"]\n"
    files = {
        "run.sh": f"docker build -t own/x .\ndocker run --gpus all own/x {arguments}\n", "Dockerfile": build,
        "fill.py": LOADER, "work.py": "print(1)\n", "start.sh": f"F=fill.py\n{loop}\npython3 $F\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
