"""``shmlint settings``: the settings in effect, and where each comes from."""

from __future__ import annotations

import os
from typing import TypedDict, Unpack

import click

from shmlint.cli import command as shared
from shmlint.cli.command import Command
from shmlint.cli.configured import load_settings
from shmlint.cli.output import fail, line


class Options(TypedDict):
    """What the command line says."""

    path: str
    config: str | None


@click.command(cls=Command)
@click.argument("path", default=".", metavar="[PATH]", type=click.Path())
@shared.config
def command(**options: Unpack[Options]) -> int:
    """Show the settings for a path, as a settings file, and where each value comes from."""
    from shmlint.config.describe import described

    if not os.path.lexists(options["path"]):
        fail(f"{options['path']}: no such file or directory")
    for text in described(load_settings(options["config"], [options["path"]])):
        line(text)
    return 0
