"""Makefiles and justfiles: which files they are, and edits in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, one
from tests.project import fixed, run
from tests.table import table


@pytest.mark.parametrize(
    "name", ["Makefile", "makefile", "GNUmakefile", "x.mk", "sub/docker.mk", "x.makefile", "Makefile.gpu"]
)
def test_makefiles_are_found(tmp_path: Path, name: str) -> None:
    assert one(tmp_path, "a:\n\tdocker run --gpus all IMG\n", name).gpu.requested


@pytest.mark.parametrize("name", ["justfile", "Justfile", ".justfile", "x.just"])
def test_justfiles_are_found(tmp_path: Path, name: str) -> None:
    assert one(tmp_path, "a:\n  docker run --gpus all IMG\n", name).gpu.requested


@table(
    ("name", "before", "after"),
    [
        ("Makefile", "a:\n\tdocker run --gpus all IMG", "a:\n\tdocker run --gpus all --shm-size=8g IMG"),
        ("Makefile", "a:\n\t@docker run \\\n\t\t--gpus all \\\n\t\t-v $$PWD:/w \\\n\t\tIMG\n",
         "a:\n\t@docker run \\\n\t\t--gpus all \\\n\t\t--shm-size=8g \\\n\t\t-v $$PWD:/w \\\n\t\tIMG\n"),
        ("Makefile", "a:\r\n\tdocker run \\\r\n\t  --gpus all \\\r\n\t  IMG\r\n",
         "a:\r\n\tdocker run \\\r\n\t  --gpus all \\\r\n\t  --shm-size=8g \\\r\n\t  IMG\r\n"),
        ("Makefile",
         "G = --gpus all\na:\n\tdocker run $(G) IMG\n", "G = --gpus all\na:\n\tdocker run --shm-size=8g $(G) IMG\n"),
        ("Makefile", "G = --gpus all\na:\n\tdocker run $(G) --rm IMG\n",
         "G = --gpus all\na:\n\tdocker run $(G) --shm-size=8g --rm IMG\n"),
        ("Makefile", "S = 64m\na:\n\tdocker run --gpus all --shm-size=$(S) IMG\n",
         "S = 8g\na:\n\tdocker run --gpus all --shm-size=$(S) IMG\n"),
        ("Makefile", "S ?= 64m  # small\na:\n\tdocker run --gpus all --shm-size $(S) IMG\n",
         "S ?= 8g  # small\na:\n\tdocker run --gpus all --shm-size $(S) IMG\n"),
        ("Makefile", "R = docker run --gpus all\na:\n\t$(R) IMG a\nb:\n\t$(R) IMG b\n",
         "R = docker run --shm-size=8g --gpus all\na:\n\t$(R) IMG a\nb:\n\t$(R) IMG b\n"),
        ("Makefile", "define R\ndocker run --gpus all\nendef\na:\n\t$(R) IMG a\nb:\n\t$(R) IMG b\n",
         "define R\ndocker run --shm-size=8g --gpus all\nendef\na:\n\t$(R) IMG a\nb:\n\t$(R) IMG b\n"),
        ("Makefile", "I := $(shell docker run --gpus all IMG)\n",
         "I := $(shell docker run --gpus all --shm-size=8g IMG)\n"),
        ("Makefile", "a: ; docker run --gpus all IMG\n", "a: ; docker run --gpus all --shm-size=8g IMG\n"),
        ("Makefile",
         "a:\n\tssh h \"docker run --gpus $(N) IMG\"\n", "a:\n\tssh h \"docker run --gpus $(N) --shm-size=8g IMG\"\n"),
        ("Makefile", ".ONESHELL:\na:\n\tO=(--gpus all)\n\tdocker run $${O[@]} IMG\n",
         ".ONESHELL:\na:\n\tO=(--gpus all --shm-size=8g)\n\tdocker run $${O[@]} IMG\n"),
        ("justfile", "a:\n  docker run \\\n    --gpus all \\\n    IMG\n",
         "a:\n  docker run \\\n    --gpus all \\\n    --shm-size=8g \\\n    IMG\n"),
        ("justfile", "s := '64m'\na:\n\tdocker run --gpus all --shm-size={{s}} IMG\n",
         "s := '8g'\na:\n\tdocker run --gpus all --shm-size={{s}} IMG\n"),
        ("justfile",
         "i := 'IMG'\na:\n\t@docker run --gpus all {{i}}\n",
          "i := 'IMG'\na:\n\t@docker run --gpus all --shm-size=8g {{i}}\n"),
    ],
)  # fmt: skip
def test_rewriting(tmp_path: Path, name: str, before: str, after: str) -> None:
    before, after = before.replace("IMG", IMAGE), after.replace("IMG", IMAGE)
    assert fixed(tmp_path, {name: before}) == {name: after}
    assert fixed(tmp_path, {name: after}) == {}


@pytest.mark.parametrize("use", ["$(subst a,b,$(R)) IMG", "$(R) redis"])
@pytest.mark.parametrize("variable", ["R = docker run --gpus all\n", "define R\ndocker run --gpus all\nendef\n"])
def test_a_container_start_that_others_share_stays(tmp_path: Path, variable: str, use: str) -> None:
    text = f"{variable}a:\n\t$(R) IMG x\nb:\n\t{use}\n"
    assert fixed(tmp_path, {"Makefile": text.replace("IMG", IMAGE)}) == {}


@table(
    "line, variable",
    [
        ("export S\n", "64m"),
        ("up: export S\n", "64m"),
        ("up: private export S\n", "64m"),
        ("export $(NAMES)\n", "64m"),
        ("export\n", "64m"),
        ("export T\n", "8g"),
        ("# export S\n", "8g"),
        ("", "8g"),
    ],
)
def test_a_variable_that_programs_get_stays(tmp_path: Path, line: str, variable: str) -> None:
    """A size in it is written into the command instead."""
    makefile = f"S = 64m\n{line}up:\n\tdocker run --gpus all --shm-size=$(S) vllm/vllm-openai -tp 8\n\t./other\n"
    new = fixed(tmp_path, {"Makefile": makefile})["Makefile"]
    assert new.startswith(f"S = {variable}\n{line}") and ("--shm-size=8g" in new) == (variable == "64m")


@table(
    ("above", "known"),
    [
        ("a:\n\t$(MAKE) -C sub run\n", True),
        ("export SHM = 16g\na:\n\t$(MAKE) -C sub run\n", False),
        ("SHM = 16g\nexport\na:\n\t$(MAKE) -C sub run\n", False),
        ("SHM = 16g\na:\n\t$(MAKE) -C sub run\n", True),
        ("a:\n\t$(MAKE) -C sub run SHM=16g\n", False),
        ("export SHM = 16g\na:\n\t$(MAKE) -C other run\n", True),
    ],
)
def test_what_a_makefile_above_gives(tmp_path: Path, above: str, known: bool) -> None:
    files = {"Makefile": above, "sub/Makefile": "SHM ?= 64m\nrun:\n\tdocker run --shm-size=$(SHM) IMG\n"}
    (launch,) = run(tmp_path, files).launches
    assert launch.shm is not None
    assert (launch.shm.known is not None) == known
