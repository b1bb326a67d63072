"""The packages that a project or an environment declares, read with the parsers of its format.

``pyproject.toml`` (PEP 621, PEP 735, and the tables of Poetry, PDM, uv and pixi), ``setup.cfg``, the lists that
``setup.py`` holds, and conda's ``environment.yml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span

if TYPE_CHECKING:
    import ast

    from shmlint.syntax.yaml import Node


class Declared(NamedTuple):
    """One requirement as it is written, ``torch>=2``; of a table its key."""

    text: str
    span: Span
    extra: bool
    """It is for an extra, a group, or the development of the project."""
    plain: bool = True
    """It is a name and versions; what an address or a path installs is not known."""


def declared(source: Source) -> list[Declared] | None:
    """What a file declares, by its name; None for a file of another kind, or one that cannot be parsed."""
    if source.path.endswith(".toml"):
        return _of_toml(source)
    if source.path.endswith((".yml", ".yaml")):
        return _of_conda(source)
    if source.path.endswith(".cfg"):
        return _of_cfg(source)
    return _of_setup(source) if source.path.endswith(".py") else None


def _line(number: int, source: Source) -> Span:
    return Span(source, *source.line_span(number))


def _line_with(pattern: str, source: Source) -> Span:
    """The first line in which a pattern is found; the first of all where none is."""
    found = re.search(pattern, source.text)
    return _line(source.position(found.start()).line if found is not None else 1, source)


# pyproject.toml -------------------------------------------------------------------------------


def toml(text: str) -> Mapping[str, Any]:
    """A TOML document; empty where it is none."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return {}


def table_of(data: object, *keys: str) -> dict[str, Any]:
    """A table in a document; empty where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _of_toml(source: Source) -> list[Declared] | None:
    data = toml(source.text)
    return list(_in_tables(data, source, extra=False)) if data else None


def _in_tables(table: Mapping[str, Any], source: Source, *, extra: bool) -> Iterator[Declared]:
    for key, value in table.items():
        inside = extra or re.search(_EXTRA, key) is not None
        if "dependenc" not in key:
            if isinstance(value, dict):
                yield from _in_tables(value, source, extra=inside)
        elif isinstance(value, dict):
            for name, given in value.items():
                if isinstance(given, list):
                    yield from _in_list(given, source, extra=inside)
                elif name != "python":
                    optional = inside or (isinstance(given, dict) and given.get("optional") is True)
                    place = _line_with(rf"(?m)^\s*['\"]?{re.escape(name)}['\"]?\s*[.=]", source)
                    yield Declared(name, place, optional, isinstance(given, str))
        elif isinstance(value, list):
            yield from _in_list(value, source, extra=inside)


_EXTRA = r"optional|dev-|^group$|-groups$|^feature$"
"""Keys of tables whose requirements are not installed with the project itself."""


def _in_list(entries: list[Any], source: Source, *, extra: bool) -> Iterator[Declared]:
    for entry in entries:
        if isinstance(entry, str):
            place = _line_with(f"['\"]{re.escape(entry)}['\"]", source)
            yield Declared(entry, place, extra, "@" not in entry)


# setup.cfg and setup.py -----------------------------------------------------------------------


def _of_cfg(source: Source) -> list[Declared] | None:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(source.text)
    except configparser.Error:
        return None
    found: list[Declared] = []
    for section, extra in (("options", False), ("options.extras_require", True)):
        for key, value in parser.items(section) if parser.has_section(section) else ():
            entries = re.split(r"[\n;]", value) if extra or key == "install_requires" else ()
            written = filter(None, map(str.strip, entries))
            found += [Declared(one, _line_with(rf"(?m)^.*{re.escape(one)}", source), extra, False) for one in written]
    return found


def _of_setup(source: Source) -> list[Declared] | None:
    """The texts that are given to ``install_requires`` and ``extras_require``, or to variables called so."""
    from shmlint.syntax.python import parse

    module = parse(source.text)
    if module is None:
        return None
    found: list[Declared] = []
    for name, value in (given for node in module.nodes for given in _given(node)):
        extra = re.search(r"(?i)extra|dev|test|doc|optional", name) is not None
        found += [Declared(str(text.value), _line(text.lineno, source), extra, False) for text in _texts(value)]
    return found


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The arguments of a call, or the variables, that are called after requirements, and what they are given."""
    import ast

    from shmlint.syntax.python import dotted

    if isinstance(node, ast.Call):
        yield from ((one.arg, one.value) for one in node.keywords if one.arg in ("install_requires", "extras_require"))
    elif isinstance(node, ast.Assign) and re.search(r"(?i)requi|dependenc", dotted(node.targets[0])):
        yield dotted(node.targets[0]), node.value


def _texts(node: ast.expr) -> Iterator[ast.Constant]:
    """The texts in lists, and in those that are the values of a mapping."""
    import ast

    parts = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part
        elif isinstance(part, ast.List | ast.Tuple):
            yield from _texts(part)


# environment.yml ------------------------------------------------------------------------------


def _of_conda(source: Source) -> list[Declared] | None:
    from shmlint.syntax.yaml import MappingNode, YamlError
    from shmlint.syntax.yaml_read import parse

    try:
        documents = parse(source)
    except (YamlError, RecursionError):
        return None
    root = documents[0].root.resolved if documents else None
    return list(_listed(root.get("dependencies"), source)) if isinstance(root, MappingNode) else None


def _listed(node: Node | None, source: Source) -> Iterator[Declared]:
    from shmlint.syntax.yaml import MappingNode, Scalar, SequenceNode

    for item in node.items if isinstance(node, SequenceNode) else ():
        one = item.resolved
        if isinstance(one, Scalar):
            span = _line(source.position(one.start).line, source)
            yield Declared(one.value, span, False, re.search(r"[@/]", one.value) is None)
        elif isinstance(one, MappingNode):
            yield from _listed(one.get("pip"), source)
