"""Justfiles: the commands of their recipes, and their variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, one, seen


@pytest.mark.parametrize(
    ("text", "image", "count", "line"),
    [
        ("i := 'IMG'\na:\n    docker run --gpus all {{i}} x\n", IMAGE, "all", 3),
        ("g := \"--gpus 2\"  # two\na *args:\n\t@docker run {{ g }} IMG {{args}}\n", IMAGE, 2, 3),
        ("a:\n    #!/usr/bin/env bash\n    G='--gpus all'\n    docker run \\\n      $G \\\n      IMG\n", IMAGE,
         "all", 4),
        ("alias b := a\nexport X := '1'\na x y='z': c\n  docker run --gpus all IMG {{x}}\n", IMAGE, "all", 4),
        ("a:\n  docker run --gpus all {{image}}\n", "${image}", "all", 2),
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
        ("o := '--rm' + ' -i'", "a:"), ("o := '--rm' + p", "a:"), ("o := 'x' / 'y'", "a:"),
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
