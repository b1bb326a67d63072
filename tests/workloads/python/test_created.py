"""The items of datasets that make arrays of a written shape."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need
from tests.workloads.python.test_evaluator import reading

HEAD = "import numpy as np, torch\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset\nSIDE = 64\n"
CLASS = "class Made(Dataset):\n    def __init__(self, side=48):\n        self.side = side\n"
ITEM = "    def __getitem__(self, i):\n"
LOADS = "DataLoader(Made(), num_workers=8, batch_size=16)\n"


@table(
    "body, item, least",
    [
        ("return torch.randn(3, 512, 512)", (4, 3, 512, 512), False),
        ("return torch.zeros((3, 512, SIDE))", (4, 3, 512, 64), False),
        ("return torch.ones(size=(3, self.side, self.side))", (4, 3, 48, 48), False),
        ("return torch.empty(3, 8, dtype=torch.uint8)", (1, 3, 8), False),
        ("return torch.rand(3, 8, dtype=torch.float)", (4, 3, 8), False),
        ("return np.zeros((3, 8))", (8, 3, 8), False),
        ("return np.zeros((3, 8), np.float32)", (4, 3, 8), False),
        ("return np.ones((3, 8), dtype='uint8')", (1, 3, 8), False),
        ("return np.ones((3, 8), dtype=float)", (8, 3, 8), False),
        ("return np.random.rand(3, 8)", (8, 3, 8), False),
        ("return np.random.random((3, 8))", (8, 3, 8), False),
        ("return torch.from_numpy(np.zeros((3, 8)))", (8, 3, 8), False),
        ("return torch.from_numpy(np.zeros((3, 8))).float()", (4, 3, 8), False),
        ("return torch.tensor(labels)", (), False),
        ("return torch.zeros(3, 8), 1", (4, 3, 8), False),
        ("return torch.zeros(3, 8), torch.zeros(2)", (104,), False),
        ("return torch.zeros(3, 8), torch.randint(0, 10, (16,)), 1", (224,), False),
        ("return torch.randint(0, 10, (512,))", (8, 512), False),
        ("return torch.randint(10, size=(512,))", (8, 512), False),
        ("return torch.arange(512)", (8, 512), False),
        ("return np.random.randint(0, 10, size=(2, 512))", (8, 2, 512), False),
        ("return torch.zeros(9, 3, 8)[i]", (4, 3, 8), False),
        ("return {'image': torch.zeros(3, 8), 'label': self.labels[i]}", (4, 3, 8), True),
        ("image = torch.zeros(3, 8)\n        image[0] = 1\n        return image", (4, 3, 8), False),
        ("if i:\n            return torch.zeros(3, 8)\n        return torch.zeros(3, 4)", (4, 3, 4), True),
        # What is not known, not all of it, or no memory of the CPU
        ("return torch.zeros(3, n)", (), False),
        ("return torch.randint(0, 10, shape)", (), False),
        ("return torch.arange(0, 512)", (), False),
        ("return torch.randint(0, 10, (512,), dtype=torch.uint8)", (), False),
        ("return torch.zeros(9, 3, 8)[i:]", (), False),
        ("return torch.zeros(3, 8).half()", (), False),
        ("return torch.zeros(3, 8, device='cuda')", (), False),
        ("return torch.zeros(3, 8, dtype=kind)", (), False),
        ("return torch.zeros(*sides)", (), False),
        ("image = torch.zeros(3, 8)\n        image = image[0]\n        return image", (4, 8), False),
        ("image = torch.zeros(3, 8)\n        image.resize_(3)\n        return image", (), False),
        ("if i:\n            return other(i)\n        return torch.zeros(3, 4)", (), False),
        ("return np.zeros((3, 8), other)", (), False),
        ("return zeros(3, 8)", (), False),
    ],
)
def test_items_of_a_class(tmp_path: Path, body: str, item: tuple[int, ...], least: bool) -> None:
    code = f"{HEAD}{CLASS}{ITEM}        {body}\n{LOADS}"
    (call,) = reading(tmp_path, {"train.py": code}, "").calls
    assert (call.row.item, call.row.least) == (item, least)


@table(
    "code, item",
    [
        ("DataLoader(TensorDataset(torch.zeros(1000, 3, 8)), num_workers=8)", (4, 3, 8)),
        ("x = torch.zeros(1000, 3, 8)\nd = TensorDataset(x, y)\nDataLoader(d, num_workers=8)", (4, 3, 8)),
        # All items take 6 GB; no item does.
        ("DataLoader(TensorDataset(torch.randn(10000, 3, 224, 224)), num_workers=8)", (4, 3, 224, 224)),
        ("DataLoader(TensorDataset(torch.randn(2, 10**11)), num_workers=8)", ()),
        ("DataLoader(TensorDataset(x), num_workers=8)", ()),
        ("DataLoader(TensorDataset(torch.zeros(9)), num_workers=8)", (4,)),
        ("DataLoader(TensorDataset(torch.zeros(9, 8), torch.randint(0, 5, (9,))), num_workers=8)", (40,)),
        ("DataLoader(TensorDataset(torch.zeros(9, 8)), num_workers=8, collate_fn=f)", ()),
        ("DataLoader(TensorDataset(torch.zeros(9, 8)), num_workers=8, **kwargs)", (4, 8)),
        ("k = {'collate_fn': f}\nDataLoader(TensorDataset(torch.zeros(9, 8)), num_workers=8, **k)", ()),
        ("torch.set_default_dtype(t)\nDataLoader(TensorDataset(torch.zeros(9, 8)), num_workers=8)", ()),
    ],
)
def test_items_of_tensors(tmp_path: Path, code: str, item: tuple[int, ...]) -> None:
    (call,) = reading(tmp_path, {"train.py": f"{HEAD}{code}\n"}, "").calls
    assert call.row.item == item


@table(
    "body, verdict",
    [
        ("torch.zeros(3, 512, 512)", "needed"),
        ("torch.zeros(3, 8, 8)", "not-needed"),
        ("torch.zeros(3, 8, 8), other(i)", "likely"),
    ],
)
def test_what_they_take(tmp_path: Path, body: str, verdict: str) -> None:
    code = f"{HEAD}{CLASS}{ITEM}        return {body}\n{LOADS}"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    assert need(tmp_path, files).verdict == verdict
