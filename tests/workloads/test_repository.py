"""The files that a launch may lead to."""

from __future__ import annotations

from pathlib import Path

from shmlint.files.workspace import Workspace
from shmlint.workloads.repository import Repository, Shared
from tests.table import table


@table(
    "of, directory, above",
    [
        ("compose/gpu/run.yaml", None, ("compose/gpu",)),
        ("compose/gpu/run.yaml", "compose/gpu/own/a", ("compose/gpu/own/a", "compose/gpu/own", "compose/gpu")),
        ("compose/gpu/run.yaml", "docs/training", ("docs/training",)),
        ("compose/gpu/run.yaml", "compose", ("compose",)),
        ("docs/training/run.md", "docs/training", ("docs/training",)),
        ("run.yaml", "docs/training", ("docs/training", "docs", ".")),
    ],
)
def test_the_directories_above_outside_of_a_work_tree(
    tmp_path: Path, of: str, directory: str | None, above: tuple[str, ...]
) -> None:
    """They end at that of the launch, whatever other launches of the run have asked for before."""
    shared, files = Shared(), Workspace(top=str(tmp_path))
    for other in ("compose/gpu/run.yaml", "docs/training/run.md", "run.yaml"):
        Repository(files, other, shared).above("docs/training")
    assert Repository(files, of, shared).above(directory) == above


def test_the_directories_above_in_a_work_tree(tmp_path: Path) -> None:
    (tmp_path / "own" / ".git").mkdir(parents=True)
    (tmp_path / "own" / "docs" / "training").mkdir(parents=True)
    repository = Repository(Workspace(top=str(tmp_path)), "own/compose/run.yaml")
    assert repository.above("own/docs/training") == ("own/docs/training", "own/docs", "own")
