"""What the assignments of a text make of its variables."""

from __future__ import annotations

from tests.syntax.scripts import dockers
from tests.table import table


@table(
    ("before", "use", "expected"),
    [
        ("A='--gpus all'", "$A", "--gpus all"),
        ("A='--gpus all'", '"$A"', "--gpus all"),
        ("A=x", "--name=${A}-1", "--name=x-1"),
        ("A=x; B=$A/y", "$B", "x/y"),
        ("export A='--gpus all'; readonly B=b; declare -r C=c; typeset D=d", "$A $B $C $D", "--gpus all b c d"),
        ("A=; A+=' --rm'; A+=\" -e X\"", "$A", "--rm -e X"), ("A+=' --rm'; A+=' -t'", "$A", "--rm -t"),
        ("A+=(--rm); A+=(-t)", '"${A[@]}"', "--rm -t"), (". ./x.env; A=(); A+=(-t)", '"${A[@]}"', "-t"),
        (". ./x.env; A='--rm -t'; (IFS=,)", "$A", "--rm -t"),
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
        # A shell of its own keeps what it sets to itself.
        ("A=b; (A=c)", "$A", "b"), ("A=b; x=$(A=c; y)", "$A", "b"), ("A=b; f() { A=c; }; x=$(f)", "$A", "b"),
        ("A=b; x < <(A=c)", "$A", "b"), ("A=b; (unset A; read A)", "$A", "b"),
        ("A=b; A=c & wait", "$A", "b"), ("A=b; export A=c &", "$A", "b"),
        ("A=b; x && { y; A=c; } >z 2>&1 &", "$A", "b"),
        ("A=b; f() { A=c; }; f & f &", "$A", "b"), ("A=b; x & A=c", "$A", "c"),
        ("{ A=b; x; } & A=c; { A=d; y & }", "$A", "d"), ("f() { A=b; }; x & f", "$A", "b"),
        ("A=b; x && A=c && y", "z", "z"),
        ("# A=b\nA=c", "$A", "c"),
        *((f"A=b; {command}", "$A", "b") for command in (
            "printf -v B %s x", 'printf -v "B" %s "$x" y', 'printf "$1" A', 'mapfile -t "B"', 'read -p "Sure? "',
            'read -p "$ask" -r "B"', "read -t 3 -n 1 B", 'getopts A "B" "$@"', "getopts $1 B", 'declare -g "B=c"',
            'export "B=$A"', "eval 'B=c'", 'eval "B=\\$A"', "unset B", "wait $pid", "wait -n $1 $2", "((B = A))",
            "((A == 8, A <= 9, A != 3))", ": $((A - 1)) $((A-B))", "let B=A", '[ "$((A>=1))" = 1 ]',
        )),
        ("f() { declare -g A=b; }; f", "$A", "b"), ("A=b; f() { declare A=c; }; f", "$A", "b"),
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
        ("", "$((1 + 2))", "3"),
        ("A=8", "$((A / 4)) $((${A}*$A))", "2 64"),
        ("A=2", '"--n=$((A - 3))"', "--n=-1"),
        ("", "$((A / 4))", "$((A / 4))?*"),
        ("A=8", "$((A / 0))", "$((A / 0))?*"),
        ("A=010", "$((A + 1))", "$((A + 1))?*"),
        ("A=8", "$((A + 1 + 1))", "$((A + 1 + 1))?*"),
        ("set -- 8", "$(($1 * 64)) $((${1} + 2))", "512 10"),
        ("", '"$(($1 * 64))m"', "$(($1 * 64))m?"),
        ("", '"--n=$(( ${2} + 2 ))"', "--n=$(( ${2} + 2 ))?"),
        # The shell computes what an integer is set to.
        ("declare -i A=8", "$A", "8"),
        ("declare -i A=2*32", "$A", "$A?*"),
        ("declare -i A=8; A+=8", "$A", "$A?*"),
        ("typeset -ri A=010", "$A", "$A?*"),
        ("declare -i A; B=4; A=B", "$A", "$A?*"),
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
        # What sets variables that it is given the names of may set any, and what is named itself.
        *((f"A=b; {command}", "$A", "$A?*") for command in (
            'printf -v "$1" %s x', 'printf -v"$1" %s x', 'printf -v "A" %s "$x" y', 'mapfile -t "$1"', 'mapfile -t "A"',
            'read -r "$1"', 'read -p "Which? " "A"', 'read -rp "$ask" A', 'read -ra "${1}"', 'getopts ab: "$1"',
            'declare -g "$1=c"', 'declare "A=$c"', "export 'A=c'", 'readonly "$n"=c', 'eval "$1=c"', 'eval "A=c"',
            'n=A; eval "$n=c"', 'n=A; eval $n=c', "n=A; eval \"${n}='c'\"", 'n=A; eval "$n"=c',
            'n=a; eval "${n^^}=\\$1"', 'n=A; eval "$n+=c"', 'for n in A; do eval "export $n=c"; done',
            'eval "B=c; A=d"', 'eval "B=c A=d"', "eval B=c A=d", 'eval "B=c $1"',
            'unset "$1"', 'unset "A"', 'wait -n -p A', 'wait -p "$1"', "((A = 8))",
            "((B++, A *= 2))", "(($1 = 8))", ": $((A = 8))", "let A=8", 'let "$1 = 8"', "let A++",
            'set_it() { printf -v "$1" %s x; }; set_it A',
            'set_it() { declare -g "$1=$2"; }; set_it A c',
        )),
        # What is added to, something else may have set before.
        (". ./x.env; A+=(-t)", '"${A[@]}"', "${A}?* -t"), ("source x.env; A+=' -t'; A+=' -d'", "$A", "${A}?* -t -d"),
        ('eval "$(x)"; declare -a A+=(-t)', '"${A[@]}"', "${A}?* -t"), (". ./x.env; A+=8g", "-m $A", "-m ${A}8g?"),
        ("f() { . ./x.env; }; f; A+=(-t)", '"${A[@]}"', "${A}?* -t"),
        ("x && . ./x.env; A+=(-t)", '"${A[@]}"', "${A}?* -t"),
        ("for i in *.sh; do . $i; done; export A+=' -t'", "$A", "${A}?* -t"), ("read A; A+=' -t'", "$A", "${A}?* -t"),
        ("A=-d; A+=\" $B\"", "$A", "-d $B?*"),
        # A loop adds the same each time.
        ('A=; for i in 0 1; do if x; then A="$A --device /dev/snd$i "; fi; done', "$A", "${A}?*~"),
        ('A=; for i in 0 1; do A="--device=/dev/snd$i $A"; done', "$A", "${A}?*~"),
        ('A=; for i in 0 1; do A="$A --device /dev/nvidia$i"; done', "$A", "${A}?*"),
        ('A=; for i in 0 1; do A="$A $i"; done', "$A", "${A}?*"),
        ('A=; for i in 0 1; do A="$A -v $i:/x"; if x; then A="$A $O"; fi; done', "$A", "${A}?*"),
        ('for i in 0 1; do A="$A -v $i:/x"; done', "$A", "${A}?*"),
        # What a variable or a folder is called matters in no way.
        ("x && A='-e XDG_RUNTIME_DIR=/tmp -v /run/nvidia:/n --name my-gpu'", "$A", "${A}?*~"),
        ('A=(-d); x && A+=(-e "GPU_COUNT=$N")', '"${A[@]}"', "-d ${A}?*~"),
        ('A=(-d); x && A+=(-e "GPU_COUNT=1 --gpus all")', '"${A[@]}"', "-d ${A}?*"),
        ("x && A='-e NVIDIA_VISIBLE_DEVICES=all'", "$A", "${A}?*"),
        ("x && A='-v /run/nvidia:/dev:ro'", "$A", "${A}?*"), ("x && A='-v --gpus all'", "$A", "${A}?*"),
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
