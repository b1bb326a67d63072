"""Findings as GitHub workflow commands: annotations on a pull request.

Written as actions/toolkit does (packages/core/src/command.ts): ``%`` is escaped first, then line breaks, and in
properties ``:`` and ``,``. GitHub shows ten annotations of a level for a step, so the worst come first.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from shmlint.model.finding import SEVERITIES, Finding
from shmlint.reports import escape, summary
from shmlint.reports.details import details
from shmlint.reports.text import read_line, summary_line
from shmlint.rules import all_rules
from shmlint.run import Run

SHOWN = 10
"""Annotations of one level that GitHub shows for a step."""

SUMMARY_BYTES = 900_000
"""As much of the job's summary page as is used at the most: GitHub refuses more than 1 MiB a step."""

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
_ADDRESS = re.compile(r"https://[\w.~:/?#@!$&'+,;=%-]+", re.ASCII)
_MARKDOWN = re.compile(r"[\\`*_\[\]<>#!|~&@$]|(?<=http)s?:|(?<=www)\.", re.IGNORECASE)


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0, quiet: bool = False) -> str:
    """``--format github``: one workflow command a finding, and a last line for the log."""
    lines = [_command(finding) for finding in _ordered(findings)]
    if not quiet:
        lines.append(_last_line(run, findings, fixed))
    return "\n".join(lines)


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """The worst first, and else as they come."""
    return sorted(findings, key=lambda f: -SEVERITIES.index(f.severity))


def _last_line(run: Run, findings: Sequence[Finding], fixed: int) -> str:
    """How many findings there are, what GitHub shows of them, and what was read."""
    counts = summary(run, list(findings), fixed)
    read = read_line(run, findings, counts, more=bool(run.not_read or counts["not_judged"]))
    return f"{summary_line(counts)}{_hidden(findings)}{f'; {read}' if read else ''}"


def _hidden(findings: Sequence[Finding]) -> str:
    """How many annotations of each level GitHub leaves out."""
    levels = Counter(f.severity for f in findings)
    over = [(levels[level] - SHOWN, level) for level in reversed(SEVERITIES) if levels[level] > SHOWN]
    hidden = ", ".join(f"{count} more {level}{'s' if count > 1 else ''}" for count, level in over)
    return f" ({hidden} than GitHub shows as annotations)" if hidden else ""


def _command(finding: Finding) -> str:
    begin, finish = finding.span.begin, finding.span.finish
    title = f"{finding.rule} {all_rules()[finding.rule][0].name}"
    properties = {"title": title, "file": escape(finding.span.path), "line": str(begin.line)}
    if finish.line == begin.line and finish.column > begin.column:
        # GitHub refuses columns for an annotation that goes over several lines.
        properties |= {"endLine": str(finish.line), "col": str(begin.column), "endColumn": str(finish.column)}
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    parts = [escape(finding.message), *details(finding)]
    return f"::{_LEVELS[finding.severity]} {given}::{_data(chr(10).join(parts))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def write_summary(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> None:
    """Append a table of all findings to the job's summary page, where the runner offers one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path or not findings:
        return
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.writelines(f"{line}\n" for line in _table(run, findings, fixed))
    except OSError:
        return  # a summary is a courtesy; the annotations are out already


def _table(run: Run, findings: Sequence[Finding], fixed: int) -> Iterator[str]:
    yield "### shmlint"
    yield ""
    yield "| where | severity | rule | what | source |"
    yield "|---|---|---|---|---|"
    size = 0
    for number, finding in enumerate(_ordered(findings)):
        where = f"{finding.span.path}:{finding.span.line}"
        row = (
            f"| {_literal(where)} | {finding.severity} | {_rule(finding)} | {_cell(finding.message)} "
            f"| {_link(finding.source)} |"
        )
        size += len(row.encode("utf-8", "backslashreplace")) + 1
        if size > SUMMARY_BYTES:
            yield ""
            yield f"{len(findings) - number} more are in the log."
            break
        yield row
    yield ""
    yield _last_line(run, findings, fixed)
    yield ""


def _rule(finding: Finding) -> str:
    """The rule's id, which leads to its page where that has an address."""
    rule = all_rules()[finding.rule][0]
    return f"[{rule.id}]({rule.address})" if rule.address else rule.id


def _link(address: str) -> str:
    """A link to the source of the need; nothing where that is not a plain address."""
    return f"[source]({address})" if _ADDRESS.fullmatch(address) else ""


def _cell(text: str) -> str:
    """A message in a cell: its `code` stays code, all else means nothing to Markdown."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0 or "" in parts[1:-1] or any("|" in code for code in parts[1::2]):
        return _literal(text)  # code that a cell could not hold
    return "".join(f"`{part}`" if number % 2 else _literal(part) for number, part in enumerate(parts))


def _literal(text: str) -> str:
    """A text with what Markdown could take for its own as numbers: a backslash would not stop a mention or a link."""
    return _MARKDOWN.sub(lambda found: "".join(f"&#{ord(c)};" for c in found[0]), escape(text))
