"""The images that the steps of a workflow build with ``docker/build-push-action``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from shmlint.model.launch import Build
from shmlint.model.source import Source, Span
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode

_Texts = Mapping[str, str]


def built(job: MappingNode, root: Node, source: Source, directory: str) -> Iterator[Build]:
    """The images that the steps of a job build, by the names that the file gives them."""
    steps = job.get("steps")
    if not isinstance(steps, SequenceNode):
        return
    values = {"github.workspace": ".", **dict(_of_environment(root)), **dict(_of_environment(job))}
    for step in steps.items:
        uses = step.get("uses") if isinstance(step, MappingNode) else None
        if not isinstance(step, MappingNode) or not isinstance(uses, Scalar):
            continue
        inputs = {name: _expanded(text, values) for name, text in _texts(step.get("with"))}
        if uses.value.startswith("docker/metadata-action@"):
            values |= _of_metadata(step, inputs)
        elif uses.value.startswith("docker/build-push-action@"):
            yield from _pushed(inputs, Span(source, uses.start, uses.end), directory)


def _of_environment(node: Node) -> Iterator[tuple[str, str]]:
    """The variables of a workflow or a job, as an expression names them."""
    for name, text in _texts(node.get("env")) if isinstance(node, MappingNode) else ():
        yield f"env.{name}", text


def _of_metadata(step: MappingNode, inputs: _Texts) -> _Texts:
    """What ``docker/metadata-action`` hands on: the names of its images. Which tags they get is not followed."""
    name = step.get("id")
    lines = (line.strip().removeprefix("name=").partition(",")[0] for line in inputs.get("images", "").splitlines())
    return {f"steps.{name.value}.outputs.tags": "\n".join(lines)} if isinstance(name, Scalar) else {}


def _pushed(inputs: _Texts, span: Span, directory: str) -> Iterator[Build]:
    context, file, target = inputs.get("context", "."), inputs.get("file"), inputs.get("target")
    context = re.sub(r"^\{\{ *defaultContext *\}\}:?", "", context) or "."
    if any("{{" in path for path in (context, file or "")):
        return  # a matrix or an input decides
    pairs = (line.partition("=") for line in inputs.get("build-args", "").splitlines())
    args = tuple((name.strip(), value) for name, equals, value in pairs if equals)
    for tag in re.findall(r"(?:\$\{\{[^{}]*\}\}|[^,\s])+", inputs.get("tags", "")):
        yield Build(tag, context, file, target, args, span, directory)


def _texts(node: Node | None) -> Iterator[tuple[str, str]]:
    """The names and texts of a mapping."""
    for key, value in node.pairs if isinstance(node, MappingNode) else ():
        if isinstance(key, Scalar) and isinstance(value, Scalar):
            yield key.value, value.value


def _expanded(text: str, values: _Texts) -> str:
    """A text with the values of its expressions, as far as they are known."""
    def value(found: re.Match[str]) -> str:
        known = values.get(found[1].strip(), found[0])
        return known if len(known) <= _LONGEST_VALUE else found[0]

    for _ in range(_LEVELS if "${{" in text else 0):
        text = re.sub(r"\$\{\{([^{}]*)\}\}", value, text) if len(text) <= _LONGEST else text
    return text


_LEVELS = 2
"""A variable may be set to an expression with another one."""
_LONGEST, _LONGEST_VALUE = 10_000, 500
"""Characters of a text and of a value; longer ones name no image."""
