"""CSV, truth values and integers as Go's standard library reads them; the docker client as judge of CSV."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.docker.gotext import CSVError, go_bool, read_record
from tests.oracles.docker_client import docker_create
from tests.table import table

RECORDS = [
    ("a", ["a"]),
    ("a,b", ["a", "b"]),
    ("a,,b,", ["a", "", "b", ""]),
    (",", ["", ""]),
    (" a , b ", [" a ", " b "]),
    ('"a,b",c', ["a,b", "c"]),
    ('"a""b"', ['a"b']),
    ('""', [""]),
    ('"",""', ["", ""]),
    ('"a\nb",c', ["a\nb", "c"]),
    ('"a\r\nb"', ["a\nb"]),
    ('"a\n\nb"', ["a\n\nb"]),
    # the first line that is not empty, and nothing after it
    ("a,b\nc", ["a", "b"]),
    ("\n\na\n", ["a"]),
    ("a\r\n", ["a"]),
    ("a\r", ["a"]),
    ("a\rb", ["a\rb"]),
    ('"a"\nb', ["a"]),
    ('"a","b"\n', ["a", "b"]),
    ("'a,b'", ["'a", "b'"]),
]

BROKEN = [
    ("", "EOF"),
    ("\n", "EOF"),
    ("\r\n\n", "EOF"),
    ('a"b', 'parse error on line 1, column 2: bare " in non-quoted-field'),
    ('a,b"', 'parse error on line 1, column 4: bare " in non-quoted-field'),
    ('ab,"c",d"e', 'parse error on line 1, column 9: bare " in non-quoted-field'),
    ('"a', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
    ('"', 'parse error on line 1, column 2: extraneous or missing " in quoted-field'),
    ('"a"b', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
    ('"a" ,b', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
    ('x,"a"b"', 'parse error on line 1, column 5: extraneous or missing " in quoted-field'),
    ('"a""', 'parse error on line 1, column 5: extraneous or missing " in quoted-field'),
    ('"a\nb', 'parse error on line 2, column 2: extraneous or missing " in quoted-field'),
    ('\na"', 'parse error on line 2, column 2: bare " in non-quoted-field'),
]


@table(("text", "fields"), RECORDS)
def test_records(text: str, fields: list[str]) -> None:
    assert read_record(text) == fields


@table(("text", "message"), BROKEN)
def test_what_is_no_record(text: str, message: str) -> None:
    with pytest.raises(CSVError) as refusal:
        read_record(text)
    assert str(refusal.value) == message


@pytest.mark.docker_client
@table("text", [text for text, _ in RECORDS] + [text for text, _ in BROKEN])
def test_the_client_reads_the_same_fields(text: str) -> None:
    """It names the first field where that is no option of ``--gpus``, or what is wrong with the record."""
    text = text.replace("a", "a=").replace("b", "b=")
    _, body, said = docker_create(["create", "--gpus", text, "image"])
    assert body is None
    try:
        first = read_record(text)[0]
    except CSVError as error:
        assert str(error) in said
        return
    assert "parse error" not in said and "EOF" not in said
    assert "=" not in first or f"unexpected key '{first.partition('=')[0]}' in '{first}'" in said


@given(st.lists(st.text('ab," \n'), min_size=1).filter(lambda fields: fields != [""]))
def test_what_is_written_is_read_back(fields: list[str]) -> None:
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(fields)
    assert read_record(file.getvalue()) == fields


@given(st.text('ab,"\r\n'))
def test_any_text_is_a_record_or_not(text: str) -> None:
    try:
        assert read_record(text)
    except CSVError as error:
        assert str(error) == "EOF" or "parse error on line" in str(error)


@table(
    ("text", "value"),
    [(text, True) for text in ("1", "t", "T", "true", "True", "TRUE")]
    + [(text, False) for text in ("0", "f", "F", "false", "False", "FALSE")]
    + [(text, None) for text in ("", "yes", "tRUE", "on", " true", "2", "-1", "fALSE")],
)
def test_truth_values(text: str, value: bool | None) -> None:
    assert go_bool(text) is value
