"""The list of packages whose code was read, and how it is made: from an index in a directory."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

from shmlint.workloads import libraries
from tests.table import table

ROOT = Path(__file__).parents[2]
LIST = Path(libraries.__file__).parent / "packages.txt"


def made(tmp_path: Path, packages: dict[str, tuple[dict[str, str], list[str]]]) -> list[str]:
    """The import names that are listed of some packages: their files, and what they require."""
    spec = importlib.util.spec_from_file_location("packages", ROOT / "benchmarks" / "packages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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
        ("drawn_well/a.py", "import subprocess\n", []),
        ("drawn_well/a.py", "from torch.utils.data import DataLoader\n", []),
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


def test_the_list_is_in_order_and_says_what_was_read() -> None:
    lines = LIST.read_text("utf-8").splitlines()
    names = [line.split(" ")[0] for line in lines]
    assert all(len(line.split(" ")) == 3 for line in lines)
    assert names == sorted(dict.fromkeys(names))
    known = set((LIST.parent / "harmless.txt").read_text("utf-8").split())
    loaders = {row.call.partition(".")[0] for row in libraries.ROWS if "." in row.call}
    assert known.union(loaders).isdisjoint(names)
    assert set(names) <= libraries.harmless()
