"""One settings file: its values, and where each part is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shmlint.files.read import Unreadable, read_text
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.tree import Branch, Layer, Leaf, Listing, Tree
from shmlint.model.record import NamedTuple
from shmlint.model.settings import InvalidSettings
from shmlint.model.source import Position, Source
from shmlint.syntax.yaml_read import read_documents

if TYPE_CHECKING:
    from shmlint.syntax.yaml import Node, Scalar

_MOST = 20_000
"""Values of a settings file that are read at the most: aliases can unfold to more than anyone wrote."""


class File(NamedTuple):
    """A settings file: the path that is printed, the one that opens it, and where its parts are written.

    ``places`` are those of the parts of a YAML file, ``text`` is that of a TOML file. Paths in the file
    become relative to ``top``, patterns count from ``directory``.
    """

    path: str
    on_disk: str
    top: str
    directory: str
    places: Mapping[tuple[Any, ...], Position] | None = None
    text: str = ""

    def error(self, at: tuple[Any, ...], message: str) -> InvalidSettings:
        """What is wrong with the value at a place, in one line."""
        here = place(self, at)
        return InvalidSettings(f"{self.path}:{here.line}:{here.column}: {message}")


def read(file: File) -> tuple[File, dict[str, Any]]:
    """The content of a settings file."""
    if file.path.endswith(".toml"):
        text, data = _toml(file)
        file = file._replace(text=text)
        if os.path.basename(file.path) == "pyproject.toml":
            tool = data.get("tool")
            data = tool.get("shmlint", {}) if isinstance(tool, dict) else {}
        if not isinstance(data, dict):
            raise file.error(("shmlint",), "tool.shmlint must be a table of settings")
    else:
        data, places = _yaml(file)
        file = file._replace(places=places)
    return file, data


def _toml(file: File) -> tuple[str, dict[str, Any]]:
    import tomllib

    source = read_text(file.path, file.top)
    if isinstance(source, Unreadable):
        raise _unreadable(source)
    try:
        return source.text, tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        said = _TOML_MISTAKE.fullmatch(str(error))
        if said is None:
            raise InvalidSettings(f"{file.path}: invalid TOML: {error}") from None
        at = source.position(len(source.text.rstrip()))
        line, column = (said["line"], said["column"]) if said["line"] else (at.line, at.column)
        mistake = said["mistake"][:1].lower() + said["mistake"][1:]
        raise InvalidSettings(f"{file.path}:{line}:{column}: invalid TOML: {mistake}") from None


_TOML_MISTAKE = re.compile(
    r"(?P<mistake>.+) \((?:at line (?P<line>\d+), column (?P<column>\d+)|at end of document)\)", re.DOTALL
)
"""What Python says of a mistake in TOML: before 3.14 the sentence alone has the place."""


def _unreadable(error: Unreadable) -> InvalidSettings:
    """Why a settings file cannot be read, and where, if it was read up to there."""
    if not error.source.text:
        return InvalidSettings(f"{error.path}: {error.message}")
    at = error.source.position(error.offset)
    return InvalidSettings(f"{error.path}:{at.line}:{at.column}: {error.message}")


def _yaml(file: File) -> tuple[dict[str, Any], dict[tuple[Any, ...], Position]]:
    """The settings of a YAML file as plain data, and the place of each part."""
    path = file.path
    places: dict[tuple[Any, ...], Position] = {}
    parts = 0

    def plain(tree: Tree, at: tuple[Any, ...]) -> Any:
        nonlocal parts
        parts += 1
        if parts > _MOST:
            raise InvalidSettings(f"{path}: its aliases expand to more than {_MOST} values")
        if isinstance(tree, Leaf):
            return tree.plain_value
        if isinstance(tree, Listing):
            for i, item in enumerate(tree.items):
                if isinstance(item, Leaf | Branch | Listing):
                    places[(*at, i)] = item.span.begin
            return [plain(item, (*at, i)) for i, item in enumerate(tree.items)]
        if isinstance(tree, Branch):
            for name, entry in tree.entries.items():
                places[(*at, name)] = entry.layer.span(entry.key).begin
            return {name: plain(entry.tree, (*at, name)) for name, entry in tree.entries.items()}
        return None

    workspace = Workspace(top=file.top)
    try:
        documents = read_documents(path, workspace)
    except Unreadable as error:
        raise _unreadable(error) from None
    if not documents:
        return {}, places
    if twice := _written_twice(documents[0].root):
        at = documents[0].source.position(twice.start)
        raise InvalidSettings(f"{path}:{at.line}:{at.column}: {twice.value} is set twice")
    layer = Layer(documents[0].source, {}, "")
    data = plain(layer.tree(documents[0].root), ())
    if data is None:
        return {}, places
    if not isinstance(data, dict):
        raise InvalidSettings(f"{path}:1:1: expected a mapping of settings")
    return data, places


def _written_twice(node: Node) -> Scalar | None:
    """The first key of a mapping that is there a second time."""
    from shmlint.syntax.yaml import MappingNode, Scalar, SequenceNode

    if isinstance(node, SequenceNode):
        return next((found for item in node.items if (found := _written_twice(item))), None)
    if not isinstance(node, MappingNode):
        return None
    seen = set()
    for key, value in node.pairs:
        if isinstance(key, Scalar):
            if key.value in seen:
                return key
            seen.add(key.value)
        if found := _written_twice(value):
            return found
    return None


def place(file: File, at: tuple[Any, ...]) -> Position:
    """Where the value at a place is written, or what holds it."""
    if file.places is not None:
        while at and at not in file.places:
            at = at[:-1]
        return file.places.get(at, Position(1, 1))
    source = Source(file.path, file.text)
    table = re.search(r"^[ \t]*\[+[ \t]*tool\.shmlint\b", file.text, re.MULTILINE)
    start = table.start() if table is not None else 0
    for key in at:
        if isinstance(key, str):
            # A key, or the last part of a table's name.
            found = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?(?=[ \t]*[=\]])""").search(file.text, start)
            start = found.start() if found is not None else start
    return source.position(start)
