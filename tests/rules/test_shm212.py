"""SHM212 variant-lacks-shm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import findings, fixed
from tests.rules.cases import GIB, NGC, OWN, compose, entry, said
from tests.table import table

ROCM = "devices: [/dev/kfd, /dev/dri]"


def pair(first: str, second: str) -> str:
    return compose(first, second)


def variant(name: str, *lines: str, image: str | None = OWN, gpu: str = "gpus: all") -> str:
    return entry(*lines, image=image, gpu=gpu, name=name)


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
    assert said(tmp_path, FORGOTTEN, "SHM212") == [
        "GPU service `t-rocm` gets 64 MiB of /dev/shm; its variant service `t-cuda` has 4 GiB"
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
    (message,) = said(tmp_path, files, "SHM212")
    assert "7" not in message
    assert fixed(tmp_path, files, select=("SHM212",)) == {"compose.yaml": f"{files['compose.yaml']}    shm_size: 1gb\n"}
