"""A ``docker run`` command, read into a Launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from shmlint.docker import gpus as gpu_requests
from shmlint.docker import mounts
from shmlint.docker.gpus import ALL, DeviceNode, DeviceRequest, Request, Runtime
from shmlint.docker.gpus_option import GpuDevices, quoted_devices
from shmlint.docker.images import is_reference
from shmlint.docker.mounts import MountRequest
from shmlint.docker.run_options import (
    DockerCommand,
    Option,
    RunCommand,
    can_be_reference,
    find_docker,
    is_one_word,
    read_run,
)
from shmlint.docker.sizes import InvalidSize, parse_docker
from shmlint.formats.shell.rewrite import RunRewriter, join_by_sign, write_quotes
from shmlint.model.launch import (
    Bind,
    Change,
    GpuFault,
    GpuRequest,
    Kind,
    Launch,
    Misplaced,
    Mount,
    Rewriter,
    Size,
    Unknown,
    Value,
    Words,
)
from shmlint.model.source import Edit, Span
from shmlint.syntax.shell import Command
from shmlint.syntax.word import Word


def read_launch(command: Command) -> Launch | None:
    """The launch a command makes; None where it starts no container."""
    docker = find_docker(command.words)
    if docker is None:
        return None
    words = command.words[docker.start :]
    run = read_run(words, docker.engine, docker.verb)
    if run.image is None and not run.unknown:
        return None
    no_image = run.image if run.image is not None and not _can_be_image(run.image) else None
    if no_image is not None:
        run = replace(run, image=None, command=())
    binary = command.words[docker.binary].span
    inside = binary is not None and _within(binary, command.span)
    span = binary if binary is not None and inside else command.span
    engine = {"nvidia-docker": "nvidia-docker"}.get(docker.engine, docker.engine)
    name = run.name()
    anchor = command.words[docker.start - 1]
    launch = launch_of(
        run,
        kind="docker-run",
        span=span,
        label=f"`{engine} {docker.verb}`",
        rewriter=RunRewriter(run, anchor, command.span, words),
        gpu=read_gpu(run, docker, command.words[docker.binary]),
    )
    launch = named(launch, name.value if name is not None and not name.unknown else None)
    if no_image is not None and not run.unknown:
        because = "the word where its image belongs is not an image name"
        launch = launch._replace(undecided=Unknown("arguments", because, " ".join(no_image.text.split())[:80]))
    return with_misspelt(launch, run)


def with_misspelt(launch: Launch, run: RunCommand) -> Launch:
    """A launch with the sizes that the client refuses for how their option is written."""
    size, unknown = run.shm_size(), run.unknown_option
    if (unknown is None or "shm" not in unknown.text) and (size is None or not is_one_word(size)):
        return launch
    from shmlint.formats.shell.misplaced import misspelt

    return launch._replace(misplaced=(*launch.misplaced, *misspelt(run)))


def named(launch: Launch, name: str | None) -> Launch:
    """A launch of this name."""
    return launch._replace(name=name, names=(name,) if name else ())


_ENGINES = frozenset({"docker", "podman", "nerdctl", "nvidia-docker", "sudo"})


def _can_be_image(word: Word) -> bool:
    """False for what the client refuses as a name: an option, a path, a quotation mark that spans lines."""
    text = word.text
    if word.unknown:
        return can_be_reference(text)
    return is_reference(text.lower()) and text not in _ENGINES  # capitals: IMAGE stands for a name


def _within(inner: Span, outer: Span) -> bool:
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end


def launch_of(
    run: RunCommand, *, kind: Kind, span: Span, label: str, rewriter: Rewriter, gpu: GpuRequest
) -> Launch:
    """A launch out of the options of a run command, whatever they were written in."""
    image = None
    if run.image is not None:
        text = run.image.text
        if "\n" in text:  # what gives it takes several lines
            text = f"{' '.join(text.split())[:60]}…"
        image = Value(text, run.image.span or span, text, run.image.unknown)
    command = None
    if run.command:
        texts = tuple(word.text for word in run.command)
        because = next((word.unknown for word in run.command if word.unknown), "")
        first, last = run.command[0].span, run.command[-1].span
        place = span
        if first is not None and last is not None and first.source is last.source and last.end > first.start:
            place = Span(first.source, first.start, last.end)
        command = Value(texts, place, " ".join(texts), because)
    entrypoint = run.entrypoint()
    home = span
    return Launch(
        kind=kind,
        name=None,
        span=span,
        home=home,
        words=Words(f"{label} of {image.text}" if image and image.text else label, "--shm-size"),
        rewriter=rewriter,
        files=(span.path,),
        image=image,
        entrypoint=_one(entrypoint, span),
        command=command,
        gpu=gpu,
        shm=_size(run, span),
        ipc=_ipc(run, span),
        mounts=tuple(_mounts(run, span)),
        binds=tuple(_binds(run, span)),
        workdir=_text(run.last("--workdir"), span),
        interactive=bool(run.flag("--interactive") or run.flag("--tty")),
        memory_limit=_bytes(run.memory(), span),
        environment=_environment(run, span),
        env_files=bool(run.env_files()),
        ulimits={
            name: Value(
                (option.value or "").partition("=")[2], option.word.span or span, option.value or "", option.unknown
            )
            for name, option in run.ulimits().items()
        },
        cap_add=tuple(option.value or "" for option in run.cap_add()),
        privileged=run.privileged(),
        devices=tuple(
            Value((option.value or "").partition(":")[0], _place(option, span), option.value or "", option.unknown)
            for option in run.devices()
        ),
        network=_text(run.network(), span),
        engine="docker" if run.engine == "nvidia-docker" else run.engine,
        misplaced=_misplaced(run),
        undecided=_undecided(run),
    )


def _undecided(run: RunCommand) -> Unknown | None:
    if run.unknown is None:
        return None
    return run.unknown._replace(because=f"{run.unknown.because}; it may hold --shm-size")


def _misplaced(run: RunCommand) -> tuple[Misplaced, ...]:
    """A ``--shm-size`` after the image; the most commands have none and do not pay for the search."""
    if not run.command or not any(word.text.startswith("--shm-size") for word in run.command):
        return ()
    from shmlint.formats.shell.misplaced import behind_image

    return tuple(behind_image(run))


def _environment(run: RunCommand, span: Span) -> dict[str, Value[str]]:
    found = {}
    for name, setting in run.env().items():
        unknown = setting.value is None or setting.unknown
        value = Unknown("variable", setting.unknown) if unknown else setting.value or ""
        found[name] = Value(value, setting.option.word.span or span, setting.option.value or "", setting.unknown)
    return found


def _place(option: Option, span: Span) -> Span:
    if option.value_span is not None:
        return option.value_span
    word = option.value_word or option.word
    return word.span or option.word.span or span


def _text(option: Option | None, span: Span) -> Value[str] | None:
    if option is None or (option.value == "" and not option.unknown):
        return None
    value = Unknown("variable", option.unknown) if option.unknown else option.value or ""
    return Value(value, _place(option, span), option.value or "", option.unknown)


def _ipc(run: RunCommand, span: Span) -> Value[str] | None:
    """The IPC mode; in a pod the namespace is the pod's unless the container says otherwise."""
    pod = run.last("--pod") or run.last("--pod-id-file")
    if run.engine == "podman" and pod is not None and run.ipc() is None:
        return Value(Unknown("engine", "the containers of a pod share its /dev/shm"), _place(pod, span), "")
    return _text(run.ipc(), span)


def _one(option: Option | None, span: Span) -> Value[tuple[str, ...]] | None:
    if option is None or not option.value:
        return None
    return Value((option.value,), _place(option, span), option.value, option.unknown)


def _size(run: RunCommand, span: Span) -> Value[Size] | None:
    option = run.shm_size()
    if option is None:
        ipc = run.ipc()
        if run.engine == "nerdctl" and ipc is not None and ipc.value == "shareable":  # pkg/ipcutil/ipcutil_linux.go
            because = "nerdctl gives a shareable /dev/shm without a size half of the host's memory"
            return Value(Unknown("engine", because), _place(ipc, span), "")
        return None
    place, text = _place(option, span), option.value or ""
    if option.unknown:
        return Value(Unknown("variable", option.unknown), place, text, option.unknown)
    try:
        count = parse_docker(text)
    except InvalidSize as error:
        return Value(Size(None, str(error)), place, text)
    if count == 0 and run.engine in ("podman", "nerdctl"):  # nerdctl hands it to the kernel (pkg/ipcutil)
        return Value(Unknown("engine", f"{run.engine} reads 0 as no limit"), place, text)
    return Value(Size(count, bare_number=text.isdigit()), place, text)


def _bytes(option: Option | None, span: Span) -> Value[int] | None:
    if option is None:
        return None
    place, text = _place(option, span), option.value or ""
    if option.unknown:
        return Value(Unknown("variable", option.unknown), place, text, option.unknown)
    try:
        return Value(parse_docker(text), place, text)
    except InvalidSize:
        return None


def _mounts(run: RunCommand, span: Span) -> Iterator[Mount]:
    for option, given in run.shm_mounts():
        place = _place(option, span)
        size_span = None
        if given.size_at is not None and option.value_span is not None:
            start = option.value_span.start + given.size_at
            size_span = Span(option.value_span.source, start, start + len(given.size_text))
        options: Value[str] | None = None
        if option.name == "--tmpfs":
            text = (option.value or "").partition(":")[2]
            unknown = Unknown("variable", option.unknown) if option.unknown and given.size_text else None
            options = Value(unknown or text, place, text)
        size: Value[Size] | None = None
        if given.size_text:
            read: Size | Unknown = Size(given.size, given.error)
            if given.error and option.unknown:
                read = Unknown("variable", option.unknown)
            size = Value(read, place, given.size_text)
        mount = mounts.read(
            MountRequest(given.target, place, given.type, given.source, options, size, size_span)
        )
        if mount is not None:
            yield mount


def _binds(run: RunCommand, span: Span) -> Iterator[Bind]:
    for option, mount in run.mounts():
        if option.name != "--tmpfs" and mount.source and mount.target and not mount.error:
            yield Bind(mount.source, mount.path, _place(option, span))


def read_gpu(run: RunCommand, docker: DockerCommand | None = None, binary: Word | None = None) -> GpuRequest:
    """Everything in a command line that asks for GPUs."""
    requests: list[Request] = list(_device_requests(run))
    runtime, fallback = run.runtime(), _first_span(run)
    if docker is not None and docker.engine == "nvidia-docker":
        place = binary.span if binary is not None and binary.span is not None else fallback
        named = next((word for word in docker.assignments if word.text.partition("=")[0] == "NV_GPU"), None)
        if place is not None:
            devices = _caller_names(named, place) if named is not None else None
            requests.append(Runtime("nvidia-docker", place, "nvidia-docker", "nvidia", devices))
    if runtime is not None and not runtime.unknown:
        place = runtime.word.span or fallback
        if place is not None:
            requests.append(Runtime("--runtime", place, f"--runtime {runtime.value}", runtime.value or ""))
    for option in run.devices():
        # `--device=$DEV` could be a GPU; a device alone raises no alarm either way
        path, place = (option.value or "").partition(":")[0], option.word.span or fallback
        if place is not None:
            requests.append(DeviceNode("--device", place, f"--device {path}", path))
    unknown = run.unknown
    if unknown is None and runtime is not None and runtime.unknown:
        unknown = Unknown("variable", runtime.unknown, runtime.value or "")
    environment = _environment(run, fallback) if fallback is not None else {}
    request = gpu_requests.read(requests, environment, unknown)
    return request._replace(device_lists=tuple(_device_lists(run)), invalid=tuple(_invalid(run)))


def _first_span(run: RunCommand) -> Span | None:
    """Where something stands that an option without a place of its own can point at."""
    words = (run.image, *run.command, *(option.word for option in run.options))
    return next((word.span for word in words if word is not None and word.span), None)


def _caller_names(assignment: Word, place: Span) -> Value[str]:
    """The devices that the caller's ``NV_GPU`` names."""
    text = assignment.text.partition("=")[2]
    value = Unknown("variable", assignment.unknown) if assignment.unknown else text
    return Value(value, assignment.span or place, text)


def _device_requests(run: RunCommand) -> Iterator[DeviceRequest]:
    """The values of ``--gpus``; what is refused is read as it was meant: `ALL`."""
    earlier: tuple[str, ...] = ()
    for option, request in run.gpus():
        place = option.word.span or _first_span(run)
        value = "all" if option.value is None else option.value.lower()
        if place is None or (request.error and value in ("none", "")):
            continue
        count: int | None = request.number
        if option.unknown or request.error:
            count = ALL if value == "all" and not option.unknown else None
        ids = request.device_ids
        if ids and run.engine == "podman":  # each is one device; docker's are requests of their own
            earlier = ids = (*earlier, *ids)
        capabilities = (*request.capabilities, "gpu")
        yield DeviceRequest(
            "--gpus", place, f"--gpus {option.value or ''}", "", request.driver, capabilities, ids, count
        )


def _who(run: RunCommand) -> str:
    return {"podman": "Podman", "nerdctl": "nerdctl"}.get(run.engine, "Docker")


def _invalid(run: RunCommand) -> Iterator[GpuFault]:
    """Values of ``--gpus`` that are refused, but for lists of devices, which are ``_device_lists``."""
    for option, request in run.gpus():
        value = option.value or ""
        place = (option.value_word or option.word).span
        if option.unknown or place is None:
            continue
        if option.value is None:
            message = f"`--gpus` has no value, and {_who(run)} takes the next word for it"
            added = Change((Edit(place.path, place.end, place.end, " all"),), f"add `all` in line {place.line}")
            yield GpuFault(place, message, (added,), "write --gpus all", "")
            continue
        if is_one_word(option):
            message = f"`{option.word.text}` is a single word, which {_who(run)} refuses as an unknown flag"
            yield GpuFault(place, message, tuple(join_by_sign(option)), "write the option and its value as two words")
            continue
        if request.error:
            changes: tuple[Change, ...] = ()
            if value.lower() == "all" and option.value_span is not None:
                span = option.value_span
                changes = (Change((Edit(span.path, span.start, span.end, "all"),), f"write `all` in line {span.line}"),)
            advice = "remove --gpus to request no GPU" if value.lower() in ("none", "") else ""
            yield GpuFault(place, f"`--gpus {value}` is refused by {_who(run)}: {request.error}", changes, advice, "")
        elif request.daemon_error and not starts_count(value, request):
            advice = "remove the count, or the devices"
            yield GpuFault(place, f"`--gpus {value}` is refused by the engine: {request.daemon_error}", (), advice, "")


def _device_lists(run: RunCommand) -> Iterator[GpuFault]:
    """Values of ``--gpus`` that look like a list of devices and are not read as one."""
    for option, request in run.gpus():
        value = option.value or ""
        if option.unknown or run.engine == "podman":
            continue
        place = (option.value_word or option.word).span
        if place is None:
            continue
        if starts_count(value, request):
            message = f"`--gpus {value}` is refused: the comma ends the device list and starts a count"
            meant = quoted_devices(value)
            if meant is None:
                yield GpuFault(place, message, (), "remove the count, or the devices")
            else:
                right = f"--gpus '{meant}'"
                changes = tuple(write_quotes(option, meant))
                yield GpuFault(place, message, changes, "", right, value, meant)
        elif value and "," in value and value.replace(",", "").isdigit():
            last = value.rpartition(",")[2]
            message = f"`--gpus {value}` asks for {last} GPUs: of several counts, the last one applies"
            advice = f"""--gpus '"device={value}"' for these devices, --gpus {last} for so many"""
            yield GpuFault(place, message, (), advice)


def starts_count(value: str, request: GpuDevices) -> bool:
    """Whether a bare field stands after the device: ``device=0,1``."""
    if not request.device_ids or not request.number:
        return False
    behind = value.partition("device=")[2].split(",")[1:]
    return any("=" not in field for field in behind)


def without_single_quotes(launch: Launch) -> Launch:
    """A launch whose list of devices is never put between single quotation marks.

    Outside of a shell of Unix they are characters like others: on Windows, and where the runner of GitHub
    splits the options of a job container.
    """
    if not launch.gpu.device_lists:
        return launch
    lists = tuple(
        fault._replace(changes=tuple(c for c in fault.changes if "'" not in "".join(e.text for e in c.edits)))
        for fault in launch.gpu.device_lists
    )
    return launch._replace(gpu=launch.gpu._replace(device_lists=lists))


def worded(launch: Launch, written: Callable[[str], str]) -> Launch:
    """A launch that speaks of what stands in the file; ``written`` puts it in the place of what it was read as."""

    def named(unknown: Unknown | None) -> Unknown | None:
        if unknown is None:
            return None
        return unknown._replace(name=written(unknown.name), because=written(unknown.because))

    image, command = launch.image, launch.command
    if image is not None:
        known = image.known
        image = image._replace(value=image.value if known is None else written(known), text=written(image.text))
    if command is not None:
        words = tuple(map(written, command.known or ()))
        command = command._replace(value=words, text=written(command.text))
    return launch._replace(
        image=image,
        command=command,
        words=launch.words._replace(launch=written(launch.words.launch)),
        undecided=named(launch.undecided),
        gpu=launch.gpu._replace(unknown=named(launch.gpu.unknown)),
    )


def launches(found: Sequence[Command]) -> list[Launch]:
    """The launches among commands, in the order of the text, those that join another's IPC namespace tied to it."""
    return tied([launch for launch in map(read_launch, found) if launch is not None])


def tied(found: list[Launch]) -> list[Launch]:
    """Launches with their donors: ``--ipc container:NAME`` joins the one ``--name NAME`` of the same file.

    Podman's are left alone, for there a container shares its namespace without being told to.
    """
    joining = [launch for launch in found if _joins(launch) and launch.donor is None]
    if not joining:
        return found
    named: dict[tuple[str, str], list[Launch]] = {}
    for launch in found:
        if launch.name and launch.kind == "docker-run" and not launch.podman:
            named.setdefault((launch.span.path, launch.name), []).append(launch)
    donors = {}
    for launch in joining:
        mode = launch.ipc.known if launch.ipc is not None else None
        same = named.get((launch.span.path, (mode or "").partition(":")[2]), ())
        if len(same) == 1 and same[0] is not launch and not launch.podman:
            donors[id(launch)] = same[0]._replace(donor=None)
    return [launch._replace(donor=donors.get(id(launch), launch.donor)) for launch in found]


def _joins(launch: Launch) -> bool:
    mode = launch.ipc.known if launch.ipc is not None else None
    return launch.kind == "docker-run" and mode is not None and mode.startswith("container:")
