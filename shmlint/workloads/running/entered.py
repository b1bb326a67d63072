"""What the script of a launch runs in its container afterwards, with ``docker exec``."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from shmlint.files.cache import Key
from shmlint.files.kinds import is_page, is_readme
from shmlint.files.read import normal
from shmlint.model.launch import Launch, Value
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.workloads.commands import SHELLS
from shmlint.workloads.repository import Repository

if TYPE_CHECKING:
    from shmlint.files.workspace import Workspace
    from shmlint.syntax.shell import Command
    from shmlint.workloads.running.follow import Follower

_LEVELS = 3
"""Directories from that of the launch upwards whose files may enter its container as well."""


class Inside(NamedTuple):
    """A command that a script runs in a container that it has started."""

    words: tuple[str, ...]
    span: Span
    certain: bool
    named: bool
    """It is written with the container's own name, and not with one that may be another's."""
    held: bool
    """It is written with the variable that holds the id of this very container."""
    directory: str
    """Where it runs; empty for the directory of the container."""
    given: dict[str, Value[str]]
    """The variables that it is given."""
    complete: bool
    """All that it is given is known."""
    starts: bool = False
    """It gets a container of its own, with the entrypoint of the service."""


def inside(launch: Launch, repository: Repository) -> list[Inside]:
    """The commands that the file of a launch runs in its container behind it."""
    source = repository.peek(launch.span.path) if launch.kind == "docker-run" else None
    if source is None or repository.workspace is None or not re.search(_ENTERS, source.text[launch.span.end :]):
        return []
    holder = _holder(launch)
    found = [
        one
        for commands in _commands_of(source.path, "exec", repository.workspace)
        for command in commands if command.span.start > launch.span.end and command.when != "never"
        if (one := _of(command, launch, holder)) is not None
    ]  # fmt: skip
    end = _held_until(launch, holder, found)
    return [one for one in found if not one.held or one.span.start < end]


def _holder(launch: Launch) -> str:
    """The variable that gets the id of a container: ``id=$(docker run -d …)``; empty where there is none."""
    before = launch.span.source.text[max(0, launch.span.start - _ASSIGNMENT) : launch.span.start]
    found = re.search(r"(?:^|[\s;&|\"'])([A-Za-z_]\w*)=[\"']?(?:\$\(|`)\s*(?:sudo\s+)?\Z", before)
    return found[1] if found is not None else ""


_ASSIGNMENT = 200
"""Characters before a launch in which the variable is looked for that gets its id."""


def _held_until(launch: Launch, holder: str, found: Sequence[Inside]) -> int:
    """Where the variable gets the id of another container.

    One that gets it before anybody has entered this one is started instead of it, in another branch.
    """
    text = launch.span.source.text
    if holder:
        for again in re.finditer(rf"(?<!\w){holder}=[\"']?(?:\$\(|`)", text[launch.span.end :]):
            place = launch.span.end + again.start()
            if any(one.held and one.span.start < place for one in found):
                return place
    return len(text)


def typed(launch: Launch, repository: Repository) -> Iterator[Inside]:
    """The commands behind the one with which a file of notes starts or enters a shell in its container: typed there.

    A shell that ran such a file would run them on the host, once the container is left. So they are never certain.
    """
    from shmlint.docker.commands import runs_engine

    source = repository.peek(launch.span.path) if launch.kind == "docker-run" else None
    if source is None or repository.workspace is None:
        return
    own, behind = launch.interactive and not is_detached(launch), source.text[launch.span.end :]
    if not behind.strip() or (not own and not re.search(_ENTERS, behind)):
        return
    holder = _holder(launch)
    for commands in _commands_of(source.path, "run" if own else "exec", repository.workspace):
        at = bisect_right(commands, launch.span.end, key=lambda command: command.span.start)
        before = commands[max(at - _AROUND, 0) : at]
        entered = own and any(command.span.start <= launch.span.start < command.span.end for command in before)
        for command in islice(commands, at, None):
            if command.when == "never" or not command.words:
                continue
            words = tuple(word.text for word in command.words)
            one = _of(command, launch, holder)
            if one is not None:
                entered = _is_shell(one.words) and any(re.fullmatch("-[a-z]*t[a-z]*|--tty", word) for word in words)
            elif entered and (words[0] in _LEAVES or runs_engine(command.words)):
                return
            elif entered:
                yield Inside(words, command.span, False, False, False, "", {}, True)


_AROUND = 5
"""Commands before a place among which is the one around it."""
_COMMANDS: dict[str, Key[tuple[tuple[Command, ...], ...]]] = {
    word: Key(f"commands of the scripts that have `{word}`") for word in ("exec", "run", "compose")
}


def _commands_of(path: str, word: str, workspace: Workspace) -> tuple[tuple[Command, ...], ...]:
    """The commands of each script in a file that has a word; read once in a run, because each launch in it asks."""
    from shmlint.formats import scripts

    def read(files: Workspace) -> tuple[tuple[Command, ...], ...]:
        parts = scripts(files.source(path), files, word) or ()
        return tuple(tuple(sorted(part.commands, key=lambda command: command.span.start)) for part in parts)

    return workspace.once(_COMMANDS[word], path, read)


def is_detached(launch: Launch) -> bool:
    """Whether a container is started in the background."""
    if launch.image is None:
        return False
    return re.search(_DETACHED, launch.span.source.text[launch.span.start : launch.image.span.start]) is not None


_DETACHED = r"\s(?:-[a-z]*d[a-z]*|--detach)(?=\s|$)"


def _is_shell(words: Sequence[str]) -> bool:
    return len(words) == 1 and words[0].rpartition("/")[2] in SHELLS


_LEAVES = ("exit", "logout")


def in_service(launch: Launch, repository: Repository, *, pages: bool = False) -> Iterator[Inside]:
    """The commands that scripts and makefiles around a Compose file run in a service: ``docker compose run NAME …``.

    ``pages``: those that READMEs show, too.
    """
    workspace = repository.workspace
    if launch.kind != "compose-service" or workspace is None or not launch.name:
        return
    looked = 0
    for folder in repository.above()[:_LEVELS]:
        for path in _scripts_of(folder, repository, pages=pages):
            source = repository.peek(path)
            looked += 1
            if looked > _MOST_SCRIPTS:
                return
            if source is None or "compose" not in source.text or launch.name not in source.text:
                continue
            every = _commands_of(path, "compose", workspace)
            for command in (command for commands in every for command in commands):
                found = _in_service(command, launch, folder, repository) if command.when != "never" else None
                if found is not None:
                    yield found


def _scripts_of(folder: str, repository: Repository, *, pages: bool) -> Iterator[str]:
    """The scripts and makefiles of a directory, and of those in it that people keep them in; its READMEs as well."""
    names = repository.names(folder) if pages else ()
    yield from (normal(os.path.join(folder, name)) for name in names if is_readme(name))
    for inner in (folder, *(os.path.join(folder, name) for name in ("scripts", "bin"))):
        for name in repository.names(normal(inner)):
            if name.endswith(_RUNNING):
                yield normal(os.path.join(inner, name))


def _in_service(command: Command, launch: Launch, folder: str, repository: Repository) -> Inside | None:
    """What ``docker compose -f FILE run SERVICE COMMAND`` runs in the service of a launch; None for other commands."""
    from shmlint.docker.commands import compose_command, service_command
    from shmlint.formats.compose.files import DEFAULT_FILES

    compose = compose_command(command.words)
    found = service_command(compose) if compose is not None and not compose.wrapped else None
    if compose is None or found is None:
        return None
    given = ((option, word.text if word is not None else "") for option, word in found.options)
    other = any(option == "--entrypoint" or "VISIBLE_DEVICES" in value for option, value in given)
    files = [word.text for word in compose.files] or DEFAULT_FILES
    if other or found.name != launch.name or not found.words or not _is_own(files, launch, folder, repository):
        return None
    return Inside(found.words, command.span, True, True, False, "", {}, True, found.starts)


def _is_own(files: Sequence[str], launch: Launch, folder: str, repository: Repository) -> bool:
    """Whether one of some Compose files is that of a launch; of those that are not in a directory the name tells."""
    own = normal(launch.span.path)
    paths = [normal(os.path.join(folder, file)) for file in files]
    there = [path for path in paths if repository.is_file(path)]
    return own in there if there else any(os.path.basename(path) == os.path.basename(own) for path in paths)


def is_all(found: Sequence[Inside], launch: Launch, repository: Repository) -> bool:
    """Whether nobody enters the container but its own script, as far as the files around it say."""
    own = all(one.named or one.held for one in found)
    return own and not _is_entered_elsewhere(launch, repository)


def is_of_pipeline(launch: Launch, repository: Repository) -> bool:
    """Whether a job of a pipeline starts a container."""
    from shmlint.files.kinds import kind_of

    return repository.workspace is not None and kind_of(launch.span.source, repository.workspace.top) == "ci"


def follow_inside(found: Sequence[Inside], follower: Follower) -> None:
    """Follow commands in a container."""
    for one in found:
        follower.run_given(one.given, one.words, one.span, certain=one.certain, directory=one.directory)
        if not one.complete:
            follower.stop("what `docker exec` gives it is not known", one.span)


def _of(command: Command, launch: Launch, holder: str) -> Inside | None:
    from shmlint.docker.commands import exec_command

    found = exec_command(command.words)
    if found is None:
        return None
    options = [(option, word.text if word is not None else "") for option, word in found.options]
    rest = [word.text for word in found.rest]
    if launch.name in rest and all(word.startswith("$") for word in rest[: rest.index(launch.name)]):
        at = rest.index(launch.name)  # variables before it hold more options
        options, rest = [*options, *((word, "") for word in rest[:at])], rest[at:]
    if len(rest) < 2:
        return None
    container, *words = rest
    named = launch.name is not None and container == launch.name
    held = bool(holder) and _holds(container, holder, launch)
    if not named and launch.name is not None and not container.startswith(("$", "`")):
        return None  # another container
    directory, complete = "", True
    given: dict[str, Value[str]] = {}
    for option, value in options:
        if option in ("-w", "--workdir"):
            directory = value
        elif option in ("-e", "--env"):
            variable, equals, text = value.partition("=")
            if equals and "$" not in value:
                given[variable] = Value(text, command.span, text)
            complete = complete and bool(equals) and "$" not in variable
        elif option == "--env-file" or option.startswith("$"):
            complete = False
    return Inside(tuple(words), command.span, command.when == "always", named, held, directory, given, complete)


def _holds(container: str, holder: str, launch: Launch) -> bool:
    """Whether a word is the variable that holds the id of a container, or the start of it that the variable is set to.
    """
    if container.startswith(("$(", "`")):
        start = container[2 if container[0] == "$" else 1 : -1].strip()
        return launch.span.source.text.startswith(start, launch.span.start)
    return re.fullmatch(rf"\${holder}|\$\{{(?:{holder}|_+env_{holder}_*)\}}", container) is not None


def _is_entered_elsewhere(launch: Launch, repository: Repository) -> bool:
    """Whether another file near the launch enters a container of its name that it does not start itself."""
    name = launch.name or ""
    known = rf"(?<![\w./-]){re.escape(name)}(?![\w./-])" if "$" not in name else ""
    starts = rf"--name[ =][\"']?{known}"
    for folder in repository.above()[:_LEVELS]:
        for file in repository.names(folder):
            path = normal(os.path.join(folder, file))
            if (file.endswith(_RUNNING) or is_page(file)) and path != normal(launch.span.path):
                source = repository.peek(path)
                if source is None or (known and name not in source.text) or not _enters(source.text, known):
                    continue
                if not (known and re.search(starts, source.text)):
                    return True
    return False


def _enters(text: str, known: str) -> bool:
    """Whether a line enters a container, with its name behind that."""
    return any(re.search(known, behind) for line in _ENTERING_LINES for behind in re.findall(line, text))


_ENTERS = r"(?:exec|attach)\s"
_ENTERING_LINES = r"exec(?<!\wexec)[^\S\n](.*)", r"attach(?<!\wattach)[^\S\n](.*)"
"""What follows the word in a line; one pattern for each word, which is searched for at once."""
_RUNNING = (".sh", ".bash", ".mk", "akefile", "ustfile")
"""Files that run commands in services, by the ends of their names."""
_MOST_SCRIPTS = 40
