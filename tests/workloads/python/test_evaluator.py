"""What Python programs of a repository say of their workers, batches and ranks, read and never run."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.model.launch import Unknown
from shmlint.workloads.filesystem import Files
from shmlint.workloads.program import Entry
from shmlint.workloads.python.modules import UNPARSED
from shmlint.workloads.python.program import read_program
from shmlint.workloads.python.reading import Reading
from shmlint.workloads.python.values import POSITIVE, UNKNOWN
from shmlint.workloads.repository import Repository
from tests.fuzz.variants import variant
from tests.table import table
from tests.workloads.test_assess import SPAN, launch

NAMES = itertools.count()


def reading(
    directory: Path, files: dict[str, str | bytes], words: str = "", env: dict[str, str | Unknown] | None = None
) -> Reading:
    """What ``train.py`` does, started with some words."""
    folder = directory / str(next(NAMES))
    (folder / ".git").mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    repository = Repository(Workspace(top=str(folder)), "compose.yaml")
    seen = Files(launch(env=env), None, None, repository)
    return read_program(Entry("train.py", tuple(words.split()), SPAN), seen)


HEAD = (
    "import argparse, os, sys, click, torch, multiprocessing as mp\nfrom dataclasses import dataclass, field\n"
    "from torch.utils.data import DataLoader\n"
)

ENV_INT = (
    "def env_int(name, default):\n    v = os.environ.get(name)\n    if v is None:\n        return default\n"
    "    return int(v)\n"
)
VALUES: list[tuple[str, str, object, bool]] = [
    # code before and the expression, words of the command, what it is, whether that is sure
    ("| 4", "", 4, True),
    ("| -1 + 2 * 3 - 1", "", 4, True),
    ("| 9 // 2", "", 4, True),
    ("| 4 if not False else 8", "", 4, True),
    ("| 4 if torch.cuda.is_available() else 0", "", 4, True),
    ("| 4 if torch.cuda.is_available() else 4", "", 4, True),
    ("| 4 * (2 > 1)", "", UNKNOWN, False),
    ("| int('4')", "", 4, True),
    ("| 4 ** 2", "", 16, True),
    ("| 4 ** 65", "", UNKNOWN, False),
    ("| 4 @ 2", "", UNKNOWN, False),
    ("| make()", "", UNKNOWN, False),
    ("def make():\n    return 4\n| make()", "", 4, True),
    ("def make(n):\n    return n if n else 2\n| make(4)", "", 4, True),
    ("def make(n):\n    if sys.platform == 'darwin':\n        return 0\n    return n\n| make(4)", "", 4, True),
    ("def make(n):\n    if n > 1:\n        return 0\n    return n\n| make(4)", "", 0, True),
    ("def make(n):\n    if n:\n        return 4\n| make(int(os.uname()))", "", 4, False),
    ("def make(n):\n    for i in n:\n        return 2\n    return 4\n| make([4])", "", 4, False),
    ("def make(n):\n    raise ValueError\n| make(4)", "", UNKNOWN, False),
    ("def make(n):\n    yield 4\n| make(4)", "", UNKNOWN, False),
    ("def make(n):\n    def inner():\n        return 8\n    return n\n| make(4)", "", 4, True),
    ("def make(n):\n    return make(n)\n| make(4)", "", UNKNOWN, False),
    # Each call has its own arguments.
    (f"{ENV_INT}batch = env_int('BATCH', 512)\n| env_int('WORKERS', 4)", "", 4, False),
    (f"{ENV_INT}batch = env_int('BATCH', 512)\n| env_int('COUNT', 4)", "", 6, True),
    (f"{ENV_INT}batch = env_int('BATCH', 512)\n| env_int(default=4, name='WORKERS')", "", 4, False),
    (f"{ENV_INT}batch = env_int('BATCH', 512)\n| env_int('LOST', 4)", "", 4, False),
    ("def pick(n, other=3):\n    return n or other\na = pick(8)\n| pick(0)", "", 3, True),
    ("def pick(n, other=3):\n    return n or other\na = pick(8)\n| pick(0, 7)", "", 7, True),
    ("def pick(n):\n    n = n + load()\n    return n\na = pick(8)\n| pick(2)", "", 8, False),
    ("def pick(n):\n    return (lambda n: n)(1) or n\na = pick(8)\n| pick(2)", "", 8, False),
    ("def pick(n, other=3):\n    return n or other\na = pick(8)\n| pick(*some)", "", 8, False),
    ("@cache\ndef make():\n    return 4\n| make()", "", UNKNOWN, False),
    ("def make():\n    return 'four'\n| make()", "", UNKNOWN, False),
    ("class C:\n    n = min(4, os.cpu_count())\nconf = C()\n| conf.n", "", POSITIVE, True),
    ("class C:\n    n = 2 * 2\nconf = C()\n| conf.n", "", 4, True),
    ("n = 8\nclass C:\n    n = 2\n    m = n * 2\n| C.m", "", 4, True),
    ("class B:\n    n = 4\nclass C(B):\n    pass\n| C.n", "", 4, True),
    ("class B:\n    n = 0\nclass C(B):\n    n = 4\n| C.n", "", 4, True),
    ("class B:\n    n = 4\nclass C(B, A):\n    pass\nconf = C()\n| conf.n", "", 4, True),
    ("conf = OmegaConf.create({'n': 4})\n| conf.n", "", 4, True),
    ("def make():\n    return {'n': 4}\nconf = make()\n| conf['n']", "", 4, True),
    ("def make():\n    found = dict(n=0)\n    found['n'] = 4\n    return found\n| make()['n']", "", 4, False),
    ("def make(a):\n    if a:\n        return {'n': 8}\n    return {'n': 4}\n| make(x)['n']", "", UNKNOWN, False),
    ("@wrap\ndef make():\n    return {'n': 4}\n| make()['n']", "", UNKNOWN, False),
    ("from settings import *\n| MANY", "", 4, True),
    ("from settings import *\nMANY = 2\n| MANY", "", 2, False),
    ("from shared import *\n| BATCH", "", 8, True),
    ("import shared\n| shared.BATCH", "", 8, True),
    ("from shared import *\n| TWICE", "", 4, False),
    ("from shared import *\n| NEVER", "", UNKNOWN, False),
    ("from settings import *\ndef f(MANY):\n    return MANY\n| f(2)", "", 2, True),
    ("| int(sys.argv[1])", "4", 4, True),
    ("| int(sys.argv[2])", "a 4 b", 4, True),
    ("| int(sys.argv[2])", "$A 4", UNKNOWN, False),
    ("| int(sys.argv[1])", "$4", UNKNOWN, False),
    ("| int(sys.argv[2])", "4", UNKNOWN, False),
    ("sys.argv.pop(1)\n| int(sys.argv[1])", "4 8", UNKNOWN, False),
    ("| lambda: 4", "", UNKNOWN, False),
    ("| os.cpu_count()", "", POSITIVE, True),
    ("| mp.cpu_count() // 2", "", POSITIVE, False),
    ("| len(os.sched_getaffinity(0))", "", POSITIVE, True),
    ("| torch.cuda.device_count()", "", POSITIVE, True),
    ("| min(4, 8)", "", 4, True),
    ("| max(2, 4)", "", 4, True),
    ("| min(os.cpu_count(), 8)", "", POSITIVE, True),
    ("| min([os.cpu_count() // 2, 8])", "", POSITIVE, True),
    ("| min((2, 8))", "", 2, True),
    ("| min([os.cpu_count(), make() if make() else 0, 8])", "", POSITIVE, False),
    ("| min([os.cpu_count(), 0])", "", 0, True),
    ("| min(os.cpu_count(), make() if make() else 0)", "", POSITIVE, False),
    ("| max(os.cpu_count() - 1, 1)", "", POSITIVE, True),
    ("| min(make(), 8)", "", 8, False),
    ("| 0 or 4", "", 4, True),
    ("| make() or 4", "", 4, False),
    ("| 4 and 0", "", 0, True),
    ("| 1 if 2 >= 1 else 0", "", 1, True),
    ("| 1 if 2 < 1 else 0", "", 0, True),
    ("| 1 if 'a' != 'a' else 0", "", 0, True),
    ("| 1 if make() == 2 else 0", "", 1, False),
    ("| os.environ.get('WORKERS', 4)", "", 4, True),
    ("| int(os.environ['COUNT'])", "", 6, True),
    ("| os.getenv('COUNT', '2')", "", "6", True),
    ("| os.environ.get('LOST', 2)", "", 2, False),
    # constants, here and in another module
    ("WORKERS = 4\n| WORKERS", "", 4, True),
    ("WORKERS: int = 4\n| WORKERS", "", 4, True),
    ("WORKERS = 4\nif make():\n    WORKERS = 8\n| WORKERS", "", 8, False),
    ("from config import WORKERS\n| WORKERS", "", 12, True),
    ("import config\n| config.WORKERS", "", 12, True),
    ("import config\n| config.Config.count", "", 13, True),
    ("from config import Config\nsettings = Config()\n| settings.count", "", 13, True),
    ("from config import Config\nsettings = Config(count=2)\n| settings.count", "", 2, True),
    ("from config import settings\n| settings['loader']['num_workers']", "", 14, True),
    ("from config import settings\n| settings.get('many', 3)", "", 15, True),
    ("from package import WORKERS\n| WORKERS", "", 12, True),
    ("import package\n| package.LOST", "", UNKNOWN, False),
    # texts
    ("n = 4 if os.getenv('COUNT') == '6' else 0\n| n", "", 4, True),
    ("n = 4 if os.getenv('COUNT') in ('1', '6') else 0\n| n", "", 4, True),
    ("n = 4 if os.getenv('COUNT') not in {'1', '6'} else 0\n| n", "", 0, True),
    ("n = 4 if os.getenv('COUNT') in ('1', make()) else 0\n| n", "", 4, False),
    ("n = 4 if os.getenv('COUNT') == 6 else 0\n| n", "", 4, False),
    ("n = 4 if os.getenv('GONE', ' Yes').strip().lower() == 'yes' else 0\n| n", "", 4, True),
    ("n = 4 if os.getenv('GONE', 'no').upper().startswith('YE') else 0\n| n", "", 0, True),
    ("n = 4 if os.getenv('LOST', 'no').lower() == 'yes' else 0\n| n", "", 4, False),
    ("n = 4 if 'x' in 'box' else 0\n| n", "", 4, True),
    # mappings
    ("kw = {'num_workers': 4}\n| **kw", "", 4, True),
    ("kw = dict(num_workers=4)\n| **kw", "", 4, True),
    ("base = dict(num_workers=4)\nkw = {**base, 'pin_memory': True}\n| **kw", "", 4, True),
    ("kw = {'a': 1} | {'num_workers': 4}\n| **kw", "", 4, True),
    ("kw = {'pin_memory': True}\n| **kw", "", 0, True),
    ("kw = make()\n| **kw", "", UNKNOWN, False),
    ("kw = {make(): 1}\n| **kw", "", UNKNOWN, False),
    ("kw = {'num_workers': 4}.copy()\n| **kw", "", 4, True),
    ("kw = {}\nif torch.cuda.is_available():\n    kw.update({'num_workers': 4})\n| **kw", "", 4, True),
    ("kw = {}\nkw.update({key: 1})\n| **kw", "", UNKNOWN, False),
    ("more = {'num_workers': 4}\nkw = {}\nif torch.cuda.is_available():\n    kw.update(more)\n| **kw", "", 4, True),
    ("more = {'pin_memory': True}\nkw = {'a': 1}\nkw.update(more)\n| **kw", "", 0, True),
    ("more = {'num_workers': 0}\nkw = {'num_workers': 4}\nif make():\n    kw.update(more)\n| **kw", "", 4, False),
    ("more = {'a': 1}\nmore['num_workers'] = 4\nkw = {}\nkw.update(more)\n| **kw", "", 4, False),
    ("more = {}\nmore.update(kw)\nkw = {'num_workers': 4}\nkw.update(more)\n| **kw", "", 4, False),
    ("kw = {'num_workers': 4}\nkw.update(load())\n| **kw", "", 4, False),
    ("kw = {}\nkw.update(other)\n| **kw", "", UNKNOWN, False),
    ("settings = {'train': {'num_workers': 4}}\n| **settings['train']", "", 4, True),
    ("| **make(), num_workers=3", "", 3, True),
    ("kw = {'num_workers': 4} if torch.cuda.is_available() else {}\n| **kw", "", 4, True),
    ("kw = {} if make() else {'num_workers': 4}\n| **kw", "", 4, False),
    ("kw = {'num_workers': 0} if make() else {'num_workers': 4}\n| **kw", "", 4, False),
    ("kw = {'num_workers': 4} if make() else {'num_workers': 0}\n| **kw", "", 4, False),
    ("kw = {'num_workers': 4} if os.name == 'posix' else {}\n| **kw", "", 4, True),
    ("kw = {'num_workers': 4} if os.name == 'nt' else {}\n| **kw", "", 0, True),
    ("kw = {'pin_memory': True} if make() else {}\n| **kw", "", 0, True),
    ("kw = {'pin_memory': True} if make() else load()\n| **kw", "", UNKNOWN, False),
    ("| **({'num_workers': 4} if make() else {})", "", 4, False),
    ("if make():\n    kw = {'num_workers': 4}\nelse:\n    kw = {}\n| **kw", "", 4, False),
    ("if make():\n    kw = {'num_workers': 4}\nelse:\n    kw = load()\n| **kw", "", 4, False),
    ("kw = {}\nif make():\n    kw = {'pin_memory': True}\n| **kw", "", 0, True),
    # options
    ("p = argparse.ArgumentParser()\np.add_argument('-j', '--workers', default=4)\na = p.parse_args()\n| a.workers",
     "", 4, True),
    ("p = argparse.ArgumentParser()\np.add_argument('-j', '--workers', default=4)\na = p.parse_args()\n| a.workers",
     "-j 2", 2, True),
    ("p = argparse.ArgumentParser()\np.add_argument('--workers', dest='n', default=4)\na = p.parse_args()\n| a.n",
     "--workers=0", 0, True),
    ("p = argparse.ArgumentParser()\np.add_argument('--no-load', action='store_true')\na = p.parse_args()\n"
     "| 0 if a.no_load else 4", "", 4, True),
    ("p = argparse.ArgumentParser()\np.add_argument('--no-load', action='store_true')\na = p.parse_args()\n"
     "| 0 if a.no_load else 4", "--no-load", 0, True),
    ("args = make()\n| getattr(args, 'workers', 4)", "", 4, False),
    ("args = make()\n| getattr(args, 'workers', 4)", "--workers 1", 1, True),
    ("args = make()\n| args['workers']", "--workers $N", UNKNOWN, False),
    ("from absl import flags\nflags.DEFINE_integer('workers', 4, 'help')\n| flags.FLAGS.workers", "", 4, True),
    ("@dataclass\nclass Settings:\n    workers: int = field(default=4)\ns = make(Settings)\n| s.workers", "", 4, True),
    ("@dataclass\nclass Settings:\n    workers: int = field(default_factory=lambda: 4)\n"
     "s = make(Settings)\n| s.workers", "", 4, True),
    ("@dataclass\nclass Settings:\n    workers: int = field(default_factory=lambda: int(os.getenv('COUNT', 4)))\n"
     "s = make(Settings)\n| s.workers", "", 6, True),
    ("@dataclass\nclass Settings:\n    workers: int = 4\ns = make(Settings)\n| s.workers", "data.workers=2", 2, True),
    ("cfg = make()\ncfg.DATALOADER.NUM_WORKERS = 4\n| cfg.DATALOADER.NUM_WORKERS", "", 4, True),
    ("cfg = make()\ncfg.DATALOADER.NUM_WORKERS = 4\n| cfg.DATALOADER.NUM_WORKERS", "DATALOADER.NUM_WORKERS 2", 2, True),
    ("conf = make()\n| conf.data.workers", "--config some.yaml", 5, True),
    ("import yaml\nconf = yaml.safe_load(open('some.yaml'))\n| conf['data']['workers']", "", 5, True),
    ("one, other = open('some.json'), open('flat.json')\nconf = make()\n| conf.workers", "", 8, False),
    ("one, other = open('some.json'), open('flat.json')\n| conf.workers", "--config some.json", 7, True),
    ("conf = make()\n| conf.workers", "--config some.json", 7, True),
    ("import json\nconf = json.load(open('flat.json'))\n| conf['workers']", "", 8, True),
]  # fmt: skip

BESIDE: dict[str, str | bytes] = {
    "settings.py": "MANY = 4\n",
    "shared/__init__.py": "from .sizes import *\nfrom .again import *\n",
    "shared/sizes.py": "BATCH = 8\nTWICE = 2\n",
    "shared/again.py": "from .sizes import *\nfrom . import *\nTWICE = 4\n",
    "config.py": "WORKERS = 12\nclass Config:\n    count = 13\n"
    "settings = {'loader': {'num_workers': 14}, 'many': 15}\n",
    "package/__init__.py": "from config import WORKERS\n",
    "some.yaml": "data:\n  workers: 5  # of each rank\n",
    "parts.yaml": "train:\n  name: a\nloader:\n  num_workers: 9\n  batch: 2\n",
    "two.yaml": "train:\n  loader:\n    batch: 2\nval:\n  loader:\n    num_workers: 9\n",
    "flat.json": '{"data": {"name": "workers", "workers": 8, "batch": 2}}',
    "none.yaml": "workers: 0\n", "some.json": '{\n  "workers": 7\n}\n',
}


def has_workers(tmp_path: Path, code: str, words: str, value: object, certain: bool) -> None:
    before, _, expression = code.rpartition("|") if code.count("|") == 1 else code.partition("\n| ")
    argument = expression.strip() if expression.strip().startswith("**") else f"num_workers={expression.strip()}"
    text = f"{HEAD}{before}\nDataLoader(data, batch_size=2, {argument})\n"
    env: dict[str, str | Unknown] = {"COUNT": "6", "LOST": Unknown("variable", "?")}
    found = reading(tmp_path, {"train.py": text, **BESIDE}, words, env)
    (call,) = found.calls
    assert (call.processes.value, call.processes.value is not UNKNOWN and call.processes.certain) == (value, certain)
    assert call.processes.spans or value is UNKNOWN


@table("code, words, value, certain", VALUES)
def test_the_number_of_workers(tmp_path: Path, code: str, words: str, value: object, certain: bool) -> None:
    has_workers(tmp_path, code, words, value, certain)


HUGGING = (
    "from transformers import HfArgumentParser\n@dataclass\nclass Own:\n    workers: int = 8\n"
    "own, = HfArgumentParser(Own)."
)
ARGPARSE = "parser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default=8)\nown = parser."


GIVEN_WORDS = (
    "def parse(words=None):\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--workers', type=int, default=8)\n    return parser.parse_args(words)\nown = parse({})\n"
)


@table(
    "code, words, value, certain",
    [
        (f"{HUGGING}parse_args_into_dataclasses()", "", 8, True),
        (f"{HUGGING}parse_args_into_dataclasses()", "--workers 0", 0, True),
        (f"{HUGGING}parse_json_file('some.json')", "", 7, True),
        (f"{HUGGING}parse_yaml_file(yaml_file='none.yaml')", "", 0, True),
        (f"{HUGGING}parse_json_file('/etc/lost.json')", "", 8, False),
        (f"{HUGGING}parse_json_file(name())", "", 8, False),
        (f"{HUGGING}parse_json_file('some.json') if tell() else ()", "", 7, False),
        (f"{HUGGING}parse_dict({{'workers': 0}})", "", 0, True),
        (f"{HUGGING}parse_dict({{'other': 0}})", "", 8, True),
        (f"{HUGGING}parse_dict(read())", "", 8, False),
        (f"{HUGGING}parse_args_into_dataclasses(['--workers', '0'])", "", 0, True),
        (f"{HUGGING}parse_args_into_dataclasses(read())", "", 8, False),
        (f"{ARGPARSE}parse_args(['--workers', '0'])", "", 0, True),
        (f"{ARGPARSE}parse_args('--workers 4'.split())", "", 4, True),
        (f"{ARGPARSE}parse_args([])", "", 8, True),
        (GIVEN_WORDS.format("['--workers', '4']"), "", 4, True),
        (GIVEN_WORDS.format("sys.argv[1:]"), "", 8, True),
        (GIVEN_WORDS.format("['--workers', '4']") + "keep(parse)", "", 8, False),
        (f"{ARGPARSE}parse_args(['--workers', '4'])", "--workers 2", 2, False),
        (f"{ARGPARSE}parse_args(['--workers', '4']) if tell() else parser.parse_args()", "", 8, False),
    ],
)
def test_options_that_the_code_gives_in_place_of_the_command(
    tmp_path: Path, code: str, words: str, value: object, certain: bool
) -> None:
    text = f"{HEAD}{code}\nDataLoader(data, batch_size=2, num_workers=own.workers)\n"
    processes = reading(tmp_path, {"train.py": text, **BESIDE}, words).calls[-1].processes
    assert (processes.value, processes.certain) == (value, certain)


PARSED = (
    "parser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default=8)\n"
    "parser.add_argument('--quick', action='store_true')\nown = parser.parse_args()\n"
)
USES = "DataLoader(data, batch_size=2, num_workers=own.workers)\n"
GIVEN = "DataLoader(data, batch_size=2, num_workers=many)\n"
FILLED = PARSED.replace("own =", "parser.add_argument('--conf')\nown =") + "import json\nvars(own).update("
QUICK = f"{PARSED}if own.quick:\n    own.workers = 0\n{USES}"


@table(
    "code, words, value, certain",
    [
        (f"{PARSED}own.workers = 0\n{USES}", "", 0, True),
        (f"{PARSED}own.workers = 4\n{USES}", "--workers 2", 4, True),
        (QUICK, "--quick", 0, True),
        (QUICK, "", 8, True),
        (f"{PARSED}def run(own):\n    {USES}own.workers = 0\nrun(own)\n", "", 0, True),
        (f"{PARSED}def run(own):\n    {USES}run(own)\nown.workers = 4\n", "", 8, False),
        (f"{PARSED}if tell():\n    own.workers = 4\n{USES}", "", 8, False),
        (f"{PARSED}own.workers = 4\nown = more()\n{USES}", "", 8, False),
        (f"{PARSED}own.workers = 4\nown.workers = tell()\n{USES}", "", 8, False),
        (f"{PARSED}own.workers = 4\nsetattr(own, tell(), 2)\n{USES}", "", 8, False),
        # Of two branches the one that is taken counts.
        (f"{PARSED}if own.quick:\n    many, n = 0, 1\nelse:\n    many, n = 8, 2\n{GIVEN}", "--quick", 0, True),
        (f"{PARSED}if own.quick:\n    many = 0\nelse:\n    many = 8\n{GIVEN}", "", 8, True),
        (f"{PARSED}if tell():\n    many = 2\nelse:\n    many = 8\n{GIVEN}", "--quick", 8, False),
        (f"{PARSED}def run():\n    many = 8\n    if own.quick:\n        many = 2\n    {GIVEN}run()\n", "", 8, True),
        # What the file has that the command names, and nothing else.
        (f"{FILLED}json.load(open(own.conf)))\n{USES}", "--conf own.json", 4, True),
        (f"{FILLED}json.load(open(own.conf)))\n{USES}", "--conf own.json --workers 2", 2, False),
        (f"{FILLED}json.load(open(own.conf)))\n{USES}", "--conf /lost.json", 8, False),
        (f"{FILLED}more(own.conf))\n{USES}", "--conf own.json", 4, False),
    ],
)
def test_options_that_code_sets_before_it_uses_them(
    tmp_path: Path, code: str, words: str, value: object, certain: bool
) -> None:
    files: dict[str, str | bytes] = {"train.py": HEAD + code, "own.json": '{"workers": 4}'}
    processes = reading(tmp_path, files, words).calls[-1].processes
    assert (processes.value, processes.certain) == (value, certain)


SPREAD = """
p = argparse.ArgumentParser()
p.add_argument('--workers', type=int, default=4)
p.add_argument('--size', type=int, default=-1)
p.add_argument('--spread', action='store_true')
def load(args):
    if args.many:
        args.workers = int(args.workers / 4)
    DataLoader(data, batch_size=2, num_workers=args.workers)
args = p.parse_args()
"""
MANY = "args.many = args.size > 1 or args.spread\n"


@table(
    "code, words, value, certain",
    [
        (MANY, "", 4, True),
        (f"if args.spread:\n    args.size = 0\n    args.workers = 0\n{MANY}", "", 4, True),
        ("args.many = False\nif args.spread:\n    args.workers = 0\n", "", 4, True),
        # What runs, or may run, changes the option.
        (MANY, "--size 2", 1, False),
        (MANY, "--spread", 1, False),
        (f"args.workers = 0\n{MANY}", "", 0, True),
        (f"if make():\n    args.workers = 0\n{MANY}", "", 4, False),
        (f"if not args.spread:\n    args.workers = 0\n{MANY}", "", 0, True),
        # What gives the setting its value is not the only one, or may not run.
        (f"{MANY}args.many = make()\n", "", 4, False),
        (f"if make():\n    {MANY}", "", 4, False),
        (f"{MANY}other.many = True\n", "", 4, False),
        (f"{MANY}args.many |= make()\n", "", 4, False),
        (f"{MANY}setattr(args, make(), True)\n", "", 4, False),
        (f"{MANY}vars(args)['many'] = True\n", "", 4, False),
        (f"args.size = make()\n{MANY}", "", 4, False),
        (f"other = make()\n{MANY.replace('args.many', 'other.many')}", "", 4, False),
    ],
)
def test_an_option_that_code_changes_where_a_setting_says_so(
    tmp_path: Path, code: str, words: str, value: object, certain: bool
) -> None:
    (call,) = reading(tmp_path, {"train.py": f"{HEAD}{SPREAD}{code}load(args)\n"}, words, {}).calls
    assert (call.processes.value, call.processes.certain) == (value, certain)


NONE = "p = argparse.ArgumentParser()\np.add_argument('--workers', type=int, default=None)\nargs = p.parse_args()\n"


@table(
    "code, words, value",
    [
        ("args.workers = os.cpu_count() if args.workers is None else args.workers\n", "", POSITIVE),
        ("args.workers = 6 if args.workers == None else args.workers\n", "", 6),
        ("args.workers = 6 if args.workers is None else args.workers\n", "--workers 2", 2),
        ("args.workers = 6 if args.workers is None else args.workers\n", "--workers 0", UNKNOWN),
        ("args.workers = args.workers or 6\n", "", 6),
        ("args.workers = args.workers or os.cpu_count()\n", "", POSITIVE),
        ("if args.workers is None:\n    args.workers = os.cpu_count()\n", "", POSITIVE),
        ("if not args.workers:\n    args.workers = os.cpu_count() // 2\n", "", POSITIVE),
        ("if args.workers is None:\n    args.workers = 6\n", "", 6),
        ("if make():\n    args.workers = 6\n", "", 6),
        ("args.workers = make()\n", "", UNKNOWN),
        ("args.workers = 6\nargs.workers = make()\n", "", 6),
        ("", "", None),
    ],
)
def test_an_option_without_a_default_that_code_sets(tmp_path: Path, code: str, words: str, value: object) -> None:
    text = f"{HEAD}{NONE}{code}DataLoader(data, batch_size=2, num_workers=args.workers)\n"
    (call,) = reading(tmp_path, {"train.py": text}, words, {}).calls
    assert (call.processes.value, call.processes.certain) == (value, code == "")


OPTION = "p = argparse.ArgumentParser()\np.add_argument('--conf', default='some.yaml')\na = p.parse_args()\n"
READS = "import yaml\ndef read(path):\n    with open(path) as file:\n        return yaml.safe_load(file)\n"


@table(
    "code, words, value, certain",
    [
        ("conf = read('some.yaml')\n| conf['data']['workers']", "", 5, True),
        ("conf = Box(read('some.yaml'))\n| conf.data.workers", "", 5, True),
        ("conf = EasyDict(read('some.yaml'))\n| conf.data.workers", "", 5, True),
        ("conf = SimpleNamespace(**read('some.yaml'))\n| conf.workers", "", 5, True),
        ("name = 'some'\nconf = read(f'{name}.yaml')\n| conf['workers']", "", 5, True),
        ("conf = read(os.path.join('.', 'some' + '.yaml'))\n| conf['workers']", "", 5, True),
        ("conf = read(pathlib.Path('.') / 'some.yaml')\n| conf['workers']", "", 5, True),
        ("conf = OmegaConf.load(str('some.yaml'))\n| conf.workers", "", 5, True),
        ("conf = read('parts.yaml')\n| **conf['loader']", "", 9, True),
        ("conf = read('parts.yaml')\ngiven = conf['loader']\n| **given", "", 9, True),
        ("conf = read('parts.yaml')\n| **conf['train']", "", 9, False),
        ("conf = read('two.yaml')\n| **conf['train']['loader']", "", 9, False),
        ("conf = read('parts.yaml')\n| **conf['loader']", "--num_workers 1", 1, False),
        ("conf = read('parts.yaml')\nconf['loader']['num_workers'] = n\n| **conf['loader']", "", 9, False),
        ("conf = read('parts.yaml')\ngiven = conf['loader']\ngiven.update(more)\n| **given", "", 9, False),
        ("conf = read('parts.yaml')\ngiven = conf['loader']\ngiven['num_workers'] = n\n| **given", "", UNKNOWN, False),
        ("conf = read('parts.yaml')\nconf['loader'].update(more)\n| **conf['loader']", "", 9, False),
        ("conf = read('parts.yaml')\nconf.update(more)\n| **conf['loader']", "", 9, False),
        ("conf = read('parts.yaml')\ndef f(c):\n    c['num_workers'] = 0\nf(conf['loader'])\n| **conf['loader']", "", 9,
         False),
        ("conf = read('parts.yaml')\ndef change(c):\n    c['loader'] = {}\nchange(conf)\n| **conf['loader']", "", 9,
         False),
        ("def all_of(name):\n    return read(name)\nconf = all_of('some.yaml')\n| conf['workers']", "", 5, True),
        (f"{OPTION}conf = read(a.conf)\n| conf['workers']", "", 5, True),
        (f"{OPTION}conf = read(a.conf)\n| conf['workers']", "--conf flat.json", 8, True),
        ("conf, other = read('some.yaml'), read('flat.json')\n| conf['workers']", "", 8, False),
        # What may be another file, or changed.
        ("conf, other = read('some.yaml'), read(input())\n| conf['workers']", "", 5, False),
        ("def get(path=''):\n    if more():\n        path = other()\n    return OmegaConf.load(path)\n"
         "conf = get('some.yaml')\n| conf.workers", "", 5, False),
        ("def get(path='some.yaml'):\n    if more():\n        path = other()\n    return OmegaConf.load(path)\n"
         "conf = get()\n| conf.workers", "", 5, False),
        ("conf = read(f'{input()}.yaml')\n| conf['workers']", "", UNKNOWN, False),
        ("conf = make(read)\nread('some.yaml')\n| conf['workers']", "", 5, False),
        ("conf = read('lost.yaml')\n| conf['workers']", "", UNKNOWN, False),
        ("conf = read('some.yaml')\nconf['workers'] = other()\n| conf['workers']", "", UNKNOWN, False),
    ],
)
def test_a_configuration_that_a_function_opens(
    tmp_path: Path, code: str, words: str, value: object, certain: bool
) -> None:
    has_workers(tmp_path, f"{READS}{code}", words, value, certain)


@table(
    "code, certain",
    [
        ("go(conf)", True),
        ("go(all_of(conf))", True),
        ("conf['loader'] = other()\ngo(conf)", False),
        ("conf['loader']['num_workers'] = 0\ngo(conf)", False),
        ("conf.update(more)\ngo(conf)", False),
        ("go({**conf, **more})", False),
    ],
)
def test_a_section_of_a_configuration_that_a_function_gets(tmp_path: Path, code: str, certain: bool) -> None:
    go = f"{HEAD}{READS}def go(cfg):\n    DataLoader(data, batch_size=2, **cfg['loader'])\nconf = read('parts.yaml')\n"
    (call,) = reading(tmp_path, {"train.py": f"{go}{code}\n", **BESIDE}).calls
    assert (call.processes.value, call.processes.certain) == (9, certain)


HPARAMS = (
    "class A(lightning.LightningDataModule):\n    def __init__(self, size=1, workers: int = 4):\n"
    "        self.save_hyperparameters(%s)\n    def train_dataloader(self):\n"
    "        return DataLoader(d, num_workers=self.hparams.workers)\n%s\n"
)

SETTINGS = "class A:\n    def __init__(self):\n        self.n = 4\n"
IN_FUNCTIONS: list[tuple[str, str, object, bool]] = [
    ("def f(n):\n    DataLoader(d, num_workers=n)\nf(4)\n", "", 4, True),
    ("def f(n=2):\n    DataLoader(d, num_workers=n)\nf()\n", "", 2, True),
    ("def f(n=2):\n    DataLoader(d, num_workers=n)\nf(n=4)\nf(8)\n", "", 8, False),
    ("def f(n):\n    DataLoader(d, num_workers=n)\nf(make())\nf(4)\n", "", 4, False),
    ("def f(n):\n    DataLoader(d, num_workers=n)\n" + "f(4)\n" * 20, "", 4, True),
    ("def f(n):\n    DataLoader(d, num_workers=n)\n" + "f(4)\n" * 20 + "f(8)\n", "", 4, False),
    ("def f(d, **kw):\n    DataLoader(d, **kw)\nf(d, num_workers=4)\n", "", 4, True),
    ("def f(d, **kw):\n    DataLoader(d, **kw)\nf(d)\n", "", 0, True),
    ("def f(d):\n    kw = {}\n    kw['num_workers'] = 4\n    DataLoader(d, **kw)\nf(d)\n", "", 4, True),
    ("def f(d):\n    a, n = 1, 4\n    DataLoader(d, num_workers=n)\nf(d)\n", "", 4, True),
    ("def f(d):\n    n = 4\n    if d:\n        n = 0\n    DataLoader(d, num_workers=n)\nf(d)\n", "", 4, False),
    ("def f(d):\n    n: int = 4\n    n //= 2\n    DataLoader(d, num_workers=n)\nf(d)\n", "", 4, False),
    ("def f(d):\n    for n in (1, 2):\n        DataLoader(d, num_workers=n)\nf(d)\n", "", UNKNOWN, False),
    ("import fire\ndef f(workers=4):\n    DataLoader(d, num_workers=workers)\nfire.Fire(f)\n", "", 4, True),
    ("import fire\ndef f(workers=4):\n    DataLoader(d, num_workers=workers)\nfire.Fire(f)\n", "--workers 0", 0, True),
    ("@click.command()\n@click.option('--workers', default=4)\ndef f(workers):\n"
     "    DataLoader(d, num_workers=workers)\nf()\n", "", 4, True),
    ("class A:\n    n = 4\n    def f(self):\n        DataLoader(d, num_workers=self.n)\nA().f()\n", "", 4, True),
    ("class A:\n    def __init__(self, n=2):\n        self.n = n\n    def f(self):\n"
     "        DataLoader(d, num_workers=self.n)\nA(4).f()\n", "", 4, True),
    (f"{SETTINGS}DataLoader(d, num_workers=A().n)\n", "", 4, True),
    ("S = (0, 1)\nfor S in PAIRS:\n    DataLoader(d, num_workers=S[0])\n", "", UNKNOWN, False),
    (f"{SETTINGS}class B(A):\n    pass\na = B()\ndef f(a):\n    DataLoader(d, num_workers=a.n)\nf(a)\n", "", 4, True),
    (f"{SETTINGS}def f(a):\n    DataLoader(d, num_workers=a.n)\ndef g(a):\n    f(a)\ng(A())\n", "", 4, True),
    (f"{SETTINGS}a = A()\na.n = n\nDataLoader(d, num_workers=a.n)\n", "", UNKNOWN, False),
    (f"{SETTINGS}    def less(self):\n        self.n = 0\nDataLoader(d, num_workers=A().n)\n", "", UNKNOWN, False),
    (f"{SETTINGS}a = A()\nargparse.ArgumentParser().parse_args(namespace=a)\nDataLoader(d, num_workers=a.n)\n", "",
     UNKNOWN, False),
    (f"{SETTINGS}        vars(self).update(more)\nDataLoader(d, num_workers=A().n)\n", "", UNKNOWN, False),
    ("class A:\n    def __init__(self, n=2):\n        self.kw = dict(num_workers=n)\n    def f(self):\n"
     "        DataLoader(d, **self.kw)\nA(4).f()\n", "", 4, True),
    ("class A:\n    def __init__(self, cfg):\n        self.cfg = cfg\n    def f(self):\n"
     "        DataLoader(d, num_workers=self.cfg.workers)\nA(make()).f()\n", "--workers 4", 4, True),
    ("class A(lightning.LightningDataModule):\n    def __init__(self, workers: int = 4):\n        self.n = workers\n"
     "    def train_dataloader(self):\n        return DataLoader(d, num_workers=self.n)\nTrainer().fit(A())\n", "",
     4, True),
    (HPARAMS % ("", "Trainer().fit(A())"), "", 4, True),
    (HPARAMS % ("", "Trainer().fit(A(workers=8))"), "", 8, True),
    (HPARAMS % ("logger=False", "Trainer().fit(A(workers=0))"), "", 0, True),
    (HPARAMS % ("'size'", "Trainer().fit(A(workers=8))"), "", UNKNOWN, False),
    (HPARAMS % ("ignore=['workers']", "Trainer().fit(A(workers=8))"), "", UNKNOWN, False),
    (HPARAMS % ("", "a = A(workers=0)\na.hparams.workers = 8\nTrainer().fit(a)"), "", UNKNOWN, False),
    ("def f(n):\n    g(n)\ndef g(n):\n    f(n)\n    DataLoader(d, num_workers=n)\nf(4)\n", "", 4, True),
    ("import hydra\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n"
     "    DataLoader(d, num_workers=cfg.data.num_workers)\nmain()\n", "", 9, True),
    ("import hydra\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n"
     "    DataLoader(d, num_workers=cfg.data.num_workers)\nmain()\n", "data=small", 1, True),
    ("import hydra\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n"
     "    DataLoader(d, num_workers=cfg.data.num_workers)\nmain()\n", "data.num_workers=3", 3, True),
    ("import hydra\n@hydra.main(config_path='lost', config_name='base')\ndef main(cfg):\n"
     "    DataLoader(d, num_workers=cfg.data.num_workers)\nmain()\n", "", UNKNOWN, False),
]  # fmt: skip

CONFIGURED: dict[str, str | bytes] = {
    "conf/base.yaml": "defaults:\n  - data: large\n  - _self_\nseed: 1\n",
    "conf/data/large.yaml": "num_workers: 9\n",
    "conf/data/small.yaml": "num_workers: 1\n",
}


@table("code, words, value, certain", IN_FUNCTIONS)
def test_workers_of_functions_and_classes(
    tmp_path: Path, code: str, words: str, value: object, certain: bool
) -> None:
    found = reading(tmp_path, {"train.py": f"import lightning\n{HEAD}{code}", **CONFIGURED}, words)
    (call,) = found.calls
    assert (call.processes.value, call.processes.value is not UNKNOWN and call.processes.certain) == (value, certain)


@table(
    "code, words, use, count, batch",
    [
        ("from transformers import TrainingArguments\nTrainingArguments('o', dataloader_num_workers=4)", "",
         "dataloader", 4, 8),
        ("from transformers import HfArgumentParser as P, TrainingArguments as T\nP((T,)).parse()",
         "--dataloader_num_workers 4 --per_device_train_batch_size 2", "dataloader", 4, 2),
        ("from transformers import HfArgumentParser as P, TrainingArguments as T\nP((T,)).parse()", "",
         "dataloader", 0, 8),
        ("from detectron2.engine import DefaultTrainer\nDefaultTrainer(cfg)", "", "dataloader", 4, 16),
        ("from detectron2.engine import DefaultTrainer\ncfg.DATALOADER.NUM_WORKERS = 2\nDefaultTrainer(cfg)", "",
         "dataloader", 2, 16),
        ("from mmengine.runner import Runner\nRunner.from_cfg(cfg)", "mm.py", "dataloader", 3, 5),
        ("from ultralytics import YOLO\nmodel = YOLO('yolo11n.pt')\nmodel.train(data='coco8.yaml', workers=1)", "",
         "dataloader", 1, 16),
        ("from timm.data import create_loader\ncreate_loader(d, (3, 224, 224), 32, num_workers=4)", "",
         "dataloader", 4, 32),
        ("from fastai.vision.all import *\nImageDataLoaders.from_df(df)", "", "dataloader", POSITIVE, 64),
        ("import lightning as L\nL.Trainer(devices=4)", "", "ranks", 4, UNKNOWN),
        ("import torch.multiprocessing as mp, torch\nmp.spawn(f, nprocs=torch.cuda.device_count())", "",
         "ranks", POSITIVE, UNKNOWN),
        ("from vllm import LLM\nLLM('m', tensor_parallel_size=2)", "", "ranks", 2, UNKNOWN),
        ("import ray\nray.init()", "", "ray", UNKNOWN, UNKNOWN),
        ("from ray import serve\n@serve.deployment(num_replicas=2)\nclass A:\n    pass", "", "ray", UNKNOWN, UNKNOWN),
        ("yaml.dump({'engine': {'tensor_parallel_size': 4}}, file)", "", "ranks", 4, UNKNOWN),
        ("import torch\nwrite({'tensor_parallel_size': torch.cuda.device_count()})", "", "ranks", POSITIVE, UNKNOWN),
        ("import torch\ntorch.zeros(9).share_memory_()", "", "torch-sharing", UNKNOWN, UNKNOWN),
        ("from multiprocessing.shared_memory import SharedMemory\nSharedMemory('n', True, 512)", "",
         "python-shm", 512, UNKNOWN),
        # neither uses /dev/shm: objects are pickled through pipes, threads share their memory
        ("from datasets import load_dataset\nload_dataset('d').map(f, num_proc=8)", "", None, None, None),
        ("import tensorflow as tf\nmodel.fit(d, workers=8, use_multiprocessing=True)", "", None, None, None),
        ("import queue, torch\nqueue.Queue()", "", None, None, None),
    ],
)  # fmt: skip
def test_calls_of_libraries(
    tmp_path: Path, code: str, words: str, use: str | None, count: object, batch: object
) -> None:
    config = "_base_ = ['base/mm.py']\ntrain_dataloader = dict(num_workers=3)\n"
    files: dict[str, str | bytes] = {"mm.py": config, "base/mm.py": "batch_size = 5\nval = make()\n"}
    found = reading(tmp_path, {"train.py": code + "\n", **files}, words)
    assert [(c.row.use, c.processes.value, c.batch.value) for c in found.calls] == (
        [] if use is None else [(use, count, batch)]
    )


@table(
    "code, words, shapes",
    [
        ("Resize(256)\nRandomResizedCrop(224)", "", [(3, 256, 256), (3, 224, 224)]),
        ("Resize((480, 640))", "", [(3, 480, 640)]),
        ("RandomCrop(height=64, width=64)", "", [(3, 64, 64)]),
        ("RandomCrop(width=96, height=64)", "", [(3, 64, 96)]),
        ("import albumentations as A\nA.Resize(640, 48)\nA.RandomResizedCrop(64, (0.5, 1))", "",
         [(3, 640, 48), (3, 64, 64)]),
        ("RandomCrop(32, 4)", "", [(3, 32, 32)]),
        ("SIDES = (64, 96)\nRandomCrop(width=SIDES[1], height=SIDES[0])", "", [(3, 64, 96)]),
        ("SIDES = [32, 64]\nResize(SIDES[-1])", "", [(3, 64, 64)]),
        ("SIDES = [32, 64]\nResize(SIDES[2])\nResize(SIDES[n])", "", []),
        ("SIDES = [32, 64]\nSIDES[0] = n\nResize(SIDES[0])", "", []),
        ("SIDES = [32, 64]\ndef f():\n    SIDES[0] += n\nf()\nResize(SIDES[0])", "", []),
        ("SIDES = [64, 32]\nSIDES.sort()\nResize(SIDES[0])", "", []),
        ("SIDES = [32, 64]\nSIDES.append(n)\nResize(SIDES[-1])", "", []),
        ("CIFAR10('.', transform=ToTensor())", "", [(3, 32, 32)]),
        ("RandSpatialCropd(keys, roi_size=[96, 96, 96])", "", [(1, 96, 96, 96)]),
        ("RandSpatialCropd(keys, [96, 96])\nResize('large')\nResize(0)", "", []),
        ("p.add_argument('--img-size', default=512)", "", [(3, 512, 512)]),
        ("p.add_argument('--img-size', default=512)", "--img-size 128", [(3, 128, 128)]),
        ("p.add_argument('--img-size')", "", []),
    ],
)
def test_shapes_of_items(tmp_path: Path, code: str, words: str, shapes: list[tuple[int, ...]]) -> None:
    found = reading(tmp_path, {"train.py": f"import torchvision\n{code}\n"}, words)
    assert [shape for shape, _ in found.items] == shapes


NAMELESS = "it starts a program whose name is computed at run time"
LOADS = "from torch.utils.data import DataLoader\n"
EVALUATED = f"{LOADS}made = eval(name)\n"


@table(
    "code, stop",
    [
        ("import nobodys", "it imports the unknown package `nobodys`"),
        ("try:\n    import nobodys\nexcept ImportError:\n    pass", ""),
        ("if False:\n    import nobodys", ""),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nobodys", ""),
        ("match x:\n    case 1:\n        import nobodys", "it imports the unknown package `nobodys`"),
        ("import importlib\nimportlib.import_module(name)", "it loads code by a name that is computed at run time"),
        ("exec(text)", "it runs code with `exec`"),
        ("for i in range(4):\n    exec(f'net.layer{i + 1}=value')", ""),
        ("exec('value = 1')", ""),
        ("exec(f'net.layer{i}=value')", "it runs code with `exec`"),
        ("exec(f'net.layer{i + 1}=make()')", "it runs code with `exec`"),
        ("exec('make = DataLoader')", "it runs code with `exec`"),
        ("exec('import nobodys')", "it runs code with `exec`"),
        ("exec('a = (')", "it runs code with `exec`"),
        ("def exec(m):\n    pass\nexec(x)", ""),
        ("def f(b):\n    def exec(m):\n        pass\n    def g():\n        exec(b)\n    g()\nf(2)", ""),
        (f"{LOADS}def eval(m):\n    DataLoader(m)\neval(x)", ""),
        ("def g():\n    def exec(m):\n        pass\ng()\nexec(x)", "it runs code with `exec`"),
        ("class A:\n    def exec(self):\n        exec(x)\nA().exec()", "it runs code with `exec`"),
        ("def exec(m):\n    pass\nexec = builtin\nexec(x)", "it runs code with `exec`"),
        ("def exec(m):\n    pass\nfrom builtins import exec\nexec(x)", "it runs code with `exec`"),
        ("import torch\nsize = eval(text)\ntorch.zeros(size)", ""),
        ("from plain import step\neval(name)()", ""),
        (f"{EVALUATED}def f():\n    DataLoader(d, num_workers=8)", "it runs code with `eval`"),
        (f"{EVALUATED}class A:\n    def __init__(self):\n        subprocess.run(words)\nimport subprocess",
         "it runs code with `eval`"),
        (f"{EVALUATED}def f():\n    import nobodys", "it imports the unknown package `nobodys`"),
        (f"{EVALUATED}from loads import make", "it runs code with `eval`"),
        (f"{EVALUATED}import loads", "it runs code with `eval`"),
        (f"{EVALUATED}from loads import *", "it runs code with `eval`"),
        ("import nets\nprint(nets)", ""),
        (f"{EVALUATED}import evaluates", "it runs code with `eval`"),
        ("import subprocess\nsubprocess.run(words)", NAMELESS),
        ("import subprocess\nsubprocess.run(['ls', name])", ""),
        ("import os\nos.system(f'python {name}.py --fast')", ""),
        ("import os\nos.system('python \"x')", NAMELESS),
        ("import subprocess\nraise subprocess.CalledProcessError(1, words)", ""),
        ("import os\nif os.name == 'nt':\n    import nobodys", ""),
        ("import sys\nif sys.platform.startswith('win'):\n    import nobodys", ""),
        ("import uvicorn\nuvicorn.run('broken:app', port=1)", f"broken.py {UNPARSED}"),
        ("import subprocess, sys\nsubprocess.run([sys.executable, 'other.py'])", ""),
        ("import folder.inner", ""),
        ("import logs", "it imports the unknown package `logs`"),  # a directory without modules
        ("from spread.far import near", ""),
        ("import model_tools", f"model-tools/model_tools.py {UNPARSED}"),
        ("import packed.inner", ""),
        ("from package import main", f"package/beside.py {UNPARSED}"),
        ("from . import plain\nfrom .plain import *\nprint(step())", ""),
        ("import plain, broken", f"broken.py {UNPARSED}"),
        ("import legacy", ""),  # what it says cannot matter: it is not parsed
        ("@app.route('/')\ndef f():\n    import nobodys", "it imports the unknown package `nobodys`"),
        ("def f():\n    import nobodys", ""),
        ("class A:\n    @property\n    def f(self):\n        import nobodys\nA().f\n",
         "it imports the unknown package `nobodys`"),
        ("with a() as b:\n    while c:\n        import nobodys", "it imports the unknown package `nobodys`"),
    ],
)  # fmt: skip
def test_what_ends_the_trail(tmp_path: Path, code: str, stop: str) -> None:
    beside: dict[str, str | bytes] = {
        "folder/inner.py": "", "logs/run.txt": "", "spread/far/near.py": "",
        "plain.py": "import torch\ndef step():\n    return torch.zeros(1)\n",
        "model-tools/setup.py": "", "model-tools/model_tools.py": "subprocess.run(\n",
        "libs/packed/pyproject.toml": "", "libs/packed/src/packed/inner.py": "", "unpacked/nobodys.py": "",
        "loads.py": f"{LOADS}def make():\n    DataLoader(d, num_workers=8)\n", "nets.py": "eval('1')\nimport plain\n",
        "evaluates.py": "def f():\n    import loads\n    eval(x)\n",
        "package/__init__.py": "", "package/main.py": "import beside, torch\n", "package/torch.py": "subprocess.run(\n",
        "package/beside.py": "subprocess.run(\n",
        "broken.py": "subprocess.run(\n", "legacy.py": "print 'old'\n", "other.py": "", "__init__.py": "",
    }  # fmt: skip
    found = reading(tmp_path, {"train.py": f"{code}\n", **beside})
    assert {step.text for step in found.stops} == ({stop} if stop else set())


NAMED = "it loads code by a name that is computed at run time"
OPTION = (
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('--net', default='nets.deep')\na = p.parse_args()\n"
)
TWO = "TABLE = {'a': 'nets.deep', 'b': 'nets.wide'}\n"


@table(
    "code, stops",
    [
        ("import_module(f'nets.{name}')", ["one", "two", "flat"]),
        ("import_module('nets.' + name + '.main')", ["flat", "inner"]),
        ("import_module('nets.%s' % name)", ["one", "two", "flat"]),
        ("import_module('nets.d{}'.format(name))", ["one"]),
        ("import_module('net_' + name)", ["flat"]),
        ("import_module('.' + name, 'nets')", ["one", "two", "flat"]),
        ("import_module(name='.deep', package='nets')", ["one"]),
        ("import nets.pick", ["one", "two", "flat"]),
        (f"{TWO}import_module(TABLE[name])", ["one", "two"]),
        (f"{TWO}import_module(TABLE.get(name))", ["one", "two"]),
        ("T = {'a': ('nets.deep', 'Net')}\nimport_module(T[name][0])", ["one"]),
        (f"{TWO}def load(key):\n    import_module(TABLE[key])\nload('a')", ["one", "two"]),
        (f"{TWO}TABLE['c'] = name\nimport_module(TABLE[name])", [NAMED]),
        (f"{TWO}def add(more):\n    TABLE.update(more)\nimport_module(TABLE[name])", [NAMED]),
        ("for n in ('nets.deep', 'torch', 'nets.wide'):\n    import_module(n)", ["one", "two"]),
        ("def load(n):\n    import_module(n)\nload('nets.deep')\nload(n='nets.wide')", ["one", "two"]),
        ("def load(n):\n    import_module(n)\nload('nets.deep')\nload(other)", [NAMED]),
        # other values may reach the name
        ("def load(n):\n    import_module(n)\nload('nets.deep')\nmap(load, names)", [NAMED]),
        ("def load(n='nets.deep'):\n    import_module(n)\nload(*names)", [NAMED]),
        ("def load(n='nets.deep'):\n    import_module(n)\nload(**names)", [NAMED]),
        ("import click\n@click.command()\ndef load(n='nets.deep'):\n    import_module(n)\nload()", [NAMED]),
        ("def load(n):\n    import_module(n)\n" + "load('nets.deep')\n" * 20 + "load(other)", [NAMED]),
        ("n = 'nets.deep'\nn += name\nimport_module(n)", [NAMED]),
        ("def f():\n    n = 'nets.deep'\n    n, m = g()\n    import_module(n)\nf()", [NAMED]),
        ("n = 'nets.deep'\nif n := g():\n    import_module(n)", [NAMED]),
        ("n = 'nets.deep'\nwith g() as n:\n    import_module(n)", [NAMED]),
        ("n = 'nets.deep'\nfor i, (n, m) in g():\n    import_module(n)", [NAMED]),
        ("n = 'nets.deep'\ntry:\n    g()\nexcept E as n:\n    import_module(n)", [NAMED]),
        ("n = 'nets.deep'\ndef g():\n    global n\n    n = name\nimport_module(n)", [NAMED]),
        ("L = ['nets.deep']\nL.append(name)\nfor n in L:\n    import_module(n)", [NAMED]),
        ("class A:\n    n = 'nets.deep'\n    def f(self):\n        import_module(self.n)\na = A()\na.n = name\na.f()",
         [NAMED]),
        (f"{TWO}import_module(TABLE.get(key, name))", [NAMED]),
        (f"{TWO}import_module(TABLE.get(key, 'net_one'))", ["one", "two", "flat"]),
        ("import table\nimport_module(table.TABLE[key])", [NAMED]),
        ("import_module('nets.deep' if name else 'nets.wide')", ["one", "two"]),
        ("import_module('nets.deep' if name else name)", [NAMED]),
        ("import_module(f'torch.{name}')", []),
        ("import_module(f'others.{name}')", [NAMED]),
        ("import_module(f'{name}.nets')", [NAMED]),
        ("import_module(f'nets.x{name}')", [NAMED]),
        ("for n in names():\n    import_module(n)", [NAMED]),
        ("for n, m in TABLE.items():\n    import_module(m)", [NAMED]),
        ("import_module()", [NAMED]),
        (f"{OPTION}import_module(a.net)", ["one"]),
        (f"{OPTION}import_module(f'{{a.net}}')", ["one"]),
        (f"{OPTION}a.net = name\nimport_module(a.net)", [NAMED]),
        (f"{OPTION}setattr(a, 'net', name)\nimport_module(a.net)", [NAMED]),
        (f"{OPTION}vars(a)['net'] = name\nimport_module(a.net)", [NAMED]),
        (f"{OPTION}vars(a).update(more)\nimport_module(a.net)", [NAMED]),
        (f"{OPTION}a = change(a)\nimport_module(a.net)", [NAMED]),
        (f"{OPTION}p.set_defaults(net=name)\na = p.parse_args()\nimport_module(a.net)", [NAMED]),
        (f"{OPTION}import_module(a.other)", [NAMED]),
        ("import os\nn = os.getenv('NET', 'nets.deep')\nimport_module(n)", ["one"]),
        ("from os import environ\nimport_module(environ.get('NET', 'nets.wide'))", ["two"]),
        ("import os\nimport_module(os.getenv('NET'))", [NAMED]),
        ("import os\nimport_module(os.getenv('NET', name))", [NAMED]),
        ("import os\nos.environ['NET'] = name\nimport_module(os.getenv('NET', 'nets.deep'))", [NAMED]),
        (f"{OPTION}def f(b):\n    import_module(b.net)\nf(a)", ["one"]),
        (f"{OPTION}def f(b):\n    import_module(b.net)\nf(a)\nf(other)", [NAMED]),
        (f"{OPTION}def f():\n    b = p.parse_args()\n    return b\nb = f()\nimport_module(b.net)", ["one"]),
        (f"{OPTION}def f():\n    b = change(p.parse_args())\n    return b\nb = f()\nimport_module(b.net)", [NAMED]),
        (f"{OPTION}def f():\n    b = p.parse_args()\n    b.net = name\n    return b\nb = f()\nimport_module(b.net)",
         [NAMED]),
        (f"{OPTION}a = p.parse_args(words)\nimport_module(a.net)", [NAMED]),
        ("import torch\ndef f(n):\n    torch.utils.cpp_extension.load(n, s)\n    import_module(n)\nf(x)", []),
        ("import torch\ndef f(n):\n    torch.utils.cpp_extension.load(s, n, name=n)\n    import_module(n)\nf(x)", []),
        ("def f(n):\n    torch.load(n)\n    import_module(n)\nimport torch\nf(x)", [NAMED]),
    ],
)  # fmt: skip
def test_modules_that_are_loaded_by_a_name(tmp_path: Path, code: str, stops: list[str]) -> None:
    """Each module that the name may mean is read, and all that it has; where it may mean another one, that is said."""
    files = {
        "nets/__init__.py": "", "nets/deep.py": "def f():\n    import one\n",
        "nets/wide.py": "class A:\n    import two\n", "table.py": f"{TWO}def add(k, v):\n    TABLE[k] = v\n",
        "nets/even/__init__.py": "import flat\n", "nets/even/main.py": "import inner\n", "net_one.py": "import flat\n",
        "nets/pick.py": "from importlib import import_module\nimport_module(f'{__package__}.{x}')\n",
    }  # fmt: skip
    found = reading(tmp_path, {"train.py": f"from importlib import import_module\n{code}\n", **files})
    told = [stop.text.removeprefix("it imports the unknown package ").strip("`") for stop in found.stops]
    assert sorted(told) == sorted(stops)


def test_what_a_program_sets_and_starts_is_kept(tmp_path: Path) -> None:
    code = (
        "import os, subprocess\nos.environ['NCCL_DEBUG'] = 'INFO'\nos.environ.setdefault('NCCL_P2P_DISABLE', '1')\n"
        "subprocess.Popen(['python', 'other.py', '--n', 4])\n"
    )
    found = reading(tmp_path, {"train.py": code})
    assert {(name, text) for name, text, _ in found.environment} == {("NCCL_DEBUG", "INFO"), ("NCCL_P2P_DISABLE", "1")}
    assert [words for words, *_ in found.commands] == [("python", "other.py", "--n", "4")]


WORK = "import torch\nfrom torch.utils.data import DataLoader\n"
METHODS = (
    "class Work:\n    def train(self, workers=3):\n        DataLoader(d, num_workers=workers)\n"
    "    def show(self):\n        pass\n"
)


@table(
    "code, workers, certain",
    [
        (WORK + "def main(_):\n    DataLoader(d, num_workers=3)\nfrom absl import app\napp.run(main)", 3, True),
        (WORK + "def main():\n    DataLoader(d, num_workers=3)\nimport fire\nfire.Fire(main)", 3, True),
        (WORK + "def main():\n    DataLoader(d, num_workers=3)\nregister(main)", 3, False),
        (WORK + METHODS + "import fire\nfire.Fire(Work)", 3, False),
        (WORK + METHODS + "isinstance(a, Work)", None, None),
        ("from work import Work\nimport fire\nfire.Fire(Work)", 3, False),
    ],
)
def test_functions_that_a_command_line_calls(
    tmp_path: Path, code: str, workers: int | None, certain: bool | None
) -> None:
    found = reading(tmp_path, {"train.py": f"{code}\n", "work.py": WORK + METHODS})
    assert [(call.processes.value, call.certain) for call in found.calls] == (
        [(workers, certain)] if workers is not None else []
    )


START = "import os, subprocess, sys\nfrom multiprocessing import Process\n"
STARTER = "def run(command, times=1):\n    subprocess.run(command, shell=True)\n"


@table(
    "code, started",
    [
        ("words = ['python', 'a.py']\nsubprocess.run(words)", [("python", "a.py")]),
        ("def f(n):\n    words = ['python']\n    words.append('a.py')\n    words.extend(['-n', str(n)])\n"
         "    words += ['-v']\n    subprocess.Popen(words)\nf(2)", [("python", "a.py", "-n", "2", "-v")]),
        ("subprocess.check_call([sys.executable, '-m', 'a', *sys.argv[1:]])", [("python", "-m", "a")]),
        ("subprocess.run(['torchrun'] + ['a.py'])", [("torchrun", "a.py")]),
        ("subprocess.run('python a.py -n 1'.split())", [("python", "a.py", "-n", "1")]),
        ("command = 'python a.py --n {}'.format(n)\nos.system(command)", [("python", "a.py", "--n", "$UNKNOWN")]),
        ("os.system('python %s.py' % name)", [("python", "$UNKNOWN.py")]),
        ("os.system(' '.join(['python', 'a.py']))", [("python", "a.py")]),
        ("subprocess.run([sys.executable, os.path.join(root, 'tools', 'a.py')])", [("python", "$UNKNOWN/tools/a.py")]),
        ("import shutil\ntool = shutil.which('ffmpeg')\nsubprocess.call([tool, '-i', a])",
         [("ffmpeg", "-i", "$UNKNOWN")]),
        ("subprocess.run(['bash', HERE / 'a.sh'])", [("bash", "$UNKNOWN/a.sh")]),
        ("subprocess.run(['python', 'a.py'] if n else ['python', 'b.py'])", [("python", "a.py"), ("python", "b.py")]),
        (STARTER + "run('python a.py')\nrun(f'python b.py {n}')", [("python", "a.py"), ("python", "b.py", "$UNKNOWN")]),
        (STARTER + "Process(target=run, args=('python a.py',)).start()", [("python", "a.py")]),
        (STARTER + "Process(target=run, kwargs={'command': 'python a.py'}).start()", [("python", "a.py")]),
        (STARTER + "pool.submit(run, 'python a.py', 2)", [("python", "a.py")]),
        (STARTER + "pool.apply_async(run, args=('python a.py',))", [("python", "a.py")]),
        ("import asyncio\nasyncio.create_subprocess_exec('python', 'a.py')", [("python", "a.py")]),
        ("os.execvp('python', ['python', 'a.py'])", [("python", "a.py")]),
        ("class A:\n    def __init__(self):\n        self.words = ['python', 'a.py']\n"
         "    def go(self):\n        subprocess.run(self.words)\nA().go()", [("python", "a.py")]),
        ("def run(*words):\n    subprocess.run(list(words))\nrun('python', 'a.py')\nrun('ls')",
         [("python", "a.py"), ("ls",)]),
        ("def run(name, *words):\n    subprocess.run([name, *words])\nrun('python', *['a.py', n])",
         [("python", "a.py", "$UNKNOWN")]),
        ("class A:\n    def run(self, *words):\n        subprocess.run(words)\nA().run('python', 'a.py')",
         [("python", "a.py")]),
        ("for line in ['python a.py', 'python b.py']:\n    os.system(line)", [("python", "a.py"), ("python", "b.py")]),
        (STARTER + "lines = ['python a.py']\nlines.append('ls')\nfor line in lines:\n    run(line)",
         [("python", "a.py"), ("ls",)]),
        ("for words in (['python', 'a.py'],):\n    subprocess.run(words)", [("python", "a.py")]),
    ],
)  # fmt: skip
def test_commands_that_a_program_starts(tmp_path: Path, code: str, started: list[tuple[str, ...]]) -> None:
    found = reading(tmp_path, {"train.py": f"{START}{code}\n"})
    assert [words for words, *_ in found.commands] == started
    assert not found.stops


@table(
    "code",
    [
        "for line in lines():\n    os.system(line)",
        "for line in [*lines(), 'ls']:\n    os.system(line)",
        "lines = ['ls']\nlines[0] = input()\nfor line in lines:\n    os.system(line)",
        "for line in ['ls 1', 'ls 2', 'ls 3', 'ls 4', 'ls 5', 'ls 6', 'python a.py']:\n    os.system(line)",
        "def run(*words):\n    subprocess.run(words)\nrun(*words())",
        "def run(**words):\n    subprocess.run(words)\nrun(a='ls')",
        "def run(name, *words):\n    subprocess.run(words)\nrun(*names(), 'ls')",
    ],
)
def test_commands_that_are_not_known(tmp_path: Path, code: str) -> None:
    found = reading(tmp_path, {"train.py": f"{START}{code}\n"})
    assert found.stops


HOSTILE: dict[str, str | bytes] = {
    "brackets": "x = " + "[" * 5_000 + "]" * 5_000,
    "brackets of one line each": "x = " + "[\n" * 5_000 + "]\n" * 5_000,
    "operators": "x = " + "+".join("1" * 50_000),
    "powers": "x = 9 ** 9 ** 9 ** 9\nDataLoader(d, num_workers=x)\n",
    "a literal": "DataLoader(d, num_workers=" + "9" * 100_000 + ")",
    "a long number": "DataLoader(d, num_workers=0x" + "f" * 5_000 + ")",
    "long words": "import os, subprocess\nx = 0x" + "f" * 5_000 + "\nos.environ['A'] = 0x" + "f" * 5_000
    + "\nsubprocess.run(['a', x])\nos.system(x)\nos.system(f'{x}')\nDataLoader(d, **{x: 1})\n",
    "lists of lists": "import subprocess\n" + "".join(f"a{i} = a{i + 1} + a{i + 1}\n" for i in range(60))
    + "a60 = ['x'] * 9\nsubprocess.run(a0)\nsubprocess.run(['a' if b else 'c'] * 9 + ['a' if b else 'c'] * 9)\n",
    "texts of texts": "import os\n" + "".join(f"a{i} = f'{{a{i + 1}}}{{a{i + 1}}}'\n" for i in range(60))
    + "a60 = 'x'\nos.system(a0)\ndef f(a):\n os.system(a)\n f(a + a)\nf('x')\n",
    "a float": "DataLoader(d, num_workers=1e999, batch_size=-1e999)",
    "a repeated text": "DataLoader(d, num_workers='a' * 10**12, batch_size=10**12 * 10**12)",
    "NUL": "import torch\0\n",
    "UTF-16": "import torch\n".encode("utf-16"),
    "Latin-1": "# -*- coding: latin-1 -*-\nx = '\xe9'\n".encode("latin-1"),
    "BOM": "\ufeffimport torch\n",
    "surrogates": "x = '\\ud800'\nimport os\nos.environ['A'] = '\\ud800'\n",
    "odd lines": "x = 1\x0c\n\x0by = 2\r\nDataLoader(d,\r num_workers=4)\r\n",
    "a cycle": "from train import *\nfrom train import main\nimport train\nmain()\n",
    "a cycle of names": "a = b\nb = a\nDataLoader(d, num_workers=a)\n",
    "a cycle of mappings": "a = {**b}\nb = {**a}\nDataLoader(d, **a)\n",
    "a class of itself": "class A(A):\n    n = A.n\nDataLoader(d, num_workers=A.n)\n",
    "elif": "if a:\n pass\n" + "elif a:\n pass\n" * 3_000,
    "elif of a number": f"{HEAD}def f(n):\n if n == a:\n  return 1\n" + " elif n == a:\n  return 2\n" * 1_500
    + "DataLoader(d, num_workers=f(b()))\n",
    "conditions": "x = " + "1 if a else " * 900 + "2",
    "calls": "x = f" + "(1)" * 1_500,
    "functions": "\n".join(f"def f{i}(n): f{i + 1}(n); f{i + 2}(n)" for i in range(400)) + "\nf0(1)\n",
    "mappings": "\n".join(f"m{i} = {{**m{i + 1}, **m{i + 1}}}" for i in range(60)) + "\nDataLoader(d, **m0)\n",
    "names": "\n".join(f"v{i} = v{i + 1} + v{i + 1}" for i in range(300)) + "\nDataLoader(d, num_workers=v0)\n",
    "names of modules": "from importlib import import_module\n"
    + "".join(f"a{i} = a{i + 1} + a{i + 1}\n" for i in range(60))
    + "t = {'a': t, 'b': a0}\nimport_module(t['a'])\nimport_module('.' * 999)\n"
    + "import_module('" + "a*." * 999 + "' + x)\n"
    + "for n in a0:\n    import_module(n)\n" * 1_000
    + "def f(n):\n" + "    import_module(n + a0)\n" * 1_000 + "    f(n + n)\nf(a0)\n",
    "eval": "def f():\n    eval(x)\n    import train\n    f()\n" + "eval(x)\n" * 10_000,
    "an import of a path": "import a.b.c.d.e\nfrom ....... import x\nfrom .... import *\n",
}


@pytest.mark.slow
@table("kind", HOSTILE)
def test_hostile_code_is_unknown_and_never_a_failure(tmp_path: Path, kind: str) -> None:
    found = reading(tmp_path, {"train.py": HOSTILE[kind], "other.py": HOSTILE[kind]}, "--config other.py")
    known = {call.processes.value for call in found.calls if call.processes.certain}
    assert known <= {0, 4, 16**5_000 - 1, float("inf")}


@pytest.mark.fuzz
def test_variants_of_programs_end(tmp_path: Path) -> None:
    """Programs that are cut, spliced and repeated: no failure, no hang."""
    codes = [text for row in (*VALUES, *IN_FUNCTIONS) for text in (row[0].replace("|", "f(") + ")", row[0])]
    words = ("**", "lambda: ", "[" * 70, "f'{", "'''", "\\\n", "class A(A):\n ", "yield", "async ", ":=", "@A.f\n")
    of = [("python", f"{HEAD}{code}\n".encode()) for code in codes] + [("python", word.encode()) for word in words]
    for seed in range(2000):
        _, content = variant(random.Random(seed), of)
        begin = time.process_time()
        reading(tmp_path, {"train.py": content, "config.py": content, **CONFIGURED}, "--workers 4 --config some.py")
        assert time.process_time() - begin < 2, seed


def test_a_part_of_a_list_of_another_module(tmp_path: Path) -> None:
    """A further module may put another value in its place."""
    code = "from torch.utils.data import DataLoader\nfrom conf import N\nimport more\nDataLoader(d, num_workers=N[0])\n"
    files = {"conf.py": "N = [0, 1]\n", "more.py": "from conf import N\nN[0] = 8\n"}
    assert [call.processes.number for call in reading(tmp_path, {**files, "train.py": code}).calls] == [None]
