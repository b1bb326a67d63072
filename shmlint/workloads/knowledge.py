"""The knowledge base, ``rules/workloads.json``: which images and commands are known, and what is said of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

from shmlint.docker.images import parse
from shmlint.docker.sizes import parse_compose
from shmlint.files.installed import directory
from shmlint.model.finding import Evidence
from shmlint.model.need import Known
from shmlint.model.record import NamedTuple


class Workload:
    """One entry of the knowledge base; sizes in bytes.

    What an entry says is read when it is asked for: most of the hundred are looked at by name alone.
    """

    __slots__ = ("_commands", "_images", "entry", "id")

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.id: str = entry["id"]
        self.entry = entry
        self._commands: tuple[tuple[str, ...], ...] | None = None
        self._images: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        return str(self.entry.get("name", self.id))

    @property
    def known(self) -> Known:
        """What a need says of it."""
        return Known(self.id, self.name)

    @property
    def images(self) -> tuple[str, ...]:
        if self._images is None:
            self._images = tuple(pattern.lower() for pattern in self.entry.get("images", ()))
        return self._images

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Patterns, as their words."""
        if self._commands is None:
            self._commands = tuple(tuple(pattern.split()) for pattern in self.entry.get("commands", ()))
        return self._commands

    @property
    def needs(self) -> Literal["yes", "multi-gpu", "no", "depends"]:
        needs: Literal["yes", "multi-gpu", "no", "depends"] = self.entry["needs"]
        return needs

    @property
    def single_gpu(self) -> Literal["needed", "advised", "not-needed", "depends", ""]:
        needed: Literal["needed", "advised", "not-needed", "depends", ""] = self.entry.get("single_gpu", "")
        return needed

    @property
    def minimum(self) -> int | None:
        return _bytes(self.entry.get("minimum"))

    @property
    def recommended(self) -> int | None:
        return _bytes(self.entry.get("recommended"))

    @property
    def memory_share(self) -> float | None:
        return self.entry.get("memory_share")

    @property
    def because(self) -> str:
        return str(self.entry.get("because", ""))

    @property
    def condition(self) -> str:
        """What decides besides, and cannot be read from a file: such a workload is never sure to need it."""
        return str(self.entry.get("condition", ""))

    @property
    def formula(self) -> Evidence | None:
        """How its maintainers compute the size, where they do, and where."""
        text = str(self.entry.get("formula", ""))
        return Evidence(text, None, str(self.entry.get("formula_source", ""))) if text else None

    @property
    def source(self) -> str:
        return str(self.entry.get("source", ""))

    @property
    def verified(self) -> bool:
        return bool(self.entry.get("verified", False))

    @property
    def one_process(self) -> bool:
        """It uses one GPU, however many it has, unless its command asks for more."""
        return bool(self.entry.get("one_process", False))

    @property
    def counts_listed(self) -> bool:
        """It uses one of all GPUs, and each of those that are listed or counted, unless its command says otherwise."""
        return bool(self.entry.get("counts_listed", False))

    @property
    def no_ranks(self) -> bool:
        """Several GPUs make no NCCL ranks of it: it needs shared memory for something else."""
        return bool(self.entry.get("no_ranks", False))

    @property
    def vendor(self) -> Literal["amd", ""]:
        """The vendor of the GPUs that it is made for, where that is not NVIDIA."""
        vendor: Literal["amd", ""] = self.entry.get("vendor", "")
        return vendor

    @property
    def inputs(self) -> Literal["cameras", "tabs", ""]:
        """What its size can be computed from."""
        inputs: Literal["cameras", "tabs", ""] = self.entry.get("inputs", "")
        return inputs

    @property
    def sure(self) -> Literal["always", "multi-gpu", "never"]:
        """When its command alone, without a number, is sure to put into shared memory what does not fit."""
        sure: Literal["always", "multi-gpu", "never"] = self.entry.get("sure", "never")
        return sure

    def used_by(self, commands: Sequence[Sequence[str]], variables: Iterable[str] = ()) -> Workload:
        """What the entry says of these simple commands: itself, or changed by the use that they fit.

        Variables (``NAME=value``) may be one as well, but never spare a launch.
        """
        settings = [[variable] for variable in variables]
        spared: list[Mapping[str, Any]] = []
        for use in self.entry.get("uses", ()):
            if use["needs"] == "no":
                spared.append(use)
            elif any(_fits_any(command, use) for command in (*commands, *settings)):
                return self._changed_by(use)
        fitting = [next((use for use in spared if _fits_any(command, use)), None) for command in commands]
        if fitting and fitting[0] is not None and all(fitting):
            return self._changed_by(fitting[0])
        return self

    def _changed_by(self, use: Mapping[str, Any]) -> Workload:
        changes = {key: value for key, value in use.items() if key != "commands"}
        return Workload({**self.entry, "uses": (), "condition": "", **changes})


def _bytes(size: str | int | None) -> int | None:
    return parse_compose(size) if size else None


@cache
def _file() -> Mapping[str, Any]:
    import json

    with open(os.path.join(directory(), "workloads.json"), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
        return found


@cache
def builtin() -> tuple[Workload, ...]:
    """The knowledge base that comes with the program. Raises OSError for a broken installation."""
    return tuple(map(Workload, _file()["workloads"]))


class Base(NamedTuple):
    """Images that others are built on, as their makers publish them."""

    bare: bool
    """They have a system, a language, a server or CUDA alone."""
    plain: bool
    """Nothing in them uses shared memory."""
    workdir: str = ""
    """The directory in which their commands run; empty where that is not known."""


_UNKNOWN_BASE = Base(bare=False, plain=False)


def base_called(image: str) -> Base:
    """What is known of an image that others are built on; nothing of one that is not listed."""
    return _bases().get(parse(image).repository, _UNKNOWN_BASE)


def workdir_of(image: str) -> str:
    """The directory in which an image works, as its makers publish it; empty where that is not known."""
    return base_called(image).workdir


@cache
def _bases() -> Mapping[str, Base]:
    """The images of the knowledge base that others are built on, by their repositories."""
    return {
        name: Base(entry["bare"], entry["plain"], entry.get("workdir", ""))
        for entry in _file()["bases"] for name in entry["images"]
    }  # fmt: skip


def users(entries: Iterable[Mapping[str, Any]]) -> tuple[Workload, ...]:
    """Workloads from settings. An entry that has the id of one of the program's own changes that one:
    what it does not say stays."""
    if not entries:
        return ()
    known = {workload.id: workload.entry for workload in builtin()}
    return tuple(Workload(_own(entry, known.get(entry["id"], {}))) for entry in entries)


def _own(entry: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of the settings over one of the program's own. What it says goes for all uses."""
    own = {**known, **entry, "verified": True}
    if "needs" in entry and "uses" not in entry:
        own.pop("uses", None)
    for key in ("minimum", "recommended"):
        if key in entry and f"{key}_basis" not in entry:
            own[f"{key}_basis"] = {"basis": "chosen", "why": "the settings say so"}
    return own


def entry_of(known: Known | None, extra: Sequence[Workload] = ()) -> Workload | None:
    """The entry that a need rests on; None where it rests on none."""
    return entry_called(known.id, extra) if known is not None else None


def entry_called(name: str, extra: Sequence[Workload]) -> Workload | None:
    """The entry with an id."""
    own = next((workload for workload in extra if workload.id == name), None)
    return own or _by_id().get(name)


@cache
def _by_id() -> Mapping[str, Workload]:
    """The entries of the program's own, by their ids."""
    return {workload.id: workload for workload in builtin()}


def recognise(image: str, workloads: Iterable[Workload]) -> tuple[Workload | None, bool]:
    """The first workload whose image patterns fit, and whether that is certain.

    ``*/name`` says nothing of who built the image: somebody's own image may run anything.
    """
    return _recognised(image, tuple(workloads))


@lru_cache(maxsize=1024)
def _recognised(image: str, workloads: tuple[Workload, ...]) -> tuple[Workload | None, bool]:
    """The result of ``recognise``: the launches of a run share few images, and a proof reads them again."""
    name = parse(image)
    repository, tagged = name.repository, name.tagged
    exact, globs = _images(workloads)
    numbers = {*exact.get(repository, ()), *exact.get(tagged, ())}
    numbers.update(number for plain, number in globs if plain in tagged)
    for workload in (workloads[number] for number in sorted(numbers)):
        certain: bool | None = None
        for pattern in workload.images:
            if _fits(tagged if ":" in pattern else repository, pattern):
                certain = not (pattern.startswith("*/") and pattern.count("/") == 1)
                if certain:
                    break
        if certain is not None:
            return workload, certain
    return None, False


@lru_cache(maxsize=256)
def _images(workloads: tuple[Workload, ...]) -> tuple[Mapping[str, Sequence[int]], Sequence[tuple[str, int]]]:
    """The numbers of the workloads with an image pattern: by the pattern, and by the plain part of a glob."""
    exact: dict[str, list[int]] = {}
    globs: list[tuple[str, int]] = []
    for number, workload in enumerate(workloads):
        for pattern in workload.images:
            plain = _plain_part(pattern)
            if plain is pattern:
                exact.setdefault(pattern, []).append(number)
            else:
                globs.append((plain, number))
    return exact, globs


def _fits(text: str, pattern: str) -> bool:
    """Whether a glob fits a whole text. Most do not, and most of those for want of a plain part."""
    plain = _plain_part(pattern)
    if plain is pattern:
        return text == pattern
    if plain not in text:
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(text, pattern)


@cache
def _plain_part(pattern: str) -> str:
    """The longest part of a glob without a wildcard; the glob itself where it has none."""
    if "*" not in pattern and "?" not in pattern and "[" not in pattern:
        return pattern
    longest = max(pattern.replace("?", "*").split("*"), key=len)
    return "" if "[" in longest else longest


_MOST_WORDS = 500
"""Words of a command that are compared with the patterns: what runs is said at its beginning."""


def match_command(words: Sequence[str], workloads: Iterable[Workload]) -> Workload | None:
    """The workload whose command patterns fit, the one with the most words if several do."""
    return _matched(tuple(words[:_MOST_WORDS]), tuple(workloads))


@lru_cache(maxsize=1024)
def _matched(words: tuple[str, ...], workloads: tuple[Workload, ...]) -> Workload | None:
    """The result of ``match_command``: a proof reads the same commands again."""
    best: tuple[int, Workload | None] = (0, None)
    names = frozenset(name for word in words for name in (word, word.rpartition("/")[2]))
    text = "\n".join(words)
    for glob, first, pattern, workload in _commands(workloads):
        begun = first in text if glob else first in names
        if begun and len(pattern) > best[0] and _command_fits(words, pattern):
            best = (len(pattern), workload)
    return best[1]


@lru_cache(maxsize=256)
def _commands(workloads: tuple[Workload, ...]) -> Sequence[tuple[bool, str, tuple[str, ...], Workload]]:
    """The command patterns of workloads, each with whether its first word is a glob, and the plain part of that."""
    found = []
    for workload in workloads:
        for pattern in workload.commands:
            first = pattern[1] if pattern[0] == "^" else pattern[0]
            plain = _plain_part(first)
            found.append((plain is not first, plain, pattern, workload))
    return found


def _fits_any(words: Sequence[str], use: Mapping[str, Any]) -> bool:
    return any(_command_fits(words[:_MOST_WORDS], tuple(pattern.split())) for pattern in use["commands"])


def _command_fits(words: Sequence[str], pattern: tuple[str, ...]) -> bool:
    """Whether words have a pattern in a row; of one with ``**``, what stands before it and what stands behind it."""
    if "**" in pattern[1:-1]:
        gap = pattern.index("**", 1)
        return _command_fits(words, pattern[:gap]) and _command_fits(words, pattern[gap + 1 :])
    first_only = pattern[0] == "^"
    parts = pattern[1:] if first_only else pattern
    starts = range(1) if first_only else range(len(words) - len(parts) + 1)
    for start in starts:
        if start + len(parts) > len(words):
            return False
        head = words[start]
        if not (_fits(head, parts[0]) or ("/" in head and _fits(head.rpartition("/")[2], parts[0]))):
            continue
        if all(_fits(words[start + i], parts[i]) for i in range(1, len(parts))):
            return True
    return False
