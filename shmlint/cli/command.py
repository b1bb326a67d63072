"""What the commands share: options in sections, help of 80 columns, completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shmlint.cli.output import FORMATS
from shmlint.files.installed import rule_names, workload_ids

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

_TERM_WIDTH = 28
"""Columns for an option's name in a help text; a longer one has its line alone."""


class Formatter(click.HelpFormatter):
    """Help whose lines break between words only, never at the hyphen of an option."""

    def write_text(self, text: str) -> None:
        self._write_wrapped(" " * self.current_indent, text)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = _TERM_WIDTH, col_spacing: int = 2) -> None:
        rows = list(rows)
        longest = max((len(term) for term, _ in rows if len(term) <= col_max), default=0)
        margin = self.current_indent + longest + col_spacing
        for term, text in rows:
            lead = f"{'':{self.current_indent}}{term}"
            if len(lead) + col_spacing > margin:
                self.write(f"{lead}\n")
                lead = ""
            self._write_wrapped(lead.ljust(margin), text)

    def _write_wrapped(self, lead: str, text: str) -> None:
        from textwrap import wrap

        indent = " " * len(lead)
        for number, paragraph in enumerate(text.split("\n\n")):
            start = lead if number == 0 else f"\n{indent}"
            if paragraph.startswith("\b\n"):
                lines = [f"{indent}{line}".rstrip() for line in paragraph[2:].splitlines()]
                self.write(start.rstrip(" ") + "\n".join(lines) + "\n")
                continue
            words = " ".join(paragraph.split())
            lines = wrap(words, self.width - len(lead), break_long_words=False, break_on_hyphens=False) or [""]
            self.write(f"{start}{f'{chr(10)}{indent}'.join(lines)}".rstrip() + "\n")


class CommandContext(click.Context):
    formatter_class = Formatter


class Option(click.Option):
    """An option that its command's help lists under the name of a section."""

    def __init__(self, *args: Any, section: str = "Options", **attributes: Any) -> None:
        self.section = section
        super().__init__(*args, **attributes)

    def get_help_extra(self, ctx: click.Context) -> Any:
        """What the help adds in brackets: the default, never the range of a number."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Command(click.Command):
    """A command whose help lists its options in sections."""

    context_class = CommandContext

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return super().make_context(info_name, args, parent, **{"help_option_names": ["-h", "--help"], **extra})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                section = parameter.section if isinstance(parameter, Option) else "Help"
                sections.setdefault(section, []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)


# Completion ------------------------------------------------------------------------------------
# Names come from file names and from the knowledge base; no rule is imported for them.


def complete_rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Rules after the last comma: ids, or else names."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _rules_like(last)]


def complete_topic(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What `explain` explains: rules and workloads."""
    prefix = "workload:"
    if incomplete.startswith(prefix):
        return [f"{prefix}{name}" for name in _workloads_like(incomplete.removeprefix(prefix))]
    return [*_rules_like(incomplete), *_workloads_like(incomplete)]


def complete_workload(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The ids of workloads."""
    return _workloads_like(incomplete)


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A format, and after its colon a file."""
    from click.shell_completion import CompletionItem

    if ":" in incomplete:
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(f"{form}:") for form in FORMATS if form.startswith(incomplete)]


def _rules_like(start: str) -> list[str]:
    """The ids of rules that start like this, or else the names."""
    ids = [rule_id for rule_id, _ in rule_names() if rule_id.startswith(start.upper())]
    return ids if ids else [name for _, name in rule_names() if name.startswith(start)]


def _workloads_like(start: str) -> list[str]:
    return [name for name in workload_ids() if name.startswith(start.lower())]


# Options ---------------------------------------------------------------------------------------


def option(*names: str, section: str, **attributes: Any) -> Callable[[F], F]:
    """An option in a section of its command's help."""
    return click.option(*names, cls=Option, section=section, **attributes)


paths = click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
config = option("--config", section="Input", metavar="FILE", type=click.Path(),
                help="Settings file for all files, instead of the nearest one in the parent directories.")  # fmt: skip
force_exclude = option("--force-exclude", section="Input", is_flag=True,
                       help="Skip excluded and unsupported files even if they are named, as hooks do.")  # fmt: skip
jobs = option("--jobs", "-j", section="Input", metavar="N", type=click.IntRange(1),
              help="Maximum number of processes.  [default: one per processor]")  # fmt: skip
stdin_filename = option("--stdin-filename", section="Input", metavar="NAME",
                        help="File name to use for standard input (PATH -).")  # fmt: skip
select = option("--select", section="Rules", metavar="RULES", multiple=True, shell_complete=complete_rules,
                help="Rules to enable: ids, prefixes or names, separated by commas.")  # fmt: skip
ignore = option("--ignore", section="Rules", metavar="RULES", multiple=True, shell_complete=complete_rules,
                help="Rules to disable.")  # fmt: skip
fail_on = option("--fail-on", section="Rules", type=click.Choice(["error", "warning", "note"]),
                 help="Lowest severity for exit status 1.  [default: error]")  # fmt: skip
min_severity = option("--min-severity", section="Rules", type=click.Choice(["error", "warning", "note"]),
                      help="Lowest severity to report and fix.  [default: note]")  # fmt: skip
exit_zero = option("--exit-zero", section="Rules", is_flag=True, help="Exit with status 0 even if there are findings.")
output = option("--output", section="Report", metavar="FILE", type=click.Path(),
                help="Write the report to a file instead of standard output.")  # fmt: skip
verbose = option("-v", "--verbose", section="Report", is_flag=True,
                 help="Also show why GPU launches are not reported, and what is not read.")  # fmt: skip
quiet = option("-q", "--quiet", section="Report", is_flag=True, help="Do not print the summary line.")
color = option("--color", section="Report", type=click.Choice(["auto", "always", "never"]), default="auto",
               show_default=True, help="Use colours in the text report.")  # fmt: skip
text_or_json = option("--format", section="Report", type=click.Choice(["text", "json"]), default="text",
                      show_default=True, help="Format of the output.")  # fmt: skip
