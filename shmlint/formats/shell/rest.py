"""Whether an edit leaves alone what shares the edited text with the launches that it is for.

A launch is compared where its words are known. What uses a variable that an edit changes in any other way
must be something that only prints it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from shmlint.docker.engines import is_by_another
from shmlint.files.workspace import Workspace
from shmlint.formats.included import used_by_others
from shmlint.formats.shell.callers import is_read_by_another
from shmlint.formats.shell.others import same_for_others
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import Parts, parts, read_part
from shmlint.syntax.shell import Command
from shmlint.syntax.shell_repair import EndKind, repaired
from shmlint.syntax.shell_sharing import (
    Sharing,
    Use,
    references,
    sharing,
    statements,
    without_sizes,
)
from shmlint.syntax.shell_text import mentions_engine
from shmlint.syntax.shell_tree import Tree
from shmlint.syntax.shell_variables import ARGUMENTS
from shmlint.syntax.word import Word


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether what a script does besides starting containers has stayed the same."""
    return same_others(path, before, after, parts, sizes_only=sizes_only)


def same_others(path: str, before: Workspace, after: Workspace, parts_of: Parts, *, sizes_only: bool) -> bool:
    """Whether what a file's parts do besides starting containers has stayed the same.

    A script that sources the file sees its variables and functions, and may start other containers with them.
    """
    old, new = list(parts_of(before.source(path))), list(parts_of(after.source(path)))
    shared: dict[int, Sharing] = {}

    def read(part: Part) -> Sharing:
        if id(part) not in shared:
            shared[id(part)] = sharing(part.text)
        return shared[id(part)]

    if used_by_others(defined_otherwise(old, new, read), before.source(path), before):
        return False
    if not same_for_others(old, new) and is_read_by_another(before.source(path), before):
        return False
    if sizes_only and _only_sizes(old, new):
        return True
    if not _same(old, new, read, sizes_only=sizes_only):
        return False
    return not (_changed(map(read, old), map(read, new)) and is_read_by_another(before.source(path), before))


def _sharing(part: Part) -> Sharing:
    return sharing(part.text)


def defined_otherwise(
    before: Sequence[Part], after: Sequence[Part], read: Callable[[Part], Sharing] = _sharing
) -> frozenset[str]:
    """The variables that an edit makes something else, those made of them, and the functions that it changes."""
    pairs = [(old, new) for old, new in zip(before, after, strict=False) if old.text.text != new.text.text]
    shared = [read(old) for old, _ in pairs]
    changed = _changed(shared, [read(new) for _, new in pairs])
    changed = _reached(changed, shared) if changed else changed
    functions = (_functions(old).items() - _functions(new).items() for old, new in pairs)
    return changed.union(name for edited in functions for name, _ in edited)


def _functions(part: Part) -> dict[str, str]:
    """The functions of a part, as they are written."""
    tree = Tree(part.text)
    named = [(node, node.child_by_field_name("name")) for node in tree.nodes if node.type == "function_definition"]
    return {tree.raw(name): tree.raw(node) for node, name in named if name is not None}


def same(before: Sequence[Part], after: Sequence[Part], *, sizes_only: bool) -> bool:
    """Whether parts do the same besides starting containers. Those of one file share their variables.

    ``sizes_only``: of the commands that start them, too, nothing but ``--shm-size`` may be different.
    """
    if sizes_only and _only_sizes(before, after):
        return True
    return _same(before, after, _sharing, sizes_only=sizes_only)


def _only_sizes(before: Sequence[Part], after: Sequence[Part]) -> bool:
    """Whether all is written as before but for sizes: then what the commands are made of need not be worked out."""
    return len(before) == len(after) and all(
        old.text.text == new.text.text or (statements(old.text) == statements(new.text) and _ended(old) == _ended(new))
        for old, new in zip(before, after, strict=True)
    )


def _same(
    before: Sequence[Part], after: Sequence[Part], read: Callable[[Part], Sharing], *, sizes_only: bool
) -> bool:
    if len(before) != len(after):
        return False
    edited = [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old.text.text != new.text.text]
    if not edited:
        return True
    if any(_ended(before[i]) != _ended(after[i]) for i in edited):
        return False
    shared = [read(part) for part in before]
    functions = frozenset().union(*(one.functions for one in shared))
    for i in edited:
        old, new = list(before[i].commands), list(after[i].commands)
        if list(_others(old, functions)) != list(_others(new, functions)):
            return False
        if sizes_only and list(_starts(old)) != list(_starts(new)):
            return False
    changed = _changed([shared[i] for i in edited], [read(after[i]) for i in edited])
    if any(_arguments(before[i], functions) != _arguments(after[i], functions) for i in edited):
        changed |= {ARGUMENTS}
    if not changed:
        return True
    if any(one.indirect for one in shared):
        return False
    changed = _reached(changed, shared)
    exported = any(changed & one.exported for one in shared)
    # A part that is not edited may use what another one sets.
    return all(
        _harmless(part, one, commands, (changed, functions, exported))
        for part, one, commands in zip(before, shared, (list(part.commands) for part in before), strict=True)
    )


_PRINTS = frozenset({"echo", "printf", ":", "log", "info", "warn", "print"})
_PASSES = ("", "export", "local", "declare", "readonly", "typeset", "set", *_PRINTS)
"""Commands that only print or assign; what is made of an assignment is compared where it is used."""
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def _ended(part: Part) -> list[EndKind]:
    """By what a shell ends commands of a part before their readers do: what an edit must not add to.

    Lines one after the other count once: an option on a line of its own may be added to them.
    """
    found = [(part.text.source.position(repair.at).line, repair.kind) for repair in repaired(part.text)[1]]
    lines = set(found)
    return [kind for line, kind in found if (line - 1, kind) not in lines]


def _starts(found: Iterable[Command]) -> Iterator[str]:
    """The commands that start containers, without their sizes."""
    for command in found:
        if any(map(_mentions_engine, command.words)):
            yield without_sizes(" ".join(word.text for word in command.words))


def _mentions_engine(word: Word) -> bool:
    """Whether a word names an engine, or is a variable that does in one of its branches."""
    return mentions_engine(word.text) or any(map(mentions_engine, word.values))


def _others(found: Iterable[Command], functions: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """The words of the commands that start no container and do more than print, assign or call ``functions``."""
    for command in found:
        words = tuple(word.text for word in command.words)
        name = next((word for word in words if not _ASSIGNMENT.match(word)), "")
        called = name.removesuffix("()") in functions
        if name not in _PASSES and not called and not any(map(_mentions_engine, command.words)):
            yield words


def _arguments(part: Part, functions: frozenset[str]) -> list[int]:
    """How many words the calls of functions in a part have."""
    tree = Tree(part.text)
    return [
        node.named_child_count for node in tree.nodes
        if node.type == "command" and tree.first_word(node) in functions
    ]  # fmt: skip


def _changed(before: Iterable[Sharing], after: Iterable[Sharing]) -> frozenset[str]:
    """The variables that are set to something else."""
    found: set[str] = set()
    for old, new in zip(before, after, strict=True):
        names = old.assigned.keys() | new.assigned.keys()
        found |= {name for name in names if old.assigned.get(name) != new.assigned.get(name)}
    return frozenset(found)


def _reached(changed: frozenset[str], shared: Sequence[Sharing]) -> frozenset[str]:
    """The variables that are made of others, too."""
    made = [(name, references(raw)) for one in shared for name, raws in one.assigned.items() for raw in raws]
    functions = frozenset().union(*(one.functions for one in shared))
    made += [(ARGUMENTS, use.names) for one in shared for use in one.uses if use.command in functions]
    while True:
        more = changed | {name for name, of in made if not of.isdisjoint(changed)}
        if more == changed:
            return changed
        changed = more


Around = tuple[frozenset[str], frozenset[str], bool]
"""The variables that are others, the functions of the file, and whether other programs see such a variable."""


def _harmless(part: Part, shared: Sharing, commands: Sequence[Command], around: Around) -> bool:
    """Whether a part uses what has changed in launches alone, or prints it."""
    changed, functions, exported = around
    starts = [launch.span.start for launch in read_part(part, "").launches]
    engines = [command for command in commands if any(map(_mentions_engine, command.words))]
    launches = [command for command in engines if _is_read(command, starts)]
    places = {(command.span.start, command.span.end) for command in launches}
    if not all(_is_followed(command, changed) for command in launches):
        return False
    blind = {(command.span.start, command.span.end) for command in engines if not reads_environment(command)}
    if exported and not all(
        name in functions or name in _PASSES or _place(part, start, end) in blind
        for name, start, end in shared.commands
    ):
        return False
    if exported and any(_hands_in(command, changed) for command in launches):
        return False
    return all(_is_allowed(use, part, places, functions) for use in shared.uses if use.names & changed)


def _is_read(command: Command, starts: Sequence[int]) -> bool:
    """Whether a launch that was read, and so is compared, starts in a command, or in a variable that it runs.

    Of a launch behind an unknown program nobody knows what another option makes.
    """
    spans = [command.span, *(word.span for word in command.words if word.span and _mentions_engine(word))]
    return any(span.start <= start < span.end for span in spans for start in starts)


_ENV_OPTION = re.compile(r"^(?:-e=?|--env=)")


def _hands_in(command: Command, changed: frozenset[str]) -> bool:
    """Whether a launch hands variables of its environment to its container: ``-e NAME``."""
    return any(_ENV_OPTION.sub("", word.text) in changed for word in command.words)


_COMPOSED = re.compile(r"(?:.*[/-])?(?:compose|bake|stack)")


def reads_environment(command: Command) -> bool:
    """Whether a command puts variables of its environment into files that it reads, as Compose does; any other may."""
    return is_by_another(command.words) or any(_COMPOSED.fullmatch(word.text) for word in command.words[:8])


def _is_allowed(use: Use, part: Part, places: Iterable[tuple[int, int]], functions: frozenset[str]) -> bool:
    place = _place(part, use.start, use.end)
    if use.place == "elsewhere" or place is None:
        return False
    if use.place == "here-document":
        return any(place[0] <= start and end <= place[1] for start, end in places)
    if use.command in functions or use.command == "set":
        return True  # what becomes of the arguments is looked at where they are used
    return place in places or (use.command in _PRINTS and not use.handed_on)


def _place(part: Part, start: int, end: int) -> tuple[int, int] | None:
    """Where characters of a part are in its file."""
    span = part.text.span(start, end)
    return (span.start, span.end) if span is not None else None


def _is_followed(command: Command, changed: frozenset[str]) -> bool:
    """Whether the words that a launch gets from changed variables are known.

    What a branch may add to a variable is not; then what the variable is sure to hold has to be among the words.
    """
    for word in command.words:
        if word.unknown and not references(word.text).isdisjoint(changed):
            partly = re.fullmatch(r"\$\{\w+\}", word.text) is not None
            if not partly or not any(w.array is not None or w.used is not None for w in command.words if not w.unknown):
                return False
    return True
