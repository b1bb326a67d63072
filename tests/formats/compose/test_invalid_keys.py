"""Keys that Compose does not know and values of other types than it takes: Compose is asked for each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.keys import SERVICE
from shmlint.formats.compose.read import read
from shmlint.model.settings import Settings
from tests.oracles.compose import compose_answer
from tests.table import table

BASE = "services:\n  a:\n    image: redis\n"

REFUSED: list[tuple[str, int, str]] = [
    (BASE + keys, line, words) for keys, line, words in [
        ("    user: 1000\n", 4, "`services.a.user` must be a string; put it in quotes"),
        ("    hostname: true\n", 4, "`services.a.hostname` must be a string; put it in quotes"),
        ("    working_dir:\n", 4, "`services.a.working_dir` must be a string"),
        ("    command: [sleep, 5]\n", 4, "`services.a.command[1]` must be a string; put it in quotes"),
        ("    entrypoint: [[sh]]\n", 4, "`services.a.entrypoint[0]` must be a string"),
        ("    cap_add: SYS_PTRACE\n", 4, "`services.a.cap_add: SYS_PTRACE` must be a list of strings"),
        ("    security_opt: {a: b}\n", 4, "`services.a.security_opt` must be a list of strings"),
        ("    profiles: gpu\n", 4, "`services.a.profiles: gpu` must be a list of strings"),
        ("    privileged: 1\n", 4, "`services.a.privileged` must be true or false"),
        ("    tty: 'x'\n", 4, "`services.a.tty: x` must be true or false"),
        ("    environment: A=b\n", 4, "must be a mapping, or a list of NAME=value"),
        ("    environment:\n      - A: b\n", 5, "`services.a.environment[0]` must be a string"),
        ("    environment: {A: {B: c}}\n", 4, "`services.a.environment.A` must be a string, a number, true or false"),
        ("    ports: 8000\n", 4, "`services.a.ports` must be a list"),
        ("    depends_on: b\n", 4, "`services.a.depends_on: b` must be a list or a mapping"),
        ("    depends_on: {b: {restart: true}}\n  b: {image: x}\n", 4, "`services.a.depends_on.b` needs `condition`"),
        ("    ulimits: {memlock: unlimited}\n", 4,
         "`services.a.ulimits.memlock: unlimited` must be a whole number (-1 is no limit), or a mapping"),
        ("    ulimits: {memlock: {soft: -1}}\n", 4, "`services.a.ulimits.memlock` needs `hard`"),
        ("    ulimits: {memlock: {soft: unlimited, hard: -1}}\n", 4, "`services.a.ulimits.memlock.soft: unlimited`"),
        ("    ulimits: [memlock=-1]\n", 4, "`services.a.ulimits` must be a mapping"),
        ("    cpus: many\n", 4, "`services.a.cpus: many` must be a number"),
        ("    scale: two\n", 4, "`services.a.scale: two` must be a whole number"),
        ("    pids_limit: [5]\n", 4, "`services.a.pids_limit` must be a whole number"),
        ("    mem_limit: [5g]\n", 4, "`services.a.mem_limit` must be a size"),
        ("    deploy: {replicas: two}\n", 4, "`services.a.deploy.replicas: two` must be a whole number"),
        ("    deploy: {resources: {limits: }}\n", 4, "`services.a.deploy.resources.limits` must be a mapping"),
        ("    healthcheck: {interval: 5}\n", 4, "`services.a.healthcheck.interval` must be a duration"),
        ("    depends_on: {b: {condition: healthy}}\n  b: {image: x}\n", 4,
         "`services.a.depends_on.b.condition: healthy` must be one of `service_started`, `service_healthy`"),
        ("    pull_policy: allways\n", 4, "`services.a.pull_policy: allways` must be one of `always`, `never`"),
        ("    container_name: a\n", 4, "`services.a.container_name: a` must be a name of two or more letters"),
        ("    stop_grace_period: 5x\n", 4, "`services.a.stop_grace_period: 5x` must be a duration, such as `30s`"),
        ("    stop_grace_period: ''\n", 4, "must be a duration"),
        ("    healthcheck: {timeout: '30'}\n", 4, "`services.a.healthcheck.timeout: 30` must be a duration"),
        ("    healthcheck: {interval: 1 m}\n", 4, "`services.a.healthcheck.interval: 1 m` must be a duration"),
        ("    scale: -1\n", 4, "`services.a.scale` must be a whole number, 0 or more"),
        ("    deploy: {replicas: '-1'}\n", 4, "`services.a.deploy.replicas: -1` must be a whole number, 0 or more"),
        ("    deploy: {update_config: {order: x}}\n", 4, "must be one of `start-first`, `stop-first`"),
        ("    ports: ['80:http']\n", 4, "`services.a.ports[0]: 80:http` must be a port, `HOST:CONTAINER` or a mapping"),
        ("    ports: ['localhost:80:80']\n", 4, "`services.a.ports[0]: localhost:80:80` must be a port"),
        ("    ports: ['8000-8005:80-84']\n", 4, "must be a port"),
        ("    ports: ['80-70']\n", 4, "must be a port"),
        ("    ports: ['70000:80']\n", 4, "must be a port"),
        ("    ports: ['80:']\n", 4, "must be a port"),
        ("    ports: ['80:0']\n", 4, "must be a port"),
        ("    ports: [70000]\n", 4, "must be a port"),
        ("    extra_hosts: [gateway]\n", 4, "`services.a.extra_hosts[0]: gateway` must be a host and its address"),
        ("    volumes: [{type: bind, source: /a, target: /b, bind: {selinux: y}}]\n", 4, "must be one of `z`, `Z`"),
        ("    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: -1}}]\n", 4, "must be a size, 0 or more"),
        ("  my trainer: {image: x}\n", 4, "`services`: invalid name `my trainer`; Compose takes letters, digits"),
        ("volumes: {a/b: }\n", 4, "`volumes`: invalid name `a/b`"),
        ("    volumes: [{type: tmpfs, target: /dev/shm, size: 8g}]\n", 4,
         "`size` is not a key of `services.a.volumes[0]`; Compose refuses the file; it belongs under `tmpfs`"),
        ("    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {shm_size: 8g}}]\n", 4,
         "`shm_size` is not a key of `services.a.volumes[0].tmpfs`; Compose refuses the file"),
        ("    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: 8g}]\n", 4, "`services.a.volumes[0].tmpfs: 8g` must be"),
        ("    volumes: [{target: /dev/shm, tmpfs: {size: 8g}}]\n", 4, "`services.a.volumes[0]` needs `type`"),
        ("    volumes: [{type: ramfs, target: /dev/shm}]\n", 4, "must be one of `bind`, `volume`, `tmpfs`"),
        ("    tmpfs: [{target: /dev/shm}]\n", 4, "`services.a.tmpfs[0]` must be a string"),
        ("    devices: [{source: /dev/nvidia0}]\n", 4, "`services.a.devices[0]` needs `target`"),
        ("    user_ns: host\n", 4, "`user_ns` is not a key of `services.a`; Compose refuses the file"),
        ("    comand: x\n", 4, "`comand` is not a key of `services.a`; Compose refuses the file; did you mean `comm"),
        ("    replicas: 2\n", 4, "it belongs under `deploy`"),
        ("    build: {context: ., dockerFile: x}\n", 4, "did you mean `dockerfile`?"),
        ("    deploy: {resources: {ulimits: {memlock: -1}}}\n", 4, "is not a key of `services.a.deploy.resources`"),
        ("    <<: 5\n", 4, "map merge requires a map or a list of maps as the value of `<<`"),
        ("    <<: [x]\n", 4, "map merge requires a map or a list of maps"),
        ("    <<:\n", 4, "map merge requires a map or a list of maps"),
        ("    <<: [{tty: true}, x]\n", 4, "map merge requires"),
        ("version: 3.8\n", 4, "`version` must be a string; put it in quotes"),
        ("name: 5\n", 4, "`name` must be a string; put it in quotes"),
        ("volumes: [data]\n", 4, "`volumes` must be a mapping"),
        ("volumes: {data: {size: 8g}}\n", 4, "`size` is not a key of `volumes.data`; Compose refuses the file"),
        ("volumes: {data: {driver_opts: {size: true}}}\n", 4, "`volumes.data.driver_opts.size` must be a string or a"),
        ("volumes: {data: {external: true, driver_opts: {type: tmpfs}}}\n", 4,
         'conflicting parameters "external" and "driver_opts"'),
        ("networks: {n: {driver: 5}}\n", 4, "`networks.n.driver` must be a string"),
        # What is mounted, and what is run.
        ("    tmpfs: /dev/shm\n    volumes: ['/dev/shm:/dev/shm']\n", 5,
         "service `a`: target /dev/shm is already mounted in line 4; Compose refuses the file"),
        ("    tmpfs: ['/dev/shm:size=8g']\n    volumes: [{type: tmpfs, target: /dev/shm}]\n", 5, "is already mounted"),
        ("    tmpfs: ['/dev/shm:size=8g', /dev/shm]\n", 4, "target /dev/shm is already mounted in line 4"),
        ("  b: {shm_size: 8g}\n", 4, "service `b` has neither an image nor a build context; Compose refuses the file"),
        ("  b:\n", 4, "service `b` has neither an image nor a build context"),
        ("  b: {image: ''}\n", 4, "service `b` has neither an image nor a build context"),
        ("  b: {image: }\n", 4, "`services.b.image` must be a string"),
    ]
]  # fmt: skip

TAKEN: list[str] = [
    BASE + keys for keys in [
        "    user: '1000'\n    hostname: \"5\"\n    cap_add: [A, A]\n    tmpfs: ['/dev/shm:size=8g', /tmp]\n",
        "    ulimits: {memlock: -1, stack: '67108864', nofile: {soft: 1, hard: '2'}, core: 0x10}\n",
        "    privileged: 'Yes'\n    init: on\n    cpus: '1.5'\n    scale: 2.0\n    pids_limit: '5'\n    mem_limit: 5\n",
        "    environment: {A: 1, B: 1.5, C: true, D: , E: x}\n    labels: [a=b]\n    command: \n    deploy:\n",
        "    environment: [A=b, A=c, D]\n    extra_hosts: {a: [1.1.1.1]}\n    group_add: [44, video]\n",
        "    volumes: ['/tmp:/dev/shm', {type: bind, source: /var, target: /dev/shm, x-a: 5}]\n",
        "    pull_policy: every_5d\n    container_name: ab c\n    ports: [8000, '80', ':80', '[::1]:80:80', 80/UDP]\n",
        "    ports: ['8000-8005:9000-9005', '8000-8001:80', '127.0.0.1::80', '0:80', '80-82', \"${P:-80}:${Q:-90}\"]\n",
        "    stop_grace_period: 1.5h30m\n    healthcheck: {interval: 2d, timeout: 100ms, start_period: '0'}\n",
        "    extra_hosts: ['a:1.1.1.1', 'b=host-gateway', 'c:']\n    deploy: {update_config: {order: stop-first}}\n",
        "networks: {a b: }\n",
        "    tmpfs: [/dev/shm/, '/dev/shm:size=1g']\n",
        "    x-gpu: all\n    logging: {options: {max-file: 3, x: }}\n    deploy: {x-y: 1}\n    build: {context: .}\n",
        "    <<: []\n",
        "x-a: &a {tty: true}\nx-b: {<<: *a}\nx-c: {<<: [*a, {b: c}]}\nx-d: {'<<': 5}\n",
        "version: '3.8'\nvolumes: {a: , b: {driver_opts: {size: 5}, x-c: d}, c: {external: true, name: d}}\n",
        "networks: {n: {external: true, driver: bridge}}\n",
        "  b: {profiles: [p], shm_size: 8g}\n",
        "    privileged: ${P:-true}\n    ulimits: {memlock: \"${M:--1}\"}\n    volumes: ['${V:-/a}:/dev/shm']\n",
    ]
]  # fmt: skip


def problems(files: dict[str, str]) -> list[tuple[str, int, str]]:
    reading = read(list(files), Workspace(files), Settings())
    return [(problem.span.path, problem.span.line, problem.message) for problem in reading.problems]


@table("text, line, words", REFUSED)
def test_what_is_refused(text: str, line: int, words: str) -> None:
    ((_, at, message),) = problems({"compose.yaml": text})
    assert (at, words in message) == (line, True), message


@table("text", TAKEN)
def test_what_is_taken(text: str) -> None:
    assert problems({"compose.yaml": text}) == []


@pytest.mark.compose_judge
@table("text, taken", [(text, False) for text, *_ in REFUSED] + [(text, True) for text in TAKEN])
def test_compose_agrees(text: str, taken: bool, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(text, "utf-8")
    answer, said = compose_answer(tmp_path, profiles=False)
    assert (answer is not None) is taken, said


@table(
    "files",
    [
        # Another file gives what is missing, or a value of the right type.
        {"compose.yaml": BASE + "  b: {shm_size: 8g}\n", "compose.override.yaml": "services: {b: {image: x}}\n"},
        {"compose.yaml": BASE + "  b: {shm_size: 8g}\n", "compose.gpu.yaml": "services: {b: {image: x}}\n"},
        {"compose.yaml": BASE + "    user: 5\n", "compose.override.yaml": "services: {a: {user: '5'}}\n"},
        {"compose.yaml": BASE + "    user: '5'\n", "compose.override.yaml": "services: {a: {user: }}\n"},
        {"compose.gpu.yaml": "services:\n  a:\n    shm_size: 8g\n    user:\n"},
        {"compose.yaml": "services:\n  a: {extends: {file: t.compose.yaml, service: t}, image: x, user: '5'}\n",
         "t.compose.yaml": "services: {t: {user: 5}}\n"},
        {"compose.yaml": "include: ['${OTHER}']\n" + BASE + "  b: {shm_size: 8g}\n"},
    ],
)
def test_what_another_file_may_make_right(files: dict[str, str]) -> None:
    assert problems(files) == []


KINDS = ("", "5", "1.5", "true", "[]", "[x]", "[5]", "[true]", "[~]", "[{k: v}]", "{}", "{k: v}", "{k: 5}", "{k: 1.5}",
         "{k: }", "{k: true}", "{k: [a]}", "{k: {}}")  # fmt: skip
"""A value of each type; not a text, which Compose may also refuse for what it says."""


@pytest.mark.compose_judge
@pytest.mark.slow
def test_compose_takes_what_is_taken_here(tmp_path: Path) -> None:
    """Each key with a value of each type: what is refused here is refused by Compose."""
    cases = [f"    {key}: {value}\n" for key in SERVICE for value in KINDS]
    texts = [("services:\n  a:\n" if case.startswith("    image:") else BASE) + case for case in cases]
    refused = [text for text in texts if problems({"compose.yaml": text})]

    def asked(numbered: tuple[int, str]) -> bool:
        number, text = numbered
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "compose.yaml").write_text(text, "utf-8")
        return compose_answer(directory)[0] is not None

    with ThreadPoolExecutor(2) as pool:
        taken = [text for text, yes in zip(refused, pool.map(asked, enumerate(refused)), strict=True) if yes]
    assert taken == []
    assert len(refused) > 800


@table(
    ("listed", "expected"),
    [
        ('["../compose.yaml", "docker-compose.yml"]', 0), ('["docker-compose.yml", "more.yml"]', 0),
        ('"docker-compose.yml"', 1), ('["docker-compose.yml"]', 1), ('["../compose.yaml", "other.yml"]', 1),
    ],
)  # fmt: skip
def test_a_file_that_a_dev_container_is_started_with_may_lack_things(listed: str, expected: int) -> None:
    own = ".devcontainer/docker-compose.yml"
    files = {
        own: "services:\n  a:\n    depends_on: [b]\n",
        ".devcontainer/devcontainer.json": f'{{"dockerComposeFile": {listed}, "service": "a"}}',
    }
    reading = read([own], Workspace(files), Settings())
    assert len(reading.problems) == 2 * expected


def test_what_a_service_extends_is_reported_alone() -> None:
    ((_, _, message),) = problems({"compose.yaml": "services:\n  a: {extends: {service: b}}\n  c: {image: x}\n"})
    assert "`extends` names `b`" in message


@table("key", ["5", "true", "~", "1.5"])
def test_a_key_that_is_no_string_is_reported_once(key: str) -> None:
    ((_, line, message),) = problems({"compose.yaml": BASE + f"    {key}: x\n"})
    assert (line, message) == (4, f"non-string key in `services.a`: `{key}`; put it in quotes")
