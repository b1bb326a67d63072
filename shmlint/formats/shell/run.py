"""A ``docker run`` command, read into a Launch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from shmlint.docker.alternatives import opened
from shmlint.docker.engines import OF_RUN, DockerCommand, engines_of, find_docker, is_wrapped
from shmlint.docker.images import is_reference
from shmlint.docker.run_options import RunCommand, can_be_reference, is_one_word, is_program, read_run
from shmlint.docker.run_values import (
    argument_of,
    binds_of,
    bytes_of,
    environment_of,
    ipc_of,
    mounts_of,
    place_of,
    size_of,
    text_of,
)
from shmlint.formats.shell.gpus import read_gpu
from shmlint.formats.shell.rewrite import RunRewriter
from shmlint.model.launch import BINARIES, GpuRequest, Kind, Launch, Misplaced, Rewriter, Unknown, Value, Words
from shmlint.model.reading import NotRead
from shmlint.model.source import Span
from shmlint.syntax.word import Cause, Word

if TYPE_CHECKING:
    from shmlint.syntax.shell import Command


def read_launch(command: Command) -> Launch | None:
    """The launch a command makes; None where it starts no container."""
    docker = find_docker(command.words)
    launch = _launch_by(command, docker) if docker is not None else None
    if launch is not None and (command.handed or is_wrapped(command.words)):  # it may be printed instead
        launch = launch._replace(gpu=launch.gpu._replace(in_branches=True))
    if docker is None or launch is None or launch.undecided is not None:
        return launch
    for engine in engines_of(command.words[docker.binary]):
        other = _launch_by(command, docker._replace(engine=engine)) if engine != "nvidia-docker" else launch
        if other is None or other.effective_shm() != launch.effective_shm():
            because = f"the engine is {docker.engine} or {engine}, which do not read its options alike"
            return launch._replace(undecided=Unknown("variable", because))
    return launch


def _launch_by(command: Command, docker: DockerCommand) -> Launch | None:
    words = _with_read(command.words, docker.start)
    run = _with_refused(read_run(words, docker.engine, docker.verb), command.words, docker)
    if run.image is None and not run.unknown:
        return None
    no_image = run.image if run.image is not None and not _can_be_image(run.image, docker.engine) else None
    no_image = no_image or _lone_dollar(words, run.image)
    if no_image is not None:
        run = run._replace(image=None, command=())
    named_by = command.words[docker.binary]
    if named_by.span is None and named_by.used is None:  # a text that is in no one place
        named_by = named_by._replace(used=command.span)
    binary = named_by.span
    inside = binary is not None and within(binary, command.span)
    span = binary if binary is not None and inside else command.span
    name = run.name()
    anchor = command.words[docker.start - 1]
    launch = launch_of(
        run,
        kind="docker-run",
        span=span,
        label=f"`{docker.engine} {docker.verb}`",
        rewriter=RunRewriter(run, anchor, command.span, words),
        gpu=read_gpu(run, docker, named_by),
    )
    launch = _with_given(launch, run, command.given)
    launch = named(launch, name.value if name is not None and not name.unknown else None)
    if no_image is not None and not run.unknown:
        because = "the word where its image belongs is not an image name"
        launch = launch._replace(undecided=Unknown("arguments", because, " ".join(no_image.text.split())[:80]))
    return with_misspelt(launch, run)


def _with_refused(run: RunCommand, words: Sequence[Word], docker: DockerCommand) -> RunCommand:
    """A command that is not known where options of ``run`` stand before it: Docker refuses them there."""
    before = words[docker.binary + 1 : docker.start - 1] if docker.engine == "docker" else ()
    refused = next((word for word in before if word.text.partition("=")[0] in OF_RUN), None)
    if refused is None or run.unknown is not None:
        return run
    because = f"it is an unknown flag before `{docker.verb}`"
    return run._replace(unknown=Unknown("option", because, refused.text), unknown_option=refused)


def _lone_dollar(words: Sequence[Word], image: Word | None) -> Word | None:
    """The `$` of a placeholder of several words among the options, one of which is taken for the image.

    A page says so: ``-v $ path to the data:/data``.
    """
    for word, after in pairwise(words):
        if word is image:
            break
        one, other = word.span, after.span
        if one is None or other is None or one.source is not other.source or one.end >= other.start:
            continue
        between = one.source.text[one.end : other.start]
        if "$" in between and re.fullmatch(r"\s+\$\s+", between) is not None:  # the grammar leaves it out
            return after
    return None


def _with_given(launch: Launch, run: RunCommand, given: Word | None) -> Launch:
    """A launch whose command runs the here-document that it is given; its text stays what is written."""
    if given is None or launch.command is None or launch.command.known is None or not run.flag("--interactive"):
        return launch
    from shmlint.syntax.shell_input import with_input

    texts = tuple(word.text for word in with_input(run.command, given))
    because = launch.command.because or given.because
    return launch._replace(command=launch.command._replace(value=texts, because=because))


def _with_read(words: Sequence[Word], start: int) -> Sequence[Word]:
    """The words after ``docker run``; ``xargs -I{}`` and ``parallel`` put into them what they read."""
    named = [word.text.rpartition("/")[2] for word in words[:start]]
    if "xargs" in named:
        before = words[named.index("xargs") : start]
        signs = [after.text for word, after in pairwise(before) if word.text in ("-I", "--replace")]
        signs += [word.text[2:] or "{}" for word in before if re.match(r"-i|-I.", word.text)]
    else:
        signs = ["{}"] if "parallel" in named else []
    sign = next(iter(signs), "")
    return [
        _read_word(word, sign, after) if sign and sign in word.text else word
        for word, after in zip_longest(words[start:], words[start + 1 :])
    ]


def _read_word(word: Word, sign: str, after: Word | None) -> Word:
    """A word that holds what is read: where it is all of it, options, or the image in front of a program."""
    read = word._replace(unknown=Cause("output"), maybe_many=True)
    if word.text != sign:
        return read
    is_image = after is None or (not (after.unknown or after.text.startswith("-")) and is_program(after.text))
    return read._replace(text="{}", options=not is_image)


def with_misspelt(launch: Launch, run: RunCommand) -> Launch:
    """A launch with the sizes that the client refuses for how their option is written."""
    deciding = filter(None, (run.shm_size(), run.ipc()))
    if run.unknown_option is None and not any(map(is_one_word, deciding)):
        return launch
    from shmlint.formats.shell.misplaced import misspelt

    return launch._replace(misplaced=(*launch.misplaced, *misspelt(run)))


def named(launch: Launch, name: str | None) -> Launch:
    """A launch of this name."""
    return launch._replace(name=name, names=(name,) if name else ())


_NO_IMAGES = frozenset({*BINARIES, "sudo", "all"})
"""Words that a second command begins with, where the image is missing, and a value that an option has lost."""
_NUMBER = r"(?i)\d+(?:[kmgt]i?b?|b)?"
"""So does a number or a size."""


_TRANSPORT = "docker://"
"""What Podman takes in front of an image that comes from a registry (podman-run(1), "IMAGE")."""


def _can_be_image(word: Word, engine: str) -> bool:
    """False for what the client refuses as a name: an option, a path, a quotation mark that spans lines."""
    text = word.text.removeprefix(_TRANSPORT) if engine == "podman" else word.text
    if word.unknown:
        return can_be_reference(text)
    if text in _NO_IMAGES or re.fullmatch(_NUMBER, text) is not None:
        return False
    return is_reference(text.lower())  # capitals: IMAGE stands for a name


def within(inner: Span, outer: Span) -> bool:
    """Whether one place is in another."""
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end


def launch_of(
    run: RunCommand, *, kind: Kind, span: Span, label: str, rewriter: Rewriter, gpu: GpuRequest
) -> Launch:
    """A launch out of the options of a run command, whatever they were written in."""
    image = None
    if run.image is not None:
        text = run.image.text.removeprefix(_TRANSPORT)
        if "\n" in text:  # what gives it takes several lines
            text = f"{' '.join(text.split())[:60]}…"
        image = Value(text, run.image.span or span, text, run.image.because)
    command = None
    if run.command:
        texts = tuple(word.text for word in run.command)
        because = next((word.because for word in run.command if word.unknown), "")
        first, last = run.command[0].span, run.command[-1].span
        place = span
        if first is not None and last is not None and first.source is last.source and last.end > first.start:
            place = Span(first.source, first.start, last.end)
        command = Value(texts, place, " ".join(texts), because)
    entrypoint, mounted = run.entrypoint(), run.mounts()
    return Launch(
        kind=kind,
        name=None,
        span=span,
        home=span,
        words=Words(label, "--shm-size", image=image.text if image is not None else ""),
        rewriter=rewriter,
        files=(span.path,),
        image=image,
        entrypoint=argument_of(entrypoint, span),
        command=command,
        gpu=gpu,
        shm=size_of(run, span),
        ipc=ipc_of(run, span),
        mounts=tuple(mounts_of(mounted, span)),
        binds=tuple(binds_of(mounted, span)),
        volumes_from=tuple(filter(None, (text_of(option, span) for option in run.volumes_from()))),
        workdir=text_of(run.last("--workdir"), span),
        interactive=bool(run.flag("--interactive") or run.flag("--tty")),
        memory_limit=bytes_of(run.memory(), span),
        environment=environment_of(run, span),
        env_files=bool(run.env_files()),
        ulimits={
            name: Value(
                (option.value or "").partition("=")[2], option.word.span or span, option.value or "", option.because
            )
            for name, option in run.ulimits().items()
        },
        cap_add=tuple(option.value or "" for option in run.cap_add()),
        privileged=run.privileged(),
        devices=tuple(
            Value((option.value or "").partition(":")[0], place_of(option, span), option.value or "", option.because)
            for option in run.devices()
        ),
        network=text_of(run.network(), span),
        engine="docker" if run.engine == "nvidia-docker" else run.engine,
        misplaced=_misplaced(run),
        other_options=tuple((option.name, option.value) for option in run.options if option.name not in _TOLD),
        undecided=_undecided(run),
    )


_TOLD = frozenset(
    {"--device", "--env", "--gpus", "--ipc", "--memory", "--mount", "--runtime", "--shm-size", "--tmpfs", "--ulimit"}
)
"""Options of which a launch says what they come to, whatever they are written like."""


def _undecided(run: RunCommand) -> Unknown | None:
    if run.unknown is None:
        return None
    behind = "what follows is not read" if run.unknown.kind == "option" else "it may hold --shm-size"
    return run.unknown._replace(because=f"{run.unknown.because}; {behind}")


def _misplaced(run: RunCommand) -> tuple[Misplaced, ...]:
    """A ``--shm-size`` after the image; the most commands have none and do not pay for the search."""
    if not run.command or not any(word.text.startswith("--shm-size") for word in run.command):
        return ()
    from shmlint.formats.shell.misplaced import behind_image

    return tuple(behind_image(run))


def with_texts(launch: Launch, written: Callable[[str], str]) -> Launch:
    """A launch whose values are those of the file; ``written`` puts these in the place of what they were read as.

    Its reasons name what is in the file from the start: a text says of each variable what that stands for.
    """

    def named(unknown: Unknown | None) -> Unknown | None:
        return None if unknown is None else unknown._replace(name=written(unknown.name))

    image, command, gpu = launch.image, launch.command, launch.gpu
    if image is not None:
        known = image.known
        image = image._replace(value=image.value if known is None else written(known), text=written(image.text))
    if command is not None:
        words = tuple(map(written, command.known or ()))
        command = command._replace(value=words, text=written(command.text))
    told = tuple(evidence._replace(text=written(evidence.text)) for evidence in gpu.evidence)
    return launch._replace(
        image=image,
        command=command,
        shm=launch.shm._replace(text=written(launch.shm.text)) if launch.shm is not None else None,
        ipc=launch.ipc._replace(text=written(launch.ipc.text)) if launch.ipc is not None else None,
        words=launch.words._replace(image=written(launch.words.image)),
        undecided=named(launch.undecided),
        gpu=gpu._replace(unknown=named(gpu.unknown), evidence=told),
    )


def with_reasons(places: Iterable[NotRead], written: Callable[[str], str]) -> tuple[NotRead, ...]:
    """Places that are not read, with reasons that say what the file says, as ``with_texts`` does."""
    return tuple(place._replace(because=written(place.because)) for place in places)


def launches(found: Sequence[Command]) -> list[Launch]:
    """The launches among commands, in the order of the text, those that join another's IPC namespace tied to it."""
    commands = (command._replace(words=tuple(opened(command.words))) for command in found)
    return tied([launch for launch in map(read_launch, commands) if launch is not None])


def tied(found: list[Launch]) -> list[Launch]:
    """Launches with their donors: ``--ipc container:NAME`` joins the one ``--name NAME`` of the same file.

    Podman's are left alone, for there a container shares its namespace without being told to.
    """
    joining = [launch for launch in found if _joins(launch) and launch.donor is None]
    if not joining:
        return found
    named: dict[tuple[str, str], list[Launch]] = {}
    for launch in found:
        if launch.name and launch.kind == "docker-run" and not launch.podman:
            named.setdefault((launch.span.path, launch.name), []).append(launch)
    donors = {}
    for launch in joining:
        mode = launch.ipc.known if launch.ipc is not None else None
        same = named.get((launch.span.path, (mode or "").partition(":")[2]), ())
        if len(same) == 1 and same[0] is not launch and not launch.podman:
            donors[id(launch)] = same[0]._replace(donor=None)
    return [launch._replace(donor=donors.get(id(launch), launch.donor)) for launch in found]


def _joins(launch: Launch) -> bool:
    if launch.ipc is None or launch.ipc.because:
        return False
    return launch.kind == "docker-run" and (launch.ipc.known or "").startswith("container:")
