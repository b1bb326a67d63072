"""CI files that are not YAML: templates, and what can be read of the others line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.formats.expressions import with_variables, without_placeholders
from shmlint.formats.shell.run import launches
from shmlint.model.launch import Launch
from shmlint.model.source import Source, Span
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import ENGINE, Builder
from shmlint.syntax.yaml import Document, YamlError
from shmlint.syntax.yaml_read import parse

TALK = frozenset(
    {"name", "displayName", "description", "if", "uses", "title", "label", "summary", "default", "help", "when",
     "block", "input", "prompt", "hint", "text", "message", "group", "condition", "changes", "paths", "rules"}
)  # fmt: skip
"""Keys whose texts are read by people or by the CI system itself."""


_OPENS = re.compile(r"\{[%#]")
_CLOSES = {"{%": "%}", "{#": "#}"}


def _blanked(text: str) -> str:
    """A template without its statements and comments, the lines kept. One that is not closed stays."""
    pieces: list[str] = []
    at = 0
    last = {opens: text.rfind(closes) for opens, closes in _CLOSES.items()}
    for found in _OPENS.finditer(text):
        if found.start() >= at and found.end() <= last[found[0]]:
            end = text.find(_CLOSES[found[0]], found.end()) + 2
            pieces += (text[at : found.start()], re.sub(r"[^\r\n]", " ", text[found.start() : end]))
            at = end
    return "".join([*pieces, text[at:]])


def template_documents(source: Source) -> list[Document] | None:
    """The documents of a template (Jinja, cookiecutter), its statements blanked; None where it is none."""
    if "{%" not in source.text and "{{" not in source.text:
        return None
    blanked = "\n".join(map(without_placeholders, _blanked(source.text).split("\n")))
    try:
        return parse(Source(source.path, blanked))
    except YamlError:
        return None


# Of a line the first engine alone: after a # there are only comments.
_COMMAND = re.compile(rf"(?>[^\n#]*?\b(?P<engine>{ENGINE})\b)[^\n#]*\b(?:run|create)\b")
_KEYED = re.compile(r"(?P<indentation>[ \t]*(?:-[ \t]+)*)(?:(?P<key>[\w.-]+):(?=\s|$)[ \t]*)?(?P<value>[^\n]*)")
_HEADER = re.compile(r"(?:[|>][-+\d]*)?[ \t]*(?:#.*)?$")


_MOST_READ = 20
"""Commands of a script that are read with all that is before them; those after these are read alone."""


def single_commands(source: Source) -> Iterator[Launch]:
    """The commands of a file that is not YAML: from each line with one, back to the key its script
    is under, and on to where it ends."""
    number = 1
    read: dict[int, int] = {}
    """How often a script was read from its beginning."""
    script: tuple[int, int, str] | None = None  # where it starts, how deep its key is indented, the key
    while number <= len(source.line_starts):
        start, end = source.line_span(number)
        number += 1
        line = _KEYED.match(source.text, start, end)
        assert line is not None  # it matches everything
        depth, key = len(line["indentation"]), line["key"]
        if script is not None and line["value"].strip() and depth <= script[1]:
            script = None
        if key is not None and _HEADER.match(line["value"]):
            script = (end, depth, key)
            continue
        match = _COMMAND.match(source.text, start, end)
        if match is None:
            continue
        while source.text[start:end].rstrip().endswith("\\") and number <= len(source.line_starts):
            end = source.line_span(number)[1]
            number += 1
        if (key or (script[2] if script is not None else "")) in TALK:
            continue
        begin = script[0] if script is not None and key is None else line.start("value")
        read[begin] = read.get(begin, 0) + 1
        begin = begin if read[begin] <= _MOST_READ else line.start("value")
        if source.text[begin : begin + 1] in ("'", '"'):
            begin += 1
        builder = Builder(source)
        builder.take(begin, end)
        text = with_variables(builder.build(Span(source, begin, end)))
        yield from launches([c for c in commands(text) if c.span.end >= match.start("engine")])
