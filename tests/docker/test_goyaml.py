"""Plain scalars: tables, and the real Compose as judge of generated ones."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.docker.goyaml import resolve_plain
from tests.table import table


@table(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("n", "n"),
        ("<<", "<<"),
        ("0", 0),
        ("-0", 0),
        ("64", 64),
        ("+12", 12),
        ("-12", -12),
        ("017", 15),
        ("-017", -15),
        ("0o17", 15),
        ("0O17", 15),
        ("-0o17", -15),
        ("0x40000000", 1 << 30),
        ("0X1f", 31),
        ("-0x10", -16),
        ("0b101", 5),
        ("1_000", 1000),
        ("1__000_", 1000),
        ("0_17", 15),
        ("0x_1_0", 16),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2**63),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0xFFFFFFFFFFFFFFFF", 2**64 - 1),
        ("18446744073709551616", 2.0**64),
        ("+9223372036854775808", 2.0**63),
        ("-9223372036854775809", -(2.0**63)),
        ("0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF"),
        ("1e9", 1e9),
        ("1E+9", 1e9),
        ("12e03", 12000.0),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        (".5_0", 0.5),
        ("._5", "._5"),
        ("-._5", -0.5),
        ("08", 8.0),
        ("0o8", "0o8"),
        ("1e400", "1e400"),
        (".5e400", ".5e400"),
        (".inf", math.inf),
        ("+.Inf", math.inf),
        ("-.INF", -math.inf),
        (".iNF", ".iNF"),
        ("inf", "inf"),
        ("16:30", "16:30"),
        ("2001-12-14", "2001-12-14"),
        ("8gb", "8gb"),
        ("0x", "0x"),
        ("0x0x1", "0x0x1"),
        ("0x1p4", "0x1p4"),
        ("+-1", "+-1"),
        ("-", "-"),
        (".", "."),
        ("1 000", "1 000"),
        ("٣", "٣"),
        ("1٣", "1٣"),
        ("64\n", "64\n"),
    ],
)
def test_reads_what_go_yaml_reads(text: str, value: object) -> None:
    found = resolve_plain(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_reads_not_a_number(text: str) -> None:
    found = resolve_plain(text)
    assert isinstance(found, float)
    assert math.isnan(found)


def test_reads_very_long_numbers() -> None:
    assert resolve_plain("1" * 300) == float("1" * 300)
    assert resolve_plain("1" * 5000) == "1" * 5000


@given(st.integers(-(2**63), 2**64 - 1))
def test_reads_an_integer_in_every_base(number: int) -> None:
    assert resolve_plain(str(number)) == number
    assert resolve_plain(hex(number)) == number
    assert resolve_plain(oct(number)) == number
    assert resolve_plain(bin(number)) == number


@given(st.text())
def test_any_text_has_a_value(text: str) -> None:
    found = resolve_plain(text)
    assert not isinstance(found, str) or found == text


def asked_of_compose(scalars: list[str], directory: Path) -> list[object]:
    """What Compose reads in plain scalars; its answer is JSON, where 1000000000 may be a float."""
    listed = "".join(f"  - {scalar}\n" for scalar in scalars)
    file = directory / "compose.yaml"
    file.write_text(f"services: {{a: {{image: b}}}}\nx-scalars:\n{listed}", encoding="utf-8")
    command = ["docker", "compose", "-f", str(file), "config", "--format", "json"]
    done = subprocess.run(command, capture_output=True, timeout=20, check=True, text=True)
    answer: list[object] = json.loads(done.stdout)["x-scalars"]
    return answer


@pytest.mark.compose_judge
def test_compose_agrees(tmp_path: Path) -> None:
    signs = ("", "+", "-")
    stems = (
        "0", "7", "08", "017", "0o17", "0O17", "0o8", "0x1F", "0X1f", "0xg", "0b101", "0B11", "0b2",
        "1_000", "1__0", "1_", "0_17", "0x_1", "1e3", "1E+3", "1e-3", "1e", "12e03", "1e400", ".5e400",
        "1.5", "1.", ".5", "._5", ".5_0", ".5_", "1_0.5", "1.5.2", "0x1p4", "16:30", "1,5", "8gb", "1 000",
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
        "0xFFFFFFFFFFFFFFFF", "inf", "nan",
    )  # fmt: skip
    words = (
        "~", "null", "Null", "nULL", "true", "True", "tRUE", "false", "FALSE", "yes", "on", "off", "y", "n",
        "",
    )  # fmt: skip
    scalars = [sign + stem for sign in signs for stem in stems] + list(words)
    for scalar, answer in zip(scalars, asked_of_compose(scalars, tmp_path), strict=True):
        found = resolve_plain(scalar)
        if isinstance(found, float) and isinstance(answer, (int, float)):
            assert math.isclose(found, answer), scalar
        else:
            assert (type(found), found) == (type(answer), answer), scalar
