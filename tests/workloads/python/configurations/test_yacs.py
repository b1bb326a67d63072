"""Programs that keep their configuration in yacs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

DEFAULTS = """
from yacs.config import CfgNode as CN

_C = CN()
_C.SEED = 1
_C.LOADER = CN()
_C.LOADER.WORKERS = 0
_C.LOADER.BATCH = 4
_C.NET = CN({"DEPTH": 18, "HEAD": {"WIDE": False}})
"""
DATA = """
from torch.utils.data import DataLoader

def loader_of(data, cfg):
    return DataLoader(data, batch_size=cfg.LOADER.BATCH, num_workers=cfg.LOADER.WORKERS)
"""
LEARN = """
import argparse
from config import cfg
from loading import loader_of

def words():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cfg", default="fields.yaml")
    parser.add_argument("opts", nargs=argparse.REMAINDER, default=None)
    return parser.parse_args()

def main():
    args = words()
    cfg.merge_from_file(args.cfg)
    cfg.merge_from_list(args.opts)
    # more
    cfg.freeze()
    for batch in loader_of(list(range(9)), cfg):
        print(batch)

if __name__ == "__main__":
    main()
"""
COPIED = LEARN.replace("import cfg", "import get_cfg_defaults").replace(
    "    args = words()", "    args = words()\n    cfg = get_cfg_defaults()"
)
INSIDE = DATA.replace("def loader_of(data, cfg):", "from config import cfg\n\ndef loader_of(data, _):")
KEPT = """
from torch.utils.data import DataLoader

class Loading:
    def __init__(self, data, cfg):
        self.data, self.cfg = data, cfg
        self.parts = cfg

    def made(self):
        return DataLoader(self.data, batch_size=4, num_workers=self.parts.LOADER.WORKERS)

def loader_of(data, cfg):
    return Loading(data, cfg).made()
"""
NAMED = DATA.replace("batch_size=cfg.LOADER.BATCH, num_workers=cfg.LOADER.WORKERS", "**cfg.LOADER").replace(
    "data, cfg)", "data, cfg)"
)
FILES = {
    "Dockerfile": DOCKERFILE, "config/__init__.py": "from .defaults import _C as cfg, get_cfg_defaults\n",
    "loading.py": DATA, "learn.py": LEARN, "fields.yaml": "NET:\n  DEPTH: 50\n",
    "two.yaml": "LOADER:\n  WORKERS: 2\n", "none.yaml": "LOADER: {WORKERS: 0}\n",
    "config/defaults.py": DEFAULTS + "\ndef get_cfg_defaults():\n    return _C.clone()\n",
    "other.sh": "python learn.py --cfg $NAME\n",
}  # fmt: skip


def verdict_of(directory: Path, command: str = "python learn.py", files: dict[str, str] | None = None) -> str:
    return need(directory, {**FILES, **(files or {}), "compose.yaml": compose(command)}).verdict


@table(
    "words, learn, verdict",
    [
        ("", LEARN, "not-needed"),
        ("--cfg two.yaml", LEARN, "likely"),
        ("--cfg none.yaml", LEARN, "not-needed"),
        ("--cfg two.yaml LOADER.WORKERS 0", LEARN, "not-needed"),
        ("LOADER.WORKERS 3", LEARN, "likely"),
        ("NET.DEPTH 101", LEARN, "not-needed"),
        ("--cfg missing.yaml", LEARN, "unknown"),
        ("", COPIED, "not-needed"),
        ("--cfg two.yaml", COPIED, "likely"),
        ("--cfg two.yaml LOADER.WORKERS 0", COPIED, "not-needed"),
        ("", LEARN.replace("# more", "cfg.LOADER.WORKERS = 2"), "likely"),
        ("--cfg two.yaml", LEARN.replace("# more", "cfg.LOADER.WORKERS = 0"), "not-needed"),
        ("", LEARN.replace("# more", "cfg.LOADER = many()"), "unknown"),
        ("", LEARN.replace("# more", "import other\n    other.tune(cfg)"), "unknown"),
        ("", LEARN.replace("# more", "if cfg.NET.HEAD.WIDE:\n        cfg.LOADER.WORKERS = 8"), "not-needed"),
        ("NET.HEAD.WIDE True", LEARN.replace("# more", "if cfg.NET.HEAD.WIDE:\n        cfg.LOADER.WORKERS = 8"),
         "likely"),
        ("", LEARN.replace("# more", "loader = cfg.LOADER\n    loader.update(many())"), "unknown"),
        ("", LEARN.replace("# more", "for name in names():\n        cfg.merge_from_file(name)"), "unknown"),
    ],
)  # fmt: skip
def test_loaders_have_the_workers_of_the_configuration(tmp_path: Path, words: str, learn: str, verdict: str) -> None:
    assert verdict_of(tmp_path, f"python learn.py {words}", {"learn.py": learn}) == verdict


BESIDE = 'osp.join(osp.dirname(osp.abspath(__file__)), "two.yaml")'
AT_HOME = LEARN.replace("import argparse", "import argparse\nimport os.path as osp").replace('"fields.yaml"', BESIDE)
AT_ONCE = AT_HOME.replace("merge_from_file(args.cfg)", f"merge_from_file({BESIDE})")


@table(
    "words, learn, verdict",
    [
        ("", AT_HOME, "likely"),
        ("--cfg none.yaml", AT_HOME, "not-needed"),
        ("", AT_HOME.replace("two.yaml", "none.yaml"), "not-needed"),
        ("", AT_HOME.replace("two.yaml", "missing.yaml"), "unknown"),
        ("", AT_HOME.replace('"two.yaml"', "name()"), "unknown"),
        ("", AT_ONCE, "likely"),
        ("--cfg none.yaml", AT_ONCE, "likely"),
    ],
)
def test_a_configuration_lies_beside_the_program(tmp_path: Path, words: str, learn: str, verdict: str) -> None:
    assert verdict_of(tmp_path, f"python learn.py {words}", {"learn.py": learn}) == verdict


@table(
    "loading, words, verdict",
    [
        (INSIDE, "", "not-needed"),
        (INSIDE, "LOADER.WORKERS 3", "likely"),
        (INSIDE, "--cfg two.yaml", "likely"),
        (KEPT, "", "not-needed"),
        (KEPT, "LOADER.WORKERS 3", "likely"),
        (KEPT.replace("    def made(self):", "    def made(self):\n        self.parts.LOADER.WORKERS = 4"), "",
         "unknown"),
        (KEPT.replace("    def made(self):", "    def made(self):\n        self.parts.merge_from_file('two.yaml')"), "",
         "unknown"),
    ],
)  # fmt: skip
def test_a_configuration_is_handed_on(tmp_path: Path, loading: str, words: str, verdict: str) -> None:
    assert verdict_of(tmp_path, f"python learn.py {words}", {"loading.py": loading}) == verdict


OWN_CLASS = DEFAULTS.replace("from yacs.config import CfgNode as CN", """
from yacs.config import CfgNode

class CN(CfgNode):
    def merge_from_file(self, name):
        self.merge_from_other_cfg(more(name))
""") + "\ndef get_cfg_defaults():\n    return _C.clone()\n"


WITH_MORE = OWN_CLASS.replace("def merge_from_file(self, name)", "def told(self)").replace("self.merge", "return 1  # ")


@table(
    "defaults, verdict",
    [
        (OWN_CLASS, "unknown"),
        (WITH_MORE, "not-needed"),
        (FILES["config/defaults.py"].replace("WORKERS = 0", "WORKERS = many()"), "unknown"),
        (FILES["config/defaults.py"].replace("_C.NET", "if large():\n    _C.LOADER.WORKERS = 8\n_C.NET"), "likely"),
        (FILES["config/defaults.py"].replace("_C.NET", "part = _C.LOADER\npart.WORKERS = 8\n_C.NET"), "likely"),
    ],
)  # fmt: skip
def test_modules_have_configurations(tmp_path: Path, defaults: str, verdict: str) -> None:
    assert verdict_of(tmp_path, files={"config/defaults.py": defaults}) == verdict


@pytest.mark.slow
@table(
    "more",
    [
        "def a(c):\n    b(c)\n    b(c)\n\ndef b(c):\n    a(c)\n    a(c)\n\na(_C)\n",
        "".join(f"_C.A{n} = CN()\n" for n in range(4_000)),
        "_C.A = CN()\n" + "".join(f"_C.A.B{n} = _C\n" for n in range(60)),
        "".join(f"def f{n}(c):\n    f{n + 1}(c)\n    f{n + 1}(c)\n\n" for n in range(60)) + "f0(_C)\n",
        "if a:\n    _C.A = 1\n" * 1_000,
        "for a in b:\n" + "".join("    " * n + "for a in b:\n" for n in range(1, 15)) + "    " * 15 + "_C.A = a\n",
    ],
)
def test_hostile_configurations_are_read_in_a_bounded_time(tmp_path: Path, more: str) -> None:
    begin = time.process_time()
    verdict_of(tmp_path, files={"config/defaults.py": FILES["config/defaults.py"] + more})
    assert time.process_time() - begin < 8


def test_objects_that_hand_each_other_their_configuration(tmp_path: Path) -> None:
    """What rests on itself is unknown, and the rest of the program is read."""
    again = "".join(f"        self.cfg{n} = self.cfg{(n + 1) % 40}\n" for n in range(40))
    kept = "class Loop:\n    def __init__(self, cfg):\n        self.cfg0 = cfg\n    def again(self):\n"
    asked = "    def load(self, data):\n        if self.cfg3.LOADER.WORKERS:\n            return data\n"
    learn = LEARN.replace("    for batch in", "    Loop(cfg).load([1])\n    for batch in")
    files = {"compose.yaml": compose("python learn.py"), "Dockerfile": DOCKERFILE, "config.py": DEFAULTS}
    files |= {"loading.py": DATA, "fields.yaml": "LOADER:\n  WORKERS: 4\n", "learn.py": kept + again + asked + learn}
    found = need(tmp_path, files)
    assert (found.verdict, found.stopped) == ("likely", "") and "4 DataLoader workers" in found.mechanisms[0].because
