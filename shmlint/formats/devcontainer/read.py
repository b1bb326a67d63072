"""devcontainer.json files into launches."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.devcontainer.container import container_launch
from shmlint.formats.devcontainer.service import service_launch
from shmlint.model.launch import Launch, ReadOnly
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Problem
from shmlint.syntax.json import parse


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that editors start for development."""
    found: list[Launch] = []
    problems: list[Problem] = []
    for source in sources(paths, workspace, problems):
        path = source.path
        root, faults = parse(source)
        problems += faults
        if root is None:
            continue
        if root.kind != "object":
            message = f"not a dev container: expected an object, found {root.kind}"
            problems.append(Problem(root.span, message, "wrong-file"))
            continue
        starts_service = root.get("dockerComposeFile") is not None
        launch = (service_launch if starts_service else container_launch)(root, path, workspace)
        if faults:  # what is broken is not to be edited by guesses
            lists = tuple(fault._replace(changes=()) for fault in launch.gpu.device_lists)
            invalid = tuple(fault._replace(changes=()) for fault in launch.gpu.invalid)
            gpu = launch.gpu._replace(device_lists=lists, invalid=invalid)
            launch = launch._replace(rewriter=ReadOnly(), gpu=gpu)
        found.append(launch)
    return Reading(tuple(found), tuple(problems))
