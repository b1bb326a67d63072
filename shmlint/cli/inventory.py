"""``shmlint inventory``: every launch, and what was understood of it."""

from __future__ import annotations

from typing import TypedDict, Unpack

import click

from shmlint.cli import command as shared
from shmlint.cli.command import Command
from shmlint.cli.inputs import find_inputs, load_settings, started
from shmlint.cli.output import error, open_output, write, write_lines


class Options(TypedDict):
    """What the command line says."""

    paths: tuple[str, ...]
    format: str
    output: str | None
    config: str | None
    jobs: int | None
    stdin_filename: str | None


@click.command(cls=Command)
@shared.paths
@shared.text_or_json
@shared.output
@shared.config
@shared.jobs
@shared.stdin_filename
def command(**options: Unpack[Options]) -> int:
    """List every container launch and what was understood of it.

    GPU or not, after everything is resolved: image, GPUs, what /dev/shm becomes, what the
    program needs. The exit status is 0 unless the listing fails.
    """
    out = open_output(options["output"])
    settings = load_settings(options["config"], options["paths"])
    inputs = find_inputs(
        options["paths"], settings, stdin_filename=options["stdin_filename"], jobs=options["jobs"]
    )  # fmt: skip
    run = started(inputs, settings, options["jobs"])
    if options["format"] == "json":
        from shmlint.reports import json

        write(out, f"{json.inventory(run)}\n", machine=True)
    else:
        from shmlint.reports import text

        write_lines(out, text.inventory(run))
    for finding in run.findings:
        if finding.rule == "SHM001":  # what is missing from the list
            error(f"{finding.span.path}:{finding.span.line}: {finding.message}")
    return 0
