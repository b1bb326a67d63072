"""How much /dev/shm a launch needs, why, and who says so: small classifiers in a fixed order.

What the launch says beats what its code has as a default, the code beats the image, an image's name
comes last. Nothing is called not needed because it was not understood.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from shmlint.docker.sizes import rounded, soft_limit
from shmlint.files.read import normal
from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch, Value
from shmlint.model.need import UNKNOWN_RECOMMENDED, Mechanism, Need
from shmlint.model.number import whole_number
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.workloads.builds import bare_name, is_bare
from shmlint.workloads.by_knowledge import Known, by_knowledge, gpu_count
from shmlint.workloads.commands import (
    SHELLS,
    flatten,
    kind_of,
    names_preparation,
    names_training,
    never_ends,
    simple_commands,
)
from shmlint.workloads.documentation import with_documentation
from shmlint.workloads.knowledge import Workload, builtin, entry_of, recognise
from shmlint.workloads.packages import TORCH, packages
from shmlint.workloads.program import Entry, Findings, Program, Ran
from shmlint.workloads.python_entries import TESTERS
from shmlint.workloads.repository import Repository
from shmlint.workloads.resolve import passed_on, resolve

_MOST_DOCUMENTED = 20
"""Commands of a page that are looked at one by one."""
NVIDIA_STACK = 64 * 1024 * 1024
"""Bytes; the stack limit that NVIDIA gives training containers together with ``memlock=-1`` and ``--shm-size``."""
NVIDIA_LIMITS_SOURCE = "https://github.com/NVIDIA/physicsnemo/blob/94b355108cfd/README.md?plain=1#L425"


class Case(NamedTuple):
    """One launch and all that was found out about it."""

    launch: Launch
    program: Program
    findings: Findings
    known: Known
    own: bool
    """An entry of the settings decides."""
    documented: Findings
    documented_commands: Known | None
    packages: Mapping[str, Evidence]
    """The packages in the image or environment, and what says so."""

    @property
    def torch(self) -> Evidence | None:
        """What says that PyTorch is in the image or environment."""
        return next((evidence for name, evidence in self.packages.items() if name in TORCH), None)


def assess(launch: Launch, extra: Sequence[Workload] = (), program: Program | None = None) -> Need:
    """What a launch needs. ``extra`` workloads come before the program's own.

    ``program`` is what the launch runs as its repository says; without it only the launch's own words count.
    """
    return decide(examine(launch, extra, program))


def decide(case: Case) -> Need:
    """What the classifiers say of a case; the first that says anything decides."""
    for classify in _CLASSIFIERS:
        need = classify(case)
        if need is not None:
            break
    else:
        need = _unknown(case)
    need = _with_room(_told(case, _for_other_use(case, need)))
    stopped = _stopped(case) if need.verdict in ("unknown", "likely") else ""
    return need._replace(trail=case.program.trail, stopped=need.stopped or stopped)


def _with_room(need: Need) -> Need:
    """A need whose advised size holds what its mechanisms are known to take."""
    known = sum(mechanism.bytes or 0 for mechanism in need.mechanisms)
    return need._replace(recommended=max(need.recommended or UNKNOWN_RECOMMENDED, rounded(known))) if known else need


def examine(launch: Launch, extra: Sequence[Workload] = (), program: Program | None = None) -> Case:
    """Find out what a launch runs and what is known of it."""
    program = with_documentation(launch, program or resolve(launch, Repository(None, launch.span.path)))
    based = _with_bases(launch, program)
    telling = [ran for ran in program.commands if ran.kind in ("program", "interactive")]
    findings = Findings()
    documented, said = Findings(), None
    if program.entries or program.documented:
        from shmlint.workloads.by_program import read

        findings = read(based, program) if program.entries else findings
        documented = read(based, program, program.documented) if program.documented else documented
    known = by_knowledge(based, extra, findings.seen_in(telling), copy=_is_copy(program))
    mine = {workload.id for workload in extra}
    own = known.need.workload is not None and known.need.workload.id in mine
    if program.documented or program.documented_commands:
        shown = documented.seen_in(program.documented_commands)
        sure = [ran for ran in shown if ran.certain]
        said = _said_of(sure or shown, based, extra, copy=_is_copy(program))
        if not sure and said.need.verdict == "needed":
            said = said._replace(need=said.need._replace(verdict="likely"))
    return Case(based, program, findings, known, own, documented, said, packages(based, program))


def _said_of(commands: Sequence[Ran], launch: Launch, extra: Sequence[Workload], *, copy: bool) -> Known:
    """What the knowledge base says of documented commands: of the first that asks for ranks or workers, else of all."""
    for command in commands[:_MOST_DOCUMENTED]:
        known = by_knowledge(launch, extra, [command], copy=copy)
        if known.need.mechanisms:
            return known
    return by_knowledge(launch, extra, commands, copy=copy)


def _is_copy(program: Program) -> bool:
    """Whether the build of the image runs nothing: it is used like its base image."""
    return program.image is not None and not program.image.runs


def _with_bases(launch: Launch, program: Program) -> Launch:
    """The launch with the base images of the build that gives its image."""
    if program.image is None or program.dockerfile is None or launch.base_images or program.namesake:
        return launch
    source = program.dockerfile
    bases = tuple(
        Value(name, Span(source, *source.line_span(max(line, 1))), name) for name, line in program.image.base_images
    )
    return launch._replace(base_images=bases, environment=program.environment)


# Classifiers, in their order ------------------------------------------------------------------


def _settings(case: Case) -> Need | None:
    """Entries of the settings are meant for exactly this."""
    return case.known.need if case.own and case.known.need.verdict != "unknown" else None


def _looks(case: Case) -> Need | None:
    """A command that looks at something, builds something or only prepares."""
    if not case.program.commands and not case.program.default and not case.program.stops:
        return Need("not-needed", why="its command prepares something and ends")
    kind = case.program.kind
    if kind == "probe":
        why = "its command prints something and ends"
        if not _asked_for(case):
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
            if case.launch.privileged and ran.certain and _LARGE.search(options):
                return Need("not-needed", why=why, evidence=told)
            return _unknown(case)._replace(stopped=f"{why}, if that succeeds", evidence=told)
    return None


_LARGE = re.compile(r"(?<!\w)size=(?:[1-9]\d*[gt%]|[1-9]\d{2,}m)", re.IGNORECASE)
"""A size, as the kernel reads it, that is more than the engine's default."""


def _asked_for(case: Case) -> bool:
    """Whether the image's maintainers ask for shared memory for what the image is made for."""
    images = (case.launch.image, *(case.launch.base_images if _is_copy(case.program) else ()))
    found = [recognise(image.known or "", builtin()) for image in images if image is not None]
    return any(sure and known is not None and known.needs == "yes" and known.verified for known, sure in found)


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
    if case.findings.sockets and {mechanism.id for mechanism in need.mechanisms} == {"nccl"}:
        return None  # the ranks of its code do not use NCCL
    if need.mechanisms and need.verdict in ("needed", "likely") and not case.findings.small:
        return need
    if not case.known.by_command or need.verdict == "unknown":
        return None
    if need.verdict == "likely" and case.known.alone and case.program.entries:
        return None  # what its code says of one process comes first
    if need.verdict == "not-needed":
        others = [ran for ran in case.program.commands if ran.kind == "program"]
        return need if len(others) <= 1 or not case.program.entries else None
    return need


def _models(case: Case) -> Need | None:
    """What the models of a Triton server need, which the repository holds."""
    ran = (*case.program.commands, *case.program.documented_commands)
    if not any("tritonserver" in word for command in ran for word in command.words):
        return None
    from shmlint.workloads.triton import triton

    return triton(case.launch, case.program)


def _ray_serve(case: Case) -> Need | None:
    """Ray Serve, started by its own command where Ray is installed: others have a command of that name."""
    serves = [ran for ran in case.program.commands if ran.words[:2] in (("serve", "run"), ("serve", "start"))]
    if not serves or "ray" not in case.packages:
        return None
    from shmlint.workloads.libraries import RAY_SOURCE

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
    started = [Evidence(f"runs {entry.path}", entry.span) for entry in program.entries]
    evidence = (*started, *(Evidence(step.text, step.span) for step in program.built))[:1]
    if not evidence:
        return None
    return Need("not-needed", why="its program was read completely and uses no shared memory", evidence=evidence)


def _cloned(case: Case) -> Need | None:
    """A known program that the repository does not have, as the build of the image fetches it."""
    if case.program.kind != "program" or case.program.entries or not case.program.stops or case.findings.need:
        return None
    from shmlint.workloads.cloned import cloned

    return cloned(case.program)


def _as_documented(case: Case) -> Need | None:
    """What the documentation runs in a container that gives a shell."""
    if case.program.default and case.known.need.verdict == "not-needed":
        return None  # the image is a program of its own
    said = case.documented_commands
    if _is_without_files(case):
        return None
    for need in (case.documented.need, said.need if said is not None else None):
        by_command = said is not None and need is said.need and said.by_command
        if need is not None and need.verdict == "needed" and (need.mechanisms or by_command):
            return need
    if not any(ran.certain for ran in case.program.documented_commands) and _is_to_be_used(case):
        return None  # what other pages run is not what this one starts it for
    need = case.documented.need
    if _asks_for_processes(case) and said is not None:
        return (need or said.need)._replace(verdict="needed")
    trained = [
        ran for ran in case.program.documented_commands
        if names_training(ran.words) and ran.span != case.launch.span and (ran.certain or _is_near(ran, case.program))
        and not _is_read(ran, case)
    ]  # fmt: skip
    if trained and not _fits_as_documented(case) and not _loads_alone(case) and not _lacks_code(trained, case):
        told = Evidence("trains", trained[0].span)
        several = gpu_count(case.launch) != 1
        if several and case.known.need.verdict == "needed" and not _is_to_be_used(case):
            return case.known.need._replace(evidence=(*case.known.need.evidence, told))
        meant = any(ran.certain for ran in trained) or not _shows_use(case)
        if several and meant and (need is None or case.torch is None):
            why = "the repository trains in it; DataLoader workers and ranks on several GPUs use shared memory"
            return _likely(case, why, told)
    if need is not None and (case.torch is not None or _is_named_after_code(case)):
        return need
    if said is None or said.need.verdict not in ("needed", "likely") or not (said.by_command or said.need.mechanisms):
        return None
    if case.torch is None and all(ran.span == case.launch.span for ran in case.program.documented_commands):
        return None  # the repository's own programs, and nothing says that they run in this image
    return said.need


def _shows_use(case: Case) -> bool:
    """Whether the page of a launch itself runs the repository's own programs in it: it says more than other pages."""
    own = {entry.span for entry in case.program.documented if entry.span is not None}
    shown = [ran for ran in case.program.documented_commands if ran.certain]
    return any(ran.span in own and ran.span is not None and ran.span.path == case.launch.span.path for ran in shown)


def _is_read(ran: Ran, case: Case) -> bool:
    """Whether the code of a documented command was read to its end, and what pages run uses no shared memory.

    What packages do that are not known matters less where the program itself takes the steps of its training.
    """
    found, own = case.documented, [entry for entry in case.program.documented if entry.span == ran.span]
    if found.need is not None or not own:
        return False
    return not found.stops or (_loads_nothing(found) and _takes_steps(own, case))


def _loads_nothing(found: Findings) -> bool:
    """Whether the code that was read loads nothing with workers, but for packages that are not known."""
    return (found.idle or found.without_workers) and all(stop.package for stop in found.stops)


def _takes_steps(entries: Sequence[Entry], case: Case) -> bool:
    from shmlint.workloads.own_code import takes_steps

    return all(takes_steps(entry.path, case.program.files.repository) for entry in entries)


def _lacks_code(trained: Sequence[Ran], case: Case) -> bool:
    """Whether nothing in the repository that trains uses a framework."""
    if case.torch is not None or not all(_is_held(ran, case.program.files.repository) for ran in trained):
        return False
    from shmlint.workloads.own_code import names_framework

    return not names_framework(case.program.files.repository)


def _is_without_files(case: Case) -> bool:
    """Whether a container is a plain image without a file of the repository, whose programs cannot run there.

    What a page runs in the container itself may fetch them.
    """
    program = case.program
    if any(ran.certain for ran in program.documented_commands):
        return False
    return program.image is None and not program.files.seen() and is_bare(case.launch)


def _is_held(ran: Ran, repository: Repository) -> bool:
    """Whether the repository has the script that a command of a page runs."""
    scripts = [word for word in ran.words[:3] if word.endswith((".sh", ".py"))]
    folders = (os.path.dirname(ran.span.path) if ran.span is not None else "", repository.root)
    return any(repository.is_file(normal(os.path.join(folder, name))) for folder in folders for name in scripts)


def _loads_alone(case: Case) -> bool:
    """Whether all code that the container sees of the repository trains in one process and without workers."""
    from shmlint.workloads.own_code import own_code

    return own_code(case.program.files).quiet


def _is_named_after_code(case: Case) -> bool:
    """Whether the image, or the container, has the name of a Python package at the top of the repository."""
    launch, repository = case.launch, case.program.files.repository
    named = launch.name if launch.kind == "docker-run" else None
    image = bare_name(launch.image.text) if launch.image is not None else ""
    names = {name.replace("-", "_").lower() for name in (named, image) if name}
    return any(repository.is_file(os.path.join(repository.root, name, "__init__.py")) for name in names)


def _asks_for_processes(case: Case) -> bool:
    """Whether the pages of the repository that a container is made for start several ranks or workers with PyTorch.

    A notebook is made for its own cells and not for commands of a page.
    """
    said, program = case.documented_commands, case.program
    if said is None or not said.need.mechanisms or said.workers_perhaps or case.torch is None:
        return False
    if case.known.need.verdict == "not-needed":
        return False
    built = program.dockerfile is not None and not program.namesake
    made_for_it = built or bool(program.files.folders())
    if _starts_notebook(program):
        spans = (ran.span for ran in program.documented_commands)
        made_for_it = any(span is not None and span.path.endswith(".ipynb") for span in spans)
    return made_for_it and not program.guessed and not _is_to_be_used(case)


def _starts_notebook(program: Program) -> bool:
    """Whether a notebook is started, in which people write code that the repository does not have."""
    return any("notebook" in ran.words[0] or "jupyter" in " ".join(ran.words[:3]) for ran in program.commands)


def _is_to_be_used(case: Case) -> bool:
    """Whether a page starts the container under a heading about something else than training.

    Headings further up tell so too, where the page itself shows what is run in it, and so do those over all that it
    shows, where no other one is about training.
    """
    from shmlint.workloads.told import headings, is_to_be_used, words_of_headings

    path, start, repository = case.launch.span.path, case.launch.span.start, case.program.files.repository
    if is_to_be_used(path, start, repository):
        return True
    told = [found.text.lower() for found in headings(path, start, repository)]
    shown = [ran for ran in case.program.documented_commands if ran.certain]
    said = case.documented_commands
    trains = any(names_training(words) for words in (*(ran.words for ran in shown), *(text.split() for text in told)))
    quiet = bool(shown) and not trains and (said is None or not said.need.mechanisms)
    if quiet and any(word in text for text in told[1:] for word in _DELIVERS):
        return True
    places = [ran.span for ran in shown if ran.span is not None and ran.span.path == path]
    if not quiet or len(places) < len(shown):
        return False
    if any(names_training((word,)) for word in words_of_headings(path, repository)):
        return False
    return all(is_to_be_used(path, place.start, repository) for place in places)


_DELIVERS = ("deploy", "serving", "export", "convert")


def _is_near(ran: Ran, program: Program) -> bool:
    """Whether a documented command is in a README, or runs a program of the repository."""
    readme = ran.span is not None and ran.span.path.rpartition("/")[2].lower().startswith("readme")
    return readme or any(entry.span == ran.span for entry in program.documented)


def _needs_none(case: Case) -> Need | None:
    """A container for the repository's own code, which was read and needs no more than the default."""
    if not (case.program.default or case.program.kind == "interactive") or _runs_own(case):
        return None
    enough = not case.program.guessed and not _starts_notebook(case.program) and not _asked_for(case)
    if not enough and case.torch is None:
        return None
    from shmlint.workloads.own_code import own_code

    said = own_code(case.program.files)
    if said.quiet and said.known and enough and _FOR_RANKS.isdisjoint(case.packages):
        why = "all code that the container sees of the repository loads its data in one process and without workers"
        return Need("not-needed", why=why)
    if said.asks and said.known and enough and _only_asks(case) and _FOR_TRAINING.isdisjoint(case.packages):
        why = "all code that the container sees of the repository uses models in one process and trains none"
        return Need("not-needed", why=why)
    if case.torch is None and not _is_built_on_training(case):
        return None
    if said.quiet:
        stopped = "the repository's code uses neither workers nor several processes; what else runs is unknown"
    elif _only_asks(case):
        stopped = "the repository's code uses models and does not train; what else runs is unknown"
    elif _fits_as_documented(case) or _is_shown_in_use(case) or _is_shown_to_train_alone(case):
        stopped = "what the documentation runs in it asks for no more; what else runs is unknown"
    elif enough and _shows_no_sign(case):
        stopped = "the repository's code gives no loader workers and starts no processes; what else runs is unknown"
    else:
        return None
    return _unknown(case)._replace(stopped=stopped)


def _shows_no_sign(case: Case) -> bool:
    """Whether all code that the container sees shows no sign of shared memory, nor trains anything else a page says."""
    program = case.program
    trained = [ran for ran in program.documented_commands if names_training(ran.words)]
    if not all(_is_held(ran, program.files.repository) for ran in trained):
        return False
    from shmlint.workloads.signs import shows_no_sign

    return shows_no_sign(program.files)


def _is_built_on_training(case: Case) -> bool:
    """Whether the image is built on one that may need shared memory: what it is built for may be something else."""
    return case.program.image is not None and not _is_copy(case.program) and case.known.need.verdict != "not-needed"


_FOR_TRAINING = frozenset(
    {
        "deepspeed", "detectron2", "fastai", "jupyter", "jupyterlab", "lerobot", "lightning", "mmcv", "mmdet",
        "mmengine", "monai", "nemo-toolkit", "nerfstudio", "nnunetv2", "notebook", "openmim", "peft",
        "pytorch-lightning", "trl", "ultralytics",
    }
)  # fmt: skip
"""Packages that train, or are for code that the repository does not have: one who only uses a model installs none."""


_FOR_RANKS = frozenset({"deepspeed", "horovod"})
"""Packages with which people start several processes, also for code that does not name them."""


def _only_asks(case: Case) -> bool:
    """Whether a container is for the repository's code, and all of it uses models in one process, none for training."""
    program = case.program
    built = program.image is not None and not program.guessed
    if not (built or program.files.seen()) or _starts_notebook(program) or _asked_for(case):
        return False
    if any(names_training(ran.words) for ran in program.documented_commands):
        return False
    from shmlint.workloads.own_code import names_trainer, own_code

    return own_code(program.files, every=True).asks and not names_trainer(program.files)


def _fits_as_documented(case: Case) -> bool:
    """Whether the programs that the documentation runs load their data in what there is, also without its options."""
    found = case.documented
    known = found.small or found.without_workers or not found.stops
    if not case.program.documented or found.need is not None or found.idle or not known:
        return False
    return _fits_without_options(case)


def _fits_without_options(case: Case) -> bool:
    from shmlint.workloads.by_program import read

    plain = [entry._replace(arguments=()) for entry in case.program.documented]
    return read(case.launch, case.program, plain).need is None


def _is_shown_to_train_alone(case: Case) -> bool:
    """Whether all programs that train in a container, as a page says, take their steps themselves and load nothing.

    So do they without their options, and nothing asks for ranks or workers.
    """
    program, said = case.program, case.documented_commands
    trained = [ran for ran in program.documented_commands if names_training(ran.words)]
    if not trained or said is None or said.need.mechanisms or _starts_notebook(program) or _asked_for(case):
        return False
    own = [entry for entry in program.documented if any(entry.span == ran.span for ran in trained)]
    alone = all(_is_read(ran, case) for ran in trained) and _loads_nothing(case.documented)
    return alone and _takes_steps(own, case) and _fits_without_options(case)


def _is_shown_in_use(case: Case) -> bool:
    """Whether all that a page runs in the container was read and loads nothing, and nothing is for training.

    Such a container is there to use a model: people make speech, pictures or forecasts with it. Packages that are not
    known may be what trains: there the programs themselves tell that they use one. A notebook is there for its own
    cells.
    """
    program, found = case.program, case.documented
    if _starts_notebook(program):
        return False
    shown = [ran for ran in program.documented_commands if ran.certain]
    read = {entry.span for entry in program.documented}
    if not shown or not all(ran.span in read for ran in shown) or not found.idle:
        return False
    commands = [*(ran.words for ran in program.documented_commands), *((ran.span.path,) for ran in shown if ran.span)]
    if not all(stop.package for stop in found.stops) or any(map(names_training, commands)):
        return False
    from shmlint.workloads.own_code import names_trainer, uses_model

    repository = program.files.repository
    if found.stops and not all(uses_model(entry.path, repository) for entry in program.documented):
        return False
    # That a script is called after tuning says less than what it was read to start.
    scripts = {ran.span.path for ran in shown if ran.span is not None}
    return not names_trainer(program.files, scripts)


def _interactive(case: Case) -> Need | None:
    """A shell or a notebook, in which anything may be run."""
    image = case.known.need
    if case.program.kind != "interactive" and not _gives_shell(case):
        return None
    if image.verdict == "not-needed" and not case.torch:
        return image
    if case.torch is None and image.verdict not in ("needed", "likely"):
        return _for_own_code(case) or _in_plain_environment(case) or _in_unknown_image(case)
    if case.torch is None:
        return image._replace(verdict="likely")
    if image.verdict not in ("needed", "likely") and _has_ros(case):
        return _unknown(case)._replace(stopped="its image has ROS; which of the robot's programs run is unknown")
    why = "a shell or a notebook in an environment with PyTorch, whose DataLoader workers and ranks use shared memory"
    return _likely(case, why, case.torch)


def _for_own_code(case: Case) -> Need | None:
    """A dev container for code that loads with workers: it is made for this code, whatever is known of its packages."""
    if case.launch.kind != "devcontainer":
        return None
    from shmlint.workloads.own_code import loads_with_workers

    place = loads_with_workers(case.program.files)
    why = "it is for this repository's code, whose loaders have workers, which use shared memory"
    return _likely(case, why, Evidence("gives a loader workers", place)) if place is not None else None


def _in_plain_environment(case: Case) -> Need | None:
    """A shell for the repository's code, where that and all that the build of the image installs is known.

    What the container sees of the host besides is not known, unless its place says that it is no code.
    """
    program, launch = case.program, case.launch
    made = program.image is not None and not program.guessed and not program.namesake
    if not (made or _is_published(case)) or not program.files.seen():
        return None
    if _asked_for(case) or case.documented.need is not None:
        return None
    own = {entry.span for entry in program.documented}
    shown = [ran for ran in program.documented_commands if ran.kind == "program"]
    if any(ran.span not in own or ran.words[0].rpartition("/")[2] in _BY_MPI for ran in shown):
        return None
    from shmlint.workloads.environment import is_plain, sees_more
    from shmlint.workloads.native import is_quiet
    from shmlint.workloads.own_code import own_code

    repository = program.files.repository
    if sees_more(launch, program.files) or not own_code(program.files).alone or not is_quiet(repository):
        return None
    if program.image is not None and made and not is_plain(program.image, program.files):
        return None
    return Need("not-needed", why="all that its image installs, and the repository's code, is known to use none")


def _in_unknown_image(case: Case) -> Need | None:
    """A dev container whose image is not known as a whole: what is in it would settle the matter."""
    program, image = case.program, case.launch.image
    if case.launch.kind != "devcontainer" or program.guessed or program.namesake:
        return None
    from shmlint.workloads.environment import is_plain, is_plain_image
    from shmlint.workloads.native import is_quiet
    from shmlint.workloads.own_code import own_code

    own = [image.known] if image is not None and image.known and program.image is None else []
    bases = [name for name, _ in program.image.base_images] if program.image is not None else own
    strange = any(name and "$" not in name and not is_plain_image(name) for name in bases)
    installs = program.image is not None and not is_plain(program.image, program.files)
    if not (strange or installs) or case.known.need.workload is not None:
        return None
    what = "its image" if own or not strange else "its base image"
    if own_code(program.files).alone and is_quiet(program.files.repository):
        stopped = f"the repository's code uses no shared memory; what else is in {what} is unknown"
        return _unknown(case)._replace(stopped=stopped)
    return _unknown(case)._replace(stopped=f"it gives a shell, and nothing is known of what is in {what}")


def _is_published(case: Case) -> bool:
    """Whether the image is used as its makers publish it, with nothing but a system, tools, CUDA or ROS, for code.

    Without code, or where packages are to be installed by hand, it is not known what it is for.
    """
    from shmlint.workloads.environment import is_plain_image
    from shmlint.workloads.native import has_sources

    image, build = case.launch.image, case.launch.build
    if image is None or image.known is None or build is not None or case.program.image is not None:
        return False
    return is_plain_image(image.known) and not case.packages and has_sources(case.program.files.repository)


def _of_robot(case: Case) -> Need | None:
    """What ROS starts in an image in which all is known: programs of the repository, or of what is installed."""
    program = case.program
    if case.torch is not None or program.kind != "program" or program.entries or not _has_ros(case):
        return None
    started = {ran.words[0].rpartition("/")[2] for ran in program.commands if ran.kind == "program"}
    return _in_plain_environment(case) if started <= _OF_ROS else None


_OF_ROS = frozenset(
    {"gazebo", "gz", "gzserver", "ign", "ros2", "roscore", "roslaunch", "rosrun", "rqt", "rviz", "rviz2"}
)
"""Programs of ROS and its simulator, and those that start others by the names of their packages."""
_BY_MPI = frozenset({"mpirun", "mpiexec", "horovodrun"})


def _has_ros(case: Case) -> bool:
    """Whether the environment has ROS: what runs beside it mostly drives a robot and does not train."""
    images = (case.launch.image, *case.launch.base_images)
    named = any(image is not None and bare_name(image.known or "") == "ros" for image in images)
    return named or any(re.match(_ROS, name) for name in case.packages)


_ROS = r"ros-[a-z]+-"
"""Debian's packages of ROS: ``ros-humble-desktop``."""


def _for_other_use(case: Case, need: Need) -> Need:
    """A need of a shell that only its environment tells of, where a page starts it for something else than training."""
    shell = case.program.kind == "interactive" or _gives_shell(case)
    if need.verdict != "likely" or need.mechanisms or not shell or not _is_to_be_used(case):
        return need
    stopped = "the page starts it for something else than training; what else runs is unknown"
    return _unknown(case)._replace(stopped=stopped)


def _gives_shell(case: Case) -> bool:
    """Whether the image's own command gets a terminal and is not a program."""
    return case.program.default and case.launch.interactive and not _is_shown(case) and not _runs_own(case)


def _is_shown(case: Case) -> bool:
    """Whether a page shows the program that the script of a launch is given."""
    return passed_on(case.launch) is not None and any(ran.certain for ran in case.program.documented_commands)


def _runs_own(case: Case) -> bool:
    """Whether the image has a program of its own: its entry tells a shell apart."""
    workload = entry_of(case.known.need.workload)
    return workload is not None and workload.used_by([["bash"]]) is not workload


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
        return _unknown(case)._replace(stopped="its command is called after installing or preparing something")
    left_open = case.program.default and given is not None and bool(given.because)  # `docker run IMAGE "$@"`
    if need.verdict == "needed" and (left_open or read or case.program.stops) and not _says_training(case):
        return need._replace(verdict="likely")
    return need


def _prepares(case: Case) -> bool:
    """Whether all that the launch, or else its image, starts is called after installing, fetching or preparing."""
    launch = case.launch
    if launch.kind == "compose-service":
        return False  # what is prepared there is served as well
    given = [word for part in (launch.entrypoint, launch.command) if part is not None for word in part.known or ()]
    own = [words for words in simple_commands(flatten(given)) if kind_of(words) == "program"]
    ran = [list(one.words) for one in case.program.commands if one.kind == "program"]
    return bool(own or ran) and all(map(names_preparation, own or ran))


def _perhaps(case: Case) -> Need | None:
    """The ranks of one of the programs that a variable may start."""
    if not case.program.perhaps:
        return None
    need = by_knowledge(case.launch, (), case.program.perhaps).need
    return need._replace(verdict="likely") if need.mechanisms and need.verdict in ("needed", "likely") else None


def _is_for_training(case: Case) -> bool:
    """Whether a program is called training, or one that was not found is there as well."""
    return bool(case.program.stops) or any(names_training(ran.words) for ran in case.program.commands)


def _likely(case: Case, why: str, told: Evidence) -> Need:
    """A likely need; of the size that is known of the image, where somebody has read a source of it."""
    known = case.known.need
    workload = entry_of(known.workload)
    image = _environment(case) if case.known.by_command and case.program.kind == "interactive" else None
    if image is not None and image is not workload:
        size = image.recommended or UNKNOWN_RECOMMENDED
        return Need("likely", None, size, image.known, why, image.source, (told,))
    if workload is None or not workload.verified:
        return Need("likely", None, UNKNOWN_RECOMMENDED, None, why, evidence=(told,))
    size = known.recommended or UNKNOWN_RECOMMENDED
    return Need("likely", known.minimum, size, workload.known, why, known.source, (told,))


def _environment(case: Case) -> Workload | None:
    """The entry of the image in which a notebook or a shell is started: its size is that of what people run there."""
    for image in (case.launch.image, *case.launch.base_images):
        found, certain = recognise(image.known or "", builtin()) if image is not None else (None, False)
        if found is not None:
            return found if certain and found.verified else None
    return None


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
    if case.program.default and not _is_shown(case) and (built or not case.launch.base_images):
        why = "an environment with PyTorch, whose DataLoader workers and ranks use shared memory"
        return _likely(case, why, case.torch)
    why = "training with PyTorch, whose DataLoader workers and ranks use shared memory"
    if _says_training(case):
        return _likely(case, why, case.torch)
    if case.findings.trains is not None and case.findings.idle and not case.program.files.repository.full:
        return _likely(case, why, Evidence("starts training", case.findings.trains))
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
            return _likely(case, why, case.torch if ran.place is None else Evidence("runs such tests", ran.place))
    return None


_OF_RANKS = r"(?:^|[/_])(?:distributed|multi_?gpus?|nccl|ddp|fsdp)(?:$|[/_.:])"
"""Files and directories of such tests."""


def _limits(case: Case) -> Need | None:
    """A container for anything that gets two of the three settings which NVIDIA gives its training containers."""
    programs = [ran.words[0] for ran in case.program.commands if ran.kind == "program"]
    if any(not word.startswith("$") and word.rpartition("/")[2] not in SHELLS for word in programs):
        return None
    if any(ran.certain for ran in case.program.documented_commands):
        return None  # the page shows what it is for, and that is none of what was found before
    memlock, stack = (case.launch.ulimits.get(name) for name in ("memlock", "stack"))
    if memlock is None or stack is None or (soft_limit(memlock.known), soft_limit(stack.known)) != (-1, NVIDIA_STACK):
        return None
    why = "it gets the limits that NVIDIA's training containers are started with, but not their shared memory"
    evidence = (Evidence("an unlimited memlock", memlock.span), Evidence("a stack of 64 MiB", stack.span))
    return Need("likely", None, UNKNOWN_RECOMMENDED, None, why, NVIDIA_LIMITS_SOURCE, evidence)


def _section(case: Case) -> Need | None:
    """A container for anything, which a page starts under a heading about training."""
    if not case.program.default and case.program.kind != "interactive":
        return None
    from shmlint.workloads.told import heading

    told = heading(case.launch.span.path, case.launch.span.start, case.program.files.repository)
    if told is None or not names_training(told.text.lower().split()):
        return None
    return _likely(case, "the page starts it for training, which mostly uses DataLoader workers or several ranks", told)


def _variables(case: Case) -> Need | None:
    """A program that is not known, with settings of libraries that use shared memory."""
    for name, value in case.launch.environment.items():
        if name.startswith("NCCL_") and name != "NCCL_VERSION" and gpu_count(case.launch) != 1:
            why = "its variables configure NCCL, which connects the ranks of a program through shared memory"
            return _likely(case, why, Evidence(f"sets {name}", value.span))
        ranks = whole_number(value.known or "") if name in _RANKS else None
        if ranks is not None and 1 < ranks <= _MOST_RANKS and gpu_count(case.launch) != 1:
            return _likely(case, "its variables ask for several ranks", Evidence(f"{name}: {ranks} ranks", value.span))
        if name.startswith("RAY_") and not _joins_ray(case.launch):
            why = "its variables configure Ray, which keeps its object store in shared memory"
            return _likely(case, why, Evidence(f"sets {name}", value.span))
    return None


_RANKS = frozenset({"TP", "TP_SIZE", "TENSOR_PARALLEL", "TENSOR_PARALLEL_SIZE", "NUM_SHARD", "NPROC_PER_NODE"})
"""Variables that everybody calls so: the ranks that a script or a server in the image starts."""
_MOST_RANKS = 16
"""GPUs of one host; a larger number counts something else."""


def _joins_ray(launch: Launch) -> bool:
    """Whether the address of Ray in another container is set."""
    address = launch.environment.get("RAY_ADDRESS")
    return address is not None and bool(address.known)


_CLASSIFIERS = (
    _settings, _looks, _mounts, _computed, _without_workers, _commands, _models, _ray_serve, _code, _to_the_end,
    _cloned, _as_documented, _needs_none, _interactive, _image, _perhaps, _training, _tests, _section, _limits,
    _variables, _of_robot,
)  # fmt: skip


def _told(case: Case, need: Need) -> Need:
    """A need with what the repository's own people say of the same container.

    What may need it does, where they give it to the same container elsewhere; training does, where their page asks
    for it.
    """
    if need.verdict not in ("likely", "unknown"):
        return need
    open_use = case.program.default or case.program.kind == "interactive"
    from shmlint.workloads.told import told

    said = told(case.launch, case.program)
    if said is None or (need.verdict == "unknown" and not (_may_be(case, open_use) if said.page else said.bytes)):
        return need
    if said.perhaps and need.verdict == "likely":
        return need
    if said.workers and not any(mechanism.id == "dataloader" for mechanism in need.mechanisms):
        return need
    own, given = need.recommended or UNKNOWN_RECOMMENDED, rounded(said.bytes or 0)
    larger = need._replace(recommended=max(own, given), given=given > own, evidence=(*need.evidence, said.evidence))
    guessed = need is case.findings.need and any(entry.guessed for entry in case.program.entries)
    # Whether a program that is not understood uses what it is given, only a size tells: --ipc=host is often a habit.
    habit = said.bytes is None and not open_use and bool(case.findings.stops) and not need.mechanisms
    sure = need.verdict == "likely" and not guessed and not habit
    if sure and (not said.page or (open_use and _documents_training(case))):
        return larger._replace(verdict="needed")
    why = need.why if need.verdict == "likely" else "the repository says so: " + said.evidence.text
    return larger._replace(verdict="likely", why=why)


def _may_be(case: Case, open_use: bool) -> bool:
    """Whether a page may mean what a container runs: anything, or the program of an image that is not built here."""
    return open_use or (case.program.image is None and not case.program.entries and case.known.need.workload is None)


def _documents_training(case: Case) -> bool:
    """Whether the documentation or the repository's own programs train in the container."""
    commands = case.program.documented_commands
    return bool(case.documented.need and case.documented.need.mechanisms) or any(
        names_training(ran.words) for ran in commands
    )


def _unknown(case: Case) -> Need:
    need = case.known.need
    return Need("unknown", None, need.recommended, need.workload, need.why, need.source, need.evidence)


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
        return "its command is a shell or waits, and no file shows what is started in it"
    words = next((ran.words for ran in case.program.commands), ())
    if words and words[0].startswith("-"):
        return f"the image's own program, which gets `{words[0]}`, is unknown"
    return ""
