"""What a ``docker run`` command asks for in GPUs, and its values of ``--gpus`` that are not read as meant."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker import gpus as gpu_requests
from shmlint.docker.engines import DockerCommand
from shmlint.docker.gpus import ALL, DeviceNode, DeviceRequest, Request, Runtime
from shmlint.docker.gpus_option import is_placeholder, misread, quoted_devices, requests_none, starts_count
from shmlint.docker.run_options import MISSPELT_GPUS, Option, RunCommand, is_one_word
from shmlint.docker.run_values import environment_of
from shmlint.formats.shell.rewrite import join_by_sign, write_quotes
from shmlint.model.launch import Change, GpuFault, GpuRequest, Launch, Unknown, Value
from shmlint.model.source import Edit, Span
from shmlint.syntax.shell_text import Shell
from shmlint.syntax.word import Word


def read_gpu(run: RunCommand, docker: DockerCommand | None = None, binary: Word | None = None) -> GpuRequest:
    """Everything in a command line that asks for GPUs."""
    request = _read(run, docker, binary)
    one_of = binary is not None and bool(binary.values)
    always = tuple(option for option in run.options if not option.in_branches)
    if request.requested and (one_of or len(always) < len(run.options)):
        # Without what a variable holds in some branches: `docker` or `nvidia-docker`, `--gpus all` or nothing.
        certain = _read(run._replace(options=always), None if one_of else docker, binary)
        if certain.requested and not one_of:
            return certain
        request = request._replace(in_branches=not certain.requested)
    return request


def _read(run: RunCommand, docker: DockerCommand | None, binary: Word | None) -> GpuRequest:
    runtime, fallback = run.runtime(), _first_span(run) or (binary.used if binary is not None else None)
    requests: list[Request] = list(_device_requests(run, fallback))
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
        unknown = Unknown("variable", runtime.because, runtime.value or "")
    environment = environment_of(run, fallback) if fallback is not None else {}
    request = gpu_requests.read(requests, environment, unknown)
    return request._replace(device_lists=tuple(_device_lists(run)), invalid=(*_single_words(run), *_invalid(run)))


def _first_span(run: RunCommand) -> Span | None:
    """Where something is that an option without a place of its own can point at."""
    words = (run.image, *run.command, *(option.word for option in run.options))
    return next((place for word in words if word is not None and (place := word.span or word.used)), None)


def _caller_names(assignment: Word, place: Span) -> Value[str]:
    """The devices that the caller's ``NV_GPU`` names."""
    text = assignment.text.partition("=")[2]
    value = Unknown("variable", assignment.because) if assignment.unknown else text
    return Value(value, assignment.span or place, text)


def _device_requests(run: RunCommand, fallback: Span | None) -> Iterator[DeviceRequest]:
    """The values of ``--gpus``; what is refused is read as it was meant: `ALL`."""
    earlier: tuple[str, ...] = ()
    for option, request in run.gpus():
        place = option.word.span or fallback
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
            "--gpus", place, shown(option.value or ""), "", request.driver, capabilities, ids, count
        )


def shown(value: str) -> str:
    """A value of ``--gpus`` as the evidence for the request has it."""
    return f"--gpus {value}" if value else '--gpus ""'


def _who(run: RunCommand) -> str:
    return {"podman": "Podman", "nerdctl": "nerdctl"}.get(run.engine, "Docker")


def _invalid(run: RunCommand) -> Iterator[GpuFault]:
    """What is refused of ``--gpus``, but for lists of devices, which are ``_device_lists``."""
    other = run.unknown_option
    if other is not None and other.span is not None:
        name = other.text.partition("=")[0]
        if MISSPELT_GPUS.fullmatch(other.text) is not None:
            yield GpuFault(other.span, "misspelt", name, _misspelt(name), (), "write --gpus")
        elif name == "--gpus" and run.unknown is not None:
            message = f"`--gpus` has a value that {_who(run)} does not read: {run.unknown.because}"
            yield GpuFault(other.span, "refused", name, message, (), "write --gpus and its value as two words")
    for option, request in run.gpus():
        value = option.value or ""
        place = (option.value_word or option.word).span
        if option.unknown or place is None:
            continue
        if option.value is None:
            message = f"`--gpus` has no value, and {_who(run)} takes the next word for it"
            added = Change((Edit(place.path, place.end, place.end, " all"),), f"add `all` in line {place.line}")
            yield GpuFault(place, "no-value", "--gpus", message, (added,), "write --gpus all")
            continue
        name = option.word.text.partition("=")[0]
        if MISSPELT_GPUS.fullmatch(option.word.text) is not None and option.word.span is not None:
            changes = tuple(_renamed(option, name))
            yield GpuFault(option.word.span, "misspelt", name, _misspelt(name), changes, "write --gpus")
        if is_one_word(option):
            continue
        if request.error and is_placeholder(value):
            continue
        if request.error and (run.engine == "podman" or not starts_count(value, request)):
            changes = ()
            if value.lower() == "all" and option.value_span is not None:
                span = option.value_span
                changes = (Change((Edit(span.path, span.start, span.end, "all"),), f"write `all` in line {span.line}"),)
            advice = "remove --gpus to request no GPU" if value.lower() in ("none", "") else ""
            message = f"`{shown(value)}` is refused by {_who(run)}: {request.error}"
            yield GpuFault(place, "refused", shown(value), message, changes, advice)
        elif request.daemon_error and not starts_count(value, request):
            advice = "remove the count, or the devices"
            message = f"`--gpus {value}` is refused by the engine: {request.daemon_error}"
            yield GpuFault(place, "refused-by-engine", shown(value), message, (), advice)


def _single_words(run: RunCommand) -> Iterator[GpuFault]:
    """``"--gpus all"`` and ``"--runtime nvidia"``, each an option and its value in a single word."""
    options = [option for option, _ in run.gpus()]
    runtime = run.runtime()
    if runtime is not None and runtime.value == "nvidia":
        options.append(runtime)
    for option in options:
        place, text = option.word.span, option.word.text
        if option.unknown or place is None or not is_one_word(option):
            continue
        message = f"`{text}` is a single word, which {_who(run)} refuses as an unknown flag"
        advice = "write the option and its value as two words"
        yield GpuFault(place, "one-word", text, message, tuple(join_by_sign(option)), advice)


def _misspelt(name: str) -> str:
    return f"`{name}` is an unknown flag, and Docker refuses the command; the option is `--gpus`"


def _renamed(option: Option, name: str) -> Iterator[Change]:
    """Write ``--gpus`` for another name, with the value that is part of that."""
    span = option.word.span
    if span is not None and span.text.startswith(name):
        right = "--gpus=all" if name.endswith("all") else "--gpus"
        edit = Edit(span.path, span.start, span.start + len(name), right)
        yield Change((edit,), f"write {right} in line {span.line}")


def _device_lists(run: RunCommand) -> Iterator[GpuFault]:
    """Values of ``--gpus`` that look like a list of devices and are not read as one."""
    for option, request in run.gpus():
        value = option.value or ""
        if option.unknown or run.engine == "podman" or is_one_word(option):
            continue
        place = (option.value_word or option.word).span
        if place is None:
            continue
        if requests_none(value, request) and run.engine == "docker" and _is_written_out(option):
            yield no_gpu(place, "--gpus device=0 for the first GPU")
            continue
        found = misread(value, request)
        if found is None:
            continue
        meant = quoted_devices(value)
        if found.applies:
            right = f"""--gpus '"device={value}"'"""
            advice = f"{right} for these devices, --gpus {found.applies} for so many"
            yield GpuFault(place, found.kind, shown(value), found.message, (), advice, right)
        elif meant is None:
            advice = "remove the count, or the devices"
            yield GpuFault(place, found.kind, shown(value), found.message, (), advice)
        else:
            changes = tuple(write_quotes(option, meant))
            right = f"--gpus '{meant}'"
            yield GpuFault(place, found.kind, shown(value), found.message, changes, "", right, shown(meant))


def _is_written_out(option: Option) -> bool:
    """Whether a value stands beside its option; a variable is there to be changed."""
    first, last = option.word.span, (option.value_word or option.word).span
    if first is None or last is None:
        return False
    written = first.source.text[first.start : last.end].translate(_BETWEEN)
    return written.split() in ([option.name, option.value], [f"{option.name}={option.value}"])


_BETWEEN = str.maketrans("", "", "'\"\\")


def no_gpu(place: Span, first: str) -> GpuFault:
    """The number 0; ``first`` is how the first GPU is requested."""
    message = "`--gpus 0` requests no GPU: 0 is a number of GPUs, not an index"
    advice = f"{first}; remove --gpus for none"
    return GpuFault(place, "no-gpu", shown("0"), message, (), advice, certain=False)


def never_written_with(character: str, launch: Launch) -> Launch:
    """A launch whose list of devices is corrected only where that takes no such character.

    Single quotation marks mean nothing on Windows, and where the runner of GitHub splits the options of a
    job container; what a backslash means where Jenkins splits them is unknown.
    """
    if not launch.gpu.device_lists:
        return launch
    lists = tuple(
        fault._replace(changes=tuple(c for c in fault.changes if not any(character in e.text for e in c.edits)))
        for fault in launch.gpu.device_lists
    )
    return launch._replace(gpu=launch.gpu._replace(device_lists=lists))


def _never_inside(character: str, launch: Launch) -> Launch:
    """A launch whose lists of devices are left alone inside of a character, which its shell takes for a letter."""
    lists = (
        fault._replace(changes=()) if fault.span.source.text[fault.span.start - 1 : fault.span.start] == character
        or fault.span.text.startswith(character) or f"={character}" in fault.span.text else fault
        for fault in launch.gpu.device_lists
    )  # fmt: skip
    return launch._replace(gpu=launch.gpu._replace(device_lists=tuple(lists)))


def for_shell(shell: Shell, launch: Launch) -> Launch:
    """A launch whose lists of devices are quoted as its shell passes quotation marks on to a program.

    The command line of Windows keeps single ones. PowerShell before 7.3 drops those inside of a word, unless
    a backslash is before them; later ones pass that on as well. Source: about_Parsing, "Passing arguments that
    contain quote characters".
    """
    gpu = launch.gpu
    if shell == "posix" or not (gpu.device_lists or gpu.invalid):
        return launch
    if shell == "cmd":
        launch = _never_inside("'", never_written_with("'", launch))
    elif shell == "pwsh":
        launch = never_written_with("\\", launch)
    faults = (fault for fault in launch.gpu.device_lists if '""' not in fault.span.text)  # two are one inside of others
    lists = tuple(fault if not fault.right else _for_shell(shell, fault) for fault in faults)
    # Older versions of PowerShell take the backslashes away, and Docker never sees them.
    invalid = tuple(fault for fault in gpu.invalid if shell == "pwsh" or '\\"' not in fault.at)
    return launch._replace(gpu=gpu._replace(device_lists=lists, invalid=invalid))


def _for_shell(shell: Shell, fault: GpuFault) -> GpuFault:
    """A list of devices, and how it is written in a shell of Windows."""
    escaped = fault.meant.replace('"', r"\"").removeprefix("--gpus ")
    if shell == "cmd":
        right = f"--gpus {escaped}"
        return fault._replace(right=right, advice=fault.advice if fault.changes else f"write {right}")
    if shell == "pwsh":
        return fault
    advice = f"{fault.right} in PowerShell 7.3 and later, --gpus '{escaped}' in earlier ones"
    if shell == "unknown":
        advice += f", --gpus {escaped} in the command line of Windows"
    return fault._replace(changes=(), right="", advice=advice)
