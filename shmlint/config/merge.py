"""From settings files, of which each may extend the next, to Settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from shmlint.config.check import check, validate
from shmlint.config.file import File, place, read
from shmlint.docker.sizes import parse_compose
from shmlint.files.boundary import OUTSIDE, Boundary
from shmlint.model.settings import Origin, Settings


def loaded(path: str, top: str, *, directory: str, anywhere: bool = False) -> Settings:
    """The settings of a file, and of those that it extends, which lie in its repository or ``anywhere``."""
    found: list[tuple[File, dict[str, Any]]] = []
    while True:
        file, data = read(File(path, os.path.join(top, path), top, directory))
        validate(file, data)
        if any(os.path.samefile(file.on_disk, other.on_disk) for other, _ in found):
            raise found[-1][0].error(("extend",), f"extend: {path} extends itself")
        found.append((file, data))
        if "extend" not in data:
            return _settings(found)
        path = _extended(file, data["extend"], anywhere=anywhere)
        directory = os.path.dirname(path)


def _extended(file: File, name: str, *, anywhere: bool) -> str:
    """The path of the file that another extends."""
    path = os.path.normpath(os.path.join(os.path.dirname(file.path), name)).replace(os.sep, "/")
    if not anywhere and not Boundary(top=file.top).inside(path, file.path):
        raise file.error(("extend",), f"extend: {name} is {OUTSIDE}")
    if not os.path.isfile(os.path.join(file.top, path)):
        raise file.error(("extend",), f"extend: {name}: no such file")
    return path


def _settings(files: Sequence[tuple[File, dict[str, Any]]]) -> Settings:
    """The settings of files of which each extends the next: the first file with a key decides."""
    for file, data in files:
        check(file, data)
    merged: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    projects: tuple[tuple[str, ...], ...] = ()
    for file, data in reversed(files):
        merged |= data
        origins |= {key: Origin(file.path, place(file, (key,)).line, file.directory) for key in data}
        if "projects" in data:
            here = os.path.dirname(os.path.abspath(file.on_disk))
            projects = tuple(
                tuple(os.path.relpath(os.path.join(here, name), file.top or None) for name in names)
                for names in data["projects"]
            )
    defaults = Settings()
    return Settings(
        select=tuple(merged.get("select", ())),
        ignore=tuple(merged.get("ignore", ())),
        exclude=tuple(merged.get("exclude", ())),
        severity=tuple(merged.get("severity", {}).items()),
        per_file_ignores=tuple((key, tuple(rules)) for key, rules in merged.get("per-file-ignores", {}).items()),
        fail_on=merged.get("fail-on", defaults.fail_on),
        shm_size=_size(merged, "shm-size"),
        default_shm_size=_size(merged, "daemon-default-shm-size") or defaults.default_shm_size,
        engine=merged.get("engine", defaults.engine),
        unknown_workload=merged.get("unknown-workload", defaults.unknown_workload),
        follow_outside=merged.get("follow-outside", defaults.follow_outside),
        pod_kinds=tuple(merged.get("pod-kinds", ())),
        projects=projects,
        workloads=tuple(merged.get("workloads", ())),
        path=files[0][0].path,
        origins=tuple(origins.items()),
    )


def _size(data: Mapping[str, Any], key: str) -> int | None:
    return parse_compose(data[key]) if key in data else None
