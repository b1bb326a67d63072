"""How much /dev/shm a launch needs, why, and who says so.

The knowledge base is ``rules/workloads.json``. What a command says beats what an image says,
an image beats the base image it was built from; a launch's own number of GPUs decides for
workloads that need shared memory between GPUs only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from shmlint.docker.sizes import human, parse_compose
from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch, Value
from shmlint.model.source import Span

Verdict = Literal["needed", "not-needed", "unknown"]
Count = int | Literal["all"] | None

UNKNOWN_MINIMUM = 512 * 1024 * 1024
"""Bytes; below this DeepSpeed's own report warns, and nothing better is known of a workload."""
UNKNOWN_MINIMUM_SOURCE = "https://github.com/deepspeedai/DeepSpeed/blob/edaa72212/deepspeed/env_report.py#L113-L115"
UNKNOWN_RECOMMENDED = 1024 * 1024 * 1024
"""Bytes; what NVIDIA's NCCL user guide tells container users to set."""
NCCL_SOURCE = (
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory"
)


class Workload:
    """One entry of the knowledge base; sizes in bytes.

    What an entry says is read when it is asked for: most of the hundred are looked at by name alone.
    """

    __slots__ = ("_commands", "_images", "entry", "id")

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.id: str = entry["id"]
        self.entry = entry
        self._commands: tuple[tuple[str, ...], ...] | None = None
        self._images: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        return str(self.entry.get("name", self.id))

    @property
    def images(self) -> tuple[str, ...]:
        if self._images is None:
            self._images = tuple(pattern.lower() for pattern in self.entry.get("images", ()))
        return self._images

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Patterns, as their words."""
        if self._commands is None:
            self._commands = tuple(tuple(pattern.split()) for pattern in self.entry.get("commands", ()))
        return self._commands

    @property
    def names(self) -> Sequence[str]:
        return tuple(self.entry.get("names", ()))

    @property
    def needs(self) -> Literal["yes", "multi-gpu", "no", "depends"]:
        return self.entry["needs"]  # type: ignore[no-any-return]

    @property
    def single_gpu(self) -> Literal["needed", "advised", "not-needed", ""]:
        return self.entry.get("single_gpu", "")  # type: ignore[no-any-return]

    @property
    def minimum(self) -> int | None:
        return _bytes(self.entry.get("minimum"))

    @property
    def recommended(self) -> int | None:
        return _bytes(self.entry.get("recommended"))

    @property
    def memory_share(self) -> float | None:
        return self.entry.get("memory_share")

    @property
    def because(self) -> str:
        return str(self.entry.get("because", ""))

    @property
    def condition(self) -> str:
        """What decides besides, and cannot be read from a file: such a workload is never sure to need it."""
        return str(self.entry.get("condition", ""))

    @property
    def formula(self) -> Evidence | None:
        """How its maintainers compute the size, where they do, and where."""
        text = str(self.entry.get("formula", ""))
        return Evidence(text, None, str(self.entry.get("formula_source", ""))) if text else None

    @property
    def source(self) -> str:
        return str(self.entry.get("source", ""))

    @property
    def verified(self) -> bool:
        return bool(self.entry.get("verified", False))

    @property
    def one_process(self) -> bool:
        """It uses one GPU, however many it has, unless its command asks for more."""
        return bool(self.entry.get("one_process", False))


def _bytes(size: str | int | None) -> int | None:
    return parse_compose(size) if size else None


class Need(NamedTuple):
    """The answer for one launch. ``minimum`` and ``recommended`` are bytes."""

    verdict: Verdict
    minimum: int | None
    recommended: int | None
    workload: Workload | None = None
    why: str = ""
    source: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def floor(self) -> int:
        """The least that is not too small, in bytes."""
        return self.minimum if self.minimum is not None else UNKNOWN_MINIMUM


@cache
def builtin() -> tuple[Workload, ...]:
    """The knowledge base that comes with the program. Raises OSError for a broken installation."""
    import json
    import os

    from shmlint.files.installed import directory

    with open(os.path.join(directory(), "workloads.json"), encoding="utf-8") as file:
        return tuple(map(Workload, json.load(file)["workloads"]))


def users(entries: Iterable[Mapping[str, Any]]) -> tuple[Workload, ...]:
    """Workloads from settings. An entry that has the id of one of the program's own changes that one:
    what it does not say stays."""
    if not entries:
        return ()
    known = {workload.id: workload.entry for workload in builtin()}
    return tuple(Workload({**known.get(entry["id"], {}), **entry, "verified": True}) for entry in entries)


def assess(launch: Launch, extra: Sequence[Workload] = ()) -> Need:
    """What a launch needs. ``extra`` workloads come before the program's own.

    An error has to be right, so "needed" is for what is sure: ranks that a command asks for, an image
    whose maintainers say so. What may be run otherwise is "unknown".
    """
    reading = _Reading(launch, extra)
    workload, weak, told = reading.workload, reading.weak, reading.told
    evidence = (told,) if told is not None else ()
    minimum, recommended, share = _sizes(workload, launch, reading)
    source = workload.source if workload else ""
    because = _because(workload)
    standing = " (unverified: no source was read)" if workload is not None and not workload.verified else ""

    def need(verdict: Verdict, why: str = because) -> Need:
        if verdict == "not-needed":
            return Need(verdict, None, None, workload, f"{why}{standing}", source, evidence)
        formula = workload.formula if workload is not None else None
        found = (*evidence, formula) if formula is not None else evidence
        return Need(verdict, minimum, recommended, workload, f"{why}{share}{standing}", source, found)

    if workload is not None and workload.needs == "no":
        return need("not-needed")
    if reading.looks_only:
        return Need("not-needed", None, None, None, "its command looks at something and ends", "", ())
    count, ranks = reading.count, reading.ranks
    if ranks is not None and ranks > 1 and (not isinstance(count, int) or count > 1):
        from shmlint.workloads.mechanisms import nccl_upper_bound

        text = f"{ranks} ranks: NCCL alone may take up to {human(nccl_upper_bound(ranks))}"
        if reading.private:
            text = "several ranks: NCCL keeps buffers in shared memory"
        told = Evidence(text, reading.ranks_span, NCCL_SOURCE)
        why = f"{because}{share}"
        if not workload or not workload.verified or workload.needs == "depends":
            why = "NCCL's ranks exchange data through shared memory"
        if workload is not None and not workload.verified:  # then the claim is NCCL's alone
            minimum = recommended = None
            source = ""
        return Need(
            "unknown" if workload is not None and workload.condition else "needed", minimum or UNKNOWN_RECOMMENDED,
            recommended or UNKNOWN_RECOMMENDED, workload, why, source or NCCL_SOURCE, (*evidence, told),
        )  # fmt: skip
    workers = reading.workers
    if workers and (workload is None or workload.needs in ("depends", "multi-gpu")):
        from shmlint.workloads.mechanisms import batches_at_once

        batches = batches_at_once(workers)
        text = f"{workers} DataLoader workers hand over up to {batches} batches at once in shared memory"
        if reading.private:
            text = "DataLoader workers hand their batches over in shared memory"
        told = Evidence(text, reading.span, DATALOADER_SOURCE)
        if workload is not None and not workload.verified:
            minimum = recommended = None
        return Need(
            "unknown" if reading.serves else "needed", minimum or UNKNOWN_MINIMUM,
            recommended or UNKNOWN_RECOMMENDED, workload, text, DATALOADER_SOURCE, (*evidence, told),
        )  # fmt: skip
    if workload is None:
        return need("unknown", "")
    one = (isinstance(count, int) and count <= 1) or (ranks == 1 and not reading.ranks_vary)
    if one and workload.single_gpu == "not-needed":
        return need("not-needed", "it runs on one GPU")
    if workload.needs == "depends" or (one and workload.single_gpu == "advised"):
        return need("unknown")
    if workload.needs == "multi-gpu":
        if one and not workload.single_gpu:
            return need("not-needed", f"with one GPU {workload.name} does not exchange data between processes")
        if not isinstance(count, int) or reading.ranks_vary:
            return need("unknown")
    if workload.one_process and ranks is None and reading.words:
        return need("unknown")  # GPUs alone do not make it use more than one; its command would say so
    told_otherwise = reading.serves and workload is not reading.by_command
    sure = workload.verified and not workload.condition and not weak and not told_otherwise
    return need("needed" if sure else "unknown")


def numbers(launch: Launch, extra: Sequence[Workload] = ()) -> tuple[Count, int | None, int | None]:
    """The GPUs a launch's program sees, and the ranks and DataLoader workers that its own words ask for."""
    reading = _Reading(launch, extra)
    return reading.count, reading.ranks, reading.workers


class _Reading:
    """What a launch's command, image, base images, environment and names say, and what wins."""

    def __init__(self, launch: Launch, extra: Sequence[Workload]) -> None:
        mine = {workload.id for workload in extra}
        known = (*extra, *(w for w in builtin() if w.id not in mine))
        commands = _commands(_command(launch))
        self.words = [word for command in commands for word in command]
        self.looks_only = _looks_only(_command(launch))
        self.span = _command_span(launch)
        self.private = any(part is not None and part.private for part in (launch.entrypoint, launch.command))
        self.count = _gpu_count(launch)
        self.by_command = _of_commands(commands, extra, known)
        servers = [workload for workload in known if workload.id == "servers"]
        self.serves = any(match_command(command, servers) is not None for command in commands)
        self.workers = read_workers(self.words)
        self.workload, self.told, self.weak = self._winner(launch, known, mine)
        if self.by_command is not None and self.workload is self.by_command:
            self.weak = False
        self.ranks_span = self.span
        found = self.workload
        launcher = found is not None and found.verified and found.needs in ("yes", "multi-gpu")
        self.ranks, _ = read_ranks(self.words, launcher=launcher)
        _, self.ranks_vary = read_ranks(flatten(_written(launch)), launcher=launcher)
        if self.ranks is None and not self.ranks_vary and launcher:
            self._ranks_of_environment(launch)

    def _ranks_of_environment(self, launch: Launch) -> None:
        for name in _RANK_VARIABLES:
            value = launch.environment.get(name)
            if value is None:
                continue
            if value.known is not None and value.known.isdigit():
                self.ranks = int(value.known)
                self.ranks_span = value.span
                self.private = value.private
            else:
                self.ranks_vary = True

    def _winner(
        self, launch: Launch, known: Sequence[Workload], mine: set[str]
    ) -> tuple[Workload | None, Evidence | None, bool]:
        """The workload that is judged, how it was recognised, and whether that is a weak sign."""
        command, image = self.by_command, None
        certain = False
        if launch.image is not None and launch.image.known:
            image, certain = recognise(launch.image.known, known)
        told = Evidence(command.name, self.span, command.source) if command is not None else None
        if image is not None and launch.image is not None and self._outweighs(image, command, mine):
            found = Evidence(image.name, launch.image.span, image.source)
            # An interactive tool in an image that needs it: what will be run there is not known.
            open_end = command is not None and command.needs == "depends"
            return image, found, image.id not in mine and (open_end or not certain)
        if command is not None and (command.needs != "depends" or image is not None):
            return command, told, False
        if image is None:
            for base in launch.base_images:
                found_base, _ = recognise(base.known or "", known)
                if found_base is not None and not (found_base.needs == "depends" and command is not None):
                    named = self._by_name(launch, known) if found_base.needs == "depends" else None
                    built = Evidence(f"built on {found_base.name}", base.span, found_base.source)
                    return named or (found_base, built, found_base.id not in mine)
        named = self._by_name(launch, known) if image is None else None
        return named or (command, told, False)

    def _by_name(
        self, launch: Launch, known: Sequence[Workload]
    ) -> tuple[Workload | None, Evidence | None, bool] | None:
        if any("train" in word or "tune" in word for word in self.words[:4]):
            return None  # whatever it is called, this is not what it is known for
        names = launch.names
        if launch.image is not None and launch.image.known:
            names = (*names, image_names(launch.image.known)[0].rpartition("/")[2])
        found = match_name(names, known)
        if found is None:
            return None
        workload, name = found
        return workload, Evidence(f"named `{name}`: {workload.name}", launch.span, workload.source), True

    def _outweighs(self, image: Workload, command: Workload | None, mine: set[str]) -> bool:
        """Whether an image says more than a command.

        A command says more as a rule, but a tool that runs anything says less than a named image, and
        settings say more than the program knows.
        """
        if command is None:
            return True
        if (image.id in mine) != (command.id in mine):
            return image.id in mine
        if command.needs == "depends":
            return image.needs != "depends"
        if command.id == "nccl":
            ranks, _ = read_ranks(self.words, launcher=True)
            return image.needs == "yes" or (image.needs == "no" and (ranks or 1) < 2)
        return False


DATALOADER_SOURCE = "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading"


def _because(workload: Workload | None) -> str:
    """Why a workload needs it, or does not."""
    if workload is None:
        return ""
    return f"{workload.because} {workload.condition}".rstrip()


def told_size(launch: Launch, workload: Workload) -> int | None:
    """How many bytes of /dev/shm a command itself asks for, where the workload has an option for that."""
    option = workload.entry.get("size_option")
    words = [word for command in _commands(_command(launch)) for word in command] if option else []
    for i, word in enumerate(words):
        name, equals, text = word.partition("=")
        if name == option:
            text = text if equals else "".join(words[i + 1 : i + 2])
            return int(text) if text.isdecimal() and len(text) < 16 else None
    return None


def _sizes(workload: Workload | None, launch: Launch, reading: _Reading) -> tuple[int | None, int | None, str]:
    """The least and the advised size of a workload in bytes, and how they came about."""
    if workload is None:
        return None, None, ""
    told = told_size(launch, workload)
    if told:
        shown = "so much" if reading.private else human(told)
        unit = 2**30 if told > 2**30 else 2**20
        return told, -(-told // unit) * unit, f"; its `{workload.entry['size_option']}` asks for {shown}"
    if workload.memory_share is None:
        return workload.minimum, workload.recommended, ""
    share = f"; it wants more than {workload.memory_share * 100:.0f} % of the container's memory"
    limit = launch.memory_limit
    if limit is None or limit.known == 0:  # 0 is no limit
        return workload.minimum, workload.recommended, f"{share}, and no limit is declared"
    if limit.known is None or limit.private:
        return workload.minimum, workload.recommended, f"{share}, whose limit is not known here"
    size = (int(limit.known * workload.memory_share) // 2**20 or 1) * 2**20
    return min(size, UNKNOWN_MINIMUM), size, f"{share}, here {human(size)} of {human(limit.known)}"


def _gpu_count(launch: Launch) -> Count:
    """The GPUs a launch's program sees: asked for, and narrowed by its environment."""
    count: Count = launch.gpu.count
    for name in _VISIBLE:
        value = launch.environment.get(name)
        if value is None:
            continue
        if value.known is None:
            count = count if count == 1 else None
            continue
        if value.known in ("all", "void", "none", ""):
            continue
        ids = [part.strip() for part in value.known.split(",") if part.strip()]
        if "-1" in ids:  # CUDA stops reading there
            ids = ids[: ids.index("-1")]
        if not isinstance(count, int) or len(ids) < count:
            count = len(ids)
    return count


_VISIBLE = (
    "NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
)  # fmt: skip
_RANK_VARIABLES = ("NUM_SHARD", "TENSOR_PARALLEL_SIZE", "NPROC_PER_NODE")
"""Environment variables that inference servers and launchers read their number of processes from."""


def _command(launch: Launch) -> tuple[str, ...]:
    words: tuple[str, ...] = ()
    for part in (launch.entrypoint, launch.command):
        if part is not None and part.known:
            words += part.known
    return words


def _written(launch: Launch) -> tuple[str, ...]:
    """The words as the file has them, variables not substituted: a default is not a decision."""
    parts = (launch.entrypoint, launch.command)
    return tuple(word for part in parts if part is not None for word in part.text.split())


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


def _commands(words: Sequence[str]) -> list[list[str]]:
    """The simple commands that tell what a launch runs; none where it only stays alive."""
    told: list[list[str]] = []
    for command in _simple(flatten(words)):
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


def _looks_only(words: Sequence[str]) -> bool:
    """Whether a command prints something of the machine or its programs, and ends."""
    if len(words) == 3 and words[1] == "-c" and words[0].rpartition("/")[2].rstrip("0123456789.") == "python":
        code = words[2]
        return (
            len(code) < _LONGEST_LOOK and any(query in code for query in _QUERIES)
            and not any(work in code for work in _WORK)
        )  # fmt: skip
    commands = list(_simple(flatten(words)))
    return bool(commands) and all(map(_looks, commands))


def _looks(command: Sequence[str]) -> bool:
    program = command[0].rpartition("/")[2]
    if len(command) == 2 and command[1] in _TELLS:
        return True
    if program in _RUNS_MORE or tuple(command[:2]) in _IDLE or "run" in command:
        return False
    return program in _SILENT or (program in _LOOKS and "-exec" not in command)


def _simple(words: Sequence[str]) -> Iterator[list[str]]:
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


def _of_commands(
    commands: Sequence[Sequence[str]], extra: Sequence[Workload], known: Sequence[Workload]
) -> Workload | None:
    """The workload that several commands are; one that needs nothing only where all of them are."""
    found = [match_command(command, extra) or match_command(command, known) for command in commands]
    real = [w for w in found if w is not None and w.needs != "no"]
    if real:
        return next((w for w in real if w.needs != "depends"), real[0])
    return found[0] if found and all(w is not None for w in found) else None


def _command_span(launch: Launch) -> Span | None:
    part: Value[tuple[str, ...]] | None = launch.command or launch.entrypoint
    return part.span if part is not None else None


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


def _options(words: Sequence[str], names: frozenset[str]) -> Iterator[tuple[str, str]]:
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
    if programs & _MPI:
        names |= _MPI_OPTIONS
    total: int | None = None
    unknown = False
    for _, value in _options(words, names):
        if value.isdigit():
            total = max(total or 1, 1) * int(value)
        else:
            unknown = True
    if programs & _TORCHRUN:
        if total is None and not unknown:
            total = 1  # its own default
        if any(value != "1" for _, value in _options(words, frozenset({"--nnodes"}))):
            return (total if total and total > 1 else None), True
    return total, unknown


def read_workers(words: Sequence[str]) -> int | None:
    """DataLoader workers by the command's own options; None where it names none."""
    for _, value in _options(words, _WORKER_OPTIONS):
        if value.isdigit():
            return int(value)
    return None


def image_names(image: str) -> tuple[str, str]:
    """An image's repository, and repository:tag, in lower case and without Docker Hub's default parts."""
    name = image.strip().lower().partition("@")[0]
    head, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    repository = f"{head}{slash}{last}"
    for prefix in _HUB:
        repository = repository.removeprefix(prefix)
    repository = repository.removeprefix("library/")
    return repository, f"{repository}:{tag or 'latest'}"


_HUB = (
    "m.daocloud.io/", "docker.m.daocloud.io/", "mirror.gcr.io/", "public.ecr.aws/docker/", "registry.hub.docker.com/",
    "index.docker.io/", "registry-1.docker.io/", "docker.io/",
)  # fmt: skip
"""Other names of Docker Hub, and mirrors that hold its repositories under their own names."""


def recognise(image: str, workloads: Iterable[Workload]) -> tuple[Workload | None, bool]:
    """The first workload whose image patterns fit, and whether that is certain.

    ``*/name`` says nothing of who built the image: somebody's own image may run anything.
    """
    repository, tagged = image_names(image)
    for workload in workloads:
        certain: bool | None = None
        for pattern in workload.images:
            if _fits(tagged if ":" in pattern else repository, pattern):
                certain = not (pattern.startswith("*/") and pattern.count("/") == 1)
                if certain:
                    break
        if certain is not None:
            return workload, certain
    return None, False


def match_name(names: Sequence[str], workloads: Iterable[Workload]) -> tuple[Workload, str] | None:
    """The first workload that needs nothing whose names fit one of the launch's own names.

    A name is a weak sign: it may spare an alarm, it never raises one.
    """
    for name in names:
        lowered = name.lower().replace("_", "-")
        for workload in workloads:
            if workload.needs == "no" and any(_fits(lowered, pattern) for pattern in workload.names):
                return workload, name
    return None


def _fits(text: str, pattern: str) -> bool:
    """Whether a glob fits a whole text. Most do not, and most of those for want of a plain part."""
    if "*" not in pattern and "?" not in pattern and "[" not in pattern:
        return text == pattern
    longest = max(pattern.replace("?", "*").split("*"), key=len)
    if "[" not in longest and longest not in text:
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(text, pattern)


_MOST_WORDS = 500
"""Words of a command that are compared with the patterns: what runs is said at its beginning."""


def match_command(words: Sequence[str], workloads: Iterable[Workload]) -> Workload | None:
    """The workload whose command patterns fit, the one with the most words where several do."""
    best: tuple[int, Workload | None] = (0, None)
    words = words[:_MOST_WORDS]
    for workload in workloads:
        for pattern in workload.commands:
            if len(pattern) > best[0] and _command_fits(words, pattern):
                best = (len(pattern), workload)
    return best[1]


def _command_fits(words: Sequence[str], pattern: tuple[str, ...]) -> bool:
    first_only = pattern[0] == "^"
    parts = pattern[1:] if first_only else pattern
    starts = range(1) if first_only else range(len(words) - len(parts) + 1)
    for start in starts:
        if start + len(parts) > len(words):
            return False
        head = words[start]
        if not (_fits(head, parts[0]) or ("/" in head and _fits(head.rpartition("/")[2], parts[0]))):
            continue
        if all(_fits(words[start + i], parts[i]) for i in range(1, len(parts))):
            return True
    return False
