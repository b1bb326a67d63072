"""A Compose service, read into a Launch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from shmlint.docker.accelerators import OF_RUNTIMES
from shmlint.docker.images import DOCKERFILES
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.examples import contradicted
from shmlint.formats.compose.files import is_literal, read_env_file
from shmlint.formats.compose.gpus import device_paths, read_gpu
from shmlint.formats.compose.mounts import read_binds, read_mounts
from shmlint.formats.compose.places import placed_mappings
from shmlint.formats.compose.project import Project, Service
from shmlint.formats.compose.rewrite import ServiceRewriter
from shmlint.formats.compose.tree import Branch, Leaf, Tree, items_of
from shmlint.formats.compose.values import (
    is_true,
    read_environment,
    read_mode,
    read_size,
    read_words,
    size_entry,
    text_value,
    unset,
)
from shmlint.model.launch import JOINING, Build, Launch, Misplaced, Mount, Size, Unknown, Value, Words
from shmlint.model.source import Span


def read_project(project: Project, workspace: Workspace, swarm: str = "") -> list[Launch]:
    """A launch for every service, those that join another's IPC namespace tied to it.

    ``swarm`` is why they are taken to be started by ``docker stack deploy``.
    """
    launches = {name: _launch(service, project, workspace, swarm) for name, service in project.services.items()}
    by_container = {
        leaf.named: name
        for name, service in project.services.items()
        if (leaf := service.tree.leaf("container_name")) is not None
    }
    tied = []
    for name, launch in launches.items():
        mode = launch.ipc.known if launch.ipc else None
        if mode and mode.startswith(JOINING):
            kind, _, other = mode.partition(":")
            donor = launches.get(other if kind == "service" else by_container.get(other, ""))
            if donor is not None and donor is not launch:
                # A donor that joins yet another is not allowed by the engine; one step is enough.
                launch = launch._replace(donor=donor._replace(donor=None))
        given = tuple(_mounts_from(launch, launches))
        tied.append(launch._replace(name=name, mounts=(*given, *launch.mounts)))
    return tied


def _mounts_from(launch: Launch, launches: Mapping[str, Launch]) -> Iterator[Mount]:
    """What a service gets over its /dev/shm with the volumes of others; what it mounts itself goes before."""
    for other in launch.volumes_from:
        donor = launches.get((other.known or "").partition(":")[0])
        if donor is not None and donor is not launch:
            yield from (mount for mount in donor.mounts if mount.type != "tmpfs" or mount.source)  # only volumes are


def _launch(service: Service, project: Project, workspace: Workspace, swarm: str) -> Launch:
    tree = service.tree
    words = Words(f"service `{service.name}`", "shm_size", ipc_option="ipc: {mode}")
    make_rewriter: Callable[[Service, Span | None], ServiceRewriter] = ServiceRewriter
    if swarm:
        from shmlint.formats.compose import stack

        tree = stack.kept(tree)
        make_rewriter, words = stack.rewriting(project, workspace, words)
    environment = read_environment(tree.get("environment"))
    in_files, unread = _in_env_files(tree, workspace)
    gpu = read_gpu(tree, {**in_files, **environment})
    gpu_span = gpu.evidence[0].span if gpu.evidence else None
    image = text_value(tree.leaf("image"))
    builds = gpu.requested is not False and tree.get("build") is not None
    unsure: frozenset[str] = frozenset()
    if gpu.requested is not False:
        decide = (tree.get("command"), tree.get("entrypoint"), tree.get("environment"))
        unsure = contradicted(decide, project.directory, workspace)
    base_images, entrypoint, command = _what_runs(tree, builds, unsure, project, workspace)
    rewriter = make_rewriter(service, gpu_span)
    home = rewriter.home
    span, *also_at = _places(service)
    return Launch(
        kind="compose-service",
        name=service.name,
        span=span,
        also_at=tuple(also_at),
        home=home.layer.span(home.key),
        words=words,
        rewriter=rewriter,
        files=project.files,
        image=image,
        names=_names(service, project),
        base_images=base_images,
        built_from=_built_from(tree.get("build"), project.directory),
        entrypoint=entrypoint,
        command=command,
        gpu=gpu,
        shm=_size(service, project, workspace, gpu.requested),
        ipc=read_mode(tree.leaf("ipc")),
        mounts=tuple(read_mounts(tree, {name: entry.tree for name, entry in project.defined["volumes"].items()})),
        build=_build(tree.get("build"), image, project.directory),
        binds=tuple(read_binds(tree)),
        volumes_from=tuple(_volumes_from(tree)),
        workdir=text_value(tree.leaf("working_dir")),
        interactive=bool(is_true(tree.leaf("tty")) or is_true(tree.leaf("stdin_open"))),
        build_shm=size_entry(build, "shm_size") if isinstance(build := tree.get("build"), Branch) else None,
        memory_limit=_memory_limit(tree),
        environment={**in_files, **(read_environment(tree.get("environment"), unsure) if unsure else environment)},
        env_files=unread,
        ulimits=_ulimits(tree.get("ulimits")),
        cap_add=tuple(leaf.text for leaf in items_of(tree.get("cap_add")) if isinstance(leaf, Leaf)),
        privileged=is_true(tree.leaf("privileged")),
        devices=tuple(Value(path, leaf.span, leaf.written, unset(leaf)) for path, leaf in device_paths(tree)),
        network=read_mode(tree.leaf("network_mode")),
        swarm=swarm,
        misplaced=_misplaced(service, project, rewriter, environment if gpu.requested else {}),
        undecided=_undecided(service, project, workspace, gpu.requested),
    )


def _places(service: Service) -> Iterator[Span]:
    """The keys of a service in its files, the first file first."""
    first, *others = service.bodies
    yield first.layer.span(first.key)
    yield from (body.layer.span(body.key) for body in others if body.own)


def _size(service: Service, project: Project, workspace: Workspace, requested: bool | None) -> Value[Size] | None:
    """The size of a service; it is not known where the repository changes it, or gives its variable another value."""
    tree = service.tree
    size = size_entry(tree, "shm_size")
    if size is None or size.known is None:
        return size
    if requested is not False or size.known.error:
        from shmlint.formats.compose.edits import edits_of

        edits = (edit for edit in edits_of(size.span.path, workspace) if edit.is_about(service.name))
        if (edit := next((edit for edit in edits if edit.may_replace(size.text)), None)) is not None:
            return size._replace(value=Unknown("file", edit.because, edit.path), because=edit.because)
    if "$" not in size.text:
        return size
    other = sorted(contradicted((tree.get("shm_size"),), project.directory, workspace))
    if not other:
        return size
    because = f"variable {other[0]} is set elsewhere in the repository"
    return size._replace(value=Unknown("variable", because), because=because)


def _undecided(
    service: Service, project: Project, workspace: Workspace, requested: bool | None
) -> Unknown | None:
    """Why a service may have more than its files say; scripts are looked at only where it may ask for a GPU."""
    because = service.unknown or project.unknown
    if because or requested is False:
        return Unknown("file", because) if because else None
    from shmlint.formats.compose.generated import set_by_script

    because = set_by_script(service.name, project, workspace)
    if because or "shm_size" in service.tree.entries:
        return Unknown("file", because) if because else None
    from shmlint.formats.compose.edits import edits_of

    edits = (edit for path in project.files for edit in edits_of(path, workspace) if edit.is_about(service.name))
    edit = next((edit for edit in edits if edit.may_add), None)
    return Unknown("file", edit.because, edit.path) if edit is not None else None


def _volumes_from(tree: Branch) -> Iterator[Value[str]]:
    """The services and containers whose volumes a service takes."""
    for leaf in items_of(tree.get("volumes_from")):
        if isinstance(leaf, Leaf):
            yield Value(leaf.named, leaf.span, leaf.written, unset(leaf))


def _misplaced(
    service: Service, project: Project, rewriter: ServiceRewriter, environment: dict[str, Value[str]]
) -> tuple[Misplaced, ...]:
    """Sizes of a service where nothing reads them. Few services have any; the others pay for a look at their keys."""
    if not (
        project.strays
        or any("shm" in name for name in environment)
        or any(
            "shm" in name.lower() and (at or name != "shm_size")
            for mapping, at in placed_mappings(service.tree)
            for name in mapping.entries
        )
    ):
        return ()
    from shmlint.formats.compose.misplaced import find

    return tuple(find(service, project, rewriter, environment))


def _names(service: Service, project: Project) -> tuple[str, ...]:
    container = service.tree.leaf("container_name")
    given = (service.name, container.text if container else "", project.name)
    return tuple(dict.fromkeys(name for name in given if name))


def _in_env_files(tree: Branch, workspace: Workspace) -> tuple[dict[str, Value[str]], bool]:
    """What each ``env_file`` sets, and whether one is not here, which may set any variable."""
    found: dict[str, Value[str]] = {}
    files = list(_env_files(tree))
    unread = len(files) < sum(1 for _ in items_of(tree.get("env_file")))
    for path, leaf in files:
        if not workspace.inside(path, leaf.span.path) or not workspace.exists(path):
            unread = True
            continue
        literal = is_literal(path, workspace)
        for name, text in read_env_file(path, workspace, leaf.layer.variables).items():
            known = text is not None and (literal or name in OF_RUNTIMES)
            value = text if known and text is not None else Unknown("variable", f"{name} is set in an env file")
            found[name] = Value(value, leaf.span, "", private=True)
    return found, unread


def _env_files(tree: Branch) -> Iterator[tuple[str, Leaf]]:
    """The paths that ``env_file`` names, in the order in which Compose reads them.

    A path that is named again keeps its first place (compose-go override/uncity.go). The paths are compared as they
    are written: ``./a.env`` is another one than ``a.env``. Only those that an extended file in another directory
    writes have been made relative to the project first.
    """
    found: dict[str, tuple[str, Leaf]] = {}
    for item in items_of(tree.get("env_file")):
        leaf = item.leaf("path") if isinstance(item, Branch) else item
        if not isinstance(leaf, Leaf) or leaf.interpolated.unset:
            continue
        joined = os.path.join(leaf.layer.directory, leaf.text)
        path = normal(joined)
        found[joined if leaf.layer.directory == tree.layer.directory else path] = (path, leaf)
    yield from found.values()


def _memory_limit(tree: Branch) -> Value[int] | None:
    for path in (("deploy", "resources", "limits", "memory"), ("mem_limit",)):
        found = tree.get(*path)
        if isinstance(found, Leaf) and found.kind != "null":
            size = read_size(found)
            if isinstance(size.value, Unknown):
                return Value(size.value, size.span, size.text, size.because)
            if size.value.bytes:
                return Value(size.value.bytes, size.span, size.text, private=size.private)
    return None


def _ulimits(tree: Tree | None) -> dict[str, Value[str]]:
    found: dict[str, Value[str]] = {}
    if isinstance(tree, Branch):
        for name, entry in tree.entries.items():
            limit = entry.tree
            if isinstance(limit, Branch):
                limit = limit.get("soft") or limit
            value = text_value(limit) if isinstance(limit, Leaf) else None
            if value is not None:
                found[name] = value
    return found


def _built_from(build: Tree | None, directory: str) -> str:
    """The directory of a ``build``, ``directory`` unless it says another; empty where a variable names it."""
    context = build.leaf("context") if isinstance(build, Branch) else build
    if isinstance(build, Branch) and context is None:
        return normal(directory)
    if not isinstance(context, Leaf) or context.interpolated.unset:
        return ""
    return context.text if "://" in context.text else normal(os.path.join(context.layer.directory, context.text))


def _build(build: Tree | None, image: Value[str] | None, directory: str) -> Build | None:
    """The build of a service, in ``directory`` unless it says another; None where a variable names its context."""
    context = build.leaf("context") if isinstance(build, Branch) else build
    if context is None and isinstance(build, Branch):
        text, span = ".", build.span
    elif isinstance(context, Leaf) and not context.interpolated.unset and "://" not in context.text:
        text, span, directory = context.text, context.span, context.layer.directory
    else:
        return None
    leaves = (build.leaf(key) if isinstance(build, Branch) else None for key in ("dockerfile", "target"))
    dockerfile, target = (leaf.text if leaf is not None else None for leaf in leaves)
    args = read_environment(build.get("args")) if isinstance(build, Branch) else {}
    inline = build.leaf("dockerfile_inline") if isinstance(build, Branch) else None
    return Build(
        (image.known or "") if image is not None else "",
        text,
        dockerfile,
        target,
        tuple((name, value.known) for name, value in args.items()),
        span,
        directory,
        in_context=True,
        inline=Value(inline.text, _content(inline), inline.written) if inline is not None else None,
    )


def built_images(launch: Launch, project: Project, workspace: Workspace) -> tuple[Build, ...]:
    """The images that Compose builds for a service: the one that it names, or else those that Compose names itself.

    Their names begin with that of the project, which that of its directory is, unless the directory is the
    repository's own: that has another name in each checkout.
    https://docs.docker.com/reference/compose-file/build/#using-build-and-image
    https://github.com/docker/compose/blob/v2.24.0/pkg/api/api.go#L600 (v2 has `-`, v1 had `_`)
    """
    build = launch.build
    if build is None or build.tag or launch.image is not None:
        return (build,) if build is not None and build.tag else ()
    here, top = os.path.abspath(os.path.join(workspace.top, project.directory)), os.path.abspath(workspace.top or ".")
    folder = os.path.basename(here) if here != top else ""
    name = re.sub(r"[^-_a-z0-9]", "", (project.name or folder).lower()).lstrip("-_")
    return tuple(build._replace(tag=f"{name}{mark}{launch.name}") for mark in "-_") if name else ()


def _content(scalar: Leaf) -> Span:
    """Where the lines of a scalar are that has the same lines in the file; else where the scalar is."""
    source, start = scalar.span.source, scalar.span.start
    first = source.text.find("\n", start, scalar.span.end) if scalar.node.style == "|" else -1
    return Span(source, start, start) if first < 0 else Span(source, first + 1, scalar.span.end)


Built = tuple[tuple[Value[str], ...], Value[tuple[str, ...]] | None, Value[tuple[str, ...]] | None]


def _what_runs(
    tree: Branch, builds: bool, unsure: Collection[str], project: Project, workspace: Workspace
) -> Built:
    """The base images, the entrypoint and the command, of which an entrypoint of the service drops the image's."""
    command, entrypoint = read_words(tree.get("command"), unsure), read_words(tree.get("entrypoint"), unsure)
    if not builds:
        return (), entrypoint, command
    base_images, built_entrypoint, built_command = _built(tree.get("build"), project.directory, workspace)
    if entrypoint is None:
        return base_images, built_entrypoint, command or built_command
    return base_images, entrypoint or built_entrypoint, command


def _built(build: Tree | None, directory: str, workspace: Workspace) -> Built:
    """What the Dockerfile of a ``build`` says: base images, entrypoint, command."""
    nothing: Built = ((), None, None)
    context: Leaf | None
    if isinstance(build, Leaf):
        context, dockerfile, target, args = build, None, None, None
    elif isinstance(build, Branch):
        context = build.leaf("context")
        inline = build.leaf("dockerfile_inline")
        dockerfile, target, args = build.leaf("dockerfile"), build.leaf("target"), build.get("args")
        if inline is not None:
            return _read_dockerfile(inline.text, inline.span, None, target, args)
    else:
        return nothing
    if context is not None:
        if "://" in context.text or context.text.startswith("git@"):
            return nothing
        directory = os.path.join(context.layer.directory, context.text)
    names = (dockerfile.text,) if dockerfile else DOCKERFILES
    paths = (normal(os.path.join(directory, name)) for name in names)
    inside = (p for p in paths if workspace.inside(p, build.layer.source.path) and workspace.exists(p))
    path = next(inside, None)
    if path is None:
        return nothing
    try:
        source = workspace.source(path)
    except Unreadable:
        return nothing
    return _read_dockerfile(source.text, Span(source, 0, 0), path, target, args)


def _read_dockerfile(text: str, span: Span, path: str | None, target: Leaf | None, args: Tree | None) -> Built:
    from shmlint.syntax import dockerfile

    given = {name: value.known or "" for name, value in read_environment(args).items() if value.known}
    image = dockerfile.read(text, target.text if target else None, given)
    if image is None:
        return (), None, None

    def at(line: int) -> Span:
        if path is None or not line:
            return span
        start, end = span.source.line_span(line)
        return Span(span.source, start, end)

    bases = tuple(Value(name, at(line), name) for name, line in image.base_images)

    def given_by(name: str, words: tuple[str, ...] | None) -> Value[tuple[str, ...]] | None:
        return Value(words, at(image.lines.get(name, 0)), " ".join(words)) if words else None

    return bases, given_by("ENTRYPOINT", image.entrypoint), given_by("CMD", image.command)
