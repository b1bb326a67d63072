"""Whether settings are valid: against ``settings.schema.json``, and what no schema can say about their values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shmlint.config.file import File
from shmlint.config.rules import unknown_rule
from shmlint.docker.sizes import InvalidSize, parse_compose


def schema() -> dict[str, Any]:
    """The JSON Schema of settings files."""
    import json

    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "settings.schema.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    with open(os.path.join(os.path.dirname(here), "workloads", "workloads.schema.json"), encoding="utf-8") as file:
        entry: dict[str, Any] = json.load(file)
    # A user's own entry needs no quotation to be used, and may change an entry of the program's own.
    entry["required"] = ["id"]
    del entry["anyOf"]
    entry["$defs"]["size"] = {"type": ["string", "integer", "null"], "description": "a size like 8gb"}
    entry["properties"]["images"]["items"] = {"type": "string"}
    found["$defs"] = entry.pop("$defs")
    found["properties"]["workloads"]["items"] = entry
    return found


_PLAIN = frozenset({"$schema", "$id", "$defs", "title", "description"})
"""Keywords of a schema that say nothing of a value."""

_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def fits(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether a value surely fits a schema; False too where the schema has a keyword that is not known here.

    Nearly all settings are answered by this, and need no import of jsonschema, which takes longer
    than the rest of a run: with a settings file of two lines, 158 ms of CPU time with it, 75 without.
    """
    return all(keyword in _PLAIN or _fits_keyword(value, rule, keyword) for keyword in rule)


def _fits_keyword(value: Any, rule: Mapping[str, Any], keyword: str) -> bool:
    given = rule[keyword]
    if keyword == "type":
        return any(type(value) is _TYPES.get(name) for name in ([given] if isinstance(given, str) else given))
    if keyword == "enum":
        return isinstance(value, str) and value in given
    if keyword in ("minLength", "minItems"):
        return isinstance(value, str | list) and len(value) >= given
    if keyword == "items":
        return isinstance(value, list) and all(fits(item, given) for item in value)
    if keyword == "properties":
        return isinstance(value, dict) and all(fits(value[key], given[key]) for key in given if key in value)
    if keyword == "additionalProperties" and isinstance(value, dict):
        others = [item for key, item in value.items() if key not in rule.get("properties", ())]
        return all(isinstance(given, dict) and fits(item, given) for item in others)
    return False


def validate(file: File, data: dict[str, Any]) -> None:
    if not data:
        return
    rules = schema()
    if fits(data, rules):
        return
    from difflib import get_close_matches

    from jsonschema import Draft202012Validator

    for error in sorted(Draft202012Validator(rules).iter_errors(data), key=lambda e: len(e.absolute_path)):
        at = tuple(error.absolute_path)
        message = error.message
        if error.validator == "additionalProperties":
            allowed = list(error.schema.get("properties", {}))
            wrong = [key for key in error.instance if key not in allowed]
            close = get_close_matches(str(wrong[0]), allowed, 1)
            hint = f"; did you mean `{close[0]}`?" if close else f"; known keys: {', '.join(allowed)}"
            message = f"unknown key `{wrong[0]}`{hint}"
            at = (*at, wrong[0])
        elif error.validator == "required":
            message = f"{_spelled(at)}: {error.message}"
        elif error.validator == "enum":
            message = f"{_spelled(at)} must be one of {', '.join(map(str, error.validator_value))}"
        elif isinstance(error.schema, dict) and str(error.schema.get("description", "")).startswith("a "):
            message = f"{_spelled(at)} must be {error.schema['description']}"
        elif error.validator == "type":
            types = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
            message = f"{_spelled(at)} must be {' or '.join(_TYPE_NAMES.get(kind, kind) for kind in types)}"
        else:
            message = f"{_spelled(at)}: {error.message}"
        raise file.error(at, message)


_TYPE_NAMES = {
    "string": "a text in quotes", "array": "a list", "object": "a mapping", "boolean": "true or false",
    "integer": "a whole number", "number": "a number", "null": "empty",
}  # fmt: skip


def _spelled(at: tuple[Any, ...]) -> str:
    """A place in the settings in words: ``workloads[0].needs``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at).removeprefix(".") or "settings"


def check(file: File, data: Mapping[str, Any]) -> None:
    """What no schema can say about the values of a file."""
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


def _check_size(file: File, at: tuple[Any, ...], given: int | float | str) -> None:
    if isinstance(given, float):  # to a schema 1e9 is an integer as well
        raise file.error(at, f"{_spelled(at)} must be a size like 8gb")
    try:
        size = parse_compose(given)
        if size <= 0:
            raise InvalidSize("a size must be greater than 0")
        if size < _MEGABYTE and (isinstance(given, int) or given.isdigit()):  # as SHM203 has it
            raise InvalidSize(f"{given} counts bytes; write the unit, like 8gb")
    except InvalidSize as error:
        raise file.error(at, f"{_spelled(at)}: {error}") from None


_MEGABYTE = 1024 * 1024


def _check_pattern(file: File, at: tuple[Any, ...], pattern: str) -> None:
    from shmlint.files.patterns import exclusion

    try:
        exclusion([pattern])
    except ValueError as error:
        raise file.error(at, str(error)) from None


def _check_workload(file: File, at: tuple[Any, ...], entry: dict[str, Any]) -> None:
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


def _check_rules(file: File, data: Mapping[str, Any]) -> None:
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
