"""The words of commands, and where they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.model.source import Source
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import whole
from tests.syntax.scripts import dockers, read, words
from tests.table import table


@table(
    ("text", "expected"),
    [
        ("docker run a b\n", ["docker", "run", "a", "b"]),
        ("docker run a", ["docker", "run", "a"]),
        ("docker \\\n  run --rm \\\n\ta\n", ["docker", "run", "--rm", "a"]),
        ("docker run \\\r\n  --rm \\\r\n  a b\r\n", ["docker", "run", "--rm", "a", "b"]),
        ("docker run -e 'A  b' \"c d\" e\\ f\n", ["docker", "run", "-e", "A  b", "c d", "e f"]),
        ("docker run --gpus='\"device=0,1\"' a", ["docker", "run", '--gpus="device=0,1"', "a"]),
        ('docker run --gpus "\\"device=0\\"" a', ["docker", "run", "--gpus", '"device=0"', "a"]),
        ('docker run --gpus \\"device=0\\" a', ["docker", "run", "--gpus", '"device=0"', "a"]),
        ("docker run a'b'\"c\"\\d\n", ["docker", "run", "abcd"]),
        ("docker run a '' \"\"\n", ["docker", "run", "a", "", ""]),
        ("docker run $'a\\tb\\x41\\101\\u00e9\\'' a", ["docker", "run", "a\tbAA\u00e9'", "a"]),
        ("docker run a 'b\n c'", ["docker", "run", "a", "b\n c"]),
        ("docker run a # --shm-size=8g\n", ["docker", "run", "a"]),
        ("# docker run --shm-size=8g b\n# more\ndocker run a\n", ["docker", "run", "a"]),
        ("docker run a > log 2>&1 &\n", ["docker", "run", "a"]),
        ("docker run -i a <<< text\n", ["docker", "run", "-i", "a"]),
        ("A=1 B='2 3' docker run a\n", ["A=1", "B=2 3", "docker", "run", "a"]),
        ("sudo -E docker run a\n", ["sudo", "-E", "docker", "run", "a"]),
        ("NV_GPU=0 nvidia-docker run a", ["NV_GPU=0", "nvidia-docker", "run", "a"]),
        ("docker -c ctx run -v /dev/shm a", ["docker", "-c", "ctx", "run", "-v", "/dev/shm", "a"]),
        ("! docker run a", ["docker", "run", "a"]),
        ("# \u00fcn\u00efcode \u6f22 \U0001f389\ndocker run -e A=\u00e9\U0001f389 a", ["docker", "run", "-e",
         "A=\u00e9\U0001f389", "a"]),
    ],
)  # fmt: skip
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == [expected]


@table(
    "text, word",
    [
        ("X=$(cat <<E\na b\n\nE\n)\ndocker run \"$X\"\n", "a b"),
        ("X=\"$(cat << 'E'\n$A `b` \\$c\nE\n)\"\ndocker run \"$X\"\n", "$A `b` \\$c"),
        ("A=1\nX=$(cat <<E\n$A \\$b\nE\n)\ndocker run \"$X\"\n", "1 $b"),
        ("X=$(cat <<E\n--gpus \\\"device=0,1\\\"\nE\n)\ndocker run \"$X\"\n", "--gpus \\\"device=0,1\\\""),
        ("docker run \"x$(cat <<E\na\nE\n)y\"\n", "xay"),
        ("docker run \"$(cat <<-E\na\n  b\nE\n)\"\n", "a\n  b"),
        # The shell makes words of it, or another command prints something else.
        ("docker run $(cat <<E\na\nE\n)\n", None),
        ("docker run \"$(cat f <<E\na\nE\n)\"\n", None),
        ("docker run \"$(cat <<-E\n\ta\n\tE\n)\"\n", None),
        ("docker run \"$(cat <<E | tac\na\nE\n)\"\n", None),
        ("docker run \"$(tac <<E\na\nE\n)\"\n", None),
    ],
)
def test_a_here_document_that_a_command_prints(text: str, word: str | None) -> None:
    command = next(command for command in read(text) if command.words[0].text == "docker")
    assert (command.words[2].text if command.words[2].unknown is None else None) == word


@pytest.mark.parametrize("text", ["docker run a", "\u00e9\U0001f389; docker run 'a' b",
"\ufeffx\r\ndocker run \\\r\n a"])
def test_positions(text: str) -> None:
    source = Source("x.sh", text)
    found = [command for command in commands(whole(source, 0, len(text))) if command.words[0].text == "docker"]
    (command,) = found
    assert command.words[0].span is not None
    assert command.words[0].span.start == text.index("docker")
    assert command.span.text == text[text.index("docker") :].rstrip("\r\n")


@table(
    ("text", "expected"),
    [
        ('C="docker run $A $B img"\n$C', ["docker", "run", "--gpus", "all", "-m", "1g", "img"]),
        ('C="docker run ${A}  ${B} ${D}"\n$C', ["docker", "run", "--gpus", "all", "-m", "1g", "${D}?*"]),
        ('C="docker run $A   ${X:-y} img"\n$C', ["docker", "run", "--gpus", "all", "y", "img"]),
        ('C="docker run $(x) $B img"\n$C', ["docker", "run", "$(x)?*", "-m", "1g", "img"]),
        ('C="docker run $D $E img"\n$C', ["docker", "run", "$D?*", "$E?*", "img"]),
        ('docker run "$A $B"', ["docker", "run", "--gpus all -m 1g"]),
    ],
)
def test_blanks_between_expansions_end_words(text: str, expected: list[str]) -> None:
    (found,) = [one for one in words(f"A='--gpus all'\nB='-m 1g'\n{text}\n") if one[0] == "docker"]
    assert found == expected


def test_a_word_of_a_variable_is_where_that_was_set_and_is_used_in_the_command() -> None:
    text = "A='--gpus all'\ndocker run $A \"--shm-size=$B\" img\n"
    _, _, gpus, _, size, _ = read(text)[0].words
    assert gpus.span is not None
    assert gpus.used is not None
    assert (gpus.span.text, gpus.span.start, gpus.used.text) == ("--gpus", 3, "$A")
    assert (size.span and size.span.text, size.used) == ('"--shm-size=$B"', None)


@table(
    ("text", "part", "place"),
    [
        ("docker run --s=8g a", "8g", "8g"),
        ("docker run --s='8g' a", "8g", "8g"),
        ("S=8g; docker run --s=$S a", "8g", "8g"),
        ('S="8g"; docker run "--s=${S}" a', "8g", "8g"),
        ("docker run --s=${S:-8g} a", "8g", "8g"),
        ("docker run --s=8\\g a", "8g", None),
        ("docker run --s=8'g' a", "8g", None),
        ("S=8; docker run --s=${S}g a", "8g", None),
    ],
)
def test_where_a_part_of_a_word_is(text: str, part: str, place: str | None) -> None:
    word = read(text)[-1].words[2]
    span = word.part_span(part)
    assert (span.text if span is not None else None) == place


PIECES = st.sampled_from(
    ["docker run ", "--gpus all ", "A=", "$A", "${A:-b}", '"', "'", "\\", "\n", "\r\n", " ", "$(", ")", "`", "{", "}",
     "(", "eval ", "bash -c ", "<<EOF\n", "EOF\n", "# ", "if x; then ", "fi\n", "A+=(x)\n", '"${A[@]}"', "\u00e9",
     "\U0001f389",
     "\t", ";", "|", "&&", "ssh h ", "$'", "$@", "--shm-size=64m ", "img", "f() {", "case a in b)", ";;", "esac",
     "=", "\ud800"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_word_is_where_it_says(text: str) -> None:
    for command in read(text):
        for word in command.words:
            assert len(word.offsets) in (0, len(word.text))
            for char, offset in zip(word.text, word.offsets, strict=False):
                # An escape such as `\n` stands for another character than the one written there.
                assert offset < 0 or text[offset] == char or "$'" in text
            if word.span is not None:
                assert 0 <= word.span.start <= word.span.end <= len(text)
                part = word.part_span(word.text)
                assert part is None or part.text == word.text or "$'" in text


def test_variables_that_double_end_soon() -> None:
    doubling = "".join(f'A{i + 1}="$A{i} $A{i}"\n' for i in range(60))
    (command,) = read(f"A0='--gpus all'\n{doubling}docker run $A60 a\n")
    assert any(word.unknown for word in command.words)


@table(
    ("before", "use", "expected"),
    [
        ("A=--rm,-d\nIFS=,", "$A", "$A?*"), ("A='--rm -d'\nIFS=$'\\n\\t'", "$A", "$A?*"),
        ("A='--rm -d'\nIFS=", "$A", "$A?*"),
        ("A=--rm\nIFS=$1", "$A", "$A?*"), ("IFS=:", "${A:-a:b}", "${A:-a:b}?*"), ("A=a:b\nIFS=:", "-v$A", "-v$A?"),
        ("A=(-v a:b)\nIFS=:", "${A[@]}", "${A[@]}?*"), ("A=(-v a:b)\nIFS=:", "${A[1]}", "${A[1]}?*"),
        ("A='-v a'\nIFS=:", "${A[@]}", "${A[@]}?*~"), ("x && IFS=,\nA=--rm,-d", "$A", "$A?*"),
        ("f() { IFS=,; }\nf\nA=--rm,-d", "$A", "$A?*"), ("A='--rm -d'\nfor i in 1; do IFS=,; done", "$A", "$A?*"),
        ("O=$IFS\nIFS=,\nO=x\nIFS=$O\nA='--rm -d'", "$A", "$A?*"),
        # Where no separator is in it, it is one word.
        ("A=--shm-size=8g\nIFS=$'\\n\\t'", "$A", "--shm-size=8g"), ("A=--rm\nIFS=,", "$A", "--rm"),
        ("A='--rm,-d x'\nIFS=,", '"$A"', "--rm,-d x"), ("A=(-v 'a,b c')\nIFS=,", '"${A[@]}"', "-v a,b c"),
        # Other commands and shells have their own, and the usual ones may be put back.
        ("while IFS=, read -r l; do :; done < x\nIFS=: read -r B < y\nA='--rm -d'", "$A", "--rm -d"),
        ("B=$(IFS=,; echo \"${X[*]}\")\n(IFS=,; x)\nA='--rm -d'", "$A", "--rm -d"),
        ("f() { local IFS=,; x; }\nf\nA='--rm -d'", "$A", "--rm -d"),
        ("f() { IFS=,; }\nB=$(f)\nA='--rm -d'", "$A", "--rm -d"),
        ("O=$IFS; IFS=,; x; IFS=$O; A='--rm -d'", "$A", "--rm -d"), ("IFS=,; unset IFS; A='--rm -d'", "$A", "--rm -d"),
        ("IFS=,; IFS=$' \\t\\n'; A='--rm -d'", "$A", "--rm -d"), ("A='--rm -d'\nbash -c 'IFS=,'", "$A", "--rm -d"),
    ],
)  # fmt: skip
def test_words_end_where_the_separators_say(before: str, use: str, expected: str) -> None:
    assert dockers(f"{before}\ndocker run {use} img\n")[-1] == f"docker run {expected} img"


def test_arguments_in_one_word_have_the_separator_between() -> None:
    assert dockers('IFS=,\nf() { docker run "$*" img; }\nf a b\n')[-1] == "docker run $*?* img"
