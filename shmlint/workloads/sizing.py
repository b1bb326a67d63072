"""How much /dev/shm one launch needs, from what is known and what its user adds: sums, advice and notes."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.docker.images import parse
from shmlint.docker.sizes import human, rounded
from shmlint.model.launch import DOCKER_DEFAULT_SHM, Launch
from shmlint.model.need import UNKNOWN_RECOMMENDED, Need
from shmlint.model.record import NamedTuple
from shmlint.workloads import mechanisms as estimate
from shmlint.workloads.assess import decide
from shmlint.workloads.by_knowledge import NCCL_SOURCE, nccl_settings, number, numbers, told_size
from shmlint.workloads.case import examine
from shmlint.workloads.commands import is_mpi_only, mpi_processes
from shmlint.workloads.knowledge import Workload, entry_of
from shmlint.workloads.mechanisms import Term
from shmlint.workloads.running.visible import Count

_GIB = 2**30
_STEP = 64 * 2**20
"""Bytes; up to one GiB an answer is a multiple of this."""


class Question(NamedTuple):
    """One launch, and what its text does not say. ``batch_bytes`` is one batch of one rank.

    ``nccl`` is a version, ``nccl_because`` says where it comes from when nobody named it.
    """

    launch: Launch
    nccl: str | None = None
    nccl_because: str = ""
    channels: int | None = None
    workers: int | None = None
    prefetch: int | None = None
    batch_bytes: int | None = None
    cameras: tuple[tuple[int, int], ...] = ()
    birdseye: bool = False
    tabs: int = 0
    """Tabs of a browser that has windows of the size ``window`` in pixels; each of them shows the same pictures."""
    window: estimate.Size = estimate.CHROMIUM_WINDOW
    pictures: tuple[estimate.Size, ...] = ()


class Answer(NamedTuple):
    """``workload`` is the entry that the need rests on.

    ``bytes`` is what to ask for: None where the size is unknown, 0 where Docker's default will do.
    ``why`` is what the answer rests on, in a few words; ``notes`` are what a reader should know besides.
    """

    question: Question
    need: Need
    workload: Workload | None
    gpus: Count
    ranks: int
    terms: tuple[Term, ...]
    bytes: int | None
    why: str
    notes: tuple[str, ...]

    @property
    def total(self) -> int:
        return estimate.total(self.terms)


class _Case(NamedTuple):
    """What a question is about, read together with what the question adds."""

    question: Question
    need: Need
    workload: Workload | None
    gpus: Count
    ranks: int
    says_ranks: bool
    """The launch's own words say how many ranks there are."""
    workers: int | None
    memory: int | None
    """The memory limit of the container in bytes."""
    processes: int
    """The processes that MPI starts; 0 where it starts none."""


class _Part(NamedTuple):
    """What a mechanism adds to an answer."""

    terms: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()


def answer(question: Question, extra: Sequence[Workload] = (), default: int = DOCKER_DEFAULT_SHM) -> Answer:
    """How much a launch needs. ``default`` is what it gets when it asks for nothing, in bytes.

    Raises ValueError for an NCCL version that is none.
    """
    case = _case(question, extra)
    kinds = (_of_cameras, _of_browser, _of_nccl, _of_mpi, _of_queues, _of_workers, _of_memory)
    parts = [of_kind(case) for of_kind in kinds]
    terms = tuple(term for part in parts for term in part.terms)
    notes = [note for part in parts for note in part.notes]
    if case.workload is not None:
        notes += [*_of_gpus(case, case.workload), *_of_entry(case, case.workload)]
    size, why = _size(case, terms, default)
    if size and case.memory and size > case.memory:
        notes.append(f"/dev/shm counts against the memory limit of {human(case.memory)}: raise it too (SHM209)")
    return Answer(question, case.need, case.workload, case.gpus, case.ranks, terms, size, why, tuple(notes))


def _case(question: Question, extra: Sequence[Workload]) -> _Case:
    launch = question.launch
    examined = examine(launch, extra)
    need = decide(examined)
    ran = [command for command in examined.program.commands if command.kind == "program"]
    gpus, ranks, workers = numbers(launch, extra, ran)
    plain = bool(ran) and all(is_mpi_only(command.words) for command in ran)
    return _Case(
        question, need, entry_of(need.workload, extra), gpus,
        ranks=ranks or (gpus if isinstance(gpus, int) and not plain else 1),
        says_ranks=ranks is not None,
        workers=question.workers if question.workers is not None else workers,
        memory=launch.memory_limit.known if launch.memory_limit else None,
        processes=max((mpi_processes(command.words) or 0 for command in ran), default=0),
    )  # fmt: skip


def _of_cameras(case: _Case) -> _Part:
    cameras = case.question.cameras
    return _Part(tuple(estimate.frigate_terms(cameras, case.question.birdseye)) if cameras else ())


def _of_browser(case: _Case) -> _Part:
    """What a browser draws."""
    question = case.question
    if not question.tabs or case.need.verdict == "not-needed":
        return _Part()
    note = (
        f"Chromium: drawn without a GPU, with all tabs shown once. Measured with version {estimate.CHROMIUM_LAST}; "
        f"version {estimate.CHROMIUM_WITHOUT} puts nothing into /dev/shm, nor do others with --disable-dev-shm-usage"
    )
    if not question.pictures:
        note += ". Pictures, canvases and videos are not included: add --picture WIDTHxHEIGHT for each of a page"
    return _Part(estimate.browser_terms(question.tabs, question.window, question.pictures), (note,))


def _of_nccl(case: _Case) -> _Part:
    """NCCL between the ranks, where the program is one whose ranks talk."""
    question, workload, launch = case.question, case.workload, case.question.launch
    talks = case.says_ranks or workload is None or (workload.needs != "no" and not workload.no_ranks)
    if case.ranks < 2 or not talks:
        return _Part()
    channels, buffsize = nccl_settings(launch)
    notes = [
        "NCCL: about, for one communicator on one host without direct access between GPUs. With NVLink or cuMem it is "
        "much less. Send and receive (pipelines, experts), several hosts and further communicators take more"
    ]
    if "amd" in (launch.gpu.vendor, workload.vendor if workload is not None else ""):
        notes.append("the sizes are those of NCCL; the ones of AMD's RCCL may differ")
    if question.nccl_because:
        notes.append(question.nccl_because)
    channels = question.channels or channels
    return _Part(tuple(estimate.nccl_terms(case.ranks, question.nccl, channels, buffsize)), tuple(notes))


def _of_mpi(case: _Case) -> _Part:
    """MPI between its processes."""
    if case.processes < 2 or case.need.verdict == "not-needed":
        return _Part()
    return _Part(estimate.mpi_terms(case.processes), (
        "MPI: with UCX, whatever is sent. Open MPI without it reserves 4 MiB a process and writes less. What the "
        "program itself stores comes on top",
    ))  # fmt: skip


def _of_queues(case: _Case) -> _Part:
    """The message queues of an inference server's workers."""
    if case.workload is None or case.need.verdict == "not-needed":
        return _Part()
    if case.workload.id == "sglang" and case.says_ranks:
        return _Part(estimate.sglang_terms(case.ranks))
    if case.workload.id != "vllm":
        return _Part()
    slot = number(case.question.launch, "VLLM_MQ_MAX_CHUNK_BYTES_MB") or estimate.VLLM_BROADCAST
    return _Part(estimate.vllm_terms(case.ranks, slot))


def _of_workers(case: _Case) -> _Part:
    """The batches of DataLoader workers."""
    question, workers = case.question, case.workers
    if not workers:
        return _Part()
    if not question.batch_bytes:
        return _Part(notes=(
            f"{estimate.counted_workers(workers)}: the batches are not included; "
            "add --batch-size and --item-size, or --batch-bytes",
        ))  # fmt: skip
    prefetch = question.prefetch if question.prefetch is not None else estimate.PREFETCH
    return _Part(tuple(estimate.dataloader_terms(case.ranks, workers, question.batch_bytes, prefetch)))


def _of_memory(case: _Case) -> _Part:
    """The size that a command sets, or else the share of the memory that its program takes."""
    workload = case.workload
    if workload is None:
        return _Part()
    if told := told_size(case.question.launch, workload):
        option = str(workload.entry["size_option"])
        return _Part((Term(f"the size that is set for {workload.name}", told, option, "documented", workload.source),))
    if workload.memory_share is None:
        return _Part()
    if case.memory:
        label = f"{workload.name}'s share of the memory"
        return _Part((estimate.share_term(label, case.memory, workload.memory_share, workload.source),))
    share = f"{workload.memory_share * 100:.0f} %"
    return _Part(notes=(f"{workload.name} uses {share} of the container's memory: add --memory",))


def _of_gpus(case: _Case, workload: Workload) -> list[str]:
    """What is to be said of the number of GPUs."""
    if workload.needs not in ("multi-gpu", "yes") or workload.memory_share is not None or case.says_ranks:
        return []
    notes = []
    if case.gpus is None and workload.needs == "multi-gpu":
        notes.append(f"{workload.name} needs shared memory with more than one GPU: add --gpus N")
    if case.gpus == "all":
        notes.append("the number of GPUs is unknown with `all`: use --gpus N to include NCCL")
    if workload.one_process and not workload.counts_listed and case.ranks > 1:
        notes.append(
            f"{workload.name} uses one GPU unless its command sets more (--tensor-parallel-size {case.ranks}); "
            "with one GPU it needs no shared memory"
        )
    return notes


def _of_entry(case: _Case, workload: Workload) -> list[str]:
    """What the knowledge base says besides."""
    if case.question.cameras:
        return []
    notes = []
    if workload.inputs == "cameras":
        notes.append(f"{workload.name} has an exact formula: add --camera WIDTHxHEIGHT for each camera")
    if workload.inputs == "tabs" and not case.question.tabs:
        notes.append("the sum of what Chromium draws: add --tabs N --window WIDTHxHEIGHT")
    known = str(workload.entry.get("notes", ""))
    if known and case.need.verdict != "not-needed":
        notes.append(f"{workload.name}: {known}")
    return notes


def _size(case: _Case, terms: Sequence[Term], default: int) -> tuple[int | None, str]:
    """The size to ask for, and what it rests on."""
    need = case.need
    shares = case.workload is not None and case.workload.memory_share is not None
    total = estimate.total(terms)
    if case.question.cameras:
        return _whole_mebibytes(total), "Frigate's own formula, rounded up"
    computed = _whole_mebibytes(total) if shares else rounded(total)
    spared = need.verdict == "not-needed" or _only_a_sum(need, terms, case.gpus, case.ranks)
    advised = 0 if spared else max(need.recommended or 0, need.minimum or 0)
    if not advised and not spared and not shares:
        advised = UNKNOWN_RECOMMENDED
    if not terms and not advised:
        if need.verdict == "not-needed":
            return 0, f"Docker's default of {human(default)} is enough: {need.because}"
        if need.workload is None:
            return None, "unknown: give a command, --gpus or --workers"
        return None, "the size is unknown"
    if total > advised:
        if total <= default and not advised:
            return 0, f"That fits into Docker's default of {human(default)}"
        return max(computed, advised), "the sum, rounded up"
    return advised, "the recommended size" + (", more than the sum" if terms else "")


def _only_a_sum(need: Need, terms: Sequence[Term], gpus: Count, ranks: int) -> bool:
    """Whether nothing is known of a launch but its numbers, and they ask for no NCCL."""
    return need.workload is None and ranks < 2 and gpus != "all" and bool(terms or need.verdict == "unknown")


def _whole_mebibytes(size: int) -> int:
    """The next multiple of 64 MiB, above a GiB of one GiB: for sums that say how large /dev/shm is made; bytes."""
    step = _STEP if size <= _GIB else _GIB
    return -(-size // step) * step


def advice(found: Answer) -> tuple[str, int | None, int | None, str, str]:
    """What the knowledge base says: who speaks, the least and the advised size in bytes, why, and the address."""
    need = found.need
    if _only_a_sum(need, found.terms, found.gpus, found.ranks):
        return "", None, None, "", ""
    if need.workload is None and need.verdict == "unknown":
        return "", None, UNKNOWN_RECOMMENDED, "from NVIDIA's NCCL guide; the program is unknown", NCCL_SOURCE
    if need.verdict == "not-needed":
        return "", None, None, need.because, need.source
    if need.recommended is None and need.minimum is None and need.workload is not None:
        return need.workload.name, None, None, need.because, need.source
    name = need.workload.name if need.workload is not None else ""
    return name, need.minimum, need.recommended, need.because, need.source


def nccl_of_image(image: str) -> tuple[str, str] | None:
    """The NCCL of an official PyTorch image, by its tag, and where that comes from."""
    name = parse(image)
    return nccl_of_torch(name.tag.partition("-")[0]) if name.repository == "pytorch/pytorch" else None


def nccl_of_torch(release: str) -> tuple[str, str] | None:
    """The NCCL of a PyTorch release; None where it is not known.

    >>> nccl_of_torch("2.7.1")[0]
    '2.26.2'
    """
    short = ".".join(release.split(".")[:2])
    nccl = estimate.TORCH_NCCL.get(short)
    return None if nccl is None else (nccl, f"PyTorch {short}'s wheels bring NCCL {nccl} (--nccl names another)")
