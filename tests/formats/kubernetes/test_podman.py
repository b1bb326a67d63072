"""What /dev/shm becomes in a pod, measured by ``podman kube play``.

Podman 4.3 ignores ``medium: Memory`` and ``hostIPC``, so these cannot be measured with it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.formats.kubernetes.manifests import indented
from tests.oracles.podman import IMAGE, Podman
from tests.oracles.podman import podman as started
from tests.project import run

pytestmark = pytest.mark.podman

PODMANS_DEFAULT = 64_000
"""KiB. Podman reads its default, 65536k, in units of 1000 (libpod/runtime_ctr.go)."""


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    with started() as program:
        yield program


def part(name: str, command: str, *lines: str) -> str:
    body = "".join(f"  {line}\n" for line in (f"command: [/bin/sh, -c, '{command}']", *lines))
    return f"- name: {name}\n  image: {IMAGE}\n  imagePullPolicy: Never\n{body}"


SHOW = "df -k /dev/shm"
WAIT = "n=0; until [ -e /dev/shm/x ] || [ $n -gt 50 ]; do n=$((n + 1)); sleep 0.1; done; ls /dev/shm"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n  hostNetwork: true\n"
    "  containers:\n"
    + indented(
        part("plain", f"{SHOW}; echo > /dev/shm/x")
        + part("shares", WAIT)
        + part("host", SHOW, "volumeMounts: [{name: h, mountPath: /dev/shm}]")
        + part("disk", SHOW, "volumeMounts: [{name: e, mountPath: /dev/shm}]"),
        2,
    )
    + "  volumes:\n  - {name: h, hostPath: {path: /dev/shm}}\n  - {name: e, emptyDir: {}}\n"
)


def test_podman_gives_the_containers_of_a_pod_what_is_read_from_the_manifest(podman: Podman, tmp_path: Path) -> None:
    ours = {each.name: each.effective_shm() for each in run(tmp_path, {"pod.yaml": POD}).launches}
    played = podman("play", "kube", str(tmp_path / "pod.yaml"))
    assert played.returncode == 0, played.stderr
    shown = {name: _output(podman, f"p-{name}") for name in ours}
    kibibytes = {name: text.splitlines()[-1].split() for name, text in shown.items()}
    host = subprocess.run(["df", "-k", "/dev/shm"], capture_output=True, text=True, check=True).stdout.split()

    assert (ours["plain"].decided_by, ours["plain"].bytes) == ("default", 64 << 20)
    assert kibibytes["plain"][:2] == ["shm", str(PODMANS_DEFAULT)]
    assert shown["shares"].split() == ["x"]  # one /dev/shm for the pod
    assert ours["host"].decided_by == "bind"
    assert kibibytes["host"][1] == host[host.index("tmpfs") + 1]
    assert ours["disk"].decided_by == "volume"
    assert kibibytes["disk"][0] not in ("shm", "tmpfs")


def _output(podman: Podman, container: str) -> str:
    """What a container wrote, once it has ended."""
    for _ in range(100):
        state = podman("inspect", "--format", "{{.State.Status}}", container).stdout.strip()
        if state == "exited":
            break
        time.sleep(0.1)
    return podman("logs", container).stdout
