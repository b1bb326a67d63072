"""Markdown and reStructuredText: the commands and compose files in their code."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial

from shmlint.files.kinds import REQUESTS_GPU
from shmlint.files.workspace import Workspace
from shmlint.formats import expressions, read_each
from shmlint.formats.comments import (
    HASH,
    HTML,
    above,
    at_end,
    before,
    first_line,
    line_suppressions,
    outside_here_documents,
    suppression,
)
from shmlint.formats.included import used_by_others
from shmlint.formats.prose import with_remedies
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import outside_commands, read_part
from shmlint.formats.shell.rest import defined_otherwise, same
from shmlint.formats.shell.run import tied, with_texts
from shmlint.formats.yaml_text import MANIFEST, MANIFEST_GPU, SERVICE_GPU
from shmlint.model.launch import Launch
from shmlint.model.reading import NotRead, Reading, joined
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.markdown import Block, blocks, blocks_of, headings_of
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_repair import repaired_end
from shmlint.syntax.shell_text import (
    BLANK,
    CLOSE,
    CLOSE_BRACE,
    ENGINE,
    NOWHERE,
    OPEN,
    OPEN_BRACE,
    RUNS,
    STARTS,
    Builder,
    Shell,
    ShellText,
    holds_one,
    lines_with,
    mentions_engine,
)
from shmlint.syntax.shell_variables import ANY, Variables, given, may_set, set_to_options
from shmlint.syntax.word import Cause

_SHELL = frozenset(
    {"", "bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "terminal", "text", "none", "plain",
     "sh-session", "bash-session", "plaintext", "cmd", "bat", "batch", "powershell", "ps1", "pwsh", "txt", "docker",
     "commandline", "command", "cli", "ssh", "fish", "linux", "shellscript"}
)  # fmt: skip
_SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "bash-session", "terminal"})
"""Languages in which a line that starts with `# ` is what root types, not a comment."""
_SHELLS: dict[str, Shell] = {
    "cmd": "cmd", "bat": "cmd", "batch": "cmd", "dos": "cmd", "batchfile": "cmd",
    "dosbatch": "cmd", "winbatch": "cmd", "powershell": "powershell", "ps1": "powershell", "pwsh": "powershell",
}  # fmt: skip
"""The languages of Windows. People call any version of PowerShell `pwsh` in documents."""
_YAML = frozenset({"yaml", "yml", "compose", "docker-compose", "dockercompose"})
_PYTHON = frozenset({"python", "py", "python3", "ipython"})
"""Languages of blocks that often hold a command of the shell alone."""
_JSON = frozenset({"", "json", "jsonc", "json5", "javascript", "js"})
_MAKE = frozenset({"make", "makefile"})


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands and compose files in documents."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


_WORDS = ("services:", "gpus:", "--gpus", "capabilities:", "apiVersion:", '"runArgs"', '"hostRequirements"')
"""What a block has that is no command, and starts containers."""


def _read(source: Source, workspace: Workspace) -> Reading:
    if not mentions_engine(source.text) and not any(word in source.text for word in _WORDS):
        return Reading()
    reading = joined(_read_block(block, part, source, workspace) for block, part in _parts(source, workspace))
    found = sorted(reading.launches, key=lambda launch: launch.span.start)
    found = _with_sections(found, source, workspace)
    reading = reading._replace(launches=tuple(tied(found)), not_read=(*reading.not_read, *_in_html(source, found)))
    outside = list(outside_commands(source, reading, "it cannot be read as a command"))
    left = _but_remarks(outside, source, workspace)
    return reading._replace(not_read=(*reading.not_read, *_in_comments(source, left)))


def _with_sections(launches: Sequence[Launch], source: Source, workspace: Workspace) -> list[Launch]:
    """Launches with the numbers of the sections they are in: those of the headings before them."""
    if not launches:
        return []
    headings = [found.start for found in headings_of(source, workspace)]
    remedied = with_remedies(launches, source, blocks_of(source, workspace))
    return [launch._replace(section=bisect_right(headings, launch.span.start)) for launch in remedied]


def _but_remarks(places: Sequence[NotRead], source: Source, workspace: Workspace) -> list[NotRead]:
    """Starts but those behind a `#` in code: other commands to choose, and what root types only in sessions."""
    around = _block_at(source, blocks_of(source, workspace)) if places else None
    return [
        place for place in places
        if around is None or around(place.span.start) is None
        or not source.line_text(place.span.line).lstrip(" \t>").startswith("#")
    ]  # fmt: skip


def _in_comments(source: Source, places: Sequence[NotRead]) -> Iterator[NotRead]:
    """Places, of which those in comments of HTML are not read for that."""
    comments = [found.span() for found in re.finditer(_HTML_COMMENT, source.text)] if places else []
    for place in places:
        at = bisect_right(comments, place.span.start, key=lambda comment: comment[0])
        inside = at > 0 and place.span.start < comments[at - 1][1]
        yield place._replace(because="it is in a comment of HTML") if inside else place


_HTML_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"


_HTML_CODE = re.compile(rf"<(?:pre|code)\b[^<>\n]*>\s*(?:[$#] )?(?:sudo )?(?={STARTS.pattern})")


def _in_html(source: Source, found: Iterable[Launch]) -> Iterator[NotRead]:
    """The container starts in HTML."""
    known = {launch.span.start for launch in found}
    for place in _HTML_CODE.finditer(source.text) if "<" in source.text else ():
        if place.end() not in known:
            yield NotRead(Span(source, place.end(), place.end() + 1), "commands in HTML are not read", "unsupported")


def _read_block(block: Block, part: Part | None, source: Source, workspace: Workspace) -> Reading:
    if part is None:
        return joined((_services(block, source, workspace), Reading(not_read=tuple(_not_read(block, source)))))
    reading = read_part(part, os.path.dirname(source.path))
    untold = tuple(_taken_for_output(block, part.text, source))
    # A code span in a sentence, such as `docker run -it`, names a part of a command that stands elsewhere.
    told = (place for place in reading.not_read if not (block.inline and place.kind == "syntax"))
    reading = reading._replace(not_read=(*told, *untold))
    found: Iterable[Launch] = map(_with_ellipses, reading.launches)
    if "${{" in source.text:
        written = expressions.written_in(source)
        found = (expressions.with_expressions(launch, written) for launch in found)
    return joined((reading._replace(launches=tuple(found)), _written_services(part.text, workspace)))


def _taken_for_output(block: Block, text: ShellText, source: Source) -> Iterator[NotRead]:
    """The container starts with a GPU in lines that are left out because they begin with no prompt that is known."""
    lines = ((span, _STARTED.match(source.text[slice(*span)])) for span in block.lines if len(block.lines) > 1)
    starts = [(span, found.end() - 1) for span, found in lines if found is not None]
    taken = frozenset(text.offsets) if starts else frozenset()
    for (start, end), length in starts:
        if start + length not in taken and re.search(REQUESTS_GPU, source.text[start + length : end]) is not None:
            yield NotRead(Span(source, start, end), "it is behind no known prompt", "syntax")


def _written_services(text: ShellText, workspace: Workspace) -> Reading:
    """The services of the Compose files that commands write."""
    if "<<" not in text.text or "services:" not in text.text:
        return Reading()
    from shmlint.formats.shell.here_documents import services

    return services(text, workspace)


def _text(block: Block, source: Source) -> str:
    return "\n".join(source.text[start:end] for start, end in block.lines)


def _parts(source: Source, workspace: Workspace, *, every: bool = False) -> Iterator[tuple[Block, Part | None]]:
    """The blocks of a document in their order, with the commands of those that speak of an engine, or of all."""
    read_blocks = blocks_of(source, workspace)
    before = _Before()
    for block in sorted([*read_blocks, *_alone(read_blocks, source)], key=lambda block: block.lines[0]):
        text = _text(block, source)
        if not _is_shell(block, text):
            yield block, None
            continue
        part = None
        if every or mentions_engine(text):
            part = Part(_shell_text(block, source), before.given(), typed=True)
        yield block, part
        before.texts.append(text)


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The commands in the code of a document."""
    return (part for _, part in _parts(source, workspace, every=True) if part is not None)


_MAY_SET = r"=|\b(?:read|printf|for|source|eval|export)\b|\.\s"
"""What may set a variable, as fast as it can be looked for."""


class _Before:
    """What the blocks before one set; a reader types them into the same shell."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """The blocks that were not looked at yet: only where another one follows that starts something."""
        self._values: dict[str, str | None] = {}
        self._for_options: set[str] = set()

    def given(self) -> Variables:
        for text in self.texts:
            if re.search(_MAY_SET, text) is not None:
                self._note(text)
        self.texts.clear()
        return given(self._values, self._for_options)

    def _note(self, text: str) -> None:
        self._for_options |= set_to_options(text, self._for_options)
        times = Counter(_ASSIGNED.findall(text))
        found = {name: quoted or word for name, _, quoted, word in _VALUE.findall(text) if times[name] == 1}
        names = may_set(text)
        if ANY in names:  # a file that it sources may set those again that are known
            found.clear()
            self._values.update(dict.fromkeys(self._values))
        for name in names:
            value = found.get(name)
            self._values[name] = value if self._values.get(name, value) == value else None


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether what the blocks do besides starting containers has stayed the same.

    A reader types one block after the other into the same shell.
    """
    old, new = (
        [part for _, part in _parts(files.source(path), files, every=True) if part is not None]
        for files in (before, after)
    )
    if used_by_others(defined_otherwise(old, new), before.source(path), before):
        return False
    return same(old, new, sizes_only=sizes_only)


_VALUE = re.compile(
    r"^[ \t]*(?:\$ )?(?:export[ \t]+)?([A-Za-z_]\w*)=(?:([\"'])([^\"'$`\\\n]*)\2|([\w./:@+,=-]*))[ \t]*$", re.M
)
"""An assignment of a value that is known."""
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)\+?=")


def _is_shell(block: Block, text: str) -> bool:
    """Whether a block holds commands: by its language, and else by its first line, whatever it is called."""
    if _names_shell(block.language) or block.language in _MAKE:
        return not _is_compose(block, text)
    if not mentions_engine(text):
        return False
    return _COMMANDS.match(text) is not None and _LAUNCHED.search(text) is not None


def _runs_python(block: Block, source: Source) -> bool:
    """Whether a block that is called Python holds commands: by its first line, which Python does not understand."""
    text = _text(block, source) if block.language in _PYTHON else ""
    return _RUN.match(text) is not None or _COMMANDS.match(text) is not None


_RUN = re.compile(
    r"(?:\s*#[^\n]*\n)*\s*(?:[$!%] ?)?(?:[A-Z_]+=\S*[ \t]+)*"
    r"(?:(?:python[\d.]*|torchrun|bash|sh)[ \t]+(?:-{1,2}[a-z]|[\w./-]+\.(?:py|sh)(?!\w))|accelerate[ \t]+launch\b)"
)
_BEFORE = rf"(?:(?:(?:sudo +)?{ENGINE}|cd|mkdir|export) [^\n`&|;]{{1,80}}&& +){{0,3}}"
"""Commands in front of a launch."""
_LAUNCH = re.compile(rf"(?:[$!%#] ?)?{_BEFORE}(?:sudo +)?{ENGINE} +(?:container +)?(?:run|create) +-")
_COMMANDS = re.compile(
    rf"(?:\s*#[^\n]*\n)*\s*(?:[$!%#] ?)?(?:sudo +)?(?:{ENGINE} +(?:container +|image +)?(?:run|create|build|pull)\b"
    r"|git +clone\b|cd +[\w./~$-]+ *(?:\n|&&))"
)
"""The start of a block of commands, as no code of Python begins."""
_ITEM = re.compile(r"[ \t]*(?:[-*+] +|\d+[.)] +)")
_QUOTED = re.compile(r" {0,3}> ?(?=.)")
_LAUNCHED = re.compile(rf"^(?:{_ITEM.pattern}|{_QUOTED.pattern}|[ \t]*)(?P<start>{_LAUNCH.pattern})", re.M)


def _names_shell(language: str) -> bool:
    """Whether a block is one of commands; people also write ``shell_script`` and ``bash-script``."""
    return language in _SHELL or re.match(r"(?:ba|z)?sh(?:ell)?[_-]", language) is not None


def _not_read(block: Block, source: Source) -> Iterator[NotRead]:
    """What is seen in a block that is not read as commands."""
    yield from _starts_in_other_language(block, source)
    yield from _manifests(block, source)
    yield from _dev_containers(block, source)
    yield from _job_containers(block, source)
    yield from _parts_of_services(block, source)


def _starts_in_other_language(block: Block, source: Source) -> Iterator[NotRead]:
    """The container starts of a block that is not read as commands."""
    text = _text(block, source)
    if not mentions_engine(text) or _is_compose(block, text):
        return
    lines = _LAUNCHED.finditer(text) if block.language not in _YAML else ()
    launch = next((found for found in lines if not found["start"].startswith("#")), None)
    if launch is None:  # in a setting, a step or a call: `ExecStart=docker run …`
        starts = (found for found in _STARTED.finditer(text) if re.compile(REQUESTS_GPU).search(text, found.start()))
        launch = next(starts, None)
    if launch is not None:
        line = text.count("\n", 0, launch.end())
        because = f"a block of `{block.language}` is not read as commands"
        yield NotRead(Span(source, *block.lines[line]), because, "unsupported")


_STARTED = re.compile(
    rf"^(?![ \t]*(?:#|//|;|-(?! )))[^\n]*?(?<![\w.-]){ENGINE}[ \t]+(?:container[ \t]+)?(?:run|create)[ \t]+[-\\]", re.M
)
"""A container start in a line that is no comment, and was not taken away as in a patch."""


def _manifests(block: Block, source: Source) -> Iterator[NotRead]:
    """A Kubernetes manifest with a GPU, which a document shows."""
    text = _text(block, source)
    if block.language in _YAML | {""} and MANIFEST.search(text) and (asks := MANIFEST_GPU.search(text)):
        line = text.count("\n", 0, asks.start())
        yield NotRead(Span(source, *block.lines[line]), "Kubernetes manifests in documents are not read", "unsupported")


_DEV_CONTAINER = re.compile(r'"(?:runArgs|hostRequirements)"[ \t]*:')
_DEV_CONTAINER_GPU = re.compile(r'"--gpus\b|"--runtime[=" ,]+nvidia|"gpu"[ \t]*:|/dev/(?:kfd|nvidia)')


def _dev_containers(block: Block, source: Source) -> Iterator[NotRead]:
    """A dev container with a GPU, which a document shows."""
    text = _text(block, source)
    if block.language not in _JSON or _DEV_CONTAINER.search(text) is None:
        return
    if (asks := _DEV_CONTAINER_GPU.search(text)) is not None:
        line = text.count("\n", 0, asks.start())
        yield NotRead(Span(source, *block.lines[line]), "dev containers in documents are not read", "unsupported")


_JOB_CONTAINER = re.compile(
    r"^[ \t]*container:(?:[^\n]*\n){1,20}?[ \t]*options:[^\n]*(?:\n[^\n:]*){0,10}?--gpus\b", re.M
)


def _job_containers(block: Block, source: Source) -> Iterator[NotRead]:
    """The container of a CI job with a GPU, which a document shows."""
    text = _text(block, source)
    if block.language not in _YAML or "--gpus" not in text:
        return
    if (asks := _JOB_CONTAINER.search(text)) is not None:
        line = text.count("\n", 0, asks.end())
        because = "containers of CI jobs in documents are not read"
        yield NotRead(Span(source, *block.lines[line]), because, "unsupported")


_OF_SERVICE = re.compile(r"^[ \t]*(?:image|build|shm_size|ipc):[ \t]*\S", re.M)


def _parts_of_services(block: Block, source: Source) -> Iterator[NotRead]:
    """A service with a GPU without the ``services`` around it, which a document shows."""
    text = _text(block, source)
    if block.language not in _YAML | {""} or _is_compose(block, text) or MANIFEST.search(text):
        return
    if _OF_SERVICE.search(text) and (asks := SERVICE_GPU.search(text)):
        line = text.count("\n", 0, asks.start())
        because = "a part of a Compose file in a document is not read"
        yield NotRead(Span(source, *block.lines[line]), because, "unsupported")


def _alone(read_blocks: Sequence[Block], source: Source) -> Iterator[Block]:
    """Commands that are paragraphs of their own, outside of all code."""
    if source.path.lower().endswith(".rst"):
        return
    covered = sorted((block.lines[0][0], block.lines[-1][1]) for block in read_blocks)
    text = source.text
    behind = 0
    for start in lines_with(RUNS, text):
        launch = _LAUNCHED.match(text, start)
        if launch is None:
            continue
        place = bisect_right(covered, (launch.start("start"), len(text))) - 1
        if start < behind or (place >= 0 and start <= covered[place][1]):
            continue
        number = source.position(start).line
        before = source.line_text(number - 1) if number > 1 else ""
        if _QUOTED.match(launch[0]) is not None:
            if _is_quoted_alone(source, number):
                yield Block("", ((launch.start("start"), source.line_span(number)[1]),))
            continue
        item = _ITEM.match(launch[0]) is not None
        # Meant as code, without the empty line before it.
        meant = not item and before.rstrip().endswith(":") and _is_indented(launch[0])
        if not item and not meant and not _parts_paragraphs(before):
            continue
        lines = [(start, source.line_span(number)[1])]
        while number < len(source.line_starts) and (
            text[slice(*lines[-1])].rstrip().endswith("\\") or (meant and _is_indented(source.line_text(number + 1)))
        ):
            number += 1
            lines.append(source.line_span(number))
        behind = lines[-1][1]
        following = source.line_text(number + 1) if number < len(source.line_starts) else ""
        if meant or _parts_paragraphs(following) or (item and _ITEM.match(following)):
            yield Block("", ((launch.start("start"), lines[0][1]), *lines[1:]))


def _is_quoted_alone(source: Source, number: int) -> bool:
    """Whether a line is a quotation of its own, and not a sentence of a longer one."""
    around = [source.line_text(near) for near in (number - 1, number + 1) if 1 <= near <= len(source.line_starts)]
    whole = not source.line_text(number).rstrip().endswith("\\")
    return whole and not any(re.match(r" {0,3}>[ \t]*\S", line) for line in around)


def _is_indented(line: str) -> bool:
    """Whether a line is indented as code is."""
    return re.match(r"(?: {4}| {0,3}\t)\s*\S", line) is not None


def _parts_paragraphs(line: str) -> bool:
    """Whether a line is empty, a heading or a tag alone, before which a paragraph ends and behind which one begins."""
    return not line.strip() or re.match(r" {0,3}#{1,6}(?=\s)", line) is not None or _TAG.fullmatch(line) is not None


_TAG = re.compile(r"\s*(?:\{\{[<%][^{}]*[>%]\}\}|\{%[^{}]*%\}|</?[A-Za-z][^<>]*>)\s*")
"""``{{< highlight bash >}}``, ``{% highlight bash %}`` and elements of HTML."""


def _services(block: Block, source: Source, workspace: Workspace) -> Reading:
    if _is_compose(block, _text(block, source)):
        from shmlint.formats.compose.read import read_embedded

        # The rest of the document is blanked, so that every offset is one of the document.
        start, end = block.lines[0][0], block.lines[-1][1]
        start = source.text.rfind("\n", 0, start) + 1
        return read_embedded(source, start, end, workspace)
    return Reading()


_SERVICES = re.compile(r"^services:[ \t]*(?:#.*)?$", re.M)
_SERVICE_KEY = re.compile(r"(?:^[ \t]+|[{,][ \t]*)(?:image|build|extends|gpus|deploy):", re.M)


def _is_compose(block: Block, text: str) -> bool:
    if block.language not in _YAML and block.language != "":
        return False
    return _SERVICES.search(text) is not None and _SERVICE_KEY.search(text) is not None


# Shell in documents --------------------------------------------------------------------------

_COMMAND = rf"(?=(?:\w+=\S+ )*(?:sudo )?{ENGINE}\b)"
_HOST_PROMPT = re.compile(
    r"\s*(?:\([\w.-]+\) ?)?(?:\[?[\w.-]+@[\w.-]+[^$#%\n]{0,60}[$#%] ?|\([\w.-]+\) ?[$#%]>? |[\w.-]+[$] )(?=\S)"
)
"""`user@host:~$ `, `[root@host dir]# `, `(venv) $ `, `bash-5.1$ `."""
_OTHER_PROMPT = re.compile(
    rf"\s*(?:[\w.~/-]+ \$ +|PS[^>\n]{{0,80}}> ?|[A-Z]:\\[^>\n]{{0,80}}> ?|(?:%|[$=]?>{{1,3}}) +"
    rf"|[❯➜→⇒»›▶λ] +(?:[\w.~/-]+ +(?:git:\([\w./-]+\) +(?:✗ +)?)?)??|(?:In \[\d*\]: ?)?!){_COMMAND}"
)
"""Of other shells, and of IPython; a sign may have the directory behind it: `➜  app git:(main) ✗ `."""
_PLAIN_PROMPT = re.compile(rf"\s*\$(?: +(?=\S)|{_COMMAND})")
_ROOT_PROMPT = re.compile(rf"\s*# {_COMMAND}")
_AS_ROOT = re.compile(r"\s*# (?=[\w./])|\s*\Z")
"""A line of a session that has nothing but such lines: comments alone would be no session."""

_IN_BRACKETS = r"\[\w[\w./-]*(?: [\w./-]+){1,8}\]"
_PLACEHOLDER = re.compile(
    r"<[A-Za-z](?:[^<>\n]{0,60}[^<>\s])?>|</[^<>\s]{1,80}>|(?<!\$)\{(?:\{ ?)?[A-Za-z_][\w .-]{0,40}\}?\}"
    rf"|(?<==){_IN_BRACKETS}|{_IN_BRACKETS}(?=:/)"
)
"""``<image>``, ``{model}``, and ``-w=[path to the code]``: in brackets alone are words that may be left out."""
_ELLIPSIS = re.compile(r"(?<!\S)(?:\.{3,}|…|\[(?:\.\.\.|…|-{0,2}[A-Za-z][\w ,.:=/|<>$'\"-]{0,80})\](?:\.\.\.)?)(?!\S)")
"""Stands for any number of words: `...`, `[OPTIONS]`, `[--shm-size=1g]`."""
_MANY = re.compile(r"\$__([0-9a-f]+)_OPTIONS\b")
"""What the shell reads in its place: a variable that no document sets, whose name says what is written."""


def _shell_text(block: Block, source: Source) -> ShellText:
    """The commands of a block: prompts are left out, and where there are prompts, output is too."""
    texts = [source.text[start:end] for start, end in block.lines]
    prompts = _prompts(texts, block.language)
    prompted = any(prompts)
    escape = _escape(texts, block.language)
    builder = Builder(source)
    continues = False
    for (start, end), text, length in zip(block.lines, texts, prompts, strict=True):
        skip = 0
        if prompted and not continues:
            if not length:
                continue
            skip = length
        elif continues and text.lstrip().startswith("> "):
            skip = len(text) - len(text.lstrip()) + 2
        stripped = text.rstrip()
        continues = stripped.endswith(escape) and not stripped.endswith("\\\\")
        if continues:  # blanks after the last character are a slip of the writer's
            end = start + len(stripped) - 1
            _take(builder, source, start + skip, end)
            builder.put("\\", end)
            builder.put("\n", end + 1 if end + 1 < len(source.text) else NOWHERE)
        else:
            _take(builder, source, start + skip, end)
            builder.put(" " if block.inline else "\n", end if end < len(source.text) else NOWHERE)
            continues = repaired_end(text)[1] is not None  # a comment is after the backslash
    shell = _shell(texts, prompts, block.language, escape)
    return builder.build(Span(source, block.lines[0][0], block.lines[-1][1]))._replace(unset=_unset, shell=shell)


def _shell(texts: Sequence[str], prompts: Sequence[int], language: str, escape: str) -> Shell:
    """Which shell a reader types commands into: by its prompt, else by the language or by what continues a line."""
    shown = {text[:length].strip() for text, length in zip(texts, prompts, strict=True) if length}
    found = {_shell_of_prompt(prompt) for prompt in shown}
    if found:
        return found.pop() if len(found) == 1 else "unknown"
    return _SHELLS.get(language) or _CONTINUING.get(escape, "posix")


_CONTINUING: dict[str, Shell] = {"`": "powershell", "^": "cmd"}


def _shell_of_prompt(prompt: str) -> Shell:
    if prompt.startswith("PS"):
        return "powershell"
    return "cmd" if re.match(r"[A-Z]:\\", prompt) is not None else "posix"


def _unset(name: str) -> Cause:
    found = _MANY.fullmatch(f"${name}")
    return Cause("ellipsis", bytes.fromhex(found[1]).decode()) if found is not None else expressions.unset(name)


def _with_ellipses(launch: Launch) -> Launch:
    """A launch that speaks of the placeholders that are there, not of what they were read as."""
    texts = [value.text for value in (launch.image, launch.command) if value is not None]
    texts += [launch.undecided.name] if launch.undecided is not None else []
    if not any(map(_MANY.search, texts)):
        return launch

    return with_texts(launch, lambda text: _MANY.sub("...", text))


def _escape(texts: Sequence[str], language: str) -> str:
    """The character that continues a line: PowerShell and the Windows command line have their own."""
    if any(text.rstrip().endswith("\\") for text in texts):
        return "\\"
    if language in ("powershell", "ps1", "pwsh") or any(
        text.rstrip().endswith(" `") and text.count("`") == 1 for text in texts
    ):
        return "`"
    return "^" if any(text.rstrip().endswith(" ^") for text in texts) else "\\"


def _prompts(texts: Sequence[str], language: str) -> list[int]:
    """The length of the prompt each line starts with; 0 where it has none."""
    found = [_prompt(text) for text in texts]
    if language in _SESSIONS:
        root = [_ROOT_PROMPT.match(text) for text in texts]
        # Beside commands that have no prompt it is a comment.
        if any(found) or not any(re.match(rf"\s*{_COMMAND}", text) for text in texts):
            found = [match.end() if match is not None else length for match, length in zip(root, found, strict=True)]
        if not any(found) and all(map(_AS_ROOT.match, texts)):
            found = [match.end() if (match := _AS_ROOT.match(text)) is not None else 0 for text in texts]
    return found


def _prompt(text: str) -> int:
    for pattern in (_PLAIN_PROMPT, _HOST_PROMPT, _OTHER_PROMPT):
        match = pattern.match(text)
        if match is not None:
            return match.end()
    return 0


def _take(builder: Builder, source: Source, start: int, end: int) -> None:
    """A line with its placeholders (``<image>``, ``{model}``) kept from being read as shell."""
    at = start
    if not holds_one(source.text[start:end], "<{[.…"):
        builder.take(start, end)
        return
    patterns = (_PLACEHOLDER, _ELLIPSIS, expressions.OF_CI)
    found = [match for pattern in patterns for match in pattern.finditer(source.text, start, end)]
    for match in sorted(found, key=lambda m: m.start()):
        text = match[0]
        if match.start() < at or "'" in text or '"' in text:
            continue
        builder.take(at, match.start())
        if match.re is _ELLIPSIS:
            builder.put(f"$__{text.encode().hex()}_OPTIONS")
        elif match.re is expressions.OF_CI:
            builder.put(expressions.as_variable(match), match.start())
        else:
            text = text.replace("<", OPEN).replace(">", CLOSE).replace("{", OPEN_BRACE).replace("}", CLOSE_BRACE)
            builder.put(text.replace(" ", BLANK), match.start())
        at = match.end()
    builder.take(at, end)


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The comments in blocks that hold a launch, and the HTML comments, which speak of the block that follows.

    A document may show how comments are written: elsewhere none of its code is meant.
    """
    if HASH.search(source.text) is None and HTML.search(source.text) is None:
        return
    read_blocks = blocks_of(source, workspace)
    code, block_at = _places(read_blocks), _block_at(source, read_blocks)
    starts = sorted(launch.span.start for launch in launches)
    for comment in line_suppressions(source, HASH, "#", outside_here_documents(source)):
        around = block_at(comment.span.start)
        if around is not None and bisect_left(starts, around[0]) < bisect_right(starts, around[1]):
            yield comment
    for match in HTML.finditer(source.text):
        if block_at(match.start()) is None and before(source, match.start()).count("`") % 2 == 0:
            yield _of_next_block(suppression(source, match), code)


def _places(read_blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Where the code of a document is, in its order."""
    return sorted((block.lines[0][0], block.lines[-1][1]) for block in read_blocks)


def _block_at(source: Source, read_blocks: Sequence[Block]) -> Callable[[int], tuple[int, int] | None]:
    """Tells the place of the code around an offset; None outside of all code."""
    code = _places(read_blocks)

    def at(offset: int) -> tuple[int, int] | None:
        place = bisect_right(code, (offset, len(source.text))) - 1
        return code[place] if place >= 0 and offset <= code[place][1] else None

    return at


def _of_next_block(comment: Suppression, code: Sequence[tuple[int, int]]) -> Suppression:
    """An HTML comment, which speaks of the block that follows where nothing is between."""
    source = comment.span.source
    place = bisect_right(code, (comment.span.start, len(source.text)))
    if not comment.own_line or place == len(code):
        return comment
    first, last = (source.position(offset).line for offset in code[place])
    between = [source.line_text(line).strip() for line in range(comment.first + 1, first)]
    if all(not text or text.lstrip("> ").startswith(("```", "~~~")) for text in between):
        return comment._replace(first=first, last=last)
    return comment


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment in the block's own language: above a command, after a service; an HTML comment after a code span."""
    source, line, offset = launch.span.source, launch.span.line, launch.span.start
    if launch.kind == "compose-service":
        return at_end(source, line, f"# {text}")
    block = next((b for b in blocks(source) if b.lines[0][0] <= offset <= b.lines[-1][1]), None)
    if block is None or _SHELLS.get(block.language) == "cmd":
        return None
    if block.inline:
        return None if source.path.lower().endswith(".rst") else at_end(source, line, f"<!-- {text} -->")
    first = first_line(source, line)
    code = next((start for start, _ in block.lines if source.position(start).line == first), None)
    return None if code is None else above(source, first, f"# {text}", code=code)


class ShellBlock:
    """Code of a document that may be commands; they are read when somebody asks for them."""

    def __init__(self, block: Block, source: Source) -> None:
        self.start, self.end = block.lines[0][0], block.lines[-1][1]
        self._block, self._source = block, source

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands; none where it is a Compose file."""
        text = _shell_text(self._block, self._source)
        return tuple(commands(text)) if not _is_compose(self._block, _text(self._block, self._source)) else ()


def shell_blocks(source: Source, workspace: Workspace) -> Iterator[ShellBlock]:
    """The code of a document, block by block, and the commands that are lines of their own: ``1. `python train.py` ``.

    What a document shows after the start of a shell in a container is what it runs there.
    """
    every = blocks_of(source, workspace)
    code = [b for b in every if not b.inline and (_names_shell(b.language) or _runs_python(b, source))]
    around = _block_at(source, every)
    quoted = (_SPAN_ALONE, _SPAN_TOLD) if "`" in source.text else ()
    spans = list({match.span(1): None for pattern in quoted for match in pattern.finditer(source.text)})
    spans += [match.span() for match in _LINE_ALONE.finditer(source.text)] if "python" in source.text else []
    alone = [Block("", (span,)) for span in spans if around(span[0]) is None]
    for block in sorted([*code, *alone], key=lambda block: block.lines[0]):
        yield ShellBlock(block, source)


_SPAN_ALONE = re.compile(
    r"`(?<=[ \t\n]`)((?:[A-Z_]+=[^\s`]* +)*"
    r"(?:python[\d.]*|torchrun|accelerate|deepspeed|bash|sh|\./[\w./-]+\.sh) [^`\n]+)`[ \t]*(?=\n|\Z)"
)
"""A code span that is a command which runs a program, at the end of a line; it begins with what is looked for."""
_SPAN_TOLD = re.compile(
    r"(?i:\b(?:run|running|execute|executing|type|launch|calling|call|command|then|start|starting)(?: is)?[:,]?[ \t]+)"
    r"`((?:(?:python[\d.]* [\w./-]+\.py|(?:ba)?sh [\w./-]+\.sh)(?: [^`\n]+)?"
    r"|(?:torchrun|accelerate launch|deepspeed) [^`\n]+))`"
)
"""Such a span inside of a sentence that says to run it."""
_LINE_ALONE = re.compile(r"(?<=\n\n)python[\d.]*[ \t]+(?:-m[ \t]+[\w.]+|[\w./-]+\.py)(?:[ \t]+-[^`\n]*)?(?=\n\n|\n?\Z)")
"""A command that is a paragraph of its own: a sentence goes on with a word, and not with an option."""
