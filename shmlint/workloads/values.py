"""The values of Python expressions as far as they are written down: literals, constants, parameters, options."""

from __future__ import annotations

import ast
import math
import os
import re
from collections.abc import Iterable, Iterator

from shmlint.files.read import normal
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.python import Module, dotted
from shmlint.workloads.filesystem import Files
from shmlint.workloads.program import Entry


class _Sentinel:
    """A value that is not known, or only known to be more than nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN = _Sentinel("UNKNOWN")
POSITIVE = _Sentinel("POSITIVE")
"""A number above 0 that depends on the machine."""

_DEPTH = 25
_MOST_STEPS = 200_000
"""Expressions that are worked out for one program."""
_LARGEST = 10**12


class Found(NamedTuple):
    """A value, whether it is surely this one, and the places that say so."""

    value: object
    certain: bool
    spans: tuple[Span, ...]

    @property
    def number(self) -> int | None:
        """The value as a whole number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value)
        except ValueError:
            return None
        return int(number) if math.isfinite(number) and abs(number) < _LARGEST else None


NOTHING = Found(UNKNOWN, False, ())


class Scope(NamedTuple):
    """Where an expression stands."""

    path: str
    source: Source
    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    owner: ast.ClassDef | None

    def span(self, node: ast.AST) -> Span:
        """The place of a node; of a large one its first line."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        starts = self.module.starts
        start = starts[min(line, len(starts)) - 1]
        text = self.source.text[start : starts[min(line, len(starts) - 1)]]
        begin = start + len(text.encode("utf-8", "replace")[:column].decode("utf-8", "replace"))
        end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", 0)
        if end_line == line:
            end = start + len(text.encode("utf-8", "replace")[:end_column].decode("utf-8", "replace"))
        else:
            end = start + len(text.rstrip())
        return Span(self.source, begin, max(end, begin))

    def full_name(self, node: ast.expr) -> str:
        """The dotted name of what an expression names, imports followed."""
        name = dotted(node)
        head, dot, rest = name.partition(".")
        target = self.module.imports.get(head)
        return f"{target}{dot}{rest}" if target is not None else name


class Declaration(NamedTuple):
    """An option that a program declares, with its default and the spellings that set it."""

    key: str
    default: ast.expr | None
    scope: Scope
    place: Span
    flags: tuple[str, ...] = ()


def declarations(scope: Scope) -> Iterator[Declaration]:
    """The options that a module declares: argparse, click, absl, and fields of classes."""
    for node in scope.module.nodes:
        if isinstance(node, ast.Call):
            name = dotted(node.func).rpartition(".")[2]
            if name in ("add_argument", "option", "add_option", "Option") or name.startswith("DEFINE_"):
                yield from _option(node, name, scope)
            elif name in ("dict", "EasyDict", "edict", "DotDict", "Namespace", "SimpleNamespace"):
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        yield Declaration(_key(keyword.arg), keyword.value, scope, scope.span(keyword.value))
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
                    yield Declaration(_key(item.target.id), _default_of_field(item.value), scope, scope.span(item))


def _option(node: ast.Call, called: str, scope: Scope) -> Iterator[Declaration]:
    """What a call of argparse, click or absl declares."""
    names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if called.startswith("DEFINE_"):
        if names and len(node.args) > 1:
            yield Declaration(_key(names[0]), node.args[1], scope, scope.span(node))
        return
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    flags = [name for name in names if name.startswith("-")]
    longest = next((name for name in flags if name.startswith("--")), flags[0] if flags else "")
    named = keywords.get("dest")
    dest = named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else ""
    dest = dest or next((name for name in names if not name.startswith("-")), "") or longest.lstrip("-")
    default = keywords.get("default")
    action = keywords.get("action")
    if default is None and isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        default = ast.Constant(action.value == "store_false")
    spellings = tuple(_key(part) for flag in flags for part in flag.split("/"))
    yield Declaration(_key(dest), default, scope, scope.span(node), spellings)


class Options:
    """What a command, its configuration files and the declarations of the program say of its options."""

    def __init__(self, entry: Entry, files: Files) -> None:
        self.files = files
        self.given: dict[str, Found] = {}
        self.flags: dict[str, str] = {}
        self.declared: dict[str, list[Declaration]] = {}
        self.configured: dict[str, list[Found]] = {}
        self._read: set[str] = set()
        self._entry = entry
        self._take(entry.arguments)

    def _take(self, words: tuple[str, ...]) -> None:
        spans = (self._entry.span,) if self._entry.span is not None else ()
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            name, equals, value = word.partition("=")
            if not word.startswith("-"):
                if equals and re.fullmatch(r"\+{0,2}[A-Za-z_][\w.@-]*", name):
                    self.given[_key(name)] = _literal(value, spans)
                self._configuration(word if not equals else value)
                continue
            if not equals and at < len(words) and not re.match(r"-[A-Za-z-]", words[at]):
                value = words[at]
                at += 1
                equals = "="
            self.given[_key(name)] = _literal(value, spans) if equals else Found(True, True, spans)
            self._configuration(value)

    def _configuration(self, path: str) -> None:
        """Read a configuration file that the command, or the default of an option, names."""
        if not re.search(r"\.(?:ya?ml|json|toml|py|cfg|ini)$", path) or len(self._read) > 20:
            return
        place = self.files.find(path)
        if place is None:
            beside = normal(os.path.join(os.path.dirname(self._entry.path), path))
            if not self.files.repository.is_file(beside):
                return
            found = beside
        else:
            found = place.path
        if found in self._read or found == self._entry.path:
            return
        self._read.add(found)
        source = self.files.repository.source(found)
        if source is not None:
            for key, value in _settings(source):
                self.configured.setdefault(key, []).append(value)

    def declare(self, declarations: Iterable[Declaration]) -> None:
        """Note the options that a module declares."""
        for declaration in declarations:
            key, default = declaration.key, declaration.default
            self.flags.update((flag, key) for flag in declaration.flags)
            self.declared.setdefault(key, []).append(declaration)
            if isinstance(default, ast.Constant) and isinstance(default.value, str) and key not in self.given:
                self._configuration(default.value)

    def get(self, name: str, evaluator: Evaluator, depth: int) -> Found:
        """What an option is: given, configured, or its default."""
        key = _key(name)
        for given, found in self.given.items():
            if self.flags.get(given, given) == key or given.rpartition(".")[2] == key:
                return found
        configured = self.configured.get(key, [])
        if configured:
            return _one_of(configured)
        values = []
        for declared in self.declared.get(key, [])[:8]:
            if declared.default is not None:
                value = evaluator.value(declared.default, declared.scope, depth + 1)
                values.append(value._replace(spans=(declared.place,)))
        return _one_of(values) if values else NOTHING


def _one_of(values: list[Found]) -> Found:
    """One of several values: sure where they agree, else the largest."""
    first = values[0]
    if all(value.value == first.value for value in values):
        return first
    numbers = [value for value in values if value.number is not None]
    if numbers:
        return max(numbers, key=lambda value: value.number or 0)._replace(certain=False)
    return first._replace(certain=False)


def _key(name: str) -> str:
    return name.lstrip("-+").replace("-", "_")


def _literal(text: str, spans: tuple[Span, ...]) -> Found:
    """A word of a command or of a configuration file, as the value it stands for."""
    lowered = text.strip().lower()
    if "$" in text or text.startswith("<"):
        return Found(UNKNOWN, False, spans)
    for word, value in (("true", True), ("false", False), ("null", None), ("none", None), ("~", None)):
        if lowered == word:
            return Found(value, True, spans)
    if re.fullmatch(r"[+-]?[0-9]{1,15}", text.strip()):
        return Found(int(text), True, spans)
    return Found(text, True, spans)


_SETTING = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*[:=][ \t]*(.+?)[ \t]*,?[ \t]*(?:#.*)?$""", re.M
)


def _settings(source: Source) -> Iterator[tuple[str, Found]]:
    """The settings of a configuration file, whatever its format: a key and a plain value on one line."""
    text = source.text
    if len(text) > 200_000:
        return
    for match in _SETTING.finditer(text):
        value = match[2].strip().strip("\"'")
        if len(value) < 200:
            yield _key(match[1]).rpartition(".")[2], _literal(value, (Span(source, match.start(1), match.end(2)),))


def _default_of_field(value: ast.expr) -> ast.expr | None:
    """The default in ``field(default=…)``, ``Field(…)``, or the value itself."""
    makers = ("field", "Field", "Option", "Argument")
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in makers:
        named = next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
        return named if named is not None else value.args[0] if value.args else None
    return value


_MACHINE = frozenset(
    {"os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count", "psutil.cpu_count", "mp.cpu_count",
     "cpu_count", "os.process_cpu_count", "joblib.cpu_count", "os.sched_getaffinity"}
)  # fmt: skip


class Evaluator:
    """Works out expressions. Nothing is run: what is not written down is unknown."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.calls: dict[str, list[tuple[ast.Call, Scope]]] = {}
        self._locals: dict[int, dict[str, list[ast.expr]]] = {}
        self._attributes: dict[int, dict[str, list[tuple[ast.expr, ast.FunctionDef]]]] = {}
        self._without_parameters: dict[tuple[int, int], Found] = {}
        self._left = _MOST_STEPS

    def note_call(self, name: str, node: ast.Call, scope: Scope) -> None:
        """Remember a call, for the parameters of the function it calls."""
        found = self.calls.setdefault(name.rpartition(".")[2], [])
        if len(found) < 20:
            found.append((node, scope))

    def argument(self, node: ast.Call, name: str, position: int, default: object, scope: Scope) -> Found:
        """The value of an argument of a call."""
        given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
        if given is None and 0 <= position < len(node.args):
            given = node.args[position]
        place = (scope.span(given if given is not None else node),)
        if given is not None:
            found = self.value(given, scope)
            return found._replace(spans=tuple(dict.fromkeys((*place, *found.spans))))
        starred = next((keyword.value for keyword in node.keywords if keyword.arg is None), None)
        if starred is not None:
            return self._in_mapping(starred, name, scope, place, default)
        if default == "many":
            return Found(POSITIVE, True, place)
        return Found(UNKNOWN if default is None else default, True, place)

    def _in_mapping(
        self, starred: ast.expr, name: str, scope: Scope, place: tuple[Span, ...], default: object
    ) -> Found:
        """A keyword out of ``**kwargs``."""
        literal = self._literal_mapping(starred, scope)
        if literal is not None:
            for key, value in zip(literal.keys, literal.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return self.value(value, scope)
            return Found(UNKNOWN if default is None else default, True, place)
        found = self.options.get(name, self, 0)
        return found if found.value is not UNKNOWN else Found(UNKNOWN, False, place)

    def template(self, node: ast.expr, scope: Scope, depth: int = 0) -> str:
        """A text of which parts are not known: these are left as ``$UNKNOWN``."""
        if depth > _DEPTH:
            return ""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else "$UNKNOWN" for part in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return self.template(node.left, scope, depth + 1)
        if isinstance(node, ast.BinOp):
            parts = (self.template(part, scope, depth + 1) for part in (node.left, node.right))
            return "".join(part or "$UNKNOWN" for part in parts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self.template(node.func.value, scope, depth + 1)
        if isinstance(node, ast.Name):
            values = self._all_assigned(node.id, scope)
            return max((self.template(value, scope, depth + 1) for value in values), key=len, default="")
        return ""

    def _literal_mapping(self, node: ast.expr, scope: Scope) -> ast.Dict | None:
        if isinstance(node, ast.Dict):
            return node
        if isinstance(node, ast.Name):
            value = self._assigned(node.id, scope)
            return value if isinstance(value, ast.Dict) else None
        return None

    def value(self, node: ast.expr, scope: Scope, depth: int = 0, *, parameters: bool = True) -> Found:
        """What an expression is; ``parameters`` lets the calls that were seen decide parameters."""
        if isinstance(node, ast.Constant):
            return Found(node.value, True, ())
        if depth > _DEPTH or self._left <= 0:
            return NOTHING
        self._left -= 1
        if parameters:
            return self._worked_out(node, scope, depth, True)
        key = id(node), id(scope.function)
        if key not in self._without_parameters:
            self._without_parameters[key] = NOTHING  # while it is being worked out
            self._without_parameters[key] = self._worked_out(node, scope, depth, False)
        return self._without_parameters[key]

    def _worked_out(self, node: ast.expr, scope: Scope, depth: int, parameters: bool) -> Found:
        if isinstance(node, ast.Tuple | ast.List):
            items = [self.value(item, scope, depth + 1, parameters=parameters) for item in node.elts[:20]]
            known = all(item.value is not UNKNOWN for item in items)
            return Found(tuple(item.value for item in items), all(i.certain for i in items), ()) if known else NOTHING
        if isinstance(node, ast.Name):
            return self._name(node.id, scope, depth, parameters)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, depth, parameters)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if dotted(node.value).endswith("environ") and isinstance(key, str):
                return self._variable(key)
            return self.options.get(key, self, depth) if isinstance(key, str) else NOTHING
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth, parameters)
        return self._operation(node, scope, depth, parameters)

    def _operation(self, node: ast.expr, scope: Scope, depth: int, parameters: bool) -> Found:
        def inner(part: ast.expr) -> Found:
            return self.value(part, scope, depth + 1, parameters=parameters)

        if isinstance(node, ast.BinOp):
            return _arithmetic(node.op, inner(node.left), inner(node.right))
        if isinstance(node, ast.UnaryOp):
            found = inner(node.operand)
            if isinstance(node.op, ast.Not) and found.value not in (UNKNOWN, POSITIVE):
                return found._replace(value=not found.value)
            if isinstance(node.op, ast.USub) and found.number is not None:
                return found._replace(value=-found.number)
            return NOTHING
        if isinstance(node, ast.BoolOp):
            return _logic(isinstance(node.op, ast.And), [inner(part) for part in node.values[:10]])
        if isinstance(node, ast.IfExp):
            test, yes, no = inner(node.test), inner(node.body), inner(node.orelse)
            if test.value not in (UNKNOWN, POSITIVE) and test.certain:
                return yes if test.value else no
            if yes.value == no.value:
                return yes
            return (yes if yes.value is not UNKNOWN and yes.value else no)._replace(certain=False)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return _compared(node.ops[0], inner(node.left), inner(node.comparators[0]))
        return NOTHING

    def _name(self, name: str, scope: Scope, depth: int, parameters: bool) -> Found:
        value = self._assigned(name, scope)
        if value is not None:
            found = self.value(value, scope, depth + 1, parameters=parameters)
            if found.value is not UNKNOWN:
                return found._replace(spans=found.spans or (scope.span(value),))
        function = scope.function
        if function is not None and name in _parameters(function):
            return self._parameter(name, function, scope, depth, parameters)
        if name in scope.module.constants:
            constant = scope.module.constants[name]
            found = self.value(constant, scope._replace(function=None), depth + 1, parameters=parameters)
            return found._replace(spans=(*found.spans, scope.span(constant)))
        return self.options.get(name, self, depth) if parameters and len(name) > 3 else NOTHING

    def _all_assigned(self, name: str, scope: Scope) -> list[ast.expr]:
        return self._locals_of(scope.function).get(name, []) if scope.function is not None else []

    def _locals_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.expr]]:
        """The values that a function gives its local names."""
        known = self._locals.get(id(function))
        if known is None:
            known = self._locals[id(function)] = {}
            for node in ast.walk(function):
                for target in node.targets if isinstance(node, ast.Assign) else ():
                    if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                        known.setdefault(target.id, []).append(node.value)
        return known

    def _assigned(self, name: str, scope: Scope) -> ast.expr | None:
        """The value that a function gives a local name, where it does that once."""
        values = self._all_assigned(name, scope)
        return values[0] if len(values) == 1 else None

    def _assigned_to_self(self, name: str, owner: ast.ClassDef) -> list[tuple[ast.expr, ast.FunctionDef]]:
        """The values that the methods of a class give an attribute."""
        known = self._attributes.get(id(owner))
        if known is None:
            known = self._attributes[id(owner)] = {}
            for method in owner.body:
                if isinstance(method, ast.FunctionDef):
                    for part in ast.walk(method):
                        for target in part.targets if isinstance(part, ast.Assign) else ():
                            if isinstance(target, ast.Attribute) and isinstance(part, ast.Assign):
                                known.setdefault(dotted(target), []).append((part.value, method))
        return known.get(f"self.{name}", [])

    def _parameter(
        self, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, depth: int, parameters: bool
    ) -> Found:
        """A parameter: what the calls pass, else its default, else the option of that name."""
        default = _parameters(function)[name]
        called = scope.owner.name if function.name == "__init__" and scope.owner is not None else function.name
        names = list(_parameters(function))
        offset = 1 if names[:1] in (["self"], ["cls"]) else 0
        values: list[Found] = []
        for node, where in self.calls.get(called, ()) if parameters and depth < 12 else ():
            given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
            position = names.index(name) - offset
            if given is None and 0 <= position < len(node.args):
                given = node.args[position]
            if given is not None and not isinstance(given, ast.Starred):
                values.append(self.value(given, where, depth + 1))
            elif default is not None:
                values.append(self.value(default, scope._replace(function=None), depth + 1))
        known = [value for value in values if value.value is not UNKNOWN]
        if known:
            return _one_of(known)._replace(certain=len(known) == len(values) and _one_of(known).certain)
        if default is not None and not values:
            found = self.value(default, scope._replace(function=None), depth + 1)
            return found._replace(certain=False, spans=(scope.span(default),))
        return self.options.get(name, self, depth)._replace(certain=False) if parameters else NOTHING

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int, parameters: bool) -> Found:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and scope.owner is not None:
            for value, method in self._assigned_to_self(node.attr, scope.owner):
                found = self.value(value, scope._replace(function=method), depth + 1, parameters=parameters)
                if found.value is not UNKNOWN:
                    return found
        target = scope.full_name(node)
        if target in _MACHINE:
            return Found(POSITIVE, True, (scope.span(node),))
        return self.options.get(node.attr, self, depth)

    def _variable(self, name: str) -> Found:
        """A variable of the container's environment."""
        value = self.options.files.environment.get(name)
        if value is None or value.known is None or value.private:
            return NOTHING
        return _literal(value.known, (value.span,))

    def _call(self, node: ast.Call, scope: Scope, depth: int, parameters: bool) -> Found:
        name = scope.full_name(node.func)
        last = name.rpartition(".")[2]
        arguments = [self.value(a, scope, depth + 1, parameters=parameters) for a in node.args[:10]]
        if name in _MACHINE or last == "cpu_count":
            return Found(POSITIVE, True, (scope.span(node),))
        if last in ("int", "float", "str", "round") and arguments:
            number = arguments[0].number
            return arguments[0] if last == "str" or number is None else arguments[0]._replace(value=number)
        if last in ("min", "max") and arguments:
            return _extreme(last, arguments)
        if last == "len" and arguments and arguments[0].value is POSITIVE:
            return arguments[0]
        if last in ("get", "getenv", "getattr", "pop") and arguments:
            at = 1 if last == "getattr" else 0
            key = arguments[at].value if len(arguments) > at else UNKNOWN
            if not isinstance(key, str):
                return NOTHING
            from_environment = last == "getenv" or name.startswith("os.environ")
            found = self._variable(key) if from_environment else self.options.get(key, self, depth)
            if found.value is UNKNOWN and len(arguments) > at + 1:
                default = arguments[at + 1]
                certain = default.certain and from_environment and key not in self.options.files.environment
                return default._replace(certain=certain, spans=(scope.span(node),))
            return found
        return NOTHING


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr | None]:
    """The parameters of a function with their defaults, in their order."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    defaults += function.args.defaults
    found = {argument.arg: default for argument, default in zip(positional, defaults, strict=True)}
    found |= {a.arg: d for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)}
    return found


def _arithmetic(operator: ast.operator, left: Found, right: Found) -> Found:
    spans = (*left.spans, *right.spans)
    certain = left.certain and right.certain
    if POSITIVE in (left.value, right.value):
        return Found(POSITIVE, False, spans)
    a, b = left.number, right.number
    if a is None or b is None:
        return Found(UNKNOWN, False, spans)
    if isinstance(operator, ast.Add):
        return Found(a + b, certain, spans)
    if isinstance(operator, ast.Sub):
        return Found(a - b, certain, spans)
    if isinstance(operator, ast.Mult):
        return Found(a * b, certain, spans)
    if isinstance(operator, ast.FloorDiv | ast.Div) and b:
        return Found(a // b, certain, spans)
    return Found(UNKNOWN, False, spans)


def _logic(both: bool, parts: list[Found]) -> Found:
    for part in parts:
        if part.value is UNKNOWN:
            later = [p for p in parts if p.value not in (UNKNOWN, POSITIVE)]
            if both and any(not p.value and p.certain for p in later):
                return Found(False, True, ())
            return later[-1]._replace(certain=False) if later and not both else NOTHING
        truth = part.value is POSITIVE or bool(part.value)
        if truth is not both:
            return part
    return parts[-1]


def _extreme(name: str, values: list[Found]) -> Found:
    known = [value for value in values if value.number is not None]
    spans = tuple(span for value in values for span in value.spans)
    if len(known) == len(values):
        chosen = (min if name == "min" else max)(known, key=lambda value: value.number or 0)
        return chosen._replace(spans=spans)
    if any(value.value is POSITIVE for value in values):
        if name == "min" and known:  # as many as the machine has, but no more than these
            return min(known, key=lambda value: value.number or 0)._replace(spans=spans, certain=False)
        return Found(POSITIVE, True, spans)
    return known[0]._replace(certain=False, spans=spans) if known else NOTHING


def _compared(operator: ast.cmpop, left: Found, right: Found) -> Found:
    if UNKNOWN in (left.value, right.value) or POSITIVE in (left.value, right.value):
        return NOTHING
    certain = left.certain and right.certain
    if isinstance(operator, ast.Eq | ast.Is):
        return Found(left.value == right.value, certain, ())
    if isinstance(operator, ast.NotEq | ast.IsNot):
        return Found(left.value != right.value, certain, ())
    a, b = left.number, right.number
    if a is None or b is None:
        return NOTHING
    answers = {ast.Gt: a > b, ast.GtE: a >= b, ast.Lt: a < b, ast.LtE: a <= b}
    found = answers.get(type(operator))
    return NOTHING if found is None else Found(found, certain, ())
