"""The GPUs that a command line asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.shell.commands import known, one
from tests.project import findings
from tests.table import table


@table(
    ("options", "vendor", "count"),
    [
        ("--gpus all", "nvidia", "all"),
        ("--gpus=all", "nvidia", "all"),
        ("--gpus -1", "nvidia", "all"),
        ("--gpus 2", "nvidia", 2),
        ("--gpus count=3", "nvidia", 3),
        ("--gpus 1,2", "nvidia", 2),
        ("--gpus '\"device=0,1\"'", "nvidia", 2),
        ('--gpus "\\"device=0,1\\""', "nvidia", 2),
        ('--gpus \\"device=0,1,2\\"', "nvidia", 3),
        ("--gpus device=0", "nvidia", 1),
        ("--gpus device=GPU-1234", "nvidia", 1),
        ("--gpus driver=nvidia", "nvidia", 1),
        ("--gpus 'all,\"capabilities=compute,utility\"'", "nvidia", "all"),
        ("--gpus '\"capabilities=compute,utility\"'", "nvidia", 1),
        ("--gpus 1 --gpus '\"device=2,3\"'", "nvidia", 2),
        ("--gpus $GPUS", "nvidia", None),
        ('--gpus \\"device=$IDS\\"', "nvidia", None),
        ("--gpus ALL", "nvidia", "all"),
        ("--gpus two", "nvidia", None),
        ("--runtime=nvidia", "nvidia", "all"),
        ("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=0,1", "nvidia", 2),
        ("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=all", "nvidia", "all"),
        ("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=$V", "nvidia", None),
        ("--runtime=nvidia --gpus 2", "nvidia", 2),
        ("--runtime=amd", "amd", "all"),
        ("--device nvidia.com/gpu=all", "nvidia", "all"),
        ("--device nvidia.com/gpu=0 --device nvidia.com/gpu=1", "nvidia", 2),
        ("--device=/dev/nvidia0 --device /dev/nvidia1:/dev/nvidia1 --device /dev/nvidiactl", "nvidia", 2),
        ("--device /dev/nvidiactl --device /dev/nvidia-uvm", "nvidia", None),
        ("--device /dev/dxg", "nvidia", None),
        ("--device=/dev/kfd --device=/dev/dri", "amd", "all"),
        ("--device=/dev/kfd --device=/dev/dri/renderD128", "amd", 1),
        ("--device amd.com/gpu=0", "amd", 1),
    ],
)
def test_gpus(options: str, vendor: str, count: object) -> None:
    gpu = one(f"docker run {options} img").gpu
    assert (gpu.requested, gpu.vendor, gpu.number) == (True, vendor, count)
    assert gpu.evidence


@table(
    "options",
    [
        "",
        "--gpus 0",
        "--gpus none",
        "--runtime runc",
        "--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=none",
        "--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=void",
        "--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=",
        "-e NVIDIA_VISIBLE_DEVICES=none",
        "-e CUDA_VISIBLE_DEVICES=0",
        "--device /dev/dri",
        "--device /dev/snd",
        "--device $DEVICE",
        "--privileged",
    ],
)
def test_no_gpus(options: str) -> None:
    assert one(f"docker run {options} img").gpu.requested is False


@pytest.mark.parametrize(
    "options",
    ["-e NVIDIA_VISIBLE_DEVICES=all", "--runtime=$RUNTIME", "$DOCKER_ARGS", '"$@"', '"${ARGS[@]}"', "--newest x"],
)
def test_gpus_that_are_not_known(options: str) -> None:
    gpu = one(f"docker run {options} img").gpu
    assert gpu.requested is None
    assert gpu.unknown


@table(
    ("command", "count"),
    [
        ("nvidia-docker run img", "all"),
        ("NV_GPU=0 nvidia-docker run img", 1),
        ("NV_GPU=0,1 nvidia-docker run img", 2),
        ("NV_GPU='0,1,2' sudo -E nvidia-docker run img", 3),
        ("NV_GPU=$G nvidia-docker run img", None),
        ("nvidia-docker run -e NVIDIA_VISIBLE_DEVICES=1 img", 1),
        ("podman run --gpus all img", "all"),
        ("podman run --gpus 0 --gpus 1 img", 2),
        ("podman run --device nvidia.com/gpu=all --security-opt=label=disable img", "all"),
        ("G='--gpus all'; docker run $G img", "all"),
        ("A=(--gpus 2); docker run \"${A[@]}\" img", 2),
        ("docker run --gpus ${N:-4} img", 4),
        ("docker create --gpus 1 img", 1),
        ("docker container run --gpus 1 img", 1),
    ],
)
def test_gpus_of_commands(command: str, count: object) -> None:
    gpu = one(command).gpu
    assert (gpu.requested, gpu.vendor, gpu.number) == (True, "nvidia", count)


@table(
    ("options", "image", "count", "refused"),
    [
        ("--gpus r/img:1 python t.py", "r/img:1", "all", True),
        ("--gpus -it img python t.py", "img", "all", True),
        ("--gpus --shm-size=8g img", "img", "all", True),
        ("--gpus all img", "img", "all", False),
        ("--gpus device=GPU-1/2 img", "img", 1, False),
        ("--gpus two img", "img", None, True),
    ],
)
def test_gpus_without_a_value(options: str, image: str, count: object, refused: bool) -> None:
    """What is behind is read as it was meant, so that all findings speak of one image."""
    launch = one(f"docker run {options}")
    assert (known(launch.image), launch.gpu.number, bool(launch.gpu.invalid)) == (image, count, refused)


@pytest.mark.parametrize(
    ("value", "device_lists", "changed"),
    [
        ("device=0,1", 1, True), ("1,2", 1, False), ("device=0", 0, False), ("'\"device=0,1\"'", 0, False),
        ("all", 0, False), ("$X", 0, False), ("device=0,all", 1, False),
    ],
)  # fmt: skip
def test_device_lists(value: str, device_lists: int, changed: bool) -> None:
    found = one(f"docker run --gpus {value} img").gpu.device_lists
    assert (len(found), any(fault.changes for fault in found)) == (device_lists, changed)


ELSE = "if a; then G={first}; else G={second}; fi\n"


@table(
    "before, requested",
    [
        ("if a; then G='--gpus all'; fi", True),
        ("G=\nif a; then G=--gpus=all; fi", True),
        ("G=''\nif a; then G='--runtime nvidia'; elif b; then G=''; else exit 1; fi", True),
        ("if a; then R=--gpus=all; else R=--runtime=nvidia; fi\nwhile b; do case $1 in --gpu) G=$R;; esac; shift; done",
         True),
        ("G=-d\nif a; then G=\"$G --gpus all\"; fi", True),
        ("if a; then G+=' --gpus all'; else G+=' --runtime=nvidia'; fi", True),
        ("G=\nif a; then G=\"$G --runtime=nvidia\"; if b; then exit 1; fi; else G=\"$G --gpus all\"; fi", True),
        # In other branches it asks for some GPUs only.
        ("G='--gpus all'\nwhile a; do case $1 in -g) G=\"--gpus device=$2\";; esac; shift; done", True),
        (ELSE.format(first="--gpus=2", second="'--gpus all'"), True),
        (ELSE.format(first="--gpus=1", second="'--gpus=2'"), True),
        (ELSE.format(first="--gpus=all", second='"--gpus device=$1 $2"'), None),
        # How many is not known.
        ('G=--rm\nif a; then G="$G --gpus $N"; fi', True),
        ('G=--rm\nif a; then G+=" --gpus $N"; fi', True),
        ('G=--rm\nif a; then G+=" --gpus $(nvidia-smi -L | wc -l) -u $(id -u):$(id -g)"; fi', True),
        ('G=--rm\nif a; then G+=" --gpus all $(more)"; fi', None),
        ('G=--rm\nif a; then G+=" --gpus all --privileged"; fi', True),
        ('G=--rm\nif a; then G="$G --gpus all"; fi\nif b; then G="$G --name $N --memory $M -v $D:/d"; fi', True),
        ('G=\nif a; then G="--gpus all"; if b; then G="$G --device /dev/x"; fi; fi', True),
        ('G=\nif a; then G="--gpus all"; if b; then G="$G -v $D:/dev/shm"; fi; fi', None),
        ('if a; then G="--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=$1 --name x"; fi', True),
        ("if a; then G='--device nvidia.com/gpu=all'; fi", True),
        ("if a; then G='--gpus all --name'; fi", None),
        ("if a; then G='--gpus all --'; fi", None),
        ("while getopts g: o; do case $o in g) G=\"--gpus device=$OPTARG\";; esac; done", True),
        # It may hold something else, or nobody knows what.
        (ELSE.format(first="--gpus=all", second="--shm-size=8g"), None),
        (ELSE.format(first="--gpus=all", second="$MORE"), None),
        (ELSE.format(first="--gpus=1", second=""), True),
        (ELSE.format(first="'--gpus all own/app'", second=""), None),
        ("G=-d\nif a; then G=\"$G --gpus all --ipc=host\"; fi", None),
        ("G=-d\nif a; then G=\"--gpus all $G\"; fi", True),
        ("G=\nif a; then G=\"$G --gpus all $MORE\"; fi", None),
        ("if a; then G=\"$G --gpus all\"; fi", None),  # the caller may give more
        (". ./x.env\nif a; then G='--gpus all'; fi", True),
        ("if a; then G=\"$G --gpus all\"; fi\nif b; then G=\"$G $MORE\"; fi", None),
    ],
)  # fmt: skip
def test_gpus_of_a_variable_that_holds_nothing_else_in_any_branch(before: str, requested: bool | None) -> None:
    launch = one(f"{before}\ndocker run $G -it img")
    assert (launch.gpu.requested, launch.undecided is None) == (requested, requested is True)
    assert launch.gpu.in_branches is (requested is True)


@table(
    "before, requested",
    [
        ("G=()\nif a; then G=(--gpus all); fi", True),
        ("if a; then G=(--gpus all); else G=(--gpus=2); fi", True),
        ('if a; then G=(--gpus all); else G=(--gpus "device=$1"); fi', True),
        ("if a; then G=(--gpus all); else G=(--runtime nvidia); fi", True),
        ("G=(--gpus all --runtime=nvidia)\nif a; then G=(); fi", True),
        ("if a; then G=(--gpus=1); else G=(--gpus=2); fi", True),
        ("G=(--rm)\nif a; then G+=(--gpus all); fi", True),
        ("G=(--rm)\n[ $A = 0 ] || G+=(--gpus all)", True),
        ("G=(--rm)\nif a; then G+=( --runtime=nvidia ); fi\nif b; then G+=(-e X=1); fi", True),
        ('G=(--rm)\nif a; then G=("${G[@]}" --gpus all); fi', True),
        ('G=(--rm)\nif a; then G+=(--gpus "device=$1"); fi', True),
        ("f() { G+=(--gpus all); }\nG=(--rm)\nif a; then f; fi", True),
        ("f() { G+=(--gpus all --ipc=host); }\nG=(--rm)\nif a; then f; fi", None),
        ("f() { G=(--gpus all); }\nG=(--ipc=host)\nif a; then f; fi", None),
        ('G=(--rm)\nif a; then G+=(--gpus all -u "$(id -u):$(id -g)"); fi', True),
        ("G=(--rm)\nif a; then G+=(--gpus all --shm-size=8g); fi", None),
        ('G=(--rm)\nif a; then G=("${G[@]}" --gpus all "$X"); fi', None),
        ("if a; then G=(--gpus all); else G=(--shm-size 8g); fi", None),
        ("if a; then G=(--gpus all); else G=($MORE); fi", None),
        ('if a; then G=(--gpus all); else G=(--gpus "device=$1" "$2"); fi', None),
        ("if a; then G=(--gpus all own/app); else G=(--gpus all); fi", None),
    ],
)
def test_gpus_of_an_array_that_holds_nothing_else_in_any_branch(before: str, requested: bool | None) -> None:
    launch = one(f'{before}\ndocker run "${{G[@]}}" -it img')
    assert (launch.gpu.requested, launch.undecided is None) == (requested, requested is True)
    assert launch.gpu.in_branches is (requested is True)


CASES = "case $1 in\n x) {first} ;;\n *) {second} ;;\nesac"


@table(
    "before, left_open, certain",
    [
        (ELSE.format(first="--gpus=all", second="'--gpus all --runtime nvidia'"), None, True),
        (ELSE.format(first="--gpus=all", second="'--gpus all --ipc=host'"), "arguments", True),
        (ELSE.format(first="--gpus=all", second='"--gpus device=$1 --ipc=host"'), "arguments", False),
        (ELSE.format(first="'--gpus all --shm-size=8g'", second="'--gpus all --ipc=host'"), "variable", True),
        (CASES.format(first="G='--gpus all --ipc=host'", second="G='--gpus all'"), "arguments", True),
        (CASES.format(first="G='--gpus all'", second="exit 1"), None, True),
        ("G=\n" + CASES.format(first="G='--gpus all --ipc=host'", second="export G='--gpus all'"), "arguments", True),
        ("G='--gpus all'\nif a; then G='--gpus all --ipc=host'; fi", "arguments", True),
        ("if a; then if b; then G=--gpus=all; else G='--gpus all -t'; fi; elif c; then X=1 G=--gpus=all; else exit; fi",
         None, True),
        ("f() {" + CASES.format(first="G='--gpus=all --ipc=host'", second="G=--gpus=all") + "; }; f",
         "arguments", True),
        # It may not be set at all, or was before.
        ("if a; then G='--gpus all'; elif b; then G='--gpus all -t'; fi", None, False),
        ("case $1 in\n x) G='--gpus all' ;;\n y) G='--gpus all -t' ;;\nesac", None, False),
        ("for i in $X; do if a; then G='--gpus all'; else G='--gpus all -t'; fi; done", None, False),
        ("if b; then\nif a; then G='--gpus all'; else G='--gpus all -t'; fi; fi", None, False),
    ],
)
def test_gpus_that_are_requested_in_each_branch(before: str, left_open: str | None, certain: bool) -> None:
    launch = one(f"{before}\ndocker run $G -it img")
    assert launch.gpu.requested
    assert (launch.undecided.kind if launch.undecided else None) == left_open
    assert launch.gpu.in_branches is not certain


@table(
    "options, requested",
    [
        ("$(echo --gpus all)", True),
        ("`[ -e /dev/nvidia0 ] && echo --gpus all`", True),
        ('$(command -v nvidia-smi >/dev/null && echo "--gpus all" || echo "")', True),
        ('$(nvidia-smi &>/dev/null && echo "--gpus all" || echo "--runtime nvidia")', True),
        ("$(if has_gpu; then echo --gpus all; elif [ $A ]; then echo --gpus 1; fi)", True),
        ("${GPU:+--gpus all}", True),
        # More, something else, or what is not known.
        ("$(echo --gpus all --ipc=host)", None),
        ("$([ $A ] && echo --gpus all || echo --shm-size=8g)", None),
        ('$([ $A ] && echo "--gpus $B")', None),
        ("$([ $A ] && echo --gpus all || cat gpus)", None),
        ("$(nvidia-smi && echo --gpus all)", None),
        ("$(nvidia-smi 2>/dev/null && echo --gpus all)", None),
        ("$(if nvidia-smi; then echo --gpus all; fi)", None),
        ("$(gpus)", None),
        ("${GPU:+--gpus all $MORE}", None),
    ],
)  # fmt: skip
def test_gpus_that_a_command_prints_and_nothing_else(options: str, requested: bool | None) -> None:
    for text in (f"docker run {options} -it img", f"G={options}\ndocker run $G -it img"):
        launch = one(text if "{" not in options else f"docker run {options} -it img")
        assert (launch.gpu.requested, launch.undecided is None) == (requested, requested is True)
        assert launch.gpu.in_branches is (requested is True)


@table(
    "options",
    ["$([ -t 0 ] && echo -it)", "$(tty -s && echo -it || echo -i)", "${A:+--rm}", '"${A:+--name \"$A\"}"'],
)
def test_other_options_that_a_command_prints_decide_nothing(options: str) -> None:
    launch = one(f"docker run {options} --gpus all img")
    assert (launch.gpu.requested, launch.gpu.in_branches, launch.undecided) == (True, False, None)


@table(
    ("options", "decided"),
    [
        ("-it", True), ("--name $O", True), ("-e $O", True), ("-it --name $O", True), ("-it $O", False),
        ("-d $O", False), ("--rm $O", False), ("--name=x $O", False), ("--privileged $O --rm", False),
    ],
)  # fmt: skip
def test_a_word_behind_a_switch_may_be_any_option(options: str, decided: bool) -> None:
    for before, used in ((f'[ $A ] && V="{options}"\n', "$V"), ("", f"${{A:+{options}}}")):
        launch = one(f"{before}docker run --gpus all {used} img")
        assert (launch.undecided is None) is decided, used


ADDED = 'if a; then V="$V {}"; fi\n'
LOOP = "V=\nwhile read key value; do\n  {}\n  V=\"$V -e $key=$value\"\ndone\n"


@table(
    "before, decided",
    [
        (f'V="-v $A:/a"\n{ADDED.format("-v $B:/b")}{ADDED.format("-v $C:/c")}', True),
        (f'V="-v $A:/a"\n{ADDED.format("-v $B:/b")}{ADDED.format("--shm-size $C")}{ADDED.format("-v $D:/d")}', False),
        (f'V="--shm-size $A"\n{ADDED.format("-v $B:/b")}{ADDED.format("-v $C:/c")}', True),
        (f'V="--gpus all"\n{ADDED.format("-it")}{ADDED.format("--name $C")}', True),
        (f'V="-v $A:/a $MORE"\n{ADDED.format("-v $B:/b")}', False),
        (LOOP.format(":"), True),
        (LOOP.format('value=$(echo "$value" | xargs)'), True),
        (LOOP.format('value=`tr a b <<< "$value"`'), True),
        (LOOP.format('V="$V $(cat more)"'), False),
    ],
)
def test_options_that_branches_and_loops_add(before: str, decided: bool) -> None:
    for text in (before, before.replace("V=", "VOLUME_MOUNTS=").replace("$V ", "$VOLUME_MOUNTS ")):
        name = "VOLUME_MOUNTS" if "VOLUME_MOUNTS" in text else "V"
        launch = one(f"{text}\ndocker run --gpus all ${name} img")
        assert (launch.undecided is None) is decided
        assert known(launch.image) == "img" or not decided


@table(
    "before, used",
    [
        ('G=--rm\nif a; then G="$G --gpus all"; fi\nif b; then G="$G --ipc=host"; fi', "$G"),
        ('G=--rm\nif a; then G="$G --gpus all"; fi\nif b; then G="$G --name $N --shm-size $S"; fi', "$G"),
        ("G=(--rm)\nif a; then G+=(--gpus all); fi\nif b; then G+=(--ipc=host); fi", '"${G[@]}"'),
    ],
)
def test_a_size_that_a_branch_may_add_is_not_known_beside_gpus(before: str, used: str) -> None:
    launch = one(f"{before}\ndocker run {used} img")
    assert (launch.gpu.requested, launch.gpu.in_branches, launch.undecided is None) == (True, True, False)


def test_a_list_of_devices_in_a_branch_is_not_corrected_where_its_variable_is_used() -> None:
    gpu = one("if a; then G='--gpus device=0,1'; fi\ndocker run $G img").gpu
    assert (gpu.requested, gpu.number, gpu.device_lists, gpu.invalid) == (True, None, (), ())


RANKS = "pytorch/pytorch torchrun --nproc_per_node=4 train.py"
SOME = "if a; then G='--gpus all'; fi\n"


@table(
    "text, severity",
    [
        (f"{SOME}docker run $G {RANKS}", "warning"),
        (f"{SOME}docker run $G --shm-size=32m {RANKS}", "warning"),
        (f"{SOME}docker run $G -it pytorch/pytorch", "warning"),
        (f"{SOME}docker run $G --gpus 4 {RANKS}", "error"),
        (f'G="--gpus all"\n{ADDED.replace("V", "G").format("--gpus $N -it")}docker run $G {RANKS}', "error"),
        (f"G='--gpus all'\ndocker run $G {RANKS}", "error"),
        (f"it=docker; x && it=nvidia-docker\n$it run {RANKS}", "warning"),
        (f"it=docker; x && it=nvidia-docker\n$it run --gpus=all {RANKS}", "error"),
        (f"it=nvidia-docker\n$it run {RANKS}", "error"),
    ],
)
def test_a_request_in_some_branches_makes_no_error(tmp_path: Path, text: str, severity: str) -> None:
    found = findings(tmp_path, {"run.sh": f"{text}\n"})
    assert [finding.severity for finding in found if finding.rule in ("SHM101", "SHM102")] == [severity]


def test_a_variable_in_quotes_that_may_be_empty_is_not_read_as_options() -> None:
    assert one('if a; then G=--gpus=all; fi\ndocker run "$G" img').gpu.requested is None
