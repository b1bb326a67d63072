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
