"""Proofs: what shares a text with a repaired launch stays what it was, and nothing new is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.fixing.prove import Proof, Shift, parts, places, prove
from shmlint.fixing.repairs import offers
from shmlint.model.launch import GpuRequest, Launch, Mount, ReadOnly, Size, Unknown, Value, Words
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source, Span
from shmlint.run import Run, lint
from tests.table import table

pytestmark = pytest.mark.usefixtures("elsewhere")

START = Span(Source("compose.yaml", ""), 0, 0)
PLAIN = Launch("compose-service", "a", START, START, Words("service `a`", "shm_size"), ReadOnly())
TRAIN = "nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 t.py"
KINDS = {
    "run.sh": "shell",
    "Makefile": "makefile",
    "justfile": "makefile",
    "README.md": "markdown",
    "compose.yaml": "compose",
    "ci.yml": "ci",
}


def a_value(value: Any) -> Value[Any]:
    return Value(value, START, "")


def read(texts: Mapping[str, str]) -> Run:
    files: dict[str, list[str]] = {}
    for path in texts:
        if path in KINDS:
            files.setdefault(KINDS[path], []).append(path)
    return lint(files, Settings(), Workspace(texts))


def changed(path: str, text: str) -> list[tuple[str, str]]:
    """The lines that fixing makes others, before and after."""
    new = fix.fix(read({path: text})).texts.get(path, text)
    return [pair for pair in zip(text.splitlines(), new.splitlines(), strict=True) if pair[0] != pair[1]]


def test_a_size_that_leaves_the_finding_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that advises less than the need: the text would change, and the error would stay."""
    monkeypatch.setattr("shmlint.rules.shm102_shm_size_too_small.advised", lambda *_: 128 << 20)
    service = "image: nvcr.io/nvidia/pytorch:24.01-py3\n    command: torchrun --nproc_per_node=8 t.py\n    gpus: all"
    text = f"services:\n  x:\n    {service}\n    shm_size: 64m\n"
    run = lint({"compose": ["compose.yaml"]}, Settings(), Workspace({"compose.yaml": text}))
    outcome = fix.fix(run)
    assert outcome.texts == {}
    (left,) = outcome.unproved
    assert left.rule == "SHM102" and left.advice.endswith(": the finding would remain")


SAID: dict[str, Any] = {
    "name": "b", "names": ("b",), "image": a_value("b"), "base_images": (a_value("b"),), "command": a_value(("b",)),
    "entrypoint": a_value(("b",)), "gpu": GpuRequest(True), "mounts": (Mount("bind", "/b", None, START),),
    "ipc": a_value("host"), "shm": a_value(Size(1)), "donor": PLAIN, "build_shm": a_value(Size(1)),
    "memory_limit": a_value(1), "memory_request": a_value(1), "environment": {"b": a_value("b")}, "env_files": True,
    "ulimits": {"b": a_value("b")}, "cap_add": ("b",), "privileged": True, "devices": (a_value("b"),),
    "network": a_value("host"), "swarm": "b", "undecided": Unknown("file", "b"), "workdir": a_value("/b"),
    "interactive": True, "engine": "podman", "built_from": "b", "volumes_from": (a_value("b"),),
    "other_options": (("--label", "b"),),
}  # fmt: skip
"""Another value of each field that says something about the container."""
ELSEWHERE = {
    "kind", "span", "home", "words", "rewriter", "files", "build", "binds", "texts", "spare_volume", "misplaced",
    "combination", "section", "remedies", "also_at",
}  # fmt: skip
"""Fields about the text, and those that other fields follow from."""


def test_every_field_of_a_launch_is_compared() -> None:
    assert SAID.keys() | ELSEWHERE == set(Launch._fields)
    joins = PLAIN._replace(ipc=a_value("container:b"))
    same = [
        name for name, value in SAID.items()
        for launch in [joins if name == "donor" else PLAIN]
        if parts(launch._replace(**{name: value}), 1) == parts(launch, 1)
    ]  # fmt: skip
    assert same == []


@table("option", ['--label w="$X"', '-p "$X"', '-v "$X:/x"', '-e W="$X"', '--name "$X"', '--add-host="$X"'])
def test_a_text_that_is_the_value_of_another_option_elsewhere_stays(option: str) -> None:
    """The quotation marks around the devices would become a part of it."""
    launches = [f"docker run $X {TRAIN}", f"docker run {option} img"]
    text = "\n".join(['X="--gpus device=0,1"', *launches, ""])
    assert changed("run.sh", text) == [(launches[0], launches[0].replace("docker run", "docker run --shm-size=8g"))]


ARRAY = 'C=(--rm --gpus all)\n{engine} run "${{C[@]}}" ' + TRAIN + '\n{engine} run {own} "${{C[@]}}" ' + TRAIN + "\n"
SHARED = {
    "an option before the array": ARRAY.format(engine="docker", own="--shm-size=64g"),
    "podman with the host's namespace": ARRAY.format(engine="podman", own="--ipc=host"),
    "a command that needs none": ARRAY.format(engine="docker", own="--entrypoint nvidia-smi"),
}


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_array_is_left_to_the_others(name: str) -> None:
    text = SHARED[name]
    line = text.splitlines()[1]
    assert changed("run.sh", text) == [(line, line.replace(" run ", " run --shm-size=8g "))]


VARIABLE = "SHM=64m\ndocker run --gpus all {} " + TRAIN + "\n{}\n"
REDIS = "docker run --memory 128m --shm-size=$SHM redis"
USES = [
    ("--shm-size=$SHM", "--shm-size=8g", REDIS),
    ('--shm-size="${SHM}"', "--shm-size=8g", REDIS),
    ('--shm-size "$SHM"', "--shm-size 8g", REDIS),
    ("--shm-size=$SHM", "--shm-size=8g", "mount -t tmpfs -o size=$SHM tmpfs /mnt"),
]


def test_a_shared_variable_is_left_to_the_others() -> None:
    for use, alone, other in USES:
        text = VARIABLE.format(use, other)
        line = text.splitlines()[1]
        assert changed("run.sh", text) == [(line, line.replace(use, alone))], (use, other)
        in_page = f"```bash\n{text}```\n"
        if other is REDIS:
            assert changed("README.md", in_page) == [(line, line.replace(use, alone))], use
    mine = VARIABLE.format("--shm-size=$SHM", "echo $SHM")
    assert changed("run.sh", mine) == [("SHM=64m", "SHM=8g")], "nothing else uses it"


def test_options_in_a_shared_variable_are_overridden_for_one_command() -> None:
    text = f'O="--rm --shm-size=64m"\ndocker run --gpus all $O {TRAIN}\ndocker run $O redis\n'
    line = text.splitlines()[1]
    assert changed("run.sh", text) == [(line, line.replace("$O", "$O --shm-size=8g"))]


def test_a_definition_that_calls_share_is_left_to_the_others() -> None:
    text = f"R = docker run --gpus all $(1)\na:\n\t$(call R,-it {TRAIN})\nb:\n\t$(call R,--rm redis)\n"
    line = text.splitlines()[2]
    assert changed("Makefile", text) == [(line, line.replace("-it", "--shm-size=8g -it"))]
    line = text.splitlines()[0]
    alone = text.partition("b:")[0]
    assert changed("Makefile", alone) == [(line, line.replace(" run", " run --shm-size=8g"))]


def test_a_shared_make_variable_is_left_to_the_others() -> None:
    text = f"SHM = 64m\na:\n\tdocker run --gpus all --shm-size=$(SHM) {TRAIN}\nb:\n\tdocker run --shm-size=$(SHM) x\n"
    line = text.splitlines()[2]
    assert changed("Makefile", text) == [(line, line.replace("$(SHM)", "8g"))]


SERVICE = "    image: nvcr.io/nvidia/pytorch:24.01-py3\n    command: torchrun --nproc_per_node=8 t.py\n    gpus: all\n"


def test_a_shared_block_of_compose_is_left_to_the_others() -> None:
    text = "x-c: &c\n  shm_size: 64m\nservices:\n  a:\n    <<: *c\n" + SERVICE + "  r:\n    <<: *c\n    image: redis\n"
    new = fix.fix(read({"compose.yaml": text})).texts["compose.yaml"]
    assert new == text.replace("gpus: all\n", "gpus: all\n    shm_size: 8gb\n")


def test_what_cannot_be_changed_for_one_alone_is_left_and_says_why() -> None:
    anchor = "services:\n  a:\n" + SERVICE + "    shm_size: &s 64m\n  r:\n    image: redis\n    shm_size: *s\n"
    outcome = fix.fix(read({"compose.yaml": anchor}))
    assert outcome.texts == {}
    (left,) = fix.remaining(outcome)
    assert left.fix is None and "service `r` in compose.yaml:7 would also change" in left.advice
    from_file = {"compose.yaml": anchor.replace("&s 64m", "${SHM}").replace("*s", "${SHM}"), ".env": "SHM=64m\n"}
    assert fix.fix(read(from_file)).texts == {}


def test_those_that_ask_for_the_same_share_a_change() -> None:
    text = f'C=(--rm --gpus all)\ndocker run "${{C[@]}}" {TRAIN}\ndocker run "${{C[@]}}" {TRAIN} --more\n'
    assert changed("run.sh", text) == [("C=(--rm --gpus all)", "C=(--rm --gpus all --shm-size=8g)")]
    outcome = fix.fix(read({"run.sh": text}))
    assert [done.rule for done in outcome.fixed] == ["SHM101", "SHM101"]


def test_a_joiner_follows_its_donor() -> None:
    text = "services:\n  a:\n" + SERVICE + "    ipc: shareable\n  b:\n" + SERVICE + "    ipc: service:a\n"
    outcome = fix.fix(read({"compose.yaml": text}))
    assert [launch.effective_shm().bytes for launch in outcome.run.launches] == [8 << 30, 8 << 30]


def test_places_follow_the_edits() -> None:
    text = f"docker run redis\ndocker run --gpus all {TRAIN}\ndocker run redis\n"
    run = read({"run.sh": text})
    second = text.index("docker", 1)
    shift = Shift([Edit("run.sh", second + 6, second + 10, ""), Edit("run.sh", 0, 0, "# note\n")])
    starts = [place.start for place in places(run.launches, {"run.sh": shift}).values()]
    assert starts == [7, second + 7, text.rindex("docker") + 3]
    assert [shift(second + 6 + i) - second for i in range(6)] == [13, 13, 13, 13, 13, 14], "an edit's text is its start"


def test_what_was_changed_is_data() -> None:
    text = "services:\n  a:\n" + SERVICE
    (done,) = fix.fix(read({"compose.yaml": text})).fixed
    assert (done.rule, done.path, done.title) == ("SHM101", "compose.yaml", "add `shm_size: 8gb` after line 5")
    assert (done.line, done.before, done.after) == (6, "", "    shm_size: 8gb\n")
    text = f"docker run --gpus all {TRAIN}\n"
    (done,) = fix.fix(read({"run.sh": text})).fixed
    assert (done.line, done.before) == (1, text)
    assert done.after == text.replace("all", "all --shm-size=8g")


USED = "SHM=64m\n{}\ndocker run --gpus all --shm-size=$SHM " + TRAIN + "\n"
SEEN_ELSEWHERE = [
    "docker run --shm-size=${SHM/64/32} redis",
    "docker run --shm-size=${SHM%m}m redis",
    "[[ $SHM == 64m ]] && tool",
    'case "$SHM" in 64m) tool;; esac',
    "cat > kept <<EOF\n$SHM\nEOF",
    "tool <<< $SHM",
    "echo $SHM > kept",
    "echo $SHM | tool",
    "X=$(echo $SHM)",
    "N=size-$SHM\ntool $N",
    "for s in $SHM 64g; do tool $s; done",
    "read -r s <<< $SHM\ntool $s",
    'set -- --shm-size=$SHM\ndocker run "$@" redis',
    "f() { docker run --shm-size=$1 redis; }\nf $SHM",
    "export SHM\n./start.sh",
    "export SHM\ndocker run -e SHM redis",
    "export SHM\ntool docker run redis",
    "export SHM\ndocker run --env=SHM redis",
    "export SHM\ndocker compose up",
    "export SHM\ndocker-compose -f x.yaml up",
    "R=SHM\ndocker run --shm-size=${!R} redis",
    "(( ${SHM%m} > 32 )) && tool",
    "tool > $SHM.log",
    'bash -c "docker run --shm-size=${SHM/64/32} redis"',
    "cat <<EOF | bash\ndocker run --shm-size=${SHM/64/32} redis\nEOF",
    # of a launch that is not read nobody knows what it becomes
    "retry 3 docker run --memory=128m --shm-size=$SHM redis",
    'CMD="docker run --shm-size=$SHM redis"\nsrun bash -c "$CMD"',
    'log_and_run "docker run --shm-size=$SHM redis"',
    "E=$(command -v docker)\n$E run --shm-size=$SHM redis",
    "docker build --shm-size=$SHM .",
    "docker compose run --shm-size=$SHM x",
]
PRINTED = [
    "echo $SHM",
    "f() { echo $1; }\nf $SHM",
    "N=$SHM",
    "export SHM",
    "export SHM\ndocker pull redis",
    "export SHM\nsudo docker run redis",
    "export SHM\ndocker run -e SHM=1 redis",
    "docker compose up",
    "docker run --gpus all --shm-size=$SHM " + TRAIN,
]


def test_what_uses_a_variable_in_another_way_keeps_it() -> None:
    alone = (f"docker run --gpus all --shm-size=$SHM {TRAIN}", f"docker run --gpus all --shm-size=8g {TRAIN}")
    for path, frame in (("run.sh", "{}"), ("README.md", "```sh\n{}```\n")):
        for use in SEEN_ELSEWHERE:
            assert changed(path, frame.format(USED.format(use))) == [alone], (path, use)
        for use in PRINTED:
            assert changed(path, frame.format(USED.format(use))) == [("SHM=64m", "SHM=8g")], (path, use)
    step = "jobs:\n  a:\n    steps:\n      - run: |\n          SHM=64m\n          {}\n          {}\n"
    text = step.format("tool <<< $SHM", alone[0])
    assert changed("ci.yml", text) == [tuple(f"          {line}" for line in alone)]
    assert changed("ci.yml", step.format("echo $SHM", alone[0])) == [("          SHM=64m", "          SHM=8g")]


@table(
    ("shared", "first", "other", "after"),
    [
        ("(--rm --gpus all --shm-size=8g)", 'docker run "${O[@]}" --ipc=host', 'retry 3 docker run "${O[@]}"', ""),
        ("(--rm --device nvidia.com/gpu=all)", 'podman run "${O[@]}"', '$ENGINE run "${O[@]}" --ipc=host',
         'podman run --shm-size=8g "${O[@]}"'),
        ("(--gpus all)", 'docker run "${O[@]}"', 'retry 3 docker run "${O[@]}"', 'docker run --shm-size=8g "${O[@]}"'),
        ("(--gpus all --shm-size=64m)", 'docker run "${O[@]}"', 'retry 3 docker run "${O[@]}"',
         'docker run "${O[@]}" --shm-size=8g'),
        ("(--gpus all)", 'docker run "${O[@]}"', 'CMD=(docker run "${O[@]}")\nretry 3 "${CMD[@]}"',
         'docker run --shm-size=8g "${O[@]}"'),
    ],
)  # fmt: skip
def test_an_array_that_a_launch_uses_which_is_not_read_stays(shared: str, first: str, other: str, after: str) -> None:
    text = f"ENGINE=$(command -v podman)\nO={shared}\n{first} {TRAIN}\n{other} --memory=128m redis\n"
    assert changed("run.sh", text) == ([(f"{first} {TRAIN}", f"{after} {TRAIN}")] if after else [])


def test_arguments_that_are_a_command_and_are_used_by_other_programs_stay() -> None:
    for command in (f"docker run --gpus all {TRAIN}", f"docker run --gpus all --shm-size=64m {TRAIN}"):
        for use in ('tool "$5"', 'shift 4\ntool "$1"', 'tool <<< "$*"'):
            text = f'set -- {command}\n"$@"\n{use}\n'
            assert changed("run.sh", text) == [], text


@table(
    ("lines", "variable"),
    [
        ("set -a\nSHM=64m\nset +a\n./start.sh", False),
        ("set -ea\nSHM=64m\n./start.sh", False),
        ("set -o allexport\nSHM=64m\nset +o allexport\n./start.sh", False),
        ("set -a\n[ -z $X ] && set +a\nSHM=64m\n./start.sh", False),
        ("SHM=64m\nset -a\nX=1\nset +a\n./start.sh", True),
        ("if true; then\n  set -a\n  . ./x.env\n  set +a\nfi\nSHM=64m\n./start.sh", True),
        ("load() { set -a; . ./x.env; set +a; }\nload\nSHM=64m\n./start.sh", True),
        ("set -a\n. ./x.env\nset +a\nSHM=64m\n./start.sh", True),
        ("set -euo pipefail\nSHM=64m\n./start.sh", True),
    ],
)
def test_what_is_exported_where_it_is_set_is_seen_by_programs(lines: str, variable: bool) -> None:
    start = f"docker run --gpus all --shm-size=$SHM {TRAIN}"
    expected = ("SHM=64m", "SHM=8g") if variable else (start, start.replace("$SHM", "8g"))
    assert changed("run.sh", f"{lines}\n{start}\n") == [expected]


def test_a_default_stays_one() -> None:
    """Who gives another size gets it as before, and who gives other options gets the size too."""
    for given in ("${GPUS:---gpus all}", "${1---gpus all}"):
        text = f"docker run {given} {TRAIN}"
        assert changed("run.sh", f"{text}\n") == [(text, text.replace("run ", "run --shm-size=8g ", 1))]
    start = f"docker run --gpus all --shm-size=$SHM {TRAIN}\n"
    for value in ("${SHM:-64m}", "${1:-64m}", "${SIZE-64m}"):
        text = f"SHM={value}\n{start}"
        assert changed("run.sh", text) == [(f"SHM={value}", f"SHM={value.replace('64m', '8g')}")]
        assert changed("run.sh", f"{text}tool $SHM\n") == [], value
    for value in (": ${SHM:=64m}", ': "${SHM:=64m}"', ": ${SHM=64m}"):
        for use in SEEN_ELSEWHERE:
            assert changed("run.sh", f"{value}\n{use}\n{start}") == [], (value, use)
        for use in PRINTED:
            text = f"{value}\n{use}\n{start}"
            assert changed("run.sh", text) == [(value, value.replace("64m", "8g"))], (value, use)
    function = "f() {\n  local SHM=${1:-64m}\n  " + start + "}\nf\nf 64g\n"
    assert changed("run.sh", function) == [("  local SHM=${1:-64m}", "  local SHM=${1:-8g}")]
    made = f"SHM ?= 64m\na:\n\tdocker run --gpus all --shm-size=$(SHM) {TRAIN}\n"
    assert changed("Makefile", made) == [("SHM ?= 64m", "SHM ?= 8g")]
    assert changed("Makefile", f"{made}b:\n\ttool $(SHM)\n") == []


def test_a_function_that_starts_what_it_is_given_is_left() -> None:
    """One command starts several images, of which some need no memory."""
    for start in ('docker run --runtime=nvidia "$1"', 'local i=$1; docker run --gpus all "$i"'):
        for calls in ("launch vllm/vllm-openai\nlaunch redis\n", "launch redis\nlaunch vllm/vllm-openai\n"):
            text = f"launch() {{ {start}; }}\n{calls}"
            assert changed("run.sh", text) == [], text
            assert [f.severity for f in read({"run.sh": text}).findings] == ["warning"], text
    loop = "for i in vllm/vllm-openai redis; do docker run --gpus all $i; done\n"
    assert changed("run.sh", loop) == []


@table(
    ("text", "lines"),
    [
        ('f() { docker run --gpus all "$1"; }\nf IMG\nf IMG2\n',
         [('f() { docker run --gpus all "$1"; }', 'f() { docker run --gpus all --shm-size=8g "$1"; }')]),
        ('f() { docker run --rm "$@"; }\nf --gpus all IMG\nf --gpus all redis\n',
         [("f --gpus all IMG", "f --gpus all --shm-size=8g IMG")]),
        ('f() { docker run --gpus all "$@"; }\nf IMG\nf redis\n', [("f IMG", "f --shm-size=8g IMG")]),
        ('f() { docker pull $1; docker run --gpus all "$@"; }\nf IMG\nf redis\n', []),
        ('f() { docker run --gpus all --shm-size="$1" IMG; }\nf 64m\nf 16g\n', [("f 64m", "f 8g")]),
        ('f() { docker run --gpus all --shm-size="${1:-64m}" "${2:-IMG}"; }\nf 64m redis\n', []),
        ('f() { docker run --gpus all "${1:-IMG}"; }\nf\nf redis\n', []),
    ],
)  # fmt: skip
def test_what_a_call_gives_is_changed_there(text: str, lines: list[tuple[str, str]]) -> None:
    names = ("IMG2", "nvcr.io/nvidia/pytorch:24.10-py3"), ("IMG", "nvcr.io/nvidia/pytorch:24.01-py3")
    for name, image in names:
        text = text.replace(name, image)
        lines = [(old.replace(name, image), new.replace(name, image)) for old, new in lines]
    assert changed("run.sh", text) == lines


def test_a_text_of_ci_that_is_used_twice_is_changed_for_both_or_not_at_all() -> None:
    text = (
        "jobs:\n  a:\n    container:\n      image: nvcr.io/nvidia/pytorch:24.01-py3\n      options: &o --gpus all\n"
        "    steps:\n      - uses: x\n        with: {args: *o}\n"
    )
    assert changed("ci.yml", text) == []
    assert changed("ci.yml", text.replace("args: *o", "args: all")) != []


MADE = (
    "SHM = 64m\nRUN = docker run --shm-size=$(SHM)\na:\n\tdocker run --gpus all --shm-size=$(SHM) " + TRAIN + "\n{}\n"
)


def test_what_a_makefile_makes_of_a_variable_keeps_it() -> None:
    line = MADE.splitlines()[3]
    for use in (
        "ifeq ($(SHM),64m)\nb:\n\ttool\nendif", "b: size-$(SHM)\n\ttool", "b:\n\ttool $(SHM:m=g)", "export SHM",
        "b:\n\t$(RUN) $(IMG)\nRUN += $(subst m,g,$(SHM))", "b:\n\t$(if $(filter 64m,$(SHM)),tool)", "export",
        "b:\n\t$(call start,$(SHM))", "b:\n\ttool '$(SHM)'",
    ):  # fmt: skip
        assert changed("Makefile", MADE.format(use)) == [(line, line.replace("$(SHM)", "8g"))], use
    for use in ("b:\n\techo $(SHM)", "$(info $(SHM))", "b:\n\tdocker run --gpus all --shm-size=${SHM} " + TRAIN):
        assert changed("Makefile", MADE.format(use)) == [("SHM = 64m", "SHM = 8g")], use
    every = ".EXPORT_ALL_VARIABLES:\n" + MADE.format("b:\n\ttool")
    assert changed("Makefile", every) == [(line, line.replace("$(SHM)", "8g"))]
    just = "s := '64m'\na:\n  docker run --gpus all --shm-size={{s}} " + TRAIN + "\n"
    own = just.splitlines()[2]
    for use in ("b: (a s)\n", "b:\n  tool {{ if s == '64m' { 'x' } else { 'y' } }}\n", "t := s + 'x'\n"):
        assert changed("justfile", just + use) == [(own, own.replace("{{s}}", "8g"))], use
    assert changed("justfile", just) == [("s := '64m'", "s := '8g'")]
    assert changed("justfile", f"set export\n{just}") == [(own, own.replace("{{s}}", "8g"))]


LINES = "docker run --gpus all \\\n  -p 80:80 \\\n  --name box \\\n  -v $PWD:/x \\\n  IMG\n"
STEPS = "jobs:\n  a:\n    steps:\n      - run: |\n"
BOX = '{"image": "IMG", "runArgs": ["--gpus", "all", "-p=80"], "remoteUser": "dev", "containerEnv": {"A": "b"}}\n'
TRAPS: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("run.sh", LINES, [
        ("80:80 \\", "80:80 "), ("80:80 \\", "80:80 \\ "), ("80:80 \\", "80:80 \\ # web"), ("  --name", "  # --name"),
        ("  -p 80:80 \\\n", ""), ("-p 80:80", "-p 81:80"), ("$PWD:/x", "$PWD:/y"), ("--name box", "--rm"),
    ]),
    ("README.md", f"```sh\n{LINES}```\n", [("80:80 \\", "80:80 "), ("-p 80:80", "-p 81:80")]),
    ("ci.yml", STEPS + "".join(f"          {line}\n" for line in LINES.splitlines()), [
        ("80:80 \\", "80:80 "), ("-p 80:80", "-p 81:80"),
    ]),
    ("Makefile", "all:\n" + "".join(f"\t{line}\n" for line in LINES.splitlines()), [
        ("80:80 \\", "80:80 "), ("-p 80:80", "-p 81:80"), ("all:\n", "every:\n"), ("all:\n", "all: more\n"),
    ]),
    (".devcontainer.json", BOX, [
        ('"all"', '"--shm-size=8g", "all"'), ('"-p=80"', '"-p=81"'), (', "-p=80"', ""),
        ('"dev"', '"root"'), ('"remoteUser"', '"user"'), ('"b"', '"c"'),
    ]),
]  # fmt: skip
"""What an edit must not change besides the size: harm that no launch shows, or that its reader mends."""


def test_an_edit_that_harms_more_than_a_launch_shows_is_refused() -> None:
    kinds = {**KINDS, ".devcontainer.json": "devcontainer"}
    for path, text, harms in TRAPS:
        text = text.replace("IMG", "nvcr.io/nvidia/pytorch:24.01-py3")
        run = lint({kinds[path]: [path]}, Settings(shm_size=8 << 30), Workspace({path: text}))
        (repair,) = (o.repair for o in offers(run, unsafe=False) if o.repair.finding.rule == "SHM101")
        honest = repair.change.edits
        for old, new in (("", ""), *harms):
            at = text.index(old) if old else 0
            edits = (*honest, *((Edit(path, at, at + len(old), new),) if old else ()))
            proof = prove(run, [repair._replace(change=repair.change._replace(edits=edits))], {})
            assert isinstance(proof, Proof) == (not old), (path, old, new, proof)
