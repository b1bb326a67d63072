"""The commands of shell texts: which there are, what their words are, and where these stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.model.source import Source
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_text import whole
from shmlint.syntax.word import Word
from tests.table import table


def read(text: str) -> list[Command]:
    return list(commands(whole(Source("x.sh", text), 0, len(text))))


def words(text: str) -> list[list[str]]:
    """The words of every command; those not known with ``?``, with ``*`` where they may be many."""
    return [[_shown(word) for word in command.words] for command in read(text)]


def _shown(word: Word) -> str:
    marks = "?" if word.unknown else ""
    marks += "*" if word.maybe_many else ""
    marks += "~" if word.harmless else ""
    return word.text + marks


def dockers(text: str) -> list[str]:
    """The docker commands, their words with single blanks between."""
    return [" ".join(found) for found in words(text) if found[0] in ("docker", "podman", "nvidia-docker")]


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
    ("text", "expected"),
    [
        ("a && docker run b || docker run c | tee x; (docker run d) & { docker run e; }", "bcde"),
        ("if docker run a; then docker run b; elif x; then docker run c; else docker run d; fi", "abcd"),
        ("for i in 1 2; do docker run a; done; while x; do docker run b; done; until y; do docker run c; done", "abc"),
        ("case $1 in\n x) docker run a ;;\n *) docker run b;;\nesac\n", "ab"),
        ("f() {\n docker run a\n}\nfunction g { docker run b; }\n", "ab"),
        ("x=$(docker run a)\ny=`docker run b`\necho $(docker run c) \"$(docker run d)\"", "abcd"),
        ("bash <<EOF\ndocker run a\nEOF\nssh h bash -s <<'EOF'\ndocker run b\nEOF\n", "ab"),
        ("ssh h <<-\"EOF\"\n\tdocker run a\n\tEOF\n", "a"),
        ("cat <<EOF | ssh h\ndocker run a\nEOF\n", "a"),
        ("cat <<EOF | sudo bash -s\ndocker run a\nEOF\n", "a"),
        ("eval 'docker run a'\neval \"docker run b\"\nbash -c 'docker run c'; sh -c \"x && docker run d\"", "abcd"),
        ("ssh h 'docker run a'; tmux send-keys -t x 'docker run b' C-m; watch \"docker run c\"", "abc"),
        ("ssh h \"bash -c \\\"docker run a\\\"\"", "a"),
        ("sudo bash -c \"nohup bash -c 'docker run a' &\"", "a"),
        ("args=(docker run)\nargs+=(a)\n\"${args[@]}\"\n", "a"),
        ("D=docker; $D run a; ${D} run b\n", "ab"),
        ("CMD='docker run a'\n$CMD\nssh h \"$CMD\"\nbash -c \"$CMD\"", "aaa"),
    ],
)  # fmt: skip
def test_commands_are_found(text: str, expected: str) -> None:
    assert dockers(text) == [f"docker run {image}" for image in expected]


@table(
    "text",
    [
        "cat <<EOF\ndocker run a\nEOF\n",
        "cat > run.sh <<'EOF'\ndocker run a\nEOF\n",
        "echo 'docker run a'\nprintf \"docker run a\\n\"\necho docker run a\n",
        "log_info \"docker run a\"; print_usage 'docker run a'; die \"docker run a\"",
        "# docker run a\n",
        "alias d='docker run a'\ntrap 'docker run a' EXIT\n",
        "X='docker run a'\n",
        "git commit -m 'say docker run a'",
        "[ \"$(cat x)\" = 'docker run a' ]",
    ],
)
def test_talk_is_no_command(text: str) -> None:
    assert dockers(text) == []


def test_a_comment_between_continued_lines_is_passed_over() -> None:
    found = [["docker", "run", "--gpus", "all", "a"]]
    assert words("docker run \\\n  # --shm-size=8g \\\n  --gpus all a\n") == found


def test_comments_between_continued_lines() -> None:
    """Substitutions that hold nothing but a comment: bash puts nothing in their place."""
    text = "docker run --gpus all \\\n  `# shm` \\\n  --shm-size=16g \\\n  a `# last` x\ndocker run b\n"
    assert dockers(text) == ["docker run --gpus all --shm-size=16g a x", "docker run b"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_backticks_of_powershell_continue_a_line(newline: str) -> None:
    text = "docker run --gpus all `\n  --shm-size=8g `\n  a\nx=`docker run b `\n".replace("\n", newline)
    assert dockers(text)[0] == "docker run --gpus all --shm-size=8g a"


def test_backticks_over_lines_are_substitutions() -> None:
    assert dockers("x=`docker run \\\n  -d \\\n  a `\ndocker run b\n") == ["docker run -d a", "docker run b"]


@table(
    ("before", "use", "expected"),
    [
        ("A='--gpus all'", "$A", "--gpus all"),
        ("A='--gpus all'", '"$A"', "--gpus all"),
        ("A=x", "--name=${A}-1", "--name=x-1"),
        ("A=x; B=$A/y", "$B", "x/y"),
        ("export A='--gpus all'; readonly B=b; declare -r C=c; typeset D=d", "$A $B $C $D", "--gpus all b c d"),
        ("A=; A+=' --rm'; A+=\" -e X\"", "$A", "--rm -e X"),
        ("A=--rm; A=\"$A -d\"; A=\"${A} -t\"", "$A", "--rm -d -t"),
        ("A=(--gpus all -e 'b c')", '"${A[@]}"', "--gpus all -e b c"),
        ("A=(\n  --rm # why\n  # more\n  -d\n)", "${A[*]}", "--rm -d"),
        ("A=(--rm); A+=(-d)", '"${A[@]}"', "--rm -d"),
        ("A=(); A+=(--gpus); A+=(all)", '"${A[@]}"', "--gpus all"),
        ("A=(-d); B=(--rm \"${A[@]}\")", '"${B[@]}"', "--rm -d"),
        ("declare -a A=(--rm)", '"${A[@]}"', "--rm"),
        ("", "${A:-x}", "x"),
        ("", "--shm-size=${A:-64m} ${B-y} ${C:=z}", "--shm-size=64m y z"),
        ("A=b", "${A:-x}", "b"),
        ("A=", "${A:-x}", "x"),
        ("", "${A:-${B:-x}}", "x"),
        ("A=b; A=c", "$A", "c"),
        ("A=b; x && A=c && y", "z", "z"),
        ("# A=b\nA=c", "$A", "c"),
    ],
)
def test_variables_are_followed(before: str, use: str, expected: str) -> None:
    assert dockers(f"{before}\ndocker run {use} img\n") == [f"docker run {expected} img"]


@table(
    ("before", "use", "expected"),
    [
        ("", "$A", "$A?*"),
        ("", '"$A"', "$A?"),
        ("", '"$@"', "$@?*"),
        ("", "$1 ${2}", "$1?* ${2}?*"),
        ("read A", "$A", "$A?*"),
        ("read -r A B", "$B", "$B?*"),
        ("mapfile -t A < x", '"${A[@]}"', '"${A[@]}"?*'),
        ("readarray A < x", '"${A[@]}"', '"${A[@]}"?*'),
        ("A=(a b); A[0]=c", '"${A[@]}"', '"${A[@]}"?*'),
        ("A=$(x)", "$A", "$(x)?*"),
        ("A=$B", "$A", "$B?*"),
        ("A=$B", '"$A"', "$B?"),
        ("A=b; unset A", "$A", "$A?*"),
        ("", "$((1 + 2))", "$((1 + 2))?*"),
        ("", "${A:+-x}", "${A:+-x}?*~"),
        ("if x; then A=--rm; fi", "$A", "${A}?*~"),
        ("A=; if x; then A='-v a:b'; fi", "$A", "${A}?*~"),
        ("A=-d; if x; then A='-v a:b'; fi", "$A", "${A}?*~"),
        ("A=; x && A='--shm-size 8g'", "$A", "${A}?*"),
        ("A=; if x; then A='--gpus all'; else A=-d; fi", "$A", "${A}?*"),
        ("A=-d; if x; then A=\"$A -t\"; fi", "$A", "-d ${A}?*~"),
        ("A=(-d); if x; then A+=(--ipc host); fi", '"${A[@]}"', "-d ${A}?*"),
        ("A=(-d); if x; then A+=(-t); fi", '"${A[@]}"', "-d ${A}?*~"),
        ("A=a:b; x && A+=-gpu", "$A", "${A}?*"),
        ("A=a:b; x && A=$A-x", "$A", "${A}?*~"),
        ("case $1 in a) A=--privileged;; esac", "$A", "${A}?*"),
        ("for A in a b; do :; done", "$A", "$A?*"),
        ("A=b docker run x", "$A", "$A?*"),
    ],
)
def test_variables_that_are_not_known(before: str, use: str, expected: str) -> None:
    assert dockers(f"{before}\ndocker run {use} img\n")[-1] == f"docker run {expected} img"


def test_a_branch_knows_what_it_set() -> None:
    text = "if x; then A='--gpus all'; docker run $A a; else docker run b $A; fi"
    assert dockers(text)[0] == "docker run --gpus all a"


def test_functions_use_globals() -> None:
    assert dockers("OPTS='--gpus all'\nf() { docker run $OPTS a; }\nf\n") == ["docker run --gpus all a"]
    assert dockers("f() { docker run $OPTS a; }\nOPTS='--gpus all'\nf\n") == ["docker run --gpus all a"]
    assert dockers("f() { local O='--gpus all'; docker run $O a; }\n") == ["docker run --gpus all a"]


def test_an_unquoted_here_document_and_a_quoted_text_lose_one_level_of_escapes() -> None:
    assert dockers("bash <<EOF\ndocker run -e A=\\$B a\nEOF\n") == ["docker run -e A=$B? a"]
    assert dockers("bash <<'EOF'\ndocker run -e 'A=\\b' a\nEOF\n") == ["docker run -e A=\\b a"]
    assert dockers('sh -c "docker run -e A=\\"x y\\" a"') == ["docker run -e A=x y a"]


@pytest.mark.parametrize("text", ["docker run a", "\u00e9\U0001f389; docker run 'a' b",
"\ufeffx\r\ndocker run \\\r\n a"])
def test_positions(text: str) -> None:
    source = Source("x.sh", text)
    found = [command for command in commands(whole(source, 0, len(text))) if command.words[0].text == "docker"]
    (command,) = found
    assert command.words[0].span is not None
    assert command.words[0].span.start == text.index("docker")
    assert command.span.text == text[text.index("docker") :].rstrip("\r\n")


def test_a_word_of_a_variable_stands_where_that_was_set_and_is_used_in_the_command() -> None:
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
def test_where_a_part_of_a_word_stands(text: str, part: str, place: str | None) -> None:
    word = read(text)[-1].words[2]
    span = word.part_span(part)
    assert (span.text if span is not None else None) == place


def deep(opening: str, closing: str, levels: int) -> str:
    return "docker run " + opening * levels + "a" + closing * levels


@table(
    "text",
    [
        deep("(", ")", 10_000),
        "(" * 10_000 + "docker run a",
        deep("$(", ")", 1_000),
        deep('"$(', ')"', 1_000),
        deep("${A:-", "}", 3_000),
        deep('"${A:-', '}"', 1_000),
        "{ " * 3_000 + "docker run a;" + " }" * 3_000,
        "if x; then " * 1_000 + "docker run a; " + "fi; " * 1_000,
        "docker run a && " * 3_000 + "b",
        'bash -c "' * 1_000 + "docker run a",
        "bash -c 'docker run " + "\\" * 10_000,
        "`" * 5_001 + "docker run",
        'if x; then A="$A -x"; fi\n' * 1_500 + "docker run $A i\n",
        'A="$A -x"\n' * 1_500 + "docker run $A i\n",
        "A+=(-x)\n" * 1_500 + 'docker run "${A[@]}" i\n',
        "docker run " + 'a"b"' * 10_000,
        "docker run \ud800 \0 a",
    ],
    ids=lambda text: text[:24],
)
def test_nesting_is_no_trouble(text: str) -> None:
    read(text)


PIECES = st.sampled_from(
    ["docker run ", "--gpus all ", "A=", "$A", "${A:-b}", '"', "'", "\\", "\n", "\r\n", " ", "$(", ")", "`", "{", "}",
     "(", "eval ", "bash -c ", "<<EOF\n", "EOF\n", "# ", "if x; then ", "fi\n", "A+=(x)\n", '"${A[@]}"', "\u00e9",
     "\U0001f389",
     "\t", ";", "|", "&&", "ssh h ", "$'", "$@", "--shm-size=64m ", "img", "f() {", "case a in b)", ";;", "esac",
     "=", "\ud800"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_word_stands_where_it_says(text: str) -> None:
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


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    read("docker run " + data.decode("utf-8", "replace"))
    read("docker run " + data.decode("latin-1"))
