"""Where YAML nodes stand, and what of a text is refused."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from shmlint.source import Source
from shmlint.yamlnodes import MAX_DEPTH, Alias, Mapping, Node, Scalar, Sequence, YamlError, parse


def value_of(text: str, *path: str) -> tuple[Node, str]:
    """The node under a path of keys of the first document, and the text of its span."""
    source = Source("f.yaml", text)
    node = parse(source)[0].root
    for key in path:
        node = node.resolved
        assert isinstance(node, Mapping)
        found = node.get(key)
        assert found is not None
        node = found
    return node, text[node.start : node.end]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a: 8gb\n", "8gb"),
        ("a: 8gb", "8gb"),
        ("a: 8gb # why\n", "8gb"),
        ("a: 8gb\t\n", "8gb"),
        ("a: 8gb\t# why\n", "8gb"),
        ("a:\t8gb \t # why\nb: 1", "8gb"),
        ("a: 8\tgb\n", "8\tgb"),
        ("a: '8gb'\t\n", "'8gb'"),
        ("{a: 8gb\t,\tb: 1\t}\t\n", "8gb"),
        ("a: &x\t8gb\n", "8gb"),
        ("a: 8 gb  \n", "8 gb"),
        ('a: "8gb" # why\n', '"8gb"'),
        ("a: '8''gb'\n", "'8''gb'"),
        ('a: "8\\x67b"\n', '"8\\x67b"'),
        ("a: é😀\n", "é😀"),
        ("'é': 8gb\n'a': 1\n", "1"),
        ("\ufeffa: 8gb\n", "8gb"),
        ("a: 8gb\r\nb: 1\r\n", "8gb"),
        ("b: 1\r\na: 8gb\r\n", "8gb"),
        ("---\na: 8gb\n...\n", "8gb"),
        ("%YAML 1.1\n---\na: 8gb\n", "8gb"),
        ("%TAG !e! tag:example.com,2000:\n---\na: 8gb\n", "8gb"),
        ("a: &x 8gb\n", "8gb"),
        ("a: &x !!str 8gb\n", "8gb"),
        ("a: !!str &x '8gb'\n", "'8gb'"),
        ("a: !override 8gb\n", "8gb"),
        ("a: !reset null\n", "null"),
        ("b: &x 1\na: *x\n", "*x"),
        ("b: &x 1\na: *x # why\n", "*x"),
        ("{a: 8gb, b: 1}\n", "8gb"),
        ("{a: 8gb}\n", "8gb"),
        ("{ a: '8gb' , b: 1}\n", "'8gb'"),
        ("{\n  a: 8gb\n}\n", "8gb"),
        ("{b: &x 1, a: *x }\n", "*x"),
        ('{"a":"8gb"}', '"8gb"'),
        ("a:\n", ""),
        ("a:", ""),
        ("a: # nothing\nb: 1\n", ""),
        ("a: {}\n", "{}"),
        ("a: []\n", "[]"),
        ("a: &x {b: 1} # why\n", "{b: 1}"),
        ("a: [1,\n  2]\n", "[1,\n  2]"),
        ("a:\n  b: 1\n  c: 2 # why\n\n# tail\n", "b: 1\n  c: 2"),
        ("a: &x\n  b: 1\n", " &x\n  b: 1"),
        ("a:\n  - 1\n  - x\n# tail\nb: 1\n", "- 1\n  - x"),
        ("a:\n- 1\n- x\n", "- 1\n- x"),
        ("? a\n: 8gb\n", "8gb"),
        ("a: " + "x" * 65536 + "\n", "x" * 65536),
        ("a: one\n  two\nb: 1\n", "one\n  two"),
    ],
)
def test_a_span_holds_the_value_and_nothing_else(text: str, span: str) -> None:
    _, found = value_of(text, "a")
    if span.startswith(" &"):  # properties on the line of the key: the span starts behind them
        assert found.lstrip() == span.lstrip(" &x\n")
    else:
        assert found == span


@pytest.mark.parametrize(
    ("text", "value", "style"),
    [
        ("a: |\n  x\n  y\nb: 1\n", "x\ny\n", "|"),
        ("a: >-\n  x\n  y\n\n# c\nb: 1\n", "x y", ">"),
        ("a: |+\n  x\n\nb: 1\n", "x\n\n", "|"),
        ("a: |2\n   x\n", " x\n", "|"),
        ("a: |", "", "|"),
    ],
)
def test_a_block_scalar_starts_at_its_header(text: str, value: str, style: str) -> None:
    node, found = value_of(text, "a")
    assert isinstance(node, Scalar)
    assert (node.value, node.style) == (value, style)
    assert found.startswith(style)
    assert "b:" not in found


def test_every_document_is_read() -> None:
    source = Source("f.yaml", "a: 1\n---\nb: 2\n---\n# nothing\n---\nc\n...\n")
    roots = [document.root for document in parse(source)]
    assert [source.text[node.start : node.end] for node in roots] == ["a: 1", "b: 2", "", "c"]


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "   \n"])
def test_a_text_without_a_value_has_no_document(text: str) -> None:
    assert parse(Source("f.yaml", text)) == []


def test_aliases_stay_visible() -> None:
    node, _ = value_of("b: &x {c: 1}\na: *x\n", "a")
    assert isinstance(node, Alias)
    assert isinstance(node.resolved, Mapping)
    assert node.resolved.anchor == "x"


def test_a_name_that_is_anchored_again_means_the_last_before_it() -> None:
    text = "a: &x 1\nb: *x\nc: &x 2\nd: *x\n"
    assert [getattr(value_of(text, name)[0].resolved, "value", None) for name in "bd"] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a: 1\nb: 2\na: 3\n", ["a"]),
        ("a: {x: 1, x: 2}\nb: {x: 1}\n", ["x"]),
        ("a: 1\n'a': 2\n", ["a"]),
        ("x: &x {}\na:\n  <<: *x\n  <<: *x\n", ["<<"]),
        ("a: 1\na: 1\na: 1\n", ["a", "a"]),
        ("a: {b: 1}\nc: {b: 1}\n", []),
    ],
)
def test_keys_that_stand_twice_are_noted(text: str, keys: list[str]) -> None:
    (document,) = parse(Source("f.yaml", text))
    assert [key.value for key in document.duplicates] == keys


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a: [1, 2\n", 2, 1, "expected ',' or ']'"),
        ("a: 1\n b: 2\n", 2, 3, "mapping values are not allowed"),
        ("a:\n\tb: 1\n", 2, 1, "'\\t'"),
        ('a: "x\n', 2, 1, "while scanning a quoted scalar"),
        ("a: *nope\n", 1, 4, "alias *nope has no anchor before it"),
        ("a: &a [*a]\n", 1, 8, "anchor &a contains itself"),
        ("a: &a {b: {c: *a}}\n", 1, 15, "anchor &a contains itself"),
        ("a: \x00\n", 1, 4, "U+0000"),
        ("a: \ud800\n", 1, 4, "U+D800"),
        ("a: 1\n\t\nb: 2\n", 2, 1, "'\\t'"),
        ("%YAML x\n---\na: 1\n", 1, 7, "expected a digit"),
        ("a: @x\n", 1, 4, "cannot start any token"),
    ],
)
def test_an_error_says_what_and_where(text: str, line: int, column: int, words: str) -> None:
    source = Source("f.yaml", text)
    with pytest.raises(YamlError) as caught:
        parse(source)
    assert words in caught.value.message
    assert source.position(caught.value.offset) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "{a: " * 10_000 + "1" + "}" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        "[" * 10_000,
        "".join(" " * i + "a:\n" for i in range(10_000)),
        "- " * 10_000,
        "x0: &x0 {}\n" + "".join(f"x{i}: &x{i}\n  <<: *x{i - 1}\n" for i in range(1, 10_000)),
    ],
    ids=["flow mappings", "flow sequences", "unclosed", "block mappings", "block sequences", "merge keys"],
)
def test_nesting_without_end_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match=f"nested more than {MAX_DEPTH} levels deep"):
        parse(Source("f.yaml", text))


def test_aliases_of_aliases_take_time_by_the_text() -> None:
    lines = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 90)]
    begin = time.process_time()
    (document,) = parse(Source("f.yaml", "a0: &a0 [x]\n" + "".join(lines)))
    assert time.process_time() - begin < 5
    assert document.root.depth == 91


# Without ":" and "?": ruamel.yaml writes some of those plainly where it cannot read them again.
letters = st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters=":?\x85\u2028\u2029")
leaves = st.one_of(
    st.text(letters, max_size=20),
    st.integers(),
    st.booleans(),
    st.none(),
    st.sampled_from(["a b", "# x", "a: b", "- x", "line\nline\n", "  lead", "trail ", "'", '"', "&a", "*a", "!t", "|"]),
)  # fmt: skip
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcé-_", min_size=1), inner, max_size=4),
    max_leaves=15,
)


def scalars(node: Node) -> list[Scalar]:
    if isinstance(node, Scalar):
        return [node]
    if isinstance(node, Mapping):
        return [found for pair in node.pairs for part in pair for found in scalars(part)]
    assert isinstance(node, Sequence)
    return [found for item in node.items for found in scalars(item)]


@given(
    st.dictionaries(st.text("abc", min_size=1), trees, min_size=1),
    st.sampled_from([None, True, False]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
)
def test_the_text_of_a_span_reads_as_its_value(data: Any, flow: bool | None, newline: str, bom: str) -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = flow
    yaml.allow_unicode = True
    out = io.StringIO()
    yaml.dump(data, out)
    text = bom + out.getvalue().replace("\n", newline)
    (document,) = parse(Source("f.yaml", text))
    for node in scalars(document.root):
        span = text[node.start : node.end]
        (again,) = parse(Source("f.yaml", span)) or [None]
        if again is None:
            assert (node.value, node.style) == ("", "")
            continue
        assert isinstance(again.root, Scalar)
        assert (again.root.value.rstrip("\n"), again.root.style) == (node.value.rstrip("\n"), node.style)
