"""Whether an edit of a dev container leaves alone all but its ``runArgs`` and variables."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.run_options import read_run
from shmlint.files.workspace import Workspace
from shmlint.model.source import Source
from shmlint.syntax.json import Json, parse
from shmlint.syntax.word import Word


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether a file says the same but for the options and variables of its container.

    ``sizes_only``: of those too, nothing but ``--shm-size`` may be different.
    """
    old, new = before.source(path), after.source(path)
    return list(_said(old, sizes_only)) == list(_said(new, sizes_only))


def _said(source: Source, sizes_only: bool) -> Iterator[tuple[str, ...]]:
    """The values of a file, each with its kind, in their order."""
    root, _ = parse(source)
    if root is None:
        yield ("broken", source.text)
        return
    pending = [root]
    while pending:
        value = pending.pop()
        options = _OPTIONS if value is root else ()
        yield value.kind, value.text, *(name for name in value.entries if name not in options)
        for name, (_, child) in value.entries.items():
            if name not in options:
                pending.append(child)
            elif sizes_only:
                yield from ((name, text) for text in _without_sizes(child))
        pending += value.items


_OPTIONS = frozenset({"runArgs", "containerEnv"})


def _without_sizes(options: Json) -> Iterator[str]:
    """The options of ``runArgs`` and what follows them, or the names and values of ``containerEnv``."""
    run = read_run([Word(item.text, item.inside) for item in options.items])
    yield from (f"{option.name}={option.value}" for option in run.options if option.name != "--shm-size")
    yield from (word.text for word in (run.image, *run.command) if word is not None)
    for name, (_, value) in options.entries.items():
        yield f"{name}={value.text}"
