"""Which option values the docker client takes and which it refuses: its answers, written down.

``data/option_values.json`` and the tables here hold what the 28.2 client was seen to do; where there is
a client, it is asked again.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from shmlint.docker.option_values import cdi_device, check_image, network_name
from shmlint.docker.run_options import find_docker, read_run
from shmlint.syntax.word import Word
from tests.oracles.docker_client import docker_create, has_docker

ANSWERS: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("data").joinpath("option_values.json").read_text(encoding="utf-8")
)

TOGETHER = [
    # taken
    ("--rm --restart=no", True),
    ("--rm --restart=", True),
    ("--rm=false --restart=always", True),
    ("--restart=always --restart=no --rm", True),
    ("--no-healthcheck", True),
    ("--no-healthcheck=false --health-cmd=x", True),
    ("--no-healthcheck --health-cmd=", True),
    ("--no-healthcheck --health-interval=0s --health-retries=0", True),
    ("--log-driver=none", True),
    ("--log-driver=json-file --log-opt=a=b", True),
    ("--network=mine --network-alias=a", True),
    ("--network=mine --network=other", True),
    ("--network=mine --link-local-ip=169.254.1.1", True),
    ("--network=host --link-local-ip=169.254.1.1", True),
    ("--network=name=mine,alias=a", True),
    ("--network=alias=a,name=mine,alias=b", True),
    ("--detach=false --attach=stdin", True),
    ("--attach=stdin", True),
    ("--network=name=mine --network-alias=a", True),
    ("--pid=host --pid=", True),
    ("--pull=x --pull=always", True),
    ("--health-interval=-1s --health-interval=1s", True),
    ("--health-interval=-0s", True),
    # refused
    ("--detach --attach=stdin", False),
    ("--attach=stdout -d", False),
    ("--rm --restart=always", False),
    ("--rm --restart=on-failure:3", False),
    ("--no-healthcheck --health-cmd=x", False),
    ("--no-healthcheck --health-retries=1", False),
    ("--log-driver=none --log-opt=a=b", False),
    ("--network-alias=a", False),
    ("--network=host --network-alias=a", False),
    ("--network=container:x --network-alias=a", False),
    ("--network=name=mine,alias=a --network-alias=b", False),
    ("--network=mine --network=mine", False),
    ("--network=mine --network=name=mine", False),
    ("--network=mine --network=host", False),
    ("--network=host --network=mine", False),
    ("--network=", False),
    ("--pid=host --pid=x", False),
    ("--health-interval=1s --health-interval=-1s", False),
    ("--health-timeout=-1ms", False),
    ("--health-start-period=-1h", False),
]

IMAGES = [
    ("alpine", True),
    ("localhost/x", True),
    ("localhost:5000/x:y", True),
    ("Registry.io/x", True),
    ("a" * 200, True),
    ("x/" + "a" * 253, True),
    ("0" * 64, True),
    ("sha256:" + "0" * 64, True),
    ("a@sha256:" + "0" * 64, True),
    ("a:b@sha256:" + "0" * 64, True),
    ("docker.io/x", True),
    ("index.docker.io/x/y", True),
    ("x/" + "a" * 254, False),
    ("a" * 256, False),
    ("a@sha256:" + "0" * 63, False),
    ("a@sha256:" + "g" * 64, False),
    ("a@md5:" + "0" * 32, False),
    ("a@sha256:" + "A" * 64, False),
    ("a:" + "b" * 129, False),
    ("a:b c", False),
    ("Upper", False),
    ("x/Upper:y", False),
    ("a:Upper", True),
    ("", False),
    (":tag", False),
    ("a/", False),
]


def refusal(words: list[str], verb: str = "create") -> str:
    """Why a ``docker run`` or ``create`` is refused, or nothing."""
    found = [Word(text) for text in ["docker", verb, *words]]
    command = find_docker(found)
    assert command is not None
    return read_run(found[command.index :], command.engine, command.verb).error


@pytest.mark.parametrize("option", ANSWERS)
def test_single_values(option: str) -> None:
    said = {value: refusal([f"{option}={value}", "image"]) for way in ANSWERS[option].values() for value in way}
    assert [value for value, why in said.items() if not why] == ANSWERS[option]["taken"]
    assert all(len(why) < 250 and "\n" not in why.replace(value, "") for value, why in said.items())


@pytest.mark.docker_client
@pytest.mark.skipif(not has_docker(), reason="docker is not on PATH")
@pytest.mark.parametrize("option", ANSWERS)
def test_the_client_says_so_of_single_values(option: str) -> None:
    for way, values in ANSWERS[option].items():
        for value in values:
            _, body, said = docker_create(["create", f"{option}={value}", "image"])
            assert (body is not None) == (way == "taken"), f"{value!r}: {said}"


@pytest.mark.parametrize(("line", "taken"), TOGETHER)
def test_options_together(line: str, taken: bool) -> None:
    assert (not refusal([*shlex.split(line), "image"], "run")) == taken


@pytest.mark.docker_client
@pytest.mark.skipif(not has_docker(), reason="docker is not on PATH")
@pytest.mark.parametrize(("line", "taken"), TOGETHER)
def test_the_client_says_so_of_options_together(line: str, taken: bool) -> None:
    _, body, said = docker_create(["run", *shlex.split(line), "image"])
    assert (body is not None) == taken, said


@pytest.mark.parametrize(("image", "taken"), IMAGES)
def test_images(image: str, taken: bool) -> None:
    assert (not check_image(image)) == taken


@pytest.mark.docker_client
@pytest.mark.skipif(not has_docker(), reason="docker is not on PATH")
@pytest.mark.parametrize(("image", "taken"), IMAGES)
def test_the_client_says_so_of_images(image: str, taken: bool) -> None:
    _, body, said = docker_create(["create", "--", image])
    assert (body is not None) == taken, said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--shm-size=8Gi", "invalid size: '8Gi'"),
        ("--ulimit=stack=9:1", "soft limit must be less than or equal to hard limit: 9 > 1"),
        ("--ulimit=stack=1:2:3", "can only have up to two"),
        ("--ulimit=stak=1", "invalid ulimit type: stak"),
        ("--ulimit=stack=99999999999999999999", "out of range"),
        ("--cpus=1/3", "too precise"),
        ("--cpus=one", "failed to parse one as a rational number"),
        ("--device=dev", "dev is not an absolute path"),
        ("--device=/a:/b:x", "bad mode specified: x"),
        ("--publish=x:80", "invalid hostPort: x"),
        ("--publish=80:x", "invalid containerPort: x"),
        ("--publish=1.2.3:80:80", "invalid IP address: 1.2.3"),
        ("--publish=1-3:1-2", "invalid ranges"),
        ("--publish=80:", "no port specified"),
        ("--sysctl=vm.swappiness=1", "'vm.swappiness=1' is not allowed"),
        ("--restart=on-failure:x", "maximum retry count must be an integer"),
        ("--restart=:3", "no policy provided before colon"),
        ("--memory-swappiness=101", "range is 0-100"),
        ("--network=name=n,x=y", "invalid field key x"),
        ("--network=name=n,bogus", "invalid field bogus"),
        ("--network=alias=a", "network name/id is not specified"),
        ("--env==x", "invalid environment variable: =x"),
        ("--label=a b=c", "contains whitespaces"),
        ("--pull=Always", "none of always, missing, never"),
        ("--mount=type=tmpfs,dst=/x,size=1g", "unexpected key 'size' in 'size=1g'"),
        ("--mount=type=bind,src=/a,dst=/b,tmpfs-size=1g", "cannot mix 'tmpfs-*' options with mount type 'bind'"),
        ("--mount=type=bind,src=/a,dst=/b,bind-recursive=writable", "requires 'readonly'"),
        ("--mount=type=bind,src=/a,dst=/b,bind-recursive=readonly,ro", "requires 'bind-propagation=rprivate'"),
        ("--volume=/a::/b", "empty section between colons"),
        ("--volume=/a:/b:ro:rw", "too many colons"),
        ("--network=mine --network=mine", 'network "mine" is specified multiple times'),
        ("--network=host --network=mine", "both user-defined and non-user-defined"),
    ],
)
def test_says_why(line: str, words: str) -> None:
    assert words in refusal([*re.split(r" (?=--)", line), "image"])


@pytest.mark.parametrize(
    ("value", "cdi"),
    [
        ("nvidia.com/gpu=all", True),
        ("nvidia.com/gpu=0", True),
        ("amd.com/gpu=GPU-1:2.3", True),
        ("a/b=c", True),
        ("nvidia.com/gpu=", False),
        ("nvidia.com/gpu", False),
        ("/dev/nvidia0", False),
        ("1nvidia.com/gpu=0", False),
        ("nvidia.com-/gpu=0", False),
        ("nvidia.com/gpu=-1", False),
        ("a/b/c=d", False),
        ("nvidia.com/gpu=ä", False),
    ],
)
def test_names_of_the_container_device_interface(value: str, cdi: bool) -> None:
    assert cdi_device(value) is cdi


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("mine", "mine"), ("host", "host"), ("name=mine", "mine"), ("name=mine,alias=a", "mine"),
        ("alias=a,name=mine", "mine"), ("name=a,name=b", "b"), ("alias=a", ""), ("=", "="),
    ],
)  # fmt: skip
def test_the_network_that_is_named(value: str, name: str) -> None:
    assert network_name(value) == name
