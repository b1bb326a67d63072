"""The configuration that ``@hydra.main`` composes, and what ``hydra.utils.instantiate`` makes of it.

https://hydra.cc/docs/advanced/defaults_list/ and https://hydra.cc/docs/advanced/instantiate_objects/overview/
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from shmlint.files.read import normal
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.workloads.python.configurations.settings_files import OPEN, Part, read_settings, read_value
from shmlint.workloads.python.values import UNKNOWN, Found, key_of, text_of
from shmlint.workloads.repository import Repository

_MOST_FILES = 60
_MOST_LAID = 300
"""Files that are laid over each other, each as often as others name it."""
_MOST_PARTS = 20_000
"""Parts that are looked at for one call."""
_MOST_DEEP = 8
"""Files that name each other, and values that are others."""
_NOWHERE = Source("", "")
_OWN_OPTIONS = ("hydra.run.", "hydra.job.chdir", "hydra.job.name", "hydra.output_subdir", "hydra.verbose",
                  "hydra.sweep.", "hydra.hydra_logging.", "hydra.job_logging.")  # fmt: skip
"""Options of Hydra itself that change no value of the program."""
_ONE_RUN = frozenset({"run", "job", "output_subdir", "verbose", "sweep", "hydra_logging", "job_logging", "help",
                      "hydra_help", "callbacks", "launcher", "defaults", "sweeper"})  # fmt: skip
"""What a file may say of Hydra: nothing of other folders or of several runs."""


class _Entry(NamedTuple):
    """One entry of a list of defaults: a file of a group, and where in the configuration it goes."""

    group: str
    choice: str
    package: str
    optional: bool = False
    placed: bool = False
    """Whether the entry itself says where."""


class _Stop(Exception):
    """Something is not understood."""


class Composed:
    """Composes a configuration of the files in a folder and of the words of a command.

    ``stores`` is whether code keeps files of its own, in Hydra's ``ConfigStore``.
    """

    def __init__(self, repository: Repository, folder: str, name: str, words: Sequence[str], *, stores: bool) -> None:
        self._stores = stores
        self._repository = repository
        self._folder = folder
        self._name = name
        self._choices: dict[str, str] = {}
        """The choices of groups that the command or a file overrides."""
        self._added: list[_Entry] = []
        self._values: list[tuple[str, str, str]] = []
        self._read = self._laid = 0
        self._noted: set[tuple[str, str]] = set()
        """The files whose choices for others are known, or being looked for."""
        self._known: dict[tuple[str, str], tuple[Part, str | None] | None] = {}
        self._words = words

    def root(self) -> Part | None:
        """The whole configuration; None where a file or a word is not understood."""
        try:
            self._parse(self._words)
            first = self._source("", self._name)
            if first is None:
                return None
            self._note_overrides([*_defaults(self._wanted("", self._name)), *self._added], "")
            found = self._file(_Entry("", self._name, ""), 0)
            for entry in self._added:
                found = self._file(entry, 0).over(found)
            return self._with_values(_of_one_run(found))
        except _Stop:
            return None

    # The command --------------------------------------------------------------------------------

    def _parse(self, words: Sequence[str]) -> None:
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            name, equals, value = word.partition("=")
            if name in ("--config-name", "-cn"):
                value, at = (value, at) if equals else (words[at] if at < len(words) else "$", at + 1)
                self._name = value.removesuffix(".yaml")
            elif equals and re.fullmatch(r"(?:\+\+?)?[A-Za-z_][\w./-]*", name):
                self._override(name, value)
            elif re.fullmatch(r"~[\w./]+", word):
                self._values.append(("~", word[1:], ""))
            else:
                raise _Stop  # several runs, another folder, a word that is not known
        if not self._name or "$" in self._name:
            raise _Stop

    def _override(self, name: str, value: str) -> None:
        key = name.lstrip("+")
        group = key.replace(".", "/") if "/" not in key else key
        if re.match(r"hydra(?:[./]|$)", key):
            if not key.startswith((*_OWN_OPTIONS, "hydra/hydra_logging", "hydra/job_logging")):
                raise _Stop
            return
        if "." not in key and self._repository.is_dir(normal(os.path.join(self._folder, group))):
            if "$" in value or "," in value:
                raise _Stop
            self._choices[group] = value.removesuffix(".yaml")
            if name.startswith("+"):
                self._added.append(_Entry(group, self._choices[group], group.replace("/", ".")))
        elif "/" in key or ("." not in key and name.startswith("+") and self._stores):
            raise _Stop  # a file that is elsewhere
        else:
            self._values.append(("", key, value))

    def _with_values(self, root: Part) -> Part:
        for how, key, value in self._values:
            path = key.split(".")
            if how:
                holder = root.get(path[:-1])
                left = {name: part for name, part in holder.entries.items() if name != path[-1]} if holder else {}
                root = root.put(path[:-1], holder._replace(value=left)) if holder is not None else root
            else:
                above = [root.get(path[:end]) for end in range(1, len(path))]
                if any(part is not None and part.text for part in above):
                    raise _Stop  # of another part, to which it refers
                given, before = read_value(value, root.source), root.get(path)
                root = root.put(path, given.over(before) if before is not None else given)
        return root

    # Its files ----------------------------------------------------------------------------------

    def _source(self, group: str, choice: str) -> Source | None:
        path = normal(os.path.join(self._folder, group, f"{choice.removesuffix('.yaml')}.yaml"))
        self._read += 1
        if self._read > _MOST_FILES:
            raise _Stop
        return self._repository.source(path)

    def _settings(self, group: str, choice: str) -> tuple[Part, str | None] | None:
        """What a file says, and the package that its first lines name."""
        if (group, choice) not in self._known:
            source = self._source(group, choice)
            found = read_settings(source) if source is not None else None
            header = re.search(r"(?m)^#[ \t]*@package:?[ \t]+(\S+)", source.text[:2000]) if source is not None else None
            package = header[1] if header is not None else None
            self._known[group, choice] = (found, package) if found is not None else None
        return self._known[group, choice]

    def _wanted(self, group: str, choice: str) -> Part:
        found = self._settings(group, choice)
        if found is None:
            raise _Stop
        return found[0]

    def _note_overrides(self, listed: Sequence[tuple[str, object] | _Entry], group: str) -> None:
        """The choices that files make for others, ``override /data: small``.

        A file beats those that it names, and the last of these the others.
        """
        for item in listed:
            key, chosen = ("", None) if isinstance(item, _Entry) else item
            if key.startswith("override "):
                if not isinstance(chosen, str) or "@" in key:
                    raise _Stop
                self._choices.setdefault(key.removeprefix("override ").strip().lstrip("/"), chosen)
        for item in reversed(listed):
            for entry in (item,) if isinstance(item, _Entry) else self._entries(*item, group, ""):
                found = self._settings(entry.group, entry.choice)
                if found is not None and entry[:2] not in self._noted:
                    self._noted.add(entry[:2])
                    self._note_overrides([*_defaults(found[0])], entry.group)

    def _file(self, entry: _Entry, depth: int) -> Part:
        """What a file brings, with those that its list of defaults names."""
        found = self._settings(entry.group, entry.choice)
        self._laid += 1
        if self._laid > _MOST_LAID:
            raise _Stop
        if found is None and entry.optional:
            return Part({}, _NOWHERE)
        if found is None or depth > _MOST_DEEP:
            raise _Stop
        part, header = found
        if header is not None and entry.placed:
            raise _Stop
        package = {"_global_": "", "_group_": entry.group.replace("/", "."), None: entry.package}.get(header, header)
        below, above, before = Part({}, part.source), Part({}, part.source), True
        names_itself = False
        for key, chosen in _defaults(part):
            if key == "_self_":
                names_itself, before = True, False
                continue
            for one in self._entries(key, chosen, entry.group, package or ""):
                inner = self._file(one, depth + 1)
                below, above = (inner.over(below), above) if before else (below, inner.over(above))
        own = Part({key: value for key, value in part.entries.items() if key != "defaults"}, part.source)
        own = Part({}, part.source).put(package.split("."), own) if package else own
        if names_itself or not below.entries:
            return above.over(own.over(below))
        # Which comes last depends on the version.
        return _either(own.over(below), below.over(own))

    def _entries(self, key: str, chosen: object, group: str, package: str) -> Iterator[_Entry]:
        """The files that an entry of a list of defaults names."""
        optional = key.startswith("optional ")
        key = key.removeprefix("optional ").strip()
        if key.startswith("override ") or key == "_self_":
            return
        if key.lstrip("/").split("/")[0] == "hydra":
            yield from self._of_hydra(key.lstrip("/"), chosen)
            return
        if not key:  # a file beside
            folder, _, name = text_of(chosen).rpartition("/")
            inner = f"{package}.{folder.replace('/', '.')}".strip(".") if folder else package
            yield _Entry(normal(os.path.join(group, folder)) if group or folder else "", name, inner, optional)
            return
        key, _, asked = key.partition("@")
        if key.startswith("/") and package:
            raise _Stop
        below = key.lstrip("/") if key.startswith("/") or not group else f"{group}/{key}"
        chosen = self._choices.get(below, chosen)
        where = {"_global_": "", "_here_": package}.get(asked, f"{package}.{asked or key.strip('/').replace('/', '.')}")
        for choice in chosen if isinstance(chosen, tuple) else (chosen,):
            choice = choice.value if isinstance(choice, Part) else choice
            if choice is None:
                continue
            if not isinstance(choice, str) or "$" in choice:
                raise _Stop
            yield _Entry(below, choice, where.strip("."), optional, bool(asked))

    def _of_hydra(self, group: str, choice: object) -> Iterator[_Entry]:
        """A file of the repository that sets Hydra itself; most are those that it brings."""
        path = normal(os.path.join(self._folder, group, f"{choice}.yaml"))
        if self._repository.is_file(path):
            yield _Entry(group, str(choice), group.replace("/", "."), True)


def _defaults(part: Part) -> Iterator[tuple[str, object]]:
    """The entries of the list of defaults of a file: the group, if any, and the choice."""
    listed = part.entries.get("defaults")
    if listed is None:
        return
    if not isinstance(listed.value, tuple):
        raise _Stop
    for item in listed.value:
        if isinstance(item.value, dict) and len(item.value) == 1:
            key, chosen = next(iter(item.value.items()))
            yield key, str(chosen.value) if isinstance(chosen.value, int) else chosen.value
        elif isinstance(item.value, str):
            yield ("_self_", "") if item.value == "_self_" else ("", item.value)
        else:
            raise _Stop


def _of_one_run(root: Part) -> Part:
    """A configuration that is not made anew for each of several runs."""
    said = root.entries.get("hydra")
    if said is not None and not _ONE_RUN.issuperset(said.entries):
        raise _Stop
    return root


def _either(one: Part, other: Part) -> Part:
    """What two orders of the same files agree on."""
    if one is other:
        return one
    if not isinstance(one.value, dict) or not isinstance(other.value, dict):
        if not _is_plain(one) or not _is_plain(other):
            raise _Stop
        return one if one.value == other.value else one._replace(value=UNKNOWN)
    return one._replace(value={key: _either(part, other.entries[key]) for key, part in one.entries.items()})


def _is_plain(part: Part) -> bool:
    """Whether a value, or each one of a list, has no others inside: it makes nothing of a class."""
    items = part.value if isinstance(part.value, tuple) else (part,)
    return not any(isinstance(item.value, dict | tuple) for item in items)


# What is made of it -----------------------------------------------------------------------------

_OF_HYDRA = frozenset({"_target_", "_partial_", "_recursive_", "_convert_", "_args_"})


class References:
    """Puts the values that a configuration takes from others of its own, ``${data.size}``, in their places."""

    def __init__(self) -> None:
        self._left = _MOST_PARTS

    @property
    def exceeded(self) -> bool:
        """Whether there were so many parts that not all were looked at: each may stand for many others."""
        return self._left < 0

    def resolved(self, part: Part, root: Part, depth: int = 0) -> Part:
        """A part of a configuration with all of its values, as far as they are known."""
        self._left -= 1
        if self.exceeded:
            return part
        if isinstance(part.value, dict):
            return part._replace(value={key: self.resolved(inner, root, depth) for key, inner in part.entries.items()})
        if isinstance(part.value, tuple):
            return part._replace(value=tuple(self.resolved(inner, root, depth) for inner in part.value))
        other = referred(part, root) if depth < _MOST_DEEP else part
        found = self.resolved(other, root, depth + 1) if other is not part else part
        return found._replace(source=part.source, start=part.start)


def values_of(root: Part) -> Iterator[tuple[str, Found]]:
    """The values of a whole configuration by their last keys, each with its place."""
    pending = list(References().resolved(root, root).entries.items())
    for key, part in pending:  # grows while it is walked
        if part.entries:
            pending += part.entries.items()
            continue
        value = tuple(one.value for one in part.value) if isinstance(part.value, tuple) else part.value
        text = part.source.text
        end = text.find("\n", part.start)
        span = Span(part.source, part.start, end if end >= 0 else len(text))
        known = value is not UNKNOWN and not (isinstance(value, str) and "$" in value)
        yield key_of(key), Found(value, True, (span,)) if known else Found(UNKNOWN, False, (span,))


def referred(part: Part, root: Part) -> Part:
    """The part that a reference stands for, and any other part itself."""
    for _ in range(_MOST_DEEP):
        match = re.fullmatch(r"\$\{([A-Za-z_][\w.]*)\}", part.text)
        other = root.get(match[1].split(".")) if match is not None else None
        if other is None:
            break
        part = other
    return part


def is_understood(part: Part) -> bool:
    """Whether each class that a part names is written there."""
    inner = part.value if isinstance(part.value, tuple) else part.entries.values()
    target = part.entries.get("_target_")
    named = target is None or all(word.isidentifier() for word in target.text.split("."))
    return named and all(map(is_understood, inner))


def class_of(part: Part) -> tuple[str, Mapping[str, Part]] | None:
    """The class that a part of the configuration names, and its arguments."""
    target = part.entries.get("_target_")
    if target is None or not target.text:
        return None
    arguments = {key: inner for key, inner in part.entries.items() if key not in _OF_HYDRA}
    plain = part.entries.get("_recursive_")
    if plain is not None and plain.value is not True:
        arguments = {key: _without_targets(inner) for key, inner in arguments.items()}
    if "_partial_" in part.entries and part.entries["_partial_"].value is not False:
        # What calls it later may say otherwise: nobody knows what replaces nothing.
        arguments = {key: inner if inner.value else inner._replace(value=UNKNOWN) for key, inner in arguments.items()}
    if "_args_" in part.entries:
        arguments[OPEN] = part.entries["_args_"]
    return target.text, arguments


def _without_targets(part: Part) -> Part:
    if isinstance(part.value, tuple):
        return part._replace(value=tuple(map(_without_targets, part.value)))
    kept = {key: _without_targets(inner) for key, inner in part.entries.items() if key != "_target_"}
    return part._replace(value=kept) if isinstance(part.value, dict) else part


def with_keywords(part: Part, node: ast.Call) -> Part:
    """A part with the keywords that ``instantiate(part, key=value)`` adds to it; what is no constant is not known."""
    for keyword in node.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else UNKNOWN
        before = part.entries.get(keyword.arg or "")
        if keyword.arg is None:
            part = _changed(part)
        elif before is not None and before.entries and value is UNKNOWN:  # mappings are merged
            part = part.put((keyword.arg,), _changed(before))
        elif keyword.arg != "config":
            part = part.put((keyword.arg,), Part(value, part.source, part.start))
    return part if len(node.args) < 2 else part.put((OPEN,), Part(UNKNOWN, part.source, part.start))


def _changed(part: Part) -> Part:
    """A part of which any value may be another one."""
    kept = {key: inner if key in _OF_HYDRA else inner._replace(value=UNKNOWN) for key, inner in part.entries.items()}
    return part._replace(value={**kept, OPEN: Part(UNKNOWN, part.source, part.start)})


def main_of(decorator: ast.expr, full_name: str) -> tuple[str, str] | None:
    """The folder and the file that ``@hydra.main`` names; None for another decorator, or where they are not written.

    The command may name the file, and has to where the decorator does not.
    """
    if not isinstance(decorator, ast.Call) or full_name not in ("hydra.main", "hydra.main.main"):
        return None
    given = {keyword.arg: keyword.value for keyword in decorator.keywords}
    given.update(zip(("config_path", "config_name"), decorator.args, strict=False))
    values = [given.get(name, ast.Constant(None)) for name in ("config_path", "config_name")]
    if not all(isinstance(value, ast.Constant) for value in values):
        return None
    folder, name = (value.value for value in values if isinstance(value, ast.Constant))
    return str(folder or "."), str(name or "").removesuffix(".yaml")

