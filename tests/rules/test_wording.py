"""The reasons of a finding."""

from __future__ import annotations

from pathlib import Path

from shmlint.model.need import Mechanism, Need
from shmlint.model.settings import Settings
from shmlint.rules import Context
from shmlint.rules.wording import why
from tests.project import findings


def test_what_the_parts_say_themselves_is_not_told_again() -> None:
    parts = tuple(Mechanism(f"part-{number}", None, "estimated", f"{number} ranks") for number in range(3))
    need = Need("likely", mechanisms=parts)

    assert need.because == "0 ranks; 1 ranks; 2 ranks"
    assert [reason.label for reason in why(need, Context(Settings()))] == [part.id for part in parts]

    more = need._replace(why="its maintainers ask for it")
    assert more.because == "its maintainers ask for it"
    assert [reason.label for reason in why(more, Context(Settings()))] == [*(part.id for part in parts), "reason"]


def test_what_a_container_is_given_elsewhere_is_not_called_computed(tmp_path: Path) -> None:
    start = "docker run --gpus all --name fit {} nvcr.io/nvidia/pytorch:24.01-py3 bash\n"
    files = {"run.sh": start.format(""), "large.sh": start.format("--shm-size=48g")}
    (found,) = findings(tmp_path, files)
    advised = next(reason for reason in found.why if reason.label == "advised")
    assert (advised.text, advised.basis) == ("64 GiB, for what the repository gives the same container elsewhere", None)
