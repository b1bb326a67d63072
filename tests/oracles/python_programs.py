"""Small Python programs that load data, and what they really do where a stand-in for PyTorch runs them.

The stand-in notes each use of shared memory: a ``DataLoader`` with workers, tensors that are shared, files in
``/dev/shm``. So the truth about a program is seen, not written down by hand.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.project import write

LOADER = "from torch.utils.data import DataLoader\n"
LARGE = "DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=8)"
LARGE_IMPORTS = f"{LOADER}from torchvision.transforms import RandomResizedCrop\n"


class PythonProgram(NamedTuple):
    """A program: its files, its command, and whether it uses shared memory.

    It ``needs`` it, it does not and that is ``plain``, or ``perhaps``: it does not, and that is hard to see.
    """

    name: str
    use: str
    command: str
    files: Mapping[str, str]


_DATA = Path(__file__).parents[1] / "workloads" / "data"


def written(file: str = "programs.txt") -> Iterator[PythonProgram]:
    """Those of a file: ``=== USE NAME | COMMAND``, then the text of ``fit.py``, then others after ``--- PATH``.

    ``LOADER`` stands for a loader whose workers fill more than Docker's default, and for its imports on a line alone.
    """
    text = (_DATA / file).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^LOADER$", LARGE_IMPORTS.rstrip(), text).replace("LOADER", LARGE)
    for block in re.split(r"(?m)^=== ", text)[1:]:
        head, _, body = block.partition("\n")
        named, _, command = head.partition(" | ")
        use, _, name = named.partition(" ")
        yield PythonProgram(name, use, command or "python fit.py", _files(body))


def _files(text: str) -> dict[str, str]:
    parts = re.split(r"(?m)^--- (\S+)\n", text)
    files = {"fit.py": parts[0]} if parts[0].strip() else {}
    return {**files, **dict(zip(parts[1::2], parts[2::2], strict=True))}


_UNSET = (
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default=None)\n"
    "args = parser.parse_args()\n"
)
_FILE = "import argparse, json\nparser = argparse.ArgumentParser()\nparser.add_argument('--conf', default='0.json')\n"
_OPTION = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default=0)\n"
_NUMBERS = (
    "n = {n}",
    "n, other = {n}, 1",
    "n = other = {n}",
    "n = 0\nn += {n}",
    "n = 0\nprint(n := {n})",
    "n = 0\nfor n in (0, {n}):\n    pass",
    "n = 0\n[n] = [{n}]",
    "n = 0\ndef more():\n    global n\n    n = {n}\nmore()",
    "n = 0\nglobals()['n'] = {n}",
    "options = dict(workers={n})\nn = options['workers']",
    "options = {{}}\noptions['workers'] = {n}\nn = options.get('workers', 0)",
    "options = {{'workers': 0}}\noptions.update({{'workers': {n}}})\nn = options['workers']",
    "class Settings:\n    workers = 0\nSettings.workers = {n}\nn = Settings.workers",
    "class Settings:\n    workers = 0\nsetattr(Settings, 'workers', {n})\nn = Settings().workers",
    "class Settings:\n    workers = 0\nclass Large(Settings):\n    workers = {n}\nn = Large().workers",
    "class Settings:\n    def __init__(self, workers=0):\n        self.workers = workers\nn = Settings({n}).workers",
    "from dataclasses import dataclass\n@dataclass\nclass Settings:\n    workers: int = 0\nn = Settings({n}).workers",
    "import settings\nsettings.WORKERS = {n}\nn = settings.WORKERS",
    "import os\nos.environ['WORKERS'] = '{n}'\nn = int(os.environ.get('WORKERS', 0))",
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default={n})\n"
    "n = parser.parse_args([]).workers",
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int, default=0)\n"
    "parser.set_defaults(workers={n})\nargs = parser.parse_args([])\nn = args.workers",
    "import os\nn = {n} if os.path.exists(__file__) else 0",
    "def number(few=0):\n    return few\nn = number({n})",
    "try:\n    n = int('none')\nexcept ValueError:\n    n = {n}",
    _UNSET + "args.workers = args.workers or {n}\nn = args.workers",
    _UNSET + "if args.workers is None:\n    args.workers = {n}\nn = args.workers",
    _UNSET + "args.workers = {n} if args.workers is None else args.workers\nn = args.workers",
    _UNSET + "n = {n} if args.workers is None else args.workers",
    _UNSET + "n = args.workers\nn = {n} if n == None else n",
    _UNSET + "vars(args)['workers'] = {n}\nn = args.workers",
    _UNSET + "args.__dict__.update(workers={n})\nn = args.workers",
    _UNSET + "setattr(args, 'workers', {n})\nn = args.workers",
    _UNSET + "def fill(args):\n    args.workers = {n}\n    return args\nn = fill(args).workers",
    _UNSET + "def fill(settings):\n    settings.workers = {n}\nfill(args)\nn = args.workers",
    _UNSET + "args = argparse.Namespace(**{{**vars(args), 'workers': {n}}})\nn = args.workers",
    _UNSET.replace("None", "0") + "if not args.workers:\n    args.workers = {n}\nn = args.workers",
    _UNSET.replace("None", "0") + "args.workers += {n}\nn = args.workers",
    _UNSET.replace("None", "0") + "class Settings:\n    pass\ns = Settings()\ns.workers = max(args.workers, {n})\n"
    "n = s.workers",
    "import argparse\nn = argparse.Namespace(workers={n}).workers",
    "from types import SimpleNamespace\ns = SimpleNamespace(workers=0)\ns.workers = {n}\nn = s.workers",
    "s = {{'data': {{'workers': 0}}}}\ns['data']['workers'] = {n}\nn = s['data']['workers']",
    "s = {{'data': {{'workers': 0}}}}\ndata = s['data']\ndata['workers'] = {n}\nn = s['data']['workers']",
    "s = {{'workers': 0}}\ns |= {{'workers': {n}}}\nn = s['workers']",
    "s = {{'workers': 0}}\nfor key in s:\n    s[key] = {n}\nn = s['workers']",
    "s = {{**{{'workers': 0}}, **{{'workers': {n}}}}}\nn = s['workers']",
    "n = dict(workers={n}).pop('workers')",
    "n = {{'workers': {n}}}.setdefault('workers', 0)",
    "import json\nn = json.loads('{{\"workers\": {n}}}')['workers']",
    "import json\nwith open('own.json', 'w') as file:\n    json.dump({{'workers': {n}}}, file)\n"
    "n = json.load(open('own.json'))['workers']",
    "import configparser\nc = configparser.ConfigParser()\nc.read_string('[a]\\nworkers={n}')\n"
    "n = c.getint('a', 'workers')",
    "n = max(0, {n})", "n = min(9, {n})", "n = int('{n}')", "n = len(range({n}))", "n = sum([0, {n}])",
    "n = [0, {n}][-1]", "n = (0, {n})[1]", "n = (lambda: {n})()", "n = next(iter([{n}]))", "n = eval('{n}')",
    "exec('n = {n}')",
    "n = 0\nwhile n < {n}:\n    n += 1",
    "n = 0\nmatch 1:\n    case 1:\n        n = {n}",
    "n = 0\nif (n := {n}) > 0:\n    pass",
    "def outer():\n    few = 0\n    def inner():\n        nonlocal few\n        few = {n}\n    inner()\n"
    "    return few\n"
    "n = outer()",
    "def numbers():\n    yield {n}\n[n] = numbers()",
    "class Settings:\n    @property\n    def workers(self):\n        return {n}\nn = Settings().workers",
    "class Settings:\n    workers = 0\n    def __getattribute__(self, name):\n        return {n}\n"
    "n = Settings().workers",
    "class Settings:\n    workers = 0\n    def __init__(self):\n        self.__dict__['workers'] = {n}\n"
    "n = Settings().workers",
    "class Settings:\n    workers = 0\n    @classmethod\n    def fill(cls):\n        cls.workers = {n}\n"
    "Settings.fill()\n"
    "n = Settings.workers",
    "import enum\nclass Workers(enum.IntEnum):\n    MANY = {n}\nn = int(Workers.MANY)",
    "from typing import NamedTuple\nclass Settings(NamedTuple):\n    workers: int = 0\n"
    "n = Settings()._replace(workers={n}).workers",
    "from dataclasses import dataclass, replace\n@dataclass\nclass Settings:\n    workers: int = 0\n"
    "n = replace(Settings(), workers={n}).workers",
    "from dataclasses import dataclass, field\n@dataclass\nclass Settings:\n"
    "    workers: int = field(default_factory=lambda: {n})\nn = Settings().workers",
    "from dataclasses import dataclass\n@dataclass\nclass Settings:\n    workers: int = 0\n"
    "    def __post_init__(self):\n"
    "        self.workers = self.workers or {n}\nn = Settings().workers",
    "import os\nos.environ |= {{'WORKERS': '{n}'}}\nn = int(os.environ['WORKERS'])",
    "import importlib\nimportlib.import_module('settings').WORKERS = {n}\nfrom settings import WORKERS as n",
    "import settings\nvars(settings)['WORKERS'] = {n}\nfrom settings import *\nn = WORKERS",
    "import functools\nn = functools.reduce(max, [0, {n}])",
    "#: --workers {n}\n" + _OPTION + "n = parser.parse_args().workers",
    "#: --workers={n}\n" + _OPTION + "n = vars(parser.parse_args())['workers']",
    "#: --work {n}\n" + _OPTION + "args, rest = parser.parse_known_args()\nn = args.workers",
    "#: -w{n}\n" + _OPTION.replace("'--", "'-w', '--") + "n = parser.parse_args().workers",
    "#: --few {n}\n" + _OPTION.replace("'--workers'", "'--few', dest='workers'") + "n = parser.parse_args().workers",
    "#: {n}\n" + _OPTION.replace("'--workers'", "'workers', nargs='?'") + "n = parser.parse_args().workers",
    "#: --workers 1 {n}\n" + _OPTION.replace("default=0", "nargs='+'") + "n = parser.parse_args().workers[-1]",
    "#: --workers {n}\n" + _OPTION.replace("default=0", "action='append'") + "n = parser.parse_args().workers[0]",
    "#: --fast\n" + _OPTION.replace("'--workers', type=int, default=0", "'--fast', action='store_const', const={n}")
    + "n = parser.parse_args().fast",
    "#: fit --workers {n}\n" + _OPTION.replace("parser.add", "parser.add_subparsers().add_parser('fit').add")
    + "n = parser.parse_args().workers",
    "#: --workers {n}\n" + _OPTION.replace("parser.add", "parser.add_argument_group('a').add")
    + "n = parser.parse_args().workers",
    "#: --workers {n}\n" + _OPTION + "more = argparse.ArgumentParser(parents=[parser], add_help=False)\n"
    "n = more.parse_args().workers",
    "#: --workers 0\n" + _OPTION + "n = parser.parse_args(['--workers', '{n}']).workers",
    "#: --workers 0\n" + _OPTION + "args = parser.parse_args()\nargs.workers = {n}\nn = args.workers",
    "#: --workers {n} --debug\n" + _OPTION + "parser.add_argument('--debug', action='store_true')\n"
    "args = parser.parse_args()\nn = args.workers if args.debug else 0",
    "#: --debug\n" + _OPTION + "parser.add_argument('--debug', action='store_true')\nargs = parser.parse_args()\n"
    "if args.debug:\n    args.workers = {n}\nn = args.workers",
    "#: --no-debug\n" + _OPTION
    + "parser.add_argument('--debug', action=argparse.BooleanOptionalAction, default=True)\n"
    "args = parser.parse_args()\nn = args.workers if args.debug else {n}",
    "#: @own.txt\n" + _OPTION.replace("Parser(", "Parser(fromfile_prefix_chars='@'")
    + "with open('own.txt', 'w') as file:\n    file.write('--workers={n}')\nn = parser.parse_args().workers",
    "#: {n}\nimport sys\nn = int(sys.argv[1])",
    "#: --workers {n}\nimport sys\nn = int(sys.argv[sys.argv.index('--workers') + 1])",
    "#: workers={n}\nimport sys\ns = dict(word.split('=') for word in sys.argv[1:])\nn = int(s['workers'])",
    "#: -w {n}\nimport getopt, sys\nn = int(dict(getopt.getopt(sys.argv[1:], 'w:')[0])['-w'])",
    "#: --workers {n}\nimport optparse\nparser = optparse.OptionParser()\n"
    "parser.add_option('--workers', type='int', default=0)\nn = parser.parse_args()[0].workers",
    "#: WORKERS={n}\nimport os\nn = int(os.environ.get('WORKERS', '0'))",
    "#: WORKERS={n}\nimport os\nn = int(os.getenv('WORKERS') or 0)",
    "#: WORKERS={n}\n" + _OPTION.replace("default=0", "default=int(__import__('os').environ['WORKERS'])")
    + "n = parser.parse_args().workers",
    "import json\nn = json.load(open('{n}.json'))['workers']",
    "import json, os\nn = json.load(open(os.path.join(os.path.dirname(__file__), '{n}.json')))['data']['workers']",
    "import json, pathlib\nn = json.loads(pathlib.Path('{n}.json').read_text())['workers']",
    "import json\ns = json.load(open('0.json'))\ns.update(json.load(open('{n}.json')))\nn = s['workers']",
    "import json\ns = {{'workers': 0, **json.load(open('{n}.json'))}}\nn = s['workers']",
    "#: --conf {n}.json\n" + _FILE + "n = json.load(open(parser.parse_args().conf))['workers']",
    "#: --conf {n}.json\n" + _FILE + "args = parser.parse_args()\nargs.__dict__.update(json.load(open(args.conf)))\n"
    "n = args.workers",
    "#: --conf {n}.json\n" + _FILE + "args = parser.parse_args()\n"
    "for key, value in json.load(open(args.conf)).items():\n"
    "    setattr(args, key, value)\nn = args.workers",
    "#: --conf {n}.json\n" + _FILE + "args, rest = parser.parse_known_args()\n"
    "parser.add_argument('--workers', type=int, default=0)\nparser.set_defaults(**json.load(open(args.conf)))\n"
    "n = parser.parse_args().workers",
    "#: --conf {n}.json\n" + _FILE + "from types import SimpleNamespace\n"
    "s = json.load(open(parser.parse_args().conf), object_hook=lambda d: SimpleNamespace(**d))\nn = s.data.workers",
    "#: --conf {n}.json\n" + _FILE + "class Settings:\n    workers = 0\n    def __init__(self, path):\n"
    "        self.__dict__ |= json.load(open(path))\nn = Settings(parser.parse_args().conf).workers",
    "#: --conf {n}.json\n" + _FILE + "class Settings(dict):\n    __getattr__ = dict.__getitem__\n"
    "n = Settings(json.load(open(parser.parse_args().conf))).workers",
    "#: --conf {n}.json --workers 0\n" + _FILE + "parser.add_argument('--workers', type=int)\n"
    "args = parser.parse_args()\n"
    "s = json.load(open(args.conf))\nn = s['workers'] or args.workers",
    "import tomllib\nwith open('{n}.toml', 'rb') as file:\n    n = tomllib.load(file)['workers']",
    "import importlib\nn = importlib.import_module('conf{n}').WORKERS",
    "from conf{n} import *\nn = WORKERS",
    "#: conf{n}\nimport importlib, sys\nn = importlib.import_module(sys.argv[1]).WORKERS",
    "#: conf{n}.py\nimport runpy, sys\nn = runpy.run_path(sys.argv[1])['WORKERS']",
    "#: conf{n}.py\nimport sys\ns = {{}}\nexec(open(sys.argv[1]).read(), s)\nn = s['WORKERS']",
)
"""How a program comes to a number, ``n``; after ``#:`` the words of its command, or a variable that is set before it.
"""
_CALLS = (
    "DataLoader([1], num_workers=N)",
    "DataLoader([1], 1, False, None, None, N)",
    "DataLoader([1], **{'num_workers': N})",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\nmake(N)",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\nmake(**{'workers': N})",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\nmake(*[N])",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\nkinds = {'a': make}\nkinds['a'](N)",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\nother = make\nother(workers=N)",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\nlist(map(make, [N]))",
    "def make(workers=0):\n    return DataLoader([1], num_workers=workers)\n(lambda few: make(few))(N)",
    "import functools\ndef make(workers=0):\n    return DataLoader([1], num_workers=workers)\n"
    "functools.partial(make, workers=N)()",
    "import functools\nfunctools.partial(DataLoader, num_workers=N)([1])",
    "import threading\ndef make(workers=0):\n    return DataLoader([1], num_workers=workers)\n"
    "threading.Thread(target=make, args=(N,)).start()",
    "import atexit\ndef make(workers=0):\n    return DataLoader([1], num_workers=workers)\natexit.register(make, N)",
    "class Own(DataLoader):\n    pass\nOwn([1], num_workers=N)",
    "class Own(DataLoader):\n    def __init__(self, data, few):\n        super().__init__(data, num_workers=few)\n"
    "Own([1], N)",
    "class Own(DataLoader):\n    def __init__(self, data, **more):\n        super().__init__(data, **more)\n"
    "Own([1], num_workers=N)",
    "class Maker:\n    def make(self, workers=0):\n        return DataLoader([1], num_workers=workers)\n"
    "getattr(Maker(), 'make')(N)",
    "class Maker:\n    def __init__(self, workers=0):\n        self.workers = workers\n    def make(self):\n"
    "        return DataLoader([1], num_workers=self.workers)\nkind = Maker\nkind(N).make()",
    "class Maker:\n    def __call__(self, workers=0):\n        return DataLoader([1], num_workers=workers)\nMaker()(N)",
    "def kept(kind):\n    kinds.append(kind)\n    return kind\nkinds = []\n@kept\nclass Maker:\n"
    "    def __init__(self, workers=0):\n        DataLoader([1], num_workers=workers)\nkinds[0](N)",
    "def given(make):\n    return lambda: make(N)\n@given\ndef make(workers=0):\n"
    "    return DataLoader([1], num_workers=workers)\nmake()",
    "class Maker:\n    workers = 0\n    def make(self):\n        return DataLoader([1], num_workers=self.workers)\n"
    "type('Other', (Maker,), {'workers': N})().make()",
    "import work\nwork.make(N)",
    "from work import make as other\nother(workers=N)",
    "from work import *\nmake(N)",
    "import work\ngetattr(work, 'make')(N)",
    "import importlib\nimportlib.import_module('work').make(N)",
    "from work import Maker\nMaker(N).make()",
    "from work import Maker\nmaker = Maker()\nmaker.workers = N\nmaker.make()",
    "import work\nwork.WORKERS = N\nwork.run()",
    "import work\nclass Other(work.Maker):\n    def __init__(self):\n        super().__init__(workers=N)\n"
    "Other().make()",
    "import runpy\nrunpy.run_path('work.py')['make'](N)",
    "import subprocess, sys\nsubprocess.run([sys.executable, 'work.py', str(N)])",
    "import os, sys\nos.system(f'{sys.executable} work.py {N}')",
    "import sys\nsys.argv = ['work.py', str(N)]\nimport work\nwork.main()",
    "import os\nos.environ['LOADERS'] = str(N)\nimport work\nwork.from_environment()",
    "import work, unittest.mock\nwith unittest.mock.patch('work.WORKERS', N):\n    work.run()",
    "from concurrent.futures import ThreadPoolExecutor\nfrom work import make\nwith ThreadPoolExecutor() as pool:\n"
    "    pool.submit(make, N).result()",
    "import asyncio, work\nasync def go():\n    work.make(N)\nasyncio.run(go())",
    "import work\ntry:\n    pass\nfinally:\n    work.make(N)",
    "import work\nkinds = [work.make, print]\n[kind(N) for kind in kinds]",
    "import click\n@click.command()\n@click.option('--few', default=N)\ndef go(few):\n"
    "    DataLoader([1], num_workers=few)\n"
    "go([], standalone_mode=False)",
    "def make(**more):\n    return DataLoader([1], **more)\nmake(num_workers=N)",
    "def make(*more, **named):\n    return DataLoader(*more, **named)\nmake([1], 1, False, None, None, N)",
    "from torch.utils import data\ndata.DataLoader([1], num_workers=N)",
    "import torch\ntorch.utils.data.DataLoader([1], num_workers=N)",
    "loader = DataLoader\nloader([1], num_workers=N)",
    "import torch.utils.data as other\nmake = getattr(other, 'DataLoader')\nmake([1], num_workers=N)",
    "def make(kind):\n    return kind([1], num_workers=N)\nmake(DataLoader)",
    "import torch\n[torch.zeros(1).share_memory_() for _ in range(N)]",
    "import torch.multiprocessing as mp\nif N:\n    mp.Queue()",
    "import torch.multiprocessing as mp\nqueues = [mp.Queue() for _ in range(N)]",
    "from torch.multiprocessing import Pool\nfor _ in range(N):\n    Pool(2).close()",
    "from torch import nn\nN and nn.Linear().share_memory()",
    "from multiprocessing.shared_memory import SharedMemory\nif N:\n    SharedMemory(create=True, size=2**30)",
    "from multiprocessing import shared_memory as s\n[s.SharedMemory(create=True, size=2**30) for _ in range(N)]",
    "with open('/dev/shm/a' if N else 'own.txt', 'w') as file:\n    file.write('x' * 9)",
    "if N:\n    DataLoader([1], num_workers=N)",
    "def make():\n    if not N:\n        return\n    DataLoader([1], num_workers=8)\nmake()",
)
"""How a program makes its loader with a number, ``N``."""
_WORK = """import os, sys
from torch.utils.data import DataLoader
WORKERS = 0
def make(workers=0):
    return DataLoader([1], num_workers=workers)
class Maker:
    def __init__(self, workers=0):
        self.workers = workers
    def make(self):
        return make(self.workers)
def run():
    make(WORKERS)
def from_environment():
    make(int(os.environ.get('LOADERS', '0')))
def main():
    make(int(sys.argv[1]))
if __name__ == '__main__':
    main()
"""
BESIDE = {
    "settings.py": "WORKERS = 0\n", "work.py": _WORK, "conf0.py": "WORKERS = 0\n", "conf8.py": "WORKERS = 8\n",
    "0.json": '{"workers": 0, "data": {"workers": 0}}\n', "8.json": '{"workers": 8, "data": {"workers": 8}}\n',
    "0.toml": "workers = 0\n", "8.toml": "workers = 8\n",
}  # fmt: skip
"""The files beside a program."""
_PLACES = (
    "{code}",
    "if __name__ == '__main__':\n{inside}",
    "def main():\n{inside}\nmain()",
    "try:\n    raise SystemExit\nexcept SystemExit:\n{inside}",
    "import contextlib\nwith contextlib.suppress(ValueError):\n    raise ValueError\n{code}",
    "class Task:\n    def run(self):\n        main()\ndef main():\n{inside}\nfor kind in (Task,):\n    kind().run()",
)
"""Where a program does that."""


def made(number: int) -> PythonProgram:
    """The program of that number: a number of workers, a way to a loader and a place, put together by chance."""
    chance = random.Random(number)
    workers = chance.choice((0, 8))
    command, text = _command(chance.choice(_NUMBERS).format(n=workers))
    code = chance.choice(_CALLS)
    alone = "class " in code or "import *" in code
    place = chance.choice([place for place in _PLACES if not alone or "def " not in place])
    code = re.sub(r"\bN\b", "n", code)
    inside = "\n".join(f"    {line}" for line in code.split("\n"))
    code = f"{LOADER}{text}\n{place.format(code=code, inside=inside)}\n"
    files = {"fit.py": code, **BESIDE}
    return PythonProgram(f"made {number}", "needs" if workers else "perhaps", command, files)


def _command(text: str) -> tuple[str, str]:
    """The command of a program that begins with its words, and the rest of its text."""
    words, _, rest = text.removeprefix("#: ").partition("\n")
    if not text.startswith("#: "):
        return "python fit.py", text
    return (f"env {words} python fit.py" if words.startswith("WORKERS=") else f"python fit.py {words}"), rest


def uses(program: PythonProgram, directory: Path) -> list[str]:
    """What of shared memory a program uses, as the stand-in notes it."""
    stand_in, here = directory / "stand_in", directory / "run"
    write(stand_in, _files((_DATA / "stand_in.txt").read_text(encoding="utf-8")))
    write(here, program.files)
    notes = directory / "notes"
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    environment = {"PATH": path, "PYTHONPATH": str(stand_in), "NOTES": str(notes), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        program.command, shell=True, cwd=here, env=environment, capture_output=True, text=True, timeout=60
    )
    assert not done.returncode, done.stderr
    return sorted(set(notes.read_text().split("\n")) - {""}) if notes.exists() else []
