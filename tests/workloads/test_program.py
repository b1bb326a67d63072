"""The sums of programs: workers, batches and sizes of items."""

from __future__ import annotations

import contextlib
from pathlib import Path
from time import process_time

from shmlint.model.source import Source, Span
from shmlint.workloads.program import Ran
from tests.project import findings, run
from tests.table import table
from tests.workloads.cases import DOCKERFILE, GPUS, LOADER, WITH_LOADER, compose, need


def test_the_sum_and_its_places_are_given(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": LOADER}
    found = need(tmp_path, files)
    (mechanism,) = found.mechanisms
    batch = 64 * 3 * 224 * 224 * 4
    assert (mechanism.id, mechanism.basis, mechanism.bytes) == ("dataloader", "computed", (8 * 2 + 2) * batch)
    assert mechanism.because == "(8 × 2 + 2) batches × 36.8 MiB"
    assert {e.span.path for e in mechanism.evidence if e.span} == {"train.py"}
    assert (found.minimum, found.recommended) == (mechanism.bytes, 2**30)
    assert "train.py" in [step.text for step in found.trail]


@table(
    "text",
    [
        "(" * 100_000, "-" * 100_000 + "1", "x = '\0'", "a" + ".b" * 50_000, "not " * 50_000 + "x",
        "from .train import *\nfrom train import *\nimport train\n",
        "if a:\n pass\n" + "elif a:\n pass\n" * 20_000, "x = [" * 1_000, "f(" * 79 + ")" * 79, "0x" + "f" * 100_000,
        "def f(n=" + "1 if a else " * 150 + "2): return f(n)\nf()\n",
        "\n".join(f"v{i} = v{i + 1} + v{i + 1}" for i in range(300)) + "\nDataLoader(d, num_workers=v0)\n",
    ],
)  # fmt: skip
def test_hostile_code_ends_the_trail(tmp_path: Path, text: str) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    assert need(tmp_path, files).verdict in ("unknown", "not-needed")


@table(
    "code, limit, verdict, parts",
    [
        ("import ray\nray.init(object_store_memory=10**10)", "", "needed", {"ray": 10**10}),
        ("import ray\nray.init()", "mem_limit: 10g", "needed", {"ray": int(10 * 2**30 * 0.3)}),
        ("import ray\nray.init()", "", "needed", {"ray": None}),
        ("import ray\nray.init('ray://head:10001')", "", "not-needed", {}),
        ("import ray\nray.init(address='auto')", "", "needed", {"ray": None}),
        ("import ray\nray.init()", "environment: {RAY_ADDRESS: 'ray://head:10001'}", "not-needed", {}),
        ("import ray\nray.init()", "mem_limit: 100m", "not-needed", {}),
        ("from ray import serve\nserve.run(app)", "", "needed", {"ray": None}),
        ("from ray import serve\nserve.start(http_options={'port': 8100})", "", "needed", {"ray": None}),
        ("from ray import serve\n@serve.deployment(num_replicas=2)\nclass App: pass", "", "likely", {"ray": None}),
        ("def tune():\n    import ray\n    ray.init()\n", "", "not-needed", {}),
        ("from web import serve\nserve.run(app)", "", "unknown", {}),
        ("from vllm import LLM\nLLM('m', tensor_parallel_size=2)", "", "needed",
         {"nccl": 106971904, "vllm": 664 * 2**20}),
        ("from vllm import LLM\nLLM('m')", "", "not-needed", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=2**30)", "", "needed",
         {"python-shm": 2**30}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=2**20)", "", "not-needed",
         {}),
        # Segments that fit only alone, or nobody knows how many.
        ("from multiprocessing import shared_memory as s\na, b = (s.SharedMemory(create=True, size=40 * 2**20),\n"
         "        s.SharedMemory(create=True, size=40 * 2**20))", "", "likely", {"python-shm": 80 * 2**20}),
        ("from multiprocessing import shared_memory as s\na = [s.SharedMemory(create=True, size=2**20) for i in x]", "",
         "unknown", {}),
        ("from multiprocessing import shared_memory as s\ndef make(): s.SharedMemory(create=True, size=2**20)\n"
         "def more(): make()\nfor i in x: more()", "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\nfor i in x: s.SharedMemory(create=True, size=8)", "",
         "not-needed", {}),
        ("from multiprocessing import shared_memory as s\ndef make(): s.SharedMemory(create=True, size=2**20)\nmake()",
         "", "not-needed", {}),
        # A segment that fits says nothing of what else such a program does.
        ("from multiprocessing import shared_memory as s\nimport unheard_of\ns.SharedMemory(create=True, size=2**20)",
         "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=a.nbytes)", "", "likely",
         {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\nimport sys\nn = len(sys.stdin.read())\n"
         "s.SharedMemory(create=True, size=int(max(4096, n)))", "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\nimport sys\nn = len(sys.stdin.read())\n"
         "s.SharedMemory(create=True, size=4096 if n else 2**33)", "", "unknown", {}),
        # What attaches to a segment makes none.
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=128)\n"
         "s.SharedMemory(name=a.name)", "", "not-needed", {}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=2**30)\n"
         "s.SharedMemory(a.name, False)", "", "needed", {"python-shm": 2**30}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=b.nbytes)\n"
         "s.SharedMemory(name=a.name)", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory(create=True, size=128)\n"
         "s.SharedMemory(name='b', create=c)", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory('a', True, 128)\n"
         "s.SharedMemory(name='frames')", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\na = s.SharedMemory('a', True, 128)\ns.SharedMemory('a')", "",
         "not-needed", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(name='frames')", "", "likely",
         {"python-shm": None}),
        # The code that makes it is not reached.
        ("from multiprocessing import shared_memory as s\nif DEBUG: s.SharedMemory(create=True, size=n, name=n)\n"
         "import sys\ns.SharedMemory(name=sys.argv[1])", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\nif False:\n    s.SharedMemory(create=True, size=n)\n"
         "import sys\ns.SharedMemory(name=sys.argv[1])", "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\nif False:\n    s.SharedMemory(create=True, size=n)\n"
         "s.SharedMemory(name='frames')", "", "likely", {"python-shm": None}),
        ("from multiprocessing import shared_memory as s\nif False:\n    s.SharedMemory(create=True, size=n)\n"
         "def free(one): s.SharedMemory(name=one)\nfree('frames')", "", "unknown", {}),
        ("from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=1024 * 1024 * 100)", "",
         "needed", {"python-shm": 100 * 2**20}),
        ("import tritonclient.utils.shared_memory as shm\nshm.create_shared_memory_region('a', '/a', 2**30)", "",
         "needed", {"python-shm": 2**30}),
        ("import tritonclient.http as t\nt.InferenceServerClient(url='triton:8000')", "", "not-needed", {}),
        ("from diff_gaussian_rasterization import GaussianRasterizer as R\nR(settings)", "", "not-needed", {}),
        ("from selenium import webdriver\nwebdriver.Chrome()", "", "likely", {"browser": None}),
        ("from selenium import webdriver\no = webdriver.ChromeOptions()\no.add_argument('--headless')\n"
         "webdriver.Chrome(options=o)", "", "likely", {"browser": None}),
        ("from selenium import webdriver\no = webdriver.ChromeOptions()\no.add_argument('--disable-dev-shm-usage')\n"
         "webdriver.Chrome(options=o)", "", "not-needed", {}),
        ("from selenium import webdriver\no = webdriver.ChromeOptions()\nfor a in ['-v', '--disable-dev-shm-usage']:\n"
         "    o.add_argument(a)\nwebdriver.Chrome(options=o)", "", "not-needed", {}),
        ("from selenium import webdriver\n# webdriver.Chrome(['--disable-dev-shm-usage'])\nwebdriver.Chrome()", "",
         "likely", {"browser": None}),
        ("from playwright.sync_api import sync_playwright\nsync_playwright()", "", "not-needed", {}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster()", "", "not-needed", {}),
        ("from dask_cuda import LocalCUDACluster\np = 'tcp'\nLocalCUDACluster(protocol=p)", "", "not-needed", {}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster(protocol='ucx')", "", "likely", {"ucx": None}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster(protocol=p)", "", "likely", {"ucx": None}),
        ("from dask_cuda import LocalCUDACluster\nLocalCUDACluster(enable_nvlink=True)", "", "likely", {"ucx": None}),
        ("import SharedArray as sa\nsa.create('shm://a', 10)", "", "likely", {"shared-array": None}),
        ("from SharedArray import create\ncreate('a', 10)", "", "likely", {"shared-array": None}),
        ("import SharedArray\nSharedArray.create(name, 10)", "", "likely", {"shared-array": None}),
        ("import SharedArray\nSharedArray.create('file:///tmp/a', 10)", "", "not-needed", {}),
        ("import SharedArray\nif share():\n    SharedArray.create('shm://a', 10)", "", "unknown", {}),
        ("import SharedArray\nSharedArray.attach('shm://a')", "", "not-needed", {}),
        ("import SharedArray\nSHARE = False\nif SHARE:\n    SharedArray.create('shm://a', 10)", "", "not-needed", {}),
        ("import SharedArray\ndef keep(a):\n    SharedArray.create('shm://a', 10)", "", "not-needed", {}),
        ("import yaml\nyaml.create('shm://a', 10)", "", "not-needed", {}),
    ],
)
def test_the_sums_of_programs(
    tmp_path: Path, code: str, limit: str, verdict: str, parts: dict[str, int | None]
) -> None:
    files = {
        "compose.yaml": compose("python train.py", f"    {limit}\n"), "Dockerfile": DOCKERFILE, "train.py": f"{code}\n"
    }  # fmt: skip
    found = need(tmp_path, files)
    assert (found.verdict, {m.id: m.bytes for m in found.mechanisms}) == (verdict, parts)


BATCHES = """
import os
from torch.utils.data import DataLoader
import torchvision
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--img-size", type=int, default=640)
args = parser.parse_args()
loader = DataLoader(data(), batch_size=SIZE, num_workers=int(os.environ.get("WORKERS", 8)))
"""


@table(
    "own, call, verdict",
    [
        ("class Loader(DataLoader): pass", "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(DataLoader): pass", "Loader(d, batch_size=64, num_workers=0)", "not-needed"),
        ("class Loader(DataLoader): pass", "Loader(d, batch_size=64)", "not-needed"),
        ("class Loader(object): pass", "Loader(d, batch_size=64, num_workers=4)", "not-needed"),
        ("class Other: pass\nclass Base(Other, DataLoader): pass\nclass Loader(Base): pass",
         "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(DataLoader):\n    def __init__(self, *args, **kwargs):\n"
         "        super(Loader, self).__init__(*args, **kwargs)",
         "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(DataLoader):\n    def __init__(self, data):\n"
         "        super().__init__(data, batch_size=64, num_workers=4)", "Loader(d)", "needed"),
        ("class Loader(DataLoader):\n    def __init__(self, data, num_workers):\n"
         "        super().__init__(data, batch_size=64)", "Loader(d, num_workers=4)", "not-needed"),
        ("class Endless(DataLoader): pass\nLoader = DataLoader if weights else Endless",
         "Loader(d, batch_size=64, num_workers=4)", "needed"),
        ("class Loader(Loader): pass", "Loader(d, batch_size=64, num_workers=4)", "not-needed"),
    ],
)  # fmt: skip
def test_loaders_of_the_repository_that_extend_one(tmp_path: Path, own: str, call: str, verdict: str) -> None:
    files = {
        "own/__init__.py": "from .loading import Loader\n",
        "own/loading.py": f"from torch.utils.data import DataLoader\n{own}\n",
        "train.py": f"from torchvision.transforms import Resize\nfrom own import Loader\nResize(512)\nl = {call}\n",
    }
    files |= {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


def test_sizes_that_a_configuration_of_python_gives_as_a_tuple(tmp_path: Path) -> None:
    code = "import cv2\nfrom torch.utils.data import DataLoader\nimport sys\n"
    code += "c = load(sys.argv[1])\nloader = DataLoader(c.data, batch_size=c.batch_size, num_workers=c.workers)\n"
    files = {"compose.yaml": compose("python train.py conf.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    for side, verdict in ((336, "needed"), (16, "not-needed")):
        files["conf.py"] = f"batch_size = 16\nworkers = 4\nimgsize = ({side}, {side})\n"
        assert need(tmp_path, files).verdict == verdict


NAMED = """
import argparse
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

parser = argparse.ArgumentParser()
OPTION
args = parser.parse_args()
loader = DataLoader(DATA, batch_size=64, num_workers=3)
"""


@table(
    "option, data, verdict",
    [
        ('parser.add_argument("--dataset", default="CIFAR10")', "getattr(datasets, args.dataset)()", "not-needed"),
        ('parser.add_argument("--dataset", default="ImageNet")', "getattr(datasets, args.dataset)()", "likely"),
        ('parser.add_argument("--dataset", default="cifar100")', "make(transforms.Resize(224))", "needed"),
        ("", "datasets.MNIST(transform=transforms.ToTensor())", "not-needed"),
        ("", "datasets.CIFAR10(transform=transforms.RandomCrop(32, padding=4))", "not-needed"),
        ("", "make_dataset(folder, resolution=32)", "not-needed"),
        ("", "make_dataset(folder, resolution=512)", "needed"),
        ("", "make_dataset(folder, length=32)", "likely"),
        ("", "make(transforms.Resize(64))", "not-needed"),
        # 54 MiB of images, and there may be a mask beside each.
        ("", "make(transforms.Resize(96))", "likely"),
        ("", "draw(folder, resolution=512)", "likely"),
        # Of these datasets it is known that there is none.
        ("", "datasets.ImageFolder(d, transforms.Resize(96))", "not-needed"),
        ("T = transforms.Lambda(str)", "datasets.ImageFolder(d, twice(transforms.Resize(96), T))", "likely"),
        ("class T:\n    def __call__(self, x): return x, x", "datasets.DTD(d, T(transforms.Resize(96)))", "likely"),
        ("", "datasets.VOCDetection(d, transforms.Resize(96))", "likely"),
    ],
)
def test_the_size_of_the_items_decides(tmp_path: Path, option: str, data: str, verdict: str) -> None:
    code = NAMED.replace("OPTION", option).replace("DATA", data)
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    assert need(tmp_path, files).verdict == verdict


def test_validation_has_a_loader_of_its_own(tmp_path: Path) -> None:
    code = "from ultralytics import YOLO\nYOLO('n.pt').train(data='x', workers=WORKERS, batch=4)\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE}
    found = need(tmp_path, {**files, "train.py": code.replace("WORKERS", "4")})
    assert found.verdict == "needed"
    assert "(4 × 2 + 2) batches × 4.7 MiB, and of validation (8 × 2 + 2) × 9.4 MiB" in found.because
    assert need(tmp_path, {**files, "train.py": code.replace("WORKERS", "0")}).verdict == "not-needed"


def test_a_size_in_a_module_that_says_nothing_else_counts(tmp_path: Path) -> None:
    code = "import torchvision\nfrom items import make\nfrom torch.utils.data import DataLoader\n"
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE,
        "train.py": f"{code}DataLoader(make(), num_workers=8, batch_size=64)\n",
        "items.py": "import torch\ndef make():\n    return torch.images(resolution=512)\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "needed"


@table(
    "size, environment, verdict",
    [
        ("16", "", "needed"),
        ("16", "environment: {WORKERS: 0}", "not-needed"),
        ("16", "environment: {WORKERS: '${WORKERS}'}", "likely"),
        ("make()", "", "needed"),
    ],
)
def test_sizes_of_options_and_defaults_of_variables(tmp_path: Path, size: str, environment: str, verdict: str) -> None:
    code = BATCHES.replace("SIZE", size)
    files = {
        "compose.yaml": compose("python train.py", f"    {environment}\n"), "Dockerfile": DOCKERFILE, "train.py": code
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


_THREADS = """import argparse
import threading
{more}
p = argparse.ArgumentParser()
p.add_argument("--num-workers", type=int, default=4)
a = p.parse_args()
all = [threading.Thread(target=print) for _ in range(a.num_workers)]
"""


@table(
    "command, more, verdict",
    [
        ("python ppo.py --num-workers 4", "", "not-needed"),
        ("python ppo.py --num-workers 4", "from torch.utils.data import DataLoader", "not-needed"),
        ("python ppo.py --num-workers 4", "from torch.utils.data import DataLoader; DataLoader([])", "not-needed"),
        ("python ppo.py --num-workers 4", "import unheard_of", "likely"),
        ("python ppo.py --num-workers 4", "import unheard_of, pytorch_lightning", "likely"),
        ("python ppo.py --num-workers 4", "import unheard_of\nfrom torch.utils.data import DataLoader", "likely"),
        ("python ppo.py --num-workers 4", "import unheard_of\nfrom torch.utils.data import DataLoader; DataLoader([])",
         "likely"),
        ("python other.py --num-workers 4", "", "likely"),
        ('sh -c "python ppo.py --num-workers 4 && python other.py --num-workers 4"', "", "likely"),
        ('sh -c "python ppo.py --num-workers 4 && python ppo.py --num-workers 8"', "", "not-needed"),
        ("bash", "", "likely"),
    ],
)  # fmt: skip
def test_workers_of_the_command_that_its_code_uses_for_something_else(
    tmp_path: Path, command: str, more: str, verdict: str
) -> None:
    dockerfile = f"{DOCKERFILE}RUN pip install torch\n"
    files = {"ppo.py": _THREADS.format(more=more), "Dockerfile": dockerfile, "compose.yaml": compose(command)}
    files["README.md"] = "```\npython ppo.py --num-workers 4\n```\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "script, command, verdict",
    [
        ('own-tool run --config "$1"\n', "./run.sh --num-workers 4", "likely"),
        ('own-tool run --config "$1"\n', "bash run.sh --num_workers=4 --out a", "likely"),
        ('own-tool run --config "$1"\n', "./run.sh --num-workers 0", "unknown"),
        # A web server has workers, too.
        ('own-tool run --config "$1"\n', "./run.sh --workers 4", "unknown"),
        ("echo hello\n", "./run.sh --num-workers 4", "not-needed"),
    ],
)
def test_workers_that_a_script_hands_on_to_something_unknown(
    tmp_path: Path, script: str, command: str, verdict: str
) -> None:
    dockerfile = "FROM own/base\nWORKDIR /app\nCOPY . .\n"
    files = {"run.sh": f"#!/bin/bash\n{script}", "Dockerfile": dockerfile, "compose.yaml": compose(command)}
    assert need(tmp_path, files).verdict == verdict


@table(
    "given, command, verdict",
    [
        ('CMD=("$@")', '"${CMD[@]}"', "likely"),
        ("CMD=(${@:2})", '"${CMD[@]}"', "likely"),
        ('CMD="$*"', "$CMD", "likely"),
        ("CMD=(serve)", '"${CMD[@]}"', "unknown"),
        ('NAMES=("$@")', '"${CMD[@]}"', "unknown"),
        ('CMD=(serve "$@")', '"${CMD[@]}"', "unknown"),
    ],
)
def test_a_variable_that_holds_what_a_script_is_given(tmp_path: Path, given: str, command: str, verdict: str) -> None:
    script = f"CMD=(serve --all)\nif a; then\n  {given}\nfi\ndocker run --gpus all --rm -it own {command}\n"
    files = {"run.sh": f"docker build -t own .\n{script}", "Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}
    assert need(tmp_path, files).verdict == verdict


COMMANDS = """
from torch.utils.data import DataLoader
def check():
    print(1)
def train():
    DataLoader([1], num_workers=8)
"""


@table(
    "first, second",
    [
        ("pytest tests/test_a.py", "pytest tests/test_b.py"),
        ("app-check", "app-train"),
        ("python a.py", "env WORKERS=8 python a.py"),
    ],
)
def test_programs_with_the_same_first_file_are_told_apart(tmp_path: Path, first: str, second: str) -> None:
    files = {
        "pyproject.toml": '[project.scripts]\napp-check = "app:check"\napp-train = "app:train"\n',
        "app/__init__.py": COMMANDS,
        "a.py": "import os\n" + LOADER.replace("default=8", "default=os.environ.get('WORKERS', 0)"),
        "tests/conftest.py": "import os\n",
        "tests/test_a.py": "def test_a():\n    pass\n",
        "tests/test_b.py": "from app import train\ndef test_b():\n    train()\n",
        "Dockerfile": DOCKERFILE,
    }
    services = compose(first, f"  other:\n    build: .\n    command: {second}\n    {GPUS}\n")
    (tmp_path / ".git").mkdir()
    started = run(tmp_path, {**files, "compose.yaml": services}, paths=(".",))
    with contextlib.chdir(tmp_path):
        verdicts = [started.context.need(launch).verdict for launch in started.launches]
    assert verdicts[0] == "not-needed"
    assert verdicts[1] != "not-needed"
    assert need(tmp_path, {**files, "compose.yaml": compose(f'sh -c "{first}; {second}"')}).verdict != "not-needed"


@table(
    "options, size, found",
    [
        ("--shm-size=32m", 40, "SHM102 error"),
        ("--shm-size=48m", 40, ""),
        ("--shm-size=32m", 20, ""),
        ("", 40, ""),
        ("--shm-size=128m", 100, "SHM103 note"),
        # Bytes that were meant as megabytes are reported as such.
        ("--shm-size=32", 40, "SHM203 error"),
    ],
)
def test_what_is_known_is_compared_with_a_size_below_the_default(
    tmp_path: Path, options: str, size: int, found: str
) -> None:
    code = f"from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size={size} * 2**20)\n"
    launch = f"docker run --gpus all {options} -v $PWD:/w -w /w python:3.12 python hold.py\n"
    (tmp_path / ".git").mkdir()
    told = findings(tmp_path, {"run.sh": launch, "hold.py": code})
    assert [f"{finding.rule} {finding.severity}" for finding in told] == found.split(", ") * bool(found)


TEXTS = """
import argparse
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--context_length", type=int, default=2048)
parser.add_argument("--vocab_size", type=int, default=32000)
args = parser.parse_args()
DataLoader(texts(args.context_length), batch_size=16, num_workers=4)
"""
TEXT_ITEMS = "class Items(Dataset):\n    def __getitem__(self, i):\n        return %s\n"
OF_MODELS = TEXTS.replace("--vocab_size", "--steps").replace("import argparse", "import argparse, transformers")


@table(
    "code, options, verdict",
    [
        (TEXTS, "", "unknown"),
        (OF_MODELS.replace("=16", "=args.batch()"), "", "likely"),  # a batch of any size
        (OF_MODELS, "", "unknown"),
        (TEXTS, "--context_length 131072", "likely"),
        (TEXTS.replace("=4)", "=64)"), "", "likely"),
        (TEXTS.replace("context_length", "horizon"), "", "likely"),
        (TEXTS.replace("--vocab_size", "--steps"), "", "likely"),  # of numbers over time, perhaps
        (TEXTS + "import torchaudio\n", "", "likely"),
        (OF_MODELS + "from PIL import Image\n", "", "likely"),
        (OF_MODELS + "from transformers import AutoImageProcessor\n", "", "likely"),
        (OF_MODELS + "transformers.CLIPProcessor.from_pretrained(name)\n", "", "likely"),
        # What the repository's own code puts into items, or into batches of them.
        (OF_MODELS + TEXT_ITEMS % "self.ids[i]", "", "unknown"),
        (OF_MODELS + TEXT_ITEMS % "self.ids[i], np.load(self.paths[i])", "", "likely"),
        (OF_MODELS + TEXT_ITEMS % "self.ids[i], torch.ones(self.n, self.n)", "", "likely"),
        (OF_MODELS + TEXT_ITEMS % "self.ids[i], torch.zeros(self.n, 2)", "", "unknown"),
        (OF_MODELS + TEXT_ITEMS % "one_hot(self.ids[i], 32000)", "", "likely"),
        (OF_MODELS + TEXT_ITEMS % "tokens(self.passages[i][:16])", "", "likely"),
        (OF_MODELS + "def collate(batch):\n    return process(images=[b['image'] for b in batch])\n", "", "likely"),
        (OF_MODELS + "def load(path):\n    return torch.load(path)['features']\n", "", "unknown"),
    ],
)
def test_batches_of_texts_that_fit_make_no_warning(tmp_path: Path, code: str, options: str, verdict: str) -> None:
    text = compose(f"python fit.py {options}")
    assert need(tmp_path, {"compose.yaml": text, "Dockerfile": DOCKERFILE, "fit.py": code}).verdict == verdict


ITEM = "class {}:\n    cut = A.Resize({}, 64)\n    def __getitem__(self, i):\n        return self.cut(self.a[i])\n"
SMALL, THIRD = ITEM.format("Small", 64), ITEM.format("Third", 32)
OTHER = "class Other:\n    def __getitem__(self, i):\n        return self.a[i]\n"


@table(
    "classes, verdict",
    [(SMALL, "not-needed"), (SMALL + OTHER, "likely"), (OTHER + SMALL, "likely"), (SMALL + THIRD, "not-needed")],
)
def test_items_of_one_dataset_say_nothing_of_another(tmp_path: Path, classes: str, verdict: str) -> None:
    code = f"import albumentations as A\nfrom torch.utils.data import DataLoader\n{classes}"
    code += "for x in DataLoader(Small(), batch_size=8, num_workers=4):\n    print(x)\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    assert need(tmp_path, files).verdict == verdict


COLLATE = "class Data:\n    @staticmethod\n    def join(items):\n        return {%s}\n"


@table(
    "made, verdict",
    [
        ("'a': np.stack(items), 'n': len(items)", "unknown"),
        ("'a': np.concatenate(items)", "unknown"),
        ("'a': torch.from_numpy(np.stack(items))", "likely"),
        ("'a': torch.stack(items)", "likely"),
        ("'a': items", "likely"),
    ],
)
def test_batches_of_arrays_are_not_shared(tmp_path: Path, made: str, verdict: str) -> None:
    code = "import torch, numpy as np\nfrom data import Data\nfrom torch.utils.data import DataLoader\ndata = Data()\n"
    code += "for x in DataLoader(data, batch_size=8, num_workers=4, collate_fn=data.join):\n    print(x)\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": code}
    files["data.py"] = f"import numpy as np\nimport torch\n{COLLATE % made}"
    found = need(tmp_path, files)
    assert found.verdict == verdict
    assert ("NumPy arrays" in found.stopped) == (verdict == "unknown")


def test_the_place_of_a_command_in_a_text_that_repeats_itself_is_found_in_time() -> None:
    text = "run --rm -e A=1 " * 2_000 + "\n"
    source = Source("x.sh", text)
    words = (*text.split(), "other")
    before = process_time()
    span = Span(source, 0, len(text))
    assert Ran(words, span, "program").place_of(words, words[:1]) is not None
    assert process_time() - before < 2


@table("first, then", [(8, 0), (0, 8), (8, "args.n")])
def test_workers_that_a_loader_is_given_later_are_not_certain(tmp_path: Path, first: int, then: object) -> None:
    train = "import data\nfrom torchvision import datasets\nloader = data.DataLoader(datasets.CIFAR10('/d'), 8192, "
    train += f"num_workers={first})\nloader.num_workers = {then}\nfor item, label in loader: item.cuda()\n"
    files = {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "fit.py": train}
    files["data.py"] = "from torch.utils.data import DataLoader\n"
    assert need(tmp_path, files).verdict in ("likely", "unknown")


@table(
    "given, verdict",
    [
        ("batch_size=32, num_workers=1", "unknown"), ("batch_size=128, num_workers=1", "unknown"),
        ("batch_size=int(sys.argv[1]), num_workers=1", "unknown"), ("batch_size=129, num_workers=1", "likely"),
        ("batch_size=32, num_workers=2", "likely"), ("batch_size=32, num_workers=1, prefetch_factor=8", "likely"),
    ],
)  # fmt: skip
def test_whether_a_single_worker_fills_it_rests_on_its_items(tmp_path: Path, given: str, verdict: str) -> None:
    train = f"import sys\nfrom torch.utils.data import DataLoader\nfor x in DataLoader(data(), {given}): x.cuda()\n"
    files = {"compose.yaml": compose("python fit.py 8"), "Dockerfile": DOCKERFILE, "fit.py": train}
    found = need(tmp_path, files)
    assert found.verdict == verdict
    assert ("its single DataLoader worker" in found.stopped) == (verdict == "unknown")


MADE = "from torch.utils.data import DataLoader\nfrom torchvision.datasets import CIFAR10\n"
KEPT = "".join(f"        self.a{i} = DataLoader(d, num_workers=2)\n" for i in range(1_500))
SHOWN = "".join(f"        print(self.a{i})\n" for i in range(1_500))


@table(
    "text",
    [
        "if False:\n a = 1\n" * 10_000, "if False:\n a = 1\nelif True:\n a = 2\n" * 5_000,
        MADE + "".join(f"a{i} = DataLoader(d, num_workers=2)\n" for i in range(1_500)),
        MADE + "".join(f"a{i} = D()\na{i} = S(a{i})\nDataLoader(a{i}, num_workers=2)\n" for i in range(1_500)),
        f"{MADE}class A:\n    def __init__(self):\n{KEPT}    def f(self):\n{SHOWN}A().f()\n",
        MADE + "".join(f"CIFAR10('/d', transform=t{i})\n" for i in range(3_000)),
        "import sys\ndef f(): pass\n" + "".join(f"a{i} = {{'b': f}}\na{i}[sys.argv[1]]()\n" for i in range(1_500)),
    ],
)  # fmt: skip
def test_much_of_one_kind_takes_no_more_than_its_share_of_time(tmp_path: Path, text: str) -> None:
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "train.py": text}
    before = process_time()
    need(tmp_path, files)
    assert process_time() - before < 8


CHANGES = (
    "N = {first}\ndef set_up():\n    global N\n    N = {then}\nset_up()\n",
    "import conf\nconf.n = {then}\nN = conf.n\n",
    "kept = dict(n={first})\ndef patch(given):\n    given['n'] = {then}\npatch(kept)\nN = kept['n']\n",
    "class Kept:\n    n = {first}\nKept.n = {then}\nN = Kept.n\n",
    "N = {first}\nglobals()['N'] = {then}\n",
    "N = {first}\nN += {then}\n",
)
"""Ways to give a number another value, which are not all followed."""
USES = {
    "batch": WITH_LOADER + "from torchvision import datasets, transforms as T\n"
    "seen = datasets.ImageFolder('/d', T.Compose([T.Resize((224, 224)), T.ToTensor()]))\n"
    "for item, label in DataLoader(seen, batch_size=N, num_workers=4): item.cuda()\n",
    "side": WITH_LOADER + "from torchvision import datasets, transforms as T\n"
    "seen = datasets.ImageFolder('/d', T.Compose([T.Resize((N, N)), T.ToTensor()]))\n"
    "for item, label in DataLoader(seen, batch_size=32, num_workers=4): item.cuda()\n",
    "ranks": "from vllm import LLM\nLLM('a/b', tensor_parallel_size=N).generate(['c'])\n",
}


@table("use, first, then", [("batch", 2, 64), ("batch", 64, 2), ("side", 16, 384), ("side", 384, 16), ("ranks", 1, 2)])
def test_what_code_changes_is_neither_enough_nor_too_much(tmp_path: Path, use: str, first: int, then: int) -> None:
    for way in CHANGES:
        files = {
            "compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "conf.py": f"n = {first}\n",
            "fit.py": way.format(first=first, then=then) + USES[use],
        }  # fmt: skip
        assert need(tmp_path, files).verdict in ("likely", "unknown"), way
