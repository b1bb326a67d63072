"""``shmlint doctor``: what this machine is like, and what the rules find on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypedDict, Unpack

import click

from shmlint.cli import command as shared
from shmlint.cli.checking import status
from shmlint.cli.command import Command, option
from shmlint.cli.configured import load_settings, with_rules
from shmlint.cli.output import fail, open_output, write, write_lines
from shmlint.docker.sizes import human
from shmlint.files.workspace import Workspace
from shmlint.formats.live.facts import Facts, Gpus, Shm, read_facts
from shmlint.formats.live.launch import COMMAND, ENVIRONMENT, gpu_request, launch_of
from shmlint.formats.live.machine import Machine, NotLinux
from shmlint.model.finding import Severity
from shmlint.model.launch import GpuRequest, Launch
from shmlint.model.need import UNKNOWN_MINIMUM
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.reports import VERSION, dumps, escape
from shmlint.reports.terminal import WIDTH, wrapped
from shmlint.run import Run, judge
from shmlint.workloads.assess import assess
from shmlint.workloads.knowledge import users

_EPILOG = """\b
Examples:
  shmlint doctor
  shmlint doctor torchrun --nproc_per_node=8 train.py
  docker exec trainer shmlint doctor"""


class Options(TypedDict):
    """What the command line says."""

    words: tuple[str, ...]
    gpus: int | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: Severity | None
    exit_zero: bool
    format: str
    output: str | None
    verbose: bool
    quiet: bool
    color: str
    config: str | None


@click.command(cls=Command, epilog=_EPILOG, context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@option("--gpus", section="Container", type=click.IntRange(0), metavar="N",
        help="Number of GPUs that the container will have, if they are not available yet.")  # fmt: skip
@shared.select
@shared.ignore
@shared.fail_on
@shared.exit_zero
@shared.text_or_json
@shared.output
@shared.verbose
@shared.quiet
@shared.color
@shared.config
def command(**options: Unpack[Options]) -> int:
    """Check the container that shmlint runs in.

    Reports /dev/shm, limits, GPUs and NCCL variables, and checks them with the rules. COMMAND is
    the command that will run in it; options after its first word belong to it.
    """
    out = open_output(options["output"], options["color"])
    settings = load_settings(options["config"], ["."])
    settings = with_rules(settings, options["select"], options["ignore"], options["fail_on"])
    try:
        examination = examine(Machine(), settings, options["words"], options["gpus"])
    except NotLinux:
        fail("doctor examines a Linux container from inside: run it there")
    if options["format"] == "json":
        write(out, f"{render_json(examination)}\n", machine=True)
    else:
        shown = {"verbose": options["verbose"], "quiet": options["quiet"]}
        write_lines(out, render_text(examination, colour=out.colour, **shown))
    return 0 if options["exit_zero"] else status(examination.run.findings, settings)


class Examination(NamedTuple):
    """A machine, the launch on it, and the findings."""

    facts: Facts
    command: tuple[str, ...]
    run: Run
    launch: Launch
    notes: tuple[str, ...]


def examine(
    machine: Machine, settings: Settings, words: Sequence[str] = (), gpus: int | None = None
) -> Examination:
    """Look at a machine and let the rules judge it as they judge a launch.

    ``words`` are the command that is to run here, ``gpus`` how many GPUs it is to have where these are not there
    yet. Raises NotLinux.
    """
    facts = read_facts(machine)
    launch = launch_of(machine, facts, settings, words)
    if gpus is not None:
        launch = launch._replace(gpu=gpu_request(facts.gpus, gpus))
    elif not launch.gpu.requested and words:
        # A command that is known to need it needs it before the GPUs are there.
        needed = assess(launch, users(settings.workloads)).verdict == "needed"
        launch = launch._replace(gpu=GpuRequest(needed))
    # What findings point into is not read again: nothing of it is a file with comments.
    places = {COMMAND: "", ENVIRONMENT: "", "/dev": ""}
    spans = [launch.span, *(limit.span for limit in facts.limits.values())]
    spans += [facts.memory_limit.span] if facts.memory_limit is not None else []
    run = judge([launch], settings, Workspace({**places, **{span.path: "" for span in spans}}))
    return Examination(facts, tuple(words), run, launch, tuple(_notes(facts, launch)))


def _notes(facts: Facts, launch: Launch) -> Iterator[str]:
    if not facts.container:
        yield "this does not look like a container: /dev/shm is that of the machine"
    if launch.gpu.requested:
        return
    if facts.shm.size and facts.shm.size < UNKNOWN_MINIMUM:
        had = human(facts.shm.size)
        yield f"{had} is often too little for training or serving on GPUs: use at least 512 MiB, better 1 GiB"
    seen = "no GPU is visible" if facts.gpus.number == 0 else "CUDA_VISIBLE_DEVICES hides every GPU"
    yield f"{seen}, so there is no verdict; give the command to check: shmlint doctor torchrun …"


# Reports -----------------------------------------------------------------------------------------


def render_text(
    examination: Examination, *, colour: bool = False, verbose: bool = False, quiet: bool = False
) -> Iterator[str]:
    """The report for a person: the facts, then the findings."""
    from shmlint.reports import text

    rows = list(_rows(examination.facts))
    width = max(len(name) for name, _ in rows)
    for name, words in rows:
        yield f"{name.ljust(width)}  {escape(words)}"
    yield ""
    findings = examination.run.findings
    whole = [finding._replace(unknown_workload=False) for finding in findings]  # there is this one container
    yield from text.render(examination.run, whole, text.Style(colour=colour, verbose=verbose, quiet=True))
    for note in examination.notes:
        yield from wrapped(f"note: {escape(note)}", WIDTH)
    if not quiet and examination.launch.gpu.requested:
        levels = [finding.severity for finding in findings]
        counts = [(levels.count(level), level) for level in ("error", "warning", "note")]
        found = ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for count, level in counts if count)
        yield found or "nothing found"


def _rows(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "container", facts.container or "no"
    yield "/dev/shm", _shm_words(facts.shm, facts.container)
    limit = facts.memory_limit.known if facts.memory_limit is not None else None
    yield "memory limit", human(limit) if limit is not None else "none"
    for name, words in (("memlock", "locked memory"), ("nofile", "open files")):
        given = facts.limits.get(name)
        if given is not None:
            amount = human if name == "memlock" else str
            soft, hard = ("unlimited" if n < 0 else amount(n) for n in (given.soft, given.hard))
            yield words, soft if soft == hard else f"{soft}, can be raised to {hard}"
    yield "GPUs", _gpu_words(facts.gpus)
    yield "InfiniBand", "yes" if facts.infiniband else "no"
    for i, (name, value) in enumerate(facts.nccl.items()):
        yield "" if i else "NCCL variables", f"{name}={value}"
    if not facts.nccl:
        yield "NCCL variables", "none"


def _shm_words(shm: Shm, container: str) -> str:
    if shm.by == "nothing":
        return "not mounted"
    if shm.by == "unknown":
        return "unknown: /proc/self/mountinfo cannot be read"
    by = {
        "engine": "the pod's own, shared by all of its containers"
        if container == "kubernetes"
        else "set by the engine (--shm-size, or its default)",
        "tmpfs": "a memory volume (emptyDir), or the node's (hostIPC)"
        if container == "kubernetes"
        else "a mounted tmpfs, or the host's (--ipc=host)",
        "disk": f"on disk ({shm.filesystem}): slow, and not shared memory",
    }[shm.by]
    if shm.size is None:
        return f"cannot be read; {by}"
    amount = f"{human(shm.size)}, {human(shm.used or 0)} used" if shm.size else "without a limit"
    return f"{amount}; {by}"


def _gpu_words(gpus: Gpus) -> str:
    if not gpus.label:
        return "none" + (f" ({', '.join(gpus.nodes)}: display or video)" if gpus.nodes else "")
    number = gpus.label if gpus.number is None else f"{gpus.number} {gpus.label}"
    return number + (f", {gpus.visible} visible to programs" if gpus.visible != gpus.number else "")


def render_json(examination: Examination) -> str:
    """The report for programs; sizes in bytes, a limit of -1 or a size of 0 means that there is no limit."""
    import json

    from shmlint.reports import json as findings

    facts, run = examination.facts, examination.run
    need = run.need(examination.launch) if examination.launch.gpu.requested else None
    found: dict[str, Any] = json.loads(findings.render(run, run.findings))
    body = {
        "version": VERSION,
        "machine": {
            "container": facts.container or None,
            "shm": {
                "mounted": None if facts.shm.by == "unknown" else facts.shm.by != "nothing",
                "mounted_by": facts.shm.by,
                "filesystem": facts.shm.filesystem or None,
                "size_bytes": facts.shm.size,
                "used_bytes": facts.shm.used,
            },
            "memory_limit_bytes": facts.memory_limit.known if facts.memory_limit is not None else None,
            "limits": {name: {"soft": limit.soft, "hard": limit.hard} for name, limit in facts.limits.items()},
            "gpus": {
                "count": facts.gpus.number,
                "visible": facts.gpus.visible,
                "vendor": facts.gpus.vendor,
                "nodes": list(facts.gpus.nodes),
            },
            "infiniband": facts.infiniband,
            "nccl": dict(facts.nccl),
        },
        "command": list(examination.command) or None,
        "judged": bool(examination.launch.gpu.requested),
        "need": {
            "workload": need.workload.name if need.workload else None,
            "verdict": need.verdict,
            "minimum_bytes": need.minimum,
            "recommended_bytes": need.recommended,
        }
        if need is not None
        else None,
        "findings": found["findings"],
        "notes": list(examination.notes),
    }
    return dumps(body)
