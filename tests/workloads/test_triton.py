"""Triton's model repository in the code repository: which backend decides."""

from __future__ import annotations

from pathlib import Path

import shmlint
from tests.table import table
from tests.workloads.cases import GPUS, need

NEW, OLD = "nvcr.io/nvidia/tritonserver:24.05-py3", "nvcr.io/nvidia/tritonserver:23.08-py3"
PYTHON = {"models/a/1/model.py": "", "models/a/config.pbtxt": 'name: "a"\nbackend: "python"\n'}
TWO = {**PYTHON, "models/b/2/model.py": ""}
INSTANCES = {**PYTHON, "models/a/config.pbtxt": 'backend: "python"\ninstance_group [{ count: 3 kind: KIND_GPU }]\n'}
ONNX = {"models/a/1/model.onnx": "", "models/a/config.pbtxt": 'platform: "onnxruntime_onnx"  # not backend: "python"\n'}
VLLM = {"models/a/1/model.json": '{"model": "m"}', "models/a/config.pbtxt": 'backend: "vllm"\n'}
WITH_VLLM = "nvcr.io/nvidia/tritonserver:24.07-vllm-python-py3"
SERVE = "tritonserver --model-repository=/models"


def backend(name: str, file: str) -> dict[str, str]:
    return {f"models/a/1/{file}": "", "models/a/config.pbtxt": f'backend: "{name}"\n'}


def compose(image: str, command: str, mount: str = "./models:/models") -> str:
    return f"services:\n  app:\n    image: {image}\n    command: {command}\n    volumes: ['{mount}']\n    {GPUS}\n"


@table(
    "image, command, files, verdict, mebibytes",
    [
        (NEW, SERVE, PYTHON, "likely", 0),
        (NEW, SERVE, {"models/a/1/model.py": ""}, "likely", 0),
        (NEW, "tritonserver --model-repository /models --log-verbose 1", PYTHON, "likely", 0),
        (NEW, "bash -c 'pip install x && tritonserver --model-store=/models'", PYTHON, "likely", 0),
        (NEW, SERVE, ONNX, "not-needed", 0),
        (NEW, SERVE, {**ONNX, "models/b/1/model.bin": ""}, "unknown", 0),
        (NEW, SERVE, {"models/a/1/model.json": "", "models/a/config.pbtxt": 'backend: "vllm"\n'}, "unknown", 0),
        (NEW, SERVE, VLLM, "unknown", 0),
        (WITH_VLLM, SERVE, VLLM, "unknown", 0),  # of its image alone it would be needed
        (WITH_VLLM, SERVE, {"models/a/1/model.json": '{"model": "m"}'}, "unknown", 0),
        (WITH_VLLM, SERVE, {**VLLM, "models/b/1/model.py": ""}, "likely", 0),
        (NEW, SERVE, {"models/readme.md": ""}, "unknown", 0),
        (NEW, "mpirun --allow-run-as-root -n 1 tritonserver --model-repository=/models", PYTHON, "likely", 0),
        (NEW, SERVE, backend("tensorrt", "model.plan"), "not-needed", 0),
        (NEW, SERVE, backend("tensorrtllm", "x"), "unknown", 0),
        (NEW, SERVE, backend("pytorch", "model.pt"), "not-needed", 0),
        (NEW, SERVE, backend("pytorch", "model.py"), "unknown", 0),  # PyTorch 2's own may run in Python
        # Models without a configuration have the backend of their file.
        (NEW, SERVE, {"models/a/1/model.onnx": "", "models/b/1/model.plan": "", "models/c/3/model.pt": ""},
         "not-needed", 0),
        (NEW, SERVE, {"models/a/1/model.savedmodel/saved_model.pb": "", "models/b/1/model.xml": ""}, "not-needed", 0),
        (NEW, SERVE, {"models/a/1/model.onnx": "", "models/b/1/model.py": ""}, "likely", 0),
        (NEW, "tritonserver --model-repository=s3://models", PYTHON, "unknown", 0),
        # Several model repositories, of which each may have models of the Python backend
        (NEW, f"{SERVE} --model-repository=/more", ONNX, "unknown", 0),
        (NEW, f"{SERVE} --model-repository=/models/../models", ONNX, "not-needed", 0),
        (NEW, f"{SERVE}/onnx --model-repository=/models/own", {"models/onnx/a/1/model.onnx": "",
                                                               "models/own/b/1/model.py": ""}, "likely", 0),
        (OLD, f"{SERVE} --model-repository=s3://more", TWO, "needed", 128),
        (OLD, f"{SERVE} --model-repository=/models", TWO, "needed", 128),
        (NEW, SERVE, {**ONNX, **{f"models/m{n}/1/model.onnx": "" for n in range(120)}}, "unknown", 0),
        (NEW, "tritonserver --model-repository=$MODELS", PYTHON, "unknown", 0),
        (NEW, "python serve.py --model-repository=/models", PYTHON, "unknown", 0),
        # A release that takes 64 MiB for each instance of a model
        (OLD, SERVE, PYTHON, "likely", 0),  # all of the default at its start, and then it grows
        (OLD, SERVE, TWO, "needed", 128),
        (OLD, SERVE, INSTANCES, "needed", 192),
        (OLD, SERVE, ONNX, "not-needed", 0),
        (OLD, f"{SERVE} --backend-config=python,shm-default-byte-size=10485760", TWO, "likely", 0),
        (OLD, f"{SERVE} --backend-config python,shm-default-byte-size=41943040", TWO, "needed", 80),
        (OLD, f"{SERVE} --backend-config python,shm-default-byte-size=268435456", ONNX, "not-needed", 0),
        # Triton under another name, from a release of that time
        ("own/server", f"fastdeploy{SERVE[6:]}", TWO, "needed", 128),
        ("own/server", f"/opt/tritonserver/bin/fastdeploy{SERVE[6:]}", ONNX, "not-needed", 0),
        ("own/server", f"fastdeploy{SERVE[6:]} --backend-config=python,shm-default-byte-size=10485760", TWO, "likely",
         0),
        ("own/triton", SERVE, TWO, "likely", 0),
    ],
)  # fmt: skip
def test_the_backend_of_the_models_decides(
    tmp_path: Path, image: str, command: str, files: dict[str, str], verdict: str, mebibytes: int
) -> None:
    found = need(tmp_path, {"compose.yaml": compose(image, command), **files})
    assert (found.verdict, found.total) == (verdict, mebibytes << 20)
    if verdict == "needed":
        assert (found.minimum, found.mechanisms[0].basis) == (mebibytes << 20, "computed")
        span = found.evidence[0].span
        assert span is not None and (span.path, "python" in span.source.text) == ("models/a/config.pbtxt", True)


def test_ranks_of_the_vllm_backend(tmp_path: Path) -> None:
    files = {**VLLM, "models/a/1/model.json": '{"model": "m", "tensor_parallel_size": 2}'}
    found = need(tmp_path, {"compose.yaml": compose(WITH_VLLM, SERVE), **files})
    assert (found.verdict, [one.because for one in found.mechanisms]) == ("needed", ["2 ranks"])
    (place,) = (told.span for one in found.mechanisms for told in one.evidence)
    assert place is not None and (place.path, place.line) == ("models/a/1/model.json", 1)


def test_one_model_that_fills_the_default_at_its_start_is_reported(tmp_path: Path) -> None:
    for path, text in PYTHON.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / ".git").mkdir()
    file = tmp_path / "compose.yaml"
    file.write_text(compose(OLD, SERVE))
    assert [(found.rule, found.severity) for found in shmlint.lint([file]).findings] == [("SHM101", "warning")]


@table(("files", "verdict"), [(TWO, "likely"), (ONNX, "unknown")])
def test_models_that_are_only_guessed_make_no_error_and_no_silence(
    tmp_path: Path, files: dict[str, str], verdict: str
) -> None:
    text = compose(OLD, SERVE, "/data/models:/somewhere")
    assert need(tmp_path, {"compose.yaml": text, **files}).verdict == verdict


@table(
    "command, files, verdict",
    [
        ("bash", PYTHON, "likely"),
        ("", PYTHON, "likely"),
        ("bash", ONNX, "unknown"),
    ],
)
def test_the_server_that_a_page_starts_in_a_shell(
    tmp_path: Path, command: str, files: dict[str, str], verdict: str
) -> None:
    page = f"""```sh
docker run -it --gpus all -v ${{PWD}}:/workspace {NEW} {command}
```
In the container:
```sh
tritonserver --model-repository=/workspace/models
```
"""
    assert need(tmp_path, {"README.md": page, **files}).verdict == verdict


@table(("files", "verdict"), [(TWO, "needed"), (ONNX, "unknown"), ({}, "unknown")])
def test_the_models_of_the_server_that_a_page_starts_in_the_container(
    tmp_path: Path, files: dict[str, str], verdict: str
) -> None:
    page = f"""```sh
docker run -it --gpus all -v $PWD:/w -w /w own/serving:{OLD.rpartition(":")[2]}
# in the container
bash serve.sh
```
"""
    serve = "repository=./models\ntritonserver --model-repository $repository\n"
    dockerfile = f"FROM {OLD}\n"
    page += f"```sh\ndocker build -t own/serving:{OLD.rpartition(':')[2]} .\n```\n"
    written = {"README.md": page, "serve.sh": serve, "Dockerfile": dockerfile}
    assert need(tmp_path, {**written, **files}).verdict == verdict


@table(
    "image, shown, verdict",
    [
        ("nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3", "tritonserver --model-store models", "likely"),
        ("nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3", "python3 client.py", "unknown"),
        ("nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3", "python3 serve.py", "unknown"),
        ("nvcr.io/nvidia/pytorch:24.05-py3", "python3 serve.py", "unknown"),
    ],
)
def test_a_server_that_a_page_starts_in_its_own_image(tmp_path: Path, image: str, shown: str, verdict: str) -> None:
    page = f"# Serving\n\n## Deploy\n\n```bash\ndocker run -it --gpus all {image} bash\n```\n\n```bash\n{shown}\n```\n"
    assert need(tmp_path, {"README.md": page, "serve.py": "print(1)\n"}).verdict == verdict
