"""What env files give, and which of them Compose refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.formats.compose.dotenv import InvalidEnvFile, parse
from tests.oracles.compose import compose_config
from tests.table import table

CASES: list[tuple[str, dict[str, str] | None]] = [
    ("A=1\nB: 2\nC = 3\n", {"A": "1", "B": "2", "C": "3"}),
    ("\ufeffexport A=1\nexport\tB: 2\n", {"A": "1", "B": "2"}),
    ("A=x # c\nB=x#c\nC='x # c' # d\nD=  x  \r\n", {"A": "x", "B": "x#c", "C": "x # c", "D": "x"}),
    ("A=1\nB=${A}2\nC='${A}'\nD=\"$A\"\nE=$$A\nF=\\$A\nG=\"\\$A\"\nH=${NONE:-7}\n",
     {"A": "1", "B": "12", "C": "${A}", "D": "1", "E": "$A", "F": "\\1", "G": "$A", "H": "7"}),
    ("A=\"x\ny\"\nB='x\ny'\nC=\"x\\ny\"\nD='x\\ny'\n", {"A": "x\ny", "B": "x\ny", "C": "x\ny", "D": "x\\ny"}),
    ("A=\"x\\\"y\"\nB='x\\'y'\nC=\"\\012\\0101\\q\"\n", {"A": 'x"y', "B": "x'y", "C": "\\12A\\q"}),
    ("A=1\nA=2\nB=\nC\nD=x=y:z\n", {"A": "2", "B": "", "D": "x=y:z"}),
    ("# A=1\n\n  B=1\nC\n", {"B": "1"}),
    ("A=1\nC", {"A": "1"}),
    ("A B=1\n", None),
    ("A%=1\n", None),
    ("A='1\n", None),
    ("A=${B\n", None),
]  # fmt: skip


@table("text, values", CASES)
def test_variables(text: str, values: dict[str, str] | None) -> None:
    found: dict[str, str | None] = {}
    if values is None:
        with pytest.raises(InvalidEnvFile):
            parse(text, {}, found)
    else:
        parse(text, {}, found)
        assert {name: value for name, value in found.items() if name} == values


def test_what_is_known_before_comes_first_in_values() -> None:
    found: dict[str, str | None] = {"A": "old"}
    parse("A=new\nB=$A$C\nC\n", {"A": "1", "C": "3"}, found)
    assert found == {"A": "new", "B": "13", "C": "3"}


def test_a_refusal_names_the_line_and_nothing_of_the_value() -> None:
    with pytest.raises(InvalidEnvFile) as caught:
        parse('A="x\ny"\nB=\'secret\n', {}, {})
    assert (caught.value.line, caught.value.message) == (3, "unterminated quoted value")


@pytest.mark.compose_judge
@table("text, values", CASES)
def test_compose_agrees(text: str, values: dict[str, str] | None, tmp_path: Path) -> None:
    names = "".join(f"      {name}: ${{{name}-none}}\n" for name in "ABCDEFGH")
    (tmp_path / ".env").write_bytes(text.encode())
    (tmp_path / "compose.yaml").write_text(f"services:\n  a:\n    image: x\n    environment:\n{names}", "utf-8")
    answer = compose_config(tmp_path)
    theirs = answer and {n: v for n, v in answer["services"]["a"]["environment"].items() if v != "none"}
    assert theirs == values
