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
        ("common.yaml", {}, "compose.yaml"),
        ("common.yaml", {"other.yaml": OTHER}, "compose.yaml"),
        ("common.yaml", {"other.yaml": OWN.replace("FILE", "common.yaml")}, "compose.yaml"),
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


BASE = SHARED + "    gpus: all\n"
FROM_BASE = OTHER.replace("common.yaml", "compose.yaml")
FROM_ABOVE = OTHER.replace("common.yaml", "../compose.yaml")


@table(
    ("others", "changed"),
    [
        ({}, True),
        ({"other.yaml": "services:\n  v: {image: redis}\n"}, True),
        ({"other.yaml": FROM_BASE}, False),
        ({"apps/v/service.yml": FROM_ABOVE.replace("../", "../../")}, False),
        ({"mid.yaml": FROM_BASE.replace("  v:", "  m:").replace("    image: redis\n    command: sh\n", ""),
          "apps/v.yaml": OTHER.replace("common.yaml", "../mid.yaml").replace("base", "m")}, False),
        # Another file of that name; one that has the same need; one that nobody can follow.
        ({"apps/compose.yaml": SHARED, "apps/v.yaml": FROM_BASE}, True),
        ({"apps/v.yaml": "services:\n  v:\n    extends: {file: ../compose.yaml, service: base}\n"}, True),
        ({"v.yaml": "services:\n  v: {extends: {file: '${D}/compose.yaml', service: base}}\n"}, False),
    ],
)
def test_a_template_that_is_named_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: dict[str, str], changed: bool
) -> None:
    """It is changed only where that leaves what extends it as it was, in whatever directory of the repository."""
    for name, text in {"compose.yaml": BASE, **others}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for directory, named in ((tmp_path, "compose.yaml"), (tmp_path.parent, f"{tmp_path.name}/compose.yaml")):
        monkeypatch.chdir(directory)
        outcome = fix(lint({"compose": [named]}, Settings(), Workspace()))
        assert list(outcome.texts) == ([named] if changed else [])
