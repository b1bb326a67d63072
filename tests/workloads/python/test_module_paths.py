"""Configuration files that code opens beside its modules."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

PROGRAM = """
import os, yaml
from pathlib import Path
from torch.utils.data import DataLoader
from torchvision.transforms import Resize
from tools.places import TOP
HERE = os.path.dirname(os.path.realpath(__file__))

def fit(settings):
    return DataLoader(data(Resize((512, 512))), batch_size=settings["batch_size"], num_workers=settings["workers"])

if __name__ == "__main__":
    with open(PATH) as file:
        settings = yaml.safe_load(file)
    fit(settings)
"""


@table(
    "path, verdict",
    [
        ("os.path.join(os.path.dirname(__file__), 'fit.yaml')", "needed"),
        ("os.path.join(HERE, 'fit.yaml')", "needed"),
        ("HERE + '/fit.yaml'", "needed"),
        ("f'{HERE}/fit.yaml'", "needed"),
        ("'{}/fit.yaml'.format(HERE)", "needed"),
        ("'{0}/fit.yaml'.format(HERE)", "needed"),
        ("'%s/fit.yaml' % HERE", "needed"),
        ("Path(__file__).parent / 'fit.yaml'", "needed"),
        ("Path(__file__).resolve().parents[1] / 'tools' / 'fit.yaml'", "needed"),
        ("Path(__file__).absolute().parent.joinpath('fit.yaml')", "needed"),
        ("str(TOP / 'tools' / 'fit.yaml')", "needed"),
        ("os.path.join(HERE, '..', 'few.yaml')", "not-needed"),
        ("Path(__file__).parents[1] / 'few.yaml'", "not-needed"),
        ("os.path.join(HERE, 'none.yaml')", "unknown"),
        ("os.path.join(HERE, name(), 'fit.yaml')", "unknown"),
        ("'{}/{}.yaml'.format(HERE, name())", "unknown"),
        ("'{}/{}.yaml'.format(HERE)", "unknown"),
        ("Path(__file__).parents[name()] / 'fit.yaml'", "unknown"),
        ("os.path.join(HERE, '../../../../etc/fit.yaml')", "unknown"),
        ("os.path.join(HERE, 'fit.py')", "unknown"),
        ("__file__", "unknown"),
    ],
)
def test_configuration_files_beside_a_module(tmp_path: Path, path: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python tools/fit.py"), "Dockerfile": DOCKERFILE,
        "tools/fit.py": PROGRAM.replace("PATH", path), "tools/fit.yaml": "workers: 8\nbatch_size: 32\n",
        "tools/places.py": "from pathlib import Path\nTOP = Path(__file__).resolve().parent.parent\n",
        "few.yaml": "workers: 0\nbatch_size: 32\n", "fit.yaml": "workers: 0\nbatch_size: 1\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
