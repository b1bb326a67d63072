"""SHM301 host-ipc."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.project import findings, fixed, run
from tests.rules.cases import GIB, NGC, compose, entry, said
from tests.table import table

if TYPE_CHECKING:
    import pytest


WORKER = "command: torchrun --nproc_per_node=8 train.py"

SHARED = "GPU service `x` shares the host's IPC namespace; shm_size would give it a /dev/shm of its own"

HOSTS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "host": (compose(entry("ipc: host")), [SHARED]),
    "host and a size": (compose(entry("ipc: host", "shm_size: 8g")), [SHARED]),
    "needs nothing": (compose(entry("ipc: host", image="ollama/ollama")), [SHARED]),
    "a mount decides": (compose(entry("ipc: host", "tmpfs: /dev/shm")), []),
    "shareable": (compose(entry("ipc: shareable")), []),
    "no GPU": (compose(entry("ipc: host", gpu="")), []),
    "a default": (compose(entry("ipc: ${IPC:-host}")), [SHARED]),
    "unknown": (compose(entry("ipc: ${IPC}")), []),
}


@table(("files", "messages"), HOSTS.values(), ids=HOSTS)
def test_the_hosts_namespace(tmp_path: Path, files: dict[str, str] | str, messages: list[str]) -> None:
    assert said(tmp_path, files, "SHM301") == messages


OWNS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "compose": (
        {"compose.yaml": compose(entry("ipc: host", WORKER))},
        {"compose.yaml": compose(entry("shm_size: 8gb", WORKER))}),
    "a size that was dead": (
        {"compose.yaml": compose(entry("ipc: host", WORKER, "shm_size: 2g"))},
        {"compose.yaml": compose(entry(WORKER, "shm_size: 2g"))}),
    "a size of nothing": (
        {"compose.yaml": compose(entry("shm_size: 0", "ipc: host"))},
        {"compose.yaml": compose(entry("shm_size: 8gb"))}),
    "in one line": (
        {"compose.yaml": f"services: {{x: {{image: '{NGC}', ipc: host, runtime: nvidia}}}}\n"},
        {"compose.yaml": f"services: {{x: {{image: '{NGC}', runtime: nvidia, shm_size: 8gb}}}}\n"}),
    "docker run": (
        {"run.sh": f"docker run --ipc=host --gpus all {NGC}\n"},
        {"run.sh": f"docker run --gpus all --shm-size=8g {NGC}\n"}),
    "docker run, lines": (
        {"run.sh": f"docker run --rm \\\n  --gpus all \\\n  --ipc host \\\n  {NGC}\n"},
        {"run.sh": f"docker run --rm \\\n  --gpus all \\\n  --shm-size=8g \\\n  {NGC}\n"}),
    "a size that is not known": (
        {"compose.yaml": compose(entry("ipc: host", "shm_size: ${S}"))}, {}),
    "joined by another": (
        {"compose.yaml": compose(entry("ipc: host"), entry("ipc: service:x", name="y", gpu=""))}, {}),
    "joined from another file": (
        {"compose.yaml": compose(entry("ipc: host", "container_name: shm")),
         "more/compose.yaml": compose(entry("ipc: container:shm", gpu=""))}, {}),
    "joined by the name that Compose gives": (
        {"compose.yaml": compose(entry("ipc: host")), "run.sh": "docker run --ipc=container:my-x-1 redis\n"}, {}),
    "joined from another script": (
        {"run.sh": f"docker run --name=shm --ipc=host --gpus all {NGC}\n",
         "more.sh": "docker run --ipc container:shm redis\n"}, {}),
    "joined by a variable": (
        {"run.sh": f"docker run --name=$N --ipc=host --gpus all {NGC}\ndocker run --ipc=container:$N redis\n"}, {}),
    "another one is joined": (
        {"compose.yaml": compose(entry("ipc: host", "container_name: one")),
         "run.sh": "docker run --ipc=container:other redis\n"},
        {"compose.yaml": compose(entry("shm_size: 8gb", "container_name: one"))}),
}  # fmt: skip


@table(("before", "after"), OWNS.values(), ids=OWNS)
def test_a_namespace_of_its_own(tmp_path: Path, before: dict[str, str], after: dict[str, str]) -> None:
    assert fixed(tmp_path, before, select=("SHM301",)) == {}
    assert fixed(tmp_path, before, select=("SHM301",), unsafe=True) == after


def test_others_that_share_the_hosts_namespace_are_shown(tmp_path: Path) -> None:
    text = compose(entry("ipc: host"), entry("ipc: host", name="y", gpu=""), entry(name="z"))
    (found,) = findings(tmp_path, text, select=("SHM301",))
    assert [(e.text, e.span.line) for e in found.evidence if e.span] == [("requests the GPU", 4), ("also shares it", 8)]


OTHERS = ["privileged: true", "command: [torchrun, --nproc_per_node=8, train.py]  # eight", "# a note", "", "tty: true"]

IPCS = ["ipc: host", "ipc: 'host'", '"ipc": host', "ipc:   host   # for the workers", "ipc: ${IPC:-host}"]


@given(
    st.permutations([f"image: {NGC}", "gpus: all", "ipc: host", *OTHERS]),
    st.sampled_from(IPCS),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_nothing_else_is_touched(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ipc: str, newline: str, ends: bool
) -> None:
    lines = [f"    {ipc if line == 'ipc: host' else line}".rstrip() for line in lines]
    before = newline.join(["services:", "  x:", *lines]) + (newline if ends else "")
    directory = tmp_path_factory.mktemp("own")
    texts = fixed(directory, before, select=("SHM301",), unsafe=True)
    after = texts["compose.yaml"].split(newline)
    assert "\n" not in "".join(after)
    assert [line for line in after if "shm_size" in line] == ["    shm_size: 8gb"]
    left = [line for line in after if "shm_size" not in line]
    assert [line for line in before.split(newline) if "ipc" not in line] == left
    (launch,) = run(directory, texts, select=("SHM301",)).launches
    assert (launch.ipc, launch.effective_shm().bytes) == (None, 8 * GIB)
