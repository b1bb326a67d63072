"""SHM201: a size that Docker's parser rejects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.docker.sizes import InvalidSize, parse_docker
from shmlint.model.finding import Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import advised, in_the_way

RULE = Rule("SHM201", "invalid-size", "error", as_written=True)


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    size = launch.shm.known if launch.shm else None
    if launch.swarm or launch.shm is None or size is None or not size.error:
        return
    meant = meant_size(launch.shm.text) or advised(launch, context.need(launch), context.settings)
    advice = "write a size that Docker accepts, like 8gb" if launch.shm.private else ""
    if re.search(_MORE_OPTIONS, launch.shm.text):
        advice = "write the options as words of their own, not between quotation marks"
    elif not advice and launch.kind == "docker-run" and not launch.shm.text.strip():
        advice = f"write a size after {launch.words.shm_option}=, without a blank"  # it may be the next word
    elif not advice and not launch.rewriter.set_shm_size(meant):
        advice = f"write a size after {launch.words.shm_option}, like 8g"
    advice = advice or in_the_way(launch, meant)
    shown = " comes from an env file and" if launch.shm.private else f" `{launch.shm.text}`" if launch.shm.text else ""
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.shm.span,
        f": {launch.words.shm_option}{shown} is refused: {size.error}",
        launch,
        why=(Reason("the container does not start; a size is a number with a unit b, k, m or g: `512mb`, `8gb`"),),
        fix=None if advice else Fix(SetSize(meant)),
        advice=advice,
        about=launch.words.launch,
        facts=(launch.shm.private or launch.shm.text,),
    )


_MORE_OPTIONS = r"\s--?[a-z]"
"""Other options in the word of a size, which another size would take away."""


_MEANT = r"([\d.]+)(?:([kmgt])(?:i?bs?|i|i?bytes?|i[gb]s?|[ie][gl]o?(?:a?bytes?|s)?)?|bytes?)"
"""A number with a unit in full: ``16gig``, ``16 GiBs``, ``512 megabytes``."""


def meant_size(text: str) -> int | None:
    """The size in bytes that an invalid text obviously means: ``8Gi``, ``8  gb``, ``8,5g``, ``8 GB ``."""
    squeezed = "".join(text.split()).rstrip(",;").replace(",", ".").lower()
    found = re.fullmatch(_MEANT, squeezed)
    squeezed = f"{found[1]}{found[2] or 'b'}" if found is not None else squeezed
    try:
        size = parse_docker(squeezed)
    except InvalidSize:
        return None
    return size if size >= 1024 * 1024 else None
