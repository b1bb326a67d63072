"""devcontainer.json: what is read, and what fixing writes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shmlint.files.workspace import Workspace
from shmlint.formats.devcontainer import read
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.model.source import Source, apply_edits
from shmlint.syntax.json import Json, parse
from tests.project import findings, fixed, run, write
from tests.table import table

HERE = ".devcontainer/devcontainer.json"
NGC = '"image": "nvcr.io/nvidia/pytorch:24.01-py3"'
GIB = 1024**3


def launch(text: str, **others: str) -> Launch:
    """The launch of a dev container, nothing on disk."""
    workspace = Workspace({HERE: text, **{name.replace("__", "/"): other for name, other in others.items()}})
    reading = read([HERE], workspace, Settings())
    assert reading.problems == () and len(reading.launches) == 1
    return reading.launches[0]


def arguments(*given: str) -> Launch:
    return launch(f"{{{NGC}, \"runArgs\": {json.dumps(given)}}}")


# What asks for a GPU -------------------------------------------------------------------------


@table(
    ("wanted", "requested", "optional"),
    [
        ("true", True, False),
        ('"optional"', True, True),
        ('{"cores": 1000, "memory": "8gb"}', True, False),
        ("{}", True, False),
        ("false", False, False),
        ("null", False, False),
        ('""', False, False),
        ('"${templateOption:gpu}"', None, False),
    ],
)
def test_host_requirements(wanted: str, requested: bool | None, optional: bool) -> None:
    gpu = launch(f'{{{NGC}, "hostRequirements": {{"cpus": 4, "gpu": {wanted}}}}}').gpu
    assert (gpu.requested, gpu.optional) == (requested, optional)
    assert gpu.number == ("all" if requested else None)


@table(
    ("given", "requested", "count"),
    [
        (["--gpus=all"], True, "all"),
        (["--gpus", "all"], True, "all"),
        (["--gpus", "2"], True, 2),
        (["--gpus", '"device=0,3"'], True, 2),
        (['--gpus="device=0,3"'], True, 2),
        (["--gpus", "device=1"], True, 1),
        (["--runtime=nvidia"], True, "all"),
        (["--runtime", "nvidia", "-e", "NVIDIA_VISIBLE_DEVICES=0"], True, 1),
        (["--device=nvidia.com/gpu=all"], True, "all"),
        (["--device", "/dev/nvidia0", "--device", "/dev/nvidia1"], True, 2),
        (["--device=/dev/kfd", "--device=/dev/dri"], True, "all"),
        (["--device=/dev/dri"], False, None),
        (["--gpus", "0"], False, None),
        (["--network=host"], False, None),
        (["--gpus", "${localEnv:GPUS}"], True, None),
        (["${localEnv:MORE}"], None, None),
        (["${localEnv:MORE:--init}", "--gpus=all"], True, "all"),
        (["--name", "${localEnv:USER}-dev"], False, None),
        (["--env-file", "${localWorkspaceFolder}/.env", "--gpus=all"], True, "all"),
        (["--gpus all"], True, "all"),
    ],
)
def test_run_arguments(given: list[str], requested: bool | None, count: int | str | None) -> None:
    gpu = arguments(*given).gpu
    assert (gpu.requested, gpu.number) == (requested, count)


def test_an_explicit_gpu_is_not_optional() -> None:
    gpu = launch(f'{{{NGC}, "hostRequirements": {{"gpu": "optional"}}, "runArgs": ["--gpus=all"]}}').gpu
    assert gpu.requested and not gpu.optional
    assert [e.path for e in gpu.evidence] == ["--gpus", "hostRequirements.gpu"]


def test_container_env_goes_with_the_runtime() -> None:
    text = f'{{{NGC}, "runArgs": ["--runtime=nvidia"], "containerEnv": {{"NVIDIA_VISIBLE_DEVICES": "0,1"}}}}'
    assert launch(text).gpu.number == 2
    assert launch(text.replace("0,1", "none")).gpu.requested is False
    assert launch(text.replace("0,1", "${localEnv:GPUS}")).gpu.number is None


# What decides /dev/shm -----------------------------------------------------------------------


@table(
    ("more", "decider", "size"),
    [
        ('"runArgs": ["--shm-size=8g"]', "shm_size", 8 * GIB),
        ('"runArgs": ["--shm-size", "8g"]', "shm_size", 8 * GIB),
        ('"runArgs": ["--shm-size=1g", "--shm-size=8g"]', "shm_size", 8 * GIB),
        ('"runArgs": ["--shm-size=${localEnv:SHM:8g}"]', "unknown", None),
        ('"runArgs": ["--ipc=host"]', "host", None),
        ('"runArgs": ["--ipc", "host", "--shm-size=1g"]', "host", None),
        ('"runArgs": ["--tmpfs", "/dev/shm:size=2g"]', "tmpfs", 2 * GIB),
        ('"runArgs": ["-v", "/dev/shm:/dev/shm"]', "bind", None),
        ('"runArgs": ["${localEnv:MORE}"]', "unknown", None),
        ('"mounts": ["type=tmpfs,target=/dev/shm,tmpfs-size=2g"]', "tmpfs", 2 * GIB),
        ('"mounts": ["source=/dev/shm,target=/dev/shm,type=bind"]', "bind", None),
        ('"mounts": [{"type": "bind", "source": "/dev", "target": "/dev"}]', "bind", None),
        ('"mounts": [{"type": "volume", "source": "${devcontainerId}", "target": "/data"}]', "default", 64 << 20),
        ('"runArgs": null', "default", 64 << 20),
        ('"runArgs": "--shm-size=8g"', "default", 64 << 20),
        ('// "runArgs": ["--shm-size=8g"]\n"forwardPorts": [80]', "default", 64 << 20),
    ],
)
def test_dev_shm(more: str, decider: str, size: int | None) -> None:
    effective = launch(f"{{{NGC}, {more}}}").effective_shm()
    assert (effective.decided_by, effective.bytes) == (decider, size)


# What runs -----------------------------------------------------------------------------------


def test_an_image_with_a_variable_is_known_in_part() -> None:
    image = launch('{"image": "pytorch/pytorch:${templateOption:tag}"}').image
    assert image is not None and image.value == "pytorch/pytorch:${templateOption:tag}"
    assert "templateOption:tag" in image.because


@pytest.mark.parametrize(
    ("build", "base"),
    [
        ('"build": {"dockerfile": "Dockerfile"}', "ubuntu:24.04"),
        ('"build": {"dockerfile": "Dockerfile", "context": ".."}', "ubuntu:24.04"),
        ('"build": {"dockerfile": "Dockerfile", "target": "dev"}', "nvcr.io/nvidia/pytorch:24.01-py3"),
        (
            '"build": {"dockerfile": "Dockerfile", "target": "dev", "args": {"TAG": "25.01-py3"}}',
            "nvcr.io/nvidia/pytorch:25.01-py3",
        ),
        (
            '"build": {"dockerfile": "Dockerfile", "target": "dev", "args": {"TAG": "${localEnv:TAG}"}}',
            "nvcr.io/nvidia/pytorch:${localEnv:TAG}",
        ),
        ('"dockerFile": "Dockerfile", "context": ".."', "ubuntu:24.04"),
        ('"build": {"dockerfile": "missing"}', None),
    ],
)
def test_the_base_of_what_is_built(build: str, base: str | None) -> None:
    dockerfile = "ARG TAG=24.01-py3\nFROM nvcr.io/nvidia/pytorch:${TAG} AS dev\nRUN true\nFROM ubuntu:24.04\n"
    found = launch(f"{{{build}}}", **{".devcontainer__Dockerfile": dockerfile})
    assert [image.value for image in found.base_images][:1] == ([base] if base else [])


# A service of a compose project ----------------------------------------------------------------

COMPOSE = """\
services:
  app:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    command: sleep infinity
  db:
    image: postgres
"""
@pytest.mark.parametrize(
    ("feature", "known"),
    [
        ("ghcr.io/devcontainers/features/nvidia-cuda:1", True),
        ("ghcr.io/rapidsai/devcontainers/features/cuda:26.10", True),
        ("./features/src/cuda", True),
        ("ghcr.io/devcontainers/features/cuda@sha256:0", True),
        ("ghcr.io/devcontainers/features/node:1", False),
        ("ghcr.io/devcontainers/features/barracuda:1", False),
    ],
)
def test_a_feature_says_what_the_container_is_for_and_asks_for_no_gpu(feature: str, known: bool) -> None:
    found = launch(f'{{"image": "own:1", "features": {{"{feature}": {{}}}}}}')
    assert found.gpu.requested is False
    assert [image.text for image in found.base_images] == ([feature] if known else [])
    assert all(image.span.text == feature for image in found.base_images)


STARTS = '{"dockerComposeFile": "../compose.yaml", "service": "app", "hostRequirements": {"gpu": true}}'


def test_the_service_that_is_started_gets_the_gpu() -> None:
    found = launch(STARTS, **{"compose.yaml": COMPOSE})
    assert found.kind == "devcontainer" and found.files == (HERE, "compose.yaml")
    assert found.gpu.requested and found.gpu.number == "all" and not found.undecided
    assert found.home.text == "true" and found.words.launch == "dev container (service `app`)"


def test_several_compose_files_are_merged() -> None:
    more = "services:\n  app:\n    shm_size: 8gb\n    gpus: all\n"
    text = '{"dockerComposeFile": ["../compose.yaml", "more.yaml"], "service": "app"}'
    found = launch(text, **{"compose.yaml": COMPOSE, ".devcontainer__more.yaml": more})
    assert found.gpu.requested and found.effective_shm().bytes == 8 * GIB


@pytest.mark.parametrize(
    ("old", "new", "because"),
    [
        ("../compose.yaml", "../other.yaml", "other.yaml, which does not exist"),
        ("../compose.yaml", "${localEnv:FILE}", "`${localEnv:FILE}` is not set here"),
        ("../compose.yaml", "/etc/compose.yaml", "outside the repository"),
        ('"../compose.yaml"', "[]", "Compose files that it starts are unknown"),
        ('"service": "app"', '"service": "web"', "no service web"),
        ('"service": "app", ', "", "service that it starts is unknown"),
    ],
)
def test_what_is_not_here_is_not_known(old: str, new: str, because: str) -> None:
    found = launch(STARTS.replace(old, new), **{"compose.yaml": COMPOSE})
    assert found.undecided is not None and because in found.undecided.because
    assert found.effective_shm().decided_by == "unknown"
    assert found.gpu.requested is True
    without = launch(STARTS.replace(old, new).replace("true", "false"), **{"compose.yaml": COMPOSE})
    assert without.gpu.requested is None and without.gpu.unknown == without.undecided == found.undecided


def test_the_fix_goes_into_the_compose_file(tmp_path: Path) -> None:
    files = {HERE: STARTS, "compose.yaml": COMPOSE}
    assert [(f.rule, f.span.path) for f in findings(tmp_path, files)] == [("SHM101", HERE)]
    (name, text), = fixed(tmp_path, files).items()
    assert name == "compose.yaml"
    assert [line for line in text.splitlines() if line not in COMPOSE.splitlines()] == ["    shm_size: 8gb"]
    assert findings(tmp_path, {**files, name: text}) == []


def test_the_fix_goes_into_the_compose_file_once(tmp_path: Path) -> None:
    """The service itself is judged too, and two dev containers start it: one finding, of the service."""
    compose = COMPOSE.replace("    command", "    gpus: all\n    command")
    other = {".devcontainer/b/devcontainer.json": STARTS.replace("../", "../../")}
    files = {HERE: STARTS, **other, "compose.yaml": compose}
    assert [f.launch.kind for f in findings(tmp_path, files) if f.launch] == ["compose-service"]
    changed = fixed(tmp_path, files)
    assert list(changed) == ["compose.yaml"] and changed["compose.yaml"].count("shm_size: 8gb") == 1
    assert findings(tmp_path, {**files, **changed}) == []


def test_what_only_the_dev_container_has_is_its_own(tmp_path: Path) -> None:
    """A size of the service is the service's, a GPU that only the dev container asks for is not."""
    invalid = COMPOSE.replace("    command", "    shm_size: 8x\n    command")
    found = findings(tmp_path, {HERE: STARTS, "compose.yaml": invalid})
    assert [(f.rule, f.launch.kind) for f in found if f.launch] == [("SHM201", "compose-service")]
    found = findings(tmp_path, {HERE: STARTS, "compose.yaml": COMPOSE})
    assert [(f.rule, f.launch.kind) for f in found if f.launch] == [("SHM101", "devcontainer")]


@table(
    ("given", "dead"),
    [
        ('["--shm-size=8g"]', ["--shm-size=8g"]),
        ('["--shm-size", "8g", "--ipc", "host"]', ["--shm-size", "--ipc"]),
        ('["--tmpfs=/dev/shm", "--init"]', ["--tmpfs=/dev/shm"]),
        ('["--name", "--shm-size=8g", "-v", "/data:/data"]', []),
    ],
)
@table("gpu", ["true", "false"])
def test_run_arguments_beside_compose_are_dead(tmp_path: Path, given: str, dead: list[str], gpu: str) -> None:
    text = STARTS.replace("true", gpu).replace("}}", f'}}, "runArgs": {given}}}')
    for files in ({HERE: text, "compose.yaml": COMPOSE}, {HERE: text.replace("../compose", "../missing")}):
        found = findings(tmp_path, files, select=("SHM210",))
        assert [f.span.text for f in found] == dead and all(f.severity == "error" for f in found)


# What is said --------------------------------------------------------------------------------


def test_optional_lowers_the_severity(tmp_path: Path) -> None:
    def severity(gpu: str) -> str:
        (found,) = findings(tmp_path, {HERE: f'{{{NGC}, "hostRequirements": {{"gpu": {gpu}}}}}'}, select=("SHM101",))
        return found.severity

    order = ["note", "warning", "error"]
    assert order.index(severity("true")) == order.index(severity('"optional"')) + 1


def test_broken_json_is_said_once(tmp_path: Path) -> None:
    found = findings(tmp_path, {HERE: '{\n  "image": "x",\n  "runArgs": [ "a" "b"\n}\n', "b/devcontainer.json": "[]"})
    assert [(f.rule, f.span.path) for f in found] == [("SHM001", HERE), ("SHM001", "b/devcontainer.json")]


@pytest.mark.parametrize("name", [HERE, ".devcontainer.json", ".devcontainer/gpu/devcontainer.json"])
def test_its_places(tmp_path: Path, name: str) -> None:
    assert [found.span.path for found in run(tmp_path, {name: f'{{{NGC}}}'}).launches] == [name]


# Lists of devices ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["--gpus", "device=0,1"]', r'["--gpus", "\"device=0,1\""]'),
        ('["--gpus=device=0,1"]', r'["--gpus=\"device=0,1\""]'),
        (r"""["--gpus", "'\"device=0,1\"'"]""", r'["--gpus", "\"device=0,1\""]'),
        (r"""["--gpus='\"device=0,1\"'"]""", r'["--gpus=\"device=0,1\""]'),
        ("""["--gpus", "'device=0,1'"]""", r'["--gpus", "\"device=0,1\""]'),
        ("""["--gpus", "'all'"]""", '["--gpus", "all"]'),
        ("""["--gpus='device=2'"]""", '["--gpus=device=2"]'),
    ],
)
def test_a_list_of_devices_is_quoted_for_json(tmp_path: Path, before: str, after: str) -> None:
    def file(given: str) -> dict[str, str]:
        return {HERE: f'{{\r\n\t{NGC}, // c\r\n\t"runArgs": {given},\r\n}}\r\n'}

    assert [f.rule for f in findings(tmp_path, file(before), select=("GPU401",))] == ["GPU401"]
    assert fixed(tmp_path, file(before), select=("GPU401",)) == file(after)
    assert findings(tmp_path, file(after), select=("GPU401",)) == []


@pytest.mark.parametrize("given", [r'"\"device=0,1\""', r'"\"all\""', '"device=0"', '"all"', '"${localEnv:G}"', '"0"'])
def test_what_docker_reads_is_left(tmp_path: Path, given: str) -> None:
    assert findings(tmp_path, {HERE: f'{{{NGC}, "runArgs": ["--gpus", {given}]}}'}, select=("GPU401",)) == []


def test_several_counts_are_said_and_left(tmp_path: Path) -> None:
    files = {HERE: f'{{{NGC}, "runArgs": ["--gpus", "1,2"]}}'}
    (found,) = findings(tmp_path, files, select=("GPU401",))
    assert found.fix is None and r'"\"device=1,2\""' in found.advice
    assert fixed(tmp_path, files, select=("GPU401",)) == {}


# Rewriting -------------------------------------------------------------------------------------

REWRITES = {
    "inline": ('{IMG, "runArgs": ["--gpus=all"]}', '{IMG, "runArgs": ["--shm-size=8g", "--gpus=all"]}'),
    "inline, packed": (
        '{IMG,"runArgs":["--init","--gpus","all"]}',
        '{IMG,"runArgs":["--init","--shm-size=8g","--gpus","all"]}',
    ),
    "a line each": (
        '{\n  IMG,\n  "runArgs": [\n    "--init", // 1\n    "--gpus=all"  // no comma\n  ]\n}\n',
        '{\n  IMG,\n  "runArgs": [\n    "--init", // 1\n    "--shm-size=8g",\n    "--gpus=all"  // no comma\n  ]\n}\n',
    ),
    "two strings": (
        '{\n  IMG,\n  "runArgs": [\n    "--gpus",\n    "all",\n    // end\n  ],\n}\n',
        '{\n  IMG,\n  "runArgs": [\n    "--shm-size=8g",\n    "--gpus",\n    "all",\n    // end\n  ],\n}\n',
    ),
    "two strings on a line": (
        '{\n  IMG,\n  "runArgs": [\n    "--gpus", "all"\n  ]\n}\n',
        '{\n  IMG,\n  "runArgs": [\n    "--shm-size=8g",\n    "--gpus", "all"\n  ]\n}\n',
    ),
    "comments at column 0": (
        '{\n  IMG,\n  "runArgs": [\n//  "--ipc=host",\n    "--gpus=all",\n//    "--x"\n  ]\n}\n',
        '{\n  IMG,\n  "runArgs": [\n//  "--ipc=host",\n    "--shm-size=8g",\n    "--gpus=all",\n//    "--x"\n  ]\n}\n',
    ),
    "a comment before it": (
        '{IMG, "runArgs": [ /* gpu */ "--gpus=all" ]}',
        '{IMG, "runArgs": [ /* gpu */ "--shm-size=8g", "--gpus=all" ]}',
    ),
    "tabs and CRLF": (
        '\ufeff{\r\n\tIMG,\r\n\t"runArgs": [\r\n\t\t"--gpus=all"\r\n\t]\r\n}',
        '\ufeff{\r\n\tIMG,\r\n\t"runArgs": [\r\n\t\t"--shm-size=8g",\r\n\t\t"--gpus=all"\r\n\t]\r\n}',
    ),
    "empty array": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": []}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g"]}',
    ),
    "empty array with a comment": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": [\n  // "--init"\n]}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g"\n  // "--init"\n]}',
    ),
    "null": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": null}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g"]}',
    ),
    "no runArgs": (
        '{\n  // dev\n  IMG,\n  "hostRequirements": {\n    "gpu": true\n  },\n}\n',
        '{\n  // dev\n  IMG,\n  "runArgs": ["--shm-size=8g"],\n  "hostRequirements": {\n    "gpu": true\n  },\n}\n',
    ),
    "no runArgs, inline": (
        '{"hostRequirements": {"gpu": true}, IMG}',
        '{"runArgs": ["--shm-size=8g"], "hostRequirements": {"gpu": true}, IMG}',
    ),
    "GPU elsewhere": (
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--init", "--network=host"]}',
        '{IMG, "hostRequirements": {"gpu": true}, "runArgs": ["--shm-size=8g", "--init", "--network=host"]}',
    ),
    "too small": (
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=128m"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
    ),
    "too small, two strings": (
        '{IMG, "runArgs": ["--gpus=all", "--shm-size", /* MB */ "128m",]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size", /* MB */ "8g",]}',
    ),
    "too small, escaped": (
        r'{IMG, "runArgs": ["--gpus=all", "--shm-size=12\u0038m"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
    ),
    "refused": (
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8Gi"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
    ),
    "not ASCII": (
        '{"name": "Größe 🐋", IMG, "runArgs": ["--gpus=all"]}',
        '{"name": "Größe 🐋", IMG, "runArgs": ["--shm-size=8g", "--gpus=all"]}',
    ),
}  # fmt: skip


@table("case", REWRITES)
def test_rewriting(tmp_path: Path, case: str) -> None:
    before, after = (text.replace("IMG", NGC) for text in REWRITES[case])
    assert fixed(tmp_path, {HERE: before}) == {HERE: after}
    assert fixed(tmp_path, {HERE: after}) == {}
    assert findings(tmp_path, {HERE: after}) == []


@table(
    "text",
    [
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=8g"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size", "8g"]}',
        '{IMG, "runArgs": ["--gpus=all", "--ipc=host"]}',
        '{IMG, "runArgs": ["--gpus=all", "${localEnv:MORE}"]}',
        '{IMG, "runArgs": ["--gpus=all", "--shm-size=${localEnv:SHM}"]}',
        '{IMG, "runArgs": [\n// "--gpus=all"\n]}',
        '{IMG, "runArgs": ["--gpus=all"], "mounts": ["type=bind,source=/dev/shm,target=/dev/shm"]}',
        '{IMG, "hostRequirements": {"gpu": false}}',
        '{"image": "ollama/ollama", "runArgs": ["--gpus=all"]}',
        '{"dockerComposeFile": "x.yaml", "service": "x", "hostRequirements": {"gpu": true}}',
        '{"runArgs": ["--gpus", "all"}',
    ],
)
def test_nothing_to_rewrite(tmp_path: Path, text: str) -> None:
    assert fixed(tmp_path, {HERE: text.replace("IMG", NGC)}) == {}


GAPS = st.sampled_from(["", " ", "\n    ", "\r\n\t", " // c,]}\n  ", "/* [{, */", "\n//x\n"])
ARGUMENTS = st.lists(
    st.sampled_from(["--init", "--gpus=all", "--cap-add=SYS_PTRACE", "--name=é🐋", "--shm-size=1m", "--env=A=\"b\\"]),
    max_size=4,
)


@st.composite
def dev_containers(draw: st.DrawFn) -> str:
    """A dev container with comments and commas anywhere."""

    def listing(items: list[str], opening: str, closing: str) -> str:
        inside = ",".join(draw(GAPS) + item + draw(GAPS) for item in items)
        comma = "," + draw(GAPS) if bool(items) and draw(st.booleans()) else ""
        return opening + (inside or draw(GAPS)) + comma + closing

    given_: list[str] | None = draw(st.none() | ARGUMENTS)
    properties = [NGC, '"hostRequirements":' + draw(GAPS) + '{"gpu": true}']
    if given_ is not None:
        array = listing([json.dumps(item, ensure_ascii=draw(st.booleans())) for item in given_], "[", "]")
        properties.append('"runArgs"' + draw(GAPS) + ":" + draw(GAPS) + array)
    return draw(GAPS) + listing(draw(st.permutations(properties)), "{", "}") + draw(GAPS)


def _plain(value: Json) -> object:
    if value.kind == "object":
        return {name: _plain(held) for name, (_, held) in value.entries.items()}
    if value.kind == "array":
        return [_plain(item) for item in value.items]
    return value.text if value.kind == "string" else json.loads(value.span.text)


@given(dev_containers())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_an_edit_changes_the_size_and_nothing_else(text: str) -> None:
    def value(text: str) -> dict[str, list[str]]:
        root, problems = parse(Source(HERE, text))
        assert root is not None and problems == []
        found = _plain(root)
        assert isinstance(found, dict)
        return found

    found = launch(text)
    (change,) = found.rewriter.set_shm_size(4 * GIB)
    (edit,) = change.edits
    new = apply_edits(text, change.edits)
    before, after = value(text), value(new)
    shm = launch(new).shm
    assert shm is not None and shm.known is not None and shm.known.bytes == 4 * GIB
    assert text[: edit.start] == new[: edit.start] and text[edit.end :] == new[edit.start + len(edit.text) :]
    sizes = [item for item in after["runArgs"] if item == "--shm-size=4g"]
    assert len(sizes) == 1
    old = list(before.get("runArgs", []))
    if "--shm-size=1m" in old:
        at = len(old) - 1 - old[::-1].index("--shm-size=1m")
        old[at] = sizes[0]
    else:
        after["runArgs"].remove(sizes[0])
    assert {**after, "runArgs": after["runArgs"]} == {**before, "runArgs": old}
    (again,) = launch(new).rewriter.set_shm_size(4 * GIB)
    assert apply_edits(new, again.edits) == new


def test_the_text_on_disk_is_the_one_that_is_read(tmp_path: Path) -> None:
    write(tmp_path, {HERE: "\ufeff{" + NGC + "}"})
    with contextlib.chdir(tmp_path):
        (found,) = read([HERE], Workspace(), Settings()).launches
    assert found.span.begin == (1, 1)
