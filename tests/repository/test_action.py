"""The GitHub Action and the project's own workflows: their shape, and their scripts as bash runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.cli.test_check import TRAINER
from tests.project import write

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def load(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


ACTION = load(ROOT / "action.yml")
STEPS = ACTION["runs"]["steps"]
SCRIPTS = [step for step in STEPS if "run" in step]


def test_the_shape() -> None:
    assert set(ACTION) == {"name", "description", "author", "branding", "inputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    assert set(ACTION["inputs"]) == {"paths", "args", "sarif", "python-version"}
    for given in ACTION["inputs"].values():
        assert set(given) == {"description", "required", "default"}
        assert given["required"] is False and isinstance(given["default"], str)
    for step in STEPS:
        assert ("run" in step) != ("uses" in step)
        assert ("run" in step) == (step.get("shell") == "bash"), "a composite step with a script names its shell"
    assert [step["uses"].partition("@")[0] for step in STEPS if "uses" in step] == [
        "actions/setup-python", "github/codeql-action/upload-sarif",
    ]  # fmt: skip


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.name)
def test_actions_of_others_are_pinned(path: Path) -> None:
    """A tag can be moved, a commit cannot; the version is in a comment for people."""
    used = [line.partition("uses: ")[2] for line in path.read_text(encoding="utf-8").splitlines() if "uses: " in line]
    assert used
    for use in used:
        assert use.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use


def test_every_input_is_used_and_every_use_is_an_input() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = {part.split()[0].rstrip("}") for part in text.split("inputs.")[1:]}
    assert used == set(ACTION["inputs"])
    ids = {step["id"] for step in STEPS if "id" in step}
    assert {part.split(".")[0] for part in text.split("${{ steps.")[1:]} <= ids


@pytest.mark.needs("bash")
@pytest.mark.parametrize("step", SCRIPTS, ids=[step["name"] for step in SCRIPTS])
def test_scripts(step: dict[str, Any]) -> None:
    assert "${{" not in step["run"], "what a caller gives must not become a part of a script"
    done = subprocess.run(["bash", "-n"], input=step["run"].encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def started(directory: Path, **inputs: str) -> tuple[int, str, str]:
    """Run the step that runs shmlint, as the runner does; status, standard output, and the step's outputs."""
    (script,) = (step["run"] for step in SCRIPTS if step["id"] == "run")
    program = directory / "bin" / "shmlint"
    write(directory, {"bin/shmlint": f'#!/bin/sh\nexec "{sys.executable}" -m shmlint "$@"\n', "bin/script": script})
    program.chmod(0o755)
    outputs = directory / "outputs"
    outputs.write_text("")
    environment = {
        **os.environ, "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(directory / "page"),
        "SHMLINT": str(program), "PATHS": ".", "ARGS": "", "SARIF": "", **inputs,
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "bin/script"],
        cwd=directory, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(), outputs.read_text()


@pytest.mark.needs("bash")
def test_it_annotates_and_fails(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    status, shown, outputs = started(tmp_path)
    assert status == 1 and outputs == ""
    assert shown.startswith("::error title=SHM101 missing-shm-size,file=compose.yaml,line=2,")
    assert "SHM101" in (tmp_path / "page").read_text()


@pytest.mark.needs("bash")
def test_it_writes_sarif(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": TRAINER})
    status, _, outputs = started(tmp_path, SARIF="out put.sarif", ARGS="--exit-zero  --ignore\tSHM103")
    assert (status, outputs) == (0, "sarif=written\n")
    assert json.loads((tmp_path / "out put.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert started(tmp_path, SARIF="out.sarif", ARGS="--no-such-option")[::2] == (2, "")


@pytest.mark.needs("bash")
def test_paths_are_one_a_line(tmp_path: Path) -> None:
    write(tmp_path, {f"{name}/compose.yaml": TRAINER for name in ("a b", "-c", "$(touch owned)", "d")})
    status, shown, _ = started(tmp_path, PATHS="a b\r\n-c\n\n$(touch owned)\n", ARGS="--fail-on error")
    assert status == 1
    files = [line.partition("file=")[2].partition(",")[0] for line in shown.splitlines()[:-1]]
    assert sorted(files) == ["$(touch owned)/compose.yaml", "-c/compose.yaml", "a b/compose.yaml"]
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_workflows(path: Path) -> None:
    workflow = load(path)
    assert {"name", "on", "permissions", "jobs"} <= set(workflow)
    assert workflow["permissions"] == {"contents": "read"}, "a job that needs more requests it"
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps", "timeout-minutes"} <= set(job)
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_ci_runs_everywhere() -> None:
    matrix = load(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix == {
        "os": ["ubuntu-latest", "macos-latest", "windows-latest"], "python": ["3.11", "3.12", "3.13", "3.14"],
    }  # fmt: skip


def test_a_release_needs_no_secret() -> None:
    path = ROOT / ".github" / "workflows" / "release.yml"
    jobs = load(path)["jobs"]
    assert "secrets." not in path.read_text(encoding="utf-8")
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert jobs["publish"]["needs"] == "build" and not [s for s in jobs["publish"]["steps"] if "run" in s]
