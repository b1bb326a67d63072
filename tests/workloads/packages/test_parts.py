"""Packages of which some names start workers, ranks or servers: what a program may use of them."""

from __future__ import annotations

from pathlib import Path

from shmlint.workloads.packages.libraries import ROWS, harmless
from shmlint.workloads.packages.parts import KNOWN, PARTLY, is_loud
from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

TRAINER = "from trl import SFTTrainer, {}\nSFTTrainer(model=model, args={}).train()\n"
TRANSFORM = "from torchvision.transforms import RandomResizedCrop\nRandomResizedCrop(224)\n"


@table(
    "code, verdict",
    [
        # A usual call decides
        ("from TTS.api import TTS\nTTS('tts_models/en/a/b').to('cuda').tts_to_file(text='a', file_path='a.wav')",
         "not-needed"),
        ("from TTS.utils.synthesizer import Synthesizer\nSynthesizer('a.pth', 'a.json').tts('a')", "not-needed"),
        ("from deepface import DeepFace\nDeepFace.analyze(img_path='a.jpg', actions=['age'])", "not-needed"),
        ("from unsloth import FastLanguageModel\n" + TRAINER.format("SFTConfig", "SFTConfig(output_dir='a')"),
         "not-needed"),
        ("from unsloth import FastLanguageModel\n"
         + TRAINER.format("SFTConfig", "SFTConfig(dataloader_num_workers=4)"), "likely"),
        ("import torchio as tio\ntio.SubjectsLoader(data, batch_size=4)", "not-needed"),
        ("import torchio as tio\ntio.SubjectsLoader(data, batch_size=4, num_workers=4)", "likely"),
        ("import torchio as tio\ntio.Queue(data, 300, 10, sampler, num_workers=8)", "likely"),
        ("from torchgeo.datamodules import EuroSATDataModule\nEuroSATDataModule(batch_size=8)", "not-needed"),
        ("from torchgeo.datamodules import EuroSATDataModule\nEuroSATDataModule(batch_size=8, num_workers=6)",
         "likely"),
        ("from torchdrug import core\ncore.Engine(task, a, b, c, optimizer, batch_size=64)", "not-needed"),
        ("from torchdrug import core\ncore.Engine(task, a, b, c, optimizer, batch_size=64, num_worker=4)", "likely"),
        ("from anomalib.data import Folder\nfrom anomalib.engine import Engine\n"
         "Engine(devices=1).fit(model, datamodule=Folder(name='a', root='a'))", "likely"),
        ("from anomalib.data import Folder\nfrom anomalib.engine import Engine\n"
         "Engine().fit(model, datamodule=Folder(name='a', root='a', num_workers=0))", "likely"),
        ("from anomalib.data.image.folder import Folder\nFolder(name='a', root='a')", "unknown"),
        ("from anomalib.data.datamodules.image import Folder\nFolder(name='a', root='a')", "likely"),
        ("from TTS.tts.models.vits import Vits\nVits.init_from_config(c).get_data_loader(c, {}, False, [], True, 1)",
         "unknown"),
        ("from TTS.tts.models.xtts import Xtts\nXtts.init_from_config(c).load_checkpoint(c, use_deepspeed=False)",
         "not-needed"),
        ("from trl.experimental.orpo import ORPOConfig, ORPOTrainer\nORPOTrainer(m, ORPOConfig('a')).train()",
         "not-needed"),
        ("from anomalib.data import MVTecAD\nfrom anomalib.engine import Engine\n"
         f"{TRANSFORM}Engine().fit(model, datamodule=MVTecAD())", "needed"),
        ("from anomalib.data import Folder\nFolder(name='a', root='a', num_workers=0)", "not-needed"),
        ("from anomalib.deploy import TorchInferencer\nTorchInferencer(path='a.pt').predict('a.png')", "not-needed"),
        ("from lhotse import CutSet\nCutSet.from_file('a').compute_and_store_features_batch(e, 'b')", "likely"),
        ("from lhotse import CutSet\nCutSet.from_file('a').trim_to_supervisions()", "not-needed"),
        ("import nemo.collections.asr as nemo_asr\n"
         "nemo_asr.models.ASRModel.from_pretrained('a').transcribe(['a.wav'])", "not-needed"),
        ("import nemo.collections.asr as nemo_asr\nmodel = nemo_asr.models.ASRModel.from_pretrained('a')\n"
         "model.setup_training_data(config)", "unknown"),
        ("import nemo.collections.asr as nemo_asr\nmodel = nemo_asr.models.ASRModel.from_pretrained('a')\n"
         "model.setup_training_data(config, num_workers=4)", "likely"),
        ("from mmdet.apis import init_detector, inference_detector\n"
         "inference_detector(init_detector('a.py', 'a.pth'), 'a.jpg')", "not-needed"),
        ("from mmpose.apis import MMPoseInferencer\nMMPoseInferencer('human')('a.jpg')", "not-needed"),
        ("from mmflow.apis import inference_model, init_model\ninference_model(init_model('a.py'), 'a.png', 'b.png')",
         "not-needed"),
        ("from mmaction.datasets import build_dataloader\nbuild_dataloader(data, 64, 8)", "likely"),
        ("from mmdet.datasets import build_dataloader\nbuild_dataloader(data, samples_per_gpu=2, workers_per_gpu=2)",
         "likely"),
        ("from fairseq import checkpoint_utils\ncheckpoint_utils.load_model_ensemble_and_task(['a.pt'])", "not-needed"),
        ("from super_gradients.training import models\nmodels.get('yolo_nas_s').predict('a.jpg')", "not-needed"),
        ("from baselines.common.atari_wrappers import wrap_deepmind\nwrap_deepmind(env)", "not-needed"),
        ("import habitat\nhabitat.Env(config=habitat.get_config('a.yaml')).reset()", "not-needed"),
        ("from fairscale.nn.model_parallel.layers import RowParallelLinear\nRowParallelLinear(8, 8)", "not-needed"),
        ("from pymol import cmd\ncmd.load('a.pdb')\ncmd.png('a.png')", "not-needed"),
        ("from torchrl.envs import ParallelEnv\nParallelEnv(4, make)", "likely"),
        ("import torch_geometric.loader as loaders\nloaders.RandomNodeLoader(data, num_parts=5)", "not-needed"),
        ("from torch_geometric.loader import RandomNodeLoader\nRandomNodeLoader(data, num_parts=5, num_workers=4)",
         "likely"),
        ("from monai.data import CacheDataset\nCacheDataset(data, transform, num_workers=4)", "not-needed"),
        ("from vllm import SamplingParams, LLM\nLLM('a').generate('b', SamplingParams(n=1))", "not-needed"),
        ("from vllm.engine.arg_utils import EngineArgs\nEngineArgs(model='a', tensor_parallel_size=2)", "needed"),
        ("from vllm.entrypoints.openai.protocol import ChatCompletionRequest as C\nC(n=1)", "not-needed"),
        ("from vllm.transformers_utils.tokenizer import get_tokenizer\nget_tokenizer('a')", "not-needed"),
        ("from vllm.utils import random_uuid\nrandom_uuid()", "not-needed"),
        ("from vllm.utils import other\nother()", "unknown"),
        ("from ray import tune\nspace = {'a': tune.choice([1, 2])}", "not-needed"),
        ("from trl import KTOConfig, KTOTrainer\nKTOTrainer(model, KTOConfig(output_dir='a')).train()", "not-needed"),
        ("from awq import AutoAWQForCausalLM\nAutoAWQForCausalLM.from_quantized('a').generate(b)", "not-needed"),
        ("import tensor_parallel as tp\nprint(1)", "not-needed"),
        ("ray = camera.ray()\nray.dot(ray)", "not-needed"),
        # Another name of the same
        ("from pytorch_lightning.trainer import Trainer\nTrainer(devices=2).fit(net)", "needed"),
        ("from lightning.pytorch.trainer.trainer import Trainer\nTrainer(devices=2).fit(net)", "needed"),
        ("from pytorch_lightning.trainer.trainer import Trainer\nTrainer(devices=1).fit(net)", "not-needed"),
        ("from pytorch_lightning.trainer.states import TrainerFn\nprint(TrainerFn.FITTING)", "not-needed"),
        ("from lightning.fabric import Fabric\nFabric(devices=2).launch()", "needed"),
        ("from accelerate.launchers import notebook_launcher\nnotebook_launcher(run, num_processes=2)", "needed"),
        ("from transformers.training_args import TrainingArguments\nTrainingArguments('a', dataloader_num_workers=4)",
         "likely"),
        ("from pytorch_lightning.trainer import Trainer\nTrainer.from_argparse_args(given).fit(net)", "unknown"),
        ("from pytorch_lightning.lite import LightningLite\nclass Own(LightningLite):\n    pass\nOwn(devices=2).run()",
         "unknown"),
        ("from mmengine.runner.runner import Runner\nRunner.from_cfg(given).train()", "unknown"),
        # What is not decided is unknown
        ("from TTS.bin.train_tts import main\nmain()", "unknown"),
        ("from anomalib.data import get_datamodule\nget_datamodule(config)", "unknown"),
        ("from anomalib.cli import main\nmain()", "unknown"),
        ("from awq.evaluation import eval_mmlu\neval_mmlu('a')", "unknown"),
        ("import tensor_parallel as tp\nmodel = tp.tensor_parallel(model, ['cuda:0', 'cuda:1'])", "unknown"),
        ("from tensor_parallel import TensorParallelPreTrainedModel\nTensorParallelPreTrainedModel(model)", "unknown"),
        ("from torchgeo.main import main\nmain()", "unknown"),
        ("from fairseq_cli.train import cli_main\ncli_main()", "unknown"),
        ("from fairseq.trainer import Trainer\nTrainer(config, task, model, criterion)", "unknown"),
        ("from nemo.collections.asr.models import EncDecCTCModel\nEncDecCTCModel(cfg=config, trainer=None)", "unknown"),
        ("from mmdet.apis import train_detector\ntrain_detector(model, data, config)", "unknown"),
        ("from mmpose.apis import train_model\ntrain_model(model, data, config)", "unknown"),
        ("from mmflow.apis import train_model\ntrain_model(model, data, config)", "unknown"),
        ("from mmpretrain import ImageRetrievalInferencer\nImageRetrievalInferencer('a')", "unknown"),
        ("from super_gradients.training import dataloaders\ndataloaders.get('a')", "unknown"),
        ("from super_gradients import Trainer\nTrainer.train_from_config(config)", "unknown"),
        ("from baselines.common.vec_env import ShmemVecEnv\nShmemVecEnv([make])", "unknown"),
        ("import habitat\nhabitat.VectorEnv(make, arguments)", "unknown"),
        ("from pymol import cmd\ncmd.run('a.py')", "unknown"),
        ("from torch_geometric.data.lightning import LightningDataset\nLightningDataset(a, b, num_workers=0)",
         "unknown"),
        ("from torch_geometric.graphgym.train import train\ntrain(model, data)", "unknown"),
        ("import torch_geometric\ntorch_geometric.distributed.DistNeighborLoader(data)", "unknown"),
        ("import dgl\ndgl.distributed.initialize('a')", "unknown"),
        ("import dgl\ndgl.distributed.DistGraph('a')", "unknown"),
        ("from dgl import graphbolt as gb\ngb.OnDiskDataset('a').load()", "unknown"),
        ("from monai.apps.auto3dseg import BundleGen\nBundleGen('a')", "unknown"),
        ("from monai import bundle\nbundle.load('a')", "unknown"),
        ("from vllm.entrypoints.openai.api_server import run_server\nrun_server(a)", "unknown"),
        ("from ray.util.actor_pool import ActorPool\nActorPool([a])", "unknown"),
        ("import ray.util.queue\nclass Own(ray.util.queue.Queue):\n    pass\nOwn()", "unknown"),
        ("from ray.util.actor_pool import ActorPool\nmap(ActorPool, [a])", "unknown"),
        ("from trl.scripts.sft import main\nmain(a, b, c)", "unknown"),
        ("from trl.experimental.async_grpo import AsyncGRPOTrainer\nAsyncGRPOTrainer(a)", "unknown"),
        ("from unsloth.dataprep import SyntheticDataKit\nSyntheticDataKit.from_pretrained('a')", "unknown"),
        # What a name of the program's own module hands on is what it stands for
        ("from own import Pool\nPool([a])", "unknown"),
        ("import own\nown.Pool([a])", "unknown"),
    ],
)  # fmt: skip
def test_what_a_program_uses_of_a_package(tmp_path: Path, code: str, verdict: str) -> None:
    own = "from ray.util.actor_pool import ActorPool as Pool\n"
    files = {"compose.yaml": compose("python main.py"), "Dockerfile": DOCKERFILE, "main.py": f"{code}\n", "own.py": own}
    assert need(tmp_path, files).verdict == verdict


def test_a_package_of_the_repository_is_not_the_one_of_that_name(tmp_path: Path) -> None:
    files = {
        "compose.yaml": compose("python main.py"), "Dockerfile": DOCKERFILE,
        "main.py": "from baselines.run import main\nmain()\n", "baselines/run.py": "def main():\n    print(1)\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == "not-needed"


def test_a_method_counts_where_its_package_is_imported(tmp_path: Path) -> None:
    code = "class Model:\n    def setup_training_data(self, config):\n        pass\n\nModel().setup_training_data(1)\n"
    files = {"compose.yaml": compose("python main.py"), "Dockerfile": DOCKERFILE, "main.py": code}
    assert need(tmp_path, files).verdict == "not-needed"


@table(
    "name, loud",
    [
        ("ray", True), ("ray.util.queue.Queue", True), ("ray.tune.choice", False), ("ray.tune.Tuner.fit", True),
        ("super_gradients.Trainer.setup", False), ("super_gradients.Trainer.train_from_config", True),
        ("ultralytics.YOLO.predict", False), ("ultralytics.own.YOLO.predict", True), ("trl.SFTConfig", False),
        ("rayon.a", False), ("dgl.graph", False), ("dgl.distributed.DistGraph", True), ("", False),
    ],
)  # fmt: skip
def test_the_longest_name_decides(name: str, loud: bool) -> None:
    assert is_loud(name) is loud


def test_rows_are_of_packages_whose_other_names_are_known() -> None:
    assert PARTLY <= KNOWN
    assert {row.imported for row in ROWS} - KNOWN - harmless() == {""}
