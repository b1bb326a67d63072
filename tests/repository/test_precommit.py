"""The hooks: which files they take, and what they do in a repository of their own."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from shmlint import cli
from shmlint.files.kinds import classify
from tests.needs import need
from tests.project import write
from tests.table import table

ROOT = Path(__file__).parents[2]
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}


@pytest.mark.parametrize("name", ["shmlint", "shmlint-scripts"])
def test_the_two_hooks_differ_in_what_they_do(name: str) -> None:
    check, repair = HOOKS[name], HOOKS[f"{name}-fix"]
    assert (check["entry"], repair["entry"]) == ("shmlint check --force-exclude", "shmlint check --force-exclude --fix")
    assert check["args"] == repair["args"] == ["--"], "a file name is never taken for an option"
    for hook, fixes in ((check, False), (repair, True)):
        options = cli._without_click([*hook["entry"].split()[1:], *hook["args"], "a.yaml"])
        assert options is not None and options.fix is fixes, "it starts without click"
    assert check["files"] == repair["files"] and check.get("types") == repair.get("types")
    # Calls side by side would write one file twice, and each would lack the other's files.
    assert check["require_serial"] and repair["require_serial"]


def taken(path: str) -> bool:
    """Whether pre-commit passes a path: it searches, as Python's `re` does."""
    return re.search(HOOKS["shmlint"]["files"], path) is not None


@table(
    "path",
    [
        "compose.yaml", "docker-compose.yml", "deploy/docker-compose.gpu.yml", "compose.override.yaml",
        "Docker-Compose.YML", "stacks/docker-stack.prod.yaml",
        "run.sh", "scripts/train.bash", "x.zsh", "jobs/train.sbatch", "x.slurm",
        "Taskfile.yml", "taskfile.dist.yaml", "docker.Taskfile.yml",
        "Jenkinsfile", "ci/Jenkinsfile.gpu", "gpu.jenkinsfile", "vars/train.groovy", "x.fish", "run.ps1", "a.bat",
        "a.adoc", "b.ipynb",
        "train.service", "train@.service.in", "x.service.d/gpu.conf", "llm.container", "x.container.j2",
        "Makefile", "GNUmakefile", "docker/Makefile.gpu", "dev.mk",
        "justfile", ".justfile", "tasks.just", "README.md", "docs/run.rst", "a.mdx", "a.markdown",
        ".github/workflows/ci.yml", ".github/workflows/deep/er.yaml", ".github/actions/x/action.yml", "action.yml",
        ".gitlab-ci.yml", "ci/gpu.gitlab-ci.yml", ".gitlab/ci/gpu.yml", ".circleci/config.yml", "azure-pipelines.yml",
        ".travis.yml", ".drone.yml", "cloudbuild.yaml", ".buildkite/pipeline.yml",
        ".devcontainer.json", ".devcontainer/devcontainer.json", ".devcontainer/gpu/devcontainer.json",
        "templates/src/.devcontainer/devcontainer.json",
    ],
)  # fmt: skip
def test_what_is_read_is_taken(path: str) -> None:
    assert taken(path)
    assert classify(path, lambda: b"") is not None


@table(
    "path",
    [
        "Dockerfile", "LICENSE", "main.py", "values.yaml", "k8s/deployment.yml", "package.json", "devcontainer.json5",
        "devcontainer-lock.json", ".devcontainer/Dockerfile", "mydevcontainer.json", "compose.json",
        "compose.yaml.bak", "compose/values.yaml", "run.sh.j2", "makefiles/x.txt", "x.mkd", "README.md.orig",
        ".github/dependabot.yml", ".github/CODEOWNERS", ".github/workflows/notes.txt", "travis.yml", "run.ps1xml",
        "a.rstx", "justfile.py", "docker-stack/values.yml", "bin/train",
    ],
)  # fmt: skip
def test_what_is_not_read_is_not(path: str) -> None:
    assert not taken(path)
    assert classify(path, lambda: b"") is None


FOLDERS = (
    "", "a/", "a b/é/", "compose/", ".github/", ".github/workflows/", "x/.github/workflows/y/", ".github/actions/z/",
    ".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".semaphore/", "azure-pipelines/", ".azure-pipelines/",
    ".devcontainer/", ".git/", "x.service.d/", "makefile/", "Makefile.d/",
)  # fmt: skip
STEMS = (
    "", "compose", "docker-compose", "Docker-Compose.GPU", "my-compose-x", "docker-stack", "docker-stack.prod",
    "xdocker-stack", "makefile", "Makefile", "GNUmakefile", "x.Makefile", "justfile", ".justfile", "xjustfile",
    "devcontainer", ".devcontainer", "x.devcontainer", "action", "xaction", ".gitlab-ci", "x.gitlab-ci", "gitlab-ci",
    ".travis", "travis", ".drone", ".woodpecker", ".cirrus", "cirrus", "appveyor", ".appveyor", "buildspec",
    "codefresh", "azure-pipelines", "azure-pipelines-x", "xazure-pipelines", "bitbucket-pipelines", "cloudbuild",
    "README", "x", "Taskfile", "taskfile.dist", "x.Taskfile", "mytaskfile", "Jenkinsfile", "x.Jenkinsfile",
    "Jenkinsfiles", ".bashrc", ".profile", "profile", ".envrc", "x.envrc",
)  # fmt: skip
ENDINGS = (
    "", ".yml", ".yaml", ".YML", ".json", ".jsonc", ".md", ".mdx", ".markdown", ".rst", ".sh", ".bash", ".ksh", ".zsh",
    ".fish", ".sbatch", ".slurm", ".mk", ".service", ".container", ".adoc", ".org", ".ipynb", ".Rmd", ".qmd",
    ".service.in", ".conf", ".groovy", ".just", ".gpu", ".txt", ".yml.j2", ".md~",
)  # fmt: skip


def test_the_hooks_and_the_program_know_the_same_names() -> None:
    wrong = [
        path
        for path in map("".join, itertools.product(FOLDERS, STEMS, ENDINGS))
        if path and not path.endswith("/") and taken(path) != (classify(path, lambda: b"") is not None)
    ]
    assert wrong == []


# In a repository of its own --------------------------------------------------------------------

BAD = """\
services:
  trainer:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: torchrun --nproc_per_node=8 train.py
    gpus: all
"""


class Repository:
    """A scratch repository whose hooks come from this checkout."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PRE_COMMIT", "SHMLINT", "GITHUB"))}
        self.environment = keep | {
            "PRE_COMMIT_HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        }  # fmt: skip
        self.run("git", "init", "-q")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, encoding="utf-8"
        )

    def add(self, files: dict[str, str]) -> None:
        write(self.folder, files)
        self.run("git", "add", "-A")

    def try_hook(self, hook: str) -> subprocess.CompletedProcess[str]:
        # A path with changes that are not committed is copied with them.
        return self.run(sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), hook, "--all-files", "--color=never")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environments it makes."""
    need("checkout")
    return tmp_path_factory.mktemp("pre-commit")


@pytest.mark.packaging
@pytest.mark.xdist_group("packaging")
def test_a_bad_commit_is_blocked_and_repaired(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path, home)
    other = {"LICENSE": "x", "values.yaml": "a: [", "README.md": "# x\n", ".devcontainer.json": "{}"}
    script = "#!/bin/sh\ndocker run --gpus all {}nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 t.py\n"
    write(tmp_path, {"bin/train": script.format("")})
    (tmp_path / "bin" / "train").chmod(0o755)
    repository.add({"compose.yaml": BAD, **other})

    blocked = repository.try_hook("shmlint")
    assert blocked.returncode == 1, blocked.stdout + blocked.stderr
    assert "SHM101" in blocked.stdout and "compose.yaml:2:3" in blocked.stdout
    assert "values.yaml" not in blocked.stdout
    assert (tmp_path / "compose.yaml").read_text("utf-8") == BAD

    repaired = repository.try_hook("shmlint-fix")
    assert repaired.returncode == 1 and "files were modified by this hook" in repaired.stdout
    assert (tmp_path / "compose.yaml").read_text("utf-8") == BAD + "    shm_size: 8gb\n"
    if os.name != "nt":  # pre-commit asks there, too, whether a file may be executed
        assert "bin/train:2:1" in repository.try_hook("shmlint-scripts").stdout
        assert repository.try_hook("shmlint-scripts-fix").returncode == 1
        assert (tmp_path / "bin" / "train").read_text("utf-8") == script.format("--shm-size=8g ")
    repository.run("git", "add", "-A")
    for hook in HOOKS:
        passed = repository.try_hook(hook)
        assert passed.returncode == 0, passed.stdout + passed.stderr
