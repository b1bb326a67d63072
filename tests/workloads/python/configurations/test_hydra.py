"""Programs that make what a configuration of Hydra names."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from json import dumps
from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need
from tests.workloads.python.configurations.test_lightning_cli import DATA, NET

MAIN = """
import hydra
from hydra.utils import instantiate
from omegaconf import OmegaConf, open_dict

@hydra.main(version_base=None, config_path="conf", config_name="fit")
def main(cfg):
    %s

if __name__ == "__main__":
    main()
"""
MAKES = "trainer, data = instantiate(cfg.trainer), instantiate(cfg.data)"
FITS = "trainer.fit(instantiate(cfg.model), data)"
ALL = f"{MAKES}\n    {FITS}"
FILES = {
    "Dockerfile": DOCKERFILE, "own/__init__.py": "", "own/net.py": NET, "own/data.py": DATA,
    "conf/fit.yaml": "defaults:\n  - _self_\n  - data: many\n  - model: net\n  - trainer: one\n  - trial: null\nn: 6\n"
    "alias: ${data}\n",
    "conf/data/many.yaml": "_target_: own.data.Digits\nbatch_size: 64\nnum_workers: 8\n",
    "conf/data/none.yaml": "defaults:\n  - many\n  - _self_\nnum_workers: 0\n",
    "conf/data/same.yaml": "_target_: own.data.Digits\nbatch_size: 64\nnum_workers: ${n}\n",
    "conf/data/odd.yaml": "_target_: own.data.Digits\nnum_workers: ${oc.env:N}\n",
    "conf/data/lost.yaml": "_target_: own.data.Lost\nnum_workers: 0\n",
    "conf/data/both.yaml": "defaults:\n  - many\nnum_workers: 0\n",
    "conf/data/listed.yaml": "_target_: own.data.Digits\nnum_workers: 8\nshape: [28, 28]\n",
    "conf/data/shaped.yaml": "defaults:\n  - listed\nshape: [32, 32]\n",
    "conf/data/made.yaml": "defaults:\n  - listed\nshape: [{_target_: own.data.Lost}]\n",
    "conf/plain.yaml": "defaults:\n  - data: listed\n  - model: net\n  - trainer: one\nn: 6\n",
    "conf/model/net.yaml": "_target_: own.net.Net\nrate: 0.2\n",
    "conf/trainer/one.yaml": "_target_: lightning.Trainer\ndevices: 1\n",
    "conf/trial/quick.yaml": "# @package _global_\ndefaults:\n  - override /data: none\nmodel:\n  rate: 0.3\n",
    "conf/trial/slow.yaml": "# @package _global_\ndata:\n  num_workers: 12\n",
    "conf/other/big.yaml": "# @package _global_\ndefaults:\n  - override /data: many\n",
    "conf/other.yaml": "data:\n  _target_: own.data.Digits\n  num_workers: 0\n"
    "trainer: {_target_: lightning.Trainer, devices: 1}\n"
    "model:\n  _target_: own.net.Net\n",
}  # fmt: skip


@table(
    "folder",
    [
        '"conf"', "CONF", 'os.path.join(os.path.dirname(__file__), "conf")', 'str(Path(__file__).parent / "conf")',
        'str(Path.cwd() / "conf")', 'os.path.join(os.getcwd(), "conf")',
    ],
)
def test_the_directory_of_the_configuration_is_put_together(tmp_path: Path, folder: str) -> None:
    code = "import os\nfrom pathlib import Path\nimport hydra\nfrom torch.utils.data import DataLoader\n"
    code += 'CONF = str(Path(__file__).resolve().parent / "conf")\n'
    body = "\ndef main(cfg):\n"
    body += "    DataLoader(d, batch_size=cfg.data.batch_size, num_workers=cfg.data.num_workers)\nmain()\n"
    files = {"compose.yaml": compose("python main.py"), "Dockerfile": DOCKERFILE}
    files |= {"conf/fit.yaml": "defaults:\n  - data: many\n", "conf/data/many.yaml": FILES["conf/data/many.yaml"]}
    for given in (f"version_base=None, config_path={folder}, config_name='fit'", f"{folder}, 'fit.yaml'"):
        main = f"{code}@hydra.main({given}){body}"
        assert need(tmp_path, {**files, "main.py": main}).verdict == "likely"


def test_the_working_directory_is_one_of_several(tmp_path: Path) -> None:
    code = "import os, hydra\nfrom torch.utils.data import DataLoader\n"
    code += "@hydra.main(os.path.join(os.getcwd(), 'conf'), 'fit')\ndef main(cfg):\n"
    code += "    DataLoader(d, batch_size=cfg.data.batch_size, num_workers=cfg.data.num_workers)\nmain()\n"
    files = {"compose.yaml": compose("python own/main.py"), "Dockerfile": DOCKERFILE, "own/main.py": code}
    files |= {"conf/fit.yaml": "data:\n  num_workers: 0\n  batch_size: 1\n"}
    assert need(tmp_path, files).verdict == "not-needed"
    assert need(tmp_path, files | {"own/conf/fit.yaml": files["conf/fit.yaml"]}).verdict == "unknown"


def verdict_of(directory: Path, lines: str, words: str = "", sets: str = "") -> str:
    files = {**FILES, "conf/data_sets/some.yaml": sets}
    files |= {"compose.yaml": compose(f"python main.py {words}"), "main.py": MAIN % lines}
    return need(directory, files).verdict


@table(
    "words, verdict",
    [
        ("", "needed"),
        ("data=none", "not-needed"),
        ("data=same", "needed"),
        ("data=same n=0", "not-needed"),
        ("data.num_workers=0", "not-needed"),
        ("++data.num_workers=0", "not-needed"),
        ("data=none data.num_workers=8", "needed"),
        ("~data.num_workers", "needed"),
        ("trial=quick", "not-needed"),
        ("trial=quick data=many", "needed"),
        ("+trial=slow data=none", "needed"),
        ("--config-name other", "not-needed"),
        # Files that do not say which comes last, and that have lists.
        ("--config-name plain", "needed"),
        ("--config-name plain data.num_workers=0", "not-needed"),
        ("--config-name plain data=shaped", "needed"),
        ("--config-name plain data=shaped data.num_workers=0", "not-needed"),
        ("--config-name plain data=made data.num_workers=0", "unknown"),
        ("--config-name=other trainer.devices=2", "needed"),
        ("data=none trainer.devices=2", "needed"),
        # What is not written down, or not understood.
        ("data=odd", "unknown"),
        ("data=lost", "unknown"),
        ("data=both", "unknown"),
        ("data=nowhere", "unknown"),
        ("-m data.num_workers=0,8", "unknown"),
        ("--config-dir /more data=none", "unknown"),
        ("hydra.mode=MULTIRUN data=none data.num_workers=8,0", "unknown"),
        ("hydra.searchpath=[file://more] data=none", "unknown"),
        ("hydra.run.dir=out data=none", "not-needed"),
        ("+trial/deep=big data=none", "unknown"),
        # A file that the command adds beats what others choose.
        ("+trial=quick +other=big", "needed"),
        ("+other=big +trial=quick", "not-needed"),
        # What is a part of another one is changed there.
        ("alias.num_workers=0 data=none", "unknown"),
        ("--config-name lost", "unknown"),
        ("data=none model._target_=own.net.Lost", "unknown"),
    ],
)
def test_the_words_of_the_command(tmp_path: Path, words: str, verdict: str) -> None:
    assert verdict_of(tmp_path, ALL, words) == verdict


INNER = """fit(cfg)

def fit(settings):
    made = all_of(settings.get("data_sets"))
    for name, part in settings.items():
        if "_target_" in part:
            made = instantiate(part)

def all_of(parts):
    return [instantiate(part) for part in parts.values()] if parts else []
"""


@table(
    "lines, words, verdict",
    [
        (f"data = instantiate(cfg['data'])\n    trainer = instantiate(cfg.get('trainer'))\n    {FITS}", "", "needed"),
        (f"{MAKES.replace('cfg.data', 'cfg.data, num_workers=0')}\n    {FITS}", "", "not-needed"),
        (f"{MAKES.replace('cfg.data', 'cfg.data, num_workers=8')}\n    {FITS}", "data=none", "needed"),
        (f"{MAKES.replace('cfg.data', 'cfg.data, num_workers=n')}\n    {FITS}", "data=none", "unknown"),
        (f"{MAKES.replace('cfg.data', 'cfg.data, **more')}\n    {FITS}", "", "likely"),
        (f"{MAKES.replace('cfg.data', 'cfg.data, **more')}\n    {FITS}", "data=none", "unknown"),
        (f"part = cfg.data\n    {MAKES.replace('cfg.data', 'part')}\n    {FITS}", "", "needed"),
        # Code may change it.
        (f"cfg.data.num_workers = 4\n    {ALL}", "data=none", "unknown"),
        (f"cfg['data']['num_workers'] = 4\n    {ALL}", "data=none", "unknown"),
        (f"cfg = OmegaConf.merge(cfg, other())\n    {ALL}", "data=none", "unknown"),
        (f"OmegaConf.update(cfg, 'data.num_workers', 4)\n    {ALL}", "data=none", "unknown"),
        (f"cfg.merge_with(other())\n    {ALL}", "data=none", "unknown"),
        (f"cfg.data.update(other())\n    {ALL}", "data=none", "unknown"),
        (f"OmegaConf.update(cfg=cfg, key='data.num_workers', value=4)\n    {ALL}", "data=none", "unknown"),
        (f"with open_dict(cfg) as all:\n        all.data = other()\n    {ALL}", "data=none", "unknown"),
        (f"parts = [cfg]\n    parts[0].data = other()\n    {ALL}", "data=none", "unknown"),
        (f"import sys\n    sys.argv.append('data=many')\n    {ALL}", "data=none", "unknown"),
        # What may be another number is no error.
        (f"cfg.data.num_workers = 0\n    {ALL}", "", "likely"),
        (f"cfg.data = other()\n    {ALL}", "", "likely"),
        ("instantiate(other())", "data=none", "unknown"),
        ("instantiate(cfg.data.read())", "data=none", "unknown"),
        ("instantiate(cfg.lost)", "data=none", "not-needed"),
        (f"for part in other(cfg):\n        instantiate(part)\n    {ALL}", "data=none", "unknown"),
        ("make = instantiate\n    make(cfg.data)", "data=none", "unknown"),
    ],
)
def test_what_is_made_of_the_configuration(tmp_path: Path, lines: str, words: str, verdict: str) -> None:
    assert verdict_of(tmp_path, lines, words) == verdict


@table(
    "sets, verdict",
    [
        ("{}", "not-needed"),
        ("a: {_target_: torch.utils.data.DataLoader, num_workers: 8, batch_size: 64}", "needed"),
        ("a: {_target_: torch.utils.data.DataLoader, num_workers: 0}", "not-needed"),
        ("a: {_target_: torch.utils.data.DataLoader, num_workers: 0, _partial_: true}", "unknown"),
        ("a: {_target_: own.data.Lost}", "unknown"),
        ("a: ${lost}", "unknown"),
        ("a: ${b}\nb: {_target_: torch.utils.data.DataLoader, num_workers: 8}", "unknown"),
    ],
)
def test_what_loops_make_of_the_configuration(tmp_path: Path, sets: str, verdict: str) -> None:
    assert verdict_of(tmp_path, INNER, "data=none +data_sets=some", sets) == verdict


@table(
    "more, verdict",
    [
        ("_target_: own.data.Digits\nx: [" + ",".join(["${data.x}"] * 300) + "]\n", "unknown"),
        ("_target_: own.data.Digits\nx: ${data}\ny: ${data}\nz: ${data}\n", "unknown"),
        ("${data}\n", "unknown"),
        ("defaults:\n  - many\n  - many\n_target_: own.data.Digits\n", "unknown"),
        ("one: &one\n  num_workers: 0\n_target_: own.data.Digits\n<<: *one\n", "not-needed"),
        ("_target_: own.data.Digits\nnum_workers: !odd 0\n", "unknown"),
    ],
)
def test_a_configuration_that_refers_to_itself(tmp_path: Path, more: str, verdict: str) -> None:
    files = {**FILES, "compose.yaml": compose("python main.py"), "main.py": MAIN % ALL}
    assert need(tmp_path, files | {"conf/data/many.yaml": more}).verdict == verdict


LOADS = "{_target_: torch.utils.data.DataLoader, num_workers: 8, batch_size: 64}"
WRAPS = """
def wrap(function):
    def inner(cfg):
        return function(prepare(cfg))
    return inner

"""
STORES = """
from hydra.core.config_store import ConfigStore
ConfigStore.instance().store(group="more", name="big", node={"data": {"num_workers": 8}}, package="_global_")
"""


@table(
    "code, words, more, verdict",
    [
        (MAIN.replace("@hydra", f"{WRAPS}@hydra").replace("def main", "@wrap\ndef main"), "data=none", "", "unknown"),
        (MAIN.replace("@hydra", f"{STORES}@hydra"), "data=none +more=big", "", "unknown"),
        # What a file says of Hydra itself.
        (MAIN, "data=none", "hydra:\n  mode: MULTIRUN\n  sweeper: {params: {data.num_workers: '0,8'}}\n", "unknown"),
        (MAIN, "data=none +more=big", "hydra:\n  searchpath: [file://more]\n", "unknown"),
        # A mapping is laid over the one that is there.
        (MAIN.replace("%s", "instantiate(cfg.a)"), "a={b: 4}", f"a: {LOADS}\n", "likely"),
        (MAIN.replace("%s", "instantiate(cfg.a)"), "a={num_workers:0}", f"a: {LOADS}\n", "unknown"),
        (MAIN.replace("%s", "instantiate(cfg.a)"), "a={num_workers: 0}", f"a: {LOADS}\n", "not-needed"),
        (MAIN, "data=none", "hydra:\n  run:\n    dir: out\n", "not-needed"),
    ],
)
def test_what_else_gives_the_configuration(tmp_path: Path, code: str, words: str, more: str, verdict: str) -> None:
    command = dumps(["python", "main.py", *re.split(" (?=[a-z+]+=)", words)])
    files = {**FILES, "compose.yaml": compose(command), "main.py": code.replace("%s", ALL)}
    assert need(tmp_path, files | {"conf/fit.yaml": FILES["conf/fit.yaml"] + more}).verdict == verdict


@table(
    "file, text, verdict",
    [
        ("conf/data/many.yaml", "defaults:\n" + "  - many\n" * 20, "unknown"),
        ("conf/data/many.yaml", "defaults:\n" + "  - d1\n" * 20, "unknown"),
        ("conf/data/many.yaml", "_target_: own.data.Digits\na: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
            f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefghi")
        ), "unknown"),
    ],
)  # fmt: skip
def test_a_configuration_that_stands_for_a_huge_one(tmp_path: Path, file: str, text: str, verdict: str) -> None:
    steps = {f"conf/data/d{n}.yaml": "defaults:\n" + f"  - d{n + 1}\n" * 20 for n in range(1, 8)}
    files = {**FILES, **steps, "compose.yaml": compose("python main.py"), "main.py": MAIN % ALL, file: text}
    started = time.process_time()
    assert need(tmp_path, files).verdict == verdict
    assert time.process_time() - started < 10


@table(
    "code, verdict",
    [
        ("", "needed"),
        ("if cfg.fast:\n        cfg.trainer.devices = 1", "likely"),
        ("if cfg.fast:\n        cfg['trainer']['devices'] = 1", "likely"),
        ("cfg.trainer.nodes = 1", "needed"),
    ],
)
def test_a_branch_changes_the_configuration(tmp_path: Path, code: str, verdict: str) -> None:
    """No error rests on a number of ranks that the program may replace."""
    body = f"{code or 'pass'}\n    lightning.Trainer(devices=cfg.trainer.devices).fit(net)"
    files = {
        "compose.yaml": compose("python main.py"), "main.py": f"import lightning\n{MAIN % body}",
        "Dockerfile": DOCKERFILE, "conf/fit.yaml": "trainer:\n  devices: 2\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


LOADS = """
import hydra
from torch.utils.data import DataLoader

@hydra.main(version_base=None, config_path="conf", config_name="own")
def main(cfg):
    DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=cfg.data.num_workers)

main()
"""
GLOBAL = "# @package _global_\n"
GROUPS = {
    "conf/data/many.yaml": "num_workers: 8\n", "conf/data/none.yaml": "num_workers: 0\n",
    "conf/trial/off.yaml": f"{GLOBAL}data:\n  num_workers: 0\n",
    "conf/trial/on.yaml": f"{GLOBAL}data:\n  num_workers: 8\n",
    "conf/trial/other.yaml": f"{GLOBAL}defaults:\n  - override /data: none\n",
}  # fmt: skip
INSIDE = "defaults:\n  - _self_\n  - trial: null\ndata:\n  num_workers: 8\n"
GROUP = "defaults:\n  - _self_\n  - data: many\n  - trial: null\n"


@table(
    "own, words, verdict",
    [
        (INSIDE, "", "needed"),
        (INSIDE, "trial=off", "not-needed"),
        (INSIDE.replace("8", "0"), "trial=on", "needed"),
        (INSIDE.replace("  - trial: null\n", ""), "+trial=off", "not-needed"),
        (INSIDE.replace("8", "${n}") + "n: 0\n", "", "not-needed"),
        (GROUP, "trial=other", "not-needed"),
        (GROUP, "trial=other data=many", "needed"),
        (GROUP, "trial=off data.num_workers=8", "needed"),
        (GROUP.replace("many", "none"), "trial=on", "needed"),
        (GROUP, "trial=lost", "likely"),
        (GROUP, "-m trial=off,on", "likely"),
    ],
)
def test_a_trial_that_changes_the_configuration(tmp_path: Path, own: str, words: str, verdict: str) -> None:
    files = {"compose.yaml": compose(f"python train.py {words}"), "Dockerfile": DOCKERFILE, "train.py": LOADS,
             "conf/own.yaml": own, **GROUPS}  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    ("given", "words", "verdict"),
    [
        ('config_path="conf"', "--config-name fit", "needed"),
        ('config_path="conf"', "-cn=other", "not-needed"),
        ('config_path="conf"', "", "unknown"),
        ('config_path="/app/conf"', "-cn fit", "needed"),
        ('config_path="/app/conf", config_name="fit"', "data=none", "not-needed"),
        ('config_path="/elsewhere/conf", config_name="fit"', "data=none", "unknown"),
    ],
)
def test_the_configuration_that_only_the_command_names(
    tmp_path: Path, given: str, words: str, verdict: str
) -> None:
    main = (MAIN % ALL).replace('config_path="conf", config_name="fit"', given)
    files = {**FILES, "compose.yaml": compose(f"python main.py {words}"), "main.py": main}
    assert need(tmp_path, files).verdict == verdict
