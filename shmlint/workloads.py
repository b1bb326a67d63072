"""How much /dev/shm a launch needs, why, and who says so.

The knowledge base is ``rules/workloads.json``. What a command says beats what an image says,
an image beats the base image it was built from; a launch's own number of GPUs decides for
workloads that need shared memory between GPUs only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from shmlint.finding import Evidence
from shmlint.launch import Launch, Value
from shmlint.size import human, parse_docker
from shmlint.source import Span

Verdict = Literal["needed", "not-needed", "unknown"]
Count = int | Literal["all"] | None

UNKNOWN_MINIMUM = 512 * 1024 * 1024
"""Bytes; below this DeepSpeed's own report warns, and nothing better is known of a workload."""
UNKNOWN_MINIMUM_SOURCE = "https://github.com/deepspeedai/DeepSpeed/blob/master/deepspeed/env_report.py"
UNKNOWN_RECOMMENDED = 1024 * 1024 * 1024
"""Bytes; what NVIDIA's NCCL user guide tells container users to set."""
NCCL_SOURCE = (
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory"
)


class Workload(NamedTuple):
    """One entry of the knowledge base; sizes in bytes."""

    id: str
    name: str
    images: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    needs: Literal["yes", "multi-gpu", "no", "depends"]
    single_gpu: Literal["needed", "advised", "not-needed", ""]
    minimum: int | None
    recommended: int | None
    memory_share: float | None
    because: str
    source: str
    verified: bool
    entry: Mapping[str, Any]
    """The entry as it was written."""


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

    from shmlint.rules import directory

    with open(os.path.join(directory(), "workloads.json"), encoding="utf-8") as file:
        return tuple(from_entry(entry) for entry in json.load(file)["workloads"])


def from_entry(entry: Mapping[str, Any]) -> Workload:
    """An entry of a knowledge base, as it stands in ``rules/workloads.json`` or in settings."""
    minimum, recommended = entry.get("minimum"), entry.get("recommended")
    return Workload(
        id=entry["id"],
        name=entry.get("name", entry["id"]),
        images=tuple(entry.get("images", ())),
        commands=tuple(tuple(pattern.split()) for pattern in entry.get("commands", ())),
        names=tuple(entry.get("names", ())),
        needs=entry["needs"],
        single_gpu=entry.get("single_gpu", ""),
        minimum=parse_docker(minimum) if minimum else None,
        recommended=parse_docker(recommended) if recommended else None,
        memory_share=entry.get("memory_share"),
        because=entry.get("because", ""),
        source=entry.get("source", ""),
        verified=entry.get("verified", False),
        entry=entry,
    )


def assess(launch: Launch, extra: Sequence[Workload] = ()) -> Need:
    """What a launch needs. ``extra`` workloads come before the program's own."""
    known = (*extra, *builtin())
    words = _meant(flatten(_command(launch)))
    ranks, _ = read_ranks(words)
    _, ranks_vary = read_ranks(flatten(_written(launch)))
    workers = read_workers(words)
    by_command = match_command(words, known)
    by_image = match_image(launch.image.known, known) if launch.image and launch.image.known else None
    by_base, base_value = None, None
    if by_image is None:
        for base in launch.base_images:
            by_base, base_value = match_image(base.known or "", known), base
            if by_base is not None:
                break

    span = _command_span(launch)
    workload, told = by_command, Evidence(by_command.name, span, by_command.source) if by_command else None
    if by_image is not None and launch.image is not None and _outweighs(by_image, by_command):
        workload = by_image
        told = Evidence(by_image.name, launch.image.span, by_image.source)
    elif workload is None and by_base is not None and base_value is not None:
        workload = by_base
        told = Evidence(f"built on {by_base.name}", base_value.span, by_base.source)
    if workload is None or (workload is by_base and workload.needs == "depends"):
        by_name = match_name(launch.names, known)
        if by_name is not None:
            workload, named = by_name
            told = Evidence(f"named `{named}`: {workload.name}", launch.span, workload.source)
    evidence = (told,) if told is not None else ()

    minimum = workload.minimum if workload else None
    recommended = _recommended(workload, launch)
    source = workload.source if workload else ""
    count = _gpu_count(launch)

    if workload is not None and workload.needs == "no":
        return Need("not-needed", None, None, workload, workload.because, source, evidence)
    several = ranks if isinstance(ranks, int) else None
    if several is not None and several > 1 and (count == "all" or count is None or count > 1):
        from shmlint.estimate import nccl_upper_bound

        bound = human(nccl_upper_bound(several))
        text = f"{several} ranks: NCCL alone may take up to {bound}"
        why = workload.because if workload and workload.needs != "depends" and workload.because else (
            "NCCL's ranks exchange data through shared memory"
        )
        return Need(
            "needed", minimum or UNKNOWN_RECOMMENDED, recommended or UNKNOWN_RECOMMENDED, workload, why,
            source or NCCL_SOURCE, (*evidence, Evidence(text, span, NCCL_SOURCE)),
        )  # fmt: skip
    if workers is not None and workers > 0 and (workload is None or workload.needs in ("depends", "multi-gpu")):
        text = f"{workers} DataLoader workers hand their batches over in shared memory"
        return Need(
            "needed", minimum or UNKNOWN_MINIMUM, recommended or UNKNOWN_RECOMMENDED, workload, text,
            _DATALOADER_SOURCE, (*evidence, Evidence(text, span, _DATALOADER_SOURCE)),
        )  # fmt: skip
    if workload is None or workload.needs == "depends":
        why = workload.because if workload else ""
        return Need("unknown", minimum, recommended, workload, why, source, evidence)
    from_base = workload is by_base
    single = count == 1 or (several == 1 and not ranks_vary)
    needs = workload.needs
    if needs == "yes" and single and workload.single_gpu == "advised":
        return Need("unknown", minimum, recommended, workload, workload.because, source, evidence)
    if needs == "yes" and single and workload.single_gpu == "not-needed":
        return Need("not-needed", None, None, workload, "one GPU", source, evidence)
    if needs == "multi-gpu":
        if single:
            if workload.single_gpu == "advised":
                return Need("unknown", minimum, recommended, workload, workload.because, source, evidence)
            why = f"with one GPU {workload.name} does not exchange data between processes"
            return Need("not-needed", None, None, workload, why, source, evidence)
        if count is None or count == "all" or ranks_vary:
            return Need("unknown", minimum, recommended, workload, workload.because, source, evidence)
    verdict: Verdict = "unknown" if from_base or not workload.verified else "needed"
    return Need(verdict, minimum, recommended, workload, workload.because, source, evidence)


_DATALOADER_SOURCE = "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading"


def _outweighs(image: Workload, command: Workload | None) -> bool:
    """A command says more than an image, but a launcher of any program says less than a named image."""
    if command is None:
        return True
    return command.id == "nccl" and image.needs == "yes"


def _recommended(workload: Workload | None, launch: Launch) -> int | None:
    if workload is None:
        return None
    limit = launch.memory_limit.known if launch.memory_limit else None
    if workload.memory_share is not None and limit:
        share = int(limit * workload.memory_share)
        return (share // 2**20 or 1) * 2**20
    return workload.recommended


def _gpu_count(launch: Launch) -> Count:
    """The GPUs a launch's program sees: asked for, and narrowed by its environment."""
    count: Count = launch.gpu.count
    for name in ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        value = launch.environment.get(name)
        text = value.known if value else None
        if text and text not in ("all", "void", "none"):
            ids = [part for part in text.split(",") if part.strip()]
            if not isinstance(count, int) or len(ids) < count:
                count = len(ids)
    return count


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


_IDLE = (
    ("sleep",), ("tail", "-f"), ("tail", "-F"), ("nvidia-smi", "dmon"), ("nvidia-smi", "pmon"),
    ("nvidia-smi", "-l"), ("cat",), ("bash",), ("/bin/bash",), ("sh",), ("/bin/sh",), ("zsh",),
)  # fmt: skip
"""Commands that only keep a container alive: what is run in it later is not known."""


def _meant(words: list[str]) -> list[str]:
    """The words, or none where they only keep the container alive."""
    if any(tuple(words[: len(idle)]) == idle for idle in _IDLE) and len(words) <= 4 and "-c" not in words:
        return []
    return words


def _command_span(launch: Launch) -> Span | None:
    part: Value[tuple[str, ...]] | None = launch.command or launch.entrypoint
    return part.span if part is not None else None


def flatten(words: Iterable[str]) -> list[str]:
    """The words of a command, with scripts handed to a shell (``bash -c "…"``) split as well."""
    found: list[str] = []
    for word in words:
        if any(c in word for c in " \t\n"):
            found += word.replace("\\\n", " ").replace(";", " ; ").replace("&&", " && ").split()
        else:
            found.append(word)
    return [word.strip("'\"") for word in found]


_RANK_OPTIONS = frozenset(
    {
        "--nproc_per_node", "--nproc-per-node", "--tensor-parallel-size", "--tensor_parallel_size", "-tp",
        "--tp", "--tp-size", "--tp_size", "--num-shard", "--num_shard", "--num_gpus", "--num-gpus",
        "--num_processes", "--num-processes", "-np", "--data-parallel-size", "-dp", "--dp", "--dp-size",
        "--pipeline-parallel-size", "-pp", "--pp-size", "--world-size", "--world_size",
    }
)  # fmt: skip
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


def read_ranks(words: Sequence[str]) -> tuple[int | None, bool]:
    """How many processes share the work, by the command's own options, multiplied where several
    kinds are given; and whether an option is there whose number is not known."""
    total: int | None = None
    unknown = False
    for _, value in _options(words, _RANK_OPTIONS):
        if value.isdigit():
            total = max(total or 1, 1) * int(value)
        else:
            unknown = True
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
    for prefix in ("docker.io/", "index.docker.io/", "registry-1.docker.io/"):
        repository = repository.removeprefix(prefix)
    repository = repository.removeprefix("library/")
    return repository, f"{repository}:{tag or 'latest'}"


def match_image(image: str, workloads: Iterable[Workload]) -> Workload | None:
    """The first workload whose image patterns fit."""
    repository, tagged = image_names(image)
    for workload in workloads:
        for pattern in workload.images:
            if _fits(tagged if ":" in pattern else repository, pattern):
                return workload
    return None


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


def match_command(words: Sequence[str], workloads: Iterable[Workload]) -> Workload | None:
    """The workload whose command patterns fit, the one with the most words where several do."""
    best: tuple[int, Workload | None] = (0, None)
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
