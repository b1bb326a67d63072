"""SHM209 exceeds-memory-limit."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import ANY

from tests.project import findings, fixed
from tests.rules.cases import NGC, OWN, compose, entry, said
from tests.table import table

LIMITS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "above": (
        compose(entry("mem_limit: 4g", "shm_size: 8gb")),
        ["service `x`: shm_size 8 GiB is larger than the memory limit of 4 GiB, which includes /dev/shm"]),
    "equal": (
        compose(entry("mem_limit: 8g", "shm_size: 8gb")),
        ["service `x`: shm_size 8 GiB is as large as the memory limit of 8 GiB, which includes /dev/shm"]),
    "below": (compose(entry("mem_limit: 8g", "shm_size: 8191m")), []),
    "deploy": (
        compose(entry("shm_size: 2g", gpu="runtime: nvidia") + "    deploy: {resources: {limits: {memory: 1g}}}\n"),
        ["service `x`: shm_size 2 GiB is larger than the memory limit of 1 GiB, which includes /dev/shm"]),
    "a tmpfs": (
        compose(entry("mem_limit: 1g", "tmpfs: ['/dev/shm:size=2g']")),
        ["service `x`: the tmpfs of 2 GiB is larger than the memory limit of 1 GiB, which includes /dev/shm"]),
    "a tmpfs decides": (compose(entry("mem_limit: 4g", "shm_size: 8g", "tmpfs: ['/dev/shm:size=2g']")), []),
    "a tmpfs without a size": (compose(entry("mem_limit: 1g", "tmpfs: /dev/shm")), []),
    "a tmpfs from a variable": (compose(entry("mem_limit: 1g", "tmpfs: ['/dev/shm:size=${T:-2g}']")), []),
    "the host's": (compose(entry("mem_limit: 4g", "shm_size: 8gb", "ipc: host")), []),
    "the donor's": (
        compose(entry("mem_limit: 4g", "ipc: service:d"), entry("ipc: shareable", "shm_size: 8g", name="d")), []),
    "the default": (compose(entry("mem_limit: 32m")), []),
    "no limit": (compose(entry("shm_size: 8gb")), []),
    "a limit of nothing": (compose(entry("shm_size: 8gb", "mem_limit: 0")), []),
    "a limit that is refused": (compose(entry("shm_size: 8gb", "mem_limit: 4")), []),
    "an unknown limit": (compose(entry("shm_size: 8gb", "mem_limit: ${M}")), []),
    "an unknown size": (compose(entry("shm_size: ${S}", "mem_limit: 1g")), []),
    "a default for the size": (
        compose(entry("shm_size: ${S:-2g}", "mem_limit: 1g")),
        ["service `x`: shm_size 2 GiB is larger than the memory limit of 1 GiB, which includes /dev/shm"]),
    "a private size": ({"compose.yaml": compose(entry("shm_size: ${S}", "mem_limit: 1g")), ".env": "S=3g\n"}, []),
    "a private limit": ({"compose.yaml": compose(entry("shm_size: 3g", "mem_limit: ${M}")), ".env": "M=1g\n"}, []),
    "no GPU": (compose(entry("mem_limit: 4g", "shm_size: 8gb", gpu="")), []),
    "needs nothing": (
        compose(entry("mem_limit: 1g", "shm_size: 2gb", image="ollama/ollama")),
        ["service `x`: shm_size 2 GiB is larger than the memory limit of 1 GiB, which includes /dev/shm"]),
    "docker run": (
        {"run.sh": f"docker run --gpus all -m 1g --shm-size 2g {NGC}\n"},
        [f"`docker run` of {NGC}: --shm-size 2 GiB is larger than the memory limit of 1 GiB, "
         "which includes /dev/shm"]),
    "docker run, the host's": ({"run.sh": f"docker run --gpus all -m 1g --ipc host --shm-size 2g {NGC}\n"}, []),
}  # fmt: skip


@table(("files", "messages"), LIMITS.values(), ids=LIMITS)
def test_a_size_above_the_memory_limit(tmp_path: Path, files: dict[str, str] | str, messages: list[str]) -> None:
    assert said(tmp_path, files, "SHM209") == messages


@table(
    ("limit", "image", "written"),
    [
        ("16g", NGC, "8gb"),
        ("8g", NGC, ""),
        ("512m", "blakeblackshear/frigate:stable", "128mb"),  # what is recommended does not fit, the least does
        ("1g", NGC, ""),
        ("512m", NGC, ""),
        ("2g", OWN, "1gb"),
        ("1g", OWN, ""),
        ("4", NGC, "8gb"),  # refused
        ("${LIMIT}", NGC, "8gb"),
    ],
)
@table("size", ["", "shm_size: 100m"])
def test_no_fix_asks_for_more_than_the_memory_there_is(
    tmp_path: Path, limit: str, image: str, written: str, size: str
) -> None:
    text = compose(entry(f"mem_limit: {limit}", *([size] if size else []), image=image))
    (found,) = findings(tmp_path, text)
    changed = fixed(tmp_path, text, unsafe=image == OWN)
    assert (f"shm_size: {written}\n" in changed.get("compose.yaml", "")) == bool(written) == (found.fix is not None)
    if not written:
        assert "raise the memory limit" in found.advice
    assert findings(tmp_path, changed or text) == ([] if written else [found._replace(span=ANY, launch=ANY,
        evidence=ANY)])  # fmt: skip
