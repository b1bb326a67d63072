"""SHM214: a memory volume that the container with the GPU should mount and does not."""

from __future__ import annotations

from pathlib import Path

from tests.formats.kubernetes.manifests import MEMORY, ON_SHM, container, pod
from tests.project import findings, fixed
from tests.table import table

ELSEWHERE = "volumeMounts: [{name: dshm, mountPath: /cache}]"
SIDECAR = container(ON_SHM, name="sidecar", gpus=0)
CASES = [
    ((container(),), "SHM214", "by no container"),
    ((container(), SIDECAR), "SHM214", "only by `sidecar`"),
    ((container(), container(ELSEWHERE, name="b", gpus=0)), "SHM101", ""),
    ((container(ELSEWHERE),), "SHM101", ""),
    ((container(), container(ON_SHM, name="b")), "SHM101", ""),
    ((container(ON_SHM),), "", ""),
    ((container(gpus=0),), "", ""),
]


@table("containers, rule, said", CASES)
def test_who_should_mount_it(tmp_path: Path, containers: tuple[str, ...], rule: str, said: str) -> None:
    found = findings(tmp_path, {"p.yaml": pod(*containers, volumes=(MEMORY,))})
    assert [f.rule for f in found] == ([rule] if rule else [])
    assert all(said in f.message for f in found)


def test_the_mount_is_all_that_is_added(tmp_path: Path) -> None:
    text = pod(container(), volumes=("emptyDir: {medium: Memory, sizeLimit: 16Gi}",))
    after = fixed(tmp_path, {"p.yaml": text})["p.yaml"]
    mount = "    volumeMounts:\n    - name: dshm\n      mountPath: /dev/shm\n"
    assert after == text.replace("  volumes:\n", f"{mount}  volumes:\n")
    assert findings(tmp_path, {"p.yaml": after}) == []


def test_where_the_rule_is_off_the_size_is_missing(tmp_path: Path) -> None:
    found = findings(tmp_path, {"p.yaml": pod(volumes=(MEMORY,))}, ignore=("SHM214",))
    assert [f.rule for f in found] == ["SHM101"]


def test_a_volume_against_the_limit_and_the_request(tmp_path: Path) -> None:
    """SHM209 in the words of Kubernetes."""
    for given, expected in (
        ("limits: {memory: 16Gi, nvidia.com/gpu: 2}", [("SHM209", "warning")]),
        ("limits: {memory: 64Gi, nvidia.com/gpu: 2}", []),
        ("limits: {nvidia.com/gpu: 2}, requests: {memory: 16Gi}", [("SHM209", "note")]),
        ("limits: {nvidia.com/gpu: 2}", []),
    ):
        body = container(ON_SHM, f"resources: {{{given}}}", gpus=0)
        text = pod(body, volumes=("emptyDir: {medium: Memory, sizeLimit: 32Gi}",))
        found = findings(tmp_path, {"p.yaml": text}, select=("SHM209",))
        assert [(f.rule, f.severity) for f in found] == expected, given
