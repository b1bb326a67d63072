"""A real engine: what becomes of /dev/shm is measured in a container, and compared with what we say.

    DOCKER_HOST=unix:///… pytest -m engine

The engine needs the image ``shmlint-probe:1``: busybox with ``sh`` and ``df``, and nothing else.
Nothing is pulled, and no GPU is needed: an override file takes the request for it away.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from shmlint.fixing import fix
from shmlint.fixing.write import write as write_fixed
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings
from shmlint.run import Run, lint
from tests.needs import PROBE
from tests.oracles.compose import program

pytestmark = pytest.mark.engine

SETTINGS = Settings(shm_size=1 << 30)
DEFAULT_KIB = 65536


@pytest.fixture(autouse=True)
def _engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    # Compose names projects after their directories, and tests that run side by side may share a name.
    monkeypatch.setenv("COMPOSE_PROJECT_NAME", f"shmlint-{uuid.uuid4().hex}")
    yield
    if Path(STARTED).exists():
        compose("down", "--timeout", "0")


STARTED = "started"
"""A file that says that containers are left to take down; those of ``measured`` take themselves down."""


def compose(*words: str, files: Sequence[str] = ("compose.yaml",)) -> subprocess.CompletedProcess[str]:
    options = [option for file in files for option in ("-f", file)]
    if words[0] == "up":
        Path(STARTED).touch()
    return subprocess.run([*program(), *options, *words], capture_output=True, text=True, timeout=120)


def write(texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        Path(path).write_text(text, newline="")


def without_gpus(services: Sequence[str]) -> str:
    """An override that takes the GPU request away, and what needs a network."""
    body = "\n    ".join(
        ["deploy: !reset null", "gpus: !reset null", "runtime: !reset null", "devices: !reset null",
         "network_mode: none"]
    )  # fmt: skip
    return "services:\n" + "".join(f"  {name}:\n    {body}\n" for name in services)


def measured(files: Sequence[str], service: str, services: Sequence[str] = ()) -> int | None:
    """KiB of /dev/shm in a service's container; None where nothing is mounted there."""
    write({"no-gpu.yaml": without_gpus(services or [service])})
    done = compose(
        "run", "--rm", "--no-deps", "--entrypoint", "sh", service, "-c",
        "df -k /dev/shm 2>/dev/null || true", files=[*files, "no-gpu.yaml"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # One line a file system; where nothing is mounted there is no /dev/shm, or it lies in another.
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return next((int(row[1]) for row in rows if row[-1] in ("/dev/shm", "/dev")), None)


def read(*files: str) -> Run:
    return lint({"compose": list(files)}, SETTINGS)


def launch_of(run: Run, name: str) -> Launch:
    return next(launch for launch in run.launches if launch.name == name)


HEAD = f"services:\n  a:\n    image: {PROBE}\n    gpus: all\n"

FIXES: dict[str, tuple[dict[str, str], int, int]] = {
    "missing": ({"compose.yaml": HEAD}, DEFAULT_KIB, 1 << 20),
    "missing, a reservation": (
        {"compose.yaml": f"services:\n  a:\n    image: {PROBE}\n    deploy: {{resources: {{reservations: "
                         "{devices: [{capabilities: [gpu]}]}}}\n"},
        DEFAULT_KIB, 1 << 20,
    ),
    "missing, a runtime": (
        {"compose.yaml": f"services: {{a: {{image: '{PROBE}', runtime: nvidia}}}}\n"}, DEFAULT_KIB, 1 << 20,
    ),
    "an alias": (
        {"compose.yaml": f"x-a: &a {{image: '{PROBE}', gpus: all}}\nservices:\n  a: *a\n"}, DEFAULT_KIB, 1 << 20,
    ),
    "zero": ({"compose.yaml": HEAD + "    shm_size: 0\n"}, DEFAULT_KIB, 1 << 20),
    "too small": ({"compose.yaml": HEAD + "    shm_size: 128m\n"}, 131072, 1 << 20),
    "a default": ({"compose.yaml": HEAD + "    shm_size: ${SHM:-128m}\n"}, 131072, 1 << 20),
    "bytes": ({"compose.yaml": HEAD + "    shm_size: 64\n"}, 4, 1 << 20),
    "bytes that were megabytes": ({"compose.yaml": HEAD + "    shm_size: 768\n"}, 4, 768 << 10),
    "a float": ({"compose.yaml": HEAD + "    shm_size: 8e8\n"}, DEFAULT_KIB, 763 << 10),
    "for the build only": (
        {"compose.yaml": HEAD + "    build: {context: ., shm_size: 2g}\n    pull_policy: never\n"},
        DEFAULT_KIB, 2 << 20,
    ),
    "extends": (
        {"compose.yaml": "services:\n  a:\n    extends: {file: base.yml, service: z}\n    gpus: all\n",
         "base.yml": f"services:\n  z:\n    image: {PROBE}\n    shm_size: 128m\n"},
        131072, 1 << 20,
    ),
    "an override": (
        {"compose.yaml": HEAD + "    shm_size: 1g\n",
         "compose.override.yaml": "services:\n  a:\n    shm_size: '100m'\n"},
        102400, 1 << 20,
    ),
    "an override without a size": (
        {"compose.yaml": f"services:\n  a:\n    image: {PROBE}\n",
         "compose.override.yaml": "services:\n  a:\n    gpus: all\n"},
        DEFAULT_KIB, 1 << 20,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIXES)
def test_a_fixed_service_has_the_size_written(name: str) -> None:
    texts, before, after = FIXES[name]
    write(texts)
    files = [path for path in texts if path.startswith("compose")]
    assert measured(files, "a") == before
    run = read(*files)
    outcome = fix.fix(run, unsafe=True)  # nothing is known of what the probe runs
    list(write_fixed(run, outcome.texts))
    assert measured(files, "a") == after
    (launch,) = [launch for launch in read(*files).launches if launch.name == "a"]
    assert launch.effective_shm().bytes == after << 10


UNFIXED = {
    "a tmpfs": "    tmpfs: /dev/shm:size=8m\n",
    "a mount": "    volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 8m}}]\n",
    "no IPC": "    ipc: none\n",
}


@pytest.mark.parametrize("name", UNFIXED)
def test_what_a_size_would_not_change_is_not_fixed(name: str) -> None:
    """And rightly so: with the size written, nothing is different."""
    write({"compose.yaml": HEAD + UNFIXED[name]})
    assert fix.fix(read("compose.yaml"), unsafe=True).texts == {}
    before = measured(["compose.yaml"], "a")
    write({"compose.yaml": HEAD + UNFIXED[name] + "    shm_size: 1g\n"})
    assert measured(["compose.yaml"], "a") == before


IPCS = ["", "private", "shareable", "none", "host"]
SIZES = ["", "0", "1g", "'1.5g'", "64", "1e9", "'1e9'"]
MOUNTS = [
    "",
    "tmpfs: /dev/shm",
    "tmpfs: ['/dev/shm:size=32m']",
    "tmpfs: '/dev/shm:size=64k,mode=1777'",
    "tmpfs: '/dev/shm/:size=50%'",
    "volumes: [{type: tmpfs, target: /dev/shm}]",
    "volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 48m}}]",
    "volumes: ['/dev/shm:/dev/shm']",
    "volumes: ['/dev:/dev']",
]
"""Every IPC mode with every size, and every mount with some of both."""

ROWS = [(ipc, size, "") for ipc in IPCS for size in SIZES]
ROWS += [(ipc, size, mount) for mount in MOUNTS[1:] for ipc in ("", "host", "none") for size in ("", "1g")]


def expected(launch: Launch, host: int | None) -> set[int | None]:
    """What ``df`` may show, in KiB, where the launch's /dev/shm is what we say it is."""
    effective = launch.effective_shm()
    if effective.decided_by == "none":
        return {None}
    if effective.decided_by in ("host", "bind"):
        return {host}
    if effective.bytes is not None:
        pages = -(-effective.bytes // 4096)
        return {pages * 4}
    # A tmpfs without a size gets half of the machine's memory; the kernel rounds either way.
    half = os.sysconf("SC_PHYS_PAGES") // 2 * 4
    return {half, half + 4}


@pytest.mark.parametrize(("ipc", "size", "mount"), ROWS)
def test_the_engine_decides_as_we_say(ipc: str, size: str, mount: str) -> None:
    lines = [f"ipc: {ipc}" if ipc else "", f"shm_size: {size}" if size else "", mount]
    body = "".join(f"    {line}\n" for line in lines if line)
    write({"compose.yaml": HEAD + body})
    launch = launch_of(read("compose.yaml"), "a")
    host = host_shm() if launch.effective_shm().decided_by in ("host", "bind") else None
    assert measured(["compose.yaml"], "a") in expected(launch, host)


@cache
def host_shm() -> int | None:
    """KiB of the engine's own /dev/shm."""
    command = ["docker", "run", "--rm", "--network", "none", "--ipc", "host", PROBE, "df", "-k", "/dev/shm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return int(done.stdout.splitlines()[1].split()[1])


@pytest.mark.parametrize("own", ["", "1g"])
@pytest.mark.parametrize("mode", ["service:donor", "container:the-donor"])
def test_a_joined_namespace_has_the_donors_size(mode: str, own: str) -> None:
    donor_name = os.environ["COMPOSE_PROJECT_NAME"] + "-donor"
    mode = mode.replace("the-donor", donor_name)
    write({
        "compose.yaml": f"services:\n  donor:\n    image: {PROBE}\n    container_name: {donor_name}\n"
        "    ipc: shareable\n    shm_size: 96m\n    network_mode: none\n    command: sleep 300\n"
        f"  a:\n    image: {PROBE}\n    gpus: all\n    ipc: '{mode}'\n" + (f"    shm_size: {own}\n" if own else ""),
        "no-gpu.yaml": without_gpus(["a"]),
    })  # fmt: skip
    launch = launch_of(read("compose.yaml"), "a")
    up = compose("up", "-d", "donor")
    assert up.returncode == 0, up.stderr
    assert launch.effective_shm().bytes == 96 << 20
    assert measured(["compose.yaml"], "a") == 96 << 10


def joining(ipc: str) -> dict[str, str]:
    """A service that joins one with an IPC mode, and one more to join."""
    idle = f"    image: {PROBE}\n    network_mode: none\n    command: sleep 300\n"
    mode = f"    ipc: '{ipc}'\n" if ipc else ""
    return {
        "compose.yaml": f"services:\n  third:\n{idle}    ipc: shareable\n    shm_size: 32m\n"
        f"  donor:\n{idle}{mode}    shm_size: 96m\n    depends_on: [third]\n"
        f"  a:\n    image: {PROBE}\n    gpus: all\n    ipc: service:donor\n",
        "no-gpu.yaml": without_gpus(["a"]),
    }


def refused() -> list[str]:
    """The modes of donors that SHM211 says cannot be joined."""
    return [f.rule for f in lint({"compose": ["compose.yaml"]}, Settings(select=("SHM211",))).findings]


@pytest.mark.parametrize("ipc", ["", "private", "none"])
def test_a_namespace_that_is_not_shared_cannot_be_joined(ipc: str) -> None:
    """What SHM211 says; and with its fix it can be."""
    write(joining(ipc))
    assert refused() == ["SHM211"]
    assert compose("up", "-d", "donor").returncode == 0
    words = ("run", "--rm", "--no-deps", "--entrypoint", "sh", "a", "-c", "true")
    done = compose(*words, files=["compose.yaml", "no-gpu.yaml"])
    assert done.returncode != 0
    assert "non-shareable IPC" in done.stderr
    run = lint({"compose": ["compose.yaml"]}, Settings(select=("SHM211",)))
    list(write_fixed(run, fix.fix(run, unsafe=True).texts))
    assert refused() == []
    up = compose("up", "-d", "donor")
    assert up.returncode == 0, up.stderr
    assert measured(["compose.yaml"], "a") == 96 << 10


@pytest.mark.parametrize("ipc", ["shareable", "host", "service:third"])
def test_a_namespace_that_is_shared_can_be_joined(ipc: str) -> None:
    """Also one that its owner has from somebody else."""
    write(joining(ipc))
    assert refused() == []
    up = compose("up", "-d", "donor")
    assert up.returncode == 0, up.stderr
    size = {"shareable": 96 << 10, "service:third": 32 << 10}
    assert measured(["compose.yaml"], "a") == (size[ipc] if ipc in size else host_shm())


@pytest.mark.parametrize(("memory", "killed"), [("32m", True), ("256m", False)])
def test_what_lies_in_shared_memory_counts_against_the_memory_limit(memory: str, killed: bool) -> None:
    """What SHM209 says: /dev/shm of 64 MiB is not to be filled where the limit is 32 MiB."""
    name = os.environ["COMPOSE_PROJECT_NAME"] + "-memory"
    command = ["docker", "run", "--name", name, "--network", "none", "--memory", memory, "--memory-swap", memory]
    fill = ["--shm-size=64m", PROBE, "sh", "-c", "cat /dev/zero > /dev/shm/x"]
    subprocess.run([*command, *fill], capture_output=True, timeout=60)
    state = ["docker", "inspect", "--format", "{{.State.OOMKilled}}", name]
    done = subprocess.run(state, capture_output=True, text=True, timeout=60)
    subprocess.run(["docker", "rm", "-f", name], capture_output=True, timeout=60)
    assert done.stdout.strip() == str(killed).lower(), done.stderr
