"""The knowledge base and what it makes of launches: who needs how much /dev/shm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shmlint import rules, workloads
from shmlint.launch import GpuRequest, Launch, Unknown, Value, Words
from shmlint.size import parse_compose
from shmlint.source import Source, Span
from shmlint.workloads import assess, builtin, flatten, match_command, match_image, read_ranks, read_workers, users

GIB = 1024**3
SOURCE = Source("compose.yaml", "services:\n")
SPAN = Span(SOURCE, 0, 8)


class NoRewriter:
    def set_shm_size(self, size: int) -> list[Any]:
        return []


def value(text: str | None, *, private: bool = False) -> Value[str] | None:
    return None if text is None else Value(text, SPAN, text, private=private)


def launch(
    image: str | None = None,
    command: str | list[str] | None = None,
    *,
    count: Any = "all",
    base: str | None = None,
    env: dict[str, str | Unknown] | None = None,
    names: tuple[str, ...] = (),
    entrypoint: list[str] | None = None,
    memory: int | None = None,
    written: str | None = None,
    private: bool = False,
) -> Launch:
    words = command.split() if isinstance(command, str) else command
    text = written or " ".join(words or ())
    return Launch(
        "compose-service", "x", SPAN, SPAN, Words("service `x`", "shm_size"), NoRewriter(),
        image=value(image),
        base_images=(Value(base, SPAN, base),) if base else (),
        command=Value(tuple(words), SPAN, text, private=private) if words is not None else None,
        entrypoint=Value(tuple(entrypoint), SPAN, " ".join(entrypoint)) if entrypoint else None,
        gpu=GpuRequest(True, "nvidia", count),
        environment={k: Value(v, SPAN, str(v)) for k, v in (env or {}).items()},
        memory_limit=Value(memory, SPAN, str(memory)) if memory else None,
        names=names,
    )  # fmt: skip


def found(image: str) -> str | None:
    workload = match_image(image, builtin())
    return workload.id if workload else None


# The knowledge base itself ---------------------------------------------------------------------


def entries() -> list[dict[str, Any]]:
    data: dict[str, Any] = json.loads((Path(rules.directory()) / "workloads.json").read_text("utf-8"))
    return data["workloads"]  # type: ignore[no-any-return]


def schema() -> dict[str, Any]:
    path = Path(workloads.__file__).parent / "schemas" / "workloads.schema.json"
    return json.loads(path.read_text("utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e["id"])
def test_every_entry_has_the_shape_of_the_schema(entry: dict[str, Any]) -> None:
    jsonschema.validate(entry, schema(), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e["id"])
def test_every_entry_makes_sense(entry: dict[str, Any]) -> None:
    assert all(pattern == pattern.lower() for pattern in [*entry["images"], *entry.get("names", ())])
    if entry["needs"] == "no":
        assert entry["minimum"] is None and entry["recommended"] is None
    else:
        assert "names" not in entry, "a name is no ground for an alarm"
    if entry["minimum"] and entry["recommended"]:
        assert parse_compose(entry["minimum"]) <= parse_compose(entry["recommended"])
    if entry["verified"]:
        assert entry["source"]
    if entry["needs"] in ("yes", "multi-gpu") and entry["verified"]:
        assert entry["recommended"] or entry.get("memory_share")


def test_ids_are_unique_and_no_pattern_is_hidden_by_an_earlier_one() -> None:
    assert len({e["id"] for e in entries()}) == len(entries())
    for entry in entries():
        for pattern in entry["images"]:
            if not any(c in pattern for c in "*?[:"):
                assert found(pattern) == entry["id"], pattern


# Images ----------------------------------------------------------------------------------------

IMAGES = {
    # LLM servers
    "vllm/vllm-openai": "vllm",
    "vllm/vllm-openai:v0.6.3": "vllm",
    "docker.io/vllm/vllm-openai:latest": "vllm",
    "vllm/vllm-openai@sha256:0000000000000000000000000000000000000000000000000000000000000000": "vllm",
    "docker.m.daocloud.io/vllm/vllm-openai:v0.9.1": "vllm",
    "ghcr.io/someone/vllm-openai:dev": "vllm",
    "localhost:5000/vllm:1": "vllm",
    "vllm/vllm-tpu:nightly": "vllm",
    "nvcr.io/nvidia/vllm:25.09-py3": "vllm",
    "runpod/worker-v1-vllm:stable": "vllm",
    "alpindale/aphrodite-openai:latest": "aphrodite",
    "lmsysorg/sglang:latest": "sglang",
    "lmsysorg/sglang:v0.4.1-cu124": "sglang",
    "lmsysorg/sglang-rocm:v1": "sglang",
    "ghcr.io/huggingface/text-generation-inference:3.0.1": "tgi",
    "ghcr.io/huggingface/text-generation-inference:latest-rocm": "tgi",
    "xprobe/xinference:v1.2.0": "xinference",
    "registry.cn-hangzhou.aliyuncs.com/xprobe_xinference/xinference": "xinference",
    "openmmlab/lmdeploy:latest-cu12": "lmdeploy",
    "mineru:latest": "mineru",
    "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.0": "nim",
    "nvcr.io/nim/nvidia/nv-embedqa-e5-v5:1.5": "nim",
    "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.4": "dynamo",
    "nvcr.io/nvidia/tensorrt-llm/release:1.0.0": "tensorrt-llm",
    "nvcr.io/nvidia/tritonserver:24.05-py3": "triton",
    "nvcr.io/nvidia/tritonserver:24.05-trtllm-python-py3": "triton-llm",
    "nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3": "triton-llm",
    "rocm/vllm:latest": "rocm",
    "rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0": "rocm",
    "rayproject/ray:2.9.0-gpu": "ray",
    "rayproject/ray-ml:2.9.0-py310-gpu": "ray",
    "ollama/ollama": "ollama",
    "ollama/ollama:rocm": "ollama",
    "docker.io/ollama/ollama:0.5.1": "ollama",
    "ghcr.io/ggml-org/llama.cpp:server-cuda": "llama-cpp",
    "ghcr.io/ggerganov/llama.cpp:full-cuda": "llama-cpp",
    "ghcr.io/abetlen/llama-cpp-python:latest": "llama-cpp-others",
    "ghcr.io/mostlygeek/llama-swap:cuda": "llama-cpp-others",
    "localai/localai:latest-aio-gpu-nvidia-cuda-12": "localai",
    "quay.io/go-skynet/local-ai:v2.20.1-cublas-cuda12": "localai",
    "atinoda/text-generation-webui:default-nvidia": "textgen-webui",
    "koboldai/koboldcpp:latest": "koboldcpp",
    "ghcr.io/theroyallab/tabbyapi:latest": "koboldcpp",
    "ghcr.io/open-webui/open-webui:cuda": "open-webui",
    "ghcr.io/open-webui/open-webui:ollama": "open-webui",
    "ghcr.io/huggingface/text-embeddings-inference:1.5": "tei",
    "ghcr.io/huggingface/text-embeddings-inference:86-1.5": "tei",
    "michaelf34/infinity:latest": "infinity",
    "infiniflow/ragflow:v0.15.0": "ragflow",
    "semitechnologies/transformers-inference:sentence-transformers-multi-qa-MiniLM-L6-cos-v1": "embedding-servers",
    "libretranslate/libretranslate:latest-cuda": "embedding-servers",
    # Training and science
    "nvcr.io/nvidia/pytorch:24.01-py3": "ngc",
    "nvcr.io/nvidia/tensorflow:23.12-tf2-py3": "ngc",
    "nvcr.io/nvidia/jax:24.04-py3": "ngc",
    "nvcr.io/nvidia/merlin/merlin-hugectr:23.12": "ngc",
    "nvcr.io/nvidia/modulus/modulus:24.04": "ngc",
    "nvcr.io/nvidia/physicsnemo/physicsnemo:25.03": "ngc",
    "nvcr.io/nvidia/nemo:24.07": "nemo",
    "nvcr.io/nvidia/nemo-rl:v0.3.0": "nemo-rl",
    "nvcr.io/nvidia/rapidsai/base:24.04-cuda12.0-py3.11": "rapids",
    "rapidsai/notebooks:25.02-cuda12.5-py3.12": "rapids",
    "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime": "pytorch",
    "pytorch/pytorch": "pytorch",
    "docker.io/pytorch/pytorch:latest": "pytorch",
    "nvidia/cuda:12.2.0-base-ubuntu22.04": "cuda",
    "nvidia/cuda": "cuda",
    "nvcr.io/nvidia/cuda:12.4.1-devel-ubuntu22.04": "cuda",
    "tensorflow/tensorflow:latest-gpu": "tensorflow",
    "tensorflow/tensorflow:2.15.0-gpu-jupyter": "tensorflow",
    "jupyter/tensorflow-notebook:latest": "jupyter",
    "quay.io/jupyter/pytorch-notebook:cuda12-python-3.11": "jupyter",
    "cschranz/gpu-jupyter:v1.7": "jupyter",
    "deepspeed/deepspeed:latest": "deepspeed",
    "leogao2/gpt-neox:main": "gpt-neox",
    "huggingface/trl-latest-gpu": None,
    "huggingface/trl": "trl",
    "huggingface/accelerate-gpu:latest": "accelerate",
    "huggingface/accelerate:gpu-release": "accelerate",
    "axolotlai/axolotl:main-latest": "axolotl",
    "winglian/axolotl-cloud:main-latest": "axolotl",
    "hiyouga/llamafactory:latest": "llama-factory",
    "verlai/verl:app-verl0.5": "verl",
    "openrlhf/openrlhf:v0.8": "openrlhf",
    "unsloth/unsloth:latest": "unsloth",
    "ultralytics/ultralytics:latest": "ultralytics",
    "ultralytics/yolov5:latest": "ultralytics",
    "projectmonai/monai:1.4.0": "monai",
    "projectmonai/monailabel:latest": "monai",
    "wasserth/totalsegmentator:2.4.0": "nnunet",
    "paddlepaddle/paddle:2.6.1-gpu-cuda12.0-cudnn8.9-trt8.6": "paddle",
    "ghcr.io/nerfstudio-project/nerfstudio:latest": "nerfstudio",
    # Pictures, speech, media
    "yanwk/comfyui-boot:cu124-megapak": "comfyui",
    "ghcr.io/ai-dock/comfyui:latest": "comfyui",
    "ghcr.io/invoke-ai/invokeai:latest": "invokeai",
    "universonic/stable-diffusion-webui:full": "sd-webui",
    "sd-auto:78": "sd-webui",
    "onerahmet/openai-whisper-asr-webservice:latest-gpu": "whisper-asr",
    "ghcr.io/speaches-ai/speaches:latest-cuda": "speaches",
    "fedirz/faster-whisper-server:latest-cuda": "speaches",
    "lscr.io/linuxserver/faster-whisper:gpu": "whisper",
    "rhasspy/wyoming-whisper": "whisper",
    "rhasspy/wyoming-piper": "whisper",
    "ghcr.io/remsky/kokoro-fastapi-gpu:latest": "tts",
    "ghcr.io/matatonic/openedai-speech:latest": "tts",
    "jellyfin/jellyfin:latest": "jellyfin",
    "lscr.io/linuxserver/jellyfin": "jellyfin",
    "plexinc/pms-docker": "transcoding",
    "lscr.io/linuxserver/plex:latest": "transcoding",
    "emby/embyserver:latest": "transcoding",
    "ghcr.io/haveagitgat/tdarr_node:latest": "transcoding",
    "josh5/unmanic:latest": "transcoding",
    "jrottenberg/ffmpeg:4.4-nvidia": "transcoding",
    "jlesage/handbrake": "media",
    "stashapp/stash:latest": "media",
    "ghcr.io/immich-app/immich-machine-learning:release-cuda": "immich",
    "ghcr.io/immich-app/immich-server:release": "immich",
    "ghcr.io/immich-app/postgres:14-vectorchord0.3.0": "postgres",
    "photoprism/photoprism:latest": "photos",
    "nextcloud:29": "photos",
    "ghcr.io/blakeblackshear/frigate:stable-tensorrt": "frigate",
    "heartexlabs/label-studio-ml-backend:latest": "label-studio-ml",
    # Desktops and browsers
    "selenium/standalone-chrome:latest": "selenium",
    "selenium/node-firefox:4": "selenium",
    "kasmweb/desktop:1.14.0": "kasm",
    "lscr.io/linuxserver/webtop:ubuntu-kde": "linuxserver-browsers",
    "lscr.io/linuxserver/chromium": "linuxserver-browsers",
    "ghcr.io/m1k1o/neko/nvidia-firefox:latest": "neko",
    "m1k1o/neko:firefox": "neko",
    "mcr.microsoft.com/playwright:v1.48.0-jammy": "playwright",
    "josh5/steam-headless:latest": "steam-headless",
    "ghcr.io/selkies-project/nvidia-egl-desktop:latest": "selkies",
    "lizardbyte/sunshine:latest": "game-streaming",
    "nvcr.io/nvidia/isaac-sim:4.2.0": "isaac-sim",
    "linuxserver/blender": "rendering",
    # Beside the GPU
    "nvidia/dcgm-exporter:3.3.5-3.4.1-ubuntu22.04": "gpu-probes",
    "nvcr.io/nvidia/k8s/dcgm-exporter:3.3.8-3.6.0-ubuntu22.04": "gpu-probes",
    "utkuozdemir/nvidia_gpu_exporter:1.2.1": "gpu-probes",
    "prom/prometheus": "monitoring",
    "grafana/grafana:11.1.0": "monitoring",
    "netdata/netdata": "monitoring",
    "portainer/portainer-ce:latest": "monitoring",
    "postgres:16": "postgres",
    "library/postgres:16-alpine": "postgres",
    "docker.io/library/redis:7": "databases",
    "redis:7-alpine": "databases",
    "qdrant/qdrant": "databases",
    "chromadb/chroma:0.5.5": "databases",
    "neo4j:5": "databases",
    "nginx:alpine": "web-servers",
    "traefik:v3.0": "web-servers",
    "cloudflare/cloudflared:latest": "web-servers",
    "n8nio/n8n": "llm-tools",
    "ghcr.io/berriai/litellm:main-latest": "llm-tools",
    "ghcr.io/home-assistant/home-assistant:stable": "home-assistant",
    "mcr.microsoft.com/dotnet/sdk:8.0": "dotnet",
    "foldingathome/fah-gpu:latest": "gpu-computing",
    # None of them, and none by accident
    "python:3.11-slim": None,
    "ubuntu:22.04": None,
    "debian": None,
    "node:20": None,
    "alpine:3.20": None,
    "busybox": None,
    "golang:1.23": None,
    "openjdk:21": None,
    "myorg/trainer:latest": None,
    "myorg/vllm-client:1.0": None,
    "vllm-proxy": None,
    "myorg/ollama-proxy": None,
    "ollama-webui": None,
    "pytorch-lightning/base": None,
    "pytorchlightning/pytorch_lightning": None,
    "mypytorch": None,
    "myorg/pytorch-app": None,
    "nvidia/driver:535-ubuntu22.04": None,
    "nvidia/cuda-sample": None,
    "tensorflow/tensorflow:2.15.0": None,
    "tensorflow/serving:latest-gpu": None,
    "jellyfin/jellyfin-web": None,
    "redisinsight": None,
    "rediscommander/redis-commander": None,
    "myorg/ray-tracer": None,
    "ray": None,
    "continuumio/miniconda3": None,
    "ros:humble": None,
    "osrf/ros:humble-desktop": None,
    "carlasim/carla:0.9.15": None,
    "gradio": None,
    "app": None,
    "worker": None,
    "": None,
}


def test_the_table_is_long_enough() -> None:
    assert len(IMAGES) >= 150


@pytest.mark.parametrize(("image", "workload"), IMAGES.items())
def test_images(image: str, workload: str | None) -> None:
    assert found(image) == workload


# Commands --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("torchrun --nproc_per_node=8 train.py", "nccl"),
        ("/opt/conda/bin/torchrun train.py", "nccl"),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", "nccl"),
        ("accelerate launch train.py", "nccl"),
        ("deepspeed train.py --deepspeed ds.json", "nccl"),
        ("mpirun -np 4 ./app", "nccl"),
        ("vllm serve meta-llama/Llama-3.1-8B", "vllm"),
        ("python3 -m vllm.entrypoints.openai.api_server --model x", "vllm"),
        ("python -m sglang.launch_server --model-path x", "sglang"),
        ("text-generation-launcher --model-id x", "tgi"),
        ("lmdeploy serve api_server x", "lmdeploy"),
        ("ray start --head --block", "ray"),
        ("xinference-local -H 0.0.0.0", "xinference"),
        ("xinference-supervisor -H 0.0.0.0", "xinference-supervisor"),
        ("tritonserver --model-repository=/models", "triton"),
        ("axolotl train config.yml", "axolotl"),
        ("llamafactory-cli train x.yaml", "llama-factory"),
        ("yolo detect train data=coco.yaml", "ultralytics"),
        ("yolo detect predict source=0", "ultralytics-predict"),
        ("ns-train nerfacto --data /data", "nerfstudio"),
        ("nnUNetv2_train 1 2d 0", "nnunet"),
        ("jupyter lab --ip=0.0.0.0", "jupyter"),
        ("uvicorn app.main:app --host 0.0.0.0", "servers"),
        ("python -m uvicorn app:app", "servers"),
        ("gunicorn -w 4 app:app", "servers"),
        ("streamlit run ui.py", "servers"),
        ("flask run --host 0.0.0.0", "servers"),
        ("python app.py", "servers"),
        ("python3 -u /app/src/server.py --port 80", "servers"),
        ("python run_inference.py", "servers"),
        ("python -m http.server 8000", "web-servers"),
        ("nvidia-smi", "gpu-probes"),
        ("nvidia-smi -L", "gpu-probes"),
        ("ollama serve", "ollama"),
        ("llama-server -m model.gguf", "llama-cpp"),
        ("ffmpeg -hwaccel cuda -i in.mp4 out.mp4", "transcoding"),
        ("python train.py", None),
        ("python main.py --epochs 3", None),
        ("echo torch", None),
        ("./run.sh", None),
        ("echo nvidia-smi", None),
    ],
)
def test_commands(command: str, workload: str | None) -> None:
    matched = match_command(command.split(), builtin())
    assert (matched.id if matched else None) == workload


@pytest.mark.parametrize(
    ("words", "ranks", "vary"),
    [
        ("torchrun --nproc_per_node=8 train.py", 8, False),
        ("torchrun --nproc-per-node 4 train.py", 4, False),
        ("torchrun --nproc_per_node=auto train.py", None, True),
        ("torchrun --nproc_per_node=${GPUS:-8} train.py", None, True),
        ("torchrun train.py", 1, False),
        ("torchrun --nnodes=2 --nproc_per_node=1 train.py", None, True),
        ("torchrun --nnodes=2 --nproc_per_node=8 train.py", 8, True),
        ("torchrun --nnodes=1 --nproc_per_node=2 train.py", 2, False),
        ("vllm serve x --tensor-parallel-size 4", 4, False),
        ("vllm serve x -tp 4 -pp 2", 8, False),
        ("vllm serve x --tensor-parallel-size 1", 1, False),
        ("vllm serve x --tensor-parallel-size", None, False),
        ("text-generation-launcher --num-shard 2", 2, False),
        ("accelerate launch --num_processes 4 train.py", 4, False),
        ("deepspeed --num_gpus=2 train.py", 2, False),
        ("mpirun -np 4 app", 4, False),
        ("horovodrun -np 8 python train.py", 8, False),
        ("llama-server -np 4", None, False),
        ("python train.py", None, False),
    ],
)
def test_ranks(words: str, ranks: int | None, vary: bool) -> None:
    assert read_ranks(words.split()) == (ranks, vary)


def test_options_that_may_mean_anything_count_only_in_known_programs() -> None:
    words = ["python", "x.py", "--num_processes", "8", "--num_gpus", "2", "-tp", "3"]
    assert read_ranks(words, launcher=False) == (None, False)
    assert assess(launch("pytorch/pytorch", "python split.py --num_processes 8")).verdict == "unknown"


@pytest.mark.parametrize(
    ("words", "workers"),
    [
        ("python train.py --num_workers 8", 8),
        ("python train.py --num_workers=0", 0),
        ("python train.py --dataloader_num_workers 4", 4),
        ("python train.py --num-workers ${N}", None),
        ("uvicorn app:app --workers 4", None),
    ],
)
def test_workers(words: str, workers: int | None) -> None:
    assert read_workers(words.split()) == workers


def test_scripts_are_split() -> None:
    assert flatten(["bash", "-c", "cd /app && torchrun \\\n --nproc_per_node=2 x.py; true"]) == [
        "bash", "-c", "cd", "/app", "&&", "torchrun", "--nproc_per_node=2", "x.py", ";", "true",
    ]  # fmt: skip
    assert flatten(["--model x"]) == ["--model", "x"]


# What a launch needs ---------------------------------------------------------------------------

NEEDS: list[tuple[str, Launch, str]] = [
    # Workloads that need it whatever they do
    ("ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3"), "needed"),
    ("ngc, one GPU", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python train.py", count=1), "needed"),
    ("monai", launch("projectmonai/monai:1.4.0", "python train.py"), "needed"),
    # What needs nothing
    ("ollama", launch("ollama/ollama"), "not-needed"),
    ("ollama, many GPUs", launch("ollama/ollama", count=8), "not-needed"),
    ("comfyui's own server", launch("yanwk/comfyui-boot:cu124", "python main.py --listen"), "not-needed"),
    ("kohya's launcher", launch("ghcr.io/bmaltais/kohya-ss-gui", "accelerate launch train.py", count=1), "not-needed"),
    ("probe", launch("nvidia/cuda:12.2.0-base-ubuntu22.04", "nvidia-smi"), "not-needed"),
    ("probe in a shell", launch("nvidia/cuda", ["sh", "-c", "nvidia-smi"]), "not-needed"),
    ("probe in a loop",
     launch("nvidia/cuda", ["bash", "-c", "while true; do nvidia-smi; sleep 5; done"]), "not-needed"),
    ("probe, then training", launch("nvidia/cuda", ["bash", "-c", "nvidia-smi && python train.py"]), "unknown"),
    ("static files", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python -m http.server"), "not-needed"),
    # Nobody knows
    ("nothing said", launch(), "unknown"),
    ("own image", launch("myorg/app"), "unknown"),
    ("torch", launch("pytorch/pytorch:2.5.1", "python train.py"), "unknown"),
    ("cuda", launch("nvidia/cuda:12.2.0-devel-ubuntu22.04"), "unknown"),
    ("triton", launch("nvcr.io/nvidia/tritonserver:24.05-py3"), "unknown"),
    ("desktop", launch("kasmweb/desktop:1.14.0"), "unknown"),
    # Idling says nothing: the image decides
    ("idle", launch("nvidia/cuda", "sleep infinity"), "unknown"),
    ("idle in a shell", launch("nvidia/cuda", ["bash", "-c", "nvidia-smi; sleep infinity"]), "unknown"),
    ("idle tail", launch("pytorch/pytorch", "tail -f /dev/null"), "unknown"),
    ("idle in an image that needs it", launch("nvcr.io/nvidia/pytorch:24.01-py3", "sleep infinity"), "needed"),
    # A server or a notebook in a training image need not use what the image is for
    ("notebook in ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "jupyter lab"), "unknown"),
    ("uvicorn in ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "uvicorn app:app"), "unknown"),
    ("app.py in ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python app.py"), "unknown"),
    ("wrapped", launch("nvcr.io/nvidia/pytorch:24.01-py3", ["bash", "-lc", "exec python3 app.py"]), "unknown"),
    ("gunicorn, own image", launch("myorg/app", "gunicorn app:app"), "unknown"),
    # Commands beat images
    ("torchrun", launch("myorg/app", "torchrun --nproc_per_node=8 train.py"), "needed"),
    ("torchrun in a shell", launch("myorg/app", ["bash", "-c", "cd x && torchrun --nproc_per_node=2 t.py"]), "needed"),
    ("torchrun on cuda", launch("nvidia/cuda", "torchrun --nproc_per_node=4 train.py", count=4), "needed"),
    ("torchrun, one process", launch("myorg/app", "torchrun train.py", count=4), "unknown"),
    ("torchrun, variable", launch("myorg/app", "torchrun --nproc_per_node=auto train.py"), "unknown"),
    ("torchrun, one GPU", launch("myorg/app", "torchrun --nproc_per_node=1 train.py", count=1), "unknown"),
    ("more ranks than GPUs", launch("vllm/vllm-openai", "--model x --tensor-parallel-size 2", count=1), "not-needed"),
    ("a launcher in ollama's image", launch("ollama/ollama", "torchrun --nproc_per_node=2 train.py"), "needed"),
    ("vllm in an own image", launch("myorg/app", "vllm serve x --tensor-parallel-size 2"), "needed"),
    ("workers", launch("pytorch/pytorch", "python train.py --num_workers 8"), "needed"),
    ("workers, own image", launch("myorg/app", "python train.py --num_workers 8"), "needed"),
    ("no workers", launch("pytorch/pytorch", "python train.py --num_workers 0"), "unknown"),
    ("workers of a server", launch("myorg/app", "python server.py --num_workers 2"), "unknown"),
    # The number of GPUs decides for what needs it between GPUs only
    ("vllm, all", launch("vllm/vllm-openai"), "unknown"),
    ("vllm, one", launch("vllm/vllm-openai", count=1), "not-needed"),
    ("vllm, two", launch("vllm/vllm-openai", count=2), "needed"),
    ("vllm, unknown", launch("vllm/vllm-openai", count=None), "unknown"),
    ("vllm, two, one process", launch("vllm/vllm-openai", "--model x", count=2), "unknown"),
    ("vllm, two, said so", launch("vllm/vllm-openai", "--model x --tensor-parallel-size 1", count=2), "not-needed"),
    ("vllm, all, two", launch("vllm/vllm-openai", "--model x -tp 2"), "needed"),
    ("tgi, two", launch("ghcr.io/huggingface/text-generation-inference", "--model-id x", count=2), "needed"),
    ("tgi, shards", launch("ghcr.io/huggingface/text-generation-inference", env={"NUM_SHARD": "2"}), "needed"),
    ("tgi, one shard", launch("ghcr.io/huggingface/text-generation-inference", env={"NUM_SHARD": "1"}), "not-needed"),
    ("nim, one", launch("nvcr.io/nim/meta/llama-3.1-8b-instruct", count=1), "not-needed"),
    ("nim, two", launch("nvcr.io/nim/meta/llama-3.1-70b-instruct", count=2), "needed"),
    ("sglang, one", launch("lmsysorg/sglang", count=1), "unknown"),
    ("sglang, tp", launch("lmsysorg/sglang", "python3 -m sglang.launch_server --tp 2"), "needed"),
    ("sglang, no tp", launch("lmsysorg/sglang", "python3 -m sglang.launch_server --model-path x"), "unknown"),
    ("tensorflow, one", launch("tensorflow/tensorflow:latest-gpu", count=1), "not-needed"),
    ("tensorflow, two", launch("tensorflow/tensorflow:latest-gpu", count=2), "unknown"),
    # *_VISIBLE_DEVICES narrow
    ("visible one", launch("vllm/vllm-openai", env={"CUDA_VISIBLE_DEVICES": "0"}), "not-needed"),
    ("visible two", launch("vllm/vllm-openai", env={"NVIDIA_VISIBLE_DEVICES": "0,1"}), "needed"),
    ("visible of four", launch("vllm/vllm-openai", count=4, env={"CUDA_VISIBLE_DEVICES": "3"}), "not-needed"),
    ("visible all", launch("vllm/vllm-openai", count=4, env={"NVIDIA_VISIBLE_DEVICES": "all"}), "needed"),
    ("more than given", launch("vllm/vllm-openai", count=1, env={"CUDA_VISIBLE_DEVICES": "0,1"}), "not-needed"),
    ("none", launch("vllm/vllm-openai", count=4, env={"CUDA_VISIBLE_DEVICES": "-1"}), "not-needed"),
    ("from outside", launch("vllm/vllm-openai", count=2, env={"CUDA_VISIBLE_DEVICES": Unknown("?")}), "unknown"),
    ("amd", launch("vllm/vllm-openai", env={"HIP_VISIBLE_DEVICES": "0"}), "not-needed"),
    # Base images: less sure than images
    ("built on ngc", launch(base="nvcr.io/nvidia/pytorch:24.01-py3", command="python train.py"), "unknown"),
    ("built on ngc, ranks",
     launch(base="nvcr.io/nvidia/pytorch:24.01-py3", command="torchrun --nproc_per_node=2 x"), "needed"),
    ("built on ollama", launch(base="ollama/ollama"), "not-needed"),
    ("built on cuda", launch(base="nvidia/cuda:12.2.0-base-ubuntu22.04"), "unknown"),
    ("image beats base", launch("ollama/ollama", base="nvcr.io/nvidia/pytorch:24.01-py3"), "not-needed"),
    # Somebody's own image of that name
    ("own detectron2", launch("myorg/detectron2"), "unknown"),
    ("own deepspeed", launch("myorg/deepspeed", count=4), "unknown"),
    ("the official one", launch("deepspeed/deepspeed"), "needed"),
    # Names spare an alarm and never raise one
    ("named whisper", launch(base="nvidia/cuda:12.2.0-base-ubuntu22.04", names=("whisper-api",)), "not-needed"),
    ("named comfyui", launch(names=("comfyui",)), "not-needed"),
    ("named vllm", launch(names=("vllm",)), "unknown"),
    ("a name does not beat a command", launch("myorg/a", "torchrun --nproc_per_node=2 t.py", names=("tts",)), "needed"),
    # Guesses are not errors
    ("aphrodite, two", launch("alpindale/aphrodite-openai", count=2), "unknown"),
    ("entrypoint", launch("myorg/app", entrypoint=["torchrun", "--nproc_per_node=2", "t.py"]), "needed"),
    ("a default is no decision",
     launch("vllm/vllm-openai", "--tensor-parallel-size 1", count=2, written="--tensor-parallel-size ${TP:-1}"),
     "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "verdict"), [(c, v) for _, c, v in NEEDS], ids=[name for name, _, _ in NEEDS])
def test_needs(case: Launch, verdict: str) -> None:
    assert assess(case).verdict == verdict


def test_the_arithmetic_is_shown() -> None:
    need = assess(launch("nvcr.io/nvidia/pytorch:24.01-py3", "torchrun --nproc_per_node=8 t.py"))
    assert (need.minimum, need.recommended) == (GIB, 8 * GIB)
    assert [e.text for e in need.evidence] == [
        "NVIDIA NGC framework containers", "8 ranks: NCCL alone may take up to 536.7 MiB",
    ]  # fmt: skip


def test_numbers_from_an_env_file_are_not_shown() -> None:
    for command in ("torchrun --nproc_per_node=8 t.py", "python t.py --num_workers 8"):
        need = assess(launch("pytorch/pytorch", command, private=True, written=command))
        assert need.verdict == "needed"
        assert "8" not in " ".join(e.text for e in need.evidence)


def test_ray_wants_a_share_of_the_memory() -> None:
    need = assess(launch("rayproject/ray:2.9.0-gpu", memory=20 * GIB))
    assert need.verdict == "needed" and need.recommended == 6 * GIB
    assert assess(launch("rayproject/ray:2.9.0-gpu")).recommended is None
    assert assess(launch("rayproject/ray:2.9.0-gpu")).floor == 512 * 1024**2


# Settings --------------------------------------------------------------------------------------


def test_settings_come_first() -> None:
    extra = users([{"id": "ours", "needs": "no", "images": ["nvcr.io/nvidia/pytorch"]}])
    for command in (None, "torchrun --nproc_per_node=2 t.py"):
        assert assess(launch("nvcr.io/nvidia/pytorch:24.01-py3", command), extra).verdict == "not-needed"


def test_settings_say_what_is_sure() -> None:
    extra = users([{"id": "ours", "needs": "yes", "images": ["MyOrg/*"], "minimum": "2g", "recommended": 4294967296}])
    need = assess(launch("myorg/app"), extra)
    assert (need.verdict, need.minimum, need.recommended) == ("needed", 2 * GIB, 4 * GIB)
    assert assess(launch(base="myorg/base"), extra).verdict == "needed"


def test_settings_match_commands_too() -> None:
    extra = users([{"id": "ours", "needs": "no", "commands": ["torchrun"]}])
    assert assess(launch("myorg/app", "torchrun --nproc_per_node=2 t.py"), extra).verdict == "not-needed"


def test_settings_change_an_entry_of_the_programs_own() -> None:
    extra = users([{"id": "vllm", "recommended": "32gb"}])
    need = assess(launch("vllm/vllm-openai", count=2), extra)
    assert (need.verdict, need.recommended) == ("needed", 32 * GIB)
