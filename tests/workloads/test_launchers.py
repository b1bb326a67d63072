"""How many ranks a command starts."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, JOINS, LOADER, NGC, PYTORCH, RANKS, SHELL, compose, need


@table(
    "script, verdict",
    [
        (f'if [ "$MODE" = many ]; then {RANKS} work.py; else python work.py; fi', "likely"),
        (f'if [ "$MODE" = many ]; then {RANKS} work.py; else {RANKS} train.py; fi', "needed"),
        (f'python work.py\nif [ "$MODE" = many ]; then {RANKS} work.py; else {RANKS} train.py; fi', "needed"),
        (f'[ -f x ] || python work.py\n{RANKS} work.py', "needed"),
        (f'[ "$MODE" = many ] && {RANKS} work.py', "likely"),
        (f'if [ -f x ]; then {RANKS} work.py; fi', "likely"),
        (f'for x in a b; do {RANKS} work.py; done', "needed"),
    ],
)
def test_ranks_in_some_branches(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash go.sh"), "go.sh": script + "\n", "train.py": LOADER, "work.py": JOINS}
    assert need(tmp_path, files | {"Dockerfile": DOCKERFILE}).verdict == verdict


@table(
    "before, verdict",
    [
        ("export N=$(pick)", "likely"), ("N=$(pick)\nexport N", "likely"), (". ./given.env", "likely"),
        ("export N=8", "needed"), ("N=$(pick)", "needed"), ("export M=$(pick)", "needed"), ("export N=1", "not-needed"),
    ],
)  # fmt: skip
def test_ranks_by_default_where_something_else_may_be_given(tmp_path: Path, before: str, verdict: str) -> None:
    files = {"go.sh": f"{before}\n./start.sh\n", "start.sh": f"{RANKS.replace('8', '${N:-8}')} work.py\n"}
    files |= {"compose.yaml": compose("bash go.sh"), "Dockerfile": DOCKERFILE, "work.py": JOINS}
    assert need(tmp_path, files).verdict == verdict


@table(
    "count, options, verdict",
    [
        ("4", "--nproc_per_node=gpu", "needed"),
        ("4", "--nproc-per-node auto", "needed"),
        ("4", "--nproc_per_node=gpu --nnodes=2", "likely"),
        ("4", "fabric run --devices -1", "needed"),
        ("4", "fabric run --accelerator=cuda --devices=2", "needed"),
        ("4", "lightning run model --strategy=ddp --devices=0,1", "needed"),
        ("4", "fabric run --devices=1", "not-needed"),
        ("4", "fabric run", "not-needed"),
        ("4", "fabric run --accelerator cpu --devices=2", "not-needed"),
        ("all", "--nproc_per_node=gpu", "likely"),
    ],
)
def test_one_rank_for_each_gpu(tmp_path: Path, count: str, options: str, verdict: str) -> None:
    services = compose(f"{options if ' run' in options else f'torchrun {options}'} fit.py --devices 9")
    services = services.replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    joined = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    files = {"compose.yaml": services, "Dockerfile": DOCKERFILE, "fit.py": joined}
    assert need(tmp_path, files).verdict == verdict


@table(
    "options, verdict",
    [
        ("--world-size 2", "needed"),
        ("--world-size 2 --rank 1", "not-needed"),
        ("--world_size 2 --local_rank=0", "not-needed"),
    ],
)
def test_one_rank_in_a_container(tmp_path: Path, options: str, verdict: str) -> None:
    """Those in other containers have a /dev/shm of their own."""
    code = "import argparse, torch\nparser = argparse.ArgumentParser()\n"
    for option in ("--world-size", "--world_size", "--rank", "--local_rank"):
        code += f"parser.add_argument('{option}', type=int, default=1)\n"
    code += "args = parser.parse_args()\ntorch.distributed.init_process_group('nccl', world_size=args.world_size)\n"
    files = {"compose.yaml": compose(f"python fit.py {options}"), "Dockerfile": DOCKERFILE, "fit.py": code}
    assert need(tmp_path, files).verdict == verdict


@table(
    "options, verdict",
    [
        ("-e TP=2", "likely"),
        ("-e NPROC_PER_NODE=8", "likely"),
        ("-e TP=1", "unknown"),
        ("-e TP=4096", "unknown"),
        ("-e TP=$N", "unknown"),
        ("-e TP=2 -e CUDA_VISIBLE_DEVICES=0", "unknown"),
        ("-e STEPS=2", "unknown"),
    ],
)
def test_ranks_that_variables_ask_for(tmp_path: Path, options: str, verdict: str) -> None:
    assert need(tmp_path, {"run.sh": f"docker run --gpus all {options} own/server\n"}).verdict == verdict


ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 4\n"
LAUNCHED = "from accelerate import Accelerator\naccelerator = Accelerator()\n"


@table(
    "options, settings, verdict",
    [
        ("--config_file gpus.yaml", ACCELERATE, "needed"),
        ("--config_file=gpus.yaml --debug", ACCELERATE.replace("MULTI_GPU", "DEEPSPEED"), "needed"),
        ("--config_file gpus.yaml --num_processes 1", ACCELERATE, "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("es: 4", "es: 1"), "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("machines: 1", "machines: 4"), "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("machines: 1", "machines: 0"), "likely"),
        ("--config_file gpus.yaml", ACCELERATE.replace("MULTI_GPU", "MULTI_CPU"), "likely"),
        ("--config_file gpus.yaml", ACCELERATE.replace("MULTI_GPU", "'NO'"), "not-needed"),
        ("--config_file gpus.yaml", "num_processes: many\ndistributed_type: MULTI_GPU\n", "likely"),
        ("--config_file other.yaml", ACCELERATE, "likely"),
        ("--config_file gpus.yaml", ACCELERATE.replace(" 4", ' "4"'), "needed"),
        ("--config_file gpus.yaml", "{" + ", ".join(ACCELERATE.splitlines()) + "}\n", "needed"),
        ("--config_file gpus.yaml", '{"distributed_type": "FSDP", "num_processes": 4, "num_machines": 1}', "needed"),
        ("--config_file gpus.yaml", '{"distributed_type": "NO", "num_processes": 4, "num_machines": 1}', "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("MULTI_GPU", "NO"), "not-needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace("MULTI_GPU", "multi_gpu"), "needed"),
        ("--config_file gpus.yaml", ACCELERATE.replace(" 4", " yes"), "likely"),
        ("--config_file gpus.yaml", ACCELERATE.replace(" 4", " -1"), "likely"),
        ("--config_file gpus.yaml", ACCELERATE + "fsdp_config:\n  num_processes: 1\n", "needed"),
        ("--config_file gpus.yaml", "# num_processes: 1\n" + ACCELERATE, "needed"),
        ("--config_file gpus.yaml", ACCELERATE + "---\n" + ACCELERATE, "likely"),
        ("--config_file gpus.yaml", "[" + ACCELERATE, "likely"),
    ],
)
def test_processes_that_a_configuration_of_accelerate_sets(
    tmp_path: Path, options: str, settings: str, verdict: str
) -> None:
    started = compose(f"accelerate launch {options} fit.py")
    files = {"compose.yaml": started, "Dockerfile": DOCKERFILE, "fit.py": LAUNCHED, "gpus.yaml": settings}
    assert need(tmp_path, files).verdict == verdict


VLLM = "vllm/vllm-openai:v0.6.4"
SGLANG = "lmsysorg/sglang"
FACTORY = "hiyouga/llamafactory"


@table(
    "image, command, settings, verdict",
    [
        (VLLM, "--config /c/fit.yaml", "model: a/b-7b\ntensor-parallel-size: 4\n", "needed"),
        (VLLM, "--config /c/fit.yaml", "model: a/b-7b\ntensor_parallel_size: 4\n", "needed"),
        (VLLM, "--config /c/fit.yaml", "model: a/b-7b\nenforce-eager: true\n", "not-needed"),
        (VLLM, "--config /c/fit.yaml -tp 1", "model: a/b-7b\ntensor-parallel-size: 4\n", "not-needed"),
        (VLLM, "--config /c/fit.yaml --tensor-parallel-size=1", "model: a/b\ntensor_parallel_size: 4\n", "not-needed"),
        (VLLM, "--model a/b --config /c/fit.yaml", "tensor-parallel-size: 4\n", "needed"),
        (VLLM, "--config /c/other.yaml", "model: a/b-7b\n", "likely"),
        (VLLM, "--config /c/fit.yaml", "- a\n", "likely"),
        (PYTORCH, "vllm serve a/b-7b --config /c/fit.yaml", "tensor-parallel-size: 4\n", "needed"),
        (PYTORCH, "vllm serve a/b-7b --config /c/fit.yaml", "port: 80\nnested: {a: 1}\n", "not-needed"),
        (PYTORCH, "python -m vllm.entrypoints.openai.api_server --config /c/fit.yaml", "model: a/b\n", "not-needed"),
        (SGLANG, "python -m sglang.launch_server --config /c/fit.yaml", "model-path: a/b\ntp: 2\n", "needed"),
        (SGLANG, "python -m sglang.launch_server --config /c/fit.yaml", "model-path: a/b\n", "unknown"),
        (FACTORY, "llamafactory-cli train /c/fit.yaml", "dataloader_num_workers: 0\n", "not-needed"),
        (FACTORY, "llamafactory-cli train /c/fit.yaml", "stage: sft\n", "not-needed"),
        (FACTORY, "llamafactory-cli train /c/fit.yaml", "dataloader_num_workers: 4\n", "needed"),
        (FACTORY, "llamafactory-cli train /c/fit.yaml dataloader_num_workers=0", "dataloader_num_workers: 4\n",
         "not-needed"),
        (FACTORY, "llamafactory-cli train /c/fit.yaml dataloader_num_workers=4", "stage: sft\n", "needed"),
        (FACTORY, "llamafactory-cli train /c/other.yaml", "dataloader_num_workers: 0\n", "needed"),
        (PYTORCH, "yolo train cfg=/c/fit.yaml", "workers: 0\n", "not-needed"),
        (PYTORCH, "yolo cfg=/c/fit.yaml", "task: detect\nmode: train\nworkers: 0\n", "not-needed"),
        (PYTORCH, "yolo cfg=/c/fit.yaml", "task: detect\nmode: train\n", "needed"),
        (PYTORCH, "yolo train cfg=/c/fit.yaml workers=8", "workers: 0\n", "needed"),
    ],
)  # fmt: skip
def test_options_in_a_configuration_file(
    tmp_path: Path, image: str, command: str, settings: str, verdict: str
) -> None:
    count = 1 if "train" in f"{command} {settings}" else 4
    services = (
        f"services:\n  work:\n    image: {image}\n    command: {command}\n    volumes: ['./fit.yaml:/c/fit.yaml']\n"
        f"    deploy: {{resources: {{reservations: {{devices: [{{count: {count}, capabilities: [gpu]}}]}}}}}}\n"
    )
    assert need(tmp_path, {"compose.yaml": services, "fit.yaml": settings}).verdict == verdict


JOINED = "import torch.distributed as dist\nimport multiprocessing as mp\n"
RUNS = "def run(rank, size):\n    dist.init_process_group('BACKEND', rank=rank, world_size=size)\n"
EACH = "for rank in range(count()):\n    mp.Process(target=run, args=(rank, 4)).start()\n"


@table(
    "code, because",
    [
        (RUNS + EACH, ["4 ranks"]),
        (RUNS.replace(", world_size=size", "") + EACH, ["several processes, NCCL between them"]),
        ("dist.init_process_group('nccl', world_size=4)\n", ["4 ranks"]),
        # One process, or others that do not join; what talks over sockets; a process that is not one of many.
        ("dist.init_process_group('nccl', world_size=1)\n", []),
        (RUNS.replace("BACKEND", "gloo") + EACH, []),
        (RUNS.replace(", world_size=size", "") + EACH.replace("for rank in range(count())", "if True"), []),
        ("dist.init_process_group('nccl')\ndef run(rank, size):\n    print(rank)\n" + EACH, []),
    ],
)
def test_ranks_that_a_program_starts_as_processes(tmp_path: Path, code: str, because: list[str]) -> None:
    code = JOINED + code.replace("BACKEND", "nccl")
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "fit.py": code})
    assert found.verdict == ("likely" if because else "not-needed")
    assert [mechanism.because for mechanism in found.mechanisms] == because


@table(
    "script, verdict",
    [
        ("for i in 0 1 2 3; do RANK=$i WORLD_SIZE=4 python fit.py & done\nwait\n", "likely"),
        ("export WORLD_SIZE=4\nfor i in $(seq 0 3); do RANK=$i python fit.py & done; wait\n", "likely"),
        ("for i in 0 1; do python fit.py --rank $i --world-size 2 &\ndone\nwait\n", "likely"),
        ("for i in 0 1; do (RANK=$i python fit.py) & done\nwait\n", "likely"),
        ("for i in 0 1; do\n  export RANK=$i\n  bash one.sh &\ndone\nwait\n", "likely"),
        ("RANK=0 WORLD_SIZE=2 python fit.py &\nRANK=1 WORLD_SIZE=2 python fit.py\nwait\n", "likely"),
        # One of the ranks, whose others run elsewhere; one after the other; and trials that have no rank.
        ("RANK=0 WORLD_SIZE=2 python fit.py &\nwait\n", "not-needed"),
        ("for i in 0 1; do RANK=0 WORLD_SIZE=1 python fit.py; done\n", "not-needed"),
        ("for lr in 1 2; do CUDA_VISIBLE_DEVICES=$lr python fit.py --lr $lr & done\nwait\n", "not-needed"),
        ("for i in 0 1; do sleep 1 & done\nRANK=0 python fit.py\n", "not-needed"),
    ],
)
def test_ranks_that_a_script_starts_beside_each_other(tmp_path: Path, script: str, verdict: str) -> None:
    files = {"compose.yaml": compose("bash run.sh"), "Dockerfile": DOCKERFILE, "run.sh": script, "fit.py": JOINS}
    assert need(tmp_path, {**files, "one.sh": "python fit.py\n"}).verdict == verdict


BATCHES = "DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=8)"


@table(
    "code, ranks",
    [
        (f"import lightning as L\nL.Trainer(devices=4).fit(net, {BATCHES})\n", 4),
        (f"import lightning as L\nL.Trainer(devices=1).fit(net, {BATCHES})\n", 1),
        (f"from lightning.fabric import Fabric\nFabric(devices=4).launch()\n{BATCHES}\n", 4),
        (f"import torch.multiprocessing as mp\ndef run(rank):\n    {BATCHES}\nmp.spawn(run, nprocs=4)\n", 4),
        (f"import torch.multiprocessing as mp\ndef run(rank):\n    {BATCHES}\nmp.spawn(run, nprocs=many())\n", 1),
        (f"import lightning as L\nL.Trainer(devices=64).fit(net, {BATCHES})\n", 8),
    ],
)
def test_each_rank_that_a_program_starts_has_its_loaders(tmp_path: Path, code: str, ranks: int) -> None:
    files = {
        "compose.yaml": compose("python fit.py").replace("[gpu]", "[gpu], count: 8"), "Dockerfile": DOCKERFILE,
        "fit.py": f"from torch.utils.data import DataLoader\n{code}",
    }  # fmt: skip
    because = [mechanism.because for mechanism in need(tmp_path, files).mechanisms if mechanism.id == "dataloader"]
    before = f"{ranks} ranks × " if ranks > 1 else ""
    assert because == [f"{before}(8 × 2 + 2) batches × 36.8 MiB"]


@table(
    "code, ranks",
    [
        ("import lightning as L\nL.Trainer(devices=[0, 1])", 2),
        ("import lightning as L\nL.Trainer(devices=[3])", None),
        ("import lightning as L\nL.Trainer(devices='0,1,2')", 3),
        # A class that extends a trainer is one.
        ("import lightning as L\nclass Own(L.Trainer):\n    pass\nOwn(accelerator='gpu', devices=2)", 2),
        ("import lightning as L\nclass Own(L.Trainer):\n    def __init__(self, n):\n"
         "        super().__init__(devices=n)\nOwn(2)", 2),
        ("import lightning as L\nclass Own(L.Trainer):\n    def __init__(self, **kw):\n"
         "        super().__init__(strategy='auto', **kw)\nOwn(devices=1)", None),
        ("from transformers import Trainer\nclass Own(Trainer):\n    pass\nOwn(devices=2)", None),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=[[0, 1, 2, 3], [0, 1, 2, 3]])", 4),
        ("import hugectr\ngpus = [[0, 1]]\nhugectr.CreateSolver(vvgpu=gpus)", 2),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=['0,1'])", 2),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=[[0]])", None),
        ("import hugectr\nhugectr.solver_parser_helper(vvgpu=[[0, 1]])", 2),
        ("import hugectr\nhugectr.CreateSolver(max_eval_batches=3)", None),
        # The number of one GPU starts no ranks.
        ("from ultralytics import YOLO\nYOLO('a').train(device=[0, 1], workers=0)", 2),
        ("from ultralytics import YOLO\nYOLO('a').train(device='0,1,2', workers=0)", 3),
        ("from ultralytics import YOLO\nYOLO('a').train(device=2, workers=0)", None),
        ("from ultralytics import YOLO\nYOLO('a').val(device=[0, 1], workers=0)", None),
        # What the call says beats its file.
        ("from ultralytics import YOLO\nYOLO('a').train(cfg='fit.yaml')", 2),
        ("from ultralytics import YOLO\nYOLO('a').train(cfg='fit.yaml', device=0)", None),
    ],
)
def test_ranks_of_a_list_of_gpus(tmp_path: Path, code: str, ranks: int | None) -> None:
    files = {"fit.py": code, "fit.yaml": "workers: 0\ndevice: [0, 1]\n"}
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, **files})
    assert found.verdict == ("not-needed" if ranks is None else "needed")
    assert [mechanism.because for mechanism in found.mechanisms] == ([] if ranks is None else [f"{ranks} ranks"])


@table(
    "code, counted",
    [
        ("import lightning as L\nL.Trainer(devices=UNKNOWN)", "processes of `lightning.Trainer`"),
        ("import lightning as L\nL.Trainer(**UNKNOWN)", "processes of `lightning.Trainer`"),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=[UNKNOWN])", "processes of `hugectr.CreateSolver`"),
        ("import hugectr\nhugectr.CreateSolver(vvgpu=['a'])", "processes of `hugectr.CreateSolver`"),
        ("import torch.multiprocessing as mp\nmp.spawn(f, nprocs=UNKNOWN)",
         "processes of `torch.multiprocessing.spawn`"),
        ("from vllm import LLM\nLLM('m', tensor_parallel_size=UNKNOWN)", "processes of `vllm.LLM`"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, num_workers=UNKNOWN)",
         "workers of `torch.utils.data.DataLoader`"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, **UNKNOWN)",
         "workers of `torch.utils.data.DataLoader`"),
        ("from torch.utils.data import DataLoader\nDataLoader(d, batch_size=UNKNOWN)", None),
    ],
)  # fmt: skip
def test_an_unknown_number_of_processes_is_not_none(tmp_path: Path, code: str, counted: str | None) -> None:
    code = "import json\n" + code.replace("UNKNOWN", "json.load(open('x'))")
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "fit.py": code})
    because = f"the number of {counted} is not known (fit.py:3)" if counted else ""
    assert (found.verdict, found.stopped) == ("unknown" if counted else "not-needed", because)


@table(
    "given, options, verdict",
    [
        ("'nccl'", "--gpus all", "likely"),
        ("'gloo'", "--gpus all", "unknown"),
        ("'nccl'", "--gpus device=0", "not-needed"),
        ("'nccl'", "--device /dev/kfd --device /dev/dri", "likely"),
        ("'nccl'", "--device /dev/davinci0 --device /dev/davinci1", "unknown"),
        (None, "--gpus all", "unknown"),
    ],
)
def test_processes_that_are_joined_are_several(
    tmp_path: Path, given: str | None, options: str, verdict: str
) -> None:
    """How many is in a file that is not read; with one GPU there is one."""
    joins = f"torch.distributed.init_process_group({given})" if given is not None else "pass"
    code = f"import json, torch\nimport torch.multiprocessing as mp\ndef f(rank):\n    {joins}\n"
    code += "mp.spawn(f, nprocs=json.load(open('x')))\n"
    launch = f"docker run {options} -v $PWD:/w -w /w python:3.12 python fit.py\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": code}).verdict == verdict


@table(
    "devices, command, verdict, told",
    [
        ("--gpus all", "vllm serve m -tp 2", "needed", "2 ranks, NCCL between them"),
        ("--device /dev/kfd --device /dev/dri", "vllm serve m -tp 2", "needed", "2 ranks, RCCL between them"),
        ("--runtime=habana -e HABANA_VISIBLE_DEVICES=all", "vllm serve m -tp 2", "likely", "2 ranks"),
        ("--device /dev/davinci0 --device /dev/davinci1", "vllm serve m -tp 2", "likely", "2 ranks"),
        ("--runtime=habana -e HABANA_VISIBLE_DEVICES=all", "python fit.py", "unknown", ""),
    ],
)
def test_ranks_of_each_accelerator(tmp_path: Path, devices: str, command: str, verdict: str, told: str) -> None:
    """NVIDIA's sum is one of NCCL, and of its version for AMD."""
    code = "import torch\ntorch.multiprocessing.spawn(f, nprocs=2)\n"
    launch = f"docker run {devices} -v $PWD:/w -w /w python:3.12 {command}\n"
    found = need(tmp_path, {"run.sh": launch, "fit.py": code})
    assert found.verdict == verdict
    assert [e.text for e in found.evidence if "ranks" in e.text] == ([told] if told else [])
    assert any(mechanism.id == "nccl" for mechanism in found.mechanisms) == ("CCL" in told)


def test_one_gpu_has_no_ranks_to_count(tmp_path: Path) -> None:
    one = compose("python fit.py").replace("capabilities: [gpu]", "capabilities: [gpu], count: 1")
    for number, code in enumerate((
        "import json, vllm\nvllm.LLM('m', tensor_parallel_size=json.load(open('x')))",
        "import tensorflow as tf\nwith tf.distribute.MirroredStrategy().scope(): pass",
        "import jax\njax.pmap(f)(x)",
        "import jax\nmesh = jax.make_mesh((2,), ('x',))",
        "import jax\nfrom jax.sharding import Mesh\nMesh(jax.devices(), ('x',))",
        "from jax.experimental import mesh_utils\nmesh_utils.create_device_mesh((2,))",
        "import keras\nkeras.distribution.set_distribution(keras.distribution.DataParallel())",
    )):  # fmt: skip
        for text, verdict in ((one, "not-needed"), (compose("python fit.py"), "unknown")):
            files = {"compose.yaml": text, "Dockerfile": DOCKERFILE, "fit.py": code}
            (tmp_path / f"{number}{verdict}").mkdir()
            assert need(tmp_path / f"{number}{verdict}", files).verdict == verdict, code


@table(
    "code, verdict, told",
    [
        ("import tensorflow as tf\ntf.distribute.MirroredStrategy(['GPU:0', 'GPU:1'])", "likely", ["2 ranks"]),
        ("import tensorflow as tf\ntf.distribute.MirroredStrategy(devices=['/gpu:0', 'gpu:1'])", "likely", ["2 ranks"]),
        ("import tensorflow as tf\ntf.distribute.MirroredStrategy(['GPU:0'])", "not-needed", []),
        ("import tensorflow as tf\ntf.distribute.MirroredStrategy(named())", "unknown", []),
        ("import keras\nkeras.distribution.DataParallel(devices=['gpu:0', 'gpu:1'])", "likely", ["2 ranks"]),
    ],
)
def test_gpus_of_one_process(tmp_path: Path, code: str, verdict: str, told: list[str]) -> None:
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, "fit.py": code})
    assert (found.verdict, [mechanism.because for mechanism in found.mechanisms]) == (verdict, told)


@table(
    "words",
    [
        "python convert_checkpoint.py --tp_size 8",
        "python bench_client.py --tensor-parallel-size 8",
        "python split_dataset.py --world_size 8 --tp_size 8",
        "python launch_slurm.py --nproc_per_node 8",
        "./estimate --tp 8",
        "python server.py --tp 8",
    ],
)
def test_an_option_of_a_program_that_is_not_known_makes_no_error(tmp_path: Path, words: str) -> None:
    text = f"docker run --rm --gpus all nvcr.io/nvidia/pytorch:24.01-py3 {words}\n"
    assert need(tmp_path, {"run.sh": text}).verdict != "needed"


@table(
    "words, verdict",
    [
        ("python train.py", "needed"),
        ("python train.py --data $DATA --batch_size=$BATCH", "needed"),
        ("python train.py --devices 8 --strategy ddp", "needed"),  # or one, as its maintainers say of training
        ("python train.py --num_workers $W", "likely"),
        ("python train.py data.num_workers=${W}", "likely"),
        ("python train.py -j $W", "likely"),
        ('python train.py "$@"', "likely"),
        ("python train.py --data $DATA $MORE", "likely"),
        ("torchrun --nproc_per_node=$N train.py", "likely"),
        ("torchrun --nproc_per_node $N train.py", "likely"),
        ("torchrun --nproc_per_node 2 train.py --data $DATA", "needed"),
    ],
)
def test_a_number_that_is_not_known_makes_no_error(tmp_path: Path, words: str, verdict: str) -> None:
    """It may be none, or one: then nobody says that the program needs more."""
    text = f"docker run --rm --gpus all nvcr.io/nvidia/pytorch:24.01-py3 {words}\n"
    assert need(tmp_path, {"run.sh": text}).verdict == verdict


@table(
    "words, verdict",
    [
        ("python fit.py ici_fsdp_parallelism=8", "needed"),
        ("python fit.py ici_fsdp_parallelism=1", "unknown"),
        ("python fit.py trainer.n_gpus_per_node=8 trainer.nnodes=1", "needed"),
        ("python fit.py model.devices=8", "unknown"),
        ("torchpack dist-run -np 8 python fit.py", "needed"),
        ("torchpack dist-run -np 1 python fit.py", "unknown"),
    ],
)
def test_ranks_of_keys_and_launchers(tmp_path: Path, words: str, verdict: str) -> None:
    page = f"```bash\n{SHELL.replace(PYTORCH, 'own/app')} bash\n```\n\n```bash\n{words}\n```\n"
    assert need(tmp_path, {"README.md": page}).verdict == verdict


def test_the_first_command_that_tells_ranks_is_shown_where_it_stands(tmp_path: Path) -> None:
    shell = SHELL.replace(PYTORCH, "own/app")
    page = f"```bash\n{shell} bash\npython x.py\nmpirun -np 4 python a.py\n```\n\n```\nmpirun -np 16 python b.py\n```\n"
    found = need(tmp_path, {"README.md": page})
    assert found.mechanisms[0].because == "4 ranks"
    (span,) = [evidence.span for evidence in found.evidence if "4 ranks" in evidence.text]
    assert span is not None and (span.path, span.line) == ("README.md", 4)


def test_the_ranks_of_another_program_are_not_its_own(tmp_path: Path) -> None:
    command = "bash -c 'python train.py --batch-size 4; torchrun --nproc_per_node=8 other.py'"
    files = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "train.py": LOADER, "other.py": "import os\n"}
    assert "8 ranks × (8" not in need(tmp_path, files).why


@table(
    "command, gpus, verdict",
    [
        ("python -m trainer.distribute --script train.py --gpus 0,1 --workers 8", "all", "needed"),
        ("python -m trainer.distribute --gpus 0,1 --script=train.py --workers 8", "all", "needed"),
        ("python -m trainer.distribute --gpus 0,1 --script train.py --workers 0", "all", "likely"),
        ("python -m TTS.bin.distribute --script work.py", "all", "likely"),
        ("python -m trainer.distribute --script", "all", "likely"),
    ],
)
def test_a_module_that_is_given_its_script(tmp_path: Path, command: str, gpus: str, verdict: str) -> None:
    started = f"docker build -t own .\ndocker run --gpus {gpus} own {command}\n"
    files = {"go.sh": started, "Dockerfile": DOCKERFILE, "train.py": LOADER, "work.py": "print(1)\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "options",
    [
        "-np 2", "-np 2 --mca btl ^openib", "-np 2 --report-bindings -x PATH",
        "-H a:2 --bind-to none -genv A b --tag-output",
    ],
)
def test_the_program_that_mpi_starts(tmp_path: Path, options: str) -> None:
    launch = f"docker run --gpus all -v $PWD:/w -w /w {PYTORCH} mpirun {options} python fit.py\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": LOADER}).verdict == "needed"


STARTERS = ("mpirun -np 8", "mpiexec -n 8", "mpiexec.hydra -n 8", "orterun -np 8", "/opt/bin/orterun -n 8")


@table(
    "starter, command, verdict",
    [
        (starter, command, verdict)
        for starter in STARTERS
        for command, verdict in (
            ("python fit.py", "needed"), ("-x OMP_NUM_THREADS=1 python fit.py", "needed"),
            ("-hostfile hosts python fit.py", "unknown"), ("nvidia-smi -L", "not-needed"), ("gmx mdrun", "unknown"),
        )
    ],
)  # fmt: skip
def test_all_starters_of_mpi_are_read_alike(tmp_path: Path, starter: str, command: str, verdict: str) -> None:
    launch = f"docker run --gpus all -v $PWD:/w -w /w python:3.12 {starter} {command}\n"
    found = need(tmp_path, {"run.sh": launch, "fit.py": JOINS})
    because = [mechanism.because for mechanism in found.mechanisms]
    assert (found.verdict, because) == (verdict, ["8 ranks"] if verdict == "needed" else [])


@table("options, verdict", [("-f hosts -n 8 python fit.py", "unknown"), ("-n 8 python fit.py -f x", "needed")])
def test_hosts_that_hydra_reads_from_a_file(tmp_path: Path, options: str, verdict: str) -> None:
    launch = f"docker run --gpus all -v $PWD:/w -w /w python:3.12 mpiexec.hydra {options}\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": JOINS}).verdict == verdict


@table(
    "code, verdict",
    [
        ("import os\nprint(os.environ['RANK'])", "not-needed"),
        ("import torch\nprint(torch.ones(2).cuda().sum())", "not-needed"),
        ("import own\nprint(own.VALUE)", "not-needed"),
        # What may join them.
        ("import torch.distributed as dist\ndist.init_process_group('nccl')", "needed"),
        ("import torch\ntorch.distributed.init_device_mesh('cuda', (8,))", "needed"),
        ("from torch.nn.parallel import DistributedDataParallel", "needed"),
        ("from accelerate import PartialState\nPartialState().wait_for_everyone()", "needed"),
        ("from transformers import AutoModel\nprint(AutoModel.from_pretrained('x', tp_plan='auto'))", "needed"),
        ("import own, strange\nstrange.go()", "needed"),
        ("import own\nexec(input())", "needed"),
    ],
)
def test_ranks_that_have_nothing_to_do_with_each_other(tmp_path: Path, code: str, verdict: str) -> None:
    files = {"fit.py": code + "\n", "own.py": "VALUE = '1'\n"}
    for image in (PYTORCH, NGC):
        launch = f"docker run --gpus all -v $PWD:/w -w /w {image} {RANKS} fit.py\n"
        assert need(tmp_path, {"run.sh": launch, **files}).verdict == verdict, image


ACCELERATOR = "import torch\nfrom accelerate import Accelerator\nAccelerator().prepare(torch.nn.Linear(2, 2))\n"


@table(
    "options, command, code, verdict",
    [
        ("--gpus all", "accelerate launch --num_processes 4 fit.py", ACCELERATOR, "needed"),
        ("--gpus all", "accelerate launch --cpu --num_processes 4 fit.py", ACCELERATOR, "not-needed"),
        ("--gpus all", "accelerate launch --num_processes 4 --cpu fit.py", ACCELERATOR, "not-needed"),
        ("--gpus all", "accelerate-launch --cpu --num_processes 4 fit.py", ACCELERATOR, "not-needed"),
        ("--gpus all", f"{RANKS} fit.py", ACCELERATOR.replace("()", "(cpu=True)", 1), "not-needed"),
        ("--gpus all", f"{RANKS} fit.py", ACCELERATOR.replace("()", "(cpu=cpu)", 1), "needed"),
        ("--gpus 1", f"{RANKS} fit.py", JOINS, "not-needed"),
        ("--gpus 1", f"{RANKS} fit.py", ACCELERATOR, "not-needed"),
        ("--gpus 2", f"{RANKS} fit.py", JOINS, "needed"),
    ],
)
def test_ranks_that_share_no_gpus(tmp_path: Path, options: str, command: str, code: str, verdict: str) -> None:
    """Those on CPUs use no NCCL, and it takes a GPU for each rank."""
    launch = f"docker run {options} -v $PWD:/w -w /w {PYTORCH} {command}\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": code}).verdict == verdict


@table(
    "body, verdict",
    [
        ("print(rank)", "not-needed"),
        ("torch.distributed.init_process_group('gloo')", "not-needed"),
        ("torch.distributed.init_process_group('nccl')", "needed"),
        ("torch.distributed.init_process_group(BACKEND)", "needed"),
        ("strange.go(rank)", "likely"),
        # Remote calls go through TensorPipe, which has buffers of its own for each pair of processes.
        ("rpc.init_rpc(f'w{rank}', rank=rank, world_size=2)", "not-needed"),
        ("rpc.init_rpc(f'w{rank}', rank=rank, world_size=4)", "likely"),
        ("rpc.init_rpc('w')\n    torch.distributed.init_process_group('nccl')", "needed"),
    ],
)
def test_processes_that_a_program_starts_of_itself(tmp_path: Path, body: str, verdict: str) -> None:
    code = "import torch\nimport torch.multiprocessing as mp\n"
    code += "import strange\n" if "strange" in body else ""
    code += "import torch.distributed.rpc as rpc\n" if "rpc" in body else ""
    code += f"def f(rank):\n    {body}\nif __name__ == '__main__':\n    mp.spawn(f, nprocs=4)\n"
    launch = f"docker run --gpus all -v $PWD:/w -w /w {PYTORCH} python fit.py\n"
    assert need(tmp_path, {"run.sh": launch, "fit.py": code}).verdict == verdict
