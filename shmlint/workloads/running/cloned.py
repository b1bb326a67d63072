"""Programs that the build of an image fetches from a repository whose program is known."""

from __future__ import annotations

import posixpath
import re

from shmlint.model.finding import Evidence
from shmlint.model.need import Need
from shmlint.model.source import Span
from shmlint.workloads.knowledge import Workload, builtin
from shmlint.workloads.program import Program


def cloned(program: Program) -> Need | None:
    """What is known of a program that the build fetches; None where it needs shared memory, or is not known.

    A fork keeps the repository's name. What is cloned besides, an extension for example, is not what is started.
    """
    if program.image is None or program.dockerfile is None or program.namesake:
        return None
    telling = [ran for ran in program.commands if ran.kind == "program"]
    started = {posixpath.basename(word) for ran in telling for word in ran.words[:3]}
    for text, line in program.image.runs:
        for name in re.findall(_FETCHED, text):
            workload = _known(name.lower(), started)
            if workload is None:
                continue
            used = workload.used_by([ran.words for ran in telling])
            if used.needs != "no":
                return None
            told = Evidence(f"fetches {name}", Span(program.dockerfile, *program.dockerfile.line_span(line)))
            return Need("not-needed", None, None, workload.known, used.because, used.source, (told,))
    return None


def _known(repository: str, started: set[str]) -> Workload | None:
    for workload in builtin():
        clones = workload.entry.get("clones")
        if clones is not None and repository in clones["repositories"] and not started.isdisjoint(clones["programs"]):
            return workload
    return None


_FETCHED = (
    r"\b(?:git\s+clone|wget|curl)\b[^;&|\n]{0,500}?https://(?:raw\.)?github(?:usercontent)?\.com/[\w.-]+/"
    r"""([\w.-]+?)(?:\.git)?(?=[\s"'/;&]|$)"""
)
"""A repository that a command clones, or of which it fetches a file."""
