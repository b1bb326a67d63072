"""A Compose service, read into a Launch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from shmlint.docker import gpus as gpu_requests
from shmlint.docker import mounts
from shmlint.docker.gpus import DeviceNode, DeviceRequest, GenericResource, Request, Runtime
from shmlint.docker.gpus_option import ALL
from shmlint.docker.mounts import SECRET_SIZE, MountRequest
from shmlint.docker.sizes import InvalidSize, parse_compose
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.project import Project, Service, read_env_file
from shmlint.formats.compose.rewrite import ServiceRewriter
from shmlint.formats.compose.tree import Branch, Entry, Leaf, Listing, Removed, Tree, items_of
from shmlint.formats.compose.words import split_words
from shmlint.model.launch import (
    Bind,
    Build,
    GpuRequest,
    Launch,
    Misplaced,
    Mount,
    Size,
    Unknown,
    Value,
    Words,
)
from shmlint.model.source import Span

_DEVICES = ("deploy", "resources", "reservations", "devices")
_GENERIC = ("deploy", "resources", "reservations", "generic_resources")


def read_project(project: Project, workspace: Workspace, swarm: str = "") -> list[Launch]:
    """A launch for every service, those that join another's IPC namespace tied to it.

    ``swarm`` is why they are taken to be started by ``docker stack deploy``.
    """
    launches = {name: _launch(service, project, workspace, swarm) for name, service in project.services.items()}
    by_container = {
        leaf.text: name
        for name, service in project.services.items()
        if (leaf := service.tree.leaf("container_name")) is not None
    }
    tied = []
    for name, launch in launches.items():
        mode = launch.ipc.known if launch.ipc else None
        if mode and mode.startswith(("service:", "container:")):
            kind, _, other = mode.partition(":")
            donor = launches.get(other if kind == "service" else by_container.get(other, ""))
            if donor is not None and donor is not launch:
                # A donor that joins yet another is not allowed by the engine; one step is enough.
                launch = launch._replace(donor=donor._replace(donor=None))
        tied.append(launch._replace(name=name))
    return tied


def _launch(service: Service, project: Project, workspace: Workspace, swarm: str) -> Launch:
    tree = service.tree
    words = Words(f"service `{service.name}`", "shm_size")
    make_rewriter: Callable[[Service, Span | None], ServiceRewriter] = ServiceRewriter
    if swarm:
        from shmlint.formats.compose import stack

        tree = stack.kept(tree)
        make_rewriter, words = stack.rewriting(project, workspace, words)
    environment = read_environment(tree.get("environment"))
    gpu = read_gpu(tree, {**_visible_in_files(tree, workspace), **environment})
    key = service.bodies[0]
    span = key.layer.span(key.key)
    gpu_span = gpu.evidence[0].span if gpu.evidence else None
    image = _text_value(tree.leaf("image"))
    command = _words(tree.get("command"))
    entrypoint = _words(tree.get("entrypoint"))
    base_images: tuple[Value[str], ...] = ()
    if gpu.requested is not False and tree.get("build") is not None:
        base_images, built_entrypoint, built_command = _built(tree.get("build"), service.directory, workspace)
        command = command or (built_command if entrypoint is None else None)
        entrypoint = entrypoint or built_entrypoint
    rewriter = make_rewriter(service, gpu_span)
    home = rewriter.home
    undecided = service.unknown or project.unknown
    env_files = any(True for _ in items_of(tree.get("env_file")))
    return Launch(
        kind="compose-service",
        name=service.name,
        span=span,
        home=home.layer.span(home.key),
        words=words,
        rewriter=rewriter,
        files=project.files,
        image=image,
        names=_names(service, project),
        base_images=base_images,
        built_from=_built_from(tree.get("build"), service.directory),
        entrypoint=entrypoint,
        command=command,
        gpu=gpu,
        shm=_size_entry(tree, "shm_size"),
        ipc=_mode(tree.leaf("ipc")),
        mounts=tuple(read_mounts(tree)),
        build=_build(tree.get("build"), image) if gpu.requested is not False else None,
        binds=tuple(_binds(tree)) if gpu.requested is not False else (),
        workdir=_text_value(tree.leaf("working_dir")),
        build_shm=_size_entry(build, "shm_size") if isinstance(build := tree.get("build"), Branch) else None,
        memory_limit=_memory_limit(tree),
        environment=environment,
        env_files=env_files,
        ulimits=_ulimits(tree.get("ulimits")),
        cap_add=tuple(leaf.text for leaf in items_of(tree.get("cap_add")) if isinstance(leaf, Leaf)),
        privileged=_is_true(tree.leaf("privileged")),
        devices=tuple(Value(path, leaf.span, leaf.written, _unset(leaf)) for path, leaf in _device_paths(tree)),
        network=_mode(tree.leaf("network_mode")),
        swarm=swarm,
        misplaced=_misplaced(service, project, rewriter, environment if gpu.requested else {}),
        undecided=Unknown("file", undecided) if undecided else None,
    )


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


def placed_mappings(service: Branch) -> Iterator[tuple[Branch, str]]:
    """The mappings of a service that people put a size into, with their place below the service."""
    yield service, ""
    for path in _PARTS:
        part = service.get(*path)
        if isinstance(part, Branch):
            yield part, ".".join(path)
    for name, devices in ((".".join(_DEVICES), service.get(*_DEVICES)), ("gpus", service.get("gpus"))):
        for i, item in enumerate(items_of(devices)):
            if isinstance(item, Branch):
                yield item, f"{name}[{i}]"


_PARTS: tuple[tuple[str, ...], ...] = (
    ("deploy",), ("deploy", "resources"), ("deploy", "resources", "limits"), ("deploy", "resources", "reservations"),
)  # fmt: skip


def _names(service: Service, project: Project) -> tuple[str, ...]:
    container = service.tree.leaf("container_name")
    given = (service.name, container.text if container else "", project.name)
    return tuple(dict.fromkeys(name for name in given if name))


def _unset(leaf: Leaf) -> str:
    names = leaf.interpolated.unset
    if not names:
        return ""
    return f"variable {names[0]} is not set here" if names[0] != leaf.written else "its variables cannot be read"


def _text_value(leaf: Leaf | None) -> Value[str] | None:
    """A text, as Compose reads it; ``because`` says what is missing where a variable is unset."""
    if leaf is None:
        return None
    return Value(leaf.text, leaf.span, leaf.written, _unset(leaf), leaf.interpolated.private)


def _mode(leaf: Leaf | None) -> Value[str] | None:
    if leaf is None:
        return None
    because = _unset(leaf)
    if not because and not leaf.text:
        return None
    # `container:${NAME}` is known to join another, though not which.
    value = Unknown("variable", because) if because and ":" not in leaf.text else leaf.text
    return Value(value, leaf.span, leaf.written, because, leaf.interpolated.private)


_VISIBLE = ("NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES")


def _visible_in_files(tree: Branch, workspace: Workspace) -> dict[str, Value[str]]:
    """Which GPUs a runtime is to hand in, where an ``env_file`` says it; those that are not here say nothing."""
    found: dict[str, Value[str]] = {}
    if tree.leaf("runtime") is None:
        return found
    for item in items_of(tree.get("env_file")):
        leaf = item.leaf("path") if isinstance(item, Branch) else item
        if not isinstance(leaf, Leaf) or leaf.interpolated.unset:
            continue
        path = normal(os.path.join(leaf.layer.directory, leaf.text))
        if workspace.inside(path, leaf.span.path):
            variables = read_env_file(path, workspace, leaf.layer.variables)
            told = {name: text for name in _VISIBLE if (text := variables.get(name)) is not None}
            found |= {name: Value(text, leaf.span, "", private=True) for name, text in told.items()}
    return found


def _is_true(leaf: Leaf | None) -> bool | None:
    """None where a variable says it."""
    if leaf is not None and leaf.interpolated.unset:
        return None
    return leaf is not None and leaf.text.lower() in ("true", "yes", "y", "on")


def _words(tree: Tree | None) -> Value[tuple[str, ...]] | None:
    """``command`` or ``entrypoint``: a list, or a text split as a shell splits words."""
    if isinstance(tree, Leaf):
        if tree.kind == "null":
            return None
        words = split_words(tree.text)
        if words is None:
            words = tree.text.split()
        return Value(tuple(words), tree.span, tree.written, _unset(tree), tree.interpolated.private)
    if isinstance(tree, Listing):
        leaves = [leaf for leaf in tree.items if isinstance(leaf, Leaf)]
        because = next((b for b in map(_unset, leaves) if b), "")
        private = any(leaf.interpolated.private for leaf in leaves)
        words = [leaf.text for leaf in leaves]
        return Value(tuple(words), tree.span, " ".join(leaf.written for leaf in leaves), because, private)
    return None


def read_size(tree: Tree) -> Value[Size]:
    """A size as Compose reads it (compose-go types/bytes.go): a float is silently dropped."""
    if not isinstance(tree, Leaf):
        span = tree.span if isinstance(tree, Branch | Listing) else None
        assert span is not None
        return Value(Size(None, "must be a number or string"), span, "")
    private = tree.interpolated.private
    span, written = tree.span, tree.written
    if tree.refused:
        return Value(Size(None, tree.refused), span, written)
    if tree.kind == "null":
        return Value(Size(None, "no value: Compose wants a number or string"), span, written)
    if tree.kind == "bool":
        return Value(Size(None, f"`{written}` is not a size"), span, written)
    too_large = isinstance(tree.plain_value, int) and abs(tree.plain_value) >= 2**63
    if tree.kind == "float" or too_large:
        return Value(Size(0, dropped_float=True), span, written)
    because = _unset(tree)
    if because:
        return Value(Unknown("variable", because), span, written, because)
    given = tree.plain_value if isinstance(tree.plain_value, int) else tree.text
    try:
        count = parse_compose(given)
    except InvalidSize as error:
        return Value(Size(None, SECRET_SIZE if private else str(error)), span, written, private=private)
    if count < 0:
        return Value(Size(None, "a size cannot be negative"), span, written, private=private)
    bare = isinstance(given, int) or given.isdigit()
    return Value(Size(count, bare_number=bare), span, written, private=private)


def _size_entry(tree: Branch, key: str) -> Value[Size] | None:
    found = tree.get(key)
    if found is None:
        return None
    size = read_size(found)
    if size.span.start == size.span.end:  # an empty value: mark the key
        entry = tree.entries[key]
        return size._replace(span=entry.layer.span(entry.key))
    return size


def read_environment(tree: Tree | None) -> dict[str, Value[str]]:
    """``environment`` as a mapping, a list of ``NAME=value``, or several merged; the last one wins."""
    found: dict[str, Value[str]] = {}
    for part in items_of(tree):
        if isinstance(part, Branch):
            for name, entry in part.entries.items():
                value = entry.tree
                if isinstance(value, Leaf):
                    text = value.go_text if value.kind != "null" else None
                    found[name] = _environment_value(name, text, value)
        elif isinstance(part, Leaf):
            name, equals, text = part.text.partition("=")
            found[name] = _environment_value(name, text if equals else None, part)
    return found


def _environment_value(name: str, text: str | None, leaf: Leaf) -> Value[str]:
    """A variable of the container; without a text it is taken from the project's environment."""
    private = leaf.interpolated.private
    because = _unset(leaf)
    if text is None:
        text = leaf.layer.variables.get(name)
        private = True
        if text is None:
            because = "it is taken from the host's environment"
    value: str | Unknown = Unknown("variable", because) if because else text or ""
    return Value(value, leaf.span, leaf.written, because, private)


def read_gpu(tree: Branch, environment: dict[str, Value[str]]) -> GpuRequest:
    """Everything in a service that asks for GPUs (reservations, gpus, runtime, devices, …)."""
    requests: list[Request] = [*_device_requests(tree), *_generic_resources(tree)]
    requests += (
        DeviceNode(f"devices[{i}]", leaf.span, f"device {path}", path)
        for i, (path, leaf) in enumerate(_device_paths(tree))
        if path or not leaf.interpolated.unset
    )
    gpus, runtime = tree.get("gpus"), tree.leaf("runtime")
    unset = next((item for item in items_of(gpus) if isinstance(item, Leaf) and item.interpolated.unset), None)
    if runtime is not None and runtime.interpolated.unset and not runtime.text:
        unset = unset or runtime
    elif runtime is not None:
        requests.append(Runtime("runtime", runtime.span, f"runtime: {runtime.text}", runtime.text))
    request = gpu_requests.read(
        requests, environment, Unknown("variable", _unset(unset), unset.written) if unset else None
    )
    if (
        _as_compose_wants(tree.get(*_DEVICES), deploy=True)
        and (gpus is None or _as_compose_wants(gpus, deploy=False))
        and next(stray_requests(tree), None) is None
    ):
        return request
    from shmlint.formats.compose.invalid_gpu import find

    return request._replace(invalid=tuple(find(tree)))


def _device_requests(tree: Branch) -> Iterator[DeviceRequest]:
    """``deploy.resources.reservations.devices`` and ``gpus``."""
    for i, item in enumerate(items_of(tree.get(*_DEVICES))):
        if isinstance(item, Branch):
            yield _device_request(item, f"{'.'.join(_DEVICES)}[{i}]", gpu_implied=False)
    gpus = tree.get("gpus")
    for i, item in enumerate(items_of(gpus)):
        if isinstance(item, Branch):
            yield _device_request(item, f"gpus[{i}]", gpu_implied=True)
        elif isinstance(item, Leaf) and not item.interpolated.unset:
            count = _count_of(item, alone=gpus is item)
            key = "gpus" if count < 0 else f"gpus[{i}]"
            yield DeviceRequest(key, item.span, f"gpus: {item.written}", capabilities=("gpu",), count=count)


def _generic_resources(tree: Branch) -> Iterator[GenericResource]:
    for i, item in enumerate(items_of(tree.get(*_GENERIC))):
        spec = item.get("discrete_resource_spec") if isinstance(item, Branch) else None
        kind = spec.leaf("kind") if isinstance(spec, Branch) else None
        if isinstance(spec, Branch) and kind is not None:
            value = spec.leaf("value")
            amount = int(value.text) if value is not None and value.text.isdigit() else None
            yield GenericResource(f"{'.'.join(_GENERIC)}[{i}]", kind.span, kind.text, amount)


def _count_of(item: Leaf, *, alone: bool) -> int:
    """How many GPUs a text asks for where Compose wants `all` or a mapping; 0 where that is not clear."""
    text = item.text.lower()
    if text in ("all", "-1"):
        return ALL
    if not text.isdecimal():
        return 0
    return int(text) if alone else 1  # a number in a list names a device


_STRAYS = (
    (("deploy",), ("devices", "reservations")),
    (("deploy", "resources"), ("devices",)),
    (("deploy", "resources", "limits"), ("devices",)),
    ((), ("device_requests", "reservations", "resources")),
)
"""Where people write a request for devices that is no key there: part of the path left out, or the API's own name."""


def stray_requests(tree: Branch) -> Iterator[tuple[Entry, str]]:
    """Keys that hold a request for devices and that Compose does not know there, with their place."""
    for path, names in _STRAYS:
        place = tree.get(*path) if path else tree
        if not isinstance(place, Branch):
            continue
        for name in names:
            entry = place.entries.get(name)
            if entry is None:
                continue
            held: Tree | None = entry.tree
            if name == "resources":
                held = held.get("reservations") if isinstance(held, Branch) else held
            if name in ("resources", "reservations"):
                held = held.get("devices") if isinstance(held, Branch) else None
            if held is not None and not isinstance(held, Removed):
                yield entry, ".".join((*path, name))


def _as_compose_wants(given: Tree | None, *, deploy: bool) -> bool:
    """A quick look: whether device requests are surely of the form that Compose takes."""
    if given is None or isinstance(given, Removed):
        return True
    if isinstance(given, Leaf):
        return not deploy and (given.text == "all" or bool(given.interpolated.unset))
    if not isinstance(given, Listing):
        return False
    return all(isinstance(item, Branch) and _is_request(item, deploy=deploy) for item in items_of(given))


def _is_request(item: Branch, *, deploy: bool) -> bool:
    capabilities, ids, count = item.get("capabilities"), item.get("device_ids"), item.get("count")
    if (capabilities is None and deploy) or (ids is not None and count is not None):
        return False
    for part in (capabilities, ids):
        if part is None:
            continue
        if not isinstance(part, Listing):
            return False
        texts = [leaf.text for leaf in part.items if isinstance(leaf, Leaf) and leaf.kind == "str"]
        if len(set(texts)) < len(part.items):
            return False
    if deploy and not _REQUEST_KEYS.issuperset(item.entries):
        return False
    driver = item.get("driver")
    if driver is not None and not (isinstance(driver, Leaf) and driver.kind == "str"):
        return False
    return count is None or (isinstance(count, Leaf) and (count.kind == "int" or count.text == "all"))


_REQUEST_KEYS = frozenset({"capabilities", "count", "device_ids", "driver", "options"})


def _device_request(item: Branch, key: str, *, gpu_implied: bool) -> DeviceRequest:
    # What Compose refuses is read as it was meant: [[gpu]], and no capabilities at all.
    named = [leaf for part in items_of(item.get("capabilities")) for leaf in items_of(part) if isinstance(leaf, Leaf)]
    implied = ("gpu",) if gpu_implied or item.get("capabilities") is None else ()
    ids = [leaf for leaf in items_of(item.get("device_ids")) if isinstance(leaf, Leaf)]
    driver = item.leaf("driver")
    parts = (item.get(name) for name in ("capabilities", "count", "device_ids", "driver"))
    return DeviceRequest(
        key,
        next((part.span for part in parts if isinstance(part, Leaf | Listing)), item.span),
        verb="reserves",
        driver=driver.text if driver else "",
        capabilities=(*(leaf.text for leaf in named), *implied),
        device_ids=tuple(leaf.text for leaf in ids),
        count=_reserved(item.leaf("count")),
        ids_known=not any(leaf.interpolated.unset for leaf in ids),
    )


def _reserved(count: Leaf | None) -> int | None:
    """The ``count`` of a request; without one it is for all (compose-go transform/devices.go)."""
    if count is None:
        return ALL
    text = count.text.strip().lower()
    if count.interpolated.unset:
        return None
    if text == "all":
        return ALL
    return int(text) if text.lstrip("+-").isdigit() else None


def _device_paths(tree: Branch) -> Iterator[tuple[str, Leaf]]:
    """``devices`` entries, a later one for the same target replacing an earlier one."""
    by_target: dict[str, tuple[str, Leaf]] = {}
    for item in items_of(tree.get("devices")):
        if isinstance(item, Leaf):
            parts = item.text.split(":")
            target = parts[1] if len(parts) > 1 else parts[0]
            by_target[target] = (parts[0], item)
        elif isinstance(item, Branch):
            source = item.leaf("source")
            if source is not None:
                target_leaf = item.leaf("target")
                by_target[target_leaf.text if target_leaf else source.text] = (source.text, source)
    yield from by_target.values()


def read_mounts(tree: Branch) -> Iterator[Mount]:
    """What is mounted on /dev/shm or /dev by ``tmpfs`` and ``volumes``; one a target, the last wins."""
    found: dict[tuple[str, str], Mount] = {}
    for item in items_of(tree.get("tmpfs")):
        mount = mounts.read(_short_tmpfs(item)) if isinstance(item, Leaf) else None
        if mount is not None and isinstance(item, Leaf):
            found["tmpfs", item.text.partition("=")[0]] = mount
    for item in items_of(tree.get("volumes")):
        request = _short_volume(item) if isinstance(item, Leaf) else _long_volume(item)
        mount = mounts.read(request) if request is not None else None
        if mount is not None:
            found["volume", mount.target] = mount
    yield from found.values()


def _short_tmpfs(leaf: Leaf) -> MountRequest:
    target, _, options = leaf.text.partition(":")
    value = Unknown("variable", _unset(leaf)) if leaf.interpolated.unset else options
    size_span = None
    at = leaf.written.rfind("size=")
    if at >= 0 and not leaf.interpolated.used:
        written = leaf.written[at + 5 :].partition(",")[0]
        size_span = leaf.within(at + 5, at + 5 + len(written))
    given = Value(value, leaf.span, leaf.written, private=leaf.interpolated.private)
    return MountRequest(target, leaf.span, "tmpfs", options=given, size_span=size_span)


def _short_volume(leaf: Leaf) -> MountRequest:
    parts = leaf.text.split(":")
    source = parts[0] if len(parts) > 1 else ""
    kind = "bind" if source.startswith((".", "/", "~")) else "volume"
    return MountRequest(parts[0] if len(parts) == 1 else parts[1], leaf.span, kind, source)


def _long_volume(tree: Tree) -> MountRequest | None:
    target = tree.leaf("target") if isinstance(tree, Branch) else None
    if target is None or not isinstance(tree, Branch):
        return None
    source, kind, written = tree.leaf("source"), tree.leaf("type"), tree.get("tmpfs", "size")
    name, given = source.text if source else "", kind.text if kind else ""
    size = read_size(written) if written is not None and given == "tmpfs" else None
    return MountRequest(
        target.text, target.span, given, name, size=size, size_span=size.span if size is not None else None
    )


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
            value = _text_value(limit) if isinstance(limit, Leaf) else None
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


def _build(build: Tree | None, image: Value[str] | None) -> Build | None:
    """The build of a service; None where there is none here or a variable names its context."""
    context = build.leaf("context") if isinstance(build, Branch) else build
    if isinstance(build, Branch) and (context is None or build.leaf("dockerfile_inline") is not None):
        return None
    if not isinstance(context, Leaf) or context.interpolated.unset or "://" in context.text:
        return None
    dockerfile, target = (build.leaf("dockerfile"), build.leaf("target")) if isinstance(build, Branch) else (None, None)
    args = read_environment(build.get("args")) if isinstance(build, Branch) else {}
    return Build(
        (image.known or "") if image is not None else "",
        context.text,
        dockerfile.text if dockerfile is not None else None,
        target.text if target is not None else None,
        tuple((name, value.known) for name, value in args.items()),
        context.span,
        context.layer.directory,
        in_context=True,
    )


def _binds(tree: Branch) -> Iterator[Bind]:
    """What ``volumes`` shows of the host, by paths from the directory of the file."""
    for item in items_of(tree.get("volumes")):
        source: Leaf | None = None
        target = name = ""
        if isinstance(item, Leaf):
            name, _, rest = item.text.partition(":")
            source, target = item, rest.partition(":")[0]
        elif isinstance(item, Branch):
            source, at = item.leaf("source"), item.leaf("target")
            name, target = source.text if source is not None else "", at.text if at is not None else ""
        if source is None or not target:
            continue
        relative = name.startswith(".") and not source.interpolated.unset
        yield Bind(os.path.join(source.layer.directory, name) if relative else name, target, source.span, relative)


Built = tuple[tuple[Value[str], ...], Value[tuple[str, ...]] | None, Value[tuple[str, ...]] | None]


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
    name = dockerfile.text if dockerfile else "Dockerfile"
    path = normal(os.path.join(directory, name))
    if not workspace.inside(path, build.layer.source.path) or not workspace.exists(path):
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
    first = bases[0].span if bases else span
    entrypoint = Value(image.entrypoint, first, " ".join(image.entrypoint)) if image.entrypoint else None
    command = Value(image.command, first, " ".join(image.command)) if image.command else None
    return bases, entrypoint, command
