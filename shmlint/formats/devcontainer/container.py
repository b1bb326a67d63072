"""A dev container of its own: an image or a Dockerfile, and options of ``docker run``.

The order in which the reference CLI puts a command together counts: mounts, ``runArgs``, then
``--gpus all`` for ``hostRequirements.gpu`` (devcontainers/cli src/spec-node/singleContainer.ts).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from shmlint.docker.gpus import with_host_requirement
from shmlint.docker.images import parse
from shmlint.docker.run_options import read_run
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.devcontainer.gpus import misread_device_lists
from shmlint.formats.devcontainer.properties import (
    ReadMount,
    as_word,
    capabilities,
    cause,
    container_environment,
    host_requirement,
    is_privileged,
    label_of,
    mounts_of,
    name_of,
    opening_of,
    run_arguments,
    why_unknown,
)
from shmlint.formats.devcontainer.rewrite import DevcontainerRewriter
from shmlint.formats.shell.gpus import read_gpu
from shmlint.formats.shell.run import launch_of, named, with_misspelt
from shmlint.model.launch import Bind, Build, Launch, Value
from shmlint.model.source import Span
from shmlint.syntax.json import Json
from shmlint.syntax.word import Word


def container_launch(root: Json, path: str, workspace: Workspace) -> Launch:
    span = opening_of(root)
    words: list[Word] = []
    for mount in mounts_of(root):
        words += _mount_words(mount)
    for name, value, text in container_environment(root):
        place = value.inside if value.kind == "string" else value.span
        words += [Word("--env", place), Word(f"{name.text}={text}", place, cause(text))]
    for added in capabilities(root):
        words += [Word("--cap-add", added.inside), Word(added.text, added.inside, cause(added.text))]
    if is_privileged(root):
        words.append(Word("--privileged", root.entries["privileged"][1].span))
    words += map(as_word, run_arguments(root))
    image, bases = _image(root, path, workspace)
    words.append(Word(image.text, image.inside, cause(image.text)) if image is not None else Word("built", span))
    run = read_run(words, "docker", "run")
    asked = read_gpu(run)
    device_lists = tuple(misread_device_lists(run))
    listed = {fault.span for fault in device_lists}
    invalid = tuple(fault for fault in asked.invalid if fault.span not in listed)
    gpu = with_host_requirement(asked._replace(device_lists=device_lists, invalid=invalid), host_requirement(root))
    launch = launch_of(
        run, kind="devcontainer", span=span, label="dev container",
        rewriter=DevcontainerRewriter(root, run), gpu=gpu,
    )  # fmt: skip
    launch = named(launch, name_of(root))
    home = gpu.evidence[0].span if gpu.evidence else span
    launch = with_misspelt(launch, run)
    return launch._replace(
        home=home,
        image=Value(image.text, image.inside, image.text, why_unknown(image.text))
        if image is not None
        else None,
        base_images=(*bases, *_cuda_features(root)),
        command=None,
        build=_build(root, path),
        binds=(*launch.binds, _workspace(root, path)),
        workdir=Value(_workspace_folder(root), span, ""),
        words=launch.words._replace(start=label_of(root), image=""),
    )


_WORKSPACE = "/workspaces/workspace"
"""Where the editor mounts the repository; it is really named after the repository's directory."""


def _workspace_folder(root: Json) -> str:
    folder = root.string("workspaceFolder")
    return folder.text if folder is not None and not why_unknown(folder.text) else _WORKSPACE


def _home(path: str) -> str:
    """The directory that the editor opens: the one above ``.devcontainer``."""
    directory = os.path.dirname(path)
    while ".devcontainer" in directory.split("/"):
        directory = os.path.dirname(directory)
    return directory or "."


def _workspace(root: Json, path: str) -> Bind:
    """The repository, which the editor mounts."""
    return Bind(_home(path), _workspace_folder(root), opening_of(root), resolved=True)


def _build(root: Json, path: str) -> Build | None:
    file = root.string("build", "dockerfile") or root.string("dockerFile")
    if file is None or why_unknown(file.text):
        return None
    context = root.string("build", "context") or root.string("context")
    target, given = root.string("build", "target"), root.get("build", "args")
    args = tuple(
        (name, value.text)
        for name, (_, value) in (given.entries.items() if given is not None else ())
        if value.kind == "string" and not why_unknown(value.text)
    )
    directory = os.path.dirname(path)
    return Build(
        "", context.text if context is not None else ".", file.text, target.text if target is not None else None,
        args, file.inside, directory,
    )  # fmt: skip


def _cuda_features(root: Json) -> Iterator[Value[str]]:
    """Features that put CUDA into the container: what it is for, though they ask for no GPU.

    So says devcontainers/features src/nvidia-cuda/NOTES.md: the GPU is asked for by ``hostRequirements``.
    """
    features = root.get("features")
    for reference, (key, _) in (features.entries.items() if features is not None else ()):
        if "cuda" in parse(reference).last.replace("_", "-").split("-"):
            yield Value(reference, key.inside, reference)


def _mount_words(mount: ReadMount) -> list[Word]:
    """A mount as the CLI passes it on: of an object only the type, the source and the target.

    https://github.com/devcontainers/cli/blob/f683c29/src/spec-node/dockerfileUtils.ts#L280-L295
    """
    written = mount.written
    if written.kind == "string":
        return [Word("--mount", written.inside), as_word(written)]
    parts = {"type": mount.type, "src": mount.source, "dst": mount.target}
    text = ",".join(f"{key}={value}" for key, value in parts.items() if value)
    return [Word("--mount", written.span), Word(text, written.span, cause(text))]


def _image(root: Json, path: str, workspace: Workspace) -> tuple[Json | None, tuple[Value[str], ...]]:
    """The image, or what the Dockerfile it is built from builds on."""
    image = root.string("image")
    if image is not None:
        return image, ()
    file = root.string("build", "dockerfile") or root.string("dockerFile")
    if file is None:
        return None, ()
    dockerfile = normal(os.path.join(os.path.dirname(path), file.text))
    if not workspace.inside(dockerfile, path) or not workspace.exists(dockerfile):
        return None, ()
    try:
        source = workspace.source(dockerfile)
    except Unreadable:
        return None, ()
    from shmlint.syntax.dockerfile import read as read_dockerfile

    given = root.get("build", "args")
    args = {
        name: value.text
        for name, (_, value) in (given.entries.items() if given is not None else ())
        if value.kind == "string"
    }
    target = root.string("build", "target")
    built = read_dockerfile(source.text, target.text if target is not None else None, args)
    if built is None:
        return None, ()
    return None, tuple(
        Value(name, Span(source, *source.line_span(max(line, 1))), name, why_unknown(name))
        for name, line in built.base_images
    )
