"""SHM211 donor-not-shareable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import fixed, run
from tests.rules.cases import GIB, NGC, compose, entry, said
from tests.table import table


def joined(*donor: str, mode: str = "service:d", gpu: str = "gpus: all") -> str:
    return compose(entry(*donor, name="d", gpu=""), entry(f"ipc: '{mode}'", gpu=gpu))


REFUSED = ["service `x` does not start: service `d`, whose IPC namespace it joins, does not share it"]

DONORS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "says nothing": (joined(), REFUSED),
    "private": (joined("ipc: private"), REFUSED),
    "none": (joined("ipc: none"), REFUSED),
    "shareable": (joined("ipc: shareable"), []),
    "host": (joined("ipc: host"), []),
    "by the container's name": (joined("container_name: c", mode="container:c"), REFUSED),
    "by a variable": (joined("container_name: '${NAME}-d'", mode="container:${NAME}-d"), REFUSED),
    "by another variable": (joined("container_name: ${NAME}", mode="container:${OTHER}"), []),
    "another container": (joined(mode="container:c"), []),
    "a service that is not there": (joined(mode="service:e"), []),
    "itself": (compose(entry("ipc: service:x")), []),
    "without a GPU": (joined(gpu=""), REFUSED),
    "unknown": (joined("ipc: ${IPC}"), []),
    "a private word": ({"compose.yaml": joined("ipc: ${IPC}"), ".env": "IPC=private\n"}, REFUSED),
    "joins a third": (
        compose(entry("ipc: shareable", name="t", gpu=""), entry("ipc: service:t", name="d", gpu=""),
                entry("ipc: service:d")), []),
    "joins a third that does not share": (
        compose(entry(name="t", gpu=""), entry("ipc: service:t", name="d", gpu=""), entry("ipc: service:d")),
        ["service `d` does not start: service `t`, whose IPC namespace it joins, does not share it"]),
    "docker run": (
        {"run.sh": f"docker run -d --name d {NGC}\ndocker run --gpus all --ipc container:d {NGC}\n"},
        [f"`docker run` of {NGC} does not start: `docker run` of {NGC}, whose IPC namespace it joins, "
         "does not share it"]),
    "docker run, shareable": (
        {"run.sh": f"docker run -d --name d --ipc=shareable {NGC}\ndocker run --ipc container:d {NGC}\n"}, []),
    "docker run, one of two": (
        {"run.sh": f"docker run --name d {NGC}\ndocker run --name d {NGC}\ndocker run --ipc container:d {NGC}\n"}, []),
    "docker run, in another file": (
        {"a.sh": f"docker run --name d {NGC}\n", "b.sh": f"docker run --ipc container:d {NGC}\n"}, []),
    "docker run, arguments": (
        {"run.sh": f'docker run --name d "$@" {NGC}\ndocker run --ipc container:d {NGC}\n'}, []),
    "podman run": (
        {"run.sh": f"podman run -d --name d {NGC}\npodman run --gpus all --ipc container:d {NGC}\n"}, []),
    "two blocks of a document": (
        {"README.md": f"```sh\ndocker run -d --name d {NGC}\n```\n\n```sh\ndocker run --ipc container:d {NGC}\n```\n"},
        [f"`docker run` of {NGC} does not start: `docker run` of {NGC}, whose IPC namespace it joins, "
         "does not share it"]),
    "two targets of a makefile": (
        {"Makefile": f"one:\n\tdocker run -d --name d {NGC}\ntwo:\n\tdocker run --ipc container:d {NGC}\n"},
        [f"`docker run` of {NGC} does not start: `docker run` of {NGC}, whose IPC namespace it joins, "
         "does not share it"]),
}  # fmt: skip


@table(("files", "messages"), DONORS.values(), ids=DONORS)
def test_a_donor_that_does_not_share(tmp_path: Path, files: dict[str, str] | str, messages: list[str]) -> None:
    assert said(tmp_path, files, "SHM211") == messages


def test_podman_shares_by_default(tmp_path: Path) -> None:
    assert said(tmp_path, joined(), "SHM211", engine="podman") == []


@pytest.mark.parametrize("mode", ["service:d", "container:c"])
def test_the_size_that_counts_is_the_donors(tmp_path: Path, mode: str) -> None:
    text = joined("container_name: c", "shm_size: 2g", mode=mode)
    (launch,) = [launch for launch in run(tmp_path, text).launches if launch.name == "x"]
    assert launch.effective_shm().bytes == 2 * GIB


def test_the_size_that_counts_is_that_of_the_container_by_name(tmp_path: Path) -> None:
    text = f"docker run -d --name d --shm-size=2g --ipc=shareable {NGC}\ndocker run --ipc container:d {NGC}\n"
    donor, joiner = run(tmp_path, {"run.sh": text}).launches
    assert (donor.donor, joiner.effective_shm().bytes) == (None, 2 * GIB)


def test_one_change_serves_all_that_join(tmp_path: Path) -> None:
    before = compose(entry(name="d", gpu=""), entry("ipc: service:d"), entry("ipc: service:d", name="y"))
    after = before.replace(f"  d:\n    image: {NGC}\n", f"  d:\n    image: {NGC}\n    ipc: shareable\n")
    assert fixed(tmp_path, before, select=("SHM211",)) == {"compose.yaml": after}


def test_two_donors_in_one_file(tmp_path: Path) -> None:
    before = joined() + entry(name="e", gpu="") + entry("ipc: service:e", name="y")
    after = before
    for name in "de":
        after = after.replace(f"  {name}:\n    image: {NGC}\n", f"  {name}:\n    image: {NGC}\n    ipc: shareable\n")
    assert fixed(tmp_path, before, select=("SHM211",)) == {"compose.yaml": after}


def test_a_donor_in_another_file(tmp_path: Path) -> None:
    files = {
        "compose.yaml": compose(entry(name="d", gpu="")),
        "compose.override.yaml": compose(entry("ipc: service:d")),
    }
    after = files["compose.yaml"] + "    ipc: shareable\n"
    assert fixed(tmp_path, files, select=("SHM211",)) == {"compose.yaml": after}


@pytest.mark.parametrize("mode", ["private", "none"])
def test_a_donor_that_says_so_is_changed_only_when_asked_for(tmp_path: Path, mode: str) -> None:
    text = joined(f"ipc: {mode}")
    assert fixed(tmp_path, text, select=("SHM211",)) == {}
    after = text.replace(f"ipc: {mode}", "ipc: shareable")
    assert fixed(tmp_path, text, select=("SHM211",), unsafe=True) == {"compose.yaml": after}
