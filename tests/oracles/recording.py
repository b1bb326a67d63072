"""Runs scripts with recording stand-ins in the place of docker, podman and nerdctl.

Nothing else can be found on the path but a few harmless programs, and the working directory is a
temporary one. A stand-in writes the words that it gets to a file and starts nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

_STAND_IN = """#!/bin/bash
{ printf '%s' "${0##*/}"; printf '\\037%s' "$@"; printf '\\036'; } >> "$RECORD"
"""
_HARMLESS = ("bash", "sh", "cat", "env", "grep", "xargs", "sed", "true", "make", "printf")


def sandbox(home: Path) -> Path:
    """A directory with the stand-ins and links to the harmless programs."""
    import shutil

    programs = home / "bin"
    programs.mkdir()
    for name in ("docker", "podman", "nerdctl"):
        (programs / name).write_text(_STAND_IN)
        (programs / name).chmod(0o755)
    for name in _HARMLESS:
        found = shutil.which(name)
        if found is not None:
            (programs / name).symlink_to(found)
    return programs


def recorded(texts: Sequence[str], home: Path, programs: Path, *, make: bool = False) -> list[list[list[str]]]:
    """For each text the words that its stand-ins got, call by call; all texts run in one process."""
    batch = home / "batch.sh"
    lines = []
    for number, text in enumerate(texts):
        folder = home / f"t{number}"
        folder.mkdir(exist_ok=True)
        (folder / ("Makefile" if make else "x.sh")).write_text(text)
        (folder / "local.env").write_text("UNRELATED=1\n")
        (folder / "record").write_text("")
        run = "make -s all" if make else "bash x.sh"
        lines.append(f"(cd '{folder}' && RECORD='{folder}/record' {run}) </dev/null >/dev/null 2>&1\n")
    batch.write_text("".join(lines))
    environment = {"PATH": str(programs), "HOME": str(home)}
    subprocess.run(["bash", str(batch)], env=environment, cwd=home, timeout=10 + len(texts), check=False)
    found = []
    for number in range(len(texts)):
        calls = (home / f"t{number}" / "record").read_text().split("\036")[:-1]
        found.append([call.split("\037") for call in calls])
    return found
