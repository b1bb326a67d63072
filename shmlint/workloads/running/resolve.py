"""What a launch will run: its entrypoint and command, or those of its image, followed through the repository."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from shmlint.model.launch import Build, Launch, Value
from shmlint.model.need import Step
from shmlint.model.source import Source, Span
from shmlint.workloads.commands import TESTERS, is_python, names_training
from shmlint.workloads.filesystem import Files
from shmlint.workloads.launchers import python_words
from shmlint.workloads.program import Program, Ran
from shmlint.workloads.repository import Repository
from shmlint.workloads.running.builds import FoundBuild, find_build, on_own_base, read_build, with_supposed_base
from shmlint.workloads.running.follow import Follower
from shmlint.workloads.running.written import written_by

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage


def resolve(launch: Launch, repository: Repository, builds: Sequence[Build] = ()) -> Program:
    """Follow what a launch runs."""
    found = FoundBuild(launch.build) if launch.build is not None else find_build(launch, builds, repository)
    build, guessed = found.build, found.guessed
    image, dockerfile = read_build(build, repository) if build is not None else (None, None)
    if image is not None and build is not None and dockerfile is not None:
        supposed = with_supposed_base(image, build, dockerfile)
        image, guessed = supposed or image, guessed or supposed is not None
    image = on_own_base(image, launch, builds, repository) if image is not None else None
    files = Files(launch, image, build, repository, _environment(launch, image, dockerfile))
    _write(files, image, dockerfile)
    parts = (launch.entrypoint, launch.command)
    complete = all(part is None or (part.known is not None and "$" not in part.text) for part in parts)
    unsure = guessed or (image is not None and bool(image.due))
    follower = Follower(files, files.environment, image, complete=complete, guessed=unsure)
    if build is not None and dockerfile is not None and launch.build is None:
        follower.trail.append(Step(f"image built from {dockerfile.path}{' (guessed)' if guessed else ''}", build.span))
    if launch.kind == "docker-run" and launch.span.path.endswith((".sh", ".bash")):
        follower.look_up_in(launch.span.source)
    words, span = _words(launch, image)
    if words and all(_is_passed_on(word, launch) for word in words):
        words = ()  # what somebody passes to the script
    if launch.kind == "devcontainer":
        follower.commands.append(Ran(("bash",), launch.span, "interactive"))
    elif words:
        if image is not None and launch.build is None and dockerfile is not None:
            span = span or _line(dockerfile, image.lines.get("CMD") or image.lines.get("ENTRYPOINT"))
        files.settle(words)
        follower.run(words, span, files.workdir, certain=True, guessed=False, depth=0)
    if image is not None and image.due:
        follower.stop(f"what `ONBUILD {image.due[0]}` of its base image changes is not read", build and build.span)
    for entry in follower.entries:
        if entry.path in files.unsure:
            follower.stop(f"which of several files `{entry.path.rpartition('/')[2]}` is, is not known", entry.span)
    if launch.volumes_from and follower.trail:
        other = launch.volumes_from[0]
        follower.stop(f"the volumes of `{other.text}` may hide its files", other.span)
    default = launch.kind != "devcontainer" and (not words or (passed_on(launch) is not None and not follower.commands))
    if (default and launch.interactive) or _only_waits(follower.commands):
        default = not _entered(launch, follower) and default
    return Program(
        tuple(follower.commands), tuple(follower.entries), tuple(follower.trail), tuple(follower.stops),
        follower.environment, _assigned(follower, parts), files, image, dockerfile, default, found.namesake, guessed,
        by_name=found.by_name, perhaps=tuple(ran for ran in follower.perhaps if ran.kind == "program"),
        built=tuple(follower.built),
    )  # fmt: skip


def _assigned(follower: Follower, parts: Sequence[Value[tuple[str, ...]] | None]) -> dict[str, Value[str]]:
    """The variables that commands are given; private where an env file gives a part of the launch's command."""
    private = any(part is not None and part.private for part in parts)
    return {name: value._replace(private=value.private or private) for name, value in follower.assigned.items()}


def _write(files: Files, image: BuiltImage | None, dockerfile: Source | None) -> None:
    """Note the files that the steps of a build write."""
    if image is None or dockerfile is None:
        return
    for one in written_by(image, dockerfile):
        source = Source(dockerfile.path, "\n" * (one.line - 1) + one.text)
        files.write(one.path, "/", source, one.line, certain=True)


def _only_waits(commands: Sequence[Ran]) -> bool:
    """Whether a container only gives a shell, or waits."""
    return any(ran.kind == "interactive" for ran in commands) and all(ran.kind != "program" for ran in commands)


def _entered(launch: Launch, follower: Follower) -> bool:
    """Follow what the script runs in a container that only waits for it; False where other things may run there."""
    from shmlint.workloads.running.entered import follow_inside, inside, is_all, is_of_pipeline

    found = inside(launch, follower.files.repository)
    if not found or not is_all(found, launch, follower.files.repository):
        return False
    look = Follower(follower.files, dict(follower.environment), follower.image, guessed=follower.guessed)
    follow_inside(found, look)
    every = is_of_pipeline(launch, follower.files.repository)
    works = any(ran.kind == "program" and (every or _is_work(ran.words)) for ran in look.commands)
    if not works or any(ran.kind == "interactive" for ran in look.commands):
        return False
    follower.commands[:] = [ran for ran in follower.commands if ran.kind != "interactive"]  # it only waits for them
    follow_inside(found, follower)
    return True


def _is_work(words: Sequence[str]) -> bool:
    """Whether a command is what a container is started for; other scripts may only prepare it."""
    python = is_python(words[0].rpartition("/")[2]) or python_words(tuple(words)) is not None
    return python or words[0] in TESTERS or names_training(words)


def passed_on(launch: Launch) -> str | None:
    """The word with which a launch passes on what its script is given."""
    words = launch.command.known if launch.command is not None else None
    return next((word for word in words or () if _is_passed_on(word, launch)), None)


def _is_passed_on(word: str, launch: Launch) -> bool:
    """Whether a word is what a script is given, or a variable that the script sets to that: ``CMD=("$@")``."""
    if "$" not in word:
        return word == "..."
    if re.fullmatch(_GIVEN, word) is not None:
        return True
    held = re.fullmatch(r"\$\{?([A-Za-z_]\w*)(?:\[[@*]\])?\}?", word)
    return held is not None and held[1] in _set_to_given(launch.span.source.text)


@lru_cache(8)  # the launches of a file ask one after the other
def _set_to_given(text: str) -> frozenset[str]:
    """The variables that a script sets to what it is given."""
    return frozenset(re.findall(_SET_TO_GIVEN, text))


_GIVEN = r"\$[@*]|\$\{[@*](?::\d)?\}"
_SET_TO_GIVEN = (
    rf"(?m)^[ \t]*(?:(?:then|else|local|export|readonly|declare -a)[ \t]+)?([A-Za-z_]\w*)=\(?\"?(?:{_GIVEN})"
)


def _words(launch: Launch, image: BuiltImage | None) -> tuple[tuple[str, ...], Span | None]:
    """Entrypoint and command: what the launch says, else what its image says."""
    entrypoint = launch.entrypoint.known if launch.entrypoint is not None else None
    command = launch.command.known if launch.command is not None else None
    part = launch.command or launch.entrypoint
    if image is not None and launch.entrypoint is None:
        entrypoint = image.entrypoint
        passed = command is not None and all(_is_passed_on(word, launch) for word in command)
        command = image.command if launch.command is None or passed else command
    return (*(entrypoint or ()), *(command or ())), part.span if part is not None else None


def _environment(launch: Launch, image: BuiltImage | None, dockerfile: Source | None) -> dict[str, Value[str]]:
    found: dict[str, Value[str]] = {}
    if image is not None and dockerfile is not None:
        for name, text in image.environment.items():
            span = _line(dockerfile, image.lines.get(name))
            if span is not None and "$" not in text:
                found[name] = Value(text, span, text)
    return {**found, **launch.environment}


def _line(source: Source, line: int | None) -> Span | None:
    return Span(source, *source.line_span(line)) if line else None
