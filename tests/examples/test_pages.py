"""Every rule has a page, every page a rule, and every example on it holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from shmlint import rules
from shmlint.checks import all_rules
from tests.project import findings, fixed

PAGES = sorted(Path(rules.directory()).glob("[A-Z]*-*.md"))
SECTIONS = ["What it does", "Why is this bad?", "Example", "Use instead", "Fix", "Sources"]


class Example(NamedTuple):
    """A fenced example: the file it stands for, and whether it is what fixing gives."""

    page: str
    number: int
    name: str
    text: str
    fixed: bool

    @property
    def rule(self) -> str:
        return self.page.partition("-")[0]

    def __str__(self) -> str:
        return f"{self.rule}-{self.number}"


def section(text: str, heading: str) -> str:
    """The text below a heading. Headings inside of fences do not count."""
    lines, here, fence = [], False, False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            fence = not fence
        if not fence and line.startswith("## "):
            here = line.removeprefix("## ").strip() == heading
        elif here:
            lines.append(line)
    return "".join(lines)


def examples(page: Path, heading: str) -> list[Example]:
    found = []
    fences = re.findall(r"^```(\S+) ?([^\n]*)\n(.*?)^```$", section(page.read_text("utf-8"), heading), re.M | re.S)
    for number, (language, info, text) in enumerate(fences, 1):
        name, _, rest = info.partition(" ")
        assert name, f"{page.name}: the {language} example {number} names no file"
        assert rest in ("", "fixed"), f"{page.name}: `{rest}` means nothing"
        found.append(Example(page.stem, number, name, text, rest == "fixed"))
    return found


def chosen(rule: str) -> tuple[str, ...]:
    """Only the rule an example is about; whether a comment is of use, the other rules say."""
    return () if rule == "SHM002" else (rule,)


BAD = [example for page in PAGES for example in examples(page, "Example")]
GOOD = [example for page in PAGES for example in examples(page, "Use instead")]
UNSAFE = {page.stem for page in PAGES if rules.front_matter(page.read_text("utf-8")).get("safe") == "false"}
"""Pages of rules whose fixes have to be asked for."""


def test_rules_and_pages_are_the_same() -> None:
    assert [f"{rule.id}-{rule.name}" for rule, _ in all_rules().values()] == [page.stem for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_front_matter_is_the_rules(page: Path) -> None:
    text = page.read_text("utf-8")
    about = rules.front_matter(text)
    rule, _ = all_rules()[about["id"]]
    assert page.stem == f"{about['id']}-{about['name']}"
    assert (about["id"], about["name"], about["severity"]) == (rule.id, rule.name, rule.severity)
    assert about["summary"].endswith(".") and about["fix"].endswith(".")
    assert about["safe"] in ("true", "false", "none")
    assert rules.page(rule) == text
    assert rule.help.endswith(f"/rules/{page.name}")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_sections_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    about = rules.front_matter(text)
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    assert re.findall(r"^# (.*)$", outside, re.M) == [f"{about['name']} ({about['id']})"]
    assert re.findall(r"^## (.*)$", outside, re.M) == SECTIONS
    assert all(section(text, heading).strip() for heading in SECTIONS)
    assert "](https://" in section(text, "Sources")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_has_examples(page: Path) -> None:
    bad, good = examples(page, "Example"), examples(page, "Use instead")
    assert bad and good
    repairs = rules.front_matter(page.read_text("utf-8"))["safe"] != "none"
    assert any(example.fixed for example in good) == repairs


@pytest.mark.parametrize("example", BAD, ids=str)
def test_what_is_bad_is_found(tmp_path: Path, example: Example) -> None:
    found = findings(tmp_path, {example.name: example.text}, select=chosen(example.rule))
    assert [finding.rule for finding in found] == [example.rule]


@pytest.mark.parametrize("example", GOOD, ids=str)
def test_what_is_good_is_not(tmp_path: Path, example: Example) -> None:
    assert findings(tmp_path, {example.name: example.text}, select=chosen(example.rule)) == []


@pytest.mark.parametrize("example", [e for e in GOOD if e.fixed], ids=str)
def test_what_is_good_has_no_error_at_all(tmp_path: Path, example: Example) -> None:
    assert [f.rule for f in findings(tmp_path, {example.name: example.text}) if f.severity == "error"] == []


@pytest.mark.parametrize("example", [e for e in GOOD if e.fixed], ids=str)
def test_fixing_gives_exactly_what_the_page_shows(tmp_path: Path, example: Example) -> None:
    before = next(e for e in BAD if (e.page, e.number) == (example.page, example.number))
    texts, rule = {before.name: before.text}, chosen(example.rule)
    unsafe = example.page in UNSAFE
    assert fixed(tmp_path, texts, select=rule, unsafe=unsafe) == {example.name: example.text}
    if unsafe:
        assert fixed(tmp_path, texts, select=rule) == {}


REPAIRED = {example.page for example in GOOD if example.fixed}


@pytest.mark.parametrize("example", [e for e in BAD if e.page not in REPAIRED], ids=str)
def test_a_rule_without_a_repair_changes_nothing(tmp_path: Path, example: Example) -> None:
    assert fixed(tmp_path, {example.name: example.text}, select=chosen(example.rule)) == {}
