"""Launch: one container start, whatever it was written in.

Formats produce launches, rules read them. Nothing here knows YAML, bash or JSON; how a launch
is rewritten is behind ``Launch.rewriter``.

Values are named tuples: a frozen dataclass takes six times as long to define, and every start
of the program pays for every definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, Literal, Protocol, TypeVar

from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit, Source, Span

DOCKER_DEFAULT_SHM = 64 * 1024 * 1024
"""/dev/shm of a container that asks for nothing, in bytes (moby daemon/config/config.go)."""

Kind = Literal["compose-service", "docker-run", "devcontainer", "ci-container", "kubernetes-container"]
Vendor = Literal["nvidia", "amd", "intel"]
Decider = Literal[
    "default", "shm_size", "tmpfs", "emptydir", "bind", "volume", "host", "donor", "none", "unknown"
]

Engine = Literal["docker", "podman", "nerdctl"]
Binary = Engine | Literal["nvidia-docker"]
ENGINES: tuple[Engine, ...] = ("docker", "podman", "nerdctl")
"""The engines whose commands are read."""
ENGINE_VARIABLES = ("container_engine", "container_runtime", "container_tool", "container_cmd", "container_cli")
"""Variables, in lower case, that hold one of them in scripts that name none."""
BINARIES: tuple[Binary, ...] = (*ENGINES, "nvidia-docker")
"""The programs that are those commands; ``nvidia-docker`` is an older one of Docker."""

T_co = TypeVar("T_co", covariant=True)

NOTHING: Mapping[str, Value[str]] = {}
NO_TEXTS: Mapping[str, Source] = {}


UnknownKind = Literal["variable", "option", "arguments", "file", "extended", "host", "runtime", "image", "engine"]
"""What would have to be known: a variable or placeholder, an option nobody knows, arguments that may hold
options, a file that is not read, the files that extend a service, the host, its default runtime, what is
in an image, what an engine makes of a value."""


class Unknown(NamedTuple):
    """A value that cannot be known statically: the kind of reason, for code, and a sentence for people.

    ``name`` is what is not known as it is written: the variable, the argument, the file.
    """

    kind: UnknownKind
    because: str
    name: str = ""


class Combination(NamedTuple):
    """The files a reading combines, where other readings of the same launch differ.

    ``together``: Compose is started with all of them. ``alone``: the one file can be started by itself, and is more
    often started with others. ``each``: each of these kustomizations builds it so.
    """

    files: tuple[str, ...]
    how: Literal["together", "alone", "each"] = "together"

    @property
    def text(self) -> str:
        """``when started with a.yml and b.yml``."""
        if self.how == "each":
            return f"when built by {self.label}"
        files = " and ".join(self.files)
        return f"when {files} is started alone" if self.how == "alone" else f"when started with {files}"

    @property
    def label(self) -> str:
        """The files, in short: kustomizations by their directories, and of many of them the first."""
        if self.how != "each":
            return " + ".join(self.files)
        directories = [file.rpartition("/")[0] or "." for file in self.files]
        more = len(directories) - _MOST_LABELS
        return ", ".join(directories[:_MOST_LABELS]) + (f" and {more} more" if more > 0 else "")


_MOST_LABELS = 3


class Value(NamedTuple, Generic[T_co]):
    """A value with the place it was written at.

    ``text`` is what the file says, ``value`` what that means, or Unknown.
    ``because`` says why a value is only partly known (an image whose tag is a variable).
    ``private`` marks a value that came out of an env file: it is used, never printed.
    ``varies`` marks an IPC mode that a variable gives, which something else may set.
    """

    value: T_co | Unknown
    span: Span
    text: str
    because: str = ""
    private: bool = False
    varies: bool = False

    @property
    def known(self) -> T_co | None:
        return None if isinstance(self.value, Unknown) else self.value

    @property
    def shown(self) -> T_co | str | None:
        """What may be printed of it: the text that is written where an env file gives the value."""
        return self.text if self.private else self.known


class Size(NamedTuple):
    """A shared-memory size as its engine reads it.

    ``bytes`` is what the engine takes (0: its default), None where it refuses the text
    (``error`` says why) or where the value is unknown.
    """

    bytes: int | None
    error: str = ""
    dropped_float: bool = False
    """An unquoted YAML float, which Compose reads as nothing at all."""
    bare_number: bool = False
    """No unit was written: the number counts bytes."""


class Mount(NamedTuple):
    """Something mounted on /dev/shm, or on /dev and so over it."""

    type: Literal["tmpfs", "emptydir", "bind", "volume"]
    """``emptydir`` is a memory volume of a pod."""
    target: str
    size: int | Unknown | None
    """Bytes; 0 is unlimited; None where the mount names no size (tmpfs: half of the host's RAM; a memory
    volume: the memory that the pod may use)."""
    span: Span
    source: str = ""
    size_error: str = ""
    """Why the kernel or Docker would refuse the size, where it would."""
    size_span: Span | None = None
    kernel_grammar: bool = False
    """The kernel reads the size, not Docker: ``--tmpfs``, Compose's short ``tmpfs``, a volume that is a tmpfs."""
    asked: int | None = None
    """Bytes that an ``emptyDir`` names. One in memory gets no more than the pod's memory limits allow."""
    private: bool = False
    """The size came out of an env file: it is used, never printed."""


class SpareVolume(NamedTuple):
    """A memory volume of a pod that a container could have on /dev/shm and does not mount.

    ``mounted_by`` are the containers that mount it; ``size`` is bytes, None where it names none.
    """

    name: str
    size: int | None
    span: Span
    mounted_by: tuple[str, ...] = ()


class Bind(NamedTuple):
    """A directory or file of the host that a container sees at ``target``.

    ``source`` is as the file writes it, variables included where they are not known; ``resolved`` where
    it is a path from the directory that the run started in.
    """

    source: str
    target: str
    span: Span
    resolved: bool = False


class Build(NamedTuple):
    """An image that a file builds: ``docker build -t tag -f dockerfile --target target context``.

    ``directory`` is what relative paths are relative to. ``dockerfile`` and ``target`` are None where
    the command does not name them; a Dockerfile is relative to the context where ``in_context``, else
    to the directory. ``args`` are the build arguments, the value None where the environment gives it.
    """

    tag: str
    context: str
    dockerfile: str | None
    target: str | None
    args: tuple[tuple[str, str | None], ...]
    span: Span
    directory: str = ""
    in_context: bool = False
    inline: Value[str] | None = None
    """The Dockerfile itself, where the file that builds has its text."""
    elsewhere: bool = False
    """The directory is not known."""


class Misplaced(NamedTuple):
    """A size written where nothing reads it. ``at`` names the place among others of the launch."""

    span: Span
    message: str
    changes: tuple[Change, ...] = ()
    """Ways to write it where it is read, the best first."""
    size: Value[Size] | None = None
    """The size the launch has after such a change."""
    arguments: tuple[str, ...] = ()
    """The arguments of the container's command that are gone after it."""
    at: str = ""
    advice: str = ""
    perhaps: bool = False
    """The program of an image that is not known may read it."""


class GpuEvidence(NamedTuple):
    """One place that asks for a GPU: ``path`` is the option or key path, ``text`` says it in words."""

    path: str
    text: str
    span: Span


class Change(NamedTuple):
    """One way to bring about an intended change: edits, and what they do in words."""

    edits: tuple[Edit, ...]
    title: str


GpuFaultKind = Literal[
    "no-value", "type", "both", "count", "unknown-key", "no-capabilities", "repeated", "numbers",
    "one-word", "misspelt", "refused", "refused-by-engine", "quotes", "device-list", "counts", "no-gpu",
]  # fmt: skip
"""No value, one of another type, a count beside devices, no count, a key that is not known, no capabilities, a value
twice, devices that are numbers; an option and its value in one word, another name of the option, a value that the
client or the engine refuses, quotation marks that nothing removes, devices read as a count, several counts, the count
0."""


class GpuFault(NamedTuple):
    """A request that does not mean what it seems to: why, and how it is put right.

    ``at`` names it among others of the launch: the key path, or the option as it is written.
    """

    span: Span
    kind: GpuFaultKind
    at: str
    message: str
    changes: tuple[Change, ...] = ()
    advice: str = ""
    right: str = ""
    """How it is written right, in the syntax at hand; empty where that is not what is wrong."""
    meant: str = ""
    """The request as it was meant and as its evidence has it, where that is clear."""
    certain: bool = True
    """Whether nobody can mean what it says."""


class GpuRequest(NamedTuple):
    """What a launch asks of the host's GPUs.

    ``requested`` is None where it depends on something ``unknown``.
    ``number`` is how many: None where no GPU is asked for, and where it is unknown how many.
    """

    requested: bool | None = False
    vendor: Vendor | None = None
    number: int | Literal["all"] | None = None
    evidence: tuple[GpuEvidence, ...] = ()
    unknown: Unknown | None = None
    """Why a request may be missing."""
    optional: bool = False
    device_lists: tuple[GpuFault, ...] = ()
    """Lists of devices that are not read as one."""
    accelerator: str = ""
    """The name of the kind of GPU; empty where none is named."""
    invalid: tuple[GpuFault, ...] = ()
    """Requests that the engine or Compose refuses."""
    in_branches: bool = False
    """Whether a script makes them in some of its branches only, or gives them to a program that may run the words."""


class Rewriter(Protocol):
    """How a launch is rewritten, in its own syntax. Alternatives come best first; none: it cannot be."""

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Changes that give the launch a /dev/shm of ``size`` bytes."""

    def drop_shm_size(self) -> Sequence[Change]:
        """Changes that take the size of the launch's /dev/shm away."""

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """Changes that give the launch an IPC mode; an empty one takes it away."""

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """Changes that set a ulimit, soft and hard."""

    def mount_volume(self, name: str) -> Sequence[Change]:
        """Changes that mount a memory volume of the pod on /dev/shm."""

    def drop_variable(self, name: str) -> Sequence[Change]:
        """Changes that take a variable out of the launch's environment."""

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """Changes that give a variable of the launch's environment another name."""


class ReadOnly:
    """A rewriter for what cannot be rewritten, and the ground for those that can do only some of it."""

    __slots__ = ()

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """None."""
        return ()

    def drop_shm_size(self) -> Sequence[Change]:
        """None."""
        return ()

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """None."""
        return ()

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """None."""
        return ()

    def mount_volume(self, name: str) -> Sequence[Change]:
        """None."""
        return ()

    def drop_variable(self, name: str) -> Sequence[Change]:
        """None."""
        return ()

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """None."""
        return ()


JOINING = ("container:", "service:")
"""What the IPC modes begin with that join the namespace of another container."""


class Words(NamedTuple):
    """How to talk about a launch in the terms of what it was written in."""

    start: str
    """``service `trainer```, ``docker run``, …"""
    shm_option: str
    """``shm_size``, ``--shm-size``"""
    by_hand: str = ""
    """What to do where nothing can be rewritten; ``{size}`` stands for the size."""
    ipc_option: str = "--ipc={mode}"
    """How an IPC mode is written."""
    image: str = ""
    """What a launch is told apart by that has no name of its own."""

    @property
    def launch(self) -> str:
        """The launch in a sentence: ``docker run` of IMAGE``."""
        return f"{self.start} of {self.image}" if self.image else self.start

    def ipc(self, mode: str) -> str:
        """``--ipc=host``, ``ipc: host``"""
        return self.ipc_option.format(mode=mode)


class Effective(NamedTuple):
    """What /dev/shm becomes: ``bytes`` is None where the host or something unknown decides.

    ``unlimited`` is a tmpfs without a limit of its own.
    """

    decided_by: Decider
    bytes: int | None
    span: Span | None = None
    because: str = ""
    private: bool = False
    """The size came out of an env file: it is used, never printed."""

    @property
    def shown(self) -> int | None:
        """The bytes that may be printed."""
        return None if self.private else self.bytes


class Launch(NamedTuple):
    """One container start and everything that decides its /dev/shm."""

    kind: Kind
    name: str | None
    span: Span
    """Where it starts in the first file that writes it: the service's key, the command's first word."""
    home: Span
    """Where what it lacks is to be reported: next to what requests the GPU."""
    words: Words
    rewriter: Rewriter
    files: tuple[str, ...] = ()
    also_at: tuple[Span, ...] = ()
    """The keys of a service in other files, whose comments speak of it, too."""
    image: Value[str] | None = None
    names: tuple[str, ...] = ()
    """What people call it: the service, the container, the project."""
    base_images: tuple[Value[str], ...] = ()
    """FROM of the Dockerfile that builds the image, the nearest first."""
    built_from: str = ""
    """The directory that the image is built from, where that is known."""
    build: Build | None = None
    """The build that gives the image, where the launch itself says so."""
    binds: tuple[Bind, ...] = ()
    volumes_from: tuple[Value[str], ...] = ()
    """The containers or services whose volumes it sees at the same paths, which are not read: ``data``, ``data:ro``."""
    texts: Mapping[str, Source] = NO_TEXTS
    """Texts that binds lead to and that are no files of the repository, by their paths."""
    workdir: Value[str] | None = None
    """The working directory, where the launch sets one."""
    interactive: bool = False
    """It is given a terminal or an open standard input."""
    entrypoint: Value[tuple[str, ...]] | None = None
    command: Value[tuple[str, ...]] | None = None
    gpu: GpuRequest = GpuRequest()
    shm: Value[Size] | None = None
    ipc: Value[str] | None = None
    donor: Launch | None = None
    """The launch whose IPC namespace this one joins, where it is known."""
    mounts: tuple[Mount, ...] = ()
    build_shm: Value[Size] | None = None
    memory_limit: Value[int] | None = None
    memory_request: Value[int] | None = None
    """The memory that a pod's container asks for, against which a scheduler places it."""
    spare_volume: SpareVolume | None = None
    environment: Mapping[str, Value[str]] = NOTHING
    env_files: bool = False
    """Files that are not read here set more variables."""
    ulimits: Mapping[str, Value[str]] = NOTHING
    cap_add: tuple[str, ...] = ()
    privileged: bool | None = False
    """None where it is not known."""
    devices: tuple[Value[str], ...] = ()
    """Devices of the host that are passed in, by their path on the host or their CDI name."""
    network: Value[str] | None = None
    """The network mode: ``host``, ``none``, ``container:…``, or the name of a network."""
    engine: Engine = "docker"
    """The engine that starts it."""
    swarm: str = ""
    """Why it is taken to be started by ``docker stack deploy``, which drops ``shm_size`` and ``ipc``."""
    misplaced: tuple[Misplaced, ...] = ()
    """Sizes written where nothing reads them."""
    other_options: tuple[tuple[str, str | None], ...] = ()
    """The options of its command that nothing else here tells of, with their values."""
    section: int | None = None
    """The number of the section of the page that shows it; None where no page does."""
    remedies: tuple[str, ...] = ()
    """What the sentences around it on that page name: more shared memory, ``--ipc=host``, or the error without it."""
    undecided: Unknown | None = None
    """Why nothing may be concluded from what is *absent* here: a base file or an argument array
    that is not known could hold it."""
    combination: Combination | None = None

    @property
    def podman(self) -> bool:
        """Whether Podman starts it."""
        return self.engine == "podman"

    @property
    def first_file(self) -> str:
        """The file whose settings hold: of the compose files that start a service together, the first."""
        return self.files[0] if self.kind == "compose-service" and self.files else self.span.path

    def drops(self, mount: Mount) -> bool:
        """Whether a mount is not passed on: a stack's short ``tmpfs``, which is of no volume."""
        return bool(self.swarm) and mount.kernel_grammar and not mount.source

    def effective_shm(self, default: int = DOCKER_DEFAULT_SHM) -> Effective:
        """Which of mount, ipc, size and default decides, and how many bytes that gives.

        The order was measured on a real engine: a user mount on /dev/shm or /dev, ipc host,
        ipc container/service (the donor's), ipc none, shm_size (0 is the default), default.
        Of these ``docker stack deploy`` passes on nothing but mounts.
        """
        decided = _by_mount(self)
        if decided is None and not self.swarm:
            decided = _by_ipc(self, default) or _by_size(self)
        if decided is not None:
            return decided
        if self.undecided:
            return Effective("unknown", None, None, self.undecided.because)
        return Effective("default", default)


def _by_mount(launch: Launch) -> Effective | None:
    mount = deciding_mount(launch)
    if mount is None:
        return None
    if mount.size_error:
        return Effective(mount.type, None, mount.span, mount.size_error)
    if isinstance(mount.size, Unknown):
        return Effective(mount.type, None, mount.span, mount.size.because)
    return Effective(mount.type, mount.size or None, mount.span, private=mount.private)


def deciding_mount(launch: Launch) -> Mount | None:
    """Of the mounts of a launch on /dev/shm and /dev the one that gives it its /dev/shm."""
    targets = ["/dev/shm", "/dev"]
    if launch.ipc is not None and launch.ipc.known == "shareable" and not launch.swarm:
        targets.pop()  # the engine mounts a shareable /dev/shm of its own over a user's /dev
    for target in targets:
        mount = next((m for m in reversed(launch.mounts) if m.target == target and not launch.drops(m)), None)
        if mount is not None:
            return mount
    return None


def _by_ipc(launch: Launch, default: int) -> Effective | None:
    if launch.ipc is None:
        return None
    mode, span = launch.ipc.value, launch.ipc.span
    if isinstance(mode, Unknown):
        return Effective("unknown", None, span, mode.because)
    if mode == "host":
        return Effective("host", None, span)
    if mode == "none":
        return Effective("none", 0, span)
    if not mode.startswith(JOINING):
        refused = mode not in ("", "private", "shareable")
        return Effective("unknown", None, span, f"`{launch.ipc.shown}` is not an IPC mode") if refused else None
    if launch.donor is None:
        because = launch.ipc.because
        missing = f"does not say which container: {because}" if because else "is not in these files"
        return Effective("donor", None, span, f"`{launch.ipc.text}` {missing}")
    given = launch.donor.effective_shm(default)
    return Effective("donor", given.bytes, span, given.because, given.private)


def _by_size(launch: Launch) -> Effective | None:
    if launch.shm is None:
        return None
    size, span = launch.shm.value, launch.shm.span
    if isinstance(size, Unknown):
        return Effective("unknown", None, span, size.because)
    if size.bytes:
        return Effective("shm_size", size.bytes, span, private=launch.shm.private)
    return Effective("unknown", None, span, size.error) if size.error else None


def is_replaced(launch: Launch, by: Span) -> bool:
    """Whether what takes the place of a service's size is in a later file, which changes the service on purpose."""
    size = launch.shm.span if launch.shm is not None else by
    files = list(launch.files)
    if launch.kind != "compose-service" or size.path not in files or by.path not in files:
        return False
    return files.index(by.path) > files.index(size.path)


def mounts_hosts_shm(launch: Launch) -> bool:
    """Whether the mount that gives a launch its /dev/shm is of the host's own."""
    mount = deciding_mount(launch)
    return mount is not None and mount.type == "bind" and mount.source == mount.target
