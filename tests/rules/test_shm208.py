"""SHM208 mount-hides-shm-size."""

from __future__ import annotations

from tests.rules.cases import SIZE_RULES, levels_test, messages_test, overridden_test, service

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "tmpfs and size": (service("shm_size: 8gb", "tmpfs: ['/dev/shm:size=16g']"), [("SHM208", "warning")]),
    "volume and size":
        (service("shm_size: 8gb", "volumes: ['shm:/dev/shm']") + "volumes:\n  shm:\n", [("SHM208", "warning")]),
    "dev and size": (service("shm_size: 8gb", "volumes: ['/dev:/dev']"), [("SHM208", "warning")]),
    "small tmpfs hides a size":
        (service("shm_size: 8gb", "tmpfs: ['/dev/shm:size=1m']"), [("SHM102", "error"), ("SHM208", "warning")]),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "mount": (service("shm_size: 8gb", "volumes: ['/dev:/dev']"),
              "service `x`: shm_size has no effect: the host's /dev is mounted on /dev"),
    "half": (service("shm_size: 8gb", "tmpfs: [/dev/shm]"),
             "service `x`: shm_size has no effect: the tmpfs on /dev/shm gives half of the host's memory"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


test_a_size_that_does_not_count = overridden_test(
    [
        (("volumes: ['/dev/shm:/dev/shm']", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['/dev:/dev']", "shm_size: 8gb"), ["SHM208"]),
        (("tmpfs: /dev/shm", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['data:/dev/shm']", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['/dev/shm:/dev/shm']", "shm_size: 0"), []),
        (("volumes: ['/dev/shm:/dev/shm']",), []),
        (("volumes: ['/data:/data']", "shm_size: 8gb"), []),
        # The engine mounts a shareable /dev/shm of its own over a /dev, and the size counts.
        (("volumes: ['/dev:/dev']", "ipc: shareable", "shm_size: 8gb"), []),
        (("volumes: ['/dev/shm:/dev/shm']", "ipc: shareable", "shm_size: 8gb"), ["SHM208"]),
        # The one that decides is named, and once.
        (("volumes: ['/dev/shm:/dev/shm']", "ipc: host", "shm_size: 8gb"), ["SHM204"]),
        (("volumes: ['data:/dev/shm']", "ipc: host", "shm_size: 8gb"), ["SHM208"]),
        (("tmpfs: /dev/shm", "ipc: host", "shm_size: 8gb"), ["SHM208"]),
    ]
)
