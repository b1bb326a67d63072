"""The options of a command line, as values."""

from __future__ import annotations

import pytest

from shmlint.model.launch import Unknown
from tests.formats.shell.commands import GIB, MIB, NEEDY, known, one
from tests.table import table


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


def test_zero_is_no_limit_to_podman() -> None:
    effective = one("podman run --shm-size=0 img").effective_shm()
    assert (effective.decided_by, effective.bytes) == ("unknown", None)
    assert one("podman run --shm-size=1g img").effective_shm().bytes == GIB


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


def test_a_pod_shares_its_shm() -> None:
    assert one(f"podman run --pod p --gpus all {NEEDY}\n").effective_shm(0).decided_by == "unknown"


def test_a_size_of_a_mount_that_docker_refuses() -> None:
    (mount,) = one(f"docker run --mount type=tmpfs,dst=/dev/shm,tmpfs-size=8Gi {NEEDY}\n").mounts
    assert mount.size_error and mount.size_span is not None and mount.size_span.text == "8Gi"


@table(
    ("value", "error"),
    [
        ("type=tmpfs,dst=/dev/shm,size=8g", "unexpected key 'size' in 'size=8g'"),
        ("type=tmpfs,dst=/dev/shm,foo", "invalid field 'foo' must be a key=value pair"),
        ("dst=/dev/shm,type=tmpfs,tmpfs-mode=0999", "invalid value for tmpfs-mode: 0999"),
    ],
)
def test_a_mount_that_docker_refuses(value: str, error: str) -> None:
    launch = one(f"docker run --mount {value} {NEEDY}\n")
    assert [mount.size_error for mount in launch.mounts] == [error]


def test_a_type_of_mounts_that_docker_does_not_know() -> None:
    effective = one(f"docker run --mount type=tmp,dst=/dev/shm {NEEDY}\n").effective_shm(0)
    assert (effective.bytes, effective.because) == (None, "Docker has no mount type `tmp`")


@table(("engine", "image"), [("podman", "r.io/a/b:1"), ("docker", None)])
def test_podman_takes_a_transport_in_front_of_an_image(engine: str, image: str | None) -> None:
    assert known(one(f"{engine} run --gpus all docker://r.io/a/b:1 serve\n").image) == image
