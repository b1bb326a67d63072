"""SHM215: an IPC mode that Docker does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from shmlint.model.finding import Finding
from shmlint.model.launch import JOINING, Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("SHM215", "invalid-ipc-mode", "error", as_written=True)

_MODES = ("host", "private", "shareable", "none")
_SERVICE = "service:"
_WORD = r"(?=.*[a-z])[A-Za-z][\w-]*|HOST|PRIVATE|SHAREABLE|NONE"
"""What is no sign for a mode that the reader of a page puts there: ``<mode>``, ``IPC_MODE``."""


def _joins(mode: str, launch: Launch) -> bool:
    """Whether a mode joins another container; only Compose knows services."""
    return mode.startswith(JOINING) and (launch.kind == "compose-service" or not mode.startswith(_SERVICE))


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    mode = launch.ipc.known if launch.ipc is not None else None
    if launch.ipc is None or not mode or mode in _MODES or _joins(mode, launch):
        return
    if launch.swarm or launch.undecided or launch.ipc.private or context.podman(launch):
        return  # Podman has more modes
    word = re.fullmatch(_WORD, mode.removeprefix(_SERVICE))
    if launch.kind not in ("compose-service", "docker-run", "devcontainer") or word is None:
        return
    near = get_close_matches(mode.lower(), _MODES, 1)
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.ipc.span,
        f": `{mode}` is not an IPC mode, and Docker refuses to create the container",
        launch,
        advice=f"did you mean `{near[0]}`?" if near else "use `host`, `private`, `shareable` or `container:NAME`",
        subject=mode,
        about=launch.words.launch,
    )
