"""``shmlint check``: lint, and repair with ``--fix``. The command that counts where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from shmlint.cli import checking
from shmlint.cli import command as shared
from shmlint.cli.command import Command, complete_target, option
from shmlint.cli.output import FORMATS

if TYPE_CHECKING:
    from shmlint.model.finding import Severity

_EPILOG = """\b
Exit status: 0 no finding at or above --fail-on remains, 1 at least one does
(with --diff: a file would change), 2 wrong usage or an internal error."""


class Options(TypedDict):
    """What the command line says."""

    paths: tuple[str, ...]
    fix: bool
    diff: bool
    unsafe_fixes: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: Severity | None
    min_severity: Severity | None
    exit_zero: bool
    add_ignore: str | None
    baseline: str | None
    update_baseline: bool
    format: str | None
    output: str | None
    output_file: tuple[str, ...]
    statistics: bool
    verbose: bool
    quiet: bool
    color: str
    config: str | None
    force_exclude: bool
    jobs: int | None
    stdin_filename: str | None


@click.command(cls=Command, epilog=_EPILOG)
@shared.paths
@option("--fix", section="Repair", is_flag=True, help="Fix the files.")
@option("--diff", section="Repair", is_flag=True,
        help="Show what --fix would change, without writing it. Exit status 1 if there is a change.")  # fmt: skip
@option("--unsafe-fixes", section="Repair", is_flag=True,
        help="Also apply fixes that may change what a container does (with --fix or --diff).")  # fmt: skip
@shared.select
@shared.ignore
@shared.fail_on
@shared.min_severity
@shared.exit_zero
@option("--add-ignore", section="Suppression", metavar="REASON",
        help="Add a suppression comment with this reason for every finding, and exit.")  # fmt: skip
@option("--baseline", section="Suppression", metavar="FILE", type=click.Path(),
        help="Do not report the findings in this baseline file.")  # fmt: skip
@option("--update-baseline", section="Suppression", is_flag=True,
        help="Write the current findings to the file of --baseline, and exit.")  # fmt: skip
@option("--format", section="Report", type=click.Choice(FORMATS),
        help="Format of the report.  [default: text; github in a job of GitHub Actions]")  # fmt: skip
@shared.output
@option("--output-file", section="Report", metavar="FORMAT:PATH", multiple=True, shell_complete=complete_target,
        help="Also write the report to a file in this format. Can be repeated.")  # fmt: skip
@option("--statistics", section="Report", is_flag=True, help="Count the findings of each rule at the end.")
@shared.verbose
@shared.quiet
@shared.color
@shared.config
@shared.force_exclude
@shared.jobs
@shared.stdin_filename
def command(**options: Unpack[Options]) -> int:
    """Find GPU containers that are started with too little /dev/shm.

    PATH is a file or a directory, `-` is standard input; without one the current directory is
    checked.
    """
    return checking.check(checking.Options(**options))
