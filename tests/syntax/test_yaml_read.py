"""Where YAML nodes stand, and what of a text is refused."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from shmlint.model.source import Source
from shmlint.syntax.yaml import Alias, MappingNode, Node, Scalar, SequenceNode, YamlError
from shmlint.syntax.yaml_read import MAX_DEPTH, parse, parse_part
from tests.table import table


def value_of(text: str, *path: str) -> tuple[Node, str]:
    """The node under a path of keys of the first document, and the text of its span."""
    source = Source("f.yaml", text)
    node = parse(source)[0].root
    for key in path:
        node = node.resolved
        assert isinstance(node, MappingNode)
        found = node.get(key)
        assert found is not None
        node = found
    return node, text[node.start : node.end]


@table(
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
    assert isinstance(node.resolved, MappingNode)
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


def test_what_go_yaml_reads_and_other_parsers_refuse() -> None:
    for text, value in [
        ("k: &k a\n---\na: *k\n", "a"),
        ("k: &k a\nb:\n  *k: 1\n---\na: *k\n", "a"),
        ("k: &k a\n*k: b\n", "b"),
        ("k: &k a\nb: {*k: c}\na: d\n", "d"),
        ("k: &k:x\na: *k\n", ":x"),
        ("a: b\n...\n...\n", "b"),
        ("a: b\n... # c\n\n...\n---\na: d\n...\n...\n", "d"),
        ('a: "b\\\'c"\n', "b'c"),
        ("a: |#c\n  b\n", "b\n"),
        ("a: >-#c\n  b\n", "b"),
        ("a: |2+#c\n   b\n\n", " b\n\n"),
    ]:
        root = parse(Source("f.yaml", text))[-1].root
        assert isinstance(root, MappingNode)
        values = {key.resolved.value: node.resolved for key, node in root.pairs if isinstance(key.resolved, Scalar)}
        found = values["a"]
        assert isinstance(found, Scalar) and found.value == value, text


@table(
    ("text", "line", "column", "words"),
    [
        ("a: [1, 2\n", 1, 4, "the `[` that starts here is not closed"),
        ("a: {b: c\nd: e\n", 2, 2, "a `,` or `}` is missing before this"),
        ("a: {b: c\n", 1, 4, "the `{` that starts here is not closed"),
        ("a: [b: c: d]\n", 1, 9, "a `,` or `]` is missing before this"),
        ("a: [b,,c]\n", 1, 7, "a value is missing here"),
        ("a: 1\n b: 2\n", 2, 3, "a `:` is not allowed here; put the text in quotes, or correct the indentation"),
        ("a: - b\n", 1, 4, "a list item (`-`) is not allowed here"),
        ("a:\n\tb: 1\n", 2, 1, "a tab in the indentation; indent with spaces"),
        ('a: "x\nb: c\n', 1, 4, "the quote that starts here is not closed"),
        ('a: "\\d"\n', 1, 6, "this escape is not valid in double quotes; use single quotes, or write `\\\\`"),
        ("a: 'it's'\n", 1, 8, "there is text after the closing quote"),
        ("a:\n    b: c\n   d: e\n", 3, 4, "this does not belong to the mapping that starts with `a`; correct its"),
        ("a:\n  - b\n  c: d\n", 3, 3, "this line does not belong to the list above it; start it with `-`"),
        ("a: &k.x b\n", 1, 4, "`&` and `*` need the name of an anchor"),
        ("a: *.txt\n", 1, 4, "put the value in quotes if it is text"),
        ("a: !b!c d\n", 1, 4, "`!` needs a valid tag"),
        ("a: !<b c\n", 1, 7, "`!` needs a valid tag"),
        ("a: |22#c\n  b\n", 1, 5, "only `+`, `-`, a digit and a comment may follow the `|` or `>`"),
        ("a: |b\n", 1, 5, "only `+`, `-`, a digit and a comment may follow the `|` or `>`"),
        ("a: b\n...\nc: d\n", 3, 1, "start a new document with `---`"),
        ("a: *nope\n", 1, 4, "alias *nope has no anchor before it"),
        ("a: &a [*a]\n", 1, 8, "anchor &a contains itself"),
        ("a: &a {b: {c: *a}}\n", 1, 15, "anchor &a contains itself"),
        ("a: \x00\n", 1, 4, "U+0000"),
        ("a: \ud800\n", 1, 4, "U+D800"),
        ("a: 1\n\t\nb: 2\n", 2, 1, "a tab in the indentation"),
        ("%YAML x\n---\na: 1\n", 1, 7, "is not a valid directive"),
        ("%YAML 1.1\n%YAML 1.1\n---\na: 1\n", 2, 1, "is not a valid directive"),
        ("a: @x\n", 1, 4, "a value cannot start with `@`; put it in quotes"),
        ("a: `x`\n", 1, 4, "a value cannot start with a backtick; put it in quotes"),
        ("a:\n  - run: |\n      cat << EOF\nEOF\n\n  - run: b\n", 4, 1, "this line has no `:` after a key"),
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


def test_aliases_may_stand_for_much() -> None:
    """Ten thousand services that share one anchor."""
    body = "".join(f"  k{i}: v\n" for i in range(40))
    services = "".join(f"s{i}: {{<<: *x}}\n" for i in range(10_000))
    (document,) = parse(Source("f.yaml", f"x: &x\n{body}{services}"))
    assert isinstance(document.root, MappingNode)
    assert len(document.root.pairs) == 10_001


def test_aliases_of_aliases_are_not_unfolded() -> None:
    lines = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 90)]
    (document,) = parse(Source("f.yaml", "a0: &a0 [x]\n" + "".join(lines)))
    assert document.root.depth == 91


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 {x: y}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 90)),
        "x: &x\n" + "".join(f"  k{i}: v\n" for i in range(1_000)) + "".join(f"s{i}: *x\n" for i in range(1_000)),
    ],
    ids=["merge keys", "a wide mapping"],
)
def test_aliases_that_would_fill_the_memory_are_refused(text: str) -> None:
    with pytest.raises(YamlError, match="its aliases stand for too much") as caught:
        parse(Source("f.yaml", text))
    assert text[caught.value.offset] == "*"


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
    if isinstance(node, MappingNode):
        return [found for pair in node.pairs for part in pair for found in scalars(part)]
    assert isinstance(node, SequenceNode)
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


# The parser in C ---------------------------------------------------------------------------------


def outline(text: str) -> Any:
    """All that is known of the nodes of a text, or of why it is none."""
    try:
        documents = parse(Source("f.yaml", text))
    except YamlError as error:
        return error.message, error.offset
    return [(described(document.root), [key.start for key in document.duplicates]) for document in documents]


def described(node: Node) -> Any:
    about = (type(node).__name__, node.start, node.end, node.tag, node.anchor, node.depth)
    if isinstance(node, Scalar):
        return (*about, node.value, node.style)
    if isinstance(node, Alias):
        return (*about, node.target.start)
    if isinstance(node, MappingNode):
        return (*about, node.flow, [(described(key), described(value)) for key, value in node.pairs])
    assert isinstance(node, SequenceNode)
    return (*about, node.flow, [described(item) for item in node.items])


def outline_in_python(text: str) -> Any:
    with mock.patch.dict(sys.modules, {"_ruamel_yaml": None}):
        return outline(text)


COMPOSE = """\
x-common: &common
  restart: unless-stopped   # everywhere
  environment: &env {A: "1", B: 'it''s', C: ~}
services:
  trainer:
    <<: *common
    image: "nvcr.io/nvidia/pytorch:24.01-py3"
    command: >-
      torchrun --nproc_per_node=8
      train.py

    healthcheck:
      test: ["CMD", "curl", "-f", "http://localhost:8000/health"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}
    environment:
      <<: *env
      SCRIPT: |
        if true; then
          echo "yes: $$HOME # no comment"
        fi
      EMPTY:
      # about the ports
    ports:
    - 8080:80
    -
      target: 90
    volumes: []
    gpus: !override all
volumes:
  data:
  # the last one
  cache:

"""

SIGNS = """\
jobs:
  build:
    if: ${{ !cancelled() && success() }}   # not !this(one
    env: {A: "x", 'q': [a ! b, c]}
    steps:
    - run: |
        if [ ! -f x ]; then echo '{"a":1}'; fi
        !foo(bar
        && cp *.py &>x {a:}
    - name: what ? and !b(c *d.e
      run: serve --address ":9001" ${A:-":8001"}
    - "q: !a(b ? "
    - plain text
      over &lines, !b(c)
      *it.goes
"""
"""Signs that are odd where they are none of a text."""

PIECES = (
    " ", "  ", "\n", "\r\n", "\r", "\t", ": ", ":", "- ", "-", "? ", "?", "#", " #", "&a ", "&a", "*a", "!t ",
    "!", "!!str ", "!reset\n", "|", "|\n", ">-\n", "|2\n", "|\n\n    ", "\n   \n", "'", '"', "[", "]", "{", "}",
    ",", "\\", "\\/", "%", "@", "`", "\n...\n", "\n---\n", "--- ", "%YAML 1.1\n", "\x85", "\u2028", "\ufeff",
    "\x00", "😀", "é", "<<: *a", "~", "a: b", "a", "a: ", "b: 1\n", "\n- ", "\n  ", "\xa0", "\\x41", "[a, b]",
    "{a: [b], c}", '"k": ', '"k":v', "- - ", "''", '""', "!a(b) ", "${{ !x() }}", "&a.b ", "*a.b ", "\n    && b", " ? ",
    ":]", "\n  # &a.b\n", "|\n    !x(\n",
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Some lines of a compose file with other things in them, or nothing but those."""
    lines = draw(st.sampled_from([COMPOSE, SIGNS])).splitlines(keepends=True)
    first = draw(st.integers(0, len(lines)))
    text = "".join(lines[first : first + draw(st.integers(0, 12))])
    for _ in range(draw(st.integers(0, 3 if text else 12))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(PIECES)) + text[at + draw(st.integers(0, 3)) :]
    return text


@given(damaged())
def test_both_parsers_give_the_same(text: str) -> None:
    assert outline(text) == outline_in_python(text)


@given(st.dictionaries(st.text("abc", min_size=1), trees, min_size=1), st.sampled_from([None, True, False]))
def test_both_parsers_give_the_same_for_what_is_dumped(data: Any, flow: bool | None) -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = flow
    out = io.StringIO()
    yaml.dump(data, out)
    assert outline(out.getvalue()) == outline_in_python(out.getvalue())


def yaml_files() -> list[Path]:
    """The fixtures', and those of the directory that SHMLINT_CORPUS names."""
    here = Path(__file__).parents[2]
    found = [*(here / "fixtures").rglob("*.y*ml"), *(here / ".github").rglob("*.y*ml")]
    if os.environ.get("SHMLINT_CORPUS"):
        found += Path(os.environ["SHMLINT_CORPUS"]).rglob("*.y*ml")
    return [path for path in found if path.is_file()]


def test_both_parsers_give_the_same_for_files() -> None:
    files = yaml_files()
    assert files
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        assert outline(text) == outline_in_python(text), path


@table(
    "text",
    [
        "a: >-\n  x\n\u2028-:  \n---\n",
        "a: 1\x85b: 2\n",
        "|\n\n---\nb\n",
        "a:\n  b:\n...\n\n...\n",
        "a: |# c\n  b\n",
        "a: |\n \n  b\n",
        "a: |\r\n\r\n \r\n  b\r\n",
        "!!a!b c\n",
        "![!str a\n",
        "!!!!str a\n",
        "!reset\n&a {a: b}\n",
        "a: !\n  &b |\n  c\n",
        "a: !]b c\n",
        "- - !, &a \n    - b\n",
        "a: &b:c d\n",
        "a: {? }\n",
        "? a\n: b\n",
        '[a, "k":v b]\n',
        "[a : ]\n",
        "[a: , b]\n",
        "{ question: }\n",
        "{a: b, k:\n  # c\n}\n",
        "\ufeffa: 1\n",
        "a: 1\t# c\n",
        "%TAG ! tag:x,2000:\n---\na: !b c\n",
        "a: 1\rb: 2\r",
        "a: [http://b, c:d]\n",
        "a: &é b\n",
        "a:\n\n  # c\n\nb: 1\n",
        "a:\n- \n- # c\n- b\n",
        "",
    ],
)
def test_both_parsers_give_the_same_where_they_once_did_not(text: str) -> None:
    assert outline(text) == outline_in_python(text)


@pytest.mark.needs("yaml_in_c")
@pytest.mark.parametrize("text", [COMPOSE, SIGNS])
def test_usual_files_are_read_by_the_parser_in_c(text: str) -> None:
    """Else nobody would notice that it is never used."""
    with mock.patch("ruamel.yaml.scanner.Scanner.fetch_more_tokens", side_effect=AssertionError):
        (document,) = parse(Source("f.yaml", text))
    assert json.dumps(described(document.root)) == json.dumps(outline_in_python(text)[0][0])


@pytest.mark.parametrize("module", [None, mock.Mock(CParser=mock.Mock(side_effect=MemoryError))])
def test_without_the_parser_in_c_all_is_as_before(module: Any) -> None:
    expected = outline(COMPOSE)
    with mock.patch.dict(sys.modules, {"_ruamel_yaml": module}):
        assert outline(COMPOSE) == expected


# Parts of other texts ---------------------------------------------------------------------------


@given(damaged(), st.sampled_from(["", "# é😀\n\n", "text\n- ", "\ufeff\r\n   "]), st.sampled_from(["", "\n```\n"]))
def test_a_part_is_read_as_if_the_rest_were_blank(text: str, before: str, after: str) -> None:
    source = Source("f.md", before + text + after)
    blank = "".join(c if c in "\r\n" else " " for c in before)
    try:
        expected = [described(d.root) for d in parse(Source("f.md", blank + text))]
    except YamlError as error:
        with pytest.raises(YamlError) as caught:
            parse_part(source, len(before), len(before) + len(text))
        assert caught.value.message == error.message
        return
    documents = parse_part(source, len(before), len(before) + len(text))
    assert [described(d.root) for d in documents] == expected
    assert all(d.source is source for d in documents)
