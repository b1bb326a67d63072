"""How much of /dev/shm NCCL and PyTorch's DataLoader use: the arithmetic behind explanations.

These are upper estimates. They explain a finding; they never decide one.
"""

from __future__ import annotations

PROXY_POOL = (
    ((2, 12), 4194656),
    ((2, 20), 5767520),
    ((2, 21), 7340384),
    ((2, 23), 10486112),
    ((2, 24), 14156128),
    ((2, 25), 31850880),
    ((2, 26), 33030528),
    ((2, 28), 34210176),
)
"""sizeof(ncclProxyOpsPool) in bytes, from an NCCL version on and until the next: computed from each
tag's own struct definitions (NVIDIA/nccl src/include/proxy.h) and seen in users' logs, where a file
is 4 bytes larger. The last was seen up to 2.30."""

SEGMENT = 4096 + 8 * 512 * 8 * 16 + 120 * 640 * 8 * 8 + 4 * 1024 * 1024
"""Bytes of one channel of a shared-memory connection: header, LL, LL128 and SIMPLE buffers with the
default NCCL_BUFFSIZE (NVIDIA/nccl src/init.cc, src/include/device.h); logs show 9637888."""


def proxy_pool(nccl: str | None = None) -> int:
    """Bytes of one rank's proxy pool in an NCCL version; the newest known where none is named.

    A version older than the table counts as its first. Raises ValueError for what is no version.
    """
    if nccl is None:
        return PROXY_POOL[-1][1]
    major, minor = (int(part) for part in nccl.split(".")[:2])
    fitting = [size for since, size in PROXY_POOL if since <= (major, minor)]
    return fitting[-1] if fitting else PROXY_POOL[0][1]


def nccl_upper_bound(ranks: int, nccl: str | None = None, channels: int = 2) -> int:
    """Bytes NCCL may put into /dev/shm for one communicator on one host, at the most.

    Every rank's proxy pool, and a segment a channel for each connection of a ring (one a rank) and
    of a tree against its direction (one less), where ranks reach each other neither by P2P nor
    through cuMem host memory. Two channels are what logs of PCIe machines show (NVIDIA/nccl#1518).
    Raises ValueError for what is no version.
    """
    if ranks < 2:
        return 0
    connections = min(2 * ranks - 1, ranks * (ranks - 1))
    return ranks * proxy_pool(nccl) + channels * connections * SEGMENT


def dataloader_bytes(ranks: int, workers: int, batch_bytes: int, prefetch: int = 2) -> int:
    """Bytes PyTorch's DataLoader workers keep in shared memory; none without workers.

    The batches fetched ahead, ``workers × prefetch`` of them for each rank (torch.utils.data,
    ``prefetch_factor``), and the two that are being handed over or used, as measured.
    """
    if workers < 1:
        return 0
    return ranks * (workers * prefetch + 2) * batch_bytes
