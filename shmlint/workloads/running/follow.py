"""Follows a command through the repository: scripts, functions, make targets, supervisord, Python programs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import TYPE_CHECKING

from shmlint.model.launch import Unknown, Value
from shmlint.model.need import Step
from shmlint.model.record import NamedTuple
from shmlint.model.source import BOM, Source, Span
from shmlint.syntax.shell_input import with_input
from shmlint.syntax.template import EXPRESSION
from shmlint.workloads.commands import (
    BEHIND_DASHES,
    MISSING,
    MPI_STARTERS,
    NO_NAME,
    RANK_OF,
    RUNNERS,
    SHELLS,
    TESTERS,
    Kind,
    in_container,
    is_python,
    kind_of,
    only_checks,
    options,
    shell_argument,
    unwrapped,
)
from shmlint.workloads.filesystem import Files, Place
from shmlint.workloads.knowledge import builtin, match_command
from shmlint.workloads.launchers import python_words, with_ranks_of_variable, with_settings
from shmlint.workloads.program import Entry, Program, Ran, RunContext, named
from shmlint.workloads.running.python_entries import (
    SERVERS,
    by_installed_name,
    by_python,
    by_server,
    own_modules,
    with_pages,
)
from shmlint.workloads.running.visible import devices_for, exported_devices

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage
    from shmlint.syntax.shell import Command
    from shmlint.syntax.shell_conditions import When
    from shmlint.syntax.shell_text import ShellText

MOST_COMMANDS = 500
"""Simple commands that are followed for one launch."""
MOST_STEPS = 5_000
"""Simple commands that are looked at for one launch."""
_MOST_STOPS = 50
"""Places at which following a command stops; all but the first one only say that there are more."""
_MOST_CONFIGURATIONS = 12
"""Configuration files of one supervisord."""
_MOST_GIVEN = 4
_MOST_TRIED = 24
"""Variables whose values begin with one another, and programs that they may be, all together."""
_DEPTH = 10
"""Scripts that start scripts are followed this deep."""


def follow(
    words: Sequence[str], span: Span, program: Program, settled: Callable[[tuple[str, ...]], bool],
    variables: frozenset[str], *, certain: bool,
) -> Follower:  # fmt: skip
    """Follow a command that a program of the launch starts; ``certain`` where it surely does.

    ``settled`` tells of a command that the repository does not hold whether it is known to need no shared memory.
    ``variables`` are those that the program changes for it.
    """
    follower = Follower(program.files, dict(program.environment), program.image, guessed=program.guessed)
    follower.settled = settled
    follower.overwritten |= variables
    follower.run(words, span, program.files.workdir, certain=certain, guessed=False, depth=1)
    return follower


def assigned(command: Command, place: Span | None = None) -> dict[str, Value[str]]:
    """The variables that a command is given: ``GPUS=8 ./train.sh``, ``env GPUS=8 …``, ``mpirun -x GPUS=8 …``.

    They are at ``place`` if their own places are not those of a file.
    """
    words = [word.text for word in command.words]
    found: dict[str, Value[str]] = {}
    for at in _giving(words):
        name, _, text = words[at].partition("=")
        if not command.words[at].unknown and "$" not in text:
            found[name] = Value(text, place or command.words[at].span or command.span, text)
    return found


def _giving(words: Sequence[str]) -> Iterator[int]:
    """Where words of a command give a variable: in front of the program, or as an option of MPI's starters."""
    before, front, mpi = "", True, False
    for at, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if equals and name.isidentifier() and (front or (mpi and before == "-x")):
            yield at
        else:
            front = front and word in ("env", "exec")
            mpi = mpi or posixpath.basename(word) in MPI_STARTERS
        before = word


class Follower:
    """Collects what runs. Spans in texts that are in no file of their own are those of the command around them."""

    def __init__(
        self, files: Files, environment: dict[str, Value[str]], image: BuiltImage | None, *,
        complete: bool = True, guessed: bool = False,
    ) -> None:  # fmt: skip
        self.files = files
        self.image = image
        self.environment = environment
        self.assigned: dict[str, Value[str]] = {}
        self._exported: set[str] = set()
        """The variables that scripts export."""
        self.overwritten: set[str] = set()
        """The variables that something gave commands so far; the empty name stands for all."""
        self.commands: list[Ran] = []
        self.entries: list[Entry] = []
        self.trail: list[Step] = []
        self.stops: list[Step] = []
        self.built: list[Step] = []
        """Programs that the build of the image compiles, which use no shared memory."""
        self.seen: set[tuple[str, tuple[str, ...]]] = set()
        self.functions: dict[str, _Body] = {}
        """The functions of the scripts that were read."""
        self.called: set[str] = set()
        self._placeholders: dict[str, str] = {}
        """What is written where a text has variables for it."""
        self.settled: Callable[[tuple[str, ...]], bool] = _is_known_for_none
        self.perhaps: list[Ran] = []
        """What variables start that are given several programs."""
        self._values: list[Callable[[], Mapping[str, list[str]]]] = []
        """What each of the scripts gives its variables."""
        self._given: dict[str, None] = {}
        """Variables whose programs are under way."""
        self._left = [_MOST_TRIED]
        """How many more of them are followed."""
        self._steps = self._writes = 0
        self._went = ""
        """The directory in which the commands of a script or a function ended."""
        self._beside = False
        """Whether the command that is followed, or one around it, runs several times at once."""
        self._devices: Value[str] | None = None
        """What the command that is followed, or one around it, is given of the GPUs."""
        self._pushed: list[str] = []
        """The directories that scripts return to."""
        self.complete = complete
        """All words of the launch are known."""
        self.guessed = guessed
        """That the image holds what its build puts into it is only guessed."""

    def look_up_in(self, source: Source) -> None:
        """Look for the values of variables in a script that is not followed: that of the launch."""
        from shmlint.syntax.shell import values
        from shmlint.syntax.shell_text import whole

        self._values.append(cache(lambda: values(whole(source, 0, len(source.text)))))

    def stop(self, text: str, span: Span | None) -> None:
        step = Step(text, span)
        if step not in self.stops and len(self.stops) < _MOST_STOPS:
            self.stops.append(step)

    def run(
        self, words: Sequence[str], span: Span | None, directory: str, *, certain: bool, guessed: bool, depth: int
    ) -> None:
        """Follow one simple command."""
        command = self._unwrapped(words, directory)
        before = words[: len(words) - len(command)]
        outer, shared = self._devices, self.environment
        self._devices = devices_for(before, span) or outer
        given = _values_given(before, span) if command else {}
        self.environment = {**shared, **given} if given else shared
        if span is not None and command and kind_of(command) != "silent":
            self.assigned = {**_given_at(words, span), **self.assigned}
        self._run(words, command, RunContext(span, directory, certain, guessed, depth))
        for name in self.environment.keys() - given.keys() - shared.keys():  # what its scripts export is told, too
            shared[name] = self.environment[name]
        self._devices, self.environment = outer, shared

    def _run(self, words: Sequence[str], command: tuple[str, ...], context: RunContext) -> None:
        """Follow a simple command without what only starts it."""
        span, directory, certain, guessed, depth = context[:5]
        self._steps += 1
        if self._steps > MOST_STEPS:
            self.stop("it has too many commands", span)
            return
        self.overwritten |= _given_by(words, command)
        if not command or len(self.commands) >= MOST_COMMANDS:
            return
        if depth > _DEPTH:
            self.stop("the scripts are nested too deep", span)
            return
        if self._task(words, RunContext(span, directory, certain, guessed or self.guessed, depth)):
            return
        evaluated = words[0] == "eval" and " " in command[0] and not command[0].startswith("$")
        if len(command) == 1 and (evaluated or ("&&" in command[0] and " " in command[0])):
            # A quoted line as the whole command: the entrypoint of the image hands it to a shell, or `eval` reads it.
            context = RunContext(span, directory, certain, True, depth)
            self._text(Source("", command[0]), _unsaid(command[0]), context, inline=True)
            return
        program = posixpath.basename(command[0])
        guessed = guessed or self.guessed
        context = RunContext(span, directory, certain, guessed, depth, depth > 0 or self.complete)
        if command[0].removesuffix("()") in self.functions:
            self._call(command[0].removesuffix("()"), command[1:], context)
            return
        if (program in SHELLS and self._shell(command, context)) or self._traps(command, context):
            return
        if command[0] in ("source", ".") and len(command) > 1:
            self._sourced(command[1], context)
            return
        command = with_settings(command, lambda path: self._settings_of(path, directory))
        command = with_ranks_of_variable(command, {name: self.environment[name] for name in self._set_by_scripts()})
        if (local := in_container(command)) != command:
            self.stop(f"`{program}` runs its command on another host, or in another container", span)
            command = local
        kind = self._kind(command, context)
        if kind != "silent":
            self.commands.append(Ran(command, span, kind, certain, guessed, devices=self._seen()))
        if kind == "interactive" and depth > 0 and is_python(program):
            self.stop(f"the code that `{program}` reads from its input is not followed", span)
        if kind == "program":
            self._program(command, context)

    def _seen(self) -> Value[str] | None:
        """What a variable leaves of the GPUs for the command that is followed."""
        return self._devices or exported_devices(self.environment)

    def run_given(
        self, given: Mapping[str, Value[str]], words: Sequence[str], span: Span, *, certain: bool, directory: str
    ) -> None:
        """Follow a simple command that is given variables of its own, and perhaps a directory."""
        shared = self.environment
        self.environment = {**shared, **given} if given else shared  # what scripts export is added to ``shared``
        self.run(words, span, directory or self.files.workdir, certain=certain, guessed=False, depth=1)
        self.environment = shared

    def _unwrapped(self, words: Sequence[str], directory: str) -> tuple[str, ...]:
        """A command without the programs that only start it.

        `docker-entrypoint.sh` of the repository may do more than to start the rest.
        """
        command = unwrapped(words)
        return tuple(words) if command != tuple(words) and self._is_own(words[0], directory) else command

    def _is_own(self, program: str, directory: str) -> bool:
        """Whether the repository has a script that usually starts the rest of its words."""
        known = posixpath.basename(program) in BEHIND_DASHES  # it has only been copied there
        found = self.files.find(program, directory) if program.endswith(".sh") and not known else None
        return found is not None

    def _settings_of(self, path: str, directory: str) -> Mapping[str, object] | None:
        """The values of a configuration file of the repository that a command names; None where it is not read."""
        from shmlint.workloads.python.configurations.settings_files import read_settings

        place = self.files.find(path, directory)
        source = self.files.repository.source(place.path) if place is not None and not place.guessed else None
        found = read_settings(source) if source is not None else None
        return {key: part.value for key, part in found.entries.items()} if found is not None else None

    def _kind(self, command: tuple[str, ...], context: RunContext) -> Kind:
        kind, program = kind_of(command), posixpath.basename(command[0])
        if kind == "probe" and is_python(program) and any(own_modules(command[1:], self.files, context.directory)):
            return "program"  # what it imports runs
        return (self._make(command, context) if program == "make" else None) or kind

    # Shell --------------------------------------------------------------------------------

    def _shell(self, command: tuple[str, ...], context: RunContext) -> bool:
        """Follow ``bash -c TEXT`` or ``bash FILE``; False where it is neither."""
        is_text, rest = shell_argument(command)
        if not rest or only_checks(command[1:]):
            return False
        if is_text and not rest[0].strip():
            self.stop(f"`{command[0]}` is given an empty text", context.span)
        elif is_text:
            self._placeholders |= {_as_variable(found): found[0] for found in re.finditer(_PLACEHOLDER, rest[0])}
            source = Source("", re.sub(_PLACEHOLDER, _as_variable, rest[0]))
            # With a name for ``$0``, whatever follows are its arguments, and there are no others.
            self._text(source, rest[2:] if len(rest) > 1 else _unsaid(rest[0]), context, inline=True)
        else:
            self._script(rest[0], rest[1:], context)
        return True

    def _traps(self, command: tuple[str, ...], context: RunContext) -> bool:
        """Follow what ``trap 'python save.py' EXIT`` runs; False where it is another command."""
        if command[0] != "trap" or len(command) < 3 or " " not in command[1]:
            return False
        inner = context._replace(certain=False, depth=context.depth + 1)
        self._text(Source("", command[1]), (), inner, inline=True)
        return True

    def _script(self, path: str, arguments: tuple[str, ...], context: RunContext, *, needed: bool = True) -> None:
        place = self.files.find(path, context.directory)
        source = self.files.repository.source(place.path) if place is not None else None
        if source is None or place is None:
            if needed and self._passes_on(path, arguments, context):
                return
            if needed:
                self.stop(f"`{path}` is not in the repository", context.span)
                words, devices = ("bash", path, *arguments), self._seen()
                self.commands.append(Ran(words, context.span, "program", context.certain, devices=devices))
            return
        if (place.path, arguments) in self.seen:
            return
        self.seen.add((place.path, arguments))
        self.files.near.append(posixpath.dirname(place.path))
        self.trail.append(Step(f"{named(place.path)}{' (guessed)' if place.guessed else ''}", context.span))
        beside = posixpath.normpath(posixpath.join(context.directory, posixpath.dirname(path)))
        guessed = context.guessed or place.guessed
        self._text(source, arguments, context._replace(guessed=guessed, script=beside), inline=False)

    def _sourced(self, path: str, context: RunContext) -> None:
        """Follow a file that the shell itself reads: one that is not known may set any variable of what comes after."""
        place = self.files.find(path, context.directory)
        if (place is None or place.guessed) and re.search(_SETS_OWN, path) is None:
            self.overwritten.add("")
        known = context._replace(arguments=False)  # those of the script that reads it
        self._script(path, (), known, needed=not re.search(_SETS_UP, path))

    def _set_by(self, context: RunContext, path: str) -> frozenset[str]:
        """The variables that a file may set which a script reads by its whole path; the empty name stands for all."""
        from shmlint.syntax.shell_variables import ANY, may_set_alone

        place = self.files.find(path, context.directory) if path.startswith("/") else None
        source = self.files.repository.source(place.path) if place is not None and not place.guessed else None
        return may_set_alone(source.text) if source is not None else frozenset({ANY})

    def _passes_on(self, path: str, arguments: tuple[str, ...], context: RunContext) -> bool:
        """Follow the command in the arguments of a script that the build of the image writes to run it."""
        name = posixpath.basename(path)
        runs = self.image.runs if self.image is not None else ()
        if not any(name in text and "$@" in text for text, _ in runs):
            return False
        inner = context._replace(depth=context.depth + 1)
        certain, guessed = inner.certain, inner.guessed
        self.run(arguments, inner.span, inner.directory, certain=certain, guessed=guessed, depth=inner.depth)
        return True

    def _text(self, source: Source, arguments: tuple[str, ...], context: RunContext, *, inline: bool) -> None:
        from shmlint.syntax.shell_text import whole

        start = len(BOM) if source.text.startswith(BOM) else 0
        self._commands(whole(source, start, len(source.text)), arguments, context, inline=inline)

    def _commands(self, text: ShellText, arguments: tuple[str, ...], context: RunContext, *, inline: bool) -> None:
        """Follow the commands of a shell text."""
        from shmlint.syntax.shell import commands, exports, values
        from shmlint.syntax.shell_variables import ANY, given

        self._values.append(cache(partial(values, text)))
        known = {name: _used(value) for name, value in self.environment.items()}
        known |= {ANY: None} if self.files.env_files or ANY in self.overwritten else {}  # any other may be given
        known |= {str(i): argument for i, argument in enumerate(arguments, 1)}
        if context.arguments and not any("$" in word or "`" in word for word in arguments):
            known |= {"#": str(len(arguments)), **{str(i): "" for i in range(len(arguments) + 1, 10)}}
        before = given(known)
        before.set_by_file = partial(self._set_by, context)
        others = set(re.findall(_EXPORTS_NAMES, text.text))
        exported: set[str] = set()
        for name, word, always in exports(text, before):
            others.discard(name)
            span = context.span if inline else word.span
            had = self.environment.get(name)
            if span is None or word.span is None or (had is not None and had.value == word.text and not word.unknown):
                continue
            value = Unknown("variable", word.unknown.sentence) if word.unknown else word.text
            because = "" if always else "a condition decides whether it is set"
            if name in exported or (had is not None and not always):
                value = Unknown("variable", f"{name} is set more than once")
            exported.add(name)
            self._exported.add(name)
            self.environment[name] = Value(value, span, word.text, because)
        if others - self.environment.keys() or re.search(_EXPORTS_OTHERS, text.text) is not None:
            self.files.env_files = True
        found = tuple(commands(text, before))
        names = dict.fromkeys(command.function for command in found if command.function)
        for name in names:
            self.functions[name] = _Body(tuple(c for c in found if c.function == name), inline, text.text)
        self._run_all(_Body(tuple(c for c in found if not c.function), inline, text.text), arguments, context)
        for name in names:
            if name not in self.called and _may_be_called(name, found):
                self._call(name, (), context._replace(certain=False))

    def _call(self, name: str, arguments: tuple[str, ...], context: RunContext) -> None:
        """Follow a function of a script."""
        self.called.add(name)
        if (f"{name}()", arguments) not in self.seen:
            self.seen.add((f"{name}()", arguments))
            inner = context._replace(depth=context.depth + 1, arguments=False)
            self._run_all(self.functions[name], arguments, inner)

    def _run_all(self, body: _Body, arguments: tuple[str, ...], context: RunContext) -> None:
        """Follow commands that run one after the other."""
        directory, before = context.directory, len(self.commands)
        for command in body.commands:
            written = command.words if command.given is None else with_input(command.words, command.given)
            words = _with_arguments([word.text for word in written], arguments)
            words = ["sleep", "infinity"] if command.endless else _beside(words, directory, context)
            writes = command.given is not None and words == ["cat"]  # `cat > FILE <<EOF`
            if command.when in ("never", "value") or not words or writes:
                self._write(command, body, directory, context)
                continue
            if words[0] in _MOVES:
                directory = self._moved(words, directory, context)
                continue
            span = context.span if body.inline else command.span
            started = unwrapped(words)
            if started and kind_of(started) != "silent":
                self.assigned = {**assigned(command, context.span if body.inline else None), **self.assigned}
            certain = context.certain and command.when == "always"
            self._went, outer = directory, self._beside
            self._beside = outer or _is_repeated(command, body)
            self.run(words, span, directory, certain=certain, guessed=context.guessed, depth=context.depth + 1)
            self._beside = outer
            directory = self._went if words[0].removesuffix("()") in self.functions else directory
            left = _leaves(command, words, context)
            if left == "always":
                if _fails(words) and len(self.commands) == before:
                    self.stop("its script refuses what it is given", span)
                break
            if left == "perhaps":
                context = context._replace(certain=False)
        self._went = directory

    def _write(self, command: Command, body: _Body, directory: str, context: RunContext) -> None:
        """Note the file that a script writes by ``cat > FILE <<EOF``, where it is named once more, to run it.

        What names it again may change it.
        """
        text, span = command.given, context.span if body.inline else command.span
        name = posixpath.basename(command.written)
        if not name or text is None or text.unknown or span is None:
            return
        self._writes += 1
        if self._writes > _MOST_WRITTEN or body.text.count(name) > _WRITTEN_AND_RUN:
            return
        at = span.source.text.find(text.text, span.start) if text.text.strip() else -1
        line = span.source.text.count("\n", 0, at if at >= 0 else span.start)
        source = Source(span.source.path, "\n" * line + text.text)
        certain = command.when == "always" and context.certain
        self.files.write(command.written, directory, source, line + 1, certain=certain)

    def _moved(self, words: Sequence[str], directory: str, context: RunContext) -> str:
        """Where ``cd``, ``pushd`` or ``popd`` leads from a directory."""
        if words[0] == "popd":
            return self._pushed.pop() if self._pushed else directory
        if words[0] == "pushd":
            self._pushed.append(directory)
        if len(words) != 2:
            return directory
        beside = _path_beside(words[1], "", context)
        if beside is not None:
            return beside
        return directory if "$" in words[1] else posixpath.normpath(posixpath.join(directory, words[1]))

    # Programs -----------------------------------------------------------------------------

    def _program(self, command: tuple[str, ...], context: RunContext) -> None:
        program = posixpath.basename(command[0])
        inner = python_words(command)
        if inner is not None:
            if inner:
                started = by_python(inner, self.files, context)
                pages = "streamlit" in (program, *command[1:3])
                self._start(with_pages(started, self.files) if pages else started)
            return
        if is_python(program):
            self._python(command, context)
            return
        if program in SERVERS:
            self._start(by_server(command, self.files, context))
            return
        if program in TESTERS:
            self._start(by_python(("-m", program, *command[1:]), self.files, context))
            return
        if program == "supervisord" and self._supervised(command, context):
            return
        path = command[0]
        place = self.files.find(path, context.directory) if "/" in path else None
        if place is None and self._passes_on(command[0], command[1:], context):
            self.commands = [ran for ran in self.commands if ran.words != command]
            return
        if place is None and "/" not in command[0] and not command[0].startswith("-"):
            found = by_installed_name(command, self.files, context)
            if found is not None:
                self._start((found,))
                return
            path, place = self._copied_program(command[0], context)
        if place is not None:
            self._file(place, path, command, context)
        elif "$" in command[0]:
            self._either(command, context)
            self._start(self._behind_unknown(command, context))
            self.stop(_unnamed(self._placeholders.get(command[0], command[0])), context.span)
        elif not command[0].startswith("-") and not self.settled(command) and not self._compiled(command[0], context):
            built = context.depth > 0 or self.image is not None
            self.stop(_missing(command[0], built=built), context.span)

    def _python(self, command: tuple[str, ...], context: RunContext) -> None:
        at = next((at for at, word in enumerate(command[1:], 1) if not word.startswith("-")), 0)
        self._either(command, context, at)
        found = tuple(by_python(command[1:], self.files, context))
        if any(isinstance(one, Entry) for one in found) or not self.settled(command):
            self._start(found)

    def _compiled(self, name: str, context: RunContext) -> bool:
        """Whether the image's build surely compiles a program from sources of the repository that share no memory."""
        if self.image is None or self.guessed:
            return False
        from shmlint.workloads.running.native import is_built

        name = posixpath.basename(name)
        built = is_built(name, self.image, self.files)
        self.built += [Step(f"`{name}` is compiled from sources of the repository", context.span)] if built else []
        return built

    def _task(self, words: Sequence[str], context: RunContext) -> bool:
        """Follow what a file of the repository calls by a name, ``npm start``; False where it has no such name."""
        if posixpath.basename(words[0]) not in RUNNERS:
            return False
        from shmlint.workloads.running.tasks import task

        found = task(words, self.files, context.directory)
        if found is None:
            return False
        source, text = found
        if (source.path, (text,)) in self.seen:
            self.stop(f"`{' '.join(words)}` is started more than once", context.span)
            return True
        self.seen.add((source.path, (text,)))
        self.trail.append(Step(source.path, context.span))
        self._text(Source("", text), (), context._replace(depth=context.depth + 1), inline=True)
        return True

    def _behind_unknown(self, command: tuple[str, ...], context: RunContext) -> Iterable[Entry | Step]:
        """What Python may run, once or more often, behind variables that are unknown: ``$LAUNCH python train.py``."""
        first = next((at for at, word in enumerate(command) if re.fullmatch(_VARIABLE, word) is None), len(command))
        rest = command[first:]
        if len(rest) < 2 or not is_python(posixpath.basename(rest[0])):
            return ()
        return by_python(rest[1:], self.files, context._replace(certain=False))

    def _either(self, command: tuple[str, ...], context: RunContext, at: int = 0) -> None:
        """Follow each of the programs that the scripts give a variable: ``RUN=python``, ``RUN="torchrun …"``.

        ``at`` is the word with the variable: it may be the script that Python runs.
        """
        found = re.match(r"\$\{?([A-Za-z_]\w*)(?:\[[@*]\])?\}?(?!\S)", command[at])
        if found is None or found[1] in self._given or len(self._given) >= _MOST_GIVEN:
            return
        written = dict.fromkeys(value for values in self._values for value in values().get(found[1], ()))
        for value in list(written)[: self._left[0]]:
            self._left[0] -= 1
            other = Follower(self.files, dict(self.environment), self.image, guessed=self.guessed)
            other.functions, other.settled, other._values = self.functions, self.settled, list(self._values)
            other._given, other._left = {**self._given, found[1]: None}, self._left
            source = Source("", " ".join((*command[:at], value, command[at][found.end() :], *command[at + 1 :])))
            other._text(source, (), context._replace(certain=False, depth=context.depth + 1), inline=True)
            self.perhaps += [*other.commands, *other.perhaps]
            self._start(entry._replace(certain=False) for entry in other.entries)

    def _supervised(self, command: tuple[str, ...], context: RunContext) -> bool:
        """Follow what supervisord starts; False where the repository does not have its configuration."""
        from shmlint.workloads.running import supervisor

        pending = list(supervisor.configuration(command))
        read: list[Source] = []
        while pending and len(read) < _MOST_CONFIGURATIONS:
            path = pending.pop(0)
            folder, name = posixpath.split(path)
            below = self.files.find(folder, context.directory, folder=True) if "*" in name and folder else None
            if below is not None:
                names = (n for n in self.files.repository.names(below.path) if fnmatchcase(n, name))
                pending += (posixpath.join(folder, n) for n in names)
                continue
            place = self.files.find(path, context.directory)
            source = self.files.repository.source(place.path) if place is not None else None
            if source is None or place is None or source in read:
                continue
            read.append(source)
            self.trail.append(Step(f"{place.path}{' (guessed)' if place.guessed else ''}", context.span))
            found = supervisor.read(source)
            pending += (posixpath.join(folder, path) for path in found.included)
            if not found.readable:
                self.stop(f"{place.path} has lines that supervisord does not read", context.span)
            guessed, depth = context.guessed or place.guessed, context.depth + 1
            for started in found.programs:
                before = ("env", *started.variables) if started.variables else ()
                words, folder = (*before, "sh", "-c", started.command), started.directory or context.directory
                certain = context.certain and started.certain
                self.run(words, started.span, folder, certain=certain, guessed=guessed, depth=depth)
        return bool(read)

    def _copied_program(self, name: str, context: RunContext) -> tuple[str, Place | None]:
        """A program that the image's build put on the path: it copied it there, or linked to it."""
        own = self.image.environment.get("PATH", "") if self.image is not None else ""
        folders = [folder for folder in own.split(":") if folder.startswith("/") and "$" not in folder]
        paths = [posixpath.join(folder, name) for folder in (*folders, "/usr/local/bin", "/usr/bin", "/bin")]
        texts = [text for text, _ in self.image.runs] if self.image is not None else []
        linked = [match[1] for text in texts for match in re.finditer(_LINK, text) if match[2] in paths]
        for path in (*paths, *linked[-1:]):
            found = self.files.find(path, context.directory)
            if found is not None and not found.guessed:
                return path, found
        return name, None

    def _file(self, place: Place, path: str, command: tuple[str, ...], context: RunContext) -> None:
        """A file of the repository that is run by its name in the container: its first line says by what."""
        source = self.files.repository.source(place.path)
        if source is None:
            self.stop(f"{place.path} cannot be read as text", context.span)
            return
        first = source.text.lstrip("\n")[:200].partition("\n")[0]  # one that a step writes keeps its line
        guessed = context.guessed or place.guessed
        if place.path.endswith(".py") or ("python" in first and first.startswith("#!")):
            self._start((Entry(place.path, command[1:], context.span, context.certain, guessed),))
        elif place.path.endswith((".sh", ".bash")) or "sh" in first:
            self._script(path, command[1:], context._replace(guessed=guessed))
            self.commands = [ran for ran in self.commands if ran.words != command]  # what it runs counts
        else:
            self.stop(f"{place.path} is neither a shell script nor Python", context.span)

    def _make(self, command: tuple[str, ...], context: RunContext) -> Kind | None:
        """Follow the recipe of a make target; None where the repository has none of it."""
        from shmlint.formats.makefile.exported import of_make
        from shmlint.formats.makefile.make import Given, recipe

        targets = [word for word in command[1:] if not word.startswith("-") and "=" not in word]
        place = self.files.find("Makefile", context.directory) or self.files.find("makefile", context.directory)
        source = self.files.repository.source(place.path) if place is not None and targets else None
        if source is None or place is None:
            return None
        own = _values_given([re.sub(r"^(\w+)(?::{1,3}|\?)=", r"\1=", word) for word in command[1:]], context.span)
        environment = frozenset(self.environment)
        first = environment if any(re.match(_ENVIRONMENT_FIRST, word) for word in command[1:]) else frozenset()
        given = Given(frozenset(own) | first, environment, self.files.env_files)
        lines = [line for target in targets for line in recipe(source, target, given)]
        if not lines:
            return None
        shared = self.environment
        self.environment = {**shared, **own}
        self.overwritten |= of_make(source).keys() - own.keys()
        self.trail.append(Step(f"{place.path}, target {' '.join(targets)}", context.span))
        for line in lines:
            inner = context._replace(guessed=context.guessed or place.guessed, depth=context.depth + 1)
            self._commands(line, (), inner._replace(arguments=False), inline=False)
        self.environment = shared
        return "silent"

    def _is_rank(self, entry: Entry) -> bool:
        """Whether something tells a program which rank it is; else it may try one thing in several ways."""
        return any(options(entry.arguments, RANK_OF)) or not _RANKS.isdisjoint(self.overwritten | {*self.environment})

    def _set_by_scripts(self) -> set[str]:
        """The variables that scripts export, or give the command that is followed."""
        return {name for name, _ in self._own_variables()} | (self._exported & self.environment.keys())

    def _own_variables(self) -> tuple[tuple[str, Value[str]], ...]:
        """The variables of the command that is followed which differ from those of the container."""
        everywhere = self.files.environment
        if everywhere is self.environment:
            return ()
        return tuple(one for one in self.environment.items() if everywhere.get(one[0]) is not one[1])

    def _start(self, found: Iterable[Entry | Step]) -> None:
        """Add the Python programs that a command starts, and where following it stops."""
        for entry in found:
            if isinstance(entry, Step):
                self.stop(entry.text, entry.span)
                continue
            own = entry._replace(variables=frozenset(self.overwritten), given=self._own_variables())
            own = own._replace(beside=self._beside and self._is_rank(entry))
            if all(other.runs != own.runs for other in self.entries):
                self.trail.append(Step(f"{named(own.path)}{' (guessed)' if own.guessed else ''}", own.span))
                self.entries.append(own)


_RANKS = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE"})
"""Variables that tell a process which rank it is, or of how many."""


def _is_repeated(command: Command, body: _Body) -> bool:
    """Whether a script starts a program several times at once: in a loop, by commands beside each other, by ``xargs``.
    """
    words = [word.text for word in command.words]
    if "xargs" in words and any(re.match(_AT_ONCE, word) is not None for word in words[words.index("xargs") :]):
        return True
    if command.beside != "once":
        return command.beside == "in a loop"
    program = _program_of(command)
    return bool(program) and sum(_program_of(other) == program for other in body.commands) > 1


_AT_ONCE = r"-P|--max-procs"
"""The option of ``xargs`` for several processes at once."""


def _program_of(command: Command) -> tuple[str, ...]:
    """The words of a command up to its Python program; none where it has none."""
    words = [word.text for word in command.words if re.match(r"[A-Za-z_]\w*=", word.text) is None]
    end = next((at for at, word in enumerate(words, 1) if word.endswith(".py")), 0)
    return tuple(words[:end])


def _used(value: Value[str]) -> str | None:
    """What commands get of a variable; of an env file only what ends in nothing that says more of it."""
    return value.known if not value.private or value.known in ("0", "1") else None


def _values_given(before: Sequence[str], span: Span | None) -> dict[str, Value[str]]:
    """The variables that the words in front of a command give it: ``GPUS=1 ./train.sh``, ``env GPUS=1 …``."""
    found: dict[str, Value[str]] = {}
    for name, text in _assignments(before):
        unknown = "$" in text or "`" in text
        if span is not None:
            found[name] = Value(Unknown("variable", f"{name} is set in its command") if unknown else text, span, text)
    return found


def _given_at(words: Sequence[str], span: Span) -> dict[str, Value[str]]:
    """The variables that the words of a command give it, each where it stands."""
    pairs = (words[at].partition("=") for at in _giving(words))
    return {
        name: Value(text, _once_in(span, f"{name}={text}"), text)
        for name, _, text in pairs if "$" not in text and "`" not in text
    }  # fmt: skip


def _once_in(span: Span, text: str) -> Span:
    """Where a text stands in a place; the place itself unless it stands there once."""
    around = span.source.text[span.start : span.end]
    start = span.start + around.find(text)
    return Span(span.source, start, start + len(text)) if around.count(text) == 1 else span


def _assignments(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names and values of ``NAME=value`` among words."""
    pairs = (word.partition("=") for word in words)
    return ((name, text) for name, equals, text in pairs if equals and name.isidentifier())


def _given_by(words: Sequence[str], command: Sequence[str]) -> set[str]:
    """The variables that a line gives its command, ``env WORKERS=8 python``; all, where it exports them: ``set -a``."""
    names = {name for name, _ in _assignments(words[: len(words) - len(command)])}
    exports_all = "set" in words[:1] and ("-a" in words[1:2] or "allexport" in words[1:])
    return names | ({""} if exports_all else set())


_VARIABLE = r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})"
_EXPORTS_OTHERS = r"\bexport[ \t]+(?:-p[ \t]+)?[\"']?(?:\$|`)"
"""What exports the variables of a file, ``export $(xargs < .env)``, or of its lines, ``export "$line"``."""
_EXPORTS_NAMES = r"\bexport[ \t]+([A-Za-z_]\w*)(?![\w=+\[-])"
"""A variable that is exported apart from its value: by ``read`` and ``for``, nothing of it is known."""
_ENVIRONMENT_FIRST = r"-[a-z]*e|--environment-overrides$"
_MOVES = frozenset({"cd", "pushd", "popd"})
_GIVEN = r"\$(?:[@*1-9]|\{(?:[@*]|[1-9]\d*)\W?.*\})"


def _unnamed(program: str) -> str:
    """What to say of a program whose name is not written down."""
    if program.startswith(MISSING):
        return NO_NAME
    if re.fullmatch(_GIVEN, program) is not None:
        return f"it runs what its script or function is given (`{program}`)"
    shown = " ".join(program.split())
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 1]}…"
    return f"its program is `{shown}`, whose value is unknown"


_MOST_SHOWN = 60
"""Characters of a text in a message: a variable may hold a script."""


def _missing(program: str, *, built: bool) -> str:
    """What to say of a program that is not in the repository. ``built``: it is known what its image is built from."""
    if not program:
        return "the name of its program is empty"
    if "/" in program:
        return f"`{posixpath.basename(program)}` is not in the repository"
    if program[:1].isdigit():
        return f"the image's own program, which gets `{program}`, is unknown"
    more = "what it does is unknown" if built else "the repository does not build it"
    return f"`{program}` is a program of the image, and {more}"


class _Body(NamedTuple):
    """The commands of a script or of one of its functions; ``inline`` where they are in no file."""

    commands: tuple[Command, ...]
    inline: bool
    text: str
    """All of the script."""


_MOST_WRITTEN = 20
"""Files that scripts write and that are looked for."""
_WRITTEN_AND_RUN = 2
"""Times that a script names a file which it only writes and runs."""


_SETS_UP = r"activate|bashrc|profile|setvars|setup\.(?:ba|z)?sh|conda|nvm|\.env|environ|/\.\w+/(?:bin/)?env$"
"""Files that only set variables, by the names that everybody gives them."""
_SETS_OWN = (
    r"(?:^|/)(?:activate|conda\.sh|mamba\.sh|nvm\.sh|\.\w+/(?:bin/)?env|oneapi/setvars\.sh)$"
    r"|(?:^|/)opt/ros/.*setup\.(?:ba|z)?sh$|(?:^|/)(?:devel|install)/(?:local_)?setup\.(?:ba|z)?sh$"
)
"""Files of environments, compilers and ROS that set only variables of their makers, not those of a program."""
_LINK = r"\bln\s+-s\w*\s+(/[^\s;&|]+)\s+(/[^\s;&|]+)"
"""A link that a build makes, and what it leads to."""
_PLACEHOLDER = (
    rf"{EXPRESSION}|\$\{{\w+(?:\.\w+)+\}}"
    r"|(?<![\w<])<[A-Za-z_](?:[\w-]*|[\w -]*\w(?=>(?:[\s;&|)\"']|\Z)))>"
)
"""What a page leaves to the reader, and what a CI system or Groovy puts in: a shell would read it in another way."""


def _as_variable(placeholder: re.Match[str]) -> str:
    return f"${{_{re.sub(r'[^A-Za-z0-9]+', '_', placeholder[0]).strip('_')}}}"


def _is_known_for_none(command: tuple[str, ...]) -> bool:
    """Whether a program is known to need no shared memory."""
    workload = match_command(command, builtin())
    return workload is not None and workload.needs == "no"


def _leaves(command: Command, words: list[str], context: RunContext) -> When:
    """Whether a script ends with a command. One that ends with a failure is not what it is started for."""
    if not command.leaves:
        return "never"
    if command.when == "always" and (len(words) > 1 or words[0] == "exit"):
        return "always"
    runs = words if context.arguments else command.words  # `exec` alone only redirects
    return "perhaps" if (words[0] == "exec" and len(runs) > 1) or words in (["exit"], ["exit", "0"]) else "never"


def _fails(words: Sequence[str]) -> bool:
    return words[0] == "exit" and re.fullmatch(r"[1-9][0-9]*", words[1] if len(words) > 1 else "") is not None


def _may_be_called(name: str, commands: Sequence[Command]) -> bool:
    """Whether a function that no command names may run: by ``trap``, by ``xargs``, by a name in a variable."""
    for command in commands:
        words = [word.text for word in command.words]
        if command.function != name and (name in words[1:] or words[0].startswith("$")):
            return True
    return False


def _unsaid(text: str) -> tuple[str, ...]:
    """The arguments of ``bash -c TEXT`` without any: if the text passes some on, those of the script around it."""
    return ("$@",) if re.search(_ALL_ARGUMENTS, text) is not None else ()


_ALL_ARGUMENTS = r"\$(?:[@*]|\{[@*]\})"


def _with_arguments(words: Sequence[str], arguments: tuple[str, ...]) -> list[str]:
    """Words with a script's own arguments instead of ``"$@"``."""
    found: list[str] = []
    for at, word in enumerate(words):
        text = at > 0 and at == len(words) - 1 and re.fullmatch("-[a-z]*c", words[at - 1]) is not None
        if re.fullmatch(_ALL_ARGUMENTS, word) is not None and not (text and "*" in word):
            found += arguments  # of ``bash -c "$@"`` the first alone is the text
        elif text:
            found.append(re.sub(_ALL_ARGUMENTS, lambda m: " ".join(arguments), word))  # bash -c "cd code; $@"
        elif (match := re.fullmatch(r"\$\{@:([0-9])\}", word)) is not None:
            found += arguments[max(int(match[1]) - 1, 0) :]
        else:
            found.append(re.sub(_ARGUMENT, lambda m: "".join(arguments[int(m[1]) - 1 : int(m[1])]) or m[0], word))
    return found


def _beside(words: list[str], directory: str, context: RunContext) -> list[str]:
    """Words with the path of what is beside their script instead of how it finds that: ``$(dirname "$0")/fit.py``."""
    return [_path_beside(word, directory, context) or word for word in words]


def _path_beside(word: str, directory: str, context: RunContext) -> str | None:
    """The path from a directory of what a script finds from its own; None for any other word."""
    if not context.script or not word.startswith(("$", "`")) or not ("dirname" in word or "BASH_SOURCE" in word):
        return None
    from shmlint.workloads.script_directory import beside

    found = beside(word)
    path = posixpath.normpath(posixpath.join(context.script, found)) if found is not None else None
    if path is None or path.startswith("/"):
        return path
    return posixpath.relpath(path, directory or ".") if not directory.startswith("/") else None


_ARGUMENT = r"\$\{?([1-9])\b\}?"
