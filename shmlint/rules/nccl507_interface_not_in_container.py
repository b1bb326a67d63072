"""NCCL507: NCCL or Gloo is set to use a host interface that the container's network does not have."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Evidence, Finding, Reason
from shmlint.model.launch import Launch, Value
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.nccl import given
from shmlint.rules.wording import gpu_evidence

RULE = Rule("NCCL507", "interface-not-in-container", "note")

_SOURCES = {
    "NCCL_SOCKET_IFNAME": "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname",
    "GLOO_SOCKET_IFNAME": "https://docs.pytorch.org/docs/2.8/distributed.html#choosing-the-network-interface-to-use",
}
_OF_HOSTS = ("bond", "br-", "br0", "docker", "em", "en", "hsn", "ib", "roce", "rocep", "team", "veth", "virbr", "wl")
"""Prefixes of host interface names: those of systemd and biosdevname, IPoIB, bonds, bridges."""


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if launch.undecided or launch.swarm:
        return
    for variable, source in _SOURCES.items():
        value = context.environment(launch).get(variable)
        if value is not None:
            yield from _check(launch, context, variable, value, source)


def _check(launch: Launch, context: Context, variable: str, value: Value[str], source: str) -> Iterator[Finding]:
    names = _wanted(given(value) or "")
    if not names or not all(name.startswith(_OF_HOSTS) for name in names) or not _own_network(launch, context):
        return
    network = launch.network
    evidence = [*gpu_evidence(launch)]
    if network is not None:
        evidence.append(Evidence("its network", network.span))
    yield Finding(
        RULE.id,
        RULE.severity,
        value.span,
        f" sets {variable} to {value.known}, a network interface of the host, "
        "but its own network has only eth0 and lo",
        launch,
        tuple(evidence),
        (Reason("a container has eth0 and lo; with host networking it has the host's interfaces", source=source),),
        advice="remove the variable, or use host networking if the container talks to other machines",
        subject=variable,
        about=launch.words.launch,
        facts=(value.known,),
    )


def _wanted(text: str) -> list[str]:
    """The interfaces (or prefixes) that a value selects; none if it is a list of excluded ones."""
    if len(text) < 2 or text.startswith("^"):  # a single character is ignored (src/misc/socket.cc)
        return []
    return [name for name in text.removeprefix("=").split(",") if name]


def _own_network(launch: Launch, context: Context) -> bool:
    """Whether the container has its own network, whose interfaces the engine names eth0, eth1, …

    Podman (pasta) may use the host's names there, so its networks do not count.
    """
    if context.podman(launch):
        return False
    if launch.network is None:
        return True
    mode = launch.network.known
    return mode is not None and mode != "host" and not mode.startswith(("container:", "service:", "ns:"))
