"""NCCL501: an NCCL debugging variable in a launch."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Reason
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context, selected
from shmlint.rules import nccl502_shm_disabled_not_sized as shm
from shmlint.rules import nccl503_infiniband_contradiction as infiniband
from shmlint.rules.nccl import ENV_PAGE, given, is_on, removal
from shmlint.rules.wording import gpu_evidence

RULE = Rule("NCCL501", "debug-variable-left-in", "warning")

DEFAULTS = {
    "NCCL_ALGO": "", "NCCL_ALLOC_P2P_NET_LL_BUFFERS": "0", "NCCL_BUFFSIZE": "4194304", "NCCL_CGA_CLUSTER_SIZE": "",
    "NCCL_CHECKS_DISABLE": "0", "NCCL_CHECK_MODE": "DEFAULT", "NCCL_CHECK_POINTERS": "0", "NCCL_COMM_BLOCKING": "",
    "NCCL_CUMEM_ENABLE": "1", "NCCL_CUMEM_HOST_ENABLE": "1", "NCCL_DMABUF_ENABLE": "1", "NCCL_GDRCOPY_ENABLE": "0",
    "NCCL_GDRCOPY_FIFO_ENABLE": "1", "NCCL_GDRCOPY_FLUSH_ENABLE": "0", "NCCL_GDRCOPY_SYNC_ENABLE": "1",
    "NCCL_GRAPH_MIXING_SUPPORT": "1", "NCCL_GRAPH_REGISTER": "1", "NCCL_GRAPH_STREAM_ORDERING": "1",
    "NCCL_IB_ADAPTIVE_ROUTING": "", "NCCL_IB_AR_THRESHOLD": "8192", "NCCL_IB_CUDA_SUPPORT": "",
    "NCCL_IB_DISABLE": "0", "NCCL_IB_ECE_ENABLE": "1", "NCCL_IB_GDR_LEVEL": "", "NCCL_IB_MERGE_NICS": "1",
    "NCCL_IB_OOO_RQ": "0", "NCCL_IB_PCI_RELAXED_ORDERING": "2", "NCCL_IB_QPS_PER_CONNECTION": "1",
    "NCCL_IB_SPLIT_DATA_ON_QPS": "0", "NCCL_IGNORE_COLLNET_MISMATCH": "0", "NCCL_IGNORE_NET_MISMATCH": "1",
    "NCCL_IPC_USE_ABSTRACT_SOCKET": "1", "NCCL_LAUNCH_MODE": "PARALLEL", "NCCL_LAUNCH_ORDER_IMPLICIT": "0",
    "NCCL_LAUNCH_RACE_FATAL": "1", "NCCL_LEGACY_CUDA_REGISTER": "0", "NCCL_LL_THRESHOLD": "",
    "NCCL_LOCAL_REGISTER": "1", "NCCL_MAX_CTAS": "", "NCCL_MAX_NCHANNELS": "", "NCCL_MAX_NRINGS": "",
    "NCCL_MEM_SYNC_DOMAIN": "1", "NCCL_MIN_CTAS": "", "NCCL_MIN_NCHANNELS": "", "NCCL_MIN_NRINGS": "",
    "NCCL_MNNVL_ENABLE": "2", "NCCL_NET_GDR_C2C": "1", "NCCL_NET_GDR_LEVEL": "", "NCCL_NET_GDR_READ": "",
    "NCCL_NET_MERGE_POLICY": "ALL", "NCCL_NET_SHARED_BUFFERS": "1", "NCCL_NET_SHARED_COMMS": "1",
    "NCCL_NTHREADS": "", "NCCL_NVB_DISABLE": "0", "NCCL_NVLS_ENABLE": "2", "NCCL_P2P_DIRECT_DISABLE": "0",
    "NCCL_P2P_DISABLE": "0", "NCCL_P2P_LEVEL": "", "NCCL_P2P_LL_THRESHOLD": "16384",
    "NCCL_P2P_NET_CHUNKSIZE": "131072", "NCCL_P2P_PXN_LEVEL": "2", "NCCL_PROTO": "", "NCCL_PXN_C2C": "1",
    "NCCL_PXN_DISABLE": "0", "NCCL_RAS_ENABLE": "1", "NCCL_RUNTIME_CONNECT": "1", "NCCL_SET_STACK_SIZE": "0",
    "NCCL_SHM_DISABLE": "0", "NCCL_SINGLE_RING_THRESHOLD": "", "NCCL_SYM_GIN_KERNELS_ENABLE": "1",
    "NCCL_TREE_THRESHOLD": "", "NCCL_WIN_ENABLE": "1",
}  # fmt: skip
"""The variables of the section "Debugging" in NCCL's env.rst (2.30), with their former names. The value is
NCCL's default; empty if there is none or it depends on the machine.

Variables that the section itself recommends for several jobs on a node or for parts of a fabric are
left out: NCCL_RAS_ADDR, NCCL_RAS_TIMEOUT_FACTOR, NCCL_MNNVL_UUID, NCCL_MNNVL_CLIQUE_ID.
"""

VARIABLES = frozenset(DEFAULTS)

_EFFECTS = {
    "NCCL_P2P_DISABLE": "GPUs exchange data through /dev/shm instead of NVLink or PCIe",
    "NCCL_SHM_DISABLE": "GPUs without a direct path exchange data over the network",
    "NCCL_IB_DISABLE": "InfiniBand and RoCE are not used",
    "NCCL_CUMEM_ENABLE": "NCCL's proxy pools are allocated in /dev/shm",
    "NCCL_CUMEM_HOST_ENABLE": "buffers in host memory are allocated in /dev/shm",
}


_NVIDIA = "NVIDIA lists it for debugging: do not set it in production, except as a temporary workaround"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    for name, value in context.environment(launch).items():
        if name not in DEFAULTS:
            continue
        text = given(value)
        if text is None or not text.strip() or text.strip().upper() == DEFAULTS[name]:
            continue
        if name.endswith("_DISABLE") and not is_on(value):
            continue  # NCCL reads `true` as 0
        if _has_own_rule(launch, context, name):
            continue
        effect = _EFFECTS.get(name, "it overrides NCCL's own choice")
        yield Finding(
            RULE.id,
            RULE.severity,
            value.span,
            f" sets {name}, a debugging variable: {effect}",
            launch,
            gpu_evidence(launch),
            (Reason(_NVIDIA, basis="documented", source=f"{ENV_PAGE}#debugging"),),
            removal(name),
            advice="remove it where it is set, and check whether the original problem still occurs",
            subject=name,
            about=launch.words.launch,
        )


def _has_own_rule(launch: Launch, context: Context, name: str) -> bool:
    """Whether a more specific rule reports the variable."""
    rule = {"NCCL_SHM_DISABLE": shm, "NCCL_IB_DISABLE": infiniband}.get(name)
    return rule is not None and selected(rule.RULE, context.settings) and any(True for _ in rule.check(launch, context))
