"""The parts of an answer of `shmlint size`; tests/cli/test_size.py asks for whole answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shmlint.workloads import mechanisms as estimate
from shmlint.workloads.sizing import nccl_of_image, nccl_of_torch, round_up

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


@given(st.integers(min_value=1, max_value=2**50))
def test_a_round_size_is_enough_and_not_much_more(size: int) -> None:
    found = round_up(size)
    assert size <= found < size + (64 * MIB if size <= GIB else GIB)
    assert found % (64 * MIB) == 0
