"""Values of a service: texts, sizes, words, variables, each with its place."""

from __future__ import annotations

from collections.abc import Collection

from shmlint.docker import ipc, placeholders
from shmlint.docker.sizes import compose_size
from shmlint.formats.compose.interpolate import NotKnown
from shmlint.formats.compose.tree import Branch, Leaf, Listing, Tree, Variables, items_of
from shmlint.formats.compose.words import split_words
from shmlint.model.launch import Size, Unknown, Value
from shmlint.syntax.template import has_placeholder


def unset(leaf: Leaf) -> str:
    names = leaf.interpolated.unset
    if not names:
        return ""
    if isinstance(leaf.layer.variables.get(names[0]), NotKnown):
        return f"the value of variable {names[0]} is not known here"
    if names[0] != leaf.written:
        return f"variable {names[0]} is not set here"
    return "a template fills it in" if has_placeholder(names[0]) else "its variables cannot be read"


def text_value(leaf: Leaf | None) -> Value[str] | None:
    """A text, as Compose reads it; ``because`` says what is missing where a variable is unset."""
    if leaf is None:
        return None
    return Value(leaf.text, leaf.span, leaf.written, unset(leaf), leaf.interpolated.private)


def read_mode(leaf: Leaf | None) -> Value[str] | None:
    if leaf is None:
        return None
    because = unset(leaf)
    if not because and not leaf.text:
        return None
    given = leaf.interpolated
    return ipc.read(leaf.named, leaf.span, leaf.written, because, private=given.private, varies=bool(given.used))


_TRUE = frozenset({"true", "y", "yes", "on"})
SWITCHES = _TRUE | {"false", "n", "no", "off"}
"""The texts that Compose takes for true or false, in any case."""


def is_true(leaf: Leaf | None) -> bool | None:
    """None where a variable says it."""
    if leaf is not None and leaf.interpolated.unset:
        return None
    return leaf is not None and leaf.text.lower() in _TRUE


def read_words(tree: Tree | None, unsure: Collection[str] = ()) -> Value[tuple[str, ...]] | None:
    """``command`` or ``entrypoint``: a list, or a text split as a shell splits words.

    Variables whose value is not sure stay in the words as ``$NAME``.
    """
    if isinstance(tree, Leaf):
        if tree.kind == "null":
            return None
        text = tree.naming(unsure)
        words = split_words(text)
        if words is None:
            words = text.split()
        return Value(tuple(words), tree.span, tree.written, unset(tree), tree.interpolated.private)
    if isinstance(tree, Listing):
        leaves = [leaf for leaf in tree.items if isinstance(leaf, Leaf)]
        because = next((b for b in map(unset, leaves) if b), "")
        private = any(leaf.interpolated.private for leaf in leaves)
        words = [leaf.naming(unsure) for leaf in leaves]
        return Value(tuple(words), tree.span, " ".join(leaf.written for leaf in leaves), because, private)
    return None


def read_size(tree: Tree) -> Value[Size]:
    """A size as Compose reads it (compose-go types/bytes.go): a float is silently dropped."""
    if not isinstance(tree, Leaf):
        span = tree.span if isinstance(tree, Branch | Listing) else None
        assert span is not None
        unknown = placeholders.unknown(span.text)
        return Value(unknown or Size(None, "must be a number or string"), span, span.text if unknown else "")
    private = tree.interpolated.private
    span, written = tree.span, tree.written
    if tree.refused:
        return Value(Size(None, tree.refused), span, written)
    if tree.kind == "null":
        return Value(Size(None, "no value: Compose needs a number or a string"), span, written)
    if tree.kind == "bool":
        return Value(Size(None, f"`{written}` is not a size"), span, written)
    too_large = isinstance(tree.plain_value, int) and abs(tree.plain_value) >= 2**63
    if tree.kind == "float" or too_large:
        return Value(Size(0, dropped_float=True), span, written)
    because = unset(tree)
    if because:
        return Value(Unknown("variable", because), span, written, because)
    given = tree.plain_value if isinstance(tree.plain_value, int) else tree.text
    size = compose_size(given, private=private)
    unknown = placeholders.unknown(tree.text, private=private) if size.error else None
    return Value(unknown or size, span, written, private=private)


def size_entry(tree: Branch, key: str) -> Value[Size] | None:
    found = tree.get(key)
    if found is None:
        return None
    size = read_size(found)
    if size.span.start == size.span.end:  # an empty value: mark the key
        entry = tree.entries[key]
        return size._replace(span=entry.layer.span(entry.key))
    return size


def read_environment(tree: Tree | None, unsure: Collection[str] = ()) -> dict[str, Value[str]]:
    """``environment`` as a mapping, a list of ``NAME=value``, or several merged; the last one wins.

    A value is unknown that is made of variables whose value is not sure.

    A name without a value is taken from the variables of an included file only if it is in a
    list, which merging makes of a mapping.
    """
    found: dict[str, Value[str]] = {}
    for part in items_of(tree):
        if isinstance(part, Branch):
            for name, entry in part.entries.items():
                value = entry.tree
                if isinstance(value, Leaf):
                    text = value.go_text if value.kind != "null" else None
                    variables = value.layer.outer if part is tree else value.layer.variables
                    found[name] = _environment_value(name, text, value, variables, unsure)
        elif isinstance(part, Leaf):
            name, equals, text = part.text.partition("=")
            found[name] = _environment_value(name, text if equals else None, part, part.layer.variables, unsure)
    return found


def _environment_value(
    name: str, text: str | None, leaf: Leaf, variables: Variables, unsure: Collection[str]
) -> Value[str]:
    """A variable of the container; without a text it is taken from the project's environment."""
    private = leaf.interpolated.private
    because = unset(leaf)
    if other := next((used for used in leaf.interpolated.used if used in unsure), ""):
        because = because or f"the project's example of an env file sets {other} to another value"
    if text is None:
        text = variables.get(name)
        private = True
        if text is None or isinstance(text, NotKnown):
            because = "it depends on the host's environment"
    value: str | Unknown = Unknown("variable", because) if because else text or ""
    return Value(value, leaf.span, leaf.written, because, private)
