"""Jenkinsfiles and other Groovy of pipelines: ``sh`` steps, and the containers that ``docker`` starts for stages.

Sources: jenkinsci/docker-workflow-plugin README and src/main/resources/.../Docker.groovy (``inside``, ``withRun``,
``run``, ``build``); jenkinsci/pipeline-model-definition-plugin (``agent { docker { image args } }``).
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.comments import HASH, SLASHES, above, at_end, first_line, line_suppressions, outside_here_documents
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.create import created, option_words
from shmlint.formats.shell.gpus import never_written_with
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_source
from shmlint.formats.shell.rest import same
from shmlint.formats.shell.run import with_reasons, with_texts
from shmlint.formats.steps import as_step, running, starts_containers, unread
from shmlint.model.launch import Bind, Build, Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.groovy import Blocks, String, pieces, strings
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import Builder, Places, ShellText, mentions_engine, restore
from shmlint.syntax.shell_variables import given
from shmlint.syntax.word import Word

_DEPTH = 8
"""Variables inside variables are followed this deep."""

_LONGEST = 20_000
"""Characters of a script from which on no variable is filled in."""

_LONGEST_BLOCK = 4000
"""Characters of a block in which the settings of an agent are looked for."""

_NEAR = 400
"""Characters before a string in which the step that it belongs to is looked for."""

_STEP = re.compile(r"\b(?P<step>sh|bat|powershell|pwsh)\b(?:\s*\(?\s*|[\s(][^(){};]*?\bscript\s*:\s*)\Z")
_WINDOWS = re.compile(r"\b(?:bat|powershell|pwsh)\b")
_SSH = re.compile(r"\bsshCommand\b[^(){};]*\bcommand\s*:\s*\Z")
_ASSIGNED = re.compile(r"(?<![\w.])(?:def\s+|String\s+|env\s*\.\s*)?([A-Za-z_]\w*)\s*=(?![=~])\s*")
_ADDED_TO = re.compile(r"(?<![\w.])(?:env\s*\.\s*)?([A-Za-z_]\w*)\s*(?:[+-]=|<<)")
_ENVIRONMENT = re.compile(r"\b(?:environment\s*\{|withEnv\s*\(|env\s*\.\s*\w+\s*=)")
_FOLLOWED = re.compile(r"\b(?:sh\b\s*\(?\s*(?:[^(){};\n]{0,400}?\bscript\s*:\s*)?)([A-Za-z_]\w*)\s*(?=[),;\n]|\Z)")
_PARAMETER = re.compile(r"\bname\s*:\s*\Z")
_OPERAND = re.compile(r"[A-Za-z_][\w.]*(?:\([^()]*\)|\[[^\[\]]*\])?")


class Pipeline(NamedTuple):
    """A file taken apart: its strings, its code without them, and the strings that its variables hold."""

    source: Source
    strings: Mapping[int, String]
    code: str
    values: Mapping[str, String | None]
    places: Places
    blocks: Blocks

    def string(self, start: int) -> String | None:
        """The string that starts at a place or after the blanks there."""
        while start < len(self.code) and self.code[start] in " \t":
            start += 1
        return self.strings.get(start)


def _pipeline(source: Source, places: Places) -> Pipeline:
    found, code = strings(source)
    values: dict[str, String | None] = {}
    for match in _ASSIGNED.finditer(code):
        value = found.get(match.end())
        joined = value is not None and re.match(r"\s*[+.]", code[value.end : value.end + _NEAR]) is not None
        values[match[1]] = None if match[1] in values or joined else value
    values.update(dict.fromkeys((match[1] for match in _ADDED_TO.finditer(code)), None))
    for start, string in found.items():  # withEnv(["NAME=value"]), string(name: "NAME", …)
        name, equals, _ = string.text.partition("=")
        if name.isidentifier() and (equals or _PARAMETER.search(code, max(0, start - _NEAR), start)):
            values[name] = None
    return Pipeline(source, found, code, values, places, Blocks(code))


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The container starts of ``sh`` steps, and the containers of stages."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    pods = tuple(_pods(source))
    if not mentions_engine(source.text):
        return Reading(not_read=pods)
    pipeline = _pipeline(source, Places())
    reading = read_source(source, _parts(pipeline), workspace)
    launches = sorted((*reading.launches, *_containers(pipeline)), key=lambda launch: launch.span.start)
    return reading._replace(
        launches=tuple(with_texts(launch, pipeline.places.as_written) for launch in launches),
        builds=(*reading.builds, *_builds(pipeline)),
        not_read=(*with_reasons(reading.not_read, pipeline.places.as_written), *_windows(pipeline), *pods),
    )


def _pods(source: Source) -> Iterator[NotRead]:
    """The requests for GPUs in manifests of pods that Jenkins starts for a stage."""
    for found in _OF_POD.finditer(source.text) if _STARTS_PODS.search(source.text) is not None else ():
        span = Span(source, *found.span(1))
        yield NotRead(span, "manifests of pods that Jenkins starts are not read", "unsupported")


_STARTS_PODS = re.compile(r"\b(?:kubernetes|podTemplate)\s{0,9}[({]")
_OF_POD = re.compile(r"(?m)^[^/\n#]{0,200}?\b((?:nvidia|amd)\.com/gpu)\b[\"']?\s{0,9}:")


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The scripts of ``sh`` steps, whatever they hold."""
    return _parts(_pipeline(source, Places()))


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    both = [_pipeline(files.source(path), Places()) for files in (before, after)]
    if len({tuple(_environment(pipeline)) for pipeline in both}) > 1:
        return False  # every command of the pipeline sees it
    old, new = (list(_parts(pipeline)) for pipeline in both)
    return same(old, new, sizes_only=sizes_only)


def _environment(pipeline: Pipeline) -> Iterator[str]:
    """The strings in what sets the environment of commands."""
    ends = pipeline.blocks.ends
    for match in _ENVIRONMENT.finditer(pipeline.code):
        last = match.end() - 1
        end = ends.get(last, pipeline.code.find("\n", last)) if match[0][-1] != "(" else _closing(pipeline.code, last)
        inside = (string for start, string in pipeline.strings.items() if last <= start < (end if end > 0 else last))
        yield from (string.text for string in inside)


# Steps -----------------------------------------------------------------------------------------


def _parts(pipeline: Pipeline) -> Iterator[Part]:
    """The scripts of ``sh`` steps."""
    environment = given(
        {name: value.text if value and _is_plain(value) else None for name, value in pipeline.values.items()}
    )
    directory_at = _directories(pipeline)
    for start, string in pipeline.strings.items():
        before = pipeline.code[max(0, start - _NEAR) : start]
        step = _STEP.search(before)
        if (step is not None and step["step"] == "sh") or _SSH.search(before):
            yield Part(_text(pipeline, string), environment, directory_at(start))
    for match in _FOLLOWED.finditer(pipeline.code):
        value = pipeline.values.get(match[1])
        if value is not None:
            yield Part(_text(pipeline, value), environment)


_DIR = re.compile(r"\b(?:dir|ws)\s*\(\s*(?:path\s*:\s*)?")


def _directories(pipeline: Pipeline) -> Callable[[int], str | None]:
    """Tells where a step runs: in that of ``dir('docker') {`` around it; None where only an expression tells."""
    code = pipeline.code
    ends = pipeline.blocks.ends
    around: list[tuple[int, int, str | None]] = []
    for match in _DIR.finditer(code):
        string, start = pipeline.strings.get(match.end()), code.find("{", match.end())
        named = string.text if string is not None and _is_plain(string) and match[0].startswith("dir") else None
        around.append((start, ends.get(start, len(code)), named))

    def at(place: int) -> str | None:
        inside = [name for start, end, name in around if start <= place < end]
        return None if None in inside else os.path.join("", *(name for name in inside if name is not None))

    return at


def _windows(pipeline: Pipeline) -> Iterator[NotRead]:
    """The container starts of steps for Windows."""
    if _WINDOWS.search(pipeline.code) is None:
        return
    for start, string in pipeline.strings.items():
        if not mentions_engine(string.text) or re.search(r"\b(?:run|create)\b", string.text) is None:
            continue
        step = _STEP.search(pipeline.code[max(0, start - _NEAR) : start])
        if step is not None and step["step"] != "sh":
            because = f"the command line of Windows is not read, which `{step['step']}` starts"
            yield NotRead(Span(pipeline.source, start, string.end), because, "unsupported")


def _is_plain(string: String) -> bool:
    return all(not piece.expression for piece in pieces(string))


def _text(pipeline: Pipeline, string: String) -> ShellText:
    """The value of a string, and of what is added to it by ``+``."""
    builder = Builder(pipeline.source)
    _fill(builder, pipeline, string, 0)
    end = string.end
    while (sign := re.compile(r"\s*\+\s*").match(pipeline.code, end)) is not None:
        other = pipeline.strings.get(sign.end())
        operand = _OPERAND.match(pipeline.code, sign.end())
        if other is not None:
            _fill(builder, pipeline, other, 0)
            end = other.end
        elif operand is not None:
            _put(builder, pipeline, (operand[0], operand.start(), operand.end()), 0)
            end = operand.end()
        else:
            break
    return builder.build(Span(pipeline.source, string.first, max(string.last, end - 1)))._replace(
        unset=pipeline.places.because
    )


def _fill(builder: Builder, pipeline: Pipeline, string: String, depth: int) -> None:
    for piece in pieces(string):
        if piece.expression:
            _put(builder, pipeline, (piece.text, piece.start, piece.end), depth)
        elif piece.end - piece.start == len(piece.text):
            builder.take(piece.start, piece.end)
        else:
            builder.put(piece.text, piece.end - 1)


def _put(builder: Builder, pipeline: Pipeline, expression: tuple[str, int, int], depth: int) -> None:
    """The value of an expression, where the file gives it; else a variable that nothing sets."""
    text, start, end = expression
    value = pipeline.values.get(text.removeprefix("env."))
    since = len(builder.offsets)
    if value is not None and depth < _DEPTH and len(builder.offsets) < _LONGEST:
        _fill(builder, pipeline, value, depth + 1)
    else:
        written = pipeline.source.text[start:end]
        # The name of a variable outside of strings would be read as the text that it is.
        written = written if written.startswith("$") else f"${{{written}}}"
        builder.put_unknown(pipeline.places.name(written, "an expression"))
    builder.used(since, start, end)


# Containers of stages --------------------------------------------------------------------------

_IMAGE = re.compile(r"\bdocker\s*\.\s*image\s*\(\s*")
_METHOD = re.compile(r"\s*\)?\s*\.\s*(inside|withRun|run)\b\s*(\(?)\s*")
_AGENT = re.compile(r"\b(docker|dockerfile)\s*\{")
_BARE = re.compile(r"\bagent\s*\{\s*docker\s+(?=\")")
_MADE_OR_USED = re.compile(
    r"\b(?P<made>[A-Za-z_]\w*)\s*=\s*docker\s*\.\s*(?:image|build)\s*\(?\s*(?=\")"
    r"|\b(?P<used>[A-Za-z_]\w*)\s*\.\s*(?P<method>inside|withRun|run)\b\s*\(?\s*"
)
_BUILD = re.compile(r"\bdocker\s*\.\s*build\s*\(?\s*(?=\")")


_WITH = re.compile(r"\bwithDockerContainer\s*\(?\s*(?=[\"a-z])")
_NAMED = re.compile(r"\b(image|args)\s*[:(]?\s*(?=[\"A-Za-z_])")
_BUILT_OF = re.compile(r"\b(filename|dir)\s*\(?\s*(?=\")")


def _containers(pipeline: Pipeline) -> Iterator[Launch]:
    code, outline = pipeline.code, _outline(pipeline)
    for match in _IMAGE.finditer(code):
        image = _value(pipeline, match.end())
        method = _METHOD.match(code, image[1])
        if method is not None:
            span = Span(pipeline.source, match.start(), match.end() - 1)
            yield _used(outline, image[0], method, (span, f"`docker.image().{method[1]}`"))
    for match in _BUILD.finditer(code):
        end = _closing(code, code.index("docker", match.start()))
        method = _METHOD.match(code, end)
        if method is not None and (method[0].lstrip().startswith((".", ")"))):
            span = Span(pipeline.source, match.start(), match.end() - 1)
            tag = _value(pipeline, match.end())[0]
            yield _used(outline, tag, method, (span, f"`docker.build().{method[1]}`"))
    yield from _of_variables(outline)
    yield from _of_steps(outline)
    yield from _of_agents(outline)


def _of_steps(outline: _Outline) -> Iterator[Launch]:
    """``withDockerContainer(image: "trainer", args: "--gpus all") {``."""
    pipeline, code = outline.pipeline, outline.pipeline.code
    for match in _WITH.finditer(code):
        opening = code.find("{", match.end())
        end = opening if opening >= 0 else len(code)
        named = {found[1]: _value(pipeline, found.end())[0] for found in _NAMED.finditer(code, match.end(), end)}
        image = named.get("image") or _value(pipeline, match.end())[0]
        span = Span(pipeline.source, match.start(), match.start() + len("withDockerContainer"))
        launch = _container(image, named.get("args"), span, "`withDockerContainer`")
        yield _with_steps(launch, outline, opening)


def _of_agents(outline: _Outline) -> Iterator[Launch]:
    """``agent { docker { image "trainer" } }`` of a pipeline or a stage."""
    pipeline, code = outline.pipeline, outline.pipeline.code
    ends = pipeline.blocks.ends
    for match in _AGENT.finditer(code):
        end = min(ends[match.end() - 1], match.end() + _LONGEST_BLOCK)
        fields = {found[1]: _value(pipeline, found.end())[0] for found in _NAMED.finditer(code, match.end(), end)}
        span = Span(pipeline.source, match.start(), match.start() + len(match[1]))
        launch = _container(fields.get("image"), fields.get("args"), span, "agent container")
        launch = _built(launch, pipeline, match.end(), end) if match[1] == "dockerfile" else launch
        yield _with_steps(launch, outline, _around(pipeline, match.start()))
    for match in _BARE.finditer(code):
        start = match.start() + match[0].rindex("docker")
        span = Span(pipeline.source, start, start + len("docker"))
        image = _value(pipeline, match.end())[0]
        launch = _container(image, None, span, "agent container")
        yield _with_steps(launch, outline, _around(pipeline, start))


def _around(pipeline: Pipeline, at: int) -> int:
    """The opening brace of the stage or the pipeline whose agent stands at an offset; -1 where there is none."""
    inside, code = pipeline.blocks, pipeline.code
    innermost = block = inside.inner(at)
    while block >= 0:
        if _AGENT_BEFORE.search(code, max(0, block - _NEAR), block) is not None:
            return inside.outer[block]
        block = inside.outer[block]
    return innermost


_AGENT_BEFORE = re.compile(r"\bagent\s*\Z")


def _used(outline: _Outline, image: ShellText | None, method: re.Match[str], named: tuple[Span, str]) -> Launch:
    """The container that a method of an image starts."""
    pipeline = outline.pipeline
    arguments = _value(pipeline, method.end())[0] if method[2] else None
    if not method[2] and method.end() in pipeline.strings:
        arguments = _value(pipeline, method.end())[0]
    launch = _container(image, arguments, *named)
    return _with_steps(launch, outline, pipeline.code.find("{", method.end())) if method[1] == "inside" else launch


def _of_variables(outline: _Outline) -> Iterator[Launch]:
    """``def trainer = docker.build("trainer")`` … ``trainer.inside("--gpus all") {``."""
    pipeline, code = outline.pipeline, outline.pipeline.code
    images: dict[str, ShellText | None] = {}
    for match in _MADE_OR_USED.finditer(code):
        if match["made"] is not None:
            images[match["made"]] = _value(pipeline, match.end())[0]
        elif match["used"] in images:
            span = Span(pipeline.source, match.start(), match.start() + len(match["used"]))
            label = f"`{match['used']}.{match['method']}`"
            method = _METHOD.match(code, match.end("used"))
            if method is not None:
                yield _used(outline, images[match["used"]], method, (span, label))


def _value(pipeline: Pipeline, at: int) -> tuple[ShellText | None, int]:
    """The string at an offset, or what a variable there stands for, and where that ends."""
    while at < len(pipeline.code) and pipeline.code[at] in " \t":
        at += 1
    string = pipeline.strings.get(at)
    if string is not None:
        return _text(pipeline, string), string.end
    operand = _OPERAND.match(pipeline.code, at)
    if operand is None:
        return None, at
    builder = Builder(pipeline.source)
    _put(builder, pipeline, (operand[0], operand.start(), operand.end()), 0)
    text = builder.build(Span(pipeline.source, operand.start(), operand.end()))
    return text._replace(unset=pipeline.places.because), operand.end()


def _closing(code: str, start: int) -> int:
    """The offset of the bracket that closes the first one behind an offset; that of the line's end without one."""
    opening = code.find("(", start)
    line = code.find("\n", start)
    if opening < 0 or 0 <= line < opening:
        return line if line >= 0 else len(code)
    depth = 0
    for match in re.compile(r"[()]").finditer(code, opening):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.start()
    return len(code)


def _container(image: ShellText | None, arguments: ShellText | None, span: Span, label: str) -> Launch:
    """A container of an image with the options of ``docker run`` in one string."""
    words: list[Word] = []
    home = span
    if arguments is not None:
        words = option_words(arguments)
        home = arguments.home
    if image is not None:
        first = next(iter(commands(image)), None)
        words += first.words[:1] if first is not None else ()
    return never_written_with("\\", created(words, home, span, label))


# What runs in them ------------------------------------------------------------------------------

WORKSPACE = "/jenkins/workspace"
"""Where the workspace is mounted, as it is called here."""
_MOST_BLOCKS = 500
"""Blocks of a pipeline among which those of a step are looked for."""
_STEPS = re.compile(r"\b(?P<step>sh|bat|powershell|pwsh)\b\s*\(?\s*(?:[\w\s:,]{0,400}?\bscript\s*:\s*)?(?=[\"A-Za-z_])")
_DECIDES = re.compile(r"\b(?:if|else|switch|when|catch|for|while|retry|timeout)\b[^{};]*\Z")


class _Step(NamedTuple):
    """A step that runs commands: its place, these, and the opening braces of the blocks around it."""

    start: int
    end: int
    script: str | None
    around: tuple[int, ...]


class _Outline(NamedTuple):
    """A pipeline with its steps; the blocks with an agent of their own, and those that something decides about."""

    pipeline: Pipeline
    steps: tuple[_Step, ...]
    with_agent: frozenset[int]
    decided: frozenset[int]


def _outline(pipeline: Pipeline) -> _Outline:
    code, inside = pipeline.code, pipeline.blocks
    if len(inside.ends) > _MOST_BLOCKS:
        return _Outline(pipeline, (), frozenset(), frozenset())
    steps = (
        _Step(match.start(), match.end(), _script(pipeline, match), tuple(inside.around(match.start())))
        for match in _STEPS.finditer(code)
    )
    agents = (inside.inner(match.start()) for match in re.finditer(r"\bagent\b", code))
    decided = (start for start in inside.ends if _DECIDES.search(code[max(0, start - _NEAR) : start]))
    return _Outline(pipeline, tuple(steps), frozenset(agents), frozenset(decided))


def _with_steps(launch: Launch, outline: _Outline, opening: int) -> Launch:
    """A container as it runs the steps of its block: Jenkins starts it with a command that waits."""
    steps: list[str] = []
    place = None
    for step in outline.steps:
        inner = step.around[step.around.index(opening) + 1 :] if opening in step.around else None
        if inner is None or step.script is None or not outline.with_agent.isdisjoint(inner):
            continue
        steps.append(as_step(step.script, decided=not outline.decided.isdisjoint(inner)))
        place = place or Span(outline.pipeline.source, step.start, step.end)
    if place is None:
        return launch
    top = Bind(os.path.dirname(place.path) or ".", WORKSPACE, place, resolved=True)
    return running(launch, "sh", steps, (place, "the steps of the stage", WORKSPACE), (top,))


def _script(pipeline: Pipeline, step: re.Match[str]) -> str | None:
    """The commands of a step; a program that is not known for those of which nothing is."""
    if step["step"] != "sh":
        return unread(f"in {step['step']}")
    text = _value(pipeline, step.end())[0]
    if text is None:
        return None
    written = restore(text.text)
    return unread("that starts containers") if starts_containers(written) else written


def _built(launch: Launch, pipeline: Pipeline, start: int, end: int) -> Launch:
    """The container of an agent that is built from a Dockerfile of the repository."""
    fields = {found[1]: pipeline.string(found.end()) for found in _BUILT_OF.finditer(pipeline.code, start, end)}
    name, directory = fields.get("filename"), fields.get("dir")
    context = directory.text if directory is not None else "."
    file = os.path.join(context, name.text) if name is not None else None
    folder = os.path.dirname(pipeline.source.path)
    return launch._replace(build=Build("", context, file, None, (), launch.span, folder))


def _builds(pipeline: Pipeline) -> Iterator[Build]:
    """``docker.build("tag", "-f Dockerfile context")``."""
    directory_at = _directories(pipeline)
    for match in _BUILD.finditer(pipeline.code):
        where = directory_at(match.start())
        tag = pipeline.strings[match.end()]
        comma = re.compile(r"\s*,\s*").match(pipeline.code, tag.end)
        arguments = pipeline.strings.get(comma.end()) if comma is not None else None
        builder = Builder(pipeline.source)
        builder.put("docker build -t ")
        _fill(builder, pipeline, tag, 0)
        builder.put(" ")
        if arguments is not None:
            _fill(builder, pipeline, arguments, 0)
        else:
            builder.put(".")
        text = builder.build(Span(pipeline.source, match.start(), tag.end))
        folder = os.path.dirname(pipeline.source.path)
        found = builds(list(commands(text)), os.path.join(folder, where) if where else folder)
        yield from (build._replace(elsewhere=where is None) for build in found)


# Comments --------------------------------------------------------------------------------------


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """Groovy's comments, and those of the scripts in its strings."""
    if HASH.search(source.text) is None and SLASHES.search(source.text) is None:
        return
    found = list(strings(source)[0].values())
    starts = [string.start for string in found]

    def inside(at: int) -> bool:
        place = bisect_right(starts, at) - 1
        return place >= 0 and at < found[place].last

    shell = line_suppressions(source, HASH, "#", outside_here_documents(source))
    yield from (c for c in shell if inside(c.span.start))
    yield from (c for c in line_suppressions(source, SLASHES, "//", lambda at: True) if not inside(c.span.start))


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment above the command: one of the shell in a script of several lines, and else one of Groovy."""
    source, line = launch.span.source, launch.span.line
    if launch.kind == "ci-container":
        return at_end(source, line, f"// {text}")
    first = first_line(source, line)
    start = source.line_span(first)[0]
    inside = any(string.first <= start < string.last for string in strings(source)[0].values())
    return above(source, first, f"{'#' if inside else '//'} {text}")
