"""The commands of shell texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.model.source import Source
from shmlint.syntax.shell import engine_commands
from shmlint.syntax.shell_text import whole
from tests.syntax.scripts import dockers, read, words
from tests.table import table


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
        ("sshpass -p \"$P\" ssh -o A=no h <<'EOF'\ndocker run a\nEOF\n", "a"),
        ("timeout 5 sudo -u me -H bash <<EOF\ndocker run a\nEOF\n$SSH h <<EOF\ndocker run b\nEOF\n", "ab"),
        ("cat <<EOF | sudo bash -s\ndocker run a\nEOF\n", "a"),
        ("eval 'docker run a'\neval \"docker run b\"\nbash -c 'docker run c'; sh -c \"x && docker run d\"", "abcd"),
        ("ssh h 'docker run a'; tmux send-keys -t x 'docker run b' C-m; watch \"docker run c\"", "abc"),
        ("ssh h \"bash -c \\\"docker run a\\\"\"", "a"),
        ("sudo bash -c \"nohup bash -c 'docker run a' &\"", "a"),
        ("args=(docker run)\nargs+=(a)\n\"${args[@]}\"\n", "a"),
        ("D=docker; $D run a; ${D} run b\n", "ab"),
        # A redirection behind an assignment ends it.
        ("A=$(x) 2>/dev/null\ndocker run a\nB=1 >log 2>&1; docker run b\nC=1 D=2 >log && docker run c\n", "abc"),
        ("A=1 >log &\ndocker run a\nB=1 2>&1 | docker run b\nC=1 2>log || docker run c\n", "abc"),
        ("x || A=$(y |\nz) 2>/dev/null\ndocker run a\nA[0]=1 &>log; docker run b; { A= <<< y; }\ndocker run c", "abc"),
        ("if x; then\n A=\"x\" 2>&1 # y\nelse\n B=(1) >&2\nfi\ndocker run a\nA=1 2>x\nB=1 2>x\ndocker run b", "ab"),
        # What compares in a test is a word elsewhere, and ends no command.
        ("echo == x ==\ndocker run a\necho x =~; docker run b\nprintf == \n[ $x == y ] && docker run c\n", "abc"),
        ("echo ==\n[ $x == y ] && echo ==\ndocker run a\ny | echo =~ # x\nif echo ==; then docker run b; fi\n", "ab"),
        ("echo ==> x $1\ndocker run a\nf() { echo ==; }\necho ==\n[[ $x =~ y ]] || docker run b\n", "ab"),
        # What a test asks about is no pattern.
        ("[ -w / ] || x\ndocker run a\n[[ ! -d / ]]&&x\ndocker run b\nif [ -e / -o x ]; then docker run c; fi;", "abc"),
        ("[ $x -a \\( $y -o $z \\) ] || x\ndocker run a\n[ x \\> \"$y\" ]\ndocker run b\n", "ab"),
        ("[[ $x =~ ^\"a b\" ]]; docker run a\n[[ $x =~ .*'a b'$ ]]\ndocker run b\n", "ab"),
        # What follows a here-document's command in its line is behind it.
        ("cat 0<<E\nx \"y\nE\ndocker run a\n", "a"),
        ("cat <<E; docker run a\nx; y\nE\ndocker run b\n", "ab"),
        ("f() {\n cat <<'E' >x && ls; docker run a \\\n\nit's\nE\n}\n{ cat <<-\\E; } >x\n\tE\ndocker run b", "ab"),
        ("case $1 in\n a) cat <<E ;;\nx\nE\n *) docker run a ;;\nesac\n", "a"),
        ("cat <<E # a; it's\nx\nE\ncat <<E | tee ';'; docker run a\ncat <<F; no\nE\ndocker run b\n", "ab"),
        # A group is one behind another word, too.
        ("if ! { docker run a; }; then docker run b; fi\ntime { docker run c; }\ncoproc X { docker run d; }", "abcd"),
        ("x; coproc { docker run a; } | y\nif x; then ! { y; docker run b; }; fi; time -p {\ndocker run c\n}", "abc"),
        # A quotation mark in a pattern ends there.
        ("A=\"${B%\\'}\"\ndocker run a\nA=${B//'/'/_}\ndocker run b\n", "ab"),
        ("cat <<E\n\"${B//'/'/_}\"\nE\nA=$(x ${B#\\'})\ndocker run a\nA=${B//\"'\"/}; docker run b\n", "ab"),
        # A bracket in a pattern may be alone.
        ("A=\"${1#[}\"; B=\"${A%]}\"\ndocker run a\nA=\"${1//)/}\"\ndocker run b\nA=\"${1%\\]}\"; docker run c", "abc"),
        # What is to be filled in ends no command.
        ("data=<path_to_data>\nexport out=<the output>  # here\n\ndocker run a\n", "a"),
        ("data=<path/to>\ndocker run a <in >out\ncat <in >out\ndocker run b\n", "ab"),
        ("CMD=\"docker run a\"\nbash -c \"cd x && $CMD\"\nssh h \"$CMD\" </dev/null\n", "aa"),
        ("f() {\n local d=$1\n $d run a\n}\nf docker\n", "a"),
        ("f() {\n \"$@\"\n}\nX=run\nD=docker\nE=$D\nf $E $X a; ${E:-x} run b\n", "ab"),
        ('C=(ls)\n"${C[@]}"\nC="docker run a"\neval "$C"\nbash -c "$C"\n', "aa"),
        ('docker_cmd="docker run a"\neval "$docker_cmd"\nbash -c "$docker_cmd"\n', "aa"),
        ('DOCKER_RUN="docker run"\neval "$DOCKER_RUN a"\nbash -c "cd x && $DOCKER_RUN b"\n', "ab"),
        ("CMD='docker run a'\n$CMD\nssh h \"$CMD\"\nbash -c \"$CMD\"", "aaa"),
    ],
)  # fmt: skip
def test_commands_are_found(text: str, expected: str) -> None:
    assert dockers(text) == [f"docker run {image}" for image in expected]


_VALUES = ("1", '"a b"', "$(x |\ny)", "(a b)", "")
_REDIRECTIONS = ("2>/dev/null", "&>>x", "<<< y", '>x 2>&1 <"$y"')
_AROUND = ("{}", "x && {}", "{} || B=1", "{} || {} && y", "{} # x", "{} | y; {}", "f() {{ {}; }}", "if {}; then y; fi")


@table("before", [
    around.replace("{}", f"{name}={value} {redirection}").replace("{{", "{").replace("}}", "}")
    for name in ("A", "A[0]") for value in _VALUES for redirection in _REDIRECTIONS for around in _AROUND
])  # fmt: skip
def test_an_assignment_ends_with_its_redirections(before: str) -> None:
    found = [command[1:] for command in words(f"{before}\ndocker run --x=$B c\n") if command[0] == "docker"]
    assert [command[::2] for command in found] == [["run", "c"]]


@table(
    "before, found",
    [
        ('A="${2:?a|b|c}"; echo a', ["echo", "a"]),
        ('case x in\na) A="${2:?a|b}"; echo a;;\nesac', ["echo", "a"]),
        ("echo ${A:-a|b} c", ["echo", "a|b", "c"]),
        ("echo ${A:-$(b|echo a)} c; echo d", ["echo", "d"]),
        # It has as many bytes as what stands for it while it is parsed.
        ('echo "@(\uff65)@ a" b', ["echo", "@(\uff65)@ a", "b"]),
        ("A=${A//'\uff65\uff65'/_}; echo a b", ["echo", "a", "b"]),
        ("A=$(x) 2>/dev/null\uff65; echo a b", ["echo", "a", "b"]),
    ],
)
def test_what_stands_for_a_value_ends_with_its_brace(before: str, found: list[str]) -> None:
    every = words(f"{before}\ndocker run --x=$B c\nx z\n")
    assert [command for command in every if command[0] == "echo"][-1] == found
    assert [command[0] for command in every][-2:] == ["docker", "x"]


@table("before", [
    "x @(a|b)", "rm -rf a/!(b|c)/d", "ls *(a) b", "ls +([0-9]).txt", "x a?(b)c d", "x=@(a|b)", "arr=(!(a) *(b) $C)",
    "for i in !(a|b); do x; done", "a[1+(2)]=3", "echo ${x:?(a)} ${x+(a)}", "echo $((2*(3))) a", "let a=b*(c)",
    "for ((i=0; i<2*(n); i++)); do x; done", "((a=b?(c):(d)))", "A=$((b ?(c) : 2))", "A=$(((a)*(b)))",
    "[[ $a == @(a|b) ]]", "case $a in @(a|b)) x;; esac", "echo $(ls *(a))", "if !(x); then x; fi",
])  # fmt: skip
def test_an_extended_pattern_ends_with_its_bracket(before: str) -> None:
    found = words(f"{before}\ndocker run --x=$B c\nx !(z)\n")
    assert [command[::3] for command in found if command[0] in ("docker", "x")][-2:] == [["docker", "c"], ["x"]]


@table("before", ["echo == a\n", "test x == a\n"])
def test_a_text_at_which_the_grammar_looks_too_often_is_not_read(before: str) -> None:
    """It would take half a minute."""
    found = [(len(command), command[0]) for command in words(f"{before * 100}docker run --x=$B c\n")]
    assert (4, "docker") in found
    source = Source("run.sh", f"{before * 20_000}docker run --gpus all c\n")
    lost = list(engine_commands(whole(source, 0, len(source.text))))
    assert [(c.span.line, "too complex" in c.unread) for c in lost] == [(20_001, True)]


@table(
    ("before", "start"),
    [*((before, "docker run --gpus all b") for before in ('x "y', "x='y", "cat <<E\ny", "(((((")),
     *((before, start) for before in ("x='y", "(((((", "for x in y; { :; }")
       for start in ('docker run "${A[@]}" b', "x && docker run $X b"))],
)  # fmt: skip
def test_a_start_behind_what_does_not_end_is_not_read(before: str, start: str) -> None:
    source = Source("run.sh", f"docker run a\n{before}\n{start}\n")
    found = [c for c in engine_commands(whole(source, 0, len(source.text))) if c.unread]
    assert [(c.span.line, "may not be closed" in c.unread) for c in found] == [(2 + before.count("\n") + 1, True)]


@table(
    ("before", "expected"),
    [
        ("docker run x", ["docker run x"]),
        ("docker run x  # why", ["docker run x"]),
        ("docker run x \\\n \\-q", ["docker run x -q"]),
        ("y > z && docker run y\r", ["docker run y"]),
        ("A=1", []),
        ("A=1 B='2'", []),
        ("export A", []),
        ("unset A", []),
        ("y > z", []),
        ("y | docker run y", ["docker run y"]),
        ("cat <<E\n\\docker run b\nE", []),
        ("\\docker run y", ["docker run y"]),
        ("# é\ny", []),
    ],
)  # fmt: skip
def test_a_backslash_before_a_name_begins_a_command(before: str, expected: list[str]) -> None:
    assert dockers(f"{before}\n\\docker run a\n\\rm -f x\n") == [*expected, "docker run a"]
    assert dockers(f"{before}\n  \\docker run a\n") == [*expected, "docker run a"]


@table(
    "text",
    [
        "cat <<EOF\ndocker run a\nEOF\n",
        "read -r -d '' USAGE <<'EOF'\ndocker run -it a\nEOF\ngit commit -F - <<'EOF'\ndocker run -it a\nEOF\n",
        "cat > run.md <<'EOF'\ndocker run a\nEOF\n",
        "echo 'docker run a'\nprintf \"docker run a\\n\"\necho docker run a\n",
        ": 'docker run a'\n: \"\n  docker run a\n\"\n: docker run a\ntrue 'docker run a'\nfalse docker run a\n",
        "log_info \"docker run a\"; print_usage 'docker run a'; die \"docker run a\"",
        "# docker run a\n",
        "alias d='docker run a'\ntype 'docker run a'\n",
        "X='docker run a'\n",
        "git commit -m 'say docker run a'",
        "[ \"$(cat x)\" = 'docker run a' ]",
    ],
)
def test_talk_is_no_command(text: str) -> None:
    assert dockers(text) == []


@table(
    ("text", "expected"),
    [
        ("ls -l 'a b'\necho docker run a\ndocker run b\nset -e", ["docker"]),
        ("D=docker\n$D ps\n\"$X\" run a\n'dock'er run b", ["docker", "$X", "docker"]),
        ("log() { sudo \"$@\"; }\nlog docker a\nlog a\necho a", ["sudo", "sudo", "sudo"]),
        ("CONTAINER_CMD=x\ncontainer run a", ["container"]),
    ],
)
def test_commands_that_can_be_of_no_engine_are_left_out(text: str, expected: list[str]) -> None:
    found = engine_commands(whole(Source("x.sh", text), 0, len(text)))
    assert [command.words[0].text for command in found] == expected


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


def test_a_dash_before_a_here_document_is_a_word() -> None:
    assert dockers("docker build -t a - <<EOF\nFROM b\nEOF\n") == ["docker build -t a -"]
    assert dockers("docker run -i a python - 2>&1 <<'EOF'\nEOF\n") == ["docker run -i a python -"]


def test_an_unquoted_here_document_and_a_quoted_text_lose_one_level_of_escapes() -> None:
    assert dockers("bash <<EOF\ndocker run -e A=\\$B a\nEOF\n") == ["docker run -e A=$B? a"]
    assert dockers("bash <<'EOF'\ndocker run -e 'A=\\b' a\nEOF\n") == ["docker run -e A=\\b a"]
    assert dockers('sh -c "docker run -e A=\\"x y\\" a"') == ["docker run -e A=x y a"]


@table(
    "text",
    [
        "docker run > log 2>&1 --rm a x\n", "docker run --rm a 2>/dev/null x < in\n", "docker >log run --rm a x\n",
        "docker run --rm &> log a x | tee y\n", "y | docker run --rm &>> log a x\n", "docker run --rm 2>&- a x\n",
        "docker run --rm <<E a x\nin\nE\n", "docker run --rm <<E > log 2>&1 a x\nin\nE\n",
        "docker run --rm <<< in a x\n", "y && docker run > log --rm a x\n",
        "if docker run --rm > log a x; then y; fi\n", "(docker run > >(tee log) --rm a x) &\n",
        "! docker run 2>&1 --rm a x\n",
        "bash 2>log -c 'docker run --rm a x'\n",
    ],
)  # fmt: skip
def test_words_behind_a_redirection_are_those_of_its_command(text: str) -> None:
    assert dockers(text) == ["docker run --rm a x"]


def test_what_is_behind_a_pipe_or_an_operator_is_another_command() -> None:
    assert dockers("docker run a <<E || docker run b > x c\nE\n") == ["docker run a", "docker run b c"]
    assert dockers("docker run a > x | y z\ndocker run b\n") == ["docker run a", "docker run b"]


def deep(opening: str, closing: str, levels: int) -> str:
    return "docker run " + opening * levels + "a" + closing * levels


@pytest.mark.slow
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


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    read("docker run " + data.decode("utf-8", "replace"))
    read("docker run " + data.decode("latin-1"))
