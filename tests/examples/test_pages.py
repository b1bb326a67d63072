"""Every rule has a page, every page a rule, and every example on it holds."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from shmlint.cli.explain.symptoms import find, symptoms
from shmlint.files import installed as rules
from shmlint.files.kinds import classify
from shmlint.rules import all_rules
from tests.project import findings, fixed
from tests.table import table

PAGES = sorted(Path(rules.directory()).glob("[A-Z]*-*.md"))
FORMATS = {
    "compose": "compose",
    "shell": "docker run",
    "makefile": "docker run",
    "markdown": "docker run",
    "ci": "docker run",
    "devcontainer": "devcontainer",
    "kubernetes": "kubernetes",
}
"""The ways a launch is written, as the front matter has them, by the kind of file it is written in."""

ONLY = {
    "GPU401": ("docker run, devcontainer", "Compose has lists of its own for devices"),
    "SHM001": ("compose, devcontainer", "any text is a script; its bytes may be wrong, which a page cannot show"),
    "SHM202": ("compose", "an argument is a text, never a number"),
    "SHM205": ("compose", "docker run does not build"),
    "SHM206": ("compose", "a swarm deploys compose files"),
    "SHM211": ("compose, docker run", "a dev container's file holds one container"),
    "SHM209": ("compose, docker run, devcontainer, kubernetes", "a limit is one everywhere"),
    "SHM213": ("compose, docker run, devcontainer, kubernetes", "a volume may be on disk everywhere"),
    "SHM214": ("kubernetes", "only a pod has volumes that nobody mounts"),
    "SHM212": ("compose", "variants are services, or overlays on one"),
}
"""Rules that cannot be broken in all three, and why."""

UNFIXED = {
    ("SHM210", "devcontainer"): "the size belongs into another file",
    **{("SHM213", kind): "no rewriter removes a mount" for kind in ("compose", "docker run", "devcontainer")},
}
"""Where a rule has a fix, though not in this format."""

NO_ERROR = {
    "NCCL501": "it works, slowly",
    "NCCL503": "it works, slowly",
    "NCCL506": "it works, and says too much",
    "SHM002": "shmlint's own comments",
    "GPU402": "its texts are in the table",
}
"""Rules about what brings no error of its own."""

NO_SYMPTOM = {
    "NCCL505": "a warning, which names its own remedy",
    "NCCL507": "what NCCL says of its network has no section",
    "SHM001": "what a parser says of a file has no section",
}
"""Rules whose texts are not among the symptoms."""

SECTIONS = ["What it does", "Why is this bad?", "Example", "Use instead", "Fix", "Sources"]


class Example(NamedTuple):
    """A fenced example: the file it is, and whether it is what fixing gives."""

    page: str
    number: int
    name: str
    text: str
    fixed: bool

    @property
    def rule(self) -> str:
        return self.page.partition("-")[0]

    @property
    def format(self) -> str:
        return FORMATS[str(classify(self.name, self.text.encode))]

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
"""Pages of rules whose fixes are unsafe."""


def test_rules_and_pages_are_the_same() -> None:
    assert [f"{rule.id}-{rule.name}" for rule, _ in all_rules().values()] == [page.stem for page in PAGES]


@table("page", PAGES, ids=lambda p: p.stem)
def test_the_front_matter_is_the_rules(page: Path) -> None:
    text = page.read_text("utf-8")
    about = rules.front_matter(text)
    rule, _ = all_rules()[about["id"]]
    assert page.stem == f"{about['id']}-{about['name']}"
    assert (about["id"], about["name"], about["severity"]) == (rule.id, rule.name, rule.severity)
    assert about["summary"].endswith(".") and about["fix"].endswith(".")
    assert about["safe"] in ("true", "false", "none")
    assert rules.page(rule) == text


@table("page", PAGES, ids=lambda p: p.stem)
def test_the_sections_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    about = rules.front_matter(text)
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    assert re.findall(r"^# (.*)$", outside, re.M) == [f"{about['name']} ({about['id']})"]
    assert re.findall(r"^## (.*)$", outside, re.M) == SECTIONS
    assert all(section(text, heading).strip() for heading in SECTIONS)
    assert "](https://" in section(text, "Sources")


@table("page", PAGES, ids=lambda p: p.stem)
def test_a_page_has_examples(page: Path) -> None:
    bad, good = examples(page, "Example"), examples(page, "Use instead")
    assert bad and good
    repairs = rules.front_matter(page.read_text("utf-8"))["safe"] != "none"
    assert any(example.fixed for example in good) == repairs


@table("page", PAGES, ids=lambda p: p.stem)
def test_a_page_has_examples_in_every_format_of_its_rule(page: Path) -> None:
    about = rules.front_matter(page.read_text("utf-8"))
    named = about["formats"].split(", ")
    expected, _ = ONLY.get(about["id"], ("compose, docker run, devcontainer", ""))
    assert ", ".join(named) == expected
    bad, good = examples(page, "Example"), examples(page, "Use instead")
    assert {example.format for example in bad} == set(named)
    assert {example.format for example in good} == set(named)
    if about["safe"] != "none":
        missing = set(named) - {example.format for example in good if example.fixed}
        assert missing == {format for rule, format in UNFIXED if rule == about["id"]}


@table("page", PAGES, ids=lambda p: p.stem)
def test_a_page_says_how_safe_its_fix_is(page: Path) -> None:
    text = page.read_text("utf-8")
    safe, fix = rules.front_matter(text)["safe"], section(text, "Fix").strip()
    assert fix.startswith("None.") == (safe == "none")
    assert safe != "true" or re.search(r"\b[Ss]afe\b", fix)
    assert safe != "false" or ("not safe" in fix and "--unsafe-fixes" in fix)


@table("page", PAGES, ids=lambda p: p.stem)
def test_a_page_shows_the_error_that_is_seen(page: Path) -> None:
    """Word for word in a block of its own; and `shmlint explain` knows it as a symptom."""
    id = page.stem.partition("-")[0]
    why = section(page.read_text("utf-8"), "Why is this bad?")
    texts = re.findall(r"^```text\n(.*?)^```$", why, re.M | re.S)
    if id in NO_ERROR:
        assert not texts
        return
    lines = [line for text in texts for line in text.splitlines()]
    known = [line for line in lines if find(line, symptoms())]
    assert bool(known) == (id not in NO_SYMPTOM), lines


@table("page", PAGES, ids=lambda p: p.stem)
def test_a_page_is_well_formed(page: Path) -> None:
    text = page.read_text("utf-8")
    fences = re.findall(r"^```(.*)$", text, re.M)
    assert len(fences) % 2 == 0 and all(fences[::2]) and not any(fences[1::2]), "each block says what it is"
    assert "\n\n\n" not in text and text.endswith("\n") and not text.endswith("\n\n")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    long = [line for line in prose.splitlines() if len(line) > 140 and not line.startswith(("- [", "|"))]
    assert not long
    for target in re.findall(r"\]\((?!https://)([^)#]+)", prose):
        assert (page.parent / target).exists(), target


@table("page", PAGES, ids=lambda p: p.stem)
def test_sources_do_not_move(page: Path) -> None:
    """A branch of a repository does: what a line number means there, and whether the file is still there."""
    links = re.findall(r"https://github\.com/[^/\s]+/[^/\s]+/(?:blob|tree)/([^/)\s]+)", page.read_text("utf-8"))
    assert [at for at in links if not re.fullmatch(r"[0-9a-f]{7,40}|v[0-9][\w.-]*", at)] == []


def test_exceptions_are_of_rules_that_exist() -> None:
    named = chain(ONLY, NO_ERROR, NO_SYMPTOM, (rule for rule, _ in UNFIXED))
    assert set(named) <= set(all_rules())


@table("example", BAD, ids=str)
def test_what_is_bad_is_found(tmp_path: Path, example: Example) -> None:
    found = findings(tmp_path, {example.name: example.text}, select=chosen(example.rule))
    assert [finding.rule for finding in found] == [example.rule]


@table("example", GOOD, ids=str)
def test_what_is_good_is_not(tmp_path: Path, example: Example) -> None:
    assert findings(tmp_path, {example.name: example.text}, select=chosen(example.rule)) == []


@table("example", [e for e in GOOD if e.fixed], ids=str)
def test_what_is_good_has_no_error_at_all(tmp_path: Path, example: Example) -> None:
    assert [f.rule for f in findings(tmp_path, {example.name: example.text}) if f.severity == "error"] == []


@table("example", [e for e in GOOD if e.fixed], ids=str)
def test_fixing_gives_exactly_what_the_page_shows(tmp_path: Path, example: Example) -> None:
    before = next(e for e in BAD if (e.page, e.number) == (example.page, example.number))
    texts, rule = {before.name: before.text}, chosen(example.rule)
    unsafe = example.page in UNSAFE
    assert fixed(tmp_path, texts, select=rule, unsafe=unsafe) == {example.name: example.text}
    if unsafe:
        assert fixed(tmp_path, texts, select=rule) == {}


REPAIRED = {example.page for example in GOOD if example.fixed}


@table("example", [e for e in BAD if e.page not in REPAIRED], ids=str)
def test_a_rule_without_a_repair_changes_nothing(tmp_path: Path, example: Example) -> None:
    assert fixed(tmp_path, {example.name: example.text}, select=chosen(example.rule)) == {}
