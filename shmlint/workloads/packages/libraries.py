"""What calls of libraries put into /dev/shm, as rows of data, and the packages that put nothing there by themselves."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Literal

from shmlint.model.record import NamedTuple

Use = Literal["dataloader", "ranks", "ray", "browser", "python-shm", "shared-array", "torch-sharing", "ucx"]

MANY = "many"
"""A default that is a number of processes that depends on the machine."""
ALL = "all"
"""A default that is one process per GPU."""


class Row(NamedTuple):
    """One call: ``call`` is the end of its dotted name, a bare name that of any library. The argument that counts
    processes, where it may stand by position (-1: only by its name), and its default; for loaders also those of batch
    size and prefetch."""

    call: str
    use: Use
    argument: str = ""
    position: int = -1
    default: int | str | None = 0
    batch: str = "batch_size"
    batch_position: int = -1
    batch_default: int | None = 1
    item: tuple[int, ...] = ()
    """The shape of one item in bytes, where the library itself decides it."""
    source: str = ""
    formerly: str = ""
    """What the argument was called in earlier versions of the library, which read only that one then."""
    configured: bool = False
    """The library takes these out of the program's configuration, not out of the call."""
    validation: int = 0
    """How many times as many workers, and as large batches, the loader for validation has, which is there too."""
    least: bool = False
    """Its items may be larger than is known, and only they are its items."""
    side: str = ""
    """The argument that is the height and width of ``item``, or its whole shape."""
    side_position: int = -1
    in_bytes: bool = False
    """Its workers hand over images as bytes, of which the library makes numbers behind the loader."""
    floats: str = ""
    """The argument that is false where they hand over numbers instead."""
    file: str = ""
    """The argument that is a file of YAML with arguments, which those of the call itself beat."""
    devices: str = ""
    """The argument that is a list of GPUs, each of which gets a rank, or a process that shares tensors."""
    one_process: bool = False
    """All of its GPUs are of one process, which may reach them without shared memory."""
    imported: str = ""
    """The package that the program imports, for a bare name that is only that of a method of its objects."""


_TORCH_DATA = "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader"
_TRAINER = "https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments"
_DETECTRON = "https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/config/defaults.py"
_DETECTRON_LAUNCH = "https://github.com/facebookresearch/detectron2/blob/v0.6/detectron2/engine/launch.py"
_DETECTRON_TESTS = (
    *(f"detectron2.engine.{module}DefaultTrainer.{method}" for module in ("", "defaults.")
      for method in ("test", "build_test_loader", "build_train_loader")),
    *(f"detectron2.data.{module}build_detection_test_loader" for module in ("", "build.")),
)  # fmt: skip
"""What makes loaders of detectron2's configuration without a trainer that is made."""
_FASTAI1 = "https://github.com/fastai/fastai1/blob/15bc02c61673400178fbdaf3417485755c299561/fastai/data_block.py#L548"
_FASTAI = "https://github.com/fastai/fastai/blob/625e5b0fb71d7d4f00b3f050ee43e92d166fa904/fastai/data/transforms.py"
_FASTAI_SETS = "https://github.com/fastai/fastai/blob/08a639548fd82ff22b7a72db9519f82b176511d7/fastai/data/core.py"
_TIMM = "https://github.com/huggingface/pytorch-image-models/blob/aa4b5850c1543fa488abf260f18390eda46cf85d/timm/data/loader.py#L415"
_DEEPSPEED = "https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/dataloader.py#L88"
RAY_SOURCE = "https://github.com/ray-project/ray/blob/ed6534e9a80a62a03729a4251bacf9d1eb33417d/python/ray/_private/services.py"
_DASK_CUDA = "https://github.com/rapidsai/dask-cuda/blob/63a1ea9712fe54facb5e045dd19dc8ffeb6c1086/docs/source/ucx.rst?plain=1#L161"
_HUGECTR = "https://github.com/NVIDIA-Merlin/HugeCTR/blob/00104a05ba2772b8be79522ad8cb85b1a305b20c/docs/source/api/python_interface.md"
_SELENIUM = "https://github.com/SeleniumHQ/docker-selenium/blob/3290a305/README.md?plain=1#L111"
_LEROBOT = "https://github.com/huggingface/lerobot/blob/7427f31801f944f5ec9ce53cda02862ce7d1638b/src/lerobot/configs/train.py#L132"
_COQUI = "https://github.com/coqui-ai/TTS/blob/dbf1a08a0d4e47fdad6172e433eeb34bc6b13b4e/TTS/config/shared_configs.py#L266"
_DGL = "https://github.com/dmlc/dgl/blob/3d16000b4170fa741ed9e9667f22ba84d3493026/python/dgl"
_DIFFUSION = "https://github.com/lucidrains/denoising-diffusion-pytorch/blob/faed4db28e724735323fa91c70aa9b28a6e1cbac/denoising_diffusion_pytorch/denoising_diffusion_pytorch.py#L955"
_METRIC = "https://github.com/KevinMusgrave/pytorch-metric-learning/blob/216a792c22b0154d3d3bf008a7317edc7d677e71/src/pytorch_metric_learning"
_PYANNOTE = "https://github.com/pyannote/pyannote-audio/blob/b749285c5cdd4636b2edc7f766f1352c8dde9369/src/pyannote/audio/core/task.py#L289"
_CLEAN_FID = "https://github.com/GaParmar/clean-fid/blob/f15662789f4e8dced3a9be972f58147ffc5cd4ae/cleanfid/fid.py"
_FID = "https://github.com/mseitzer/pytorch-fid/blob/af953a98e1e9c50a5e51d9a5294a282bfaee5e07/src/pytorch_fid/fid_score.py"
_FIDELITY = "https://github.com/toshas/torch-fidelity/blob/8d609eb5ce25e1db78d57f804335a5349c7b0273/torch_fidelity/utils.py"
_FACES = "https://github.com/1adrianb/face-alignment/blob/bacd0afb400a46ce4e94bf231624591495d932a2/face_alignment/api.py"
_EASYOCR = "https://github.com/JaidedAI/EasyOCR/blob/c4f3cd7225efd4f85451bd8b4a7646ae9a092420/easyocr/recognition.py#L203"
_SHARED_ARRAY = "https://gitlab.com/tenzing/shared-array"
_TRITON_CLIENT = (
    "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/_reference/tritonclient/"
    "tritonclient.utils.shared_memory.html"
)
_SENTENCES = "https://github.com/huggingface/sentence-transformers/blob/cad211983f36ce458e9b3360f3e11b29fc54cbd8/sentence_transformers/base/model.py#L1570"
_TENSORPIPE = "https://github.com/pytorch/tensorpipe/blob/52791a2fd214b2a9dc5759d36725909c1daa7f2e/tensorpipe/transport/shm/connection_impl.h"
_JAX_MESH = "https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html"
_KERAS = "https://github.com/keras-team/keras/blob/v3.8.0/keras/src/distribution/distribution_lib.py"
_CHRONOS = "https://github.com/amazon-science/chronos-forecasting/blob/95185d1336e5bfdf50374d44c06ad9e10b303144/src/chronos/chronos2/pipeline.py#L280"
_SHARING = "https://docs.pytorch.org/docs/stable/multiprocessing.html#sharing-strategies"

_TORCHIO = "https://github.com/TorchIO-project/torchio/blob/2b019d2a9659c838408c73ae77327ac5eb87b190/src/torchio"
_TORCHGEO = "https://github.com/torchgeo/torchgeo/blob/65507dcbc4a51fdb49940508de77a5d5e2327eb3/torchgeo/datamodules/geo.py"
_TORCHDRUG = "https://github.com/DeepGraphLearning/torchdrug/blob/6066fbd82360abb5f270cba1eca560af01b8cc90/torchdrug/core/engine.py#L61"
_ANOMALIB = "https://github.com/open-edge-platform/anomalib/blob/b7233686172e3485bfbe01272a8cd7a7e4576986/src/anomalib/data/datamodules"
_ENGINE = "https://github.com/open-edge-platform/anomalib/blob/b7233686172e3485bfbe01272a8cd7a7e4576986/src/anomalib/engine/engine.py"
_LHOTSE = "https://github.com/lhotse-speech/lhotse/blob/a79cc864e4275f6342bb94261313526a14d385fb/lhotse/cut/set.py#L2203"
_NEMO = "https://github.com/NVIDIA/NeMo/blob/8cfedd7203462cb251a914e700e5605444277561/nemo/core/classes/modelPT.py#L539"
_TTS = "https://github.com/coqui-ai/TTS/blob/dbf1a08a0d4e47fdad6172e433eeb34bc6b13b4e/TTS/tts/models/base_tts.py#L280"
_TORCHRL = "https://github.com/pytorch/rl/blob/ae9719f17b1517af5c2523a36c4616f003ee55cf/torchrl"
_SUPER_GRADIENTS = "https://github.com/Deci-AI/super-gradients/blob/e0ccacf8868ffa1296fa4f8407c03d2bc227312c/src/super_gradients/training/utils/distributed_training_utils.py"
_PYG = "https://github.com/pyg-team/pytorch_geometric/blob/5c6461b2305ad068a6d61165b3c55852a11aaa41/torch_geometric/loader"
_TRL = "https://github.com/huggingface/trl/blob/f2cd57710ae345ea6428ae95363267fcf38a3dc8/trl/trainer"
_UNSLOTH = "https://github.com/unslothai/unsloth/blob/015bdef0d94a241bcd94eec7a405b1700632180d/unsloth/trainer.py#L445"

_ULTRALYTICS = "https://github.com/ultralytics/ultralytics/blob/00c2dcce23966542b3e03063c6a05be0d08d90d3/ultralytics/models/yolo/detect/train.py"

_TORCHGEO_MODULES = (
    "AgriFieldNet", "BigEarthNet", "CaBuAr", "CaFFe", "ChaBuD", "ChesapeakeCVPR", "COWCCounting",
    "DeepGlobeLandCover", "DigitalTyphoon", "ETCI2021", "EuroSAT", "EuroSAT100", "EuroSATSpatial", "FAIR1M",
    "FieldsOfTheWorld", "FireRisk", "GID15", "GeoNRW", "HySpecNet11k", "IOBench", "InriaAerialImageLabeling",
    "L7Irish", "L8Biome", "LEVIRCD", "LEVIRCDPlus", "LandCoverAI", "LandCoverAI100", "LoveDA", "MMFlood",
    "NAIPChesapeake", "NASAMarineDebris", "OSCD", "PASTIS", "PatternNet", "Potsdam2D", "QuakeSet", "RESISC45",
    "ReforesTree", "SEN12MS", "SKIPPD", "SSL4EOL", "SSL4EOLBenchmark", "SSL4EOS12", "SeasonalContrastS2",
    "Sentinel2CDL", "Sentinel2EuroCrops", "Sentinel2NCCM", "Sentinel2SouthAmericaSoybean", "So2Sat",
    "SolarPlantsBrazil", "SouthAfricaCropType", "SpaceNet1", "SpaceNet6", "Substation", "SustainBenchCropYield",
    "TreeSatAI", "TropicalCyclone", "UCMerced", "USAVars", "VHR10", "Vaihingen2D", "XView2",
)  # fmt: skip
"""Its datamodules, whose names all end so."""
_ANOMALIB_MODULES = (
    "ADAM3D", "Folder3D", "MVTec3D", "AutoVI", "BMAD", "BTech", "Datumaro", "Folder", "Kaputt", "Kolektor",
    "MPDD", "MVTec", "MVTecAD", "MVTecAD2", "MVTecLOCO", "RealIAD", "Tabular", "VAD", "Visa",
)  # fmt: skip
"""Those of images; those of videos have batches of clips."""
_PYG_LOADERS = (
    "NodeLoader", "LinkLoader", "GraphSAINTSampler", "GraphSAINTNodeSampler", "GraphSAINTEdgeSampler",
    "GraphSAINTRandomWalkSampler", "ShaDowKHopSampler", "RandomNodeLoader", "ZipLoader", "DataListLoader",
    "DenseDataLoader", "TemporalDataLoader",
)  # fmt: skip
RUNNER = frozenset(
    {"mmengine.runner.Runner", "mmengine.runner.runner.Runner", "mmengine.Runner", "mmengine.runner.FlexibleRunner",
     "mmengine.runner._flexible_runner.FlexibleRunner"}
)  # fmt: skip
"""Classes of runners, which make their loaders of mappings.

https://github.com/open-mmlab/mmengine/blob/v0.10.7/mmengine/runner/_flexible_runner.py
"""
RUNNERS = frozenset(f"{name}.from_cfg" for name in RUNNER)
"""Calls that make a runner of a configuration."""
_TRAINERS = tuple(
    f"{module}.Trainer"
    for module in ("lightning", *(f"{package}{below}" for package in ("pytorch_lightning", "lightning.pytorch")
                                  for below in ("", ".trainer", ".trainer.trainer")))
)  # fmt: skip
"""The names of Lightning's trainer (https://github.com/Lightning-AI/pytorch-lightning/blob/2.0.0/src/lightning/pytorch/
trainer/__init__.py)."""
_TRL_CONFIGS = (
    "BCOConfig", "CPOConfig", "GKDConfig", "KTOConfig", "NashMDConfig", "ORPOConfig", "OnlineDPOConfig",
    "PPOConfig", "PRMConfig", "RewardConfig", "RLOOConfig", "XPOConfig",
)  # fmt: skip

_COQUI_CONFIGS = (
    *(f"tts.configs.{module}_config.{name}Config" for module, name in (
        ("align_tts", "AlignTTS"), ("delightful_tts", "DelightfulTTS"), ("fast_pitch", "FastPitch"),
        ("fast_speech", "FastSpeech"), ("fastspeech2", "Fastspeech2"), ("glow_tts", "GlowTTS"),
        ("neuralhmm_tts", "NeuralhmmTTS"), ("overflow", "Overflow"), ("speedy_speech", "SpeedySpeech"),
        ("tacotron", "Tacotron"), ("tacotron2", "Tacotron2"), ("vits", "Vits"),
    )),
    *(f"vocoder.configs.{place}{name}Config" for module, name in (
        ("fullband_melgan", "FullbandMelgan"), ("hifigan", "Hifigan"), ("melgan", "Melgan"),
        ("multiband_melgan", "MultibandMelgan"), ("parallel_wavegan", "ParallelWavegan"), ("univnet", "Univnet"),
        ("wavegrad", "Wavegrad"), ("wavernn", "Wavernn"),
    ) for place in ("", f"{module}_config.")),
    "encoder.configs.speaker_encoder_config.SpeakerEncoderConfig",
    "encoder.configs.emotion_encoder_config.EmotionEncoderConfig",
    "tts.layers.xtts.trainer.gpt_trainer.GPTTrainerConfig",
)  # fmt: skip
"""Classes of Coqui's TTS that configure training; the trainer makes its loader of what they hold."""

_RAY = (
    "put", "util.multiprocessing.Pool", "train.lightning.LightningTrainer", "train.tensorflow.TensorflowTrainer",
    "train.xgboost.XGBoostTrainer", "train.lightgbm.LightGBMTrainer", "train.data_parallel_trainer.DataParallelTrainer",
    "train.huggingface.TransformersTrainer", "tune.run_experiments", "tune.tuner.Tuner",
    *(f"data.read_{kind}" for kind in ("parquet", "csv", "json", "images", "text", "numpy", "binary_files", "tfrecords",
                                       "webdataset", "datasource")),
    *(f"data.from_{kind}" for kind in ("items", "pandas", "numpy", "arrow", "torch", "huggingface")), "data.range",
)  # fmt: skip
"""Calls that start Ray where nothing did, or put data into its object store."""
_ULTRALYTICS_MODELS = (
    ("YOLO", ("train", "val", "tune"), ("ultralytics", "ultralytics.models", "ultralytics.models.yolo",
                                        "ultralytics.models.yolo.model")),
    ("YOLOWorld", ("train", "val", "tune"), ("ultralytics", "ultralytics.models", "ultralytics.models.yolo",
                                             "ultralytics.models.yolo.model")),
    ("YOLOE", ("train", "val", "tune"), ("ultralytics", "ultralytics.models", "ultralytics.models.yolo",
                                         "ultralytics.models.yolo.model")),
    ("RTDETR", ("train", "val", "tune"), ("ultralytics", "ultralytics.models", "ultralytics.models.rtdetr",
                                          "ultralytics.models.rtdetr.model")),
    ("NAS", ("val",), ("ultralytics", "ultralytics.models", "ultralytics.models.nas")),
    ("FastSAM", ("val",), ("ultralytics", "ultralytics.models", "ultralytics.models.fastsam")),
    ("Model", ("train", "val", "tune"), ("ultralytics.engine.model",)),
)  # fmt: skip
"""The classes of models, what of each has loaders, and the modules that have it."""

ROWS: tuple[Row, ...] = (
    Row("torch.utils.data.DataLoader", "dataloader", "num_workers", 5, 0, "batch_size", 1, 1, (), _TORCH_DATA),
    Row("torch.utils.data.dataloader.DataLoader", "dataloader", "num_workers", 5, 0, "batch_size", 1, 1),
    Row("torchdata.stateful_dataloader.StatefulDataLoader", "dataloader", "num_workers", 5, 0, "batch_size", 1, 1),
    Row("torch_geometric.loader.DataLoader", "dataloader", "num_workers", -1, 0, "batch_size", 1, 1),
    Row("torch_geometric.data.DataLoader", "dataloader", "num_workers", -1, 0, "batch_size", 1, 1),
    Row("torch_geometric.loader.NeighborLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("torch_geometric.loader.LinkNeighborLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("torch_geometric.loader.HGTLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("torch_geometric.loader.ClusterLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("torch_geometric.loader.NeighborSampler", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("torch_geometric.data.NeighborSampler", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    *(Row(f"torch_geometric.loader.{name}", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1, (), _PYG)
      for name in _PYG_LOADERS),
    Row("torchio.SubjectsLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1, (),
        f"{_TORCHIO}/loader.py#L39"),
    Row("torchio.Queue", "dataloader", "num_workers", 5, 0, "batch_size", -1, 1, (), f"{_TORCHIO}/data/queue.py#L71"),
    *(Row(f"torchgeo.datamodules.{name}DataModule", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1, (),
          _TORCHGEO)
      for name in _TORCHGEO_MODULES),
    Row("torchdrug.core.Engine", "dataloader", "num_worker", 9, 0, "batch_size", 7, 1, (), _TORCHDRUG),
    *(Row(f"anomalib.data.{module}{name}", "dataloader", "num_workers", -1, 8, "train_batch_size", -1, 32, (),
          _ANOMALIB)
      for name in _ANOMALIB_MODULES for module in ("", "image.", "datamodules.", "datamodules.image.")),
    *(Row(f"anomalib.data.{name}", "dataloader", "num_workers", -1, 8, "train_batch_size", -1, None, (), _ANOMALIB)
      for name in ("Avenue", "ShanghaiTech", "UCSDped")),
    Row("compute_and_store_features_batch", "dataloader", "num_workers", 4, 4, "batch_size", -1, None, (), _LHOTSE,
        imported="lhotse"),
    Row("get_data_loader", "dataloader", "num_workers", -1, None, "batch_size", -1, None, (), _TTS, imported="TTS"),
    *(Row(name, "dataloader", "num_workers", -1, None, "batch_size", -1, None, (), _NEMO, imported="nemo")
      for name in ("setup_training_data", "setup_validation_data", "setup_test_data")),
    *(Row(f"{package}.datasets.{module}build_dataloader", "dataloader", "workers_per_gpu", 2, None,
          "videos_per_gpu" if package == "mmaction" else "samples_per_gpu", 1, None, (),
          f"https://github.com/open-mmlab/{source}")
      for package, source in (
          ("mmdet", "mmdetection/blob/v2.28.2/mmdet/datasets/builder.py#L87"),
          ("mmseg", "mmsegmentation/blob/v0.30.0/mmseg/datasets/builder.py#L90"),
          ("mmaction", "mmaction2/blob/v0.24.1/mmaction/datasets/builder.py#L44"),
          ("mmcls", "mmpretrain/blob/v0.25.0/mmcls/datasets/builder.py#L60"),
          ("mmflow", "mmflow/blob/9fb1d2f1bb3de641ddcba0dd355064b6ed9419f4/mmflow/datasets/builder.py#L61"),
          ("mmpose", "mmpose/blob/v0.29.0/mmpose/datasets/builder.py#L91"),
      ) for module in ("", "builder.")),
    Row("monai.data.DataLoader", "dataloader", "num_workers", 1, 0, "batch_size", -1, 1),
    *(Row(f"timm.data.{module}create_loader", "dataloader", "num_workers", -1, 1, "batch_size", 2, None, (), _TIMM,
          side="input_size", side_position=1, in_bytes=True, floats="use_prefetcher")
      for module in ("", "loader.")),
    Row("nvtabular.loader.torch.DLDataLoader", "dataloader", "num_workers", 5, 0, "batch_size", 1, 1),
    Row("webdataset.WebLoader", "dataloader", "num_workers", -1, 0, "batch_size", 1, 1),
    Row("paddle.io.DataLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    *(Row(f"{name}.from_{how}", "dataloader", "num_workers", -1, MANY, "bs", -1, 64, (), source,
          in_bytes=source == _FASTAI)
      for name, made, source in (
          ("ImageDataLoaders", "folder name_func name_re path_func path_re df csv lists dblock", _FASTAI),
          ("SegmentationDataLoaders", "label_func", _FASTAI),
          ("ImageDataBunch", "folder name_func name_re df csv lists", _FASTAI1),
      ) for how in made.split()),
    Row("databunch", "dataloader", "num_workers", -1, MANY, "bs", -1, 64, (), _FASTAI1),
    Row("deepspeed.initialize", "dataloader", "num_local_io_workers", -1, MANY, "batch_size", -1, None, (), _DEEPSPEED),
    Row("mxnet.gluon.data.DataLoader", "dataloader", "num_workers", -1, 0, "batch_size", 1, None),
    Row("dgl.dataloading.DataLoader", "dataloader", "num_workers", -1, 0, "batch_size", 6, 1, (),
        f"{_DGL}/dataloading/dataloader.py#L788"),
    Row("dgl.dataloading.NodeDataLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("dgl.dataloading.EdgeDataLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1),
    Row("dgl.dataloading.GraphDataLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, 1, (),
        f"{_DGL}/dataloading/dataloader.py#L1376"),
    Row("lerobot.scripts.lerobot_train.train", "dataloader", "num_workers", -1, 4, "batch_size", -1, 8, (), _LEROBOT,
        configured=True),
    Row("lerobot.scripts.train.train", "dataloader", "num_workers", -1, 4, "batch_size", -1, 8, (), _LEROBOT,
        configured=True),
    Row("denoising_diffusion_pytorch.Trainer", "dataloader", "num_workers", -1, MANY, "train_batch_size", -1, 16, (),
        _DIFFUSION),
    Row("denoising_diffusion_pytorch.Trainer1D", "dataloader", "num_workers", -1, MANY, "train_batch_size", -1, 16),
    *(Row(f"pytorch_metric_learning.testers.{name}", "dataloader", "dataloader_num_workers", -1, 2, "batch_size", -1,
          32, (), f"{_METRIC}/testers/base_tester.py#L17")
      for name in ("GlobalEmbeddingSpaceTester", "GlobalTwoStreamEmbeddingSpaceTester", "WithSameParentLabelTester")),
    *(Row(f"pytorch_metric_learning.trainers.{name}", "dataloader", "dataloader_num_workers", -1, 2, "batch_size", 2,
          None, (), f"{_METRIC}/trainers/base_trainer.py#L29")
      for name in ("MetricLossOnly", "TrainWithClassifier", "TwoStreamMetricLoss", "CascadedEmbeddings",
                   "DeepAdversarialMetricLearning")),
    *(Row(f"pyannote.audio.tasks.{name}", "dataloader", "num_workers", -1, MANY, "batch_size", -1, 32, (), _PYANNOTE)
      for name in ("SpeakerDiarization", "VoiceActivityDetection", "MultiLabelSegmentation", "SpeakerEmbedding",
                   "SupervisedRepresentationLearningWithArcFace", "PixIT")),
    *(Row(f"cleanfid.fid.{name}", "dataloader", "num_workers", -1, 12, "batch_size", -1, 32, (), _CLEAN_FID)
      for name in ("compute_fid", "compute_kid", "get_folder_features", "get_files_features")),
    *(Row(f"pytorch_fid.fid_score.{name}", "dataloader", "num_workers", 4, 1, "batch_size", 1, None, (), _FID)
      for name in ("calculate_fid_given_paths", "save_fid_stats")),
    *(Row(f"pytorch_fid.fid_score.{name}", "dataloader", "num_workers", 5, 1, "batch_size", 2, 50, (), _FID)
      for name in ("get_activations", "calculate_activation_statistics")),
    Row("torch_fidelity.calculate_metrics", "dataloader", "num_workers", -1, MANY, "batch_size", -1, 64, (), _FIDELITY),
    Row("face_alignment.FaceAlignment.get_landmarks_from_directory", "dataloader", "num_workers", -1, 2, "batch_size",
        -1, 1, (), _FACES),
    *(Row(f"easyocr.Reader.{name}", "dataloader", "workers", position, 0, "batch_size", position - 1, 1, (), _EASYOCR)
      for name, position in (("readtext", 4), ("readtextlang", 4), ("readtext_batched", 6), ("recognize", 6))),
    *(Row(f"TTS.{name}", "dataloader", "num_loader_workers", -1, 0, "batch_size", -1, None, (), _COQUI)
      for name in _COQUI_CONFIGS),
    Row("DataLoader", "dataloader", "num_workers", -1, 0, "batch_size", -1, None),
    *(Row(f"transformers.{name}", "dataloader", "dataloader_num_workers", -1, 0, "per_device_train_batch_size", -1, 8,
          (), _TRAINER)
      for name in ("TrainingArguments", "training_args.TrainingArguments", "Seq2SeqTrainingArguments",
                   "training_args_seq2seq.Seq2SeqTrainingArguments")),
    Row("trl.SFTConfig", "dataloader", "dataloader_num_workers", -1, 0, "per_device_train_batch_size", -1, 8),
    Row("trl.DPOConfig", "dataloader", "dataloader_num_workers", -1, 0, "per_device_train_batch_size", -1, 8),
    Row("trl.GRPOConfig", "dataloader", "dataloader_num_workers", -1, 0, "per_device_train_batch_size", -1, 8),
    *(Row(f"trl.{name}", "dataloader", "dataloader_num_workers", -1, 0, "per_device_train_batch_size", -1, 8, (), _TRL)
      for name in _TRL_CONFIGS),
    Row("unsloth.UnslothTrainingArguments", "dataloader", "dataloader_num_workers", -1, 0,
        "per_device_train_batch_size", -1, 8, (), _UNSLOTH),
    Row("chronos.Chronos2Pipeline.fit", "dataloader", "dataloader_num_workers", -1, 0, "batch_size", -1, 256, (),
        _CHRONOS),
    Row("sentence_transformers.SentenceTransformerTrainingArguments", "dataloader", "dataloader_num_workers", -1, 0,
        "per_device_train_batch_size", -1, 8),
    # The file: https://github.com/ultralytics/ultralytics/blob/v8.3.0/ultralytics/engine/model.py, `overrides`
    *(Row(f"{place}.{name}.{method}", "dataloader", "workers", -1, 8, "batch", -1, 16, (3, 640, 640), _ULTRALYTICS,
          validation=0 if method == "val" else 2, side="imgsz", devices="device" if method == "train" else "",
          file="cfg" if method == "train" else "")
      for name, methods, places in _ULTRALYTICS_MODELS for method in methods for place in places),
    Row("ultralytics.data.build_dataloader", "dataloader", "workers", 2, None, "batch", 1, None),
    Row("ultralytics.data.build.build_dataloader", "dataloader", "workers", 2, None, "batch", 1, None),
    Row("fastai.vision.all.DataBlock.dataloaders", "dataloader", "num_workers", -1, MANY, "bs", -1, 64, (), _FASTAI,
        in_bytes=True),
    *(Row(f"fastai.{module}.{name}.dataloaders", "dataloader", "num_workers", -1, MANY, "bs", 0, 64, (),
          _FASTAI_SETS, in_bytes=True)
      for name in ("Datasets", "TfmdLists")
      for module in ("vision.all", "text.all", "basics", "data.all", "data.core")),
    *(Row(name, "dataloader", "dataloader_num_workers", -1, 0, "per_device_train_batch_size", -1, 8, (), _TRAINER,
          configured=True)
      for name in ("transformers.HfArgumentParser", "transformers.hf_argparser.HfArgumentParser", "trl.TrlParser")),
    *(Row(f"detectron2.engine.{module}DefaultTrainer", "dataloader", "NUM_WORKERS", -1, 4, "IMS_PER_BATCH", -1, 16, (),
          _DETECTRON, configured=True)
      for module in ("", "defaults.")),
    *(Row(f"detectron2.data.{module}build_detection_train_loader", "dataloader", "NUM_WORKERS", -1, 4,
          "IMS_PER_BATCH", -1, 16, (), _DETECTRON, configured=True)
      for module in ("", "build.")),
    *(Row(name, "dataloader", "NUM_WORKERS", -1, 4, "batch_size", -1, 1, (), _DETECTRON, configured=True)
      for name in _DETECTRON_TESTS),
    *(Row(f"detectron2.data.{module}build_batch_data_loader", "dataloader", "num_workers", -1, 0, "total_batch_size",
          2, None, (), _DETECTRON)
      for module in ("", "build.")),
    *(Row(name, "dataloader", "num_workers", -1, None, "batch_size", -1, None, configured=True)
      for name in (*sorted(RUNNER), *sorted(RUNNERS))),
    Row("share_memory_", "torch-sharing", source=_SHARING),
    Row("share_memory", "torch-sharing", source=_SHARING),
    *(Row(name, "ranks", "devices", -1, ALL, formerly="gpus") for name in _TRAINERS),
    Row("lightning.pytorch.cli.LightningCLI", "ranks", "devices", -1, ALL, configured=True),
    Row("lightning.cli.LightningCLI", "ranks", "devices", -1, ALL, configured=True),
    Row("pytorch_lightning.cli.LightningCLI", "ranks", "devices", -1, ALL, configured=True),
    Row("pytorch_lightning.utilities.cli.LightningCLI", "ranks", "devices", -1, ALL, configured=True),
    *(Row(f"{module}.Fabric", "ranks", "devices", -1, ALL)
      for module in ("lightning", "lightning.fabric", "lightning.fabric.fabric", "lightning_fabric",
                     "lightning_fabric.fabric")),
    Row("anomalib.engine.Engine", "ranks", "devices", -1, ALL, source=_ENGINE, formerly="gpus"),
    Row("torch.multiprocessing.spawn", "ranks", "nprocs", 2, 1),
    Row("paddle.distributed.spawn", "ranks", "nprocs", 2, None),
    Row("horovod.run", "ranks", "np", -1, None),
    Row("tensorflow.distribute.MirroredStrategy", "ranks", "devices", 0, None, one_process=True),
    Row("tensorflow.distribute.MultiWorkerMirroredStrategy", "ranks", "cluster_resolver", 0, None),
    Row("jax.pmap", "ranks", "devices", -1, None, one_process=True),
    *(Row(f"jax.{name}", "ranks", "devices", -1, None, source=_JAX_MESH, one_process=True)
      for name in ("make_mesh", "sharding.Mesh", "experimental.maps.Mesh",
                   "experimental.mesh_utils.create_device_mesh")),
    *(Row(f"{package}.distribution.{name}", "ranks", "devices", position, None, source=_KERAS, one_process=True)
      for package in ("keras", "tensorflow.keras") for name, position in (("DataParallel", 1), ("ModelParallel", -1))),
    Row("torch.multiprocessing.start_processes", "ranks", "nprocs", 2, 1),
    Row("accelerate.notebook_launcher", "ranks", "num_processes", 2, ALL),
    Row("accelerate.launchers.notebook_launcher", "ranks", "num_processes", 2, ALL),
    Row("vllm.LLM", "ranks", "tensor_parallel_size", -1, 1),
    Row("vllm.AsyncEngineArgs", "ranks", "tensor_parallel_size", -1, 1),
    Row("vllm.engine.arg_utils.AsyncEngineArgs", "ranks", "tensor_parallel_size", -1, 1),
    Row("vllm.EngineArgs", "ranks", "tensor_parallel_size", -1, 1),
    Row("vllm.engine.arg_utils.EngineArgs", "ranks", "tensor_parallel_size", -1, 1),
    *(Row(f"vllm.engine.arg_utils.{name}.from_cli_args", "ranks", "tensor_parallel_size", -1, 1, configured=True)
      for name in ("AsyncEngineArgs", "EngineArgs")),
    Row("super_gradients.setup_device", "ranks", "num_gpus", 1, 1, source=f"{_SUPER_GRADIENTS}#L175"),
    Row("super_gradients.training.utils.distributed_training_utils.setup_device", "ranks", "num_gpus", 1, 1),
    Row("vllm.EngineArgs.from_cli_args", "ranks", "tensor_parallel_size", -1, 1, configured=True),
    Row("vllm.AsyncEngineArgs.from_cli_args", "ranks", "tensor_parallel_size", -1, 1, configured=True),
    Row("detectron2.engine.launch", "ranks", "num_gpus_per_machine", 1, 1, source=_DETECTRON_LAUNCH),
    Row("tensor_parallel_size", "ranks", "tensor_parallel_size", -1, 1),
    Row("hugectr.CreateSolver", "ranks", "vvgpu", -1, 1, source=_HUGECTR),
    Row("hugectr.solver_parser_helper", "ranks", "vvgpu", -1, 1),
    Row("tensorrt_llm.LLM", "ranks", "tensor_parallel_size", -1, 1),
    Row("sglang.Engine", "ranks", "tp_size", -1, 1),
    Row("sglang.Runtime", "ranks", "tp_size", -1, 1),
    Row("sglang.srt.server_args.ServerArgs", "ranks", "tp_size", -1, 1),
    *(Row(f"lmdeploy.{module}{name}", "ranks", "tp", -1, 1)
      for name in ("TurbomindEngineConfig", "PytorchEngineConfig") for module in ("", "messages.")),
    Row("ray.init", "ray", "object_store_memory", -1, None, source=RAY_SOURCE),
    Row("ray.serve.run", "ray", source=RAY_SOURCE),
    Row("ray.serve.start", "ray", source=RAY_SOURCE),
    Row("ray.serve.deployment", "ray", source=RAY_SOURCE),
    Row("ray.tune.Tuner", "ray", source=RAY_SOURCE),
    Row("ray.tune.run", "ray", source=RAY_SOURCE),
    Row("ray.train.torch.TorchTrainer", "ray", source=RAY_SOURCE),
    *(Row(f"ray.{name}", "ray", source=RAY_SOURCE) for name in _RAY),
    *(Row(f"ray.rllib.{place}.{kind.lower()}.{kind}{end}", "ray", source=RAY_SOURCE)
      for kind in ("PPO", "APPO", "DQN", "SAC", "IMPALA", "Impala", "A2C", "A3C", "DDPG", "TD3", "PG", "BC", "CQL",
                   "MARWIL", "DreamerV3")
      for place, end in (("algorithms", ""), ("algorithms", "Config"), ("agents", "Trainer"))),
    Row("dask_cuda.LocalCUDACluster", "ucx", source=_DASK_CUDA),
    Row("selenium.webdriver.Chrome", "browser", source=_SELENIUM),
    Row("selenium.webdriver.Edge", "browser", source=_SELENIUM),
    Row("multiprocessing.shared_memory.SharedMemory", "python-shm", "size", 2, None),
    Row("multiprocessing.managers.SharedMemoryManager", "python-shm"),
    Row("tritonclient.utils.shared_memory.create_shared_memory_region", "python-shm", "byte_size", 2, None,
        source=_TRITON_CLIENT),
    Row("start_multi_process_pool", "torch-sharing", source=_SENTENCES),
    *(Row(name, "torch-sharing", source=_SENTENCES, devices="device", imported="sentence_transformers")
      for name in ("encode", "encode_query", "encode_document", "predict", "rank")),
    *(Row(f"torch.distributed.rpc.{module}init_rpc", "torch-sharing", source=_TENSORPIPE) for module in ("", "api.")),
    *(Row(f"torchrl.{name}", "torch-sharing", source=f"{_TORCHRL}/{file}")
      for file, names in (
          ("envs/batched_envs.py#L527", ("envs.ParallelEnv", "envs.batched_envs.ParallelEnv")),
          ("collectors/_multi_base.py", tuple(
              f"collectors.{module}{kind}" for module in ("", "collectors.")
              for kind in ("MultiSyncDataCollector", "MultiaSyncDataCollector", "aSyncDataCollector",
                           "MultiSyncCollector", "MultiAsyncCollector", "AsyncCollector"))),
      ) for name in names),
    Row("SharedArray.create", "shared-array", source=_SHARED_ARRAY),
    Row("shared_memory", "python-shm", source=f"{_DGL}/heterograph.py#L6267"),
    Row("batchgenerators.dataloading.multi_threaded_augmenter.MultiThreadedAugmenter", "torch-sharing"),
    Row("batchgenerators.dataloading.nondet_multi_threaded_augmenter.NonDetMultiThreadedAugmenter", "torch-sharing"),
    Row("batchgenerators.dataloading.MultiThreadedAugmenter", "torch-sharing"),
    Row("batchgenerators.dataloading.SingleThreadedAugmenter", "torch-sharing"),
)  # fmt: skip

METHODS = tuple(row for row in ROWS if row.imported and row.use != "dataloader")
"""Methods with names that many others have: they count where the package of their objects is imported."""

SETTINGS = ("tensor_parallel_size",)
"""Keys of mappings that a server is configured with, as calls of that name: what they mean is the same everywhere."""

COLLECTIVE = frozenset(
    {
        "torch.distributed.init_process_group", "horovod.torch.init", "horovod.tensorflow.init", "deepspeed.initialize",
        "deepspeed.init_distributed", "deepspeed.comm.init_distributed", "deepspeed.init_inference",
        "accelerate.Accelerator", "torch.nn.parallel.DistributedDataParallel",
        "paddle.distributed.init_parallel_env", *RUNNER, *RUNNERS,
        "bagua.torch_api.init_process_group",
        # https://github.com/open-mmlab/mmcv/blob/a685e1ff0c9d772a7f3ab984702008138c37a7b2/mmcv/runner/dist_utils.py#L41
        "mmcv.runner.init_dist", "mmcv.runner.dist_utils.init_dist",
        # https://github.com/DeepGraphLearning/torchdrug/blob/6066fbd82360abb5f270cba1eca560af01b8cc90/torchdrug/core/engine.py#L84
        "torchdrug.core.Engine",
    }
)  # fmt: skip
"""Calls with which the ranks that a launcher started talk to each other."""
_ULTRALYTICS_CLASSES = (
    *(f"models.yolo.{task}.{module}{stem}{kind}"
      for task, stem in (("detect", "Detection"), ("segment", "Segmentation"), ("pose", "Pose"), ("obb", "OBB"),
                         ("classify", "Classification"), ("world", "World"), ("yoloe", "YOLOE"))
      for kind, file in (("Trainer", "train."), ("Validator", "val.")) for module in ("", file)),
    *(f"models.yolo.yoloe.{name}Trainer{end}"
      for name in ("YOLOESeg", "YOLOEPE", "YOLOEPESeg", "YOLOEVP", "YOLOESegVP", "YOLOEPEFree", "YOLOE")
      for end in ("", "FromScratch")),
    "models.yolo.world.train_world.WorldTrainerFromScratch", "models.rtdetr.RTDETRTrainer",
    "models.rtdetr.train.RTDETRTrainer", "models.rtdetr.RTDETRValidator", "models.rtdetr.val.RTDETRValidator",
    "engine.trainer.BaseTrainer", "engine.validator.BaseValidator", "engine.tuner.Tuner", "cfg.entrypoint",
    "utils.tuner.run_ray_tune",
)  # fmt: skip
"""What is behind the models' methods: their settings are in a mapping."""
NOT_FOLLOWED = frozenset(
    {
        "hydra.utils.instantiate", "hydra.utils.call", "runpy.run_path", "runpy.run_module", "gin.parse_config_file",
        "gin.parse_config_files_and_bindings", "lightning.pytorch.cli.LightningCLI",
        "pytorch_lightning.cli.LightningCLI", "pytorch_lightning.utilities.cli.LightningCLI",
        "lightning.cli.LightningCLI", "torch.distributed.run.main", "torch.distributed.run.run",
        "torch.distributed.launch.main", "torch.distributed.launcher.api.elastic_launch",
        "torch.distributed.launcher.elastic_launch", "torch.multiprocessing.get_context",
        "torch.multiprocessing.Pool", "torch.multiprocessing.Queue", "torch.multiprocessing.SimpleQueue",
        "torch.multiprocessing.JoinableQueue", "monai.bundle.run", "monai.apps.auto3dseg.AutoRunner",
        "multiprocessing.shared_memory.ShareableList", "ray.remote", "ray.get",
        *(f"{name}.from_argparse_args" for name in _TRAINERS), "pytorch_lightning.lite.LightningLite",
        "lightning.lite.LightningLite", "dgl.distributed.initialize", "dgl.nn.NodeEmbedding",
        "dgl.nn.pytorch.NodeEmbedding", "dgl.multiprocessing.spawn", "dgl.multiprocessing.Queue",
        "dgl.graphbolt.DataLoader", "modelscope.trainers.build_trainer", "modelscope.trainers.builder.build_trainer",
        "modelscope.trainers.EpochBasedTrainer", "modelscope.trainers.NlpEpochBasedTrainer",
        "basicsr.data.build_dataloader", "basicsr.train.train_pipeline", "pyiqa.create_metric",
        "open3d.ml.torch.pipelines.ObjectDetection", "open3d.ml.torch.pipelines.SemanticSegmentation",
        "yolox.core.Trainer", "yolox.core.launch", "haystack.nodes.FARMReader", "ffmpegcv.noblock",
        "hyperpyyaml.load_hyperpyyaml", "tianshou.env.ShmemVectorEnv", "tianshou.env.SubprocVectorEnv",
        "tianshou.env.RayVectorEnv", "speechbrain.Brain", "speechbrain.core.Brain",
        "pydoc.locate", "pkgutil.resolve_name", "runpy._run_module_as_main",
        "speechbrain.dataio.dataloader.make_dataloader", "speechbrain.dataio.dataloader.SaveableDataLoader",
        "audiocraft.train.main", "audiocraft.solvers.get_solver", "audiocraft.solvers.builders.get_audio_datasets",
        "pytest.main", "pytest.console_main", "code.interact", "code.InteractiveConsole", "code.InteractiveInterpreter",
        "types.FunctionType", "types.CodeType", "langchain_experimental.utilities.PythonREPL",
        "langchain_experimental.tools.PythonREPLTool", "langchain_experimental.tools.PythonAstREPLTool",
        "langchain_experimental.agents.create_pandas_dataframe_agent",
        "langchain_experimental.agents.agent_toolkits.create_python_agent",
        "laion_clap.training.main.main", "laion_clap.training.data.get_data",
        # https://github.com/nerfstudio-project/gsplat/blob/90d7b4b349e379ccf9ee6a8cef76aa40f48bb32e/gsplat/distributed.py#L320
        "gsplat.distributed.cli",
        # https://github.com/IDEA-Research/GroundingDINO/blob/856dde20aee659246248e20734ef9ba5214f5e44/groundingdino/util/misc.py#L624
        "groundingdino.util.misc.init_distributed_mode",
        # https://github.com/facebookresearch/demucs/blob/e976d93ecc3865e5757426930257e200846a520a/demucs/train.py#L186
        "demucs.train.main", "demucs.train.get_solver",
        # https://github.com/descriptinc/audiotools/blob/348ebf2034ce24e2a91a553e3171cb00c0c71678/audiotools/ml/accelerator.py#L173
        "audiotools.ml.Accelerator", "audiotools.ml.accelerator.Accelerator",
        # https://github.com/NVIDIAGameWorks/kaolin/blob/d52da9f86d460e8abcd99037e21ff0bec57997ed/kaolin/io/dataset.py#L201
        "kaolin.io.dataset.CachedDataset", "kaolin.io.dataset.ProcessedDataset",
        # https://github.com/haotian-liu/LLaVA/blob/c121f0432da27facab705978f83c4ada465e46fd/llava/eval/model_vqa_loader.py#L72
        "llava.train.train.train", "llava.eval.model_vqa_loader.create_data_loader",
        "llava.eval.model_vqa_loader.eval_model",
        # https://github.com/facebookresearch/nougat/blob/5a92920d342fb6acf05fc9b594ccb4053dbe8e7a/nougat/dataset/pdffigures.py#L40
        "nougat.dataset.pdffigures.call_pdffigures",
        # https://github.com/awslabs/dgl-lifesci/blob/be8bc71d29ecf34a9dab7c7bd47c08f3383d9be0/python/dgllife/data/uspto.py#L480
        *(f"dgllife.data.{module}{name}" for module in ("", "uspto.")
          for name in ("WLNCenterDataset", "USPTOCenter", "WLNRankDataset", "USPTORank")),
        # https://github.com/facebookresearch/r3m/blob/b2334e726887fa0206962d7984c69c5fb09cceab/r3m/train_representation.py#L54
        "r3m.train_representation.Workspace",
        "mmengine.runner.Runner.build_dataloader", "paddle.io.DataLoader.from_generator",
        "tianshou.env.venvs.ShmemVectorEnv", "tianshou.env.venvs.SubprocVectorEnv", "tianshou.env.venvs.RayVectorEnv",
        "monai.bundle.ConfigParser", "monai.bundle.ConfigWorkflow", "monai.bundle.create_workflow",
        "monai.apps.nnunet.nnUNetV2Runner", "sglang.srt.server.launch_server",
        "sglang.srt.entrypoints.http_server.launch_server", *(f"ultralytics.{name}" for name in _ULTRALYTICS_CLASSES),
    }
)  # fmt: skip
"""Calls that start what a configuration, a file or their arguments name."""
POOLS = frozenset({"torch.multiprocessing.Pool"})
"""Those of them whose processes may be seen to exchange no tensors; then they are pools like Python's own."""
COMMAND_LINES = {
    "lightning.pytorch.cli.LightningCLI": "lightning.pytorch.Trainer",
    "lightning.cli.LightningCLI": "lightning.pytorch.Trainer",
    "pytorch_lightning.cli.LightningCLI": "pytorch_lightning.Trainer",
    "pytorch_lightning.utilities.cli.LightningCLI": "pytorch_lightning.Trainer",
}
"""The names of Lightning's command line, and the trainer that each makes."""
INSTANTIATE = frozenset({"hydra.utils.instantiate", "hydra.utils.call"})
"""Calls that make what a part of the configuration names."""
TRAINERS: dict[str, int | None] = {
    f"{package}.apis.{module}{name}": workers
    for package, name, workers in (
        # https://github.com/open-mmlab/mmdetection/blob/v2.28.2/mmdet/apis/train.py#L134
        ("mmdet", "train_detector", 2),
        # https://github.com/open-mmlab/mmsegmentation/blob/v0.30.0/mmseg/apis/train.py#L84
        ("mmseg", "train_segmentor", None),
        # https://github.com/open-mmlab/mmpretrain/blob/v0.25.0/mmcls/apis/train.py#L106
        ("mmcls", "train_model", None),
        # https://github.com/open-mmlab/mmpose/blob/v0.29.0/mmpose/apis/train.py#L85
        ("mmpose", "train_model", None),
        # https://github.com/open-mmlab/mmaction2/blob/v0.24.1/mmaction/apis/train.py#L88
        ("mmaction", "train_model", 1),
    )
    for module in ("", "train.")
}
"""Calls that train as the section ``data`` of a configuration says, and the workers where it does not."""
FROM_FILE = frozenset(
    f"{module}.Config.fromfile"
    for module in ("mmengine", "mmengine.config", "mmengine.config.config", "mmcv", "mmcv.utils", "mmcv.utils.config")
)
"""Calls that read a configuration of OpenMMLab."""
YACS = frozenset(
    {"yacs.config.CfgNode", "fvcore.common.config.CfgNode", "detectron2.config.CfgNode",
     "detectron2.config.config.CfgNode"}
)  # fmt: skip
"""Classes of configurations of which nothing is said at first."""
YACS_DEFAULTS = frozenset({"detectron2.config.get_cfg", "detectron2.config.config.get_cfg"})
"""Calls that give detectron2's own configuration."""
YACS_MADE = frozenset(
    {*YACS, *YACS_DEFAULTS, "detectron2.model_zoo.get_config", "detectron2.model_zoo.model_zoo.get_config"}
)  # fmt: skip
"""All calls that make a configuration of them."""
LOADERS = {
    "fit": ("train_dataloader", "val_dataloader"), "validate": ("val_dataloader",), "test": ("test_dataloader",),
    "predict": ("predict_dataloader",), "": (),
}  # fmt: skip
"""What each of its commands asks the data and the model for; without one the program does."""
OWNERS = frozenset(
    owner for owner, _, _ in (row.call.rpartition(".") for row in ROWS) if owner.rpartition(".")[2][:1].isupper()
)
"""Classes whose methods are rows."""
WATCHED = NOT_FOLLOWED.union(row.call for row in ROWS if "." in row.call)
"""Names of which every use matters: kept under another name, or handed to a function, they are called elsewhere."""
_ALONE = frozenset(row.call for row in ROWS if "." not in row.call)


def _namesakes() -> Iterator[tuple[str, str]]:
    """The packages and the names in them that start workers or ranks without being told how many."""
    told = {row.call for row in ROWS if row.use == "dataloader" and row.default in (0, None) and not row.configured}
    names = WATCHED - told
    for name in names.union(OWNERS.intersection(one.rpartition(".")[0] for one in names)):
        module, _, last = name.rpartition(".")
        package = module.partition(".")[0]
        own = package and package not in sys.stdlib_module_names and not module.rpartition(".")[2][:1].isupper()
        if own and last not in _ALONE and (last[:1].isupper() or "_" in last):
            yield package, last


NAMESAKES = frozenset(_namesakes())
"""Packages, and what in them starts workers or ranks, by the ends of its names: most packages have it under several, as
``pytorch_lightning.Trainer`` is that of ``pytorch_lightning.trainer.trainer``. Short names of functions say too little,
and what is told how many workers to start is seen by its arguments.
"""
COUNTS = frozenset(
    {"num_workers", "dataloader_num_workers", "py_num_workers", "tensor_parallel_size", "nproc_per_node", "nprocs"}
)
"""Arguments that everybody calls so: how many workers or ranks a call starts."""

IMAGE_SIZE_CALLS = frozenset(
    {"Resize", "RandomResizedCrop", "CenterCrop", "RandomCrop", "RandomSizedCrop", "LongestMaxSize", "SmallestMaxSize"}
)
"""Transforms whose first argument is the height and width of what leaves them."""
VOLUME_SIZE_CALLS = {
    "Resized": "spatial_size", "RandCropByPosNegLabeld": "spatial_size", "RandCropByLabelClassesd": "spatial_size",
    "RandSpatialCropd": "roi_size", "CenterSpatialCropd": "roi_size", "RandSpatialCropSamplesd": "roi_size",
    "SpatialPadd": "spatial_size", "ResizeWithPadOrCropd": "spatial_size",
}  # fmt: skip
"""Transforms of MONAI and the argument that is the size of the volume that leaves them (monai.transforms)."""
IMAGE_SIZE_OPTIONS = (
    "imgsz", "img_size", "image_size", "imsize", "imagesize", "imgsize", "crop_size", "input_size", "image_resolution",
    "resolution",
)
"""Options that everybody calls so: the height and width of the images of a batch."""
INPUT_SIZE_CALLS = frozenset({"create_loader"})
"""Loaders of images whose ``input_size`` is the shape of what they give (timm.data)."""
IMAGE_PACKAGES = frozenset({"torchvision", "PIL", "cv2", "albumentations", "kornia", "skimage", "imageio"})
"""Packages that read or change images; their import names."""
LENGTH_OPTIONS = (
    "context_length", "block_size", "max_seq_len", "max_seq_length", "seq_len", "seq_length", "sequence_length",
    "max_length", "max_sequence_length",
)  # fmt: skip
"""Options that everybody calls so: the tokens of an item of text."""
TEXT_PACKAGES = frozenset({"transformers", "tokenizers", "tiktoken", "sentencepiece"})
"""Packages that make tokens of texts; their import names."""
OTHER_PACKAGES = IMAGE_PACKAGES | frozenset(
    {
        "av", "decord", "diffusers", "h5py", "librosa", "monai", "nibabel", "open3d", "scipy", "soundfile",
        "tensordict", "timm", "torch_geometric", "torchaudio", "webdataset", "zarr",
    }
)  # fmt: skip
"""Packages whose items may have more than tokens: images, sounds, volumes, arrays out of files."""
KNOWN_ITEMS = {
    "CIFAR10": (3, 32, 32), "CIFAR100": (3, 32, 32), "SVHN": (3, 32, 32), "MNIST": (1, 28, 28),
    "FashionMNIST": (1, 28, 28), "KMNIST": (1, 28, 28), "EMNIST": (1, 28, 28), "STL10": (3, 96, 96),
}  # fmt: skip
"""Items of torchvision's datasets where nothing resizes them (torchvision.datasets)."""
OF_CLASSES = frozenset(
    f"torchvision.datasets.{name}"
    for name in (*KNOWN_ITEMS, "ImageFolder", "ImageNet", "Imagenette", "Caltech256", "DTD", "EuroSAT", "FakeData",
                 "FER2013", "FGVCAircraft", "Flowers102", "Food101", "GTSRB", "StanfordCars")
)  # fmt: skip
"""Datasets whose items are an image and the number of its class (torchvision.datasets)."""
DATASET_OPTIONS = ("dataset", "dataset_name", "data_set", "dset")
"""Options that everybody calls so: a dataset by its name."""
DATASETS = {name.lower(): shape for name, shape in KNOWN_ITEMS.items()}


def is_generated(package: str) -> bool:
    """Whether protoc makes a package, messages and stubs that call gRPC, or Gradio's command for components of its own.

    https://www.gradio.app/guides/custom-components-in-five-minutes
    """
    return package.endswith(("_pb2", "_pb2_grpc")) or package.startswith("gradio_")


@cache
def harmless() -> frozenset[str]:
    """Packages that put nothing that matters into /dev/shm unless one of ``ROWS`` is called; their import names.

    Of those in ``packages.txt`` all code of a release was read (benchmarks/packages.py), the others are known for what
    they do.
    """
    folder = os.path.dirname(__file__)
    with open(os.path.join(folder, "harmless.txt"), encoding="utf-8") as file:
        known = file.read().split()
    with open(os.path.join(folder, "packages.txt"), encoding="utf-8") as file:
        return frozenset(known).union(file.read().split()[::3])


@cache
def read_distributions() -> frozenset[str]:
    """Packages of which all code was read, by the names under which they are installed, as pip compares them."""
    with open(os.path.join(os.path.dirname(__file__), "packages.txt"), encoding="utf-8") as file:
        return frozenset(file.read().split()[1::3])
