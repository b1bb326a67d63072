"""A dev container that is a service of a Compose project.

Where ``dockerComposeFile`` is given, ``runArgs``, ``image`` and ``build`` are not read; what other properties say
is put on the service.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from shmlint.docker.gpus import with_host_requirement
from shmlint.docker.run_options import RunCommand, read_run
from shmlint.files.boundary import OUTSIDE
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.devcontainer.properties import (
    as_word,
    compose_files,
    host_requirement,
    label_of,
    name_of,
    opening_of,
    run_arguments,
    why_unknown,
)
from shmlint.formats.shell.run import launch_of, named
from shmlint.model.launch import GpuRequest, Launch, Misplaced, ReadOnly, Unknown
from shmlint.syntax.json import Json


def service_launch(root: Json, path: str, workspace: Workspace) -> Launch:
    """The service of the compose project that an editor starts, with the GPU it adds."""
    span = opening_of(root)
    wanted = host_requirement(root)
    found = _service(root, path, workspace)
    if isinstance(found, Unknown):
        run = RunCommand("docker", (), None, ())
        gpu = with_host_requirement(GpuRequest(None, unknown=found), wanted)
        bare = launch_of(run, kind="devcontainer", span=span, label=label_of(root), rewriter=ReadOnly(), gpu=gpu)
        return named(bare, name_of(root))._replace(
            home=gpu.evidence[0].span if gpu.evidence else span,
            undecided=found,
            files=(path,),
            words=bare.words._replace(shm_option="shm_size", ipc_option="ipc: {mode}"),
            misplaced=tuple(_dead_arguments(root)),
        )
    gpu = with_host_requirement(found.gpu, wanted)
    return found._replace(
        kind="devcontainer",
        name=name_of(root),
        span=span,
        home=gpu.evidence[0].span if gpu.evidence and not found.gpu.requested else found.home,
        gpu=gpu,
        files=(path, *found.files),
        words=found.words._replace(start=f"{label_of(root)} (service `{found.name}`)"),
        misplaced=tuple(_dead_arguments(root)),
    )


def _service(root: Json, path: str, workspace: Workspace) -> Launch | Unknown:
    """The service that is started, or why it is not known."""
    from shmlint.formats.compose.load import load_project
    from shmlint.formats.compose.rewrite import ServiceRewriter
    from shmlint.formats.compose.service import read_project
    from shmlint.formats.compose.values import read_environment
    from shmlint.formats.devcontainer.added import AddingRewriter, add

    written = [item.text for item in compose_files(root)]
    if not written:
        return Unknown("file", "the Compose files that it starts are unknown")
    unknown = next((name for name in written if why_unknown(name)), None)
    if unknown is not None:
        return Unknown("variable", why_unknown(unknown), unknown)
    files = [normal(os.path.join(os.path.dirname(path), name)) for name in written]
    if not all(workspace.inside(file, path) for file in files):
        return Unknown("file", f"it starts a compose file that lies {OUTSIDE}", " ".join(written))
    missing = next((file for file in files if not workspace.exists(file)), None)
    if missing is not None:
        return Unknown("file", f"it starts {missing}, which does not exist", missing)
    service = root.string("service")
    if service is None or why_unknown(service.text):
        return Unknown("variable", "the service that it starts is unknown")
    try:
        project = load_project(files, workspace)
    except Unreadable as error:
        return Unknown("file", f"it starts {error.path}, which cannot be read", error.path)
    started = project.services.get(service.text)
    if started is None:
        return Unknown("file", f"no service {service.text} is in the compose files it starts", service.text)
    own = read_environment(started.tree.get("environment"))
    add(root, started, project)
    launch = next(launch for launch in read_project(project, workspace) if launch.name == service.text)
    assert isinstance(launch.rewriter, ServiceRewriter)
    return launch._replace(rewriter=AddingRewriter(launch.rewriter.service, launch.rewriter.gpu, root, own))


def _dead_arguments(root: Json) -> Iterator[Misplaced]:
    """What decides /dev/shm in ``runArgs``, which are not read where compose files are named."""
    run = read_run([as_word(item) for item in run_arguments(root)], "docker", "run")
    dead = [*run.all("--shm-size"), *run.all("--ipc"), *(option for option, _ in run.shm_mounts())]
    for option in dead:
        if option.word.span is not None:
            written = option.word.text.partition("=")[0]
            message = f"`{written}` in runArgs is ignored with dockerComposeFile"
            yield Misplaced(option.word.span, message, at=f"runArgs {option.word.text}")
