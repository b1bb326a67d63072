"""``shmlint rules``: the rules, each with what it finds."""

from __future__ import annotations

import click

from shmlint.cli.command import Command
from shmlint.cli.output import Output, line
from shmlint.files.installed import front_matter, page
from shmlint.reports.terminal import labelled
from shmlint.rules import all_rules


@click.command(cls=Command)
def command() -> int:
    """List the rules: id, name, severity (or `off`), and what each finds.

    In a file or a pipe each rule is one line.
    """
    rows = []
    for rule, _ in all_rules().values():
        about = front_matter(page(rule))
        rows.append((rule.id, rule.name, rule.severity if rule.default else "off", about.get("summary", "")))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    margin = sum(widths) + 2 * len(widths)
    for row in rows:
        lead = "".join(f"{row[i].ljust(widths[i])}  " for i in range(3))
        for text in labelled(lead, row[3], Output().table_width, margin):
            line(text)
    return 0
