"""What the variables of a shell text hold where they are used.

A variable is followed through assignments, through the calls of functions, and no further than to
where something else may set it: a file that is sourced, a text that is evaluated, a name reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from shmlint.model.number import whole_number
from shmlint.model.record import NamedTuple
from shmlint.syntax.shell_text import Splitting, holds_one, not_set
from shmlint.syntax.word import Cause, Word

T = TypeVar("T")

_ASSIGNMENTS = 100
"""A variable that is set more often than this is not followed."""

MOST_CALLS = 20
"""A function that is called from more places than this is not followed."""

_STEPS = 1_000
"""Calls that are followed for one use of a variable."""

CALLS_IN_CALLS = 40
"""Calls that are followed from a function to those that call it, or into those that it calls."""

SEPARATORS = "IFS"
"""The variable that says at which characters a shell makes words of what is not quoted."""

BLANKS = " \t\n"
"""The usual ones."""

ANY = ""
"""The name of an assignment to variables whose names are not known."""

ARGUMENTS = "@"
"""The name that stands for all arguments of a function or of the script, which ``set -- …`` and ``shift`` change."""

END = 1 << 62
"""Behind every place of a file."""


class Buffer:
    """Characters of a word under way, each with its place in the file (-1: none) and whether it
    may split the word; and the stretches that are not known."""

    __slots__ = ("chars", "harmless", "kept", "offsets", "options", "quoted", "splits", "unknown")

    def __init__(self) -> None:
        self.chars: list[str] = []
        self.offsets: list[int] = []
        self.splits: list[bool] = []
        self.unknown: list[tuple[int, int, Cause, bool]] = []
        self.kept: list[tuple[int, int]] = []
        """Its stretches between quotation marks that are in an expansion, which stay one word."""
        self.quoted = False
        self.harmless = False
        """Its unknown stretches hold nothing that matters."""
        self.options = False
        """Its unknown stretches hold options."""

    def add(self, text: str, offsets: Sequence[int] = (), splits: bool = False) -> None:
        self.chars += text
        self.offsets += offsets or [-1] * len(text)
        self.splits += [splits] * len(text)

    def add_unknown(self, text: str, offsets: Sequence[int], because: Cause, many: bool) -> None:
        start = len(self.chars)
        self.add(text, offsets)
        self.unknown.append((start, len(self.chars), because, many))

    def extend(self, other: Buffer, splits: bool) -> None:
        start = len(self.chars)
        self.chars += other.chars
        self.offsets += other.offsets
        flags = [splits] * len(other.chars)
        for a, b, _, _ in other.unknown:  # `$(a b)` is one piece, whatever is in it
            flags[a:b] = [False] * (b - a)
        for a, b in other.kept:
            flags[a:b] = [False] * (b - a)
        self.kept += [(a + start, b + start) for a, b in other.kept]
        self.splits += flags
        self.harmless = other.harmless and (self.harmless or not self.unknown)
        self.options = self.options or other.options
        self.unknown += [(a + start, b + start, why, many and splits) for a, b, why, many in other.unknown]


Range = tuple[int, int]
Value = Buffer | list[Word] | None
"""A text, an array, or None where what is assigned is not known."""
State = Buffer | list[Word] | Cause
"""What a variable holds, or the reason why that is not known."""


def nothing() -> None:
    """What is not known: the value of an assignment, whether it is made, the arguments of a call."""


class Settled(NamedTuple):
    """Where a variable is sure to have been set, by one branch or another of a statement."""

    start: int
    end: int
    first: bool
    """Whether an assignment is the first of these: what the variable held before the statement counts no more."""


class Assignment(NamedTuple):
    """Something that sets a variable. The ranges are places in the file."""

    at: int
    value: Callable[[], Value]
    append: bool = False
    branch: Range | None = None
    """The range of the branch it is made in; None where it is always made."""
    lengthens: bool = False
    """The new value holds the old one: ``ARGS="$ARGS --rm"``."""
    function: Range | None = None
    """The function that it is in."""
    local: bool = False
    """Only the function and what it calls see it."""
    loop: Range | None = None
    """The outermost loop that it is in."""
    because: Cause | None = None
    """What sets the variable, where that is not known."""
    is_made: Callable[[], bool | None] = nothing
    """Whether its branch is taken, where that is asked for and known."""
    shell: Range | None = None
    """The shell of its own that it is made in, ``( … )`` or ``$( … )``: nothing outside sees it."""
    settled: Callable[[], Settled | None] = nothing
    """Where each branch of the statement that it is in has set the variable; None where some do not."""


class Call(NamedTuple):
    """A call of a function that the text defines."""

    at: int
    name: str
    branch: Range | None = None
    function: Range | None = None
    arguments: Callable[[], list[Word] | None] = nothing
    sets: tuple[tuple[str, Callable[[], Value]], ...] = ()
    """The variables that are set for this call alone: ``A=x f``."""
    shell: Range | None = None
    """The shell of its own that it is made in."""


class Moved(NamedTuple):
    """A ``shift``, or another command after which arguments have other numbers."""

    at: int
    by: int | None
    """By how many they move; None where that is not known."""
    branch: Range | None = None
    function: Range | None = None
    loop: Range | None = None


class Variables:
    """What a text assigns, by name, in order, and the functions that it defines and calls."""

    splitting: Splitting = "blanks"
    """What the shell makes of variables that are not quoted."""
    engine_functions: frozenset[str] = frozenset()
    """Functions with the names of engines that files define which are sourced."""
    sourced = False
    """Whether a file is sourced that may define functions."""
    set_by_file: Callable[[str], frozenset[str]] | None = None
    """What a file may set that the text reads by this name; ``ANY``: any variable."""

    def __init__(self, unset: Callable[[str], Cause] = not_set) -> None:
        self.made: dict[str, list[Assignment]] = {}
        self.functions: dict[str, list[Range]] = {}
        self.names: dict[Range, frozenset[str]] = {}
        """The functions the other way round."""
        self.perhaps_defined: set[Range] = set()
        """Functions whose definition is in a branch or in another function, so it may not be made."""
        self.defined_in: dict[Range, Range] = {}
        """Functions that other functions define, outside of all branches."""
        self.calls: list[Call] = []
        self.by_name: dict[str, list[Call]] = {}
        """The calls by the name that they call."""
        self.moved: list[Moved] = []
        self.unread_calls: set[str] = set()
        """Functions that are also called in ways that are not read; ``ANY``: all of them may be."""
        self.set_for_calls: set[str] = set()
        """The variables that single calls of functions set."""
        self.doubtful: set[str] = set()
        """Variables of a text that both the shell around it and its own set."""
        self.given: set[str] = set()
        """Variables that the command is given which reads the text; their values are not known."""
        self.for_options: set[str] = set()
        """Variables that something around the text sets to options; their values are not known in it."""
        self.own_arguments = False
        """Whether the arguments are those of a text inside, which are not known."""
        self.sets_arguments = False
        """Whether the text gives itself other arguments: ``set -- …``."""
        self.noted = 0
        self.steps = 0
        """Calls that were followed for one use of a variable."""
        self.entered: dict[object, State] = {}
        """What was found of variables and arguments where functions begin: calls ask for it again and again."""
        self.in_order: dict[tuple[str, Range | None, int, int], Sequence[Assignment | Call]] = {}
        """What is done to a variable in a function, while so many assignments and calls are known."""
        self.joined: dict[object, tuple[Assignment, Value, State, State]] = {}
        """What variables hold after assignments that may not have been made: each use asks for all before it."""
        self.setting: dict[tuple[str, Range, int, int], bool] = {}
        """Whether functions set variables, while so many assignments and calls are known."""
        self.anything: tuple[int, Mapping[Range | None, Sequence[Assignment]]] = (0, {})
        """What may set any variable, by functions, and how many assignments that are."""
        self.only: dict[Range, Call] = {}
        """The one call of a function that is looked at, where its calls are looked at one by one."""
        self.unset = unset
        self.under_way: set[tuple[str, Range]] = set()
        self.under_test: set[str] = set()
        self.owned: set[tuple[int, str]] = set()
        """The lists, by their table and name, that no other text shares."""

    def inside(self, unset: Callable[[str], Cause]) -> Variables:
        """The variables of a text inside, which sees these and keeps what it sets to itself."""
        inner = Variables(unset)
        inner.set_by_file = self.set_by_file
        inner.made = dict(self.made)
        inner.functions = dict(self.functions)
        inner.names = dict(self.names)
        inner.perhaps_defined = set(self.perhaps_defined)
        inner.defined_in = dict(self.defined_in)
        inner.calls = list(self.calls)
        inner.by_name = dict(self.by_name)
        self.owned.clear()
        inner.moved = list(self.moved)
        inner.unread_calls = set(self.unread_calls)
        inner.set_for_calls = set(self.set_for_calls)
        inner.doubtful = set(self.doubtful)
        inner.given = set(self.given)
        inner.for_options = set(self.for_options)
        inner.own_arguments = self.own_arguments
        inner.sourced = self.sourced
        inner.engine_functions = self.engine_functions
        inner.splitting = self.splitting
        inner.only = self.only  # the same one: values of the text around are asked for from inside
        return inner

    def for_another_shell(self, exported: Collection[str]) -> None:
        """Forget what a shell that is started does not see: it gets the exported variables alone.

        What may set any variable may export it too.
        """
        self.sourced = False
        self.engine_functions = frozenset()
        self.splitting = "blanks"
        for name, made in list(self.made.items()):
            if name not in exported and name != ANY:
                self.made[name] = [one for one in made if one.at < 0]  # of the environment around the text
                if not self.made[name]:
                    del self.made[name]

    def forget_all(self) -> None:
        """Let go of all values. They refer to the tree of the text, and by that to these variables."""
        self.made.clear()
        self.calls.clear()
        self.by_name.clear()
        self.entered.clear()
        self.in_order.clear()
        self.joined.clear()
        self.anything = (0, {})

    def of_environment(self) -> Iterator[str]:
        """The variables that something around the text sets."""
        return (name for name, made in self.made.items() if any(one.at < 0 for one in made))

    def note(self, name: str, assignment: Assignment) -> None:
        """An assignment, in the order of the text."""
        self.noted += 1
        self._own(self.made, name).append(assignment)

    def note_value(self, name: str, text: str, at: int) -> None:
        """A value that a variable gets from outside of the text."""
        buffer = Buffer()
        buffer.add(text, (), True)
        self.note(name, Assignment(at, partial(_same, buffer)))

    def note_perhaps(self, name: str, text: str, *, settled: bool) -> None:
        """A value that something around the text may give to a variable; ``${OTHER}`` in it is not known.

        ``settled``: it gives the variable one of such values in any case.
        """
        buffer = Buffer()
        at = 0
        for found in _REFERENCE.finditer(text):
            buffer.add(text[at : found.start()], splits=True)
            buffer.add_unknown(found[0], (), self.unset(found[0].strip("${}")), True)
            at = found.end()
        buffer.add(text[at:], splits=True)
        known = "$" not in _REFERENCE.sub("", text) and "`" not in text
        always = Settled(-1, END, False) if settled else None
        made = Assignment(-1, partial(_same, buffer) if known else nothing, branch=(-1, -1), settled=lambda: always)
        self.note(name, made)

    def _own(self, table: dict[str, list[T]], name: str) -> list[T]:
        """A list of a table to add to: that of a text inside is shared until then, for there may be many of both."""
        if (id(table), name) not in self.owned:
            self.owned.add((id(table), name))
            table[name] = list(table.get(name, ()))
        return table[name]

    def holds_options(self, name: str) -> bool:
        """Whether something that a variable is set to begins with an option: then it is for options, whatever else
        it may be."""
        if name in self.for_options:
            return True
        made = self.made.get(name, ()) if name not in self.under_test and name != ARGUMENTS else ()
        if not 0 < len(made) <= MOST_CALLS:
            return False
        self.under_test.add(name)
        values = ((one.append, one.value()) for one in made)
        found = any(are_options(value) and not (append and _goes_on(value)) for append, value in values)
        self.under_test.discard(name)
        return found

    def may_be_set(self, name: str, at: int, function: Range | None) -> bool:
        """Whether anything in the text sets a variable before a place."""
        if is_argument(name):
            return function is not None or self.own_arguments or name in self.made or self._resets_arguments(at)
        if name in self.given:
            return True
        calls = self.calls_of(function) if function is not None and name in self.set_for_calls else ()
        if any(set_ == name for call in calls for set_, _ in call.sets):
            return True
        made = (*self.made.get(name, ()), *self.made.get(ANY, ()))
        return any(m.at < at or function is not None or m.function is not None or m.loop is not None for m in made)

    def value(self, name: str, at: int, function: Range | None) -> State:
        """What a variable holds where it is used; ``function`` is the one that it is used in."""
        if not self.under_way:
            self.steps = 0
        if is_argument(name) and self.own_arguments:
            return Cause("argument of command", name)
        if function is not None and is_argument(name):
            return self._argument(name, at, function)
        if is_argument(name) and self._resets_arguments(at):
            if len(self.made[ARGUMENTS]) > _ASSIGNMENTS:
                return Cause("many ways", name)
            state = self._after(ARGUMENTS, self._given_arguments(), at, None)
            return _argument_of(name, state, 0) if isinstance(state, list) else Cause("argument", name)
        if name in self.doubtful or name in self.given:
            return Cause("set around", name)
        if name in self.set_for_calls and function is not None:
            return self._after(name, self._on_entry(name, function), at, function)
        if name not in self.made:
            return self.unset(name)
        if len(self.made[name]) > _ASSIGNMENTS or len(self.calls) > 10 * _ASSIGNMENTS:
            return Cause("many ways", name)
        if function is None:
            return self._after(name, self.unset(name), at, None)
        return self._after(name, self._on_entry(name, function), at, function)

    def _on_entry(self, name: str, function: Range) -> State:
        """What a variable holds where a function begins: the same at each of its calls, or not known."""
        inside = all(made.function == function for made in (*self.made.get(name, ()), *self.made.get(ANY, ())))
        if inside and name not in self.set_for_calls:
            return self.unset(name)
        if (name, function) in self.under_way:
            return Cause("recursion", name)
        if len(self.under_way) >= CALLS_IN_CALLS:
            return Cause("nested")
        calls = [call for call in self.calls_of(function) if call.function != function]
        if not calls:
            return self._after(name, self.unset(name), END, None)
        if len(calls) > MOST_CALLS:
            return Cause("many ways", name)
        key = (name, None, function, self.noted, len(self.calls), self.looked_at())
        if key not in self.entered:
            self.under_way.add((name, function))
            found = [self._for_call(name, call) for call in calls]
            self.under_way.discard((name, function))
            same = all(_texts(state) == _texts(found[0]) for state in found)
            self.entered[key] = found[0] if same else Cause("between calls", name)
        return self.entered[key]

    def _for_call(self, name: str, call: Call) -> State:
        """What a variable holds for a call of a function."""
        value = next((value for set_, value in call.sets if set_ == name), None)
        if value is None:
            return self.value(name, call.at, call.function)
        held = value()
        return held if held is not None else Cause("elsewhere", name)

    def calls_of(self, function: Range) -> list[Call]:
        """The calls of a function, or the one of them that is looked at."""
        if function in self.only:
            return [self.only[function]]
        calls = (call for name in sorted(self._names(function)) for call in self.by_name.get(name, ()))
        return [call for call in calls if function in self.called(call)]

    def called(self, call: Call) -> Sequence[Range]:
        """The functions that a call may reach: of several with one name the last one that is defined before it.

        Those whose definition may not be made leave the earlier one in its place.
        """
        ranges = self.functions.get(call.name, ())
        if not 1 < len(ranges) <= MOST_CALLS:
            return ranges
        if call.function is not None:
            own = [found for found in ranges if self.defined_in.get(found) == call.function and found[0] < call.at]
            return own[-1:] or ranges
        before = [found for found in ranges if found[0] < call.at]
        sure = next((i for i in reversed(range(len(before))) if before[i] not in self.perhaps_defined), 0)
        return before[sure:] or ranges

    def reached_from(self, functions: Collection[Range]) -> set[Range]:
        """Some functions, and those that they call."""
        inner: dict[Range, set[Range]] = {}
        for call in self.calls:
            if call.function is not None:
                inner.setdefault(call.function, set()).update(self.called(call))
        found, waiting = set(functions), list(functions)
        while waiting:
            new = inner.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    def leading_to(self, function: Range) -> set[Range]:
        """A function, and those that call it."""
        found, waiting = {function}, [function]
        while waiting:
            calls = self.calls_of(waiting.pop())
            new = {call.function for call in calls if call.function is not None} - found
            found |= new
            waiting += new
        return found

    def call_at(self, name: str, at: int) -> Call | None:
        """The call of a function at a place."""
        return next((call for call in self.by_name.get(name, ()) if call.at == at), None)

    def is_read(self, function: Range) -> bool:
        """Whether all calls of a function are read: none is made by another program, or by a name that is computed."""
        return function in self.only or self.unread_calls.isdisjoint({ANY, *self._names(function)})

    def define(self, name: str, function: Range) -> None:
        """A function of the text."""
        self._own(self.functions, name).append(function)
        self.names[function] = self.names.get(function, frozenset()) | {name}

    def call(self, call: Call) -> None:
        """A call of a function, in the order of the text."""
        self.calls.append(call)
        self._own(self.by_name, call.name).append(call)

    def _names(self, function: Range) -> frozenset[str]:
        return self.names.get(function, frozenset())

    def looked_at(self) -> tuple[tuple[Range, int], ...]:
        """Which calls are looked at, for what is computed once for each of them."""
        return tuple((function, call.at) for function, call in sorted(self.only.items())) if self.only else ()

    def _argument(self, name: str, at: int, function: Range) -> State:
        """What an argument of a function is: the same at each of its calls, or not known."""
        calls = self.calls_of(function)
        if not calls or not self.is_read(function):
            return Cause("argument of function", name)
        if len(calls) > MOST_CALLS or (name, function) in self.under_way:
            return Cause("argument in many ways", name)
        moved = self.moved_at(at, function)
        if moved is None:
            return Cause("shifted", name)
        if len(self.under_way) >= CALLS_IN_CALLS:
            return Cause("nested")
        key = (name, moved, function, self.noted, len(self.calls), self.looked_at())
        if key not in self.entered:
            self.under_way.add((name, function))
            given = [call.arguments() for call in calls]
            self.under_way.discard((name, function))
            found = [_argument_of(name, words, moved) for words in given]
            same = all(_texts(state) == _texts(found[0]) for state in found)
            self.entered[key] = found[0] if same else Cause("argument between calls", name)
        return self.entered[key]

    def _resets_arguments(self, at: int) -> bool:
        """Whether ``set -- …`` or ``shift`` may have run before a place outside of functions."""
        made = (one for one in self.made.get(ARGUMENTS, ()) if one.at >= 0)
        return any(one.at < at or (one.loop is not None and one.loop[0] <= at < one.loop[1]) for one in made)

    def _given_arguments(self) -> list[Word]:
        """The arguments that something around the text gives to it; others may follow, if it does not say how many."""
        found: list[Word] = []
        count = whole_number(self._given("#") or "")
        while len(found) != count and (text := self._given(str(len(found) + 1))) is not None:
            found.append(Word(text))
        others = Word("$@", unknown=Cause("argument", ARGUMENTS), maybe_many=True)
        return found if len(found) == count else [*found, others]

    def all_arguments(self) -> tuple[str, ...] | None:
        """The arguments that something around the text gives to it; None where it may have others."""
        if self.own_arguments or self.sets_arguments or ANY in self.made:
            return None
        words = self._given_arguments()
        return None if any(word.unknown for word in words) else tuple(word.text for word in words)

    def _given(self, name: str) -> str | None:
        """What something around the text surely sets a variable to."""
        made = self.made.get(name, ())
        value = made[0].value() if len(made) == 1 and made[0].at < 0 and made[0].branch is None else None
        return "".join(value.chars) if isinstance(value, Buffer) and not value.unknown else None

    def moved_at(self, at: int, function: Range) -> int | None:
        """By how many places the arguments of a function have moved at a place; None where that is not known."""
        total = 0
        for moved in self.moved:
            inside = moved.loop is not None and moved.loop[0] <= at < moved.loop[1]
            if moved.function != function or (moved.at > at and not inside):
                continue
            perhaps = moved.branch is not None and not moved.branch[0] <= at < moved.branch[1]
            if moved.by is None or moved.loop is not None or perhaps:
                return None
            total += moved.by
        return total

    def _after(self, name: str, state: State, at: int, function: Range | None, *, called: bool = False) -> State:
        """What a variable that held ``state`` holds at a place in a function, or outside of all.

        ``called``: the place is after the call of that function, which does not see its local variables.
        """
        steps = self._steps_in(name, function)
        if called and any(isinstance(step, Assignment) and step.local for step in steps):
            return state
        for step in steps:
            if step.at >= at:
                repeated = isinstance(step, Assignment) and step.loop and step.loop[0] <= at < step.loop[1]
                if repeated and isinstance(step, Assignment):
                    state = self._perhaps(name, state, step)
            elif isinstance(step, Call):
                state = self._called(name, state, step, at)
            else:
                state = self._assigned(name, state, step, at)
        return state

    def _steps_in(self, name: str, function: Range | None) -> Sequence[Assignment | Call]:
        """What is done to a variable in a function, or outside of all: assignments, and calls of what may set it."""
        key = name, function, self.noted, len(self.calls)
        if key not in self.in_order:
            made, anything = self.made.get(name, ()), self._of_anything()
            steps: list[Assignment | Call] = [m for m in made if m.function == function]
            steps += anything.get(function, ())
            if any(m.function is not None for m in made) or any(place is not None for place in anything):
                calls = (call for call in self.calls if call.function == function)
                steps += (call for call in calls if any(self._sets(name, reached) for reached in self.called(call)))
            self.in_order[key] = sorted(steps, key=lambda step: step.at)
        return self.in_order[key]

    def _of_anything(self) -> Mapping[Range | None, Sequence[Assignment]]:
        """What may set any variable, by the function that it is in."""
        made = self.made.get(ANY, ())
        if self.anything[0] != len(made):
            found: dict[Range | None, list[Assignment]] = {}
            for one in made:
                found.setdefault(one.function, []).append(one)
            self.anything = len(made), found
        return self.anything[1]

    def _called(self, name: str, state: State, call: Call, at: int) -> State:
        """What a variable holds after the call of a function."""
        if not _is_seen(call, at):
            return state
        self.steps += 1
        if self.steps > _STEPS:
            return Cause("many ways", name)
        if len(self.under_way) >= CALLS_IN_CALLS:
            return Cause("nested")
        for function in self.called(call):
            if (name, function) in self.under_way or not self._sets(name, function):
                continue
            self.under_way.add((name, function))
            after = self._after(name, state, END, function, called=True)
            self.under_way.discard((name, function))
            sure = call.branch is None or call.branch[0] <= at < call.branch[1]
            if not sure and _texts(after) != _texts(state):
                after = self._perhaps_called(name, state, call, after)
            state = after
        return state

    def _perhaps_called(self, name: str, state: State, call: Call, after: State) -> State:
        """What a variable holds after a call that may not have been made."""
        if isinstance(after, Cause):
            return Cause("one branch", name)
        made = Assignment(call.at, partial(_same, after), lengthens=not isinstance(state, Cause))
        return _perhaps(name, state, made, after, has_role=False)

    def _sets(self, name: str, function: Range) -> bool:
        """Whether a function, or one that it calls, sets a variable."""
        key = name, function, self.noted, len(self.calls)
        if key not in self.setting:
            self.setting[key] = self._finds_setter(name, function)
        return self.setting[key]

    def _finds_setter(self, name: str, function: Range) -> bool:
        setters = {made.function for made in self.made.get(name, ())} | self._of_anything().keys()
        waiting, seen = [function], {function}
        while waiting:
            here = waiting.pop()
            if here in setters:
                return True
            for call in self.calls:
                if call.function == here:
                    called = self.called(call)
                    waiting += [found for found in called if found not in seen]
                    seen.update(called)
        return False

    def _assigned(self, name: str, state: State, made: Assignment, at: int) -> State:
        """What a variable holds after an assignment."""
        if not _is_seen(made, at):
            return state
        value = made.value()
        branched = made.branch is not None and not made.branch[0] <= at < made.branch[1]
        is_made = made.is_made() if branched else True
        if is_made is not True:
            return self._perhaps(name, state, made, at) if is_made is None else state
        if value is None:
            return _not_known(name, state, made)
        state = _before(name, state, made, value)
        if not made.append or isinstance(state, Cause):
            longer: State = value
        elif isinstance(state, list) and isinstance(value, list):
            longer = state + value
        elif isinstance(state, Buffer) and isinstance(value, Buffer):
            longer = _joined(state, value)
        else:
            return Cause("several ways", name)
        repeated = made.loop is not None and made.loop[0] <= at < made.loop[1] and (made.append or made.lengthens)
        return self._perhaps(name, longer, made) if repeated else longer

    def _perhaps(self, name: str, state: State, made: Assignment, at: int | None = None) -> State:
        """What a variable holds after an assignment that may not have been made."""
        value = made.value()
        if value is None and made.because:
            return _not_known(name, state, made)
        has_role = self._has_role(name)
        around = made.settled() if at is not None else None
        settled = around is not None and at is not None and around.start <= at <= around.end
        if settled and around is not None and around.first and not made.append and not made.lengthens:
            state = Cause("unset", name)
        key = id(made), id(value), state if isinstance(state, Cause) else id(state), has_role, settled
        if key not in self.joined:
            before = _before(name, state, made, value)
            after = _perhaps(name, before, made, value, has_role=has_role, settled=settled)
            self.joined[key] = made, value, state, after  # all are kept, so that no other gets its id
        return self.joined[key][-1]

    def _has_role(self, name: str) -> bool:
        """Whether a variable is for devices, volumes and the like by its name, and one of its
        values, known and harmless, bears that out."""
        if not holds_one(name.lower(), _ROLES):
            return False
        values = (made.value() for made in self.made[name] if not made.local)
        return any(isinstance(v, Buffer) and v.chars and not v.unknown and is_harmless(v) for v in values)


def _not_known(name: str, state: State, made: Assignment) -> Cause:
    """Why it is not known what a variable holds after an assignment of what is not known.

    One that nothing in the text has set stays that, with the command that may have set it.
    """
    if made.because is None or not isinstance(state, Cause):
        return made.because or Cause("elsewhere", name)
    return state._replace(what=made.because.name) if state.kind == "unset" else state


def _before(name: str, state: State, made: Assignment, value: Value) -> State:
    """What a variable held to which something is added: where it may have been set, something that is not known."""
    if not isinstance(state, Cause) or not made.append or (state.kind == "unset" and not state.what):
        return state
    because = Cause("command", state.what) if state.kind == "unset" else state
    if isinstance(value, list):
        return [Word(f"${{{name}}}", None, because, True, options=True)]
    before = Buffer()
    before.add_unknown(f"${{{name}}}", (), because, True)
    before.options = are_options(value)
    return before


def _joined(first: Buffer, second: Buffer) -> Buffer:
    """A text with another one added. What is not known of them may still become many words."""
    longer = Buffer()
    longer.extend(first, False)
    longer.extend(second, False)
    longer.unknown = [(start, end, why, True) for start, end, why, _ in longer.unknown]
    return longer


def _is_seen(step: Assignment | Call, at: int) -> bool:
    """Whether a place is in the shell in which something is set."""
    return step.shell is None or step.shell[0] <= at < step.shell[1]


def _goes_on(value: Value) -> bool:
    """Whether a value that is added begins in the word before it: ``IMAGE+=-gpu``."""
    return isinstance(value, Buffer) and bool(value.chars) and not value.chars[0].isspace()


def is_argument(name: str) -> bool:
    """Whether a name is that of an argument, or of all of them."""
    return name in ("@", "*", "#") or (name.isdecimal() and name != "0")


def _argument_of(name: str, words: list[Word] | None, moved: int) -> State:
    """An argument of a call, by its number, or all of them."""
    if words is None:
        return Cause("argument", name)
    several = next((i for i, word in enumerate(words) if word.maybe_many), len(words))
    if name == "#":
        return _counted(len(words) - moved) if several == len(words) >= moved else Cause("argument", name)
    number = whole_number(name) if name.isdecimal() else 0
    if number is None or several < moved or moved + number > several < len(words):
        return Cause("argument", name)
    left = words[moved:]
    if not name.isdecimal():
        return left
    buffer = Buffer()
    if number <= len(left):
        word = left[number - 1]
        places = word.offsets if len(word.offsets) == len(word.text) else ()
        if word.unknown:
            buffer.add_unknown(word.text, places, word.unknown, True)
            buffer.harmless, buffer.options = word.harmless, word.options
        else:
            buffer.add(word.text, places)
    return buffer


def usual_separators() -> Buffer:
    """Those of a shell in which nothing sets others."""
    buffer = Buffer()
    buffer.add(BLANKS)
    return buffer


def _counted(number: int) -> Buffer:
    buffer = Buffer()
    buffer.add(str(number))
    return buffer


def _texts(state: State) -> object:
    """A value in a form that can be compared."""
    if isinstance(state, Buffer):
        return "".join(state.chars), [(start, end) for start, end, *_ in state.unknown]
    return [(word.text, word.unknown) for word in state] if isinstance(state, list) else state


def _perhaps(
    name: str, state: State, made: Assignment, value: Value, *, has_role: bool, settled: bool = False
) -> State:
    """What a variable holds after an assignment that may not have been made."""
    lengthens = made.append or (made.lengthens and not _replaces(state, value))
    held = _added(state, made, value) if lengthens else _values(state, value)
    unsure = Cause("one branch", name, values=held, every=settled or lengthens or _is_sure(state))
    own = _without_itself(name, state, made, value) if lengthens else value
    harmless = has_role or (is_harmless(own) and (lengthens or isinstance(state, Cause) or is_harmless(state)))
    glued = lengthens and isinstance(state, Buffer) and _is_glued(state, made, value)
    # An array that may hold anything before the image holds options.
    adds = bool(held) and lengthens and held[-1].startswith("-")
    options = has_role or (not glued and (adds or are_options(own))) or are_options(state) or isinstance(state, list)
    word = Word(f"${{{name}}}", None, unsure, True, harmless, options)
    if isinstance(state, list):
        return [*state, word] if lengthens else [word]
    if isinstance(state, Cause) and isinstance(value, list):
        return [word]
    longer = Buffer()
    if lengthens and isinstance(state, Buffer) and not glued:
        longer.extend(state, False)
        longer.unknown = list(state.unknown)  # each may still be several words
        longer.add(" ")
    longer.add_unknown(word.text, (), unsure, True)
    kept = isinstance(state, Buffer) and lengthens and bool(state.unknown) and not _is_judged(name, state)
    longer.harmless = harmless and not kept
    longer.options = options
    return longer


def _is_sure(state: State) -> bool:
    """Whether a variable is sure to hold one of the values that are told of it."""
    if isinstance(state, Cause):
        return False
    unknown = [word.unknown for word in state] if isinstance(state, list) else [one[2] for one in state.unknown]
    return all(because is None or not because.values or because.every for because in unknown)


def _is_judged(name: str, state: Buffer) -> bool:
    """Whether what a variable holds is harmless, which was judged before where branches may have added to it."""
    own = any((because.kind, because.name) == ("one branch", name) for _, _, because, _ in state.unknown)
    return state.harmless if own else state.harmless or is_harmless(state)


def _replaces(state: State, value: Value) -> bool:
    """Whether a value that names its variable holds what that held in the same branch, and not what it holds before.

    ``if …; then G="--gpus all"; if …; then G="$G -it"; fi; fi``
    """
    if not isinstance(state, Buffer) or not isinstance(value, Buffer) or _begins_with(value, state.chars):
        return False
    return bool(_values(state, value))


def _begins_with(value: Buffer, chars: Sequence[str]) -> bool:
    return value.chars[: len(chars)] == list(chars)


def _without_itself(name: str, state: State, made: Assignment, value: Value) -> Value:
    """A value that lengthens a variable, without what that held or what branches before may have added: that was
    judged there."""
    if isinstance(value, list) and isinstance(state, list):
        return value if made.append else _words_added(state, value)
    if not isinstance(value, Buffer) or not isinstance(state, Buffer):
        return value
    rest = Buffer()
    rest.harmless, rest.options = value.harmless, value.options
    at = len(state.chars) if not made.append and _begins_with(value, state.chars) else 0
    for start, end, because, many in sorted(value.unknown, key=lambda stretch: stretch[:2]):
        if end <= at:
            continue
        if start < at:
            return value
        rest.add("".join(value.chars[at:start]))
        text = "".join(value.chars[start:end])
        if (because.kind, because.name, text) != ("one branch", name, f"${{{name}}}"):
            rest.add_unknown(text, (), because, many)
        at = end
    rest.add("".join(value.chars[at:]))
    return rest


def _words_added(state: list[Word], value: list[Word]) -> list[Word] | None:
    """The words that an array gets besides its own: ``A=("${A[@]}" --rm)``; None where its own are others."""
    return value[len(state) :] if value[: len(state)] == state else None


def _added(state: State, made: Assignment, value: Value) -> tuple[str, ...]:
    """What an assignment may add to a variable: some words, or nothing; empty where that is not known."""
    if isinstance(value, list):
        own = value if made.append else _words_added(state, value) if isinstance(state, list) else None
        added = _held_in(own)
        return ("", *added) if any(added) else ()
    if not isinstance(value, Buffer) or not (made.append or isinstance(state, Buffer)):
        return ()
    start = 0 if made.append or not isinstance(state, Buffer) else len(state.chars)
    if start and isinstance(state, Buffer) and not _begins_with(value, state.chars):
        return ()
    rest = Buffer()
    rest.chars = value.chars[start:]
    rest.unknown = [(a - start, b - start, why, many) for a, b, why, many in value.unknown if b > start]
    if any(a < 0 for a, *_ in rest.unknown):
        return ()
    added = _held_in(rest)
    return ("", added[0].strip()) if len(added) == 1 and added[0].strip() else ()


def _values(*held: State | None) -> tuple[str, ...]:
    """The texts that a variable may hold, which several assignments gave it; empty where one of them is not known.

    Before the first one it holds nothing.
    """
    found: dict[str, None] = {}
    for state in held:
        if isinstance(state, Cause) and state.kind == "unset":
            continue
        texts = _held_in(state)
        if not texts:
            return ()
        found.update(dict.fromkeys(texts))
    return tuple(found)


def _held_in(state: State | None) -> tuple[str, ...]:
    """The texts that one value may be; empty where that is not known. The words of an array are put together.

    Options stay what they are, whatever the variables in them hold: ``--gpus device=$1``.
    """
    if isinstance(state, list):
        if len(state) == 1 and state[0].values:
            return state[0].values
        words = [_without_outputs(word.text) if word.unknown else word.text for word in state]
        text = " ".join(words)
        apart = all(word and not re.search(r"\s", word) for word in words)
        known = apart and (not any(word.unknown for word in state) or _are_known_options(text))
        return (text,) if known and len(text) <= _LONGEST_VALUE else ()
    if not isinstance(state, Buffer) or len(state.chars) > _LONGEST_VALUE:
        return ()
    text = "".join(state.chars)
    text = _without_outputs(text) if state.unknown else text
    if state.unknown and not _are_known_options(text):
        start, end, because, _ = state.unknown[0]
        return because.values if (start, end) == (0, len(state.chars)) else ()
    return (text,)


def _without_outputs(text: str) -> str:
    """A text with a variable in the place of each command whose output is put in: ``-u $(id -u):$(id -g)``."""
    return re.sub(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`", "$_", text)


def _are_known_options(text: str) -> bool:
    """Whether a text is options, in whose values variables are: no word of it is one that may be anything."""
    words = text.split()
    alone = (re.fullmatch(_REFERENCE, word.strip('"')) for word in words)
    before = ("", *words)
    valued = (re.fullmatch(r"--?[A-Za-z][\w-]*", word) is not None for word in before)
    return (
        bool(words)
        and words[0].startswith("-")
        and re.search(r"[`(]", text) is None
        and all(option or word is None for option, word in zip(valued, alone, strict=False))
    )


_LONGEST_VALUE = 200
"""Characters of a text that a variable may hold: the name of a program, or options."""


def _is_glued(state: Buffer, made: Assignment, value: Value) -> bool:
    """Whether what is added goes on where the last word ended: ``IMAGE+=-gpu``."""
    if not isinstance(value, Buffer) or not state.chars or state.chars[-1].isspace():
        return False
    chars = value.chars if made.append else value.chars[len(state.chars) :]
    return bool(chars) and not chars[0].isspace()


def are_options(value: Buffer | list[Word] | Cause | None) -> bool:
    """Whether a value begins with an option."""
    if isinstance(value, Buffer):
        return "".join(value.chars[:200]).lstrip().startswith("-") or value.options
    words = value if isinstance(value, list) else ()
    return any(word.options or _KEY.sub("", word.text).startswith("-") for word in words)


_KEY = re.compile(r"^\[[^]]*\]=")
"""What stands before an element of an array that has a key."""


_ROLES = ("device", "volume", "mount", "port", "user", "label", "hostname")

_TELLING = (
    "shm", "ipc", "gpu", "/dev/shm", "/dev:", "/dev ", "/dev/nvidia", "/dev/kfd", "runtime", "nvidia", "amd.com",
    "privileged", "mount", "tmpfs",
)  # fmt: skip
"""What an option must contain to matter here."""

_SETTING = (
    r"(?<!\S)(?:(?:-e|--env)(?:\s+|=)[\"']?(?!\w*visible_devices)[a-z_]\w*(?:=\S*)?"
    r"|(?:-v|--volume)(?:\s+|=)(?![-(]|\S*/dev\b)\S+:\S*"
    r"|--(?:name|hostname|workdir)(?:\s+|=)(?!-)\S+)(?!\S)"
)
"""Options whose values matter in no way, whatever words are in them: ``-e XDG_RUNTIME_DIR=/tmp``."""


def _may_be_option(word: Word) -> bool:
    """Whether a word that is not known may be any option."""
    return bool(word.unknown) and not word.harmless and word.text[:1] in ("$", "`", "")


def is_harmless(value: Buffer | list[Word] | Cause | None) -> bool:
    """Whether a value holds nothing that decides GPUs or /dev/shm, whatever its variables are."""
    if value is None or isinstance(value, Cause):
        return False
    if isinstance(value, list):
        if any(word.maybe_many and not word.harmless for word in value):
            return False
        last = ["", *(word.text for word in value)]
        if any(_may_be_option(word) and not _takes_value(last[i]) for i, word in enumerate(value)):
            return False
        text = " ".join(word.text for word in value)
    else:
        text = "".join(value.chars)
        for start, end, _, _ in value.unknown:
            before, after = text[start - 1 : start], text[end : end + 1]
            alone = (not before or before in " \t") and (not after or after in " \t")
            # A whole word of its own could be any option, unless it follows one that takes a value.
            if not value.harmless and alone and not _takes_value(text[:start].rstrip().rpartition(" ")[2]):
                return False
    return decides_nothing(text)


def _takes_value(word: str) -> bool:
    """Whether a word is an option whose value the next one may be."""
    return word.startswith("-") and _WITHOUT_VALUE.fullmatch(word) is None


_WITHOUT_VALUE = re.compile(
    r"-[diPqt]+|--?[\w-]+=.*|--(?:detach|disable-content-trust|env-host|help|http-proxy|init|interactive|no-healthcheck"
    r"|no-hostname|no-hosts|oom-kill-disable|passwd|privileged|publish-all|quiet|read-only|read-only-tmpfs|replace|rm|rmi"
    r"|rootfs|sig-proxy|tls-verify|tty|unsetenv-all|use-api-socket)"
)
"""Options of `docker run`, `podman run` and `nerdctl run` that are switches, or have their value with them."""


def decides_nothing(text: str) -> bool:
    """Whether options that are known decide nothing about GPUs or /dev/shm."""
    lowered = text.lower()
    if not holds_one(lowered, _TELLING):
        return True
    return not holds_one(re.sub(_SETTING, "", re.sub("--mount[ =]type=bind", "", lowered)), _TELLING)


_REFERENCE = re.compile(r"\$\{\w+\}|\$\w+")


Environment = Mapping[str, str | None]
"""Variables that something around a text sets; None where the value is not known. ``ANY``: it may set others too."""


def given(values: Environment, for_options: Collection[str] = ()) -> Variables:
    """Variables that are set before a text runs: its environment, and its arguments by their numbers.

    Those ``for_options`` hold options wherever it is not known what they hold.
    """
    variables = Variables()
    variables.for_options |= set(for_options)
    for name, value in values.items():
        if value is None:
            variables.note(name, Assignment(-1 if name else -2, nothing))
            variables.sourced = variables.sourced or name == ANY
            continue
        variables.note_value(name, value, -1)
    return variables


_SET = (
    r"(?m)(?:^|[;&|(]|(?<!-e)(?<!--env)(?<!-arg)\s)([A-Za-z_]\w*)\+?="
    r"|\b(?:read|printf|for|mapfile|readarray)\s+(?:-\S+\s+)*[\"']?([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*):?="
)
_SET_ANY = (
    r"(?m)(?:^|[\s;&|])(?:source|\.|eval)\s(?!\S*/activate\b)|\bexport\s+[\"']?\$"
    r"|\b(?:printf\s+-v|(?:read|mapfile|readarray)(?:\s+-\w*[aerst])*|(?:declare|typeset|unset)(?:\s+-\w+)*)\s*[\"']?\$"
)
"""What sets variables whose names it is given: ``export "$1=$2"``, ``printf -v "$1"``."""


def may_set(text: str) -> frozenset[str]:
    """The variables that a text may set for those that run after it in the same shell; ``ANY``: others too."""
    names = {name for found in re.findall(_SET, text) for name in found if name}
    return frozenset(names | ({ANY} if re.search(_SET_ANY, text) else set()))


def may_set_alone(text: str) -> frozenset[str]:
    """The variables that a text may set, where it does nothing else to them or to the arguments; else ``ANY``."""
    return may_set(text) if re.search(_SETS_OTHERWISE, text) is None else frozenset({ANY})


_SETS_OTHERWISE = (
    r"\(\(|\$\[|\b(?:let|unset|shift|getopts|select|coproc|alias|exec|exit)\b|\bset\s+(?:--|[^-+\s])"
    r"|\b(?:declare|typeset|local)\s+-\w*n|\bwait\s+-"
)
"""What may set variables in other ways: arithmetic, references, commands that take them away."""
_VALUE = (
    r"(?:(?<![\w-])([A-Za-z_]\w*)(?:=|\+=(?=\(|[\"']?\s))(?:\(\s*)?[\"']?\s*(?:\$\{\1:?-)?|\$\{([A-Za-z_]\w*):?="
    r"|\bprintf\s+-v\s+([A-Za-z_]\w*)\s+[\"']?%s[\"']?\s+|\bread\s+(?:-\S+\s+)*([A-Za-z_]\w*)\s*<<<\s*)[\"']?(?:-|\$\{?(\w+))"
)


def set_to_options(text: str, known: Collection[str] = ()) -> frozenset[str]:
    """The variables that a text sets to options, or to what variables ``known`` to be for options hold."""
    found = set(known)
    for *names, held in re.findall(_VALUE, text):
        if not held or held in found:
            found.update(filter(None, names))
    return frozenset(found)


def _same(value: Buffer | list[Word]) -> Value:
    return value
