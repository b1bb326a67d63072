"""SHM103 shm-size-below-recommended."""

from __future__ import annotations

from tests.rules.cases import SIZE_RULES, levels_test, messages_test, service

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "below advice": (service("shm_size: 2gb"), [("SHM103", "note")]),
    "as advised": (service("shm_size: 8gb"), []),
    "more than advised": (service("shm_size: 64gb"), []),
    "below advice, unknown": (service("shm_size: 1gb", image="pytorch/pytorch"), []),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "advice": (service("shm_size: 2gb"), "GPU service `x` gets 2 GiB of /dev/shm where 8 GiB is advised"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)
