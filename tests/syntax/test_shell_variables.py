"""Values that something else may set are not known; those that nothing else sets are followed."""

from __future__ import annotations

from tests.syntax.scripts import dockers, read
from tests.table import table

RUN = "docker run --shm-size=$S img\n"


@table(
    ("text", "expected"),
    [
        # A value may be overwritten by what is read from elsewhere.
        (f"S=8g; . ./local.env\n{RUN}", "$S?"),
        (f"S=8g\nsource <(cat x)\n{RUN}", "$S?"),
        (f"S=8g\nexport $(grep -v '^#' .env | xargs)\n{RUN}", "$S?"),
        (f'S=8g\neval "$(cat .env)"\n{RUN}', "$S?"),
        (f"S=8g\neval S=$1\n{RUN}", "$S?"),
        (f"S=8g\nIFS= read -r S\n{RUN}", "$S?"), (f"read -r S T <<< '8g 9g'\n{RUN}", "$S?"),
        (f"read -r S <<< '8g'\n{RUN}", "8g"), (f'V=8g\nread -r S <<< "$V"\n{RUN}', "8g"),
        (f"readonly S=8g\nS=64m\n{RUN}", "$S?"), (f"N=S\nS=8g\n{RUN.replace('$S', '${!N}')}", "8g"),
        (f'S="8"\\\n"g"\n{RUN}', "8g"), (f"M=([a]=8g [b]=9g)\n{RUN.replace('$S', '${M[b]}')}", "9g"),
        (f"S=8g\nprintf -v S %s 9g\n{RUN}", "9g"), (f"V='9g 1'\nprintf -v S %s $V\n{RUN}", "$S?"),
        (f"S=8g\nprintf -v S %dg 9\n{RUN}", "$S?"),
        (f"S=8g\ndeclare -n R=S\nR=9g\n{RUN}", "$S?"),
        (f"load() {{ . ./x.env; }}\nS=8g\nload\n{RUN}", "$S?"),
        (f"S=8g\nif x; then . ./x.env; fi\n{RUN}", "$S?"),
        ("source x.env\ndocker run --shm-size=${S:-8g} img\n", "${S:-8g}?"),
        ("f() { docker run --shm-size=$S img; }\nS=8g\n. ./x.env\nf\n", "$S?"),
        ("S=8g; . ./$(docker run --shm-size=$S img)", "8g"),
        # What is set behind it counts.
        (f". ./local.env\nS=8g\n{RUN}", "8g"),
        (f"source venv/bin/activate\nS=8g\n{RUN}", "8g"),
        (f'S=8g\neval "docker run x"\n{RUN}', "8g"),
        # A function sets a variable where it is called.
        (f"f() {{ S=8g; }}\nS=1g\nf\n{RUN}", "8g"),
        (f"f() {{ S=8g; }}\nf\nS=1g\n{RUN}", "1g"),
        (f"f() {{ S=8g; }}\nS=1g\n{RUN}", "1g"),
        (f"f() {{ local S=8g; }}\nS=1g\nf\n{RUN}", "1g"),
        (f"f() {{ S=8g; }}\ng() {{ f; }}\nS=1g\ng\n{RUN}", "8g"),
        (f"f() {{ S=8g; }}\nS=1g\nif x; then f; fi\n{RUN}", "${S}?~"),
        # Inside of a function a variable holds what it holds where the function is called.
        ("f() { docker run --shm-size=$S img; }\nS=8g\nf\nS=64m\n", "8g"),
        ("f() { docker run --shm-size=$S img; }\nS=8g\nf\nS=64m\nf\n", "64m"),
        ("f() { docker run --shm-size=$S img; }\ng() { local S=8g; f; }\nS=64m\ng\n", "8g"),
        ("f() { f; docker run --shm-size=$S img; }\nS=8g\nf\n", "8g"),
        # Two assignments on a line, and the default that sets a variable.
        (f"S=8g T=1\n{RUN}", "8g"),
        (f'T=1 S=8g && x\n: "${{S:=9g}}"\n{RUN}', "8g"),
        (f': "${{S:=9g}}"\n{RUN}', "9g"),
        (f"for i in 1 2; do\n{RUN}S=9g\ndone", "${S}?~"),
        # Where a statement has no end, nobody knows what follows it.
        (f"S=1g\nif x; then\nS=8g\n{RUN}", "${S}?~"), (f"S=1g\nif x; then\nS=2g\nelse\nS=8g\n{RUN}", "${S}?~"),
        (f"S=1g\nif x; then\n:\nelif y; then\nS=8g\n{RUN}", "${S}?~"), (f"S=1g\nif x\nS=8g\nfi\n{RUN}", "${S}?~"),
        (f"S=1g\nfor i in 1 2; do\nS=8g\n{RUN}", "${S}?~"), (f"S=1g\nwhile x; do\nS=8g\n{RUN}", "${S}?~"),
        (f"S=1g\ncase $1 in\na) S=8g\n{RUN}", "${S}?~"), (f"S=1g\nf() {{\nS=8g\n{RUN}", "${S}?~"),
        (f"if x; then\nS=1g\nfi\nS=8g\nif y; then\n{RUN}", "8g"),
        (f"if x; then S=8g; {RUN.strip()}; fi\nif y; then\n", "8g"),
    ],
)
def test_a_size(text: str, expected: str) -> None:
    found = [found for found in dockers(text) if "--shm-size" in found]
    assert found[-1].split("--shm-size=")[-1] == f"{expected} img"


@table(
    ("text", "expected"),
    [
        ('"${M[@]}"', "--rm --gpus all --name x"),
        ("${M[@]}", "--rm --gpus all --name x"),
        ('${M[@]+"${M[@]}"}', "--rm --gpus all --name x"),
        ('"${M[@]:1}"', "--gpus all --name x"), ("${M[@]:0:2}", "--rm --gpus"),
        ('"${M[@]/all/0}"', "${M[@]/all/0}?*"),
        ('"${M[@]#--}"', "${M[@]#--}?*"),
        ('"${!M[@]}"', "${!M[@]}?*"),
        ('"${M[@]@Q}"', "${M[@]@Q}?*"),
        ('"${M[*]}"', "${M[*]}?*"),
        ('"${M[0]}"', "--rm"), ('"${M[1]}" "${M[2]}"', "--gpus all"), ('"${M[9]}"', ""), ("${M[$i]}", "${M[$i]}?*"),
        ('"${M[@]: -1}"', "x"), ('"${M[@]:3:1}"', "--name"), ('"${M[@]:-1}"', "${M[@]:-1}?*"),
        ('"${M[@]/#/--env=}"', "--env=--rm --env=--gpus --env=all --env=--name --env=x"),
        ("$M", "--rm"),
        ('"${M:-x}"', "${M:-x}?"),
        ('"${#M[@]}"', "${#M[@]}?*"),
    ],
)
def test_an_array_is_whole_or_not_known(text: str, expected: str) -> None:
    (found,) = dockers(f"M=(--rm --gpus all --name x)\ndocker run {text} img\n")
    assert found == f"docker run {expected} img"


@table(
    ("array", "use", "expected"),
    [
        ("M=([0]=--gpus [1]=all)", '"${M[@]}"', "--gpus all"),
        ("M=([1]=all [0]=--gpus [1]='0 1')", '"${M[@]}"', "--gpus 0 1"),
        ("M=([0]=--gpus [1]=all [2]=--rm)", '"${M[@]:1}"', "all --rm"),
        ("M=([0]=--gpus [1]=all)\nM+=(--rm)", "${M[@]}", "--gpus all --rm"),
        ("M=([0]=--gpus [1]=all)", '"${M[1]}"', "all"),
        ("S=8g\nM=([0]=--shm-size=$S)", '"${M[@]}"', "--shm-size=8g"),
        # In which order they are, or which of them are others, is not known.
        ("declare -A M=([0]=--gpus [1]=all)", '"${M[@]}"', '"${M[@]}"?*'),
        ("M=([a]=--gpus [b]=all)", '"${M[@]}"', '"${M[@]}"?*'),
        ("M=([0]=--gpus all)", '"${M[@]}"', '"${M[@]}"?*'),
        ("M=([2]=--rm [3]=-d)", '"${M[@]}"', '"${M[@]}"?*~'),
        ("M=([2]=--rm [3]=-d)", '"${M[@]:1}"', "${M[@]:1}?*~"),
        ("M=([2]=--rm [3]=-d)", '"${M[3]}"', "-d"),
        ("M=(--rm -d)\nM+=([0]=-t)", '"${M[@]}"', '"${M[@]}"?*~'),
        ("M=(--rm -d)\nM+=([0]=-t)", '"${M[0]}"', "${M[0]}?~"),
    ],
)
def test_elements_of_an_array_may_be_set_by_their_places(array: str, use: str, expected: str) -> None:
    (found,) = dockers(f"{array}\ndocker run {use} img\n")
    assert found == f"docker run {expected} img"


@table(
    ("array", "expected"),
    [
        ("'--gpus all --shm-size=8g' --rm", "--gpus all --shm-size=8g --rm"),
        ("'' \" -m  1g\"", "-m 1g"),
        ('"--name $X"', "--name $X?"),
        ('"-v $(pwd -P):/x"', "-v $(pwd -P):/x?*"),
        ('"$X"', "$X?"),
    ],
)
def test_an_array_without_quotation_marks_is_taken_apart_at_its_blanks(array: str, expected: str) -> None:
    (whole,) = dockers('A=("-m 1g" "")\ndocker run ${A[@]+"${A[@]}"} img\n')
    assert whole == "docker run -m 1g  img"
    for use in ("${A[@]}", "${A[*]}"):
        assert dockers(f"A=({array})\ndocker run {use} img\n") == [f"docker run {expected} img"]
    assert dockers(f"f() {{ docker run $@ img; }}\nf {array}\n") == [f"docker run {expected} img"]


def test_a_part_of_an_element_is_where_it_is_written() -> None:
    text = "A=('--gpus all --shm-size=8g')\ndocker run ${A[@]} img\n"
    (command,) = [found for found in read(text) if found.words[0].text == "docker"]
    assert [word.span.text for word in command.words[2:5] if word.span] == ["--gpus", "all", "--shm-size=8g"]


def test_elements_of_a_loop_are_not_known() -> None:
    (found,) = dockers('A=(--rm)\nfor o in --shm-size=16g; do A+=("$o"); done\ndocker run "${A[@]}" img\n')
    assert found == "docker run --rm ${A}?* img"


@table(
    ("text", "expected"),
    [
        # Each call has arguments of its own.
        ('f() { docker run "${1:-a}"; }\nf\nf b\nf b\n', ["a", "b"]),
        ('f() { docker run "$@"; }\nf --rm a\nf b "c d"\n', ["--rm a", "b c d"]),
        ("f() { docker run $*; }\nf --rm a\n", ["--rm a"]),
        ('f() { "$@"; }\nf\nf docker run a\n', ["a"]),
        ('f() { local i=$1; shift; docker run "$i" "$@"; }\nf a b\nf c\n', ["a b", "c"]),
        ('f() { docker run "${@:2}" "$1"; }\nf a --rm\nf b\n', ["--rm a", "b"]),
        ('f() { shift; docker run "${@:1:2}" ${*:3}; }\nf x --name y a b\n', ["--name y a b"]),
        ('f() { docker run "$1" "${@:2}"; }\nf a "$@"\n', ["a $@?*"]),
        ('f() { docker run "${@:2}"; }\nf "$@" a\n', ["${@:2}?*"]),
        ('f() { docker run "${@:0}"; }\nf a\n', ["${@:0}?*"]),
        (
            'f() { local o=(--rm); [ -n "$1" ] && o+=("$1"); docker run "${o[@]}" a; }\nf --shm-size=1g\nf -d\nf\n',
            ["--rm ${o}?* a", "--rm ${o}?*~ a"],
        ),
        # A variable that is set for one command alone.
        ("f() { docker run -m ${S:-1g} a; }\nS=2g f\nf\n", ["-m 2g a", "-m 1g a"]),
        ("S=1g\nf() { docker run -m $S a; }\nS=2g f\nf\n", ["-m 2g a", "-m 1g a"]),
        ("f() { docker run -m $S a; }\nS=$(x) f\n", ["-m $(x)?* a"]),
        ("S=1g\nS=2g bash -c 'docker run -m $S a'\ndocker run -m $S a\n", ["-m 2g a", "-m 1g a"]),
        # Another shell sees what is exported, and what it sets itself.
        ("S=1g\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 2g a"]),
        ("export S=1g\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("S=1g\nexport R T S\nbash <<'E'\ndocker run -m ${S:-2g} a\nE\n", ["-m 1g a"]),
        ("S=1g\nexport R='x y' S\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("S=1g\ntypeset -x S\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("S=1g\nexport R=$S\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 2g a"]),
        ("S=1g\n# export S\necho 'export S; set -a'\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 2g a"]),
        ("set -a\nS=1g\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("set -a\nS=1g\nset +a\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("S=1g\nset -a\nR=1\nset +a\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 2g a"]),
        ("set -o allexport\nR=1\nset +o allexport\nS=1g\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 2g a"]),
        ("f() { set -a; S=1g; set +a; }\nf\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("f() { sh -c 'docker run -m ${S:-2g} a'; }\nexport S=1g\nf\n", ["-m 1g a"]),
        ("set -euo pipefail\nS=1g\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m 2g a"]),
        ("S=1g\nsh -c 'docker run -m ${S:-2g} a'\nexport S\n", ["-m 2g a"]),
        (". ./x.env\nsh -c 'docker run -m ${S:-2g} a'\n", ["-m ${S:-2g}?* a"]),
        ("S=1g\neval 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ("S=1g\necho 'docker run -m ${S:-2g} a' | sh\n", ["-m 2g a"]),
        ("S=1g\necho \"docker run -m ${S:-2g} a\" | sh\n", ["-m 1g a"]),
        ("S=1g\nenv S=2g sh -c 'docker run -m $S a'\n", ["-m 2g a"]),
        ("S=1g\nbash <<E\ndocker run -m ${S:-3g} -m \\${S:-2g} a\nE\n", ["-m ${S:-3g}?* -m ${S:-2g}?* a"]),
        ("C='docker run'\neval \"$C -m 1g a\"\ndocker run -m ${C:-1g} b\n", ["-m 1g a", "-m docker run b"]),
        # Both the shell around a text and the one inside may put in the value.
        ("S=1g\nbash -c \"S=2g; docker run -m $S a\"\n", ["-m $S?* a"]),
        ("bash <<E\nS=2g\ndocker run -m \\$S a\nE\n", ["-m 2g a"]),
        # The shell inside takes away the quotation marks that the value brings.
        ("O=\"-m '1 g' --rm\"\nbash -c \"docker run $O a\"\n", ["-m 1 g --rm a"]),
        ("O='-m \"\\\"1\\\"\"'\neval \"docker run $O a\"\n", ['-m "1" a']),
        ("O=\"-m '1 g'\"\nsh -c \"S=b; docker run $O \\$S\"\n", ["-m 1 g b"]),
        ("O=\"-m '1 g'\"\nsh -c \"docker run $O $X a\"\n", ["$O?* $X?* a"]),
        ("A=(-m 1g)\nunset 'A[1]'\ndocker run \"${A[@]}\" a\n", ['"${A[@]}"?* a']),
        ("docker run -m {1g,2g} --rm={a} '{a,b}' a\n", ["-m {1g,2g}?* --rm={a} {a,b} a"]),
        ("docker run -m {1..3} -e{a..c} x{1..2}y '{1..3}' a\n", ["-m {1..3}?* -e{a..c}?* x{1..2}y?* {1..3} a"]),
        ("docker run \"${A[@]:+--rm}\" ${A[*]+-d} a\n", ["${A[@]:+--rm}?*~ ${A[*]+-d}?*~ a"]),
        ('f() { local o=("--rm" "$@"); docker run "${o[@]}"; }\nf a\nf b\n', ["--rm a", "--rm b"]),
        ('f() { bash -c "docker run $1"; }\nf a\nf b\n', ["a", "b"]),
        ('f() { docker run "${1:?an image}"; }\nf a\n', ["a"]),
        ('f() { docker run "$1"; }\ng() { f "$1"; }\ng a\nf b\n', ["b", "a"]),
        ("f() { docker run --name $S $1; }\nS=x\nf a\nS=y\nf b\n", ["--name x a", "--name y b"]),
        # Nothing is known of calls that are not read.
        ('f() { docker run "${1:-a}"; }\n', ["${1:-a}?"]),
        # The calls that are read keep their arguments, whatever else calls the function.
        ('f() { docker run "$1"; }\nf b\nexport -f f\nxargs -I{} bash -c "f {}"\n', ["b", "$1?"]),
        ('f() { docker run "$1"; }\nf b\ntime f c\ntime -p f d\neval f e\n', ["b", "c", "d", "e"]),
        ('f() { docker run "$1"; }\ng() { f "$1-x"; }\ng b\ntrap "g c" EXIT\n', ["b-x", "$1-x?"]),
        ('f() { docker run "${1:-a}"; }\nf b\nexport -f f\n', ["b", "${1:-a}?"]),
        ("f() { docker run \"${1:-a}\"; }\nf b\ntrap 'f c' EXIT\n", ["b", "${1:-a}?"]),
        ('f() { docker run "${1:-a}"; }\nf b\nc=f\n$c d\n', ["b", "${1:-a}?"]),
        ('do_f() { docker run "${1:-a}"; }\ndo_f b\n"do_$x" d\n', ["b", "${1:-a}?"]),
        ('f() { docker run "${1:-a}"; }\nf b\n"$@"\n', ["b", "${1:-a}?"]),
        ('f() { docker run "${1:-a}"; }\nretry() { "$@"; }\nretry f b\n', ["${1:-a}?"]),
        ('f() { docker run "${1:-a}"; f c; }\nf b\n', ["${1:-a}?"]),
        ('f() { while x; do shift; done; docker run "$1"; }\nf a b\n', ["$1?"]),
        ('f() { set -- c; docker run "$1"; }\nf a b\n', ["$1?"]),
        # Outside of functions, `set` and `shift` say what the arguments are.
        ('set -- a "b c"\ndocker run "$1" "$2" $#\ndocker run "$@"\ndocker run $*\n', ["a b c 2", "a b c", "a b c"]),
        ('docker run "${1:-a}"\nset -- b\ndocker run "${1:-a}"\n', ["a", "b"]),
        ('set -- a b\nshift\ndocker run "$1" "${2:-c}"\nshift $X\ndocker run "$1"\n', ["b c", "$1?"]),
        ('set -- a\nset -- "$@" b\ndocker run "$@"\nif x; then set -- c; fi\ndocker run "$1"\n', ["a b", "$1?"]),
        ('set -- a\nif x; then set -- "$@" -d; fi\ndocker run "$@"\ndocker run "$1"\n', ["a ${@}?*~", "a"]),
        ('set -- a\nif x; then set -- -d "$@"; fi\ndocker run "$@"\n', ["${@}?*~"]),
        ('set -- a b\nif x; then set -- "$*" c; fi\ndocker run "$@"\n', ["${@}?*~"]),
        ('set -- a\nset -- -d "$@"\ndocker run "$@"\n', ["-d a"]),
        ('set -- a\nfor i in 1 2; do set -- -d "$@"; docker run "$@"; done\n', ["$@?*"]),
        ('for i in 1 2; do set -- -d a; docker run "$@"; done\n', ["-d a"]),
        ('set -- a\nfor i in 1 2; do set -- "$@" b; done\ndocker run "$@"\n', ["a ${@}?*"]),
        ('set -- a b\nwhile x; do docker run "$1"; shift; done\n', ["$1?"]),
        ('set -- "$@" a\ndocker run "$@"\ndocker run "$1"\n', ["$@?* a", "$1?"]),
        ('set -- a\nf() { docker run "${1:-b}"; }\nf c\n', ["c"]),
        ("set -- a\nbash -c 'docker run \"${1:-b}\"' _ c\n", ["${1:-b}?"]),
        ('(set -- a; docker run "$1")\ndocker run "$1"\n', ["a", "$1?"]),
        ("set -e\ndocker run \"${1:-a}\"\n", ["a"]),
        # A script's own arguments are not given: its defaults are what a run without any gets.
        ('docker run "${1:-a}"\n', ["a"]),
        ("bash -c 'docker run \"${1:-a}\"' _ b\n", ["${1:-a}?"]),
        ("bash -s b <<'EOF'\ndocker run \"${1:-a}\"\nEOF\n", ["${1:-a}?"]),
        # What reads a text gets the variables in front of it.
        ("S=1g bash <<'E'\ndocker run -m ${S:-2g} a\nE\n", ["-m 1g a"]),
        ("ssh h S=1g bash -s <<'E'\ndocker run -m ${S:-2g} a\nE\n", ["-m 1g a"]),
        ("sudo S=\"$X\" bash <<'E'\ndocker run -m ${S:-2g} a\nE\n", ["-m ${S:-2g}?* a"]),
        ("ssh h \"export S=1g; bash -s\" <<'E'\ndocker run -m ${S:-2g} a\nE\n", ["-m ${S:-2g}?* a"]),
        ("S=1g bash <<< 'docker run -m ${S:-2g} a'\n", ["-m 1g a"]),
        ('bash <<< "docker run a"\n', ["a"]),
        ('cat <<< "docker run a"\n', []),
        # Options that an array may hold are not the image.
        ('o=(); for x in $y; do o+=("$x"); done\ndocker run "${o[@]}" a\n', ["${o}?* a"]),
    ],
)
def test_arguments(text: str, expected: list[str]) -> None:
    assert [found.removeprefix("docker run ") for found in dockers(text)] == expected


def test_calls_of_calls_are_bounded() -> None:
    levels = "".join(f"f{i}() {{ f{i - 1} $1; f{i - 1} $1 x; }}\n" for i in range(1, 40))
    for text in (f"f0() {{ docker run $1; }}\n{levels}f39 a\n", f"S=a\nf0() {{ docker run $S; }}\n{levels}f39\n"):
        assert dockers(text) == ["docker run a"]
    assert dockers(f"S=a\nf0() {{ S=b; }}\n{levels}f39\ndocker run $S\n") == ["docker run $S?*"]
