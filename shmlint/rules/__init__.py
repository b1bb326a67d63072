"""Rules: a module each, with a ``RULE`` and one function ``check(launch, context)``.

A module is found by its name (``shm101_missing_shm_size.py``); its page is
``rules/SHM101-missing-shm-size.md``. There is no list of rules to maintain.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from shmlint.files.cache import Key
from shmlint.files.workspace import Workspace
from shmlint.model.finding import Finding, Severity
from shmlint.model.launch import Build, Launch, Value
from shmlint.model.need import Need
from shmlint.model.record import NamedTuple
from shmlint.model.rule import Rule
from shmlint.model.settings import Settings
from shmlint.workloads.knowledge import Workload, users
from shmlint.workloads.repository import Repository, Shared

if TYPE_CHECKING:
    from shmlint.workloads.program import Program

T = TypeVar("T")

Check = Callable[[Launch, "Context"], Iterator[Finding]]


_ENOUGH = 8 * 2**30
"""Bytes. With this much /dev/shm, the program is not read: it makes no difference."""


class ProgramSources(NamedTuple):
    """What programs are read from: the files of the run, and the images that they build."""

    workspace: Workspace
    builds: tuple[Build, ...]
    shared: Shared
    """Cached results about programs."""


class Context:
    """What a rule can use besides the launch itself."""

    __slots__ = (
        "_environments", "_every", "_needs", "_programs", "_results", "_views",
        "launches", "repository", "settings", "workloads",
    )  # fmt: skip

    def __init__(
        self, settings: Settings, workloads: tuple[Workload, ...] = (), launches: Sequence[Launch] = (),
        repository: ProgramSources | None = None,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.repository = repository
        """None: only what the launch itself says is used."""
        self.workloads = workloads
        self.launches = launches
        """Every launch of the run, for rules that compare launches."""
        self._results: dict[Key[Any], Any] = {}
        self._needs: dict[int, tuple[Launch, Need]] = {}
        self._programs: dict[int, tuple[Launch, Program]] = {}
        self._environments: dict[int, tuple[Launch, Mapping[str, Value[str]]]] = {}
        self._every = settings
        self._views = {id(settings): self}

    def of(self, launch: Launch) -> Context:
        """The context with the settings that apply to a launch's file."""
        settings = self._every.of(launch.first_file)
        if id(settings) not in self._views:
            view = Context(settings, users(settings.workloads), self.launches, self.repository)
            view._every, view._views = self._every, self._views
            self._views[id(settings)] = view
        return self._views[id(settings)]

    def once(self, key: Key[T], make: Callable[[Context], T]) -> T:
        """A value that a rule computes from all launches; computed on first use."""
        if key not in self._results:
            self._results[key] = make(self)
        return cast("T", self._results[key])

    def podman(self, launch: Launch) -> bool:
        """Whether Podman starts a launch, according to the launch or the settings."""
        return launch.podman or self.settings.engine == "podman"

    def engine(self, launch: Launch) -> str:
        """The name of what gives a launch its default size, for messages."""
        if launch.kind == "kubernetes-container":
            return "the pod"
        if launch.engine == "nerdctl":
            return "nerdctl"
        return "Podman" if self.podman(launch) else "Docker"

    def need(self, launch: Launch) -> Need:
        """How much /dev/shm a launch needs."""
        at = self.of(launch)
        known = at._needs.get(id(launch))
        if known is None:
            known = at._needs[id(launch)] = (launch, at._assessed(launch))
        return known[1]

    def assessed(self, numbers: Sequence[int]) -> list[tuple[int, Need]]:
        """What launches with GPUs need, which reports count too, by the numbers among the launches of the run."""
        launches = ((number, self.launches[number]) for number in numbers)
        return [(number, self.need(launch)) for number, launch in launches if launch.gpu.requested]

    def adopt(self, needs: Sequence[tuple[int, Need]]) -> None:
        """Take over what another process found launches to need, by their numbers."""
        for number, need in needs:
            launch = self.launches[number]
            self.of(launch)._needs[id(launch)] = (launch, need)

    def environment(self, launch: Launch) -> Mapping[str, Value[str]]:
        """The variables of a GPU launch's program: the launch's own, and those that its image, scripts and code set."""
        if not launch.gpu.requested or self.repository is None:
            return launch.environment
        known = self._environments.get(id(launch))
        if known is None:
            program = self._program(launch, self.repository)
            names = _in_code(launch, program, followed=self._is_followed(launch))
            known = self._environments[id(launch)] = launch, {**names, **program.variables}
        return known[1]

    def _assessed(self, launch: Launch) -> Need:
        from shmlint.workloads.assess import assess

        repository = self.repository
        if repository is None or not self._is_followed(launch):
            return assess(launch, self.workloads)

        def read(one: Launch) -> Need:
            return assess(one, self.workloads, self._program(one, repository))

        if launch.kind != "compose-service":
            return read(launch)
        from shmlint.workloads.running.other_commands import with_other_commands

        return with_other_commands(launch, read(launch), self._files(launch, repository), read)

    def _is_followed(self, launch: Launch) -> bool:
        """Whether the program of a launch is read for its need: with enough room that would not change the verdict."""
        effective = launch.effective_shm(self.settings.default_shm_size)
        return effective.bytes is not None and effective.bytes < _ENOUGH

    def _files(self, launch: Launch, repository: ProgramSources) -> Repository:
        return Repository(repository.workspace, launch.span.path, repository.shared, launch.texts)

    def _program(self, launch: Launch, repository: ProgramSources) -> Program:
        """The program of a launch, without its documentation and Python code; resolved once."""
        known = self._programs.get(id(launch))
        if known is None:
            from shmlint.workloads.running.resolve import resolve

            files = self._files(launch, repository)
            known = self._programs[id(launch)] = launch, resolve(launch, files, repository.builds)
        return known[1]


_OF_INTEREST = ("NCCL_", "GLOO_", "TORCH_DISTRIBUTED_")
"""Prefixes of the variables that rules are about. Code that names none of them is not read for its variables."""


def _in_code(launch: Launch, program: Program, *, followed: bool) -> dict[str, Value[str]]:
    """What the Python code of a launch puts into ``os.environ``; where its program is not ``followed`` for its need, it
    is read only if a text of it names a variable."""
    if not program.entries or not (followed or _names_variables(program)):
        return {}
    from shmlint.workloads.by_program import read

    found: dict[str, Value[str]] = {}
    for name, text, span in read(launch, program).environment:
        found.setdefault(name, Value(text, span, text))
    return found


def _names_variables(program: Program) -> bool:
    from shmlint.workloads.python.imported_texts import imported_texts

    texts = imported_texts((entry.path for entry in program.entries), program.files.repository)
    return any(name in text for text in texts if "environ" in text for name in _OF_INTEREST)


_RULE = re.compile(r"[a-z]+[0-9]{3}_")


@cache
def all_rules() -> dict[str, tuple[Rule, Check]]:
    """Every rule by its id, in the order of the ids."""
    found = {}
    for name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        stem, _, ending = name.partition(".")
        if ending == "py" and _RULE.match(stem):
            module = import_module(f"{__name__}.{stem}")
            found[module.RULE.id] = (module.RULE, module.check)
    return found


def selected(rule: Rule, settings: Settings) -> bool:
    """Whether a rule is enabled. A longer prefix overrides a shorter one, ignore overrides select."""
    if settings.severity and configured(rule, settings) == "off":
        return False
    chosen = max((len(p) for p in settings.select if meant(rule, p)), default=-1)
    dropped = max((len(p) for p in settings.ignore if meant(rule, p)), default=-1)
    if chosen < 0 and (settings.select or not rule.default):
        return False
    return chosen > dropped or dropped < 0


def configured(rule: Rule, settings: Settings) -> Severity | Literal["off"] | None:
    """The severity that the settings set for a rule; None for the rule's own."""
    fitting = [(len(pattern), level) for pattern, level in settings.severity if meant(rule, pattern)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def meant(rule: Rule, pattern: str) -> bool:
    """Whether a pattern (an id, a prefix, a name or ``all``) selects a rule.

    An empty pattern selects none.
    """
    if not pattern:
        return False
    return rule.name == pattern or rule.id.startswith(pattern.upper()) or pattern.upper() == "ALL"
