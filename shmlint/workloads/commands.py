"""The words of a command: simple commands, options that count ranks and workers, and commands that only look."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest
from typing import Literal

from shmlint.docker.prefixes import after_prefix, prefix_of
from shmlint.model.launch import ENGINES
from shmlint.model.number import whole_number

MISSING = "$UNKNOWN"
"""A word, or a part of one, that is not written down."""
NO_NAME = "it starts a program whose name is computed at run time"
"""What is said of a command whose first word is that."""
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash"})
_BUILTINS = frozenset(
    {
        ".", ":", "[", "[[", "alias", "bind", "break", "case", "cd", "complete", "continue", "declare", "dirs",
        "disown", "echo", "elif", "enable", "esac", "exit", "export", "false", "fg", "function", "getopts", "hash",
        "jobs", "kill", "let", "local", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly",
        "return", "set", "shift", "shopt", "source", "test", "times", "trap", "true", "type", "typeset", "ulimit",
        "umask", "unalias", "unset", "wait",
    }
)  # fmt: skip
"""Builtins and words of shells that run no program themselves."""
_SILENT = _BUILTINS | frozenset(
    {
        "}", ")", "addgroup", "adduser", "apt", "apt-get", "apt-key", "aria2c", "base64", "basename", "chgrp",
        "chmod", "chown", "chpasswd", "clear", "cmp", "column", "comm", "conda", "cp", "crontab",
        "curl", "dd", "delgroup", "deluser", "dirname", "done", "dos2unix", "envsubst", "expr", "fi", "fold", "for",
        "getconf", "getent", "git", "git-lfs", "gpg", "groupdel", "groupmod", "groups", "gzip", "hf", "huggingface-cli",
        "id", "ifconfig", "install", "ip", "micromamba",
        "iptables", "jetson_clocks", "join", "killall", "ldconfig", "ln", "logger", "ls", "mamba", "mkdir", "mkfifo",
        "mknod", "mktemp", "modprobe", "mountpoint", "mv", "nl", "numfmt", "nvidia-cuda-mps-control",
        "nvidia-persistenced", "nvpmodel", "openssl", "paste", "pip",
        # https://github.com/rapidsai/gha-tools/blob/fc3e0ce92a3f5658e9ff7b47156dc8230ff57160/tools/rapids-logger
        "rapids-logger",
        "pip3", "pkill", "readlink", "realpath", "renice", "rev", "rm", "rmdir", "seq", "service", "setfacl", "shred",
        "shuf", "split", "ssh-add", "ssh-keyscan", "strings", "stty", "swapoff", "sync", "sysctl", "tac",
        "touch", "tput", "truncate", "tty", "umount", "unlink", "update-ca-certificates", "userdel", "usermod",
        "users", "uv", "visudo", "wget", "which", "who", "whoami", "xhost", "xxd", "xz",
        "yes",
    }
)  # fmt: skip
"""Programs that prepare what is run and tell nothing about it."""
_FOLLOWS = r"-[cnqsvz0-9]*[fF]\w*|--follow(?:=.*)?|--retry"
"""Options of ``tail`` with which it does not end."""

_QUERIES = (
    "is_available()", "device_count()", "get_device_name(", "get_device_properties(", "list_physical_devices(",
    "list_local_devices(", "is_gpu_available(", "jax.devices(", "__version__", "version.cuda", "is_built_with_cuda(",
)  # fmt: skip
_WORK = ("import_module", "exec(", "eval(", "runpy", "subprocess", "system(", "spawn", "distributed", "DataLoader")
_LONGEST_LOOK = 500
"""Characters; a longer program does more than look."""
_TELLS = frozenset({"--version", "-version", "version", "-V", "--help", "-h"})
_LOOKS = frozenset(
    {
        "date", "deviceQuery", "df", "du", "env", "ffprobe", "find", "free", "grep", "head", "hostname", "ldd", "lsmod",
        "lspci", "lscpu", "lsblk", "mount", "nproc", "nvidia-smi", "printenv", "stat", "uname", "uptime", "wc", "where",
    }
)  # fmt: skip
"""Programs that print what they see and end, beside those that tell nothing of what is run."""
_PRINTS = frozenset(
    {"echo", "getconf", "getent", "groups", "hash", "id", "ifconfig", "ls", "printf", "pwd", "readlink", "realpath",
     "strings", "type", "ulimit", "users", "which", "who", "whoami"}
)  # fmt: skip
"""More of these, which count as preparation in a script, where something else is run as well."""


def simple_commands(words: Sequence[str]) -> Iterator[list[str]]:
    """Words split at shell operators, without what only starts each program: shells, ``sudo``, ``uv run``."""
    command: list[str] = []
    for word in (*words, ";"):
        if word not in (";", "&&", "||", "|", "&"):
            command.append(word)
            continue
        command = _without_shells(command)
        if command:
            yield command
        command = []


def only_prints(words: Sequence[str]) -> bool:
    """Whether a command with which nothing is run prints something: ``ls /workspace``, ``env``."""
    if list(words) == ["env"]:
        return True
    programs = [command[0].rpartition("/")[2] for command in simple_commands(flatten(words))]
    return bool(programs) and all(program in _PRINTS or program in _LOOKS for program in programs)


def in_container(words: tuple[str, ...]) -> tuple[str, ...]:
    """What a command runs in its container: of one that starts its words on another host, only the name."""
    program = words[0].rpartition("/")[2] if words else ""
    elsewhere = program in _REMOTE or (program in _OTHER_CONTAINERS and "exec" in words[1:])
    return words[:1] if elsewhere else words


_REMOTE = frozenset({"ssh", "pdsh", "sshpass"})
_OTHER_CONTAINERS = frozenset({"kubectl", "oc", *ENGINES})
"""Programs whose ``exec`` runs the rest in another container."""


def _without_shells(command: list[str]) -> list[str]:
    """What a simple command runs, without keywords, shells and what else only starts it."""
    while command:
        program = command[0].rpartition("/")[2]
        if program in _KEYWORDS:
            command = command[1:]
        elif program in SHELLS and command[1:]:
            is_text, left = shell_argument(command)
            if not left:
                return [command[0]]
            if not is_text:
                return command
            command = list(left)
        elif (inner := list(unwrapped(command))) != command:
            command = inner
        else:
            return command
    return command


_KEYWORDS = frozenset({"do", "then", "else", "while", "until", "if", "!", "(", "{"})
"""Words of a shell in front of a command."""


def shell_argument(command: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Whether a shell is given a text (``bash -lc -- TEXT``) or a file, and its words from that on."""
    rest = list(command[1:])
    is_text = False
    while rest and rest[0].startswith(("-", "+")):
        option = rest.pop(0)
        if option in ("-", "--"):
            break
        is_text = is_text or ("c" in option and option[0] == "-" and not option.startswith("--"))
        if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file") and rest:
            rest.pop(0)
    return is_text, tuple(rest)


def flatten(words: Iterable[str]) -> list[str]:
    """The words of a command, with scripts handed to a shell (``bash -c "…"``) split as well."""
    found: list[str] = []
    for word in words:
        if any(c in word for c in " \t\n;"):
            script = word.replace("\\\n", " ").replace("\n", " ; ").replace(";", " ; ")
            found += script.replace("&&", " && ").replace("||", " || ").split()
        else:
            found.append(word)
    return [word.strip("'\"") or word for word in found]


_RANK_OPTIONS = frozenset(
    {
        "--nproc_per_node", "--nproc-per-node", "--tensor-parallel-size", "--tensor_parallel_size",
        "--data-parallel-size", "--data_parallel_size", "--pipeline-parallel-size", "--pipeline_parallel_size",
        "--num-shard", "--num_shard", "--machine.num-devices", "--machine.num_devices",
    }
)  # fmt: skip
"""Those of torchrun, vLLM, TGI and nerfstudio."""
_LAUNCHER_OPTIONS = frozenset(
    {
        "-tp", "--tp", "--tp-size", "--tp_size", "-dp", "--dp", "--dp-size", "--dp_size", "-pp", "--pp", "--pp-size",
        "--pp_size", "--num_gpus", "--num-gpus", "--num_processes", "--num-processes", "--world-size", "--world_size",
    }
)  # fmt: skip
"""Options that count ranks in the programs known here, and may count anything in others."""
MPI_STARTERS = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "orterun"})
"""Programs with which MPI starts its processes."""
MPI_LAUNCHERS = MPI_STARTERS | {"horovodrun", "torchpack"}
"""These, and programs that start them."""
_MPI_OPTIONS = frozenset({"-np", "-n", "--np"})
_COMPOSER_OPTIONS = frozenset({"-n", "--nproc"})
"""Its ``--world_size`` counts the ranks of all hosts. https://docs.mosaicml.com/projects/composer/en/stable/notes/distributed_training.html"""
MOST_RANKS = 128
"""Ranks on one host; more are on several, or the number stands for something else."""
RANK_OF = frozenset(
    {"--rank", "--node_rank", "--node-rank", "--dist_rank", "--dist-rank", "--local_rank", "--local-rank"}
)
"""Options that tell a process which of the ranks it is: the others are started elsewhere, each by a command of its own.

NCCL does not use shared memory between containers, whose /dev/shm differ (``shmCanConnect`` in src/transport/shm.cc).
"""
_TORCHRUN = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"})
_STARTS_PYTHON = MPI_LAUNCHERS | _TORCHRUN | {
    "accelerate", "deepspeed", "composer", "colossalai", "fleetrun", "ray", "yolo", "fairseq-train",
    "fairseq-hydra-train",
}  # fmt: skip
"""Programs that run Python, or are written in it, without a word that says so."""
_WORKER_OPTIONS = frozenset(
    {"--num_workers", "--num-workers", "--dataloader_num_workers", "--dataloader-num-workers",
     "--max_data_loader_n_workers"}
)  # fmt: skip
"""The last is of kohya-ss/sd-scripts (library/train_util.py)."""
_TRAINERS_OPTIONS = frozenset({"--workers", "--n_workers", "--n-workers", "--nworkers"})
"""Options that count DataLoader workers in programs for training, and anything in others."""


def options(words: Sequence[str], names: frozenset[str]) -> Iterator[tuple[str, str]]:
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            if equals:
                yield name, value
            elif i + 1 < len(words):
                yield name, words[i + 1]


def read_ranks(words: Sequence[str], *, launcher: bool = True) -> tuple[int | None, bool]:
    """How many processes share the work, by the command's own options, multiplied where several
    kinds are given; and whether an option is there whose number is not known.

    ``launcher`` is whether the program is known to be one whose other options count ranks.
    """
    return _read_ranks(tuple(words), launcher)


@lru_cache(512)  # launches of one page ask for the same commands
def _read_ranks(words: tuple[str, ...], launcher: bool) -> tuple[int | None, bool]:
    programs = {word.rpartition("/")[2] for word in words}
    if programs & MPI_LAUNCHERS and _has_host_file(words):
        return None, True
    on_cpus = _runs_fabric(words) and ("--accelerator=cpu" in words or ("--accelerator", "cpu") in pairwise(words))
    if on_cpus or (not programs.isdisjoint(_ACCELERATE) and "--cpu" in words):
        return 1, False  # its processes run on CPUs: NCCL connects none of them
    total: int | None = None
    unknown = False
    counting = _last_values(options(_counted(words, programs, launcher), _counting(words, programs, launcher)))
    listed = *_included(words), *_on_devices(words), *_on_paddle_devices(words)
    for value in (*counting, *_of_keys(words), *listed, *_of_fairseq(words, programs)):
        number = _devices(value)
        if number is None:
            unknown = True
            default = re.fullmatch(_WITH_DEFAULT, value)
            number = whole_number(default[1]) if default is not None else None
        if number is not None:
            total = max(total or 1, 1) * number
    machines = next((whole_number(value) for _, value in options(words, _MACHINES)), None)
    if machines is not None and machines > 1 and total is not None:
        total = max(total // machines, 1)
    if programs & MPI_LAUNCHERS and total is not None:
        total = min(total, _slots(words) or total)
    if total is not None and total > MOST_RANKS:
        return None, True
    if programs & _TORCHRUN:
        if total is None and not unknown:
            total = 1  # its own default
        if any(value != "1" for _, value in options(words, frozenset({"--nnodes"}))):
            return (total if total and total > 1 else None), True
        if total is None and (least := _parts_of_model(words)) > 1:
            return least, False
    return total, unknown


def _last_values(given: Iterator[tuple[str, str]]) -> Iterable[str]:
    """The values of options; of one that is given twice, the last. Behind MPI's the next may be the program's own."""
    found: dict[str, str] = {}
    for name, value in given:
        if name not in _MPI_OPTIONS or _counts(name) not in found:
            found[_counts(name)] = value
    return found.values()


def _counts(option: str) -> str:
    """What an option counts, whatever it is called: ``--tp``, ``--tp-size`` and ``--tensor-parallel-size`` are one."""
    name = option.lstrip("-").replace("_", "-").removesuffix("-size")
    return {"tensor-parallel": "tp", "data-parallel": "dp", "pipeline-parallel": "pp", "n": "np"}.get(name, name)


def _parts_of_model(words: tuple[str, ...]) -> int:
    """The ranks that hold the parts of one model, as Megatron's programs are told: so many there are at least."""
    each = (options(words, names) for names in _MODEL_PARTS)
    return math.prod(max((whole_number(value) or 1 for _, value in found), default=1) for found in each)


_MODEL_PARTS = tuple(
    frozenset({f"--{kind}-model-parallel-size", f"--{kind}_model_parallel_size"}) for kind in ("tensor", "pipeline")
)
_ACCELERATE = frozenset({"accelerate", "accelerate-launch"})
_WITH_DEFAULT = r"\$\{\w+:?-(\d+)\}"
"""A variable that has a number where nobody sets it."""


def has_ranks_by_default(words: Sequence[str]) -> bool:
    """Whether a variable decides how many ranks there are, of which only what it is otherwise is known: ``${N:-8}``."""
    return read_ranks(words)[1] and any(re.search(_WITH_DEFAULT, word) is not None for word in words)


def _counting(words: Sequence[str], programs: set[str], launcher: bool) -> frozenset[str]:
    """The options that count ranks in a command."""
    names = _RANK_OPTIONS | (_LAUNCHER_OPTIONS if launcher else frozenset())
    one = next((value for _, value in options(words, _MPI_OPTIONS)), "") == "1"
    if programs & MPI_LAUNCHERS and (one or "horovodrun" in programs or any(map(_is_python, programs))):
        names |= _MPI_OPTIONS
    if "composer" in programs and any(word.endswith(".py") for word in words):
        names = names - {"--world_size"} | _COMPOSER_OPTIONS
    if any(options(words, RANK_OF)):
        names -= {"--world_size", "--world-size"}
    if "litgpt" in programs or _runs_fabric(words) or _names_strategy(words):
        names |= {"--devices", "--trainer.devices", "--gpus", "--trainer.gpus"}
    return names


def _counted(words: tuple[str, ...], programs: set[str], launcher: bool) -> tuple[str, ...]:
    """The words whose options count ranks: those of a launcher, and not of its program, where the launcher has some.

    ``torchrun --nproc_per_node=6 train.py --num_gpus 6`` starts 6.
    """
    start = next((at for at, word in enumerate(words) if word.rpartition("/")[2] in _LAUNCH_PYTHON), len(words))
    behind = enumerate(words[start:], start)
    front = words[: next((at for at, word in behind if word.endswith(".py") or word == "-m"), len(words))]
    own = _runs_fabric(words) or any(options(front, _counting(words, programs, launcher)))
    return front if own else words


_LAUNCH_PYTHON = MPI_LAUNCHERS | _TORCHRUN | _ACCELERATE | {"deepspeed", "composer", "fabric", "lightning"}


def _runs_fabric(words: Sequence[str]) -> bool:
    """Whether Lightning's own command starts a script in several processes: ``fabric run --devices=2 train.py``.

    https://github.com/Lightning-AI/pytorch-lightning/blob/2.4.0/src/lightning/fabric/cli.py
    """
    return tuple(words[1:2]) == ("run",) and words[0].rpartition("/")[2] in ("fabric", "lightning")


def starts_ranks(words: Sequence[str]) -> bool:
    """Whether a command is a launcher of ranks, names what one does, or is arguments for the program of its image."""
    launchers = _STARTS_PYTHON | _ACCELERATE | {"litgpt", "srun"}
    launched = any(word.rpartition("/")[2] in launchers for word in words)
    named = _runs_fabric(words) or _names_strategy(words) or next(_of_keys(words), None) is not None
    return launched or named or words[0].startswith("-")


def _names_strategy(words: Sequence[str]) -> bool:
    """Whether an option or a key names a way of Lightning's to train in several processes: ``--strategy ddp``."""
    given = [value for _, value in options(words, _STRATEGY_OPTIONS)]
    given += [value for key, value in _keys(words) if key.rpartition(".")[2] in _STRATEGY_KEYS]
    return any(value.startswith(_STRATEGIES) for value in given)


def _included(words: Sequence[str]) -> Iterator[str]:
    """The ranks that ``deepspeed --include localhost:0,1`` starts on a host, one for each slot; the most of several.

    https://github.com/microsoft/DeepSpeed/blob/048b0d505481f2e9573dc7e1b626b1a9c392e272/deepspeed/launcher/runner.py
    """
    program = next((at for at, word in enumerate(words) if word.endswith(".py")), len(words))
    if all(word.rpartition("/")[2] != "deepspeed" for word in words[:program]):
        return
    for _, value in options(words[:program], frozenset({"-i", "--include"})):
        slots = [re.fullmatch(r"[^:@]+:(\d{1,2}(?:,\d{1,2})*)", host) for host in value.split("@")]
        counts = [len(set(found[1].split(","))) for found in slots if found is not None]
        if len(counts) == len(slots):
            yield str(max(counts))


def _on_devices(words: Sequence[str]) -> Iterator[str]:
    """The ranks that ``yolo train device=0,1`` starts, one on each GPU; other modes of it use one process.

    https://github.com/ultralytics/ultralytics/blob/00016300105e79eb8b1646ab03c3d1df9274523f/ultralytics/engine/trainer.py
    """
    if not {"train", "mode=train"}.isdisjoint(words) and any(word.rpartition("/")[2] == "yolo" for word in words[:3]):
        yield from _several(value.strip("[]").replace(" ", "") for _, value in options(words, frozenset({"device"})))


def _on_paddle_devices(words: Sequence[str]) -> Iterator[str]:
    """The ranks that PaddlePaddle's launcher starts, one on each GPU of a list, unless told how many.

    https://github.com/PaddlePaddle/Paddle/blob/076ae7ef30f75f06122e96d6bd073d702e7e4b6d/python/paddle/distributed/launch/context/args_envs.py
    """
    at = next((at for at, word in enumerate(words) if word.rpartition("/")[2] in _PADDLE), len(words))
    end = next((i for i, word in enumerate(words) if i > at and word.endswith(".py")), len(words))
    own = words[at:end]
    if not any(options(own, _PROCESSES)):
        yield from _several(value for _, value in options(own, frozenset({"--gpus", "--devices"})))


def _several(values: Iterable[str]) -> Iterator[str]:
    """How many GPUs each of some lists names, ``0,1``; nothing for what is no list."""
    yield from (str(value.count(",") + 1) for value in values if re.fullmatch(r"\d{1,2}(?:,\d{1,2})+", value))


def _of_fairseq(words: Sequence[str], programs: set[str]) -> Iterator[str]:
    """The ranks that fairseq starts itself: all of them, where no option says that it runs on several hosts.

    https://github.com/facebookresearch/fairseq/blob/1b44bf477b5e12b3cec22816c9f5083efbd4c0ea/fairseq/distributed/utils.py
    """
    if programs.isdisjoint(_FAIRSEQ) or not programs.isdisjoint(_LAUNCH_PYTHON):
        return
    given = {word.partition("=")[0].lstrip("-+").rpartition(".")[2].replace("-", "_") for word in words}
    if given.isdisjoint(_FAIRSEQ_JOINS):
        yield from (value for _, value in options(words, _FAIRSEQ_RANKS))


_PADDLE = frozenset({"paddle.distributed.launch", "fleetrun"})
_FAIRSEQ = frozenset({"fairseq-train", "fairseq-hydra-train", "fairseq_cli.train", "fairseq_cli.hydra_train"})
_FAIRSEQ_RANKS = frozenset({"--distributed-world-size", "distributed_training.distributed_world_size"})
_FAIRSEQ_JOINS = frozenset({"distributed_rank", "distributed_init_method", "distributed_port"})

_MACHINES = frozenset({"--num_machines", "--num-machines"})
"""Options of ``accelerate launch``, whose ``--num_processes`` counts the ranks of all hosts."""
_STRATEGY_KEYS = frozenset({"strategy", "accelerator", "distributed_backend"})
"""What Lightning's Trainer calls it; the latter two were its names in the versions before 1.5.

https://lightning.ai/docs/pytorch/LTS/generated/CHANGELOG.html
"""
_STRATEGY_OPTIONS = frozenset(f"--{front}{key}" for key in _STRATEGY_KEYS for front in ("", "trainer."))
"""Those with ``trainer.`` are of Lightning's own command line, ``LightningCLI``."""
_STRATEGIES = ("ddp", "fsdp", "deepspeed")
"""Strategies of Lightning's command line that start a process for each device."""
_HOST_FILES = frozenset({"hostfile", "machinefile", "default-hostfile", "host-file"})
"""Options that name a file with hosts and their slots."""


def _has_host_file(words: Sequence[str]) -> bool:
    """Whether MPI reads its hosts from a file: how many ranks run on one of them is not known.

    The option of Hydra for it, ``-f``, may also be one of the program that it starts.
    """
    before = takewhile(lambda word: not _is_python(word.rpartition("/")[2]), words)
    return any(word.lstrip("-") in _HOST_FILES for word in words) or "-f" in before


def mpi_processes(words: Sequence[str]) -> int | None:
    """The processes that MPI starts on a host; None where the command is another or does not say."""
    if not words or words[0].rpartition("/")[2] not in MPI_STARTERS:
        return None
    counts = [n for _, value in options(words, _MPI_OPTIONS) if (n := whole_number(value)) is not None]
    return min(max(counts), _slots(words) or max(counts)) if counts else None


def is_mpi_only(words: Sequence[str]) -> bool:
    """MPI starts a program that is not Python: its ranks talk through MPI, not through NCCL.

    Where a variable names the program, it may be Python.
    """
    if words[0].rpartition("/")[2] not in MPI_STARTERS:
        return False
    if any("python" in word or word.endswith((".py", ".sh")) for word in words[1:]):
        return False
    return not any(word.startswith(("$", "`", "<", "{{")) for word in behind_mpi(words[1:])[:1])


def _slots(words: Sequence[str]) -> int | None:
    """The most ranks that MPI starts on one of the hosts that a command names: ``-H one:4,two:4``."""
    for _, value in options(words, frozenset({"-H", "-host", "--host", "--hosts"})):
        slots: dict[str, int] = {}
        for place in value.split(","):
            host, _, written = place.partition(":")
            count = whole_number(written)
            slots[host] = slots.get(host, 0) + (count if count is not None else 1)
        return max(slots.values()) if len(slots) > 1 else None
    return None


def has_rank_for_each(words: Sequence[str]) -> bool:
    """Whether a command asks for one rank for each GPU: torchrun's ``gpu``, all of Lightning's devices."""
    programs = {word.rpartition("/")[2] for word in words}
    names = _PROCESSES | _counting(words, programs, not programs.isdisjoint(_WITH_RANKS))
    asked = any(value in ("gpu", "auto") for _, value in options(words, _PROCESSES))
    asked = asked or any(re.fullmatch(_COUNTED_GPUS, value) for _, value in options(words, names))
    every = [(key, value) for key, value in _keys(words) if re.fullmatch(_DEVICE_KEYS, key)]
    every += options(words, frozenset({"--devices"})) if _runs_fabric(words) else ()
    return asked or any(value == "-1" for _, value in every)


_COUNTED_GPUS = (
    r"(?:\$\(|`)\s*nvidia-smi\s+(?:-L|--list-gpus|--query-gpu=\S+\s+--format=csv,noheader)\s*\|\s*wc\s+(?:-l|--lines)\s*(?:\)|`)"
    r"|\$\{?shell_nvidia_smi__(?:L|_list_gpus)_+wc__+l(?:ines)?_?\}?"
)
"""The number of GPUs, as a shell counts them; the second is what is put in for a makefile's ``$(shell …)``."""
_WITH_RANKS = frozenset({*_ACCELERATE, "deepspeed"})
"""Programs whose further options count ranks, too."""
_PROCESSES = frozenset({"--nproc_per_node", "--nproc-per-node"})
"""The option of torchrun for its processes on a host, which also takes ``gpu``: one for each."""
_DEVICE_KEYS = r"trainer\.(?:devices|gpus)"
_RANK_KEYS = (
    r"(?:ici_\w+_parallelism|(?:\w+\.)*(?:n_gpus_per_node|nproc_per_node|tensor_model_parallel_size|tensor_parallel_size)"
    rf"|{_DEVICE_KEYS})"
)
"""Keys that count ranks of one host, ``trainer.n_gpus_per_node=8``: those of MaxText, verl, Lightning."""
_KEYS_OF_STRATEGY = rf"{_RANK_KEYS}|(?:\w+\.)*(?:devices|gpus)"
"""Beside a key that names a strategy of Lightning's, whatever they are below: ``gpus=2 trainer.accelerator=ddp``."""


def _keys(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The keys of Hydra and OmegaConf that a command sets, and their values."""
    for word in words:
        key, equals, value = word.lstrip("+").partition("=")
        if equals and not key.startswith("-"):
            yield key, value


def _of_keys(words: Sequence[str]) -> Iterator[str]:
    named: bool | None = None
    for key, value in _keys(words):
        if _devices(value) is not None and re.fullmatch(_KEYS_OF_STRATEGY, key):
            named = _names_strategy(words) if named is None else named
            if named or re.fullmatch(_RANK_KEYS, key):
                yield value


def _devices(value: str) -> int | None:
    """A number of ranks, as it is or as a list of their GPUs: ``[0,1]``."""
    listed = re.fullmatch(r"\[\d{1,2}(?:, ?\d{1,2})*,?\]|\d{1,2},(?:\d{1,2}(?:,\d{1,2})*)?", value)
    return len(set(re.findall(r"\d+", value))) if listed is not None else whole_number(value)


def _is_python(program: str) -> bool:
    """MPI is not NCCL: its ranks count only where they are Python programs."""
    return program.startswith("python") or program.endswith(".py")


def read_workers(words: Sequence[str]) -> int | None:
    """DataLoader workers by the command's own options or keys (``data.num_workers=8``); None where it names none.

    A program that is not Python may call its threads so.
    """
    names = [word.rpartition("/")[2] for word in words]
    python = words[:1] and words[0].startswith("-")  # options of the image's own program
    python = python or any(is_python(n) or n.endswith((".py", ".sh")) or n in _STARTS_PYTHON for n in names)
    trains = not _TORCHRUN.isdisjoint(names) or "yolo" in names or names_training(words)
    number = "(?:num_)?workers" if trains else "num_workers"
    pattern = rf"\+{{0,2}}(?:\w+\.)*(dataloader_)?{number}=(\d{{1,4}})"
    keys = (re.fullmatch(pattern, word) for word in words if "workers=" in word)
    names_of = _WORKER_OPTIONS | _TRAINERS_OPTIONS if trains else _WORKER_OPTIONS
    found = [(name, value) for name, value in options(words, names_of)]
    found += [(key[1] or "", key[2]) for key in keys if key is not None]
    last = dict(found)  # of an option that is given twice, the last one counts
    counts = (whole_number(value) for name, value in last.items() if python or "dataloader" in name)
    return next((count for count in counts if count is not None), None)


def read_batch(words: Sequence[str]) -> int | None:
    """The items of a batch by the command's own options, of the largest where it names several; None for none."""
    pairs = (word.partition("=") if "=" in word else (word, "", after) for word, after in pairwise((*words, "")))
    counts = [
        whole_number(value or "") for name, equals, value in pairs
        if (equals or name.startswith("-")) and re.fullmatch(_BATCH, name) is not None
    ]  # fmt: skip
    return max(filter(None, counts), default=None)


_BATCH = r"(?:--?|\+{0,2}(?:\w+\.)*)(?:[\w-]*[_-])?(?:batch(?:[_-]?size)?(?:[_-]per[_-]\w+)?|bs)"
"""Options and keys that give the size of a batch, for training or validation."""


def may_have_no_workers(words: Sequence[str]) -> bool:
    """Whether an option of a Python program may say that there are no DataLoader workers: ``train.py -j 0``.

    What such an option counts is in the program.
    """
    at = next((i for i, word in enumerate(words) if word.endswith(".py") or (i and words[i - 1] == "-m")), len(words))
    return any(whole_number(value) == 0 for _, value in options(words[at:], _PERHAPS_WORKERS)) or any(
        word in ("-j0", "-w0") for word in words[at:]
    )


def leaves_numbers_open(words: Sequence[str]) -> bool:
    """Whether a command gives a number of workers or ranks that is not known, or may have options that are not.

    Of ``--data $DATA --workers $N "$@"`` the second does the one, and the last word the other.
    """
    before = ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if "$" in value and re.search(_COUNTED, name) is not None:
            return True
        if word.startswith("$") and (not before.startswith("-") or re.search(_COUNTED, before) is not None):
            return True
        before = "" if equals else word
    return False


_COUNTED = r"(?i)workers?$|(?:^|[._-])nw$|^-[jw]$|nproc|num_processes|devices$|(?:^|[._-])n?gpus$|world_size|parallel"
"""Options and keys that count workers, ranks or GPUs."""

_PERHAPS_WORKERS = _TRAINERS_OPTIONS | frozenset(
    {"-j", "-w", "-nw", "--nw", "--jobs", "--n_jobs", "--n-jobs", "--num_jobs", "--num-jobs", "--threads",
     "--n_threads", "--n-threads", "--nthreads", "--num_threads", "--num-threads", "--n_cpu", "--n-cpu", "--n_cpus",
     "--num_cpu", "--num_cpus", "--cpus", "--num_proc", "--num-proc", "--num_procs", "--nproc", "--num_work",
     "--num_worker", "--worker", "--loader_workers", "--data_workers", "--num_data_workers", "--loaders"}
)  # fmt: skip
"""Options that count DataLoader workers in some programs; nothing else of them has a meaning for 0."""

Kind = Literal["silent", "probe", "build", "interactive", "program"]
"""What a simple command does: it prepares something, looks at something, builds something, gives a shell or a
notebook in which anything can be run, or runs a program."""

_HELP = frozenset({"--help", "--version", "--helpfull", "--print-config"})
_PROBES: dict[str, frozenset[str]] = {
    "pip": frozenset({"list", "show", "freeze", "check", "config", "debug", "index"}),
    "conda": frozenset({"list", "info", "config", "search"}),
    "coverage": frozenset({"combine", "debug", "erase", "html", "json", "report", "xml"}),
    "ffmpeg": frozenset({"-buildconf", "-codecs", "-decoders", "-encoders", "-filters", "-formats", "-hwaccels"}),
    "jupyter": frozenset({"kernelspec", "labextension", "nbextension", "serverextension", "troubleshoot"}),
    "ros2": frozenset({"doctor", "interface", "pkg"}),
    "yolo": frozenset({"checks", "help", "version", "settings", "cfg"}),
    "ray": frozenset({"status", "stop", "list", "memory", "summary", "logs", "timeline", "health-check", "metrics"}),
    "accelerate": frozenset({"env", "config", "estimate-memory"}),
    "mlflow": frozenset({"ui", "server"}),
    "horovodrun": frozenset({"--check-build", "-cb"}),
    "lmdeploy": frozenset({"check_env", "list"}),
    "nsys": frozenset({"status", "stats", "analyze", "export"}),
    "vllm": frozenset({"--help", "collect-env", "--version"}),
    "ollama": frozenset({"list", "ps", "show"}),
    "wandb": frozenset({"login", "init", "offline", "online", "status", "disabled", "enabled"}),
    "huggingface-cli": frozenset({"login", "whoami", "download"}),
    "git": frozenset({"status", "log", "diff", "clone", "pull"}),
}
_PROBE_PROGRAMS = frozenset(
    {"ds_report", "tensorboard", "nvtop", "gpustat", "nvitop", "rocm-smi", "rocminfo", "amd-smi", "clinfo",
     "vulkaninfo", "glxinfo", "nvidia-settings", "deviceQuery", "bandwidthTest", "ibstat", "ibv_devinfo", "cat", "cut",
     "jq", "lsof", "pgrep", "ps", "sort", "sycl-ls", "tee", "uniq", "yq", "apt-cache", "apt-mark", "cuobjdump",
     "dpkg-query", "locale", "lsb_release", "nm", "nvdisasm", "objdump", "pip-audit", "pip-licenses", "pipdeptree",
     "readelf", "awk", "sed", "tail", "tr", "diff", "tree", "file", "md5sum", "sha256sum", "ping", "nc", "dcgmi"}
)  # fmt: skip
_PROBE_MODULES = frozenset(
    {"torch.utils.collect_env", "platform", "site", "torch.utils.bottleneck", "xformers.info", "deepspeed.env_report",
     "sglang.check_env", "tensorboard", "tensorboard.main", "json.tool", "sysconfig"}
)  # fmt: skip
_BUILDERS = frozenset(
    {"cmake", "ninja", "gcc", "g++", "clang", "nvcc", "hipcc", "meson", "bazel", "cargo", "go", "sphinx-build",
     "alembic", "mkdocs", "colcon", "catkin_make", "catkin", "rosdep", "ccache", "conda-lock", "tar", "unzip",
     "gunzip", "zip", "dpkg", "yum", "dnf", "apk", "pacman", "add-apt-repository", "update-alternatives", "locale-gen",
     "ssh-keygen", "useradd", "groupadd", "chsh", "gdown", "kaggle", "gcloud", "gsutil", "aws", "rsync",
     "scp", "patch",
     "docker", "cython", "poetry", "pre-commit", "twine", "pdm", "ruff", "black", "isort", "mypy", "flake8", "pylint",
     "7z", "7za", "aclocal", "ar", "auditwheel", "autoconf", "automake", "autoreconf", "bandit", "bazelisk", "boa",
     "bzip2", "cibuildwheel", "clang-format", "clang-tidy", "codespell", "conan", "conda-build", "conda-pack",
     "configure", "cpack", "debuild", "doxygen", "dpkg-buildpackage", "dpkg-deb", "flatc", "flit", "gh", "hatch", "hg",
     "libtoolize", "maturin", "mksquashfs", "objcopy", "patchelf", "pip-compile", "pip-sync", "pipenv", "pipx", "pixi",
     "protoc", "pyinstaller", "pyright", "ranlib", "rattler-build", "rclone", "rpm", "rpmbuild", "scons", "strip",
     "svn", "swig", "vcpkg", "vcs", "virtualenv", "zstd"}
)  # fmt: skip
_STARTERS = {
    **dict.fromkeys(("bazel", "bazelisk", "cargo", "go"), frozenset({"run"})),
    **dict.fromkeys(("hatch", "pipenv", "pipx", "pixi"), frozenset({"run", "shell", "test", "exec"})),
    "gcloud": frozenset({"local", "local-run"}),
}
"""Builders, and the words with which they start a program instead."""
_SCRIPTED = frozenset({"make", "npm", "npx", "yarn", "pnpm", "dvc"})
"""Programs that run what a file of the repository calls by a name."""
_VALUED = frozenset({"-C", "--directory", "-f", "--file", "--makefile", "-I", "-o", "-W", "-l"})
"""Options of ``make`` that take the next word; that of ``-j`` may be left out."""
_OF_BUILDS = (
    r"(?:all|add|audit|build|cache|ci|clean|compile|config|deb|deps|dist|docs?|fetch|format|get|html|i|init|install|lint"
    r"|pack|packages?|prune|publish|pull|push|release|remote|rpm|run|sdist|setup|status|tarball|test|update|upgrade"
    r"|version|wheels?)(?:[:_-].*)?"
)
"""Names that such programs give to what builds or prepares something."""
_BUILD_MODULES = frozenset(
    {"pip", "build", "venv", "ensurepip", "compileall", "sphinx", "mkdocs", "grpc_tools.protoc", "auditwheel", "black",
     "cibuildwheel", "conda_build", "flake8", "isort", "mypy", "piptools", "pre_commit", "py_compile", "pylint", "ruff",
     "setuptools_scm", "tarfile", "twine", "virtualenv", "wheel", "zipfile"}
)  # fmt: skip
_SETS_SHELL_UP = (
    r"""(?:\$\(|`)\s*["']?[^\s"'`()]*?(?<![\w.-])(?:(?:conda|mamba|micromamba)["']?\s+["']?shell\b|direnv\s+hook\b"""
    r"""|(?:pyenv|rbenv|nodenv|jenv|goenv)\s+(?:virtualenv-)?init\b|(?:ssh-agent|dircolors|lesspipe|dbus-launch)\b"""
    r"""|fnm\s+env\b|mise\s+activate\b|starship\s+init\b|brew\s+shellenv\b)"""
)
"""What a shell evaluates to set itself up: functions and variables, ``eval "$(conda shell.bash hook)"``."""
_TERMINALS = frozenset(
    {"alacritty", "gnome-terminal", "kitty", "konsole", "lxterminal", "mate-terminal", "qterminal", "sakura",
     "terminator", "tilix", "urxvt", "x-terminal-emulator", "xfce4-terminal", "xterm"}
)  # fmt: skip
"""Windows with a shell, unless they are given a program."""
_EDITS_FROM_AFAR = frozenset({"tunnel", "serve-web"})
"""Words with which the command line of VS Code serves an editor and its terminals."""
_GIVES_PROGRAM = r"-e|-x|--|--(?:command|execute)(?:=.*)?"
_OTHER_SHELLS = frozenset({"fish", "ksh", "csh", "tcsh", "xonsh", "nu", "elvish"})
"""Shells whose scripts are not read."""
_INTERACTIVE = frozenset(
    {"jupyter", "jupyter-lab", "jupyter-notebook", "jupyterhub-singleuser", "start-notebook.sh", "start-notebook.py",
     "start-singleuser.sh", "code-server", "openvscode-server", "ipython", "tmux", "screen", "sshd", "vscode-server",
     "marimo", "rstudio-server", "ttyd", "top", "htop", "byobu", "zellij", "init", "systemd", "vi", "vim", "emacs",
     "Xvfb", "Xorg"}
)  # fmt: skip
_PYTHONS = r"(?:python|pypy)[0-9.]*(?:\.exe)?"


def is_python(program: str) -> bool:
    """Whether a program's name is that of a Python interpreter."""
    return program.startswith(("python", "pypy")) and re.fullmatch(_PYTHONS, program) is not None


def kind_of(words: Sequence[str]) -> Kind:
    """What a simple command does, wrappers before it left out."""
    if words[0].startswith(("$(", "`")) and re.match(_SETS_SHELL_UP, words[0]) is not None:
        return "silent"
    program = words[0].rpartition("/")[2]
    rest = words[1:]
    if program in SHELLS or program in _OTHER_SHELLS:
        return _kind_of_shell(rest)
    if program == "su" and "-c" not in rest:
        return "interactive"
    if program == "sleep":
        number = rest[0].rstrip("smhd") if rest else ""
        seconds = float(number) if re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", number) else math.inf
        long = seconds >= 3600 or rest[0][-1:] in "hd"
        return "interactive" if long else "silent"
    if is_python(program):
        return _kind_of_python(rest)
    if program in MPI_STARTERS and (inner := behind_mpi(rest)):
        return _kind_of_ranks(inner)
    if _tells(words) or any(word in _PROBES.get(program, ()) for word in rest[:1]):
        return "probe"
    if program in _INTERACTIVE or _waits(program, rest):
        return "build" if _converts(rest) else "interactive"
    if program in _SILENT and not (program in ("uv", "conda", "mamba", "micromamba") and "run" in rest):
        return "silent"
    if program in _LOOKS or program in _PROBE_PROGRAMS or program == "watch":
        return _kind_of_each(rest)
    if program in _SCRIPTED:
        return "build" if all(re.fullmatch(_OF_BUILDS, name) for name in _names(program, rest)) else "program"
    if program in _BUILDERS and _STARTERS.get(program, frozenset()).isdisjoint(rest):
        return "build"
    return "program"


def _converts(rest: Sequence[str]) -> bool:
    """Whether ``jupyter nbconvert`` only writes a notebook in another form."""
    return "nbconvert" in rest[:1] and "--execute" not in rest


def _kind_of_each(rest: Sequence[str]) -> Kind:
    """What ``find`` does with each file that it finds; without a command for them it only tells their names."""
    starts = [at for at, word in enumerate(rest) if re.fullmatch("-(?:exec|ok)(?:dir)?", word)]
    if not starts:
        return "probe"
    each = unwrapped(rest[starts[0] + 1 :])
    if len(starts) > 1 or not each:
        return "program"  # one of several commands, or one that `find` itself starts
    kind = kind_of(each)
    return "program" if kind == "interactive" else kind


_MPI_FLAGS = re.compile(
    r"-?-(?:allow-run-as-root|(?:no)?oversubscribe|q|quiet|v|verbose|tag-output|timestamp-output|merge-stderr-to-stdout"
    r"|report-bindings|display-(?:map|allocation)|by(?:node|slot|core|socket)|bind-to-(?:none|core|socket)|pernode"
    r"|nolocal|nooversubscribe|enable-recovery|use-hwthread-cpus|do-not-launch|xml|l|prepend-rank)"
)
"""Options of MPI's starters without a value."""
_MPI_PAIRS = frozenset({"--mca", "-mca", "--gmca", "-gmca", "--prtemca", "--pmixmca", "-genv", "-env"})
"""Those with a name and a value."""


def behind_mpi(rest: Sequence[str]) -> tuple[str, ...]:
    """What MPI starts with these words behind its own name; empty where it is several programs."""
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        single = "=" in rest[at] or _MPI_FLAGS.fullmatch(rest[at]) is not None
        at += 3 if rest[at] in _MPI_PAIRS else 1 if single else 2
    return () if ":" in rest else unwrapped(rest[at:])


def _kind_of_ranks(inner: tuple[str, ...]) -> Kind:
    """What each of several processes does: ``mpirun -np 8 hostname`` only looks."""
    is_text, text = shell_argument(inner) if inner[0].rpartition("/")[2] in SHELLS else (False, ())
    kinds = {kind_of(one) for one in simple_commands(flatten(text[:1]))} if is_text else {kind_of(inner)}
    if not kinds <= {"silent", "probe", "build"}:
        return "program"
    return "build" if "build" in kinds else "probe" if "probe" in kinds else "silent"


_COLLECTS = frozenset({"--co", "--collect-only", "--fixtures", "--markers"})
"""Options with which pytest lists tests and runs none."""


def _tells(words: Sequence[str]) -> bool:
    """Whether a program is only asked for its help, its version or its GPUs, or prints help as nothing is asked."""
    program = words[0].rpartition("/")[2]
    if len(words) == 1 and program in MPI_STARTERS:
        return True
    if program in ("pytest", "py.test") and not _COLLECTS.isdisjoint(words):
        return True
    return any(word in _HELP for word in words) or (len(words) <= 2 and words[-1] in _TELLS)


def _waits(program: str, rest: Sequence[str]) -> bool:
    """Whether a command only keeps a container alive: what is run in it later is not known."""
    shell = program in _TERMINALS and not any(re.fullmatch(_GIVES_PROGRAM, word) for word in rest)
    shell = shell or (program == "code" and any(word in _EDITS_FROM_AFAR for word in rest[:1]))
    follows = program == "tail" and any(re.fullmatch(_FOLLOWS, word) for word in rest)
    return shell or follows or (program == "cat" and not rest)


def _names(program: str, words: Sequence[str]) -> list[str]:
    """What a program is asked to run by a name."""
    values = {at + 1 for at, word in enumerate(words) if program == "make" and word in _VALUED}
    values |= {at + 1 for at, word in enumerate(words[:-1]) if word == "-j" and words[at + 1].isdigit()}
    left = (word for at, word in enumerate(words) if at not in values)
    names = [word for word in left if not word.startswith("-") and "=" not in word]
    return names if program == "make" else names[:2]


def never_ends(words: Sequence[str]) -> bool:
    """Whether a command that looks at the GPUs goes on with it: what else runs in its container comes later."""
    program, rest = words[0].rpartition("/")[2], words[1:]
    if program != "nvidia-smi" or not rest:
        return program == "watch"
    if rest[0] in _MONITORS:
        return _COUNT.isdisjoint(rest)
    return rest[0].startswith("-") and any(re.fullmatch(_LOOP, word) for word in rest)


_MONITORS = frozenset({"dmon", "pmon"})
_COUNT = frozenset({"-c", "--count"})
_LOOP = r"-l(?:ms)?|--loop(?:-ms)?(?:=.*)?"
"""The subcommands and options of ``nvidia-smi`` that go on, and the option after which the former end (its manual)."""


def only_checks(rest: Sequence[str]) -> bool:
    """Whether a shell only reads a script, ``bash -n run.sh``, and runs nothing of it."""
    options = takewhile(lambda word: word.startswith("-") and "c" not in word, rest)
    return any(re.fullmatch(r"-[efuvx]{0,4}n[efuvx]{0,4}", word) for word in options)


def _kind_of_shell(rest: Sequence[str]) -> Kind:
    if only_checks(rest):
        return "probe"
    return "interactive" if all(word.startswith(("-", "+")) and "c" not in word for word in rest) else "program"


def _kind_of_python(rest: Sequence[str]) -> Kind:
    options = list(rest)
    while options and options[0].startswith("-") and options[0] not in ("-c", "-m", "-V", "--version", "-h", "--help"):
        options = options[2:] if options[0] in ("-W", "-X") else options[1:]
    if not options or options[0] == "-":
        return "interactive"
    if options[0] in ("-V", "--version", "-h", "--help"):
        return "probe"
    if options[0] == "-c":
        code = options[1] if len(options) > 1 else ""
        return "probe" if is_query(code) else "program"
    if options[0] == "-m" and len(options) > 1:
        module = options[1]
        if module in _PROBE_MODULES or (module == "pip" and options[2:3] and options[2] in _PROBES["pip"]):
            return "probe"
        if module == "pytest" and not _COLLECTS.isdisjoint(options):
            return "probe"
        if module in _BUILD_MODULES:
            return "build"
        if module in ("notebook", "jupyter", "jupyterlab", "ipykernel", "IPython", "code"):
            return "interactive"
    if any(word in _HELP or word == "-h" for word in options[1:]):
        return "probe"
    return "build" if options[0] == "setup.py" else "program"


def is_query(code: str) -> bool:
    """Whether a program on the command line only prints what it sees."""
    if len(code) >= _LONGEST_LOOK or any(work in code for work in _WORK):
        return False
    if any(query in code for query in _QUERIES):
        return True
    statements = [part.strip() for part in re.split(r"[;\n]", code) if part.strip()]
    return bool(statements) and all(re.fullmatch(_PLAIN, part) for part in statements)


_PLAIN = r"(?:import [\w., ]+|from [\w.]+ import [\w., ]+|print\([^()]*(?:\([^()]*\))?[^()]*\))"
"""Imports, and a print of something without calls inside calls."""

_RUNS: dict[str, frozenset[str]] = {
    "uv": frozenset({"--with", "--extra", "--group", "-p", "--python", "--project", "--directory", "--env-file"}),
    "poetry": frozenset({"-C", "-P"}), "pdm": frozenset({"-p"}), "hatch": frozenset(), "pipenv": frozenset(),
    "rye": frozenset(), "pixi": frozenset({"-e", "--environment", "--manifest-path"}),
    "conda": frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    "mamba": frozenset({"-n", "--name", "-p", "--prefix"}),
    "micromamba": frozenset({"-n", "--name", "-p", "--prefix"}),
}  # fmt: skip
"""Programs whose ``run`` runs the rest, and the options of theirs that take the next word."""
BEHIND_DASHES = frozenset(
    {"doppler", "infisical", "wait-for", "wait-for-it", "wait-for-it.sh", "wait-for.sh", "watchmedo"}
)
"""Programs that wait for something or look secrets up, and run what stands behind ``--``; without it they end."""
_AS_USER = frozenset({"su", "sg", "script", "runuser"})
"""Programs that give a shell the text behind their ``-c``."""
RUNNERS = frozenset(
    {"bun", "foreman", "hatch", "honcho", "npm", "pdm", "pixi", "pnpm", "poe", "rye", "task", "yarn"}
)  # fmt: skip
"""Programs that run what a file of the repository calls by a name."""
_PROFILERS = frozenset({"nsys", "ncu", "rocprof", "compute-sanitizer", "py-spy"})


def unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    """A command without the programs that only start it; nothing where these start none."""
    left = tuple(words)
    for _ in range(10):
        if not left:
            return left
        program = left[0].rpartition("/")[2]
        if "=" in left[0] and left[0].partition("=")[0].isidentifier():
            left = left[1:]
        elif left[0] == "--" and left[1:] and left[1].rpartition("/")[2] in SHELLS:
            left = left[1:]  # `docker run IMAGE -- bash`: the shell behind the entrypoint's `exec`
        elif left[0].startswith("/etc/init.d/"):
            left = ("service", program, *left[1:])
        elif program in _AS_USER and "-c" in left[1:-1]:
            left = ("sh", *left[left.index("-c") :])
        elif (prefix := prefix_of(program)) is not None and prefix.in_place:
            behind = after_prefix(left)
            left = left[behind.at :] if behind is not None else ()
            left = ("sh", "-c", *left[1:]) if left and left[0] in prefix.text else left
        elif program in BEHIND_DASHES and "--" in left[1:-1]:
            left = left[left.index("--") + 1 :]
        elif program in _RUNS and len(left) > 1 and "run" in left[1:4]:
            left = _behind(left[left.index("run") + 1 :], _RUNS[program])
            if left and left[0].endswith(".py"):
                left = ("python", *left)
        elif program in _PROFILERS and any(is_python(w.rpartition("/")[2]) or w == "torchrun" for w in left[1:]):
            at = next(i for i, w in enumerate(left) if i and (is_python(w.rpartition("/")[2]) or w == "torchrun"))
            left = left[at:]
        else:
            return _with_single_options(left) if is_python(program) else left
    return left


def _with_single_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command of Python whose short options stand each for itself: ``-um train`` is ``-u -m train``."""
    if len(words) < 3 or re.fullmatch(r"-[BEIOPRSbdisuvqx]+[cm]", words[1]) is None:
        return words
    return (words[0], words[1][:-1], f"-{words[1][-1]}", *words[2:])


def _behind(words: tuple[str, ...], takes: frozenset[str]) -> tuple[str, ...]:
    """Words after the options of a program that runs others."""
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        if words[at] == "--":
            return words[at + 1 :]
        if words[at] in ("-m", "--module"):
            return ("python", "-m", *words[at + 1 :])
        at += 2 if words[at] in takes else 1
    return words[at:]


_TRAINING = r"(?<![a-z])(?:pre)?train(?:er|ing)?(?![a-z])|fine[-_]?tun"


def names_training(words: Sequence[str]) -> bool:
    """Whether a command's first words, options and other files left out, name training.

    Behind a script that is called after another use a file is what that one is given: `demo.py` with the configuration
    a model was trained with. A word alone may be what it shall do. What is told to only use a model trains none.
    """
    said = " ".join(words[:4]).lower()
    if ("train" not in said and "tun" not in said) or names_other_mode(words) or not _may_train(words):
        return False
    behind = words.index("-m") + 1 if "-m" in words[:3] else 0
    named = [_last_of(word) if at and at == behind else word for at, word in enumerate(words[:4])]
    data = {at + 1 for at, word in enumerate(words[:3]) if word in _OF_DATA}
    first = [word for at, word in enumerate(named) if not word.startswith("-") and at not in data]
    files = [word for at, word in enumerate(first) if not at or "/" not in word or word.endswith((".py", ".sh"))]
    script = next((at for at, word in enumerate(files) if word.endswith((".py", ".sh"))), None)
    if script is not None and re.search(_OTHER_USE, files[script].rpartition("/")[2]) is not None:
        files = files[: script + 1] + [word for word in files[script + 1 :] if not word.endswith((".py", ".sh"))]
    names = [word.rpartition("/")[2].lower() for word in files]
    programs = [name for at, name in enumerate(names) if not at or re.search(_SETTINGS, name) is None]
    return any(re.search(_TRAINING, name) and re.search(_ABOUT_TRAINING, name) is None for name in programs)


def _may_train(words: Sequence[str]) -> bool:
    """Whether a command may be a program that trains: it is none for other tasks, and no test."""
    return words[0].rpartition("/")[2] not in _NO_TRAINERS and _TESTS.isdisjoint(words[:3])


TESTERS = frozenset({"pytest", "py.test"})
"""The program pytest."""
_TESTS = TESTERS | {"unittest", "nose2", "tox"}
_NO_TRAINERS = frozenset(
    {"ansible-playbook", "aws", "cp", "curl", "docker", "gcloud", "git", "gsutil", "helm", "kubectl", "mv", "node",
     "npm", "psql", "rm", "rsync", "sbatch", "scp", "sqlite3", "tar", "unzip", "wget"}
)  # fmt: skip
_ABOUT_TRAINING = (
    r"^(?!.*(?:and|then)[_-]?train)"
    r"(?:analy[sz]e|check|clean|collect|convert|count|create|download|eval|evaluate|export|extract|fetch|gen|generate"
    r"|get|kill|list|make|merge|monitor|parse|plot|prep|prepare|preprocess|process|serve|show|split|stop|summari[sz]e"
    r"|sync|test|upload|view|watch)[_-]"
    r"|[_-](?:data|dataset|list|log|logs|split|tokenizer|vocab|bpe|sentencepiece)\.(?:py|sh)$"
)
"""What is called after training and does something before or after it."""
_SETTINGS = r"\.(?:ya?ml|json|toml|ini|cfg|conf|txt|csv|tsv|js|sql|db|dvc|log|md)$"
"""Files that a program is given."""


_OF_DATA = frozenset(
    {"--split", "--splits", "--set", "--subset", "--dataset", "--data", "--partition", "--folder", "--input"}
)
"""Options whose values name data: ``extract.py --split train`` looks at the pictures that others train with."""
_OTHER_USE = r"(?i)(?:^|_|-)(?:demo|infer|inference|predict|prediction|export|visuali[sz]e|vis|deploy)(?:[_.-])"
"""Scripts that are called after what is done with a model that was trained."""


def is_for_use(words: Sequence[str]) -> bool:
    """Whether the words that Python gets run a program that is called after what is done with a trained model."""
    module = words[1:2] if words[:1] == ("-m",) else ()
    name = module[0].rpartition(".")[2] if module else words[0].rpartition("/")[2] if words else ""
    name = name.removesuffix(".py").lower()
    return re.search(_FOR_USE, name) is not None and re.search(_TRAINING, name) is None


_FOR_USE = (
    r"(?:^|[_-])(?:test|tests|testing|eval|evaluate|evaluation|val|validate|demo|infer|inference|predict|prediction"
    r"|visuali[sz]e|export)(?:$|[_-])"
)


def names_other_mode(words: Sequence[str]) -> bool:
    """Whether an option says that a program is to use a model: ``train.py --mode infer``."""
    given = (word.partition("=") if "=" in word else (word, "", after) for word, after in zip_longest(words, words[1:]))
    return any(name in _MODES and re.fullmatch(_USING, value or "") is not None for name, _, value in given)


_MODES = frozenset({"--mode", "-mode", "--phase", "--run_mode", "--run-mode"})
_USING = r"(?i)infer|inference|predict|prediction|demo|export|visuali[sz]e|deploy"


def runs_binary(words: Sequence[str]) -> bool:
    """Whether a command runs a program in its directory that is no script, and does more than to print its help.

    Such a program was built or fetched there. The page of a part that shows it is not about the repository's own code.
    """
    here = words[0].startswith("./") and "." not in words[0].rpartition("/")[2]
    return here and words[0].rpartition("/")[2] not in _BUILDS and kind_of(words) == "program"


_BUILDS = frozenset({"configure", "bootstrap", "autogen", "gradlew", "mvnw", "install", "setup", "build", "make"})
"""Scripts that people keep without an ending, which build or fetch something."""


def names_preparation(words: Sequence[str]) -> bool:
    """Whether a command runs a script that is called after what is done before training, or with a model behind it.

    It installs, fetches data, or writes the files of a model in another form: all that takes one process.
    """
    script = next((word for word in words[:3] if word.endswith((".py", ".sh"))), "")
    name = script.rpartition("/")[2]
    more = re.search(r"(?i)[_-](?:and|then|n)[_-]", name)  # `setup_and_run.sh`
    return bool(name) and more is None and not names_training(words) and re.search(_PREPARING, name) is not None


_PREPARING = (
    r"(?i)^(?:run_)?(?:install|setup|compile|download|fetch|prepare|preprocess|convert|export|merge)(?:[_.-]|$)"
    r"|[_-](?:install|download|prepare|preprocess|convert|converter|export|merge)\.(?:py|sh)$"
)


def _last_of(module: str) -> str:
    """What a module is called: ``training.make_data`` only makes data; of ``training.main`` the package tells more."""
    last = module.rpartition(".")[2]
    return module if last in ("__main__", "app", "cli", "launch", "main", "run", "task") else last
