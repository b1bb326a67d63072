"""A ``docker run`` command line, read as the client reads it, wherever it is written.

Options follow spf13/pflag (flag.go parseLongArg, parseSingleShortArg) with interspersed options
off: the first word that is not an option is the image, and all that follows is its command. The
option table is docker_run_flags.json. Compared with the docker 28.2 client.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from shmlint.docker.engines import Verb
from shmlint.docker.gotext import go_bool
from shmlint.docker.gpus_option import GpuDevices, parse_gpus, parse_podman_gpus
from shmlint.docker.images import is_reference
from shmlint.docker.mounts import SHM_TARGETS, MountOption, parse_mount, parse_tmpfs, parse_volume
from shmlint.docker.placeholders import is_placeholder
from shmlint.docker.sizes import docker_size
from shmlint.model.launch import Binary, Unknown, UnknownKind
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.syntax.shell_variables import decides_nothing
from shmlint.syntax.word import Cause, Word


class Option(NamedTuple):
    """One option as given: ``name`` is the long name (``-v`` is ``--volume``, ``--net`` ``--network``).

    ``value`` is None for a truth option given without one. ``word`` holds the option,
    ``value_word`` its value: the same word where the two are ``joined`` by ``=`` or written
    together (``-p80:80``). ``unknown`` says why the value is not fully known.
    """

    name: str
    value: str | None
    word: Word
    value_word: Word | None = None
    value_span: Span | None = None
    joined: bool = False
    unknown: Cause | None = None
    in_branches: bool = False
    """Whether it is in a variable that holds it in some branches only."""

    @property
    def because(self) -> str:
        """Why the value is not fully known; empty where it is."""
        return self.unknown.sentence if self.unknown is not None else ""


MISSPELT_GPUS = re.compile(r"(?:--?gpu|-gpus|--gpus(?=[-_:]))(?:(?P<all>[-_]all)|:?(?:=(?P<value>.+))?)")
"""Options that are meant for ``--gpus``, with what is meant for its value."""


def is_one_word(option: Option) -> bool:
    """Whether an option and its value are in one word with a blank between, which the client refuses."""
    name = option.word.text.partition("=")[0]
    return option.joined and name.startswith("--") and " " in name


class EnvSetting(NamedTuple):
    """One environment variable; ``value`` is None where the host's is passed on (``-e NAME``)."""

    value: str | None
    option: Option
    unknown: Cause | None = None

    @property
    def because(self) -> str:
        """Why the value is not fully known; empty where it is."""
        return self.unknown.sentence if self.unknown is not None else ""


class RunCommand(NamedTuple):
    """What a container is started with.

    ``unknown`` is why options may be missing here: a word among them could hold any others, or
    an option is not known. ``unknown_option`` is the word of that option, or of one whose value is in several words.
    """

    engine: Binary
    options: tuple[Option, ...]
    image: Word | None
    command: tuple[Word, ...]
    unknown: Unknown | None = None
    unknown_option: Word | None = None

    def all(self, name: str) -> tuple[Option, ...]:
        """Every use of an option, in order."""
        return tuple([option for option in self.options if option.name == name])

    def last(self, name: str) -> Option | None:
        """The use of an option that counts where the last one wins."""
        for option in reversed(self.options):
            if option.name == name:
                return option
        return None

    def flag(self, name: str) -> bool | None:
        """Whether a truth option is on; None where its value is not known."""
        option = self.last(name)
        if option is None:
            return False
        if option.value is None:
            return True
        return None if option.unknown else go_bool(option.value)

    def shm_size(self) -> Option | None:
        """The size that counts: Docker's client refuses the command for any that it cannot read."""
        given = () if self.engine in ("podman", "nerdctl") else self.all("--shm-size")
        known = ((option, option.value or "") for option in given if not option.unknown)
        refused = (option for option, text in known if docker_size(text).error and not is_placeholder(text))
        return next(refused, self.last("--shm-size"))

    def ipc(self) -> Option | None:
        return self.last("--ipc")

    def runtime(self) -> Option | None:
        return self.last("--runtime")

    def memory(self) -> Option | None:
        return self.last("--memory")

    def entrypoint(self) -> Option | None:
        return self.last("--entrypoint")

    def name(self) -> Option | None:
        return self.last("--name")

    def network(self) -> Option | None:
        """The network whose mode counts: the first one given (docker/cli opts/network.go NetworkMode)."""
        return next(iter(self.all("--network")), None)

    def privileged(self) -> bool | None:
        return self.flag("--privileged")

    def devices(self) -> tuple[Option, ...]:
        return self.all("--device")

    def env_files(self) -> tuple[Option, ...]:
        return self.all("--env-file")

    def volumes_from(self) -> tuple[Option, ...]:
        return self.all("--volumes-from")

    def cap_add(self) -> tuple[Option, ...]:
        return self.all("--cap-add")

    def gpus(self) -> tuple[tuple[Option, GpuDevices], ...]:
        """All GPU requests: they add up. A value that is not known gives an empty request."""
        parse = parse_podman_gpus if self.engine == "podman" else parse_gpus
        return tuple(
            (option, GpuDevices() if option.unknown else parse(option.value or ""))
            for option in self.all("--gpus")
        )

    def mounts(self) -> Mounts:
        """All mounts in the order given. Where ``option.unknown``, what is written has been read as it is."""
        return tuple(
            (option, _MOUNTS[option.name](option.value or ""))
            for option in self.options
            if option.name in _MOUNTS
        )

    def shm_mounts(self) -> Mounts:
        """The mounts that decide /dev/shm: those on it, and those on /dev, which hide it."""
        return on_shm(self.mounts())

    def env(self) -> Mapping[str, EnvSetting]:
        """Environment variables of the command line, the last of a name winning."""
        settings: dict[str, EnvSetting] = {}
        for option in self.all("--env"):
            name, equals, value = (option.value or "").partition("=")
            if not re.fullmatch(r"[\w.-]+", name):
                continue
            if equals:
                settings[name] = EnvSetting(value, option, option.unknown)
            else:
                settings[name] = EnvSetting(None, option, option.unknown or Cause("host", name))
        return settings

    def ulimits(self) -> Mapping[str, Option]:
        """Ulimits by name; the option's value is ``name=soft[:hard]``."""
        return {(option.value or "").partition("=")[0]: option for option in self.all("--ulimit")}


Mounts = tuple[tuple[Option, MountOption], ...]


def on_shm(mounts: Mounts) -> Mounts:
    """Of some mounts those that decide /dev/shm."""
    return tuple(
        (option, mount)
        for option, mount in mounts
        if (not mount.error or mount.type == "tmpfs") and mount.target and mount.path in SHM_TARGETS
    )


_MOUNTS = {"--mount": parse_mount, "--volume": parse_volume, "--tmpfs": parse_tmpfs}


class Flag(NamedTuple):
    """One row of the option table."""

    name: str
    type: str
    run_only: bool


@cache
def flags(engine: Binary) -> Mapping[str, Flag]:
    """The options of an engine by every spelling: ``--volume``, ``-v``; aliases such as ``--net``."""
    with open(os.path.join(os.path.dirname(__file__), "docker_run_flags.json"), encoding="utf-8") as file:
        table = json.load(file)
    rows = dict(table["docker"])
    aliases = dict(table["docker_aliases"])
    if engine in ("podman", "nerdctl"):
        rows |= table[engine]
        aliases |= table[f"{engine}_aliases"]
    known: dict[str, Flag] = {}
    for name, row in rows.items():
        flag = Flag(name, row["type"], row.get("run_only", False))
        known[name] = flag
        if "short" in row:
            known[row["short"]] = flag
    known |= {alias: known[name] for alias, name in aliases.items()}
    return known


def takes_value(engine: Binary, text: str) -> bool | None:
    """Whether the word after an option is its value; None where the option is not known. ``-it`` are two options."""
    spellings = [text] if text.startswith("--") else [f"-{letter}" for letter in text[1:]]
    known = [flag.type != "bool" for spelling in spellings if (flag := flags(engine).get(spelling)) is not None]
    return any(known) if len(known) == len(spellings) and not any(known[:-1]) else None


def read_run(words: Sequence[Word], engine: Binary = "docker", verb: Verb = "run") -> RunCommand:
    """Read the words after ``docker run`` (or ``create``)."""
    reader = _OptionReader(words, engine, verb)
    reader.read()
    return RunCommand(
        engine,
        tuple(reader.options),
        reader.image,
        tuple(reader.command),
        reader.unknown,
        reader.unknown_option,
    )


class _UnreadableError(Exception):
    """Nothing can be said of the words from here on."""


class _OptionReader:
    """Walks the words once, as pflag does, and collects what it finds."""

    def __init__(self, words: Sequence[Word], engine: Binary, verb: Verb) -> None:
        self.words = words
        self.at = 0
        self.flags = flags(engine)
        self.engine = engine
        self.verb = verb
        self.options: list[Option] = []
        self.image: Word | None = None
        self.command: Sequence[Word] = ()
        self.unknown: Unknown | None = None
        self.unknown_option: Word | None = None
        self.passed: Word | None = None
        """The last word that was passed over for options and may be several words."""
        self.cut = False
        """Whether the words end, or are not read, before an option has its value."""
        self.passable = 0
        """The words up to here, from one that was asked about, may be no words."""

    def read(self) -> None:
        try:
            while self.at < len(self.words):
                word = self.words[self.at]
                text = word.text
                if text == "--":
                    self.at += 1
                    break
                if text.startswith("-") and len(text) > 1:
                    self.at += 1
                    found = self._long(word) if text.startswith("--") else self._short(word)
                    for option in found:
                        self.options.append(option)
                    continue
                if not word.unknown or not self._passes_over(word):
                    break
                self.at += 1
        except _UnreadableError:
            self.cut = True
            return
        if self.at == len(self.words) and self.passed is not None:
            self.image = self.passed  # the image must be in what was passed over
        if self.at < len(self.words):
            self.image = self.words[self.at]
            self.command = self.words[self.at + 1 :]

    def _passes_over(self, word: Word) -> bool:
        """Whether a word that is not known stands for options, or nothing."""
        cases = _cases_of(word, self.engine, self.verb)
        gpus = _one_of(word, cases)
        if gpus is not None:
            self.options += gpus
            if not all(map(_leaves_shm, cases)):
                # Where each of them gives a size, a finding would say too much.
                kind: UnknownKind = "arguments" if any(map(_leaves_shm, cases)) else "variable"
                self.unknown = self.unknown or Unknown(kind, word.because, word.text)
        elif word.options:
            if not word.harmless:
                self.unknown = self.unknown or Unknown("arguments", word.because, word.text)
            if _PART_OF_ARRAY.search(word.text):  # its last word may be an option that takes the next one
                raise _UnreadableError
            self.passed = word if word.maybe_many else self.passed
        else:
            holds = self._holds_options(word)
            if holds is None:
                raise self._give_up(word, word.because)
            if not holds:
                return False
            self.unknown = self.unknown or Unknown("arguments", word.because, word.text)
        return True

    def _give_up(self, word: Word, error: str) -> _UnreadableError:
        """The option is not in the table: it may be one of a newer client, and take a value or not."""
        kind: UnknownKind = "arguments" if word.unknown else "option"
        self.unknown = self.unknown or Unknown(kind, word.because or error, word.text)
        return _UnreadableError()

    def _unknown_option(self, word: Word, error: str) -> _UnreadableError:
        if not self.unknown and not word.unknown:
            self.unknown_option = word
        return self._give_up(word, error)

    def _lookup(self, spelling: str) -> Flag | None:
        flag = self.flags.get(spelling)
        return None if flag and flag.run_only and self.verb == "create" else flag

    def _long(self, word: Word) -> Iterator[Option]:
        name, equals, value = word.text.partition("=")
        if name[2:3] in ("", "-"):
            raise self._give_up(word, f"bad flag syntax: {word.text}")
        flag = self._lookup(name)
        if flag is None:
            meant = self._two_words(word) or self._meant_gpus(word)
            if meant is None:
                raise self._unknown_option(word, f"unknown flag: {name}")
            yield meant
        elif equals:
            if not value and self._is_value_of(flag.name):
                raise self._unknown_option(word, "there is a blank behind its `=`")
            self._check_unit(flag, word, value, self.words[self.at :])
            yield Option(flag.name, value, word, word, word.part_span(value), True, word.unknown)
        elif flag.type == "bool":
            yield Option(flag.name, None, word)
        else:
            yield self._with_next(flag, word)

    def _is_value_of(self, name: str) -> bool:
        """Whether the next word is a size for ``--shm-size``, or a request for ``--gpus``, which lacks its value."""
        after = self.words[self.at] if self.at + 1 < len(self.words) else None
        if after is None or after.unknown or name not in ("--shm-size", "--gpus"):
            return False
        return not (parse_gpus(after.text).error if name == "--gpus" else docker_size(after.text).error)

    def _two_words(self, word: Word) -> Option | None:
        """An option and its value in one word, which the client refuses, as they were meant."""
        name, _, value = word.text.partition(" ")
        flag = self._lookup(name)
        value = value.strip()
        if flag is None or flag.type == "bool" or not value or word.unknown:
            return None
        return Option(flag.name, value, word, word, word.part_span(value), True)

    def _meant_gpus(self, word: Word) -> Option | None:
        """``--gpu all``, ``-gpus=all`` and ``--gpus-all``, which the client refuses, as they were meant."""
        found = MISSPELT_GPUS.fullmatch(word.text)
        if found is None or word.unknown or self._lookup("--gpus") is None:
            return None
        if found["all"]:
            return Option("--gpus", "all", word, word, None, True)
        after = self.words[self.at] if found["value"] is None and self.at < len(self.words) else word
        value = found["value"] or after.text
        if after.unknown or parse_gpus(value).error:
            return None
        self.at += found["value"] is None
        return Option("--gpus", value, word, after, after.part_span(value), found["value"] is not None)

    def _short(self, word: Word) -> Iterator[Option]:
        cluster = word.text[1:]
        # Left over in pflag for `go test`: options that begin so are passed over.
        if cluster.startswith("test."):
            return
        if re.fullmatch(r"ipc(?:=.*)?", cluster):
            raise self._unknown_option(word, f"`{word.text}` is read as -i and -p, and Docker refuses the port")
        while cluster:
            flag = self._lookup(f"-{cluster[0]}")
            meant = self._meant_gpus(word) if flag is None and cluster == word.text[1:] else None
            if meant is not None:
                yield meant
                return
            if flag is None:
                raise self._unknown_option(word, f"unknown shorthand flag: '{cluster[0]}' in -{cluster}")
            if len(cluster) > 2 and cluster[1] == "=":
                value = cluster[2:]
            elif flag.type == "bool":
                yield Option(flag.name, None, word)
                cluster = cluster[1:]
                continue
            elif len(cluster) > 1:
                value = cluster[1:]
            else:
                yield self._with_next(flag, word)
                return
            yield Option(flag.name, value, word, word, word.part_span(value), True, word.unknown)
            return

    def _with_next(self, flag: Flag, word: Word) -> Option:
        if self.at == len(self.words):
            raise _UnreadableError
        after, rest = self.words[self.at], self.words[self.at + 1 :]
        if flag.name in ("--gpus", "--shm-size") and not after.unknown:
            if after.text == "=":
                raise self._unknown_option(word, "there is a blank before its `=`")
            if _lacks_value(flag.name, after, rest):
                return Option(flag.name, None, word)
            self._check_unit(flag, word, after.text, rest)
        if after.unknown is not None and after.unknown.kind == "braces":  # those behind the first are no values
            self.unknown = self.unknown or Unknown("option", after.because, after.text)
            raise _UnreadableError
        self.at += 1
        return Option(flag.name, after.text, word, after, after.part_span(after.text), False, after.unknown)

    def _check_unit(self, flag: Flag, word: Word, value: str, rest: Sequence[Word]) -> None:
        """Give up where the unit of a size is a word of its own, which the client takes for the image: ``16 g``."""
        unit = rest[0].text if len(rest) > 1 else ""
        if flag.name == "--shm-size" and value.isdigit() and re.fullmatch(_UNIT, unit) is not None:
            raise self._unknown_option(word, f"`{value}` and its unit `{unit}` are two words")

    def _holds_options(self, word: Word) -> bool | None:
        """Whether a word that is not known stands for options, or nothing, rather than for the image.

        Both are possible for a whole variable; its name and what follows tell them apart. None where they do not:
        of ``$X redis`` either word may be the image.
        """
        text = word.text
        if word.used is not None and _ARGUMENT.fullmatch(text):
            text = word.used.text.strip("\"'")  # `image=$1`: the variable that is used tells more than a number
        if not can_be_reference(text):
            return True
        if _LITERAL_START.match(text):
            return False
        if re.search(_NAMED_OPTIONS, text):
            return True
        if _NAMED_IMAGE.search(text):
            return False
        if re.search(_HINTS_OPTIONS, text):
            return True
        if self.at + 1 == len(self.words):
            return False
        if not word.maybe_many:
            named = word.unknown.name if word.unknown is not None else ""
            return _is_before_image((text, named), self.words[self.at + 1 : self.at + 1 + _MOST_UNKNOWN])
        at = max(self.at + 1, self.passable)  # each word is looked at once, however many ask
        while at + 1 < len(self.words) and self._may_be_none(self.words[at]):
            at += 1
        self.passable = at
        after = self.words[at]
        if after.text.startswith("-"):
            name = after.text.partition("=")[0]
            return self._lookup(name if name.startswith("--") else name[:2]) is not None
        if after.unknown:
            return _NAMED_IMAGE.search(after.text) is not None
        if is_program(after.text):
            return False
        return True if re.search("[/:]", after.text) else None

    def _may_be_none(self, word: Word) -> bool:
        """Whether a word that is not known may become no word, and is not the image by its name."""
        return bool(word.unknown) and word.maybe_many and _NAMED_IMAGE.search(word.text) is None


_MOST_UNKNOWN = 8
"""Words after one that is not known among which the image is looked for."""


def _is_before_image(names: Sequence[str], following: Sequence[Word]) -> bool | None:
    """Whether an image is behind a single word, as the words that follow say; None where either may be it.

    One of an array may be an option as well.
    """
    if any(map(_ELEMENT.search, names)) and not (following[0].unknown or is_program(following[0].text)):
        return None
    after = next((one for one in following if not one.unknown or _NAMED_IMAGE.search(one.text)), None)
    if after is None or after.unknown:
        return after is not None
    return None if re.search(_SURE_IMAGE, after.text) is not None else False


def _cases_of(word: Word, engine: Binary, verb: Verb) -> Sequence[Sequence[Option]]:
    """The options that a variable holds or a command prints, in each case; empty where they are not known in all."""
    values = word.values if word.options and word.maybe_many else ()
    found: list[Sequence[Option]] = []
    for value in map(str.split, values):
        cause = Cause("contained", word.text)
        reader = _OptionReader([Word(text, unknown=cause if "$" in text else None) for text in value], engine, verb)
        reader.read()
        if reader.cut or reader.unknown or reader.image or "--" in value:
            return ()
        found.append(reader.options)
    return found if any(found) else ()


def _leaves_shm(options: Sequence[Option]) -> bool:
    """Whether options decide nothing about /dev/shm but for what they say of GPUs."""
    return all(_asks_for_gpus(option) or decides_nothing(_written(option)) for option in options)


def _one_of(word: Word, cases: Sequence[Sequence[Option]]) -> Sequence[Option] | None:
    """The request for GPUs that a variable holds or a command prints in some cases.

    None where it may hold in one of them what decides about /dev/shm, unless it asks for GPUs in each: then they are
    asked for whatever else it holds. A script that asks for all GPUs in some cases is read as it runs in these; in
    others it may ask for some of them.
    """
    found = [[option for option in options if _asks_for_gpus(option)] for options in cases]
    every = [options for options in found if options and all(map(_asks_for_all, options))]
    sure = word.unknown is not None and word.unknown.every
    always = sure and all(any(map(_gives_gpus, options)) for options in found)
    if not found or not (always or all(map(_leaves_shm, cases))):
        return None
    first = min(every or filter(None, found), key=lambda options: options[0].name != "--gpus", default=())
    return [_as_held(option, word, in_branches=not always or len(every) < len(found)) for option in first]


def _as_held(option: Option, word: Word, *, in_branches: bool) -> Option:
    """An option that a variable holds in some cases; other cases may name other GPUs, so only `all` is told."""
    unknown = word.unknown if option.name == "--gpus" and not _asks_for_all(option) else option.unknown
    return option._replace(word=word, value_word=word, joined=False, unknown=unknown, in_branches=in_branches)


def _asks_for_gpus(option: Option) -> bool:
    """Whether an option is one for GPUs, whatever it asks for; or gives the container all devices."""
    value = (option.value or "").lower()
    if option.name == "--device":
        return value.startswith(("/dev/nvidia", "/dev/kfd", "nvidia.com/gpu", "amd.com/gpu"))
    if option.name == "--env":
        return value.partition("=")[0].endswith("visible_devices")
    return option.name == "--privileged" or (option.name in ("--gpus", "--runtime") and option.value is not None)


def _gives_gpus(option: Option) -> bool:
    """Whether an option asks for GPUs whatever the image and the daemon's runtime are."""
    return option.name == "--gpus" and (option.value or "0").lower() not in ("0", "none")


def _asks_for_all(option: Option) -> bool:
    return (option.name, option.value) in (("--gpus", "all"), ("--runtime", "nvidia"), ("--privileged", None))


def _written(option: Option) -> str:
    return option.name if option.value is None else f"{option.name} {option.value}"


def _lacks_value(name: str, after: Word, rest: Sequence[Word]) -> bool:
    """Whether the word after an option is not its value and can only be the image, whose place it would take.

    The client refuses the command; read as intended, the words after it keep their meaning.
    """
    error = parse_gpus(after.text).error if name == "--gpus" else docker_size(after.text).error
    if not error:
        return False
    if after.text.startswith("-"):
        return bool(rest) and not re.fullmatch(r"-\d\w*", after.text)
    return "/" in after.text[1:] and is_reference(after.text)


_UNIT = r"(?i)(?:[kmgt]i?b?|bytes?|b)"
_PLACE = r"(?s)\$?\{\{.*?\}\}|\$\{[^{}]*\}|\$\w+|\$\(.*\)|`[^`]*`|<[^<>]*>|\{+[^{}]*\}+|\$[@*#?!$-]"


def is_program(text: str) -> bool:
    """Whether a word that may be the image is the program that follows it."""
    return not is_reference(text) or re.fullmatch(_PROGRAM, text) is not None


def can_be_reference(text: str) -> bool:
    """Whether a word with variables can name an image: whether what is known of it can be in a name."""
    return re.fullmatch(r"(?!\$)[\w./:@+-]*", re.sub(_PLACE, "", text)) is not None


_PART_OF_ARRAY = re.compile(r"\$\{\w+\[(?:[@*]\]:(?![-+=?])|\d)")
_ELEMENT = re.compile(r"\$\{?\w+\[[^]@*]")
_LITERAL_START = re.compile(r"[A-Za-z0-9_/]|\.[^.]")
_NAMED_OPTIONS = r"(?i)(?:arg|opt|option|flag|param|argument|parameter)s?(?:\[[@*]\])?\W*$|\$\{?[@*]|\.\.\.|…"
_PROGRAM = (
    r"(?:ba|z|da|k|a|c)?sh|python[\d.]*|[\w.-]+\.(?:sh|py)|torchrun|accelerate|deepspeed|mpi(?:run|exec)|nvidia-smi|"
    r"make|jupyter(?:-\w+)?|pytest|tox|pip\d?|conda|uv|poetry|npm|npx|env|exec|tail|sleep|ls|cat|echo|nvcc|cmake|tmux|sudo"
)
"""Commands of containers; no image that people mean has such a name without a tag."""
_ARGUMENT = re.compile(r"\$(?:\d|\{\d+\})")
_NAMED_IMAGE = re.compile(r"(?i)image|img|tag|repo|registry|container")
_SURE_IMAGE = r"^(?:[\w-]+\.)+[a-z]+/[\w./-]+(?::[\w.-]+)?$|^[\w./-]+:[\w.-]+$"
"""A name with a registry or a tag, which is hardly that of a program."""
_HINTS_OPTIONS = (
    r"(?i)arg|opt|flag|param|extra|gpu|mount|shm|ipc|runtime|device|\[[@*]\]"
    r"|(?<![a-z])(?:vol|port|net|(?<!\{_)(?<!\{__)env)"  # `${{ env.X }}` is read as `${_env_X_}`
)
