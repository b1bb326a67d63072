"""SHM301: the host's IPC namespace instead of a /dev/shm of the container's own."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.files.cache import Key as CacheKey
from shmlint.model.finding import Evidence, Finding, Fix, LeaveHostIpc
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.model.rule import Rule
from shmlint.model.source import Span
from shmlint.rules import Context
from shmlint.rules.advice import advised
from shmlint.rules.wording import container, gpu_evidence, why

RULE = Rule("SHM301", "host-ipc", "warning", default=False)

_SHOWN = 2
"""The number of other services with the host's namespace that are shown."""


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    if not launch.gpu.requested or launch.ipc is None or launch.swarm:
        return
    if launch.effective_shm(context.settings.default_shm_size).decided_by != "host":
        return
    need = context.need(launch)
    option = launch.words.shm_option
    size = advised(launch, need, context.settings)
    sharing = context.once(_SHARING, _sharing)
    joined = _joined(launch, sharing)
    fix = None if joined else _own(launch, size)
    others = [other for other in sharing.hosts.get(launch.files, ()) if other.name != launch.name]
    too = [Evidence("also shares it", o.ipc.span) for o in others if launch.kind == "compose-service" and o.ipc]
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.ipc.span,
        f" shares the host's IPC namespace; {option} would give it "
        "a /dev/shm of its own",
        launch,
        (*gpu_evidence(launch), *too[:_SHOWN]),
        () if need.verdict == "not-needed" else why(need, context),
        fix,
        advice=_advice(launch, joined=joined),
        about=container(launch),
    )


def _advice(launch: Launch, *, joined: str) -> str:
    if joined:
        option = launch.words.shm_option
        own = f"set it to shareable and add {option}"
        return f"other containers {joined} it: {own}, unless one of them needs the host's"
    if launch.kind == "kubernetes-container":
        return f"remove `hostIPC`, and add {launch.words.shm_option}"
    return f"remove the host's namespace, and set a large enough {launch.words.shm_option}"


Key = tuple[str | None, tuple[str, ...], Span]


def _key(launch: Launch) -> Key:
    return launch.name, launch.files, launch.span


class _Sharing(NamedTuple):
    """The launches that others join, and some that use the host's namespace, by their files."""

    joined: set[Key]
    names: frozenset[str]
    """The containers that launches join by a name that is in none of their own files."""
    unnamed: frozenset[str]
    """The files with a launch that joins a container whose name is not known."""
    hosts: dict[tuple[str, ...], list[Launch]]


_SHARING: CacheKey[_Sharing] = CacheKey(RULE.id)


def _sharing(context: Context) -> _Sharing:
    hosts: dict[tuple[str, ...], list[Launch]] = {}
    names: set[str] = set()
    unnamed: set[str] = set()
    for launch in context.launches:
        mode = (launch.ipc.known or "") if launch.ipc is not None else ""
        if mode == "host":
            together = hosts.setdefault(launch.files, [])
            if len(together) <= _SHOWN:
                together.append(launch)
        elif launch.donor is None and mode.startswith(_CONTAINER):
            name = mode.removeprefix(_CONTAINER)
            if "$" in name:
                unnamed.add(launch.span.path)
            else:
                names.add(name)
    joined = {_key(launch.donor) for launch in context.launches if launch.donor is not None}
    return _Sharing(joined, frozenset(names), frozenset(unnamed), hosts)


_CONTAINER = "container:"


def _joined(launch: Launch, sharing: _Sharing) -> str:
    """Whether others join the namespace of a launch, by its name if they are in other files: `join`, `may join`.

    Compose puts the project's name before that of a service, and a number behind it.
    """
    ends = tuple(f"{mark}{launch.name}{mark}1" for mark in "-_") if launch.kind == "compose-service" else ()
    if (
        _key(launch) in sharing.joined
        or not sharing.names.isdisjoint(launch.names)
        or any(name.endswith(ends) for name in sharing.names)
    ):
        return "join"
    return "may join" if launch.span.path in sharing.unnamed else ""


def _own(launch: Launch, size: int) -> Fix | None:
    """The fix that replaces the host's /dev/shm with its own; an existing size then takes effect."""
    given = launch.shm.known if launch.shm is not None else None
    if launch.shm is not None and (given is None or given.error):
        return None
    return Fix(LeaveHostIpc(0 if given is not None and given.bytes else size), safe=False)
