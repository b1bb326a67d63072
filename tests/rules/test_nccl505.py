"""NCCL505 renamed-variable."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.rules.cases import env, subjects
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "renamed": (env("NCCL_ASYNC_ERROR_HANDLING=1", "NCCL_BLOCKING_WAIT=1"),
                [("NCCL505", "NCCL_ASYNC_ERROR_HANDLING"), ("NCCL505", "NCCL_BLOCKING_WAIT")]),
    "renamed, value unknown": (env("NCCL_BLOCKING_WAIT=${WAIT}"), [("NCCL505", "NCCL_BLOCKING_WAIT")]),
    "renamed, the host's": (env("NCCL_BLOCKING_WAIT"), []),
    "new name": (env("TORCH_NCCL_ASYNC_ERROR_HANDLING=1"), []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert subjects(findings(tmp_path, text, select=("NCCL",))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "renamed": (env("NCCL_BLOCKING_WAIT=1"),
                "service `x` sets NCCL_BLOCKING_WAIT, which is called TORCH_NCCL_BLOCKING_WAIT since PyTorch 2.2"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=("NCCL",))] == [message]


def test_a_renamed_variable_that_is_set_twice_loses_the_old_name(tmp_path: Path) -> None:
    text = env("NCCL_BLOCKING_WAIT=1", "TORCH_NCCL_BLOCKING_WAIT=0")
    after = text.replace("      - NCCL_BLOCKING_WAIT=1\n", "")
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": after}
