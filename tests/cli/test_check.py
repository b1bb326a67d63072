"""The command line: every option, every exit status, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shmlint import __version__
from shmlint.cli import inputs
from shmlint.cli import program as cli
from shmlint.rules import all_rules
from tests.project import write
from tests.table import table

TRAINER = """\
services:
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    gpus: all
"""
READ = "read 1 Compose file: 1 launch, 1 with a GPU"
REPAIRED = f"compose.yaml:5: fixed SHM101 added `shm_size: 8gb`\n\nnothing left to report; 1 fixed\n{READ}\n"
FIXED = TRAINER + "    shm_size: 8gb\n"
UNKNOWN = "services:\n  x:\n    image: pytorch/pytorch\n    gpus: all\n"
NOTE = TRAINER + "    shm_size: 2gb\n"
FINE = "services:\n  x:\n    image: redis\n"
DIFF = """\
--- compose.yaml
+++ compose.yaml
@@ -2,3 +2,4 @@
   trainer:
     image: nvcr.io/nvidia/pytorch:24.01-py3
     gpus: all
+    shm_size: 8gb
"""

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program in an empty directory. What ``compose`` says is written there before."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    monkeypatch.delenv("NO_COLOR", raising=False)

    def started(*arguments: str, compose: str | None = None, stdin: str | bytes | None = None) -> Result:
        if compose is not None:
            write(tmp_path, {"compose.yaml": compose})
        result = CliRunner().invoke(cli.program, list(arguments), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return started


def program(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "shmlint", *arguments], cwd=cwd, capture_output=True, check=False, **options
    )


# Exit status -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        (TRAINER, [], 1),
        (TRAINER, ["--exit-zero"], 0),
        (TRAINER, ["--ignore", "SHM101"], 0),
        (UNKNOWN, [], 0),
        (UNKNOWN, ["--fail-on", "warning"], 1),
        (UNKNOWN, ["--fail-on", "note"], 1),
        (NOTE, [], 0),
        (NOTE, ["--fail-on", "warning"], 0),
        (NOTE, ["--fail-on", "note"], 1),
        (FINE, ["--fail-on", "note"], 0),
        ("services: [\n", [], 1),
        (TRAINER, ["--fix"], 0),
        (TRAINER + "    ipc: none\n", ["--fix"], 1),
        (TRAINER, ["--diff"], 1),
        (TRAINER, ["--diff", "--exit-zero"], 0),
        (FINE, ["--diff"], 0),
        (TRAINER, ["inventory"], 0),
        (TRAINER, ["files"], 0),
        (TRAINER, ["--quiet"], 1),
        (TRAINER, ["--format", "json"], 1),
    ],
)
def test_exit_status(run: Run, text: str, options: list[str], status: int) -> None:
    assert run(*options, compose=text).exit_code == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "shmlint: nowhere: no such file or directory\n"),
        (["inventry"], "shmlint: inventry: no such file or directory; did you mean `inventory`?\n"),
        (["nowhere/compose.yaml"], "shmlint: nowhere/compose.yaml: no such file or directory"),
        (["--select", "SHM999"], "shmlint: unknown rule `SHM999`"),
        (["--select", "missing-shm-sise"], "did you mean `missing-shm-size`?"),
        (["--ignore", "ignored-with-ipcs"], "did you mean `ignored-with-ipc`?"),
        (["explain", "SHM110"], "did you mean `SHM"),
        (["explain", "nothing"], "nothing is known about `nothing`"),
        (["--format", "xml"], "xml"),
        (["--fail-on", "never"], "never"),
        (["--no-such-option"], "--no-such-option"),
        (["--color", "sometimes"], "sometimes"),
        (["-", "compose.yaml"], "standard input"),
        (["--stdin-filename", "x.yaml"], "--stdin-filename"),
        (["--config", "none.yaml"], "none.yaml"),
        (["--output", "no/such/report.txt"], "no/such/report.txt"),
        (["--add-ignore", " "], "--add-ignore needs a reason"),
    ],
)
def test_wrong_usage(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments, compose=TRAINER)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_nothing_is_fixed_when_the_report_cannot_be_written(run: Run) -> None:
    assert run("--fix", "--output", "no/report.txt", compose=TRAINER).exit_code == 2
    assert Path("compose.yaml").read_text() == TRAINER


# Reading ---------------------------------------------------------------------------------------


def test_an_empty_directory(run: Run) -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (0, "no file to check\n")


def test_paths(run: Run) -> None:
    write(Path(), {"a/compose.yaml": TRAINER, "b/compose.yaml": TRAINER, "c/odd.txt.yaml": TRAINER})
    assert run("files").stdout.split() == ["a/compose.yaml", "b/compose.yaml", "c/odd.txt.yaml"]
    assert run("files", "b", "a/compose.yaml").stdout.split() == ["a/compose.yaml", "b/compose.yaml"]
    assert "a/compose.yaml:2:3: error SHM101" in run("a").stdout


def test_gitignore_and_exclude(run: Run) -> None:
    write(Path(), {"a/compose.yaml": TRAINER, "b/compose.yaml": TRAINER, ".gitignore": "b/\n"})
    assert run("files").stdout.split() == ["a/compose.yaml"]
    write(Path(), {".shmlint.yaml": "exclude: [a/]\n"})
    assert run("files").stdout == ""


@pytest.mark.parametrize("arguments", [(".",), (".", "--config", ".shmlint.yaml"), ("--force-exclude", "a", "b")])
def test_what_is_excluded_is_counted(run: Run, arguments: tuple[str, ...]) -> None:
    write(Path(), {"a/compose.yaml": TRAINER, ".shmlint.yaml": "exclude: [a/]\n", "c/compose.yaml": FINE})
    write(Path(), {"b/compose.yaml": TRAINER, "b/.shmlint.yaml": "exclude: [compose.yaml]\n"})
    count = 1 if "--config" in arguments else 2
    shown = run("-v", *arguments, "c/compose.yaml", "--exit-zero").stdout
    places = ["a/compose.yaml:1", "b/compose.yaml:1"]
    listed = f"{places[0]}: not read: the settings exclude it\n"
    if count == 2:
        listed = "not read: the settings exclude it\n" + "".join(f"  {place}\n" for place in places)
    assert listed in shown
    assert f"; {count} not read ({count} excluded)" in " ".join(shown.split())
    found = json.loads(run("--format", "json", *arguments, "c/compose.yaml", "--exit-zero").stdout)
    assert [place["kind"] for place in found["not_read"]] == ["excluded"] * count
    fixed = run("--fix", *arguments, "c/compose.yaml").stdout
    assert f"{count} not read ({count} excluded);" in " ".join(fixed.split()), "it is still counted"
    assert run("--force-exclude", "a/compose.yaml").stdout.startswith("no file to check; 1 not read (1 excluded);")


def test_a_bad_pattern_is_said(run: Run) -> None:
    write(Path(), {"compose.yaml": FINE, ".shmlint.yaml": "exclude: ['!']\n"})
    result = run()
    assert result.exit_code == 2
    assert result.stderr == "shmlint: .shmlint.yaml:1:11: `!` is not a pattern as in a .gitignore\n"


def test_a_named_file_that_nothing_reads_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "KINDS", frozenset({"compose"}))
    write(Path(), {"run.sh": "docker run --gpus all nvcr.io/nvidia/nemo\n", "README.md": "# x\n"})
    result = run("run.sh", "README.md")
    assert (result.exit_code, result.stdout) == (2, "") and "run.sh is not read" in result.stderr


def test_an_unreadable_file_is_a_finding(run: Run) -> None:
    Path("compose.yaml").write_bytes(b"services:\n  x:\n    image: \xff\n")
    result = run("compose.yaml")
    assert result.exit_code == 1
    assert result.stdout.startswith("compose.yaml:3:12: error SHM001 unreadable-file\n  not UTF-8")
    listed = run("inventory")
    assert listed.exit_code == 0 and "compose.yaml:3: not UTF-8" in listed.stderr


def test_a_link_to_nowhere_is_a_finding(run: Run) -> None:
    Path("compose.yaml").symlink_to("gone.yaml")
    result = run("compose.yaml")
    assert result.exit_code == 1 and "SHM001" in result.stdout


# Repairing -------------------------------------------------------------------------------------


def test_fix(run: Run) -> None:
    result = run("--fix", compose=TRAINER)
    assert Path("compose.yaml").read_text() == FIXED
    assert result.stdout == REPAIRED
    again = run("--fix")
    assert again.stdout == f"nothing found; {READ}\n"
    assert Path("compose.yaml").read_text() == FIXED


def test_fix_keeps_mode_and_bytes(run: Run) -> None:
    Path("compose.yaml").write_bytes(b"\xef\xbb\xbf" + TRAINER.replace("\n", "\r\n").encode())
    Path("compose.yaml").chmod(0o750)
    run("--fix")
    assert Path("compose.yaml").read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(Path("compose.yaml").stat().st_mode) == 0o750


def test_fix_of_selected_rules_only(run: Run) -> None:
    run("--fix", "--select", "SHM2", compose=TRAINER)
    assert Path("compose.yaml").read_text() == TRAINER


def test_diff(run: Run) -> None:
    result = run("--diff", compose=TRAINER)
    assert result.stdout == DIFF
    assert Path("compose.yaml").read_text() == TRAINER
    assert run("--fix", "--diff").stdout == DIFF, "--diff never writes"
    assert Path("compose.yaml").read_text() == TRAINER


def test_a_diff_keeps_line_endings(run: Run) -> None:
    Path("compose.yaml").write_bytes(TRAINER.replace("\n", "\r\n").encode())
    result = run("--diff")
    assert b"+    shm_size: 8gb\r\n" in result.stdout_bytes
    run("--diff", "--output", "it.diff")
    assert Path("it.diff").read_bytes() == result.stdout_bytes
    assert b"No newline" in run("--diff", compose=TRAINER.rstrip("\n")).stdout_bytes


def test_a_file_that_cannot_be_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    result = run("--fix", "--exit-zero", compose=TRAINER)
    assert result.exit_code == 2
    assert "compose.yaml: cannot be written: Permission denied" in result.stderr
    assert Path("compose.yaml").read_text() == TRAINER
    assert sorted(p.name for p in Path().iterdir()) == [".git", "compose.yaml"]


def test_a_report_tells_what_was_written_and_what_was_not(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = os.replace

    def refuse(source: str, target: str) -> None:
        if "b" in os.path.basename(os.path.dirname(target)):
            raise PermissionError(13, "Permission denied")
        honest(source, target)

    for name in ("a", "b", "c"):
        write(Path(), {f"{name}/compose.yaml": TRAINER})
    monkeypatch.setattr(os, "replace", refuse)
    result = run("--fix", "a", "b", "c")
    assert result.exit_code == 2
    assert [Path(name, "compose.yaml").read_text() for name in "abc"] == [FIXED, TRAINER, FIXED]
    assert result.stdout.startswith("b/compose.yaml:2:3: error SHM101")
    assert result.stdout.splitlines()[-2] == "1 error; 2 fixed; 1 can be fixed with --fix"


def test_files_of_one_fix_are_written_together_or_not_at_all(run: Run) -> None:
    base = TRAINER.replace("gpus: all\n", "gpus: all\n    ipc: host\n    shm_size: 8gb\n")
    over = "services:\n  trainer:\n    restart: always\n    shm_size: 16gb\n"
    write(Path(), {"compose.yaml": base, "compose.override.yaml": over})
    os.chmod("compose.override.yaml", 0o444)
    result = run("--fix")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "shmlint: compose.override.yaml: cannot be written: it is read-only",
        "shmlint: compose.yaml: left unchanged, as compose.override.yaml is",
    ]
    assert Path("compose.yaml").read_text() == base
    os.chmod("compose.override.yaml", 0o644)
    run("--fix")
    assert "shm_size" not in Path("compose.yaml").read_text() + Path("compose.override.yaml").read_text()


# Standard input --------------------------------------------------------------------------------


def test_standard_input_is_taken_for_what_it_looks_like(run: Run) -> None:
    script = "#!/bin/bash\ndocker run --gpus all nvcr.io/nvidia/pytorch:24.01-py3\n"
    assert run("-", stdin=script).stdout.startswith("script.sh:2:1: error SHM101")
    assert run("-", "--fix", stdin=script).stdout == script.replace("all ", "all --shm-size=8g ")


def test_standard_input(run: Run) -> None:
    result = run("-", stdin=TRAINER)
    assert result.exit_code == 1
    assert result.stdout.startswith("compose.yaml:2:3: error SHM101")
    named = run("-", "--stdin-filename", "deploy/gpu.yml", stdin=TRAINER)
    assert named.stdout.startswith("deploy/gpu.yml:2:3: error SHM101")
    assert list(Path().iterdir()) == [Path(".git")]


def test_fixing_standard_input(run: Run) -> None:
    text = "\ufeff" + TRAINER.replace("\n", "\r\n")
    result = run("-", "--fix", stdin=text.encode())
    assert result.exit_code == 0
    assert result.stdout_bytes == ("\ufeff" + FIXED.replace("\n", "\r\n")).encode()
    assert result.stderr == REPAIRED
    unchanged = run("-", "--fix", stdin=FINE)
    assert unchanged.stdout == FINE
    broken = run("-", "--fix", stdin="services: [\n")
    assert (broken.exit_code, broken.stdout) == (1, "services: [\n")


def test_the_diff_of_standard_input(run: Run) -> None:
    result = run("-", "--diff", stdin=TRAINER)
    assert (result.exit_code, result.stdout) == (1, DIFF)


def test_standard_input_that_is_no_text(run: Run) -> None:
    result = run("-", stdin=b"\xff\xfe")
    assert result.exit_code == 2 and "not UTF-8" in result.stderr


# What is shown ---------------------------------------------------------------------------------


def test_json(run: Run) -> None:
    found = json.loads(run("--format", "json", compose=TRAINER).stdout)
    assert found["version"] == 2 and found["findings"][0]["rule"] == "SHM101"
    after = json.loads(run("--format", "json", "--fix").stdout)
    assert after["findings"] == [] and after["summary"]["fixed"] == len(after["fixed"]) == 1


def test_output(run: Run) -> None:
    shown = run(compose=TRAINER).stdout
    result = run("--output", "report.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert Path("report.txt").read_text() == shown
    run("--format", "json", "--output", "report.json")
    assert json.loads(Path("report.json").read_text())["summary"]["error"] == 1


def test_inventory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TRAINER.replace("  trainer:", f"  trainer-{'x' * 60}:")
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = rf"^compose\.yaml:2  trainer-{'x' * 60}  nvcr\.io/nvidia/pytorch:[\w.-]+  "
    assert re.search(whole, run("inventory", compose=text).stdout, re.M), "nothing is cut in a pipe"
    run("inventory", "--output", "list.txt")
    assert re.search(whole, Path("list.txt").read_text(), re.M)
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run("inventory").stdout
    assert re.search(r"^compose\.yaml\n  2 +traine[-rx]*…", narrow, re.M) and max(map(len, narrow.splitlines())) <= 60
    assert json.loads(run("inventory", "--format", "json", compose=TRAINER).stdout)["launches"][0]["name"] == "trainer"
    assert run("inventory", compose="services: {}\n").stdout == "0 launches\n"


def test_verbose_says_what_is_spared(run: Run) -> None:
    text = "services:\n  x:\n    image: ollama/ollama\n    gpus: all\n"
    assert run(compose=text).stdout == f"nothing found; {READ}\n"
    assert "no larger /dev/shm needed: Ollama" in run("--verbose").stdout
    assert "no larger" in run("-v").stdout
    Path("pod.yaml").write_text("kind: Pod\napiVersion: v1\nspec: {containers: [{image: {{a}}}]}\n", encoding="utf-8")
    assert run(compose=text).stdout.replace("\n", " ").endswith("not read (1 template); see --verbose ")
    assert run("-v").stdout.replace("\n", " ").endswith("not read (1 template) ")
    Path("pod.yaml").unlink()
    assert "service `trainer`: large enough: /dev/shm is 8 GiB\n" in run("-v", compose=FIXED).stdout


def test_a_launch_with_an_option_that_docker_does_not_know_is_shown(run: Run) -> None:
    write(Path(), {"run.sh": "docker run --gpus all --e A=1 x\ndocker run --gpus all $X ollama/ollama\n"})
    shown = run().stdout
    assert shown.startswith("run.sh:1:1: `docker run`: not checked: unknown flag: --e; what follows is not\n  read\n")
    assert "run.sh:2" not in shown and shown.endswith("2 launches, 2 with a GPU (2 not checked); see\n--verbose\n")
    assert "run.sh:2" in run("-v").stdout and "--verbose" not in run("-v").stdout


def test_scripts_of_different_shells_are_counted_together(run: Run) -> None:
    write(Path(), {"a.sh": "docker run redis\n", "b.fish": "docker run redis\n", "compose.yaml": "services: {}\n"})
    assert "read 2 scripts, 1 Compose file: 2" in run().stdout


@table("options", ["--e A=1", "--shm-size=x"])
def test_verbose_is_not_proposed_where_it_says_no_more(run: Run, options: str) -> None:
    write(Path(), {"run.sh": f"docker run --gpus all {options} nvcr.io/nvidia/pytorch:24.01-py3\n"})
    assert run().stdout.endswith("1 with a GPU (1 not checked)\n")
    assert run("-v").stdout == run().stdout


def test_quiet(run: Run) -> None:
    assert run("-q", compose=FINE).stdout == ""
    assert "1 error" not in run("--quiet", compose=TRAINER).stdout


def test_colour(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in run("--color", "always", compose=TRAINER).stdout
    assert "\x1b[" not in run("--color", "never").stdout
    assert "\x1b[" not in run().stdout
    run("--color", "always", "--output", "report.txt")
    assert "\x1b[" in Path("report.txt").read_text(), "always is always"
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in run("--color", "always").stdout, "an option overrides NO_COLOR"


@pytest.mark.needs("posix")
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)  # fmt: skip
def test_colours_on_a_terminal(tmp_path: Path, environment: dict[str, str], coloured: bool) -> None:
    import pty

    write(tmp_path, {"compose.yaml": TRAINER})
    master, slave = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    env = kept | {"TERM": "xterm"} | environment
    subprocess.run([sys.executable, "-m", "shmlint"], cwd=tmp_path, stdout=slave, env=env, check=False)
    os.close(slave)
    shown = os.read(master, 100_000)
    os.close(master)
    assert (b"\x1b[31;1m" in shown) == coloured


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.strip().endswith(__version__)
    shown = run("check", "--help").stdout
    for option in (
        "--fix", "--diff", "--format", "--output", "--select", "--ignore", "--fail-on", "--exit-zero", "--verbose",
        "--quiet", "--color", "--config", "--stdin-filename", "Exit status",
    ):  # fmt: skip
        assert option in shown
    assert run("--fix", "--help").stdout == shown


def test_explain(run: Run) -> None:
    shown = run("explain", "SHM101").stdout
    assert shown.startswith("missing-shm-size (SHM101)\n====") and "\nSources\n-------\n" in shown
    assert run("explain", "shm101").stdout == shown == run("explain", "missing-shm-size").stdout


def test_list_rules(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    rules = run("rules").stdout.splitlines()
    assert [line.split()[0] for line in rules] == list(all_rules()), "in a pipe each rule is a line"
    assert ["SHM001", "unreadable-file", "error"] in [line.split()[:3] for line in rules]


def test_the_list_of_rules_fits_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("rules").stdout.splitlines()
    rules = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[0] for line in rules] == list(all_rules())
    assert max(map(len, lines)) <= 80 and len(lines) > len(rules)


# The program as it is started ------------------------------------------------------------------


def test_the_program(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    done = program(cwd=tmp_path)
    assert done.returncode == 1 and b"SHM101" in done.stdout and done.stderr == b""
    assert program("--exit-zero", cwd=tmp_path).returncode == 0
    assert program("--oops", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("debug", [False, True])
def test_what_is_unexpected_is_one_line(tmp_path: Path, debug: bool) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    code = (
        "import shmlint.run, shmlint.cli\n"
        "def lint(*_): raise RuntimeError('a\\nb')\n"
        "shmlint.run.lint = lint\n"
        "shmlint.cli.main()\n"
    )
    env = {**os.environ, **({"SHMLINT_DEBUG": "1"} if debug else {})}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, env=env, check=False)
    if debug:
        assert b"Traceback" in done.stderr
    else:
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1 and b"internal error: RuntimeError: a b" in done.stderr


@pytest.mark.needs("posix")
def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    services = "".join(f"  s{n}:\n    image: nvcr.io/nvidia/nemo\n    gpus: all\n" for n in range(400))
    write(tmp_path, {"compose.yaml": "services:\n" + services})
    started = subprocess.Popen(
        [sys.executable, "-m", "shmlint"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
    )  # fmt: skip
    assert started.stdout is not None and started.stderr is not None
    started.stdout.read(10)
    started.stdout.close()
    assert started.stderr.read() == b""
    assert started.wait() != 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_of_another_encoding(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, {"compose.yaml": TRAINER.replace("trainer", "訓練")})
    done = program(cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert done.returncode == 1 and done.stderr == b""
    assert ("訓練".encode() if encoding == "utf-8" else b"\\u8a13") in done.stdout


@pytest.mark.slow
@pytest.mark.needs("byte_names")
def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff-compose.yaml")).write_text(TRAINER)
    for options in (
        ["--exit-zero"], ["--exit-zero", "--format", "json"], ["inventory"], ["files"], ["--exit-zero", "--diff"],
        ["--exit-zero", "--output", "o"],
    ):  # fmt: skip
        done = program(*options, cwd=tmp_path)
        assert done.returncode == 0 and done.stderr == b"", (options, done.stderr)


# Living with findings --------------------------------------------------------------------------


COMMENT = "  # shmlint: ignore[SHM101] a smoke test"


def test_add_ignore(run: Run) -> None:
    result = run("--add-ignore", "a smoke test", compose=TRAINER)
    assert (result.exit_code, result.stdout) == (0, "1 finding suppressed in 1 file\n")
    assert Path("compose.yaml").read_text() == TRAINER.replace("trainer:", f"trainer:{COMMENT}")
    assert run().exit_code == 0
    again = run("--add-ignore", "a smoke test")
    assert again.stdout == "0 findings suppressed in 0 files\n"


def test_add_ignore_of_what_has_no_launch(run: Run) -> None:
    result = run("--add-ignore", "x", compose="services: [\n")
    assert "compose.yaml:2: SHM001: no comment was added" in result.stdout
    assert Path("compose.yaml").read_text() == "services: [\n"


def test_add_ignore_that_cannot_be_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    result = run("--add-ignore", "x", compose=TRAINER)
    assert result.exit_code == 2 and "Permission denied" in result.stderr
    assert Path("compose.yaml").read_text() == TRAINER


def test_unused_suppressions_are_removed(run: Run) -> None:
    text = FIXED.replace("trainer:", f"trainer:{COMMENT}")
    assert "  unused suppression: SHM101 has no finding here\n" in run(compose=text).stdout
    assert f"-  trainer:{COMMENT}\n+  trainer:\n" in run("--diff").stdout
    assert "1 fixed" in run("--fix").stdout
    assert Path("compose.yaml").read_text() == FIXED
    assert run("-", "--fix", stdin=text).stdout == FIXED


def test_baseline(run: Run) -> None:
    result = run("--baseline", "known.json", "--update-baseline", compose=TRAINER)
    assert (result.exit_code, result.stdout) == (0, "known.json accepts 1 finding\n")
    assert run().exit_code == 1
    accepted = run("--baseline", "known.json")
    assert (accepted.exit_code, accepted.stdout) == (0, f"nothing found; {READ}; 1 in the baseline\n")
    moved = TRAINER.replace("services:", "# moved\n\nservices:")
    assert run("--baseline", "known.json", compose=moved).exit_code == 0
    run("--baseline", "known.json", "--fix")
    assert Path("compose.yaml").read_text() == moved, "what is accepted is not repaired"
    more = TRAINER + TRAINER.removeprefix("services:\n").replace("trainer", "other")
    result = run("--baseline", "known.json", compose=more)
    assert result.exit_code == 1 and "other" in result.stdout and "`trainer`" not in result.stdout
    run("--baseline", "known.json", "--fix")
    assert Path("compose.yaml").read_text() == more + "    shm_size: 8gb\n"
    run("--baseline", "known.json", "--update-baseline", compose=FINE)
    assert json.loads(Path("known.json").read_text()) == {"version": 1, "findings": []}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "findings": []}', '{"version": 1}'])
def test_what_is_no_baseline(run: Run, text: str) -> None:
    Path("known.json").write_text(text)
    result = run("--baseline", "known.json", compose=TRAINER)
    assert result.exit_code == 2 and "known.json: not a baseline" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "no.json"], "no.json: no such file or directory (--update-baseline creates it)"),
        (["--baseline", "no/such.json", "--update-baseline"], "no/such.json: No such file"),
        (["--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--unsafe-fixes"], "--unsafe-fixes needs --fix or --diff"),
        (["--add-ignore", "x", "-"], "--add-ignore needs files"),
        (["--add-ignore", "x", "--fix"], "--fix and --add-ignore cannot be used together"),
        (["--baseline", "b", "--update-baseline", "--diff"], "--diff and --update-baseline cannot be used together"),
    ],
)
def test_what_does_not_go_together(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments, compose=TRAINER)
    assert result.exit_code == 2 and message in result.stderr
    assert Path("compose.yaml").read_text() == TRAINER


def test_statistics(run: Run) -> None:
    write(Path(), {"a/compose.yaml": TRAINER, "b/compose.yaml": TRAINER, "c/compose.yaml": NOTE})
    shown = run("--statistics").stdout.splitlines()
    assert shown[-2:] == ["2 SHM101 missing-shm-size (2 can be fixed)", "1 SHM103 shm-size-below-recommended"]
    machine = run("--statistics", "--format", "json")
    assert json.loads(machine.stdout) and machine.stderr.startswith("2 SHM101")
    assert run("--statistics", "--output", "report.txt").stdout == ""
    assert not run("--statistics", "--fix", "a").stdout.endswith("can be fixed)\n")


def test_show_settings(run: Run) -> None:
    write(Path(), {".shmlint.yaml": "shm-size: 16gb\n"})
    shown = run("settings").stdout
    assert shown.startswith("# settings file: .shmlint.yaml\n")
    assert 'shm-size: "16g"  # .shmlint.yaml:1\n' in shown and "ignore: []  # default\n" in shown
    write(Path(), {".shmlint.yaml": "shm-sise: 16gb\n"})
    assert run("settings").exit_code == 2


@pytest.mark.parametrize("first", [0, 1])
def test_the_settings_hang_on_no_order(run: Run, first: int) -> None:
    """Each file follows its own."""
    write(Path(), {".shmlint.yaml": "severity: {SHM101: note}\n", "x/.shmlint.yaml": "ignore: [SHM101]\n"})
    paths = ["x/compose.yaml", "y/compose.yaml"]
    for path in paths:
        write(Path(), {path: TRAINER})
    assert run(paths[first], paths[1 - first]).stdout.count(": note SHM101") == 1
    assert "nothing found" in run("x/compose.yaml").stdout
    assert "nothing found" in run("x").stdout


@pytest.mark.parametrize("text", ["severity: {SHM999: note}", "per-file-ignores: {'*': [SHM999]}"])
def test_rules_in_settings_exist(run: Run, text: str) -> None:
    write(Path(), {".shmlint.yaml": text})
    result = run(compose=TRAINER)
    assert result.exit_code == 2
    assert result.stderr.startswith((".shmlint.yaml:1:12: unknown", ".shmlint.yaml:1:26: unknown"), len("shmlint: "))


# Files that are not read -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("notes.txt", "hello\n", "not a Compose file"),
        ("Dockerfile", "FROM x\n", "starts no container"),
        ("train.py", "import os\n", "a program starts no container"),
        ("x.ipynb", '{"cells": [{"source": ["!docker run --gpus all x"]}]}\n', "notebooks are not read"),
        ("values.yaml", "replicas: 1\n", "no `services`"),
        ("data.json", "{}\n", "docker inspect"),
        ("pod.yaml", "apiVersion: v1\nkind: Pod\nname: {{ .Values.a }}\nimage: a\n", "helm template"),
        ("pod.yaml.j2", "apiVersion: v1\nkind: Pod\nimage: a\n", "it is a template"),
        ("pod.yaml", "apiVersion: v1\nkind: Pod\nimage: [a\n", "its syntax is broken"),
    ],
)
def test_a_file_that_is_not_read_is_not_clean(run: Run, name: str, text: str, hint: str) -> None:
    Path(name).write_text(text)
    alone = run(name)
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert f"{name} is not read" in alone.stderr and hint in alone.stderr
    together = run(name, "compose.yaml", compose=FINE)
    assert together.exit_code == 0 and f"{name} is not read" in together.stderr
    assert "1 not read" in " ".join(together.stdout.split())
    assert re.search(rf"{name}:[1-4]: not read", run("-v", name, "compose.yaml").stdout)
    hook = run("--force-exclude", name)
    assert (hook.exit_code, hook.stderr) == (0, ""), "a hook names whatever a commit changes"
    assert "no file to check" in hook.stdout


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("docker run --gpus all --rm nvcr.io/nvidia/nemo python x.py\n", "script.sh:1:1: "),
        (TRAINER, "compose.yaml:2:3: "),
    ],
)
def test_standard_input_is_recognised_by_what_it_holds(run: Run, text: str, start: str) -> None:
    assert run("-", stdin=text).stdout.startswith(start)


def test_standard_input_that_is_nothing_that_is_read(run: Run) -> None:
    result = run("-", stdin="hello\n")
    assert result.exit_code == 2 and "--stdin-filename" in result.stderr


# Severities ------------------------------------------------------------------------------------


def test_what_is_below_the_least_severity_is_neither_shown_nor_fixed(run: Run) -> None:
    dead = "  dead:\n    image: x\n    gpus: all\n    ipc: host\n    shm_size: 8gb\n"
    text = TRAINER + dead
    assert "SHM204" in run(compose=text).stdout
    shown = run("--min-severity", "error").stdout
    assert "SHM101" in shown and "SHM204" not in shown
    run("--min-severity", "error", "--fix")
    assert Path("compose.yaml").read_text() == FIXED + dead
    run("--fix")
    assert Path("compose.yaml").read_text() == FIXED + dead.replace("    shm_size: 8gb\n", "")


def test_a_size_for_an_unknown_workload_is_our_choice(run: Run) -> None:
    text = "services:\n  x:\n    image: example/x\n    gpus: all\n"
    left = run("--fix", compose=text).stdout
    assert "fixed SHM" not in left and "1 can be fixed with --fix --unsafe-fixes" in left
    result = run("--fix", "--unsafe-fixes")
    assert "compose.yaml:5: fixed SHM101 added `shm_size: 1gb`, a size of our choice\n" in result.stdout


def test_concise(run: Run) -> None:
    result = run("--format", "concise", compose=TRAINER)
    assert result.exit_code == 1
    assert result.stdout.startswith("compose.yaml:2:3: error SHM101 GPU service `trainer` gets 64 MiB of /dev/shm")
    assert result.stdout.count("\n") == 1
    assert run("--format", "concise", compose=FINE).stdout == ""


def test_dead_entries_of_a_baseline_are_reported(run: Run) -> None:
    run("--baseline", "known.json", "--update-baseline", compose=TRAINER)
    assert "SHM101 is in the baseline but no longer found" in run("--baseline", "known.json", compose=FIXED).stdout


@pytest.mark.parametrize(
    ("variables", "colour"), [({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({}, False)]
)
def test_colours_by_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], colour: bool
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run(compose=TRAINER).stdout) == colour


def test_the_width_is_that_of_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(compose=TRAINER).stdout.splitlines()
    assert all(len(line) <= 60 or "/" in line for line in lines)
    assert any(line.endswith("and needs") for line in lines)


def test_what_is_proved_is_said(run: Run) -> None:
    def fixes(*options: str) -> list[bool]:
        found = run(*options, "--format", "json", compose=TRAINER)
        assert found.exit_code == 1
        return [finding["fix"]["proved"] for finding in json.loads(found.stdout)["findings"]]

    assert (fixes(), fixes("--diff")) == ([False], [True])
    assert [done["proved"] for done in json.loads(run("--fix", "--format", "json").stdout)["fixed"]] == [True]
