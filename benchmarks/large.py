"""Files as long as anyone's, and half of each: ``python benchmarks/large.py DIRECTORY`` writes them."""

from __future__ import annotations

import sys
from pathlib import Path

LARGE = {
    "a compose file": "services.yaml",
    "a script of 50,000 lines": "script.sh",
    "10,000 services that share one anchor": "shared.yaml",
    "600 scripts and pages with launches": "pages",
}
"""What is written, and under which name."""

SERVICE = """\
  s@:
    image: registry.example.org/team/app-@:1.2.3
    command: ["python", "-m", "app", "--port", "80@"]
    environment:
      - LOG_LEVEL=info
      - NAME=s@
    ports:
      - "80@:80"
    volumes:
      - data:/data
    restart: unless-stopped
"""
GPU_SERVICE = "  g@:\n    image: pytorch/pytorch\n    gpus: all\n"
ANCHOR = "x-gpu: &gpu\n  image: pytorch/pytorch\n  gpus: all\n  environment: {A: b, C: d}\nservices:\n"
RUN = "docker run --gpus all pytorch/pytorch python train.py"
SCRIPT = (
    "set -e", "for i in 1 2 3; do", '  echo "$i" | grep -v x', "done", "if [ -f a ]; then cp a b; fi", "IMAGE=app",
    'docker run --rm -e A=b "$IMAGE" ls', 'function f@ { local x=1; echo "${x}"; }', "cat <<EOF > x", "text $HOME",
    "EOF",
)  # fmt: skip


def services(count: int) -> str:
    texts = ((GPU_SERVICE if n % 100 == 0 else SERVICE).replace("@", str(n)) for n in range(count))
    return "services:\n" + "".join(texts) + "volumes:\n  data: {}\n"


def script(count: int, launches: int) -> str:
    """So many lines, and a launch in each so many of them."""
    lines = (RUN if n % launches == 0 else SCRIPT[n % len(SCRIPT)].replace("@", str(n)) for n in range(1, count))
    return "\n".join(["#!/bin/bash", *lines, ""])


def shared(count: int) -> str:
    return ANCHOR + "".join(f"  s{n}:\n    <<: *gpu\n    command: train {n}\n" for n in range(count))


def page(number: int) -> str:
    prose = "".join(f"Step {n}: see the manual of part {number} for what this does and why.\n" for n in range(60))
    return f"# Use {number}\n\n{prose}\n" + f"```bash\n{script(12, 5)}```\n\n{prose}\n" * 2


def write(folder: Path) -> None:
    (folder / "services.yaml").write_text(services(18_600), "utf-8")
    (folder / "half-services.yaml").write_text(services(9_300), "utf-8")
    (folder / "script.sh").write_text(script(50_000, 500), "utf-8")
    (folder / "half-script.sh").write_text(script(25_000, 500), "utf-8")
    (folder / "shared.yaml").write_text(shared(10_000), "utf-8")
    (folder / "half-shared.yaml").write_text(shared(5_000), "utf-8")
    (folder / "pages").mkdir()
    for number in range(300):
        (folder / "pages" / f"{number}.sh").write_text(script(150, 50), "utf-8")
        (folder / "pages" / f"{number}.md").write_text(page(number), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
