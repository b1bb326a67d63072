"""The program with its options and commands. Only the command that is used is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from shmlint.cli.command import CommandContext
from shmlint.cli.names import COMMANDS
from shmlint.cli.output import Failed, error
from shmlint.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_OWN_OPTIONS = ("-h", "--help", "-V", "--version")

_EPILOG = """\b
`shmlint COMMAND --help` shows the options of a command; `check` may be left
out, so `shmlint check --help` shows those of `shmlint --fix`. Write a path
that has the name of a command as ./size, or after `check`.

\b
Exit status: 0 no finding at or above --fail-on remains, 1 at least one does
(with --diff: a file would change), 2 wrong usage or an internal error.

\b
Examples:
  shmlint                         check the current directory
  shmlint --fix compose.yaml      repair a file
  shmlint --diff .                show what --fix would change
  shmlint explain SHM101          what a rule is about
  shmlint explain "Bus error"     what an error message means
  shmlint size --gpus 4 vllm      how much /dev/shm that needs"""


class CommandGroup(click.Group):
    """The commands. Arguments that start with none of them belong to `check`."""

    context_class = CommandContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found = import_module(f"shmlint.cli.{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else None
        is_completed = ctx.resilient_parsing and first is None
        if first not in COMMANDS and first not in _OWN_OPTIONS and not is_completed:
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, and what may be written instead if `check` is left out."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]  # fmt: skip
        check = self.get_command(ctx, "check")
        assert check is not None
        with CommandContext(check, ctx, "check", resilient_parsing=True) as below:
            options = check.shell_complete(below, incomplete)
        return [*found, *options, CompletionItem(incomplete, type="file")]

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, complete_var: str | None = None,
        standalone_mode: bool = True, **extra: Any,
    ) -> Any:  # fmt: skip
        """Run a command and exit with the status that it returns; an error is one line and status 2."""
        try:
            status = super().main(args, prog_name or "shmlint", complete_var, standalone_mode=False, **extra) or 0
        except click.ClickException as wrong:
            error(wrong.format_message())
            status = 2
        except Failed as wrong:
            error(str(wrong))
            status = 2
        except click.Abort:
            error("interrupted")
            status = 1
        if standalone_mode:
            sys.exit(status)
        return status


@click.command(
    "shmlint", cls=CommandGroup, invoke_without_command=True, epilog=_EPILOG,
    options_metavar="", subcommand_metavar="[COMMAND] [OPTIONS] [PATH]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(__version__, "-V", "--version", prog_name="shmlint")
def program() -> None:
    """Find GPU containers that are started with too little /dev/shm.

    Docker gives a container 64 MiB of shared memory. NCCL, DataLoader workers and inference
    servers need more and fail with `Bus error` or `unhandled system error`. shmlint reads
    Compose files, scripts, workflows and more, reports the launches that lack it, and repairs
    them with --fix.
    """
