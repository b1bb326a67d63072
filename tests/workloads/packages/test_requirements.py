"""Packages that a project asks for."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import ALONE, CONTAINER, need


@table(
    "packages, verdict",
    [('"torch>=2",\n    "flask"', "not-needed"), ('"torch>=2",\n    "deepspeed>=0.16"', "unknown")],
)
def test_a_list_of_packages_starts_nothing(tmp_path: Path, packages: str, verdict: str) -> None:
    """What is installed and not used may be started by hand."""
    project = f'[project]\nname = "own"\ndependencies = [\n    {packages},\n]\n'
    files = {".devcontainer/devcontainer.json": CONTAINER, "fit.py": ALONE, "pyproject.toml": project}
    assert need(tmp_path, files).verdict == verdict
    task = '[tool.poe.tasks]\nfit = "torchrun fit.py"\n'
    assert need(tmp_path, files | {"pyproject.toml": f"{project}{task}"}).verdict == "likely"


PROJECT = """
[project]
name = "tool"
dependencies = ["unheard-of"]

[project.optional-dependencies]
train = [
    "torch",
]
"""
SETUP = "from setuptools import setup\nsetup(\n    MORE,\n    install_requires=['LIST'],\n)\n"


@table(
    "runs, files, verdict",
    [
        ("pip install .", {"pyproject.toml": PROJECT}, "unknown"),
        ("pip install '.[train]'", {"pyproject.toml": PROJECT}, "likely"),
        ("uv sync --extra train", {"pyproject.toml": PROJECT}, "likely"),
        ("pip install .", {"pyproject.toml": PROJECT.replace("unheard-of", "torch")}, "likely"),
        ("pip install .", {"setup.py": SETUP.replace("MORE", "extras_require={'a': ['torch']}")}, "unknown"),
        ("pip install .", {"setup.py": SETUP.replace("LIST", "torch")}, "likely"),
        ("pip install numpy", {"requirements-examples.txt": "torch\n"}, "unknown"),
        ("pip install -r requirements-examples.txt", {"requirements-examples.txt": "torch\n"}, "likely"),
        ("pip install numpy", {"requirements.txt": "torch\n"}, "likely"),
        # Nothing shows what is installed.
        ("", {"requirements-examples.txt": "torch\n"}, "likely"),
    ],
)
def test_packages_for_extras_are_there_where_the_build_asks_for_them(
    tmp_path: Path, runs: str, files: dict[str, str], verdict: str
) -> None:
    """A shell where PyTorch is installed probably needs more; an extra that nobody asks for installs none."""
    image = "me/tool"
    if runs:
        image, files = "tool", {**files, "Dockerfile": f"FROM ubuntu\nWORKDIR /app\nCOPY . .\nRUN {runs}\n"}
        files["build.sh"] = "docker build -t tool .\n"
    code = {"tool.py": "import unheard_of\n", "run.sh": f"docker run --gpus all -it -v $PWD:/app {image} bash\n"}
    assert need(tmp_path, {**files, **code}).verdict == verdict


@table(
    "runs, asked, verdict",
    [
        ("pip install -r /app/list.txt", "numpy", "unknown"),
        ("pip install -r /app/list.txt", "torch", "likely"),
        ("pip install -r /made/other.txt", "numpy", "likely"),  # it may be any list of the repository
        ("pip install --extra-index-url torch numpy", "", "unknown"),
    ],
)
def test_a_list_that_a_build_names_by_its_path_in_the_image(
    tmp_path: Path, runs: str, asked: str, verdict: str
) -> None:
    dockerfile = f"FROM ubuntu\nCOPY list.txt /app/\nRUN {runs}\n"
    files = {"run.sh": "docker build -t tool .\ndocker run --gpus all -it tool bash\n", "Dockerfile": dockerfile}
    assert need(tmp_path, {**files, "list.txt": asked, "requirements.txt": "torch\n"}).verdict == verdict
