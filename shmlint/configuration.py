"""Settings files: ``.shmlint.yaml``, or ``[tool.shmlint]`` in ``pyproject.toml``, nearest upwards.

They are checked against ``schemas/settings.schema.json``; a wrong key is answered with its place
and the key that was probably meant.
"""

from __future__ import annotations

import os
from typing import Any

from shmlint.settings import Settings

FILE = ".shmlint.yaml"


class InvalidSettings(Exception):
    """A settings file cannot be used: file, line and what is wrong in one line."""


def load(explicit: str | None, start: str) -> Settings:
    """The settings for a run that starts at a path. Raises InvalidSettings."""
    path = explicit or _find(start)
    if path is None:
        return Settings()
    if path.endswith(".toml"):
        data, lines = _toml(path), None
        data = data.get("tool", {}).get("shmlint", {}) if os.path.basename(path) == "pyproject.toml" else data
    else:
        data, lines = _yaml(path)
    _validate(path, data, lines)
    return _settings(path, data)


def _find(start: str) -> str | None:
    here = os.path.abspath(start)
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    while True:
        candidate = os.path.join(here, FILE)
        if os.path.isfile(candidate):
            return os.path.relpath(candidate)
        project = os.path.join(here, "pyproject.toml")
        if os.path.isfile(project):
            try:
                with open(project, "rb") as file:
                    mentions = b"tool.shmlint" in file.read()
            except OSError:
                mentions = False
            if mentions:
                return os.path.relpath(project)
        parent = os.path.dirname(here)
        if parent == here or os.path.exists(os.path.join(here, ".git")):
            return None
        here = parent


def _toml(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InvalidSettings(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{path}: {error}") from None


def _yaml(path: str) -> tuple[dict[str, Any], dict[tuple[Any, ...], int]]:
    """The settings of a YAML file as plain data, and the line of each part."""
    from shmlint.composefile.tree import Branch, Layer, Leaf, Listing, Tree
    from shmlint.workspace import Unreadable, Workspace

    lines: dict[tuple[Any, ...], int] = {}

    def plain(tree: Tree, at: tuple[Any, ...]) -> Any:
        if isinstance(tree, Leaf):
            return tree.plain_value
        if isinstance(tree, Listing):
            for i, item in enumerate(tree.items):
                if isinstance(item, Leaf | Branch | Listing):
                    lines[(*at, i)] = item.span.line
            return [plain(item, (*at, i)) for i, item in enumerate(tree.items)]
        if isinstance(tree, Branch):
            for name, entry in tree.entries.items():
                lines[(*at, name)] = entry.layer.span(entry.key).line
            return {name: plain(entry.tree, (*at, name)) for name, entry in tree.entries.items()}
        return None

    workspace = Workspace()
    try:
        documents = workspace.documents(path)
    except Unreadable as error:
        line = error.source.position(error.offset).line
        raise InvalidSettings(f"{path}:{line}: {error.message}") from None
    if not documents:
        return {}, lines
    layer = Layer(documents[0].source, {}, "")
    data = plain(layer.tree(documents[0].root), ())
    if data is None:
        return {}, lines
    if not isinstance(data, dict):
        raise InvalidSettings(f"{path}:1: expected a mapping of settings")
    return data, lines


def schema() -> dict[str, Any]:
    """The JSON Schema of settings files."""
    import json

    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas")
    with open(os.path.join(here, "settings.schema.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    with open(os.path.join(here, "workloads.schema.json"), encoding="utf-8") as file:
        # A user's own entry needs no quotation to be used.
        found["properties"]["workloads"]["items"] = {**json.load(file), "required": ["id", "needs"]}
    return found


def _validate(path: str, data: dict[str, Any], lines: dict[tuple[Any, ...], int] | None) -> None:
    if not data:
        return
    from difflib import get_close_matches

    from jsonschema import Draft202012Validator

    rules = schema()
    for error in sorted(Draft202012Validator(rules).iter_errors(data), key=lambda e: len(e.absolute_path)):
        at = tuple(error.absolute_path)
        message = error.message
        if error.validator == "additionalProperties":
            allowed = list(error.schema.get("properties", {}))
            wrong = [key for key in error.instance if key not in allowed]
            close = get_close_matches(str(wrong[0]), allowed, 1)
            hint = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(allowed)}"
            message = f"unknown key {wrong[0]}{hint}"
            at = (*at, wrong[0])
        elif isinstance(error.schema, dict) and "description" in error.schema:
            message = f"{'.'.join(map(str, at))} must be {error.schema['description']}"
        line = _line(path, at, lines)
        raise InvalidSettings(f"{path}:{line}: {message}" if line else f"{path}: {message}")


def _line(path: str, at: tuple[Any, ...], lines: dict[tuple[Any, ...], int] | None) -> int | None:
    if lines is not None:
        while at and at not in lines:
            at = at[:-1]
        return lines.get(at)
    keys = [part for part in at if isinstance(part, str)]
    if not keys:
        return None
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if text.lstrip().removeprefix('"').startswith(keys[-1]):
                return number
    return None


def _settings(path: str, data: dict[str, Any]) -> Settings:
    from shmlint.size import InvalidSize, parse_compose

    directory = os.path.relpath(os.path.dirname(os.path.abspath(path)))

    def size(key: str) -> int | None:
        if key not in data:
            return None
        try:
            return parse_compose(data[key])
        except InvalidSize as error:
            raise InvalidSettings(f"{path}: {key}: {error}") from None

    for entry in data.get("workloads", ()):
        for key in ("minimum", "recommended"):
            if entry.get(key):
                try:
                    parse_compose(entry[key])
                except InvalidSize as error:
                    raise InvalidSettings(f"{path}: workloads: {entry['id']}: {key}: {error}") from None
    defaults = Settings()
    return Settings(
        select=tuple(data.get("select", ())),
        ignore=tuple(data.get("ignore", ())),
        exclude=tuple(data.get("exclude", ())),
        fail_on=data.get("fail-on", defaults.fail_on),
        shm_size=size("shm-size"),
        default_shm_size=size("daemon-default-shm-size") or defaults.default_shm_size,
        unknown_workload=data.get("unknown-workload", defaults.unknown_workload),
        projects=tuple(
            tuple(os.path.normpath(os.path.join(directory, file)) for file in files)
            for files in data.get("projects", ())
        ),
        workloads=tuple(data.get("workloads", ())),
        path=path,
    )
