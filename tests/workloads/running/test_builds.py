"""Which Dockerfile of the repository gives an image."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import findings
from tests.table import table
from tests.workloads.cases import DOCKERFILE, GPUS, HELPER, JOINS, LOADER, PYTORCH, SERVE, need


@table(
    "path, text, verdict",
    [
        ("docs/start.md", "cd gpu\ndocker build -t mine .", "needed"),
        ("docs/start.md", "git clone https://github.com/me/app.git\ncd app/gpu && docker build -t mine .", "needed"),
        ("docs/start.md", "cd ~/app/gpu  # there\ndocker build -t mine -f Dockerfile ..", "needed"),
        ("tools/build.sh", "cd ..\ncd gpu\ndocker build -t mine .", "needed"),
        ("tools/build.sh", "(cd gpu && docker build -t mine .)", "needed"),
        ("tools/build.sh", 'cd "$(dirname "$0")/../gpu" && docker build -t mine .', "needed"),
        ("tools/build.sh", 'cd "${HERE}/gpu"\ndocker build -t mine .', "needed"),
        ("tools/build.sh", "pushd gpu > /dev/null\ndocker build -t mine .\npopd", "needed"),
        ("tools/build.sh", "pushd gpu\nmake\npopd\ndocker build -t mine .", "unknown"),
        ("tools/build.sh", 'sh -c "cd gpu && docker build -t mine ."', "needed"),
        ("tools/build.sh", "if cd gpu; then docker build -t mine .; fi", "needed"),
        # It is changed back, in a shell of its own, or elsewhere on the page.
        ("tools/build.sh", "cd gpu; make; cd ..\ndocker build -t mine .", "unknown"),
        ("tools/build.sh", "(cd gpu && make)\ndocker build -t mine .", "unknown"),
        ("docs/start.md", "cd gpu\n```\n\n```\ndocker build -t mine .", "unknown"),
        ("docs/start.md", "cd gpu/$KIND\ndocker build -t mine .", "unknown"),
    ],
)
def test_a_build_in_a_directory_that_is_changed_to(tmp_path: Path, path: str, text: str, verdict: str) -> None:
    text = f"{text}\ndocker run --gpus all mine\n"
    files = {path: f"```\n{text}```\n" if path.endswith("md") else text, "gpu/train.py": LOADER}
    files["gpu/Dockerfile"] = DOCKERFILE + 'COPY train.py gpu/train.py .\nCMD ["python", "train.py"]\n'
    assert need(tmp_path, files).verdict == verdict


@table(
    "path, comment, image, verdict",
    [
        ("Dockerfile", "# docker build -t me/trainer .", "me/trainer", "needed"),
        ("Dockerfile", "#   $ sudo docker build --pull \\\n#     -t me/trainer:2 .", "me/trainer:2", "needed"),
        ("docker/Dockerfile", "# docker build -t me/trainer -f docker/Dockerfile .", "me/trainer", "needed"),
        ("docker/Dockerfile", "# docker build -t me/trainer docker/", "me/trainer", "needed"),
        ("docker/Dockerfile.gpu", "# podman build -f Dockerfile.gpu -t me/trainer .", "me/trainer", "needed"),
        ("Dockerfile", "# Build (with GPUs):  docker build -t me/trainer .", "me/trainer", "needed"),
        # Another owner leads to it by a guess.
        ("Dockerfile", "# docker build -t trainer .", "me/trainer", "likely"),
        # Another Dockerfile's comment, another image, and no comment on a build.
        ("Dockerfile.gpu", "# docker build -t me/trainer .", "me/trainer", "unknown"),
        ("docker/Dockerfile", "# docker build -t me/trainer -f cpu/Dockerfile .", "me/trainer", "unknown"),
        ("Dockerfile", "# docker build -t you/other .", "me/trainer", "unknown"),
        ("Dockerfile", "# docker push me/trainer", "me/trainer", "unknown"),
        ("Dockerfile", "RUN echo docker build -t me/trainer .", "me/trainer", "unknown"),
    ],
)
def test_a_comment_says_how_its_dockerfile_is_built(
    tmp_path: Path, path: str, comment: str, image: str, verdict: str
) -> None:
    build = f"{DOCKERFILE}{comment}\nRUN pip install torch\n"
    files = {"run.sh": f"docker run --gpus all {image}\n", "train.py": LOADER, "docker/train.py": LOADER}
    files[path] = build + 'COPY train.py /app/train.py\nCMD ["python", "/app/train.py"]\n'
    assert need(tmp_path, files, ("run.sh",)).verdict == verdict


@table(
    "tag, image, verdict",
    [
        ("docker tag mine:latest a.io/mine:2", "a.io/mine:2", "needed"),
        ("docker image tag mine other:1", "other:1", "needed"),
        ("docker tag mine a.io/you/mine && docker tag a.io/you/mine other:1", "other:1", "needed"),
        ("docker tag yours:1 a.io/other:2", "a.io/other:2", "likely"),
    ],
)
def test_another_name_for_an_image_that_is_built(tmp_path: Path, tag: str, image: str, verdict: str) -> None:
    text = f"docker build -t mine -f work/Dockerfile .\n{tag}\ndocker run --gpus all {image} python train.py\n"
    files = {"run.sh": text, "work/Dockerfile": DOCKERFILE + "RUN pip install torch\n", "train.py": LOADER}
    assert need(tmp_path, files).verdict == verdict


@table(
    "built, image, verdict",
    [
        ("me/mine", "docker.io/me/mine:latest", "needed"),
        ("me/mine:1", "index.docker.io/me/mine:1", "needed"),
        ("registry-1.docker.io/me/mine", "me/mine", "needed"),
        ("localhost/me/mine", "docker.io/me/mine", "needed"),
        # Another registry, another tag, and another owner: it is not known to be the same image.
        ("me/mine", "ghcr.io/me/mine", "likely"),
        ("me/mine:1", "index.docker.io/me/mine:2", "likely"),
        ("me/mine", "index.docker.io/you/mine", "likely"),
    ],
)
def test_a_build_and_a_run_write_docker_hub_differently(tmp_path: Path, built: str, image: str, verdict: str) -> None:
    build = f"docker build -t {built} -f work/Dockerfile .\n"
    files = {"build.sh": build, "run.sh": f"docker run --gpus all {image} python train.py\n", "train.py": LOADER}
    files["work/Dockerfile"] = DOCKERFILE + "RUN pip install torch\n"
    assert need(tmp_path, files, ("run.sh",)).verdict == verdict


@table(
    "build, verdict",
    [
        ("docker build -t mine - < work/Dockerfile", "likely"),
        ("cat work/Dockerfile | docker build -t mine -", "likely"),
        ("docker build -t mine -f - . < work/Dockerfile", "needed"),
        ("docker build -t mine -f - . <<EOF\n{}EOF", "needed"),
        ("docker build -t mine -f- . <<'EOF'\n{}EOF", "needed"),
        ("docker build -t mine - <<EOF\n{}EOF", "likely"),  # without a context nothing is copied
        # Not known: what a program or an archive gives.
        ("sed s/a/b/ work/Dockerfile | docker build -t mine -", "unknown"),
        ("docker build -t mine - < $ARCHIVE", "unknown"),
    ],
)
def test_a_dockerfile_that_is_the_input_of_its_build(tmp_path: Path, build: str, verdict: str) -> None:
    dockerfile = DOCKERFILE + 'RUN pip install torch\nCOPY train.py /app/train.py\nCMD ["python", "/app/train.py"]\n'
    text = f"{build.format(dockerfile)}\ndocker run --gpus all mine\n"
    files = {"run.sh": text, "work/Dockerfile": dockerfile, "train.py": LOADER}
    assert need(tmp_path, files).verdict == verdict


PUSHES = """
on: push
jobs:
  push:
    runs-on: ubuntu-latest
    steps:
      - uses: docker/metadata-action@v5
        id: meta
        with: {images: "ghcr.io/${{ github.repository }}"}
      - uses: docker/build-push-action@v6
        with: {context: ., file: work/Dockerfile, tags: "${{ steps.meta.outputs.tags }}"}
"""


TOGETHER = PUSHES.replace("on: push", "on: push\nenv: {REGISTRY: ghcr.io, IMAGE: me/tool}")
TOGETHER = TOGETHER.replace("ghcr.io/${{ github.repository }}", "${{ env.REGISTRY }}/${{ env.IMAGE }}")


@table(
    "image, verdict",
    [
        ("ghcr.io/me/tool:latest", "needed"), ("ghcr.io/me/tool", "needed"), ("ghcr.io/you/tool", "unknown"),
        ("ghcr.io/me/other", "unknown"),
    ],
)  # fmt: skip
def test_a_workflow_puts_the_name_of_its_image_together(tmp_path: Path, image: str, verdict: str) -> None:
    build = DOCKERFILE + 'RUN pip install torch\nENTRYPOINT ["torchrun", "--nproc_per_node=2", "train.py"]\n'
    files = {"compose.yaml": f"services:\n  app:\n    image: {image}\n    {GPUS}\n", "work/Dockerfile": build}
    files[".github/workflows/push.yml"] = TOGETHER
    assert need(tmp_path, {**files, "train.py": JOINS}, ("compose.yaml",)).verdict == verdict


@table(
    "image, links, verdict",
    [
        ("ghcr.io/me/tool:main", "https://github.com/Me/Tool/issues", "likely"),
        ("ghcr.io/me/tool", "git@github.com:me/tool.git", "likely"),
        ("ghcr.io/me/other", "https://github.com/me/tool", "unknown"),
        ("quay.io/me/tool", "https://github.com/me/tool", "unknown"),
        ("ghcr.io/you/lib", "github.com/me/tool, github.com/me/tool/wiki, github.com/you/lib", "unknown"),
        ("ghcr.io/me/tool", "", "unknown"),
    ],
)
def test_a_workflow_names_its_image_after_the_repository(
    tmp_path: Path, image: str, links: str, verdict: str
) -> None:
    page = f"# Tool\n\n{links}\n\n```bash\ndocker run --gpus all -it {image} bash\n```\n"
    build = DOCKERFILE + "RUN pip install torch\n"
    files = {"README.md": page, ".github/workflows/push.yml": PUSHES, "work/Dockerfile": build}
    assert need(tmp_path, files, ("README.md",)).verdict == verdict


@table(
    "image, more, verdict",
    [
        ("me/tool", (), "not-needed"), ("docker.io/me/tool:gpu", (), "not-needed"),
        ("ghcr.io/Me/Tool:1.2", (), "not-needed"),
        ("you/tool", (), "not-needed"), ("me/tool-server", (), "unknown"), ("me/tool", ("Dockerfile.cpu",), "unknown"),
        ("me/tool", ("dockerfile.cpu",), "unknown"), ("me/tool", ("cpu.dockerfile",), "unknown"),
        ("me/tool", ("Dockerfile.dockerignore",), "not-needed"), ("me/tool", ("dockerfile_parser.py",), "not-needed"),
        ("me/tool", ("Dockerfiles/cpu",), "not-needed"),
    ],
)  # fmt: skip
def test_an_image_with_the_name_of_the_repository_is_built_from_its_only_dockerfile(
    tmp_path: Path, image: str, more: tuple[str, ...], verdict: str
) -> None:
    page = f"# Tool\n\nFrom https://github.com/me/tool\n\n```bash\ndocker run --gpus all {image} --port 80\n```\n"
    build = DOCKERFILE + 'ENTRYPOINT ["python", "serve.py"]\n'
    files = {"README.md": page, "Dockerfile": build, "serve.py": SERVE, "helper.py": HELPER}
    assert need(tmp_path, files | dict.fromkeys(more, build), ("README.md",)).verdict == verdict


@table(
    "path, image, links, dockerfiles, verdict",
    [
        ("README.md", "you/ro-bot", "github.com/me/Robot", ("Dockerfile",), "likely"),
        ("README.md", "you/ro_bot:1", "github.com/me/robot", ("docker/Dockerfile", "docker/Dockerfile.bak"), "likely"),
        ("docker/run.sh", "you/robot", "github.com/me/a, github.com/me/a, github.com/me/robot",
         ("docker/Dockerfile", "Dockerfile.cpu"), "likely"),
        ("README.md", "you/arms", "github.com/me/robot", ("docker/Dockerfile",), "likely"),  # the package at the top
        ("README.md", "you/my-robot:1.2-gpu", "", ("docker/Dockerfile-robot-1.2-gpu", "docker/Dockerfile"), "likely"),
        # Another name, several Dockerfiles, one that is not beside it, and a tag alone.
        ("README.md", "you/robots", "github.com/me/robot", ("Dockerfile",), "unknown"),
        ("README.md", "you/robot", "github.com/me/robot", ("Dockerfile", "Dockerfile.cpu"), "unknown"),
        ("README.md", "you/robot", "github.com/me/robot", ("docker/dockerfile",), "likely"),
        ("README.md", "you/robot", "github.com/me/robot", ("gpu.dockerfile",), "likely"),
        ("README.md", "you/robot", "github.com/me/a, github.com/me/a, github.com/me/robot", ("Dockerfile.cpu",),
         "likely"),
        ("docs/run.sh", "you/robot", "github.com/me/a, github.com/me/a, github.com/me/robot", ("Dockerfile",),
         "unknown"),
        ("README.md", "you/robot:1.2", "", ("docker/Dockerfile-1.2", "docker/Dockerfile"), "unknown"),
        ("README.md", "you/robot", "", ("docker/Dockerfile-robot", "docker/Dockerfile"), "unknown"),
        ("README.md", "you/gpu", "github.com/me/gpu", ("Dockerfile",), "unknown"),
    ],
)  # fmt: skip
def test_an_image_of_somebody_else_that_is_called_like_the_repository(
    tmp_path: Path, path: str, image: str, links: str, dockerfiles: tuple[str, ...], verdict: str
) -> None:
    for old in ("Dockerfile*", "*.dockerfile", "docker/*", "docs/*"):
        for file in tmp_path.glob(old):
            file.unlink()
    start = f"docker run --gpus all -it {image} bash\n"
    build = DOCKERFILE + "RUN pip install torch\n"
    page = f"# Robot\n\nSee {links}\n"
    files = {"README.md": page, "arms/__init__.py": "", **dict.fromkeys(dockerfiles, build)}
    files[path] = f"{page}\n```bash\n{start}```\n" if path.endswith("md") else start
    assert need(tmp_path, files, (path,)).verdict == verdict
    # It stays a guess, also where the same container is started elsewhere with more.
    files[f"{path.rpartition('.')[0]}_too.sh"] = start.replace("-it", "--shm-size=8g -it")
    assert need(tmp_path, files, (path,)).verdict == "likely"


@table(
    "image, path, verdict",
    [
        ("worker", "worker/Dockerfile", "likely"),
        ("worker:2", "Dockerfile.worker", "likely"),
        ("me/worker", "worker/Dockerfile", "unknown"),
        ("worker", "other/Dockerfile", "unknown"),
    ],
)
def test_an_image_without_an_owner_is_what_is_built_under_its_name(
    tmp_path: Path, image: str, path: str, verdict: str
) -> None:
    for old in ("worker/Dockerfile", "Dockerfile.worker"):
        (tmp_path / old).unlink(missing_ok=True)
    files = {"start.sh": f"docker run --gpus all -it {image}\n", "cpu/Dockerfile": "FROM ubuntu\n"}
    assert need(tmp_path, {**files, path: "FROM ubuntu\nRUN pip install torch\n"}, ("start.sh",)).verdict == verdict


RAY, TORCH = "FROM rayproject/ray:2.9.0-gpu\nRUN pip install gym", "FROM ubuntu\nRUN pip install torch"


@table(
    "folder, image, dockerfile, verdict",
    [
        # Who keeps the Dockerfile and the start in a directory of the image's name has built it.
        ("traffic", "me/traffic:beta5 bash", RAY, "likely"),
        ("traffic", "me/traffic", TORCH, "likely"),
        ("images/traffic", "docker.io/me/traffic bash", TORCH, "likely"),
        ("traffic", "me/traffic python work.py", TORCH, "unknown"),
        # It is another directory, a name that everybody has, or the image of somebody else that they build upon.
        ("traffic/start", "me/traffic bash", RAY, "unknown"),
        ("cars", "me/traffic bash", RAY, "unknown"),
        ("ros", "me/ros bash", RAY, "unknown"),
        # An official image, or one of CUDA, is not built here.
        ("ubuntu", "ubuntu bash", RAY, "unknown"),
        ("ubuntu", "docker.io/ubuntu bash", RAY, "unknown"),
        ("ubuntu", "docker.io/library/ubuntu:22.04 bash", RAY, "unknown"),
        ("cuda", "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04 bash", RAY, "unknown"),
        ("traffic", "me/traffic bash", "FROM you/traffic\nRUN pip install torch", "unknown"),
        ("traffic", "me/traffic bash", "FROM me/traffic AS old\nRUN true\nFROM old\nRUN pip install torch", "unknown"),
        # It is a guess: of the base image alone nothing is an error, and nothing cleared.
        ("traffic", "me/traffic", "FROM vllm/vllm-openai:v0.5.0", "likely"),
        ("traffic", "traffic", "FROM vllm/vllm-openai:v0.5.0", "likely"),
        ("traffic", "traffic python train.py", "FROM nvcr.io/nvidia/pytorch:24.01-py3", "likely"),
        ("traffic", "me/traffic", "FROM ollama/ollama", "unknown"),
        ("traffic", "traffic bash", "FROM ollama/ollama", "unknown"),
        ("traffic", "traffic ollama serve", "FROM ollama/ollama", "not-needed"),
    ],
)
def test_an_image_of_an_owner_is_what_is_built_in_the_directory_of_its_name(
    tmp_path: Path, folder: str, image: str, dockerfile: str, verdict: str
) -> None:
    files = {f"{folder}/start.sh": f"docker run --gpus 4 -it {image}\n", "cpu/Dockerfile": "FROM ubuntu\n"}
    path = "traffic" if folder.startswith("traffic/") else folder
    files[f"{path}/Dockerfile"] = f"{dockerfile}\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "build, run, verdict",
    [
        ("$IMAGE_NAME", "$IMAGE_NAME", "needed"),
        ("${IMAGE_NAME}", "${IMAGE_NAME}", "needed"),
        ("$OTHER_NAME", "$IMAGE_NAME", "likely"),
        ("$1", "$1", "likely"),
    ],
)
def test_scripts_that_have_the_name_of_an_image_in_a_variable(
    tmp_path: Path, build: str, run: str, verdict: str
) -> None:
    files = {"docker/Dockerfile": DOCKERFILE + 'CMD ["python", "train.py"]\n', "train.py": LOADER}
    files["docker/build.sh"] = f". docker/env.sh\ndocker build -f docker/Dockerfile -t {build} .\n"
    files["docker/run.sh"] = f". docker/env.sh\ndocker run --gpus all {run}\n"
    assert need(tmp_path, files, ("docker/run.sh",)).verdict == verdict


@table(
    "name, option, verdict",
    [
        ("Dockerfile", "", "needed"),
        ("dockerfile", "", "needed"),
        ("dockerfile", "-f Dockerfile ", "unknown"),
        ("dockerfile.gpu", "", "unknown"),
    ],
)
def test_a_build_that_names_no_dockerfile(tmp_path: Path, name: str, option: str, verdict: str) -> None:
    """In small letters the client takes it where there is no other."""
    for old in (tmp_path / "image").glob("*"):
        old.unlink()
    files = {"run.sh": f"docker build {option}-t own image\ndocker run --gpus all own\n"}
    files |= {f"image/{name}": 'FROM ubuntu\nCMD ["torchrun", "--nproc_per_node=8", "-m", "elsewhere"]\n'}
    assert need(tmp_path, files).verdict == verdict


BLOCK = """services:
  app:
    build:
      context: .KEY
      dockerfile_inline: |
        FROM python:3.12

        RUN pip install torch
        ENV NCCL_P2P_DISABLE=1
        WORKDIR /app
        COPY . .
        CMD python train.py
    GPUS
""".replace("GPUS", GPUS)
LINE = """services:
  app:
    build: {dockerfile_inline: "FROM x\\nENV NCCL_P2P_DISABLE=1\\nWORKDIR /app\\nCOPY . .\\nCMD python train.py"KEY}
    GPUS
""".replace("GPUS", GPUS)


@table(
    "text, key, place, verdict",
    [
        (BLOCK, "", 9, "needed"),
        (BLOCK, "/work", 9, "likely"),
        (LINE, "", 3, "needed"),
        (LINE, ", context: ./work", 3, "likely"),
    ],
)
def test_a_dockerfile_in_a_compose_file_is_read_like_any_other(
    tmp_path: Path, text: str, key: str, place: int, verdict: str
) -> None:
    files = {"compose.yaml": text.replace("KEY", key), "train.py": LOADER, "work/Dockerfile": "FROM scratch\n"}
    assert need(tmp_path, files).verdict == verdict
    (variable,) = findings(tmp_path, files, select=("NCCL501",))
    assert (variable.span.path, variable.span.line) == ("compose.yaml", place)


@table("text", ["|", "|\n", "''", "${X}", ">\n        FROM x\n        ENV A=1\n", "|2\n        FROM x\n"])
def test_a_dockerfile_in_a_compose_file_may_be_empty_or_folded(tmp_path: Path, text: str) -> None:
    written = f"services:\n  app:\n    {GPUS}\n    build:\n      dockerfile_inline: {text}"
    assert need(tmp_path, {"compose.yaml": written}).verdict == "unknown"


@table(
    "command, verdict",
    [
        ("docker run --gpus all -it registry.example.org/team/our-net:${1} bash", "likely"),
        ("docker run --gpus all -it --name our_net app:1 bash", "likely"),
        ("docker run --gpus all -it registry.example.org/team/net:${1} bash", "unknown"),
        ("docker run --gpus all -it registry.example.org/team/other:${1} bash", "unknown"),
    ],
)
def test_an_image_with_the_name_of_the_repositorys_package(tmp_path: Path, command: str, verdict: str) -> None:
    """Nothing else says what is in it, but it is made for this code, which has a program for training."""
    files = {"our_net/__init__.py": "", "net/layers.py": "", "train.py": LOADER, "run.sh": f"{command}\n"}
    assert need(tmp_path, files).verdict == verdict


WORKFLOW = """
on: push
jobs:
  image:
    runs-on: ubuntu-latest
    steps:
      - run: docker build -t me/tool -f extra.Dockerfile .
"""
VARIANTS = """
on: push
jobs:
  image:
    strategy:
      matrix:
        include: [{tag: cpu, file: Dockerfile}, {tag: gpu, file: extra.Dockerfile}]
    steps:
      - uses: docker/build-push-action@v6
        with: {file: "${{ matrix.file }}", tags: "tool:${{ matrix.tag }}"}
"""


@table(
    "image, files, built",
    [
        ("me/tool:1.2", {"build.sh": "docker build -t tool .\n"}, "Dockerfile (guessed)"),
        ("tool", {"build.sh": "docker build -t me/tool:$TAG .\n"}, "Dockerfile (guessed)"),
        ("me/tool", {"docker/build": "#!/bin/bash\ndocker build -t tool .\n"}, "Dockerfile (guessed)"),
        ("me/tool", {"src/build.sh": "docker build -t me/tool .\n", "src/Dockerfile": ""}, "src/Dockerfile"),
        ("me/tool", {"run/src/docker_build": "#!/bin/sh\ndocker build -t tool .\n", "run/src/Dockerfile": ""},
         "run/src/Dockerfile (guessed)"),
        ("me/tool", {"run/src/README.md": "```\ndocker build -t me/tool .\n```\n", "run/src/Dockerfile": ""},
         "run/src/Dockerfile"),
        ("me/tool", {"run/src/README.md": "```\ndocker pull me/tool\n```\nbuild it\n", "run/src/Dockerfile": ""}, ""),
        ("me/tool", {".github/workflows/image.yml": WORKFLOW}, "extra.Dockerfile"),
        ("me/tool:gpu", {".github/workflows/image.yml": VARIANTS}, "extra.Dockerfile (guessed)"),
        ("me/tool:1.2", {".github/workflows/image.yml": VARIANTS}, ""),
        ("me/tool:1.2", {".github/workflows/image.yml": VARIANTS.replace("extra.", "")}, "Dockerfile (guessed)"),
        ("me/tool", {"tool/Dockerfile": ""}, "tool/Dockerfile (guessed)"),
        ("me/tool", {"docker/Dockerfile.tool": "", "docker/Dockerfile.other": ""}, "docker/Dockerfile.tool (guessed)"),
        ("me/tool", {"docker/Dockerfile.other": ""}, ""),
        ("me/tool", {"docker/tool.dockerfile": ""}, "docker/tool.dockerfile (guessed)"),
        ("me/tool", {"tool/Dockerfile.md": ""}, ""),  # a page about one
        ("me/tool", {"tool/dockerfile": "", "tool/dockerfile.cpu": ""}, "tool/dockerfile (guessed)"),
        ("me/tool", {"docker/gpu/build.sh": "cd docker/gpu\ndocker build -t me/tool .\n", "docker/gpu/Dockerfile": ""},
         "docker/gpu/Dockerfile"),
        ("me/apps:noetic-lidar", {"lidar/Dockerfile": ""}, ""),  # it is not the launch's own directory
        ("you/tool", {"build.sh": "docker build -t me/tool .\n"}, ""),
        ("pytorch/pytorch", {"build.sh": "docker build -t pytorch .\n"}, ""),
        ("python:3.12", {"python/Dockerfile": ""}, ""),
        ("tool", {"build.sh": "docker build -t tool -f '.\\docker\\Dockerfile.dev' .\n", "docker/Dockerfile.dev": ""},
         "docker/Dockerfile.dev"),
        ("tool", {"build.sh": 'docker build -t tool -f "$SCRIPT_DIR/Dockerfile.dev" .\n', "Dockerfile.dev": ""},
         "Dockerfile.dev"),
        ("tool", {"build.sh": 'D="$(cd "$(dirname "$0")" && pwd)"\ndocker build -t tool -f "$D/Dockerfile.dev" .\n',
                  "Dockerfile.dev": ""}, "Dockerfile.dev"),
        ("tool", {"part/build.sh": '#!/bin/sh\nS="$( cd "$(dirname "$0")" ; pwd -P )"\ndocker build -t tool "$S"\n',
                  "part/Dockerfile": ""}, "part/Dockerfile"),
        ("tool", {"part/build.sh": '#!/bin/sh\ndocker build -t tool "$(dirname "$0")"\n', "part/Dockerfile": ""},
         "part/Dockerfile"),
        ("tool", {"part/build.sh": '#!/bin/sh\nS=$(dirname "$0")\ndocker build -t tool $S/..\n', "part/Dockerfile": ""},
         "Dockerfile"),
        ("tool", {"part/build.sh": "docker build -t tool $S/..\n", "part/Dockerfile": ""}, ""),
    ],
)  # fmt: skip
def test_builds_of_the_repository(tmp_path: Path, image: str, files: dict[str, str], built: str) -> None:
    """The build of an image that is called so but for its owner is a guess, and makes no error."""
    text = f"services:\n  app:\n    image: {image}\n    {GPUS}\n"
    own = {name: content or f"{DOCKERFILE}CMD python train.py\n" for name, content in files.items()}
    plain = f"{DOCKERFILE}CMD python train.py\n"
    files = {"run/compose.yaml": text, "Dockerfile": plain, "extra.Dockerfile": plain, "train.py": LOADER, **own}
    for paths in ((".",), ("run/compose.yaml",)):
        steps = [step.text for step in need(tmp_path, files, paths).trail]
        told = [step.removeprefix("image built from ") for step in steps if step.startswith("image built")]
        assert told == ([built] if built else []), paths


@table(
    "image, compose, top, linked",
    [
        ("docker_lab", "docker/compose.yaml", "", True),
        ("docker-lab:latest", "docker/compose.yaml", "", True),
        ("web-lab", "docker/compose.yaml", "name: web\n", True),
        ("docker-lab", "docker/compose.yaml", "name: web\n", False),
        ("docker-lab:2", "docker/compose.yaml", "", False),
        ("docker_other", "docker/compose.yaml", "", False),
        ("me/docker_lab", "docker/compose.yaml", "", False),
        # The directory of a checkout has any name.
        ("checkout-lab", "compose.yaml", "", False),
        ("web_lab", "compose.yaml", "name: web\n", True),
    ],
)
def test_the_names_that_compose_gives_the_images_it_builds(
    tmp_path: Path, image: str, compose: str, top: str, linked: bool
) -> None:
    context = "." if "/" in compose else "docker"
    files = {
        compose: f"{top}services:\n  lab:\n    build: {context}\n", "docker/Dockerfile": f"FROM {PYTORCH}\n",
        "docker/run.sh": f"docker run -it --gpus all {image} bash\n",
    }  # fmt: skip
    folder = tmp_path / "checkout"
    folder.mkdir()
    for paths in ((".",), *((("docker/run.sh",),) if not top else ())):
        steps = [step.text for step in need(folder, files, paths).trail]
        assert ("image built from docker/Dockerfile" in steps) == linked, paths


@table(
    "folder, image, verdict",
    [
        ("lidar", "me/apps:noetic-lidar", "not-needed"),
        ("robot-lidar", "me/apps:robot-lidar", "not-needed"),
        ("lidar", "me/apps:lidar", "not-needed"),
        ("lidar", "me/apps:noetic-camera", "unknown"),
        ("lidar", "me/apps:nolidar", "unknown"),
        ("lidar", "me/lidar-apps:1.0", "unknown"),
        ("gpu", "me/apps:1.0-gpu", "unknown"),
        ("lidar", "pytorch/pytorch:2-lidar", "likely"),
    ],
)
def test_the_dockerfile_beside_a_launch_is_that_of_its_tag(
    tmp_path: Path, folder: str, image: str, verdict: str
) -> None:
    own = "FROM other/base\nCMD roslaunch driver driver.launch\n"
    files = {f"a/{folder}/Dockerfile": own, f"a/{folder}/run.sh": f"docker run --gpus all -d {image}\n"}
    assert need(tmp_path, files).verdict == verdict


@pytest.mark.parametrize("git", [True, False])
def test_the_name_of_a_checkout_says_nothing_of_its_dockerfile(tmp_path: Path, git: bool) -> None:
    own = "FROM other/base\nCMD roslaunch driver driver.launch\n"
    files = {"Dockerfile": own, "run.sh": "docker run --gpus all -d me/apps:noetic-lidar\n"}
    folder = tmp_path / "lidar"
    (folder / ".git").mkdir(parents=True) if git else folder.mkdir()
    assert need(folder, files).verdict == "unknown"
    assert need(folder, {"lidar/" + name: text for name, text in files.items()}, ("lidar",)).verdict == "not-needed"


@table(
    "image, command, verdict",
    [
        ("tool", "CMD python train.py", "needed"), ("you/tool", "CMD python train.py", "likely"),
        ("tool", "CMD bash", "likely"), ("you/tool", "CMD bash", "unknown"),
    ],
)  # fmt: skip
def test_a_guessed_build_makes_no_error(tmp_path: Path, image: str, command: str, verdict: str) -> None:
    files = {
        "compose.yaml": f"services:\n  app:\n    image: {image}\n    {GPUS}\n", "train.py": LOADER,
        "build.sh": "docker build -t tool .\n", "Dockerfile": f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n{command}\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "image, verdict",
    [
        ("robot:dev", "likely"), ("robot-dev", "likely"), ("robot_dev:2", "likely"), ("robot:latest", "unknown"),
        ("robot:device", "unknown"), ("robot:dev-web", "unknown"), ("robot:web", "unknown"),
    ],
)  # fmt: skip
def test_the_end_of_a_dockerfile_is_a_part_of_the_images_name(tmp_path: Path, image: str, verdict: str) -> None:
    files = {"run.sh": f"docker run -it --gpus all {image} bash\n", "docker/Dockerfile_dev": f"FROM {PYTORCH}\n"}
    assert need(tmp_path, {**files, "docker/Dockerfile_web": "FROM node\n"}).verdict == verdict


@table("name", ["", "me/trainer-pytorch:2", "own"])
@table("command", ["", "bash", "jupyter lab", "python train.py"])
def test_the_name_of_a_build_says_nothing_of_its_packages(tmp_path: Path, name: str, command: str) -> None:
    image = f"    image: {name}\n" if name else ""
    service = f"services:\n  app:\n    build: .\n{image}    command: {command}\n    {GPUS}\n"
    plain = {"compose.yaml": service.replace(image, "") if image else service, "Dockerfile": "FROM ubuntu:24.04\n"}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = need(tmp_path / "a", {**plain, "compose.yaml": service}), need(tmp_path / "b", plain)
    assert (one.verdict, one.recommended) == (other.verdict, other.recommended)


TASK = "version: 3\ntasks:\n  a:\n    dir: {}\n    cmds: ['docker build -t mine .']\n"
JENKINS = "node {{\n  {} {{ sh 'docker build -t mine .' }}\n}}\n"
JUST = "{}\na:\n  docker build -t mine .\n"


@table(
    "path, text, verdict",
    [
        ("Taskfile.yml", TASK.format("gpu"), "needed"),
        ("Taskfile.yml", TASK.format("'{{.ROOT_DIR}}/gpu'"), "needed"),
        ("Taskfile.yml", TASK.format("other"), "not-needed"),
        ("Taskfile.yml", TASK.format("'{{.KIND}}'"), "unknown"),
        ("Jenkinsfile", JENKINS.format("dir('gpu')"), "needed"),
        ("Jenkinsfile", "node {\n  dir('x') { dir('../gpu') { docker.build('mine') } }\n}\n", "needed"),
        ("Jenkinsfile", JENKINS.format('dir("other")'), "not-needed"),
        ("Jenkinsfile", JENKINS.format("dir(kind)"), "unknown"),
        ("Jenkinsfile", JENKINS.format("ws('gpu')"), "unknown"),
        ("justfile", JUST.format("[working-directory: 'gpu']"), "needed"),
        ("justfile", JUST.format("# builds\n[working-directory('gpu')]\n[private]"), "needed"),
        ("justfile", JUST.format("set working-directory := 'gpu'\n"), "needed"),
        ("justfile", JUST.format("[working-directory: 'other']"), "not-needed"),
        ("justfile", JUST.format("set working-directory := kind\n"), "unknown"),
        ("build.sh", "for k in gpu; do\n  cd images/$k\n  docker build -t mine .\n  cd -\ndone\n", "unknown"),
        ("build.sh", 'for k in a; do (cd "images/$k" && make); done\ndocker build -t mine gpu\n', "needed"),
    ],
)
def test_a_build_in_a_directory_that_something_around_names(
    tmp_path: Path, path: str, text: str, verdict: str
) -> None:
    """Neither the Dockerfile at the top, nor any other one, stands for one whose directory is not known."""
    files = {
        path: text, "run.sh": "docker run --gpus all mine\n",
        "gpu/Dockerfile": f"FROM {PYTORCH}\nCMD torchrun --nproc_per_node=8 train.py\n",
        "other/Dockerfile": "FROM alpine\nCMD ls\n", "Dockerfile": "FROM alpine\nCMD ls\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@pytest.mark.parametrize("folder", ["docker", "scripts", "scripts/docker", "docker/scripts"])
def test_a_page_that_is_read_alone_has_the_builds_of_its_repository(tmp_path: Path, folder: str) -> None:
    files = {
        "README.md": "```bash\ndocker run --gpus all mine\n```\n", "train.py": LOADER,
        f"{folder}/build.sh": "docker build -t mine .\n", "Dockerfile": DOCKERFILE + 'CMD ["python", "train.py"]\n',
    }  # fmt: skip
    assert need(tmp_path, files, ("README.md",)).verdict == "needed"
