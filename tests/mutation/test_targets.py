"""The targets of mutation testing name code and tests that exist."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_target_names_functions_of_its_module() -> None:
    targets = sorted(Path(__file__).parent.glob("*.toml"))
    assert targets
    for target in targets:
        given = tomllib.loads(target.read_text(encoding="utf-8"))["cosmic-ray"]
        tree = ast.parse((ROOT / given["module-path"]).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert set(given.get("functions", ())) <= functions, target.name
        assert (ROOT / given["test-command"].split()[-1]).exists(), target.name
