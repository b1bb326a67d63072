"""Shell scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from shmlint.docker.alternatives import opened, starts_in_some_cases
from shmlint.docker.engines import find_docker, skip_to_engine
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.expressions import OF_CI, with_expressions, with_variables, written_in
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.callers import given_by_callers
from shmlint.formats.shell.gpus import for_shell
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.run import read_launch, tied, with_reasons, within
from shmlint.formats.shell.sourced import with_sourced
from shmlint.formats.template import unnamed
from shmlint.model.launch import BINARIES, ENGINES, Launch
from shmlint.model.reading import NotRead, Reading, joined
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Source, Span
from shmlint.syntax.shell import Command, engine_commands
from shmlint.syntax.shell_repair import repaired
from shmlint.syntax.shell_text import ENGINE, RUNS, ShellText, holds_one, lines_with, mentions_engine, whole
from shmlint.syntax.template import PLACEHOLDER
from shmlint.syntax.word import TALKERS, Word

Parts = Callable[[Source], Iterable[Part]]
"""How a format takes a file apart."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""

    return read_each(paths, workspace, partial(_read_script, workspace=workspace))


def _read_script(source: Source, workspace: Workspace) -> Reading:
    if not _may_start(source.text):
        return Reading()
    template = unnamed(source)
    if template is not None and "<<" not in source.text[: template.not_read[0].span.start]:  # no here-document's text
        return template
    given = given_by_callers(source, workspace)
    script = list(parts(source))
    reading = read_source(source, (part._replace(given=given) for part in script), workspace)
    written = written_in(source)
    if "services:" in source.text:
        from shmlint.formats.shell.here_documents import services

        reading = joined((reading, *(services(part.text, workspace) for part in script)))
        reading = reading._replace(launches=tuple(sorted(reading.launches, key=lambda launch: launch.span.start)))
    return reading._replace(
        launches=tuple(with_expressions(launch, written) for launch in reading.launches),
        not_read=with_reasons(reading.not_read, written),
    )


def read_parts(paths: Sequence[str], workspace: Workspace, parts_of: Parts) -> Reading:
    """The ``docker run`` commands in the parts of files."""
    return read_each(paths, workspace, lambda source: read_source(source, parts_of(source), workspace))


def read_source(source: Source, of_source: Iterable[Part], workspace: Workspace | None = None) -> Reading:
    """What the parts of a file start and build; they are not looked at where the file names no engine.

    The files that they source are looked for in a ``workspace``.
    """
    if not _may_start(source.text):
        return Reading()
    if workspace is not None:
        of_source = (with_sourced(part, source, workspace) for part in of_source)
    reading = joined(read_part(part, os.path.dirname(source.path)) for part in of_source)
    return reading._replace(launches=tuple(tied(list(reading.launches))))


def read_part(part: Part, directory: str) -> Reading:
    """What a part starts and builds; the paths in its commands count from ``directory``."""
    if not _may_start(part.text.text):
        return Reading()
    found: list[_Found] = []
    for read in engine_commands(part.text, part.given):
        dead = "" if part.typed and read.dead == "exit" else read.dead
        command = read._replace(words=tuple(opened(read.words)), dead=dead)
        at = skip_to_engine(command.words)
        found.append((command, at, read_launch(command) if at is not None else None))
        if at is not None and (inner := _in_container(command, at)) is not None:
            found.append((inner, 0, read_launch(inner)))
    runs = (launch for command, _, launch in found if launch is not None and not command.dead)
    started = tied([for_shell(part.text.shell, launch) for launch in runs])
    where = os.path.join(directory, part.directory) if part.directory else directory
    built = builds([command for command, at, _ in found if at is not None], where)
    if part.directory is None:
        built = (build._replace(elsewhere=True) for build in built)
    return Reading(tuple(started), (), tuple(built), tuple(_not_read(part.text, found)))


def _in_container(command: Command, at: int) -> Command | None:
    """The container that a command starts inside of the one that it starts: ``docker run docker:cli docker run``."""
    words = command.words
    if any(word.text == "exec" for word in words[at + 1 : at + 3]):
        return None  # which is read for what it executes
    for i in range(at + 3, len(words) - 2):
        if words[i].text in ENGINES and words[i + 1].text in ("run", "create") and words[i + 2].text.startswith("-"):
            return command._replace(words=words[i:])
    return None


def _may_start(text: str) -> bool:
    """Whether a text can hold a container start, be it with an engine that it is given: ``$ENGINE run --gpus all``."""
    return mentions_engine(text) or (holds_one(text, ("--gpus", "nvidia")) and _BY_VARIABLE.search(text) is not None)


_BY_VARIABLE = re.compile(r"\$\{?\w+\}?\"? +(?:container +)?(?:run|create) +[-\\]")


_Found = tuple[Command, int | None, Launch | None]
"""A command, which of its words names the engine, and the launch that it is."""


_GLUED = re.compile(r"(?:run|create)-\S+")


_LEFT_OUT = ("...", "…")


def _cut_off(text: ShellText) -> Iterator[NotRead]:
    """Where a shell ends a container start that goes on for its reader."""
    for repair in repaired(text)[1]:
        start, end = text.source.line_span(text.source.position(repair.at).line)
        if text.source.text[start:end].strip() in _LEFT_OUT:
            continue  # it is told of the launch that there may be more options
        because = f"{repair.because}: the shell does not pass on the options after it"
        yield NotRead(Span(text.source, repair.at, repair.at + 1), because, "syntax")


def _not_read(text: ShellText, found: Sequence[_Found]) -> Iterator[NotRead]:
    """Where a shell ends a container start that goes on for its reader, and starts that it takes for others."""
    yield from _cut_off(text)
    never = [(command.span, command.dead) for command, _, launch in found if command.dead and launch is not None]
    yield from (NotRead(span, _NEVER[why], "unsupported") for span, why in never)
    found = [one for one in found if not one[0].dead]
    started = [launch for _, _, launch in found if launch is not None]
    for command, at, launch in found:
        if command.unread:
            yield NotRead(command.span, command.unread, "dynamic")
        if at is not None and at + 1 < len(command.words) and _GLUED.fullmatch(command.words[at + 1].text):
            because = f"`{command.words[at + 1].text}` is not a command of the engine: a space is missing"
            yield NotRead(command.span, because, "syntax")
        elif at is not None and any("\n" in word.text for word in command.words[at:]) and _lacks_image(command, launch):
            because = "a quotation mark is not closed: the lines after it are one word, and no image is left"
            yield NotRead(command.span, because, "syntax")
        elif launch is not None and launch.image is None and (dash := _other_dash(command.words[at or 0 :])):
            because = f"`{dash}` begins with a dash that is no `-`: the engine does not take it for an option"
            yield NotRead(command.span, because, "syntax")
        elif at is not None and [word.text for word in command.words[at + 1 : at + 3]] == ["service", "create"]:
            because = "services of a swarm are not read: they have no `--shm-size`, `--mount` sets their /dev/shm"
            yield NotRead(command.span, because, "unsupported")
        elif at is None and command.words[0].text not in TALKERS and starts_in_some_cases(command.words):
            because = f"`{_beginning(command.words[0])}` is one container start or another, or something else"
            yield NotRead(command.span, because, "dynamic")
        elif at is None and (other := _other_engine(command)) and not _is_run_inside(command, started):
            known = other in BINARIES
            before = f"`{_beginning(command.words[0])}` is not known to run the words after it"
            because = before if known else f"`{other}` is not an engine that is known"
            yield NotRead(command.span, because, "dynamic" if known else "unsupported")
        elif command.words[0].text in _ADDING and _lacks_image(command, launch):
            because = f"`{command.words[0].text}` adds the image from its input"
            yield NotRead(command.span, because, "dynamic")
        elif at is not None and launch is None and _starts_without_image(command):
            yield NotRead(command.span, "no image follows its options", "syntax")
        elif command.words[0].text == "alias" and any(re.search(_ALIAS, word.text) for word in command.words):
            yield NotRead(command.span, "the uses of an alias are not followed", "dynamic")


_NEVER = {
    "condition": "it never runs: the condition before it is always false",
    "exit": "it never runs: the shell ends before it",
    "return": "it never runs: its function or the round of its loop ends before it",
}


def _beginning(word: Word) -> str:
    """A word as it is shown; the variable that stands for an expression is whole, which can then take its place."""
    variable = re.match(r"\$\{\w+\}", word.text)
    return word.text[: max(40, variable.end() if variable is not None else 0)]


def _is_run_inside(command: Command, started: Sequence[Launch]) -> bool:
    """Whether a launch has its image from a command: that calls a function of the text, which runs its arguments."""
    images = (launch.image.span for launch in started if launch.image is not None)
    return any(within(image, command.span) for image in images)


_ADDING = frozenset({"xargs", "parallel"})
_ALIAS = rf"\b{ENGINE}\s+(?:container\s+)?(?:run|create)\b"


def _starts_without_image(command: Command) -> bool:
    """Whether a command that is no launch is the start of a container by its options."""
    texts = {word.text for word in command.words}
    options = any(text.startswith("-") for text in texts) and texts.isdisjoint({"--help", "-h"})
    return options and command.words[0].text not in TALKERS and _lacks_image(command, None)


def _other_dash(words: Sequence[Word]) -> str:
    """An option that is written with a dash of a text processor, which is taken for the image."""
    return next((word.text[:40] for word in words if re.match(r"[–—−‒]-?\w", word.text)), "")


def _other_engine(command: Command) -> str:
    """The engine behind a program that is not known, or a program that starts a container with GPUs as Docker does."""
    words = command.words
    behind = [i - 1 for i in range(1, len(words)) if words[i].text in ("run", "create")]
    behind = [at - 1 if words[at].text == "container" else at for at in behind if words[at].text != "container" or at]
    at = next((at for at in behind if _is_engine(words[at])), next(iter(behind), None))
    if at is None or words[0].text in TALKERS:
        return ""
    name = re.split("[/=]", words[at].text)[-1] if not words[at].unknown else words[at].text
    given = " ".join(word.text for word in words[at + 1 :])
    if _ALL_GPUS.search(given):
        return name
    sure = _is_engine(words[at]) or (words[at].unknown and "--gpus" not in given)  # `$PYTHON run --gpus 2`
    return name if sure and _asks_for_gpus(command, at) else ""


_ALL_GPUS = re.compile(r"(?<!\S)--gpus[= ](?:all|\"?device=)")


def _is_engine(word: Word) -> bool:
    return re.split("[/=]", word.text)[-1] in BINARIES


def _asks_for_gpus(command: Command, at: int) -> bool:
    """Whether the words from that of the engine on would start a container with GPUs."""
    engine = re.split("[/=]", command.words[at].text)[-1]
    words = (Word(engine if engine in BINARIES else "docker"), *command.words[at + 1 :])
    launch = read_launch(command._replace(words=words))
    return launch is not None and (launch.gpu.requested or launch.gpu.unknown is not None)


def outside_commands(source: Source, reading: Reading, because: str) -> Iterator[NotRead]:
    """The lines that begin with a container start and belong to nothing that was read or reported."""
    covered = {launch.span.line for launch in reading.launches} | {place.span.line for place in reading.not_read}
    for start in lines_with(RUNS, source.text):
        found = _LINE.match(source.text, start)
        if found is None:
            continue
        span = Span(source, found.start(1), found.end(1))
        if span.line not in covered and not any(_covers(launch, span) for launch in reading.launches):
            yield NotRead(span, because, "syntax")


_LINE = re.compile(
    rf"[ \t]*(?:[-*+] +|\d+[.)] +|\|(?:[^|\n]*\|)*[ \t]*)?(?:\*\*|[$#] )?(?:sudo )?"
    rf"({ENGINE}[ \t]+(?:container[ \t]+)?(?:run|create)[ \t]+-)"
)


def _covers(launch: Launch, span: Span) -> bool:
    return launch.home.start <= span.start < launch.home.end


def _lacks_image(command: Command, launch: Launch | None) -> bool:
    """Whether a command should start a container, and is not a launch because it has no image."""
    return launch is None and find_docker(command.words) is not None


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The script itself, whatever it holds."""
    return parts(source)


def parts(source: Source) -> Iterator[Part]:
    """A script as one part. Placeholders in it are for a tool that makes the script of it."""
    start = len(BOM) if source.text.startswith(BOM) else 0
    text = whole(source, start, len(source.text))
    if _is_zsh(source):
        text = text._replace(splitting="options" if _OPTIONS_OF_ZSH.search(source.text) is not None else "none")
    for mark, pattern in (("{{", PLACEHOLDER), ("${{", OF_CI)):
        if mark in source.text and pattern.search(source.text) is not None:
            text = with_variables(text, pattern)
    yield Part(text)


_ZSH = re.compile(r"#!\s*(?:/\S*/)?(?:env\s+(?:-\S+\s+)*)?zsh\b")
_OTHER_SHELL = re.compile(r"#!.*\b(?:ba|da|k|a)?sh\b")
_OPTIONS_OF_ZSH = re.compile(r"(?i)sh_?word_?split|ksh_?arrays|\bemulate\s|\bset(?:opt)?\s+-\w*y")


def _is_zsh(source: Source) -> bool:
    """Whether a script is one of zsh, by its first line or else by its name."""
    first = source.text.removeprefix(BOM)[:200].partition("\n")[0]
    name = os.path.basename(source.path)
    return _ZSH.match(first) is not None or (name.endswith((".zsh", ".zshrc")) and _OTHER_SHELL.match(first) is None)
