"""The reasons of a finding."""

from __future__ import annotations

from shmlint.model.need import Mechanism, Need
from shmlint.model.settings import Settings
from shmlint.rules import Context
from shmlint.rules.wording import why


def test_what_only_joins_the_parts_is_not_told_again() -> None:
    """In whatever order a set would hold the parts: with eight, hardly ever in theirs."""
    parts = tuple(Mechanism(f"part-{number}", None, "estimated", f"{number} ranks") for number in range(8))
    need = Need("likely", None, None, None, "; ".join(part.because for part in parts), mechanisms=parts)

    assert [reason.label for reason in why(need, Context(Settings()))] == [part.id for part in parts]
