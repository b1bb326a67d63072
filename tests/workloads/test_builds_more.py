"""Builds of images: what an image has of its base, where the repository builds that one, too."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import need

LOADS = "from torch.utils.data import DataLoader\n"
FILES = {
    "train.py": f"import os\n{LOADS}DataLoader(d, num_workers=int(os.getenv('WORKERS', '0')))\n",
    "large.py": f"{LOADS}DataLoader(d, num_workers=8)\n",
    "small.py": "print(1)\n",
    "Dockerfile": "FROM tools:base\nWORKDIR /app\nCOPY . .\n",
}
BUILDS = "docker build -t tools:base -f base.Dockerfile .\ndocker build -t tools .\n"


@table(
    "base, command, verdict",
    [
        ("", "python train.py", "not-needed"),
        ("ENV WORKERS=8", "python train.py", "likely"),
        ("ENV WORKERS=0", "python train.py", "not-needed"),
        ("ONBUILD ENV WORKERS=8", "python train.py", "unknown"),
        ("ONBUILD COPY other /app", "python train.py", "unknown"),
        ("ENTRYPOINT python /app/large.py", "", "likely"),
        ('ENTRYPOINT ["python", "/app/large.py"]', "--help-me", "likely"),
        ('CMD ["python", "/app/small.py"]', "", "not-needed"),
        ('CMD ["python", "/app/large.py"]', "", "likely"),
        ('CMD ["python", "/app/large.py"]', "python small.py", "not-needed"),
    ],
)
def test_an_image_has_what_its_own_base_gives_it(tmp_path: Path, base: str, command: str, verdict: str) -> None:
    start = f"{BUILDS}docker run --gpus all tools {command}\n"
    files = {**FILES, "start.sh": start, "base.Dockerfile": f"FROM python:3.12\n{base}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "base, given, verdict",
    [
        ("", "    command: python train.py\n", "not-needed"),
        ("ENV WORKERS=8", "    command: python train.py\n", "likely"),
        ("ONBUILD ENV WORKERS=8", "    command: python train.py\n", "unknown"),
        ('ENTRYPOINT ["python", "/app/large.py"]', "", "likely"),
        ('ENTRYPOINT ["python", "/app/large.py"]', "    entrypoint: python small.py\n", "not-needed"),
    ],
)
def test_a_service_is_built_on_another(tmp_path: Path, base: str, given: str, verdict: str) -> None:
    gpus = "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}"
    own = f"  app:\n    build: .\n    {gpus}\n{given}"
    text = f"services:\n{own}  base:\n    image: tools:base\n    build: {{context: ., dockerfile: base.Dockerfile}}\n"
    files = {**FILES, "compose.yaml": text, "base.Dockerfile": f"FROM python:3.12\n{base}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "image, more, verdict",
    [
        ("ours/tracker", {}, "unknown"),
        ("tracker", {}, "not-needed"),
        ("ours/tracker nvidia-smi", {}, "not-needed"),
        ("ours/tracker", {"tracker/build.sh": "docker build -t ours/tracker .\n"}, "not-needed"),
        ("ours/tracker:2", {"tracker/build.sh": "docker build -t ours/tracker:1 .\n"}, "not-needed"),
        ("ours/tracker", {"README.md": "https://github.com/ours/tracker\n", "Dockerfile": ""}, "not-needed"),
    ],
)
def test_a_dockerfile_that_only_a_name_leads_to_clears_nothing(
    tmp_path: Path, image: str, more: dict[str, str], verdict: str
) -> None:
    text = "FROM python:3.12\nWORKDIR /app\nCOPY . .\nCMD python small.py\n"
    files = {"tracker/start.sh": f"docker run --gpus all {image}\n", "tracker/Dockerfile": text, **more}
    files |= {"tracker/small.py": "print(1)\n"}
    if "Dockerfile" in more:
        files |= {"Dockerfile": files.pop("tracker/Dockerfile"), "small.py": files.pop("tracker/small.py")}
    assert need(tmp_path, files).verdict == verdict
