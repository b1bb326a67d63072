"""NCCL505: a PyTorch variable under its former name, which looks like one of NCCL's."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, Reason, RenameVariable
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.nccl import removal
from shmlint.rules.wording import gpu_evidence

RULE = Rule("NCCL505", "renamed-variable", "note")

RENAMED = frozenset({"NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT", "NCCL_DESYNC_DEBUG"})
"""Former names that torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp accepts; the new names begin with ``TORCH_``."""

_SOURCE = "https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    environment = context.environment(launch)
    for name, value in environment.items():
        if name not in RENAMED or value.private:
            continue

        new = f"TORCH_{name}"
        both = new in environment
        yield Finding(
            RULE.id,
            RULE.severity,
            value.span,
            f" sets {name}, which is called {new} since PyTorch 2.2",
            launch,
            gpu_evidence(launch),
            (Reason("PyTorch reads this variable; NCCL does not", source=_SOURCE),),
            removal(name) if both else Fix(RenameVariable(name, new), safe=False),
            advice=f"remove it: {new} is also set" if both else f"rename it to {new}",
            subject=name,
            about=launch.words.launch,
        )
