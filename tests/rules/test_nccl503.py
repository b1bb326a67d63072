"""NCCL503 infiniband-contradiction."""

from __future__ import annotations

from tests.rules.cases import IB, SIZED, env, messages_test, subjects_test

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


test_what_is_found = subjects_test(CASES, ("NCCL",))


MESSAGES: dict[str, tuple[str, str]] = {
    "ib": (env("NCCL_IB_DISABLE=1", more=IB),
           "service `x` passes /dev/infiniband and sets NCCL_IB_DISABLE: NCCL uses TCP sockets instead"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))
