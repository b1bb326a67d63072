"""What a Dockerfile says about its image: tables of small files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.syntax.dockerfile import BuiltImage, read
from tests.table import table


def image(text: str, target: str | None = None, **args: str) -> BuiltImage:
    found = read(text, target, args)
    assert found is not None
    return found


@table(
    ("text", "bases"),
    [
        ("FROM a/b:1", [("a/b:1", 1)]),
        ("from a\n", [("a", 1)]),
        ("\ufeffFROM a\r\nCMD b\r\n", [("a", 1)]),
        ("# syntax=docker/dockerfile:1\n\nFROM a", [("a", 3)]),
        ("FROM --platform=$BUILDPLATFORM a AS build", [("a", 1)]),
        ("FROM a as Build\nFROM bUILD\n", [("a", 1)]),
        ("FROM a AS x\nFROM x AS y\nFROM y", [("a", 1)]),
        ("FROM a AS x\nFROM b\nCOPY --from=x /c /c\n", [("b", 2)]),
        ("FROM a AS x\nFROM x AS x\nFROM x\n", [("a", 1)]),
        ("FROM \\\n  a\n", [("a", 1)]),
        ("FROM `\n  a\n", [("`", 1)]),
        ("# escape=`\nFROM `\n  a\n", [("a", 2)]),
        ("# syntax=x\r\n#ESCAPE = `\r\nFROM `\r\n  a\r\n", [("a", 3)]),
        ("# a comment\n# escape=`\nFROM a\\b", [("ab", 3)]),
        ('FROM "a"', [("a", 1)]),
        ("FROM scratch", [("scratch", 1)]),
        # arguments
        ("ARG TAG=1\nFROM a:$TAG", [("a:1", 2)]),
        ("ARG TAG=1\nFROM a:${TAG}-gpu", [("a:1-gpu", 2)]),
        ('ARG A=a B="b"\nARG IMAGE=$A/${B}\nFROM $IMAGE', [("a/b", 3)]),
        ("ARG TAG\nFROM a:${TAG}", [("a:${TAG}", 2)]),
        ("FROM a:${TAG}", [("a:${TAG}", 1)]),
        ("FROM a:${TAG:-2}", [("a:2", 1)]),
        ("ARG TAG=\nFROM a:${TAG:-2}", [("a:2", 2)]),
        ("ARG TAG=\nFROM a:1${TAG-2}", [("a:1", 2)]),
        ("ARG TAG=1\nFROM a:${TAG:+gpu}", [("a:gpu", 2)]),
        ("FROM a${TAG:+-gpu}", [("a", 1)]),
        ("ARG B=3\nFROM a:${TAG:-${B}}", [("a:3", 2)]),
        ("ARG TAG=1\nFROM a:${TAG#1}", [("a:${TAG#1}", 2)]),
        ("ARG BASE=x\nFROM a AS x\nFROM $BASE", [("a", 2)]),
        # the platform, which BuildKit gives every FROM, chooses a stage
        ("FROM a AS amd64\nFROM b AS arm64\nFROM $TARGETARCH\n", [("a", 1)]),
        ("FROM a AS base-amd64\nFROM b AS base-arm64\nFROM base-${TARGETARCH}", [("a", 1)]),
        ("ARG TARGETARCH=arm64\nFROM a AS amd64\nFROM b AS arm64\nFROM ${TARGETARCH}", [("b", 3)]),
        ("FROM a AS x\nFROM b:$TARGETARCH\n", [("b:$TARGETARCH", 2)]),
        ("FROM a AS arm64\nFROM $TARGETARCH\n", [("$TARGETARCH", 2)]),
        # what is declared in a stage means nothing to a FROM
        ("FROM a\nARG TAG=1\nFROM b:${TAG}", [("b:${TAG}", 3)]),
        # odd input
        ("FROM\nFROM a", [("a", 2)]),
        ("{% if x %}\nFROM a\n{% endif %}\n", [("a", 2)]),
    ],
)
def test_follows_from(text: str, bases: list[tuple[str, int]]) -> None:
    assert list(image(text).base_images) == bases


@table(
    "text", ["", "\n", "RUN x", "# FROM a", "FROM", "ARG A=1\n", "\x00\x01", '{"FROM": 1}']
)
def test_no_from_is_no_image(text: str) -> None:
    assert read(text) is None


def test_arguments_are_given() -> None:
    text = "ARG TAG=1\nARG WHAT\nFROM a:${TAG}${WHAT}${UNDECLARED}\n"
    assert image(text, TAG="2", WHAT="-x", UNDECLARED="y").base_images == (("a:2-x${UNDECLARED}", 3),)


@table(
    ("target", "base"),
    [
        ("x", "a"),
        ("X", "a"),
        ("0", "a"),
        ("1", "b"),
        (None, "c"),
        ("", "c"),
        ("2", "c"),
        ("3", None),
        ("z", None),
    ],
)
def test_builds_a_target(target: str | None, base: str | None) -> None:
    found = read("FROM a AS x\nFROM b\nFROM c AS y\n", target)
    assert (found.base_images[0][0] if found else None) == base


@table(
    ("text", "entrypoint", "command"),
    [
        ("", None, None),
        ('CMD ["a", "b c"]', None, ("a", "b c")),
        ("CMD a $B 'c'", None, ("/bin/sh", "-c", "a $B 'c'")),
        ("cmd a", None, ("/bin/sh", "-c", "a")),
        ("CMD a\nCMD b", None, ("/bin/sh", "-c", "b")),
        ("CMD []", None, ()),
        ("CMD ['a']", None, ("/bin/sh", "-c", "['a']")),
        ("CMD [1]", None, ("/bin/sh", "-c", "[1]")),
        ('CMD [ "a", \\\n  "b" ]', None, ("a", "b")),
        ('CMD [ "a", \\\n# why\n\n  "b" ]\n', None, ("a", "b")),
        ('CMD ["a"] \\', None, ("a",)),
        ('CMD ["a"] \\\n\n', None, ("a",)),
        ("CMD a \\\n  b\\\n  c", None, ("/bin/sh", "-c", "a   b  c")),
        ('ENTRYPOINT ["e"]\nCMD ["a"]', ("e",), ("a",)),
        ('CMD ["a"]\nENTRYPOINT ["e"]', ("e",), ("a",)),
        ("ENTRYPOINT e", ("/bin/sh", "-c", "e"), None),
        ("ENTRYPOINT []", (), None),
        ('SHELL ["/bin/bash", "-ec"]\nCMD a', None, ("/bin/bash", "-ec", "a")),
        ("SHELL bash\nCMD a", None, ("/bin/sh", "-c", "a")),
        ('ONBUILD CMD ["a"]', None, None),
        ("HEALTHCHECK CMD a", None, None),
        ("  CMD a", None, ("/bin/sh", "-c", "a")),
        ("RUN a && \\\n\n CMD b", None, None),
        # a later stage
        ('CMD ["a"]\nFROM s', None, ("a",)),
        ('ENTRYPOINT ["e"]\nCMD ["a"]\nFROM s', ("e",), ("a",)),
        ('CMD ["a"]\nFROM s\nENTRYPOINT ["e"]', ("e",), None),
        ('CMD ["a"]\nFROM s\nENTRYPOINT ["e"]\nCMD ["b"]', ("e",), ("b",)),
        ('CMD ["a"]\nFROM s\nCMD ["b"]\nENTRYPOINT ["e"]', ("e",), ("b",)),
        ('CMD ["a"]\nFROM other', None, None),
        ('ONBUILD CMD ["a"]\nFROM s', None, ("a",)),
        ('onbuild ENTRYPOINT ["e"]\nCMD ["b"]\nFROM s', ("e",), None),
        ('ONBUILD CMD ["a"]\nFROM s\nENTRYPOINT ["e"]', ("e",), ("a",)),
        ('ONBUILD CMD ["a"]\nFROM s\nCMD ["b"]', None, ("b",)),
        ('ONBUILD CMD ["a"]\nFROM s AS t\nFROM t\nCMD ["b"]\nFROM other', None, None),
        ('ONBUILD ARG W=w\nONBUILD CMD ["a"]\nFROM s AS t\nCMD ["b"]\nFROM t', None, ("b",)),
        ('SHELL ["bash", "-c"]\nFROM s\nCMD a', None, ("bash", "-c", "a")),
    ],
)
def test_reads_what_is_started(
    text: str, entrypoint: tuple[str, ...] | None, command: tuple[str, ...] | None
) -> None:
    for newline in ("\n", "\r\n"):
        found = image(f"FROM a AS s\n{text}".replace("\n", newline))
        assert (found.entrypoint, found.command) == (entrypoint, command)


@table(
    ("text", "environment"),
    [
        ("ENV A=1", {"A": "1"}),
        ("ENV A 1", {"A": "1"}),
        ("ENV A  the rest = all", {"A": "the rest = all"}),
        ('ENV A "1 2"', {"A": "1 2"}),
        ("ENV A=1 B=\"2 3\" C='4 5' D=6\\ 7", {"A": "1", "B": "2 3", "C": "4 5", "D": "6 7"}),
        ("ENV A=1 \\\n    B=2", {"A": "1", "B": "2"}),
        ("ENV A=", {"A": ""}),
        ("ENV A=b=c", {"A": "b=c"}),
        ("ENV A=1\nENV B=$A ${A}2", {"A": "1", "B": "1", "12": ""}),
        ("ENV A=1\nENV A=2 B=$A", {"A": "2", "B": "1"}),
        ("ENV A=1\nENV B=\"$A\" C='$A' D=\\$A", {"A": "1", "B": "1", "C": "$A", "D": "$A"}),
        ("ENV A=\"\\$A\\\"\\b\"", {"A": '$A"\\b'}),
        ("ENV PATH=/opt/bin:$PATH", {"PATH": "/opt/bin:$PATH"}),
        ("ENV A=${B:-\"x y\"}", {"A": "x y"}),
        ("ARG B=1\nENV A=$B", {"A": "1"}),
        ("ARG B\nENV A=$B", {"A": "$B"}),
        ("ARG TOP\nENV A=$TOP", {"A": "top"}),
        ("ENV A=$TOP", {"A": "$TOP"}),
        ("ARG GIVEN=1\nENV A=$GIVEN", {"A": "given"}),
        ("ARG B=1\nENV B=2 \nENV A=$B", {"B": "2", "A": "2"}),
        ("ENV A=1\nFROM s\nENV B=$A", {"A": "1", "B": "1"}),
        ("ARG B=1\nFROM s\nENV A=$B", {"A": "1"}),
        ("ENV A=1\nFROM other", {}),
        ("ENV", {}),
        ("ENV A", {"A": ""}),
        ("ENV A='1", {"A": "'1"}),
    ],
)  # fmt: skip
def test_reads_the_environment(text: str, environment: dict[str, str]) -> None:
    found = image(f"ARG TOP=top\nFROM a AS s\n{text}\n", GIVEN="given")
    assert found.environment == environment


def test_a_backtick_escapes() -> None:
    text = "# escape=`\nFROM a\nENV A=c:\\b B=`$A C=x `\n D=y\n"
    assert image(text).environment == {"A": "c:\\b", "B": "$A", "C": "x", "D": "y"}


def test_a_stage_keeps_what_it_had() -> None:
    text = "FROM a AS x\nENV A=1\nCMD b\nFROM x\nENV A=2\nCMD c\n"
    assert image(text, "x").environment == {"A": "1"}
    assert image(text, "x").command == ("/bin/sh", "-c", "b")


@table(
    "text",
    [
        "RUN <<EOF\nFROM b\nCMD wrong\nEOF",
        "RUN <<-EOF\n\tFROM b\n\tCMD wrong\n\tEOF",
        "RUN <<'EOF'\nCMD wrong\nEOF",
        'RUN <<"E F"\nCMD wrong\nE F',
        "run --mount=type=cache,target=/c cat <<EOF >/x && \\\n  true\nCMD wrong\nEOF",
        "RUN true && \\\n  cat <<EOF\nCMD wrong \\\nEOF",
        "COPY <<EOF /x\nCMD wrong\nEOF",
        "COPY <<A <<B /x/\nCMD wrong\nB\nA\nCMD wrong\nB",
        "ADD <<A.txt /x\nCMD wrong\nA.txt",
        "ONBUILD RUN <<EOF\nCMD wrong\nEOF",
        "RUN 3<<EOF x\nCMD wrong\nEOF",
        "RUN <<EOF\n EOF\nCMD wrong\nEOF ignored\nEOF",
        "RUN <<EOF\n# not a comment\nENV A=1 \\\n\nEOF",
        "RUN <<EOF\nx <<OTHER\nEOF",
    ],
)
def test_a_here_document_is_no_instruction(text: str) -> None:
    for newline in ("\n", "\r\n"):
        whole = f"FROM a AS s\n{text}\nCMD right\nFROM s AS t\nENV LAST=1\n".replace("\n", newline)
        found = image(whole)
        assert found.base_images == (("a", 1),)
        assert found.command == ("/bin/sh", "-c", "right")
        assert found.environment == {"LAST": "1"}


@table(
    "text",
    [
        "RUN <<EOF\nCMD right\n",  # never ends
        "RUN cat <<<EOF\nCMD right\nEOF",
        "RUN echo '<<EOF x'\nCMD right\nEOF",
        "RUN echo \"a <<EOF\"\nCMD right\nEOF",
        "RUN cat<<EOF\nCMD right\nEOF",
        "RUN echo $((1 << 2))\nCMD right\n2))",
        "LABEL a=<<EOF <<EOF\nCMD right\nEOF",
        "# RUN <<EOF\nCMD right\nEOF",
    ],
)  # fmt: skip
def test_what_is_no_here_document(text: str) -> None:
    assert image(f"FROM a\n{text}\n").command == ("/bin/sh", "-c", "right")


def test_lines_count_from_the_top_of_the_file() -> None:
    text = "# one\n\nFROM a AS x\nRUN <<EOF\nFROM no\nEOF\nRUN b \\\n\n  c\nFROM d\n"
    assert image(text).base_images == (("d", 10),)


def test_reads_from_memory_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    image("FROM a\nCMD b\n")
    assert os.listdir() == []


_ODD = """\
FROM a|FROM $A AS b|FROM \\|FROM --x|ARG A=1|ARG|ENV|ENV =|ENV A|ENV A=\\|ENV A=${B:-${C:-$D}}|ENV A='"
ENV "|CMD [|CMD []|CMD ["|CMD {}|ENTRYPOINT \\|SHELL|SHELL ["a"]|ONBUILD|RUN <<A <<-B|A|\tB|RUN <<''
\\|#|# escape=`|`|\r"""
_LINES = st.lists(
    st.one_of(
        st.sampled_from([odd for row in _ODD.split("\n") for odd in row.split("|")]),
        st.text(max_size=12),
        st.text("FROM ARGENV$<{}[]'\"\\`#=\t\r\ud800", max_size=16),
    ),
    max_size=12,
)


@given(_LINES, st.sampled_from([None, "b", "0", "²"]))
def test_any_text_is_read(lines: list[str], target: str | None) -> None:
    found = read("\n".join(lines), target, {"A": "b"})
    if found is not None:
        assert found.base_images[0][1] <= "\n".join(lines).count("\n") + 1


_MANY = {
    "short ones": "RUN <<EOF\necho a\nEOF\n",
    "with tabs": "RUN <<-EOF\n\techo a\n\tEOF\n",
    "without an end": "RUN <<END@\necho a\n",
    "one directory below the other": "WORKDIR a\nCOPY . .\n",
    "variables": "ENV A1@=$A@\n",
}


@pytest.mark.slow
@table("case", _MANY)
def test_many_instructions_take_time_by_their_number(case: str) -> None:
    """With the square of their number these take half a minute and more."""
    text = "FROM a\n" + "".join(_MANY[case].replace("@", str(n)) for n in range(100_000))
    begin = time.process_time()
    read(text)
    assert time.process_time() - begin < 12


def test_what_a_stage_says_of_those_that_begin_with_it() -> None:
    triggers = "ONBUILD ENV A=1\nONBUILD RUN pip install a\nONBUILD WORKDIR /w\nONBUILD COPY . ."
    found = image(f"FROM a AS s\n{triggers}\nFROM s\nRUN b\n")
    assert found.environment == {"A": "1"} and found.workdir == "/w" and found.triggers == ()
    assert [text for text, _ in found.runs] == ["pip install a", "b"]
    assert [(copy.sources, copy.target) for copy in found.copies] == [((".",), "/w/.")]
    assert image(f"FROM a AS s\n{triggers}").triggers[1] == "RUN pip install a"


@pytest.mark.slow
def test_stages_with_many_triggers_are_not_read() -> None:
    text = "FROM a AS s\n" + "ONBUILD ENV A=1\n" * 5_000 + "FROM s\n" * 5_000
    assert read(text) is None
