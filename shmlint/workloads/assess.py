"""How much /dev/shm a launch needs, why, and who says so: small classifiers in a fixed order.

What the launch says beats what its code has as a default, the code beats the image, an image's name
comes last. Nothing is called not needed because it was not understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from shmlint.docker.sizes import rounded
from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch
from shmlint.model.need import BATCHES_RECOMMENDED, UNKNOWN_RECOMMENDED, Mechanism, Need
from shmlint.model.number import whole_number
from shmlint.workloads.by_knowledge import by_knowledge, collectives, nccl
from shmlint.workloads.case import Case, asked_for, environment, examine, is_shown, likely, unknown
from shmlint.workloads.commands import (
    TESTERS,
    flatten,
    kind_of,
    names_preparation,
    names_training,
    never_ends,
    only_prints,
    read_workers,
    simple_commands,
)
from shmlint.workloads.knowledge import Workload, builtin, entry_of, recognise
from shmlint.workloads.launchers import python_words
from shmlint.workloads.program import Program, Ran, named
from shmlint.workloads.running.resolve import passed_on
from shmlint.workloads.running.visible import gpu_count

if TYPE_CHECKING:
    from shmlint.workloads.told import Told


def assess(launch: Launch, extra: Sequence[Workload] = (), program: Program | None = None) -> Need:
    """What a launch needs. ``extra`` workloads come before the program's own.

    ``program`` is what the launch runs as its repository says; without it only the launch's own words count.
    """
    return decide(examine(launch, extra, program))


def decide(case: Case) -> Need:
    """What the classifiers say of a case; the first that says anything decides."""
    need = _first(_CLASSIFIERS, case) or _further(case)
    if need.verdict == "likely":
        from shmlint.workloads.shells import for_other_use

        need = for_other_use(case, need)
    need = _with_room(case, _told(case, _without_guess(case, need)))
    stopped = _stopped(case) if need.verdict in ("unknown", "likely") else ""
    return need._replace(trail=case.program.trail, stopped=need.stopped or stopped)


def _without_guess(case: Case, need: Need) -> Need:
    """A need that is unknown where only the base of a build which is guessed says that there is none."""
    known = case.known
    image = case.launch.image.known if case.launch.image is not None else None
    guessed = case.program.guessed and not known.by_command and not case.own
    by_base = guessed and need is known.need and need.verdict == "not-needed"
    if by_base and recognise(image or "", builtin())[0] is None:
        return unknown(case)
    if need.verdict == "needed" and _runs_guess(case) and not _is_shown_to_start_ranks(case, need):
        return need._replace(verdict="likely", minimum=None)
    if need.verdict == "not-needed" and need is not known.need and _is_of_guess(case):
        stopped = "only a name leads to the Dockerfile of its image; which one builds it is unknown"
        return unknown(case)._replace(stopped=stopped)
    return need


def _runs_guess(case: Case) -> bool:
    """Whether a launch names no program, and that of a build runs to which nothing but a guess leads."""
    launch, program = case.launch, case.program
    own = launch.command is not None or launch.entrypoint is not None or case.own
    return program.guessed and program.dockerfile is not None and not own


def _is_shown_to_start_ranks(case: Case, need: Need) -> bool:
    """Whether a page starts the ranks that a need is about in this very container, of whichever build that is."""
    said = case.documented_commands
    return said is not None and need is said.need and any(one.id == "nccl" and one.bytes for one in need.mechanisms)


def _is_of_guess(case: Case) -> bool:
    """Whether what runs is of a build to which only the name of a file or of a directory leads, and no command."""
    program = case.program
    own = case.launch.command is not None and not program.entries and not program.built
    return program.by_name and program.dockerfile is not None and not own


def _first(classifiers: Sequence[Callable[[Case], Need | None]], case: Case) -> Need | None:
    found = (classify(case) for classify in classifiers)
    return next((need for need in found if need is not None), None)


def _further(case: Case) -> Need:
    """What the environment and the pages say, where the program does not decide."""
    from shmlint.workloads.shells import (
        as_documented,
        by_horovod,
        interactive,
        limits,
        needs_none,
        of_robot,
        section,
        shown_server,
    )

    classifiers = (
        shown_server, as_documented, by_horovod, needs_none, interactive, _image, _perhaps, _passed_workers, _training,
        _tests, section, limits, _variables, of_robot,
    )  # fmt: skip
    return _first(classifiers, case) or unknown(case)


def _with_room(case: Case, need: Need) -> Need:
    """A need whose advised size holds what its mechanisms are known to take.

    Where one of them is not known, it is at least the size of the image: the same container gets the same advice.
    """
    least = rounded(max(need.known, need.times * UNKNOWN_RECOMMENDED))
    size = max(need.recommended or UNKNOWN_RECOMMENDED, least)
    if need.workload is None and any(mechanism.bytes is None for mechanism in need.mechanisms):
        size = max(size, BATCHES_RECOMMENDED) if need.batches_unknown and not need.given else size
        image = environment(case)
        if image is not None and (image.recommended or 0) > size:
            return need._replace(recommended=image.recommended, workload=image.known)
    if not need.known and need.times == 1 and not need.batches_unknown:
        return need
    return need._replace(recommended=size, given=need.given and size == need.recommended)


# Classifiers, in their order ------------------------------------------------------------------


def _settings(case: Case) -> Need | None:
    """Entries of the settings are meant for exactly this."""
    return case.known.need if case.own and case.known.need.verdict != "unknown" else None


def _looks(case: Case) -> Need | None:
    """A command that looks at something, builds something or only prepares."""
    kind = case.program.kind
    if not case.program.commands and not case.program.default and not case.program.stops:
        if not only_prints(_given(case.launch)):
            return Need("not-needed", why="its command prepares something and ends")
        kind = "probe"
    if kind == "probe":
        why = "its command prints something and ends"
        if not asked_for(case):
            return Need("not-needed", why=why)
        if case.launch.kind == "compose-service" and any(never_ends(ran.words) for ran in case.program.commands):
            return case.known.need._replace(verdict="likely")  # it waits for what is run in it
        known = case.known.need
        return Need("not-needed", None, known.recommended, known.workload, why, known.source, looks=True)
    if kind == "build" and not case.program.stops:
        return Need("not-needed", why="its command builds something and ends")
    return None


def _mounts(case: Case) -> Need | None:
    """A command that mounts /dev/shm itself with a size of its own, which takes a privileged container.

    With the capability alone the host's AppArmor may refuse it.
    """
    added = {capability.upper().removeprefix("CAP_") for capability in case.launch.cap_add}
    if case.launch.privileged is False and added.isdisjoint({"SYS_ADMIN", "ALL"}):
        return None
    for ran in case.program.commands:
        options = " ".join(ran.words) if ran.words[0].rpartition("/")[2] == "mount" and "/dev/shm" in ran.words else ""
        if "size=" in options:
            why = "its command mounts /dev/shm with a size of its own"
            told = (Evidence("mounts /dev/shm", ran.place),)
            if case.launch.privileged and ran.certain and re.search(_LARGE, options):
                return Need("not-needed", why=why, evidence=told)
            return unknown(case)._replace(stopped=f"{why}, if that succeeds", evidence=told)
    return None


_LARGE = r"(?i)(?<!\w)size=(?:[1-9]\d*[gt%]|[1-9]\d{2,}m)"
"""A size, as the kernel reads it, that is more than the engine's default."""


def _computed(case: Case) -> Need | None:
    """What the code is sure to put into /dev/shm."""
    found = case.findings
    return found.need if found.need is not None and found.need.verdict == "needed" else None


def _without_workers(case: Case) -> Need | None:
    """One process that its command gives no DataLoader workers, and whose code tells of nothing else."""
    need = case.known.need
    told = case.known.without_workers and need.verdict == "not-needed"
    return need if told and case.findings.need is None else None


def _commands(case: Case) -> Need | None:
    """What a command that is known needs, and what the options of a command ask for."""
    need = case.known.need
    apart = case.findings.sockets or (case.findings.apart and _to_the_end(case) is not None)
    if apart and {mechanism.id for mechanism in need.mechanisms} == {"nccl"}:
        return None  # the ranks of its code do not use NCCL, or have nothing to do with each other
    if need.mechanisms and need.verdict in ("needed", "likely") and not case.findings.small:
        return need
    if not case.known.by_command or (need.verdict == "unknown" and not need.stopped):
        return None
    if need.verdict == "likely" and case.known.alone and case.program.entries:
        return None  # what its code says of one process comes first
    if need.verdict == "likely" and case.findings.need is None and _is_only_called_so(case) and _to_the_end(case):
        return None  # its code says more
    if need.verdict == "not-needed":
        others = [ran for ran in case.program.commands if ran.kind == "program"]
        return need if len(others) <= 1 or not case.program.entries else None
    return need


def _is_only_called_so(case: Case) -> bool:
    """Whether all that is known of a command is that its program is called like one: ``train_net.py``."""
    workload = entry_of(case.known.need.workload, ())
    names = [] if workload is None else workload.entry.get("commands", [])
    called = {entry.path.rpartition("/")[2] for entry in case.program.entries}
    return not case.known.need.mechanisms and isinstance(names, list) and not called.isdisjoint(names)


def _models(case: Case) -> Need | None:
    """What the models of a Triton server need, which the repository holds."""
    ran = (*case.program.commands, *case.program.documented_commands)
    if not any(word.rpartition("/")[2].endswith("server") for command in ran for word in command.words):
        return None
    from shmlint.workloads.triton import triton

    return triton(case.launch, case.program)


def _ray_serve(case: Case) -> Need | None:
    """Ray Serve, started by its own command where Ray is installed: others have a command of that name."""
    serves = [ran for ran in case.program.commands if ran.words[:2] in (("serve", "run"), ("serve", "start"))]
    if not serves or "ray" not in case.packages:
        return None
    from shmlint.workloads.packages.libraries import RAY_SOURCE

    why = "Ray Serve starts Ray, which keeps its object store in shared memory"
    told = (Evidence("starts Ray Serve", serves[0].span, RAY_SOURCE), case.packages["ray"])
    mechanism = Mechanism("ray", None, "estimated", why, told, RAY_SOURCE)
    return Need("likely", None, UNKNOWN_RECOMMENDED, None, "", RAY_SOURCE, told, (mechanism,))


def _code(case: Case) -> Need | None:
    """What the code may put into /dev/shm; surely so where the image's maintainers ask for it as well.

    Of DataLoader workers they do not know the batches.
    """
    need, known = case.findings.need, case.known.need
    if need is None or known.verdict != "needed" or all(m.id == "dataloader" for m in need.mechanisms):
        return need
    return need._replace(verdict="needed", recommended=known.recommended or need.recommended)


def _to_the_end(case: Case) -> Need | None:
    """A program that was read to its end and uses no mechanism."""
    program = case.program
    if program.kind != "program" or program.stops or case.findings.stops:
        return None
    if program.commands[-1].kind == "interactive":
        return None  # what ran before only prepares the container, which then waits for others to enter it
    started = [Evidence(f"runs {named(entry.path)}", entry.span) for entry in program.entries]
    evidence = (*started, *(Evidence(step.text, step.span) for step in program.built))[:1]
    if not evidence:
        return None
    what = "puts little into shared memory, which fits" if case.findings.small else "uses no shared memory"
    return Need("not-needed", why=f"its program was read completely and {what}", evidence=evidence)


def _cloned(case: Case) -> Need | None:
    """A known program that the repository does not have, as the build of the image fetches it."""
    if case.program.kind != "program" or case.program.entries or not case.program.stops or case.findings.need:
        return None
    from shmlint.workloads.running.cloned import cloned

    return cloned(case.program)


def _image(case: Case) -> Need | None:
    """What is known of the image, where nothing else is known."""
    need = case.known.need
    if need.verdict == "unknown":
        return None
    read = case.program.entries and not case.known.by_command
    if read and (need.verdict == "not-needed" or (case.findings.idle and not _is_for_training(case))):
        return None
    rest_read = not case.program.stops and all(stop.package for stop in case.findings.stops)
    if read and case.findings.without_workers and rest_read:
        return None  # its code says of workers what the image's maintainers only suppose
    given = case.launch.command
    if _prepares(case):
        return unknown(case)._replace(stopped="its command is called after preparing or converting something")
    left_open = case.program.default and given is not None and bool(given.because)  # `docker run IMAGE "$@"`
    if need.verdict == "needed" and (left_open or read or case.program.stops) and not _says_training(case):
        return need._replace(verdict="likely")
    return need


def _given(launch: Launch) -> list[str]:
    """The words that a launch itself runs, as far as they are known."""
    return [word for part in (launch.entrypoint, launch.command) if part is not None for word in part.known or ()]


def _prepares(case: Case) -> bool:
    """Whether all that the launch, or else its image, starts is called after preparing something or converting it."""
    launch = case.launch
    if launch.kind == "compose-service":
        return False  # what is prepared there is served as well
    own = [words for words in simple_commands(flatten(_given(launch))) if kind_of(words) == "program"]
    ran = [list(one.words) for one in case.program.commands if one.kind == "program"]
    each = own or ran
    several = any(python_words(tuple(words)) is not None for words in each)  # ``accelerate launch export.py``
    return bool(each) and not several and all(map(names_preparation, each))


def _perhaps(case: Case) -> Need | None:
    """The ranks of one of the programs that a variable may start."""
    if not case.program.perhaps:
        return None
    need = by_knowledge(case.launch, (), case.program.perhaps).need
    return need._replace(verdict="likely") if need.mechanisms and need.verdict in ("needed", "likely") else None


def _passed_workers(case: Case) -> Need | None:
    """The DataLoader workers that a launch asks a script for, which hands them on to something that is not known."""
    if not case.program.stops or case.findings.need is not None:
        return None
    given = simple_commands(flatten(_given(case.launch)))
    named = [words for words in given if any(re.match(_OF_LOADER, word) for word in words)]
    scripts = [words for words in named if any(word.endswith(".sh") for word in words[:2])]
    ran = [Ran(tuple(words), case.launch.span, "program") for words in scripts if (read_workers(words) or 0) > 0]
    need = by_knowledge(case.launch._replace(image=None, base_images=()), (), ran).need if ran else None
    return need._replace(verdict="likely") if need is not None and need.mechanisms else None


_OF_LOADER = r"--(?:\w+[-_])?num[-_]workers(?:=|$)"
"""The options that programs of PyTorch have for it; `--workers` may be those of a web server."""


def _is_for_training(case: Case) -> bool:
    """Whether a program is called training, or one that was not found is there as well."""
    return bool(case.program.stops) or any(names_training(ran.words) for ran in case.program.commands)


def _says_training(case: Case) -> bool:
    """Whether a program that runs is called training."""
    if case.program.entries or case.known.without_workers or case.known.perhaps_without_workers:
        return False  # its code and its options say more than its name
    return any(names_training(ran.words) for ran in case.program.commands if ran.kind == "program")


def _training(case: Case) -> Need | None:
    """A program that is called training, in an environment with PyTorch, and that is not in the repository."""
    if case.torch is None:
        return None
    built = case.program.image is not None and case.program.image.command is None
    from shmlint.workloads.shells import runs_own

    left_open = case.program.default and not is_shown(case) and not runs_own(case)
    if left_open and (built or not case.launch.base_images):
        why = "an environment with PyTorch, whose DataLoader workers and ranks use shared memory"
        return likely(case, why, case.torch)
    why = "training with PyTorch, whose DataLoader workers and ranks use shared memory"
    if _says_training(case):
        return likely(case, why, case.torch)
    if case.findings.trains is not None and case.findings.idle and not case.program.files.repository.full:
        return likely(case, why, Evidence("starts training", case.findings.trains))
    return None


def _tests(case: Case) -> Need | None:
    """Tests of several ranks, by the names of their files, which were not read to their end."""
    if case.torch is None or gpu_count(case.launch) == 1:
        return None
    for ran in case.program.commands:
        at = next((at for at, word in enumerate(ran.words[:3]) if word.rpartition("/")[2] in TESTERS), None)
        words = ran.words[at:] if at is not None else ()
        paths = (path for before, path in pairwise(words) if not before.startswith("--"))
        if ran.kind == "program" and any(re.search(_OF_RANKS, path) and not path.startswith("-") for path in paths):
            why = "tests of several ranks, by the names of their files, which exchange data through shared memory"
            return likely(case, why, case.torch if ran.place is None else Evidence("runs such tests", ran.place))
    return None


_OF_RANKS = r"(?:^|[/_])(?:distributed|multi_?gpus?|nccl|ddp|fsdp)(?:$|[/_.:])"
"""Files and directories of such tests."""


def _variables(case: Case) -> Need | None:
    """A program that is not known, with settings of libraries that use shared memory."""
    for name, value in case.launch.environment.items():
        if name.startswith("NCCL_") and name != "NCCL_VERSION" and gpu_count(case.launch) != 1:
            why = "its variables configure NCCL, which connects the ranks of a program through shared memory"
            return likely(case, why, Evidence(f"sets {name}", value.span))
        ranks = whole_number(value.known or "") if name in _RANKS else None
        if ranks is not None and 1 < ranks <= _MOST_RANKS and gpu_count(case.launch) != 1:
            need = likely(case, "its variables ask for several ranks", Evidence(f"{name}: {ranks} ranks", value.span))
            known = (nccl(ranks, need.evidence, case.launch),) if collectives(case.launch) else ()
            return need._replace(mechanisms=known)
        if name.startswith("RAY_") and not re.fullmatch(_RAY_ELSEWHERE, name) and not _joins_ray(case.launch):
            why = "its variables configure Ray, which keeps its object store in shared memory"
            return likely(case, why, Evidence(f"sets {name}", value.span))
    return None


_RANKS = frozenset(
    {
        "TP", "TP_SIZE", "TENSOR_PARALLEL", "TENSOR_PARALLEL_SIZE", "MP_SIZE", "MPSIZE", "MODEL_PARALLEL_SIZE",
        "NUM_SHARD", "NPROC_PER_NODE",
    }
)  # fmt: skip
"""Variables that everybody calls so: the ranks that a script or a server in the image starts."""
_MOST_RANKS = 16
"""GPUs of one host; a larger number counts something else."""


_RAY_ELSEWHERE = r"RAY_(?:HEAD_|SERVER_|SERVE_)?(?:ADDRESS|ENDPOINT|HOST|IP|PORT|URI|URL)"
"""Variables that tell a client where Ray runs; none but `RAY_ADDRESS` is Ray's own."""


def _joins_ray(launch: Launch) -> bool:
    """Whether the address of Ray in another container is set."""
    address = launch.environment.get("RAY_ADDRESS")
    return address is not None and bool(address.known)


_CLASSIFIERS = (
    _settings, _looks, _mounts, _computed, _without_workers, _models, _commands, _ray_serve, _code, _to_the_end,
    _cloned,
)  # fmt: skip


def _told(case: Case, need: Need) -> Need:
    """A need with what the repository's own people say of the same container.

    What may need it does, where they give it to the same container elsewhere; training does, where their page asks
    for it.
    """
    if need.verdict not in ("likely", "unknown"):
        return need
    open_use = (case.program.default and not _serves(case)) or case.program.kind == "interactive"
    from shmlint.workloads.told import told

    said = told(case.launch, case.program)
    if said is None or (need.verdict == "unknown" and not (_may_be(case, open_use) if said.page else said.bytes)):
        return need
    if said.perhaps and need.verdict == "likely":
        return _of_one_process(case, need, said)
    if said.workers and not any(mechanism.id == "dataloader" for mechanism in need.mechanisms):
        return need
    own, given = need.recommended or UNKNOWN_RECOMMENDED, rounded(said.bytes or 0)
    open_size = need.is_our_choice or (need.workload is None and need.batches_unknown)
    if open_size and (said.bytes or 0) >= UNKNOWN_RECOMMENDED and given >= rounded(need.known):
        own = 0  # their size says more than our choice
    larger = need._replace(recommended=max(own, given), given=given > own, evidence=(*need.evidence, said.evidence))
    # Where what runs is guessed, two habits that are copied from launch to launch make no error.
    supposed = need is case.findings.need or (said.bytes is None and not need.mechanisms)
    guessed = supposed and any(entry.guessed for entry in case.program.entries)
    guessed = guessed or _rests_on_guess(case)
    # Whether a program that is not understood uses what it is given, only a size tells: --ipc=host is often a habit.
    left_open = _shows_no_workers(case) if open_use else bool(case.findings.stops)
    habit = said.bytes is None and (left_open or not said.page) and all(map(_may_be_small, need.mechanisms))
    # Of a shell only its environment may tell, and that is there for much else than for training.
    alone = open_use and not need.mechanisms
    habit = habit or (alone and (_loads_little(case) or not _documents_training(case)))
    sure = need.verdict == "likely" and not guessed and not habit and not said.seldom
    if sure and (not said.page or (open_use and _documents_training(case))):
        return larger._replace(verdict="needed")
    why = need.why if need.verdict == "likely" else "the repository says so: " + said.evidence.text
    return larger._replace(verdict="likely", why=why)


def _serves(case: Case) -> bool:
    """Whether the image has a known program of its own, which runs without a terminal and is not for PyTorch."""
    known = case.known.need
    return known.workload is not None and known.verdict == "likely" and not case.launch.interactive and not case.torch


def _shows_no_workers(case: Case) -> bool:
    """Whether pages give what they run in a container 0 DataLoader workers, and nothing else some, or several ranks."""
    shown = case.program.documented_commands
    workers = [read_workers(ran.words) for ran in shown]
    said = case.documented_commands
    needs = (case.documented.need, said.need if said is not None else None)
    return 0 in workers and not any(workers) and not any(need is not None and need.mechanisms for need in needs)


def _loads_little(case: Case) -> bool:
    """Whether the code of what pages run in a container loads without workers, or batches that fit, and no other does.

    Then what the container is given elsewhere says less.
    """
    found = case.documented
    return found.need is None and (found.without_workers or found.small)


def _may_be_small(mechanism: Mechanism) -> bool:
    """Whether it is workers whose batches are not known."""
    return mechanism.id == "dataloader" and mechanism.bytes is None


def _rests_on_guess(case: Case) -> bool:
    """Whether only a name leads to the Dockerfile of an image, and the launch's own words do not tell what it runs."""
    program = case.program
    return program.dockerfile is not None and program.guessed and not case.known.by_command


def _of_one_process(case: Case, need: Need, said: Told) -> Need:
    """A need that is likely, where the launch's own page asks for more with several GPUs, and shows one process."""
    shown, asks = case.documented_commands, said.evidence.span
    here = asks is not None and asks.source.path == case.launch.span.path
    if shown is None or not (shown.alone and shown.by_command and here) or need.mechanisms or case.known.by_command:
        return need
    stopped = "the page asks for shared memory with several GPUs, and runs one process; what else runs is unknown"
    return unknown(case)._replace(stopped=stopped)


def _may_be(case: Case, open_use: bool) -> bool:
    """Whether a page may mean what a container runs: anything, or the program of an image that is not built here."""
    return open_use or (case.program.image is None and not case.program.entries and case.known.need.workload is None)


def _documents_training(case: Case) -> bool:
    """Whether the documentation or the repository's own programs train in the container."""
    commands = case.program.documented_commands
    return bool(case.documented.need and case.documented.need.mechanisms) or any(
        names_training(ran.words) for ran in commands
    )


def _stopped(case: Case) -> str:
    """Where resolution stopped, in one line."""
    for step in (*case.program.stops, *case.findings.stops):
        elsewhere = step.span is not None and step.span.path not in ("", case.launch.span.path)
        return f"{step.text} ({step.span.path}:{step.span.line})" if step.span and elsewhere else step.text
    if case.program.default:
        image = case.launch.image
        unnamed = image is not None and not (image.known or "").partition(":")[0]
        if unnamed:
            return "the image's name is not in the files"
        if (passed := passed_on(case.launch) or "").startswith("$"):
            return f"it runs what its script or function is given (`{passed}`)"
        return "the image's own command is unknown"
    if case.program.kind == "interactive":
        return f"its command is a shell or waits, and {_shown(case)}"
    words = next((ran.words for ran in case.program.commands), ())
    if words and words[0].startswith("-"):
        return f"the image's own program, which gets `{words[0]}`, is unknown"
    return ""


def _shown(case: Case) -> str:
    """What the files show of what is started in a shell."""
    if not case.program.documented_commands:
        return "no file shows what is started in it"
    for step in case.documented.stops:
        place = f" ({step.span.path}:{step.span.line})" if step.span is not None and step.span.path else ""
        return f"a documented command was not read to its end: {step.text}{place}"
    return "what is started in it besides the documented commands is unknown"
