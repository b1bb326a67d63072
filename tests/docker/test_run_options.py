"""Docker command lines: tables of cases, and the real client as judge of generated ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from shmlint.docker.engines import find_docker
from shmlint.docker.gotext import go_bool
from shmlint.docker.mounts import MountOption, parse_mount, parse_tmpfs, parse_volume
from shmlint.docker.run_options import RunCommand, flags, read_run
from shmlint.docker.sizes import parse_docker
from shmlint.model.source import Source, Span
from shmlint.syntax.word import Word
from tests.docker.command_lines import words
from tests.oracles.docker_client import CWD, docker_create
from tests.table import table


def read(line: str) -> RunCommand:
    found = words(line)
    command = find_docker(found)
    assert command is not None
    return read_run(found[command.start :], command.engine, command.verb)


def given_options(run: RunCommand) -> list[tuple[str, str | None]]:
    return [(option.name, option.value) for option in run.options]


# -- options ------------------------------------------------------------------------------------


@table(
    ("line", "options", "image", "command"),
    [
        ("docker run a b -c", [], "a", ["b", "-c"]),
        ("docker run --shm-size=8g a", [("--shm-size", "8g")], "a", []),
        ("docker run --shm-size 8g a", [("--shm-size", "8g")], "a", []),
        (
            "docker run -itd a",
            [("--interactive", None), ("--tty", None), ("--detach", None)],
            "a",
            [],
        ),
        (
            "docker run -itv a:b c",
            [("--interactive", None), ("--tty", None), ("--volume", "a:b")],
            "c",
            [],
        ),
        ("docker run -it=false a", [("--interactive", None), ("--tty", "false")], "a", []),
        ("docker run -p8080:80 a", [("--publish", "8080:80")], "a", []),
        ("docker run -e=A=1 -eB=2 -e C=3 a", [("--env", "A=1"), ("--env", "B=2"), ("--env", "C=3")], "a", []),
        ("docker run --privileged=true --init a", [("--privileged", "true"), ("--init", None)], "a", []),
        ("docker run -- a --rm", [], "a", ["--rm"]),
        ("docker run a -- b", [], "a", ["--", "b"]),
        ("docker run --net=host --dns-opt x a", [("--network", "host"), ("--dns-option", "x")], "a", []),
        ("docker run --shm-size=1g a --shm-size=2g", [("--shm-size", "1g")], "a", ["--shm-size=2g"]),
        (
            "docker run -h me -u 0 -w / a",
            [("--hostname", "me"), ("--user", "0"), ("--workdir", "/")],
            "a",
            [],
        ),
        ("docker run --entrypoint= a", [("--entrypoint", "")], "a", []),
        ("docker run -e '' a", [("--env", "")], "a", []),
        ("podman run --replace --tz local a", [("--replace", None), ("--tz", "local")], "a", []),
        ("podman run --userns=keep-id a", [("--userns", "keep-id")], "a", []),
    ],
)
def test_options(line: str, options: list[tuple[str, str | None]], image: str, command: list[str]) -> None:
    run = read(line)
    assert given_options(run) == options
    assert run.image is not None
    assert run.image.text == image
    assert [word.text for word in run.command] == command


@pytest.mark.parametrize(
    ("line", "because", "option"),
    [
        ("docker run --shm_size=8g a", "unknown flag: --shm_size", "--shm_size=8g"),
        ("docker run -gpus x a", "unknown shorthand flag: 'g' in -gpus", "-gpus"),
        ("docker run --replace a", "unknown flag: --replace", "--replace"),
        ("docker create -d a", "unknown shorthand flag: 'd' in -d", "-d"),
        ("docker run ---rm a", "bad flag syntax: ---rm", None),
        ("docker run --=x a", "bad flag syntax: --=x", None),
        ("docker run --$X a", "a placeholder", None),
    ],
)
def test_unknown_options(line: str, because: str, option: str | None) -> None:
    run = read(line)
    assert run.unknown is not None and run.unknown.because == because
    assert (run.unknown_option.text if run.unknown_option else None) == option
    assert run.image is None


@pytest.mark.parametrize("line", ["docker run", "docker run --rm", "docker run --shm-size", "docker run -it -v"])
def test_no_image(line: str) -> None:
    run = read(line)
    assert run.image is None and not run.unknown


@table(
    "line",
    [
        "docker run $OPTS a",
        "docker run --rm ${DOCKER_ARGS} a b",
        "docker run ${ARGS[@]} a",
        "docker run $@",
        "docker run $DOCKER_RUN_FLAGS",
        "docker run ... a",
        "docker run --gpus all $GPU_AND_MORE a/b:c",
        "docker run $X --rm a",
        "docker run --${KIND}=x a",
        "docker run -$FLAGS a",
        "podman run --newest a",
        "docker run --newest a",
    ],
)
def test_options_not_known(line: str) -> None:
    assert read(line).unknown


@table(
    ("line", "image"),
    [
        ("docker run --rm $IMAGE", "$IMAGE"),
        ("docker run --rm $IMAGE --model x", "$IMAGE"),
        ("docker run --rm ${IMAGE_NAME}:${TAG} python x.py", "${IMAGE_NAME}:${TAG}"),
        ("docker run --rm $PVNET_DOCKER", "$PVNET_DOCKER"), ("docker run --rm $REPORTER bash", "$REPORTER"),
        ("docker run --rm nvcr.io/$ORG/pytorch:$TAG python", "nvcr.io/$ORG/pytorch:$TAG"),
        ("docker run --rm $1 bash", "$1"),
        ("docker run --rm $NAME", "$NAME"),
        ("docker run --rm $SERVER --model x", "$SERVER"),
        ("docker run --rm <image> <command>", "<image>"),
        ("docker run --name $NAME -v $PWD:/w -e A=$B a", "a"),
    ],
)
def test_images_not_known_are_images(line: str, image: str) -> None:
    run = read(line)
    assert not run.unknown
    assert run.image is not None
    assert run.image.text == image


@table(
    ("line", "image"),
    [
        ("docker run --gpus all $X redis", None),
        ("docker run --gpus all $X trainer torchrun t.py", None),
        ("docker run --gpus all $X serve --tp 2", None),
        ("docker run --gpus all $X $Y redis", None),
        ("docker run --gpus all $X ubuntu:22.04 torchrun t.py", "ubuntu:22.04"),
        ("docker run --gpus all $X a/b torchrun t.py", "a/b"),
        ("docker run --gpus all $X bash", "$X"),
        ("docker run --gpus all $X torchrun t.py", "$X"),
        ("docker run --gpus all $X python3.11 t.py", "$X"),
        ("docker run --gpus all $X train.py", "$X"),
        ("docker run --gpus all $X /bin/train", "$X"),
        ("docker run --gpus all $X Train", "$X"),
        ("docker run --gpus all <x> redis", "<x>"),
        ("docker run --gpus all $IMAGE redis", "$IMAGE"),
    ],
)
def test_a_variable_before_what_may_be_an_image(line: str, image: str | None) -> None:
    """A variable that may be no word at all, options or the image leaves open what the word behind it is."""
    run = read(line)
    assert (run.image.text if run.image is not None else None) == image
    assert bool(run.unknown) == (image is None or image[0] not in "$<")
    assert [option.name for option in run.options] == ["--gpus"]
    assert image is not None or not run.command


def test_values_not_known() -> None:
    run = read("docker run --shm-size=$SIZE --gpus $GPUS -v $A:/dev/shm a")
    assert all(option.unknown for option in run.options)


# -- what holds ---------------------------------------------------------------------------------


def test_the_last_shm_size_and_ipc_win() -> None:
    run = read("docker run --shm-size 1g --ipc=host --shm-size=2g --ipc private a")
    shm, ipc = run.shm_size(), run.ipc()
    assert shm is not None
    assert ipc is not None
    assert (shm.value, shm.joined, ipc.value, ipc.joined) == ("2g", True, "private", False)


@table(
    ("line", "value"),
    [
        ("docker run --shm-size=1x --shm-size=2g a", "1x"),
        ("docker run --shm-size='1g --rm' --shm-size=2x a", "1g --rm"),
        ("docker run --shm-size=$S --shm-size=2g a", "2g"),
        ("podman run --shm-size=1x --shm-size=2g a", "2g"),  # read as a text, of which the last one counts
    ],
)
def test_the_client_refuses_any_size_that_it_cannot_read(line: str, value: str) -> None:
    size = read(line).shm_size()
    assert size is not None
    assert size.value == value


def test_gpus_add_up() -> None:
    run = read("docker run --gpus 1 --gpus '\"device=2,3\"' a")
    assert [(gpus.number, gpus.device_ids) for _, gpus in run.gpus()] == [(1, ()), (0, ("2", "3"))]


def test_mounts_that_decide() -> None:
    run = read(
        "docker run -v /dev/shm -v /dev:/dev/ -v /dev/shm/x:/x --tmpfs /dev/shm/:size=8gb "
        "--mount type=tmpfs,dst=//dev/shm,tmpfs-size=1.5gb -v c:/dev/shm:ro a"
    )
    assert [(mount.type, mount.source, mount.path, mount.size_text) for _, mount in run.shm_mounts()] == [
        ("volume", "", "/dev/shm", ""),
        ("bind", "/dev", "/dev", ""),
        ("tmpfs", "", "/dev/shm", "8gb"),
        ("tmpfs", "", "/dev/shm", "1.5gb"),
    ]


def test_environment() -> None:
    env = read("docker run -e A=1 -e A=2 -e HOST -e B=$C --env=D= a").env()
    assert {name: (setting.value, bool(setting.unknown)) for name, setting in env.items()} == {
        "A": ("2", False),
        "HOST": (None, True),
        "B": ("$C", True),
        "D": ("", False),
    }


def test_flags_and_names() -> None:
    run = read(
        "docker run --privileged=false --name n --ulimit memlock=-1 --ulimit stack=1:2 --net x --net y a"
    )
    assert run.privileged() is False
    assert run.flag("--rm") is False
    name, network = run.name(), run.network()
    assert name is not None
    assert network is not None
    assert (name.value, network.value) == ("n", "x")
    assert {kind: option.value for kind, option in run.ulimits().items()} == {
        "memlock": "memlock=-1",
        "stack": "stack=1:2",
    }


@pytest.mark.parametrize(
    ("written", "text", "value"),
    [
        ("--shm-size=8g", "--shm-size=8g", "8g"),
        ('--shm-size="8g"', "--shm-size=8g", "8g"),
        ('"--shm-size=8g"', "--shm-size=8g", "8g"),
        ("--shm-size=", "--shm-size=", ""),
        ("--shm-size=8\\g", "--shm-size=8g", None),
        ("$SHM", "--shm-size=8g", None),
        ('--shm-size=""', "--shm-size=", None),
    ],
)
def test_where_the_value_is(written: str, text: str, value: str | None) -> None:
    source = Source("x.sh", f"docker run {written} a")
    word = Word(text, Span(source, 11, 11 + len(written)))
    option = read_run([word, Word("a")]).options[0]
    assert (option.value_span.text if option.value_span else None) == value


# -- grammars of mounts -------------------------------------------------------------------------


@table(
    ("mount", "expected"),
    [
        (parse_volume("/dev/shm"), MountOption(target="/dev/shm")),
        (parse_volume("/a:/b:ro"), MountOption("bind", "/a", "/b")),
        (parse_volume("./a:/b"), MountOption("bind", "./a", "/b")),
        (parse_volume("~/a:/b"), MountOption("bind", "~/a", "/b")),
        (parse_volume("data:/b:rw,z"), MountOption("volume", "data", "/b")),
        (parse_volume("c:\\a:/b"), MountOption("bind", "c:\\a", "/b")),
        (parse_volume("a:/b"), MountOption(target="a:/b")),
        (parse_tmpfs("/dev/shm"), MountOption("tmpfs", "", "/dev/shm")),
        (parse_tmpfs("/x:rw,size=1g"), MountOption("tmpfs", "", "/x", size_text="1g", size_at=11)),
        (parse_mount("dst=/x"), MountOption("volume", "", "/x")),
        (parse_mount("type=bind,src=/a,target=/b,readonly"), MountOption("bind", "/a", "/b")),
        (
            parse_mount("Type=TMPFS,destination=/x,tmpfs-size=8gb"),
            MountOption("tmpfs", "", "/x", 8 << 30, "8gb", 37),
        ),
    ],
)
def test_mounts(mount: MountOption, expected: MountOption) -> None:
    assert mount == expected


def test_a_mount_size_is_found_in_its_value() -> None:
    value = 'type=tmpfs,"tmpfs-size=8g",dst=/dev/shm'
    at = parse_mount(value).size_at
    assert at is not None
    assert value[at : at + 2] == "8g"


# -- the option table ---------------------------------------------------------------------------


def _help(verb: str) -> dict[str, tuple[str | None, str]]:
    text = subprocess.run(["docker", verb, "--help"], capture_output=True, text=True, check=True).stdout
    rows = re.finditer(r"^ {2,6}(?:(-\w), )?(--[\w-]+)(?: (\w[\w-]*))?(?: {2,}|$)", text, re.M)
    return {row[2]: (row[1], row[3] or "bool") for row in rows}


@pytest.mark.docker_client
@pytest.mark.parametrize("verb", ["run", "create"])
def test_the_table_has_what_the_client_has(verb: str) -> None:
    said = {"int64": "int", "uint64": "uint"}
    known = flags("docker")
    for name, (short, kind) in _help(verb).items():
        # What this client calls a string may be an `ip` to a newer one; both take a value.
        assert said.get(known[name].type, known[name].type) == kind
        if short:
            assert known[short] == known[name]
        assert not (known[name].run_only and verb == "create")


@pytest.mark.docker_client
@pytest.mark.parametrize("alias", ["--net", "--net-alias", "--dns-opt"])
def test_the_client_takes_the_hidden_options(alias: str) -> None:
    assert "unknown flag" not in docker_create(["create", "--net=x", f"{alias}=y", "a"])[2]


# -- the client as judge ------------------------------------------------------------------------

# Values that options are tried with, sound and broken ones.
POOLS: dict[str, Any] = json.loads(Path(__file__).with_name("argv_values.json").read_text("utf-8"))
SIZES: list[str] = POOLS["sizes"]
PATHS: list[str] = POOLS["paths"]
IMAGES: list[str] = POOLS["images"]


@st.composite
def mount_values(draw: st.DrawFn) -> str:
    fields = draw(st.lists(st.sampled_from(POOLS["mount fields"]), max_size=3))
    for key, values in (
        (draw(st.sampled_from(["dst", "target", "destination", "TARGET", "dest"])), PATHS),
        (draw(st.sampled_from(["src", "source"])), PATHS),
        ("tmpfs-size", SIZES),
    ):
        if draw(st.booleans()):
            fields.append(f"{key}={draw(st.sampled_from(values))}")
    quoted = [
        f'"{field}"' if draw(st.integers(0, 9)) == 0 else field for field in draw(st.permutations(fields))
    ]
    return ",".join(quoted)


VOLUMES = st.one_of(
    st.sampled_from(PATHS),
    st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS)).map(":".join),
    st.tuples(
        st.sampled_from(PATHS), st.sampled_from(PATHS), st.sampled_from(["ro", "rw,z", "", "x", "ro:x"])
    ).map(":".join),
)
VALUES: dict[str, st.SearchStrategy[str]] = {
    **{option: st.sampled_from(values) for option, values in POOLS["by option"].items()},
    "--shm-size": st.sampled_from(SIZES),
    "--memory": st.sampled_from(SIZES),
    "--memory-swap": st.sampled_from([*SIZES, "-2"]),
    "--memory-reservation": st.sampled_from(SIZES),
    "--kernel-memory": st.sampled_from(SIZES),
    "--gpus": st.sampled_from(POOLS["gpus"]),
    "--mount": mount_values(),
    "--volume": VOLUMES,
    "--tmpfs": st.tuples(
        st.sampled_from(PATHS), st.sampled_from(["", ":", ":size=1g", ":rw,size=8gb", ":x"])
    ).map("".join),
}
BY_TYPE: dict[str, st.SearchStrategy[str]] = {
    kind: st.sampled_from(values) for kind, values in POOLS["by type"].items()
}

# They read or write the machine's files, ask another service, or are refused for the sake of
# the daemon's operating system.
LEFT_OUT = {
    "--cidfile",
    "--disable-content-trust",
    "--env-file",
    "--label-file",
    "--use-api-socket",
    "--cpu-count",
    "--cpu-percent",
    "--io-maxbandwidth",
    "--io-maxiops",
    "--detach-keys",
    "--dns-search",
    "--link-local-ip",
    "--ip",
    "--ip6",
    "--cap-drop",
}
ANY_TEXT = st.sampled_from(["x", "a=b", "", "-x", "a b", "--rm", "0"])
BOOLS = st.sampled_from(["true", "false", "1", "0", "T", "F", "yes", "", "TRUE", "tRUE"])


@st.composite
def option_words(draw: st.DrawFn, verb: str, sound: bool) -> list[str]:
    known = flags("docker")
    favoured = [
        "--shm-size",
        "--gpus",
        "--mount",
        "--volume",
        "--tmpfs",
        "--ipc",
        "--env",
        "--network",
        "--device",
    ]
    spellings = sorted(set(known) - LEFT_OUT - {"--help"})
    spelling = draw(st.one_of(st.sampled_from(favoured), st.sampled_from(spellings)))
    flag = known[spelling]
    if flag.type == "bool":
        form = draw(st.integers(0, 3))
        if form == 0:
            return [f"{spelling}={draw(st.sampled_from(['true', 'F']) if sound else BOOLS)}"]
        if form == 1:
            cluster = "".join(
                draw(st.lists(st.sampled_from("itdPq" if verb == "run" else "itPq"), min_size=1, max_size=4))
            )
            tails = ["", "", "=true"] if sound else ["e", "v", "x", "=", "h", "=no"]
            tail = draw(st.sampled_from(tails))
            return ["-" + cluster + tail]
        return [spelling]
    short = next((key for key, row in known.items() if row == flag and not key.startswith("--")), None)
    values = next(
        (
            rows[key]
            for rows, key in ((VALUES, spelling), (VALUES, flag.name), (BY_TYPE, flag.type))
            if key in rows
        ),
        ANY_TEXT,
    )
    value = draw(values)
    if short and draw(st.booleans()):
        cluster = "".join(draw(st.lists(st.sampled_from("itdP" if verb == "run" else "itP"), max_size=2)))
        joint = draw(st.sampled_from([None, "", "="]))
        head = f"-{cluster}{short[1]}"
        return [head, value] if joint is None else [head + joint + value]
    name = spelling if spelling.startswith("--") else flag.name
    return [f"{name}={value}"] if draw(st.booleans()) else [name, value]


@st.composite
def arguments(draw: st.DrawFn) -> list[str]:
    verb = draw(st.sampled_from(["run", "run", "run", "create"]))
    sound = draw(st.sampled_from([True, True, False]))
    groups = draw(st.lists(option_words(verb, sound), max_size=6))
    if draw(st.integers(0, 15)) == 0:
        groups.insert(draw(st.integers(0, len(groups))), draw(st.sampled_from(POOLS["odd words"])))
    images = ["alpine", "nvcr.io/nvidia/pytorch:24.01-py3"] if sound else IMAGES
    image = draw(st.sampled_from(images))
    tail = draw(st.sampled_from([[], ["sh"], ["-c", "x"], ["--shm-size=1g"], ["--", "a"], [""]]))
    with_image = [image, *tail] if draw(st.integers(0, 19)) else []
    return [verb, *(word for group in groups for word in group), *with_image]


def _bind(value: str, mount: MountOption) -> str:
    """The client makes relative sources absolute, which are those that begin with a point."""
    if mount.type == "bind" and value.startswith("."):
        source, _, rest = value.partition(":")
        return f"{os.path.normpath(f'{CWD}/{source}')}:{rest}"
    return value


CDI_NAME = re.compile(r"[\w.-]+/[\w.-]+=[\w.:-]+")


def our_answer(argv: list[str]) -> dict[str, Any]:
    """What is compared, as we read it."""
    found = [Word(text) for text in ["docker", *argv]]
    command = find_docker(found)
    assert command is not None
    run = read_run(found[command.start :], command.engine, command.verb)
    assert run.image is not None
    shm, ipc, memory = run.shm_size(), run.ipc(), run.memory()
    volumes = [(option.value or "", parse_volume(option.value or "")) for option in run.all("--volume")]
    cdi = [option.value for option in run.devices() if CDI_NAME.fullmatch(option.value or "")]
    requests: list[Any] = [
        [gpus.driver, gpus.number, list(gpus.device_ids), [list(gpus.capabilities)], dict(gpus.options)]
        for _, gpus in run.gpus()
    ]
    entrypoint, name = run.entrypoint(), run.last("--hostname")
    network = run.network()
    return {
        "image": run.image.text,
        "command": [word.text for word in run.command],
        "shm": parse_docker(shm.value or "") if shm else 0,
        "memory": parse_docker(memory.value or "") if memory else 0,
        "ipc": ipc.value if ipc else "",
        "gpus": requests + ([["cdi", 0, cdi, [], {}]] if cdi else []),
        "binds": sorted({_bind(value, mount) for value, mount in volumes if mount.source}),
        "volumes": sorted({value for value, mount in volumes if not mount.source}),
        "mounts": [
            [mount.type, _source(mount.source), mount.target, mount.size or 0]
            for mount in (parse_mount(option.value or "") for option in run.all("--mount"))
        ],
        "tmpfs": {key: rest for key, _, rest in (_cut(option.value) for option in run.all("--tmpfs"))},
        "privileged": bool(run.privileged()),
        "capabilities": sorted({_capability(option.value) for option in run.cap_add()}),
        "ulimits": _ulimits(run),
        "env": {key: setting.value for key, setting in run.env().items()},
        "entrypoint": [entrypoint.value] if entrypoint else [],
        "hostname": name.value if name else "",
        "tty": run.flag("--tty"),
        "runtime": (run.last("--runtime").value if run.runtime() else ""),  # type: ignore[union-attr]
        "network": (network.value or "") if network else "default",
    }


def _capability(value: str | None) -> str:
    name = (value or "").upper()
    return name if name == "ALL" or name.startswith("CAP_") else f"CAP_{name}"


def _cut(value: str | None) -> tuple[str, str, str]:
    return (value or "").partition(":")


def _source(source: str) -> str:
    return os.path.normpath(f"{CWD}/{source}") if source.startswith(".") else source


def _ulimits(run: RunCommand) -> dict[str, list[int]]:
    limits = {}
    for name, option in run.ulimits().items():
        numbers = [int(number) for number in (option.value or "").partition("=")[2].split(":")]
        limits[name] = [numbers[0], numbers[-1]]
    return limits


def client_answer(argv: list[str]) -> dict[str, Any] | None:
    _, body, _ = docker_create(argv)
    if body is None:
        return None
    host = body["HostConfig"]
    return {
        "image": body["Image"],
        "command": body["Cmd"] or [],
        "shm": host["ShmSize"],
        "memory": host["Memory"],
        "ipc": host["IpcMode"],
        "gpus": [
            [
                request["Driver"],
                request["Count"],
                request["DeviceIDs"] or [],
                request["Capabilities"] or [],
                request["Options"] or {},
            ]
            for request in host["DeviceRequests"] or []
        ],
        "binds": sorted(host["Binds"] or []),
        "volumes": sorted(body["Volumes"] or {}),
        "mounts": [
            [
                mount["Type"],
                mount.get("Source", ""),
                mount["Target"],
                mount.get("TmpfsOptions", {}).get("SizeBytes", 0),
            ]
            for mount in host.get("Mounts") or []
        ],
        "tmpfs": host.get("Tmpfs") or {},
        "privileged": host["Privileged"],
        "capabilities": sorted(host["CapAdd"] or []),
        "ulimits": {limit["Name"]: [limit["Soft"], limit["Hard"]] for limit in host["Ulimits"] or []},
        "env": {
            name: value if equals else None
            for name, equals, value in (entry.partition("=") for entry in body["Env"] or [])
        },
        "entrypoint": body["Entrypoint"] or [],
        "hostname": body["Hostname"],
        "tty": body["Tty"],
        "runtime": host.get("Runtime", ""),
        "network": host["NetworkMode"],
    }


@pytest.mark.docker_client
@settings(suppress_health_check=list(HealthCheck))
@given(arguments())
def test_the_client_agrees(argv: list[str]) -> None:
    theirs = client_answer(argv)
    assume(theirs is not None)
    assert our_answer(argv) == theirs


@pytest.mark.parametrize(("text", "value"), [("T", True), ("False", False), ("yes", None), ("", None)])
def test_truth_values(text: str, value: bool | None) -> None:
    assert go_bool(text) is value
