"""The arithmetic of explanations."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from shmlint.workloads.mechanisms import (
    PREFETCH,
    batches_at_once,
    browser_terms,
    dataloader_terms,
    frigate_terms,
    mpi_terms,
    nccl_estimate,
    nccl_terms,
    proxy_pool,
    segment,
    sglang_terms,
    share_term,
    total,
    vllm_terms,
)
from tests.table import table


def test_a_segment_is_what_logs_show() -> None:
    assert segment() == 9637888
    assert segment(524288) == 5967872  # NVIDIA/nccl-tests#166


@table(
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


@table(
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
def test_the_estimate(ranks: int, nccl: str | None, mebibytes: float) -> None:
    assert round(nccl_estimate(ranks, nccl) / 2**20, 1) == mebibytes


def test_the_estimate_grows_with_channels_and_needs_two_ranks() -> None:
    assert nccl_estimate(2, channels=3) - nccl_estimate(2, channels=2) == 2 * segment()
    assert nccl_estimate(1) == nccl_estimate(0) == 0


@pytest.mark.parametrize(
    ("workers", "prefetch", "batch", "peak"),
    # Peaks of /dev/shm in MiB with PyTorch 2.13 and float32 images of 3 × 224 × 224.
    [
        (1, 2, 16, 28), (2, 2, 16, 46), (2, 4, 32, 165), (4, 2, 32, 179), (4, 2, 64, 331), (8, 2, 32, 312),
    ],
)  # fmt: skip
def test_batches_take_what_was_measured(workers: int, prefetch: int, batch: int, peak: int) -> None:
    batch_bytes = batch * 3 * 224 * 224 * 4
    estimate = total(dataloader_terms(1, workers, batch_bytes, prefetch))
    # One batch less was in use in some of the runs.
    assert (estimate - batch_bytes) / 2**20 - 1 < peak < estimate / 2**20 + 1


def test_batches_count_for_every_rank() -> None:
    assert total(dataloader_terms(8, 4, 1000, PREFETCH)) == 8 * (4 * 2 + 2) * 1000
    assert dataloader_terms(8, 0, 1000, PREFETCH) == ()
    assert (batches_at_once(4), batches_at_once(4, 3), batches_at_once(0)) == (10, 14, 0)


def test_terms_say_how_they_come_about() -> None:
    pools, connections = nccl_terms(8, "2.27")
    assert (pools.bytes, pools.formula) == (8 * 33030528, "8 ranks × 31.5 MiB (NCCL 2.27)")
    assert connections.bytes == 15 * 2 * segment()
    assert connections.formula == "15 connections × 2 channels × 9.2 MiB"
    assert total((pools, connections)) == nccl_estimate(8, "2.27")
    assert nccl_terms(2, channels=1)[1].formula == "2 connections × 1 channel × 9.2 MiB"
    assert "the newest known" in nccl_terms(2)[0].formula
    assert nccl_terms(2, buffsize=524288)[1].bytes == 2 * 2 * 5967872
    (batches,) = dataloader_terms(2, 4, 2**20, 3)
    assert (batches.bytes, batches.formula) == (28 * 2**20, "2 ranks × (4 workers × 3 ahead + 2 in use) × 1 MiB")
    assert dataloader_terms(1, 1, 2**20, PREFETCH)[0].formula == "(1 worker × 2 ahead + 2 in use) × 1 MiB"
    share = share_term("a share", 64 * 2**30, 0.3, "https://example.com")
    assert (share.bytes, share.formula, share.basis) == (int(64 * 2**30 * 0.3), "30 % of 64 GiB", "documented")


@table(
    "workers, broadcast, mebibytes",
    [
        (1, 16, 0),
        (2, 16, 160 + 2 * 240 + 24),  # of 16, 24 and 4 MiB a slot: vLLM 0.17.1
        (8, 16, 160 + 8 * 240 + 24),
        (2, 32, 320 + 2 * 240 + 24),
    ],
)
def test_vllms_message_queues(workers: int, broadcast: int, mebibytes: int) -> None:
    terms = vllm_terms(workers, broadcast)
    assert total(terms) == mebibytes * 2**20
    assert [term.formula for term in terms] == (
        [] if workers == 1
        else [f"10 slots × {broadcast} MiB", f"{workers} workers × 10 slots × 24 MiB", "6 slots × 4 MiB"]
    )  # fmt: skip


def test_sglangs_message_queue() -> None:
    assert sglang_terms(1) == () and total(sglang_terms(2)) == total(sglang_terms(8)) == 24 * 2**20


MIB = 2**20


@table(
    "tabs, window, pictures, peak",
    # Peaks of /dev/shm in MiB with Chromium 150 of Debian: benchmarks/MECHANISMS.md
    [
        (1, (1280, 720), (), 16.3), (5, (1280, 720), (), 32.7), (1, (1920, 1080), (), 23.3),
        (5, (1920, 1080), (), 61.4), (2, (3840, 2160), (), 98.6), (3, (1280, 720), [(2000, 1500)] * 8, 334.5),
    ],
)  # fmt: skip
def test_browsers_take_what_was_measured(
    tabs: int, window: tuple[int, int], pictures: Sequence[tuple[int, int]], peak: float
) -> None:
    assert 1.0 <= total(browser_terms(tabs, window, pictures)) / MIB / peak <= 1.5


def test_the_sum_of_a_browser() -> None:
    own, drawn = browser_terms(4, (1000, 500))
    assert (own.bytes, own.formula) == (12 * MIB, "8 MiB + 4 tabs × 1 MiB")
    assert (drawn.bytes, drawn.formula) == (6 * 1000 * 500 * 4, "(1 + 4 tabs × 1.25) × 1000 × 500 × 4 bytes")
    pictures = browser_terms(1, (1000, 500), [(1024, 512), (512, 1024)])[2]
    assert (pictures.bytes, pictures.formula) == (int(2.25 * 4 * MIB), "(1 + 1 tab × 1.25) × 4 MiB")
    assert [term.basis for term in (own, drawn, pictures)] == ["measured", "measured", "estimated"]


@table("processes, peak", [(1, 0), (2, 8626176), (4, 17252352), (8, 34504704)])
def test_mpis_messages_take_what_was_measured(processes: int, peak: int) -> None:
    """With UCX 1.13 and Open MPI 4.1.4."""
    assert total(mpi_terms(processes)) == peak


def test_every_source_is_a_fixed_revision() -> None:
    terms = (
        *nccl_terms(2), *vllm_terms(2), *sglang_terms(2), *frigate_terms([(1, 1)], False), *mpi_terms(2),
        *browser_terms(1, (1, 1), [(1, 1)]),
    )  # fmt: skip
    for source in {term.source for term in terms}:
        assert re.search(r"/blob/(?:[0-9a-f]{7,40}|v[0-9.]+)/", source), source


@pytest.mark.parametrize(
    ("cameras", "birdseye", "mebibytes"),
    # round(50 (+ 8) + 20 × the sum of the rounded frames, two of 1280 × 720 more): frigate/util/services.py
    [
        ([], False, 114),
        ([(1280, 720)] * 2, False, 178),
        ([(1280, 720)] * 2, True, 186),
        ([(1920, 1080), (640, 480)], False, 192),
        ([(3840, 2160)] * 8, True, 2058),
    ],
)
def test_frigates_formula(cameras: list[tuple[int, int]], birdseye: bool, mebibytes: int) -> None:
    def frame(width: int, height: int) -> float:
        return round((width * height * 1.5 + 270480) / 1048576, 1)

    by_hand = 50 + 8 * birdseye + 20 * (sum(frame(*camera) for camera in cameras) + 2 * frame(1280, 720))
    terms = frigate_terms(cameras, birdseye)
    assert total(terms) == mebibytes * 2**20 == round(by_hand) * 2**20
    assert all(term.basis == "documented" for term in terms)
