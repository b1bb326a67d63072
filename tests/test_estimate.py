"""The arithmetic of explanations."""

from __future__ import annotations

import pytest

from shmlint.estimate import SEGMENT, dataloader_bytes, nccl_upper_bound, proxy_pool


def test_a_segment_is_what_logs_show() -> None:
    assert SEGMENT == 9637888


@pytest.mark.parametrize(
    ("nccl", "size"),
    [
        ("2.12.10", 4194656),
        ("2.18.1", 4194656),
        ("2.20.5", 5767520),
        ("2.21.5", 7340384),
        ("2.22.3", 7340384),
        ("2.23.4", 10486112),
        ("2.24", 14156128),
        ("2.25.1", 31850880),
        ("2.26.2", 33030528),
        ("2.27.5-1", 33030528),
        ("2.28.9", 34210176),
        ("2.30.3", 34210176),
        ("3.0", 34210176),
        ("2.8.4", 4194656),
        (None, 34210176),
    ],
)
def test_the_pool_of_a_version(nccl: str | None, size: int) -> None:
    assert proxy_pool(nccl) == size


@pytest.mark.parametrize("nccl", ["", "2", "new", "v2.20"])
def test_refuses_what_is_no_version(nccl: str) -> None:
    with pytest.raises(ValueError):
        proxy_pool(nccl)


@pytest.mark.parametrize(
    ("ranks", "nccl", "mebibytes"),
    [
        (2, "2.19", 44.8),
        (2, "2.21", 50.8),
        (2, "2.24", 63.8),
        (2, "2.25", 97.5),
        (2, "2.27", 99.8),
        (2, None, 102.0),
        (4, "2.19", 144.7),
        (4, None, 259.2),
        (8, "2.19", 307.7),
        (8, None, 536.7),
    ],
)
def test_the_bound(ranks: int, nccl: str | None, mebibytes: float) -> None:
    assert round(nccl_upper_bound(ranks, nccl) / 2**20, 1) == mebibytes


def test_the_bound_grows_with_channels_and_needs_two_ranks() -> None:
    assert nccl_upper_bound(2, channels=3) - nccl_upper_bound(2, channels=2) == 2 * SEGMENT
    assert nccl_upper_bound(1) == nccl_upper_bound(0) == 0


@pytest.mark.parametrize(
    ("workers", "prefetch", "batch", "peak"),
    # Peaks of /dev/shm in MiB with PyTorch 2.13 and float32 images of 3 × 224 × 224.
    [
        (1, 2, 16, 28), (2, 2, 16, 46), (2, 4, 32, 165), (4, 2, 32, 179), (4, 2, 64, 331), (8, 2, 32, 312),
    ],
)  # fmt: skip
def test_batches_take_what_was_measured(workers: int, prefetch: int, batch: int, peak: int) -> None:
    batch_bytes = batch * 3 * 224 * 224 * 4
    estimate = dataloader_bytes(1, workers, batch_bytes, prefetch)
    # One batch less was in use in some of the runs.
    assert (estimate - batch_bytes) / 2**20 - 1 < peak < estimate / 2**20 + 1


def test_batches_count_for_every_rank() -> None:
    assert dataloader_bytes(8, 4, 1000) == 8 * (4 * 2 + 2) * 1000
    assert dataloader_bytes(8, 0, 1000) == 0
