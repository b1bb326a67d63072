"""Comments that suppress findings, and those that suppress nothing.

    # shmlint: ignore[SHM101, dropped-float] reason     the findings of these rules here
    # shmlint: ignore reason                            all findings here
    # shmlint: ignore-file[SHM101] reason               in the whole file

*Here* is the line of the comment, or the next one where the comment has a line for itself; lines
that backslashes join are one, and in a document a comment stands for the block below it. A finding
is met where it is marked or where its launch starts.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from shmlint.files.patterns import exclusion
from shmlint.files.read import Unreadable
from shmlint.model.finding import EditComment, Finding, Fix
from shmlint.model.launch import Change
from shmlint.model.rule import Rule
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Edit, Source, Span
from shmlint.rules import all_rules, meant, selected
from shmlint.rules.shm002_unused_suppression import RULE

if TYPE_CHECKING:
    from shmlint.run import Run

_WHAT = r"[ \t]*shmlint:[ \t]*(?P<verb>ignore-file|ignore)(?![\w-])(?:\[(?P<names>[^\]\r\n]*)\])?"
_HASH = re.compile(rf"(?<![^\s@{BOM}])#{_WHAT}(?:(?!\s#\s)[^\r\n])*")
"""Another tool's comment may stand behind it: `# shmlint: ignore[SHM101] reason # noqa`."""
_SLASHES = re.compile(rf"//{_WHAT}(?:(?!\s//\s)[^\r\n])*")
_HTML = re.compile(rf"<!--{_WHAT}(?:(?!-->)[^\r\n])*-->")

_OWN_LINE = f" \t@>{BOM}"
"""May stand in front of a comment that has its line for itself (`@` in a make recipe, `>` in a quotation)."""


class Mark:
    """A comment that suppresses findings. ``names`` is None where it means every rule.

    ``first`` and ``last`` are the lines it speaks of. ``sure``: it is a comment, and not a text about one.
    """

    __slots__ = ("end", "first", "last", "names", "source", "start", "sure", "used", "whole_file")

    def __init__(self, source: Source, match: re.Match[str]) -> None:
        self.source = source
        self.start = match.start()
        self.end = match.start() + len(match[0].rstrip())
        self.names: list[Span] | None = None
        if match["names"] is not None:
            at = match.start("names")
            self.names = [
                Span(source, at + name.start(), at + name.end())
                for name in re.finditer(r"[^\s,][^,]*?(?=\s*(?:,|$))", match["names"])
            ]
        self.whole_file = match["verb"] == "ignore-file"
        self.first = self.last = source.position(self.start).line
        self.sure = True
        self.used: set[int] = set()
        """Which of the names suppressed something; 0 where there are none."""

    @property
    def own_line(self) -> bool:
        """Whether nothing else stands on its line."""
        start, end = self.source.line_span(self.source.position(self.start).line)
        text = self.source.text
        return not text[start : self.start].strip(_OWN_LINE) and not text[self.end : end].strip()

    def covers(self, finding: Finding) -> bool:
        """Whether it stands where the finding is marked, or where its launch starts.

        One that names its rules may also stand beside what the finding shows for a reason.
        """
        path = self.source.path
        if self.whole_file:
            return finding.span.path == path
        spans = _places_of(finding, reasons=self.names is not None)
        return any(span.path == path and self.first <= span.line <= self.last for span in spans)

    def meets(self, finding: Finding, rule: Rule) -> bool:
        """Whether it suppresses a finding; if so, it has been of use."""
        if not self.covers(finding):
            return False
        if self.names is None:
            self.used.add(0)
            return True
        hits = {i for i, name in enumerate(self.names) if meant(rule, name.text)}
        self.used |= hits
        return bool(hits)


def suppress(run: Run, findings: Iterable[Finding], paths: Collection[str], broken: Collection[str]) -> list[Finding]:
    """The findings that no comment suppresses, and one for each comment that suppresses nothing.

    ``paths`` are the files with such comments. What could not be read (``broken``) may hold what they are for.
    """
    kinds = {path: kind for kind, some in run.files.items() for path in some}
    marks = [mark for path in paths for mark in _marks(run, path, kinds.get(path, ""))]
    rules = {rule.id: rule for rule, _ in all_rules().values()}
    # Every comment is asked, so that of two that say the same neither is called unused.
    places = _places(marks)
    left = [f for f in findings if not [m for m in _near(f, places) if m.meets(f, rules[f.rule])]]
    if selected(RULE, run.settings):
        loses = per_file(run.settings)
        for mark in marks:
            path = mark.source.path
            if mark.sure and path in kinds and path not in broken and not loses(path, RULE):
                left += _unused(mark, run.settings, loses)
    return left


def _places(marks: Iterable[Mark]) -> dict[tuple[str, int], list[Mark]]:
    """Comments by the lines they speak of; under line 0 those that speak of many."""
    places: dict[tuple[str, int], list[Mark]] = {}
    for mark in marks:
        many = mark.whole_file or mark.last - mark.first > 100
        for line in [0] if many else range(mark.first, mark.last + 1):
            places.setdefault((mark.source.path, line), []).append(mark)
    return places


def _places_of(finding: Finding, *, reasons: bool) -> list[Span]:
    """Where a comment about a finding may stand."""
    spans = [finding.span] if finding.launch is None else [finding.span, finding.launch.span]
    return [*spans, *(e.span for e in finding.evidence if e.span is not None)] if reasons else spans


def _near(finding: Finding, places: dict[tuple[str, int], list[Mark]]) -> list[Mark]:
    """The comments that may be meant for a finding."""
    spans = _places_of(finding, reasons=True)
    near = [mark for span in spans for line in (0, span.line) for mark in places.get((span.path, line), ())]
    return list({id(mark): mark for mark in near}.values())


def per_file(settings: Settings) -> Callable[[str, Rule], bool]:
    """What tells whether ``per-file-ignores`` take a rule from a file."""
    directory = os.path.dirname(settings.path or "") or "."
    patterns = [(exclusion([pattern]), names) for pattern, names in settings.per_file_ignores]
    known: dict[str, list[str]] = {}

    def loses(path: str, rule: Rule) -> bool:
        if not patterns:
            return False
        names = known.get(path)
        if names is None:
            below = os.path.relpath(path, directory).replace(os.sep, "/")
            outside = below.startswith("../")
            names = [n for fits, some in patterns if not outside and fits(below) for n in some]
            known[path] = names
        return any(meant(rule, name) for name in names)

    return loses


# Where comments stand ----------------------------------------------------------------------------


def _marks(run: Run, path: str, kind: str) -> Iterator[Mark]:
    try:
        source = run.workspace.source(path)
    except Unreadable:
        return
    if kind == "inspect":
        return  # strict JSON has no comments
    below: dict[int, int] = {}
    if kind == "devcontainer":
        for match in _SLASHES.finditer(source.text):
            yield _placed(Mark(source, match), "//", _before(source, match).count('"') % 2 == 0, below)
    elif kind == "markdown":
        yield from _markdown_marks(run, source)
    else:
        starts: set[int] | None = None
        if kind == "shell":
            from shmlint.syntax.shell import comments

            starts = comments(source.text)
        texts = _yaml_texts(run, source) if kind == "compose" else None
        for match in _HASH.finditer(source.text):
            at = match.start()
            if starts is not None:
                sure = at in starts
            elif texts is not None:
                sure = not any(start <= at < end for start, end in texts)
            else:
                sure = not _in_quotes(_before(source, match))
            yield _placed(Mark(source, match), "#", sure, below)


def _before(source: Source, match: re.Match[str]) -> str:
    """What stands on the line in front of a comment."""
    return source.text[source.line_span(source.position(match.start()).line)[0] : match.start()]


def _in_quotes(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def _placed(mark: Mark, comment: str, sure: bool, below: dict[int, int]) -> Mark:
    """A mark with the lines it speaks of. ``below`` keeps which line stands below lines of comments."""
    source, mark.sure = mark.source, sure
    if mark.own_line:
        line, count = mark.first + 1, len(source.line_starts)
        while line not in below and line <= count and source.line_text(line).lstrip().startswith(comment):
            line += 1
        end = below.get(line, line)
        below.update(dict.fromkeys(range(mark.first + 1, line), end))
        mark.first = mark.last = min(end, count)
    else:
        mark.first, mark.last = first_line(source, mark.first), mark.first
    while mark.last < len(source.line_starts) and source.line_text(mark.last).endswith("\\"):
        mark.last += 1
    return mark


def first_line(source: Source, line: int) -> int:
    """The first of the lines that backslashes join with a line."""
    while line > 1 and source.line_text(line - 1).endswith("\\"):
        line -= 1
    return line


def _yaml_texts(run: Run, source: Source) -> list[tuple[int, int]]:
    """Where the quoted and block texts of a YAML file stand."""
    from shmlint.syntax.yaml import Mapping, Node, Scalar, Sequence, read_documents

    found = []
    try:
        stack: list[Node] = [document.root for document in read_documents(source.path, run.workspace)]
    except Unreadable:
        return []
    while stack:
        node = stack.pop()
        if isinstance(node, Scalar) and node.style:
            found.append((node.start, node.end))
        elif isinstance(node, Sequence):
            stack += node.items
        elif isinstance(node, Mapping):
            stack += (part for pair in node.pairs for part in pair)
    return found


def _markdown_marks(run: Run, source: Source) -> Iterator[Mark]:
    from shmlint.syntax.markdown import blocks

    code = sorted((block.lines[0][0], block.lines[-1][1]) for block in blocks(source))
    launches = sorted(launch.span.start for launch in run.launches if launch.span.path == source.path)
    below: dict[int, int] = {}

    def around(at: int) -> tuple[int, int] | None:
        place = bisect_right(code, (at, len(source.text))) - 1
        return code[place] if place >= 0 and at <= code[place][1] else None

    # A document may show how comments are written.
    for match in _HASH.finditer(source.text):
        inside = around(match.start())
        if inside is not None and bisect_left(launches, inside[0]) < bisect_right(launches, inside[1]):
            yield _placed(Mark(source, match), "#", True, below)
    for match in _HTML.finditer(source.text):
        if around(match.start()) is not None or _before(source, match).count("`") % 2:
            continue
        mark = Mark(source, match)
        place = bisect_right(code, (match.start(), len(source.text)))
        following = code[place] if place < len(code) else None
        if mark.own_line and following is not None:
            first, last = source.position(following[0]).line, source.position(following[1]).line
            if _follows(source, mark.first, first):
                mark.first, mark.last = first, last
        yield mark


def _follows(source: Source, comment: int, block: int) -> bool:
    """Whether between a comment and a block there is nothing but empty lines and the block's fence."""
    between = [source.line_text(n).strip() for n in range(comment + 1, block)]
    return all(not text or text.lstrip("> ").startswith(("```", "~~~")) for text in between)


# Those that suppress nothing ----------------------------------------------------------------------


def _unused(mark: Mark, settings: Settings, loses: Callable[[str, Rule], bool]) -> Iterator[Finding]:
    rules = [rule for rule, _ in all_rules().values()]
    if mark.names is None:
        if not mark.used and not settings.select:
            yield _finding(mark, "nothing is found here", [])
        return
    reasons = []
    kept = []
    for i, name in enumerate(mark.names):
        these = [rule for rule in rules if meant(rule, name.text)]
        if not these:
            words = [word for rule in rules for word in (rule.id, rule.name)]
            close = get_close_matches(name.text, words, 1)
            reasons.append(f"no rule is called {name.text}" + (f" (did you mean {close[0]}?)" if close else ""))
        elif i not in mark.used and all(
            rule is not RULE and selected(rule, settings) and not loses(mark.source.path, rule) for rule in these
        ):
            reasons.append(f"{name.text} finds nothing here")
        else:
            kept.append(name.text)
    if reasons or not mark.names:
        yield _finding(mark, "; ".join(reasons) or "it names no rule", kept)


def _finding(mark: Mark, reason: str, kept: Sequence[str]) -> Finding:
    span = Span(mark.source, mark.start, mark.end)
    if kept and mark.names:
        edit = Edit(span.path, mark.names[0].start, mark.names[-1].end, ", ".join(kept))
        title = f"leave {', '.join(kept)} in the comment in line {span.line}"
    else:
        edit = _removal(mark)
        title = f"remove the comment in line {span.line}"
    change = Change((edit,), title)
    return Finding(RULE.id, RULE.severity, span, f"unused suppression: {reason}", fix=Fix(EditComment(change)))


def _removal(mark: Mark) -> Edit:
    """Takes the comment out, with its line where nothing else stands on that."""
    source, text = mark.source, mark.source.text
    line = source.position(mark.start).line
    start, end = source.line_span(line)
    if start == 0 and text.startswith(BOM):
        start = len(BOM)
    if mark.own_line:
        behind = source.line_starts[line] if line < len(source.line_starts) else end
        return Edit(source.path, start, behind, "")
    after = text[mark.end : end]
    if after.strip():
        return Edit(source.path, mark.start, mark.end + len(after) - len(after.lstrip()), "")
    return Edit(source.path, start + len(text[start : mark.start].rstrip()), end, "")
