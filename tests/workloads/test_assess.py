"""The knowledge base and what it makes of launches: who needs how much /dev/shm."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shmlint.docker.sizes import parse_compose
from shmlint.files import installed as rules
from shmlint.model.launch import GpuRequest, Launch, ReadOnly, Unknown, Value, Words
from shmlint.model.source import Source, Span
from shmlint.workloads import by_knowledge as workloads
from shmlint.workloads.assess import assess
from shmlint.workloads.commands import flatten, names_training, read_ranks, read_workers
from shmlint.workloads.knowledge import Workload, builtin, match_command, recognise, users
from shmlint.workloads.mechanisms import nccl_estimate
from tests.table import table
from tests.workloads.cases import need

GIB = 1024**3
SOURCE = Source("compose.yaml", "services:\n")
SPAN = Span(SOURCE, 0, 8)
LOST = Unknown("variable", "?")


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
    because: str = "",
) -> Launch:
    words = command.split() if isinstance(command, str) else command
    text = written or " ".join(words or ())
    return Launch(
        "compose-service", "x", SPAN, SPAN, Words("service `x`", "shm_size"), ReadOnly(),
        image=value(image),
        base_images=(Value(base, SPAN, base),) if base else (),
        command=Value(tuple(words), SPAN, text, because, private) if words is not None else None,
        entrypoint=Value(tuple(entrypoint), SPAN, " ".join(entrypoint)) if entrypoint else None,
        gpu=GpuRequest(True, "nvidia", count),
        environment={k: Value(v, SPAN, str(v)) for k, v in (env or {}).items()},
        memory_limit=Value(memory, SPAN, str(memory)) if memory else None,
        names=names,
    )  # fmt: skip


def found(image: str) -> str | None:
    workload = recognise(image, builtin())[0]
    return workload.id if workload else None


# The knowledge base itself ---------------------------------------------------------------------


def entries() -> list[dict[str, Any]]:
    data: dict[str, Any] = json.loads((Path(rules.directory()) / "workloads.json").read_text("utf-8"))
    return data["workloads"]  # type: ignore[no-any-return]


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((Path(workloads.__file__).parent / "workloads.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@table("entry", entries(), ids=lambda e: e["id"])
def test_every_entry_has_the_shape_of_the_schema(entry: dict[str, Any]) -> None:
    validator().validate(entry)


@table("entry", entries(), ids=lambda e: e["id"])
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



def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "an image is in the table twice"
    return dict(pairs)


TABLE: dict[str, dict[str, str | None]] = json.loads(
    (Path(__file__).parent / "data" / "workload_images.json").read_text("utf-8"), object_pairs_hook=_once
)
"""Images people can pull or build from a project's own instructions, and made-up names that hold the same words."""
REAL, MADE_UP = TABLE["real"], TABLE["made up"]

INTENDED = {
    ("triton-llm", "triton"), ("triton-sdk", "triton"), ("triton-min", "triton"),  # by tag
    ("rocm", "vllm"), ("rocm-training", "megatron-lm"),  # AMD's own images
    ("nim-vlm", "nim"), ("nim-biology", "nim"), ("nim-speech", "nim"), ("nim-openfold3", "nim"),
    ("nim-openfold3", "nim-biology"),  # the more special one
    ("frigate-older", "frigate"),  # by tag
    ("zoneminder-ml", "zoneminder"), ("comfyui-salad", "comfyui"), ("deepstream-triton", "deepstream"),
}  # fmt: skip
"""Entries that both know an image: the first one is meant to win."""


def test_the_table_is_long_enough() -> None:
    assert len(REAL) >= 180 and sum(1 for workload in REAL.values() if workload is None) >= 60
    assert len(MADE_UP) >= 50


@table(("image", "workload"), {**REAL, **MADE_UP}.items())
def test_images(image: str, workload: str | None) -> None:
    assert found(image) == workload


@pytest.mark.slow
@table("image", [*REAL, *MADE_UP])
def test_no_image_is_claimed_twice_but_where_the_order_is_meant(image: str) -> None:
    claims = [w.id for w in builtin() if recognise(image, [w])[0] is not None]
    assert {(claims[0], other) for other in claims[1:]} <= INTENDED


@pytest.mark.slow
def test_every_order_that_is_meant_is_needed() -> None:
    claims = [[w.id for w in builtin() if recognise(image, [w])[0]] for image in REAL]
    assert {(ids[0], other) for ids in claims for other in ids[1:]} == INTENDED


def test_every_entry_with_images_recognises_one_of_the_table() -> None:
    assert {e["id"] for e in entries() if e["images"]} <= set(REAL.values())


@table("image", [image for image in MADE_UP if image and "/" not in image and ":" not in image])
def test_a_word_in_a_name_is_no_match(image: str) -> None:
    """A made-up name is not recognised under anybody's registry either."""
    for prefix in ("myorg/", "ghcr.io/myorg/", "localhost:5000/", "docker.io/library/"):
        assert found(f"{prefix}{image}:1.0") == MADE_UP[image]


ON_DOCKER_HUB = [i for i, w in REAL.items() if w and i.count("/") == 1 and "." not in i.split("/")[0]]
MIRRORS = ("docker.io/", "index.docker.io/", "mirror.gcr.io/", "docker.m.daocloud.io/", "m.daocloud.io/docker.io/")


@table("image", ON_DOCKER_HUB)
def test_mirrors_of_docker_hub(image: str) -> None:
    for mirror in MIRRORS:
        assert found(f"{mirror}{image}") == REAL[image]


# Commands --------------------------------------------------------------------------------------


@table(
    ("command", "workload"),
    [
        ("torchrun --nproc_per_node=8 train.py", "nccl"),
        ("/opt/conda/bin/torchrun train.py", "nccl"),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", "nccl"),
        ("accelerate launch train.py", "nccl"),
        ("deepspeed train.py --deepspeed ds.json", "nccl"),
        ("composer train.py config.yaml", "nccl"),
        ("composer --world_size 16 --node_rank 0 train.py", "nccl"),
        ("composer -n install", None),
        ("text-embeddings-router-80 --model-id m", "tei"),
        ("composer install", None),
        ("mpirun -np 4 ./app", None),
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
        ("fairseq-train data-bin --arch transformer", "fairseq"),
        ("tune run --nproc_per_node 2 lora_finetune_distributed --config c.yaml", "nccl"),
        ("python -m fairseq_cli.train data-bin", "fairseq"),
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
        ("python -m http.server 8000", "http-server"),
        ("nvidia-smi", "gpu-probes"),
        ("nvidia-smi -L", "gpu-probes"),
        ("ollama serve", "ollama"),
        ("llama-server -m model.gguf", "llama-cpp"),
        ("ffmpeg -hwaccel cuda -i in.mp4 out.mp4", "ffmpeg"),
        ("colmap automatic_reconstructor --workspace_path /w", "photogrammetry"),
        ("bash CarlaUnreal.sh -RenderOffScreen", "carla"),
        ("tensorflow_model_server --rest_api_port=8501", "tensorflow-serving"),
        ("lorax-launcher --model-id x", "lorax"),
        ("f5-tts_infer-cli -c story.toml", "f5-tts"),
        ("docling-serve run", "docling-serve"),
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


@table(
    ("words", "ranks", "vary"),
    [
        ("torchrun --nproc_per_node=8 train.py", 8, False),
        ("torchrun --nproc-per-node 4 train.py", 4, False),
        ("torchrun --nproc_per_node=auto train.py", None, True),
        ("torchrun --nproc_per_node=${GPUS:-8} train.py", 8, True),
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
        ("accelerate launch --num_machines 2 --num_processes 16 train.py", 8, False),
        ("accelerate launch --num_processes=16 --num-machines=1 train.py", 16, False),
        ("accelerate launch --num_machines 2 --num_processes ${N} train.py", None, True),
        ("composer -n 4 train.py", 4, False),
        ("composer --world_size 64 --node_rank 7 train.py", None, False),
        ("composer --world_size 16 --nproc 8 train.py", 8, False),
        ("python train.py --world-size 2", 2, False),
        ("python train.py --world-size 2 --rank 0", None, False),
        ("python train.py --world_size=4 --local_rank=$RANK", None, False),
        ("python train.py --world-size 2 --rank 0 --num_gpus 4", 4, False),
        ("deepspeed --num_gpus=2 train.py", 2, False),
        ("deepspeed --include localhost:0,1 train.py", 2, False),
        ("deepspeed -i one:0,1,2@two:3 train.py", 3, False),
        ("deepspeed --include=localhost:3 train.py", 1, False),
        ("deepspeed --include localhost train.py", None, False),
        ("deepspeed train.py -i clip:0,1", None, False),
        ("mpirun -np 4 python train.py", 4, False),
        ("mpirun -np 4 gmx_mpi mdrun", None, False),
        ("horovodrun -np 8 python train.py", 8, False),
        ("yolo detect train data=a.yaml device=0,1,2,3 workers=0", 4, False),
        ("yolo mode=train device=[0,1]", 2, False),
        ("python -m paddle.distributed.launch --gpus 0,1,2,3 train.py", 4, False),
        ("fleetrun --devices=0,1 train.py --gpus 0,1,2", 2, False),
        ("python -m paddle.distributed.launch --devices 0,1 --nproc_per_node 3 train.py", 3, False),
        ("python -m paddle.distributed.launch --gpus 0 train.py", None, False),
        ("python train.py --gpus 0,1 fleetrun", None, False),
        ("tune run --nproc_per_node 2 lora_finetune_distributed --config c.yaml", 2, False),
        ("ns-train nerfacto --data d --machine.num-devices 2", 2, False),
        ("fairseq-train data --distributed-world-size 4", 4, False),
        ("fairseq-hydra-train distributed_training.distributed_world_size=2 --config-name base", 2, False),
        ("fairseq-train data --distributed-world-size 16 --distributed-port 12345", None, False),
        ("torchrun --nproc_per_node=2 fairseq-train data --distributed-world-size 8", 2, False),
        # The program is told what its launcher was.
        ("torchrun --nproc_per_node=6 train.py --num-gpus 6", 6, False),
        ("accelerate launch --num_processes 4 train.py --num_gpus 4 --world_size 4", 4, False),
        ("mpirun -np 4 python train.py --tensor_parallel_size 2", 4, False),
        ("python -m torch.distributed.launch --nproc_per_node=2 train.py --num_gpus 2", 2, False),
        ("torchrun train.py --num_gpus 2", 2, False),
        # No host has so many.
        ("torchrun --nproc_per_node=1800 train.py", None, True),
        ("vllm serve x -tp 1800", None, True),
        ("mpirun -np 512 python train.py", None, True),
        ("yolo train device=0", None, False),
        ("yolo predict device=0,1 source=train", None, False),
        ("python tool.py train device=0,1", None, False),
        ("llama-server -np 4", None, False),
        ("python train.py fit --devices 4 --strategy ddp", 4, False),
        ("python train.py --strategy=deepspeed_stage_2 --devices=2", 2, False),
        ("python train.py --devices 4", None, False),
        ("python train.py --gpus 0,1 --accelerator ddp", 2, False),
        ("python train.py --trainer.gpus=[0,1,2] --trainer.strategy=fsdp", 3, False),
        ("python train.py --gpus 2 --accelerator gpu", None, False),
        ("python train.py trainer.devices=[0,1,2,3]", 4, False), ("python train.py +trainer.gpus=[3,]", 1, False),
        ("python train.py gpus=[0,1] trainer.accelerator=ddp", 2, False), ("python train.py gpus=[0,1]", None, False),
        ("python train.py model.gpus=4 strategy=deepspeed_stage_3", 4, False),
        ("python -m tool fit --trainer.devices=2 --trainer.strategy=ddp_find_unused_parameters_true", 2, False),
        ("python -m tool fit --trainer.devices 4 --trainer.strategy auto", None, False),
        ("python train.py --devices 4 --strategy auto", None, False),
        ("mpirun -np 16 -H one:4,two:4,three:4,four:4 python train.py", 4, False),
        ("mpirun -np 4 -host one,one,two,two python train.py", 2, False),
        ("horovodrun -np 8 -H localhost:8 python train.py", 8, False),
        ("mpirun -np 16 --hostfile hosts python train.py", None, True),
        ("horovodrun -np 16 -machinefile hosts python train.py", None, True),
        ("python train.py", None, False),
        ("mpirun -np 1 ./a.out -n 4", 1, False),
        ("mpirun -np 4 ./a.out -n 1", None, False),
        ("mpirun -np 4 python a.py -n 1", 4, False),
        # Of an option that is given twice, the last one counts.
        ("vllm serve x --tensor-parallel-size 2 -tp=1", 1, False),
        ("torchrun --nproc_per_node=8 --nproc-per-node=1 a.py", 1, False),
        ("accelerate launch --num_processes 8 --num_processes 2 a.py", 2, False),
        # A model in four parts takes four ranks at least, however many GPUs the page's reader has.
        ("torchrun --nproc_per_node GPUS fit.py --tensor_model_parallel_size 4", 4, False),
        ("torchrun --nproc_per_node $N a.py --tensor-model-parallel-size=2 --pipeline-model-parallel-size 2", 4, False),
        ("torchrun --nproc_per_node $N fit.py --tensor-model-parallel-size 1", None, True),
        ("torchrun --nproc_per_node $N --nnodes 2 fit.py --tensor-model-parallel-size 4", None, True),
    ],
)
def test_ranks(words: str, ranks: int | None, vary: bool) -> None:
    assert read_ranks(words.split()) == (ranks, vary)


@table(
    "words, trains",
    [
        ("python train.py", True), ("python -m training.train_net", True), ("python -m trainer.task", True),
        ("python -m training.main --lr 1", True), ("python -m training", True),
        ("python -m training.make_data", False), ("python training/make_data.py", False), ("python -u serve.py", False),
        ("python tools/image_demo.py configs/model_pretrain_mixed.py", False),
        ("bash export.sh configs/finetune.py", False), ("python demo.py train", True),
        ("python tools/run.py configs/train.py", True), ("python demo_train.py", True),
        ("python predictor.py configs/train.py", True), ("python extract.py --split train", False),
        ("python fit.py --mode train", True), ("python train.py --split test", True),
        # What is done before or after training, and programs for something else.
        ("python plot_training.py", False), ("bash scripts/download_train_data.sh", False),
        ("./prepare_train.sh", False), ("python tools/train_tokenizer.py", False),
        ("python -m unittest tests.test_train", False),
        ("python serve_finetuned.py --port 8000", False), ("kubectl apply -f train.yaml", False),
        ("sbatch train.sh", False), ("./prepare_and_train.sh", True), ("python train_data_parallel.py", True),
        ("python mnist_train.py", True), ("axolotl train config.yml", True), ("yolo detect train", True),
    ],
)  # fmt: skip
def test_names_of_training(words: str, trains: bool) -> None:
    assert names_training(words.split()) is trains


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
        ("python train.py data.num_workers=8 x=1", 8),
        ("python train.py ++num_workers=2", 2),
        ("accelerate launch --num_processes 2 t --num_workers 4", 4),
        ("--model m --num_workers 4", 4),
        ("llamafactory-cli train --dataloader_num_workers 4", 4),
        ("fairseq-train data --num-workers 4", 4),
        ("node server.js --num_workers 8", None),
        ("./server --num_workers=8", None),
        ("python train.py --workers=8", 8),
        ("accelerate launch x.py --max_data_loader_n_workers 8", 8),
        ("torchrun --nproc_per_node=2 main.py --workers 4", 4),
        ("yolo detect train workers=0", 0),
        ("python train.py loader.workers=3", 3), ("python train.py dataloader.num_workers=0", 0),
        ("python serve.py --workers 8", None),
        ("gunicorn --workers 4 train:app", None),
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

DJL = "deepjavalibrary/djl-serving:0.33.0-pytorch-gpu"
NEEDS: list[tuple[str, Launch, str]] = [
    # Workloads that need it whatever they do
    ("ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3"), "needed"),
    ("ngc, one GPU", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python train.py", count=1), "needed"),
    ("monai", launch("projectmonai/monai:1.4.0", "python train.py"), "needed"),
    # What needs nothing
    ("ollama", launch("ollama/ollama"), "not-needed"),
    ("ollama, many GPUs", launch("ollama/ollama", count=8), "not-needed"),
    ("comfyui's own server", launch("yanwk/comfyui-boot:cu124", "python main.py --listen"), "not-needed"),
    ("kohya's launcher", launch("ghcr.io/bmaltais/kohya-ss-gui", "accelerate launch train.py", count=1), "likely"),
    ("a server of node", launch("nvidia/cuda", "npm run start"), "unknown"),
    ("a build of node", launch("nvidia/cuda", "npm run build"), "not-needed"),
    ("a variant of a build", launch("nvidia/cuda", "npm run build:gpu"), "not-needed"),
    ("packages of node", launch("nvidia/cuda", "npm ci"), "not-needed"),
    ("a script of node", launch("nvidia/cuda", "npm run train"), "unknown"),
    ("a target of make", launch("nvidia/cuda", "make -j8 train"), "unknown"),
    ("a build by make", launch("nvidia/cuda", "make -j8 CUDA=1 build"), "not-needed"),
    ("a build by make alone", launch("nvidia/cuda", "make"), "not-needed"),
    ("data by dvc", launch("nvidia/cuda", "dvc pull data"), "unknown"),
    ("stages of dvc", launch("nvidia/cuda", "dvc repro"), "unknown"),
    ("a program for each line", launch("nvidia/cuda", ["sh", "-c", "ls | xargs -n1 python train.py"]), "unknown"),
    ("probe", launch("nvidia/cuda:12.2.0-base-ubuntu22.04", "nvidia-smi"), "not-needed"),
    ("probe in a shell", launch("nvidia/cuda", ["sh", "-c", "nvidia-smi"]), "not-needed"),
    ("probe in a loop",
     launch("nvidia/cuda", ["bash", "-c", "while true; do nvidia-smi; sleep 5; done"]), "not-needed"),
    ("probe, then training", launch("nvidia/cuda", ["bash", "-c", "nvidia-smi && python train.py"]), "unknown"),
    # Of training in an image that is made for something else nobody says that it needs nothing
    ("training where TensorRT is", launch("nvcr.io/nvidia/tensorrt:24.01-py3", "python train.py", count=1), "unknown"),
    ("workers where TensorRT is",
     launch("nvcr.io/nvidia/tensorrt:24.01-py3", "python train.py --num_workers 8", count=1), "needed"),
    ("a shell where TensorRT is", launch("nvcr.io/nvidia/tensorrt:24.01-py3", "bash", count=1), "not-needed"),
    ("no workers where TensorRT is",
     launch("nvcr.io/nvidia/tensorrt:24.01-py3", "python run.py --num_workers 0", count=1), "not-needed"),
    ("fine-tuning of a voice", launch("ghcr.io/idiap/coqui-tts", "python finetune.py --num_workers 4"), "needed"),
    ("training that its entry knows", launch("nvcr.io/nvidia/isaac-lab:2.0", "python rsl_rl/train.py"), "not-needed"),
    ("static files", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python -m http.server"), "not-needed"),
    # Nobody knows
    ("nothing said", launch(), "unknown"),
    ("own image", launch("myorg/app"), "unknown"),
    ("torch", launch("pytorch/pytorch:2.5.1", "python train.py"), "likely"),
    ("cuda", launch("nvidia/cuda:12.2.0-devel-ubuntu22.04"), "unknown"),
    ("triton", launch("nvcr.io/nvidia/tritonserver:24.05-py3"), "unknown"),
    ("triton, one GPU", launch("nvcr.io/nvidia/tritonserver:24.05-py3", "tritonserver", count=1), "unknown"),
    ("triton, Python backend", launch("nvcr.io/nvidia/tritonserver:24.05-pyt-python-py3"), "unknown"),
    ("triton, vLLM", launch("nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3"), "needed"),
    ("triton, vLLM, one GPU", launch("nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3", count=1), "not-needed"),
    ("triton, TensorRT-LLM", launch("nvcr.io/nvidia/tritonserver:24.05-trtllm-python-py3"), "needed"),
    ("triton, clients", launch("nvcr.io/nvidia/tritonserver:24.05-py3-sdk", "perf_analyzer -m x"), "not-needed"),
    ("triton, base", launch("nvcr.io/nvidia/tritonserver:24.05-py3-min"), "unknown"),
    ("desktop", launch("kasmweb/desktop:1.14.0"), "unknown"),
    # Idling says nothing: the image decides
    ("idle", launch("nvidia/cuda", "sleep infinity"), "unknown"),
    ("another shell", launch("pytorch/pytorch", "fish"), "likely"),
    ("a script of another shell", launch("nvidia/cuda", "fish run.fish"), "unknown"),
    ("idle in a shell", launch("nvidia/cuda", ["bash", "-c", "nvidia-smi; sleep infinity"]), "unknown"),
    ("idle in a loop", launch("pytorch/pytorch", ["/bin/sh", "-c", "while sleep 1000; do :; done"]), "likely"),
    ("idle in an endless loop", launch("pytorch/pytorch", ["sh", "-c", "while true; do sleep 30; done"]), "likely"),
    ("wait for a file", launch("pytorch/pytorch", ["sh", "-c", "until [ -f x ]; do sleep 30; done"]), "not-needed"),
    ("idle tail", launch("pytorch/pytorch", "tail -f /dev/null"), "likely"),
    ("idle in an image that needs it", launch("nvcr.io/nvidia/pytorch:24.01-py3", "sleep infinity"), "likely"),
    # A server or a notebook in a training image need not use what the image is for
    ("notebook in ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "jupyter lab"), "likely"),
    ("uvicorn in ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "uvicorn app:app"), "likely"),
    ("app.py in ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python app.py"), "likely"),
    ("wrapped", launch("nvcr.io/nvidia/pytorch:24.01-py3", ["bash", "-lc", "exec python3 app.py"]), "likely"),
    ("gunicorn, own image", launch("myorg/app", "gunicorn app:app"), "unknown"),
    # Commands beat images
    ("torchrun", launch("myorg/app", "torchrun --nproc_per_node=8 train.py"), "needed"),
    ("torchrun in a shell", launch("myorg/app", ["bash", "-c", "cd x && torchrun --nproc_per_node=2 t.py"]), "needed"),
    ("torchrun on cuda", launch("nvidia/cuda", "torchrun --nproc_per_node=4 train.py", count=4), "needed"),
    ("torchrun, one process", launch("myorg/app", "torchrun train.py", count=4), "likely"),
    ("torchrun, variable", launch("myorg/app", "torchrun --nproc_per_node=auto train.py"), "likely"),
    ("torchrun, one GPU", launch("myorg/app", "torchrun --nproc_per_node=1 train.py", count=1), "likely"),
    ("more ranks than GPUs", launch("vllm/vllm-openai", "--model x --tensor-parallel-size 2", count=1), "not-needed"),
    ("a launcher in ollama's image", launch("ollama/ollama", "torchrun --nproc_per_node=2 train.py"), "needed"),
    ("vllm in an own image", launch("myorg/app", "vllm serve x --tensor-parallel-size 2"), "needed"),
    ("workers", launch("pytorch/pytorch", "python train.py --num_workers 8"), "needed"),
    ("a strategy of several processes",
     launch("pytorch/pytorch", "python train.py --devices 4 --strategy ddp", count=4), "needed"),
    ("its keys", launch("pytorch/pytorch", "python t.py trainer.devices=4 trainer.strategy=ddp", count=4), "needed"),
    ("devices alone", launch("pytorch/pytorch", "python train.py --devices 4", count=4), "likely"),
    ("workers for texts", launch("a/b", "python train.py --num_workers 16 --lora-r 16 --batch-size 12"), "likely"),
    ("workers for short texts", launch("a/b", "python train.py --num_workers 8 data.max_length=512"), "likely"),
    ("workers for images", launch("a/b", "python train.py --num_workers 8 --lora_rank=4 --resolution 512"), "needed"),
    ("workers, own image", launch("myorg/app", "python train.py --num_workers 8"), "needed"),
    ("a program that transcribes", launch("pytorch/pytorch", "whisperx a.wav --model large-v2"), "not-needed"),
    ("few items", launch("myorg/app", "python train.py --workers 1 --batchsize 5"), "likely"),
    ("few items, keys", launch("myorg/app", "python train.py data.num_workers=4 data.batch_size=2"), "likely"),
    ("many items", launch("myorg/app", "python train.py --num_workers 4 --batch-size 16"), "needed"),
    ("many items of one", launch("a/b", "python train.py --num_workers 4 --bs 1 --val_batch_size 64"), "needed"),
    ("few items of several ranks", launch("a/b", "torchrun --nproc_per_node 2 t.py --num_workers 1 --bs=1", count=2),
     "needed"),
    # One process without workers needs nothing, also in an image for training
    ("no workers", launch("pytorch/pytorch", "python train.py --num_workers 0"), "unknown"),
    ("no workers, ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python t.py --num_workers 0"), "unknown"),
    ("no workers, one GPU",
     launch("nvcr.io/nvidia/pytorch:24.01-py3", "python t.py --num_workers=0", count=1), "not-needed"),
    ("no workers, one rank",
     launch("nvcr.io/nvidia/pytorch:24.01-py3", "torchrun --nproc_per_node=1 t.py --workers=0"), "not-needed"),
    ("no workers, one rank of three hosts",
     launch("my/app", "torchrun --nproc_per_node=1 --nnodes=3 t.py --workers=0", count=1), "not-needed"),
    ("no workers, the launcher by its path",
     launch("my/app", "/usr/local/bin/torchrun --nproc_per_node=1 main.py --workers=0", count=1), "not-needed"),
    ("no workers, by a key", launch("my/app", "python train.py loader.workers=0", count=1), "not-needed"),
    # An option whose meaning is in a program that is not there may say so
    ("perhaps no workers", launch("nvcr.io/nvidia/pytorch:24.01-py3", "python train.py -j 0", count=1), "unknown"),
    ("perhaps no workers, in one word",
     launch("nvcr.io/nvidia/pytorch:24.01-py3", "python train.py -j0", count=1), "unknown"),
    ("perhaps no workers, a module",
     launch("nvcr.io/nvidia/pytorch:24.01-py3", "python -m my.train --n_cpu=0 --seed 0"), "unknown"),
    ("some of what they count",
     launch("nvcr.io/nvidia/pytorch:24.01-py3", "python train.py -j 4 --seed 0 --gpu 0"), "needed"),
    ("perhaps no workers, four ranks", launch("my/app", "torchrun --nproc_per_node=4 t.py -j 0"), "needed"),
    ("an option of what builds before",
     launch("nvcr.io/nvidia/pytorch:24.01-py3", ["bash", "-c", "make -j 0 && python train.py"]), "needed"),
    ("no workers, four ranks", launch("my/app", "torchrun --nproc_per_node=4 t.py --workers=0"), "needed"),
    ("no workers, all GPUs", launch("my/app", "deepspeed t.py --num_workers 0", count=2), "needed"),
    ("no workers, then a second program",
     launch("pytorch/pytorch", ["bash", "-c", "python train.py --num_workers 0; python train.py"]), "likely"),
    ("one rank, ngc", launch("nvcr.io/nvidia/pytorch:24.01-py3", "torchrun --nproc_per_node=1 train.py"), "likely"),
    ("workers of a server", launch("myorg/app", "python server.py --num_workers 2"), "likely"),
    # The number of GPUs decides for what needs it between GPUs only
    ("vllm, all", launch("vllm/vllm-openai"), "likely"),
    ("vllm, one", launch("vllm/vllm-openai", count=1), "not-needed"),
    ("vllm's client", launch("vllm/vllm-openai", "bench serve --model x", entrypoint=["vllm"]), "not-needed"),
    ("vllm's offline benchmark", launch("vllm/vllm-openai", "bench throughput -tp 2", entrypoint=["vllm"]), "needed"),
    ("sglang's client", launch("lmsysorg/sglang", "python3 -m sglang.bench_serving --model x"), "not-needed"),
    ("vllm, two", launch("vllm/vllm-openai", count=2), "needed"),
    ("vllm, unknown", launch("vllm/vllm-openai", count=None), "likely"),
    ("vllm, two, one process", launch("vllm/vllm-openai", "--model x", count=2), "not-needed"),
    ("vllm, two, said so", launch("vllm/vllm-openai", "--model x --tensor-parallel-size 1", count=2), "not-needed"),
    ("vllm, all, two", launch("vllm/vllm-openai", "--model x -tp 2"), "needed"),
    ("tgi, two", launch("ghcr.io/huggingface/text-generation-inference", "--model-id x", count=2), "needed"),
    ("tgi, shards", launch("ghcr.io/huggingface/text-generation-inference", env={"NUM_SHARD": "2"}), "needed"),
    ("tgi, all GPUs", launch("ghcr.io/huggingface/text-generation-inference"), "likely"),
    ("tgi, not sharded",
     launch("ghcr.io/huggingface/text-generation-inference", env={"SHARDED": "false"}), "not-needed"),
    ("tgi, not sharded, and shards",
     launch("ghcr.io/huggingface/text-generation-inference", env={"SHARDED": "false", "NUM_SHARD": "2"}), "needed"),
    ("tgi, sharded", launch("ghcr.io/huggingface/text-generation-inference", env={"SHARDED": "true"}), "likely"),
    ("tgi, one shard", launch("ghcr.io/huggingface/text-generation-inference", env={"NUM_SHARD": "1"}), "not-needed"),
    ("nim, one", launch("nvcr.io/nim/meta/llama-3.1-8b-instruct", count=1), "not-needed"),
    ("nim, two", launch("nvcr.io/nim/meta/llama-3.1-70b-instruct", count=2), "likely"),
    ("nim, all", launch("nvcr.io/nim/meta/llama-3.1-70b-instruct"), "likely"),
    ("nim, two ranks", launch("nvcr.io/nim/meta/llama3-70b-instruct", env={"TENSOR_PARALLEL_SIZE": "2"}), "likely"),
    ("nim, a launcher", launch("nvcr.io/nim/meta/llama3-70b-instruct", "torchrun --nproc_per_node=2 t.py"), "needed"),
    ("DJL, what it serves", launch(DJL), "unknown"),
    ("DJL, another engine", launch(DJL, env={"TENSOR_PARALLEL_DEGREE": "1"}, count=4), "unknown"),
    ("DJL, a shell", launch(DJL, "bash"), "likely"),
    ("DJL, a model on all GPUs", launch(DJL, env={"TENSOR_PARALLEL_DEGREE": "max"}), "likely"),
    ("DJL, a model on four", launch(DJL, env={"OPTION_TENSOR_PARALLEL_DEGREE": "4"}, count=4), "needed"),
    ("DJL, one GPU", launch(DJL, env={"TENSOR_PARALLEL_DEGREE": "max"}, count=1), "not-needed"),
    ("DJL, its parts", launch(DJL, "python /opt/djl/partition/split.py --tensor_parallel_degree 8"), "likely"),
    ("DJL, one part", launch(DJL, "python /opt/djl/partition/split.py --tensor_parallel_degree 1"), "unknown"),
    ("sglang, one", launch("lmsysorg/sglang", count=1), "unknown"),
    ("sglang, tp", launch("lmsysorg/sglang", "python3 -m sglang.launch_server --tp 2"), "needed"),
    ("sglang, no tp", launch("lmsysorg/sglang", "python3 -m sglang.launch_server --model-path x"), "unknown"),
    ("sglang, maybe tp", launch("lmsysorg/sglang", "python3 -m sglang.launch_server --model-path x $ARGS"), "likely"),
    ("sglang, pictures", launch("lmsysorg/sglang", "python3 -m sglang.launch_server --model-path o/a-VL-3B"), "likely"),
    ("sglang, a picture",
     launch("lmsysorg/sglang", "python3 -m sglang.launch_server --model-path o/a-VL-3B", count=1), "likely"),
    ("tensorflow, one", launch("tensorflow/tensorflow:latest-gpu", count=1), "not-needed"),
    ("tensorflow, two", launch("tensorflow/tensorflow:latest-gpu", count=2), "unknown"),
    # *_VISIBLE_DEVICES narrow
    ("visible one", launch("vllm/vllm-openai", env={"CUDA_VISIBLE_DEVICES": "0"}), "not-needed"),
    ("visible two", launch("vllm/vllm-openai", env={"NVIDIA_VISIBLE_DEVICES": "0,1"}), "needed"),
    ("visible of four", launch("vllm/vllm-openai", count=4, env={"CUDA_VISIBLE_DEVICES": "3"}), "not-needed"),
    ("visible all", launch("vllm/vllm-openai", count=4, env={"NVIDIA_VISIBLE_DEVICES": "all"}), "needed"),
    ("more than given", launch("vllm/vllm-openai", count=1, env={"CUDA_VISIBLE_DEVICES": "0,1"}), "not-needed"),
    ("none", launch("vllm/vllm-openai", count=4, env={"CUDA_VISIBLE_DEVICES": "-1"}), "not-needed"),
    ("empty", launch("vllm/vllm-openai", count=4, env={"CUDA_VISIBLE_DEVICES": ""}), "not-needed"),
    ("empty for the engine", launch("vllm/vllm-openai", count=4, env={"NVIDIA_VISIBLE_DEVICES": ""}), "needed"),
    ("from outside", launch("vllm/vllm-openai", count=2, env={"CUDA_VISIBLE_DEVICES": LOST}), "likely"),
    ("amd", launch("vllm/vllm-openai", env={"HIP_VISIBLE_DEVICES": "0"}), "not-needed"),
    # MPI is not NCCL
    ("molecules", launch("nvcr.io/hpc/gromacs:2023.2", "mpirun -np 4 gmx_mpi mdrun"), "unknown"),
    ("mpirun of a Python program", launch("horovod/horovod:0.28.1", "mpirun -np 4 python train.py"), "needed"),
    # Base images: less sure than images
    ("built on ngc", launch(base="nvcr.io/nvidia/pytorch:24.01-py3", command="python train.py"), "likely"),
    ("built on ngc, ranks",
     launch(base="nvcr.io/nvidia/pytorch:24.01-py3", command="torchrun --nproc_per_node=2 x"), "needed"),
    ("built on ollama", launch(base="ollama/ollama"), "not-needed"),
    ("built on cuda", launch(base="nvidia/cuda:12.2.0-base-ubuntu22.04"), "unknown"),
    ("image beats base", launch("ollama/ollama", base="nvcr.io/nvidia/pytorch:24.01-py3"), "not-needed"),
    # Somebody's own image of that name
    ("own detectron2", launch("myorg/detectron2"), "likely"),
    ("axolotl, one GPU", launch("axolotlai/axolotl", "axolotl train c.yml", count=1), "likely"),
    ("axolotl, two GPUs", launch("axolotlai/axolotl", "axolotl train c.yml", count=2), "needed"),
    ("own deepspeed", launch("myorg/deepspeed", count=4), "likely"),
    ("the official one", launch("deepspeed/deepspeed"), "needed"),
    # A name decides nothing
    ("named whisper", launch(base="nvidia/cuda:12.2.0-base-ubuntu22.04", names=("whisper-api",)), "unknown"),
    ("named comfyui", launch(names=("comfyui",)), "unknown"),
    ("named grafana", launch("myorg/app", names=("grafana",)), "unknown"),
    ("named vllm", launch(names=("vllm",)), "unknown"),
    # Guesses are not errors
    ("unsloth, two", launch("unsloth/unsloth", count=2), "needed"),
    ("unsloth, one", launch("unsloth/unsloth", count=1), "likely"),
    ("unsloth, one process", launch("unsloth/unsloth", "python train.py", count=2), "likely"),
    ("dask", launch("myorg/app", "dask-cuda-worker tcp://s:8786", count=2), "unknown"),
    ("a script called so that is not there", launch("img", "./tools/dist_train.sh cfg.py 1", count=1), "likely"),
    ("a script called so with a number", launch("img", "bash tools/dist_train.sh cfg.py 8", count=8), "likely"),
    ("a program called so", launch("img", "python train_net.py", count=4), "likely"),
    ("a module called so", launch("img", "python -m openrlhf.cli.train_sft", count=2), "likely"),
    ("LeRobot's training", launch("img", "lerobot-train --policy.type=act"), "likely"),
    ("LeRobot's training without workers", launch("img", "lerobot-train --num_workers=0", count=1), "not-needed"),
    ("LitGPT on one device", launch("img", "litgpt finetune_lora org/model", count=4), "not-needed"),
    ("LitGPT on several devices", launch("img", "litgpt finetune org/model --devices 4", count=4), "needed"),
    ("XTuner in one process", launch("img", "xtuner train config --deepspeed deepspeed_zero2", count=4), "likely"),
    ("XTuner in several", launch("img", "xtuner train config", count=4, env={"NPROC_PER_NODE": "4"}), "needed"),
    ("AutoTrain on all GPUs", launch("img", "autotrain --config c.yml"), "likely"),
    ("AutoTrain on two GPUs", launch("img", "autotrain llm --train", count=2), "needed"),
    ("AutoTrain's configuration", launch("img", "autotrain --config c.yml", count=2), "likely"),
    ("nerfstudio", launch("img", "ns-train nerfacto --data d", count=1), "likely"),
    ("nerfstudio's splats", launch("img", "ns-train splatfacto --data d", count=1), "not-needed"),
    ("nnU-Net", launch("img", "nnUNetv2_predict -i a -o b -d 1", count=1), "needed"),
    ("a fold of nnU-Net", launch("img", "nnUNetv2_predict -i a -o b -d 1 -f 0", count=1), "needed"),
    ("TotalSegmentator", launch("own/seg", "TotalSegmentator -i a -o b --preview", count=1), "needed"),
    ("TotalSegmentator at 3 mm", launch("own/seg", "TotalSegmentator -i a -o b --fast -p", count=1), "unknown"),
    ("TotalSegmentator at 3 mm, short", launch("own/seg", "/bin/TotalSegmentator -f -i a", count=1), "unknown"),
    ("TotalSegmentator at 6 mm", launch("wasserth/totalsegmentator", "TotalSegmentator -ff -i a"), "unknown"),
    ("nnU-Net's first version", launch("img", "nnUNet_predict -i a -o b -t 1", count=1), "likely"),
    ("AutoTrain's pages", launch("img", "autotrain app", count=2), "likely"),
    ("AutoTrain on one GPU", launch("img", "autotrain llm --train", count=1), "not-needed"),
    ("an example of PyTorch", launch("img", "python moco.py --multiprocessing-distributed data", count=4), "likely"),
    ("one process unless a variable sets more", launch("img", "swift sft --model m", count=4), "likely"),
    ("a variable that sets more", launch("img", "swift sft", count=4, env={"NPROC_PER_NODE": "4"}), "needed"),
    ("pages that may train", launch("img", "llamafactory-cli webui", count=2), "likely"),
    ("pages that may train in their own image", launch("hiyouga/llamafactory", "llamafactory-cli webui"), "needed"),
    ("a process for each of some GPUs", launch("img", "llamafactory-cli train c.yaml"), "likely"),
    ("a process for each of two GPUs", launch("img", "llamafactory-cli train c.yaml", count=2), "needed"),
    ("one of trl", launch("img", "trl sft --model m", count=1), "likely"),
    ("two of trl", launch("img", "trl sft --model m", count=2), "needed"),
    ("one rank of a server", launch("img", "trtllm-serve model", count=2), "likely"),
    ("a launcher that has to be told", launch("img", "horovodrun train.sh", count=2), "likely"),
    ("a launcher that starts one for each", launch("img", "deepspeed train.py", count=2), "needed"),
    ("workers by the program's own default", launch("img", "yolo detect train data=x.yaml", count=1), "needed"),
    ("all devices of some", launch("img", "python train.py trainer.devices=-1", count=4), "needed"),
    ("all devices, which are one", launch("img", "python train.py trainer.devices=-1", count=1), "unknown"),
    ("GPUs by their numbers", launch("img", "deepspeed --include localhost:0,1 train.py"), "needed"),
    ("a tool of a family", launch("img", "nnUNetv2_predict_from_modelfolder", count=1), "likely"),
    ("the same family's training", launch("img", "nnUNetv2_train 1 2d 0", count=1), "needed"),
    ("dask with ucx", launch("myorg/app", "dask cuda worker --protocol ucx ucx://s:8786", count=2), "likely"),
    ("aphrodite, two", launch("alpindale/aphrodite-openai", count=2), "needed"),
    ("aphrodite, one", launch("alpindale/aphrodite-openai", count=1), "not-needed"),
    ("aphrodite, two ranks", launch("alpindale/aphrodite-openai", "aphrodite run x -tp 2"), "needed"),
    # What the maintainers start with GPUs and without more, and what only sounds like it
    ("drone maps", launch("opendronemap/odm:gpu", "--project-path /datasets project"), "not-needed"),
    ("drone maps as a service", launch("webodm/nodeodm:gpu", count=1), "not-needed"),
    ("colmap", launch("myorg/sfm", "colmap feature_extractor --image_path /images"), "not-needed"),
    ("colmap, then training", launch("myorg/sfm", ["bash", "-c", "colmap mapper x && python train.py"]), "unknown"),
    ("carla by its script", launch("myorg/sim", "/bin/bash ./CarlaUE4.sh -RenderOffScreen"), "not-needed"),
    ("tensorflow serving", launch("tensorflow/serving:latest-gpu", count=4), "not-needed"),
    ("tensorflow serving, own image", launch("myorg/model", "tensorflow_model_server --port=8500"), "not-needed"),
    ("speech from a command", launch("ghcr.io/swivid/f5-tts:main", "f5-tts_infer-gradio --port 7860"), "not-needed"),
    ("photos", launch("photoprism/photoprism:latest", count=1), "not-needed"),
    ("frames", launch("myorg/scenes", "blender -b scene.blend -a"), "not-needed"),
    ("frames by a program of somebody", launch("myorg/scenes", "blender -b scene.blend -P render.py"), "unknown"),
    ("compilation", launch("myorg/app", "nvcc -o a a.cu"), "not-needed"),
    ("search whose measurements lie in /dev/shm", launch("opensearchproject/opensearch:2"), "unknown"),
    ("reports by a browser", launch("docker.elastic.co/kibana/kibana:8.15.0"), "unknown"),
    ("flows with a browser", launch("flowiseai/flowise"), "unknown"),
    ("dashboards", launch("grafana/grafana:11.1.0"), "not-needed"),
    ("pictures of dashboards by a browser", launch("grafana/grafana-image-renderer:latest"), "unknown"),
    ("programs of somebody behind a chat", launch("ghcr.io/open-webui/pipelines:main"), "unknown"),
    ("cloud", launch("nextcloud:29"), "unknown"),
    ("a router and its servers", launch("lmsysorg/sglang-router", "python -m sglang_router.launch_server"), "unknown"),
    ("a router", launch("lmsysorg/sglang-router", "python -m sglang_router.launch_router"), "not-needed"),
    ("openfold3, one", launch("nvcr.io/nim/openfold/openfold3:1.6.0", count=1), "likely"),
    ("a launcher in odm's image", launch("opendronemap/odm:gpu", "torchrun --nproc_per_node=2 t.py"), "needed"),
    # What they give room, and what decides besides
    ("lorax, two", launch("ghcr.io/predibase/lorax:main", "--model-id x", count=2), "needed"),
    ("lorax, all", launch("ghcr.io/predibase/lorax:main", "--model-id x"), "not-needed"),
    ("lorax, all, two shards", launch("ghcr.io/predibase/lorax:main", "--model-id x --num-shard 2"), "needed"),
    ("lorax, one", launch("ghcr.io/predibase/lorax:main", "--model-id x", count=1), "not-needed"),
    ("llm studio", launch("gcr.io/vorvan/h2oai/h2o-llmstudio:nightly"), "needed"),
    ("gpt-sovits", launch("breakstring/gpt-sovits:latest"), "likely"),
    # What its guide says of several GPUs, or of a heavy load, is no ground for an error where neither is known
    ("xinference", launch("xprobe/xinference:v1.0"), "likely"),
    ("xinference, two", launch("xprobe/xinference:v1.0", count=2), "needed"),
    ("vllm on ascend", launch("quay.io/ascend/vllm-ascend:v0.9", count=4), "likely"),
    ("rocm", launch("rocm/pytorch:latest"), "likely"),
    ("rocm, two", launch("rocm/pytorch:latest", count=2), "needed"),
    ("merlin", launch("nvcr.io/nvidia/merlin/merlin-hugectr:23.06"), "unknown"),
    ("somebody's gpt-sovits", launch("myorg/gpt-sovits:latest-cu128"), "likely"),
    ("gpt-sovits, only its interface", launch("breakstring/gpt-sovits:latest", "python api.py"), "likely"),
    ("tabbyapi, one", launch("ghcr.io/theroyallab/tabbyapi:latest", count=1), "unknown"),
    ("viseron", launch("roflcoopter/amd64-cuda-viseron:latest", count=1), "likely"),
    ("zoneminder", launch("zoneminderhq/zoneminder:latest-el7", count=1), "likely"),
    ("torchserve", launch("pytorch/torchserve:latest-gpu"), "unknown"),
    ("named by its owner", launch("pytorch/manylinux-cuda101"), "unknown"),
    ("named after its owner", launch("pytorch/pytorch-nightly"), "likely"),
    ("matlab", launch("mathworks/matlab-deep-learning:r2024b"), "unknown"),
    ("sunshine", launch("lizardbyte/sunshine:latest-ubuntu-24.04"), "unknown"),
    ("holoscan", launch("nvcr.io/nvidia/clara-holoscan/holoscan:v2.5.0-dgpu"), "not-needed"),
    ("entrypoint", launch("myorg/app", entrypoint=["torchrun", "--nproc_per_node=2", "t.py"]), "needed"),
    ("a model by its name alone", launch("vllm/vllm-openai", "google/gemma --max-num-seqs 10"), "not-needed"),
    ("a program of its own", launch("vllm/vllm-openai", "./serve.sh --max-num-seqs 10"), "likely"),
    ("values that are not known", launch("vllm/vllm-openai", "--model $MODEL --port=${PORT:-80}"), "not-needed"),
    ("a placeholder of a page",
     launch("vllm/vllm-openai", "--model <org>/<model>", because="a placeholder"), "not-needed"),
    ("a placeholder of a template",
     launch("vllm/vllm-openai", "--model {model}", because="a placeholder"), "not-needed"),
    ("a placeholder for options",
     launch("vllm/vllm-openai", "--model a/b [OPTIONS]", because="a placeholder"), "likely"),
    ("a placeholder that may hold options",
     launch("vllm/vllm-openai", ["--model", "<model and more>"], because="a placeholder"), "likely"),
    ("options that are not known", launch("vllm/vllm-openai", "--model m $EXTRA_ARGS"), "likely"),
    ("what may be options", launch("vllm/vllm-openai", "--model m --trust-remote-code $MORE_ARGS"), "likely"),
    ("all that a script is given", launch("vllm/vllm-openai", "--model m $@"), "likely"),
    ("a file of options", launch("vllm/vllm-openai", "--model m --config options.yaml"), "likely"),
    ("two ranks unless somebody says otherwise",
     launch("vllm/vllm-openai", "--model m --tensor-parallel-size ${TP:-2}"), "likely"),
    ("one rank unless somebody says otherwise",
     launch("vllm/vllm-openai", "--model m --tensor-parallel-size ${TP:-1}"), "unknown"),
    ("a default that nothing contradicts",
     launch("vllm/vllm-openai", "--tensor-parallel-size 1", count=2, written="--tensor-parallel-size ${TP:-1}"),
     "not-needed"),
]  # fmt: skip


@table(("case", "verdict"), [(c, v) for _, c, v in NEEDS], ids=[name for name, _, _ in NEEDS])
def test_needs(case: Launch, verdict: str) -> None:
    assert assess(case).verdict == verdict


NVIDIAS = {"memlock": "-1", "stack": "67108864"}


@table(
    ("case", "limits", "verdict"),
    [
        (launch("my/image"), NVIDIAS, "likely"),
        (launch("my/image", "bash"), {"memlock": "-1:-1", "stack": "67108864"}, "likely"),
        (launch("my/image", "$CMD"), NVIDIAS, "likely"),
        (launch("my/image", "bash ./unread.sh"), NVIDIAS, "likely"),
        (launch("my/image", "python serve.py"), NVIDIAS, "unknown"),
        (launch("my/image", "nvidia-smi"), NVIDIAS, "not-needed"),
        (launch("ollama/ollama"), NVIDIAS, "not-needed"),
        (launch("my/image"), {"memlock": "-1"}, "unknown"),
        (launch("my/image"), {"memlock": "-1", "stack": "8388608"}, "unknown"),
        (launch("my/image"), {"memlock": "$LOCKED", "stack": "67108864"}, "unknown"),
    ],
)
def test_limits_of_training_containers(case: Launch, limits: dict[str, str], verdict: str) -> None:
    ulimits = {name: Value(limit, SPAN, limit) for name, limit in limits.items()}
    assert assess(case._replace(ulimits=ulimits)).verdict == verdict


@table(
    ("case", "verdict"),
    [
        (launch("my/image", env={"NCCL_SOCKET_IFNAME": "eth0"}), "likely"),
        (launch("my/image", "python unread.py", env={"NCCL_DEBUG": "WARN"}, count=2), "likely"),
        (launch("my/image", env={"NCCL_DEBUG": "WARN"}, count=1), "unknown"),
        (launch("my/image", env={"NCCL_VERSION": "2.21"}), "unknown"),
        (launch("ollama/ollama", env={"NCCL_DEBUG": "WARN"}), "not-needed"),
        (launch("vllm/vllm-openai", "--model m", env={"NCCL_P2P_DISABLE": "1"}, count=2), "not-needed"),
        (launch("my/image", env={"RAY_CLIENT_SERVER_PORT": "10001", "RAY_ADDRESS": ""}, count=1), "likely"),
        (launch("my/image", env={"RAY_DASHBOARD_PORT": "8265", "RAY_ADDRESS": "ray://head:10001"}), "unknown"),
        (launch("my/image", env={"ARRAY_SIZE": "3"}), "unknown"),
        (launch("my/image", env={"RAY_HOST": "head", "RAY_PORT": "10001"}), "unknown"),
        # Programs that read their options from variables
        (launch("ghcr.io/ggml-org/llama.cpp:server-cuda", env={"LLAMA_ARG_SPLIT_MODE": "tensor"}), "likely"),
        (launch("ghcr.io/ggml-org/llama.cpp:server-cuda", env={"LLAMA_ARG_SPLIT_MODE": "tensor"}, count=2), "needed"),
        (launch("ghcr.io/ggml-org/llama.cpp:server-cuda", env={"LLAMA_ARG_SPLIT_MODE": "tensor"}, count=1),
         "not-needed"),
        (launch("ghcr.io/ggml-org/llama.cpp:server-cuda", env={"LLAMA_ARG_SPLIT_MODE": "layer"}), "not-needed"),
        (launch("atinoda/text-generation-webui", env={"EXTRA_LAUNCH_ARGS": "--listen --enable-tp"}), "likely"),
        (launch("atinoda/text-generation-webui", env={"EXTRA_LAUNCH_ARGS": "--listen"}), "not-needed"),
        # A service that goes on looking at the GPUs waits for what is run in it
        (launch("leogao2/gpt-neox:main", "nvidia-smi dmon"), "likely"),
        (launch("leogao2/gpt-neox:main", "nvidia-smi -l 5"), "likely"),
        (launch("leogao2/gpt-neox:main", "watch nvidia-smi"), "likely"),
        (launch("leogao2/gpt-neox:main", "nvidia-smi dmon -c 5"), "not-needed"),
        (launch("leogao2/gpt-neox:main", "nvidia-smi"), "not-needed"),
        (launch("nvidia/cuda:12.2.0-base-ubuntu22.04", "nvidia-smi dmon"), "not-needed"),
    ],
)
def test_what_is_set_for_a_program_that_is_not_known(case: Launch, verdict: str) -> None:
    assert assess(case).verdict == verdict


def test_the_arithmetic_is_shown() -> None:
    need = assess(launch("nvcr.io/nvidia/pytorch:24.01-py3", "torchrun --nproc_per_node=8 t.py"))
    assert (need.minimum, need.recommended) == (None, 8 * GIB)
    assert need.floor == need.total == nccl_estimate(8)
    assert [e.text for e in need.evidence] == [
        "NVIDIA NGC framework containers", "8 ranks, NCCL between them",
    ]  # fmt: skip


@table(
    "env, channels",
    [
        ({"NCCL_MAX_NCHANNELS": "4"}, 4), ({"NCCL_MIN_NCHANNELS": "16"}, 16), ({"NCCL_MIN_NCHANNELS": "100000"}, 64),
        ({"NCCL_MAX_NCHANNELS": "1", "NCCL_MIN_NCHANNELS": "1"}, 1),
    ],
)  # fmt: skip
def test_the_settings_of_nccl_count(env: dict[str, str | Unknown], channels: int) -> None:
    """As they do for `shmlint size`."""
    env = {"NCCL_BUFFSIZE": "33554432", **env}
    need = assess(launch("myorg/app", "torchrun --nproc_per_node=8 t.py", env=env))
    assert need.total == nccl_estimate(8, channels=channels, buffsize=33554432) > nccl_estimate(8)
    assert need.recommended is not None and need.recommended >= need.total


def test_one_process_is_not_explained_by_several() -> None:
    for words in ("torchrun --nproc_per_node=1 t.py", "torchrun --nproc_per_node=1 --nnodes=4 t.py"):
        need = assess(launch("myorg/app", words, count=1))
        assert need.verdict == "likely" and "one process" in need.why and "NCCL" not in need.why


@table(
    ("case", "floor"),
    [
        (launch("myorg/app", "torchrun --nproc_per_node=2 t.py"), nccl_estimate(2)),
        (launch("myorg/app", "python t.py --num_workers 8"), 512 * 1024**2),
        (launch("nvcr.io/nvidia/pytorch:24.01-py3"), 512 * 1024**2),
        (launch("smallcloud/refact_self_hosting"), 256 * 1024**2),
        (launch("rayproject/ray:2.9.0-gpu", memory=GIB), 307 * 1024**2),
    ],
)
def test_the_least_is_the_sum_where_it_is_known(case: Launch, floor: int) -> None:
    assert assess(case).floor == floor


@table("ranks", [2, 8, 15, 16, 64])
def test_what_is_advised_is_never_below_the_sum(ranks: int) -> None:
    for words in ("torchrun --nproc_per_node={} t.py", "vllm serve m -tp {}", "python -m sglang.launch_server --tp {}"):
        for image in ("myorg/app", "deepspeed/deepspeed", "vllm/vllm-openai"):
            need = assess(launch(image, words.format(ranks)))
            assert need.verdict == "needed" and need.recommended is not None
            assert need.recommended >= need.total >= nccl_estimate(ranks), (words, image)


@table(
    ("words", "ranks"),
    [
        ("mpirun -np 4 python a.py; mpirun -np 16 python b.py", 16),
        ("torchrun a.py && torchrun --nproc_per_node=2 b.py", 2),
        ("vllm serve a -tp 2 & vllm serve b -tp 2 -pp 2", 4),
    ],
)
def test_ranks_of_several_commands_are_not_multiplied(words: str, ranks: int) -> None:
    need = assess(launch("myorg/app", ["bash", "-c", words]))
    assert need.mechanisms[0].because == f"{ranks} ranks"


@table(
    ("image", "words", "queues"),
    [
        ("vllm/vllm-openai", "--model m -tp 2", 160 + 480 + 24),
        ("myorg/app", "vllm serve m -tp 2", 160 + 480 + 24),
        ("vllm/vllm-openai", "--model m --data-parallel-size 2", 0),
        ("lmsysorg/sglang", "python3 -m sglang.launch_server --tp 2", 24),
        ("lmsysorg/sglang", "python3 -m sglang.launch_server --tp 2 --dp 2", 0),
        ("ghcr.io/huggingface/text-generation-inference", "--num-shard 2", 0),
    ],
)
def test_the_queues_of_servers_are_in_the_sum(image: str, words: str, queues: int) -> None:
    need = assess(launch(image, words))
    assert need.verdict == "needed"
    assert sum(m.bytes or 0 for m in need.mechanisms if m.id != "nccl") == queues * 2**20


def test_a_queue_has_the_size_that_is_set() -> None:
    need = assess(launch("vllm/vllm-openai", "-tp 2", env={"VLLM_MQ_MAX_CHUNK_BYTES_MB": "4"}))
    assert need.mechanisms[1].because.startswith("message queues: 10 slots × 4 MiB")


def test_numbers_from_an_env_file_are_not_shown() -> None:
    for command in ("torchrun --nproc_per_node=8 t.py", "python train.py --num_workers 8"):
        need = assess(launch("pytorch/pytorch", command, private=True, written=command))
        assert need.verdict == "needed"
        assert "8" not in " ".join(e.text for e in need.evidence)


CHECK = "import torch; print(torch.cuda.is_available())"


@table(
    ("words", "looks"),
    [
        (("python", "-c", CHECK), True),
        (("python3.11", "-c", "import torch, sys\nassert torch.cuda.device_count() > 1"), True),
        (("python", "-c", "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"), True),
        (("python", "-c", f"{CHECK}; from torch.utils.data import DataLoader"), False),
        (("python", "-c", f"{CHECK}; exec(open('train.py').read())"), False),
        (("python", "-c", "import train; train.main()"), False),
        (("python", "-c", CHECK + "; x = 1" * 200), False),
        (("python", "-c", CHECK, "more"), True),
        (("bash", "-c", "nvidia-smi && nvcc --version"), True),
        (("sh", "-c", "ls /dev/nvidia*; env | grep NVIDIA"), True),
        (("nvcc", "--version"), True),
        (("train", "--help"), True),
        (("pip", "list"), True),
        (("true",), True),
        (("uname", "-a"), True),
        (("bash", "-c", "pip install -e . && python train.py"), False),
        (("bash", "-c", "cd /x; ./run.sh"), False),
        (("bash", "-c", "source env.sh"), False),
        (("bash", "-c", "ls; exec bash"), False),
        (("bash", "-c", "find . -name t.py -exec python {} +"), False),
        (("conda", "run", "python", "t.py"), False),
        (("uv", "run", "t.py"), False),
        (("pytest", "-v"), False),
        (("bash", "-c", "cat /etc/os-release; nvidia-smi"), True),
        (("cat",), False),
        (("tail", "-n", "5", "log"), True),
        (("tail", "-f", "/dev/null"), False),
        (("tail", "-n0", "-F", "log"), False),
        (("--help",), True),
        (("--model", "m", "--help"), True),
        (("-h",), True),
        (("-h", "0.0.0.0"), False),
        (("accelerate", "env"), True),
        (("accelerate", "launch", "t.py"), False),
        (("mlflow", "ui"), True),
        (("mlflow", "run", "."), False),
        (("python", "-m", "tensorboard.main", "--logdir", "runs"), True),
        (("python", "-m", "deepspeed.env_report"), True),
        (("env",), True), (("cat", "/etc/os-release"), True), (("nsys", "status"), True), (("ds_report",), True),
        (("tensorboard", "--logdir", "x"), True), (("yolo", "checks"), True), (("vllm", "--help"), True),
        (("ray", "status"), True), (("ray", "stop"), True), (("npm", "ci"), True), (("mkdocs", "build"), True),
        (("sphinx-build", "docs", "out"), True), (("python", "-m", "pip", "list"), True),
        (("python", "-c", "print(1)"), True), (("python", "train.py", "--help"), True),
        (("make", "-C", "docs", "html"), True),
        (("make", "-j", "8"), True),
        (("make", "-C", "src", "-j", "8", "train"), False),
        (("make", "-j8", "train"), False),
        (("bash",), False),
        (("sleep", "infinity"), False),
        ((), False),
    ],
)
def test_a_command_that_looks_and_ends(words: tuple[str, ...], looks: bool) -> None:
    found = launch("nvcr.io/nvidia/pytorch:24.01-py3")._replace(command=Value(words, SPAN, " ".join(words)))
    assert (assess(found).verdict == "not-needed") is looks


@table(
    ("script", "privileged", "capabilities", "verdict"),
    [
        ("mount -o remount,size=16G /dev/shm && python train.py", True, (), "not-needed"),
        ("mount -o size=100%,remount /dev/shm; torchrun --nproc_per_node=8 t.py", True, (), "not-needed"),
        ("umount /dev/shm; mount -t tmpfs -o rw,size=50g shm /dev/shm; python train.py", True, (), "not-needed"),
        ("sudo mount -o remount,size=512m /dev/shm; python train.py", True, (), "not-needed"),
        ("mount -o remount,size=64m /dev/shm; python train.py", True, (), "unknown"),
        ("mount -o remount,size=$SHM /dev/shm; python train.py", True, (), "unknown"),
        ("if [ -f x ]; then mount -o remount,size=16G /dev/shm; fi; python train.py", True, (), "unknown"),
        ("mount -o remount,size=16G /dev/shm; python train.py", None, (), "unknown"),
        # The capability alone is not enough where AppArmor confines the container
        ("mount -o remount,size=16G /dev/shm; python train.py", False, ("SYS_ADMIN",), "unknown"),
        ("mount -o remount,size=16G /dev/shm; python train.py", False, ("cap_sys_admin",), "unknown"),
        ("mount -o remount,size=16G /dev/shm; python train.py", False, ("SYS_PTRACE",), "needed"),
        ("mount -o remount,rw /dev/shm; python train.py", True, (), "needed"),
        ("mount -t tmpfs -o size=16G tmpfs /mnt; python train.py", True, (), "needed"),
    ],
)
def test_a_command_that_mounts_it_itself(
    script: str, privileged: bool | None, capabilities: tuple[str, ...], verdict: str
) -> None:
    case = launch("nvcr.io/nvidia/pytorch:24.01-py3", ["bash", "-c", script])
    assert assess(case._replace(privileged=privileged, cap_add=capabilities)).verdict == verdict


def test_ray_needs_a_share_of_the_memory() -> None:
    need = assess(launch("rayproject/ray:2.9.0-gpu", memory=20 * GIB))
    assert need.verdict == "needed" and (need.minimum, need.recommended) == (None, 6 * GIB)
    assert need.why.endswith("; it needs more than 30 % of the container's memory, here 6 GiB of 20 GiB")


def test_a_share_of_a_small_memory_is_enough() -> None:
    """What a fix writes is never too small for the rule that asked for it."""
    need = assess(launch("rayproject/ray:2.9.0-gpu", memory=GIB))
    assert need.recommended is not None and need.floor == need.recommended == 307 * 1024**2


def test_a_share_of_an_unknown_memory_is_no_number() -> None:
    unlimited = launch("rayproject/ray:2.9.0-gpu")._replace(memory_limit=Value(0, SPAN, "0"))
    for case in (launch("rayproject/ray:2.9.0-gpu"), unlimited):
        need = assess(case)
        assert need.recommended is None and need.floor == 512 * 1024**2
        assert need.why.endswith("of the container's memory, but no memory limit is set")
    for limit in (Value(LOST, SPAN, "${M}"), Value(20 * GIB, SPAN, "${M}", private=True)):
        need = assess(launch("rayproject/ray:2.9.0-gpu")._replace(memory_limit=limit))
        assert need.recommended is None and need.why.endswith("container's memory, whose limit is unknown")
        assert "20" not in need.why


@pytest.mark.parametrize(
    ("command", "minimum", "recommended"),
    [
        ("ray start --head --object-store-memory 20000000000", 20_000_000_000, 19 * GIB),
        ("ray start --object-store-memory=20000000000 --block", 20_000_000_000, 19 * GIB),
        ("ray start --object-store-memory 300000000", 300_000_000, 287 * 1024**2),
        ("ray start --object-store-memory $STORE", None, 9830 * 1024**2),
        ("ray start --object-store-memory", None, 9830 * 1024**2),
    ],
)
def test_ray_is_told_the_size_of_its_store(command: str, minimum: int | None, recommended: int) -> None:
    need = assess(launch("rayproject/ray:2.9.0-gpu", command, memory=32 * GIB))
    assert (need.verdict, need.minimum) == ("needed", minimum)
    assert need.recommended is not None and recommended <= need.recommended < recommended + 2**21
    private = assess(launch("rayproject/ray:2.9.0-gpu", command, private=True, written=command))
    assert "18.6" not in private.why


@table(
    "command, verdict, minimum, recommended",
    [
        ("tritonserver --backend-config=python,shm-default-byte-size=268435456", "likely", 268435456, GIB),
        ("tritonserver --backend-config python,shm-default-byte-size=2147483648", "likely", 2 * GIB, 2 * GIB),
        ("tritonserver --backend-config=python,shm-default-byte-size=1048576", "unknown", None, GIB),
        ("tritonserver --backend-config=python,shm-default-byte-size=$SIZE", "unknown", None, GIB),
        ("tritonserver --backend-config=python,shm-growth-byte-size=268435456", "unknown", None, GIB),
        ("tritonserver --backend-config", "unknown", None, GIB),
    ],
)
def test_triton_is_told_the_size_of_a_model_instance(
    command: str, verdict: str, minimum: int | None, recommended: int
) -> None:
    need = assess(launch("nvcr.io/nvidia/tritonserver:24.05-py3", command))
    assert (need.verdict, need.minimum, need.recommended) == (verdict, minimum, recommended)


def test_a_condition_is_stated() -> None:
    need = assess(launch("nvcr.io/nim/meta/llama-3.1-70b-instruct", count=4))
    assert need.recommended == 16 * GIB and "NVLink" in need.why
    assert "NVLink" not in assess(launch("nvcr.io/nim/meta/llama-3.1-8b-instruct", count=1)).why


def test_a_formula_is_told_with_its_source() -> None:
    need = assess(launch("ghcr.io/blakeblackshear/frigate:stable", count=1))
    assert (need.verdict, need.minimum, need.recommended) == ("needed", 128 * 1024**2, 512 * 1024**2)
    formula = need.evidence[-1]
    assert "width × height × 1.5 + 270480" in formula.text and "services.py" in formula.source and formula.span is None


def test_the_formula_in_words_is_the_one_that_is_computed() -> None:
    from shmlint.workloads.mechanisms import FRIGATE_SPARE, frigate_terms, total

    def in_words(cameras: list[tuple[int, int]], birdseye: bool) -> int:
        frames = sum(round((w * h * 1.5 + 270480) / 2**20, 1) for w, h in [*cameras, FRIGATE_SPARE, FRIGATE_SPARE])
        return round(50 + 20 * frames + (8 if birdseye else 0))

    for cameras in ([], [(1280, 720)], [(1280, 720)] * 2, [(640, 480), (1920, 1080), (2560, 1440)], [(1, 1)]):
        for birdseye in (False, True):
            assert total(frigate_terms(cameras, birdseye)) == in_words(cameras, birdseye) * 2**20


def unread(entry: dict[str, Any]) -> Workload:
    """The entry as it would be if nobody had read its source."""
    return Workload({**entry, "verified": False})


@table("entry", entries(), ids=lambda e: e["id"])
def test_an_unverified_entry_is_marked_and_only_ever_warns(entry: dict[str, Any]) -> None:
    images = [image for image, workload in REAL.items() if workload == entry["id"]]
    for case in [launch(i, count=n) for i in images for n in (1, 2, "all")]:
        need = assess(case, (unread(entry),))
        if need.workload is not None and need.workload.id == entry["id"]:
            assert need.verdict != "needed"
            environment = need.why.startswith("an environment with PyTorch")  # which is no claim of the entry
            assert environment or need.why.endswith("(not checked against a source)")


@table("entry", [e for e in entries() if e["verified"]], ids=lambda e: e["id"])
def test_a_verified_entry_says_who_says_so(entry: dict[str, Any]) -> None:
    assert entry["source"].startswith("https://")
    assert entry["quote"] or "says nothing" in entry["notes"] or "sets nothing" in entry["notes"]
    moving = ("/blob/main/", "/blob/master/", "/tree/main", "/tree/master", "/latest/", "/stable/")
    assert not any(part in entry["source"] for part in moving), "link to a commit or a version"


def test_ranks_with_an_unverified_workload_are_nccls_claim() -> None:
    entry = next(e for e in entries() if e["id"] == "rocm-base")
    need = assess(launch("rocm/dev-ubuntu-22.04", "--tensor-parallel-size 2"), (unread(entry),))
    assert (need.verdict, need.recommended, need.source) == ("needed", GIB, workloads.NCCL_SOURCE)
    assert "between several GPUs" not in need.why and "not checked" not in need.why


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


def test_settings_know_whether_a_condition_holds() -> None:
    extra = users([{"id": "nim", "condition": ""}])
    need = assess(launch("nvcr.io/nim/meta/llama3-70b-instruct", count=2), extra)
    assert (need.verdict, need.recommended) == ("needed", 16 * GIB) and "NVLink" not in need.why


@table(
    ("options", "command", "verdict"),
    [
        ("--gpus 1", "torchrun --nproc_per_node=gpu train.py", "likely"),
        ("--gpus 1", "deepspeed train.py", "likely"),
        ("--gpus '\"device=0\"'", "accelerate launch train.py", "likely"),
        ("--gpus all -e CUDA_VISIBLE_DEVICES=0", "torchrun --nproc_per_node=gpu train.py", "likely"),
        ("--gpus all", "torchrun --nproc_per_node=gpu train.py", "needed"),
        ("--gpus all", "python plot_training.py", "likely"),
    ],
)
def test_no_error_of_a_launcher_with_one_gpu(tmp_path: Path, options: str, command: str, verdict: str) -> None:
    """It starts one rank, whose workers nobody knows, in an image whose maintainers ask for shared memory."""
    text = f"docker run {options} nvcr.io/nvidia/pytorch:24.01-py3 {command}\n"
    assert need(tmp_path, {"run.sh": text}).verdict == verdict
