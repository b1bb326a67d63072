"""How much of /dev/shm a workload uses: the arithmetic behind explanations and ``shmlint size``, term by term.

A term says what it counts, how, who says so, and how sure that is. NCCL's are estimates: they explain a
finding, they never decide one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from shmlint.docker.sizes import human
from shmlint.model.record import NamedTuple

Size = tuple[int, int]
"""Width and height in pixels."""
Basis = Literal["estimated", "measured", "documented and measured", "documented"]
"""What a figure rests on: the sizes of a program's own structures, its documentation and a measurement."""


class Term(NamedTuple):
    """One part of a sum: ``bytes``, what they are, how they come about, and who says so (a URL)."""

    label: str
    bytes: int
    formula: str
    basis: Basis
    source: str


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
POOL_SOURCE = "https://github.com/NVIDIA/nccl/blob/5067397/src/include/proxy.h"

BUFFSIZE = 4 * 1024 * 1024
"""Bytes; NCCL_BUFFSIZE where nobody sets it."""
SEGMENT_SOURCE = "https://github.com/NVIDIA/nccl/blob/5067397/src/init.cc#L810-L813"

CHANNELS = 2
"""Channels that logs of PCIe machines show (NVIDIA/nccl#1518)."""
MOST_CHANNELS = 64
"""NCCL takes no more (``MAXCHANNELS``, NVIDIA/nccl at 0524aef7, src/include/device.h)."""

TORCH_NCCL = {
    "2.1": "2.18.1", "2.2": "2.19.3", "2.3": "2.20.5", "2.4": "2.20.5", "2.5": "2.21.5", "2.6": "2.21.5",
    "2.7": "2.26.2", "2.8": "2.27.3", "2.9": "2.27.5", "2.10": "2.27.5", "2.11": "2.28.9",
}  # fmt: skip
"""The NCCL that PyTorch's wheels for x86-64 ask for (their metadata on PyPI)."""

DATALOADER_SOURCE = "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading"
PREFETCH = 2
"""torch.utils.data's ``prefetch_factor`` where nobody sets it."""
IN_USE = 2
"""Batches besides those fetched ahead, being handed over or used: one or two of them were measured."""

VLLM_SOURCE = "https://github.com/vllm-project/vllm/blob/v0.17.1/vllm/distributed/device_communicators/shm_broadcast.py#L280-L281"
VLLM_CHUNKS = 10
"""Slots of a queue (``max_chunks``)."""
VLLM_ANSWER = 24
"""MiB of a slot of a worker's own queue (``max_chunk_bytes``), which holds what the worker answers."""
VLLM_BROADCAST = 16
"""MiB of a slot of the queue to all workers, where VLLM_MQ_MAX_CHUNK_BYTES_MB is not set."""
VLLM_BROADCAST_SOURCE = "https://github.com/vllm-project/vllm/blob/v0.17.1/vllm/envs.py#L1347-L1349"
GROUP_SLOTS, GROUP_SLOT = 6, 4
"""Slots, and MiB of each, of the queue of a tensor-parallel group, in vLLM and in SGLang."""
VLLM_GROUP_SOURCE = "https://github.com/vllm-project/vllm/blob/v0.17.1/vllm/distributed/parallel_state.py#L383-L386"
SGLANG_GROUP_SOURCE = "https://github.com/sgl-project/sglang/blob/v0.5.9/python/sglang/srt/distributed/parallel_state.py#L418-L421"

RAY_SHARE = 0.3
"""Share of the container's memory that Ray's object store takes where nobody sets it (ray-project/ray,
python/ray/_private/ray_constants.py, DEFAULT_OBJECT_STORE_MEMORY_PROPORTION)."""

CHROMIUM_SOURCE = "https://github.com/chromium/chromium/blob/0e4923935ca2/base/memory/platform_shared_memory_region_posix.cc"
CHROMIUM_PAGES = "https://github.com/chromium/chromium/blob/02003b0c0324/cc/raster/bitmap_raster_buffer_provider.cc"
CHROMIUM_PICTURES = "https://github.com/chromium/chromium/blob/022fafffd526/cc/tiles/software_image_decode_cache_utils.cc"
CHROMIUM_WINDOW = (1920, 1080)
"""Pixels of a window where nobody says how large it is."""
CHROMIUM_OWN, CHROMIUM_TAB = 8, 1
"""MiB of Chromium itself and of a tab, besides what it draws."""
CHROMIUM_AROUND = 1.25
"""How often a tab has what it shows: a window has some of what is around it, a picture is scaled too. One of all tabs
has it once more while it is put together."""
PIXEL = 4
"""Bytes of a pixel (BGRA_8888)."""
CHROMIUM_LAST, CHROMIUM_WITHOUT = 150, 156
"""The last version of which it was measured that it uses /dev/shm, and the first of which that it does not: that one
keeps the same in files without a name (``memfd_create``)."""

UCX_RANK = 4313088
"""Bytes that UCX writes for each process of MPI, whatever is sent: a queue of 256 × 128 bytes, 512 buffers of 8,256,
and what they are aligned with. Measured with UCX 1.13. Open MPI without UCX reserves 4 MiB and writes less."""
UCX_SOURCE = "https://github.com/openucx/ucx/blob/01603ad8f2e5/src/uct/sm/mm/base/mm_iface.c"

FRIGATE_SOURCE = "https://github.com/blakeblackshear/frigate/blob/e3fa70189/frigate/util/services.py#L1451-L1500"
FRIGATE_SPARE = (1280, 720)
"""The two cameras that may be added later are counted as ones of this resolution."""

_MIB = 2**20


def total(terms: Iterable[Term]) -> int:
    """The sum of terms in bytes."""
    return sum(term.bytes for term in terms)


def segment(buffsize: int = BUFFSIZE) -> int:
    """Bytes of one channel of a shared-memory connection: header, LL, LL128 and SIMPLE buffers.

    ``buffsize`` is NCCL_BUFFSIZE (NVIDIA/nccl src/init.cc, src/include/device.h).
    """
    return 4096 + 8 * 512 * 8 * 16 + 120 * 640 * 8 * 8 + buffsize


def version(text: str) -> tuple[int, int]:
    """An NCCL version's first two numbers. Raises ValueError for what is not a version."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def proxy_pool(nccl: str | None) -> int:
    """Bytes of one rank's proxy pool in an NCCL version; the newest known where none is named.

    A version older than the table counts as its first. Raises ValueError for what is not a version.
    """
    if nccl is None:
        return PROXY_POOL[-1][1]
    asked = version(nccl)
    fitting = [size for since, size in PROXY_POOL if since <= asked]
    return fitting[-1] if fitting else PROXY_POOL[0][1]


def nccl_terms(
    ranks: int, nccl: str | None = None, channels: int = CHANNELS, buffsize: int = BUFFSIZE
) -> tuple[Term, ...]:
    """About what NCCL puts into /dev/shm for one communicator on one host; nothing below two ranks.

    Every rank's proxy pool, and a segment a channel for each connection of a ring (one a rank) and
    of a tree against its direction (one less), where ranks reach each other neither by P2P nor
    through cuMem host memory. It is no limit: send and receive (pipelines, experts), more communicators
    and the network between hosts take more. Raises ValueError for what is not a version.
    """
    if ranks < 2:
        return ()
    pool = proxy_pool(nccl)
    newest = ".".join(map(str, PROXY_POOL[-1][0]))
    named = f"NCCL {nccl}" if nccl else f"NCCL {newest}, the newest known"
    connections = min(2 * ranks - 1, ranks * (ranks - 1))
    each = segment(buffsize)
    return (
        Term("NCCL's proxy pools", ranks * pool, f"{ranks} ranks × {human(pool)} ({named})",
             "estimated", POOL_SOURCE),
        Term("NCCL's connections", channels * connections * each,
             f"{connections} connections × {_plural(channels, 'channel')} × {human(each)}",
             "estimated", SEGMENT_SOURCE),
    )  # fmt: skip


def nccl_estimate(
    ranks: int, nccl: str | None = None, channels: int = CHANNELS, buffsize: int = BUFFSIZE
) -> int:
    """Bytes of ``nccl_terms`` together. Raises ValueError for what is not a version."""
    return total(nccl_terms(ranks, nccl, channels, buffsize))


def counted_workers(count: int) -> str:
    """``1 DataLoader worker``."""
    return _plural(count, "DataLoader worker")


def batches_at_once(workers: int, prefetch: int = PREFETCH) -> int:
    """How many batches one rank's DataLoader workers keep in shared memory; none without workers.

    ``workers × prefetch`` are fetched ahead (torch.utils.data, ``prefetch_factor``), and more are
    being handed over or used.
    """
    return workers * prefetch + IN_USE if workers > 0 else 0


def dataloader_terms(ranks: int, workers: int, batch_bytes: int, prefetch: int) -> tuple[Term, ...]:
    """What PyTorch's DataLoader workers of all ranks keep in shared memory; nothing without workers."""
    if workers < 1:
        return ()
    each = f"({_plural(workers, 'worker')} × {prefetch} ahead + {IN_USE} in use) × {human(batch_bytes)}"
    return (
        Term("DataLoader batches", ranks * batches_at_once(workers, prefetch) * batch_bytes,
             f"{ranks} ranks × {each}" if ranks > 1 else each, "documented and measured", DATALOADER_SOURCE),
    )  # fmt: skip


def vllm_terms(workers: int, broadcast: int = VLLM_BROADCAST) -> tuple[Term, ...]:
    """The message queues of vLLM's tensor-parallel workers on one host: one to all of them, one back from each, and
    one between them.

    ``broadcast`` is VLLM_MQ_MAX_CHUNK_BYTES_MB. Nothing below two workers, which need no queue. vLLM writes to
    little of them for text, and to more for images.
    """
    if workers < 2:
        return ()
    return (
        Term("vLLM's queue to its workers", VLLM_CHUNKS * broadcast * _MIB,
             f"{VLLM_CHUNKS} slots × {broadcast} MiB", "documented", VLLM_BROADCAST_SOURCE),
        Term("vLLM's queues from its workers", workers * VLLM_CHUNKS * VLLM_ANSWER * _MIB,
             f"{_plural(workers, 'worker')} × {VLLM_CHUNKS} slots × {VLLM_ANSWER} MiB", "documented", VLLM_SOURCE),
        _group("vLLM", VLLM_GROUP_SOURCE),
    )  # fmt: skip


def sglang_terms(workers: int) -> tuple[Term, ...]:
    """The message queue of SGLang's tensor-parallel group, without images of requests; nothing below two workers."""
    return (_group("SGLang", SGLANG_GROUP_SOURCE),) if workers > 1 else ()


def _group(server: str, source: str) -> Term:
    return Term(f"{server}'s queue between its workers", GROUP_SLOTS * GROUP_SLOT * _MIB,
                f"{GROUP_SLOTS} slots × {GROUP_SLOT} MiB", "documented", source)  # fmt: skip


def mpi_terms(ranks: int) -> tuple[Term, ...]:
    """What MPI's processes on one host exchange their messages through; nothing below two."""
    if ranks < 2:
        return ()
    formula = f"{ranks} processes × {human(UCX_RANK)} (UCX)"
    return (Term("MPI's messages", ranks * UCX_RANK, formula, "documented and measured", UCX_SOURCE),)


def frigate_terms(cameras: Sequence[tuple[int, int]], birdseye: bool) -> tuple[Term, ...]:
    """What Frigate itself reports as its least /dev/shm, for cameras by the width and height they detect at.

    Frigate rounds a frame to a tenth of a MiB, and so does this.
    """
    base, formula = (58, "40 + 10 MiB, and 8 for birdseye's restream") if birdseye else (50, "40 + 10 MiB")
    return (
        Term("Frigate's logs and cache", base * _MIB, formula, "documented", FRIGATE_SOURCE),
        *(_frames(size, cameras.count(size), "camera") for size in dict.fromkeys(cameras)),
        _frames(FRIGATE_SPARE, 2, "spare camera"),
    )


def _frames(size: tuple[int, int], count: int, what: str) -> Term:
    width, height = size
    # Tenths of a MiB, so that the sum is as exact as Frigate's own.
    tenths = round(round((width * height * 1.5 + 270480) / _MIB, 1) * 10)
    many = _plural(count, what)
    return Term(f"{many} of {width}×{height}", tenths * 2 * count * _MIB,
                f"{many} × 20 frames × {tenths / 10:.1f} MiB", "documented", FRIGATE_SOURCE)  # fmt: skip


def browser_terms(tabs: int, window: Size, pictures: Sequence[Size] = ()) -> tuple[Term, ...]:
    """What Chromium puts into /dev/shm where it draws without a GPU, for tabs of one size that are all shown once.

    Each tab shows the same pictures, by their own width and height; canvases and videos count as pictures. Its
    versions until ``CHROMIUM_LAST`` do so, unless they are started with ``--disable-dev-shm-usage``.
    """
    width, height = window
    many = _plural(tabs, "tab")
    often, shown = 1 + tabs * CHROMIUM_AROUND, f"(1 + {many} × {CHROMIUM_AROUND})"
    pixels = sum(across * down for across, down in pictures)
    terms = (
        Term("Chromium's own", (CHROMIUM_OWN + tabs * CHROMIUM_TAB) * _MIB,
             f"{CHROMIUM_OWN} MiB + {many} × {CHROMIUM_TAB} MiB", "measured", CHROMIUM_SOURCE),
        Term("drawn pages", int(often * width * height * PIXEL),
             f"{shown} × {width} × {height} × {PIXEL} bytes", "measured", CHROMIUM_PAGES),
        Term("decoded pictures", int(often * pixels * PIXEL),
             f"{shown} × {human(pixels * PIXEL)}", "estimated", CHROMIUM_PICTURES),
    )  # fmt: skip
    return terms if pixels else terms[:2]


def share_term(label: str, limit: int, share: float, source: str) -> Term:
    """A share of the memory limit, in bytes, that a program's documentation asks for."""
    return Term(label, int(limit * share), f"{share:.0%} of {human(limit)}".replace("%", " %"), "documented", source)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
