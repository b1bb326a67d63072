"""SHM210: a size where nothing reads it."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.checks import Context
from shmlint.finding import Finding
from shmlint.launch import Launch
from shmlint.rules import Rule

RULE = Rule("SHM210", "misplaced-shm-size", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    for problem in launch.misplaced:
        yield Finding(
            RULE.id,
            RULE.severity,
            problem.span,
            f"{launch.words.launch}: {problem.message}",
            launch,
            advice=f"set `{launch.words.shm_option}` where the container is described, and delete this",
        )
