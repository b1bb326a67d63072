"""GitHub workflow commands, read back as the runner reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from shmlint.fixing import fix
from shmlint.model import project
from shmlint.model.finding import Finding
from shmlint.reports import escape, github
from shmlint.reports.details import details
from shmlint.reports.github import render, write_summary
from tests.project import run
from tests.reports.hostile import NAMES, TWO, hostile
from tests.reports.test_text import MANY, TRAINER
from tests.table import table


def unescape(text: str, also: dict[str, str]) -> str:
    for code, character in {"%0D": "\r", "%0A": "\n", **also, "%25": "%"}.items():
        text = text.replace(code, character)
    return text


def command(line: str) -> tuple[str, dict[str, str], str] | None:
    """A line of the log as ActionCommand.TryParseV2 of actions/runner takes it."""
    line = line.lstrip()
    if not line.startswith("::"):
        return None
    info, end, data = line[2:].partition("::")
    if not end:
        return None
    name, _, given = info.partition(" ")
    pairs = (pair.split("=", 1) for pair in given.split(",") if pair)
    properties = {pair[0]: unescape(pair[1], {"%3A": ":", "%2C": ","}) for pair in pairs if len(pair) == 2}
    return name, properties, unescape(data, {})


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    return [found for line in text.replace("\r", "\n").split("\n") if (found := command(line)) is not None]


def several(directory: Path, count: int, level: str = "error") -> list[Finding]:
    finding = run(directory, TRAINER).findings[0]
    return [finding._replace(severity=level, says=f"number {n}", about="") for n in range(count)]  # type: ignore[arg-type]


READ = "read 1 Compose file: 1 launch, 1 with a GPU"


def test_one_annotation_in_full(tmp_path: Path) -> None:
    started = run(tmp_path, TRAINER)
    shown = render(started, started.findings)
    assert commands(shown) == [
        (
            "error",
            {"file": "compose.yaml", "line": "2", "endLine": "2", "col": "3", "endColumn": "10",
             "title": "SHM101 missing-shm-size"},
            f"{started.findings[0].message}\nNCCL: 8 ranks, about 536.7 MiB for one communicator (estimated)\n"
            "source: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory\n"
            "reason: NVIDIA NGC framework containers: their DataLoader workers and NCCL put their data into shared "
            "memory\n"
            "source: https://github.com/NVIDIA/Megatron-LM/issues/878\n"
            "advised: 8 GiB: NVIDIA's note names 1 GiB for one process and no DataLoader workers; 8 GiB holds the "
            "batches of some workers (our choice)\n"
            "fix: add `shm_size: 8gb` after line 3 (shmlint --fix)\n"
            "help: shmlint explain SHM101",
        )
    ]
    assert shown.splitlines()[1:] == [f"1 error; 1 can be fixed with --fix; {READ}"]
    assert render(started, started.findings, quiet=True) == shown.splitlines()[0]
    assert render(started, [], quiet=True) == ""


WRITER = """
const {error, warning, notice} = require("@actions/core");
for (const [level, message, properties] of JSON.parse(require("fs").readFileSync(0, "utf8")))
  ({error, warning, notice})[level](message, properties);
"""
"""What writes workflow commands with GitHub's own library for actions, the npm package @actions/core."""


@pytest.mark.report_readers
def test_the_library_of_github_writes_the_same(tmp_path: Path) -> None:
    started = run(tmp_path, {"a,b/many.compose.yaml": MANY, "100%/trainer.compose.yaml": TRAINER})
    findings = [*started.findings, *(hostile(started.findings[0], name) for name in NAMES)]
    mine = render(started, findings, quiet=True)
    told = [
        (level, message, {"startLine" if key == "line" else "startColumn" if key == "col" else key: value
                          for key, value in properties.items()})
        for level, properties, message in commands(mine)
    ]  # fmt: skip
    assert len(told) == len(findings)
    done = subprocess.run(
        ["node", "-e", WRITER], input=json.dumps(told).encode(), capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.decode() == f"{mine}\n"


READER = """
const {RunTarget, RunOptions} = require("github-action-ts-run-api"), [, script] = process.argv;
RunTarget.jsFile(script).run(RunOptions.create({outputOptions: {printStdout: false}}))
  .then(({commands}) => console.log(JSON.stringify(commands)));
"""
"""What shows the commands that the npm package github-action-ts-run-api finds in what a step's script prints."""


@pytest.mark.report_readers
def test_a_runner_that_others_wrote_reads_the_annotations(tmp_path: Path) -> None:
    """Of a message it reads the first line break only: the others are left as they are written."""
    started = run(tmp_path, {"a/many.compose.yaml": MANY, "b/trainer.compose.yaml": TRAINER})
    (tmp_path / "report").write_text(render(started, started.findings), encoding="utf-8")
    script = tmp_path / "step.js"
    script.write_text(f"process.stdout.write(require('fs').readFileSync({str(tmp_path / 'report')!r}, 'utf8'))")
    done = subprocess.run(["node", "-e", READER, str(script)], capture_output=True, timeout=60, check=True)
    found = json.loads(done.stdout)
    for level, severity in (("errors", "error"), ("warnings", "warning"), ("notices", "note")):
        shown = [message.replace("%0A", "\n").replace("%25", "%") for message in found.pop(level)]
        own = [finding for finding in started.findings if finding.severity == severity]
        assert shown == ["\n".join([escape(finding.message), *details(finding)]) for finding in own] != []
    assert not any(found.values()), "no other command"


@table("name", NAMES)
def test_nothing_is_injected(tmp_path: Path, name: str) -> None:
    started = run(tmp_path, TRAINER)
    finding = hostile(started.findings[0], name)._replace(evidence=())
    shown = render(started, [finding, started.findings[0]])
    assert len(shown.splitlines()) == len(shown.split("\n")) == 3 or not name.isprintable()
    first, second = commands(shown)
    assert first[0] == second[0] == "error"
    assert first[1] == {**second[1], "file": escape(name)}, "a log shows it too"
    escaped = escape(name)
    assert first[2] == f"service `{escaped}` {escaped}\nwhy: {escaped}\ndo: {escaped}\nhelp: shmlint explain SHM101"
    assert first[2].count("\n") == 3, "a name makes no line"


def test_a_hostile_project(tmp_path: Path) -> None:
    """Through the reader: a name in a file, a directory, an image."""
    text = 'services:\n  "x%0A::stop-commands::y\\n::add-mask::z":\n    image: nvcr.io/nvidia/nemo\n    gpus: all\n'
    folder = "a,b=c%0A" if sys.platform == "win32" else "::error file=x,line=1::a,b%0A"
    started = run(tmp_path, {f"{folder}/compose.yaml": text}, select=("SHM101",))
    (found,) = commands(render(started, started.findings))
    assert found[0] == "error" and found[1]["file"] == f"{folder}/compose.yaml"
    assert "x%0A::stop-commands::y" in found[2]


def test_no_columns_across_lines(tmp_path: Path) -> None:
    started = run(tmp_path, TRAINER)
    finding = started.findings[0]
    source = finding.span.source
    for span in (
        finding.span._replace(end=len(source.text)),
        finding.span._replace(end=finding.span.start),
        finding.span._replace(end=source.line_starts[finding.span.line]),
    ):
        properties = commands(render(started, [finding._replace(span=span)]))[0][1]
        assert set(properties) == {"file", "line", "title"}


def test_the_worst_come_first(tmp_path: Path) -> None:
    started = run(tmp_path, MANY)
    levels = [found[0] for found in commands(render(started, started.findings))]
    assert set(levels) == {"error", "warning", "notice"}
    assert levels == sorted(levels, key=["error", "warning", "notice"].index)
    lines = [int(found[1]["line"]) for found in commands(render(started, started.findings)) if found[0] == "error"]
    assert lines == sorted(lines)


def test_how_many_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    started = run(tmp_path, TRAINER)
    ten, eleven = several(tmp_path, 10), several(tmp_path, 11)
    notes = several(tmp_path, 14, "note")
    for findings, told in (
        (ten, ""),
        (eleven, " (1 more error than GitHub shows as annotations)"),
        ([*notes, *eleven], " (1 more error, 4 more notes than GitHub shows as annotations)"),
    ):
        page.unlink(missing_ok=True)
        write_summary(started, findings)
        for last in (render(started, findings).splitlines()[-1], page.read_text().splitlines()[-2]):
            assert last.partition(" with --fix")[2] == f"{told}; {READ}"
        assert len(commands(render(started, findings))) == len(findings)


def test_the_summary_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "summary.md"
    page.write_text("before\n")
    started = run(tmp_path, TRAINER)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_summary(started, started.findings)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    write_summary(started, [])
    assert page.read_text() == "before\n"
    write_summary(started, started.findings)
    first = started.findings[0]
    assert page.read_text() == (
        "before\n### shmlint\n\n| where | severity | rule | what | source |\n|---|---|---|---|---|\n"
        f"| compose.yaml:2 | error | SHM101 | {first.message} | [source]({first.source}) |\n"
        f"\n1 error; 1 can be fixed with --fix; {READ}\n\n"
    )
    monkeypatch.setattr(project, "ADDRESS", "https://example.org/shmlint")
    write_summary(started, started.findings)
    page_of_rule = "https://example.org/shmlint/blob/main/rules/SHM101-missing-shm-size.md"
    assert f"| error | [SHM101]({page_of_rule}) |" in page.read_text()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))  # a directory: nothing comes of it
    write_summary(started, started.findings)


@table("name", NAMES)
def test_a_row_stays_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from markdown_it import MarkdownIt

    page = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    started = run(tmp_path, TRAINER)
    write_summary(started, [hostile(started.findings[0], name)])
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page.read_text(encoding="utf-8"))
    cells = [token for before, token in pairwise(tokens) if before.type == "td_open"]
    assert len(cells) == 5
    kinds = {child.type for cell in cells for child in cell.children or ()}
    assert kinds <= {"text", "text_special", "code_inline"}
    where = "".join(child.content for child in cells[0].children or ())
    assert where == f"{escape(name)}:2"


def test_a_long_summary_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github, "SUMMARY_BYTES", 200)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page"))
    write_summary(run(tmp_path, TRAINER), several(tmp_path, 20))
    lines = (tmp_path / "page").read_text().splitlines()
    shown = sum("number" in line for line in lines)
    assert 0 < shown < 20 and f"{20 - shown} more are in the log." in lines


def test_after_fixing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = run(tmp_path, TWO)
    monkeypatch.chdir(tmp_path)
    outcome = fix.fix(started)
    shown = render(outcome.run, fix.remaining(outcome), fixed=len(outcome.fixed))
    assert shown == "nothing left to report; 2 fixed; read 1 Compose file: 2 launches, 2 with a GPU"


@pytest.mark.slow
@pytest.mark.needs("byte_names")
def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff-compose.yaml")).write_text(TRAINER)
    for form in ("json", "github", "sarif", "gitlab", "rdjson", "junit", "checkstyle"):
        done = subprocess.run(
            [sys.executable, "-m", "shmlint", "--exit-zero", "--format", form, "--output-file", f"{form}:out"],
            cwd=tmp_path, capture_output=True, check=False, env={**os.environ, "GITHUB_STEP_SUMMARY": "page"},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), form
        assert (tmp_path / "out").read_bytes() == done.stdout
        assert b"udcff" in done.stdout or b"%FF-compose.yaml" in done.stdout
    assert "dcff-compose.yaml:2" in (tmp_path / "page").read_text()
