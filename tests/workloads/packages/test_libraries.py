"""Loaders and functions of libraries that load with workers."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need


@table(
    "imported, call, verdict",
    [
        ("from rising.loading import DataLoader", "DataLoader(data, num_workers=4)", "likely"),
        ("import somewhere.loading as l", "l.DataLoader(data, batch_size=8, num_workers=4)", "likely"),
        ("from mxnet.gluon.data import DataLoader", "DataLoader(data, num_workers=4)", "likely"),
        ("from rising.loading import DataLoader\nfrom torchvision.transforms import Resize\nResize(512)",
         "DataLoader(data, batch_size=64, num_workers=4)", "likely"),
        ("from rising.loading import DataLoader", "DataLoader(data, num_workers=0)", "unknown"),
        ("from rising.loading import DataLoader", "DataLoader(data)", "unknown"),
        ("from dgl.dataloading import DataLoader", "DataLoader(g, ids, sampler, num_workers=4)", "likely"),
        ("from dgl.dataloading import GraphDataLoader", "GraphDataLoader(d)", "not-needed"),
        ("from ultralytics import YOLO\nYOLO('x.pt').predict('y')", "index['a'].train(vectors)", "not-needed"),
        ("from ultralytics import YOLO\nYOLO('x.pt').predict('y')", "model['a'].train(data='coco8.yaml')", "needed"),
        ("import dgl", "dgl.graph(([0], [1]))", "not-needed"),
        ("import dgl", "dgl.graph(([0], [1])).shared_memory('name')", "likely"),
        ("import shared_memory", "shared_memory.other()", "unknown"),
        ("import dgl", "dgl.distributed.initialize('hosts')", "unknown"),
        ("from pcdet.datasets import build_dataloader", "build_dataloader(cfg, names, 4, False)", "unknown"),
        ("from lerobot.scripts.train import train", "train(cfg)", "likely"),
        ("from denoising_diffusion_pytorch import Trainer", "Trainer(model, 'images', train_batch_size=32)", "likely"),
        ("from denoising_diffusion_pytorch import Unet", "Unet(64)", "not-needed"),
        ("from pytorch_metric_learning import testers", "testers.GlobalEmbeddingSpaceTester()", "likely"),
        ("from pytorch_metric_learning import testers",
         "testers.GlobalEmbeddingSpaceTester(dataloader_num_workers=0)", "not-needed"),
        ("from pytorch_metric_learning.trainers import MetricLossOnly", "MetricLossOnly(m, o, 32, l, d)", "likely"),
        ("from pytorch_metric_learning import losses", "losses.TripletMarginLoss()", "not-needed"),
        ("from pyannote.audio.tasks import SpeakerDiarization", "SpeakerDiarization(protocol)", "likely"),
        ("from pyannote.audio import Pipeline", "Pipeline.from_pretrained('x')", "not-needed"),
        ("from modelscope.trainers import build_trainer", "build_trainer(name='x')", "unknown"),
        ("from sentence_transformers import SentenceTransformer",
         "SentenceTransformer('x').start_multi_process_pool()", "likely"),
        ("from sentence_transformers import SentenceTransformer", "SentenceTransformer('x')", "not-needed"),
        ("from sentence_transformers import SentenceTransformer",
         "SentenceTransformer('x').encode(t, device=['cuda:0', 'cuda:1'])", "likely"),
        ("from sentence_transformers import SentenceTransformer",
         "g = [f'cuda:{i}' for i in range(2)]\nm = SentenceTransformer('x')\nm.encode_query(t, device=g)", "likely"),
        ("from sentence_transformers import SentenceTransformer", "SentenceTransformer('x').encode(t, device='cuda:0')",
         "not-needed"),
        ("import os", "'x'.encode('utf-8')\nnet.encode(t, device=['cuda:0'])", "not-needed"),
        ("from cleanfid import fid", "fid.compute_fid('a', 'b')", "likely"),
        ("from cleanfid import fid", "fid.compute_fid('a', 'b', num_workers=0)", "not-needed"),
        ("from pytorch_fid.fid_score import calculate_fid_given_paths as fid", "fid(['a', 'b'], 50, 'cuda', 2048)",
         "likely"),
        ("from pytorch_fid.fid_score import calculate_fid_given_paths as fid", "fid(['a', 'b'], 50, 'cuda', 2048, 0)",
         "not-needed"),
        ("from pytorch_fid.inception import InceptionV3", "InceptionV3([3])", "not-needed"),
        ("import torch_fidelity", "torch_fidelity.calculate_metrics(input1='a', input2='b', fid=True)", "likely"),
        ("import face_alignment", "face_alignment.FaceAlignment('2D').get_landmarks_from_directory('d')", "likely"),
        ("import face_alignment", "face_alignment.FaceAlignment('2D').get_landmarks('a.jpg')", "not-needed"),
        ("import easyocr", "easyocr.Reader(['en']).readtext('a.jpg', workers=8)", "likely"),
        ("from TTS.tts.configs.vits_config import VitsConfig", "VitsConfig(num_loader_workers=8)", "likely"),
        ("from TTS.tts.layers.xtts.trainer.gpt_trainer import GPTTrainerConfig",
         "GPTTrainerConfig(num_loader_workers=8, batch_size=2)", "likely"),
        ("from TTS.vocoder.configs import HifiganConfig", "HifiganConfig(num_loader_workers=4)", "likely"),
        ("import easyocr", "easyocr.Reader(['en']).readtext('a.jpg')", "not-needed"),
        ("from basicsr.train import train_pipeline", "train_pipeline('.')", "unknown"),
        ("from basicsr.archs.rrdbnet_arch import RRDBNet", "RRDBNet(3, 3)", "not-needed"),
        ("import open3d.ml.torch as ml3d", "ml3d.pipelines.SemanticSegmentation(m, d).run_train()", "unknown"),
        ("import open3d as o3d", "o3d.io.read_point_cloud('a.ply')", "not-needed"),
        ("from yolox.core import launch", "launch(main, 1)", "unknown"),
        ("from yolox.utils import postprocess", "postprocess(x, 80)", "not-needed"),
        ("import pyiqa", "pyiqa.create_metric('fid')('a', 'b')", "unknown"),
        ("from haystack.nodes import FARMReader", "FARMReader('m')", "unknown"),
        ("import ffmpegcv", "ffmpegcv.noblock(ffmpegcv.VideoCapture, 'a.mp4')", "unknown"),
        ("import ffmpegcv", "ffmpegcv.VideoCapture('a.mp4')", "not-needed"),
        ("from own.loading import DataLoader", "DataLoader(data, num_workers=4)", "not-needed"),
        ("from .loading import DataLoader", "DataLoader(data, num_workers=4)", "not-needed"),
    ],
)  # fmt: skip
def test_loaders_of_other_libraries(tmp_path: Path, imported: str, call: str, verdict: str) -> None:
    files = {"train.py": f"{imported}\nloader = {call}\n", "own/loading.py": "class DataLoader: pass\n"}
    files |= {"compose.yaml": compose("python train.py"), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


FITTED = """
import torch, lightning
from torch.utils.data import DataLoader

class Net(lightning.LightningModule):
    def train_dataloader(self):
        return DataLoader(data(), batch_size=64, num_workers=8)

"""


@table(
    "use, verdict",
    [
        ("Net.load_from_checkpoint('net.ckpt')(picture())", "not-needed"),
        ("lightning.Trainer(devices=1).fit(Net())", "likely"),
        ("from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)", "likely"),
        ("Net().train_dataloader()", "likely"),
    ],
)
def test_a_model_is_asked_for_its_data_where_it_is_fitted(tmp_path: Path, use: str, verdict: str) -> None:
    files = {"compose.yaml": compose("python app.py"), "Dockerfile": DOCKERFILE, "app.py": f"{FITTED}{use}\n"}
    assert need(tmp_path, files).verdict == verdict


TIMM = "from timm.data import create_loader\ncreate_loader(d, (3, 224, 224), 32, "
FASTAI = "from fastai.vision.all import *\n"


@table(
    "count, code, verdict",
    [
        ("all", "import pytorch_lightning as pl\npl.Trainer(gpus=4)", "needed"),
        ("all", "import pytorch_lightning as pl\npl.Trainer(gpus=1)", "not-needed"),
        ("2", "import pytorch_lightning as pl\npl.Trainer(gpus=-1)", "needed"),
        ("all", "import pytorch_lightning as pl\npl.Trainer(gpus=4, strategy='dp')", "not-needed"),
        ("all", "from paddle.io import DataLoader\nDataLoader(d, num_workers=4)", "likely"),
        ("all", "from paddle.io import DataLoader as D\nD(d, num_workers=4, use_shared_memory=False)", "not-needed"),
        ("all", "from torch_geometric.loader import NeighborLoader\nNeighborLoader(d, [9], num_workers=4)", "likely"),
        ("all", "from timm.data import create_loader\ncreate_loader(d, (3, 224, 224), 64, num_workers=4)", "needed"),
        ("all", "from timm.data import create_loader\ncreate_loader(d, (3, 8, 8), 64, num_workers=4)", "not-needed"),
        # images are bytes until they are on the GPU
        ("all", TIMM + "num_workers=4)", "not-needed"),
        ("all", TIMM + "num_workers=4, use_prefetcher=True)", "not-needed"),
        ("all", TIMM + "num_workers=4, use_prefetcher=False)", "needed"),
        ("all", TIMM + "num_workers=4, use_prefetcher=flag())", "likely"),
        ("all", "import timm.data.loader as t\nt.create_loader(d, size(), 32, num_workers=4)", "likely"),
        ("all", FASTAI + "ImageDataLoaders.from_folder(p, item_tfms=Resize(224), bs=16, num_workers=4)", "not-needed"),
        ("all", FASTAI + "ImageDataLoaders.from_folder(p, item_tfms=Resize(224), bs=64, num_workers=4)", "needed"),
        ("all", FASTAI + "DataBlock(b, item_tfms=Resize(224)).dataloaders(p, bs=16, num_workers=4)", "not-needed"),
        ("all", "from fastai.vision import *\nImageDataBunch.from_folder(p, size=Resize(224), bs=16, num_workers=4)",
         "needed"),
        ("all", FASTAI + "Datasets(f, t).dataloaders(after_item=[Resize(460)])", "needed"),
        ("all", FASTAI + "d = Datasets(f, t)\nd.dataloaders(64, num_workers=2)", "likely"),
        ("all", FASTAI + "d = TfmdLists(f, t)\nd.dataloaders(bs=4, num_workers=0)", "not-needed"),
    ],
)
def test_calls_of_libraries_with_their_options(tmp_path: Path, count: str, code: str, verdict: str) -> None:
    services = compose("python fit.py").replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    files = {"compose.yaml": services, "Dockerfile": DOCKERFILE, "fit.py": f"{code}\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "code, verdict",
    [
        ("from gsplat import rasterization\nrasterization(a)", "not-needed"),
        ("from groundingdino.util.inference import load_model\nload_model(a)", "not-needed"),
        ("from demucs.apply import apply_model\napply_model(a, b)", "not-needed"),
        ("import audiotools\naudiotools.AudioSignal('a.wav')", "not-needed"),
        ("from kaolin.ops.mesh import sample_points\nsample_points(a)", "not-needed"),
        ("from llava.model.builder import load_pretrained_model\nload_pretrained_model(a)", "not-needed"),
        ("from nougat import NougatModel\nNougatModel.from_pretrained('a')", "not-needed"),
        ("from dgllife.utils import smiles_to_bigraph\nsmiles_to_bigraph(a)", "not-needed"),
        ("from r3m import load_r3m\nload_r3m('resnet50')", "not-needed"),
        ("from mmcv.ops import nms\nnms(a, b)", "not-needed"),
        ("from taming.models.vqgan import VQModel\nVQModel(a)", "not-needed"),
        ("from chronos import Chronos2Pipeline\nChronos2Pipeline.from_pretrained('a').predict(b)", "not-needed"),
        # The same packages, where they load with workers or start ranks.
        ("from gsplat.distributed import cli\ncli(a, b)", "unknown"),
        ("import gsplat\ngsplat.distributed.cli(a, b)", "unknown"),
        ("from groundingdino.util.misc import init_distributed_mode\ninit_distributed_mode(a)", "unknown"),
        ("from demucs.train import main\nmain()", "unknown"),
        ("from audiotools import ml\nml.Accelerator().prepare_dataloader(a, num_workers=8)", "unknown"),
        ("from kaolin.io.dataset import CachedDataset\nCachedDataset(a, num_workers=8)", "unknown"),
        ("from llava.train.train import train\ntrain()", "unknown"),
        ("from nougat.dataset.pdffigures import call_pdffigures\ncall_pdffigures(a)", "unknown"),
        ("from dgllife.data import USPTOCenter\nUSPTOCenter('train')", "unknown"),
        ("from r3m.train_representation import Workspace\nWorkspace(a)", "unknown"),
    ],
)
def test_functions_of_packages_that_load_with_workers_elsewhere(tmp_path: Path, code: str, verdict: str) -> None:
    files = {"main.py": f"{code}\n", "Dockerfile": "FROM python:3.12\nWORKDIR /app\nCOPY . .\nCMD python main.py\n"}
    files["run.sh"] = "docker build -t mine . && docker run --gpus all mine\n"
    assert need(tmp_path, files).verdict == verdict
