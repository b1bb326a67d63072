"""``--add-ignore``: write a suppressing comment for every finding of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shmlint.fixing.prove import unchanged
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.source import BOM, Edit, Source
from shmlint.run import Run
from shmlint.suppression.comments import first_line


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
    for launch, findings in by_launch.values():
        rules = ", ".join(sorted({finding.rule for finding in findings}))
        edit = _comment(run, launch, f"shmlint: ignore[{rules}] {reason}".rstrip())
        if edit is None:
            left += findings
        else:
            groups.append((edit, findings))
    accepted: list[tuple[Edit, list[Finding]]] = []
    texts: dict[str, str] = {}

    def extend(some: Sequence[tuple[Edit, list[Finding]]]) -> None:
        """Accept the comments that prove themselves beside those accepted before, by halving."""
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


def _comment(run: Run, launch: Launch, text: str) -> Edit | None:
    """The comment for a launch, where its syntax has a place for one."""
    source = launch.span.source
    kind = next((kind for kind, paths in run.files.items() if source.path in paths), "compose")
    line = launch.span.line
    if kind == "devcontainer":
        return _at_end(source, line, f"// {text}")
    if launch.kind in ("compose-service", "ci-container"):
        return _at_end(source, line, f"# {text}")
    if kind == "markdown":
        return _in_document(source, line, launch.span.start, text)
    start = source.line_span(first_line(source, line))[0]
    # In a makefile a comment at the margin is make's own; further in the shell would get it, and print it.
    just = source.path.rpartition("/")[2].lower().lstrip(".") == "justfile" or source.path.endswith(".just")
    margin = "" if kind == "makefile" and not just else None
    return _above(source, start, start, f"# {text}", margin)


def _at_end(source: Source, line: int, comment: str) -> Edit:
    end = source.line_span(line)[1]
    blank = "" if source.text[end - 1 : end].isspace() else "  " if comment.startswith("#") else " "
    return Edit(source.path, end, end, f"{blank}{comment}")


def _above(source: Source, line_start: int, start: int, comment: str, margin: str | None = None) -> Edit:
    """A line with a comment above the one that starts at ``line_start``, indented like it.

    What a document has in front of its code, up to ``start``, stands in front of the comment too.
    """
    text = source.text
    if line_start == 0 and text.startswith(BOM):
        line_start, start = len(BOM), max(start, len(BOM))
    end = text.find("\n", start)
    rest = text[start : end if end >= 0 else len(text)]
    before = text[line_start:start]
    indentation = before + rest[: len(rest) - len(rest.lstrip())] if margin is None else margin
    return Edit(source.path, line_start, line_start, f"{indentation}{comment}{source.newline}")


def _in_document(source: Source, line: int, offset: int, text: str) -> Edit | None:
    from shmlint.syntax.markdown import blocks

    block = next((b for b in blocks(source) if b.lines[0][0] <= offset <= b.lines[-1][1]), None)
    if block is None or block.language in ("bat", "batch", "cmd"):
        return None
    if block.inline:
        return None if source.path.lower().endswith(".rst") else _at_end(source, line, f"<!-- {text} -->")
    first = first_line(source, line)
    at = next((n for n, (start, _) in enumerate(block.lines) if source.position(start).line == first), None)
    return None if at is None else _above(source, source.line_span(first)[0], block.lines[at][0], f"# {text}")
