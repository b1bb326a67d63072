"""Tests that need a program: their markers, and what happens where it is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import settings

from tests.needs import LACKING, REQUIRED

ROOT = Path(__file__).parents[2]
OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
MARKERS = {line.partition(":")[0] for line in OPTIONS["markers"] if not line.startswith("needs(")}


def test_every_marker_is_deselected_run_in_ci_and_documented() -> None:
    assert set(re.findall(r"\w+", OPTIONS["addopts"][-1])) - {"not", "or"} == MARKERS
    runs = re.findall(r'^marks="(.*)"|-m (fuzz)$', (ROOT / ".ci" / "run").read_text("utf-8"), re.M)
    assert {name for run in runs for name in " ".join(run).split()} - {"or"} == MARKERS
    documented = re.findall(r"^\| (`.*?) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)
    assert {name for cell in documented for name in re.findall(r"`(\w+)`", cell)} == MARKERS
    assert set(REQUIRED) <= MARKERS and MARKERS - {"slow", "fuzz", "packaging"} <= set(LACKING)


def test_generated_examples_are_the_same_in_every_run() -> None:
    fixed = settings.get_profile("fixed")
    assert fixed.derandomize and fixed.database is None


@pytest.mark.slow
@pytest.mark.needs("posix")
@pytest.mark.parametrize(("judges", "status"), [("", 0), ("engine", 0), ("required", 1), ("engine,docker_client", 1)])
def test_without_its_oracle_a_test_is_skipped_or_fails(judges: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-m", "docker_client", "tests/docker/test_images.py"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PATH": "", "SHMLINT_JUDGES": judges},
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    assert "`docker` is not on PATH" in done.stdout
    assert ("1 error" if status else "1 skipped") in done.stdout
