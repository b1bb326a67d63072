"""CI files: the scripts in their steps, and job containers with options of their own.

GitHub workflows and actions, GitLab, CircleCI, Azure, Buildkite, Travis and the like all hold
their scripts as YAML texts; which key they are under tells them from descriptions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.ci.containers import containers, job_names
from shmlint.formats.ci.images import built
from shmlint.formats.ci.outside import set_outside
from shmlint.formats.ci.shells import Runner, shell_of
from shmlint.formats.ci.steps import jobs_in, switched_off, with_steps
from shmlint.formats.ci.unparsed import TALK, single_commands, template_documents
from shmlint.formats.ci.variables import around, names_for_options, unsure_names, within
from shmlint.formats.expressions import of_environment, shell_text, with_expressions, written_in
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_part
from shmlint.formats.shell.run import read_launch, with_reasons
from shmlint.formats.shell.sourced import with_sourced
from shmlint.model.launch import Launch, ReadOnly
from shmlint.model.reading import NotRead, Reading, joined
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Source, Span
from shmlint.syntax.shell import Command
from shmlint.syntax.shell_text import NOWHERE, ShellText, mentions_engine
from shmlint.syntax.shell_variables import Environment, given
from shmlint.syntax.word import Cause, Word
from shmlint.syntax.yaml import Alias, Document, MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents

_SHARED_SHELL = frozenset(
    {"script", "before_script", "after_script", "commands", "before_install", "install", "after_success"}
)
"""Keys whose lists are run line by line in one shell: what one line sets, the next can use."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that CI jobs start."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    if not mentions_engine(source.text) and "container" not in source.text and "options" not in source.text:
        return Reading()
    try:
        documents = read_documents(source.path, workspace)
        outside = set_outside(documents, workspace, _top(source.path))
        found = _walk(documents, source, mentions_engine, outside)
        reading = joined(_reading(one, source, workspace) for one in found)
    except Unreadable as error:
        template = template_documents(source)
        if template is None:
            reading = Reading(tuple(single_commands(source)), (error.problem,))
        else:
            found = _walk(template, source, mentions_engine)
            reading = joined(_reading(one, source, workspace) for one in found)
    written = written_in(source)
    expressed = (with_expressions(launch, written) for launch in reading.launches)
    launches = sorted(expressed, key=lambda launch: launch.span.start)
    not_read = sorted(with_reasons(reading.not_read, written), key=lambda place: place.span.start)
    return reading._replace(launches=tuple(launches), not_read=tuple(not_read))


_Wanted = Callable[[str], bool]
"""Whether a script is looked at."""


class _Script(NamedTuple):
    """A script that is looked at; relative paths count from ``directory``."""

    part: Part
    directory: str


def _reading(found: Reading | _Script, source: Source, workspace: Workspace) -> Reading:
    if isinstance(found, Reading):
        return found
    return read_part(with_sourced(found.part, source, workspace), found.directory)


class _Place(NamedTuple):
    """What holds where a script runs."""

    environment: Environment
    top: str
    """The directory of the repository."""
    directory: str
    """Relative paths count from there."""
    for_options: frozenset[str] = frozenset()
    """The variables that the file sets to options."""
    runner: Runner = Runner()

    def inside(self, node: MappingNode, unsure: frozenset[str], text: str) -> _Place:
        """What holds for the scripts in a mapping."""
        defaults = node.get("defaults")
        run = defaults.get("run") if isinstance(defaults, MappingNode) else None
        directory = self.directory
        for here in (run, node):
            for key in ("working-directory", "working_directory", "workingDirectory"):
                value = here.get(key) if isinstance(here, MappingNode) else None
                directory = os.path.join(self.top, value.value) if isinstance(value, Scalar) else directory
        runner = self.runner.inside(node, text)
        return self._replace(environment=within(self.environment, node, unsure), directory=directory, runner=runner)


_TOP = re.compile(
    r"(?:^|(?<=/))\.?(?:github|gitea|forgejo|gitlab|circleci|buildkite|woodpecker|semaphore|azure-pipelines|azuredevops)/"
)


def _top(path: str) -> str:
    """The directory in which jobs start: that of the repository, not that of the file."""
    found = _TOP.search(path)
    return path[: found.start()].rstrip("/") if found is not None else os.path.dirname(path)


def _walk(
    documents: Sequence[Document], source: Source, wanted: _Wanted, outside: frozenset[str] = frozenset()
) -> Iterator[Reading | _Script]:
    """What the mappings of documents start and build, and their scripts, each node looked at once."""
    for document in documents:
        yield from _walk_document(document.root, source, wanted, outside)


def _containers(body: MappingNode, root: Node, jobs: dict[int, str], source: Source, top: str) -> Iterator[Launch]:
    """The containers that a mapping starts; that of a job with the steps that run in it."""
    job = jobs.get(id(body))
    keys = {key.start for key, _ in body.pairs}
    named = body.get("container")
    resource = named.value if isinstance(named, Scalar) and body.get("image") is not None else ""
    users = list(jobs_in(root, resource)) if resource else [body]
    for launch in containers(body, job, source):
        own = launch.span.start in keys and len(users) == 1  # not one of its services, and for one job
        yield with_steps(launch, users[0], root, source, top) if own else launch


def _walk_document(
    root: Node, source: Source, wanted: _Wanted, outside: frozenset[str]
) -> Iterator[Reading | _Script]:
    top = _top(source.path)
    unsure = unsure_names(root, source.text) | outside
    outermost = _Place(around(unsure), top, top, names_for_options(root, source.text))
    stack: list[tuple[Node, str, _Place]] = [(root, "", outermost)]
    jobs = job_names(root)
    while stack:
        node, key, place = stack.pop()
        if isinstance(node, Alias):
            continue  # what it stands for is read where it is written
        if isinstance(node, MappingNode) and (off := switched_off(node)) is not None:
            yield Reading(not_read=tuple(_left_out(node, off, source)))
        elif isinstance(node, MappingNode):
            started = (*_containers(node, root, jobs, source, place.top), *_of_arguments(node, source))
            inner = place.inside(node, unsure, source.text)
            builds = tuple(built(node, root, source, inner.directory))
            unread = (*_of_action(node, source), *_of_plugin(node, source), *_in_python(node, source))
            yield Reading(started, builds=builds, not_read=unread)
            stack += [(value, name, inner) for name, value in _followed(node)]
        elif isinstance(node, SequenceNode):
            lines = [item for item in node.items if isinstance(item, Scalar)]
            if key in _SHARED_SHELL and len(lines) > 1:
                joined_lines = _joined([shell_text(line, source) for line in lines])
                if wanted(joined_lines.text):
                    yield _script(joined_lines, place, key)
                stack += [(item, key, place) for item in node.items if not isinstance(item, Scalar)]
            else:
                stack += [(item, key, place) for item in node.items]
        elif isinstance(node, Scalar) and wanted(node.value):
            yield _script(shell_text(node, source), place, key)


def _followed(node: MappingNode) -> Iterator[tuple[str, Node]]:
    """The keys of a mapping in which scripts may be, with their values."""
    scripts = _input_scripts(node)
    for name, value in node.pairs:
        if not isinstance(name, Scalar) or (name.value in TALK and not _holds_steps(name, value)):
            continue
        if name.value == "with" and scripts is not None:
            yield from ((key, script) for script, key in scripts)
        else:
            yield name.value, value


def _left_out(node: MappingNode, off: Scalar, source: Source) -> Iterator[NotRead]:
    """A job or a step that never runs, if it starts a container with a GPU."""
    if _FOR_GPU.search(source.text, node.start, node.end) is not None:
        yield NotRead(Span(source, off.start, off.end), "it is switched off", "unsupported")


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The scripts that hold a word. Raises Unreadable where the file is not YAML."""
    here = os.path.dirname(source.path) or "."
    for found in _walk(read_documents(source.path, workspace), source, lambda text: word in text):
        if isinstance(found, _Script):
            yield found.part._replace(directory=os.path.relpath(found.directory or ".", here))


def parts(
    documents: Sequence[Document], source: Source, wanted: _Wanted = mentions_engine
) -> Iterator[Part]:
    """The scripts of documents that speak of a container engine, or are ``wanted`` for something else."""
    return (found.part for found in _walk(documents, source, wanted) if isinstance(found, _Script))


def _holds_steps(name: Scalar, value: Node) -> bool:
    """Whether a key that is talk elsewhere names what is run: Bitbucket's ``default`` pipeline, CircleCI's ``when``."""
    if name.value == "when":
        return isinstance(value, MappingNode) and value.get("steps") is not None
    return name.value == "default" and isinstance(value, SequenceNode)


def _of_arguments(step: MappingNode, source: Source) -> Iterator[Launch]:
    """A step of Cloud Build whose image is the docker client: its arguments are a command without a shell."""
    name, arguments = step.get("name"), step.get("args")
    if not isinstance(name, Scalar) or not name.value.endswith("/docker") or step.get("entrypoint") is not None:
        return
    items = arguments.items if isinstance(arguments, SequenceNode) else ()
    words = [
        Word(item.value, Span(source, item.start, item.end), Cause("substitution") if "$" in item.value else None)
        for item in items if isinstance(item, Scalar)
    ]  # fmt: skip
    launch = read_launch(Command((Word("docker"), *words), Span(source, name.start, name.end)))
    if launch is not None and len(words) == len(items):
        yield launch._replace(rewriter=ReadOnly(), words=launch.words._replace(by_hand=_BY_HAND))


_BY_HAND = "add `--shm-size={size}` to the arguments"


def _script(text: ShellText, place: _Place, key: str) -> _Script:
    expressions = of_environment(place.environment) if "env_" in text.text else {}
    environment = {**place.environment, **expressions} if expressions else place.environment
    text = text._replace(shell=shell_of(place.runner, key))
    return _Script(Part(text, given(environment, place.for_options)), place.directory)


_FOR_GPU = re.compile(r"--gpus\b|--runtime[= ]nvidia|--devices?[= ]\S*nvidia")


def _of_action(step: MappingNode, source: Source) -> Iterator[NotRead]:
    """Options for a container with a GPU that an action starts, or a task for Docker of Azure's pipelines."""
    uses, inputs, what = step.get("uses"), step.get("with"), "action"
    task = step.get("task")
    if isinstance(task, Scalar) and task.value.lower().startswith("docker"):
        uses, inputs, what = task, step.get("inputs"), "task"
    for _, value in inputs.pairs if isinstance(uses, Scalar) and isinstance(inputs, MappingNode) else ():
        if isinstance(uses, Scalar) and isinstance(value, Scalar) and _FOR_GPU.search(value.value):
            because = f"what the {what} `{uses.value}` starts is not followed"
            yield NotRead(Span(source, value.start, value.end), because, "unsupported")


_PLUGIN = re.compile(r"(?:.*/)?docker(?:-buildkite-plugin)?(?:\.git)?#")


def _in_python(step: MappingNode, source: Source) -> Iterator[NotRead]:
    """What the program of a step starts that has Python in the place of a shell."""
    shell, program = step.get("shell"), step.get("run")
    if not isinstance(shell, Scalar) or not isinstance(program, Scalar) or not mentions_engine(program.value):
        return
    if re.match(r"python", shell.value.rpartition("/")[2]):
        from shmlint.formats.unread import in_program

        yield from in_program(source, program.start, program.end)


def _of_plugin(plugins: MappingNode, source: Source) -> Iterator[NotRead]:
    """Buildkite's plugin that starts a container, where that gets a GPU."""
    for name, options in plugins.pairs:
        if isinstance(name, Scalar) and _PLUGIN.match(name.value) and isinstance(options.resolved, MappingNode):
            body = options.resolved
            texts = [f"--{key.value}={text}" for key, value in body.pairs if isinstance(key, Scalar)
                     for text in _texts(value)]  # fmt: skip
            if any(map(_FOR_GPU.search, texts)):
                because = f"what the plugin `{name.value}` starts is not followed"
                yield NotRead(Span(source, name.start, name.end), because, "unsupported")


def _texts(node: Node) -> Iterator[str]:
    """The text of a value, or of each item of a list."""
    items = node.resolved.items if isinstance(node.resolved, SequenceNode) else [node]
    return (item.resolved.value for item in items if isinstance(item.resolved, Scalar))


def _input_scripts(step: MappingNode) -> list[tuple[Node, str]] | None:
    """The inputs of an action that a shell of the host runs; None where it is not an action.

    An action does with its inputs what it likes, inside of containers mostly; one that says ssh
    hands its script to the shell of another machine.
    """
    uses, inputs = step.get("uses"), step.get("with")
    if not isinstance(uses, Scalar) or not isinstance(inputs, MappingNode):
        return None
    if "ssh" not in uses.value:
        return []
    found = [(inputs.get(key), key) for key in ("script", "command")]
    return [(node, key) for node, key in found if node is not None]


def _joined(texts: Sequence[ShellText]) -> ShellText:
    """Lines of one shell that are in several scalars."""
    offsets: list[int] = []
    for text in texts:
        offsets += [*text.offsets, NOWHERE]
    source = texts[0].source
    home = Span(source, texts[0].home.start, texts[-1].home.end)
    return ShellText(source, "".join(f"{text.text}\n" for text in texts), offsets, home, unset=texts[0].unset)
