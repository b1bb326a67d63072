"""Loaders of which nothing asks for a batch start no workers."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import PYTORCH, compose, need

HEAD = (
    "import torch\nfrom torch.utils.data import DataLoader\nfrom torchvision import transforms as T\n"
    "from torchvision.datasets import ImageFolder\n"
    "data = ImageFolder('/d', T.Compose([T.Resize((224, 224)), T.ToTensor()]))\n"
)
MANY, ALONE = "DataLoader(data, batch_size=64, num_workers=8)", "DataLoader(data, batch_size=64)"
LOOPS = "for batch in test:\n    pass\n"
HOLDER = (
    f"import sys\nclass Holder:\n    def __init__(self):\n        self.train = {MANY}\n        self.test = {ALONE}\n"
    "    def fit(self):\n        for batch in self.train:\n            pass\n"
    "    def check(self):\n        for batch in self.test:\n            pass\n"
)
BOTH = f"def both():\n    train = {MANY}\n    test = {ALONE}\n"


@table(
    ("code", "verdict"),
    [
        (f"train = {MANY}\ntest = {ALONE}\n{LOOPS}", "not-needed"),
        (f"train, test = {MANY}, {ALONE}\n{LOOPS}", "not-needed"),
        (f"train = {MANY}\ntest = {ALONE}\nprint(len(train), train.batch_size, train.dataset)\n{LOOPS}",
         "not-needed"),
        (f"{BOTH}    return train, test\n_, test = both()\n{LOOPS}", "not-needed"),
        (f"def both():\n    return {MANY}, {ALONE}\ndef main():\n    train, test = both()\n    for b in test:\n"
         "        pass\nmain()\n", "not-needed"),
        (f"def one():\n    return {MANY}\nunused = one()\ntest = {ALONE}\n{LOOPS}", "not-needed"),
        # Somebody may iterate it.
        (f"train = {MANY}\ntest = {ALONE}\n{LOOPS}for batch in train:\n    pass\n", "needed"),
        (f"train = {MANY}\ntest = {ALONE}\n{LOOPS}print(next(iter(train)))\n", "needed"),
        (f"train = {MANY}\ntest = {ALONE}\n{LOOPS}run(train)\n", "needed"),
        (f"train = {MANY}\ntest = {ALONE}\n{LOOPS}exec('for b in train: pass')\n", "needed"),
        (f"{BOTH}    return train, test\nloaders = both()\n{LOOPS}for batch in loaders[0]:\n    pass\n", "needed"),
        (f"{BOTH}    return train, test\ntrain, test = both()\n{LOOPS}for batch in train:\n    pass\n", "needed"),
        (f"{BOTH}    return dict(train=train, test=test)\nx = both()\nfor batch in x['train']:\n    pass\n", "needed"),
        (f"{BOTH}    return train, test\ndef f(make):\n    for batch in make()[0]:\n        pass\nf(both)\n", "likely"),
        (f"class A:\n    def __init__(self):\n        self.train = {MANY}\n        self.test = {ALONE}\n"
         "    def run(self):\n        for b in self.train:\n            pass\nA().run()\n", "needed"),
        (f"def f():\n    global train\n    train = {MANY}\nf()\ntest = {ALONE}\n{LOOPS}for b in train:\n    pass\n",
         "needed"),
        # What holds a loader is asked for its batches by the functions that run.
        (f"{HOLDER}Holder().check()\n", "not-needed"), (f"{HOLDER}Holder().fit()\nHolder().check()\n", "needed"),
        (f"{HOLDER}x = Holder()\nif False:\n    x.fit()\nelse:\n    x.check()\n", "not-needed"),
        (f"{HOLDER}x = Holder()\nx.check()\nprint(len(x.train))\n", "not-needed"),
        (f"{HOLDER}x = Holder()\nx.check()\nfor batch in x.train:\n    pass\n", "needed"),
        (f"{HOLDER}x = Holder()\nx.check()\nrun(getattr(x, name()))\n", "needed"),
        (f"{HOLDER.replace('Holder:', 'Holder(other.Base):')}x = Holder()\nx.check()\n", "needed"),
        # Of a program that iterates none nothing is known.
        (f"train = {MANY}\n", "needed"),
        (f"train = {MANY}\ntest = {ALONE}\n", "needed"),
        (f"train = {MANY}\nprint(len(train))\n", "likely"),
    ],
)  # fmt: skip
def test_what_nothing_iterates(tmp_path: Path, code: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    assert need(tmp_path, {**files, "train.py": HEAD + code}).verdict == verdict


def test_other_modules_may_iterate_what_a_module_has(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    code = {"loaders.py": f"{HEAD}train = {MANY}\ntest = {ALONE}\nfor b in test:\n    pass\n"}
    quiet = {**files, **code, "train.py": "import loaders\n"}
    assert need(tmp_path, quiet).verdict == "not-needed"
    asks = {**files, **code, "train.py": "from loaders import train\nfor batch in train:\n    pass\n"}
    assert need(tmp_path, asks).verdict == "needed"


FEW = "DataLoader(data, batch_size=16, num_workers=2)"


@table(
    ("code", "verdict", "because"),
    [
        (f"a = {FEW}\nb = {FEW}\nfor x, y in zip(a, b):\n    pass\n", "needed", 2),
        (f"for x, y in zip({FEW}, {FEW}):\n    pass\n", "needed", 2),
        (f"import itertools\na = {FEW}\nb = {FEW}\nfor i, (x, y) in enumerate(zip(a, itertools.cycle(b))):\n    pass\n",
         "needed", 2),
        (f"a = {FEW}\nb = {FEW}\nia, ib = iter(a), iter(b)\nprint(next(ia), next(ib))\n", "needed", 2),
        (f"def both():\n    return {FEW}, {FEW}\na, b = both()\nfor x, y in zip(a, b):\n    pass\n", "needed", 2),
        # One after the other, one that has no workers, and one that is not known.
        (f"a = {FEW}\nb = {FEW}\nfor x in a:\n    pass\nfor y in b:\n    pass\n", "not-needed", 0),
        (f"a = {FEW}\nb = {FEW}\nprint(next(iter(a)))\nprint(next(iter(b)))\n", "not-needed", 0),
        (f"a = {FEW}\nb = {ALONE}\nfor x, y in zip(a, b):\n    pass\n", "not-needed", 0),
        (f"a = {FEW}\nfor x, y in zip(a, range(9)):\n    pass\n", "not-needed", 0),
    ],
)  # fmt: skip
def test_loaders_that_are_iterated_together(tmp_path: Path, code: str, verdict: str, because: int) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    found = need(tmp_path, {**files, "train.py": HEAD + code})
    told = ", and beside it ".join(["(2 × 2 + 2) batches × 9.2 MiB"] * because)
    assert (found.verdict, [one.because for one in found.mechanisms]) == (verdict, [told] if told else [])
