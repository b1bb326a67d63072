"""devcontainer.json files into launches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.devcontainer.container import container_launch
from shmlint.formats.devcontainer.service import service_launch
from shmlint.formats.template import unnamed
from shmlint.model.launch import ReadOnly
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Source
from shmlint.syntax.json import parse


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that editors start for development."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    if (template := unnamed(source)) is not None:
        return template
    root, faults = parse(source)
    if root is None:
        return Reading(problems=tuple(faults))
    if root.kind != "object":
        message = f"not a dev container: expected an object, found {root.kind}"
        return Reading(problems=(*faults, Problem(root.span, message, "wrong-file")))
    starts_service = root.get("dockerComposeFile") is not None
    launch = (service_launch if starts_service else container_launch)(root, source.path, workspace)
    if faults:  # what is broken is not to be edited by guesses
        lists = tuple(fault._replace(changes=()) for fault in launch.gpu.device_lists)
        invalid = tuple(fault._replace(changes=()) for fault in launch.gpu.invalid)
        gpu = launch.gpu._replace(device_lists=lists, invalid=invalid)
        launch = launch._replace(rewriter=ReadOnly(), gpu=gpu)
    return Reading((launch,), tuple(faults))
