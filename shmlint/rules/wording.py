"""Wording that rules share: what a launch asks for, what it needs and who says so."""

from __future__ import annotations

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch
from shmlint.model.need import UNKNOWN_MINIMUM_SOURCE, Need
from shmlint.model.source import Span


def needs_line(need: Need) -> str:
    """How much is needed and why."""
    name = need.workload.name if need.workload else ""
    because = f": {need.why}" if need.why else ""
    if need.verdict == "unknown" and need.workload is None:
        where = f": {need.stopped}" if need.stopped else ""
        return f"what it runs is not known{where}; NCCL or DataLoader workers need 512 MiB or more"
    if need.verdict in ("unknown", "likely"):
        amount = f", {human(need.recommended)} advised" if need.recommended else ""
        return f"{name or 'what it runs'} may need more{amount}{because}"
    least = f"{human(need.minimum)} at least" if need.minimum else "more"
    more = need.recommended and need.recommended != need.minimum
    amount = f", {human(need.recommended)} advised" if more and need.recommended else ""
    return f"{least}{amount}{because}"


def needs_source(need: Need) -> str:
    """Who says so."""
    return need.source or (UNKNOWN_MINIMUM_SOURCE if need.workload is None else "")


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


def asks(launch: Launch) -> str:
    """What a launch asks for, in words."""
    names = {"nvidia": "NVIDIA ", "amd": "AMD ", "intel": "Intel "}
    label = names.get(launch.gpu.vendor or "", "")
    count = launch.gpu.count
    if count == "all":
        return f"all {label}GPUs"
    if count == 1:
        return f"one {label}GPU"
    return f"{count} {label}GPUs" if count else f"{label}GPUs"
