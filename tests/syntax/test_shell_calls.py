"""Commands that may call a function without naming one of the text."""

from __future__ import annotations

from tests.syntax.scripts import dockers
from tests.table import table

UNKNOWN, KNOWN = "$A?*", "b"


@table(
    ("text", "expected"),
    [
        ("A=b\nload_config\nUSE", UNKNOWN), ("A=b\nload-config && USE", UNKNOWN),
        ("A=b\nif configure; then USE; fi", UNKNOWN),
        ('A=b\nparse_args "$@"\nUSE', UNKNOWN), ("A=b\ntime 'setup' x\nUSE", UNKNOWN), ("A=b\nX=1 setup\nUSE", UNKNOWN),
        ("A=b\n$SETUP\nUSE", UNKNOWN), ("A=b\ns=setup\n\"$s\"\nUSE", UNKNOWN),
        ('A=b\nC="setup x"\neval "$C"\nUSE', UNKNOWN),
        ("f() { A=b; setup; USE; }\nf", UNKNOWN), ("f() { USE; }\nA=b\nsetup\nf", UNKNOWN),
        ("f() { local A=b; setup; USE; }\nf", UNKNOWN), ('A=b\nbash -c "A=c; . y; setup; USE"', "$A?*"),
        ("setup\nA=b\nUSE", KNOWN), ("A=b\nsudo setup; command setup; exec setup\nUSE", KNOWN),
        ("A=b\ncd x; ./setup; setup.sh; mkdir y; git pull; pip3 install z; nvidia-smi; docker run j\nUSE", KNOWN),
        ("A=b\nlog_info x; die y; print_usage\nUSE", KNOWN), ("g() { B=c; }\nA=b\ng\nUSE", KNOWN),
        ("A=b\n$SUDO apt-get update\n$PYTHON -m x\nUSE", UNKNOWN), ("A=b\n$SUDO apt-get update\nUSE", KNOWN),
        ("A=b\np=python3\n$p x.py\n$DOCKER run j\nUSE", KNOWN), ("A=b\nC='ls x'\neval \"$C\"\nUSE", KNOWN),
    ],
)  # fmt: skip
def test_a_command_may_be_a_function_of_a_file_that_is_sourced(text: str, expected: str) -> None:
    for source in (". ./lib.sh", 'source "$HERE/lib.sh"', 'for f in lib/*; do . "$f"; done', "x && . ./lib.sh"):
        assert dockers(f"{source}\n{text.replace('USE', 'docker run $A img')}\n")[-1] == f"docker run {expected} img"
    if "bash" not in text:
        assert dockers(f"{text.replace('USE', 'docker run $A img')}\n")[-1] == f"docker run {KNOWN} img"


@table(
    ("text", "expected"),
    [
        ("load_config\n. ./lib.sh", KNOWN), (". venv/bin/activate\nload_config", KNOWN),
        ("bash -c '. ./lib.sh'\nload_config", KNOWN), ("for i in 1 2; do load_config; . ./lib.sh; done", UNKNOWN),
        ("f() { load_config; }\n. ./lib.sh\nf", UNKNOWN), ("f() { . ./lib.sh; }\nf\nA=b\nload_config", UNKNOWN),
    ],
)  # fmt: skip
def test_it_is_one_only_where_the_file_was_sourced(text: str, expected: str) -> None:
    found = dockers(f"A=b\n{text}\ndocker run $A img\n")[-1]
    if expected == KNOWN and ". ./lib.sh\n" not in f"{text}\n"[:-1] and "activate" not in text and "bash" not in text:
        expected = UNKNOWN  # the file itself may set it
    assert found == f"docker run {expected} img"


@table(
    ("text", "expected"),
    [
        ("for h in with; do $h; done", UNKNOWN), ("f=with; $f", UNKNOWN), ('f=with\n"$f" x', UNKNOWN), ("$1", UNKNOWN),
        ("${HOOK:-with}", UNKNOWN), ("w_$1", KNOWN), ("wi$1", UNKNOWN), ('f=with; eval "$f"', UNKNOWN),
        ('eval "with && docker run z"', UNKNOWN), ("F=(with x)\n\"${F[@]}\"", UNKNOWN), ("$QUIET with", UNKNOWN),
        ("outer() { with; }\nf=outer; $f", UNKNOWN), ('run() { "$@"; }\nrun with', UNKNOWN),
        ('f=other; $f; $SUDO ls; D=docker; $D pull i; "$X" docker pull i', KNOWN),
        ('run() { "$@"; }\nrun docker pull i', KNOWN),
        ("f=$(x); $f", UNKNOWN), ('"$(pick)"', UNKNOWN), ("`pick` x", UNKNOWN), ("mapfile -C with -c 1 B < x", UNKNOWN),
        ('"$@"', UNKNOWN),
    ],
)  # fmt: skip
def test_a_variable_may_name_a_function(text: str, expected: str) -> None:
    functions = "with() { A=c; }\nother() { local A=d; B=e; }\n"
    assert dockers(f"{functions}A=b\n{text}\ndocker run $A img\n")[-1] == f"docker run {expected} img"
    assert dockers(f"other() {{ B=e; }}\nA=b\n{text}\ndocker run $A img\n")[-1] == f"docker run {KNOWN} img"


def test_a_function_that_calls_by_a_variable_is_not_called_again() -> None:
    assert dockers("main() { A=b; $STEP; docker run $A img; }\nmain\n") == ["docker run b img"]


@table(
    ("trap", "expected"),
    [
        ('trap "A=c" USR1', UNKNOWN), ("trap -- 'echo x; export A=c' SIGTERM EXIT", UNKNOWN),
        ("trap with INT", UNKNOWN),
        ("trap 'with; x' DEBUG", UNKNOWN), ("trap 'A=c' EXIT", KNOWN), ("trap 'rm -f x; exit 1' INT TERM", KNOWN),
        ("trap - INT", KNOWN), ("trap other ERR", KNOWN),
    ],
)  # fmt: skip
def test_a_trap_may_set_a_variable_at_any_time(trap: str, expected: str) -> None:
    functions = "with() { A=c; }\nother() { B=c; }\n"
    assert dockers(f"{functions}{trap}\nA=b\ndocker run $A img\n")[-1] == f"docker run {expected} img"
    inside = f"{functions}main() {{ A=b; docker run $A img; }}\n{trap}\nmain\n"
    assert dockers(inside)[-1] == f"docker run {expected} img"
