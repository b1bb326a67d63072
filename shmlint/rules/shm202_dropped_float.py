"""SHM202: an unquoted float, which Compose silently ignores."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import advised, in_the_way

RULE = Rule("SHM202", "dropped-float", "error", as_written=True)

MEGABYTE = 1024 * 1024
SOURCE = "https://github.com/compose-spec/compose-go/blob/e70e961/types/bytes.go#L82"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    size = launch.shm.known if launch.shm else None
    if launch.shm is None or size is None or not size.dropped_float:
        return
    try:
        meant = int(float(launch.shm.text.replace("_", "")))
    except (ValueError, OverflowError):
        meant = 0
    if meant < MEGABYTE or meant >= 2**63:
        meant = advised(launch, context.need(launch), context.settings)
    meant = -(-meant // MEGABYTE) * MEGABYTE
    advice = in_the_way(launch, meant)
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.shm.span,
        f": {launch.words.shm_option} {launch.shm.text} is a float, which Compose ignores: "
        f"/dev/shm stays at {human(context.settings.default_shm_size)}",
        launch,
        why=(Reason("Compose accepts a whole number, or a string with a unit like `8gb`", source=SOURCE),),
        fix=None if advice else Fix(SetSize(meant)),
        advice=advice,
        about=launch.words.launch,
        facts=(launch.shm.text, context.settings.default_shm_size),
    )
