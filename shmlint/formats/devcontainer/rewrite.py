"""Edits of ``runArgs`` and ``containerEnv``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.docker.run_options import Option, RunCommand
from shmlint.docker.sizes import spell_docker
from shmlint.formats.devcontainer.properties import run_arguments
from shmlint.formats.devcontainer.splice import members_of, put_before, removal
from shmlint.model.launch import Change, ReadOnly
from shmlint.model.source import Edit, Span
from shmlint.syntax.json import Json


class DevcontainerRewriter(ReadOnly):
    """Rewrites ``runArgs`` and ``containerEnv``; comments, commas and indentation stay."""

    __slots__ = ("root", "run")

    def __init__(self, root: Json, run: RunCommand) -> None:
        self.root = root
        self.run = run

    def set_shm_size(self, size: int) -> Sequence[Change]:
        """Ways to give the container a ``--shm-size`` of so many bytes."""
        return list(self._changes(spell_docker(size)))

    def drop_shm_size(self) -> Sequence[Change]:
        """A way to take every ``--shm-size`` away."""
        return self._dropped("--shm-size", self._items(self.run.all("--shm-size")), ())

    def set_ipc(self, mode: str) -> Sequence[Change]:
        """Ways to give the container an ``--ipc`` mode; an empty one takes it away."""
        if not mode:
            return self._dropped("--ipc", self._items(self.run.all("--ipc")), ())
        return list(self._set(self.run.ipc(), "--ipc", mode))

    def set_ulimit(self, name: str, value: str) -> Sequence[Change]:
        """Ways to give the container a ``--ulimit``, soft and hard."""
        return list(self._set(self.run.ulimits().get(name), "--ulimit", f"{name}={value}"))

    def drop_variable(self, name: str) -> Sequence[Change]:
        """A way to take a variable out of ``containerEnv`` and ``runArgs``."""
        options, pairs = self._variable(name)
        return self._dropped(name, self._items(options), pairs)

    def rename_variable(self, name: str, new: str) -> Sequence[Change]:
        """A way to give a variable another name; none where the host's is passed on, or the name is taken."""
        options, pairs = self._variable(name)
        if any(self._variable(new)):
            return ()
        places = [key.inside for key, _ in pairs]
        for option in options:
            word = option.value_word or option.word
            at = word.text.find(f"{name}=")
            if word.span is None or at < 0 or word.span.text != word.text:
                return ()
            places.append(Span(word.span.source, word.span.start + at, word.span.start + at + len(name)))
        if not places or any(place.text != name for place in places):
            return ()
        edits = tuple(Edit(place.path, place.start, place.end, new) for place in places)
        return (Change(edits, f"rename {name} to {new} in line {places[0].line}"),)

    def _variable(self, name: str) -> tuple[list[Option], list[tuple[Json, Json]]]:
        """The options of ``runArgs`` and the properties of ``containerEnv`` that give a variable."""
        arguments = {(item.start, item.end) for item in run_arguments(self.root)}
        options = [
            option for option in self.run.all("--env")
            if (option.value or "").partition("=")[0] == name
            and option.word.span is not None
            and (option.word.span.start - 1, option.word.span.end + 1) in arguments
        ]  # fmt: skip
        given = self.root.get("containerEnv")
        return options, [given.entries[name]] if given is not None and name in given.entries else []

    def _items(self, options: Sequence[Option]) -> list[int] | None:
        """The numbers of the items of ``runArgs`` that hold options; None where they cannot be distinguished."""
        array = self.root.get("runArgs")
        numbers = {item.start + 1: i for i, item in enumerate(array.items)} if array is not None else {}
        found: list[int] = []
        for option in options:
            for word in dict.fromkeys((option.word, option.value_word or option.word)):
                i = numbers.get(word.span.start) if word.span is not None else None
                cluster = word is option.word and not word.text.startswith(("--", "-e"))
                if i is None or cluster:
                    return None
                found.append(i)
        return found

    def _dropped(
        self, what: str, items: Sequence[int] | None, pairs: Sequence[tuple[Json, Json]]
    ) -> Sequence[Change]:
        """The change that takes items of ``runArgs`` and properties of ``containerEnv`` away."""
        if items is None or not (items or pairs):
            return ()
        edits: list[Edit] = []
        emptied: list[tuple[int, int]] = []  # properties that nothing would be left of
        for key, gone in (("containerEnv", [k.start for k, _ in pairs]), ("runArgs", items)):
            entry = self.root.entries.get(key)
            if not gone or entry is None:
                continue
            holder = entry[1]
            members = members_of(holder)
            chosen = [m for i, m in enumerate(members) if (m[0] if holder.entries else i) in gone]
            if len(chosen) == len(members):
                emptied.append((entry[0].start, holder.end))
            else:
                edits += removal(holder.source, members, chosen)
        if emptied:
            members = members_of(self.root)
            if len(members) == len(emptied):
                return ()
            edits += removal(self.root.source, members, sorted(emptied))
        first = min(edits)
        line = self.root.source.position(pairs[0][0].start if pairs else first.start + 1).line
        return (Change(tuple(edits), f"remove {what} in line {line}"),)

    def _changes(self, text: str) -> Iterator[Change]:
        yield from self._set(self.run.shm_size(), "--shm-size", text)

    def _set(self, given: Option | None, name: str, text: str) -> Iterator[Change]:
        """Another value of an option that is given, else a new item of ``runArgs``."""
        if given is not None:
            word = given.value_word or given.word
            place = given.value_span or word.span
            if place is not None:
                # A value with escapes in it is written anew as a whole string.
                whole = given.joined and given.value_span is None
                new = f"{given.word.text.partition('=')[0]}={text}" if whole else text
                title = f"change `{name}` to {text} in line {place.line}"
                yield Change((Edit(place.path, place.start, place.end, new),), title)
            return
        argument = f'"{name}={text}"'
        entry = self.root.entries.get("runArgs")
        if entry is None:
            yield from self._new_property(argument)
            return
        array = entry[1]
        if array.kind == "null":
            title = f"add {argument} in line {array.span.line}"
            yield Change((Edit(array.source.path, array.start, array.end, f"[{argument}]"),), title)
        if array.kind != "array":
            return
        if not array.items:
            title = f"add {argument} in line {array.span.line}"
            yield Change((Edit(array.source.path, array.start + 1, array.start + 1, argument),), title)
            return
        source = array.source
        packed = len(array.items) > 1 and source.text[array.items[0].end : array.items[1].start] == ","
        yield put_before(self._anchor(array), argument, gap="" if packed else " ")

    def _anchor(self, array: Json) -> Json:
        """The element to put the option before: the one that asks for GPUs, else the first."""
        gpu = self.run.last("--gpus")
        for item in array.items:
            if gpu is not None and gpu.word.span is not None and item.start <= gpu.word.span.start < item.end:
                return item
        return array.items[0]

    def _new_property(self, argument: str) -> Iterator[Change]:
        if not self.root.entries:
            return
        entry = self.root.entries.get("hostRequirements") or next(iter(self.root.entries.values()))
        yield put_before(entry[0], f'"runArgs": [{argument}]', argument)
