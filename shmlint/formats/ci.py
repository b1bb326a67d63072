"""CI files: the scripts in their steps, and job containers with options of their own.

GitHub workflows and actions, GitLab, CircleCI, Azure, Buildkite, Travis and the like all hold
their scripts as YAML texts; which key they stand under tells them from descriptions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from shmlint.docker.run_options import read_run
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.ci_variables import Environment, unsure_names, within
from shmlint.formats.comments import HASH, above, at_end, first_line, line_suppressions, outside_quotes
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.gpus import read_gpu, without_single_quotes
from shmlint.formats.shell.read import Part, not_read
from shmlint.formats.shell.rewrite import RunRewriter
from shmlint.formats.shell.run import launch_of, launches, named, read_launch
from shmlint.model.launch import Build, Launch, ReadOnly
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Problem, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.shell import Command, commands, given
from shmlint.syntax.shell_text import NOWHERE, Builder, ShellText, mentions_engine, not_set
from shmlint.syntax.word import Word
from shmlint.syntax.yaml import Alias, Document, Mapping, Node, Scalar, YamlError
from shmlint.syntax.yaml import Sequence as SequenceNode
from shmlint.syntax.yaml_read import parse, read_documents

_TALK = frozenset(
    {"name", "displayName", "description", "if", "uses", "title", "label", "summary", "default", "help", "when",
     "block", "input", "prompt", "hint", "text", "message", "group", "condition", "changes", "paths", "rules"}
)  # fmt: skip
"""Keys whose texts are read by people or by the CI system itself."""

_SHARED_SHELL = frozenset(
    {"script", "before_script", "after_script", "commands", "before_install", "install", "after_success"}
)
"""Keys whose lists are run line by line in one shell: what one line sets, the next can use."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that CI jobs start."""
    found: list[Launch] = []
    problems: list[Problem] = []
    seen = _Seen([], [], [])
    for path in paths:
        try:
            source = workspace.source(path)
            if not mentions_engine(source.text) and "container" not in source.text and "options" not in source.text:
                continue
        except Unreadable as error:
            problems.append(error.problem)
            continue
        try:
            documents = read_documents(path, workspace)
        except Unreadable as error:
            template = _as_template(source)
            if template is None:
                problems.append(error.problem)
                found += (as_written(launch) for launch in _loose(source))
                continue
            documents = template
        for document in documents:
            found += (as_written(launch) for launch in _launches(document.root, source, seen))
    found.sort(key=lambda launch: (launch.span.path, launch.span.start))
    return Reading(tuple(found), tuple(problems), tuple(seen.built), tuple(seen.unread))


class _Seen(NamedTuple):
    """What is seen beside launches."""

    unread: list[NotRead]
    built: list[Build]
    parts: list[Part]
    """The scripts that speak of a container engine."""


class _Place(NamedTuple):
    """What holds where a script runs."""

    environment: Environment
    top: str
    """The directory of the repository."""
    directory: str
    """Relative paths count from there."""

    def inside(self, node: Mapping, unsure: frozenset[str]) -> _Place:
        """What holds for the scripts in a mapping."""
        defaults = node.get("defaults")
        run = defaults.get("run") if isinstance(defaults, Mapping) else None
        directory = self.directory
        for here in (run, node):
            for key in ("working-directory", "working_directory", "workingDirectory"):
                value = here.get(key) if isinstance(here, Mapping) else None
                directory = os.path.join(self.top, value.value) if isinstance(value, Scalar) else directory
        return self._replace(environment=within(self.environment, node, unsure), directory=directory)


_TOP = re.compile(r"(?:^|(?<=/))\.?(?:github|gitlab|circleci|buildkite|woodpecker|semaphore|azure-pipelines)/")


def _top(path: str) -> str:
    """The directory in which jobs start: that of the repository, not that of the file."""
    found = _TOP.search(path)
    return path[: found.start()].rstrip("/") if found is not None else os.path.dirname(path)


_OPENS = re.compile(r"\{[%#]")
_CLOSES = {"{%": "%}", "{#": "#}"}


def _blanked(text: str) -> str:
    """A template without its statements and comments, the lines kept. One that is not closed stays."""
    pieces: list[str] = []
    at = 0
    last = {opens: text.rfind(closes) for opens, closes in _CLOSES.items()}
    for found in _OPENS.finditer(text):
        if found.start() >= at and found.end() <= last[found[0]]:
            end = text.find(_CLOSES[found[0]], found.end()) + 2
            pieces += (text[at : found.start()], re.sub(r"[^\r\n]", " ", text[found.start() : end]))
            at = end
    return "".join([*pieces, text[at:]])


def _as_template(source: Source) -> list[Document] | None:
    """The documents of a template (Jinja, cookiecutter), its statements blanked; None where it is none."""
    if "{%" not in source.text and "{{" not in source.text:
        return None
    lines = _blanked(source.text).split("\n")
    blanked = "\n".join(_closed(_PLACE, lambda m: "_" * len(m[0]), line) for line in lines)
    try:
        return parse(Source(source.path, blanked))
    except YamlError:
        return None


# Of a line the first engine alone: after a # there are only comments.
_COMMAND = re.compile(r"(?>[^\n#]*?\b(?P<engine>docker|nvidia-docker|podman|nerdctl)\b)[^\n#]*\b(?:run|create)\b")
_KEYED = re.compile(r"(?P<indentation>[ \t]*(?:-[ \t]+)*)(?:(?P<key>[\w.-]+):(?=\s|$)[ \t]*)?(?P<value>[^\n]*)")
_HEADER = re.compile(r"(?:[|>][-+\d]*)?[ \t]*(?:#.*)?$")


def _loose(source: Source) -> Iterator[Launch]:
    """The commands of a file that is not YAML: from each line with one, back to the key its script
    stands under, and on to where it ends."""
    number = 1
    script: tuple[int, int, str] | None = None  # where it starts, how deep its key stands, the key
    while number <= len(source.line_starts):
        start, end = source.line_span(number)
        number += 1
        line = _KEYED.match(source.text, start, end)
        assert line is not None  # it matches everything
        depth, key = len(line["indentation"]), line["key"]
        if script is not None and line["value"].strip() and depth <= script[1]:
            script = None
        if key is not None and _HEADER.match(line["value"]):
            script = (end, depth, key)
            continue
        match = _COMMAND.match(source.text, start, end)
        if match is None:
            continue
        while source.text[start:end].rstrip().endswith("\\") and number <= len(source.line_starts):
            end = source.line_span(number)[1]
            number += 1
        if (key or (script[2] if script is not None else "")) in _TALK:
            continue
        begin = script[0] if script is not None and key is None else line.start("value")
        if source.text[begin : begin + 1] in ("'", '"'):
            begin += 1
        builder = Builder(source)
        builder.take(begin, end)
        text = builder.build(Span(source, begin, end))
        text = text._replace(text=_closed(_EXPRESSION, _as_variable, text.text), unset=_unset)
        yield from launches([c for c in commands(text) if c.span.end >= match.start("engine")])


def _launches(root: Node, source: Source, seen: _Seen) -> Iterator[Launch]:
    """The launches of a document, each node looked at once."""
    stack: list[tuple[Node, str, _Place]] = [(root, "", _Place({}, *[_top(source.path)] * 2))]
    jobs = _jobs(root)
    unsure = unsure_names(root, source.text)
    while stack:
        node, key, place = stack.pop()
        if isinstance(node, Alias):
            continue  # what it stands for is read where it is written
        if isinstance(node, Mapping):
            yield from _containers(node, jobs.get(id(node)), source)
            yield from _of_arguments(node, source)
            scripts = _input_scripts(node)
            inner = place.inside(node, unsure)
            seen.built.extend(_built(node, source, inner.directory))
            for name, value in node.pairs:
                if not isinstance(name, Scalar) or (name.value in _TALK and not _holds_steps(name, value)):
                    continue
                if name.value == "with" and scripts is not None:
                    stack += [(script, key, inner) for script, key in scripts]
                else:
                    stack.append((value, name.value, inner))
        elif isinstance(node, SequenceNode):
            lines = [item for item in node.items if isinstance(item, Scalar)]
            if key in _SHARED_SHELL and len(lines) > 1:
                yield from _of_script(_joined([shell_text(line, source) for line in lines]), place, seen)
                stack += [(item, key, place) for item in node.items if not isinstance(item, Scalar)]
            else:
                stack += [(item, key, place) for item in node.items]
        elif isinstance(node, Scalar) and mentions_engine(node.value):
            yield from _of_script(shell_text(node, source), place, seen)


def parts(root: Node, source: Source) -> list[Part]:
    """The scripts of a document that speak of a container engine."""
    seen = _Seen([], [], [])
    for _ in _launches(root, source, seen):
        pass
    return seen.parts


def _holds_steps(name: Scalar, value: Node) -> bool:
    """Whether a key that is talk elsewhere names what is run: Bitbucket's ``default`` pipeline."""
    return name.value == "default" and isinstance(value, SequenceNode)


def _of_arguments(step: Mapping, source: Source) -> Iterator[Launch]:
    """A step of Cloud Build whose image is the docker client: its arguments are a command without a shell."""
    name, arguments = step.get("name"), step.get("args")
    if not isinstance(name, Scalar) or not name.value.endswith("/docker") or step.get("entrypoint") is not None:
        return
    items = arguments.items if isinstance(arguments, SequenceNode) else ()
    words = [
        Word(item.value, Span(source, item.start, item.end), "a substitution" if "$" in item.value else "")
        for item in items if isinstance(item, Scalar)
    ]  # fmt: skip
    launch = read_launch(Command((Word("docker"), *words), Span(source, name.start, name.end)))
    if launch is not None and len(words) == len(items):
        yield launch._replace(rewriter=ReadOnly(), words=launch.words._replace(by_hand=_BY_HAND))


_BY_HAND = "add `--shm-size={size}` to the arguments"


def _of_script(text: ShellText, place: _Place, seen: _Seen) -> list[Launch]:
    """The launches of a script; what else it shows is added to ``seen``."""
    if not mentions_engine(text.text):
        return []
    part = Part(text, given(place.environment))
    seen.parts.append(part)
    read_commands = list(part.commands)
    seen.unread.extend(not_read(text, read_commands))
    seen.built.extend(builds(read_commands, place.directory))
    return launches(read_commands)


def _built(step: Mapping, source: Source, directory: str) -> Iterator[Build]:
    """The images that ``docker/build-push-action`` builds."""
    uses, inputs = step.get("uses"), step.get("with")
    if not isinstance(uses, Scalar) or not uses.value.startswith("docker/build-push-action@"):
        return
    values = {
        key.value: value.value
        for key, value in (inputs.pairs if isinstance(inputs, Mapping) else ())
        if isinstance(key, Scalar) and isinstance(value, Scalar)
    }
    pairs = (line.partition("=") for line in values.get("build-args", "").splitlines())
    args = tuple((name.strip(), value) for name, equals, value in pairs if equals)
    span = Span(source, uses.start, uses.end)
    for tag in re.split(r"[,\s]+", values.get("tags", "").strip()):
        if tag:
            context, file, target = values.get("context", "."), values.get("file"), values.get("target")
            yield Build(tag, context, file, target, args, span, directory)


def _input_scripts(step: Mapping) -> list[tuple[Node, str]] | None:
    """The inputs of an action that a shell of the host runs; None where it is not an action.

    An action does with its inputs what it likes, inside of containers mostly; one that says ssh
    hands its script to the shell of another machine.
    """
    uses, inputs = step.get("uses"), step.get("with")
    if not isinstance(uses, Scalar) or not isinstance(inputs, Mapping):
        return None
    if "ssh" not in uses.value:
        return []
    found = [(inputs.get(key), key) for key in ("script", "command")]
    return [(node, key) for node, key in found if node is not None]


def _containers(body: Mapping, job: str | None, source: Source) -> Iterator[Launch]:
    """The containers that a mapping starts: a job's own, its services, an Azure container resource.

    ``job`` is the name of the job that it is the body of.
    """
    for key, node in body.pairs:
        if not isinstance(key, Scalar):
            continue
        value = node if isinstance(node, Mapping) else None
        if key.value == "container" and value is not None and value.get("image") is not None:
            yield from _container(key, value, source, job)
        elif key.value == "container" and isinstance(node, Scalar) and node.value:
            if job is not None:  # GitHub: the image alone
                yield from _container(key, None, source, job, node)
            elif body.get("image") is not None and body.get("options") is not None:
                yield from _container(key, body, source, node.value)
        elif key.value == "services" and value is not None:
            for service, inner in value.pairs:
                if not isinstance(service, Scalar) or not isinstance(inner, Mapping):
                    continue
                if inner.get("image") is not None and (job is not None or inner.get("options") is not None):
                    yield from _container(service, inner, source, service.value)


def _jobs(root: Node) -> dict[int, str]:
    """The names of the jobs of a document by the id of their bodies."""
    jobs = root.get("jobs") if isinstance(root, Mapping) else None
    pairs = jobs.pairs if isinstance(jobs, Mapping) else ()
    return {id(body): name.value for name, body in reversed(pairs) if isinstance(name, Scalar)}


def _container(
    key: Scalar, body: Mapping | None, source: Source, name: str | None, image: Node | None = None
) -> Iterator[Launch]:
    """A job container or service: its options are those of ``docker create``."""
    image = image if image is not None else body.get("image") if body is not None else None
    options = body.get("options") if body is not None else None
    image_node = image.resolved if image is not None else None
    if not isinstance(image_node, Scalar):
        return
    words: list[Word] = []
    home = Span(source, image_node.start, image_node.end)
    if options is not None and isinstance(options.resolved, Scalar):
        text = as_arguments(shell_text(options.resolved, source))
        first = next(iter(commands(text)), None)
        words = [_option(word) for word in first.words[1:]] if first is not None else []
        home = text.home
    if body is not None:
        words += _given(body, source)
    unknown = "it depends on an expression" if "${{" in image_node.value else ""
    words.append(Word(image_node.value, Span(source, image_node.start, image_node.end), unknown))
    run = read_run(words, "docker", "create")
    launch = launch_of(
        run, kind="ci-container", span=Span(source, key.start, key.end),
        label=f"container of job `{name}`" if name else "job container",
        rewriter=RunRewriter(run, Word(""), home, words), gpu=read_gpu(run),
    )  # fmt: skip
    yield without_single_quotes(named(launch, name))


def _option(word: Word) -> Word:
    """A word of the options: what an expression gives are more options, never the image."""
    if not word.unknown or not re.fullmatch(r"\$\{\w+\}|\$\w+", word.text):
        return word
    return Word("$OPTIONS", word.span, word.unknown, maybe_many=True)


def as_arguments(text: ShellText) -> ShellText:
    """Options as the arguments of one command, however many lines they take."""
    line = re.sub(r"\\?\n", lambda m: " " * len(m[0]), text.text)
    nowhere = [NOWHERE] * len("docker ")
    stands = [*nowhere, *text.stands] if text.stands else ()
    return text._replace(text=f"docker {line}", offsets=[*nowhere, *text.offsets], stands=stands)


def _given(body: Mapping, source: Source) -> Iterator[Word]:
    """The volumes and the environment of a job container, as options of a command line."""
    volumes, environment = body.get("volumes"), body.get("env")
    if isinstance(volumes, SequenceNode):
        for item in volumes.items:
            if isinstance(item, Scalar):
                yield Word("-v")
                yield Word(item.value, Span(source, item.start, item.end), _unknown(item.value))
    if isinstance(environment, Mapping):
        for name, value in environment.pairs:
            if isinstance(name, Scalar) and isinstance(value, Scalar):
                yield Word("-e")
                text = f"{name.value}={value.value}"
                yield Word(text, Span(source, name.start, value.end), _unknown(value.value))


def _unknown(text: str) -> str:
    return "it depends on an expression" if "${{" in text else ""


_EXPRESSION = re.compile(r"\$\{\{.*?\}\}|\{\{.*?\}\}", re.S)
_PLACE = re.compile(r"(?<!\$)\{\{.*?\}\}")


def _closed(pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str], text: str) -> str:
    """A text with its ``{{ }}`` replaced. Behind the last ``}}`` none is closed: nothing is looked for there."""
    end = text.rfind("}}") + 2
    return pattern.sub(replaced, text[:end]) + text[end:] if end > 1 else text


def shell_text(node: Scalar, source: Source) -> ShellText:
    """The text of a YAML scalar as a shell gets it, its expressions as variables that nothing sets."""
    text = scalar_text(node, source)
    return text._replace(text=_closed(_EXPRESSION, _as_variable, _continued(text.text)), unset=_unset)


def scalar_text(node: Scalar, source: Source) -> ShellText:
    """The text of a YAML scalar, each character with its place in the file."""
    builder = Builder(source)
    if node.style in ("|", ">"):
        _block(builder, node, source)
    elif node.style == '"':
        _double_quoted(builder, source, node.start + 1, node.end - 1)
    elif node.style == "'":
        _single_quoted(builder, source, node.start + 1, node.end - 1)
    else:
        _plain(builder, source, node.start, node.end)
    return builder.build(Span(source, node.start, node.end))


def _continued(text: str) -> str:
    """A PowerShell text with the line ends of the shell: a backtick continues a line there."""
    if " `\n" not in text or "\\\n" in text:
        return text
    return "\n".join(
        f"{line[:-1]}\\" if line.endswith(" `") and line.count("`") == 1 else line for line in text.split("\n")
    )


def _joined(texts: Sequence[ShellText]) -> ShellText:
    """Lines of one shell that stand in several scalars."""
    offsets: list[int] = []
    for text in texts:
        offsets += [*text.offsets, NOWHERE]
    source = texts[0].source
    home = Span(source, texts[0].home.start, texts[-1].home.end)
    return ShellText(source, "".join(f"{text.text}\n" for text in texts), offsets, home, unset=texts[0].unset)


def _as_variable(match: re.Match[str]) -> str:
    """``${{ matrix.gpu }}`` as a variable of the same length, which no script sets."""
    written = match[0]
    name = re.sub(r"\W", "_", written[3:-1])
    return f"${{_{name}}}" if name else "_" * len(written)


def _unset(name: str) -> str:
    """Why a variable is not known: those that begin and end in `_` stand for expressions."""
    return "it depends on an expression" if re.fullmatch(r"_\w*_", name) else not_set(name)


def as_written(launch: Launch) -> Launch:
    """A launch that speaks of the expressions that stand there, not of the variables they were read as."""
    image, said = launch.image, launch.words
    if image is not None and image.because and _EXPRESSION.search(image.span.text):
        text = image.span.text
        said = said._replace(launch=said.launch.replace(image.text, text))
        image = image._replace(value=text, text=text, because="it depends on an expression")
    return launch._replace(image=image, words=said)


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
    first = next((text[start:end] for start, end in lines if text[start:end].strip()), None)
    if first is None:
        return
    # An indentation indicator leaves some of the blanks before the first line to the text.
    value = next((line for line in node.value.split("\n") if line.strip()), "")
    indentation = (len(first) - len(first.lstrip(" "))) - (len(value) - len(value.lstrip(" ")))
    breaks: list[int] = []  # the line ends since the last line with anything on it
    before = ""
    for start, end in lines:
        begin = min(start + indentation, end)
        here = text[begin:end]
        if here:
            _break(builder, breaks, node.style == ">" and bool(before), before[:1], here[0])
            builder.take(begin, end)
            before, breaks = here, []
        if end < node.end:
            breaks.append(end)
    _break(builder, breaks, False, "", "")


def _break(builder: Builder, breaks: Sequence[int], folds: bool, before: str, behind: str) -> None:
    """The line ends between two lines that start with certain characters."""
    if folds and before not in (" ", "\t") and behind not in (" ", "\t"):
        if len(breaks) == 1:
            builder.put(" ", breaks[0])
            return
        breaks = breaks[1:]
    for at in breaks:
        builder.put("\n", at)


_FOLD = r"(?:(?<![ \t])|(?<=\\[ \t]))[ \t]*+(?:\r?\n[ \t]*+)++"
"""A line break in a flow scalar, with the blanks around it: from the first of them on, or from an escaped one."""


def _fold(builder: Builder, found: str, at: int) -> None:
    """One line break is a blank; of several, each but the first is one."""
    count = found.count("\n")
    builder.put(" " if count == 1 else "\n" * (count - 1), at)


def _plain(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(_FOLD, source.text[start:end]):
        builder.take(at, start + match.start())
        _fold(builder, match[0], start + match.start())
        at = start + match.end()
    builder.take(at, end)


def _single_quoted(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(rf"''|{_FOLD}", source.text[start:end]):
        builder.take(at, start + match.start())
        if match[0] == "''":
            builder.put("'", start + match.start() + 1)
        else:
            _fold(builder, match[0], start + match.start())
        at = start + match.end()
    builder.take(at, end)


_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip

_ESCAPE = r"\\(?:\r?\n[ \t]*(?:\r?\n[ \t]*)*|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)"


def _double_quoted(builder: Builder, source: Source, start: int, end: int) -> None:
    at = start
    for match in re.finditer(f"{_ESCAPE}|{_FOLD}", source.text[start:end]):
        found, place = match[0], start + match.start()
        builder.take(at, place)
        if not found.startswith("\\"):
            _fold(builder, found, place)
        elif found[1] in "\r\n":
            builder.put("\n" * (found.count("\n") - 1), place + 1)
        elif len(found) > 2:
            builder.put(chr(int(found[2:], 16)), place + 1)
        else:
            builder.put(_ESCAPES.get(found[1], found[1]), place + 1)
        at = start + match.end()
    builder.take(at, end)


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments of the file and of the scripts in it."""
    return line_suppressions(source, HASH, "#", outside_quotes(source))


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment after the key of a container, or above a command."""
    source, line = launch.span.source, launch.span.line
    if launch.kind == "ci-container":
        return at_end(source, line, f"# {text}")
    return above(source, first_line(source, line), f"# {text}")
