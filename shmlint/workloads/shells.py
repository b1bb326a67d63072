"""What a container needs in which anything may be run: a shell, a notebook, a dev container, a robot's programs.

What its documentation runs in it decides, then the repository's code, then what is installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from shmlint.docker.sizes import soft_limit
from shmlint.files.kinds import is_page
from shmlint.files.read import normal
from shmlint.model.finding import Evidence
from shmlint.model.need import BATCHES_RECOMMENDED, UNKNOWN_RECOMMENDED, Mechanism, Need
from shmlint.workloads.by_knowledge import DATALOADER_SOURCE, by_knowledge
from shmlint.workloads.case import Case, asked_for, is_copy, is_shown, likely, unknown
from shmlint.workloads.commands import (
    MPI_LAUNCHERS,
    SHELLS,
    is_python,
    names_training,
    read_ranks,
    runs_binary,
)
from shmlint.workloads.knowledge import base_called, builtin, entry_of, match_command, recognise
from shmlint.workloads.program import Entry, Findings, Program, Ran, gives_notebook, starts_notebook
from shmlint.workloads.repository import Repository
from shmlint.workloads.running.builds import bare_name, is_bare, is_published_here
from shmlint.workloads.running.visible import gpu_count

if TYPE_CHECKING:
    from shmlint.workloads.python.own_code import OwnCode

NVIDIA_STACK = 64 * 1024 * 1024
"""Bytes; the stack limit that NVIDIA gives training containers together with ``memlock=-1`` and ``--shm-size``."""
NVIDIA_LIMITS_SOURCE = "https://github.com/NVIDIA/physicsnemo/blob/94b355108cfd/README.md?plain=1#L425"


def shown_server(case: Case) -> Need | None:
    """A known server that a page starts in its container, for which the image's makers say that it needs more."""
    said = case.documented_commands
    if said is None or said.need.verdict not in ("needed", "likely") or not asked_for(case):
        return None
    own = {entry.span for entry in case.program.documented}  # whose code says more
    shown = (ran.words for ran in case.program.documented_commands if ran.certain and ran.span not in own)
    return said.need if any(match_command(words, builtin()) is not None for words in shown) else None


def as_documented(case: Case) -> Need | None:
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
    if _is_for_other_use(case):
        return None
    need = case.documented.need
    if _asks_for_processes(case) and said is not None:
        return (need or said.need)._replace(verdict="needed")
    trained = [
        ran for ran in case.program.documented_commands
        if names_training(ran.words) and ran.span != case.launch.span and (ran.certain or _is_near(ran, case.program))
        and not _is_alone(ran, case)
    ]  # fmt: skip
    if trained and not _fits_as_documented(case) and not _loads_alone(case) and not _lacks_code(trained, case):
        told = Evidence("trains", trained[0].span)
        several = gpu_count(case.launch) != 1
        for_this = any(ran.certain for ran in trained) or not _is_of_part(trained, case)
        if several and case.known.need.verdict == "needed" and for_this and not _is_to_be_used(case):
            return case.known.need._replace(evidence=(*case.known.need.evidence, told))
        meant = any(ran.certain for ran in trained) or not _shows_use(case)
        if several and meant and (need is None or case.torch is None) and not _is_run_here(case, need):
            why = "the repository trains in it; DataLoader workers and ranks on several GPUs use shared memory"
            return likely(case, why, told)
    if need is not None and (_has_library(need, case) or _is_named_after_code(case) or _is_run_here(case, need)):
        return need
    if said is None or said.need.verdict not in ("needed", "likely") or not (said.by_command or said.need.mechanisms):
        return None
    if case.torch is None and all(ran.span == case.launch.span for ran in case.program.documented_commands):
        return None  # the repository's own programs, and nothing says that they run in this image
    return said.need


def _is_of_part(trained: Sequence[Ran], case: Case) -> bool:
    """Whether the page of a part of the repository starts a container, and what trains is on pages of other parts."""
    from shmlint.workloads.documentation import is_of_example

    own = case.launch.span.path
    if not is_page(own) or not is_of_example(own):
        return False
    folder = os.path.dirname(normal(own))
    return not any(ran.span is not None and normal(ran.span.path).startswith(f"{folder}/") for ran in trained)


def _is_for_other_use(case: Case) -> bool:
    """Whether what pages run is not for this container: it is started to use a model, or to drive a robot."""
    if not any(ran.certain for ran in case.program.documented_commands) and _is_to_be_used(case):
        return True
    return _is_for_robot(case) and not _is_shown_to_load(case)


def _is_shown_to_load(case: Case) -> bool:
    """Whether what pages run in this very container trains, or loads or shares data with several processes."""
    program, said = case.program, case.documented_commands
    shown = [ran for ran in program.documented_commands if ran.certain]
    if not shown or said is None:
        return False
    if said.need.mechanisms or any(names_training(ran.words) for ran in shown):
        return True
    from shmlint.workloads.by_program import read

    own = [entry for entry in program.documented if entry.certain]
    return bool(own) and read(case.launch, program, own).need is not None


def _has_library(need: Need, case: Case) -> bool:
    """Whether the image has what documented programs use: PyTorch, as images for training have it, or Ray."""
    ray = bool(need.mechanisms) and all(mechanism.id == "ray" for mechanism in need.mechanisms)
    if ray and "ray" in case.packages:
        return True
    return case.torch is not None or (not ray and bool(need.mechanisms) and asked_for(case))


def by_horovod(case: Case) -> Need | None:
    """Ranks of Horovod that a page starts in the container, where it leaves open how many: ``mpirun -np <gpus>``.

    On several hosts it may be one on each.
    """
    if gpu_count(case.launch) == 1 or case.known.need.verdict == "not-needed" or _is_to_be_used(case):
        return None
    for ran in case.program.documented_commands:
        by_mpi = ran.certain and ran.words[0].rpartition("/")[2] in MPI_LAUNCHERS
        by_mpi = by_mpi and not any(re.match(r"-{1,2}(?:H$|hosts?|host-?file|machinefile)", word) for word in ran.words)
        if by_mpi and "horovod" in " ".join(ran.words).lower() and read_ranks(ran.words, launcher=True)[0] is None:
            why = "the page starts ranks of Horovod, which exchange data through shared memory"
            return likely(case, why, Evidence("starts ranks of Horovod", ran.place))
    return None


def _shows_use(case: Case) -> bool:
    """Whether the page of a launch itself runs the repository's own programs in it: it says more than other pages."""
    own = {entry.span for entry in case.program.documented if entry.span is not None}
    shown = [ran for ran in case.program.documented_commands if ran.certain]
    return any(ran.span in own and ran.span is not None and ran.span.path == case.launch.span.path for ran in shown)


def _is_read(ran: Ran, case: Case) -> bool:
    """Whether the code of a documented command was read to its end, and what pages run uses no shared memory.

    What packages do that are not known matters less where the repository's own code takes the steps of its training, or
    trains with JAX or in environments.
    """
    found, own = case.documented, [entry for entry in case.program.documented if entry.span == ran.span]
    if found.need is not None or not own:
        return False
    if not found.stops:
        return True
    return _loads_nothing(found) and any(one(own, case) for one in (_takes_steps, _uses_jax, _learns_in_environments))


def _is_alone(ran: Ran, case: Case) -> bool:
    """Whether what is called training is known to need nothing, or not known to be for PyTorch."""
    return _is_read(ran, case) or _is_spared(ran, case) or runs_binary(ran.words)


def _is_spared(ran: Ran, case: Case) -> bool:
    """Whether it is known of a command that it needs nothing in the image, or in one that is built on it."""
    workload = entry_of(case.known.need.workload)
    use = workload.used_by([ran.words]) if workload is not None and workload.needs == "no" else None
    return use is not None and use is not workload and use.needs == "no"


def _loads_nothing(found: Findings) -> bool:
    """Whether the code that was read loads nothing with workers, but for packages that are not known."""
    return (found.idle or found.without_workers) and all(stop.package for stop in found.stops)


def _takes_steps(entries: Sequence[Entry], case: Case) -> bool:
    from shmlint.workloads.python.own_code import takes_steps

    repository, read = case.program.files.repository, case.documented.steps
    return all(entry.path in read or takes_steps(entry.path, repository) for entry in entries)


def _uses_jax(entries: Sequence[Entry], case: Case) -> bool:
    from shmlint.workloads.python.own_code import uses_jax

    return case.torch is None and all(uses_jax(entry.path, case.program.files.repository) for entry in entries)


def _learns_in_environments(entries: Sequence[Entry], case: Case) -> bool:
    """Whether programs learn by reinforcement with Stable-Baselines3, which has no data set and so no loaders."""
    from shmlint.workloads.python.imported_texts import imported_texts

    repository = case.program.files.repository
    texts = (imported_texts((entry.path,), repository) for entry in entries)
    return all(any("stable_baselines3" in text and ".learn(" in text for text in each) for each in texts)


def _has_steps(entries: Sequence[Entry], case: Case) -> bool:
    from shmlint.workloads.python.own_code import has_steps

    return all(has_steps(os.path.dirname(entry.path), case.program.files.repository) for entry in entries)


def _lacks_code(trained: Sequence[Ran], case: Case) -> bool:
    """Whether nothing in the repository that trains uses a framework.

    Where one of its programs is TensorFlow's, the packages and pages around its code matter no more: its data is
    loaded by threads.
    """
    repository = case.program.files.repository
    if case.torch is not None or not _FOR_RANKS.isdisjoint(case.packages):
        return False
    found = {entry.span for entry in case.program.documented}
    if not all(ran.span in found or _is_held(ran, repository) or _is_of_another(ran) for ran in trained):
        return False
    from shmlint.workloads.python.own_code import names_framework, uses_tensorflow

    spans = {ran.span for ran in trained}
    own = [entry.path for entry in case.program.documented if entry.span in spans]
    by_threads = any(uses_tensorflow(path, repository) for path in own)
    return not names_framework(repository) or (by_threads and not names_framework(repository, code=True))


def _is_of_another(ran: Ran) -> bool:
    """Whether the path of a program names a framework that trains without workers: ``keras_retinanet/bin/train.py``."""
    return any(not _OTHER_FRAMEWORKS.isdisjoint(re.split(r"[\W_]+", word.lower())) for word in ran.words[:2])


def _is_without_files(case: Case) -> bool:
    """Whether a container is a plain image without a file of the repository, whose programs cannot run there.

    What a page runs in the container itself may fetch them.
    """
    program = case.program
    if any(ran.certain for ran in program.documented_commands):
        return False
    return program.image is None and not program.files.seen() and is_bare(case.launch)


def _is_held(ran: Ran, repository: Repository) -> bool:
    """Whether the repository has the script, or the module, that a command of a page runs."""
    scripts = [word for word in ran.words[:3] if word.endswith((".sh", ".py"))]
    modules = [word for before, word in pairwise(ran.words[:4]) if before == "-m"]
    scripts += [f"{module.replace('.', '/')}{end}" for module in modules for end in (".py", "/__main__.py")]
    folders = (os.path.dirname(ran.span.path) if ran.span is not None else "", repository.root)
    return any(repository.is_file(normal(os.path.join(folder, name))) for folder in folders for name in scripts)


def _loads_alone(case: Case) -> bool:
    """Whether all code that the container sees of the repository trains in one process and without workers.

    So it does in an image for TensorFlow or JAX, whose loaders are threads; the code says whether it uses several GPUs.
    """
    from shmlint.workloads.python.own_code import own_code

    return _loads_by_threads(case) or own_code(case.program.files).quiet


def _loads_by_threads(case: Case) -> bool:
    """Whether an image is for TensorFlow or JAX, and has no PyTorch."""
    workload = entry_of(case.known.need.workload)
    return case.torch is None and workload is not None and workload.single_gpu == "not-needed"


def _is_run_here(case: Case, need: Need | None) -> bool:
    """Whether a page runs the repository's programs in the very container that were read: its image has what they use.

    Of an image that is known it is known what it has. All that a repository's pages run is for its dev container.
    """
    images = [image.known or "" for image in (case.launch.image, *case.launch.base_images) if image is not None]
    if case.launch.kind == "devcontainer" or any(recognise(image, builtin())[0] is not None for image in images):
        return False
    return need is not None and any(entry.certain for entry in case.program.documented)


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
    if all(mechanism.id == "dataloader" and mechanism.bytes is None for mechanism in said.need.mechanisms):
        return False  # the batches may be small
    if case.known.need.verdict == "not-needed":
        return False
    built = program.dockerfile is not None and not program.namesake
    made_for_it = built or bool(program.files.folders())
    if gives_notebook(case.launch, program):
        spans = (ran.span for ran in program.documented_commands)
        made_for_it = any(span is not None and span.path.endswith(".ipynb") for span in spans)
    return made_for_it and not program.guessed and not _is_to_be_used(case)


def _is_to_be_used(case: Case) -> bool:
    """Whether a page starts the container under a heading about something else than training.

    Headings further up tell so too, where the page itself shows what is run in it, and so do those over all that it
    shows, where no other one is about training.
    """
    from shmlint.workloads.told import headings, is_to_be_used, shows_training

    path, start, repository = case.launch.span.path, case.launch.span.start, case.program.files.repository
    if is_to_be_used(path, start, repository) or _named_for_use(case):
        return True
    told = [found.text.lower() for found in headings(path, start, repository)]
    every = case.program.documented_commands
    shown = [ran for ran in every if ran.certain] or [ran for ran in every if ran.span and ran.span.path == path]
    said = case.documented_commands
    trains = any(names_training(words) for words in (*(ran.words for ran in shown), *(text.split() for text in told)))
    quiet = bool(shown) and not trains and (said is None or not said.need.mechanisms)
    if quiet and any(word in text for text in told[1:] for word in _DELIVERS):
        return True
    places = [ran.span for ran in shown if ran.span is not None and ran.span.path == path]
    if not quiet or len(places) < len(shown):
        return False
    if shows_training(path, start, repository):
        return False
    return all(is_to_be_used(path, place.start, repository) for place in places)


_DELIVERS = ("deploy", "serving", "export", "convert", "inference")


def _named_for_use(case: Case) -> str:
    """What is called after another use than training; empty where nothing is.

    That is the directory of one of several dev containers of a repository, or a script that starts a container. People
    call starting it deploying.
    """
    from shmlint.workloads.told import tells_of_use

    above, _, name = normal(case.launch.span.path).lower().rpartition("/")
    if case.launch.kind == "devcontainer":
        above, _, name = above.rpartition("/")
        return "its directory" if above.rpartition("/")[2] == ".devcontainer" and tells_of_use(name) else ""
    script = case.launch.kind == "docker-run" and name.endswith((".sh", ".bash"))
    return "its script" if script and tells_of_use(name.replace("deploy", "")) else ""


def _is_near(ran: Ran, program: Program) -> bool:
    """Whether a documented command is in a README, or runs a program of the repository."""
    readme = ran.span is not None and ran.span.path.rpartition("/")[2].lower().startswith("readme")
    return readme or any(entry.span == ran.span for entry in program.documented)


def needs_none(case: Case) -> Need | None:
    """A container for the repository's own code, which was read and needs no more than the default."""
    if not (case.program.default or case.program.kind == "interactive") or runs_own(case):
        return None
    enough = not case.program.guessed and not starts_notebook(case.program) and not asked_for(case)
    if not enough and case.torch is None:
        return None
    from shmlint.workloads.python.own_code import own_code

    # Where a page runs the repository's programs in it, the container has its code, however it gets it.
    said = own_code(case.program.files, every=any(entry.certain for entry in case.program.documented))
    known = said.known or _is_read_as_shown(case)
    if said.quiet and known and enough and _FOR_RANKS.isdisjoint(case.packages):
        why = "all code that the container sees of the repository loads its data in one process and without workers"
        return Need("not-needed", why=why)
    if said.asks and said.known and enough and _only_asks(case) and _FOR_TRAINING.isdisjoint(case.packages):
        why = "all code that the container sees of the repository uses models in one process and trains none"
        return Need("not-needed", why=why)
    if case.torch is None and not _is_built_on_training(case):
        return None
    every = _perhaps_seen(case)
    if every.quiet or every.learns:
        stopped = "the repository's code uses neither workers nor several processes; what else runs is unknown"
    elif _only_asks(case):
        stopped = "the repository's code uses models and does not train; what else runs is unknown"
    elif _fits_as_documented(case) or _is_shown_in_use(case) or _is_shown_to_train_alone(case):
        stopped = "what the documentation runs in it is not known to need more; what else runs is unknown"
    elif enough and _shows_no_sign(case):
        stopped = "the repository's code gives no loader workers and starts no processes; what else runs is unknown"
    else:
        return None
    return unknown(case)._replace(stopped=stopped)


def _perhaps_seen(case: Case) -> OwnCode:
    """What the code says that the container sees; of all code, where nothing shows what that is.

    A directory of the host may be the repository as well: then what a build copies besides is not all.
    """
    from shmlint.workloads.environment import sees_more
    from shmlint.workloads.python.own_code import all_code, own_code

    files = case.program.files
    every = own_code(files, every=True)
    if every.quiet or every.learns or not sees_more(case.launch, files):
        return every
    return all_code(files.repository)


def _is_read_as_shown(case: Case) -> bool:
    """Whether all that pages run in a container was read to its end, and they say that it runs in this one."""
    program, found = case.program, case.documented
    read = {entry.span for entry in program.documented}
    shown = program.documented_commands
    whole = bool(shown) and all(ran.certain and ran.span in read for ran in shown)
    return whole and not found.stops and found.need is None


def _shows_no_sign(case: Case) -> bool:
    """Whether all code that the container sees shows no sign of shared memory, nor trains anything else a page says."""
    program = case.program
    trained = [ran for ran in program.documented_commands if names_training(ran.words)]
    if not all(_is_held(ran, program.files.repository) for ran in trained):
        return False
    from shmlint.workloads.python.signs import shows_no_sign

    return shows_no_sign(program.files)


def _is_built_on_training(case: Case) -> bool:
    """Whether the image is built on one that may need shared memory: what it is built for may be something else."""
    return case.program.image is not None and not is_copy(case.program) and case.known.need.verdict != "not-needed"


_FOR_RANKS = frozenset({"deepspeed", "horovod"})
"""Packages with which people start several processes, also for code that does not name them."""
_FOR_TRAINING = _FOR_RANKS | frozenset(
    {
        "detectron2", "fastai", "jupyter", "jupyterlab", "lerobot", "lightning", "mmcv", "mmdet", "mmengine", "monai",
        "nemo-toolkit", "nerfstudio", "nnunetv2", "notebook", "openmim", "peft", "pytorch-lightning", "trl",
        "ultralytics",
    }
)  # fmt: skip
"""Packages that train, or are for code that the repository does not have: one who only uses a model installs none."""


def _only_asks(case: Case) -> bool:
    """Whether a container is for the repository's code, and all of it uses models in one process, none for training."""
    program = case.program
    built = program.image is not None and not program.guessed
    if not (built or program.files.seen()) or starts_notebook(program) or asked_for(case):
        return False
    if any(names_training(ran.words) for ran in program.documented_commands):
        return False
    from shmlint.workloads.python.own_code import names_trainer, own_code

    return own_code(program.files, every=True).asks and not names_trainer(program.files)


def _fits_as_documented(case: Case) -> bool:
    """Whether the programs that the documentation runs load their data in what there is, also without its options."""
    found = case.documented
    known = found.small or found.without_workers or not found.stops
    if not case.program.documented or found.need is not None or found.idle or not known:
        return False
    return _fits_without_options(case)


def _fits_without_options(case: Case) -> bool:
    """Whether the documented programs fit with their defaults, too."""
    from shmlint.workloads.by_program import read

    repository = case.program.files.repository
    plain = [
        entry if _has_no_settings_of_its_own(entry, repository) else entry._replace(arguments=())
        for entry in case.program.documented
    ]
    return read(case.launch, case.program, plain).need is None


def _has_no_settings_of_its_own(entry: Entry, repository: Repository) -> bool:
    """Whether a program is given a file with its settings, and has none where it is not."""
    source = repository.peek(entry.path)
    given = any(re.search(_SETTINGS, word) for word in entry.arguments)
    return given and source is not None and re.search(_DEFAULT_SETTINGS, source.text) is None


_SETTINGS = r"\.(?:ya?ml|json|toml)$"
_DEFAULT_SETTINGS = r"""(?:default|config\w*)["']?\s{0,9}[=:]\s{0,9}\w?["'][^"'\n]{0,200}\.(?:ya?ml|json|toml)["']"""


def _is_shown_to_train_alone(case: Case) -> bool:
    """Whether all programs that train in a container, as a page says, were read and load nothing.

    They take their steps themselves or, where they were read to their end, the code around them does, or they step
    environments. So do they without their options, and nothing asks for ranks or workers.
    """
    program, said = case.program, case.documented_commands
    trained = [ran for ran in program.documented_commands if names_training(ran.words)]
    if not trained or said is None or said.need.mechanisms or starts_notebook(program) or asked_for(case):
        return False
    own = [entry for entry in program.documented if any(entry.span == ran.span for ran in trained)]
    alone = all(_is_read(ran, case) for ran in trained) and _loads_nothing(case.documented)
    steps = _takes_steps(own, case) or _learns_in_environments(own, case)
    steps = steps or (not case.documented.stops and _has_steps(own, case))
    return alone and steps and _fits_without_options(case)


def _is_shown_in_use(case: Case) -> bool:
    """Whether all that a page runs in the container was read and loads nothing, and nothing is for training.

    Such a container is there to use a model: people make speech, pictures or forecasts with it. Packages that are not
    known may be what trains: there the programs themselves tell that they use one. A notebook is there for its own
    cells.
    """
    program, found = case.program, case.documented
    if starts_notebook(program):
        return False
    shown = [ran for ran in program.documented_commands if ran.certain]
    read = {entry.span for entry in program.documented}
    if _runs_built(case):
        return True
    if not shown or not all(ran.span in read for ran in shown) or not found.idle:
        return False
    commands = [*(ran.words for ran in program.documented_commands), *((ran.span.path,) for ran in shown if ran.span)]
    if not all(stop.package for stop in found.stops) or any(map(names_training, commands)):
        return False
    from shmlint.workloads.python.own_code import names_trainer, uses_model

    repository = program.files.repository
    if found.stops and not all(uses_model(entry.path, repository) for entry in program.documented):
        return False
    # That a script is called after tuning says less than what it was read to start.
    scripts = {ran.span.path for ran in shown if ran.span is not None}
    return not names_trainer(program.files, scripts)


def _runs_built(case: Case) -> bool:
    """Whether all that pages run in the container are programs that were built there, none of them for training."""
    shown = case.program.documented_commands
    built = bool(shown) and not case.program.documented and all(ran.certain and runs_binary(ran.words) for ran in shown)
    return built and not any(names_training(ran.words) for ran in shown)


def interactive(case: Case) -> Need | None:
    """A shell or a notebook, in which anything may be run."""
    image = case.known.need
    if case.program.kind != "interactive" and not _gives_shell(case) and not _leaves_in_shell(case):
        return None
    if case.known.by_command and image.verdict == "unknown" and case.torch is None:
        image = _without_command(case)  # a notebook in it is a shell as well
    if image.verdict == "not-needed" and not case.torch:
        return image
    if case.torch is None and image.verdict not in ("needed", "likely"):
        own = _for_own_code(case) or _for_ray(case)
        return own or _in_plain_environment(case) or _in_unknown_image(case)
    if case.torch is None:
        return image._replace(verdict="likely")
    if _is_for_robot(case):
        return unknown(case)._replace(stopped="its image has ROS; which of the robot's programs run is unknown")
    why = "a shell or a notebook in an environment with PyTorch, whose DataLoader workers and ranks use shared memory"
    need = likely(case, why, case.torch)
    entry, size = entry_of(need.workload), max(need.recommended or 0, BATCHES_RECOMMENDED)
    if entry is not None and not all(base_called(name).plain for name in _images(case)):
        return need
    return need._replace(recommended=size, workload=None, source="")  # as in PyTorch's own image, on the same base


def _images(case: Case) -> list[str]:
    """The image of a launch and those that it is built on, by their names."""
    images = (case.launch.image if not case.launch.base_images else None, *case.launch.base_images)
    return [image.known or "" for image in images if image is not None]


def _without_command(case: Case) -> Need:
    """What is known of an image by itself, where that is known for sure; else what is known of the launch."""
    found = by_knowledge(case.launch._replace(command=None, entrypoint=None), (), (), copy=is_copy(case.program)).need
    return found if found.verdict == "not-needed" else case.known.need


def _for_own_code(case: Case) -> Need | None:
    """A container for code that loads with workers: it is made for this code, whatever is known of its packages.

    A dev container, or a shell in an image of which nothing is known that has the repository's own directory.
    """
    from shmlint.workloads.python.own_code import loads_with_workers

    files = case.program.files
    own = files.seen() if _has_the_repository(case) else ()
    place = loads_with_workers(files, files.folders() if case.launch.kind == "devcontainer" else own)
    if place is None:
        return None
    why = "the repository's code gives its loaders workers"
    told = (Evidence("gives a loader workers", place),)
    mechanism = Mechanism("dataloader", None, "estimated", why, told, DATALOADER_SOURCE)
    return Need("likely", None, UNKNOWN_RECOMMENDED, None, "", DATALOADER_SOURCE, told, (mechanism,))


def _has_the_repository(case: Case) -> bool:
    """Whether a shell has the repository as a whole, and no build and no page tells what it is for."""
    files, program = case.program.files, case.program
    if program.image is not None or _is_to_be_used(case) or _is_for_robot(case):
        return False
    if program.documented and not case.documented.stops:
        return False  # these were read to their end, and are what it is for
    return normal(files.repository.root) in map(normal, files.seen())


def _for_ray(case: Case) -> Need | None:
    """A shell in an environment with Ray, for code of the repository that starts it."""
    if "ray" not in case.packages:
        return None
    from shmlint.workloads.packages.libraries import RAY_SOURCE
    from shmlint.workloads.python.own_code import starts_ray

    place = starts_ray(case.program.files)
    if place is None:
        return None
    told = (Evidence("starts Ray", place, RAY_SOURCE), case.packages["ray"])
    why = "a shell for code that starts Ray, which keeps its object store in shared memory"
    mechanism = Mechanism("ray", None, "estimated", why, told, RAY_SOURCE)
    return Need("likely", None, UNKNOWN_RECOMMENDED, None, "", RAY_SOURCE, told, (mechanism,))


def _in_plain_environment(case: Case) -> Need | None:
    """A shell for the repository's code, where that and all that the build of the image installs is known.

    What the container sees of the host besides is not known, unless its place says that it is no code.
    """
    program, launch = case.program, case.launch
    made = program.image is not None and not program.namesake and (not program.guessed or _is_of_repository(case))
    made = made and not _adds_nothing(program)
    seen = bool(program.files.seen())
    if not (made or _is_published(case)) or not (seen or _has_ros(case)):
        return None  # without code nothing tells what it is for, but for a robot's image
    if asked_for(case) or case.documented.need is not None:
        return None
    own = {entry.span for entry in program.documented}
    shown = [ran for ran in program.documented_commands if ran.kind == "program"]
    if any(ran.span not in own or ran.words[0].rpartition("/")[2] in MPI_LAUNCHERS for ran in shown):
        return None
    from shmlint.workloads.documentation import fetches_inside
    from shmlint.workloads.environment import is_plain, sees_more
    from shmlint.workloads.python.own_code import own_code
    from shmlint.workloads.running.native import is_quiet

    repository = program.files.repository
    if sees_more(launch, program.files) or not is_quiet(repository):
        return None
    if not own_code(program.files, every=not seen).alone or (not seen and fetches_inside(launch, repository)):
        return None
    if program.image is not None and not is_plain(program.image, program.files):
        return None
    return Need("not-needed", why="all that its image installs, and the repository's code, is known to use none")


def _in_unknown_image(case: Case) -> Need | None:
    """A dev container whose image is not known as a whole: what is in it would settle the matter."""
    program, image = case.program, case.launch.image
    if case.launch.kind != "devcontainer" or program.guessed or program.namesake:
        return None
    from shmlint.workloads.environment import is_plain
    from shmlint.workloads.python.own_code import own_code
    from shmlint.workloads.running.native import is_quiet

    own = [image.known] if image is not None and image.known and program.image is None else []
    bases = [name for name, _ in program.image.base_images] if program.image is not None else own
    strange = any(name and "$" not in name and not base_called(name).plain for name in bases)
    installs = program.image is not None and not is_plain(program.image, program.files)
    if not (strange or installs) or case.known.need.workload is not None:
        return None
    what = "its image" if own or not strange else "its base image"
    if own_code(program.files).alone and is_quiet(program.files.repository):
        stopped = f"the repository's code uses no shared memory; what else is in {what} is unknown"
        return unknown(case)._replace(stopped=stopped)
    return unknown(case)._replace(stopped=f"it gives a shell, and nothing is known of what is in {what}")


def _is_of_repository(case: Case) -> bool:
    """Whether the image is what the repository publishes under its own name, which its only Dockerfile builds."""
    program = case.program
    if program.dockerfile is None:
        return False
    return is_published_here(case.launch, program.dockerfile.path, program.files.repository)


def _is_published(case: Case) -> bool:
    """Whether the image is used as its makers publish it, with nothing but a system, tools, CUDA or ROS, for code.

    Without code, or where packages are to be installed by hand, it is not known what it is for.
    """
    from shmlint.workloads.running.native import has_sources

    program, image = case.program, case.launch.image
    if _adds_nothing(program) and not program.namesake and not program.guessed:
        names = [name for name, _ in program.image.base_images] if program.image is not None else []
    elif image is None or image.known is None or case.launch.build is not None or program.image is not None:
        return False
    else:
        names = [image.known]
    plain = all(base_called(name).plain for name in names)
    return plain and not case.packages and (_has_ros(case) or has_sources(program.files.repository))


def _adds_nothing(program: Program) -> bool:
    """Whether a build puts nothing into its image: that is then its base image under another name."""
    image = program.image
    return image is not None and not image.runs and not image.copies


def of_robot(case: Case) -> Need | None:
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


def _has_ros(case: Case) -> bool:
    """Whether the environment has ROS: what runs beside it mostly drives a robot and does not train."""
    images = (case.launch.image, *case.launch.base_images)
    named = any(image is not None and bare_name(image.known or "") == "ros" for image in images)
    return named or any(re.match(_ROS, name) for name in case.packages)


def _is_for_robot(case: Case) -> bool:
    """Whether the environment has ROS, and nothing says of its image that it is for training."""
    return case.known.need.verdict not in ("needed", "likely") and _has_ros(case)


_ROS = r"ros-[a-z]+-"
"""Debian's packages of ROS: ``ros-humble-desktop``."""


def for_other_use(case: Case, need: Need) -> Need:
    """A need of a shell that only its environment tells of, where a page starts it for something else than training."""
    shell = case.program.kind == "interactive" or _gives_shell(case)
    said = case.documented_commands
    if said is not None and need is said.need and (said.by_command or shown_server(case)):
        return need  # a server that the page starts tells of it
    if need.verdict != "likely" or need.mechanisms or not shell or not _is_to_be_used(case):
        return need
    named = _named_for_use(case)
    who = f"{named} is called after" if named else "the page starts it for"
    stopped = f"{who} something else than training; what else runs is unknown"
    return unknown(case)._replace(stopped=stopped)


def _gives_shell(case: Case) -> bool:
    """Whether the image's own command gets a terminal and is not a program."""
    return case.program.default and case.launch.interactive and not is_shown(case) and not runs_own(case)


def _leaves_in_shell(case: Case) -> bool:
    """Whether a command gives a shell after all else, or a service waits for one: ``bash -c "./setup.sh; exec bash"``.

    A service may start programs of Python in the background before it waits.
    """
    commands = case.program.commands
    last = commands[-1] if commands else None
    if last is None or last.kind != "interactive" or not last.certain:
        return False
    waits = case.launch.kind == "compose-service" and not case.program.entries
    return case.launch.interactive or (waits and not any(is_python(ran.words[0]) for ran in commands))


def runs_own(case: Case) -> bool:
    """Whether the image has a program of its own: its entry tells a shell apart."""
    workload = entry_of(case.known.need.workload)
    return workload is not None and workload.used_by([["bash"]]) is not workload


def section(case: Case) -> Need | None:
    """A container for anything, which a page starts under a heading about training."""
    if not case.program.default and case.program.kind != "interactive":
        return None
    from shmlint.workloads.told import heading

    told = heading(case.launch.span.path, case.launch.span.start, case.program.files.repository)
    if told is None or not names_training(told.text.lower().split()) or _names_another_framework(case, told):
        return None
    return likely(case, "the page starts it for training, which mostly uses DataLoader workers or several ranks", told)


def _names_another_framework(case: Case, told: Evidence | None = None) -> bool:
    """Whether the image or a heading names a framework that trains without workers in shared memory."""
    image = case.launch.image.text if case.launch.image is not None else ""
    words = re.split(r"[\W_]+", f"{image} {told.text if told is not None else ''}".lower())
    return not _OTHER_FRAMEWORKS.isdisjoint(words) and not {"torch", "pytorch"} & {*words}


_OTHER_FRAMEWORKS = frozenset({"caffe", "darknet", "keras", "lightgbm", "tensorflow", "tf", "tf2", "xgboost"})
"""They load data in one process, by threads."""


def limits(case: Case) -> Need | None:
    """A container for anything that gets two of the three settings which NVIDIA gives its training containers."""
    programs = [ran.words[0] for ran in case.program.commands if ran.kind == "program"]
    if any(not word.startswith("$") and word.rpartition("/")[2] not in SHELLS for word in programs):
        return None
    if any(ran.certain for ran in case.program.documented_commands):
        return None  # the page shows what it is for, and that is none of what was found before
    if case.program.entries and case.findings.need is None and not case.findings.stops:
        return None  # so does the code of its program, which was read
    memlock, stack = (case.launch.ulimits.get(name) for name in ("memlock", "stack"))
    if memlock is None or stack is None or (soft_limit(memlock.known), soft_limit(stack.known)) != (-1, NVIDIA_STACK):
        return None
    if _is_quiet(case) or _names_another_framework(case):
        return None  # people copy the limits; the code and the image's name say more of what is run
    why = "it gets the limits that NVIDIA's training containers are started with, but not their shared memory"
    evidence = (Evidence("an unlimited memlock", memlock.span), Evidence("a stack of 64 MiB", stack.span))
    return Need("likely", None, UNKNOWN_RECOMMENDED, None, why, NVIDIA_LIMITS_SOURCE, evidence)


def _is_quiet(case: Case) -> bool:
    """Whether all code of the repository trains, or uses models, in one process and without workers."""
    from shmlint.workloads.python.own_code import own_code

    said = own_code(case.program.files, every=True)
    return said.quiet or said.asks
