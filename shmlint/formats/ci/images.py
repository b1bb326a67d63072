"""The images that a workflow builds: with ``docker/build-push-action``, or what the repository has for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from shmlint.model.launch import Build
from shmlint.model.source import Source, Span
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode

_Texts = Mapping[str, str]


def built(job: MappingNode, root: Node, source: Source, directory: str) -> Iterator[Build]:
    """The images that a job builds, by the names that the file gives them; each once, whatever its matrix has."""
    steps, uses = job.get("steps"), job.get("uses")
    calls = isinstance(uses, Scalar) and re.fullmatch(_OWN_WORKFLOW, uses.value) is not None
    if not isinstance(steps, SequenceNode) and not calls:
        return
    values = {"github.workspace": ".", **dict(_of_environment(root)), **dict(_of_environment(job))}
    given = [job] if calls else [step for step in getattr(steps, "items", ()) if isinstance(step, MappingNode)]
    seen: set[tuple[object, ...]] = set()
    for chosen in _of_matrix(job):
        for build in _in_steps(given, {**values, **chosen}, source, directory):
            key = build.tag, build.context, build.dockerfile, build.target, build.args
            if key not in seen:
                seen.add(key)
                yield build


_OWN_WORKFLOW = r"\./\.github/workflows/[\w.-]+\.ya?ml"


def _in_steps(steps: Sequence[MappingNode], values: _Texts, source: Source, directory: str) -> Iterator[Build]:
    """The images that steps build, or a job that calls a workflow."""
    values = dict(values)
    for step in steps:
        uses = step.get("uses")
        if not isinstance(uses, Scalar):
            continue
        inputs = {name: _expanded(text, values) for name, text in _texts(step.get("with"))}
        span = Span(source, uses.start, uses.end)
        if uses.value.startswith("docker/metadata-action@"):
            values |= _of_metadata(step, inputs)
        elif uses.value.startswith("docker/build-push-action@"):
            yield from _pushed(inputs, span, directory)
        elif uses.value.startswith("./"):
            yield from _of_own(inputs, span, directory)


def _of_matrix(job: MappingNode) -> list[dict[str, str]]:
    """The values of each job that a matrix makes, as expressions name them; one job without a matrix has none."""
    strategy = job.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, MappingNode) else None
    if not isinstance(matrix, MappingNode):
        return [{}]
    lists = [[dict(_flat(f"matrix.{key.value}", item)) for item in value.items[:_MOST_JOBS]]
             for key, value in matrix.pairs if isinstance(key, Scalar) and isinstance(value, SequenceNode)
             and key.value not in ("include", "exclude")]  # fmt: skip
    found = [{name: text for values in chosen for name, text in values.items()}
             for chosen in islice(product(*lists), _MOST_JOBS)] if lists else []  # fmt: skip
    own, made = {name for values in found for name in values}, tuple(found)
    more = matrix.get("include")
    for item in more.items[:_MOST_JOBS] if isinstance(more, SequenceNode) else ():
        added = dict(_flat("matrix", item))
        fitting = [values for values in made if all(values.get(name) == added[name] for name in own & added.keys())]
        for values in fitting:
            values |= added
        if not fitting:
            found.append(added)
    return found or [{}]


_MOST_JOBS = 50
"""Jobs of a matrix that are looked at, and entries that it has for more."""


def _flat(name: str, node: Node) -> Iterator[tuple[str, str]]:
    """The texts of a value of a matrix, and of what is directly in it."""
    if isinstance(node, Scalar):
        yield name, node.value
    for inner, text in _texts(node):
        yield f"{name}.{inner}", text


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


def _of_own(inputs: _Texts, span: Span, directory: str) -> Iterator[Build]:
    """What a workflow or an action of the repository builds, as the names of its inputs tell."""
    said = {re.sub(r"[-_]", "", name).lower(): text for name, text in inputs.items()}
    file, tags, context = (next((said[name] for name in names if name in said), "") for names in _INPUTS)
    if file and tags:
        told = {"file": file, "tags": tags, "context": context or ".", "build-args": said.get("buildargs", "")}
        yield from _pushed(told, span, directory)


_INPUTS = (
    ("dockerfile", "dockerfilepath", "file"),
    ("tags", "imagename", "image", "dockerimage", "imagetag"),
    ("context", "dockercontext", "buildcontext"),
)
"""Names of inputs, without what people put between words, that give the Dockerfile, the image and the context."""


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
