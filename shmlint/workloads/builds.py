"""Which Dockerfile of the repository gives the image that a launch runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shmlint.files.kinds import classify
from shmlint.formats import read
from shmlint.model.launch import Build, Launch
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.workloads.filesystem import dockerfile_of
from shmlint.workloads.repository import Repository

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage

_MOST_LOOKED_AT = 60
"""Files beside a launch in which a build of its image is looked for."""
_FOLDERS = ("", "docker", "scripts", ".devcontainer", "docs", "tools", "build", "dockerfiles")


def find_build(launch: Launch, builds: Sequence[Build], repository: Repository) -> tuple[Build | None, bool]:
    """The build of a launch's image, and whether it is only guessed from the names."""
    if launch.image is None or not launch.image.text:
        return None, False
    names = image_names(launch.image.known or "", launch.image.text)
    same = [build for build in builds if image_names(build.tag, build.tag) & names]
    if not same:
        same = [build for build in _beside(names, repository) if image_names(build.tag, build.tag) & names]
    if same:
        return min(same, key=lambda build: _distance(build.span.path, launch.span.path)), False
    guessed = _guess(launch, repository)
    return guessed, guessed is not None


def image_names(image: str, written: str) -> set[str]:
    """An image's name in the forms in which a build and a run may write it."""
    found = set()
    for name in (image, written):
        name = name.strip("\"'").lower()
        if name:
            found.add(name.removesuffix(":latest").removeprefix("docker.io/").removeprefix("localhost/"))
    return found


def _distance(path: str, other: str) -> tuple[int, int]:
    """How far two files lie from each other."""
    if path == other:
        return 0, 0
    common = os.path.commonpath([os.path.dirname(path) or ".", os.path.dirname(other) or "."]) if (
        os.path.isabs(path) == os.path.isabs(other)
    ) else ""
    return 1, path.count("/") + other.count("/") - 2 * common.count("/")


def _beside(names: set[str], repository: Repository) -> Iterator[Build]:
    """The builds in scripts, make recipes, pages and compose files around a launch."""
    words = {re.sub(r"^\$\{?\w*\}?/?", "", re.split(r"[:@]", name)[0]) for name in names} - {""}
    if not words:
        return
    looked = 0
    for path, text in _around(repository):
        if looked >= _MOST_LOOKED_AT:
            return
        if not any(word in text for word in words):
            continue
        looked += 1
        known = repository.shared.builds
        source = repository.peek(path)
        if path not in known and source is not None:
            known[path] = _builds_of(source, repository)
        yield from known.get(path, ())


def _builds_of(source: Source, repository: Repository) -> tuple[Build, ...]:
    """The builds that a script, a make recipe, a page or a compose file has."""
    kind = classify(os.path.abspath(source.path), lambda: source.text.encode("utf-8", "replace"))
    if kind not in ("shell", "fish", "makefile", "systemd", "taskfile", "jenkinsfile", "markdown", "ci", "compose"):
        return ()
    assert repository.workspace is not None
    return read(kind, [source.path], repository.workspace, Settings()).builds


def _around(repository: Repository) -> Iterator[tuple[str, str]]:
    """The files around a launch that speak of building, and their text in lower case."""
    for directory in directories(repository):
        yield from _builders(directory, repository)


def directories(repository: Repository) -> dict[str, None]:
    """The directories in which people keep the scripts, pages and compose files of a container."""
    return dict.fromkeys(
        os.path.normpath(os.path.join(folder, part)) for folder in repository.above() for part in _FOLDERS
    )


def _builders(directory: str, repository: Repository) -> tuple[tuple[str, str], ...]:
    key = repository.root, directory
    known = repository.shared.builders.get(key)
    if known is None:
        paths = [os.path.join(directory, name) for name in repository.names(directory) if re.search(SPEAKS, name)]
        sources = ((path, repository.peek(path)) for path in paths)
        known = tuple((path, s.text.lower()) for path, s in sources if s is not None and "build" in s.text)
        repository.shared.builders[key] = known
    return known


SPEAKS = r"(?i)(?:\.(?:sh|bash|fish|sbatch|slurm|service|md|ya?ml|mk|just)|^makefile|^justfile|^jenkinsfile)$"


def _guess(launch: Launch, repository: Repository) -> Build | None:
    """The only Dockerfile near a launch, where the image's name is nobody's on a registry."""
    image = launch.image
    if image is None or image.known is None:
        return None
    name = image.known.partition("@")[0]
    if "/" in name and not re.search(_OWN, name) and image.because == "":
        return None
    if "/" not in name and re.fullmatch(_OFFICIAL, name.partition(":")[0]):
        return None
    for folder in repository.above():
        for part in ("", "docker"):
            directory = os.path.normpath(os.path.join(folder, part))
            files = [n for n in repository.names(directory) if n.startswith("Dockerfile") or n.endswith(".Dockerfile")]
            if len(files) == 1 and repository.is_file(os.path.join(directory, files[0])):
                context = directory if part == "" else folder
                return Build(name, context, os.path.join(directory, files[0]), None, (), launch.span, "")
    return None


_OWN = r"(?i)^(?:localhost|[$<{]|your|my|\w*user(?:name)?/)"
_OFFICIAL = (
    r"ubuntu|debian|alpine|python|node|redis|postgres|nginx|mysql|mongo|busybox|golang|rust|r-base|julia|openjdk|centos"
    r"|fedora|rockylinux|almalinux|archlinux|hello-world|httpd|traefik|rabbitmq|influxdb|elasticsearch|nextcloud"
)
"""Images that Docker Hub keeps under one word."""


def read_build(build: Build, repository: Repository) -> tuple[BuiltImage | None, Source | None]:
    """What the Dockerfile of a build says, and its text."""
    from shmlint.syntax import dockerfile

    path = dockerfile_of(build, repository)
    source = repository.source(path) if path is not None else None
    if source is None:
        return None, None
    args = {name: value for name, value in build.args if value is not None}
    return dockerfile.read(source.text, build.target, args), source
