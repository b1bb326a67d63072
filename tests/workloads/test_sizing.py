"""The parts of an answer of `shmlint size`; tests/cli/test_size.py asks for whole answers."""

from __future__ import annotations

from shmlint.workloads import mechanisms as estimate
from shmlint.workloads.sizing import nccl_of_image, nccl_of_torch

GIB = 2**30
MIB = 2**20


def test_the_nccl_of_an_image() -> None:
    for image, nccl in (
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "2.21.5"),
        ("docker.io/pytorch/pytorch:2.10.0-cuda13.0-cudnn9-devel", "2.27.5"),
        ("pytorch/pytorch", None),
        ("pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", None),
        ("mycorp/pytorch:2.5.1", None),
    ):
        found = nccl_of_image(image)
        assert (found and found[0]) == nccl, image


def test_every_release_that_is_known_has_a_pool() -> None:
    for release in estimate.TORCH_NCCL:
        found = nccl_of_torch(release)
        assert found is not None and estimate.proxy_pool(found[0]) > 0
