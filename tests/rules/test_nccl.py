"""What the rules about NCCL's variables have in common."""

from __future__ import annotations

from pathlib import Path

from shmlint.rules import nccl
from tests.project import findings, fixed
from tests.rules.cases import IB, env, service
from tests.table import table


def test_what_an_env_file_sets_is_the_hosts(tmp_path: Path) -> None:
    text = env(
        "NCCL_P2P_DISABLE=${P2P}", "NCCL_DEBUG=${LEVEL}", "NCCL_SOCKET_IFNAME=${IF}", "NCCL_BLOCKING_WAIT=${P2P}",
    )  # fmt: skip
    files = {"compose.yaml": text, ".env": "P2P=1\nLEVEL=INFO\nIF=eno1\n"}
    assert findings(tmp_path, files, select=("NCCL",)) == []


def test_everything_at_once(tmp_path: Path) -> None:
    text = env(
        "NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=NET", "NCCL_IB_DISABLE=1", "NCCL_BLOCKING_WAIT=1", "NCCL_ALGO=Ring",
        more=IB[:2],
    )  # fmt: skip
    after = service(
        "ulimits:", "  memlock: -1", "environment:", "  - TORCH_NCCL_BLOCKING_WAIT=1", *IB[:2],
    )  # fmt: skip
    assert fixed(tmp_path, text, unsafe=True) == {"compose.yaml": after}


@table(
    ("text", "value"),
    [("0", 0), ("1", 1), ("-2", -2), (" 1", 1), ("1 ", 1), ("1x", 1), ("0x10", 16), ("010", 8), ("08", 0),
     ("true", 0), ("", 0), ("yes", 0), ("+3", 3)],
)  # fmt: skip
def test_numbers_are_read_as_strtoll_reads_them(text: str, value: int) -> None:
    assert nccl.number(text) == value
