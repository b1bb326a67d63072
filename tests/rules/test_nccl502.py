"""NCCL502 shm-disabled-not-sized."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.rules.cases import IB, env, messages_test, subjects, subjects_test

SHM = [("NCCL502", "NCCL_SHM_DISABLE")]

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "shm off, default size": (env("NCCL_SHM_DISABLE=1", more=()), SHM),
    "shm off, small": (env("NCCL_SHM_DISABLE=1", more=("shm_size: 128m",)), SHM),
    "shm off, no /dev/shm": (env("NCCL_SHM_DISABLE=1", more=("ipc: none",)), SHM),
    "shm off, sized": (env("NCCL_SHM_DISABLE=1"), [("NCCL501", "NCCL_SHM_DISABLE")]),
    "shm off, the host's": (env("NCCL_SHM_DISABLE=1", more=("ipc: host",)), [("NCCL501", "NCCL_SHM_DISABLE")]),
    "shm off, size unknown": (env("NCCL_SHM_DISABLE=1", more=("shm_size: ${S}",)),
                              [("NCCL501", "NCCL_SHM_DISABLE")]),
    "shm off, without a gpu": (env("NCCL_SHM_DISABLE=1", more=(), gpu=""), SHM),
    "shm not off": (env("NCCL_SHM_DISABLE=0", more=()), []),
}  # fmt: skip


test_what_is_found = subjects_test(CASES, ("NCCL",))


MESSAGES: dict[str, tuple[str, str]] = {
    "shm": (env("NCCL_SHM_DISABLE=1", more=()),
            "service `x` sets NCCL_SHM_DISABLE where /dev/shm is 64 MiB: "
            "NCCL's pools still use it, and data goes over the network"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))


def test_a_rule_that_is_switched_off_leaves_the_variable_to_the_other(tmp_path: Path) -> None:
    text = env("NCCL_SHM_DISABLE=1", more=())
    found = findings(tmp_path, text, select=("NCCL",), ignore=("NCCL502",))
    assert subjects(found) == [("NCCL501", "NCCL_SHM_DISABLE")]
    text = env("NCCL_IB_DISABLE=1", more=IB)
    assert subjects(findings(tmp_path, text, select=("NCCL501",))) == [("NCCL501", "NCCL_IB_DISABLE")]


def test_the_size_is_set_first_and_the_variable_removed_where_that_is_wanted(tmp_path: Path) -> None:
    text = env("NCCL_SHM_DISABLE=1", "A=1", more=())
    sized = text.replace("gpus: all\n", "gpus: all\n    shm_size: 8gb\n")
    assert fixed(tmp_path, text) == {"compose.yaml": sized}
    removed = sized.replace("      - NCCL_SHM_DISABLE=1\n", "")
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": removed}


def test_the_size_is_set_although_the_variable_is_then_reported_for_itself(tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: x/y\n    environment: [NCCL_SHM_DISABLE=1]\n    gpus: all\n"
    after = fixed(tmp_path, text)["compose.yaml"]
    assert after == text + "    shm_size: 1gb\n"
    assert subjects(findings(tmp_path / "after", after)) == [("NCCL501", "NCCL_SHM_DISABLE")]
