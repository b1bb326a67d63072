"""SHM211: a container that joins an IPC namespace which is not shared."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Evidence, Finding, Fix, Reason, SetIpc
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

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
        return  # joining a container that itself joins another is allowed by the engine
    option = launch.words.ipc("shareable")
    why = Evidence("private, which is Docker's default", donor.span)
    if donor.ipc is not None:
        why = Evidence("does not share its namespace", donor.ipc.span)
    # The fix is safe if the other container sets no mode of its own.
    fix = Fix(SetIpc("shareable"), safe=donor.ipc is None, of=donor)
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.ipc.span,
        f" does not start: {donor.words.launch}, whose IPC namespace it joins, "
        "does not share it",
        launch,
        (why,),
        why=(Reason(f"`{option}` on {donor.words.launch} allows that; its size then applies to both", source=SOURCE),),
        fix=fix,
        advice=f"set `{option}` on {donor.words.launch}",
        about=launch.words.launch,
        facts=(donor.words.launch,),
    )
