"""What --fix makes of compose files, to the byte; Compose itself is asked what changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.fixing.plan import planned
from shmlint.formats.compose.rewrite import same_but_for_size
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.run import Run, lint
from shmlint.syntax.yaml_read import parse
from tests.oracles.compose import compose_answer
from tests.table import table

SETTINGS = Settings(shm_size=8 << 30)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(texts: Mapping[str, str]) -> Run:
    files = [path for path in texts if path.endswith((".yml", ".yaml"))]
    return lint({"compose": files}, SETTINGS, Workspace(texts))


def fixed(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts after fixing, which must leave nothing to fix and nothing unproved."""
    outcome = fix.fix(read(texts))
    assert not outcome.unproved
    after = {**texts, **outcome.texts}
    assert not fix.fix(read(after)).texts
    return after


CASES: dict[str, tuple[str, str]] = {
    "behind the image": (
        """\
services:
  a:
    image: pytorch/pytorch
    deploy:
      resources:
        reservations:
          devices:
            - capabilities: [gpu]
""",
        """\
services:
  a:
    image: pytorch/pytorch
    shm_size: 8gb
    deploy:
      resources:
        reservations:
          devices:
            - capabilities: [gpu]
""",
    ),
    "behind the runtime": (
        """\
services:
  a:
    runtime: nvidia  # all of them
    image: pytorch/pytorch
    restart: always
""",
        """\
services:
  a:
    runtime: nvidia  # all of them
    shm_size: 8gb
    image: pytorch/pytorch
    restart: always
""",
    ),
    "behind gpus of several lines": (
        """\
services:
  a:
    image: pytorch/pytorch
    gpus:
    - driver: nvidia
      count: 2

    # the model
    command: train
""",
        """\
services:
  a:
    image: pytorch/pytorch
    gpus:
    - driver: nvidia
      count: 2
    shm_size: 8gb

    # the model
    command: train
""",
    ),
    "behind a build of several lines": (
        """\
services:
  a:
    build:
      context: .
      args:
        - X=1
        # a comment of the block
    command: torchrun --nproc_per_node=8 train.py
    devices: [/dev/nvidia0]
""",
        """\
services:
  a:
    build:
      context: .
      args:
        - X=1
    shm_size: 8gb
        # a comment of the block
    command: torchrun --nproc_per_node=8 train.py
    devices: [/dev/nvidia0]
""",
    ),
    "behind an empty value with a comment": (
        """\
services:
  a:
    command: torchrun --nproc_per_node=8 train.py
    devices: [/dev/nvidia0]
    build:
      context: .
      args:
        TOKEN:  # the host's

    restart: always
""",
        """\
services:
  a:
    command: torchrun --nproc_per_node=8 train.py
    devices: [/dev/nvidia0]
    build:
      context: .
      args:
        TOKEN:  # the host's
    shm_size: 8gb

    restart: always
""",
    ),
    "behind a literal block": (
        """\
services:
  a:
    build:
      dockerfile_inline: |
        FROM pytorch/pytorch

        RUN true


    command: torchrun --nproc_per_node=8 train.py
    devices: [/dev/nvidia0]
""",
        """\
services:
  a:
    build:
      dockerfile_inline: |
        FROM pytorch/pytorch

        RUN true
    shm_size: 8gb


    command: torchrun --nproc_per_node=8 train.py
    devices: [/dev/nvidia0]
""",
    ),
    "behind a literal block that ends in white space": (
        """\
services:
  a:
    devices: [/dev/nvidia0]
    command: torchrun --nproc_per_node=8 train.py
    build:
      dockerfile_inline: |
        FROM pytorch/pytorch
          \t
  b:
    image: redis
""",
        """\
services:
  a:
    devices: [/dev/nvidia0]
    command: torchrun --nproc_per_node=8 train.py
    build:
      dockerfile_inline: |
        FROM pytorch/pytorch
          \t
    shm_size: 8gb
  b:
    image: redis
""",
    ),
    "behind a block that keeps its empty lines": (
        """\
services:
  a:
    devices: [/dev/nvidia0]
    command: torchrun --nproc_per_node=8 train.py
    build:
      dockerfile_inline: |+
        FROM pytorch/pytorch


    restart: always
""",
        """\
services:
  a:
    devices: [/dev/nvidia0]
    command: torchrun --nproc_per_node=8 train.py
    build:
      dockerfile_inline: |+
        FROM pytorch/pytorch


    shm_size: 8gb
    restart: always
""",
    ),
    "behind a folded block, the last thing in the file": (
        """\
services:
  a:
    gpus: all
    image: >-
      pytorch/pytorch

# the end
""",
        """\
services:
  a:
    gpus: all
    shm_size: 8gb
    image: >-
      pytorch/pytorch

# the end
""",
    ),
    "behind a folded image": (
        """\
services:
  a:
    image: >-
      pytorch/pytorch

    devices: [/dev/nvidia0]
""",
        """\
services:
  a:
    image: >-
      pytorch/pytorch
    shm_size: 8gb

    devices: [/dev/nvidia0]
""",
    ),
    "above a literal block without a last newline": (
        "services:\n  a:\n    devices: [/dev/nvidia0]\n    build:\n"
        "      dockerfile_inline: |\n        FROM nvcr.io/nvidia/pytorch:24.01-py3",
        "services:\n  a:\n    shm_size: 8gb\n    devices: [/dev/nvidia0]\n    build:\n"
        "      dockerfile_inline: |\n        FROM nvcr.io/nvidia/pytorch:24.01-py3",
    ),
    "behind a plain value of two lines": (
        """\
services:
  a:
    devices: [/dev/nvidia0]
    build: ./a
      directory  # with a space
    command: >
      torchrun --nproc_per_node=8
      train.py
""",
        """\
services:
  a:
    devices: [/dev/nvidia0]
    build: ./a
      directory  # with a space
    shm_size: 8gb
    command: >
      torchrun --nproc_per_node=8
      train.py
""",
    ),
    "behind a quoted value of two lines": (
        """\
services:
  a:
    devices: [/dev/nvidia0]
    build: "./a

      directory"
    command: torchrun --nproc_per_node=8 train.py
""",
        """\
services:
  a:
    devices: [/dev/nvidia0]
    build: "./a

      directory"
    shm_size: 8gb
    command: torchrun --nproc_per_node=8 train.py
""",
    ),
    "before a tail of comments": (
        """\
services:
  a:
    image: pytorch/pytorch
    gpus: all
    # shm_size: 1gb

  # the other one
  b:
    image: redis
  # the end
# of it
""",
        """\
services:
  a:
    image: pytorch/pytorch
    gpus: all
    shm_size: 8gb
    # shm_size: 1gb

  # the other one
  b:
    image: redis
  # the end
# of it
""",
    ),
    "flow in one line": (
        "services: {a: {image: pytorch/pytorch, gpus: all, restart: always}}\n",
        "services: {a: {image: pytorch/pytorch, gpus: all, shm_size: 8gb, restart: always}}\n",
    ),
    "flow in one line, padded": (
        "services:\n  a: { image: pytorch/pytorch , gpus: all }  # c\n",
        "services:\n  a: { image: pytorch/pytorch , gpus: all, shm_size: 8gb }  # c\n",
    ),
    "flow in one line, two services": (
        "services: {a: {image: pytorch/pytorch, gpus: all}, b: {image: pytorch/pytorch, runtime: nvidia}}\n",
        "services: {a: {image: pytorch/pytorch, gpus: all, shm_size: 8gb}, "
        "b: {image: pytorch/pytorch, runtime: nvidia, shm_size: 8gb}}\n",
    ),
    "flow of several lines": (
        """\
services:
  a: {
    image: pytorch/pytorch,
    gpus: all,  # every one
    restart: always
  }
""",
        """\
services:
  a: {
    image: pytorch/pytorch,
    gpus: all,  # every one
    shm_size: 8gb,
    restart: always
  }
""",
    ),
    "flow of several lines, the last one": (
        """\
services:
  a: {
    image: pytorch/pytorch,
    gpus: all  # every one
  }
""",
        """\
services:
  a: {
    image: pytorch/pytorch,
    shm_size: 8gb,
    gpus: all  # every one
  }
""",
    ),
    "JSON": (
        """\
{
  "services": {
    "a": {
      "image": "pytorch/pytorch",
      "gpus": "all",
      "restart": "always"
    }
  }
}
""",
        """\
{
  "services": {
    "a": {
      "image": "pytorch/pytorch",
      "gpus": "all",
      "shm_size": "8gb",
      "restart": "always"
    }
  }
}
""",
    ),
    "JSON in one line": (
        '{"services":{"a":{"image":"pytorch/pytorch","gpus":"all"}}}',
        '{"services":{"a":{"image":"pytorch/pytorch","gpus":"all", "shm_size": "8gb"}}}',
    ),
    "single quotation marks": (
        "services:\n  a:\n    'image': pytorch/pytorch\n    'gpus': all\n",
        "services:\n  a:\n    'image': pytorch/pytorch\n    'gpus': all\n    'shm_size': '8gb'\n",
    ),
    "quotation marks of both kinds": (
        "services: {a: {'image': pytorch/pytorch, \"restart\": always, 'gpus': all}}\n",
        "services: {a: {'image': pytorch/pytorch, \"restart\": always, 'gpus': all, 'shm_size': '8gb'}}\n",
    ),
    "quotation marks around some keys": (
        "services:\n  a:\n    image: pytorch/pytorch\n    'gpus': all\n",
        "services:\n  a:\n    image: pytorch/pytorch\n    'gpus': all\n    shm_size: 8gb\n",
    ),
    "an alias": (
        """\
x-gpu: &gpu
  image: pytorch/pytorch
  gpus: all
services:
  a: *gpu  # the same
  b: {image: redis}
""",
        """\
x-gpu: &gpu
  image: pytorch/pytorch
  gpus: all
services:
  a:
    <<: *gpu  # the same
    shm_size: 8gb
  b: {image: redis}
""",
    ),
    "an alias in the last line": (
        "x-gpu: &gpu {image: pytorch/pytorch, gpus: all}\nservices:\n    a:   *gpu",
        "x-gpu: &gpu {image: pytorch/pytorch, gpus: all}\nservices:\n    a:\n        <<: *gpu\n        shm_size: 8gb",
    ),
    "aliases in a flow mapping": (
        "x-gpu: &gpu {image: pytorch/pytorch, gpus: all}\nservices: {a: *gpu, b: *gpu # the last\n}\n",
        "x-gpu: &gpu {image: pytorch/pytorch, gpus: all}\n"
        "services: {a: {<<: *gpu, shm_size: 8gb}, b: {<<: *gpu, shm_size: 8gb} # the last\n}\n",
    ),
    "a service whose alias stands for another service": (
        """\
services:
  a: &a
    image: pytorch/pytorch
    gpus: all
  b: *a
  c:
    <<: *a
""",
        """\
services:
  a: &a
    image: pytorch/pytorch
    gpus: all
    shm_size: 8gb
  b: *a
  c:
    <<: *a
""",
    ),
    "nothing but a merge": (
        """\
x-gpu: &gpu
  image: pytorch/pytorch
  gpus: all
services:
  a:
    <<: *gpu
  b:
    <<:
      - *gpu
    # nothing else
""",
        """\
x-gpu: &gpu
  image: pytorch/pytorch
  gpus: all
services:
  a:
    <<: *gpu
    shm_size: 8gb
  b:
    <<:
      - *gpu
    shm_size: 8gb
    # nothing else
""",
    ),
    "nothing but extends": (
        """\
services:
  base:
    image: pytorch/pytorch
  a:
    extends: base
    gpus: all
  b:
    extends:
      service: a
""",
        """\
services:
  base:
    image: pytorch/pytorch
  a:
    extends: base
    gpus: all
    shm_size: 8gb
  b:
    extends:
      service: a
""",
    ),
    "an anchored body": (
        "services:\n  a: &a  # the first\n    image: pytorch/pytorch\n    gpus: all\n",
        "services:\n  a: &a  # the first\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n",
    ),
    "an overriding body": (
        "services:\n  a: !override\n    image: pytorch/pytorch\n    gpus: all\n",
        "services:\n  a: !override\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n",
    ),
    "an overriding value": (
        "services:\n  a:\n    image: pytorch/pytorch\n    devices: !override\n      - /dev/nvidia0\n",
        "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: 8gb\n"
        "    devices: !override\n      - /dev/nvidia0\n",
    ),
    "no last newline": (
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all",
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb",
    ),
    "no last newline, CRLF": (
        "services:\r\n  a:\r\n    image: pytorch/pytorch\r\n    gpus: all",
        "services:\r\n  a:\r\n    image: pytorch/pytorch\r\n    gpus: all\r\n    shm_size: 8gb",
    ),
    "CRLF": (
        "services:\r\n  a:\r\n    image: pytorch/pytorch\r\n    gpus: all # c\r\n\r\n  b:\r\n    image: redis\r\n",
        "services:\r\n  a:\r\n    image: pytorch/pytorch\r\n    gpus: all # c\r\n    shm_size: 8gb\r\n\r\n"
        "  b:\r\n    image: redis\r\n",
    ),
    "CRLF, an alias": (
        "x-x: &x {image: pytorch/pytorch, gpus: all}\r\nservices:\r\n  a: *x\r\n",
        "x-x: &x {image: pytorch/pytorch, gpus: all}\r\nservices:\r\n  a:\r\n    <<: *x\r\n    shm_size: 8gb\r\n",
    ),
    "CRLF behind a literal block": (
        "services:\r\n  a:\r\n    gpus: all\r\n    runtime: |\r\n      nvidia\r\n\r\n    image: pytorch/pytorch\r\n",
        "services:\r\n  a:\r\n    gpus: all\r\n    runtime: |\r\n      nvidia\r\n    shm_size: 8gb\r\n\r\n"
        "    image: pytorch/pytorch\r\n",
    ),
    "both line endings": (
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\r\n    restart: always\n",
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\r\n    shm_size: 8gb\r\n    restart: always\n",
    ),
    "a byte order mark": (
        "\ufeffservices:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n",
        "\ufeffservices:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n",
    ),
    "a tab behind the value": (
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\t# c\t\n    restart: always\t\n",
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\t# c\t\n    shm_size: 8gb\n    restart: always\t\n",
    ),
    "four spaces": (
        "services:\n    a:\n        image: pytorch/pytorch\n        gpus: all\n",
        "services:\n    a:\n        image: pytorch/pytorch\n        gpus: all\n        shm_size: 8gb\n",
    ),
    "eight spaces": (
        "services:\n        a:\n                image: pytorch/pytorch\n                gpus: all\n",
        "services:\n        a:\n                image: pytorch/pytorch\n                gpus: all\n"
        "                shm_size: 8gb\n",
    ),
    "a file that is indented as a whole": (
        "  services:\n   a:\n     image: pytorch/pytorch\n     gpus: all\n  name: x\n",
        "  services:\n   a:\n     image: pytorch/pytorch\n     gpus: all\n     shm_size: 8gb\n  name: x\n",
    ),
    "explicit keys": (
        "services:\n  ? a\n  : image: pytorch/pytorch\n    gpus: all\n",
        "services:\n  ? a\n  : image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n",
    ),
    "keys as far out as a list": (
        """\
services:
  a:
    command:
    - torchrun
    - train.py
    image: pytorch/pytorch
    devices:
    - /dev/nvidia0
""",
        """\
services:
  a:
    command:
    - torchrun
    - train.py
    image: pytorch/pytorch
    shm_size: 8gb
    devices:
    - /dev/nvidia0
""",
    ),
    "a document end": (
        "---\nservices:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n...\n",
        "---\nservices:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n...\n",
    ),
    "several documents": (
        "services:\n  a:\n    image: pytorch/pytorch\n---\nservices:\n  a:\n    gpus: all\n---\nvolumes: {}\n",
        "services:\n  a:\n    image: pytorch/pytorch\n---\nservices:\n  a:\n    gpus: all\n    shm_size: 8gb\n"
        "---\nvolumes: {}\n",
    ),
    "a very long line": (
        f"services:\n  a:\n    image: pytorch/pytorch\n    labels: {{x: '{'y' * 50_000}'}}\n    gpus: all\n",
        f"services:\n  a:\n    image: pytorch/pytorch\n    labels: {{x: '{'y' * 50_000}'}}\n    gpus: all\n"
        "    shm_size: 8gb\n",
    ),
    "two services": (
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n  b:\n    image: pytorch/pytorch\n"
        "    shm_size: 64m\n    gpus: all\n",
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n"
        "  b:\n    image: pytorch/pytorch\n    shm_size: 8gb\n    gpus: all\n",
    ),
    "an anchor that two services need": (
        "x-gpu: &gpu\n  gpus: all\n  shm_size: 64m\nservices:\n  a: {<<: *gpu, image: pytorch/pytorch}\n"
        "  b:\n    <<: *gpu\n    image: pytorch/pytorch:latest\n",
        "x-gpu: &gpu\n  gpus: all\n  shm_size: 8gb\nservices:\n  a: {<<: *gpu, image: pytorch/pytorch}\n"
        "  b:\n    <<: *gpu\n    image: pytorch/pytorch:latest\n",
    ),
    "an anchor that one of two services needs": (
        "x-gpu: &gpu\n  gpus: all\n  shm_size: 64m\nservices:\n  a:\n    <<: *gpu\n    image: pytorch/pytorch\n"
        "  b:\n    <<: *gpu\n    image: ollama/ollama\n",
        "x-gpu: &gpu\n  gpus: all\n  shm_size: 64m\nservices:\n  a:\n    <<: *gpu\n    image: pytorch/pytorch\n"
        "    shm_size: 8gb\n  b:\n    <<: *gpu\n    image: ollama/ollama\n",
    ),
    "an anchored value that two services need": (
        "x-shm: &shm 64m\nservices:\n  a: {image: pytorch/pytorch, gpus: all, shm_size: *shm}\n"
        "  b: {image: pytorch/pytorch, gpus: all, shm_size: *shm}\n",
        "x-shm: &shm 8gb\nservices:\n  a: {image: pytorch/pytorch, gpus: all, shm_size: *shm}\n"
        "  b: {image: pytorch/pytorch, gpus: all, shm_size: *shm}\n",
    ),
    "an anchored value that is also something else": (
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    labels: {x: &shm 64m}\n    shm_size: *shm\n",
        "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    labels: {x: &shm 64m}\n    shm_size: 8gb\n",
    ),
    "a value that something else refers to": (
        "x-shm: &shm 64m\nservices:\n  a: {image: pytorch/pytorch, gpus: all, shm_size: *shm, labels: {x: *shm}}\n",
        "x-shm: &shm 64m\nservices:\n  a: {image: pytorch/pytorch, gpus: all, shm_size: 8gb, labels: {x: *shm}}\n",
    ),
    "the value of another service": (
        "services:\n  b: {image: redis, shm_size: &s 64m}\n"
        "  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: *s\n",
        "services:\n  b: {image: redis, shm_size: &s 64m}\n"
        "  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n",
    ),
}

VALUES = {
    "64m": "8gb",
    "'64m'": "'8gb'",
    '"64m"   # too small': '"8gb"   # too small',
    "64": "8gb",
    "1e9": "954mb",
    "1.5": "8gb",
    "": " 8gb",
    "  # how much?": " 8gb  # how much?",
    "~": "8gb",
    "null  # none": "8gb  # none",
    '""': '"8gb"',
    "8Gi": "8gb",
    "'8  gb'": "'8gb'",
    "!!str 64m": "!!str 8gb",
    "&size 64m": "&size 8gb",
    "|\n      64m": "8gb",
    '"64\\x6d"': '"8gb"',
    "${SHM:-64m}": "${SHM:-8gb}",
    '"${SHM-64m}"': '"${SHM-8gb}"',
    "'${SHM:-64m}'  # c": "'${SHM:-8gb}'  # c",
    "${A:-${B:-64m}}": "${A:-${B:-8gb}}",
    "${A:-${B-${C:-64m}}}": "${A:-${B-${C:-8gb}}}",
    "${SHM:-64}m": "${SHM:-8192}m",
}
for given, wanted in VALUES.items():
    blank = "" if given.startswith(" ") or not given else " "
    around = "services:\n  a:\n    image: pytorch/pytorch\n    shm_size:{}\n    gpus: all\n"
    CASES[f"shm_size: {given}"] = (
        around.format(blank + given),
        around.format((" " if blank else "") + wanted),
    )

PROJECTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a value of the base": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: 64m # c\n",
            "compose.override.yaml": "services:\n  a:\n    gpus: all\n",
        },
        {"compose.override.yaml": "services:\n  a:\n    gpus: all\n    shm_size: 8gb\n"},
    ),
    "a default of the base": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: ${SHM:-64m}\n",
            "compose.override.yaml": "services:\n  a:\n    gpus: all\n",
        },
        {"compose.override.yaml": "services:\n  a:\n    gpus: all\n    shm_size: \"${SHM:-8gb}\"\n"},
    ),
    "a value of the override": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n",
            "compose.override.yaml": "services:\n  a:\n    shm_size: '64m'\n",
        },
        {"compose.override.yaml": "services:\n  a:\n    shm_size: '8gb'\n"},
    ),
    "a value of an extended file": (
        {
            "compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: z}\n    gpus: all\n",
            "base.yml": "services:\n  z:\n    image: pytorch/pytorch\n    shm_size: 64m\n",
        },
        {
            "compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: z}\n    gpus: all\n"
            "    shm_size: 8gb\n"
        },
    ),
    "a value of an included file": (
        {
            "compose.yaml": "include: [part/gpu.yml]\nservices:\n  b:\n    image: redis\n",
            "part/gpu.yml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 64m\n",
        },
        {"part/gpu.yml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n"},
    ),
    "an extended file is not for one of its users": (
        {
            "compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: z}\n",
            "base.yml": "services:\n  z:\n    image: pytorch/pytorch\n    gpus: all\n",
        },
        {"compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: z}\n    shm_size: 8gb\n"},
    ),
    "an overlay": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n",
            "compose.gpu.yaml": "services:\n  a:\n    gpus: all # c\n",
        },
        {"compose.gpu.yaml": "services:\n  a:\n    gpus: all # c\n    shm_size: 8gb\n"},
    ),
    "a base with a size that is also started without the GPU": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: 128m\n    mem_limit: 1g\n",
            "compose.gpu.yaml": "services:\n  a:\n    mem_limit: 32g\n    gpus: all\n",
        },
        {"compose.gpu.yaml": "services:\n  a:\n    mem_limit: 32g\n    gpus: all\n    shm_size: 8gb\n"},
    ),
    "a base with a default that is also started without the GPU": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: ${SHM:-128m}\n",
            "compose.gpu.yaml": "services: {a: {gpus: all}}\n",
        },
        {"compose.gpu.yaml": 'services: {a: {gpus: all, shm_size: "${SHM:-8gb}"}}\n'},
    ),
    "a base that requests the GPU": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 128m\n",
            "compose.web.yaml": "services:\n  a:\n    ports: ['80:80']\n",
        },
        {"compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n"},
    ),
    "a size that is refused with and without the GPU": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: 8Gi\n",
            "compose.gpu.yaml": "services:\n  a:\n    gpus: all\n",
        },
        {"compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: 8gb\n"},
    ),
    "empty bodies in an overlay": (
        {
            "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 64m\n",
            "compose.override.yaml": "services:\n  a:\n",
        },
        {"compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 8gb\n"},
    ),
}


@table("name", CASES)
def test_rewrites(name: str) -> None:
    before, after = CASES[name]
    assert fixed({"compose.yaml": before}) == {"compose.yaml": after}


def test_a_base_that_other_files_are_put_on_stays() -> None:
    """Also where a script names the one for the GPU alone."""
    before = {
        "base.yml": "services:\n  a:\n    image: pytorch/pytorch\n    shm_size: 64m\n",
        "gpu.yml": "services:\n  a: {gpus: all}\n",
        "cpu.yml": "services:\n  a: {mem_limit: 128m}\n",
        "up.sh": "docker compose -f base.yml -f gpu.yml up\n",
    }
    assert fixed(before) == {**before, "gpu.yml": "services:\n  a: {gpus: all, shm_size: 8gb}\n"}


@pytest.mark.parametrize("name", PROJECTS)
def test_rewrites_projects(name: str) -> None:
    before, after = PROJECTS[name]
    assert fixed(before) == {**before, **after}


@table(
    ("body", "wanted"),
    [
        ("", "\n    shm_size: 8gb"),
        ("\n", "\n    shm_size: 8gb\n"),
        ("  # c\n\n# d\n", "  # c\n    shm_size: 8gb\n\n# d\n"),
        (" ~ # c\n", " # c\n    shm_size: 8gb\n"),
        (" null", "\n    shm_size: 8gb"),
        (" {}\n", " {shm_size: 8gb}\n"),
        (" { } # c\n", " {shm_size: 8gb } # c\n"),
        (" &x\n", " &x\n    shm_size: 8gb\n"),
    ],
)
@table("newline", ["\n", "\r\n"])
def test_an_empty_body_is_filled(body: str, wanted: str, newline: str) -> None:
    """The template requests the GPU, in a file that is put together with the overlay first."""
    texts = {
        "compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: z}\n",
        "compose.override.yaml": f"services:\n  a:{body}".replace("\n", newline),
        "base.yml": "services:\n  z:\n    image: pytorch/pytorch\n    gpus: all\n",
    }
    after = f"services:\n  a:{wanted}".replace("\n", newline)
    assert fixed(texts) == {**texts, "compose.override.yaml": after}


NOOP = {
    "enough": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: 16gb\n",
    "no GPU": "services:\n  a:\n    image: pytorch/pytorch\n",
    "ipc": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    ipc: host\n",
    "a mount": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    tmpfs: /dev/shm:size=8g\n",
    "too small a mount": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    tmpfs: /dev/shm:size=8m\n",
    "unknown": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: ${SHM}\n",
    "not a workload that needs it": "services:\n  a:\n    image: ollama/ollama\n    gpus: all\n",
    "empty": "",
    "not YAML": "services: [\n",
    "only a comment": "# services:\n#   a: {image: pytorch/pytorch, gpus: all}\n",
}


@table("name", NOOP)
def test_leaves_alone(name: str) -> None:
    outcome = fix.fix(read({"compose.yaml": NOOP[name]}))
    assert outcome.texts == {}
    assert outcome.unproved == []


def test_a_value_of_an_env_file_is_advised_and_not_changed() -> None:
    texts = {
        ".env": "SHM=64m\n",
        "compose.yaml": "services:\n  a:\n    image: pytorch/pytorch\n    gpus: all\n    shm_size: ${SHM:-1g}\n",
    }
    outcome = fix.fix(read(texts))
    assert outcome.texts == {}
    (finding,) = fix.remaining(outcome)
    assert finding.rule == "SHM102"
    assert planned(finding) is None
    assert "env file" in finding.advice


def test_an_anchor_that_another_service_would_inherit_from_is_not_changed() -> None:
    """Every place a line could go in is one that ``b`` merges."""
    text = (
        "services:\n  a: &a {image: pytorch/pytorch, gpus: all}\n"
        "  b: {<<: *a, image: ollama/ollama}\n  c: {image: pytorch/pytorch, gpus: all}\n"
    )
    outcome = fix.fix(read({"compose.yaml": text}))
    assert outcome.texts == {"compose.yaml": text.removesuffix("}\n") + ", shm_size: 8gb}\n"}
    assert [f.launch.name for f in outcome.unproved if f.launch] == ["a"]
    (left,) = fix.remaining(outcome)
    assert left.fix is None
    assert "could not be proved" in left.advice


def services(count: int, bad: int = 0) -> str:
    """Services that lack a size; ``bad`` of them cannot be given one without another getting it too."""
    lines = ["services:"]
    for i in range(count):
        lines += [f"  s{i}: &a{i}", "    image: pytorch/pytorch", "    gpus: all"]
        if i < bad:
            lines += [f"  o{i}:", f"    <<: *a{i}", "    image: ollama/ollama"]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("bad", [0, 1, pytest.param(30, marks=pytest.mark.slow)])
def test_many_fixes_are_proved_together(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = 0

    def counted(*args: Any, **keywords: Any) -> Run:
        nonlocal readings
        readings += 1
        return lint(*args, **keywords)

    monkeypatch.setattr(fix, "lint", counted)
    outcome = fix.fix(read({"compose.yaml": services(200, bad)}))
    assert outcome.texts["compose.yaml"].count("    shm_size: 8gb\n") == 200 - bad
    assert len(outcome.fixed) == 200 - bad
    assert len(outcome.unproved) == bad
    # Halving finds one bad one in about 2 log2(200) readings; every alternative is tried once more.
    assert readings <= 1 + 6 * 16 * bad


@table(
    ("before", "after", "same"),
    [
        ("a: {image: x}", "a: {image: x, shm_size: 1g}", True),
        ("a: {image: x}", "a: {image: 'x', shm_size: 1g}", False),
        ("a: {image: x}", "a: {image: x, shm_size: 1g, b: c}", False),
        ("a: {image: x, shm_size: 1g}", "a: {image: x}", False),
        ("a: [1, 2]", "a: [1]", False),
        ("a: |+\n  x\n\n", "a: |+\n  x\n", False),
        ("a: {b: c}", "a:\n  b: c", False),
        ("a: &x {b: c}\nd: *x", "a: &x {b: c}\nd: {<<: *x, shm_size: 1g}", True),
        ("a: &x {b: c}\nd: *x", "a: &x {b: c}\nd: {b: c, shm_size: 1g}", False),
        ("a: &x {b: c}\nd: *x", "a: &x {b: c}\nd: {shm_size: 1g}", False),
        ("a: &x {b: c}\ne: &y {b: c}\nd: *x", "a: &x {b: c}\ne: &y {b: c}\nd: *y", False),
        ("a: &x 1", "a: &y 1", False),
        ("a: !!str 1", "a: 1", False),
        ("a:", "a: {shm_size: 1g}", True),
        ("a: b", "a: {shm_size: 1g}", False),
        ("a: {shm_size: &s 1g}\nb: {shm_size: *s}", "a: {shm_size: &s 2g}\nb: {shm_size: *s}", True),
        ("a: {shm_size: &s 1g}\nb: {label: *s}", "a: {shm_size: &s 2g}\nb: {label: *s}", False),
        ("x-s: &s 1g\nb: {shm_size: *s}", "x-s: &s 2g\nb: {shm_size: *s}", True),
        ("x-s: {t: [&s 1g]}\nb: {shm_size: *s}", "x-s: {t: [&s 2g]}\nb: {shm_size: *s}", True),
        ("x-s: &s 1g\nb: {label: *s}", "x-s: &s 2g\nb: {label: *s}", False),
        ("y-s: &s 1g\nb: {shm_size: *s}", "y-s: &s 2g\nb: {shm_size: *s}", False),
        ("a: 1\n---\nb: 1", "a: 1", False),
    ],
)
def test_what_counts_as_the_same(before: str, after: str, same: bool) -> None:
    documents = [parse(Source("x", text)) for text in (before, after)]
    assert same_but_for_size(*documents) is same


@table(
    ("before", "after", "same"),
    [
        ("a: {image: x, environment: [A=1]}", "a: {image: x}", True),
        ("a: {image: x, environment: [A=1]}", "a: {image: x, environment: [B=1], shm_size: 1g}", True),
        ("a: {image: x}", "a: {image: x, environment: {A: 1}}", True),
        ("a: {image: x, environment: [A=1], ports: [1]}", "a: {image: x, environment: [A=1], ports: [2]}", False),
        ("a: {image: x, environment: [A=1]}", "a: {image: y}", False),
        ("a: {image: x, shm_size: 1g}", "a: {image: x}", True),
        ("a: {image: x, environment: [A=1], ipc: host}", "a: {image: x, environment: [A=1]}", False),
        ("a: {environment: &e [A=1]}\nb: {environment: *e}", "a: {environment: &e []}\nb: {environment: *e}", True),
        ("a: {environment: &e [A=1]}\nb: {labels: *e}", "a: {environment: &e [A=1]}\nb: {labels: []}", False),
        ("x-e: &e [A=1]\na: {environment: *e}", "x-e: &e []\na: {environment: *e}", True),
        ("y-e: &e [A=1]\na: {environment: *e}", "y-e: &e []\na: {environment: *e}", False),
    ],
)
def test_what_counts_as_the_same_where_a_change_is_about_another_key(before: str, after: str, same: bool) -> None:
    documents = [parse(Source("x", text)) for text in (before, after)]
    assert same_but_for_size(*documents, also=["environment"]) is same


def judged(texts: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """What Compose reads in the files of a project, written to the current directory."""
    for path, text in texts.items():
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    files = [path for path in ("compose.yaml", "compose.override.yaml", "compose.gpu.yaml") if path in texts]
    answer, said = compose_answer(Path.cwd(), files)
    return answer or {}, said


def without_size(config: dict[str, Any]) -> object:
    services = {
        name: {key: value for key, value in service.items() if key != "shm_size"}
        for name, service in config["services"].items()
    }
    return {**{key: value for key, value in config.items() if not key.startswith("x-")}, "services": services}


# Compose refuses these as they are before the fix.
REFUSED_BEFORE = {
    'shm_size: ""', "shm_size: 8Gi", "shm_size: '8  gb'", "shm_size: ~", "shm_size: null  # none", "shm_size: ",
    "shm_size:   # how much?", "shm_size: |\n      64m", "a size that is refused with and without the GPU",
}  # fmt: skip


@pytest.mark.compose_judge
@table("name", [*CASES, *PROJECTS])
def test_compose_reads_nothing_else(name: str) -> None:
    if name in PROJECTS:
        before, after = PROJECTS[name][0], {**PROJECTS[name][0], **PROJECTS[name][1]}
    else:
        before, after = ({"compose.yaml": text} for text in CASES[name])
    old, said = judged(before)
    assert bool(old) is (name not in REFUSED_BEFORE), said
    new, said = judged(after)
    assert new, said
    assert {service.get("shm_size") for service in new["services"].values()} & {str(8 << 30), str(954 << 20)}
    if old:
        assert without_size(old) == without_size(new)
