"""YAML text into nodes that know where they are.

ruamel.yaml scans and parses; the nodes are built here from its events instead of by its
composer, because an alias has to stay visible (a fix must know what else it changes), because deep
nesting must not exhaust the stack, and because nothing is to be constructed.

Its scanner in Python is the one whose word counts: it decides what is refused and how that is
said. The one in C (libyaml, by ruamel.yaml.clib) reads a text in a tenth of the time, and gets
those of which both are known to make the same nodes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from shmlint.files.cache import Key
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.model.source import Source
from shmlint.syntax.yaml import Alias, Document, MappingNode, Node, Scalar, SequenceNode, YamlError

_NUMBER = frozenset("0123456789+-.~")
_NO_TEXT = frozenset({"", "null", "true", "false"})

_ODD = ("\t", "\x85", "\u2028", "\u2029", "\ufeff", "\n%", "\n...")
_ODD_HEAD = ("%", "...")
# Each begins with one character that is rare, so that a long text is passed over quickly.
_ODD_PATTERNS = (r"\|[-+\d]*+#", r">[-+\d]*+#", r"\r(?!\n)")
_ODD_TOKENS = (
    r"\n[ ]*+(?P<at>[&!])",
    r"""(?P<at>:)(?:(?<=["']:)(?=\S)|\s*+(?:#[^\n]*+\n\s*+){0,20}+[\],}])""",
    r"(?P<at>\?)(?<![^\s,:\[{-]\?)(?!\S)",
)
"""Odd unless they are in a comment or a text, but for plain texts in flow style."""
_ODD_NAMES = (
    r"(?P<at>&)(?<![^\s,:\[{-]&)[\w-]++(?=[^\s\w,\]}-])",
    r"(?P<at>\*)(?<![^\s,:\[{-]\*)[\w-]++(?=[^\s\w,\]}-])",
    r"(?P<at>!)(?<![^\s,:\[{-]!)(?!(?:!?[\w-]++)?(?:\s|\Z))",
)
"""Odd unless they are in a comment or a text, behind its first character."""
_MOST_DOUBTFUL = 1000
"""With more such places, a text is read by the parser in Python."""
_COMMENT = re.compile(r"(?m)(?:^|\s)#")
_BLANK_LINE = r"\n[ ]++\r?(?:\n|\Z)"
_BLANK_BELOW_HEADER = r"(?m)^[^\n|>]*+[|>][^\n]*+\n(?:\r?\n)*+[ ]++\r?$"

MAX_DEPTH = 100
"""How deep a value may be nested, aliases followed. What people write is less than 20 deep; Compose
gives up at 10,000, and what reads the nodes may recurse."""

MOST_ALIASED = 200_000
ALIASED_PER_NODE = 25
"""How many entries the aliases of a document may bring, each used again in another place: so many, and so
many more for each node that is written. Else a short text takes any time and any memory."""


_DOCUMENTS: Key[list[Document] | Unreadable] = Key("yaml documents")


def read_documents(path: str, workspace: Workspace) -> list[Document]:
    """The YAML documents of a file, parsed once. Raises Unreadable."""
    found = workspace.once(_DOCUMENTS, path, lambda files: _parsed(path, files))
    if isinstance(found, Unreadable):
        raise found
    return found


def _parsed(path: str, workspace: Workspace) -> list[Document] | Unreadable:
    try:
        source = workspace.source(path)
    except Unreadable as error:
        return error
    try:
        return parse(source)
    except YamlError as error:
        return Unreadable(source.path, error.message, error.offset, source)


def parse_part(source: Source, start: int, end: int) -> list[Document]:
    """All documents of a YAML text that is part of another: characters ``start`` to ``end``.

    Nodes and errors are placed in the whole text. Raises YamlError.
    """
    line = source.text.rfind("\n", 0, start) + 1
    # What is before it on its line counts as indentation.
    part = Source(source.path, " " * (start - line) + source.text[start:end])
    try:
        documents = parse(part)
    except YamlError as error:
        raise YamlError(error.message, error.offset + line) from None
    for document in documents:
        document.source = source
        stack = [document.root]
        while stack:
            node = stack.pop()
            node.start += line
            node.end += line
            if isinstance(node, SequenceNode):
                stack += node.items
            elif isinstance(node, MappingNode):
                stack += (inner for pair in node.pairs for inner in pair)
    return documents


def parse(source: Source) -> list[Document]:
    """All documents of a YAML text.

    Raises YamlError for what is not YAML, with the place.
    """
    if not source.text.strip(" \t\r\n\ufeff"):
        return []
    documents = _documents_in_c(source)
    return list(_documents(source)) if documents is None else documents


def _documents_in_c(source: Source) -> list[Document] | None:
    """All documents, by the parser in C; None where its word does not count, or it is not installed."""
    text = source.text
    if _is_odd(text):
        return None
    try:
        parser = import_module("_ruamel_yaml").CParser(text)
        found = []
        anchors: dict[str, Node] = {}
        while (event := parser.get_event()) is not None:
            if type(event).__name__ == "DocumentStartEvent":
                found.append(_compose(source, parser, anchors))
                if isinstance(found[-1].root, Scalar):  # a block scalar without indentation ends elsewhere
                    return None
        return found if _are_texts(_doubtful(text), found) else None
    except Exception:  # whatever it is, the parser in Python has the last word and the better message
        return None


def _is_odd(text: str) -> bool:
    """Whether the two parsers may take a text differently, found by comparing them on generated texts.

    They do not agree on tabs, line breaks of YAML 1.1, byte order marks, directives, ends of documents,
    comments that touch a ``|``, blanks below it and lone carriage returns.
    """
    return (
        any(part in text for part in _ODD)
        or text.startswith(_ODD_HEAD)
        or any(re.search(pattern, text) for pattern in _ODD_PATTERNS)
        or (re.search(_BLANK_LINE, text) is not None and re.search(_BLANK_BELOW_HEADER, text) is not None)
    )


def _doubtful(text: str) -> list[tuple[int, bool]]:
    """What both parsers may take differently where it is no text: the place, and whether any text will do.

    That is a line that begins with an anchor or a tag, keys after ``?``, tags and anchors that are no simple
    name, and in flow style values that touch the colon or are not there.
    """
    places = (
        (found.start("at"), anywhere)
        for patterns, anywhere in ((_ODD_TOKENS, False), (_ODD_NAMES, True))
        for pattern in patterns
        for found in re.finditer(pattern, text)
    )
    return list(islice(places, _MOST_DOUBTFUL + 1))


def _are_texts(places: list[tuple[int, bool]], documents: list[Document]) -> bool:
    """Whether all of some places are in texts or comments.

    Both parsers come to the start of a text in the same way if nothing odd is before it, and in it
    such a sign is a letter like others.
    """
    if not places or len(places) > _MOST_DOUBTFUL:
        return not places
    texts = sorted(_texts(documents))
    for at, anywhere in places:
        number = bisect_left(texts, (at,)) - 1
        _, end, is_safe = texts[number] if number >= 0 else (0, 0, True)
        if at < end:
            if not (is_safe or anywhere):
                return False
            continue
        text = documents[0].source.text
        if _COMMENT.search(text, max(text.rfind("\n", 0, at) + 1, end), at) is None:
            return False
    return True


def _texts(documents: list[Document]) -> Iterator[tuple[int, int, bool]]:
    """Where texts start and end, and whether they are something else than plain ones in flow style.

    Those with a tag or an anchor, which are before the text, are left out.
    """
    stack: list[tuple[Node, bool]] = [(document.root, False) for document in documents]
    while stack:
        node, flow = stack.pop()
        if isinstance(node, Scalar):
            if node.tag is None and node.anchor is None:
                yield node.start, node.end, bool(node.style) or not flow
        elif isinstance(node, SequenceNode):
            stack += ((item, node.flow) for item in node.items)
        elif isinstance(node, MappingNode):
            stack += ((inner, node.flow) for pair in node.pairs for inner in pair)


def _documents(source: Source) -> Iterator[Document]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    from shmlint.syntax.yaml_errors import told
    from shmlint.syntax.yaml_go import GoParser, GoScanner, Refused, refused

    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner, yaml.Parser = GoScanner, GoParser
        if "%" in source.text:  # ruamel.yaml notes directives there, and prepares it only in load()
            from ruamel.yaml.docinfo import DocInfo

            yaml.doc_infos.append(DocInfo())
        _, parser = yaml.get_constructor_parser(source.text)
        anchors: dict[str, Node] = {}
        while parser.check_event():
            event = parser.get_event()
            if type(event).__name__ == "DocumentStartEvent":
                yield _compose(source, parser, anchors)
    except MarkedYAMLError as error:
        message, offset = told(error if isinstance(error, Refused) else refused("character", error), source.text)
        raise YamlError(message, offset) from None
    except ReaderError as error:
        raise YamlError(f"character U+{error.character:04X} is not allowed", error.position) from None
    except (ValueError, IndexError, AttributeError, AssertionError) as error:
        # The scanner's own slips on hostile input (a broken escape, a number too large).
        raise YamlError(f"not valid YAML ({type(error).__name__})", 0) from None


class _Open:
    """A mapping or sequence under way: the key that waits for its value, the keys that were seen."""

    __slots__ = ("key", "node", "seen")

    def __init__(self, node: MappingNode | SequenceNode) -> None:
        self.node = node
        self.key: Node | None = None
        self.seen: set[str] = set()


_ENDS = frozenset({"MappingEndEvent", "SequenceEndEvent", "DocumentEndEvent"})


def _compose(source: Source, parser: Any, anchors: dict[str, Node]) -> Document:
    """Nodes of one document, without recursion. ``parser`` is after its start event.

    ``anchors`` are those of the documents before it, which go-yaml still knows; its own are added.
    """
    stack: list[_Open] = []
    document = Document(source, Scalar(0, 0, None, None, "", ""))
    written = aliased = 0
    while True:
        event = parser.get_event()
        kind = type(event).__name__
        if kind in _ENDS:
            if stack:
                _close(stack, event)
            if not stack:
                return document
            continue
        written += 1
        is_scalar = kind == "ScalarEvent"
        node = _scalar(source.text, event, stack, parser) if is_scalar else _node(source.text, event, stack, anchors)
        aliased += node.weight if kind == "AliasEvent" else 0
        if aliased > MOST_ALIASED + ALIASED_PER_NODE * written:
            raise YamlError(f"its aliases stand for too much ({aliased:,} values)", node.start)
        if node.anchor is not None:
            anchors[node.anchor] = node
        if stack:
            _attach(stack[-1], node, document)
        else:
            document.root = node
        if len(stack) + node.depth >= MAX_DEPTH:
            raise YamlError(f"nested more than {MAX_DEPTH} levels deep", node.start)
        if not is_scalar and isinstance(node, MappingNode | SequenceNode):
            stack.append(_Open(node))
        elif not stack:
            return document


def _scalar(text: str, event: Any, stack: list[_Open], parser: Any) -> Scalar:
    tag, anchor, value, style = _tag(event), event.anchor, event.value, event.style or ""
    start, end = event.start_mark.index, event.end_mark.index
    if tag is not None or anchor is not None:
        start = _content_start(text, start)
    elif not value and not style and stack and stack[-1].key is not None and not stack[-1].node.flow:
        # Nothing after the colon: that is up to where the next thing begins.
        start = end = parser.peek_event().start_mark.index
    return Scalar(start, end, tag, anchor, value, style)


def _node(text: str, event: Any, stack: list[_Open], anchors: dict[str, Node]) -> Node:
    """A node that is no scalar."""
    kind = type(event).__name__
    if kind == "AliasEvent":
        return _alias(event, stack, anchors)
    tag, start = _tag(event), event.start_mark.index
    if event.anchor is not None or tag is not None:
        start = _content_start(text, start)
    cls = MappingNode if kind == "MappingStartEvent" else SequenceNode
    return cls(start, tag, event.anchor, bool(event.flow_style))


def _alias(event: Any, stack: list[_Open], anchors: dict[str, Node]) -> Alias:
    target = anchors.get(event.anchor)
    at = event.start_mark.index
    if target is None:
        raise YamlError(f"alias *{event.anchor} has no anchor before it", at)
    if any(target is opened.node for opened in stack):
        raise YamlError(f"anchor &{event.anchor} contains itself", at)
    return Alias(at, event.end_mark.index, target)


def _close(stack: list[_Open], event: Any) -> None:
    opened = stack.pop()
    closed = opened.node
    closed.end = event.end_mark.index if closed.flow else max(_last_end(closed), closed.start)
    closed.depth += 1
    closed.weight = _weight(closed, merges="<<" in opened.seen)
    if stack:
        stack[-1].node.depth = max(stack[-1].node.depth, closed.depth)


def _attach(parent: _Open, node: Node, document: Document) -> None:
    """Add a node to the mapping or sequence under way."""
    holder = parent.node
    if isinstance(holder, SequenceNode):
        holder.items.append(node)
    elif parent.key is None:
        parent.key = node
        if _is_odd_key(node.resolved):
            document.odd_keys.append(node)
        if isinstance(node, Scalar):
            if node.value in parent.seen:
                document.duplicates.append(node)
            parent.seen.add(node.value)
    else:
        holder.pairs.append((parent.key, node))
        parent.key = None
    if node.depth > holder.depth:
        holder.depth = node.depth


def _is_odd_key(key: Node) -> bool:
    """Whether a quick look does not show that a key is a text."""
    if not isinstance(key, Scalar) or key.tag is not None:
        return True
    return not key.style and (key.value[:1] in _NUMBER or key.value.lower() in _NO_TEXT)


def _weight(node: MappingNode | SequenceNode, *, merges: bool) -> int:
    """The parts of a collection; ``merges``: one of its keys may be ``<<``."""
    if isinstance(node, SequenceNode):
        return 1 + len(node.items)
    weight = 1 + len(node.pairs)
    for key, value in node.pairs if merges else ():
        if isinstance(key, Scalar) and key.value == "<<":
            merged = value.resolved
            given = merged.items if isinstance(merged, SequenceNode) else [merged]
            weight += sum(item.resolved.weight for item in given)
    return weight


def _last_end(node: MappingNode | SequenceNode) -> int:
    """Where the last thing written in a block collection ends; its own mark is past comments."""
    if isinstance(node, MappingNode):
        if not node.pairs:
            return node.start
        key, value = node.pairs[-1]
        return max(key.end, value.end)
    return node.items[-1].end if node.items else node.start


def _tag(event: Any) -> str | None:
    tag = event.tag
    return None if tag is None else str(tag)


def _content_start(text: str, at: int) -> int:
    """The offset after the properties (``&anchor``, ``!tag``) that are before a node."""
    while at < len(text) and text[at] in "&!":
        end = at
        while end < len(text) and text[end] not in " \t\r\n,[]{}":
            end += 1
        while end < len(text) and text[end] in " \t":
            end += 1
        if end < len(text) and text[end] in "\r\n#":
            # Properties on the line of the key, the node on the lines below.
            return end
        at = end
    return at
