"""What a launch runs, as values: commands, Python programs, and where resolution stopped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from shmlint.model.launch import Launch, Value
from shmlint.model.need import Need, Step
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.workloads.commands import Kind
from shmlint.workloads.filesystem import Files

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage


class RunContext(NamedTuple):
    """Where and how a command runs."""

    span: Span | None
    directory: str
    certain: bool
    guessed: bool
    depth: int
    arguments: bool = True
    """All arguments of the script are known."""
    script: str = ""
    """The directory of the script that runs it, in the container."""


class Ran(NamedTuple):
    """A simple command that runs in the container; ``certain`` where nothing decides whether it does."""

    words: tuple[str, ...]
    span: Span | None
    """Its own, or that of the text around it."""
    kind: Kind
    certain: bool = True
    guessed: bool = False
    loads: Literal["told", "perhaps", "no"] = "told"
    """Whether it loads data with the workers that its words tell of: as far as its code was read, it may not."""
    devices: Value[str] | None = None
    """What a variable leaves it of the GPUs."""

    @property
    def place(self) -> Span | None:
        """Where it is written in a text of several lines, if it begins on another line than the text."""
        return self.place_of(self.words, self.words[:1])

    def place_of(self, *parts: Sequence[str]) -> Span | None:
        """Where the first of some of its words that are found is written, in a text of several lines."""
        span = self.span
        if span is None or "\n" not in span.text:
            return span
        text = span.text
        found = next((place for part in parts if part and (place := _place(part, text)) is not None), None)
        if found is None or "\n" not in text[: found[0]]:
            return span
        return span._replace(start=span.start + found[0], end=span.start + found[1])


_BETWEEN = frozenset(" \t\n\r\f\v\\\"',[]-")
"""What stands between the words of a command in a script, and in a list of YAML or JSON."""


_MOST_WORDS = 40
"""The words that are looked for: in a text that repeats itself, more would be compared at each of its places."""


def _place(words: Sequence[str], text: str) -> tuple[int, int] | None:
    """Where words stand one after the other. A pattern of them would take longer to make than to look for them once."""
    start = text.find(words[0])
    while start >= 0:
        end: int | None = start + len(words[0])
        for word in words[1:_MOST_WORDS]:
            end = _after(word, end, text) if end is not None else None
        around = text[max(start - 1, 0) : start], text[end : end + 1] if end is not None else ""
        if end is not None and not any(map(_is_of_word, around)):
            return start, end
        start = text.find(words[0], start + 1)
    return None


def _after(word: str, at: int, text: str) -> int | None:
    """The end of a word that follows another one which ends at a place; a dash may be before it or its first letter."""
    while text[at : at + 1] in _BETWEEN and at < len(text):
        at += 1
        if text.startswith(word, at):
            return at + len(word)
    return None


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character in ("_", ".", "/", "-")


def named(path: str) -> str:
    """The path of a file for people: of one that a script writes (``Files.write``), where it does so."""
    written = re.fullmatch(r"(.+:\d+)/([^/]+)", path)
    return f"{written[2]}, which {written[1]} writes" if written is not None else path


class Entry(NamedTuple):
    """A Python program of the repository that runs, with its own arguments."""

    path: str
    arguments: tuple[str, ...]
    span: Span | None
    certain: bool = True
    guessed: bool = False
    function: str = ""
    """The function that is called, where an installed command names one."""
    more: tuple[str, ...] = ()
    """The files of which any function may be called: those of tests."""
    imported: bool = False
    """Whether Python finds it by its dotted name, so that the packages around it run, too."""
    variables: frozenset[str] = frozenset()
    """The variables that it may find with other values than those of the container; the empty name stands for all."""
    beside: bool = False
    """Whether a script starts several ranks of it in its container, each beside the others."""
    given: tuple[tuple[str, Value[str]], ...] = ()
    """The variables that its command, or a script around that, gives it: ``WORKERS=8 python train.py``."""

    @property
    def runs(self) -> tuple[object, ...]:
        """What tells it from other programs: its code, and what that is given."""
        told = tuple((name, value.known, value.private) for name, value in self.given)
        return self.path, self.arguments, self.function, self.more, self.imported, self.variables, told

    def is_started_by(self, ran: Ran) -> bool:
        """Whether a command starts it, with its arguments."""
        at = len(ran.words) - len(self.arguments)
        if ran.span != self.span or at < 1 or ran.words[at:] != self.arguments:
            return False
        name = ran.words[at - 1].rpartition("/")[2].removesuffix(".py").rpartition(".")[2]
        folder, _, file = self.path.rpartition("/")
        return name in (file.removesuffix(".py"), folder.rpartition("/")[2]) or (bool(self.function) and at == 1)


class Program(NamedTuple):
    """What a launch runs, as far as it could be followed."""

    commands: tuple[Ran, ...]
    entries: tuple[Entry, ...]
    trail: tuple[Step, ...]
    stops: tuple[Step, ...]
    """Where resolution stopped, and why."""
    environment: Mapping[str, Value[str]]
    """What all commands are given."""
    assigned: Mapping[str, Value[str]]
    """What single commands are given: ``GPUS=8 ./train.sh``."""
    files: Files
    image: BuiltImage | None
    dockerfile: Source | None
    default: bool = False
    """The command is the image's own, which is unknown."""
    namesake: bool = False
    """The build is of an image that only has the same name: what it runs may count, what it is built on does not."""
    guessed: bool = False
    """That the build makes the launch's image is only guessed."""
    by_name: bool = False
    """Only the name of a file or a directory leads to the build, and others have images of that name."""
    documented: tuple[Entry, ...] = ()
    """Programs that the documentation starts in such a container, where the launch itself leaves it open."""
    documented_commands: tuple[Ran, ...] = ()
    perhaps: tuple[Ran, ...] = ()
    """What variables start that the scripts give several programs."""
    built: tuple[Step, ...] = ()
    """Programs that the build of the image compiles from sources that use no shared memory."""

    @property
    def variables(self) -> Mapping[str, Value[str]]:
        """What all commands or some are given."""
        return {**self.assigned, **self.environment}

    @property
    def kind(self) -> Kind:
        """What the launch as a whole does."""
        kinds = {ran.kind for ran in self.commands}
        for kind in ("program", "interactive", "build", "probe"):
            if kind in kinds:
                return kind
        return "silent"


def starts_notebook(program: Program) -> bool:
    """Whether a notebook is started, in which people write code that the repository does not have."""
    return any("notebook" in ran.words[0] or "jupyter" in " ".join(ran.words[:3]) for ran in program.commands)


def gives_notebook(launch: Launch, program: Program) -> bool:
    """Whether a notebook is started, or the image's own command runs and the image is called after notebooks.

    It is made for its own cells: what a page runs after it is not surely run in it.
    """
    if starts_notebook(program) or not program.default:
        return starts_notebook(program)
    built = program.image.base_images if program.image is not None and not program.namesake else ()
    names = (*(name for name, _ in built), *(image.known for image in (launch.image, *launch.base_images) if image))
    return any(name and ("jupyter" in name or "notebook" in name) for name in names)


class Findings(NamedTuple):
    """What the Python programs of a launch were found to do."""

    need: Need | None = None
    stops: tuple[Step, ...] = ()
    small: bool = False
    """DataLoader workers are there, and what they hand over is known to fit."""
    environment: tuple[tuple[str, str, Span], ...] = ()
    idle: bool = False
    """Programs were read, and nothing in their reach loads data, joins ranks or shares memory."""
    without_workers: bool = False
    """Programs were read that load data, all of them without workers, and that do nothing else that counts."""
    sockets: bool = False
    """Programs were read to their end whose ranks talk over TCP, and nothing else in their reach joins ranks."""
    trains: Span | None = None
    """Where a program starts another one that is called training."""
    bare: tuple[tuple[Entry, bool], ...] = ()
    """Programs without a DataLoader that has workers in the code that was read, and whether that is all their code.

    Where it is not, they import nothing that loads data either.
    """
    apart: bool = False
    """Programs were read to their end, and nothing in them may join ranks."""
    steps: frozenset[str] = frozenset()
    """The programs whose own code takes the steps of a training."""

    def seen_in(self, commands: Sequence[Ran]) -> list[Ran]:
        """Commands, and whether their programs load data with workers."""
        return [ran._replace(loads=self._loads(ran)) for ran in commands]

    def _loads(self, ran: Ran) -> Literal["told", "perhaps", "no"]:
        whole = [whole for entry, whole in self.bare if entry.is_started_by(ran)]
        return "told" if not whole else "no" if all(whole) else "perhaps"
