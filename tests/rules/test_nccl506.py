"""NCCL506 verbose-debug."""

from __future__ import annotations

from tests.rules.cases import SIZED, env, messages_test, subjects_test

LOUD = [("NCCL506", "NCCL_DEBUG")]

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "info": (env("NCCL_DEBUG=INFO"), LOUD),
    "info, small": (env("NCCL_DEBUG=info", "NCCL_DEBUG_SUBSYS=ALL"), LOUD),
    "trace": (env("NCCL_DEBUG=TRACE"), LOUD),
    "warn": (env("NCCL_DEBUG=WARN"), []),
    "version": (env("NCCL_DEBUG=VERSION"), []),
    "PyTorch's checks": (env("TORCH_DISTRIBUTED_DEBUG=DETAIL"), [("NCCL506", "TORCH_DISTRIBUTED_DEBUG")]),
    "PyTorch's checks, some": (env("TORCH_DISTRIBUTED_DEBUG=INFO"), []),
    "both": (env("NCCL_DEBUG=INFO", "TORCH_DISTRIBUTED_DEBUG=detail"),
             [*LOUD, ("NCCL506", "TORCH_DISTRIBUTED_DEBUG")]),
    "level of the host": (env("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS=NET"), []),
    "subsystems alone": (env("NCCL_DEBUG_SUBSYS=NET"), [("NCCL506", "NCCL_DEBUG_SUBSYS")]),
    "subsystems of warnings": (env("NCCL_DEBUG=WARN", "NCCL_DEBUG_SUBSYS=NET"), [("NCCL506", "NCCL_DEBUG_SUBSYS")]),
    "subsystems, an env file": (env("NCCL_DEBUG_SUBSYS=NET", more=(*SIZED, "env_file: e.env")), []),
}  # fmt: skip


test_what_is_found = subjects_test(CASES, ("NCCL",))


MESSAGES: dict[str, tuple[str, str]] = {
    "info": (env("NCCL_DEBUG=info"), "service `x` sets NCCL_DEBUG to INFO: every rank logs how it connects"),
    "subsystems": (env("NCCL_DEBUG_SUBSYS=NET"),
                   "service `x` sets NCCL_DEBUG_SUBSYS, which has no effect without NCCL_DEBUG=INFO"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, ("NCCL",))
