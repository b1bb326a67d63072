"""How much /dev/shm a launch needs, why, and who says so.

What a command says beats what an image says, an image beats the base image it was built from; a
launch's own number of GPUs decides for workloads that need shared memory between GPUs only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch, Value
from shmlint.model.need import UNKNOWN_MINIMUM, UNKNOWN_RECOMMENDED, Need, Verdict
from shmlint.model.source import Span
from shmlint.workloads.commands import (
    commands_that_tell,
    flatten,
    looks_only,
    read_ranks,
    read_workers,
    simple_commands,
)
from shmlint.workloads.knowledge import Workload, builtin, match_command, recognise

Count = int | Literal["all"] | None

NCCL_SOURCE = (
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory"
)

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
    known = workload.known if workload else None
    because = _because(workload)
    standing = " (unverified: no source was read)" if workload is not None and not workload.verified else ""

    def need(verdict: Verdict, why: str = because) -> Need:
        if verdict == "not-needed":
            return Need(verdict, None, None, known, f"{why}{standing}", source, evidence)
        formula = workload.formula if workload is not None else None
        found = (*evidence, formula) if formula is not None else evidence
        return Need(verdict, minimum, recommended, known, f"{why}{share}{standing}", source, found)

    if workload is not None and workload.needs == "no":
        return need("not-needed")
    if reading.looks_only:
        return Need("not-needed", why="its command looks at something and ends", looks=True)
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
            "likely" if workload is not None and workload.condition else "needed", minimum or UNKNOWN_RECOMMENDED,
            recommended or UNKNOWN_RECOMMENDED, known, why, source or NCCL_SOURCE, (*evidence, told),
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
            "likely" if reading.serves else "needed", minimum or UNKNOWN_MINIMUM,
            recommended or UNKNOWN_RECOMMENDED, known, text, DATALOADER_SOURCE, (*evidence, told),
        )  # fmt: skip
    if workload is None:
        return need("unknown", "")
    one = (isinstance(count, int) and count <= 1) or (ranks == 1 and not reading.ranks_vary)
    if one and workload.single_gpu == "not-needed":
        return need("not-needed", "it runs on one GPU")
    if workload.needs == "depends" or (one and workload.single_gpu == "advised"):
        return need("likely")
    if workload.needs == "multi-gpu":
        if one and not workload.single_gpu:
            return need("not-needed", f"with one GPU {workload.name} does not exchange data between processes")
        if not isinstance(count, int) or reading.ranks_vary:
            return need("likely")
    if workload.one_process and ranks is None and reading.words:
        return need("likely")  # GPUs alone do not make it use more than one; its command would say so
    told_otherwise = reading.serves and workload is not reading.by_command
    sure = workload.verified and not workload.condition and not weak and not told_otherwise
    return need("needed" if sure else "likely")


def numbers(launch: Launch, extra: Sequence[Workload] = ()) -> tuple[Count, int | None, int | None]:
    """The GPUs a launch's program sees, and the ranks and DataLoader workers that its own words ask for."""
    reading = _Reading(launch, extra)
    return reading.count, reading.ranks, reading.workers


class _Reading:
    """What a launch's command, image, base images and environment say, and what wins."""

    def __init__(self, launch: Launch, extra: Sequence[Workload]) -> None:
        mine = {workload.id for workload in extra}
        known = (*extra, *(w for w in builtin() if w.id not in mine))
        commands = commands_that_tell(_command(launch))
        self.words = [word for command in commands for word in command]
        self.looks_only = looks_only(_command(launch))
        self.span = _command_span(launch)
        self.private = any(part is not None and part.private for part in (launch.entrypoint, launch.command))
        self.count = _gpu_count(launch)
        self.by_command = _of_commands(commands, extra, known)
        servers = [workload for workload in known if workload.id == "servers"]
        self.serves = any(match_command(command, servers) is not None for command in commands)
        self.workers = read_workers(self.words)
        self.workload, self.told, self.weak = self._winner(launch, known, mine)
        self._apply_use(commands, list(simple_commands(flatten(_command(launch)))))
        if self.by_command is not None and self.workload is self.by_command:
            self.weak = False
        self.ranks_span = self.span
        found = self.workload
        launcher = found is not None and found.verified and found.needs in ("yes", "multi-gpu")
        self.ranks, _ = read_ranks(self.words, launcher=launcher)
        _, self.ranks_vary = read_ranks(flatten(_written(launch)), launcher=launcher)
        if self.ranks is None and not self.ranks_vary and launcher:
            self._ranks_of_environment(launch)

    def _apply_use(self, telling: list[list[str]], everything: list[list[str]]) -> None:
        """Let the winner say what it says of these commands. Commands that only prepare do not count."""
        if self.workload is None:
            return
        used = self.workload.used_by(telling or everything)
        if self.by_command is self.workload:
            self.by_command = used
        self.workload = used

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
                    built = Evidence(f"built on {found_base.name}", base.span, found_base.source)
                    return found_base, built, found_base.id not in mine
        return command, told, False

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
    words = [word for command in commands_that_tell(_command(launch)) for word in command] if option else []
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
