"""Settings files: ``.shmlint.yaml``, or ``[tool.shmlint]`` in ``pyproject.toml``, nearest upwards.

They are checked against ``settings.schema.json``; a wrong key is answered with its place
and the key that was probably meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings

if TYPE_CHECKING:
    from shmlint.syntax.yaml import Node, Scalar

FILE = ".shmlint.yaml"

_MOST = 20_000
"""Values of a settings file that are read at the most: aliases can unfold to more than anyone wrote."""


class InvalidSettings(Exception):
    """A settings file cannot be used: file, line and what is wrong in one line."""


class _File(NamedTuple):
    """A settings file: the path that is printed, the one that opens it, and where its parts are written.

    ``lines`` are those of the parts of a YAML file, None for TOML. Paths in the file become relative to
    ``top``.
    """

    path: str
    on_disk: str
    top: str
    lines: dict[tuple[Any, ...], int] | None = None

    def error(self, at: tuple[Any, ...], message: str) -> InvalidSettings:
        """What is wrong with the value at a place, in one line."""
        line = _line(self, at)
        return InvalidSettings(f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}")


def load(explicit: str | None, start: str, top: str = "") -> Settings:
    """The settings for a run that starts at a path. Raises InvalidSettings.

    Relative paths count from ``top``, or else from the working directory.
    """
    path = explicit or _find(start, top)
    if path is None:
        return Settings()
    file = _File(path, os.path.join(top, path), top)
    if path.endswith(".toml"):
        data = _toml(file)
        if os.path.basename(path) == "pyproject.toml":
            tool = data.get("tool")
            data = tool.get("shmlint", {}) if isinstance(tool, dict) else {}
        if not isinstance(data, dict):
            raise InvalidSettings(f"{path}: tool.shmlint must be a table of settings")
    else:
        data, lines = _yaml(file)
        file = file._replace(lines=lines)
    _validate(file, data)
    return _settings(file, data)


def _find(start: str, top: str) -> str | None:
    here = os.path.abspath(os.path.join(top, start))
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    while True:
        candidate = os.path.join(here, FILE)
        if os.path.isfile(candidate):
            return os.path.relpath(candidate, top or None)
        project = os.path.join(here, "pyproject.toml")
        if os.path.isfile(project):
            try:
                with open(project, "rb") as file:
                    mentions = b"tool.shmlint" in file.read()
            except OSError:
                mentions = False
            if mentions:
                return os.path.relpath(project, top or None)
        parent = os.path.dirname(here)
        if parent == here or os.path.exists(os.path.join(here, ".git")):
            return None
        here = parent


def _toml(file: _File) -> dict[str, Any]:
    import tomllib

    try:
        with open(file.on_disk, "rb") as opened:
            return tomllib.load(opened)
    except OSError as error:
        raise InvalidSettings(f"{file.path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{file.path}: {error}") from None


def _yaml(file: _File) -> tuple[dict[str, Any], dict[tuple[Any, ...], int]]:
    """The settings of a YAML file as plain data, and the line of each part."""
    from shmlint.files.read import Unreadable
    from shmlint.files.workspace import Workspace
    from shmlint.formats.compose.tree import Branch, Layer, Leaf, Listing, Tree
    from shmlint.syntax.yaml import read_documents

    path = file.path
    lines: dict[tuple[Any, ...], int] = {}
    parts = 0

    def plain(tree: Tree, at: tuple[Any, ...]) -> Any:
        nonlocal parts
        parts += 1
        if parts > _MOST:
            raise InvalidSettings(f"{path}: its aliases unfold to more than {_MOST} values")
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

    workspace = Workspace(top=file.top)
    try:
        documents = read_documents(path, workspace)
    except Unreadable as error:
        if not error.source.text:
            raise InvalidSettings(f"{path}: {error.message}") from None
        line = error.source.position(error.offset).line
        raise InvalidSettings(f"{path}:{line}: {error.message}") from None
    if not documents:
        return {}, lines
    if twice := _written_twice(documents[0].root):
        line = documents[0].source.position(twice.start).line
        raise InvalidSettings(f"{path}:{line}: {twice.value} is written twice")
    layer = Layer(documents[0].source, {}, "")
    data = plain(layer.tree(documents[0].root), ())
    if data is None:
        return {}, lines
    if not isinstance(data, dict):
        raise InvalidSettings(f"{path}:1: expected a mapping of settings")
    return data, lines


def _written_twice(node: Node) -> Scalar | None:
    """The first key of a mapping that stands there a second time."""
    from shmlint.syntax.yaml import Mapping, Scalar, Sequence

    if isinstance(node, Sequence):
        return next((found for item in node.items if (found := _written_twice(item))), None)
    if not isinstance(node, Mapping):
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


def schema() -> dict[str, Any]:
    """The JSON Schema of settings files."""
    import json

    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "settings.schema.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    with open(os.path.join(here, "workloads", "workloads.schema.json"), encoding="utf-8") as file:
        entry: dict[str, Any] = json.load(file)
    # A user's own entry needs no quotation to be used, and may change an entry of the program's own.
    entry["required"] = ["id"]
    del entry["anyOf"]
    entry["$defs"]["size"] = {"type": ["string", "integer", "null"], "description": "a size like 8gb"}
    entry["properties"]["images"]["items"] = {"type": "string"}
    found["$defs"] = entry.pop("$defs")
    found["properties"]["workloads"]["items"] = entry
    return found


def _validate(file: _File, data: dict[str, Any]) -> None:
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
        elif error.validator == "required":
            message = f"{_spelled(at)}: {error.message}"
        elif error.validator == "enum":
            message = f"{_spelled(at)} must be one of {', '.join(map(str, error.validator_value))}"
        elif isinstance(error.schema, dict) and str(error.schema.get("description", "")).startswith("a "):
            message = f"{_spelled(at)} must be {error.schema['description']}"
        else:
            message = f"{_spelled(at)}: {error.message}"
        raise file.error(at, message)


def _spelled(at: tuple[Any, ...]) -> str:
    """A place in the settings in words: ``workloads[0].needs``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at).removeprefix(".") or "settings"


def _line(file: _File, at: tuple[Any, ...]) -> int | None:
    if file.lines is not None:
        while at and at not in file.lines:
            at = at[:-1]
        return file.lines.get(at)
    keys = [part for part in at if isinstance(part, str)]
    if not keys:
        return None
    with open(file.on_disk, encoding="utf-8") as opened:
        for number, text in enumerate(opened, 1):
            if text.lstrip().removeprefix('"').startswith(keys[-1]):
                return number
    return None


def _check_workload(file: _File, at: tuple[Any, ...], entry: dict[str, Any]) -> None:
    """A new workload must say what it needs and how it is recognised."""
    from shmlint.workloads.knowledge import builtin

    if any(entry["id"] == workload.id for workload in builtin()):
        return
    problem = ""
    if "needs" not in entry:
        problem = "say what it needs: yes, multi-gpu, no or depends"
    elif not any(entry.get(key) for key in ("images", "commands")):
        problem = "give it images or commands to be recognised by"
    if problem:
        raise file.error(at, f"{entry['id']}: {problem}")


def _settings(file: _File, data: dict[str, Any]) -> Settings:
    from shmlint.docker.sizes import InvalidSize, parse_compose

    directory = os.path.dirname(os.path.abspath(file.on_disk))

    def size(key: str) -> int | None:
        if key not in data:
            return None
        return checked((key,), data[key])

    def checked(at: tuple[Any, ...], given: int | str) -> int:
        try:
            found = parse_compose(given)
            if found <= 0:
                raise InvalidSize("a size must be more than 0")
        except InvalidSize as error:
            raise file.error(at, f"{_spelled(at)}: {error}") from None
        return found

    for i, entry in enumerate(data.get("workloads", ())):
        for key in ("minimum", "recommended"):
            if entry.get(key) is not None:
                checked(("workloads", i, key), entry[key])
        _check_workload(file, ("workloads", i), entry)
    _check_rules(file, data)
    for pattern in data.get("per-file-ignores", ()):
        _check_pattern(file, ("per-file-ignores", pattern), pattern)
    defaults = Settings()
    return Settings(
        select=tuple(data.get("select", ())),
        ignore=tuple(data.get("ignore", ())),
        exclude=tuple(data.get("exclude", ())),
        severity=tuple(data.get("severity", {}).items()),
        per_file_ignores=tuple((pattern, tuple(rules)) for pattern, rules in data.get("per-file-ignores", {}).items()),
        fail_on=data.get("fail-on", defaults.fail_on),
        shm_size=size("shm-size"),
        default_shm_size=size("daemon-default-shm-size") or defaults.default_shm_size,
        engine=data.get("engine", defaults.engine),
        unknown_workload=data.get("unknown-workload", defaults.unknown_workload),
        follow_outside=data.get("follow-outside", defaults.follow_outside),
        projects=tuple(
            tuple(os.path.relpath(os.path.join(directory, name), file.top or None) for name in files)
            for files in data.get("projects", ())
        ),
        workloads=tuple(data.get("workloads", ())),
        path=file.path,
        given=tuple(data),
    )


def _check_pattern(file: _File, at: tuple[Any, ...], pattern: str) -> None:
    from shmlint.files.patterns import exclusion

    try:
        exclusion([pattern])
    except ValueError as error:
        raise file.error(at, str(error)) from None


def unknown_rule(pattern: str) -> str:
    """An error message for a pattern that no rule's id starts with and that is no rule's name, else ``""``."""
    from shmlint.files.installed import rule_names

    upper, known = pattern.upper(), rule_names()
    if upper == "ALL" or any(name == pattern or rule_id.startswith(upper) for rule_id, name in known):
        return ""
    from difflib import get_close_matches

    # Letters in the number of an id are digits that look like them.
    ids = [rule_id for rule_id, _ in known]
    digits = upper.translate(str.maketrans("OIL", "011"))
    close = [rule_id for rule_id in ids if digits == rule_id.translate(str.maketrans("OIL", "011"))]
    close += get_close_matches(upper, ids, 1) or get_close_matches(pattern, [name for _, name in known], 1)
    return f"unknown rule `{pattern}`" + (f"; did you mean `{close[0]}`?" if close else "; see `shmlint rules`")


def _check_rules(file: _File, data: Mapping[str, Any]) -> None:
    """A setting must not name a rule that does not exist."""
    places: list[tuple[tuple[Any, ...], str]] = []
    for key in ("select", "ignore"):
        places += [((key, i), name) for i, name in enumerate(data.get(key, ()))]
    places += [(("severity", name), name) for name in data.get("severity", ())]
    for pattern, names in data.get("per-file-ignores", {}).items():
        places += [(("per-file-ignores", pattern, i), name) for i, name in enumerate(names)]
    for at, name in places:
        if message := unknown_rule(name):
            raise file.error(at, message)


def described(settings: Settings) -> Iterator[str]:
    """The settings as lines of a settings file, each with where it comes from."""
    import json

    from shmlint.docker.sizes import spell_docker

    yield f"# settings file: {settings.path or 'none'}"
    for key in schema()["properties"]:
        field = {"daemon-default-shm-size": "default_shm_size"}.get(key, key.replace("-", "_"))
        value = getattr(settings, field)
        origin = settings.path if key in settings.given else "default"
        if key.endswith("shm-size"):
            value = spell_docker(value) if value else None
        elif key in ("severity", "per-file-ignores"):
            value = dict(value)
        if value is None:
            yield f"# {key} is not set"
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}  # {origin}"
