"""Which command counts, the help of each, and what a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from shmlint.cli import HOOKS, checking, main
from shmlint.cli import program as cli
from tests.cli.test_check import DIFF, TRAINER, Run, run
from tests.project import write

__all__ = ["run"]


def test_only_the_first_argument_names_a_command(run: Run) -> None:
    write(Path(), {"size/compose.yaml": TRAINER, "compose.yaml": TRAINER})
    for arguments in (["./size"], ["check", "size"], ["--", "size"], ["-q", "size"]):
        result = run(*arguments)
        assert result.exit_code == 1 and result.stdout.startswith("size/compose.yaml:2:3: error SHM101"), arguments
    assert run("size", "size").stdout.startswith("unknown workload")
    assert run("check", "--diff", "compose.yaml").stdout == run("--diff", "compose.yaml").stdout == DIFF
    assert run("--fix", "files").stderr == "shmlint: files: no such file or directory\n"


@pytest.mark.parametrize("name", ["", *cli.COMMANDS])
def test_help_is_short_and_breaks_no_word(run: Run, name: str) -> None:
    shown = run(*name.split(), "--help").stdout
    assert shown == run(*name.split(), "-h").stdout
    assert shown.startswith(f"Usage: shmlint {name}".rstrip())
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) <= 75
    command = cli.program.get_command(None, name) if name else cli.program  # type: ignore[arg-type]
    assert command is not None
    for option in (option for parameter in command.params for option in parameter.opts if option.startswith("--")):
        assert option in shown.split() or f"{option}," in shown.split(), option


def test_each_command_has_its_own_options(run: Run) -> None:
    for arguments in (["--camera", "1x1"], ["--gpus", "2"], ["rules", "--fix"], ["inventory", "--fix"],
                      ["files", "--diff"], ["settings", "--format", "json"]):  # fmt: skip
        result = run(*arguments, compose=TRAINER)
        assert result.exit_code == 2 and result.stderr.count("\n") == 1, arguments
        assert result.stderr.startswith("shmlint: No such option"), arguments


@pytest.mark.parametrize(
    ("words", "expected", "absent"),
    [
        (["shmlint", ""], {"check", "inventory", "settings"}, {"--fix"}),
        (["shmlint", "in"], {"inventory"}, {"check"}),
        (["shmlint", "--f"], {"--fix", "--format", "--fail-on"}, {"--diff"}),
        (["shmlint", "--select", "shm20"], {"SHM201", "SHM204"}, {"SHM101"}),
        (["shmlint", "--fix", "--ignore", "SHM101,missing"], {"SHM101,missing-shm-size"}, set()),
        (["shmlint", "check", "--format", "js"], {"json"}, {"text"}),
        (["shmlint", "--output-file", "sar"], {"sarif:"}, {"text:"}),
        (["shmlint", "explain", "vll"], {"vllm"}, {"ray"}),
        (["shmlint", "explain", "workload:vll"], {"workload:vllm"}, {"vllm"}),
        (["shmlint", "size", "fri"], {"frigate"}, {"vllm"}),
    ],
)  # fmt: skip
def test_completion(words: list[str], expected: set[str], absent: set[str]) -> None:
    environment = {
        "_SHMLINT_COMPLETE": "zsh_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    completed = CliRunner().invoke(cli.program, env=environment, prog_name="shmlint").stdout.splitlines()[1::3]
    assert expected <= set(completed) and not absent & set(completed)


def uncovered() -> dict[str, str]:
    """The environment without what starts the measurement of coverage, which imports much."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


def test_a_command_imports_no_other() -> None:
    code = (
        "import sys; from shmlint.cli.program import program; program.main([{!r}], standalone_mode=False); "
        "print(*[n for n in sys.modules if n.startswith(('shmlint.', 'ruamel', 'tree_sitter', 'json'))])"
    )
    cases = {"--version": {"shmlint.cli.check", "json", "shmlint.run"}, "rules": {"shmlint.cli.check"}}
    for first, others in cases.items():
        done = subprocess.run(
            [sys.executable, "-c", code.format(first)], capture_output=True, text=True, check=True,
            env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        assert not others & set(done.stdout.splitlines()[-1].split())


def test_paths_alone_mean_what_the_parser_makes_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[checking.Options] = []

    def note(options: checking.Options) -> int:
        given.append(options)
        return 0

    monkeypatch.setattr(checking, "check", note)
    for paths in ([], ["a.yaml", "", "b c/*", "é"], ["a", "size"]):
        monkeypatch.setattr(sys, "argv", ["shmlint", *paths])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        CliRunner().invoke(cli.program, paths)
        assert given == [checking.Options(tuple(paths))] * 2
        given.clear()
    for paths in ([], ["a.yaml", "b.yaml"]):
        monkeypatch.setattr(sys, "argv", ["shmlint", "--format", "concise", *paths])
        with pytest.raises(SystemExit):
            main()
        CliRunner().invoke(cli.program, ["--format", "concise", *paths])
        assert given == [checking.Options(tuple(paths), format="concise")] * 2
        given.clear()
    for hook, fixes in HOOKS.items():
        for paths in (["a.yaml", "--fix", "-"], ["size"]):
            monkeypatch.setattr(sys, "argv", ["shmlint", *hook, *paths])
            with pytest.raises(SystemExit):
                main()
            CliRunner().invoke(cli.program, [*hook, *paths])
            assert given == [checking.Options(tuple(paths), fix=fixes, force_exclude=True)] * 2
            given.clear()


def test_paths_alone_start_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    monkeypatch.chdir(tmp_path)
    code = "import atexit, sys; from shmlint import cli; "
    code += "atexit.register(lambda: print('click' in sys.modules)); cli.main()"
    for arguments, is_parsed in (
        ([], False), (["compose.yaml"], False), (["gone.yaml"], False), (["-V"], False), (["files"], True),
        ([*next(iter(HOOKS)), "compose.yaml"], False), (["--format", "json", "compose.yaml"], False),
        (["--format", "json", "files"], True), (["--format", "json", "-q"], True), (["--format", "xml"], True),
        (["--format"], True),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
            env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        parsed = CliRunner().invoke(cli.program, arguments)
        assert done.stdout == f"{parsed.stdout}{is_parsed}\n", arguments
        assert (done.stderr, done.returncode) == (parsed.stderr, parsed.exit_code), arguments


def test_the_hook_that_repairs_loads_little(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    code = "import atexit, sys; from shmlint import cli; atexit.register(lambda: print(*sys.modules)); cli.main()"
    (hook,) = (hook for hook, fixes in HOOKS.items() if fixes)
    done = subprocess.run(
        [sys.executable, "-c", code, *hook, "compose.yaml"], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert {"shmlint.fixing.fix", "click", "inspect"} & set(done.stdout.split()) == {"shmlint.fixing.fix"}


def test_what_decides_nothing_is_not_loaded(tmp_path: Path) -> None:
    write(tmp_path, {
        "none.yaml": "services:\n  a:\n    image: nginx\n",
        "sized.yaml": "services:\n  a:\n    image: x\n    command: python -V\n    gpus: all\n    shm_size: 16gb\n",
    })  # fmt: skip
    code = "import atexit, sys; from shmlint import cli; "
    code += "atexit.register(lambda: print(*sys.modules)); cli.main()"
    assess, mechanisms = "shmlint.workloads.assess", "shmlint.workloads.mechanisms"
    expected: dict[str, set[str]] = {"none": set(), "sized": {assess}}
    for name, loaded in expected.items():
        done = subprocess.run(
            [sys.executable, "-c", code, f"{name}.yaml"], capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**uncovered(), "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        modules = set(done.stdout.splitlines()[-1].split())
        assert {assess, mechanisms, "ast", "tree_sitter", "jsonschema", "subprocess"} & modules == loaded, name
