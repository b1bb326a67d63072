"""Options of a command taken away, renamed and added: the text before and after, byte for byte."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix as fixing
from shmlint.model.settings import Settings
from shmlint.model.source import apply_edits
from shmlint.run import Run, lint
from tests.table import table

NAME = "NCCL_P2P_DISABLE"
"""Stands for ``V`` in the texts below."""


def read(text: str, rule: str, path: str = "x.sh", kind: str = "shell") -> Run:
    return lint({kind: [path]}, Settings(select=(rule,)), Workspace().over({path: text}))


def fixed(text: str, rule: str, path: str = "x.sh", kind: str = "shell") -> str:
    outcome = fixing.fix(read(text, rule, path, kind), unsafe=True)
    assert not outcome.unproved
    return outcome.texts.get(path, text)


def accepted(text: str) -> bool:
    """Whether bash finds nothing wrong with the syntax."""
    return subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True).returncode == 0


DROPS = [
    ("docker run --gpus all -e V=1 IMG x\n", "docker run --gpus all IMG x\n"),
    ("docker run -e V=1 IMG", "docker run IMG"),
    ("docker run   -e   V=1   --rm   IMG\n", "docker run   --rm   IMG\n"),
    ("docker run --env V=1 --rm IMG\n", "docker run --rm IMG\n"),
    ("docker run --env=V=1 -e A=2 IMG\n", "docker run -e A=2 IMG\n"),
    ("docker run -eV=1 IMG\n", "docker run IMG\n"),
    ("docker run -e=V=1 IMG\n", "docker run IMG\n"),
    ("docker run -e 'V=1' -e \"B=$C\" IMG\n", "docker run -e \"B=$C\" IMG\n"),
    ("docker run \"--env=V=1\" IMG\n", "docker run IMG\n"),
    ("docker run -e V=0 -e A=1 -e V=1 IMG\n", "docker run -e A=1 IMG\n"),
    ("podman run -e V=1 IMG # -e V=1\n", "podman run IMG # -e V=1\n"),
    ("x=$(docker run -d -e V=1 IMG)\n", "x=$(docker run -d IMG)\n"),
    ("docker run -e V=1 IMG a; docker run -e V=1 IMG b\n", "docker run IMG a; docker run IMG b\n"),
    ("docker run \\\n  --rm \\\n  -e V=1 \\\n  -e B=2 \\\n  IMG\n", "docker run \\\n  --rm \\\n  -e B=2 \\\n  IMG\n"),
    ("docker run \\\r\n  --rm \\\r\n  -e V=1 \\\r\n  IMG\r\n", "docker run \\\r\n  --rm \\\r\n  IMG\r\n"),
    ("docker run \\\n\t-e \\\n\tV=1 \\\n\tIMG\n", "docker run \\\n\tIMG\n"),
    ("docker run \\\n  --rm \\\n  -e V=1 IMG x\n", "docker run \\\n  --rm \\\n  IMG x\n"),
    ("docker run \\\n  --rm -e V=1 \\\n  IMG\n", "docker run \\\n  --rm \\\n  IMG\n"),
    ("docker run --rm -e V=1 \\\n  -e B=2 \\\n  IMG\n", "docker run --rm \\\n  -e B=2 \\\n  IMG\n"),
    ('A=(--rm -e V=1)\ndocker run "${A[@]}" IMG\n', 'A=(--rm)\ndocker run "${A[@]}" IMG\n'),
    ('A=(\n  --rm\n  -e V=1  # why\n  -e B=2\n)\ndocker run "${A[@]}" IMG\n',
     'A=(\n  --rm\n  -e B=2\n)\ndocker run "${A[@]}" IMG\n'),
    ('A=(--rm -e V=1)\ndocker run "${A[@]}" IMG a\ndocker run "${A[@]}" IMG b\n',
     'A=(--rm)\ndocker run "${A[@]}" IMG a\ndocker run "${A[@]}" IMG b\n'),
    ("\ufeff# \u6f22 \U0001f389\ndocker run -e A=\u00e9 -e V=1 IMG\n",
     "\ufeff# \u6f22 \U0001f389\ndocker run -e A=\u00e9 IMG\n"),
]  # fmt: skip

KEPT = [
    "docker run -ite V=1 IMG\n",
    'E="-e V=1"\ndocker run $E IMG\n',
    "V=1\ndocker run -e V IMG\n",
    "docker run -e V=0 IMG\n",
    "docker run IMG -e V=1\n",
]


@table(("before", "after"), DROPS)
def test_a_variable_goes(before: str, after: str) -> None:
    before, after = before.replace("V=", NAME + "="), after.replace("V=", NAME + "=")
    assert fixed(before, "NCCL501") == after
    assert accepted(before) and accepted(after)


@pytest.mark.parametrize("text", KEPT)
def test_what_is_elsewhere_or_says_nothing_stays(text: str) -> None:
    text = text.replace("V", NAME)
    assert fixed(text, "NCCL501") == text


@pytest.mark.parametrize(
    ("kind", "path", "before", "after"),
    [
        ("makefile", "Makefile", "run:\n\tdocker run \\\n\t  --rm \\\n\t  -e V=1 \\\n\t  IMG\n",
         "run:\n\tdocker run \\\n\t  --rm \\\n\t  IMG\n"),
        ("markdown", "README.md", "# X\n\n```sh\ndocker run -e V=1 \\\n  IMG\n```\n",
         "# X\n\n```sh\ndocker run \\\n  IMG\n```\n"),
        ("markdown", "README.md", "1. x\n\n   ```yaml\n   services:\n     a:\n       image: x\n"
         "       environment:\n         - V=1\n         - B=2\n   ```\n",
         "1. x\n\n   ```yaml\n   services:\n     a:\n       image: x\n       environment:\n         - B=2\n   ```\n"),
        ("ci", ".github/workflows/x.yml",
         "on: push\njobs:\n  t:\n    runs-on: x\n    steps:\n      - run: |\n          docker run --rm \\\n"
         "            -e V=1 \\\n            IMG\n",
         "on: push\njobs:\n  t:\n    runs-on: x\n    steps:\n      - run: |\n          docker run --rm \\\n"
         "            IMG\n"),
        ("ci", ".github/workflows/x.yml",
         "on: push\njobs:\n  t:\n    runs-on: x\n    container:\n      image: x\n"
         "      options: --gpus all -e V=1 --rm\n    steps: []\n",
         "on: push\njobs:\n  t:\n    runs-on: x\n    container:\n      image: x\n"
         "      options: --gpus all --rm\n    steps: []\n"),
    ],
)  # fmt: skip
def test_a_variable_goes_from_other_files(kind: str, path: str, before: str, after: str) -> None:
    before, after = before.replace("V=", NAME + "="), after.replace("V=", NAME + "=")
    assert fixed(before, "NCCL501", path, kind) == after


RENAMES = [
    ("docker run -e OLD=1 IMG\n", "docker run -e TORCH_OLD=1 IMG\n"),
    ("docker run --env OLD=$X IMG\n", "docker run --env TORCH_OLD=$X IMG\n"),
    ('docker run --env=OLD="$X" IMG\n', 'docker run --env=TORCH_OLD="$X" IMG\n'),
    ("docker run --env 'OLD=a b' IMG\n", "docker run --env 'TORCH_OLD=a b' IMG\n"),
    ("docker run -eOLD=1 IMG\n", "docker run -eTORCH_OLD=1 IMG\n"),
    ("docker run -ite OLD=1 IMG\n", "docker run -ite TORCH_OLD=1 IMG\n"),
    ("docker run -e OLD=1 -e OLD=0 IMG\n", "docker run -e TORCH_OLD=1 -e TORCH_OLD=0 IMG\n"),
    ('A=(-e OLD=1)\ndocker run "${A[@]}" IMG\n', 'A=(-e TORCH_OLD=1)\ndocker run "${A[@]}" IMG\n'),
    ("docker run -e OLD IMG\n", "docker run -e OLD IMG\n"),
    ('E="-e OLD=1"\ndocker run $E IMG\n', 'E="-e OLD=1"\ndocker run $E IMG\n'),
    ("docker run -e OLD=1 -e TORCH_OLD=0 IMG\n", "docker run -e TORCH_OLD=0 IMG\n"),
]


@table(("before", "after"), RENAMES)
def test_a_variable_gets_another_name(before: str, after: str) -> None:
    before, after = before.replace("OLD", "NCCL_BLOCKING_WAIT"), after.replace("OLD", "NCCL_BLOCKING_WAIT")
    assert fixed(before, "NCCL505") == after


LIMITS = [
    ("docker run --gpus all IB IMG\n", "docker run --gpus all --ulimit memlock=-1 IB IMG\n"),
    ("docker run \\\n  --gpus all \\\n  IB \\\n  IMG\n",
     "docker run \\\n  --gpus all \\\n  --ulimit memlock=-1 \\\n  IB \\\n  IMG\n"),
    ("docker run IB -e NCCL_IB_HCA=x IMG\n", "docker run --ulimit memlock=-1 IB -e NCCL_IB_HCA=x IMG\n"),
    ("docker run --gpus all IB --ulimit memlock=1:2 IMG\n", "docker run --gpus all IB --ulimit memlock=-1 IMG\n"),
    ("docker run --gpus all IB --ulimit='memlock=1' IMG\n", "docker run --gpus all IB --ulimit='memlock=-1' IMG\n"),
    ("docker run --gpus all IB --ulimit stack=1 IMG\n",
     "docker run --gpus all --ulimit memlock=-1 IB --ulimit stack=1 IMG\n"),
    ('A=(--gpus all IB)\ndocker run "${A[@]}" IMG\n',
     'A=(--gpus all --ulimit memlock=-1 IB)\ndocker run "${A[@]}" IMG\n'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), LIMITS)
def test_a_ulimit_is_set(before: str, after: str) -> None:
    before, after = (text.replace("IB ", "--device=/dev/infiniband ").replace("IB)", "--device=/dev/infiniband)")
                     for text in (before, after))  # fmt: skip
    assert fixed(before, "NCCL504") == after


@pytest.mark.parametrize(
    ("before", "mode", "after"),
    [
        ("docker run --gpus all --ipc=host --rm IMG\n", "", "docker run --gpus all --rm IMG\n"),
        ("docker run --ipc host IMG\n", "", "docker run IMG\n"),
        ("docker run \\\n  --rm \\\n  --ipc=host \\\n  IMG\n", "", "docker run \\\n  --rm \\\n  IMG\n"),
        ("docker run --ipc=host IMG\n", "shareable", "docker run --ipc=shareable IMG\n"),
        ("docker run --gpus all IMG\n", "shareable", "docker run --gpus all --ipc=shareable IMG\n"),
        ("docker run IMG\n", "shareable", "docker run --ipc=shareable IMG\n"),
        ("docker run IMG\n", "", None),
    ],
)
def test_an_ipc_mode_is_set(before: str, mode: str, after: str | None) -> None:
    (launch,) = read(before, "NCCL").launches
    changes = launch.rewriter.set_ipc(mode)
    assert (apply_edits(before, changes[0].edits) if changes else None) == after


# Any command -----------------------------------------------------------------------------------

OPTIONS = st.sampled_from(
    ["--rm", "-it", "--gpus all", "-e A=1", "-e 'B=x y'", '-e "C=$D"', "--env=E=1", "-v /a:/b", "--name x", "-p 1:1"]
)
VARIABLE = st.sampled_from([f"-e {NAME}=1", f"--env {NAME}=1", f"--env={NAME}=1", f"-e '{NAME}=1'", f"-e{NAME}=1"])
BREAKS = st.sampled_from([" ", "  ", " \\\n  ", " \\\n    "])


@given(st.data(), st.lists(OPTIONS, max_size=5, unique=True), st.sampled_from(["\n", "\r\n", ""]))
def test_any_command_loses_one_variable_and_nothing_else(data: st.DataObject, options: list[str], end: str) -> None:
    at = data.draw(st.integers(0, len(options)))
    words = ["docker run", *options[:at], data.draw(VARIABLE), *options[at:], "IMG", "train --now"]
    text = words[0] + "".join(data.draw(BREAKS) + word for word in words[1:]) + end
    if end == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    note(text)
    after = fixed(text, "NCCL501")
    note(after)
    plain = [word for word in words if NAME not in word]
    joined = after.replace("\\\r\n", " ").replace("\\\n", " ")
    assert shlex.split(joined) == shlex.split(" ".join(plain))
    assert after.endswith(end) and ("\r\n" in after) == (end == "\r\n")
    assert accepted(after.replace("\r\n", "\n"))
    kept = [line for line in text.splitlines(keepends=True) if NAME not in line]
    assert [line for line in after.splitlines(keepends=True) if line in kept] == kept
