"""What is wrong with a text that is not YAML, and what to do, in plain words."""

from __future__ import annotations

from shmlint.syntax.yaml_go import Kind, Refused

_SAYS: dict[Kind, str] = {
    "no-key": "this line has no `:` after a key; if it belongs to the text above it, indent it",
    "colon": "a `:` is not allowed here; put the text in quotes, or correct the indentation",
    "item": "a list item (`-`) is not allowed here; start the list on a line of its own, or correct the indentation",
    "question-mark": "a `?` is not allowed here; put the text in quotes",
    "directive": "a line that starts with `%` is not a valid directive; put the text in quotes if it is a value",
    "name": "`&` and `*` need the name of an anchor; put the value in quotes if it is text",
    "tag": "`!` needs a valid tag; put the value in quotes if it is text",
    "header": "only `+`, `-`, a digit and a comment may follow the `|` or `>` of a text block",
    "blank-line": "the first line of this text block is indented less than the blank line above it; remove the blanks",
    "open-quote": "the quote that starts here is not closed",
    "escape": "this escape is not valid in double quotes; use single quotes, or write `\\\\` for a backslash",
    "flow-colon": "a `:` is not allowed here; put the text in quotes",
    "list": "this line does not belong to the list above it; start it with `-`, or correct the indentation",
    "open-mapping": "a `,` or `}` is missing before this",
    "open-list": "a `,` or `]` is missing before this",
    "behind-end": "the document ends before this; correct the indentation, or start a new document with `---`",
    "no-value": "a value is missing here",
}
_OPEN: dict[Kind, str] = {"open-mapping": "{", "open-list": "["}


def told(error: Refused, text: str) -> tuple[str, int]:
    """What is wrong and what to do, with the character offset."""
    at = min(error.at, len(text))
    if error.kind == "open-quote":
        return _SAYS[error.kind], error.start
    if error.kind in _OPEN and not text[at:].strip():
        return f"the `{_OPEN[error.kind]}` that starts here is not closed", error.start
    if error.kind == "character":
        return _character(text[at : at + 1]), at
    if error.kind == "mapping":
        return _mapping(text, error.start, at), at
    if error.kind == "no-value" and text.startswith("!", at):
        return _SAYS["tag"], at
    return _SAYS[error.kind], at


def _character(found: str) -> str:
    if not found:
        return _SAYS["no-value"]
    if found == "\t":
        return "a tab in the indentation; indent with spaces"
    shown = "a backtick" if found == "`" else f"`{found}`" if found.isprintable() else f"U+{ord(found):04X}"
    return f"a value cannot start with {shown}; put it in quotes"


def _mapping(text: str, start: int, at: int) -> str:
    before = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
    if before.endswith(("'", '"')):
        return "there is text after the closing quote; put all of the value in quotes"
    key = text[start:].partition("\n")[0].partition(":")[0].strip()
    named = f"starts with `{key}`" if 0 < len(key) <= 40 else "is above it"
    return f"this does not belong to the mapping that {named}; correct its indentation, or close a quote above it"
