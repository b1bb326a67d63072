"""NCCL505 renamed-variable."""

from __future__ import annotations

from pathlib import Path

from tests.project import fixed
from tests.rules.cases import env, messages_test, subjects_test

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "renamed": (env("NCCL_ASYNC_ERROR_HANDLING=1", "NCCL_BLOCKING_WAIT=1"),
                [("NCCL505", "NCCL_ASYNC_ERROR_HANDLING"), ("NCCL505", "NCCL_BLOCKING_WAIT")]),
    "renamed, value unknown": (env("NCCL_BLOCKING_WAIT=${WAIT}"), [("NCCL505", "NCCL_BLOCKING_WAIT")]),
    "renamed, the host's": (env("NCCL_BLOCKING_WAIT"), []),
    "new name": (env("TORCH_NCCL_ASYNC_ERROR_HANDLING=1"), []),
}  # fmt: skip


test_what_is_found = subjects_test(CASES, ("NCCL",))


MESSAGES: dict[str, tuple[str, str]] = {
    "renamed": (env("NCCL_BLOCKING_WAIT=1"),
                "service `x` sets NCCL_BLOCKING_WAIT, which is called TORCH_NCCL_BLOCKING_WAIT since PyTorch 2.2"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))


def test_a_renamed_variable_that_is_set_twice_loses_the_old_name(tmp_path: Path) -> None:
    text = env("NCCL_BLOCKING_WAIT=1", "TORCH_NCCL_BLOCKING_WAIT=0")
    after = text.replace("      - NCCL_BLOCKING_WAIT=1\n", "")
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": after}
