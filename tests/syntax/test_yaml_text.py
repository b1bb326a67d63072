"""The text of a YAML scalar, with the places of its characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from shmlint.model.source import Source
from shmlint.syntax.yaml import MappingNode, Scalar
from shmlint.syntax.yaml_read import parse
from shmlint.syntax.yaml_text import scalar_text
from tests.table import table


@table(
    "value",
    [
        "|\n  a \\\n\n  b\n\n   c\n  d",
        "|2\n   a\n  b",
        "|+\n  a\n\n",
        ">\n  a\n  b\n\n  c\n\n\n  d\n    e\n\n    f\n  g",
        ">\n\n  a\n  \tb\n  c",
        "a\n  b\n\n  c",
        "'a\n  b\n\n\n  c''d'",
        '"a\\\n   b\\\n\n  c\n\n  d"',
        '"\\x41\\u00e9\\U0001F433\\e\\N\\_"',
        '"a \\\n  \\ b"',
        '"tab\\tx\\\tx \\/ \\\\"',
        "'\u00a0 a'",
        "|\n  a\n  \n    \n  b",
        '"a \t\n \t b"',
    ],
)
@table("newline", ["\n", "\r\n"])
def test_a_scalar_is_what_yaml_reads(value: str, newline: str) -> None:
    text = f"key: {value}\n".replace("\n", newline)
    check_scalar(text)


def check_scalar(text: str) -> None:
    source = Source("x.yml", text)
    (document,) = parse(source)
    assert isinstance(document.root, MappingNode)
    node = document.root.get("key")
    assert isinstance(node, Scalar)
    read = scalar_text(node, source)
    assert len(read.text) == len(read.offsets)
    assert read.text.rstrip() == node.value.replace("\r\n", "\n").rstrip()
    if '"' not in text:  # without escapes each character is where it is said to be, but for folds
        for char, at in zip(read.text, read.offsets, strict=True):
            assert char == source.text[at] or char in " \n"


@given(st.text("ab \n\\'\"#:-é\t", max_size=30), st.sampled_from(["|", ">", '"', "'"]), st.integers(20, 80))
def test_any_scalar_is_what_yaml_reads(value: str, style: str, width: int) -> None:
    from io import StringIO

    from ruamel.yaml.scalarstring import (
        DoubleQuotedScalarString,
        FoldedScalarString,
        LiteralScalarString,
        SingleQuotedScalarString,
    )

    kinds = {
        "|": LiteralScalarString,
        ">": FoldedScalarString,
        '"': DoubleQuotedScalarString,
        "'": SingleQuotedScalarString,
    }
    yaml = YAML()
    yaml.width = width
    stream = StringIO()
    try:
        yaml.dump({"key": kinds[style](value)}, stream)
        parse(Source("x", stream.getvalue()))
    except Exception:  # what ruamel.yaml cannot write or read back is no case of ours
        return
    check_scalar(stream.getvalue())
