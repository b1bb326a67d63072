"""SHM002: comments that suppress nothing, when they are reported, and what is left of them after a fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.project import findings, fixed
from tests.suppression.test_comments import ABOVE, COMMENT, DOCKER, compose, told
from tests.table import table


@table(
    ("comment", "message", "left"),
    [
        ("# shmlint: ignore[SHM101] why", "SHM101 has no finding here", ""),
        ("# shmlint: ignore why", "there is no finding here", ""),
        ("# shmlint: ignore[]", "it names no rule", ""),
        ("# shmlint: ignore[SHM110]", "unknown rule `SHM110` (did you mean `SHM", ""),
        ("# shmlint: ignore[SHM102, nonsense] a", "SHM102 has no finding here; unknown rule `nonsense`", ""),
        ("# shmlint: ignore[SHM103, SHM101] a", "SHM101 has no finding here", "  # shmlint: ignore[SHM103] a"),
        ("# shmlint: ignore[SHM102,SHM103,SHM101] a", "SHM102 has no finding here; SHM101 has no finding here",
         "  # shmlint: ignore[SHM103] a"),
        ("# note # shmlint: ignore[SHM101] a", "SHM101 has no finding here", "  # note"),
        ("# shmlint: ignore[SHM101] a # noqa", "SHM101 has no finding here", "  # noqa"),
    ],
)  # fmt: skip
def test_unused(tmp_path: Path, comment: str, message: str, left: str) -> None:
    size = "2gb" if "SHM103" in comment else "8gb"  # 2gb: SHM103
    for newline in ("\n", "\r\n"):
        text = compose(key=f"  {comment}", size=size).replace("\n", newline)
        (finding,) = findings(tmp_path, text)
        assert (finding.rule, finding.severity) == ("SHM002", "note")
        assert finding.message.startswith(f"unused suppression: {message}")
        assert fixed(tmp_path, text) == {"compose.yaml": compose(key=left, size=size).replace("\n", newline)}


@pytest.mark.parametrize(
    ("files", "after"),
    [
        ({"compose.yaml": compose(above=ABOVE, size="8gb")}, compose(size="8gb")),
        ({"compose.yaml": compose(top="# shmlint: ignore-file\n", size="8gb")}, compose(size="8gb")),
        ({"compose.yaml": "\ufeff" + compose(top="# shmlint: ignore-file\n", size="8gb")},
         "\ufeff" + compose(size="8gb")),
        ({"compose.yaml": compose(size="8gb") + "# shmlint: ignore-file"}, compose(size="8gb")),
        ({"run.sh": f"# shmlint: ignore[SHM101]\n{DOCKER}\n# shmlint: ignore-file[SHM208] x\n"},
         f"# shmlint: ignore[SHM101]\n{DOCKER}\n"),
        ({".devcontainer/devcontainer.json": '{  // shmlint: ignore why\n  "image": "x"\n}\n'},
         '{\n  "image": "x"\n}\n'),
        ({"README.md": "<!-- shmlint: ignore[SHM101] why -->\n```sh\ndocker run redis\n```\n"},
         "```sh\ndocker run redis\n```\n"),
    ],
)  # fmt: skip
def test_removing(tmp_path: Path, files: dict[str, str], after: str) -> None:
    assert list(fixed(tmp_path, files).values()) == [after]


def test_both_are_repaired(tmp_path: Path) -> None:
    assert fixed(tmp_path, compose(key="  # shmlint: ignore[SHM208] x")) == {"compose.yaml": compose(size="8gb")}


@pytest.mark.parametrize(
    "settings",
    [
        {"select": ("SHM2", "SHM002")},
        {"ignore": ("SHM101",)},
        {"severity": (("SHM101", "off"),)},
        {"per_file_ignores": (("compose.yaml", ("SHM101",)),)},
        {"ignore": ("SHM002",)},
        {"per_file_ignores": (("*", ("unused-suppression",)),)},
    ],
)
def test_a_rule_that_does_not_run_makes_no_comment_unused(tmp_path: Path, settings: dict[str, Any]) -> None:
    assert told(tmp_path, compose(key=COMMENT, size="8gb"), **settings) == []


def test_a_comment_for_every_rule_may_be_about_one_that_is_not_selected(tmp_path: Path) -> None:
    every = "  # shmlint: ignore all of it is meant"
    assert told(tmp_path, compose(key=every, size="8gb"), select=("SHM2", "SHM002")) == []
    assert told(tmp_path, compose(key=every, size="8gb")) == ["SHM002"]


def test_severity_of_unused(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, compose(key=COMMENT, size="8gb"), severity=(("SHM002", "error"),))
    assert finding.severity == "error"


def test_two_that_say_the_same_are_both_of_use(tmp_path: Path) -> None:
    assert told(tmp_path, compose(key=COMMENT, top="# shmlint: ignore-file[SHM101]\n")) == []


def test_nothing_is_said_of_what_cannot_be_read(tmp_path: Path) -> None:
    assert told(tmp_path, "services: [\n# shmlint: ignore[SHM101]\n") == ["SHM001"]
