"""Builds of images: what an image has of its base, where the repository builds that one, too."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import LOADER, need

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
    "built, base, verdict",
    [
        ("me/tools:base", "docker.io/me/tools:base", "likely"),
        ("docker.io/me/tools:base", "index.docker.io/me/tools:base", "likely"),
        ("me/tools:base", "ghcr.io/me/tools:base", "not-needed"),
    ],
)
def test_a_base_that_the_repository_builds_for_docker_hub(tmp_path: Path, built: str, base: str, verdict: str) -> None:
    start = f"{BUILDS.replace('tools:base', built)}docker run --gpus all tools python train.py\n"
    files = {**FILES, "start.sh": start, "base.Dockerfile": "FROM python:3.12\nENV WORKERS=8\n"}
    files["Dockerfile"] = FILES["Dockerfile"].replace("tools:base", base)
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


@table(
    "place, verdict",
    [
        ("docker/voices/scripts", "not-needed"), ("docker/scripts", "not-needed"), ("scripts", "not-needed"),
        ("docker/voices", "unknown"), ("elsewhere/scripts", "unknown"),
    ],
)  # fmt: skip
def test_a_build_that_nobody_tells_copies_from_where_its_files_are(tmp_path: Path, place: str, verdict: str) -> None:
    files = {"README.md": "```\ndocker run --gpus all voices\n```\n", f"{place}/begin.sh": "nvidia-smi\n"}
    image = "FROM ubuntu\nCOPY scripts/begin.sh /opt/begin-it\nENTRYPOINT bash /opt/begin-it\n"
    assert need(tmp_path, {**files, "docker/voices/Dockerfile": image}).verdict == verdict


@table("place, verdict", [("docker", "not-needed"), ("elsewhere", "unknown")])
def test_a_script_beside_the_dockerfile_that_another_stage_gives_the_image(
    tmp_path: Path, place: str, verdict: str
) -> None:
    image = (
        "FROM ubuntu AS first\nCOPY . /all\nRUN cp /all/docker/begin.sh /opt/begin.sh\n"
        "FROM ubuntu\nCOPY --from=first /opt/begin.sh /opt/begin.sh\nENTRYPOINT [\"/opt/begin.sh\"]\nCMD nvidia-smi\n"
    )
    start = "docker build -f docker/Dockerfile -t own .\ndocker run --gpus all own\n"
    files = {"pages/README.md": f"```\n{start}```\n", "docker/Dockerfile": image}
    assert need(tmp_path, {**files, f"{place}/begin.sh": "nvidia-smi\n"}).verdict == verdict


@table(
    "run, shown",
    [
        ("RUN apt-get update && \\\n    # PyTorch\n    pip install -U torch==2.5 pycuda && \\\n    ls", 4),
        ("RUN apt-get update \\\n && pip install pycuda", None),
        ("RUN pip install torch", 2),
        ("ARG PIP=pip3\nRUN ${PIP} --no-cache-dir install torch", 3),
        ("ENV PIP3=pip3\nRUN $PIP3 install torch", 3),
        ("RUN $PIPELINE install torch", None),
        ("RUN echo torchvision && \\\n    pip install 'torch[all]'", 3),
    ],
)
def test_the_line_of_a_run_that_installs_a_package(tmp_path: Path, run: str, shown: int | None) -> None:
    start = "docker build -t own .\ndocker run --gpus all -it own bash\n"
    found = need(tmp_path, {"start.sh": start, "Dockerfile": f"FROM ubuntu\n{run}\n"})
    lines = [told.span.line for told in found.evidence if told.span is not None and told.text == "installs torch"]
    assert lines == ([shown] if shown else [])


@table(
    ("start", "verdict"),
    [
        ("docker run --gpus all myorg/web", "likely"),
        ("docker run --gpus all $IMAGE", "likely"),
        ("docker build -t trainer .\ndocker run --gpus all exporter", "likely"),
        ("docker run --gpus all myorg/web torchrun --nproc_per_node=8 t.py", "needed"),
        ("docker build -t myorg/web .\ndocker run --gpus all myorg/web", "needed"),
    ],
)
def test_no_error_rests_on_the_only_dockerfile(tmp_path: Path, start: str, verdict: str) -> None:
    """Nothing but a guess leads to it, and the launch itself names no program."""
    docker = 'FROM nvcr.io/nvidia/pytorch:24.01-py3\nCMD ["torchrun", "--nproc_per_node=8", "t.py"]\n'
    assert need(tmp_path, {"run.sh": f"{start}\n", "Dockerfile": docker}).verdict == verdict


BASED = "ARG BASE=pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\nFROM ${BASE}\nARG ME\n"
BASED += "ARG MANY=0\nENV MANY=$MANY\nCOPY *.py .\n"
FEW = "import os\nfrom torch.utils.data import DataLoader\nDataLoader(d, num_workers=int(os.environ['MANY']))\n"


@table(
    "options, command, verdict",
    [
        ("--build-arg BASE=$BASE", "bash", "likely"),
        ("--build-arg BASE=`cat base`", "bash", "likely"),
        ("--build-arg BASE=ubuntu:24.04", "bash", "unknown"),
        # No error rests on a base that is supposed.
        ("--build-arg BASE=$BASE", "python fit.py", "likely"),
        ("--build-arg ME=$(id -u)", "python fit.py", "needed"),
        # The defaults of other arguments are not taken for what a build gives them.
        ("--build-arg MANY=$MANY", "python few.py", "unknown"), ("", "python few.py", "not-needed"),
    ],
)  # fmt: skip
def test_a_base_that_an_unknown_argument_gives(tmp_path: Path, options: str, command: str, verdict: str) -> None:
    start = f"docker build {options} -t own/fit .\ndocker run -it --gpus all own/fit {command}\n"
    assert need(tmp_path, {"run.sh": start, "Dockerfile": BASED, "fit.py": LOADER, "few.py": FEW}).verdict == verdict
