"""What else is made of a file that nobody named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shmlint.files.workspace import Workspace
from shmlint.fixing.fix import fix
from shmlint.model.settings import Settings
from shmlint.run import lint
from tests.table import table

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SHARED = "services:\n  base:\n    image: vllm/vllm-openai\n    command: --tensor-parallel-size 4\n    shm_size: 64m\n"
OTHER = "services:\n  v:\n    extends: {file: common.yaml, service: base}\n    image: redis\n    command: sh\n"
OWN = "services:\n  v:\n    extends: {file: FILE, service: base}\n    gpus: all\n"


@table(
    ("shared", "others", "changed"),
    [
        ("common.yaml", {}, "common.yaml"),
        ("common.yaml", {"other.yaml": "services:\n  v: {image: redis}\n"}, "common.yaml"),
        ("common.yaml", {"other.yaml": OTHER}, "compose.yaml"),
        # The other service is to have the same size.
        ("common.yaml", {"other.yaml": OWN.replace("FILE", "common.yaml")}, "common.yaml"),
        ("common.yaml", {"other.yaml": "include: [common.yaml]\n"}, "compose.yaml"),
        ("../common.yaml", {}, "compose.yaml"),
    ],
)
def test_naming_one_file_changes_no_other_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: str, others: dict[str, str], changed: str
) -> None:
    """The size goes to the service that was named, where others may be made of the same file."""
    (tmp_path / "proj").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "proj")
    for old in (tmp_path / "proj").iterdir():
        old.unlink()
    for name, text in {shared: SHARED, "compose.yaml": OWN.replace("FILE", shared), **others}.items():
        (tmp_path / "proj" / name).write_text(text)
    outcome = fix(lint({"compose": ["compose.yaml"]}, Settings(), Workspace()))
    assert list(outcome.texts) == [changed]
    assert "shm_size: 8gb" in outcome.texts[changed]
