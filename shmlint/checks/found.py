"""What checks find out about launches."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.model.finding import Finding
from shmlint.model.need import Need
from shmlint.model.record import NamedTuple


class Checked(NamedTuple):
    """What was found out about some launches."""

    findings: Sequence[Finding]
    needs: Sequence[tuple[int, Need]] = ()
    """What launches need that was asked for, with the numbers of the launches."""
