"""SHM213: which volumes on /dev/shm are on disk."""

from __future__ import annotations

from pathlib import Path

from tests.formats.kubernetes.manifests import ON_SHM, container, pod
from tests.project import findings, fixed
from tests.table import table

CASES = [
    ("emptyDir: {}", True, True),
    ("emptyDir: {sizeLimit: 20Gi}", True, True),
    ("persistentVolumeClaim: {claimName: c}", True, False),
    ("emptyDir: {medium: Memory}", False, False),
    ("hostPath: {path: /dev/shm}", False, False),
    ("csi: {driver: d}", False, False),
    ("emptyDir: {medium: HugePages}", False, False),
]


@table("volume, found, repaired", CASES)
def test_what_is_on_disk(tmp_path: Path, volume: str, found: bool, repaired: bool) -> None:
    text = pod(container(ON_SHM), volumes=(volume,))
    assert [f.rule for f in findings(tmp_path, {"p.yaml": text}, select=("SHM213",))] == ["SHM213"] * found
    after = fixed(tmp_path, {"p.yaml": text}, unsafe=True, select=("SHM213",))
    assert bool(after) == repaired
    if repaired:
        size = "20Gi" if "20Gi" in volume else "8Gi"  # a limit that is enough stays
        assert after["p.yaml"] == text.replace(volume, f"emptyDir: {{medium: Memory, sizeLimit: {size}}}")


def test_a_limit_above_the_memory_limit_is_lowered(tmp_path: Path) -> None:
    asks = "resources: {limits: {memory: 16Gi, nvidia.com/gpu: 2}}"
    text = pod(container(ON_SHM, asks, gpus=0), volumes=("emptyDir: {sizeLimit: 20Gi}",))
    after = fixed(tmp_path, {"p.yaml": text}, unsafe=True)
    assert after == {"p.yaml": text.replace("{sizeLimit: 20Gi}", "{medium: Memory, sizeLimit: 8Gi}")}


def test_a_claim_of_a_stateful_set_is_on_disk_and_one_without_a_gpu_is_not_judged(tmp_path: Path) -> None:
    claim = "  volumeClaimTemplates: [{metadata: {name: dshm}}]\n"
    text = pod(container(ON_SHM)).replace("v1\nkind: Pod", "apps/v1\nkind: StatefulSet") + claim
    assert [f.rule for f in findings(tmp_path, {"s.yaml": text})] == ["SHM213"]
    without = pod(container(ON_SHM, gpus=0), volumes=("emptyDir: {}",))
    assert findings(tmp_path, {"s.yaml": without}) == []


NCCL = "nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=2 t.py"
DOCKER = [
    (f"docker run --gpus all -v /dev/shm {NCCL}", ["SHM213"]),
    (f"docker run --gpus all --mount type=volume,dst=/dev/shm {NCCL}", ["SHM213"]),
    (f"docker run --gpus all -v shm:/dev/shm {NCCL}", []),
    (f"docker run --gpus all -v /dev/shm:/dev/shm {NCCL}", []),
    (f"docker run -v /dev/shm {NCCL}", []),
    ("docker run --gpus all -v /dev/shm nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi", []),
    (f"docker run --gpus all --shm-size=2g -v /dev/shm {NCCL}", ["SHM208"]),
]


@table("command, rules", DOCKER)
def test_an_anonymous_volume_of_docker_is_on_disk(tmp_path: Path, command: str, rules: list[str]) -> None:
    found = findings(tmp_path, {"run.sh": f"{command}\n"})
    assert [f.rule for f in found] == rules
    assert all(f.advice.startswith("delete the mount") and "or delete" not in f.advice for f in found)
