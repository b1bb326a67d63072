"""What Python expressions are worth: literals, constants, parameters and options, looked up where they are written."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from shmlint.model.launch import Value
from shmlint.model.source import Span
from shmlint.syntax.python import Definition, Module, dotted
from shmlint.workloads.python.assignments import Assignments, Function, of_class, parameters_of
from shmlint.workloads.python.changes import ANY, Changes
from shmlint.workloads.python.configurations.loaded_files import mapping_of, path_read
from shmlint.workloads.python.converters import converted
from shmlint.workloads.python.declarations import SETTINGS_CLASSES
from shmlint.workloads.python.decorated import passes_on
from shmlint.workloads.python.dispatched import (
    BY_POSITION,
    CALL_AGAIN,
    TAKE_OPTIONS,
    TOLD_MORE,
    declared_by_click,
    default_of,
    is_of_group,
    is_started_plainly,
    names_only_parameters,
    of_click,
    passes_words,
    prefix_of,
    takes_plainly,
)
from shmlint.workloads.python.lineage import Lineage, is_own_class
from shmlint.workloads.python.modules import MOST_PASSED_ON, Modules
from shmlint.workloads.python.objects import Objects
from shmlint.workloads.python.options import Options
from shmlint.workloads.python.returned import results
from shmlint.workloads.python.settings_classes import SettingsClasses
from shmlint.workloads.python.values import (
    NOTHING,
    POSITIVE,
    TEXT_METHODS,
    UNKNOWN,
    DictValue,
    Found,
    Scope,
    arithmetic,
    changed,
    compared,
    either,
    extreme,
    logic,
    of_text,
    one_of,
    text_of,
    written,
)
from shmlint.workloads.python.with_arguments import UNKNOWN_NAME, passed_by, with_arguments

_DEPTH = 25
_MOST_HANDED = 3
"""So many functions that hand a mapping on to one another are looked into."""
_MOST_CALLS = 20
"""Calls of a function that are kept."""
_MOST_STARS = 20
"""Imports of everything in which a name is looked for."""
_MOST_STEPS = 200_000
"""Expressions that are worked out for one program."""
_MOST_COPIES = 500
"""Functions of which copies are made for their calls."""
_BUSY = Found(UNKNOWN, False, ())
"""What is just being worked out: a value that rests on itself."""
_MACHINE = frozenset(
    {"os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count", "psutil.cpu_count", "mp.cpu_count",
     "cpu_count", "os.process_cpu_count", "joblib.cpu_count", "os.sched_getaffinity"}
)  # fmt: skip

_PLATFORM = {"os.name": "posix", "sys.platform": "linux"}
"""What a container says of its system."""


class Configurations(Protocol):
    """Files that the program reads its settings from as a whole: ``cfg = Config.fromfile(path)``."""

    def found(self, holder: ast.expr, key: str, scope: Scope) -> Found | None:
        """What one of them has by a key, None as a value where it has nothing; None for what is no part of one."""

    def mapping(self, node: ast.expr, scope: Scope) -> DictValue | None:
        """What a part of one of them holds; None for what is none."""


class Evaluator:
    """Works out expressions. Nothing is run: what is not written down is unknown."""

    def __init__(self, options: Options, modules: Modules, assignments: Assignments) -> None:
        self.options = options
        self.calls: dict[str, list[tuple[ast.Call, Scope]]] = {}
        self.noted = 0
        """How often a call was noted."""
        self.forgotten = 0
        """How often everything was to be worked out again."""
        self._own_calls: dict[int, list[tuple[ast.Call, Scope]]] = {}
        """The calls by which classes make objects of themselves, ``cls(workers=8)``, by their ids."""
        self._often: set[str] = set()
        """The functions that have more calls."""
        self._modules = modules
        self.configurations: Configurations | None = None
        self._left_out: dict[int, list[int]] = {}
        """The nodes in branches that are not taken, by the statement, all by their ids."""
        self._dead: Counter[int] = Counter()
        """In how many of these branches a node is."""
        self._assignments = assignments
        self.lineage = Lineage(self.definition)
        self._settings = SettingsClasses(self.lineage, options.environment)
        self.changes = Changes(self.given_to, assignments.is_changed)
        self.objects = Objects(self)
        self.dispatched: dict[ast.AST, str] = {}
        """Functions that a call of a package makes a command of, and that call."""
        self._without_parameters: dict[tuple[int, int], Found] = {}
        self._now: dict[tuple[int, int], Found] = {}
        """What was worked out since the last call was noted: more calls may say more of parameters."""
        self._returned: dict[tuple[int, int], DictValue] = {}
        """The mappings that functions return, by the calls, likewise."""
        self._left = _MOST_STEPS
        self._as_called_by: dict[tuple[int, int, tuple[object, ...]], tuple[ast.Call, ast.FunctionDef]] = {}
        """Functions with the constants of a call, by the ids of the calls, which are kept with them."""
        self._defaults: dict[tuple[Function, str], ast.expr | None] = {}
        """The defaults of parameters, with what describes them to typer."""
        self._of_files: dict[str, DictValue] = {}
        """What files hold that the code reads, by their paths."""
        self._fields: dict[tuple[str, str], frozenset[str]] = {}
        """The fields of classes, by the name and the path of what makes an object of them."""
        self._wrapped: dict[int, bool] = {}
        """Whether decorators may call functions with other arguments, by the ids of these."""
        self._named_twice: dict[tuple[int, int], bool] = {}
        """Whether only a function and one call have its name, by the id of the function and the number of modules."""
        self._made_fields: dict[str, tuple[int, set[str]]] = {}
        """By keyword: how many objects that are made with it were looked at, and the fields of their classes."""

    def is_mentioned(self, name: str) -> bool:
        """Whether a name stands in the text of any module of the program."""
        return any(name in loaded.source.text for loaded in self._modules.loaded.values() if loaded is not None)

    def forget(self) -> None:
        """Work everything out again: more code is known that may change it."""
        self.forgotten += 1
        self._without_parameters.clear()
        self._renew()

    def _renew(self) -> None:
        self._now.clear()
        self._returned.clear()

    def note_call(self, name: str, node: ast.Call, scope: Scope) -> None:
        """Remember a call, for the parameters of the function it calls, and what it changes."""
        self._renew()
        self.noted += 1
        self.changes.note_call(name, node, scope)
        last = name.rpartition(".")[2]
        found = self.calls.setdefault(last, [])
        if scope.owner is not None and is_own_class(node.func):
            last, found = scope.owner.name, self._own_calls.setdefault(id(scope.owner), [])
        if any(node is known for known, _ in found):
            return
        if len(found) < _MOST_CALLS:
            found.append((node, scope))
        else:
            self._often.add(last)

    def is_often(self, name: str) -> bool:
        """Whether a function has more calls than are kept."""
        return name in self._often

    def knows_calls(self, function: Function, scope: Scope) -> bool:
        """Whether all calls of a function were seen that the code shows, and each says what it passes."""
        name = _called(function, scope)
        calls = [node for node, _ in self.calls_of(function, scope)]
        starred = (isinstance(argument, ast.Starred) for node in calls for argument in node.args)
        mappings = (keyword.arg is None for node in calls for keyword in node.keywords)
        return bool(calls) and name not in self._often and not any(starred) and not any(mappings)

    def _is_called_once(self, function: Function, scope: Scope) -> bool:
        """Whether the only call of a function was seen that there can be: a program's own file has its name twice."""
        if "__main__" not in scope.source.text or function.decorator_list or function in self.dispatched:
            return False
        calls = self.calls_of(function, scope)
        if len(calls) != 1 or calls[0][1].source is not scope.source or self.is_open(function, scope):
            return False
        loaded = [one for one in self._modules.loaded.values() if one is not None and one.source is not scope.source]
        key = id(function), len(loaded)
        if key not in self._named_twice:
            named = re.compile(rf"\b{function.name}\b")
            twice = len(named.findall(scope.source.text)) == 2
            self._named_twice[key] = twice and not any(named.search(one.source.text) for one in loaded)
        return self._named_twice[key]

    def is_repeated(self, node: ast.Call, scope: Scope, depth: int = 0) -> bool:
        """Whether a call is made more than once, as far as that is written: in a loop, or in what is called again."""
        function = scope.function
        if depth > _DEPTH or self._assignments.is_in_loop(node, function or scope.module.tree):
            return True
        calls = self.calls_of(function, scope) if function is not None else []
        return len(calls) > 1 or any(self.is_repeated(call, where, depth + 1) for call, where in calls)

    def calls_of(self, function: Function, scope: Scope) -> list[tuple[ast.Call, Scope]]:
        """The calls of a function that were seen; a class that extends another one makes its objects too."""
        calls = list(self.calls.get(_called(function, scope), ()))
        if function.name != "__init__" or scope.owner is None:
            return calls
        below = self.lineage.below(scope)
        makers = [owner for owner, there in below if _method("__init__", owner, there) is None]
        calls += (call for owner in makers for call in self.calls.get(owner.name, ()))
        making = [*makers, *(owner for owner, _ in self.lineage.above(scope))]
        calls += (call for owner in making for call in self._own_calls.get(id(owner), ()))
        handed = self.calls.get("__init__", ())
        return calls + [call for call in handed if any(call[1].owner is owner for owner, _ in below)]

    def argument(self, node: ast.Call, name: str, position: int, default: object, scope: Scope) -> Found:
        """The value of an argument of a call."""
        self._renew()
        given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
        if given is None and 0 <= position < len(node.args):
            given = node.args[position]
        place = (scope.span(given if given is not None else node),)
        if (given is None or isinstance(given, ast.Starred)) and position >= 0:
            starred = [at for at, argument in enumerate(node.args) if isinstance(argument, ast.Starred)]
            if starred and starred[0] <= position:
                return Found(UNKNOWN, False, place)
        if given is not None:
            found = self.value(given, scope)
            return found._replace(spans=tuple(dict.fromkeys((*place, *found.spans))))
        fallback = POSITIVE if default == "many" else UNKNOWN if default is None else default
        for keyword in node.keywords:
            if keyword.arg is None:
                inside = self._in_mapping(keyword.value, name, scope)
                if inside is not None:
                    return inside._replace(spans=inside.spans or place)
        return Found(fallback, True, place)

    def of_file(self, path: ast.expr, name: str, scope: Scope) -> Found | None:
        """What the file at a path says of a keyword; None where it surely says nothing of it."""
        self._renew()
        mapping = self._mapping_of_file(path, scope, 0)
        if name in mapping.entries:
            return self._entry(mapping, path, name, scope, 0)
        return None if mapping.complete else NOTHING

    def configured(self, name: str, default: object, place: Span) -> Found:
        """What the options and the configuration say, for a library that reads it there."""
        found = self.options.get(name, self.value, 0)
        if found.value is not UNKNOWN or found.spans:
            return found._replace(spans=found.spans or (place,))
        return Found(UNKNOWN if default is None else default, False, (place,))

    def _in_mapping(self, starred: ast.expr, name: str, scope: Scope) -> Found | None:
        """A keyword out of ``**kwargs``; None where it surely is not there."""
        if isinstance(starred, ast.Call) and dotted(starred.func) == "vars" and len(starred.args) == 1:
            starred = starred.args[0]
        mapping = self._with_attributes(self._mapping(starred, scope, 0), starred, scope)
        if name in mapping.entries:
            found = self._entry(mapping, starred, name, scope, 0)
            return found._replace(certain=found.certain and mapping.certain)
        if mapping.complete:
            return NOTHING if self._is_put(name, starred, scope) else None
        passed = self._passed_on(starred, name, scope)
        function = scope.function
        filled = function is not None and self._assignments.is_filled(dotted(starred), function)
        own = function is not None and _is_own_mapping(starred, function) and not filled
        if passed is None and own and function is not None and self.knows_calls(function, scope):
            return None if not self.is_open(function, scope) else NOTHING
        passed = passed or self._of_section(starred, name, scope)
        return passed if passed is not None else self.options.get(name, self.value, 0)._replace(certain=False)

    def _with_attributes(self, mapping: DictValue, node: ast.expr, scope: Scope) -> DictValue:
        """A mapping whose keys are attributes, too, with those that statements give it: ``kw.num_workers = 8``."""
        filled = self.objects.attributes(node, scope) if isinstance(node, ast.Name | ast.Attribute) else None
        if filled is None:
            return mapping
        made, where = filled.made
        for keyword in made.keywords if isinstance(made, ast.Call) and not mapping.entries else ():
            key = ast.Constant(keyword.arg) if keyword.arg is not None else None
            mapping = mapping.with_entry(key, keyword.value, where, lambda v: self._mapping(v, where, 1))
        entries = {**mapping.entries, **{name: (one.value, one.scope) for name, one in filled.given.items()}}
        for name in filled.open:
            entries.pop(name, None)
        whole = filled.whole and not filled.open and isinstance(made, ast.Call) and not made.args
        return DictValue(entries, whole, mapping.certain and filled.whole)

    def _of_section(self, mapping: ast.expr, name: str, scope: Scope) -> Found | None:
        """``**config["loader"]``: a keyword out of that section of the configuration file; None where it has none."""
        if isinstance(mapping, ast.Name):
            given = self._given(mapping, scope)
            if len(given) != 1 or self._may_be_filled(mapping, scope):
                return None
            mapping, scope = given[0]
        if not isinstance(mapping, ast.Subscript) or not isinstance(mapping.slice, ast.Constant):
            return None
        if self.options.is_given(name) or self.changes.nested or self._may_be_filled(mapping.value, scope):
            return None
        return self._option(name, 0) if self.options.is_in_section(text_of(mapping.slice.value), name) else None

    def _may_be_filled(self, mapping: ast.expr, scope: Scope, depth: int = 0) -> bool:
        """Whether code may put something into a mapping with a name, or into one that is in it; also where it is from.
        """
        while isinstance(mapping, ast.Subscript):
            mapping = mapping.value
        if not isinstance(mapping, ast.Name) or depth > _MOST_HANDED:
            return not isinstance(mapping, ast.Call)
        code = self._code_of(mapping.id, scope)
        filled = self._is_filled(mapping.id, code, scope, 1) or any(self._assignments.items_of(mapping.id, code))
        if filled or self.is_handed_on(mapping, scope):
            return True
        given = self.given_to(mapping, scope)
        return not given or any(self._may_be_filled(value, where, depth + 1) for value, where in given)

    def _passed_on(self, starred: ast.expr, name: str, scope: Scope) -> Found | None:
        """A keyword that the callers of a function give to its ``**kwargs``."""
        function = scope.function
        if function is None or not _is_own_mapping(starred, function):
            return None
        calls = self.calls_of(function, scope)
        values = [
            self.value(keyword.value, where, 1)
            for node, where in calls for keyword in node.keywords if keyword.arg == name
        ]  # fmt: skip
        if not values:
            return None
        found = one_of(values)
        all_seen = len(values) == len(calls) and self.knows_calls(function, scope)
        return found if all_seen and not self.is_open(function, scope) else found._replace(certain=False)

    def mapping(self, node: ast.expr, scope: Scope) -> DictValue:
        """The keys and values of a mapping, as far as they are known."""
        self._renew()
        return self._mapping(node, scope, 0)

    def _mapping(self, node: ast.expr | None, scope: Scope, depth: int) -> DictValue:
        """The keys and values of a mapping that is written down, as far as they are known."""
        if node is None or depth > _DEPTH or self._left <= 0:
            return DictValue({}, False)
        self._left -= 1
        if isinstance(node, ast.Name | ast.Attribute) and self.is_handed_on(node, scope):
            return DictValue({}, False)
        of_file = self.configurations.mapping(node, scope) if self.configurations is not None else None
        if of_file is not None:
            return of_file
        if isinstance(node, ast.Dict):
            found = DictValue({}, True)
            for key, value in zip(node.keys, node.values, strict=True):
                found = found.with_entry(key, value, scope, lambda v: self._mapping(v, scope, depth + 1))
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._mapping(node.left, scope, depth + 1).over(self._mapping(node.right, scope, depth + 1))
        if isinstance(node, ast.IfExp):
            return self._either_mapping(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._made_mapping(node, scope, depth)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            entry = self._mapping(node.value, scope, depth + 1).entries.get(text_of(node.slice.value))
            found = self._mapping(entry[0], entry[1], depth + 1) if entry is not None else DictValue({}, False)
            return found._replace(complete=found.complete and not self.changes.nested)
        if isinstance(node, ast.Name | ast.Attribute):
            values = self._given(node, scope) or self._all_passed(node, scope)
            found = DictValue({}, False)
            for at, (value, where) in enumerate(values if len(values) <= 4 else ()):
                known = self._mapping(value, where, depth + 1)
                found = either(found, known) if at else known
            return self._filled(found, dotted(node), scope, depth)
        return DictValue({}, False)

    def _all_passed(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """What the calls of a function pass for a parameter, where all of them are known; else nothing."""
        function = scope.function
        if function is None or not isinstance(node, ast.Name) or node.id not in parameters_of(function):
            return []
        known = self.knows_calls(function, scope) and not self.is_open(function, scope)
        return list(self._passed(node.id, function, scope)) if known else []

    def _either_mapping(self, node: ast.IfExp, scope: Scope, depth: int) -> DictValue:
        """``{"num_workers": 4} if cuda else {}``."""
        test = self.value(node.test, scope, depth + 1)
        if test.value not in (UNKNOWN, POSITIVE) and test.certain:
            return self._mapping(node.body if test.value else node.orelse, scope, depth + 1)
        return either(self._mapping(node.body, scope, depth + 1), self._mapping(node.orelse, scope, depth + 1))

    def _filled(self, mapping: DictValue, name: str, scope: Scope, depth: int) -> DictValue:
        """A mapping with what is put into it later, by the function or else by the module."""
        code = self._code_of(name, scope)
        for other in self._assignments.merged_into(name, code):
            given = self._mapping(other, scope, depth + 1)
            # What the command gives is asked first, and so it is known already.
            whole = mapping.over(given if not _is_of_options(other) else given._replace(complete=True))
            # Which of two values a key has later is not known where the update is in one branch of the code.
            surely = self._assignments.is_surely_merged(name, other, code)
            known = surely or mapping.entries.keys().isdisjoint(given.entries)
            mapping = whole if known else either(whole, mapping)
            mapping = mapping._replace(complete=mapping.complete and given.complete)
        for item, value in self._assignments.items_of(name, code):
            mapping = mapping.with_entry(ast.Constant(item), value, scope, lambda v: DictValue({}, False))
        return mapping._replace(complete=mapping.complete and not self._is_filled(name, code, scope, 0))

    def _code_of(self, name: str, scope: Scope) -> Function | ast.Module:
        """The function that has a mapping of that name, else the module."""
        function = scope.function
        if function is None:
            return scope.module.tree
        local = name in parameters_of(function) or _is_own_mapping(ast.Name(name), function)
        return function if local or self._assignments.of_name(name, function) else scope.module.tree

    def _is_filled(self, name: str, code: Function | ast.Module, scope: Scope, depth: int) -> bool:
        """Whether code puts into a mapping what is not written there: it, one that it hands it to, another module."""
        if self._assignments.is_filled(name, code, merged=depth > 0):
            return True
        if isinstance(code, ast.Module) and self.changes.is_filled(name.rpartition(".")[2], code):
            return True
        if depth > _MOST_HANDED:
            return False
        if any(self._is_filled(other, code, scope, depth + 1) for other in self._assignments.other_names(name, code)):
            return True
        return any(
            self._assignments.items_of(parameter, function) or self._is_filled(parameter, function, where, depth + 1)
            for called, at in self._assignments.handed(name, code)
            for function, where in self.functions(called, scope)
            for parameter in _parameter_at(at, function)
        )  # fmt: skip

    def _is_put(self, key: str, mapping: ast.expr, scope: Scope) -> bool:
        """Whether a key is put into a mapping by other code than that which has it, or by another name."""
        return self.changes.is_put(key, dotted(mapping), self._code_of(dotted(mapping), scope))

    def _made_mapping(self, node: ast.Call, scope: Scope, depth: int) -> DictValue:
        path = path_read(node, scope)
        if path is not None:
            return self._mapping_of_file(path, scope, depth)
        last = dotted(node.func).rpartition(".")[2]
        if last in ("copy", "deepcopy"):
            inner = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
            return self._mapping(inner, scope, depth + 1)
        if last not in SETTINGS_CLASSES and not scope.full_name(node.func).endswith("OmegaConf.create"):
            return self._returned_mapping(node, scope, depth)
        found = DictValue({}, True)
        for argument in node.args[:1]:
            found = found.over(self._mapping(argument, scope, depth + 1))
        for keyword in node.keywords:
            name = ast.Constant(keyword.arg) if keyword.arg is not None else None
            found = found.with_entry(name, keyword.value, scope, lambda v: self._mapping(v, scope, depth + 1))
        return found

    def _mapping_of_file(self, path: ast.expr, scope: Scope, depth: int) -> DictValue:
        """What a file of the repository holds that the code surely reads."""
        named = self.value(path, scope, depth + 1)
        place = self.options.files.find(named.value) if isinstance(named.value, str) and named.certain else None
        if place is None or place.guessed:
            return DictValue({}, False)
        if place.path not in self._of_files:
            part = self.options.settings(place.path)
            self._of_files[place.path] = mapping_of(place.path, part) if part is not None else DictValue({}, False)
        return self._of_files[place.path]

    def _returned_mapping(self, node: ast.Call, scope: Scope, depth: int) -> DictValue:
        """The mapping that a function of the repository returns, where that is always the same one."""
        key = id(node), id(scope.function)
        if key not in self._returned:
            self._returned[key] = DictValue({}, False)  # one that rests on itself is unknown
            called = self._called_function(node, scope)
            values = results(called[0], lambda test: None) if called is not None else []
            if called is not None and len(values) == 1:
                self._returned[key] = self._mapping(values[0], called[1], depth + 1)
        return self._returned[key]

    def leave_out(self, branch: ast.If, statements: Sequence[ast.stmt]) -> None:
        """Remember the statements of a branch that is not taken: what they give a name counts no more."""
        self._dead.subtract(self._left_out.pop(id(branch), ()))
        if statements:
            left_out = [id(node) for statement in statements for node in ast.walk(statement)]
            self._left_out[id(branch)] = left_out
            self._dead.update(left_out)

    def _is_left_out(self, value: ast.expr) -> bool:
        return self._dead.get(id(value), 0) > 0

    def _given(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """The values that are given to a name or an attribute, here or in the module that it comes from."""
        found = self._written(node, scope)
        return [one for one in found if not self._is_left_out(one[0])] if len(found) > 1 else found

    def _written(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        outside = scope._replace(function=None)
        if isinstance(node, ast.Name):
            local = self._assignments.of_name(node.id, scope.function)
            if local:
                return [(value, scope) for value in local]
            fields = of_class(scope.owner) if scope.owner is not None and scope.function is None else ()
            if own := [(value, scope) for field, value in fields if field == node.id]:
                return own
            if node.id in scope.module.constants:
                return [(value, outside) for value in scope.module.constants[node.id]]
        elif dotted(node.value) == "self" and scope.owner is not None:
            return self._of_object(node.attr, scope)
        name = dotted(node)
        head, _, rest = name.partition(".")
        if head in scope.module.imports:
            return self._imported(node, scope)
        definition = scope.module.definitions.get(head)
        if isinstance(definition, ast.ClassDef):
            return self._of_class(definition, rest, outside)
        starred = scope.module.stars[-_MOST_STARS:] if isinstance(node, ast.Name) and definition is None else ()
        every = (self._elsewhere(f"{star}.{name}", scope.path, 0) for star in reversed(starred) if star.strip("."))
        last = next(filter(None, every), [])
        return last if not last or _has_plain_stars(scope.module) else [*last, *(one for some in every for one in some)]

    def _imported(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """The values of what is imported; of several imports of one name those of each, one that is not known too."""
        each = [self._elsewhere(name, scope.path, 0) for name in scope.full_names(node)]
        known = [one for values in each for one in values]
        return [*known, (ast.Starred(node, ast.Load()), scope)] if known and [] in each else known

    def _of_class(self, owner: ast.ClassDef, attribute: str, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """The values that the body of a class, or else of one that it extends, gives an attribute."""
        field = self._settings.field(attribute, owner, scope)
        if field is not None:
            return [(field, scope)]
        for one, where in self.lineage.above(scope._replace(owner=owner)):
            found = [(value, where._replace(owner=one)) for name, value in of_class(one) if name == attribute]
            if found:
                return found
        return []

    def _of_object(self, attribute: str, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """What the class around some code, else one that it extends, and those that extend it give an attribute."""
        above = [
            (given, there)
            for owner, there in self.lineage.above(scope)
            if (given := self._assignments.of_self(attribute, owner))
        ]
        field = self._settings.field(attribute, scope.owner, scope) if scope.owner is not None else None
        if field is not None and all(function is None for given, _ in above for _, function in given):
            return [(field, scope._replace(function=None))]
        others = [(self._assignments.of_self(attribute, owner), there) for owner, there in self.lineage.others(scope)]
        found = [
            (value, there._replace(function=function))
            for given, there in (*above[:1], *others)
            for value, function in given
        ]
        if all(function is None for given, _ in above[:1] for _, function in given):
            found += [  # what a method sets of an object beats what any of its classes has
                (value, there._replace(function=function))
                for given, there in above[1:]
                for value, function in given
                if function is not None
            ]
        makers = [scope.owner, *(owner for owner, _ in self.lineage.below(scope))] if found else []
        made = [call for maker in makers if maker is not None for call in self.calls.get(maker.name, ())]
        return found + [(k.value, there) for call, there in made for k in call.keywords if k.arg == attribute]

    def _is_set_elsewhere(self, node: ast.Attribute, scope: Scope) -> bool:
        """Whether an attribute of the object around some code may be set by what does not say so by ``self``."""
        if dotted(node.value) != "self" or scope.owner is None:
            return False
        computed = self.changes.computed or node.attr in self.changes.attributes
        if computed or self.lineage.has_more(scope):
            return True
        every = (*self.lineage.above(scope), *self.lineage.others(scope))
        if any(self.changes.is_remade(owner) for owner, _ in every):
            return True
        return any(
            _method(node.attr, *owned) or self._assignments.sets_any(owned[0])
            or self._assignments.gives_otherwise(node.attr, owned[0]) for owned in every
        )  # fmt: skip

    def _elsewhere(self, name: str, importer: str, depth: int) -> list[tuple[ast.expr, Scope]]:
        """The values that another module of the repository gives a name of its own."""
        found = self._modules.whole(name, importer) if depth < MOST_PASSED_ON else None
        if found is None:
            return []
        loaded, rest = found
        scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
        head, _, attribute = rest.partition(".")
        if not attribute and head in loaded.module.constants:
            return [(value, scope) for value in loaded.module.constants[head]]
        definition = loaded.module.definitions.get(head)
        if isinstance(definition, ast.ClassDef) and attribute:
            return self._of_class(definition, attribute, scope)
        if head in loaded.module.imports:
            inner = loaded.module.imports[head] + (f".{attribute}" if attribute else "")
            return self._elsewhere(inner, loaded.path, depth + 1)
        if attribute or definition is not None:
            return []
        stars = [star.path for star in self._modules.stars(loaded) if not isinstance(star, str)]
        passed_on = [one for one in map(self._modules.load_whole, stars) if one is not None]
        return [
            (value, Scope(one.path, one.source, one.module, None, None))
            for one in passed_on for value in one.module.constants.get(head, ())
        ]  # fmt: skip

    def given_to(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """The values that a name or an attribute may have; those of a parameter are what the calls pass."""
        function = scope.function
        if function is None or not isinstance(node, ast.Name) or node.id not in parameters_of(function):
            return self._given(node, scope)
        if local := self._assignments.of_name(node.id, function):
            return [(value, scope) for value in local]
        default = parameters_of(function)[node.id]
        passed = list(self._passed(node.id, function, scope))
        return passed or ([(default, scope._replace(function=None))] if default is not None else [])

    def any_given(self, name: ast.Name, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """The values that a name may have, those that the calls of its function pass among others."""
        function = scope.function
        if function is None or name.id not in parameters_of(function):
            return self._given(name, scope)
        local = [(value, scope) for value in self._assignments.of_name(name.id, function)]
        return [*local, *self._passed(name.id, function, scope)]

    def rest_passed(self, name: str, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """What the calls of a function pass for ``*name``, as lists."""
        function = scope.function
        if function is None or function.args.vararg is None or function.args.vararg.arg != name:
            return []
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        first = len(names) - (names[:1] in (["self"], ["cls"]))
        calls = [(n, where) for n, where in self.calls_of(function, scope) if not self._is_outside(n.func, where)]
        if any(isinstance(argument, ast.Starred) for node, _ in calls for argument in node.args[:first]):
            return []  # how many of them come before the rest is not known
        return [(ast.Tuple(node.args[first:], ast.Load()), where) for node, where in calls]

    def _is_outside(self, called: ast.expr, scope: Scope) -> bool:
        """Whether what is called is of another package: ``subprocess.run`` inside of ``def run``."""
        imported = dotted(called).partition(".")[0] in scope.module.imports
        return imported and self.definition(scope.full_name(called), scope) is None

    def functions(self, called: ast.expr, scope: Scope) -> list[tuple[Function, Scope]]:
        """The functions of the repository that may be called, and the scopes of their bodies.

        Several where classes that extend the one around the call have a method of that name of their own.
        """
        name = dotted(called)
        if scope.owner is not None and name.rpartition(".")[0] in ("self", "cls"):
            return self._methods(name.partition(".")[2], scope)
        names = [name] if name in scope.module.definitions else scope.full_names(called)
        found = [one for one in (self.definition(each, scope) for each in names) if one is not None]
        own = [(one, where._replace(function=one)) for one, where in found if isinstance(one, Function)]
        if own:
            return own
        return self._methods_of(called, scope) if isinstance(called, ast.Attribute) else []

    def _called_function(self, node: ast.Call, scope: Scope) -> tuple[ast.FunctionDef, Scope] | None:
        """The only function of the repository that a call may run; None where a decorator may make another of it."""
        own = dotted(node.func) in scope.module.definitions
        functions = self.functions(node.func, scope) if own or len(scope.full_names(node.func)) == 1 else []
        function, inner = functions[0] if len(functions) == 1 else (None, scope)
        plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
        return (function, inner) if plain and isinstance(function, ast.FunctionDef) else None

    def _methods(self, name: str, scope: Scope) -> list[tuple[Function, Scope]]:
        own = next((found for owned in self.lineage.above(scope) if (found := _method(name, *owned)) is not None), None)
        others = (_method(name, *owned) for owned in self.lineage.others(scope))
        return [found for found in (own, *others) if found is not None]

    def _methods_of(self, called: ast.Attribute, scope: Scope) -> list[tuple[Function, Scope]]:
        """The method of an object that the code makes: ``Builder().made``, or ``builder.made`` after it."""
        holder = called.value
        given = self._given(holder, scope) if isinstance(holder, ast.Name | ast.Attribute) else [(holder, scope)]
        found = [self._method_of_class(call, called.attr, where) for call, where in given]
        return [method for method in found if method is not None] if None not in found else []

    def _method_of_class(self, made: ast.expr, method: str, scope: Scope) -> tuple[Function, Scope] | None:
        """The method of the class of the repository of which an expression makes an object."""
        if not isinstance(made, ast.Call):
            return None
        name = dotted(made.func)
        found = self.definition(name if name in scope.module.definitions else scope.full_name(made.func), scope)
        if found is None or not isinstance(found[0], ast.ClassDef) or method in self.changes.attributes:
            return None
        above = self.lineage.above(found[1]._replace(owner=found[0]))
        return next((own for owned in above if (own := _method(method, *owned)) is not None), None)

    def definition(self, name: str, scope: Scope) -> tuple[Definition, Scope] | None:
        """The function or class of the repository that a name stands for, also where modules pass it on."""
        for _ in range(MOST_PASSED_ON):
            found = scope.module.definitions.get(name)
            if found is not None:
                return found, scope._replace(function=None, owner=None)
            further = self._modules.whole(name, scope.path) if "." in name else None
            if further is None:
                return None
            loaded, name = further
            scope = Scope(loaded.path, loaded.source, loaded.module, None, None)
            if name not in loaded.module.definitions:
                name = loaded.module.imports.get(name, name)
        return None

    def unpacked(self, name: str, scope: Scope) -> list[ast.expr]:
        """The values of which the code around a name gives it a part: ``name, other = value``."""
        return self._assignments.unpacked(name, scope.function or scope.module.tree)

    def additions(self, node: ast.Name | ast.Attribute, scope: Scope) -> tuple[ast.expr, ...]:
        """What the code around a name appends to the list or the text that it stands for."""
        local = scope.function is not None and (isinstance(node, ast.Attribute) or self._is_local(node.id, scope))
        code = scope.function if local and scope.function is not None else scope.module.tree
        return self._assignments.added_to(dotted(node), code)

    def _is_local(self, name: str, scope: Scope) -> bool:
        function = scope.function
        if function is None:
            return False
        return name in parameters_of(function) or bool(self._assignments.of_name(name, function))

    def is_altered(self, node: ast.Name | ast.Attribute, scope: Scope) -> bool:
        """Whether the list that a name stands for is changed in ways that are not followed."""
        if isinstance(node, ast.Name) and not self._is_local(node.id, scope):
            scope = scope._replace(function=None)
        name, code = dotted(node), scope.function or scope.module.tree
        if self._assignments.is_altered(name, scope.function, scope.module.tree):
            return True
        return any(self._alters(function, at) for function, at in self._handed(name, code, scope))

    def _handed(self, name: str, code: Function | ast.Module, scope: Scope) -> Iterator[tuple[Function, int | str]]:
        """The functions of the module that some code gives a name to, and at which position or by which keyword."""
        for called, at in self._assignments.handed(name, code):
            function = scope.module.definitions.get(dotted(called))
            if isinstance(function, Function):
                yield function, at

    def _alters(self, function: Function, at: int | str) -> bool:
        return any(
            self._assignments.added_to(name, function)
            or self._assignments.is_altered(name, function, ast.Module([], []))
            for name in _parameter_at(at, function)
        )  # fmt: skip

    def _passed(self, name: str, function: Function, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
        """What the calls of a function pass for a parameter, or its default where a call leaves it out."""
        parameters = parameters_of(function)
        names = list(parameters)
        position = names.index(name) - (1 if names[:1] in (["self"], ["cls"]) else 0)
        default = parameters[name]
        for node, where in self.calls_of(function, scope):
            given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
            if given is None and 0 <= position < len(node.args):
                given = node.args[position]
            starred = next((argument for argument in node.args if isinstance(argument, ast.Starred)), None)
            if given is None or isinstance(given, ast.Starred):
                given = given or starred
            if given is not None:
                yield given, where
                continue
            handed = list(self._handed_on(node, name, where)) or list(self._in_mappings(node, name, where))
            yield from handed
            if default is not None and not handed:
                yield default, scope._replace(function=None)

    def _in_mappings(self, node: ast.Call, name: str, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
        """What the mappings hold for a parameter that a call is given, ``f(**settings)``; themselves where unknown."""
        own = scope.function.args.kwarg if scope.function is not None else None
        for value in (keyword.value for keyword in node.keywords if keyword.arg is None):
            known = self._mapping(value, scope, 0)
            if name in known.entries:
                yield known.entries[name]
            elif not known.complete and (own is None or dotted(value) != own.arg):
                yield ast.Starred(value, ast.Load()), scope

    def _handed_on(self, node: ast.Call, name: str, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
        """What the callers of a function give a keyword that it hands on: ``super().__init__(**kwargs)``."""
        function = scope.function
        named = function.args.kwarg.arg if function is not None and function.args.kwarg is not None else None
        starred = (keyword.value for keyword in node.keywords if keyword.arg is None)
        if function is None or not any(isinstance(value, ast.Name) and value.id == named for value in starred):
            return
        for call, where in self.calls.get(_called(function, scope), ()):
            yield from ((keyword.value, where) for keyword in call.keywords if keyword.arg == name)

    def value(self, node: ast.expr, scope: Scope, depth: int = 0, *, parameters: bool = True) -> Found:
        """What an expression is; ``parameters`` lets the calls that were seen decide parameters."""
        if isinstance(node, ast.Constant):
            return Found(node.value, True, ())
        if depth > _DEPTH or self._left <= 0:
            return NOTHING
        self._left -= 1
        if parameters and depth == 0:
            self._renew()
        known = self._now if parameters else self._without_parameters
        key = id(node), id(scope.function)
        if key not in known:
            known[key] = _BUSY
            known[key] = self._worked_out(node, scope, depth, parameters)
        return known[key]

    def _worked_out(self, node: ast.expr, scope: Scope, depth: int, parameters: bool) -> Found:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            items = [self.value(item, scope, depth + 1, parameters=parameters) for item in node.elts[:20]]
            known = all(item.value is not UNKNOWN for item in items)
            return Found(tuple(item.value for item in items), all(i.certain for i in items), ()) if known else NOTHING
        if isinstance(node, ast.Name):
            return self._name(node, scope, depth, parameters)
        if isinstance(node, ast.Attribute):
            found = self._set_before(node, scope) or self._attribute(node, scope, depth, parameters)
            return changed(found) if self.is_handed_on(node.value, scope) else found
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if dotted(node.value).endswith("environ") and isinstance(key, str):
                return self._variable(key)
            found = self._item(node.value, key, scope, depth, parameters) if isinstance(key, str) else NOTHING
            at = _index(node.slice)
            if at is not None and scope.full_name(node.value) == "sys.argv":
                return self.options.word(at) if not self.changes.argv else NOTHING
            found = self._part(node.value, at, scope, depth, parameters) if at is not None else found
            return changed(found) if self.is_handed_on(node.value, scope) else found
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth, parameters)
        return self._operation(node, scope, depth, parameters)

    def _part(self, sequence: ast.expr, at: int, scope: Scope, depth: int, parameters: bool) -> Found:
        """``SIZE[0]``: one of several values that are written down, where no other is put in its place."""
        found = self.value(sequence, scope, depth + 1, parameters=parameters)
        values = found.value if isinstance(found.value, tuple) else ()
        if not -len(values) <= at < len(values):
            return NOTHING
        if isinstance(sequence, ast.Name | ast.Attribute):
            longer = at < 0 and self._assignments.added_to(dotted(sequence), scope.function or scope.module.tree)
            if longer or self.is_altered(sequence, scope):
                return NOTHING
        part = found._replace(value=values[at])
        elsewhere = dotted(sequence).partition(".")[0] in scope.module.imports  # who else has it may change it
        return part if found.certain and not elsewhere else changed(part)

    def _operation(self, node: ast.expr, scope: Scope, depth: int, parameters: bool) -> Found:
        def inner(part: ast.expr) -> Found:
            return self.value(part, scope, depth + 1, parameters=parameters)

        if isinstance(node, ast.BinOp):
            return arithmetic(node.op, inner(node.left), inner(node.right))
        if isinstance(node, ast.UnaryOp):
            found = inner(node.operand)
            if isinstance(node.op, ast.Not) and found.value not in (UNKNOWN, POSITIVE):
                return found._replace(value=not found.value)
            if isinstance(node.op, ast.USub) and found.number is not None:
                return found._replace(value=-found.number)
            return NOTHING
        if isinstance(node, ast.BoolOp):
            return logic(isinstance(node.op, ast.And), [inner(part) for part in node.values[:10]])
        if isinstance(node, ast.IfExp):
            test, yes, no = inner(node.test), inner(node.body), inner(node.orelse)
            if test.value not in (UNKNOWN, POSITIVE) and test.certain:
                return yes if test.value else no
            if yes.value == no.value:
                return yes
            found = yes if yes.value is not UNKNOWN and yes.value else no
            return changed(found) if UNKNOWN in (yes.value, no.value) else found._replace(certain=False)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return compared(node.ops[0], inner(node.left), inner(node.comparators[0]))
        return NOTHING

    def _of_file(self, holder: ast.expr, key: str, scope: Scope, depth: int) -> Found | None:
        """What a file of settings has by a key; where that is not known, the option of that name is a guess."""
        found = self.configurations.found(holder, key, scope) if self.configurations is not None else None
        if found is None or found.value is not UNKNOWN:
            return found
        return changed(self._option(key, depth)) if self.options.is_configured(key) else NOTHING

    def _item(self, mapping: ast.expr, key: str, scope: Scope, depth: int, parameters: bool) -> Found:
        """``settings["key"]``: what a mapping that is written down says, else the option of that name."""
        of_file = self._of_file(mapping, key, scope, depth)
        if of_file is not None:
            return of_file if of_file.value is not None else NOTHING
        known = self._mapping(mapping, scope, depth + 1)
        if key in known.entries and not self.options.is_given(key):
            return self._entry(known, mapping, key, scope, depth, parameters)
        found = self._option(key, depth)
        either = self.options.is_given(key) and self.options.is_configured(key)  # it may be of the file alone
        return changed(found) if either else found

    def _entry(
        self, mapping: DictValue, node: ast.expr, key: str, scope: Scope, depth: int, parameters: bool = True
    ) -> Found:
        """The value of a key of a mapping, which other code may set."""
        value, where = mapping.entries[key]
        found = self.value(value, where, depth + 1, parameters=parameters)
        nothing = found.number is not None and found.number <= 0
        open_to_others = self._is_put(key, node, scope) or (nothing and not mapping.complete) or key in mapping.doubted
        return changed(found) if open_to_others else found

    def _item_or(
        self, default: Found, mapping: ast.expr, key: str, scope: Scope, depth: int, parameters: bool
    ) -> Found:
        """``settings.get("key", default)``: a default that is 0 counts only where the key is surely not there."""
        of_file = self._of_file(mapping, key, scope, depth)
        if of_file is not None:
            return of_file if of_file.value is not None else default
        found = self._item(mapping, key, scope, depth, parameters)
        if found.value is not UNKNOWN:
            return found
        passed = self._passed_on(mapping, key, scope)
        if passed is not None:
            return passed
        default = default._replace(certain=False)
        function = scope.function
        if function is not None and _is_own_mapping(mapping, function):
            every = self.knows_calls(function, scope) and not self.is_open(function, scope)
            return default if every else changed(default)
        whole = self._mapping(mapping, scope, depth + 1).complete and not self._is_put(key, mapping, scope)
        return default if whole else changed(default)

    def is_open(self, function: Function, scope: Scope) -> bool:
        """Whether a function may have calls that are not seen."""
        return self.changes.is_open(_called(function, scope), function, scope.owner)

    def _option(self, name: str, depth: int, *, parsed: bool = False) -> Found:
        """An option of the program, which its code may change later.

        ``parsed`` is whether it is read from what the parser returned, and not from any object with such an attribute.
        """
        found = self.options.get(name, self.value, depth)
        for converter, scope in self.options.converters(name):
            found = converted(found, converter, scope, self.definition)
        found = self._of_settings_class(found, name, depth)
        unsure = self.changes.is_setting(name) or self._is_made_with(name)
        unsure = unsure or (self.changes.fills_own and not parsed)
        of_file = bool(self.options.configured) and not self.options.is_given(name)
        unsure = unsure or (self.changes.fills_from_file and not of_file)
        unsure = unsure or (self.changes.defaults and not self.options.is_configured(name))
        unsure = unsure or (self.changes.argv and self.options.is_positional(name))
        unsure = unsure or (bool(self.changes.parsed) and self.options.is_positional(name))
        unsure = unsure or (self.options.has_open_words() and not self.options.is_given(name))
        return changed(found) if unsure or self.options.is_given_with(self.changes.prefixes) else found

    def _of_settings_class(self, found: Found, name: str, depth: int) -> Found:
        """An option that is a field of a class: its class may take the value from the environment."""
        owned = self.options.fields(name)
        read = [(field, scope) for owner, scope in owned if (field := self._settings.field(name, owner, scope))]
        if any(self._may_be_nested(owner, scope) for owner, scope in owned):
            return changed(found)
        if not read or self.options.is_given(name):
            return found
        known = one_of([self.value(field, scope, depth + 1) for field, scope in read])
        return known if len(read) == len(self.options.declared.get(name, ())) else changed(known)

    def _may_be_nested(self, owner: ast.ClassDef, scope: Scope) -> bool:
        """Whether a class of pydantic may be a part of another one, which the environment fills: ``DATA__WORKERS``."""
        if not any(scope.full_name(base).rpartition(".")[2] == "BaseModel" for base in owner.bases):
            return False
        loaded = [one for one in self._modules.loaded.values() if one is not None]
        return any("env_nested_delimiter" in one.source.text for one in loaded)

    def _is_made_with(self, name: str) -> bool:
        """Whether an object of a class with such a field is made with a value for it."""
        return name in self._fields_made_with(name) or name in self._fields_made_with(ANY)

    def _fields_made_with(self, keyword: str) -> set[str]:
        """The fields of the classes of which objects are made with a keyword; each of them is looked at once."""
        made = self.changes.made.get(keyword, [])
        looked_at, fields = self._made_fields.get(keyword, (0, set()))
        for class_name, scope in made[looked_at:]:
            place = class_name, scope.path
            if place not in self._fields:
                self._fields[place] = self._fields_of(class_name, scope)
            fields |= self._fields[place]
        self._made_fields[keyword] = len(made), fields
        return fields

    def _fields_of(self, class_name: str, scope: Scope) -> frozenset[str]:
        """The annotated fields of a class of the repository, by the name that it has in a module."""
        own = class_name in scope.module.definitions
        found = self.definition(class_name if own else scope.full_name(ast.Name(class_name)), scope)
        if found is None or not isinstance(found[0], ast.ClassDef):
            return frozenset()
        fields = (part.target for part in found[0].body if isinstance(part, ast.AnnAssign))
        return frozenset(field.id for field in fields if isinstance(field, ast.Name))

    def _name(self, node: ast.Name, scope: Scope, depth: int, parameters: bool) -> Found:
        name, function = node.id, scope.function
        outer = self._assignments.outer(name, function, scope.module.tree) if function is not None else None
        if outer is not None:
            return self._name(node, scope._replace(function=outer), depth, parameters)
        local = self._assignments.of_name(name, function)
        local = tuple(value for value in local if not self._is_left_out(value)) if len(local) > 1 else local
        if local:
            values = [self.value(value, scope, depth + 1, parameters=parameters) for value in local[:8]]
            if function is not None and name in parameters_of(function) and not _is_surely_given(name, function):
                values.append(self._parameter(name, function, scope, depth + 1, parameters))
            found = one_of([value for value in values if value is not _BUSY] or values)
            if self._assignments.is_changed(name, function):
                found = changed(found)
            if found.value is not UNKNOWN:
                return found._replace(spans=found.spans or (scope.span(local[0]),))
        if function is not None and name in parameters_of(function):
            found = self._parameter(name, function, scope, depth, parameters)
            return changed(found) if local or self._assignments.is_changed(name, function) else found
        own = self._assignments.is_changed(name, function)
        given = [] if local or own else self._given(node, scope)
        if given:
            found = one_of([self.value(v, where, depth + 1, parameters=parameters) for v, where in given[:8]])
            if self._is_changed_elsewhere(node, scope, given):
                found = changed(found)
            if found.value is not UNKNOWN:
                value, where = given[0]
                return found._replace(spans=(*found.spans, where.span(value)))
        found = self._option(name, depth) if parameters and len(name) > 3 else NOTHING
        other = local or own or given or self._assignments.is_changed(name, scope.module.tree)
        return changed(found) if other else found

    def _is_changed_elsewhere(self, node: ast.expr, scope: Scope, given: Iterable[tuple[ast.expr, Scope]]) -> bool:
        """Whether a name of a module may have other values than those that the module assigns to it."""
        name = scope.full_name(node).rpartition(".")[2]
        places = {where.path: where for _, where in given}
        return self.changes.is_set(name) or any(self._is_given_otherwise(name, where) for where in places.values())

    def _is_given_otherwise(self, name: str, scope: Scope) -> bool:
        return self._assignments.is_changed(name, scope.module.tree) or self._is_named_again(name, scope)

    def _is_named_again(self, name: str, scope: Scope) -> bool:
        """Whether a module gives one of its names another object, in ways that are not followed."""
        module = scope.module
        if name in module.changed or self._assignments.is_replaced(name, module.tree):
            return True
        if name not in module.constants:
            return False
        stars = (self._modules.whole(star, scope.path) for star in module.stars)
        return name in module.imports or any(star is not None and name in star[0].module.constants for star in stars)

    def _parameter(self, name: str, function: Function, scope: Scope, depth: int, parameters: bool) -> Found:
        """A parameter: what the calls pass, else what the command gives, its default, or the option of that name."""
        found = self._of_parameter(name, function, scope, depth, parameters)
        return changed(found) if parameters and self.is_open(function, scope) else found

    def _of_parameter(self, name: str, function: Function, scope: Scope, depth: int, parameters: bool) -> Found:
        default = parameters_of(function)[name]
        if declared_by_click(function, scope):
            found = self._of_click(name, function, scope, depth)
            return found if parameters or found.certain else NOTHING
        decided = parameters or self._is_called_once(function, scope)
        passed = self._passed(name, function, scope) if decided and depth < 12 else ()
        values = [self.value(given, where, depth + 1, parameters=parameters) for given, where in passed]
        if values and all(value is _BUSY for value in values):
            return _BUSY
        values = [value for value in values if value is not _BUSY]
        known = [value for value in values if value.value is not UNKNOWN]
        if known:
            every = len(known) == len(values) and _called(function, scope) not in self._often
            every = every and function not in self.dispatched
            return one_of(known) if every else changed(one_of(known))
        sure = parameters and not values and self._is_of_command(name, function, scope)
        if (function, name) not in self._defaults:
            self._defaults[function, name] = default_of(name, function)
        default = self._defaults[function, name]
        told = self.options.is_given(name) or (function in self.dispatched and self.options.is_configured(name))
        if default is not None and not values and not told:
            found = self.value(default, scope._replace(function=None), depth + 1)
            found = found._replace(certain=found.certain and sure, spans=(scope.span(default),))
            others = self.options.has_open_words() or self.dispatched.get(function) == TOLD_MORE
            return changed(found) if others else found
        found = self._option(name, depth) if parameters else NOTHING
        found = found._replace(certain=found.certain and sure)
        return changed(found) if values else found

    def _of_click(self, name: str, function: Function, scope: Scope, depth: int) -> Found:
        """A parameter of a command of click: what the words of the command give it, or the default of its option."""
        calls = [call for call, _ in self.calls_of(function, scope)]
        if any(passes_words(call) for call in calls):
            return NOTHING
        grouped = function in self.dispatched and not calls
        started = grouped or (len(calls) == 1 and is_started_plainly(calls[0]))
        sure = name in of_click(function, scope, grouped=grouped) and started
        sure = sure and len(self.options.declared.get(name, ())) == 1 and not self.options.is_configured(name)
        sure = sure and not (self.is_open(function, scope) or self.changes.argv or any(map(self.calls.get, CALL_AGAIN)))
        found = self._option(name, depth)
        if not self.options.is_given(name) and self.is_mentioned("default_map"):
            found = changed(found)
        prefix = prefix_of(calls[0]) if len(calls) == 1 else None
        if prefix is not None and not self.options.is_given(name):
            named = self.value(prefix, scope, depth + 1).value
            found = self._variable(f"{named}_{name}".upper(), found) if isinstance(named, str) else changed(found)
        return found._replace(certain=found.certain and sure)

    def _of_keywords(self, node: ast.expr, name: str, scope: Scope, depth: int) -> Found | None:
        """What click gives a command by a keyword: ``def main(**options)``; None where a mapping is anything else."""
        function = scope.function
        starred = node.value if isinstance(node, ast.Starred) else None
        if isinstance(starred, ast.Call) and dotted(starred.func).rpartition(".")[2] in SETTINGS_CLASSES:
            given = [*starred.args, *(keyword.value for keyword in starred.keywords if keyword.arg is None)]
            starred = given[0] if len(given) == len(starred.args) + len(starred.keywords) == 1 else None
        if function is None or starred is None or not _is_own_mapping(starred, function):
            return None
        if not declared_by_click(function, scope) or self._assignments.of_name(dotted(starred), function):
            return None
        return self._of_click(name, function, scope, depth)

    def _is_of_command(self, name: str, function: Function, scope: Scope) -> bool:
        """Whether only the words of the command give a parameter a value: of what typer or Fire calls."""
        dispatcher = self.dispatched.get(function)
        if dispatcher not in TAKE_OPTIONS or not is_of_group(function) or not takes_plainly(name, function):
            return False
        if self.is_open(function, scope) or self.calls_of(function, scope) or self.changes.argv:
            return False
        if self._is_declared_elsewhere(name, function, scope):
            return False
        if not names_only_parameters(self.options.arguments, function):
            return False
        return dispatcher not in BY_POSITION or not self.options.has_positional(after=BY_POSITION[dispatcher])

    def _is_declared_elsewhere(self, name: str, function: Function, scope: Scope) -> bool:
        """Whether anything but a parameter of that name, with what describes it to typer, declares an option."""
        places = [one.place for one in self.options.declared.get(name, ())]
        body = function.body[0].lineno
        own = all(at.path == scope.path and function.lineno <= at.line <= body for at in places)
        return self.options.is_configured(name) or not own

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int, parameters: bool) -> Found:
        name = scope.full_name(node)
        if name in _MACHINE:
            return Found(POSITIVE, True, (scope.span(node),))
        if name in _PLATFORM:
            return Found(_PLATFORM[name], True, ())
        of_file = self._of_file(node.value, node.attr, scope, depth)
        if of_file is not None:
            return of_file if of_file.value is not None else NOTHING
        if dotted(node.value) == "self" or not self.options.is_given(node.attr):
            saved = _saved(node, scope)
            if saved is not None:
                found = self._parameter(node.attr, saved, scope._replace(function=saved), depth + 1, parameters)
                return self._replaced(found, node.attr) if self.changes.is_set(node.attr) else found
            values = self._given(node, scope)
            given = [self.value(v, where, depth + 1, parameters=parameters) for v, where in values]
            known = [found for found in given if found.value is not UNKNOWN]
            if known:
                found = one_of(known) if len(known) == len(given) else changed(one_of(known))
                if dotted(node.value) != "self" and self._is_changed_elsewhere(node, scope, values):
                    return changed(found)
                other = not self.options.is_declared(node.attr) or node.attr in self.changes.emptied or not found.value
                return self._replaced(found, node.attr) if other and self._is_set_elsewhere(node, scope) else found
            if values:
                return changed(self._option(node.attr, depth))
            for value, where, alone in self._set_when_made(node, scope):
                by_keyword = self._of_keywords(value, node.attr, where, depth)
                found = by_keyword or self.value(value, where, depth + 1, parameters=parameters)
                others = self.changes.is_set(node.attr) or not alone
                return self._replaced(found, node.attr) if others else found
            mapping = self._mapping(node.value, scope, depth + 1)
            if node.attr in mapping.entries:
                value, where = mapping.entries[node.attr]
                return self.value(value, where, depth + 1, parameters=parameters)
            if self._is_made_of_others(node.value, scope) and not self.options.is_configured(node.attr):
                return changed(self._option(node.attr, depth))
            if (once := self._set_once(node, scope, depth)) is not None:
                return once
        filled = self.changes.fills_own or self.changes.fills_self
        parsed = filled and self._is_parsed(node.value, scope, 0)
        found = self._option(node.attr, depth, parsed=parsed)
        return changed(found) if self.changes.fills_self and not parsed else found

    def _set_before(self, node: ast.Attribute, scope: Scope) -> Found | None:
        """What the only statement that sets an option surely gave it before: ``args.workers = 0``, then a use."""
        statements = self.changes.set_by(node.attr)
        one = statements[0] if len(statements) == 1 else None
        if one is None or not isinstance(one.value, ast.Constant) or not isinstance(one.holder, ast.Name):
            return None
        if not self._is_parsed(node.value, scope, 0):
            return None
        uses: list[tuple[ast.expr, Scope]] = [(node.value, scope)]
        function = scope.function
        if function is not None and function is not one.scope.function and isinstance(node.value, ast.Name):
            if self.is_open(function, scope) or not self.knows_calls(function, scope):
                return None
            uses = self.given_to(node.value, scope)
        code = one.scope.function or one.scope.module.tree
        # The name stands for the same object from there on.
        last = max((value.lineno for value in self._assignments.given(one.holder.id, code)), default=one.value.lineno)
        if last >= one.value.lineno or self._assignments.is_changed(one.holder.id, code):
            return None
        same = (where.function is one.scope.function and where.path == one.scope.path and dotted(use) == one.holder.id
                and use.lineno > one.value.lineno for use, where in uses)  # fmt: skip
        return Found(one.value.value, True, (one.scope.span(one.value),)) if uses and all(same) else None

    def _set_once(self, node: ast.Attribute, scope: Scope, depth: int) -> Found | None:
        """A setting that one statement gives a value: ``args.many = args.size > 1``; None for any other attribute.

        Of an option it may be worked out of what that was before, which it still is before the statement:
        ``args.workers = args.workers or 4``.
        """
        if not self.options.is_declared(node.attr, assigned=False):
            found = self._set_of_object(node, scope, depth)
            if found is not None and found.value is not UNKNOWN:
                return found
        only = self.changes.worked_out(node)
        if only is None:
            return None
        if not self.options.is_declared(node.attr):
            return self.value(*only, depth + 1, parameters=False)
        if not self.changes.is_setting(node.attr) or any(part is node for part in ast.walk(only[0])):
            return None
        found = changed(self.value(*only, depth + 1, parameters=False))
        return found if found.value is not UNKNOWN else None

    def _set_of_object(self, node: ast.Attribute, scope: Scope, depth: int) -> Found | None:
        """What the only statement gives an attribute that fills the very object: ``c = EasyDict(); c.workers = 8``."""
        given = self.objects.given(node, scope)
        if given is None:
            return None
        found = self.value(given.value, given.scope, depth + 1, parameters=False)
        return found if given.alone else changed(found)

    def only_given(self, node: ast.Name | ast.Attribute, scope: Scope) -> tuple[ast.expr, Scope] | None:
        """The only object that a name or an attribute of the code's own object has; None where others may be it."""
        function = scope.function
        if isinstance(node, ast.Name):
            if self._assignments.is_replaced(node.id, function) or node.id in self.changes.attributes:
                return None
            if function is not None and node.id in parameters_of(function):
                other = bool(self._assignments.of_name(node.id, function))
                if other or self.is_open(function, scope) or not self.knows_calls(function, scope):
                    return None
        elif dotted(node.value) == "self" and self._is_set_elsewhere(node, scope):
            return None
        given = list({id(value): (value, where) for value, where in self.given_to(node, scope)}.values())
        name = dotted(node).rpartition(".")[2]
        others = (self._is_named_again(name, where) for where in (scope, *(where for _, where in given)))
        return given[0] if len(given) == 1 and not any(others) else None

    def is_handed_on(self, node: ast.expr, scope: Scope, depth: int = 0) -> bool:
        """Whether an expression is of a parameter to which a decorator of the repository may give another value."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if not self.changes.decorates or not isinstance(node, ast.Name) or depth > _MOST_HANDED:
            return False
        function = scope.function
        if function is None or node.id not in parameters_of(function):
            return False
        if id(function) not in self._wrapped:
            self._wrapped[id(function)] = not all(map(passes_on, self._own_decorators(function, scope)))
        given = self.given_to(node, scope)[:_MOST_HANDED] if not self._wrapped[id(function)] else []
        return self._wrapped[id(function)] or any(self.is_handed_on(value, at, depth + 1) for value, at in given)

    def _own_decorators(self, function: Function, scope: Scope) -> Iterator[ast.AST]:
        """The functions and classes of the repository that decorate a function."""
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = dotted(called)
            own = name in scope.module.definitions
            found = self.definition(name if own else scope.full_name(called), scope) if name else None
            if found is not None:
                yield found[0]

    def _replaced(self, found: Found, attribute: str) -> Found:
        """A value of an attribute that other code gives another one: what it sets to 0 is not as large any more."""
        return NOTHING if attribute in self.changes.emptied else changed(found)

    def _is_parsed(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether an expression surely is what ``parse_args`` returned, also where functions hand it on."""
        if depth > _MOST_HANDED:
            return False
        if isinstance(node, ast.Call):
            functions = self.functions(node.func, scope)
            parses = isinstance(node.func, ast.Attribute) and node.func.attr == "parse_args"
            if not functions:
                return parses and len(node.args) < 2 and all(keyword.arg == "args" for keyword in node.keywords)
            returned = [(value, where) for function, where in functions for value in _returned(function)]
            return bool(returned) and all(self._is_parsed(value, where, depth + 1) for value, where in returned)
        if not isinstance(node, ast.Name):
            return False
        function = scope.function
        if self._assignments.is_changed(node.id, function) or node.id in self.changes.attributes:
            return False
        if function is not None and node.id in parameters_of(function):
            other = bool(self._assignments.of_name(node.id, function))
            if other or self.is_open(function, scope) or not self.knows_calls(function, scope):
                return False
        given = self.given_to(node, scope)
        if any(self._is_given_otherwise(node.id, where) for where in (scope, *(where for _, where in given))):
            return False
        return bool(given) and all(self._is_parsed(value, where, depth + 1) for value, where in given)

    def _is_made_of_others(self, node: ast.expr, scope: Scope) -> bool:
        """Whether settings are made of what is not written there: ``Namespace(**more)``, but for ``vars(args)``."""
        given = self.given_to(node, scope) if isinstance(node, ast.Name | ast.Attribute) else ()
        made = (value for value, _ in given if isinstance(value, ast.Call))
        calls = (call for call in made if dotted(call.func).rpartition(".")[2] in SETTINGS_CLASSES)
        mappings = (keyword.value for call in calls for keyword in call.keywords if keyword.arg is None)
        return not all(isinstance(value, ast.Call) and dotted(value.func) == "vars" for value in mappings)

    def _set_when_made(self, node: ast.Attribute, scope: Scope) -> list[tuple[ast.expr, Scope, bool]]:
        """What ``Settings(workers=4).workers`` is, or what the class says of it, and whether none of its methods may
        give it another value."""
        objects = self._objects(node.value, scope)
        if len(objects) != 1:
            return []
        made, where = objects[0]
        if not isinstance(made, ast.Call):
            return []
        given = [keyword.value for keyword in made.keywords if keyword.arg == node.attr]
        if not isinstance(made.func, ast.Name | ast.Attribute):
            return [(value, where, True) for value in given]
        name = dotted(made.func)
        found = self.definition(name if name in where.module.definitions else where.full_name(made.func), where)
        alone = True
        if found is not None and isinstance(found[0], ast.ClassDef):
            inside = found[1]._replace(owner=found[0], function=None)
            own = self._set_by_class(node.attr, inside) if not given else []
            if own:
                return [(value, there, True) for value, there in own]
            alone = not self._may_be_replaced(node.attr, inside)
        if given:
            return [(value, where, alone) for value in given]
        # Pydantic takes a name with an underscore for itself: `Settings(_env_file="other")`.
        starred = any(keyword.arg is None or keyword.arg.startswith("_") for keyword in made.keywords)
        if (made.args or starred) and found is not None and isinstance(found[0], ast.ClassDef):
            return [(ast.Starred(made, ast.Load()), where, True)]  # nobody counts the fields
        fields = self._given(ast.Attribute(made.func, node.attr, ast.Load()), where)
        return [(field, there, alone) for field, there in fields if _is_plain(field)]

    def _may_be_replaced(self, attribute: str, scope: Scope) -> bool:
        """Whether a method of a class may give an attribute of its objects another value than its body, or its call."""
        own = ast.Attribute(ast.Name("self", ast.Load()), attribute, ast.Load())
        makers = ("__init__", "__new__")
        by_methods = (there.function for _, there in self._of_object(attribute, scope) if there.function is not None)
        return any(method.name not in makers for method in by_methods) or self._is_set_elsewhere(own, scope)

    def _objects(self, holder: ast.expr, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """What an expression may be, through the functions that hand it on: of one object, one call."""
        found = [(holder, scope)]
        for _ in range(_MOST_HANDED):
            if not any(isinstance(one, ast.Name | ast.Attribute) for one, _ in found):
                break
            further: list[tuple[ast.expr, Scope]] = []
            for one, where in found:
                given = self.given_to(one, where) if isinstance(one, ast.Name | ast.Attribute) else [(one, where)]
                if not given:
                    return []
                further += given
            found = list({id(one): (one, where) for one, where in further}.values())
        return found

    def _set_by_class(self, attribute: str, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """What a method of a class gives an attribute of its objects, where nothing else may: ``self.workers = 8``."""
        found = self._of_object(attribute, scope)
        alone = len(found) == 1 and found[0][1].function is not None and not self.changes.fills_given
        own = ast.Attribute(ast.Name("self", ast.Load()), attribute, ast.Load())
        return found if alone and not self._is_set_elsewhere(own, scope) else []

    def _variable(self, name: str, default: Found = NOTHING) -> Found:
        """A variable of the container's environment, or what the code takes where there is none."""
        value = self.options.environment.get(name)
        known = value is not None and value.known is not None
        found = _text_of_variable(value) if known and value is not None else default
        if (value is not None and value.because) or self.options.may_vary(name):
            return changed(found)
        if not self.changes.variables.isdisjoint((name, ANY)):
            return changed(found)
        if self.changes.is_put(name, "os.environ", None):  # by another name of the environment
            return changed(found)
        given = value is not None or self.options.files.env_files
        return found if known or not given else changed(found)

    def _call(self, node: ast.Call, scope: Scope, depth: int, parameters: bool) -> Found:
        name = scope.full_name(node.func)
        last = name.rpartition(".")[2]
        if self.definition(dotted(node.func) if dotted(node.func) in scope.module.definitions else name, scope):
            return self._of_function(node, scope, depth, parameters)
        given = _compared(node) if last in ("min", "max") else node.args
        arguments = [self.value(a, scope, depth + 1, parameters=parameters) for a in given[:10]]
        if name in _MACHINE or last in ("cpu_count", "device_count"):
            return Found(POSITIVE, True, (scope.span(node),))
        if last in ("int", "float", "str", "round") and arguments:
            number = arguments[0].number
            return arguments[0] if last == "str" or number is None else arguments[0]._replace(value=number)
        if last in ("min", "max") and arguments:
            return extreme(last, arguments)
        if name in _SETTLED:
            return Found(_SETTLED[name], True, ())
        if last in TEXT_METHODS and isinstance(node.func, ast.Attribute):
            return of_text(last, self.value(node.func.value, scope, depth + 1, parameters=parameters), arguments)
        if last == "len" and arguments and arguments[0].value is POSITIVE:
            return arguments[0]
        if last in ("get", "getenv", "getattr", "pop") and arguments:
            at = 1 if last == "getattr" else 0
            key = arguments[at].value if len(arguments) > at else UNKNOWN
            if not isinstance(key, str):
                return NOTHING
            default = arguments[at + 1]._replace(spans=(scope.span(node),)) if len(arguments) > at + 1 else NOTHING
            if last == "getenv" or name.startswith("os.environ"):
                return self._variable(key, default)
            holder = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
            return self._item_or(default, holder, key, scope, depth, parameters)
        return NOTHING

    def _as_called(
        self, node: ast.Call, function: ast.FunctionDef, scope: Scope, value: Callable[[ast.expr], Found]
    ) -> tuple[ast.FunctionDef, Scope, list[Found]]:
        """A function with what a call passes, and the values of that: what other calls pass is nothing to this one."""
        if scope.owner is None and function not in scope.module.definitions.values():
            return function, scope, []  # it may use names of the function around it
        found = {name: _constant_for(part, value) for name, part in passed_by(function, node).items()}
        bound = {name: part for name, (part, _) in found.items() if part is not None}
        key = id(node), id(function), tuple((name, ast.dump(part)) for name, part in bound.items())
        if key not in self._as_called_by and len(self._as_called_by) < _MOST_COPIES:
            self._as_called_by[key] = node, with_arguments(function, bound)
        made = self._as_called_by.get(key, (node, function))[1]
        return made, scope._replace(function=made), [one for _, one in found.values() if one is not None]

    def returned(self, node: ast.Call, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """What the functions of the repository return that a call may be one of, with what this call passes."""
        found: list[tuple[ast.expr, Scope]] = []
        for function, where in self.functions(node.func, scope):
            made: Function = function
            if isinstance(function, ast.FunctionDef):
                made, where, _ = self._as_called(node, function, where, lambda part: self.value(part, scope))
            values = (part.value for part in ast.walk(made) if isinstance(part, ast.Return))
            found += ((value, where) for value in values if value is not None)
        return found

    def _of_function(self, node: ast.Call, scope: Scope, depth: int, parameters: bool) -> Found:
        """The number that a function of the repository returns; the largest where nobody knows which."""
        called = self._called_function(node, scope)
        if called is None:
            return NOTHING
        function, inner, passed = self._as_called(
            node, *called, lambda part: self.value(part, scope, depth + 1, parameters=parameters)
        )

        def value(part: ast.expr) -> Found:
            return self.value(part, inner, depth + 1, parameters=parameters)

        def holds(test: ast.expr) -> bool | None:
            found = value(test)
            return bool(found.value) if found.certain and found.value not in (UNKNOWN, POSITIVE) else None

        found = [value(returned) for returned in results(function, holds)]
        known = [one for one in found if one.number is not None or one.value is POSITIVE]
        if not known:
            return NOTHING
        one = one_of(known)
        told = (span for argument in passed if argument.value == one.value for span in argument.spans)
        one = one._replace(spans=(*one.spans, *told))
        return one if len(known) == len(found) and all(argument.certain for argument in passed) else changed(one)


def _constant_for(part: ast.expr, value: Callable[[ast.expr], Found]) -> tuple[ast.expr | None, Found | None]:
    """A constant for what a call passes, and its value where that was worked out; None for what stays as it is."""
    if isinstance(part, ast.Constant):
        return part, None
    found = value(part)
    if found.value is UNKNOWN or found.value is POSITIVE:
        return (UNKNOWN_NAME if isinstance(part, ast.Call) else None), None
    return (ast.Constant(found.value), found) if isinstance(found.value, str | int | float | None) else (None, None)


_SETTLED = {"platform.system": "Linux", "torch.cuda.is_available": True}
"""What calls give in a container that asks for GPUs."""


def _has_plain_stars(module: Module) -> bool:
    """Whether all that a module imports by ``*`` is imported one after the other, so that the last one counts."""
    plain = [one for one in module.tree.body if isinstance(one, ast.ImportFrom) and one.names[0].name == "*"]
    return len(plain) == len(module.stars)


def _is_of_options(node: ast.expr) -> bool:
    """Whether a mapping is made of what the command gives: ``vars(args)``."""
    return any(isinstance(part, ast.Call) and dotted(part.func) == "vars" for part in ast.walk(node))


def _text_of_variable(value: Value[str]) -> Found:
    """What a variable of the environment is to Python: a text, whatever it looks like.

    What an env file says is not printed: of its numbers it counts only whether they are more than nothing.
    """
    found = written(value.known or "", (value.span,))
    if not value.private or value.known in ("0", "1"):
        return found
    return found._replace(value=POSITIVE) if (found.number or 0) > 0 else NOTHING


def _is_plain(field: ast.expr) -> bool:
    """Whether a field of a class is its value, and no description of one: ``field(default=4)``."""
    if isinstance(field, ast.Call):
        last = dotted(field.func).rpartition(".")[2]
        environ = dotted(field.func) in ("os.environ.get", "os.getenv")
        return environ or last in ("cpu_count", "device_count", "int", "len", "max", "min")
    return isinstance(field, ast.Constant | ast.Compare | ast.BinOp | ast.BoolOp | ast.IfExp)


def _method(name: str, owner: ast.ClassDef, scope: Scope) -> tuple[Function, Scope] | None:
    own = (method for method in owner.body if isinstance(method, Function) and method.name == name)
    method = next(own, None)
    return None if method is None else (method, scope._replace(function=method))


def _saved(node: ast.Attribute, scope: Scope) -> Function | None:
    """The ``__init__`` whose parameter Lightning keeps: ``save_hyperparameters()``, then ``self.hparams.workers``."""
    made = _method("__init__", scope.owner, scope) if scope.owner is not None else None
    if made is None or dotted(node.value) != "self.hparams" or node.attr not in parameters_of(made[0]):
        return None
    calls = (inner for inner in ast.walk(made[0]) if isinstance(inner, ast.Call))
    saving = [call for call in calls if dotted(call.func) == "self.save_hyperparameters"]
    named = [part for call in saving for part in ast.walk(call) if isinstance(part, ast.Constant)]
    # Names are those that are kept alone, or left out; without any, all are kept.
    return made[0] if saving and not any(isinstance(part.value, str) for part in named) else None


def _index(node: ast.expr) -> int | None:
    """The whole number in ``values[0]`` or ``values[-1]``."""
    below = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    number = node.operand if isinstance(node, ast.UnaryOp) and below else node
    if not isinstance(number, ast.Constant) or type(number.value) is not int:
        return None
    return -number.value if below else number.value


def _parameter_at(at: int | str, function: Function) -> list[str]:
    """The parameter that gets the argument of a call at a position, or that of a keyword."""
    names = list(parameters_of(function))
    if isinstance(at, str):
        return [at] if at in names else []
    at += names[:1] in (["self"], ["cls"])
    return names[at : at + 1]


def _returned(function: Function) -> list[ast.expr]:
    """What a function returns; nothing is a constant. Functions inside of it count, too."""
    values = (node.value for node in ast.walk(function) if isinstance(node, ast.Return))
    return [value if value is not None else ast.Constant(None) for value in values]


def _is_surely_given(name: str, function: Function) -> bool:
    """Whether a function gives a name a value outside of branches and loops."""
    targets = (target for node in function.body if isinstance(node, ast.Assign) for target in node.targets)
    names = (part for target in targets for part in ast.walk(target))
    annotated = (node.target for node in function.body if isinstance(node, ast.AnnAssign) and node.value is not None)
    return any(isinstance(part, ast.Name) and part.id == name for part in (*names, *annotated))


def _is_own_mapping(node: ast.expr, function: Function) -> bool:
    """Whether this is the mapping of the keywords that a function is given: ``**more``."""
    return isinstance(node, ast.Name) and function.args.kwarg is not None and node.id == function.args.kwarg.arg


def _called(function: Function, scope: Scope) -> str:
    """The name by which a function is called."""
    return scope.owner.name if function.name == "__init__" and scope.owner is not None else function.name


def _compared(call: ast.Call) -> list[ast.expr]:
    """What ``min`` or ``max`` choose from: their arguments, or the items of a list as the only one."""
    only = call.args[0] if len(call.args) == 1 else None
    return only.elts if isinstance(only, ast.List | ast.Tuple) else call.args
