"""JSON with comments: every value and every problem has its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.model.source import Source, character_offsets
from shmlint.syntax.json import Json, parse
from tests.table import table


def read(text: str) -> Json:
    value, problems = parse(Source("x.json", text))
    assert value is not None and problems == []
    return value


def plain(value: Json) -> object:
    """A value as Python's own parser gives it."""
    if value.kind == "object":
        return {name: plain(held) for name, (_, held) in value.entries.items()}
    if value.kind == "array":
        return [plain(item) for item in value.items]
    return value.text if value.kind == "string" else json.loads(value.span.text)


COMMENTED = """\
// before
/* all
of it */ {
  // "a": [0],
  "a": [ // behind the bracket
// at column 0
    "x", /* between */ "y" // behind a value
/* at column 0 */
    , "z", // a trailing comma
  ],
  "b" /* of */ : /* a */ null, "c://d": "// no comment",
}
// after"""


def test_comments_may_be_anywhere_and_commas_at_the_end() -> None:
    for text in (COMMENTED, COMMENTED.replace("\n", "\r\n"), "\ufeff" + COMMENTED, COMMENTED.replace("  ", "\t")):
        assert plain(read(text)) == {"a": ["x", "y", "z"], "b": None, "c://d": "// no comment"}


def test_places_count_characters() -> None:
    text = '\ufeff// Größe 𝛼 ✓\r\n{"näme": "wért", /* 🐋 */ "x": ["--shm-size=8g"]}'
    value = read(text)
    found = value.get("x")
    assert found is not None
    assert found.items[0].span.text == '"--shm-size=8g"' and found.items[0].inside.text == "--shm-size=8g"
    assert found.items[0].span.begin == (2, text.splitlines()[1].index('"--') + 1)
    assert value.entries["näme"][0].span.text == '"näme"'


@table(
    ("written", "text", "places"),
    [
        ("abc", "abc", [1, 2, 3]),
        (r"a\"b", 'a"b', [1, 2, 4]),
        (r"\u0041b", "Ab", [1, 7]),
        (r"\\n", "\\n", [1, 3]),
        (r"\n\t\r\b\f\/", "\n\t\r\b\f/", [1, 3, 5, 7, 9, 11]),
        (r"\ud83d\udc0bx", "🐋x", [1, 13]),
        (r"\ud83dx", "\ufffdx", [1, 7]),
        (r"\udc0b\ud83d", "\ufffd\ufffd", [1, 7]),
        ("🐋é", "🐋é", [1, 2]),
        ("", "", []),
    ],
)
def test_a_string_knows_the_place_of_each_character(written: str, text: str, places: list[int]) -> None:
    value = read(f'"{written}"')
    assert (value.text, list(value.offsets)) == (text, places)


@table(
    ("text", "column", "message"),
    [
        ('{"a": 1 "b": 2}', 9, "not valid JSON: `,` is missing before this"),
        ('{"a": "x" /* c */ "b": {"c": 1}, "d": 3}', 19, "not valid JSON: `,` is missing before this"),
        ('{"a": [1 2], "b": 2}', 10, "not valid JSON: `,` is missing before this"),
        ('["a" "b"]', 6, "not valid JSON: `,` is missing before this"),
        ('{"a": 1', 8, "not valid JSON: `}` is missing here"),
        ('{"a": 1, "b" 2}', 8, "not valid JSON here"),
    ],
)
def test_a_missing_character_is_named(text: str, column: int, message: str) -> None:
    _, problems = parse(Source("x.json", text))
    assert [(p.span.begin.column, p.message) for p in problems] == [(column, message)]


@table(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("// nothing\n", 1, 1),
        ("nope", 1, 1),
        ('{"a": 1', 1, 8),
        ('{"a": [1,\n2}', 2, 2),
        ('{"a": [1,,2]}', 1, 9),
        ('{"a": 1,,}', 1, 8),
        ('[1,,]', 1, None),
        ('[[1,],[2,],,]', 1, None),
        ('[[1,],[,]]', 1, None),
        ('{,"a": 1}', 1, 2),
        ("[,]", 1, 2),
        ('{"a":}', 1, 6),
        ("{'a': 1}", 1, None),
        ('{"a": 1}\n}', 2, 1),
        ("{}\n{}", 2, 1),
        ('{"é": 1, "b" 2, "c": tru}', 1, None),
    ],
)
def test_what_is_broken_is_said_once_and_where(text: str, line: int, column: int | None) -> None:
    _, problems = parse(Source("x.json", text))
    assert len(problems) == 1
    begin = problems[0].span.begin
    assert begin.line == line and column in (None, begin.column)


@pytest.mark.parametrize("text", ["[" * 10_000 + "]" * 10_000, '{"a":' * 10_000 + "0" + "}" * 10_000])
def test_depth_is_no_matter(text: str) -> None:
    assert read(text).kind in ("array", "object")
    _, problems = parse(Source("x.json", text[:-1]))
    assert len(problems) == 1


def test_get_follows_keys() -> None:
    value = read('{"a": {"b": "c", "n": null}, "a2": 1}')
    assert (found := value.string("a", "b")) is not None and found.text == "c"
    assert value.get("a", "n") is None and value.get("a", "b", "c") is None and value.get("x") is None
    assert value.string("a2") is None


@st.composite
def commented(draw: st.DrawFn, value: object) -> str:
    """A value as JSON with comments and trailing commas."""
    gap = st.sampled_from(["", " ", "\n", "\r\n\t", " // c,]}\n", "/* [{, */", "\n// \"x\n"])

    def around(text: str) -> str:
        return draw(gap) + text + draw(gap)

    def write(some: object) -> str:
        if isinstance(some, list):
            parts = [around(write(item)) for item in some]
            opening, closing = "[]"
        elif isinstance(some, dict):
            parts = [around(json.dumps(name)) + ":" + around(write(item)) for name, item in some.items()]
            opening, closing = "{}"
        else:
            return json.dumps(some)
        comma = "," + draw(gap) if bool(parts) and draw(st.booleans()) else ""
        return opening + (",".join(parts) or draw(gap)) + comma + closing

    return around(write(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_all_json_is_read_as_by_python(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert plain(read(text)) == value


@given(st.data(), JSON)
def test_comments_and_trailing_commas_change_no_value(data: st.DataObject, value: object) -> None:
    assert plain(read(data.draw(commented(value)))) == value


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    value, problems = parse(Source("x.json", text))
    assert value is not None or problems
    assert all(0 <= p.span.start <= p.span.end <= len(text) for p in problems)


@given(st.text())
def test_offsets_lead_from_bytes_to_characters(text: str) -> None:
    offsets = character_offsets(text)
    if offsets is None:
        assert text.isascii()
    else:
        data = text.encode()
        assert len(offsets) == len(data) + 1
        for at in range(len(text) + 1):
            assert offsets[len(text[:at].encode())] == at
