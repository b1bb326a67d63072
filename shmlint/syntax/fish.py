"""Scripts of fish as another shell would have them: the reader of shell commands reads those.

Each character keeps its place. A variable of fish is a list and never split into words, ``set`` assigns it, and blocks
end in ``end``. Source: fish-shell doc_src/language.rst.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from shmlint.model.number import whole_number
from shmlint.model.source import BOM, Source, Span
from shmlint.syntax.shell_text import Builder, Places, ShellText

_BLOCKS = {"if": "fi", "for": "done", "while": "done", "function": "}", "begin": "}", "switch": "esac"}
"""What ends a block that begins so."""

_DEPTH = 50
"""Command substitutions inside command substitutions are followed this deep."""

_KEYWORD = re.compile(r"(?:if|else|end|for|while|function|begin|switch|case|and|or|not|set)(?=[\s;)]|\Z)")
_SET = re.compile(r"(?m)(?:^|[;|&(])[ \t]*(?:and[ \t]+|or[ \t]+)?set[ \t]+((?:-\S+[ \t]+)*)(\w+)(\[?)([^\n;#]*)")
_VALUE = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")
_ARGUMENT_NAMES = re.compile(r"(?:-a|--argument-names)(?:[ \t]+|=)(\w+(?:[ \t]+\w+)*)")
_PLAIN = re.compile(r"""(?:[^\s;|&\\'"$()`{]|\{(?!\$))+""")
_PLAIN_IN_SINGLE = re.compile(r"[^'\\]+")
_PLAIN_IN_DOUBLE = re.compile(r'[^"\\$`]+')
"""Characters that mean themselves."""
_COMPLETION = re.compile(r"""complete[ \t](?:[^\n'"\\;|&()$#`]|'[^'\\\n]*'|"[^"\\$\n]*")*+(?=\n|\Z)""")
"""A statement that says how a command is completed. It runs nothing, and completion scripts have hundreds of them."""
_NAME = re.compile(r"\$+(\w+)(\[[^\]\n]*\])?")
_BRACED = re.compile(r"\{\$(\w+)(\[[^\]\n]*\])?\}")
"""A variable in braces, which end its name: ``{$SIZE}g``."""


def _lists(text: str) -> Mapping[str, bool | None]:
    """The variables that a script sets, and whether one may hold other than one word; None: one without blanks."""
    found: dict[str, bool | None] = {}
    for flags, name, index, values in _SET.findall(text):
        if re.search(r"(?:^|\s)-(?:-query|-erase|\w*[qe])", flags):
            continue
        many = len(_VALUE.findall(values)) != 1 or re.search(r"[($*]", values) is not None
        appends = re.search(r"(?:^|\s)-(?:-append|-prepend|\w*[ap])", flags) is not None
        known: bool | None = many or bool(index) or appends
        if not known and not re.search(r"['\"\\]", values):
            known = None
        found[name] = known if name not in found or known else found[name]
    return found


def _arguments(index: str) -> str:
    """Arguments of a function as another shell names them: all, or a range of them; nothing for any other index."""
    if not index:
        return "$@"
    found = re.fullmatch(r"\[([1-9]\d{0,5})\.\.(-1|\d{1,6})\]", index)
    if found is None:
        return ""
    first, last = int(found[1]), int(found[2])
    return f"${{@:{first}{'' if last < 0 else f':{max(last - first + 1, 0)}'}}}"


def translated(source: Source, places: Places) -> ShellText:
    """A script of fish as a script of another shell; ``places`` gets what that has no words for."""
    start = len(BOM) if source.text.startswith(BOM) else 0
    translator = _Translator(source, start, places)
    translator.statements("", 0)
    return translator.builder.build(Span(source, start, len(source.text)))._replace(unset=places.because)


class _Translator:
    """Goes through a script once; ``at`` is the next character."""

    def __init__(self, source: Source, at: int, places: Places) -> None:
        self.source = source
        self.places = places
        self.text = source.text
        self.at = at
        self.builder = Builder(source)
        self.lists = _lists(source.text)
        self.blocks: list[str] = []
        self.inside: list[list[str]] = []
        """The variables of each block that end with it; those of functions are the other shell's own."""

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, count: int = 1) -> None:
        self.builder.take(self.at, min(self.at + count, len(self.text)))
        self.at += count

    def _take_plain(self, plain: re.Pattern[str]) -> None:
        """Characters that mean themselves, or the next one."""
        found = plain.match(self.text, self.at)
        self._take(len(found[0]) if found is not None else 1)

    def _blanks(self) -> None:
        """What is between words: blanks, continued lines, comments at the end."""
        continued = False
        while self.at < len(self.text):
            char = self._peek()
            if char in " \t\r":
                self._take()
            elif char == "\\" and (found := re.compile(r"\\\r?\n").match(self.text, self.at)) is not None:
                self._take(len(found[0]))
                continued = True
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = end + continued if end >= 0 else len(self.text)
            else:
                return

    def statements(self, close: str, depth: int) -> None:
        """Statements up to a closing bracket, or to the end of the text."""
        while self.at < len(self.text):
            self._blanks()
            char = self._peek()
            if not char or char == close:
                return
            if char in "\n;&|":
                self._take()
            else:
                self._statement(close, depth)

    def _statement(self, close: str, depth: int) -> None:
        found = _KEYWORD.match(self.text, self.at)
        if found is None:
            completion = _COMPLETION.match(self.text, self.at)
            if completion is not None:
                alone = not self.blocks and self.text[self.at - 1 : self.at] in ("", "\n")
                self.builder.put("" if alone else ":")
                self.at = completion.end()
                return
            self._words(close, depth)
            return
        start, word = self.at, found[0]
        self.at = found.end()
        if word == "set":
            self._set(start, close, depth)
        elif word in ("and", "or", "not"):
            self.builder.put({"and": "true && ", "or": "true || ", "not": "! "}[word])
        elif word == "end":
            block = self.blocks.pop() if self.blocks else ""
            ended = self.inside.pop() if self.inside else []
            self.builder.put(f";{';' if block == 'switch' else ''} {_BLOCKS.get(block, ':')}")
            self._words(close, depth)
            # What they were outside is not known here, and neither is whether they were anything.
            self.builder.put("".join(f"; read {name}" for name in ended))
        else:
            self._opens(word, close, depth)

    def _opens(self, word: str, close: str, depth: int) -> None:
        """A word that begins a block, or a branch of one."""
        if word == "else":
            self._blanks()
            again = re.compile(r"if(?=\s)").match(self.text, self.at)
            if again is None:
                self.builder.put("; else ")
                return
            self.at = again.end()
            self.builder.put("; elif ")
            self._words(close, depth)
            self.builder.put("; then ")
        elif word == "case":
            self.builder.put(";; (")
            self._words(close, depth, between="|")
            self.builder.put(") ")
        else:
            self.blocks.append(word)
            self.inside.append([])
            self._head(word, close, depth)

    def _head(self, word: str, close: str, depth: int) -> None:
        if word == "begin":
            self.builder.put("{ ")
        elif word == "function":
            self._blanks()
            name = re.compile(r"[^\s;'\"]*").match(self.text, self.at)
            assert name is not None  # it matches nothing too
            self._take(len(name[0]))
            self.builder.put("() { ")
            options = self.text[self.at : self._end()]
            self.at = self._end()
            for names in _ARGUMENT_NAMES.findall(options):
                self.builder.put("".join(f"local {each}=${{{i}}}; " for i, each in enumerate(names.split(), 1)))
        else:
            self.builder.put({"switch": "case "}.get(word, f"{word} "))
            self._words(close, depth)
            self.builder.put({"if": "; then ", "switch": " in (_) "}.get(word, "; do "))

    def _set(self, start: int, close: str, depth: int) -> None:
        """``set -l NAME value …``."""
        found = re.compile(r"[ \t]+((?:-\S+[ \t]+)*)(\w+)(\[[^\]\n]*\])?").match(self.text, self.at)
        if found is None:
            self.builder.put("true ")
            self._words(close, depth)
            return
        flags, name, index = found.groups()
        self.at = found.end()
        if re.search(r"(?:^|\s)-(?:-query|\w*q)", flags):
            self.builder.put("test ")
            self._words(close, depth)
        elif index or re.search(r"(?:^|\s)-(?:-erase|-prepend|\w*[ep])", flags):
            self.builder.put(f"unset {name}")
            self.at = self._end()
        else:
            inner = re.search(r"(?:^|\s)-(?:-local|\w*l)", flags) is not None
            local = inner and "function" in self.blocks
            if inner and self.blocks and self.blocks[-1] != "function" and name not in self.inside[-1]:
                self.inside[-1].append(name)
            exported = re.search(r"(?:^|\s)-(?:-export|\w*x)", flags) is not None
            kind = ("local -x " if exported else "local ") if local else "export " if exported else ""
            appends = re.search(r"(?:^|\s)-(?:-append|\w*a)", flags) is not None
            brackets = ("(", ")") if self.lists.get(name, True) else ("", "")
            since = len(self.builder.offsets)
            self.builder.put(f"{kind}{name}{'+' if appends else ''}=")
            self.builder.used(since, start, found.end())
            self.builder.put(brackets[0])
            self._blanks_of_line()
            self._words(close, depth)
            self.builder.put(brackets[1])

    def _blanks_of_line(self) -> None:
        while self._peek() and self._peek() in " \t":
            self.at += 1

    def _end(self) -> int:
        """Where a statement ends."""
        found = re.compile(r"[^\n;]*").match(self.text, self.at)
        return found.end() if found is not None else self.at

    def _words(self, close: str, depth: int, between: str = "") -> None:
        """The words of one command."""
        first = True
        while self.at < len(self.text):
            self._blanks()
            char = self._peek()
            if not char or char == close or char in "\n;|" or (char == "&" and self.text[self.at - 1] not in "<>"):
                return
            if between and not first:
                self.builder.put(between)
            first = False
            self._word(close, depth)

    def _word(self, close: str, depth: int) -> None:
        alone = True
        while self.at < len(self.text):
            char = self._peek()
            if char in " \t\r\n;|" or char == close or (char == "&" and self.text[self.at - 1] not in "<>"):
                return
            if char == "\\":
                if re.compile(r"\\\r?\n").match(self.text, self.at):
                    return
                self._take(2)
            elif char == "'":
                self._single()
            elif char == '"':
                self._double(depth)
            elif char == "$" and (name := _NAME.match(self.text, self.at)) is not None:
                ends = self.text[name.end() : name.end() + 1] in ("", *" \t\r\n;|)")
                self._variable(name, quoted=False, whole=alone and ends)
            elif char == "{" and (name := _BRACED.match(self.text, self.at)) is not None:
                self._variable(name, quoted=False, whole=False)
            elif char == "(" or self.text.startswith("$(", self.at):
                self._substitution(depth)
            elif char in "`)":
                self._escaped()
            else:
                self._take_plain(_PLAIN)
            alone = False

    def _escaped(self) -> None:
        since = len(self.builder.offsets)
        self.builder.put("\\")
        self._take()
        self.builder.used(since, self.at - 1, self.at)

    def _single(self) -> None:
        """Between single quotation marks a backslash hides one of these, and itself."""
        self._take()
        while self.at < len(self.text):
            if self._peek() == "\\" and self.text[self.at + 1 : self.at + 2] in ("'", "\\"):
                since = len(self.builder.offsets)
                char = self.text[self.at + 1]
                self.builder.put("'\\''" if char == "'" else "\\")
                self.builder.used(since, self.at, self.at + 2)
                self.at += 2
                continue
            closes = self._peek() == "'"
            self._take_plain(_PLAIN_IN_SINGLE)
            if closes:
                return

    def _double(self, depth: int) -> None:
        self._take()
        while self.at < len(self.text):
            char = self._peek()
            if char == "\\":
                self._take(2)
            elif char == "$" and (name := _NAME.match(self.text, self.at)) is not None:
                self._variable(name, quoted=True, whole=False)
            elif self.text.startswith("$(", self.at):
                self._substitution(depth)
            elif char == "`":
                self._escaped()
            else:
                self._take_plain(_PLAIN_IN_DOUBLE)
                if char == '"':
                    return

    def _substitution(self, depth: int) -> None:
        """``(command)`` and ``$(command)``."""
        if self._peek() == "$":
            self.at += 1
        self.builder.put("$")
        self._take()
        if depth < _DEPTH:
            outer, self.blocks, self.inside = (self.blocks, self.inside), [], []
            self.statements(")", depth + 1)
            self.blocks, self.inside = outer
        if self._peek() == ")":
            self._take()

    def _variable(self, found: re.Match[str], *, quoted: bool, whole: bool) -> None:
        name, index = found[1], found[2]
        since = len(self.builder.offsets)
        mark = "" if quoted else '"'
        if name == "argv" and (several := _arguments(index or "")) and not found[0].startswith("$$"):
            self.builder.put(f"{mark}{several}{mark}")
        elif name == "argv" and index and (number := whole_number(index[1:-1])) is not None:
            mark = "" if whole else mark  # one that is not given is no word
            self.builder.put(f"{mark}${{{number}}}{mark}")
        elif index or found[0].startswith("$$"):
            self.builder.put(f"{mark}${{{self.places.name(found[0], 'an item of a list')}}}{mark}")
        elif name not in self.lists:
            self.builder.put(f"${{{name}}}")
        elif self.lists[name]:
            self.builder.put(f'"${{{name}[@]}}"' if whole else f"{mark}${{{name}[*]}}{mark}")
        else:
            if self.lists[name] is None and whole:
                mark = ""  # it cannot be split, and may be an option
            self.builder.put(f"{mark}${{{name}}}{mark}")
        self.builder.used(since, found.start(), found.end())
        self.at = found.end()
