"""Reads dev containers for the tests of this folder."""

from __future__ import annotations

import json

from shmlint.files.workspace import Workspace
from shmlint.formats.devcontainer.read import read
from shmlint.model.launch import Launch
from shmlint.model.settings import Settings

HERE = ".devcontainer/devcontainer.json"
NGC = '"image": "nvcr.io/nvidia/pytorch:24.01-py3"'
GIB = 1024**3


def launch(text: str, **others: str) -> Launch:
    """The launch of a dev container, nothing on disk."""
    workspace = Workspace({HERE: text, **{name.replace("__", "/"): other for name, other in others.items()}})
    reading = read([HERE], workspace, Settings())
    assert reading.problems == () and len(reading.launches) == 1
    return reading.launches[0]


def arguments(*given: str) -> Launch:
    return launch(f"{{{NGC}, \"runArgs\": {json.dumps(given)}}}")
