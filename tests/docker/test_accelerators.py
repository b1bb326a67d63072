"""Which devices are GPUs."""

from __future__ import annotations

from shmlint.docker.accelerators import is_gpu


def test_what_hands_in_a_gpu() -> None:
    names = {"nvidia.com/gpu=all": True, "amd.com/gpu=0": True, "intel.com/gpu=0": True, "nvidia.com/gpu": False,
             "vendor.com/nic=0": False, "/dev/dri": False, "/dev/kfd": True, "/dev/nvidia-uvm": True}  # fmt: skip
    assert {name: is_gpu(name) for name in names} == names
