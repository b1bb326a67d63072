"""SHM203 bytes-not-megabytes."""

from __future__ import annotations

from tests.rules.cases import SIZE_RULES, levels_test, messages_test, service, sizes_test

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "bare": (service("shm_size: 64"), [("SHM203", "error")]),
    "bare text": (service("shm_size: '8'"), [("SHM203", "error")]),
    "bare without gpu": (service("shm_size: 256", gpu=None), [("SHM203", "error")]),
    "bytes": (service("shm_size: 8589934592"), []),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "bytes": (service("shm_size: 64"), "service `x`: shm_size 64 counts bytes: /dev/shm is 4 KiB"),
    "pages": (service("shm_size: 8192"), "service `x`: shm_size 8192 counts bytes: /dev/shm is 8 KiB"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


REPAIRS: dict[str, tuple[str, str]] = {
    "bare": ("64", "64mb"),
    "too many": ("1000000", "1gb"),
    "one": ("1", "1gb"),
}  # fmt: skip


test_repairs_of_a_size_without_a_gpu = sizes_test(REPAIRS)
