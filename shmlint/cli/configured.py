"""The settings of a command: those of settings files, and what its options say about rules."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.cli.output import STDIN, fail
from shmlint.config import common, load
from shmlint.config.rules import unknown_rule
from shmlint.model.finding import Severity
from shmlint.model.settings import InvalidSettings, Settings


def load_settings(config: str | None, paths: Sequence[str]) -> Settings:
    """The settings of the directory that all paths lie in."""
    start = common(paths) if paths and paths[0] != STDIN else "."
    try:
        return load(config, start)
    except InvalidSettings as wrong:
        fail(str(wrong))


def with_rules(settings: Settings, select: Sequence[str], ignore: Sequence[str], fail_on: Severity | None) -> Settings:
    """Settings with what the command line says about rules."""
    chosen, ignored = _split(select), _split(ignore)
    for name in (*chosen, *ignored):
        if message := unknown_rule(name):
            fail(message)
    if not (chosen or ignored or fail_on):
        return settings
    return settings.changed(lambda some: some._replace(
        select=chosen or some.select,
        ignore=(*some.ignore, *ignored),
        fail_on=fail_on or some.fail_on,
    ))  # fmt: skip


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
