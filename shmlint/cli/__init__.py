"""The command line: options in, exit code out."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

import click

from shmlint import __version__

if TYPE_CHECKING:
    from threading import Timer

    from shmlint.fixing.fix import Outcome
    from shmlint.model.finding import Finding
    from shmlint.model.settings import Settings
    from shmlint.model.source import Problem
    from shmlint.run import Run

_EPILOG = """\b
Exit status: 0 nothing at or above --fail-on is left, 1 something is (with --diff: something would
be changed), 2 wrong usage or a failure of shmlint itself.

\b
Examples:
  shmlint                      check the current directory
  shmlint --fix compose.yaml   repair a file
  shmlint --diff .             show what --fix would do
  shmlint --explain SHM101     what a rule is about
  shmlint --explain "Bus error"  what an error message is about
  shmlint --size vllm --gpus 4   how much that needs"""

_FORMATS = ("text", "json", "github", "sarif", "gitlab", "rdjson", "junit", "checkstyle")


class _Program(click.Command):
    """The program; what stands beside --size is a command of its own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        own = args[: args.index("--")] if "--" in args else args
        if "--size" in own:
            from shmlint.cli.size import command

            args.remove("--size")
            return command.make_context(f"{info_name} --size", args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)


@click.command(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EPILOG,
)  # fmt: skip
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--fix", "do_fix", is_flag=True, help="Repair the files, touching nothing else.")
@click.option("--unsafe-fixes", is_flag=True,
              help="Let --fix and --diff also make changes that may alter what a container does.")  # fmt: skip
@click.option("--diff", "do_diff", is_flag=True,
              help="Show what --fix would change; write nothing. Exit status 1 if anything.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(_FORMATS),
              help="How findings are written.  [default: text; github in a job of GitHub Actions]")  # fmt: skip
@click.option("--output", metavar="FILE", help="Write the report to a file instead of standard output.")
@click.option("--output-file", "output_files", metavar="FORMAT:PATH", multiple=True,
              help="Write the report to a file in this format too. Can be given several times.")  # fmt: skip
@click.option("--select", metavar="RULES", multiple=True,
              help="Only these rules (ids, prefixes or names, comma separated).")  # fmt: skip
@click.option("--ignore", metavar="RULES", multiple=True, help="Not these rules.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "note"]),
              help="The lowest severity that makes the exit status 1.  [default: error]")  # fmt: skip
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--explain", metavar="WHAT",
              help="Explain a rule, an error message or workload:NAME, and exit.")  # fmt: skip
@click.option("--size", is_flag=True, expose_value=False,
              help="Say how much /dev/shm an image or a command needs; see --size --help.")  # fmt: skip
@click.option("--list-rules", is_flag=True, help="List the rules and exit.")
@click.option("--list-files", is_flag=True, help="List the files that would be read and exit.")
@click.option("--inventory", is_flag=True,
              help="List every container launch and what was understood of it, and exit.")  # fmt: skip
@click.option("--doctor", is_flag=True,
              help="Report this machine's /dev/shm, limits, GPUs and NCCL variables from inside a container, judge "
              "them (for a command too: --doctor -- COMMAND), and exit.")  # fmt: skip
@click.option("--gpus", type=click.IntRange(0), metavar="N",
              help="With --doctor or --size: how many GPUs there are to be.")  # fmt: skip
@click.option("--add-ignore", metavar="REASON",
              help="Write a comment that suppresses it, with this reason, for every finding, and exit.")  # fmt: skip
@click.option("--baseline", metavar="FILE", help="Do not report the findings that this file accepts.")
@click.option("--update-baseline", is_flag=True,
              help="Let the file of --baseline accept what is found now, and exit.")  # fmt: skip
@click.option("--statistics", is_flag=True, help="Count the findings of each rule at the end.")
@click.option("--show-settings", is_flag=True,
              help="Show the settings in effect and where they come from, and exit.")  # fmt: skip
@click.option("--config", metavar="FILE", help="Settings file to use instead of the nearest one.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N",
              help="Let large runs use up to so many processes.  [default: one for each processor]")  # fmt: skip
@click.option("--stdin-filename", metavar="NAME",
              help="What standard input (PATH -) is to be taken for.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Also say why GPU launches are not reported.")
@click.option("-q", "--quiet", is_flag=True, help="No summary line.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto",
              show_default=True, help="Colours in text.")  # fmt: skip
@click.version_option(__version__, prog_name="shmlint")
def _command(
    paths: tuple[str, ...], do_fix: bool, unsafe_fixes: bool, do_diff: bool, form: str | None, output: str | None,
    output_files: tuple[str, ...],
    select: tuple[str, ...], ignore: tuple[str, ...], fail_on: str | None, exit_zero: bool,
    explain: str | None, list_rules: bool, list_files: bool, inventory: bool, config: str | None,
    add_ignore: str | None, baseline: str | None, update_baseline: bool, statistics: bool, show_settings: bool,
    stdin_filename: str | None, verbose: bool, quiet: bool, color: str, doctor: bool, gpus: int | None,
    jobs: int | None,
) -> None:  # fmt: skip
    """Find GPU containers that are started with too little /dev/shm.

    Docker gives a container 64 MiB of shared memory; NCCL, DataLoader workers and inference servers
    need more and fail with `Bus error` or `unhandled system error`. shmlint reads compose files,
    says which services lack it and who says how much they need, and repairs the files with --fix.
    """
    if explain is not None:
        _explain(explain)
        return
    if list_rules:
        _list_rules()
        return
    form = _format(form, output, "--inventory" if inventory else "--doctor" if doctor else None)
    beside = _beside(output_files, alone=inventory or doctor or do_diff or add_ignore is not None or update_baseline)
    from shmlint.config import InvalidSettings, load

    try:
        settings = load(config, _common(paths) if paths and paths[0] != "-" and not doctor else ".")
    except InvalidSettings as error:
        _fail(str(error))
    if stdin_filename is not None and "-" not in paths:
        _fail("--stdin-filename needs the path -")
    if gpus is not None and not doctor:
        _fail("--gpus needs --doctor or --size")
    loaded = settings
    settings = settings._replace(
        select=_split(select) or settings.select,
        ignore=(*settings.ignore, *_split(ignore)),
        fail_on=fail_on or settings.fail_on,  # type: ignore[arg-type]
    )
    _check_rules(settings)
    if show_settings:
        from shmlint.config import described

        for line in described(settings, loaded):
            click.echo(_escaped(line))
        return
    _check_alone({"--fix": do_fix, "--diff": do_diff, "--inventory": inventory, "--add-ignore": add_ignore is not None,
                  "--update-baseline": update_baseline})  # fmt: skip
    if unsafe_fixes and not (do_fix or do_diff):
        _fail("--unsafe-fixes needs --fix or --diff")
    if doctor:
        if do_fix or do_diff or inventory or list_files or add_ignore is not None or update_baseline:
            _fail("--doctor does not go together with --fix, --diff, --inventory, --list-files, --add-ignore or "
                  "--update-baseline")  # fmt: skip
        _doctor(paths, gpus, settings, _Output(output, color), form, verbose=verbose, quiet=quiet, exit_zero=exit_zero)
        return
    if add_ignore is not None and not add_ignore.strip():
        _fail("--add-ignore needs a reason, for those who read the comment")
    if add_ignore is not None and "-" in paths:
        _fail("--add-ignore needs files, not standard input")
    if update_baseline and baseline is None:
        _fail("--update-baseline needs --baseline FILE")
    if baseline is not None and not update_baseline:
        settings = settings._replace(baseline=_baseline(baseline))

    from shmlint.files.parallel import processors
    from shmlint.run import lint

    jobs = jobs or processors()
    files, texts, problems = _files(paths, stdin_filename, settings, jobs)
    if list_files:
        for path in (p for group in files.values() for p in group):
            click.echo(path)
        return
    from shmlint.files.workspace import Workspace

    out = _Output(output, color)
    others = [(name, _Output(path, color)) for name, path in beside]
    with _Progress(files):
        run = lint(files, settings, Workspace(texts, follow_outside=settings.follow_outside), problems, jobs)
    if inventory:
        out.inventory(run, form)
        for finding in run.findings:
            if finding.rule == "SHM001":  # what is missing from the list
                place = f"{finding.span.path}:{finding.span.line}"
                click.echo(f"shmlint: {_escaped(place)}: {_escaped(finding.message)}", err=True)
        return
    if add_ignore is not None:
        _add_ignore(run, add_ignore)
        return
    if update_baseline and baseline is not None:
        _update_baseline(run, baseline)
        return
    findings: Sequence[Finding] = run.findings
    fixed = 0
    failed: list[str] = []
    if do_fix or do_diff:
        from shmlint.fixing import fix
        from shmlint.fixing.plan import planned

        outcome = fix.fix(run, unsafe=unsafe_fixes)
        if do_diff:
            from shmlint.reports import diff

            out.diff(diff.render(run, outcome.texts))
            sys.exit(1 if outcome.texts and not exit_zero else 0)
        if texts:  # standard input: the fixed text goes to standard output, the report beside it
            name = next(iter(texts))
            sys.stdout.buffer.write(outcome.texts.get(name, texts[name]).encode("utf-8"))
            sys.stdout.buffer.flush()
            out.to_stderr = True
            fixed = len(outcome.fixed)
            findings = fix.remaining(outcome)
            run = outcome.run
        else:
            written, failed = _write(run, outcome)
            if failed:  # what is on disk now, and what is left of it
                plans = map(planned, outcome.fixed)
                fixed = sum({e.path for e in plan.edits} <= written for plan in plans if plan is not None)
                texts = {path: outcome.texts[path] for path in written}
                run = lint(files, settings, run.workspace.over(texts), problems)
                findings = run.findings
            else:
                fixed = len(outcome.fixed)
                findings = fix.remaining(outcome)
                run = outcome.run
    for name, other in (*others, (form, out)):
        other.report(run, findings, name, fixed=fixed, verbose=verbose, quiet=quiet)
    if "github" in (form, *(name for name, _ in beside)):
        from shmlint.reports import github

        github.write_summary(run, findings, fixed=fixed)
    if statistics:
        from shmlint.reports.statistics import render as counted

        for line in counted(findings):  # beside a report that is for a program or goes to a file
            click.echo(line, err=form != "text" or output is not None or out.to_stderr)
    for message in failed:
        click.echo(message, err=True)
    if failed:
        sys.exit(2)
    _exit(findings, settings, exit_zero)


def _common(paths: Sequence[str]) -> str:
    """The directory that all paths lie in, or the one path there is: whose settings count hangs on no order."""
    try:
        return os.path.commonpath(map(os.path.abspath, paths))
    except ValueError:  # on several drives
        return "."


def _exit(findings: Sequence[Finding], settings: Settings, exit_zero: bool) -> None:
    """End with status 1 where something at or above --fail-on is left."""
    if exit_zero:
        return
    from shmlint.model.finding import SEVERITIES

    worst = max((SEVERITIES.index(f.severity) for f in findings), default=-1)
    if worst >= SEVERITIES.index(settings.fail_on):
        sys.exit(1)


def _doctor(
    command: Sequence[str], gpus: int | None, settings: Settings, out: _Output, form: str, *, verbose: bool,
    quiet: bool, exit_zero: bool,
) -> None:  # fmt: skip
    from shmlint.cli.doctor import examine, render_json, render_text
    from shmlint.formats.live import Machine, NotLinux

    try:
        examination = examine(Machine(), settings, command, gpus)
    except NotLinux:
        _fail("--doctor looks at a Linux container from inside: start it there")
    if form == "json":
        out.text(f"{render_json(examination)}\n", machine=True)
    else:
        lines = render_text(examination, colour=out.colour, verbose=verbose, quiet=quiet)
        out.text("".join(f"{line}\n" for line in lines))
    _exit(examination.run.findings, settings, exit_zero)


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _check_alone(given: Mapping[str, bool]) -> None:
    """--fix --diff is --diff; of the others each does one thing."""
    names = [name for name, is_given in given.items() if is_given]
    if len(names) > 1 and names != ["--fix", "--diff"] and {"--add-ignore", "--update-baseline"} & set(names):
        _fail(f"{names[0]} and {names[1]} do not go together")


def _baseline(path: str) -> frozenset[str]:
    from shmlint.suppression.baseline import InvalidBaseline, read

    try:
        return read(path)
    except InvalidBaseline as error:
        _fail(f"{error}" if os.path.exists(path) else f"{error} (--update-baseline writes it)")


def _update_baseline(run: Run, path: str) -> None:
    from shmlint.suppression.baseline import render

    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(render(run.findings))
    except OSError as error:
        _fail(f"{path}: {error.strerror}")
    count = len(run.findings)
    click.echo(f"{_escaped(path)} accepts {count} finding{'' if count == 1 else 's'}")


def _add_ignore(run: Run, reason: str) -> None:
    from shmlint.fixing.add_ignore import add
    from shmlint.fixing.fix import NotWritten, write

    added = add(run, reason)
    failed = False
    for path, text in added.texts.items():
        try:
            list(write(run, {path: text}))
        except NotWritten as error:
            click.echo(f"shmlint: {_escaped(error.path)}: {_escaped(error.message)}", err=True)
            failed = True
    for finding in added.left:
        place = f"{finding.span.path}:{finding.span.line}"
        click.echo(f"{_escaped(place)}: {finding.rule}: no comment was written: there is no safe place for one")
    if failed:
        sys.exit(2)
    count, files = len(added.suppressed), len(added.texts)
    click.echo(f"{count} finding{'' if count == 1 else 's'} suppressed in {files} file{'' if files == 1 else 's'}")


def _format(form: str | None, output: str | None, table: str | None) -> str:
    """The format that was asked for, or else the one that fits the place the report goes to.

    ``table`` is an option whose answer is no list of findings.
    """
    if table is not None:
        if form not in (None, "text", "json"):
            _fail(f"{table} is written as text or json, not as {form}")
        return form or "text"
    if form is None and output is None and os.environ.get("GITHUB_ACTIONS") == "true" and not sys.stdout.isatty():
        return "github"
    return form or "text"


def _beside(values: Sequence[str], *, alone: bool) -> list[tuple[str, str]]:
    """The formats and paths of further reports."""
    if values and alone:
        _fail("--output-file is for findings: not with --inventory, --doctor, --diff, --add-ignore or "
              "--update-baseline")  # fmt: skip
    found = []
    for value in values:
        form, _, path = value.partition(":")
        if not path:
            _fail(f"--output-file {value}: expected FORMAT:PATH, as in sarif:shmlint.sarif")
        if form not in _FORMATS:
            _fail(f"--output-file {value}: no format is called {form}{_nearest(form, _FORMATS)}; "
                  f"there are {', '.join(_FORMATS)}")  # fmt: skip
        found.append((form, path))
    return found


def _fail(message: str) -> NoReturn:
    """End with a usage error: one line, status 2."""
    click.echo(f"shmlint: {_escaped(message)}", err=True)
    sys.exit(2)


def _escaped(text: str) -> str:
    from shmlint.reports import escape

    return escape(text)


def _check_rules(settings: Settings) -> None:
    """A rule that does not exist is a slip worth hearing of."""
    lost = [name for _, names in settings.per_file_ignores for name in names]
    patterns = (*settings.select, *settings.ignore, *(name for name, _ in settings.severity), *lost)
    if not patterns:
        return
    from shmlint.rules import all_rules

    known = [rule for rule, _ in all_rules().values()]
    for pattern in patterns:
        upper = pattern.upper()
        if upper != "ALL" and not any(r.name == pattern or r.id.startswith(upper) for r in known):
            names = [name for rule in known for name in (rule.id, rule.name)]
            _fail(f"no rule is called {pattern}{_nearest(pattern, names)}; see --list-rules")


def _nearest(word: str, words: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, words, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _explain(name: str) -> None:
    from shmlint.cli.explain import NothingFound, explain

    if name == "-":
        name = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        for line in explain(name):
            click.echo(line)
    except NothingFound as error:
        _fail(str(error))


def _list_rules() -> None:
    from shmlint.files import installed as rules
    from shmlint.rules import all_rules

    rows = []
    for rule, _ in all_rules().values():
        about = rules.front_matter(rules.page(rule))
        rows.append((rule.id, rule.name, rule.severity if rule.default else "off", about.get("summary", "")))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        click.echo("  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]))


def _files(
    paths: Sequence[str], stdin_filename: str | None, settings: Settings, jobs: int
) -> tuple[dict[str, list[str]], dict[str, str], list[Problem]]:
    """The files to read by kind, texts that are not on disk, and what could not be found."""
    from shmlint.files.discover import Found, classify, discover, tells_inspect, tells_shell
    from shmlint.files.read import normal
    from shmlint.formats import KINDS
    from shmlint.model.source import Problem, Source, Span

    if "-" in paths:
        if len(paths) > 1:
            _fail("standard input (-) cannot be read together with other paths")
        name = normal(stdin_filename or "compose.yaml")
        data = sys.stdin.buffer.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            _fail(f"{name}: standard input is not UTF-8 (byte {error.start})")
        if stdin_filename is None and tells_inspect(data):
            name = "inspect.json"
        elif stdin_filename is None and tells_shell(data):
            name = "script.sh"
        kind = classify(os.path.abspath(name).replace(os.sep, "/"), lambda: data)
        if kind is None and tells_inspect(data):
            kind = "inspect"
        return {kind if kind in KINDS else "compose": [name]}, {name: text}, []
    files: dict[str, list[str]] = {}
    problems: list[Problem] = []
    for path in paths:
        if not os.path.lexists(path):
            _fail(f"{path}: no such file or directory")
    try:
        for found in discover(paths or ["."], exclude=settings.exclude, kinds=KINDS, jobs=jobs):
            if isinstance(found, Found):
                if found.kind in KINDS:
                    files.setdefault(found.kind, []).append(found.path)
            else:
                problems.append(Problem(Span(Source(found.path, ""), 0, 0), found.message))
    except ValueError as error:  # a pattern in `exclude`
        _fail(f"{settings.path}: {error}" if settings.path else str(error))
    return files, {}, problems


def _write(run: Run, outcome: Outcome) -> tuple[set[str], list[str]]:
    """Write what was fixed; the files that were written, and what is to be said of those that could not be."""
    from shmlint.fixing.fix import NotWritten, write

    written: set[str] = set()
    failed = []
    for path, text in outcome.texts.items():
        try:
            written.update(write(run, {path: text}))
        except NotWritten as error:
            failed.append(f"shmlint: {error.path}: {error.message}")
    return written, failed


class _Progress:
    """What is being done, on a terminal, while it takes more than a second; nothing of it remains."""

    def __init__(self, files: Mapping[str, Sequence[str]]) -> None:
        counts = ", ".join(f"{len(paths)} {kind}" for kind, paths in files.items())
        self.line = f"checking {counts} ..."
        self.shown = False
        self.timer: Timer | None = None

    def __enter__(self) -> None:
        if sys.stderr.isatty():
            from threading import Timer

            self.timer = Timer(1, self.show)
            self.timer.daemon = True
            self.timer.start()

    def show(self) -> None:
        self.shown = True
        sys.stderr.write(self.line)
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer.join()
        if self.shown:
            sys.stderr.write("\r" + " " * len(self.line) + "\r")
            sys.stderr.flush()


class _Output:
    """Where the report goes, and in which colours."""

    def __init__(self, path: str | None, color: str) -> None:
        self.path = path
        self.color = color
        self.to_stderr = False
        if path is not None:  # nothing is changed when the report cannot be kept
            self._open(path, "ab").close()

    @staticmethod
    def _open(path: str, mode: str) -> IO[bytes]:
        try:
            return cast("IO[bytes]", open(path, mode))
        except OSError as error:
            _fail(f"{path}: {error.strerror}")

    def text(self, text: str, *, machine: bool = False) -> None:
        """Write a text as it is: a diff holds the line endings of its file, and programs expect UTF-8."""
        data = text.encode("utf-8", "backslashreplace")
        if self.path is not None:
            with self._open(self.path, "wb") as file:
                file.write(data)
            return
        stream = sys.stderr if self.to_stderr else sys.stdout
        if machine or (stream.encoding or "utf-8").lower().replace("-", "") == "utf8":
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()
        else:
            stream.write(text)

    def _lines(self, lines: Sequence[str]) -> None:
        self.text("".join(f"{line}\n" for line in lines))

    @property
    def colour(self) -> bool:
        if self.color != "auto":
            return self.color == "always"
        stream = sys.stderr if self.to_stderr else sys.stdout
        return self.path is None and stream.isatty() and not os.environ.get("NO_COLOR")

    def report(
        self, run: Run, findings: Sequence[Finding], form: str, *, fixed: int, verbose: bool, quiet: bool
    ) -> None:
        if form == "github":
            from shmlint.reports import github

            rendered = github.render(run, findings, fixed=fixed, quiet=quiet)
            self.text(rendered + "\n" if rendered else "", machine=True)
            return
        if form != "text":
            from importlib import import_module

            module = import_module(f"shmlint.reports.{form}")
            self.text(f"{module.render(run, findings, fixed=fixed)}\n", machine=True)
            return
        from shmlint.reports import text

        self._lines(
            list(text.render(run, findings, colour=self.colour, fixed=fixed, verbose=verbose, quiet=quiet))
        )

    def inventory(self, run: Run, form: str) -> None:
        if form == "json":
            from shmlint.reports import json

            self.text(f"{json.inventory(run)}\n", machine=True)
            return
        from shmlint.reports import text

        self._lines(list(text.inventory(run)))

    def diff(self, lines: Iterable[str]) -> None:
        self.text("".join(lines))


def main() -> NoReturn:
    """The program. Never ends with a traceback: what is unexpected is one line and status 2."""
    # What is read is kept to the end: looking for garbage as often as by default takes a fifth of a large run.
    gc.set_threshold(50_000, 20, 100)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        _command.main(prog_name="shmlint", standalone_mode=True)
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        if os.environ.get("SHMLINT_DEBUG"):
            raise
        message = " ".join(str(error).split())[:300]
        click.echo(
            f"shmlint: internal error: {type(error).__name__}: {message} "
            "(SHMLINT_DEBUG=1 shows where; please report it)",
            err=True,
        )
        sys.exit(2)
    sys.exit(0)
