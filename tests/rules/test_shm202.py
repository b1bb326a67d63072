"""SHM202 dropped-float."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.rules.cases import SIZE_RULES, levels_test, messages_test, service, sizes_test
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "float": (service("shm_size: 1.5"), [("SHM202", "error")]),
    "exponent": (service("shm_size: 1e9"), [("SHM202", "error")]),
    "float without gpu": (service("shm_size: 4e9", gpu=None), [("SHM202", "error")]),
    "quoted exponent": (service('shm_size: "8e9"'), [("SHM103", "note")]),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "float": (service("shm_size: 1e9"),
              "service `x`: shm_size 1e9 is a float, which Compose ignores: /dev/shm stays at 64 MiB"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


REPAIRS: dict[str, tuple[str, str]] = {
    "float": ("1073741824.0", "1gb"),
    "small float": ("1.5", "1gb"),
}  # fmt: skip


test_repairs_of_a_size_without_a_gpu = sizes_test(REPAIRS)


@table(
    ("written", "size"),
    [
        ("1.5", "8gb"), ("1e9", "954mb"), ("8589934592.0", "8gb"), ("1_000_000_000.0", "954mb"), ("1048576.0", "1mb"),
        (".inf", "8gb"), ("-.inf", "8gb"), (".nan", "8gb"), ("-1e9", "8gb"), ("1e30", "8gb"), ("1048575.9", "8gb"),
    ],
)  # fmt: skip
def test_a_float_is_written_as_the_size_it_means(tmp_path: Path, written: str, size: str) -> None:
    """What is no size of a /dev/shm means nothing; then it is what the image needs."""
    text = service(f"shm_size: {written}")
    (found,) = findings(tmp_path, text, select=("SHM202",))
    assert f"{written} is a float, which Compose ignores" in found.message
    assert fixed(tmp_path, text, select=("SHM202",)) == {"compose.yaml": service(f"shm_size: {size}")}
