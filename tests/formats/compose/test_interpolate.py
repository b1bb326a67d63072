"""Substitution: a table, and the real Compose as judge of generated texts."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from shmlint.formats.compose.interpolate import InvalidInterpolation, interpolate
from tests.oracles.compose import compose_answer
from tests.table import table

VARIABLES: dict[str, str | None] = {"A": "1", "B": "two words", "EMPTY": "", "_x9": "under", "Ab": "mixed"}


@table(
    ("text", "becomes"),
    [
        ("plain", "plain"),
        ("", ""),
        ("$A", "1"),
        ("${A}", "1"),
        ("x${A}y$B.", "x1ytwo words."),
        ("$A-x", "1-x"),
        ("${_x9}$Ab$ab", "undermixed"),
        ("$NONE", ""),
        ("${NONE:-d}", "d"),
        ("${NONE-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${A:-d}", "1"),
        ("${NONE:-}", ""),
        ("${NONE:-$B}", "two words"),
        ("${NONE:-${EMPTY:-${A}}}", "1"),
        ("${NONE:-a${A}b}c", "a1bc"),
        ("${A:+d}", "d"),
        ("${A+d}", "d"),
        ("${EMPTY:+d}", ""),
        ("${EMPTY+d}", "d"),
        ("${NONE:+d}", ""),
        ("${A:+${B}}", "two words"),
        ("${A:?needed}", "1"),
        ("${EMPTY?needed}", ""),
        ("${A-b:-c}", "1"),
        ("${NONE-b:-c}", "b:-c"),
        ("$$A", "$A"),
        ("$${A}", "${A}"),
        ("$$$A", "$1"),
        ("${NONE:-$$x}", "$x"),
        ("a$", "a$"),
        ("a$ b", "a$ b"),
        ("$1", "$1"),
        ("$-", "$-"),
        ("a}b{c", "a}b{c"),
        ("${NONE:-a}b}", "ab}"),
        ("""${NONE:-'{"a":1}'}""", """'{"a":1}'"""),
        ("${NONE:-{}}", "{}"),
        ("${NONE:-{x}", "{x"),
        ("${NONE:-a}\n${A}", "a\n1"),
    ],
)
def test_becomes(text: str, becomes: str) -> None:
    assert interpolate(text, VARIABLES).text == becomes


@table(
    ("text", "offset"),
    [
        ("${A", 0),
        ("x${A:=b}", 1),
        ("${A/a/b}", 0),
        ("${ A }", 0),
        ("${1}", 0),
        ("${}", 0),
        ("${A:x}", 0),
        ("${NONE:-a\nb}", 0),
        ("${NONE:-${A}", 8),
        ("${NONE:-" * 10_000 + "}" * 10_000, 408),
    ],
)
def test_is_refused(text: str, offset: int) -> None:
    with pytest.raises(InvalidInterpolation) as caught:
        interpolate(text, VARIABLES)
    assert caught.value.offset == offset


def test_says_what_it_lacked_and_used() -> None:
    result = interpolate("${NONE}${ALSO:-x${A}}${B:-y}${EMPTY:?}", {"A": "1", "B": "2"})
    assert result.unset == ["NONE", "EMPTY"]
    assert result.used == ["NONE", "ALSO", "A", "B", "EMPTY"]
    assert result.private


def test_says_where_the_defaults_are_that_it_used() -> None:
    text = "${A:-no}x${NONE:-y${NONE2-zz}}"
    result = interpolate(text, {"A": "1"})
    assert [text[start:end] for start, end in result.defaults] == ["y${NONE2-zz}", "zz"]
    assert result.text == "1xyzz"


def test_a_default_alone_is_not_private() -> None:
    assert not interpolate("${NONE:-1g}", VARIABLES).private


@pytest.mark.parametrize("piece", ["${A:-x}", "$A", "${NONE:-{", "${A:-x", "$$", "}", "${"])
def test_takes_time_by_the_text(piece: str) -> None:
    begin = time.process_time()
    try:
        interpolate(piece * 20_000, VARIABLES)
    except InvalidInterpolation:
        pass
    assert time.process_time() - begin < 5


pieces = st.sampled_from(
    ["$", "$$", "{", "}", "${", "A", "B",
     "NONE", "EMPTY", "${A", "${NONE", ":-", "-", ":+", "+", ":?", "?", "x", " ", "1",
     "${NONE:-", "${A:-", "${EMPTY-", "${A:+", "}}", "'", '"', "=", ":", "_", "é"]
)  # fmt: skip


def read(text: str) -> str | None:
    try:
        return interpolate(text, VARIABLES).text
    except InvalidInterpolation:
        return None


def judged(texts: list[str]) -> list[str | None]:
    """What Compose makes of texts; None for those it refuses. Each refusal costs it the others' answers."""
    with tempfile.TemporaryDirectory() as name:
        env = "".join(f'{key}="{value}"\n' for key, value in VARIABLES.items())
        (Path(name) / ".env").write_text(env, encoding="utf-8")
        lines = "".join(f"      l{i}: '{text.replace(chr(39), chr(39) * 2)}'\n" for i, text in enumerate(texts))
        file = f"services:\n  s:\n    image: x\n    labels:\n      z: z\n{lines}"
        (Path(name) / "compose.yaml").write_text(file, encoding="utf-8")
        answer, _ = compose_answer(Path(name))
    if answer is not None:
        labels = answer["services"]["s"]["labels"]
        return [labels[f"l{i}"] for i in range(len(texts))]
    if len(texts) == 1:
        return [None]
    half = len(texts) // 2
    return judged(texts[:half]) + judged(texts[half:])


@pytest.mark.compose_judge
@settings(
    max_examples=max(1, int(os.environ.get("SHMLINT_EXAMPLES", "60")) // 6),
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(st.lists(pieces, max_size=8).map("".join), min_size=30, max_size=60))
def test_compose_agrees(texts: list[str]) -> None:
    accepted = [text for text in texts if read(text) is not None]
    # What we take for wrong is left out: a required variable without a value is one of those for Compose.
    for text, theirs in zip(accepted, judged(accepted) if accepted else [], strict=True):
        note(repr(text))
        required = interpolate(text, VARIABLES).unset and "?" in text
        assert theirs == read(text) or (theirs is None and required)
    refused = [text for text in texts if read(text) is None][:2]
    assert not any(judged([text])[0] is not None for text in refused)
