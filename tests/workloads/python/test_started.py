"""Programs that a program starts."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, LOADER, compose, need

STARTER = """
import subprocess
from multiprocessing import Process

def run(command):
    subprocess.run(command, shell=True)

if __name__ == "__main__":
    Process(target=run, args=(f"COMMAND",)).start()
"""


@table(
    "command, verdict",
    [
        ("python work/big.py", "needed"),
        ("python -m work.{kind} --n {n}", "likely"),
        ("python work/b{kind}.py", "likely"),
        ("python work/s{kind}.py", "unknown"),
        ("python {kind}/small.py", "unknown"),
        ("{program} {n}", "unknown"),
        ("python work/big.py --workers 0", "not-needed"),
        ("ffmpeg -i {n} out.mp4", "not-needed"),
        ("transcode -i {n} out.mp4", "unknown"),
        ("cd work && python big.py --workers 0; python big.py | tee log", "needed"),
        ("torchrun --nproc_per_node=4 work/small.py", "not-needed"),
        ("torchrun --nproc_per_node=4 work/joined.py", "needed"),
    ],
)
def test_programs_that_a_program_starts(tmp_path: Path, command: str, verdict: str) -> None:
    joined = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    files = {
        "compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE,
        "start.py": STARTER.replace("COMMAND", command), "work/big.py": LOADER, "work/small.py": "print(1)\n",
        "work/joined.py": joined,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


HUGGING = """
from transformers import Trainer, TrainingArguments
Trainer(model=make(), args=TrainingArguments("out"), train_dataset=data).train()
"""
HUGGING_OPTIONS = """
from transformers import HfArgumentParser, Trainer, TrainingArguments
args, = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
Trainer(model=make(), args=args, train_dataset=data).train()
"""
GLOO = "import torch, strange\ntorch.distributed.init_process_group('gloo')\n"


@table(
    "command, code, count, verdict",
    [
        ("torchrun --nproc_per_node=4 work/fit.py", HUGGING, "all", "needed"),
        ("torchrun --nproc_per_node=4 work/fit.py --output_dir out", HUGGING_OPTIONS, "all", "needed"),
        ("SEED=1 python -m torch.distributed.launch --nproc_per_node=2 work/fit.py", HUGGING, "4", "needed"),
        ("torchrun --nproc_per_node=4 work/fit.py", "import strange\nstrange.go()\n", "all", "needed"),
        ("accelerate launch work/fit.py", HUGGING, "all", "likely"),
        ("torchrun --nproc_per_node=4 work/fit.py", HUGGING, "1", "not-needed"),
        ("torchrun --nproc_per_node=1 work/fit.py", HUGGING, "all", "not-needed"),
        ("accelerate launch --num_processes 1 work/fit.py", HUGGING, "all", "not-needed"),
        ("python work/fit.py", HUGGING, "all", "not-needed"),
        ("python work/fit.py --nproc_per_node 4", HUGGING, "all", "not-needed"),
        ("torchrun --nproc_per_node=4 work/fit.py", GLOO, "all", "unknown"),
        ("torchrun --nproc_per_node=4 work/other.py && python work/fit.py", HUGGING, "all", "not-needed"),
    ],
)
def test_ranks_that_a_program_starts_with_a_launcher(
    tmp_path: Path, command: str, code: str, count: str, verdict: str
) -> None:
    """Training arguments of transformers join the ranks of a launcher, and code that was not read may."""
    services = compose("python start.py").replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    files = {
        "compose.yaml": services, "Dockerfile": DOCKERFILE, "start.py": STARTER.replace("COMMAND", command),
        "work/fit.py": code, "work/other.py": "print(1)\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    "command, count, verdict",
    [
        ("vllm serve org/model --port {n}", "1", "not-needed"),
        ("vllm serve org/model --port {n}", "all", "not-needed"),
        ("vllm serve org/model {n}", "all", "unknown"),
        ("vllm serve org/model --tensor-parallel-size 4", "all", "needed"),
        ("vllm serve org/model --tensor-parallel-size 4", "1", "not-needed"),
        ("python -m vllm.entrypoints.openai.api_server --model org/model -tp 2", "4", "needed"),
        ("python -m vllm.entrypoints.openai.api_server --model org/model --port {n} -tp 1", "all", "not-needed"),
        ("python -m other.server --port {n}", "1", "unknown"),
        ("python -m vllm.entrypoints.openai.api_server --model org/model -tp {n}", "all", "unknown"),
        ("vllm serve org/model --tensor-parallel-size {n}", "all", "unknown"),
        ("vllm serve org/model --tensor-parallel-size {n}", "1", "not-needed"),
        ("vllm serve org/model && transcode -i {n} out.mp4", "1", "unknown"),
    ],
)
def test_servers_that_a_program_starts(tmp_path: Path, command: str, count: str, verdict: str) -> None:
    """What is known of a command is the same whoever starts it."""
    services = compose("python start.py").replace("{capabilities: [gpu]}", f"{{count: {count}, capabilities: [gpu]}}")
    files = {"compose.yaml": services, "start.py": STARTER.replace("COMMAND", command), "Dockerfile": DOCKERFILE}
    assert need(tmp_path, files).verdict == verdict


@table(
    "made, call, verdict",
    [
        ("def made(n):\n    words = [sys.executable, 'work/big.py']\n    words.append('--x')\n    return words",
         "made(1)", "needed"),
        ("def made(n):\n    if n:\n        return ['python', 'work/small.py']\n    return ['python', 'work/big.py']",
         "made(1)", "likely"),
        ("def made():\n    return ['python', 'work/small.py']", "made()", "not-needed"),
        ("class A:\n    def go(self): subprocess.run(self.made())\n"
         "    def made(self): return ['python', 'work/big.py']\nA().go()", "['true']", "needed"),
        ("from work.names import made", "made()", "needed"),
        ("import work.names as names", "names.made()", "needed"),
        ("from work import made", "made()", "needed"),
        ("from work import other", "other()", "unknown"),
        ("def made(): return made()", "made()", "unknown"),
        ("def made(): return [sys.executable, choose()]", "made()", "unknown"),
        ("def made(): return", "made()", "unknown"),
        ("def made(n): return f'python work/small.py --n {n}'", "made(1), shell=True", "not-needed"),
        ("def made(n):\n    text = 'python work/big.py'\n    text += f' --n {n}'\n    return text",
         "made(1), shell=True", "needed"),
        ("def made(): return ' '.join(['python', 'work/big.py'])", "made(), shell=True", "needed"),
        ("def made(n):\n    if n:\n        return 'python work/small.py'\n    return choose()", "made(1), shell=True",
         "unknown"),
        ("def made(n):\n    words = ['python', 'work/big.py', n]\n    return [str(w) for w in words]", "made(1)",
         "needed"),
        ("def made(n): return [w for w in ['python', 'work/small.py'] if w]", "made(1)", "unknown"),
        ("def made(n): return list(map(str, ['python', 'work/big.py', n]))", "made(1)", "needed"),
        ("async def made(): return ['python', 'work/big.py']\nasync def main(): subprocess.run(await made())\nmain()",
         "['true']", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/big.py']\na = A()", "a.made()", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/small.py']\na = A() if x else choose()", "a.made()",
         "unknown"),
        ("class A:\n    def made(self): return ['python', 'work/big.py']\nclass B:\n    def __init__(self):\n"
         "        self.a = A()\n    def go(self): subprocess.run(self.a.made())\nB().go()", "['true']", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/big.py']\n"
         "class B(A):\n    def go(self): subprocess.run(self.made())\nB().go()", "['true']", "needed"),
        ("class A:\n    def made(self): raise NotImplementedError\n    def go(self): subprocess.run(self.made())\n"
         "class B(A):\n    def made(self): return ['python', 'work/big.py']\nB().go()", "['true']", "needed"),
        ("class A:\n    def made(self): return ['python', 'work/small.py']\n"
         "    def go(self): subprocess.run(self.made())\n"
         "class B(A):\n    def made(self): return ['python', 'work/big.py']\nB().go()", "['true']", "likely"),
        ("def made(n):\n    if n:\n        return ['python', 'work/small.py']\n    return choose()",
         "made(1)", "unknown"),
        ("def made(n):\n    if n:\n        return ['python', 'work/small.py']\n    return None",
         "made(1)", "not-needed"),
        ("class A:\n    def go(self): subprocess.run(self.other.made())\n"
         "    def made(self): return ['python', 'work/small.py']\nA().go()", "['true']", "unknown"),
        ("if x:\n    words = ['python', 'work/small.py']\nelse:\n    words = choose()", "words", "unknown"),
        ("", "['python', 'work/small.py'] if x else choose()", "unknown"),
        ("", "'python work/small.py' if x else choose(), shell=True", "unknown"),
        ("", "'python work/small.py' if x else None, shell=True", "not-needed"),
        ("text = 'python work/small.py'\nif x: text = choose()", "text, shell=True", "unknown"),
        ("path = 'work/small.py'\nif x: path = choose()", "['python', path]", "unknown"),
    ],
)  # fmt: skip
def test_commands_that_a_function_returns(tmp_path: Path, made: str, call: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "work/big.py": LOADER,
        "start.py": f"import subprocess, sys\n{made}\nsubprocess.run({call})\n", "work/small.py": "print(1)\n",
        "work/names.py": "def made():\n    return ('python', 'work/big.py')\n",
        "work/__init__.py": "from work.names import made\nfrom work.names import lost as other\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


SETTING = """
def setting(key, default, fallback=None):
    found = os.getenv(key, "").strip()
    if not found and fallback:
        found = os.getenv(fallback, "")
    if not found:
        return default
    try:
        return int(found)
    except ValueError:
        return default
timeout = setting("TIMEOUT", 90)
name = input()
"""


@table(
    "code, ranks",
    [
        ("n = setting('RANKS', setting(f'{name}_RANKS', 2))\n", 2),
        ("n = setting('RANKS', setting(f'{name}_RANKS', 1))\nif name == 'x': n = 4\n", 4),
        ("few = setting('FEW', 2)\nn = setting('RANKS', few)\n", 2),
        ("n = setting('RANKS', choose())\n", None),
        ("def two(n=2): return str(n)\nmany = two(64)\nn = two()\n", 2),
    ],
)
def test_a_function_returns_what_this_call_passes(tmp_path: Path, code: str, ranks: int | None) -> None:
    """What other calls pass is nothing to it: a timeout is no number of ranks."""
    start = f"import os, subprocess\n{SETTING}{code}"
    start += "subprocess.Popen(['vllm', 'serve', 'm', '--tensor-parallel-size', str(n)])\n"
    files = {"compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "start.py": start}
    because = [one.because for one in need(tmp_path, files).mechanisms if one.id == "nccl"]
    assert because == ([f"{ranks} ranks"] if ranks else [])


def test_a_program_that_code_chooses_is_told_in_words(tmp_path: Path) -> None:
    code = "import subprocess\nsubprocess.run([choose(), 'x'])\n"
    files = {"compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "start.py": code}
    assert need(tmp_path, files).stopped.startswith("it starts a program whose name is computed at run time")


@table(
    "condition, verdict",
    [
        ("if torch.cuda.is_available():\n    ", "needed"),
        ("if ready():\n    ", "likely"),
        ("done = ready() and ", "likely"),
        ("done = None if ready() else ", "likely"),
        ("later = lambda: ", "likely"),
        ("def later():\n    ", "not-needed"),
        ("def later():\n    pass\nif later:\n    later()\n", "needed"),
    ],
)
def test_a_program_is_sure_to_start_another(tmp_path: Path, condition: str, verdict: str) -> None:
    start = f"import os, torch\n{condition}os.system('torchrun --nproc_per_node=4 fit.py')\n"
    joined = "import torch\ntorch.distributed.init_process_group('nccl')\n"
    files = {"compose.yaml": compose("python start.py"), "Dockerfile": DOCKERFILE, "start.py": start, "fit.py": joined}
    assert need(tmp_path, files).verdict == verdict


def test_what_versioneer_writes_asks_git_alone(tmp_path: Path) -> None:
    made = "import subprocess\ndef run(names):\n    for name in names:\n        subprocess.Popen([name])\nrun(GITS)\n"
    header = "\n# This file helps to compute a version number in source trees obtained from\n# git-archive tarball\n"
    files = {"compose.yaml": compose("python serve.py"), "Dockerfile": DOCKERFILE, "serve.py": "import _version\n"}
    assert need(tmp_path, {**files, "_version.py": made}).verdict == "unknown"
    assert need(tmp_path, {**files, "_version.py": header + made}).verdict == "not-needed"
