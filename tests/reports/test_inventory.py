"""The inventory for people: a table that keeps places whole, one row a launch, and counts that add up."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from shmlint.reports import inventory, json, summary, trail
from shmlint.reports.terminal import columns
from shmlint.reports.text import Style, render
from tests.formats.kubernetes.manifests import container, under
from tests.project import run
from tests.reports.test_text import MANY, snapshot
from tests.table import table


def test_inventory(tmp_path: Path) -> None:
    wide = MANY + '  "訓練":\n    image: "a\\tb"\n    gpus: [{count: 2}]\n  v:\n    image: redis\n    shm_size: ${X}\n'
    started = run(tmp_path, wide)
    lines = [*inventory.table(started), "", "120 columns, by need", *inventory.table(started, "need", 120)]
    snapshot("inventory", "".join(f"{line}\n" for line in lines))
    snapshot("inventory-csv", inventory.csv(started, "size"))
    snapshot("inventory-markdown", inventory.markdown(started, "image"))


def test_the_inventory_of_nothing(tmp_path: Path) -> None:
    assert list(inventory.table(run(tmp_path, {}))) == ["0 launches"]


def test_places_are_whole_at_any_width(tmp_path: Path) -> None:
    name = f"{'deep/' * 14}compose.yaml"
    text = f"services:\n  {'a' * 200}:\n    image: registry.example/{'b' * 200}\n    gpus: all\n"
    started = run(tmp_path, {name: text, "compose.yaml": MANY})
    for width in (60, 80, 120):
        lines = list(inventory.table(started, "need", width))
        assert name in lines and "compose.yaml" in lines
        assert [line for line in lines if columns(line) > width] == ([] if len(name) <= width else [name])
        assert any(line.startswith("  2     aaaa") for line in lines)
    assert any(line.startswith(f"{name}:2  ") for line in inventory.table(started, "need", 1000))


OVERLAY = "resources: [../base]\n"
PATCH = (
    "patches:\n- patch: |\n    kind: Deployment\n    metadata: {name: o}\n"
    "    spec: {template: {spec: {containers: [{name: vllm, image: IMAGE}]}}}\n"
)
BASE = {
    "base/kustomization.yaml": "resources: [d.yaml]\n",
    "base/d.yaml": under("apps/v1", "Deployment", "spec", "template", "spec", spec=f"containers:\n{container()}"),
    **{f"{name}/kustomization.yaml": OVERLAY for name in ("a", "b", "c", "d", "e")},
}
OVERLAYS = [
    (BASE, [""], ["needs about 766 MiB"]),
    (BASE | {"b/kustomization.yaml": OVERLAY + PATCH.replace("IMAGE", "vllm/vllm-openai:v0.9")},
     ["a, c, d and 1 more", "b"], ["needs about 766 MiB\n"]),
    (BASE | {"b/kustomization.yaml": OVERLAY + PATCH.replace("IMAGE", "ollama/ollama")},
     ["a, c, d and 1 more", "b"], ["needs about 766 MiB (when built by a, c, d and 1 more)\n"]),
]  # fmt: skip


@table("files, ways, said", OVERLAYS)
def test_a_base_has_a_row_for_each_way_it_is_built(
    tmp_path: Path, files: dict[str, str], ways: list[str], said: list[str]
) -> None:
    started = run(tmp_path, files)
    found = list(csv.DictReader(inventory.csv(started).splitlines()))
    assert [row["files"] for row in found] == ways and len({row["where"] for row in found}) == 1
    assert inventory.totals(started, started.launches).launches == 1 and len(started.findings) == 1
    report = "\n".join(render(started, started.findings, Style(width=200)))
    assert [text for text in said if text not in report] == []


def test_the_counts_add_up(tmp_path: Path) -> None:
    started = run(tmp_path, MANY + "  x:\n    image: redis\n    runtime: ${X}\n")
    counts = inventory.totals(started, started.launches)
    assert counts.launches == counts.with_gpu + counts.without_gpu + counts.gpu_unknown
    assert counts.with_gpu == counts.lacking + counts.sized + counts.not_needed + counts.unknown
    numbers = [counts.launches, counts.with_gpu, counts.lacking, counts.sized, counts.not_needed, counts.unknown,
               counts.without_gpu, counts.gpu_unknown]  # fmt: skip
    assert min(numbers) > 0
    line = " ".join(inventory.summary(started))
    assert [int(number) for number in re.findall(r"\d+", line)] == numbers


@table(
    ("text", "counts"),
    [
        ('f() { docker run --gpus all "$@"; }\nf --shm-size=64g IMG\nf --ipc=host IMG\nf IMG\n', (3, 1, 2)),
        ('f() { docker run --name "$1" --gpus all IMG $2; }\nf a x\nf b x\nf b y\n', (3, 3, 0)),
        ('f() { docker run --gpus "$1" IMG; }\nf 1\nf 8\n', (2, 1, 0)),
        ("f() { docker run --gpus all IMG; }\nf\nf\n", (1, 1, 0)),
    ],
)
def test_each_start_of_a_command_counts(tmp_path: Path, text: str, counts: tuple[int, ...]) -> None:
    """There are as many rows as the summary counts."""
    started = run(tmp_path, {"run.sh": text.replace("IMG", "vllm/vllm-openai -tp 8")})
    totals = inventory.totals(started, started.launches)
    assert (totals.launches, totals.lacking, totals.sized + totals.unknown) == counts
    assert len(inventory.rows(started)) == totals.launches == summary(started, started.findings)["launches"]


ENV = "IMG=registry.example/secret/tool\nNAME=s3cr3t\nSHM=77m\nOPTIONS=size=77m\nSMALL=77\n"
RANKS = "torchrun --nproc_per_node=8 train.py"
OF_ENV = f"""services:
  a: {{image: "${{IMG}}", gpus: all, shm_size: "${{SHM}}", command: {RANKS}}}
  b: {{image: "x/${{NAME}}", gpus: all, ipc: "service:a", command: {RANKS}}}
  c: {{image: "x/${{NAME}}", gpus: all, tmpfs: ["/dev/shm:${{OPTIONS}}"], shm_size: 8g, command: {RANKS}}}
  d:
    image: "x/${{NAME}}"
    gpus: all
    command: {RANKS}
    volumes: [{{type: tmpfs, target: /dev/shm, tmpfs: {{size: "${{SHM}}"}}}}]
  e: {{image: "x/${{NAME}}", gpus: all, shm_size: "${{SMALL}}", command: {RANKS}}}
  f: {{image: "${{IMG}}", gpus: all, shm_size: "${{SHM}}"}}
"""
VALUES = re.compile(r"secret|s3cr3t|77|80740352")


def test_nothing_of_an_env_file_is_printed(tmp_path: Path) -> None:
    started = run(tmp_path, {"compose.yaml": OF_ENV, ".env": ENV})
    shown = [*inventory.table(started), inventory.csv(started), inventory.markdown(started), json.inventory(started)]
    shown += [line for launch in started.launches for line in trail.render(started, launch)]
    shown += [*render(started, started.findings, Style(verbose=True)), json.render(started, started.findings)]
    assert len(started.launches) == 6 and len(started.findings) >= 6
    assert [line for line in shown if VALUES.search(line)] == []
