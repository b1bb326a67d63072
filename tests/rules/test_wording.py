"""The reasons of a finding."""

from __future__ import annotations

from shmlint.model.need import Mechanism, Need
from shmlint.model.settings import Settings
from shmlint.rules import Context
from shmlint.rules.wording import why


def test_what_the_parts_say_themselves_is_not_told_again() -> None:
    parts = tuple(Mechanism(f"part-{number}", None, "estimated", f"{number} ranks") for number in range(3))
    need = Need("likely", mechanisms=parts)

    assert need.because == "0 ranks; 1 ranks; 2 ranks"
    assert [reason.label for reason in why(need, Context(Settings()))] == [part.id for part in parts]

    more = need._replace(why="its maintainers ask for it")
    assert more.because == "its maintainers ask for it"
    assert [reason.label for reason in why(more, Context(Settings()))] == [*(part.id for part in parts), "reason"]
