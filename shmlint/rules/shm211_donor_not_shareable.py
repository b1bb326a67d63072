"""SHM211: an IPC namespace to join that its owner keeps to itself."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Evidence, Finding, Fix, Reason, SetIpc
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.wording import when

RULE = Rule("SHM211", "donor-not-shareable", "error")

SOURCE = "https://github.com/moby/moby/blob/b985e23/daemon/container_operations_unix.go#L168"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    donor = launch.donor
    if donor is None or launch.ipc is None or context.podman(launch):
        return  # Podman shares by default
    if launch.swarm or launch.undecided or donor.undecided:
        return
    mode = donor.ipc.value if donor.ipc is not None else ""
    if mode not in ("", "private", "none"):
        return  # of a container that joins another its joiners get that other's; the engine allows it
    option = launch.words.ipc("shareable")
    why = Evidence("private, as Docker's default is", donor.span)
    if donor.ipc is not None:
        why = Evidence("keeps its own to itself", donor.ipc.span)
    # Where the donor says nothing, being joined is all that is known to be wanted of it.
    fix = Fix(SetIpc("shareable"), safe=donor.ipc is None, of=donor)
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.ipc.span,
        f"{launch.words.launch} does not start: {donor.words.launch}, whose IPC namespace it joins, "
        f"does not share it{when(launch)}",
        launch,
        (why,),
        why=(Reason(f"`{option}` at {donor.words.launch} lets it join; its size counts for both", source=SOURCE),),
        fix=fix,
        advice=f"set `{option}` at {donor.words.launch}",
    )
