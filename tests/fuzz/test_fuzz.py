"""Inputs that nobody wrote end without a traceback, a hang or a file half written."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from shmlint.formats import KINDS
from tests.fuzz.check import NAMES, check
from tests.fuzz.variants import ROOT, files, run, variant

CASES = sorted((ROOT / "tests" / "fuzz" / "cases").glob("*"))
"""What fuzzing found: the kind, a dash and what it was about make the name."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_was_found_stays_mended(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check(case.name.partition("-")[0], case.read_bytes(), tmp_path)


def test_every_kind_has_a_name_and_a_start() -> None:
    assert set(NAMES) == set(KINDS)
    assert {kind for kind, _ in files([ROOT / "fixtures", ROOT / "tests" / "fuzz" / "cases"])} <= set(KINDS)


def test_variants_differ_and_are_made_again() -> None:
    of = files([ROOT / "fixtures"])
    some = [variant(random.Random(seed), of) for seed in range(50)]
    assert some == [variant(random.Random(seed), of) for seed in range(50)]
    assert len(set(some)) > 45


@pytest.mark.fuzz
def test_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # and back at the end
    directories = [ROOT / "fixtures"]
    if "SHMLINT_CORPUS" in os.environ:
        directories.append(Path(os.environ["SHMLINT_CORPUS"]))
    failures = list(run(files(directories), 1000, 7, tmp_path / "work"))
    assert not failures, failures[0]


@pytest.mark.needs("atheris")
@pytest.mark.fuzz
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_guided(kind: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.guided", kind, "-runs=300", "-seed=1", f"-artifact_prefix={tmp_path}/"],
        cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=600,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert " cov: " in done.stderr
