"""What `shmlint explain` is asked: a rule, a message, a workload, a launch, an image."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from shmlint.cli import explain
from shmlint.cli.output import Failed
from tests.table import table

HERE = os.path.dirname(__file__)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("", "nothing to explain"),
        ("SHM110", "unknown rule `SHM110`; did you mean `SHM"),
        ("vlm", "unknown workload `vlm`; did you mean `vllm`?"),
        ("SHM1O1", "unknown rule `SHM1O1`; did you mean `SHM101`?"),
        ("NCCL59", "unknown rule `NCCL59`; did you mean `NCCL50"),
        ("Buss eror", "similar are: Bus error;"),
        ("unhandeled", "similar are: NCCL reports an unhandled system error"),
        ("nowhere.yaml:3", "nowhere.yaml: no such file"),
        ("/nowhere:3", "/nowhere: no such file"), ("./nowhere", "./nowhere: no such file"),
        ("Makefile:3", "Makefile: no such file"), ("nowhere/x.sbatch", "nowhere/x.sbatch: no such file"),
        (f"{HERE}:3", f"{HERE} is a directory; `shmlint inventory {HERE}` lists its launches"),
        (HERE, f"{HERE} is a directory; "),
        (__file__, f"{__file__} is a file; add the line of a launch"),
        ("nobodys/image:latest", "no workload is known for the image `nobodys/image:latest`"),
        ("qqqqqq", "nothing is known about `qqqqqq`; see `shmlint rules`"),
        ("workload:vlln", "unknown workload `vlln`; did you mean `workload:vllm`"),
        ("workload:qqqqqq", "unknown workload `qqqqqq`; `shmlint explain workload:` lists them"),
    ],
)
def test_what_is_not_known(asked: str, message: str) -> None:
    with pytest.raises(Failed, match=re.escape(message)):
        explain.explain(asked)


@table(
    "asked, ids",
    [
        ("GPU40", ["GPU401", "GPU402"]), ("shm3", ["SHM301"]), ("nccl50", [f"NCCL50{n}" for n in range(1, 8)]),
        ("gpu", ["GPU401", "GPU402"]),
    ],
)  # fmt: skip
def test_the_start_of_ids_lists_their_rules(asked: str, ids: list[str]) -> None:
    head, *lines = explain.explain(asked)
    assert head.startswith("Rules") and [line.split()[0] for line in lines] == ids


TWO = """\
services:
  app:
    image: example.com/team/app:1
    gpus: all
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: torchrun --nproc_per_node=8 train.py
    gpus: all
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "compose.yaml").write_text(TWO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("topic", ["compose.yaml:5", "compose.yaml:7", "compose.yaml:5:3", "compose.yaml:5:3:"])
def test_the_trail_of_a_launch(project: Path, topic: str) -> None:
    shown = "\n".join(explain.explain(topic))
    assert shown.startswith("compose.yaml:5: service `trainer`\n")
    for part in ("torchrun --nproc_per_node=8 train.py (compose.yaml:7)", "gpus: all (compose.yaml:8)",
                 "64 MiB: the engine's default", "NCCL: 8 ranks", "(our", "found      error SHM101"):  # fmt: skip
        assert part in shown
    assert "workloads:" not in shown


def test_the_trail_of_an_unknown_workload_ends_with_an_entry_for_the_settings(project: Path) -> None:
    lines = list(explain.explain("compose.yaml:2"))
    assert "not known  the image's own command is unknown" in lines
    at = lines.index("    workloads:")
    (project / ".shmlint.yaml").write_text("\n".join(line[4:] for line in lines[at:]) + "\n")
    again = "\n".join(explain.explain("compose.yaml:2"))
    assert "shm_size: 1gb" in again and "workloads:" not in again


def test_a_file_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "compose.yaml").write_bytes(b"services:\n  a:\n    image: caf\xe9\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Failed, match=r"^compose\.yaml:3:15: not UTF-8: byte 0xe9$"):
        explain.explain("compose.yaml:1")


def test_what_a_file_is_refused_for_concerns_its_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "services:\n  a:\n    image: x\n    gpus: all\n    shm_size: 8gb\n    volumes:\n      - models/b:/x\n"
    (tmp_path / "compose.yaml").write_text(text)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "compose.yaml").write_text(text.replace("models", "./models"))
    monkeypatch.chdir(tmp_path)
    shown = " ".join(" ".join(explain.explain("compose.yaml:7")).split())
    refused = "service `a` refers to undefined volume `models/b`; Compose refuses the file"
    assert f"found error SHM001 {refused} (compose.yaml:7)" in shown
    assert "found nothing" in " ".join(" ".join(explain.explain("other/compose.yaml:2")).split())


@table(
    ("service", "entry"),
    [
        ("build: ./x\n    command: [mytool, serve, --port, '80']", 'commands: ["mytool serve"]'),
        ("build: ./x\n    command: python3 -u gone.py --lr 1", 'commands: ["python3 -u gone.py"]'),
        ("build: ./x\n    entrypoint: /opt/serve\n    command: [--port, '80']", 'commands: ["/opt/serve"]'),
        ("build: ./x\n    entrypoint: [/tini, -g, --]\n    command: [mytool, serve]", 'commands: ["mytool serve"]'),
        ("build: ./x\n    command: dumb-init catatonit -- /opt/serve", 'commands: ["/opt/serve"]'),
        ("build: ./x\n    entrypoint: /init", ""),
        ("image: own/image\n    command: [mytool, serve]", 'images: ["own/image"]'),
        ("build: ./x", ""), ("image: '${A}'", ""), ("build: ./x\n    command: bash -c 'x'", ""),
        ("build: ./x\n    command: ['$A']", ""), ("build: ./x\n    command: ['tool?', a]", ""),
    ],
)  # fmt: skip
def test_the_entry_finds_the_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, entry: str
) -> None:
    (tmp_path / "compose.yaml").write_text(f"services:\n  x:\n    gpus: all\n    {service}\n")
    monkeypatch.chdir(tmp_path)
    lines = list(explain.explain("compose.yaml:2"))
    assert next((line.strip() for line in lines if re.match(" +(images|commands):", line)), "") == entry
    if not entry:
        assert lines[-1] == "or by the words of its command. This launch shows neither."
        return
    at = lines.index("    workloads:")
    (tmp_path / ".shmlint.yaml").write_text("\n".join(line[4:] for line in lines[at:]) + "\n")
    assert "workloads:" not in "\n".join(explain.explain("compose.yaml:2"))


@table(
    ("service", "line"),
    [
        ("image: '${A}:${B}'", "image      ${A}:${B} (compose.yaml:3)"),
        ("build: ./trainer", "image      built from ./trainer (compose.yaml:3)"),
        ("image: nvcr.io/nvidia/jax:26.01-py3",
         "           JAX: NCCL between several GPUs keeps buffers in shared memory"),
    ],
)
def test_what_is_known_of_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, line: str) -> None:
    (tmp_path / "compose.yaml").write_text(f"services:\n  x:\n    {service}\n    gpus: all\n")
    monkeypatch.chdir(tmp_path)
    assert line in list(explain.explain("compose.yaml:2"))


def test_a_place_without_a_launch(project: Path) -> None:
    with pytest.raises(Failed, match="launches start in 2, 5"):
        explain.explain("compose.yaml:1")


def test_a_place_behind_the_end_and_in_a_file_without_launches(project: Path) -> None:
    with pytest.raises(Failed, match=r"compose\.yaml: there is no line 999; launches start in 2, 5$"):
        explain.explain("compose.yaml:999")
    (project / "run.sh").write_text("echo docker run\n")
    with pytest.raises(Failed, match=r"run\.sh: no launch was found in this file$"):
        explain.explain("run.sh:1")


def test_a_place_in_an_override_file(project: Path) -> None:
    (project / "compose.override.yaml").write_text("services:\n  trainer:\n    gpus: 1\n    image: other\n")
    assert next(explain.explain("compose.override.yaml:4")) == "compose.yaml:5: service `trainer`"
    with pytest.raises(Failed, match=r"at or before line 1; a launch starts in \d$"):
        explain.explain("compose.override.yaml:1")


def test_an_image_is_explained_as_its_workload() -> None:
    assert next(explain.explain("vllm/vllm-openai:v0.9")) == "vLLM"


@table(
    ("base", "entry"),
    [
        ("example/robot:noble-deps", 'images: ["example/robot"]'),
        ("nvidia/cuda:12.4.1-devel", ""),
        ("$BASE", ""),
    ],
)
def test_the_entry_of_a_dev_container_names_its_base_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, entry: str
) -> None:
    folder = tmp_path / ".devcontainer"
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"FROM {base}\nRUN curl example.org/x | sh\n")
    text = '{"build": {"dockerfile": "Dockerfile"},\n"runArgs": ["--gpus=all"]}\n'
    (folder / "devcontainer.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    lines = list(explain.explain(".devcontainer/devcontainer.json:1"))
    assert next((line.strip() for line in lines if re.match(" +images:", line)), "") == entry
    if not entry:
        return
    at = lines.index("    workloads:")
    settings = "\n".join(line[4:] for line in lines[at:]).replace('needs: "yes"', 'needs: "no"')
    (tmp_path / ".shmlint.yaml").write_text(settings + "\n")
    assert "found      nothing" in list(explain.explain(".devcontainer/devcontainer.json:1"))
