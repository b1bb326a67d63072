"""The syntax of systemd's units: settings with their places, and command lines as a shell would write them.

Sources: systemd.syntax(7) and systemd.service(5), "Command lines"; src/basic/extract-word.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from shmlint.model.record import NamedTuple
from shmlint.model.source import BOM, Source, Span
from shmlint.syntax.shell_text import Builder, Places, ShellText

Char = tuple[str, int]
"""A character and its place in the file."""


class Setting(NamedTuple):
    """One ``Key=value``; ``chars`` is the value, its lines joined as systemd joins them."""

    section: str
    key: str
    span: Span
    """All of its lines."""
    chars: tuple[Char, ...]
    broken: tuple[int, ...] = ()
    """Where blanks after a backslash end it for systemd, which its reader does not see."""

    @property
    def text(self) -> str:
        return "".join(char for char, _ in self.chars)


_KEY = re.compile(r"[ \t]*([A-Za-z][\w-]*)[ \t]*=[ \t]*")
_SECTION = re.compile(r"[ \t]*\[([^\]]*)\]")


def settings(source: Source) -> Iterator[Setting]:
    """The settings of a unit in the order of the file."""
    section, key = "", ""
    chars: list[Char] = []
    broken: list[int] = []
    begin = end = 0
    for number in range(1, len(source.line_starts) + 1):
        start, stop = source.line_span(number)
        if number == 1 and source.text.startswith(BOM):
            start += len(BOM)
        line = source.text[start:stop]
        if line.lstrip()[:1] in ("#", ";") and line.strip():
            continue  # also between the lines of one value
        if not key:
            if (header := _SECTION.match(line)) is not None:
                section = header[1]
                continue
            if (found := _KEY.match(line)) is None:
                continue
            key, begin, chars, broken = found[1], start, [], []
            start += found.end()
        end = stop
        if not _lengthened(source.text, (start, stop), chars, broken):
            yield Setting(section, key, Span(source, begin, end), tuple(chars), tuple(broken))
            key = ""
    if key:
        yield Setting(section, key, Span(source, begin, end), tuple(chars), tuple(broken))


def _lengthened(text: str, line: tuple[int, int], chars: list[Char], broken: list[int]) -> bool:
    """Add a line to a value; whether it goes on in the next."""
    start, end = line
    bare = text[start:end].rstrip()
    goes_on = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    last = start + len(bare) - goes_on
    chars += ((text[at], at) for at in range(start, last))
    if goes_on:
        chars.append((" ", last))
        if last + 1 < end:
            broken.append(last)
    return goes_on


# Command lines ---------------------------------------------------------------------------------


class Item(NamedTuple):
    """A character of a word, or a quotation mark around a part of it."""

    char: str
    at: int
    mark: bool = False
    quoted: bool = False


_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"', "'": "'",
    "s": " ",
}  # fmt: skip
_CODED = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{3})")


def words(chars: Sequence[Char]) -> Iterator[list[Item]]:
    """The words of a command line: quotation marks may be anywhere, and escapes count between them too."""
    text = "".join(char for char, _ in chars)
    word: list[Item] = []
    quote = ""
    i = 0
    while i < len(chars):
        char, at = chars[i]
        i += 1
        if char == "\\" and i < len(chars):
            escaped, length = _unescaped(text, i)
            if escaped == "\\;" and not word and text[i + 1 : i + 2].strip() == "":
                escaped = ";"
                word += [Item('"', at, True, True), Item(";", at, False, True), Item('"', at, True, False)]
            else:
                word += [Item(c, at, False, bool(quote)) for c in escaped]
            i += length
        elif quote and char == quote:
            quote = ""
            word.append(Item('"', at, True))
        elif not quote and char in "'\"":
            quote = char
            word.append(Item('"', at, True, True))
        elif not quote and char in " \t\n\r":
            if word:
                yield word
            word = []
        else:
            word.append(Item(char, at, False, bool(quote)))
    if quote:
        word.append(Item('"', word[-1].at, True))
    if word:
        yield word


def _unescaped(text: str, at: int) -> tuple[str, int]:
    """What a backslash before ``at`` and the characters from there on stand for, and how many these are."""
    if (coded := _CODED.match(text, at)) is not None:
        code = int(coded[4], 8) if coded[4] else int(coded[1] or coded[2] or coded[3], 16)
        return (chr(code) if 0 < code < 0x110000 else "?"), coded.end() - at
    return _ESCAPES.get(text[at], f"\\{text[at]}"), 1


_HARMLESS = re.compile(r"[\w./:=,+@%-]")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}|\$\$|%(.)")
_WHOLE = re.compile(r"\$([A-Za-z_]\w*)")
_NO_VARIABLE = re.compile(r"\$(?:[^{$%][^%]*)?", re.S)
"""A word that is read as the name of a variable and can be none: systemd leaves it out (src/basic/env-util.c)."""

Environment = Mapping[str, Sequence[Char] | None]
"""The variables that a unit sets, with their values; None where a value is not known."""


class Writer:
    """Writes words of a unit as a shell would have them, each character with its place."""

    def __init__(self, source: Source, environment: Environment, places: Places) -> None:
        self.source = source
        self.builder = Builder(source)
        self.environment = environment
        self.places = places
        self.expands = True

    def text(self, home: Span) -> ShellText:
        return self.builder.build(home)._replace(unset=self.places.because)

    def command(self, found: Sequence[list[Item]]) -> None:
        """A command line with the marks before its program, and ``;`` between several."""
        first = True
        skip = False
        for word in found:
            if "".join(item.char for item in word) == ";":
                self.builder.put(";", word[0].at)
                self.builder.put(" ")
                first = True
                continue
            if skip:  # after `@` comes the name that the program gets as its own
                skip = False
                continue
            if first:
                marks = 0
                while marks < len(word) and not word[marks].mark and word[marks].char in "-@:+!|":
                    marks += 1
                prefix = {item.char for item in word[:marks]}
                self.expands, skip = ":" not in prefix, "@" in prefix
                word = word[marks:]
                first = False
            self.word(word)

    def word(self, word: Sequence[Item]) -> None:
        """One word, and a blank after it."""
        if not word:
            return
        raw = "".join(item.char for item in word if not item.mark)
        whole = _WHOLE.fullmatch(raw) if self.expands else None
        if whole is None and self.expands and _NO_VARIABLE.fullmatch(raw):
            return
        if whole is not None:
            since = len(self.builder.offsets)
            self._variable(whole[1], splits=True)
            self.builder.used(since, word[0].at, word[-1].at + 1)
        else:
            self._items(word)
        self.builder.put(" ")

    def _items(self, word: Sequence[Item]) -> None:
        text = "".join("\0" if item.mark else item.char for item in word)
        i = 0
        while i < len(word):
            item = word[i]
            found = _VARIABLE.match(text, i) if item.char in "$%" else None
            if item.mark:
                self.builder.put('"', item.at)
                i += 1
            elif found is None or (item.char == "$" and not self.expands):
                self._literal(item.char, item.at, item.quoted)
                i += 1
            else:
                last = word[found.end() - 1].at + 1
                since = len(self.builder.offsets)
                if found[0] in ("$$", "%%"):
                    self._literal(found[0][0], item.at, item.quoted)
                else:
                    many = found[1] in self.places.written and len(found[0]) == len(word)
                    mark = "" if item.quoted or many else '"'
                    self.builder.put(mark)
                    if found[1]:
                        self._variable(found[1], splits=False)
                    else:
                        self.builder.put(f"${{{self.places.name(found[0], 'a specifier of systemd')}}}")
                    self.builder.put(mark)
                    self.builder.used(since, item.at, last)
                i = found.end()

    def _variable(self, name: str, *, splits: bool) -> None:
        """A variable's value, or the variable where the unit does not say it."""
        value = self.environment.get(name)
        if value is None:
            self.builder.put(f"${name}" if splits else f"${{{name}}}")
            return
        if splits:
            self._split(value)
            return
        for char, at in value:
            self._literal(char, at, quoted=True)

    def _split(self, value: Sequence[Char]) -> None:
        """The words of a variable that is a word of its own: quotation marks count in it, escapes do not."""
        quote = ""
        escaped = False
        for char, at in value:
            if escaped:
                self._literal(char, at, bool(quote))
                escaped = False
            elif char == "\\":
                escaped = True
            elif char in (quote or "'\""):
                quote = "" if quote else char
                self.builder.put('"', at)
            elif not quote and char in " \t":
                self.builder.put(" ", at)
            else:
                self._literal(char, at, bool(quote))
        if quote:
            self.builder.put('"')

    def _literal(self, char: str, at: int, quoted: bool) -> None:
        if char in ("\0", "\n"):
            char = " "
        escape = char in '"\\$`' if quoted else not _HARMLESS.match(char)
        if not escape:
            self.builder.put(char, at)
            return
        since = len(self.builder.offsets)
        before, after = ('"', '"') if char in " \t\r" else ("\\", "")
        self.builder.put(before)
        self.builder.put(char, at)
        self.builder.put(after)
        self.builder.used(since, at, at + 1)


_MARKED = re.compile(r"\{\{.*?\}\}|\$\{\{.*?\}\}|(?<![\w@])@[A-Z][A-Z0-9_]*@|<[A-Za-z][\w-]*>")


def without_marks(chars: Sequence[Char], places: Places) -> list[Char]:
    """A value with a specifier instead of each mark that a build or a person replaces: ``@IMAGE@``."""
    text = "".join(char for char, _ in chars)
    found: list[Char] = []
    at = 0
    for match in _MARKED.finditer(text):
        found += chars[at : match.start()]
        variable = f"${{{places.name(match[0])}}}"
        found += [(char, chars[match.start()][1]) for char in variable[:-1]]
        found.append((variable[-1], chars[match.end() - 1][1]))
        at = match.end()
    return [*found, *chars[at:]]
