"""NCCL506: verbose NCCL logs, a log filter without effect, and PyTorch's debugging checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shmlint.model.finding import Finding, Reason
from shmlint.model.launch import Launch, Value
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.nccl import ENV_PAGE, given, removal
from shmlint.rules.wording import gpu_evidence

RULE = Rule("NCCL506", "verbose-debug", "note")

_VERBOSE = ("INFO", "TRACE")
_VARIABLES = frozenset({"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "TORCH_DISTRIBUTED_DEBUG"})
_TORCH_PAGE = "https://docs.pytorch.org/docs/2.8/distributed.html"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    environment = context.environment(launch)
    if _VARIABLES.isdisjoint(environment):
        return
    for name, message, reason in (*_log(launch, environment), *_checks(environment)):
        page = _TORCH_PAGE if name == "TORCH_DISTRIBUTED_DEBUG" else ENV_PAGE
        yield Finding(
            RULE.id,
            RULE.severity,
            environment[name].span,
            f" {message}",
            launch,
            gpu_evidence(launch),
            (Reason(reason, source=f"{page}#{name.lower().replace('_', '-')}"),),
            removal(name),
            advice=f"remove {name} where it is set",
            subject=name,
            about=launch.words.launch,
            facts=(given(environment[name]),),
        )


def _log(launch: Launch, environment: Mapping[str, Value[str]]) -> Iterator[tuple[str, str, str]]:
    """The variable of NCCL's log to remove, what it does, and the reason."""
    level = (given(environment.get("NCCL_DEBUG")) or "").upper()
    if level in _VERBOSE:
        message = f"sets NCCL_DEBUG to {level}: every rank logs how it connects"
        yield "NCCL_DEBUG", message, "WARN is enough to explain an error; INFO is for debugging"
    elif given(environment.get("NCCL_DEBUG_SUBSYS")) and _known(launch, environment.get("NCCL_DEBUG")):
        message = "sets NCCL_DEBUG_SUBSYS, which has no effect without NCCL_DEBUG=INFO"
        yield "NCCL_DEBUG_SUBSYS", message, "it filters messages of level INFO, which are switched off"


def _checks(environment: Mapping[str, Value[str]]) -> Iterator[tuple[str, str, str]]:
    """The same for PyTorch's debugging checks."""
    if (given(environment.get("TORCH_DISTRIBUTED_DEBUG")) or "").upper() == "DETAIL":
        message = "sets TORCH_DISTRIBUTED_DEBUG to DETAIL: PyTorch checks every collective of every rank"
        yield "TORCH_DISTRIBUTED_DEBUG", message, "this slows training down; use it only to debug a hang"


def _known(launch: Launch, level: Value[str] | None) -> bool:
    """Whether NCCL_DEBUG (``level``) is known not to be set to a more verbose level."""
    if level is not None:
        return level.known is not None and not level.private
    return not launch.env_files and not launch.undecided
