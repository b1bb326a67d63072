"""What simple commands do: they build, look at something, give a shell, or run a program."""

from __future__ import annotations

import shlex
from pathlib import Path
from time import process_time

from shmlint.workloads.commands import (
    Kind,
    flatten,
    has_rank_for_each,
    is_mpi_only,
    kind_of,
    never_ends,
    read_batch,
    simple_commands,
    unwrapped,
)
from tests.project import findings
from tests.table import table


@table(
    "command, kind",
    [
        ("auditwheel repair dist/a.whl", "build"), ("python -m auditwheel show a.whl", "build"),
        ("python setup.py bdist_wheel", "build"), ("python -m build --wheel", "build"),
        ("python -m twine upload dist/a.whl", "build"), ("cibuildwheel --platform linux", "build"),
        ("maturin build --release", "build"), ("conda-build recipe", "build"), ("rattler-build build", "build"),
        ("micromamba install -y numpy", "silent"), ("micromamba run -n a python a.py", "program"),
        ("cpack -G DEB", "build"), ("dpkg-deb --build a", "build"), ("rpmbuild -ba a.spec", "build"),
        ("strip liba.so", "build"), ("patchelf --print-rpath liba.so", "build"), ("readelf -d liba.so", "probe"),
        ("cuobjdump --list-elf a", "probe"), ("protoc --python_out=. a.proto", "build"), ("./configure", "build"),
        ("make release", "build"), ("make train", "program"), ("make publish-wheels", "build"),
        ("hatch build", "build"), ("hatch test", "program"), ("pixi install", "build"), ("pipx run tool", "program"),
        ("pytest --collect-only -q", "probe"), ("python -m pytest --co", "probe"), ("pytest -q", "program"),
        ("coverage report", "probe"), ("coverage run a.py", "program"), ("ffmpeg -version", "probe"),
        ("ffmpeg -i a.mp4 b.mp4", "program"), ("tool version", "probe"), ("tool version serve", "program"),
        ("jupyter nbconvert --to html a.ipynb", "build"), ("jupyter nbconvert --execute a.ipynb", "interactive"),
        ("kaggle datasets download a/b", "build"),
        ("jupyter kernelspec list", "probe"), ("jupyter lab", "interactive"), ("ros2 pkg list", "probe"),
        ("ros2 launch a b", "program"), ("pip-compile requirements.in", "build"), ("vcs import src", "build"),
        ("rapids-logger 'Check GPU usage'", "silent"), ("nvidia-cuda-mps-control -d", "silent"),
        ("code tunnel --accept-server-license-terms", "interactive"), ("code serve-web", "interactive"),
        ("code main.py", "program"), ("su - me", "interactive"), ("su me -c 'python a.py'", "program"),
        ("find . -name a", "probe"), ("find . -exec grep a {} +", "probe"), ("find . -exec rm {} ;", "silent"),
        ("find . -execdir python a.py ;", "program"), ("find . -exec bash {} ;", "program"),
        ("find . -exec rm {} + -exec python a.py ;", "program"), ("find" + " -exec find" * 2000, "program"),
        ("gcloud storage cp a b", "build"), ("gcloud ai-platform local train --module-name a", "program"),
        ("mpirun -np 8 hostname", "probe"), ("mpirun --allow-run-as-root -np 8 --map-by a nvidia-smi -L", "probe"),
        ("mpirun --mca btl ^openib -np 2 -x PATH nvidia-smi", "probe"), ("mpiexec -n 2 bash -c 'echo $RANK'", "silent"),
        ("mpirun -np 2 sh -c 'hostname; python fit.py'", "program"), ("mpirun -np 2 python fit.py", "program"),
        ("mpirun -np 1 hostname : -np 2 python fit.py", "program"), ("mpirun -np 2 bash run.sh", "program"),
        ("mpirun -np 2 python -c 'import os; print(os.environ)'", "probe"), ("mpirun --strange hostname", "program"),
        ("mpirun -np 8 all_reduce_perf -b 8", "program"), ("horovodrun --check-build", "probe"),
        ("horovodrun -np 2 python fit.py", "program"), ("bash -n run.sh", "probe"), ("sh -en run.sh", "probe"),
        ("bash -c run -n", "program"), ("bash run.sh -n", "program"), ("nvidia-smi dmon", "probe"),
        ("dpkg-query -l", "probe"), ("7z a a.7z a", "build"), ("python -m json.tool a.json", "probe"),
    ],
)  # fmt: skip
def test_what_a_command_does(command: str, kind: Kind) -> None:
    assert kind_of(shlex.split(command)) == kind


@table(
    "command, reported",
    [
        ("bash -c 'python setup.py bdist_wheel && auditwheel repair -w /out dist/*.whl && cp -r build /out'", False),
        ("sh -c 'cpack -G DEB; mv *.deb /out'", False),
        ("bash -lc 'pip wheel . -w dist && pip install dist/*.whl && pytest --collect-only'", False),
        ("bash -c 'pip install dist/*.whl && own-program serve'", True),
    ],
)
def test_a_launch_of_a_release_script(tmp_path: Path, command: str, reported: bool) -> None:
    assert list(simple_commands(flatten(shlex.split(command))))
    found = findings(tmp_path, {"release.sh": f"docker run --rm --gpus all -v $PWD:/src example/builder {command}\n"})
    assert bool(found) is reported, found


@table(
    "option, batch",
    [
        ("--batch-size 8", 8), ("--data.train_batch_size=8", None), ("+data.train_batch_size=8", 8),
        ("--per_device_batch_size 8", 8), ("--bs 8", 8), ("--batches 8", None),
        # A name of many parts is read as fast as any other.
        ("--" + "a_" * 5000 + "x 8", None), ("a." * 5000 + "=8", None),
    ],
)  # fmt: skip
def test_batches_of_options(option: str, batch: int | None) -> None:
    begin = process_time()
    assert read_batch(("python", "train.py", *option.split())) == batch
    assert process_time() - begin < 2


@table(
    "words, only",
    [
        (["mpirun", "-np", "4", "gmx_mpi", "mdrun"], True), (["mpirun", "-np", "4", "python", "fit.py"], False),
        (["mpirun", "-np", "4", "--allow-run-as-root", "${COMMAND}"], False),
        (["mpirun", "-np", "$N", "./solve"], True), (["mpirun", "-np", "4", "./solve", "$INPUT"], True),
        (["./solve", "$INPUT"], False),
    ],
)  # fmt: skip
def test_a_program_of_mpi_that_a_variable_names_may_be_python(words: list[str], only: bool) -> None:
    assert is_mpi_only(words) is only


COUNTED = "$(nvidia-smi -L | wc -l)"


@table(
    "words, each",
    [
        (["torchrun", "--nproc_per_node", COUNTED, "fit.py"], True),
        (["torchrun", f"--nproc_per_node={COUNTED}", "fit.py"], True),
        (["mpirun", "-np", COUNTED, "python", "fit.py"], True),
        (["mpirun", "-np", "`nvidia-smi --list-gpus | wc -l`", "python", "fit.py"], True),
        (["mpirun", "-np", "${shell_nvidia_smi__L___wc__l}", "python", "fit.py"], True),
        (["accelerate", "launch", "--num_processes", COUNTED, "fit.py"], True),
        (["mpirun", "-np", COUNTED, "./solve"], False), (["mpirun", "-np", "$(nproc)", "python", "fit.py"], False),
        (["python", "fit.py", "--num_processes", COUNTED], False),
    ],
)  # fmt: skip
def test_counted_gpus_are_a_rank_for_each(words: list[str], each: bool) -> None:
    assert has_rank_for_each(words) is each


@table(
    "line, runs",
    [
        ("sudo -u root nvidia-smi", "nvidia-smi"), ("sudo --user root nvidia-smi", "nvidia-smi"),
        ("sudo -p prompt nvidia-smi", "nvidia-smi"), ("sudo --user=root -E A=1 nvidia-smi", "nvidia-smi"),
        ("doas -u me nvidia-smi", "nvidia-smi"), ("timeout --signal INT 5 nvidia-smi", "nvidia-smi"),
        ("nice --adjustment 5 nvidia-smi", "nvidia-smi"), ("nice -n 5 python fit.py", "python fit.py"),
        ("env --chdir /x -u A B=1 python fit.py", "python fit.py"), ("chrt -f 5 python fit.py", "python fit.py"),
        ("ionice --class 2 -n 7 python fit.py", "python fit.py"), ("exec -a name python fit.py", "python fit.py"),
        ("stdbuf --output L python fit.py", "python fit.py"), ("flock -w 9 /lock python fit.py", "python fit.py"),
        ("taskset -c 0-3 python fit.py", "python fit.py"), ("taskset 0x3 python fit.py", "python fit.py"),
        ("numactl -m 0 python fit.py", "python fit.py"), ("numactl --membind 0 python fit.py", "python fit.py"),
        ("srun --ntasks-per-node 8 python fit.py", "python fit.py"), ("tini -g -- python fit.py", "python fit.py"),
        ("dumb-init --rewrite 15:3 -- python fit.py", "python fit.py"), ("uv run fit.py", "python fit.py"),
        ("dockerize -wait tcp://a:1 python fit.py", "python fit.py"), ("while sudo -n true", "true"),
        ("flock /lock -c 'python fit.py'", "python fit.py"), ("su me -c 'python fit.py'", "python fit.py"),
        ("if ! command -v python", ""), ("sudo -l", ""), ("sudo", ""), ("flock -n 9", ""),
        # They do not run here, or their words do not tell alone what runs.
        ("ssh host python fit.py", "ssh host python fit.py"), ("watch -n 1 nvidia-smi", "watch -n 1 nvidia-smi"),
        ("tmux new-session -d python fit.py", "tmux new-session -d python fit.py"),
        ("nsenter -t 1 -m python fit.py", "nsenter -t 1 -m python fit.py"),
    ],
)  # fmt: skip
def test_what_a_command_runs_behind_others(line: str, runs: str) -> None:
    assert [" ".join(words) for words in simple_commands(flatten(shlex.split(line)))] == [runs] * bool(runs)


@table(
    "line, runs",
    [
        ("sudo --user root timeout --signal INT 5 python fit.py", ["python", "fit.py"]),
        ("flock /lock --command 'python fit.py'", ["sh", "-c", "python fit.py"]),
        ("su me -c 'python fit.py' name", ["sh", "-c", "python fit.py", "name"]),
        ("command -v python", []), ("sudo --list", []), ("parallel python fit.py", ["parallel", "python", "fit.py"]),
    ],
)  # fmt: skip
def test_a_command_without_what_only_starts_it(line: str, runs: list[str]) -> None:
    assert list(unwrapped(shlex.split(line))) == runs


@table("command", ["sudo --user root nvidia-smi", "timeout --signal INT 5 nvidia-smi", "flock /lock nvidia-smi"])
def test_a_launch_that_only_looks_behind_others(tmp_path: Path, command: str) -> None:
    assert not findings(tmp_path, {"look.sh": f"docker run --rm --gpus all example/own {command}\n"})


@table(
    "line, endless",
    [
        ("nvidia-smi dmon", True), ("/usr/bin/nvidia-smi pmon -i 0", True), ("nvidia-smi dmon -c 5", False),
        ("nvidia-smi -l", True), ("nvidia-smi -l 5", True), ("nvidia-smi --loop=5", True),
        ("nvidia-smi -i 0 -lms 100", True), ("nvidia-smi --query-gpu=name --format=csv -l 1", True),
        ("nvidia-smi", False), ("nvidia-smi -L", False), ("nvidia-smi topo -m", False), ("nvidia-smi mig -l", False),
        ("watch -n 1 nvidia-smi", True), ("lspci -l", False),
    ],
)  # fmt: skip
def test_a_look_at_the_gpus_that_goes_on(line: str, endless: bool) -> None:
    words = shlex.split(line)
    assert kind_of(words) == "probe"
    assert never_ends(words) is endless
    assert never_ends(tuple(words)) is endless
