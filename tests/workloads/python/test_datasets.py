"""How large a dataset makes its images."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import PYTORCH, compose, need
from tests.workloads.python.test_evaluator import reading

HEAD = "import cv2, torch\nfrom PIL import Image\nfrom torch.utils.data import DataLoader\n"
CLASS = "class D(torch.utils.data.Dataset):\n    def __init__(self, paths, side=%s):\n        self.side = side\n"
ITEM = "    def __getitem__(self, i):\n        image = cv2.imread(self.paths[i])\n"
LOADS = "DataLoader(D(paths), num_workers=4, batch_size=8)\n"
MAPPINGS = "a0 = D(paths)\n" + "".join(
    f"a{at} = {{{', '.join(f'{key}: a{at - 1}' for key in range(9))}}}\n" for at in range(1, 6)
)
FRACTIONS = "        return image / 255\n"


@table(
    "body, item",
    [
        ("        image = cv2.resize(image, (64, 32))\n        return image / 255\n", (4, 3, 64, 32)),
        ("        image = cv2.resize(image, (self.side, self.side))\n        return image / 255\n", (4, 3, 48, 48)),
        ("        image = Image.open(p).convert('RGB')\n        return to_tensor(image.resize((64, 32)))\n",
         (4, 3, 64, 32)),
        ("        return self.read(image)\n    def read(self, image):\n"
         "        return torch.tensor(cv2.resize(image, (64, 32))).float()\n", (4, 3, 64, 32)),
        # The smallest one, also of a mask beside it.
        ("        mask = cv2.resize(other, (16, 16))\n        image = cv2.resize(image, (64, 32))\n"
         "        return image / 255, mask\n", (4, 3, 16, 16)),
        # It is cut or made smaller later, or perhaps; its numbers have one byte; its size is not known.
        ("        image = cv2.resize(image, (64, 32))\n        return image[8:, :] / 255\n", ()),
        ("        image = cv2.resize(image, (64, 32))\n        return center_crop(image) / 255\n", ()),
        ("        image = cv2.resize(image, (64, 32))\n        if self.small:\n"
         "            image = cv2.resize(image, (8, 8))\n        return image / 255\n", ()),
        ("        if self.small:\n            image = cv2.resize(image, (64, 32))\n        return image / 255\n", ()),
        ("        return cv2.resize(image, (64, 32))\n", ()),
        ("        return torch.tensor(cv2.resize(image, (64, 32)), dtype=torch.float16).float()\n", ()),
        ("        return cv2.resize(image, (w, h)) / 255\n", ()),
        ("        return cv2.resize(image, self.sides[i]) / 255\n", ()),
        ("        return image / 255\n", ()),
        # It comes through what keeps all of it, and beside other things.
        ("        image = cv2.resize(image, (64, 32))\n        if flips:\n            image = cv2.flip(image, 1)\n"
         "        image = torch.from_numpy(image[:, :, ::-1].copy()).permute(2, 0, 1)\n        image = image.float()\n"
         "        image /= 255\n        return {'image': image, 'box': box}\n", (4, 3, 64, 32)),
        ("        if bad:\n            return self[i + 1]\n        item = {}\n"
         "        item['image'] = cv2.resize(image, (64, 32)).astype(np.float32)\n        return item\n",
         (4, 3, 64, 32)),
        # What is given back is not the image, or is only made of it; other numbers have 4 bytes.
        ("        image = cv2.resize(image, (64, 32))\n        return torch.tensor(found(image) / 255)\n", ()),
        ("        image = cv2.resize(image, (64, 32)) / 255\n        return self.net(image)\n", ()),
        ("        image = cv2.resize(image, (64, 32)) / 255\n        image = image.mean(0)\n"
         "        return image\n", ()),
        ("        image = cv2.resize(image, (64, 32)) / 255\n        return image[0]\n", ()),
        ("        image = cv2.resize(image, (64, 32)) / 255\n        if boxes:\n            return boxes\n"
         "        return image\n", ()),
        ("        image = cv2.resize(image, (64, 32)) / 255\n        for image in parts(image):\n            pass\n"
         "        return image\n", ()),
        ("        image = cv2.resize(image, (64, 32)) / 255\n        match self.kind:\n            case 'a':\n"
         "                image = self.net(image)\n        return image\n", ()),
        ("        image.resize(64)\n        return torch.tensor(image).float()\n", ()),
        ("        image = cv2.resize(image, (64, 32))\n        return image, float(label)\n", ()),
    ],
)  # fmt: skip
def test_the_least_size_of_items(tmp_path: Path, body: str, item: tuple[int, ...]) -> None:
    code = f"{HEAD}{CLASS % 48}{ITEM}{body}{LOADS}"
    assert [call.row.item for call in reading(tmp_path, {"train.py": code}, "").calls] == [item]


@table(
    "code, item",
    [
        ("data = D(paths)\ndef f(d):\n    DataLoader(d, num_workers=4)\nf(data)\n", (4, 3, 64, 32)),
        ("DataLoader(dataset=D(paths), num_workers=4)\n", (4, 3, 64, 32)),
        ("a, b = torch.utils.data.random_split(D(paths), parts)\nDataLoader(a, num_workers=4)\n", (4, 3, 64, 32)),
        ("DataLoader(torch.utils.data.Subset(D(paths), part), num_workers=4)\n", (4, 3, 64, 32)),
        ("DataLoader(torch.utils.data.ConcatDataset([D(a), D(b)]), num_workers=4)\n", (4, 3, 64, 32)),
        ("more = D(b)\nDataLoader(D(a) + more, num_workers=4)\n", (4, 3, 64, 32)),
        ("DataLoader(D(a) + other, num_workers=4)\n", ()),
        ("DataLoader(torch.utils.data.ConcatDataset([D(a), other]), num_workers=4)\n", ()),
        ("data = {k: D(paths[k]) for k in KINDS}\nDataLoader(data['a'], num_workers=4)\n", (4, 3, 64, 32)),
        ("data = D(paths) if real else D(others)\nDataLoader(data, num_workers=4)\n", (4, 3, 64, 32)),
        ("data = D(paths) if real else E(others)\nDataLoader(data, num_workers=4)\n", ()),
        ("data = {'a': D(paths), 'b': nobodys}\nDataLoader(data['a'], num_workers=4)\n", ()),
        ("DataLoader(other(D(paths)), num_workers=4)\n", ()),
        ("DataLoader(E(paths), num_workers=4)\n", ()),
        ("DataLoader(D(paths), num_workers=4, collate_fn=some)\n", ()),
        # Mappings of mappings are walked once.
        (f"{MAPPINGS}DataLoader(a5['a'], num_workers=4)\n", (4, 3, 64, 32)),
        # What a transform makes of images says more.
        ("from torchvision.transforms import Resize\nDataLoader(D(Resize(9)), num_workers=4)\n", ()),
    ],
)
def test_the_dataset_of_a_loader(tmp_path: Path, code: str, item: tuple[int, ...]) -> None:
    resized = "        image = cv2.resize(image, (64, 32))\n"
    more = "class E(D):\n    def __getitem__(self, i):\n        return small(i)\n"
    code = f"{HEAD}{CLASS % 48}{ITEM}{resized}{FRACTIONS}{more}{code}"
    assert [call.row.item for call in reading(tmp_path, {"train.py": code}, "").calls] == [item]


SIDED = "        if self.side{}:\n            image = cv2.resize(image, (self.side, self.side))\n" + FRACTIONS


@table(
    "test, made, item",
    [
        (" is not None", "D(paths, 32)", (4, 3, 32, 32)),
        ("", "D(paths, 32)", (4, 3, 32, 32)),
        (" > 0", "D(paths, 32)", (4, 3, 32, 32)),
        (" is not None", "D(paths)", ()),
        (" is None", "D(paths, 32)", ()),
        (" == 16", "D(paths, 32)", ()),
        # Another object of it has another size or none, or code gives it one later; or that is not known.
        (" is not None", "D(paths, 32) if fit else D(paths, None)", ()),
        (" is not None", "D(paths, 32); D(paths)", ()),
        (" is not None", "D(paths, 32); data.side = None", ()),
        (" is not None", "D(paths, 32); data.side = 8", ()),
        (" is not None", "D(paths, int(input()))", ()),
        (" and fit", "D(paths, 32)", ()),
    ],
)
def test_a_branch_that_a_dataset_takes(tmp_path: Path, test: str, made: str, item: tuple[int, ...]) -> None:
    loads = "DataLoader(data, num_workers=4, batch_size=8)\n"
    code = f"{HEAD}{CLASS % None}{ITEM}{SIDED.format(test)}data = {made}\n{loads}"
    assert [call.row.item for call in reading(tmp_path, {"train.py": code}, "").calls] == [item]


TRANSFORMED = "        return self.transform(cv2.resize(image, (64, 32)))\n"
OWN = "class Half:\n    def __call__(self, image):\n        return cv2.resize(image, (2, 2))\n"


@table(
    "code, item",
    [
        ("T.Compose([T.ToTensor()])", (4, 3, 64, 32)),
        ("T.Compose([T.Resize(make()), T.ToTensor()])", ()),
        ("T.Compose([Half(), T.ToTensor()])", ()),
    ],
)
def test_a_transform_may_make_images_smaller(tmp_path: Path, code: str, item: tuple[int, ...]) -> None:
    text = f"{HEAD}import torchvision.transforms as T\n{OWN}{CLASS % 48}{ITEM}{TRANSFORMED}"
    text += f"data = D(paths)\ndata.transform = {code}\nDataLoader(data, num_workers=4, batch_size=8)\n"
    (call,) = reading(tmp_path, {"train.py": text}).calls
    assert call.row.item == item
    assert call.resized is None if not item else call.resized is not None and "resize" in call.resized.text


def test_colours_that_are_not_sure(tmp_path: Path) -> None:
    grey = ITEM.replace("cv2.imread(self.paths[i])", "cv2.imread(self.paths[i], 0)")
    code = f"{HEAD}{CLASS % 48}{grey}        return cv2.resize(image, (64, 32)) / 255\n{LOADS}"
    assert [call.row.item for call in reading(tmp_path, {"train.py": code}, "").calls] == [(4, 1, 64, 32)]


@table("side, verdict", [(512, "needed"), (16, "likely")])
def test_what_it_takes(tmp_path: Path, side: int, verdict: str) -> None:
    """An item may have more than what is known of it, so that it never fits for sure."""
    resized = f"        return cv2.resize(image, ({side}, {side})) / 255\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n"}
    assert need(tmp_path, {**files, "train.py": f"{HEAD}{CLASS % 48}{ITEM}{resized}{LOADS}"}).verdict == verdict


ROOMS = """
import cv2, os, torch
from torch.utils.data import DataLoader, Dataset
class Rooms(Dataset):
    def __init__(self, root):
        self.paths = sorted(os.listdir(root))
    def name(self, path):
        return os.path.basename(path)
    def __getitem__(self, at):
        %s
def features(path):
    return torch.nn.Identity()(transforms.Compose([transforms.Resize((512, 512)), transforms.ToTensor()])(path))
for paths, names in DataLoader(Rooms("data"), batch_size=64, num_workers=8):
    features(paths[0])
"""


@table(
    "body, verdict",
    [
        ("return self.paths[at], self.name(self.paths[at]), int(at)", "likely"),
        ("return self.paths[at], len(self.paths)", "likely"),
        ("return self.read(self.paths[at]), at", "needed"),
        ("return cv2.imread(self.paths[at]), at", "needed"),
        ("return self.transform(self.paths[at]), at", "needed"),
    ],
)
def test_a_dataset_that_only_picks_makes_no_images(tmp_path: Path, body: str, verdict: str) -> None:
    code = "from torchvision import transforms\n" + ROOMS % body
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": f"FROM {PYTORCH}\nCOPY . .\n", "train.py": code}
    assert need(tmp_path, files).verdict == verdict
