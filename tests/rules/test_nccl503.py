"""NCCL503 infiniband-contradiction."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import IB, SIZED, env, subjects
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "ib off": (env("NCCL_IB_DISABLE=1"), [("NCCL501", "NCCL_IB_DISABLE")]),
    "ib off, passed": (env("NCCL_IB_DISABLE=1", more=IB), [("NCCL503", "NCCL_IB_DISABLE")]),
    "ib off, one passed": (env("NCCL_IB_DISABLE=1", more=(*SIZED, "privileged: true",
                               "devices: ['/dev/infiniband/uverbs0:/dev/infiniband/uverbs0']")),
                           [("NCCL503", "NCCL_IB_DISABLE")]),
    "ib off, privileged": (env("NCCL_IB_DISABLE=1", more=(*SIZED, "privileged: true")),
                           [("NCCL501", "NCCL_IB_DISABLE")]),
    "ib on, passed": (env("NCCL_IB_DISABLE=0", more=IB), []),
    "ib the host's, passed": (env("NCCL_IB_DISABLE", more=IB), []),
    "another device": (env("NCCL_IB_DISABLE=1", more=(*SIZED, "devices: [/dev/infiniband2]")),
                       [("NCCL501", "NCCL_IB_DISABLE")]),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert subjects(findings(tmp_path, text, select=("NCCL",))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "ib": (env("NCCL_IB_DISABLE=1", more=IB),
           "service `x` passes /dev/infiniband and sets NCCL_IB_DISABLE: NCCL uses TCP sockets instead"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=("NCCL",))] == [message]
