"""What projects and environments declare."""

from __future__ import annotations

from shmlint.model.source import Source
from shmlint.workloads.packages.declared import declared
from tests.table import table

PYPROJECT = """
[build-system]
requires = ["setuptools"]

[project]
keywords = ["torch"]
dependencies = [
    "numpy>=1",
    "own @ git+https://example.org/own.git",
]

[project.optional-dependencies]
train = ["lightning"]

[dependency-groups]
dev = ["pytest", {include-group = "train"}]

[tool.poetry.dependencies]
python = "^3.11"
scipy = "^1"
jax = {version = "^0.4", optional = true}

[tool.poetry.group.docs.dependencies]
mkdocs = "*"
"""
CONDA = """
name: own
channels: [pytorch, conda-forge]
dependencies:
  - python=3.11
  - conda-forge::numpy
  - pip:
      - "vllm==0.6"
      - git+https://example.org/own.git
"""
CFG = """
[metadata]
keywords = torch
[options]
install_requires =
    numpy
    scipy>=1
[options.extras_require]
train = lightning; ray
"""
SETUP = """
from setuptools import setup
REQUIREMENTS = ["numpy"]
setup(
    keywords=["torch"],
    install_requires=[*REQUIREMENTS, "scipy"],
    extras_require={"train": ["lightning"]},
)
"""


@table(
    "path, text, entries",
    [
        ("pyproject.toml", PYPROJECT,
         ["8 numpy>=1", "9 own @ git+https://example.org/own.git", "13 +lightning", "16 +pytest", "20 scipy", "21 +jax",
          "24 +mkdocs"]),
        ("environment.yml", CONDA,
         ["5 python=3.11", "6 conda-forge::numpy", "8 vllm==0.6", "9 git+https://example.org/own.git"]),
        ("setup.cfg", CFG, ["6 numpy", "7 scipy>=1", "9 +lightning", "9 +ray"]),
        ("own/setup.py", SETUP, ["3 numpy", "6 scipy", "7 +lightning"]),
        ("pyproject.toml", "[project]\nname = 'own'\n", []),
        ("environment.yml", "name: own\n", []),
    ],
)  # fmt: skip
def test_the_requirements_and_their_lines(path: str, text: str, entries: list[str]) -> None:
    found = declared(Source(path, text))
    assert found is not None
    assert [f"{one.span.line} {'+' * one.extra}{one.text}" for one in found] == entries


@table(
    "path, text",
    [
        ("pyproject.toml", "[project\n"),
        ("pyproject.toml", "a=" + "[" * 5000),
        ("environment.yml", "dependencies: [\n"),
        ("environment.yml", "- torch\n"),
        ("setup.cfg", "[options\n"),
        ("setup.py", "setup(\n"),
        ("requirements.txt", "torch\n"),
    ],
)
def test_what_is_not_read(path: str, text: str) -> None:
    assert declared(Source(path, text)) is None
