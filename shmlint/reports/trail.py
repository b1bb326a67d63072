"""The trail of one launch: what was read, what decides /dev/shm, what runs, what it needs, what is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from shmlint.docker.images import parse
from shmlint.docker.sizes import human, spell_compose
from shmlint.fixing.plan import advice, planned
from shmlint.model.finding import Finding, cut
from shmlint.model.launch import Effective, Launch
from shmlint.model.need import Need
from shmlint.model.source import Span
from shmlint.reports import escape
from shmlint.reports.terminal import WIDTH, labelled, usable
from shmlint.reports.text import BASES
from shmlint.rules.advice import advised
from shmlint.rules.wording import why
from shmlint.run import Run
from shmlint.workloads.commands import SHELLS, is_python, unwrapped
from shmlint.workloads.knowledge import base_called
from shmlint.workloads.running.builds import is_name

_MARGIN = 11


def launch_at(run: Run, path: str, line: int) -> Launch | None:
    """The launch that a place belongs to: that of a finding there, or the last one that starts no later."""
    for finding in run.findings:
        if finding.span.path == path and finding.span.line == line and finding.launch is not None:
            return finding.launch
    before = [(begin, launch) for begin, launch in launches_in(run, path) if begin <= line]
    return max(before, key=lambda found: found[0])[1] if before else None


def launches_in(run: Run, path: str) -> list[tuple[int, Launch]]:
    """The launches that a file starts, or has a part of, as an override file does, each with its first line there."""
    found: list[tuple[int, Launch]] = []
    for launch in run.launches:
        values = (launch.image, launch.command)
        parts = [launch.home, *launch.also_at, *(value.span for value in values if value is not None)]
        lines = [span.line for span in parts if span.path == path]
        if launch.span.path == path:
            found.append((launch.span.line, launch))
        elif lines:
            found.append((min(lines), launch))
    return found


def render(run: Run, launch: Launch, width: int = WIDTH) -> Iterator[str]:
    """The lines that tell the trail."""
    width = usable(width)
    yield escape(cut(f"{_place(launch.span)}: {launch.words.launch}"))
    yield ""
    effective = run.effective(launch)
    need = run.need(launch)
    sections = (
        ("read", _read(launch)), ("image", _image(launch)), ("command", _command(launch)), ("GPU", _gpu(launch)),
        ("/dev/shm", _decided(effective)), ("runs", _runs(need)), ("needs", _needs(run, need)),
        ("not known", _unknown(launch, need)), ("found", _found(run, launch)),
    )  # fmt: skip
    for label, texts in sections:
        lead = label
        for text in texts:
            yield from labelled(lead, escape(cut(text)), width, _MARGIN)
            lead = ""
    if need.verdict == "unknown" and launch.gpu.requested:
        yield ""
        yield from _entry(launch, advised(launch, need, run.settings.of(launch.first_file)), width)


def _place(span: Span) -> str:
    return f"{span.path}:{span.line}"


def _read(launch: Launch) -> Iterator[str]:
    yield from dict.fromkeys((*launch.files, launch.span.path))
    if launch.combination is not None:
        yield launch.combination.text


def _image(launch: Launch) -> Iterator[str]:
    if launch.image is not None:
        known = launch.image.shown
        shown = known if known and is_name(known) else launch.image.text
        yield f"{shown} ({_place(launch.image.span)})"
    for base in launch.base_images:
        yield f"built from {base.shown or base.text} ({_place(base.span)})"
    if launch.image is None and not launch.base_images:
        built = launch.build
        yield f"built from {built.context} ({_place(built.span)})" if built is not None else "not known"


def _command(launch: Launch) -> Iterator[str]:
    """As it is written: what an env file says is not printed."""
    for part in (launch.entrypoint, launch.command):
        if part is not None and part.text:
            yield f"{' '.join(part.text.split())} ({_place(part.span)})"
    if launch.entrypoint is None and launch.command is None:
        yield "the image's own"


def _gpu(launch: Launch) -> Iterator[str]:
    if launch.gpu.requested is None:
        yield f"not known: {launch.gpu.unknown.because}" if launch.gpu.unknown is not None else "not known"
    elif not launch.gpu.requested:
        yield "none requested"
    for evidence in launch.gpu.evidence:
        yield f"{evidence.text} ({_place(evidence.span)})"


_DECIDERS = {
    "default": "the engine's default, because no size is set", "shm_size": "the size that is set",
    "tmpfs": "a tmpfs mounted there", "emptydir": "a memory volume mounted there", "bind": "a directory of the host",
    "volume": "a volume", "host": "the host's", "donor": "the container whose IPC namespace it joins",
    "none": "there is none", "unknown": "not known",
}  # fmt: skip


def _decided(effective: Effective) -> Iterator[str]:
    size = f"{human(effective.shown)}: " if effective.shown is not None else ""
    place = f" ({_place(effective.span)})" if effective.span is not None else ""
    yield f"{size}{_DECIDERS[effective.decided_by]}{place}{f': {effective.because}' if effective.because else ''}"


def _runs(need: Need) -> Iterator[str]:
    for step in need.trail:
        yield f"{step.text} ({_place(step.span)})" if step.span is not None else step.text
    if not need.trail and need.workload is not None:
        yield need.workload.name


_VERDICTS = {
    "needed": "more than the default", "likely": "probably more than the default", "unknown": "not known",
    "not-needed": "no more than the default",
}  # fmt: skip


def _needs(run: Run, need: Need) -> Iterator[str]:
    yield _VERDICTS[need.verdict]
    reasons = why(need, run.context) if need.verdict in ("needed", "likely") else ()
    for reason in reasons:
        basis = f" ({BASES[reason.basis]})" if reason.basis is not None else ""
        yield f"{f'{reason.label}: ' if reason.label else ''}{reason.text}{basis}"
        if reason.source:
            yield f"  {reason.source}"
    if not reasons and need.because:
        yield f"{f'{need.workload.name}: ' if need.workload is not None else ''}{need.because}"
        yield from (need.source,) if need.source else ()
    for evidence in need.evidence:
        if evidence.span is not None:
            yield f"{evidence.text} ({_place(evidence.span)})"


def _unknown(launch: Launch, need: Need) -> Iterator[str]:
    if launch.undecided is not None:
        yield launch.undecided.because
    if need.stopped:
        yield need.stopped


def _found(run: Run, launch: Launch) -> Iterator[str]:
    mine = [finding for finding in run.findings if finding.launch is not None and finding.launch.span == launch.span]
    # What a file is refused for concerns each of its launches.
    refused = [one for one in run.findings if one.launch is None and one.span.path == launch.span.path]
    for finding in refused:
        yield f"{finding.severity} {finding.rule} {finding.message.strip()} ({_place(finding.span)})"
    for finding in mine:
        yield f"{finding.severity} {finding.rule} {finding.message}"
        yield from _remedy(finding)
    if not mine and not refused:
        yield "nothing"


def _remedy(finding: Finding) -> Iterator[str]:
    change = planned(finding)
    if finding.fix is not None and change is not None:
        yield f"fix: {change.title} · {finding.fix.command}"
    elif said := advice(finding):
        yield f"do: {said}"


def _entry(launch: Launch, size: int, width: int) -> Iterator[str]:
    """The entry of the settings that would settle what the launch needs, with the ``size`` in bytes that is advised."""
    named = launch.image is not None and not launch.image.private and launch.image.known
    image = parse(named).repository if named else ""
    command = "" if image else _program(launch)
    if not image and not command:
        bases = ((base.known if not base.private else None) or "$" for base in launch.base_images)
        image = next((parse(base).repository for base in bases if "$" not in base and not base_called(base).plain), "")
    if not image and not command:
        yield from labelled("", _NOTHING_TO_FIND, width, 0)
        return
    name = re.sub(r"[^a-z0-9]+", "-", (launch.name or image.rpartition("/")[2]).lower()).strip("-") or "my-workload"
    yield from labelled("", "You can set its need in .shmlint.yaml:", width, 0)
    yield ""
    yield "    workloads:"
    yield f"      - id: {name}"
    yield f'        {"images" if image else "commands"}: ["{escape(cut(image or command))}"]'
    yield '        needs: "yes"  # or "no"'
    yield f"        recommended: {spell_compose(size)}"


_NOTHING_TO_FIND = (
    "An entry of `workloads` in .shmlint.yaml finds a launch by the name of its image or by the words of its command. "
    "This launch shows neither."
)


def _program(launch: Launch) -> str:
    """The words that name the program of a launch, up to its first argument. Empty if they are not known."""
    parts = [part for part in (launch.entrypoint, launch.command) if part is not None]
    if any(part.known is None or part.private for part in parts):
        return ""
    first, *rest = unwrapped([word for part in parts for word in part.known or ()]) or ("",)
    program = first.rpartition("/")[2]
    options = len(list(takewhile(lambda word: word.startswith("-"), rest))) if is_python(program) else 0
    named = [first, *(word for word in rest[: options + 1] if options or not word.startswith("-"))]
    starts_others = program in SHELLS | _SUPERVISORS or (len(named) == 1 and is_python(program))
    if starts_others or not all(map(_WORD.fullmatch, named)):
        return ""
    return " ".join(named)


_SUPERVISORS = frozenset({"init", "my_init", "runsvdir", "s6-svscan", "supervisord", "systemd"})
"""Programs that start what a file names: many images have the same one, for different programs."""
_WORD = re.compile(r"[\w./@=:+-]+")
"""A word that means itself in a pattern."""
