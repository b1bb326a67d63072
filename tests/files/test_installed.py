"""Where rule pages are found, and what is read of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.files import installed as rules
from shmlint.files.installed import front_matter
from shmlint.model import project
from shmlint.model.rule import Rule
from shmlint.rules import all_rules
from tests.table import table

RULE = Rule("SHM999", "not-there", "error")


@pytest.mark.parametrize("inside", [True, False], ids=["wheel", "checkout"])
def test_pages_are_found_in_a_wheel_and_in_a_checkout(
    inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "shmlint"
    place = package / "pages" if inside else tmp_path / "rules"
    place.mkdir(parents=True)
    monkeypatch.setattr(rules, "_PACKAGE", str(package))
    with pytest.raises(FileNotFoundError, match="missing from this installation"):
        rules.directory()
    (place / "workloads.json").write_text("{}")
    (place / "SHM999-not-there.md").write_text("x\n", encoding="utf-8")
    assert rules.directory() == str(place)
    assert rules.page(RULE) == "x\n"


def test_a_wheel_carries_its_own_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies next to an installed package belongs to others."""
    for place in (tmp_path / "shmlint" / "pages", tmp_path / "rules"):
        place.mkdir(parents=True)
        (place / "workloads.json").write_text("{}")
    monkeypatch.setattr(rules, "_PACKAGE", str(tmp_path / "shmlint"))
    assert rules.directory() == str(tmp_path / "shmlint" / "pages")


def test_a_rule_without_a_page_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        rules.page(RULE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("---\nid: SHM101\nname: a-b\n---\n# T\nx: y\n", {"id": "SHM101", "name": "a-b"}),
        ("---\nsummary: one: two\n---\n", {"summary": "one: two"}),
        ("---\n id :  a  \n---\n", {"id": "a"}),
        ("---\nid: a\n", {"id": "a"}),
        ("# no front matter\n", {}),
        ("", {}),
    ],
)
def test_front_matter(text: str, found: dict[str, str]) -> None:
    assert front_matter(text) == found


@table("rule", [rule for rule, _ in all_rules().values()], ids=lambda rule: rule.id)
def test_every_rule_has_a_page_where_its_address_points(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (rule.address, rule.help) == (None, f"shmlint explain {rule.id}")
    monkeypatch.setattr(project, "ADDRESS", "https://example.org/shmlint")
    assert rule.help == rule.address and rule.help.startswith("https://example.org/shmlint/blob/main/rules/")
    assert Path(rules.directory(), rule.help.rpartition("/")[2]).is_file()
    assert front_matter(rules.page(rule))["id"] == rule.id
