"""What is said of Python programs, against what a stand-in for PyTorch sees when it runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracles.python_programs import LARGE, LARGE_IMPORTS, PythonProgram, made, uses, written
from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

PROGRAMS = list(written())
_MADE = 80
"""Programs that are put together by chance."""


def is_right(program: PythonProgram, directory: Path) -> bool:
    """Whether nothing false is said: not needed of a program that needs it, or an error where it needs none."""
    files = {"compose.yaml": compose(program.command), "Dockerfile": DOCKERFILE, **program.files}
    verdict = need(directory, files).verdict
    wrong = {"needs": ("not-needed",), "perhaps": ("needed",), "plain": ("needed", "likely", "unknown")}
    return verdict not in wrong[program.use]


@pytest.mark.slow
@table("program", PROGRAMS[::2], ids=lambda program: program.name)
def test_no_program_that_uses_shared_memory_is_called_not_needed(tmp_path: Path, program: PythonProgram) -> None:
    assert is_right(program, tmp_path), program.files


@pytest.mark.slow
@table("program", PROGRAMS[1::2], ids=lambda program: program.name)
def test_no_program_that_needs_it_is_called_not_needed(tmp_path: Path, program: PythonProgram) -> None:
    assert is_right(program, tmp_path), program.files


LAUNCHES = list(written("launches.txt"))
WRONG = {"unsure": ("needed",), "some": ("not-needed",), "none": ("needed", "likely", "unknown")}
"""Verdicts that are wrong of launches that a reader is not sure of, that need some, and that need none."""


@table("launch", LAUNCHES, ids=lambda launch: launch.name)
def test_an_error_rests_on_what_is_known(tmp_path: Path, launch: PythonProgram) -> None:
    files = {"fit.py": f"{LARGE_IMPORTS}for batch in {LARGE}:\n    print(batch)\n", **launch.files}
    if not any(path.endswith((".yaml", ".yml", "run.sh")) for path in files):
        files["compose.yaml"] = compose(launch.command)
    verdict = need(tmp_path, {"Dockerfile": DOCKERFILE, **files}).verdict
    assert verdict == "needed" if launch.use == "sure" else verdict not in WRONG[launch.use]


@pytest.mark.slow
@pytest.mark.needs("posix")
@table("program", PROGRAMS, ids=lambda program: program.name)
def test_the_programs_do_what_is_written_of_them(tmp_path: Path, program: PythonProgram) -> None:
    assert bool(uses(program, tmp_path)) == (program.use == "needs")


@pytest.mark.slow
@pytest.mark.needs("posix")
@table("number", range(_MADE))
def test_programs_that_are_put_together_by_chance(tmp_path: Path, number: int) -> None:
    program = made(number)
    assert bool(uses(program, tmp_path)) == (program.use == "needs")
    assert is_right(program, tmp_path), program.files["fit.py"]
