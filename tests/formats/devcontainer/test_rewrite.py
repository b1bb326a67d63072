"""Variables, ulimits and IPC modes of dev containers rewritten: comments, commas and indentation stay."""

from __future__ import annotations

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.model.settings import Settings
from shmlint.model.source import Source, apply_edits
from shmlint.run import Run, lint
from shmlint.syntax.json import parse
from tests.table import table

PATH = ".devcontainer/devcontainer.json"


def read(text: str, rule: str) -> Run:
    return lint({"devcontainer": [PATH]}, Settings(select=(rule,)), Workspace().over({PATH: text}))


def fixed(text: str, rule: str) -> str:
    outcome = fix.fix(read(text, rule), unsafe=True)
    assert not outcome.unproved
    after = outcome.texts.get(PATH, text)
    assert parse(Source(PATH, after))[1] == []
    return after


V = '"NCCL_P2P_DISABLE": "1"'
E = "NCCL_P2P_DISABLE=1"

DROPS: dict[str, tuple[str, str]] = {
    "first property": (
        '{\n  "image": "x",\n  "containerEnv": {\n    ' + V + ', // why\n    "B": "2" // b\n  }\n}\n',
        '{\n  "image": "x",\n  "containerEnv": {\n    "B": "2" // b\n  }\n}\n',
    ),
    "last property": (
        '{\n  "image": "x",\n  "containerEnv": {\n    "B": "2", // b\n    // next\n    ' + V + "\n  }\n}\n",
        '{\n  "image": "x",\n  "containerEnv": {\n    "B": "2" // b\n    // next\n  }\n}\n',
    ),
    "last property, trailing comma": (
        '{\n\t"image": "x",\n\t"containerEnv": {\n\t\t"B": "2",\n\t\t' + V + ",\n\t},\n}\n",
        '{\n\t"image": "x",\n\t"containerEnv": {\n\t\t"B": "2",\n\t},\n}\n',
    ),
    "only property, last": (
        '{\n  "image": "x",\n  "containerEnv": {\n    ' + V + "\n  }\n}\n", '{\n  "image": "x"\n}\n'
    ),
    "only property, first": (
        '{\n  "containerEnv": { ' + V + ' },\n  "image": "x"\n}\n', '{\n  "image": "x"\n}\n'
    ),
    "only property, on one line": ('{"image": "x", "containerEnv": {' + V + "}}", '{"image": "x"}'),
    "on one line, between": (
        '{"image": "x", "containerEnv": {"A": "1", ' + V + ', "B": "2"}}',
        '{"image": "x", "containerEnv": {"A": "1", "B": "2"}}',
    ),
    "arguments, last": (
        '{"image": "x", "runArgs": ["--gpus", "all", "-e", "' + E + '"]}',
        '{"image": "x", "runArgs": ["--gpus", "all"]}',
    ),
    "arguments, first": (
        '{"image": "x", "runArgs": ["-e", "' + E + '", "--gpus", "all"]}',
        '{"image": "x", "runArgs": ["--gpus", "all"]}',
    ),
    "arguments, packed": (
        '{"image": "x", "runArgs": ["--gpus=all","--env=' + E + '","--rm"]}',
        '{"image": "x", "runArgs": ["--gpus=all","--rm"]}',
    ),
    "arguments, one a line": (
        '{\n  "image": "x",\n  "runArgs": [\n    "--gpus",\n    "all",\n    "-e", // v\n    "' + E + '"\n  ]\n}\n',
        '{\n  "image": "x",\n  "runArgs": [\n    "--gpus",\n    "all"\n  ]\n}\n',
    ),
    "arguments, two a line": (
        '{\n  "image": "x",\n  "runArgs": [\n    "--gpus", "all",\n    "-e", "' + E + '",\n  ],\n}\n',
        '{\n  "image": "x",\n  "runArgs": [\n    "--gpus", "all",\n  ],\n}\n',
    ),
    "arguments, none left": (
        '{\n  "image": "x",\n  "runArgs": ["-e", "' + E + '"],\n  "name": "y"\n}\n',
        '{\n  "image": "x",\n  "name": "y"\n}\n',
    ),
    "both": (
        '{"image": "x", "containerEnv": {' + V + '}, "runArgs": ["-e", "' + E + '"]}', '{"image": "x"}'
    ),
    "both, others left": (
        '{"image": "x", "containerEnv": {' + V + ', "A": "1"}, "runArgs": ["-e", "' + E + '", "--rm"]}',
        '{"image": "x", "containerEnv": {"A": "1"}, "runArgs": ["--rm"]}',
    ),
}  # fmt: skip


@table(("before", "after"), DROPS.values(), ids=DROPS)
@table("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_variable_goes(before: str, after: str, newline: str) -> None:
    assert fixed(before.replace("\n", newline), "NCCL501") == after.replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    [
        '{"containerEnv": {' + V + "}}",
        '{"image": "x", "runArgs": ["-ite", "' + E + '"]}',
        '{"image": "x", "containerEnv": {"NCCL_P2P_DISABLE": "${localEnv:P2P}"}}',
        '{"image": "x", "containerEnv": {' + V + "}",
    ],
    ids=["nothing else", "cluster", "the host's", "broken"],
)
def test_what_stays(text: str) -> None:
    assert fix.fix(read(text, "NCCL501"), unsafe=True).texts == {}


RENAMES = [
    ('{"image": "x", "containerEnv": {"NCCL_BLOCKING_WAIT": "1"}}',
     '{"image": "x", "containerEnv": {"TORCH_NCCL_BLOCKING_WAIT": "1"}}'),
    ('{"image": "x", "runArgs": ["-e", "NCCL_BLOCKING_WAIT=1"]}',
     '{"image": "x", "runArgs": ["-e", "TORCH_NCCL_BLOCKING_WAIT=1"]}'),
    ('{"image": "x", "runArgs": ["--env=NCCL_BLOCKING_WAIT=1"], "containerEnv": {"NCCL_BLOCKING_WAIT": "0"}}',
     '{"image": "x", "runArgs": ["--env=TORCH_NCCL_BLOCKING_WAIT=1"], '
     '"containerEnv": {"TORCH_NCCL_BLOCKING_WAIT": "0"}}'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), RENAMES)
def test_a_variable_gets_another_name(before: str, after: str) -> None:
    assert fixed(before, "NCCL505") == after


LIMITS = [
    ('{"image": "x", "runArgs": ["--gpus", "all", "--device=/dev/infiniband"]}',
     '{"image": "x", "runArgs": ["--ulimit=memlock=-1", "--gpus", "all", "--device=/dev/infiniband"]}'),
    ('{"image": "x", "runArgs": ["--gpus=all", "--device=/dev/infiniband", "--ulimit", "memlock=1:1"]}',
     '{"image": "x", "runArgs": ["--gpus=all", "--device=/dev/infiniband", "--ulimit", "memlock=-1"]}'),
    ('{"image": "x", "runArgs": ["--gpus=all", "--device=/dev/infiniband", "--ulimit=memlock=1"]}',
     '{"image": "x", "runArgs": ["--gpus=all", "--device=/dev/infiniband", "--ulimit=memlock=-1"]}'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), LIMITS)
def test_a_ulimit_is_set(before: str, after: str) -> None:
    assert fixed(before, "NCCL504") == after


@pytest.mark.parametrize(
    ("before", "mode", "after"),
    [
        ('{"image": "x", "runArgs": ["--gpus=all", "--ipc=host"]}', "", '{"image": "x", "runArgs": ["--gpus=all"]}'),
        ('{"image": "x", "runArgs": ["--ipc", "host", "--rm"]}', "", '{"image": "x", "runArgs": ["--rm"]}'),
        ('{"image": "x", "runArgs": ["--ipc=host"]}', "", '{"image": "x"}'),
        ('{"image": "x", "runArgs": ["--ipc=host"]}', "private", '{"image": "x", "runArgs": ["--ipc=private"]}'),
        ('{"image": "x"}', "private", '{"runArgs": ["--ipc=private"], "image": "x"}'),
        ('{"image": "x"}', "", None),
    ],
)
def test_an_ipc_mode_is_set(before: str, mode: str, after: str | None) -> None:
    (launch,) = read(before, "NCCL").launches
    changes = launch.rewriter.set_ipc(mode)
    assert (apply_edits(before, changes[0].edits) if changes else None) == after


def test_a_dev_container_of_a_project_is_fixed_in_the_compose_file() -> None:
    before = "services:\n  a:\n    image: x\n    gpus: all\n    environment:\n      - NCCL_P2P_DISABLE=1\n      - A=1\n"
    texts = {PATH: '{"dockerComposeFile": "../compose.yaml", "service": "a"}', "compose.yaml": before}
    files = {"compose": ["compose.yaml"], "devcontainer": [PATH]}
    outcome = fix.fix(lint(files, Settings(select=("NCCL501",)), Workspace().over(texts)), unsafe=True)
    assert outcome.texts == {"compose.yaml": before.replace("      - NCCL_P2P_DISABLE=1\n", "")}
    assert not outcome.unproved and not outcome.run.findings
