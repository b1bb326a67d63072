"""Settings files: ``.shmlint.yaml``, or ``[tool.shmlint]`` in ``pyproject.toml``, nearest upwards.

Each file follows the nearest one above it, up to the root of its repository. They are checked against
``settings.schema.json``; a wrong key is answered with its place and the key that was probably meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shmlint.model.record import NamedTuple
from shmlint.model.settings import Origin, Settings
from shmlint.model.source import Position, Source

if TYPE_CHECKING:
    from shmlint.files.discover import Found
    from shmlint.files.read import PathProblem
    from shmlint.syntax.yaml import Node, Scalar

FILE = ".shmlint.yaml"

_MOST = 20_000
"""Values of a settings file that are read at the most: aliases can unfold to more than anyone wrote."""


class InvalidSettings(Exception):
    """A settings file cannot be used: file, line and what is wrong in one line."""


class _File(NamedTuple):
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
        place = _place(self, at)
        return InvalidSettings(f"{self.path}:{place.line}:{place.column}: {message}")


def load(explicit: str | None, start: str, top: str = "") -> Settings:
    """The settings for a path, or those of a file that is named. Raises InvalidSettings.

    Relative paths count from ``top``, or else from the working directory.
    """
    if explicit is not None:
        return _loaded(explicit, top, directory="", anywhere=True)._replace(for_all=True)
    here = os.path.abspath(os.path.join(top, start))
    path = _find(here if os.path.isdir(here) else os.path.dirname(here), {}, top)
    return Settings() if path is None else _loaded(path, top, directory=os.path.dirname(path))


def nested(settings: Settings, files: Iterable[str], top: str = "") -> Settings:
    """The settings of a run with those of the directories of its files. Raises InvalidSettings."""
    if settings.for_all:
        return settings
    known: dict[str, str | None] = {}
    loaded: dict[str | None, Settings | None] = {None: Settings()}
    loaded[settings.path] = None
    found: dict[str, Settings | None] = {}
    for directory in sorted({os.path.dirname(path) for path in files}):
        path = _find(os.path.abspath(os.path.join(top, directory)), known, top)
        if path not in loaded:
            loaded[path] = _loaded(path or "", top, directory=os.path.dirname(path or ""))
        found[directory] = loaded[path]
    return settings._replace(nested=found) if any(found.values()) else settings


class Chosen(NamedTuple):
    """The files to read, what could not be read, and the settings with those of the files' directories."""

    found: list[Found | PathProblem]
    settings: Settings


def choose(
    paths: Sequence[str], settings: Settings, *, kinds: Collection[str], jobs: int = 1, top: str = "",
    force: bool = False,
) -> Chosen:  # fmt: skip
    """The files for paths that no settings exclude; those that are named too, unless ``force`` excludes them.

    The patterns of ``settings`` hold for everything that is scanned, those of other settings files for the
    files that follow these. Raises InvalidSettings, and ValueError for an invalid pattern.
    """
    from shmlint.files.discover import Found, discover

    scanned = () if settings.directory("exclude") else settings.exclude  # which count from `top`
    found = list(discover(paths, exclude=scanned, kinds=kinds, jobs=jobs, top=top))
    settings = nested(settings, [item.path for item in found if isinstance(item, Found)], top)
    if any(some.exclude for some in settings.every):
        excluded = _excluded(settings)
        named = set(paths)
        found = [
            item for item in found
            if not excluded(item.path)
            or (not force and (item.explicit if isinstance(item, Found) else item.path in named))
        ]  # fmt: skip
    return Chosen(found, settings)


def _excluded(settings: Settings) -> Callable[[str], bool]:
    """Says whether the settings of a run exclude a path, or those that the file at the path follows."""
    from shmlint.files.patterns import exclusion, relative_to

    patterns = {id(some): (exclusion(some.exclude), some.directory("exclude")) for some in settings.every}

    def excluded(path: str) -> bool:
        for some in {id(settings), id(settings.of(path))}:
            matches, directory = patterns[some]
            relative = relative_to(path, directory)
            if relative is not None and matches(relative):
                return True
        return False

    return excluded


def _loaded(path: str, top: str, *, directory: str, anywhere: bool = False) -> Settings:
    """The settings of a file, and of those that it extends, which lie in its repository or ``anywhere``."""
    found: list[tuple[_File, dict[str, Any]]] = []
    while True:
        file, data = _read(_File(path, os.path.join(top, path), top, directory))
        if any(os.path.samefile(file.on_disk, other.on_disk) for other, _ in found):
            raise found[-1][0].error(("extend",), f"extend: {path} extends itself")
        found.append((file, data))
        if "extend" not in data:
            return _settings(found)
        path = _extended(file, data["extend"], anywhere=anywhere)
        directory = os.path.dirname(path)


def _read(file: _File) -> tuple[_File, dict[str, Any]]:
    """What stands in a file, checked against the schema."""
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
    _validate(file, data)
    return file, data


def _extended(file: _File, name: str, *, anywhere: bool) -> str:
    """The path of the file that another extends."""
    from shmlint.files.boundary import OUTSIDE, Boundary

    path = os.path.normpath(os.path.join(os.path.dirname(file.path), name)).replace(os.sep, "/")
    if not anywhere and not Boundary(top=file.top).inside(path, file.path):
        raise file.error(("extend",), f"extend: {name} is {OUTSIDE}")
    if not os.path.isfile(os.path.join(file.top, path)):
        raise file.error(("extend",), f"extend: {name}: no such file")
    return path


def _find(directory: str, known: dict[str, str | None], top: str) -> str | None:
    """The settings file of a directory or of the nearest one above it; ``known`` is what was found before."""
    if directory not in known:
        own = _beside(directory)
        parent = os.path.dirname(directory)
        if own is not None:
            known[directory] = os.path.relpath(own, top or None).replace(os.sep, "/")
        elif parent == directory or os.path.exists(os.path.join(directory, ".git")):
            known[directory] = None
        else:
            known[directory] = _find(parent, known, top)
    return known[directory]


def _beside(directory: str) -> str | None:
    """The settings file in a directory."""
    own = os.path.join(directory, FILE)
    if os.path.isfile(own):
        return own
    project = os.path.join(directory, "pyproject.toml")
    if os.path.isfile(project):
        try:
            with open(project, "rb") as file:
                return project if b"tool.shmlint" in file.read() else None
        except OSError:
            pass
    return None


def _toml(file: _File) -> tuple[str, dict[str, Any]]:
    import tomllib

    try:
        with open(file.on_disk, "rb") as opened:
            text = opened.read().decode("utf-8")
            return text, tomllib.loads(text)
    except OSError as error:
        raise InvalidSettings(f"{file.path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{file.path}: {error}") from None


def _yaml(file: _File) -> tuple[dict[str, Any], dict[tuple[Any, ...], Position]]:
    """The settings of a YAML file as plain data, and the place of each part."""
    from shmlint.files.read import Unreadable
    from shmlint.files.workspace import Workspace
    from shmlint.formats.compose.tree import Branch, Layer, Leaf, Listing, Tree
    from shmlint.syntax.yaml import read_documents

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
        if not error.source.text:
            raise InvalidSettings(f"{path}: {error.message}") from None
        at = error.source.position(error.offset)
        raise InvalidSettings(f"{path}:{at.line}:{at.column}: {error.message}") from None
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
            hint = f"; did you mean {close[0]}?" if close else f"; known keys: {', '.join(allowed)}"
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


def _place(file: _File, at: tuple[Any, ...]) -> Position:
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


def _check_workload(file: _File, at: tuple[Any, ...], entry: dict[str, Any]) -> None:
    """A new workload must say what it needs and how it is recognised."""
    from shmlint.workloads.knowledge import builtin

    if any(entry["id"] == workload.id for workload in builtin()):
        return
    problem = ""
    if "needs" not in entry:
        problem = "`needs` is missing: yes, multi-gpu, no or depends"
    elif not any(entry.get(key) for key in ("images", "commands")):
        problem = "it needs `images` or `commands` to be recognised"
    if problem:
        raise file.error(at, f"{entry['id']}: {problem}")


def _settings(files: Sequence[tuple[_File, dict[str, Any]]]) -> Settings:
    """The settings of files of which each extends the next: a key counts where it stands first."""
    for file, data in files:
        _check(file, data)
    merged: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    projects: tuple[tuple[str, ...], ...] = ()
    for file, data in reversed(files):
        merged |= data
        origins |= {key: Origin(file.path, _place(file, (key,)).line, file.directory) for key in data}
        if "projects" in data:
            here = os.path.dirname(os.path.abspath(file.on_disk))
            projects = tuple(
                tuple(os.path.relpath(os.path.join(here, name), file.top or None) for name in names)
                for names in data["projects"]
            )
    defaults = Settings()
    return Settings(
        select=tuple(merged.get("select", ())),
        ignore=tuple(merged.get("ignore", ())),
        exclude=tuple(merged.get("exclude", ())),
        severity=tuple(merged.get("severity", {}).items()),
        per_file_ignores=tuple((key, tuple(rules)) for key, rules in merged.get("per-file-ignores", {}).items()),
        fail_on=merged.get("fail-on", defaults.fail_on),
        shm_size=_size(merged, "shm-size"),
        default_shm_size=_size(merged, "daemon-default-shm-size") or defaults.default_shm_size,
        engine=merged.get("engine", defaults.engine),
        unknown_workload=merged.get("unknown-workload", defaults.unknown_workload),
        follow_outside=merged.get("follow-outside", defaults.follow_outside),
        projects=projects,
        workloads=tuple(merged.get("workloads", ())),
        path=files[0][0].path,
        origins=tuple(origins.items()),
    )


def _size(data: Mapping[str, Any], key: str) -> int | None:
    from shmlint.docker.sizes import parse_compose

    return parse_compose(data[key]) if key in data else None


def _check(file: _File, data: Mapping[str, Any]) -> None:
    """What no schema says of the values of a file."""
    for key in ("shm-size", "daemon-default-shm-size"):
        if key in data:
            _check_size(file, (key,), data[key])
    for i, entry in enumerate(data.get("workloads", ())):
        for key in ("minimum", "recommended"):
            if entry.get(key) is not None:
                _check_size(file, ("workloads", i, key), entry[key])
        _check_workload(file, ("workloads", i), entry)
    _check_rules(file, data)
    for i, pattern in enumerate(data.get("exclude", ())):
        _check_pattern(file, ("exclude", i), pattern)
    for pattern in data.get("per-file-ignores", ()):
        _check_pattern(file, ("per-file-ignores", pattern), pattern)


def _check_size(file: _File, at: tuple[Any, ...], given: int | str) -> None:
    from shmlint.docker.sizes import InvalidSize, parse_compose

    try:
        if parse_compose(given) <= 0:
            raise InvalidSize("a size must be greater than 0")
    except InvalidSize as error:
        raise file.error(at, f"{_spelled(at)}: {error}") from None


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
    close = nearest_rule(pattern)
    return f"unknown rule `{pattern}`" + (f"; did you mean `{close}`?" if close else "; see `shmlint rules`")


_FAMILY = 4
"""Characters of an id that name the family of its rule, as in SHM1."""


def nearest_rule(pattern: str) -> str:
    """The id or the name that was probably meant, an id only of the same family; empty where there is none."""
    from difflib import get_close_matches

    from shmlint.files.installed import rule_names

    alike = str.maketrans("OIL", "011")  # letters that look like digits
    digits = pattern.upper().translate(alike)
    ids = {rule_id.translate(alike): rule_id for rule_id, _ in rule_names() if len(pattern) >= _FAMILY}
    family = [written for written in ids if written[:_FAMILY] == digits[:_FAMILY]]
    if close := get_close_matches(digits, family, 1):
        return ids[close[0]]
    return "".join(get_close_matches(pattern, [name for _, name in rule_names()], 1))


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

    origins = dict(settings.origins)
    yield f"# settings file: {settings.path or 'none'}"
    for key in schema()["properties"]:
        if key == "extend":
            continue  # what it brings is shown with its place
        field = {"daemon-default-shm-size": "default_shm_size"}.get(key, key.replace("-", "_"))
        value = getattr(settings, field)
        origin = f"{origins[key].path}:{origins[key].line}" if key in origins else "default"
        if key.endswith("shm-size"):
            value = spell_docker(value) if value else None
        elif key in ("severity", "per-file-ignores"):
            value = dict(value)
        if value is None:
            yield f"# {key} is not set"
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}  # {origin}"
