"""devcontainer.json: a container of its own, or a service of a compose project.

The order in which the reference CLI puts a command together counts: mounts, ``runArgs``, then
``--gpus all`` for ``hostRequirements.gpu`` (devcontainers/cli src/spec-node/singleContainer.ts).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from shmlint.argv import RunCommand, read_run
from shmlint.formats import Reading
from shmlint.jsonc import Json, parse
from shmlint.launch import Change, GpuEvidence, GpuRequest, Launch, Value
from shmlint.settings import Settings
from shmlint.shell.run import launch_of, read_gpu
from shmlint.size import spell_docker
from shmlint.source import Edit, Problem, Span
from shmlint.word import Word
from shmlint.workspace import Unreadable, Workspace, normal


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The containers that editors start for development."""
    reading = Reading()
    for path in paths:
        try:
            source = workspace.source(path)
        except Unreadable as error:
            reading.problems.append(Problem(Span(error.source, error.offset, error.offset), error.message))
            continue
        root, problems = parse(source)
        reading.problems += problems
        if root is None:
            continue
        if root.kind != "object":
            reading.problems.append(Problem(root.span, f"not a dev container: expected an object, found {root.kind}"))
            continue
        if root.get("dockerComposeFile") is not None:
            reading.launches += _compose_launch(root, path, workspace, reading)
        else:
            reading.launches.append(_launch(root, path, workspace))
    return reading


def _word(value: Json) -> Word:
    """A string as an argument; what a variable gives is not known here."""
    unknown = ""
    if "${" in value.text:
        name = value.text.partition("${")[2].partition("}")[0]
        unknown = f"${{{name}}} is not known here"
    return Word(value.text, value.inside, unknown)


def _strings(value: Json | None) -> list[Json]:
    if value is None:
        return []
    if value.kind == "string":
        return [value]
    return [item for item in value.items if item.kind == "string"]


def _opening(root: Json) -> Span:
    return Span(root.source, root.start, root.start + 1)


def _launch(root: Json, path: str, workspace: Workspace) -> Launch:
    named = root.string("name")
    span = _opening(root)
    words: list[Word] = []
    mounts = root.get("mounts")
    for mount in mounts.items if mounts is not None else ():
        words += _mount_words(mount)
    environment = root.get("containerEnv")
    if environment is not None:
        for name, (_, value) in environment.entries.items():
            if value.kind == "string":
                words += [Word("--env", value.inside), Word(f"{name}={value.text}", value.inside, _word(value).unknown)]
    privileged = root.get("privileged")
    if privileged is not None and privileged.kind == "true":
        words.append(Word("--privileged", privileged.span))
    arguments = [_word(item) for item in _strings(root.get("runArgs"))]
    words += arguments
    image, bases = _image(root, path, workspace)
    words.append(Word(image.text, image.inside, "a variable") if image is not None else Word("built", span))
    run = read_run(words, "docker", "run")
    gpu = _with_host_requirement(read_gpu(run), root)
    launch = launch_of(
        run, kind="devcontainer", name=named.text if named is not None else None, span=span,
        label="dev container", rewriter=DevcontainerRewriter(root, run), gpu=gpu,
    )  # fmt: skip
    home = gpu.evidence[0].span if gpu.evidence else span
    return launch._replace(
        home=home,
        image=Value(image.text, image.inside, image.text, "a variable gives it" if "${" in image.text else "")
        if image is not None
        else None,
        base_images=bases,
        command=None,
        words=launch.words._replace(launch=f"dev container `{named.text}`" if named is not None else "dev container"),
    )


def _mount_words(mount: Json) -> list[Word]:
    if mount.kind == "string":
        return [Word("--mount", mount.inside), _word(mount)]
    if mount.kind == "object":
        parts = [f"{key}={value.text}" for key, (_, value) in mount.entries.items() if value.kind == "string"]
        text = ",".join(parts)
        return [Word("--mount", mount.span), Word(text, mount.span, "a variable is in it" if "${" in text else "")]
    return []


def _with_host_requirement(gpu: GpuRequest, root: Json) -> GpuRequest:
    """The request with what ``hostRequirements.gpu`` adds: all GPUs, where the host has any."""
    wanted = root.get("hostRequirements", "gpu")
    if wanted is None or wanted.kind == "false":
        return gpu
    optional = wanted.kind == "string" and wanted.text == "optional"
    if wanted.kind == "string" and not optional and wanted.text not in ("true", "required"):
        return gpu
    evidence = GpuEvidence("hostRequirements.gpu", "the editor adds --gpus all", wanted.span)
    if gpu.requested:
        return gpu._replace(evidence=(*gpu.evidence, evidence))
    return GpuRequest(True, "nvidia", "all", (evidence,), gpu.because, optional)


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
    from shmlint.dockerfile import read as read_dockerfile

    given = root.get("build", "args")
    args = {
        name: value.text
        for name, (_, value) in (given.entries.items() if given is not None else ())
        if value.kind == "string" and "${" not in value.text
    }
    target = root.string("build", "target")
    built = read_dockerfile(source.text, target.text if target is not None else None, args)
    if built is None:
        return None, ()
    return None, tuple(
        Value(name, Span(source, *source.line_span(line)), name) for name, line in built.base_images
    )


def _compose_launch(root: Json, path: str, workspace: Workspace, reading: Reading) -> Iterator[Launch]:
    """The service of the compose project that an editor starts, with the GPU it adds."""
    from shmlint.composefile.project import load_project
    from shmlint.composefile.service import read_project

    span = _opening(root)
    named = root.string("name")
    service = root.string("service")
    directory = os.path.dirname(path)
    files = [normal(os.path.join(directory, item.text)) for item in _strings(root.get("dockerComposeFile"))]
    host = _with_host_requirement(GpuRequest(), root)
    found: Launch | None = None
    because = ""
    missing = next((f for f in files if not workspace.exists(f)), None)
    if missing is not None:
        because = f"it starts {missing}, which is not here"
    elif any("${" in f for f in files):
        because = "a variable names the compose file it starts"
    elif not all(workspace.inside(f, path) for f in files):
        because = "it starts a compose file outside the repository, which is not followed"
    else:
        try:
            project = load_project(files, workspace)
        except Unreadable as error:
            because = f"it starts {error.path}, which cannot be read"
        else:
            launches = {launch.name: launch for launch in read_project(project, workspace)}
            found = launches.get(service.text) if service is not None else None
            if found is None and service is not None:
                because = f"no service {service.text} is in the compose files it starts"
    name = named.text if named is not None else None
    label = f"dev container `{name}`" if name else "dev container"
    if found is None:
        run = RunCommand("docker", (), None, ())
        bare = launch_of(
            run, kind="devcontainer", name=name, span=span, label=label,
            rewriter=DevcontainerRewriter(root, run), gpu=host,
        )  # fmt: skip
        requested = host.requested or None
        yield bare._replace(
            gpu=host._replace(requested=requested, because=because),
            undecided=because or "the service it starts is not known",
            files=(path,),
        )
        return
    gpu = found.gpu
    if host.requested:
        gpu = found.gpu._replace(evidence=(*found.gpu.evidence, *host.evidence)) if found.gpu.requested else host
    yield found._replace(
        kind="devcontainer",
        name=name,
        span=span,
        home=host.evidence[0].span if host.evidence else span,
        gpu=gpu,
        files=(path, *found.files),
        words=found.words._replace(launch=f"{label} (service `{found.name}`)"),
        misplaced=tuple(_dead_arguments(root)),
    )


def _dead_arguments(root: Json) -> Iterator[Problem]:
    """Sizes in ``runArgs``, which are not read where compose files are named."""
    for item in _strings(root.get("runArgs")):
        if item.text.startswith(("--shm-size", "--ipc")):
            option = item.text.partition("=")[0]
            yield Problem(item.inside, f"{option} in runArgs is not read where dockerComposeFile is given")


class DevcontainerRewriter:
    """Rewrites ``runArgs``; comments, commas and indentation stay."""

    __slots__ = ("root", "run")

    def __init__(self, root: Json, run: RunCommand) -> None:
        self.root = root
        self.run = run

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to give the container a ``--shm-size`` of so many bytes."""
        return list(self._changes(spell_docker(size)))

    def _changes(self, text: str) -> Iterator[Change]:
        given = self.run.shm_size()
        if given is not None:
            if given.value_span is not None:
                place = given.value_span
                title = f"change `--shm-size` to {text} in line {place.line}"
                yield Change((Edit(place.path, place.start, place.end, text),), title)
            return
        argument = f'"--shm-size={text}"'
        entry = self.root.entries.get("runArgs")
        if entry is None:
            yield from self._new_property(argument)
            return
        array = entry[1]
        if array.kind != "array":
            return
        if not array.items:
            title = f"add {argument} in line {array.span.line}"
            yield Change((Edit(array.source.path, array.start + 1, array.start + 1, argument),), title)
            return
        yield _before(self._anchor(array), argument)

    def _anchor(self, array: Json) -> Json:
        """The element to put the option in front of: the one that asks for GPUs, else the first."""
        gpu = self.run.last("--gpus")
        for item in array.items:
            if gpu is not None and gpu.word.span is not None and item.start <= gpu.word.span.start < item.end:
                return item
        return array.items[0]

    def _new_property(self, argument: str) -> Iterator[Change]:
        if not self.root.entries:
            return
        entry = self.root.entries.get("hostRequirements") or next(iter(self.root.entries.values()))
        yield _before(entry[0], f'"runArgs": [{argument}]', argument)


def _before(item: Json, new: str, shown: str = "") -> Change:
    """Put something in front of an element: on a line of its own where the element starts one."""
    source = item.source
    start = source.text.rfind("\n", 0, item.start) + 1
    indentation = source.text[start : item.start]
    line = source.position(item.start).line
    if start and not indentation.strip():
        newline = "\r\n" if source.text[start - 2 : start] == "\r\n" else "\n"
        edit = Edit(source.path, start, start, f"{indentation}{new},{newline}")
    else:
        edit = Edit(source.path, item.start, item.start, f"{new}, ")
    return Change((edit,), f"add {shown or new} in line {line}")

