"""``shmlint size``: how much /dev/shm one launch needs, with the arithmetic and who says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.docker.sizes import human, spell_compose, spell_docker, spell_quantity
from shmlint.model.launch import DOCKER_DEFAULT_SHM, Launch
from shmlint.model.need import UNKNOWN_RECOMMENDED, Need
from shmlint.model.record import NamedTuple
from shmlint.reports import escape
from shmlint.workloads import mechanisms as estimate
from shmlint.workloads.assess import decide, examine
from shmlint.workloads.by_knowledge import NCCL_SOURCE, Count, numbers, told_size
from shmlint.workloads.knowledge import Workload, entry_of, image_names
from shmlint.workloads.mechanisms import Term

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


def answer(question: Question, extra: Sequence[Workload] = (), default: int = DOCKER_DEFAULT_SHM) -> Answer:
    """How much a launch needs. ``default`` is what it gets when it asks for nothing, in bytes.

    Raises ValueError for an NCCL version that is none.
    """
    launch = question.launch
    case = examine(launch, extra)
    need = decide(case)
    ran = [command.words for command in case.program.commands if command.kind == "program"]
    gpus, told_ranks, told_workers = numbers(launch, extra, ran)
    workload = entry_of(need.workload, extra)
    ranks = told_ranks or (gpus if isinstance(gpus, int) else 1)
    workers = question.workers if question.workers is not None else told_workers
    notes: list[str] = []
    terms: tuple[Term, ...] = ()

    if question.cameras:
        terms += estimate.frigate_terms(question.cameras, question.birdseye)
    if ranks > 1 and (told_ranks is not None or workload is None or _exchanges(workload)):
        channels = question.channels or _number(launch, "NCCL_MAX_NCHANNELS") or estimate.CHANNELS
        buffsize = _number(launch, "NCCL_BUFFSIZE") or estimate.BUFFSIZE
        terms += estimate.nccl_terms(ranks, question.nccl, channels, buffsize)
        notes.append(
            "NCCL: one communicator, without direct access between GPUs. With NVLink or cuMem it is much less; "
            "each further communicator with its own buffers needs the same amount again"
        )
        if launch.gpu.vendor == "amd" or (workload is not None and workload.id.startswith("rocm")):
            notes.append("the sizes are those of NCCL; the ones of AMD's RCCL may differ")
        if question.nccl_because:
            notes.append(question.nccl_because)
    if workers and question.batch_bytes:
        prefetch = question.prefetch if question.prefetch is not None else estimate.PREFETCH
        terms += estimate.dataloader_terms(ranks, workers, question.batch_bytes, prefetch)
    elif workers:
        notes.append(
            f"{workers} DataLoader workers: their batches are not included; "
            "add --batch-size and --item-size, or --batch-bytes"
        )
    limit = launch.memory_limit.known if launch.memory_limit else None
    told = told_size(launch, workload) if workload is not None else None
    if workload is not None and told:
        option = str(workload.entry["size_option"])
        terms += (Term(f"the size that is set for {workload.name}", told, option, "documented", workload.source),)
    elif workload is not None and workload.memory_share is not None:
        if limit:
            label = f"{workload.name}'s share of the memory"
            terms += (estimate.share_term(label, limit, workload.memory_share, workload.source),)
        else:
            share = f"{workload.memory_share * 100:.0f} %"
            notes.append(f"{workload.name} uses {share} of the container's memory: add --memory")
    if workload is not None and workload.needs in ("multi-gpu", "yes") and workload.memory_share is None:
        if gpus is None and told_ranks is None and workload.needs == "multi-gpu":
            notes.append(f"{workload.name} needs shared memory with more than one GPU: add --gpus N")
        if gpus == "all" and told_ranks is None:
            notes.append("the number of GPUs is unknown with `all`: use --gpus N to include NCCL")
        if workload.one_process and told_ranks is None and ranks > 1:
            notes.append(
                f"{workload.name} uses one GPU unless its command sets more (--tensor-parallel-size {ranks}); "
                "with one GPU it needs no shared memory"
            )
    if workload is not None and workload.id == "frigate" and not question.cameras:
        notes.append("Frigate has an exact formula: add --camera WIDTHxHEIGHT for each camera")

    known = str(workload.entry.get("notes", "")) if workload is not None and need.verdict != "not-needed" else ""
    if workload is not None and known and not question.cameras:
        notes.append(f"{workload.name}: {known}")

    size, why = _size(need, terms, gpus, ranks, default, exact=bool(question.cameras),
                      shares=workload is not None and workload.memory_share is not None)  # fmt: skip
    if size and limit and size > limit:
        notes.append(f"/dev/shm counts against the memory limit of {human(limit)}: raise it too (SHM209)")
    return Answer(question, need, workload, gpus, ranks, terms, size, why, tuple(notes))


_ALONE = frozenset(
    {
        "frigate", "kasm", "linuxserver-browsers", "neko", "playwright", "postgres", "selenium", "selkies",
        "steam-headless", "triton", "triton-min", "triton-sdk",
    }
)  # fmt: skip
"""Workloads that need /dev/shm for something else: several GPUs make no NCCL ranks of them."""


def _exchanges(workload: Workload) -> bool:
    return workload.needs != "no" and workload.id not in _ALONE


def _number(launch: Launch, variable: str) -> int | None:
    value = launch.environment.get(variable)
    text = value.known if value is not None else None
    return int(text) if text and text.isdecimal() and len(text) < 12 else None


def _size(
    need: Need, terms: Sequence[Term], gpus: Count, ranks: int, default: int, *, exact: bool, shares: bool
) -> tuple[int | None, str]:
    """The size to ask for, and what it rests on."""
    total = estimate.total(terms)
    computed = round_up(total)
    if exact:
        return computed, "Frigate's own formula, rounded up"
    spared = need.verdict == "not-needed" or _only_a_sum(need, terms, gpus, ranks)
    advised = 0 if spared else max(need.recommended or 0, need.minimum or 0)
    if not advised and not spared and not shares:
        advised = UNKNOWN_RECOMMENDED
    if not terms and not advised:
        if need.verdict == "not-needed":
            return 0, f"Docker's default of {human(default)} is enough: {need.why}"
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


def round_up(size: int) -> int:
    """The next multiple of 64 MiB, above a GiB of one GiB; bytes.

    >>> round_up(1), round_up(2**30 + 1)
    (67108864, 2147483648)
    """
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
        return "", None, None, need.why, need.source
    if need.recommended is None and need.minimum is None and need.workload is not None:
        return need.workload.name, None, None, need.why, need.source
    name = need.workload.name if need.workload is not None else ""
    return name, need.minimum, need.recommended, need.why, need.source


def render(found: Answer, default: int = DOCKER_DEFAULT_SHM) -> Iterator[str]:
    """The lines for a terminal."""
    yield escape(_about(found))
    if found.terms:
        yield ""
        width = max(len(term.label) for term in found.terms)
        for term, following in zip(found.terms, (*found.terms[1:], None), strict=True):
            yield escape(f"{human(term.bytes):>11}  {term.label.ljust(width)}  {term.formula}")
            if following is None or (following.basis, following.source) != (term.basis, term.source):
                yield escape(f"{'':11}  {term.basis}: {term.source}")
        if len(found.terms) > 1:
            yield f"{human(found.total):>11}  together"
    yield from _advised(found)
    yield ""
    if found.bytes is None:
        yield f"{'answer':>11}  {found.why}"
    elif not found.bytes:
        yield f"{'answer':>11}  nothing to set. {escape(found.why)}"
    else:
        yield f"{'answer':>11}  {human(found.bytes)} ({found.why})"
        yield f"{'docker run':>11}  --shm-size={spell_docker(found.bytes)}"
        yield f"{'compose':>11}  shm_size: {spell_compose(found.bytes)}"
        first, *rest = kubernetes(found.bytes)
        yield f"{'kubernetes':>11}  {first}"
        yield from (f"{'':11}  {line}" for line in rest)
    has = _has(found, default)
    if has:
        yield f"{'has':>11}  {escape(has)}"
    for note in found.notes:
        yield from wrapped("note", escape(note))


def kubernetes(size: int) -> list[str]:
    """The volume of a pod and the mount of its container, to be pasted into a manifest."""
    return [
        "volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: " + spell_quantity(size) + "}}]",
        "volumeMounts: [{name: dshm, mountPath: /dev/shm}]  # in the container",
    ]


def wrapped(label: str, text: str, margin: int = 11, width: int = 110) -> Iterator[str]:
    """A text beside a label that stands right-aligned in a margin."""
    from textwrap import wrap

    lines = wrap(text, width - margin - 2, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{label:>{margin}}  {lines[0]}".rstrip()
    for line in lines[1:]:
        yield f"{'':{margin}}  {line}"


def _about(found: Answer) -> str:
    launch, workload = found.question.launch, found.workload
    name = workload.name if workload is not None else "what it runs is unknown"
    parts = [name]
    if launch.image is not None and launch.image.text and (workload is None or launch.image.text != workload.id):
        parts.append(f"image {launch.image.text}")
    words = [word for part in (launch.entrypoint, launch.command) if part is not None for word in part.known or ()]
    if words:
        text = " ".join(words)
        parts.append(f"command {text if len(text) <= 80 else text[:79] + '…'}")
    if found.gpus is not None:
        parts.append("all GPUs" if found.gpus == "all" else f"{found.gpus} GPU{'' if found.gpus == 1 else 's'}")
    if found.ranks > 1 and found.ranks != found.gpus:
        parts.append(f"{found.ranks} ranks")
    return ", ".join(parts)


def _advised(found: Answer) -> Iterator[str]:
    who, least, size, why, source = advice(found)
    if found.question.cameras or not (who or why):
        return
    yield ""
    workload = found.workload
    if size or least:
        text = "advised" if size else "at least"
        if size and least and size != least:
            text += f", {human(least)} at least"
        elif size == least:
            text += ", and the least"
        if who:
            text += f", for {who}" if found.need.verdict == "needed" else f", if {who} needs any here"
            text += f": {why}"
        elif why:
            text += f" {why}" if why.startswith("by ") else f": {why}"
        yield from wrapped(human(size or least or 0), escape(text))
    elif who:
        yield from wrapped("known", escape(f"{who}: {why}; the size is unknown"))
    else:
        yield from wrapped("known", escape(why))
    if workload is not None and source == workload.source:
        documented = str(workload.entry.get("documented", ""))
        if documented not in ("", "none"):
            yield from wrapped("", f"its documentation: {escape(documented)}")
        if not workload.verified:
            yield from wrapped("", "unverified: no source was checked")
    if source:
        yield from wrapped("", escape(source))


def _has(found: Answer, default: int) -> str:
    """What a `docker run` that was given already has; nothing for an image or a command alone."""
    launch = found.question.launch
    if launch.kind != "docker-run" or launch.words.launch == "":
        return ""
    effective = launch.effective_shm(default)
    if effective.bytes is None:
        return {"host": "the host's /dev/shm (--ipc=host)"}.get(effective.decided_by, "")
    words = {"default": "Docker's default", "shm_size": launch.words.shm_option, "donor": "another container's"}
    what = words.get(effective.decided_by, effective.decided_by)
    if not found.bytes:
        verdict = ""
    elif effective.bytes >= found.bytes:
        verdict = ": enough"
    elif effective.bytes >= max(found.total, found.need.floor):
        verdict = ": less than advised"
    else:
        verdict = ": too little" if found.need.verdict == "needed" else ": may be too little"
    return f"{human(effective.bytes)} ({what}){verdict}"


def render_json(found: Answer, default: int = DOCKER_DEFAULT_SHM) -> str:
    """The answer for programs: ``version`` 1, sizes in bytes."""
    from json import dumps

    launch, workload = found.question.launch, found.workload
    who, least, size, why, source = advice(found)
    words = [word for part in (launch.entrypoint, launch.command) if part is not None for word in part.known or ()]
    effective = launch.effective_shm(default)
    return dumps(
        {
            "version": 1,
            "image": launch.image.text if launch.image is not None and launch.image.text else None,
            "command": words,
            "gpus": found.gpus,
            "ranks": found.ranks,
            "workload": None if workload is None else {
                "id": workload.id, "name": workload.name, "verified": workload.verified,
                "documented": str(workload.entry.get("documented", "")),
            },
            "verdict": found.need.verdict,
            "terms": [
                {"label": term.label, "bytes": term.bytes, "formula": term.formula, "basis": term.basis,
                 "source": term.source}
                for term in found.terms
            ],
            "total_bytes": found.total,
            "advised": {"by": who, "minimum_bytes": least, "recommended_bytes": size, "because": why, "source": source},
            "effective_bytes": effective.bytes if launch.words.launch else None,
            "answer_bytes": found.bytes,
            "why": found.why,
            "docker": f"--shm-size={spell_docker(found.bytes)}" if found.bytes else None,
            "compose": f"shm_size: {spell_compose(found.bytes)}" if found.bytes else None,
            "kubernetes": "\n".join(kubernetes(found.bytes)) if found.bytes else None,
            "notes": list(found.notes),
        },
        indent=2,
    )  # fmt: skip


def nccl_of_image(image: str) -> tuple[str, str] | None:
    """The NCCL of an official PyTorch image, by its tag, and where that comes from."""
    repository, tagged = image_names(image)
    if repository != "pytorch/pytorch":
        return None
    release = tagged.rpartition(":")[2].partition("-")[0]
    return nccl_of_torch(release)


def nccl_of_torch(release: str) -> tuple[str, str] | None:
    """The NCCL of a PyTorch release; None where it is not known.

    >>> nccl_of_torch("2.7.1")[0]
    '2.26.2'
    """
    short = ".".join(release.split(".")[:2])
    nccl = estimate.TORCH_NCCL.get(short)
    return None if nccl is None else (nccl, f"PyTorch {short}'s wheels bring NCCL {nccl} (--nccl names another)")
