"""Baselines: files that name the findings a project lives with for now."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from shmlint.files.read import reason
from shmlint.model.finding import Finding
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Accepted
from shmlint.suppression.fingerprint import fingerprints


class InvalidBaseline(Exception):
    """A baseline cannot be used: file and reason in one line."""


class Compared(NamedTuple):
    """Findings against a baseline: the new ones, those that are accepted, and the entries that accept nothing."""

    findings: list[Finding]
    accepted: list[Finding]
    dead: list[Accepted]


def compare(findings: Sequence[Finding], baseline: Sequence[Accepted], judged: Callable[[Accepted], bool]) -> Compared:
    """Take out the findings that a baseline accepts.

    An entry is dead where it accepts none and the run ``judged`` what it is about.
    """
    known = {entry.fingerprint for entry in baseline}
    compared = Compared([], [], [])
    seen = set()
    for finding, fingerprint in zip(findings, fingerprints(findings), strict=True):
        if fingerprint in known:
            seen.add(fingerprint)
            compared.accepted.append(finding)
        else:
            compared.findings.append(finding)
    compared.dead.extend(entry for entry in baseline if entry.fingerprint not in seen and judged(entry))
    return compared


def read(path: str) -> tuple[Accepted, ...]:
    """The findings that a baseline accepts. Raises InvalidBaseline."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise InvalidBaseline(f"{path}: {reason(error)}") from None
    except ValueError:
        raise InvalidBaseline(f"{path}: not a baseline: not JSON") from None
    if not isinstance(data, dict) or data.get("version") != 1 or not isinstance(data.get("findings"), list):
        raise InvalidBaseline(f"{path}: not a baseline that this version of shmlint reads")
    entries = (entry for entry in data["findings"] if isinstance(entry, dict))
    return tuple(
        Accepted(entry["fingerprint"], *(str(entry.get(key, "")) for key in ("rule", "path", "message")))
        for entry in entries
        if isinstance(entry.get("fingerprint"), str)
    )


def render(findings: Sequence[Finding]) -> str:
    """The text of a baseline that accepts some findings. Of an entry only the fingerprint counts."""
    entries = [
        {"rule": finding.rule, "path": finding.span.path, "message": finding.message, "fingerprint": name}
        for finding, name in zip(findings, fingerprints(findings), strict=True)
    ]
    return json.dumps({"version": 1, "findings": entries}, indent=2, ensure_ascii=False) + "\n"
