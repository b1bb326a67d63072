"""What the code that a container sees does, where it is not known which of it runs."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import compose, need


@table(
    "given, verdict",
    [
        ("num_cpus=2", "needed"),
        ("num_cpus=2, address=None", "needed"),
        ("address='auto'", "needed"),
        ("address='local'", "needed"),
        ("num_cpus=2, address=head()", "unknown"),
        ("os.environ['HEAD']", "unknown"),
        ("num_cpus=2, address='10.0.0.5:6379'", "unknown"),
    ],
)
def test_a_program_starts_ray_or_joins_it(tmp_path: Path, given: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python fit.py"), "fit.py": f"import os\nimport ray\nray.init({given})\n",
        "Dockerfile": "FROM python:3.12\nWORKDIR /app\nCOPY . .\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "base, recommended",
    [
        ("python:3.12", 1 << 30),
        ("nvcr.io/nvidia/pytorch:24.01-py3", 8 << 30),
    ],
)
def test_where_code_tells_no_size_the_image_does(tmp_path: Path, base: str, recommended: int) -> None:
    files = {
        "compose.yaml": compose("python fit.py"), "fit.py": "import ray\nray.init(num_cpus=2)\n",
        "Dockerfile": f"FROM {base}\nWORKDIR /app\nCOPY . .\n",
    }  # fmt: skip
    assert need(tmp_path, files).recommended == recommended


@table(
    "code, verdict",
    [
        ("import ray\nray.init()\n", "likely"),
        ("import ray as r\nr.init(num_cpus=2)\n", "likely"),
        ("from ray import init\ninit(num_cpus=2, address=None)\n", "likely"),
        ("import ray\nray.init('local')\n", "likely"),
        ("from ray.tune import Tuner\nTuner(steps).fit()\n", "likely"),
        ("import ray\nray.init(num_cpus=2, address=HEAD)\n", "unknown"),
        ("import ray\nray.init(HEAD)\n", "unknown"),
        ("import ray\n# ray.init()\nray.init(address=HEAD)\n", "unknown"),
        ("import ray\n'''Call ray.init() before.'''\nray.init(HEAD, num_cpus=2)\n", "unknown"),
        ("import ray\nother.Tuner(ray)\n", "unknown"),
    ],
)
def test_code_starts_ray_or_joins_it(tmp_path: Path, code: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("bash", "    tty: true\n    volumes: [.:/app]\n"), "own.py": code,
        "Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install ray\nWORKDIR /app\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
