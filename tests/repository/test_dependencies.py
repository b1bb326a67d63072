"""What is imported is declared, and nothing else is."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def name_of(requirement: str) -> str:
    """A distribution's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~;\[]", requirement)[0]).lower()


@pytest.mark.slow
def test_imports_are_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {name_of(requirement) for requirement in project["dependencies"]}
    imported = set()
    for path in (ROOT / "shmlint").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Constant) and re.fullmatch("tree_sitter_[a-z]+", str(node.value)):
                imported.add(str(node.value))  # loaded by its name
    foreign = imported - {"shmlint"} - sys.stdlib_module_names
    homes = packages_distributions()
    used = set()
    for name in sorted(foreign):
        mine = declared & {name_of(home) for home in homes[name]}  # several may share a namespace
        assert mine, f"{name} is imported, but nothing that is declared brings it"
        used |= mine
    assert used == declared


def test_the_action_installs_fixed_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / ".github" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    fixed = {name_of(line) for line in lines if not line.startswith("#")}
    assert {name_of(requirement) for requirement in project["dependencies"]} <= fixed
    assert all("==" in line for line in lines if not line.startswith("#"))
