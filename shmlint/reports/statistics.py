"""How many findings each rule has: the lines of ``--statistics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from shmlint.fixing.plan import planned
from shmlint.model.finding import Finding
from shmlint.rules import all_rules


def render(findings: Sequence[Finding]) -> Iterator[str]:
    """A line a rule, the one with the most findings first."""
    counts = Counter(finding.rule for finding in findings)
    fixable = Counter(f.rule for f in findings if f.fix is not None and f.fix.safe and planned(f) is not None)
    width = max((len(str(count)) for count in counts.values()), default=0)
    for rule, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        can = f" ({fixable[rule]} can be fixed)" if fixable[rule] else ""
        yield f"{str(count).rjust(width)} {rule} {all_rules()[rule][0].name}{can}"
