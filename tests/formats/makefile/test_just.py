"""Justfiles: the commands of their recipes, and their variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, TRAIN, one, seen
from tests.project import fixed, run


@pytest.mark.parametrize(
    ("text", "image", "count", "line"),
    [
        ("i := 'IMG'\na:\n    docker run --gpus all {{i}} x\n", IMAGE, "all", 3),
        ("g := \"--gpus 2\"  # two\na *args:\n\t@docker run {{ g }} IMG {{args}}\n", IMAGE, 2, 3),
        ("a:\n    #!/usr/bin/env bash\n    G='--gpus all'\n    docker run \\\n      $G \\\n      IMG\n", IMAGE,
         "all", 4),
        ("alias b := a\nexport X := '1'\na x y='z': c\n  docker run --gpus all IMG {{x}}\n", IMAGE, "all", 4),
        ("a:\n  docker run --gpus all {{image}}\n", "${image}", "all", 2),
        ("r := 'docker run'\ng := r + \" --gpus 2\" # two\na:\n  {{g}} IMG x\n", IMAGE, 2, 4),
        ("a:\n  {{all}}\nall := d + r + 'IMG x'\nd := 'docker'\nr := ' run --gpus all '\n", IMAGE, "all", 2),
        ("i := 'me' / name\nname := 'train'\na:\n  docker run --gpus all {{i}} x\n", "me/train", "all", 4),
        ("r := 'docker run \\\n  --gpus 1 -v ' + justfile_directory() + ':/w'\na:\n  {{r}} IMG\n", IMAGE, 1, 4),
    ],
)
def test_just(tmp_path: Path, text: str, image: str, count: object, line: int) -> None:
    assert seen(tmp_path, text, "justfile") == (image, count, line)


def test_just_what_is_not_known(tmp_path: Path) -> None:
    assert one(tmp_path, "a opts='':\n  docker run --gpus all {{opts}} IMG\n", "justfile").undecided
    assert one(tmp_path, "o := env_var('O')\na:\n  docker run --gpus all {{o}} IMG\n", "justfile").undecided
    assert one(tmp_path, "o := 'a'\no := 'b'\na:\n  docker run --gpus all {{o}} IMG\n", "justfile").undecided


@pytest.mark.parametrize(
    ("before", "header"),
    [
        ("o := '--rm'", "a o:"), ("o := '--rm'", "a x o='--rm': b"), ("o := '--rm'", "a *o:"),
        ("o := '--rm'", "a $o :"),
        ("o := '--rm' + p", "a:"), ("o := '-' + env('X')", "a:"), ("o := '--rm' + (p)", "a:"), ("o := o + 'x'", "a:"),
        ("o := '--rm' + `date`", "a:"), ("p := 'x'\np := 'y'\no := '--rm ' + p", "a:"), ("o := \"a\\\"b\" + 'c'", "a:"),
    ],
)  # fmt: skip
def test_just_parameters_and_what_is_put_together_are_not_known(tmp_path: Path, before: str, header: str) -> None:
    text = f"{before}\n{header}\n  docker run --gpus all {{{{o}}}} IMG\n"
    assert one(tmp_path, text, "justfile").undecided


def test_just_a_variable_beside_parameters(tmp_path: Path) -> None:
    text = "o := '--rm'\na x y=o: o\n  docker run --gpus all {{o}} IMG\n"
    assert one(tmp_path, text, "justfile").undecided is None


def test_recipes_in_other_languages_are_not_read(tmp_path: Path) -> None:
    text = "a:\n  #!/usr/bin/env python3\n  docker run --gpus all IMG\nb:\n  #!/bin/sh\n  docker run --gpus 1 IMG\n"
    assert one(tmp_path, text, "justfile").gpu.number == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("r := 'docker run --gpus all'\n", 1),
        ("e := 'podman'\nr := e + ' run'\n", 2),
        ("r := 'docker run --gpus all'\na:\n  {{r}} IMG\n", None),
        ("r := 'docker run'\ns := r + ' --rm'\na:\n  {{s}} IMG\n", None),
        ("r := 'docker ps'\n", None),
    ],
)
def test_a_start_in_a_variable_that_only_importing_justfiles_use_is_reported(
    tmp_path: Path, text: str, line: int | None
) -> None:
    found = run(tmp_path, {"docker.just": text}).not_read
    assert [(place.span.line, place.because) for place in found] == (
        [(line, "no recipe is known to run what the variable holds")] if line is not None else []
    )


def test_a_change_of_a_variable_that_others_are_made_of(tmp_path: Path) -> None:
    """The size goes where both recipes get it; in front of the images where it is an argument, or something decides."""
    before = f"r := 'docker run --gpus all'\nf := r + ' --rm'\na:\n  {{{{r}}}} {TRAIN}\nb:\n  {{{{f}}}} {TRAIN}\n"
    after = before.replace("docker run", "docker run --shm-size=8g")
    assert fixed(tmp_path, {"justfile": before}) == {"justfile": after}
    single = before.replace("}} ", "}} --shm-size=8g ")
    decides = "c:\n  {{ if f == 'x' { 'ls' } else { 'df' } }}\n"
    for more in (decides, "g := trim(f)\nc:\n  ls {{g}}\n", "c x=f:\n  ls\n"):
        assert fixed(tmp_path, {"justfile": before + more}) == {"justfile": single + more}


@pytest.mark.parametrize("imports", ["import 'common.just'\n", "import? \"common.just\"\n"])
def test_a_variable_that_an_importing_justfile_has_stays(tmp_path: Path, imports: str) -> None:
    """The size is written into the command instead."""
    common = f"s := '64m'\na:\n  docker run --gpus all --shm-size={{{{s}}}} {TRAIN}\n"
    other = "b:\n  ./tool {{s}}\n"
    in_command = common.replace("{{s}}", "8g")
    assert fixed(tmp_path, {"common.just": common, "justfile": imports + other}) == {"common.just": in_command}
    in_variable = common.replace("64m", "8g")
    assert fixed(tmp_path, {"common.just": common, "justfile": other}) == {"common.just": in_variable}
