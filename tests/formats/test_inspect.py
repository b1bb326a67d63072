"""docker inspect and podman inspect: what is read, and that nothing else is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from shmlint.cli import program as cli
from shmlint.files.discover import discover
from shmlint.files.kinds import is_inspect
from shmlint.files.workspace import Workspace
from shmlint.fixing.plan import planned
from shmlint.formats import KINDS
from shmlint.formats.inspect import read
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.reports import inventory as inventory_report
from shmlint.reports import json as json_report
from shmlint.reports import text as text_report
from shmlint.run import Run, lint
from tests.table import table

MIB = 1024 * 1024
GIB = 1024 * MIB
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
ALL = [{"Driver": "", "Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]], "Options": {}}]


def container(
    name: str = "trainer", *, config: dict[str, Any] | None = None, mounts: list[dict[str, Any]] | None = None,
    more: dict[str, Any] | None = None, **host: Any,
) -> dict[str, Any]:  # fmt: skip
    """A container as the engine describes it, with what matters here."""
    return {
        "Id": name.encode().hex().ljust(64, "0"),
        "Path": "sleep",
        "Args": ["60"],
        "State": {"Status": "running", "Running": True},
        "Image": "sha256:" + "0" * 64,
        "Name": f"/{name}",
        "HostConfig": {
            "Binds": None, "NetworkMode": "bridge", "CapAdd": None, "IpcMode": "private", "Privileged": False,
            "ShmSize": 64 * MIB, "Runtime": "runc", "Memory": 0, "Devices": [], "DeviceRequests": None,
            "Ulimits": None, **host,
        },
        "Mounts": mounts or [],
        "Config": {
            "Hostname": name, "Env": ["PATH=/usr/bin"], "Cmd": ["sleep", "60"], "Image": "busybox:1",
            "Entrypoint": None, "Labels": {}, **(config or {}),
        },
        **(more or {}),
    }  # fmt: skip


def launches(*containers: Any, **settings: Any) -> list[Launch]:
    reading = read(["i.json"], Workspace({"i.json": json.dumps(list(containers))}), Settings(**settings))
    assert reading.problems == ()
    return list(reading.launches)


def launch(*arguments: Any, **host: Any) -> Launch:
    (found,) = launches(container(*arguments, **host))
    return found


def run(text: str, **settings: Any) -> Run:
    return lint({"inspect": ["i.json"]}, Settings(**settings), Workspace({"i.json": text}))


def rules(*containers: Any, **settings: Any) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in run(json.dumps(list(containers)), **settings).findings]


# What is read ------------------------------------------------------------------------------------


@table(
    ("host", "decided_by", "size"),
    [
        ({}, "default", 64 * MIB),
        ({"ShmSize": GIB}, "shm_size", GIB),
        ({"ShmSize": 0}, "default", 64 * MIB),
        ({"ShmSize": 65_536_000}, "shm_size", 65_536_000),  # Podman's default
        ({"IpcMode": ""}, "default", 64 * MIB),
        ({"IpcMode": "shareable", "ShmSize": GIB}, "shm_size", GIB),
        ({"IpcMode": "host"}, "host", None),
        ({"IpcMode": "none"}, "none", 0),
        ({"IpcMode": "container:elsewhere"}, "donor", None),
        ({"Tmpfs": {"/dev/shm": "size=2g"}}, "tmpfs", 2 * GIB),
        ({"Tmpfs": {"/dev/shm/": "mode=1777,size=1m,size=2m"}}, "tmpfs", 2 * MIB),
        ({"Tmpfs": {"/dev/shm": ""}}, "tmpfs", None),
        ({"Tmpfs": {"/tmp": "size=2g"}}, "default", 64 * MIB),
        ({"Mounts": [{"Type": "tmpfs", "Target": "/dev/shm", "TmpfsOptions": {"SizeBytes": GIB}}]}, "tmpfs", GIB),
        ({"Mounts": [{"Type": "tmpfs", "Target": "/dev/shm"}]}, "tmpfs", None),
        ({"Mounts": [{"Type": "bind", "Source": "/dev/shm", "Target": "/dev/shm"}]}, "bind", None),
        ({"Binds": ["/dev/shm:/dev/shm"]}, "bind", None),
        ({"Binds": ["/dev:/dev:rw"]}, "bind", None),
        ({"Binds": ["shm:/dev/shm"]}, "volume", None),
        ({"mounts": [{"Type": "volume", "Name": "x", "Source": "/v", "Destination": "/dev/shm"}]}, "volume", None),
        ({"mounts": [{"Type": "bind", "Source": "/data", "Destination": "/data"}]}, "default", 64 * MIB),
    ],
)  # fmt: skip
def test_effective_size(host: dict[str, Any], decided_by: str, size: int | None) -> None:
    effective = launch(**host).effective_shm()
    assert (effective.decided_by, effective.bytes) == (decided_by, size)


def test_the_daemons_default_is_no_size_of_its_own() -> None:
    assert launches(container(ShmSize=GIB), default_shm_size=GIB)[0].shm is None
    (found,) = launches(container(), default_shm_size=GIB)
    assert found.shm is not None and found.effective_shm(GIB).bytes == 64 * MIB


def request(**keys: Any) -> dict[str, Any]:
    return {"Driver": "", "Count": 0, "DeviceIDs": None, "Capabilities": [["gpu"]], "Options": {}, **keys}


def node(path: str) -> dict[str, str]:
    return {"PathOnHost": path, "PathInContainer": path, "CgroupPermissions": "rwm"}


@table(
    ("host", "environment", "requested", "count", "vendor"),
    [
        ({}, [], False, None, None),
        ({"DeviceRequests": ALL}, [], True, "all", "nvidia"),
        ({"DeviceRequests": [request(Count=2)]}, [], True, 2, "nvidia"),
        ({"DeviceRequests": [request(DeviceIDs=["0", "3"])]}, [], True, 2, "nvidia"),
        ({"DeviceRequests": [request()]}, [], False, None, None),
        ({"DeviceRequests": [request(Count=-1, Capabilities=[["compute", "utility"]])]}, [], True, "all", "nvidia"),
        ({"DeviceRequests": [request(Count=-1, Driver="nvidia", Capabilities=None)]}, [], True, "all", "nvidia"),
        ({"DeviceRequests": [request(Count=-1, Capabilities=[["tpu"]])]}, [], False, None, None),
        ({"DeviceRequests": [request(Driver="cdi", DeviceIDs=["nvidia.com/gpu=all"])]}, [], True, "all", "nvidia"),
        ({"DeviceRequests": [request(Driver="cdi", DeviceIDs=["vendor.com/nic=0"])]}, [], False, None, None),
        ({"Devices": [node("/dev/nvidia0"), node("/dev/nvidia1"), node("/dev/nvidiactl")]}, [], True, 2, "nvidia"),
        ({"Devices": [node("/dev/kfd"), node("/dev/dri/renderD128")]}, [], True, 1, "amd"),
        ({"Devices": [node("/dev/dri/renderD128")]}, [], False, None, None),
        ({"Runtime": "nvidia"}, ["NVIDIA_VISIBLE_DEVICES=all"], True, "all", "nvidia"),
        ({"Runtime": "nvidia"}, ["NVIDIA_VISIBLE_DEVICES=0,1"], True, 2, "nvidia"),
        ({"Runtime": "nvidia"}, ["NVIDIA_VISIBLE_DEVICES=void"], False, None, None),
        # The default runtime of a daemon: it hands in nothing to what does not ask.
        ({"Runtime": "nvidia"}, [], False, None, None),
        ({"Runtime": "nvidia"}, ["CUDA_VERSION=8.0"], True, "all", "nvidia"),
        ({"Runtime": "nvidia"}, ["CUDA_VERSION=12.3", "NVIDIA_REQUIRE_CUDA=cuda>=12.3"], False, None, None),
        # An image's own variable, and a runtime that does not read it.
        ({"Runtime": "runc"}, ["NVIDIA_VISIBLE_DEVICES=all"], False, None, None),
        ({"Runtime": "amd"}, ["AMD_VISIBLE_DEVICES=all"], True, "all", "amd"),
        ({"Runtime": "amd"}, [], None, None, None),
    ],
)  # fmt: skip
def test_gpus(
    host: dict[str, Any], environment: list[str], requested: bool | None, count: int | str | None, vendor: str | None
) -> None:
    gpu = launch(config={"Env": environment}, **host).gpu
    assert (gpu.requested, gpu.number, gpu.vendor) == (requested, count, vendor)


def test_podman_tells_its_cdi_devices_in_the_command() -> None:
    command = ["podman", "run", "--device", "nvidia.com/gpu=all", "--name", "trainer", "busybox:1", "sleep", "60"]
    found = launch(config={"CreateCommand": command}, ShmSize=65_536_000)
    assert found.gpu.requested and found.gpu.number == "all"
    plain = ["podman", "run", "-e", "NVIDIA_VISIBLE_DEVICES=all", "busybox:1"]
    assert launch(config={"CreateCommand": plain}).gpu.requested is False


def test_everything_else() -> None:
    found = launch(
        config={
            "Env": ["A=1", "A=2", "EMPTY=", "BROKEN"], "Cmd": ["torchrun", "train.py"], "Image": NGC,
            "Entrypoint": ["/opt/nvidia/nvidia_entrypoint.sh"],
            "Labels": {"com.docker.compose.service": "service-name"},
        },
        Memory=512 * MIB, CapAdd=["CAP_IPC_LOCK", "sys_nice"], Privileged=True, NetworkMode="host",
        Ulimits=[{"Name": "memlock", "Hard": -1, "Soft": -1}, {"Name": "nofile", "Hard": 2, "Soft": 1},
                 {"Name": "RLIMIT_STACK", "Hard": 9223372036854775807, "Soft": 67108864}],
        Devices=[node("/dev/infiniband")],
    )  # fmt: skip
    assert (found.kind, found.name, found.names) == ("docker-run", "trainer", ("trainer", "service-name"))
    assert found.image is not None and found.image.known == NGC
    assert found.command is not None and found.command.known == ("torchrun", "train.py")
    assert found.entrypoint is None  # it only prepares
    assert {name: value.known for name, value in found.environment.items()} == {"A": "2", "EMPTY": ""}
    assert all(value.private for value in found.environment.values())
    assert found.memory_limit is not None and found.memory_limit.known == 512 * MIB
    assert {name: value.known for name, value in found.ulimits.items()} == {
        "memlock": "-1", "nofile": "1:2", "stack": "67108864:-1",
    }  # fmt: skip
    assert (found.cap_add, found.privileged) == (("IPC_LOCK", "SYS_NICE"), True)
    assert [device.known for device in found.devices] == ["/dev/infiniband"]
    assert found.network is not None and found.network.known == "host"


@pytest.mark.parametrize(
    ("config", "more", "entrypoint", "command"),
    [
        ({"Entrypoint": ["vllm"], "Cmd": ["serve", "m"]}, {}, ("vllm",), ("serve", "m")),
        ({"Entrypoint": "vllm serve", "Cmd": None}, {}, ("vllm", "serve"), None),  # Podman 4
        ({"Entrypoint": None, "Cmd": None}, {}, None, None),
        ({}, {"Config": None}, None, ("sleep", "60")),
    ],
)
def test_commands(config: Any, more: Any, entrypoint: Any, command: Any) -> None:
    found = launch(config=config, more=more)
    assert (found.entrypoint.known if found.entrypoint else None) == entrypoint
    assert (found.command.known if found.command else None) == command


def test_an_image_by_its_digest_is_unknown() -> None:
    found = launch(config={"Image": "sha256:" + "1" * 64})
    assert found.image is not None and found.image.known is None and "digest" in str(found.image.value)
    podman = launch(config={"Image": "sha256:" + "1" * 64}, more={"ImageName": NGC})
    assert podman.image is not None and podman.image.known == NGC


def test_positions() -> None:
    text = json.dumps([container(DeviceRequests=ALL, ShmSize=128 * MIB, IpcMode="shareable")], indent=4)
    (found,) = read(["i.json"], Workspace({"i.json": text}), Settings()).launches
    lines = text.splitlines()
    assert found.span.text == '"Name": "/trainer"' and '"Name": "/trainer"' in lines[found.span.line - 1]
    assert found.shm is not None and found.shm.span.text == f'"ShmSize": {128 * MIB}'
    assert found.ipc is not None and found.ipc.span.text == '"IpcMode": "shareable"'
    assert found.image is not None and found.image.span.text == '"Image": "busybox:1"'
    assert found.environment["PATH"].span.text == '"PATH=/usr/bin"'
    assert found.gpu.evidence[0].path == "HostConfig.DeviceRequests[0]"
    assert found.gpu.evidence[0].span.text.startswith('"DeviceRequests": [')


# Who shares whose --------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["Id", "short", "name"])
def test_a_donor_is_found(wanted: str) -> None:
    donor = container("donor", IpcMode="shareable", ShmSize=2 * GIB)
    name = {"Id": donor["Id"], "short": donor["Id"][:9], "name": "donor"}[wanted]
    _, joins = launches(donor, container("joins", IpcMode=f"container:{name}"))
    effective = joins.effective_shm()
    assert (effective.decided_by, effective.bytes) == ("donor", 2 * GIB)


@pytest.mark.parametrize(
    ("containers", "index"),
    [
        ([container("a", IpcMode="container:a")], 0),
        ([container("a", IpcMode="container:b"), container("b", IpcMode="container:a")], 0),
        ([container("a", IpcMode="container:6")], 0),
        ([container("a"), container("b"), container("c", IpcMode="container:6")], 2),  # two begin with it
        ([container("a", IpcMode="container:")], 0),
    ],
)
def test_a_donor_that_is_not_to_be_known(containers: list[Any], index: int) -> None:
    assert launches(*containers)[index].effective_shm().bytes is None


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, []),  # it runs, so it was let in
        ({"State": {"Running": False}, "OCIRuntime": "crun"}, []),  # Podman's private is shared
        ({"State": {"Running": False}}, [("SHM211", "error")]),
    ],
)
def test_a_donor_that_keeps_to_itself(more: dict[str, Any], found: list[tuple[str, str]]) -> None:
    joins = container("joins", IpcMode="container:donor", more=more)
    assert rules(container("donor"), joins, select=("SHM211",)) == found


# What is found -----------------------------------------------------------------------------------

NGC_CONFIG = {"Image": NGC, "Cmd": ["torchrun", "--nproc_per_node=8", "train.py"]}


def test_the_rules_work_as_they_are() -> None:
    assert rules(container(DeviceRequests=ALL, config=NGC_CONFIG)) == [("SHM101", "error")]
    assert rules(container(DeviceRequests=ALL, ShmSize=128 * MIB, config=NGC_CONFIG)) == [("SHM102", "warning")]
    assert rules(container(DeviceRequests=ALL, config={"Cmd": ["/opt/app/run"]})) == [("SHM101", "note")]
    assert rules(container(DeviceRequests=ALL, ShmSize=32 * GIB, config=NGC_CONFIG)) == []
    assert rules(container(DeviceRequests=ALL, IpcMode="host", config=NGC_CONFIG)) == []
    assert rules(container(DeviceRequests=ALL, config={"Image": "ollama/ollama", "Cmd": ["serve"]})) == []


@table(
    "host",
    [{}, {"ShmSize": 128 * MIB}, {"ShmSize": 65_536_000}, {"IpcMode": "host"}, {"IpcMode": "none"},
     {"Memory": 32 * MIB}, {"Binds": ["/dev/shm:/dev/shm"]}, {"Tmpfs": {"/dev/shm": "size=1m"}},
     {"Devices": [node("/dev/dri/renderD128")]}, {"Runtime": "nvidia"}],
)  # fmt: skip
def test_no_alarm_without_a_gpu(host: dict[str, Any]) -> None:
    assert rules(container(**host)) == []


@table(
    ("labels", "more", "advice"),
    [
        ({}, {}, "docker run --shm-size=8g"),
        ({}, {"OCIRuntime": "crun"}, "podman run --shm-size=8g"),
        ({"com.docker.compose.service": "a", "com.docker.compose.project.config_files": "/srv/compose.yaml"}, {},
         "set `shm_size: 8g` for service `a` in /srv/compose.yaml"),
        ({"com.docker.swarm.service.name": "s_a"}, {},
         "docker service update --mount-add type=tmpfs,dst=/dev/shm,tmpfs-size=8g s_a"),
    ],
)  # fmt: skip
@table("size", [64 * MIB, 128 * MIB])
def test_what_to_type(labels: dict[str, str], more: dict[str, Any], advice: str, size: int) -> None:
    given = container(DeviceRequests=ALL, ShmSize=size, config={**NGC_CONFIG, "Labels": labels}, more=more)
    (finding,) = run(json.dumps([given])).findings
    assert planned(finding) is None and advice in finding.advice


# What is shown -----------------------------------------------------------------------------------

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize("indent", [None, 4])
def test_secrets_are_not_shown(indent: int | None) -> None:
    """Also not where everything is in one line, right next to what is marked."""
    environment = [f"PASSWORD={SECRET}", f"WORLD_SIZE={SECRET}", f"NUM_SHARD={SECRET}"]
    given = [
        container(name, DeviceRequests=ALL, ShmSize=size, config={"Env": environment, "Image": NGC, "Labels": {
            "token": SECRET}, "Cmd": ["torchrun", "--nproc_per_node=2", "train.py"]}, more={"Args": [SECRET]})
        for name, size in (("a", 64 * MIB), ("b", 128 * MIB))
    ]  # fmt: skip
    text = json.dumps(given, indent=indent)
    done = run(text)
    shown = [*text_report.render(done, done.findings, text_report.Style(verbose=True)), *inventory_report.table(done)]
    shown += [json_report.render(done, done.findings), json_report.inventory(done)]
    assert len(done.findings) >= 2
    assert SECRET not in "\n".join(shown)
    assert max(map(len, shown[:-2])) < 400


@pytest.mark.parametrize("form", ["github", "sarif", "gitlab", "rdjson", "junit", "checkstyle"])
def test_secrets_are_in_no_format(form: str) -> None:
    given = [container(DeviceRequests=ALL, config={**NGC_CONFIG, "Env": [f"PASSWORD={SECRET}"]})]
    result = CliRunner().invoke(cli.program, ["--format", form, "-"], input=json.dumps(given))
    assert result.exit_code == 1 and "SHM101" in result.output and SECRET not in result.output


@table("cut", [0.2, 0.5, 0.9, 0.999])
@table("indent", [None, 4])
def test_broken_json_is_one_clear_line(cut: float, indent: int | None) -> None:
    given = [container(str(n), DeviceRequests=ALL, config={"Env": [f"PASSWORD={SECRET}"]}) for n in range(3)]
    text = json.dumps(given, indent=indent)
    done = run(text[: int(len(text) * cut)])
    (finding,) = done.findings
    assert finding.rule == "SHM001" and finding.message.startswith("not valid JSON: ")
    assert not done.launches
    assert SECRET not in "\n".join(text_report.render(done, done.findings))


@table(
    ("text", "launched", "problem"),
    [
        ("[]", 0, ""),
        ("", 0, "expecting value"),
        ("[1]", 0, "expected an object, found number"),
        ('"x"', 0, "expected an object, found string"),
        ('[{"Name": "net", "Driver": "bridge"}]', 0, ""),  # docker inspect of a network
        ('[{"RepoTags": [], "Config": {}}]', 0, ""),  # of an image
        ('{"HostConfig": {}}', 1, ""),
        ('\ufeff[{"HostConfig": {}, "Config": {}}]', 1, ""),
        ('[{"HostConfig": {"DeviceRequests": 3, "Mounts": "x", "Tmpfs": [], "Ulimits": [1, {}]}, "Config": 7}]', 1, ""),
        ('[{"HostConfig": {"ShmSize": 1e9, "Memory": "x", "IpcMode": 3}, "Config": {"Env": [1, {}], "Cmd": {}}}]', 1,
         ""),
        ("[" * 100_000, 0, "not valid JSON"),
        ('[{"HostConfig": {}},]', 1, ""),
        (' \n{"HostConfig": {}}\n{"HostConfig": {}}\n', 2, ""),  # --format '{{json .}}'
        ('[{"HostConfig": {}}]\n[{"HostConfig": {}}, {"HostConfig": {}}]', 3, ""),  # one call for each
        ('{"HostConfig": {}}\n{"HostConfig": {}', 0, "expecting ',' delimiter; it seems to be cut off"),
        ('{"HostConfig": {}}\n{"HostConfig": x}\n', 0, "expecting value"),
        ('{"HostConfig": {}}\n7\n', 0, "expected an object, found number"),
    ],
)  # fmt: skip
def test_strange_texts(text: str, launched: int, problem: str) -> None:
    reading = read(["i.json"], Workspace({"i.json": text}), Settings())
    assert len(reading.launches) == launched
    assert [problem in found.message for found in reading.problems] == ([True] if problem else [])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
HOST_KEYS = ["ShmSize", "IpcMode", "DeviceRequests", "Devices", "Tmpfs", "Binds", "Mounts", "Memory", "Ulimits",
             "CapAdd", "Privileged", "NetworkMode", "Runtime"]  # fmt: skip
CONFIG_KEYS = ["Env", "Cmd", "Entrypoint", "Image", "Labels", "CreateCommand"]


@given(
    st.dictionaries(st.sampled_from(HOST_KEYS), VALUES), st.dictionaries(st.sampled_from(CONFIG_KEYS), VALUES),
    st.dictionaries(st.sampled_from(["Id", "Name", "Mounts", "Path", "Args", "ImageName"]), VALUES),
)  # fmt: skip
def test_any_value_anywhere_is_survived(host: dict[str, Any], config: dict[str, Any], more: dict[str, Any]) -> None:
    done = run(json.dumps([{"HostConfig": host, "Config": config, **more}, container(DeviceRequests=ALL)]))
    assert len(done.launches) == 2 and done.launches[1].gpu.requested
    assert list(text_report.render(done, done.findings))


# How it gets here --------------------------------------------------------------------------------

INSPECTED = json.dumps([container(DeviceRequests=ALL, config=NGC_CONFIG)], indent=4)


def test_standard_input_is_recognised() -> None:
    result = CliRunner().invoke(cli.program, ["-"], input=INSPECTED)
    assert result.exit_code == 1 and result.output.startswith("inspect.json:")
    assert "container `trainer` gets 64 MiB" in result.output
    named = CliRunner().invoke(cli.program, ["--stdin-filename", "out.txt", "-"], input=INSPECTED)
    assert named.output.startswith("out.txt:") and "SHM101" in named.output
    none = CliRunner().invoke(cli.program, ["-"], input="[]\n")
    assert none.exit_code == 0
    assert none.output == "no container requests a GPU; read 1 inspect file: 0 launches, 0 with a GPU\n"
    other = CliRunner().invoke(cli.program, ["-"], input="services:\n  a:\n    image: x\n")
    assert other.output == "no container requests a GPU; read 1 Compose file: 1 launch, 0 with a GPU\n"


@pytest.mark.parametrize("name", ["inspect.json", "out.txt", "containers"])
def test_a_file_that_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(INSPECTED)
    before = Path(name).read_bytes()
    result = CliRunner().invoke(cli.program, ["--fix", name])
    assert result.exit_code == 1 and "SHM101" in result.output and Path(name).read_bytes() == before
    assert [found.kind for found in discover([name], kinds=KINDS)] == ["inspect"]  # type: ignore[union-attr]
    assert list(discover(["."], kinds=KINDS)) == []  # a scan does not open it


def test_comments_are_not_looked_for() -> None:
    given = container(DeviceRequests=ALL, config={**NGC_CONFIG, "Labels": {"x": "# shmlint: ignore-file"}})
    assert rules(given) == [("SHM101", "error")]
    assert rules(container(config={"Labels": {"x": "# shmlint: ignore"}})) == []


def test_no_comment_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("i.json").write_text(INSPECTED)
    result = CliRunner().invoke(cli.program, ["--add-ignore", "known", "i.json"])
    assert "no comment was added" in result.output and Path("i.json").read_text() == INSPECTED


def test_a_baseline_knows_containers_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("i.json").write_text(INSPECTED)
    baseline = ["--baseline", "known.json"]
    assert CliRunner().invoke(cli.program, [*baseline, "--update-baseline", "i.json"]).exit_code == 0
    Path("i.json").write_text(INSPECTED.replace("PATH=/usr/bin", "PATH=/bin"))
    assert CliRunner().invoke(cli.program, [*baseline, "i.json"]).exit_code == 0
    Path("i.json").write_text(INSPECTED.replace("/trainer", "/other"))
    assert CliRunner().invoke(cli.program, [*baseline, "i.json"]).exit_code == 1


@table(
    ("content", "tells"),
    [
        (b'[{"HostConfig": {}}]', True),
        (b'\xef\xbb\xbf \n{"HostConfig": {}}', True),
        (b"[]", True),
        (b" [ ]\n", True),
        (b"", False),
        (b"services:\n  a: {image: '\"HostConfig\"'}\n", False),
        (b'{"services": {"a": {"image": "x"}}}', False),
        (b'[{"Name": "bridge"}]', False),
    ],
)
def test_content(content: bytes, tells: bool) -> None:
    assert is_inspect(content) is tells
