"""Whether an edit of a CI file leaves alone all but the containers that it is for."""

from __future__ import annotations

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.ci.read import parts
from shmlint.formats.included import used_by_others, variables_changed
from shmlint.formats.shell.rest import same
from shmlint.syntax.shell_text import mentions_engine
from shmlint.syntax.yaml import Alias, MappingNode, Node, Scalar, SequenceNode
from shmlint.syntax.yaml_read import read_documents


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether a file says the same but for its containers, and its scripts do the same but for theirs."""
    try:
        old = read_documents(path, before)
    except Unreadable:
        return True  # it is not YAML: its commands are read one by one, and each is compared as a launch
    try:
        new = read_documents(path, after)
    except Unreadable:
        return False
    if len(old) != len(new) or not all(_same(a.root, b.root) for a, b in zip(old, new, strict=True)):
        return False
    changed = frozenset().union(*(variables_changed(a.root, b.root) for a, b in zip(old, new, strict=True)))
    if used_by_others(changed, before.source(path), before):
        return False
    return same(
        list(parts(old, before.source(path))), list(parts(new, after.source(path))), sizes_only=sizes_only
    )


def _same(old_root: Node, new_root: Node) -> bool:
    """Whether documents differ in nothing but options of containers and scripts that speak of an engine.

    A text that is under an anchor may be another where all that use it are of that kind.
    """
    todo: list[tuple[Node, Node, str]] = [(old_root, new_root, "")]
    edited: dict[int, str] = {}
    aliases: list[tuple[Alias, str]] = []
    while todo:
        old, new, key = todo.pop()
        if type(old) is not type(new) or (old.tag, old.anchor) != (new.tag, new.anchor):
            return False
        if isinstance(old, Alias):
            aliases.append((old, key))
        elif isinstance(old, Scalar) and isinstance(new, Scalar):
            if old.value != new.value:
                if key != "options" and not mentions_engine(old.value) and not key.endswith(("script", "commands")):
                    return False
                edited[id(old)] = key
        elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
            if len(old.items) != len(new.items):
                return False
            todo += [(a, b, key) for a, b in zip(old.items, new.items, strict=True)]
        elif isinstance(old, MappingNode) and isinstance(new, MappingNode):
            if len(old.pairs) != len(new.pairs):
                return False
            for (name, value), (other_name, other_value) in zip(old.pairs, new.pairs, strict=True):
                todo.append((name, other_name, ""))
                todo.append((value, other_value, name.value if isinstance(name, Scalar) else ""))
    return all(edited.get(id(alias.target), key) == key for alias, key in aliases)
