"""A command line, read into a launch."""

from __future__ import annotations

from typing import Any

import pytest

from shmlint.formats.shell.run import launches
from shmlint.model.launch import Launch, Unknown, Value
from shmlint.model.source import Source
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import whole
from tests.table import table

MIB = 1 << 20
GIB = 1 << 30
DEFAULT = 64 * MIB


def read(text: str) -> list[Launch]:
    return launches(list(commands(whole(Source("x.sh", text), 0, len(text)))))


def one(text: str) -> Launch:
    (launch,) = read(text)
    return launch


def known(value: Value[Any] | None) -> Any:
    """What a value is, None where there is none or it is not known."""
    return value.known if value is not None else None


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


@pytest.mark.parametrize(
    ("options", "text", "size"),
    [
        ("--shm-size=8g", "8g", 8 * GIB),
        ("--shm-size 64", "64", 64),
        ("'--shm-size=8GiB'", "8GiB", 8 * GIB),
        ("--shm-size=8Gi", "8Gi", None),
        ("--shm-size=-1", "-1", None),
        ("--shm-size=", "", None),
        ("--shm-size=1e9", "1e9", 10**9),
    ],
)
def test_the_size_that_is_written(options: str, text: str, size: int | None) -> None:
    shm = one(f"docker run {options} img").shm
    assert shm is not None
    assert not isinstance(shm.value, Unknown)
    assert (shm.text, shm.span.text, shm.value.bytes) == (text, text, size)
    assert bool(shm.value.error) == (size is None)
    assert shm.value.bare_number == (text == "64")


def test_a_size_in_a_variable_is_where_that_is_set() -> None:
    shm = one('SHM="64m"\ndocker run --shm-size=$SHM img').shm
    assert shm is not None
    assert (shm.span.text, shm.span.line, known(shm).bytes) == ("64m", 1, 64 * MIB)


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
        (f"log_it {RUNS}\nskip {RUNS}\nassert_fails {RUNS}\n", []),
        ("usage docker run x\nneeds docker\ninstall docker podman\n", []),
        (f"bash <<A <<B\n{RUNS}\nA\npodman run b\nB\n", ["podman"]),
        (f"bash <<-'A' - <<B\n\t{RUNS}\n\tA\nB\n{RUNS}\n", ["docker"]),
        (f"cat <<A; bash <<B\n{RUNS}\nA\npodman run b\nB\n", ["podman"]),
        (f"echo $((1<<A)) <<< x << B\n{RUNS}\nB\n{RUNS}\n", ["docker"]),
    ],
)
def test_which_commands_run(text: str, engines: list[str]) -> None:
    assert [launch.engine for launch in read(text)] == engines


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
    """What stands behind is read as it was meant, so that all findings speak of one image."""
    launch = one(f"docker run {options}")
    assert (known(launch.image), launch.gpu.number, bool(launch.gpu.invalid)) == (image, count, refused)


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


def test_zero_is_no_limit_to_podman() -> None:
    effective = one("podman run --shm-size=0 img").effective_shm()
    assert (effective.decided_by, effective.bytes) == ("unknown", None)
    assert one("podman run --shm-size=1g img").effective_shm().bytes == GIB


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


def test_an_image_that_may_be_lengthened_is_the_image() -> None:
    launch = one("N=a/b:1; x && N+=-tail\ndocker run --gpus all $N python x\n")
    assert not launch.undecided
    assert known(launch.command) == ("python", "x")


@pytest.mark.parametrize("use", ["$DOCKER_ARGS", "$OPTS", '"$@"', "${@:2}", "$*", '"${X[@]}"', "$(gpu_args)"])
def test_words_in_the_place_of_options_leave_it_undecided(use: str) -> None:
    launch = one(f"docker run --gpus all {use} org/img python x\n")
    assert launch.undecided is not None and "it may hold --shm-size" in launch.undecided.because
    assert launch.effective_shm().decided_by == "unknown"


def test_an_assigned_value_that_is_not_known_leaves_it_undecided() -> None:
    assert one("A=$(flags)\ndocker run --gpus all $A org/img\n").undecided


def test_a_size_beside_unknown_options_counts() -> None:
    launch = one("docker run --gpus all $OPTS --ipc=host img")
    assert launch.ipc is not None
    assert launch.undecided


def test_everything_else() -> None:
    launch = one(
        "docker run -m 2g --name n -e A=1 -e B -e C=$D --env-file e --ulimit memlock=-1 --ulimit stack=67108864 "
        "--cap-add SYS_NICE --cap-add=IPC_LOCK --privileged --entrypoint /bin/sh img"
    )
    assert (launch.kind, launch.name, launch.names) == ("docker-run", "n", ("n",))
    assert known(launch.memory_limit) == 2 * GIB
    assert {name: known(value) for name, value in launch.environment.items()} == {"A": "1", "B": None, "C": None}
    assert launch.env_files
    assert {name: known(value) for name, value in launch.ulimits.items()} == {"memlock": "-1", "stack": "67108864"}
    assert launch.cap_add == ("SYS_NICE", "IPC_LOCK")
    assert launch.privileged
    assert known(launch.entrypoint) == ("/bin/sh",)


@pytest.mark.parametrize("options", ["--privileged=false", "--privileged=$X"])
def test_not_privileged(options: str) -> None:
    assert not one(f"docker run {options} img").privileged


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


@pytest.mark.parametrize("text", ["docker run --gpu all img", "docker run --shm_size=1g --gpus all img"])
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
    ("value", "device_lists", "changed"),
    [
        ("device=0,1", 1, True), ("1,2", 1, False), ("device=0", 0, False), ("'\"device=0,1\"'", 0, False),
        ("all", 0, False), ("$X", 0, False), ("device=0,all", 1, False),
    ],
)  # fmt: skip
def test_device_lists(value: str, device_lists: int, changed: bool) -> None:
    found = one(f"docker run --gpus {value} img").gpu.device_lists
    assert (len(found), any(fault.changes for fault in found)) == (device_lists, changed)


NEEDY = "nvcr.io/nvidia/pytorch:24.01-py3"


@pytest.mark.parametrize(
    ("options", "image"),
    [
        ("$TTY $X11", NEEDY), ('${NAME:+--name "$NAME"}', NEEDY), ("${A%%=*}=8g", NEEDY), ("--shm-\\\nsize=8g", NEEDY),
        ("/dev/kfd", None), (":", None), ("docker", None), ("'a\nb'", None),
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


def test_a_pod_shares_its_shm() -> None:
    assert one(f"podman run --pod p --gpus all {NEEDY}\n").effective_shm(0).decided_by == "unknown"


def test_a_size_of_a_mount_that_docker_refuses() -> None:
    (mount,) = one(f"docker run --mount type=tmpfs,dst=/dev/shm,tmpfs-size=8Gi {NEEDY}\n").mounts
    assert mount.size_error and mount.size_span is not None and mount.size_span.text == "8Gi"
