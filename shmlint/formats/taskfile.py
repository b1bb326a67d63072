"""Taskfiles of go-task: the commands of their tasks, with the templates that the file itself fills.

Source: go-task website/src/docs/reference/schema.md and templating.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.comments import HASH, above_command, line_suppressions, outside_texts
from shmlint.formats.included import used_by_others, variables_changed
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_source
from shmlint.formats.shell.rest import same
from shmlint.formats.shell.run import with_reasons, with_texts
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.model.suppression import Suppression
from shmlint.syntax.shell_text import Builder, Places, ShellText
from shmlint.syntax.shell_variables import ANY, given
from shmlint.syntax.yaml import Document, MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents
from shmlint.syntax.yaml_text import scalar_text

_DEPTH = 8
"""Variables inside variables are followed this deep."""

_LONGEST = 20_000
"""Characters of a command from which on no variable is filled in."""

_COMMANDS = ("cmds", "cmd", "sh", "defer", "status", "preconditions", "if", "deps")
"""Keys whose values are commands, or hold some."""

_TEMPLATE = re.compile(
    r"\{\{-?[ \t]*if\b[^{}\n]*\}\}(?P<then>[^{}\n]*)(?:\{\{-?[ \t]*else[ \t]*-?\}\}(?P<otherwise>[^{}\n]*))?"
    r"\{\{-?[ \t]*end[ \t]*-?\}\}"
    r"|\{\{-?[ \t]*(?:\.(?P<name>\w+)[ \t]*)?(?:\|[ \t]*(?:quote|q|shellQuote)[ \t]*)?[^{}\n]*?-?\}\}"
)
"""One that decides about a text, with that, or a single one."""

Values = Mapping[str, Scalar | None]
"""The variables of a file with their values; None where a value is not known."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The container starts of tasks."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    """Raises Unreadable where the file is not YAML."""
    places = Places()
    reading = read_source(source, _parts(source, workspace, places), workspace)
    return reading._replace(
        launches=tuple(with_texts(launch, places.as_written) for launch in reading.launches),
        not_read=with_reasons(reading.not_read, places.as_written),
    )


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The commands of tasks, whatever they hold."""
    return _parts(source, workspace, Places())


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    old, new = (
        list(_parts(files.source(path), workspace=files, places=Places())) for files in (before, after)
    )
    documents = zip(read_documents(path, before), read_documents(path, after), strict=False)
    changed = frozenset().union(*(variables_changed(one.root, other.root) for one, other in documents))
    if used_by_others(changed, before.source(path), before) or _handed_on(changed, read_documents(path, before)):
        return False
    return same(old, new, sizes_only=sizes_only)


def _handed_on(names: Collection[str], documents: Sequence[Document]) -> bool:
    """Whether calls of tasks give variables of some names to these: what becomes of them is not followed."""
    use = rf"\{{\{{[^{{}}]*\b(?:{'|'.join(map(re.escape, sorted(names)))})\b" if names else None
    roots = (document.root.resolved for document in documents)
    tasks = (root.get("tasks") for root in roots if isinstance(root, MappingNode))
    given_ = (pairs for node in tasks if isinstance(node, MappingNode) for pairs in _given_by_calls(node))
    return use is not None and any(isinstance(v, Scalar) and re.search(use, v.value) for _, v in given_)


def _parts(source: Source, workspace: Workspace, places: Places) -> Iterator[Part]:
    """The commands of a file. Each runs in a shell of its own."""
    for document in read_documents(source.path, workspace):
        root = document.root.resolved
        tasks = root.get("tasks") if isinstance(root, MappingNode) else None
        if not isinstance(root, MappingNode) or not isinstance(tasks, MappingNode):
            continue
        passed = _passed(tasks)
        values = _values(root.get("vars"), {}, passed)
        environment = _environment(root, {})
        yield from _shells(root.get("vars"), source, (values, environment, places))
        for _, task in tasks.pairs:
            inner, env, directory = values, environment, "" if root.get("dir") is None else None
            if isinstance(task, MappingNode):
                inner = _values(task.get("vars"), values, passed)
                env = _environment(task, environment)
                directory = _directory(task.get("dir"), inner) if task.get("dir") is not None else directory
                yield from _shells(task.get("vars"), source, (inner, env, places))
            yield from (part._replace(directory=directory) for part in _scripts(task, source, (inner, env, places)))


Around = tuple[Values, Values, Places]
"""The variables of templates, those of the environment, and what stands for others."""


def _directory(node: Node | None, values: Values) -> str | None:
    """Where the commands of a task run; None where only a template tells."""
    if not isinstance(node, Scalar):
        return None
    text = node.value
    for template in _TEMPLATE.finditer(text):
        value = values.get(template["name"] or "")
        if template["name"] not in _OF_FILE and (value is None or "{{" in value.value):
            return None
        text = text.replace(template[0], "." if value is None else value.value)
    return text


_OF_FILE = frozenset({"ROOT_DIR", "TASKFILE_DIR"})
"""Variables that Task sets to the directory of the file."""


def _values(node: Node | None, around: Values, passed: frozenset[str]) -> Values:
    """Variables with those that a mapping sets; what calls of tasks pass on may be anything."""
    found = dict(around)
    for name, value in node.pairs if isinstance(node, MappingNode) else ():
        text = value.resolved
        if isinstance(name, Scalar):
            found[name.value] = text if isinstance(text, Scalar) and name.value not in passed else None
    return found


def _environment(node: MappingNode, around: Values) -> Values:
    """The variables of the environment of a file or a task; files of variables may set any that are not set there."""
    found = _values(node.get("env"), around, frozenset())
    return {ANY: None, **found} if node.get("dotenv") is not None else found


def _passed(tasks: MappingNode) -> frozenset[str]:
    """The variables that calls of tasks set."""
    return frozenset(name.value for name, _ in _given_by_calls(tasks) if isinstance(name, Scalar))


def _given_by_calls(tasks: MappingNode) -> Iterator[tuple[Node, Node]]:
    """The names and values of the variables that calls of tasks set."""
    stack: list[Node] = [tasks]
    while stack:
        node = stack.pop()
        if isinstance(node, SequenceNode):
            stack += node.items
        elif isinstance(node, MappingNode):
            variables = node.get("vars") if node.get("task") is not None else None
            yield from variables.pairs if isinstance(variables, MappingNode) else ()
            stack += (value for _, value in node.pairs)


def _shells(variables: Node | None, source: Source, around: Around) -> Iterator[Part]:
    """The commands that give variables their values."""
    for _, value in variables.pairs if isinstance(variables, MappingNode) else ():
        if isinstance(value, MappingNode):
            yield from _scripts(value, source, around)


def _scripts(node: Node, source: Source, around: Around) -> Iterator[Part]:
    """The commands of a task, of one of its entries, or of a list of them."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from _scripts(item, source, around)
    elif isinstance(node, MappingNode):
        for name, value in node.pairs:
            if isinstance(name, Scalar) and name.value in _COMMANDS:
                yield from _scripts(value, source, around)
    elif isinstance(node, Scalar) and node.value:
        values, environment, places = around
        known = {
            name: value.value if value and "{{" not in value.value else None for name, value in environment.items()
        }
        yield Part(_filled(node, source, values, places), given(known))


def _filled(node: Scalar, source: Source, values: Values, places: Places) -> ShellText:
    """A command with its templates filled."""
    text = scalar_text(node, source)
    builder = Builder(source)
    _fill(builder, text, values, places, 0)
    return builder.build(text.home)._replace(unset=places.because)


def _fill(builder: Builder, text: ShellText, values: Values, places: Places, depth: int) -> None:
    at = 0
    for template in _TEMPLATE.finditer(text.text):
        builder.copy(text, at, template.start())
        since = len(builder.offsets)
        name = template["name"] or ""
        value = values.get(name) if re.fullmatch(r"\{\{-?\s*\.\w+\s*-?\}\}", template[0]) else None
        if value is not None and depth < _DEPTH and len(builder.offsets) < _LONGEST:
            _fill(builder, scalar_text(value, text.source), values, places, depth + 1)
        else:
            variable = places.name(template[0], "a template")
            builder.put_unknown(variable)
            for way in filter(None, (template["then"], template["otherwise"])):
                builder.perhaps[variable, way.strip()] = None
        first, last = text.offset(template.start()), text.offset(template.end() - 1)
        builder.used(since, first, last + 1)
        at = template.end()
    builder.copy(text, at, len(text.text))


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments of the file and of the scripts in it."""
    return line_suppressions(source, HASH, "#", outside_texts(source))


ignore_comment = above_command
