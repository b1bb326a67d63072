"""Defaults that the example of a project's env file contradicts."""

from __future__ import annotations

from pathlib import Path

from tests import project
from tests.table import table

COMPOSE = """\
services:
  ask:
    image: vllm/vllm-openai:v0.6.3
    gpus: all
    command: --model a/b --tensor-parallel-size ${RANKS:-1}
"""
TGI = "ghcr.io/huggingface/text-generation-inference:2.4.0"
LISTED = COMPOSE.replace("--model a/b --tensor-parallel-size ${RANKS:-1}", '[--model, a/b, "-tp=${RANKS:-1}"]')


@table(
    "name, example, verdict",
    [
        ("compose.yaml", "", "not-needed"),
        (".env.example", "RANKS=2\n", "likely"),
        (".env.example", "# Ranks\nexport RANKS='2'\n", "likely"),
        ("env.sample", "RANKS=4\n", "likely"),
        ("example.env", "RANKS=4\n", "likely"),
        (".env.gpu.template", "RANKS=4\n", "likely"),
        (".env.example", "RANKS=1\n", "not-needed"),
        (".env.example", "RANKS=\n", "not-needed"),
        (".env.example", "# RANKS=2\nOTHER=2\n", "not-needed"),
        (".env.example", "RANKS='2\n", "not-needed"),  # no env file that Compose reads
        ("notes.txt", "RANKS=2\n", "not-needed"),
        ("sub/.env.example", "RANKS=2\n", "not-needed"),
    ],
)
def test_a_default_that_an_example_contradicts(tmp_path: Path, name: str, example: str, verdict: str) -> None:
    for text in (COMPOSE, LISTED):
        files = {name: example, "compose.yaml": text}
        run = project.run(tmp_path, files)
        (launch,) = run.launches
        assert run.need(launch).verdict == verdict


@table("value, verdict", [("1", "not-needed"), ("2", "needed")])
def test_an_env_file_decides_whatever_its_example_says(tmp_path: Path, value: str, verdict: str) -> None:
    for example in ("RANKS=1\n", "RANKS=2\n"):
        files = {".env.example": example, ".env": f"RANKS={value}\n", "compose.yaml": COMPOSE}
        run = project.run(tmp_path, files)
        (launch,) = run.launches
        assert run.need(launch).verdict == verdict


@table(
    "value, example, verdict",
    [
        ("0", "", "not-needed"),
        ("0", "IDS=0\n", "not-needed"),
        ("0", "IDS=0,1\n", "likely"),
        ("0,1", "IDS=0\n", "likely"),
    ],
)
def test_devices_that_an_example_sets_otherwise(tmp_path: Path, value: str, example: str, verdict: str) -> None:
    ids = f"${{IDS:-{value}}}"
    for environment in (f"['CUDA_VISIBLE_DEVICES={ids}']", f"{{CUDA_VISIBLE_DEVICES: '{ids}'}}"):
        text = f"services:\n  ask:\n    image: {TGI}\n    gpus: all\n    environment: {environment}\n"
        run = project.run(tmp_path, {"compose.yaml": text, ".env.example": example})
        (launch,) = run.launches
        assert run.need(launch).verdict == verdict
        assert launch.gpu.requested
