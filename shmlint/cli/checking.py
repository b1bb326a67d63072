"""What ``shmlint check`` does once its options are known. It imports no click: see ``cli._without_click``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shmlint.cli.configured import load_settings, with_rules
from shmlint.cli.inputs import Inputs, find_inputs, started
from shmlint.cli.output import (
    FORMATS,
    STDIN,
    Output,
    Progress,
    error,
    fail,
    line,
    nearest,
    open_output,
    write,
    write_bytes,
    write_lines,
)
from shmlint.model.record import NamedTuple
from shmlint.run import Run, fails, lint

if TYPE_CHECKING:
    from shmlint.fixing.fix import Fixed, Outcome
    from shmlint.model.finding import Finding, Severity
    from shmlint.model.settings import Accepted, Settings


class Options(NamedTuple):
    """What the command line says."""

    paths: tuple[str, ...] = ()
    fix: bool = False
    diff: bool = False
    unsafe_fixes: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = None
    min_severity: Severity | None = None
    exit_zero: bool = False
    add_ignore: str | None = None
    baseline: str | None = None
    update_baseline: bool = False
    format: str | None = None
    output: str | None = None
    output_file: tuple[str, ...] = ()
    statistics: bool = False
    verbose: bool = False
    quiet: bool = False
    color: str = "auto"
    config: str | None = None
    force_exclude: bool = False
    jobs: int | None = None
    stdin_filename: str | None = None


def check(options: Options) -> int:
    """Run the command; the exit status."""
    _check_combination(options)
    reports = _reports(options)
    settings = load_settings(options.config, options.paths)
    inputs = find_inputs(
        options.paths, settings, stdin_filename=options.stdin_filename, jobs=options.jobs,
        force_exclude=options.force_exclude,
    )  # fmt: skip
    settings = with_rules(inputs.settings, options.select, options.ignore, options.fail_on)
    if options.min_severity is not None:
        settings = settings._replace(min_severity=options.min_severity)
    if options.baseline is not None and not options.update_baseline:
        settings = settings._replace(baseline=_baseline(options.baseline))
    run = started(inputs, settings, options.jobs)
    if options.add_ignore is not None:
        return _add_ignore(run, options.add_ignore)
    if options.update_baseline and options.baseline is not None:
        return _update_baseline(run, options.baseline)
    if options.diff:
        return _diff(run, reports[-1].output, options)
    result = Result(run, run.findings)
    if options.fix:
        result = _fix(run, inputs, unsafe=options.unsafe_fixes)
    return _report(result, reports, options)


def _check_combination(options: Options) -> None:
    """Options that need another one, or that exclude each other."""
    exclusive = {
        "--fix": options.fix, "--diff": options.diff, "--add-ignore": options.add_ignore is not None,
        "--update-baseline": options.update_baseline,
    }  # fmt: skip
    given = [name for name, is_given in exclusive.items() if is_given]
    if len(given) > 1 and given != ["--fix", "--diff"]:
        fail(f"{given[0]} and {given[1]} cannot be used together")
    if options.output_file and {"--diff", "--add-ignore", "--update-baseline"} & set(given):
        fail("--output-file cannot be used with --diff, --add-ignore or --update-baseline")
    if options.unsafe_fixes and not (options.fix or options.diff):
        fail("--unsafe-fixes needs --fix or --diff")
    if options.add_ignore is not None:
        if not options.add_ignore.strip():
            fail("--add-ignore needs a reason, which is written into the comments")
        if STDIN in options.paths:
            fail("--add-ignore needs files, not standard input")
    if options.update_baseline and options.baseline is None:
        fail("--update-baseline needs --baseline FILE")


# Suppressing -----------------------------------------------------------------------------------


def _baseline(path: str) -> tuple[Accepted, ...]:
    from shmlint.suppression.baseline import InvalidBaseline, read

    try:
        return read(path)
    except InvalidBaseline as wrong:
        fail(f"{wrong}" if os.path.exists(path) else f"{wrong} (--update-baseline creates it)")


def _update_baseline(run: Run, path: str) -> int:
    from shmlint.suppression.baseline import render

    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(render(run.findings))
    except OSError as wrong:
        fail(f"{path}: {wrong.strerror}")
    count = len(run.findings)
    line(f"{path} accepts {count} finding{'' if count == 1 else 's'}")
    return 0


def _add_ignore(run: Run, reason: str) -> int:
    from shmlint.fixing.add_ignore import add
    from shmlint.fixing.write import NotWritten
    from shmlint.fixing.write import write as write_files

    added = add(run, reason)
    failed = False
    for path, text in added.texts.items():
        try:
            write_files(run, {path: text})
        except NotWritten as wrong:
            error(f"{wrong.path}: {wrong.message}")
            failed = True
    for finding in added.left:
        place = f"{finding.span.path}:{finding.span.line}"
        line(f"{place}: {finding.rule}: no comment was added: there is no safe place for one")
    if failed:
        return 2
    count, files = len(added.suppressed), len(added.texts)
    line(f"{count} finding{'' if count == 1 else 's'} suppressed in {files} file{'' if files == 1 else 's'}")
    return 0


# Repairing -------------------------------------------------------------------------------------


class Result(NamedTuple):
    """What is reported: what remains, what was fixed, and what could not be written."""

    run: Run
    findings: Sequence[Finding]
    fixed: Sequence[Fixed] = ()
    failed: tuple[str, ...] = ()
    text_printed: bool = False
    """Whether standard output has the fixed text, so that the report goes to standard error."""


def _diff(run: Run, out: Output, options: Options) -> int:
    from shmlint.fixing import fix
    from shmlint.reports import diff

    if options.format == "json":
        from shmlint.reports import json

        proved = fix.suggestions(run)
        write(out, f"{json.render(run, run.findings, proved=proved)}\n", machine=True)
        return 1 if proved and not options.exit_zero else 0
    with Progress("proving changes of", len(run.paths)):
        outcome = fix.fix(run, unsafe=options.unsafe_fixes)
    write(out, "".join(diff.render(run, outcome.texts)))
    return 1 if outcome.texts and not options.exit_zero else 0


def _fix(run: Run, inputs: Inputs, *, unsafe: bool) -> Result:
    from shmlint.fixing import fix

    with Progress("fixing", len(run.paths)):
        outcome = fix.fix(run, unsafe=unsafe)
    result = Result(outcome.run, fix.remaining(outcome), outcome.fixed)
    if inputs.texts:
        name, text = next(iter(inputs.texts.items()))
        write_bytes(outcome.texts.get(name, text).encode("utf-8"))
        return result._replace(text_printed=True)
    written, failed = _write(run, outcome)
    if not failed:
        return result
    # What is on disk now, and what remains of it.
    done = [fixed for fixed in outcome.fixed if fixed.paths <= written]
    texts = {path: outcome.texts[path] for path in written}
    again = lint(run.files, run.settings, run.workspace.over(texts), run.before)
    return Result(again, again.findings, done, failed)


def _write(run: Run, outcome: Outcome) -> tuple[set[str], tuple[str, ...]]:
    """Write what was fixed; the files that were written, and a message for each that could not be."""
    from shmlint.fixing.write import NotWritten, together
    from shmlint.fixing.write import write as write_files

    written: set[str] = set()
    failed = []
    for texts in together(outcome.texts, (fixed.paths for fixed in outcome.fixed)):
        try:
            written.update(write_files(run, texts))
        except NotWritten as wrong:
            failed.append(f"{wrong.path}: {wrong.message}")
            failed += (f"{path}: left unchanged, as {wrong.path} is" for path in texts if path != wrong.path)
    return written, tuple(failed)


# Reporting -------------------------------------------------------------------------------------


class Report(NamedTuple):
    """A report in a format, and where it goes."""

    format: str
    output: Output


def _reports(options: Options) -> list[Report]:
    """The reports to write; the main one is the last."""
    found = []
    for value in options.output_file:
        form, _, path = value.partition(":")
        if not path:
            fail(f"--output-file {value}: expected FORMAT:PATH, as in sarif:shmlint.sarif")
        if form not in FORMATS:
            fail(f"--output-file {value}: unknown format `{form}`{nearest(form, FORMATS)} "
                 f"There are {', '.join(FORMATS)}")  # fmt: skip
        found.append(Report(form, open_output(path, options.color)))
    output = open_output(options.output, options.color)
    return [*found, Report(options.format or _default_format(output), output)]


def _default_format(out: Output) -> str:
    """Annotations in a job of GitHub Actions, where a person does not look at the terminal."""
    in_job = os.environ.get("GITHUB_ACTIONS") == "true"
    return "github" if in_job and out.path is None and not sys.stdout.isatty() else "text"


def _report(result: Result, reports: Sequence[Report], options: Options) -> int:
    """Write the reports; the exit status."""
    main = reports[-1]
    if result.text_printed:
        main = main._replace(output=main.output._replace(to_stderr=True))
    every = (*reports[:-1], main)
    told = result
    if not options.fix and result.findings and any(report.format in ("text", "github") for report in every):
        from shmlint.fixing.doubts import as_proved

        told = result._replace(findings=as_proved(result.run, result.findings))
    for report in every:
        _render(told if report.format in ("text", "github") else result, report, options)
    if any(report.format == "github" for report in reports):
        from shmlint.reports import github

        github.write_summary(told.run, told.findings, fixed=len(told.fixed))
    if options.statistics:
        from shmlint.reports.statistics import render as counted

        to_stderr = main.format != "text" or main.output.path is not None or main.output.to_stderr
        for text in counted(told.findings):
            line(text, err=to_stderr)
    for message in result.failed:
        error(message)
    if result.failed:
        return 2
    return 0 if options.exit_zero else status(result.findings, result.run.settings)


def _render(result: Result, report: Report, options: Options) -> None:
    run, findings, out = result.run, result.findings, report.output
    if report.format == "github":
        from shmlint.reports import github

        rendered = github.render(run, findings, fixed=len(result.fixed), quiet=options.quiet)
        write(out, rendered + "\n" if rendered else "", machine=True)
    elif report.format == "concise":
        from shmlint.reports import concise

        write_lines(out, concise.render(findings))
    elif report.format == "text":
        from shmlint.reports import text

        style = text.Style(out.colour, out.width, options.verbose, options.quiet)
        write_lines(out, text.render(run, findings, style, result.fixed))
    elif report.format == "json":
        from shmlint.reports import json

        write(out, f"{json.render(run, findings, fixed=len(result.fixed), changes=result.fixed)}\n", machine=True)
    else:
        from importlib import import_module

        module = import_module(f"shmlint.reports.{report.format}")
        write(out, f"{module.render(run, findings, fixed=len(result.fixed))}\n", machine=True)


def status(findings: Sequence[Finding], settings: Settings) -> int:
    """1 where something at or above ``fail-on`` remains, else 0."""
    return 1 if any(fails(finding, settings) for finding in findings) else 0
