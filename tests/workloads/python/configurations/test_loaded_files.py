"""Mappings that code reads from files, and what it makes of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

HEAD = "from torch.utils.data import DataLoader\n"
LOAD = "DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=own['workers'])\n"
KEPT = "import json, yaml\nown = {'workers': 8}\n"


@table(
    "code, verdict",
    [
        (f"{KEPT}own.update(yaml.safe_load(open('none.yaml')))", "not-needed"),
        (f"{KEPT}own.update(**yaml.safe_load(open('none.yaml')))", "not-needed"),
        (f"{KEPT}with open('none.yaml') as f:\n    read = yaml.safe_load(f)\nown.update(read)", "not-needed"),
        (f"{KEPT}own |= json.load(open('some.json'))", "needed"),
        (f"{KEPT}own = {{**own, **json.load(open('some.json'))}}", "likely"),
        ("import yaml\nown = {**{'workers': 8}, **yaml.safe_load(open('none.yaml'))}", "not-needed"),
        ("import yaml\nown = {**yaml.safe_load(open('none.yaml')), 'workers': 8}", "needed"),
        ("import yaml\nown = {'workers': 8} | yaml.safe_load(open('none.yaml'))", "not-needed"),
        (KEPT.replace("8", "0") + "own.update(json.load(open('some.json')))", "needed"),
        (f"{KEPT}own.update(json.load(open('/etc/lost.json')))", "likely"),
        (f"{KEPT}own.update(read())", "likely"),
        (f"{KEPT}own |= read()", "likely"),
        ("own = {**{'workers': 8}, **read()}", "likely"),
        ("own = {**read(), 'workers': 8}", "needed"),
        (f"{KEPT}if tell():\n    own.update(yaml.safe_load(open('none.yaml')))", "likely"),
        (f"{KEPT}own.update({{'workers': 4}})", "needed"),
    ],
)
def test_mappings_that_others_update(tmp_path: Path, code: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "none.yaml": "workers: 0\n",
        "some.json": '{"workers": 7}\n', "train.py": f"{HEAD}{code}\n{LOAD}",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


IN_FOLDER = """import argparse, os, yaml
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--config")
args = parser.parse_args()
config = yaml.safe_load(open(os.path.join(ROOT, args.config)))
DataLoader(data(RandomResizedCrop(224)), batch_size=config["batch_size"], num_workers=config["workers"])
"""


@table(
    "name, files, verdict",
    [
        ("many.yaml", {"configs/many.yaml": "workers: 8\nbatch_size: 64\n"}, "likely"),
        ("fit/many.yaml", {"configs/fit/many.yaml": "workers: 8\nbatch_size: 64\n"}, "likely"),
        ("none.yaml", {"configs/none.yaml": "workers: 0\nbatch_size: 64\n"}, "unknown"),
        ("many.yaml", {"one/many.yaml": "workers: 8\n", "two/many.yaml": "workers: 8\n"}, "unknown"),
        ("../many.yaml", {"configs/many.yaml": "workers: 8\nbatch_size: 64\n"}, "unknown"),
    ],
)
def test_settings_in_a_folder_that_the_code_puts_before_their_name(
    tmp_path: Path, name: str, files: dict[str, str], verdict: str
) -> None:
    own = {"compose.yaml": compose(f"python train.py --config {name}"), "Dockerfile": DOCKERFILE, "train.py": IN_FOLDER}
    for folder in ("configs", "one", "two"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    assert need(tmp_path, {**own, **files}).verdict == verdict


BUILDS = f"import yaml\n{HEAD}def build(own):\n    {LOAD}"
PARTS = "cfg = {'data': {'workers': %d}}\n"


@table(
    "code, verdict",
    [
        ("cfg = yaml.safe_load(open('parts.yaml'))\nbuild(cfg['data'])", "needed"),
        (f"{PARTS % 8}build(cfg['data'])", "needed"),
        (f"{PARTS % 0}build(cfg['data'])", "not-needed"),
        (f"{PARTS % 0}cfg['data']['workers'] = 8\nbuild(cfg['data'])", "unknown"),
        (f"{PARTS % 0}part = cfg['data']\npart['workers'] = 8\nbuild(cfg['data'])", "unknown"),
        (f"{PARTS % 0}build(cfg['data'])\nbuild({{'workers': 8}})", "likely"),
        (f"{PARTS % 0}keep(build)\nbuild(cfg['data'])", "unknown"),
    ],
)
def test_a_part_of_a_mapping_that_a_function_is_given(tmp_path: Path, code: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": f"{BUILDS}{code}\n",
        "parts.yaml": "data: {workers: 8}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
