"""SHM205 build-only-shm-size."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.fixing.plan import planned
from tests.project import findings, fixed
from tests.rules.cases import SIZE_RULES, levels_test, overridden_test, service

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "build only": (service("build: {context: ., shm_size: 8gb}"), [("SHM101", "error"), ("SHM205", "warning")]),
    "build and own": (service("build: {context: ., shm_size: 8gb}", "shm_size: 8gb"), []),
    "build only, needs nothing":
        (service("build: {context: ., shm_size: 8gb}", image="ollama/ollama"), [("SHM205", "note")]),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


test_a_size_that_does_not_count = overridden_test(
    [
        (("build: {context: ., shm_size: 8gb}",), ["SHM205"]),
        (("build: {context: ., shm_size: 8gb}", "ipc: host"), []),
        (("build: {context: ., shm_size: 8gb}", "tmpfs: /dev/shm"), []),
        (("build: {context: ., shm_size: 8gb}", "shm_size: 1gb"), []),
        (("build: {context: ., shm_size: 8gb}", "shm_size: '${SIZE}'"), []),
    ]
)


@pytest.mark.parametrize(
    ("build", "default", "given"),
    [
        ("8gb", 64 << 20, "gets 64 MiB of /dev/shm"),
        ("8gb", 4 << 30, "gets 4 GiB of /dev/shm"),
        ("8gb", 8 << 30, ""),
        ("1gb", 32 << 30, ""),
    ],
)
def test_a_size_of_the_build_is_measured_by_the_daemons_default(
    tmp_path: Path, build: str, default: int, given: str
) -> None:
    text = f"services:\n  x:\n    build: {{context: ., shm_size: {build}}}\n    gpus: all\n"
    found = findings(tmp_path, text, select=("SHM205",), default_shm_size=default)
    assert [given in f.message for f in found] == ([True] if given else [])


def test_the_size_of_the_build_is_what_is_written(tmp_path: Path) -> None:
    text = "services:\n  x:\n    build: {context: ., shm_size: 16gb}\n    gpus: all\n"
    titles = [plan.title for plan in map(planned, findings(tmp_path, text)) if plan]
    assert len(titles) == 2 and all("shm_size: 16gb" in title for title in titles)
    assert fixed(tmp_path, text)["compose.yaml"] == text + "    shm_size: 16gb\n"
