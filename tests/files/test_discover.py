"""Which files a run reads, and what kind each is taken for."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shmlint.files import discover as module
from shmlint.files.discover import Found, LeftOut, discover
from shmlint.files.kinds import classify, kind_of
from shmlint.files.read import PathProblem
from shmlint.model.source import Source
from tests.needs import need
from tests.table import table

COMPOSE = "services:\n  web:\n    image: nginx\n"
GIT = shutil.which("git") or ""
ALL = ("compose", "shell", "makefile", "markdown", "ci", "devcontainer")


def unread() -> bytes:
    raise AssertionError("the name decides: the content must not be read")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, entered."""
    top = tmp_path / "tree"
    top.mkdir()
    monkeypatch.chdir(top)
    return top


@pytest.fixture(params=["git", "no git"])
def repository(request: pytest.FixtureRequest, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same directory as a repository, seen with git and by a machine that has none."""
    git(tree, "init", "--quiet")
    if request.param == "no git":
        monkeypatch.setenv("PATH", str(tree))
    return tree


def git(folder: Path, *arguments: str) -> None:
    need("git")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([GIT, *identity, *arguments], cwd=folder, check=True, capture_output=True)


def write(*paths: str, content: str = COMPOSE) -> None:
    for name in paths:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def paths(*named: str, exclude: tuple[str, ...] = (), kinds: tuple[str, ...] = ("compose",)) -> list[str]:
    results = list(discover(named or (".",), exclude=exclude, kinds=kinds))
    assert not [result for result in results if isinstance(result, PathProblem)]
    return [result.path for result in results if isinstance(result, Found)]


# Kinds by name and by content


@table(
    ("path", "kind"),
    [
        ("compose.yml", "compose"),
        ("compose.yaml", "compose"),
        ("docker-compose.yml", "compose"),
        ("Docker-Compose.YAML", "compose"),
        ("a/b/docker-compose.gpu.yml", "compose"),
        ("docker-stack.yml", "compose"),
        ("docker-stack.prod.yaml", "compose"),
        (".devcontainer/docker-compose.yml", "compose"),
        (".buildkite/docker-compose.yml", "compose"),
        (".github/workflows/docker-compose.yml", "ci"),
        (".github/workflows/docker/docker-compose.yml", "compose"),
        (".github/workflows/docker/compose.gpu.yaml", "compose"),
        (".github/workflows/docker/gpu.yml", "ci"),
        (".github/workflows/build.yaml", "ci"),
        (".github/actions/setup/action.yml", "ci"),
        (".gitlab-ci.yml", "ci"),
        ("templates/gpu.gitlab-ci.yml", "ci"),
        (".gitlab/ci/test.yml", "ci"),
        (".circleci/config.yml", "ci"),
        ("azure-pipelines-gpu.yml", "ci"),
        (".azure-pipelines/gpu.yml", "ci"),
        (".azuredevops/gpu.yml", "ci"),
        (".gitea/workflows/gpu.yml", "ci"),
        (".forgejo/workflows/gpu.yaml", "ci"),
        (".cirrus.yml", "ci"),
        ("appveyor.yml", "ci"),
        ("buildspec.yml", "ci"),
        ("action.yml", "ci"),
        (".devcontainer/devcontainer.json", "devcontainer"),
        (".devcontainer/gpu/devcontainer.json", "devcontainer"),
        (".devcontainer.json", "devcontainer"),
        ("Makefile", "makefile"),
        ("GNUmakefile", "makefile"),
        ("docker.Makefile", "makefile"),
        ("Makefile.docker", "makefile"),
        ("Makefile.bat", "makefile"),
        ("Jenkinsfile.md", "markdown"),
        ("gpu.makefile", "makefile"),
        ("rules.mk", "makefile"),
        ("justfile", "makefile"),
        ("README.md", "markdown"),
        ("docs/compose.rst", "markdown"),
        ("docs/use.mdx", "markdown"),
        ("run.sh", "shell"),
        ("docker-compose.sh", "shell"),
        ("compose.rb.txt", None),
        ("notes.txt", None),
        ("docker.txt", None),
        (".envrc", "shell"),
        ("jobs/x.sbatch", "shell"),
        ("x.slurm", "shell"),
        ("home/.bash_aliases", "shell"),
        ("guide.Rmd", "markdown"),
    ],
)
def test_the_name_decides(path: str, kind: str | None) -> None:
    assert classify(path, unread) == kind


@table(
    "path, content, kind",
    [
        ("my-compose-file.yaml", "", "compose"),
        ("my-compose-file.yaml", "{services: {a: {image: x}}}", "compose"),
        ("my-compose-file.yaml", "name: a\nservice:\n  b:\n    image: x\nservices: [", "compose"),
        ("odd\nname compose.yml", "x-gpu: &gpu\n  gpus: all\n", "compose"),
        ("caf\udce9-compose.yml", "include: [other.yaml]\n", "compose"),
        ("compose-values.yaml", "replicaCount: 1\nimage:\n  tag: '${{ x }}'\n", None),
        ("deploy/compose-app.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "kubernetes"),
        ("templates/compose.build.yml", "name: build\njobs:\n  a: {}\n", "compose"),
        ("templates/compose-build.yml", "name: build\njobs:\n  a: {}\n", None),
        ("docker-compose.yml.j2", "a: b\n", None),
        ("compose.yaml.jinja", "services:\n  a: {{ b }}\n", "template"),
        ("docker-compose.json", '{\n  "services": {"a": {"image": "b"}}\n}\n', "compose"),
        ("compose.gpu.json", '{"services" : {}}', "compose"),
        ("compose.json", '{"steps": []}', None),
        ("gpu.json", '{"services": {"a": {"image": "b"}}}', None),
        ("composer.json", '{"services": {"a": {"image": "b"}}}', None),
        ("compose.yaml.example", "services:\n  a: {}\n", "template"),
        ("compose.yaml.bak", "services:\n  a: {}\n", None),
        ("values.yaml.gotmpl", "image: {{ .Values.services }}\n", None),
        ("bin/go", "#!/usr/bin/env fish\n", "fish"), ("bin/go", "#!/bin/cat\nfish\n", None),
    ],
)
def test_the_content_decides_where_only_a_part_of_the_name_fits(path: str, content: str, kind: str | None) -> None:
    assert classify(path, content.encode) == kind


@table(
    ("path", "content"),
    [
        ("gpu.yml", COMPOSE),
        ("my-stack.yaml", COMPOSE),
        ("gpu.yml", "\ufeff" + COMPOSE.replace("\n", "\r\n")),
        ("gpu.yml", "# why\n\nservices:   # all\n  # one\n  a:\n    build: .\n"),
        ("gpu.yml", "version: '3'\nx-base: &base\n  image: a\nservices:\n  a:\n    <<: *base\n"),
        ("gpu.yml", "services:\n  a:\n    extends:\n      service: b\n"),
        ("gpu.yml", "services: {a: {image: b}}\n"),
        ("gpu.yml", '"services":\n  "a":\n    "image": b\n'),
        # The image is in the file that it is put on.
        ("gpu.yml", "services:\n  a:\n    gpus: all\n"),
        ("nvidia.yml", "services:\n  a:\n    runtime: nvidia\n"),
        ("shm.yaml", "services: {a: {'shm_size': 8g}}\n"),
        ("gpu.yaml", "services:\n  a:\n    deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}\n"),
    ],
)
def test_the_content_tells_a_compose_file(path: str, content: str) -> None:
    assert classify(path, lambda: content.encode()) == "compose"


@table(
    ("path", "content"),
    [
        ("workflow.yml", "on: push\njobs:\n  a:\n    services:\n      db:\n        image: postgres\n"),
        ("travis.yml", "services:\n  - docker\nx-a:\n  image: b\n"),
        ("gitlab.yml", "services:\n\n# why\n- docker:dind\ntest:\n  image: python\n"),
        ("render.yaml", "services:\n  - type: web\n    image: a\n"),
        ("woodpecker.yml", "steps:\n  a:\n    image: b\nservices:\n  db:\n    image: c\n"),
        ("values.yaml", "replicaCount: 1\nservices:\n  a:\n    image: b\n"),
        ("symfony.yaml", "services:\n  _defaults:\n    autowire: true\n"),
        ("functions.yaml", "services:\n  api:\n    runtime: nodejs\n    gpus_wanted: 1\n"),
        ("values.yaml", "services:\n  a:\n    gpus: all\nreplicaCount: 1\n"),
        ("image.yml", "image: a\nservices:\n  web:\n    ports: []\n"),
        ("other.yml", "my_services:\n  a:\n    image: b\n"),
        ("deploy.yml", "apiVersion: v1\nservices:\n  a:\n    image: b\n"),
        ("empty.yml", ""),
    ],
)
def test_the_content_tells_what_is_no_compose_file(path: str, content: str) -> None:
    assert classify(path, lambda: content.encode()) is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"#!/bin/bash\n", "shell"),
        (b"#!/usr/bin/env -S sh -e\n", "shell"),
        (b"#!/usr/bin/python3\nsh\n", None),
        (b"\x7fELF", None),
    ],
)
def test_a_shebang_tells_a_script(content: bytes, kind: str | None) -> None:
    assert classify("bin/start", lambda: content) == kind
    assert classify("train.job", lambda: content) == kind


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("compose.py", b"run(['docker', 'run', '--gpus', 'all'])", "unread"),
        ("train.py", b"parser.add_argument('--gpus')", None), ("a.go", b"docker", None),
        ("docker/makefile.py", b"", "makefile"), ("chart/values.yaml", b"nvidia.com/gpu: 1", "unread"),
        ("run.sh.j2", b"docker run {{ x }}", "template"), ("package.json", b"docker run x", "unread"),
        ("README.txt", b"docker run x", "unread"), ("package.json", b"docker", None), ("README", b"", None),
        ("run.sh.in", b"echo docker", None), ("x.yaml", b"nvidia.com/gpu: 1", None),
        ("x.yaml", b"docker_container:\n  runtime: nvidia\n", "unread"),
    ],
)  # fmt: skip
def test_the_content_tells_a_program_that_starts_containers(path: str, content: bytes, kind: str | None) -> None:
    assert classify(path, lambda: content) == kind


@pytest.mark.parametrize(
    ("name", "first", "kind"),
    [
        ("train.pbs", "#PBS -l nodes=1", "shell"), ("x.LSF", "#BSUB -n 4", "shell"), ("x.sub", "#!/bin/sh", "shell"),
        ("x.sge", "#$ -cwd", "shell"), ("x.qsub", "#SBATCH --gres=gpu:1", "shell"),
        ("x.sub", "executable = /usr/bin/docker", None), ("x.job", "# a list", None),
    ],
)  # fmt: skip
def test_the_first_line_tells_a_batch_script(name: str, first: str, kind: str | None) -> None:
    assert classify(name, lambda: f"{first}\ndocker run a\n".encode()) == kind


@pytest.mark.parametrize(
    "line", [b"services:\n", b"services:\n#\n", b"services: \n \n", b"a: b\n", b"#!/bin/"]
)
def test_content_is_judged_in_linear_time(line: bytes) -> None:
    # Two million bytes of what the patterns could stumble over; quadratic time would be minutes.
    content = line * (2_000_000 // len(line)) + b" image: a\n"
    classify("a.yml", lambda: content)
    classify("a", lambda: content)


# Files that are named


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("docker-compose.yml", "compose"),
        ("values.yaml", "unsupported"),
        ("docker-compose.yml.j2", "unsupported"),
        ("notes", "unsupported"),
        ("run.sh", "shell"),
        (".github/workflows/a.yml", "ci"),
        ("-", "unsupported"),
    ],
)
def test_a_named_file_is_always_read(tree: Path, name: str, kind: str) -> None:
    write(name, content="a: b\n")
    assert list(discover([name], exclude=["*"], kinds=["compose"])) == [Found(name, kind, explicit=True)]


TEMPLATES = (
    "a.tftpl", "a.yaml-template", "a.yaml.tmpl", "a.yml.j2", "a.yaml.gotmpl", "a.yaml.erb", "docker-compose.yml.in"
)  # fmt: skip


def test_templates_are_found_by_their_ending(tree: Path) -> None:
    write(*TEMPLATES, content="services: {a: {image: <%= x %>}}\n")
    write("b.yaml.in", content="apiVersion: v1\nkind: Pod\nimage: {{ x }}\n")
    write("c.yaml.in", content="{{ image }}: 1\n")
    assert paths(kinds=("template",)) == sorted((*TEMPLATES, "b.yaml.in"))
    named = [Found(name, "template", explicit=True) for name in sorted(TEMPLATES)]
    assert list(discover(TEMPLATES, kinds=["template"])) == named


EXAMPLES = {
    "compose.yaml.example": "compose", "docker-compose.yml.sample": "compose", "gpu.yml-dist": "compose",
    "a/compose.gpu.yaml_default": "compose", "train.sh.example": "shell", "gpu.slurm.dist": "shell",
}  # fmt: skip


def test_examples_are_found_by_their_ending_and_read_where_they_are_named(tree: Path) -> None:
    for name, kind in EXAMPLES.items():
        write(name, content="services: {a: {image: a}}\n" if kind == "compose" else "docker run --rm a\n")
    write("app.yaml.example", content="image: a\n")
    write("build.sh.sample", content="make\n")
    assert paths(kinds=("template",)) == sorted(EXAMPLES)
    named = [Found(name, kind, explicit=True) for name, kind in sorted(EXAMPLES.items())]
    assert list(discover(EXAMPLES, kinds=["template"])) == named


def test_the_place_of_a_named_file_counts(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(".github/workflows/docker-compose.yml")
    monkeypatch.chdir(".github/workflows")
    assert [
        found.kind for found in discover(["docker-compose.yml"], kinds=ALL) if isinstance(found, Found)
    ] == ["ci"]


def test_a_named_file_may_be_large(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCAN_LIMIT", 100)
    write("compose.yml", "other.yml", content=COMPOSE + "#" * 100)
    write("data.yml", content="a: b\n" * 30)
    assert paths() == []
    assert [(one.path, one.kind) for one in discover(["."], kinds=ALL) if isinstance(one, LeftOut)] == [
        ("compose.yml", "unreadable"), ("other.yml", "unreadable"),
    ]  # fmt: skip
    assert paths("compose.yml", "other.yml") == ["compose.yml", "other.yml"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_words_are_found_in_utf_16(tree: Path, encoding: str) -> None:
    start = "\ufeff" if encoding == "utf-16-be" else ""
    Path("run.sh").write_bytes(f"{start}docker run --gpus all a\n".encode(encoding))
    Path("other.sh").write_bytes(f"{start}echo a\n".encode(encoding))
    assert paths(kinds=ALL) == ["run.sh"]


def test_paths_are_shown_from_here(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a/compose.yml", "../beside/compose.yml")
    assert paths("./a//compose.yml") == ["a/compose.yml"]
    assert paths(str(tree / "a" / "compose.yml")) == ["a/compose.yml"]
    assert paths(str(tree)) == ["a/compose.yml"]
    assert paths("a/") == ["a/compose.yml"]
    assert paths("../beside/compose.yml") == ["../beside/compose.yml"]
    assert paths("../beside") == ["../beside/compose.yml"]
    outside = (tree.parent / "beside").as_posix()
    assert paths(outside) == [f"{outside}/compose.yml"]
    monkeypatch.chdir("a")
    assert paths("..") == ["../a/compose.yml"]


def test_each_file_comes_once_and_in_order(tree: Path) -> None:
    write("b/compose.yml", "a/compose.yml", "c.yml")
    results = list(discover([".", "b", "./b/compose.yml", "a/../b/compose.yml", "."], kinds=["compose"]))
    assert results == [
        Found("a/compose.yml", "compose", explicit=False),
        Found("b/compose.yml", "compose", explicit=True),
        Found("c.yml", "compose", explicit=False),
    ]


@pytest.mark.parametrize("path", ["gone.yml", "", "no/such/place", "a\0b", "x" * 5000])
def test_what_does_not_exist_is_a_problem(tree: Path, path: str) -> None:
    (problem,) = discover([path], kinds=["compose"])
    assert isinstance(problem, PathProblem)
    assert problem.message


def test_a_missing_file_does_not_hide_the_others(tree: Path) -> None:
    write("compose.yml")
    found, problem = discover(["gone.yml", "compose.yml"], kinds=["compose"])
    assert found == Found("compose.yml", "compose", explicit=True)
    assert problem == PathProblem("gone.yml", "no such file or directory")


@pytest.mark.needs("posix")
def test_a_fifo_is_a_problem_and_is_not_waited_for(tree: Path) -> None:
    os.mkfifo("compose.yml")
    assert list(discover(["compose.yml"], kinds=["compose"])) == [
        PathProblem("compose.yml", "is a FIFO, not a file")
    ]


@pytest.mark.needs("posix")
def test_other_special_files_are_problems(tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.yml")
        messages = [
            item.message for item in discover(["s.yml", "/dev/null"], kinds=ALL) if isinstance(item, PathProblem)
        ]
    assert messages == ["is a device, not a file", "is a socket, not a file"]


def test_an_unreadable_file_is_a_problem(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("compose.yml", "other.yml", "c/compose.yml")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    # Permissions do not stop root, who runs many a test.
    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "access", lambda *_: False)
    denied = "permission denied"
    assert list(discover(["compose.yml", "other.yml"], kinds=["compose"])) == [
        PathProblem("compose.yml", denied),
        PathProblem("other.yml", denied),
    ]
    assert list(discover(["."], kinds=["compose"])) == [
        PathProblem("c/compose.yml", denied),
        PathProblem("compose.yml", denied),
        PathProblem("other.yml", denied),
    ]


def test_an_unreadable_directory_is_a_problem(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("compose.yml", "locked/compose.yml")
    scandir = os.scandir

    def guarded(path: str) -> object:
        if path.rstrip("/").endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert list(discover(["."], kinds=["compose"])) == [
        Found("compose.yml", "compose", explicit=False),
        PathProblem("locked", "permission denied"),
    ]
    assert list(discover(["locked"], kinds=["compose"])) == [PathProblem("locked", "permission denied")]


# Directories


def test_a_scan_takes_the_kinds_that_were_asked_for(repository: Path) -> None:
    write("compose.yml", "gpu.yml", "notes.txt", "compose.yml.j2")
    write("values.yaml", content="services:\n  - a\n")
    write("run.sh", "README.md", "Makefile", ".gitlab-ci.yml", content="docker run a\n")
    write("bin/start", content="#!/bin/sh\npodman run a\n")
    write(".devcontainer/devcontainer.json", content="{}")
    assert paths() == ["compose.yml", "gpu.yml"]
    assert paths(kinds=()) == []
    assert paths(kinds=("shell",)) == ["bin/start", "run.sh"]
    assert paths(kinds=ALL) == [
        ".devcontainer/devcontainer.json",
        ".gitlab-ci.yml",
        "Makefile",
        "README.md",
        "bin/start",
        "compose.yml",
        "gpu.yml",
        "run.sh",
    ]


def test_a_scan_passes_over_files_without_a_word_about_containers(repository: Path) -> None:
    write("run.sh", "README.md", "Makefile", content="echo done\n")
    assert paths(kinds=ALL) == []
    assert paths("run.sh", kinds=ALL) == ["run.sh"]


def test_a_scan_finds_a_script_whose_engine_is_a_variable(repository: Path) -> None:
    write("run.sh", content="$CONTAINER_ENGINE run --gpus all $IMAGE\n")
    write("Makefile", content="run:\n\t$(container_tool) run --gpus all $(IMAGE)\n")
    assert paths(kinds=ALL) == ["Makefile", "run.sh"]


def test_gitignore_is_honoured(repository: Path) -> None:
    write(".gitignore", content="/out/\n*.gen.yml\n!keep.gen.yml\r\nsub/*.yml\n")
    write("sub/.gitignore", content="!b.yml\ndeep\n")
    write("compose.yml", "out/compose.yml", "a.gen.yml", "keep.gen.yml", "x/out/compose.yml")
    write("sub/a.yml", "sub/b.yml", "sub/deep/compose.yml", "sub/x/c.yml")
    assert paths() == ["compose.yml", "keep.gen.yml", "sub/b.yml", "sub/x/c.yml", "x/out/compose.yml"]
    assert paths("sub") == ["sub/b.yml", "sub/x/c.yml"]


def test_an_ignored_directory_that_is_named_is_scanned(repository: Path) -> None:
    write(".gitignore", content="out/\nx.yml\n")
    write("out/compose.yml", "out/a/compose.yml", "out/x.yml")
    assert paths() == []
    assert paths("out") == ["out/a/compose.yml", "out/compose.yml", "out/x.yml"]
    assert paths("out/a") == ["out/a/compose.yml"]


def test_an_ignored_directory_is_scanned_whole_where_git_knows_some_of_it(tree: Path) -> None:
    git(tree, "init", "--quiet")
    write(".gitignore", content="out/\n")
    write("out/compose.yml", "out/forced.yml")
    git(tree, "add", "--force", "out/forced.yml")
    assert paths() == ["out/forced.yml"]
    assert paths("out") == ["out/compose.yml", "out/forced.yml"]


def test_a_directory_that_is_no_repository_is_walked(tree: Path) -> None:
    write("compose.yml", "a/compose.yml", "b/compose.yml")
    write(".gitignore", content="b\n")
    assert paths() == ["a/compose.yml", "compose.yml"]


def test_repositories_side_by_side_are_all_scanned(tree: Path) -> None:
    for name in ("one", "two"):
        write(f"{name}/compose.yml", f"{name}/out/compose.yml")
        write(f"{name}/.gitignore", content="out\n")
        git(tree / name, "init", "--quiet")
    assert paths() == ["one/compose.yml", "two/compose.yml"]


def test_a_repository_in_a_repository_is_scanned_when_it_is_named(repository: Path) -> None:
    write("compose.yml", "inner/compose.yml")
    subprocess.run([GIT, "init", "--quiet", "inner"], check=True)
    assert paths() == ["compose.yml"]
    assert paths("inner") == ["inner/compose.yml"]


def test_a_submodule_is_scanned_when_it_is_named(tree: Path) -> None:
    write("library/compose.yml", "outer/compose.yml")
    for name in ("library", "outer"):
        git(tree / name, "init", "--quiet")
        git(tree / name, "add", ".")
        git(tree / name, "commit", "--quiet", "--message", "all")
    local = ["-c", "protocol.file.allow=always"]
    git(tree / "outer", *local, "submodule", "add", str(tree / "library"), "library-compose.yml")
    assert paths("outer") == ["outer/compose.yml"]
    assert paths("outer/library-compose.yml") == ["outer/library-compose.yml/compose.yml"]


def test_files_deleted_but_still_in_the_index_are_no_problem(tree: Path) -> None:
    git(tree, "init", "--quiet")
    write("compose.yml", "gone/compose.yml", "gone.yml", "replaced/compose.yml")
    git(tree, "add", ".")
    Path("gone/compose.yml").unlink()
    Path("gone.yml").unlink()
    Path("replaced/compose.yml").unlink()
    Path("replaced").rmdir()
    write("replaced", content="a file now")
    assert paths() == ["compose.yml"]


def test_a_conflicted_file_comes_once(tree: Path) -> None:
    git(tree, "init", "--quiet", "--initial-branch=main")
    write("compose.yml")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message", "base")
    for branch in ("other", "main"):
        git(tree, "checkout", "--quiet", *(["-b", branch] if branch == "other" else [branch]))
        write("compose.yml", content=COMPOSE + f"# {branch}\n")
        git(tree, "commit", "--quiet", "--all", "--message", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(tree, "merge", "other")
    assert paths() == ["compose.yml"]


def test_without_git_directories_of_tools_are_skipped_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    skipped = [".venv", "venv", "node_modules", ".tox", "env/lib/python3.12/site-packages", "__pycache__"]
    write("compose.yml", "a/compose.yml", "env/compose.yml", *(f"{folder}/compose.yml" for folder in skipped))
    write("mine/pyvenv.cfg", content="")
    write("mine/compose.yml")
    assert paths() == ["a/compose.yml", "compose.yml", "env/compose.yml"]
    assert paths("venv") == ["venv/compose.yml"]


def test_directories_of_tools_are_passed_over(repository: Path) -> None:
    write(
        "node_modules/a/compose.yml", "a/__pycache__/compose.yml", ".venv/a/compose.yml", "x/venv/compose.yml"
    )
    write(".venv/pyvenv.cfg", content="")
    # What git lists in a directory of that name is the project's own.
    assert paths() == (["x/venv/compose.yml"] if shutil.which("git") else [])
    assert paths("node_modules/a") == ["node_modules/a/compose.yml"]


@pytest.mark.needs("links")
def test_links_to_directories_are_not_followed(repository: Path) -> None:
    write("a/compose.yml")
    Path("a/loop").symlink_to("..")
    Path("self.yml").symlink_to("self.yml")
    Path("dangling.yml").symlink_to("nowhere")
    Path("b").symlink_to("a")
    assert paths() == ["a/compose.yml"]
    assert paths("b") == ["b/compose.yml"]


@pytest.mark.needs("links")
def test_a_file_and_the_links_to_it_are_read_once(repository: Path) -> None:
    write("z/real.yml", "plain/compose.yml")
    Path("compose.yml").symlink_to("z/real.yml")
    Path("a.yml").symlink_to("compose.yml")
    assert paths() == ["plain/compose.yml", "z/real.yml"]
    assert paths("plain", "a.yml", "compose.yml", "z/real.yml") == ["a.yml", "plain/compose.yml"]
    write("z/real.txt")
    Path("z/real.yml").unlink()
    Path("z/real.yml").symlink_to("real.txt")
    assert paths() == ["a.yml", "plain/compose.yml"]


@pytest.mark.needs("links")
def test_a_link_out_of_the_repository_is_read_only_when_it_is_named(repository: Path) -> None:
    write("../secret", "common/compose.yml")
    Path("compose.yml").symlink_to("../secret")
    Path("sub").mkdir()
    Path("sub/compose.yml").symlink_to("../common/compose.yml")
    found, problem = discover(["."], kinds=["compose"])
    assert found == Found("common/compose.yml", "compose", explicit=False)
    assert isinstance(problem, PathProblem)
    assert problem.path == "compose.yml"
    assert paths("compose.yml") == ["compose.yml"]
    assert paths("sub") == ["sub/compose.yml"]


@pytest.mark.needs("links")
def test_a_link_to_the_directory_that_is_named(repository: Path) -> None:
    write("compose.yml")
    link = repository.parent / "link"
    link.symlink_to(repository)
    assert paths(str(link)) == [f"{link}/compose.yml"]
    assert paths(str(link), ".") == [f"{link}/compose.yml"]


@pytest.mark.needs("posix")
def test_special_files_in_a_directory_are_passed_over(repository: Path) -> None:
    os.mkfifo("compose.yml")
    os.mkfifo("gpu.yml")
    Path("device.yml").symlink_to("/dev/zero")
    write("a/compose.yml")
    assert paths() == ["a/compose.yml"]


@pytest.mark.needs("posix")
def test_git_is_not_waited_for(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shmlint.files.git.GIT_TIMEOUT", 0.3)
    os.mkfifo(".gitignore")
    write("compose.yml")
    assert paths() == ["compose.yml"]


def test_odd_names(repository: Path) -> None:
    names = ["a b/compose.yml", "-q.yml", "naïve/compose.yml"]
    if os.name != "nt":
        names += ["new\nline.yml", 'quo"te\\.yml', "tab\t.yml", ":(top)a.yml"]
    write(*names)
    assert paths() == sorted(names)


@pytest.mark.needs("byte_names")
def test_names_that_are_not_utf_8(repository: Path) -> None:
    os.mkdir(b"caf\xe9")
    for name in (b"caf\xe9/compose.yml", b"\xff.yml"):
        with open(name, "w") as file:
            file.write(COMPOSE)
    with open(b".gitignore", "wb") as file:
        file.write(b"\xfe.yml\n")
    write(os.fsdecode(b"\xfe.yml"))
    expected = [b"caf\xe9/compose.yml", b"\xff.yml"]
    assert [os.fsencode(path) for path in paths()] == expected
    assert [os.fsencode(path) for path in paths(os.fsdecode(b"caf\xe9"))] == expected[:1]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("vendor", ["a/x.yml", "compose.yml"]),
        ("vendor/", ["a/x.yml", "compose.yml"]),
        ("/a/vendor", ["a/x.yml", "compose.yml", "vendor/compose.yml"]),
        ("*.yml", []),
        ("a/**/compose.yml", ["a/x.yml", "compose.yml", "vendor/compose.yml"]),
        ("/compose.yml", ["a/vendor/compose.yml", "a/x.yml", "vendor/compose.yml"]),
    ],
)
def test_exclude(repository: Path, pattern: str, left: list[str]) -> None:
    write("compose.yml", "vendor/compose.yml", "a/vendor/compose.yml", "a/x.yml")
    assert paths(exclude=(pattern,)) == left
    assert paths(str(repository), exclude=(pattern,)) == left
    assert paths("a", exclude=(pattern,)) == [path for path in left if path.startswith("a/")]


def test_what_is_excluded_is_named(tree: Path) -> None:
    write("compose.yml", "vendor/compose.yml", "vendor/b.yml")
    write("vendor/other.yml", "vendor/c.txt", content="a: b\n")
    Path("link.yml").symlink_to("compose.yml")
    found = list(discover(["."], exclude=["vendor/", "link.yml"], kinds=["compose"]))
    left_out = [LeftOut(f"vendor/{name}") for name in ("b.yml", "compose.yml")]
    assert found == [Found("compose.yml", "compose", False), *left_out]


def test_exclude_can_take_back(repository: Path) -> None:
    write("compose.yml", "vendor/a.yml", "vendor/b.yml")
    assert paths(exclude=("vendor/*", "!vendor/b.yml")) == ["compose.yml", "vendor/b.yml"]


def test_exclude_outside_counts_from_the_directory_that_is_named(tree: Path) -> None:
    write("../beside/a/compose.yml", "../beside/b/compose.yml")
    assert paths("../beside", exclude=("/a",)) == ["../beside/b/compose.yml"]


@pytest.mark.parametrize("pattern", ["!", "[z-a]"])
def test_a_pattern_that_is_none(tree: Path, pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a pattern"):
        discover(["."], exclude=[pattern], kinds=["compose"])
    write("compose.yml")
    write(".gitignore", content=f"{pattern}\n")
    assert paths() == ["compose.yml"]


# A repository that means harm, and a git that does not answer


def test_a_hostile_gitignore_does_not_stop_the_walk(tree: Path) -> None:
    write(".gitignore", content="*a" * 30 + "b\n" + "**/" * 30 + "x\n")
    write("a" * 200 + ".yml", "/".join(["a"] * 40) + "/compose.yml")
    assert len(paths()) == 2


@pytest.mark.needs("links")
def test_git_runs_no_program_of_the_repository(tree: Path) -> None:
    git(tree, "init", "--quiet")
    write("compose.yml", "sub/compose.yml")
    write("evil", content="#!/bin/sh\ntouch harmed\n")
    Path("evil").chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "core.sshCommand", "filter.x.clean", "diff.x.textconv"):
        git(tree, "config", setting, str(tree / "evil"))
    git(tree, "config", "core.hooksPath", str(tree))
    for hook in ("post-index-change", "fsmonitor-watchman"):
        Path(hook).symlink_to("evil")
    write(".gitattributes", content="* filter=x diff=x\n")
    assert paths() == ["compose.yml", "sub/compose.yml"]
    assert paths("sub") == ["sub/compose.yml"]
    assert not Path("harmed").exists()


@pytest.mark.needs("links")
def test_the_repository_s_own_git_is_not_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(".git/HEAD", "compose.yml")
    write("git", content="#!/bin/sh\ntouch harmed\n")
    Path("git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin"]))
    assert paths() == ["compose.yml"]
    assert not Path("harmed").exists()


def test_a_bare_repository_inside_is_not_asked(tree: Path) -> None:
    git(tree, "init", "--quiet")
    write("bare/compose.yml")
    git(tree / "bare", "init", "--quiet", "--bare", ".")
    git(tree / "bare", "config", "core.bare", "false")
    git(tree / "bare", "config", "core.worktree", str(tree.parent))
    assert paths("bare") == ["bare/compose.yml"]


def raise_(error: Exception) -> Callable[..., object]:
    def run(*_: object, **__: object) -> object:
        raise error

    return run


@pytest.mark.parametrize("error", [subprocess.TimeoutExpired("git", 1), OSError(8, "Exec format error")])
def test_the_directory_is_walked_where_git_fails(
    tree: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    git(tree, "init", "--quiet")
    write("compose.yml", "out/compose.yml")
    write(".gitignore", content="out\n")
    monkeypatch.setattr(subprocess, "run", raise_(error))
    assert paths() == ["compose.yml"]


@pytest.mark.parametrize("broken", [".git/HEAD", ".git/index"])
def test_the_directory_is_walked_where_the_repository_is_broken(tree: Path, broken: str) -> None:
    git(tree, "init", "--quiet")
    write("compose.yml")
    write(broken, content="nonsense")
    assert paths() == ["compose.yml"]


def test_the_repository_of_a_running_hook_is_not_asked(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        write(f"{name}/compose.yml", f"{name}/{name}.yml")
        git(tree / name, "init", "--quiet")
        git(tree / name, "add", ".")
    monkeypatch.setenv("GIT_DIR", str(tree / "one" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tree / "one" / ".git" / "index"))
    assert paths("two") == ["two/compose.yml", "two/two.yml"]


def test_a_file_that_changes_its_sort_is_not_opened_for_good(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.yml")
    real = os.fstat

    def swapped(handle: int) -> os.stat_result:
        status = real(handle)
        return os.stat_result((0o010644, *status[1:]))

    monkeypatch.setattr(os, "fstat", swapped)
    assert list(discover(["a.yml"], kinds=["compose"])) == [PathProblem("a.yml", "is a FIFO, not a file")]


@table(
    "top, path, kind",
    [
        ("", ".github/workflows/a.yml", "ci"),
        ("repository/.github/workflows", "a.yml", "ci"),
        ("repository", "a.yml", None),
        ("repository", "run", "shell"),
    ],
)
def test_the_kind_of_a_text_that_was_read(top: str, path: str, kind: str | None) -> None:
    """The directory that its path counts from belongs to it."""
    assert kind_of(Source(path, "#!/bin/sh\necho\n"), top) == kind
