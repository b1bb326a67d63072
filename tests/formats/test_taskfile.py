"""Taskfiles: the commands of tasks, templates that the file fills, and edits in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, RUN, TRAIN, launches, one, seen
from tests.project import findings, fixed, run
from tests.table import table

NAME = "Taskfile.yml"


@table(
    ("text", "image", "line"),
    [
        (f"tasks:\n  a: {RUN} IMG\n", IMAGE, 2),
        (f"tasks:\n  a:\n    - {RUN} IMG\n", IMAGE, 3),
        (f"tasks:\n  a:\n    cmds:\n      - '{RUN} IMG'\n", IMAGE, 4),
        (f"tasks:\n  a:\n    cmd: >-\n      {RUN}\n      IMG\n", IMAGE, 4),
        (f"tasks:\n  a:\n    cmds:\n      - cmd: |\n          {RUN} \\\n            IMG\n", IMAGE, 5),
        (f"tasks:\n  a:\n    cmds:\n      - defer: {RUN} IMG\n      - task: b\n", IMAGE, 4),
        (f"vars:\n  I: IMG\ntasks:\n  a: {RUN} {{{{.I}}}}\n", IMAGE, 4),
        (f"vars:\n  T: 24.01-py3\n  I: nvcr.io/nvidia/pytorch:{{{{ .T }}}}\ntasks:\n  a: {RUN} {{{{ .I }}}}\n",
         IMAGE, 5),
        (f"vars: {{I: x}}\ntasks:\n  a:\n    vars: {{I: IMG}}\n    cmds: ['{RUN} {{{{.I}}}}']\n", IMAGE, 5),
        (f"env: {{I: IMG}}\ntasks:\n  a: {RUN} $I\n", IMAGE, 3),
        (f"vars:\n  I:\n    sh: {RUN} IMG\ntasks: {{a: b}}\n", IMAGE, 3),
        (f"tasks:\n  a: {RUN} r/{{{{.T}}}}:1\n", "r/{{.T}}:1", 2),
        (f"vars: {{T: a}}\ntasks:\n  a: {RUN} {{{{.T}}}}\n  b: [{{task: a, vars: {{T: c}}}}]\n", "{{.T}}", 3),
        (f"vars: {{T: {{sh: date}}}}\ntasks:\n  a: {RUN} r:{{{{.T}}}}\n", "r:{{.T}}", 3),
        (f"tasks:\n  a: {RUN} {{{{default \"x\" .IMAGE}}}}\n", '{{default "x" .IMAGE}}', 2),
        (f"vars: {{A: '{{{{.B}}}}', B: '{{{{.A}}}}'}}\ntasks:\n  a: {RUN} r:{{{{.A}}}}\n", "r:{{.A}}", 3),
    ],
)  # fmt: skip
def test_commands(tmp_path: Path, text: str, image: str, line: int) -> None:
    assert seen(tmp_path, text, NAME) == (image, "all", line)


@table("options", ["{{if .GPU}}--gpus all{{end}}", "{{- if eq .X \"1\" }} --gpus all {{ else }}-it{{end}}"])
def test_options_that_a_template_decides_about(tmp_path: Path, options: str) -> None:
    launch = one(tmp_path, f"tasks:\n  a:\n    - docker run {options} {IMAGE} serve\n", NAME)
    assert launch.image is not None and launch.image.known == IMAGE
    assert launch.gpu.requested is None and launch.gpu.unknown is not None


@pytest.mark.parametrize("name", ["Taskfile.yaml", "taskfile.dist.yml", "sub/docker.Taskfile.yml"])
def test_taskfiles_are_found(tmp_path: Path, name: str) -> None:
    assert one(tmp_path, f"tasks:\n  a: {RUN} IMG\n", name).gpu.requested


def test_an_included_file_has_any_name(tmp_path: Path) -> None:
    text = f"version: '3'\ntasks:\n  a:\n    cmds:\n      - {RUN} IMG\n"
    assert one(tmp_path, text, "tasks/docker.yml").gpu.requested
    assert not launches(tmp_path, text.replace("version: '3'\n", ""), "tasks/docker.yml")
    for tasks in (
        f"tasks:\n  a: {RUN} IMG\n", f"tasks: # of a\n\n  # b\n  'a:b':\n    - {RUN} IMG\n",
        f"tasks: {{a: '{RUN} IMG'}}\n", f"tasks:\r\n  a: {RUN} IMG\r\n",
    ):  # fmt: skip
        assert one(tmp_path, f"version: 3\n{tasks}", "tasks/docker.yml").gpu.requested
    other = f"version: 3\ntasks:\n  a:\n    shell: {RUN} IMG\n"
    assert [place.span.line for place in run(tmp_path, {"tasks/docker.yml": other}).not_read] == [4]
    assert not launches(tmp_path, f"version: 3\ntasks:\n- shell: {RUN} IMG\n  cmd: x\n", "tasks/docker.yml")
    assert not launches(tmp_path, f"version: 3\ntasks:\n  - shell: {RUN} IMG\n  cmd: x\n", "tasks/docker.yml")
    assert not launches(tmp_path, f"- hosts: all\n  tasks:\n    - shell: {RUN} IMG\n", "tasks/docker.yml")


@pytest.mark.parametrize(
    "text",
    [
        f"tasks:\n  a:\n    desc: {RUN} IMG\n    summary: |\n      {RUN} IMG\n",
        f"vars:\n  I: {RUN} IMG\ntasks:\n  a: echo {{{{.I}}}}\n",
        f"a: {RUN} IMG\n",
        "tasks: [docker]\n",
        "docker\n",
    ],
)
def test_no_launches(tmp_path: Path, text: str) -> None:
    assert not launches(tmp_path, text, NAME)


def test_what_is_given_on_the_command_line_is_not_known(tmp_path: Path) -> None:
    launch = one(tmp_path, f"tasks:\n  a: {RUN} {{{{.CLI_ARGS}}}} IMG\n", NAME)
    assert launch.undecided is not None and "{{.CLI_ARGS}}" in launch.undecided.because


def test_a_file_that_is_no_yaml_is_reported(tmp_path: Path) -> None:
    assert [f.rule for f in findings(tmp_path, {"Taskfile.yml": "tasks: [docker"})] == ["SHM001"]


@table(
    ("before", "after"),
    [
        (f"tasks:\n  a: {RUN} {TRAIN}", f"tasks:\n  a: {RUN} --shm-size=8g {TRAIN}"),
        (f"tasks:\n  a:\n    - |\n      {RUN} \\\n        {TRAIN}\n",
         f"tasks:\n  a:\n    - |\n      {RUN} --shm-size=8g \\\n        {TRAIN}\n"),
        (f"vars: {{S: 64m}}\ntasks:\n  a: {RUN} --shm-size={{{{.S}}}} {TRAIN}\n",
         f"vars: {{S: 8g}}\ntasks:\n  a: {RUN} --shm-size={{{{.S}}}} {TRAIN}\n"),
        (f"vars: {{O: '--gpus all'}}\ntasks:\n  a: docker run {{{{.O}}}} {TRAIN}\n",
         f"vars: {{O: '--gpus all'}}\ntasks:\n  a: docker run --shm-size=8g {{{{.O}}}} {TRAIN}\n"),
    ],
)  # fmt: skip
def test_rewriting(tmp_path: Path, before: str, after: str) -> None:
    assert fixed(tmp_path, {"Taskfile.yml": before}) == {"Taskfile.yml": after}
    assert fixed(tmp_path, {"Taskfile.yml": after}) == {}


def test_comments(tmp_path: Path) -> None:
    text = f"tasks:\n  a:\n    # shmlint: ignore[SHM101]\n    - {RUN} {TRAIN}\n".replace("IMG", IMAGE)
    assert findings(tmp_path, {"Taskfile.yml": text}) == []
