"""Where the modules that a program imports are found."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from shmlint.syntax.python import Module, parse
from tests.table import table
from tests.workloads.cases import DOCKERFILE, HELPER, LOADER, SERVE, compose, need

if TYPE_CHECKING:
    import pytest


@table(
    "imports, verdict",
    [
        ("import grpc\nimport answer_pb2\nimport answer_pb2_grpc\n", "not-needed"),
        ("from answer_pb2 import Answer\n", "not-needed"),
        ("import gradio_answers\n", "not-needed"),
        ("import grpc\nimport answer_pb\n", "unknown"),
    ],
)
def test_modules_that_protoc_generates(tmp_path: Path, imports: str, verdict: str) -> None:
    """They are seldom in the repository, and hold messages and stubs alone."""
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": imports + SERVE}
    assert need(tmp_path, files | {"helper.py": HELPER}).verdict == verdict


@table(
    "line, verdict",
    [
        ('sys.path.append("lib")', "needed"),
        ("if True:\n    sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))", "needed"),
        ('sys.path.append("other")', "unknown"),
        ("# sys.path.append('lib')", "unknown"),
        ("sys.path.append('../../..')", "unknown"),
    ],
)
def test_directories_that_a_program_adds_to_its_path(tmp_path: Path, line: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python run.py"), "Dockerfile": DOCKERFILE, "lib/fit_it.py": LOADER}
    files["run.py"] = f"import os, sys\n{line}\nimport fit_it\nfit_it.main()\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "line, verdict",
    [
        ("from Voice.tone import say", "not-needed"),
        ("import Voice.tone as t", "not-needed"),
        ("from Voice.load import loader", "likely"),
        ("from voices.tone import say", "unknown"),
    ],
)
def test_a_copied_package_finds_itself(tmp_path: Path, line: str, verdict: str) -> None:
    """It has no ``__init__.py``, and the program puts the directory above it on its path in ways not followed."""
    inner = "vendor/voice/Voice"
    files = {
        "serve.py": "import vendor.voice.Voice.main\n", f"{inner}/main.py": f"{line}\n",
        f"{inner}/tone.py": "def say():\n    pass\n",
        f"{inner}/load.py": LOADER.replace("RandomResizedCrop(224)", "crop()") + "loader = main()\n",
    }  # fmt: skip
    files |= {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


@table(
    "line, verdict",
    [
        ("__import__('datetime').now()", "not-needed"),
        ("__import__(input())", "unknown"),
        ("__import__('nobodys')", "unknown"),
        ("if is_nobodys_available():\n    import nobodys", "not-needed"),
        ("if wants():\n    import nobodys", "unknown"),
    ],
)
def test_imports_by_name_and_of_packages_that_may_be_there(tmp_path: Path, line: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": f"{line}\n"}
    assert need(tmp_path, files).verdict == verdict


def test_modules_that_say_nothing_of_loaders_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most modules of a program are such; to parse all of them takes five times as long."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    importlib.import_module("programs").write(tmp_path, files=20, launches=0)
    texts = {os.path.relpath(path, tmp_path): path.read_text() for path in tmp_path.rglob("*.py")}
    parsed: list[str] = []

    def noted(text: str) -> Module | None:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr("shmlint.workloads.python.modules.parse", noted)
    command = "torchrun --nproc_per_node 2 project0/train.py --workers 2"
    assert need(tmp_path, {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, **texts}).verdict == "needed"
    assert parsed == [texts["project0/train.py"]]


OPENS = "def read(path):\n    with open(path) as file:\n"


@table(
    "helper, workers, verdict",
    [
        (f"import yaml\n{OPENS}        return Box(yaml.load(file, None))\n", 4, "likely"),
        (f"import yaml\n{OPENS}        return Box(yaml.safe_load(file))\n", 4, "likely"),
        ("from omegaconf import OmegaConf\ndef read(path):\n    return OmegaConf.load(path)\n", 4, "likely"),
        ("from omegaconf import OmegaConf\ndef read(path):\n    return OmegaConf.load(path)\n", 0, "not-needed"),
        (f"import json\n{OPENS}        return Box(json.load(file))\n", 4, "likely"),
        ("def read(path):\n    return Box(path)\n", 4, "unknown"),
    ],
)
def test_modules_that_read_a_configuration_are_parsed(
    tmp_path: Path, helper: str, workers: int, verdict: str
) -> None:
    code = "import helper\nfrom torch.utils.data import DataLoader\nconf = helper.read('conf.yaml')\n"
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE, "helper.py": helper,
        "train.py": f"{code}DataLoader(conf.data, num_workers=conf.loader.num_workers)\n",
        "conf.yaml": f"loader:\n  num_workers: {workers}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "text, stopped",
    [
        ("import torch, other as )\n", "cannot be parsed as Python"),
        ("import torch, other\n" + "#" * 600_000, "too long"),
        ("import torch, other\nx = " + "(" * 90 + ")" * 90 + "\n", "nested too deeply"),
    ],
    ids=["broken", "long", "deep"],
)
def test_files_that_are_not_parsed(tmp_path: Path, text: str, stopped: str) -> None:
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": text}
    found = need(tmp_path, files)
    assert found.verdict == "unknown" and stopped in found.stopped


IN_BRANCHES = "if tell():\n    from one import {0}\nelse:\n    from two import {0}\n"
ONE = "W = 8\nSAME = 0\ndef count():\n    return 8\n"
TRIED = "try:\n    from {} import W\nexcept ImportError:\n    from {} import W\n"


@table(
    "imports, workers, verdict",
    [
        (IN_BRANCHES.format("W"), "W", "likely"),
        (IN_BRANCHES.format("SAME"), "SAME", "not-needed"),
        (IN_BRANCHES.format("count"), "count()", "unknown"),
        (TRIED.format("one", "two"), "W", "likely"),
        (TRIED.format("gone", "one"), "W", "likely"),
        (TRIED.format("gone", "two"), "W", "unknown"),
        ("from one import *\nfrom two import *\n", "W", "not-needed"),
        ("from two import *\nfrom one import *\n", "W", "needed"),
        ("from two import *\nif tell():\n    from one import *\n", "W", "likely"),
    ],
)
def test_a_name_that_is_imported_from_two_modules(tmp_path: Path, imports: str, workers: str, verdict: str) -> None:
    code = f"{imports}from torch.utils.data import DataLoader\ncrop = RandomResizedCrop(224)\n"
    files = {
        "compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE,
        "one.py": ONE, "two.py": ONE.replace("8", "0"),
        "train.py": f"{code}DataLoader(data(crop), batch_size=64, num_workers={workers})\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
