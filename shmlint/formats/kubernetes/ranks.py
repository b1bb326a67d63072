"""What a job's controller starts in its pods that their templates do not say."""

from __future__ import annotations

import re

from shmlint.formats.kubernetes.tree import Map
from shmlint.model.launch import Launch, Value
from shmlint.model.number import whole_number

_COUNT = re.compile(r"(?<!\S)((?:--?np?|--n)[ =])(\d{1,6})(?!\S)")
"""The number of ranks in a command of MPI."""

_MPI = re.compile(r"(?:^|[\s/;&|])mpi(?:run|exec)(?:\.\w+)?(?!\S)")


def with_processes(launch: Launch, root: Map) -> Launch:
    """A container of a PyTorchJob with the variable from which torchrun reads its processes.

    The training operator sets it (pkg/controller.v1/pytorch/envvar.go).
    """
    given = root.leaf("spec", "nprocPerNode")
    if given is None or _PROCESSES in launch.environment:
        return launch
    return launch._replace(environment={**launch.environment, _PROCESSES: Value(given.text, given.span, given.text)})


_PROCESSES = "PET_NPROC_PER_NODE"


def runs_launcher(launch: Launch) -> bool:
    """Whether a worker of an MPIJob waits for its launcher: in an image's own command, or in a daemon of SSH."""
    words = [*_words(launch.entrypoint), *_words(launch.command)]
    return not words or runs_daemon(launch)


def runs_daemon(launch: Launch) -> bool:
    """Whether a container waits in a daemon of SSH for another that starts programs in it."""
    words = " ".join((*_words(launch.entrypoint), *_words(launch.command)))
    return "sshd" in words and not _MPI.search(words)


def slots_of(root: Map) -> int | None:
    """The ranks of each worker of an MPIJob; None where that is not a number.

    A worker has one slot unless ``slotsPerWorker`` says more (mpi-operator pkg/apis/kubeflow/v2beta1/default.go).
    """
    slots = root.text("spec", "slotsPerWorker") or "1"
    return whole_number(slots)


def share_of(launcher: Launch, workers: int) -> int | None:
    """The ranks of each worker, where a launcher spreads its ranks over so many; None where it names no number.

    The hosts of Volcano's jobs have a name for each pod of a task (volcano
    pkg/controllers/job/plugins/distributed-framework/mpi/mpi.go), and MPI fills them in turn.
    """
    words = (*_words(launcher.entrypoint), *_words(launcher.command))
    if not workers or not any(_MPI.search(word) for word in words):
        return None
    ranks = next((int(match[2]) for match in _COUNT.finditer(" ".join(words))), 0)
    return -(-ranks // workers) if ranks else None


def started_by(worker: Launch, launcher: Launch, ranks: int) -> Launch:
    """A worker with what its launcher starts in it: so many ranks."""
    text = str(ranks)
    return worker._replace(entrypoint=_counted(launcher.entrypoint, text), command=_counted(launcher.command, text))


def _words(value: Value[tuple[str, ...]] | None) -> tuple[str, ...]:
    return (value.known or ()) if value is not None else ()


def _counted(value: Value[tuple[str, ...]] | None, slots: str) -> Value[tuple[str, ...]] | None:
    """A command with the ranks of one worker instead of all ranks."""
    words = _words(value)
    if value is None or not words:
        return value
    found = [_COUNT.sub(rf"\g<1>{slots}", word) if " " in word or "=" in word else word for word in words]
    for at, word in enumerate(found[:-1]):
        if word in ("-np", "-n", "--np", "--n") and found[at + 1].isdigit():
            found[at + 1] = slots
    return value._replace(value=tuple(found))
