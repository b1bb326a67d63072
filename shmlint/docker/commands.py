"""The commands of an engine and of Compose that run something in a container that is described or started elsewhere.

Sources: ``docker exec --help`` and ``docker compose --help`` of the 28.2 client with Compose 2.39, and ``docker-compose
--help`` of 1.29; podman docs/source/markdown/podman-exec.1.md.in; podman_compose.py (compose_parse); nerdctl
docs/command-reference.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shmlint.docker.engines import is_by_another, skip_to_engine, subcommand
from shmlint.model.record import NamedTuple
from shmlint.syntax.word import Word

_Options = tuple[tuple[str, Word | None], ...]
"""Options as they are named, and their values."""


class ComposeCommand(NamedTuple):
    """A command of Compose: the words before it, its own options, and the subcommand with its words."""

    before: tuple[Word, ...]
    options: _Options
    rest: tuple[Word, ...]
    wrapped: bool
    """A program that is not known gets the command, and may do something else with it."""

    @property
    def files(self) -> tuple[Word, ...]:
        """The Compose files that it names; empty where Compose looks for them."""
        named = tuple(word for option, word in self.options if option in ("-f", "--file") and word is not None)
        if named:
            return named
        set_to = next((word for word in reversed(self.before) if word.text.startswith(_FILES)), None)
        names = set_to.text.removeprefix(_FILES).split(":") if set_to is not None else ()
        return tuple(Word(name, unknown=set_to.unknown) for name in names if name and set_to is not None)


class ContainerCommand(NamedTuple):
    """A command that runs another one in a container: its options, the container or the service, and that command.

    ``starts``: the container is a new one.
    """

    options: _Options
    rest: tuple[Word, ...]
    """The container or the service, and the command in it."""
    starts: bool = False

    @property
    def name(self) -> str:
        """The container or the service; empty where there is none."""
        return self.rest[0].text if self.rest else ""

    @property
    def words(self) -> tuple[str, ...]:
        """The command."""
        return tuple(word.text for word in self.rest[1:])


def compose_command(words: Sequence[Word]) -> ComposeCommand | None:
    """The command of Compose in some words; None where there is none.

    ``docker-compose`` is ``docker compose``. Behind the name of a program that is not known it is looked for, too.
    """
    words = _with_subcommand(words)
    engine = skip_to_engine(words)
    for at in (engine,) if engine is not None else range(min(len(words), _FIRST_WORDS)):
        behind = subcommand(words, at)
        if behind is not None and words[behind].text == "compose":
            options, rest = _options_before(words[behind + 1 :], _OF_COMPOSE)
            return ComposeCommand(tuple(words[:at]), options, rest, is_by_another(words))
    return None


def service_command(compose: ComposeCommand) -> ContainerCommand | None:
    """What a command of Compose runs in a service; None where it does something else."""
    verb = compose.rest[0].text if compose.rest else ""
    if verb not in ("run", "exec"):
        return None
    options, rest = _options_before(compose.rest[1:], _OF_COMPOSE_RUN if verb == "run" else _OF_COMPOSE_EXEC)
    return ContainerCommand(options, rest, verb == "run")


def exec_command(words: Sequence[Word]) -> ContainerCommand | None:
    """``docker exec CONTAINER COMMAND`` or ``docker compose exec SERVICE COMMAND``; None for other commands."""
    compose = compose_command(words)
    if compose is not None:
        found = service_command(compose)
        return found if found is not None and not found.starts and not compose.wrapped else None
    at = skip_to_engine(words) if not is_by_another(words) else None
    behind = subcommand(words, at) if at is not None else None
    if behind is not None and words[behind].text == "container":
        behind += 1
    if behind is None or behind >= len(words) or words[behind].text != "exec":
        return None
    return ContainerCommand(*_options_before(words[behind + 1 :], _OF_EXEC))


def runs_engine(words: Sequence[Word]) -> bool:
    """Whether a command is one of an engine or of Compose."""
    words = _with_subcommand(words)
    return not is_by_another(words) and skip_to_engine(words) is not None


def _with_subcommand(words: Sequence[Word]) -> Sequence[Word]:
    """A command with Compose as a subcommand of its engine: ``podman-compose up`` is ``podman compose up``."""
    for at, word in enumerate(words):
        match = _COMPOSE.fullmatch(word.text) if "-compose" in word.text else None
        if match is not None and skip_to_engine(words[:at]) is None:
            return (*words[:at], Word(match[1]), Word("compose"), *words[at + 1 :])
    return words


def _options_before(words: Sequence[Word], with_value: frozenset[str]) -> tuple[_Options, tuple[Word, ...]]:
    """The options at the start of some words, and the rest: ``-itu root --index=2 name`` has four of them."""
    found: list[tuple[str, Word | None]] = []
    left = list(words)
    while left and left[0].text.startswith("-") and left[0].text != "-":
        word = left.pop(0)
        if word.text == "--":
            break
        if word.text.startswith("--"):
            option, given, value = word.text.partition("=")
        else:
            option, given = _last_of_cluster(word.text, with_value)
            value = given.removeprefix("=")
        if given:
            found.append((option, word._replace(text=value)))
        else:
            found.append((option, left.pop(0) if option in with_value and left else None))
    return tuple(found), tuple(left)


def _last_of_cluster(text: str, with_value: frozenset[str]) -> tuple[str, str]:
    """The option of a cluster that takes a value, and what of it is there: ``-itu`` is ``-u``; else its last one."""
    letters = text[1:].partition("=")[0]
    at = next((i for i, letter in enumerate(letters, 1) if f"-{letter}" in with_value), len(letters))
    return f"-{text[at]}", text[at + 1 :]


_FIRST_WORDS = 6
"""Words among which Compose is looked for behind a program that is not known."""
_COMPOSE = re.compile(r"(?:.*[/\\])?(docker|podman)-compose(?:\.exe)?")
_FILES = "COMPOSE_FILE="
_OF_COMPOSE = frozenset(
    {
        "-f", "--file", "-p", "--project-name", "--ansi", "--env-file", "--parallel", "--profile", "--progress",
        "--project-directory", "-c", "--context", "-H", "--host", "--log-level", "--tlscacert", "--tlscert", "--tlskey",
        "--in-pod", "--ipfs-address", "--pod-args", "--podman-args", "--podman-path",
    }
)  # fmt: skip
"""Options of Compose before its subcommand that take a value."""
_OF_COMPOSE_EXEC = frozenset({"-e", "--env", "--index", "-u", "--user", "-w", "--workdir"})
_OF_COMPOSE_RUN = frozenset(
    {
        "--cap-add", "--cap-drop", "-e", "--entrypoint", "--env", "--env-from-file", "-l", "--label", "--name", "-p",
        "--publish", "--pull", "-u", "--user", "-v", "--volume", "-w", "--workdir",
    }
)  # fmt: skip
_OF_EXEC = frozenset(
    {
        "--cidfile", "--detach-keys", "-e", "--env", "--env-file", "--preserve-fd", "--preserve-fds", "-u", "--user",
        "-w", "--workdir",
    }
)  # fmt: skip
"""Options that take a value, of ``docker compose exec`` and ``run``, and of ``docker exec`` and Podman's."""
