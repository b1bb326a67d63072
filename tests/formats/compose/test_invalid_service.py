"""Services that Compose refuses as a whole, and keys that it does not know, with its reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read
from shmlint.model.settings import Settings
from tests.oracles.compose import compose_answer
from tests.table import table

BASE = "services:\n  a:\n    image: redis\n"
LIMITS = "    deploy: {resources: {limits: {%s}}}\n"
RESERVED = "    deploy: {resources: {reservations: {%s}}}\n"
GPU = "devices: [{capabilities: [gpu]}]"

REFUSED: list[tuple[dict[str, str], str, int, str]] = [
    ({"compose.yaml": BASE + keys}, "compose.yaml", line, words) for keys, line, words in [
        ("    mem_limit: 1g\n" + LIMITS % "memory: 2g", 4,
         "can't set distinct values on `mem_limit` (1g) and `deploy.resources.limits.memory` (2g)"),
        ("    mem_limit: ${M:-1g}\n" + LIMITS % "memory: 2g", 4, "`mem_limit` (${M:-1g})"),
        # What is missing next to other limits counts as 0, and so it does next to a GPU.
        ("    mem_limit: 1g\n" + LIMITS % "cpus: '2'", 4, "`deploy.resources.limits.memory` (missing, which counts"),
        ("    mem_reservation: 1g\n" + RESERVED % GPU, 4, "`deploy.resources.reservations.memory` (missing"),
        ("    cpus: 1\n" + LIMITS % "cpus: '2'", 4, "on `cpus` (1) and `deploy.resources.limits.cpus` (2)"),
        ("    pids_limit: -1\n" + LIMITS % "pids: 9", 4, "on `pids_limit` (-1) and `deploy.resources.limits.pids` (9)"),
        ("    scale: 0\n    deploy: {replicas: 2}\n", 4, "can't set distinct values on `scale` and `deploy.replicas`"),
        ("    container_name: xx\n    deploy: {replicas: 2}\n", 4, "can't set `container_name` for 2 containers"),
        ("    container_name: xx\n    scale: 3\n", 4, "can't set `container_name` for 3 containers"),
        ("    network_mode: host\n    networks: [n]\nnetworks: {n: {}}\n", 4,
         "mutually exclusive `network_mode` and `networks`"),
        ("    ipc: service:b\n", 4, "service `a` depends on undefined service `b`"),
        ("    network_mode: service:b\n", 4, "service `a` depends on undefined service `b`"),
        ("    mem_limit: 8Gi\n", 4, "`mem_limit: 8Gi` is refused by Compose: `Gi` is not a unit"),
        ("    memswap_limit: ''\n", 4, "the size is empty"),
        ("    build: {context: ., shm_size: 8Gi}\n", 4, "`build.shm_size: 8Gi` is refused by Compose"),
        (RESERVED % "memory: 8Gi", 4, "`deploy.resources.reservations.memory: 8Gi` is refused"),
        (LIMITS % "memory: 1073741824", 4, "must be a string; put it in quotes"),
        ("    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 8Gi}}]\n", 4, "`volumes[0].tmpfs.size: 8Gi`"),
        ("    volumes: [{type: bind, target: /dev/shm}]\n", 4, "`volumes[0]` is a bind mount without `source`"),
        ("    build: {dockerfile: D, dockerfile_inline: FROM x}\n", 4, "`dockerfile` and `dockerfile_inline`"),
        ("    extends: {file: compose.yaml}\n", 4, "`extends` needs `service`"),
        ("    extends: {}\n", 4, "`extends` needs `service`"),
        ("    depends_on: [b]\n", 4, "service `a` depends on undefined service `b`"),
        ("    healthcheck: {test: [curl, -f, 'http://localhost']}\n", 4, "`healthcheck.test` must start with `CMD`"),
        ("    healthcheck: {test: ['', x], disable: true}\n", 4, "`healthcheck.test` must start with"),
        ("    command: echo \"x\n", 4, "`command` is an invalid command line, a quote or bracket in it is not closed"),
        ("    entrypoint: \"echo it's $$X\"\n", 4, "`entrypoint` is an invalid command line"),
        ("    command: a $$(b\n", 4, "`command` is an invalid command line"),
        ("    volumes: ['/data:/data:']\n", 4, "`volumes[0]` is refused by Compose: invalid spec: /data:/data:: empty"),
        ("    volumes: [/a, '']\n", 4, "`volumes[1]` is refused by Compose: invalid empty volume spec"),
        ("    volumes: ['/a:/b:ro:x']\n", 4, "too many colons"),
        ("    ports: [{published: 8000}]\n", 4, "`services.a.ports[0]` needs `target`"),
        ("    security_opt: [a, b, a]\n", 4, "`services.a.security_opt` has `a` twice"),
        ("    group_add: ['44', 44]\n", 4, "`services.a.group_add` has `44` twice"),
        ("    depends_on: [b, b]\n  b: {image: x}\n", 4, "`services.a.depends_on` has `b` twice"),
        ("    networks: [default, default]\n", 4, "`services.a.networks` has `default` twice"),
        ("    container_name: xx\n  b: {image: x, container_name: xx}\n", 5,
         "service `b`: the container name `xx` is already that of service `a`"),
        ("    environment: {D: 2024-08-06}\n", 4, "must be a string, a number, true or false, and YAML "
         "reads a time; put it in quotes"),
        ("    environment: {D: 2024-8-6 1:00:00.5}\n", 4, "put it in quotes"),
        ("    labels: {D: 2024-08-06T10:00:00Z}\n", 4, "put it in quotes"),
        ("    build: {context: ., args: {D: 2024-08-06t10:00:00+02:00}}\n", 4, "put it in quotes"),
        ("    command: [x, 2024-08-06]\n", 4, "put it in quotes"),
        ("    hostname: 2024-08-06\n", 4, "put it in quotes"),
        ("    depends_on: {b: {condition: service_started, required: false}}\n", 4, "undefined service `b`"),
        ("    links: ['b:x']\n", 4, "service `a` depends on undefined service `b`"),
        ("    volumes_from: ['b:ro']\n", 4, "service `a` depends on undefined service `b`"),
        ("    volumes: ['data:/m', 'other:/n']\nvolumes: {data: }\n", 4, "refers to undefined volume `other`"),
        ("    volumes: [{type: volume, source: '${S:-s}', target: /m}]\n", 4, "refers to undefined volume `s`"),
        ("    networks: [default, n]\n", 4, "service `a` refers to undefined network `n`"),
        ("    networks:\n      n:\n", 5, "service `a` refers to undefined network `n`"),
        ("    secrets: [{source: s}]\n", 4, "service `a` refers to undefined secret `s`"),
        ("    configs: [s]\nsecrets: {s: {file: s}}\n", 4, "service `a` refers to undefined config `s`"),
        ("    build: {context: ., secrets: [s]}\n", 4, "service `a` refers to undefined build secret `s`"),
        ("    depends_on: [b]\n  b: {image: x, links: [c]}\n  c: {image: x, ipc: 'service:a'}\n", 4,
         "services depend on each other: `a` → `b` → `c` → `a`"),
        ("    volumes_from: [a]\n", 4, "services depend on each other: `a` → `a`"),
        ("common: {init: true}\n", 4, "additional properties `common` not allowed"),
        ("Services: {}\n", 4, "additional properties `Services` not allowed: Compose refuses the file; did you mean"),
        ("profiles: [p]\n", 4, "additional properties `profiles` not allowed"),
        (".common: &c {init: true}\n", 4, "additional properties `.common` not allowed"),
    ]
] + [
    # Compose looks at what the files make up together.
    ({"compose.yaml": BASE + "    mem_limit: 1g\n",
      "compose.override.yaml": "services:\n  a:\n" + LIMITS % "memory: 2g"}, "compose.yaml", 4, "distinct values"),
    *(
        ({"compose.yaml": f"x-c: {one}\n{BASE}", "compose.override.yaml": f"x-c: {other}\n"},
         "compose.override.yaml", 1, f"cannot override `{path}`, a {kind} in compose.yaml")
        for one, other, path, kind in [
            ("{e: [a]}", "{e: {a: b}}", "x-c.e", "list"), ("{e: {a: b}}", "{e: b}", "x-c.e", "mapping"),
            ("{e: [a]}", "{e: a}", "x-c.e", "list"), ("{a: b}", "[a]", "x-c", "mapping"),
            ("{e: {f: [a]}}", "{e: {f: {a: b}}}", "x-c.e.f", "list"),
        ]
    ),
    ({".env": "COMPOSE_FILE=app.yml:gpu.yml\n", "app.yml": BASE, "gpu.yml": "services: {b: {gpus: all}}\n"},
     "gpu.yml", 1, "service `b` has neither an image nor a build context"),
    ({"compose.yaml": "include: [b.compose.yaml]\n", "b.compose.yaml": "common: &c {}\n" + BASE}, "b.compose.yaml", 1,
     "additional properties `common` not allowed"),
    ({"compose.yaml": "serivces:\n  a: {image: x}\n"}, "compose.yaml", 1, "refuses the file; did you mean `services`?"),
]  # fmt: skip

TAKEN: list[dict[str, str]] = [
    {"compose.yaml": BASE + keys} for keys in [
        "    mem_limit: 1g\n" + LIMITS % "memory: 1024m",
        "    mem_limit: 0\n" + LIMITS % "memory: 2g",
        "    mem_limit: 1g\n" + RESERVED % GPU,
        "    mem_limit: 1e9\n" + LIMITS % "memory: 2g",
        "    memswap_limit: -1\n",
        "    cpus: 0.33\n" + LIMITS % "cpus: '.33'",
        "    cpus: 1.5\n" + LIMITS % "cpus: 1.50",
        "    pids_limit: 0\n" + LIMITS % "pids: 9",
        "    volumes: [{type: bind, source: '', target: /m}, {type: volume, target: /n}]\n",
        "    scale: 2\n    deploy: {replicas: 2}\n",
        "    container_name: xx\n    scale: 1\n",
        "    network_mode: host\n    networks: []\n",
        "    ipc: service:b\n  b: {image: redis, ipc: shareable}\n",
        "    healthcheck: {test: [NONE]}\n  b: {image: x, healthcheck: {test: []}}\n",
        "    healthcheck: {test: [CMD-SHELL, x]}\n  b: {image: x, healthcheck: {test: curl}}\n",
        "    command: \"a ; b 'c\"\n    entrypoint: \"a `b` '$$(c'\"\n",
        "    volumes: ['/a:/b:bogus', 'a:b', '/a:/b', '/a:/b', 'C:\\x:/c']\n",
        "    cap_add: [A, A]\n    dns: [1.1.1.1, 1.1.1.1]\n    ports: ['80:80', '80:80', {target: 80}]\n",
        "    environment: {A: '2024-08-06', B: 2024-13-06, C: 10:00:00, D: 2024-08, E: 2024-08-06 10:00:00 +02:00,"
        " F: !!str 2024-08-06}\n    x-d: 2024-08-06\n",
        "x-common: {a: 1}\nmodels: {m: {model: x}}\n",
        "    volumes: ['./x:/a', '~/y:/b', 'C:\\x:/c', /d, 'data:/e', {type: volume, target: /f}]\nvolumes: {data: }\n",
        "    networks: {default: , n: }\n    secrets: [s]\nnetworks: {n: {external: true}}\nsecrets: {s: {file: s}}\n",
        "    volumes_from: ['container:b']\n    external_links: [b]\n",
        "    depends_on: {b: {condition: service_started, required: false}}\n"
        "  b: {image: x, profiles: [p], depends_on: [c]}\n  c: {image: x}\n",
    ]
] + [
    {"compose.yaml": BASE + "    mem_limit: 1g\n",
     "compose.override.yaml": "services:\n  a:\n    mem_limit: !reset\n" + LIMITS % "memory: 2g"},
    {"compose.yaml": BASE + "    healthcheck: {test: [CMD, x]}\n",
     "compose.override.yaml": "services: {a: {healthcheck: {test: [CMD, y]}}}\n"},
    {"compose.yaml": BASE + "    container_name: xx\n  b: {image: x, container_name: xx}\n",
     "compose.override.yaml": "services: {a: {container_name: yy}}\n"},
    {"compose.yaml": BASE + "    volumes: ['data:/m']\n    depends_on: [b]\n",
     "compose.override.yaml": "services: {b: {image: x}}\nvolumes: {data: }\n"},
    {"compose.yaml": BASE + "    volumes: ['data:/m']\n    depends_on: [b]\n",
     "compose.override.yaml": "services:\n  a: {volumes: !override ['/m'], depends_on: !reset []}\n"},
    *(
        {"compose.yaml": f"x-c: {one}\n{BASE}", "compose.override.yaml": f"x-c: {other}\n"}
        for one, other in [
            ("{e: a}", "{e: {a: b}}"), ("{e: a}", "{e: [b]}"), ("{e: }", "{e: {a: b}}"), ("{e: {a: b}}", "{e: }"),
            ("{e: {a: b}, f: [a]}", "{e: !override [c], f: !reset []}"), ("{e: {a: b}}", "{e: {a: c}, f: d}"),
        ]
    ),
    # What is included sees what the file defines that includes it.
    {"compose.yaml": "include: [b/compose.yaml]\nvolumes: {data: }\nservices: {b: {image: x}}\n",
     "b/compose.yaml": BASE + "    volumes: ['data:/m']\n    depends_on: [b]\n"},
    {"compose.yaml": "include: [b/compose.yaml]\n" + BASE + "    networks: [n]\n    depends_on: [b]\n",
     "b/compose.yaml": "services: {b: {image: x}}\nnetworks: {n: }\n"},
    # A file that is only extended may have any keys.
    {"compose.yaml": "services:\n  a: {extends: {file: b.compose.yaml, service: a}}\n",
     "b.compose.yaml": "common: {}\n" + BASE},
]  # fmt: skip


def problems(files: dict[str, str]) -> list[tuple[str, int, str]]:
    reading = read(list(files), Workspace(files), Settings())
    return [(problem.span.path, problem.span.line, problem.message) for problem in reading.problems]


@table("files, path, line, words", REFUSED)
def test_what_is_refused(files: dict[str, str], path: str, line: int, words: str) -> None:
    ((where, at, message),) = problems(files)
    assert (where, at) == (path, line)
    assert words in message


@table("files", TAKEN)
def test_what_is_taken(files: dict[str, str]) -> None:
    assert problems(files) == []


@table(
    "files",
    [
        {"other.compose.yaml": "widgets: [a]\n" + BASE},
        {"overlay.compose.yaml": BASE + "    ipc: service:b\n"},
        {"compose.yaml": BASE + "    depends_on: [b]\n    volumes: ['data:/m']\n",
         "compose.gpu.yaml": "services: {b: {image: x}}\nvolumes: {data: }\n"},
        {"compose.yaml": BASE + "    depends_on: [b]\n  b: {image: x, profiles: [p]}\n"},
        {"compose.yaml": BASE + "    profiles: [p]\n    depends_on: [b]\n"},
        {"compose.yaml": BASE + "    depends_on: ['${B}']\n    networks: ['${N}']\n"},
        {"compose.yaml": "include: ['${OTHER}']\n" + BASE + "    depends_on: [b]\n"},
        {"compose.yaml": BASE + "    command: ${C:-'a}\n    volumes: ['${D:-}:/d']\n"
         "    healthcheck: {test: ['${T:-curl}', x]}\n"},
        {"compose.yaml": BASE + "    container_name: xx\n  b: {image: x, container_name: xx, profiles: [p]}\n"},
        {"compose.yaml": "x-c: [a]\n" + BASE, "compose.gpu.yaml": "x-c: {a: b}\nservices: {a: {gpus: all}}\n"},
        {"a.compose.yaml": BASE + "    container_name: xx\n",
         "b.compose.yaml": "services: {b: {image: x, container_name: xx}}\n"},
        {"swarm.compose.yaml": BASE + "    container_name: xx\n    deploy: {replicas: 2}\n"},
    ],
)
def test_what_another_file_or_program_may_make_right(files: dict[str, str]) -> None:
    assert problems(files) == []


@pytest.mark.compose_judge
@table("files, taken", [(files, False) for files, *_ in REFUSED] + [(files, True) for files in TAKEN])
def test_compose_agrees(files: dict[str, str], taken: bool, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    answer, said = compose_answer(tmp_path)
    assert (answer is not None) is taken, said
