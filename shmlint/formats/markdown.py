"""Markdown and reStructuredText: the commands and compose files in their code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shmlint.formats import Reading
from shmlint.formats.shell import mentions_engine
from shmlint.settings import Settings
from shmlint.shell.commands import commands
from shmlint.shell.run import launches
from shmlint.shell.text import CLOSE, CLOSE_BRACE, OPEN, OPEN_BRACE, Builder, ShellText
from shmlint.source import Problem, Source, Span
from shmlint.workspace import Unreadable, Workspace

_SHELL = frozenset(
    {"", "bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "terminal", "text", "none",
     "sh-session", "bash-session", "plaintext", "cmd", "bat", "powershell", "ps1", "txt", "docker", "commandline"}
)  # fmt: skip
_YAML = frozenset({"yaml", "yml", "compose", "docker-compose", "dockercompose"})
_MAKE = frozenset({"make", "makefile"})

_NESTING = 3
"""Fences inside indented blocks (MkDocs tabs) are looked for this deep."""


class Block(NamedTuple):
    """Code in a document: its language, and the start and end offset of each of its lines,
    the indentation of the block left out, line endings too."""

    language: str
    lines: tuple[tuple[int, int], ...]


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands and compose files in documents."""
    reading = Reading()
    for path in paths:
        try:
            source = workspace.source(path)
        except Unreadable as error:
            reading.problems.append(Problem(Span(error.source, error.offset, error.offset), error.message))
            continue
        if not mentions_engine(source.text) and "services:" not in source.text:
            continue
        found = list(_rst_blocks(source) if path.endswith(".rst") else _markdown_blocks(source))
        for block in found:
            _read_block(block, source, workspace, settings, reading)
    reading.launches.sort(key=lambda launch: (launch.span.path, launch.span.start))
    return reading


def _read_block(
    block: Block, source: Source, workspace: Workspace, settings: Settings, reading: Reading
) -> None:
    text = "\n".join(source.text[start:end] for start, end in block.lines)
    if _is_compose(block, text):
        from shmlint.formats.compose import read_embedded

        # The rest of the document is blanked, so that every offset is one of the document.
        start, end = block.lines[0][0], block.lines[-1][1]
        start = source.text.rfind("\n", 0, start) + 1
        reading.launches += read_embedded(source, start, end, workspace)
    elif mentions_engine(text) and block.language in (_SHELL | _MAKE):
        reading.launches += launches(list(commands(_shell_text(block, source))))


_SERVICES = re.compile(r"^services:[ \t]*(?:#.*)?$", re.M)


def _is_compose(block: Block, text: str) -> bool:
    if block.language not in _YAML and block.language != "":
        return False
    return bool(_SERVICES.search(text)) and re.search(r"^[ \t]+(image|build|extends|gpus|deploy):", text, re.M) is not None


# Markdown ----------------------------------------------------------------------------------


def _markdown_blocks(source: Source) -> Iterator[Block]:
    lines = [source.line_span(number) for number in range(1, len(source.line_starts) + 1)]
    if lines and source.text.startswith("\ufeff"):
        lines[0] = (1, lines[0][1])
    yield from _blocks(source, lines, 0)


def _blocks(source: Source, lines: Sequence[tuple[int, int]], depth: int) -> Iterator[Block]:
    """Code blocks of a Markdown text given as lines of the file."""
    from markdown_it import MarkdownIt

    texts = [source.text[start:end] for start, end in lines]
    parser = MarkdownIt("commonmark", {"html": False})
    for token in parser.parse("\n".join(texts)):
        if token.type in ("fence", "code_block") and token.map is not None:
            first = token.map[0] + (1 if token.type == "fence" else 0)
            content = token.content.split("\n")
            if content and content[-1] == "":
                content.pop()
            if first + len(content) > len(lines):
                continue
            spans = tuple(
                _tail(source, lines[first + i], text) for i, text in enumerate(content)
            )
            if not spans:
                continue
            language = _language(token.info) if token.type == "fence" else ""
            inner = "\n".join(content)
            if depth < _NESTING and token.type == "code_block" and re.search(r"^ {0,3}(```|~~~)", inner, re.M):
                yield from _blocks(source, spans, depth + 1)  # MkDocs tabs, admonitions
            else:
                yield Block(language, spans)
        elif token.type == "inline" and token.map is not None and token.children:
            yield from _inline(source, lines, token.map, token.children)


def _language(info: str) -> str:
    """The language of a fence: ``bash``, ``{.bash .annotate}``, ``bash title="x"``, ``{code-block} sh``."""
    words = info.strip().lower().replace("{", " ").replace("}", " ").split()
    if words and words[0] in ("code-block", "code", "code-cell", "sourcecode"):
        words = words[1:]
    return words[0].lstrip(".") if words else ""


def _tail(source: Source, line: tuple[int, int], text: str) -> tuple[int, int]:
    """The part of a line of the file that a line of a block is: what is left of it is indentation."""
    start, end = line
    if source.text[start:end].endswith(text):
        return end - len(text), end
    stripped = text.strip()
    at = source.text.find(stripped, start, end) if stripped else end
    return (at, end) if at >= 0 else (start, end)


def _inline(
    source: Source, lines: Sequence[tuple[int, int]], where: list[int], children: Sequence[object]
) -> Iterator[Block]:
    """Code spans that are a whole command."""
    at, end = lines[where[0]][0], lines[min(where[1], len(lines)) - 1][1]
    for child in children:
        if getattr(child, "type", "") != "code_inline":
            continue
        content = str(getattr(child, "content", ""))
        found = source.text.find(content, at, end)
        if found < 0:
            continue
        at = found + len(content)
        if re.match(r"(\$ )?(sudo )?(docker|nvidia-docker|podman) ", content) and " " in content:
            yield Block("bash", ((found, found + len(content)),))


# reStructuredText ----------------------------------------------------------------------------

_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code-block|code|sourcecode|prompt|parsed-literal)::\s*(\S*)")


def _rst_blocks(source: Source) -> Iterator[Block]:
    """Code directives and literal blocks: the indented lines below them."""
    lines = [source.line_span(number) for number in range(1, len(source.line_starts) + 1)]
    number = 0
    while number < len(lines):
        text = source.text[lines[number][0] : lines[number][1]]
        directive = _DIRECTIVE.match(text)
        literal = text.rstrip().endswith("::") and not text.lstrip().startswith("..")
        for match in re.finditer(r"``([^`]+)``", text):
            if re.match(r"(sudo )?(docker|nvidia-docker|podman) ", match[1]):
                start = lines[number][0] + match.start(1)
                yield Block("bash", ((start, start + len(match[1])),))
        number += 1
        if directive is None and not literal:
            continue
        outer = len(text) - len(text.lstrip())
        body: list[tuple[int, int]] = []
        while number < len(lines):
            start, end = lines[number]
            line = source.text[start:end]
            if line.strip() and len(line) - len(line.lstrip()) <= outer:
                break
            body.append((start, end))
            number += 1
        while body and not source.text[body[0][0] : body[0][1]].strip():
            body.pop(0)
        # Options of the directive (`:linenos:`) stand in front of the code.
        while body and directive is not None and re.match(r"\s*:[\w-]+:", source.text[body[0][0] : body[0][1]]):
            body.pop(0)
        if body:
            language = directive[2].lower() if directive is not None else ""
            yield Block(language, tuple(_dedented(source, body)))


def _dedented(source: Source, body: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    texts = [source.text[start:end] for start, end in body]
    indentation = min((len(t) - len(t.lstrip()) for t in texts if t.strip()), default=0)
    for start, end in body:
        yield min(start + indentation, end), end


# Shell in documents --------------------------------------------------------------------------

_PROMPT = re.compile(r"(\s*(?:\([\w.-]+\) ?)?(?:[\w.@~:/\\-]+)?[$#%❯>] )")
_PLAIN_PROMPT = re.compile(r"\s*\$ ?(?=\S)")
_PLACEHOLDER = re.compile(r"<[A-Za-z][^<>\n]{0,60}>|(?<!\$)\{\{?[A-Za-z_][\w .-]{0,40}\}?\}")


def _shell_text(block: Block, source: Source) -> ShellText:
    """The commands of a block: prompts are left out, and where there are prompts, output is too."""
    texts = [source.text[start:end] for start, end in block.lines]
    prompted = any(_is_prompt(text, block.language) for text in texts)
    builder = Builder(source)
    continues = False
    for (start, end), text in zip(block.lines, texts, strict=True):
        skip = 0
        if prompted and not continues:
            length = _is_prompt(text, block.language)
            if not length:
                continue
            skip = length
        elif continues and text.lstrip().startswith("> "):
            skip = len(text) - len(text.lstrip()) + 2
        _take(builder, source, start + skip, end)
        builder.put("\n", end if end < len(source.text) else -1)
        stripped = text.rstrip()
        continues = stripped.endswith("\\") and not stripped.endswith("\\\\")
    return builder.build(Span(source, block.lines[0][0], block.lines[-1][1]))


def _is_prompt(text: str, language: str) -> int:
    """The length of the prompt a line starts with; 0 where it has none."""
    match = _PLAIN_PROMPT.match(text)
    if match is not None and not text.lstrip().startswith(("$(", "${")):
        rest = text[match.end() :]
        if text.lstrip().startswith("$ ") or rest.startswith(("docker", "sudo", "nvidia-docker", "podman")):
            return match.end()
    hash_ = re.match(r"\s*# (?=(?:sudo )?(?:docker|nvidia-docker|podman) )", text)
    if hash_ is not None and language in ("console", "shell-session", "shellsession", "sh-session", "bash-session"):
        return hash_.end()
    match = _PROMPT.match(text)
    if match is not None and "@" in match[0] and match[0].rstrip()[-1] in "$#":
        return match.end()
    return 0


def _take(builder: Builder, source: Source, start: int, end: int) -> None:
    """A line with its placeholders (``<image>``, ``{model}``) kept from being read as shell."""
    at = start
    for match in _PLACEHOLDER.finditer(source.text, start, end):
        if "'" in match[0] or '"' in match[0]:
            continue
        builder.take(at, match.start())
        text = match[0]
        text = text.replace("<", OPEN).replace(">", CLOSE).replace("{", OPEN_BRACE).replace("}", CLOSE_BRACE)
        builder.put(text.replace(" ", "\u00a0"), match.start())
        at = match.end()
    builder.take(at, end)
