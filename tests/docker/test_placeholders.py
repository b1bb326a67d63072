"""Placeholders for sizes and numbers: what stands for a value, and what is a value that Docker refuses."""

from __future__ import annotations

from shmlint.docker.placeholders import is_placeholder
from tests.table import table


@table(
    "text",
    [
        "<shm size>", "<shm>g", "<%= node.shm %>", "[shm size]", "{shm}", "{{ shm }}", "#{Shm}", "__SHM_SIZE__",
        "%SHM_SIZE%", "@SHM_SIZE@", "@SHM_SIZE@gb", "...", "…", "???", "XX", "XXGB", "xxg", "N", "nGB", "Y", "SIZE",
        "SHM_SIZE", "SIZEg", "SIZE_2", "YOUR_SHM", "your-size", "yourSize", "my-size", "REPLACE_ME", "replace-me",
        "changeme", "CHANGE_THIS", "TODO",
    ],
)  # fmt: skip
def test_what_stands_for_a_value(text: str) -> None:
    assert is_placeholder(text)


@table(
    "text",
    [
        "", "8g", "8Gi", "8,5g", "8  gb", "-1", "lots", "large", "max", "auto", "all", "none", "unlimited", "half",
        "g", "GB", "MiB", "K", "ALL", "NONE", "AUTO", "MAX", "UNLIMITED", "INF", "HOST", "TRUE", "A100", "H100",
        "RTX4090", "gpu0", "eight", "x", "1g --gpus all", "$SHM", "16GIG", "[8]", "<", "<>", "0,1", "device=0,1",
    ],
)  # fmt: skip
def test_what_is_a_value(text: str) -> None:
    assert not is_placeholder(text)
