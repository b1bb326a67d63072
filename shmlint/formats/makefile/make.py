"""The recipes of makefiles: the lines that a shell gets, with make's variables put in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.makefile.above import given_above
from shmlint.formats.makefile.exported import of_make
from shmlint.formats.makefile.starts import starts_elsewhere
from shmlint.formats.makefile.written import AUTOMATIC, Expressions, as_variable, closing
from shmlint.formats.shell.callers import is_read_by_another
from shmlint.formats.shell.part import Part
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.shell_repair import goes_on
from shmlint.syntax.shell_text import ENGINE, Builder, ShellText
from shmlint.syntax.shell_variables import given as given_around

_DEPTH = 8
"""Variables inside variables are followed this deep."""


class Variable(NamedTuple):
    """A variable: where its value stands, with what is added to it later; ``sure`` where it is
    set once, outside of conditions."""

    values: tuple[tuple[int, int], ...]
    sure: bool
    perhaps: tuple[tuple[int, int], ...] = ()
    """What it may hold behind these, or instead of nothing, as conditions decide; empty where that is not known."""
    every: bool = False
    """Whether it holds one of these in any case."""


class Given(NamedTuple):
    """The variables that make is started with: in its own words, ``make GPUS=1``, and in its environment."""

    words: frozenset[str]
    """These go before any assignment but those of ``override``."""
    environment: frozenset[str]
    """These go before an assignment with ``?=``."""
    anything: bool
    """Whether the environment may hold others."""


class Line(NamedTuple):
    """A logical line: physical ones joined by backslashes. Offsets without the last line ending."""

    start: int
    end: int
    prefix: str = "\t"
    """The character that each of its physical lines begins with, if they are of a recipe."""
    in_rule: bool = True
    """Whether a rule is before it, to which recipes belong: elsewhere such a line is one of make's own."""

    def is_recipe(self, source: Source) -> bool:
        """Whether make takes it for a line of a recipe."""
        return self.in_rule and self.end > self.start and source.text.startswith(self.prefix, self.start)


_PREFIX = re.compile(r"[ ]*\.RECIPEPREFIX\s*(\?=|:{1,3}=|\+=|=)[ \t]*((?:\$\(\.RECIPEPREFIX\))?)(.?)")


def _prefix(text: str, before: str) -> str:
    """The prefix of recipes after a line: the first character of ``.RECIPEPREFIX``, or a tab."""
    found = _PREFIX.match(text)
    if found is None:
        return before
    if before != "\t" and (found[2] or found[1] in ("+=", "?=")):
        return before
    return " " if found[1] == "+=" else found[3] or "\t"


def lines_of(source: Source) -> Iterator[Line]:
    """The logical lines of a file."""
    prefix, in_rule, defining = "\t", False, False
    changes = ".RECIPEPREFIX" in source.text
    for start, end in _lines_of(source):
        line = Line(start, end, prefix, in_rule)
        yield line
        text = source.text[start:end]
        prefix = _prefix(text, prefix) if changes else prefix
        if defining:
            defining = not text.strip().startswith("endef")
        elif not line.is_recipe(source):
            defining = DEFINE.match(text) is not None
            in_rule = not defining and _is_in_rule(text.strip(), before=in_rule)


def _is_in_rule(text: str, *, before: bool) -> bool:
    """Whether recipes belong to a rule after a line of make's own: a rule begins them, and an assignment ends them."""
    if not text or text.startswith("#") or _CONDITION.match(text) is not None:
        return before
    if ASSIGNMENT.match(text) is not None or _OF_TARGET.match(text) is not None or _DIRECTIVE.match(text) is not None:
        return False
    return before or ":" in text


def _lines_of(source: Source) -> Iterator[tuple[int, int]]:
    starts = source.line_starts
    start: int | None = None
    for number in range(1, len(starts) + 1):
        begin, end = source.line_span(number)
        if start is None:
            start = begin
        if end > begin and source.text[end - 1] == "\\" and number < len(starts):
            continue
        yield start, end
        start = None


_DIRECTIVE = re.compile(r"(?:-?include|sinclude|undefine|unexport|export|override|vpath)\b(?![^:=]*:(?!=))")
ASSIGNMENT = re.compile(r"(?:override\s+|export\s+)*([\w.-]+)\s*(\?=|:{1,3}=|\+=|!=|=)[ \t]*")
_CONDITION = re.compile(r"\s*(ifeq|ifneq|ifdef|ifndef|else|endif)\b")
DEFINE = re.compile(r"\s*(?:(?:override|export)\s+)*define\s+([\w.-]+)?(?:[ \t]*(\?|:{1,3}|\+|!)?=)?")
_INCLUDE = re.compile(r"[ ]*[-s]?include[ \t]+(.*)")
_UNDEFINE = re.compile(r"[ ]*(?:override[ \t]+)?undefine[ \t]+([\w.-]+)")
_OF_TARGET = re.compile(
    r"[^\s:=#][^:=#]*?::?[ \t]*(?:(?:override|export|private)[ \t]+)*([\w.-]+)[ \t]*(?:\?|\+|!|:{1,3})?="
)
"""The value that a variable has for some targets alone, and for what they need."""
_GIVEN_ON = re.compile(
    r"\$[({]MAKE[)}][^\n]*|(?m:^)\t[@+ \t-]*(?:[^\n#\"'`]*(?:&&|\|\||;|\b(?:do|then|else))[ \t]*)?"
    r"(?:(?:sudo|env|exec|time|nohup)[ \t]+|[A-Za-z_]\w*=[^\s\"';&|]*[ \t]+)*g?make(?![\w./-])[^\n]*"
)
"""A make inside, which a recipe starts."""
_IN_ANOTHER = re.compile(r"\s-C[ \t]*(?!\.{1,2}/)\w[\w./-]*(?=\s|$)")
"""The option for another directory, whose makefile it is that gets the variables."""
_GIVEN = re.compile(r"(?<=\s)([\w.-]+)=|\$[({]eval[ \t]+(?:override[ \t]+)?([^\s:=?+!#]+)[ \t]*(?:\?|\+|!|:{1,3})?=")
_ASSIGNED = re.compile(r"[ \t]*(?:(?:override|export)[ \t]+)*([\w.-]+)[ \t]*(?:\?|\+|!|:{1,3})?=")
_ANY = ""
"""Stands for variables whose names are not known."""


def _set_elsewhere(source: Source) -> Iterator[str]:
    """The variables that a make inside is given, and those that are set where a recipe is expanded."""
    text = source.text
    if "MAKE" in text or "make" in text or "eval" in text:
        for line in _GIVEN_ON.findall(text):
            here = (part for part in re.split("[;&|]", line) if _IN_ANOTHER.search(part) is None)
            yield from (name for part in here for name, _ in _GIVEN.findall(part) if name)
        yield from (_ANY if "$" in name else name for _, name in _GIVEN.findall(text) if name)


def _set_by(files: str, source: Source, workspace: Workspace | None) -> Iterator[str]:
    """The variables that included files set."""
    for name in files.partition("#")[0].split():
        text = None
        if workspace is not None and not re.search(r"[$*?\[]", name):
            try:
                text = workspace.source(os.path.join(os.path.dirname(source.path), name)).text
            except Unreadable:
                pass
        if text is None:
            yield _ANY
            continue
        for line in text.split("\n"):
            match = ASSIGNMENT.match(line.lstrip()) or DEFINE.match(line) or _INCLUDE.match(line)
            if match is not None:
                yield _ANY if match.re is _INCLUDE else match[1] or _ANY


class Arguments(NamedTuple):
    """The arguments of a ``$(call …)``: where each stands, and those of the call around it."""

    places: tuple[tuple[int, int], ...]
    outer: Arguments | None


class _Variables:
    """The variables of a makefile as far as it has been read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.known: dict[str, Variable] = {}
        self.for_options = set(_given_options(source.text))
        """Those that something sets to options, whatever else they may be."""
        self.overriding: set[str] = set()
        """Those that ``override`` sets: make passes over any other assignment of them."""
        self.evaluates = "eval" in source.text
        self.of_shell = frozenset(re.findall(r"\$\$\{?(\w+)", source.text))
        """Those of the shell: ``$$NAME``."""
        self.unsure = set(_set_elsewhere(source))
        """Those that something else sets for some recipes."""
        self.defined: dict[str, Line] = {}
        """Container starts between ``define`` and ``endef`` that are read where the variables are used."""
        self.included: set[str] = set()
        """Those that files included so far set."""
        self.given: frozenset[str] = frozenset()
        """Those that makefiles above give to this one."""
        self.immediate: set[str] = set()
        """Those that ``:=`` gives a value, in which everything is put in when the line is read."""
        self.at_once: dict[int, dict[str, Variable]] = {}
        """What the variables in such a value held when its line was read, by where it starts."""
        self.around: Mapping[str, Variable] | None = None
        """Those of the value that is put in, where that is such a one."""
        self.weak: set[str] = set()
        """Those that ``?=`` gives a value where the environment does not."""
        self.of_targets: dict[str, set[str]] = {}
        """Those that some targets, and what these need, have another value of."""
        self.hidden: Collection[str] = ()
        """Those of them that are not known in the line that is put in."""
        self.called: set[str] = set()
        """Those that are read where ``$(call NAME,…)`` stands, with its arguments."""
        self.arguments: Arguments | None = None
        """Those of the call that is put in."""

    def forget(self, names: Iterable[str]) -> None:
        """Let these not be known."""
        for name in names:
            self.known[name] = Variable((), False)
            self.unsure.add(name)

    def give(self, given: Given) -> None:
        """Let these be what make is started with."""
        weak = self.weak if given.anything else self.weak & given.environment
        for name in (*(given.words - self.overriding), *weak):
            for held in (self.known, *self.at_once.values()):
                held.pop(name, None)

    def start_elsewhere(self, workspace: Workspace | None) -> None:
        """Let what starts of make in other files give another value not be known in what these make."""
        for start in starts_elsewhere(self.source, workspace, self.known, _alone) if workspace is not None else ():
            weak = ((name, texts) for name, texts in start.environment.items() if name in self.weak)
            for name, texts in (*weak, *start.words.items()):
                known = self.known.get(name)
                if known is None or name in self.overriding:
                    continue
                held = " ".join(self.source.text[slice(*value)].strip() for value in known.values)
                if set(texts) != {held}:
                    for text in texts:
                        self.note_options(name, text)
                    self.set_for(" ".join(start.targets), name)

    def include(self, names: Iterable[str]) -> None:
        """Let an included file set these; an assignment after it holds all the same."""
        for name in names:
            for lost in list(self.known) if name == _ANY else [name]:
                if lost in self.known:
                    self.forget([lost])
            self.included.add(name)

    def set_for(self, targets: str, name: str) -> None:
        """An assignment for some targets; without their names the variable is not known for any."""
        if _PLAIN.fullmatch(targets) is None:
            self.forget([name])
        else:
            self.of_targets.setdefault(name, set()).update(targets.split())

    def assign(self, name: str, operator: str, value: tuple[int, int], *, always: bool) -> None:
        """An assignment; ``always`` is whether it is outside of conditions."""
        value = _without_prefix(value, self.source)
        if operator == "?=" and name not in self.known:
            self.weak.add(name)
        if operator.startswith(":"):
            self.immediate.add(name)
        self.note_options(name, self.source.text[value[0] : value[1]])
        if operator.startswith(":") or (operator == "+=" and name in self.immediate):
            self.at_once[value[0]] = self._held_by(value)
        known = self.known.get(name)
        others = self.included | self.given if operator == "?=" else self.included
        holds_other = operator in ("?=", "+=") and known is None and not others.isdisjoint((name, _ANY))
        own = operator != "!=" and self.unsure.isdisjoint((name, _ANY)) and self.included.isdisjoint((name, _ANY))
        perhaps = _perhaps(known, operator, value, always=always) if own else None
        if perhaps is not None:
            self.known[name] = perhaps
        elif operator == "+=" and known is not None:
            self.known[name] = Variable((*known.values, value), known.sure and always)
        else:
            sure = always and operator != "!=" and known is None and self.unsure.isdisjoint((name, _ANY))
            self.known[name] = Variable((value,), sure and not holds_other)

    def _held_by(self, value: tuple[int, int]) -> dict[str, Variable]:
        """The variables that a value names, and those that they name in turn, as they are now."""
        found: dict[str, Variable] = {}
        pending = [value]
        while pending and len(found) < _MOST_NAMES:
            for named in _REFERENCE.finditer(self.source.text, *pending.pop()):
                name = named[1] or named[2]
                known = self.known.get(name)
                if known is not None and name not in found:
                    found[name] = known
                    pending += (one for one in (*known.values, *known.perhaps) if one[0] not in self.at_once)
        return found

    def get(self, name: str) -> Variable | None:
        """A variable where it is put in; None where nothing is known of it there."""
        return (self.known if self.around is None else self.around).get(name)

    def define(self, name: str, line: str) -> None:
        """Note a line of what ``define`` gives to a variable; ``$(eval $(call NAME,…))`` runs it as make's own."""
        self.note_options(name, line)
        assigned = _ASSIGNED.match(line) if self.evaluates else None
        if assigned is not None:
            self.forget([assigned[1]])

    def settle(self, names: Iterable[str]) -> None:
        """Let variables hold one of the values that conditions give them in any case."""
        for name in names:
            known = self.known.get(name)
            if known is not None and known.perhaps:
                self.known[name] = known._replace(every=True)

    def is_followed(self, name: str) -> bool:
        """Whether a container start that a variable holds is read where it is used, with the words around it there."""
        known = self.known.get(name)
        letter = f"|{re.escape(name)}" if len(name) == 1 else ""
        used = rf"(?m)^[^#\n]*(?<!\$)\$(?:\({re.escape(name)}\)|\{{{re.escape(name)}\}}{letter})[ \t]*[^\s;&|#]"
        holds = known is not None and (known.sure or starts_container(known, self.source))
        holds = holds and name not in self.of_targets
        return (holds and re.search(used, self.source.text) is not None) or self.is_called(name)

    def is_called(self, name: str, depth: int = 0) -> bool:
        """Whether each use of a variable is a call, with its arguments, in a recipe or in another such variable."""
        known = self.known.get(name)
        if known is None or not known.sure or len(known.values) != 1 or depth >= _DEPTH or name in self.of_targets:
            return False
        if name in self.immediate:
            return False  # make put nothing in for its arguments when it read the line
        text, named = self.source.text, re.escape(name)
        calls = [call.start() for call in re.finditer(rf"\$[({{]call[ \t]+{named}[ \t]*[,)}}]", text)]
        if not calls or len(calls) != len(re.findall(rf"\$[({{][^\n]*?(?<![\w.-]){named}[ \t]*[,)}}]", text)):
            return False
        return all(self._is_put_in(text[text.rfind("\n", 0, at) + 1 : at], depth) for at in calls)

    def _is_put_in(self, before: str, depth: int) -> bool:
        """Whether a call is read where it stands, behind this text of its line."""
        if _PUT_IN.search(before) is not None:
            return False
        assigned = ASSIGNMENT.match(before)
        if assigned is not None:
            return self.is_called(assigned[1], depth + 1)
        return before[:1] == "\t" or ":" in before.partition(";")[0]

    def note_options(self, name: str, value: str) -> None:
        """Note a variable whose value begins with an option."""
        value = value.lstrip()
        if value.startswith("-") or (
            value[:2] in ("$(", "${") and self.are_options(value[2 : closing(value, 1, len(value))])
        ):
            self.for_options.add(name)

    def are_options(self, expression: str) -> bool:
        """Whether what make puts in for an expression, what stands between its brackets, begins with an option."""
        name = re.match(r"[\w.-]+", expression)
        if name is None or name[0] == "shell":  # the options of its command are not those that the command prints
            return name is not None and _PRINTS_OPTIONS.search(expression) is not None
        if re.search(r"[ ,]-", expression):
            return True
        if name[0] in _KEEPING and expression[name.end() :][:1].isspace():
            return any(found[1] in self.for_options for found in _REFERENCE.finditer(expression))
        return expression[name.end() :][:1] in ("", ":") and name[0] in self.for_options


def _without_prefix(value: tuple[int, int], source: Source) -> tuple[int, int]:
    """The place of a container start without ``@`` and the like, which make takes away at the beginning of a recipe."""
    found = _LAST_START.match(source.text, *value)
    return (found.end(), value[1]) if found is not None else value


def _perhaps(known: Variable | None, operator: str, value: tuple[int, int], *, always: bool) -> Variable | None:
    """A variable after an assignment that conditions decide about, or one behind such; None where that is not known."""
    if known is None:
        return None if always else Variable((), False, (value,))
    if not (known.sure or known.perhaps) or len(known.perhaps) >= _PERHAPS or (always and known.sure):
        return None
    if operator == "+=" and always:
        return known._replace(values=(*known.values, value))
    if operator == "+=":
        return Variable(known.values, False, (*known.perhaps, value))
    alone = not known.values or (len(known.values) == 1 and known.sure)
    replaces = operator == "?=" or not always
    every = known.sure or known.every or (always and operator == "?=")
    return Variable((), False, (*known.values, *known.perhaps, value), every) if alone and replaces else None


_PLAIN = re.compile(r"[\w./ \t-]+")
"""Names of targets, which no pattern or variable stands for."""
_PUT_IN = re.compile(r"#|\$[({](?:eval|foreach|call|if|or|and)\b[^)}]*$")
"""A comment, or a function of make that a call may be an argument of."""
_PRINTS_OPTIONS = re.compile(r"\b(?:echo|printf)\s+(?:-[neE]+\s+)?[\"']?\s*-[-\w]")
_PERHAPS = 20
"""A variable that conditions set more often than this is not followed."""
_REFERENCE = re.compile(r"\$(?:[({]([\w.-]+)|(\w))")
_MOST_NAMES = 200
"""Variables in a value that are put in where it is read."""
_LONGEST_CALL = 2_000
"""Characters of a ``$(call …)`` that are looked at."""
_KEEPING = frozenset({"strip", "filter", "filter-out", "sort", "subst", "patsubst", "wordlist", "if", "or", "and"})
"""Make's functions that give back words that they get."""


def _given_options(text: str) -> Iterator[str]:
    """The numbers of the arguments that a ``$(call …)`` gives options for."""
    for call in re.finditer(r"\$[({]call[ \t]+[\w.-]+,", text) if "call" in text else ():
        line = text.find("\n", call.end(), call.end() + _LONGEST_CALL)
        end = closing(text, call.start() + 1, line if line >= 0 else min(call.end() + _LONGEST_CALL, len(text)))
        for number, argument in enumerate(text[call.end() : end].split(","), 1):
            if argument.lstrip().startswith("-"):
                yield str(number)


def make_lines(
    source: Source, workspace: Workspace | None = None, given: Given | None = None
) -> Iterator[ShellText]:
    """The lines of recipes, and the commands that variables get their values from.

    What make is ``given`` is a variable of the shell in them.
    """
    lines, variables = _lines_and_variables(source, workspace)
    if given is not None:
        variables.give(given)
    expressions = Expressions(source, just=False)
    hidden = _hidden(source, variables.of_targets, workspace)
    for together in _of_one_shell(lines, source):
        builder = Builder(source)
        starts: list[int] = []
        for line in together:
            variables.hidden = hidden(line)
            builder.put("\n" if starts else "")
            starts.append(_put_line(builder, source, line, variables))
        yield builder.build(Span(source, starts[0], together[-1].end))._replace(unset=expressions.because)


def _of_one_shell(lines: Sequence[Line], source: Source) -> Iterator[Sequence[Line]]:
    """The lines that a shell gets together: each one alone, and with ``.ONESHELL`` those of a recipe."""
    together: list[Line] = []
    one_shell = _ONE_SHELL.search(source.text) is not None
    for line in lines:
        both = one_shell and len(together) > 0 and line.is_recipe(source) and together[-1].is_recipe(source)
        if together and not (both and not source.text[together[-1].end : line.start].strip()):
            yield together
            together = []
        together.append(line)
    if together:
        yield together


_ONE_SHELL = re.compile(r"(?m)^[ ]*\.ONESHELL[ \t]*:")


def _put_line(builder: Builder, source: Source, line: Line, variables: _Variables) -> int:
    """Put in a line as the shell gets it; gives back where that begins."""
    at = start = _behind_marks(source, line, variables)
    while line.prefix != "\t" and (below := source.text.find(f"\n{line.prefix}", at, line.end)) >= 0:
        _expand(builder, source, at, below + 1, variables, 0)
        at = below + 2
    _expand(builder, source, at, line.end, variables, 0)
    return start


def sure_variables(source: Source, workspace: Workspace) -> set[str]:
    """The variables of a makefile that nothing else sets."""
    variables = _lines_and_variables(source, workspace)[1]
    return {name for name, known in variables.known.items() if known.sure and name not in variables.of_targets}


def followed_variables(source: Source, workspace: Workspace) -> set[str]:
    """The variables of a makefile that nothing else sets, and those that start a container in any case."""
    variables = _lines_and_variables(source, workspace)[1]
    found = {name for name, known in variables.known.items() if known.sure or starts_container(known, source)}
    return found.difference(variables.of_targets)


def called_variables(source: Source, workspace: Workspace) -> Collection[str]:
    """The variables of a makefile that are read where ``$(call NAME,…)`` stands, with its arguments."""
    return _lines_and_variables(source, workspace)[1].called if "call" in source.text else ()


def followed_definitions(source: Source, workspace: Workspace) -> Mapping[str, Line]:
    """The container starts between ``define`` and ``endef`` that are read where the variables are used."""
    return _lines_and_variables(source, workspace)[1].defined if "endef" in source.text else {}


def _lines_and_variables(source: Source, workspace: Workspace | None) -> tuple[list[Line], _Variables]:
    """The lines that a shell gets, and the variables of a makefile."""
    variables = _Variables(source)
    variables.given = frozenset(given_above(source, workspace) if workspace is not None else ())
    recipes: list[Line] = []
    called: list[Line] = []
    noted: list[tuple[str, Line]] = []
    conditions = _Conditions()
    defined: _Defined | None = None
    held: list[tuple[str, Line]] = []
    for line in lines_of(source):
        text = source.text[line.start : line.end]
        if defined is not None:
            if text.strip().startswith("endef"):
                held += _put_defined(variables, defined)
                defined = None
            else:
                variables.define(defined.name, text)
                defined.body.append(line)
                recipes.append(line)
            continue
        if ("shell" in text or "foreach" in text) and not text.lstrip().startswith("#"):
            called += _called(source, line)
        condition = _CONDITION.match(text)
        if condition is not None:
            variables.settle(conditions.note(condition[1], text[condition.end() :]))
            continue
        if line.is_recipe(source):
            recipes.append(line)
            continue
        define = DEFINE.match(text)
        if define is not None:
            overrides = "override" in define[0].split()
            defined = _Defined(define[1] or "", f"{define[2] or ''}=", not conditions.open, overrides, [])
            continue
        conditions.assign(text)
        noted += _noted(variables, source, line, workspace, always=not conditions.open)
        if ";" in text and ":" in text.partition(";")[0] and not ASSIGNMENT.match(text.lstrip()):  # target: ; command
            recipes.append(Line(line.start + text.index(";") + 1, line.end))
    for name, line in held:
        if variables.is_followed(name):
            variables.defined[name] = line
            recipes.remove(line)
        else:
            variables.forget([name])
    variables.start_elsewhere(workspace)
    variables.called = {name for name, _ in (*held, *noted) if variables.is_called(name)}
    called += (line for name, line in noted if name not in variables.called)
    return [*_meant(recipes, source), *called], variables


def _alone(source: Source) -> Iterator[Part]:
    """The recipes of a makefile, without what other files give to it."""
    environment = of_make(source)
    variables = given_around(environment) if environment else None
    return (Part(text, variables) for text in make_lines(source))


class _Conditions:
    """The conditions around a line."""

    def __init__(self) -> None:
        self.open: list[list[set[str]]] = []
        """For each of them the variables that its branches so far set."""
        self._whole: list[bool] = []
        """Whether each of them has an ``else`` for all other cases."""

    def note(self, word: str, rest: str) -> set[str]:
        """Note ``ifdef``, ``else`` or ``endif``; gives back what variables are set in any case after it."""
        if word not in ("else", "endif"):
            self.open.append([set()])
            self._whole.append(False)
        elif self.open and word == "else":
            self.open[-1].append(set())
            self._whole[-1] = not rest.partition("#")[0].strip()
        elif self.open:
            branches, whole = self.open.pop(), self._whole.pop()
            names = set.intersection(*branches) if whole else set()
            if not self.open:
                return names
            self.open[-1][-1] |= names
        return set()

    def assign(self, text: str) -> None:
        """Note the variable that a line sets to a value of its own."""
        match = ASSIGNMENT.match(text.lstrip()) if self.open else None
        if match is not None and match[2] not in ("+=", "?=", "!="):
            self.open[-1][-1].add(match[1])


class _Defined(NamedTuple):
    """What ``define`` gives to a variable."""

    name: str
    operator: str
    always: bool
    """Whether no condition decides about it."""
    overrides: bool
    body: list[Line]


def _put_defined(variables: _Variables, defined: _Defined) -> Iterator[tuple[str, Line]]:
    """Put what is between ``define`` and ``endef`` into the variable; gives back the line of a container start.

    Of several lines only a container start at their end is a value: it goes on with the words behind its use, and those
    before it are commands of their own.
    """
    source, name = variables.source, defined.name
    written = [line for line in defined.body if source.text[line.start : line.end].strip()]
    last = written[-1] if written else None
    starts = last is not None and _LAST_START.match(source.text, last.start, last.end) is not None
    if not name or last is None or not (starts or len(written) == 1) or "ONESHELL" in source.text:
        variables.forget([name] if name else [])
        return
    if defined.overrides and defined.always:
        variables.overriding.add(name)
    elif name in variables.overriding:
        return
    variables.assign(name, defined.operator, (last.start, last.end), always=defined.always)
    if starts:
        yield name, last


def _meant(recipes: Sequence[Line], source: Source) -> Iterator[Line]:
    """The lines of recipes, those joined in which make ends a container start that goes on for its reader."""
    before: Line | None = None
    for line in recipes:
        near = before is not None and not source.text[before.end : line.start].strip()
        text = source.text[before.start : before.end] if before is not None and near else ""
        if before is not None and goes_on(text, source.text[line.start : line.end]):
            before = before._replace(end=line.end)
            continue
        if before is not None:
            yield before
        before = line
    if before is not None:
        yield before


def _noted(
    variables: _Variables, source: Source, line: Line, workspace: Workspace | None, *, always: bool
) -> Iterator[tuple[str, Line]]:
    """What a line does to variables; gives back the commands that one gets a value from, or is a template of."""
    text = source.text[line.start : line.end]
    match = ASSIGNMENT.match(text.lstrip())
    if match is not None:
        value = _value_of(source, line, match)
        if "override" in match[0].split():
            variables.overriding |= {match[1]} if always else set()
        elif match[1] in variables.overriding:
            return
        variables.assign(match[1], match[2], (value.start, value.end), always=always)
        if match[2] == "!=" or _ARGUMENT.search(source.text, value.start, value.end):  # for `$(call …)`
            yield match[1], value
    elif (included := _INCLUDE.match(text)) is not None:
        variables.include(_set_by(included[1], source, workspace))
    elif (undefined := _UNDEFINE.match(text)) is not None:
        variables.forget([undefined[1]])
    elif (of_target := _OF_TARGET.match(text)) is not None:
        variables.set_for(text.partition(":")[0], of_target[1])
        variables.note_options(of_target[1], text[of_target.end() :])


_ARGUMENT = re.compile(r"\$(?:\(1\)|\{1\}|1\b)")


def _value_of(source: Source, line: Line, match: re.Match[str]) -> Line:
    """Where the value of an assignment stands."""
    text = source.text[line.start : line.end]
    shift = len(text) - len(text.lstrip())
    comment = re.compile(r"[ \t]*(?<!\\)#").search(text, shift + match.end())
    end = line.end if comment is None else line.start + comment.start()
    return Line(line.start + shift + match.end(), end)


def _called(source: Source, line: Line) -> Iterator[Line]:
    """The commands of make's functions ``shell`` and ``foreach`` in a line."""
    for found in re.finditer(r"\$[({](?:shell\s|foreach\s[^,]*,[^,]*,)", source.text[line.start : line.end]):
        yield Line(line.start + found.end(), closing(source.text, line.start + found.start() + 1, line.end))


_MARKS = re.compile(r"[ \t@+-]*")
"""What make takes away at the beginning of a line, and does not give to the shell."""
_MARKS_HELD = re.compile(r"\$[({](\w+)[)}]")


def _behind_marks(source: Source, line: Line, variables: _Variables) -> int:
    """Where a line's command begins, behind ``@`` and ``-`` and variables that hold nothing else: ``$(Q)docker``."""
    at = line.start + line.is_recipe(source)
    while (marks := _MARKS.match(source.text, at, line.end)) is not None:
        at = marks.end()
        held = _MARKS_HELD.match(source.text, at, line.end)
        variable = variables.known.get(held[1]) if held is not None and held[1] not in variables.hidden else None
        if held is None or variable is None or not (variable.sure or variable.perhaps):
            break
        if not all(_MARKS.fullmatch(source.text, *value) for value in (*variable.values, *variable.perhaps)):
            break
        at = held.end()
    return at


def _expand(
    builder: Builder, source: Source, start: int, end: int, variables: _Variables, depth: int
) -> None:
    """Put text of a recipe or a value into a shell text, make's variables replaced by their values."""
    text = source.text
    at = start
    for template in _TEMPLATE.finditer(text, start, end):
        if template.start() < at:
            continue
        _expand_make(builder, source, at, template.start(), variables, depth)
        if template[1]:
            since = len(builder.offsets)
            put_unknown(builder, template[1].strip())
            builder.used(since, template.start(), template.end())
        at = template.end()
    _expand_make(builder, source, at, end, variables, depth)


_TEMPLATE = re.compile(r"\{\{-?[ \t]*([A-Za-z_][^{}\n]*?)-?\}\}|\{%[^\n]*?%\}|\{#[^\n]*?#\}")
"""Jinja: an expression, a statement, a comment. The last two print nothing."""


def _expand_value(
    builder: Builder, source: Source, value: tuple[int, int], variables: _Variables, depth: int
) -> None:
    """Put in a value of a variable, with what was known of others when make put these in."""
    around = variables.around
    variables.around = variables.at_once.get(value[0], around)
    _expand(builder, source, *value, variables, depth)
    variables.around = around


def _expand_make(
    builder: Builder, source: Source, start: int, end: int, variables: _Variables, depth: int
) -> None:
    text = source.text
    at = start
    while at < end:
        dollar = text.find("$", at, end)
        if dollar < 0 or dollar + 1 >= end:
            builder.take(at, end)
            return
        builder.take(at, dollar)
        following = text[dollar + 1]
        if following == "$":
            builder.take(dollar, dollar + 1)
            at = dollar + 2
        elif following in "({":
            close = closing(text, dollar + 1, end)
            since = len(builder.offsets)
            place = (dollar + 2, close)
            known = _put_call(builder, source, place, variables, depth)
            if not known and not _put_choice(builder, source, place, variables, depth):
                _put_variable(builder, source, text[dollar + 2 : close], variables, depth)
            builder.used(since, dollar, min(close + 1, end))
            at = close + 1
        elif following.isalpha() or following == "_":  # of `$HOME` it is the `$H`
            since = len(builder.offsets)
            _put_variable(builder, source, following, variables, depth)
            builder.used(since, dollar, dollar + 2)
            at = dollar + 2
        else:  # $1; $@ $< $^ …: make's own
            name = following if following.isdigit() else AUTOMATIC.get(following, "_target")
            if not _put_argument(builder, source, name, variables, depth):
                put_unknown(builder, name, options=name in variables.for_options)
            at = dollar + 2


_CALL = re.compile(r"call[ \t]+([\w.-]+)[ \t]*(,|$)")


def _put_call(
    builder: Builder, source: Source, place: tuple[int, int], variables: _Variables, depth: int
) -> bool:
    """Put in what ``$(call NAME,…)`` stands for, its arguments in it, or such an argument; False for anything else."""
    text = source.text[slice(*place)]
    call = _CALL.match(text)
    if call is None or depth >= _DEPTH:
        return text.isdigit() and _put_argument(builder, source, text, variables, depth)
    if call[1] not in variables.called:
        return False
    outer = variables.arguments
    variables.arguments = Arguments(tuple(_arguments(source.text, place[0] + call.end(), place[1])), outer)
    _expand(builder, source, *variables.known[call[1]].values[0], variables, depth + 1)
    variables.arguments = outer
    return True


_IF = re.compile(r"if[ \t]+")


def _put_choice(
    builder: Builder, source: Source, place: tuple[int, int], variables: _Variables, depth: int
) -> bool:
    """Put in options of which a condition chooses: ``$(if $(N),--name $(N))``; False for anything else."""
    choice = _IF.match(source.text, *place)
    parts = list(_arguments(source.text, choice.end(), place[1])) if choice is not None else []
    expression = source.text[slice(*place)]
    if not 1 < len(parts) < 4 or depth >= _DEPTH - 1 or not variables.are_options(expression):
        return False
    plain = put_unknown(builder, expression, options=True)
    for part in (*parts[1:], *([(place[1], place[1])] if len(parts) == 2 else [])):
        held = Builder(source)
        _expand(held, source, *part, variables, _DEPTH - 1)
        builder.perhaps[plain, "".join(held.parts).strip()] = None
    builder.settled.add(plain)
    return True


def _put_argument(builder: Builder, source: Source, name: str, variables: _Variables, depth: int) -> bool:
    """Put in an argument of the call that is put in, by its number; False where there is no call."""
    inner = variables.arguments
    if inner is None or not name.isdigit() or name == "0" or depth >= _DEPTH:
        return False
    if int(name) <= len(inner.places):
        variables.arguments = inner.outer
        _expand(builder, source, *inner.places[int(name) - 1], variables, depth + 1)
        variables.arguments = inner
    return True


def _arguments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the arguments of a call stand, commas between them; those inside of brackets are of an argument."""
    at = begin = start
    while at < end:
        if text[at] in "({":
            at = closing(text, at, end)
        elif text[at] == ",":
            yield begin, at
            begin = at + 1
        at += 1
    yield begin, end


def _put_variable(builder: Builder, source: Source, name: str, variables: _Variables, depth: int) -> None:
    """Put in what a variable holds, and a variable of the shell for what is not known of it."""
    variable = variables.get(name) if depth < _DEPTH and name not in variables.hidden else None
    if variable is not None and starts_container(variable, source):
        _put_start(builder, source, variable, (name, depth), variables)
        return
    if variable is None or not (variable.sure or variable.perhaps):
        put_unknown(builder, name, options=variables.are_options(name))
        return
    for i, value in enumerate(variable.values):
        builder.put(" " if i else "")
        _expand_value(builder, source, value, variables, depth + 1)
    if not variable.perhaps:
        return
    builder.put(" " if variable.values else "")
    plain = put_unknown(builder, name, options=variables.are_options(name))
    if depth < _DEPTH - 1 and plain not in variables.of_shell:
        for value in variable.perhaps:
            held = Builder(source)
            _expand_value(held, source, value, variables, _DEPTH - 1)
            builder.perhaps[plain, "".join(held.parts).strip()] = None
        if variable.every:
            builder.settled.add(plain)


_START = re.compile(
    rf"\s*(?:sudo[ \t]+(?:-[A-Za-z]+[ \t]+)*)?(?P<engine>{ENGINE})[ \t]+(?:container[ \t]+)?(?P<verb>run|create)"
    r"(?!\S)(?P<options>.*)",
    re.S,
)


_LAST_START = re.compile(
    rf"[ \t@+-]*(?=(?:sudo[ \t]+(?:-[A-Za-z]+[ \t]+)*)?{ENGINE}[ \t]+(?:container[ \t]+)?(?:run|create)(?!\S))"
)
"""What is before a container start in a line of a recipe."""


def starts_container(variable: Variable, source: Source) -> bool:
    """Whether a variable holds the start of a container whichever of its values it has."""
    several = not variable.values and len(variable.perhaps) > 0
    return several and all(_START.fullmatch(source.text, *value) for value in variable.perhaps)


def _put_start(
    builder: Builder, source: Source, variable: Variable, named: tuple[str, int], variables: _Variables
) -> None:
    """Put in the start that each of several values of a variable is, and what differs among their options as unknown.

    Without a value the command would begin with an option, so one of them is meant.
    """
    name, depth = named
    found = [match for value in variable.perhaps if (match := _START.fullmatch(source.text, *value)) is not None]
    first = min(found, key=lambda match: match["engine"] != "docker")
    if len({match["options"].strip() for match in found}) == 1:
        _expand(builder, source, first.start("engine"), first.end(), variables, depth + 1)
        return
    _expand(builder, source, first.start("engine"), first.end("verb"), variables, depth + 1)
    builder.put(" ")
    plain = put_unknown(builder, name, options=True)
    for match in found:
        held = Builder(source)
        _expand(held, source, match.start("options"), match.end(), variables, _DEPTH - 1)
        builder.settled.add(plain)
        builder.perhaps[plain, "".join(held.parts).strip()] = None


def put_unknown(builder: Builder, name: str, *, options: bool = False) -> str:
    """Put a shell variable, which no shell text sets, for what is not known: ``$(NAME)``, ``$(if …,--rm)``.

    Gives back its name.
    """
    plain = as_variable(name)
    builder.put_unknown(plain, options=options)
    return plain


_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?![=:])([^\n;]*)")


class _Rules(NamedTuple):
    """The rules of a makefile."""

    lines: Mapping[str, Sequence[tuple[int, int]]]
    """The lines of the recipes of each target."""
    needs: Mapping[str, Sequence[str]]
    """What each target needs."""

    def reached(self, targets: Iterable[str], most: int) -> list[str]:
        """Some targets and what they need, and what that needs."""
        pending = list(targets)
        found: dict[str, None] = {}
        while pending and len(found) < most:
            name = pending.pop()
            if name not in found:
                found[name] = None
                pending += self.needs.get(name, ())
        return list(found)


def _rules(source: Source) -> _Rules:
    needs: dict[str, list[str]] = {}
    lines: dict[str, list[tuple[int, int]]] = {}
    current: list[str] = []
    for line in lines_of(source):
        text = source.text[line.start : line.end]
        if line.is_recipe(source):
            for name in current:
                lines.setdefault(name, []).append((line.start, line.end))
        elif _OF_TARGET.match(text) is None and (match := _RULE.match(re.sub(r"\\\r?\n", " ", text))) is not None:
            current, needed = ([name.removeprefix("./") for name in names.split()] for names in match.groups())
            for name in current:
                needs.setdefault(name, []).extend(needed)
        elif text.strip() and not text.lstrip().startswith("#"):
            current = []
    return _Rules(lines, needs)


def _hidden(
    source: Source, of_targets: Mapping[str, Iterable[str]], workspace: Workspace | None
) -> Callable[[Line], Collection[str]]:
    """Which variables may have the value of a target in a line: all but in recipes that no such target comes to."""
    known: dict[int, set[str]] = {}
    elsewhere = bool(of_targets) and (
        _RULES_ELSEWHERE.search(source.text) is not None
        or (workspace is not None and is_read_by_another(source, workspace, "include"))
    )
    rules = _rules(source) if of_targets and not elsewhere else _Rules({}, {})
    for variable, targets in of_targets.items():
        reached = rules.reached(targets, _MOST_TARGETS)
        if len(reached) == _MOST_TARGETS or any(_PLAIN.fullmatch(name) is None for name in reached):
            continue  # what a pattern or a variable stands for may be any target
        others = [name for name in rules.lines if _PLAIN.fullmatch(name) and not name.startswith(".")]
        comes_to = {line for name in rules.lines if name in reached or name not in others for line in rules.lines[name]}
        for name in others:
            for start, end in rules.lines[name]:
                if (start, end) not in comes_to:
                    known.setdefault(start, set()).add(variable)
    return lambda line: frozenset(of_targets) - known.get(line.start, set())


_MOST_TARGETS = 1_000
_RULES_ELSEWHERE = re.compile(
    r"(?m)^[ ]*[-s]?include\b|\$[({](?:eval\b|MAKE[)}])|^[^\t\n#:=]*%[^\n:=]*:|^\.[a-z]\w*(?:\.[a-z]\w*)?[ \t]*:"
)
"""By these a target may need more than the rules of the file say: other files, patterns, suffixes, a make inside."""


def recipe(source: Source, target: str, given: Given) -> Iterator[ShellText]:
    """The lines of a target's recipe, those of what it needs first, where make is started with variables."""
    rules = _rules(source)
    wanted = [line for name in rules.reached([target], 50) for line in rules.lines.get(name, ())]
    for text_ in make_lines(source, given=given):
        if any(start <= text_.home.start < end for start, end in wanted):
            yield text_
