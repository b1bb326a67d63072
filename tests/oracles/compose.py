"""Asks real Docker Compose v2 what files mean together: ``docker compose config``."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any


@cache
def program() -> tuple[str, ...]:
    """Compose itself, where the client says where it is: the client starts it twice for each command."""
    where = '{{range .ClientInfo.Plugins}}{{if eq .Name "compose"}}{{.Path}}{{end}}{{end}}'
    said = subprocess.run(["docker", "info", "--format", where], capture_output=True, text=True, timeout=60)
    return (said.stdout.strip(),) if os.path.isabs(said.stdout.strip()) else ("docker", "compose")


def compose_config(
    directory: Path, files: Sequence[str] | None = None, *, profiles: bool = True
) -> dict[str, Any] | None:
    """What Compose makes of files (of what it finds by itself where none are named); None where it refuses.

    Nothing of the environment this runs in goes in, and texts are as a container would get them:
    the ``$$`` that Compose writes for a dollar is one dollar again.
    """
    answer, _ = compose_answer(directory, files, profiles=profiles)
    return answer


def compose_answer(
    directory: Path, files: Sequence[str] | None = None, *, profiles: bool = True
) -> tuple[dict[str, Any] | None, str]:
    """``compose_config``, and what Compose said on stderr."""
    command = [*program()]
    for file in files or ():
        command += ["-f", file]
    if profiles:
        command += ["--profile", "*"]
    done = subprocess.run(
        [*command, "config", "--format", "json"],
        cwd=directory,
        capture_output=True,
        timeout=60,
        env={name: os.environ[name] for name in ("PATH", "DOCKER_CONFIG") if name in os.environ} | {"GOGC": "off"},
    )
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        return None, said
    answer: dict[str, Any] = _single_dollars(json.loads(done.stdout))
    return answer, said


def _single_dollars(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("$$", "$")
    if isinstance(value, list):
        return [_single_dollars(item) for item in value]
    if isinstance(value, dict):
        return {_single_dollars(name): _single_dollars(item) for name, item in value.items()}
    return value
