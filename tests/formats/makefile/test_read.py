"""Makefiles and justfiles: which files they are, and edits in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, one
from tests.project import fixed, run
from tests.table import table


@pytest.mark.parametrize(
    "name", ["Makefile", "makefile", "GNUmakefile", "x.mk", "sub/docker.mk", "docker.mak", "x.makefile", "Makefile.gpu"]
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
    """The size goes in front of the image."""
    text = f"{variable}a:\n\t$(R) IMG x\nb:\n\t{use}\n"
    after = text.replace("$(R) IMG x", "$(R) --shm-size=8g IMG x").replace("IMG", IMAGE)
    assert fixed(tmp_path, {"Makefile": text.replace("IMG", IMAGE)}) == {"Makefile": after}


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


RUN = "SHM ?= 64m\nbuild:\n\tdocker build .\nall: run\nrun:\n\tdocker run --shm-size=$(SHM) IMG\n"
JOBS = "on: push\njobs:\n  a:\n    runs-on: x\n    {}\n    steps:\n    - run: {}\n"
FLOW = ".github/workflows/a.yml"


@table(
    ("files", "known"),
    [
        ({}, True),
        ({"x.sh": "make run SHM=16g\n"}, False),
        ({"x.sh": "make all SHM:=16g\n"}, False),
        ({"x.sh": "SHM=16g gmake -j 4 all\n"}, False),
        ({"x.sh": "sudo env SHM=16g make run\n"}, False),
        ({"x.sh": "timeout 10m make SHM=16g\n"}, False),
        ({"x.sh": "export SHM=16g\nmake run\n"}, False),
        ({"x.sh": "make $TARGET SHM=16g\n"}, False),
        ({"tools/x.sh": 'cd "$(dirname "$0")/.." && make run SHM=16g\n'}, False),
        ({"tools/x.sh": "make run SHM=16g\n"}, False),
        ({FLOW: JOBS.format("env: {SHM: 16g}", "make run")}, False),
        ({FLOW: JOBS.format("env: {}", "make run SHM=16g")}, False),
        ({"Jenkinsfile": "steps { sh 'make run SHM=16g' }\n"}, False),
        ({"Taskfile.yml": "version: 3\ntasks: {up: {cmds: [make run SHM=16g]}}\n"}, False),
        ({"justfile": "up:\n  make run SHM=16g\n"}, False),
        ({".envrc": "export SHM=16g\n"}, False),
        ({".envrc": "export SHM=64m\n"}, True),
        ({"x.sh": "make run SHM=64m\n"}, True),
        ({"x.sh": "export SHM=64m\nmake run\n"}, True),
        ({"x.sh": "SHM=16g\nmake run\n"}, True),
        ({"x.sh": "export SHM=16g\n"}, True),
        ({"x.sh": "make build SHM=16g\n"}, True),
        ({"x.sh": "make run MY_SHM=16g\n"}, True),
        ({"x.sh": "echo make run SHM=16g\n# make run SHM=16g\ndocker run IMG make run SHM=16g\n"}, True),
        ({"x.sh": "make -C other run SHM=16g\n"}, True),
        ({"x.sh": "make -f other.mk run SHM=16g\n"}, True),
        ({"README.md": "```sh\nmake run SHM=16g\n```\n"}, True),
        ({FLOW: JOBS.format("defaults: {run: {working-directory: sub}}", "make run SHM=16g")}, True),
    ],
)
def test_what_other_files_give_to_make(tmp_path: Path, files: dict[str, str], known: bool) -> None:
    (launch,) = [one for one in run(tmp_path, {"Makefile": RUN, **files}).launches if one.span.path == "Makefile"]
    assert launch.shm is not None
    assert (launch.shm.known is not None) == known


@table(
    ("files", "known"),
    [
        ({"x.sh": "make -C gpu run SHM=16g\n"}, False),
        ({"x.sh": "make -f gpu/Makefile run SHM=16g\n"}, False),
        ({"x.sh": "cd gpu\nmake run SHM=16g\n"}, False),
        ({"x.sh": 'cd "$HERE/gpu"\nmake run SHM=16g\n'}, False),
        ({"x.sh": 'make --directory="$ROOT"/gpu run SHM=16g\n'}, False),
        ({FLOW: JOBS.format("defaults: {run: {working-directory: gpu}}", "make run SHM=16g")}, False),
        ({"Makefile": "up:\n\tmake -C gpu run SHM=16g\n"}, False),
        ({"Makefile": "up:\n\tcd gpu && $(MAKE) run SHM=16g\n"}, False),
        ({"x.sh": "make run SHM=16g\n"}, True),
        ({"x.sh": 'cd "$HERE/cpu"\nmake run SHM=16g\n', "cpu/Makefile": "run:\n\tls\n"}, True),
        ({FLOW: JOBS.format("env: {}", "make run SHM=16g")}, True),
    ],
)
def test_make_is_started_in_a_directory(tmp_path: Path, files: dict[str, str], known: bool) -> None:
    (launch,) = run(tmp_path, {"gpu/Makefile": RUN, **files}).launches
    assert launch.shm is not None
    assert (launch.shm.known is not None) == known


@table(
    ("start", "words", "environment"),
    [
        ("SHM ?= 64m", False, False), ("SHM = 64m", False, True), ("SHM := 64m", False, True),
        ("override SHM = 64m", True, True),
    ],
)  # fmt: skip
def test_what_a_start_of_make_replaces(tmp_path: Path, start: str, words: bool, environment: bool) -> None:
    files = {"Makefile": f"{start}\nrun:\n\tdocker run --shm-size=$(SHM) IMG\n"}
    for line, known in (("make run SHM=16g", words), ("SHM=16g make run", environment)):
        (launch,) = run(tmp_path, {**files, "x.sh": f"{line}\n"}).launches
        assert launch.shm is not None
        assert (launch.shm.known is not None) == known


def test_makefiles_that_start_each_other(tmp_path: Path) -> None:
    files = {"Makefile": f"{RUN}sub:\n\tmake -C sub run SHM=1g\n", "sub/Makefile": f"{RUN}up:\n\tmake -C .. run\n"}
    known = {one.span.path: one.shm is not None and one.shm.known is not None for one in run(tmp_path, files).launches}
    assert known == {"Makefile": True, "sub/Makefile": False}
