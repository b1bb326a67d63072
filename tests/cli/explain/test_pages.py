"""The pages of rules in a terminal."""

from __future__ import annotations

import re

from shmlint.cli import explain
from shmlint.cli.explain.pages import terminal
from shmlint.files import installed as rules
from shmlint.rules import all_rules


def test_markdown_for_a_terminal() -> None:
    text = "One **word** and [a page](SHM101-x.md),\nand [more](https://example.com/x).\n\n- an item\n  goes on\n"
    text += "- two\n\n```sh\ndf   -h\n```\n" + "word " * 30
    assert list(terminal(text, 40)) == [
        "One word and a page, and more",
        "(https://example.com/x).",
        "",
        "- an item goes on",
        "- two",
        "",
        "    df   -h",
        "word word word word word word word word",
        "word word word word word word word word",
        "word word word word word word word word",
        "word word word word word word",
    ]


def test_a_rule_is_its_page() -> None:
    first, *lines = explain.explain("shm101")
    assert first == "missing-shm-size (SHM101)" and set(lines[0]) == {"="}
    assert list(explain.explain("missing-shm-size")) == [first, *lines]
    page = rules.page(all_rules()["SHM101"][0]).partition("\n---\n")[2]
    words = set(re.findall(r"[A-Za-z]{5,}", re.sub(r"\]\([^)]*\)|```.*", "", page)))
    assert words <= set(re.findall(r"[A-Za-z]{5,}", "\n".join([first, *lines]))), "nothing is left out"


def test_headings_tables_and_files_for_a_terminal() -> None:
    text = "# Title\n\n| a | what |\n|---|---|\n| `long one` | [x](y.md) and so on |\n| b | c |\n"
    text += "1. first\n   item\n2. second\n"
    text += "## Part\n```sh run.sh fixed\n# no heading\n```\n"
    assert list(terminal(text, 30)) == [
        "Title", "=====", "",
        "  a           what", "  `long one`  x and so on", "  b           c",
        "1. first item", "2. second",
        "Part", "----",
        "  run.sh as --fix leaves it:", "    # no heading",
    ]  # fmt: skip
