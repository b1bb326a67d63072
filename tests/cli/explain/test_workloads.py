"""What `shmlint explain` says of workloads."""

from __future__ import annotations

import re

from click.testing import CliRunner

from shmlint.cli import explain
from shmlint.cli import program as cli
from shmlint.cli.explain.workloads import search
from shmlint.workloads.knowledge import Workload, builtin
from tests.table import table


@table(
    ("asked", "ids"),
    [
        ("vllm", ["vllm"]),
        ("VLLM", ["vllm"]),
        ("Hugging Face TGI", ["tgi"]),
        ("vllm/vllm-openai:v0.11.0", ["vllm"]),
        ("nvcr.io/nvidia/pytorch:24.01-py3", ["ngc"]),
        ("frig", ["frigate-older", "frigate"]),
        ("frigate", ["frigate"]),
        ("blakeblackshear/frigate", ["frigate"]),
        ("blakeblackshear/frigate:0.14.1", ["frigate-older"]),
        ("megatron", ["megatron-lm"]),
        ("qqqqqq", []),
    ],
)
def test_a_workload_by_id_name_part_or_image(asked: str, ids: list[str]) -> None:
    assert [workload.id for workload in search(asked, builtin())] == ids


def test_a_part_of_several_lists_them() -> None:
    lines = list(explain.explain("workload:llama"))
    assert lines[0] == "Several workloads have a name like llama:"
    assert {"ollama", "llama-cpp", "llama-factory"} <= {line.split()[0] for line in lines[2:]}


def test_all_workloads_are_listed() -> None:
    lines = list(explain.explain("workload:"))
    assert [line.split()[0] for line in lines[2:]] == [workload.id for workload in builtin()]


@table("workload", builtin(), ids=lambda workload: workload.id)
def test_all_that_is_known_of_a_workload_is_shown(workload: Workload) -> None:
    shown = " ".join(" ".join(explain.explain(f"workload:{workload.id}")).split())
    assert shown.startswith(workload.name)
    told = [str(workload.entry.get(key, "")) for key in ("quote", "condition", "formula", "formula_source", "notes")]
    for text in (workload.because, workload.source, *told, *workload.images):
        assert " ".join(text.split()) in shown
    assert ("not checked against a source" in shown) is not workload.verified
    command = re.search(r"how much shmlint (size .+)$", shown)
    assert (command is not None) is (workload.needs != "no")
    if command is not None:
        words = command[1].replace(" N ", " 2 ").replace("SIZE", "8g").replace("WIDTHxHEIGHT", "1280x720").split()
        result = CliRunner().invoke(cli.program, words)
        assert result.exit_code == 0 and result.stdout.startswith(workload.name)


def test_when_a_command_alone_is_an_error_is_explained() -> None:
    told = {name: " ".join(" ".join(explain.explain(name)).split()) for name in ("trl", "lerobot", "ollama")}
    assert "error for its command alone with several GPUs" in told["trl"]
    assert "error not for its command alone" in told["lerobot"] and " error " not in told["ollama"]
