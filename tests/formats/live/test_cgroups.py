"""Memory limits of cgroups, on trees that are used as ``/``."""

from __future__ import annotations

from pathlib import Path

from shmlint.formats.live.facts import read_facts
from tests.machine import DEV, MIB, OWN, ROOT, V1, V1_TOP, V2, V2_BELOW, machine
from tests.table import table

NO_LIMIT_V1 = "9223372036854771712"


@table(
    ("mount", "cgroup", "files", "limit"),
    [
        (V2, "0::/\n", {"memory.max": "536870912\n"}, 512 * MIB),
        (V2, "0::/\n", {"memory.max": "max\n"}, None),
        (V2, "0::/\n", {}, None),
        (V2, "0::/a/b\n", {"a/memory.max": "268435456", "a/b/memory.max": "max"}, 256 * MIB),
        (V2, "0::/a/b\n", {"a/memory.max": "268435456", "a/b/memory.max": "134217728"}, 128 * MIB),
        (V2, "0::/a/b\n", {"a/memory.max": "134217728", "a/b/memory.max": "268435456"}, 128 * MIB),
        (V2, "0::/../other\n", {"memory.max": "536870912", "../other/memory.max": "1"}, 512 * MIB),
        (V2_BELOW, "0::/docker/abc/x\n", {"memory.max": "536870912", "x/memory.max": "max"}, 512 * MIB),
        (V1, "4:memory:/docker/abc\n", {"memory/memory.limit_in_bytes": "536870912"}, 512 * MIB),
        (V1, "4:memory:/docker/abc\n", {"memory/memory.limit_in_bytes": NO_LIMIT_V1}, None),
        (V1, "4:cpu,memory:/docker/abc\n0::/\n", {"memory/memory.limit_in_bytes": "1048576"}, MIB),
        (V1, "4:memory:/docker/abc\n",
         {"memory/memory.limit_in_bytes": NO_LIMIT_V1,
          "memory/memory.stat": "cache 1\nhierarchical_memory_limit 1048576\n"}, MIB),
        (V1_TOP, "4:memory:/a/b\n",
         {"memory/a/memory.limit_in_bytes": "2097152", "memory/a/b/memory.limit_in_bytes": NO_LIMIT_V1}, 2 * MIB),
        (V1, "4:memory:/docker/abc\n", {"memory/memory.limit_in_bytes": "many"}, None),
        (V2, "no cgroup at all\n", {"memory.max": "1"}, None),
    ],
)  # fmt: skip
def test_memory_limit(tmp_path: Path, mount: str, cgroup: str, files: dict[str, str], limit: int | None) -> None:
    tree = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    here = machine(tmp_path, {"proc/self/cgroup": cgroup, **tree}, mounts=(ROOT, DEV, mount, OWN))
    given = read_facts(here).memory_limit
    assert (given.known if given is not None else None) == limit
