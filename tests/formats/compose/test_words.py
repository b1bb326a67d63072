"""How Compose splits a command into words, with Compose itself as judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shmlint.formats.compose.words import split_words
from tests.oracles.compose import compose_config
from tests.table import table

SPLIT: list[tuple[str, list[str]]] = [
    ("", []),
    ("  ", []),
    ("a", ["a"]),
    ("torchrun --nproc_per_node=8 train.py", ["torchrun", "--nproc_per_node=8", "train.py"]),
    (" a\tb\nc\r d ", ["a", "b", "c", "d"]),
    # quotes keep blanks, and each the other
    ("'a b' c", ["a b", "c"]),
    ('"a b" c', ["a b", "c"]),
    ("a'b c'd", ["ab cd"]),
    ("\"it's\"", ["it's"]),
    ("'say \"x\"'", ['say "x"']),
    ("'' a", ["", "a"]),
    ('""', [""]),
    ("--opt=''", ["--opt="]),
    ("'a\tb'", ["a\tb"]),
    ("'a\nb'", ["a\nb"]),
    # a backslash takes what comes next, but between single quotes
    ("a\\ b", ["a b"]),
    ("\\a", ["a"]),
    ('"a\\"b"', ['a"b']),
    ('"a\\nb"', ["anb"]),
    ("'a\\nb'", ["a\\nb"]),
    ("'a\\' b", ["a\\", "b"]),
    ("\\\\", ["\\"]),
    ("a \\\n b", ["a", "\n", "b"]),
    ("\\'a b\\'", ["'a", "b'"]),
    # it stops where a shell would go on to the next command
    ("a && b", ["a"]),
    ("a; b", ["a"]),
    ("a;b", ["a"]),
    ("a | b", ["a"]),
    ("a > out", ["a"]),
    ("a < in", ["a"]),
    ("a 2>out", ["a"]),
    ("a b2>out", ["a", "b2"]),
    ("a 2<in", ["a", "2"]),
    ("a 2x>out", ["a"]),
    (">", []),
    ("&", []),
    # quoted it is a word
    ("a '&&' b", ["a", "&&", "b"]),
    ('sh -c "a && b | c > d; e"', ["sh", "-c", "a && b | c > d; e"]),
    ("a \\; b", ["a", ";", "b"]),
    ("a \\> b", ["a", ">", "b"]),
    # substitutions are kept as they are
    ("a $(b c) d", ["a", "$(b c)", "d"]),
    ("a `b c` d", ["a", "`b c`", "d"]),
    ("a $(b | c)", ["a", "$(b | c)"]),
    ("a `b; c`", ["a", "`b; c`"]),
    ('a "$(b c)" d', ["a", "$(b c)", "d"]),
    ('"`b c`"', ["`b c`"]),
    ("'$(b c'", ["$(b c"]),
    ("x$(b)y", ["x$(b)y"]),
    ("'(a)'", ["(a)"]),
    ("\\(a\\)", ["(a)"]),
    ("$(a 'b c')", ["$(a 'b c')"]),
    ("$(a `b`)", ["$(a `b`)"]),
    ("`a (b`", ["`a (b`"]),
    ("$x ${y}", ["$x", "${y}"]),
    ("# no comment", ["#", "no", "comment"]),
    ("ä 日本", ["ä", "日本"]),
    ("a\u00a0b", ["a\u00a0b"]),
]

REFUSED = [
    "'a", '"a', "a\\", "`a", "$(a", "(a)", "a(b", "a)", ")", "$(a (b))", "$(a $(b))", "a `b", "'a \"b\"", "a\\'b c'",
]  # fmt: skip


@table(("text", "words"), SPLIT)
def test_splits(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@table("text", REFUSED)
def test_refuses(text: str) -> None:
    assert split_words(text) is None


def compose_file(directory: Path, texts: list[str]) -> None:
    """A compose file with a service for each command; JSON is YAML."""
    services = {f"s{at}": {"image": "x", "command": text.replace("$", "$$")} for at, text in enumerate(texts)}
    (directory / "compose.yaml").write_text(json.dumps({"services": services}), encoding="utf-8")


def commands(directory: Path, texts: list[str]) -> list[list[str]] | None:
    """What Compose makes of commands; None where it refuses one of them."""
    compose_file(directory, texts)
    answer = compose_config(directory)
    if answer is None:
        return None
    return [answer["services"][f"s{at}"].get("command") or [] for at in range(len(texts))]


@pytest.mark.compose_judge
def test_compose_splits_so(tmp_path: Path) -> None:
    assert commands(tmp_path, [text for text, _ in SPLIT]) == [words for _, words in SPLIT]


@pytest.mark.compose_judge
@table("text", REFUSED)
def test_compose_refuses(text: str, tmp_path: Path) -> None:
    assert commands(tmp_path, [text]) is None


@pytest.mark.compose_judge
@settings(suppress_health_check=list(HealthCheck))
@given(st.lists(st.text("ab1 \\'\"`$();&|<>\n\t", max_size=12), min_size=30, max_size=60))
def test_compose_splits_any_text_so(tmp_path: Path, texts: list[str]) -> None:
    """Those we take in one file; of those we refuse the first, alone."""
    split = {text: split_words(text) for text in texts}
    taken = [text for text in texts if split[text] is not None]
    assert commands(tmp_path, taken) == [split[text] for text in taken]
    refused = [text for text in texts if split[text] is None]
    assert not refused or commands(tmp_path, refused[:1]) is None


@given(st.text("ab \\'\"`$();&|<>\n"))
def test_any_text_is_split_or_refused(text: str) -> None:
    words = split_words(text)
    assert words is None or sum(map(len, words)) <= len(text)
    quoted = split_words("'" + text.replace("'", "'\\''") + "'")
    assert quoted == [text]
