"""Need: what a launch's program will put into /dev/shm, how sure that is, and what it rests on."""

from __future__ import annotations

from typing import Literal

from shmlint.model.finding import Basis, Evidence
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span

Verdict = Literal["needed", "likely", "unknown", "not-needed"]
"""``needed``: a mechanism is used and the sum exceeds what there is, or the maintainers say so of this use.
``likely``: a mechanism is there, and the amount or the use is not known. ``unknown``: nothing is known of
what runs. ``not-needed``: what runs was read to its end, or its maintainers say so."""

UNKNOWN_MINIMUM = 512 * 1024 * 1024
"""Bytes; below this DeepSpeed's own report warns, and nothing better is known of a workload."""
UNKNOWN_MINIMUM_SOURCE = "https://github.com/deepspeedai/DeepSpeed/blob/edaa72212/deepspeed/env_report.py#L113-L115"
UNKNOWN_RECOMMENDED = 1024 * 1024 * 1024
"""Bytes; what NVIDIA's NCCL user guide sets for containers."""
BATCHES_RECOMMENDED = 8 * UNKNOWN_RECOMMENDED
"""Bytes, our choice: room for the batches of DataLoader workers, where their size is not known."""


class Mechanism(NamedTuple):
    """One thing that fills /dev/shm: ``bytes`` is None where the amount is not known."""

    id: str
    bytes: int | None
    basis: Basis
    because: str
    evidence: tuple[Evidence, ...] = ()
    source: str = ""
    doubt: str = ""
    """Why it is not sure that so much is used."""
    times: int = 1
    """How many processes have as much, where the amount is not known: the ranks that have workers of their own."""


class Step(NamedTuple):
    """One step of the way from a launch to what runs: what was followed, and where that is."""

    text: str
    span: Span | None = None
    package: bool = False
    """A package that nobody knows was imported, and only its code was not read."""


class Known(NamedTuple):
    """The knowledge base entry that a need is based on."""

    id: str
    name: str


class Need(NamedTuple):
    """The answer for one launch. ``minimum`` and ``recommended`` are bytes."""

    verdict: Verdict
    minimum: int | None = None
    recommended: int | None = None
    workload: Known | None = None
    why: str = ""
    """What its mechanisms do not say themselves."""
    source: str = ""
    evidence: tuple[Evidence, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()
    trail: tuple[Step, ...] = ()
    """How the program was found."""
    stopped: str = ""
    """Where resolution stopped and why; empty where the program was read to its end."""
    looks: bool = False
    """The command only looks at something."""
    given: bool = False
    """The advised size is what the repository gives the same container elsewhere."""

    @property
    def because(self) -> str:
        """Why, in one line."""
        return self.why or "; ".join(mechanism.because for mechanism in self.mechanisms)

    @property
    def total(self) -> int:
        """The sum of the mechanisms in bytes; 0 where one of them is not known."""
        return self.known if all(mechanism.bytes for mechanism in self.mechanisms) else 0

    @property
    def known(self) -> int:
        """The sum in bytes of those mechanisms of which it is known."""
        return sum(mechanism.bytes or 0 for mechanism in self.mechanisms)

    @property
    def times(self) -> int:
        """How many processes have what is not known of the mechanisms; 1 where all is known."""
        return max((mechanism.times for mechanism in self.mechanisms if mechanism.bytes is None), default=1)

    @property
    def batches_unknown(self) -> bool:
        """Whether there are DataLoader workers whose batches are of a size that is not known."""
        return any(mechanism.id == "dataloader" and mechanism.bytes is None for mechanism in self.mechanisms)

    @property
    def is_our_choice(self) -> bool:
        """Whether the advised size rests on nothing but our choice: that of a shell, or of batches of unknown size."""
        chosen = self.workload is None and not self.given and self.recommended == BATCHES_RECOMMENDED
        return chosen and (self.batches_unknown or not self.mechanisms)

    @property
    def floor(self) -> int:
        """The least that is not too small, in bytes: what is documented or computed, else the sum, else our choice."""
        if self.minimum is not None:
            return self.minimum
        return self.total or max(self.known, min(UNKNOWN_MINIMUM, self.recommended or UNKNOWN_MINIMUM))
