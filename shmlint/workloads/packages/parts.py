"""Packages of which some names start workers, ranks or servers, or share memory, and others do not.

A program that uses a loud name is unknown where nothing else decides, and the rows of ``libraries`` come first. A name
stands for all that is below it, and the longest one decides: ``nemo`` is loud, ``nemo.utils.logging`` is not. Which
names are loud was read from the code of the releases and revisions that stand here.
"""

from __future__ import annotations

from functools import lru_cache

from shmlint.workloads.packages.libraries import COLLECTIVE, NAMESAKES, OWNERS, WATCHED

_QUIET_PACKAGES = frozenset(
    {
        # https://github.com/coqui-ai/TTS/blob/dbf1a08a0d4e47fdad6172e433eeb34bc6b13b4e/TTS/api.py
        "TTS",
        # anomalib 2.7.0; the rows of its datamodules decide
        "anomalib",
        # https://github.com/openai/baselines/blob/ea25b9e8b234e6ee1bca43083f8f3cf974143998/baselines/common/cmd_util.py
        "baselines",
        # https://github.com/facebookresearch/fairscale/blob/146f160241651e1211c4247979f159a4ef43b54a/fairscale
        "fairscale",
        # https://github.com/serengil/deepface/blob/243209fd7b46ecdecf72665cc25219f6e8181f25/deepface: it only predicts
        "deepface",
        # habitat-lab 0.3.320260507
        "habitat",
        # lhotse 1.33.0
        "lhotse",
        # https://github.com/schrodinger/pymol-open-source/blob/9b9cd6fb7ba8df68863fa03f0efa0c7270aec9ad/modules/pymol
        "pymol",
        # https://github.com/cthoyt/pystow/blob/84a7695751b4bf5ea55048dd062b378e995f43f4/src/pystow; its command is loud
        "pystow",
        # https://github.com/CompVis/taming-transformers/blob/3ba01b241669f5ade541ce990f7650a3b8f65318/taming: no loader
        "taming",
        # torchgeo 0.8.1; the rows of its datamodules decide
        "torchgeo",
        # https://github.com/DeepGraphLearning/torchdrug/blob/6066fbd82360abb5f270cba1eca560af01b8cc90/torchdrug/core/engine.py
        "torchdrug",
        # torchio 1.2.1
        "torchio",
        # unsloth 2026.10.9
        "unsloth",
        # mmdet 3.3.0, mmsegmentation 1.2.2, mmpose 1.3.2 and 0.29.0, mmaction2 1.2.0 and 0.24.1, mmpretrain 1.2.0,
        # mmcls 0.25.0, mmocr 1.0.1 and 0.6.3, mmyolo 0.6.0, mmdet3d 1.4.0, mmrotate 0.3.4, mmflow 0.5.2
        "mmdet", "mmseg", "mmpose", "mmaction", "mmpretrain", "mmcls", "mmocr", "mmyolo", "mmdet3d", "mmrotate",
        "mmflow",
    }
)
"""Packages that are known beside those with rows, of which what is not loud is harmless."""
_LOUD = frozenset(
    {
        # TTS 0.22.0, coqui-tts 0.28.0: programs that train, and what loads their data
        "TTS.bin", "TTS.demos", "TTS.tts.datasets.TTSDataset", "TTS.tts.datasets.dataset",
        "TTS.tts.layers.xtts.trainer", "TTS.utils.distribute",
        # anomalib 2.7.0: datamodules, its command, its pipelines of several processes
        "anomalib.cli", "anomalib.config", "anomalib.data", "anomalib.pipelines",
        # https://github.com/casper-hansen/AutoAWQ/blob/88e4c76b20755db275574e6a03c83c84ba3bece5/awq/evaluation: vLLM
        "awq.evaluation",
        # Environments that hand over observations in arrays of multiprocessing, and programs that start mpirun
        "baselines.common.mpi_fork", "baselines.common.vec_env.ShmemVecEnv", "baselines.common.vec_env.shmem_vec_env",
        "baselines.her.experiment", "baselines.her.util.mpi_fork", "baselines.run",
        # https://github.com/microsoft/DeepSpeed/blob/38327e07f6cd39b63418f60cedd1651b0be3e7c3/deepspeed
        "deepspeed.autotuning", "deepspeed.elasticity", "deepspeed.launcher", "deepspeed.nvme",
        "deepspeed.runtime.data_pipeline", "deepspeed.runtime.dataloader",
        # dgl 2.1.0: graphs in shared memory, servers and workers of distributed training
        "dgl.contrib", "dgl.cuda.nccl", "dgl.dataloading.DistDataLoader", "dgl.dataloading.DistEdgeDataLoader",
        "dgl.dataloading.DistNodeDataLoader", "dgl.dataloading.dist_dataloader", "dgl.distgnn", "dgl.distributed",
        "dgl.graphbolt", "dgl.hetero_from_shared_memory", "dgl.multiprocessing",
        # https://github.com/facebookresearch/fairscale/blob/146f160241651e1211c4247979f159a4ef43b54a/fairscale/experimental
        "fairscale.experimental",
        # https://github.com/facebookresearch/fairseq/blob/3d262bb25690e4eb2e7d3c1309b1e9c406ca4b99/fairseq/dataclass/configs.py#L465
        "fairseq", "fairseq_cli",
        # habitat-lab 0.3.320260507: processes of torch.multiprocessing
        "habitat.VectorEnv", "habitat.core.vector_env",
        # lhotse 1.33.0: its command starts loaders
        "lhotse.bin",
        # mmdet 3.3.0, and what trains or makes loaders in versions 1 and 2
        "mmdet.apis.train", "mmdet.apis.train_detector", "mmdet.datasets.api_wrappers", "mmdet.datasets.loader",
        "mmdet.datasets.build_dataloader", "mmdet.datasets.builder.build_dataloader", "mmdet.utils.benchmark",
        # The same of others; retrieval has loaders of its own
        *(f"{package}.{name}" for package in ("mmaction", "mmcls", "mmdet3d", "mmflow", "mmpose")
          for name in ("apis.train", "apis.train_model", "datasets.build_dataloader",
                       "datasets.builder.build_dataloader")),
        *(f"{package}.apis.{name}" for package in ("mmocr", "mmrotate") for name in ("train", "train_detector")),
        "mmaction.evaluation.functional.ava_utils", "mmaction.utils.get_shm_dir", "mmaction.utils.misc.get_shm_dir",
        "mmdet3d.evaluation.functional.waymo_utils", "mmdet3d.evaluation.metrics.waymo_metric",
        "mmocr.datasets.preparers", "mmocr.utils.track_parallel_progress_multi_args", "mmpretrain.apis.image_retrieval",
        "mmpretrain.apis.multimodal_retrieval", "mmpretrain.ImageRetrievalInferencer",
        *(f"mmpretrain.{name}RetrievalInferencer" for name in ("ImageToText", "TextToImage", "apis.Image",
                                                               "apis.ImageToText", "apis.TextToImage")),
        "mmpretrain.models.retrievers", "mmrotate.core.evaluation.eval_map", "mmrotate.core.eval_rbbox_map",
        # mmsegmentation 1.2.2, and what trains or makes loaders in version 0.30.0
        "mmseg.apis.train", "mmseg.apis.train_segmentor", "mmseg.datasets.build_dataloader",
        "mmseg.datasets.builder.build_dataloader",
        # monai 1.6.1: what a configuration names, and programs that start others
        "monai.apps.auto3dseg", "monai.apps.nnunet", "monai.auto3dseg", "monai.bundle", "monai.fl",
        # nemo_toolkit 3.0.0: models have loaders of their configuration, trainers all GPUs
        "nemo",
        # Its command starts another program
        "pystow.cli",
        # pymol runs other programs where it is told to
        "pymol.cmd.do", "pymol.cmd.run", "pymol.cmd.spawn",
        # ray 2.60.0: nearly all that starts something, starts Ray
        "ray",
        # super_gradients 3.7.1: loaders have the workers of a recipe
        "super_gradients",
        # NCCL: https://github.com/BlackSamorez/tensor_parallel/blob/a7d1939483d8/src/tensor_parallel/cross_device_ops.py
        "tensor_parallel",
        # torch_geometric 2.8.1: workers by default, other processes, what a configuration names
        "torch_geometric.data.lightning", "torch_geometric.datasets.HydroNet",
        "torch_geometric.datasets.MoleculeGPTDataset", "torch_geometric.datasets.hydro_net",
        "torch_geometric.datasets.molecule_gpt_dataset", "torch_geometric.distributed", "torch_geometric.graphgym",
        "torch_geometric.llm", "torch_geometric.nlp",
        # https://github.com/DeepGraphLearning/torchdrug/blob/6066fbd82360abb5f270cba1eca560af01b8cc90/torchdrug/utils/comm.py
        "torchdrug.utils.comm.init_process_group",
        # torchgeo 0.8.1: its command
        "torchgeo.main",
        # trl 1.16.0: its programs, and trainers with ranks or servers of their own
        "trl.cli", "trl.commands", "trl.experimental", "trl.extras.vllm_client", "trl.generation", "trl.scripts",
        # unsloth 2026.10.9: a server of vLLM, ranks
        "unsloth.context_parallel", "unsloth.dataprep.synthetic", "unsloth.dataprep.SyntheticDataKit",
        "unsloth.distributed_debug", "unsloth.fsdp2_launch", "unsloth_cli",
        # vllm 0.33.0: servers, ranks and their messages
        "vllm",
    }
)  # fmt: skip
_QUIET = frozenset(
    {
        *(f"anomalib.data.{name}" for name in ("ImageBatch", "ImageItem", "NumpyImageBatch", "NumpyImageItem",
                                               "PredictDataset", "dataclasses", "datasets", "predict", "transforms",
                                               "utils", "validators")),
        "dgl.contrib.data",
        # Models and their parts; a model is asked for its batches by the trainer, and loads no more than it is given
        "fairseq.checkpoint_utils.load_checkpoint_to_cpu", "fairseq.checkpoint_utils.load_model_ensemble",
        "fairseq.checkpoint_utils.load_model_ensemble_and_task", "fairseq.data.Dictionary",
        "fairseq.data.dictionary.Dictionary", "fairseq.models", "fairseq.modules",
        "monai.bundle.download",
        # Models that are loaded have no loaders until they are set up; to transcribe they start no workers by default
        *(f"nemo.collections.{name}.{method}" for method in ("from_pretrained", "restore_from")
          for name in (*(f"asr.models.{model}" for model in ("ASRModel", "EncDecCTCModel", "EncDecCTCModelBPE",
                                                             "EncDecHybridRNNTCTCBPEModel", "EncDecMultiTaskModel",
                                                             "EncDecRNNTBPEModel", "EncDecRNNTModel")),
                       "tts.models.FastPitchModel", "tts.models.HifiGanModel")),
        "nemo.utils.logging",
        # What asks Ray something, ends it, or describes what a trainer or tuner is to do
        *(f"ray.{name}" for name in ("available_resources", "cluster_resources", "get_gpu_ids", "is_initialized",
                                     "shutdown", "rllib.env", "rllib.models", "rllib.utils", "exceptions")),
        *(f"ray.tune.{name}" for name in ("choice", "grid_search", "lograndint", "loguniform", "qloguniform",
                                          "quniform", "randint", "randn", "report", "sample_from", "schedulers",
                                          "search", "uniform", "CLIReporter", "JupyterNotebookReporter", "TuneConfig")),
        *(f"ray.{module}.{name}" for module in ("air", "air.config", "train")
          for name in ("CheckpointConfig", "FailureConfig", "RunConfig", "ScalingConfig")),
        "ray.air.session", "ray.train.get_checkpoint", "ray.train.get_context", "ray.train.report",
        # Models, and trainers that are given their loaders
        *(f"super_gradients.{name}" for name in ("common.object_names", "training.losses", "training.metrics",
                                                 "training.models", "training.processing")),
        *(f"super_gradients.{module}Trainer" for module in ("", "training.", "training.sg_trainer.")),
        *(f"trl.experimental.{name}" for name in ("bco", "bema_for_ref_model", "cpo", "gkd", "kto",
                                                  "merge_model_callback", "orpo", "ppo", "prm", "tpo")),
        "trl.scripts.TrlParser", "trl.scripts.utils.TrlParser",
        # Engines have the ranks of their arguments, which are rows
        *(f"vllm.{name}" for name in ("AsyncLLMEngine", "LLMEngine", "PoolingParams", "SamplingParams", "inputs",
                                      "logger", "engine.async_llm_engine", "engine.llm_engine", "lora.request",
                                      "multimodal", "outputs", "sampling_params", "v1.engine.async_llm")),
        # What servers of one's own take from vLLM's: requests, tokenizers and what they await, by threads
        # https://github.com/vllm-project/vllm/blob/027980762668b3b35a94b2383ee586b8f930c629/vllm/model_executor/guided_decoding
        *(f"vllm.{name}" for name in ("entrypoints.openai.protocol", "model_executor.guided_decoding",
                                      "sequence.Logprob", "transformers_utils.tokenizer.get_tokenizer",
                                      "utils.merge_async_iterators", "utils.random_uuid")),
    }
)  # fmt: skip
_LOUD_AGAIN = frozenset(
    {
        *(f"super_gradients.{module}Trainer.{method}" for module in ("", "training.", "training.sg_trainer.")
          for method in ("evaluate_checkpoint", "evaluate_from_recipe", "quantize_from_config", "resume_experiment",
                         "train_from_config")),
    }
)  # fmt: skip
"""Below quiet names."""
PARTLY = frozenset(name.partition(".")[0] for name in _LOUD)
"""Packages of which some names are loud."""
KNOWN = PARTLY | _QUIET_PACKAGES


_PACKAGES = frozenset(package for package, _ in NAMESAKES)
_OWN_NAMES = WATCHED | OWNERS | COLLECTIVE


@lru_cache(4096)
def is_loud(name: str) -> bool:
    """Whether what a dotted name stands for, or what it is part of, may start workers, ranks or servers."""
    package = name.partition(".")[0]
    if package in _PACKAGES and _is_namesake(package, name):
        return True
    if package not in PARTLY:
        return False
    while name:
        if name in _LOUD or name in _LOUD_AGAIN:
            return True
        if name in _QUIET:
            return False
        name = name.rpartition(".")[0]
    return False


def _is_namesake(package: str, name: str) -> bool:
    """Whether a package has what starts workers or ranks also under this name, or below it."""
    while "." in name and name not in _OWN_NAMES:
        if (package, name.rpartition(".")[2]) in NAMESAKES:
            return True
        name = name.rpartition(".")[0]
    return False
