"""Files of the repository that scripts source."""

from __future__ import annotations

from pathlib import Path

from tests.formats.shell.commands import DEFAULT, NEEDY
from tests.project import fixed, run
from tests.table import table

RUN = f"docker run --gpus all {NEEDY} torchrun --nproc_per_node=8 x.py\n"
WRAPPER = 'docker() { local c=$1; shift; command docker "$c" --shm-size=16g "$@"; }\n'


@table(
    "files",
    [
        {"a.sh": f". ./lib.sh\n{RUN}", "lib.sh": WRAPPER},
        {"x/a.sh": f'source "$HERE/../lib/docker.sh"\nf() {{ {RUN}}}\nf\n', "lib/docker.sh": WRAPPER},
        {"x/a.sh": f"for f in ../lib/*.sh; do . $f; done\n{RUN}", "lib/docker.sh": f"A=b\n{WRAPPER}"},
        {"a.sh": f". lib\n{RUN}", "lib": ". ./other.sh\n", "other.sh": WRAPPER},
        {"a.fish": f"source lib.fish\n{RUN}", "lib.fish": "function docker\n  command docker $argv\nend\n"},
        {"Makefile": f"up:\n\t. ./lib.sh; {RUN}", "lib.sh": WRAPPER},
        {"Jenkinsfile": f"sh \'\'\'\n. ci/lib.sh\n{RUN}\'\'\'\n", "ci/lib.sh": WRAPPER},
        {"Taskfile.yml": f"version: 3\ntasks: {{up: {{cmds: ['. ./lib.sh; {RUN[:-1]}']}}}}\n", "lib.sh": WRAPPER},
        {".github/workflows/x.yml": f"jobs:\n  a:\n    steps:\n      - run: |\n          . ci/lib.sh\n          {RUN}",
         "ci/lib.sh": WRAPPER},
    ],
)  # fmt: skip
def test_a_function_of_an_engines_name_may_add_options(tmp_path: Path, files: dict[str, str]) -> None:
    (launch,) = (one for one in run(tmp_path, files).launches if one.undecided or one.effective_shm().bytes == DEFAULT)
    assert launch.undecided is not None
    assert launch.undecided.because == "`docker` is a function here, which may add options; it may hold --shm-size"
    assert fixed(tmp_path, files) == {}


@table(
    "files",
    [
        {"a.sh": f"{RUN}. ./lib.sh\n", "lib.sh": WRAPPER},
        {"a.sh": f". ./env.sh\n{RUN}", "env.sh": "A=b\n", "lib.sh": WRAPPER},
        {"a.sh": f". ./lib.sh\ncommand {RUN}", "lib.sh": WRAPPER},
        {"a.sh": f". ./lib.sh\n{RUN}", "lib.sh": "up() { docker ps; }\n"},
        {"a.sh": f". ./lib.sh\n{RUN}"},
        {"a.sh": f". ../../lib.sh\n. a.sh\n{RUN}"},
    ],
)
def test_other_files_change_no_start(tmp_path: Path, files: dict[str, str]) -> None:
    assert [launch.effective_shm().bytes for launch in run(tmp_path, files).launches] == [DEFAULT]


@table(
    "script",
    [
        ". ./lib.sh\nO+=(--gpus all)\n",
        "load() { . ./lib.sh; }\nload\nO+=(--gpus all)\n",
        'eval "$(cat lib.sh)"\ndeclare -a O+=(--gpus all)\n',
        ". ./lib.sh\nif x; then O+=(--gpus all); fi\n",
        ". ./lib.sh\nO+=(--rm)\nif x; then O+=(--gpus all); else O+=(-t --gpus all); fi\n",
        "for f in *.sh; do . $f; O+=(--gpus all); done\n",
    ],
)
def test_options_that_a_sourced_file_may_give_stay_in_force(tmp_path: Path, script: str) -> None:
    run_it = f'docker run "${{O[@]}}" {NEEDY} torchrun --nproc_per_node=8 x.py\n'
    files = {"a.sh": f"{script}{run_it}", "lib.sh": "O=(--shm-size=64g)\n"}
    started = run(tmp_path, files)
    assert all(one.severity == "note" for one in started.findings)
    assert started.launches[0].undecided is not None
    assert fixed(tmp_path, files) == {}
    (launch,) = run(tmp_path, {"a.sh": files["a.sh"].replace("--gpus all", "-v /a:/a")}).launches
    assert launch.gpu.requested is None
