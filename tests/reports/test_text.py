"""The text report, letter by letter: snapshots/*.txt hold what a terminal shows.

``SHMLINT_SNAPSHOTS=update pytest tests/reports`` writes them anew; read the diff before committing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shmlint.fixing import fix
from shmlint.model.settings import Accepted
from shmlint.reports import escape
from shmlint.reports.terminal import columns, wrapped
from shmlint.reports.text import Style, render
from shmlint.suppression.fingerprint import fingerprints
from tests.project import run
from tests.table import table

SNAPSHOTS = Path(__file__).parent / "snapshots"

TRAINER = """\
services:
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: all
              capabilities: [gpu]
    command: torchrun --nproc_per_node=8 train.py
"""
MANY = """\
services:
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    gpus: all
    shm_size: 2gb
  llm:
    image: vllm/vllm-openai:latest
    runtime: nvidia
    command: --model x --tensor-parallel-size 2
  app:
    build: .
    gpus: all
  chat:
    image: ollama/ollama
    gpus: all
  worker:
    image: pytorch/pytorch
    gpus: all
    ipc: host
    shm_size: 8gb
  float:
    image: pytorch/pytorch
    gpus: all
    shm_size: 1.5
  build:
    image: pytorch/pytorch
    build: {context: ., shm_size: 4gb}
    gpus: all
  mount:
    image: pytorch/pytorch
    gpus: all
    shm_size: 8gb
    volumes: ["/dev:/dev"]
  bytes:
    image: redis
    shm_size: 64
  kubernetes:
    image: redis
    shm_size: 2Gi
"""

CASES: dict[str, tuple[Mapping[str, str] | str, dict[str, Any]]] = {
    "one-error": (TRAINER, {}),
    "every-rule": (MANY, {}),
    "verbose": (MANY.replace("gpus: all", "gpus: all", 1), {"verbose": True}),
    "colour": (TRAINER, {"colour": True}),
    "narrow": (MANY, {"width": 60}),
    "broad": (MANY, {"width": 120}),
    "same-cause": (TRAINER + "".join(TRAINER.partition("\n")[2].replace("trainer", f"t{n}") for n in range(3)), {}),
    "same-cause-of-notes": (
        {
            "a.sh": "docker run --gpus all --ipc=host --shm-size 8g pytorch/pytorch\n"
                    "docker run --gpus all own bash\ndocker run --gpus all own bash\n",
            "b.sh": "docker run --gpus=all --ipc=host --shm-size 8g vllm/vllm-openai\n"
                    "docker run --gpus all own bash\ndocker run --gpus all other bash\n",
        }, {},
    ),
    "long-path": ({"deploy/environments/production/trainers/distributed/compose.yaml": TRAINER}, {}),
    "quiet": (TRAINER, {"quiet": True}),
    "clean": ("services:\n  a:\n    image: redis\n", {}),
    "clean-quiet": ("services:\n  a:\n    image: redis\n", {"quiet": True}),
    "nothing-to-read": ({}, {}),
    "crlf": (TRAINER.replace("\n", "\r\n"), {}),
    "bom": ("\ufeffservices: {x: {image: nvcr.io/nvidia/nemo, gpus: all}}\n", {}),
    "no-final-newline": ("services:\n  x:\n    image: nvcr.io/nvidia/nemo\n    gpus: all", {}),
    "tabs": ('services:\n  "a\tb": {image: nvcr.io/nvidia/nemo, gpus: all}\n', {}),
    "long-line": (
        "services: {" + ", ".join(f"s{n}: {{image: redis}}" for n in range(40))
        + ", x: {image: nvcr.io/nvidia/nemo, gpus: all}, "
        + ", ".join(f"t{n}: {{image: redis}}" for n in range(40)) + "}\n", {},
    ),
    "long-start": ("services: {x: {image: nvcr.io/nvidia/nemo, gpus: all}, " +
                   ", ".join(f"t{n}: {{image: redis}}" for n in range(40)) + "}\n", {}),
    "wide": ('services: {"訓練": {image: nvcr.io/nvidia/nemo, gpus: all}, '
             '"e\u0301te\u0301": {image: redis, shm_size: 64}}\n', {}),
    "control": ('services:\n  "a\\e[31m\\u202eb":\n    image: nvcr.io/nvidia/nemo\n    gpus: all\n', {}),
    "two-files": ({"a/compose.yaml": TRAINER, "b/docker-compose.yml": TRAINER.replace("trainer", "other")}, {}),
    "evidence-elsewhere": (
        {
            "compose.yaml": "services:\n  x:\n    image: nvcr.io/nvidia/nemo:24.07\n"
                            "    command: torchrun --nproc_per_node=2 x.py\n",
            "compose.override.yaml": "services:\n  x:\n    gpus: all\n",
        }, {},
    ),
    "dockerfile": ({"compose.yaml": "services:\n  x:\n    build: .\n    gpus: all\n",
                    "Dockerfile": "FROM nvcr.io/nvidia/pytorch:24.01-py3\nCMD python train.py\n"}, {}),
    "unreadable": ("services:\n  x:\n\timage: a\n", {}),
    "multi-line-command": (
        "services:\n  x:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    gpus: all\n"
        "    command: >\n      torchrun\n      --nproc_per_node=2\n      train.py\n", {},
    ),
}  # fmt: skip


def snapshot(name: str, text: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("SHMLINT_SNAPSHOTS") == "update":
        path.write_text(text, encoding="utf-8", newline="")
    assert path.read_bytes().decode("utf-8") == text, "see tests/reports/test_text.py for how to update"


def report(directory: Path, files: Mapping[str, str] | str, **options: Any) -> str:
    started = run(directory, files)
    return "".join(f"{line}\n" for line in render(started, started.findings, Style(**options)))


@pytest.mark.parametrize(("files", "options"), CASES.values(), ids=CASES)
def test_report(tmp_path: Path, name: str, files: Mapping[str, str] | str, options: dict[str, Any]) -> None:
    snapshot(name, report(tmp_path, files, **options))


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """The case's own name, which is that of its snapshot."""
    return str(request.node.callspec.id)


def test_verbose_tells_what_is_large_enough_once_for_a_file(tmp_path: Path) -> None:
    page = "```sh\n" + "docker run --gpus all --ipc=host own/image\n" * 3 + "```\n"
    started = run(tmp_path, {"a.md": page, "b.md": page})
    lines = [line for line in render(started, [], Style(verbose=True, width=200)) if "large enough" in line]
    assert lines == [
        f"{name}:2:1, 3:1, 4:1: `docker run` of own/image: large enough: /dev/shm is the size of the host's (host)"
        for name in ("a.md", "b.md")
    ]


def test_verbose_spares_no_launch_that_a_finding_of_another_speaks_of(tmp_path: Path) -> None:
    line = "docker run --gpus all --shm-size $S nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py\n"
    started = run(tmp_path, {"a.sh": f"S=64m\n{line * 2}"})
    assert len(started.findings) == 1
    assert not [line for line in render(started, started.findings, Style(verbose=True)) if "large enough" in line]


@pytest.mark.parametrize("told", ["suppressed", "in the baseline"])
def test_verbose_says_which_findings_are_taken_out(tmp_path: Path, told: str) -> None:
    line = "docker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py"
    files = {"a.sh": f"{line}{'  # shmlint: ignore[SHM101]' if told == 'suppressed' else ''}\n"}
    names = fingerprints(run(tmp_path, files).findings)
    baseline = tuple(Accepted(name, "SHM101", "a.sh", "") for name in names)
    started = run(tmp_path, files, baseline=baseline)
    assert len(started.suppressed) + len(started.accepted) == 1
    (said,) = (line for line in render(started, [], Style(verbose=True, width=200)) if line.startswith("a.sh:"))
    assert said == f"a.sh:1:1: `docker run` of nvcr.io/nvidia/pytorch:24.01-py3: SHM101 is {told}"


def test_what_is_not_read_is_listed_by_its_reason(tmp_path: Path) -> None:
    pod = "```yaml\napiVersion: v1\nnvidia.com/gpu: 1\n```\n"
    container = '```json\n{"runArgs": ["--gpus", "all"]}\n```\n'
    files = {"a.md": pod + pod, "b.md": pod + container}
    started = run(tmp_path, files)
    lines = list(render(started, [], Style(verbose=True, quiet=True)))
    assert lines == [
        "not read: Kubernetes manifests in documents are not read", "  a.md:3, 7", "  b.md:3",
        "b.md:6: not read: dev containers in documents are not read", "",
    ]  # fmt: skip


ENV = "\ndocker run --gpus all -e NCCL_P2P_DISABLE=1 -e NCCL_DEBUG=INFO --shm-size 64g {} a.py\n"


SHARED = """\
services:
  a: &a
    image: own/image
    environment: &e {NCCL_ALGO: Ring, NCCL_PROTO: LL}
    command: [a.py]
    gpus: all
    shm_size: 8gb
  b:
    <<: *a
  c: {image: own/c, gpus: all, environment: {NCCL_ALGO: Ring, NCCL_PROTO: LL}, shm_size: 8gb}
"""


@table(
    ("files", "said"),
    [
        # The same container in several pages, and others of the same cause.
        (dict.fromkeys(("a.md", "b.md"), "```sh\n" + "docker run --gpus all nvcr.io/nvidia/nemo\n" * 2 + "```\n"),
         ["a.md:2:1: error SHM101 missing-shm-size", "also a.md:3:1", "b.md:2:1, 3:1"]),
        ({"a.sh": ENV.format("one"), "b.sh": ENV.format("two")},
         ["a.sh:2:23: warning NCCL501 debug-variable-left-in", "also b.sh:2:23: `docker run` of two",
          "a.sh:2:45: note NCCL506 verbose-debug", "also b.sh:2:45: `docker run` of two"]),
        # The variables of a launch are one cause; what launches share is one place.
        ({"compose.yaml": SHARED},
         ["compose.yaml:4:33: warning NCCL501 debug-variable-left-in", "also service `b`",
          "compose.yaml:10:57, 10:75: service `c`"]),
        # Of a file and one that a program writes, the first is what to change.
        ({"compose.yaml": "services: {x: {image: nvcr.io/nvidia/nemo}}\n",
          "compose.cdi.yaml": "# Generated file, do not edit.\nservices:\n  x:\n    gpus: all\n",
          "compose.nvidia.yaml": "services:\n  x:\n    gpus: all\n"},
         ["compose.nvidia.yaml:2:3: error SHM101 missing-shm-size",
          "also compose.cdi.yaml:3:3: with --unsafe-fixes"]),
        # What other files show of it is not the same.
        ({f"{name}/{file}": text for name in "ab" for file, text in
          {"compose.yaml": "services:\n  x:\n    build: .\n    gpus: all\n    command: python x.py\n",
           "Dockerfile": "FROM nvcr.io/nvidia/nemo\nCOPY . .\n"}.items()},
         ["a/compose.yaml:2:3: warning SHM101 missing-shm-size",
          "b/compose.yaml:2:3: warning SHM101 missing-shm-size"]),
    ],
)  # fmt: skip
def test_a_cause_is_told_once_with_its_places(tmp_path: Path, files: dict[str, str], said: list[str]) -> None:
    started = run(tmp_path, files)
    lines = [line.strip() for line in render(started, started.findings, Style(width=200))]
    assert [line for line in lines if re.search(r"^(also |\S+:\d+:\d+)", line)] == said


def test_after_fixing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = run(tmp_path, MANY)
    monkeypatch.chdir(tmp_path)
    outcome = fix.fix(started)
    lines = render(outcome.run, fix.remaining(outcome), fixed=outcome.fixed)
    snapshot("after-fixing", "".join(f"{line}\n" for line in lines))


def test_several_new_lines_are_not_shown_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - name: t\n"
        "      image: nvcr.io/nvidia/pytorch:24.01-py3\n      command: [torchrun, --nproc_per_node=4, train.py]\n"
        "      resources:\n        limits:\n          nvidia.com/gpu: 4\n"
    )
    started = run(tmp_path, {"pod.yaml": pod})
    monkeypatch.chdir(tmp_path)
    outcome = fix.fix(started)
    lines = " ".join(line.strip() for line in render(outcome.run, [], fixed=outcome.fixed))
    assert "fixed SHM101 as planned: add a memory volume of 8Gi, and mount it on /dev/shm" in lines


def test_what_was_fixed_is_not_cut_for_a_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "deploy/environments/production/trainers/compose.yaml"
    started = run(tmp_path, {path: MANY})
    monkeypatch.chdir(tmp_path)
    outcome = fix.fix(started)
    lines = list(render(outcome.run, [], fixed=outcome.fixed))
    at = lines.index(f"{path}:20: fixed SHM204 removed")
    assert lines[at + 1] == "  `shm_size: 8gb`"


def test_colours_change_nothing_else(tmp_path: Path) -> None:
    plain, coloured = report(tmp_path, MANY), report(tmp_path, MANY, colour=True)
    assert "\x1b[31;1merror\x1b[0m" in coloured and "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_width(tmp_path: Path, width: int) -> None:
    """All of them but those of paths and addresses, whatever the files hold."""
    texts = [text for text, _ in CASES.values() if isinstance(text, str)]
    for number, text in enumerate(texts):
        shown = report(tmp_path / str(number), text, width=width, verbose=True)
        assert [line for line in shown.splitlines() if columns(line) > width and "/" not in line.strip("/ ")] == []


def test_marks_are_below_what_they_mark(tmp_path: Path) -> None:
    """On the terminal: a wide character takes two columns, a combining one none."""
    lines = report(tmp_path, CASES["wide"][0]).splitlines()
    source = next(line for line in lines if " 1 │ " in line)
    mark = next(line for line in lines if "^" in line)
    before = source.index('"訓練"')
    assert mark.index("^") == before  # no wide character is before it
    assert mark.count("^") == 6  # two quotes and two wide characters


RANKS = "torchrun --nproc_per_node=8 train.py"


@table(
    ("command", "shown"),
    [
        (f"command: {RANKS}", RANKS),
        (f"command: |\n      {RANKS}", RANKS),
        (f"command: |\n      bash -c \"pip list;\n      {RANKS}\"", RANKS),
        (f"command:\n      - bash\n      - -c\n      - pip list && {RANKS}", RANKS),
        ("command:\n      - env\n      - torchrun\n      - --nproc_per_node=8\n      - train.py", "torchrun"),
        ("command:\n      - torchrun\n      - --nproc_per_node=8\n      - train.py", "- torchrun"),
        (f"command: |\n      bash -c \"pip list # torchrun\n      exec {RANKS}\"", RANKS),
        ("command: >-\n      --model m\n      --tensor-parallel-size 8 --port 80", "--tensor-parallel-size 8"),
        ("command:\n      - --model=m\n      - --tensor-parallel-size=8", "--tensor-parallel-size=8"),
        ("command: >-\n      --trust-remote-code\n      --tensor-parallel-size 8", "--tensor-parallel-size 8"),
    ],
)  # fmt: skip
def test_what_needs_it_is_marked_in_a_command_of_several_lines(tmp_path: Path, command: str, shown: str) -> None:
    text = f"services:\n  x:\n    image: own/image\n    gpus: all\n    {command}\n"
    finding = run(tmp_path, text).findings[0]
    assert finding.rule == "SHM101"
    lines = report(tmp_path, text).splitlines()
    at = next(number for number, line in enumerate(lines) if "8 ranks" in line)
    mark = at if "--" in lines[at] else at - 1
    column = lines[mark].index("-")
    assert lines[mark - 1][column : column + lines[mark].count("-")] == shown


@table(
    ("text", "shown"),
    [
        ("plain", "plain"), ("é訓", "é訓"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb", "a\\x0ab"),
        ("\u202e", "\\u202e"), ("\x9b", "\\x9b"), ("\udcff", "\\udcff"), ("\U000e0001", "\\ue0001"),
    ],
)  # fmt: skip
def test_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


@table(
    "text, lines",
    [
        ("one more with --fix --unsafe-fixes; see", ["one more with", "--fix --unsafe-fixes;", "see"]),
        ("starts 12345 `docker run` of x", ["starts 12345", "`docker run` of x"]),
        ("the size is 1234567 GiB", ["the size is", "1234567 GiB"]),
        ("`a` and `b c` and a ` alone", ["`a` and `b c` and a `", "alone"]),
        ("`" + "x" * 30 + " y`", ["`" + "x" * 20, "x" * 10 + " y`"]),
    ],
)
def test_short_commands_are_not_broken(text: str, lines: list[str]) -> None:
    assert wrapped(text, 21) == lines
