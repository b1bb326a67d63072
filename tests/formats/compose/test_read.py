"""Which compose files are read together, what a service asks for, and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.formats.compose import users as compose_users
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.run import Run, lint
from tests import project
from tests.table import table

GPU = "    gpus: all\n"
TRAINER = "services:\n  t:\n    image: pytorch/pytorch\n    command: torchrun --nproc_per_node=8 train.py\n"


def run(texts: dict[str, str], *paths: str, settings: Settings | None = None) -> Run:
    """A run over texts that are on no disk; over all of them where no paths are given."""
    wanted = list(paths or [path for path in texts if path.endswith((".yml", ".yaml"))])
    return lint({"compose": wanted}, settings or Settings(), Workspace(texts))


def only(texts: dict[str, str], *paths: str) -> Launch:
    (launch,) = run(texts, *paths).launches
    return launch


def said(found: Run) -> list[tuple[str, str, str]]:
    return [(finding.rule, finding.severity, finding.span.path) for finding in found.findings]


RESERVED = "    deploy: {{resources: {{reservations: {{devices: [{}]}}}}}}\n"


@table(
    ("lines", "requested", "vendor", "count"),
    [
        (RESERVED.format("{capabilities: [gpu]}"), True, "nvidia", "all"),
        (RESERVED.format("{capabilities: [gpu], count: 2}"), True, "nvidia", 2),
        (RESERVED.format("{capabilities: [gpu], count: '2'}"), True, "nvidia", 2),
        (RESERVED.format("{capabilities: [gpu], count: ALL}"), True, "nvidia", "all"),
        (RESERVED.format("{capabilities: [gpu], count: -1}"), True, "nvidia", "all"),
        (RESERVED.format("{capabilities: [gpu], count: 0}"), False, None, None),
        (RESERVED.format("{capabilities: [gpu], count: '${N}'}"), True, "nvidia", None),
        (RESERVED.format("{capabilities: [gpu], count: '${N:-4}'}"), True, "nvidia", 4),
        (RESERVED.format("{capabilities: [gpu], device_ids: ['0', '3']}"), True, "nvidia", 2),
        (RESERVED.format("{capabilities: [gpu], device_ids: ['0,1,3']}"), True, "nvidia", 3),
        (RESERVED.format("{capabilities: [gpu], device_ids: ['all']}"), True, "nvidia", "all"),
        (RESERVED.format("{capabilities: [gpu], device_ids: ['0:0', '0:1']}"), True, "nvidia", 2),
        (RESERVED.format("{driver: nvidia, capabilities: [compute, utility]}"), True, "nvidia", "all"),
        (RESERVED.format("{capabilities: [video]}"), True, "nvidia", "all"),
        (RESERVED.format("{driver: amd, capabilities: [gpu]}"), True, "amd", "all"),
        (RESERVED.format("{capabilities: [amd, gpu]}"), True, "amd", "all"),
        (RESERVED.format("{driver: cdi, device_ids: [nvidia.com/gpu=all], capabilities: [x]}"), True, "nvidia", "all"),
        (RESERVED.format("{capabilities: [tpu]}"), False, None, None),
        (RESERVED.format("{capabilities: [gpu], count: 1}, {capabilities: [gpu], count: 4}"), True, "nvidia", 4),
        ("    gpus: all\n", True, "nvidia", "all"),
        ("    gpus: [{}]\n", True, "nvidia", "all"),
        ("    gpus: [{count: 2}]\n", True, "nvidia", 2),
        ("    gpus: [{driver: nvidia, device_ids: ['1']}]\n", True, "nvidia", 1),
        ("    gpus: []\n", False, None, None),
        ("    gpus: ${G}\n", None, None, None),
        ("    gpus: ${G:-all}\n", True, "nvidia", "all"),
        ("    runtime: nvidia\n", True, "nvidia", "all"),
        ("    runtime: nvidia\n    environment: [NVIDIA_VISIBLE_DEVICES=all]\n", True, "nvidia", "all"),
        ("    runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: '0,2'}\n", True, "nvidia", 2),
        ("    runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: none}\n", False, None, None),
        ("    runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: void}\n", False, None, None),
        ("    runtime: amd\n", True, "amd", "all"),
        ("    runtime: runc\n", False, None, None),
        ("    runtime: ${R}\n", None, None, None),
        ("    environment: [NVIDIA_VISIBLE_DEVICES=all]\n", None, None, None),
        ("    environment: [CUDA_VISIBLE_DEVICES=0]\n", False, None, None),
        ("    devices: [nvidia.com/gpu=all]\n", True, "nvidia", "all"),
        ("    devices: [nvidia.com/gpu=0, nvidia.com/gpu=1]\n", True, "nvidia", 2),
        ("    devices: [amd.com/gpu=0]\n", True, "amd", 1),
        ("    devices: [/dev/nvidia0, /dev/nvidia1, /dev/nvidiactl, /dev/nvidia-uvm]\n", True, "nvidia", 2),
        ("    devices: [{source: /dev/nvidia0, target: /dev/nvidia0}]\n", True, "nvidia", 1),
        ("    devices: [/dev/kfd, /dev/dri]\n", True, "amd", "all"),
        ("    devices: [/dev/kfd, /dev/dri/renderD128, /dev/dri/renderD129]\n", True, "amd", 2),
        ("    devices: [/dev/dri:/dev/dri]\n", False, None, None),
        ("    devices: [/dev/dxg]\n", True, "nvidia", None),
        ("    devices: [/dev/snd]\n", False, None, None),
        ("    deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec:"
         " {kind: NVIDIA-GPU, value: 2}}]}}}\n", True, "nvidia", 2),
        ("    deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec:"
         " {kind: SSD, value: 2}}]}}}\n", False, None, None),
        ("    privileged: true\n", False, None, None),
        ("", False, None, None),
    ],
)  # fmt: skip
def test_who_asks_for_a_gpu(lines: str, requested: bool | None, vendor: str | None, count: object) -> None:
    gpu = only({"compose.yaml": f"services:\n  a:\n    image: x\n{lines}"}).gpu
    assert (gpu.requested, gpu.vendor, gpu.number) == (requested, vendor, count)
    assert bool(gpu.evidence) == bool(requested)


G = 1 << 30


@table(
    ("lines", "decided_by", "size"),
    [
        ("", "default", 64 << 20),
        ("    shm_size: 1g\n", "shm_size", G),
        ("    shm_size: 0\n", "default", 64 << 20),
        ("    shm_size: 1e9\n", "default", 64 << 20),
        ("    shm_size: ${S}\n", "unknown", None),
        ("    shm_size: 1g\n    ipc: host\n", "host", None),
        ("    shm_size: 1g\n    ipc: shareable\n", "shm_size", G),
        ("    shm_size: 1g\n    ipc: none\n", "none", 0),
        ("    shm_size: 1g\n    ipc: service:d\n", "donor", 2 * G),
        # Volumes of others are mounted at the same place; a tmpfs is none.
        ("    shm_size: 1g\n    volumes_from: [e]\n", "bind", None),
        ("    volumes_from: ['e:ro']\n    volumes: [{type: tmpfs, target: /dev/shm}]\n", "tmpfs", None),
        ("    shm_size: 1g\n    volumes_from: [f, 'container:e']\n", "shm_size", G),
        ("    shm_size: 1g\n    ipc: container:named\n", "donor", 2 * G),
        ("    shm_size: 1g\n    ipc: container:other\n", "donor", None),
        ("    ipc: ${I}\n", "unknown", None),
        ("    shm_size: 1g\n    ipc: Host\n", "unknown", None),
        ("    ipc: ${I}:d\n", "unknown", None),
        ("    shm_size: 1g\n    ipc: container:${I}\n", "donor", None),
        ("    shm_size: 1g\n    tmpfs: [/dev/shm]\n", "tmpfs", None),
        ("    shm_size: 1g\n    tmpfs: /dev/shm:size=3g\n", "tmpfs", 3 * G),
        ("    shm_size: 1g\n    tmpfs: /dev/shm:size=3gb\n", "tmpfs", None),
        ("    shm_size: 1g\n    tmpfs: [/dev/shm/:size=50%]\n", "tmpfs", None),
        ("    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 1.5gb}}]\n", "tmpfs", 3 * G // 2),
        ("    volumes: ['/dev/shm:/dev/shm']\n    ipc: host\n", "bind", None),
        ("    volumes: ['shm:/dev/shm']\n", "volume", None),
        ("    volumes: [/dev:/dev]\n    shm_size: 1g\n", "bind", None),
        ("    volumes: ['/dev:/dev', {type: tmpfs, target: /dev/shm, tmpfs: {size: 1g}}]\n", "tmpfs", G),
        ("    volumes: ['/dev/shm-x:/dev/shm-x']\n", "default", 64 << 20),
        ("    volumes: ['C:\\data:/dev/shm']\n", "bind", None),
        ("    volumes: ['${DATA:?missing}:/dev/shm']\n", "volume", None),
        ("    volumes: ['${DATA}/shm:/dev/shm']\n", "bind", None),
    ],
)
def test_what_dev_shm_becomes(lines: str, decided_by: str, size: int | None) -> None:
    donor = "  d:\n    image: y\n    container_name: named\n    ipc: shareable\n    shm_size: 2g\n"
    donor += "  e: {image: y, volumes: ['/dev/shm:/dev/shm']}\n  f: {image: y, tmpfs: /dev/shm}\n"
    found = run({"compose.yaml": f"services:\n  a:\n    image: x\n{lines}{donor}"}).launches[0].effective_shm()
    assert (found.decided_by, found.bytes) == (decided_by, size)


@table(
    ("volume", "bind"),
    [
        ("'./code:/app:ro'", ("proj/./code", "/app", True)),
        ("'code:/app'", ("code", "/app", False)),
        ("'/app'", None),
        ("'C:\\code:/app'", ("C:\\code", "/app", False)),
        ("'$CODE:/app'", ("$CODE", "/app", False)),
        ("'${CODE:?say where}/src:/app'", ("$CODE/src", "/app", False)),
        ("'${CODE:-./code}:/app'", ("proj/./code", "/app", True)),
        ("{type: bind, source: '${CODE:?say where}', target: /app}", ("$CODE", "/app", False)),
    ],
)
def test_what_is_mounted_of_the_host(volume: str, bind: tuple[str, str, bool] | None) -> None:
    launch = run({"proj/compose.yaml": f"services:\n  a:\n    image: x\n    volumes: [{volume}]\n"}).launches[0]
    assert [(b.source, b.target, b.resolved) for b in launch.binds] == ([bind] if bind else [])


def test_an_overlay_is_judged_with_its_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = f"services:\n  t:\n{GPU}"
    found = run({"docker-compose.yml": TRAINER + "    shm_size: 8gb\n", "docker-compose.gpu.yml": overlay})
    assert [launch.files for launch in found.launches] == [
        ("docker-compose.yml",), ("docker-compose.yml", "docker-compose.gpu.yml"),
    ]  # fmt: skip
    assert said(found) == []
    without = run({"docker-compose.yml": TRAINER, "docker-compose.gpu.yml": overlay})
    assert said(without) == [("SHM101", "error", "docker-compose.gpu.yml")]


def test_an_overlay_without_a_base_is_undecided() -> None:
    found = run({"compose.gpu.yaml": f"services:\n  t:\n{GPU}"})
    undecided = found.launches[0].undecided
    assert undecided is not None and "another Compose file" in undecided.because
    assert said(found) == []


def test_a_fragment_that_is_only_extended_is_not_judged_alone() -> None:
    texts = {
        "common.yaml": f"services:\n  base:\n    image: pytorch/pytorch\n{GPU}",
        "compose.yaml": "services:\n  t:\n    extends: {file: common.yaml, service: base}\n    shm_size: 8gb\n",
    }
    assert said(run(texts)) == []


@table(
    ("includer", "beside"),
    [
        ("include: [lib/gpu.yaml]\n", {".env": "SHM: 16g\n"}),
        ("include: [lib/gpu.yaml]\n", {"compose.override.yaml": "services:\n  t: {shm_size: 16g}\n"}),
        ("include:\n  - {path: lib/gpu.yaml, env_file: [one.env, two.env]}\n",
         {"one.env": "SHM=64m\n", "two.env": "SHM=16g\n"}),
        ("include:\n  - path: [lib/gpu.yaml, lib/size.yaml]\n", {"lib/size.yaml": "services:\n  t: {shm_size: 16g}\n"}),
        ("include: [mid/compose.yaml]\n", {"mid/compose.yaml": "include: [../lib/gpu.yaml]\n", "mid/.env": "SHM=16g"}),
    ],
)  # fmt: skip
def test_an_included_file_is_judged_where_it_is_included(includer: str, beside: dict[str, str]) -> None:
    for place in ("lib/gpu.compose.yaml", "lib/docker-compose.yml", "compose.gpu.yaml"):
        texts = {"compose.yaml": includer, "lib/gpu.yaml": TRAINER + GPU + "    shm_size: ${SHM:-64m}\n", **beside}
        moved = {
            name.replace("lib/gpu.yaml", place): text.replace("lib/gpu.yaml", place) for name, text in texts.items()
        }
        assert said(run(moved)) == [], place
    assert [rule for rule, *_ in said(run({"lib/gpu.yaml": texts["lib/gpu.yaml"]}))] == ["SHM102"]


def test_an_includer_is_found_above_the_files_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"compose.yaml": "include: [lib/compose.gpu.yaml]\n", "lib/compose.gpu.yaml": TRAINER + GPU}
    project.write(tmp_path, {**texts, ".git/HEAD": ""})
    monkeypatch.chdir(tmp_path)
    for top in ("", f"{tmp_path}/"):
        included = f"{top}lib/compose.gpu.yaml"
        found = lint({"compose": [included]}, Settings(), Workspace())
        assert [launch.files for launch in found.launches] == [(f"{top}compose.yaml",)]
        assert said(found) == [("SHM101", "error", included)]
        alone = lint({"compose": [included]}, Settings(projects=((included,),)), Workspace())
        assert (included,) in [launch.files for launch in alone.launches]


SIZED = "    shm_size: ${SHM:-64m}\n"
INCLUDER = {"app/compose.yaml": "include: [../lib/gpu.yaml]\n"}
OVERRIDE = "services:\n  t: {shm_size: 16g}\n"
EXTENDER = "services:\n  a:\n    extends: {file: ../lib/gpu.yaml, service: t}\n    shm_size: 16g\n"
BELOW = {"mid/part.yaml": INCLUDER["app/compose.yaml"], "app/compose.yaml": "include: [../mid/part.yaml]\n"}
BY_SCRIPT = {"app/base.yml": f"{INCLUDER['app/compose.yaml']}services:\n  db: {{image: redis}}\n",
             "app/more.yml": OVERRIDE, "app/up.sh": "docker compose -f base.yml -f more.yml up\n"}


@table(
    ("texts", "rules"),
    [
        ({}, ["SHM102"]),
        (INCLUDER, ["SHM102"]),
        ({**INCLUDER, "app/.env": "SHM=16g\n"}, []),
        ({**INCLUDER, "app/compose.override.yaml": OVERRIDE}, []),
        ({"app/compose.yaml": "include: ['${LIB:-../lib}/${NAME:-gpu.yaml}']\n", "app/.env": "SHM=16g\n"}, []),
        ({**BELOW, "app/compose.override.yaml": OVERRIDE}, []),
        (BY_SCRIPT, []),
        ({"proj/compose.yaml": EXTENDER, "lib/gpu.yaml": TRAINER + GPU}, []),
        ({"deep/er/compose.yaml": EXTENDER.replace("../", "../../"), "lib/gpu.yaml": TRAINER + GPU}, []),
        # Another file of this name, another service, and a file that is no Compose file.
        ({"app/compose.yaml": "include: [gpu.yaml]\n", "app/gpu.yaml": TRAINER, "app/.env": "SHM=16g\n"}, ["SHM102"]),
        ({"lib/other.yaml": "services:\n  t: {image: redis}\n",
          "proj/compose.yaml": EXTENDER.replace("gpu.yaml", "other.yaml") + "    # lib/gpu.yaml\n"}, ["SHM102"]),
        ({".gitlab-ci.yml": INCLUDER["app/compose.yaml"] + "job: {script: make}\n"}, ["SHM102"]),
    ],
)  # fmt: skip
def test_a_file_that_is_named_alone_is_judged_as_in_its_repository(
    tmp_path: Path, texts: dict[str, str], rules: list[str]
) -> None:
    project.write(tmp_path, {"lib/gpu.yaml": TRAINER + GPU + SIZED, **texts})
    for inside, named in (("", "lib/gpu.yaml"), ("lib", "gpu.yaml"), ("lib", f"{tmp_path}/lib/gpu.yaml")):
        with contextlib.chdir(tmp_path / inside):
            found = lint({"compose": [named]}, Settings(), Workspace())
        assert [finding.rule for finding in found.findings] == rules, (inside, named)
        (tmp_path / ".git").mkdir(exist_ok=True)  # outside of a repository the working directory counts


@pytest.mark.parametrize("include", ["lib/gpu.yaml", "{path: lib/gpu.yaml}", "[{file: lib/gpu.yaml}]"])
def test_a_file_that_a_wrong_include_names_is_not_judged_alone(include: str) -> None:
    texts = {"compose.yaml": f"include: {include}\n", "lib/gpu.yaml": TRAINER + GPU + SIZED, ".env": "SHM=16g\n"}
    assert said(run(texts)) == [("SHM001", "error", "compose.yaml")]


@table(
    ("lines", "looks"),
    [
        (GPU, True), (GPU + SIZED, True), (GPU + "    shm_size: 8gb\n", False), (GPU + "    ipc: host\n", False),
        ("    shm_size: 64m\n", False), ("", False),
    ],
)
def test_the_repository_is_searched_only_for_services_that_may_have_too_little(
    monkeypatch: pytest.MonkeyPatch, lines: str, looks: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(compose_users, "takers", lambda paths, workspace: asked.extend(paths) or [])
    run({"lib/gpu.yaml": TRAINER + lines})
    assert asked == ["lib/gpu.yaml"] * looks


@pytest.mark.parametrize("override", ["compose.override.yaml", "docker-compose.override.yml"])
def test_the_automatic_override_is_read(override: str) -> None:
    texts = {"compose.yaml": TRAINER + GPU, override: "services:\n  t: {shm_size: 8gb}\n"}
    found = run(texts)
    assert [launch.files for launch in found.launches] == [("compose.yaml", override)]
    assert said(found) == []


def test_a_complete_file_that_could_be_put_on_the_base_says_which_reading_it_speaks_of() -> None:
    texts = {"docker-compose.yml": TRAINER + "    shm_size: 8gb\n", "docker-compose.gpu.yml": TRAINER + GPU}
    (finding,) = run(texts, "docker-compose.gpu.yml").findings
    assert finding.severity == "warning"
    assert "when docker-compose.gpu.yml is started alone" in finding.message


OVERLAY = f"services:\n  t:\n{GPU}"


@table(
    ("base", "others", "files"),
    [
        # The base is the file of which the overlay's name says more.
        ("compose.t.yml", ["compose.t.rocm.yml", "compose.t.build.yml"], {"compose.x.t.nvidia.yml": ["compose.t.yml"]}),
        ("compose.t.yml", ["compose.u.yml"], {"compose.t.dev.yml": ["compose.t.yml"]}),
        ("compose.dev.yml", ["compose.development.yml"], {"compose.dev.gpu.yml": ["compose.dev.yml"]}),
        ("docker-compose.app.yml", ["docker-compose.app.dev.yml"],
         {"docker-compose.app.dev.gpu.yml": ["docker-compose.app.dev.yml"]}),
        # No name says so: any that is no variant of another may be.
        ("compose.app.yml", ["compose.app.rocm.yml", "compose.other.yml"],
         {"compose.gpu.yml": ["compose.app.yml", "compose.other.yml"]}),
    ],
)  # fmt: skip
def test_the_files_an_overlay_is_put_on(base: str, others: list[str], files: dict[str, list[str]]) -> None:
    for overlay, bases in files.items():
        found = run(dict.fromkeys((base, *others), TRAINER) | {overlay: OVERLAY}, overlay)
        assert [launch.files for launch in found.launches] == [(name, overlay) for name in bases]


def test_a_complete_variant_of_a_file_beside_it_says_which_reading_it_speaks_of() -> None:
    sized = TRAINER + "    shm_size: 8gb\n"
    (finding,) = run({"compose.t.yml": sized, "compose.t.rocm.yml": TRAINER + GPU}, "compose.t.rocm.yml").findings
    assert finding.severity == "warning" and finding.message.endswith("(when compose.t.rocm.yml is started alone)")


@table(
    ("first", "second", "said"),
    [
        ("", "", [""]),
        ("", "    shm_size: 8gb\n", [" (when started with compose.a.yml and compose.gpu.yml)"]),
        ("", "    shm_size: 128mb\n", [" (when started with compose.a.yml and compose.gpu.yml)",
                                       " (when started with compose.b.yml and compose.gpu.yml)"]),
    ],
)  # fmt: skip
def test_a_combination_is_named_where_another_one_says_something_else(
    first: str, second: str, said: list[str]
) -> None:
    texts = {"compose.a.yml": TRAINER + first, "compose.b.yml": TRAINER + second, "compose.gpu.yml": OVERLAY}
    messages = sorted((finding.message for finding in run(texts).findings), key=lambda message: message[-40:])
    assert [message[message.find(" (when") :] if "(when" in message else "" for message in messages] == said


def test_what_is_wrong_as_it_is_written_names_no_combination() -> None:
    texts = {"docker-compose.yml": TRAINER + "    shm_size: 8gb\n",
             "docker-compose.gpu.yml": TRAINER + GPU + "    shm_size: 8Gi\n"}  # fmt: skip
    (finding,) = run(texts, "docker-compose.gpu.yml").findings
    assert finding.rule == "SHM201" and "when" not in finding.message


@table(
    "base, overlay, together",
    [
        ("{image: x, command: train}", "{image: 'x:gpu', runtime: nvidia}", True),
        ("{build: ., volumes: ['./code:/code']}", "{build: gpu, gpus: all, shm_size: 8gb}", True),
        ("{image: x, command: train}", "{image: 'x:gpu', runtime: nvidia, command: serve}", False),
        ("{image: x}", "{image: 'x:gpu', runtime: nvidia}", False),
    ],
)
def test_a_file_that_only_says_on_what_services_run_is_put_on_the_base(
    base: str, overlay: str, together: bool
) -> None:
    texts = {"compose.yaml": f"services: {{t: {base}}}\n", "compose.gpu.yaml": f"services: {{t: {overlay}}}\n"}
    files = run(texts, "compose.gpu.yaml").launches[0].files
    assert files == (("compose.yaml", "compose.gpu.yaml") if together else ("compose.gpu.yaml",))


def test_projects_of_the_settings_are_read_as_named() -> None:
    texts = {"one.yaml": TRAINER + GPU, "two.yaml": "services:\n  t: {shm_size: 8gb}\n"}
    found = run(texts, settings=Settings(projects=(("one.yaml", "two.yaml"),)))
    assert [launch.files for launch in found.launches] == [("one.yaml", "two.yaml")]
    assert said(found) == []


def test_values_of_an_env_file_are_never_printed() -> None:
    secret = "3ecre7"
    texts = {
        "compose.yaml": f"services:\n  t:\n    image: pytorch/pytorch\n    shm_size: ${{S}}\n{GPU}"
        "    environment: [TOKEN, 'T2=${TOKEN}']\n    command: train --token $TOKEN\n",
        ".env": f"TOKEN={secret}\nS=64m{secret}\n",
    }
    found = run(texts)

    def words(finding: Finding) -> str:
        return f"{finding.message} {finding.needs} {finding.advice} {[e.text for e in finding.evidence]}"

    assert not any(secret in words(finding) for finding in found.findings)


DOCKERFILE = """ARG BASE=nvcr.io/nvidia/pytorch:24.01-py3
FROM python:3.12 AS slim
CMD ["serve"]
FROM ${BASE} AS train
ENTRYPOINT ["torchrun"]
CMD ["train.py"]
"""


@table(
    ("build", "bases", "entrypoint", "command"),
    [
        (".", ["nvcr.io/nvidia/pytorch:24.01-py3"], ("torchrun",), ("train.py",)),
        ("{context: .}", ["nvcr.io/nvidia/pytorch:24.01-py3"], ("torchrun",), ("train.py",)),
        ("{context: ., target: slim}", ["python:3.12"], None, ("serve",)),
        ("{context: ., args: {BASE: x:1}}", ["x:1"], ("torchrun",), ("train.py",)),
        ("{context: ., args: [BASE=x:2]}", ["x:2"], ("torchrun",), ("train.py",)),
        ("{dockerfile_inline: 'FROM y:1'}", ["y:1"], None, None),
        ("{context: none}", [], None, None),
        ("https://example.com/x.git", [], None, None),
    ],
)
def test_a_dockerfile_tells_base_and_command(build: str, bases: list[str], entrypoint: object, command: object) -> None:
    text = f"services:\n  a:\n    build: {build}\n{GPU}"
    launch = only({"compose.yaml": text, "Dockerfile": DOCKERFILE}, "compose.yaml")
    assert [base.value for base in launch.base_images] == bases
    assert (launch.entrypoint.value if launch.entrypoint else None) == entrypoint
    assert (launch.command.value if launch.command else None) == command


@table(("target", "lines"), [("train", [5, 6]), ("slim", [3])])
def test_the_lines_of_a_dockerfile_that_tell_them(target: str, lines: list[int]) -> None:
    text = f"services:\n  a:\n    build: {{context: ., target: {target}}}\n{GPU}"
    launch = only({"compose.yaml": text, "Dockerfile": DOCKERFILE}, "compose.yaml")
    told = [part.span for part in (launch.entrypoint, launch.command) if part is not None]
    assert [(span.path, span.line) for span in told if span is not None] == [("Dockerfile", line) for line in lines]


@table(
    ("text", "position", "words"),
    [
        ("services:\n  a: [1]\n", (2, 6), "`services.a` must be a mapping"),
        ("services:\n  a: text\n", (2, 6), "`services.a` must be a mapping"),
        ("services:\n  - a\n", (2, 3), "`services` must be a mapping of services"),
        ("services: 3\n", (1, 11), "`services` must be a mapping of services"),
        ("services:\n  a:\n    image: [x]\n", (3, 12), "`services.a.image` must be a string"),
        ("services:\n  a:\n    image: 3\n", (3, 12), "`services.a.image` must be a string"),
        ("services:\n  a:\n    tmpfs: {x: y}\n", (3, 12), "must be a string or a list"),
        ("services:\n  a: {image: x}\n  a: {image: y}\n", (3, 3), "key `a` is already set in line 2"),
        ("- a\n", (1, 1), "expected a mapping at the top, found a list"),
        ("", (1, 1), "it is empty"),
        ("services:\n\ta: b\n", (2, 1), "a tab in the indentation"),
        ("services:\n  a: *x\n", (2, 6), "no anchor"),
        ("services: " + "[" * 10_000 + "]" * 10_000, None, "nested more than"),
    ],
)
def test_what_is_no_compose_file_is_one_finding(text: str, position: object, words: str) -> None:
    (finding,) = [f for f in run({"compose.yaml": text}).findings if f.rule == "SHM001"]
    assert words in finding.message
    assert position is None or finding.span.begin == position


@table(
    "text",
    ["services: {}\n", "services:\n", "services: !reset {}\n", "services:\n  a: !reset\n",
     "services:\n  a: {image: yes}\n", "version: '3'\nservices: {a: {image: x, init: yes}}\n", "name: x\n"],
)  # fmt: skip
def test_nothing_is_said_of(text: str) -> None:
    assert said(run({"compose.yaml": text})) == []


@table(
    ("text", "line"),
    [
        ("web:\n  image: a\ntrainer:\n  image: b\n  runtime: nvidia\n", 5),
        ("trainer:\n  build: .\n  shm_size: 1g\n  runtime: 'nvidia'\n", 4),
        ("web:\n  image: a\n", None),
        ("image: a\nruntime: nvidia\n", None),
        ("x-base:\n  image: a\n  runtime: nvidia\nservices: {}\n", None),
        ("volumes:\n  image: a\n  runtime: nvidia\n", None),
    ],
)
def test_a_file_of_version_1_that_asks_for_a_gpu_is_told(text: str, line: int | None) -> None:
    started = run({"docker-compose.yml": text})
    told = [place.span.line for place in started.not_read if place.whole and "version 1" in place.because]
    assert (list(started.launches), told) == ([], [line] if line is not None else [])


def test_a_file_in_json_is_read_and_mended(tmp_path: Path) -> None:
    service = '"image": "nvcr.io/nvidia/pytorch:24.01-py3",\n      "gpus": "all"'
    text = f'{{\n  "services": {{\n    "t": {{\n      {service}\n    }}\n  }}\n}}\n'
    fixed = project.fixed(tmp_path, {"docker-compose.gpu.json": text})
    assert fixed == {"docker-compose.gpu.json": text.replace('"gpus"', '"shm_size": "8gb",\n      "gpus"')}


def test_hostile_aliases_take_time_by_the_text() -> None:
    lines = "".join(f"x{i}: &x{i} {{{', '.join(f'k{j}: *x{i - 1}' for j in range(9))}}}\n" for i in range(1, 60))
    services = "services:\n  a: {image: x, deploy: *x59, environment: *x59, build: *x59}\n  b: *x59\n"
    assert len(run({"compose.yaml": f"x0: &x0 {{k: v}}\n{lines}{services}"}).launches) == 2


@table(
    ("files", "requested", "count"),
    [
        ({"gpu.env": "NVIDIA_VISIBLE_DEVICES=none\n"}, False, None),
        ({"gpu.env": "NVIDIA_VISIBLE_DEVICES=0,1\n"}, True, 2),
        ({"gpu.env": "A=b\n"}, True, "all"),
        ({}, True, "all"),
    ],
)
@table("entry", ["gpu.env", "[other.env, gpu.env]", "[{path: gpu.env, required: false}]"])
def test_an_env_file_says_which_gpus_a_runtime_hands_in(
    tmp_path: Path, files: dict[str, str], requested: bool, count: object, entry: str
) -> None:
    text = f"services:\n  x:\n    image: x\n    runtime: nvidia\n    env_file: {entry}\n"
    (found,) = project.run(tmp_path, {"compose.yaml": text, **files}).launches
    assert (bool(found.gpu.requested), found.gpu.number) == (requested, count)
    (found,) = project.run(tmp_path, f"{text}    environment: [NVIDIA_VISIBLE_DEVICES=3]\n").launches
    assert (found.gpu.requested, found.gpu.number) == (True, 1)
