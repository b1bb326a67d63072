"""Quadlet: what systemd's generator of Podman makes of a ``.container`` file is a ``podman run``.

Source: podman docs/source/markdown/podman-systemd.unit.5.md, podman pkg/systemd/quadlet/quadlet.go (ConvertContainer).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.docker.sizes import spell_docker
from shmlint.formats.shell.run import read_launch
from shmlint.model.launch import Change, Launch, ReadOnly, Rewriter, Unknown, Words
from shmlint.model.source import Edit, Source, Span
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import Places
from shmlint.syntax.systemd import Setting, Writer, settings, without_marks, words

_OPTIONS = {
    "AddCapability": "--cap-add", "AddDevice": "--device", "ContainerName": "--name", "Entrypoint": "--entrypoint",
    "Environment": "--env", "EnvironmentFile": "--env-file", "Memory": "--memory", "Mount": "--mount",
    "Network": "--network", "Pod": "--pod", "ShmSize": "--shm-size", "Tmpfs": "--tmpfs", "Ulimit": "--ulimit",
    "Volume": "--volume", "WorkingDir": "--workdir",
}  # fmt: skip
"""The options of ``podman run`` that keys become, where they say something of /dev/shm or of the program."""

DECIDING = ("Entrypoint", "Exec", "Image", "Mount", "PodmanArgs", "Pod", "ShmSize", "Tmpfs", "Volume")
"""The keys that decide what is started, and what its /dev/shm is."""

_MANY = frozenset({"AddCapability", "Environment"})
"""Keys whose values are several words, each an option of its own."""


def containers(source: Source, places: Places) -> Iterator[Launch]:
    """The container of a file, where it has one."""
    keys = [setting for setting in settings(source) if setting.section == "Container"]
    image = next((setting for setting in reversed(keys) if setting.key == "Image" and setting.text.strip()), None)
    if image is None:
        return
    writer = Writer(source, {}, places)
    writer.builder.put("podman run ")
    for setting in keys:
        if setting.key in _OPTIONS:
            _option(writer, setting, places)
    for key in ("PodmanArgs", "Image", "Exec"):
        for setting in keys:
            if setting.key == key and (key != "Image" or setting is image):
                for word in words(without_marks(setting.chars, places)):
                    writer.word(word)
    for command in commands(writer.text(image.span)):
        launch = read_launch(command)
        if launch is not None:
            yield _of_quadlet(launch, image, keys)
            return


def _option(writer: Writer, setting: Setting, places: Places) -> None:
    found = list(words(without_marks(setting.chars, places)))
    for word in found if setting.key in _MANY else found[:1]:
        if setting.key == "AddDevice" and word[0].char == "-":  # where it is there
            word = word[1:]
        writer.builder.put(f"{_OPTIONS[setting.key]} ")
        writer.word(word)


def _of_quadlet(launch: Launch, image: Setting, keys: Sequence[Setting]) -> Launch:
    source, start = image.span.source, image.span.start
    span = Span(source, start, start + len("Image"))
    text = launch.image.text if launch.image is not None else image.text.strip()
    value = launch.image
    if value is not None and text.endswith((".build", ".image")):
        value = value._replace(value=Unknown("image", f"the unit {text} gives it"), because=f"the unit {text} gives it")
    return launch._replace(
        span=span, home=span, image=value, files=(source.path,),
        words=Words("container", "ShmSize", ipc_option="PodmanArgs=--ipc={mode}", image=text),
        rewriter=QuadletRewriter(image, keys, launch.rewriter),
    )  # fmt: skip


class QuadletRewriter(ReadOnly):
    """Writes keys of the section ``[Container]``; options among ``PodmanArgs`` are changed where they are."""

    __slots__ = ("arguments", "image", "keys")

    def __init__(self, image: Setting, keys: Sequence[Setting], arguments: Rewriter) -> None:
        self.image = image
        self.keys = keys
        self.arguments = arguments

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """A ``ShmSize=`` of so many bytes, or another value of the one that is there."""
        text = spell_docker(size)
        if any(key.key == "PodmanArgs" and "--shm-size" in key.text for key in self.keys):
            return self.arguments.set_shm_size(size)
        given = self._last("ShmSize")
        if given is None or not given.chars:
            return (self._added(f"ShmSize={text}"),)
        start, end = given.chars[0][1], given.chars[-1][1] + 1
        title = f"change `ShmSize` to {text} in line {given.span.line}"
        return (Change((Edit(given.span.path, start, end, text),), title),)

    def drop_shm_size(self) -> Sequence[Change]:
        """The change that takes every size away."""
        found = [key for key in self.keys if key.key == "ShmSize"]
        if not found or any("--shm-size" in key.text for key in self.keys if key.key == "PodmanArgs"):
            return self.arguments.drop_shm_size() if not found else ()
        edits = tuple(_without(key.span) for key in found)
        return (Change(edits, f"remove ShmSize in line {found[0].span.line}"),)

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """A ``Ulimit=``, where no other of that name is there."""
        if any(key.key in ("Ulimit", "PodmanArgs") and f"{name}=" in key.text for key in self.keys):
            return ()
        return (self._added(f"Ulimit={name}={value}"),)

    def _last(self, name: str) -> Setting | None:
        return next((key for key in reversed(self.keys) if key.key == name), None)

    def _added(self, line: str) -> Change:
        """A line after the one that asks for GPUs, or the one with the image."""
        devices = [key for key in self.keys if key.key == "AddDevice" or "--gpus" in key.text]
        behind = (devices[-1] if devices else self.image).span
        indentation = behind.text[: len(behind.text) - len(behind.text.lstrip())]
        new = f"{behind.source.newline}{indentation}{line}"
        title = f"add `{line}` after line {behind.finish.line}"
        return Change((Edit(behind.path, behind.end, behind.end, new),), title)


def _without(span: Span) -> Edit:
    """The edit that takes the lines of a setting away."""
    text, end = span.source.text, span.end
    newline = text.find("\n", end)
    return Edit(span.path, span.start, newline + 1 if newline >= 0 else end, "")
