"""Declared sizes at the edges: floats that are none, sizes of 0 that hide nothing, mounts that decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.fixing.plan import planned
from tests.project import findings, fixed
from tests.table import table

NGC = "nvcr.io/nvidia/pytorch:24.01-py3"


def service(*lines: str) -> str:
    return "services:\n  x:\n" + "".join(f"    {line}\n" for line in (f"image: {NGC}", "gpus: all", *lines))


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
    assert f"{written} is a float, which Compose drops" in found.message
    assert fixed(tmp_path, text, select=("SHM202",)) == {"compose.yaml": service(f"shm_size: {size}")}


@table(
    ("lines", "rules"),
    [
        (("ipc: host", "shm_size: 8gb"), ["SHM204"]),
        (("ipc: none", "shm_size: 8gb"), ["SHM204"]),
        (("ipc: host", "shm_size: 0"), []),
        (("ipc: private", "shm_size: 8gb"), []),
        (("ipc: '${IPC}'", "shm_size: 8gb"), []),
        (("ipc: host", "shm_size: '${SIZE}'"), ["SHM204"]),
        (("ipc: host",), []),
        (("volumes: ['/dev/shm:/dev/shm']", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['/dev:/dev']", "shm_size: 8gb"), ["SHM208"]),
        (("tmpfs: /dev/shm", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['data:/dev/shm']", "shm_size: 8gb"), ["SHM208"]),
        (("volumes: ['/dev/shm:/dev/shm']", "shm_size: 0"), []),
        (("volumes: ['/dev/shm:/dev/shm']",), []),
        (("volumes: ['/data:/data']", "shm_size: 8gb"), []),
        (("build: {context: ., shm_size: 8gb}",), ["SHM205"]),
        (("build: {context: ., shm_size: 8gb}", "ipc: host"), []),
        (("build: {context: ., shm_size: 8gb}", "tmpfs: /dev/shm"), []),
        (("build: {context: ., shm_size: 8gb}", "shm_size: 1gb"), []),
        (("build: {context: ., shm_size: 8gb}", "shm_size: '${SIZE}'"), []),
    ],
)
def test_a_size_that_does_not_count(tmp_path: Path, lines: tuple[str, ...], rules: list[str]) -> None:
    files = {"compose.yaml": service(*lines) + "volumes: {data: }\n"}
    assert [found.rule for found in findings(tmp_path, files, select=("SHM204", "SHM205", "SHM208"))] == rules


@pytest.mark.parametrize(
    ("build", "default", "given"),
    [
        ("8gb", 64 << 20, "gets Docker's 64 MiB"),
        ("8gb", 4 << 30, "gets Docker's 4 GiB"),
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


@pytest.mark.parametrize(
    ("command", "engine", "severity", "said"),
    [
        ("podman run --ipc=host", "docker", "error", "Podman does not start it"),
        ("podman run --ipc host", "podman", "error", "Podman does not start it"),
        ("docker run --ipc=host", "podman", "error", "Podman does not start it"),
        ("docker run --ipc=host", "docker", "warning", "the host's /dev/shm is used"),
        ("podman run --ipc=container:x", "docker", "warning", "the other container's /dev/shm is used"),
    ],
)
def test_podman_refuses_a_size_beside_the_hosts_namespace(
    tmp_path: Path, command: str, engine: str, severity: str, said: str
) -> None:
    text = f"{command} --gpus all --shm-size=8g x\n"
    (found,) = findings(tmp_path, {"run.sh": text}, select=("SHM204",), engine=engine)
    assert found.severity == severity and said in found.message
    assert "`--ipc=" in found.message and "ipc: " not in found.message


def test_whose_default_it_is(tmp_path: Path) -> None:
    text = "podman run --gpus all x\ndocker run --gpus all x\n"
    messages = [found.message for found in findings(tmp_path, {"run.sh": text})]
    assert ["Podman's 64 MiB" in message for message in messages] == [True, False]
    assert ["Docker's 64 MiB" in message for message in messages] == [False, True]
