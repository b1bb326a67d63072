"""Programs whose workers and ranks are hard to see: none of them is called not needed."""

from __future__ import annotations

from pathlib import Path
from time import process_time

from shmlint.model.need import Need
from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

LOADER = "from torch.utils.data import DataLoader\n"
TRAIN = f"{LOADER}def train():\n    DataLoader(d, num_workers=8)\n"


def of_program(directory: Path, code: str, words: str = "", **more: str) -> Need:
    files = {"compose.yaml": compose(f"python fit.py {words}"), "Dockerfile": DOCKERFILE, "fit.py": code}
    return need(directory, {**files, **{name.replace("_py", ".py"): text for name, text in more.items()}})


@table(
    "code, verdict",
    [
        ("DataLoader(d, num_workers=8)", "likely"),
        ("DataLoader(d)", "not-needed"),
        ("def make() -> DataLoader:\n    x: DataLoader | None = None\n    return x\nmake()", "not-needed"),
        ("isinstance(x, (list, DataLoader))", "not-needed"),
        ("Loaders = dict[str, DataLoader]", "not-needed"),
        ("make = DataLoader\nmake(d, num_workers=8)", "likely"),
        ("kinds = {'a': DataLoader}\nkinds['a'](d, num_workers=8)", "unknown"),
        ("def kind():\n    return DataLoader\nkind()(d, num_workers=8)", "unknown"),
        ("class A:\n    def __init__(self):\n        self.make = DataLoader\nA().make(d, num_workers=8)", "unknown"),
        ("import torch\ngetattr(torch.utils.data, 'DataLoader')(d, num_workers=8)", "unknown"),
        ("class Own(DataLoader):\n    pass\nOwn(d, num_workers=8)", "likely"),
        ("class Own(DataLoader):\n    pass\nOwn(d)", "not-needed"),
        ("class Own(DataLoader):\n    def __init__(self, d):\n        super().__init__(d, num_workers=8)\nOwn(d)",
         "likely"),
    ],
)  # fmt: skip
def test_a_loader_by_another_name(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, LOADER + code + "\n").verdict == verdict


@table(
    "line, verdict",
    [
        ("cv2.imwrite('/dev/shm/a.png', image)", "unknown"),
        ("# cv2.imwrite('/dev/shm/a.png', image)", "not-needed"),
        ("pass  # '/dev/shm/a.png'\n    # '/dev/shm/b.png'", "unknown"),
    ],
)
def test_files_in_shared_memory(tmp_path: Path, line: str, verdict: str) -> None:
    code = f"import cv2\ndef main(image):\n    {line}\n    print(image)\nmain(1)\n"
    assert of_program(tmp_path, code).verdict == verdict


@table(
    "imports, verdict",
    [
        ("from parts import *", "unknown"), ("from parts.one import *", "unknown"),
        ("from parts import Own", "unknown"),
        ("import parts", "not-needed"),
    ],
)  # fmt: skip
def test_what_is_found_by_name_among_what_modules_pass_on(tmp_path: Path, imports: str, verdict: str) -> None:
    code = f"import sys\n{imports}\nkind = globals()[sys.argv[1]]\nkind(d).run()\n"
    own = f"{LOADER}class Own:\n    def __init__(self, d):\n        self.d = d\n"
    own += "    def run(self):\n        DataLoader(self.d, num_workers=8)\n"
    files = {"compose.yaml": compose("python fit.py Own"), "Dockerfile": DOCKERFILE, "fit.py": code}
    files |= {"parts/__init__.py": "from .one import *\n", "parts/one.py": own}
    assert need(tmp_path, files).verdict == verdict


BINDS = "from functools import partial\nmake = partial(DataLoader, %s)\n"


@table(
    "bound, code, verdict",
    [
        ("num_workers=8", "make(d)", "likely"),
        ("num_workers=8", "pass", "not-needed"),
        ("num_workers=8", "def f():\n    return make(d)\nf()", "likely"),
        ("num_workers=0", "make(d, batch_size=4)", "not-needed"),
        ("num_workers=8", "make(d, num_workers=0)", "not-needed"),
        ("num_workers=0", "make(d, num_workers=8)", "likely"),
        ("batch_size=4", "make(d)", "not-needed"),
        ("batch_size=4", "make(d, num_workers=8)", "likely"),
        ("d, 4, False", "make(None, None, 8)", "likely"),
        ("**{'num_workers': 8}", "make(d)", "likely"),
        # What may be called with other arguments, or under another name.
        ("num_workers=0", "make(d, **more)", "unknown"),
        ("num_workers=0", "make(*d, **more)", "unknown"),
        ("**more", "make(d)", "unknown"),
        ("num_workers=8", "run(make)", "unknown"),
        ("num_workers=8", "other = make\nother(d)", "unknown"),
        ("num_workers=0", "make = other(make)\nmake(d)", "unknown"),
        ("num_workers=0", "def f():\n    global make\n    make = other()\nmake(d)", "unknown"),
        ("num_workers=0", "def f(make):\n    make(d)\nf(DataLoader)", "unknown"),
        ("num_workers=0", "make(d)\nimport lib", "unknown"),
        ("num_workers=0", "try:\n    run()\nexcept Exception as make:\n    pass\nmake(d)", "unknown"),
        ("num_workers=0", "class A:\n    make = partial(DataLoader, num_workers=8)\nA().make(d)", "unknown"),
        ("num_workers=0", "class A:\n    many = partial(DataLoader, num_workers=8)\nA().many(d)", "unknown"),
        ("num_workers=0", "".join(f"m{n} = partial(DataLoader)\nm{n}(d)\n" for n in range(101)), "unknown"),
        ("num_workers=0", "make(d)\nimport uses", "unknown"),
        ("num_workers=0", "make(d)\nimport gets", "unknown"),
        ("num_workers=0", "make(d)\nimport sys\ngetattr(sys.modules[__name__], input())(d)", "unknown"),
    ],
)  # fmt: skip
def test_a_loader_whose_arguments_are_bound_first(tmp_path: Path, bound: str, code: str, verdict: str) -> None:
    lib = "def f():\n    from fit import make\n    make(d, **more)\nf()\n"
    uses, gets = "import fit\nfit.make(d, num_workers=8)\n", "import fit\ngetattr(fit, 'make')(d, num_workers=8)\n"
    code = f"{LOADER}{BINDS % bound}{code}\n"
    assert of_program(tmp_path, code, lib_py=lib, uses_py=uses, gets_py=gets).verdict == verdict


def test_a_function_and_a_class_whose_arguments_are_bound_first(tmp_path: Path) -> None:
    own = "class Own(DataLoader):\n    pass\ndef fit(n):\n    make = partial(Own, batch_size=4)\n"
    code = f"{LOADER}from functools import partial\n{own}    make(d, num_workers=n)\nrun = partial(fit, %s)\nrun()\n"
    assert of_program(tmp_path, code % "n=8").verdict == "likely"
    assert of_program(tmp_path, code % "0").verdict == "not-needed"


@table(
    "lib, verdict",
    [
        ("class Net:\n    def __init__(self, model):\n        self.net = model.encoder.train()", "not-needed"),
        ("class Net:\n    def __init__(self, model):\n        self.net = model.train(True)", "not-needed"),
        ("class Net:\n    def __init__(self, model):\n        model.train(data='x')", "needed"),
        ("from ultralytics import YOLO\nclass Net:\n    def __init__(self, model):\n        model.train()", "needed"),
        ("from ultralytics import YOLO\nclass Net:\n    def __init__(self, model):\n        model.model.train()",
         "not-needed"),
    ],
)
def test_a_mode_that_is_switched_beside_a_library_that_trains(tmp_path: Path, lib: str, verdict: str) -> None:
    code = "from ultralytics import YOLO\nfrom lib import Net\nYOLO('x.pt').predict('a')\nNet(make())\n"
    assert of_program(tmp_path, code, lib_py=f"import os\nos.environ.get('A')\n{lib}\n").verdict == verdict


@table(
    "code, lib, verdict",
    [
        ("from torch.utils.data import *\nDataLoader(d, num_workers=8)", "", "likely"),
        ("from lib import *\nDataLoader(d, num_workers=8)", "from torch.utils.data import DataLoader", "likely"),
        ("from lib import DataLoader\nDataLoader(d, num_workers=8)", "from torch.utils.data import *", "likely"),
        ("from lib import Loader\nLoader(d, num_workers=8)", LOADER + "class Loader(DataLoader):\n    pass", "likely"),
        ("from lib import *\nDataLoader(d, num_workers=8)", "class DataLoader:\n    pass", "not-needed"),
        ("from lib import DataLoader\nDataLoader(d, num_workers=8)", "class DataLoader:\n    pass", "not-needed"),
    ],
)
def test_a_loader_through_another_module(tmp_path: Path, code: str, lib: str, verdict: str) -> None:
    assert of_program(tmp_path, code + "\n", lib_py=lib + "\n").verdict == verdict


@table(
    "package, verdict",
    [
        ("from .train import train", "likely"),
        ("from lib.train import train", "likely"),
        ("from .train import train as other", "not-needed"),  # then it is the module, which is only imported
        ("", "not-needed"),
    ],
)
def test_a_function_that_a_package_puts_in_the_place_of_its_module(
    tmp_path: Path, package: str, verdict: str
) -> None:
    files = {"lib/__init___py": f"{package}\n", "lib/train_py": TRAIN}
    assert of_program(tmp_path, "from lib import train\ntrain()\n", **files).verdict == verdict


@table("copy, verdict", [(True, "likely"), (False, "unknown")])
def test_the_code_of_a_copied_package_tells_what_it_starts(tmp_path: Path, copy: bool, verdict: str) -> None:
    files = {"yolox/__init___py": "", "yolox/core/__init___py": "from .launch import launch\n"}
    files["yolox/core/launch_py"] = f"{TRAIN}def launch(main):\n    train()\n"
    code = "from yolox.core import launch\nlaunch(print)\n"
    assert of_program(tmp_path, code, **(files if copy else {})).verdict == verdict


def test_a_file_has_no_modules_inside(tmp_path: Path) -> None:
    """A directory of the same name without ``__init__.py`` is not looked into, as Python does."""
    files = {"lib_py": "def make():\n    pass\n", "lib/make_py": TRAIN + "train()\n"}
    assert of_program(tmp_path, "from lib import make\nmake()\n", **files).verdict == "not-needed"


@table(
    "code, verdict",
    [
        ("n = 0\nn += 8\nDataLoader(d, num_workers=n)", "unknown"),
        ("n = 0\ndef more():\n    global n\n    n = 8\nmore()\nDataLoader(d, num_workers=n)", "unknown"),
        ("def f():\n    n = 0\n    n += 8\n    DataLoader(d, num_workers=n)\nf()", "unknown"),
        ("n = 8\nn //= 2\nDataLoader(d, num_workers=n)", "likely"),
        ("o = {}\no['num_workers'] = 8\nDataLoader(d, **o)", "likely"),
        ("o = {}\no.update(num_workers=8)\nDataLoader(d, **o)", "likely"),
        ("o = {}\no.update(others)\nDataLoader(d, **o)", "unknown"),
        ("m = {'batch_size': 4}\no = {}\no.update(m)\nDataLoader(d, **o)", "not-needed"),
        ("m = {}\nm['num_workers'] = int(input())\no = {}\no.update(m)\nDataLoader(d, **o)", "unknown"),
        ("m = {}\ndef f():\n    m['num_workers'] = 8\nf()\no = {}\no.update(m)\nDataLoader(d, **o)", "unknown"),
        ("o = {'batch_size': 4}\nDataLoader(d, **o)", "not-needed"),
        ("def f(**o):\n    o.setdefault('num_workers', 8)\n    DataLoader(d, **o)\nf()", "unknown"),
        ("def f():\n    o = {}\n    o['num_workers'] = 8\ndef g():\n    o = {}\n    DataLoader(d, **o)\ng()",
         "not-needed"),
    ],
)  # fmt: skip
def test_a_number_of_workers_that_changes(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, LOADER + code + "\n").verdict == verdict


EXECUTES = "def call(name='draw'):\n    exec(f'got = {name}(1)')\ndef draw(x): pass\ndef load(x): train()\n"


@table(
    "code, words, verdict",
    [
        ("import sys\nglobals()[sys.argv[1]]()", "train", "unknown"),
        ("import sys\ngetattr(sys.modules[__name__], sys.argv[1])()", "train", "unknown"),
        ("def show(a, b):\n    for name in a:\n        print(locals()[name])\nshow(['b'], 1)", "", "not-needed"),
        ("def show(a):\n    def inner():\n        train()\n    locals()[a]()\nshow('inner')", "", "unknown"),
        ("import sys\nlocals()[sys.argv[1]]()", "train", "unknown"),
        (f"{EXECUTES}call()\ncall('draw')", "", "not-needed"),
        (f"{EXECUTES}call()\ncall('load')", "", "likely"),
        ("def call(name):\n    exec(f'got = {name}()')\ncall(input())", "", "unknown"),
        ("import os\ndef call(name):\n    exec(f'os.{name}(\"python x.py\")')\ncall('system')", "", "unknown"),
        ("exec('import torch')", "", "unknown"),
        ("exec('DataLoader(d, num_workers=8)')", "", "unknown"),
        ("exec('eval(x)')", "", "unknown"),
        ("import typer\napp = typer.Typer()\napp.command()(train)\napp()", "", "likely"),
        ("import typer\napp = typer.Typer()\n@app.command()\ndef run():\n    train()\napp()", "", "likely"),
        ("import click\n@click.group()\ndef cli(): pass\n@cli.command()\ndef run():\n    train()\n"
         "@cli.command()\ndef show(): pass\ncli()", "run", "likely"),
        ("import click\n@click.group()\ndef cli(): pass\n@cli.command()\ndef run():\n    train()\n"
         "@cli.command()\ndef show(): pass\ncli()", "show", "not-needed"),
        ("print(1)", "", "not-needed"),
    ],
)  # fmt: skip
def test_functions_that_are_found_by_name(tmp_path: Path, code: str, words: str, verdict: str) -> None:
    assert of_program(tmp_path, TRAIN + code + "\n", words).verdict == verdict


FOUND = "import sys\nglobals()[sys.argv[1]]()\n"
MAKES = "def make(d, n=0):\n    DataLoader(d, num_workers=n)\nmake(d)\n"


@table(
    "code, verdict",
    [
        # What only has the last word of a call that matters
        (f"def f():\n    list(range(3))\n{FOUND}", "not-needed"),
        (f"def f(a):\n    a.get(1)\n    a.fit()\n{FOUND}", "not-needed"),
        (f"import torch\ndef f(a):\n    torch.from_numpy(a)\n{FOUND}", "not-needed"),
        (f"import pandas, torch\ndef f(a):\n    pandas.read_csv(a).get(1)\n{FOUND}", "not-needed"),
        (f"import numpy, torch\ndef f(a):\n    numpy.put(a, 1)\n{FOUND}", "not-needed"),
        (f"import numpy, ray\ndef f(a):\n    numpy.range(3)\n{FOUND}", "not-needed"),
        (f"import ray\ndef f():\n    ray.data.range(3)\n{FOUND}", "unknown"),
        (f"import ray\ndef f(a):\n    a.range(3)\n{FOUND}", "unknown"),
        (f"def f(a):\n    import ray\n    a.range(3)\n{FOUND}", "unknown"),
        (f"try:\n    import torch as m\nexcept ImportError:\n    import ray as m\ndef f():\n    m.put(1)\n{FOUND}",
         "unknown"),
        (f"import torch\ndef f():\n    torch.distributed.init_process_group()\n{FOUND}", "unknown"),
        (f"import torch\nmp = torch.multiprocessing\ndef f():\n    mp.spawn(g)\n{FOUND}", "unknown"),
        (f"import torch, multiprocessing\ndef f(a):\n    multiprocessing.Queue().put(a)\n{FOUND}", "unknown"),
        (f"def f(a):\n    a.share_memory_()\n{FOUND}", "unknown"),
        (f"def f(a):\n    a.make(num_workers=8)\n{FOUND}", "unknown"),
        # What is found may be called with anything.
        (f"{MAKES}import sys\nglobals()[sys.argv[1]](d, 8)", "unknown"),
        (f"{MAKES}eval(input())(d, 8)", "unknown"),
        (f"{MAKES}import sys\ngetattr(sys.modules[__name__], input())(d, 8)", "unknown"),
        (f"{MAKES}made = eval(input())\nmade(d, 8)", "unknown"),
        (f"{MAKES}made = [eval(input())]\nmade[0](d, 8)", "unknown"),
        (f"{MAKES}made = globals()\nmade[input()](d, 8)", "unknown"),
        (f"{MAKES}def find():\n    return eval(input())\nfind()(d, 8)", "unknown"),
        (f"{MAKES}def run(made):\n    made(d, 8)\nrun(eval(input()))", "unknown"),
        ("import parts\nparts.make(d)\ngetattr(parts, input())(d, 8)", "unknown"),
        (f"{MAKES}eval(input(), {{'__builtins__': {{}}}}, {{}})(d, 8)", "not-needed"),
        (f"{MAKES}eval(input(), {{'__builtins__': None}})(d, 8)", "not-needed"),
        (f"{MAKES}eval(input(), {{'__builtins__': {{}}, 'x': DataLoader}})(d, 8)", "unknown"),
        (f"{MAKES}eval(input(), {{'__builtins__': {{}}}}, locals())(d, 8)", "unknown"),
        (f"{MAKES}eval(input(), {{}})(d, 8)", "unknown"),
        (f"{MAKES}size = eval(input())\nprint(2 * eval(input()), int(eval(input())))", "not-needed"),
        (f"class A:\n    def go(self):\n        getattr(self, input())()\n{MAKES}A().go()", "not-needed"),
    ],
)  # fmt: skip
def test_what_is_found_by_name_among_much_else(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, f"{LOADER}{code}\n", parts_py=LOADER + MAKES).verdict == verdict


RUNS = "exec(open('conf.py').read())\n"
RUNS_NAMED = "import sys\nfor a in sys.argv[1:]:\n    if '=' not in a:\n        c = a\n        exec(open(c).read())\n"
ASKED = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--conf'%s)\na = p.parse_args()\n"
RUNS_ASKED = f"{ASKED}with open(a.conf) as f:\n    exec(compile(f.read(), a.conf, 'exec'))\n"
RUNS_BESIDE = "import os\nexec(open(os.path.join(os.path.dirname(__file__), 'conf.py')).read(), {})\n"
RUNS_GIVEN = "def run(path):\n    with open(path) as f:\n        exec(f.read(), {})\n"
SETS = "import sys\nfor a in sys.argv[1:]:\n    k, v = a.split('=')\n    globals()[k] = int(v)\n"


@table(
    "code, words, conf, verdict",
    [
        (f"{RUNS}DataLoader(d)", "", "lr = 1", "not-needed"),
        (f"{RUNS}DataLoader(d)", "", f"{LOADER}DataLoader(d, num_workers=8)", "likely"),
        (f"{RUNS}DataLoader(d)", "", "DataLoader(d, num_workers=8)", "unknown"),
        (f"{RUNS}DataLoader(d)", "", "import nobodys", "unknown"),
        (f"{RUNS}make()", "", TRAIN.replace("train", "make"), "likely"),
        (f"n = 0\n{RUNS}DataLoader(d, num_workers=n)", "", "n = 8", "unknown"),
        (f"n = 0\n{RUNS}DataLoader(d, num_workers=n)", "", "m = 8", "not-needed"),
        (f"n = 0\n{RUNS}DataLoader(d, num_workers=n)", "n=8", SETS, "unknown"),
        (f"{RUNS}train()", "", "import sys\nglobals()[sys.argv[1]]()", "likely"),
        (RUNS, "train", "import sys\nglobals()[sys.argv[1]]()", "unknown"),
        (f"{RUNS.replace('conf', 'gone')}DataLoader(d)", "", "", "unknown"),
        (f"{RUNS_NAMED}DataLoader(d)", "conf.py --lr=3", "lr = 1", "not-needed"),
        (f"{RUNS_NAMED}DataLoader(d)", "", "lr = 1", "not-needed"),
        (f"{RUNS_NAMED}DataLoader(d)", "gone.py", "lr = 1", "unknown"),
        (f"{RUNS_NAMED}DataLoader(d)", "$$CONF", "lr = 1", "unknown"),
        (f"{RUNS_NAMED}DataLoader(d)", "conf.py", f"{LOADER}DataLoader(d, num_workers=8)", "likely"),
        (f"{RUNS_ASKED % ''}DataLoader(d)", "--conf conf.py", "lr = 1", "not-needed"),
        (RUNS_ASKED % ", default='conf.py'" + "DataLoader(d)", "", "lr = 1", "not-needed"),
        (f"{RUNS_ASKED % ''}DataLoader(d)", "--conf $$CONF", "lr = 1", "unknown"),
        (f"{RUNS_BESIDE}DataLoader(d)", "", "version = '1'", "not-needed"),
        (f"{RUNS_BESIDE.replace('dirname(__file__)', 'sep')}DataLoader(d)", "", "version = '1'", "unknown"),
        (f"{RUNS_GIVEN}run('conf.py')\nDataLoader(d)", "", "lr = 1", "not-needed"),
        (f"{RUNS_GIVEN}run(input())\nDataLoader(d)", "", "lr = 1", "unknown"),
    ],
)  # fmt: skip
def test_a_file_that_is_executed(tmp_path: Path, code: str, words: str, conf: str, verdict: str) -> None:
    text = f"{TRAIN}{code}\n" if "train" in f"{code} {words}" else f"{LOADER}{code}\n"
    found = of_program(tmp_path, text, words, conf_py=f"{conf}\n")
    assert found.verdict == verdict, found.stopped


FOUND = "class Own(DataLoader):\n    pass"


@table(
    "code, lib, verdict",
    [
        ("getattr(lib, name())(d, **c)", FOUND, "unknown"),
        ("getattr(lib, name())(d, **c)", f"{FOUND}\nclass More(Own):\n    pass", "unknown"),
        ("getattr(lib, name())(d, **c)", "class Own(dict):\n    pass", "not-needed"),
        ("make(lib, name())", FOUND, "unknown"),
        ("make(module=lib, name=name())", FOUND, "unknown"),
        ("make(lib, name())", "def own(d):\n    DataLoader(d, num_workers=8)", "unknown"),
        ("make(lib, name())", "class Own(dict):\n    pass", "not-needed"),
    ],
)
def test_a_class_of_a_module_that_is_found_by_name(tmp_path: Path, code: str, lib: str, verdict: str) -> None:
    make = "def make(module, name):\n    return getattr(module, name)(**{})\n"
    modules = {"lib_py": LOADER + lib + "\n", "make_py": LOADER + make}
    assert of_program(tmp_path, f"import lib\nfrom make import make\n{code}\n", **modules).verdict == verdict



@table(
    "code, verdict, stopped",
    [
        ("import hydra\nhydra.utils.instantiate(x)", "unknown",
         "what `hydra.utils.instantiate` starts is not followed"),
        ("import runpy\nrunpy.run_path('x.py')", "unknown", "what `runpy.run_path` starts is not followed"),
        ("import gin\ngin.parse_config_file('x')", "unknown", "what `gin.parse_config_file` starts is not followed"),
        ("from lightning.pytorch.cli import LightningCLI as C\nC(M)", "likely",
         "what `lightning.pytorch.cli.LightningCLI` starts is not followed"),
        ("import torch.multiprocessing as mp\nmp.get_context('spawn').Queue()", "unknown",
         "what `torch.multiprocessing.get_context` starts is not followed"),
        # Texts and bytes go through pipes, tensors through shared memory.
        ("import torch.multiprocessing as mp\nmp.Queue().put('text')", "unknown",
         "what is put into `torch.multiprocessing.Queue` is not followed"),
        ("from torch.multiprocessing import SimpleQueue\nSimpleQueue()", "unknown",
         "what is put into `torch.multiprocessing.SimpleQueue` is not followed"),
        ("import torch, torch.multiprocessing as mp\nmp.Queue().put(torch.zeros(9).share_memory_())", "likely",
         "what is put into `torch.multiprocessing.Queue` is not followed"),
        ("import ray\n@ray.remote\ndef f(): pass", "unknown", "what is done with `ray.remote` is not followed"),
        ("from torch_geometric.loader import IBMBNodeLoader\nIBMBNodeLoader(d, num_workers=8)", "unknown",
         "what `torch_geometric.loader.IBMBNodeLoader` does with `num_workers` is unknown"),
        ("from torch_geometric.loader import NeighborLoader\nNeighborLoader(d, num_workers=0)", "not-needed", ""),
        ("from tianshou.env import ShmemVectorEnv as V\nV([make])", "unknown",
         "what `tianshou.env.ShmemVectorEnv` starts is not followed"),
        ("from tianshou.env import DummyVectorEnv as V\nV([make])", "not-needed", ""),
        ("from speechbrain.core import Brain\nclass Own(Brain): pass\nOwn().fit(range(2), d)", "unknown",
         "what `speechbrain.core.Brain` starts is not followed"),
        ("from speechbrain.inference.ASR import EncoderASR\nEncoderASR.from_hparams('x')", "not-needed", ""),
        ("from hyperpyyaml import load_hyperpyyaml\nload_hyperpyyaml(f)", "unknown",
         "what `hyperpyyaml.load_hyperpyyaml` starts is not followed"),
        ("import faster_whisper\nfaster_whisper.WhisperModel('m', num_workers=4)", "not-needed", ""),
        ("open('/dev/shm/x', 'wb').write(b)", "unknown", "it uses files in /dev/shm"),
        ("from detectron2.engine import launch\nlaunch(main, 4)", "needed", ""),
        ("from fastai.vision.all import *\nDataBlock(b).dataloaders('x', bs=64)", "likely", ""),
        ("from fastai.vision.all import *\nDataBlock(b).dataloaders('x', num_workers=0)", "not-needed", ""),
        ("from ultralytics import YOLO\nm = YOLO('x.pt')\nm.val(data='x')", "needed", ""),
        ("from ultralytics import YOLO\nm = YOLO('x.pt')\nm.predict('x')", "not-needed", ""),
        ("from ultralytics import RTDETR\nm = RTDETR('x.pt')\nm.train(data='x')", "needed", ""),
        ("from ultralytics import RTDETR, YOLO\nkind = RTDETR if big() else YOLO\nkind('x').train(data='x')",
         "likely", ""),
        ("from ultralytics import YOLO\nkinds = {'a': YOLO}\nkinds['a']('x').train(data='x', workers=0)",
         "not-needed", ""),
        ("import ultralytics, sys\nm = getattr(ultralytics, sys.argv[1])('x')\nm.train(data='x')", "unknown",
         "how `m.train` loads its data is unknown"),
        ("from ultralytics.models.yolo.detect import DetectionTrainer\nt = DetectionTrainer()\nt.train()", "unknown",
         "what `ultralytics.models.yolo.detect.DetectionTrainer` starts is not followed"),
        ("from ultralytics.models import yolo\nt = yolo.segment.SegmentationTrainer()\nt.train()", "unknown",
         "what `ultralytics.models.yolo.segment.SegmentationTrainer` starts is not followed"),
        ("from ultralytics.models.yolo.obb import OBBValidator\nOBBValidator(args=a)(model=m)", "unknown",
         "what `ultralytics.models.yolo.obb.OBBValidator` starts is not followed"),
        ("from ultralytics.models.yolo.detect import DetectionPredictor\nDetectionPredictor().predict_cli()",
         "not-needed", ""),
        ("from ultralytics.engine.tuner import Tuner\nTuner(args=a)(iterations=9)", "unknown",
         "what `ultralytics.engine.tuner.Tuner` starts is not followed"),
        ("from ultralytics.cfg import entrypoint\nentrypoint('detect train')", "unknown",
         "what `ultralytics.cfg.entrypoint` starts is not followed"),
        ("from ultralytics.models.yolo import YOLO\nm = YOLO('x.pt')\nm.train(data='x')", "needed", ""),
        ("from ultralytics import NAS\nm = NAS('x.pt')\nm.val(data='x')", "needed", ""),
        ("from ultralytics import YOLO\nm = YOLO('x.pt')\nm.train(data='x', imgsz=32, batch=4)", "not-needed", ""),
        ("from ultralytics import YOLO\nm = YOLO('x.pt')\nm.train(data='x', imgsz=1280, batch=1, workers=1)",
         "needed", ""),
        ("from ultralytics import YOLO\nYOLO('x.pt').train(cfg='other.yaml')", "likely", ""),
        ("from ultralytics import YOLO\nYOLO('x.pt').train(cfg=None)", "needed", ""),
        ("from ultralytics import YOLO\nYOLO('x.pt').train(cfg='other.yaml', workers=0)", "not-needed", ""),
        ("from ultralytics.data import build_dataloader\nbuild_dataloader(d, 16, 8)", "likely", ""),
        ("from ultralytics import YOLO\nimport sys\nm = YOLO('x.pt')\ngetattr(m, sys.argv[1])(data='x')", "unknown",
         "what is done with `ultralytics.YOLO.train` is not followed"),
        ("from ultralytics import YOLO\nclass Own(YOLO):\n    def train(self, **kw):\n"
         "        return super().train(**kw)\nOwn('x.pt').train(data='x')", "unknown",
         "how `?.train` loads its data is unknown"),
        ("from detectron2.data import build_detection_train_loader\nbuild_detection_train_loader(cfg)", "likely",
         ""),
        ("from fastai.vision.all import *\nSegmentationDataLoaders.from_label_func(p, bs=8)", "likely", ""),
        ("from fastai.vision import *\nImageDataBunch.from_folder(p, bs=8)", "likely", ""),
        ("from fastai.vision import *\nImageList.from_folder(p).split_none().databunch(bs=8)", "likely", ""),
        ("from mmengine.runner import Runner\nRunner.build_dataloader(cfg)", "unknown",
         "what `mmengine.runner.Runner.build_dataloader` starts is not followed"),
        ("from monai.bundle import ConfigParser\nConfigParser()", "unknown",
         "what `monai.bundle.ConfigParser` starts is not followed"),
        ("from ray.rllib.algorithms.ppo import PPOConfig\nPPOConfig().build().train()", "needed", ""),
        ("import ray.data\nray.data.read_images('x')", "needed", ""),
        ("import deepspeed\ndeepspeed.initialize(model=m, training_data=d)", "likely", ""),
        ("import deepspeed\ndeepspeed.initialize(model=m)", "not-needed", ""),
        ("from lmdeploy import PytorchEngineConfig\nPytorchEngineConfig(tp=2)", "needed", ""),
        ("from torch_geometric.loader import IBMBBatchLoader\nkw = dict(num_workers=8)\n"
         "IBMBBatchLoader(d, **kw)", "unknown",
         "what `torch_geometric.loader.IBMBBatchLoader` does with `num_workers` is unknown"),
        ("from torch_geometric.loader import ShaDowKHopSampler\nkw = dict(batch_size=8)\n"
         "ShaDowKHopSampler(d, **kw)", "not-needed", ""),
        ("from ultralytics.utils import ops\nnet = make()\nnet.train()\nnet.train(mode=True)", "not-needed", ""),
        ("import sklearn\nnet = sklearn.make()\nnet.train(data='x')", "not-needed", ""),
        ("from transformers import TrainingArguments\nclass Own(TrainingArguments):\n    pass\n"
         "Own('o', dataloader_num_workers=4)", "likely", ""),
    ],
)  # fmt: skip
def test_calls_that_start_what_is_elsewhere(tmp_path: Path, code: str, verdict: str, stopped: str) -> None:
    found = of_program(tmp_path, code + "\n")
    assert (found.verdict, found.stopped.partition(" (fit.py:")[0]) == (verdict, stopped)


PASSED = "its processes exchange tensors in a way that is not followed"


@table(
    "code, stopped",
    [
        ("import multiprocessing as mp\nq = mp.Queue()\nq.put(torch.zeros(9))", PASSED),
        ("from multiprocessing import get_context\nc = get_context()\nq = c.Queue()\nq.put((0, torch.ones(9)))",
         PASSED),
        ("import multiprocessing as mp\nq = mp.Queue()\nx = [torch.zeros(9)[0] + 1]\nq.put({'x': x})", PASSED),
        ("import multiprocessing as mp\nq = mp.Queue()\nq.put(torch.zeros(9).cpu().numpy())", ""),
        ("import multiprocessing as mp\nq = mp.Queue()\nq.put(torch.zeros(9).shape)", ""),
        ("import multiprocessing as mp\nq = mp.Queue()\nq.put('name')", ""),
        ("import queue\nq = queue.Queue()\nq.put(torch.zeros(9))", ""),
        ("from multiprocessing import Pool\ndef f(x):\n    y = torch.load(x)\n    return y * 2\nPool().map(f, a)",
         PASSED),
        ("from multiprocessing import Pool\ndef f(x):\n    y = torch.load(x)\n    return y.item()\nPool().map(f, a)",
         ""),
        ("from multiprocessing import Pool\ndef f(x):\n    torch.save(x, 'a')\nPool().map(f, a)", ""),
        ("import torchaudio\nfrom multiprocessing import Pool\ndef f(x):\n    wave, rate = torchaudio.load(x)\n"
         "    return wave\nwith Pool(8) as pool:\n    pool.map(f, a)", PASSED),
        ("import torchaudio\nfrom multiprocessing import Pool\ndef f(x):\n    wave, rate = torchaudio.load(x)\n"
         "    return rate\nwith Pool(8) as pool:\n    pool.map(f, a)", ""),
        ("from multiprocessing.pool import ThreadPool\ndef f(x):\n    return torch.load(x)\nThreadPool().map(f, a)",
         ""),
        ("from concurrent.futures import ProcessPoolExecutor as E\nfrom own import f\nE().submit(f, 1)", PASSED),
        ("from concurrent.futures import ThreadPoolExecutor as E\nfrom own import f\nE().submit(f, 1)", ""),
    ],
)  # fmt: skip
def test_tensors_that_processes_exchange(tmp_path: Path, code: str, stopped: str) -> None:
    own = "import torch\ndef f(x):\n    return {'x': torch.zeros(x)}\n"
    found = of_program(tmp_path, f"import torch\n{code}\n", own_py=own)
    assert found.stopped.partition(" (fit.py:")[0].partition(" (own.py:")[0] == stopped
    assert found.verdict == ("unknown" if stopped else "not-needed")


SWEPT = (
    "import wandb\nfrom torch.utils.data import DataLoader\nfrom torchvision import datasets, transforms as T\n"
    "d = datasets.ImageFolder('/d', T.Compose([T.Resize((224, 224)), T.ToTensor()]))\ndef main():\n"
    "    wandb.init(config=dict(bs=2))\n    for x in DataLoader(d, batch_size=BATCH, num_workers=4): x.cuda()\n"
)
SWEEP = "wandb.agent(wandb.sweep({'parameters': {'KEY': {'values': [64, 128]}}}), main)\n"


@table(
    "code, verdict",
    [
        (SWEPT.replace("BATCH", "wandb.config.bs") + SWEEP.replace("KEY", "bs"), "likely"),
        (SWEPT.replace("BATCH", "wandb.config['bs']") + SWEEP.replace("KEY", "bs"), "likely"),
        (SWEPT.replace("BATCH", "wandb.config.bs") + SWEEP.replace("KEY", "lr"), "not-needed"),
        (SWEPT.replace("BATCH", "2") + SWEEP.replace("KEY", "bs"), "not-needed"),
        (SWEPT.replace("BATCH", "wandb.config.bs") + "wandb.agent('me/x/abc', main)\n", "likely"),
        (SWEPT.replace("BATCH", "wandb.config.bs") + "main()\n", "not-needed"),
    ],
)  # fmt: skip
def test_what_a_sweep_varies(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, code).verdict == verdict


OWN = "class Own:\n    def __getitem__(self, i):\n        return self.item(i)\n    def item(self, i):\n        {}\n"
SMALL = "from torchvision.transforms import Resize\nt = Resize(32)\nDataLoader(d, batch_size=16, num_workers=2)\n"
VOLUMES = "DataLoader(Spacingd(keys), batch_size=2, num_workers=4)\n"


@table(
    "code, verdict",
    [
        (SMALL, "not-needed"),
        (SMALL + OWN.format("return self.resize(Image.open(i)), [self.label(x) for x in i]"), "not-needed"),
        (SMALL + OWN.format("return stack([self.resize(f) for f in self.files])"), "likely"),
        (SMALL + OWN.format("return {k: Image.open(f) for k, f in self.files}"), "likely"),
        (SMALL + OWN.format("for f in i:\n            all.append(self.t(f))"), "likely"),
        (SMALL + OWN.format("for f in i:\n            boxes.append(int(f))"), "not-needed"),
        (SMALL + OWN.format("return cv2.VideoCapture(i)"), "likely"),
        (SMALL + "from torchvision.transforms import TenCrop\nTenCrop(32)\n", "likely"),
        (SMALL + "import decord\n", "likely"),
        ("from torchvision.datasets import MNIST\nDataLoader(MNIST(), batch_size=64, num_workers=4)\n"
         + OWN.format("return self.other[i]"), "not-needed"),
        ("from torchvision.datasets import MNIST\nMNIST()\nDataLoader(Own(), batch_size=64, num_workers=4)\n"
         + OWN.format("return numpy.load(i)"), "likely"),
        ("from monai.transforms import Resized\nResized(['a', 'b'], spatial_size=(64, 64, 64))\n" + VOLUMES,
         "not-needed"),
        ("from monai.transforms import Resized\nResized(['a', 'b', 'c', 'd'], (64, 64, 64))\n" + VOLUMES, "needed"),
        ("from monai.transforms import RandSpatialCropSamplesd as R\nR(['a'], (64, 64, 64), num_samples=2)\n"
         + VOLUMES, "likely"),
        ("from monai.transforms import RandSpatialCropSamplesd as R\nR(['a'], (64, 64, 64), num_samples=8)\n"
         + VOLUMES, "needed"),
    ],
)  # fmt: skip
def test_items_that_may_have_more_images_than_one(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, LOADER + code).verdict == verdict


@table(
    "code",
    [
        "from multiprocessing import Queue\nq = Queue()\ndef f():\n" + "    x = x + x\n" * 60 + "    q.put(x)\nf()",
        "p = 'x'\n" + "p = p\n" * 100 + "exec(open(p).read())",
        "import sys\np = sys.argv[1]\n" + "p = p\n" * 100 + "exec(open(p).read())",
    ],
)
def test_a_name_that_is_made_of_itself_is_looked_at_once(tmp_path: Path, code: str) -> None:
    before = process_time()
    of_program(tmp_path, f"import torch\n{code}\n")
    assert process_time() - before < 5


def test_modules_that_import_everything_of_each_other_are_each_looked_into_once(tmp_path: Path) -> None:
    every = "".join(f"from m{number} import *\n" for number in range(14))
    modules = {f"m{number}_py": f"{every}def f{number}(x):\n    return [x, other]\n" for number in range(14)}
    modules["m13_py"] += LOADER + "def load(x):\n    return DataLoader(x, num_workers=8)\n"
    before = process_time()
    assert of_program(tmp_path, f"{every}f0(name)\nload(other)\n", **modules).verdict == "likely"
    assert process_time() - before < 20


CROPS = f"{LOADER}from torchvision.transforms import RandomResizedCrop\nimport argparse, sys\n"
MANY = "DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=8)"


DRY = f"def fit(dry=True):\n    if dry:\n        return\n    {MANY}\nif __name__ == '__main__':\n"


@table(
    "code, verdict",
    [
        (MANY, "needed"),
        (f"sys.exit()\n{MANY}", "not-needed"),
        (f"raise SystemExit\n{MANY}", "not-needed"),
        (f"raise ValueError('no')\n{MANY}", "not-needed"),
        (f"assert False\n{MANY}", "not-needed"),
        (f"assert ready()\n{MANY}", "needed"),
        (f"while True:\n    print(1)\n{MANY}", "not-needed"),
        (f"while True:\n    if ready():\n        break\n{MANY}", "needed"),
        (f"while True:\n    for x in y:\n        break\n{MANY}", "not-needed"),
        (f"if ready():\n    sys.exit(0)\n{MANY}", "likely"),
        (f"if not ready():\n    sys.exit('not ready')\n{MANY}", "needed"),
        (f"if not ready():\n    sys.exit(1)\n{MANY}", "needed"),
        (f"if not ready():\n    raise ValueError('not ready')\n{MANY}", "needed"),
        (f"if ready():\n    sys.exit(0)\nelse:\n    sys.exit(1)\n{MANY}", "not-needed"),
        (f"try:\n    run()\n    sys.exit()\nexcept ValueError:\n    pass\n{MANY}", "likely"),
        (f"try:\n    run()\nexcept ValueError:\n    sys.exit(1)\n{MANY}", "needed"),
        (f"try:\n    run()\nfinally:\n    sys.exit()\n{MANY}", "not-needed"),
        (f"with torch() as t:\n    sys.exit()\n{MANY}", "likely"),
        (f"with suppress(ValueError):\n    raise ValueError\n{MANY}", "likely"),
        (f"with suppress(StopIteration):\n    while True:\n        next(y)\n{MANY}", "likely"),
        (f"for x in y:\n    with lock:\n        break\n{MANY}", "needed"),
        (f"for x in y:\n    if x:\n        break\nelse:\n    raise ValueError\n{MANY}", "needed"),
        (f"for x in y:\n    if x:\n        break\nelse:\n    sys.exit()\n{MANY}", "likely"),
        (f"while ready():\n    if x:\n        break\nelse:\n    {MANY}", "likely"),
        (f"for x in y:\n    print(x)\nelse:\n    sys.exit()\n{MANY}", "not-needed"),
        (f"def exit():\n    print(1)\nexit()\n{MANY}", "needed"),
        (f"def f(exit):\n    exit()\n    {MANY}\nf(print)", "needed"),
        (f"def f():\n    quit = print\n    quit()\n    {MANY}\nf()", "needed"),
        (f"import cfg\ncfg.DRY = ready()\nif cfg.DRY:\n    sys.exit()\n{MANY}", "likely"),
        (f"import cfg\nif cfg.DRY:\n    sys.exit()\n{MANY}", "not-needed"),
        (f"from sys import exit as leave\nleave()\n{MANY}", "not-needed"),
        (f"def f():\n    return\n    {MANY}\nf()", "not-needed"),
        (f"def f():\n    if ready():\n        return\n    {MANY}\nf()", "likely"),
        (f"def f():\n    if ready():\n        return 1\n    else:\n        print(2)\n    {MANY}\nf()", "likely"),
        (f"def f():\n    for x in y:\n        if x:\n            return x\n    {MANY}\nf()", "likely"),
        (f"def f():\n    while True:\n        {MANY}\n        if ready():\n            return\nf()", "needed"),
        (f"def f():\n    if ready():\n        return\nf()\n{MANY}", "needed"),
        (f"for x in y:\n    if x:\n        continue\n    {MANY}", "needed"),
        (f"for x in y:\n    break\n{MANY}", "needed"),
        (f"def f():\n  for x in y:\n    if x:\n      return\n    else:\n      continue\n  {MANY}\nf()", "likely"),
        # What a function is given decides where the program's own file calls it once.
        (f"{DRY}    fit(False)", "needed"), (f"{DRY}    fit(dry=True)", "not-needed"),
        (f"{DRY}    fit()", "not-needed"), (f"{DRY}    fit(ready())", "likely"),
        (f"{DRY}    fit(True)\n    fit(False)", "likely"),
        (f"{DRY}    fit(True)\n    again = fit\n    again(False)", "likely"),
        (f"{DRY}    fit(True)\n    call(fit)", "likely"), (f"@twice\n{DRY}    fit(True)", "likely"),
        (f"for x in sys.argv[1:]:\n    {MANY}", "likely"),
        (f"match y:\n    case 1:\n        sys.exit()\n{MANY}", "likely"),
        (f"x = {MANY} if ready() else None", "likely"),
        (f"x = ready() and {MANY}", "likely"),
        (f"x = False and ready() and {MANY}", "not-needed"),
        (f"x = {MANY} if True else None", "needed"),
        (f"x = None if True else {MANY}", "not-needed"),
        (f"x = lambda: {MANY}", "likely"),
        (f"def f():\n    {MANY}\nx = f() if ready() else None", "likely"),
        (f"x = [{MANY} for _ in y]", "needed"),
    ],
)
def test_code_that_may_not_run_makes_no_error(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, f"{CROPS}{code}\n", cfg_py="DRY = True\n").verdict == verdict


@table("words, verdict", [("", "likely"), ("a", "needed")])
def test_a_loop_over_the_words_of_the_command(tmp_path: Path, words: str, verdict: str) -> None:
    assert of_program(tmp_path, f"{CROPS}for x in sys.argv[1:]:\n    {MANY}\n", words).verdict == verdict


USES = "    def load(self):\n        DataLoader(d, batch_size=64, num_workers=self.workers)\n"


@table(
    "code, verdict",
    [
        (f"class A:\n    workers = 0\n{USES}A().load()", "not-needed"),
        (f"class A:\n    workers = 0\n{USES}class B(A):\n    workers = 8\nB().load()", "likely"),
        (f"class A:\n    workers = 8\nclass B(A):\n    workers = 0\n{USES}B().load()", "not-needed"),
        (f"class A:\n    workers = 8\nclass B(A):\n{USES}B().load()", "likely"),
        (f"class A:\n    workers = 0\nclass B(A):\n{USES}B().load()", "not-needed"),
        (f"class A:\n    def __init__(self):\n        self.workers = 0\n{USES}"
         "class B(A):\n    def __init__(self):\n        super().__init__()\n        self.workers = 8\nB().load()",
         "likely"),
        (f"class A:\n    def __init__(self, workers=0):\n        self.workers = workers\n{USES}"
         "class B(A):\n    def __init__(self):\n        super().__init__(workers=8)\nB().load()", "likely"),
        (f"class A:\n    def __init__(self, workers=0):\n        self.workers = workers\n{USES}"
         "class B(A):\n    pass\nB(8).load()", "likely"),
        (f"class A:\n    def __init__(self, workers=8):\n        self.workers = workers\n{USES}"
         "class B(A):\n    pass\nB(0).load()", "not-needed"),
        (f"class A:\n    def __init__(self):\n        self.workers = 0\n"
         f"    def more(self):\n        self.workers = 8\n{USES}a = A()\na.more()\na.load()", "likely"),
        (f"class A:\n    def __init__(self):\n        self.workers = 0\n"
         f"    def more(self, n):\n        self.workers = ask()\n{USES}a = A()\na.more(1)\na.load()", "unknown"),
        (f"class A:\n    workers = 0\n{USES}class M:\n    workers = 8\nclass B(M, A):\n    pass\nB().load()", "likely"),
        (f"class A:\n    workers = 0\n{USES}class B(A[int]):\n    workers = 8\nB().load()", "likely"),
        (f"class A:\n    workers = 0\n{USES}class B(A):\n    @property\n    def workers(self):\n        return 8\n"
         "B().load()", "unknown"),
        (f"class A:\n    workers = 0\n{USES}A.workers = 8\nA().load()", "unknown"),
        (f"class A:\n    workers = 0\n{USES}a = A()\na.workers = 8\na.load()", "unknown"),
        ("class A:\n    workers = 0\n    @classmethod\n    def make(cls):\n        cls.workers = 8\n"
         f"        return cls()\n{USES}A.make().load()", "unknown"),
        (f"class A:\n    workers = 0\n    def __init__(self, more):\n        self.__dict__.update(more)\n{USES}"
         "A(more()).load()", "unknown"),
        (f"class A:\n    workers = 0\n    def __init__(self, more):\n        for name in more:\n"
         f"            setattr(self, name, more[name])\n{USES}A(more()).load()", "unknown"),
        *((f"class A:\n    workers = 0\n    def __init__(self, more):\n        {how}\n{USES}A(more()).load()", said)
          for how, said in [
              ("for name in more:\n            self.__dict__[name] = more[name]", "unknown"),
              ("for name in more:\n            vars(self)[name] = more[name]", "unknown"),
              ("self.__dict__ |= more", "unknown"), ("self.__dict__: dict = more", "unknown"),
              ("self.__dict__['workers'] = more", "unknown"), ("vars(self).setdefault('workers', more)", "unknown"),
              ("setattr(self, 'workers', more)", "unknown"), ("setattr(self, 'size', more)", "not-needed"),
              ("object.__setattr__(self, 'workers', more)", "unknown"),
              ("super().__setattr__('workers', more)", "unknown"),
          ]),
        (f"class A:\n    workers = 0\n    @classmethod\n    def make(cls, more):\n        made = cls()\n"
         f"        for name in more:\n            made.__dict__[name] = more[name]\n        return made\n{USES}"
         "A.make(more()).load()", "unknown"),
        (f"@dataclass\nclass A:\n    workers: int = 0\n{USES}A(workers=8).load()", "likely"),
        (f"@dataclass\nclass A:\n    workers: int = 0\n{USES}class B(A):\n    pass\nB(workers=8).load()", "likely"),
        (f"class A:\n    def __init__(self, workers=0):\n        self.workers = workers\n{USES}class B(A):\n"
         "    def __init__(self, **more):\n        super().__init__(**more)\nB(workers=8).load()", "likely"),
        (f"class A:\n    workers = 0\n{USES}" + "".join(f"class B{i}(A):\n    workers = 0\nB{i}()\n" for i in range(25))
         + "class C(A):\n    workers = 8\nC().load()", "unknown"),
        (f"class A(B):\n    workers = 0\n{USES}class B(A):\n    pass\nB().load()", "not-needed"),
    ],
)  # fmt: skip
def test_workers_of_classes_that_extend_others(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, f"{LOADER}{code}\n").verdict == verdict


OPTION = 'import argparse\np = argparse.ArgumentParser()\np.add_argument("--workers", type=int, default=0)\n'
SHAPE = """class Shape:
    def __init__(self, size=1):
        self.size = size
    @classmethod
    def of(cls, more):
        shape = MADE
        for key, value in more.items():
            FILLS
        return shape
"""
OWN = SHAPE.replace("MADE", "cls()").replace("FILLS", "shape.__dict__[key] = value")
LOADS = "DataLoader(d, batch_size=2, num_workers=args.workers)\n"


HELD = "class Held:\n    def __init__(self, workers=0):\n        self.workers = workers\n"
USED = "    def load(self):\n        return DataLoader(d, batch_size=2, num_workers=self.workers)\n"


@table(
    "code, verdict",
    [
        ("Held(workers=8).load()", "likely"),
        ("held = Held(workers=8)\nheld.workers = 0\nheld.load()", "unknown"),
        ("held = Held(workers=8)\nif ask():\n    held.workers = 0\nheld.load()", "likely"),
        ("held = Held(workers=8)\nheld.workers = 4\nheld.load()", "likely"),
        ("held = Held(workers=0)\nheld.workers = 0\nheld.load()", "unknown"),
    ],
)
def test_an_object_gets_no_workers_after_it_is_made(tmp_path: Path, code: str, verdict: str) -> None:
    assert of_program(tmp_path, f"{LOADER}{HELD}{USED}{code}\n").verdict == verdict


FILLED = """class Shape:
    def __init__(self):
        self.size = 1
    @classmethod
    def of(cls):
        shape = cls()
        shape.fill(ask())
        return shape
    def fill(self, more):
        FILLS
"""
LOOP = "for key, value in more.items():\n            "


@table(
    "fills, code, verdict",
    [
        (f"{LOOP}setattr(self, key, value)", "p.parse_args()\nargs = Shape.of()\n", "unknown"),
        (f"{LOOP}self.__dict__[key] = value", "p.parse_args()\nargs = Shape.of()\n", "unknown"),
        (f"{LOOP}object.__setattr__(self, key, value)", "p.parse_args()\nargs = Shape.of()\n", "unknown"),
        ("self.__dict__ = more", "p.parse_args()\nargs = Shape.of()\n", "unknown"),
        ("vars(self).update(more)", "p.parse_args()\nargs = Shape.of()\n", "unknown"),
        ("self.__dict__.update(more)", "p.parse_args()\nargs = Shape.of()\n", "unknown"),
        (f"{LOOP}setattr(self, key, value)", "Shape.of()\nargs = p.parse_args()\n", "not-needed"),
        ("setattr(self, 'depth', 2)", "p.parse_args()\nargs = Shape.of()\n", "not-needed"),
    ],
)  # fmt: skip
def test_options_beside_a_class_that_fills_itself(tmp_path: Path, fills: str, code: str, verdict: str) -> None:
    shape = FILLED.replace("FILLS", fills)
    assert of_program(tmp_path, f"{LOADER}{OPTION}{shape}{code}{LOADS}").verdict == verdict


@table(
    "shape, code, verdict",
    [
        (OWN, f"Shape.of(ask())\nargs = p.parse_args()\n{LOADS}", "not-needed"),
        (OWN.replace("cls()", "Shape(size=-1)"), f"Shape.of(ask())\nargs = p.parse_args()\n{LOADS}", "not-needed"),
        *((SHAPE.replace("MADE", "cls()").replace("FILLS", fills), f"Shape.of(ask())\nargs = p.parse_args()\n{LOADS}",
           "not-needed") for fills in ("setattr(shape, key, value)", "vars(shape).update(more)")),
        (OWN, f"Shape.of(ask())\ndef get():\n    args = p.parse_args()\n    return args\n"
         f"def main(args):\n    {LOADS}main(get())\n", "not-needed"),
        # The object is another one, or may be, or has the attributes of another one.
        *((SHAPE.replace("MADE", made).replace("FILLS", "shape.__dict__[key] = value"),
           f"args = p.parse_args()\nShape.of(ask())\n{LOADS}", "unknown")
          for made in ("args", "more", "args or cls()")),
        (OWN.replace("self.size = size", "self.__dict__ = vars(args)"),
         f"args = p.parse_args()\nShape.of(ask())\n{LOADS}", "unknown"),
        (OWN.replace("class Shape", "class Shape(dict)"),
         f"Shape.of(ask())\nargs = p.parse_args()\n{LOADS}", "unknown"),
        # The options are read from the filled object.
        (OWN, f"p.parse_args()\nargs = Shape.of(ask())\n{LOADS}", "unknown"),
        (OWN, f"args = p.parse_args()\ndef main(args):\n    {LOADS}main(Shape.of(ask()))\n", "unknown"),
        (OWN, f"args = p.parse_args(namespace=Shape.of(ask()))\n{LOADS}", "unknown"),
        (OWN, f"args = p.parse_args()\nargs = Shape.of(vars(args))\n{LOADS}", "unknown"),
        (OWN, f"def get():\n    return Shape.of(ask()) if ask() else p.parse_args()\nargs = get()\n{LOADS}", "unknown"),
        # What a parameter hides does not count.
        (SHAPE.replace("MADE", "cls()").replace("FILLS", "pass").replace("self.size = size", "self.__dict__ = size"),
         f"args = p.parse_args()\ndef main(args):\n    {LOADS}main(Shape(ask()))\n", "unknown"),
    ],
)  # fmt: skip
def test_options_beside_a_class_that_fills_its_objects(tmp_path: Path, shape: str, code: str, verdict: str) -> None:
    assert of_program(tmp_path, f"{LOADER}{OPTION}{shape}{code}").verdict == verdict
