"""What the options of a ``docker run`` command say, each value with the place it is written at."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker import ipc, mounts, placeholders
from shmlint.docker.mounts import TYPES, MountRequest
from shmlint.docker.run_options import Mounts, Option, RunCommand, on_shm
from shmlint.docker.sizes import docker_size
from shmlint.model.launch import Bind, Mount, Size, Unknown, Value
from shmlint.model.source import Span


def environment_of(run: RunCommand, span: Span) -> dict[str, Value[str]]:
    """The variables that ``--env`` sets or passes on; ``span`` is for those that are written nowhere."""
    found = {}
    for name, setting in run.env().items():
        unknown = setting.value is None or setting.unknown
        value = Unknown("variable", setting.because) if unknown else setting.value or ""
        found[name] = Value(value, setting.option.word.span or span, setting.option.value or "", setting.because)
    return found


def place_of(option: Option, span: Span) -> Span:
    """Where the value of an option is written; ``span`` if it is not known."""
    if option.value_span is not None:
        return option.value_span
    word = option.value_word or option.word
    return word.span or option.word.span or span


def text_of(option: Option | None, span: Span) -> Value[str] | None:
    """The value of an option; None where it is not given, or empty."""
    if option is None or (option.value == "" and not option.unknown):
        return None
    value = Unknown("variable", option.because) if option.unknown else option.value or ""
    return Value(value, place_of(option, span), option.value or "", option.because)


def ipc_of(run: RunCommand, span: Span) -> Value[str] | None:
    """The IPC mode; in a pod the namespace is the pod's unless the container says otherwise."""
    pod = run.last("--pod") or run.last("--pod-id-file")
    if run.engine == "podman" and pod is not None and run.ipc() is None:
        return Value(Unknown("engine", "the containers of a pod share its /dev/shm"), place_of(pod, span), "")
    option = run.ipc()
    if option is None or (option.value == "" and not option.unknown):
        return None
    text = option.value or ""
    return ipc.read(text, place_of(option, span), text, option.because, varies=_varies(option))


def _varies(option: Option) -> bool:
    """Whether a variable holds the option or gives its value."""
    words = [word for word in (option.word, option.value_word) if word is not None]
    written = [word.span.text for word in words if word.span is not None]
    held = any(word.used is not None or word.array is not None for word in words)
    return held or any("$" in text or "{{" in text for text in written)


def argument_of(option: Option | None, span: Span) -> Value[tuple[str, ...]] | None:
    """The value of an option as a command of one word; the empty one takes that of the image away."""
    if option is None or option.value is None:
        return None
    return Value((option.value,) if option.value else (), place_of(option, span), option.value, option.because)


def size_of(run: RunCommand, span: Span) -> Value[Size] | None:
    """What ``--shm-size`` sets, and what nerdctl sets without it."""
    option = run.shm_size()
    if option is None:
        mode = run.ipc()
        if run.engine == "nerdctl" and mode is not None and mode.value == "shareable":  # pkg/ipcutil/ipcutil_linux.go
            because = "nerdctl gives a shareable /dev/shm without a size half of the host's memory"
            return Value(Unknown("engine", because), place_of(mode, span), "")
        return None
    place, text = place_of(option, span), option.value or ""
    if option.unknown:
        return Value(Unknown("variable", option.because), place, text, option.because)
    size = docker_size(text) if option.value is not None else Size(None, "no value follows")
    unknown = placeholders.unknown(text) if size.error else None
    if unknown is not None:
        return Value(unknown, place, text)
    if size.bytes is not None and size.bytes < 0:  # the client asks for that, and the engine refuses it
        size = Size(None, "it is too large, and becomes a negative number")
    if size.bytes == 0 and run.engine in ("podman", "nerdctl"):  # nerdctl hands it to the kernel (pkg/ipcutil)
        return Value(Unknown("engine", f"{run.engine} reads 0 as no limit"), place, text)
    return Value(size, place, text)


def bytes_of(option: Option | None, span: Span) -> Value[int] | None:
    """A limit in bytes; None where Docker refuses it."""
    if option is None:
        return None
    place, text = place_of(option, span), option.value or ""
    if option.unknown:
        return Value(Unknown("variable", option.because), place, text, option.because)
    size = docker_size(text)
    return Value(size.bytes, place, text) if size.bytes is not None else None


def mounts_of(mounted: Mounts, span: Span) -> Iterator[Mount]:
    """What is mounted on /dev/shm or over it."""
    for option, given in on_shm(mounted):
        place = place_of(option, span)
        size_span = None
        if given.size_at is not None and option.value_span is not None:
            start = option.value_span.start + given.size_at
            size_span = Span(option.value_span.source, start, start + len(given.size_text))
        options: Value[str] | None = None
        if option.name == "--tmpfs":
            text = (option.value or "").partition(":")[2]
            unknown = Unknown("variable", option.because) if option.unknown and given.size_text else None
            options = Value(unknown or text, place, text)
        size: Value[Size] | None = None
        if given.size_text:
            read: Size | Unknown = Size(given.size, given.error)
            if given.error:
                unsure = Unknown("variable", option.because) if option.unknown else None
                read = unsure or placeholders.unknown(given.size_text) or read
            size = Value(read, place, given.size_text)
        elif given.error:
            unsure = Unknown("variable", option.because) if option.unknown else None
            size = Value(unsure or Size(None, given.error), place, option.value or "")
        strange = Unknown("engine", f"Docker has no mount type `{given.type}`") if given.type not in TYPES else None
        mount = mounts.read(
            MountRequest(given.target, place, given.type, given.source, options, size, size_span, strange)
        )
        if mount is not None:
            yield mount


def binds_of(mounted: Mounts, span: Span) -> Iterator[Bind]:
    """The directories and volumes that are mounted."""
    for option, mount in mounted:
        if option.name != "--tmpfs" and mount.source and mount.target and not mount.error:
            yield Bind(mount.source, mount.path, place_of(option, span))
