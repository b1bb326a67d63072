"""What a Dockerfile says about the image it builds: base image, environment, command.

Instructions come from dockerfile-parse; following stages and arguments is done here, because
the library looks at the last ``FROM`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """The image a stage gives.

    ``base_images`` are the external images under it with the 1-based line of their FROM, the
    nearest first. An argument without a value stays in the name as it is written.
    """

    base_images: tuple[tuple[str, int], ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    command: Words | None = None
    entrypoint: Words | None = None


def read(text: str, target: str | None = None, args: Mapping[str, str] | None = None) -> BuiltImage | None:
    """The image that ``docker build --target TARGET --build-arg …`` gives; None where there is no FROM."""
    instructions = _instructions(text)
    globals_: dict[str, str] = {}
    stages: list[tuple[str, BuiltImage]] = []
    local: dict[str, str] = {}
    given = dict(args or {})
    for name, value, line in instructions:
        if name == "FROM":
            words = [w for w in value.split() if not w.startswith("--")]
            if not words:
                continue
            base = _substitute(words[0], {**globals_, **{k: v for k, v in given.items() if k in globals_}})
            alias = words[2].lower() if len(words) > 2 and words[1].lower() == "as" else ""
            parent = _stage(stages, base)
            stages.append((alias, parent or BuiltImage(((base, line),))))
            local = dict(parent.environment) if parent else {}
        elif name == "ARG":
            for part in _pairs(value):
                key, equals, default = part.partition("=")
                if stages:
                    local[key] = given.get(key, _substitute(default, local) if equals else globals_.get(key, ""))
                elif key in given or equals:
                    globals_[key] = given.get(key, _substitute(default, globals_))
                else:
                    globals_.setdefault(key, f"${{{key}}}")
        elif stages:
            alias, image = stages[-1]
            stages[-1] = (alias, _apply(image, name, value, local))
    if not stages:
        return None
    if target:
        found = _stage(stages, target)
        if found is not None:
            return found
    return stages[-1][1]


def _stage(stages: list[tuple[str, BuiltImage]], name: str) -> BuiltImage | None:
    for alias, image in reversed(stages):
        if alias and alias == name.lower():
            return image
    if name.isdigit() and int(name) < len(stages):
        return stages[int(name)][1]
    return None


def _apply(image: BuiltImage, name: str, value: str, local: dict[str, str]) -> BuiltImage:
    if name == "ENV":
        environment = dict(image.environment)
        parts = _pairs(value)
        if parts and "=" not in parts[0]:  # the old form: ENV name the value
            key, _, rest = value.strip().partition(" ")
            parts = [f"{key}={rest.strip()}"]
        for part in parts:
            key, _, text = part.partition("=")
            environment[key] = local[key] = _substitute(text, local)
        return replace(image, environment=environment)
    if name == "CMD":
        return replace(image, command=_command(value))
    if name == "ENTRYPOINT":
        # An entrypoint makes a command inherited from before it void.
        return replace(image, entrypoint=_command(value), command=None)
    return image


def _command(value: str) -> Words:
    """The exec form's words, or the shell form behind ``/bin/sh -c``."""
    if value.lstrip().startswith("["):
        import json

        try:
            words = json.loads(value)
        except ValueError:
            words = None
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            return tuple(words)
    return ("/bin/sh", "-c", value)


def _pairs(value: str) -> list[str]:
    """``a=1 b="2 3"`` split as the builder splits it."""
    import shlex

    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


def _substitute(text: str, variables: Mapping[str, str], depth: int = 0) -> str:
    """``$X``, ``${X}``, ``${X:-default}``, ``${X:+other}``; what is not known stays as written."""
    if "$" not in text or depth > 10:
        return text
    import re

    def value(match: re.Match[str]) -> str:
        name = match["plain"] or match["name"]
        known = variables.get(name)
        if match["operator"] == ":-":
            return known or _substitute(match["word"], variables, depth + 1)
        if match["operator"] == ":+":
            return match["word"] if known else ""
        return match[0] if known is None else known

    return re.sub(
        r"\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?:(?P<operator>:[-+])(?P<word>[^}]*))?\})", value, text
    )


def _instructions(text: str) -> list[tuple[str, str, int]]:
    """Instruction, value and 1-based line of each instruction."""
    import io
    import logging

    from dockerfile_parse import DockerfileParser

    logging.getLogger("dockerfile_parse").setLevel(logging.CRITICAL)
    plain = without_heredocs(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    parser = DockerfileParser(fileobj=io.BytesIO(plain.encode("utf-8", "replace")))
    found = []
    try:
        structure = parser.structure
    except (ValueError, IndexError, KeyError, UnicodeError):
        return []
    for part in structure:
        if part["instruction"] != "COMMENT":
            found.append((part["instruction"].upper(), part["value"], part["startline"] + 1))
    return found


def without_heredocs(text: str) -> str:
    """The text with the bodies of here-documents emptied; lines keep their numbers.

    dockerfile-parse knows none and would read a ``CMD`` or ``FROM`` in a script as an instruction.
    """
    if "<<" not in text:
        return text
    import re

    opening = re.compile(r"<<(-?)\s*([\"']?)([A-Za-z_][\w.]*)\2")
    lines = text.split("\n")
    waiting: list[tuple[str, bool]] = []
    head = ""
    for i, line in enumerate(lines):
        if waiting:
            end, tabs = waiting[0]
            if (line.lstrip("\t") if tabs else line).rstrip("\r") == end:
                waiting.pop(0)
            lines[i] = ""
            continue
        # Only these take here-documents, also on a continued line.
        if not head:
            word = line.split(None, 1)[0].upper() if line.strip() else ""
            head = word if word in ("RUN", "COPY", "ADD") else ""
        if head:
            waiting = [(m[3], bool(m[1])) for m in opening.finditer(line) if line[m.end() : m.end() + 1] != "<"]
            if not line.rstrip().endswith("\\") or waiting:
                head = ""
    return "\n".join(lines)
