"""Asks the reference implementation of dev containers what a devcontainer.json says.

``devcontainer read-configuration`` of the npm package @devcontainers/cli. It looks for a running
container first; a replacement for the docker client that lists none makes an engine unnecessary.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.needs import devcontainer_cli


def read_configuration(workspace: Path, config: Path) -> dict[str, Any] | None:
    """What the reference implementation reads in a devcontainer.json; None where it refuses it.

    Variables of the host it substitutes with what is set there: nothing, for those of a test.
    """
    no_docker = workspace / ".no-docker"
    no_docker.write_text("#!/bin/sh\nexit 0\n")
    no_docker.chmod(0o755)
    done = subprocess.run(
        [
            str(devcontainer_cli()), "read-configuration",
            "--workspace-folder", str(workspace), "--config", str(config),
            "--docker-path", str(no_docker), "--docker-compose-path", str(no_docker),
        ],
        capture_output=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    no_docker.unlink()
    if done.returncode != 0:
        return None
    answer: dict[str, Any] = json.loads(done.stdout)["configuration"]
    return answer


def substituted(text: str) -> str:
    """A text with variables that are not set on the host gone, defaults in their place."""
    return re.sub(r"\$\{localEnv:[^:}]*:?([^}]*)\}", r"\1", text)
