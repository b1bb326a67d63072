"""``--add-ignore``: write a suppressing comment for every finding of a run."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.fixing.prove import unchanged
from shmlint.formats import REFERRED, ignore_comment, kind_by_path
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Edit
from shmlint.run import Run


class Added(NamedTuple):
    """What writing comments came to: new texts by path, and the findings they are for and are not for."""

    texts: dict[str, str]
    suppressed: list[Finding]
    left: list[Finding]


def add(run: Run, reason: str) -> Added:
    """Comments for the findings of a run, in memory.

    Each proves itself: read again, every launch is what it was and the finding is gone.
    """
    reason = " ".join(reason.split()).replace("-->", "--")
    by_launch: dict[tuple[str, int], tuple[Launch, list[Finding]]] = {}
    left = []
    for finding in run.findings:
        launch = finding.launch
        if launch is None:
            left.append(finding)
        else:
            by_launch.setdefault((launch.span.path, launch.span.start), (launch, []))[1].append(finding)
    groups = []
    kinds = kind_by_path(run.files, run.launches)
    for launch, findings in by_launch.values():
        rules = ", ".join(sorted({finding.rule for finding in findings}))
        kind = kinds.get(launch.span.path, REFERRED)
        edit = ignore_comment(kind, launch, f"shmlint: ignore[{rules}] {reason}".rstrip())
        if edit is None:
            left += findings
        else:
            groups.append((edit, findings))
    accepted: list[tuple[Edit, list[Finding]]] = []
    texts: dict[str, str] = {}

    def extend(some: Sequence[tuple[Edit, list[Finding]]]) -> None:
        """Accept the comments that can be proved together with those accepted before, by halving."""
        every = [*accepted, *some]
        after = unchanged(run, [edit for edit, _ in every])
        if after is not None and len(after[0].findings) == len(run.findings) - sum(len(f) for _, f in every):
            accepted.extend(some)
            texts.update(after[1])
        elif len(some) > 1:
            extend(some[: len(some) // 2])
            extend(some[len(some) // 2 :])
        else:
            left.extend(finding for _, findings in some for finding in findings)

    if groups:
        extend(groups)
    return Added(texts, [finding for _, findings in accepted for finding in findings], left)
