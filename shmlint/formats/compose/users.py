"""What else is made of a compose file that nobody named: services extend a template, and files include another."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace


def users(paths: Collection[str], named: Collection[str], workspace: Workspace) -> list[str] | None:
    """The files beside those named that extend or include some files which are not; None if they may be anywhere.

    Whoever keeps such a file in another directory shares it between projects.
    """
    others = [path for path in paths if path not in named]
    folders = {os.path.dirname(path) for path in named}
    if any(os.path.dirname(path) not in folders for path in others):
        return None
    found = []
    for path in others:
        folder, name = os.path.split(path)
        for beside in workspace.names_in(folder or "."):
            user = normal(os.path.join(folder, beside))
            if beside.endswith((".yml", ".yaml")) and user not in (path, *named) and _uses(user, name, workspace):
                found.append(user)
    return sorted(set(found))


def _uses(path: str, name: str, workspace: Workspace) -> bool:
    try:
        text = workspace.source(path).text
    except Unreadable:
        return False
    return name in text and re.search(r"\b(?:extends|include)\b", text) is not None
