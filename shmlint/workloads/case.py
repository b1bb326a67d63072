"""One launch and all that was found out about it, and what several classifiers ask of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch, Value
from shmlint.model.need import UNKNOWN_RECOMMENDED, Need
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.workloads.by_knowledge import Known, by_knowledge
from shmlint.workloads.knowledge import Workload, base_called, builtin, entry_of, recognise
from shmlint.workloads.packages.installed import TORCH, packages
from shmlint.workloads.program import Findings, Program, Ran
from shmlint.workloads.repository import Repository
from shmlint.workloads.running.resolve import passed_on, resolve
from shmlint.workloads.running.visible import as_seen

_MOST_DOCUMENTED = 20
"""Commands of a page that are looked at one by one."""


class Case(NamedTuple):
    """One launch and all that was found out about it."""

    launch: Launch
    program: Program
    findings: Findings
    known: Known
    own: bool
    """An entry of the settings decides."""
    documented: Findings
    documented_commands: Known | None
    packages: Mapping[str, Evidence]
    """The packages in the image or environment, and what says so."""

    @property
    def torch(self) -> Evidence | None:
        """What says that PyTorch is in the image or environment."""
        return next((evidence for name, evidence in self.packages.items() if name in TORCH), None)


def examine(launch: Launch, extra: Sequence[Workload] = (), program: Program | None = None) -> Case:
    """Find out what a launch runs and what is known of it."""
    program = program or resolve(launch, Repository(None, launch.span.path))
    if may_run_more(launch, program):
        from shmlint.workloads.documentation import with_documentation

        program = with_documentation(launch, program)
    based = as_seen(_with_bases(launch, program), program.commands)
    found = packages(based, program)
    program = program._replace(documented_commands=_without_others(program, found))
    telling = [ran for ran in program.commands if ran.kind in ("program", "interactive")]
    findings = Findings()
    documented, said = Findings(), None
    if program.entries or program.documented:
        from shmlint.workloads.by_program import read

        findings = read(based, program) if program.entries else findings
        documented = read(based, program, program.documented) if program.documented else documented
    copy = is_copy(program) and not program.guessed  # no error rests on the base of a build that is only guessed
    known = by_knowledge(based, extra, findings.seen_in(telling), copy=copy)
    mine = {workload.id for workload in extra}
    own = known.need.workload is not None and known.need.workload.id in mine
    if program.documented or program.documented_commands:
        shown = documented.seen_in(program.documented_commands)
        sure = [ran for ran in shown if ran.certain]
        said = _said_of(sure or shown, based, extra, copy=is_copy(program))
        if not sure and said.need.verdict == "needed":
            said = said._replace(need=said.need._replace(verdict="likely"))
    return Case(based, program, findings, known, own, documented, said, found)


def _without_others(program: Program, found: Mapping[str, Evidence]) -> tuple[Ran, ...]:
    """The documented commands without those that run in another image: the build of this one does not install them.

    Of a build on an image with a system or CUDA, whose packages are known, nothing else brings such a program.
    """
    shown, image = program.documented_commands, program.image
    asked = {name for ran in shown if not ran.certain and (name := _server(ran.words)) is not None}
    if not asked or image is None or program.guessed or program.namesake or TORCH.isdisjoint(found):
        return shown
    if not all(base_called(name).plain for name, _ in image.base_images):
        return shown
    others = {name for name in asked - found.keys() if not any(name in text for text, _ in image.runs)}
    return tuple(ran for ran in shown if ran.certain or _server(ran.words) not in others or _is_installed(ran))


def _server(words: Sequence[str]) -> str | None:
    """The package of an inference server that a command starts; None for other programs."""
    name = words[0].rpartition("/")[2]
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    return next((server for server in _SERVERS if server in (name, module.partition(".")[0])), None)


_SERVERS = ("vllm", "sglang", "lmdeploy")
"""Servers that are named after their packages."""


def _is_installed(ran: Ran) -> bool:
    """Whether the page of a command installs its server itself."""
    text = ran.span.source.text if ran.span is not None else ""
    return re.search(rf"\b(?:install|add)\b[^\n]*\b{_server(ran.words)}\b", text) is not None


def may_run_more(launch: Launch, program: Program) -> bool:
    """Whether a container gives a shell, or its script runs what it is given: pages tell what that is.

    So they and scripts do of a service without a command, in which people run one: ``docker compose run NAME …``.
    """
    open_use = program.default and (launch.interactive or launch.kind == "compose-service")
    return program.kind == "interactive" or open_use or passed_on(launch) is not None


def _said_of(commands: Sequence[Ran], launch: Launch, extra: Sequence[Workload], *, copy: bool) -> Known:
    """What the knowledge base says of documented commands: of the first that asks for ranks or workers, else of all."""
    for command in commands[:_MOST_DOCUMENTED]:
        known = by_knowledge(launch, extra, [command], copy=copy)
        if known.need.mechanisms:
            return known
    return by_knowledge(launch, extra, commands, copy=copy)


def is_copy(program: Program) -> bool:
    """Whether the build of the image runs nothing: it is used like its base image."""
    return program.image is not None and not program.image.runs


def _with_bases(launch: Launch, program: Program) -> Launch:
    """The launch with the base images of the build that gives its image."""
    if program.image is None or program.dockerfile is None or launch.base_images or program.namesake:
        return launch
    source = program.dockerfile
    bases = tuple(
        Value(name, Span(source, *source.line_span(max(line, 1))), name) for name, line in program.image.base_images
    )
    return launch._replace(base_images=bases, environment=program.environment)


def asked_for(case: Case) -> bool:
    """Whether the image's maintainers ask for shared memory for what the image is made for."""
    images = (case.launch.image, *(case.launch.base_images if is_copy(case.program) else ()))
    found = [recognise(image.known or "", builtin()) for image in images if image is not None]
    return any(sure and known is not None and known.needs == "yes" and known.verified for known, sure in found)


def is_shown(case: Case) -> bool:
    """Whether a page shows the program that the script of a launch is given."""
    return passed_on(case.launch) is not None and any(ran.certain for ran in case.program.documented_commands)


def likely(case: Case, why: str, told: Evidence) -> Need:
    """A likely need; of the size that is known of the image, where somebody has read a source of it."""
    known = case.known.need
    workload = entry_of(known.workload)
    image = environment(case) if case.known.by_command and case.program.kind == "interactive" else None
    if image is not None and image is not workload:
        size = image.recommended or UNKNOWN_RECOMMENDED
        return Need("likely", None, size, image.known, why, image.source, (told,))
    if workload is None or not workload.verified:
        return Need("likely", None, UNKNOWN_RECOMMENDED, None, why, evidence=(told,))
    size = known.recommended or UNKNOWN_RECOMMENDED
    return Need("likely", known.minimum, size, workload.known, why, known.source, (told,))


def environment(case: Case) -> Workload | None:
    """The entry of the image in which a notebook or a shell is started: its size is that of what people run there."""
    for image in (case.launch.image, *case.launch.base_images):
        found, certain = recognise(image.known or "", builtin()) if image is not None else (None, False)
        if found is not None:
            return found if certain and found.verified else None
    return None


def unknown(case: Case) -> Need:
    need = case.known.need
    return Need("unknown", None, need.recommended, need.workload, need.why, need.source, need.evidence)
