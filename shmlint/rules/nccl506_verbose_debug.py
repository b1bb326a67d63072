"""NCCL506: NCCL's log turned up, or filtered without being turned up."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context, gpu_evidence, when

RULE = Rule("NCCL506", "verbose-debug", "note")

_VERBOSE = ("INFO", "TRACE")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    level = launch.environment.get("NCCL_DEBUG")
    subsystems = launch.environment.get("NCCL_DEBUG_SUBSYS")
    if level is None and subsystems is None:
        return
    from shmlint.rules.nccl import ENV_PAGE, given, removal

    text = (given(launch, "NCCL_DEBUG") or "").upper()
    if text in _VERBOSE and level is not None:
        name, span = "NCCL_DEBUG", level.span
        message = f"sets NCCL_DEBUG to {text}: every rank logs how it connects"
        needs = "WARN prints what explains an error; INFO is for finding one"
    elif subsystems is not None and given(launch, "NCCL_DEBUG_SUBSYS") and _known(launch):
        name, span = "NCCL_DEBUG_SUBSYS", subsystems.span
        message = "sets NCCL_DEBUG_SUBSYS, which does nothing without NCCL_DEBUG=INFO"
        needs = "it chooses among the messages of INFO, and those are off"
    else:
        return
    yield Finding(
        RULE.id,
        RULE.severity,
        span,
        f"{launch.words.launch} {message}{when(launch)}",
        launch,
        gpu_evidence(launch),
        needs,
        removal(name),
        advice=f"remove {name} where it is set",
        source=f"{ENV_PAGE}#{name.lower().replace('_', '-')}",
        subject=name,
    )


def _known(launch: Launch) -> bool:
    """Whether NCCL_DEBUG is known not to be set any higher."""
    level = launch.environment.get("NCCL_DEBUG")
    if level is not None:
        return level.known is not None and not level.private
    return not launch.env_files and not launch.undecided
