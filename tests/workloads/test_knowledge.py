"""What the knowledge base says, and what each of its figures rests on."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shmlint import workloads
from shmlint.docker.images import parse
from shmlint.docker.sizes import parse_compose
from shmlint.files import installed
from shmlint.workloads.commands import flatten, kind_of, simple_commands
from shmlint.workloads.knowledge import base_called, builtin, recognise
from shmlint.workloads.packages import libraries
from tests.project import findings, fixed, run
from tests.table import table

GIB = 1024**3


def entries() -> list[dict[str, Any]]:
    data: dict[str, Any] = json.loads((Path(installed.directory()) / "workloads.json").read_text("utf-8"))
    return data["workloads"]  # type: ignore[no-any-return]


ENTRIES = entries()


def bases() -> list[dict[str, Any]]:
    data: dict[str, Any] = json.loads((Path(installed.directory()) / "workloads.json").read_text("utf-8"))
    return data["bases"]  # type: ignore[no-any-return]


@table("entry", bases(), ids=lambda entry: entry["name"])
def test_every_base_has_the_shape_of_the_schema(entry: dict[str, Any]) -> None:
    schema = json.loads((Path(workloads.__file__).parent / "workloads.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator({**schema["$defs"]["base"], "$defs": schema["$defs"]}).validate(entry)


def test_every_base_is_listed_once_by_the_name_that_is_compared() -> None:
    names = [name for entry in bases() for name in entry["images"]]
    assert len(set(names)) == len(names)
    assert [parse(name).repository for name in names] == names


@table(
    "image, bare, plain",
    [
        ("ubuntu:22.04", True, True), ("docker.io/library/python:3.12", True, True), ("redis", True, True),
        ("mirror.gcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04", True, True), ("nvcr.io/nvidia/opengl", False, True),
        ("osrf/ros:humble-desktop", False, True), ("mcr.microsoft.com/devcontainers/python:3.12", False, True),
        ("postgres:16", True, False),
        # What is known of a workload, or of a name that looks like one, does not make a base.
        ("ollama/ollama", False, False), ("me/ubuntu", False, False), ("ubuntu-me", False, False), ("", False, False),
        ("devcontainers/python", False, False), ("$BASE", False, False),
    ],
)
def test_images_that_others_are_built_on(image: str, bare: bool, plain: bool) -> None:
    base = base_called(image)
    assert (base.bare, base.plain) == (bare, plain)


def figures() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Every figure: its place, the size, its basis, and the entry or use that it belongs to."""
    for entry in ENTRIES:
        for part in (entry, *entry.get("uses", ())):
            for key in ("minimum", "recommended"):
                if part.get(key) is not None:
                    yield f"{entry['id']}.{key}", part[key], part.get(f"{key}_basis", {}), entry


SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([kmgt])(?:i?b)?(?![\w])", re.IGNORECASE)
PRODUCT = re.compile(r"(\d+) \* 1024 \* 1024 \* 1024")
BYTES = re.compile(r"shm[-_]size\W{1,4}(\d{7,})(?!\w)")
UNITS = {"k": 1024, "m": 1024**2, "g": GIB, "t": 1024 * GIB}


def sizes_in(text: str) -> set[float]:
    """The sizes a text names, in bytes: 8g, 8GB, 8 GB, 1024m, 10.24gb."""
    found = {float(number) * UNITS[unit.lower()] for number, unit in SIZE.findall(text)}
    found.update(int(number) for number in BYTES.findall(text))
    return found | {int(number) * GIB for number in PRODUCT.findall(text)}


def test_sizes_are_found_in_quotes() -> None:
    cases = {
        "--shm-size=8g": {8 * GIB}, "16 GB of shared memory": {16 * GIB}, 'shm_size: "1024mb"': {GIB},
        "128MB is fine": {128 * 1024**2}, "| 16G |": {16 * GIB}, "--shm-size 2g --ipc=host": {2 * GIB},
        "stack=67108864": set(), "v0.2.4-AVX512": set(), "use 1G of Shared Memory": {GIB}, "3D": set(), "8gpus": set(),
        '"shm_size": 134217728': {128 * 1024**2}, "shm_size: 1024": set(),
        "${SHM:-8gb}": {8 * GIB}, "6 * 1024 * 1024 * 1024": {6 * GIB},
    }  # fmt: skip
    for text, sizes in cases.items():
        assert sizes_in(text) == sizes, text


def test_every_figure_has_a_basis() -> None:
    for place, _, basis, _ in figures():
        assert basis, place
        if place.endswith(".minimum"):
            assert basis["basis"] in ("documented", "measured", "computed"), place


FIXED = re.compile(r"/(blob|tree)/[0-9a-f]{7,40}(/|$)|/(issues|pull)/\d+|docs\.nvidia\.com/.*/\d+\.\d+\.\d+")


def fault_of(size: str, basis: dict[str, Any], entry: dict[str, Any]) -> str:
    """What is wrong with a figure that is called documented."""
    quote, source = basis.get("quote", entry["quote"]), basis.get("source", entry["source"])
    if parse_compose(size) not in sizes_in(quote):
        return f"{size} is not in “{quote}”"
    return "" if FIXED.search(source) else f"{source} has no fixed revision"


def test_a_documented_figure_is_in_its_quote_at_a_fixed_revision() -> None:
    faults = {
        place: fault_of(size, basis, entry)
        for place, size, basis, entry in figures() if basis["basis"] == "documented"
    }  # fmt: skip
    assert {place: fault for place, fault in faults.items() if fault} == {}


def test_a_figure_that_its_quote_does_not_hold_is_found() -> None:
    entry = {"quote": "docker run --shm-size=8g", "source": "https://github.com/o/n/blob/0123456789ab/README.md"}
    assert fault_of("8gb", {}, entry) == ""
    assert "16gb is not in" in fault_of("16gb", {}, entry)
    assert "8gb is not in" in fault_of("8gb", {"quote": "more memory", "source": entry["source"]}, entry)
    assert "no fixed revision" in fault_of("8gb", {}, entry | {"source": "https://github.com/o/n/blob/main/README.md"})


def test_every_entry_was_read_in_a_source_of_its_own() -> None:
    """The words of it, or where a project says nothing of shared memory all of it, and the notes say so."""
    for entry in ENTRIES:
        assert entry["verified"] and entry["source"], entry["id"]
        assert entry["quote"] or (FIXED.search(entry["source"]) and entry["notes"]), entry["id"]


def test_a_figure_of_ours_is_a_power_of_two_and_says_why() -> None:
    for place, size, basis, _ in figures():
        if basis["basis"] == "chosen":
            gib = parse_compose(size) / GIB
            assert gib == int(gib) and int(gib) & (int(gib) - 1) == 0, f"{place}: {size}"
            assert len(basis["why"].split()) > 3, place


def test_no_entry_is_recognised_by_the_name_of_a_service() -> None:
    assert not [entry["id"] for entry in ENTRIES if "names" in entry]


def test_no_wildcard_takes_the_names_of_others() -> None:
    """``*/name-*`` would also mean images that somebody built on top of it for something else."""
    for entry in ENTRIES:
        if entry["needs"] == "no":
            for pattern in entry["images"]:
                assert not re.fullmatch(r"\*/[a-z]{1,10}-\*|\*-[a-z]{1,10}", pattern), (entry["id"], pattern)


def test_a_use_says_something_else_than_its_entry() -> None:
    said = ("needs", "single_gpu", "one_process", "sure", "recommended", "because")
    for entry in ENTRIES:
        for use in entry.get("uses", ()):
            assert any(use[key] != entry.get(key) for key in said if key in use), (entry["id"], use["commands"])


USES = [
    # image, command, needs
    ("hiyouga/llamafactory", "llamafactory-cli train x.yaml", "yes"),
    ("hiyouga/llamafactory", "llamafactory-cli version", "no"),
    ("hiyouga/llamafactory", "llamafactory-cli api x.yaml", "multi-gpu"),
    ("hiyouga/llamafactory", "bash -c 'llamafactory-cli version && llamafactory-cli train x.yaml'", "yes"),
    ("nvcr.io/nvidia/tensorrt-llm/release", "trtllm-build --checkpoint_dir c", "no"),
    ("nvcr.io/nvidia/tensorrt-llm/release", "trtllm-serve m", "yes"),
    ("vllm/vllm-openai", "vllm serve m --omni", "yes"),
    ("vllm/vllm-openai", "bash -lc -- 'vllm serve m -tp 4'", "multi-gpu"),
    ("rayproject/ray", "ray stop", "no"),
    ("rayproject/ray", "ray status --address auto", "no"),
    ("rayproject/ray", "ray start --head", "yes"),
    ("rayproject/ray", "ray health-check", "no"),
    ("axolotlai/axolotl", "axolotl preprocess c.yaml", "no"),
    ("axolotlai/axolotl", "axolotl train c.yaml", "yes"),
    ("openmmlab/lmdeploy", "lmdeploy lite auto_awq m", "no"),
    ("xprobe/xinference", "xinference list", "no"),
    ("mineru", "mineru-models-download -s huggingface", "no"),
    ("someone/nerfstudio", "ns-process-data images --data d", "no"),
    ("someone/nerfstudio", "ns-train nerfacto --data d", "yes"),
    ("someone/nerfstudio", "ns-train splatfacto --data d", "no"),
    ("someone/nerfstudio", "ns-train splatfacto --pipeline.datamanager.cache-images disk --data d", "yes"),
    ("wasserth/totalsegmentator", "nnUNetv2_plan_and_preprocess -d 1", "no"),
    ("wasserth/totalsegmentator", "nnUNetv2_train 1 3d_fullres 0", "yes"),
    ("vllm/vllm-openai", "vllm chat", "no"),
    ("alleninstituteforai/olmocr", "-c 'olmocr /w --markdown'", "no"),
    ("alleninstituteforai/olmocr", "-c 'olmocr /w --tensor-parallel-size 2'", "multi-gpu"),
    ("ghcr.io/huggingface/text-generation-inference", "text-generation-server download-weights m", "no"),
    ("ghcr.io/huggingface/text-generation-inference", "--model-id m --sharded false", "no"),
    ("ghcr.io/huggingface/text-generation-inference", "--model-id m --num-shard 2", "multi-gpu"),
    ("vllm/vllm-openai", "--model m", "multi-gpu"),
    ("vllm/vllm-openai", "--model m --distributed-executor-backend mp", "yes"),
    ("vllm/vllm-openai", "bash", "depends"),
    ("vllm/vllm-openai", "sleep infinity", "depends"),
    ("ghcr.io/ggml-org/llama.cpp", "-m m.gguf -sm layer", "no"),
    ("ghcr.io/ggml-org/llama.cpp", "-m m.gguf -sm tensor", "multi-gpu"),
    ("ghcr.io/ikawrakow/ik_llama.cpp", "-m m.gguf -sm graph", "depends"),
    ("atinoda/text-generation-webui", "python server.py", "no"),
    ("atinoda/text-generation-webui", "python server.py --enable-tp", "multi-gpu"),
    ("linuxserver/faster-whisper", "python finetune.py", "depends"),
    ("ultralytics/ultralytics", "yolo train data=coco.yaml workers=0", "multi-gpu"),
    ("ultralytics/yolov5", "python detect.py --weights w.pt", "no"),
    ("ultralytics/yolov5", "python train.py", "yes"),
    ("nvcr.io/nvidia/pytorch", "trtexec --onnx=m.onnx", "no"),
    ("nvcr.io/nvidia/pytorch", "python train.py --num_workers 0", "multi-gpu"),
    ("nvcr.io/nvidia/pytorch", "python train.py --num_workers 8", "yes"),
    ("nvcr.io/nvidia/pytorch", "bash -c 'make -j8 && python train.py'", "yes"),
    ("roboflow/roboflow-inference-server-gpu", None, "no"),
    ("roboflow/roboflow-inference-server-gpu-parallel", None, "yes"),
]


@table(("image", "command", "needs"), USES)
def test_what_of_an_image_needs_it(image: str, command: str | None, needs: str) -> None:
    workload, _ = recognise(image, builtin())
    assert workload is not None
    words = shlex.split(command) if command else []
    commands = list(simple_commands(flatten(words)))
    telling = [command for command in commands if kind_of(command) in ("program", "interactive")]
    assert workload.used_by(telling or commands).needs == needs


@table(
    ("started", "severity"),
    [
        ("docker run --device /dev/dri vllm-xpu-env vllm serve m -tp 2", "warning"),
        ("docker run --device /dev/dri/renderD128 intel/vllm:0.10.0-xpu --model m -tp 2", "warning"),
        ("docker run --device=/dev/dri img vllm serve m -tp 2", "warning"),
        ("docker run --device=/dev/dri --shm-size=32g img vllm serve m -tp 2", None),
        ("docker run --device=/dev/dri img vllm serve m", None),
        ("docker run -itd --device=/dev/dri intelanalytics/ipex-llm-serving-xpu", "warning"),
        ("docker run -td --device=/dev/dri --entrypoint /bin/bash intel/llm-scaler-vllm:0.14.0-b8.3", "warning"),
        # Others draw or transcode
        ("docker run --device /dev/dri jellyfin/jellyfin", None),
        ("docker run --device /dev/dri ghcr.io/blakeblackshear/frigate:stable", None),
        ("docker run --device /dev/dri lscr.io/linuxserver/plex", None),
        ("docker run --device /dev/dri ollama/ollama", None),
        ("docker run --device /dev/dri img torchrun --nproc_per_node=2 train.py", None),
        ("docker run --device /dev/video0 img vllm serve m -tp 2", None),
        ("docker run img vllm serve m -tp 2", None),
    ],
)
def test_render_nodes_are_gpus_where_a_program_computes_on_them(
    tmp_path: Path, started: str, severity: str | None
) -> None:
    found = [finding for finding in findings(tmp_path, {"run.sh": started + "\n"}) if finding.rule == "SHM101"]
    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_render_nodes_of_a_service_are_repaired(tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: vllm-xpu-env\n    command: vllm serve m -tp 2\n    devices: [/dev/dri]\n"
    assert "shm_size: 8gb" in fixed(tmp_path, text)["compose.yaml"]


IMAGES = [
    [pattern.replace("*/", "someone/").replace("*", "x") for pattern in entry["images"]] for entry in ENTRIES
]
"""An image for each pattern of each entry."""
Texts = dict[str, str | tuple[str, str]]
"""Files by their names: one for each image, or one with a beginning and a part for each image."""


def each(text: str, images: list[str]) -> list[str]:
    """A text for each image: ``@`` is the image, ``#`` its number."""
    return [text.replace("#", f"{number:04}").replace("@", image) for number, image in enumerate(images)]


def written(texts: Texts, images: list[str]) -> dict[str, str]:
    done: dict[str, str] = {}
    for name, text in texts.items():
        if isinstance(text, tuple):
            done[name] = text[0] + "".join(each(text[1], images))
        else:
            done.update(zip(each(name, images), each(text, images), strict=True))
    return done


def compose(*keys: str) -> Texts:
    return {"compose.yaml": ("services:\n", f"  s#: {{{', '.join(keys)}, gpus: all}}\n")}


def script(text: str) -> Texts:
    return {"run.sh": ("", f"{text}\n")}


BUILT: Texts = {"d#/Dockerfile": "FROM @\nENV A=1\nCOPY a /a\n"}
CONTAINER = ".devcontainer/c#/devcontainer.json"
DOCKERFILE = '"build": {"dockerfile": "../../d#/Dockerfile"}'
WAYS: dict[str, dict[str, Texts]] = {
    "the image's own command": {
        "service": compose("image: '@'"),
        "service that is built": compose("build: d#") | BUILT,
        "service that is built without a context": compose("build: {dockerfile: d#/Dockerfile}") | BUILT,
        "service that is built of a text": compose("build: {dockerfile_inline: 'FROM @'}"),
        "docker run": script("docker run --gpus all @"),
        "image that is built": script("docker build -t own# d#\ndocker run --gpus all own#") | BUILT,
        "image that is built for a service":
            compose("image: 'own#'") | script("docker build -t own# d#") | BUILT,
        "image that a recipe builds":
            compose("image: 'own#'") | {"Makefile": ("build:\n", "\tdocker build -t own# d#\n")} | BUILT,
        "service that is built with a name": compose("image: 'own#'", "build: d#") | BUILT,
        "service that is built of a stage": compose("build: {context: d#, target: run}")
            | {"d#/Dockerfile": "FROM @ AS base\nFROM base AS run\nCOPY a /a\nFROM scratch\n"},
        "service that is built of an argument": compose("build: {context: d#, args: {BASE: '@'}}")
            | {"d#/Dockerfile": "ARG BASE=scratch\nFROM $BASE\nCOPY a /a\n"},
        "unit": {"u#.container": "[Container]\nImage=@\nAddDevice=nvidia.com/gpu=all\n"},
    },
    "a shell": {
        "dev container": {CONTAINER: '{"image": "@", "runArgs": ["--gpus=all"]}'},
        "dev container that is built": {CONTAINER: f'{{{DOCKERFILE}, "runArgs": ["--gpus=all"]}}'} | BUILT,
        "docker run": script("docker run --gpus all -it @ bash"),
        "service": compose("image: '@'", "command: sleep infinity"),
        "service that is built": compose("build: d#", "command: sleep infinity") | BUILT,
        "image that is built": script("docker build -t own# d#\ndocker run --gpus all -it own# bash") | BUILT,
        "image that is built for a service":
            compose("image: 'own#'", "command: sleep infinity") | script("docker build -t own# d#") | BUILT,
    },
    "several ranks": {
        "service": compose("image: '@'", "command: torchrun --nproc_per_node=8 train.py"),
        "service that is built": compose("build: d#", "command: torchrun --nproc_per_node=8 train.py") | BUILT,
        "docker run": script("docker run --gpus all @ torchrun --nproc_per_node=8 train.py"),
        "image that is built":
            script("docker build -t own# d#\ndocker run --gpus all own# torchrun --nproc_per_node=8 train.py") | BUILT,
        "image that is built for a service":
            compose("image: 'own#'", "command: torchrun --nproc_per_node=8 train.py")
            | script("docker build -t own# d#") | BUILT,
    },
}  # fmt: skip


def check_ways(directory: Path, ways: dict[str, Texts], images: list[str]) -> None:
    """All ways to start an image give it the same verdict and size."""
    answers: dict[str, dict[object, list[str]]] = {image: {} for image in images}
    for way, texts in ways.items():
        (place := directory / way).mkdir()
        started = run(place, written(texts, images))
        with contextlib.chdir(place):
            needs = [started.context.need(launch) for launch in started.launches]
        for image, need in zip(images, needs, strict=True):
            answer = need.verdict, need.minimum, need.recommended, need.workload
            answers[image].setdefault(answer, []).append(way)
    assert {image: found for image, found in answers.items() if len(found) > 1} == {}


@table(
    ("image", "files"),
    [
        (image, files)
        for image in ("nvidia/cuda:12.4.1-base-ubuntu22.04", "postgres:16", "tensorflow/tensorflow:2.9.0-gpu", "nginx")
        for files in ({}, {"tool.py": "import json\nprint(json.dumps(1))\n"}, {"a.cpp": "int main() { return 0; }\n"})
    ],
)
def test_a_shell_in_an_image_needs_the_same_where_a_build_adds_nothing(
    tmp_path: Path, image: str, files: dict[str, str]
) -> None:
    dockerfile = {"Dockerfile": f"FROM {image}\nENV A=1\n"}
    box = '{%s, "runArgs": ["--gpus=all"]}'
    built = box % '"build": {"dockerfile": "Dockerfile"}'
    ways = {
        "dev container": {".devcontainer.json": box % f'"image": "{image}"'},
        "dev container that is built": dockerfile | {".devcontainer.json": built},
        "docker run": {"run.sh": f"docker run --gpus all -it -v $PWD:/w -w /w {image} bash\n"},
        "image that is built": dockerfile
            | {"run.sh": "docker build -t own .\ndocker run --gpus all -it -v $PWD:/w -w /w own bash\n"},
        "service": {"compose.yaml":
            f"services: {{a: {{image: '{image}', gpus: all, command: sleep infinity, volumes: ['.:/w']}}}}\n"},
    }  # fmt: skip
    answers: dict[object, list[str]] = {}
    for way, texts in ways.items():
        (place := tmp_path / way / ".git").mkdir(parents=True)
        started = run(place.parent, texts | files)
        with contextlib.chdir(place.parent):
            need = started.context.need(started.launches[0])
        answers.setdefault((need.verdict, need.minimum, need.recommended, need.workload), []).append(way)
    assert len(answers) == 1, answers


@pytest.mark.slow
@table("ways", WAYS.values(), ids=WAYS)
def test_every_image_needs_the_same_however_it_is_started(tmp_path: Path, ways: dict[str, Texts]) -> None:
    check_ways(tmp_path, ways, [image for images in IMAGES for image in images])


def test_packages_without_shared_memory_are_listed_once_in_their_order() -> None:
    listed = (Path(libraries.__file__).parent / "harmless.txt").read_text("utf-8").split()
    assert listed == sorted(dict.fromkeys(listed), key=str.lower)


def test_packages_with_loaders_or_processes_of_their_own_are_not_called_harmless() -> None:
    listed = libraries.harmless()
    assert {"rclpy", "sensor_msgs", "cached_path", "equinox", "langchain_postgres", "meshio"} <= listed
    # What starts programs, trains, or shares memory by itself.
    others = {"launch", "papermill", "nemo", "TTS", "trax", "pymc", "zenoh", "nussl", "hoomd", "torchio", "fairseq"}
    assert listed.isdisjoint(others)
