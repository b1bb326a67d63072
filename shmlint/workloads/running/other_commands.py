"""What a service needs for the commands that files of the repository run in it: ``docker compose run NAME …``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shmlint.model.finding import Evidence
from shmlint.model.launch import Launch, Value
from shmlint.model.need import Need
from shmlint.workloads.repository import Repository


def with_other_commands(launch: Launch, need: Need, repository: Repository, assess: Callable[[Launch], Need]) -> Need:
    """The need of a service, or that of another command which is run in it, where only that certainly needs more.

    ``assess`` tells what a launch needs.
    """
    if need.verdict == "needed":
        return need
    for other in _other_launches(launch, repository):
        found = assess(other)
        if found.verdict == "needed" and other.command is not None:
            said = Evidence("is run in the service", other.command.span)
            return found._replace(evidence=(*found.evidence, said))
    return need


def _other_launches(launch: Launch, repository: Repository) -> Iterator[Launch]:
    """The service as other commands start it; ``exec`` passes over its entrypoint."""
    from shmlint.workloads.running.entered import in_service

    seen: set[tuple[str, ...]] = set()
    for one in in_service(launch, repository, pages=True):
        if one.words not in seen and len(seen) < _MOST and not one.words[0].startswith("$"):
            seen.add(one.words)
            command = Value(one.words, one.span, " ".join(one.words))
            entrypoint = launch.entrypoint if one.starts else Value((), one.span, "")
            yield launch._replace(command=command, entrypoint=entrypoint)


_MOST = 8
"""Other commands of a service that are looked at."""
