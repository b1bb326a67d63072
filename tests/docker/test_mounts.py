"""What mount options mount, as the docker client reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.docker.mounts import MountOption, clean, parse_mount, parse_tmpfs, parse_volume
from tests.oracles.docker_client import docker_create
from tests.table import table

G = 1 << 30

MOUNTS = [
    ("dst=/x", MountOption("volume", "", "/x")),
    ("type=volume,source=data,target=/x", MountOption("volume", "data", "/x")),
    ("type=bind,src=/a,destination=/x", MountOption("bind", "/a", "/x")),
    ("TYPE=BIND,SRC=/a,DST=/x", MountOption("bind", "/a", "/x")),
    ("type=bind,src=/a,dst=/x,readonly", MountOption("bind", "/a", "/x")),
    ("type=bind,src=/a,dst=/x,ro", MountOption("bind", "/a", "/x")),
    ("type=bind,src=/a,dst=/x,ro=true", MountOption("bind", "/a", "/x")),
    ("type=bind,src=/a,dst=/x,ro,readonly=false", MountOption("bind", "/a", "/x")),
    ("type=volume,dst=/x,volume-nocopy,volume-nocopy=0", MountOption("volume", "", "/x")),
    ("type=bind,src=/a,dst=/x,bind-nonrecursive,bind-propagation=rslave", MountOption("bind", "/a", "/x")),
    ("type=bind,src=/a,dst=/x,ro,bind-recursive=writable", MountOption("bind", "/a", "/x")),
    (
        "type=bind,src=/a,dst=/x,ro,bind-recursive=readonly,bind-propagation=rprivate",
        MountOption("bind", "/a", "/x"),
    ),
    # the last of a key counts
    ("dst=/x,dst=/y,type=bind,type=tmpfs", MountOption("tmpfs", "", "/y")),
    ("type=tmpfs,dst=/x,tmpfs-size=1g,tmpfs-mode=1777", MountOption("tmpfs", "", "/x", G, "1g", 29)),
    ("type=tmpfs,dst=/x,tmpfs-size=0", MountOption("tmpfs", "", "/x", 0, "0", 29)),
    # quoted fields hold commas; a size can be among them
    ('type=volume,"source=a,b",dst=/x', MountOption("volume", "a,b", "/x")),
    ('type=tmpfs,"tmpfs-size=1g",dst=/x', MountOption("tmpfs", "", "/x", G, "1g", 23)),
    ('type=tmpfs,dst=/x,"tmpfs-size=1gb"', MountOption("tmpfs", "", "/x", G, "1gb", 30)),
]

VOLUMES = [
    ("/dev/shm", MountOption(target="/dev/shm")),
    ("data", MountOption(target="data")),
    ("a", MountOption(target="a")),
    (":", MountOption(target=":")),
    ("/a:/x", MountOption("bind", "/a", "/x")),
    ("data:/x", MountOption("volume", "data", "/x")),
    (".:/x", MountOption("bind", ".", "/x")),
    ("../a:/x", MountOption("bind", "../a", "/x")),
    ("~:/x", MountOption("bind", "~", "/x")),
    ("\\\\.\\pipe\\a:/x", MountOption("bind", "\\\\.\\pipe\\a", "/x")),
    ("C:/a:/x", MountOption("bind", "C:/a", "/x")),
    ("/a:/x:ro", MountOption("bind", "/a", "/x")),
    ("/a:/x:z,ro", MountOption("bind", "/a", "/x")),
    ("/a:/x:ro,rw", MountOption("bind", "/a", "/x")),
    ("data:/x:nocopy", MountOption("volume", "data", "/x")),
    ("/a:c:d", MountOption("bind", "/a", "c:d")),
    ("é:/x", MountOption(target="é:/x")),  # any single letter is a drive
    ("éé:/x", MountOption("volume", "éé", "/x")),
]

TMPFS = [
    ("/dev/shm", MountOption("tmpfs", "", "/dev/shm")),
    ("/x:", MountOption("tmpfs", "", "/x")),
    ("/x:size=1g", MountOption("tmpfs", "", "/x", size_text="1g", size_at=8)),
    ("/x:rw,size=50%,mode=1777", MountOption("tmpfs", "", "/x", size_text="50%", size_at=11)),
    ("/x:ro", MountOption("tmpfs", "", "/x")),
    ("/x:ro,rw", MountOption("tmpfs", "", "/x")),
    ("/x:size=1g,size=2g", MountOption("tmpfs", "", "/x", size_text="2g", size_at=16)),
    ("/x:nr_inodes=1k,exec", MountOption("tmpfs", "", "/x")),
    ("/x:size=", MountOption("tmpfs", "", "/x", size_text="", size_at=8)),
    ("/x:size=1g:2", MountOption("tmpfs", "", "/x", size_text="1g:2", size_at=8)),
    ("", MountOption("tmpfs")),
]


@table(("value", "mount"), MOUNTS)
def test_mounts(value: str, mount: MountOption) -> None:
    assert parse_mount(value) == mount


@pytest.mark.docker_client
@table(("value", "mount"), MOUNTS)
def test_the_client_mounts_the_same(value: str, mount: MountOption) -> None:
    _, body, said = docker_create(["create", "--mount", value, "image"])
    assert body is not None, said
    (sent,) = body["HostConfig"]["Mounts"]
    assert mount == MountOption(
        sent["Type"],
        sent.get("Source", ""),
        sent["Target"],
        sent.get("TmpfsOptions", {}).get("SizeBytes", 0) if mount.size is not None else None,
        mount.size_text,
        mount.size_at,
    )


@table(("value", "mount"), VOLUMES)
def test_volumes(value: str, mount: MountOption) -> None:
    assert parse_volume(value) == mount


@pytest.mark.docker_client
@table(("value", "mount"), VOLUMES)
def test_the_client_tells_anonymous_volumes_apart(value: str, mount: MountOption) -> None:
    _, body, said = docker_create(["create", "--volume", value, "image"])
    assert body is not None, said
    assert (bool(body["HostConfig"]["Binds"]), list(body["Volumes"] or [])) == (
        bool(mount.source), [] if mount.source else [value],
    )  # fmt: skip


@table(("value", "mount"), TMPFS)
def test_tmpfs(value: str, mount: MountOption) -> None:
    assert parse_tmpfs(value) == mount


@table(
    ("path", "cleaned"),
    [
        ("/dev/shm", "/dev/shm"), ("/dev/shm/", "/dev/shm"), ("//dev//shm", "/dev/shm"), ("/dev/./shm", "/dev/shm"),
        ("/dev/x/../shm", "/dev/shm"), ("/../dev", "/dev"), ("/", "/"), ("///", "/"), ("dev/shm/", "dev/shm"),
        ("", "."), ("../x", "../x"),
    ],
)  # fmt: skip
def test_paths_are_cleaned_as_the_engine_does(path: str, cleaned: str) -> None:
    assert clean(path) == cleaned
    assert MountOption(target=path).path == cleaned


@given(st.text("abc:/.,=\"\\~ro size\n"))
def test_a_size_is_where_it_is_said_to_be(value: str) -> None:
    for text, mount in ((value, parse_tmpfs(value)), (value, parse_mount(value)), _with_size(value)):
        if mount.size_at is not None:
            assert text[mount.size_at :].startswith(mount.size_text)
    assert parse_volume(value).error or parse_volume(value).target


def _with_size(value: str) -> tuple[str, MountOption]:
    text = f"type=tmpfs,dst=/x,tmpfs-size=1g,{value}"
    return text, parse_mount(text)
