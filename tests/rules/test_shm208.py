"""SHM208 mount-hides-shm-size."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import SIZE_RULES, levels, service
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "tmpfs and size": (service("shm_size: 8gb", "tmpfs: ['/dev/shm:size=16g']"), [("SHM208", "warning")]),
    "volume and size": (service("shm_size: 8gb", "volumes: ['shm:/dev/shm']"), [("SHM208", "warning")]),
    "dev and size": (service("shm_size: 8gb", "volumes: ['/dev:/dev']"), [("SHM208", "warning")]),
    "small tmpfs hides a size":
        (service("shm_size: 8gb", "tmpfs: ['/dev/shm:size=1m']"), [("SHM102", "error"), ("SHM208", "warning")]),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(levels(findings(tmp_path, text, select=SIZE_RULES))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "mount": (service("shm_size: 8gb", "volumes: ['/dev:/dev']"),
              "service `x`: shm_size has no effect: the host's /dev is mounted on /dev"),
    "half": (service("shm_size: 8gb", "tmpfs: [/dev/shm]"),
             "service `x`: shm_size has no effect: the tmpfs on /dev/shm gives half of the host's memory"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=SIZE_RULES)] == [message]


@table(
    ("lines", "rules"),
    [
        (("volumes: ['/dev/shm:/dev/shm']", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['/dev:/dev']", "shm_size: 8gb"), ["SHM208"]),
        (("tmpfs: /dev/shm", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['data:/dev/shm']", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['/dev/shm:/dev/shm']", "shm_size: 0"), []),
        (("volumes: ['/dev/shm:/dev/shm']",), []),
        (("volumes: ['/data:/data']", "shm_size: 8gb"), []),
    ],
)
def test_a_size_that_does_not_count(tmp_path: Path, lines: tuple[str, ...], rules: list[str]) -> None:
    files = {"compose.yaml": service(*lines) + "volumes: {data: }\n"}
    assert [found.rule for found in findings(tmp_path, files, select=("SHM204", "SHM205", "SHM208"))] == rules
