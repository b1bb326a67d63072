"""Finding: what a rule says about a launch. Reports and fixes read findings only."""

from __future__ import annotations

from typing import Literal

from shmlint.model.launch import Change, Combination, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
"""From the least to the most severe."""

Basis = Literal["documented", "measured", "computed", "estimated", "chosen"]
"""What a figure rests on: a quote that holds it, a measurement, a sum whose terms are shown, an estimate that
names what it leaves out, or our own choice."""


class Evidence(NamedTuple):
    """Why we think so: a short text, where it is in a file, and who says it (a URL)."""

    text: str
    span: Span | None = None
    source: str = ""


class Reason(NamedTuple):
    """One line of why: the arithmetic or the claim, what it is about, what it rests on, and who says it (a URL)."""

    text: str
    label: str = ""
    basis: Basis | None = None
    source: str = ""


class SetSize(NamedTuple):
    """Give the launch a /dev/shm of so many bytes."""

    bytes: int


class DropSize(NamedTuple):
    """Take the size of /dev/shm away that the launch sets."""


class SetIpc(NamedTuple):
    """Give the launch an IPC mode."""

    mode: str


class MountVolume(NamedTuple):
    """Mount a memory volume of the pod on the container's /dev/shm."""

    name: str


class LeaveHostIpc(NamedTuple):
    """Take the IPC mode away and give the launch a /dev/shm of so many bytes; 0 keeps the size that is there."""

    bytes: int


class SetUlimit(NamedTuple):
    """Set a ulimit, soft and hard."""

    name: str
    value: str


class DropVariable(NamedTuple):
    """Take a variable out of the environment."""

    name: str


class RenameVariable(NamedTuple):
    """Give a variable of the environment another name."""

    name: str
    new: str


class MoveSize(NamedTuple):
    """Write a misplaced size where it is read. ``at`` names it among the launch's."""

    at: str


class QuoteDevices(NamedTuple):
    """Quote the list of devices at a place, so that it is read as a list."""

    place: Span


class CorrectGpuRequest(NamedTuple):
    """Write the refused GPU request at a place as it was meant."""

    place: Span


class CorrectMountSize(NamedTuple):
    """Write the size of the tmpfs at a place in the kernel's spelling."""

    place: Span
    bytes: int


class EditComment(NamedTuple):
    """Change a comment; it belongs to no launch."""

    change: Change


Intention = (
    SetSize | DropSize | SetIpc | MountVolume | LeaveHostIpc | SetUlimit | DropVariable | RenameVariable | MoveSize
    | QuoteDevices | CorrectGpuRequest | CorrectMountSize | EditComment
)  # fmt: skip


class Fix(NamedTuple):
    """What is to be changed, as data. ``shmlint.fixing.plan`` finds the edits."""

    intention: Intention
    safe: bool = True
    of: Launch | None = None
    """The launch that is changed, where it is not the finding's own."""
    way: int = 0
    """Which of the ways to bring it about is shown: the best, or the best that is known to prove itself."""

    @property
    def command(self) -> str:
        """What to type for it."""
        return "shmlint --fix" if self.safe else "shmlint --fix --unsafe-fixes"


class Finding(NamedTuple):
    """One thing that is wrong, where, and what to do about it."""

    rule: str
    severity: Severity
    span: Span
    says: str
    """What is wrong, as it goes on after the name of the launch: `` gets 64 MiB of /dev/shm``."""
    launch: Launch | None = None
    evidence: tuple[Evidence, ...] = ()
    why: tuple[Reason, ...] = ()
    """Why it is a fault, or how much is needed: each line with its basis and its source."""
    fix: Fix | None = None
    advice: str = ""
    """What to type where there is no fix, or where its edits cannot be written."""
    subject: str = ""
    """Which of several things a rule finds in one launch."""
    unknown_workload: bool = False
    """Nothing is known of what the launch runs: a line says so, and a size would be a guess."""
    about: str = ""
    """The name of the launch that the message begins with."""
    facts: tuple[object, ...] = ()
    """The values that the message states, with which one finding is told from another at the same place."""
    combination: Combination | None = None
    """The files with which it is so, where with others it is not."""

    @property
    def message(self) -> str:
        """What is wrong, in a sentence."""
        return f"{self.about}{self.says}{f' ({self.combination.text})' if self.combination is not None else ''}"

    @property
    def needs(self) -> str:
        """Why, in one line."""
        return "; ".join(f"{reason.label}: {reason.text}" if reason.label else reason.text for reason in self.why)

    @property
    def source(self) -> str:
        """Who says so: the first address."""
        return next((reason.source for reason in self.why if reason.source), "")


_LONG = 300
"""Characters of a word that no reader wants to see the end of."""


def readable(finding: Finding) -> Finding:
    """A finding that says what a person can take in, whatever a file calls its things."""
    said = (finding.message, finding.advice, *(r.text for r in finding.why), *(e.text for e in finding.evidence))
    if max(map(len, said)) < _LONG:
        return finding
    return finding._replace(
        says=cut(finding.says), about=cut(finding.about), advice=cut(finding.advice),
        why=tuple(r._replace(text=cut(r.text), label=cut(r.label)) for r in finding.why),
        evidence=tuple(e._replace(text=cut(e.text)) for e in finding.evidence),
    )  # fmt: skip


def cut(text: str) -> str:
    """A text with the ends of words left out that are longer than any name."""
    if len(text) < _LONG:
        return text
    words = (word if len(word) < _LONG else f"{word[: _LONG // 2]}…" for word in text.split(" "))
    return " ".join(words)[: 10 * _LONG]
