"""What several files, extends, include, tags and variables make of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import default_files
from shmlint.formats.compose.load import load_project
from shmlint.formats.compose.project import Project
from shmlint.formats.compose.service import read_project
from shmlint.model.launch import Launch, Unknown
from tests.oracles.agreement import disagreements
from tests.oracles.compose import compose_config
from tests.project import run
from tests.table import table

BASE = "services:\n  a:\n    image: x\n    "


def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str], *files: str) -> Project:
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return load_project(files or default_files("", Workspace()), Workspace())


def launches(project: Project) -> dict[str, Launch]:
    return {launch.name or "": launch for launch in read_project(project, Workspace())}


def shm(launch: Launch) -> int | None:
    size = launch.shm.known if launch.shm else None
    return size.bytes if size else None


G = 1 << 30
GPU = "deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 1}]}}}"
ALL = "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}"


MERGES: list[tuple[str, str, str, Any]] = [
    ("shm_size: 1g", "shm_size: 2g", "shm", 2 * G),
    ("shm_size: 1g", "shm_size:", "shm", G),
    ("shm_size: 1g", "shm_size: ~", "shm", G),
    ("shm_size: 1g", "shm_size: !reset null", "shm", None),
    ("shm_size: 1g", "ipc: host", "shm", G),
    ("shm_size: 1g", "shm_size: !override 017", "shm", 17),
    ("ipc: host", "ipc: private", "ipc", "private"),
    ("command: a b", "command: [c]", "command", ("c",)),
    ("command: a b", "command:", "command", None),
    ("entrypoint: a", "entrypoint: b && c", "entrypoint", ("b",)),
    ("environment: {A: 1, B: 2}", "environment: [B=3, C=4]", "environment", {"A": "1", "B": "3", "C": "4"}),
    ("environment: [A=1]", "environment: {A: true, B: 1.50}", "environment", {"A": "true", "B": "1.5"}),
    ("environment: {A: 1}", "environment: !override {B: 2}", "environment", {"B": "2"}),
    ("environment: {A: 1, B: 2}", "environment: {A: !reset null}", "environment", {"B": "2"}),
    (GPU, GPU.replace("count: 1", "count: 2"), "gpu", (2, 2)),
    (GPU, ALL, "gpu", (2, "all")),
    (ALL, GPU.replace("devices: [", "devices: !override ["), "gpu", (1, 1)),
    (GPU, "deploy: !reset {}", "gpu", (0, None)),
    # Compose looks for no tags inside of a value with !override.
    ("gpus: all", "gpus: !override [{count: !reset 1, driver: nvidia}]", "gpu", (1, 1)),
    ("environment: {A: 1}", "environment: !override {A: !reset 2}", "environment", {"A": "2"}),
    (GPU, "deploy: {}", "gpu", (1, 1)),
    (GPU, "deploy: {resources: {limits: {memory: 2g}}}", "gpu", (1, 1)),
    ("gpus: all", "gpus: [{count: 2}]", "gpu", (2, "all")),
    ("gpus: [{count: 1}]", "gpus: [{count: 2}]", "gpu", (2, 2)),
    ("devices: [/dev/nvidia0]", "devices: [/dev/nvidia1:/dev/nvidia0]", "gpu", (1, 1)),
    ("devices: [/dev/nvidia0]", "devices: [/dev/nvidia1]", "gpu", (2, 2)),
    ("tmpfs: /dev/shm:size=1g", "tmpfs: ['/dev/shm:size=2g']", "mounts", [("tmpfs", 2 * G)]),
    ("tmpfs: /run", "tmpfs: /dev/shm", "mounts", [("tmpfs", None)]),
    ("volumes: ['/dev/shm:/dev/shm']", "volumes: ['/tmp:/dev/shm']", "mounts", [("bind", None)]),
    ("volumes: ['/x:/dev/shm']", "volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 1g}}]", "mounts",
     [("tmpfs", G)]),
    ("ulimits: {memlock: {soft: 1, hard: 2}}", "ulimits: {memlock: -1, stack: 5}", "ulimits",
     {"memlock": "-1", "stack": "5"}),
    ("mem_limit: 1g", "mem_limit: 2g", "memory_limit", 2 * G),
    ("deploy: {resources: {limits: {memory: 1g}}}", "deploy: {resources: {limits: {cpus: '1'}}}",
     "memory_limit", G),
    ("cap_add: [SYS_NICE]", "cap_add: [IPC_LOCK]", "cap_add", ("SYS_NICE", "IPC_LOCK")),
    ("privileged: true", "privileged: yes", "privileged", True),
    ("build: .", "build: {shm_size: 1g}", "build_shm", G),
]  # fmt: skip
HOW = ("override file", "multi-document", "extends another file")


def files_of(how: str, under: str, over: str) -> tuple[str, dict[str, str]]:
    """A service whose keys come from two places: its name and the files."""
    name = "a"
    if how == "override file":
        texts = {"compose.yaml": BASE + under, "docker-compose.override.yml": f"services:\n  a:\n    {over}"}
    elif how == "multi-document":
        texts = {"compose.yaml": f"{BASE}{under}\n---\nservices:\n  a:\n    {over}\n"}
    else:
        name = "b"
        texts = {
            "compose.yaml": f"services:\n  b:\n    extends: {{file: base.yaml, service: a}}\n    {over}\n",
            "base.yaml": BASE + under,
        }
    return name, texts


@table(("under", "over", "attribute", "value"), MERGES)
@table("how", HOW)
def test_merging(
    how: str, under: str, over: str, attribute: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, texts = files_of(how, under, over)
    project = loaded(tmp_path, monkeypatch, texts)
    launch = launches(project)[name]
    assert not project.problems
    found: Any = getattr(launch, attribute)
    if attribute == "shm":
        found = shm(launch)
    elif attribute == "build_shm":
        found = found.value.bytes
    elif attribute == "gpu":
        found = (len(found.evidence), found.number)
    elif attribute == "mounts":
        found = [(mount.type, mount.size) for mount in found]
    elif attribute in ("environment", "ulimits"):
        found = {key: each.value for key, each in found.items()}
    elif attribute not in ("cap_add", "privileged"):
        found = found.value if found is not None else None
    assert found == value


@pytest.mark.compose_judge
@table(("under", "over", "attribute", "value"), MERGES)
@table("how", HOW)
def test_compose_merges_the_same(
    how: str, under: str, over: str, attribute: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, texts = files_of(how, under, over)
    launch = launches(loaded(tmp_path, monkeypatch, texts))[name]
    theirs = compose_config(tmp_path)
    assert theirs is not None
    assert not disagreements(theirs["services"][name], launch)


PROJECTS: list[tuple[dict[str, str], dict[str, int | None]]] = [
    ({"compose.yaml": "x-b: &b {image: x, shm_size: 1g}\nservices:\n  a: *b\n  b: {<<: *b, shm_size: 2g}\n"},
     {"a": G, "b": 2 * G}),
    ({"compose.yaml": "x-b: &b {image: x, shm_size: 1g}\nx-c: &c {shm_size: 2g}\nservices:\n  a: {<<: [*c, *b]}\n"},
     {"a": 2 * G}),
    ({"compose.yaml": "x-b: &b {image: x, shm_size: 1g}\nservices:\n  a:\n    <<: *b\n    shm_size: !reset null\n"},
     {"a": G}),
    ({"compose.yaml": BASE + "shm_size: 1g\n  b:\n    extends: a\n    shm_size: !reset null\n"},
     {"a": G, "b": None}),
    ({"compose.yaml": "x-r: &r !reset null\n" + BASE + "shm_size: 1g\n  b: {extends: a, shm_size: *r}\n"},
     {"a": G, "b": None}),
    ({"compose.yaml": BASE + "shm_size: 1g\n  b: {image: y}\n",
      "compose.override.yaml": "services:\n  a: !reset\n"}, {"b": None}),
    ({"compose.yaml": BASE + "shm_size: 1g\n", "compose.override.yaml": "services:\n  a: !override {image: y}\n"},
     {"a": None}),
    ({"compose.yaml": BASE + "shm_size: 1g\n", "compose.override.yaml": "services: !override\n  b: {image: y}\n"},
     {"b": None}),
    ({"compose.yaml": BASE + "shm_size: 1g\n", "compose.override.yaml": "services:\n  a:\n"}, {"a": G}),
    ({"compose.yaml": BASE + "shm_size: ${S}\n", ".env": "S=1g\n"}, {"a": G}),
    ({"compose.yaml": BASE + "shm_size: ${S:-2g}\n", ".env": "S=\n"}, {"a": 2 * G}),
    ({"compose.yaml": BASE + "shm_size: $S\n", ".env": "T=1\nS=${T}g\n"}, {"a": G}),
    ({"compose.yaml": "include: [sub/c.yaml]\nservices:\n  b: {image: y, shm_size: $S}\n", ".env": "T=2g\nS=1g\n",
      "sub/c.yaml": "services:\n  a: {image: x, shm_size: $T}\n", "sub/.env": "T=3g\n"}, {"a": 2 * G, "b": G}),
    ({"compose.yaml": "include: [sub/c.yaml]\n", "sub/c.yaml": BASE + "shm_size: $T\n", "sub/.env": "T=3g\n"},
     {"a": 3 * G}),
    ({"compose.yaml": "include:\n  - {path: sub/c.yaml, env_file: x.env}\n", "sub/c.yaml": BASE + "shm_size: $T\n",
      "sub/.env": "T=3g\n", "x.env": "T=4g\n"}, {"a": 4 * G}),
    ({"compose.yaml": "include:\n  - {path: sub/c.yaml, project_directory: other}\n",
      "sub/c.yaml": BASE + "shm_size: $T\n", "other/.env": "T=5g\n"}, {"a": 5 * G}),
    ({"compose.yaml": "include:\n  - path: [c.yaml, d.yaml]\n", "c.yaml": BASE + "shm_size: 1g\n",
      "d.yaml": "services:\n  a: {shm_size: 2g}\n"}, {"a": 2 * G}),
    ({"prod.yaml": BASE + "shm_size: 1g\n", "more.yaml": "services:\n  a: {shm_size: 2g}\n",
      ".env": "COMPOSE_FILE=prod.yaml:more.yaml\n", "compose.yaml": BASE + "shm_size: 7g\n"}, {"a": 2 * G}),
    ({"compose.yaml": BASE + "shm_size: ${COMPOSE_PROJECT_NAME:+1g}\n"}, {"a": G}),
    ({"compose.yaml": BASE + "shm_size: ${COMPOSE_PROJECT_NAME+1g}\n", ".env": "COMPOSE_PROJECT_NAME=\n"}, {"a": G}),
    ({"compose.yaml": BASE + "shm_size: 1g\n    profiles: [gpu]\n"}, {"a": G}),
    ({"compose.yaml": "services:\n  a: {extends: {file: l.yaml, service: b}}\n",
      "l.yaml": "services:\n  b: {extends: c}\n  c: {image: x, shm_size: 1g}\n"}, {"a": G}),
    ({"compose.yaml": "include: [{file: c.yaml}]\nservices: {a: {image: x}}\n"}, {"a": None}),
    ({"compose.yaml": "services: {}\n"}, {}),
    ({"compose.yaml": "services:\n"}, {}),
]  # fmt: skip


@table(("texts", "sizes"), PROJECTS)
def test_projects(
    texts: dict[str, str], sizes: dict[str, int | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = loaded(tmp_path, monkeypatch, texts)
    found = launches(project)
    assert not project.problems
    assert {name: shm(launch) for name, launch in found.items()} == sizes


@pytest.mark.compose_judge
@table(("texts", "sizes"), [row for row in PROJECTS if row[1]])
def test_compose_reads_the_same_sizes(
    texts: dict[str, str], sizes: dict[str, int | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(tmp_path, monkeypatch, texts)
    theirs = compose_config(tmp_path)
    assert theirs is not None
    assert {name: int(s.get("shm_size", 0)) or None for name, s in theirs["services"].items()} == sizes


GPU_LIST = "deploy: {resources: {reservations: {devices: {}}}}"
RUNTIME = "image: x\n    runtime: nvidia\n    env_file: gpu.env\n"
TWO_FILES = "image: x\n    runtime: nvidia\n    env_file: [one.env, two.env]"
ONE_TWO = {"one.env": "NVIDIA_VISIBLE_DEVICES=0,1,2\n", "two.env": "NVIDIA_VISIBLE_DEVICES=void\n"}
INCLUDED = "services:\n  a:\n    image: x\n    shm_size: ${SIZE:-1g}\n"


ACROSS: list[tuple[dict[str, str], tuple[str, ...], str, Any]] = [
    # What an extended file names lies next to that file.
    ({"compose.yaml": "services:\n  a: {extends: {file: lib/base.yaml, service: b}}\n",
      "lib/base.yaml": "services:\n  b:\n    build: {context: ./ctx, dockerfile: D}\n    gpus: all\n",
      "lib/ctx/D": "FROM right\n", "ctx/D": "FROM wrong\n"}, (), "base_images", ["right"]),
    # Without a name, the client takes one in small letters where there is no other.
    ({"compose.yaml": "services:\n  a: {build: ., gpus: all}\n", "dockerfile": "FROM right\n"}, (), "base_images",
     ["right"]),
    ({"compose.yaml": "services:\n  a: {build: ., gpus: all}\n", "dockerfile": "FROM wrong\n",
      "Dockerfile": "FROM right\n"}, (), "base_images", ["right"]),
    ({"compose.yaml": "services:\n  a: {build: {dockerfile: Dockerfile}, gpus: all}\n", "dockerfile": "FROM wrong\n"},
     (), "base_images", []),
    ({"compose.yaml": "services:\n  a: {extends: {file: lib/base.yaml, service: b}}\n",
      "lib/base.yaml": "services:\n  b: {extends: {file: deep/base.yaml, service: c}}\n",
      "lib/deep/base.yaml": "services:\n  c: {build: ., gpus: all}\n", "lib/deep/Dockerfile": "FROM right\n",
      "lib/Dockerfile": "FROM wrong\n", "Dockerfile": "FROM wrong\n"}, (), "base_images", ["right"]),
    ({"compose.yaml": "services:\n  a: {extends: {file: lib/base.yaml, service: b}}\n",
      "lib/base.yaml": "services:\n  b: {build: {dockerfile: D}, gpus: all}\n",
      "D": "FROM right\n", "lib/D": "FROM wrong\n"}, (), "base_images", ["right"]),
    ({"compose.yaml": "services:\n  a: {extends: {file: lib/base.yaml, service: b}}\n",
      "lib/base.yaml": f"services:\n  b:\n    {RUNTIME}", "lib/gpu.env": "NVIDIA_VISIBLE_DEVICES: void\n",
      "gpu.env": "NVIDIA_VISIBLE_DEVICES=0,1\n"}, (), "gpu.requested", False),
    ({"compose.yaml": f"services:\n  a:\n    {RUNTIME}", ".env": "N=1\n",
      "gpu.env": "NVIDIA_VISIBLE_DEVICES=0,${N}\n"}, (), "gpu.number", 2),
    ({"compose.yaml": f"services:\n  a:\n    {RUNTIME.replace('nvidia', 'habana')}", ".env": "N=1\n",
      "gpu.env": "HABANA_VISIBLE_DEVICES=0,${N}\n"}, (), "gpu.number", 2),
    # A base of the same file has no short form that it extends from another one.
    ({"compose.yaml": "services:\n  a: {extends: b, gpus: [{device_ids: ['0']}]}\n"
      "  b: {extends: {file: lib.yaml, service: c}}\n", "lib.yaml": "services:\n  c: {image: x, gpus: all}\n"},
     (), "gpu.number", "all"),
    ({"compose.yaml": "services:\n  a: {extends: b, gpus: [{device_ids: ['0']}]}\n  b: {image: x, gpus: all}\n"},
     (), "gpu", (1, 1)),
    # Nor has one in a file that is extended as a whole.
    ({"compose.yaml": "services:\n  a: {extends: {file: lib.yaml, service: b}}\n", "lib.yaml":
      "services:\n  b: {extends: c, gpus: [{device_ids: ['0']}]}\n  c: {image: x, gpus: all}\n"},
     (), "gpu", (2, "all")),
    # A file of the project names others from the project's directory, wherever it lies itself.
    ({"compose.yaml": "services: {}\n", "sub/over.yaml": "services:\n  a: {extends: {file: b.yaml, service: b}}\n",
      "b.yaml": "services:\n  b: {image: x, shm_size: 1g}\n", "sub/b.yaml": "services:\n  b: {image: y}\n"},
     ("compose.yaml", "sub/over.yaml"), "shm", G),
    ({".env": "COMPOSE_FILE=compose.yaml:sub/over.yaml\n", "compose.yaml": "services: {}\n",
      "sub/over.yaml": "services:\n  a: {extends: {file: b.yaml, service: b}}\n",
      "b.yaml": "services:\n  b: {image: x, shm_size: 1g}\n", "sub/b.yaml": "services:\n  b: {image: y}\n"},
     (), "shm", G),
    ({"compose.yaml": "include:\n  - {path: lib/c.yaml, project_directory: pd}\n",
      "lib/c.yaml": "services:\n  a: {extends: {file: b.yaml, service: b}}\n",
      "pd/b.yaml": "services:\n  b: {image: x, shm_size: 1g}\n", "lib/b.yaml": "services:\n  b: {image: y}\n"},
     (), "shm", G),
    # The last env file wins, the includer's variables before all of them.
    ({"compose.yaml": "include:\n  - {path: c.yaml, env_file: [one.env, two.env]}\n", "c.yaml": INCLUDED,
      "one.env": "SIZE=3g\n", "two.env": "SIZE=2g\n"}, (), "shm", 2 * G),
    ({"compose.yaml": "include:\n  - {path: c.yaml, env_file: [one.env, two.env]}\n", "c.yaml": INCLUDED,
      "one.env": "SIZE=3g\n", "two.env": "SIZE=${OTHER:-4g}\nOTHER=1g\n", ".env": "OTHER=2g\n"},
     (), "shm", 2 * G),
    ({"compose.yaml": "include:\n  - {path: c.yaml, env_file: one.env}\n", "c.yaml": INCLUDED,
      "one.env": "SIZE=3g\n", ".env": "SIZE=2g\n"}, (), "shm", 2 * G),
    # What a later file includes goes over the earlier files.
    ({"one.yaml": "services:\n  a: {image: x, shm_size: 1g}\n", "two.yaml": "include: [c.yaml]\n",
      "c.yaml": "services:\n  a: {image: y, shm_size: 2g}\n"}, ("one.yaml", "two.yaml"), "shm", 2 * G),
    # A name without a value: an included file's variables count for a list, the project's for a mapping.
    ({"compose.yaml": "include: [lib/c.yaml]\n", "lib/.env": "A=1\n",
      "lib/c.yaml": "services:\n  a: {image: x, environment: [A]}\n"}, (), "environment", {"A": "1"}),
    ({"compose.yaml": "include: [lib/c.yaml]\n", "lib/.env": "A=1\n", ".env": "B=2\n",
      "lib/c.yaml": "services:\n  a: {image: x, environment: {A: , B: }}\n"}, (), "environment",
     {"A": Unknown("variable", "it depends on the host's environment"), "B": "2"}),
    # A build without a context is in the directory of the project that writes it.
    ({"compose.yaml": "include: [lib/c.yaml]\n", "lib/c.yaml": "services:\n  a: {build: {dockerfile: D}, gpus: all}\n",
      "lib/D": "FROM right\n", "D": "FROM wrong\n"}, (), "base_images", ["right"]),
    ({"compose.yaml": "include: [lib/c.yaml]\n", "compose.override.yaml":
      "services:\n  a: {build: !override {dockerfile: D}}\n",
      "lib/c.yaml": "services:\n  a: {build: {dockerfile: D}, gpus: all}\n",
      "lib/D": "FROM wrong\n", "D": "FROM right\n"}, (), "base_images", ["right"]),
    # Tags hold for the path they are written at.
    ({"one.yaml": "services:\n  b:\n    image: x\n    " + GPU,
      "two.yaml": "services:\n  a:\n    image: y\n    " + GPU_LIST.replace("{}", "!override []", 1)
      + "\n  b: {extends: a}\n"}, ("one.yaml", "two.yaml"), "gpu b", (1, 1)),
    ({"compose.yaml": BASE + "environment: [COMPOSE_PROJECT_NAME, 'A=${COMPOSE_PROJECT_NAME:-x}']\n",
      ".env": "COMPOSE_PROJECT_NAME=p\n"}, (), "environment", {"COMPOSE_PROJECT_NAME": "p", "A": "p"}),
    ({"compose.yaml": BASE + "environment: [COMPOSE_PROJECT_NAME, 'A=${COMPOSE_PROJECT_NAME:?}']\n"}, (),
     "environment", {
         "COMPOSE_PROJECT_NAME": Unknown("variable", "it depends on the host's environment"),
         "A": Unknown("variable", "the value of variable COMPOSE_PROJECT_NAME is not known here")}),
    ({"one.yaml": "services:\n  b: {image: x, environment: {N: 1}}\n",
      "two.yaml": "services:\n  a: {image: y, environment: {N: !reset null, M: 2}}\n  b: {extends: a}\n"},
     ("one.yaml", "two.yaml"), "environment b", {"N": "1", "M": "2"}),
    ({"one.yaml": "services:\n  a:\n    image: x\n    " + GPU, "two.yaml": "include: [c.yaml]\n",
      "c.yaml": "services:\n  a:\n    image: y\n    " + GPU_LIST.replace("{}", "!override []", 1) + "\n"},
     ("one.yaml", "two.yaml"), "gpu", (1, 1)),
    ({"one.yaml": "services:\n  b: {image: x, shm_size: 1g}\n", "lib/l.yaml": "services:\n  a: {image: y, "
      "deploy: {resources: {limits: !override {memory: 2g}}}}\n", "two.yaml":
      "services:\n  b: {extends: {file: lib/l.yaml, service: a}, deploy: !reset {}}\n"},
     ("one.yaml", "two.yaml"), "memory b", None),
    # An env file that is named again keeps its first place, if the path is written in the same way.
    ({"compose.yaml": f"services:\n  a:\n    {TWO_FILES}\n", "compose.override.yaml":
      "services:\n  a: {env_file: one.env}\n", **ONE_TWO}, (), "visible", False),
    ({"compose.yaml": f"services:\n  a:\n    {TWO_FILES}\n", "compose.override.yaml":
      "services:\n  a: {env_file: [{path: one.env}]}\n", **ONE_TWO}, (), "visible", False),
    ({"compose.yaml": f"services:\n  a:\n    {TWO_FILES}\n", "compose.override.yaml":
      "services:\n  a: {env_file: ./one.env}\n", **ONE_TWO}, (), "visible", 3),
    ({"compose.yaml": "services:\n  a: {extends: {file: lib/b.yaml, service: b}, env_file: lib/one.env}\n",
      "lib/b.yaml": f"services:\n  b:\n    {TWO_FILES}\n", **{f"lib/{n}": text for n, text in ONE_TWO.items()}},
     (), "visible", False),
    ({"compose.yaml": "services:\n  a: {extends: {file: lib/b.yaml, service: b}, env_file: ./lib/one.env}\n",
      "lib/b.yaml": f"services:\n  b:\n    {TWO_FILES}\n", **{f"lib/{n}": text for n, text in ONE_TWO.items()}},
     (), "visible", 3),
    ({"compose.yaml": "include: [{path: inc/a.yaml, project_directory: pd}]\n", "inc/a.yaml":
      "services:\n  a: {extends: {file: b.yaml, service: b}, env_file: one.env}\n",
      "pd/b.yaml": f"services:\n  b:\n    {TWO_FILES}\n", **{f"pd/{n}": text for n, text in ONE_TWO.items()}},
     (), "visible", False),
]  # fmt: skip


@table(("texts", "files", "attribute", "value"), ACROSS)
def test_what_files_name_and_tag_across_directories(
    texts: dict[str, str],
    files: tuple[str, ...],
    attribute: str,
    value: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = loaded(tmp_path, monkeypatch, texts, *files)
    attribute, _, name = attribute.partition(" ")
    launch = launches(project)[name or "a"]
    assert not project.problems
    found: Any
    if attribute == "shm":
        found = shm(launch)
    elif attribute == "gpu":
        found = (len(launch.gpu.evidence), launch.gpu.number)
    elif attribute == "visible":
        found = launch.gpu.requested and launch.gpu.number
    elif attribute == "base_images":
        found = [image.value for image in launch.base_images]
    elif attribute == "environment":
        found = {key: each.value for key, each in launch.environment.items()}
    elif attribute == "memory":
        found = launch.memory_limit
    else:
        found = getattr(launch.gpu, attribute.partition(".")[2])
    assert found == value


@pytest.mark.compose_judge
@table(("texts", "files", "attribute", "value"), ACROSS)
def test_compose_reads_the_same_across_directories(
    texts: dict[str, str],
    files: tuple[str, ...],
    attribute: str,
    value: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = launches(loaded(tmp_path, monkeypatch, texts, *files))
    theirs = compose_config(tmp_path, files)
    assert theirs is not None
    assert sorted(theirs["services"]) == sorted(found)
    assert not [line for name in found for line in disagreements(theirs["services"][name], found[name])]
    if attribute == "visible":
        ids = theirs["services"]["a"]["environment"]["NVIDIA_VISIBLE_DEVICES"]
        assert value == (False if ids == "void" else len(ids.split(",")))


REFUSED: list[tuple[dict[str, str], int, str]] = [
    ({"compose.yaml": "include:\n  - none.yaml\n"}, 2, "`include` names none.yaml, and there is no such file"),
    ({"compose.yaml": "include:\n  - path: [c.yaml, none.yaml]\n", "c.yaml": INCLUDED}, 2, "names none.yaml"),
    ({"compose.yaml": "include: [c.yaml]\nservices:\n  a: {image: y, shm_size: 1g}\n", "c.yaml": INCLUDED},
     3, "`services.a` conflicts with the service of this name in c.yaml"),
    ({"compose.yaml": "include: [c.yaml]\nservices:\n  a: {shm_size: 2g}\n", "c.yaml": INCLUDED},
     3, "`services.a` conflicts"),
    ({"compose.yaml": "include: [c.yaml, d.yaml]\n", "c.yaml": INCLUDED,
      "d.yaml": "services:\n  a: {image: y}\n"}, 2, "`services.a` conflicts with the service of this name in d"),
    ({"compose.yaml": "include: c.yaml\n", "c.yaml": INCLUDED}, 1, "`include` must be a list"),
    ({"compose.yaml": "include: {path: c.yaml}\n", "c.yaml": INCLUDED}, 1, "`include` must be a list"),
    ({"compose.yaml": "include: [{file: c.yaml}]\n", "c.yaml": INCLUDED}, 1, "`include[0]` has no `path`, so the"),
    ({"compose.yaml": "include: [c.yaml, 1]\n", "c.yaml": INCLUDED}, 1, "`include[1]` must be a path, or a mapping"),
    ({"compose.yaml": "include: [[c.yaml]]\n", "c.yaml": INCLUDED}, 1, "`include[0]` must be a path, or a mapping"),
    ({"compose.yaml": "include: [{path: {a: c.yaml}}]\n", "c.yaml": INCLUDED}, 1, "`include[0]`: `path` must be"),
    ({"compose.yaml": "include: [c.yaml]\nvolumes:\n  v: {driver: local}\n", "c.yaml": INCLUDED + "volumes: {v: }\n"},
     3, "`volumes.v` conflicts with the definition of this name in c.yaml"),
    ({"compose.yaml": "include: [c.yaml, d.yaml]\n", "c.yaml": INCLUDED + "networks: {n: {external: true}}\n",
      "d.yaml": "services: {b: {image: y}}\nnetworks: {n: {}}\n"}, 5, "`networks.n` conflicts"),
    ({"compose.yaml": "include: [c.yaml]\nvolumes: {v: {labels: [a, b]}}\n",
      "c.yaml": INCLUDED + "volumes: {v: {labels: [a]}}\n"}, 2, "`volumes.v` conflicts"),
    ({"compose.yaml": "include: [c.yaml]\nsecrets: {s: {environment: A}}\n",
      "c.yaml": INCLUDED + "secrets: {s: {environment: B}}\n"}, 2, "`secrets.s` conflicts"),
    ({"compose.yaml": "include: [c/c.yaml]\nsecrets: {s: {file: ./c/key}}\n",
      "c/c.yaml": INCLUDED + "secrets: {s: {file: ./key}}\n"}, 2, "`secrets.s` conflicts"),
    ({"compose.yaml": "include: [c/c.yaml, d/d.yaml]\n", "c/c.yaml": INCLUDED + "configs: {f: {file: f}}\n",
      "d/d.yaml": "services: {b: {image: y}}\nconfigs: {f: {file: f}}\n"}, 5, "`configs.f` conflicts"),
    ({"compose.yaml": "services: {a: {image: x}}\n", ".env": "A=private\nB C=private\n"},
     1, "cannot read .env, line 2: key cannot contain a space"),
    ({"compose.yaml": "include: [{path: c.yaml, env_file: e}]\n", "c.yaml": INCLUDED, "e": "A='private\n"},
     1, "cannot read e, line 1: unterminated quoted value"),
]  # fmt: skip


@table(("texts", "line", "words"), REFUSED)
def test_what_compose_refuses_of_several_files(
    texts: dict[str, str], line: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (problem,) = loaded(tmp_path, monkeypatch, texts).problems
    assert words in problem.message and "private" not in problem.message
    assert problem.span.line == line


@pytest.mark.compose_judge
@table(("texts", "line", "words"), REFUSED)
def test_compose_refuses_the_same(
    texts: dict[str, str], line: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(tmp_path, monkeypatch, texts)
    assert compose_config(tmp_path) is None


def test_an_include_that_gives_the_same_twice_is_no_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "compose.yaml": "include: [one.yaml, two.yaml]\n",
        "one.yaml": "include: [c.yaml]\n",
        "two.yaml": "include: [c.yaml]\n",
        "c.yaml": INCLUDED,
    }
    project = loaded(tmp_path, monkeypatch, texts)
    assert not project.problems
    assert shm(launches(project)["a"]) == G
    assert project.included == {"one.yaml", "two.yaml", "c.yaml"}


SAME_DEFINITIONS: list[dict[str, str]] = [
    {"compose.yaml": "include: [c/c.yaml]\nsecrets: {s: {file: c/key}}\n",
     "c/c.yaml": INCLUDED + "secrets: {s: {file: ./key}}\n"},
    {"compose.yaml": "include: [c/c.yaml, d/d.yaml]\n", "c/c.yaml": INCLUDED + "configs: {f: {file: ../f}}\n",
     "d/d.yaml": "services: {b: {image: y}}\nconfigs: {f: {file: ../c/../f}}\n"},
    {"compose.yaml": "include: [{path: c/c.yaml, project_directory: .}]\nsecrets: {s: {file: key}}\n",
     "c/c.yaml": INCLUDED + "secrets: {s: {file: ./key}}\n"},
    {"compose.yaml": "include: [b/b.yaml]\nsecrets: {s: {file: b/c/key}}\n", "b/b.yaml": "include: [c/c.yaml]\n",
     "b/c/c.yaml": INCLUDED + "secrets: {s: {file: key}}\n"},
]  # fmt: skip


@table("texts", SAME_DEFINITIONS)
def test_the_same_file_is_no_conflict(
    texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not loaded(tmp_path, monkeypatch, texts).problems


@pytest.mark.compose_judge
@table("texts", SAME_DEFINITIONS)
def test_compose_takes_the_same_file(texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(tmp_path, monkeypatch, texts)
    assert compose_config(tmp_path) is not None


@table(
    ("one", "other"),
    [
        ("", "null"), ("{}", "{}"), ("{driver: local}", "{driver: '${D:-local}'}"), ("{name: $N}", "{name: x}"),
        ("{external: true}", "{external: true}"), ("{labels: [a]}", "{labels: [a]}"),
        ("{driver_opts: {type: tmpfs}}", "{driver_opts: {type: tmpfs}}"),
    ],
)
def test_what_is_defined_twice_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    for key in ("volumes", "networks"):
        own, included = (f"{key}: {{v: {each}}}\n" for each in (one, other))
        texts = {"compose.yaml": f"include: [c.yaml]\n{own}", "c.yaml": INCLUDED + included}
        assert loaded(tmp_path, monkeypatch, texts).problems == []


TWICE = [
    "", "    gpus: all\n", "    gpus: [{count: all}]\n", "    ports: ['80:80']\n", "    ports: [{target: 80}]\n",
    "    volumes: ['/a:/b']\n", "    volumes: [{type: bind, source: /a, target: /b}]\n", "    env_file: [.env]\n",
    "    networks: [default]\n", "    networks: {default: }\n", "    depends_on: [b]\n", "    dns: 1.1.1.1\n",
    "    depends_on: {b: {condition: service_started}}\n", "    build: .\n", "    build: {context: .}\n",
    "    depends_on: {b: {condition: service_started, required: true}}\n", "    environment: [A=1]\n",
    "    devices: [/dev/null]\n", "    tmpfs: /x\n", "    command: a b\n", "    ulimits: {memlock: -1}\n",
]  # fmt: skip
SHORT = ("gpus: all", "ports", "'/a:/b'", "env_file", "[default]", "[b]", "1.1.1.1", "started}}", "build: .", "devices")


def written_twice(lines: str) -> tuple[dict[str, str], dict[str, str]]:
    """A service in two files that are included, and in one that includes the other."""
    text = f"services:\n  b: {{image: y}}\n  a:\n    image: x\n{lines}"
    files = {"c.yaml": text, "d.yaml": text, ".env": ""}
    return (
        {**files, "compose.yaml": "include: [c.yaml, d.yaml]\n"},
        {**files, "compose.yaml": f"include: [c.yaml]\n{text}"},
    )


@table("lines", TWICE)
def test_a_service_that_is_written_twice_with_the_same_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    """Two included files may both have it; the file that includes one may not, if Compose makes a form longer."""
    included, written = written_twice(lines)
    project = loaded(tmp_path, monkeypatch, included)
    assert not project.problems and not launches(project)["a"].gpu.invalid
    project = loaded(tmp_path, monkeypatch, written)
    conflicts = any(form in lines for form in SHORT)
    assert ["conflicts" in problem.message for problem in project.problems] == [True] * conflicts
    assert not launches(project)["a"].gpu.invalid and bool(launches(project)["a"].undecided) == conflicts


@pytest.mark.compose_judge
@table("lines", TWICE)
def test_compose_agrees_on_a_service_that_is_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    for texts in written_twice(lines):
        problems = loaded(tmp_path, monkeypatch, texts).problems
        assert (compose_config(tmp_path) is None) == bool(problems)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("services:\n  a: {extends: b}\n  b: {extends: a}\n", 2, "circular: b → a → b"),
        ("services:\n  a: {extends: a}\n", 2, "circular: a → a"),
        ("services:\n  a: {extends: {file: compose.yaml, service: a}}\n", 2, "circular"),
        ("services:\n  a: {extends: none}\n", 2, "names `none`, which is not a service of compose.yaml"),
        ("services:\n  a:\n    image: x\ninclude:\n  - compose.yaml\n", 5, "`include` is circular"),
        ("services:\n" + "".join(f"  s{i}: {{extends: s{i + 1}}}\n" for i in range(300)) + "  s300: {image: x}\n",
         None, "goes through more than 100 services"),
    ],
)  # fmt: skip
def test_circles_and_gaps_are_problems(
    text: str, line: int | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = loaded(tmp_path, monkeypatch, {"compose.yaml": text})
    problems = project.problems
    assert len(problems) == 1
    assert words in problems[0].message or words.replace("b → a → b", "a → b → a") in problems[0].message
    assert line is None or problems[0].span.line in (line, line + 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("services:\n  a: {extends: {file: none.yaml, service: a}}\n", "none.yaml, which does not exist"),
        ("services:\n  a: {extends: {file: '${F}', service: a}}\n", "a file that a variable names"),
        ("services:\n  a: {extends: {file: /etc/passwd, service: a}}\n", "outside the repository"),
        ("services:\n  a: {extends: {file: https://example.com/x.yaml, service: a}}\n", "not fetched"),
        ("include: [none.yaml]\nservices:\n  a: {image: x}\n", "none.yaml, which does not exist"),
    ],
)
def test_what_is_not_here_leaves_a_launch_undecided(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undecided = launches(loaded(tmp_path, monkeypatch, {"compose.yaml": text}))["a"].undecided
    assert undecided is not None and words in undecided.because


def test_values_of_an_env_file_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"compose.yaml": BASE + "shm_size: $S\n    environment: [S, 'T=${S}', U=$D]\n", ".env": "S=1g\nD='$S'\n"}
    launch = launches(loaded(tmp_path, monkeypatch, texts))["a"]
    assert launch.shm is not None
    assert (launch.shm.private, launch.shm.text) == (True, "$S")
    assert {n: (v.value, v.private, "1g" in v.text) for n, v in launch.environment.items()} == {
        "S": ("1g", True, False), "T": ("1g", True, False), "U": ("$S", True, False),
    }  # fmt: skip


def test_a_value_through_three_files_knows_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "compose.yaml": "services:\n  a: {extends: {file: l/b.yaml, service: b}}\n",
        "l/b.yaml": "services:\n  b: {extends: {file: c.yaml, service: c}}\n",
        "l/c.yaml": "services:\n  c:\n    image: x\n    shm_size: 1g # here\n",
    }
    launch = launches(loaded(tmp_path, monkeypatch, texts))["a"]
    assert launch.shm is not None
    assert (launch.shm.span.path, launch.shm.span.begin, launch.shm.span.text) == ("l/c.yaml", (4, 15), "1g")
    assert launch.span.path == "compose.yaml"


def test_a_service_stands_in_its_first_file_and_is_also_at_the_others(tmp_path: Path) -> None:
    files = dict.fromkeys(("compose.yaml", "compose.override.yaml"), "services:\n  x: {image: a, gpus: all}\n")
    both = next(launch for launch in run(tmp_path, files).launches if len(launch.files) > 1)
    assert (both.span.path, both.span.line) == ("compose.yaml", 2)
    assert [(span.path, span.line) for span in both.also_at] == [("compose.override.yaml", 2)]
