"""SHM215 invalid-ipc-mode."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import NGC, compose, entry
from tests.table import table

THIS = ("SHM215",)


def run_with(option: str, engine: str = "docker") -> dict[str, str]:
    return {"run.sh": f"{engine} run --gpus all {option} {NGC} torchrun --nproc_per_node=8 train.py\n"}


CASES: list[tuple[dict[str, str] | str, str]] = [
    (compose(entry("ipc: hots")), "did you mean `host`?"),
    (compose(entry("ipc: sharable", gpu="")), "did you mean `shareable`?"),
    (compose(entry("ipc: HOST")), "did you mean `host`?"),
    (compose(entry("ipc: bogus")), "use `host`, `private`, `shareable` or `container:NAME`"),
    (run_with("--ipc=hots"), "did you mean `host`?"),
    (run_with("--ipc hosts"), "did you mean `host`?"),
    (run_with("--ipc=service:donor"), "use `host`, `private`, `shareable` or `container:NAME`"),
    (run_with("--ipc=shared"), "did you mean `shareable`?"),
    ({".devcontainer/devcontainer.json": f'{{"image": "{NGC}", "runArgs": ["--gpus=all", "--ipc=hots"]}}'},
     "did you mean `host`?"),
    *((compose(entry(f"ipc: {mode}")), "")
      for mode in ("host", "private", "shareable", "none", "''", "service:y", "container:y", "${IPC}", "${IPC:-host}")),
    *((run_with(option), "")
      for option in ("--ipc=<mode>", "--ipc=MODE", "--ipc=$IPC", "--ipc=", "--ipc=container:$X", '--ipc hots "$@"')),
    (run_with("--ipc=ns:/proc/1/ns/ipc", "podman"), ""),
    (run_with("--ipc=hots", "podman"), ""),
    ({"docker-stack.yml": compose(entry("ipc: hots", gpu=""))}, ""),
]  # fmt: skip


@table("files, advice", CASES)
def test_modes_that_docker_does_not_know(tmp_path: Path, files: dict[str, str] | str, advice: str) -> None:
    files = {"compose.yaml": files} if isinstance(files, str) else files
    found = findings(tmp_path, files, select=THIS)
    assert [f.advice for f in found] == ([advice] if advice else [])
    assert all("is not an IPC mode, and Docker refuses to create the container" in f.message for f in found)
