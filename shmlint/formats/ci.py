"""CI files: the scripts in their steps, and job containers with options of their own.

GitHub workflows and actions, GitLab, CircleCI, Azure, Buildkite, Travis and the like all hold
their scripts as YAML texts; which key they stand under tells them from descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.argv import read_run
from shmlint.formats import Reading
from shmlint.formats.shell import mentions_engine
from shmlint.launch import Launch
from shmlint.settings import Settings
from shmlint.shell.commands import commands
from shmlint.shell.rewrite import RunRewriter
from shmlint.shell.run import launch_of, launches, read_gpu
from shmlint.shell.text import Builder, ShellText
from shmlint.source import Problem, Source, Span
from shmlint.word import Word
from shmlint.workspace import Unreadable, Workspace
from shmlint.yamlnodes import Alias, Document, Mapping, Node, Scalar, YamlError, parse
from shmlint.yamlnodes import Sequence as SequenceNode

_TALK = frozenset({"name", "description", "if", "uses", "title", "label", "summary", "default", "help", "when"})
"""Keys whose texts are read by people or by the CI system itself."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that CI jobs start."""
    reading = Reading()
    for path in paths:
        try:
            source = workspace.source(path)
            if not mentions_engine(source.text) and "container" not in source.text and "options" not in source.text:
                continue
        except Unreadable as error:
            reading.problems.append(Problem(Span(error.source, error.offset, error.offset), error.message))
            continue
        try:
            documents = workspace.documents(path)
        except Unreadable as error:
            documents = _as_template(source)
            if documents is None:
                reading.problems.append(Problem(Span(error.source, error.offset, error.offset), error.message))
                reading.launches += _loose(source)
                continue
        for document in documents:
            reading.launches += _launches(document.root, source)
    reading.launches.sort(key=lambda launch: (launch.span.path, launch.span.start))
    return reading


_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.S)


def _as_template(source: Source) -> list[Document] | None:
    """The documents of a template (Jinja, cookiecutter), its statements blanked; None where it is none."""
    if "{%" not in source.text and "{{" not in source.text:
        return None
    blanked = _STATEMENT.sub(lambda m: "".join(c if c in "\r\n" else " " for c in m[0]), source.text)
    blanked = re.sub(r"(?<!\$)\{\{.*?\}\}", lambda m: "_" * len(m[0]), blanked)
    try:
        return parse(Source(source.path, blanked))
    except YamlError:
        return None


_COMMAND = re.compile(r"\b(?:docker|nvidia-docker|podman)\b[^\n#]*\b(?:run|create)\b")
_SCRIPT = re.compile(r"[\w-]+:[ \t]*[|>][+-]?[ \t]*$|[\w-]+:[ \t]*$")


def _loose(source: Source) -> Iterator[Launch]:
    """The commands of a file that is not YAML: from each line with one, back to the key its script
    stands under, and on to where it ends."""
    number = 1
    script = 0
    while number <= len(source.line_starts):
        start, end = source.line_span(number)
        number += 1
        if _SCRIPT.search(source.text, start, end):
            script = end
        match = _COMMAND.search(source.text, start, end)
        if match is None or "#" in source.text[start : match.start()]:
            continue
        while source.text[start:end].rstrip().endswith("\\") and number <= len(source.line_starts):
            end = source.line_span(number)[1]
            number += 1
        begin = script if 0 < script < match.start() else match.start()
        builder = Builder(source)
        builder.take(begin, end)
        text = builder.build(Span(source, begin, end))
        text = text._replace(text=_EXPRESSION.sub(_as_variable, text.text))
        yield from launches([c for c in commands(text) if c.span.end >= match.start()])


def _launches(root: Node, source: Source) -> Iterator[Launch]:
    """The launches of a document, each node looked at once."""
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, key = stack.pop()
        if isinstance(node, Alias):
            continue  # what it stands for is read where it is written
        if isinstance(node, Mapping):
            for name, value in node.pairs:
                if not isinstance(name, Scalar):
                    continue
                target = value.resolved
                if name.value == "container" and isinstance(target, Mapping) and target.get("image") is not None:
                    yield from _container(name, target, source, _job(node, root))
                elif name.value == "services" and key not in ("services",) and isinstance(target, Mapping):
                    for service, body in target.pairs:
                        if isinstance(service, Scalar) and isinstance(body, Mapping) and body.get("options"):
                            yield from _container(service, body, source, service.value)
                stack.append((value, name.value))
        elif isinstance(node, SequenceNode):
            stack += [(item, key) for item in node.items]
        elif isinstance(node, Scalar) and key not in _TALK and mentions_engine(node.value):
            text = shell_text(node, source)
            if text is not None:
                yield from launches(list(commands(text)))


def _job(body: Mapping, root: Node) -> str | None:
    """The name of the job a mapping is the body of."""
    jobs = root.get("jobs") if isinstance(root, Mapping) else None
    if isinstance(jobs, Mapping):
        for name, value in jobs.pairs:
            if value is body and isinstance(name, Scalar):
                return name.value
    return None


def _container(key: Scalar, body: Mapping, source: Source, name: str | None) -> Iterator[Launch]:
    """A job container or service: its options are those of ``docker create``."""
    image = body.get("image")
    options = body.get("options")
    image_node = image.resolved if image is not None else None
    if not isinstance(image_node, Scalar):
        return
    span = Span(source, key.start, key.end)
    words: list[Word] = []
    text: ShellText | None = None
    if options is not None and isinstance(options.resolved, Scalar):
        text = shell_text(options.resolved, source)
        if text is not None:
            first = next(iter(commands(text)), None)
            words = list(first.words) if first is not None else []
    unknown = "an expression gives it" if "${{" in image_node.value else ""
    words.append(Word(image_node.value, Span(source, image_node.start, image_node.end), unknown))
    run = read_run(words, "docker", "create")
    home = text.home if text is not None else Span(source, image_node.start, image_node.end)
    yield launch_of(
        run, kind="ci-container", name=name, span=span,
        label=f"container of job `{name}`" if name else "job container",
        rewriter=RunRewriter(run, Word(""), home, words), gpu=read_gpu(run),
    )  # fmt: skip


_EXPRESSION = re.compile(r"\$\{\{.*?\}\}|\{\{.*?\}\}", re.S)


def shell_text(node: Scalar, source: Source) -> ShellText | None:
    """The text of a YAML scalar as a shell gets it, each character with its place in the file."""
    builder = Builder(source)
    if node.style in ("|", ">"):
        _block(builder, node, source)
    elif node.style == '"':
        _double_quoted(builder, source, node.start + 1, node.end - 1)
    elif node.style == "'":
        _single_quoted(builder, source, node.start + 1, node.end - 1)
    else:
        _folded(builder, source, node.start, node.end)
    text = builder.build(Span(source, node.start, node.end))
    if len(text.text) != len(text.offsets):
        return None
    return text._replace(text=_EXPRESSION.sub(_as_variable, text.text))


def _as_variable(match: re.Match[str]) -> str:
    """``${{ matrix.gpu }}`` as a variable of the same length, which no script sets."""
    inner = match[0]
    name = re.sub(r"\W", "_", inner[1:-1])
    return f"${{_{name[2:-1]}}}" if len(inner) > 5 else "_" * len(inner)


def _block(builder: Builder, node: Scalar, source: Source) -> None:
    """A literal or folded block, its indentation left out; folding joins lines by a blank."""
    text = source.text
    header_end = text.find("\n", node.start, node.end)
    if header_end < 0:
        return
    lines: list[tuple[int, int]] = []
    at = header_end + 1
    while at < node.end:
        newline = text.find("\n", at, node.end)
        end = newline if newline >= 0 else node.end
        lines.append((at, end - 1 if end > at and text[end - 1] == "\r" else end))
        at = end + 1
    filled = [line for line in lines if text[line[0] : line[1]].strip()]
    if not filled:
        return
    first = text[filled[0][0] : filled[0][1]]
    indentation = len(first) - len(first.lstrip(" "))
    for number, (start, end) in enumerate(lines):
        begin = min(start + indentation, end)
        builder.take(begin, end)
        folds = False
        if node.style == ">" and number + 1 < len(lines):
            following = text[lines[number + 1][0] + indentation : lines[number + 1][1]]
            here = text[begin:end]
            folds = bool(here.strip() and following.strip()) and here[0] not in " \t" and following[0] not in " \t"
        builder.put(" " if folds else "\n", end if end < len(text) else -1)


def _folded(builder: Builder, source: Source, start: int, end: int) -> None:
    """A plain scalar: line breaks with the indentation around them are one blank."""
    at = start
    for match in re.finditer(r"[ \t]*\r?\n\s*", source.text[start:end]):
        builder.take(at, start + match.start())
        builder.put(" ", start + match.start())
        at = start + match.end()
    builder.take(at, end)


def _single_quoted(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(r"''|[ \t]*\r?\n\s*", source.text[start:end]):
        builder.take(at, start + match.start())
        builder.put("'" if match[0] == "''" else " ", start + match.start())
        at = start + match.end()
    builder.take(at, end)


_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", " ": " ", "r": "\r", "0": "\0"}


def _double_quoted(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(r"\\\r?\n\s*|\\.|[ \t]*\r?\n\s*", source.text[start:end]):
        builder.take(at, start + match.start())
        found = match[0]
        if found.startswith("\\") and found[1] not in "\r\n":
            builder.put(_ESCAPES.get(found[1], found[1]), start + match.start() + 1)
        elif not found.startswith("\\"):
            builder.put(" ", start + match.start())
        at = start + match.end()
    builder.take(at, end)
