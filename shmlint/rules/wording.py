"""Wording that rules share: what a launch is called, what it gets, what it needs and who says so."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Basis, Evidence, Reason
from shmlint.model.launch import Launch
from shmlint.model.need import UNKNOWN_MINIMUM, UNKNOWN_MINIMUM_SOURCE, UNKNOWN_RECOMMENDED, Mechanism, Need
from shmlint.model.source import Span
from shmlint.rules import Context
from shmlint.workloads.knowledge import Workload, builtin

_NAMES = {
    "dataloader": "DataLoader", "nccl": "NCCL", "ray": "Ray", "browser": "browser", "ucx": "UCX",
    "python-shm": "shared_memory", "torch-sharing": "torch",
}  # fmt: skip
"""What mechanisms are called."""


def container(launch: Launch) -> str:
    """What a launch is called in a headline: ``GPU service `trainer```."""
    described = launch.kind in ("compose-service", "devcontainer", "ci-container", "kubernetes-container")
    return f"GPU {launch.words.launch}" if launch.gpu.requested and described else launch.words.launch


def gap(need: Need, given: int) -> str:
    """What follows "gets 64 MiB of /dev/shm"; ``given`` is that in bytes."""
    if need.verdict == "unknown":
        return "; what it runs is not known"
    return f" and {_needed(need, given)}"


def _needed(need: Need, given: int) -> str:
    if need.verdict == "likely":
        return "probably needs more"
    total = sum(mechanism.bytes or 0 for mechanism in need.mechanisms)
    if total > given and all(mechanism.bytes for mechanism in need.mechanisms):
        about = "about " if any(mechanism.basis == "estimated" for mechanism in need.mechanisms) else ""
        more = " or more" if need.workload is not None else ""  # what it is known for beside what was found
        return f"needs {about}{human(total)}{more}"
    if need.minimum is not None and need.minimum > given:
        return f"needs at least {human(need.minimum)}"
    return "needs more"


def why(need: Need, context: Context) -> tuple[Reason, ...]:
    """Why so much is needed: what fills /dev/shm, who says so, and what the sizes rest on."""
    if need.verdict == "unknown":
        return _UNKNOWN if not need.stopped else (Reason(need.stopped, "unknown"), *_UNKNOWN[1:])
    return tuple(_reasons(need, context))


_UNKNOWN = (
    Reason("nothing in the repository says what it runs", "unknown"),
    Reason(f"NCCL and DataLoader workers need {human(UNKNOWN_MINIMUM)} or more", "at least", "chosen",
           UNKNOWN_MINIMUM_SOURCE),
)  # fmt: skip
"""Why a launch of which nothing is known may need more."""


def _reasons(need: Need, context: Context) -> Iterator[Reason]:
    for mechanism in need.mechanisms:
        yield Reason(_arithmetic(mechanism), _NAMES.get(mechanism.id, mechanism.id), mechanism.basis, mechanism.source)
    claims = {mechanism.because for mechanism in need.mechanisms}
    if need.why and "; ".join(claims) != need.why:
        name = f"{need.workload.name}: " if need.workload is not None else ""
        yield Reason(f"{name}{need.why}", "reason", source=need.source)
    entry = _entry(need, context)
    if need.minimum is not None and not need.mechanisms:
        yield _size("minimum", need.minimum, need, entry)
    wanted = context.settings.shm_size or need.recommended
    if wanted is None:
        return
    if context.settings.shm_size:
        yield Reason(f"{human(wanted)}, as the settings say", "advised")
    elif wanted != need.minimum:
        yield _size("recommended", wanted, need, entry)


def _arithmetic(mechanism: Mechanism) -> str:
    if mechanism.bytes is None:
        return mechanism.because
    if mechanism.basis == "estimated":
        return f"{mechanism.because}, about {human(mechanism.bytes)}"
    return f"{mechanism.because} = {human(mechanism.bytes)}"


_LABELS = {"minimum": "at least", "recommended": "advised"}


def _size(figure: str, size: int, need: Need, entry: Workload | None) -> Reason:
    """A size and what it rests on."""
    label = _LABELS[figure]
    known = None if entry is None else entry.minimum if figure == "minimum" else entry.recommended
    if entry is not None and known == size:
        about = entry.entry.get(f"{figure}_basis", {})
        detail = about.get("why") or about.get("quote") or ""
        basis: Basis | None = about.get("basis")
        return Reason(f"{human(size)}{f': {detail}' if detail else ''}", label, basis, about.get("source", ""))
    if size == UNKNOWN_RECOMMENDED:
        return Reason(f"{human(size)}, what NVIDIA's guide to NCCL gives a container", label, "chosen")
    if size == UNKNOWN_MINIMUM:
        return Reason(f"{human(size)}, below which DeepSpeed warns", label, "chosen", UNKNOWN_MINIMUM_SOURCE)
    if need.mechanisms:
        return Reason(f"{human(size)}, the sum rounded up", label, "computed")
    return Reason(human(size), label, "computed")


def _entry(need: Need, context: Context) -> Workload | None:
    """The entry of the knowledge base that a need rests on."""
    if need.workload is None:
        return None
    known = (*context.workloads, *builtin())
    return next((workload for workload in known if workload.id == need.workload.id), None)


def gpu_evidence(launch: Launch) -> tuple[Evidence, ...]:
    """What asks for the GPU, in the file's own words where those say it."""
    return tuple(
        Evidence("asks for the GPU" if e.text in _around(e.span) else e.text, e.span)
        for e in launch.gpu.evidence[:1]
    )


def _around(span: Span) -> str:
    """What stands on a span's line; of a very long one what stands near by."""
    start, end = span.source.line_span(span.line)
    return span.source.text[max(start, span.start - 1000) : min(end, span.start + 1000)]


def when(launch: Launch) -> str:
    """The combination of files a finding speaks of, where there are others."""
    return f" ({launch.combination.text})" if launch.combination is not None else ""
