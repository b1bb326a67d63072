"""Asks the real docker client what it makes of a stack file: ``docker stack config``, which needs no engine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML


def stack_config(directory: Path, text: str) -> tuple[dict[str, Any] | None, str]:
    """The stack as the client reads it, None where it refuses the file; and what it said on stderr."""
    path = directory / "asked.yml"
    path.write_text(text, "utf-8")
    done = subprocess.run(
        ["docker", "stack", "config", "-c", path.name],
        cwd=directory,
        capture_output=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "DOCKER_CONFIG": str(directory)},
    )
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        return None, said
    answer: dict[str, Any] = YAML(typ="safe").load(done.stdout.decode())
    return answer, said
