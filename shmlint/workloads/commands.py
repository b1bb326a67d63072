"""The words of a command: simple commands, options that count ranks and workers, and commands that only look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash"})
_WRAPPERS = frozenset(
    {
        "exec", "time", "nice", "nohup", "sudo", "env", "tini", "dumb-init", "do", "then", "else", "while", "until",
        "if", "!", "(", "{",
    }
)  # fmt: skip
_SILENT = frozenset(
    {
        ".", ":", "[", "[[", "}", ")", "apt", "apt-get", "cd", "chmod", "chown", "conda", "cp", "curl", "done", "echo",
        "exit", "export", "fi", "for", "git", "hf", "huggingface-cli", "id", "ldconfig", "ln", "ls", "mamba", "mkdir",
        "mv", "pip", "pip3", "printf", "pwd", "rm", "service", "set", "source", "test", "touch", "trap", "true",
        "ulimit", "umask", "uv", "wait", "wget", "which", "whoami",
    }
)  # fmt: skip
"""Programs that prepare what is run and tell nothing about it."""
_IDLE = (("tail", "-f"), ("tail", "-F"), ("nvidia-smi", "dmon"), ("nvidia-smi", "pmon"), ("nvidia-smi", "-l"), ("cat",))
"""Commands that only keep a container alive: what is run in it later is not known."""


def commands_that_tell(words: Sequence[str]) -> list[list[str]]:
    """The simple commands that tell what a launch runs; none where it only stays alive."""
    told: list[list[str]] = []
    for command in simple_commands(flatten(words)):
        program = command[0].rpartition("/")[2]
        if program == "sleep":
            if command[1:] and command[1].rstrip("smhd").isdigit() and int(command[1].rstrip("smhd")) < 3600:
                continue
            return []
        if program in _SHELLS and len(command) == 1:
            return []
        if any(tuple(command[: len(idle)]) == idle for idle in _IDLE) and len(command) <= 4:
            return []
        if program not in _SILENT or "run" in command:  # `uv run train.py`
            told.append(command)
    return told


_QUERIES = (
    "is_available()", "device_count()", "get_device_name(", "get_device_properties(", "list_physical_devices(",
    "list_local_devices(", "is_gpu_available(", "jax.devices(", "__version__", "version.cuda", "is_built_with_cuda(",
)  # fmt: skip
_WORK = ("import_module", "exec(", "eval(", "runpy", "subprocess", "system(", "spawn", "distributed", "DataLoader")
_LONGEST_LOOK = 500
"""Characters; a longer program does more than look."""
_TELLS = frozenset({"--version", "-V", "--help", "-h"})
_LOOKS = frozenset(
    {
        "date", "deviceQuery", "df", "du", "env", "find", "free", "grep", "head", "hostname", "ldd", "lsmod", "lspci",
        "lscpu", "lsblk", "mount", "nproc", "nvidia-smi", "printenv", "stat", "uname", "uptime", "wc",
    }
)  # fmt: skip
"""Programs that print what they see and end, beside those that tell nothing of what is run."""
_RUNS_MORE = frozenset({".", "source", "service", "conda", "mamba", "uv", "for", "done", "trap", "wait"})


def looks_only(words: Sequence[str]) -> bool:
    """Whether a command prints something of the machine or its programs, and ends."""
    if len(words) == 3 and words[1] == "-c" and words[0].rpartition("/")[2].rstrip("0123456789.") == "python":
        code = words[2]
        return (
            len(code) < _LONGEST_LOOK and any(query in code for query in _QUERIES)
            and not any(work in code for work in _WORK)
        )  # fmt: skip
    commands = list(simple_commands(flatten(words)))
    return bool(commands) and all(map(_looks, commands))


def _looks(command: Sequence[str]) -> bool:
    program = command[0].rpartition("/")[2]
    if len(command) == 2 and command[1] in _TELLS:
        return True
    if program in _RUNS_MORE or tuple(command[:2]) in _IDLE or "run" in command:
        return False
    return program in _SILENT or (program in _LOOKS and "-exec" not in command)


def simple_commands(words: Sequence[str]) -> Iterator[list[str]]:
    """Words split at shell operators, without the shells and wrappers in front of a program."""
    command: list[str] = []
    for word in (*words, ";"):
        if word not in (";", "&&", "||", "|", "&"):
            command.append(word)
            continue
        command = _unwrapped(command)
        if command:
            yield command
        command = []


def _unwrapped(command: list[str]) -> list[str]:
    while command:
        program = command[0].rpartition("/")[2]
        rest = command[1:]
        if program in _SHELLS and rest:
            while rest and rest[0].startswith("-") and not rest[0].endswith("c"):
                rest = rest[1:]
            if not rest:
                return [command[0]]
            if not rest[0].startswith("-"):
                return command
            command = rest[1:]
        elif program in _WRAPPERS:
            while rest and (rest[0].startswith("-") or "=" in rest[0]):
                rest = rest[1:]
            command = rest
        elif "=" in program and program.partition("=")[0].isidentifier():
            command = rest
        else:
            return command
    return command


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
        "--num-shard", "--num_shard",
    }
)  # fmt: skip
_LAUNCHER_OPTIONS = frozenset(
    {
        "-tp", "--tp", "--tp-size", "--tp_size", "-dp", "--dp", "--dp-size", "--dp_size", "-pp", "--pp", "--pp-size",
        "--pp_size", "--num_gpus", "--num-gpus", "--num_processes", "--num-processes", "--world-size", "--world_size",
    }
)  # fmt: skip
"""Options that count ranks in the programs known here, and may count anything in others."""
_MPI = frozenset({"mpirun", "mpiexec", "horovodrun"})
_MPI_OPTIONS = frozenset({"-np", "-n", "--np"})
_TORCHRUN = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"})
_WORKER_OPTIONS = frozenset(
    {"--num_workers", "--num-workers", "--dataloader_num_workers", "--dataloader-num-workers"}
)


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
    programs = {word.rpartition("/")[2] for word in words}
    names = _RANK_OPTIONS | (_LAUNCHER_OPTIONS if launcher else frozenset())
    if programs & _MPI and ("horovodrun" in programs or any(map(_is_python, programs))):
        names |= _MPI_OPTIONS
    total: int | None = None
    unknown = False
    for _, value in options(words, names):
        if value.isdigit():
            total = max(total or 1, 1) * int(value)
        else:
            unknown = True
    if programs & _TORCHRUN:
        if total is None and not unknown:
            total = 1  # its own default
        if any(value != "1" for _, value in options(words, frozenset({"--nnodes"}))):
            return (total if total and total > 1 else None), True
    return total, unknown


def _is_python(program: str) -> bool:
    """MPI is not NCCL: its ranks count only where they are Python programs."""
    return program.startswith("python") or program.endswith(".py")


def read_workers(words: Sequence[str]) -> int | None:
    """DataLoader workers by the command's own options; None where it names none."""
    for _, value in options(words, _WORKER_OPTIONS):
        if value.isdigit():
            return int(value)
    return None
