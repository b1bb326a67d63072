"""``shmlint files``: which files a run would read."""

from __future__ import annotations

from typing import TypedDict, Unpack

import click

from shmlint.cli import command as shared
from shmlint.cli.command import Command
from shmlint.cli.configured import load_settings
from shmlint.cli.inputs import find_inputs


class Options(TypedDict):
    """What the command line says."""

    paths: tuple[str, ...]
    config: str | None
    force_exclude: bool
    jobs: int | None
    stdin_filename: str | None


@click.command(cls=Command)
@shared.paths
@shared.config
@shared.force_exclude
@shared.jobs
@shared.stdin_filename
def command(**options: Unpack[Options]) -> int:
    """List the files that would be checked, one per line."""
    settings = load_settings(options["config"], options["paths"])
    inputs = find_inputs(
        options["paths"], settings, stdin_filename=options["stdin_filename"], jobs=options["jobs"],
        force_exclude=options["force_exclude"],
    )  # fmt: skip
    for group in inputs.files.values():
        for path in group:
            click.echo(path)
    return 0
