"""A command line, read into a launch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shmlint.docker.run_options import Binary, flags
from tests.formats.shell.commands import DEFAULT, GIB, MIB, NEEDY, known, one, read
from tests.project import run
from tests.table import table


@table(
    ("options", "decided_by", "size"),
    [
        # Measured on an engine, Docker 20.10 (tests/formats/shell/test_engine.py measures some again).
        ("", "default", DEFAULT),
        ("--shm-size=0", "default", DEFAULT),
        ("--shm-size=8g", "shm_size", 8 * GIB),
        ("--shm-size 1.5g", "shm_size", 3 * GIB // 2),
        ("--shm-size=64", "shm_size", 64),
        ("--shm-size=1g --shm-size=2g", "shm_size", 2 * GIB),
        ("--ipc=private --shm-size=1g", "shm_size", GIB),
        ("--ipc=shareable --shm-size=1g", "shm_size", GIB),
        ("--ipc=shareable", "default", DEFAULT),
        ("--ipc=host", "host", None),
        ("--ipc host --shm-size=8g", "host", None),
        ("--ipc=none --shm-size=8g", "none", 0),
        ("--ipc=container:other --shm-size=1g", "donor", None),
        ("--ipc=container:$OTHER --shm-size=1g", "donor", None),
        ("--ipc=$IPC --shm-size=1g", "unknown", None),
        ("--ipc=host --ipc=private", "default", DEFAULT),
        ("--ipc=", "default", DEFAULT),
        ("--tmpfs /dev/shm", "tmpfs", None),
        ("--tmpfs /dev/shm:size=2g --shm-size=1g", "tmpfs", 2 * GIB),
        ("--tmpfs /dev/shm/:rw,size=64m,mode=1777", "tmpfs", 64 * MIB),
        ("--tmpfs /dev/shm:size=50%", "tmpfs", None),
        ("--tmpfs /dev/shm:size=8gb", "tmpfs", None),
        ("--tmpfs=/dev/shm:size=$S", "tmpfs", None),
        ("--mount type=tmpfs,dst=/dev/shm,tmpfs-size=3g --shm-size=1g", "tmpfs", 3 * GIB),
        ("--mount type=tmpfs,target=/dev/shm,tmpfs-size=1.5gb", "tmpfs", 3 * GIB // 2),
        ("--mount type=tmpfs,dst=/dev/shm", "tmpfs", None),
        ("--mount type=bind,src=/dev/shm,dst=/dev/shm", "bind", None),
        ("-v /dev/shm:/dev/shm --shm-size=1g", "bind", None),
        ("-v /dev:/dev", "bind", None),
        ("-v /tmp:/dev/shm", "bind", None),
        ("-v /dev/shm", "volume", None),
        ("-v cache:/dev/shm", "volume", None),
        ("-v $DIR:/dev/shm", "volume", None),
        ("--ipc=host --tmpfs /dev/shm:size=1g", "tmpfs", GIB),
        ("-v /dev:/dev --tmpfs /dev/shm:size=1g", "tmpfs", GIB),
        ("-v /dev/shm/x:/y -v /dev/dri:/dev/dri", "default", DEFAULT),
        ("--memory 128m --shm-size=1g", "shm_size", GIB),
        ("--shm-size=$SHM", "unknown", None),
        ("$ARGS", "unknown", None),
        ("--newest", "unknown", None),
    ],
)
def test_what_dev_shm_becomes(options: str, decided_by: str, size: int | None) -> None:
    effective = one(f"docker run {options} img").effective_shm()
    assert (effective.decided_by, effective.bytes) == (decided_by, size)


RUNS = "docker run --gpus all img"


@table(
    ("text", "engines"),
    [
        (f'run() {{ echo "+ $*"; "$@"; }}\nrun {RUNS}\n', ["docker"]),
        (f'as_root() {{ sudo -E "$@"; }}\nmain() {{ as_root {RUNS}; }}\nmain\n', ["docker"]),
        (f'retry() {{ for i in 1 2; do "$@" && return; done; }}\nretry {RUNS}\n', ["docker"]),
        (f'docker() {{ command docker "$@"; }}\n{RUNS}\n', ["docker"]),
        (f'docker() {{ podman "$@"; }}\n{RUNS}\n', ["podman"]),
        (f'{RUNS}\ndocker() {{ podman "$@"; }}\n', ["docker"]),
        (f'docker() {{ echo "would run docker $*"; }}\n{RUNS}\n', []),
        (f'docker() {{ true; }}\n{RUNS}\n', []),
        (f'explain() {{ echo "$@"; }}\nexplain {RUNS}\n', []),
        (f". lib.sh\ntry_hard {RUNS}\n", ["docker"]),
        # A function of the name of a file tool, which runs what it is given, or its own.
        ('D=docker\nls() { "$@"; }\nls $D run --gpus all img\n', ["docker"]),
        (f'cp() {{ {RUNS} "$1"; }}\ncp "$X"\n', ["docker"]),
        # A command of the engine that starts nothing holds one that does, or is followed by one.
        (f"docker rm -f $({RUNS})\ndocker ps -q; {RUNS}\n", ["docker", "docker"]),
        (f'mkdir -p "$HOME/x" && sudo docker pull "$I" && {RUNS}\n', ["docker"]),
        # What a function keeps of its arguments is not run.
        (f'retry() {{ local n=$1; shift; until "$@"; do sleep $n; done; }}\nretry 3 {RUNS}\n', ["docker"]),
        (f'on() {{ local host=$1 port=$2; shift 2; ssh "$host" "$@"; }}\non me@x 22 {RUNS}\n', ["docker"]),
        (f'later() {{ sleep "$1"; "${{@:2}}"; }}\nlater 3 {RUNS}\n', ["docker"]),
        (f'quiet() {{ if [ "$1" = -q ]; then shift; fi; "$@"; }}\nquiet -q {RUNS}\n', ["docker"]),
        (f'run() {{ local cmd=("$@"); "${{cmd[@]}}"; }}\nrun {RUNS}\n', ["docker"]),
        (f'run() {{ local cmd="$*"; eval "$cmd"; }}\nrun {RUNS}\n', ["docker"]),
        # Functions and programs of elsewhere: their names, numbers and options say what they do.
        (f"retry 3 {RUNS}\nwith_timeout 30s {RUNS}\nretry -n 3 -- {RUNS}\n", ["docker"] * 3),
        (f"log_and_run {RUNS}\nechoAndExec 3 {RUNS}\nlog_and_run '{RUNS}'\n", ["docker"] * 3),
        (f"log 3 {RUNS}\ndie 1 {RUNS}\nlog_cmd '{RUNS}'\non host {RUNS}\n./retry.sh 3 {RUNS}\n", []),
        (f"log_it {RUNS}\nskip {RUNS}\nassert_fails {RUNS}\n", []),
        ("usage docker run x\nneeds docker\ninstall docker podman\n", []),
        (f"complete -W '{RUNS}' x\ncomplete -c docker -a {RUNS}\n", []),
        (f"bash <<A <<B\n{RUNS}\nA\npodman run b\nB\n", ["podman"]),
        # One engine or another; what may be anything else starts no container.
        ("if which podman; then it=podman; else it=docker; fi\n$it run --gpus all img\n", ["docker"]),
        ("case $1 in a) it=podman;; *) it=/usr/bin/podman;; esac\n\"${it}\" run --gpus all img\n", ["podman"]),
        ("it=docker; [ $x ] && it=kubectl\n$it run --gpus all img\n", []),
        ("it=$1; [ $x ] && it=docker\n$it run --gpus all img\n", []),
        ("it=docker; [ $x ] && it+=-compose\n$it run --gpus all img\n", []),
        ("it=docker; [ $x ] && it='sudo -E docker'\n$it run --gpus all img\n", ["docker"]),
        ("if x; then it='docker run'; else it='sudo docker run'; fi\n$it --gpus all img\n", ["docker"]),
        ("case $1 in a) it='podman run';; *) it='sudo podman run';; esac\n$it --gpus all img\n", ["podman"]),
        ("it='podman run'; [ $x ] && it='podman create'\n$it --gpus all img\n", []),
        ("it='docker run'; [ $x ] && it=echo\n$it --gpus all img\n", []),
        ("it=$(which docker)\n$it run --gpus all img\n", ["docker"]),
        ("it=$(command -v podman 2>/dev/null || type -p docker || true)\n\"$it\" run img\n", ["docker"]),
        ("it=${it:-$(command -v podman || echo podman)}\n$it run img\n", ["podman"]),
        ("it=$(command -v kubectl || command -v docker)\n$it run img\n", []),
        # One that a caller names, in a variable that is called after an engine; and one for each call.
        ("DOCKER=$1\n$DOCKER run img\n", ["docker"]), ("run=$1\n$run run img\n", []),
        ("f() { local d=\"$1\"; $d run --gpus all img; }\nf docker; f 'sudo podman'\n", ["docker", "podman"]),
        # A test that its line does not end is a command that fails, as in the output of a program.
        (f"[ nan 0. 0.2\n  0.4 0. ]\n{RUNS}\n", ["docker"]),
        (f"[ -d a\n{RUNS}\nif [ -d b ]; then {RUNS}; fi\n", ["docker"] * 2),
        (f"[ a \\\n = b ] && {RUNS}\n", ["docker"]), (f"A=(\n[ a\n{RUNS}\n)\n[ a ] && {RUNS}\n", ["docker"]),
        (f"bash <<-'A' - <<B\n\t{RUNS}\n\tA\nB\n{RUNS}\n", ["docker"]),
        (f"cat <<A; bash <<B\n{RUNS}\nA\npodman run b\nB\n", ["podman"]),
        # Each of several commands in a line reads its own.
        (f"bash <<A; bash <<B\n{RUNS}\nA\npodman run b\nB\nnerdctl run c\n", ["docker", "podman", "nerdctl"]),
        (f"bash <<A && bash 2>&1 <<'B'\n{RUNS}\nA\npodman run b\nB\n", ["docker", "podman"]),
        (f"ssh a <<A || cat <<-B | bash; x\n{RUNS}\nA\n\tpodman run b\n\tB\n", ["docker", "podman"]),
        (f"cat <<A | bash; bash <<B & bash <<C\n{RUNS}\nA\npodman run b\nB\n{RUNS}\nC\n",
         ["docker", "podman", "docker"]),
        (f"bash <<A | wc <<B\n{RUNS}\nA\npodman run b\nB\n", ["docker"]),
        (f"echo $((1<<A)) <<< x << B\n{RUNS}\nB\n{RUNS}\n", ["docker"]),
    ],
)
def test_which_commands_run(text: str, engines: list[str]) -> None:
    assert [launch.engine for launch in read(text)] == engines


@table(
    ("options", "decided_by"),
    [
        ("--gpus all", "default"), ("--shm-size 1g", "shm_size"), ("--ipc=host", "host"),
        # Without a limit for Podman; and it shares the namespace of a pod.
        ("--shm-size 0", "unknown"), ("--pod x", "unknown"),
    ],
)  # fmt: skip
def test_what_engines_do_not_read_alike_is_not_known(options: str, decided_by: str) -> None:
    for it in ("it=podman; x && it=docker", "it=$(command -v docker || command -v podman)"):
        assert one(f"{it}\n$it run {options} img\n").effective_shm().decided_by == decided_by


OF_BRANCHES = "if x; then R='{}'; else R='{}'; fi\n$R --name x img\n"


@table(
    ("one_branch", "other_branch", "requested", "in_branches", "size"),
    [
        ("docker run --rm --gpus all", "sudo docker run --rm --gpus all", True, False, DEFAULT),
        ("docker run --gpus all --rm", "docker run --rm", True, True, DEFAULT),
        ("docker run --rm --gpus all", "docker run --rm", True, True, DEFAULT),
        ("docker run --gpus all --shm-size 1g", "docker run --gpus all --shm-size 2g", True, False, None),
        ("docker run --gpus all --shm-size 1g", "sudo docker run --gpus all --shm-size 1g", True, False, GIB),
    ],
)
def test_a_container_start_of_each_branch(
    one_branch: str, other_branch: str, requested: bool, in_branches: bool, size: int | None
) -> None:
    launch = one(OF_BRANCHES.format(one_branch, other_branch))
    assert (launch.gpu.requested, launch.gpu.in_branches) == (requested, in_branches)
    assert launch.name == "x" and launch.image is not None and launch.image.text == "img"
    assert launch.effective_shm().bytes == size


@table(
    ("added", "requested", "size"),
    [("--gpus all", True, DEFAULT), ("--gpus all --shm-size 8g", None, None), ("--rm -it", False, DEFAULT)],
)
def test_options_that_a_branch_adds_to_a_container_start(added: str, requested: bool | None, size: int | None) -> None:
    launch = one(f"R='docker run --rm'\nx && R=\"$R {added}\"\n$R img python x.py\n")
    assert launch.image is not None and launch.image.text == "img"
    assert (launch.gpu.requested, launch.effective_shm().bytes) == (requested, size)


@table("text", ["if hash nvidia-docker; then it=nvidia-docker; else it=docker; fi", "it=docker; x && it=nvidia-docker"])
def test_an_engine_that_is_given_gpus_where_there_is_one(text: str) -> None:
    assert one(f"{text}\nNV_GPU=0,1 $it run img").gpu.number == 2


def test_nerdctl() -> None:
    launch = one("nerdctl run --gpus '\"device=0,1\"' --cgroup-conf a=b --umask 022 --rootfs img")
    assert (launch.gpu.number, known(launch.image), launch.engine) == (2, "img", "nerdctl")
    assert launch.words.launch == "`nerdctl run` of img"
    assert one("nerdctl run img").effective_shm().bytes == DEFAULT
    assert one("nerdctl run --shm-size=1g --ipc=host img").effective_shm().decided_by == "host"
    for options in ("--shm-size=0", "--ipc=shareable"):  # handed to the kernel: no limit, half of the memory
        assert one(f"nerdctl run {options} img").effective_shm().decided_by == "unknown"
    assert one("nerdctl run --ipc=shareable --shm-size=1g img").effective_shm().bytes == GIB
    assert one("docker run --ipc=shareable img").effective_shm().bytes == DEFAULT


@table(
    ("command", "image", "after"),
    [
        ("docker run img", "img", None),
        ("docker run -it --rm -v a:b img:1 sh -c 'x y'", "img:1", ("sh", "-c", "x y")),
        ("docker run --rm $IMAGE python x", "$IMAGE", ("python", "x")),
        ("I=nvcr.io/x:1; docker run $I", "nvcr.io/x:1", None),
        ("docker run --entrypoint sh img -c --shm-size=1g", "img", ("-c", "--shm-size=1g")),
        ("docker run -- img --rm", "img", ("--rm",)),
        ("args=(docker run --rm); args+=(img x); \"${args[@]}\"", "img", ("x",)),
        ("x=(-t); [ -t 1 ] && x+=(-i); docker run \"${x[@]}\" img a", "img", ("a",)),
        ("x=; if y; then x='--name z'; fi; docker run $x img a", "img", ("a",)),
        ("printf -v x '%s' '--name z'; docker run $x img a", "img", ("a",)),
        ("printf -v x %s img; docker run $x a", "img", ("a",)),
        ("image=$1; docker run --rm ${image} train", "$1", ("train",)),
        ('IMG="${2}"\ndocker run --rm $IMG train\n', "${2}", ("train",)),
    ],
)
def test_image_and_command(command: str, image: str, after: tuple[str, ...] | None) -> None:
    launch = one(command)
    assert launch.image is not None
    assert launch.image.text == image
    assert known(launch.command) == after
    assert not launch.undecided


def test_options_that_may_have_been_given_are_not_taken_for_the_image() -> None:
    for use in ("$A", '"${A[@]}"'):
        value = "--shm-size 8g" if use == "$A" else "(--shm-size 8g)"
        value = f"'{value}'" if use == "$A" else value
        launch = one(f"if x; then A={value}; fi\ndocker run --gpus all {use} img python x\n")
        assert launch.undecided
        assert known(launch.image) == "img"


@table(
    "text",
    [
        "T='--rm -it'\n. ./local.sh\ndocker run $T ubuntu ls",
        "T='--rm -it'\n. ./local.sh\ndocker run ${T/-it/-i} ubuntu ls",
        "T=--rm\n[ -t 1 ] && T=$(words)\ndocker run $T ubuntu ls",
        "T='--rm -it'\n. ./local.sh\ndocker run ${V:-$T} ubuntu ls",
    ],
)
def test_a_variable_that_the_text_sets_to_options_is_not_the_image(text: str) -> None:
    launch = one(text)
    assert launch.undecided
    assert (known(launch.image), known(launch.command)) == ("ubuntu", ("ls",))


@table(
    ("text", "images"),
    [
        ('f() { docker run "$@"; }\nf a\nf() { docker run -i "$@"; }\nf b', ["a", "b"]),
        ("f() { I=a; }\nf() { I=b; }\nf\ndocker run $I", ["b"]),
        ('if x; then f() { docker run "$@"; }; else f() { docker run -i "$@"; }; fi\nf a', ["a", "a"]),
        ('f() { docker run "$@"; }\nx && f() { docker run -i "$@"; }\nf a', ["a", "a"]),
        ('f() { docker run "$@"; }\ng() { f a; }\nf() { docker run -i "$@"; }\ng', ["a", "a"]),
    ],
)
def test_of_two_functions_of_one_name_a_call_reaches_the_last_before_it(text: str, images: list[str]) -> None:
    assert [known(launch.image) for launch in read(text)] == images


@table(
    ("text", "images"),
    [
        ("true | docker run a | cat\ndocker run b || docker run c", ["a", "b", "c"]),
        ("true | docker run a | cat\r\ndocker run b && docker run c", ["a", "b", "c"]),
        ("eval \"docker run\" a\nX=docker\neval \"$X run\" b\n", ["a", "b"]),
        ("true | docker run a | cat  \n\n# é\ndocker run b x\ncat > y <<EOF\n1\nEOF\n", ["a", "b"]),
        ("true | docker run a | docker run \\\n  -i b\ndocker run c || true", ["a", "b", "c"]),
    ],
)
def test_a_line_behind_a_pipeline_is_a_command_of_its_own(text: str, images: list[str]) -> None:
    assert [known(launch.image) for launch in read(text)] == images


def test_an_image_that_may_be_lengthened_is_the_image() -> None:
    launch = one("N=a/b:1; x && N+=-tail\ndocker run --gpus all $N python x\n")
    assert not launch.undecided
    assert known(launch.command) == ("python", "x")


@pytest.mark.parametrize(
    "use", ["${V:-$T}", "$DOCKER_ARGS", "$OPTS", '"$@"', "${@:2}", "$*", '"${X[@]}"', "$(gpu_args)"]
)
def test_words_in_the_place_of_options_leave_it_undecided(use: str) -> None:
    launch = one(f"docker run --gpus all {use} org/img python x\n")
    assert launch.undecided is not None and "it may hold --shm-size" in launch.undecided.because
    assert launch.effective_shm().decided_by == "unknown"


@table(
    "text",
    [
        'set -- "$@" --rm\ndocker run $1 IMG',
        "O=--rm\n. ./x\ndocker run $(echo $O) IMG",
        'A=(--rm)\n. ./x\ndocker run "${A[0]}" ubuntu ls',
        "O=--rm\n. ./x\nC=\"docker run $O ubuntu\"\n$C",
        "echo --rm | xargs -I@ docker run @ ubuntu",
        "ls | parallel docker run {} ubuntu",
        "x=$1; docker run $x IMG",
        'mapfile -t A <<< "--rm"\ndocker run "${A[0]}" IMG', 'docker run "${A[$i]}" IMG',
        "read -ra A <<< '--gpus all'\ndocker run \"${A[0]}\" \"${A[1]}\" IMG",
        'for x in -d --rm; do docker run "$x" IMG; done',
    ],
)
def test_what_may_hold_options_leaves_it_undecided_whatever_it_is_called(text: str) -> None:
    launch = one(text.replace("IMG", "redis") + "\n")
    assert launch.undecided is not None
    assert launch.gpu.requested is None


@table("option", ["-v {/a,/b}:/c", '-e A={"a":1,"b":2}', "--label {a,b}", "--name x{1..3}"])
def test_what_braces_make_of_a_value_may_be_the_image(option: str) -> None:
    launch = one(f"docker run --gpus all {option} IMG python x\n")
    assert launch.undecided is not None and "braces" in launch.undecided.because
    assert launch.image is None and launch.gpu.requested


def test_what_braces_make_of_an_option_is_more_of_it() -> None:
    launch = one("docker run --gpus all --env={A,B}=1 -v={/a,/b} -e A\\ #B IMG x\n")
    assert launch.undecided is None and launch.image is not None and launch.image.text == "IMG"


@table(
    ("line", "command"),
    [
        ("xargs -I{} docker run --gpus all {} torchrun a.py", ("torchrun", "a.py")),
        ("xargs -I % docker run --gpus all % python a.py", ("python", "a.py")),
        ("xargs -I{} docker run --gpus all {} /bin/run -x", ("/bin/run", "-x")),
        ("parallel docker run --gpus all {} ./a.sh", ("./a.sh",)),
        ("xargs -I{} docker run --gpus all {}", None),
    ],
)
def test_what_is_read_in_front_of_a_program_is_the_image(line: str, command: tuple[str, ...] | None) -> None:
    launch = one(f"cat x | {line}\n")
    assert launch.image is not None and launch.image.because and launch.undecided is None
    assert (launch.command.known if launch.command is not None else None) == command


def test_behind_a_part_of_an_array_that_is_not_known_nothing_is_read() -> None:
    launch = one('A=(--gpus all)\n. ./x\ndocker run "${A[@]:1}" ubuntu ls\n')
    assert launch.undecided is not None
    assert (launch.image, launch.command) == (None, None)


def test_a_function_that_another_defines_again_is_that_one_there() -> None:
    text = 'f() { docker run "$1" a; }\nf --init\ng() { f() { docker run "$1" b; }; f --rm; }\ng\n'
    assert [known(launch.image) for launch in read(text)] == ["a", "b"]


def test_an_assigned_value_that_is_not_known_leaves_it_undecided() -> None:
    assert one("A=$(flags)\ndocker run --gpus all $A org/img\n").undecided


def test_a_size_next_to_unknown_options_counts() -> None:
    launch = one("docker run --gpus all $OPTS --ipc=host img")
    assert launch.ipc is not None
    assert launch.undecided


@table(
    "text",
    [
        "docker run",
        "docker run --rm",
        "docker run --gpus",
        "docker exec -it x docker-run",
        "docker compose run x",
        "docker build --shm-size=1g .",
        "docker start x; docker ps; docker pull img",
        "docker",
        "$DOCKER ps",
        "run img",
    ],
)
def test_starts_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", ["docker run --gpu img all", "docker run --shm_size=1g --gpus all img"])
def test_an_option_that_is_not_known_leaves_it_undecided(text: str) -> None:
    assert one(text).undecided


@pytest.mark.parametrize(
    ("text", "line", "first"),
    [
        ("\n  sudo -E docker run img\n", 2, "docker"),
        ("x=1 nvidia-docker \\\n run img", 1, "nvidia-docker"),
        ("D=podman\n\n$D run img\n", 3, "$D run img"),
        ("A=(docker run)\n\"${A[@]}\" img", 2, "\"${A[@]}\" img"),
        ("ssh h '\ndocker run img'", 2, "docker"),
    ],
)
def test_where_it_starts(text: str, line: int, first: str) -> None:
    launch = one(text)
    assert (launch.span.line, launch.span.text) == (line, first)


@pytest.mark.parametrize(
    ("options", "image"),
    [
        ("$TTY $X11", NEEDY), ('${NAME:+--name "$NAME"}', NEEDY), ("${A%%=*}=8g", NEEDY), ("--shm-\\\nsize=8g", NEEDY),
        ("/dev/kfd", None), (":", None), ("docker", None), ("'a\nb'", None),
        ("'a b'", None), ("${Serving Engine}", None),
        ('"$A"', None), ('"$A" "$B"', None), ('"$A" "$B" "$C"', None), ('"$A" "$IMAGE"', "$IMAGE"),
        ('"$A" "$B" tool', "$A"),
    ],
)  # fmt: skip
def test_only_what_can_be_an_image_is_one(options: str, image: str | None) -> None:
    found = one(f"docker run --gpus all {options} {NEEDY}\n")
    assert (found.image.text if found.image is not None else None) == image


def test_two_words_in_one_are_read_as_they_were_meant() -> None:
    found = one(f'docker run "--gpus all" "--shm-size 8g" {NEEDY}\n')
    assert found.shm is not None and found.shm.text == "8g"
    assert [fault.span.text for fault in found.gpu.invalid] == ['"--gpus all"']
    assert [slip.at for slip in found.misplaced] == ["--shm-size 8g"]


def test_a_word_with_several_options_is_not_joined_to_one() -> None:
    found = one(f'O=("--shm-size 32g -p 80:80")\ndocker run --gpus all "${{O[@]}}" {NEEDY}\n')
    assert [(slip.at, slip.changes) for slip in found.misplaced] == [("--shm-size 32g -p 80:80", ())]


@table(
    ("script", "image", "decided"),
    [
        ('IMAGE=$1\ndocker run --gpus all --rm "$IMAGE" torchrun t.py\n', "$1", True),
        ('IMAGE="$1"\ndocker run --gpus all "$IMAGE" bash -c "torchrun t.py"\n', "$1", True),
        ('IMAGE=${1}\nA=(--gpus all "${IMAGE}" python t.py)\ndocker run "${A[@]}"\n', "${1}", True),
        ("IMAGE=$1\ndocker run --gpus all $IMAGE torchrun t.py\n", "$1", True),
        ('docker run --gpus all "$1" torchrun t.py\n', "$1", True),
        ('docker run --gpus all "$1" scripts/run.sh x\n', "$1", True),
        # A quoted word is one word, and may be an option before an image.
        ('docker run --gpus all "$1" nvcr.io/nvidia/pytorch:24.01-py3 torchrun t.py\n', None, False),
        ('A=("$1")\ndocker run --gpus all "${A[@]}" lab/image:v1 torchrun t.py\n', None, False),
        ('docker run --gpus all "$IMAGE" lab/image:v1\n', "$IMAGE", True),
    ],
)
def test_an_argument_in_quotation_marks_is_one_word(script: str, image: str | None, decided: bool) -> None:
    (launch,) = read(script)
    assert (launch.image.text if launch.image is not None else None, launch.undecided is None) == (image, decided)


@table(
    "before",
    [
        "docker run -v /var/run/docker.sock:/var/run/docker.sock docker:cli ", "docker exec builder ",
        "docker compose run --rm tool ", "podman run tool ",
    ],
)  # fmt: skip
def test_a_container_that_is_started_in_another_one(tmp_path: Path, before: str) -> None:
    found = run(tmp_path, {"a.sh": f"{before}docker run --gpus all {NEEDY} torchrun t.py\n"}).launches
    started = [launch for launch in found if launch.gpu.requested]
    assert [launch.image.text for launch in started if launch.image is not None] == [NEEDY]


def test_words_that_only_name_an_engine_start_nothing(tmp_path: Path) -> None:
    text = "docker run --gpus all tool docker run\ndocker run tool docker build -t x .\n"
    found = run(tmp_path, {"a.sh": text}).launches
    assert [launch.image.text for launch in found if launch.image is not None] == ["tool", "tool"]


@table(
    ("before", "after", "in_branches"),
    [
        ("retry 3 ", "", True), ("foo ", "", True), ('foo_bar "', '"', True), ("./tool.sh '", "'", True),
        ("srun ", "", False), ("op run -- ", "", False), ('bash -c "', '"', False), ('tmux new -d "', '"', False),
        ('ssh host "', '"', False), ("run() { \"$@\"; }\nrun ", "", False),
    ],
)  # fmt: skip
def test_no_error_rests_on_a_program_that_may_print_a_start(
    tmp_path: Path, before: str, after: str, in_branches: bool
) -> None:
    text = f"{before}docker run --gpus all {NEEDY} torchrun t.py{after}\n"
    (launch,) = run(tmp_path, {"a.sh": text}).launches
    assert (launch.gpu.requested, launch.gpu.in_branches) == (True, in_branches)


@table("name", ["show_cmd", "assert_eq", "yellow", "append_step", "whiptail --msgbox", "expect_words"])
def test_a_text_that_is_shown_is_told(tmp_path: Path, name: str) -> None:
    for text in (f'{name} "docker run --gpus all {NEEDY}"\n', f"{name} docker run --gpus all {NEEDY}\n"):
        started = run(tmp_path, {"a.sh": text})
        assert ([*started.launches], [place.span.line for place in started.not_read]) == ([], [1]), text


@table(
    ("text", "requested", "size"),
    [
        ("A=(--rm --gpus all)\ndocker run $A IMG\n", True, DEFAULT),
        ("A=(--rm --gpus all)\ndocker run ${A} IMG\n", True, DEFAULT),
        ('A=(--gpus all)\ndocker run "${A[@]}" ${A[@]} IMG\n', True, DEFAULT),
        ("A=('' --gpus all)\ndocker run $A IMG\n", True, DEFAULT),
        ("A=(docker run --gpus all IMG)\n$A\n", True, DEFAULT), ("D=docker\n$D run --gpus all IMG\n", True, DEFAULT),
        ("C='docker run --gpus all IMG'\neval $C\n", True, DEFAULT),
        ('f() { docker run $@ IMG; }\nf --gpus all -v "a b"\n', True, DEFAULT),
        # It counts from 1.
        ("A=(16g 64m)\ndocker run --gpus all --shm-size=${A[1]} IMG\n", True, None),
        ("A=(16g 64m)\ndocker run --gpus all --shm-size=$A[2] IMG\n", True, None),
        ('A=(16g 64m)\ndocker run --gpus all --shm-size="$A[2]" IMG\n', True, None),
        ("A=(--gpus all)\ndocker run $A[1] IMG\n", None, None),
        # A variable stays one word, unless it is told otherwise.
        ("A=1g\ndocker run --gpus all --shm-size $A IMG\n", True, GIB),
        ("A='--rm -t'\ndocker run --gpus all $A IMG\n", True, None),
        ("A='--rm --gpus all'\ndocker run ${=A} IMG\n", None, None),
        ("A='--rm --gpus all'\ndocker run $=A IMG\n", None, None),
        ("setopt sh_word_split\nA='--rm --gpus all'\ndocker run $A IMG\n", None, None),
        ("emulate -L ksh\nA=(--rm --gpus all)\ndocker run $A IMG\n", None, None),
    ],
)  # fmt: skip
def test_variables_of_zsh(tmp_path: Path, text: str, requested: bool | None, size: int | None) -> None:
    text = text.replace("IMG", NEEDY)
    for name, script in (("a.sh", f"#!/bin/zsh\n{text}"), ("b", f"#!/usr/bin/env -S zsh -f\n{text}"), ("c.zsh", text)):
        (launch,) = run(tmp_path, {name: script}, paths=(name,)).launches
        assert (launch.gpu.requested, launch.effective_shm().bytes) == (requested, size), name


def test_a_script_of_another_shell_in_a_file_for_zsh(tmp_path: Path) -> None:
    text = f"#!/bin/bash\nA='--rm --gpus all'\ndocker run $A {NEEDY}\n"
    assert [launch.gpu.requested for launch in run(tmp_path, {"a.zsh": text}).launches] == [True]


RUN = f"docker run --gpus all {NEEDY}\n"


@table(
    ("function", "decided_by", "size"),
    [
        ('docker() { local sub=$1; shift; command docker "$sub" --log-opt max-size=10m "$@"; }', "default", DEFAULT),
        ('docker() { local sub="$1"; shift; sudo docker $sub --shm-size=16g "$@"; }', "shm_size", 16 * GIB),
        ('docker() { /usr/bin/docker "${1}" --shm-size=16g "${@:2}"; }', "shm_size", 16 * GIB),
        ('docker() { echo "+ docker $*"; command docker "$@"; }', "default", DEFAULT),
        ('docker() { if x; then sudo docker "$@"; else command docker "$@"; fi; }', "default", DEFAULT),
        # What the function decides about may be options.
        ('docker() { case $1 in run) shift; command docker run -d "$@";; *) sudo docker "$@";; esac; }', "unknown",
         None),
        ('docker() { local c=$1; shift; [ $c = x ] || set -- --rm "$@"; command docker $c "$@"; }', "unknown", None),
        ('docker() { local a=("$@"); x; command docker "${a[@]}"; }', "unknown", None),
        ('docker() { if x; then sudo docker "$1" --rm "${@:2}"; else command docker "$@"; fi; }', "unknown", None),
        ('x && docker() { command docker "$1" --shm-size=16g "${@:2}"; }', "unknown", None),
    ],
)  # fmt: skip
def test_a_function_of_an_engines_name(function: str, decided_by: str, size: int | None) -> None:
    for use in (RUN, f"main() {{ {RUN}}}\nmain\n"):
        effective = read(f"{function}\n{use}")[-1].effective_shm()
        assert (effective.decided_by, effective.bytes) == (decided_by, size)
    assert read(f"{function}\ncommand {RUN}")[-1].effective_shm().bytes == DEFAULT
    assert read(f"{RUN}{function}\n")[0].effective_shm().bytes == DEFAULT


def test_a_function_of_an_engines_name_that_starts_nothing_is_told(tmp_path: Path) -> None:
    started = run(tmp_path, {"a.sh": f"docker() {{ true; }}\n{RUN}"})
    assert ([*started.launches], [place.span.line for place in started.not_read]) == ([], [2])


@table(
    ("text", "started", "not_read"),
    [
        # In arrays.
        ('A=("RUN" "RUN")\nfor c in "${A[@]}"; do eval "$c"; done\n', [], [1, 1]),
        ('A=(ls\n  "sudo RUN"\n)\nfor c in "${A[@]}"; do bash -c "$c"; done\n', [], [2]),
        ('declare -A A\nA[x]="RUN"\neval "${A[x]}"\n', [], [2]), ("A[0]='RUN'\n${A[0]}\n", [], [1]),
        ('declare -A A=([x]="RUN" [y]=ls)\neval "${A[x]}"\n', [2], []),
        ('declare -A A=([x]="RUN")\neval "$B"\n', [], [1]),
        ('A=("RUN")\neval "${A[0]}"\n', [2], []), ('A=("RUN" "RUN x")\n${A[0]}\n', [2], [1]),
        # In here-documents.
        ("read -r -d '' A <<E\nRUN\nE\neval \"$A\"\n", [2], []),
        ("IFS= read -rd '' A <<'E' || true\nRUN\nE\nbash -c \"$A\"\n", [2], []),
        ("read -d '' -r A <<-E\nRUN\nE\nssh h \"$A\"\n", [2], []), ("read -d '' A <<E\nRUN\nE\neval \"$A\"\n", [], [2]),
        ("read -r -d '' A <<-E\n\tRUN\n\tE\neval \"$A\"\n", [], [2]), ("read -r A <<E\nRUN\nE\n$A\n", [], [2]),
        ('mapfile -t A <<E\nls\nRUN\nE\nfor c in "${A[@]}"; do eval "$c"; done\n', [], [3]),
        ('while read -r c; do eval "$c"; done <<E\nRUN\nE\n', [], [2]),
        ("read -r -d '' A <<E\nRUN\nE\necho \"$A\"\neval \"$B\"\n", [], []),
        ('mapfile -t A <<E\nRUN\nE\nfor c in "${A[@]}"; do echo "$c"; done\n', [], []),
    ],
)  # fmt: skip
def test_a_start_that_is_kept_as_a_text(tmp_path: Path, text: str, started: list[int], not_read: list[int]) -> None:
    found = run(tmp_path, {"a.sh": text.replace("RUN", RUN[:-1])})
    assert [launch.span.line for launch in found.launches] == started
    assert [place.span.line for place in found.not_read] == not_read
    assert all(launch.gpu.requested for launch in found.launches)


DECIDES = r"gpus?|ipc|shm|device|runtime|volume|mount|tmpfs|env|rootfs|pod|infra|-[ev]$"
"""Options whose value may decide GPUs or /dev/shm, and those that stand for others."""


@table("engine", ["docker", "podman", "nerdctl"])
def test_a_word_is_the_value_of_the_options_that_have_one(engine: Binary) -> None:
    """What an engine's own list says of its options holds where a variable stands behind one in a branch."""
    for name, flag in flags(engine).items():
        if name.startswith("-") and re.search(DECIDES, name) is None:
            launch = one(f'[ $A ] && V="{name} $O"\n{engine} run --gpus all $V img')
            assert (launch.undecided is not None) is (flag.type == "bool"), name
