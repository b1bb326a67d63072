"""NCCL503: InfiniBand is passed in and switched off."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Evidence, Finding, Reason
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.nccl import ENV_PAGE, infiniband, is_on, removal
from shmlint.rules.wording import gpu_evidence

RULE = Rule("NCCL503", "infiniband-contradiction", "warning")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    variable = context.environment(launch).get("NCCL_IB_DISABLE")
    if variable is None or not launch.devices:
        return

    device = infiniband(launch)
    if device is None or not is_on(variable):
        return
    yield Finding(
        RULE.id,
        RULE.severity,
        variable.span,
        " passes /dev/infiniband and sets NCCL_IB_DISABLE: "
        "NCCL uses TCP sockets instead",
        launch,
        (*gpu_evidence(launch), Evidence("InfiniBand is passed in here", device.span)),
        (Reason("NCCL does not use the devices while the variable is set", source=f"{ENV_PAGE}#nccl-ib-disable"),),
        removal("NCCL_IB_DISABLE"),
        advice="remove the variable; or remove the devices if nothing else uses them",
        subject="NCCL_IB_DISABLE",
        about=launch.words.launch,
    )
