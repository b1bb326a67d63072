"""Which Python packages are in an image or an environment, and what commands the repository's own package installs."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from shmlint.files.read import normal
from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch
from shmlint.model.source import Source, Span
from shmlint.workloads.commands import SHELLS, unwrapped
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.declared import toml
from shmlint.workloads.packages.requirements import named_at, named_by, named_in_file, normalised

if TYPE_CHECKING:
    from shmlint.workloads.program import Program

Found = dict[str, Evidence]
"""Packages by their names as pip writes them, and where each is named."""

TORCH = frozenset(
    {
        "torch", "pytorch", "torchvision", "pytorch-lightning", "lightning", "ultralytics", "mmcv", "mmengine", "mmdet",
        "detectron2", "fastai", "timm", "monai", "nemo-toolkit", "deepspeed", "accelerate", "trl", "peft", "vllm",
        "nnunetv2", "openmim", "sentence-transformers", "torch-geometric", "pytorch-cuda", "torchaudio", "kornia",
        "diffusers", "fairseq", "lerobot", "nerfstudio", "segmentation-models-pytorch",
    }
)  # fmt: skip
"""PyTorch, and packages that bring it."""

_IMAGE_TORCH = (
    r"(?:^|[/:_.-])(?:py)?torch(?:[0-9.]*(?:$|[:_.-]))|kaggle-(?:gpu-)?images/python|kaggle/python|lightning|"
    r"(?:^|[/:_.-])(?:deepo|fastai|fastdotai|lerobot|monai|nerfstudio|ultralytics|detectron2|mmdetection|openpcdet)(?:$|[/:_.-])"
)
"""Images with PyTorch, by their names; that of the owner alone, ``pytorch/manylinux``, does not say so."""


def packages(launch: Launch, program: Program) -> Found:
    """The packages that an image or a dev container's workspace is known to have."""
    found: Found = {}
    # What the repository calls its own build says nothing that its Dockerfile does not: others give it another name.
    named = launch.image if program.image is None or program.namesake or program.guessed else None
    for image in (named, *launch.base_images):
        if image is not None and image.known and re.search(_IMAGE_TORCH, image.known.lower()):
            found.setdefault("torch", Evidence("an image with PyTorch", image.span))
    for name, value in launch.build.args if launch.build is not None else ():
        if value and "IMAGE" in name.upper() and re.search(_IMAGE_TORCH, value.lower()):
            found.setdefault("torch", Evidence(f"built with {name}={value}", launch.build and launch.build.span))
    for name, evidence in _of_build(program):
        found.setdefault(name, evidence)
    if program.kind == "interactive" or program.default:
        built = program.image is not None and program.dockerfile is not None
        read = built and not program.guessed and not program.namesake and launch.kind != "devcontainer"
        for folder in program.files.folders():
            for name, evidence in named_by(folder, program.files, every=not read):
                found.setdefault(name, evidence)
    return found


def _of_build(program: Program) -> Iterator[tuple[str, Evidence]]:
    """What the build of the image brings, by its base images and its commands."""
    image, dockerfile = program.image, program.dockerfile
    if image is None or dockerfile is None or program.namesake:
        return
    for name, line in image.base_images:
        if re.search(_IMAGE_TORCH, name.lower()):
            yield "torch", Evidence("an image with PyTorch", Span(dockerfile, *dockerfile.line_span(line)))
    for text, line in image.runs:
        yield from _installed(text, Span(dockerfile, *dockerfile.line_span(line)), program.files)
        yield from _by_scripts(text, program.files)
    for name, line in _of_clones(image.runs):
        yield name, Evidence(f"installs a clone of {name}", Span(dockerfile, *dockerfile.line_span(line)))


_INSTALL = (
    r"(?:pip[0-9.]*|\$\{?_?PIP[0-9]?\}?|pipx|uv(?:\s+pip)?|poetry|pdm|conda|mamba|micromamba|pixi|apt-get|apt)\s+(?:-\S+\s+)*"
    r"(install|add|sync|create|env\s+create|env\s+update)\b([^;&|]*)"
)
_NAME = r"[A-Za-z][A-Za-z0-9._-]*"


def _installed(text: str, span: Span, files: Files) -> Iterator[tuple[str, Evidence]]:
    """What the commands of a RUN install."""
    for match in re.finditer(_INSTALL, text.replace("\\\n", " ")):
        words = match[2].split()
        local = match[1] != "install" and not words
        every = not match[0].startswith(("pip", "uv pip", "$")) or "[" in match[2]
        left = iter(words)
        for word in map(_bare, left):
            if word in _LISTED or word.startswith(("-r", "--requirement=")):
                path = _bare(next(left, "")) if word in _LISTED else re.sub(r"^-(?:r|-requirement=)", "", word)
                local = local or (path.startswith("/") and files.find(path) is None)  # it may be any list
                yield from named_in_file(path, files)
            elif word in _WITH_VALUE:
                next(left, "")
            elif (named := named_at(word)) is not None and (named in TORCH or not word.startswith("/")):
                yield named, Evidence(f"installs {named}", _line_with(word, span))
            elif word.split("[")[0] in (".", "./") or word.startswith("/"):
                local = True
            elif not word.startswith("-") and (name := re.match(_NAME, word)) is not None:
                yield normalised(name[0]), Evidence(f"installs {name[0]}", _line_with(name[0], span))
        if local or match[1] == "sync":
            for folder in (*files.folders(), files.repository.home, files.repository.root):
                yield from named_by(folder, files, every=every)


_LISTED = frozenset({"-r", "--requirement", "-f", "--file"})
"""Options of pip and conda for a list of packages; to pip the second is where to look for some."""
_WITH_VALUE = frozenset(
    {"-i", "--index-url", "--extra-index-url", "--find-links", "-n", "--name", "-p", "--prefix", "-t", "--target"}
)
"""Options with a value that is no package; of conda's channels, ``-c pytorch`` tells of one."""


def _bare(word: str) -> str:
    return word.strip("'\"")


def _by_scripts(text: str, files: Files) -> Iterator[tuple[str, Evidence]]:
    """What the repository's scripts install that a RUN starts: ``RUN bash docker/setup.sh``."""
    for words in map(unwrapped, _commands(text) if ".sh" in text else ()):
        by_shell = bool(words) and words[0].rpartition("/")[2] in _STARTS_SCRIPT
        started = [word for word in words[1:] if not word.startswith("-")] if by_shell else words
        name = started[0].strip("'\"") if started else ""
        place = files.find(name) if name.endswith((".sh", ".bash")) else None
        source = files.repository.source(place.path) if place is not None else None
        for match in re.finditer(r"(?m)^(?![ \t]*#)(?:[^\n]*\\\n)*[^\n]+", source.text if source is not None else ""):
            told = match[0].lstrip().startswith(("echo ", "printf "))
            if source is not None and "install" in match[0] and not told:
                yield from _installed(match[0], Span(source, match.start(), match.end()), files)


_STARTS_SCRIPT = SHELLS | {".", "source"}


def _line_with(word: str, span: Span) -> Span:
    """The line of a RUN that has a word; the first one where none does."""
    for start, line in _lines_of(span.source, span.start):
        if _is_in(word, line):
            left = len(line) - len(line.lstrip())
            return span._replace(start=start + left, end=start + len(line)) if start > span.start else span
    return span


def _is_in(name: str, line: str) -> bool:
    """Whether a name is in a line, and not as a part of another one. A pattern for each name would take longer."""
    at = line.find(name)
    while at >= 0:
        before, after = line[at - 1 : at] if at else "", line[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in tuple("_.-")) and not (after.isalnum() or after in tuple("_-")):
            return True
        at = line.find(name, at + 1)
    return False


@lru_cache(4)  # each package that a RUN installs is looked for in it
def _lines_of(source: Source, start: int) -> tuple[tuple[int, str], ...]:
    """The lines of a RUN, and where they start."""
    found: list[tuple[int, str]] = []
    for line in source.text[start:].splitlines(keepends=True):
        found.append((start, line.rstrip()))
        start += len(line)
        if not line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            break
    return tuple(found)


def _of_clones(runs: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The packages with PyTorch of which a build installs a clone, and the lines of their RUNs."""
    clones: dict[str, str] = {}
    for text, line in runs:
        directory = ""
        for words in _commands(text) if clones or "clone" in text else ():
            if words[:1] in (["cd"], ["pushd"]):
                directory = posixpath.basename(words[-1].rstrip("/"))
            elif words[:2] == ["git", "clone"]:
                clones.update(_clone(words))
            elif "install" in words or "develop" in words:
                places = {word.split("[")[0].rstrip("/") for word in words}
                installed = {posixpath.basename(place) for place in places if "/" in place}
                installed |= {directory} if not _HERE.isdisjoint(places) else set()
                yield from ((clones[place], line) for place in sorted(installed & clones.keys()))


def _commands(text: str) -> Iterator[list[str]]:
    """The words of the commands of a RUN, whose lines may go on behind comments."""
    whole = re.sub(r"\\\n(?:[ \t]*#[^\n]*\n)*", " ", text)
    return (words for command in re.split(r"&&|[;|\n]", whole) if (words := command.split()))


_HERE = frozenset({".", "-e.", "setup.py"})
"""Words that install what is in the working directory."""


def _clone(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The directory of a clone, and the package with PyTorch that it is."""
    at = next((at for at, word in enumerate(words) if re.match(r"\w+://|git@", word)), None)
    if at is None:
        return
    own = words[at].rstrip("/").removesuffix(".git").rpartition("/")[2]
    given = words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("-") else own
    if normalised(own) in TORCH:
        yield posixpath.basename(given.rstrip("/")), normalised(own)


# Commands that a package installs --------------------------------------------------------------


def installed_command(name: str, files: Files) -> tuple[str, str] | None:
    """The file and the function that a command of the repository's own package calls."""
    for folder in dict.fromkeys((*files.folders(), *files.repository.above())):
        for reader, file in ((_of_pyproject, "pyproject.toml"), (_of_setup, "setup.py"), (_of_setup, "setup.cfg")):
            path = normal(os.path.join(folder, file))
            source = files.repository.source(path) if files.repository.is_file(path) else None
            target = reader(source, name) if source is not None else None
            if target is not None:
                module, _, function = target.partition(":")
                found = module_file(module, (folder, normal(os.path.join(folder, "src"))), files)
                if found is not None:
                    return found, function.partition("[")[0].strip()
    return None


def module_file(module: str, folders: Sequence[str], files: Files) -> str | None:
    """The file of a module under some directories."""
    path = module.strip().replace(".", "/")
    for folder in folders:
        for candidate in (f"{path}.py", f"{path}/__init__.py"):
            full = normal(posixpath.join(folder, candidate))
            if files.repository.is_file(full):
                return full
    return None


def _of_pyproject(source: Source, name: str) -> str | None:
    data = toml(source.text)
    for path in (("project", "scripts"), ("tool", "poetry", "scripts"), ("project", "gui-scripts")):
        table: Any = data
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(table.get(name), str):
            return str(table[name])
    return None


def _of_setup(source: Source, name: str) -> str | None:
    match = re.search(rf"""["']?\s*{re.escape(name)}\s*=\s*([\w.]+:[\w.]+)""", source.text)
    return match[1] if match is not None else None
