"""``shmlint explain``: a rule's page, an error message, what is known of a workload, or the trail of one launch.

The symptoms stand in ``rules/README.md`` and nowhere else; this reads that page.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

import click

from shmlint.cli.command import Command, complete_topic
from shmlint.cli.output import fail, nearest
from shmlint.docker.sizes import human
from shmlint.files import installed as rules
from shmlint.model.record import NamedTuple
from shmlint.reports import escape
from shmlint.workloads.knowledge import Workload, builtin, image_names, recognise

_WIDTH = 80
_PREFIX = "workload:"
_LONGEST = 200_000
"""Characters of a pasted text that are looked at: its end, where errors stand."""


_EPILOG = """\b
Examples:
  shmlint explain SHM101
  shmlint explain "Bus error"
  shmlint explain vllm
  shmlint explain nvcr.io/nvidia/pytorch:24.01-py3
  shmlint explain compose.yaml:12    everything about the launch there
  shmlint explain workload:          lists the workloads
  docker logs trainer 2>&1 | shmlint explain -"""


class Options(TypedDict):
    """What the command line says."""

    topic: tuple[str, ...]


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("topic", nargs=-1, required=True, metavar="TOPIC...", shell_complete=complete_topic)
def command(**options: Unpack[Options]) -> int:
    """Explain a rule, an error message, a workload, an image or one launch.

    TOPIC is a rule's id or name, the text of an error message, a workload, an image, PATH:LINE of
    a launch or a finding, or `-` for a log on standard input.
    """
    topic = " ".join(options["topic"])
    if topic == "-":
        topic = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        for text in explain(topic):
            click.echo(text)
    except NothingFound as wrong:
        fail(str(wrong))
    return 0


class NothingFound(Exception):
    """The name is unknown; the message suggests similar ones."""


class Symptom(NamedTuple):
    """A section of the page: the texts people see, in the words of programs, and what to make of them."""

    title: str
    texts: tuple[str, ...]
    body: str


class Match(NamedTuple):
    """A symptom, the text of it that fits, and how well; more is better."""

    symptom: Symptom
    text: str
    score: float


def explain(asked: str) -> Iterator[str]:
    """The lines that answer. Raises NothingFound, with what comes near."""
    from shmlint.rules import all_rules

    place = _PLACE.fullmatch(asked.strip())
    if place is not None and os.path.isfile(place[1]):
        return _launch(place[1], int(place[2]))
    known = [rule for rule, _ in all_rules().values()]
    for rule in known:
        if asked.strip().upper() == rule.id or asked.strip() == rule.name:
            return terminal(rules.page(rule).partition("\n---\n")[2].strip())
    start = asked.strip().upper()
    family = [rule.id for rule in known if rule.id.startswith(start)]
    if family and any(character.isdigit() for character in start):
        return _rule_lines(family)
    if asked.strip().lower().startswith(_PREFIX):
        return _workload(asked.strip()[len(_PREFIX) :].strip())
    found = find(asked, symptoms())
    if found:
        return _symptom(found)
    named = [w for w in builtin() if asked.strip().lower() in (w.id, w.name.lower())]
    if named:
        return _about(named[0])
    word = asked.strip()
    known_by = search(word, builtin()) if len(word) > 3 and len(word.split()) == 1 else []
    if len(known_by) == 1:
        return _about(known_by[0])
    if known_by:
        return _list(known_by, f"Several workloads have a name like {escape(word)}:")
    if family and start:
        return _rule_lines(family)
    raise NothingFound(_nothing(asked))


_PLACE = re.compile(r"(.+?):([0-9]{1,9})(?::[0-9]*)?:?")


def _launch(path: str, line: int) -> Iterator[str]:
    """The trail of the launch at a place."""
    from shmlint.cli.configured import load_settings
    from shmlint.cli.inputs import find_inputs, started
    from shmlint.cli.output import Output
    from shmlint.files.read import normal
    from shmlint.reports import trail

    settings = load_settings(None, [path])
    run = started(find_inputs([path], settings), settings, None)
    found = trail.launch_at(run, normal(path), line)
    if found is None:
        here = ", ".join(sorted({str(launch.span.line) for launch in run.launches}, key=int)[:10])
        near_by = f"; launches are at {here}" if here else ""
        raise NothingFound(f"{path}: no launch starts at or before line {line}{near_by}")
    return trail.render(run, found, Output().width)


def _nothing(asked: str) -> str:
    """What to say of a topic that is not known, with what was probably meant."""
    from shmlint.config.rules import nearest_rule, unknown_rule

    short = " ".join(asked.split())
    if not short:
        return "nothing to explain: give a rule (SHM101), an error message or a workload"
    place = _PLACE.fullmatch(short)
    if place is not None and _FILE.search(place[1]):
        return f"{place[1]}: no such file"
    if os.path.isfile(short):
        return f"{short} is a file; add the line of a launch, as in {short}:12"
    titles = [match.symptom.title for match in _similar(asked)]
    similar = f"; similar are: {'; '.join(titles)}" if titles else ""
    if " " in short:
        shown = short if len(short) <= 80 else f"{short[:79]}…"
        return f"no known error message looks like `{shown}`{similar}"
    if _RULE.fullmatch(short) and any(character.isdigit() for character in short):
        return unknown_rule(short)
    if workload := nearest(short.lower(), [w.id for w in builtin()]):
        return f"unknown workload `{short}`{workload}"
    if nearest_rule(short):
        return unknown_rule(short)
    if "/" in short or ":" in short:
        return f"no workload is known for the image `{short}`; `shmlint explain workload:` lists the known ones"
    return f"nothing is known of `{short}`{similar or '; see `shmlint rules` and `shmlint explain workload:`'}"


_RULE = re.compile(r"[A-Za-z]{2,5}[0-9OoIl]{1,4}")
_FILE = re.compile(r"\.(?:ya?ml|json|sh|md|rst|txt)$|[Mm]akefile$")


def _similar(asked: str) -> list[Match]:
    """The symptoms that a text could be about, with its slips corrected: each word as the symptoms have it."""
    from difflib import get_close_matches

    every = symptoms()
    vocabulary = sorted({word for symptom in every for word in _SPELLED.findall(_plain(" ".join(symptom.texts)))})
    words = _SPELLED.findall(_plain(asked[-_LONGEST:].replace("_", " ")))
    if len(words) <= _MISSPELT:
        asked = " ".join(next(iter(get_close_matches(word, vocabulary, 1, 0.75)), word) for word in words)
    return find(asked, every)[:3] or near(asked, every)


_SPELLED = re.compile(r"[a-z]{3,}")
_MISSPELT = 50
"""Words of a text that are looked at for slips."""


# Symptoms --------------------------------------------------------------------------------------


def symptoms(text: str | None = None) -> tuple[Symptom, ...]:
    """The sections of ``rules/README.md`` below *Symptoms*, or those of a page's text.

    A section is a heading of the third level, a fence of texts, and what follows. Raises OSError
    for a broken installation.
    """
    if text is None:
        with open(os.path.join(rules.directory(), "README.md"), encoding="utf-8") as file:
            text = file.read()
    _, _, rest = text.partition("\n## Symptoms\n")
    rest = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    found = []
    for section in re.split(r"^### ", rest, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        _, fence, after = body.partition("```text\n")
        texts, _, after = after.partition("```\n")
        if fence:
            found.append(Symptom(title.strip(), tuple(filter(None, texts.splitlines())), after.strip()))
    return tuple(found)


def find(asked: str, among: Iterable[Symptom]) -> list[Match]:
    """The symptoms whose texts are in what was pasted, or that hold what was typed; the best first.

    Letter case, quotation marks and line breaks make no difference. On the page ``N`` stands for any
    number, an ellipsis for anything, and names of NCCL's and PyTorch's files for any others.
    """
    pasted = _plain(asked[-_LONGEST:])
    if len(pasted) < 5 or not any(len(word) > 2 for word in pasted.split()):
        return []
    found = []
    for symptom in among:
        best: Match | None = None
        for text in symptom.texts:
            score = _score(pasted, [part for part in map(_page_text, text.split("…")) if part])
            if score and (best is None or score > best.score):
                best = Match(symptom, text, score)
        if best is not None:
            found.append(best)
    return sorted(found, key=lambda match: -match.score)


def _score(pasted: str, parts: list[str]) -> float:
    """How many characters of a text of the page stand in what was pasted: all its parts in their order.
    Or how many were typed, where what was typed stands in the text; a little less the longer the text is.
    0 where neither does."""
    at = 0
    for part in parts:
        found = _whole_words(re.escape(part).replace(r"\#", r"[0-9a-fx.#]+"), part).search(pasted, at)
        if found is None:
            break
        at = found.end()
    else:
        return sum(map(len, parts))
    whole = " ".join(parts)
    if len(pasted) <= len(whole) and (" " in pasted or len(pasted) > 7):
        typed = re.sub(r"[0-9]+", lambda number: f"(?:{number[0]}|#)", re.escape(pasted))
        if _whole_words(typed, pasted).search(whole):
            return len(pasted) - len(whole) / 10_000
    return 0


def _whole_words(pattern: str, text: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if text[0].isalnum() else ""
    after = r"(?![a-z0-9])" if text[-1].isalnum() else ""
    return re.compile(before + pattern + after)


_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_RANDOM = re.compile(r"(nccl-)[a-z0-9_-]+|(torch_)[0-9][a-z0-9_-]*")


def _plain(text: str) -> str:
    """A text as it is compared: small letters, one blank, no quotation marks, ``#`` for random names."""
    text = re.sub(r"[\"'`‘’“”\\]", "", _ANSI.sub("", text).lower())
    return " ".join(_RANDOM.sub(r"\1\2#", text).split()).strip(" .:")


def _page_text(text: str) -> str:
    """The same for a text of the page, where ``N`` is a number."""
    return _plain(re.sub(r"(?<![A-Za-z])N(?![A-Za-z])", "#", text))


def near(asked: str, among: Iterable[Symptom], most: int = 3) -> list[Match]:
    """The symptoms that share the most words with a text, rare words counting more; the best first."""
    everything = list(among)
    vocabulary = [set(_words(" ".join(symptom.texts))) for symptom in everything]
    mine = set(_words(asked[-_LONGEST:]))
    found = []
    for symptom, words in zip(everything, vocabulary, strict=True):
        shared = mine & words
        score = sum(1 / sum(word in other for other in vocabulary) for word in shared)
        if len(shared) > 1 or score >= 1:
            found.append(Match(symptom, "", score))
    return sorted(found, key=lambda match: -match.score)[:most]


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z_/-]{4,}", _plain(text)) if word not in _COMMON]


_COMMON = frozenset({"error", "from", "with", "that", "this", "have", "been", "failed", "file", "used", "when", "than"})


def _symptom(found: Sequence[Match]) -> Iterator[str]:
    best = found[0].symptom
    yield best.title
    yield "=" * len(best.title)
    yield ""
    for text in best.texts:
        yield f"  {text}"
    yield ""
    yield from terminal(best.body)
    linked = list(dict.fromkeys(re.findall(r"\(([A-Z]+[0-9]+)-[a-z0-9-]+\.md\)", best.body)))
    if linked:
        yield ""
        yield from _rule_lines(linked)
    others = [match.symptom.title for match in found[1:4]]
    if others:
        yield ""
        yield f"It could also be: {'; '.join(others)}."


def _rule_lines(ids: Sequence[str]) -> Iterator[str]:
    from shmlint.rules import all_rules

    known = all_rules()
    yield "Rules (`shmlint explain ID` shows the page):"
    for rule_id in ids:
        if rule_id in known:
            rule, _ = known[rule_id]
            summary = rules.front_matter(rules.page(rule)).get("summary", "")
            yield f"  {rule.id}  {rule.name}: {summary}"


def terminal(markdown: str, width: int = _WIDTH) -> Iterator[str]:
    """Markdown for a terminal: headings underlined, paragraphs and list items wrapped, tables in columns.

    Links become their text; one out of the page keeps its address after it. A fence that names a
    file has the name above it.
    """
    fence = False
    paragraph: list[str] = []
    table: list[list[str]] = []

    def flush() -> Iterator[str]:
        if paragraph:
            yield from _wrapped(_unlinked(" ".join(paragraph)), width)
            paragraph.clear()
        if table:
            yield from _columns(table, width)
            table.clear()

    for line in markdown.splitlines():
        if line.startswith("```"):
            yield from flush()
            fence = not fence
            _, *named = line[3:].split() or [""]
            if fence and named:
                yield f"  {named[0]}{' as --fix leaves it' if 'fixed' in named else ''}:"
        elif fence:
            yield f"    {line}".rstrip()
        elif not line.strip():
            yield from flush()
            yield ""
        elif line.startswith("#"):
            yield from flush()
            title = _unlinked(line.lstrip("#").strip())
            yield title
            yield ("=" if line.startswith("# ") else "-") * len(title)
        elif line.startswith("|"):
            cells = [_unlinked(cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not all(set(cell) <= set("-: ") for cell in cells):
                table.append(cells)
        else:
            if _ITEM.match(line):
                yield from flush()
            paragraph.append(line.strip())
    yield from flush()


_ITEM = re.compile(r"(?:-|\d+\.) ")


def _wrapped(text: str, width: int) -> list[str]:
    from textwrap import wrap

    item = _ITEM.match(text)
    indent = " " * len(item[0]) if item else ""
    return wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _columns(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """A table: columns as wide as their cells, the last one wrapped."""
    from textwrap import wrap

    most = max(len(row) for row in rows)
    widths = [max(len(row[i]) if i < len(row) else 0 for row in rows) for i in range(most - 1)]
    room = max(width - sum(widths) - 2 * len(widths) - 2, 20)
    for row in rows:
        head = "  " + "".join(f"{cell.ljust(size)}  " for cell, size in zip(row, widths, strict=False))
        for part in wrap(row[-1], room, break_long_words=False) or [""]:
            yield f"{head}{part}".rstrip()
            head = " " * len(head)


def _unlinked(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return f"{found[1]} ({found[2]})" if found[2].startswith("http") else found[1]

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", plain, text).replace("**", "")


# Workloads -------------------------------------------------------------------------------------

_NEEDS = {
    "yes": "it needs more than Docker's 64 MiB",
    "multi-gpu": "it needs more than Docker's 64 MiB if it uses more than one GPU",
    "no": "it needs no more than Docker's 64 MiB",
    "depends": "it depends on what runs in it",
}
_SINGLE = {
    "needed": "also with one GPU",
    "advised": "with one GPU it is only recommended",
    "not-needed": "with one GPU it needs no shared memory",
}


def _workload(asked: str) -> Iterator[str]:
    known = builtin()
    if not asked:
        return _list(known, "Known workloads; `shmlint explain workload:ID` explains one.")
    found = search(asked, known)
    if len(found) == 1:
        return _about(found[0])
    if found:
        return _list(found, f"Several workloads have a name like {escape(asked)}:")
    from difflib import get_close_matches

    names = {word: w.id for w in known for word in (w.id, *w.id.split("-"), w.name.lower())}
    close = dict.fromkeys(names[word] for word in get_close_matches(asked.lower(), names, 5, 0.55))
    hint = f" (did you mean {' or '.join(_PREFIX + name for name in list(close)[:3])}?)" if close else ""
    raise NothingFound(f"unknown workload {asked}{hint}; `shmlint explain {_PREFIX}` lists them")


def search(asked: str, known: Sequence[Workload]) -> list[Workload]:
    """The workloads that an id, a name, an image, or a part of these means."""
    lowered = asked.lower()
    exact = [w for w in known if lowered in (w.id, w.name.lower())]
    if exact:
        return exact
    if "/" in asked or ":" in asked:
        by_image, _ = recognise(asked, known)
        if by_image is not None:
            return [by_image]
    parts = [w for w in known if lowered in w.id or lowered in w.name.lower()]
    if parts:
        return parts
    repository, _ = image_names(asked)
    return [w for w in known if any(repository in pattern for pattern in w.images)] if len(asked) > 3 else []


def _list(found: Sequence[Workload], heading: str) -> Iterator[str]:
    yield heading
    yield ""
    width = max(len(w.id) for w in found)
    for workload in found:
        mark = "" if workload.verified else " (unverified)"
        yield f"  {workload.id.ljust(width)}  {workload.name}: {_amount(workload)}{mark}"


def _amount(workload: Workload) -> str:
    if workload.needs == "no":
        return "needs no more than 64 MiB"
    least, size = workload.minimum, workload.recommended
    parts = []
    if least:
        parts.append(f"{human(least)} at least")
    if size:
        parts.append(f"{human(size)} advised")
    if workload.memory_share is not None:
        parts.append(f"{workload.memory_share * 100:.0f} % of its memory")
    if workload.needs == "depends":
        parts.append("depends on what runs")
    if workload.needs == "multi-gpu":
        parts.append("with several GPUs")
    return ", ".join(parts) or "the size is unknown"


def _about(workload: Workload) -> Iterator[str]:
    entry = workload.entry
    yield workload.name
    yield "=" * len(workload.name)
    yield ""
    needs = _NEEDS[workload.needs]
    if workload.single_gpu:
        needs += f"; {_SINGLE[workload.single_gpu]}"
    if workload.one_process:
        needs += "; it uses one GPU unless its command sets more"
    yield from _row("needs", needs)
    yield from _row("because", f"{workload.because} {workload.condition}".rstrip())
    if workload.formula is not None:
        yield from _row("formula", workload.formula.text)
        yield from _row("", workload.formula.source)
    if workload.needs != "no":
        least = f"{human(workload.minimum)} ({_basis(entry, 'minimum')})" if workload.minimum else "nobody says"
        yield from _row("at least", least)
        advised = "nobody says"
        if workload.recommended:
            advised = f"{human(workload.recommended)} ({_basis(entry, 'recommended')})"
        if workload.memory_share is not None:
            advised = f"{workload.memory_share * 100:.0f} % of the container's memory limit"
        yield from _row("advised", advised)
    for use in entry.get("uses", ()):
        commands = ", ".join(pattern.removeprefix("^ ") for pattern in use["commands"])
        yield from _row("but", f"{commands}: {_NEEDS[use['needs']]}; {use['because']}")
    yield from _row("documented", str(entry.get("documented", "")))
    quote = str(entry.get("quote", ""))
    yield from _row("quote", f"“{quote}”" if quote else "")
    yield from _row("source", workload.source or "none")
    read = "verified: the source was checked"
    if not workload.verified:
        read = "unverified: no source was checked; findings based on it are never errors"
    yield from _row("standing", read)
    yield from _row("notes", str(entry.get("notes", "")))
    yield ""
    yield from _row("images", ", ".join(workload.images) or "none")
    yield from _row("commands", ", ".join(" ".join(words) for words in workload.commands) or "none")
    if workload.needs != "no":
        yield ""
        option = "--gpus N" if workload.memory_share is None else "--memory SIZE"
        if workload.id == "frigate":
            option = "--camera WIDTHxHEIGHT"
        yield from _row("how much", f"shmlint size {option} {workload.id}")


def _basis(entry: Mapping[str, Any], figure: str) -> str:
    """What a figure rests on, in a few words: documented and where, or why."""
    basis = entry.get(f"{figure}_basis", {})
    detail = basis.get("why") or basis.get("source", "")
    return f"{basis.get('basis', 'no basis')}{f': {detail}' if detail else ''}"


def _row(label: str, text: str) -> Iterator[str]:
    from shmlint.cli.sizing import wrapped

    if text:
        yield from wrapped(label, escape(text), 10, _WIDTH)
