"""A real engine runs fixed command lines: /dev/shm in the container is what was written.

    DOCKER_HOST=unix:///… pytest -m engine

The engine needs the image that tests/oracles/probe_image.sh makes. No GPU is needed: the option that asks
for it is taken out of the fixed command before it runs.
"""

from __future__ import annotations

import subprocess

import pytest

from shmlint.files.workspace import Workspace
from shmlint.fixing import fix
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.run import Run, lint
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import whole
from tests.formats.compose.test_engine import expected, host_shm
from tests.needs import PROBE

pytestmark = pytest.mark.engine

SETTINGS = Settings(shm_size=1 << 30)
GPU = ("--gpus", "--runtime")


def read(script: str) -> Run:
    return lint({"shell": ["x.sh"]}, SETTINGS, Workspace().over({"x.sh": script}))


def launch_of(script: str) -> Launch:
    (launch,) = read(script).launches
    return launch


def measured(script: str) -> int | None:
    """KiB of /dev/shm in the container that a script's ``docker run`` starts, the GPU left out."""
    found = [
        [word.text for word in command.words]
        for command in commands(whole(Source("x.sh", script), 0, len(script)))
        if any(word.text == "run" for word in command.words)
    ]
    (words,) = found
    words = words[words.index("run") + 1 : words.index(PROBE)]
    options: list[str] = []
    skip = False
    for word in words:
        if not skip and not word.startswith(GPU):
            options.append(word)
        skip = word in GPU
    command = ["docker", "run", "--rm", "--network", "none", *options, PROBE, "sh", "-c", "df -k /dev/shm || true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return next((int(row[1]) for row in rows if row[-1] in ("/dev/shm", "/dev")), None)


@pytest.mark.parametrize(
    ("script", "before"),
    [
        (f"docker run --gpus all {PROBE}\n", 65536),
        (f"docker run \\\n  -e A=1 \\\n  --gpus '\"device=0,1\"' \\\n  {PROBE}\n", 65536),
        (f"docker run --runtime=nvidia {PROBE}\n", 65536),
        (f"nvidia-docker run -e A=1 {PROBE}\n", 65536),
        (f"docker run --gpus all --ipc=shareable --shm-size=0 {PROBE}\n", 65536),
        (f"docker run --gpus all --shm-size='128m' {PROBE}\n", 131072),
        (f"docker run --gpus all --memory 2g --shm-size 128m {PROBE}\n", 131072),
        (f"S=128m\ndocker run --gpus all --shm-size=$S {PROBE}\n", 131072),
        (f'G="--gpus all --shm-size=1m"\ndocker run $G {PROBE}\n', 1024),
        (f'A=(\n  --gpus all\n  -e A=1\n)\ndocker run "${{A[@]}}" {PROBE}\n', 65536),
    ],
)
def test_a_fixed_command_has_the_size_written(script: str, before: int) -> None:
    assert measured(script) == before
    effective = launch_of(script).effective_shm()
    assert effective.bytes == before << 10
    after = fix.fix(read(script), unsafe=True).texts["x.sh"]  # nothing is known of what the probe runs
    assert measured(after) == 1 << 20
    assert launch_of(after).effective_shm().bytes == 1 << 30


@pytest.mark.parametrize("ipc", ["", "--ipc=private", "--ipc=shareable", "--ipc=none", "--ipc=host"])
@pytest.mark.parametrize(
    "options",
    ["", "--shm-size=0", "--shm-size=64", "--shm-size 1.5g", "--tmpfs /dev/shm", "--tmpfs /dev/shm:size=64m",
     "--tmpfs /dev/shm:size=50%", "--mount type=tmpfs,dst=/dev/shm,tmpfs-size=48mb",
     "-v /dev/shm:/dev/shm --shm-size=1g",
     "-v /dev:/dev"],
)  # fmt: skip
def test_the_engine_decides_as_we_say(options: str, ipc: str) -> None:
    script = f"docker run {options} {ipc} {PROBE}\n"
    launch = launch_of(script)
    host = host_shm() if launch.effective_shm().decided_by in ("host", "bind") else None
    assert measured(script) in expected(launch, host)
