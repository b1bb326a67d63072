"""How large the items of a loader are that its transforms tell."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.table import table
from tests.workloads.cases import PYTORCH, compose, need

HEAD = (
    "import torch\nfrom torch.utils.data import DataLoader, Subset\nfrom torchvision import transforms as T\n"
    "from torchvision.datasets import CIFAR10, FashionMNIST, ImageFolder\n"
)
LOADS = "for batch in DataLoader(data, batch_size=64, num_workers=8):\n    pass\n"
LARGE, SMALL = "T.Compose([T.Resize((224, 224)), T.ToTensor()])", "T.Compose([T.Resize(32), T.ToTensor()])"
OWN = "class Own(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return self.t(load(i))\n"


@table(
    ("code", "verdict", "mib"),
    [
        # Each dataset has its own transform; what another one has does not count.
        (f"data = ImageFolder('/d', {LARGE})\n{LOADS}", "needed", 661.5),
        (f"data = CIFAR10('/d', transform={LARGE})\n{LOADS}", "needed", 661.5),
        (f"t = {LARGE}\ndata = Subset(ImageFolder('/d', transform=t), many)\n{LOADS}", "needed", 661.5),
        (f"data = ImageFolder('/d', {SMALL})\nshown = ImageFolder('/d', {LARGE})\n{LOADS}", "not-needed", None),
        (f"data = CIFAR10('/d', transform=T.ToTensor())\n{LOADS}up = T.Resize((224, 224))\n", "not-needed", None),
        (f"data = CIFAR10('/d')\n{LOADS}model = torch.nn.Sequential(T.Resize((224, 224)))\n", "not-needed", None),
        # Which one counts is not known: the largest is advised, and it is no error.
        (f"data = ImageFolder('/d', pick({{1: {SMALL}, 2: {LARGE}}}))\n{LOADS}", "likely", 661.5),
        (f"{OWN}data = Own()\nt = {LARGE} if small() else {SMALL}\n{LOADS}", "likely", 661.5),
        (f"{OWN}data = Own()\nt = {LARGE}\n{LOADS}", "needed", 661.5),
        # The last step of a chain counts.
        (f"data = ImageFolder('/d', T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor()]))\n{LOADS}",
         "needed", 661.5),
        (f"data = ImageFolder('/d', T.Compose([T.Resize(512), T.RandomCrop(32), T.ToTensor()]))\n{LOADS}",
         "not-needed", None),
        (f"{OWN}data = Own()\nt = T.Compose([T.Resize(512), T.RandomCrop(32), T.ToTensor()])\n{LOADS}",
         "not-needed", None),
        # One colour, and numbers of one byte.
        (f"data = FashionMNIST('/d', transform=T.Compose([T.Resize(64), T.ToTensor()]))\n{LOADS}", "not-needed", None),
        (f"{OWN}data = Own()\nt = T.Compose([T.Resize(96), T.Grayscale(), T.ToTensor()])\n{LOADS}", "likely", 121.5),
        (f"{OWN}data = Own()\nt = T.Compose([T.Resize(96), T.PILToTensor()])\n{LOADS}", "likely", 121.5),
        (f"{OWN}data = Own()\nt = T.Compose([T.Resize(400), T.PILToTensor()])\n{LOADS}", "needed", 2109.4),
        (f"from torchvision.io import read_image\n{OWN}data = Own()\nt = T.Resize((96, 96))\n{LOADS}", "likely", 121.5),
        # What may make an image larger behind the step that gives its size.
        (f"data = ImageFolder('/d', T.Compose([T.Resize(32), T.Pad(99), T.ToTensor()]))\n{LOADS}", "likely", None),
        (f"data = ImageFolder('/d', T.Compose([T.Resize(32), T.Lambda(more), T.ToTensor()]))\n{LOADS}", "likely", None),
        (f"data = ImageFolder('/d', T.Compose([T.Pad(9), T.Resize(32), T.ToTensor()]))\n{LOADS}", "not-needed", None),
        # The items of a known dataset have their size where all of its transform is known.
        (f"data = CIFAR10('/d', transform=made())\n{LOADS}", "likely", None),
        (f"data = CIFAR10('/d', True, made())\n{LOADS}", "likely", None),
        (f"data = CIFAR10('/d')\n{LOADS}data.transform = made()\n", "likely", None),
        (f"def up(image):\n    return F.resize(image, 99)\ndata = CIFAR10('', transform=up)\n{LOADS}", "likely", None),
        (f"def dim(image):\n    return image * 2\ndata = CIFAR10('/d', transform=dim)\n{LOADS}", "not-needed", None),
        # There are no more items in batches than the dataset has.
        (f"data = Subset(ImageFolder('/d', {LARGE}), range(99))\n{LOADS}", "not-needed", None),
        (f"data = Subset(ImageFolder('/d', {LARGE}), [1, 2])\n{LOADS}", "not-needed", None),
        (f"data = Subset(ImageFolder('/d', {LARGE}), range(999))\n{LOADS}", "needed", 661.5),
        (f"data = Subset(ImageFolder('/d', {LARGE}), some())\n{LOADS}", "needed", 661.5),
        (f"data = Subset(ImageFolder('/d', {LARGE}), [1])\n{LOADS.replace('=64', '=64, sampler=s')}", "needed", 661.5),
        (f"data = torch.utils.data.TensorDataset(torch.zeros(9, 3, 224, 224))\n{LOADS}", "not-needed", None),
        # A name is what the last plain statement before its use gives it.
        (f"data = ImageFolder('/d', {LARGE})\ndata = Subset(data, range(9))\n{LOADS}", "not-needed", None),
        (f"data = ImageFolder('/d', {LARGE})\n{LOADS}data = Subset(data, range(9))\n", "needed", 661.5),
        (f"data = ImageFolder('/d', {LARGE})\nif few:\n    data = Subset(data, range(9))\n{LOADS}", "needed", 661.5),
        (f"data = Subset([], [1])\nfor data in sets(ImageFolder('/d', {LARGE})):\n    pass\n{LOADS}", "needed", 661.5),
        (f"data = []\ndata = Subset(data, [1])\ndata += ImageFolder('/d', {LARGE})\n{LOADS}", "needed", 661.5),
        (f"data = []\ndata = Subset(data, [1])\ndef f():\n    global data\n    data = ImageFolder('/d', {LARGE})\n"
         f"f()\n{LOADS}", "needed", 661.5),
        # What a dataset makes of its images may be a few numbers.
        (f"{OWN.replace('load(i))', 'load(i)).mean(1)')}data = Own()\nt = {LARGE}\n{LOADS}", "likely", None),
        # A tensor of features is no image, and a mask for each class is another one.
        (f"data = torch.utils.data.TensorDataset(torch.load('a'))\n{LOADS}t = {LARGE}\n", "likely", None),
        (f"{OWN.replace('load(i))', 'load(i)), one_hot(1)')}data = Own()\nt = {SMALL}\n{LOADS}", "likely", None),
    ],
)  # fmt: skip
def test_what_transforms_leave(tmp_path: Path, code: str, verdict: str, mib: float | None) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    found = need(tmp_path, {**files, "train.py": HEAD + code})
    sizes = [round(mechanism.bytes / 2**20, 1) for mechanism in found.mechanisms if mechanism.bytes]
    assert (found.verdict, sizes) == (verdict, [mib] if mib else [])


@table(
    ("code", "why"),
    [
        (f"data = CIFAR10('/d')\n{LOADS}", "puts little into shared memory, which fits"),
        ("print(torch.ones(1))\n", "uses no shared memory"),
    ],
)
def test_what_fits_is_told_apart_from_nothing(tmp_path: Path, code: str, why: str) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    assert need(tmp_path, {**files, "train.py": HEAD + code}).why == f"its program was read completely and {why}"


DATA = f"data = ImageFolder('/d', {LARGE})\n"
CONDITION = f"{DATA}if ready():\n    DataLoader(data, batch_size=64, num_workers=8)\n"
NUMBER = f"workers = 8\nif ready():\n    workers = 4\n{DATA}{LOADS.replace('=8', '=workers')}"


@table(
    ("code", "doubt"),
    [
        (f"data = ImageFolder('/d', {LARGE})\n{LOADS}", ""),
        (f"data = ImageFolder('/d', pick({{1: {SMALL}, 2: {LARGE}}}))\n{LOADS}", "its images may be smaller"),
        (CONDITION, "whether it gets there is decided at run time"),
        (NUMBER, "something else may set the number"),
    ],
)
def test_a_sum_that_is_not_sure_says_why(tmp_path: Path, code: str, doubt: str) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    (found,) = findings(tmp_path, {**files, "train.py": HEAD + code})
    assert [reason.text for reason in found.why if reason.label == "not sure"] == ([doubt] if doubt else [])
    assert found.severity == ("warning" if doubt else "error")
