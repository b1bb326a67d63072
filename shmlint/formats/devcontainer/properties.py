"""What the properties of a devcontainer.json say, whichever way its container is started."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.gpus import HostRequirement
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.syntax.json import Json
from shmlint.syntax.template import PLACEHOLDER
from shmlint.syntax.word import Cause, Word


def cause(text: str) -> Cause | None:
    """Why a text is not fully known: a variable depends on the host, or on who uses the template."""
    if (found := PLACEHOLDER.search(text)) is not None:
        return Cause("named placeholder", found[0], "a template's placeholder")
    _, variable, rest = text.partition("${")
    return Cause("unset placeholder", f"${{{rest.partition('}')[0]}}}") if variable else None


def why_unknown(text: str) -> str:
    """The cause as a sentence; empty where the text is known."""
    found = cause(text)
    return found.sentence if found is not None else ""


def as_word(value: Json) -> Word:
    """A string as an argument. One that starts with a variable may become any option."""
    whole = value.text.startswith(("${", "{{"))
    return Word(value.text, value.inside, cause(value.text), maybe_many=whole, options=whole, offsets=value.offsets)


def run_arguments(root: Json) -> list[Json]:
    given = root.get("runArgs")
    return [item for item in given.items if item.kind == "string"] if given is not None else []


def compose_files(root: Json) -> list[Json]:
    """The Compose files that ``dockerComposeFile`` names: one, or several in a list."""
    named = root.get("dockerComposeFile")
    if named is None or named.kind == "string":
        return [named] if named is not None else []
    return [item for item in named.items if item.kind == "string"]


def opening_of(root: Json) -> Span:
    return Span(root.source, root.start, root.start + 1)


def name_of(root: Json) -> str | None:
    given = root.string("name")
    return given.text if given is not None else None


def label_of(root: Json) -> str:
    name = name_of(root)
    return f"dev container `{name}`" if name is not None else "dev container"


def host_requirement(root: Json) -> HostRequirement | None:
    """``hostRequirements.gpu``. The CLI asks only whether there is a value, not for one that the schema allows."""
    wanted = root.get("hostRequirements", "gpu")
    if wanted is None or wanted.kind == "false" or (wanted.kind == "string" and not wanted.text):
        return None
    return HostRequirement("hostRequirements.gpu", wanted.span, wanted.text, why_unknown(wanted.text))


def container_environment(root: Json) -> Iterator[tuple[Json, Json, str]]:
    """The variables of ``containerEnv``: name, value, and the text that the CLI makes of the value."""
    given = root.get("containerEnv")
    for name, value in given.entries.values() if given is not None else ():
        if value.kind in ("string", "number", "true", "false"):
            yield name, value, value.text if value.kind == "string" else value.span.text


def capabilities(root: Json) -> list[Json]:
    """What ``capAdd`` adds."""
    given = root.get("capAdd")
    return [item for item in given.items if item.kind == "string"] if given is not None else []


def is_privileged(root: Json) -> bool:
    """Whether the container may do everything."""
    given = root.get("privileged")
    return given is not None and given.kind == "true"


class ReadMount(NamedTuple):
    """An item of ``mounts``."""

    written: Json
    type: str
    source: str
    target: str


def mounts_of(root: Json) -> list[ReadMount]:
    """The items of ``mounts``, of several on one target the last one, as the CLI merges them.

    https://github.com/devcontainers/cli/blob/f683c29/src/spec-node/imageMetadata.ts#L265-L278
    """
    given = root.get("mounts")
    found: dict[str, ReadMount] = {}
    for item in given.items if given is not None else ():
        parts = _parts_of(item)
        target = parts.get("target", "")
        if target:
            found.pop(target, None)
            found[target] = ReadMount(item, parts.get("type", ""), parts.get("source", ""), target)
    return list(found.values())


_MOUNT_KEYS = {"src": "source", "destination": "target", "dst": "target"}


def _parts_of(mount: Json) -> dict[str, str]:
    """The parts of a mount by their keys; the short names of keys count in a text only."""
    if mount.kind != "string":
        return {key: value.text for key, (_, value) in mount.entries.items() if value.kind == "string"}
    pairs = (part.split("=") for part in mount.text.split(","))
    return {_MOUNT_KEYS.get(pair[0], pair[0]): pair[1] for pair in pairs if len(pair) > 1}
