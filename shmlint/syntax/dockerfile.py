"""What a Dockerfile says about the image it builds: base image, environment, command.

Instructions come from dockerfile-parse. Stages, arguments and quoting are followed here: the
library knows them for the last stage only, and here-documents not at all.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from shmlint.files.read import LONGEST_PATH
from shmlint.model.number import whole_number
from shmlint.model.record import NamedTuple

_SHELL = ("/bin/sh", "-c")


class Copy(NamedTuple):
    """``COPY`` or ``ADD``: sources below the build context, or in the stage they come from."""

    sources: tuple[str, ...]
    target: str
    origin: BuiltImage | None = None
    elsewhere: bool = False
    """The sources are no files of the context: another image's, or a URL's."""


_NO_LINES: Mapping[str, int] = {}


class BuiltImage(NamedTuple):
    """The image a stage gives.

    ``base_images`` are the external images under it with the 1-based line of their FROM, the
    nearest first; the names of stages are followed, never given. A variable without a known
    value stays as it is written (``${X}``), in names and in ``environment``. ``command`` and
    ``entrypoint`` are None where the Dockerfile leaves them to the base image, ``()`` where it
    empties them; the shell form follows ``/bin/sh -c``, or what SHELL says.
    """

    base_images: tuple[tuple[str, int], ...]
    environment: dict[str, str]
    command: tuple[str, ...] | None
    entrypoint: tuple[str, ...] | None
    workdir: str = ""
    """Empty where no stage of this Dockerfile sets it, and its base is not known to."""
    copies: tuple[Copy, ...] = ()
    runs: tuple[tuple[str, int], ...] = ()
    """The text of each RUN and its line."""
    lines: Mapping[str, int] = _NO_LINES
    """The line of the last CMD and ENTRYPOINT, and of each variable's last ENV."""
    triggers: tuple[str, ...] = ()
    """The instructions of ONBUILD, which are carried out in the images that are built on this one."""
    due: tuple[str, ...] = ()
    """Those of its base that this image was read without: they come before all that it says itself."""

    def at(self, first: int, more: int) -> BuiltImage:
        """The same in another file, which has its lines from ``first`` on: at most so many more, so that a text
        that the file has in one line is in that line."""

        def moved(line: int) -> int:
            return first + min(max(line - 1, 0), more)

        return self._replace(
            base_images=tuple((name, moved(line)) for name, line in self.base_images),
            runs=tuple((text, moved(line)) for text, line in self.runs),
            lines={name: moved(line) for name, line in self.lines.items()},
        )


class _Instruction(NamedTuple):
    """Name in capitals, value, 1-based line and words."""

    name: str
    value: str
    line: int
    words: Sequence[str]

    @property
    def text(self) -> str:
        return f"{self.name} {self.value}"

    @property
    def inner(self) -> _Instruction:
        """The instruction that ``ONBUILD`` holds."""
        name, *words = self.words or ("",)
        return _Instruction(name.upper(), self.value[len(name) :].strip(), self.line, words)


class _Stage:
    """What is known of a stage while its instructions are read."""

    def __init__(self, name: str, base: tuple[str, int]) -> None:
        self.name = name
        self.base = base
        self.environment: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        self.command: tuple[str, ...] | None = None
        self.entrypoint: tuple[str, ...] | None = None
        self.shell: tuple[str, ...] = _SHELL
        self.has_command = False
        """Whether CMD is in this very stage."""
        self.workdir = ""
        self.copies: list[Copy] = []
        self.runs: list[tuple[str, int]] = []
        self.lines: dict[str, int] = {}
        self.triggers: list[_Instruction] = []
        """What ONBUILD says of the stages that begin with this one."""
        self.due: Sequence[_Instruction] = ()
        """What it says of this one."""

    def inherit(self, parent: _Stage) -> None:
        """Begin with what an earlier stage has at its end."""
        self.base = parent.base
        self.environment, self.arguments = dict(parent.environment), dict(parent.arguments)
        self.command, self.entrypoint = parent.command, parent.entrypoint
        self.shell, self.workdir = parent.shell, parent.workdir
        self.copies, self.runs, self.lines = list(parent.copies), list(parent.runs), dict(parent.lines)
        self.due = tuple(parent.triggers)

    def variables(self) -> Mapping[str, str]:
        return ChainMap(self.environment, self.arguments)

    @cached_property
    def image(self) -> BuiltImage:
        """What the stage gives at its end."""
        return BuiltImage(
            (self.base,), self.environment, self.command, self.entrypoint, self.workdir, tuple(self.copies),
            tuple(self.runs), dict(self.lines), tuple(trigger.text for trigger in self.triggers),
        )  # fmt: skip

    def length(self) -> int:
        """How much a stage inherits that begins with this one."""
        tables = (self.environment, self.arguments, self.copies, self.runs, self.lines, self.due)
        return sum(map(len, tables))


class _Stages:
    """The stages so far; the last one may go on."""

    def __init__(self) -> None:
        self.all: list[_Stage] = []
        self.ended: dict[str, _Stage] = {}
        """By name, but for the last one."""

    def end(self) -> None:
        """The last one has ended."""
        if self.all and self.all[-1].name:
            self.ended[self.all[-1].name] = self.all[-1]

    def find(self, name: str, most: int) -> _Stage | None:
        """The stage of a name, else of a number below ``most``; the first one is 0."""
        number = whole_number(name)
        counted = self.all[number] if number is not None and number < most else None
        return self.ended.get(name.lower()) or counted


def read(
    text: str, target: str | None = None, args: Mapping[str, str] | None = None,
    workdir_of: Callable[[str], str] = lambda image: "",
) -> BuiltImage | None:  # fmt: skip
    """The image that ``docker build --target TARGET --build-arg …`` makes of a Dockerfile's text.

    ``target`` is the name or the number of a stage, by default the last; ``workdir_of`` gives the directory in which
    an external image works, empty where that is not known. None where there is no FROM, no such stage, or more than
    anyone wrote by hand.
    """
    escape = _escape(text)
    args = args or {}
    arguments: dict[str, str] = {}
    stages = _Stages()
    inherited = 0
    for instruction in _instructions(text, escape):
        pending = [instruction]
        if instruction.name == "FROM":
            named = [word for word in instruction.words if not word.startswith("--")]
            if named:
                stages.end()
                stage = _begin(named, instruction.line, stages, arguments, escape)
                stage.workdir = stage.workdir or workdir_of(stage.base[0])
                stages.all.append(stage)
                inherited += stages.all[-1].length()
            # Carried out before all that the stage itself says (BuildKit dockerfile2llb/convert.go, onBuildInit).
            pending = list(stages.all[-1].due) if named and inherited <= _MOST else []
        elif not stages.all:
            pending = []
            if instruction.name == "ARG":
                _declare(list(_pairs(instruction.words, arguments, escape)), args, {}, arguments)
        for one in pending:
            _carry_out(one, stages, args, arguments, escape)
        if inherited > _MOST or (stages.all and len(stages.all[-1].workdir) > LONGEST_PATH):
            return None
    if not stages.all:
        return None
    stages.end()
    wanted = stages.find(target, len(stages.all)) if target else stages.all[-1]
    return wanted.image if wanted is not None else None


_MOST = 200_000
"""What stages may inherit from others, together: each has what those before it have."""


def _carry_out(
    instruction: _Instruction, stages: _Stages, args: Mapping[str, str], arguments: Mapping[str, str], escape: str
) -> None:
    """Carry out an instruction of the last stage."""
    last = stages.all[-1]
    name, value, line, words = instruction
    if name == "ARG":
        _declare(list(_pairs(words, last.variables(), escape)), args, arguments, last.arguments)
    elif name == "ONBUILD":
        last.triggers.append(instruction.inner)
    else:
        _apply(last, name, value, words, escape)
        _record(stages, name, value, words, line, escape)


def _declare(
    pairs: Iterable[tuple[str, str | None]], args: Mapping[str, str], outer: Mapping[str, str],
    arguments: dict[str, str],
) -> None:  # fmt: skip
    """Add what ARG declares to ``arguments``; ``outer`` are those before the first stage."""
    for key, default in pairs:
        given = args.get(key, outer.get(key) if default is None else default)
        if given is not None:
            arguments[key] = given


_PLATFORM = {"TARGETARCH": "amd64", "TARGETOS": "linux", "BUILDARCH": "amd64", "BUILDOS": "linux"}
"""What BuildKit gives every FROM. https://docs.docker.com/reference/dockerfile/#automatic-platform-args-in-the-global-scope"""


def _begin(
    words: Sequence[str], line: int, stages: _Stages, arguments: Mapping[str, str], escape: str
) -> _Stage:
    """The stage that ``FROM image [AS name]`` begins, with what it inherits from an earlier one."""
    image = _expand(words[0], arguments, escape)
    name = words[2].lower() if len(words) > 2 and words[1].lower() == "as" else ""
    parent = stages.ended.get(image.lower()) if image else None
    if parent is None and "$" in image:  # the platform chooses the stage; one that GPUs are used on mostly
        parent = stages.ended.get(_expand(image, _PLATFORM, escape).lower())
    stage = _Stage(name, (image, line))
    if parent is not None:
        stage.inherit(parent)
    return stage


def _apply(stage: _Stage, name: str, value: str, words: Sequence[str], escape: str) -> None:
    """Carry out an instruction that changes what the image is started with."""
    if name == "ENV":
        # All of one ENV sees the values from before it.
        before = stage.variables()
        if words and "=" not in words[0]:  # the old form: ENV name the rest of the line
            rest = value[len(words[0]) :].strip()
            stage.environment[words[0]] = _expand(rest, before, escape)
        else:
            stage.environment.update([(key, text or "") for key, text in _pairs(words, before, escape)])
    elif name == "SHELL":
        stage.shell = _exec_form(value) or stage.shell
    elif name == "CMD":
        stage.command = _command(value, stage.shell)
        stage.has_command = True
    elif name == "ENTRYPOINT":
        stage.entrypoint = _command(value, stage.shell)
        # A command that came with the base is not meant for the new entrypoint: the builder drops
        # it (BuildKit dockerfile2llb/convert.go, dispatchEntrypoint).
        if not stage.has_command:
            stage.command = None


def _record(stages: _Stages, name: str, value: str, words: Sequence[str], line: int, escape: str) -> None:
    """Note what an instruction puts into the image, and where it is."""
    stage = stages.all[-1]
    if name in ("CMD", "ENTRYPOINT"):
        stage.lines[name] = line
    elif name == "ENV":
        keys = [words[0]] if words and "=" not in words[0] else [word.partition("=")[0] for word in words]
        stage.lines.update((key, line) for key in keys)
    elif name == "RUN":
        stage.runs.append((value, line))
    elif name == "WORKDIR" and words:
        stage.workdir = posixpath.join(stage.workdir or "/", _expand(value, stage.variables(), escape))
    elif name in ("COPY", "ADD"):
        stage.copies += _copies(stages, value, words, escape)


def _copies(stages: _Stages, value: str, words: Sequence[str], escape: str) -> Iterator[Copy]:
    stage = stages.all[-1]
    options = [word for word in words if word.startswith("--")]
    rest = words[len(options) :]
    listed = _exec_form(value[value.index("[") :]) if rest and rest[0].startswith("[") else None
    paths = list(listed) if listed is not None else [_expand(word, stage.variables(), escape) for word in rest]
    if len(paths) < 2 or any(path.startswith("<<") for path in paths):
        return
    origin = next((word.removeprefix("--from=") for word in options if word.startswith("--from=")), "")
    found = None
    if origin:
        found = stages.find(origin, len(stages.all) - 1)
    target = posixpath.join(stage.workdir or "/", paths[-1])
    elsewhere = bool(origin) and found is None
    yield Copy(tuple(paths[:-1]), target, found.image if found is not None else None, elsewhere)


def _command(value: str, shell: tuple[str, ...]) -> tuple[str, ...]:
    words = _exec_form(value)
    return (*shell, value) if words is None else words


def _exec_form(value: str) -> tuple[str, ...] | None:
    """The words of ``["a", "b"]``; None for anything else, which is the shell form."""
    if not value.startswith("["):
        return None
    import json

    try:
        words = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return tuple(words) if all(isinstance(word, str) for word in words) else None


def _split(text: str, escape: str) -> list[str]:
    """Words at blanks outside of quotation marks, quoting kept."""
    e = re.escape(escape)
    return re.findall(rf"""(?s)(?:"(?:{e}.|[^"{e}])*"|'[^']*'|{e}.?|[^\s{e}])+""", text)


def _pairs(words: Sequence[str], variables: Mapping[str, str], escape: str) -> Iterator[tuple[str, str | None]]:
    """``key=value`` words, quoting and variables resolved; None for the value of a bare key."""
    for word in words:
        key, equals, value = word.partition("=")
        yield _expand(key, variables, escape), _expand(value, variables, escape) if equals else None


_VARIABLE = r"\$(?:(?P<bare>\w+)|\{(?P<name>\w+)(?:(?P<operator>:?[-+?])(?P<word>(?:[^{}]|\{[^{}]*\})*))?\})"


_LONGEST = 2_000
"""Characters that the variables of a text may add to it."""


def _expand(text: str, variables: Mapping[str, str], escape: str) -> str:
    """Quotation marks and escapes removed, ``$X``, ``${X}``, ``${X:-word}``, ``${X:+word}`` replaced.

    A variable that is not known stays, and so does one whose value is longer than any that is meant: variables may
    double one another, and a line may name one of them thousands of times.
    """
    if not any(sign in text for sign in ("$", "'", '"', escape)):
        return text
    room = _LONGEST
    e = re.escape(escape)
    plain = rf"""(?s){_VARIABLE}|'(?P<single>[^']*)'|"(?P<double>(?:{e}.|[^"{e}])*)"|{e}(?P<escaped>.)"""
    quoted = rf"""(?s){_VARIABLE}|{e}(?P<escaped>["${e}])"""

    def expanded(text: str, pattern: str) -> str:
        return re.sub(pattern, lambda match: replacement(match, pattern), text)

    def replacement(match: re.Match[str], pattern: str) -> str:
        nonlocal room
        found = match.groupdict()
        for literal in ("single", "escaped"):
            if found.get(literal) is not None:
                return str(found[literal])
        if found.get("double") is not None:
            return expanded(found["double"], quoted)
        known = variables.get(found["bare"] or found["name"])
        operator = found["operator"] or ""
        # With the colon, an empty value counts as none.
        is_set = bool(known) if operator.startswith(":") else known is not None
        if operator.endswith("+"):
            return expanded(found["word"], pattern) if is_set else ""
        if operator.endswith("-") and not is_set:
            return expanded(found["word"], pattern)
        room -= len(known or "")
        return match[0] if known is None or room < 0 else known

    return expanded(text, plain)


def _escape(text: str) -> str:
    """The character that continues a line: a backslash, or what ``# escape=`` at the top says."""
    for line in text.removeprefix("\ufeff").splitlines():
        directive = re.match(r"\s*#\s*(\w+)\s*=\s*(.*?)\s*$", line)
        if directive is None:
            break
        if directive[1].lower() == "escape" and directive[2] in ("`", "\\"):
            return directive[2]
    return "\\"


@lru_cache(maxsize=32)
def _instructions(text: str, escape: str) -> tuple[_Instruction, ...]:
    """The instructions of a Dockerfile. Several services are built of one file."""
    from io import BytesIO

    from dockerfile_parse import DockerfileParser

    lines = _without_heredocs(text.removeprefix("\ufeff").split("\n"), escape)
    # The library overwrites its file only when it is told to change it; this one is in memory.
    parser = DockerfileParser(fileobj=BytesIO("\n".join(lines).encode("utf-8", "replace")))
    return tuple(
        _Instruction(
            part["instruction"], value := part["value"].strip(), part["startline"] + 1, tuple(_split(value, escape))
        )
        for part in parser.structure if part["instruction"] != "COMMENT"
    )  # fmt: skip


def _without_heredocs(lines: list[str], escape: str) -> list[str]:
    """The lines with the bodies of here-documents emptied; each keeps its number.

    Also, where Docker reads an instruction on and dockerfile-parse does not, the text is made to
    say so: over an empty line, and to the end of a file that ends in a continued line.
    """
    e = re.escape(escape)
    continued = re.compile(rf"(?:^|[^{e}]){e}[ \t\r]*$")
    result: list[str] = []
    instruction = ""
    ends = _Ends(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        blank = not line.strip()
        if line.lstrip().startswith("#") or (blank and not instruction):
            result.append(line)
            continue
        if blank:
            result.append(escape)
            continue
        result.append(line)
        goes_on = continued.search(line) if line.rstrip(" \t\r").endswith(escape) else None
        if goes_on is not None:
            instruction += line[: goes_on.start()] + goes_on[0].partition(escape)[0]
            continue
        instruction += line
        for name, tabs in _heredocs(instruction, escape):
            end = ends.after(at, name, tabs=tabs)
            result += [""] * (end - at)
            at = end
        instruction = ""
    # An empty line ends what is still being continued.
    return [*result, "", ""]


class _Ends:
    """The lines that may end a here-document, by their text: no body is searched line by line for its delimiter."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._places: dict[bool, dict[str, list[int]]] = {}

    def after(self, at: int, name: str, *, tabs: bool) -> int:
        """The number of the line after the first from ``at`` on that is the delimiter; ``at`` where there is none."""
        if tabs not in self._places:
            places: dict[str, list[int]] = {}
            for number, line in enumerate(self._lines):
                places.setdefault((line.lstrip("\t") if tabs else line).removesuffix("\r"), []).append(number)
            self._places[tabs] = places
        found = self._places[tabs].get(name, [])
        place = bisect_left(found, at)
        return found[place] + 1 if place < len(found) else at


def _heredocs(instruction: str, escape: str) -> Iterator[tuple[str, bool]]:
    """Delimiter of each here-document an instruction opens, and whether tabs before it are dropped.

    Only RUN, COPY and ADD take them, and ``<<`` begins a word (BuildKit parser/parser.go).
    """
    if "<<" not in instruction:
        return
    words = _split(instruction, escape)
    name = words[1] if words[0].upper() == "ONBUILD" and len(words) > 1 else words[0]
    if name.upper() not in ("RUN", "COPY", "ADD"):
        return
    for word in words:
        match = re.fullmatch(r"\d*<<(-?)([^<]+)", word)
        if match is not None:
            yield _expand(match[2], {}, escape), bool(match[1])
