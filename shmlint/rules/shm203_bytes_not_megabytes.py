"""SHM203: a small number without a unit, which is in bytes."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import advised, in_the_way

RULE = Rule("SHM203", "bytes-not-megabytes", "error", as_written=True)

MEGABYTE = 1024 * 1024
PAGE = 4096
MOST = 256 * 1024 * MEGABYTE
"""Bytes. A number that would be more than this as megabytes was not meant as megabytes."""


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    size = launch.shm.known if launch.shm else None
    if launch.swarm or launch.shm is None or size is None or not size.bare_number or not size.bytes:
        return
    if size.bytes >= MEGABYTE:
        return
    need = context.need(launch)
    meant = size.bytes * MEGABYTE
    least = need.floor if launch.gpu.requested and need.verdict != "not-needed" else 64 * MEGABYTE
    if not least <= meant <= MOST:
        meant = advised(launch, need, context.settings)
    advice = "write the unit, like 512mb" if launch.shm.private else in_the_way(launch, meant)
    pages = -(-size.bytes // PAGE) * PAGE
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.shm.span,
        f": {launch.words.shm_option} "
        + ("from an env file" if launch.shm.private else launch.shm.text)
        + f" counts bytes: /dev/shm is {'less than 1 MiB' if launch.shm.private else human(pages)}",
        launch,
        why=(Reason("a number without a unit is in bytes, rounded up to whole pages of 4 KiB"),),
        fix=None if advice else Fix(SetSize(meant)),
        advice=advice,
        about=launch.words.launch,
        facts=(launch.shm.private or launch.shm.text, launch.shm.private or pages),
    )
