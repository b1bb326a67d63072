"""The options of a Python program: what its command and its configuration files give, and what it declares."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from shmlint.files.read import normal
from shmlint.model.source import Source, Span
from shmlint.syntax.python import parse
from shmlint.workloads.filesystem import Files
from shmlint.workloads.program import Entry
from shmlint.workloads.python.changes import ANY
from shmlint.workloads.python.declarations import Declaration, declarations
from shmlint.workloads.python.values import NOTHING, Found, Scope, changed, key_of, literal, one_of, written

if TYPE_CHECKING:
    from shmlint.workloads.python.configurations.settings_files import Part

WorkOut = Callable[[ast.expr, Scope, int], Found]
"""Works out an expression, some steps deep."""


class Options:
    """What a command, its configuration files and the declarations of the program say of its options."""

    def __init__(self, entry: Entry, files: Files) -> None:
        self.files = files
        given = dict(entry.given)
        self.environment = {**files.environment, **given}
        """The variables of the container, with those that the command gives the program instead."""
        self._given_variables, self._variables = given.keys(), entry.variables
        self.arguments = entry.arguments
        self.given: dict[str, Found] = {}
        self.flags: dict[str, str] = {}
        self.declared: dict[str, list[Declaration]] = {}
        self.configured: dict[str, list[Found]] = {}
        self._setting: dict[str, list[str]] | None = None
        """Which spellings that the command gives set an option. Made again when a module declares more options."""
        self._begun: dict[str, str] = {}
        """What the beginnings of options stand for, likewise."""
        self._beside: dict[str, Found] | None = None
        """What the command gives as letters next to each other or to a value, ``-vw8``, likewise."""
        self._long: set[str] = set()
        """What the command gives as ``--name``."""
        self._words: list[tuple[str, str]] = []
        """The words that are no options, each with the option before it, if any."""
        self._reached: set[int] = set()
        """The assignments among the declarations that run, by id."""
        self._read: set[str] = set()
        self._settings: dict[str, Part | None] = {}
        self._opens = False
        """Whether the code names the configuration files, and not the command."""
        self._perhaps = False
        """Whether it may open others than those that it names."""
        self._entry = entry
        self._starts = {word[:1] for word in entry.arguments}
        self._take(entry.arguments)

    def may_vary(self, variable: str) -> bool:
        """Whether something on the way to the program may give a variable of the container another value."""
        own = variable in self._given_variables
        return not own and not self._variables.isdisjoint((variable, ANY))

    def _take(self, words: tuple[str, ...]) -> None:
        spans = (self._entry.span,) if self._entry.span is not None else ()
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            name, equals, value = word.partition("=")
            if not word.startswith("-"):
                self._words.append((word, ""))
                if re.fullmatch(r"[A-Z_]+(?:\.[A-Z_]+)+", word) and at < len(words):  # yacs: DATALOADER.NUM_WORKERS 2
                    self.given[word] = literal(words[at], spans)
                if equals and re.fullmatch(r"\+{0,2}[A-Za-z_][\w.@-]*", name):
                    self.given[key_of(name)] = literal(value, spans)
                self._configuration(word if not equals else value)
                continue
            if word.startswith("--"):
                self._long.add(key_of(name))
            if not equals and at < len(words) and not re.match(r"-[A-Za-z-]", words[at]):
                value = words[at]
                at += 1
                equals = "="
                self._words.append((value, key_of(name)))
            self.given[key_of(name)] = literal(value, spans) if equals else Found(True, True, spans)
            self._configuration(value)

    def take_instead(self, words: tuple[str, ...]) -> None:
        """Take the words that the code parses in place of those of a command which gives none."""
        self._setting, self._beside = None, None
        self._begun.clear()
        self.arguments = words
        self._take(words)

    def configure(self, name: str, found: Found) -> None:
        """Note what the code gives an option as a configuration file would."""
        self.configured.setdefault(key_of(name), []).append(found)

    def compose(self, folder: str, name: str, importer: str) -> None:
        """Read the configuration that ``@hydra.main`` names, and the files that its ``defaults`` list."""
        start = self.files.folder_beside(importer, folder)
        if start is None:
            return
        name = next((str(self.given[key].value) for key in ("config_name", "cn") if key in self.given), name)
        first = normal(os.path.join(start, f"{name.removesuffix('.yaml')}.yaml"))
        source = self.files.repository.source(first)
        if source is None or first in self._read:
            return
        from shmlint.workloads.python.configurations.hydra_config import Composed, values_of

        whole = Composed(self.files.repository, start, name, self.arguments, stores=False).root()
        if whole is not None:
            self._read.add(first)
            for key, found in values_of(whole):
                self.configure(key, found)
            return
        # The words may choose files that replace any of the values.
        self._perhaps = self._perhaps or bool(self.arguments)
        self._read_settings(first)
        for match in re.finditer(r"(?m)^[ \t]*-[ \t]+(?:override[ \t]+)?/?([\w/]+)[ \t]*:[ \t]*([\w.-]+)", source.text):
            chosen = self.given.get(key_of(match[1]))
            choice = str(chosen.value) if chosen is not None else match[2]
            self._read_settings(normal(os.path.join(start, match[1], f"{choice.removesuffix('.yaml')}.yaml")))

    def _configuration(self, path: str) -> None:
        """Read a configuration file that the command, the default of an option, or the code names."""
        if not re.search(r"\.(?:ya?ml|json|toml|py|cfg|ini)$", path) or len(self._read) > 20:
            return
        found = self.file(path)
        if found is None and (found := self._in_a_folder(path)) is not None:
            self._perhaps = True
        elif path.startswith("/") and self.files.shown(path) is None:
            self._perhaps = True  # only its name leads to it
        if found is not None:
            self._read_settings(found)

    def _in_a_folder(self, path: str) -> str | None:
        """The only file of that path below a directory beside the program or above it, which the code may put before
        the path: ``os.path.join("configs", name)``."""
        if not re.match(r"\w", path):
            return None
        repository = self.files.repository
        folders = repository.above(os.path.dirname(self._entry.path) or ".")
        found = [
            one for folder in folders for inner in repository.folders_in(folder)
            if repository.is_file(one := normal(os.path.join(inner, path)))
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def file(self, path: str) -> str | None:
        """The file of the repository that a path of the program names."""
        place = self.files.find(path)
        if place is not None:
            return place.path
        beside = normal(os.path.join(os.path.dirname(self._entry.path), path))
        return beside if self.files.repository.is_file(beside) else None

    def settings(self, path: str) -> Part | None:
        """The values of a configuration file of the repository; None for what is not understood."""
        from shmlint.workloads.python.configurations.settings_files import read_settings

        if path not in self._settings:
            source = self.files.repository.source(path)
            self._settings[path] = read_settings(source) if source is not None else None
        return self._settings[path]

    def _read_settings(self, found: str) -> None:
        if found in self._read or found == self._entry.path or len(self._read) > 20:
            return
        self._read.add(found)
        source = self.files.repository.source(found)
        if source is not None:
            if found.endswith(".py"):
                settings = _settings_of_python(found, source)
                for base in _bases(source):
                    self._read_settings(normal(os.path.join(os.path.dirname(found), base)))
            else:
                settings = _settings(source)
            for key, value in settings:
                self.configured.setdefault(key, []).append(value)

    def declare(self, declarations: Iterable[Declaration]) -> None:
        """Note the options that a module declares."""
        self._setting, self._beside = None, None
        self._begun.clear()
        for declaration in declarations:
            key, default = declaration.key, declaration.default
            self.flags.update((flag, key) for flag in declaration.flags)
            self.declared.setdefault(key, []).append(declaration)
            if isinstance(default, ast.Constant) and isinstance(default.value, str) and key not in self.given:
                self._configuration(default.value)

    def is_given_with(self, prefixes: str) -> bool:
        """Whether the command has words that begin like this: ``@options.txt``, which holds more of them."""
        return not self._starts.isdisjoint(prefixes)

    def is_configured(self, name: str) -> bool:
        """Whether a configuration file sets an option."""
        return key_of(name) in self.configured

    def is_in_section(self, section: str, name: str) -> bool:
        """Whether each configuration file that sets an option does so in the only mapping that it has under a key."""
        spans = [span for found in self.configured.get(key_of(name), ()) for span in found.spans]
        return bool(spans) and all(self._has_in(section, name, span) for span in spans)

    def _has_in(self, section: str, name: str, span: Span) -> bool:
        whole = self.settings(span.path)
        pending = [whole] if whole is not None else []
        sections = []
        for part in pending:  # grows while it is walked
            sections += [inner for key, inner in part.entries.items() if key == section]
            pending += part.entries.values()
        found = sections[0].entries.get(name) if len(sections) == 1 else None
        return found is not None and span.start <= found.start < span.end

    def fields(self, name: str) -> list[tuple[ast.ClassDef, Scope]]:
        """The classes that have a field of that name."""
        declared = self.declared.get(key_of(name), ())
        return [(one.owner, one.scope) for one in declared if one.owner is not None]

    def holds_words(self, name: str) -> bool:
        """Whether an option is a list of words of the command."""
        return any(declared.several for declared in self.declared.get(key_of(name), ()))

    def name_file(self, path: str, *, beside: bool = False, perhaps: bool = False) -> None:
        """Note a configuration file that the code opens, where the command names none: all of them may be used.

        ``beside`` is whether the path is that of a file of the repository, and not one in the container; ``perhaps``
        whether it may open another one that is not known.
        """
        if not self._opens and self._read:
            return
        self._opens = True
        self._perhaps = self._perhaps or perhaps
        if not beside:
            self._configuration(path)
        elif re.search(_SETTINGS_FILE, path) and self.files.repository.is_file(normal(path)):
            self._read_settings(normal(path))

    def is_given(self, name: str) -> bool:
        """Whether the command gives an option."""
        key = key_of(name)
        return self._joined(key) is not None or bool(self._spellings(key))

    def is_declared(self, name: str, *, assigned: bool = True) -> bool:
        """Whether the program declares an option of that name, or a file sets it.

        Without ``assigned`` not where all that declares it is an assignment: ``cfg.WORKERS = 4``.
        """
        declared = self.declared.get(key_of(name), ())
        return key_of(name) in self.configured or any(assigned or one.statement is None for one in declared)

    def _spellings(self, key: str) -> list[str]:
        """The spellings that the command gives and that set an option, in its order."""
        if self._setting is None:
            self._setting = {}
            for given in self.given:
                off = [given[len(start) :] for start in ("no_", "no") if given.startswith(start)]
                negated = [name for name in off if self._negates(given, name)]
                for name in dict.fromkeys((self._key(given), given.rpartition(".")[2], *negated)):
                    self._setting.setdefault(name, []).append(given)
        return self._setting.get(key, [])

    def _negates(self, given: str, key: str) -> bool:
        """Whether a spelling that nobody declares is that of an option which it switches off: absl, fire, typer."""
        return given not in self.flags and given in (f"no_{key}", f"no{key}")

    def is_positional(self, name: str) -> bool:
        """Whether an option is a word without a spelling of its own."""
        declared = self.declared.get(key_of(name), ())
        return any(one.positional or one.commands for one in declared)

    def _command(self) -> str | None:
        """The word that names the command of a program that has several; None where that is not known."""
        every = [one for some in self.declared.values() for one in some if one.commands]
        first = self.arguments[0] if self.arguments else "-"
        return first if len(every) == 1 and not re.match(r"[-$`<]", first) else None

    def _has_commands(self) -> bool:
        """Whether the program may have commands of its own, each with positional words."""
        texts = {one.scope.source.text for some in self.declared.values() for one in some if one.positional}
        return any(re.search(r"add_subparsers|add_parser|parents\s*=|\.group\b|\bGroup\b", text) for text in texts)

    def has_positional(self, after: int = 0) -> bool:
        """Whether there are words, after so many of them, that are no values of the options before them."""
        return sum(not before or self._takes_none(before) for _, before in self._words) > after

    def word(self, at: int) -> Found:
        """``sys.argv[at]``; unknown behind a word that is not known, which may be several."""
        words = self._entry.arguments[:at]
        if not 1 <= at == len(words) or any(re.search(r"[$`]", word) for word in words):
            return NOTHING
        return written(words[-1], (self._entry.span,) if self._entry.span is not None else ())

    def has_open_words(self) -> bool:
        """Whether the command passes on words that are not known and may be options: ``"$@"``, ``$ARGS``.

        A variable that stands for a positional argument is none; a file of them is one of absl
        (https://abseil.io/docs/python/guides/flags#special-flags).
        """
        if "flagfile" in self.given and "flagfile" not in self.declared:
            return True
        unknown = [(word, before) for word, before in self._words if word.startswith(("$", "`"))]
        variables = [word for word, before in unknown if not before or self._takes_none(before)]
        if not variables:
            return False
        places = sum(any(one.positional for one in declared) for declared in self.declared.values())
        return len(variables) > places or any(re.match(r"\$\{?[@*(]|\$\{\w+\[[@*]|`", word) for word in variables)

    def positional(self, name: str) -> str | None:
        """The word of the command that a positional argument of argparse is; None where that is not known."""
        own = [one for some in self.declared.values() for one in some if one.positional]
        own = [one for one in own if one.scope.path == self._entry.path]
        keys = [one.key for one in sorted(own, key=lambda one: one.place.start)]
        found = self._assorted()
        if found is None or len(found[0]) != len(keys) or any(one.several for one in own) or keys.count(name) != 1:
            return None
        return found[0][keys.index(name)]

    def pairs(self) -> list[tuple[str, str]] | None:
        """The keys and values of ``--cfg-options a.b=1 c=2``; None where it is not known which words are some."""
        found = self._assorted()
        if found is None:
            return None
        words = [word.partition("=") for word in found[1] if "=" in word]
        return [(name, value) for name, _, value in words]

    def rest(self, name: str) -> list[str] | None:
        """The words of an option that takes several: ``MODEL.DEPTH 50`` for ``opts``; None where they are not known."""
        declared = self.declared.get(key_of(name), ())
        if len(declared) != 1 or not declared[0].several or self.has_open_words():
            return None
        one, words = declared[0], list(self.arguments)
        positional = [other for some in self.declared.values() for other in some if other.positional]
        if one.positional and any(other is not one for other in positional):
            return None  # which words are of which
        found: list[str] = []
        while words:
            word = words.pop(0)
            if not word.startswith("-"):
                found += [word, *words] if one.positional and one.rest else [word] if one.positional else []
                words = [] if one.positional and one.rest else words
                continue
            key = self._key(key_of(word.partition("=")[0]))
            meant = self.declared.get(key, ())
            if not meant or any(other.positional for other in meant) or (key == key_of(name) and "=" in word):
                return None
            until = next((at for at, other in enumerate(words) if other.startswith("-")), len(words))
            until = len(words) if any(other.rest for other in meant) else until
            taken = words[: until if any(other.several for other in meant) else 1]
            if "=" in word or all(other.alone for other in meant):
                taken = []
            found += taken if key == key_of(name) else []
            del words[: len(taken)]
        default = one.default
        empty = default is None or (isinstance(default, ast.Constant) and not default.value)
        empty = empty or (isinstance(default, ast.List | ast.Tuple) and not default.elts)
        return found if found or empty else None

    def _assorted(self) -> tuple[list[str], list[str]] | None:
        """The words that are no options, and those of options that take several words; None where one is not known."""
        alone: list[str] = []
        several: list[str] = []
        takes: list[str] | None = None
        """Where the next words go that belong to the option before them."""
        for word in self.arguments:
            name, equals, value = word.partition("=")
            if word.startswith("-"):
                declared = self.declared.get(self._key(key_of(name)), ())
                if not declared and (not equals or "=" in value):  # that may be short for one of several words
                    return None
                many = any(one.several for one in declared)
                several += [value] if many and equals else []
                takes = several if many and not equals else None if equals or self._takes_none(key_of(name)) else []
            elif takes is None or (takes is not several and takes):
                alone.append(word)
            else:
                takes.append(word)
        return alone, several

    def _takes_none(self, given: str) -> bool:
        declared = self.declared.get(self._key(given), ())
        return bool(declared) and all(one.alone for one in declared)

    def converters(self, name: str) -> list[tuple[ast.expr, Scope]]:
        """What makes the value of an option of the word that is given, or of the text that is its default."""
        declared = [one for one in self.declared.get(key_of(name), ()) if one.converter is not None]
        given = bool(declared) and self.is_given(name)
        return [(one.converter, one.scope) for one in declared if one.converter and (given or _is_text(one.default))]

    def _as_declared(self, given: str, key: str, found: Found, work_out: WorkOut, depth: int) -> Found:
        """What a spelling sets, as the option is declared: ``--no-load`` switches one off, and takes no word."""
        if self._negates(given, key):
            return found._replace(value=False)
        values = []
        for declared in self.declared.get(key, [])[:8]:
            if given in declared.off:
                values.append(found._replace(value=False))
            elif declared.constant is not None and (declared.alone or found.value is True):
                values.append(work_out(declared.constant, declared.scope, depth + 1)._replace(spans=found.spans))
            else:
                values.append(found)
        return one_of(values) if values else found

    def _key(self, given: str) -> str:
        """The option that a spelling sets: argparse takes the start of a long one, where no other has it, too."""
        if given in self.flags or given not in self._long:
            return self.flags.get(given, given)
        if given not in self._begun:
            keys = {key for flag, key in self.flags.items() if flag.startswith(given)}
            self._begun[given] = keys.pop() if len(keys) == 1 else given
        return self._begun[given]

    def _joined(self, key: str) -> Found | None:
        """The value that stands next to the letter of an option, ``-w8``, also behind letters that take none: ``-vw8``.
        """
        if self._beside is None:
            words = [one for one in self.given if one[1:] and one not in self.flags and one not in self._long]
            self._beside = dict(pair for word in reversed(words) for pair in reversed([*self._letters(word)]))
        return self._beside.get(key)

    def _letters(self, word: str) -> Iterator[tuple[str, Found]]:
        """The options of the letters of a word, and their values: the first that takes a value gets the rest."""
        for at, letter in enumerate(word):
            key = self.flags.get(letter)
            if self._takes_none(letter):
                yield key or "", Found(True, True, ())
                continue
            if key is not None:
                yield key, literal(word[at + 1 :], ()) if word[at + 1 :] else self.given[word]
            return

    def get(self, name: str, work_out: WorkOut, depth: int) -> Found:
        """What an option is: given, configured, or its default."""
        key = key_of(name)
        joined = self._joined(key)
        if joined is not None:
            return self._as_declared(key, key, joined, work_out, depth)
        spelled = self._spellings(key)
        if spelled:
            found = self._as_declared(spelled[0], key, self.given[spelled[0]], work_out, depth)
            return changed(found) if self._is_assigned(key) else found
        if self.is_positional(key) and self.has_positional():
            named = any(one.commands for one in self.declared[key])
            word = self._command() if named else self.positional(key) if not self._has_commands() else None
            return literal(word, (self._entry.span,) if self._entry.span is not None else ()) if word else NOTHING
        configured = self.configured.get(key, [])
        if configured:
            return changed(one_of(configured)) if self._perhaps else one_of(configured)
        values = []
        for declared in self._in_force(key)[:8]:
            if declared.default is not None:
                value = work_out(declared.default, declared.scope, depth + 1)
                values.append(value._replace(spans=(declared.place,)))
        return one_of(values) if values else NOTHING

    def note_reached(self, statement: ast.stmt) -> None:
        """Note a statement that runs, or may run."""
        self._reached.update((id(statement),) if isinstance(statement, ast.Assign) else ())

    def _is_assigned(self, key: str) -> bool:
        """Whether code gives an option of a parser a value, which may replace what the command gives."""
        by_parser = any(one.flags for one in self.declared.get(key, ()))
        return by_parser and any(one.statement is not None for one in self._in_force(key))

    def _in_force(self, key: str) -> list[Declaration]:
        """The declarations of an option, without the assignments in code that does not run, if others declare it."""
        declared = self.declared.get(key, [])
        if not any(one.flags for one in declared):
            return declared
        return [one for one in declared if one.statement is None or id(one.statement) in self._reached]


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


_SETTINGS_FILE = r"\.(?:ya?ml|json|toml|cfg|ini)$"
_SETTING = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*[:=][ \t]*(.+?)[ \t]*,?[ \t]*(?:#.*)?$""", re.M
)


_PAIR = re.compile(r"""["']([A-Za-z_][\w.-]*)["']\s*:\s*("[^"\n]*"|[-\w.+]+|\[[^][{}]*\])""")
"""A key of JSON with a value that is no mapping, wherever on a line they stand."""


def _settings(source: Source) -> Iterator[tuple[str, Found]]:
    """The settings of a configuration file, whatever its format: a key and a plain value on one line."""
    text = source.text
    if len(text) > 200_000:
        return
    for match in (_PAIR if source.path.endswith(".json") else _SETTING).finditer(text):
        value = match[2].strip().strip("\"'")
        if len(value) < 200:
            yield key_of(match[1]).rpartition(".")[2], literal(value, (Span(source, match.start(1), match.end(2)),))


def _settings_of_python(path: str, source: Source) -> Iterator[tuple[str, Found]]:
    """The settings of a configuration that is Python: ``train_dataloader = dict(num_workers=4)``, ``workers = 4``."""
    module = parse(source.text)
    if module is None:
        return
    scope = Scope(path, source, module, None, None)
    for declared in declarations(scope):
        if isinstance(declared.default, ast.Constant):
            yield declared.key, Found(declared.default.value, True, (declared.place,))
    for name, values in module.constants.items():
        for value in values:
            if isinstance(value, ast.Constant):
                yield key_of(name), Found(value.value, True, (scope.span(value),))
            elif isinstance(value, ast.Tuple) and all(isinstance(item, ast.Constant) for item in value.elts):
                yield key_of(name), Found(ast.literal_eval(value), True, (scope.span(value),))


def _bases(source: Source) -> list[str]:
    """The files that a configuration of mmengine goes on from."""
    match = re.search(r"(?m)^_base_\s*=\s*(\[[^\]]*\]|['\"][^'\"\n]*['\"])", source.text)
    return re.findall(r"['\"]([^'\"\n]+\.py)['\"]", match[1]) if match is not None else []
