"""Every rule over small compose files: what it says, how severe, and what it would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shmlint.model.finding import Finding
from shmlint.reports.json import render
from tests.project import findings, fixed, run
from tests.table import table

GIB = 1024**3
THESE = (
    "SHM001", "SHM101", "SHM102", "SHM103", "SHM201", "SHM202", "SHM203", "SHM204", "SHM205", "SHM208",
)  # fmt: skip
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"


def service(*lines: str, image: str = NGC, gpu: str | None = "gpus: all", name: str = "x") -> str:
    body = [f"image: {image}", *([gpu] if gpu else []), *lines]
    return f"services:\n  {name}:\n" + "".join(f"    {line}\n" for line in body)


def told(found: list[Finding]) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in found]


ONE = "runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: '0'}"

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    # SHM101
    "known workload": (service(), [("SHM101", "error")]),
    "unknown workload": (service(image="pytorch/pytorch"), [("SHM101", "warning")]),
    "needs nothing": (service(image="ollama/ollama"), []),
    "no gpu": (service(gpu=None), []),
    "no gpu, count 0": (service(gpu="gpus: [{count: 0}]"), []),
    "host": (service("ipc: host"), []),
    "private is the default": (service("ipc: private"), [("SHM101", "error")]),
    "shareable": (service("ipc: shareable"), [("SHM101", "error")]),
    "tmpfs": (service("tmpfs: [/dev/shm]"), []),
    "host's /dev/shm": (service("volumes: [/dev/shm:/dev/shm]"), []),
    "host's /dev": (service("volumes: [/dev:/dev]"), []),
    "another mount": (service("volumes: [./data:/data]"), [("SHM101", "error")]),
    "zero is the default": (service("shm_size: 0"), [("SHM101", "error")]),
    "enough": (service("shm_size: 8gb"), []),
    "variable without a default": (service("shm_size: ${SHM}"), []),
    "server with one GPU": (service(image="vllm/vllm-openai", gpu=ONE), []),
    # SHM102
    "too small": (service("shm_size: 512m"), [("SHM102", "error")]),
    "too small, unknown": (service("shm_size: 128m", image="pytorch/pytorch"), [("SHM102", "warning")]),
    "half a gigabyte, unknown": (service("shm_size: 512m", image="pytorch/pytorch"), []),
    "too small, needs nothing": (service("shm_size: 1m", image="ollama/ollama"), []),
    "small tmpfs": (service("tmpfs: ['/dev/shm:size=64m']"), [("SHM102", "error")]),
    "unlimited tmpfs": (service("tmpfs: ['/dev/shm:size=0']"), []),
    "no /dev/shm": (service("ipc: none"), [("SHM102", "error")]),
    "default in a variable": (service("shm_size: ${SHM:-64m}"), [("SHM102", "error")]),
    # SHM103
    "below advice": (service("shm_size: 2gb"), [("SHM103", "note")]),
    "as advised": (service("shm_size: 8gb"), []),
    "more than advised": (service("shm_size: 64gb"), []),
    "below advice, unknown": (service("shm_size: 1gb", image="pytorch/pytorch"), []),
    # SHM201, on any service
    "kubernetes": (service("shm_size: 8Gi", gpu=None), [("SHM201", "error")]),
    "kubernetes with gpu": (service("shm_size: 8Gi"), [("SHM201", "error")]),
    "two blanks": (service('shm_size: "8  gb"'), [("SHM201", "error")]),
    "negative": (service("shm_size: -1"), [("SHM201", "error")]),
    "negative text": (service('shm_size: "-1g"'), [("SHM201", "error")]),
    "empty text": (service('shm_size: ""'), [("SHM201", "error")]),
    "null": (service("shm_size:"), [("SHM201", "error")]),
    "word": (service("shm_size: lots"), [("SHM201", "error")]),
    "one blank": (service('shm_size: "8 gb"'), []),
    "binary": (service("shm_size: 8GiB"), []),
    "capitals": (service("shm_size: 8G"), []),
    # SHM202
    "float": (service("shm_size: 1.5"), [("SHM202", "error")]),
    "exponent": (service("shm_size: 1e9"), [("SHM202", "error")]),
    "float without gpu": (service("shm_size: 4e9", gpu=None), [("SHM202", "error")]),
    "quoted exponent": (service('shm_size: "8e9"'), [("SHM103", "note")]),
    # SHM203
    "bare": (service("shm_size: 64"), [("SHM203", "error")]),
    "bare text": (service("shm_size: '8'"), [("SHM203", "error")]),
    "bare without gpu": (service("shm_size: 256", gpu=None), [("SHM203", "error")]),
    "bytes": (service("shm_size: 8589934592"), []),
    # SHM204
    "host and size": (service("ipc: host", "shm_size: 8gb"), [("SHM204", "warning")]),
    "none and size": (service("ipc: none", "shm_size: 8gb"), [("SHM102", "error"), ("SHM204", "warning")]),
    "host and size, no gpu": (service("ipc: host", "shm_size: 8gb", gpu=None), []),
    "private and size": (service("ipc: private", "shm_size: 8gb"), []),
    # SHM205
    "build only": (service("build: {context: ., shm_size: 8gb}"), [("SHM101", "error"), ("SHM205", "warning")]),
    "build and own": (service("build: {context: ., shm_size: 8gb}", "shm_size: 8gb"), []),
    "build only, needs nothing":
        (service("build: {context: ., shm_size: 8gb}", image="ollama/ollama"), [("SHM205", "note")]),
    # SHM208
    "tmpfs and size": (service("shm_size: 8gb", "tmpfs: ['/dev/shm:size=16g']"), [("SHM208", "warning")]),
    "volume and size": (service("shm_size: 8gb", "volumes: ['shm:/dev/shm']"), [("SHM208", "warning")]),
    "dev and size": (service("shm_size: 8gb", "volumes: ['/dev:/dev']"), [("SHM208", "warning")]),
    "small tmpfs hides a size":
        (service("shm_size: 8gb", "tmpfs: ['/dev/shm:size=1m']"), [("SHM102", "error"), ("SHM208", "warning")]),
    # SHM001
    "not yaml": ("services: [\n", [("SHM001", "error")]),
    "twice": ("services:\n  a:\n    image: x\n    image: y\n", [("SHM001", "error")]),
    "nothing": ("", [("SHM001", "error")]),
    "no services": ("version: '3'\n", []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(told(findings(tmp_path, text, select=THESE))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "all": (service(), "service `x` asks for all NVIDIA GPUs on Docker's 64 MiB /dev/shm"),
    "one": (service(gpu="gpus: [{count: 1}]"), "service `x` asks for one NVIDIA GPU on Docker's 64 MiB /dev/shm"),
    "two": (service(gpu="gpus: [{count: 2}]"), "service `x` asks for 2 NVIDIA GPUs on Docker's 64 MiB /dev/shm"),
    "amd": (service(image="rocm/pytorch", gpu="devices: [/dev/kfd, /dev/dri]"),
            "service `x` asks for all AMD GPUs on Docker's 64 MiB /dev/shm"),
    "size": (service("shm_size: 512m"), "service `x` has shm_size 512 MiB, too little for what it runs"),
    "perhaps": (service("shm_size: 64m", image="foo"),
                "service `x` has shm_size 64 MiB, which may be too little for what it runs"),
    "tmpfs": (service("tmpfs: ['/dev/shm:size=64m']"),
              "service `x` mounts 64 MiB on /dev/shm, too little for what it runs"),
    "none": (service("ipc: none"), "service `x` has no /dev/shm at all (`ipc: none`), too little for what it runs"),
    "advice": (service("shm_size: 2gb"), "service `x` has shm_size 2 GiB where 8 GiB is advised"),
    "refused": (service("shm_size: 8Gi"),
                "service `x`: shm_size `8Gi` is refused: "
                "`Gi` is no unit Docker knows; it knows b, k, m, g (also kb, mb, gb)"),
    "float": (service("shm_size: 1e9"),
              "service `x`: shm_size 1e9 is a float, which Compose drops: /dev/shm stays at 64 MiB"),
    "bytes": (service("shm_size: 64"), "service `x`: shm_size 64 counts bytes: /dev/shm is 4 KiB"),
    "pages": (service("shm_size: 8192"), "service `x`: shm_size 8192 counts bytes: /dev/shm is 8 KiB"),
    "ipc": (service("ipc: host", "shm_size: 8gb"),
            "service `x`: shm_size has no effect beside `ipc: host`: the host's /dev/shm is used"),
    "mount": (service("shm_size: 8gb", "volumes: ['/dev:/dev']"),
              "service `x`: shm_size has no effect: the host's /dev is mounted on /dev"),
    "half": (service("shm_size: 8gb", "tmpfs: [/dev/shm]"),
             "service `x`: shm_size has no effect: the tmpfs on /dev/shm gives half of the host's memory"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=THESE)] == [message]


REPAIRS: dict[str, tuple[str, str]] = {
    "kubernetes": ("8Gi", "8gb"),
    "megabytes": ("512Mi", "512mb"),
    "comma": ('"8,5g"', '"8704mb"'),
    "blanks": ("'8  gb'", "'8gb'"),
    "word": ("lots", "1gb"),
    "float": ("1073741824.0", "1gb"),
    "small float": ("1.5", "1gb"),
    "bare": ("64", "64mb"),
    "too many": ("1000000", "1gb"),
    "one": ("1", "1gb"),
}


@table(("before", "after"), REPAIRS.values(), ids=REPAIRS)
def test_repairs_of_a_size_without_a_gpu(tmp_path: Path, before: str, after: str) -> None:
    def text(size: str) -> str:
        return service(f"shm_size: {size}", gpu=None, image="foo")

    assert fixed(tmp_path, text(before)) == {"compose.yaml": text(after)}


def test_a_donor_is_judged_at_the_one_that_joins(tmp_path: Path) -> None:
    text = service("ipc: service:db", "shm_size: 8gb")
    text += "  db:\n    image: foo\n    ipc: shareable\n    shm_size: 128m\n"
    found = findings(tmp_path, text)
    assert told(found) == [("SHM102", "error"), ("SHM204", "warning")]
    assert "shares a /dev/shm of 128 MiB" in found[0].message
    assert found[0].fix is None and "container whose IPC namespace" in found[0].advice


# Settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "expected"), [("note", ["note"]), ("warn", ["warning"]), ("error", ["error"]), ("ignore", [])]
)
def test_unknown_workload(tmp_path: Path, setting: str, expected: list[str]) -> None:
    found = findings(tmp_path, service(image="myorg/app"), unknown_workload=setting)
    assert [f.severity for f in found] == expected


def test_shm_size_is_what_fixes_write(tmp_path: Path) -> None:
    assert "shm_size: 24gb" in fixed(tmp_path, service(), shm_size=24 * GIB)["compose.yaml"]
    assert told(findings(tmp_path, service("shm_size: 8gb"), shm_size=24 * GIB)) == [("SHM103", "note")]
    assert findings(tmp_path, service("shm_size: 4gb"), shm_size=2 * GIB) == []


def test_the_daemons_own_default(tmp_path: Path) -> None:
    assert findings(tmp_path, service(), default_shm_size=8 * GIB) == []
    found = findings(tmp_path, service(), default_shm_size=128 * 1024**2)
    assert "128 MiB" in found[0].message


def test_a_workload_of_ones_own(tmp_path: Path) -> None:
    mine = ({"id": "ours", "needs": "yes", "images": ["registry.example/ours"], "recommended": "3gb"},)
    text = service(image="registry.example/ours:1")
    assert told(findings(tmp_path, text, workloads=mine)) == [("SHM101", "error")]
    assert "shm_size: 3gb" in fixed(tmp_path, text, workloads=mine)["compose.yaml"]


@table(
    ("select", "ignore", "expected"),
    [
        ((), (), ["SHM102", "SHM204"]),
        (("SHM102",), (), ["SHM102"]),
        (("SHM1",), (), ["SHM102"]),
        (("shm2",), (), ["SHM204"]),
        (("ignored-with-ipc",), (), ["SHM204"]),
        (("ALL",), (), ["SHM102", "SHM204"]),
        ((), ("SHM1",), ["SHM204"]),
        ((), ("shm-size-too-small",), ["SHM204"]),
        (("SHM",), ("SHM2",), ["SHM102"]),
        (("SHM204",), ("SHM2",), ["SHM204"]),
        (("SHM2",), ("SHM204",), []),
        (("SHM102",), ("SHM102",), []),
        ((), ("ALL",), []),
    ],
)
def test_selecting(tmp_path: Path, select: tuple[str, ...], ignore: tuple[str, ...], expected: list[str]) -> None:
    found = findings(tmp_path, service("ipc: none", "shm_size: 8gb"), select=select, ignore=ignore)
    assert sorted(f.rule for f in found) == expected


# What is private stays private -----------------------------------------------------------------


@pytest.mark.parametrize("size", ["77m", "77", "77Gi", "1.77", "1077m"])
def test_what_an_env_file_says_is_not_printed(tmp_path: Path, size: str) -> None:
    text = service("shm_size: ${SHM}", "command: python t.py --key ${KEY} --num_workers 4")
    started = run(tmp_path, {"compose.yaml": text, ".env": f"SHM={size}\nKEY=secret-77\n"})
    assert started.findings
    from shmlint.reports.text import render as lines

    shown = "\n".join(lines(started, started.findings, verbose=True)) + render(started, started.findings)
    assert "77" not in shown and "secret" not in shown


def test_a_private_command_is_listed_as_it_is_written(tmp_path: Path) -> None:
    from shmlint.reports.json import inventory

    text = service("command: serve --key ${KEY}")
    shown: Any = json.loads(inventory(run(tmp_path, {"compose.yaml": text, ".env": "KEY=secret\n"})))
    assert shown["launches"][0]["command"] == ["serve", "--key", "${KEY}"]


# Several readings ------------------------------------------------------------------------------


def test_an_overlay_that_can_stand_alone_is_a_step_less_severe(tmp_path: Path) -> None:
    files = {
        "compose.yaml": service("shm_size: 8gb", gpu=None),
        "compose.gpu.yaml": service(),
    }
    found = findings(tmp_path, files)
    assert told(found) == [("SHM101", "warning")]
    assert found[0].message.endswith("(when compose.gpu.yaml is started alone)")
