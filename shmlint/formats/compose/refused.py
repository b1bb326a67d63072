"""What Compose refuses anywhere in a file: keys that are no text, tags that do not fit, broken interpolations, escapes.

A quick look at the text decides whether there can be any; only then are the nodes gone through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.docker.goyaml import WrongTag, resolve
from shmlint.formats.compose.interpolate import InvalidInterpolation, interpolate
from shmlint.formats.compose.tree import Layer, Leaf
from shmlint.model.source import Problem, Span
from shmlint.syntax.template import has_placeholder
from shmlint.syntax.yaml import Alias, Document, MappingNode, Node, Scalar, SequenceNode

_ODD_VARIABLE = r"\$\{(?![A-Za-z_][A-Za-z0-9_]*(?::?[-?+][^${}'\"\n]*)?\})"
"""Anything but the plain ways to name a variable."""


def refused(document: Document, layer: Layer) -> Iterator[Problem]:
    """The values and keys of a document that Compose does not take."""
    text = document.source.text
    version = re.match(r"\ufeff?%YAML[ \t]+(\S+)", text)
    if version is not None and version[1] != "1.1":
        message = f"incompatible YAML document: Compose reads YAML 1.1, not {version[1][:20]}"
        yield Problem(Span(document.source, version.start(1), version.end()), message, facts=("yaml",))
    if re.search(_ODD_ESCAPE, text):
        yield from _escapes(document)
    if not (document.odd_keys or "<<" in text or "!!" in text or "!<" in text or re.search(_ODD_VARIABLE, text)):
        return
    odd_keys = {id(key) for key in document.odd_keys}
    stack: list[tuple[Node, str]] = [(document.root, "")]
    while stack:
        node, path = stack.pop()
        if node.tag == "!reset" or isinstance(node, Alias):
            continue
        if isinstance(node, MappingNode):
            for key, value in reversed(node.pairs):
                name = key.resolved
                if id(key) in odd_keys and (reason := _key_fault(name, path)):
                    yield Problem(layer.span(key), reason, facts=("key", path))
                if _is_merge(name) and not _can_be_merged(value):
                    message = "map merge requires a map or a list of maps as the value of `<<`"
                    yield Problem(layer.span(value if value.start < value.end else key), message, facts=("<<", path))
                stack.append((value, f"{path}.{name.value}" if isinstance(name, Scalar) else path))
        elif isinstance(node, SequenceNode):
            stack += ((item, f"{path}[{at}]") for at, item in reversed(list(enumerate(node.items))))
        elif node.tag is not None or (isinstance(node, Scalar) and "${" in node.value):
            leaf = layer.tree(node)
            if isinstance(leaf, Leaf) and (reason := _value_fault(leaf, path.removeprefix("."))):
                yield Problem(leaf.span, reason, facts=("value", path))


_ODD_ESCAPE = r"\\(?:/|u[dD][89a-fA-F]|U0000[dD][89a-fA-F])"
"""Escapes of YAML 1.2 and JSON that go-yaml refuses in double quotes: of a slash, and of half a character.

https://github.com/go-yaml/yaml/blob/36babc3/scannerc.go
"""


def _escapes(document: Document) -> Iterator[Problem]:
    """The first escape of a document that go-yaml does not know."""
    stack: list[Node] = [document.root]
    text = document.source.text
    while stack:
        node = stack.pop()
        if isinstance(node, MappingNode):
            stack += (part for pair in reversed(node.pairs) for part in reversed(pair))
        elif isinstance(node, SequenceNode):
            stack += reversed(node.items)
        elif isinstance(node, Scalar) and node.style == '"':
            escapes = re.finditer(r"\\(?:u....|U.{8}|.)", text[node.start : node.end], re.DOTALL)
            odd = next((found for found in escapes if re.match(_ODD_ESCAPE, found[0])), None)
            if odd is not None:
                span = Span(document.source, node.start + odd.start(), node.start + odd.end())
                advice = "write `/`" if odd[0] == r"\/" else "write the character itself"
                message = f"`{odd[0]}` is an escape that Compose does not know; {advice}"
                yield Problem(span, message, facts=("escape",))
                return


def _is_merge(key: Node) -> bool:
    return isinstance(key, Scalar) and key.value == "<<" and not key.style and key.tag is None


def _can_be_merged(value: Node) -> bool:
    target = value.resolved
    if isinstance(target, SequenceNode):
        return all(isinstance(item.resolved, MappingNode) for item in target.items)
    return isinstance(target, MappingNode)


def _key_fault(key: Node, path: str) -> str:
    """Why Compose refuses a key; empty where it does not."""
    if not isinstance(key, Scalar):
        return f"invalid map key: a {'mapping' if isinstance(key, MappingNode) else 'list'}"
    try:
        if isinstance(resolve(key.value, key.tag, plain=not key.style), str):
            return ""
    except WrongTag as error:
        return str(error)
    where = f"in `{path.removeprefix('.')}`" if path else "at top level"
    return f"non-string key {where}: `{key.value}`; put it in quotes"


def _value_fault(leaf: Leaf, path: str) -> str:
    """Why Compose refuses a value; empty where it does not."""
    if leaf.refused:
        return leaf.refused
    if leaf.kind == "str" and "${" in str(leaf.plain_value) and not has_placeholder(str(leaf.plain_value)):
        try:
            interpolate(str(leaf.plain_value), {})
        except InvalidInterpolation:
            shown = " ".join(leaf.written.split())
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            return f"invalid interpolation format for `{path}`: `{shown}`; write $$ for a literal dollar sign"
    return ""
