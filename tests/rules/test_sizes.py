"""What /dev/shm becomes beside a memory limit, another container, a variant, the host: SHM104, 209, 211, 212, 301."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import findings, fixed, run
from tests.table import table

GIB = 1 << 30
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
OWN = "example/trainer"
ROCM = "devices: [/dev/kfd, /dev/dri]"


def service(*lines: str, image: str | None = NGC, gpu: str = "gpus: all", name: str = "x") -> str:
    """A service of a compose file, below ``services:``."""
    body = [f"image: {image}" if image else "", gpu, *lines]
    return f"  {name}:\n" + "".join(f"    {line}\n" for line in body if line)


def compose(*services: str) -> str:
    return "services:\n" + "".join(services)


def told(tmp_path: Path, files: dict[str, str] | str, rule: str, **settings: object) -> list[str]:
    return [f.message for f in findings(tmp_path, files, select=(rule,), **settings)]


# SHM104 ------------------------------------------------------------------------------------

WORKER = "command: torchrun --nproc_per_node=8 train.py"

UNKNOWN: dict[str, tuple[dict[str, str] | str, str, str]] = {
    "a variable": (
        compose(service("shm_size: ${SHM}")), "the size of its /dev/shm is", "variable SHM is not set here"),
    "a mode": (compose(service("ipc: ${IPC}")), "the size of its /dev/shm is", "variable IPC is not set here"),
    "a container elsewhere": (
        compose(service("ipc: container:other")), "the size of its /dev/shm is", "`container:other` is not known here"),
    "a donor with a variable": (
        compose(service("ipc: service:d"), service("ipc: shareable", "shm_size: ${D}", name="d", gpu="")),
        "the size of its /dev/shm is", "variable D is not set here"),
    "a tmpfs": (
        compose(service("tmpfs: ['/dev/shm:size=${T}']")), "the size of its /dev/shm is", "variable T is not set here"),
    "a GPU": (
        compose(service("environment: {NVIDIA_VISIBLE_DEVICES: all}", gpu="")), "whether it asks for a GPU is",
        "NVIDIA_VISIBLE_DEVICES asks for GPUs only where the daemon's default runtime is nvidia"),
    "an argument": (
        {"run.sh": f'docker run --gpus all --shm-size="$1" {NGC}\n'},
        "the size of its /dev/shm is", "variable 1 is not set here"),
    "arguments": (
        {"run.sh": f'docker run --gpus all "$@" {NGC}\n'}, "the size of its /dev/shm is", "it may hold --shm-size"),
    "arguments, of something that needs it": (
        {"run.sh": f'docker run "$@" {NGC}\n'}, "its GPU request and the size of its /dev/shm are",
        "it may hold --shm-size"),
    "arguments that are called so": (
        {"run.sh": f'docker run $GPU_FLAGS {OWN}\n'}, "its GPU request and the size of its /dev/shm are",
        "variable GPU_FLAGS is not set here"),
}  # fmt: skip


@table(("files", "what", "because"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_told(tmp_path: Path, files: dict[str, str] | str, what: str, because: str) -> None:
    (message,) = told(tmp_path, files, "SHM104")
    assert f": {what} not known here: " in message
    assert because in message


KNOWN: dict[str, dict[str, str] | str] = {
    "arguments of anything": {"run.sh": 'docker run "$@" example/build\n'},
    "a part of other services": {
        "base.compose.yml": compose(service("build: .", name="b")),
        "compose.yml": "services:\n  x:\n    extends: {file: base.compose.yml, service: b}\n    shm_size: 8g\n",
    },
    "a default": compose(service("shm_size: ${SHM:-8gb}")),
    "nothing": compose(service()),
    "the host's": compose(service("ipc: host")),
    "the host's /dev/shm": compose(service("volumes: [/dev/shm:/dev/shm]")),
    "half of the memory": compose(service("tmpfs: /dev/shm")),
    "refused": compose(service("shm_size: 8Gi")),
    "a tmpfs that is refused": compose(service("tmpfs: ['/dev/shm:size=8gb']")),
    "needs nothing": compose(service("shm_size: ${SHM}", image="ollama/ollama")),
    "no GPU": compose(service("shm_size: ${SHM}", gpu="")),
    "perhaps a GPU, and enough": compose(service("shm_size: 8g", "environment: {NVIDIA_VISIBLE_DEVICES: all}", gpu="")),
    "the number of GPUs": compose(service("shm_size: 8g", gpu="gpus: [{count: '${N}'}]")),
}


@table("text", KNOWN.values(), ids=KNOWN)
def test_what_is_known_is_not(tmp_path: Path, text: dict[str, str] | str) -> None:
    assert told(tmp_path, text, "SHM104") == []


@pytest.mark.parametrize("rule", ["SHM104", "SHM301"])
def test_off_unless_asked_for(tmp_path: Path, rule: str) -> None:
    text = compose(service("shm_size: ${SHM}"), service("ipc: host", name="y"))
    assert rule not in {f.rule for f in findings(tmp_path, text)}
    assert rule in {f.rule for f in findings(tmp_path, text, select=(rule,))}


# SHM209 ------------------------------------------------------------------------------------

LIMITS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "above": (
        compose(service("mem_limit: 4g", "shm_size: 8gb")),
        ["service `x`: shm_size 8 GiB is more than the memory limit of 4 GiB, against which /dev/shm counts"]),
    "equal": (
        compose(service("mem_limit: 8g", "shm_size: 8gb")),
        ["service `x`: shm_size 8 GiB is all of the memory limit of 8 GiB, against which /dev/shm counts"]),
    "below": (compose(service("mem_limit: 8g", "shm_size: 8191m")), []),
    "deploy": (
        compose(service("shm_size: 2g", gpu="runtime: nvidia") + "    deploy: {resources: {limits: {memory: 1g}}}\n"),
        ["service `x`: shm_size 2 GiB is more than the memory limit of 1 GiB, against which /dev/shm counts"]),
    "a tmpfs": (
        compose(service("mem_limit: 1g", "tmpfs: ['/dev/shm:size=2g']")),
        ["service `x`: the tmpfs of 2 GiB is more than the memory limit of 1 GiB, against which /dev/shm counts"]),
    "a tmpfs decides": (compose(service("mem_limit: 4g", "shm_size: 8g", "tmpfs: ['/dev/shm:size=2g']")), []),
    "a tmpfs without a size": (compose(service("mem_limit: 1g", "tmpfs: /dev/shm")), []),
    "a tmpfs from a variable": (compose(service("mem_limit: 1g", "tmpfs: ['/dev/shm:size=${T:-2g}']")), []),
    "the host's": (compose(service("mem_limit: 4g", "shm_size: 8gb", "ipc: host")), []),
    "the donor's": (
        compose(service("mem_limit: 4g", "ipc: service:d"), service("ipc: shareable", "shm_size: 8g", name="d")), []),
    "the default": (compose(service("mem_limit: 32m")), []),
    "no limit": (compose(service("shm_size: 8gb")), []),
    "a limit of nothing": (compose(service("shm_size: 8gb", "mem_limit: 0")), []),
    "a limit that is refused": (compose(service("shm_size: 8gb", "mem_limit: 4")), []),
    "an unknown limit": (compose(service("shm_size: 8gb", "mem_limit: ${M}")), []),
    "an unknown size": (compose(service("shm_size: ${S}", "mem_limit: 1g")), []),
    "a default for the size": (
        compose(service("shm_size: ${S:-2g}", "mem_limit: 1g")),
        ["service `x`: shm_size 2 GiB is more than the memory limit of 1 GiB, against which /dev/shm counts"]),
    "a private size": ({"compose.yaml": compose(service("shm_size: ${S}", "mem_limit: 1g")), ".env": "S=3g\n"}, []),
    "a private limit": ({"compose.yaml": compose(service("shm_size: 3g", "mem_limit: ${M}")), ".env": "M=1g\n"}, []),
    "no GPU": (compose(service("mem_limit: 4g", "shm_size: 8gb", gpu="")), []),
    "needs nothing": (
        compose(service("mem_limit: 1g", "shm_size: 2gb", image="ollama/ollama")),
        ["service `x`: shm_size 2 GiB is more than the memory limit of 1 GiB, against which /dev/shm counts"]),
    "docker run": (
        {"run.sh": f"docker run --gpus all -m 1g --shm-size 2g {NGC}\n"},
        [f"`docker run` of {NGC}: --shm-size 2 GiB is more than the memory limit of 1 GiB, "
         "against which /dev/shm counts"]),
    "docker run, the host's": ({"run.sh": f"docker run --gpus all -m 1g --ipc host --shm-size 2g {NGC}\n"}, []),
}  # fmt: skip


@table(("files", "messages"), LIMITS.values(), ids=LIMITS)
def test_a_size_above_the_memory_limit(tmp_path: Path, files: dict[str, str] | str, messages: list[str]) -> None:
    assert told(tmp_path, files, "SHM209") == messages


# SHM211 ------------------------------------------------------------------------------------


@table(
    ("limit", "image", "written"),
    [
        ("16g", NGC, "8gb"),
        ("8g", NGC, "1gb"),  # what is recommended does not fit, the least does
        ("1g", NGC, ""),
        ("512m", NGC, ""),
        ("2g", OWN, "1gb"),
        ("1g", OWN, ""),
        ("4", NGC, "8gb"),  # refused
        ("${LIMIT}", NGC, "8gb"),
    ],
)
@table("size", ["", "shm_size: 128m"])
def test_no_fix_asks_for_more_than_the_memory_there_is(
    tmp_path: Path, limit: str, image: str, written: str, size: str
) -> None:
    text = compose(service(f"mem_limit: {limit}", *([size] if size else []), image=image))
    (found,) = findings(tmp_path, text)
    changed = fixed(tmp_path, text)
    assert (f"shm_size: {written}\n" in changed.get("compose.yaml", "")) == bool(written) == (found.fix is not None)
    if not written:
        assert "raise the memory limit" in found.advice
    assert findings(tmp_path, changed or text) == ([] if written else [found._replace(span=ANY, launch=ANY,
        evidence=ANY)])  # fmt: skip


def joined(*donor: str, mode: str = "service:d", gpu: str = "gpus: all") -> str:
    return compose(service(*donor, name="d", gpu=""), service(f"ipc: '{mode}'", gpu=gpu))


REFUSED = ["service `x` does not start: service `d`, whose IPC namespace it joins, does not share it"]

DONORS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "says nothing": (joined(), REFUSED),
    "private": (joined("ipc: private"), REFUSED),
    "none": (joined("ipc: none"), REFUSED),
    "shareable": (joined("ipc: shareable"), []),
    "host": (joined("ipc: host"), []),
    "by the container's name": (joined("container_name: c", mode="container:c"), REFUSED),
    "another container": (joined(mode="container:c"), []),
    "a service that is not there": (joined(mode="service:e"), []),
    "itself": (compose(service("ipc: service:x")), []),
    "without a GPU": (joined(gpu=""), REFUSED),
    "unknown": (joined("ipc: ${IPC}"), []),
    "a private word": ({"compose.yaml": joined("ipc: ${IPC}"), ".env": "IPC=private\n"}, REFUSED),
    "joins a third": (
        compose(service("ipc: shareable", name="t", gpu=""), service("ipc: service:t", name="d", gpu=""),
                service("ipc: service:d")), []),
    "joins a third that does not share": (
        compose(service(name="t", gpu=""), service("ipc: service:t", name="d", gpu=""), service("ipc: service:d")),
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
    assert told(tmp_path, files, "SHM211") == messages


def test_podman_shares_by_default(tmp_path: Path) -> None:
    assert told(tmp_path, joined(), "SHM211", engine="podman") == []


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
    before = compose(service(name="d", gpu=""), service("ipc: service:d"), service("ipc: service:d", name="y"))
    after = before.replace(f"  d:\n    image: {NGC}\n", f"  d:\n    image: {NGC}\n    ipc: shareable\n")
    assert fixed(tmp_path, before, select=("SHM211",)) == {"compose.yaml": after}


def test_two_donors_in_one_file(tmp_path: Path) -> None:
    before = joined() + service(name="e", gpu="") + service("ipc: service:e", name="y")
    after = before
    for name in "de":
        after = after.replace(f"  {name}:\n    image: {NGC}\n", f"  {name}:\n    image: {NGC}\n    ipc: shareable\n")
    assert fixed(tmp_path, before, select=("SHM211",)) == {"compose.yaml": after}


def test_a_donor_in_another_file(tmp_path: Path) -> None:
    files = {
        "compose.yaml": compose(service(name="d", gpu="")),
        "compose.override.yaml": compose(service("ipc: service:d")),
    }
    after = files["compose.yaml"] + "    ipc: shareable\n"
    assert fixed(tmp_path, files, select=("SHM211",)) == {"compose.yaml": after}


@pytest.mark.parametrize("mode", ["private", "none"])
def test_a_donor_that_says_so_is_changed_only_when_asked_for(tmp_path: Path, mode: str) -> None:
    text = joined(f"ipc: {mode}")
    assert fixed(tmp_path, text, select=("SHM211",)) == {}
    after = text.replace(f"ipc: {mode}", "ipc: shareable")
    assert fixed(tmp_path, text, select=("SHM211",), unsafe=True) == {"compose.yaml": after}


# SHM212 ------------------------------------------------------------------------------------


def pair(first: str, second: str) -> str:
    return compose(first, second)


def variant(name: str, *lines: str, image: str | None = OWN, gpu: str = "gpus: all") -> str:
    return service(*lines, image=image, gpu=gpu, name=name)


VARIANTS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "cuda and rocm": (pair(variant("t-cuda", "shm_size: 8g"), variant("t-rocm", gpu=ROCM)), ["t-rocm"]),
    "the plain name": (pair(variant("t", "shm_size: 8g"), variant("t-rocm", gpu=ROCM)), ["t-rocm"]),
    "tags": (
        pair(variant("t-cuda", "shm_size: 8g", image=f"{OWN}:1-cuda"), variant("t-rocm", image=f"{OWN}:1-rocm")),
        ["t-rocm"]),
    "repositories": (
        pair(variant("t-cuda", "shm_size: 8g", image=f"{OWN}-cuda"), variant("t-rocm", image="other/trainer-rocm")),
        ["t-rocm"]),
    "versions": (
        pair(variant("t_cuda12.4", "shm_size: 8g"), variant("t_rocm6.2", gpu=ROCM)), ["t_rocm6.2"]),
    "builds": (
        pair(variant("t-cuda", "shm_size: 8g", "build: .", image=None),
             variant("t-rocm", "build: {context: ., dockerfile: Rocm}", image=None)), ["t-rocm"]),
    "numbered": (pair(variant("t-gpu0", "shm_size: 8g"), variant("t-gpu1")), ["t-gpu1"]),
    "a mount": (pair(variant("t-cuda", "tmpfs: ['/dev/shm:size=8g']"), variant("t-rocm")), ["t-rocm"]),
    "the host's": (pair(variant("t-cuda", "ipc: host"), variant("t-rocm")), ["t-rocm"]),
    "other images": (pair(variant("t-cuda", "shm_size: 8g", image="a/b"), variant("t-rocm", image="a/c")), []),
    "other names": (pair(variant("t-cuda", "shm_size: 8g"), variant("u-rocm")), []),
    "both": (pair(variant("t-cuda", "shm_size: 8g"), variant("t-rocm", "shm_size: 4g")), []),
    "neither": (pair(variant("t-cuda"), variant("t-rocm")), []),
    "too little": (pair(variant("t-cuda", "shm_size: 128m"), variant("t-rocm")), []),
    "no GPU": (pair(variant("t-cuda", "shm_size: 8g"), variant("t-cpu", gpu="")), []),
    "the size without a GPU": (pair(variant("t-cuda"), variant("t-cpu", "shm_size: 8g", gpu="")), []),
    "needs nothing": (
        pair(variant("t-cuda", "shm_size: 8g", image="ollama/ollama"), variant("t-rocm", image="ollama/ollama")), []),
    "unknown": (pair(variant("t-cuda", "shm_size: 8g"), variant("t-rocm", "shm_size: ${S}")), []),
    "two files": (
        {"compose.cuda.yml": compose(variant("t", "shm_size: 8g")), "compose.rocm.yml": compose(variant("t"))}, ["t"]),
    "two files of other things": (
        {"compose.cuda.yml": compose(variant("t", "shm_size: 8g", image="a/b")),
         "compose.rocm.yml": compose(variant("t"))}, []),
    "two directories": (
        {"a/compose.yml": compose(variant("t", "shm_size: 8g")), "b/compose.yml": compose(variant("t"))}, []),
    "two overlays": (
        {"compose.yml": compose(variant("t", gpu="")),
         "compose.cuda.yml": "services:\n  t:\n    gpus: all\n    shm_size: 8g\n",
         "compose.rocm.yml": f"services:\n  t:\n    {ROCM}\n"}, ["t"]),
    "an override is no variant": (
        {"compose.yml": compose(variant("t")),
         "compose.override.yml": "services:\n  t:\n    shm_size: 8g\n"}, []),
}  # fmt: skip


@table(("files", "names"), VARIANTS.values(), ids=VARIANTS)
def test_a_variant_that_was_forgotten(tmp_path: Path, files: dict[str, str] | str, names: list[str]) -> None:
    found = findings(tmp_path, files, select=("SHM212",))
    assert [f.launch.name for f in found if f.launch] == names


FORGOTTEN = pair(variant("t-cuda", "shm_size: 4g"), variant("t-rocm", gpu=ROCM))


def test_what_is_said_of_a_variant(tmp_path: Path) -> None:
    assert told(tmp_path, FORGOTTEN, "SHM212") == [
        "service `t-rocm` asks for all AMD GPUs on Docker's 64 MiB /dev/shm; its variant service `t-cuda` has 4 GiB"
    ]


SELECTIONS: dict[str, tuple[tuple[str, ...], dict[str, str], str, list[tuple[str, str]]]] = {
    "in the place of a guess": ((), {}, OWN, [("SHM212", "warning")]),
    "the guess, where it alone is wanted": (("SHM101",), {}, OWN, [("SHM101", "note")]),
    "this one, where it alone is wanted": (("SHM212",), {}, OWN, [("SHM212", "warning")]),
    "what is known says more": ((), {}, NGC, [("SHM101", "error")]),
    "what is known, where this one alone is wanted": (("SHM212",), {}, NGC, [("SHM212", "warning")]),
    "what is not known is an error": ((), {"unknown_workload": "error"}, OWN, [("SHM101", "error")]),
    "what is not known is left alone": ((), {"unknown_workload": "ignore"}, OWN, [("SHM212", "warning")]),
}


@pytest.mark.parametrize(("select", "settings", "image", "expected"), SELECTIONS.values(), ids=SELECTIONS)
def test_a_service_is_reported_once(
    tmp_path: Path, select: tuple[str, ...], settings: dict[str, str], image: str, expected: list[tuple[str, str]]
) -> None:
    text = pair(variant("t-cuda", "shm_size: 8g", image=image), variant("t-rocm", image=image))
    assert [(f.rule, f.severity) for f in findings(tmp_path, text, select=select, **settings)] == expected


SIZES = {
    "the variant's": ("shm_size: 4g", {}, "4gb"),
    "the settings'": ("shm_size: 4g", {"shm_size": 3 * GIB}, "3gb"),
    "the host's is no size": ("ipc: host", {}, "1gb"),
}


@pytest.mark.parametrize(("given", "settings", "written"), SIZES.values(), ids=SIZES)
def test_the_variants_size_is_written(tmp_path: Path, given: str, settings: dict[str, int], written: str) -> None:
    text = pair(variant("t-cuda", given), variant("t-rocm"))
    after = f"{text}    shm_size: {written}\n"
    assert fixed(tmp_path, text, select=("SHM212",), **settings) == {"compose.yaml": after}
    assert fixed(tmp_path, text, **settings) == {"compose.yaml": after}


def test_a_private_size_is_not_written(tmp_path: Path) -> None:
    files = {"compose.yaml": pair(variant("t-cuda", "shm_size: ${S}"), variant("t-rocm")), ".env": "S=7g\n"}
    (message,) = told(tmp_path, files, "SHM212")
    assert "7" not in message
    assert fixed(tmp_path, files, select=("SHM212",)) == {"compose.yaml": f"{files['compose.yaml']}    shm_size: 1gb\n"}


# SHM301 ------------------------------------------------------------------------------------

SHARED = "service `x` shares the host's IPC namespace, where shm_size would give it a /dev/shm of its own"

HOSTS: dict[str, tuple[dict[str, str] | str, list[str]]] = {
    "host": (compose(service("ipc: host")), [SHARED]),
    "host and a size": (compose(service("ipc: host", "shm_size: 8g")), [SHARED]),
    "needs nothing": (compose(service("ipc: host", image="ollama/ollama")), [SHARED]),
    "a mount decides": (compose(service("ipc: host", "tmpfs: /dev/shm")), []),
    "shareable": (compose(service("ipc: shareable")), []),
    "no GPU": (compose(service("ipc: host", gpu="")), []),
    "a default": (compose(service("ipc: ${IPC:-host}")), [SHARED]),
    "unknown": (compose(service("ipc: ${IPC}")), []),
}


@table(("files", "messages"), HOSTS.values(), ids=HOSTS)
def test_the_hosts_namespace(tmp_path: Path, files: dict[str, str] | str, messages: list[str]) -> None:
    assert told(tmp_path, files, "SHM301") == messages


OWNS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "compose": (
        {"compose.yaml": compose(service("ipc: host", WORKER))},
        {"compose.yaml": compose(service("shm_size: 8gb", WORKER))}),
    "a size that was dead": (
        {"compose.yaml": compose(service("ipc: host", WORKER, "shm_size: 2g"))},
        {"compose.yaml": compose(service(WORKER, "shm_size: 2g"))}),
    "a size of nothing": (
        {"compose.yaml": compose(service("shm_size: 0", "ipc: host"))},
        {"compose.yaml": compose(service("shm_size: 8gb"))}),
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
        {"compose.yaml": compose(service("ipc: host", "shm_size: ${S}"))}, {}),
    "joined by another": (
        {"compose.yaml": compose(service("ipc: host"), service("ipc: service:x", name="y", gpu=""))}, {}),
}  # fmt: skip


@table(("before", "after"), OWNS.values(), ids=OWNS)
def test_a_namespace_of_its_own(tmp_path: Path, before: dict[str, str], after: dict[str, str]) -> None:
    assert fixed(tmp_path, before, select=("SHM301",)) == {}
    assert fixed(tmp_path, before, select=("SHM301",), unsafe=True) == after


def test_others_that_share_the_hosts_namespace_are_shown(tmp_path: Path) -> None:
    text = compose(service("ipc: host"), service("ipc: host", name="y", gpu=""), service(name="z"))
    (found,) = findings(tmp_path, text, select=("SHM301",))
    assert [(e.text, e.span.line) for e in found.evidence if e.span] == [("asks for the GPU", 4), ("shares it too", 8)]


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
