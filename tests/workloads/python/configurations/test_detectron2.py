"""Programs of detectron2 and of others that keep their configuration in yacs."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

TRAIN = """
import os
from detectron2.checkpoint import DetectionCheckpointer
from detectron2.config import get_cfg
from detectron2.engine import DefaultTrainer, default_argument_parser, default_setup, launch
from detectron2.evaluation import COCOEvaluator
from fields import add_field_config

class Trainer(DefaultTrainer):
    @classmethod
    def build_evaluator(cls, cfg, dataset_name, output_folder=None):
        folder = output_folder or os.path.join(cfg.OUTPUT_DIR, "inference")
        return COCOEvaluator(dataset_name, output_dir=folder)

def setup(args):
    cfg = get_cfg()
    add_field_config(cfg)
    cfg.merge_from_file(args.config_file)
    cfg.merge_from_list(args.opts)
    # more
    cfg.freeze()
    default_setup(cfg, args)
    return cfg

def main(args):
    cfg = setup(args)
    if args.eval_only:
        model = Trainer.build_model(cfg)
        DetectionCheckpointer(model, save_dir=cfg.OUTPUT_DIR).resume_or_load(cfg.MODEL.WEIGHTS, resume=args.resume)
        return Trainer.test(cfg, model)
    trainer = Trainer(cfg)
    trainer.resume_or_load(resume=args.resume)
    return trainer.train()

if __name__ == "__main__":
    args = default_argument_parser().parse_args()
    launch(main, args.num_gpus, num_machines=args.num_machines, machine_rank=args.machine_rank,
           dist_url=args.dist_url, args=(args,))
"""
FIELDS = """
from detectron2.config import CfgNode as CN

def add_field_config(cfg):
    cfg.MODEL.FIELDS = CN()
    cfg.MODEL.FIELDS.DEPTH = 3
"""
BASE = "MODEL:\n  DEPTH: 50\nSOLVER:\n  IMS_PER_BATCH: 16\n"
NONE = "_BASE_: base.yaml\nDATALOADER:\n  NUM_WORKERS: 0\n"
EIGHT = "_BASE_: base.yaml\nDATALOADER:\n  NUM_WORKERS: 8\n"
UNSAID = "_BASE_: base.yaml\nMODEL:\n  DEPTH: 101\n"
COMMAND = "python learn.py --config-file configs/fields.yaml"
FILES = {
    "Dockerfile": DOCKERFILE, "fields.py": FIELDS, "learn.py": TRAIN, "configs/base.yaml": BASE,
    "configs/none.yaml": NONE, "more.sh": f"{COMMAND} $MORE\n",
}  # fmt: skip


def verdict_of(directory: Path, text: str, command: str = COMMAND, **more: str) -> str:
    files = {**FILES, "configs/fields.yaml": text, "compose.yaml": compose(command)}
    return need(directory, {**files, **{name.replace("__", "/") + ".py": text for name, text in more.items()}}).verdict


SINGLE = "  ASPECT_RATIO_GROUPING: False\n"
LARGE = "INPUT:\n  MIN_SIZE_TRAIN: (1200, 1400)\n  MAX_SIZE_TRAIN: 2000\n"


@table(
    "fields, command, verdict",
    [
        (NONE, COMMAND, "not-needed"),
        (UNSAID, COMMAND, "likely"),
        (EIGHT, COMMAND, "likely"),
        (NONE, f"{COMMAND} DATALOADER.NUM_WORKERS 4", "likely"),
        (NONE, f"{COMMAND} MODEL.DEPTH 4", "not-needed"),
        (NONE, f"{COMMAND} --num-gpus 4", "needed"),
        (NONE, f"{COMMAND} --num-gpus 1", "not-needed"),
        (EIGHT, f"{COMMAND} DATALOADER.NUM_WORKERS 0", "not-needed"),
        (EIGHT, f"{COMMAND} --resume DATALOADER.NUM_WORKERS 0", "not-needed"),
        (EIGHT, f"{COMMAND} --eval-only", "likely"),
        (NONE, f"{COMMAND} --eval-only", "not-needed"),
        (NONE, "bash more.sh", "unknown"),
        (NONE, f"{COMMAND} MODEL.DEPTH", "unknown"),
        (NONE, f"{COMMAND} --novel 8", "unknown"),
        (NONE, "python learn.py", "likely"),
        (NONE, "python learn.py --config-file configs/missing.yaml", "likely"),
        # Files go on from each other.
        ("_BASE_: [base.yaml, none.yaml]\n", COMMAND, "not-needed"),
        ("_BASE_: none.yaml\nDATALOADER:\n  NUM_WORKERS: 2\n", COMMAND, "likely"),
        ("_BASE_: missing.yaml\n", COMMAND, "likely"),
        ("_BASE_: missing.yaml\nDATALOADER:\n  NUM_WORKERS: 0\n", COMMAND, "not-needed"),
        ("_BASE_: fields.yaml\nMODEL:\n  DEPTH: 1\n", COMMAND, "likely"),
        # The least that the images are, and how many there are at once
        (EIGHT + SINGLE, COMMAND, "needed"),
        (EIGHT + SINGLE, f"{COMMAND} SOLVER.IMS_PER_BATCH 1", "likely"),
        (EIGHT, f"{COMMAND} DATALOADER.NUM_WORKERS 16", "needed"),
        (EIGHT + LARGE, COMMAND, "needed"),
        (EIGHT + LARGE, f"{COMMAND} INPUT.MIN_SIZE_TRAIN '(400,)'", "likely"),
        (EIGHT + LARGE, f"{COMMAND} INPUT.MIN_SIZE_TRAIN '(0,)'", "likely"),
    ],
)  # fmt: skip
def test_trainers_have_the_workers_of_their_configuration(
    tmp_path: Path, fields: str, command: str, verdict: str
) -> None:
    assert verdict_of(tmp_path, fields, command) == verdict


@table(
    "fields, code, verdict",
    [
        (NONE, "cfg.DATALOADER.NUM_WORKERS = 8", "likely"),
        (EIGHT, "cfg.DATALOADER.NUM_WORKERS = 0", "not-needed"),
        (EIGHT, "loader = cfg.DATALOADER\n    loader.NUM_WORKERS = 0", "not-needed"),
        (NONE, "loader = cfg.DATALOADER\n    loader.NUM_WORKERS = 4", "likely"),
        (EIGHT, "cfg.DATALOADER.NUM_WORKERS = 0 if args.eval_only else 4", "likely"),
        (EIGHT, "if args.eval_only:\n        cfg.DATALOADER.NUM_WORKERS = 2\n"
                "    else:\n        cfg.DATALOADER.NUM_WORKERS = 0", "not-needed"),
        (NONE, "if os.path.exists('large'):\n        cfg.DATALOADER.NUM_WORKERS = 2", "likely"),
        (NONE, "if os.path.exists('large'):\n        cfg.MODEL.DEPTH = 2", "not-needed"),
        (NONE, "try:\n        cfg.DATALOADER.NUM_WORKERS = many()\n    except NameError:\n        pass", "unknown"),
        (NONE, "for name in names():\n        cfg.DATALOADER[name] = 8", "unknown"),
        (NONE, "for depth in (1, 2):\n        cfg.MODEL.DEPTH = depth", "not-needed"),
        (NONE, "cfg.merge_from_list(['DATALOADER.NUM_WORKERS', 8])", "likely"),
        (EIGHT, "cfg.merge_from_list(['DATALOADER.NUM_WORKERS', 0])", "not-needed"),
        (NONE, "cfg.merge_from_list(words())", "unknown"),
        (NONE, "cfg.merge_from_list(['MODEL.DEPTH', 8, *words()])", "unknown"),
        (EIGHT, "cfg.merge_from_file('configs/none.yaml')", "not-needed"),
        (NONE, "cfg.merge_from_file(named())", "unknown"),
        (NONE, "from detectron2 import model_zoo\n"
               "    cfg.merge_from_file(model_zoo.get_config_file('COCO-Detection/retinanet_R_50_FPN_3x.yaml'))",
         "not-needed"),
        (NONE, "from detectron2 import model_zoo\n"
               "    cfg.merge_from_file(model_zoo.get_config_file('COCO-Detection/fast_rcnn_R_50_FPN_1x.yaml'))",
         "unknown"),
        (NONE, "cfg.merge_from_other_cfg(made())", "unknown"),
        (NONE, "other = get_cfg()\n    other.DATALOADER.NUM_WORKERS = 0\n    cfg.merge_from_other_cfg(other)",
         "not-needed"),
        (NONE, "other = cfg.clone()\n    other.DATALOADER.NUM_WORKERS = 8", "not-needed"),
        (NONE, "other = cfg\n    other.DATALOADER.NUM_WORKERS = 8", "likely"),
        (NONE, "cfg.update(made())", "unknown"),
        (NONE, "setattr(cfg.DATALOADER, name(), 8)", "unknown"),
        (NONE, "setattr(other(), name(), 8)", "unknown"),  # it may be what counts the GPUs
        (NONE, "elsewhere.seen(cfg.DATALOADER.SAMPLER_TRAIN)", "not-needed"),
        (NONE, "elsewhere.seen([cfg.DATALOADER])", "unknown"),
        (NONE, "elsewhere.changed(cfg)", "unknown"),
        (NONE, "cfg = made()", "unknown"),
        (NONE, "os.makedirs(cfg.OUTPUT_DIR, exist_ok=True)\n    print(cfg)", "not-needed"),
    ],
)  # fmt: skip
def test_code_may_change_what_the_files_say(tmp_path: Path, fields: str, code: str, verdict: str) -> None:
    assert verdict_of(tmp_path, fields, learn=TRAIN.replace("# more", code)) == verdict


LOADER = """
    @classmethod
    def build_train_loader(cls, cfg):
        return build_detection_train_loader(cfg, mapper=DatasetMapper(cfg, is_train=True))
"""
OWN_SETUP = """
def main():
    cfg = get_cfg()
    cfg.merge_from_file(model_zoo.get_config_file("COCO-Detection/faster_rcnn_R_50_FPN_3x.yaml"))
    cfg.DATASETS.TRAIN = ("fields",)
    cfg.DATALOADER.NUM_WORKERS = 0
    # more
    trainer = DefaultTrainer(cfg)
    trainer.resume_or_load(resume=False)
    trainer.train()

main()
"""
IMPORTS = """
from detectron2 import model_zoo
from detectron2.config import get_cfg
from detectron2.data import DatasetMapper, build_detection_train_loader
from detectron2.engine import DefaultTrainer
"""
PLAIN = IMPORTS + OWN_SETUP
BODY = PLAIN.replace("def main():", "if True:").replace("\nmain()\n", "")
OWN_LOADER = TRAIN.replace("class Trainer(DefaultTrainer):", "class Trainer(DefaultTrainer):" + LOADER)
OWN_LOADER = OWN_LOADER.replace("import os", f"import os{IMPORTS}")
ADDS = FIELDS + "    cfg.DATALOADER.NUM_WORKERS = 0\n"

OWN_INIT = TRAIN.replace("class Trainer(DefaultTrainer):", """class Trainer(DefaultTrainer):
    def __init__(self, cfg):
        super(DefaultTrainer, self).__init__()
        cfg = DefaultTrainer.auto_scale_workers(cfg, 1)
        self.loader = self.build_train_loader(cfg)
""")
LOOP = IMPORTS + """
from detectron2.data import build_detection_test_loader
from detectron2.engine import default_argument_parser, default_setup, launch
from detectron2.evaluation import COCOEvaluator, inference_on_dataset
from detectron2.modeling import build_model

def tested(cfg, model):
    for name in cfg.DATASETS.TEST:
        inference_on_dataset(model, build_detection_test_loader(cfg, name), COCOEvaluator(name))

def trained(cfg, model):
    for data, step in zip(build_detection_train_loader(cfg), range(cfg.SOLVER.MAX_ITER)):
        model(data)

def setup(args):
    cfg = get_cfg()
    cfg.merge_from_file(args.config_file)
    cfg.merge_from_list(args.opts)
    cfg.freeze()
    default_setup(cfg, args)
    return cfg

def main(args):
    cfg = setup(args)
    model = build_model(cfg)
    trained(cfg, model)
    return tested(cfg, model)

if __name__ == "__main__":
    args = default_argument_parser().parse_args()
    launch(main, args.num_gpus, args=(args,))
"""


@table(
    "fields, learn, parts, verdict",
    [
        (NONE, OWN_LOADER, FIELDS, "not-needed"),
        (EIGHT, OWN_LOADER, FIELDS, "likely"),
        (NONE, OWN_LOADER.replace("is_train=True))", "is_train=True), num_workers=4)"), FIELDS, "likely"),
        (NONE, OWN_LOADER.replace("(cfg, mapper", "(cfg, num_workers=many(), mapper"), FIELDS, "unknown"),
        (NONE, OWN_INIT, FIELDS, "not-needed"),
        (EIGHT, OWN_INIT, FIELDS, "likely"),
        (NONE, LOOP, FIELDS, "not-needed"),
        (EIGHT + SINGLE, LOOP, FIELDS, "needed"),
        (NONE, TRAIN.replace("def setup", "@wrapped\ndef setup"), FIELDS, "unknown"),
        (NONE, TRAIN.replace("class Trainer", "if a:\n    def setup(args):\n        return made()\n\nclass Trainer"),
         FIELDS, "unknown"),
        (NONE, TRAIN.replace("    args = default", "    main(made())\n    other(main)\n    args = default"), FIELDS,
         "not-needed"),
        (NONE, PLAIN, FIELDS, "not-needed"),
        (NONE, PLAIN.replace("NUM_WORKERS = 0", "NUM_WORKERS = 4"), FIELDS, "likely"),
        (NONE, PLAIN.replace("    trainer = Def", "    cfg.DATALOADER.NUM_WORKERS += 1\n    trainer = Def"), FIELDS,
         "unknown"),
        (NONE, BODY, FIELDS, "not-needed"),
        (NONE, BODY.replace("NUM_WORKERS = 0", "NUM_WORKERS = 4"), FIELDS, "likely"),
        # What a function of the project says, holds until something else says more.
        (UNSAID, TRAIN, ADDS, "not-needed"),
        (EIGHT, TRAIN, ADDS, "likely"),
        (UNSAID, TRAIN, ADDS.replace("    cfg", "    if large():\n        return\n    cfg", 1), "likely"),
        (UNSAID, TRAIN, ADDS.replace("NUM_WORKERS = 0", "NUM_WORKERS = many()"), "unknown"),
    ],
)  # fmt: skip
def test_projects_have_parts_of_their_own(
    tmp_path: Path, fields: str, learn: str, parts: str, verdict: str
) -> None:
    assert verdict_of(tmp_path, fields, learn=learn, fields=parts) == verdict


def test_a_program_that_is_called_like_a_known_one_is_judged_by_its_code(tmp_path: Path) -> None:
    command = "python train_net.py --config-file configs/fields.yaml"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert verdict_of(tmp_path / "a", NONE, command, train_net=TRAIN) == "not-needed"
    assert verdict_of(tmp_path / "b", EIGHT, command, train_net=TRAIN) == "likely"
