"""Stack files: which are taken for one, what is dropped in them, and what fixing writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shmlint.fixing.plan import planned
from shmlint.formats.compose.stack import DEPLOY_KEYS, SERVICE_KEYS, TOP_KEYS, is_named_a_stack
from tests.oracles.stack import stack_config
from tests.project import findings, fixed, run
from tests.table import table

NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
GENERIC = "{generic_resources: [{discrete_resource_spec: {kind: NVIDIA-GPU, value: 8}}]}"
GPU = f"deploy: {{resources: {{reservations: {GENERIC}}}}}"
HEAD = 'version: "3.8"\n'


def stack(*lines: str, gpu: str = GPU, image: str = f"image: {NGC}", head: str = HEAD) -> str:
    body = [line for line in (image, gpu, *lines) if line]
    return f"{head}services:\n  x:\n" + "".join(f"    {line}\n" for line in body)


@table(
    ("name", "expected"),
    [
        ("docker-stack.yml", True), ("docker-stack.prod.yml", True), ("dockerstack.yaml", True), ("stack.yml", True),
        ("stack.prod.yaml", True), ("stack-gpu.yml", True), ("docker-compose.stack.yml", True),
        ("docker-compose-stack.yml", True), ("compose.stack.prod.yaml", True), ("docker-compose.swarm.yml", True),
        ("swarm.yml", True), ("docker-swarm-gpu.yaml", True), ("deploy/docker-stack.yml", True),
        ("full-stack.yml", False), ("docker-compose.full-stack.yml", False), ("stackdriver.yml", False),
        ("openstack.yaml", False), ("docker-compose.yml", False), ("compose.yaml", False),
        ("docker-compose.elk-stack.yml", False), ("stack/compose.yaml", False), ("haystack.yml", False),
        ("swarmui.yml", False), ("docker-compose-stacks.yml", False),
    ],
)  # fmt: skip
def test_names(name: str, expected: bool) -> None:
    assert is_named_a_stack(name) is expected


PLACED = "deploy: {placement: {constraints: [node.labels.gpu == true]}}"

TAKEN: dict[str, tuple[str, str, str]] = {
    "by name": ("docker-stack.yml", stack(gpu=""), "docker-stack.yml has the name of a stack file"),
    "no version": ("stack.yml", stack(gpu="", head=""), "stack.yml has the name of a stack file"),
    "a reservation": ("compose.yaml", stack(),
                      "`deploy.resources.reservations.generic_resources` is used by a swarm only"),
    "a placement": ("compose.yaml", stack(gpu=PLACED), "`deploy.placement` is used by a swarm only"),
    "an endpoint": ("compose.yaml", stack(gpu="deploy: {endpoint_mode: dnsrr}"),
                    "`deploy.endpoint_mode` is used by a swarm only"),
    "on every node": ("compose.yaml", stack(gpu="deploy: {mode: global}"),
                      "`deploy.mode: global` is used by a swarm only"),
    "what Compose reads too": ("compose.yaml", stack(gpu="deploy: {mode: replicated, replicas: 2}"), ""),
    "what people copy": ("compose.yaml", stack(gpu="deploy: {update_config: {order: start-first}}"), ""),
    "nothing": ("compose.yaml", stack(gpu=""), ""),
    "built": ("compose.yaml", stack("build: .", gpu=PLACED), ""),
    "named": ("compose.yaml", stack("container_name: x", gpu=PLACED), ""),
    "restarted": ("compose.yaml", stack("restart: always", gpu=PLACED), ""),
    "devices": ("compose.yaml", stack("devices: [/dev/nvidia0]", gpu=PLACED), ""),
    "named, gpus": ("docker-stack.yml", stack("gpus: all"), ""),
    "named, runtime": ("docker-stack.yml", stack("runtime: nvidia", gpu=PLACED), ""),
    "named, reservation": (
        "docker-stack.yml",
        stack(gpu="deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}"), "",
    ),
    "named, profile": ("docker-stack.yml", stack("profiles: [a]"), ""),
    "named, no image": ("docker-stack.yml", stack(image="build: ."), ""),
    "named, version 2": ("docker-stack.yml", stack(head='version: "2.4"\n'), ""),
    "named, version a number": ("docker-stack.yml", stack(head="version: 3.8\n"), ""),
    "named, include": ("docker-stack.yml", stack(head="include: []\n"), ""),
    "named, condition": ("docker-stack.yml", stack("depends_on: {y: {condition: service_started}}"), ""),
    "named, size a number": ("docker-stack.yml", stack("shm_size: 1073741824"), ""),
    "named, memory": ("docker-stack.yml", stack("mem_limit: 1g"), ""),
    "named, limits": ("docker-stack.yml", stack(gpu="deploy: {resources: {limits: {shm_size: 1g}}}"), ""),
}  # fmt: skip


@table(("name", "text", "because"), TAKEN.values(), ids=TAKEN)
def test_what_is_taken_for_a_stack(tmp_path: Path, name: str, text: str, because: str) -> None:
    assert [launch.swarm for launch in run(tmp_path, {name: text}).launches] == [because]


@table(("name", "text", "because"), TAKEN.values(), ids=TAKEN)
def test_a_setting_takes_what_the_client_takes(tmp_path: Path, name: str, text: str, because: str) -> None:
    refused = because == "" and name == "docker-stack.yml"
    launches = run(tmp_path, {name: text}, engine="swarm").launches
    assert [launch.swarm for launch in launches] == ["" if refused else "the settings contain `engine: swarm`"]


@pytest.mark.docker_client
@table(("name", "text", "because"), TAKEN.values(), ids=TAKEN)
def test_the_client_refuses_what_is_not_taken_by_name(tmp_path: Path, name: str, text: str, because: str) -> None:
    asked, said = stack_config(tmp_path, text)
    if because:
        assert asked is not None, said
    elif name == "docker-stack.yml" and "image:" in text:  # the lack of an image only an engine notices
        assert asked is None


@pytest.mark.docker_client
def test_the_client_knows_the_keys(tmp_path: Path) -> None:
    def refused(text: str) -> bool:
        _, said = stack_config(tmp_path, text)
        return "Additional property" in said or "forbidden" in said

    newer = {"cgroupns_mode", "oom_score_adj"}  # later clients
    for key in SERVICE_KEYS - newer:
        assert not refused(f"{HEAD}services:\n  x:\n    {key}:\n"), key
    for key in ("gpus", "runtime", "profiles", "extends", "mem_limit", "group_add", "shm-size", "platform", "scale"):
        assert refused(f"{HEAD}services:\n  x:\n    {key}: x\n"), key
    for key in DEPLOY_KEYS:
        assert not refused(f"{HEAD}services:\n  x:\n    deploy: {{{key}: }}\n"), key
    for key in TOP_KEYS - {"version"}:
        assert not refused(f"{HEAD}{key}: {{}}\n"), key
    for key in ("include", "name", "models"):
        assert refused(f"{HEAD}{key}: x\n"), key


EFFECTIVE: dict[str, tuple[tuple[str, ...], str, int | None]] = {
    # Measured on an engine, Docker 20.10 with the 28.2 client, `df -k /dev/shm` in the task.
    "nothing": ((), "default", 64 << 20),
    "size": (("shm_size: 1g",), "default", 64 << 20),
    "host": (("ipc: host", "shm_size: 1g"), "default", 64 << 20),
    "none": (("ipc: none",), "default", 64 << 20),
    "short tmpfs": (("tmpfs: ['/dev/shm:size=2g']",), "default", 64 << 20),
    "long tmpfs": (("volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 3221225472}}]",), "tmpfs", 3 << 30),
    "long tmpfs and size": (
        ("shm_size: 1g", "volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 3221225472}}]"), "tmpfs", 3 << 30,
    ),
    "bind": (("volumes: ['/dev/shm:/dev/shm']",), "bind", None),
    "dev, shareable": (("ipc: shareable", "volumes: ['/dev:/dev']"), "bind", None),
}  # fmt: skip


@table(("lines", "decider", "size"), EFFECTIVE.values(), ids=EFFECTIVE)
def test_what_becomes_of_it(tmp_path: Path, lines: tuple[str, ...], decider: str, size: int | None) -> None:
    launch = run(tmp_path, {"docker-stack.yml": stack(*lines)}).launches[0]
    assert launch.effective_shm()[:2] == (decider, size)


def test_dropped_devices_give_no_gpu(tmp_path: Path) -> None:
    text = stack("devices: [/dev/nvidia0]", "privileged: true", gpu="")
    launch = run(tmp_path, {"docker-stack.yml": text}).launches[0]
    assert (launch.gpu.requested, launch.devices, launch.privileged) == (False, (), False)


def test_a_default_runtime_may_give_one(tmp_path: Path) -> None:
    text = stack("environment: {NVIDIA_VISIBLE_DEVICES: all}", "shm_size: 8gb", gpu="")
    found = run(tmp_path, {"docker-stack.yml": text})
    assert found.launches[0].gpu.requested is None
    assert [(f.rule, f.severity) for f in found.findings if f.rule == "SHM206"] == [("SHM206", "warning")]


SAYS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "size": (stack("shm_size: 8gb"), [("warning", "ignores shm_size")]),
    "variable": (stack("shm_size: ${S}"), [("warning", "ignores shm_size")]),
    "size and ipc": (stack("shm_size: 8gb", "ipc: host"), [("warning", "ignores shm_size")]),
    "ipc": (stack("ipc: host"), [("warning", "ignores `ipc: host`")]),
    "private": (stack("ipc: private"), []),
    "size without a gpu": (stack("shm_size: 8gb", gpu=""), [("note", "ignores shm_size")]),
    "ipc without a gpu": (stack("ipc: host", gpu=""), []),
    "zero": (stack("shm_size: '0'"), []),
    "mounted": (stack("shm_size: 8gb", "volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 1}}]"), []),
    "host's": (stack("shm_size: 8gb", "volumes: ['/dev/shm:/dev/shm']"), []),
    "nothing": (stack(), []),
    "short tmpfs": (stack("tmpfs: ['/dev/shm:size=8g']"), [("warning", "ignores the short `tmpfs` form")]),
    "short tmpfs elsewhere": (stack("tmpfs: [/run]"), []),
    "refused": (stack("shm_size: 8Gi"), [("warning", "ignores shm_size")]),
}


@table(("text", "expected"), SAYS.values(), ids=SAYS)
def test_what_is_said(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    found = findings(tmp_path, {"docker-stack.yml": text}, select=("SHM206",))
    gpu = all(f.launch is not None and f.launch.gpu.requested for f in found)
    assert [(f.severity, f.message) for f in found] == [
        (severity, f"{'GPU ' * gpu}service `x` gets 64 MiB of /dev/shm: `docker stack deploy` {what}")
        for severity, what in expected
    ]


def test_other_rules_do_not_speak_of_what_is_dropped(tmp_path: Path) -> None:
    text = stack("shm_size: 8gb", "ipc: host")
    found = findings(tmp_path, {"docker-stack.yml": text})
    assert sorted(f.rule for f in found) == ["SHM101", "SHM206"]


MOUNT = ["- type: tmpfs", "  target: /dev/shm", "  tmpfs:", "    size: 8589934592  # 8 GiB"]

REPAIRS: dict[str, tuple[str, str | None]] = {
    "no volumes": (
        stack("shm_size: 8gb", "user: root"),
        stack("shm_size: 8gb", "volumes:", *(f"  {line}" for line in MOUNT), "user: root"),
    ),
    "as other lists stand": (
        stack("shm_size: 8gb", "ports:", "- 80:80"),
        stack("shm_size: 8gb", "volumes:", *MOUNT, "ports:", "- 80:80"),
    ),
    "volumes": (
        stack("shm_size: 8gb", "volumes:", "  - a:/a", "  # the last", "  - b:/b  # here", "user: root"),
        stack("shm_size: 8gb", "volumes:", "  - a:/a", "  # the last", "  - b:/b  # here",
              *(f"  {line}" for line in MOUNT), "user: root"),
    ),
    "volumes, long": (
        stack("shm_size: 8gb", "volumes:", "-   type: bind", "    source: /a", "    target: /a", "user: root"),
        stack("shm_size: 8gb", "volumes:", "-   type: bind", "    source: /a", "    target: /a", "-   type: tmpfs",
              "    target: /dev/shm", "    tmpfs:", "      size: 8589934592  # 8 GiB", "user: root"),
    ),
    "flow": (
        stack("shm_size: 8gb", "volumes: [a:/a]"),
        stack("shm_size: 8gb", "volumes: [a:/a, {type: tmpfs, target: /dev/shm, tmpfs: {size: 8589934592}}]"),
    ),
    "empty flow": (
        stack("shm_size: 8gb", "volumes: []"),
        stack("shm_size: 8gb", "volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 8589934592}}]"),
    ),
    "service in braces": (
        f"services:\n  x: {{image: {NGC}, shm_size: 8gb, {GPU}}}\n",
        f"services:\n  x: {{image: {NGC}, shm_size: 8gb, volumes: [{{type: tmpfs, target: /dev/shm, "
        f"tmpfs: {{size: 8589934592}}}}], {GPU}}}\n",
    ),
    "JSON": (
        '{"services": {"x": {"image": "foo", "shm_size": "8gb"}}}\n',
        '{"services": {"x": {"image": "foo", "shm_size": "8gb", "volumes": [{"type": "tmpfs", "target": "/dev/shm", '
        '"tmpfs": {"size": 8589934592}}]}}}\n',
    ),
    "no end of line": (
        stack("shm_size: 8gb").removesuffix("\n"),
        stack("shm_size: 8gb", "volumes:", *(f"  {line}" for line in MOUNT)).removesuffix("\n"),
    ),
    "CRLF": (
        stack("shm_size: 8gb").replace("\n", "\r\n"),
        stack("shm_size: 8gb", "volumes:", *(f"  {line}" for line in MOUNT)).replace("\n", "\r\n"),
    ),
    "old version": (stack("shm_size: 8gb", head='version: "3.5"\n'), None),
    "merged volumes": (
        f"x-v: &v\n  volumes: [a:/a]\nservices:\n  x:\n    <<: *v\n    image: {NGC}\n    shm_size: 8gb\n    {GPU}\n",
        None,
    ),
    "alias": (
        f"x-v: &v [a:/a]\nservices:\n  x:\n    image: {NGC}\n    shm_size: 8gb\n    volumes: *v\n    {GPU}\n", None,
    ),
    "variable": (stack("shm_size: ${S}"), None),
    "ipc": (stack("ipc: host"), None),
    "short tmpfs": (stack("shm_size: 8gb", "tmpfs: ['/dev/shm:size=8g']"), None),
}  # fmt: skip


DONE = {name: repair for name, repair in REPAIRS.items() if repair[1] is not None}


@table(("before", "after"), REPAIRS.values(), ids=REPAIRS)
def test_repairs(tmp_path: Path, before: str, after: str | None) -> None:
    name = "docker-stack.yml"
    assert fixed(tmp_path, {name: before}, select=("SHM206",)) == ({} if after is None else {name: after})


@pytest.mark.parametrize("line", ["shm_size: 8Gi", "shm_size: '64'", "tmpfs: ['/dev/shm:size=8gb']"])
def test_no_other_rule_speaks_of_what_is_dropped(tmp_path: Path, line: str) -> None:
    found = findings(tmp_path, {"docker-stack.yml": stack(line)})
    assert sorted(f.rule for f in found) == ["SHM101", "SHM206"]


@pytest.mark.docker_client
@table(("before", "after"), DONE.values(), ids=DONE)
def test_the_client_sees_one_mount_more(tmp_path: Path, before: str, after: str) -> None:
    old, said = stack_config(tmp_path, before.replace("a:/a", "/a:/a").replace("b:/b", "/b:/b"))
    assert old is not None, said
    new, said = stack_config(tmp_path, after.replace("a:/a", "/a:/a").replace("b:/b", "/b:/b"))
    assert new is not None, said
    mount = {"type": "tmpfs", "target": "/dev/shm", "tmpfs": {"size": 8589934592}}
    volumes = new["services"]["x"].pop("volumes")
    assert (old["services"]["x"].pop("volumes", []), volumes[-1]) == (volumes[:-1], mount)
    assert new == old


@pytest.mark.docker_client
def test_the_client_wants_a_later_version(tmp_path: Path) -> None:
    mount = "volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: %s}}]"
    for minor in range(14):
        taken, _ = stack_config(tmp_path, stack(mount % 1024, gpu="", head=f'version: "3.{minor}"\n'))
        assert (taken is not None) == (minor >= 6), minor
    assert stack_config(tmp_path, stack(mount % "1g", gpu=""))[0] is None, "a number of bytes is wanted"


def test_all_rules_together_keep_the_size(tmp_path: Path) -> None:
    before, after = REPAIRS["no volumes"]
    assert fixed(tmp_path, {"docker-stack.yml": before}) == {"docker-stack.yml": after}


def test_a_missing_size_becomes_a_mount(tmp_path: Path) -> None:
    text = fixed(tmp_path, {"docker-stack.yml": stack()}, select=("SHM101",))["docker-stack.yml"]
    assert run(tmp_path, {"docker-stack.yml": text}).launches[0].effective_shm()[:2] == ("tmpfs", 8 << 30)


def test_by_hand(tmp_path: Path) -> None:
    found = findings(tmp_path, {"docker-stack.yml": stack(head='version: "3.4"\n')}, select=("SHM101",))
    mount = "mount a tmpfs of 8g on /dev/shm, in the long form of `volumes`"
    assert [(planned(f), f.advice) for f in found] == [(None, f'write `version: "3.6"` or a later one; then {mount}')]


lines = st.lists(
    st.sampled_from(
        ["command: a", "# a comment", "", "volumes:\n      - a:/a", "ports:\n    - 80:80", "labels: {a: b}",
         "volumes: ['a:/a', b:/b]", "entrypoint: |\n      a\n\n      b\n", "ipc: host", "user: root  # who",
         "volumes:\n    -  type: bind\n       source: /a\n       target: /a"]
    ),
    max_size=4, unique_by=lambda line: line.partition(":")[0],
)  # fmt: skip


@given(lines, st.sampled_from(["shm_size: 8gb", "shm_size: '1g'", ""]), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fixing_adds_lines_and_takes_none(tmp_path: Path, some: list[str], size: str, newline: str, end: bool) -> None:
    text = stack(*some, *([size] if size else [])).replace("\n", newline)
    text = text if end else text.removesuffix(newline)
    chosen: dict[str, Any] = {"select": ("SHM101", "SHM206")}
    new = fixed(tmp_path, {"docker-stack.yml": text}, **chosen)["docker-stack.yml"]
    old_lines, new_lines = text.splitlines(), iter(new.splitlines())
    flow = [line for line in old_lines if "volumes: [" in line]
    assert all(line in new_lines for line in old_lines if line not in flow), "every line is there, in its order"
    left = findings(tmp_path, {"docker-stack.yml": new}, **chosen)
    assert [f.rule for f in left if f.fix is not None] == []
    launch = run(tmp_path, {"docker-stack.yml": new}).launches[0]
    assert launch.effective_shm().decided_by == "tmpfs"
