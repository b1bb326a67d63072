"""``shmlint inventory``: every launch, and what was understood of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from shmlint.cli import command as shared
from shmlint.cli.command import Command, option
from shmlint.cli.configured import load_settings
from shmlint.cli.inputs import find_inputs, started
from shmlint.cli.output import error, open_output, write, write_lines

if TYPE_CHECKING:
    from shmlint.reports.inventory import Sort


class Options(TypedDict):
    """What the command line says."""

    paths: tuple[str, ...]
    format: str
    sort: Sort
    output: str | None
    config: str | None
    jobs: int | None
    stdin_filename: str | None


@click.command(cls=Command)
@shared.paths
@option("--format", section="Report", type=click.Choice(["text", "json", "csv", "markdown"]), default="text",
        show_default=True, help="Format of the list.")  # fmt: skip
@option("--sort", section="Report", type=click.Choice(["place", "need", "size", "image"]), default="place",
        show_default=True,
        help="Order: as in the files, largest need first, smallest size first, or by image.")  # fmt: skip
@shared.output
@shared.config
@shared.jobs
@shared.stdin_filename
def command(**options: Unpack[Options]) -> int:
    """List all container launches, with GPUs, image and /dev/shm.

    Launches without a GPU are included. Each line shows the image, the GPUs, the resulting
    /dev/shm and what the program needs. The exit status is 0 unless the listing fails.
    """
    out = open_output(options["output"])
    settings = load_settings(options["config"], options["paths"])
    inputs = find_inputs(
        options["paths"], settings, stdin_filename=options["stdin_filename"], jobs=options["jobs"]
    )  # fmt: skip
    run = started(inputs, inputs.settings, options["jobs"])
    form, sort = options["format"], options["sort"]
    if form == "json":
        from shmlint.reports import json

        write(out, f"{json.inventory(run)}\n", machine=True)
    else:
        from shmlint.reports import inventory

        if form == "text":
            write_lines(out, inventory.table(run, sort, out.table_width))
        else:
            write(out, {"csv": inventory.csv, "markdown": inventory.markdown}[form](run, sort), machine=True)
    for finding in run.findings:
        if finding.rule == "SHM001":  # what is missing from the list
            error(f"{finding.span.path}:{finding.span.line}: {finding.message}")
    return 0
