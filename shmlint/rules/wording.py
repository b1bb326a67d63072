"""Wording that rules share: the name of a launch, what it gets, what it needs and the sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from shmlint.docker.sizes import human, rounded
from shmlint.model.finding import Basis, Evidence, Reason
from shmlint.model.launch import Launch
from shmlint.model.need import UNKNOWN_MINIMUM, UNKNOWN_MINIMUM_SOURCE, UNKNOWN_RECOMMENDED, Mechanism, Need
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.rules import Context
from shmlint.rules.advice import of_settings
from shmlint.workloads.knowledge import Workload, builtin

_NAMES = {
    "dataloader": "DataLoader", "nccl": "NCCL", "ray": "Ray", "browser": "browser", "ucx": "UCX",
    "python-shm": "shared_memory", "shared-array": "SharedArray", "torch-sharing": "torch", "vllm": "vLLM",
    "sglang": "SGLang", "triton": "Triton",
}  # fmt: skip
"""The names of mechanisms in messages."""


def container(launch: Launch) -> str:
    """The name of a launch in a headline: ``GPU service `trainer```."""
    described = launch.kind in ("compose-service", "devcontainer", "ci-container", "kubernetes-container")
    return f"GPU {launch.words.launch}" if launch.gpu.requested and described else launch.words.launch


class Gap(NamedTuple):
    """What a launch needs more than it gets: so many ``bytes``, where that is known."""

    how: Literal["unknown", "likely", "about", "sum", "least", "more"]
    bytes: int = 0

    @property
    def text(self) -> str:
        """The text after "gets 64 MiB of /dev/shm"."""
        size = human(self.bytes)
        return {
            "unknown": "; what it runs is unknown",
            "likely": " and probably needs more",
            "about": f" and needs about {size}",
            "sum": f" and needs {size}",
            "least": f" and needs at least {size}",
            "more": " and needs more",
        }[self.how]


def gap(need: Need, given: int) -> Gap:
    """What a launch needs more than the ``given`` bytes."""
    if need.verdict == "unknown":
        return Gap("unknown")
    if need.verdict == "likely":
        return Gap("likely")
    if need.total > given:
        estimated = any(mechanism.basis == "estimated" for mechanism in need.mechanisms)
        return Gap("about" if estimated else "sum", need.total)
    if need.minimum is not None and need.minimum > given:
        return Gap("least", need.minimum)
    return Gap("more")


def why(need: Need, context: Context) -> tuple[Reason, ...]:
    """Why this much is needed: what uses /dev/shm, the source, and the basis of each size."""
    if need.verdict == "unknown":
        entry = _entry(need, context)
        if entry is not None and entry.no_ranks and entry.recommended is not None:
            use = Reason(f"{entry.name}: {entry.because}", "reason", source=entry.source)
            known: tuple[Reason, ...] = (use, _size("recommended", entry.recommended, need, entry))
        else:
            known = _UNKNOWN[1:]
        return (Reason(need.stopped, "unknown") if need.stopped else _UNKNOWN[0], *known)
    return tuple(_reasons(need, context))


_UNKNOWN = (
    Reason("the repository does not show what it runs", "unknown"),
    Reason(f"NCCL and DataLoader workers need {human(UNKNOWN_MINIMUM)} or more", "at least", "chosen",
           UNKNOWN_MINIMUM_SOURCE),
)  # fmt: skip
"""Why a launch with an unknown program may need more."""


def _reasons(need: Need, context: Context) -> Iterator[Reason]:
    for mechanism in need.mechanisms:
        yield Reason(_arithmetic(mechanism), _NAMES.get(mechanism.id, mechanism.id), mechanism.basis, mechanism.source)
        if mechanism.doubt and need.verdict == "likely":
            yield Reason(mechanism.doubt, "not sure")
    if need.why:
        name = f"{need.workload.name}: " if need.workload is not None else ""
        yield Reason(f"{name}{need.why}", "reason", source=need.source)
    entry = _entry(need, context)
    if need.minimum is not None and not need.mechanisms:
        yield _size("minimum", need.minimum, need, entry)
    given = of_settings(need, context.settings)
    wanted = given or need.recommended
    if wanted is None:
        return
    if given:
        yield Reason(f"{human(wanted)}, from the settings", "advised")
    elif wanted != need.minimum:
        yield _size("recommended", wanted, need, entry)


def least(need: Need) -> tuple[Reason, ...]:
    """Our choice of the least size, where nothing is known of what the program itself needs."""
    if need.verdict == "unknown" or need.minimum is not None or need.floor != UNKNOWN_MINIMUM:
        return ()
    return (Reason(f"{human(need.floor)}, below which DeepSpeed warns", "at least", "chosen", UNKNOWN_MINIMUM_SOURCE),)


def _arithmetic(mechanism: Mechanism) -> str:
    if mechanism.bytes is None:
        return mechanism.because
    if mechanism.basis == "estimated":
        one = " for one communicator" if mechanism.id == "nccl" else ""  # which others take more
        return f"{mechanism.because}, about {human(mechanism.bytes)}{one}"
    return f"{mechanism.because} = {human(mechanism.bytes)}"


_LABELS = {"minimum": "at least", "recommended": "advised"}


def _size(figure: str, size: int, need: Need, entry: Workload | None) -> Reason:
    """A size and its basis."""
    label = _LABELS[figure]
    known = None if entry is None else entry.minimum if figure == "minimum" else entry.recommended
    if entry is not None and known == size:
        about = entry.entry.get(f"{figure}_basis", {})
        quote = about.get("quote")
        detail = about.get("why") or (f"the documentation says `{quote}`" if quote else "")
        basis: Basis | None = about.get("basis")
        return Reason(f"{human(size)}{f': {detail}' if detail else ''}", label, basis, about.get("source", ""))
    if need.given and figure == "recommended":
        return Reason(f"{human(size)}, for what the repository gives the same container elsewhere", label)
    if need.times > 1 and size == rounded(need.times * UNKNOWN_RECOMMENDED):
        return Reason(f"{human(size)}: {human(UNKNOWN_RECOMMENDED)} for the batches of each rank", label, "chosen")
    if need.is_our_choice and size == need.recommended:
        text = f"{human(size)}: room for the batches of some workers; their size is not known"
        return Reason(text, label, "chosen")
    counted = all(mechanism.bytes and mechanism.id != "nccl" for mechanism in need.mechanisms)
    if need.mechanisms and (size != UNKNOWN_RECOMMENDED or counted or 2 * need.total > size):
        return Reason(f"{human(size)}, the sum rounded up", label, "computed")
    if size == UNKNOWN_RECOMMENDED:
        browser = bool(need.mechanisms) and all(mechanism.id == "browser" for mechanism in need.mechanisms)
        whose = "that linuxserver gives its browsers" if browser else "in NVIDIA's NCCL guide"
        return Reason(f"{human(size)}, the size {whose}", label, "chosen")
    return Reason(human(size), label, "computed")


def _entry(need: Need, context: Context) -> Workload | None:
    """The knowledge base entry that a need is based on."""
    if need.workload is None:
        return None
    known = (*context.workloads, *builtin())
    return next((workload for workload in known if workload.id == need.workload.id), None)


def gpu_evidence(launch: Launch) -> tuple[Evidence, ...]:
    """What requests the GPU; the text is not repeated if its line shows it."""
    return tuple(
        Evidence("requests the GPU" if _is_written_there(e.text, e.span) else e.text, e.span)
        for e in launch.gpu.evidence[:1]
    )


def _is_written_there(text: str, span: Span) -> bool:
    """Whether a text is what the file says, with a blank or an equals sign."""
    around = _around(span)
    return text in around or text.replace(" ", "=") in around


def _around(span: Span) -> str:
    """The text of a span's line, or the part around the span if the line is very long."""
    start, end = span.source.line_span(span.line)
    return span.source.text[max(start, span.start - 1000) : min(end, span.start + 1000)]
