"""Plans: the edits that bring an intended change about, and what becomes of the launch.

Rules say what is intended; the launch's rewriter knows its syntax. An intention is one class in
``model/finding`` and one case in each of the two functions here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from shmlint.docker.sizes import spell_compose, spell_docker
from shmlint.model.finding import (
    CorrectGpuRequest,
    CorrectMountSize,
    DropSize,
    DropVariable,
    EditComment,
    Finding,
    Intention,
    LeaveHostIpc,
    MountVolume,
    MoveSize,
    QuoteDevices,
    RenameVariable,
    SetIpc,
    SetSize,
    SetUlimit,
)
from shmlint.model.launch import Change, Launch, Mount, Size, Value
from shmlint.model.source import Edit, Span
from shmlint.rules.advice import spelt


def planned(finding: Finding) -> Change | None:
    """The change that reports show for a finding: the best of those that its launch's format offers."""
    changes = alternatives(finding)
    return changes[finding.fix.way] if changes and finding.fix is not None else None


def alternatives(finding: Finding) -> tuple[Change, ...]:
    """Every way to bring about what a finding intends, the best first; none where it cannot be written."""
    fix = finding.fix
    if fix is None:
        return ()
    if isinstance(fix.intention, EditComment):
        return (fix.intention.change,)
    launch = fix.of or finding.launch
    return tuple(_changes(launch, fix.intention)) if launch is not None else ()


def advice(finding: Finding) -> str:
    """What to do by hand: what the rule advises, or what it intends where no edit can bring that about."""
    fix = finding.fix
    if finding.advice or fix is None or alternatives(finding):
        return finding.advice
    launch = fix.of or finding.launch
    if isinstance(fix.intention, SetSize) and launch is not None:
        compose = launch.kind == "compose-service"
        size = spell_compose(fix.intention.bytes) if compose else spelt(launch, fix.intention.bytes)
        return f"set {launch.words.shm_option} to {size} by hand: there is no place for a safe edit"
    return "change it by hand: there is no place for a safe edit"


def _changes(launch: Launch, wanted: Intention) -> Sequence[Change]:
    """What the launch's rewriter offers for an intention."""
    rewriter = launch.rewriter
    match wanted:
        case SetSize(size):
            return rewriter.set_shm_size(size)
        case DropSize():
            return rewriter.drop_shm_size()
        case SetIpc(mode):
            return rewriter.set_ipc(mode)
        case MountVolume(name):
            return rewriter.mount_volume(name)
        case LeaveHostIpc(size):
            dropped = rewriter.set_ipc("")
            return list(_both(dropped, rewriter.set_shm_size(size))) if size else dropped
        case SetUlimit(name, value):
            return rewriter.set_ulimit(name, value)
        case DropVariable(name):
            return rewriter.drop_variable(name)
        case RenameVariable(name, new):
            return rewriter.rename_variable(name, new)
        case MoveSize() | QuoteDevices() | CorrectGpuRequest():
            return _offered(launch, wanted)
        case CorrectMountSize(place, size):
            text = _kernel_size(size)
            edit = Edit(place.path, place.start, place.end, text)
            key = "tmpfs-size" if place.source.text.endswith("tmpfs-size=", 0, place.start) else "size"
            return (Change((edit,), f"write `{key}={text}` in line {place.line}"),)
        case EditComment(change):
            return (change,)
    assert_never(wanted)


def _offered(launch: Launch, wanted: MoveSize | QuoteDevices | CorrectGpuRequest) -> Sequence[Change]:
    """The changes that a fault of a launch comes with."""
    if isinstance(wanted, MoveSize):
        return next((item.changes for item in launch.misplaced if item.at == wanted.at), ())
    if isinstance(wanted, QuoteDevices):
        return next((fault.changes for fault in launch.gpu.device_lists if fault.span == wanted.place), ())
    return next((fault.changes for fault in launch.gpu.invalid if fault.span == wanted.place and fault.changes), ())


def _kernel_size(size: int) -> str:
    return spell_docker(size).removesuffix("b")  # bytes have no letter in the kernel's grammar


def _both(some: Sequence[Change], others: Sequence[Change]) -> Iterator[Change]:
    """Pairs of changes that do not touch each other, as one."""
    for one in some:
        for other in others:
            edits = [*one.edits, *other.edits]
            if not any(_touch(a, b) for a in one.edits for b in other.edits):
                yield Change(tuple(sorted(edits)), f"{other.title}, {one.title}")


def _touch(a: Edit, b: Edit) -> bool:
    return a.path == b.path and a.start < b.end and b.start < a.end


def becomes(launch: Launch, wanted: Intention) -> Launch:
    """What a launch is after an intended change; applied twice it gives the same."""
    match wanted:
        case SetSize(size):
            return _sized(launch, size)
        case DropSize():
            return launch._replace(shm=None)
        case SetIpc(mode):
            return launch._replace(ipc=Value(mode, launch.span, mode))
        case MountVolume(name):
            spare = launch.spare_volume
            return _with_memory(launch, spare.size) if spare is not None and spare.name == name else launch
        case LeaveHostIpc(size):
            alone = launch._replace(ipc=None)
            return _sized(alone, size) if size else alone
        case SetUlimit(name, value):
            return launch._replace(ulimits={**launch.ulimits, name: Value(value, launch.span, value)})
        case DropVariable(name):
            return launch._replace(environment={k: v for k, v in launch.environment.items() if k != name})
        case RenameVariable(name, new):
            environment = {new if k == name else k: v for k, v in launch.environment.items()}
            return launch._replace(environment=environment)
        case MoveSize(at):
            return _moved(launch, at)
        case CorrectMountSize(place, size):
            mounts = (m._replace(size=size, size_error="") if m.size_span == place else m for m in launch.mounts)
            return launch._replace(mounts=tuple(mounts))
        case QuoteDevices(place):
            return _quoted(launch, place)
        case CorrectGpuRequest() | EditComment():
            return launch  # a refused request is already read for what it was meant to be
    assert_never(wanted)


def _sized(launch: Launch, size: int) -> Launch:
    """A launch with a size: its own, or in a stack or a pod that of a mount."""
    if launch.kind == "kubernetes-container":
        return _with_memory(launch, size)
    if not launch.swarm:
        return launch._replace(shm=Value(Size(size), launch.span, ""))
    if any(mount.target == "/dev/shm" for mount in launch.mounts):
        return launch
    return launch._replace(mounts=(*launch.mounts, Mount("tmpfs", "/dev/shm", size, launch.home)))


def _quoted(launch: Launch, place: Span) -> Launch:
    """A launch whose list of devices at a place is read as one."""
    fault = next((fault for fault in launch.gpu.device_lists if fault.span == place), None)
    if fault is None:
        return launch
    evidence = tuple(e._replace(text=fault.meant) if e.text == fault.at else e for e in launch.gpu.evidence)
    return launch._replace(gpu=launch.gpu._replace(evidence=evidence))


def _with_memory(launch: Launch, size: int | None) -> Launch:
    """A container of a pod with a memory volume on /dev/shm, which replaces what is mounted there."""
    others = tuple(mount for mount in launch.mounts if mount.target != "/dev/shm")
    return launch._replace(mounts=(*others, Mount("emptydir", "/dev/shm", size, launch.home)))


def _moved(launch: Launch, at: str) -> Launch:
    """A launch whose misplaced size is read, and is no longer an argument of its command."""
    item = next((item for item in launch.misplaced if item.at == at), None)
    if item is None or item.size is None:
        return launch
    command = launch.command
    if item.arguments and command is not None:
        given, count = command.known or (), len(item.arguments)
        start = next((i for i in range(len(given)) if given[i : i + count] == item.arguments), -1)
        if start < 0:
            return launch
        left = given[:start] + given[start + count :]
        command = command._replace(value=left) if left else None
    return launch._replace(shm=item.size, command=command)
