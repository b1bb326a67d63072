"""Decorators of the repository that may hand a function something else than its callers pass."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

LOADS = "from torch.utils.data import DataLoader\n"
OPTION = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--num_workers', type=int, default=0)\n"
MAPPING = "import yaml\n"
HYDRA = "import hydra\n"
MAIN = "@hydra.main(config_path='.', config_name='config')\n"
CHANGES = "def wrap(f):\n    def inner(cfg):\n        return f(prepared(cfg))\n    return inner\n"
FILLS = "def wrap(f):\n    def inner(cfg):\n        cfg.num_workers = 8\n        return f(cfg)\n    return inner\n"
UPDATES = FILLS.replace("cfg.num_workers = 8", "cfg.update(num_workers=8)")
SHORT = "def wrap(f):\n    return lambda cfg: f(other(cfg))\n"
CLASS = """
class wrap:
    def __init__(self, f):
        self.f = f
    def __call__(self, cfg):
        self.f(other(cfg))
"""
ASKED = """
def wrap(n=1):
    def outer(f):
        def inner(cfg):
            f(other(cfg))
        return inner
    return outer
"""
TIMES = """
from functools import wraps
def wrap(f):
    @wraps(f)
    def inner(*args, **kwargs):
        print(f.__name__, args[0])
        return f(*args, **kwargs)
    return inner
"""
LOGS = """
def wrap(function):
    def inner(cfg):
        try:
            return function(cfg=cfg)
        finally:
            print(cfg.paths.output)
    return inner
"""
COUNTED = """
def wrap(n):
    def outer(f):
        def inner(*args, **kwargs):
            for _ in range(n):
                f(*args, **kwargs)
        return inner
    return outer
"""
KEEPS = "def wrap(f):\n    kept.append(f)\n    return f\n"

TRAIN = "def train(cfg):\n    DataLoader(d, num_workers=cfg.num_workers)\n"
PARSED = f"{TRAIN}train(p.parse_args())\n"
KEYED = TRAIN.replace(".num_workers", "['num_workers']") + "train(yaml.safe_load(open('config.yaml')))\n"
GIVEN = f"{TRAIN}train()\n"
FURTHER = TRAIN.replace("def train", "def make") + "%sdef train(held):\n    make(held)\ntrain(p.parse_args())\n"


@table(
    "before, decorators, code, verdict",
    [
        *((OPTION + how, "@wrap\n", PARSED, "unknown") for how in (CHANGES, UPDATES, SHORT, CLASS)),
        (OPTION + FILLS, "@wrap\n", PARSED, "likely"),
        (OPTION + ASKED, "@wrap(n=2)\n", PARSED, "unknown"),
        (OPTION + CHANGES, "", FURTHER % "@wrap\n", "unknown"),
        (OPTION + CHANGES, "", FURTHER % "", "not-needed"),
        (MAPPING + CHANGES, "@wrap\n", KEYED, "unknown"),
        (HYDRA + CHANGES, f"{MAIN}@wrap\n", GIVEN, "unknown"),
        (HYDRA + SHORT, f"{MAIN}@wrap\n", GIVEN, "unknown"),
        # Nothing else, or what is known to hand on what it is given
        (OPTION, "", PARSED, "not-needed"),
        (MAPPING, "", KEYED, "not-needed"),
        (HYDRA, MAIN, GIVEN, "not-needed"),
        *((OPTION + how, "@wrap\n", PARSED, "not-needed") for how in (TIMES, LOGS, KEEPS)),
        (OPTION + COUNTED, "@wrap(2)\n", PARSED, "not-needed"),
        (HYDRA + LOGS, f"{MAIN}@wrap\n", GIVEN, "not-needed"),
        (HYDRA + "import torch\n", f"{MAIN}@torch.no_grad()\n", GIVEN, "not-needed"),
        (OPTION + CHANGES + "@wrap\ndef other(cfg):\n    pass\n", "", PARSED, "not-needed"),
    ],
)
def test_a_decorator_may_change_what_a_function_is_given(
    tmp_path: Path, before: str, decorators: str, code: str, verdict: str
) -> None:
    files = {
        "compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "config.yaml": "num_workers: 0\n",
        "fit.py": f"{LOADS}{before}{decorators}{code}",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
