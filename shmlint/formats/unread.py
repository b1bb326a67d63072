"""Files in which containers are started in languages that are not read: each start is seen, and reported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.files.kinds import REQUESTS_GPU, may_request_gpu
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.model.launch import ENGINES, Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.shell_text import ENGINE


class _Language(NamedTuple):
    """What is not read, and how a container is started there: each pattern's group ``start`` is where."""

    what: str
    patterns: tuple[str, ...] = ()
    with_gpu: bool = True
    """Only starts with a GPU are reported, because a program may also start containers for its tests."""
    lines: tuple[str, ...] = ()
    """Patterns of whole lines, which are looked for only where a line names an engine."""


_IN_SCRIPT = (
    rf"(?im)^(?![ \t]*(?:#|::|rem\b|echo\b|write-))(?>[^\n#]*?\b(?P<start>{'|'.join(ENGINES)})(?:\.exe)?[ \t])"
    r"(?>[^\n#]*?(?<![\w-])(?:run|create)[ \t])"
)
_RUN = r"[ \t]+(?:container[ \t]+)?(?:run|create)[ \t]+[-\\]"
_IN_DOCUMENT = rf"(?<![\w./-])(?P<start>{ENGINE}){_RUN}"
_IN_YAML = rf"(?![ \t]*#)(?>[^\n#]*?(?<![\w./-])(?P<start>{ENGINE}){_RUN})"
_ITEM = r"[\"']?[ \t]*,[ \t]*[\"']?"
_FLOW_LIST = (
    rf"(?![ \t]*#)(?>[^\n#]*?\[[ \t]*[\"']?(?:sudo{_ITEM})?(?P<start>{ENGINE}){_ITEM}"
    rf"(?:container{_ITEM})?(?:run|create){_ITEM}-)"
)
_NEXT_ITEM = r"[\"']?[ \t]*\r?\n[ \t]*-[ \t]+[\"']?"
_BLOCK_LIST = (
    rf"[ \t]*(?:-[ \t]+)+[\"']?(?P<start>{ENGINE}){_NEXT_ITEM}(?:container{_NEXT_ITEM})?(?:run|create){_NEXT_ITEM}-"
)
"""A command as a list of its words, in one line or one word a line."""
_LISTS = (_FLOW_LIST, _BLOCK_LIST)
_QUOTE = "[\"'`]"
_SUBCOMMAND = rf"{_QUOTE}(?:container{_QUOTE}[ \t]*,[ \t]*{_QUOTE})?(?:run|create){_QUOTE}"
_IN_PROGRAM = (
    rf"(?P<start>{_QUOTE}(?:[\w/]*/)?{ENGINE}{_QUOTE})[\s,\[\]()&.!:\w]{{1,60}}?{_SUBCOMMAND}",
    rf"(?P<start>[\[(]\s*[\w.]*(?:docker|podman|engine|container)[\w.]*(?:\(\))?)\s*,\s*{_SUBCOMMAND}",
    rf"(?:[=(\[,:]|\b(?:sh|system|exec|spawn)[ \t])[ \t]*[rfbu]{{0,2}}{_QUOTE}{{1,3}}\s*"
    rf"(?:[^\"'`\n]{{0,120}}?(?:&&|;)[ \t]*)?(?:sudo[ \t]+)?"
    rf"(?P<start>{ENGINE}){_RUN}",
    r"(?P<start>\b(?:containers\.(?:run|create)|ContainerCreate|createContainer|create_container|docker\.run)\()",
)
_BLOCKS = (
    r'(?P<start>\bresource[ \t]+"docker_container")', r'(?P<start>\bdriver[ \t]*=[ \t]*"docker")',
    r'(?m)^[ \t]*limits[ \t]*=?[ \t]*\{[^}]{0,500}?(?P<start>"nvidia\.com/gpu")[ \t]*[=:][ \t]*"?[1-9$a-z]',
)  # fmt: skip
_PLAYBOOK = r"[ \t]*(?:-[ \t]+)?(?:[a-z]+\.[a-z]+\.)?(?P<start>(?:docker|podman)_container)[ \t]*:"
_WORKFLOW = _Language(
    "workflows of other tools are",
    (
        _IN_DOCUMENT,
        rf"(?P<start>\b(?:containerOptions|runOptions)\b)[ \t]*=?[ \t]*(?:\{{[^\n]*)?{_QUOTE}",
        r"(?P<start>\bCUDARequirement\b)",
        r"(?P<start>\bnvidia_gpu)[ \t]*=[ \t]*[1-9]",
    ),
)
_CONDOR = _Language("HTCondor's submit files are", (r"(?mi)^[ \t]*(?P<start>request_gpus)[ \t]*=[ \t]*[1-9$]",), False)
_SCRIPTS = _Language("scripts of PowerShell are", (_IN_SCRIPT,), False)
_BATCH = _Language("scripts of the Windows command line are", (_IN_SCRIPT,), False)
_ASCIIDOC = _Language("AsciiDoc is", (_IN_DOCUMENT,), False)
_SETTINGS = _Language("the commands of other tools' settings are", (), False, (_IN_YAML, _FLOW_LIST))
_TEXT = _Language("a text that is no Markdown is", (_IN_DOCUMENT,), False)
_TERRAFORM = _Language("Terraform and Nomad are", _BLOCKS, lines=(_IN_YAML,))

_LANGUAGES = {
    "ps1": _SCRIPTS, "psm1": _SCRIPTS, "bat": _BATCH, "cmd": _BATCH, "adoc": _ASCIIDOC, "asciidoc": _ASCIIDOC,
    "ipynb": _Language("the commands of notebooks are", (_IN_DOCUMENT,), False),
    "org": _Language("Org is", (_IN_DOCUMENT,), False),
    "tex": _Language("LaTeX is", (_IN_DOCUMENT,), False),
    "txt": _TEXT, "readme": _TEXT, "install": _TEXT, "usage": _TEXT,
    **dict.fromkeys(("json", "jsonc", "toml", "ini", "conf", "desktop", "cmake"), _SETTINGS),
    **dict.fromkeys(("crontab", "cron", "procfile", "earthfile"), _SETTINGS),
    "vagrantfile": _Language("Vagrantfiles are", (_IN_DOCUMENT,), False),
    **dict.fromkeys(("nf", "config", "smk", "snakefile", "cwl"), _WORKFLOW),
    **dict.fromkeys(("sub", "submit", "condor", "jdl"), _CONDOR),
    "tf": _TERRAFORM, "hcl": _TERRAFORM, "nomad": _TERRAFORM,
}  # fmt: skip
"""By the ending of a file, or the name of one that has none."""
_PLAYBOOKS = _Language("playbooks and commands in other tools' YAML are", lines=(_PLAYBOOK, _IN_YAML, *_LISTS))
_VALUES = _Language(
    "the values of a Helm chart are", (r"(?m)^[ \t]*[\"']?(?P<start>nvidia\.com/gpu)[\"']?:[ \t]*[\"']?[1-9]",)
)
_PROGRAMS = _Language("the commands of programs are", _IN_PROGRAM)
_MANIFESTS = _Language("container starts in a manifest's scripts are", lines=(_IN_YAML, *_LISTS))

_NEAR = 1500
"""Characters of a start in which its request for a GPU is looked for."""
_OTHER = re.compile(r"(?i)\b(?:compose|network|volume|context|exec|buildx)\b")
_SAID = re.compile(
    r"^\s*(?:#|//|\*)|\b(?:print\w*|log\w*|info|warn\w*|error|debug|echo|help|raise|throw|console)\b[^\n]*$", re.I
)


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """No launches; where containers are started."""
    return read_each(paths, workspace, lambda source: Reading(not_read=tuple(_starts(source))))


def in_manifest(source: Source) -> Iterator[NotRead]:
    """The starts with a GPU in the scripts and arguments of a manifest's containers."""
    for place in _starts(source, _MANIFESTS) if may_request_gpu(source.text.encode("utf-8", "replace")) else ():
        yield place._replace(whole=False)


def in_program(source: Source, start: int, end: int) -> Iterator[NotRead]:
    """The starts with a GPU in a program that stands in a file."""
    for place in _starts(Source(source.path, source.text[:end]), _PROGRAMS):
        if place.span.start >= start:
            yield place._replace(span=Span(source, place.span.start, place.span.end), whole=False)


def _starts(source: Source, language: _Language | None = None) -> Iterator[NotRead]:
    language = language or _language(source.path.lower())
    found = sorted(
        match.span("start")
        for match in (
            *(match for pattern in language.patterns for match in re.finditer(pattern, source.text)),
            *_in_lines(language.lines, source.text),
        )
        if language.with_gpu or _OTHER.search(match.string, match.start("start"), match.end()) is None
    )
    if language.with_gpu:
        found = list(_with_gpu(source.text, found))
    for start, end in found:
        yield NotRead(Span(source, start, end), f"{language.what} not read", "unsupported", whole=start == found[0][0])


def _in_lines(patterns: Sequence[str], text: str) -> Iterator[re.Match[str]]:
    """What patterns of whole lines match: most lines name no engine."""
    compiled = [re.compile(pattern) for pattern in patterns]
    previous = -1
    for named in re.finditer("|".join(ENGINES), text) if patterns else ():
        line = text.rfind("\n", 0, named.start()) + 1
        if line > previous:
            previous = line
            yield from filter(None, (pattern.match(text, line) for pattern in compiled))


def _language(path: str) -> _Language:
    directory, _, name = path.rpartition("/")
    ending = name.rpartition(".")[2]
    if name == "cmakelists.txt" or directory.endswith("cron.d"):
        return _SETTINGS
    if ending in ("yml", "yaml"):
        return _VALUES if "values" in name else _PLAYBOOKS
    return _LANGUAGES.get(ending, _PROGRAMS)


def _with_gpu(text: str, starts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The starts whose text, up to the next one, requests a GPU, without those that are comments or messages.

    What an interface for programs is given is often put together before the call.
    """
    for number, (start, end) in enumerate(starts):
        line = text[text.rfind("\n", 0, start) + 1 : start]
        first = max(0, start - _NEAR) if text[end - 1] == "(" else start
        following = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        last = start + _NEAR if text[end - 1] == "(" else min(following, start + _NEAR)
        if _SAID.search(line) is None and re.compile(REQUESTS_GPU).search(text, first, last) is not None:
            yield start, end


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """None: nothing is found there."""
    return iter(())


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """None: nothing is found there."""
    return None
