"""Containers that a CI system starts itself: those of jobs, their services, and container resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from shmlint.formats.expressions import shell_text, why_unknown
from shmlint.formats.shell.create import created, option_words
from shmlint.formats.shell.gpus import never_written_with
from shmlint.formats.shell.run import named, with_texts
from shmlint.model.launch import Launch
from shmlint.model.source import Source, Span
from shmlint.syntax.word import Word
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode


def containers(body: MappingNode, job: str | None, source: Source) -> Iterator[Launch]:
    """The containers that a mapping starts: a job's own, its services, an Azure container resource.

    ``job`` is the name of the job that it is the body of.
    """
    for key, written in body.pairs:
        if not isinstance(key, Scalar):
            continue
        shared = job is not None and key.value == "container"  # which each job has for itself
        node = written.resolved if shared else written
        value = node if isinstance(node, MappingNode) else None
        if key.value == "container" and value is not None and value.get("image") is not None:
            yield from _container(key, value, source, job)
        elif key.value == "container" and isinstance(node, Scalar) and node.value:
            if job is not None:  # GitHub: the image alone
                yield from _container(key, None, source, job, node, chosen=_has_more(node.value, body))
            elif body.get("image") is not None and body.get("options") is not None:
                yield from _container(key, body, source, node.value)
        elif key.value == "services" and value is not None:
            for service, inner in value.pairs:
                if not isinstance(service, Scalar) or not isinstance(inner, MappingNode):
                    continue
                if inner.get("image") is not None and (job is not None or inner.get("options") is not None):
                    yield from _container(service, inner, source, service.value)


def job_names(root: Node) -> dict[int, str]:
    """The names of the jobs of a document by the id of their bodies."""
    jobs = root.get("jobs") if isinstance(root, MappingNode) else None
    pairs = jobs.pairs if isinstance(jobs, MappingNode) else ()
    return {id(body): name.value for name, body in reversed(pairs) if isinstance(name, Scalar)}


def _container(
    key: Scalar, body: MappingNode | None, source: Source, name: str | None, image: Node | None = None,
    *, chosen: bool = False,
) -> Iterator[Launch]:  # fmt: skip
    """A job container or service: its options are those of ``docker create``.

    ``chosen``: an expression gives the image, and may give the options.
    """
    image = image if image is not None else body.get("image") if body is not None else None
    options = body.get("options") if body is not None else None
    image_node = image.resolved if image is not None else None
    if not isinstance(image_node, Scalar):
        return
    words: list[Word] = []
    home = Span(source, image_node.start, image_node.end)
    if options is not None and isinstance(options.resolved, Scalar):
        text = shell_text(options.resolved, source)
        words = [_option(word) for word in option_words(text)]
        home = text.home
    if body is not None:
        words += _given(body, source)
    image_span = Span(source, image_node.start, image_node.end)
    if chosen:
        words.append(Word(_OPTIONS, image_span, why_unknown(image_node.value), maybe_many=True))
    words.append(Word(image_node.value, image_span, why_unknown(image_node.value)))
    label = f"container of job `{name}`" if name else "job container"
    launch = created(words, home, Span(source, key.start, key.end), label)
    yield with_texts(never_written_with("'", named(launch, name)), partial(_as_written, words))


def _as_written(words: Sequence[Word], text: str) -> str:
    """A text with the expression that gives options in the place of the variable that it was read as."""
    given = next((word.span.text for word in words if word.text == _OPTIONS and word.span is not None), _OPTIONS)
    return text.replace(_OPTIONS, given)


_OPTIONS = "$OPTIONS"


def _has_more(text: str, job: MappingNode) -> bool:
    """Whether the expression for a job's container may give its options, too: a mapping of the matrix, or JSON."""
    strategy = job.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, MappingNode) else None
    named = re.fullmatch(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}", text.strip())
    if named is None:
        return "${{" in text and "fromJSON" in text
    if not isinstance(matrix, MappingNode):
        return matrix is not None  # an expression gives it
    more = matrix.get("include")
    rows = [row for row in more.items if isinstance(row, MappingNode)] if isinstance(more, SequenceNode) else []
    values = [matrix.get(named[1]), *(row.get(named[1]) for row in rows)]
    items = [item for value in values for item in (value.items if isinstance(value, SequenceNode) else [value])]
    return any(isinstance(item, MappingNode) for item in items)


def _option(word: Word) -> Word:
    """A word of the options: what an expression gives are more options, never the image."""
    if not word.unknown or not re.fullmatch(r"\$\{\w+\}|\$\w+", word.text):
        return word
    return Word(_OPTIONS, word.span, word.unknown, maybe_many=True)


def _given(body: MappingNode, source: Source) -> Iterator[Word]:
    """The volumes and the environment of a job container, as options of a command line."""
    volumes, environment = body.get("volumes"), body.get("env")
    if isinstance(volumes, SequenceNode):
        for item in volumes.items:
            if isinstance(item, Scalar):
                yield Word("-v")
                yield Word(item.value, Span(source, item.start, item.end), why_unknown(item.value))
    if isinstance(environment, MappingNode):
        for name, value in environment.pairs:
            if isinstance(name, Scalar) and isinstance(value, Scalar):
                yield Word("-e")
                text = f"{name.value}={value.value}"
                yield Word(text, Span(source, name.start, value.end), why_unknown(value.value))
