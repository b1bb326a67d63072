"""What the properties of a devcontainer.json say, whichever way its container is started."""

from __future__ import annotations

from shmlint.docker.gpus import HostRequirement
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
