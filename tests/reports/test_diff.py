"""The diff: what ``patch`` takes, and no line more than was changed."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.model.settings import Settings
from shmlint.reports import diff
from shmlint.run import lint
from tests.table import table

LACKING = "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    ports: ['1:1']\n  b:\n    image: redis\n"
FIXED = LACKING.replace("gpus: all\n", "gpus: all\n    shm_size: 8gb\n")


def changes(old: str, new: str) -> str:
    run = lint({"compose": []}, Settings(), Workspace({"compose.yaml": old}))
    return "".join(diff.render(run, {"compose.yaml": new}))


def test_a_change_with_the_lines_around_it() -> None:
    assert changes(LACKING, FIXED) == (
        "--- compose.yaml\n+++ compose.yaml\n@@ -2,6 +2,7 @@\n   a:\n     image: pytorch/pytorch\n     gpus: all\n"
        "+    shm_size: 8gb\n     ports: ['1:1']\n   b:\n     image: redis\n"
    )


def test_without_a_last_newline() -> None:
    assert changes("a: b", "a: b\nc: d") == (
        "--- compose.yaml\n+++ compose.yaml\n@@ -1 +1,2 @@\n-a: b\n\\ No newline at end of file\n"
        "+a: b\n+c: d\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "header"),
    [
        ("", "a\n", "@@ -0,0 +1 @@"),
        ("a\n", "", "@@ -1 +0,0 @@"),
        ("a\nb\n", "b\n", "@@ -1,2 +1 @@"),
        ("a\n", "b\n", "@@ -1 +1 @@"),
    ],
)
def test_places(old: str, new: str, header: str) -> None:
    assert changes(old, new).splitlines()[2] == header


def test_line_endings_stay_and_what_only_looks_like_one() -> None:
    out = changes("a: b\r\n# \f \u2028 \x85\r\n", "a: b\r\n# \f \u2028 \x85\r\nc: d\r\n")
    assert out.endswith("@@ -1,2 +1,3 @@\n a: b\r\n # \f \u2028 \x85\r\n+c: d\r\n")


@pytest.mark.needs("patch", "git")
@table("name", ["a b.yaml", "a\"b.yaml", "\u00e9 \u4e16.yaml", "tab\there.yaml", "new\nline.yaml"])
@table("program", [["patch", "-p0"], ["git", "apply", "-p0"]])
def test_strange_names(name: str, program: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(LACKING)
    run = lint({"compose": [name]}, Settings())
    patch = "".join(diff.render(run, {name: FIXED}))
    assert all(line.isprintable() for line in patch.replace("\t\n", "\n").split("\n"))
    done = subprocess.run(program, input=patch.encode(), cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done
    assert Path(name).read_text() == FIXED


@pytest.mark.needs("patch")
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_patch_takes_it(end: str, newline: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (LACKING.strip() + " # \u00e9\n  c: {image: pytorch/pytorch, gpus: all}" + end).replace("\n", newline)
    Path("compose.yaml").write_bytes(text.encode())
    run = lint({"compose": ["compose.yaml"]}, Settings())
    outcome = fix.fix(run)
    patch = "".join(diff.render(run, outcome.texts)).encode()
    done = subprocess.run(["patch", "-p0", "--binary"], input=patch, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout
    assert Path("compose.yaml").read_bytes() == outcome.texts["compose.yaml"].encode()


def applied(old: str, patch: str) -> str:
    """What ``patch`` makes of a text: a reading of the format that has nothing from the writer."""
    lines = old.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    out: list[str] = []
    at = 0
    rows = patch.split("\n")[2:-1]
    for n, row in enumerate(rows):
        text = row[1:] + ("" if rows[n + 1 : n + 2] == ["\\ No newline at end of file"] else "\n")
        if found := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", row):
            start = int(found[1]) - (found[2] != "0")
            out += lines[at:start]
            at = start
        elif row[:1] in (" ", "-"):
            assert lines[at] == text
            at += 1
        if row[:1] in (" ", "+"):
            out.append(text)
    return "".join(out + lines[at:])


TEXTS = st.lists(st.sampled_from(["a", "b", "  c: d", ""]), max_size=30).map("\n".join)


@given(TEXTS, TEXTS)
def test_it_makes_the_one_text_out_of_the_other(old: str, new: str) -> None:
    assert applied(old, changes(old, new)) == new


@given(st.integers(0, 1000))
def test_far_from_each_other(seed: int) -> None:
    """More new lines in one place than are looked through for the old ones."""
    chance = random.Random(seed)
    old = [chance.choice("abc") for _ in range(300)]
    new = old[:100] + [chance.choice("abc") for _ in range(chance.randrange(200))] + old[100 + chance.randrange(99) :]
    old_text, new_text = "\n".join(old) + "\n", "\n".join(new)
    assert applied(old_text, changes(old_text, new_text)) == new_text


def test_many_equal_lines_do_not_hide_what_changed() -> None:
    """One line in each of 3,000 equal services: the most common lines are as good as any other."""
    service = "  s:\n    image: x\n    gpus: all\n    restart: always\n"
    new = service.replace("gpus: all\n", "gpus: all\n    shm_size: 1gb\n")
    out = changes("services:\n" + service * 3000, "services:\n" + new * 3000).splitlines()[2:]
    changed = [line for line in out if line[:1] in "+-"]
    assert changed == ["+    shm_size: 1gb"] * 3000


def test_changes_close_to_each_other_stay_apart() -> None:
    old = "run a\n\n# next\nrun b\nrun c\nend\n"
    new = "run A\n\n# NEXT\nrun b\nmore\nrun c\nend\n"
    assert changes(old, new).splitlines()[3:] == [
        "-run a", "+run A", " ", "-# next", "+# NEXT", " run b", "+more", " run c", " end",
    ]  # fmt: skip
