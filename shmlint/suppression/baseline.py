"""Baselines: files that name the findings a project lives with for now."""

from __future__ import annotations

import json
from collections.abc import Sequence

from shmlint.model.finding import Finding
from shmlint.suppression.fingerprint import fingerprints


class InvalidBaseline(Exception):
    """A baseline cannot be used: file and reason in one line."""


def read(path: str) -> frozenset[str]:
    """The fingerprints of the findings that are accepted. Raises InvalidBaseline."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise InvalidBaseline(f"{path}: {error.strerror}") from None
    except ValueError:
        raise InvalidBaseline(f"{path}: not a baseline: not JSON") from None
    if not isinstance(data, dict) or data.get("version") != 1 or not isinstance(data.get("findings"), list):
        raise InvalidBaseline(f"{path}: not a baseline that this version of shmlint reads")
    found = [entry.get("fingerprint") for entry in data["findings"] if isinstance(entry, dict)]
    return frozenset(name for name in found if isinstance(name, str))


def render(findings: Sequence[Finding]) -> str:
    """The text of a baseline that accepts some findings. What a person reads in it is for a person only."""
    entries = [
        {"rule": finding.rule, "path": finding.span.path, "message": finding.message, "fingerprint": name}
        for finding, name in zip(findings, fingerprints(findings), strict=True)
    ]
    return json.dumps({"version": 1, "findings": entries}, indent=2, ensure_ascii=False) + "\n"
