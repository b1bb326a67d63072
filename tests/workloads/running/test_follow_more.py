"""What scripts do before the programs that they start: files that they read, directories that they change to."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

LOADS = "from torch.utils.data import DataLoader\n"
BY_VARIABLE = f"import os\n{LOADS}DataLoader(d, num_workers=int(os.getenv('WORKERS', '0')))\n"


@table(
    "script, verdict",
    [
        ("source ~/.profile\npython train.py", "unknown"),
        (". /etc/environment\npython train.py", "unknown"),
        ('[ -f "$HOME/.env" ] && . "$HOME/.env"\npython train.py', "unknown"),
        ("source /srv/shared/environment.sh\npython train.py", "unknown"),
        ("source /srv/other/conda.env\npython train.py", "unknown"),
        ("source /opt/venv/bin/activate\npython train.py", "not-needed"),
        ("source /opt/ros/humble/setup.bash\npython train.py", "not-needed"),
        ("source /root/.nvm/nvm.sh\npython train.py", "not-needed"),
        ("source /app/environment.sh\npython train.py", "not-needed"),
        ("python train.py\nsource ~/.profile", "not-needed"),
    ],
)
def test_a_file_that_is_not_read_may_set_the_variables_of_a_program(
    tmp_path: Path, script: str, verdict: str
) -> None:
    files = {
        "compose.yaml": compose("bash run.sh"), "Dockerfile": DOCKERFILE, "run.sh": script, "train.py": BY_VARIABLE,
        "environment.sh": "export OTHER=1\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


def test_a_file_that_is_not_read_leaves_a_program_without_variables_as_it_is(tmp_path: Path) -> None:
    files = {
        "compose.yaml": compose("bash run.sh"), "Dockerfile": DOCKERFILE, "run.sh": ". ~/.profile\npython train.py",
        "train.py": f"{LOADS}DataLoader(d, num_workers=0)\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "not-needed"


WRITES = "cat {} <<'EOF'\n{}EOF\n"
FEW, MANY = f"{LOADS}DataLoader(d)\n", f"{LOADS}DataLoader(d, num_workers=8)\n"


@table(
    "script, verdict",
    [
        (WRITES.format("> /tmp/fit.py", MANY) + "python /tmp/fit.py", "likely"),
        (WRITES.format(">/tmp/fit.py", FEW) + "python /tmp/fit.py", "not-needed"),
        (WRITES.format("> fit.py", FEW) + "cd /app && python fit.py", "not-needed"),
        (f"cd /tmp\n{WRITES.format('> fit.py', FEW)}python /tmp/fit.py", "not-needed"),
        (WRITES.format("> go.sh", "python train.py\n") + "bash go.sh", "likely"),
        (f"cat <<EOF > fit.py\n{FEW}EOF\npython fit.py", "not-needed"),
        # What is beside it is not known, and neither is what else changes it.
        (WRITES.format("> /tmp/fit.py", f"import unheard_of\n{FEW}") + "python /tmp/fit.py", "unknown"),
        (WRITES.format("> fit.py", FEW) + "sed -i s/0/8/ fit.py\npython fit.py", "unknown"),
        (WRITES.format(">> fit.py", FEW) + "python fit.py", "unknown"),
        (f"cat > fit.py <<EOF\n$CODE\n{FEW}EOF\npython fit.py", "unknown"),
        (f"[ -f a ] && {WRITES.format('> fit.py', FEW)}python fit.py", "unknown"),
        (WRITES.format("> fit.py", FEW) + "python other.py", "unknown"),
    ],
)
def test_a_file_that_a_script_writes_and_runs(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash run.sh"), "Dockerfile": DOCKERFILE, "run.sh": script, "train.py": MANY}
    assert need(tmp_path, files).verdict == verdict


def test_a_file_that_the_command_of_a_launch_writes_and_runs(tmp_path: Path) -> None:
    text = WRITES.format("> /tmp/fit.py", MANY).replace("'EOF'", "EOF")
    found = need(tmp_path, {"run.sh": f"docker run --gpus all own/app bash -c '\n{text}python /tmp/fit.py'\n"})
    assert found.verdict == "likely"
    assert [told.span.line for told in found.evidence if told.span is not None] == [4]
    assert [step.text for step in found.trail] == ["fit.py, which run.sh:3 writes"]


@table(
    "command, verdict",
    [("python -um train", "likely"), ("python -Bu -m train", "likely"), ("python -uc print(1)", "not-needed")],
)
def test_short_options_of_python_in_one_word(tmp_path: Path, command: str, verdict: str) -> None:
    files = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "train.py": MANY}
    assert need(tmp_path, files).verdict == verdict
