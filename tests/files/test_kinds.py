"""What the name of a file says of it."""

from __future__ import annotations

from shmlint.files.kinds import classify, is_page, is_readme, may_be_of
from tests.table import table


@table(
    "path, page, readme",
    [
        ("README.md", True, True),
        ("docs/readme.rst", True, True),
        ("docs/ReadMe.markdown", True, True),
        ("guide.MDX", True, False),
        ("guide.Rmd", True, False),
        ("guide.qmd", True, False),
        ("README.zh.md", True, False),
        ("my-readme.md", True, False),
        ("README", False, False),
        ("README.txt", False, False),
        ("md", False, False),
        ("readme.md/run.sh", False, False),
        ("x.rst.in", False, False),
    ],
)
def test_pages(path: str, page: bool, readme: bool) -> None:
    assert (is_page(path), is_readme(path)) == (page, readme)
    assert not page or classify(path, lambda: b"") == "markdown"


@table(
    "path, kinds, expected",
    [
        ("scripts/run.sh", ("shell",), True),
        ("scripts/run", ("shell",), True),
        ("run.sh", ("makefile",), False),
        ("run.py", ("shell", "unread"), False),
        (".github/workflows/a.yml", ("ci",), True),
        ("a.yml", ("ci",), True),  # Azure's may have any name
        ("a.yml", ("ci", "compose"), True),
        ("GNUmakefile", ("makefile",), True),
        ("etc/x.service.d/gpu.conf", ("systemd",), True),
        ("notes.markdown", ("markdown",), True),
        ("notes.txt", ("markdown", "shell"), False),
    ],
)
def test_the_kinds_that_a_file_may_have(path: str, kinds: tuple[str, ...], expected: bool) -> None:
    assert may_be_of(path, frozenset(kinds)) == expected


@table(
    "text, kind",
    [
        ("trigger: [main]\npool: gpu\nsteps:\n- script: docker run --gpus all i\n", "ci"),
        ("jobs:\n- job: train\n  container: {image: i, options: --gpus all}\n", "ci"),
        ("stages:\n- stage: a\n  jobs: []\n", "ci"),
        ("parameters: []\njobs:\n  - deployment: a\n    pool: gpu\n", "ci"),
        # Of others, or of nothing that is known.
        ("jobs:\n- job: train\nworkflows: {}\n", None),
        ("jobs:\n  train:\n    docker: []\n", None),
        ("pool: gpu\n", None),
        ("on: push\njobs:\n- job: a\n", None),
        ("services:\n  a: {image: i}\n", "compose"),
    ],
)
def test_a_pipeline_of_azure_has_any_name(text: str, kind: str | None) -> None:
    assert classify("pipelines/train.yml", text.encode) == kind
