"""Variables of scripts, programs and images that the rules check."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.table import table
from tests.workloads.cases import DOCKERFILE, HELPER, JOINS, PYTORCH, SERVE, compose, need


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
    "code",
    [
        'import os\nos.environ["NCCL_P2P_DISABLE"] = "1"\n',
        'import os\nos.environ.setdefault("NCCL_P2P_DISABLE", "1")\n',
        'import os\nos.environ.update({"A": a(), "NCCL_P2P_DISABLE": "1", **b()})\n',
        'import os\nos.environ.update(c(), NCCL_P2P_DISABLE="1")\n',
        'import os\nos.environ |= {"NCCL_P2P_DISABLE": "1"}\n',
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
        ("export NCCL_P2P_DISABLE=1; unset NCCL_P2P_DISABLE", None),
        ("unset NCCL_P2P_DISABLE; export NCCL_P2P_DISABLE=1; unset -v OTHER", "NCCL501"),
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


@table(
    "command, rule",
    [
        ("env NCCL_P2P_DISABLE=1 python train.py", "NCCL501"),
        ("mpirun -np 2 -x NCCL_P2P_DISABLE=1 python train.py", "NCCL501"),
        ("mpirun -np 2 -x NCCL_DEBUG python train.py", None),
        ("env NCCL_P2P_DISABLE=1 echo", None),
        ("python train.py NCCL_P2P_DISABLE=1", None),
    ],
)
def test_variables_that_the_command_of_a_launch_sets_are_checked(
    tmp_path: Path, command: str, rule: str | None
) -> None:
    files = {"compose.yaml": compose(command, "    shm_size: 16g\n"), "Dockerfile": DOCKERFILE, "train.py": SERVE}
    text = files["compose.yaml"]
    found = findings(tmp_path, {**files, "helper.py": HELPER}, select=("NCCL",))
    places = [(f.rule, text[f.span.start : f.span.end]) for f in found]
    assert places == ([(rule, "NCCL_P2P_DISABLE=1")] if rule else [])


def test_what_an_env_file_gives_a_command_is_not_told(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("env NCCL_DEBUG=${LEVEL} python train.py", "    shm_size: 16g\n")}
    files |= {"Dockerfile": DOCKERFILE, "train.py": SERVE, "helper.py": HELPER}
    assert not findings(tmp_path, {**files, ".env": "LEVEL=INFO\n"}, select=("NCCL",))
    (tmp_path / ".env").unlink()
    told = {**files, "compose.yaml": files["compose.yaml"].replace("${LEVEL}", "INFO")}
    assert [found.rule for found in findings(tmp_path, told, select=("NCCL",))] == ["NCCL506"]


PUT = 'import os\nos.environ["NCCL_P2P_DISABLE"] = "1"\n'


@table(
    "train, files, place",
    [
        ("import settings\n", {"settings.py": PUT}, "settings.py"),
        ("from settings import a\n", {"settings.py": PUT}, "settings.py"),
        ("from tools import nccl\n", {"tools/__init__.py": "", "tools/nccl.py": PUT}, "tools/nccl.py"),
        ("import tools.nccl\n", {"tools/nccl.py": PUT}, "tools/nccl.py"),
        ("import a\n", {"a/__init__.py": "from . import b\n", "a/b.py": "from .c import d\n", "a/c.py": PUT}, "a/c.py"),
        ("import a\n", {"a.py": "import train\nimport b\n", "b.py": "import a\n" + PUT}, "b.py"),
        ("import other\n", {"settings.py": PUT}, None),
        ("import os\n", {"settings.py": PUT}, None),
        ("from " + "." * 5000 + "\n", {"settings.py": PUT}, None),
    ],
)
def test_variables_that_an_imported_module_sets_are_checked(
    tmp_path: Path, train: str, files: dict[str, str], place: str | None
) -> None:
    own = {"compose.yaml": compose("python train.py", "    shm_size: 16g\n"), "Dockerfile": DOCKERFILE}
    found = findings(tmp_path, {**own, "train.py": train, **files}, select=("NCCL501",))
    assert [f.span.path for f in found] == ([place] if place else [])


@table(
    "variable, gpus, ranks",
    [
        ("MPSIZE=4", "all", 4), ("MODEL_PARALLEL_SIZE=2", "all", 2), ("TENSOR_PARALLEL_SIZE=8", "all", 8),
        ("MPSIZE=1", "all", 0), ("MPSIZE=4", "1", 0), ("MPSIZE=400", "all", 0), ("MPSIZES=4", "all", 0),
    ],
)  # fmt: skip
def test_variables_that_ask_for_ranks(tmp_path: Path, variable: str, gpus: str, ranks: int) -> None:
    """Also under a heading about using a model: the launch itself says so."""
    page = f"# A model\n\n## Inference\n\n```bash\ndocker run -it --gpus {gpus} -e {variable} own/tool:1\n```\n"
    found = need(tmp_path, {"README.md": page})
    assert found.verdict == ("likely" if ranks else "unknown")
    assert [mechanism.because for mechanism in found.mechanisms] == ([f"{ranks} ranks"] if ranks else [])


@table(
    "gpus, ranks",
    [("--device /dev/kfd --device /dev/dri", ["4 ranks"]), ("--runtime habana -e HABANA_VISIBLE_DEVICES=all", [])],
)
def test_ranks_of_variables_on_other_accelerators(tmp_path: Path, gpus: str, ranks: list[str]) -> None:
    found = need(tmp_path, {"run.sh": f"docker run {gpus} -e MPSIZE=4 own/tool:1\n"})
    assert found.verdict == "likely"
    assert [mechanism.because for mechanism in found.mechanisms] == ranks


RANKS = "torchrun --nproc_per_node=${GPUS:-8} gone.py\n"


@table(
    "command, keys, files, verdict",
    [
        ("./run.sh", "", {}, "needed"),
        ("bash -c 'GPUS=1 ./run.sh'", "", {}, "one"),
        ("env GPUS=1 ./run.sh", "", {}, "one"),
        ("bash -c 'export GPUS=1 && ./run.sh'", "    environment: {GPUS: 8}\n", {}, "one"),
        ("bash -c 'export GPUS=1; ./run.sh; export GPUS=8; ./run.sh'", "", {}, "likely"),
        ("./run.sh", "    environment: {GPUS: 1}\n", {}, "one"),
        ("./run.sh", "    env_file: some.env\n", {"some.env": "GPUS=1\n"}, "one"),
        # Of what an env file says only that is used which ends in nothing to tell.
        ("./run.sh", "    env_file: some.env\n", {"some.env": "GPUS=4\n"}, "likely"),
        ("./run.sh", "    env_file: gone.env\n", {}, "likely"),
        ("./run.sh", "    env_file: [{path: gone.env, required: false}]\n", {}, "likely"),
        ("./run.sh", "    env_file: some.env\n", {"some.env": "OTHER=4\n"}, "needed"),
        ("./run.sh", "    env_file: some.env\n    environment: {GPUS: 1}\n", {"some.env": "GPUS=4\n"}, "one"),
    ],
)
def test_variables_that_a_script_is_given(
    tmp_path: Path, command: str, keys: str, files: dict[str, str], verdict: str
) -> None:
    own = {"compose.yaml": compose(f'"{command}"', keys), "Dockerfile": DOCKERFILE, "run.sh": f"#!/bin/bash\n{RANKS}"}
    found = need(tmp_path, {**own, **files})
    ranks = [mechanism.because for mechanism in found.mechanisms]
    assert (found.verdict, ranks) == (("likely", []) if verdict == "one" else (verdict, ["8 ranks"]))


MAKEFILE = """GPUS ?= 8
N = 8
override M = 8
train:
\ttorchrun --nproc_per_node=$(GPUS) gone.py
more:
\ttorchrun --nproc_per_node=$(N) gone.py
most:
\ttorchrun --nproc_per_node=$(M) gone.py
"""


@table(
    "command, keys, ranks",
    [
        ("make train", "", "8 ranks"),
        ("make train GPUS=1", "", ""),
        ("make GPUS=1 train", "", ""),
        ("bash -c 'GPUS=1 make train'", "", ""),
        ("make train", "    environment: {GPUS: 1}\n", ""),
        ("make more N=1", "", ""),
        ("make more", "    environment: {N: 1}\n", "8 ranks"),
        ("make most M=1", "", "8 ranks"),
        ("make train GPUS:=1", "", ""),
        ("make -e more", "    environment: {N: 1}\n", ""),
    ],
)
def test_variables_that_make_is_given(tmp_path: Path, command: str, keys: str, ranks: str) -> None:
    files = {"compose.yaml": compose(f'"{command}"', keys), "Dockerfile": DOCKERFILE, "Makefile": MAKEFILE}
    assert [mechanism.because for mechanism in need(tmp_path, files).mechanisms] == ([ranks] if ranks else [])


def test_a_default_of_one_is_none_where_an_env_file_says_another(tmp_path: Path) -> None:
    joins = "import torch.distributed as dist\ndist.init_process_group('nccl')\n"
    files = {
        "compose.yaml": compose("./run.sh", "    env_file: some.env\n"), "some.env": "GPUS=8\n", "work.py": joins,
        "Dockerfile": DOCKERFILE, "run.sh": "torchrun --nproc_per_node=${GPUS:-1} work.py\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "unknown"
    assert need(tmp_path, {**files, "some.env": "OTHER=8\n"}).verdict == "not-needed"


@table(
    "given, env, verdict",
    [
        ("env_file: [own.env]", "WORKERS=12\n", "needed"),
        ("env_file: own.env", "WORKERS=0\n", "not-needed"),
        ("env_file: own.env", "OTHER=0\n", "needed"),
        ("env_file: [own.env, lost.env]", "OTHER=0\n", "likely"),
        ("environment: {WORKERS: '${FROM}'}", "FROM=12\n", "needed"),
        ("environment: {WORKERS: '${FROM}'}", "FROM=0\n", "not-needed"),
        ("env_file: own.env\n    environment: {WORKERS: 0}", "WORKERS=12\n", "not-needed"),
    ],
)
def test_what_env_files_say_counts_and_is_not_shown(tmp_path: Path, given: str, env: str, verdict: str) -> None:
    code = "os.getenv('WORKERS', 8)"
    files = {
        "compose.yaml": compose("python train.py", f"    {given}\n"),
        "Dockerfile": DOCKERFILE, "own.env": env, ".env": env,
        "train.py": "import os\nfrom torch.utils.data import DataLoader\n"
        f"DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=int({code}))\n",
    }  # fmt: skip
    found = need(tmp_path, files)
    assert found.verdict == verdict
    assert "12" not in " ".join((found.why, *(told.text for told in found.evidence)))


SERVES = 'import os\nfrom vllm import LLM\nLLM("a/b", tensor_parallel_size=int(os.environ.get("N", 1)))\n'
LOADS = (
    "import os\nfrom torch.utils.data import DataLoader\n"
    "DataLoader(data(RandomResizedCrop(224)), batch_size=int(os.getenv('N', '2')), num_workers=4)\n"
)
IN_IMAGE = f"docker run --gpus all %s -v $PWD:/w -w /w {PYTORCH} %s\n"


@table(
    "options, serves, loads",
    [
        ("", "not-needed", "not-needed"),
        ("-e N=64", "needed", "needed"),
        ("-e N=1", "not-needed", "not-needed"),
        ("-e N", "unknown", "likely"),
        ("-e N=$N", "unknown", "likely"),
        ("--env-file gone.env", "unknown", "likely"),
    ],
)
def test_what_a_variable_may_change_is_not_little(tmp_path: Path, options: str, serves: str, loads: str) -> None:
    launch = {"run.sh": IN_IMAGE % (options, "python t.py")}
    assert need(tmp_path / "serves", {**launch, "t.py": SERVES}).verdict == serves
    assert need(tmp_path / "loads", {**launch, "t.py": LOADS}).verdict == loads


@table(
    "command, script, serves",
    [
        ("bash s.sh", "N=2 python t.py", "needed"),
        ("bash s.sh", "env N=2 python t.py", "needed"),
        ("bash s.sh", "N=2 python t.py\nN=1 python t.py", "needed"),
        ("bash s.sh", "N=1 python t.py", "not-needed"),
        ("bash s.sh", "N=$1 python t.py", "unknown"),
        ("sh -c 'N=2 python t.py'", "", "needed"),
        ("env N=2 bash s.sh", "python t.py", "needed"),
        ("env N=2 bash s.sh", "N=1 python t.py", "not-needed"),
        ("env N=2 bash s.sh", "unset X; python t.py", "needed"),
        ("bash s.sh", "set -a; . ./own.env; python t.py", "unknown"),
        ("bash s.sh", ". ./gone.env; N=1 python t.py", "not-needed"),
        ("bash s.sh", "if [ -n \"$M\" ]; then export N=2; fi; python t.py", "likely"),
        ("make plain", "plain:\n\tpython t.py\n", "not-needed"),
        ("make plain N=2", "plain:\n\tpython t.py\n", "needed"),
        ("make given", "given:\n\tN=2 python t.py\n", "needed"),
        ("make plain", "export N = 2\nplain:\n\tpython t.py\n", "unknown"),
        ("make plain N=1", "export N = 2\nplain:\n\tpython t.py\n", "not-needed"),
    ],
)
def test_variables_that_a_command_gives_its_program(tmp_path: Path, command: str, script: str, serves: str) -> None:
    own = "Makefile" if "make" in command else "s.sh"
    files = {"run.sh": IN_IMAGE % ("", command), own: script, "t.py": SERVES, "own.env": "N=2\n"}
    assert need(tmp_path, files, ("run.sh",)).verdict == serves


@table(
    "script, verdict",
    [
        ("export PET_NPROC_PER_NODE=4; torchrun t.py", "needed"),
        ("PET_NPROC_PER_NODE=4 torchrun t.py", "needed"),
        ("PET_NPROC_PER_NODE=4 python -m torch.distributed.run t.py", "needed"),
        ("PET_NPROC_PER_NODE=4 torchrun --nproc_per_node=1 t.py", "not-needed"),
        ("PET_NPROC_PER_NODE=1 torchrun t.py", "not-needed"),
        ("PET_NPROC_PER_NODE=$1 torchrun t.py", "likely"),
        ("torchrun t.py", "not-needed"),
        ("seq 0 1 | xargs -P2 -I{} env RANK={} python t.py", "likely"),
        ("seq 0 1 | xargs -I{} env RANK={} python t.py", "not-needed"),
    ],
)
def test_ranks_that_variables_of_a_script_ask_for(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"run.sh": IN_IMAGE % ("", "bash s.sh"), "s.sh": script, "t.py": JOINS}
    assert need(tmp_path, files, ("run.sh",)).verdict == verdict
