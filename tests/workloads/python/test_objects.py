"""What settings that code puts into objects of its own say of a program."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

LOADS = "from torch.utils.data import DataLoader\ncrop = RandomResizedCrop(224)\n"
LOAD = "loader = DataLoader(data(crop), batch_size=64, num_workers={})\n"
EMPTY = "class Kept: pass\n"
MAPPING = "class Kept(dict):\n    __getattr__ = dict.get\n    __setattr__ = dict.__setitem__\n"
NAMESPACE = "from argparse import Namespace\n"
OWN = f"{EMPTY}class Run:\n    def __init__(self):\n        self.kept = Kept()\n        self.kept.w = 8\n"
CONFIG = "from easydict import EasyDict as edict\n__C = edict()\nshared = __C\n__C.TRAIN = edict()\n__C.TRAIN.W = 8\n"
PARSED = "import argparse\np = argparse.ArgumentParser()\n{}kept = p.parse_args()\nkept.w = 8\n"


@table(
    "before, workers, verdict",
    [
        (f"{NAMESPACE}kept = Namespace()\nkept.w = 8\n", "kept.w", "needed"),
        (f"{NAMESPACE}kept = Namespace()\nkept.w = 0\n", "kept.w", "not-needed"),
        (f"{NAMESPACE}kept = Namespace()\nother = kept\nother.w = 8\n", "kept.w", "needed"),
        (f"{NAMESPACE}kept, other = Namespace(), Namespace()\nkept.w = 8\n", "kept.w", "needed"),
        (f"{NAMESPACE}a = Namespace()\nb = Namespace()\na.w = 0\nb.w = 8\n", "b.w", "needed"),
        (f"{NAMESPACE}a = Namespace()\nb = Namespace()\na.w = 0\nb.w = 8\n", "a.w", "not-needed"),
        (f"{NAMESPACE}a = Namespace()\nb = thing()\nb.w = 8\n", "a.w", "unknown"),
        (PARSED.format(""), "kept.w", "needed"),
        (PARSED.format("p.add_argument('--w', type=int, default=0)\n"), "kept.w", "needed"),
        (f"{EMPTY}kept = Kept()\nkept.w = 8\n", "kept.w", "needed"),
        (f"{MAPPING}kept = Kept()\nkept.w = 8\n", "kept.w", "needed"),
        (f"{MAPPING.replace('dict', 'Base')}kept = Kept()\nkept.w = 8\n", "kept.w", "unknown"),
        (f"{EMPTY}def fill(it):\n    it.w = 8\nkept = Kept()\nfill(kept)\n", "kept.w", "needed"),
        (f"{EMPTY}def fill(it):\n    it.w = 8\nkept = Kept()\nfill(kept)\nfill(Kept())\n", "kept.w", "unknown"),
        (f"{EMPTY}def fill(it):\n    it.w = 8\nkept = Kept()\ncall(fill)\n", "kept.w", "unknown"),
        (f"{EMPTY}def make():\n    return Kept()\nkept = make()\nother = make()\nother.w = 8\n", "kept.w", "unknown"),
        (f"import copy\n{NAMESPACE}kept = Namespace()\nkept.w = 8\nb = copy.copy(kept)\nb.w = 0\n", "kept.w", "needed"),
        (f"{NAMESPACE}kept = Namespace()\nkept.w = 8\nb = wrap(kept)\nb.w = 0\n", "kept.w", "unknown"),
        # What may replace it
        (f"{EMPTY}kept = Kept()\nkept.w = 8\nkept.w = 0\n", "kept.w", "unknown"),
        (f"{EMPTY}kept = Kept()\nkept.w = 8\nif tell():\n    kept.w = 0\n", "kept.w", "unknown"),
        (f"{EMPTY}kept = Kept()\nif tell():\n    kept.w = 8\n", "kept.w", "unknown"),
        (f"{EMPTY}kept = Kept()\nkept.w = 8\nkept.w //= 8\n", "kept.w", "unknown"),
        (f"{MAPPING}kept = Kept()\nkept.w = 8\nkept['w'] = 0\n", "kept.w", "not-needed"),
        (f"{MAPPING}kept = Kept()\nkept.w = 8\nkept[read()] = 0\n", "kept.w", "likely"),
        (f"{MAPPING}kept = Kept()\nkept.w = 8\nkept.update(read())\n", "kept.w", "likely"),
        (f"{MAPPING}kept = Kept()\nkept.w = 0\nkept.update(read())\n", "kept.w", "unknown"),
        (f"{MAPPING}kept = Kept()\nkept.w = 8\ndef fill(it):\n    it[read()] = 0\nfill(kept)\n", "kept.w", "likely"),
        (f"{MAPPING}kept = Kept()\nkept.w = 8\nseen = {{}}\nseen[read()] = 0\n", "kept.w", "needed"),
        (f"{EMPTY}kept = Kept()\nkept.w = 8\nsetattr(kept, read(), 0)\n", "kept.w", "unknown"),
        (f"{EMPTY}kept = Kept()\nkept.w = 8\nvars(kept).update(read())\n", "kept.w", "unknown"),
    ],
)
def test_objects_that_code_fills(tmp_path: Path, before: str, workers: str, verdict: str) -> None:
    text = f"{LOADS}{before}{LOAD.format(workers)}"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    assert need(tmp_path, files).verdict == verdict


def test_objects_of_an_object(tmp_path: Path) -> None:
    text = f"{LOADS}{OWN}    def go(self):\n        {LOAD.format('self.kept.w')}Run().go()\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    assert need(tmp_path, files).verdict == "needed"


@table(
    "name, tested, verdict",
    [("cfg", 0, "needed"), ("cfg", 9, "needed"), ("settings", 0, "needed")],
)
def test_sections_of_settings_are_told_apart(tmp_path: Path, name: str, tested: int, verdict: str) -> None:
    more = f"__C.TEST = edict()\n__C.TEST.W = {tested}\n"
    config = (CONFIG + more).replace("__C", "_C").replace("shared", name)
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "lib/config.py": config,
        "train.py": f"{LOADS}from lib.config import {name}\n{LOAD.format(f'{name}.TRAIN.W')}",
    }  # fmt: skip
    found = need(tmp_path, files)
    assert found.verdict == verdict and "(8 × 2 + 2)" in found.mechanisms[0].because


@table(
    "more, verdict",
    [
        ("", "needed"),
        ("__C.TEST = edict()\n__C.TEST.W = 0\n", "needed"),
        ("__C.TRAIN.W = 0\n", "unknown"),
        ("def merge(a, b):\n    for k, v in a.items():\n        b[k] = v\nmerge(read(), __C)\n", "unknown"),
    ],
)
def test_objects_of_another_module(tmp_path: Path, more: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "lib/config.py": CONFIG + more,
        "train.py": f"{LOADS}from lib.config import shared\n{LOAD.format('shared.TRAIN.W')}",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


SPREAD = "loader = DataLoader(data(crop), batch_size=64, **{})\n"
EDICT = "from easydict import EasyDict as edict\n"


@table(
    "before, mapping, verdict",
    [
        (f"{EDICT}kw = edict()\nkw.num_workers = 8\n", "kw", "needed"),
        (f"{EDICT}kw = edict(num_workers=0)\nkw.num_workers = 8\n", "kw", "needed"),
        (f"{EDICT}kw = edict(num_workers=8)\nkw.pin_memory = True\n", "kw", "needed"),
        (f"{EDICT}kw = edict()\nkw.pin_memory = True\n", "kw", "not-needed"),
        (f"{MAPPING}c = Kept()\nc.kw = Kept(pin_memory=True)\nc.kw.num_workers = 8\n", "c.kw", "needed"),
        (f"{NAMESPACE}kw = Namespace(num_workers=0)\nkw.num_workers = 8\n", "vars(kw)", "needed"),
        (f"{EDICT}kw = edict()\nif tell():\n    kw.num_workers = 8\n", "kw", "unknown"),
        (f"{EDICT}kw = edict()\nkw.num_workers = 8\nkw[read()] = 0\n", "kw", "likely"),
    ],
)
def test_keywords_out_of_objects_that_code_fills(tmp_path: Path, before: str, mapping: str, verdict: str) -> None:
    text = f"{LOADS}{before}{SPREAD.format(mapping)}"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    assert need(tmp_path, files).verdict == verdict


OF_ITSELF = """class Loads:
    def __init__(self, batch=4, workers=0):
        self.loader = DataLoader(data(crop), batch_size=batch, num_workers=workers)
"""
HEIR = "class Heir(Loads):\n    def __init__(self, *more):\n        super().__init__(*more)\n"
FIELDS = "from dataclasses import dataclass\n@dataclass\nclass Kept:\n    w: int = 0\n"


@table(
    "before, made, after, verdict",
    [
        (OF_ITSELF, "cls(64, workers=8)", "Loads.make()", "needed"),
        (OF_ITSELF, "cls(2, workers=1)", "Loads.make()", "not-needed"),
        (OF_ITSELF, "cls(64, **more)", "Loads.make(workers=8)", "needed"),
        (OF_ITSELF, "cls(64, 8)", "class Heir(Loads): pass\nHeir.make()", "needed"),
        (OF_ITSELF, "cls(64, 8)", f"{HEIR}Heir.make()", "likely"),
        (OF_ITSELF, "self.__class__(64, 8)", "Loads().make()", "likely"),
        (OF_ITSELF, "type(self)(64, 8)", "Loads().make()", "likely"),
        (FIELDS, "cls(w=8)", f"kept = Kept.make()\n{LOAD.format('kept.w')}", "unknown"),
        (FIELDS, "Kept(w=8)", f"kept = Kept.make()\n{LOAD.format('kept.w')}", "unknown"),
    ],
)
def test_objects_that_a_class_makes_of_itself(
    tmp_path: Path, before: str, made: str, after: str, verdict: str
) -> None:
    own = "self" if "self" in made else "cls"
    method = f"    @classmethod\n    def make(cls, **more):\n        return {made}\n"
    method = method if own == "cls" else f"    def make(self):\n        return {made}\n"
    text = f"{LOADS}{before}{method}{after}\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    assert need(tmp_path, files).verdict == verdict
