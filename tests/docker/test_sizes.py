"""Sizes: what Docker, Compose and the kernel were seen to read, and the real client as judge."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shmlint.docker.goyaml import resolve_plain
from shmlint.docker.sizes import (
    InvalidSize,
    go_float,
    human,
    parse_compose,
    parse_docker,
    parse_tmpfs_option,
    spell_compose,
    spell_docker,
)
from tests.oracles.docker_client import docker_create
from tests.table import table

CASES: list[tuple[str, int | None, int | None, int | None]] = json.loads(
    Path(__file__).with_name("data").joinpath("size_cases.json").read_text(encoding="utf-8")
)["cases"]


def docker(text: str) -> int | None:
    try:
        return parse_docker(text)
    except InvalidSize:
        return None


def compose(value: object) -> int | None:
    """What Compose makes of a YAML value: a float is dropped, null and a truth value are refused."""
    if isinstance(value, float):
        return 0
    if value is None or isinstance(value, bool):
        return None
    assert isinstance(value, (int, str))
    try:
        return parse_compose(value)
    except InvalidSize:
        return None


@table(("text", "in_docker", "quoted", "plain"), CASES)
def test_reads_what_docker_and_compose_read(
    text: str, in_docker: int | None, quoted: int | None, plain: int | None
) -> None:
    assert docker(text) == in_docker
    assert compose(text) == quoted
    # YAML leaves blanks around a plain scalar out.
    assert compose(resolve_plain(text.strip(" "))) == plain


@table(
    ("text", "size"),
    [
        ("inf g", -(2**63)),
        ("NaN g", -(2**63)),
        ("Infinity b", -(2**63)),
        ("-inf g", None),
        ("+nan b", None),
        ("1e400", None),
        ("-1e-400", 0),
        ("-0.5", None),
        ("0x1p4", 16),
        ("0X1.8P1k", 3072),
        ("0x_1p1_0", 1024),
        ("0x1_p4", None),
        ("0x1p99999", None),
        ("0x.p1", None),
        ("1__0", None),
        ("_1", None),
        ("1_", None),
        ("1_.5g", None),
        ("8 ", 8),
        ("8\tg", None),
        ("8\n", None),
        ("٣g", None),
        ("8\ud800", None),
        (".", None),
        ("..5", None),
        ("1.2.3g", None),
        ("++1", None),
        ("5e18", 5 * 10**18),
        ("9223372036854774784", 2**63 - 1024),
        ("9223372036854775807", -(2**63)),
        ("8191p", 8191 << 50),
        ("8192p", -(2**63)),
    ],
)
def test_reads_numbers_as_go_does(text: str, size: int | None) -> None:
    assert docker(text) == size


@table(
    ("text", "words"),
    [
        ("", "the size is empty"),
        ("8Gi", "`Gi` is not a unit of Docker"),
        ("g", "`g` does not start with a number"),
        (" 8g", "` 8g` does not start with a number"),
        ("half", "`half` does not start with a number"),
        ("8,5g", "`8,5` is not a number"),
        ("..5 g", "`..5` is not a number"),
        ("-8g", "cannot be negative"),
        ("8 x", "`x` is not a unit of Docker"),
        ("8  gb", "` gb` is not a unit of Docker"),
    ],
)
def test_says_why_a_size_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidSize) as refusal:
        parse_docker(text)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 80


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (2**63 - 1, 2**63 - 1),
        (2**63, 0),
        ("+5", 5),
        ("-9223372036854775808", -(2**63)),
        ("0" * 5000 + "7", 7),
        ("9" * 5000, None),
        ("1_000", 1000),
    ],
)
def test_compose_reads_whole_numbers_first(value: int | str, size: int | None) -> None:
    assert compose(value) == size


@table(
    ("text", "size"),
    [
        # mount -t tmpfs -o size=… on Linux 6.18, and the blocks that statfs gave
        ("8g", 8 << 30),
        ("8G", 8 << 30),
        ("8192m", 8 << 30),
        ("8k", 8192),
        ("64", 64),
        ("10t", 10 << 40),
        ("1p", 1 << 50),
        ("1e", 1 << 60),
        ("0x10", 16),
        ("0x1e", 30),
        ("017", 15),
        ("0", 0),
        ("g", 0),
        ("%", 0),
        ("0%", 0),
        ("16777216t", 0),
        ("16e", 0),
        ("17e", 1 << 60),
        ("18446744073709551617", 1),
        ("50%", None),
        ("200%", None),
        ("8g%", None),
    ],
)
def test_reads_what_the_kernel_mounts(text: str, size: int | None) -> None:
    assert parse_tmpfs_option(text) == size


@table(
    "text",
    [
        "",
        "8gb",
        "8GiB",
        "1.5g",
        "0x",
        "0xg",
        "08",
        "0o17",
        "1_000",
        "-1",
        "+1",
        "8 g",
        "8b",
        "50%%",
        "8g\n",
        "٣",
    ],
)
def test_refuses_what_fails_the_mount(text: str) -> None:
    with pytest.raises(InvalidSize):
        parse_tmpfs_option(text)


def test_keeps_the_last_64_bits_of_a_long_number() -> None:
    digits = "123456789" * 600
    assert parse_tmpfs_option(digits) == int(digits[-100:]) % 2**64


@table(
    ("size", "in_compose", "in_docker", "in_prose"),
    [
        (8 << 30, "8gb", "8g", "8 GiB"),
        (512 << 20, "512mb", "512m", "512 MiB"),
        (1536 << 20, "1536mb", "1536m", "1.5 GiB"),
        (64 << 10, "64kb", "64k", "64 KiB"),
        (12345, "12345b", "12345b", "12.1 KiB"),
        (4096, "4kb", "4k", "4 KiB"),
        (64, "64b", "64b", "64 bytes"),
        (1, "1b", "1b", "1 byte"),
        (0, "0b", "0b", "0 bytes"),
        (1 << 30, "1gb", "1g", "1 GiB"),
        (1 << 20, "1mb", "1m", "1 MiB"),
        (3 << 30, "3gb", "3g", "3 GiB"),
        (1023, "1023b", "1023b", "1023 bytes"),
        (1024, "1kb", "1k", "1 KiB"),
        (1025, "1025b", "1025b", "1 KiB"),
        # where a tenth decides between two units
        (1023 << 10, "1023kb", "1023k", "1023 KiB"),
        ((1 << 20) - 512, "1048064b", "1048064b", "1023.5 KiB"),
        ((1 << 20) - 41, "1048535b", "1048535b", "1 MiB"),
        (1 << 40, "1024gb", "1024g", "1 TiB"),
        ((1 << 20) - 1, "1048575b", "1048575b", "1 MiB"),
        (10_995_116_277, "10995116277b", "10995116277b", "10.2 GiB"),
    ],
)
def test_spells(size: int, in_compose: str, in_docker: str, in_prose: str) -> None:
    assert spell_compose(size) == in_compose
    assert spell_docker(size) == in_docker
    assert human(size) == in_prose


@given(st.integers(0, 2**53))
def test_what_is_spelled_is_read_back(size: int) -> None:
    assert parse_compose(spell_compose(size)) == size
    assert compose(resolve_plain(spell_compose(size))) == size
    assert parse_docker(spell_docker(size)) == size


@given(st.integers(-(2**63), 2**63 - 1))
def test_prose_is_short(size: int) -> None:
    number, _, unit = human(size).partition(" ")
    assert unit in ("byte", "bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
    assert abs(float(number)) < 1024 or unit == "PiB"
    assert not number.endswith(".0")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reads_a_float_back(value: float) -> None:
    assert go_float(repr(value)) == value
    assert go_float(value.hex()) == value


@given(st.one_of(st.text(), st.text("0123456789._+-eExXpPkmgtbiINFnaf% \n")))
def test_any_text_is_read_or_refused(text: str) -> None:
    size = docker(text)
    assert size is None or size >= 0 or size == -(2**63)
    value = go_float(text)
    assert value is None or not math.isinf(value) or "inf" in text.lower()
    compose(text)
    try:
        mounted = parse_tmpfs_option(text)
    except InvalidSize:
        return
    assert mounted is None or 0 <= mounted < 2**64


_NUMBERS = st.one_of(
    st.integers(0, 99999).map(str),
    st.floats(0, 1e6).map(repr),
    st.sampled_from(
        ["1e3", "1E+2", "1_0", "1__0", "0x1p9", "0x10", "017", ".5", "5.", ".", "+3", "-0", "-2"]
    ),
    st.sampled_from(["inf", "NaN", "", "99999999999999999999", "1e400"]),
)
_UNITS = st.sampled_from(
    [
        "",
        "b",
        "k",
        "K",
        "kb",
        "m",
        "MB",
        "MiB",
        "g",
        "G",
        "gb",
        "Gb",
        "GiB",
        "Gi",
        "gi",
        "t",
        "p",
        "e",
        "bb",
        "%",
    ]
)


@pytest.mark.docker_client
@settings(suppress_health_check=list(HealthCheck))
@given(number=_NUMBERS, blank=st.sampled_from(["", "", "", " ", "  "]), unit=_UNITS)
def test_the_docker_client_agrees(number: str, blank: str, unit: str) -> None:
    text = f"{number}{blank}{unit}"
    _, body, said = docker_create(["create", f"--shm-size={text}", "image"])
    assert docker(text) == (None if body is None else body["HostConfig"]["ShmSize"]), said
