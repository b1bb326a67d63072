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
    joined, hosts = context.once(_SHARING, _sharing)
    fix = None if _key(launch) in joined else _own(launch, size)
    others = [other for other in hosts.get(launch.files, ()) if other.name != launch.name]
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
        advice=_advice(launch, joined=_key(launch) in joined),
        about=container(launch),
    )


def _advice(launch: Launch, *, joined: bool) -> str:
    if joined:
        option = launch.words.shm_option
        return f"other containers join it: set it to shareable and add {option}, unless one of them needs the host's"
    if launch.kind == "kubernetes-container":
        return f"remove `hostIPC`, and add {launch.words.shm_option}"
    return f"remove the host's namespace, and set a large enough {launch.words.shm_option}"


Key = tuple[str | None, tuple[str, ...], Span]


def _key(launch: Launch) -> Key:
    return launch.name, launch.files, launch.span


class _Sharing(NamedTuple):
    """The launches that others join, and some that use the host's namespace, by their files."""

    joined: set[Key]
    hosts: dict[tuple[str, ...], list[Launch]]


_SHARING: CacheKey[_Sharing] = CacheKey(RULE.id)


def _sharing(context: Context) -> _Sharing:
    hosts: dict[tuple[str, ...], list[Launch]] = {}
    for launch in context.launches:
        if launch.ipc is not None and launch.ipc.known == "host":
            together = hosts.setdefault(launch.files, [])
            if len(together) <= _SHOWN:
                together.append(launch)
    return _Sharing({_key(launch.donor) for launch in context.launches if launch.donor is not None}, hosts)


def _own(launch: Launch, size: int) -> Fix | None:
    """The fix that replaces the host's /dev/shm with its own; an existing size then takes effect."""
    given = launch.shm.known if launch.shm is not None else None
    if launch.shm is not None and (given is None or given.error):
        return None
    return Fix(LeaveHostIpc(0 if given is not None and given.bytes else size), safe=False)
