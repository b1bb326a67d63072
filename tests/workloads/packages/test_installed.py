"""The list of packages whose code was read, and how it is made: from an index in a directory."""

from __future__ import annotations

import importlib
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from shmlint.workloads.packages import libraries
from tests.table import table

ROOT = Path(__file__).parents[3]
LIST = Path(libraries.__file__).parent / "packages.txt"


@pytest.fixture(autouse=True)
def _beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader imports a module that lies beside it."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def made(tmp_path: Path, packages: dict[str, tuple[dict[str, str], list[str]]]) -> list[str]:
    """The import names that are listed of some packages: their files, and what they require."""
    module = importlib.import_module("packages")
    found = {}
    for name, (files, requires) in packages.items():
        (tmp_path / name).mkdir()
        wheel = tmp_path / name / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        url = {"filename": wheel.name, "size": wheel.stat().st_size, "url": wheel.as_uri()}
        told = {"info": {"version": "1.0", "requires_dist": requires}, "urls": [url]}
        (tmp_path / name / "json").write_text(json.dumps(told))
        package = module.read(tmp_path.as_uri(), name)
        found[package.name] = package
    return [one for package in module.quiet(found) for one in package.modules if module.is_listed(one, package.name)]


@table(
    "path, code, listed",
    [
        ("drawn_well/__init__.py", "import numpy\n", ["drawn_well"]),
        ("drawn_well.py", "import torch\n", ["drawn_well"]),
        ("drawn_well/tests/test_a.py", "import subprocess\n", []),
        ("drawn_well/a.py", "import subprocess\nsubprocess.run(a)\n", []),
        ("drawn_well/a.py", "from torch.utils.data import DataLoader\nx = DataLoader(a)\n", []),
        ("drawn_well/a.py", "from multiprocessing import Array\n", []),
        ("drawn_well/a.py", "from multiprocessing import shared_memory\n", []),
        ("drawn_well/a.py", "import ray\n", []),
        ("drawn_well/a.so", "shm_open", []),
        # Another name, or what everybody calls so.
        ("painter/a.py", "", []),
        ("utils/a.py", "", []),
    ],
)
def test_code_that_is_read(tmp_path: Path, path: str, code: str, listed: list[str]) -> None:
    assert made(tmp_path, {"drawn-well": ({path: code}, [])}) == listed


@table(
    "requires, other, listed",
    [
        (["numpy>=2", "torch"], "", ["drawn_well", "other_one"]),
        (["other_one"], "", ["drawn_well", "other_one"]),
        (["other-one; extra == 'more'"], "import ray\n", ["drawn_well"]),
        (["other-one"], "import ray\n", []),
        (["unheard-of"], "", ["other_one"]),
    ],
)
def test_what_it_requires(tmp_path: Path, requires: list[str], other: str, listed: list[str]) -> None:
    packages = {"drawn-well": ({"drawn_well/a.py": ""}, requires), "other-one": ({"other_one/a.py": other}, [])}
    assert made(tmp_path, packages) == listed


@table(
    "code, listed",
    [
        # What only describes, and tools that share nothing.
        ("# a DataLoader\n", True),
        ('def f():\n    """Starts a subprocess with nccl."""\n', True),
        ("from torch.utils.data import DataLoader\ndef f(loader: DataLoader): ...\n", True),
        ("from torch.utils.data import DataLoader\ndef f(x): return isinstance(x, DataLoader)\n", True),
        ("def f():\n    raise ValueError('needs a DataLoader')\n", True),
        ("import subprocess\nsubprocess.run(['ffmpeg', '-i', name], stdout=subprocess.PIPE)\n", True),
        ("import os\nos.system(f'cp {a} {b}')\n", True),
        ("import torch.distributed as dist\nx = dist.get_rank() if dist.is_initialized() else 0\n", True),
        ("if __name__ == '__main__':\n    import subprocess\n    subprocess.run(name)\n", True),
        ("import timm\nmodel = timm.create_model('x')\n", True),
        # The same words where they do something.
        ("from torch.utils.data import DataLoader\ndef f(x): return DataLoader(x)\n", False),
        ("from torch.utils.data import DataLoader\nclass A(DataLoader): ...\n", False),
        ("import subprocess\nsubprocess.run([sys.executable, 'x.py'])\n", False),
        ("import subprocess\nsubprocess.run(['ffmpeg', x])\nsubprocess.run(command)\n", False),
        ("from subprocess import run\nrun(command)\n", False),
        ("import os\nos.system('cp a b && torch_train')\n", False),
        ("import os\nos.system(f'{program} b')\n", False),
        ("import torch.distributed as dist\ndist.init_process_group('gloo')\n", False),
        ("import torch.distributed as dist\nrun(dist)\n", False),
        ("from timm.data import create_loader\ncreate_loader(x)\n", False),
        ("import timm.data\nif __name__ != '__main__':\n    timm.data.create_loader(x)\n", False),
    ],
)
def test_what_code_says(tmp_path: Path, code: str, listed: bool) -> None:
    assert made(tmp_path, {"drawn-well": ({"drawn_well/a.py": code}, [])}) == ["drawn_well"] * listed


SETUP = "setup(name='drawn-well', ext_modules=[CUDAExtension('drawn_well_c', ['a.cu'])])\n"


@table(
    "files, because",
    [
        ({"drawn_well/__init__.py": "import numpy\n"}, ""),
        ({"src/drawn_well/__init__.py": "", "train.py": "import ray\n"}, ""),
        ({"lib/a/setup.py": SETUP, "lib/a/drawn_well/a.py": "import drawn_well_c\n"}, ""),
        ({"setup.py": SETUP, "drawn_well/a.py": "from .a import _C\n", "a.cu": "__shared__ int shared_memory[1];"}, ""),
        ({"drawn_well/a.py": "import helper\n", "helper/a.py": ""}, ""),
        ({"drawn_well/a.py": "try:\n    import unheard_of\nexcept ImportError:\n    pass\n"}, ""),
        # Only what is installed is read, and all that it takes along.
        ({"drawn_well/a.py": "", "tests/a.py": "import subprocess\nsubprocess.run(x)\n"}, ""),
        ({"drawn_well/a.py": "import helper\n", "helper/a.py": "import ray\n"}, "helper/a.py: import ray"),
        ({"drawn_well/a.py": "import unheard_of\n"}, "requires unheard-of"),
        ({"drawn_well/a.py": "import unheard_of\n", "setup.py": "setup(install_requires=['unheard_of'])"},
         "requires unheard-of"),
        ({"drawn_well/a.py": "", "a.cu": "// none\nncclAllReduce(a);"}, "a.cu: ncclA"),
        ({"drawn_well/a.py": "", "a.cpp": 'int f = shm_open("/a", 0, 0);'}, "a.cpp: shm_open"),
        ({"drawn_well/a.py": "", "a.c": "", "a.cmake": "FetchContent_Declare(a)"}, "a.cmake: FetchContent_"),
        ({"drawn_well/a.py": "", "a.cpp": "", ".gitmodules": "url = https://a/b/glm.git\n"}, ""),
        ({"drawn_well/a.py": "", "a.cpp": "", ".gitmodules": "url = https://a/b/more\n"}, "it is compiled with more"),
        ({"painter/a.py": ""}, "no module"),
    ],
)  # fmt: skip
def test_a_repository(tmp_path: Path, files: dict[str, str], because: str) -> None:
    for path, text in files.items():
        (tmp_path / "o" / "drawn-well" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "o" / "drawn-well" / path).write_text(text)
    git = ["git", "-C", str(tmp_path / "o" / "drawn-well"), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *command], check=True)
    module = importlib.import_module("packages")
    package = module.read_any(None, f"{tmp_path}/{{owner}}/{{name}}/.git", "o/drawn-well")
    known = {"o/drawn-well": package}
    lines = module.listed(known, tmp_path / "none")
    unmet = "".join(f"requires {name}" for name in package.requires if name == "unheard-of")
    assert (package.because or unmet) == because
    assert list(lines.values()) == ([f"drawn_well drawn-well {package.version}"] if not because else [])
    assert package.version.startswith("o/drawn-well@")


def test_the_list_is_in_order_and_says_what_was_read() -> None:
    lines = LIST.read_text("utf-8").splitlines()
    names = [line.split(" ")[0] for line in lines]
    assert all(len(line.split(" ")) == 3 for line in lines)
    assert names == sorted(dict.fromkeys(names))
    known = set((LIST.parent / "harmless.txt").read_text("utf-8").split())
    loaders = {row.call.partition(".")[0] for row in libraries.ROWS if "." in row.call}
    assert known.union(loaders).isdisjoint(names)
    assert set(names) <= libraries.harmless()
