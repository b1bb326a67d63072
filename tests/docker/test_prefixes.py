"""Where the command begins that another one runs."""

from __future__ import annotations

from shmlint.docker.prefixes import after_prefix, prefix_of, program_at
from tests.table import table


@table(
    "line, rest, assignments",
    [
        ("sudo A=1 -u root B=2 own", "own", ["A=1", "B=2"]),
        ("env -u A=1 B=2 own C=3", "own C=3", ["B=2"]),
        ("/usr/bin/timeout -k 5 10m own -k", "own -k", []),
        ("sudo -nu root -- own", "own", []),
        ("sudo -uroot own", "own", []),
        ("builtin own", "own", []),
        ("vglrun -fps 30 own", "own", []),
        ("sudo -u", "", []),
        ("command -V own", None, []),
        ("taskset -cp 0 1", None, []),
    ],
)
def test_behind_a_prefix(line: str, rest: str | None, assignments: list[str]) -> None:
    words = line.split()
    behind = after_prefix(words)
    assert (" ".join(words[behind.at :]) if behind is not None else None) == rest
    assert [words[i] for i in (behind.assignments if behind is not None else ())] == assignments


def test_what_is_no_prefix() -> None:
    assert prefix_of("python") is None


@table(
    ("line", "program"),
    [
        ("make a", "make"), ("A=1 sudo -u root env B=2 timeout -k 5 10m make a", "make"), ("sudo -l", ""), ("A=1", ""),
        ("ssh host make a", ""), ("exec", ""), ("own make", "own"),
    ],
)  # fmt: skip
def test_the_program_behind_all_prefixes(line: str, program: str) -> None:
    at = program_at(line.split())
    assert (line.split()[at] if at is not None else "") == program
