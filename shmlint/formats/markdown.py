"""Markdown and reStructuredText: the commands and compose files in their code."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.read import mentions_engine
from shmlint.formats.shell.run import launches, tied
from shmlint.model.launch import Build, Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Problem, Source, Span
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_text import CLOSE, CLOSE_BRACE, NOWHERE, OPEN, OPEN_BRACE, Builder, ShellText

_SHELL = frozenset(
    {"", "bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "terminal", "text", "none",
     "sh-session", "bash-session", "plaintext", "cmd", "bat", "batch", "powershell", "ps1", "pwsh", "txt", "docker",
     "commandline", "command", "cli", "ssh", "fish", "linux", "shellscript"}
)  # fmt: skip
_SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "bash-session", "terminal"})
"""Languages in which a line that starts with `# ` is what root types, not a comment."""
_YAML = frozenset({"yaml", "yml", "compose", "docker-compose", "dockercompose"})
_MAKE = frozenset({"make", "makefile"})

_NESTING = 3
"""Fences inside other blocks (MkDocs tabs, MyST directives) are looked for this deep."""


class Block(NamedTuple):
    """Code in a document: its language, and the start and end offset of each of its lines,
    the indentation of the block left out, line endings too."""

    language: str
    lines: tuple[tuple[int, int], ...]
    inline: bool = False
    """A code span: its lines are one."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands and compose files in documents."""
    found: list[Launch] = []
    built: list[Build] = []
    problems: list[Problem] = []
    for source in sources(paths, workspace, problems):
        if not mentions_engine(source.text) and "services:" not in source.text:
            continue
        for block in blocks(source):
            read_commands = _commands(block, source)
            found += map(_as_written, launches(read_commands))
            built += builds(read_commands, os.path.dirname(source.path))
            found += _services(block, source, workspace)
    found = tied(sorted(found, key=lambda launch: (launch.span.path, launch.span.start)))
    return Reading(tuple(found), tuple(problems), tuple(built))


def _text(block: Block, source: Source) -> str:
    return "\n".join(source.text[start:end] for start, end in block.lines)


def _commands(block: Block, source: Source) -> list[Command]:
    """The commands of a block that speaks of a container engine."""
    text = _text(block, source)
    if not mentions_engine(text) or _is_compose(block, text) or block.language not in (_SHELL | _MAKE):
        return []
    return list(commands(_shell_text(block, source)))


def _services(block: Block, source: Source, workspace: Workspace) -> Iterable[Launch]:
    if _is_compose(block, _text(block, source)):
        from shmlint.formats.compose.read import read_embedded

        # The rest of the document is blanked, so that every offset is one of the document.
        start, end = block.lines[0][0], block.lines[-1][1]
        start = source.text.rfind("\n", 0, start) + 1
        return read_embedded(source, start, end, workspace)
    return ()


_SERVICES = re.compile(r"^services:[ \t]*(?:#.*)?$", re.M)
_SERVICE_KEY = re.compile(r"(?:^[ \t]+|[{,][ \t]*)(?:image|build|extends|gpus|deploy):", re.M)


def _is_compose(block: Block, text: str) -> bool:
    if block.language not in _YAML and block.language != "":
        return False
    return _SERVICES.search(text) is not None and _SERVICE_KEY.search(text) is not None


# Markdown ----------------------------------------------------------------------------------

Line = tuple[int, int]
"""The start and end offset of a line of a file, or of the part of it that counts."""


def blocks(source: Source) -> Iterator[Block]:
    """The code of a document, in the language its name says it is written in."""
    lines = [source.line_span(number) for number in range(1, len(source.line_starts) + 1)]
    if source.text.startswith(BOM):
        lines[0] = (len(BOM), lines[0][1])
    name = source.path.lower()
    if name.endswith(".rst"):
        return _rst_blocks(source, lines)
    return _blocks(source, _without_talk(source, lines), 0, mdx=name.endswith(".mdx"))


_COMMENT = re.compile(r"^ {0,3}<!--", re.M)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """The comments of more than one line."""
    at = 0
    while (opening := _COMMENT.search(text, at)) is not None:
        closing = text.find("-->", opening.end())
        if closing < 0:
            return
        at = closing + len("-->")
        if "\n" in text[opening.start() : at]:
            yield opening.start(), at


def _without_talk(source: Source, lines: list[Line]) -> list[Line]:
    """The lines of a text, those of its front matter and of comments empty."""
    text = source.text
    stretches = list(_comments(text))
    if lines and text[slice(*lines[0])].rstrip() == "---":
        closing = next((line for line in lines[1:] if text[slice(*line)].rstrip() in ("---", "...")), None)
        if closing is not None:
            stretches.append((0, closing[1]))
    if not stretches:
        return lines
    kept = []
    remaining = iter(sorted(stretches))
    stretch = next(remaining, None)
    for start, end in lines:
        while stretch is not None and stretch[1] < end:
            stretch = next(remaining, None)
        hidden = stretch is not None and stretch[0] <= start
        kept.append((start, start if hidden else end))
    return kept


_DEEP_FENCE = re.compile(r"[ \t]{4,}(`{3,}|~{3,})[ \t]*([^`\n]*)$")


_RESTARTS = 50
"""So many fences that CommonMark does not see are looked for in one text."""


def _blocks(source: Source, lines: Sequence[Line], depth: int, *, mdx: bool = False) -> Iterator[Block]:
    """Code blocks of a Markdown text given as lines of the file."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    if mdx:  # MDX has no indented code: the children of its elements may be indented
        parser.disable("code")
    for restart in range(_RESTARTS + 1):
        # A carriage return alone ends a line to the parser, and here it does not.
        texts = [source.text[start:end].replace("\r", " ") for start, end in lines]
        for token in parser.parse("\n".join(texts)):
            if token.map is None:
                continue
            if token.type in ("fence", "code_block"):
                first = token.map[0] + (1 if token.type == "fence" else 0)
                content = token.content.split("\n")
                if content and content[-1] == "":
                    content.pop()
                if first + len(content) > len(lines):
                    continue
                spans = tuple(_tail(source, lines[first + i], text) for i, text in enumerate(content))
                if spans:
                    yield from _code(source, spans, token.info if token.type == "fence" else None, depth)
            elif token.type == "inline" and token.children:
                # Python-Markdown takes a fence indented under its paragraph (`!!! note`) for one.
                deep = next((n for n in range(*token.map) if _DEEP_FENCE.match(texts[n])), None)
                if deep is not None and depth < _NESTING and restart < _RESTARTS:
                    end = yield from _deep_fence(source, lines, texts, deep, depth)
                    lines = lines[end:]
                    break
                yield from _inline(source, lines, token.map, token.children)
        else:
            return


def _deep_fence(
    source: Source, lines: Sequence[Line], texts: Sequence[str], number: int, depth: int
) -> Generator[Block, None, int]:
    """The block of a fence that starts at a line; returns the number of the line behind it."""
    fence = _DEEP_FENCE.match(texts[number])
    assert fence is not None
    end = next((n for n in range(number + 1, len(texts)) if texts[n].strip() == fence[1]), len(texts))
    spans = tuple(_dedented(source, lines[number + 1 : end], fence.start(1)))
    if spans:
        yield from _code(source, spans, fence[2], depth)
    return end + 1


_DIRECTIVE_INFO = re.compile(r"\{([\w:-]+)\}")
_CODE_DIRECTIVES = frozenset({"code-block", "code", "code-cell", "sourcecode", "prompt", "parsed-literal"})


def _code(source: Source, lines: tuple[Line, ...], info: str | None, depth: int) -> Iterator[Block]:
    """A block of code, or what is in it where it is a place for other blocks.

    ``info`` is what stands behind the fence, None for an indented block.
    """
    directive = _DIRECTIVE_INFO.match(info.strip()) if info else None
    if directive is not None and directive[1] == "eval-rst":
        yield from _rst_blocks(source, lines)
        return
    nests = info is None or (directive is not None and directive[1] not in _CODE_DIRECTIVES)
    inner = "\n".join(source.text[start:end] for start, end in lines)
    if nests and depth < _NESTING and re.search(r"^[ \t]*(```|~~~)", inner, re.M):
        yield from _blocks(source, lines, depth + 1)  # MkDocs tabs, admonitions, MyST directives
    else:
        yield Block(_language(info or ""), lines)


def _language(info: str) -> str:
    """The language of a fence: ``bash``, ``{.bash .annotate}``, ``bash title="x"``, ``{code-block} sh``."""
    words = re.split(r"[\s{},]+", info.strip().lower().lstrip("{"))
    if words and words[0] in _CODE_DIRECTIVES:
        words = words[1:]
    return words[0].lstrip(".") if words else ""


def _tail(source: Source, line: Line, text: str) -> Line:
    """The part of a line of the file that a line of a block is: what is left of it is indentation."""
    start, end = line
    if source.text[start:end].endswith(text):
        return end - len(text), end
    stripped = text.strip()
    at = source.text.find(stripped, start, end) if stripped else end
    return (at, end) if at >= 0 else (start, end)


_WHOLE_COMMAND = re.compile(r"(?:\$ )?(?:\w+=\S+ )*(?:sudo )?(?:docker|nvidia-docker|podman) \S")
_SPAN_BREAK = r"(?: |[ \t]*\r?\n[ \t>]*)"
"""A blank of a code span as it may stand in the file."""


def _inline(source: Source, lines: Sequence[Line], where: list[int], children: Sequence[object]) -> Iterator[Block]:
    """Code spans that are a whole command."""
    at, end = lines[where[0]][0], lines[min(where[1], len(lines)) - 1][1]
    for child in children:
        if getattr(child, "type", "") != "code_inline":
            continue
        content = str(getattr(child, "content", ""))
        found = re.compile(_SPAN_BREAK.join(map(re.escape, content.split(" ")))).search(source.text, at, end)
        if found is None:
            continue
        at = found.end()
        if _WHOLE_COMMAND.match(content):
            yield Block("bash", tuple(_span_lines(source, *found.span())), inline=True)


def _span_lines(source: Source, start: int, end: int) -> Iterator[Line]:
    """The lines of a code span, without what starts and ends them."""
    for match in re.finditer(r"(?:(?<=\n)[ \t>]*)?(?P<line>[^\n]*?)[ \t]*(?:\r?\n|\Z)", source.text[start:end]):
        if match["line"]:
            yield start + match.start("line"), start + match.end("line")


# reStructuredText ----------------------------------------------------------------------------

_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code-block|code|sourcecode|prompt|parsed-literal)::\s*(\S*)")


def _rst_blocks(source: Source, lines: Sequence[Line]) -> Iterator[Block]:
    """Code directives and literal blocks: the indented lines below them."""
    number = 0
    while number < len(lines):
        text = source.text[lines[number][0] : lines[number][1]]
        directive = _DIRECTIVE.match(text)
        literal = text.rstrip().endswith("::") and not text.lstrip().startswith("..")
        if "``" in text:
            yield from _rst_inline(source, lines, number)
        number += 1
        if directive is None and not literal:
            continue
        outer = len(text) - len(text.lstrip())
        body: list[Line] = []
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


def _rst_inline(source: Source, lines: Sequence[Line], number: int) -> Iterator[Block]:
    """The literals that start on a line and are a whole command; they may end on the next one."""
    start, end = lines[number]
    following = lines[number + 1][1] if number + 1 < len(lines) else end
    for match in re.compile(r"``(?=\S)([^`]+)(?<=\S)``").finditer(source.text, start, following):
        if match.start() < end and _WHOLE_COMMAND.match(match[1]):
            yield Block("bash", tuple(_span_lines(source, *match.span(1))), inline=True)


def _dedented(source: Source, body: Sequence[Line], most: int | None = None) -> Iterator[Line]:
    """The lines without the indentation they have in common, of which ``most`` characters are taken."""
    texts = [source.text[start:end] for start, end in body]
    indentation = min((len(t) - len(t.lstrip()) for t in texts if t.strip()), default=0)
    if most is not None:
        indentation = min(indentation, most)
    for start, end in body:
        yield min(start + indentation, end), end


# Shell in documents --------------------------------------------------------------------------

_ENGINE = r"(?=(?:\w+=\S+ )*(?:sudo )?(?:docker|nvidia-docker|podman)\b)"
_HOST_PROMPT = re.compile(
    r"\s*(?:\([\w.-]+\) ?)?(?:\[?[\w.-]+@[\w.-]+[^$#%\n]{0,60}[$#%] ?|\([\w.-]+\) ?[$#%] |[\w.-]+[$] )(?=\S)"
)
"""`user@host:~$ `, `[root@host dir]# `, `(venv) $ `, `bash-5.1$ `."""
_OTHER_PROMPT = re.compile(rf"\s*(?:PS[^>\n]{{0,80}}> ?|[A-Z]:\\[^>\n]{{0,80}}> ?|[%❯➜>] +){_ENGINE}")
_PLAIN_PROMPT = re.compile(rf"\s*\$(?: +(?=\S)|{_ENGINE})")
_ROOT_PROMPT = re.compile(rf"\s*# {_ENGINE}")

_PLACEHOLDER = re.compile(
    r"<[A-Za-z](?:[^<>\n]{0,60}[^<>\s])?>|</[^<>\s]{1,80}>|(?<!\$)\{\{?[A-Za-z_][\w .-]{0,40}\}?\}"
)
_ELLIPSIS = re.compile(r"(?<!\S)(?:\.\.\.|…|\[(?:\.\.\.|…|-{0,2}[A-Za-z][\w ,.:=/|<>$'\"-]{0,80})\](?:\.\.\.)?)(?!\S)")
"""Stands for any number of words: `...`, `[OPTIONS]`, `[--shm-size=1g]`."""
_BLANK = "\ue004"
"""Stands for a blank in a placeholder, at which the shell would end the word."""
_MANY = "$__OPTIONS"
"""What the shell reads in its place: a variable that no document sets."""


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
        if continues:  # blanks behind the last character are a slip of the writer's
            end = start + len(stripped) - 1
            _take(builder, source, start + skip, end)
            builder.put("\\", end)
            builder.put("\n", end + 1 if end + 1 < len(source.text) else NOWHERE)
        else:
            _take(builder, source, start + skip, end)
            builder.put(" " if block.inline else "\n", end if end < len(source.text) else NOWHERE)
    return builder.build(Span(source, block.lines[0][0], block.lines[-1][1]))


def _as_written(launch: Launch) -> Launch:
    """A launch that speaks of the placeholders that stand there, not of what they were read as."""
    texts = [launch.undecided, *(value.text for value in (launch.image, launch.command) if value is not None)]
    if not any(mark in text for mark in ("__OPTIONS", _BLANK) for text in texts):
        return launch

    def told(text: str) -> str:
        text = text.replace("variable __OPTIONS is not set here", "`...` stands for more")
        return text.replace(_MANY, "...").replace(_BLANK, " ")

    image, command = launch.image, launch.command
    if image is not None:
        image = image._replace(value=told(image.known or ""), text=told(image.text), because=told(image.because))
    if command is not None:
        words = tuple(map(told, command.known or ()))
        command = command._replace(value=words, text=told(command.text), because=told(command.because))
    return launch._replace(
        image=image,
        command=command,
        words=launch.words._replace(launch=told(launch.words.launch)),
        undecided=told(launch.undecided),
        gpu=launch.gpu._replace(because=told(launch.gpu.because)),
    )


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
        if any(found) or not any(re.match(rf"\s*{_ENGINE}", text) for text in texts):
            found = [match.end() if match is not None else length for match, length in zip(root, found, strict=True)]
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
    found = [*_PLACEHOLDER.finditer(source.text, start, end), *_ELLIPSIS.finditer(source.text, start, end)]
    for match in sorted(found, key=lambda m: m.start()):
        text = match[0]
        if match.start() < at or "'" in text or '"' in text:
            continue
        builder.take(at, match.start())
        if match.re is _ELLIPSIS:
            builder.put(_MANY)
        else:
            text = text.replace("<", OPEN).replace(">", CLOSE).replace("{", OPEN_BRACE).replace("}", CLOSE_BRACE)
            builder.put(text.replace(" ", _BLANK), match.start())
        at = match.end()
    builder.take(at, end)
