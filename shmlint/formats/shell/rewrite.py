"""Edits of a ``docker run`` command's options, in the command's own style."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.docker.accelerators import is_gpu, is_gpu_runtime
from shmlint.docker.run_options import Option, RunCommand
from shmlint.docker.sizes import spell_docker
from shmlint.model.launch import Change, ReadOnly
from shmlint.model.source import Edit, Span
from shmlint.syntax.word import Word

OPTION = "--shm-size"


class RunRewriter(ReadOnly):
    """Rewrites one command. ``verb`` is the word ``run``, ``words`` all after it."""

    __slots__ = ("run", "span", "verb", "words")

    def __init__(self, run: RunCommand, verb: Word, span: Span, words: Sequence[Word]) -> None:
        self.run = run
        self.verb = verb
        self.span = span
        self.words = words

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to give the command a ``--shm-size`` of so many bytes, the best first.

        None where no number follows the option: the word behind it may be the image, or the next option.
        """
        given = self.run.shm_size()
        if given is not None and not given.unknown and re.match(_NUMBER, given.value or "") is None:
            return ()
        return list(self._changes(spell_docker(size)))

    def drop_shm_size(self) -> Sequence[Change]:
        """A way to take every ``--shm-size`` away."""
        return self._dropped(self.run.all(OPTION), OPTION)

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """Ways to give the command an ``--ipc`` mode; an empty one takes it away."""
        if not mode:
            return self._dropped(self.run.all("--ipc"), "--ipc")
        return list(self._set(self.run.ipc(), "--ipc", mode, f"--ipc={mode}"))

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """Ways to give the command a ``--ulimit``, soft and hard."""
        text = f"{name}={value}"
        return list(self._set(self.run.ulimits().get(name), "--ulimit", text, f"--ulimit {text}"))

    def drop_variable(self, name: str) -> Sequence[Change]:
        """A way to take every ``-e`` of a variable away."""
        return self._dropped(self._variable(name), name)

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """A way to give a variable another name; none where the host's is passed on, or the name is taken."""
        if self._variable(new):
            return ()
        edits = []
        for option in self._variable(name):
            word = option.value_word or option.word
            found = _NAME.match(word.span.text) if word.span is not None and self._ours(word) else None
            if found is None or found[1] != name or word.span is None:
                return ()
            at = word.span.start + found.start(1)
            edits.append(Edit(word.span.path, at, at + len(name), new))
        return (_named(f"rename {name} to {new}", self._variable(name)[0], edits),) if edits else ()

    def _variable(self, name: str) -> list[Option]:
        """The options that give a variable. What an unknown one gives is not known."""
        return [o for o in self.run.all("--env") if (o.value or "").partition("=")[0] == name]

    def _changes(self, text: str) -> Iterator[Change]:
        yield from self._set(self.run.shm_size(), OPTION, text, f"{OPTION}={text}")

    def _set(self, given: Option | None, name: str, value: str, new: str) -> Iterator[Change]:
        """Another value of an option that is given, else a new option."""
        if given is not None:
            if given.value_span is not None:
                place = given.value_span
                title = f"change `{name}` to {value} in line {place.line}"
                yield Change((Edit(place.path, place.start, place.end, value),), title)
                if not self._within(place) and not _is_default(place):
                    yield from self._set_here(given, name, value, new)
            return
        gpu = self._gpu()
        if gpu is not None and not _taken_apart(gpu.word):
            if not _in_default(gpu.value_word or gpu.word):
                yield _after(gpu, new)
        else:
            first = self._first()
            if first is not None and not _in_default(first.word):
                yield _before(first, new)
        if self.verb.span is not None:
            at = self.verb.span.end
            yield _insertion(self.verb.span, at, f" {new}", new)
        image = self.run.image
        if image is not None and image.array is not None and image.span is not None and not self._within(image.span):
            yield _insertion(image.span, image.span.start, f"{new} ", new)  # for one call of a function
        argument = self._argument()
        if argument is not None:
            yield _insertion(argument, argument.start, f"{new} ", new)
        yield from self._before_image(new)

    def _argument(self) -> Span | None:
        """The first option, or else the image, that is an argument of a call of make's: ``$(call run,-it,image)``."""
        words = [option.word for option in self.run.options]
        words += [self.run.image] if self.run.image is not None else []
        given = (word.span for word in words if word.used is not None and word.span is not None)
        return next((span for span in given if self._within(span)), None)

    def _set_here(self, given: Option, name: str, value: str, new: str) -> Iterator[Change]:
        """Another value for this command alone, where the value comes from a variable or an array."""
        last = given.value_word or given.word
        title = f"change `{name}` to {value} in line"
        if given.joined and self._here(given.word) and given.word.span is not None:
            place = given.word.span
            yield Change((Edit(place.path, place.start, place.end, new),), f"{title} {place.line}")
        elif not given.joined and self._here(given.word) and last.used is not None:
            place = last.used
            if self._within(place) and sum(word.used == place for word in self.words) == 1:
                yield Change((Edit(place.path, place.start, place.end, value),), f"{title} {place.line}")
        yield from self._before_image(new)  # of an option that is given twice the last one counts

    def _before_image(self, new: str) -> Iterator[Change]:
        """A new option in front of the image, where that is a word of the command itself: for this one alone."""
        image = self.run.image
        span = (image.used or image.span) if image is not None else None
        if span is not None and self._within(span):
            text = span.source.text
            start = span.start - 1 if text[span.start - 1] == '"' and text[span.start] == "$" else span.start
            yield _insertion(span, start, f"{new} ", new)

    def _dropped(self, options: Sequence[Option], what: str) -> Sequence[Change]:
        """The change that takes options away; none where one of them is not written here by itself."""
        edits = []
        for option in options:
            last = option.value_word or option.word
            if not (self._ours(option.word) and self._ours(last)) or option.word.array != last.array:
                return ()
            if _taken_apart(option.word):
                return ()
            edit = _without(option)
            if edit is None:
                return ()
            edits.append(edit)
        return (_named(f"remove {what}", options[0], edits),) if edits else ()

    def _ours(self, word: Word) -> bool:
        """Whether a word is in the command, or in an array that it uses."""
        return word.span is not None and word.used is None and (self._here(word) or word.array is not None)

    def _here(self, word: Word) -> bool:
        """Whether a word is in the command itself, not in a variable it uses."""
        return word.span is not None and word.used is None and self._within(word.span)

    def _within(self, span: Span) -> bool:
        """Whether a place is in the command's own text."""
        return span.source is self.span.source and self.span.start <= span.start and span.end <= self.span.end

    def _first(self) -> Option | None:
        """The option to put another before: one whose value is elsewhere and asks for GPUs, or the first."""
        here = [option for option in self.run.options if self._here(option.word)]
        asking = [option for option in here if _asks_for_gpus(option) and option.value_word is not None]
        return next(iter([*asking, *here]), None)

    def _gpu(self) -> Option | None:
        """An option that asks for GPUs and is in one piece, in the command or in an array.

        The last ``--gpus`` or, without one, the last of the others.
        """
        found = None
        for option in self.run.options:
            last = option.value_word or option.word
            here = self._here(option.word) and self._here(last)
            in_array = option.word.array is not None and option.word.array == last.array
            if not (here or in_array) or not _asks_for_gpus(option):
                continue
            if found is None or option.name == "--gpus" or found.name != "--gpus":
                found = option
        return self._last_device(found) if found is not None and found.name == "--device" else found

    def _last_device(self, option: Option) -> Option:
        """The last of the devices that are after an option: nothing is put between them."""
        options = list(self.run.options)
        at = options.index(option)
        for after in options[at + 1 :]:
            last = after.value_word or after.word
            together = after.word.array == option.word.array == last.array
            if after.name != "--device" or not together or not self._ours(after.word) or not self._ours(last):
                break
            option = after
        return option


_DEFAULT = r"\$\{[\w@*]+:?[-=][^}]*$|^\s*(?:(?:override|export)\s+)*[\w.-]+\s*\?=[^#]*$"


def _is_default(place: Span) -> bool:
    """Whether a value is a default, which another one may take the place of: ``${SHM:-64m}``, ``SHM ?= 64m``.

    A size in the command itself would take that from those who use it.
    """
    text = place.source.text
    return re.search(_DEFAULT, text[text.rfind("\n", 0, place.start) + 1 : place.start]) is not None


def _in_default(word: Word) -> bool:
    """Whether an option is in the default of a variable: who sets that would not get what is added to it."""
    return word.span is not None and _is_default(word.span)


def _asks_for_gpus(option: Option) -> bool:
    value = option.value or ""
    if option.name == "--device":
        return is_gpu(value.partition(":")[0])
    return option.name == "--gpus" or (option.name == "--runtime" and is_gpu_runtime(value))


_NUMBER = r"""\s*["']?[+-]?[.,]?\d|\s*$"""
"""The start of what is meant as a size; an empty value is filled in."""
_NAME = re.compile(r"""["']?(?:--env=|-e=?)?["']?([\w.-]+)=""")
"""The name of a variable in the word that holds it, the option before it where the two are one word."""

_ALONE = r"""(?s)["']?(?:--[a-z-]+(?:=.*)?|-e(?:=?[\w.-]+(?:=.*)?)?)["']?"""
"""An option that is not a cluster of several."""


def _named(verb: str, option: Option, edits: Sequence[Edit]) -> Change:
    span = option.word.span
    assert span is not None
    return Change(tuple(dict.fromkeys(edits)), f"{verb} in line {span.line}")


def _without(option: Option) -> Edit | None:
    """The edit that takes an option and its value away, with the line that held nothing else."""
    last = (option.value_word or option.word).span
    span = option.word.span
    if span is None or last is None or last.source is not span.source or last.end < span.start:
        return None
    if not re.fullmatch(_ALONE, span.text) or (option.joined and last != span):
        return None
    own = _own_line(option)
    if own is not None:
        return Edit(span.path, own[0], own[2], "")
    text, start, end = span.source.text, span.start, last.end
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip(" \t") and text[start - 1] in " \t":
        while text[start - 1] in " \t":
            start -= 1
    else:
        while text[end : end + 1] in (" ", "\t"):
            end += 1
    return Edit(span.path, start, end, "")


def _taken_apart(word: Word) -> bool:
    """Whether a word is in an array, and its script uses parts of arrays or changes their elements."""
    return word.array is not None and re.search(_PARTS, word.array.source.text) is not None


_PARTS = r"\$\{#\w+\[|\$\{!?\w+\[[@*]\][:/%#^,@]|\$\{\w+\[[^@*\]]|\bshift\b|\$\{[@*]:"


def _insertion(place: Span, at: int, new: str, shown: str) -> Change:
    line = place.source.position(at).line
    return Change((Edit(place.path, at, at, new),), f"add `{shown}` in line {line}")


def _own_line(option: Option) -> tuple[int, str, int] | None:
    """Where the first line of an option starts, how it is indented and where its last line ends.

    None where another word is on these lines, or where they are not lines of their own.
    """
    span = option.word.span
    word = option.value_word or option.word
    last = word.used or word.span
    if span is None or last is None or last.end < span.start:
        return None
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    indentation = text[start : span.start]
    end = text.find("\n", last.end)
    if indentation.strip(" \t") or start == 0 or end < 0:
        return None
    rest = text[last.end : end].strip()
    if option.word.array is not None and (not rest or rest.startswith("#")):
        return start, indentation, end + 1
    before = text[:start].rstrip("\r\n")
    return (start, indentation, end + 1) if rest == "\\" and before.endswith("\\") else None


def _line(span: Span, indentation: str, end: int, new: str) -> str:
    """A line for the new option, as the one that ends at ``end`` is."""
    ending = "\r\n" if span.source.text[end - 2 : end - 1] == "\r" else "\n"
    mark = " \\" if span.source.text[:end].rstrip("\r\n").endswith("\\") else ""
    return f"{indentation}{new}{mark}{ending}"


def _after(option: Option, new: str) -> Change:
    """Behind an option: on a line of its own where the options are one to a line."""
    own = _own_line(option)
    last = (option.value_word or option.word).span
    assert last is not None
    if own is not None:
        _, indentation, end = own
        line = last.source.position(end - 1).line
        edit = Edit(last.path, end, end, _line(last, indentation, end, new))
        return Change((edit,), f"add `{new}` after line {line}")
    return _insertion(last, last.end, f" {new}", new)


def _before(option: Option, new: str) -> Change:
    """In front of an option, on a line of its own where the options are one to a line."""
    own = _own_line(option)
    span = option.word.span
    assert span is not None
    if own is not None:
        start, indentation, end = own
        line = span.source.position(start).line
        edit = Edit(span.path, start, start, _line(span, indentation, end, new))
        return Change((edit,), f"add `{new}` before line {line}")
    return _insertion(span, span.start, f"{new} ", new)


def join_by_sign(option: Option) -> Iterator[Change]:
    """Write ``--gpus=all`` for ``--gpus all`` in one word, unless there are other options in it, too."""
    name, place = option.word.text.partition(" ")[0], option.value_span
    if place is None or " " in (option.value or ""):
        return
    start = place.start
    while place.source.text[start - 1] == " ":
        start -= 1
    if place.source.text[:start].endswith(name):
        title = f"write {name}={option.value} in line {place.line}"
        yield Change((Edit(place.path, start, place.start, "="),), title)


_ALONE_QUOTED = "'{}'"
_QUOTING = (r'\"', r'\\\"', '"')
"""A quotation mark that reaches Docker: from a text without quotation marks or between double ones, from
such a text inside another, and from between single ones."""


def write_quotes(option: Option, meant: str) -> Iterator[Change]:
    """Write the quotation marks of a list of devices, which Docker wants to see itself, the best way first.

    What is around the list decides which of the ways is right, and the proof tells them apart.
    """
    place = option.value_span
    if place is None or place.text != option.value:
        return
    text, start, end = place.source.text, place.start, place.end
    own = text[start - 1 : start] == text[end : end + 1] and text[end : end + 1] in ("'", '"')
    around = text[text.rfind("\n", 0, start) + 1 : start - own]
    ways = [(start, end, meant.replace('"', mark)) for mark in _QUOTING]
    ways.append((start, end, _ALONE_QUOTED.format(meant.replace('"', r"\""))))
    outside = around.count('"') % 2 == 0 and around.count("'") % 2 == 0
    ways.insert(0 if outside else len(ways), (start - own, end + own, _ALONE_QUOTED.format(meant)))
    for begin, stop, new in ways:
        shown = new if new[0] == "'" or new[0] == "\\" else f"'{new}'"
        yield Change((Edit(place.path, begin, stop, new),), f"write --gpus {shown} in line {place.line}")
