"""What is known about a workload or an image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from shmlint.cli.explain.pages import WIDTH
from shmlint.cli.output import Failed
from shmlint.cli.sizing import right_labelled
from shmlint.docker.images import parse
from shmlint.docker.sizes import human
from shmlint.reports import escape
from shmlint.workloads.knowledge import Workload, builtin, recognise

PREFIX = "workload:"
"""What a topic starts with that can only be a workload."""

_NEEDS = {
    "yes": "it needs more than Docker's 64 MiB",
    "multi-gpu": "it needs more than Docker's 64 MiB if it uses more than one GPU",
    "no": "it needs no more than Docker's 64 MiB",
    "depends": "it depends on what runs in it",
}
_SINGLE = {
    "needed": "also with one GPU",
    "advised": "with one GPU it is only recommended",
    "not-needed": "with one GPU it needs no shared memory",
    "depends": "with one GPU its requests decide",
}
_SURE = {
    "always": "for its command alone, by the program's own defaults",
    "multi-gpu": "for its command alone with several GPUs, by the program's own defaults",
    "never": "not for its command alone: a number of processes or workers decides",
}
"""When a command that sets no number is an error."""
_INPUTS = {"cameras": "--camera WIDTHxHEIGHT", "tabs": "--tabs N --window WIDTHxHEIGHT", "": ""}
"""The options of `shmlint size` for what a size can be computed from."""


def explain(asked: str) -> Iterator[str]:
    """The lines about a workload; a list of all workloads if the name is empty. Raises Failed for an unknown one."""
    known = builtin()
    if not asked:
        return listed(known, "Known workloads; `shmlint explain workload:ID` explains one.")
    found = search(asked, known)
    if found:
        return these(found, asked)
    names = {word: w.id for w in known for word in (w.id, *w.id.split("-"), w.name.lower())}
    close = dict.fromkeys(names[word] for word in get_close_matches(asked.lower(), names, 5, 0.55))
    meant = " or ".join(f"`{PREFIX}{name}`" for name in list(close)[:3])
    hint = f"did you mean {meant}?" if meant else f"`shmlint explain {PREFIX}` lists them"
    raise Failed(f"unknown workload `{asked}`; {hint}")


def these(found: Sequence[Workload], asked: str) -> Iterator[str]:
    """The workload that was found, or the list of several."""
    if len(found) == 1:
        return about(found[0])
    return listed(found, f"Several workloads have a name like {escape(asked)}:")


def called(asked: str, known: Sequence[Workload]) -> list[Workload]:
    """The workloads with this id or name."""
    return [w for w in known if asked.lower() in (w.id, w.name.lower())]


def search(asked: str, known: Sequence[Workload]) -> list[Workload]:
    """The workloads that an id, a name, an image, or a part of these means."""
    lowered = asked.lower()
    if exact := called(asked, known):
        return exact
    if "/" in asked or ":" in asked:
        by_image, _ = recognise(asked, known)
        if by_image is not None:
            return [by_image]
    parts = [w for w in known if lowered in w.id or lowered in w.name.lower()]
    if parts:
        return parts
    repository = parse(asked).repository
    return [w for w in known if any(repository in pattern for pattern in w.images)] if len(asked) > 3 else []


def listed(found: Sequence[Workload], heading: str) -> Iterator[str]:
    yield heading
    yield ""
    width = max(len(w.id) for w in found)
    for workload in found:
        mark = "" if workload.verified else " (not checked against a source)"
        yield f"  {workload.id.ljust(width)}  {workload.name}: {_amount(workload)}{mark}"


def _amount(workload: Workload) -> str:
    if workload.needs == "no":
        return "needs no more than 64 MiB"
    least, size = workload.minimum, workload.recommended
    parts = []
    if least:
        parts.append(f"{human(least)} at least")
    if size:
        parts.append(f"{human(size)} advised")
    if workload.memory_share is not None:
        parts.append(f"{workload.memory_share * 100:.0f} % of its memory")
    if workload.needs == "depends":
        parts.append("depends on what runs")
    if workload.needs == "multi-gpu":
        parts.append("with several GPUs")
    return ", ".join(parts) or "the size is unknown"


def about(workload: Workload) -> Iterator[str]:
    entry = workload.entry
    yield workload.name
    yield "=" * len(workload.name)
    yield ""
    needs = _NEEDS[workload.needs]
    if workload.single_gpu:
        needs += f"; {_SINGLE[workload.single_gpu]}"
    if workload.one_process:
        needs += "; it uses one GPU unless its command sets more"
        needs += ", or its GPUs are listed" if workload.counts_listed else ""
    yield from _row("needs", needs)
    if workload.needs != "no" and workload.commands:
        yield from _row("error", _SURE[workload.sure])
    yield from _row("because", f"{workload.because} {workload.condition}".rstrip())
    if workload.formula is not None:
        yield from _row("formula", workload.formula.text)
        yield from _row("", workload.formula.source)
    if workload.needs != "no":
        least = f"{human(workload.minimum)} ({_basis(entry, 'minimum')})" if workload.minimum else "nobody says"
        yield from _row("at least", least)
        advised = "nobody says"
        if workload.recommended:
            advised = f"{human(workload.recommended)} ({_basis(entry, 'recommended')})"
        if workload.memory_share is not None:
            advised = f"{workload.memory_share * 100:.0f} % of the container's memory limit"
        yield from _row("advised", advised)
    for use in entry.get("uses", ()):
        commands = ", ".join(pattern.removeprefix("^ ") for pattern in use["commands"])
        yield from _row("but", f"{commands}: {_NEEDS[use['needs']]}; {use['because']}")
    yield from _row("documented", str(entry.get("documented", "")))
    quote = str(entry.get("quote", ""))
    yield from _row("quote", f"“{quote}”" if quote else "")
    yield from _row("source", workload.source or "none")
    read = "verified: the source was checked"
    if not workload.verified:
        read = "not checked against a source; findings based on it are never errors"
    yield from _row("standing", read)
    yield from _row("notes", str(entry.get("notes", "")))
    yield ""
    yield from _row("images", ", ".join(workload.images) or "none")
    yield from _row("commands", ", ".join(" ".join(words) for words in workload.commands) or "none")
    if workload.needs != "no":
        yield ""
        option = _INPUTS[workload.inputs] or ("--gpus N" if workload.memory_share is None else "--memory SIZE")
        yield from _row("how much", f"shmlint size {option} {workload.id}")


def _basis(entry: Mapping[str, Any], figure: str) -> str:
    """What a figure rests on, in a few words: documented and where, or why."""
    basis = entry.get(f"{figure}_basis", {})
    detail = basis.get("why") or basis.get("source", "")
    return f"{basis.get('basis', 'no basis')}{f': {detail}' if detail else ''}"


def _row(label: str, text: str) -> Iterator[str]:
    if text:
        yield from right_labelled(label, escape(text), 10, WIDTH)
