"""Container starts in languages that are not read: each is reported with its line."""

from __future__ import annotations

from json import loads
from pathlib import Path

from shmlint.reports import inventory, json
from tests.project import run
from tests.table import table

RUN = "docker run --gpus all"
NOTEBOOK = '{{"cells": [\n {{"cell_type": "code",\n  "source": [\n   "x = 1\\n",\n   "{}"\n  ]}}\n]}}\n'


@table(
    ("name", "text", "lines"),
    [
        ("x.ps1", f"# {RUN} IMG\n  {RUN} IMG\nWrite-Host \"{RUN}\"\n& docker.exe run x\n", [2, 4]),
        ("x.bat", f":: {RUN}\r\nrem {RUN} IMG\r\nstart /b {RUN} IMG\r\ndocker compose run x\r\n", [3]),
        ("x.adoc", f"= Title\n\n[source,sh]\n----\n$ {RUN} IMG\n----\nUse `{RUN} IMG`, not docker run.\n", [5, 7]),
        ("x.asciidoc", "....\nsudo podman run \\\n  --gpus all IMG\n....\ndocker compose run --rm x\n", [2]),
        ("x.ipynb", NOTEBOOK.format(f"!{RUN} IMG"), [5]),
        ("x.ipynb", NOTEBOOK.format("!docker run \\\\\\n"), [5]),
        ("x.ipynb", NOTEBOOK.format("docker.run()"), []),
    ],
)  # fmt: skip
def test_starts_are_reported(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    result = run(tmp_path, {name: text})
    assert [(place.span.line, place.kind) for place in result.not_read] == [(line, "unsupported") for line in lines]
    assert result.launches == ()
    assert sum(": not read: " in line for line in inventory.table(result)) == len(lines)
    assert len(loads(json.inventory(result))["not_read"]) == len(lines)
