"""Programs that OpenMMLab's libraries run as their configuration says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

RUN = """
import argparse
from mmengine.config import Config, DictAction
from mmengine.runner import Runner

def words():
    parser = argparse.ArgumentParser()
    parser.add_argument('config')
    parser.add_argument('--work-dir')
    parser.add_argument('--amp', action='store_true')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction)
    parser.add_argument('--launcher', choices=['none', 'pytorch'], default='none')
    return parser.parse_args()

def main():
    args = words()
    cfg = Config.fromfile(args.config)
    cfg.launcher = args.launcher
    if args.cfg_options is not None:
        cfg.merge_from_dict(args.cfg_options)
    if args.work_dir is not None:
        cfg.work_dir = args.work_dir
    # more
    runner = Runner.from_cfg(cfg)
    runner.train()

if __name__ == '__main__':
    main()
"""
CROPS = """
kind = 'Fields'
steps = [dict(type='LoadImageFromFile'), dict(type='PackInputs')]
train_dataloader = dict(batch_size=2, num_workers=4, dataset=dict(type=kind, pipeline=steps))
val_dataloader = dict(batch_size=1, num_workers=2, dataset=dict(type=kind, pipeline=steps))
test_dataloader = val_dataloader
"""
PLAIN = CROPS.replace("num_workers=4", "num_workers=0").replace("num_workers=2", "num_workers=0")
TRAINED = PLAIN.replace("num_workers=0", "num_workers=4", 1)
BASED = "_base_ = ['../parts/crops.py', '../parts/run.py']\nmodel = dict(type='Net')\n"
IMPORTED = "from mmengine.config import read_base\nwith read_base():\n    from ..parts.crops import *\n"
FILES = {
    "Dockerfile": DOCKERFILE, "tools/train.py": RUN, "tools/test.py": RUN.replace(".train()", ".test()"),
    "configs/net/a.py": BASED, "configs/parts/run.py": "default_scope = 'mmdet'\n",
    "tools/many.sh": 'python -m torch.distributed.launch --nproc_per_node=$2 tools/train.py $1 --launcher pytorch\n',
    "tools/more.sh": "python tools/train.py configs/net/a.py $MORE\n", "tools/other.sh": "python tools/train.py $NET\n",
}  # fmt: skip
COMMAND = "python tools/train.py configs/net/a.py"


def verdict_of(directory: Path, crops: str, a: str = BASED, command: str = COMMAND, **more: str) -> str:
    files = {**FILES, "configs/parts/crops.py": crops, "configs/net/a.py": a, "compose.yaml": compose(command)}
    return need(directory, {**files, **{f"{name}.py": text for name, text in more.items()}}).verdict


@table(
    "crops, a, verdict",
    [
        (CROPS, BASED, "likely"),
        (PLAIN, BASED, "not-needed"),
        (TRAINED, BASED, "likely"),
        # What a file says of a mapping is merged with what those say that it goes on from.
        (CROPS, BASED + "train_dataloader = dict(num_workers=0)\nval_dataloader = dict(num_workers=0)\n", "not-needed"),
        (PLAIN, BASED + "train_dataloader = dict(num_workers=6)\n", "likely"),
        (CROPS, BASED + "train_dataloader = dict(_delete_=True, batch_size=2)\nval_dataloader = None\n", "not-needed"),
        (CROPS, BASED + "train_dataloader = dict(batch_size=8)\nval_dataloader = None\n", "likely"),
        # Its values may be those of others.
        (CROPS, BASED + "none = 0\ntrain_dataloader = dict(num_workers=none)\nval_dataloader = None\n", "not-needed"),
        ("none = 0\n" + CROPS, BASED + "train_dataloader = dict(num_workers={{_base_.none}})\nval_dataloader = None\n",
         "not-needed"),
        ("none = 0\n" + CROPS, BASED + "train_dataloader = dict(num_workers=_base_.none)\nval_dataloader = None\n",
         "not-needed"),
        (PLAIN, BASED + "train_dataloader = {{_base_.missing}}\n", "unknown"),
        (PLAIN, BASED + "import os\ntrain_dataloader = dict(num_workers=os.cpu_count())\n", "unknown"),
        (PLAIN, BASED + "train_dataloader = dict(num_workers='{{$WORKERS:4}}')\n", "unknown"),
        (PLAIN, BASED + "if fast:\n    train_dataloader = dict(num_workers=8)\n", "likely"),
        (PLAIN, BASED + "if fast:\n    train_dataloader = dict(num_workers=0)\n", "unknown"),
        # What is in another package may say anything that is not said here.
        (PLAIN, "_base_ = 'mmdet::_base_/crops.py'\ntrain_dataloader = dict(num_workers=0)\n", "unknown"),
        (PLAIN, "_base_ = '../parts/missing.py'\ntrain_dataloader = dict(num_workers=0)\n", "unknown"),
        (PLAIN, "_base_ = '../parts/missing.py'\n" + PLAIN, "unknown"),
        (PLAIN, "_base_ = '../parts/missing.py'\ntrain_dataloader = dict(_delete_=True, batch_size=1)\n"
         "val_dataloader = None\ncustom_imports = None\n", "not-needed"),
        (PLAIN, "_base_ = 'a.py'\n", "unknown"),
        # Mappings may be changed in place, and have two names.
        (PLAIN, PLAIN + "train_dataloader['num_workers'] = 8\n", "likely"),
        (PLAIN, PLAIN + "train_dataloader.update(num_workers=8)\n", "likely"),
        (PLAIN, PLAIN + "val_dataloader = train_dataloader\ntrain_dataloader.update(dict(num_workers=8))\n", "likely"),
        (CROPS, CROPS + "train_dataloader.pop('num_workers')\nval_dataloader['num_workers'] = 0\n", "not-needed"),
        (PLAIN, PLAIN + "train_dataloader.update(fast())\n", "unknown"),
        (PLAIN, PLAIN + "tune(train_dataloader)\n", "unknown"),
        (PLAIN, PLAIN + "train_dataloader[key] = 8\n", "unknown"),
        (PLAIN, PLAIN + "def tune():\n    train_dataloader['num_workers'] = 8\ntune()\n", "unknown"),
        (PLAIN, PLAIN + "from fast import *\n", "unknown"),
        (PLAIN, PLAIN + "options = dict(num_workers=8)\ntrain_dataloader = dict(batch_size=2, **options)\n", "likely"),
        (PLAIN, PLAIN + "from copy import deepcopy\nval_dataloader = deepcopy(train_dataloader)\n"
         "val_dataloader['num_workers'] = 2\ndel val_dataloader['num_workers']\n", "not-needed"),
        # Also under other names, in containers, and in those that it goes on from.
        (PLAIN, BASED + "_base_.train_dataloader.num_workers = 8\n", "likely"),
        (PLAIN, BASED + "_base_.train_dataloader.update(num_workers=8)\n", "likely"),
        (PLAIN, BASED + "loader = _base_.train_dataloader\nloader.num_workers = 8\n", "likely"),
        (PLAIN, PLAIN + "loader = dict(batch_size=2)\ntrain_dataloader = loader\nloader.update(num_workers=8)\n",
         "likely"),
        (PLAIN, PLAIN + "both = dict(a=train_dataloader)\nboth['a'].update(num_workers=8)\n", "likely"),
        (PLAIN, PLAIN + "both = [train_dataloader]\nboth[0].update(num_workers=8)\n", "likely"),
        # What is not followed inside of a value may change what it is given.
        (PLAIN, PLAIN + "x = train_dataloader.update(num_workers=8)\n", "unknown"),
        (PLAIN, PLAIN + "def tune(held):\n    held['num_workers'] = 8\nx = tune(train_dataloader)\n", "unknown"),
        (PLAIN, PLAIN + "x = [train_dataloader := dict(batch_size=2, num_workers=8)]\n", "likely"),
        (PLAIN, PLAIN + "globals()['train_dataloader'] = dict(batch_size=2, num_workers=8)\n", "likely"),
        # In the newer style, files import each other.
        (CROPS, IMPORTED, "likely"),
        (PLAIN, IMPORTED, "not-needed"),
        (CROPS, IMPORTED + "train_dataloader.update(num_workers=0)\nval_dataloader = None\n", "not-needed"),
        (PLAIN, IMPORTED + "    from mmdet.configs.a import *\n", "unknown"),
        # A loop or a hook with a loader of its own
        (PLAIN, PLAIN + "train_cfg = dict(type='Pairs', max_epochs=2)\n", "not-needed"),
        (PLAIN, PLAIN + "train_cfg = dict(type='Pairs', other_loader=dict(batch_size=2, num_workers=8))\n", "likely"),
        (PLAIN, PLAIN + "custom_hooks = [dict(type='Looks', loader=dict(batch_size=2, num_workers=8))]\n", "likely"),
        (PLAIN, PLAIN + "other_loader = dict(batch_size=2, num_workers=8)\n", "not-needed"),
        # Several loaders for validation
        (PLAIN, PLAIN + "val_dataloader = [dict(batch_size=1), dict(batch_size=1, num_workers=4)]\n", "likely"),
    ],
)  # fmt: skip
def test_a_runner_makes_the_loaders_of_its_configuration(tmp_path: Path, crops: str, a: str, verdict: str) -> None:
    assert verdict_of(tmp_path, crops, a) == verdict


SET = "--cfg-options train_dataloader.num_workers"


def test_workers_are_shown_in_the_file_that_says_them(tmp_path: Path) -> None:
    files = {"fit.py": "from mmengine.config import Config\nfrom mmengine.runner import Runner\n"}
    files["fit.py"] += "Runner.from_cfg(Config.fromfile('a.py')).train()\n"
    files |= {"a.py": "_base_ = ['./b.py']\ntrain_dataloader = dict(batch_size=2)\n", "b.py": TRAINED}
    found = need(tmp_path, {"compose.yaml": compose("python fit.py"), "Dockerfile": DOCKERFILE, **files})
    told = [one for one in found.evidence if one.text.endswith("DataLoader workers")]
    assert [(one.span.path, one.span.line) for one in told if one.span is not None] == [("b.py", 4)]



@table(
    "crops, command, verdict",
    [
        (CROPS, f"{COMMAND} {SET}=0 val_dataloader.num_workers=0", "not-needed"),
        (CROPS, f"{COMMAND} {SET}=0 val_dataloader.num_workers=0 --launcher none", "not-needed"),
        (CROPS, f"{COMMAND} {SET}=0", "likely"),
        (PLAIN, f"{COMMAND} {SET}=2", "needed"),
        (PLAIN, f"{COMMAND} {SET.replace(' ', '=')}=2", "likely"),
        (PLAIN, f"{COMMAND} --amp --cfg-options model.depth=50", "not-needed"),
        (PLAIN, "bash tools/more.sh", "unknown"),
        (PLAIN, "bash tools/other.sh", "unknown"),
        (PLAIN, "python tools/train.py configs/net/missing.py", "unknown"),
        (PLAIN, "python tools/train.py --work-dir out configs/net/a.py", "not-needed"),
        (PLAIN, f"{COMMAND} --novel 8", "unknown"),
        # Only the loaders that are used count: training validates, too.
        (TRAINED, "python tools/test.py configs/net/a.py", "not-needed"),
        (CROPS.replace("workers=4", "workers=0"), "python tools/test.py configs/net/a.py", "likely"),
        (PLAIN, "bash tools/many.sh configs/net/a.py 1", "not-needed"),
        (PLAIN, "bash tools/many.sh configs/net/a.py 4", "needed"),
        (TRAINED, "bash tools/many.sh configs/net/a.py 1", "likely"),
    ],
)  # fmt: skip
def test_a_command_names_and_changes_its_configuration(tmp_path: Path, crops: str, command: str, verdict: str) -> None:
    assert verdict_of(tmp_path, crops, command=command) == verdict


@table(
    "decorated, verdict",
    [
        ("from mmengine.registry import HOOKS\n@HOOKS.register_module()\nclass Watches:", "likely"),
        ("from mmcv.runner import HOOKS\n@HOOKS.register_module\nclass Watches:", "likely"),
        ("from mmengine.hooks import Hook\nclass Watches(Hook):", "not-needed"),
        ("class Watches:", "not-needed"),
    ],
)
def test_a_hook_that_is_registered_may_run(tmp_path: Path, decorated: str, verdict: str) -> None:
    hook = "    def before_train(self, runner):\n        DataLoader(runner.data, num_workers=8, batch_size=64)\n"
    train = RUN.replace("def main(", f"from torch.utils.data import DataLoader\n{decorated}\n{hook}\ndef main(")
    crops = f"{PLAIN}custom_hooks = [dict(type='Watches')]\n"
    assert verdict_of(tmp_path, crops, **{"tools/train": train}) == verdict


@table(
    "crops, code, verdict",
    [
        (PLAIN, "cfg.resume = True", "not-needed"),
        (PLAIN, "cfg.train_dataloader.dataset.pipeline = []", "not-needed"),
        (PLAIN, "cfg.train_dataloader.num_workers = 8", "unknown"),
        (PLAIN, "cfg['train_dataloader'] = made()", "unknown"),
        (PLAIN, "setattr(cfg.train_dataloader, 'num_workers', 8)", "unknown"),
        (PLAIN, "setattr(cfg, 'train_dataloader', cfg.other)", "unknown"),
        (PLAIN, "for name in names:\n        setattr(cfg[name], 'num_workers', 8)", "unknown"),
        (PLAIN, "import operator\n    operator.setitem(cfg.train_dataloader, 'num_workers', 8)", "unknown"),
        (PLAIN, "cfg.train_dataloader.update(made())", "unknown"),
        (PLAIN, "for name in names:\n        cfg[name] = made(cfg[name])", "unknown"),
        (PLAIN, "changed(cfg)", "unknown"),
        (PLAIN, "cfg = made()", "unknown"),
        (PLAIN, "cfg.merge_from_dict(dict(a=1))", "unknown"),
        (PLAIN, "import copy\n    cfg = copy.deepcopy(cfg)", "not-needed"),
        (PLAIN, "import sys\n    sys.argv.append('--amp')", "unknown"),
        (CROPS, "cfg.train_dataloader.num_workers = 8", "likely"),
        (CROPS, "cfg = made()", "likely"),
        # What the configuration imports runs, too.
        (PLAIN + "custom_imports = dict(imports=['own.fields'])\n", "pass", "unknown"),
        (PLAIN + "custom_imports = dict(imports=['own.net'])\n", "pass", "not-needed"),
        (PLAIN + "custom_imports = dict(imports=['nobody.net'])\n", "pass", "unknown"),
        (PLAIN + "custom_imports = made()\n", "pass", "unknown"),
        (PLAIN + "from own.fields import Fields\n", "pass", "unknown"),
        (PLAIN + "from own.kinds import Kept\ntrain_dataloader.update(dataset=dict(type=Kept))\n", "pass", "likely"),
        (PLAIN.replace("'Fields'", "'own.kinds.Kept'"), "pass", "likely"),
        (PLAIN.replace("'Fields'", "'own.net.Kept'"), "pass", "not-needed"),
    ],
)  # fmt: skip
def test_code_may_change_a_configuration(tmp_path: Path, crops: str, code: str, verdict: str) -> None:
    before = "def changed(held):\n    held.val_dataloader.num_workers = 8\n\ndef main("
    train = RUN.replace("# more", code).replace("def main(", before)
    fields = "from torch.multiprocessing import Pool\nPool(4).map(read, names)\n"
    kinds = "from torch.utils.data import DataLoader\nclass Kept:\n    def __init__(self):\n"
    kinds += "        self.kept = DataLoader(names, num_workers=8, batch_size=64)\n"
    more = {"tools/train": train, "tools/own/__init__": "", "tools/own/fields": fields, "tools/own/net": "a = 1\n"}
    more["tools/own/kinds"] = kinds
    assert verdict_of(tmp_path, crops, **more) == verdict


OLD = """
import argparse
from mmcv import Config, DictAction
from mmcv.runner import get_dist_info, init_dist
from mmdet.apis import train_detector
from mmdet.datasets import build_dataloader, build_dataset
from mmdet.models import build_detector
from mmdet.utils import replace_cfg_vals
from mmseg.apis import train_segmentor
from own.loading import loaders_of

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('config')
    parser.add_argument('--no-validate', action='store_true')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction)
    parser.add_argument('--launcher', choices=['none', 'pytorch'], default='none')
    args = parser.parse_args()
    cfg = Config.fromfile(args.config)
    cfg = replace_cfg_vals(cfg)
    if args.cfg_options is not None:
        cfg.merge_from_dict(args.cfg_options)
    distributed = args.launcher != 'none'
    if distributed:
        init_dist(args.launcher, **cfg.dist_params)
    cfg.gpu_ids = range(1)
    model = build_detector(cfg.model)
    data = [build_dataset(cfg.data.train)]
    # train

if __name__ == '__main__':
    main()
"""
OWN = """
from torch.utils.data import DataLoader

def loaders_of(data, cfg, distributed):
    given = dict(workers_per_gpu=2, samples_per_gpu=2, dist=distributed, num_gpus=len(cfg.gpu_ids))
    whole = {**given, **cfg.data.get('train_dataloader', {})}
    return [made(one, **whole) for one in data]

def made(data, samples_per_gpu, workers_per_gpu, num_gpus=1, dist=True):
    if dist:
        workers = workers_per_gpu
    else:
        workers = num_gpus * workers_per_gpu
    return DataLoader(data, batch_size=samples_per_gpu, num_workers=workers)
"""
BY_POSITION = "build_dataloader(data, cfg.data.samples_per_gpu, cfg.data.workers_per_gpu, len(cfg.gpu_ids), seed=0)"
BY_KEYWORD = "build_dataloader(data, samples_per_gpu=1, workers_per_gpu=cfg.data['workers_per_gpu'], dist=distributed)"
BY_DEFAULT = "build_dataloader(data, samples_per_gpu=1, workers_per_gpu=cfg.data.get('workers_per_gpu', 4))"
PLAIN_GIVEN = "dict(workers_per_gpu=2, samples_per_gpu=2)"
BY_MAPPING = f"build_dataloader(data, **{{**{PLAIN_GIVEN}, **cfg.data.get('train_dataloader', {{}})}})"
TRAIN = "train_detector(model, data, cfg, distributed=distributed, validate=(not args.no_validate))"
SECTION = "_base_ = '../parts/run.py'\ndata = dict(samples_per_gpu=2, workers_per_gpu=%s, train=dict(type='Fields'))\n"
FOUR, NONE, UNSAID = SECTION % 4, SECTION % 0, (SECTION % 0).replace("workers_per_gpu=0, ", "")
OF_LOADERS = "".join([UNSAID, *(f"data['{kind}_dataloader'] = dict(workers_per_gpu=0)\n" for kind in ("train", "val"))])


@table(
    "code, a, words, verdict",
    [
        (BY_POSITION, FOUR, "", "likely"),
        (BY_POSITION, NONE, "", "not-needed"),
        (BY_POSITION, FOUR, "--cfg-options data.workers_per_gpu=0", "not-needed"),
        (BY_POSITION, NONE, "--cfg-options model.depth=50 data.workers_per_gpu=4", "likely"),
        (BY_POSITION, "_base_ = 'mmdet::a.py'\n" + UNSAID.partition("\n")[2], "", "unknown"),
        (BY_KEYWORD, FOUR, "", "likely"),
        (BY_KEYWORD, NONE, "", "not-needed"),
        (BY_DEFAULT, NONE, "", "not-needed"),
        (BY_DEFAULT, UNSAID, "", "likely"),
        (BY_MAPPING, OF_LOADERS, "", "not-needed"),
        (BY_MAPPING, OF_LOADERS.replace("=0", "=4"), "", "likely"),
        (BY_MAPPING, UNSAID, "", "likely"),
        (BY_MAPPING, NONE, "", "not-needed"),
        ("loaders_of(data, cfg, distributed)", FOUR, "", "likely"),
        ("loaders_of(data, cfg, distributed)", NONE, "", "not-needed"),
        ("cfg.data.workers_per_gpu = 8\n    " + BY_POSITION, NONE, "", "unknown"),
        ("cfg.data.test.test_mode = True\n    " + BY_POSITION, NONE, "", "not-needed"),
        # What trains in a library reads the section itself, each with a default of its own.
        (TRAIN, FOUR, "", "likely"),
        (TRAIN, NONE, "", "not-needed"),
        (TRAIN, UNSAID, "", "likely"),
        (TRAIN, OF_LOADERS, "", "not-needed"),
        (TRAIN, OF_LOADERS.replace("=0", "=4", 1), "", "likely"),
        (TRAIN.replace("detector", "segmentor"), NONE, "", "not-needed"),
        (TRAIN.replace("detector", "segmentor"), FOUR, "", "likely"),
        (TRAIN.replace("detector", "segmentor"), UNSAID, "", "unknown"),
        (TRAIN.replace("cfg,", "other,"), FOUR, "", "unknown"),
    ],
)  # fmt: skip
def test_loaders_have_the_workers_of_the_section_of_data(
    tmp_path: Path, code: str, a: str, words: str, verdict: str
) -> None:
    more = {"tools/train": OLD.replace("# train", code), "tools/own/__init__": "", "tools/own/loading": OWN}
    assert verdict_of(tmp_path, PLAIN, a, f"{COMMAND} {words}", **more) == verdict


DIRECT = """
from mmengine.runner import FlexibleRunner, Runner
from torch.utils.data import DataLoader

def main():
    both = dict(batch_size=4, num_workers=0, dataset=dict(type='Fields'))
    some = dict(num_workers=4)
    runner = Runner(model=dict(type='Net'), work_dir='out', train_dataloader=both, val_dataloader=None)
    runner.train()

main()
"""
OBJECT = "DataLoader(range(9), num_workers=4)"


@table(
    "given, verdict",
    [
        ("train_dataloader=both", "not-needed"),
        ("train_dataloader=dict(batch_size=4, num_workers=4)", "likely"),
        ("train_dataloader=dict(both, num_workers=2)", "likely"),
        ("train_dataloader=both, val_dataloader=dict(num_workers=2)", "likely"),
        ("train_dataloader=dict(batch_size=4)", "not-needed"),
        ("train_dataloader=made()", "unknown"),
        ("train_dataloader=dict(num_workers=made())", "unknown"),
        ("**made()", "unknown"),
        ("train_dataloader=DataLoader(range(9))", "not-needed"),
        (f"train_dataloader={OBJECT}", "likely"),
    ],
)
def test_a_runner_makes_the_loaders_that_it_is_given(tmp_path: Path, given: str, verdict: str) -> None:
    plain = DIRECT.replace("    some = dict(num_workers=4)\n", "")
    for kind in ("Runner", "FlexibleRunner"):
        code = plain.replace("train_dataloader=both, val_dataloader=None", given).replace("= Runner", f"= {kind}")
        files = {**FILES, "learn.py": code, "compose.yaml": compose("python learn.py")}
        assert need(tmp_path, files).verdict == verdict


def test_what_a_runner_is_not_given_does_not_count(tmp_path: Path) -> None:
    assert need(tmp_path, {**FILES, "learn.py": DIRECT, "compose.yaml": compose("python learn.py")}).verdict == (
        "not-needed"
    )


@pytest.mark.slow
@table(
    "text",
    [
        "_base_ = ['a.py', 'a.py']\n" + PLAIN,
        "a = dict()\n" + "".join(f"b{n} = [a, a]\na = dict(x=b{n}, y=b{n})\n" for n in range(60)),
        "a = " + "dict(a=" * 70 + "1" + ")" * 70 + "\n" + "a.a.a = 1\n" * 3000,
        "train_dataloader = dict(" + ", ".join(f"k{n}={n}" for n in range(10_000)) + ")\n",
        "x = [" + "1, " * 50_000 + "]\n",
        "x = 1" + " + 1" * 1_900 + "\n",
        "x = dict(a=1)\n" * 5_000,
        "x = dict(a=1)\nx['a'] = 2\n" * 2_000,
    ],
)
def test_hostile_configurations_are_read_in_a_bounded_time(tmp_path: Path, text: str) -> None:
    begin = time.process_time()
    verdict_of(tmp_path, CROPS, text)
    assert time.process_time() - begin < 5
